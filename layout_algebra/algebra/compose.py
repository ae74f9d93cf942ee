"""compose: outer(inner(x)), as a layout whenever it is one.

    requires    inner's places are on one axis and inside 0 .. size(outer)-1
    ensures     result(x) = outer(inner(x)), copies of both included
    example     S[(2, 3) : (1, 2)] after S[(3, 2) : (1, 3)]  ->  S[(3, 2) : (...)] or no layout

inner's place is outer's flat index.  Digit by digit of that index, what inner's iters add there
either stays below outer's extent (then every iter simply moves by its digits), or carries; iters
that carry are put together and looked at point by point (carries.py).

Why this is complete.  Let F(x) = sum of F_g(x_g) over groups g of neighbouring inner iters.  If F
is a layout, its last extent E and the last group's size n divide one another: otherwise F would
leave its line inside a group at a place where it cannot.  By induction each F_g is a layout, and
the layouts of the groups side by side are F.  So F is a layout exactly when every F_g is one, and a
group's table decides that (table_form.py).  Copies are a set that is the same for every x.
"""

from __future__ import annotations

from bisect import bisect_left

from layout_algebra.algebra.carries import composed_tile
from layout_algebra.algebra.deciding import Decide, knowing_extents
from layout_algebra.algebra.extent import highest, lowest
from layout_algebra.algebra.no_layout import NoLayout, UndecidedError
from layout_algebra.algebra.normal_form import normal_form
from layout_algebra.algebra.passing import passed_through
from layout_algebra.algebra.single_swizzle import as_one_swizzle
from layout_algebra.algebra.tabulated import tabulated
from layout_algebra.axes import Axis, m
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.semantics import layout_map
from layout_algebra.values import AnyLayout, Iter, Swizzled, Tile, layout_size

#: Digits under a swizzle that are tried to name the first element outside.
MOST_TRIED = 1 << 14


class DomainError(CoordinateError):
    """Inner layout's places outside the outer layout's indices."""


def compose(
    outer: AnyLayout, inner: AnyLayout, decide: Decide | None = None
) -> AnyLayout | NoLayout:
    """outer(inner(x)), or why it is no layout of the class (or is not known to be one).

    Args:
        outer: any layout; its places may be on several axes.
        inner: a layout with places on one axis: the flat index of outer.

    Raises:
        DomainError: an element of inner whose place is no index of outer; the first one is named.
        CoordinateError: inner has places on several axes.
    """
    ask = decide or knowing_extents([*outer.extents, *inner.extents])
    axis = index_axis(inner)
    check_inside(outer, inner, axis, ask)
    if isinstance(inner, Swizzled) and (inner.swizzle.is_identity or axis is not m):
        inner = inner.tile_layout
    try:
        found = _composed(outer, inner, ask)
    except UndecidedError as reason:
        found = _by_every_place(outer, inner, NoLayout(str(reason), certain=False))
    if isinstance(found, NoLayout):
        return found
    if isinstance(found, Swizzled):
        return found.with_tile(_normal(found.tile_layout))
    return _normal(found)


def _normal(tile: Tile) -> Tile:
    """The normal form; one element keeps a unit iter to be written with."""
    form = normal_form(tile)
    return form if form.shard else form.rebuild([Iter(1, 1, m)], form.replica, form.offset)


def _composed(outer: AnyLayout, inner: AnyLayout, ask: Decide) -> AnyLayout | NoLayout:
    base = outer.affine
    if isinstance(inner, Swizzled):
        found = passed_through(base, inner, ask)
    else:
        found = composed_tile(base, inner, ask)
    if isinstance(outer, Swizzled) and not isinstance(found, NoLayout):
        if isinstance(found, Tile):
            return outer.with_tile(found)
        one = as_one_swizzle(outer.swizzle, found.swizzle)
        if one is not None:
            tile = found.tile_layout
            return tile if one.is_identity else found.with_swizzle(one, tile)
        found = NoLayout("the two swizzles are not one", certain=False)
    return _by_every_place(outer, inner, found) if isinstance(found, NoLayout) else found


def _by_every_place(
    outer: AnyLayout, inner: AnyLayout, otherwise: NoLayout
) -> AnyLayout | NoLayout:
    """The composite's table as a layout, under a swizzle if it needs one; or why it is none."""
    try:
        found = tabulated(layout_map(outer).after(layout_map(inner), inside=True))
    except UndecidedError:  # too many places: a swizzle may make it a layout
        return NoLayout(otherwise.reason, certain=False)
    if isinstance(found, NoLayout) and otherwise.certain:
        return NoLayout(f"{otherwise.reason}; nor is it one under a swizzle", found.certain)
    return found


def index_axis(inner: AnyLayout) -> Axis:
    """The axis of inner's places.

    Raises:
        CoordinateError: it has several.
    """
    tile = inner.affine
    moving = [it.axis for it in (*tile.shard, *tile.replica) if it.extent != 1 and it.stride != 0]
    axes = dict.fromkeys([*moving, *(axis for axis, value in tile.offsets if value != 0)])
    if isinstance(inner, Swizzled) and axes and m not in axes and len(axes) == 1:
        return next(iter(axes))
    if len(axes) > 1:
        names = ", ".join(axis.name for axis in axes)
        raise CoordinateError(
            f"the inner layout's places are on {names}: as the outer layout's flat index they must "
            "be on one axis"
        )
    return next(iter(axes), m)


def check_inside(outer: AnyLayout, inner: AnyLayout, axis: Axis, ask: Decide) -> None:
    """Raises DomainError unless every place of inner is an index of outer."""
    size = layout_size(outer)
    whole = isinstance(inner, Swizzled) and ask.quotient(size, inner.swizzle.period) is not None
    # a swizzle permutes whole periods: of such, the tile's own ends tell as much
    reach = inner.affine if whole else inner
    try:
        low, high = lowest(reach, axis), highest(reach, axis)
    except LayoutError as error:  # no closed form under a swizzle
        raise DomainError(
            f"it is not known that inner is inside outer's indices: {error}"
        ) from None
    if ask.at_least(low, 0) and ask.at_least(size - 1 - high, 0):
        return
    if not all(isinstance(value, int) for value in (size, low, high)) or inner.is_symbolic:
        raise DomainError(
            f"inner reaches {low}..{high}, and it is not known that this is inside outer's "
            f"indices 0..{size - 1} for all values of the Dims"
        )
    raise DomainError(_first_outside(inner, axis, size))  # type: ignore[arg-type]


def _first_outside(inner: AnyLayout, axis: Axis, size: int) -> str:
    """The first element, in row-major order, of which some place is outside 0..size-1."""
    digits = _first_digits(inner, axis, size)
    flat = 0
    for digit, extent in zip(digits, inner.extents, strict=True):
        flat = flat * extent + digit  # type: ignore[assignment]
    at = ", ".join(map(str, digits))
    return (
        f"element {flat} of inner, coordinate ({at}), has the place "
        f"{_place_outside(inner, axis, digits, size)}, outside outer's indices 0..{size - 1}"
    )


def _first_digits(inner: AnyLayout, axis: Axis, size: int) -> list[int]:
    """Its digits: each as small as one that still leads outside.

    Raises:
        DomainError: under a swizzle, where too many digits would have to be tried.
    """
    found: list[int] = []
    for it in inner.shard:

        def leads_out(digit: int, before: tuple[int, ...] = tuple(found)) -> bool:
            return _leads_out(inner, axis, [*before, digit], size)

        def comes_near(digit: int, before: tuple[int, ...] = tuple(found)) -> bool:
            # a swizzle moves a place within its block; what the tile does is monotone
            room = inner.swizzle.period if inner.swizzle is not None else 0
            return _leads_out(inner.affine, axis, [*before, digit], size - room)

        last: int = it.extent - 1  # type: ignore[assignment]
        if leads_out(0):
            found.append(0)
            continue
        near = 0
        if it.axis is axis and not comes_near(0):
            near = bisect_left(range(last + 1), True, key=comes_near)
        tried = range(near, min(last, near + MOST_TRIED) + 1)
        first = next((digit for digit in tried if leads_out(digit)), None)
        if first is None:
            raise DomainError(f"some element of inner is outside outer's indices 0..{size - 1}")
        found.append(first)
    return found


def _leads_out(inner: AnyLayout, axis: Axis, digits: list[int], size: int) -> bool:
    low, high = _ends_of(inner, axis, digits)
    return low < 0 or high >= size


def _ends_of(inner: AnyLayout, axis: Axis, digits: list[int]) -> tuple[int, int]:
    """The ends of the elements whose first digits are these."""
    tile = inner.affine
    offset = tile.offset
    for digit, it in zip(digits, tile.shard, strict=False):
        offset[it.axis] = offset.get(it.axis, 0) + digit * it.stride
    rest = Tile.make(tile.shard[len(digits) :], tile.replica, offset)
    part = Swizzled(inner.swizzle, rest) if isinstance(inner, Swizzled) else rest
    return lowest(part, axis), highest(part, axis)  # type: ignore[return-value]


def _place_outside(inner: AnyLayout, axis: Axis, digits: list[int], size: int) -> int:
    low, high = _ends_of(inner, axis, digits)
    return high if high >= size else low
