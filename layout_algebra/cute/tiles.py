"""The ways between CuTe's convention and the library's: named, never implicit.

    to_tile(Layout((4, 8), (8, 1)))             # TileLayout S[(8, 4) : (1, 8)]
    from_tile(TileLayout(S[(8, 4) : (1, 8)]))   # (4,8):(8,1)
    prove(Equivalent(composition_map(A, B), as_map(composition(A, B))))

An index of a CuTe layout counts through the first mode first, one of a TileLayout through the last
iter first.  The iters here are the leaves in reverse, so that *equal indices have equal places*;
coordinates come in the other order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layout_algebra import terms
from layout_algebra.axes import Axis, m
from layout_algebra.cute import tuples
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.shapes import core_layout, known, of_pairs
from layout_algebra.cute.strides import Pair
from layout_algebra.cute.values import AnyLayout, ComposedLayout, Swizzle
from layout_algebra.dims import Size, at_least, positive_symbols, product
from layout_algebra.errors import AxisError, CoordinateError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map, shape_coordinates
from layout_algebra.semantics import swizzle_term
from layout_algebra.terms import Var
from layout_algebra.values import Swizzled, Tile


def to_tile(layout: AnyLayout, axis: Axis | str = m) -> TileLayout | ComposeLayout:
    """The same function of the index as a TileLayout, or a ComposeLayout for a swizzled one.

    Args:
        layout: a CuTe layout.
        axis: where its values count.

    Law: result.apply(i)[axis] == layout(i) for every index i.

    Raises:
        CuteError: a swizzled layout on another axis than m, or a swizzle with |S| < B, which a
            ComposeLayout does not have.
        AxisError: no axis.
    """
    layout = known(layout, "to_tile")
    if not isinstance(axis, Axis | str):  # type: ignore[redundant-expr]
        raise AxisError(f"an axis is an Axis or its name; got {tuples.short(axis)}")
    found = Axis.get(axis)
    if isinstance(layout, ComposedLayout) and not layout.swizzle.is_identity:
        if found is not m:
            raise CuteError(f"to_tile: a swizzle acts on axis m; got axis {found.name}")
        if abs(layout.swizzle.S) < layout.swizzle.B:
            raise CuteError(f"to_tile: a ComposeLayout has |S| >= B; got {layout.swizzle}")
    made = core_layout(layout, found)
    tile = TileLayout.from_iters(made.shard, (), made.affine.offset)
    if not isinstance(made, Swizzled):
        return tile
    return ComposeLayout(
        made.per_element, made.swizzle_len, made.atom_len, tile, made.swizzle_inner
    )


def from_tile(layout: Tile | Swizzled) -> AnyLayout:
    """The same function of the index as a CuTe layout, its modes the iters in reverse.

    An offset, or a swizzle, makes a ComposedLayout.

    Law: result(i) == layout.apply(i) on its axis, for every index i.

    Raises:
        CuteError: copies, or places on more than one axis: CuTe's layouts have one number.
    """
    if not isinstance(layout, Tile | Swizzled):  # type: ignore[redundant-expr]
        raise CuteError(
            f"from_tile: the layout is a TileLayout or a ComposeLayout; got "
            f"{type(layout).__name__} {tuples.short(layout)}"
        )
    tile = layout.affine
    if any(extent != 1 for extent, _, _ in tile.replica):
        raise CuteError(f"from_tile: {layout} has copies, and a CuTe layout has none")
    axes = {axis.name for extent, stride, axis in tile.shard if extent != 1 and stride != 0}
    axes |= {axis.name for axis, value in tile.offsets if value != 0}
    axes |= {m.name} if isinstance(layout, Swizzled) else set()
    if len(axes) > 1:
        raise CuteError(
            f"from_tile: {layout} has places on {', '.join(sorted(axes))}, and a CuTe layout has "
            "one number"
        )
    pairs: list[Pair] = [(extent, stride) for extent, stride, _ in reversed(tile.shard)]
    inner = of_pairs(pairs)
    offset: Size = sum((value for _, value in tile.offsets), start=0)
    if isinstance(layout, Swizzled):
        shift = layout.atom_len if layout.swizzle_inner else -layout.atom_len
        swizzle = Swizzle(layout.swizzle_len, layout.per_element, shift)
        return ComposedLayout(swizzle, offset, inner)
    return inner if offset == 0 else ComposedLayout(Swizzle(0, 0, 0), offset, inner)


def as_map(layout: AnyLayout, shape: Sequence[Any] | None = None) -> Map:
    """The layout as a Map, to be proven about.

    Args:
        layout: a CuTe layout.
        shape: sizes of the coordinates, the first fastest: named i, j, k (i0, i1, ... beyond
            three); a part may be nested and counts as its size.  Without it there is one coordinate
            for each leaf, named c0, c1, ... from the fastest.

    The Map lists its coordinates from the slowest, as all Maps do, so that its flat index is the
    layout's index.  Its output is on axis m.

    Raises:
        CoordinateError: a shape that has more elements than the layout.
    """
    layout = known(layout, "as_map")
    inner = layout.layout if isinstance(layout, ComposedLayout) else layout
    pairs = inner.pairs()
    sizes = [size for size, _ in pairs]
    if shape is None:
        names = {symbol.name for symbol in layout.symbols()}
        letter = "c" if not any(f"c{k}" in names for k in range(len(pairs))) else "x"
        digits = [terms.coordinate(f"{letter}{k}", size) for k, size in enumerate(sizes)]
        coordinates: Sequence[Var] = digits
        places: Sequence[terms.Term] = digits
    else:
        extents = _checked_shape(layout, shape)
        coordinates = shape_coordinates(extents, layout.symbols())
        places = terms.split(_flat(coordinates, extents), sizes[::-1])[::-1]
    value = terms.linear(
        [(place, stride) for place, (_, stride) in zip(places, pairs, strict=True)],
        layout.offset if isinstance(layout, ComposedLayout) else 0,
    )
    if isinstance(layout, ComposedLayout):
        value = swizzle_term(layout.swizzle.core, value)
    return Map(tuple(reversed(coordinates)), ((m.name, value),))


def composition_map(a: AnyLayout, b: AnyLayout, shape: Sequence[Any] | None = None) -> Map:
    """c -> a(b(c)) as a Map, from the meaning alone: what `composition(a, b)` has to equal.

    The domain is where b's values are indices of a; arguments as for `as_map` of b.
    """
    return as_map(a).after(as_map(b, shape))


def _checked_shape(layout: AnyLayout, shape: Sequence[Any]) -> list[Size]:
    parts = tuples.checked_shape(shape)
    extents = [tuples.size_of(part) for part in tuples.modes(parts)]
    count, size = product(extents), layout.size()
    inner = layout.layout if isinstance(layout, ComposedLayout) else layout
    positive = positive_symbols([*extents, *tuples.leaves(inner.shape)])
    if count != size and not at_least(size - count, 0, positive):
        raise CoordinateError(
            f"shape {tuples.text(parts)} has {count} elements, which are not known to be among "
            f"the layout's {size}"
        )
    return extents


def _flat(coordinates: Sequence[Var], extents: Sequence[Size]) -> terms.Term:
    weight: Size = 1
    parts: list[tuple[terms.Term, Size]] = []
    for coordinate, extent in zip(coordinates, extents, strict=True):
        parts.append((coordinate, weight))
        weight = weight * extent
    return terms.linear(parts)
