"""extract: the layout of a finite map, or the proof that there is none.

The last stride is f(1) - f(0); the last extent is the first x at which f leaves that line; then the
same for the map of blocks.  Normal forms are unique, so what this finds is the only candidate, and
what it does not find does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from layout_algebra.axes import Axis, m
from layout_algebra.values import Iter, Tile


def extract(f: Callable[[int], Mapping[Axis, int]], size: int) -> Tile | None:
    """The normal tile without copies that equals f on 0..size-1; None when there is none.

    Looks at every element.
    """
    places = [{a: v for a, v in f(x).items() if v} for x in range(size)]
    start = dict(places[0])
    iters: list[Iter] = []
    while len(places) > 1:
        step = _difference(places[1], places[0])
        if len(step) > 1:
            return None
        extent = 2
        while extent < len(places) and _difference(places[extent], places[extent - 1]) == step:
            extent += 1
        if len(places) % extent:
            return None
        for first in range(0, len(places), extent):
            for x in range(first + 1, first + extent):
                if _difference(places[x], places[x - 1]) != step:
                    return None
        axis, stride = next(iter(step.items()), (m, 0))
        iters.append(Iter(extent, stride, axis))
        places = places[::extent]
    return Tile.make(reversed(iters), (), start)


def _difference(a: Mapping[Axis, int], b: Mapping[Axis, int]) -> dict[Axis, int]:
    found = {axis: a.get(axis, 0) - b.get(axis, 0) for axis in (*a, *b)}
    return {axis: value for axis, value in found.items() if value}
