"""Random accesses: every claim about them has the verdict that enumeration gives.

5,000 pairs of a layout and an access: tiles and swizzled tiles, elements of 4 to 128 bits, up to 16
bytes a lane, views, free variables, pitches that are Dims, inactive lanes, alignments.  Counts are
asked exactly: the true degree holds, and one less does not.  Each counterexample is played again.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from layout_algebra import Verdict, prove
from layout_algebra.claims import (
    BankConflictFree,
    Claim,
    Coalesced,
    ConflictDegree,
    NoWriteRace,
    Vectorizable,
    Wavefronts,
)
from layout_algebra.memory import served
from layout_algebra.prover.solve import Budget
from tests.memory.draws import Drawn, draw
from tests.memory.replay import replay

CHUNKS, PAIRS = 25, 200
METHODS = ("auto", "auto", "solver", "enumeration", "enumeration", "enumeration")
BANKED = ("free", "degree", "degree", "fewer", "fewer", "waves", "fewer waves")
#: Small, so that "auto" goes on to enumeration soon.
BUDGET = Budget(rlimit=150_000, seconds=2.0)


def asked(rng: random.Random) -> tuple[Drawn, Claim, bool]:
    """An access, a claim about it, and whether it is true."""
    scope, kind = rng.choice(("shared",) * 8 + ("global",)), rng.choice(("read", "write"))
    drawn = draw(rng, scope, kind)
    access, plain = drawn.access, drawn.plain
    what = rng.choice((*BANKED, "vector") if scope == "shared" else ("sectors", "vector"))
    if kind == "write" and rng.random() < 0.15:
        return drawn, NoWriteRace(access), plain.raceless
    match what:
        case "free":
            return drawn, BankConflictFree(access), plain.aligned and plain.degree <= 1
        case "degree":
            return drawn, ConflictDegree(access, max(1, plain.degree)), plain.aligned
        case "fewer":
            least = max(1, plain.degree - 1)
            return drawn, ConflictDegree(access, least), plain.aligned and plain.degree <= least
        case "waves":
            return drawn, Wavefronts(access, max(1, plain.wavefronts)), plain.aligned
        case "fewer waves":
            least = max(1, plain.wavefronts - 1)
            return drawn, Wavefronts(access, least), plain.aligned and plain.wavefronts <= least
        case "sectors":
            fewer = max(1, plain.sectors - rng.randint(0, 1))
            return drawn, Coalesced(access, fewer), plain.aligned and plain.sectors <= fewer
    return drawn, Vectorizable(access), plain.aligned and plain.contiguous


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_claims_have_the_verdicts_of_enumeration(chunk: int):
    seen: Counter[str] = Counter()
    for number in range(PAIRS):
        rng = random.Random(f"access {chunk} {number}")
        drawn, claim, true = asked(rng)
        method = rng.choice(METHODS)
        proof = prove(claim, method=method, budget=BUDGET)  # type: ignore[arg-type]
        told = f"chunk {chunk}, number {number}, method {method}: {proof}\n{drawn.text}"
        seen[f"{method}: {proof.verdict}"] += 1
        if proof.verdict is Verdict.UNDECIDED and method == "solver":
            continue
        assert proof.verdict is (Verdict.PROVED if true else Verdict.REFUTED), told
        seen[str(proof.verdict)] += 1
        if proof.witness is not None:
            assert replay(claim, proof.witness, drawn.plain) == "", told
    assert min(seen["PROVED"], seen["REFUTED"]) > PAIRS // 5, seen
    assert seen["solver: PROVED"] + seen["solver: REFUTED"] > seen["solver: UNDECIDED"], seen


@pytest.mark.parametrize("chunk", range(4))
def test_served_tells_words_and_lanes_as_enumeration(chunk: int):
    for number in range(50):
        drawn = draw(random.Random(f"served {chunk} {number}"), "shared", "read")
        plain = drawn.plain
        for values in list(plain.points())[:3]:
            base = plain.align * number
            service = served(drawn.access, base=base, **values)  # type: ignore[arg-type]
            told = f"chunk {chunk}, number {number}, {values}, base {base}\n{drawn.text}"
            expected = [
                plain.words(values, 8 * base, phase)
                for phase in plain.phases()
                if set(phase) & set(plain.firsts(values))
            ]
            found = [
                {
                    bank: {word: list(lanes) for word, lanes in wanted.items()}
                    for bank, wanted in phase.words.items()
                }
                for phase in service.phases
            ]
            assert found == expected, told
            degrees = plain.degrees(values, 8 * base)
            assert service.degree == max(degrees), told
            assert service.wavefronts == sum(degrees), told
            counts = [len({w for words in one.values() for w in words}) for one in expected]
            assert service.least == sum(-(-count // 32) for count in counts), told
