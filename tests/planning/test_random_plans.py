"""Random pairs of layouts: every plan moves every element to all of its places, and only so far."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from layout_algebra.planning import Place, plan
from layout_algebra.verdicts import Verdict
from tests.planning.drawing import drawn_pair, executed, expected_counts, least_reads

KINDS = {"stay": "nothing", "register": "registers", "lane": "lanes", "warp": "warps"}
#: Room without warps, so that most plans are shuffles.
ONE_WARP = {"laneid": 16, "m": 8}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("room", [None, ONE_WARP], ids=["warps", "one warp"])
def test_every_element_arrives(seed, room):
    rng = random.Random(seed)
    for _ in range(60):
        source, target = drawn_pair(rng, room)
        found = plan(source.subject, target.subject)
        held = {place: e for e, places in enumerate(source.where) for place in places}
        wanted = {place: e for e, places in enumerate(target.where) for place in places}
        assert executed(found, held) == wanted
        values = {Place(*place): f"element {e}" for place, e in held.items()}
        assert found.simulate(values) == {place: f"element {e}" for place, e in wanted.items()}
        counts = expected_counts(source, target)
        assert found.counts == counts
        assert found.kind == KINDS[[distance for distance in counts if counts[distance]][-1]]
        for distance, move in found.first.items():
            assert move.target in target.where[move.element]
            assert move.source in source.where[move.element]
            assert move.element == min(m.element for m in found.moves if m.distance == distance)


@pytest.mark.parametrize("seed", range(8))
def test_rounds_are_the_fewest_where_no_register_has_several_readers(seed):
    rng = random.Random(100 + seed)
    seen = Counter()
    for _ in range(60):
        source, target = drawn_pair(rng, ONE_WARP)
        found = plan(source.subject, target.subject)
        assert least_reads(source, target) <= found.at_least <= len(found.rounds)
        assert found.minimal == (len(found.rounds) == found.at_least)
        lanes = [m for m in found.moves if m.distance == "lane"]
        readers = Counter(source for source, _ in {(m.source, m.target.thread) for m in lanes})
        if set(readers.values()) <= {1}:
            assert found.minimal
            sent = Counter(source.lane for source in readers)
            read = Counter(lane for _, lane in {(m.element, m.target.lane) for m in lanes})
            assert len(found.rounds) == max([*sent.values(), *read.values()], default=0)
        seen[found.minimal, len(found.rounds) > 1] += 1
    assert seen[True, True] > 20


@pytest.mark.parametrize("seed", range(4))
def test_the_replay_is_a_proof(seed):
    rng = random.Random(200 + seed)
    for _ in range(15):
        source, target = drawn_pair(rng)
        proof = plan(source.subject, target.subject).prove()
        assert proof.verdict is Verdict.PROVED
        assert proof.method == "enumeration"


@pytest.mark.parametrize("seed", range(4))
def test_traffic_through_shared_memory(seed):
    rng = random.Random(300 + seed)
    seen = 0
    for _ in range(60):
        source, target = drawn_pair(rng)
        found = plan(source.subject, target.subject, element_bits=16)
        if found.kind != "warps":
            assert found.shared is None
            assert found.bytes_written == found.bytes_read == {}
            continue
        seen += 1
        leaving, reads = set(), Counter()
        for e, (here, there) in enumerate(zip(source.where, target.where, strict=True)):
            threads = {place[:2] for place in there} - {place[:2] for place in here}
            reads.update(warp for warp, _ in threads)
            leaving |= {e} if threads else set()
        assert sum(found.bytes_written.values()) == 2 * len(leaving)
        assert {w: n for w, n in found.bytes_read.items() if n} == {
            w: 2 * n for w, n in reads.items()
        }
    assert seen > 10
