"""What linear layouts and conversions mean, by enumeration on plain data.

Nothing here is imported from the package, as in ``tests.bruteforce``, whose `Plain` layouts are
used.  A linear layout is a dict from input names to lists of bases, and one from output names to
sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from tests import bruteforce as bf
from tests.bruteforce import Plain

Bases = Mapping[str, Sequence[Sequence[int]]]
Place = tuple[int, ...]


def element_at(bases: Bases, out_dims: Mapping[str, int], place: Mapping[str, int]) -> Place:
    """The XOR of the bases of the bits that are set."""
    found = [0] * len(out_dims)
    for name, vectors in bases.items():
        for k, vector in enumerate(vectors):
            if place[name] >> k & 1:
                found = [a ^ b for a, b in zip(found, vector, strict=True)]
    return tuple(found)


def every_place(bases: Bases) -> Iterator[dict[str, int]]:
    ranges = [range(1 << len(vectors)) for vectors in bases.values()]
    for values in itertools.product(*ranges):
        yield dict(zip(bases, values, strict=True))


def coordinates(flat: int, shape: Sequence[int]) -> Place:
    return tuple(bf.digits(flat, list(shape)))


def held(layout: Plain, axes: Sequence[str]) -> dict[Place, set[int]]:
    """Which elements each place holds; a place is its numbers on these axes."""
    found: dict[Place, set[int]] = {}
    for flat in range(bf.size(layout)):
        for place in bf.places(layout, flat):
            key = tuple(bf.at(place, axis) for axis in axes)
            found.setdefault(key, set()).add(flat)
    return found


def linear_bases(
    layout: Plain, shape: Sequence[int], axes: Sequence[str]
) -> list[list[Place]] | None:
    """The bases on each axis when the layout is linear over F2, by its definition; else None."""
    places = held(layout, axes)
    sizes = [max(place[k] for place in places) + 1 for k in range(len(axes))]
    if any(size & (size - 1) for size in (*sizes, *shape)):
        return None
    whole = itertools.product(*(range(size) for size in sizes))
    if set(whole) != set(places) or any(len(elements) > 1 for elements in places.values()):
        return None
    element = {place: next(iter(elements)) for place, elements in places.items()}
    bits = [(k, 1 << n) for k, size in enumerate(sizes) for n in range(size.bit_length() - 1)]

    def unit(axis: int, number: int) -> Place:
        return tuple(number if k == axis else 0 for k in range(len(axes)))

    for place, flat in element.items():
        total = 0
        for axis, number in bits:
            total ^= element[unit(axis, number)] if place[axis] & number else 0
        if total != flat:
            return None
    return [
        [coordinates(element[unit(axis, n)], shape) for k, n in bits if k == axis]
        for axis in range(len(axes))
    ]


def is_tile(places: Sequence[Place]) -> bool:
    """Whether places by flat index (2**n of them) are those of a tile without copies.

    Every tile of 2**n elements is one of n iters of extent 2, each along one axis.
    """
    origin = places[0]
    steps = []
    k = 1
    while k < len(places):
        steps.append(tuple(a - b for a, b in zip(places[k], origin, strict=True)))
        k *= 2
    if any(sum(1 for number in step if number) > 1 for step in steps):
        return False
    for flat, place in enumerate(places):
        total = list(origin)
        for bit, step in enumerate(steps):
            if flat >> bit & 1:
                total = [a + b for a, b in zip(total, step, strict=True)]
        if tuple(total) != place:
            return False
    return True


def is_tile_of_sets(places: Sequence[set[Place]]) -> bool:
    """Whether sets of places by flat index (2**n of them) are one set, moved as a tile moves it."""
    corners = [tuple(min(numbers) for numbers in zip(*one, strict=True)) for one in places]
    origin = places[0]
    for one, corner in zip(places, corners, strict=True):
        steps = tuple(a - b for a, b in zip(corner, corners[0], strict=True))
        if one != {tuple(a + b for a, b in zip(place, steps, strict=True)) for place in origin}:
            return False
    return is_tile(corners)


def swizzles(bits: int) -> Iterator[tuple[int, int, int, bool]]:
    """Every swizzle with distance at least its width that has a field below 2**bits."""
    for low in range(bits):
        for width in range(1, bits + 1):
            for distance in range(width, bits + 1):
                yield from ((low, width, distance, True), (low, width, distance, False))


def units(layout: Plain, ratio: int, axis: str = "m") -> list[frozenset[bf.Place]]:
    """Where each of `ratio` units of every element is, in order, copies together."""
    return [
        frozenset(
            bf.make_place({**dict(place), axis: bf.at(place, axis) * ratio + part})
            for place in bf.places(layout, flat)
        )
        for flat in range(bf.size(layout))
        for part in range(ratio)
    ]
