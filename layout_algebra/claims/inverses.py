"""Claims about inverses."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from layout_algebra.claims.base import (
    Claim,
    Dims,
    Point,
    Subject,
    check_subject,
    first_counterexample,
)
from layout_algebra.claims.support import (
    all_variables,
    check_composable,
    complete,
    feed,
    guards,
    returned,
    round_trip,
    values,
)
from layout_algebra.conditions import at_most, differs, equals, negated
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import const
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class LeftInverse(Claim):
    """g(f(x)) = x for every x of f's domain (each copy inverts to its element).

    f's places are put in as g's coordinates: by axis name, or, from a single axis, as the flat
    index.  g gives the flat index on one output, or f's coordinates by name.
    """

    f: Subject
    g: Subject

    def __post_init__(self) -> None:
        for one in (self.f, self.g):
            check_subject(self.name, one)
        check_composable(self.name, self.f, self.g)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f, self.g)

    def questions(self) -> tuple[Question, ...]:
        f, g = self.maps()
        g = g.renamed("'")
        fed = feed(g, f)
        every = all_variables(f, g)
        beyond = [
            condition
            for variable, value in fed
            for condition in (
                *((at_most(value, variable.low - 1),) if variable.low is not None else ()),
                *((at_most(const(variable.high + 1), value),) if variable.high is not None else ()),
            )
        ]
        found = []
        if beyond:
            about = "a place outside the other's domain"
            found.append(question(about, [*guards(f), tuple(beyond)], all_variables(f)))
        joins: list[Clause] = [(equals(variable, value),) for variable, value in fed]
        if fed and fed[0][0] not in g.coordinates:  # the flat index: its digits, one by one
            g = g._rebuilt(g.feed({"flat index": fed[0][0]}))
            every = [*all_variables(f, g), fed[0][0]]
        for condition in g.guard:
            clauses = [*joins, *guards(f), (negated(condition),)]
            found.append(question("a place where the other is not defined", clauses, every))
        wrong = tuple(differs(got, wanted) for got, wanted in returned(g, f))
        found.append(
            question("an element that does not come back", [*joins, *guards(f, g), wrong], every)
        )
        return tuple(found)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        f, g = self.maps()
        at_f = complete(f, point, dims)
        if not f.admits(at_f, dims):
            return None
        return round_trip(f, g, at_f, dims)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        f, g = self.maps()
        at = dims or {}
        ranges = [values(v, at) for v in f.replicas]
        for point in f.points(at):
            for copies in itertools.product(*ranges):
                full = point | dict(zip(f.replicas, copies, strict=True))
                found = round_trip(f, g, full, at)
                if found is not None:
                    return found
        return None


@dataclass(frozen=True)
class RightInverse(Claim):
    """f(g(y)) = y for every y of g's domain."""

    f: Subject
    g: Subject

    def __post_init__(self) -> None:
        for one in (self.f, self.g):
            check_subject(self.name, one)
        check_composable(self.name, self.g, self.f)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f, self.g)

    def parts(self) -> tuple[Claim, ...]:
        return (LeftInverse(self.g, self.f),)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        return LeftInverse(self.g, self.f).counterexample(dims)


@dataclass(frozen=True)
class Inverse(Claim):
    """g(f(x)) = x on f's domain and f(g(y)) = y on g's domain."""

    f: Subject
    g: Subject

    def __post_init__(self) -> None:
        for one in (self.f, self.g):
            check_subject(self.name, one)
        check_composable(self.name, self.f, self.g)
        check_composable(self.name, self.g, self.f)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f, self.g)

    def parts(self) -> tuple[Claim, ...]:
        return (LeftInverse(self.f, self.g), LeftInverse(self.g, self.f))

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        return first_counterexample(self.parts(), dims)
