"""Random problems against brute force: every candidate's number, the winner, and minimality."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest

from layout_algebra import prove
from layout_algebra.axes import m
from layout_algebra.claims import ConflictDegree
from layout_algebra.layouts import TileLayout
from layout_algebra.memory import Buffer, banks
from layout_algebra.synthesis import (
    F2,
    PADDING,
    TMA_MODES,
    XOR,
    SynthesisError,
    find_swizzle,
    pattern,
    rank,
)
from layout_algebra.synthesis.counting import addresses, footprint_of
from layout_algebra.synthesis.families import row_major
from layout_algebra.verdicts import Verdict
from tests.synthesis.plain import PlainAccess, swizzles, wavefronts, xored
from tests.synthesis.problems import Problem, random_problem, small_target

CHUNKS = 10


def _total(problem: Problem, places: list[int], align: int | None = None) -> int | None:
    own = problem.buffer.align if align is None else align
    found = [
        wavefronts(places, one.plain, problem.buffer.bits, own, problem.plain_target)
        for one in problem.accesses
    ]
    return None if None in found else sum(found)  # type: ignore[arg-type]


def _members(problem: Problem, kind: str) -> dict[str, int | None]:
    """Name -> wavefronts of every member of a class, by brute force."""
    found = {"none": _total(problem, problem.places)}
    bits = problem.buffer.bits
    if kind == "XOR":
        found |= {name: _total(problem, moved) for name, moved in swizzles(problem.places)}
    elif kind == "TMA_MODES" and 128 % bits == 0:
        chunk = int(math.log2(128 // bits))
        for mode, length in (("32B", 1), ("64B", 2), ("128B", 3)):
            moved = [xored(place, chunk, length, 3) for place in problem.places]
            if min(moved) >= min(problem.places) and max(moved) <= max(problem.places):
                found[mode] = _total(problem, moved, max(problem.buffer.align, 128 << length))
    elif kind == "PADDING":
        found |= _padded(problem)
    return found


def _padded(problem: Problem) -> dict[str, int | None]:
    columns = problem.buffer.shape[1]
    places, bits = problem.places, problem.buffer.bits
    by_column = places[1] - places[0] != 1
    pitch = places[1] - places[0] if by_column else places[columns] - places[0]
    row_bits = 8 * problem.plain_target.banks * problem.plain_target.bank_bytes
    found = {}
    for k in itertools.count(1):
        if k * bits % row_bits == 0:
            return found
        moved = [
            place + k * (index % columns if by_column else index // columns)
            for index, place in enumerate(places)
        ]
        found[f"pitch {pitch} + {k}"] = _total(problem, moved)
    raise AssertionError


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_candidate_is_counted_right(chunk: int) -> None:
    """200 problems; the table of each class, name by name."""
    chance = random.Random(100 + chunk)
    for _ in range(200 // CHUNKS):
        problem = random_problem(chance)
        kind = chance.choice(["XOR", "XOR", "PADDING", "TMA_MODES"])
        family = {"XOR": XOR, "PADDING": PADDING, "TMA_MODES": TMA_MODES}[kind]
        about = {"among": family, "target": problem.target}
        table = rank(problem.buffer, reads=problem.reads, writes=problem.writes, **about)
        wanted = _members(problem, kind)
        assert {one.name: one.wavefronts for one in table} == wanted, problem
        _check_winner(problem, about, wanted)


def _check_winner(problem: Problem, about: dict, wanted: dict[str, int | None]) -> None:
    usable = [total for total in wanted.values() if total is not None]
    if not usable:
        with pytest.raises(SynthesisError, match="serves every access"):
            find_swizzle(problem.buffer, reads=problem.reads, writes=problem.writes, **about)
        return
    found = find_swizzle(problem.buffer, reads=problem.reads, writes=problem.writes, **about)
    assert found.wavefronts == min(usable)
    assert found.least <= found.wavefronts
    assert found.minimal.verdict is Verdict.PROVED
    assert found.proved, found
    for proof in found.proofs:  # the degree is no larger than it has to be
        if isinstance(proof.claim, ConflictDegree):
            below = replace(proof.claim, at_most=proof.claim.at_most - 1)
            assert prove(below, method="enumeration").verdict is Verdict.REFUTED
    # the layout itself, and not only its number
    places = found.layout.map(problem.buffer.shape).table()["m"].reshape(-1).tolist()
    assert _total(problem, places, found.buffer.align) == found.wavefronts


def test_no_layout_is_below_the_least() -> None:
    """The bound that minimality rests on, against every way to place six elements in seven."""
    chance = random.Random(5)
    target, plain_target = small_target(2, 1, 4)
    tile = Buffer((6,), "8", TileLayout.make([(6, 1, m)]), align=1)
    reached = 0
    for _ in range(12):
        chosen = [[chance.randrange(6) for _ in range(4)] for _ in range(2)]
        accesses = [PlainAccess([{lane: [row[lane]] for lane in range(4)}], 8) for row in chosen]
        best = min(
            sum(wavefronts(places, one, 8, 1, plain_target) or 0 for one in accesses)
            for places in itertools.permutations(range(7), 6)
        )
        patterns = [pattern(_listed(row), lanes=4) for row in chosen]
        try:
            found = find_swizzle(tile, reads=patterns, among=XOR, target=target)
        except SynthesisError as error:
            raise AssertionError(chosen) from error
        assert found.least <= best <= found.wavefronts
        if found.minimal.method == "bound":
            assert found.wavefronts == best
            reached += 1
    assert 2 < reached < 12


def _listed(row: list[int]):
    """lane -> row[lane], as arithmetic that can be traced: its base-8 digits."""
    code = sum(number << (3 * lane) for lane, number in enumerate(row))
    return lambda lane: _low_three(code, lane)


def _low_three(code: int, lane):
    """Digit `lane` of the code: bits are picked by the lane's two bits."""
    digits = [code >> (3 * k) & 7 for k in range(4)]
    low, high = lane % 2, lane // 2
    a, b, c, d = digits
    return (a + low * (b - a) + high * (c - a) + low * high * (a - b - c + d)) % 6


def test_counting_is_the_plain_meaning_of_banks() -> None:
    """Against memory/banks.py, which the claims are held to, moment by moment."""
    chance = random.Random(77)
    looked = 0
    for _ in range(60):
        problem = random_problem(chance)
        for one in problem.in_order:
            access = one.pattern.on(problem.buffer, one.kind)
            footprint = footprint_of(
                one.pattern.on(row_major(problem.buffer), one.kind), problem.target
            )
            places = problem.buffer.layout.map(problem.buffer.shape).table()["m"].reshape(-1)
            count = footprint.count(places, problem.buffer.align)
            if count.reason:
                continue
            looked += 1
            served = [
                [banks.service_at(access, problem.target, base, at) for at in banks.points(access)]
                for base in banks.base_bits(access, problem.target)
            ]
            worst = [max(s.wavefronts for s in at) for at in zip(*served, strict=True)]
            assert count.wavefronts == sum(worst)
            assert count.degree == max(s.degree for per_base in served for s in per_base)
            assert addresses(access)[0].shape[0] == len(worst)
    assert looked > 30


def test_what_the_search_among_bits_says_is_so() -> None:
    """Its layout by brute force; never worse than the best XOR; minimal only at the bound."""
    chance = random.Random(31)
    searched = 0
    while searched < 12:
        problem = random_problem(chance)
        size, bits = len(problem.places), problem.buffer.bits
        if size & (size - 1) or bits & (bits - 1) or sorted(problem.places) != list(range(size)):
            continue
        members = [total for total in _members(problem, "XOR").values() if total is not None]
        about = {"among": F2, "target": problem.target}
        if problem.buffer.align * 8 < max(one.plain.bits for one in problem.accesses):
            continue
        found = find_swizzle(problem.buffer, reads=problem.reads, writes=problem.writes, **about)
        if members and min(members) == found.least:
            continue  # the search is not needed
        searched += 1
        places = found.layout.map(problem.buffer.shape).table()["m"].reshape(-1).tolist()
        assert sorted(places) == list(range(size))
        assert _total(problem, places) == found.wavefronts
        assert not members or found.wavefronts <= min(members)
        proven = found.minimal.verdict is Verdict.PROVED
        assert proven == (found.wavefronts == found.least)
        powers = [1 << k for k in range(size.bit_length() - 1)]
        assert all(places[a ^ b] == places[a] ^ places[b] for a in range(size) for b in powers)
