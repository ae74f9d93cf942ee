"""What an exhaustive check asks of one element of two maps, as source text.

    places_texts([f, g])    # places(i), for each: what two maps are compared by
    same_place(f, g)        # two passes: where f puts it; whether g puts it there
    round_trip(f, g)        # two passes: where f puts it; whether g brings it back from there
    filling_text(f)         # fill(start, stop, rows): the first pass alone

Two passes, with the first one's numbers in memory between them, so that both maps are computed: a
compiler that sees one expression may find that it is constant, and nothing would be looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layout_algebra import terms
from layout_algebra.device.element_texts import Text, range_of
from layout_algebra.device.kernels import (
    GUARD,
    Body,
    body_at,
    flat_map,
    function_text,
    guarded,
)
from layout_algebra.device.source_text import PYTHON, Words, check_range, least_width
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var

#: Elements between two passes: their words stay in a processor's nearest memory.
STRETCH = 512


@dataclass(frozen=True)
class Passes:
    """Two functions of one element: `first(i)` gives words, `bad(i, x0, ...)` takes them.

    Attributes:
        first, bad: their source.
        count: the source of `count(start, stop)`: how many elements are bad.  It does what `first`
            does for a stretch of elements, into an array, and then calls `bad` for each of them.
    """

    first: str
    bad: str
    count: str

    @staticmethod
    def of(body: Body, bad: Sequence[str]) -> Passes:
        """From what the first pass does, and the statements of the second."""
        words = [f"x{k}" for k in range(len(body.results))]
        given = ", ".join(
            [f"uint{body.width}(begin + k)", *(f"rows[{k}, k]" for k in range(len(words)))]
        )
        count = (
            "def count(start, stop):\n    found = 0\n"
            f"    rows = numpy.empty(({len(words)}, {STRETCH}), numpy.uint{body.width})\n"
            f"    for begin in range(start, stop, {STRETCH}):\n"
            f"        size = min({STRETCH}, stop - begin)\n"
            f"        for k in range(size):\n{_stored(body, 'begin + k', 12)}"
            f"        for k in range(size):\n            found += bad({given})\n    return found\n"
        )
        return Passes(
            function_text("first", "i", body.lines, body.results),
            f"def bad({', '.join(['i', *words])}):\n" + "".join(f"    {line}\n" for line in bad),
            count,
        )


def _stored(body: Body, index: str, indent: int) -> str:
    """The statements that put the results of element `index` into column k of `rows`."""
    stores = [f"rows[{k}, k] = {result}" for k, result in enumerate(body.results)]
    lines = [f"i = uint{body.width}({index})", *body.lines, *stores]
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def filling_text(source: Map) -> Text:
    """`fill(start, stop, rows)`: a map's places, and whether elements are in the domain, as rows.

    Raises:
        CoordinateError, WidthError: as for `places_texts`.
    """
    body = least_width(lambda width: _bodies(width, _columns([source]))[0])[1]
    loop = f"    for k in range(stop - start):\n{_stored(body, 'start + k', 8)}"
    return Text(f"def fill(start, stop, rows):\n{loop}", "fill", body.width)


def places_texts(sources: Sequence[Map]) -> list[Text]:
    """For each map a function `places(i)`, to be compared: the place on the axes of all of them, in
    one order, and then 1 or 0, whether the element is in the domain.

    Raises:
        CoordinateError: symbolic sizes, coordinates without bounds, or an axis named as the guard.
        WidthError: an axis whose numbers, over all the maps, are beyond 64 bits.
    """
    columns = _columns(sources)

    def make(width: int) -> list[str]:
        bodies = _bodies(width, columns)
        return [function_text("places", "i", one.lines, one.results) for one in bodies]

    width, texts = least_width(make)
    return [Text(text, "places", width) for text in texts]


def same_place(f: Map, g: Map) -> Passes:
    """Whether two maps without copies send an element elsewhere; both may leave it out.

    Raises:
        CoordinateError, WidthError: as for `places_texts`.
    """
    columns = _columns([f, g])

    def make(width: int) -> Passes:
        there, here = _bodies(width, columns)
        names = [f"x{k}" for k in range(len(there.results))]
        apart = " or ".join(f"{a} != {b}" for a, b in zip(here.results, names, strict=True))
        known = f"{here.results[-1]} != uint{width}(0) or {names[-1]} != uint{width}(0)"
        return Passes.of(there, [*here.lines, f"return ({apart}) and ({known})"])

    return least_width(make)[1]


def round_trip(f: Map, g: Map) -> Passes:
    """Whether g(f(x)) is not x, for an element (and copy) of f.

    f's places are g's coordinates by name, or, from a single axis, its flat index; g gives f's
    coordinates by name, or its flat index.

    Raises:
        CoordinateError: symbolic sizes, or coordinates without bounds.
        WidthError: numbers beyond 64 bits.
    """
    pairs = _pairs(f, g)
    wanted = [(f"wanted {k}", term) for k, (_, term) in enumerate(pairs)]
    flat, _ = flat_map(Map(f.coordinates, (*f.outputs, *wanted), f.replicas, f.guard))
    found = [term for _, term in flat.outputs]
    places = dict(zip(f.axes, found, strict=False))
    if {variable.name for variable in g.coordinates} != set(f.axes):
        index = terms.coordinate("index", g.size)
        g = g.after(Map((index,), (("flat index", index),)), inside=True)
        places = {"index": next(iter(places.values()), terms.const(0))}
    back = guarded(g)
    trip = _Trip(
        flat=flat,
        inside=found[-1] if f.guard else terms.const(1),
        fed=[(v, places[v.name]) for v in back.coordinates],
        returned=[back.output(axis) for axis, _ in pairs],
        wanted=found[len(f.axes) : len(f.axes) + len(wanted)],
        defined=back.outputs[-1][1] if g.guard else terms.const(1),
    )
    return least_width(trip.passes)[1]


# -- inside --------------------------------------------------------------------------------------
def _columns(sources: Sequence[Map]) -> list[Map]:
    """The maps of a flat index, on all their axes in one order, and then the guard or 1."""
    axes = list(dict.fromkeys(axis for source in sources for axis in source.axes))
    columns: list[Map] = []
    for source in sources:
        flat, _ = flat_map(source)
        found = dict(flat.outputs)
        inside = found.pop(GUARD) if source.guard else terms.const(1)
        outputs = [(axis, found.get(axis, terms.const(0))) for axis in axes]
        columns.append(Map(flat.coordinates, (*outputs, ("inside", inside))))
    return columns


def _bodies(width: int, columns: Sequence[Map]) -> list[Body]:
    """What computes them, on words in which different numbers of one axis differ."""
    for on_axis in zip(*(one.outputs for one in columns), strict=True):
        _comparable([term for _, term in on_axis], width)
    return [body_at(width, one, dict.fromkeys(one.coordinates, "i"), PYTHON) for one in columns]


def _pairs(f: Map, g: Map) -> list[tuple[str, Term]]:
    """An axis of g, and the term of f's coordinates that it has to give back."""
    names = {variable.name: variable for variable in f.coordinates}
    if set(names) == set(g.axes):
        return list(names.items())
    return [(next(iter(g.axes), ""), f.index)]


@dataclass(frozen=True)
class _Trip:
    """There and back: terms of f's flat index, and of g's coordinates.

    Attributes:
        flat: f.
        inside, fed, wanted: whether an element is in f's domain, what goes into each of g's
            coordinates, and what has to come back.
        returned, defined: what comes back, and whether g is defined there.
    """

    flat: Map
    inside: Term
    fed: Sequence[tuple[Var, Term]]
    wanted: Sequence[Term]
    returned: Sequence[Term]
    defined: Term

    def passes(self, width: int) -> Passes:
        """The two passes on words of a width.

        Raises:
            WidthError: it is too small.
        """
        there = [term for _, term in self.fed] + [*self.wanted, self.inside]
        named = [(f"number {k}", term) for k, term in enumerate(there)]
        flat = Map(self.flat.coordinates, tuple(named))
        first = body_at(width, flat, dict.fromkeys(flat.coordinates, "i"), PYTHON)
        names = {v: f"x{k}" for k, (v, _) in enumerate(self.fed)}
        wanted = [f"x{k}" for k in range(len(names), len(there) - 1)]
        for term in (*self.returned, self.defined):
            check_range("a number that comes back", term.low, term.high, width)
        back = Words(PYTHON, width, names)
        returned = [back.name_of(term) for term in self.returned]
        defined = back.name_of(self.defined)
        for a, b in zip(self.returned, self.wanted, strict=True):
            _comparable([a, b], width)
        apart = [f"{a} != {b}" for a, b in zip(returned, wanted, strict=True)]
        bad = [
            f"if x{len(there) - 1} == uint{width}(0):\n        return False",
            *(self._outside(v, term, names[v], width) for v, term in self.fed),
            *back.lines_for([*returned, defined]),
            f"return {' or '.join([f'{defined} == uint{width}(0)', *apart])}",
        ]
        return Passes.of(first, [line for line in bad if line])

    def _outside(self, variable: Var, place: Term, name: str, width: int) -> str:
        """The statement that answers when a place is none of g's coordinate values."""
        least, most = range_of(variable.name, place)
        low, high = range_of(variable.name, variable)
        if low <= least and most <= high:
            return ""
        _comparable([place, variable], width)
        w = f"uint{width}"
        gap = f"{w}({name} - {w}({low % (1 << width)}))"
        return f"if {gap} > {w}({high - low}):\n        return True"


def _comparable(compared: Sequence[Term], width: int) -> None:
    """Raises WidthError where two different numbers may be one residue."""
    ranges = [range_of("a number", term) for term in compared]
    span = max(high for _, high in ranges) - min(low for low, _ in ranges)
    check_range("the span of the numbers that are compared", 0, span, width)
