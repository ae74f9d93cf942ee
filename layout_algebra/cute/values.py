"""CuTe's values: Layout, Swizzle and ComposedLayout.  Frozen, hashable, equal by structure.

    A = Layout((4, 6), (2, 10))         # 4 steps of 2, 6 steps of 10
    A(1, 2), A(9)                       # 22, 22: index 9 is coordinate (1, 2)
    str(A)                              # (4,6):(2,10), and Layout.parse reads it
    Layout.parse("Sw<3,4,3> o 0 o (8,64):(64,1)")

A layout is a shape and strides of one nesting: a function from coordinates, or from the index that
counts through them *first mode fastest*, to an integer.  That is CuTe's order, and the opposite of
TileLayout's; `to_tile`, `from_tile` and `as_map` (tiles.py) are the only ways between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from layout_algebra import values as core
from layout_algebra.cute import tuples
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.reading import read
from layout_algebra.cute.strides import Pair, value
from layout_algebra.cute.tuples import Nested
from layout_algebra.dims import (
    Polynomial,
    Size,
    Symbol,
    as_size,
    evaluate,
    is_size,
    symbols,
)
from layout_algebra.errors import CoordinateError, DimError, LayoutAlgebraError

Dims = Mapping[str, Polynomial]


@dataclass(frozen=True, repr=False)
class Layout:
    """`shape:stride`.

    Args:
        shape: a size, or a nested tuple of them; ints or Dims, at least 1.
        stride: integers or expressions of Dims, nested as the shape; compact column-major (the
            first size fastest) when left out.

    Raises:
        CuteError: anything else.
    """

    shape: Nested
    stride: Any = None

    def __post_init__(self) -> None:
        shape = tuples.checked_shape(self.shape)
        if self.stride is None:
            stride = tuples.column_major(shape)
        else:
            stride = tuples.checked(self.stride, "stride")
        if not tuples.congruent(shape, stride):
            raise CuteError(
                f"shape and stride are nested alike; got {tuples.text(shape)} and "
                f"{tuples.text(stride)}"
            )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "stride", stride)

    @staticmethod
    def parse(text: str, dims: Dims | None = None) -> Layout | ComposedLayout:
        """The layout that a text writes; `Layout.parse(str(x)) == x`, composed ones included.

        Raises:
            NotationError: any other text, with a caret under what is wrong.
        """
        return parse(text, dims)

    # -- reading --------------------------------------------------------------------------
    def pairs(self) -> list[Pair]:
        """(size, stride) of every leaf, the first fastest."""
        sizes, strides = tuples.leaves(self.shape), tuples.leaves(self.stride)
        return list(zip(sizes, strides, strict=True))

    def modes(self) -> tuple[Layout, ...]:
        """The top-level modes, each as a layout."""
        found = zip(tuples.modes(self.shape), tuples.modes(self.stride), strict=True)
        return tuple(Layout(shape, stride) for shape, stride in found)

    def __getitem__(self, mode: int) -> Layout:
        found = self.modes()
        if type(mode) is not int or not -len(found) <= mode < len(found):
            raise CuteError(f"{self} has modes 0..{len(found) - 1}; got {tuples.short(mode)}")
        return found[mode]

    def __len__(self) -> int:
        return len(tuples.modes(self.shape))

    def __iter__(self) -> Iterator[Layout]:
        return iter(self.modes())

    def __bool__(self) -> bool:
        return True

    def size(self) -> Size:
        """Number of coordinates."""
        return tuples.size_of(self.shape)

    def rank(self) -> int:
        """Number of top-level modes; 1 for a size alone."""
        return len(self)

    def depth(self) -> int:
        """Levels of brackets; 0 for a size alone."""
        return tuples.depth_of(self.shape)

    def cosize(self) -> Size:
        """The value at the last coordinate, plus 1: CuTe's cosize.

        It is the number of places that an array needs only when no stride is negative; see
        `footprint`.
        """
        total: Size = 1
        for size, stride in self.pairs():
            total = total + (size - 1) * stride
        return total

    def symbols(self) -> frozenset[Symbol]:
        """The Dims in it."""
        found: frozenset[Symbol] = frozenset()
        for pair in self.pairs():
            found |= symbols(pair[0]) | symbols(pair[1])
        return found

    @property
    def is_symbolic(self) -> bool:
        return bool(self.symbols())

    def evaluated(self, **dims: int) -> Layout:
        """The concrete layout for these values of the Dims.

        Raises:
            DimError: a Dim without a value, or a value that is none of it.
        """
        numbers = _numbers(dims)
        shape, stride = (
            tuples.mapped(part, lambda size: evaluate(size, numbers))
            for part in (self.shape, self.stride)
        )
        return Layout(shape, stride)

    def __call__(self, *coordinate: Any) -> int:
        """The value at an index, or at a coordinate with one part (nested or not) for each mode.

        Raises:
            CoordinateError: a coordinate that does not fit, or one outside the shape.
        """
        whole = coordinate[0] if len(coordinate) == 1 else coordinate
        index = tuples.index_of(whole, self.shape)
        return value([(tuples.number(s), tuples.number(d)) for s, d in self.pairs()], index)

    def __str__(self) -> str:
        return f"{tuples.text(self.shape)}:{tuples.text(self.stride)}"

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class Swizzle:
    """`Sw<B,M,S>`: XORs B bits of an address, S bits further up, into the B bits from bit M on.

    With S negative it goes the other way: the B bits from bit M on are XORed into those |S| bits
    further up.  The low M bits stay.

        Swizzle(3, 4, 3)(128)       # 144

    Raises:
        CuteError: numbers that are no bit counts, or S = 0 with B > 0, which loses bits.
    """

    B: int
    M: int
    S: int

    def __post_init__(self) -> None:
        for name, least in (("B", 0), ("M", 0), ("S", -core.MOST_BITS)):
            given = getattr(self, name)
            if type(given) is not int or not least <= given <= core.MOST_BITS:
                raise CuteError(
                    f"{name} of a swizzle is an int, {least} to {core.MOST_BITS}; got "
                    f"{tuples.short(given)}"
                )
        if self.B > 0 and self.S == 0:
            raise CuteError(f"{self}: with S = 0 a bit is XORed with itself and lost; S is not 0")

    @property
    def core(self) -> core.Swizzle:
        """The same swizzle as a `layout_algebra.Swizzle`."""
        return core.Swizzle(self.M, self.B, abs(self.S), self.S >= 0)

    @property
    def is_identity(self) -> bool:
        return self.B == 0

    def __call__(self, address: int) -> int:
        """The address after the XOR.

        Raises:
            CoordinateError: an address that has no bits, as text or a fraction.
        """
        try:
            return self.core(address)
        except TypeError as error:
            if isinstance(error, LayoutAlgebraError):  # a traced address says itself what is wrong
                raise
            raise CoordinateError(
                f"an address is an integer; got {tuples.short(address)} for {self}"
            ) from None

    def __str__(self) -> str:
        return f"Sw<{self.B},{self.M},{self.S}>"

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class ComposedLayout:
    """`swizzle o offset o layout`: the function c -> swizzle(offset + layout(c)).

        tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
        tile(1, 0)                  # 72

    Raises:
        CuteError: parts of other kinds.
    """

    swizzle: Swizzle
    offset: Size
    layout: Layout

    def __post_init__(self) -> None:
        if not isinstance(self.swizzle, Swizzle):  # type: ignore[redundant-expr]
            raise CuteError(
                f"the swizzle is a cute.Swizzle(B, M, S); got {tuples.short(self.swizzle)}"
            )
        if not is_size(self.offset):
            raise CuteError(
                f"the offset is an int or an expression of Dims; got {tuples.short(self.offset)}"
            )
        if not isinstance(self.layout, Layout):  # type: ignore[redundant-expr]
            raise wrong_kind(self.layout, "the inner layout")
        object.__setattr__(self, "offset", as_size(self.offset))

    @staticmethod
    def parse(text: str, dims: Dims | None = None) -> Layout | ComposedLayout:
        """As `Layout.parse`."""
        return parse(text, dims)

    @property
    def shape(self) -> Nested:
        return self.layout.shape

    def with_layout(self, layout: Layout) -> ComposedLayout:
        """The same swizzle and offset over another layout."""
        return ComposedLayout(self.swizzle, self.offset, layout)

    def __len__(self) -> int:
        return len(self.layout)

    def __bool__(self) -> bool:
        return True

    def size(self) -> Size:
        """Number of coordinates."""
        return self.layout.size()

    def rank(self) -> int:
        """Number of top-level modes."""
        return self.layout.rank()

    def depth(self) -> int:
        """Levels of brackets."""
        return self.layout.depth()

    def cosize(self) -> Size:
        """The inner layout's cosize, as in CuTe: neither swizzle nor offset is looked at."""
        return self.layout.cosize()

    def symbols(self) -> frozenset[Symbol]:
        """The Dims in it."""
        return self.layout.symbols() | symbols(self.offset)

    @property
    def is_symbolic(self) -> bool:
        return bool(self.symbols())

    def evaluated(self, **dims: int) -> ComposedLayout:
        """The concrete layout for these values of the Dims; errors as of a `Layout`."""
        layout = self.layout.evaluated(**dims)
        return ComposedLayout(self.swizzle, evaluate(self.offset, _numbers(dims)), layout)

    def __call__(self, *coordinate: Any) -> int:
        """The value at an index or a coordinate; arguments as for a `Layout`."""
        return self.swizzle(tuples.number(self.offset) + self.layout(*coordinate))

    def __str__(self) -> str:
        return f"{self.swizzle} o {tuples.text(self.offset)} o {self.layout}"

    def __repr__(self) -> str:
        return str(self)


AnyLayout = Layout | ComposedLayout


def _numbers(dims: Mapping[str, int]) -> dict[str, int]:
    """The values of Dims as ints of Python.

    Raises:
        DimError: a value that is no integer.
    """
    for name, number in dims.items():
        if isinstance(number, bool) or not hasattr(number, "__index__"):  # type: ignore[redundant-expr]
            raise DimError(f"the value of Dim {name} is an integer; got {tuples.short(number)}")
    return {name: number.__index__() for name, number in dims.items()}


def parse(text: str, dims: Dims | None = None) -> AnyLayout:
    """The layout that a text writes: `parse(str(x)) == x`.

    Args:
        text: `shape:stride`, or `Sw<B,M,S> o offset o shape:stride`.
        dims: Dims that the text may call by their names.

    Raises:
        NotationError: any other text, with a caret under what is wrong.
    """
    found = read(text, dims)
    with found.reader.at(0):
        layout = Layout(found.shape, found.stride)
        if found.swizzle is None:
            return layout
        return ComposedLayout(Swizzle(*found.swizzle), found.offset, layout)


def wrong_kind(given: object, what: str) -> CuteError:
    """The error for something that is no CuTe layout; it names the ways between the conventions."""
    if isinstance(given, core.Tile | core.Swizzled):
        return CuteError(
            f"{what} is a CuTe layout, whose first mode is fastest; {given} is a "
            f"{type(given).__name__}, whose last iter is: cute.from_tile(...) makes one of the "
            "other, cute.to_tile(...) goes back"
        )
    hint = "; text becomes one by cute.parse(text)" if isinstance(given, str) else ""
    return CuteError(f"{what} is a CuTe layout; got {type(given).__name__}{hint}")


def plain(given: object, what: str) -> Layout:
    """The argument, if it is a Layout.

    Raises:
        CuteError: otherwise.
    """
    if isinstance(given, ComposedLayout):
        raise CuteError(f"{what} is a layout without a swizzle; got {given}")
    if not isinstance(given, Layout):
        raise wrong_kind(given, what)
    return given
