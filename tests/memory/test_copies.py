"""Copies: their accesses and their widest vector, compared with enumeration (copied.py).

500 random copies: tiles, layouts of lanes and values with holes, gaps, copies and warps, XORs and
rotations, elements of 4 to 64 bits, padded, transposed and swizzled buffers, views, pitches and
positions that are Dims, alignments.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layout_algebra import (
    BankConflictFree,
    Coalesced,
    ComposeLayout,
    Dim,
    LayoutAlgebraError,
    Map,
    NoWriteRace,
    S,
    TileLayout,
    Verdict,
    assert_proved,
    laneid,
    m,
    prove,
    tx,
    warpid,
)
from layout_algebra.arithmetic import integers
from layout_algebra.axes import bx, wgid
from layout_algebra.copying import Copy, Limit
from layout_algebra.hardware import mma
from layout_algebra.memory import Access, Buffer, served
from layout_algebra.memory.banks import point_of
from layout_algebra.memory.lookups import looked_up
from layout_algebra.terms import coordinate
from tests.memory.copied import WIDTHS, Memory, Plain, draw

CHUNKS, EACH = 20, 25


# -------------------------------------------------------------------------------------- comparing
def numbered(point: dict[str, int]) -> tuple[int, int]:
    """Thread and step of a point."""
    return point["lane"] + 32 * point.get("warp", 0), point.get("step", 0)


def check_access(access: Access, plain: Plain, side: str, width: int, rng: random.Random) -> None:
    """Which elements each lane moves, where, and which lanes move any, at some points."""
    memory, vectors = plain.sides[side], plain.vectors(8 * width // plain.bits)
    assert vectors is not None
    steps = range(next((s.variable.extent for s in access.free if s.name == "step"), 1))
    warps = range(next((s.variable.extent for s in access.free if s.name == "warp"), 1))
    assert {(t // 32 in warps, s in steps) for t, s in vectors} == {(True, True)}
    address, element = access.address, access.elements.coordinates[1]
    outputs = [term for _, term in (*access.elements.outputs, *access.where.outputs)]
    dims = list(memory.points())
    every = list(itertools.product(steps, warps))
    for step, warp in rng.sample(every, min(3, len(every))):
        at = rng.choice(dims)
        own = {"step": step, "warp": warp, **at}
        point = point_of(access, {one.name: own[one.name] for one in access.free})
        for lane in range(access.lanes):
            here = {**point, access.lane: lane}
            elements = vectors.get((lane + 32 * warp, step))
            assert address.admits(here) == (elements is not None), (lane, own)
            for e, one in enumerate(elements or ()):
                bit, *where = integers.values_of(outputs, {**here, element: e})
                assert bit == memory.place(one, at) * plain.bits, (lane, e, own)
                assert tuple(where) == one


def check_limits(limits: tuple[Limit, ...], plain: Plain, wider: int) -> Counter[str]:
    """That what is said to limit does, and that nothing else does."""
    assert {limit.bytes for limit in limits} == {wider}
    told: Counter[str] = Counter(limit.kind for limit in limits)
    if plain.vectors(8 * wider // plain.bits) is None:
        assert [(one.side, one.kind) for one in limits] == [("both", "values")]
        return told
    assert {one.side for one in limits} == {s for s in plain.sides if not plain.allows(s, wider)}
    for side, memory in plain.sides.items():
        kinds = {one.kind for one in limits if one.side == side}
        based = [one for one in limits if one.side == side and "any multiple" in one.reason]
        assert len(based) == (memory.align < wider)
        real, bare = plain.faults(side, wider), plain.faults(side, wider, swizzled=False)
        pitched = [one for one in limits if one.side == side and "by pitch" in one.reason]
        order = kinds & {"contiguity", "bounds"}
        if memory.swizzle is None:
            assert "swizzle" not in kinds
            assert bool(order) == bool(real["order"])
            assert bool(pitched) == bool(real["place"])
        else:
            assert not order or bare["order"]
            assert not pitched or bare["place"]
            cured = (real["order"] and not bare["order"]) or (real["place"] and not bare["place"])
            assert "swizzle" in kinds or not cured
            assert bool(kinds - {"alignment"}) >= bool(real["order"])
            assert bool(kinds) == bool(real.total() or based)
    return told


def check_witness(limit: Limit, plain: Plain) -> None:
    """The vector that a limit names breaks."""
    assert limit.witness is not None
    (point,) = limit.witness.points
    count = 8 * limit.bytes // plain.bits
    if limit.kind == "values":
        thread = point["lane"] + 32 * point["warp"]
        values = [v % count for v in plain.held[thread] if v // count == point["step"]]
        assert 0 < len(values) < count
        return
    memory, vectors = plain.sides[limit.side], plain.vectors(count)
    assert vectors is not None
    at = {name: point[name] for name in memory.dims}
    assert all(value in memory.dims[name] for name, value in at.items())
    bare = limit.reason.startswith("without the swizzle")
    run = [memory.place(one, at, swizzled=not bare) for one in vectors[numbered(point)]]
    if "e" in point:
        assert run[point["e"]] != run[0] + point["e"]
        assert limit.witness.places == ({"m": run[0]}, {"m": run[point["e"]]})
        return
    found = re.search(r"base = (\d+)", limit.witness.summary)
    base = int(found[1]) if found else 0
    assert base % memory.align == 0
    assert limit.witness.places == ({"byte": (run[0] * plain.bits + 8 * base) // 8},)
    assert (run[0] * plain.bits + 8 * base) % (8 * limit.bytes)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_widest_vector_is_what_enumeration_says(chunk: int):
    kinds: Counter[str] = Counter()
    for number in range(EACH):
        rng = random.Random(f"copy {chunk} {number}")
        drawn = draw(rng)
        plain, found = drawn.plain, drawn.copy.widest()
        told = f"chunk {chunk}, number {number}: {found}\n{drawn.text}"
        assert found.bytes == plain.widest, told
        verdicts = {proof.verdict for proof in found.proofs}
        assert verdicts <= {Verdict.PROVED, Verdict.REFUTED}, told
        whole = [width for width in WIDTHS[::-1] if 8 * width % plain.bits == 0]
        wider = next((width for width in whole if width > found.bytes), None)
        if not whole:
            assert [limit.kind for limit in found.limits] == ["elements"], told
        elif wider is None:
            assert found.limits == (), told
        else:
            kinds += check_limits(found.limits, plain, wider)
            for limit in found.limits:
                check_witness(limit, plain)
        kinds[str(found.bytes)] += 1
        for width in whole:
            if plain.vectors(8 * width // plain.bits) is not None:
                check_access(drawn.copy.read(width), plain, "source", width, rng)
                check_access(drawn.copy.write(width), plain, "target", width, rng)
                break
            with pytest.raises(LayoutAlgebraError, match="has no value"):
                drawn.copy.read(width)
    assert kinds["alignment"]
    assert sum(kinds[str(width)] for width in (2, 4, 8, 16)) > EACH // 4


# -------------------------------------------------------------------------------------- by example
SQUARE = TileLayout(S[(64, 64) : (64, 1)])
#: A lane moves eight neighbours of a row, 16 times.
BY_EIGHT = TileLayout(S[(16, 4, 8, 8) : (8, 8 @ laneid, 1 @ laneid, 1)])


def square(layout: Any = SQUARE, dtype: str = "float16", **how: Any) -> Buffer:
    """A 64 x 64 buffer that allows any vector, with changes."""
    return Buffer((64, 64), dtype, layout, **{"align": 1024, **how})


def limits_of(copy: Copy) -> tuple[int, list[tuple[str, str]]]:
    """The widest vector, and the side and kind of its limits."""
    found = copy.widest()
    return found.bytes, [(limit.side, limit.kind) for limit in found.limits]


def case(number: int) -> dict[str, Any]:
    (path,) = (Path(__file__).parent.parent / "data" / "cases").glob(f"{number:02d}-*.json")
    return json.loads(path.read_text())


@pytest.mark.parametrize("dtype", ["float16", "uint8"])
def test_33_the_widest_vectors_of_two_swizzles(dtype: str):
    """One swizzle moves eight elements at a time, the other single ones."""
    read = case(33)
    by_eight = ComposeLayout(*read["layouts"]["vec8"]["swizzle"], SQUARE)
    element = ComposeLayout(0, 3, 6, SQUARE)
    table = element.table(shape=(64, 64))["m"]
    assert all(table[i, j] == 64 * i + (j ^ (i % 8)) for i in range(64) for j in range(64))
    tv = TileLayout(S[(16, 4, 8, 8) : (8, 8 @ laneid, 1 @ laneid, 1)])
    if dtype == "uint8":
        tv = TileLayout(S[(8, 8, 4, 16) : (16, 4 @ laneid, 1 @ laneid, 1)])
    plain, size = square(dtype=dtype), square(dtype=dtype).bits // 8
    found = Copy(plain, square(by_eight, dtype), tv).widest()
    assert found.bytes == size * read["answer"]["vec8_max_vector"]
    limited = [("target", "swizzle")] if dtype == "uint8" else []
    assert [(limit.side, limit.kind) for limit in found.limits] == limited
    found = Copy(square(element, dtype), plain, tv).widest()
    assert found.bytes == size
    (limit,) = found.limits
    assert (limit.side, limit.kind, limit.bytes) == ("source", "swizzle", 2 * size)
    assert "1 at a time" in limit.reason
    first, other = limit.witness.places  # type: ignore[union-attr]
    assert other["m"] - first["m"] == -1  # two neighbours changed places


def test_each_kind_of_limit():
    odd = square(TileLayout(S[(64, 64) : (65, 1)]), scope="global")
    assert limits_of(Copy(odd, square(), BY_EIGHT)) == (2, [("source", "alignment")])
    base = square(align=4)
    assert limits_of(Copy(square(), base, BY_EIGHT)) == (4, [("target", "alignment")])
    both = square(TileLayout(S[(64, 64) : (66, 1)]), align=2)
    assert limits_of(Copy(both, square(), BY_EIGHT)) == (2, [("source", "alignment")])
    columns = square(TileLayout(S[(64, 64) : (1, 64)]))
    bytes, limits = limits_of(Copy(columns, square(), BY_EIGHT))
    assert (bytes, limits[0]) == (2, ("source", "contiguity"))
    fours = TileLayout(S[(64, 2, 8, 4) : (8, 4, 1 @ laneid, 1)])
    pairs = limits_of(Copy(square(), square(), fours))
    assert pairs[0] == 8
    assert {kind for _, kind in pairs[1]} == {"contiguity", "alignment"}
    # the tile's rows are four elements: a vector of eight goes on in the next row
    box = square(scope="global")[0:32, 8:12], square()[32:64, 0:4]
    rows = TileLayout(S[(16, 8) : (1 @ laneid, 1)])
    assert limits_of(Copy(*box, rows)) == (8, [("source", "bounds"), ("target", "bounds")])
    few = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
    assert limits_of(Copy(*box, few)) == (8, [("both", "values")])
    sixes = Buffer((64, 64), "e2m3", SQUARE)
    assert limits_of(Copy(sixes, sixes, BY_EIGHT)) == (0, [("both", "elements")])
    nibbles = Buffer((64, 64), "int4", TileLayout(S[(64, 64) : (128, 2)]), align=16)
    assert limits_of(Copy(nibbles, nibbles, BY_EIGHT))[0] == 0


def test_a_pitch_and_a_position_that_are_dims():
    i = Dim("i", multiple_of=16)
    for multiple, widest in ((8, 16), (4, 8), (1, 2)):
        ld = Dim("ld", multiple_of=multiple, at_least=64, at_most=4096)
        buffer = Buffer((256, 64), "float16", TileLayout(S[(256, 64) : (ld, 1)]), "global", 256)
        copy = Copy(buffer[i : i + 64, 0:64], square(ComposeLayout(3, 3, 3, SQUARE)), BY_EIGHT)
        assert copy.widest().bytes == widest
    assert copy.widest(given=[ld % 8 == 0]).bytes == 16
    assert copy.widest(given=[ld % 2 == 0]).bytes == 4
    vacuous = copy.widest(given=[ld >= 5000])
    assert (vacuous.bytes, vacuous.limits[0].kind) == (0, "undecided")


def test_the_usual_claims_hold_of_a_copys_accesses():
    swizzled, plain = square(ComposeLayout(3, 3, 3, SQUARE)), square(scope="global")
    across = TileLayout(S[(2, 4, 8, 8, 8) : (1 @ warpid, 8, 1 @ laneid, 32, 1)])
    for tv in (BY_EIGHT, across, TileLayout(S[(64, 8, 8) : (8 @ tx, 1 @ tx, 1)])):
        copy = Copy(plain, swizzled, tv)
        assert copy.widest().bytes == 16
        if tv is not across:
            assert_proved(BankConflictFree(copy.write(16)) & NoWriteRace(copy.write(16)))
            assert_proved(Coalesced(copy.read(16), 16))
            assert prove(Coalesced(copy.read(16), 15)).verdict is Verdict.REFUTED
    down = TileLayout(S[(2, 32, 8, 8) : (64, 1 @ laneid, 8, 1)])  # each lane a row of its own
    assert_proved(BankConflictFree(Copy(plain, swizzled, down).write(16)))
    crowded = Copy(plain, square(), down).write(16)
    assert prove(BankConflictFree(crowded)).verdict is Verdict.REFUTED
    assert served(crowded, step=3).degree == 8
    one = Copy(plain[0:32, 0:8], swizzled[0:32, 0:8], TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    assert served(one.write(16)).degree == 1  # no step, no warp: there is the one


def test_an_entry_of_the_catalogue_deals():
    """A of m16n8k16: pairs of a row, so 4 bytes of halves."""
    fragment, tile = mma("m16n8k16", "float16").A, square()[0:16, 16:32]
    assert limits_of(Copy(tile, tile, fragment))[0] == 4
    again = Copy(tile, tile, Map.of(fragment))
    assert (again.widest().bytes, hash(again) == hash(Copy(tile, tile, fragment))) == (4, False)
    assert Copy(tile, tile, fragment) == Copy(tile, tile, fragment)
    small = Buffer((4, 16, 8), "float16", TileLayout(S[(4, 16, 8) : (128, 8, 1)]), align=16)
    c = mma("m16n8k16", "float16").C
    assert limits_of(Copy(small[2, 0:16, 0:8], small[0, 0:16, 0:8], c))[0] == 4


def test_a_map_of_three_values_and_idle_lanes():
    def deal(i: Any, j: Any) -> dict[str, Any]:
        return {"laneid": 5 * ((i + j // 3) % 4), "m": j % 3 + 3 * (i // 4) + 6 * (j // 12)}

    shape = (8, 24)
    held: dict[int, dict[int, Any]] = {}
    for i, j in itertools.product(*map(range, shape)):
        at = {axis: int(place) for axis, place in deal(i, j).items()}
        held.setdefault(at["laneid"], {})
        held[at["laneid"]][at["m"] + 12 * (i % 4)] = (i, j)
    tv = Map.of(lambda i, j: {**deal(i, j), "m": deal(i, j)["m"] + 12 * (i % 4)}, shape)
    buffer = Buffer(shape, "uint8", TileLayout(S[shape : (24, 1)]))
    memory = Memory(shape, shape, (24, 1), 0, None, (0, 0), 1)
    plain = Plain(shape, 8, held, {"source": memory, "target": memory})
    copy, rng = Copy(buffer, buffer, tv), random.Random(5)
    assert copy.widest().bytes == plain.widest == 1
    for width in (1, 3, 6):
        check_access(copy.read(width), plain, "source", width, rng)


def test_tables_become_terms():
    rng, number = random.Random(9), coordinate("x", 64)
    tables = [[rng.randrange(100) for _ in range(64)], [x ^ (x // 8) for x in range(64)]]
    tables += [[(3 * x + x // 5) for x in range(64)], [7] * 64, [x * x for x in range(64)]]
    for table in tables:
        for size in (64, 48, 1):
            term = looked_up(np.array(table[:size]), number)
            found = [integers.values_of([term], {number: x})[0] for x in range(size)]
            assert found == table[:size]
    scattered = np.array(rng.sample(range(5000), 5000))
    with pytest.raises(LayoutAlgebraError, match=r"5000 numbers.*more than 1024"):
        looked_up(scattered, coordinate("x", 5000))


ROWS = TileLayout(S[(32, 8) : (1 @ laneid, 1)])
TILE = square()[0:32, 0:8]
LD = Dim("ld", at_least=64)


def by(spec: Any) -> Copy:
    """A copy of the tile by the layout of a spec."""
    return Copy(TILE, TILE, TileLayout(spec))


def by_map(deal: Callable[..., Any], shape: tuple[int, int] = (32, 8), **how: Any) -> Copy:
    return Copy(TILE, TILE, Map.of(deal, shape, **how))


WIDE = Copy(TILE, TILE, ROWS)
BAD: dict[str, tuple[str, Callable[[], Any]]] = {
    "a layout for a view": ("source.*view", lambda: Copy(SQUARE, TILE, ROWS)),  # type: ignore[arg-type]
    "two shapes": ("32 x 8 and 64 x 64", lambda: Copy(TILE, square(), ROWS)),
    "two widths": ("16 and 32", lambda: Copy(TILE, square(dtype="float32")[0:32, 0:8], ROWS)),
    "a symbolic size": ("numbers", lambda: Copy(square()[0:LD, 0:8], square()[0:LD, 0:8], ROWS)),
    "no tv": ("tv.*None", lambda: Copy(TILE, TILE, None)),  # type: ignore[arg-type]
    "of another tile": ("16 x 16.*32 x 8", lambda: Copy(TILE, TILE, mma("m16n8k16", "f16").A)),
    "of another size": ("32 x 4.*32 x 8", lambda: by(S[(32, 4) : (1 @ laneid, 1)])),
    "turned round": (
        "8 x 32.*32 x 8",
        lambda: by_map(lambda i, j: {"laneid": j, "m": i}, (8, 32)),
    ),
    "some elements": (
        "every element",
        lambda: by_map(lambda i, j: {"laneid": i, "m": j}, where=lambda i, j: i > 3),
    ),
    "symbolic": ("numbers", lambda: by(S[(32, 8) : (1 @ laneid, LD)])),
    "two in one place": ("elements 0 and 7.*value 0 of", lambda: by(S[(32, 8) : (1 @ laneid, 0)])),
    "two by a map": ("elements 0 and 1 ", lambda: by_map(lambda i, j: {"laneid": i, "m": j // 2})),
    "lane 32": ("0..31; got 0..62", lambda: by(S[(32, 8) : (2 @ laneid, 1)])),
    "a lane before 0": ("-1", lambda: by(S[(32, 8) : (1 @ laneid, 1)] + -1 @ laneid)),
    "a value before 0": ("-2", lambda: by(S[(32, 8) : (1 @ laneid, 1)] + -2 @ m)),
    "blocks": ("bx", lambda: by(S[(32, 8) : (1 @ bx, 1)])),
    "two kinds": ("laneid, tx|tx, laneid", lambda: by(S[(16, 2, 8) : (1 @ tx, 1 @ laneid, 1)])),
    "a level out": ("wgid counts", lambda: by(S[(2, 16, 8) : (1 @ wgid, 1 @ laneid, 1)])),
    "no whole element": ("16 bits; got 3", lambda: WIDE.read(3)),
    "no bytes": ("got 0", lambda: WIDE.write(0)),
    "bytes a float": ("4.0", lambda: WIDE.read(4.0)),  # type: ignore[arg-type]
    "more than a lane has": ("32 bytes are 16 values.*no value 8", lambda: WIDE.read(32)),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_inputs_are_refused_in_words(what: str):
    words, make = BAD[what]
    with pytest.raises(LayoutAlgebraError) as refused:
        make()
    assert re.search(words, str(refused.value)), str(refused.value)


@pytest.mark.parametrize("name", ["step", "warp"])
def test_a_dim_may_not_be_called_like_a_variable_of_the_access(name: str):
    pitch = Dim(name, at_least=64, at_most=128)
    copy = Copy(square(TileLayout(S[(64, 64) : (pitch, 1)])), square(), BY_EIGHT)
    with pytest.raises(LayoutAlgebraError, match=f"variable {name}"):
        copy.read(2)
    element = Dim("element", multiple_of=8, at_least=64, at_most=128)
    padded = square(TileLayout(S[(64, 64) : (element, 1)]))
    assert Copy(padded, square(), BY_EIGHT).widest().bytes == 16
