"""How claims about compiled code are decided by structure: by terms, or by running a sample.

Importing this module gives the rules to the prover, so that `prove(Validates(...))` goes its usual
way: this rule, then the solver for what it leaves open, then every thread, for small grids.
"""

from __future__ import annotations

from layout_algebra.errors import CoordinateError
from layout_algebra.prover.rules import NOTHING, RULES, Facts, Outcome, as_queries
from layout_algebra.prover.rules.lemmas import DIVISION, XORS
from layout_algebra.validation.claim import Validates
from layout_algebra.validation.enumerating import sampled_difference
from layout_algebra.validation.transfers import Transfers
from layout_algebra.verdicts import Query, Step, Verdict

#: Threads at each end of a launch that are run before a solver is asked.
SAMPLE = 64


def by_translation(claim: Validates, facts: Facts) -> Outcome | None:
    """Every store of every path is the wanted one by its terms; or a sampled thread is wrong."""
    findings = claim.findings
    if findings is not None and not any(one.questions for one in findings):
        return Outcome(Verdict.PROVED, _step(claim))
    witness = sampled_difference(claim.program)
    if witness is None:
        return None
    step = Step("running a sample", "the code, on exact integers")
    return Outcome(Verdict.REFUTED, step, witness=witness)


def by_moves(claim: Transfers, facts: Facts) -> Outcome | None:
    """The same for code that moves data: the first threads, and some at the end, are the sample."""
    findings = claim.findings
    if findings is not None and not any(one.questions for one in findings):
        return Outcome(Verdict.PROVED, _step(claim))
    work = claim.work()
    for thread in sorted({*range(min(work, SAMPLE)), *range(max(0, work - SAMPLE), work)}):
        try:
            witness = claim.difference(thread)
        except CoordinateError:  # the thread reads what is not followed: no sample, then
            return None
        if witness is not None:
            step = Step("running a sample", "the code, on exact integers")
            return Outcome(Verdict.REFUTED, step, witness=witness)
    return None


def _step(claim: Validates | Transfers) -> Step:
    paths = sum(len(case.execution.paths) for case in claim.cases)
    stores = sum(one.stores for one in claim.findings or ())
    divisions = claim.division_questions()

    def queries() -> tuple[Query, ...]:
        return as_queries(claim.questions() or (NOTHING,), ())

    detail = f"{paths} paths, {stores} stores, {len(divisions)} divisions by multiplication"
    return Step("translation", detail, (DIVISION, XORS), queries)


RULES[Validates] = (by_translation,)
RULES[Transfers] = (by_moves,)
