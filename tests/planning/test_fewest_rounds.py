"""The fewest rounds of tiny warps by exhaustive search, against what plans say of theirs.

The search knows nothing of plans or colours: a state is which elements each lane has; in a round
every lane offers one element that it has and reads one offer, and lanes may hand on what they got.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import combinations, product

import pytest

from layout_algebra.planning import plan
from layout_algebra.planning.rounds import _most_common, fewest, schedule
from layout_algebra.planning.senders import least_loaded
from tests.planning.drawing import drawn_pair

TINY = {"laneid": 4, "m": 3}
State = tuple[frozenset[int], ...]


def shortest(start: State, wanted: State) -> int:
    """Rounds until every lane has what it wants, breadth first."""
    level, count, seen = {start}, 0, {start}
    while not any(all(w <= h for h, w in zip(state, wanted, strict=True)) for state in level):
        level = {after for state in level for after in afterwards(state)} - seen
        seen |= level
        count += 1
    return count


def afterwards(state: State) -> set[State]:
    """Every state that one round makes; reading nothing new is never better and left out."""
    found = set()
    for offers in product(*(sorted(held) or [None] for held in state)):
        choices = []
        for held in state:
            new = sorted({offer for offer in offers if offer is not None} - held)
            choices.append(new or [None])
        for reads in product(*choices):
            found.add(
                tuple(
                    held if read is None else held | {read}
                    for held, read in zip(state, reads, strict=True)
                )
            )
    return found


def states(source, target, lanes=4) -> tuple[State, State]:
    start = [set() for _ in range(lanes)]
    wanted = [set() for _ in range(lanes)]
    for e, (here, there) in enumerate(zip(source.where, target.where, strict=True)):
        for sets, places in ((start, here), (wanted, there)):
            for _, lane, _ in places:
                sets[lane].add(e)
    return tuple(map(frozenset, start)), tuple(map(frozenset, wanted))


@pytest.mark.parametrize("seed", range(3))
def test_what_plans_say_of_their_rounds(seed):
    rng = random.Random(seed)
    seen = Counter()
    for _ in range(60):
        source, target = drawn_pair(rng, TINY)
        if len(source.where) > 6:
            continue
        found = plan(source.subject, target.subject)
        true = shortest(*states(source, target))
        assert found.at_least <= true <= len(found.rounds)
        if found.minimal:
            assert len(found.rounds) == true
        seen[len(found.rounds)] += 1
    assert sum(count for rounds, count in seen.items() if rounds >= 2) >= 5


def drawn_sends(rng: random.Random, lanes: int, registers: int, most: int):
    """Random sends: each register of each lane has up to so many readers."""
    sends = {}
    for offer in product(range(lanes), range(registers)):
        readers = rng.sample([x for x in range(lanes) if x != offer[0]], rng.randint(0, most))
        if readers:
            sends[offer] = set(readers)
    return sends


def check_rounds(sends, rounds):
    """Every send happens, in rounds in which lanes offer one register each."""
    got = defaultdict(set)
    for reads in rounds:
        offered = {}
        for reader, (lane, register) in reads.items():
            assert offered.setdefault(lane, register) == register
            assert reader not in got[lane, register]
            got[lane, register].add(reader)
    assert {offer: readers for offer, readers in got.items() if readers} == sends


@pytest.mark.parametrize("seed", range(3))
def test_tiny_schedules_against_the_search(seed):
    rng = random.Random(seed)
    seen = Counter()
    for _ in range(25):
        sends = drawn_sends(rng, 3, rng.randint(1, 2), 2)
        rounds = schedule(sends)
        check_rounds(sends, rounds)
        names = {offer: number for number, offer in enumerate(sends)}
        start = [frozenset(names[o] for o in sends if o[0] == lane) for lane in range(3)]
        wanted = [frozenset(names[o] for o in sends if lane in sends[o]) for lane in range(3)]
        true = shortest(tuple(start), tuple(wanted))
        assert fewest(sends) <= true <= len(rounds)
        seen[len(rounds) - true] += 1
    assert seen[0] >= 20  # the search is exact; schedules of several readers are nearly so


@pytest.mark.parametrize("seed", range(20))
def test_one_reader_each_needs_as_many_rounds_as_the_busiest_lane(seed):
    rng = random.Random(seed)
    lanes = rng.choice((2, 5, 32))
    sends = drawn_sends(rng, lanes, rng.randint(1, 12), 1)
    rounds = schedule(sends)
    check_rounds(sends, rounds)
    sent = Counter(lane for lane, _ in sends)
    read = Counter(reader for readers in sends.values() for reader in readers)
    assert len(rounds) == max([*sent.values(), *read.values()], default=0) == fewest(sends)


@pytest.mark.parametrize("seed", range(20))
def test_several_readers(seed):
    rng = random.Random(seed)
    lanes = rng.choice((3, 8, 32))
    sends = drawn_sends(rng, lanes, rng.randint(1, 8), rng.randint(2, lanes - 1))
    rounds = schedule(sends)
    check_rounds(sends, rounds)
    reads = Counter(reader for readers in sends.values() for reader in readers)
    apart = Counter(lane for lane, _ in sends for _ in sends[lane, _])
    assert fewest(sends) <= len(rounds) <= max([*reads.values(), *apart.values()], default=0)


def test_a_broadcast_is_one_round_for_each_register():
    sends = {(0, register): set(range(1, 32)) for register in range(8)}
    rounds = schedule(sends)
    check_rounds(sends, rounds)
    assert len(rounds) == 8


@pytest.mark.parametrize("seed", range(5))
def test_senders_have_the_least_largest_load(seed):
    rng = random.Random(seed)
    for _ in range(60):
        lanes = range(rng.randint(1, 4))
        some = [one for k in range(1, 4) for one in combinations(lanes, k)]
        items = [rng.choice(some) for _ in range(rng.randint(1, 6))]
        chosen = least_loaded(items)
        assert all(one in item for one, item in zip(chosen, items, strict=True))
        best = min(max(Counter(choice).values()) for choice in product(*items))
        assert max(Counter(chosen).values()) == best


def test_the_place_that_most_masks_have():
    rng = random.Random(0)
    for _ in range(300):
        among = rng.getrandbits(9)
        masks = [rng.getrandbits(9) for _ in range(rng.randint(0, 9))]
        counts = {
            place: sum(mask >> place & 1 for mask in masks)
            for place in range(9)
            if among >> place & 1
        }
        most = max(counts.values(), default=0)
        wanted = min((p for p, count in counts.items() if count == most), default=None)
        assert _most_common(among, masks) == (wanted if most else None)
