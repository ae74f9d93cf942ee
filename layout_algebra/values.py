"""The data of layouts: iters, tiles, swizzles.  Frozen, hashable, equal by structure.

These hold what a layout *is*; what it *means* is in semantics.py, and the methods that people call
are on the classes of layouts.py, which extend these.  Operations work on `Tile` and `Swizzled` and
return through `rebuild`, which keeps the caller's class.

Invariants are checked in one place for each value, when it is made; the error says which iter, what
was given, and what was expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

from layout_algebra.axes import Axis, m, reg
from layout_algebra.dims import (
    Polynomial,
    Size,
    Symbol,
    as_size,
    at_least,
    bounds,
    is_size,
    product,
    symbols,
)
from layout_algebra.errors import AxisError, LayoutError

#: The most address bits that a swizzle parameter may count (addresses are below 2**63).
MOST_BITS = 63


class Iter(NamedTuple):
    """`extent` positions, `stride` apart, along `axis`."""

    extent: Size
    stride: Size
    axis: Axis

    def __str__(self) -> str:
        return f"({self.extent}, {self.stride}@{self.axis.name})"


def make_iter(extent: object, stride: object, axis: object, where: str = "iter") -> Iter:
    """A checked Iter; `axis` may be a name.

    Raises:
        LayoutError: an extent that is not a positive int or a Dim, a stride that is no integer.
        AxisError: an unknown axis name.
    """
    if not is_size(extent):
        raise LayoutError(f"{where}: the extent is a positive int or a Dim; got {extent!r}")
    if not is_size(stride):
        raise LayoutError(f"{where}: the stride is an int or an expression of Dims; got {stride!r}")
    try:
        found = Axis.get(axis)  # type: ignore[arg-type]
    except AxisError as error:
        raise AxisError(f"{where}: {error}") from None
    extent, stride = as_size(extent), as_size(stride)  # type: ignore[arg-type]
    _, most = bounds(extent)
    if most is not None and most < 1:
        shown = extent if isinstance(extent, int) else extent.call_text()
        raise LayoutError(f"{where}: the extent is at least 1; got {shown}")
    return Iter(extent, stride, m if found is reg else found)


@dataclass(frozen=True)
class Tile:
    """Shard, replica and offset: `L(x) = { D(x) + r + O | r in R }`.

    `shard` and `replica` are tuples of iters; `offsets` is sorted by axis name.  An axis with an
    explicit offset 0 differs (as a value, not as a map) from one without.
    """

    shard: tuple[Iter, ...]
    replica: tuple[Iter, ...] = ()
    offsets: tuple[tuple[Axis, Size], ...] = ()

    @classmethod
    def make(
        cls,
        shard: Iterable[Any] = (),
        replica: Iterable[Any] = (),
        offset: Mapping[Any, Any] | None = None,
    ) -> Self:
        """A checked tile; iters are `Iter`s or triples (extent, stride, axis or its name)."""
        if offset is not None and not isinstance(offset, Mapping):  # type: ignore[redundant-expr]
            raise LayoutError(f"the offset is a dict from axes to numbers; got {offset!r}")
        spelled: set[str] = set()
        parts = (
            _iters(shard, "shard", spelled),
            _iters(replica, "replica", spelled),
            _offsets(offset or {}, spelled),
        )
        if {m.name, reg.name} <= spelled:
            raise LayoutError("axis reg is another spelling of m: use one of them in a layout")
        return cls._from_parts(*parts)

    @classmethod
    def _from_parts(
        cls,
        shard: tuple[Iter, ...],
        replica: tuple[Iter, ...],
        offsets: tuple[tuple[Axis, Size], ...],
    ) -> Self:
        """Checked parts to a value; classes with another constructor override it."""
        return cls(shard, replica, offsets)

    @property
    def offset(self) -> dict[Axis, Size]:
        """Axis -> number of places that every element is moved."""
        return dict(self.offsets)

    @property
    def extents(self) -> tuple[Size, ...]:
        """The shard's extents, slowest first."""
        return tuple(extent for extent, _, _ in self.shard)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Every axis of shard, replica and offset, in that order, each once."""
        found = dict.fromkeys(axis for _, _, axis in self.shard)
        found |= dict.fromkeys(axis for _, _, axis in self.replica)
        found |= dict.fromkeys(axis for axis, _ in self.offsets)
        return tuple(found)

    @property
    def affine(self) -> Tile:
        """The affine part (itself; a swizzled layout has another)."""
        return self

    @property
    def swizzle(self) -> Swizzle | None:
        """The XOR on the places of axis m (none)."""
        return None

    def sizes(self) -> Iterator[Size]:
        """Every number written in it."""
        for extent, stride, _ in (*self.shard, *self.replica):
            yield extent
            yield stride
        for _, value in self.offsets:
            yield value

    def symbols(self) -> frozenset[Symbol]:
        """The Dims in it."""
        found: frozenset[Symbol] = frozenset()
        for size in self.sizes():
            if not isinstance(size, int):
                found |= symbols(size)
        return found

    @property
    def is_symbolic(self) -> bool:
        return any(isinstance(size, Polynomial) for size in self.sizes())

    def rebuild(
        self,
        shard: Iterable[Iter],
        replica: Iterable[Iter] = (),
        offset: Mapping[Axis, Size] | None = None,
    ) -> Self:
        """A layout of the caller's class from parts that are already checked."""
        return self._from_parts(tuple(shard), tuple(replica), sort_offsets(offset or {}))


@dataclass(frozen=True)
class Swizzle:
    """XOR one bit field of an address into another.

    With p = per_element, B = swizzle_len, A = atom_len (all bit counts), an address x becomes

        x xor ((x >> (p+A)) mod 2^B) << p             swizzle_inner (the usual direction)
        x xor ((x >> p) mod 2^B) << (p+A)             otherwise

    The low p bits stay; every aligned block of 2^(p+A+B) addresses stays in place.  For A >= B the
    fields do not overlap and the swizzle is its own inverse.  For 0 < A < B it is a bijection with
    another inverse; for A = 0 < B it is no bijection.
    """

    per_element: int
    swizzle_len: int
    atom_len: int
    swizzle_inner: bool = True

    def __post_init__(self) -> None:
        for name in ("per_element", "swizzle_len", "atom_len"):
            value = getattr(self, name)
            if type(value) is not int:
                raise LayoutError(f"{name} is a number of bits, an int; got {value!r}")
            if not 0 <= value <= MOST_BITS:
                raise LayoutError(f"{name} is a number of bits, 0 to {MOST_BITS}; got {value}")
        if type(self.swizzle_inner) is not bool:
            raise LayoutError(f"swizzle_inner is True or False; got {self.swizzle_inner!r}")

    @property
    def is_identity(self) -> bool:
        return self.swizzle_len == 0

    @property
    def is_bijection(self) -> bool:
        return self.swizzle_len == 0 or self.atom_len > 0

    @property
    def is_involution(self) -> bool:
        return self.atom_len >= self.swizzle_len

    @property
    def period(self) -> int:
        """Addresses in one block that the swizzle permutes within itself."""
        return 1 << (self.per_element + self.atom_len + self.swizzle_len) if self.swizzle_len else 1

    def __call__(self, address: int) -> int:
        """The address after the XOR."""
        p, mask = self.per_element, (1 << self.swizzle_len) - 1
        if self.swizzle_inner:
            return address ^ (((address >> (p + self.atom_len)) & mask) << p)
        return address ^ (((address >> p) & mask) << (p + self.atom_len))

    @property
    def inner_mask(self) -> int:
        """TIRx: the low bit field, before the shift by per_element."""
        return (1 << self.swizzle_len) - 1

    @property
    def outer_mask(self) -> int:
        """TIRx: the high bit field, before the shift by per_element."""
        return self.inner_mask << self.atom_len


@dataclass(frozen=True)
class Swizzled:
    """A tile whose places on axis m go through a swizzle; other axes pass."""

    swizzle: Swizzle
    tile_layout: Tile

    def __post_init__(self) -> None:
        if not isinstance(self.tile_layout, Tile):  # type: ignore[redundant-expr]
            raise LayoutError(f"tile_layout is a TileLayout(S[...] ...); got {self.tile_layout!r}")
        s = self.swizzle
        if s.atom_len < s.swizzle_len:
            raise LayoutError(
                f"ComposeLayout needs atom_len >= swizzle_len; got atom_len={s.atom_len}, "
                f"swizzle_len={s.swizzle_len} (a Swizzle on its own may have them)"
            )

    @property
    def affine(self) -> Tile:
        return self.tile_layout

    @property
    def per_element(self) -> int:
        return self.swizzle.per_element

    @property
    def swizzle_len(self) -> int:
        return self.swizzle.swizzle_len

    @property
    def atom_len(self) -> int:
        return self.swizzle.atom_len

    @property
    def swizzle_inner(self) -> bool:
        return self.swizzle.swizzle_inner

    @property
    def shard(self) -> tuple[Iter, ...]:
        return self.tile_layout.shard

    @property
    def replica(self) -> tuple[Iter, ...]:
        return self.tile_layout.replica

    @property
    def extents(self) -> tuple[Size, ...]:
        return self.tile_layout.extents

    @property
    def axes(self) -> tuple[Axis, ...]:
        found = self.tile_layout.axes
        return found if m in found else (*found, m)

    def symbols(self) -> frozenset[Symbol]:
        return self.tile_layout.symbols()

    @property
    def is_symbolic(self) -> bool:
        return self.tile_layout.is_symbolic

    def with_tile(self, tile: Tile) -> Self:
        """The same swizzle over another tile, in the caller's class."""
        return type(self)._from_parts(self.swizzle, tile)

    def with_swizzle(self, swizzle: Swizzle, tile: Tile) -> Self:
        """Another swizzle over another tile, in the caller's class."""
        return type(self)._from_parts(swizzle, tile)

    @classmethod
    def _from_parts(cls, swizzle: Swizzle, tile: Tile) -> Self:
        return cls(swizzle, tile)


#: What every operation accepts: the frozen data of a layout.
AnyLayout = Tile | Swizzled
#: A tile of the caller's class, for operations that keep it.
AnyTile = TypeVar("AnyTile", bound=Tile)


def layout_size(layout: AnyLayout) -> Size:
    """Number of logical elements."""
    return product(layout.extents)


def row_major_strides(extents: Iterable[Size]) -> tuple[Size, ...]:
    """Compact strides, the last one 1."""
    strides: list[Size] = []
    below: Size = 1
    for extent in reversed(tuple(extents)):
        strides.append(below)
        below = below * extent
    return tuple(reversed(strides))


def sort_offsets(offset: Mapping[Axis, Size]) -> tuple[tuple[Axis, Size], ...]:
    return tuple(sorted(offset.items(), key=lambda pair: pair[0].name))


def surely_positive(extent: Size) -> bool:
    """Whether a size is at least 1 for all values of its Dims."""
    return extent >= 1 if isinstance(extent, int) else at_least(extent, 1)


def _iters(items: Iterable[Any], part: str, spelled: set[str]) -> tuple[Iter, ...]:
    made: list[Iter] = []
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):  # type: ignore[redundant-expr]
        raise LayoutError(f"{part}: a list of iters (extent, stride, axis); got {items!r}")
    for position, item in enumerate(items):
        where = f"{part}[{position}]"
        try:
            extent, stride, axis = item
        except (TypeError, ValueError) as error:
            raise LayoutError(
                f"{where}: an iter is (extent, stride, axis); got {item!r}"
            ) from error
        made.append(make_iter(extent, stride, axis, where))
        spelled.add(getattr(axis, "name", axis))
    return tuple(made)


def _offsets(offset: Mapping[Any, Any], spelled: set[str]) -> tuple[tuple[Axis, Size], ...]:
    found: dict[Axis, Size] = {}
    for name, value in offset.items():
        axis = Axis.get(name)
        spelled.add(axis.name)
        axis = m if axis is reg else axis
        if not is_size(value):
            raise LayoutError(
                f"the offset on {axis.name} is an int or an expression of Dims; got {value!r}"
            )
        if axis in found:
            raise LayoutError(
                f"two offsets on axis {axis.name}: {found[axis]} and {value}; add them"
            )
        found[axis] = as_size(value)
    return sort_offsets(found)
