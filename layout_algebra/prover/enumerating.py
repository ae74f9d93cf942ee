"""The route through every element: small domains, and small sizes of symbolic claims."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from layout_algebra.arithmetic.arrays import arrays_of
from layout_algebra.claims import Claim, Covers, Injective
from layout_algebra.errors import CoordinateError, WitnessError
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
from layout_algebra.terms import var
from layout_algebra.verdicts import Proof, Step, Verdict

#: Elements of a sample, and its seed: the same answer every time.
SAMPLES, SEED = 1 << 19, 20


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
            sampled = by_sampling(claim)
            if sampled is not None:
                return replace(sampled, steps=(*sampled.steps, *steps))
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


def by_sampling(claim: Claim) -> Proof | None:
    """Two elements at one place among a large random sample; None says nothing.

    Where there are many more elements than places, a sample of a few times the root of the number
    of places holds a collision (birthdays): what refutes irregular strides that Z3 does not end on.
    """
    if not isinstance(claim, Injective) or claim.is_symbolic():
        return None
    (f,) = claim.maps()
    if f.guard or not f.coordinates or any(v.low != 0 or v.high is None for v in f.coordinates):
        return None
    rng = np.random.default_rng(SEED)
    extents = [int(extent) for extent in f.extents]  # type: ignore[arg-type]
    if max(extents) >= 2**62:
        return None
    points = np.stack([rng.integers(0, extent, SAMPLES) for extent in extents])
    values = dict(zip(f.coordinates, points, strict=True))
    values |= {replica: np.int64(0) for replica in f.replicas}
    places = [np.broadcast_to(a, SAMPLES) for a in arrays_of((t for _, t in f.outputs), values)]
    if not places:
        return None
    order = np.lexsort(places)
    same = np.ones(SAMPLES - 1, dtype=bool)
    for column in places:
        same &= column[order][1:] == column[order][:-1]
    moved = points[:, order]
    same &= (moved[:, 1:] != moved[:, :-1]).any(axis=0)
    hits = np.flatnonzero(same)
    if not hits.size:
        return None
    one, two = moved[:, hits[0]], moved[:, hits[0] + 1]
    point = {v: int(x) for v, x in zip(f.coordinates, one, strict=True)}
    point |= {
        var(v.name + "'", v.low, v.high): int(x) for v, x in zip(f.coordinates, two, strict=True)
    }
    witness = claim.witness(point, {})
    if witness is None:
        raise WitnessError(f"a sampled collision does not replay: {point}")
    step = Step("sampling", f"{SAMPLES} random elements")
    return Proof(claim, Verdict.REFUTED, "sampling", witness=witness, steps=(step,))


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
