"""group: cut the iters so that each dimension of a shape has iters of its own.

formula     group(L, shape) = L as a map
requires    every boundary product of the shape is reached by cutting iters
ensures     group d is shard[seps[d]:seps[d+1]], its extents multiply to shape[d]
example     S[16 : 1] by (2, 8)  ->  S[(2, 8) : (8, 1)], seps (0, 1, 2)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from layout_algebra.algebra.deciding import Decide, checked_decide, knowing_extents
from layout_algebra.dims import Size, as_size, is_size, product
from layout_algebra.errors import LayoutError
from layout_algebra.values import AnyTile, Iter, Tile


class GroupError(LayoutError):
    """A shape whose dimensions no cutting of the iters reaches."""


def group(
    tile: AnyTile, shape: Sequence[Size], decide: Decide | None = None
) -> tuple[AnyTile, tuple[int, ...]]:
    """The regrouped tile and the separators.

    Raises:
        GroupError: the shape cannot be reached.
    """
    sizes = check_sizes(shape)
    ask = checked_decide(decide) or knowing_extents([*tile.extents, *sizes])
    out: list[Iter] = []
    seps = [0]
    reached: Size = 1
    d = 0
    for extent, stride, axis in tile.shard:
        reached = reached * extent
        rest = extent
        while d < len(sizes):
            over = ask.quotient(reached, sizes[d])
            if over is None:
                break
            kept = ask.quotient(rest, over)
            if kept is None:
                raise _cannot(tile, sizes, d)
            out.append(Iter(kept, stride * over, axis))
            seps.append(len(out))
            rest = reached = over
            d += 1
        if rest != 1:
            if d == len(sizes):
                raise _cannot(tile, sizes, d - 1)
            out.append(Iter(rest, stride, axis))
    if d != len(sizes):
        raise _cannot(tile, sizes, d)
    return tile.rebuild(out, tile.replica, tile.offset), tuple(seps)


def group_many(
    tile: AnyTile, shapes: Sequence[Sequence[Size]], decide: Decide | None = None
) -> tuple[AnyTile, tuple[tuple[int, ...], ...]]:
    """One cutting of the iters for several shapes at once, and each shape's separators.

    Boundaries of all shapes and of the shard are put together, a value as often as it occurs most
    often in one of them; unit iters are kept.

    Raises:
        GroupError: no shapes, an empty one, sizes that differ, or boundaries that do not divide.
    """
    if not shapes:
        raise GroupError("group_many needs at least one shape")
    every = [check_sizes(shape) for shape in shapes]
    if any(not sizes for sizes in every):
        raise GroupError("group_many: a shape without dimensions")
    if not tile.shard:
        raise GroupError("group_many: a layout without iters has none for a dimension")
    ask = checked_decide(decide) or knowing_extents(
        [*tile.extents, *(size for sizes in every for size in sizes)]
    )
    whole = product(tile.extents)
    for sizes in every:
        if not ask.equal(product(sizes), whole):
            raise GroupError(
                f"shape {tuple(sizes)} has {product(sizes)} elements, the layout {whole}"
            )
    lists = [_boundaries(sizes) for sizes in (*every, tile.extents)]
    common = _union(lists, ask)
    *shape_slots, shard_slots = (_slots(one, common, ask) for one in lists)
    out: list[Iter] = []
    ends = lists[-1][1:]
    for (_, stride, axis), end, first, last in zip(
        tile.shard, ends, shard_slots, shard_slots[1:], strict=False
    ):
        for low, high in zip(common[first:last], common[first + 1 : last + 1], strict=True):
            extent, below = ask.quotient(high, low), ask.quotient(end, high)
            if extent is None or below is None:
                raise GroupError(f"boundaries {low}, {high}, {end} do not divide one another")
            out.append(Iter(extent, stride * below, axis))
    return tile.rebuild(out, tile.replica, tile.offset), tuple(shape_slots)


def check_sizes(shape: Sequence[Size]) -> list[Size]:
    """A shape's sizes, checked.

    Raises:
        GroupError: not a sequence of positive ints or Dims.
    """
    if not isinstance(shape, Sequence) or isinstance(shape, str):  # type: ignore[redundant-expr]
        raise GroupError(f"a shape is a sequence of positive ints or Dims; got {shape!r}")
    if not all(is_size(size) for size in shape):
        raise GroupError(f"a shape is a sequence of positive ints or Dims; got {shape!r}")
    sizes = [as_size(size) for size in shape]
    if any(isinstance(size, int) and size < 1 for size in sizes):
        raise GroupError(f"a shape's sizes are at least 1; got {tuple(shape)}")
    return sizes


def _cannot(tile: Tile, sizes: Sequence[Size], d: int) -> GroupError:
    extents = ", ".join(map(str, tile.extents))
    shape = ", ".join(map(str, sizes))
    where = f"at dimension {d}" if 0 <= d < len(sizes) else "beyond its last dimension"
    return GroupError(
        f"iters of extents ({extents}) cannot be cut to shape ({shape}): stuck {where}"
    )


def _boundaries(sizes: Sequence[Size]) -> list[Size]:
    """1 and the running products, slowest dimension first."""
    found: list[Size] = [1]
    for size in sizes:
        found.append(found[-1] * size)
    return found


def _union(lists: Sequence[Sequence[Size]], ask: Decide) -> list[Size]:
    """All boundaries, each as often as one list has it most often, ordered by divisibility."""
    classes: list[Size] = []
    for value in (value for one in lists for value in one):
        if any(ask.equal(value, known) for known in classes):
            continue
        place = next(
            (k for k, known in enumerate(classes) if ask.quotient(known, value) is not None), None
        )
        classes.insert(len(classes) if place is None else place, value)
    for low, high in itertools.pairwise(classes):
        if ask.quotient(high, low) is None:
            raise GroupError(f"boundaries {low} and {high} do not divide one another")
    counts = [max(sum(ask.equal(v, c) for v in one) for one in lists) for c in classes]
    return [value for value, count in zip(classes, counts, strict=True) for _ in range(count)]


def _slots(boundaries: Sequence[Size], common: Sequence[Size], ask: Decide) -> tuple[int, ...]:
    """Where a list's boundaries stand in the common one.

    Repeated values take consecutive slots from the first of their class; the very last boundary
    takes the last one.
    """
    slots: list[int] = []
    for value in boundaries:
        first = next(k for k, known in enumerate(common) if ask.equal(known, value))
        slots.append(first if not slots or slots[-1] < first else slots[-1] + 1)
    slots[-1] = len(common) - 1
    return tuple(slots)
