"""What rules share: outcomes, what is assumed of the Dims, and queries that check a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from layout_algebra.claims import (
    Claim,
)
from layout_algebra.conditions import at_most
from layout_algebra.dims import Relation, Size, Symbol, at_least, positive_symbols
from layout_algebra.maps import Map
from layout_algebra.prover.solve import NoWidth, as_query
from layout_algebra.questions import Question, question
from layout_algebra.terms import const
from layout_algebra.verdicts import Query, Step, Verdict, Witness


@dataclass(frozen=True)
class Outcome:
    """What a rule found: a verdict with its step, or simpler claims with the same answer."""

    verdict: Verdict | None
    step: Step
    instead: tuple[Claim, ...] = ()
    witness: Witness | None = None


@dataclass(frozen=True)
class Facts:
    """What is assumed of the Dims: what was given, and that extents and divisors are positive."""

    given: tuple[Relation, ...] = ()
    positive: frozenset[Symbol] = frozenset()
    exist: tuple[Relation, ...] = ()

    def at_least(self, size: Size, least: int) -> bool:
        """Whether size >= least follows from intervals, or from one given relation."""
        if isinstance(size, int):
            return size >= least
        if at_least(size, least, self.positive):
            return True
        return any(
            relation.kind == ">=" and at_least(size - relation.size, least, self.positive)
            for relation in self.given
        )

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (*self.given, *self.exist)


def facts_about(claim: Claim, given: Sequence[Relation] = ()) -> Facts:
    """The given relations, and that every layout of the claim exists: its extents, and whatever it
    divides by, are at least 1."""
    extents: list[Size] = []
    for subject in claim.subjects():
        if isinstance(subject, Map):
            extents += [
                v.extent for v in (*subject.coordinates, *subject.replicas) if v.extent is not None
            ]
        else:
            extents += [it.extent for it in (*subject.shard, *subject.replica)]
    symbolic = [extent for extent in extents if not isinstance(extent, int)]
    if claim.symbols():
        symbolic += [divisor for divisor in claim.divisors() if not isinstance(divisor, int)]
    exist = tuple(Relation(e - 1, ">=", f"{e} >= 1") for e in dict.fromkeys(symbolic))
    return Facts(tuple(given), positive_symbols(symbolic), exist)


@dataclass(frozen=True)
class Negation:
    """The whole negated claim as queries, made when they are asked for."""

    claim: Claim
    relations: tuple[Relation, ...]

    def __call__(self) -> tuple[Query, ...]:
        questions = self.claim.questions()
        return () if questions is None else as_queries(questions or (NOTHING,), self.relations)


#: What stands for a negation without any case: no solver finds an answer to it.
NOTHING = question("nothing that could go wrong", [()])


def as_queries(questions: Iterable[Question], relations: tuple[Relation, ...]) -> tuple[Query, ...]:
    """Questions as queries that were not run; those that no encoding can say are left out."""
    found: list[Query] = []
    for one in questions:
        try:
            found.append(as_query(replace(one, relations=relations)))
        except NoWidth:
            continue
    return tuple(found)


def side_conditions(
    about: str, sizes: Sequence[Size], facts: Facts
) -> Callable[[], tuple[Query, ...]]:
    """A query that looks for Dims at which one of the sizes is negative."""

    def make() -> tuple[Query, ...]:
        negative = tuple(at_most(const(size), -1) for size in dict.fromkeys(sizes))
        return as_queries([question(about, [negative])], facts.relations)

    return make


def by_size(steps: Sequence[tuple[Size, Size]], facts: Facts) -> list[tuple[Size, Size]]:
    """Steps by ascending stride, as far as strides can be compared."""
    rest = list(steps)
    ordered: list[tuple[Size, Size]] = []
    while rest:
        least = next(
            (one for one in rest if all(facts.at_least(other[0] - one[0], 0) for other in rest)),
            rest[0],
        )
        rest.remove(least)
        ordered.append(least)
    return ordered


def absolute(stride: Size, facts: Facts) -> Size:
    """A stride's size, where its sign is known; itself where it is not."""
    if isinstance(stride, int):
        return abs(stride)
    return -stride if facts.at_least(-stride, 0) else stride
