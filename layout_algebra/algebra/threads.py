"""Fusing and splitting of thread axes: laneid + 32*warpid is tx, and back.

Fusing rewrites every iter and offset on its own onto the axis that counts the finest children in
the widest parent, so that neighbours can merge.  The target is an argument: without one nothing is
fused.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from layout_algebra.algebra.deciding import Decide, checked_decide, knowing_extents
from layout_algebra.algebra.extent import tile_ends
from layout_algebra.algebra.scope import get_scope
from layout_algebra.axes import Axis, laneid, tid_in_wg, tx, warpid, wgid, wid_in_wg
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError
from layout_algebra.values import AnyTile, Iter, Tile, sort_offsets

Target = Literal["cuda"]

#: (scope of the layout) -> axis -> (the axis it becomes, how many places of it one place is).
#: 32 lanes in a warp, 4 warps in a warpgroup (PTX ISA).
FUSE: dict[tuple[str, str], dict[Axis, tuple[Axis, int]]] = {
    ("thread", "warpgroup"): {laneid: (tid_in_wg, 1), wid_in_wg: (tid_in_wg, 32)},
    ("thread", "cta"): {
        laneid: (tx, 1),
        wid_in_wg: (tx, 32),
        tid_in_wg: (tx, 1),
        warpid: (tx, 32),
        wgid: (tx, 128),
    },
    ("warp", "cta"): {wid_in_wg: (warpid, 1), wgid: (warpid, 4)},
}

#: (axis, level to split at) -> (outer axis, inner axis, how many places of the inner one).
SPLIT: dict[tuple[Axis, str], tuple[Axis, Axis, int]] = {
    (tx, "warp"): (warpid, laneid, 32),
    (tx, "warpgroup"): (wgid, tid_in_wg, 128),
    (tid_in_wg, "warp"): (wid_in_wg, laneid, 32),
    (warpid, "warpgroup"): (wgid, wid_in_wg, 4),
}


def check_target(target: object) -> None:
    """Raises LayoutError unless the target is None or "cuda"."""
    if target not in (None, "cuda"):
        raise LayoutError(f'the target is "cuda" or None; got {target!r}')


def fuse(tile: AnyTile, target: Target | None) -> AnyTile:
    """The tile with its thread axes fused, for a target that fuses."""
    check_target(target)
    if target is None:
        return tile
    return moved(tile, fusing(tile))


def fusing(tile: Tile) -> dict[Axis, tuple[Axis, int]]:
    """What the thread axes of a tile are fused onto, and the factors; nothing if they are not."""
    scope = get_scope(tile)
    return FUSE.get(scope, {}) if scope is not None else {}


def moved(tile: AnyTile, onto: Mapping[Axis, tuple[Axis, int]]) -> AnyTile:
    """The tile with axes replaced, and the numbers on them multiplied."""
    if not onto:
        return tile

    def replaced(it: Iter) -> Iter:
        axis, factor = onto.get(it.axis, (it.axis, 1))
        return Iter(it.extent, it.stride * factor, axis)

    offset: dict[Axis, Size] = {}
    for name, value in tile.offsets:
        axis, factor = onto.get(name, (name, 1))
        offset[axis] = offset.get(axis, 0) + value * factor
    return tile.rebuild(map(replaced, tile.shard), map(replaced, tile.replica), offset)


def moved_back(
    tile: AnyTile, fused: Axis, onto: Iterable[tuple[Axis, int]], ask: Decide
) -> Iterator[AnyTile]:
    """The tile with each number on `fused` on an axis that counts so many places of it.

    Every choice among the given axes of which each number is a multiple, the widest first, and
    with iters cut where they go over from one axis to the next; none where some number is a
    multiple of none.
    """
    widest_first = sorted(onto, key=lambda pair: -pair[1])

    def options(number: Size) -> list[tuple[Size, Axis]]:
        ratios = ((ask.quotient(number, factor), axis) for axis, factor in widest_first)
        return [(ratio, axis) for ratio, axis in ratios if ratio is not None]

    def of_iter(it: Iter) -> list[tuple[Iter, ...]]:
        if it.axis is not fused:
            return [(it,)]
        found = [(Iter(it.extent, *place),) for place in options(it.stride)]
        if it.extent == 1:  # where it lies shows nowhere: one choice will do
            return found[:1] or [(Iter(1, 0, widest_first[0][0]),)]
        for factor in dict.fromkeys(factor for _, factor in widest_first):
            inside = ask.quotient(factor, it.stride)
            rest = ask.quotient(it.extent, inside) if inside is not None else None
            if inside is None or rest is None or 1 in (inside, rest):
                continue
            low = of_iter(Iter(inside, it.stride, fused))
            high = [Iter(rest, *place) for place in options(factor)]
            found += [(one, *parts) for one in high for parts in low]
        return found

    offset = tile.offset
    there = offset.pop(fused, 0)
    starts = options(there) if there != 0 else [(0, fused)]
    for shard, copies, (value, axis) in itertools.product(
        list(itertools.product(*map(of_iter, tile.shard))),
        list(itertools.product(*map(of_iter, tile.replica))),
        starts,
    ):
        at = {**offset, axis: offset.get(axis, 0) + value} if value != 0 else offset
        yield tile.rebuild(itertools.chain(*shard), itertools.chain(*copies), at)


def split(tile: AnyTile, level: str, decide: Decide | None = None) -> AnyTile:
    """The tile with the axes that can be split at a level replaced by their two parts.

    A place p on the axis becomes p div size on the outer part and p mod size on the inner one.

    Raises:
        LayoutError: an iter or offset that does not fall apart into places of the two axes, or
            iters that together leave the inner axis (a carry from the inner part to the outer).
    """
    levels = sorted({known for _, known in SPLIT})
    if level not in levels:
        raise LayoutError(f"thread axes split at {' or '.join(levels)}; got {level!r}")
    ask = checked_decide(decide) or knowing_extents(tile.extents)
    inside: list[Iter] = []
    start: dict[Axis, Size] = {}

    def parts(it: Iter) -> Iterable[Iter]:
        rule = SPLIT.get((it.axis, level))
        if rule is None:
            return [it]
        outer, inner, size = rule
        found = split_iter(it, outer, inner, size, ask)
        inside.extend(part for part in found if part.axis is inner)
        return found

    offset: dict[Axis, Size] = {}
    for axis, value in tile.offsets:
        rule = SPLIT.get((axis, level))
        if rule is None:
            offset[axis] = offset.get(axis, 0) + value
            continue
        outer, inner, size = rule
        if not isinstance(value, int):
            raise LayoutError(
                f"offset {value}@{axis.name} cannot be split at {level}: it is symbolic"
            )
        for onto, part in ((outer, value // size), (inner, value % size)):
            offset[onto] = offset.get(onto, 0) + part
        start[inner] = value % size
    result = tile.rebuild(
        [part for it in tile.shard for part in parts(it)],
        [part for it in tile.replica for part in parts(it)],
        offset,
    )
    moved = Tile(tuple(inside), (), sort_offsets(start))
    for (_, at), (_, inner, size) in SPLIT.items():
        if at != level or inner not in moved.axes:
            continue
        low, high = tile_ends(moved, inner)
        if not ask.at_least(low, 0) or not ask.at_least(size - 1 - high, 0):
            raise LayoutError(
                f"the layout does not fall apart at {level}: its places on {inner.name} would be "
                f"{low}..{high}, of {size}"
            )
    return result


def split_iter(it: Iter, outer: Axis, inner: Axis, size: int, ask: Decide) -> list[Iter]:
    """One iter over an axis as iters over its two parts, `size` inner places to an outer one.

    Raises:
        LayoutError: it does not fall apart that way.
    """
    extent, stride, axis = it
    reach = (extent - 1) * stride
    if ask.at_least(size - 1 - reach, 0) and ask.at_least(size - 1 + reach, 0):
        return [Iter(extent, stride, inner)]
    whole = ask.quotient(stride, size)
    if whole is not None:
        return [Iter(extent, whole, outer)]
    per_outer = ask.quotient(size, stride)
    if per_outer is not None:
        rest = ask.quotient(extent, per_outer)
        if rest is not None:
            return [Iter(rest, 1, outer), Iter(per_outer, stride, inner)]
    raise LayoutError(
        f"iter {it} does not fall apart into {size} places of {inner.name} and places of "
        f"{outer.name} (axis {axis.name})"
    )
