"""Recognisers: is this layout a tile of that one, a sum with that one?

    is_tile_inner(inner, tiled, ..)        the outer x   with tile(inner, x) = tiled
    is_tile_outer(outer, tiled, ..)        the inner x   with tile(x, outer) = tiled
    is_direct_sum_right(right, whole, ..)  the left x    with direct_sum(right, x) = whole
    is_direct_sum_left(left, whole, ..)    the right x   with direct_sum(x, left) = whole

Each reads the candidates off the cut iters, and returns one only if the law gives back the whole,
as a map: normal forms are compared, copies as sets.  None says that there is none.

There is one candidate for the shard, up to two things that its map does not show.  On which axes
its units and its iters of stride 0 are: `tile` scales by the span on all axes of the shard, so it
may matter.  And, with a target, on which thread axis it was before the whole was fused: what is
given is then taken to the whole's axis, and what is found back from it.  What the copies may be is
in copies.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from layout_algebra.algebra.canonicalize import canonicalize
from layout_algebra.algebra.copies import without
from layout_algebra.algebra.deciding import Decide, knowing_extents
from layout_algebra.algebra.group import GroupError, check_sizes, group
from layout_algebra.algebra.normal_form import equal_copies, merge_shard, normal_form
from layout_algebra.algebra.scope import ScopeError
from layout_algebra.algebra.threads import FUSE, Target, fusing, moved, moved_back
from layout_algebra.algebra.tile import direct_sum, outer_sizes, spans, tile
from layout_algebra.axes import Axis, m
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
    outer_shape = outer_sizes(tiled_shape, inner_shape, decide, ("tiled_shape", "inner_shape"))
    factors = spans(canonicalize(inner))
    ask = decide or knowing_extents([*tiled.extents, *inner.extents])

    def unscaled(x: Tile) -> Iterator[Tile]:
        shard = _unscaled(x.shard, factors, ask)
        if shard is not None:
            yield x.rebuild(shard, x.replica, x.offset)

    def law(x: Tile) -> Tile:
        return tile(inner, x, outer_shape, inner_shape, target, decide)

    given = _Given(canonicalize(inner), inner_shape, slow=False)
    return _recognised(given, tiled, outer_shape, (unscaled, law), target, decide)


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
    inner_shape = outer_sizes(tiled_shape, outer_shape, decide, ("tiled_shape", "outer_shape"))

    def elsewhere(x: Tile) -> Iterator[Tile]:
        return _with_axes(x, canonicalize(outer))

    def law(x: Tile) -> Tile:
        return tile(x, outer, outer_shape, inner_shape, target, decide)

    given = _Given(canonicalize(outer), outer_shape, slow=True, scaled=True)
    return _recognised(given, tiled, inner_shape, (elsewhere, law), target, decide)


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

    def law(x: Tile) -> Tile:
        return direct_sum(right, x, left_shape, right_shape, target, decide)

    given = _Given(canonicalize(right), right_shape, slow=False)
    return _recognised(given, whole, left_shape, (_as_it_is, law), target, decide)


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

    def law(x: Tile) -> Tile:
        return direct_sum(x, left, left_shape, right_shape, target, decide)

    given = _Given(canonicalize(left), left_shape, slow=True)
    return _recognised(given, whole, right_shape, (_as_it_is, law), target, decide)


def same_map(a: Tile, b: Tile) -> bool:
    """Whether two tiles are one map, by normal forms and sets of copies."""
    return _same_normal(normal_form(a), normal_form(b))


# -- inside ------------------------------------------------------------------------------------
Groups = list[tuple[Iter, ...]]
#: What a candidate is made into, and the law that it must fulfil.
Rule = tuple[Callable[[Tile], Iterator[Tile]], Callable[[Tile], Tile]]


@dataclass(frozen=True)
class _Given:
    """The layout that is known: over the slow or the fast half of each dimension.

    `scaled`: in the whole its shard's strides are multiplied by what is not known yet.
    """

    tile: Tile
    shape: Sequence[Size]
    slow: bool
    scaled: bool = False


def _recognised(
    given: _Given,
    whole: Tile,
    other_shape: Sequence[Size],
    rule: Rule,
    target: Target | None,
    decide: Decide | None,
) -> Tile | None:
    """The first candidate for the other half of which the law makes the whole."""
    for table in _fusings(whole, target):
        found = _recognised_by(table, given, canonicalize(whole, target), other_shape, rule, decide)
        if found is not None:
            return found
    return None


Table = Mapping[Axis, tuple[Axis, int]]


def _fusings(whole: Tile, target: Target | None) -> list[Table]:
    """How the sum's thread axes may have been fused into the whole's, the likeliest first."""
    if target is None:
        return [{}]
    own = fusing(canonicalize(whole, target))
    return [own, *(table for table in (*FUSE.values(), {}) if table != own)]


def _recognised_by(
    table: Table,
    given: _Given,
    whole: Tile,
    other_shape: Sequence[Size],
    rule: Rule,
    decide: Decide | None,
) -> Tile | None:
    """The first candidate, if the sum's thread axes were fused so."""
    finished, law = rule
    wanted = normal_form(whole)
    known = moved(given.tile, table)
    groups = _groups(*group(known, given.shape, decide))
    slow, fast = (given.shape, other_shape) if given.slow else (other_shape, given.shape)
    halves = _halves(whole, slow, fast, decide)
    ours, theirs = halves if given.slow else reversed(halves)
    if not given.scaled and not _same_groups(ours, groups):
        return None
    ask = decide or knowing_extents([*whole.extents, *known.extents])
    for copies, offset in without(whole, known):
        rest = whole.rebuild(itertools.chain(*theirs), copies, offset)
        for form in _unfused(rest, table, ask):
            for found in finished(form):
                try:
                    again = law(found)
                except ScopeError:  # the two cannot stand in one layout
                    continue
                if _same_normal(normal_form(again), wanted):
                    return found
    return None


def _unfused(rest: Tile, table: Table, ask: Decide) -> Iterator[Tile]:
    """The rest on its own thread axis, and on those from which that may have been fused.

    Where the shard has units only, they may have been on no thread axis: then nothing was fused.
    """
    forms = [rest]
    sources = [(axis, factor) for axis, (fused, factor) in table.items() if axis is not fused]
    for fused in {fused for fused, _ in table.values()} & set(rest.axes):
        for count in (1, 2, 3):
            for chosen in itertools.combinations(sources, count):
                forms.extend(moved_back(rest, fused, chosen, ask))
    forms = list(dict.fromkeys(forms))
    yield from forms
    if table and all(it.extent == 1 for it in rest.shard):
        for form in forms:
            yield form.rebuild([Iter(1, 1, m) for _ in form.shard], form.replica, form.offset)


def _as_it_is(x: Tile) -> Iterator[Tile]:
    yield x


def _groups(tile: Tile, seps: Sequence[int]) -> Groups:
    return [tile.shard[a:b] for a, b in itertools.pairwise(seps)]


def _halves(
    whole: Tile, slow: Sequence[Size], fast: Sequence[Size], decide: Decide | None
) -> tuple[Groups, Groups]:
    """The iters of every dimension's slow part and of its fast part."""
    shape = [size for pair in zip(slow, fast, strict=True) for size in pair]
    groups = _groups(*group(whole, shape, decide))
    return groups[0::2], groups[1::2]


def _same_groups(a: Groups, b: Groups) -> bool:
    """Whether the groups are the same maps, dimension by dimension."""
    return all(merge_shard(one) == merge_shard(two) for one, two in zip(a, b, strict=True))


def _same_normal(a: Tile, b: Tile) -> bool:
    return a.shard == b.shard and a.offsets == b.offsets and equal_copies(a, b) is True


def _unscaled(iters: Sequence[Iter], factors: dict[Axis, Size], ask: Decide) -> list[Iter] | None:
    out: list[Iter] = []
    for extent, stride, axis in iters:
        ratio = ask.quotient(stride, factors.get(axis, 1))
        if ratio is None and extent != 1:
            return None
        out.append(Iter(extent, 1 if ratio is None else ratio, axis))
    return out


def _with_axes(found: Tile, outer: Tile) -> Iterator[Tile]:
    """The same map with its units and its iters of stride 0 on other axes.

    An axis matters where outer moves and found is not at 0 alone: from there on it is scaled.
    """
    yield found
    moving = {it.axis for it in found.shard if it.extent != 1 and it.stride != 0}
    still = [k for k, it in enumerate(found.shard) if it.extent != 1 and it.stride == 0]
    if not still and not moving:
        still = list(range(len(found.shard)))
    placed = {it.axis for it in found.replica} | {axis for axis, v in found.offsets if v != 0}
    outer_axes = {it.axis for it in outer.shard}
    matter = sorted((placed & outer_axes) - moving, key=lambda axis: axis.name)
    if not still or not matter:
        return
    free = next(
        axis for axis in Axis.registered() if axis.is_memory and axis not in (*placed, *outer_axes)
    )
    for count in range(min(len(still), len(matter)) + 1):
        for chosen in itertools.combinations(matter, count):
            shard = list(found.shard)
            for place, k in enumerate(still):
                axis = chosen[place % count] if count else free
                shard[k] = Iter(shard[k].extent, 0, axis)
            yield found.rebuild(shard, found.replica, found.offset)


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
