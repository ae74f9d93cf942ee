"""Sizes of layouts, and layouts made of shapes and of other layouts.

size(A), cosize(A), footprint(A), rank(A), depth(A)
flatten(A), coalesce(A), coalesce(A, (1, 1))
make_layout(A, B), make_ordered_layout((4, 8), (1, 0)), make_layout_like(A)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from layout_algebra import values as core
from layout_algebra.algebra import extent
from layout_algebra.axes import m
from layout_algebra.cute import strides, tuples
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.strides import MOST_ENUMERATED, Pair
from layout_algebra.cute.tuples import Nested
from layout_algebra.cute.values import AnyLayout, ComposedLayout, Layout, plain, wrong_kind
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError


def on_inner(
    change: Callable[[Layout], Layout], layout: AnyLayout, operation: str, what: str = "layout"
) -> AnyLayout:
    """The operation on a layout, or on the layout inside a composed one.

    What only rearranges coordinates, or goes in before the layout, leaves swizzle and offset alone.
    """
    if isinstance(layout, ComposedLayout):
        return layout.with_layout(change(layout.layout))
    return change(plain(layout, f"{operation}: the {what}"))


def known(layout: Any, operation: str) -> AnyLayout:
    """The argument, if it is a layout of CuTe, composed or not."""
    if isinstance(layout, Layout | ComposedLayout):
        return layout
    raise wrong_kind(layout, f"{operation}: the argument")


# -- numbers of a layout -----------------------------------------------------------------------
def size(layout: AnyLayout) -> Size:
    """Number of coordinates."""
    return known(layout, "size").size()


def rank(layout: AnyLayout) -> int:
    """Number of top-level modes."""
    return known(layout, "rank").rank()


def depth(layout: AnyLayout) -> int:
    """Levels of brackets; 0 for a size alone."""
    return known(layout, "depth").depth()


def cosize(layout: AnyLayout) -> Size:
    """The value at the last coordinate plus 1, of a composed layout that of the inner one.

    This is CuTe's number.  An array of it holds the layout only if no stride is negative and
    nothing is swizzled; `footprint` is the true count.
    """
    return known(layout, "cosize").cosize()


def footprint(layout: AnyLayout) -> Size:
    """highest value - lowest value + 1, swizzle and offset included.

    Raises:
        CuteError: the sign of a symbolic stride is not known, or a swizzled layout's ends are no
            closed form and it is too large to look at every element.
    """
    layout = known(layout, "footprint")
    try:
        return extent.width(core_layout(layout), m)
    except LayoutError as error:
        if not isinstance(layout, ComposedLayout) or not _is_small(layout):
            raise CuteError(f"footprint: {error}") from None
    found = [layout(i) for i in range(tuples.number(layout.size()))]
    return max(found) - min(found) + 1


def core_layout(layout: AnyLayout, axis: Any = m) -> core.AnyLayout:
    """The same function of the index as the data of a TileLayout or a ComposeLayout.

    Raises:
        LayoutError: a swizzle with |S| < B, which a ComposeLayout does not have.
    """
    inner = layout.layout if isinstance(layout, ComposedLayout) else layout
    iters = [(count, stride, axis) for count, stride in reversed(inner.pairs())]
    offset = layout.offset if isinstance(layout, ComposedLayout) else 0
    tile = core.Tile.make(iters, (), {} if offset == 0 else {axis: offset})
    if not isinstance(layout, ComposedLayout) or layout.swizzle.is_identity:
        return tile
    return core.Swizzled(layout.swizzle.core, tile)


def _is_small(layout: AnyLayout) -> bool:
    count = layout.size()
    return not layout.is_symbolic and isinstance(count, int) and count <= MOST_ENUMERATED


# -- simpler layouts ---------------------------------------------------------------------------
def flatten(layout: AnyLayout) -> AnyLayout:
    """The same function with one level of brackets at most."""

    def flat(one: Layout) -> Layout:
        if one.depth() == 0:
            return one
        return Layout(tuple(tuples.leaves(one.shape)), tuple(tuples.leaves(one.stride)))

    return on_inner(flat, layout, "flatten")


def coalesce(layout: AnyLayout, profile: Any = None) -> AnyLayout:
    """The same function of the index in as few modes as possible.

    Args:
        layout: what to simplify.
        profile: a tuple keeps that many top-level modes apart and simplifies each by its part of
            the profile; modes beyond stay.  What its numbers are does not matter.

    Law: result(i) == layout(i) for every index; with a profile, for every coordinate of the modes.

    Raises:
        CuteError: a profile of more modes than the layout has, or nested too deeply.
    """
    return on_inner(lambda one: _coalesced(one, profile), layout, "coalesce")


def _coalesced(layout: Layout, profile: Any) -> Layout:
    if not isinstance(profile, tuple | list):
        return of_pairs(strides.merged(layout.pairs()))
    tuples.check_nesting(profile, "profile of coalesce")
    parts = layout.modes()
    if len(profile) > len(parts):
        raise CuteError(
            f"coalesce: a profile of {len(profile)} modes for {layout}, which has {len(parts)}"
        )
    done = [_coalesced(part, inner) for part, inner in zip(parts, profile, strict=False)]
    return make_layout(*done, *parts[len(done) :])


# -- making ------------------------------------------------------------------------------------
def of_pairs(pairs: list[Pair]) -> Layout:
    """A layout of depth 1 at most; 1:0 for none."""
    if not pairs:
        return Layout(1, 0)
    if len(pairs) == 1:
        return Layout(*pairs[0])
    return Layout(tuple(s for s, _ in pairs), tuple(d for _, d in pairs))


def make_layout(*modes: Layout) -> Layout:
    """The layout whose top-level modes are the given layouts."""
    for mode in modes:
        plain(mode, "make_layout: a mode")
    return Layout(tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes))


def make_ordered_layout(shape: Any, order: Any) -> Layout:
    """The compact layout of a shape whose leaves grow in the given order, least number first.

        make_ordered_layout((4, 8), (1, 0))       # (4,8):(8,1), row-major

    Args:
        shape: a nested tuple of sizes.
        order: integers, nested as the shape; a number for a tuple gives all of it that place.
            Leaves of one number go from left to right.

    Raises:
        CuteError: an order that is nested otherwise or is not made of ints.
    """
    sizes = tuples.checked_shape(shape)
    places = tuples.leaves(_spread(tuples.checked(order, "order"), sizes))
    numbers = [place for place in places if isinstance(place, int)]
    if len(numbers) != len(places):
        raise CuteError(f"an order is made of ints; got {tuples.text(tuples.checked(order, ''))}")
    return Layout(sizes, _compact(sizes, numbers))


def make_layout_like(layout: Layout) -> Layout:
    """The compact layout of the same shape whose leaves grow in the order of their strides.

    Strides of 0 stay 0; leaves of one stride go from left to right.

    Raises:
        CuteError: strides with Dims, of which the order is not known.
    """
    layout = plain(layout, "make_layout_like: the layout")
    pairs = layout.pairs()
    steps = [stride for _, stride in pairs if isinstance(stride, int)]
    if len(steps) != len(pairs):
        raise CuteError(
            f"make_layout_like: the order of strides {tuples.text(layout.stride)} is not known; "
            "give it to make_ordered_layout"
        )
    kept = iter([1 if stride == 0 else count for count, stride in pairs])
    strides_ = tuples.leaves(_compact(tuples.shaped(layout.shape, kept), steps))
    zeroed = [0 if old == 0 else new for old, new in zip(steps, strides_, strict=True)]
    return Layout(layout.shape, tuples.shaped(layout.shape, iter(zeroed)))


def _spread(order: Nested, shape: Nested) -> Nested:
    """The order with each number repeated over the part of the shape that it stands for."""
    if not isinstance(order, tuple):
        return tuples.mapped(shape, lambda _: order)
    if not isinstance(shape, tuple) or len(order) != len(shape):
        raise CuteError(
            f"an order is nested as its shape; got {tuples.text(order)} for {tuples.text(shape)}"
        )
    return tuple(_spread(a, b) for a, b in zip(order, shape, strict=True))


def _compact(shape: Nested, order: list[int]) -> Nested:
    """Compact strides, the leaf of the least number fastest."""
    sizes = tuples.leaves(shape)
    found: dict[int, Size] = {}
    below: Size = 1
    for k in sorted(range(len(sizes)), key=lambda k: order[k]):
        found[k] = below
        below = below * sizes[k]
    by_leaf: Iterator[Nested] = (found[k] for k in range(len(sizes)))
    return tuples.shaped(shape, by_leaf)
