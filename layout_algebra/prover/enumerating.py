"""The route through every element: small domains, and small sizes of symbolic claims."""

from __future__ import annotations

import itertools
from dataclasses import replace

from layout_algebra.claims import Claim, Covers
from layout_algebra.errors import (
    CoordinateError,
)
from layout_algebra.prover.assumptions import holds, symbols_of
from layout_algebra.prover.covering import covering_questions
from layout_algebra.prover.options import (
    MORE_SIZES,
    SMALL_PLACES,
    Options,
)
from layout_algebra.prover.rules import (
    Facts,
    Negation,
    as_queries,
)
from layout_algebra.verdicts import Proof, Step, Verdict


def by_enumeration(claim: Claim, facts: Facts, options: Options, tried: Proof | None) -> Proof:
    reasons = [tried.reason] if tried is not None and tried.reason else []
    steps = tried.steps if tried is not None else ()
    if claim.is_symbolic():
        small = None if options.method == "solver" else by_small_sizes(claim, facts, MORE_SIZES)
        if small is not None:
            return replace(small, steps=(*small.steps, *steps))
        reasons.append("symbolic sizes cannot be enumerated, and small ones show no counterexample")
        return Proof(claim, Verdict.UNDECIDED, "solver", reason="; ".join(reasons), steps=steps)
    try:
        work = claim.work()
        if work > options.most_places:
            raise CoordinateError(
                f"{work} places are more than the {options.most_places} that are enumerated"
            )
        witness = claim.counterexample()
    except CoordinateError as error:
        reasons.append(str(error))
        return Proof(
            claim, Verdict.UNDECIDED, "enumeration", reason="; ".join(reasons), steps=steps
        )
    verdict = Verdict.PROVED if witness is None else Verdict.REFUTED
    if not steps:
        steps = (Step("solver", make_queries=Negation(claim, facts.relations)),)
    step = Step("enumeration", f"{work} places")
    if isinstance(claim, Covers) and witness is None:
        step = replace(step, make_queries=lambda: as_queries(covering_questions(claim), ()))
    return Proof(claim, verdict, "enumeration", witness=witness, steps=(step, *steps))


def by_small_sizes(claim: Claim, facts: Facts, most: int) -> Proof | None:
    """A counterexample at small values of the Dims; None says nothing."""
    symbols = sorted(claim.symbols() | symbols_of(facts.given), key=lambda symbol: symbol.name)
    steps = [(1, 2, 3, 0, 4)] * len(symbols)
    points = (
        sorted(itertools.product(*steps), key=sum)
        if len(symbols) <= 4
        else [tuple(1 + (k + position) % 3 for position in range(len(symbols))) for k in range(3)]
    )
    tried = 0
    for point in points:
        values: dict[str, int] = {}
        for symbol, step in zip(symbols, point, strict=True):
            low = symbol.lo if step == 0 else max(symbol.lo, 1) + step - 1
            values[symbol.name] = symbol.multiple_of * low
        if any(s.hi is not None and values[s.name] > s.hi * s.multiple_of for s in symbols):
            continue
        if not all(holds(relation, values) for relation in facts.relations):
            continue
        tried += 1
        if tried > most:
            break
        try:
            if claim.work(values) > SMALL_PLACES:
                continue
            witness = claim.counterexample(values)
        except CoordinateError:
            return None
        if witness is not None:
            step = Step("enumeration", f"at {values}")
            return Proof(
                claim, Verdict.REFUTED, "enumeration at small sizes", witness=witness, steps=(step,)
            )
    return None
