"""How far a layout reaches: lowest and highest place, span and width of an axis.

    span(axis)  = highest - min(0, lowest) + 1     the size of a buffer that holds it
    width(axis) = highest - lowest + 1             the places between the two ends

over all places: replicas, offset and swizzle included.  (TIRx's span is 1 + sum of (e-1)*s +
offset: the same wherever no stride and no offset is negative and no swizzle moves the last place.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size, Symbol, bounds, positive_symbols
from layout_algebra.errors import LayoutError
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile

#: Sums that `swizzled_end` may hold at once before it gives up (irregular strides).
MOST_SUMS = 1 << 18


def lowest(layout: AnyLayout, axis: Axis) -> Size:
    """The least place on an axis."""
    return _ends(layout, axis)[0]


def highest(layout: AnyLayout, axis: Axis) -> Size:
    """The greatest place on an axis."""
    return _ends(layout, axis)[1]


def span(layout: AnyLayout, axis: Axis) -> Size:
    """highest - min(0, lowest) + 1 on an axis.

    Raises:
        LayoutError: symbolic sizes of which it is not known whether the lowest place is negative.
    """
    return _span(layout.affine, axis, *_ends(layout, axis))


def tile_span(tile: Tile, axis: Axis) -> Size:
    """The span of an affine tile (of the tile under a swizzle: what `tile` scales by)."""
    return _span(tile, axis, *tile_ends(tile, axis))


def width(layout: AnyLayout, axis: Axis) -> Size:
    """highest - lowest + 1 on an axis."""
    low, high = _ends(layout, axis)
    return high - low + 1


def the_memory_axis(layout: AnyLayout) -> Axis | None:
    """The one memory axis of a layout, None when it has none.

    Raises:
        LayoutError: it has several.
    """
    found = [axis for axis in layout.axes if axis.is_memory]
    if len(found) > 1:
        names = ", ".join(axis.name for axis in found)
        raise LayoutError(f"the layout has several memory axes ({names}): name the one you mean")
    return found[0] if found else None


def tile_ends(tile: Tile, axis: Axis) -> tuple[Size, Size]:
    """Lowest and highest place of an affine tile on an axis.

    Raises:
        LayoutError: a stride whose sign is not known for all values of the Dims.
    """
    low = high = dict(tile.offsets).get(axis, 0)
    for extent, stride, on in (*tile.shard, *tile.replica):
        if on is not axis:
            continue
        reach = (extent - 1) * stride
        below, above = bounds(stride)
        if below is not None and below >= 0:
            high = high + reach
        elif above is not None and above <= 0:
            low = low + reach
        else:
            raise LayoutError(
                f"the sign of stride ({stride})@{axis.name} is not known: give its Dims bounds "
                "(at_least=, at_most=)"
            )
    return low, high


def _ends(layout: AnyLayout, axis: Axis) -> tuple[Size, Size]:
    low, high = tile_ends(layout.affine, axis)
    if not isinstance(layout, Swizzled) or axis is not m or layout.swizzle.is_identity:
        return low, high
    period = layout.swizzle.period
    if isinstance(low, int) and isinstance(high, int):
        if low % period == 0 and (high + 1) % period == 0 and _is_dense(layout.affine, low, high):
            return low, high
        iters = [it for it in (*layout.shard, *layout.replica) if it.axis is m]
        offset = dict(layout.affine.offsets).get(m, 0)
        if isinstance(offset, int):
            return (
                _swizzled_end(iters, offset, layout.swizzle, low, high, min),
                _swizzled_end(iters, offset, layout.swizzle, low, high, max),
            )
    # symbolic: whole periods keep their ends only if both ends are themselves places
    raise LayoutError(
        f"the ends of a swizzled layout with symbolic sizes are no closed form: its tile reaches "
        f"{low}..{high}, the swizzle permutes blocks of {period}"
    )


def _is_dense(tile: Tile, low: int, high: int) -> bool:
    """Whether the places on m are all of low..high, by the sorted-strides criterion."""
    reach = 0
    steps: list[tuple[int, int]] = []
    for extent, stride, axis in (*tile.shard, *tile.replica):
        if axis is m and stride != 0:
            if not isinstance(extent, int) or not isinstance(stride, int):
                return False
            steps.append((abs(stride), extent))
    for stride, extent in sorted(steps):
        if stride > reach + 1:
            return False
        reach += stride * (extent - 1)
    return reach == high - low


def _swizzled_end(
    iters: Iterable[Iter],
    offset: int,
    swizzle: Swizzle,
    low: int,
    high: int,
    pick: Callable[[Iterable[int]], int],
) -> int:
    """The least or greatest swizzled place.

    A swizzle permutes aligned blocks, so the end is in the block of the tile's own end; only the
    sums that can still fall into that block are followed, which keeps the set small.  The usual
    direction changes nothing above its low field, so its blocks are that much smaller.

    Raises:
        LayoutError: more than MOST_SUMS sums would have to be followed.
    """
    low_field = 1 << (swizzle.per_element + swizzle.swizzle_len)
    period = low_field if swizzle.swizzle_inner else swizzle.period
    edge = high if pick is max else low
    first = edge // period * period
    last = first + period - 1
    sums = {offset}
    moves = sorted(
        ((it.stride, it.extent) for it in iters if it.stride != 0 and it.extent != 1),
        key=lambda move: -abs(move[0]),  # type: ignore[arg-type]
    )
    left_low = low - offset
    left_high = high - offset
    for stride, extent in moves:
        reach = stride * (extent - 1)  # type: ignore[operator]
        left_low -= min(0, reach)
        left_high -= max(0, reach)
        least, most = first - left_high, last - left_low
        steps = [_steps(start, stride, extent, least, most) for start in sums]  # type: ignore[arg-type]
        count = sum(len(some) for some in steps)
        if count > MOST_SUMS:
            raise LayoutError(
                f"{count} places may be the swizzled end: more than the {MOST_SUMS} that are tried"
            )
        sums = {total for some in steps for total in some}
    return pick(swizzle(total) for total in sums if first <= total <= last)


def _steps(start: int, stride: int, extent: int, least: int, most: int) -> range:
    """The sums start + c*stride, 0 <= c < extent, that lie in least..most."""
    if stride > 0:
        a, b = -((start - least) // stride), (most - start) // stride
    else:
        a, b = -((most - start) // -stride), (start - least) // -stride
    a, b = max(a, 0), min(b, extent - 1)
    return range(start + a * stride, start + (b + 1) * stride, stride) if a <= b else range(0)


def _span(tile: Tile, axis: Axis, low: Size, high: Size) -> Size:
    below, above = bounds(low, _known_positive(tile))
    if below is not None and below >= 0:
        return high + 1
    if above is not None and above <= 0:
        return high - low + 1
    raise LayoutError(f"the lowest place {low} on {axis.name} may be negative or not: no one span")


def _known_positive(tile: Tile) -> frozenset[Symbol]:
    return positive_symbols([it.extent for it in (*tile.shard, *tile.replica)])
