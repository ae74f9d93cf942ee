"""compose(outer, inner): outer(inner(x)), a layout whenever there is one.

    compose(TileLayout(S[(4, 8) : (1, 4)]), TileLayout(S[(8, 4) : (4, 1)]))    # S[32 : 1]

Where the composite is a map but no layout of the class, it comes back as a `ComposedMap`: it is
applied, printed as a formula, proven about and compiled as any Map, and says why it is no layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layout_algebra.algebra import compose as composition
from layout_algebra.algebra.checking import reported
from layout_algebra.algebra.deciding import Decide, checked_decide
from layout_algebra.algebra.no_layout import NoLayout, UndecidedError
from layout_algebra.algebra.tabulated import tabulated
from layout_algebra.axes import m
from layout_algebra.errors import LayoutError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.semantics import layout_map
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile, layout_size


@dataclass(frozen=True)
class ComposedMap(Map):
    """A composite that is no layout of the class.

    Attributes:
        why_no_layout: the reason.
        certain: whether no layout of the class is this map; False where it is only not known.
    """

    why_no_layout: str = ""
    certain: bool = False


def compose(
    outer: AnyLayout | Swizzle | Map,
    inner: AnyLayout | Swizzle | Map,
    *,
    decide: Decide | None = None,
) -> TileLayout | ComposeLayout | ComposedMap:
    """outer(inner(x)): inner's places are outer's flat indices.

    Args:
        outer: a layout, of any axes; a Map of one coordinate or of a shape; or a Swizzle, which
            takes any index from 0 on.
        inner: a layout with places on one axis, a Map with one output, or a Swizzle, which is then
            over all of outer's indices.
        decide: who decides conditions on symbolic sizes.

    Returns:
        The layout that is the composite, in normal form; where there is none (or, for symbolic
        sizes and very large irregular layouts, none is known), the composite as a Map.

    Raises:
        DomainError: an element of inner layout whose place is no index of outer; the first one is
            named.  (Of a Map, what lies outside is left out: its guard says so.)
        CoordinateError: inner has places on several axes, or copies of which only some are inside.
        LayoutError: something that is no layout.
    """
    if isinstance(outer, Map) or isinstance(inner, Map):
        composite = _as_map(outer).after(_as_map(inner))
        found = layout_of(composite)
        return _composed(composite, found) if isinstance(found, NoLayout) else found
    outer, inner = _as_layouts(outer, inner)
    found = composition.compose(outer, inner, checked_decide(decide))
    if isinstance(found, NoLayout):
        return _composed(layout_map(outer).after(layout_map(inner), inside=True), found)
    return reported("compose", _public(found), outer=outer, inner=inner)


def layout_of(source: Any, shape: Any = None) -> TileLayout | ComposeLayout | NoLayout:
    """The layout that a map is, from the flat index to its places; or why it is none.

        layout_of(lambda i, j: 4 * j + i, (4, 8))      # S[(4, 8) : (1, 4)]
        layout_of(lambda i: (i + 1) % 128, (128,))     # NoLayout: it leaves its line after 127 ...

    Args:
        source, shape: a Map, or a callable and the sizes of its parameters (see `Map.of`).

    Returns:
        A tile in normal form, or a tile under the shortest swizzle that makes it one.  Every place
        is looked at: `NoLayout.certain` is False where they are too many, or symbolic.

    Raises:
        TraceError: something that is no map.
    """
    try:
        found = tabulated(Map.of(source, shape))
    except UndecidedError as error:
        return NoLayout(str(error), certain=False)
    return found if isinstance(found, NoLayout) else _public(found)


def _composed(found: Map, why: NoLayout) -> ComposedMap:
    parts = (found.coordinates, found.outputs, found.replicas, found.guard)
    return ComposedMap(*parts, why_no_layout=why.reason, certain=why.certain)


def _public(layout: AnyLayout) -> TileLayout | ComposeLayout:
    """The layout in the class that users hold."""
    tile = layout.affine
    if not isinstance(tile, TileLayout):
        tile = TileLayout._from_parts(tile.shard, tile.replica, tile.offsets)
    return ComposeLayout._from_parts(layout.swizzle, tile) if isinstance(layout, Swizzled) else tile


def _as_map(one: AnyLayout | Swizzle | Map) -> Map:
    if isinstance(one, Map):
        return one
    if isinstance(one, Tile | Swizzled):
        return layout_map(one)
    raise LayoutError(f"compose takes layouts and Maps; got {one!r}")


def _as_layouts(
    outer: AnyLayout | Swizzle, inner: AnyLayout | Swizzle
) -> tuple[AnyLayout, AnyLayout]:
    """Both as layouts; a swizzle alone stands over as many elements as the other one needs."""
    for one in (outer, inner):
        if not isinstance(one, Tile | Swizzled | Swizzle):  # type: ignore[redundant-expr]
            raise LayoutError(f"compose takes layouts, Swizzles and Maps; got {one!r}")
    if isinstance(inner, Swizzle):
        period = max(one.period for one in (outer, inner) if isinstance(one, Swizzle))
        size = period if isinstance(outer, Swizzle) else layout_size(outer)
        inner = _over(inner, size)
    if isinstance(outer, Swizzle):
        # a swizzle of inner stays in its blocks, which may be larger
        reach = inner.affine if inner.is_symbolic else inner
        top = composition.highest(reach, composition.index_axis(inner)) + 1
        period = outer.period
        whole = max(1, -(-top // period)) * period if isinstance(top, int) else top
        outer = _over(outer, whole)
    return outer, inner


def _over(swizzle: Swizzle, size: object) -> AnyLayout:
    if not swizzle.is_involution:
        raise LayoutError(
            f"{swizzle} has fields that overlap, which no layout has: write it into a Map"
        )
    return ComposeLayout._from_parts(swizzle, TileLayout._from_parts((Iter(size, 1, m),), (), ()))  # type: ignore[arg-type]
