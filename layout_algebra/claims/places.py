"""Claims about the places of one layout: injective, copies apart, inside, covering, bijective."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from layout_algebra.arithmetic import enumeration
from layout_algebra.claims.base import (
    Claim,
    Dims,
    Point,
    Subject,
    as_map,
    check_subject,
    first_counterexample,
)
from layout_algebra.claims.support import (
    all_variables,
    axis_limit,
    box_text,
    collision,
    complete,
    difference_questions,
    element,
    guards,
    key,
    named,
    pair,
    place_at,
    range_divisors,
    range_symbols,
    ranges,
    same,
    same_copies,
    same_place,
    shared_places,
    show,
    table,
    values,
)
from layout_algebra.conditions import at_most, differs, equals
from layout_algebra.dims import Size, Symbol, evaluate
from layout_algebra.questions import Question, question
from layout_algebra.terms import const, var
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class Injective(Claim):
    """No two different logical elements share a place, copies included."""

    f: Subject

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    def questions(self) -> tuple[Question, ...]:
        (f,) = self.maps()
        about = "two elements share a place"
        split = difference_questions(f, about, f.coordinates, f.replicas)
        if split is not None:
            return split
        g = f.renamed("'")
        apart = tuple(differs(a, b) for a, b in zip(f.coordinates, g.coordinates, strict=True))
        if not apart:
            return ()
        return (question(about, [*same_place(f, g), apart, *guards(f, g)], all_variables(f, g)),)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        (f,) = self.maps()
        one, two = pair(f, point, dims)
        if all(one[v] == two[v] for v in f.coordinates) or not (
            f.admits(one, dims) and f.admits(two, dims)
        ):
            return None
        place = place_at(f, one, dims)
        if not same(place, place_at(f, two, dims)):
            return None
        return collision(f, one, two, place, dims)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        (f,) = self.maps()
        elements = table(f, dims)
        hit = enumeration.collision(elements)
        if hit is None:
            return None
        one, two = (
            dict(zip(f.coordinates, elements.coordinates_of(flat), strict=True)) for flat in hit
        )
        shared = shared_places(f, one, f, two, dims or {})
        return collision(f, one, two, shared[0], dims or {})


@dataclass(frozen=True)
class ReplicasDistinct(Claim):
    """The copies of one element are at different places."""

    f: Subject

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    def questions(self) -> tuple[Question, ...]:
        (f,) = self.maps()
        if not f.replicas:
            return ()
        about = "two copies of one element are at one place"
        split = difference_questions(f, about, f.replicas, ())
        if split is not None:
            return split
        values = {old: var(old.name + "'", old.low, old.high) for old in f.replicas}
        g = f._rebuilt(values)
        apart = tuple(differs(old, values[old]) for old in f.replicas)
        return (question(about, [*same_place(f, g), apart, *guards(f)], all_variables(f, g)),)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        (f,) = self.maps()
        one, two = pair(f, point, dims)
        two |= {v: one[v] for v in f.coordinates}
        place = place_at(f, one, dims)
        copies = [one[v] for v in f.replicas], [two[v] for v in f.replicas]
        if (
            copies[0] == copies[1]
            or not same(place, place_at(f, two, dims))
            or not f.admits(one, dims)
        ):
            return None
        return same_copies(f, one, copies, place, dims)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        (f,) = self.maps()
        elements = table(f, dims)
        flat = enumeration.repeated_copy(elements)
        if flat is None:
            return None
        point = dict(zip(f.coordinates, elements.coordinates_of(flat), strict=True))
        seen: dict[Any, int] = {}
        for number, place in enumerate(f.places_at(point, dims)):
            found = key(place)
            if found in seen:
                return same_copies(f, point, ([seen[found]], [number]), place, dims or {})
            seen[found] = number
        return None


@dataclass(frozen=True)
class WithinBounds(Claim):
    """Every place is inside the limits; without limits, those that the axes' hardware has."""

    f: Subject
    limits: Any = None

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)
        if self.limits is None:
            f = as_map(self.f)
            known = [(axis, axis_limit(axis)) for axis in f.axes]
            limits = tuple((axis, 0, limit - 1) for axis, limit in known if limit is not None)
            object.__setattr__(self, "limits", limits)
        else:
            object.__setattr__(self, "limits", ranges(self.name, self.f, self.limits))

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    def symbols(self) -> frozenset[Symbol]:
        return super().symbols() | range_symbols(self.limits)

    def is_symbolic(self) -> bool:
        return super().is_symbolic() or bool(range_symbols(self.limits))

    def divisors(self) -> frozenset[Size]:
        return super().divisors() | range_divisors(self.limits)

    def questions(self) -> tuple[Question, ...]:
        (f,) = self.maps()
        found: list[Question] = []
        for axis, low, high in self.limits:
            place = f.output(axis)
            for about, beyond in (
                (f"a place below {low} on {axis}", at_most(place, low - 1)),
                (f"a place above {high} on {axis}", at_most(const(high + 1), place)),
            ):
                found.append(question(about, [(beyond,), *guards(f)], all_variables(f)))
        return tuple(found)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        (f,) = self.maps()
        one = complete(f, point, dims)
        place = place_at(f, one, dims)
        if not f.admits(one, dims):
            return None
        for axis, low, high in self.limits:
            least, most = evaluate(low, dims), evaluate(high, dims)
            value = place.get(axis, 0)
            if not least <= value <= most:
                return Witness(
                    f"element {element(f, one)} is at {show(place)}: {axis} = {value} is outside "
                    f"{least}..{most}",
                    (named(f, one),),
                    (place,),
                    dict(dims),
                )
        return None

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        (f,) = self.maps()
        elements = table(f, dims)
        for axis, low, high in self.limits:
            flat = enumeration.outside(
                elements, axis, evaluate(low, dims or {}), evaluate(high, dims or {})
            )
            if flat is not None:
                point = dict(zip(f.coordinates, elements.coordinates_of(flat), strict=True))
                for copy in itertools.product(*(values(v, dims or {}) for v in f.replicas)):
                    full = point | dict(zip(f.replicas, copy, strict=True))
                    found = self.witness(full, dims or {})
                    if found is not None:
                        return found
        return None

    def __str__(self) -> str:
        return f"WithinBounds({self.f}, {box_text(self.limits)})"


@dataclass(frozen=True)
class Covers(Claim):
    """Every place of the box is used by some element or copy."""

    f: Subject
    box: Any

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)
        object.__setattr__(self, "box", ranges(self.name, self.f, self.box))

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    def symbols(self) -> frozenset[Symbol]:
        return super().symbols() | range_symbols(self.box)

    def is_symbolic(self) -> bool:
        return super().is_symbolic() or bool(range_symbols(self.box))

    def divisors(self) -> frozenset[Size]:
        return super().divisors() | range_divisors(self.box)

    def questions(self) -> None:
        """Not expressible without a quantifier; the prover counts, or finds a place not hit."""
        return None

    def hits(self, place: Mapping[str, int]) -> Question:
        """Is there an element at this place?  No answer means that the place is not covered."""
        (f,) = self.maps()
        clauses = [
            (equals(f.output(axis), const(place.get(axis, 0))),)
            for axis in dict.fromkeys((*f.axes, *place))
        ]
        shown = ", ".join(f"{axis} = {value}" for axis, value in place.items())
        return question(f"an element at {shown}", [*clauses, *guards(f)], all_variables(f))

    def missing(self, place: Mapping[str, int], dims: Dims | None = None) -> Witness:
        """The counterexample that a place which nothing hits is."""
        return Witness(f"no element is at {show(place)}", (), (dict(place),), dict(dims or {}))

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        (f,) = self.maps()
        box = {
            a: (evaluate(low, dims or {}), evaluate(high, dims or {})) for a, low, high in self.box
        }
        place = enumeration.uncovered(table(f, dims), box)
        return None if place is None else self.missing(place, dims)

    def work(self, dims: Dims | None = None) -> int:
        sizes = (evaluate(high - low + 1, dims or {}) for _, low, high in self.box)
        return super().work(dims) + prod(max(0, size) for size in sizes)

    def __str__(self) -> str:
        return f"Covers({self.f}, {box_text(self.box)})"


@dataclass(frozen=True)
class Bijective(Claim):
    """All places are in the box, and every place of the box is used exactly once.

    With copies: by exactly one copy of exactly one element.
    """

    f: Subject
    box: Any

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)
        object.__setattr__(self, "box", ranges(self.name, self.f, self.box))

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    def parts(self) -> tuple[Claim, ...]:
        box = {axis: (low, high + 1) for axis, low, high in self.box}
        named = set(box)
        elsewhere = {axis: 1 for axis in as_map(self.f).axes if axis not in named}
        parts: list[Claim] = [Injective(self.f)]
        if as_map(self.f).replicas:
            parts.append(ReplicasDistinct(self.f))
        parts += [WithinBounds(self.f, box | elsewhere), Covers(self.f, box)]
        return tuple(parts)

    def symbols(self) -> frozenset[Symbol]:
        return super().symbols() | range_symbols(self.box)

    def is_symbolic(self) -> bool:
        return super().is_symbolic() or bool(range_symbols(self.box))

    def divisors(self) -> frozenset[Size]:
        return super().divisors() | range_divisors(self.box)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        return first_counterexample(self.parts(), dims)

    def __str__(self) -> str:
        return f"Bijective({self.f}, {box_text(self.box)})"


@dataclass(frozen=True)
class Empty(Claim):
    """No coordinate is in the map's domain: its guard cannot hold.

    The plain form of "this cannot happen": `Empty(Map.of(..., where=lambda ...: conditions))`.
    """

    f: Subject

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    def questions(self) -> tuple[Question, ...]:
        (f,) = self.maps()
        return (question("a coordinate in the domain", guards(f), all_variables(f)),)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        (f,) = self.maps()
        one = complete(f, point, dims)
        if not f.admits(one, dims):
            return None
        return Witness(f"{element(f, one)} is in the domain", (named(f, one),), (), dict(dims))

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        (f,) = self.maps()
        for point in f.points(dims):
            return self.witness(point, dims or {})
        return None
