"""What claims mean, by enumeration, for anything that has elements and places.

`bruteforce` does this for concrete layouts; here it is said once more for maps in general: named
coordinates with ranges, a guard, several places for an element.  Nothing here is imported from the
package either.

An `Extension` gives the places of one element when asked, so that a single element of a huge map
can be looked at; the claims below walk over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from tests import bruteforce as bf
from tests.bruteforce import Box, Place, Plain

Coordinates = tuple[int, ...]


@dataclass(frozen=True)
class Extension:
    """Coordinates (name, lowest, how many), what axes there are, and an element's places.

    `places` gives one place for each copy, repetitions included; None outside the domain.
    """

    coordinates: tuple[tuple[str, int, int], ...]
    axes: frozenset[str]
    copies: int
    places: Callable[[Coordinates], list[Place] | None]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.coordinates)

    @property
    def size(self) -> int:
        """Elements before the guard."""
        return prod(extent for _, _, extent in self.coordinates)

    def elements(self) -> Iterator[Coordinates]:
        """Every element in the domain, row-major."""
        ranges = (range(low, low + extent) for _, low, extent in self.coordinates)
        return (at for at in product(*ranges) if self.places(at) is not None)

    def at(self, flat: int) -> Coordinates:
        digits = bf.digits(flat, [extent for _, _, extent in self.coordinates])
        return tuple(low + d for (_, low, _), d in zip(self.coordinates, digits, strict=True))

    def flat(self, at: Coordinates) -> int:
        index = 0
        for value, (_, low, extent) in zip(at, self.coordinates, strict=True):
            index = index * extent + value - low
        return index

    def contains(self, at: Coordinates) -> bool:
        inside = all(
            low <= value < low + extent
            for value, (_, low, extent) in zip(at, self.coordinates, strict=True)
        )
        return inside and self.places(at) is not None

    def all_places(self) -> set[Place]:
        return {place for at in self.elements() for place in self.places(at) or ()}


def of_plain(plain: Plain) -> Extension:
    """A concrete layout's: its coordinates are the shard's digits c0, c1, ..."""
    extents = [extent for extent, _, _ in plain.shard]

    def places(at: Coordinates) -> list[Place]:
        flat = 0
        for value, extent in zip(at, extents, strict=True):
            flat = flat * extent + value
        return [bf.copy_place(plain, flat, copy) for copy in bf.all_replica_digits(plain)]

    axes = set(bf.axes(plain)) | ({"m"} if plain.swizzle is not None else set())
    coordinates = tuple((f"c{k}", 0, extent) for k, extent in enumerate(extents))
    return Extension(coordinates, frozenset(axes), bf.copies(plain), places)


# ------------------------------------------------------------------------------- claims


def injective(f: Extension) -> bool:
    owner: dict[Place, Coordinates] = {}
    return all(
        owner.setdefault(place, at) == at for at in f.elements() for place in f.places(at) or ()
    )


def replicas_distinct(f: Extension) -> bool:
    return all(len(set(found)) == len(found) for found in map(f.places, f.elements()) if found)


def within_bounds(f: Extension, limits: Box) -> bool:
    return all(inside(place, limits) for place in f.all_places())


def inside(place: Place, limits: Box) -> bool:
    return all(low <= bf.at(place, axis) < high for axis, (low, high) in limits.items())


def covers(f: Extension, box: Box) -> bool:
    return set(bf.box_places(box)) <= f.all_places()


def bijective(f: Extension, box: Box) -> bool:
    everywhere = dict.fromkeys(f.axes, (0, 1)) | dict(box)
    return injective(f) and replicas_distinct(f) and within_bounds(f, everywhere) and covers(f, box)


def empty(f: Extension) -> bool:
    return next(f.elements(), None) is None


def differ(f: Extension, g: Extension, flat: int) -> bool:
    """Whether two maps have different places, or only one a place, for the element at an index."""
    one, two = f.places(f.at(flat)), g.places(g.at(flat))
    if one is None or two is None:
        return one is not two
    return set(one) != set(two)


def equivalent(f: Extension, g: Extension) -> bool:
    return f.size == g.size and not any(differ(f, g, flat) for flat in range(f.size))


def disjoint(f: Extension, g: Extension) -> bool:
    return f.all_places().isdisjoint(g.all_places())


def left_inverse(f: Extension, g: Extension) -> bool:
    return all(comes_back(f, g, at, place) for at in f.elements() for place in f.places(at) or ())


def comes_back(f: Extension, g: Extension, at: Coordinates, place: Place) -> bool:
    """Whether g sends a place of an element back to it.

    The place goes in by the names of the axes, or as the flat index; what comes out are f's
    coordinates by name, or the flat index.
    """
    if set(g.names) == f.axes:
        back = tuple(bf.at(place, name) for name in g.names)
    else:
        number = place[0][1] if place else 0
        if not 0 <= number < g.size:
            return False
        back = g.at(number)
    if not g.contains(back):
        return False
    ((returned),) = g.places(back) or ()
    if g.axes == set(f.names):
        return all(bf.at(returned, name) == at[k] for k, name in enumerate(f.names))
    return (returned[0][1] if returned else 0) == f.flat(at)


def right_inverse(f: Extension, g: Extension) -> bool:
    return left_inverse(g, f)


def inverse(f: Extension, g: Extension) -> bool:
    return left_inverse(f, g) and left_inverse(g, f)


#: The meaning of every claim by its name; the arguments are extensions, then a box if there is one.
MEANING: Mapping[str, Callable[..., bool]] = {
    "Injective": injective,
    "ReplicasDistinct": replicas_distinct,
    "WithinBounds": within_bounds,
    "Covers": covers,
    "Bijective": bijective,
    "Empty": empty,
    "Equivalent": equivalent,
    "Disjoint": disjoint,
    "LeftInverse": left_inverse,
    "RightInverse": right_inverse,
    "Inverse": inverse,
}


# ---------------------------------------------------------------------------- witnesses


def refutes(
    claim: str,
    points: tuple[Mapping[str, int], ...],
    places: tuple[Mapping[str, int], ...],
    subjects: tuple[Extension, ...],
    box: Box | None,
) -> bool:
    """Whether a witness's points and places really contradict a claim, without any enumeration.

    Of Bijective and the two-sided inverses it is tried for each of their parts.
    """
    f, *rest = subjects
    if claim == "Bijective":
        everywhere = dict.fromkeys(f.axes, (0, 1)) | dict(box or {})
        parts = (("Injective", None), ("ReplicasDistinct", None), ("Covers", box))
        return any(
            refutes(part, points, places, subjects, limits)
            for part, limits in (*parts, ("WithinBounds", everywhere))
        )
    if claim in ("Inverse", "RightInverse"):
        back = refutes("LeftInverse", points, places, (rest[0], f), box)
        there = claim == "Inverse" and refutes("LeftInverse", points, places, subjects, box)
        return back or there
    found = [bf.make_place(place) for place in places]
    if claim == "Covers":
        if len(found) != 1:
            return False
        everywhere = dict.fromkeys((axis for axis, _ in found[0]), (0, 1)) | dict(box or {})
        return inside(found[0], everywhere) and found[0] not in f.all_places()
    owners = (f, rest[0]) if rest and claim != "LeftInverse" else (f, f)
    try:
        ats = [
            tuple(point[name] for name in one.names)
            for one, point in zip(owners, points, strict=False)
        ]
    except KeyError:
        return False
    if claim == "Equivalent" and not points:
        return f.size != rest[0].size
    if not ats or not all(one.contains(at) for one, at in zip(owners, ats, strict=False)):
        return claim == "Equivalent" and bool(ats) and differ(f, rest[0], f.flat(ats[0]))
    taken = [set(one.places(at) or ()) for one, at in zip(owners, ats, strict=False)]
    match claim:
        case "Injective":
            return len(ats) == 2 and ats[0] != ats[1] and found[0] in taken[0] & taken[1]
        case "ReplicasDistinct":
            return len(taken[0]) < f.copies and found[0] in taken[0]
        case "WithinBounds":
            return found[0] in taken[0] and not inside(found[0], box or {})
        case "Empty":
            return True
        case "Equivalent":
            return differ(f, rest[0], f.flat(ats[0])) and f.flat(ats[0]) == rest[0].flat(ats[1])
        case "Disjoint":
            return found[0] in taken[0] & taken[1]
        case "LeftInverse":
            return found[0] in taken[0] and not comes_back(f, rest[0], ats[0], found[0])
    raise ValueError(f"no such claim: {claim}")
