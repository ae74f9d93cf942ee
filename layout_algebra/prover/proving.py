"""`prove`: a claim in, a Proof out.

The order is structure, solver, enumeration: rules that decide in microseconds; then Z3 with a
budget, in the cheapest logic that fits; then looking at every element, for small domains, and the
verdict says so.  With symbolic sizes a few small ones are looked at first, since most false claims
are false there.  What is left is UNDECIDED, with the reason.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from layout_algebra.claims import Bijective, Claim, Covers, as_map
from layout_algebra.dims import Relation, Symbol, product
from layout_algebra.dims import symbols as size_symbols
from layout_algebra.errors import (
    ClaimError,
    CoordinateError,
    DimError,
    NotProvedError,
    WitnessError,
)
from layout_algebra.prover.covering import covering_questions
from layout_algebra.prover.rules import (
    COUNTING,
    NOTHING,
    Facts,
    Negation,
    Outcome,
    as_queries,
    by_structure,
    facts_about,
)
from layout_algebra.prover.solve import Answer, Budget, NoWidth, ask
from layout_algebra.questions import Question, question
from layout_algebra.verdicts import Proof, Query, Step, Verdict, Witness

Method = Literal["auto", "structure", "solver", "enumeration"]

#: Places that enumeration looks at before it gives up.
MOST_PLACES = 1 << 24
#: For symbolic sizes: how many values of the Dims are tried before the solver, and after it gave
#: up, and the places that each may have.
FIRST_SIZES, MORE_SIZES, SMALL_PLACES = 4, 60, 1 << 13


DEFAULT_BUDGET = Budget()


@dataclass(frozen=True)
class Options:
    """How to prove: which route, the budget of a query, and how far to enumerate."""

    method: Method = "auto"
    budget: Budget = DEFAULT_BUDGET
    most_places: int = MOST_PLACES


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
    options = Options(method, budget or DEFAULT_BUDGET, most_places)
    relations = _relations(given)
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
    symbols = claim.symbols() | _symbols_of(given)
    _check_names(symbols)
    if symbols or given:
        clash = _clash(facts, symbols, options)
        if clash is not None:
            return Proof(claim, clash[0], "assumptions", reason=clash[1], given=given)
    return replace(_prove(claim, facts, options), given=given)


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
        small = _by_small_sizes(claim, facts, FIRST_SIZES)
        if small is not None:
            return small
    if options.method in ("auto", "solver"):
        tried = _by_solver(claim, facts, options)
        if tried.verdict is not Verdict.UNDECIDED or options.method == "solver":
            return tried
    return _by_enumeration(claim, facts, options, tried)


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
        else:
            proof = _prove(part, facts, options)
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


# -- the solver --------------------------------------------------------------------------------
def _by_solver(claim: Claim, facts: Facts, options: Options) -> Proof:
    if isinstance(claim, Covers):
        return _covers_by_solver(claim, facts, options)
    questions = claim.questions()
    if questions is None:
        return Proof(
            claim, Verdict.UNDECIDED, "solver", reason="not expressible without quantifiers"
        )
    queries: list[Query] = []
    unknown: list[str] = []
    for one in questions or (NOTHING,):
        try:
            one = replace(one, relations=facts.relations)
            answer = ask(one, options.budget)
        except NoWidth as signal:
            unknown.append(f"no encoding for '{one.about}' ({signal})")
            continue
        queries.append(answer.query)
        if answer.result == "sat":
            witness = _witness(claim, one, answer)
            return Proof(
                claim,
                Verdict.REFUTED,
                f"solver: {answer.query.logic}",
                witness=witness,
                steps=(_solver_step(queries),),
            )
        if answer.result != "unsat":
            unknown.append(f"Z3 gave up on '{one.about}' ({answer.reason})")
    logics = "/".join(dict.fromkeys(query.logic for query in queries)) or "nothing to ask"
    verdict = Verdict.UNDECIDED if unknown else Verdict.PROVED
    return Proof(
        claim,
        verdict,
        f"solver: {logics}",
        reason="; ".join(unknown),
        steps=(_solver_step(queries),),
    )


def _solver_step(queries: Sequence[Query]) -> Step:
    found = tuple(queries)
    return Step("solver", make_queries=lambda: found)


def _witness(claim: Claim, asked: Question, answer: Answer) -> Witness:
    if not asked.answered_by(answer.point, answer.dims):
        raise WitnessError(f"the solver's answer to '{asked.about}' does not hold: {answer.point}")
    dims = _all_dims(claim, answer.dims)
    witness = claim.witness(answer.point, dims)
    if witness is None:
        raise WitnessError(f"the solver's answer does not refute {claim}: {answer.point}, {dims}")
    return witness


def _all_dims(claim: Claim, found: dict[str, int]) -> dict[str, int]:
    """The Dims' values that a model gave, and the least one for Dims that did not matter."""
    values = {s.name: s.lo * s.multiple_of for s in claim.symbols()}
    return values | found


def _covers_by_solver(claim: Covers, facts: Facts, options: Options) -> Proof:
    """Refutes only: corners of the box and the first gaps are tried as places that nothing hits."""
    if claim.symbols():
        return Proof(claim, Verdict.UNDECIDED, "solver", reason="covering needs a quantifier")
    queries: list[Query] = []
    for place in _candidate_gaps(claim):
        answer = ask(claim.hits(place), options.budget)
        queries.append(answer.query)
        if answer.result == "unsat":
            return Proof(
                claim,
                Verdict.REFUTED,
                f"solver: {answer.query.logic}",
                witness=claim.missing(place),
                steps=(_solver_step(queries),),
            )
    return Proof(claim, Verdict.UNDECIDED, "solver", reason="covering needs a quantifier")


def _candidate_gaps(claim: Covers) -> Iterable[dict[str, int]]:
    ranges = [(axis, (low, high)) for axis, low, high in claim.box]
    for corner in itertools.islice(itertools.product(*(ends for _, ends in ranges)), 16):
        yield {axis: int(value) for (axis, _), value in zip(ranges, corner, strict=True)}  # type: ignore[arg-type]
    for axis, (low, high) in ranges:
        for step in (1, 2, 3, 5, 7):
            if isinstance(low, int) and isinstance(high, int) and low + step <= high:
                yield {a: (low + step if a == axis else int(ends[0])) for a, ends in ranges}  # type: ignore[arg-type]


# -- enumeration -------------------------------------------------------------------------------
def _by_enumeration(claim: Claim, facts: Facts, options: Options, tried: Proof | None) -> Proof:
    reasons = [tried.reason] if tried is not None and tried.reason else []
    steps = tried.steps if tried is not None else ()
    if claim.is_symbolic():
        small = None if options.method == "solver" else _by_small_sizes(claim, facts, MORE_SIZES)
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


def _by_small_sizes(claim: Claim, facts: Facts, most: int) -> Proof | None:
    """A counterexample at small values of the Dims; None says nothing."""
    symbols = sorted(claim.symbols() | _symbols_of(facts.given), key=lambda symbol: symbol.name)
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
        if not all(_holds(relation, values) for relation in facts.relations):
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


# -- assumptions -------------------------------------------------------------------------------
def _relations(given: Iterable[Relation | bool]) -> tuple[Relation, ...]:
    if isinstance(given, Relation):
        return (given,)
    found: list[Relation] = []
    for position, relation in enumerate(given):
        if isinstance(relation, Relation):
            found.append(relation)
        elif relation is False:
            raise ClaimError(
                f"given[{position}] is False: == between sizes compares their form; "
                "write equal(a, b) for the relation"
            )
        elif relation is not True:
            raise ClaimError(f"given[{position}] is a relation such as ld >= K; got {relation!r}")
    return tuple(found)


def _symbols_of(relations: Iterable[Relation]) -> frozenset[Symbol]:
    found: frozenset[Symbol] = frozenset()
    for relation in relations:
        found |= size_symbols(relation.size) | size_symbols(relation.divisor)
    return found


def _check_names(symbols: Iterable[Symbol]) -> None:
    by_name: dict[str, Symbol] = {}
    for symbol in symbols:
        other = by_name.setdefault(symbol.name, symbol)
        if other != symbol:
            raise DimError(f"one name, two Dims: {other.call()} and {symbol.call()} in one claim")


def _clash(facts: Facts, symbols: Iterable[Symbol], options: Options) -> tuple[Verdict, str] | None:
    """VACUOUS when the assumptions contradict each other; None when some values satisfy them."""
    relations = facts.relations
    ordered = sorted(symbols, key=lambda symbol: symbol.name)
    for step in (1, 2, 4, 0, 3, 8):
        values = {
            s.name: s.multiple_of
            * min(
                max(s.lo, 1) * max(step, 1) if step else s.lo, s.hi if s.hi is not None else 1 << 30
            )
            for s in ordered
        }
        if all(_holds(relation, values) for relation in relations):
            return None
    answer = ask(
        question("values that satisfy the assumptions", [], relations=relations), options.budget
    )
    if answer.result == "sat":
        return None
    shown = ", ".join(str(relation) for relation in relations)
    if answer.result == "unsat":
        return Verdict.VACUOUS, f"no values satisfy {shown}"
    return Verdict.UNDECIDED, f"it is not known whether any values satisfy {shown}"


def _holds(relation: Relation, values: dict[str, int]) -> bool:
    try:
        return relation.holds(values)
    except (DimError, ZeroDivisionError):
        return False


def _replay(claim: Claim, witness: Witness | None) -> None:
    if witness is None:
        raise WitnessError(f"a rule refuted {claim} without a counterexample")
