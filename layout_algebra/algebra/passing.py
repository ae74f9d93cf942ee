"""A tile after a swizzled tile: where the XOR passes through the outer tile.

    outer(sigma(y)) = sigma'(outer(y))

if the bits of y that the swizzle reads and writes lie, in outer's place on m, side by side again
(maybe further up), and nothing else that outer adds there reaches those bits or carries into them.
Then the composite is outer(tile) under sigma', the swizzle moved to where the bits are.
"""

from __future__ import annotations

from collections.abc import Iterator

from layout_algebra.algebra.canonicalize import is_trivial
from layout_algebra.algebra.carries import composed_tile
from layout_algebra.algebra.deciding import Decide
from layout_algebra.algebra.group import GroupError, group
from layout_algebra.algebra.no_layout import NoLayout
from layout_algebra.axes import m
from layout_algebra.dims import Size
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile, layout_size


def passed_through(outer: Tile, inner: Swizzled, ask: Decide) -> AnyLayout | NoLayout:
    """outer(inner(x)) by letting inner's swizzle pass outer, or why it does not.

    Raises:
        UndecidedError: as in `composed_tile`.
    """
    if is_trivial(outer) and all(it.axis is m for it in outer.shard):
        return inner
    swizzle = _moved_swizzle(outer, inner.swizzle, ask)
    if isinstance(swizzle, NoLayout):
        return swizzle
    tile = composed_tile(outer, inner.tile_layout, ask)
    if isinstance(tile, NoLayout):
        return NoLayout(tile.reason, certain=False)
    return inner.with_swizzle(swizzle, tile)


def _moved_swizzle(outer: Tile, swizzle: Swizzle, ask: Decide) -> Swizzle | NoLayout:
    """sigma' with outer(sigma(y)) = sigma'(outer(y)) for all y, or why none is known."""
    period, size = swizzle.period, layout_size(outer)
    blocks = ask.quotient(size, period)
    if blocks is None:
        return _unknown(f"outer's {size} elements are not whole periods of {period}")
    try:
        parts, seps = group(outer, (blocks, period), ask)
    except GroupError:
        return _unknown(f"outer's iters cannot be cut to periods of {period}")
    bits = list(_bits(parts.shard[seps[1] :]))  # of the index in its period, the lowest first
    low, length, shift = swizzle.per_element, swizzle.swizzle_len, swizzle.atom_len
    fields = [range(low, low + length), range(low + shift, low + shift + length)]
    first, second = (_run_of([bits[b] for b in part]) for part in fields)
    if first is None or second is None:
        return _unknown("the swizzled bits do not lie side by side on m")
    if second - first < length:
        return _unknown("the two bit fields change their order")
    rest = [it for k, it in enumerate(bits) if not any(k in part for part in fields)]
    others = [*rest, *parts.shard[: seps[1]], *parts.replica]
    offset = outer.offset.get(m, 0)
    fences = (first, first + length, second, second + length)
    if not _between(others, offset, fences, ask):
        return _unknown("other parts of the place reach the swizzled bits")
    return Swizzle(first, length, second - first, swizzle.swizzle_inner)


def _unknown(reason: str) -> NoLayout:
    return NoLayout(reason, certain=False)


def _bits(iters: tuple[Iter, ...]) -> Iterator[Iter]:
    """Iters of a power-of-two block, bit by bit, the lowest first."""
    for extent, stride, axis in reversed(iters):
        for bit in range(int(extent).bit_length() - 1):  # type: ignore[arg-type]
            yield Iter(2, stride * (1 << bit), axis)


def _run_of(bits: list[Iter]) -> int | None:
    """p, if the bits lie at p, p+1, ... of the place on m."""
    first = bits[0].stride
    if not isinstance(first, int) or first < 1 or first & (first - 1):
        return None
    if any(it.axis is not m or it.stride != first << k for k, it in enumerate(bits)):
        return None
    return first.bit_length() - 1


def _between(
    others: list[Iter], offset: Size, fences: tuple[int, int, int, int], ask: Decide
) -> bool:
    """Whether what else is added on m lies below, between and above the two bit fields."""
    if not isinstance(offset, int) or offset < 0:
        return False
    a, b, c, d = (1 << fence for fence in fences)
    reach = {a: offset % a, c: (offset % c) // b * b}
    if offset % b // a or offset % d // c:
        return False  # the offset's own bits
    for extent, stride, axis in others:
        if axis is not m or stride == 0:
            continue
        if ask.quotient(stride, d) is not None and ask.at_least(stride, 0):
            continue
        if not isinstance(extent, int) or not isinstance(stride, int) or stride < 0:
            return False
        top = c if stride % b == 0 else a
        reach[top] += stride * (extent - 1)
    return all(total < top for top, total in reach.items())
