"""Exhaustive checks of the claims about places: by a byte for each place, or by sorted numbers.

    task = injective(Injective(layout), {}, memory=1 << 30)
    task.cost, task.run(runner)         # the counterexample, or None

Each function here takes a claim, the values of its Dims, and the bytes that it may use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from layout_algebra import terms
from layout_algebra.claims.base import Claim, as_map
from layout_algebra.claims.places import (
    Bijective,
    Covers,
    Injective,
    ReplicasDistinct,
    WithinBounds,
)
from layout_algebra.device import loops
from layout_algebra.device.element_texts import Box, Cells, cells_of, outside_text
from layout_algebra.device.kernels import exec_source
from layout_algebra.device.results import Cost, Dims, Task, evaluated, point_of, replayed
from layout_algebra.device.runner import Runner
from layout_algebra.dims import evaluate
from layout_algebra.errors import WitnessError
from layout_algebra.maps import Map
from layout_algebra.terms import Var
from layout_algebra.verdicts import Witness

#: With more places than this for each element, numbers are sorted instead.
SPARSE = 64


class Occupancy(Protocol):
    """Which cells are used.  A group is so many neighbours that may share a cell."""

    runner: Runner
    cell: Any
    #: Whether some element is outside the box.
    strays: bool

    def collision(self) -> tuple[int, int] | None:
        """Two elements of different groups in one cell."""
        ...

    def missing(self) -> int | None:
        """A cell that nothing is in."""
        ...


class ByteMap:
    """A byte for each cell, and two for what is in none; spread (see `loops`), in whole pages."""

    method = "byte map"

    def __init__(self, runner: Runner, cells: Cells, group: int) -> None:
        self.runner, self.cells, self.group = runner, cells, group
        self.cell = runner.function(cells.text, cells.name)
        self.marks: Any = np.zeros(self.memory(cells), dtype=np.uint8)
        runner.each(loops.marking(self.cell, cells.width), cells.total, self.marks)
        self.strays = bool(self.marks[loops.spread(cells.astray)])

    @staticmethod
    def memory(cells: Cells) -> int:
        return -(-(cells.volume + 2) // loops.PAGE) * loops.PAGE

    def collision(self) -> tuple[int, int] | None:
        cells, run = self.cells, self.runner
        self._close(0)
        used = run.timed(lambda: int(np.count_nonzero(self.marks.view(bool))))
        if used == cells.total:
            return None
        loop = loops.distinct(self.cell, cells.width)
        groups = cells.total // self.group
        if used == sum(run.each(loop, groups, self.group, cells.volume)):
            return None
        self.marks[:] = 0
        loop = loops.repeating(self.cell, cells.width)
        second = run.first(loop, groups, self.marks, self.group, cells.volume)
        if second is None:
            raise WitnessError("cells were counted to be shared and none is: a fault")
        wanted = int(exec_source(cells.text, cells.name)(second))
        first = run.first(loops.finding(self.cell, cells.width), cells.total, 0, wanted)
        return (0 if first is None else first), second

    def missing(self) -> int | None:
        self._close(1)
        found = int(self.runner.timed(lambda: np.argmin(self.marks)))
        return None if self.marks[found] else loops.spread(found)

    def _close(self, value: int) -> None:
        """Gives the bytes that are no cell's a value."""
        for number in range(self.cells.volume, len(self.marks)):
            self.marks[loops.spread(number)] = value


class SortedCells:
    """Every element's cell, sorted; in a group each cell counts once."""

    method = "sorted places"

    def __init__(self, runner: Runner, cells: Cells, group: int) -> None:
        self.runner, self.cells, self.group = runner, cells, group
        self.cell = runner.function(cells.text, cells.name)
        self.keys: Any = np.empty(cells.total, dtype=f"uint{cells.width}")
        loop = loops.filling(self.cell, cells.width)
        runner.each(loop, cells.total, self.keys, group, cells.absent)
        runner.timed(self.keys.sort)
        ends = np.searchsorted(self.keys, np.array([cells.astray, cells.absent], self.keys.dtype))
        self.strays = bool(ends[0] < ends[1])
        self.keys = self.keys[: ends[0]]

    @staticmethod
    def memory(cells: Cells) -> int:
        return cells.total * (cells.width // 8)

    def collision(self) -> tuple[int, int] | None:
        at = self.runner.whole(loops.twin, self.keys)
        if at is None:
            return None
        cells, wanted = self.cells, int(self.keys[at])
        loop = loops.finding(self.cell, cells.width)
        first = self.runner.first(loop, cells.total, 0, wanted) or 0
        after = (first // self.group + 1) * self.group
        second = self.runner.first(loop, cells.total, after, wanted)
        if second is None:
            raise WitnessError("two elements were sorted to one cell and one is there: a fault")
        return first, second

    def missing(self) -> int | None:
        found = self.runner.whole(loops.gap, self.keys)
        free = 0 if found is None else found
        return free if free < self.cells.volume else None


def injective(claim: Injective, dims: Dims, memory: int) -> Task:
    """No cell is used by two elements; copies of one element may share one."""
    f = as_map(claim.f)
    cells = cells_of(evaluated(f, dims))

    def run(occupancy: Occupancy) -> Witness | None:
        if occupancy.strays:
            raise WitnessError(f"a place of {claim.f} is outside its range: a fault")
        found = occupancy.collision()
        return None if found is None else _shared(claim, f, found, dims, cells.order)

    return _task(cells, memory, cells.copies, run)


def bijective(claim: Bijective, dims: Dims, memory: int) -> Task:
    """Every cell of the box is used by one copy of one element, and nothing is outside."""
    f = as_map(claim.f)
    cells = cells_of(evaluated(f, dims), _box(claim.box, dims))
    parts = {type(part): part for part in claim.parts()}

    def run(occupancy: Occupancy) -> Witness | None:
        if occupancy.strays:
            flat = _first(occupancy, cells, cells.astray)
            point = point_of(f, flat, dims, cells.order)
            return _at(parts[WithinBounds], point, dims, f"element {flat}")
        found = occupancy.collision()
        if found is not None:
            one, two = (flat // cells.copies for flat in found)
            part = parts[ReplicasDistinct if one == two else Injective]
            return _shared(part, f, found, dims, cells.order)
        missing = occupancy.missing()
        return None if missing is None else _uncovered(claim.parts()[-1], cells, missing, dims)

    return _task(cells, memory, 1, run)


def covers(claim: Covers, dims: Dims, memory: int) -> Task:
    """Every cell of the box is used."""
    cells = cells_of(evaluated(as_map(claim.f), dims), _box(claim.box, dims))

    def run(occupancy: Occupancy) -> Witness | None:
        missing = occupancy.missing()
        return None if missing is None else _uncovered(claim, cells, missing, dims)

    return _task(cells, memory, 1, run)


def replicas_distinct(claim: ReplicasDistinct, dims: Dims, memory: int) -> Task:
    """No element has two copies in one cell."""
    f = as_map(claim.f)
    cells = cells_of(evaluated(f, dims))

    def run(runner: Runner) -> Witness | None:
        cell = runner.function(cells.text, cells.name)
        loop = loops.copying(cell, cells.width)
        second = runner.least(loop, cells.elements, cells.copies, cells.volume)
        if second is None:
            return None
        plain = exec_source(cells.text, cells.name)
        begin = second - second % cells.copies
        first = next(i for i in range(begin, second + 1) if plain(i) == plain(second))
        return _shared(claim, f, (first, second), dims, cells.order)

    return Task(Cost(cells.total, 0, "pairs of copies"), run)


def within_bounds(claim: WithinBounds, dims: Dims, memory: int) -> Task:
    """No place is outside the limits."""
    f = as_map(claim.f)
    text, total = outside_text(evaluated(f, dims), _box(claim.limits, dims))

    def run(runner: Runner) -> Witness | None:
        bad = runner.function(text.text, text.name)
        flat = runner.bad(loops.failing(bad, text.width), total)
        if flat is None:
            return None
        return _at(claim, point_of(f, flat, dims), dims, f"element {flat}")

    return Task(Cost(total, 0, "every element"), run)


# -- inside --------------------------------------------------------------------------------------
def _task(
    cells: Cells, memory: int, group: int, run: Callable[[Occupancy], Witness | None]
) -> Task:
    """The task whose storage fits the memory, or else the one that needs least."""
    wanted: list[type[ByteMap] | type[SortedCells]] = [ByteMap, SortedCells]
    if cells.volume > SPARSE * cells.total:
        wanted.reverse()
    fitting = [one for one in wanted if one.memory(cells) <= memory]
    chosen = fitting[0] if fitting else min(wanted, key=lambda one: one.memory(cells))
    cost = Cost(cells.total, chosen.memory(cells), chosen.method)
    return Task(cost, lambda runner: run(chosen(runner, cells, group)))


def _box(box: Box, dims: Dims) -> Box:
    return [(axis, evaluate(low, dims), evaluate(high, dims)) for axis, low, high in box]


def _first(occupancy: Occupancy, cells: Cells, cell: int) -> int:
    """The first element in a cell that is known to be used."""
    loop = loops.finding(occupancy.cell, cells.width)
    found = occupancy.runner.first(loop, cells.total, 0, cell)
    if found is None:
        raise WitnessError(f"cell {cell} was used and nothing is in it: a fault")
    return found


def _shared(
    claim: Claim, f: Map, found: tuple[int, int], dims: Dims, order: Sequence[str]
) -> Witness:
    """The counterexample that two elements, or copies, in one place are."""
    one, two = (point_of(f, flat, dims, order) for flat in found)
    second = {terms.var(v.name + "'", v.low, v.high): number for v, number in two.items()}
    point: dict[Var, int] = {**one, **second}
    return replayed(claim.witness(point, dims), claim, f"elements {found[0]} and {found[1]}")


def _at(claim: Claim, point: Mapping[Var, int], dims: Dims, about: str) -> Witness:
    return replayed(claim.witness(point, dims), claim, about)


def _uncovered(claim: Claim, cells: Cells, cell: int, dims: Dims) -> Witness:
    """The counterexample that an unused place is; that it is unused is what was looked at."""
    if not isinstance(claim, Covers):
        raise WitnessError(f"{claim} is not about covering: a fault")
    named = {axis for axis, _, _ in claim.box}
    place = {axis: value for axis, value in cells.place(cell).items() if axis in named}
    return claim.missing(place, dims)
