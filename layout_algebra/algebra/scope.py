"""Scopes: between which levels of the machine a layout's thread axes count.

    {laneid} -> (thread, warp)    {laneid, warpid} -> (thread, cta)    {wgid} -> (warpgroup, cta)

Every thread axis counts children of one level inside a parent.  The axes of a layout must chain:
from the finest child, each parent is the next child, until the widest parent.
"""

from __future__ import annotations

from layout_algebra.axes import Axis, m
from layout_algebra.errors import LayoutError
from layout_algebra.values import AnyLayout, Swizzled


class ScopeError(LayoutError):
    """Thread axes that do not chain into one range of levels."""


def get_scope(layout: AnyLayout) -> tuple[str, str] | None:
    """(finest child, widest parent) of the thread axes; None without a shard iter on one.

    Replica and offset axes count too, once some shard iter is on a thread axis.

    Raises:
        ScopeError: two axes count the same things in different parents, or a level is missing.
    """
    tile = layout.affine
    if not any(axis.is_thread for _, _, axis in tile.shard):
        return None
    axes = [axis for axis in tile.axes if axis.is_thread]
    by_child: dict[str, Axis] = {}
    for axis in axes:
        if axis.scope is None or axis.subscope is None:
            raise ScopeError(f"thread axis {axis.name} was registered without scopes")
        other = by_child.setdefault(axis.subscope, axis)
        if other.scope != axis.scope:
            raise ScopeError(
                f"{other.name} counts {other.subscope}s of a {other.scope}, {axis.name} of a "
                f"{axis.scope}: one layout uses one of them"
            )
    parents = {axis.scope for axis in by_child.values()}
    starts = [child for child in by_child if child not in parents]
    chain: list[str] = []
    level = starts[0] if starts else ""
    while level in by_child:
        chain.append(level)
        level = by_child[level].scope or ""
    missing = [by_child[child].name for child in by_child if child not in chain]
    if missing or not chain:
        names = ", ".join(axis.name for axis in axes)
        raise ScopeError(
            f"the thread axes {names} do not chain: from {chain[0] if chain else 'nothing'} to "
            f"{level or 'nothing'}, without {', '.join(missing) or names}"
        )
    return chain[0], level


def why_ill_formed(layout: AnyLayout) -> str | None:
    """The reason why TIRx would refuse a layout, None when it is well formed.

    Thread axes must chain; under a swizzle TIRx wants places on m only (here other axes pass).
    """
    try:
        get_scope(layout)
    except ScopeError as error:
        return str(error)
    if isinstance(layout, Swizzled):
        others = [axis.name for axis in layout.tile_layout.axes if axis is not m]
        if others:
            return f"a swizzled tile is on m only for TIRx; this one is on {', '.join(others)} too"
    return None


def is_well_formed(tile: AnyLayout) -> bool:
    """Whether TIRx accepts the layout; see `why_ill_formed`."""
    return why_ill_formed(tile) is None
