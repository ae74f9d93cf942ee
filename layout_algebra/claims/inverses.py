"""Claims about inverses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layout_algebra.arithmetic import arrays
from layout_algebra.arithmetic.enumeration import Table
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
    table,
)
from layout_algebra.conditions import at_most, differs, equals, negated
from layout_algebra.dims import evaluate
from layout_algebra.maps import Map
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import Var, const
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
        places = table(f, dims)
        fed, strays = _fed(places, f, g, dims or {})
        for condition, value in zip(
            g.guard, arrays.arrays_of((c.term for c in g.guard), fed, dims), strict=True
        ):
            strays |= ~condition.holds(value)
        back = dict(
            zip(g.axes, arrays.arrays_of((t for _, t in g.outputs), fed, dims), strict=True)
        )
        names = [variable.name for variable in f.coordinates]
        if set(back) == set(names):
            for name, value in zip(names, places.coordinate_columns(), strict=True):
                strays |= back[name] != value
        else:
            strays |= next(iter(back.values()), 0) != places.index_column()
        if places.keep is not None:
            strays &= places.keep[:, None]
        hits = np.flatnonzero(strays)
        if not hits.size:
            return None
        point = places.point_of(int(hits[0]))
        full = dict(zip((*f.coordinates, *f.replicas), point, strict=True))
        return round_trip(f, g, full, dims or {})


def _fed(
    places: Table, f: Map, g: Map, dims: Dims
) -> tuple[dict[Var, NDArray[np.int64]], NDArray[np.bool_]]:
    """Every place of f as g's coordinates (some value of theirs where it is none), and where it is
    none."""
    strays = np.zeros((places.elements, places.copies), dtype=bool)
    fed: dict[Var, NDArray[np.int64]] = {}
    names = {variable.name: variable for variable in g.coordinates}
    if set(names) == set(f.axes):
        for name, v in names.items():
            fed[v] = places.column(name)
            if v.low is not None:
                strays |= fed[v] < evaluate(v.low, dims)
            if v.high is not None:
                strays |= fed[v] > evaluate(v.high, dims)
        for v in g.coordinates:
            anchor = v.low if v.low is not None else v.high if v.high is not None else 0
            fed[v] = np.where(strays, np.int64(evaluate(anchor, dims)), fed[v])
        return fed, strays
    index = places.column(f.axes[0] if f.axes else "")
    strays |= (index < 0) | (index >= evaluate(g.size, dims))
    index = np.where(strays, np.int64(0), index)
    for v, extent in zip(reversed(g.coordinates), reversed(g.extents), strict=True):
        index, digit = np.divmod(index, np.int64(evaluate(extent, dims)))
        fed[v] = digit + np.int64(0 if v.low is None else evaluate(v.low, dims))
    return fed, strays


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
