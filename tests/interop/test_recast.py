"""Elements of another width: the same memory unit by unit, compared with enumeration."""

from __future__ import annotations

import random
from collections import Counter
from math import gcd

import pytest

from layout_algebra import ComposeLayout, Dim, S, TCol, TileLayout, TLane, laneid, prove, warpid
from layout_algebra.interop import InteropError, recast, recast_claim
from layout_algebra.values import Swizzle
from layout_algebra.verdicts import Verdict
from tests import bruteforce as bf
from tests.building import built, plain_of
from tests.generators import random_layout
from tests.interop import enumerated
from tests.interop.cases import case

WIDTHS = (4, 6, 8, 16, 32)


def joins(plain: bf.Plain, narrow: int, wide: int) -> bool:
    """Whether every `wide` units lie side by side from a multiple of `wide` on, all copies."""
    units = enumerated.units(plain, narrow)
    if len(units) % wide:
        return False
    for start in range(0, len(units), wide):
        for part in range(wide):
            wanted = frozenset(
                bf.make_place({**dict(place), "m": bf.at(place, "m") + part})
                for place in units[start]
            )
            if units[start + part] != wanted:
                return False
        if any(bf.at(place, "m") % wide for place in units[start]):
            return False
    return True


def aligned_layout(rng: random.Random) -> bf.Plain:
    """A layout with a run of neighbours at its end, mostly aligned."""
    run = 1 << rng.randint(1, 4)
    plain = random_layout(rng, max_places=16, axes=("m", "laneid"))
    scale = run if rng.random() < 0.8 else rng.choice((1, 2, run // 2, 3 * run))

    def scaled(iters: bf.Iters) -> bf.Iters:
        return tuple((e, s * scale if axis == "m" else s, axis) for e, s, axis in iters)

    swizzle = plain.swizzle
    if swizzle is not None:
        swizzle = (swizzle[0] + rng.randint(0, 4), *swizzle[1:])
    offset = tuple((a, v * scale if a == "m" else v) for a, v in plain.offset)
    return bf.Plain((*scaled(plain.shard), (run, 1, "m")), scaled(plain.replica), offset, swizzle)


@pytest.mark.parametrize("seed", range(4))
def test_the_memory_is_the_same_and_refusals_are_true(seed: int) -> None:
    rng = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(100):
        plain = aligned_layout(rng)
        before, after = rng.sample(WIDTHS, 2)
        unit = gcd(before, after)
        narrow, wide = before // unit, after // unit
        possible = joins(plain, narrow, wide)
        layout = built(plain)
        try:
            found = recast(layout, before, after)
        except InteropError as error:
            seen[refused(plain, error, possible, (narrow, wide))] += 1
            continue
        seen["recast"] += 1
        got = enumerated.units(plain_of(found), wide)
        assert got == enumerated.units(plain, narrow)
    assert seen["recast"] > 30
    assert seen["impossible"] > 10
    assert seen["swizzle"] < 12


def refused(plain: bf.Plain, error: InteropError, possible: bool, ratios: tuple[int, int]) -> str:
    """Which refusal it is, after its witness was found true."""
    if possible:
        if plain.swizzle is None or not plain.swizzle[1]:
            pytest.fail(f"refused although the units join: {plain}, {ratios}: {error}")
        return "swizzle"
    if error.witness is not None and ratios[0] == 1:
        check_witness(plain, error, ratios[1])
    return "impossible"


def check_witness(plain: bf.Plain, error: InteropError, wide: int) -> None:
    witness = error.witness
    assert witness is not None
    flat = witness.points[0]["unit"]
    there = {bf.make_place(witness.places[0])}
    assert there <= bf.places(plain, flat)
    if len(witness.places) == 1:
        assert flat % wide == 0
        assert witness.places[0].get("m", 0) % wide
    else:
        wanted = dict(witness.places[1])
        assert bf.make_place(wanted) not in bf.places(plain, flat)
        first = {**wanted, "m": wanted["m"] - flat % wide}
        assert bf.make_place(first) in bf.places(plain, flat - flat % wide)


def test_results_are_proved() -> None:
    rng = random.Random(5)
    proved = 0
    while proved < 10:
        plain = aligned_layout(rng)
        before, after = rng.sample((8, 16, 32), 2)
        if before < after and not joins(plain, 1, after // before):
            continue
        layout = built(plain)
        claim = recast_claim(layout, before, recast(layout, before, after), after)
        assert prove(claim).verdict is Verdict.PROVED
        proved += 1


def test_a_wrong_result_is_refuted() -> None:
    layout = TileLayout(S[(8, 64) : (64, 1)])
    for wrong in (TileLayout(S[(8, 32) : (64, 1)]), TileLayout(S[(8, 32) : (32, 1)] + 1)):
        proof = prove(recast_claim(layout, 16, wrong, 32))
        assert proof.verdict is Verdict.REFUTED


def test_the_recorded_swizzles() -> None:
    data = case(23)
    layouts, wanted = data["layouts"], data["answer"]
    b, base, shift = layouts["byte"]["swizzle"]
    whole = ComposeLayout(base, b, shift, TileLayout(S[4096:1]))
    for name, entry in layouts.items():
        if name == "byte":
            continue
        width = entry["bytes"]
        b, base, shift = entry["swizzle"]
        found = recast(whole, 8, 8 * width)
        claimed = ComposeLayout(base, b, shift, TileLayout.from_iters([(4096 // width, 1, "m")]))
        assert (found.swizzle == claimed.swizzle) == wanted[name]
        verdict = prove(recast_claim(whole, 8, claimed, 8 * width)).verdict
        assert verdict is (Verdict.PROVED if wanted[name] else Verdict.REFUTED)
    difference = wanted["wrong_first_difference"]
    right, wrong = recast(whole, 8, 16), Swizzle(0, 3, 3)
    first = next(e for e in range(2048) if right.apply(e)["m"] != wrong(e))
    assert first == difference["e"]
    assert (right.apply(first)["m"], wrong(first)) == (difference["right"], difference["wrong"])


def test_a_swizzle_below_the_element_is_refused() -> None:
    bytes_ = ComposeLayout(4, 3, 3, TileLayout(S[1024:1]))
    assert recast(bytes_, 8, 128).swizzle == Swizzle(0, 3, 3)
    with pytest.raises(InteropError, match="keeps runs of 16 together") as caught:
        recast(bytes_, 8, 256)
    check_witness(plain_of(bytes_), caught.value, 32)
    with pytest.raises(InteropError, match="3 units for an element"):
        recast(ComposeLayout(0, 1, 1, TileLayout(S[8:1])), 24, 8)


def test_a_swizzle_that_reads_no_address_bit_goes() -> None:
    idle = ComposeLayout(0, 3, 3, TileLayout(S[8:1]))
    assert recast(idle, 8, 32) == TileLayout(S[2:1])
    upward = ComposeLayout(0, 1, 2, TileLayout(S[4:1]), swizzle_inner=False)
    with pytest.raises(InteropError, match="unit 1 at") as caught:
        recast(upward, 8, 16)
    check_witness(plain_of(upward), caught.value, 2)


def test_registers_and_tensor_memory() -> None:
    frag = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)])
    packed = recast(frag, 16, 32)
    assert packed == TileLayout(S[(8, 2, 4) : (4 @ laneid, 1 @ warpid, 1 @ laneid)])
    columns = TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)])
    halves = recast(columns, 16, 32, axis="TCol")
    assert halves == TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)])
    assert prove(recast_claim(columns, 16, halves, 32, "TCol")).verdict is Verdict.PROVED
    with pytest.raises(InteropError, match="do not lie side by side") as caught:
        recast(columns, 16, 32)
    assert caught.value.witness is not None


def test_a_run_that_several_iters_make() -> None:
    assert recast(TileLayout(S[(4, 2) : (2, 1)]), 8, 32) == TileLayout(S[2:1])
    assert recast(TileLayout(S[(4, 6) : (6, 1)]), 6, 8) == TileLayout(S[18:1])
    with pytest.raises(InteropError, match="no whole number of groups"):
        recast(TileLayout(S[7:1]), 8, 16)


def test_symbolic_sizes() -> None:
    wide = Dim("wide", multiple_of=8)
    layout = TileLayout(S[(4, wide) : (wide, 1)])
    found = recast(layout, 8, 32)
    assert found == TileLayout(S[(4, wide // 4) : (wide // 4, 1)])
    assert prove(recast_claim(layout, 8, found, 32)).verdict is Verdict.PROVED
    with pytest.raises(InteropError, match="4\\*wide units of 8 bits are not known to be a whole"):
        recast(layout, 8, 24)
    with pytest.raises(InteropError, match="a stride of ld units of 8 bits is not known to be"):
        recast(TileLayout(S[(4, wide) : (Dim("ld"), 1)]), 8, 16)


@pytest.mark.parametrize("bits", [0, -8, 1.5, True, "8"])
def test_widths_that_are_none(bits: object) -> None:
    with pytest.raises(InteropError, match="positive number of bits"):
        recast(TileLayout(S[8:1]), bits, 8)  # type: ignore[arg-type]
    with pytest.raises(InteropError, match="positive number of bits"):
        recast(TileLayout(S[8:1]), 8, bits)  # type: ignore[arg-type]
