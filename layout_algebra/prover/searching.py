"""The route through the solver: a claim's questions to Z3, and its answers back as witnesses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from layout_algebra.claims import Claim, Covers
from layout_algebra.errors import CoordinateError, WitnessError
from layout_algebra.prover.options import (
    Options,
)
from layout_algebra.prover.rules import (
    NOTHING,
    Facts,
)
from layout_algebra.prover.solve import Answer, NoWidth, ask
from layout_algebra.questions import Question
from layout_algebra.values import Tile
from layout_algebra.verdicts import Proof, Query, Step, Verdict, Witness


def by_solver(claim: Claim, facts: Facts, options: Options) -> Proof:
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
            try:
                witness = _witness(claim, one, answer)
            except CoordinateError as error:
                unknown.append(f"an answer to '{one.about}' is no counterexample ({error})")
                continue
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
        try:
            answer = ask(claim.hits(place), options.budget)
        except NoWidth:
            break
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
    """Places that are worth asking about: a tile's first and last gap, and the box's corners."""
    ranges = [(axis, (low, high)) for axis, low, high in claim.box]
    if isinstance(claim.f, Tile):
        for axis, (low, high) in ranges:
            for value in _gaps(claim.f, axis):
                if low <= value <= high:  # type: ignore[operator]
                    yield {a: value if a == axis else int(ends[0]) for a, ends in ranges}  # type: ignore[arg-type]
    for corner in itertools.islice(itertools.product(*(ends for _, ends in ranges)), 16):
        yield {axis: int(value) for (axis, _), value in zip(ranges, corner, strict=True)}  # type: ignore[arg-type]
    for axis, (low, high) in ranges:
        for step in (1, 2, 3, 5, 7):
            if isinstance(low, int) and isinstance(high, int) and low + step <= high:
                yield {a: (low + step if a == axis else int(ends[0])) for a, ends in ranges}  # type: ignore[arg-type]


def _gaps(tile: Tile, axis: str) -> list[int]:
    """The first place from either end that the sorted strides leave out."""
    low = high = 0
    steps: list[tuple[int, int]] = []
    for extent, stride, on in (*tile.shard, *tile.replica):
        if on.name == axis and isinstance(extent, int) and isinstance(stride, int) and stride:
            steps.append((abs(stride), extent))
            low += min(0, stride * (extent - 1))
            high += max(0, stride * (extent - 1))
    start = next((v for on, v in tile.offsets if on.name == axis), 0)
    reach = 0
    for stride, extent in sorted(steps):
        if stride > reach + 1:
            break
        reach += stride * (extent - 1)
    if not isinstance(start, int) or reach == high - low:
        return []
    return [start + low + reach + 1, start + high - reach - 1]
