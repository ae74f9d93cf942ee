"""What the claims share: pieces of questions, reading answers, and wording counterexamples."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from layout_algebra.arithmetic import integers
from layout_algebra.arithmetic.enumeration import Table
from layout_algebra.axes import Axis, m, reg
from layout_algebra.claims.base import Dims, Point, Subject, as_map
from layout_algebra.conditions import differs, equals
from layout_algebra.dims import Size, Symbol, as_size, divisors, evaluate, is_size, symbols
from layout_algebra.errors import AxisError, ClaimError, CoordinateError
from layout_algebra.maps import Map, Place, unique_places
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import Const, Sum, Term, Var, const, linear, split, var
from layout_algebra.verdicts import Witness

#: Copies of one element that Equivalent spells out in a question.
MOST_COPIES_SPELLED = 64
#: A range on an axis: (name, lowest, highest), both ends inside.
Range: TypeAlias = tuple[str, Size, Size]


# -- pieces of questions -----------------------------------------------------------------------
def same_place(f: Map, g: Map) -> list[Clause]:
    """Clauses that hold where both maps are at one place."""
    return [(equals(f.output(axis), g.output(axis)),) for axis in dict.fromkeys((*f.axes, *g.axes))]


def elsewhere(f: Map, g: Map) -> Clause:
    """A clause that holds where the maps differ on some axis."""
    return tuple(
        differs(f.output(axis), g.output(axis)) for axis in dict.fromkeys((*f.axes, *g.axes))
    )


def guards(*maps: Map) -> list[Clause]:
    return [(condition,) for one in maps for condition in one.guard]


def all_variables(*maps: Map) -> list[Var]:
    return [variable for one in maps for variable in (*one.coordinates, *one.replicas)]


def difference_questions(
    f: Map, about: str, movers: Sequence[Var], companions: Sequence[Var]
) -> tuple[Question, ...] | None:
    """Collisions of a linear map in difference digits: one question for each group of axes.

    Two points collide when the sums of (difference * stride) vanish on every axis; differences d.x
    range over (-extent, extent).  Axes that share no coordinate do not help each other, so each
    group is asked alone: some mover's difference is not 0.  None: the map is not linear.
    """
    if f.guard:
        return None
    moving = (*movers, *companions)
    sums: dict[str, list[tuple[Var, Size]]] = {}
    for axis, term in f.outputs:
        parts = _linear_parts(term)
        if parts is None:
            return None
        sums[axis] = [(variable, c) for variable, c in parts if variable in moving]
    group_of: dict[Var, int] = {}
    groups: list[tuple[list[Var], list[str]]] = []
    for variable in moving:
        group_of[variable] = len(groups)
        groups.append(([variable], []))
    for axis, parts in sums.items():
        ids = sorted({group_of[variable] for variable, _ in parts})
        if not ids:
            continue
        kept, *merged = ids
        for other in merged:
            for variable in groups[other][0]:
                group_of[variable] = kept
            groups[kept][0].extend(groups[other][0])
            groups[kept][1].extend(groups[other][1])
            groups[other] = ([], [])
        groups[kept][1].append(axis)
    differences: dict[Var, Var] = {}
    for variable in moving:
        if variable.extent is None:
            return None
        differences[variable] = var(f"d.{variable.name}", 1 - variable.extent, variable.extent - 1)
    found: list[Question] = []
    for members, axes in groups:
        apart = [v for v in members if v in movers and v.extent != 1]
        if not apart:
            continue
        clauses: list[Clause] = [
            (equals(linear([(differences[v], c) for v, c in sums[axis]]), const(0)),)
            for axis in axes
        ]
        clauses.append(tuple(differs(differences[v], const(0)) for v in apart))
        where = f" (axes {', '.join(axes)})" if axes else ""
        found.append(question(about + where, clauses))
    return tuple(found)


def spell_copies(f: Map) -> list[Map] | None:
    """The map's copies one by one, each without replicas; None when there are too many."""
    count = f.copies
    if not isinstance(count, int) or count > MOST_COPIES_SPELLED:
        return None
    extents = [replica.extent for replica in f.replicas]
    copies: list[Map] = []
    for numbers in itertools.product(*(range(e) for e in extents if isinstance(e, int))):
        at = {
            r: const(number if r.low is None else r.low + number)
            for r, number in zip(f.replicas, numbers, strict=True)
        }
        copies.append(f._rebuilt(at))
    return copies


def feed(g: Map, f: Map) -> list[tuple[Var, Term]]:
    """What f's places put into g: pairs (a coordinate of g or its flat index, a term of f).

    With names that match, one pair for each coordinate.  From a single axis into several
    coordinates, one pair whose variable is g's flat index.
    """
    names = {variable.name.rstrip("'"): variable for variable in g.coordinates}
    outputs = dict(f.outputs)
    if set(names) == set(outputs):
        return [(variable, outputs[name]) for name, variable in names.items()]
    return [(var("index'", 0, g.size - 1), _only(outputs))]


def _only(outputs: Mapping[str, Term]) -> Term:
    """The one output of a map with at most one axis; without any, the place is 0."""
    return next(iter(outputs.values()), const(0))


def returned(g: Map, f: Map) -> list[tuple[Term, Term]]:
    """Pairs (what g gives, what f was given) that must agree.

    A flat index is compared digit by digit: the same condition (the first digit is not reduced),
    and far easier for a solver than one equation of two sums.
    """
    names = {variable.name: variable for variable in f.coordinates}
    outputs = dict(g.outputs)
    if set(names) == set(outputs):
        return [(outputs[name], names[name]) for name in names]
    if not f.coordinates or any(variable.low != 0 for variable in f.coordinates):
        return [(_only(outputs), f.index)]
    return list(zip(split(_only(outputs), f.extents), f.coordinates, strict=True))


# -- reading answers ---------------------------------------------------------------------------
def complete(f: Map, point: Point, dims: Dims) -> dict[Var, int]:
    """A value for every variable of f: from the point, else its lowest."""
    return {v: point[v] if v in point else _low(v, dims) for v in (*f.coordinates, *f.replicas)}


def pair(f: Map, point: Point, dims: Dims) -> tuple[dict[Var, int], dict[Var, int]]:
    """The two points of f that an answer speaks of, as copies x and x' or as differences d.x."""
    by_name = {variable.name: number for variable, number in point.items()}
    one: dict[Var, int] = {}
    two: dict[Var, int] = {}
    for variable in (*f.coordinates, *f.replicas):
        low, name = _low(variable, dims), variable.name
        difference = by_name.get(f"d.{name}", 0)
        if f"{name}'" in by_name or name in by_name:
            one[variable] = by_name.get(name, low)
            two[variable] = by_name.get(f"{name}'", one[variable])
        else:
            one[variable] = low + max(difference, 0)
            two[variable] = low + max(-difference, 0)
    return one, two


def point_at(f: Map, index: int, dims: Dims) -> dict[Var, int]:
    """The coordinates of a flat index."""
    point: dict[Var, int] = {}
    for variable, extent in zip(reversed(f.coordinates), reversed(f.extents), strict=True):
        index, digit = divmod(index, evaluate(extent, dims))
        point[variable] = _low(variable, dims) + digit
    return {variable: point[variable] for variable in f.coordinates}


def place_at(f: Map, point: Point, dims: Dims) -> Place:
    numbers = integers.values_of((term for _, term in f.outputs), point, dims)
    return dict(zip(f.axes, numbers, strict=True))


def shared_places(f: Map, at_f: Point, g: Map, at_g: Point, dims: Dims) -> list[Place]:
    """The places that an element of f and one of g have in common."""
    taken = {key(place) for place in g.places_at(at_g, dims)}
    return [place for place in f.places_at(at_f, dims) if key(place) in taken]


def key(place: Place) -> tuple[tuple[str, int], ...]:
    """A place as a comparable value: axes at 0 do not count."""
    return tuple(sorted((axis, value) for axis, value in place.items() if value))


def same(a: Place, b: Place) -> bool:
    return key(a) == key(b)


def table(f: Map, dims: Dims | None) -> Table:
    return Table(f.coordinates, f.replicas, f.outputs, f.guard, dims)


def values(variable: Var, dims: Dims) -> range:
    """Every value of a variable.

    Raises:
        CoordinateError: it has no bounds.
    """
    if variable.high is None:
        raise CoordinateError(f"coordinate {variable.name} has no bounds")
    return range(_low(variable, dims), evaluate(variable.high, dims) + 1)


# -- wording -----------------------------------------------------------------------------------
def show(place: Mapping[str, int]) -> str:
    return ", ".join(f"{axis} = {value}" for axis, value in place.items()) or "the only place"


def show_all(places: Iterable[Place]) -> str:
    found = unique_places(places)
    shown = " and ".join(f"({show(place)})" for place in found[:4])
    return shown + (f" and {len(found) - 4} more" if len(found) > 4 else "")


def element(f: Map, point: Point) -> str:
    return "(" + ", ".join(str(point[v]) for v in f.coordinates) + ")"


def named(f: Map, point: Point) -> dict[str, int]:
    return {v.name.rstrip("'"): point[v] for v in (*f.coordinates, *f.replicas) if v in point}


def collision(f: Map, one: Point, two: Point, place: Place, dims: Dims) -> Witness:
    return Witness(
        f"elements {element(f, one)} and {element(f, two)} are both at {show(place)}",
        (named(f, one), named(f, two)),
        (place,),
        dict(dims),
    )


def same_copies(
    f: Map, point: Point, copies: tuple[list[int], list[int]], place: Place, dims: Dims
) -> Witness:
    first, second = (", ".join(map(str, copy)) for copy in copies)
    return Witness(
        f"copies ({first}) and ({second}) of element {element(f, point)} are both at {show(place)}",
        (named(f, {v: point[v] for v in f.coordinates}),),
        (place,),
        dict(dims),
    )


def meeting(f: Map, at_f: Point, g: Map, at_g: Point, place: Place, dims: Dims) -> Witness:
    return Witness(
        f"element {element(f, at_f)} of the first and {element(g, at_g)} of the second are both at "
        f"{show(place)}",
        (named(f, at_f), named(g, at_g)),
        (place,),
        dict(dims),
    )


def round_trip(f: Map, g: Map, at_f: Point, dims: Dims) -> Witness | None:
    """What goes wrong when element at_f goes to its place and back; None when it comes back."""
    place = place_at(f, at_f, dims)
    start = f"element {element(f, at_f)} goes to {show(place)}"
    back: dict[Var, int] = {}
    names = {variable.name: variable for variable in g.coordinates}
    if set(names) == set(place):
        back = {variable: place[name] for name, variable in names.items()}
    else:
        index = next(iter(place.values()), 0)
        if not 0 <= index < evaluate(g.size, dims):
            return Witness(
                f"{start}, outside the other's domain", (named(f, at_f),), (place,), dict(dims)
            )
        back = point_at(g, index, dims)
    inside = all(
        (v.low is None or number >= evaluate(v.low, dims))
        and (v.high is None or number <= evaluate(v.high, dims))
        for v, number in back.items()
    )
    if not inside or not g.admits(back, dims):
        return Witness(
            f"{start}, outside the other's domain", (named(f, at_f),), (place,), dict(dims)
        )
    result = place_at(g, back, dims)
    wanted = named(f, {v: at_f[v] for v in f.coordinates})
    if set(result) != set(wanted):
        axis = next(iter(result), "m")
        result = {axis: result.get(axis, 0)}
        wanted = {axis: integers.values_of([f.index], at_f, dims)[0]}
    if result == wanted:
        return None
    return Witness(
        f"{start}, which comes back as {show(result)} instead of {show(wanted)}",
        (named(f, at_f),),
        (place, result),
        dict(dims),
    )


# -- checking what was given -------------------------------------------------------------------
def check_composable(claim: str, f: Subject, g: Subject) -> None:
    """Raises ClaimError unless f's places can be put into g and g's back compared with f's."""
    first, second = as_map(f), as_map(g)
    for one in (first, second):
        if one is second and one.replicas:
            raise ClaimError(
                f"{claim}: {g} gives several places for one element; it cannot be an inverse"
            )
    names = {variable.name for variable in second.coordinates}
    if set(first.axes) != names and len(first.axes) > 1:
        raise ClaimError(
            f"{claim}: places on ({', '.join(first.axes) or 'no axis'}) cannot be put into "
            f"coordinates ({', '.join(sorted(names))}); name the inverse's coordinates after the "
            "axes"
        )
    wanted = {variable.name for variable in first.coordinates}
    if set(second.axes) != wanted and len(second.axes) > 1:
        raise ClaimError(
            f"{claim}: ({', '.join(second.axes)}) is neither one flat index nor the coordinates "
            f"({', '.join(sorted(wanted))})"
        )


def ranges(claim: str, subject: Subject, given: object) -> tuple[Range, ...]:
    """A box or limits as (axis, lowest, highest), both inside, in the order given."""
    if isinstance(given, tuple) and all(isinstance(r, tuple) and len(r) == 3 for r in given):
        return given
    if not isinstance(given, Mapping):
        raise ClaimError(f"{claim}: a box is a mapping axis -> size or (low, high); got {given!r}")
    known = as_map(subject).axes
    found: list[Range] = []
    for axis, value in given.items():
        name = _axis_name(claim, axis, known)
        if any(name == other for other, _, _ in found):
            raise ClaimError(f"{claim}: two ranges of axis {name}")
        low: Any = 0
        high: Any = value
        if isinstance(value, tuple) and len(value) == 2:
            low, high = value
        if not is_size(low) or not is_size(high):
            raise ClaimError(
                f"{claim}: the range of {name} is a size or a pair of them; got {value!r}"
            )
        low, high = as_size(low), as_size(high)
        if isinstance(low, int) and isinstance(high, int) and high <= low:
            raise ClaimError(
                f"{claim}: the range {low}..{high} of {name} is empty (high end outside)"
            )
        found.append((name, low, high - 1))
    return tuple(found)


def box_text(box: Sequence[Range]) -> str:
    return "{" + ", ".join(f"{axis}: {low}..{high}" for axis, low, high in box) + "}"


def range_symbols(box: Sequence[Range]) -> frozenset[Symbol]:
    found: frozenset[Symbol] = frozenset()
    for _, low, high in box:
        found |= symbols(low) | symbols(high)
    return found


def range_divisors(box: Sequence[Range]) -> frozenset[Size]:
    found: frozenset[Size] = frozenset()
    for _, low, high in box:
        found |= divisors(low) | divisors(high)
    return found


def axis_limit(axis: str) -> int | None:
    """The hardware's limit on a registered axis; None for others."""
    try:
        return Axis.get(axis).limit
    except AxisError:
        return None


# -- inside ------------------------------------------------------------------------------------
def _axis_name(claim: str, axis: object, known: Sequence[str]) -> str:
    name = axis.name if isinstance(axis, Axis) else axis
    if not isinstance(name, str):
        raise ClaimError(f"{claim}: a box names axes; got {axis!r}")
    if name == reg.name:
        name = m.name  # as in layouts, where it is another spelling
    if name not in known:
        try:
            Axis.get(name)
        except AxisError:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ClaimError(
                f"{claim}: no axis {name!r} here: the axes are {', '.join(known) or 'none'}{hint}"
            ) from None
    return name


def _low(variable: Var, dims: Dims) -> int:
    return 0 if variable.low is None else evaluate(variable.low, dims)


def _linear_parts(term: Term) -> list[tuple[Var, Size]] | None:
    if isinstance(term, Const):
        return []
    if isinstance(term, Var):
        return [(term, 1)]
    if isinstance(term, Sum) and all(isinstance(part, Var) for part, _ in term.parts):
        return list(term.parts)  # type: ignore[arg-type]
    return None
