"""What layouts and claims mean, by plain enumeration on plain data.

Nothing here is imported from the package: these definitions are what the package is
compared with. They are slow on purpose. Every question is answered by walking over all
elements and all their copies.

A layout sends a flat index to a set of places. The flat index is split, row-major, over the
extents of the shard iters; each digit times its stride moves along its iter's axis. Every
replica iter adds copies, the offset moves everything, and the swizzle, if there is one, acts
on axis ``m`` of the final place.

A place is a tuple of sorted ``(axis, value)`` pairs without the zero values: an axis that
is not mentioned is 0, so ``(("m", 3),)`` and ``{"m": 3, "laneid": 0}`` are one place.

A claim returns ``(True, None)``, or ``(False, witness)`` with the first counterexample met.

    >>> frag = Plain(
    ...     shard=((8, 4, "laneid"), (2, 1, "warpid"), (4, 1, "laneid"), (2, 1, "m")),
    ...     replica=((2, 4, "warpid"),),
    ...     offset={"warpid": 5},
    ... )
    >>> base_place(frag, 1 * 16 + 3)
    (('laneid', 5), ('m', 1), ('warpid', 5))
    >>> sorted(places(frag, 19))
    [(('laneid', 5), ('m', 1), ('warpid', 5)), (('laneid', 5), ('m', 1), ('warpid', 9))]
    >>> base_place(Plain(((8, 64, "m"), (64, 1, "m")), swizzle=(3, 3, 3, True)), 64)
    (('m', 72),)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

Iters = tuple[tuple[int, int, str], ...]
Place = tuple[tuple[str, int], ...]
Box = Mapping[str, tuple[int, int]]  # axis -> (low, high), high not included
Answer = tuple[bool, object]


@dataclass(frozen=True)
class Plain:
    """Iters are (extent, stride, axis); swizzle is (per_element, swizzle_len, atom_len, inner)."""

    shard: Iters = ()
    replica: Iters = ()
    offset: tuple[tuple[str, int], ...] = ()
    swizzle: tuple[int, int, int, bool] | None = None

    def __post_init__(self):
        object.__setattr__(self, "shard", tuple(tuple(it) for it in self.shard))
        object.__setattr__(self, "replica", tuple(tuple(it) for it in self.replica))
        object.__setattr__(self, "offset", tuple(sorted(dict(self.offset).items())))


# ------------------------------------------------------------------------------ meaning


def size(layout: Plain) -> int:
    """The number of logical elements; copies do not count."""
    return prod(extent for extent, _, _ in layout.shard)


def copies(layout: Plain) -> int:
    """How many copies the replica iters enumerate, multiplicity included."""
    return prod(extent for extent, _, _ in layout.replica)


def total_places(layout: Plain) -> int:
    """Elements times copies: how much there is to enumerate."""
    return size(layout) * copies(layout)


def axes(layout: Plain) -> list[str]:
    """Every axis that the layout mentions, sorted."""
    mentioned = {axis for _, _, axis in layout.shard + layout.replica}
    return sorted(mentioned | {axis for axis, _ in layout.offset})


def make_place(values: Mapping[str, int]) -> Place:
    return tuple(sorted((axis, value) for axis, value in values.items() if value != 0))


def at(place: Place, axis: str) -> int:
    return dict(place).get(axis, 0)


def digits(flat: int, extents: list[int]) -> list[int]:
    """Split a flat index row-major over the extents: the last digit moves fastest."""
    result = []
    for extent in reversed(extents):
        flat, digit = divmod(flat, extent)
        result.insert(0, digit)
    return result


def swizzled(m: int, swizzle: tuple[int, int, int, bool] | None) -> int:
    """The XOR on one address; negative addresses work by two's complement."""
    if swizzle is None:
        return m
    per_element, swizzle_len, atom_len, inner = swizzle
    mask = (1 << swizzle_len) - 1
    low = m & ((1 << per_element) - 1)
    x = m >> per_element
    if inner:
        x = x ^ ((x >> atom_len) & mask)
    else:
        x = x ^ ((x & mask) << atom_len)
    return (x << per_element) | low


def copy_place(layout: Plain, flat: int, replica_digits: tuple[int, ...]) -> Place:
    """Where one copy of one element lives: swizzle(base + replica + offset)."""
    if not 0 <= flat < size(layout):
        raise ValueError(f"flat index {flat} is outside [0, {size(layout)})")
    values = dict(layout.offset)
    shard_digits = digits(flat, [extent for extent, _, _ in layout.shard])
    for digit, (_, stride, axis) in zip(shard_digits, layout.shard, strict=True):
        values[axis] = values.get(axis, 0) + digit * stride
    for digit, (_, stride, axis) in zip(replica_digits, layout.replica, strict=True):
        values[axis] = values.get(axis, 0) + digit * stride
    values["m"] = swizzled(values.get("m", 0), layout.swizzle)
    return make_place(values)


def all_replica_digits(layout: Plain) -> Iterator[tuple[int, ...]]:
    return product(*(range(extent) for extent, _, _ in layout.replica))


def base_place(layout: Plain, flat: int) -> Place:
    """Where the first copy of an element lives (all replica digits 0)."""
    return copy_place(layout, flat, (0,) * len(layout.replica))


def places(layout: Plain, flat: int) -> frozenset[Place]:
    """Where all copies of an element live."""
    return frozenset(copy_place(layout, flat, r) for r in all_replica_digits(layout))


def table(layout: Plain) -> list[frozenset[Place]]:
    """The whole map: the set of places of every flat index."""
    return [places(layout, flat) for flat in range(size(layout))]


def all_places(layout: Plain) -> frozenset[Place]:
    return frozenset().union(*table(layout))


# ------------------------------------------------------------------------------- extent


def lowest(layout: Plain, axis: str) -> int:
    return min(at(place, axis) for place in all_places(layout))


def highest(layout: Plain, axis: str) -> int:
    return max(at(place, axis) for place in all_places(layout))


def span(layout: Plain, axis: str) -> int:
    """The size of a buffer that starts at 0, or at the lowest place where that is negative."""
    values = [at(place, axis) for place in all_places(layout)]
    return max(values) - min(0, min(values)) + 1


def width(layout: Plain, axis: str) -> int:
    values = [at(place, axis) for place in all_places(layout)]
    return max(values) - min(values) + 1


def bounding_box(layout: Plain) -> dict[str, tuple[int, int]]:
    """The smallest box, on the axes that the layout mentions, that holds all its places."""
    used = all_places(layout)
    box = {}
    for axis in axes(layout):
        values = [at(place, axis) for place in used]
        box[axis] = (min(values), max(values) + 1)
    return box


def box_places(box: Box) -> Iterator[Place]:
    names = sorted(box)
    for values in product(*(range(*box[name]) for name in names)):
        yield make_place(dict(zip(names, values, strict=True)))


# ------------------------------------------------------------------------------- claims


def injective(layout: Plain) -> Answer:
    """No two different elements share a place. Witness: (element, element, place)."""
    owner = {}
    for flat in range(size(layout)):
        for place in sorted(places(layout, flat)):
            if owner.setdefault(place, flat) != flat:
                return False, (owner[place], flat, place)
    return True, None


def replicas_distinct(layout: Plain) -> Answer:
    """No two copies of one element share a place. Witness: (element, copy, copy, place)."""
    for flat in range(size(layout)):
        seen = {}
        for copy in all_replica_digits(layout):
            place = copy_place(layout, flat, copy)
            if place in seen:
                return False, (flat, seen[place], copy, place)
            seen[place] = copy
    return True, None


def covers(layout: Plain, box: Box) -> Answer:
    """Every place of the box is used; axes not in the box are 0. Witness: an unused place."""
    used = all_places(layout)
    for place in box_places(box):
        if place not in used:
            return False, place
    return True, None


def within_bounds(layout: Plain, limits: Box) -> Answer:
    """Every place is inside the limits; other axes are free. Witness: (element, place)."""
    for flat in range(size(layout)):
        for place in sorted(places(layout, flat)):
            for axis, (low, high) in limits.items():
                if not low <= at(place, axis) < high:
                    return False, (flat, place)
    return True, None


def inside(layout: Plain, box: Box) -> Answer:
    """Every place is a place of the box: axes not in the box are 0. Witness: (element, place)."""
    every_axis = dict.fromkeys(axes(layout), (0, 1)) | dict(box)
    return within_bounds(layout, every_axis)


def bijective(layout: Plain, box: Box) -> Answer:
    """Every place of the box is used by one copy of one element, and no place outside.

    Witness: (name of the condition that fails, its witness).
    """
    conditions = [
        ("injective", injective(layout)),
        ("replicas_distinct", replicas_distinct(layout)),
        ("inside", inside(layout, box)),
        ("covers", covers(layout, box)),
    ]
    for name, (holds, witness) in conditions:
        if not holds:
            return False, (name, witness)
    return True, None


def equivalent(a: Plain, b: Plain) -> Answer:
    """The same map. Witness: ("size", ..) or ("element", flat, places of a, places of b)."""
    if size(a) != size(b):
        return False, ("size", size(a), size(b))
    for flat in range(size(a)):
        if places(a, flat) != places(b, flat):
            return False, ("element", flat, places(a, flat), places(b, flat))
    return True, None


def disjoint(a: Plain, b: Plain) -> Answer:
    """No place is used by both. Witness: (element of a, element of b, place)."""
    owner = {place: flat for flat in range(size(a)) for place in places(a, flat)}
    for flat in range(size(b)):
        for place in sorted(places(b, flat)):
            if place in owner:
                return False, (owner[place], flat, place)
    return True, None


def address(layout: Plain, flat: int) -> int:
    """The one number a layout on axis m alone, without copies, gives to an element."""
    if layout.replica or any(axis != "m" for axis in axes(layout)):
        raise ValueError(f"needs a layout on axis m without replicas, got {layout}")
    return at(base_place(layout, flat), "m")


def left_inverse(f: Plain, g: Plain) -> Answer:
    """g(f(x)) = x for every x of f. Witness: (x, f(x), g(f(x)) or None outside g's domain)."""
    for x in range(size(f)):
        y = address(f, x)
        back = address(g, y) if 0 <= y < size(g) else None
        if back != x:
            return False, (x, y, back)
    return True, None


def right_inverse(f: Plain, g: Plain) -> Answer:
    """f(g(y)) = y for every y of g. Witness: (y, g(y), f(g(y)) or None outside f's domain)."""
    return left_inverse(g, f)


def inverse(f: Plain, g: Plain) -> Answer:
    """Both. Witness: ("left" or "right", its witness)."""
    for side, (holds, witness) in [("left", left_inverse(f, g)), ("right", right_inverse(f, g))]:
        if not holds:
            return False, (side, witness)
    return True, None
