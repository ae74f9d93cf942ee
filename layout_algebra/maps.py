"""Map: named coordinates in, named places out.

Everything that the library reasons about is a Map: a layout (logical index -> places), an inverse
(places -> index), an access pattern (lane, column -> place), a Python formula.

    frag = Map.of(lambda i, j: {"laneid": 4*i + j//2 % 4, "m": j % 2}, (8, 16))

* `coordinates` are variables with ranges; the first varies slowest, as in row-major order.
* `outputs` give one term for each axis; an axis that is not named is 0.
* `replicas` are variables that are not inputs: each of their values gives one more place.
* `guard` restricts the domain: coordinates where a condition fails are not in it.

Two maps compose by substitution, so a property of a composed map is a property of terms, and every
interpreter serves it.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from layout_algebra import folding, terms
from layout_algebra.arithmetic import integers
from layout_algebra.arithmetic.text import condition_text, text
from layout_algebra.callables import coordinates_of, outputs_of
from layout_algebra.conditions import Condition, at_most
from layout_algebra.dims import (
    Size,
    Symbol,
    as_size,
    at_least,
    evaluate,
    is_size,
    positive_symbols,
    product,
)
from layout_algebra.errors import CoordinateError, TraceError
from layout_algebra.showing import Shown
from layout_algebra.terms import Term, Var
from layout_algebra.tracing import Conditions, Traced, term_of

if TYPE_CHECKING:
    from layout_algebra.arithmetic.expressions import Formula

#: Names for the coordinates of a shape, as people write them.
_FEW = ("i", "j", "k")

Place = dict[str, int]

#: Places that `table` makes arrays of (8 bytes for each, on each axis).
MOST_TABLE = 1 << 28


@dataclass(frozen=True)
class Map(Shown):
    """A map from named coordinates to sets of places; see the module's text."""

    coordinates: tuple[Var, ...]
    outputs: tuple[tuple[str, Term], ...]
    replicas: tuple[Var, ...] = ()
    guard: tuple[Condition, ...] = ()

    # -- making -------------------------------------------------------------------------------
    @staticmethod
    def of(
        source: Any,
        shape: Any = None,
        *,
        where: Callable[..., Any] | None = None,
        copies: Sequence[str] = (),
    ) -> Map:
        """The Map of a layout, or of a Python callable traced once with symbols.

        Args:
            source: anything with a `map(shape)` method, or a callable of integers.
            shape: sizes of the callable's parameters in order (those without a default), or a
                mapping from their names to a size or a pair (lowest, highest); not for layouts.
            where: a callable of the same parameters that gives conditions joined by `&`; the
                map is restricted to the coordinates where they hold.
            copies: names of the callable's parameters that are no coordinates: each of their values
                gives one more place.

        The callable returns a dict axis -> integer, or one integer for axis `m`.

        Raises:
            TraceError: it branches on a symbol, or returns something else.
        """
        if isinstance(source, Map):
            return source
        if hasattr(source, "map") and not inspect.isroutine(source):
            return source.map(shape)
        if not callable(source):
            raise TraceError(f"a layout or a callable is needed; got {source!r}")
        coordinates = coordinates_of(source, shape)
        symbols = [Traced(variable) for variable in coordinates]
        outputs = outputs_of(source(*symbols))
        guard: tuple[Condition, ...] = ()
        if where is not None:
            kept = where(*symbols)
            if not isinstance(kept, Conditions):
                raise TraceError(f"where= gives conditions on its parameters; got {kept!r}")
            guard = kept.all
        names = [variable.name for variable in coordinates]
        for name in copies:
            if name not in names:
                raise TraceError(
                    f"no parameter {name!r} to count copies; there is ({', '.join(names)})"
                )
        inputs = tuple(variable for variable in coordinates if variable.name not in copies)
        replicas = tuple(variable for variable in coordinates if variable.name in copies)
        if not folding.variables(condition.term for condition in guard).isdisjoint(replicas):
            raise TraceError(
                "where= is about coordinates; it cannot leave out copies of an element"
            )
        return Map(inputs, outputs, replicas, guard)

    # -- reading ------------------------------------------------------------------------------
    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for axis, _ in self.outputs)

    def output(self, axis: str) -> Term:
        """The term of an axis; 0 for one that is not named."""
        return dict(self.outputs).get(axis, terms.const(0))

    @property
    def extents(self) -> tuple[Size, ...]:
        """How many values each coordinate has.

        Raises:
            CoordinateError: a coordinate that is not bounded.
        """
        found: list[Size] = []
        for variable in self.coordinates:
            if variable.extent is None:
                raise CoordinateError(f"coordinate {variable.name} has no bounds")
            found.append(variable.extent)
        return tuple(found)

    @property
    def size(self) -> Size:
        """Number of coordinates in the domain, before the guard."""
        return product(self.extents)

    @property
    def copies(self) -> Size:
        """Number of places of each element, with multiplicity."""
        return product(variable.extent for variable in self.replicas if variable.extent is not None)

    @property
    def index(self) -> Term:
        """The row-major flat index of the coordinates, from 0."""
        weight: Size = 1
        parts: list[tuple[Term, Size]] = []
        shift: Size = 0
        for variable, extent in zip(
            reversed(self.coordinates), reversed(self.extents), strict=True
        ):
            parts.append((variable, weight))
            shift = shift - _least(variable) * weight
            weight = weight * extent
        return terms.linear(parts, shift)

    def all_terms(self) -> list[Term]:
        """Outputs and guard terms."""
        return [*(term for _, term in self.outputs), *(condition.term for condition in self.guard)]

    def symbols(self) -> frozenset[Symbol]:
        """The Dims that occur anywhere in it."""
        return folding.term_symbols([*self.all_terms(), *self.coordinates, *self.replicas])

    def divisors(self) -> frozenset[Size]:
        """The symbolic sizes that it divides by: it exists only where they are at least 1."""
        return folding.divisors([*self.all_terms(), *self.coordinates, *self.replicas])

    @property
    def is_symbolic(self) -> bool:
        return bool(self.symbols())

    # -- changing -----------------------------------------------------------------------------
    def renamed(self, suffix: str) -> Map:
        """The same map with fresh variables: every name gets the suffix."""
        values: dict[Var, Term] = {
            old: terms.var(old.name + suffix, old.low, old.high)
            for old in (*self.coordinates, *self.replicas)
        }
        return self._rebuilt(values)

    def fixed(self, **values: int | Size) -> Map:
        """The restriction to given values of some coordinates.

        Raises:
            CoordinateError: a coordinate that is not there, or a value outside its range.
        """
        replacement: dict[Var, Term] = {}
        for name, value in values.items():
            variable = self._coordinate(name)
            _check_inside(variable, value)
            replacement[variable] = terms.const(as_size(value))
        rest = tuple(c for c in self.coordinates if c not in replacement)
        return replace(self._rebuilt(replacement), coordinates=rest)

    def feed(self, inputs: Mapping[str, Term]) -> dict[Var, Term]:
        """Terms for this map's coordinates when another map's outputs are put in.

        Matched by name; a single input (or none, the place 0) also fits any coordinates, as their
        row-major flat index.

        Raises:
            CoordinateError: the names do not match.
        """
        names = {variable.name: variable for variable in self.coordinates}
        if set(names) == set(inputs):
            return {variable: inputs[name] for name, variable in names.items()}
        if len(inputs) <= 1:
            only = next(iter(inputs.values()), terms.const(0))  # no axis: the only place, 0
            digits = terms.split(only, self.extents)
            return {
                variable: terms.add(digit, terms.const(_least(variable)))
                for variable, digit in zip(self.coordinates, digits, strict=True)
            }
        raise CoordinateError(
            f"coordinates ({', '.join(names)}) cannot be fed from places on "
            f"({', '.join(inputs) or 'no axis'})"
        )

    def after(self, inner: Map, *, inside: bool = False) -> Map:
        """self(inner(x)): inner's outputs become self's coordinates.

        The domain is where inner's places lie in self's domain: what ranges do not show becomes
        part of the guard, unless it is known that all of them lie `inside`.

        Raises:
            CoordinateError: the names do not match, or the domain would depend on a copy.
        """
        outer = self.renamed("'") if _shared(self, inner) else self
        names = dict(zip((v.name for v in outer.coordinates), self.coordinates, strict=True))
        inputs = dict(inner.outputs)
        fed = self.feed(inputs)
        values = {variable: fed[names[variable.name]] for variable in outer.coordinates}
        result = outer._rebuilt(values)
        bounds = [] if inside else self._inside(inputs, fed)
        guard = (*inner.guard, *bounds, *result.guard)
        replicas = (*inner.replicas, *outer.replicas)
        used = folding.variables(condition.term for condition in guard)
        if used & set(replicas):
            raise CoordinateError(
                "the domain of the composed map would depend on the copy: some copies of an "
                "element lie in the outer map's domain and others may not"
            )
        return Map(inner.coordinates, result.outputs, replicas, guard)._with_plain_names()

    def _inside(self, inputs: Mapping[str, Term], fed: Mapping[Var, Term]) -> list[Condition]:
        """Conditions that what is fed lies in this map's ranges, without those that are sure."""
        ranges = [(term, v.low, v.high) for v, term in fed.items()]
        if set(inputs) != {v.name for v in self.coordinates}:  # fed as one flat index
            only = next(iter(inputs.values()), terms.const(0))
            ranges = [(only, 0, self.size - 1)]
        known = positive_symbols(v.extent for v in self.coordinates if v.extent is not None)
        found: list[Condition] = []
        for term, low, high in ranges:
            if low is not None and (term.low is None or not at_least(term.low - low, 0, known)):
                found.append(at_most(low, term))
            if high is not None and (term.high is None or not at_least(high - term.high, 0, known)):
                found.append(at_most(term, high))
        return found

    def _with_plain_names(self) -> Map:
        """The same map without primes: claims prime names to tell two copies of a map apart."""
        taken = {variable.name for variable in (*self.coordinates, *self.replicas)}
        values: dict[Var, Term] = {}
        for old in (*self.coordinates, *self.replicas):
            if "'" in old.name:
                name = old.name.rstrip("'")
                while name in taken:
                    name += "_"
                taken.add(name)
                values[old] = terms.var(name, old.low, old.high)
        return self._rebuilt(values) if values else self

    def evaluated(self, **dims: int) -> Map:
        """The concrete map for these values of the Dims."""

        def size(value: Size) -> Size:
            return evaluate(value, dims)

        values: dict[Var, Term] = {
            old: terms.var(
                old.name,
                None if old.low is None else size(old.low),
                None if old.high is None else size(old.high),
            )
            for old in (*self.coordinates, *self.replicas)
        }
        return self._rebuilt(values, size)

    def _rebuilt(
        self, values: Mapping[Var, Term], size: Callable[[Size], Size] | None = None
    ) -> Map:
        def put(term: Term) -> Term:
            return folding.substitute(term, values, size)

        def variables(olds: Iterable[Var]) -> tuple[Var, ...]:
            new = [values.get(old, old) for old in olds]
            return tuple(term for term in new if isinstance(term, Var))

        return Map(
            variables(self.coordinates),
            tuple((axis, put(term)) for axis, term in self.outputs),
            variables(self.replicas),
            tuple(Condition(c.kind, put(c.term)) for c in self.guard),
        )

    # -- evaluating ---------------------------------------------------------------------------
    def apply(self, *coordinates: Any, **named: Any) -> dict[str, Any]:
        """The place of one element (of its first copy): axis -> int.

        Traced coordinates give traced places, so that formulas can build on layouts.

        Raises:
            CoordinateError: the wrong number of coordinates, one outside its range, a point
                outside the guard, or Dims without a value.
        """
        values = self._values(coordinates, named)
        values |= {replica: terms.const(_least(replica)) for replica in self.replicas}
        if any(not isinstance(v, terms.Const) for v in values.values()) or self.is_symbolic:
            placed = self._rebuilt(values)
            return {axis: _number_or_traced(term) for axis, term in placed.outputs}
        point = {variable: value.fields[0] for variable, value in values.items()}
        self._check_guard(point)
        found = integers.values_of((term for _, term in self.outputs), point)
        return dict(zip(self.axes, found, strict=True))

    def places(self, *coordinates: int, **named: int) -> list[Place]:
        """All places of one element, each once, in the order of the replicas."""
        point: dict[Var, int] = {}
        for variable, term in self._values(coordinates, named).items():
            if not isinstance(term, terms.Const) or not isinstance(term.value, int):
                raise CoordinateError(f"places needs numbers; got {variable.name} = {text(term)}")
            point[variable] = term.value
        self._check_guard(point)
        return unique_places(self.places_at(point))

    def places_at(
        self, point: Mapping[Var, int], dims: Mapping[str, int] | None = None
    ) -> Iterator[Place]:
        """The places of the element at a point, one for each value of the replicas."""
        dims = dims or {}
        ranges = [_values_of(replica, dims) for replica in self.replicas]
        for copies in itertools.product(*ranges):
            values = {**point, **dict(zip(self.replicas, copies, strict=True))}
            numbers = integers.values_of((term for _, term in self.outputs), values, dims)
            yield dict(zip(self.axes, numbers, strict=True))

    def points(self, dims: Mapping[str, int] | None = None) -> Iterator[dict[Var, int]]:
        """Every coordinate in the domain, row-major, the guard respected."""
        ranges = [_values_of(variable, dims or {}) for variable in self.coordinates]
        for values in itertools.product(*ranges):
            point = dict(zip(self.coordinates, values, strict=True))
            if self.admits(point, dims):
                yield point

    def admits(self, point: Mapping[Var, int], dims: Mapping[str, int] | None = None) -> bool:
        """Whether the guard holds at a point."""
        if not self.guard:
            return True
        numbers = integers.values_of((condition.term for condition in self.guard), point, dims)
        return all(c.holds(number) for c, number in zip(self.guard, numbers, strict=True))

    def table(self) -> dict[str, Any]:
        """Every element's place at once: axis -> int64 array over the coordinates' extents.

        With replicas, one more dimension for each of them at the end.

        Raises:
            CoordinateError: sizes that are not numbers, or values beyond 62 bits.
        """
        from layout_algebra.arithmetic import arrays  # NumPy is loaded only when asked for

        if self.is_symbolic:
            raise CoordinateError("a table needs numbers for the sizes: evaluate the Dims first")
        count = product([*self.extents, self.copies])
        if isinstance(count, int) and count > MOST_TABLE:
            raise CoordinateError(f"a table of {count} places: more than the {MOST_TABLE} allowed")
        variables = (*self.coordinates, *self.replicas)
        ranges = [_values_of(variable, {}) for variable in variables]
        spans = [
            (v, values.start, len(values)) for v, values in zip(variables, ranges, strict=True)
        ]
        found = arrays.arrays_of((term for _, term in self.outputs), arrays.grid(spans))
        shape = tuple(extent for _, _, extent in spans)
        return {
            axis: arrays.np.broadcast_to(value, shape).copy()
            for axis, value in zip(self.axes, found, strict=True)
        }

    def formula(self) -> Formula:
        """The closed form of every axis: SymPy expressions that print as the book writes them."""
        from layout_algebra.arithmetic.expressions import Formula  # SymPy only when asked for

        return Formula.of(self.outputs)

    def __str__(self) -> str:
        names = ", ".join(variable.name for variable in self.coordinates)
        body = ", ".join(f"{axis} = {text(term)}" for axis, term in self.outputs)
        copies = "".join(f", {v.name} < {v.extent}" for v in self.replicas)
        guard = "".join(f" where {condition_text(condition)}" for condition in self.guard)
        return f"({names}) -> {{{body}}}{copies}{guard}"

    # -- inside -------------------------------------------------------------------------------
    def _coordinate(self, name: str) -> Var:
        for variable in self.coordinates:
            if variable.name == name:
                return variable
        known = ", ".join(variable.name for variable in self.coordinates)
        raise CoordinateError(f"no coordinate {name!r}; this map has ({known})")

    def _values(self, given: Sequence[Any], named: Mapping[str, Any]) -> dict[Var, Term]:
        if len(given) > len(self.coordinates):
            raise CoordinateError(f"{len(given)} coordinates for a map of {len(self.coordinates)}")
        values = dict(zip(self.coordinates, given, strict=False))
        for name, value in named.items():
            variable = self._coordinate(name)
            if variable in values:
                raise CoordinateError(
                    f"two values for coordinate {name}: {values[variable]}, {value}"
                )
            values[variable] = value
        missing = [variable.name for variable in self.coordinates if variable not in values]
        if missing:
            raise CoordinateError(f"no value for coordinate {', '.join(missing)}")
        out: dict[Var, Term] = {}
        for variable, value in values.items():
            term = term_of(value)
            if isinstance(term, terms.Const):
                _check_inside(variable, term.value)
            out[variable] = term
        return out

    def _check_guard(self, point: Mapping[Var, int]) -> None:
        if not self.admits(point):
            shown = ", ".join(f"{v.name}={value}" for v, value in point.items())
            raise CoordinateError(
                f"({shown}) is outside the map's domain: {condition_text(self.guard[0])} fails"
            )


def shape_coordinates(shape: Sequence[Size], taken: Iterable[Symbol] = ()) -> tuple[Var, ...]:
    """Coordinates for a shape: i, j, k up to three dimensions, i0, i1, ... beyond.

    A Dim that is in use (`taken`) keeps its name: the coordinates are then x0, x1, ...
    """
    names = _FEW if len(shape) <= len(_FEW) else [f"i{k}" for k in range(len(shape))]
    if {symbol.name for symbol in taken} & set(names[: len(shape)]):
        names = [f"x{k}" for k in range(len(shape))]
    return tuple(terms.coordinate(name, extent) for name, extent in zip(names, shape, strict=False))


def unique_places(places: Iterable[Place]) -> list[Place]:
    """The places without repetitions, in order."""
    seen: set[tuple[tuple[str, int], ...]] = set()
    kept: list[Place] = []
    for place in places:
        key = tuple(sorted((axis, value) for axis, value in place.items() if value))
        if key not in seen:
            seen.add(key)
            kept.append(place)
    return kept


def _least(variable: Var) -> Size:
    """A variable's lowest value, 0 for one that has none."""
    return 0 if variable.low is None else variable.low


def _check_inside(variable: Var, value: Size) -> None:
    if not is_size(value):
        raise CoordinateError(f"the value of {variable.name} is an int or a Dim; got {value!r}")
    low, high = variable.low, variable.high
    bad_low = low is not None and not at_least(value - low, 0)
    bad_high = high is not None and not at_least(high - value, 0)
    if bad_low or bad_high:
        shown_low = "-inf" if low is None else low
        shown_high = "inf" if high is None else high
        raise CoordinateError(f"{variable.name} = {value} is outside {shown_low}..{shown_high}")


def _values_of(variable: Var, dims: Mapping[str, int]) -> range:
    if variable.low is None or variable.high is None:
        raise CoordinateError(f"coordinate {variable.name} has no bounds")
    return range(evaluate(variable.low, dims), evaluate(variable.high, dims) + 1)


def _shared(a: Map, b: Map) -> bool:
    names = {variable.name for variable in (*b.coordinates, *b.replicas)}
    return any(variable.name in names for variable in (*a.coordinates, *a.replicas))


def _number_or_traced(term: Term) -> Any:
    return term.value if isinstance(term, terms.Const) else Traced(term)
