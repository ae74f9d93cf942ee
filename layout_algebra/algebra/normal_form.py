"""normal_form: one representative for all tiles with the same meaning.

For tiles without replicas it decides equality completely: two tiles of one size are the same map
exactly when their normal forms are equal.  (The last stride is f(1); the last extent is the first x
at which f leaves that line; merging guarantees that it does leave it.  Then by induction.)  With
symbolic sizes equal forms still mean equal maps; unequal forms may be equal for all admitted values
when a Dim is bounded or tied to another by a relation.

Copies form a set, so they are made nonnegative (the least copy moves into the offset), repeated
places are dropped, and progressions that continue each other are joined.  Equal copy sets may still
have different forms; `equal_copies` decides those by enumeration.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import overload

from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size, at_least, bounds, divide_exactly, product
from layout_algebra.values import AnyLayout, AnyTile, Iter, Swizzled, Tile

#: Copies that `equal_copies` will enumerate.
MOST_COPIES = 1 << 16


@overload
def normal_form(layout: AnyTile) -> AnyTile: ...
@overload
def normal_form(layout: AnyLayout) -> AnyLayout: ...
def normal_form(layout: AnyLayout) -> AnyLayout:
    """The normal form, in the class of the argument; an identity swizzle is dropped."""
    if isinstance(layout, Swizzled):
        tile = _normal_tile(layout.tile_layout)
        return tile if layout.swizzle.is_identity else layout.with_tile(tile)
    return _normal_tile(layout)


def merge_shard(iters: Iterable[Iter]) -> list[Iter]:
    """Drops units, puts stride 0 on axis m, and merges neighbours that count on.

    `(a, s*b), (b, s)` on one axis counts as `(a*b, s)`.
    """
    merged: list[Iter] = []
    for extent, stride, axis in iters:
        if extent == 1:
            continue
        if stride == 0:
            axis = m
        if merged:
            last = merged[-1]
            if last.axis is axis and extent * stride == last.stride:
                merged[-1] = Iter(last.extent * extent, stride, axis)
                continue
        merged.append(Iter(extent, stride, axis))
    return merged


def merge_copies(iters: Iterable[Iter]) -> tuple[list[Iter], dict[Axis, Size]]:
    """The same set of copies in few progressions with positive strides, and the least copy."""
    shift: dict[Axis, Size] = {}
    steps: dict[Axis, list[tuple[Size, Size]]] = {}
    for extent, stride, axis in iters:
        if extent == 1 or stride == 0:
            continue
        if bounds(stride)[1] is not None and at_least(-stride, 0):
            shift[axis] = shift.get(axis, 0) + (extent - 1) * stride
            stride = -stride
        steps.setdefault(axis, []).append((stride, extent))
    kept: list[Iter] = []
    for axis in sorted(steps, key=lambda axis: axis.name):
        progressions = sorted(steps[axis], key=_step_order)
        kept += [Iter(extent, stride, axis) for stride, extent in _join(progressions)]
    return kept, shift


def equal_copies(a: Tile, b: Tile) -> bool | None:
    """Whether two normal tiles' copies are the same set; None when there are too many to tell.

    Each axis alone: the set of copies is the product of the sets on the axes.
    """
    if a.replica == b.replica:
        return True
    for axis in {it.axis for it in (*a.replica, *b.replica)}:
        sums_a, sums_b = (
            copy_sums(it for it in tile.replica if it.axis is axis) for tile in (a, b)
        )
        if sums_a is None or sums_b is None:
            return None
        if sums_a != sums_b:
            return False
    return True


def _normal_tile(tile: AnyTile) -> AnyTile:
    copies, shift = merge_copies(tile.replica)
    offset = tile.offset
    for axis, value in shift.items():
        offset[axis] = offset.get(axis, 0) + value
    kept = {axis: value for axis, value in offset.items() if value != 0}
    return tile.rebuild(merge_shard(tile.shard), copies, kept)


def _join(progressions: list[tuple[Size, Size]]) -> list[tuple[Size, Size]]:
    """(stride, extent) pairs, ascending; s and k*s with k <= extent of s are one progression."""
    joined = True
    while joined:
        joined = False
        # both ways round: symbolic strides have no order
        for first, second in permutations(range(len(progressions)), 2):
            (s, e), (t, n) = progressions[first], progressions[second]
            ratio = divide_exactly(t, s)
            if ratio is None or not at_least(ratio, 1) or not at_least(e - ratio, 0):
                continue
            progressions[first] = (s, e + ratio * (n - 1))
            del progressions[second]
            joined = True
            break
    return progressions


def _step_order(step: tuple[Size, Size]) -> tuple[int, int, str]:
    stride, extent = step
    if isinstance(stride, int) and isinstance(extent, int):
        return (0, stride, f"{extent:020d}")
    return (1, 0, f"{stride} {extent}")


def copy_sums(copies: Iterable[Iter], most: int = MOST_COPIES) -> frozenset[int] | None:
    """Where copies on one axis are; None for symbolic ones, and for more than `most`."""
    iters = list(copies)
    count = product(it.extent for it in iters)
    if not isinstance(count, int) or count > most:
        return None
    sums = {0}
    for extent, stride, _ in iters:
        if not isinstance(extent, int) or not isinstance(stride, int):
            return None
        sums = {total + step * stride for total in sums for step in range(extent)}
    return frozenset(sums)
