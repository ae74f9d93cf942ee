"""Copies as sets of places: taken apart from a table, and written as progressions again.

In a layout every element has the same copies around it, and they are a sum of progressions, each on
one axis.  Where an operation finds copies as a set, this says whether they are that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from layout_algebra.algebra.no_layout import NoLayout, UndecidedError
from layout_algebra.algebra.normal_form import merge_copies
from layout_algebra.axes import Axis
from layout_algebra.dims import Size
from layout_algebra.values import Iter

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Copies that are written out one by one.
MOST_COPIES = 1 << 12
#: Partial sums that `progressions` tries before it gives up.
MOST_TRIES = 20_000

#: Places as axis -> numbers, one for each copy.
Columns = Mapping[Axis, "NDArray[Any]"]


@dataclass(frozen=True)
class Copies:
    """Copies: iters, and sets that may or may not be iters."""

    ordinary: list[Iter]
    sets: list[frozenset[tuple[tuple[Axis, int], ...]]]

    def add(self, columns: Columns) -> None:
        """Adds a set, given as a table with one row for each copy."""
        axes = list(columns)
        rows = zip(*(columns[axis].tolist() for axis in axes), strict=True)
        self.sets.append(frozenset(_place(zip(axes, row, strict=True)) for row in rows))

    def add_steps(self, extent: Size, step: Mapping[Axis, Size]) -> None:
        """Adds the places 0, step, 2 * step, ...

        Raises:
            UndecidedError: symbolic, or too many.
        """
        if not isinstance(extent, int) or not all(isinstance(v, int) for v in step.values()):
            raise UndecidedError("symbolic copies that move on several axes at once")
        if extent > MOST_COPIES:
            raise UndecidedError(f"{extent} copies that move on several axes at once")
        self.sets.append(
            frozenset(
                _place((axis, count * value) for axis, value in step.items())  # type: ignore[operator]
                for count in range(extent)
            )
        )

    def iters(self, begin: dict[Axis, Size]) -> list[Iter] | NoLayout:
        """All copies as iters; what their least places are is added to `begin`.

        Raises:
            UndecidedError: too many to write out.
        """
        if not self.sets:
            return self.ordinary
        places = {()}
        for one in [*self.sets, *(_places_of(it) for it in self.ordinary)]:
            if len(places) * len(one) > MOST_COPIES:
                raise UndecidedError(
                    f"more than {MOST_COPIES} copies, some on several axes at once"
                )
            places = {_place((*a, *b)) for a in places for b in one}
        axes = sorted({axis for place in places for axis, _ in place}, key=lambda axis: axis.name)
        on_axis = {axis: {dict(place).get(axis, 0) for place in places} for axis in axes}
        found: list[Iter] = []
        box = 1
        for axis, values in on_axis.items():
            box *= len(values)
            low = min(values)
            begin[axis] = begin.get(axis, 0) + low
            steps = progressions(value - low for value in values)
            if steps is None:
                return NoLayout(f"its copies on {axis.name} are no sum of progressions")
            found += merge_copies(Iter(2, step, axis) for step in steps)[0]
        if box != len(places):
            names = ", ".join(axis.name for axis in axes)
            return NoLayout(f"its copies move on {names} together, not on each alone")
        return found


def without_copies(
    table: Columns,
) -> tuple[dict[Axis, Any], dict[Axis, Any], dict[Axis, int]] | None:
    """A table (elements x copies) as one place for each element, and the copies around each.

    Returns:
        The elements' places; the copies (empty when there is one); the place of the first
        element's least copy, which is taken off both.  None when the copies of two elements
        differ.
    """
    import numpy as np

    corner = {axis: column.min(axis=1) for axis, column in table.items()}
    first = {axis: int(column[0]) for axis, column in corner.items()}
    elements = {axis: column - first[axis] for axis, column in corner.items()}
    if all(column.shape[1] == 1 for column in table.values()):
        return elements, {}, first
    around = [column - corner[axis][:, None] for axis, column in table.items()]
    stacked = np.stack(around, axis=-1)
    wanted = {tuple(row) for row in stacked[0].tolist()}
    for rows in stacked.tolist():
        if {tuple(row) for row in rows} != wanted:
            return None
    columns = list(zip(*wanted, strict=True)) if table else []
    return elements, {a: np.array(c) for a, c in zip(table, columns, strict=True)}, first


def progressions(values: Iterable[int]) -> list[int] | None:
    """Steps s_1 <= s_2 <= ... with {0, s_1} + {0, s_2} + ... = the set, whose least number is 0.

    None: there are none.  A progression of n places is the sum of n-1 such pairs, so this is
    complete for sums of progressions.

    Raises:
        UndecidedError: too many partial sums were tried.
    """
    wanted = frozenset(values)
    top = max(wanted)
    left = [MOST_TRIES]

    def further(sums: frozenset[int], steps: list[int]) -> list[int] | None:
        if sums == wanted:
            return steps
        left[0] -= 1
        if left[0] < 0:
            raise UndecidedError(f"{len(wanted)} copies: are they a sum of progressions?")
        missing = min(wanted - sums, default=top)
        room = top - max(sums)
        least = steps[-1] if steps else 1
        # the least place that is still missing is a step itself, or above smaller steps
        for step in sorted(s for s in wanted if least <= s <= min(missing, room)):
            grown = sums | {total + step for total in sums}
            if grown <= wanted:
                found = further(grown, [*steps, step])
                if found is not None:
                    return found
        return None

    return further(frozenset({0}), [])


def _places_of(it: Iter) -> frozenset[tuple[tuple[Axis, int], ...]]:
    """An ordinary iter's copies as a set.

    Raises:
        UndecidedError: symbolic, or too many.
    """
    if not isinstance(it.extent, int) or not isinstance(it.stride, int):
        raise UndecidedError("symbolic copies beside copies on several axes")
    if it.extent > MOST_COPIES:
        raise UndecidedError(f"{it.extent} copies beside copies on several axes")
    return frozenset(_place([(it.axis, count * it.stride)]) for count in range(it.extent))


def _place(numbers: Iterable[tuple[Axis, int]]) -> tuple[tuple[Axis, int], ...]:
    """A place, written one way: axes added up, zeros left out, by name."""
    total: dict[Axis, int] = {}
    for axis, value in numbers:
        total[axis] = total.get(axis, 0) + value
    return tuple(sorted(((a, v) for a, v in total.items() if v), key=lambda pair: pair[0].name))
