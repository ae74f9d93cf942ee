"""Who holds each element: layouts over thread and register axes as tables of places.

    places_of(TileLayout(S[(2, 2) : (1@tx, 1)]), "source").of[3]    # (warp 0, lane 1, register 1)

A place is a warp, a lane of it, and a register of that lane.  Thread axes may count anything inside
a CTA: each is brought to the number of the thread, and that number is cut into warps of 32 lanes.
Registers are on the memory axis m, one element in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from layout_algebra.algebra.threads import FUSE
from layout_algebra.arithmetic.enumeration import Table
from layout_algebra.axes import SCOPES, Axis, laneid, m, reg, tx
from layout_algebra.claims.base import Subject, as_map, check_subject
from layout_algebra.claims.support import table
from layout_algebra.errors import LayoutError
from layout_algebra.maps import Map

#: Threads that can exchange registers without memory: the lanes of a warp.
LANES: int = laneid.limit or 32
#: Thread axes inside a CTA, and how many threads one place on each is.
THREADS: dict[str, tuple[Axis, int]] = {
    tx.name: (tx, 1),
    **{axis.name: (axis, factor) for axis, (_, factor) in FUSE["thread", "cta"].items()},
}
REGISTERS = (m.name, reg.name)
#: Places that a table of moves may have, 1024 threads of 128 registers: about 5 s on one core.
MOST_PLACES = 1 << 17

Numbers = NDArray[np.int64]


class PlanError(LayoutError):
    """Two layouts between which no plan can be made, or a plan that cannot be asked that."""


class Place(NamedTuple):
    """A register of a lane of a warp."""

    warp: int
    lane: int
    register: int

    def __str__(self) -> str:
        return f"warp {self.warp}, lane {self.lane}, register {self.register}"

    @property
    def thread(self) -> tuple[int, int]:
        """The warp and the lane."""
        return self.warp, self.lane


@dataclass(frozen=True)
class Residence:
    """Where the elements of a tensor are.

    Attributes:
        role: "source" or "target", for messages.
        of: the places of each element by its flat index, in order, each once; none for an element
            that the map's guard leaves out.
        extents: how many values each coordinate has.
        lows: the lowest value of each.
    """

    role: str
    of: tuple[tuple[Place, ...], ...]
    extents: tuple[int, ...]
    lows: tuple[int, ...]

    def name(self, element: int) -> str:
        """An element as people write it: its coordinates, and its flat index where it has more."""
        return _name(element, self.extents, self.lows)


def places_of(subject: Subject, role: str) -> Residence:
    """The places of every element.

    Args:
        subject: a layout or a Map, over axes of threads and registers.
        role: "source" or "target": the word for it in messages.

    Raises:
        ClaimError: neither a layout nor a Map.
        PlanError: sizes that are not numbers, an axis that is neither of threads nor of registers,
            two axes that count the same threads, a place that no thread or register has, two
            elements in one register.
    """
    check_subject("plan", subject)
    f = as_map(subject)
    _check_size(f, role)
    found = table(f, None)
    rows = np.arange(found.elements)
    if found.keep is not None:
        rows = rows[found.keep]
    columns = {axis: found.column(axis)[rows] for axis in f.axes}
    _check_axes(columns, role)
    thread = np.zeros((len(rows), found.copies), dtype=np.int64)
    register = np.zeros_like(thread)
    for axis, column in columns.items():
        if axis in THREADS:
            thread += column * THREADS[axis][1]
        else:
            register += column
    return _residence(found, rows, thread, register, role)


def _check_size(f: Map, role: str) -> None:
    if f.is_symbolic:
        names = ", ".join(sorted(symbol.name for symbol in f.symbols()))
        raise PlanError(
            f"plan needs numbers for the sizes, and the {role} has {names}: give them values with "
            f"evaluated({names.split(', ')[0]}=...)"
        )
    count = f.size * f.copies
    if isinstance(count, int) and count > MOST_PLACES:
        raise PlanError(
            f"plan lists at most {MOST_PLACES} places, which takes about 5 s; the {role} has "
            f"{count}: plan a part of it, as one warp's"
        )


def check_threads(axes: Iterable[str], role: str) -> None:
    """That axes are of threads or registers, and no two count the same threads.

    Args:
        axes: names of axes on which some place is not 0.
        role: "source" or "target", for the message.

    Raises:
        PlanError: otherwise, with the names.
    """
    counting: list[Axis] = []
    for name in axes:
        if name not in THREADS:
            _check_known(name, role)
            continue
        axis, _ = THREADS[name]
        for other in counting:
            if _overlap(axis, other):
                raise PlanError(
                    f"axes {other.name} and {axis.name} of the {role} count the same threads: "
                    "write it with one of them"
                )
        counting.append(axis)


def _check_known(axis: str, role: str) -> None:
    if axis not in THREADS and axis not in REGISTERS:
        raise PlanError(
            f"plan moves elements between the registers of threads, on axes {', '.join(THREADS)} "
            f"and {m.name}; the {role} has places on {axis}"
        )


def _check_axes(columns: dict[str, Numbers], role: str) -> None:
    for axis in columns:
        _check_known(axis, role)
    check_threads([axis for axis, column in columns.items() if column.any()], role)
    for axis, column in columns.items():
        if column.size:
            _check_range(axis, column, THREADS[axis][0].limit if axis in THREADS else None, role)


def _check_range(name: str, column: Numbers, limit: int | None, role: str) -> None:
    low, high = int(column.min()), int(column.max())
    if low < 0 or (limit is not None and high >= limit):
        allowed = "0 and up" if limit is None else f"0..{limit - 1}"
        worst = low if low < 0 else high
        raise PlanError(f"places on {name} are {allowed}; the {role} has {name} = {worst}")


def _overlap(a: Axis, b: Axis) -> bool:
    """Whether two thread axes count at a level of the machine that both span."""
    spans = [
        (SCOPES.index(axis.scope), SCOPES.index(axis.subscope))
        for axis in (a, b)
        if axis.scope is not None and axis.subscope is not None
    ]
    return max(low for low, _ in spans) < min(high for _, high in spans)


def _residence(
    found: Table, rows: Numbers, thread: Numbers, register: Numbers, role: str
) -> Residence:
    extents, lows = found.extents, tuple(found.lows)
    warp, lane = np.divmod(thread, LANES)
    of: list[tuple[Place, ...]] = [()] * found.elements
    owner: dict[Place, int] = {}
    parts = (rows.tolist(), warp.tolist(), lane.tolist(), register.tolist())
    for element, warps, lanes, registers in zip(*parts, strict=True):
        places = sorted({Place(*one) for one in zip(warps, lanes, registers, strict=True)})
        for place in places:
            if owner.setdefault(place, element) != element:
                one, two = (_name(e, extents, lows) for e in (owner[place], element))
                raise PlanError(
                    f"the {role} has elements {one} and {two} both at {place}: a register holds "
                    "one element"
                )
        of[element] = tuple(places)
    return Residence(role, tuple(of), extents, lows)


def _name(element: int, extents: Sequence[int], lows: Sequence[int]) -> str:
    digits: list[int] = []
    rest = element
    for low, extent in zip(reversed(lows), reversed(extents), strict=True):
        rest, digit = divmod(rest, extent)
        digits.append(low + digit)
    shown = ", ".join(map(str, reversed(digits)))
    return f"({shown}) (index {element})" if len(digits) > 1 else f"({shown})"
