"""What an exhaustive check asks of one element, as source text.

    cells_of(f, box)        # cell(i): the number of the element's place in the box
    places_texts([f, g])    # places(i), for each: what two maps are compared by
    astray_text(f, g)       # bad(i): g does not give element i of f back

The texts are written by the emitter of `kernels` and mean the same under CPython and compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layout_algebra import terms
from layout_algebra.device.kernels import (
    GUARD,
    body_at,
    flat_map,
    function_text,
    guarded,
    number,
)
from layout_algebra.device.source_text import PYTHON, WidthError, Words, check_range, least_width
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var

#: A box: (axis, lowest, highest), both inside.
Box = Sequence[tuple[str, int, int]]


@dataclass(frozen=True)
class Text:
    """A function of one element, `name(i)`, on words of a width.

    Attributes:
        text: its source.
        name: what it is called.
        width: bits of its argument and of its results.
    """

    text: str
    name: str
    width: int


@dataclass(frozen=True)
class Cells(Text):
    """`cell(i)`: a number for the place of each element (each copy) that is inside a box.

    Attributes:
        volume: the places of the box: cells are below it.
        box: the box.
        elements, copies: how many there are; i counts all copies.
        guarded: whether some elements may be outside the domain.
    """

    volume: int
    box: Box
    elements: int
    copies: int
    guarded: bool

    @property
    def total(self) -> int:
        return self.elements * self.copies

    @property
    def astray(self) -> int:
        """The cell of an element that is outside the box."""
        return self.volume

    @property
    def absent(self) -> int:
        """The cell of an element that is outside the domain."""
        return self.volume + 1

    def place(self, cell: int) -> dict[str, int]:
        """The place of the box with this number."""
        found: dict[str, int] = {}
        for axis, low, high in reversed(self.box):
            cell, digit = divmod(cell, high - low + 1)
            found[axis] = low + digit
        return dict(reversed(found.items()))


def cells_of(source: Map, box: Box | None = None) -> Cells:
    """The cells of a map's places in a box.

    Args:
        source: a map with numbers for sizes.
        box: its axes; a place is inside when it is 0 on all others.  None: a box that holds every
            place, by the ranges of the map's terms.

    Raises:
        CoordinateError: symbolic sizes, or coordinates without bounds.
        WidthError: more than 2^64 cells.
    """
    flat, copies = flat_map(source)
    own = {axis: term for axis, term in flat.outputs if axis != GUARD or not source.guard}
    if box is None:
        box = [(axis, *_range(axis, term)) for axis, term in own.items()]
    box = [*box, *((axis, 0, 0) for axis in own if axis not in {name for name, _, _ in box})]
    volume, key = 1, terms.const(0)
    for axis, low, high in box:
        place = own.get(axis, terms.const(0))
        key = terms.linear([(key, high - low + 1), (place, 1)], -low)
        volume *= high - low + 1
    guarded = bool(source.guard)
    width, text = least_width(lambda w: _cell_text(w, flat, box, key, volume, guarded))
    size = number(flat.size)
    return Cells(text, "cell", width, volume, box, size // copies, copies, guarded)


def _cell_text(width: int, flat: Map, box: Box, key: Term, volume: int, guarded: bool) -> str:
    check_range("the number of a place", 0, volume + 1, width)
    check_range("the number of an element", 0, number(flat.size), width)
    w = f"uint{width}"
    words = Words(PYTHON, width, dict.fromkeys(flat.coordinates, "i"))
    places = dict(flat.outputs)
    tests: list[str] = []
    used: list[str] = []
    for axis, low, high in box:
        place = places.get(axis, terms.const(0))
        least, most = _range(axis, place)
        if least < low or most > high:
            check_range(axis, 0, max(most, high) - min(least, low), width)
            gap = words.name_of(terms.linear([(place, 1)], -low))
            used.append(gap)
            tests.append(f"if {gap} > {w}({high - low}):\n        return {w}({volume})")
    if guarded:
        inside = words.name_of(places[GUARD])
        used.append(inside)
        tests.insert(0, f"if {inside} == {w}(0):\n        return {w}({volume + 1})")
    cell = words.name_of(key)
    # never a number that is no cell: the loops write where it says
    last = f"return {cell} if {cell} < {w}({volume}) else {w}({volume})"
    lines = [*words.lines_for([*used, cell]), *tests, last]
    return "def cell(i):\n" + "".join(f"    {line}\n" for line in lines)


def places_texts(sources: Sequence[Map]) -> list[Text]:
    """For each map a function `places(i)`, to be compared: the place on the axes of all of them, in
    one order, and then 1 or 0, whether the element is in the domain.

    Raises:
        CoordinateError: symbolic sizes, coordinates without bounds, or an axis named as the guard.
        WidthError: an axis whose numbers, over all the maps, are beyond 64 bits.
    """
    flats = [flat_map(source)[0] for source in sources]
    axes = [axis for axis in dict.fromkeys(a for s in sources for a in s.axes)]
    columns = [_columns(source, flat, axes) for source, flat in zip(sources, flats, strict=True)]

    def make(width: int) -> list[str]:
        for position, axis in enumerate(axes):
            ranges = [_range(axis, found.outputs[position][1]) for found in columns]
            check_range(axis, 0, max(h for _, h in ranges) - min(low for low, _ in ranges), width)
        bodies = [
            body_at(width, found, dict.fromkeys(found.coordinates, "i"), PYTHON)
            for found in columns
        ]
        return [function_text("places", "i", one.lines, one.results) for one in bodies]

    width, texts = least_width(make)
    return [Text(text, "places", width) for text in texts]


def _columns(source: Map, flat: Map, axes: Sequence[str]) -> Map:
    """The flat map's outputs on these axes, then its guard or 1."""
    found = dict(flat.outputs)
    inside = found.pop(GUARD) if source.guard else terms.const(1)
    outputs = [(axis, found.get(axis, terms.const(0))) for axis in axes]
    return Map(flat.coordinates, (*outputs, ("inside", inside)))


def astray_text(f: Map, g: Map) -> Text:
    """`bad(i)`: whether g(f(x)) is not x, for element (and copy) i of f.

    f's places are g's coordinates by name, or, from a single axis, its flat index; g gives f's
    coordinates by name, or its flat index.

    Raises:
        CoordinateError: symbolic sizes, or coordinates without bounds.
        WidthError: numbers beyond 64 bits.
    """
    pairs = _pairs(f, g)
    wanted = tuple((f"wanted {k}", term) for k, (_, term) in enumerate(pairs))
    flat, _ = flat_map(Map(f.coordinates, (*f.outputs, *wanted), f.replicas, f.guard))
    found = [term for _, term in flat.outputs]
    places = dict(zip(f.axes, found[: len(f.axes)], strict=True))
    wants = found[len(f.axes) : len(f.axes) + len(wanted)]
    if {variable.name for variable in g.coordinates} != set(f.axes):
        only = next(iter(places.values()), terms.const(0))
        index = terms.coordinate("index", g.size)
        g = g.after(Map((index,), (("flat index", index),)), inside=True)
        places = {"index": only}
    back = guarded(g)
    trip = _Trip(
        flat=flat,
        inside=found[-1] if f.guard else None,
        fed=[(v, places[v.name]) for v in back.coordinates],
        returned=[back.output(axis) for axis, _ in pairs],
        wanted=wants,
        defined=back.outputs[-1][1] if g.guard else None,
    )
    width, text = least_width(trip.text)
    return Text(text, "bad", width)


def _pairs(f: Map, g: Map) -> list[tuple[str, Term]]:
    """An axis of g, and the term of f's coordinates that it has to give back."""
    names = {variable.name: variable for variable in f.coordinates}
    if set(names) == set(g.axes):
        return [(name, variable) for name, variable in names.items()]
    return [(next(iter(g.axes), ""), f.index)]


@dataclass(frozen=True)
class _Trip:
    """There and back: terms of f's flat index, and of g's coordinates."""

    flat: Map
    inside: Term | None
    fed: Sequence[tuple[Var, Term]]
    returned: Sequence[Term]
    wanted: Sequence[Term]
    defined: Term | None

    def text(self, width: int) -> str:
        """The text of `bad(i)` on words of a width.

        Raises:
            WidthError: it is too small.
        """
        check_range("the number of an element", 0, number(self.flat.size), width)
        there = Words(PYTHON, width, dict.fromkeys(self.flat.coordinates, "i"))
        values = [there.name_of(_checked(term, width)) for _, term in self.fed]
        wanted = [there.name_of(_checked(term, width)) for term in self.wanted]
        used, first = [*values, *wanted], list[str]()
        if self.inside is not None:
            used.append(there.name_of(self.inside))
            first.append(f"if {used[-1]} == uint{width}(0):\n        return False")
        names = {v: name for (v, _), name in zip(self.fed, values, strict=True)}
        back = Words(PYTHON, width, names, prefix="s")
        returned = [back.name_of(_checked(term, width)) for term in self.returned]
        needed = list(returned)
        last = " or ".join(f"{a} != {b}" for a, b in zip(returned, wanted, strict=True)) or "False"
        for a, b in zip(self.returned, self.wanted, strict=True):
            _comparable(a, b, width)
        if self.defined is not None:
            needed.append(back.name_of(self.defined))
            last = f"{needed[-1]} == uint{width}(0) or {last}"
        ranges = [self._outside(v, term, names[v], width) for v, term in self.fed]
        lines = [*there.lines_for(used), *first, *ranges, *back.lines_for(needed), f"return {last}"]
        return "def bad(i):\n" + "".join(f"    {line}\n" for line in lines if line)

    def _outside(self, variable: Var, place: Term, name: str, width: int) -> str:
        """The statement that answers when a place is none of g's coordinate values."""
        least, most = _range(variable.name, place)
        low, high = _range(variable.name, variable)
        if low <= least and most <= high:
            return ""
        check_range(variable.name, 0, max(most, high) - min(least, low), width)
        w = f"uint{width}"
        gap = f"{w}({name} - {w}({low % (1 << width)}))"
        return f"if {gap} > {w}({high - low}):\n        return True"


def _checked(term: Term, width: int) -> Term:
    check_range("a number", term.low, term.high, width)
    return term


def _comparable(a: Term, b: Term, width: int) -> None:
    """Raises WidthError where two different numbers may be one residue."""
    ranges = [_range("a number", a), _range("a number", b)]
    span = max(high for _, high in ranges) - min(low for low, _ in ranges)
    check_range("a number", 0, span, width)


def _range(about: str, term: Term) -> tuple[int, int]:
    if not isinstance(term.low, int) or not isinstance(term.high, int):
        raise WidthError(f"{about} has no bounds: bound the map's coordinates")
    return term.low, term.high
