"""tile and direct_sum: two layouts over the product of their shapes.

    tile        place(o*I + n) = w * outer(o) + inner(n)      w = inner's span, axis by axis
    direct_sum  place(o*I + n) = left(o) + right(n)

for every dimension, with o over the outer shape and n over the inner one; offsets add, copies pair
up.  In `tile` only outer's shard strides are scaled, on the axes on which inner has a shard iter;
outer's copies and offset are not (TIRx does the same: say `Injective` to see whether copies
collide).  For a target the sum is fused, not each side alone: spans are counted on the axes that
the two layouts name, and a result for a target is the fused result without one.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_algebra.algebra.canonicalize import canonicalize
from layout_algebra.algebra.deciding import Decide, checked_decide, knowing_extents
from layout_algebra.algebra.extent import tile_span
from layout_algebra.algebra.group import GroupError, check_sizes, group
from layout_algebra.algebra.threads import Target
from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size
from layout_algebra.values import AnyTile, Iter, Tile, row_major_strides


def tile(
    inner: AnyTile,
    outer: Tile,
    outer_shape: Sequence[Size],
    inner_shape: Sequence[Size],
    target: Target | None = None,
    decide: Decide | None = None,
) -> AnyTile:
    """inner repeated over outer; see the module's text.

    Args:
        inner, outer: the layouts; each is canonicalized first.
        outer_shape, inner_shape: their logical shapes, of one rank.

    Returns:
        The canonical layout over the elementwise product of the shapes.

    Raises:
        GroupError: ranks that differ, or a shape that a layout cannot be cut to.
        LayoutError: symbolic sizes of which inner's span is not known.
    """
    inner, outer = canonicalize(inner), canonicalize(outer)
    check_ranks(("outer_shape", "inner_shape"), outer_shape, inner_shape)
    scaled = outer.rebuild(scale(outer.shard, spans(inner)), outer.replica, outer.offset)
    copies = (*inner.replica, *outer.replica)
    return canonicalize(
        _interleaved(scaled, inner, outer_shape, inner_shape, copies, inner, decide), target
    )


def repeats(
    inner: AnyTile,
    to_shape: Sequence[Size],
    current_shape: Sequence[Size],
    decide: Decide | None = None,
) -> tuple[AnyTile, list[Size]]:
    """The row-major outer layout, and its shape, that repeats a tile to fill a shape.

    Raises:
        GroupError: ranks that differ, or a size that current_shape does not divide.
    """
    outer_shape = outer_sizes(to_shape, current_shape, decide)
    strides = row_major_strides(outer_shape)
    outer = inner.rebuild([Iter(e, s, m) for e, s in zip(outer_shape, strides, strict=True)])
    return outer, outer_shape


def tile_to(
    inner: AnyTile,
    to_shape: Sequence[Size],
    current_shape: Sequence[Size],
    target: Target | None = None,
    decide: Decide | None = None,
) -> AnyTile:
    """inner repeated, row-major, to fill a shape; see `repeats` and `tile`."""
    outer, outer_shape = repeats(inner, to_shape, current_shape, decide)
    return tile(inner, outer, outer_shape, current_shape, target, decide)


def outer_sizes(
    to_shape: Sequence[Size],
    current_shape: Sequence[Size],
    decide: Decide | None = None,
    names: tuple[str, str] = ("to_shape", "current_shape"),
) -> list[Size]:
    """to_shape / current_shape, dimension by dimension; errors call them by the given names.

    Raises:
        GroupError: ranks that differ, or a size that does not divide.
    """
    whole, part = check_sizes(to_shape), check_sizes(current_shape)
    check_ranks(names, whole, part)
    ask = checked_decide(decide) or knowing_extents([*whole, *part])
    found: list[Size] = []
    for d, (size, unit) in enumerate(zip(whole, part, strict=True)):
        ratio = ask.quotient(size, unit)
        if ratio is None:
            raise GroupError(
                f"dimension {d} of {names[1]}: {unit} does not divide {size} of {names[0]}"
            )
        found.append(ratio)
    return found


def direct_sum(
    right: AnyTile,
    left: Tile,
    left_shape: Sequence[Size],
    right_shape: Sequence[Size],
    target: Target | None = None,
    decide: Decide | None = None,
) -> AnyTile:
    """left(o) + right(n) over the product of the shapes; see the module's text.

    Raises:
        GroupError: ranks that differ, or a shape that a layout cannot be cut to.
    """
    right, left = canonicalize(right), canonicalize(left)
    check_ranks(("left_shape", "right_shape"), left_shape, right_shape)
    copies = (*left.replica, *right.replica)
    return canonicalize(
        _interleaved(left, right, left_shape, right_shape, copies, right, decide), target
    )


def spans(inner: Tile) -> dict[Axis, Size]:
    """inner's span on every axis on which it has a shard iter."""
    return {axis: tile_span(inner, axis) for axis in dict.fromkeys(it.axis for it in inner.shard)}


def scale(iters: Sequence[Iter], factors: dict[Axis, Size]) -> list[Iter]:
    """Iters with their strides multiplied, axis by axis."""
    return [Iter(e, s * factors.get(axis, 1), axis) for e, s, axis in iters]


def check_ranks(names: tuple[str, str], a: Sequence[Size], b: Sequence[Size]) -> None:
    """Raises GroupError unless both are shapes, of one rank."""
    one, two = check_sizes(a), check_sizes(b)
    if len(one) != len(two):
        raise GroupError(
            f"{names[0]} {tuple(a)} has {len(one)} dimensions, {names[1]} {tuple(b)} {len(two)}"
        )


def _interleaved(
    slow: Tile,
    fast: Tile,
    slow_shape: Sequence[Size],
    fast_shape: Sequence[Size],
    copies: Sequence[Iter],
    keep: AnyTile,
    decide: Decide | None,
) -> AnyTile:
    """Dimension by dimension the slow layout's iters, then the fast one's; offsets added."""
    slow_parts, slow_seps = group(slow, slow_shape, decide)
    fast_parts, fast_seps = group(fast, fast_shape, decide)
    shard: list[Iter] = []
    for d in range(len(slow_shape)):
        shard += slow_parts.shard[slow_seps[d] : slow_seps[d + 1]]
        shard += fast_parts.shard[fast_seps[d] : fast_seps[d + 1]]
    offset = dict(slow.offsets)
    for axis, value in fast.offsets:
        offset[axis] = offset.get(axis, 0) + value
    return keep.rebuild(shard, copies, offset)
