"""Claims about two layouts side by side: equivalent, disjoint."""

from __future__ import annotations

from dataclasses import dataclass

from layout_algebra.arithmetic import enumeration, integers
from layout_algebra.claims.base import Claim, Dims, Point, Subject, check_subject
from layout_algebra.claims.support import (
    all_variables,
    complete,
    element,
    elsewhere,
    guards,
    key,
    meeting,
    named,
    place_at,
    point_at,
    same,
    same_place,
    shared_places,
    show_all,
    spell_copies,
    table,
)
from layout_algebra.conditions import differs, equals, negated
from layout_algebra.dims import evaluate
from layout_algebra.errors import ClaimError
from layout_algebra.maps import Map
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import Var, const, var
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class Equivalent(Claim):
    """The same map from the flat index to the set of places, on domains of one size."""

    f: Subject
    g: Subject

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)
        check_subject(self.name, self.g)
        sizes = [one.size for one in self.maps()]
        if all(isinstance(size, int) for size in sizes) and sizes[0] != sizes[1]:
            raise ClaimError(
                f"Equivalent compares layouts of one size: {self.f} has {sizes[0]} elements, "
                f"{self.g} has {sizes[1]}"
            )

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f, self.g)

    def joined(self) -> tuple[Map, Map, list[Clause]]:
        """Both maps with their own variables, and what says that they are at one element."""
        f, g = self.maps()
        if f.coordinates == g.coordinates:
            return f, g._rebuilt({r: var(r.name + "'", r.low, r.high) for r in g.replicas}), []
        g = g.renamed("'")
        return f, g, [(equals(f.index, g.index),)]

    def questions(self) -> tuple[Question, ...] | None:
        f, g, join = self.joined()
        every = all_variables(f, g)
        found: list[Question] = []
        if f.size != g.size:
            found.append(
                question("the sizes differ", [(differs(const(f.size), const(g.size)),)], every)
            )
        for one, other in ((f, g), (g, f)):
            if one.guard != other.guard:
                for condition in other.guard:
                    clauses = [*join, *guards(one), (negated(condition),)]
                    found.append(question("one domain is larger", clauses, every))
        if not f.replicas and not g.replicas:
            found.append(question("two places differ", [*join, *guards(f), elsewhere(f, g)], every))
            return tuple(found)
        for one, other in ((f, g), (g, f)):
            copies = spell_copies(other)
            if copies is None:
                return None
            clauses = [elsewhere(one, copy) for copy in copies]
            found.append(question("one has a place more", [*join, *guards(one), *clauses], every))
        return tuple(found)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        f, g, _ = self.joined()
        sizes = [evaluate(one.size, dims) for one in (f, g)]
        if sizes[0] != sizes[1]:
            return Witness(f"the sizes are {sizes[0]} and {sizes[1]}", (), (), dict(dims))
        at_f = complete(f, point, dims)
        index = integers.values_of([f.index], at_f, dims)[0]
        if any(v not in at_f for v in g.coordinates):
            at_g = point_at(g, index, dims)
        else:
            at_g = {v: at_f[v] for v in g.coordinates}
        return self._difference(at_f, at_g, dims)

    def _difference(self, at_f: dict[Var, int], at_g: dict[Var, int], dims: Dims) -> Witness | None:
        f, g, _ = self.joined()
        admitted = f.admits(at_f, dims), g.admits(at_g, dims)
        if admitted == (False, False):
            return None
        places = [list(one.places_at(at, dims)) for one, at in ((f, at_f), (g, at_g))]
        keys = [{key(place) for place in found} for found in places]
        if admitted == (True, True) and keys[0] == keys[1]:
            return None
        shown = [
            show_all(found) if inside else "outside its domain"
            for found, inside in zip(places, admitted, strict=True)
        ]
        index = integers.values_of([f.index], at_f, dims)[0]
        return Witness(
            f"element {element(f, at_f)} (index {index}) is at {shown[0]} in the first and at "
            f"{shown[1]} in the second",
            (named(f, at_f), named(g, at_g)),
            (places[0][0], places[1][0]),
            dict(dims),
        )

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        f, g, _ = self.joined()
        values = dims or {}
        tables = table(f, dims), table(g, dims)
        if tables[0].elements != tables[1].elements:
            sizes = f"{tables[0].elements} and {tables[1].elements}"
            return Witness(f"the sizes are {sizes}", (), (), dict(values))
        flat = enumeration.difference(*tables)
        if flat is None:
            return None
        at_f, at_g = (point_at(one, flat, values) for one in (f, g))
        return self._difference(at_f, at_g, values)


@dataclass(frozen=True)
class Disjoint(Claim):
    """No place of f is a place of g, copies included."""

    f: Subject
    g: Subject

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)
        check_subject(self.name, self.g)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f, self.g)

    def questions(self) -> tuple[Question, ...]:
        f, g = self.maps()
        g = g.renamed("'")
        clauses = [*same_place(f, g), *guards(f, g)]
        return (question("an element of each at one place", clauses, all_variables(f, g)),)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        f, g = self.maps()
        primed = g.renamed("'")
        at_f, at_g = complete(f, point, dims), complete(primed, point, dims)
        place = place_at(f, at_f, dims)
        if not same(place, place_at(primed, at_g, dims)):
            return None
        if not (f.admits(at_f, dims) and primed.admits(at_g, dims)):
            return None
        return meeting(f, at_f, primed, at_g, place, dims)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        f, g = self.maps()
        hit = enumeration.common_place(table(f, dims), table(g, dims))
        if hit is None:
            return None
        at_f, at_g = (
            point_at(one, flat, dims or {}) for one, flat in zip((f, g), hit, strict=True)
        )
        place = shared_places(f, at_f, g, at_g, dims or {})[0]
        return meeting(f, at_f, g, at_g, place, dims or {})
