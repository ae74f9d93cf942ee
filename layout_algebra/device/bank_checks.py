"""Exhaustive checks of the claims about banks: every value of the free variables, every base.

    task = degree(BankConflictFree(access), {}, memory=0)
    task.cost, task.run(runner)         # the counterexample, or None

The text of an access gives addresses; what banks make of them is one compiled loop for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from layout_algebra.claims.banks import BankClaim, BankConflictFree, ConflictDegree, Wavefronts
from layout_algebra.device.loops import compiled_loop
from layout_algebra.device.pair_texts import filling_text
from layout_algebra.device.results import Cost, Dims, Task, point_of, replayed
from layout_algebra.device.runner import Compiled, Runner
from layout_algebra.maps import Map
from layout_algebra.memory import banks
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.targets import MemoryTarget
from layout_algebra.terms import var
from layout_algebra.verdicts import Witness

#: Values of the free variables whose addresses are computed before they are looked at.
PART = 1 << 10


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
    """In no phase does a bank give more words than the claim allows."""
    most = claim.at_most if isinstance(claim, ConflictDegree) else 1
    return _task(claim, dims, most, summed=False)


def wavefronts(claim: Wavefronts, dims: Dims, memory: int) -> Task:
    """The phases take no more wavefronts together than the claim allows."""
    return _task(claim, dims, claim.at_most, summed=True)


def _rules(access: Access, target: MemoryTarget, most: int, *, summed: bool) -> Rules:
    bits = access.bits
    return Rules(
        lanes=access.lanes,
        bits=bits,
        aligned=bits if bits % 8 == 0 and bits & (bits - 1) == 0 else 1,
        word_bits=8 * target.bank_bytes,
        banks=target.banks,
        most=most,
        summed=summed,
    )


def _task(claim: BankClaim, dims: Dims, most: int, *, summed: bool) -> Task:
    access, target = claim.access, claim.target
    rules = _rules(access, target, most, summed=summed)
    bases = np.array(banks.base_bits(access, target), dtype=np.int64)
    lanes, ends = _phases(target.phases(access.kind, access.bits), access.lanes)
    address = access.address
    # the values of the free variables, and for each of them the lanes
    order = (*access.variables, access.lane)
    text = filling_text(Map(order, address.outputs, (), address.guard))
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
    count = banks.count_points(access)

    def run(runner: Runner) -> Witness | None:
        fill = runner.function(text.text, text.name)

        def part(start: int, stop: int) -> int:
            rows = np.empty((2, PART * rules.lanes), dtype=f"uint{text.width}")
            for begin in range(start, stop, PART):
                end = min(begin + PART, stop)
                fill(begin * rules.lanes, end * rules.lanes, rows)
                found = _crowded(rows, end - begin, lanes, ends, bases, rules)
                if found >= 0:
                    return begin * len(bases) + int(found)
            return -1

        runner.prepared(lambda: part(0, 1))
        found = runner.least(part, count)
        if found is None:
            return None
        number, base = divmod(found, len(bases))
        point = point_of(Map(access.variables, ()), number, dims)
        step = int(bases[base]) // (8 * access.align)
        values = {**point, var("base", step, step): step}
        return replayed(claim.witness(values, dims), claim, f"point {number}")

    return Task(Cost(count * access.lanes * len(bases), 0, "every access"), run)


def _phase(firsts, lanes, base, rules, wanted, used):  # type: ignore[no-untyped-def]
    """The most words that a bank gives to these lanes; -1 where an address is not aligned."""
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


_one_phase = compiled_loop(_phase)


def _crowding(rows, points, lanes, ends, bases, rules):  # type: ignore[no-untyped-def]
    """The first (point, base) at which an access is not aligned, or takes too long; else -1.

    The rows are the lanes' first bits, point by point, and 1 where a lane is active.
    """
    firsts = np.empty(rules.lanes, np.int64)
    units = rules.lanes * (rules.bits // rules.word_bits + 2)
    wanted = np.empty((rules.banks, units), np.int64)
    used = np.zeros(rules.banks, np.int64)
    for point in range(points):
        for lane in range(rules.lanes):
            at = point * rules.lanes + lane
            firsts[lane] = np.int64(rows[0, at]) if rows[1, at] != 0 else -1
        for number in range(len(bases)):
            total, begin = 0, 0
            for end in ends:
                most = _one_phase(firsts, lanes[begin:end], bases[number], rules, wanted, used)
                if most < 0:
                    return point * len(bases) + number
                total = total + most if rules.summed else max(total, most)
                begin = end
            if total > rules.most:
                return point * len(bases) + number
    return -1


#: One machine code for all accesses: only the text that fills the rows is theirs.
_crowded: Compiled = compiled_loop(_crowding)


def _phases(groups: Sequence[Sequence[int]], lanes: int) -> tuple[Any, Any]:
    """The lanes of all groups in a row, and where each group ends; what is no lane left out."""
    kept = [[lane for lane in group if lane < lanes] for group in groups]
    row = np.array([lane for group in kept for lane in group], dtype=np.int64)
    return row, np.cumsum([len(group) for group in kept], dtype=np.int64)
