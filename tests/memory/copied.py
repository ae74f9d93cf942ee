"""Random copies, once for the package and once as plain numbers.

    drawn = draw(random.Random(7))
    drawn.copy         # the package's Copy
    drawn.plain        # the same for the enumeration
    drawn.plain.widest, drawn.plain.faults("source", 8)

The enumeration is written from the meaning alone: a vector is a run of a lane's values from a
multiple of its length on; it must be a run of memory too, and begin at a multiple of its bytes.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from layout_algebra import ComposeLayout, Dim, Map, R, S, TileLayout, laneid, m, tx, warpid
from layout_algebra.copying import Copy
from layout_algebra.memory import Buffer

SHAPES = ((8, 4), (8, 8), (8, 16), (16, 16), (4, 32), (4, 64), (6, 8), (8, 12), (2, 4, 8), (32, 1))
WIDTHS = (16, 8, 4, 2, 1)
Size = int | str
Iter = tuple[int, int, str]
NAMES = {"laneid": laneid, "tx": tx, "warpid": warpid, "m": m}


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
        for own, begin, size in zip(tile, self.begin, self.shape, strict=True):
            flat = flat * at.get(size, size) + own + at.get(begin, begin)  # type: ignore[arg-type, operator]
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
    shape = rng.choice(SHAPES)
    tv, held = draw_deal(rng, shape)
    tidy = rng.random() < 0.5
    made = {side: draw_side(rng, shape, bits, side, tidy) for side in ("source", "target")}
    copy = Copy(made["source"][0], made["target"][0], tv)
    plain = Plain(shape, bits, held, {side: memory for side, (_, memory) in made.items()})
    return Drawn(copy, plain, f"{copy}; {plain.sides}")


def factors(rng: random.Random, shape: tuple[int, ...]) -> list[int]:
    """The sizes cut into factors, in order."""
    found: list[int] = []
    for size in shape:
        while size > 1:
            one = rng.choice([n for n in (2, 3, 4, 8, 16, size, size) if size % n == 0])
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
        axes[-1] = rng.choice((axes[-1], *["m"] * 4))
        iters: list[Iter] = [(extent, 0, axis) for extent, axis in zip(extents, axes, strict=True)]
        sizes = dict.fromkeys(("m", *kinds), 1)
        order = list(range(len(iters)))[::-1]
        if rng.random() < 0.2:
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


def held_by(
    shape: tuple[int, ...], iters: list[Iter], copies: Iter | None, offset: int
) -> dict[int, dict[int, Any]]:
    held: dict[int, dict[int, Any]] = {}
    for element in itertools.product(*map(range, shape)):
        flat = 0
        for own, size in zip(element, shape, strict=True):
            flat = flat * size + own
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
    rng: random.Random, shape: tuple[int, ...], bits: int, side: str, tidy: bool
) -> tuple[Any, Memory]:
    """A buffer or a view with a tile's shape; a tidy one mostly allows wide vectors."""
    dims: dict[str, range] = {}
    sizes: dict[str, Any] = {}
    whole, begin = list(shape), [0] * len(shape)
    viewed = rng.random() < 0.4
    starts: list[Size] = list(begin)
    if viewed:
        for d in range(len(shape)):
            steps = rng.choice((0, 1, 3))
            step = rng.choice((8,) if tidy else (1, 2, 4, 8, 8)) if d == len(shape) - 1 else 1
            whole[d] += steps * step
            starts[d] = step * rng.randint(0, steps)
            if steps and rng.random() < 0.5:
                name = f"b{side[0]}{d}"
                dims[name] = range(0, steps * step + 1, step)
                sizes[name] = Dim(name, multiple_of=step)
                starts[d] = name
    strides: list[Size] = [0] * len(shape)
    below, pad = 1, rng.choice((0, 8, 16) if tidy else (0, 0, 0, 0, 1, 2, 4, 8))
    along = list(range(len(shape)))[::-1]
    if rng.random() < 0.15 and not tidy:
        along.reverse()
    for k, d in enumerate(along):
        strides[d] = below
        below = below * whole[d] + (pad if k == 0 else 0)
    if rng.random() < 0.1 and not tidy:
        strides = [2 * int(stride) for stride in strides]
    elif rng.random() < 0.2:
        name, step = f"p{side[0]}", 8 if tidy else rng.choice((1, 2, 8))
        least = -(-max(2, below) // step) * step
        dims[name] = range(least, least + 2 * step + 1, step)
        sizes[name] = Dim(name, multiple_of=step, at_least=least, at_most=least + 2 * step)
        strides[along[-1]] = name
    swizzle = None
    if rng.random() < 0.4:
        length = rng.randint(1, 3)
        swizzle = (
            rng.choice((0, 1, 2, 3, 3, 4)),
            length,
            rng.randint(length, 4),
            rng.random() < 0.8,
        )
    offset = rng.choice((0, 8) if tidy else (0, 0, 0, 1, 2, 8))
    align = rng.choice((16, 128) if tidy else (1, 2, 4, 8, 16, 16))
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
