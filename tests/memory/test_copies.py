"""Copies: their accesses and their widest vector, compared with enumeration.

500 random copies: tiles, layouts of lanes and values with holes, gaps, copies and warps, XORs and
rotations, elements of 4 to 64 bits, padded, blocked, transposed and swizzled buffers, views,
pitches and positions that are Dims, alignments.  The enumeration below knows numbers alone.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import pytest

from layout_algebra import (
    BankConflictFree,
    Coalesced,
    ComposeLayout,
    Dim,
    LayoutAlgebraError,
    Map,
    NoWriteRace,
    R,
    S,
    TileLayout,
    Vectorizable,
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
from layout_algebra.hardware import mma
from layout_algebra.memory import Access, Buffer, served
from layout_algebra.memory.banks import point_of
from layout_algebra.memory.copies import Copy, Limit

CHUNKS, EACH = 20, 25
WIDTHS = (16, 8, 4, 2, 1)
Size = int | str
Iter = tuple[int, int, str]


# ---------------------------------------------------------------------------------- plain numbers
@dataclass(frozen=True)
class Memory:
    """One side, as numbers; sizes that are text are Dims.

    Attributes:
        shape, extents, strides, offset, swizzle: the buffer's, and its layout's.
        begin: where the tile begins.
        align: bytes that the base is a multiple of.
        dims: the Dims' values.
    """

    shape: tuple[Size, ...]
    extents: tuple[int, ...]
    strides: tuple[Size, ...]
    offset: int
    swizzle: tuple[int, int, int, bool] | None
    begin: tuple[Size, ...]
    align: int
    dims: Mapping[str, range] = field(default_factory=dict)

    def points(self) -> Iterator[dict[str, int]]:
        for values in itertools.product(*self.dims.values()):
            yield dict(zip(self.dims, values, strict=True))

    def place(self, tile: tuple[int, ...], at: Mapping[str, int], swizzled: bool = True) -> int:
        """The address of a tile's element, in elements."""
        flat = 0
        for coordinate, begin, size in zip(tile, self.begin, self.shape, strict=True):
            flat = flat * at.get(size, size) + coordinate + at.get(begin, begin)  # type: ignore[arg-type, operator]
        address = self.offset
        for extent, stride in zip(reversed(self.extents), reversed(self.strides), strict=True):
            flat, digit = divmod(flat, extent)
            address += digit * at.get(stride, stride)  # type: ignore[arg-type, operator]
        if self.swizzle is None or not swizzled:
            return address
        low, length, apart, inner = self.swizzle
        source, target = (low + apart, low) if inner else (low, low + apart)
        return address ^ ((address >> source) % (1 << length) << target)


@dataclass(frozen=True)
class Plain:
    """A copy as numbers.

    Attributes:
        shape, bits: the tile's sizes, and bits of an element.
        held: thread -> its value -> element's coordinates.
        sides: source and target.
    """

    shape: tuple[int, ...]
    bits: int
    held: dict[int, dict[int, tuple[int, ...]]]
    sides: dict[str, Memory]

    def vectors(self, count: int) -> dict[tuple[int, int], list[tuple[int, ...]]] | None:
        """(thread, step) -> the elements of its vector; None where one has holes."""
        found: dict[tuple[int, int], dict[int, tuple[int, ...]]] = {}
        for thread, values in self.held.items():
            for value, element in values.items():
                found.setdefault((thread, value // count), {})[value % count] = element
        if any(len(one) < count for one in found.values()):
            return None
        return {key: [one[e] for e in range(count)] for key, one in found.items()}

    def faults(self, side: str, width: int, swizzled: bool = True) -> Counter[str]:
        """How many vectors are out of order, and begin at a wrong place even at base 0."""
        memory, count = self.sides[side], 8 * width // self.bits
        vectors, found = self.vectors(count), Counter[str]()
        assert vectors is not None
        for at in memory.points():
            for elements in vectors.values():
                run = [memory.place(element, at, swizzled) for element in elements]
                found["order"] += run != list(range(run[0], run[0] + count))
                found["place"] += run[0] * self.bits % (8 * width) != 0
        return found

    def allows(self, side: str, width: int) -> bool:
        """Whether every vector is an aligned run, at each base."""
        if 8 * width % self.bits or self.vectors(8 * width // self.bits) is None:
            return False
        faults, memory = self.faults(side, width), self.sides[side]
        based = all(base % width == 0 for base in range(0, 64 * width, memory.align))
        return based and not faults.total()

    @property
    def widest(self) -> int:
        for width in WIDTHS:
            if all(self.allows(side, width) for side in self.sides):
                return width
        return 0


# ---------------------------------------------------------------------------------------- drawing
@dataclass(frozen=True)
class Drawn:
    """A random copy, twice."""

    copy: Copy
    plain: Plain
    text: str


def draw(rng: random.Random) -> Drawn:
    bits = rng.choice((4, 6, 8, 8, 16, 16, 16, 32, 64))
    shape = rng.choice(((4, 8), (8, 8), (8, 16), (16, 16), (4, 32), (6, 8), (8, 12), (2, 4, 8)))
    tv, held = draw_deal(rng, shape)
    made = {side: draw_side(rng, shape, bits, side) for side in ("source", "target")}
    copy = Copy(made["source"][0], made["target"][0], tv)
    plain = Plain(shape, bits, held, {side: memory for side, (_, memory) in made.items()})
    return Drawn(copy, plain, f"{copy}; {plain.sides}")


def factors(rng: random.Random, shape: tuple[int, ...]) -> list[int]:
    """The sizes cut into factors, in order."""
    found: list[int] = []
    for size in shape:
        while size > 1:
            one = rng.choice([n for n in (2, 3, 4, 8, 16, size) if size % n == 0])
            found.append(one)
            size //= one
    return found


def draw_deal(rng: random.Random, shape: tuple[int, ...]) -> tuple[Any, dict[int, dict[int, Any]]]:
    """A layout of lanes and values, and what each thread holds."""
    if shape in ((8, 8), (8, 16), (4, 32)) and rng.random() < 0.25:
        return draw_map(rng, shape)
    while True:
        extents = factors(rng, shape)
        kinds = rng.choice((("laneid",), ("laneid",), ("tx",), ("laneid", "warpid")))
        axes = [rng.choice(("m", *kinds)) for _ in extents]
        axes[-1] = rng.choice((axes[-1], "m", "m"))
        iters: list[Iter] = [(extent, 0, axis) for extent, axis in zip(extents, axes, strict=True)]
        sizes = dict.fromkeys(("m", *kinds), 1)
        order = list(range(len(iters)))[::-1]
        if rng.random() < 0.3:
            rng.shuffle(order)
        for k in order:
            extent, _, axis = iters[k]
            gap = 2 if rng.random() < 0.06 else 1
            iters[k] = (extent, sizes[axis] * gap, axis)
            sizes[axis] *= gap * extent
        limits = {"m": 64, "laneid": 32, "tx": 128, "warpid": 4}
        floors = "warpid" not in axes or "laneid" in axes
        if floors and all(size <= limits[axis] for axis, size in sizes.items()):
            break
    first = kinds[0]
    copies = (2, sizes[first], first) if sizes[first] <= 16 and rng.random() < 0.15 else None
    offset = rng.choice((0, 0, 0, 2, 4)) if sizes["m"] <= 32 else 0
    spec = S[tuple(e for e, _, _ in iters) : tuple(s @ NAMES[a] for _, s, a in iters)]
    if copies is not None:
        spec = spec + R[2 : copies[1] @ NAMES[first]]
    tile = TileLayout(spec + offset @ m if offset else spec)
    return tile, held_by(shape, iters, copies, offset)


NAMES = {"laneid": laneid, "tx": tx, "warpid": warpid, "m": m}


def held_by(
    shape: tuple[int, ...], iters: list[Iter], copies: Iter | None, offset: int
) -> dict[int, dict[int, Any]]:
    held: dict[int, dict[int, Any]] = {}
    for element in itertools.product(*map(range, shape)):
        flat = 0
        for coordinate, size in zip(element, shape, strict=True):
            flat = flat * size + coordinate
        place = Counter({"m": offset})
        for extent, stride, axis in reversed(iters):
            flat, digit = divmod(flat, extent)
            place[axis] += digit * stride
        for copy in range(2 if copies else 1):
            extra = copy * copies[1] if copies else 0
            thread = place["laneid"] + place["tx"] + 32 * place["warpid"] + extra
            held.setdefault(thread, {})[place["m"]] = element
    return held


def draw_map(rng: random.Random, shape: tuple[int, ...]) -> tuple[Any, dict[int, dict[int, Any]]]:
    """Lanes that go round or are XORed from row to row: no layouts."""
    run = rng.choice((2, 4))
    columns = shape[1] // run
    rows = max(1, 32 // columns)
    turned: Callable[[Any, Any], Any] = rng.choice(
        (
            lambda i, c: (c + i) % columns,
            lambda i, c: c ^ (i % columns),
            lambda i, c: (c - i) % columns,
        )
    )

    def deal(i: Any, j: Any) -> dict[str, Any]:
        lane = columns * (i % rows) + turned(i, j // run)
        return {"laneid": lane, "m": j % run + run * (i // rows)}

    held: dict[int, dict[int, Any]] = {}
    for i, j in itertools.product(*map(range, shape)):
        at = deal(i, j)
        held.setdefault(at["laneid"], {})[at["m"]] = (i, j)
    return Map.of(deal, shape), held


def draw_side(
    rng: random.Random, shape: tuple[int, ...], bits: int, side: str
) -> tuple[Any, Memory]:
    """A buffer or a view with a tile's shape."""
    dims: dict[str, range] = {}
    sizes: dict[str, Any] = {}
    whole, begin = list(shape), [0] * len(shape)
    viewed = rng.random() < 0.4
    starts: list[Size] = list(begin)
    if viewed:
        for d in range(len(shape)):
            steps = rng.choice((0, 1, 3))
            step = rng.choice((1, 2, 4, 8)) if d == len(shape) - 1 else 1
            whole[d] += steps * step
            starts[d] = step * rng.randint(0, steps)
            if steps and rng.random() < 0.5:
                name = f"b{side[0]}{d}"
                dims[name] = range(0, steps * step + 1, step)
                sizes[name] = Dim(name, multiple_of=step)
                starts[d] = name
    strides: list[Size] = [0] * len(shape)
    below, pad = 1, rng.choice((0, 0, 0, 1, 2, 4, 8))
    along = list(range(len(shape)))[::-1]
    if rng.random() < 0.2:
        along.reverse()
    for k, d in enumerate(along):
        strides[d] = below
        below = below * whole[d] + (pad if k == 0 else 0)
    if rng.random() < 0.1:
        strides = [2 * int(stride) for stride in strides]
    elif rng.random() < 0.2:
        name, step = f"p{side[0]}", rng.choice((1, 2, 8))
        least = -(-max(2, below) // step) * step
        dims[name] = range(least, least + 2 * step + 1, step)
        sizes[name] = Dim(name, multiple_of=step, at_least=least, at_most=least + 2 * step)
        strides[along[-1]] = name
    swizzle = None
    if rng.random() < 0.4:
        length = rng.randint(1, 3)
        swizzle = (rng.randint(0, 4), length, rng.randint(length, 4), rng.random() < 0.8)
    offset, align = rng.choice((0, 0, 0, 1, 8)), rng.choice((1, 2, 4, 8, 16, 16, 16, 128))
    spec = S[tuple(whole) : tuple(sizes.get(one, one) for one in strides)]  # type: ignore[arg-type]
    layout: Any = TileLayout(spec + offset @ m)
    if swizzle is not None:
        layout = ComposeLayout(*swizzle[:3], layout, swizzle[3])
    buffer = Buffer(
        tuple(whole), str(bits), layout, scope=rng.choice(("shared", "global")), align=align
    )
    memory = Memory(
        tuple(whole), tuple(whole), tuple(strides), offset, swizzle, tuple(starts), align, dims
    )
    if not viewed:
        return buffer, memory
    named = [sizes.get(one, one) for one in starts]  # type: ignore[arg-type]
    return buffer[tuple(slice(b, b + n) for b, n in zip(named, shape, strict=True))], memory


# -------------------------------------------------------------------------------------- comparing
def numbered(point: Mapping[str, int]) -> tuple[int, int]:
    """Thread and step of a point."""
    return point["lane"] + 32 * point.get("warp", 0), point.get("step", 0)


def check_access(access: Access, plain: Plain, side: str, width: int) -> None:
    """Which elements each lane moves, where, and which lanes move any."""
    memory, count = plain.sides[side], 8 * width // plain.bits
    vectors = plain.vectors(count)
    assert vectors is not None
    seen = set()
    names = [one.name for one in access.free]
    ranges = [range(int(v.low), int(v.high) + 1) for v in access.variables]  # type: ignore[arg-type]
    at = next(memory.points())
    for numbers in itertools.product(*ranges):
        values = dict(zip(names, numbers, strict=True))
        values = {
            n: v * one.multiple for (n, v), one in zip(values.items(), access.free, strict=True)
        }
        if any(values[name] != at[name] for name in at):
            continue
        point = point_of(access, values)
        for lane in range(access.lanes):
            here = {**point, access.lane: lane}
            elements = vectors.get(numbered({"lane": lane, **values}))
            assert access.address.admits(here) == (elements is not None), (lane, values)
            if elements is None:
                continue
            seen.add(numbered({"lane": lane, **values}))
            for e, element in enumerate(elements):
                full = {**here, access.elements.coordinates[1]: e}
                outputs = (*access.elements.outputs, *access.where.outputs)
                bit, *where = integers.values_of((term for _, term in outputs), full)
                assert bit == memory.place(element, at) * plain.bits, (lane, e, values)
                assert tuple(where) == element
    assert seen == set(vectors)


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
        drawn = draw(random.Random(f"copy {chunk} {number}"))
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
                check_access(drawn.copy.read(width), plain, "source", width)
                check_access(drawn.copy.write(width), plain, "target", width)
                break
            with pytest.raises(LayoutAlgebraError, match="has no value"):
                drawn.copy.read(width)
    assert min(kinds["alignment"], kinds["0"]) > 0, kinds
    print(sorted(kinds.items()))
