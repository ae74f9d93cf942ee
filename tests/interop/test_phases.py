"""The (vec, per_phase, max_phase) swizzle, compared with its formula at every element."""

from __future__ import annotations

import random

import pytest

from layout_algebra import ComposeLayout, Equivalent, TileLayout, prove
from layout_algebra.interop import InteropError, PhaseSwizzle
from layout_algebra.values import Swizzle
from layout_algebra.verdicts import Verdict
from tests import bruteforce as bf
from tests.interop import enumerated
from tests.interop.cases import case


def place(swizzle: PhaseSwizzle, rows: int, cols: int, i: int, j: int) -> int:
    """The formula, for numbers."""
    if swizzle.order == (1, 0):
        r, c, width = i, j, cols
    else:
        r, c, width = j, i, rows
    vector = (c // swizzle.vec) ^ ((r // swizzle.per_phase) % swizzle.max_phase)
    return r * width + vector * swizzle.vec + c % swizzle.vec


def every_place(swizzle: PhaseSwizzle, rows: int, cols: int) -> list[int]:
    return [place(swizzle, rows, cols, i, j) for i in range(rows) for j in range(cols)]


def random_swizzle(rng: random.Random) -> tuple[PhaseSwizzle, int, int]:
    order = rng.choice(((1, 0), (0, 1)))
    if rng.random() < 0.6:
        numbers = [1 << rng.randint(0, 3) for _ in range(3)]
        rows, cols = (1 << rng.randint(0, 4) for _ in range(2))
    else:
        numbers = [rng.randint(1, 6) for _ in range(3)]
        rows, cols = (rng.randint(1, 20) for _ in range(2))
    return PhaseSwizzle(numbers[0], numbers[1], numbers[2], order), rows, cols


@pytest.mark.parametrize("seed", range(3))
def test_the_map_is_the_formula(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        swizzle, rows, cols = random_swizzle(rng)
        found = swizzle.to_map(rows, cols)
        for i in range(rows):
            for j in range(cols):
                assert found.apply(i, j) == {"m": place(swizzle, rows, cols, i, j)}


@pytest.mark.parametrize("seed", range(3))
def test_a_single_swizzle_is_found_exactly_when_there_is_one(seed: int) -> None:
    rng = random.Random(10 + seed)
    found = refused = 0
    for _ in range(60):
        swizzle, rows, cols = random_swizzle(rng)
        wanted = every_place(swizzle, rows, cols)
        strides = (cols, 1) if swizzle.order == (1, 0) else (1, rows)
        plain = [i * strides[0] + j * strides[1] for i in range(rows) for j in range(cols)]
        bits = max(*plain, *wanted).bit_length() + 1
        exists = plain == wanted or any(
            [bf.swizzled(x, s) for x in plain] == wanted for s in enumerated.swizzles(bits)
        )
        composed = swizzle.to_compose(rows, cols)
        assert (composed.value is not None) == exists
        for tried, witness in composed.failures.items():
            after = [tried(x) for x in plain]
            first = next(k for k in range(rows * cols) if after[k] != wanted[k])
            assert witness.points == ({"i": first // cols, "j": first % cols},)
            assert witness.places == ({"m": wanted[first]}, {"m": after[first]})
        if composed.value is None:
            refused += 1
            assert composed.proof is None
            assert composed.failures
            assert composed.reason
            continue
        found += 1
        assert composed.proof is not None
        assert composed.proof.verdict is Verdict.PROVED
        layout = composed.value
        assert [layout.apply(k)["m"] for k in range(rows * cols)] == wanted
    assert min(found, refused) > 5


def test_the_recorded_pairs() -> None:
    data = case(25)
    pairs, wanted = data["layouts"]["pairs"], data["answer"]["equal"]
    for pair, equal in zip(pairs, wanted, strict=True):
        rows, cols = pair["rows"], pair["cols"]
        b, base, shift = pair["bms"]
        tile = TileLayout.from_iters([(rows, cols, "m"), (cols, 1, "m")])
        layout = ComposeLayout(base, b, shift, tile)
        old = PhaseSwizzle(pair["vec"], pair["perPhase"], pair["maxPhase"])
        proof = prove(Equivalent(old.to_map(rows, cols), layout.map((rows, cols))))
        assert proof.verdict is (Verdict.PROVED if equal else Verdict.REFUTED)
        composed = old.to_compose(rows, cols)
        assert composed.value is not None
        assert (composed.value.swizzle == layout.swizzle) == equal
    difference = data["answer"]["last_first_difference"]
    witness = composed.failures[Swizzle(3, 2, 3)]
    assert witness.points == ({"i": difference["coord"][0], "j": difference["coord"][1]},)
    assert [one["m"] for one in witness.places] == [difference["phase"], difference["bms"]]


@pytest.mark.parametrize(("width", "phases"), [(64, 8), (32, 4), (16, 2)])
def test_the_hardware_modes(width: int, phases: int) -> None:
    """Rows of 128, 64 and 32 bytes in 2-byte elements: the modes XOR 3, 2 and 1 bits."""
    per_phase = 8 // phases
    composed = PhaseSwizzle(8, per_phase, phases).to_compose(64, width)
    assert composed.value is not None
    assert composed.value.swizzle == Swizzle(3, phases.bit_length() - 1, 3)


def test_phases_that_leave_the_row() -> None:
    leaving = PhaseSwizzle(8, 1, 8)
    composed = leaving.to_compose(16, 32)
    assert composed.value is None
    assert composed.reason.startswith("no swizzle that changes the same address bits")
    uneven = PhaseSwizzle(8, 1, 2).to_compose(16, 24)
    assert uneven.value is None
    assert Swizzle(3, 1, 3) in uneven.failures
    within = leaving.within_row(16, 32)
    assert within == PhaseSwizzle(8, 1, 4)
    assert within.to_compose(16, 32).value is not None
    assert PhaseSwizzle(8, 1, 8).within_row(16, 4).max_phase == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 1, 1), "vec is a positive int; got 0"),
        ((1, -2, 1), "per_phase is a positive int"),
        ((1, 1, 1.5), "max_phase is a positive int"),
        ((True, 1, 1), "vec is a positive int; got True"),
        ((1, 1, 1, (0, 0)), "the order is"),
        ((1, 1, 1, 3), "the order is"),
    ],
)
def test_parameters_that_are_none(arguments: tuple, says: str) -> None:
    with pytest.raises(InteropError, match=says):
        PhaseSwizzle(*arguments)


def test_tiles_that_are_none() -> None:
    old = PhaseSwizzle(1, 1, 1)
    for rows, cols in ((0, 4), (4, -1), ("4", 4), (4.0, 4)):
        with pytest.raises(InteropError, match="rows and columns are positive ints"):
            old.to_map(rows, cols)  # type: ignore[arg-type]
    with pytest.raises(InteropError, match="are looked at"):
        old.to_compose(1 << 12, 1 << 12)
