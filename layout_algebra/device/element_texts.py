"""What an exhaustive check asks of one element, as source text.

    cells_of(f, box)          # cell(i): the number of the element's place in the box
    outside_text(f, limits)   # bad(i): whether its place is outside the limits

The texts are written by the emitter of `kernels` and mean the same under CPython and compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from layout_algebra import terms
from layout_algebra.arithmetic import integers
from layout_algebra.device.kernels import (
    GUARD,
    flat_map,
    guarded,
    number,
)
from layout_algebra.device.source_text import PYTHON, WidthError, Words, check_range, least_width
from layout_algebra.folding import variables
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
        order: the names of the coordinates in the order of i, the first varies slowest; and then
            those of the replicas.
    """

    volume: int
    box: Box
    elements: int
    copies: int
    order: tuple[str, ...]

    @property
    def total(self) -> int:
        """Elements times copies."""
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
    guarded(source)  # refuses symbolic sizes
    source = _by_stride(source, box)
    flat, copies = flat_map(source)
    own = {axis: term for axis, term in flat.outputs if axis != GUARD or not source.guard}
    if box is None:
        box = [(axis, *range_of(axis, term)) for axis, term in own.items()]
    box = [*box, *((axis, 0, 0) for axis in own if axis not in {name for name, _, _ in box})]
    key, volume = _number_of(own, box)
    width, text = least_width(lambda w: _cell_text(w, flat, box, key, volume, bool(source.guard)))
    size = number(flat.size)
    order = tuple(variable.name for variable in (*source.coordinates, *source.replicas))
    return Cells(text, "cell", width, volume, box, size // copies, copies, order)


def _number_of(places: Mapping[str, Term], box: Box) -> tuple[Term, int]:
    """The number of a place in a box, row-major, and how many places there are."""
    volume, key = 1, terms.const(0)
    for axis, low, high in box:
        place = places.get(axis, terms.const(0))
        key = terms.linear([(key, high - low + 1), (place, 1)], -low)
        volume *= high - low + 1
    return key, volume


def _by_stride(source: Map, box: Box | None) -> Map:
    """The map with its coordinates in the order of how far their first step goes.

    For a tile the places then come in order, and memory is written in order.  Elsewhere it is a
    guess, which nothing but speed depends on.
    """
    places = dict(source.outputs)
    if box is None:
        box = [(axis, *range_of(axis, term)) for axis, term in source.outputs]
    key, _ = _number_of(places, box)
    start = {variable: range_of(variable.name, variable)[0] for variable in variables([key])}

    def step(variable: Var) -> int:
        if variable not in start or variable.low == variable.high:
            return 0
        here, there = (
            integers.values_of([key], {**start, variable: start[variable] + by})[0] for by in (0, 1)
        )
        return abs(there - here)

    ordered = sorted(source.coordinates, key=step, reverse=True)
    return replace(source, coordinates=tuple(ordered))


def _cell_text(width: int, flat: Map, box: Box, key: Term, volume: int, partial: bool) -> str:
    check_range("the number of a place", 0, volume + 1, width)
    check_range("the number of an element", 0, number(flat.size), width)
    w = f"uint{width}"
    words = Words(PYTHON, width, dict.fromkeys(flat.coordinates, "i"))
    tests, used = _tests(words, flat, box, f"{w}({volume})")
    if partial:
        inside = words.name_of(dict(flat.outputs)[GUARD])
        used.append(inside)
        tests.insert(0, f"if {inside} == {w}(0):\n        return {w}({volume + 1})")
    cell = words.name_of(key)
    # never a number that is no cell: the loops write where it says
    last = f"return {cell} if {cell} < {w}({volume}) else {w}({volume})"
    lines = [*words.lines_for([*used, cell]), *tests, last]
    return "def cell(i):\n" + "".join(f"    {line}\n" for line in lines)


def outside_text(source: Map, limits: Box) -> tuple[Text, int]:
    """`bad(i)`: whether element (and copy) i is outside the limits; and how many there are.

    Raises:
        CoordinateError: symbolic sizes, or coordinates without bounds.
        WidthError: numbers beyond 64 bits.
    """
    flat, _ = flat_map(source)
    size = number(flat.size)

    def make(width: int) -> str:
        check_range("the number of an element", 0, size, width)
        words = Words(PYTHON, width, dict.fromkeys(flat.coordinates, "i"))
        tests, used = _tests(words, flat, limits, "True")
        if source.guard:
            used.append(words.name_of(dict(flat.outputs)[GUARD]))
            tests.insert(0, f"if {used[-1]} == uint{width}(0):\n        return False")
        lines = [*words.lines_for(used), *tests, "return False"]
        return "def bad(i):\n" + "".join(f"    {line}\n" for line in lines)

    width, text = least_width(make)
    return Text(text, "bad", width), size


def _tests(words: Words, flat: Map, box: Box, answer: str) -> tuple[list[str], list[str]]:
    """Statements that answer when a place is outside a box, and the names that they use."""
    places, tests, used = dict(flat.outputs), list[str](), list[str]()
    for axis, low, high in box:
        place = places.get(axis, terms.const(0))
        least, most = range_of(axis, place)
        if least < low or most > high:
            check_range(axis, 0, max(most, high) - min(least, low), words.width)
            used.append(words.name_of(terms.linear([(place, 1)], -low)))
            test = f"if {used[-1]} > uint{words.width}({high - low})"
            tests.append(f"{test}:\n        return {answer}")
    return tests, used


def range_of(about: str, term: Term) -> tuple[int, int]:
    """The bounds of a term.

    Raises:
        WidthError: it has none.
    """
    if not isinstance(term.low, int) or not isinstance(term.high, int):
        raise WidthError(f"{about} has no bounds: bound the map's coordinates")
    return term.low, term.high
