"""Questions about finite maps answered by looking at every element, with NumPy.

Places are packed into one int64 key each, so that a comparison of places is a comparison of
numbers.  This is the meaning of the claims made executable: tests compare the prover with it, and
the prover itself falls back to it for small domains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from layout_algebra.arithmetic.arrays import arrays_of, grid
from layout_algebra.conditions import Condition
from layout_algebra.dims import Size, evaluate
from layout_algebra.errors import CoordinateError
from layout_algebra.terms import Term, Var

Keys = NDArray[np.int64]


class Table:
    """All places of a concrete map: arrays of shape (elements, copies), one an axis.

    `keep` marks the elements that the guard admits.
    """

    def __init__(
        self,
        coordinates: Sequence[Var],
        replicas: Sequence[Var],
        outputs: Sequence[tuple[str, Term]],
        guard: Sequence[Condition] = (),
        dims: Mapping[str, int] | None = None,
    ) -> None:
        dims = dims or {}
        spans = [_span(variable, dims) for variable in (*coordinates, *replicas)]
        self.lows = [low for _, low, _ in spans[: len(coordinates)]]
        self.extents = tuple(extent for _, _, extent in spans[: len(coordinates)])
        self.replicas = [(low, extent) for _, low, extent in spans[len(coordinates) :]]
        shape = tuple(extent for _, _, extent in spans)
        self.elements = int(np.prod(self.extents, dtype=object)) if self.extents else 1
        self.copies = int(np.prod(shape[len(coordinates) :], dtype=object)) if replicas else 1
        values = grid(spans)
        numbers = arrays_of((term for _, term in outputs), values, dims)
        self.axes: dict[str, Keys] = {
            axis: np.broadcast_to(value, shape).reshape(self.elements, self.copies)
            for (axis, _), value in zip(outputs, numbers, strict=True)
        }
        self.keep: NDArray[np.bool_] | None = None
        if guard:
            admitted = np.ones(shape, dtype=bool)
            terms = arrays_of((condition.term for condition in guard), values, dims)
            for condition, value in zip(guard, terms, strict=True):
                admitted &= condition.holds(value)  # type: ignore[arg-type]
            self.keep = admitted.reshape(self.elements, self.copies)[:, 0]

    def column(self, axis: str) -> Keys:
        """Places on one axis; zeros where the map does not mention it."""
        return self.axes.get(axis, np.zeros((self.elements, self.copies), dtype=np.int64))

    def index_column(self) -> Keys:
        """The elements' flat indices, one a row."""
        return np.arange(self.elements, dtype=np.int64)[:, None]

    def coordinate_columns(self) -> list[Keys]:
        """The elements' coordinates, one a row in each."""
        rest, columns = self.index_column(), list[Keys]()
        for low, extent in zip(reversed(self.lows), reversed(self.extents), strict=True):
            rest, digit = np.divmod(rest, np.int64(extent))
            columns.append(digit + np.int64(low))
        return columns[::-1]

    def point_of(self, flat: int) -> tuple[int, ...]:
        """The coordinates, then the replicas, of a flat index over both."""
        element, copy = divmod(flat, self.copies)
        digits: list[int] = []
        for low, extent in reversed(self.replicas):
            copy, digit = divmod(copy, extent)
            digits.append(low + digit)
        return (*self.coordinates_of(element), *reversed(digits))

    def coordinates_of(self, flat: int) -> tuple[int, ...]:
        """The coordinates of a flat index."""
        digits: list[int] = []
        for low, extent in zip(reversed(self.lows), reversed(self.extents), strict=True):
            flat, digit = divmod(flat, extent)
            digits.append(low + digit)
        return tuple(reversed(digits))


def pack(tables: Sequence[Table]) -> list[Keys]:
    """One key for each place, comparable between the tables (all axes of all of them)."""
    axes = sorted({axis for table in tables for axis in table.axes})
    keys = [np.zeros((table.elements, table.copies), dtype=np.int64) for table in tables]
    volume = 1
    for axis in axes:
        columns = [table.column(axis) for table in tables]
        low = min(int(column.min()) for column in columns)
        high = max(int(column.max()) for column in columns)
        reach = high - low + 1
        volume *= reach
        if volume >= 2**62:
            raise CoordinateError(f"the places span {volume} cells: too many to number")
        for key, column in zip(keys, columns, strict=True):
            key *= reach
            key += column - low
    return keys


def collision(table: Table) -> tuple[int, int] | None:
    """Flat indices of two different elements that share a place."""
    (keys,) = pack([table])
    rows = np.arange(table.elements, dtype=np.int64)
    if table.keep is not None:
        keys, rows = keys[table.keep], rows[table.keep]
    flat = keys.ravel()
    owners = np.repeat(rows, table.copies)
    order = np.argsort(flat, kind="stable")
    same = (flat[order][1:] == flat[order][:-1]) & (owners[order][1:] != owners[order][:-1])
    hits = np.flatnonzero(same)
    if not hits.size:
        return None
    return int(owners[order[hits[0]]]), int(owners[order[hits[0] + 1]])


def repeated_copy(table: Table) -> int | None:
    """A flat index of an element two of whose copies are at one place."""
    (keys,) = pack([table])
    if table.copies < 2:
        return None
    ordered = np.sort(keys, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if table.keep is not None:
        twice &= table.keep
    hits = np.flatnonzero(twice)
    return int(hits[0]) if hits.size else None


def outside(table: Table, axis: str, low: int | None, high: int | None) -> int | None:
    """A flat index of an element with a copy outside low..high (inclusive) on an axis."""
    column = table.column(axis)
    bad = np.zeros(column.shape, dtype=bool)
    if low is not None:
        bad |= column < low
    if high is not None:
        bad |= column > high
    rows = bad.any(axis=1)
    if table.keep is not None:
        rows &= table.keep
    hits = np.flatnonzero(rows)
    return int(hits[0]) if hits.size else None


def uncovered(table: Table, box: Mapping[str, tuple[int, int]]) -> dict[str, int] | None:
    """A place of the box (low, high inclusive; other axes 0) that no element has."""
    key, inside, volume = _keys_in(table, box)
    hit = np.zeros(volume, dtype=bool)
    hit[key[inside]] = True
    missing = np.flatnonzero(~hit)
    return _place_of(int(missing[0]), box) if missing.size else None


def occupants(
    table: Table, box: Mapping[str, tuple[int, int]]
) -> list[tuple[tuple[int, ...], dict[str, int]]]:
    """For each place of the box that is used: an element's coordinates with its copy's, and it."""
    key, inside, _ = _keys_in(table, box)
    flat = np.flatnonzero(inside.ravel())
    used, first = np.unique(key.ravel()[flat], return_index=True)
    return [
        (table.point_of(int(flat[at])), _place_of(int(number), box))
        for number, at in zip(used, first, strict=True)
    ]


def _keys_in(
    table: Table, box: Mapping[str, tuple[int, int]]
) -> tuple[Keys, NDArray[np.bool_], int]:
    """A number for every place that is inside the box, which are, and how many places it has."""
    inside = np.ones((table.elements, table.copies), dtype=bool)
    for axis in table.axes:
        if axis not in box:
            inside &= table.column(axis) == 0
    if table.keep is not None:
        inside &= table.keep[:, None]
    key = np.zeros((table.elements, table.copies), dtype=np.int64)
    volume = 1
    for axis, (low, high) in box.items():
        column = table.column(axis)
        inside &= (column >= low) & (column <= high)
        key = key * (high - low + 1) + (column - low)
        volume *= max(0, high - low + 1)
    return key, inside, volume


def _place_of(number: int, box: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    place: dict[str, int] = {}
    rest = number
    for axis, (low, high) in reversed(list(box.items())):
        rest, digit = divmod(rest, high - low + 1)
        place[axis] = low + digit
    return dict(reversed(place.items()))


def difference(a: Table, b: Table) -> int | None:
    """A flat index at which two maps of one size have different sets of places."""
    keys_a, keys_b = pack([a, b])
    width = max(a.copies, b.copies)
    unequal = (_sets(keys_a, width) != _sets(keys_b, width)).any(axis=1)
    keep_a = np.ones(a.elements, dtype=bool) if a.keep is None else a.keep
    keep_b = np.ones(b.elements, dtype=bool) if b.keep is None else b.keep
    unequal = (unequal & keep_a & keep_b) | (keep_a != keep_b)
    hits = np.flatnonzero(unequal)
    return int(hits[0]) if hits.size else None


def common_place(a: Table, b: Table) -> tuple[int, int] | None:
    """Flat indices of an element of each map that share a place."""
    keys_a, keys_b = pack([a, b])
    rows_a = np.arange(a.elements)[slice(None) if a.keep is None else a.keep]
    rows_b = np.arange(b.elements)[slice(None) if b.keep is None else b.keep]
    flat_a, flat_b = keys_a[rows_a].ravel(), keys_b[rows_b].ravel()
    both = np.intersect1d(flat_a, flat_b)
    if not both.size:
        return None
    first_a = int(np.flatnonzero(flat_a == both[0])[0]) // a.copies
    first_b = int(np.flatnonzero(flat_b == both[0])[0]) // b.copies
    return int(rows_a[first_a]), int(rows_b[first_b])


def _sets(keys: Keys, width: int) -> Keys:
    """Each row as the set of its numbers: ascending, each once, then filled up to the width."""
    if width == 1:
        return keys
    filler = np.iinfo(np.int64).max  # no key: those are below 2^62
    rows = np.full((len(keys), width), filler)
    rows[:, : keys.shape[1]] = np.sort(keys, axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = filler
    rows.sort(axis=1)
    return rows


def _span(variable: Var, dims: Mapping[str, int]) -> tuple[Var, int, int]:
    low, high = variable.low, variable.high
    if low is None or high is None:
        raise CoordinateError(f"coordinate {variable.name} has no bounds")
    start = _number(low, dims)
    return variable, start, _number(high, dims) - start + 1


def _number(value: Size, dims: Mapping[str, int]) -> int:
    return evaluate(value, dims)
