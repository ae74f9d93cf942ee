"""Recognisers: is this layout a tile of that one, a sum with that one?

    is_tile_inner(inner, tiled, ..)        the outer x   with tile(inner, x) = tiled
    is_tile_outer(outer, tiled, ..)        the inner x   with tile(x, outer) = tiled
    is_direct_sum_right(right, whole, ..)  the left x    with direct_sum(right, x) = whole
    is_direct_sum_left(left, whole, ..)    the right x   with direct_sum(x, left) = whole

Each reads the only candidate off the cut iters, and returns it only if the law gives back the
whole, as a map: normal forms are compared, copies as sets.  None says that there is none.

Copies that were joined (R[8 : 1] for R[2 : 4] and R[4 : 1]) are taken apart again where one
progression is a whole number of the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from layout_algebra.algebra.canonicalize import canonicalize
from layout_algebra.algebra.deciding import Decide, knowing_extents
from layout_algebra.algebra.group import GroupError, check_sizes, group
from layout_algebra.algebra.normal_form import (
    equal_copies,
    merge_copies,
    merge_shard,
    normal_form,
)
from layout_algebra.algebra.scope import ScopeError
from layout_algebra.algebra.threads import Target
from layout_algebra.algebra.tile import direct_sum, outer_sizes, spans, tile
from layout_algebra.axes import Axis
from layout_algebra.dims import Size
from layout_algebra.values import Iter, Tile


def is_tile_inner(
    inner: Tile,
    tiled: Tile,
    tiled_shape: Sequence[Size],
    inner_shape: Sequence[Size],
    target: Target | None = None,
    decide: Decide | None = None,
) -> Tile | None:
    """The outer layout x with tile(inner, x, tiled_shape/inner_shape, inner_shape) = tiled, or
    None.

    Raises:
        GroupError: shapes of other ranks, sizes that do not divide, or that no cutting reaches.
    """
    inner, tiled = canonicalize(inner, target), canonicalize(tiled, target)
    outer_shape = outer_sizes(tiled_shape, inner_shape, decide)
    outers, inners = _halves(tiled, outer_shape, inner_shape, decide)
    own, own_seps = group(inner, inner_shape, decide)
    if not _same_groups(inners, _groups(own, own_seps)):
        return None
    ask = decide or knowing_extents([*tiled.extents, *inner.extents])
    factors = spans(inner)
    shard = _unscaled([it for part in outers for it in part], factors, ask)
    copies = _without(tiled.replica, inner.replica)
    if shard is None or copies is None:
        return None
    found = tiled.rebuild(shard, copies, _subtracted(tiled, inner))
    return _lawful(found, tiled, lambda x: tile(inner, x, outer_shape, inner_shape, target, decide))


def is_tile_outer(
    outer: Tile,
    tiled: Tile,
    tiled_shape: Sequence[Size],
    outer_shape: Sequence[Size],
    target: Target | None = None,
    decide: Decide | None = None,
) -> Tile | None:
    """The inner layout x with tile(x, outer, outer_shape, tiled_shape/outer_shape) = tiled, or
    None.

    Raises:
        GroupError: shapes of other ranks, sizes that do not divide, or that no cutting reaches.
    """
    outer, tiled = canonicalize(outer, target), canonicalize(tiled, target)
    inner_shape = outer_sizes(tiled_shape, outer_shape, decide)
    outers, inners = _halves(tiled, outer_shape, inner_shape, decide)
    own, own_seps = group(outer, outer_shape, decide)
    if not _same_groups(outers, _groups(own, own_seps), strides=False):
        return None
    copies = _without(tiled.replica, outer.replica)
    if copies is None:
        return None
    shard = [it for part in inners for it in part]
    found = tiled.rebuild(shard, copies, _subtracted(tiled, outer))
    return _lawful(found, tiled, lambda x: tile(x, outer, outer_shape, inner_shape, target, decide))


def is_direct_sum_right(
    right: Tile,
    whole: Tile,
    interleaved_shape: Sequence[Size],
    right_shape: Sequence[Size],
    target: Target | None = None,
    decide: Decide | None = None,
) -> Tile | None:
    """The left layout x with direct_sum(right, x, ..) = whole, or None.

    Args:
        interleaved_shape: (L0, R0, L1, R1, ...), both layouts' sizes by turns.

    Raises:
        GroupError: an interleaved shape that is not twice as long, or sizes that do not agree.
    """
    left_shape = _by_turns(interleaved_shape, right_shape, 1)
    right, whole = canonicalize(right, target), canonicalize(whole, target)
    lefts, rights = _halves(whole, left_shape, right_shape, decide)
    own, own_seps = group(right, right_shape, decide)
    if not _same_groups(rights, _groups(own, own_seps)):
        return None
    found = _rest(whole, right, lefts)
    if found is None:
        return None
    return _lawful(
        found, whole, lambda x: direct_sum(right, x, left_shape, right_shape, target, decide)
    )


def is_direct_sum_left(
    left: Tile,
    whole: Tile,
    interleaved_shape: Sequence[Size],
    left_shape: Sequence[Size],
    target: Target | None = None,
    decide: Decide | None = None,
) -> Tile | None:
    """The right layout x with direct_sum(x, left, ..) = whole, or None; arguments as for the right.

    Raises:
        GroupError: an interleaved shape that is not twice as long, or sizes that do not agree.
    """
    right_shape = _by_turns(interleaved_shape, left_shape, 0)
    left, whole = canonicalize(left, target), canonicalize(whole, target)
    lefts, rights = _halves(whole, left_shape, right_shape, decide)
    own, own_seps = group(left, left_shape, decide)
    if not _same_groups(lefts, _groups(own, own_seps)):
        return None
    found = _rest(whole, left, rights)
    if found is None:
        return None
    return _lawful(
        found, whole, lambda x: direct_sum(x, left, left_shape, right_shape, target, decide)
    )


def same_map(a: Tile, b: Tile) -> bool:
    """Whether two tiles are one map, by normal forms and sets of copies."""
    one, two = normal_form(a), normal_form(b)
    return one.shard == two.shard and one.offsets == two.offsets and equal_copies(one, two) is True


# -- inside ------------------------------------------------------------------------------------
Groups = list[tuple[Iter, ...]]


def _lawful(found: Tile, whole: Tile, law: Callable[[Tile], Tile]) -> Tile | None:
    try:
        again = law(found)
    except ScopeError:  # the two cannot stand in one layout
        return None
    return found if same_map(again, whole) else None


def _groups(tile: Tile, seps: Sequence[int]) -> Groups:
    return [tile.shard[a:b] for a, b in itertools.pairwise(seps)]


def _halves(
    whole: Tile, slow: Sequence[Size], fast: Sequence[Size], decide: Decide | None
) -> tuple[Groups, Groups]:
    """The iters of every dimension's slow part and of its fast part."""
    shape = [size for pair in zip(slow, fast, strict=True) for size in pair]
    cut, seps = group(whole, shape, decide)
    groups = _groups(cut, seps)
    return groups[0::2], groups[1::2]


def _same_groups(a: Groups, b: Groups, strides: bool = True) -> bool:
    """Whether the groups agree iter by iter, units aside (strides, too, unless told otherwise)."""
    for one, two in zip(a, b, strict=True):
        first = [it for it in one if it.extent != 1]
        second = [it for it in two if it.extent != 1]
        if strides and merge_shard(first) != merge_shard(second):
            return False
        if not strides and len(first) != len(second):
            return False
    return True


def _unscaled(iters: Sequence[Iter], factors: dict[Axis, Size], ask: Decide) -> list[Iter] | None:
    out: list[Iter] = []
    for extent, stride, axis in iters:
        factor = factors.get(axis, 1)
        if extent == 1:
            out.append(Iter(extent, ask.quotient(stride, factor) or 1, axis))
            continue
        ratio = ask.quotient(stride, factor)
        if ratio is None:
            return None
        out.append(Iter(extent, ratio, axis))
    return out


def _subtracted(whole: Tile, part: Tile) -> dict[Axis, Size]:
    offset = dict(whole.offsets)
    for axis, value in part.offsets:
        offset[axis] = offset.get(axis, 0) - value
    return offset


def _rest(whole: Tile, part: Tile, groups: Groups) -> Tile | None:
    copies = _without(whole.replica, part.replica)
    if copies is None:
        return None
    return whole.rebuild([it for one in groups for it in one], copies, _subtracted(whole, part))


def _without(copies: Sequence[Iter], taken: Sequence[Iter]) -> list[Iter] | None:
    """What is left of the copies without those, each taken away once; None if it cannot be."""
    left = list(copies)
    for it in taken:
        if it in left:
            left.remove(it)
            continue
        if it.stride == 0 or it.extent == 1:
            continue
        found = (_taken_apart(one, it) for one in left)
        apart = next((one for one in found if one is not None), None)
        if apart is None:
            return None
        whole, rest = apart
        position = left.index(whole)
        left[position : position + 1] = rest
    return left


def _taken_apart(whole: Iter, part: Iter) -> tuple[Iter, list[Iter]] | None:
    """The rest of a progression that is a whole number of another: R[8:1] is R[2:4] and R[4:1]."""
    joined, _ = merge_copies([whole])
    wanted, _ = merge_copies([part])
    if not joined or not wanted:
        return None
    (n, s, axis), (e, t, other) = joined[0], wanted[0]
    if axis is not other or not all(isinstance(x, int) for x in (n, s, e, t)):
        return None
    if t % s or n % (t // s) or (n // (t // s)) % e:  # type: ignore[operator]
        return None
    below = t // s  # type: ignore[operator]
    rest = [Iter(below, s, axis), Iter(n // below // e, t * e, axis)]  # type: ignore[operator]
    return whole, [it for it in rest if it.extent != 1]


def _by_turns(shape: Sequence[Size], own: Sequence[Size], place: int) -> list[Size]:
    """The other layout's sizes in an interleaved shape, whose own sizes must be the given ones."""
    sizes, mine = check_sizes(shape), check_sizes(own)
    if len(sizes) != 2 * len(mine):
        raise GroupError(
            f"an interleaved shape has two sizes for each dimension of {tuple(mine)}; "
            f"got {tuple(sizes)}"
        )
    if sizes[place::2] != mine:
        raise GroupError(
            f"the interleaved shape has {tuple(sizes[place::2])} where {tuple(mine)} is given"
        )
    return sizes[1 - place :: 2]
