"""The numbers of a picture: a map's elements laid out in rows and columns, and a window of them.

    grid = grid_of(frag.map((8, 16)))
    grid.values["laneid"][1][3]      # 5: the lane of the element in row 1, column 3
    grid.label_row(1), grid.label_column(3)

Elements are in row-major order, `width` to a row.  Two coordinates are rows and columns; one is cut
into rows where it is long; of more, the last ones are the columns, cut where the grid is nearest
to a square.  Of copies the first is taken.  A large grid is seen through a window, and rows or
columns that are left out between others are left out of the picture too.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layout_algebra.arithmetic import integers
from layout_algebra.display.errors import DisplayError
from layout_algebra.errors import CoordinateError
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var

#: Rows and columns of the largest window.
MOST_ROWS, MOST_COLUMNS = 32, 64
#: Elements in a row when one long coordinate is cut.
CUT = 32
#: Flat indices below this are calculated with at once, in 64 bits.
MOST_INDEX = 1 << 62
#: Rows and columns shown on each side of a marked element, where not all are.
AROUND = 2


@dataclass(frozen=True)
class Grid:
    """Some elements of a map, in rows and columns.

    Attributes:
        map: the map, with numbers for all sizes.
        split: how many coordinates count rows; None where one coordinate is cut into rows.
        width, height: columns and rows of all elements.
        rows, columns: those in the window, in order.
        values: axis -> rows of numbers, as in the window.
        inside: rows of whether there is an element: a map may leave out some.
    """

    map: Map
    split: int | None
    width: int
    height: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    values: Mapping[str, Sequence[Sequence[int]]]
    inside: Sequence[Sequence[bool]]

    @property
    def is_whole(self) -> bool:
        """Whether the window holds every element."""
        return len(self.rows) == self.height and len(self.columns) == self.width

    @property
    def names(self) -> tuple[str, str]:
        """The coordinates that count rows, and those that count columns."""
        names = [variable.name for variable in self.map.coordinates]
        if self.split is None:
            return names[0], "+"
        return ", ".join(names[: self.split]), ", ".join(names[self.split :])

    def label_row(self, row: int) -> str:
        """The coordinates that an element of a row has in common."""
        numbers = _decoded(self.map, row * self.width)
        return ",".join(map(str, numbers if self.split is None else numbers[: self.split]))

    def label_column(self, column: int) -> str:
        """The same of a column."""
        if self.split is None:
            return str(column)
        return ",".join(map(str, _decoded(self.map, column)[self.split :]))

    def element(self, row: int, column: int) -> str:
        """An element as people write it."""
        return f"({', '.join(map(str, _decoded(self.map, row * self.width + column)))})"

    def cell(self, point: Mapping[str, int]) -> tuple[int, int]:
        """Row and column of an element by its coordinates' names; the lowest for those not given.

        Raises:
            DisplayError: a value outside its coordinate.
        """
        flat = 0
        for variable in self.map.coordinates:
            low, high = _bounds(variable)
            value = point.get(variable.name, low)
            if not low <= value <= high:
                raise DisplayError(f"mark {variable.name} in {low}..{high}; got {value}")
            flat = flat * (high - low + 1) + value - low
        return divmod(flat, self.width)


def is_drawable(f: Map) -> bool:
    """Whether a map's elements can be laid out: numbers for all sizes, bounds for all coordinates.

    A map without axes has the one place, and nothing to write into cells.
    """
    variables = (*f.coordinates, *f.replicas)
    bounded = all(type(v.low) is int and type(v.high) is int for v in variables)
    return bounded and not f.is_symbolic and bool(f.outputs) and _size(f) > 0


def grid_of(
    f: Map,
    *,
    rows: range | None = None,
    columns: range | None = None,
    marks: Sequence[Mapping[str, int]] = (),
    most: tuple[int, int] = (MOST_ROWS, MOST_COLUMNS),
) -> Grid:
    """The elements of a map in a window.

    Args:
        f: a map for which `is_drawable` holds.
        rows, columns: the window; by default the first ones, or those around the marks.
        marks: elements by their coordinates' names, around which the window is chosen.
        most: rows and columns of the largest window.

    Raises:
        DisplayError: a window outside the grid, or a mark outside the map.
    """
    split, width = _cut(f)
    height = -(-_size(f) // width)
    empty = Grid(f, split, width, height, (), (), {}, ())
    cells = [empty.cell(mark) for mark in marks]
    shown = (
        _window("rows", rows, height, most[0], [row for row, _ in cells]),
        _window("columns", columns, width, most[1], [column for _, column in cells]),
    )
    values, inside = _numbers(f, width, *shown)
    return Grid(f, split, width, height, *shown, values, inside)


def moving_axes(f: Map) -> list[str]:
    """The axes that say where an element is; all of them where none moves."""
    moving = [axis for axis, term in f.outputs if term.low != 0 or term.high != 0]
    return moving or list(f.axes)


# -- inside ------------------------------------------------------------------------------------
def _bounds(variable: Var) -> tuple[int, int]:
    low, high = variable.low, variable.high
    if type(low) is not int or type(high) is not int:
        raise DisplayError(f"coordinate {variable.name} has no number for its bounds")
    return low, high


def _extents(f: Map) -> list[int]:
    return [high - low + 1 for low, high in map(_bounds, f.coordinates)]


def _size(f: Map) -> int:
    size = 1
    for extent in _extents(f):
        size *= max(extent, 0)
    return size


def _cut(f: Map) -> tuple[int | None, int]:
    """How many coordinates count rows (None: the only one is cut), and the width of a row."""
    extents = _extents(f)
    if len(extents) == 1:
        return (0, extents[0]) if extents[0] <= MOST_COLUMNS else (None, CUT)
    if len(extents) == 2:
        return 1, extents[1]
    widths = [1]
    for extent in reversed(extents):
        widths.append(widths[-1] * extent)
    size = widths[-1]

    def narrowness(width: int) -> tuple[float, int]:
        height = size // width
        return max(width, height) / min(width, height), -width

    chosen = min(range(len(widths)), key=lambda k: narrowness(widths[k]))
    return len(extents) - chosen, widths[chosen]


def _decoded(f: Map, flat: int) -> list[int]:
    """The coordinates of a flat index."""
    numbers: list[int] = []
    for variable in reversed(f.coordinates):
        low, high = _bounds(variable)
        flat, digit = divmod(flat, high - low + 1)
        numbers.append(low + digit)
    return numbers[::-1]


def _window(
    what: str, asked: range | None, count: int, most: int, marked: Iterable[int]
) -> tuple[int, ...]:
    if asked is not None:
        if not isinstance(asked, range) or not asked or min(asked) < 0 or max(asked) >= count:  # type: ignore[redundant-expr]
            raise DisplayError(f"{what} is a range inside range(0, {count}); got {asked!r}")
        if len(asked) > most:
            raise DisplayError(f"a picture has at most {most} {what}; got {len(asked)}")
        return tuple(sorted(asked))
    marked = sorted(set(marked))
    if count <= most:
        return tuple(range(count))
    if not marked:
        return tuple(range(most))
    if marked[-1] - marked[0] < most // 2:
        first = max(0, min(marked[0] - most // 4, count - most))
        return tuple(range(first, first + most))
    near: dict[int, None] = {}
    for number in marked:
        for one in range(max(0, number - AROUND), min(count, number + AROUND + 1)):
            near[one] = None
    return tuple(sorted(near))[:most]


def _numbers(
    f: Map, width: int, rows: Sequence[int], columns: Sequence[int]
) -> tuple[dict[str, Any], list[list[bool]]]:
    """Every axis' numbers in the window, and where there are elements."""
    size = _size(f)
    there = [[row * width + column < size for column in columns] for row in rows]
    terms = [term for _, term in f.outputs] + [condition.term for condition in f.guard]
    found = None
    if size < MOST_INDEX:
        with contextlib.suppress(CoordinateError, OverflowError):  # numbers beyond 62 bits
            found = _by_arrays(f, width, rows, columns, terms)
    if found is None:
        found = _by_integers(f, width, rows, columns, terms)
    count = len(f.outputs)
    for condition, tested in zip(f.guard, found[count:], strict=True):
        for row, numbers in zip(there, tested, strict=True):
            row[:] = [kept and condition.holds(n) for kept, n in zip(row, numbers, strict=True)]
    return dict(zip(f.axes, found[:count], strict=True)), there


def _by_arrays(
    f: Map, width: int, rows: Sequence[int], columns: Sequence[int], terms: Sequence[Term]
) -> list[list[list[int]]]:
    """All at once."""
    from layout_algebra.arithmetic import arrays  # NumPy is loaded when a grid is drawn

    np = arrays.np
    flat = np.array(rows, dtype=np.int64)[:, None] * width + np.array(columns, dtype=np.int64)
    values: dict[Var, Any] = {}
    for variable in reversed(f.coordinates):
        low, high = _bounds(variable)
        values[variable] = low + flat % (high - low + 1)
        flat = flat // (high - low + 1)
    values |= {replica: np.int64(_bounds(replica)[0]) for replica in f.replicas}
    shape = (len(rows), len(columns))
    return [np.broadcast_to(n, shape).tolist() for n in arrays.arrays_of(terms, values)]


def _by_integers(
    f: Map, width: int, rows: Sequence[int], columns: Sequence[int], terms: Sequence[Term]
) -> list[list[list[int]]]:
    """One by one, in Python's integers."""
    found: list[list[list[int]]] = [[[0] * len(columns) for _ in rows] for _ in terms]
    first = {replica: _bounds(replica)[0] for replica in f.replicas}
    places = itertools.product(enumerate(rows), enumerate(columns))
    for (y, row), (x, column) in places:
        numbers = _decoded(f, row * width + column)
        point = {**first, **dict(zip(f.coordinates, numbers, strict=True))}
        for grid, number in zip(found, integers.values_of(terms, point), strict=True):
            grid[y][x] = number
    return found
