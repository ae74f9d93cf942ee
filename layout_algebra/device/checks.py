"""Claims checked by looking at every element, with compiled code.

    result = check(Injective(TileLayout(S[(4096, 4096) : (4096, 1)])))
    result.verdict, result.elements, result.rate

    cost(Injective(layout)).memory        # bytes, before anything is allocated

The code that runs is the text of `kernels` and `element_texts`, compiled by numba for the CPU.  It
is the meaning of a claim made executable a second time, thousands of times faster than the first: a
counterexample that it finds is replayed by the claim itself, on integers, and a difference between
the two is an error of this library (`WitnessError`), never a verdict.

Memory is known before a check starts, and one that needs more than its limit is refused.  Where
places are few enough there is a byte for each (`byte map`); otherwise their numbers are sorted.
The machine code of a check, one or two megabytes, stays in the process: for thousands of claims use
several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from layout_algebra.claims.banks import BankConflictFree, ConflictDegree, Wavefronts
from layout_algebra.claims.base import All, Claim
from layout_algebra.claims.inverses import Inverse, LeftInverse, RightInverse
from layout_algebra.claims.pairs import Equivalent
from layout_algebra.claims.places import (
    Bijective,
    Covers,
    Injective,
    ReplicasDistinct,
    WithinBounds,
)
from layout_algebra.device import bank_checks, pair_checks, place_checks
from layout_algebra.device.results import CheckError, CheckResult, Cost, Task
from layout_algebra.device.runner import Runner, usable_threads
from layout_algebra.errors import ClaimError
from layout_algebra.verdicts import Verdict, Witness

#: Bytes that a check may take.
MEMORY = 1 << 30

_TASKS: dict[type[Claim], Callable[..., Task]] = {
    Injective: place_checks.injective,
    ReplicasDistinct: place_checks.replicas_distinct,
    WithinBounds: place_checks.within_bounds,
    Covers: place_checks.covers,
    Bijective: place_checks.bijective,
    Equivalent: pair_checks.equivalent,
    LeftInverse: pair_checks.left_inverse,
    BankConflictFree: bank_checks.degree,
    ConflictDegree: bank_checks.degree,
    Wavefronts: bank_checks.wavefronts,
}


def check(
    claim: Claim,
    dims: Mapping[str, int] | None = None,
    *,
    memory: int = MEMORY,
    threads: int | None = None,
) -> CheckResult:
    """The claim's verdict by every element: PROVED, or REFUTED with a witness.

    Args:
        claim: one of the claims about places, pairs, inverses and banks, or a conjunction of them.
        dims: values of the claim's Dims, by name.
        memory: bytes that it may take.
        threads: how many run at a time; by default, as many as this process has processors.

    Raises:
        CheckError: it needs more memory.
        ClaimError: a claim that has no such check.
        CoordinateError: symbolic sizes, or a domain without bounds.
        WidthError: numbers beyond 64 bits.
        WitnessError: compiled code and integers disagree: a fault in this library.
    """

    task = _task(claim, dict(dims or {}), memory)
    if task.cost.memory > memory:
        raise CheckError(
            f"{claim} needs {task.cost.memory:,} bytes ({task.cost.method}) and may take "
            f"{memory:,}: give it more by memory="
        )
    with Runner(usable_threads() if threads is None else threads) as runner:
        witness = task.run(runner)
    verdict = Verdict.PROVED if witness is None else Verdict.REFUTED
    return CheckResult(claim, verdict, task.cost, runner.running, runner.compiling, witness)


def cost(claim: Claim, dims: Mapping[str, int] | None = None, *, memory: int = MEMORY) -> Cost:
    """What `check` would take with the same arguments; it may be more than the memory it is given.

    Raises:
        ClaimError, CoordinateError, WidthError: as for `check`.
    """
    return _task(claim, dict(dims or {}), memory).cost


def _task(claim: Claim, dims: dict[str, int], memory: int) -> Task:
    found = _TASKS.get(type(claim))
    if found is not None:
        return found(claim, dims, memory)
    if not isinstance(claim, All | Inverse | RightInverse):
        known = ", ".join(sorted(one.__name__ for one in (*_TASKS, Inverse, RightInverse)))
        raise ClaimError(f"there is no exhaustive check of {claim.name}; there is one of {known}")
    tasks = [_task(part, dims, memory) for part in claim.parts()]

    def run(runner: Runner) -> Witness | None:
        return next((found for task in tasks if (found := task.run(runner)) is not None), None)

    costs = [task.cost for task in tasks]
    return Task(
        Cost(
            sum(one.elements for one in costs),
            max(one.memory for one in costs),
            " and ".join(dict.fromkeys(one.method for one in costs)),
        ),
        run,
    )
