"""Random pairs of distributed layouts, and what plans between them have to do, by enumeration.

Nothing of the planning is used here: places come from the judge (tests/bruteforce.py) or from the
formulas that a pair was made of, and thread numbers from the definition of the axes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import gcd

from layout_algebra.maps import Map
from layout_algebra.planning import Plan
from tests import bruteforce as bf
from tests.bruteforce import Plain
from tests.building import built

#: A warp, a lane, a register.
Where = tuple[int, int, int]
MOST = {"laneid": 8, "warpid": 4, "m": 8}
#: Threads in one place on each axis (PTX ISA: 32 lanes to a warp, 4 warps to a warpgroup).
THREADS = {"tx": 1, "laneid": 1, "tid_in_wg": 1, "warpid": 32, "wid_in_wg": 32, "wgid": 128}
#: Other spellings of warpid and laneid, with what a place of each is in the other axes.
SPELLINGS = (
    {},
    {"laneid": ("tx", 1), "warpid": ("tx", 32)},
    {"laneid": ("tid_in_wg", 1), "warpid": ("tid_in_wg", 32)},
    {"warpid": ("wid_in_wg", 1)},
)


@dataclass(frozen=True)
class Drawn:
    """A layout or Map, and where each element is."""

    subject: object
    where: tuple[frozenset[Where], ...]


def where_of(plain: Plain) -> tuple[frozenset[Where], ...]:
    """The warp, lane and register of every copy of every element."""
    return tuple(
        frozenset(_at(dict(place)) for place in bf.places(plain, flat))
        for flat in range(bf.size(plain))
    )


def _at(place: dict[str, int]) -> Where:
    thread = sum(value * THREADS[axis] for axis, value in place.items() if axis != "m")
    return (*divmod(thread, 32), place.get("m", 0))


def drawn_pair(rng: random.Random, most: dict[str, int] | None = None) -> tuple[Drawn, Drawn]:
    """A source and a target of one size; either may have copies, a swizzle, or be a formula."""
    room = dict(MOST) if most is None else most
    while True:
        factors = [rng.choice((2, 2, 2, 3, 4)) for _ in range(rng.randint(0, 5))]
        sides = [_drawn(rng, factors, room) for _ in range(2)]
        if sides[0] is not None and sides[1] is not None:
            return sides[0], sides[1]


def _drawn(rng: random.Random, factors: list[int], room: dict[str, int]) -> Drawn | None:
    axes = [axis for axis in room if rng.random() < 0.8] or list(room)
    left = dict(room)
    shard: list[tuple[int, str]] = []
    for factor in rng.sample(factors, len(factors)):
        fits = [axis for axis in axes if left[axis] >= factor]
        if not fits:
            return None
        axis = rng.choice(fits)
        left[axis] //= factor
        shard.append((factor, axis))
    copies = [(2, axis) for axis in axes if left[axis] >= 2 and rng.random() < 0.2]
    plain = _placed(rng, shard, copies, left)
    if rng.random() < 0.2 and not any(axis == "m" for axis, _ in plain.offset):
        plain = Plain(plain.shard, plain.replica, plain.offset, rng.choice(SWIZZLES))
    where = where_of(plain)
    if rng.random() < 0.3:
        return _scattered(rng, plain, where)
    return Drawn(built(plain), where)


#: Swizzles that keep eight registers eight registers.
SWIZZLES = ((0, 1, 1, True), (0, 1, 2, True), (1, 1, 1, True), (0, 1, 1, False))


def _placed(
    rng: random.Random,
    shard: list[tuple[int, str]],
    copies: list[tuple[int, str]],
    left: dict[str, int],
) -> Plain:
    """Strides that keep places apart, on axes under one of their spellings."""
    iters = [*shard, *copies]
    strides: dict[int, int] = {}
    reach = dict.fromkeys(left, 1)
    for k in rng.sample(range(len(iters)), len(iters)):
        extent, axis = iters[k]
        strides[k], reach[axis] = reach[axis], reach[axis] * extent
    offset = {axis: 1 for axis in left if left[axis] >= 2 and not copies and rng.random() < 0.2}
    triples = [(extent, strides[k], axis) for k, (extent, axis) in enumerate(iters)]
    spelling = rng.choice(SPELLINGS)

    def spelled(extent: int, stride: int, axis: str) -> tuple[int, int, str]:
        onto, factor = spelling.get(axis, (axis, 1))
        return (extent, stride * factor, onto)

    moved: dict[str, int] = {}
    for axis, value in offset.items():
        onto, factor = spelling.get(axis, (axis, 1))
        moved[onto] = moved.get(onto, 0) + value * factor
    triples = [spelled(*one) for one in triples]
    cut = len(shard)
    return Plain(tuple(triples[:cut]), tuple(triples[cut:]), moved)


def _scattered(rng: random.Random, plain: Plain, where: tuple[frozenset[Where], ...]) -> Drawn:
    """The elements in another order, as a Map with a formula: x becomes (a*x + b) mod n."""
    n = len(where)
    a = rng.choice([a for a in range(1, n + 1) if gcd(a, n) == 1])
    b = rng.randrange(n)
    layout = built(plain).map((n,))
    order = Map.of(lambda i: (a * i + b) % n, (n,))
    return Drawn(layout.after(order), tuple(where[(a * x + b) % n] for x in range(n)))


# -- what a plan has to do ---------------------------------------------------------------------
def expected_counts(source: Drawn, target: Drawn) -> dict[str, int]:
    """How far every place of the target is from the nearest copy."""
    counts = {"stay": 0, "register": 0, "lane": 0, "warp": 0}
    for here, there in zip(source.where, target.where, strict=True):
        for warp, lane, register in there:
            if (warp, lane, register) in here:
                counts["stay"] += 1
            elif any(one[:2] == (warp, lane) for one in here):
                counts["register"] += 1
            elif any(one[0] == warp for one in here):
                counts["lane"] += 1
            else:
                counts["warp"] += 1
    return counts


def executed(plan: Plan, held: dict[Where, object]) -> dict[Where, object]:
    """What the registers of the target hold when threads do what the plan's parts say.

    Checks as it goes that a lane offers and reads one register a round, that renames stay in their
    thread, and that nothing is written twice.
    """
    result: dict[Where, object] = {}

    def write(place: Where, value: object) -> None:
        assert tuple(place) not in result
        result[tuple(place)] = value

    for one, two in plan.movement.local:
        assert one[:2] == two[:2]
        write(two, held[one])
    for shuffle in plan.rounds:
        for warp in range(32):
            offered: dict[int, int] = {}
            for lane, read in shuffle.reads(warp).items():
                assert lane == read.lane
                assert 0 <= lane < 32
                assert 0 <= read.source_lane < 32
                register = offered.setdefault(read.source_lane, read.source_register)
                assert register == read.source_register
                for target in read.registers:
                    write((warp, lane, target), held[warp, read.source_lane, register])
    if plan.shared is not None:
        memory = {slot: held[place] for place, slot in plan.shared.writes}
        assert len(memory) == len(plan.shared.writes)
        for slot, places in plan.shared.reads:
            for place in places:
                write(place, memory[slot])
    return result


def least_reads(source: Drawn, target: Drawn) -> int:
    """The most elements that one lane has to get from other lanes."""
    missing: dict[tuple[int, int], set[int]] = {}
    for element, (here, there) in enumerate(zip(source.where, target.where, strict=True)):
        for warp, lane, _ in there:
            if all(one[:2] != (warp, lane) for one in here):
                missing.setdefault((warp, lane), set()).add(element)
    return max(map(len, missing.values()), default=0)
