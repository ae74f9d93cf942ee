"""Inverses as functions on what users hold, and looking up the element at a place.

    inverse(TileLayout(S[(4, 8) : (1, 4)]))                      # S[(8, 4) : (1, 8)]
    left_inverse(TileLayout(S[(4, 2) : (1, 16)]))                # S[(2, 4, 4) : (1, 0, 2)]
    element_at(TileLayout(S[(8, 4, 2) : (4@laneid, 1@laneid, 1)]), laneid=5, m=1)      # 11

algebra/invert.py says what each means and which form the answer has; a layout comes back in the
caller's class.  Inside `checked()` every result is held against its law.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from layout_algebra import terms
from layout_algebra.algebra import invert, locate
from layout_algebra.algebra.checking import reported
from layout_algebra.algebra.deciding import Decide
from layout_algebra.algebra.invert import FiniteInverse, NotInjectiveError
from layout_algebra.algebra.unswizzle import swizzle_inverse
from layout_algebra.axes import Axis
from layout_algebra.errors import CoordinateError
from layout_algebra.folding import substitute
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.tile_operations import any_layout
from layout_algebra.values import Swizzled, Tile

#: A layout, or the Map where there is none.
Found: TypeAlias = TileLayout | ComposeLayout | Map


def inverse(
    layout: TileLayout | ComposeLayout, *, decide: Decide | None = None
) -> Found | FiniteInverse:
    """The inverse on the image; see algebra/invert.py for the forms it has.

    Args:
        layout: no two elements share a place; copies of one element may be many.
        decide: who decides conditions on symbolic sizes.

    Raises:
        NotInjectiveError: two elements share a place; it has both and the place.
        LayoutError: with symbolic sizes: it is not known that no two do.
    """
    layout = any_layout("layout", layout)  # type: ignore[assignment]
    result = _held(layout, invert.inverse(layout, decide))
    return reported("inverse", result, layout=layout)


def inverse_map(layout: TileLayout | ComposeLayout) -> Map | None:
    """The inverse as a Map from the places, by axis; None where there is no formula.

    Raises:
        NotInjectiveError: two elements share a place.
    """
    found = inverse(layout)
    if isinstance(found, Map):
        return found
    if not isinstance(found, TileLayout | ComposeLayout):
        return None
    (axis,) = layout.axes
    flat = found.map((found.size(),))
    (variable,) = flat.coordinates
    place = terms.var(axis.name, variable.low, variable.high)
    return Map((place,), tuple((a, substitute(t, {variable: place})) for a, t in flat.outputs))


def left_inverse(layout: TileLayout | ComposeLayout, *, decide: Decide | None = None) -> Found:
    """A total map on the box of the places with g(f(x)) = x; arguments and errors as for inverse.

    Raises:
        NotInjectiveError: two elements share a place.
        LayoutError: it is not known that no two do, or the strides are too irregular for a formula.
    """
    layout = any_layout("layout", layout)  # type: ignore[assignment]
    result = _held(layout, invert.left_inverse(layout, decide))
    return reported("left_inverse", result, layout=layout)  # type: ignore[return-value]


def right_inverse(layout: TileLayout | ComposeLayout, *, decide: Decide | None = None) -> Found:
    """f(g(y)) = y on the places that compact strides reach; the layout need not be injective.

    Raises:
        LayoutError: a stride whose sign is not known for all values of the Dims.
    """
    layout = any_layout("layout", layout)  # type: ignore[assignment]
    result = _held(layout, invert.right_inverse(layout, decide))
    return reported("right_inverse", result, layout=layout)  # type: ignore[return-value]


def pseudo_inverse(
    layout: TileLayout | ComposeLayout, *, decide: Decide | None = None
) -> Found | FiniteInverse:
    """f(g(f(x))) = f(x), the least element at each place; iters of stride 0 are allowed.

    Raises:
        NotInjectiveError: two elements share a place for another reason than a stride of 0.
        LayoutError: with symbolic sizes: it is not known that no two do.
    """
    layout = any_layout("layout", layout)  # type: ignore[assignment]
    result = _held(layout, invert.pseudo_inverse(layout, decide))
    return reported("pseudo_inverse", result, layout=layout)


def element_at(
    layout: TileLayout | ComposeLayout,
    place: Mapping[Axis | str, int] | None = None,
    **named: int,
) -> int | None:
    """The element at a place, as a flat index (the least, where there are several); or None.

    Args:
        layout: numbers for all sizes.
        place: axis or its name -> number; or the axes as keywords, `laneid=5, reg=3`.  Axes that
            are not named are 0.

    Raises:
        LayoutError: symbolic sizes, or strides too irregular for the search.
        CoordinateError: a place that is no mapping to integers, or an axis named twice.
    """
    return locate.element_at(any_layout("layout", layout), _place(place, named))


def elements_at(
    layout: TileLayout | ComposeLayout,
    place: Mapping[Axis | str, int] | None = None,
    *,
    most: int = locate.MOST_ELEMENTS,
    **named: int,
) -> tuple[int, ...]:
    """Every element at a place, in order; arguments and errors as for element_at.

    Raises:
        LayoutError: more than `most` elements, or a `most` that is no int.
    """
    return locate.elements_at(any_layout("layout", layout), _place(place, named), most)


def _held(
    layout: Tile | Swizzled, found: Tile | Swizzled | Map | FiniteInverse
) -> Found | FiniteInverse:
    """A found layout in the classes that users hold."""
    if isinstance(found, Map | FiniteInverse):
        return found
    tile = found.affine
    if not isinstance(tile, TileLayout):
        tile = TileLayout._from_parts(tile.shard, tile.replica, tile.offsets)
    if isinstance(found, Tile):
        return tile
    maker = type(layout) if isinstance(layout, ComposeLayout) else ComposeLayout
    return maker._from_parts(found.swizzle, tile)


def _place(
    place: Mapping[Axis | str, int] | None, named: Mapping[str, int]
) -> Mapping[Axis | str, int]:
    if place is not None and named:
        raise CoordinateError("a place is given as a mapping or by keywords, not both")
    return named if place is None else place  # type: ignore[return-value]


__all__ = [
    "FiniteInverse",
    "Found",
    "NotInjectiveError",
    "element_at",
    "elements_at",
    "inverse",
    "left_inverse",
    "pseudo_inverse",
    "right_inverse",
    "swizzle_inverse",
]
