"""canonicalize: TIRx's canonical form.

    formula     canonicalize(L) = L as a map
    example     S[(2, 4, 1) : (4, 1, 7)]  ->  S[8 : 1]

Drops unit iters and zero offsets, fuses thread axes for a target, merges neighbours that count on
(`(a, s*b), (b, s)` on one axis is `(a*b, s)`), orders copies by axis, stride and extent and drops
unit copies.  It is not unique for equal maps: `normal_form` is.
"""

from __future__ import annotations

from collections.abc import Iterable

from layout_algebra.algebra.deciding import STRUCTURALLY, Decide
from layout_algebra.algebra.scope import get_scope
from layout_algebra.algebra.threads import Target, check_target, fuse
from layout_algebra.axes import m
from layout_algebra.values import AnyLayout, AnyTile, Iter, Swizzled


def canonicalize(
    tile: AnyTile, target: Target | None = None, decide: Decide = STRUCTURALLY
) -> AnyTile:
    """The canonical form of a tile.

    Args:
        tile: any tile.
        target: "cuda" fuses thread axes; None leaves them.
        decide: decides equality of symbolic sizes.

    Raises:
        ScopeError: thread axes that do not chain.
    """
    check_target(target)
    shard: Iterable[Iter] = [it for it in tile.shard if it.extent != 1]
    if not shard and tile.shard:
        shard = [Iter(1, 1, tile.shard[0].axis)]
    offset = {axis: value for axis, value in tile.offsets if value != 0}
    kept = tile.rebuild(shard, tile.replica, offset)
    get_scope(kept)  # of what is left, as in TIRx: units of the shard do not count, of copies do
    kept = fuse(kept, target)
    copies = sorted((it for it in kept.replica if it.extent != 1), key=copy_order)
    offset = {axis: value for axis, value in kept.offsets if value != 0}
    iters = merged(kept.shard, decide)
    if len(iters) == 1 and iters[0].extent == 1:
        iters = [Iter(1, 1, iters[0].axis)]  # fusing may have scaled it
    return tile.rebuild(iters, copies, offset)


def merged(iters: Iterable[Iter], decide: Decide = STRUCTURALLY) -> list[Iter]:
    """Neighbours on one axis that count on become one iter."""
    out: list[Iter] = []
    for it in iters:
        if out and out[-1].axis is it.axis and decide.equal(it.extent * it.stride, out[-1].stride):
            out[-1] = Iter(out[-1].extent * it.extent, it.stride, it.axis)
        else:
            out.append(it)
    return out


def copy_order(it: Iter) -> tuple[str, int, int, str]:
    """Copies by axis, stride, extent; symbolic ones last, by their text."""
    if isinstance(it.stride, int) and isinstance(it.extent, int):
        return (it.axis.name, it.stride, it.extent, "")
    return (it.axis.name, 1 << 62, 0, f"{it.stride} {it.extent}")


def is_trivial(layout: AnyLayout) -> bool:
    """Whether it is the identity on one memory axis: at most one iter, stride 1, nothing else."""
    if isinstance(layout, Swizzled):
        return False
    form = canonicalize(layout)
    if form.replica or form.offsets or len(form.shard) > 1:
        return False
    return all(it.axis.is_memory and it.stride == 1 for it in form.shard)


def is_swizzle(layout: AnyLayout) -> bool:
    """Whether it is a bare swizzle: an XOR over a trivial tile."""
    return isinstance(layout, Swizzled) and is_trivial(layout.tile_layout)


def is_contiguous(layout: AnyLayout) -> bool:
    """Whether elements follow each other on m: row-major compact, no copies, any m offset."""
    if isinstance(layout, Swizzled) or layout.replica:
        return False
    if any(axis is not m for axis in layout.axes):
        return False
    below = 1
    for extent, stride, _ in reversed(layout.shard):
        if extent != 1 and stride != below:
            return False
        below = below * extent
    return True


def is_trainium(layout: AnyLayout) -> bool:
    """Whether every memory axis of the shard is one of Trainium's: P, F, Bank."""
    if isinstance(layout, Swizzled):
        return False
    return all(axis.name in ("P", "F", "Bank") for _, _, axis in layout.shard if axis.is_memory)
