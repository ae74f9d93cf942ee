"""Exhaustive checks of the claims about banks: every value of the free variables, every base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from layout_algebra.claims.banks import BankClaim, BankConflictFree, ConflictDegree, Wavefronts
from layout_algebra.device.element_texts import Text
from layout_algebra.device.loops import compiled_loop
from layout_algebra.device.pair_texts import places_texts
from layout_algebra.device.results import Cost, Dims, Task, point_of, replayed
from layout_algebra.device.runner import WORDS, Compiled, Runner
from layout_algebra.maps import Map
from layout_algebra.memory import banks
from layout_algebra.memory.accesses import Access
from layout_algebra.terms import var
from layout_algebra.verdicts import Witness


class Rules(NamedTuple):
    """What the loop has to know of a memory and an access, as numbers.

    Too long: some bank gives more than `most` words in one phase; `summed`: the phases' degrees
    have a larger sum.
    """

    lanes: int
    bits: int
    aligned: int
    word_bits: int
    banks: int
    most: int
    summed: bool


def degree(claim: BankConflictFree | ConflictDegree, dims: Dims, memory: int) -> Task:
    most = claim.at_most if isinstance(claim, ConflictDegree) else 1
    return _task(claim, dims, most, summed=False)


def wavefronts(claim: Wavefronts, dims: Dims, memory: int) -> Task:
    return _task(claim, dims, claim.at_most, summed=True)


def _task(claim: BankClaim, dims: Dims, most: int, *, summed: bool) -> Task:
    access, target = claim.access, claim.target
    text = _text(access)
    bases = np.array(banks.base_bits(access, target), dtype=np.int64)
    bits = access.bits
    rules = Rules(
        lanes=access.lanes,
        bits=bits,
        aligned=bits if bits % 8 == 0 and bits & (bits - 1) == 0 else 1,
        word_bits=8 * target.bank_bytes,
        banks=target.banks,
        most=most,
        summed=summed,
    )
    lanes, ends = _phases(target.phases(access.kind, bits), access.lanes)
    count = banks.count_points(access)

    def run(runner: Runner) -> Witness | None:
        at = runner.function(text.text, text.name)
        loop = _crowding(at, text.width)
        found = runner.least(loop, count, lanes, ends, bases, rules)
        if found is None:
            return None
        number, base = divmod(found, len(bases))
        free = Map(access.variables, ())
        point = point_of(free, number, dims)
        step = int(bases[base]) // (8 * access.align)
        values = {**point, var("base", step, step): step}
        return replayed(claim.witness(values, dims), claim, f"point {number}")

    return Task(Cost(count * access.lanes * len(bases), 0, "every access"), run)


def _crowding(at: Compiled, width: int) -> Compiled:
    """The first (point, base) at which an access is not aligned, or takes too long.

    `at(point * lanes + lane)` gives the lane's first bit, and 1 where it is active.
    """
    word = WORDS[width]

    def phase(firsts, lanes, base, rules, wanted, used):  # type: ignore[no-untyped-def]
        used[:] = 0
        for lane in lanes:
            if firsts[lane] >= 0:
                first = firsts[lane] + base
                if first % rules.aligned:
                    return -1
                last = first + rules.bits - 1
                for unit in range(first // rules.word_bits, last // rules.word_bits + 1):
                    bank = unit % rules.banks
                    new = True
                    for other in range(used[bank]):
                        new = new and wanted[bank, other] != unit
                    if new:
                        wanted[bank, used[bank]] = unit
                        used[bank] += 1
        return used.max()

    one_phase = compiled_loop(phase)

    def loop(start, stop, lanes, ends, bases, rules):  # type: ignore[no-untyped-def]
        firsts = np.empty(rules.lanes, np.int64)
        wanted = np.empty(
            (rules.banks, rules.lanes * (rules.bits // rules.word_bits + 2)), np.int64
        )
        used = np.zeros(rules.banks, np.int64)
        for point in range(start, stop):
            for lane in range(rules.lanes):
                found = at(word(point * rules.lanes + lane))
                firsts[lane] = np.int64(found[0]) if found[1] != 0 else -1
            for number in range(len(bases)):
                total, begin = 0, 0
                for end in ends:
                    most = one_phase(firsts, lanes[begin:end], bases[number], rules, wanted, used)
                    if most < 0:
                        return point * len(bases) + number
                    total = total + most if rules.summed else max(total, most)
                    begin = end
                if total > rules.most:
                    return point * len(bases) + number
        return -1

    return compiled_loop(loop)


def _text(access: Access) -> Text:
    """`places(i)`: the first bit of a lane's access, and whether the lane is active; i counts the
    values of the free variables, and for each of them the lanes."""
    address = access.address
    order = (*access.variables, access.lane)
    (text,) = places_texts([Map(order, address.outputs, (), address.guard)])
    return text


def _phases(groups: Sequence[Sequence[int]], lanes: int) -> tuple[Any, Any]:
    """The lanes of all groups in a row, and where each group ends; what is no lane left out."""
    kept = [[lane for lane in group if lane < lanes] for group in groups]
    row = np.array([lane for group in kept for lane in group], dtype=np.int64)
    return row, np.cumsum([len(group) for group in kept], dtype=np.int64)
