"""`prove`: a claim in, a Proof out.

The order is structure, solver, enumeration: rules that decide in microseconds; then Z3 with a
budget, in the cheapest logic that fits; then looking at every element, for small domains, and the
verdict says so.  With symbolic sizes a few small ones are looked at first, since most false claims
are false there.  What is left is UNDECIDED, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from layout_algebra.claims import Bijective, Claim, Covers, as_map
from layout_algebra.dims import Relation, product
from layout_algebra.errors import (
    ClaimError,
    CoordinateError,
    NotProvedError,
    WitnessError,
)
from layout_algebra.prover.assumptions import check_names, clash_of, relations_given, symbols_of
from layout_algebra.prover.enumerating import by_enumeration, by_small_sizes
from layout_algebra.prover.options import (
    DEFAULT_BUDGET,
    FIRST_SIZES,
    MOST_PLACES,
    SOONER,
    Method,
    Options,
)
from layout_algebra.prover.rules import (
    COUNTING,
    Facts,
    Outcome,
    by_structure,
    facts_about,
)
from layout_algebra.prover.searching import by_solver
from layout_algebra.prover.solve import Budget
from layout_algebra.verdicts import Proof, Step, Verdict, Witness


def prove(
    claim: Claim,
    *,
    given: Iterable[Relation | bool] = (),
    method: Method = "auto",
    budget: Budget | None = None,
    most_places: int = MOST_PLACES,
) -> Proof:
    """Decide a claim.

    Args:
        claim: what is claimed; conjunctions by `&`.
        given: relations between Dims that may be assumed, e.g. `[ld >= K, N % (2*bn) == 0]`.
        method: "auto", or one route alone: "structure", "solver", "enumeration".
        budget: limits of each solver query.
        most_places: places that enumeration may look at.

    Returns:
        A Proof with the verdict, the witness of a refutation, and the steps behind it.

    Raises:
        ClaimError: not a claim, or relations that are no relations.
    """
    start = time.perf_counter()
    if not isinstance(claim, Claim):
        raise ClaimError(f"prove takes a claim such as Injective(layout); got {claim!r}")
    if method not in ("auto", "structure", "solver", "enumeration"):
        raise ClaimError(f"method is auto, structure, solver or enumeration; got {method!r}")
    if budget is not None and not isinstance(budget, Budget):  # type: ignore[redundant-expr]
        raise ClaimError(f"budget is a Budget(rlimit=, seconds=); got {budget!r}")
    options = Options(method, budget or DEFAULT_BUDGET, most_places)
    relations = relations_given(given)
    proof = None
    # the common case first: structure alone decides and there is nothing to assume
    if method in ("auto", "structure") and not relations:
        proof = _quick(claim)
    if proof is None:
        proof = _prove_assuming(claim, relations, options)
    object.__setattr__(proof, "seconds", time.perf_counter() - start)
    return proof


def assert_proved(
    claim: Claim, *, given: Iterable[Relation | bool] = (), **options: object
) -> Proof:
    """`prove`, and raise unless the verdict is PROVED; the message holds the counterexample.

    Raises:
        NotProvedError: the claim is refuted, undecided, or vacuous.
    """
    proof = prove(claim, given=given, **options)  # type: ignore[arg-type]
    if proof.verdict is not Verdict.PROVED:
        raise NotProvedError(str(proof))
    return proof


def _quick(claim: Claim) -> Proof | None:
    if claim.parts() or claim.is_symbolic():
        return None
    outcome = by_structure(claim, _NOTHING)
    if outcome is not None and outcome.verdict is Verdict.PROVED:
        return Proof(
            claim, Verdict.PROVED, f"structure: {outcome.step.rule}", steps=(outcome.step,)
        )
    return None


_NOTHING = Facts()


def _prove_assuming(claim: Claim, given: tuple[Relation, ...], options: Options) -> Proof:
    facts = facts_about(claim, given)
    symbols = claim.symbols() | symbols_of(given)
    check_names(symbols)
    if symbols or given:
        clash = clash_of(facts, symbols, options)
        if clash is not None:
            return Proof(claim, clash[0], "assumptions", reason=clash[1], given=given)
    return replace(_prove(claim.assuming(given), facts, options), claim=claim, given=given)


def _prove(claim: Claim, facts: Facts, options: Options) -> Proof:
    if claim.parts():
        return _prove_parts(claim, facts, options)
    if options.method in ("auto", "structure"):
        outcome = by_structure(claim, facts)
        if outcome is not None:
            return _from_outcome(claim, outcome, facts, options)
        if options.method == "structure":
            return Proof(claim, Verdict.UNDECIDED, "structure", reason="no rule applies")
    return _by_search(claim, facts, options)


def _by_search(claim: Claim, facts: Facts, options: Options) -> Proof:
    """What is left when structure does not decide: small sizes, the solver, every element."""
    tried: Proof | None = None
    if options.method == "auto" and claim.is_symbolic():
        small = by_small_sizes(claim, facts, FIRST_SIZES)
        if small is not None:
            return small
    if options.method in ("auto", "solver"):
        tried = by_solver(claim, facts, _short_of_enumeration(claim, options))
        if tried.verdict is not Verdict.UNDECIDED or options.method == "solver":
            return tried
    return by_enumeration(claim, facts, options, tried)


def _short_of_enumeration(claim: Claim, options: Options) -> Options:
    """A smaller budget for the solver where looking at every place takes less time than it may."""
    if options.method != "auto" or options.budget is not DEFAULT_BUDGET or claim.is_symbolic():
        return options
    try:
        work = claim.work()
    except CoordinateError:
        return options
    for most, budget in SOONER:
        if work <= min(most, options.most_places):
            return replace(options, budget=budget)
    return options


def _from_outcome(claim: Claim, outcome: Outcome, facts: Facts, options: Options) -> Proof:
    if not outcome.instead:
        verdict = Verdict.UNDECIDED if outcome.verdict is None else outcome.verdict
        if verdict is Verdict.REFUTED:
            _replay(claim, outcome.witness)
        method = f"structure: {outcome.step.rule}"
        return Proof(claim, verdict, method, witness=outcome.witness, steps=(outcome.step,))
    inner = [_prove(one, facts, options) for one in outcome.instead]
    verdict = min(proof.verdict for proof in inner)
    if verdict is Verdict.REFUTED:
        witness = _transfer(claim, inner)
        if witness is None:  # the simpler claim's counterexample says nothing of this one
            return _by_search(claim, facts, options)
    else:
        witness = None
    method = f"{inner[0].method}, {outcome.step.rule}"
    reason = next((proof.reason for proof in inner if proof.reason), "")
    return Proof(
        claim,
        verdict,
        method,
        witness=witness,
        reason=reason,
        steps=(outcome.step,),
        parts=tuple(inner),
    )


def _transfer(claim: Claim, inner: Sequence[Proof]) -> Witness | None:
    """The counterexample of a simpler claim, worded for this one."""
    for proof in inner:
        if proof.witness is None:
            continue
        by_name = [dict(point) for point in proof.witness.points]
        if isinstance(claim, Covers):
            place = _swizzled_place(claim, proof.witness)
            return claim.missing(place, proof.witness.dims) if place is not None else None
        point = {}
        for suffix, values in zip(("", "'"), by_name, strict=False):
            for one in claim.maps():
                for variable in (*one.coordinates, *one.replicas):
                    if variable.name in values:
                        named = type(variable).make(
                            (variable.name + suffix, *variable.fields[1:]),
                            variable.low,
                            variable.high,
                        )
                        point[named] = values[variable.name]
        found = claim.witness(point, proof.witness.dims)  # type: ignore[arg-type]
        if found is not None:
            return found
    return None


def _swizzled_place(claim: Covers, witness: Witness) -> dict[str, int] | None:
    """Where a place that the tile misses goes under the swizzle."""
    swizzle = getattr(claim.f, "swizzle", None)
    if swizzle is None or not witness.places:
        return None
    place = dict(witness.places[0])
    place["m"] = swizzle(place.get("m", 0))
    return place


def _prove_parts(claim: Claim, facts: Facts, options: Options) -> Proof:
    proofs: list[Proof] = []
    for part in claim.parts():
        if isinstance(claim, Bijective) and isinstance(part, Covers):
            proof = _covers_by_counting(claim, part, proofs, facts, options)
        else:  # what exists is what the part speaks of, not what its neighbours do
            proof = _prove(part, facts_about(part, facts.given), options)
        proofs.append(proof)
        if proof.verdict is Verdict.REFUTED:
            break
    worst = min(proofs, key=lambda proof: proof.verdict)
    return Proof(
        claim,
        worst.verdict,
        worst.method if worst.verdict is not Verdict.PROVED else _methods(proofs),
        witness=worst.witness,
        reason=worst.reason,
        parts=tuple(proofs),
    )


def _covers_by_counting(
    whole: Bijective, part: Covers, before: Sequence[Proof], facts: Facts, options: Options
) -> Proof:
    """Injective, inside the box, and as many places as the box has: so every place is used."""
    proof = (
        _prove(part, facts, replace(options, method="structure"))
        if options.method == "auto"
        else None
    )
    if proof is not None and proof.verdict is Verdict.PROVED:
        return proof
    f = as_map(part.f)
    places = product(high - low + 1 for _, low, high in part.box)
    if (
        options.method != "enumeration"
        and all(p.verdict is Verdict.PROVED for p in before)
        and f.size * f.copies == places
        and not f.guard
    ):
        step = Step("counting", f"{places} places", (COUNTING,))
        return Proof(
            part, Verdict.PROVED, "structure: counting", steps=(step,), parts=tuple(before)
        )
    return _prove(part, facts, options)


def _methods(proofs: Sequence[Proof]) -> str:
    return "; ".join(dict.fromkeys(proof.method for proof in proofs))


def _replay(claim: Claim, witness: Witness | None) -> None:
    if witness is None:
        raise WitnessError(f"a rule refuted {claim} without a counterexample")
