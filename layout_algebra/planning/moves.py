"""Which copy each place of the target is filled from, and how far that is.

    choose(places_of(source, "source"), places_of(target, "target"))

The nearest copy is taken: the place itself, else a register of the same thread, else of a lane of
the same warp, else of any warp.  Where several lanes could send an element, the sends are given out
so that the busiest lane has the fewest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from layout_algebra.planning.places import Place, Residence
from layout_algebra.planning.senders import least_loaded

#: How far a place of the target is from the nearest copy of its element.
Distance = Literal["stay", "register", "lane", "warp"]
DISTANCES: tuple[Distance, ...] = ("stay", "register", "lane", "warp")


class Move(NamedTuple):
    """One place of the target, and where it is filled from.

    `distance` is to the nearest copy in the source.  `source` is that copy, except through shared
    memory, where one copy is written for all who read the element.
    """

    element: int
    distance: Distance
    source: Place
    target: Place


def choose(source: Residence, target: Residence) -> tuple[Move, ...]:
    """A move for each place of the target, in the order of elements and places.

    Args:
        source, target: where the elements are, and where they have to be.
    """
    near: dict[tuple[int, Place], Distance] = {
        (element, place): _distance(source.of[element], place)
        for element, places in enumerate(target.of)
        for place in places
    }
    far = [key for key, distance in near.items() if distance in ("lane", "warp")]
    if any(near[key] == "warp" for key in far):
        sender = _senders(source, far, by_warp=False)
    else:
        sender = _senders(source, far, by_warp=True)
    return tuple(
        Move(
            element, distance, _source(source.of[element], distance, place, sender, element), place
        )
        for (element, place), distance in near.items()
    )


def _distance(copies: Sequence[Place], place: Place) -> Distance:
    if place in copies:
        return "stay"
    if any(copy.thread == place.thread for copy in copies):
        return "register"
    return "lane" if any(copy.warp == place.warp for copy in copies) else "warp"


def _source(
    copies: Sequence[Place],
    distance: Distance,
    place: Place,
    sender: Mapping[tuple[int, int | None], Place],
    element: int,
) -> Place:
    if distance == "stay":
        return place
    if distance == "register":
        return next(copy for copy in copies if copy.thread == place.thread)
    if (element, None) in sender:
        return sender[element, None]
    return sender[element, place.warp]


def _senders(
    source: Residence, far: Iterable[tuple[int, Place]], by_warp: bool
) -> dict[tuple[int, int | None], Place]:
    """(element, warp that needs it) -> the copy that is sent there; warp None: anywhere.

    Within warps each warp's lanes share its sends; through memory the warps share all writes, and
    the lanes of each warp its own.
    """
    needed = list(dict.fromkeys((e, place.warp if by_warp else None) for e, place in far))
    copies = {
        key: [copy for copy in source.of[key[0]] if key[1] is None or copy.warp == key[1]]
        for key in needed
    }
    if not by_warp:
        warps = least_loaded([_values(copy.warp for copy in copies[key]) for key in needed])
        for key, warp in zip(needed, warps, strict=True):
            copies[key] = [copy for copy in copies[key] if copy.warp == warp]
    groups: dict[int, list[tuple[int, int | None]]] = {}
    for key in needed:
        groups.setdefault(copies[key][0].warp, []).append(key)
    found: dict[tuple[int, int | None], Place] = {}
    for keys in groups.values():
        lanes = least_loaded([_values(copy.lane for copy in copies[key]) for key in keys])
        for key, lane in zip(keys, lanes, strict=True):
            found[key] = next(copy for copy in copies[key] if copy.lane == lane)
    return found


def _values(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(numbers)))
