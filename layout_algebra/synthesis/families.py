"""The classes of layouts to search: TMA's modes, XOR swizzles, padded rows, bit-linear layouts.

    find_swizzle(buffer, reads=[...], among=TMA_MODES)
    find_swizzle(buffer, reads=[...], among=XOR | PADDING)

TMA_MODES  the tile as it is, and under the XOR of the modes 32B, 64B and 128B.  The hardware XORs
           bits of absolute addresses, so these need a base aligned to the XOR's period.
XOR        every swizzle (M, B, S) with M + B + |S| at most the bits of the tile's places that keeps
           them inside their range: for S > 0 the field above is XORed into the one below, for
           S < 0 the other way round.
PADDING    the row pitch plus k elements, for every k up to all banks once.
F2         bit-linear layouts: the XOR swizzles, then layouts that permute the bits of the element's
           index and XOR two fields of the place, found by a search that need not find the best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from layout_algebra.axes import Axis, m
from layout_algebra.dims import product
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory.buffers import Buffer
from layout_algebra.memory.targets import MemoryTarget
from layout_algebra.semantics import layout_map
from layout_algebra.synthesis.counting import Numbers
from layout_algebra.synthesis.errors import SynthesisError
from layout_algebra.values import AnyLayout, Iter, Swizzle, Tile

#: Elements of a tile that is searched.
MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class Family:
    """A class of layouts; `a | b` is both."""

    kinds: tuple[str, ...]

    def __or__(self, other: object) -> Family:
        if not isinstance(other, Family):
            return NotImplemented
        return Family(tuple(dict.fromkeys((*self.kinds, *other.kinds))))

    def __str__(self) -> str:
        return " | ".join(self.kinds)


TMA_MODES = Family(("TMA_MODES",))
XOR = Family(("XOR",))
PADDING = Family(("PADDING",))
F2 = Family(("F2",))


@dataclass(frozen=True, eq=False)
class Choice:
    """One layout to look at.

    Attributes:
        name: in tables.
        layout: the layout.
        align: bytes that its base has to be aligned to.
        places: where each logical element is.
        order: less is simpler, among layouts that take the same room.
    """

    name: str
    layout: AnyLayout
    align: int
    places: Numbers
    order: tuple[int, ...]

    @property
    def span(self) -> int:
        """Elements from the first place to the last."""
        return int(self.places.max() - self.places.min()) + 1


@dataclass(frozen=True, eq=False)
class Ground:
    """The tile that is to be swizzled, as numbers; `ground_of` makes one."""

    buffer: Buffer
    tile: Tile
    shape: tuple[int, ...]
    places: Numbers

    def swizzled(self, swizzle: Swizzle) -> tuple[AnyLayout, Numbers] | None:
        """The layout under a swizzle; None when a place would leave the tile's range."""
        places = np.asarray(swizzle(self.places))  # type: ignore[arg-type]  # bit operations only
        low, high = self.places.min(), self.places.max()
        if places.min() < low or places.max() > high:
            return None
        s = swizzle
        parts = (s.per_element, s.swizzle_len, s.atom_len)
        return ComposeLayout(*parts, self.tile, s.swizzle_inner), places

    @property
    def is_compact(self) -> bool:
        """Whether its places are 0, 1, ... up to its number of elements."""
        return int(self.places.min()) == 0 and int(self.places.max()) == self.places.size - 1

    @property
    def plain(self) -> Choice:
        """The tile as it is."""
        return Choice("none", self.tile, self.buffer.align, self.places, (0,))


def ground_of(buffer: Buffer) -> Ground:
    """The checked tile of a buffer.

    Raises:
        SynthesisError: symbolic sizes, a swizzle or copies in the layout, two elements at one
            place, or too many elements.
    """
    layout = buffer.layout
    if not isinstance(layout, Tile):
        raise SynthesisError(
            f"the buffer's layout is the unswizzled tile; give {layout}.tile_layout instead"
        )
    if layout.is_symbolic or not all(isinstance(size, int) for size in buffer.shape):
        raise SynthesisError(f"the search needs numbers for sizes; evaluate the Dims of {buffer}")
    if layout.replica:
        raise SynthesisError(f"the search is for tiles without copies; got {layout}")
    shape = tuple(int(size) for size in buffer.shape)  # type: ignore[arg-type]
    if math.prod(shape) > MOST_ELEMENTS:
        raise SynthesisError(
            f"a tile of {math.prod(shape)} elements; at most {MOST_ELEMENTS} are searched"
        )
    places = places_of(layout, shape)
    if not _injective(places):
        raise SynthesisError(f"two elements of {layout} are at one place")
    return Ground(buffer, layout, shape, places)


def row_major(buffer: Buffer) -> Buffer:
    """The buffer with its elements in logical order, so that a place is an element's index."""
    size = product(buffer.shape)
    tile = TileLayout.make([(size, 1, m)])
    return Buffer(buffer.shape, buffer.dtype, tile, buffer.scope, buffer.align)


def choices(kind: str, ground: Ground, target: MemoryTarget) -> Iterator[Choice]:
    """The layouts of a class that are looked at one by one.

    Raises:
        SynthesisError: the class has no member for this tile.
    """
    yield ground.plain
    if kind == "TMA_MODES":
        yield from _tma_modes(ground)
    elif kind == "PADDING":
        yield from _padded(ground, target)
    else:
        yield from _swizzles(ground)


def _tma_modes(ground: Ground) -> Iterator[Choice]:
    """PTX ISA, "Swizzling modes": 16-byte chunks, their number XORed with that of the row of 128
    bytes, modulo 2, 4 or 8."""
    bits = ground.buffer.bits
    if 128 % bits:
        return  # 16 bytes hold no whole number of elements
    chunk = (128 // bits).bit_length() - 1
    for mode, length in (("32B", 1), ("64B", 2), ("128B", 3)):
        swizzle = Swizzle(chunk, length, 3)
        made = ground.swizzled(swizzle)
        if made is not None:
            align = max(ground.buffer.align, swizzle.period * bits // 8)
            yield Choice(mode, made[0], align, made[1], (1, length, 0, length))


def _swizzles(ground: Ground) -> Iterator[Choice]:
    """Every (M, B, S); those with fewer XORed bits and a shorter period are simpler."""
    bits = int(max(ground.places.max(), -ground.places.min())).bit_length()
    for length in range(1, bits // 2 + 1):
        for atom in range(length, bits - length + 1):
            for low in range(bits - length - atom + 1):
                for inner in (True, False):
                    made = ground.swizzled(Swizzle(low, length, atom, inner))
                    if made is None:
                        continue
                    name = f"({low}, {length}, {atom if inner else -atom})"
                    order = (1, length, int(not inner), low + length + atom, -low)
                    yield Choice(name, made[0], ground.buffer.align, made[1], order)


def _padded(ground: Ground, target: MemoryTarget) -> Iterator[Choice]:
    rows, pitch = _rows(ground)
    row_bits = 8 * target.row_bytes
    for k in range(1, row_bits // math.gcd(row_bits, ground.buffer.bits)):
        iters = [
            Iter(e, s // pitch * (pitch + k) if s >= pitch else s, axis) for e, s, axis in rows
        ]
        tile = TileLayout.make(iters, (), ground.tile.offset)
        places = places_of(tile, ground.shape)
        if _injective(places):
            yield Choice(f"pitch {pitch} + {k}", tile, ground.buffer.align, places, (2, k))


def _rows(ground: Ground) -> tuple[list[tuple[int, int, Axis]], int]:
    """The tile with one iter for each dimension, and the pitch of its rows."""
    tile = TileLayout.make(ground.tile.shard, (), ground.tile.offset).canonicalize()
    try:
        iters = [it for it in tile.group(ground.shape)[0].shard if it.extent != 1]
    except ValueError as error:
        raise SynthesisError(f"PADDING is for tiles of rows; {ground.tile}: {error}") from None
    strides = sorted(int(it.stride) for it in iters)  # type: ignore[arg-type]
    wide = [size for size in ground.shape if size != 1]
    if len(iters) < 2 or len(iters) != len(wide) or strides[0] < 1:
        raise SynthesisError(
            f"PADDING is for tiles whose dimensions have one stride each; got {tile} for "
            f"{ground.shape}"
        )
    pitch = strides[1]
    if any(stride % pitch for stride in strides[1:]):
        raise SynthesisError(f"PADDING: not every stride is whole rows of {pitch}: {tile}")
    return [(int(e), int(s), axis) for e, s, axis in iters], pitch  # type: ignore[arg-type]


def places_of(layout: AnyLayout, shape: tuple[int, ...]) -> Numbers:
    """Where each element is, by its row-major index."""
    table = layout_map(layout, shape).table()
    return np.asarray(table.get(m.name, np.zeros(shape, dtype=np.int64))).reshape(-1)


def _injective(places: Numbers) -> bool:
    return np.unique(places).size == places.size
