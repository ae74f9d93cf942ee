"""What users hold: TileLayout and ComposeLayout, with TIRx's names for their parts and methods.

The data and its invariants are in values.py, the meaning in semantics.py; the methods here are
one-liners over those, except `apply` on ints, which has a direct loop for speed (held equal to the
terms by the property tests).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from layout_algebra.algebra import extent
from layout_algebra.algebra.group import GroupError
from layout_algebra.array_operations import ArrayOperations
from layout_algebra.axes import Axis, AxisTerms, m
from layout_algebra.dims import Size, at_least, evaluate, is_size, positive_symbols, product
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.maps import Map, Place
from layout_algebra.notation import Spec, notation
from layout_algebra.semantics import digits_of, layout_map, places
from layout_algebra.showing import Shown
from layout_algebra.swizzled_operations import SwizzledOperations
from layout_algebra.terms import Const, Term, const
from layout_algebra.tile_operations import TileOperations
from layout_algebra.tracing import Traced, term_of
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile

if TYPE_CHECKING:
    from layout_algebra.arithmetic.expressions import Formula


class LayoutMethods(ArrayOperations, Shown):
    """The methods that tiles and swizzled tiles share."""

    def map(self: AnyLayout, shape: Sequence[Size] | None = None) -> Map:  # type: ignore[misc]
        """The layout's Map over a logical shape (over the shard's own digits when None)."""
        return layout_map(self, shape)

    def apply(
        self: AnyLayout,  # type: ignore[misc]
        *coordinate: Any,
        shape: Sequence[Size] | None = None,
    ) -> dict[str, Any]:
        """The place of one element, its first copy: axis name -> number.

        Args:
            coordinate: one flat index; or one number for each shard iter; or, with `shape`, one
                number for each dimension of the shape, flattened row-major.
            shape: logical shape; its elements must all lie inside the layout.

        Inside a traced callable the coordinates may be symbols; then so are the places.

        Raises:
            CoordinateError: the wrong number of coordinates, or one outside its range.
        """
        if shape is None and len(coordinate) == 1 and type(coordinate[0]) is int:
            return _apply_flat(self, coordinate[0])
        return _apply(self, coordinate, shape)

    def places(
        self: AnyLayout,  # type: ignore[misc]
        *coordinate: Any,
        shape: Sequence[Size] | None = None,
    ) -> list[Place]:
        """Every place of one element, copies included, each once; arguments as for `apply`."""
        flat = _flat_index(self, coordinate, shape)
        if not isinstance(flat, int) or self.is_symbolic:
            raise CoordinateError("places needs numbers: evaluate the Dims first")
        _check_flat(self, flat)
        return layout_map(self).places(*_digits(flat, self.extents))

    def table(self: AnyLayout, shape: Sequence[int] | None = None) -> dict[str, Any]:  # type: ignore[misc]
        """Every element's place at once: axis -> int64 array of the given shape.

        With copies, the arrays have one more dimension for each replica iter, at the end.
        Without a shape, the shard's extents are the shape.
        """
        return layout_map(self, shape).table()

    def formula(self: AnyLayout, shape: Sequence[Size] | None = None) -> Formula:  # type: ignore[misc]
        """Closed form of every axis over a logical shape, as SymPy expressions.

        Prints as the book writes it: `laneid = 4*i + floor(j/2) mod 4`.
        """
        return layout_map(self, shape).formula()

    def size(self: AnyLayout, axis: Axis | str | None = None) -> Size:  # type: ignore[misc]
        """Number of logical elements; with an axis, the product of the shard extents on it."""
        if axis is None:
            return product(self.extents)
        found = Axis.get(axis)
        if isinstance(self, Swizzled):
            raise LayoutError("size(axis) is asked of a tile: use layout.tile_layout.size(axis)")
        return product(it.extent for it in self.shard if it.axis is found)

    def span(self: AnyLayout, axis: Axis | str | None = None) -> Size:  # type: ignore[misc]
        """highest place - min(0, lowest place) + 1: the size of a buffer that holds the layout.

        Over all places, copies, offset and swizzle included.  Without an axis, the one memory
        axis (1 when there is none).

        Raises:
            LayoutError: no axis given and several memory axes in the layout.
        """
        found = extent.the_memory_axis(self) if axis is None else Axis.get(axis)
        return 1 if found is None else extent.span(self, found)

    def width(self: AnyLayout, axis: Axis | str | None = None) -> Size:  # type: ignore[misc]
        """highest place - lowest place + 1, over all places of the axis; arguments as for span."""
        found = extent.the_memory_axis(self) if axis is None else Axis.get(axis)
        return 1 if found is None else extent.width(self, found)

    def __str__(self: AnyLayout) -> str:  # type: ignore[misc]
        return notation(self)

    def __repr__(self: AnyLayout) -> str:  # type: ignore[misc]
        return notation(self)


class TileLayout(LayoutMethods, TileOperations):
    """An affine layout over named axes.

        TileLayout(S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid)

    Args:
        spec: what `S[...]`, `R[...]` and offsets make.

    Attributes:
        shard, replica: tuples of `Iter(extent, stride, axis)`.
        offset: axis -> value.
    """

    def __init__(self, spec: Spec) -> None:
        if not isinstance(spec, Spec):  # type: ignore[redundant-expr]
            what = f"the offset {spec}" if isinstance(spec, int | AxisTerms) else repr(spec)
            raise LayoutError(f"TileLayout takes S[...] + R[...] + offset; got {what}")
        for name, value in zip(("shard", "replica", "offsets"), spec.tile_parts(), strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_iters(
        cls,
        shard: Iterable[Any],
        replica: Iterable[Any] = (),
        offset: Mapping[Any, Any] | None = None,
    ) -> Self:
        """A layout from iters: `Iter`s or triples (extent, stride, axis or its name)."""
        return cls.make(shard, replica, offset)

    @classmethod
    def _from_parts(
        cls,
        shard: tuple[Iter, ...],
        replica: tuple[Iter, ...],
        offsets: tuple[tuple[Axis, Size], ...],
    ) -> Self:
        self = object.__new__(cls)
        for name, value in zip(
            ("shard", "replica", "offsets"), (shard, replica, offsets), strict=True
        ):
            object.__setattr__(self, name, value)
        return self

    def apply_to_shape(self, coordinate: Sequence[Any], shape: Sequence[Size]) -> list[Any]:
        """One number for each iter of `group(shape)`; for each own iter where that is not possible.

        Raises:
            CoordinateError: not one coordinate for each dimension, or one outside its dimension.
        """
        flat = _flat_index(self, coordinate, shape)
        try:
            cut, _ = self.group(shape)
        except GroupError:
            cut = self
        return [_number_of(digit) for digit in digits_of(cut, term_of(flat))]

    def evaluated(self, **dims: int) -> Self:
        """The concrete layout for these values of the Dims.

        Raises:
            DimError: a Dim without a value, or a value that its constraints exclude.
            LayoutError: an extent that becomes less than 1.
        """

        def iters(items: Iterable[Iter]) -> list[tuple[int, int, Axis]]:
            return [(evaluate(e, dims), evaluate(s, dims), axis) for e, s, axis in items]

        offset = {axis: evaluate(value, dims) for axis, value in self.offsets}
        return self.make(iters(self.shard), iters(self.replica), offset)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore_tile, (type(self), self.shard, self.replica, self.offsets))


class ComposeLayout(LayoutMethods, SwizzledOperations):
    """A tile whose places on axis m go through a XOR swizzle; other axes pass through.

    Args:
        per_element: low address bits that stay (bits, counted in elements: log2 of a vector).
        swizzle_len: width of the XORed bit field (bits).
        atom_len: distance of the two bit fields (bits), at least swizzle_len.
        tile_layout: the tile; TIRx asks for places on m only.
        swizzle_inner: True XORs the high field into the low one, False the other way.

    Raises:
        LayoutError: parameters that make no swizzle.
    """

    def __init__(
        self,
        per_element: int,
        swizzle_len: int,
        atom_len: int,
        tile_layout: Tile,
        swizzle_inner: bool = True,
    ) -> None:
        swizzle = Swizzle(per_element, swizzle_len, atom_len, swizzle_inner)
        Swizzled.__init__(self, swizzle, tile_layout)

    @classmethod
    def _from_parts(cls, swizzle: Swizzle, tile: Tile) -> Self:
        return cls(
            swizzle.per_element, swizzle.swizzle_len, swizzle.atom_len, tile, swizzle.swizzle_inner
        )

    def evaluated(self, **dims: int) -> Self:
        """The concrete layout for these values of the Dims."""
        tile = self.tile_layout
        if not isinstance(tile, TileLayout):
            tile = TileLayout._from_parts(tile.shard, tile.replica, tile.offsets)
        return self.with_tile(tile.evaluated(**dims))

    def __reduce__(self) -> tuple[Any, ...]:
        s = self.swizzle
        return (
            type(self),
            (s.per_element, s.swizzle_len, s.atom_len, self.tile_layout, s.swizzle_inner),
        )


def _restore_tile(
    cls: type[TileLayout],
    shard: tuple[Iter, ...],
    replica: tuple[Iter, ...],
    offsets: tuple[tuple[Axis, Size], ...],
) -> TileLayout:
    return cls._from_parts(shard, replica, offsets)


def _number_of(term: Term) -> Any:
    return term.value if isinstance(term, Const) else Traced(term)


def _apply_flat(layout: AnyLayout, flat: int) -> dict[str, Any]:
    """The direct loop: digits from the fastest iter up."""
    place: dict[str, int] = {axis.name: 0 for _, _, axis in layout.shard}
    tile = layout.affine
    rest = flat
    for extent_, stride, axis in reversed(tile.shard):
        if type(extent_) is not int or type(stride) is not int:
            return _apply(layout, (flat,), None)
        rest, digit = divmod(rest, extent_)
        place[axis.name] += digit * stride
    if rest != 0:
        _check_flat(layout, flat)
    for axis, value in tile.offsets:
        if type(value) is not int:
            return _apply(layout, (flat,), None)
        place[axis.name] = place.get(axis.name, 0) + value
    if isinstance(layout, Swizzled):
        place[m.name] = layout.swizzle(place.get(m.name, 0))
    return place


def _apply(
    layout: AnyLayout, coordinate: Sequence[Any], shape: Sequence[Size] | None
) -> dict[str, Any]:
    flat = _flat_index(layout, coordinate, shape)
    if shape is None and len(coordinate) != 1 and not isinstance(flat, int):
        digits = [term_of(number) for number in _checked_digits(layout, coordinate)]
    else:
        if isinstance(flat, int) and not layout.is_symbolic:
            return _apply_flat(layout, flat)
        if not isinstance(flat, Traced):
            _check_flat(layout, flat)
        digits = digits_of(layout, term_of(flat))
    found = places(layout, (), digits)
    first = {replica: const(0) for replica in found.replicas}
    named = {axis.name for _, _, axis in layout.shard} | {
        axis.name for axis, _ in layout.affine.offsets
    }
    if isinstance(layout, Swizzled):
        named.add(m.name)
    placed = found._rebuilt(first)
    return {
        axis: term.value if isinstance(term, Const) else Traced(term)
        for axis, term in placed.outputs
        if axis in named
    }


def _flat_index(layout: AnyLayout, coordinate: Sequence[Any], shape: Sequence[Size] | None) -> Any:
    """The flat index of any form of coordinate: an int, a size, or a traced symbol."""
    sizes: Sequence[Size]
    if shape is not None:
        sizes = check_shape_rank(coordinate, shape)
    elif len(coordinate) == 1:
        return _number(coordinate[0])
    else:
        _checked_digits(layout, coordinate)
        sizes = layout.extents
    flat: Any = 0
    for position, (value, size) in enumerate(zip(coordinate, sizes, strict=True)):
        number = _number(value)
        if shape is not None and isinstance(size, int) and size < 1:
            raise CoordinateError(f"a shape's sizes are at least 1; got {tuple(shape)}")
        if isinstance(number, int) and isinstance(size, int) and not 0 <= number < size:
            raise _outside(f"coordinate {position}:", number, size)
        flat = flat * size + number
    return flat


def check_shape_rank(coordinate: Sequence[Any], shape: Sequence[Size]) -> Sequence[Size]:
    """The shape, if it has one size for each coordinate."""
    if not isinstance(shape, tuple | list) or not all(is_size(extent) for extent in shape):
        raise CoordinateError(f"a shape is a sequence of positive ints or Dims; got {shape!r}")
    if len(coordinate) != len(shape):
        raise CoordinateError(
            f"one coordinate for each dimension of the shape {tuple(shape)}; "
            f"got {tuple(coordinate)}"
        )
    return shape


def _checked_digits(layout: AnyLayout, coordinate: Sequence[Any]) -> Sequence[Any]:
    if len(coordinate) != len(layout.shard):
        raise CoordinateError(
            f"got {len(coordinate)} coordinates {tuple(coordinate)} for {len(layout.shard)} shard "
            "iters: give one flat index, one number for each iter, or a shape="
        )
    known = positive_symbols(layout.extents)
    for position, (value, size) in enumerate(zip(coordinate, layout.extents, strict=True)):
        number = _number(value)
        if isinstance(number, Traced):
            continue
        if not at_least(number, 0, known) or not at_least(size - 1 - number, 0, known):
            raise _outside(f"coordinate {position}:", number, size)
    return coordinate


def _number(value: Any) -> Any:
    if isinstance(value, Traced) or is_size(value):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise CoordinateError(f"a coordinate is an integer; got {value!r}")
    return int(value.__index__())


def _digits(flat: int, extents: Sequence[Size]) -> list[int]:
    digits: list[int] = []
    for radix in reversed(extents):
        flat, digit = divmod(flat, radix)  # type: ignore[arg-type, assignment]
        digits.append(digit)
    return digits[::-1]


def _check_flat(layout: AnyLayout, flat: Any) -> None:
    size = product(layout.extents)
    known = positive_symbols(layout.extents)
    if not at_least(flat, 0, known) or not at_least(size - 1 - flat, 0, known):
        raise _outside("index", flat, size)


def _outside(what: str, value: Size, size: Size) -> CoordinateError:
    sure = isinstance(value, int) and isinstance(size, int)
    return CoordinateError(f"{what} {value} {'is' if sure else 'may be'} outside 0..{size - 1}")
