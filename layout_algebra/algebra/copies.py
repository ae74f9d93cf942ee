"""Copies without copies: which set, added to one set of copies, makes another.

    formula     without(whole, part) = X with X + part = whole, as sets of places
    example     R[8 : 1] without R[2 : 4] is R[4 : 1];  R[3 : 1] without R[2 : 1] is R[2 : 1]

Copies stand on one axis each, so the set of copies is the product of the sets on the axes, and each
axis is divided alone.  There, every x of X has x + part inside whole; all such x are the largest
set there could be, and X is looked for in it, progression by progression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from layout_algebra.algebra.normal_form import copy_sums, merge_copies
from layout_algebra.axes import Axis
from layout_algebra.dims import Size
from layout_algebra.values import Iter, Tile

Copies = tuple[Sequence[Iter], Mapping[Axis, Size]]

#: Copies of an axis up to which sets are divided; more are only taken away one by one.
MOST_COPIES = 1 << 8
#: Sets that the search on one axis looks at before it gives up.
MOST_TRIES = 1 << 9


def without(whole: Tile, part: Tile) -> Iterator[Copies]:
    """Copies and an offset that together with part's make whole's: as written, then as sets.

    Each is right as far as copies go; the forms differ.  Nothing comes when there are none.
    """
    offset = _subtracted(whole.offset, part.offset)
    as_written = _removed(whole.replica, part.replica)
    if as_written is not None:
        yield as_written, offset
    (all_of_it, up), (taken, down) = (merge_copies(tile.replica) for tile in (whole, part))
    left: list[Iter] = []
    for axis in dict.fromkeys(it.axis for it in (*all_of_it, *taken)):
        ours = [it for it in all_of_it if it.axis is axis]
        theirs = [it for it in taken if it.axis is axis]
        rest = _removed(ours, theirs)
        if rest is None:
            rest = _divided(ours, theirs, axis)
        if rest is None:
            return
        left += rest
    moved = _subtracted(up, down)
    yield left, {a: offset.get(a, 0) + moved.get(a, 0) for a in (*offset, *moved)}


def _subtracted(a: Mapping[Axis, Size], b: Mapping[Axis, Size]) -> dict[Axis, Size]:
    return {axis: a.get(axis, 0) - b.get(axis, 0) for axis in dict.fromkeys((*a, *b))}


def _removed(copies: Sequence[Iter], taken: Sequence[Iter]) -> list[Iter] | None:
    """What is left of the copies without those, each taken away once; None if one is not there."""
    left = list(copies)
    for it in taken:
        if it not in left:
            return None
        left.remove(it)
    return left


def _divided(whole: Sequence[Iter], part: Sequence[Iter], axis: Axis) -> list[Iter] | None:
    """Progressions that with part's make whole's set, for numbers; None when none were found."""
    sums, taken = copy_sums(whole, MOST_COPIES), copy_sums(part, MOST_COPIES)
    if sums is None or taken is None:
        return None
    largest = {x for x in sums if all(x + y in sums for y in taken)}
    if frozenset(x + y for x in largest for y in taken) != sums:
        return None
    steps = sorted(largest - {0})
    last = max(sums) - max(taken)
    looked: set[frozenset[int]] = set()

    def search(found: frozenset[int], chosen: list[Iter]) -> list[Iter] | None:
        if len(looked) > MOST_TRIES or found in looked:
            return None
        looked.add(found)
        if max(found) == last and frozenset(x + y for x in found for y in taken) == sums:
            return chosen
        for stride in steps:
            grown = [found]
            while True:
                reach = stride * len(grown)
                more = frozenset(x + reach for x in found)
                if max(more) > last or not more <= largest:
                    break
                grown.append(grown[-1] | more)
            for extent in range(len(grown), 1, -1):
                again = search(grown[extent - 1], [*chosen, Iter(extent, stride, axis)])
                if again is not None:
                    return again
        return None

    return search(frozenset([0]), [])
