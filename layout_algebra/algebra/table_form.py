"""The layout of a table: numbers on several axes for 0..n-1, as iters, or none.

The last stride is t(1) - t(0); the last extent is the first x at which the table leaves that line;
then the same for the table of blocks.  Normal forms are unique, so what is found is the only
candidate, and what is not found does not exist.  (extract.py does the same for any function.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from layout_algebra.algebra.no_layout import NoLayout
from layout_algebra.axes import Axis, m
from layout_algebra.values import Iter

if TYPE_CHECKING:
    from numpy.typing import NDArray

Columns = Mapping[Axis, "NDArray[Any]"]

#: Entries that are looked at before all are.
FIRST_LOOK = 512


def iters_of(columns: Columns, size: int) -> list[Iter] | NoLayout:
    """The normal iters of a table of places, the first element's place taken off; or why none."""
    rest = {axis: column - column[0] for axis, column in columns.items()}
    rest = {axis: column for axis, column in rest.items() if column.any()}
    iters: list[Iter] = []
    below, total = 1, size
    while size > 1:
        found = _last_iter(rest, min(size, FIRST_LOOK), size, below, total)  # most fail early
        if size > FIRST_LOOK and not isinstance(found, NoLayout):
            found = _last_iter(rest, size, size, below, total)
        if isinstance(found, NoLayout):
            return found
        extent = int(found.extent)  # type: ignore[arg-type]
        iters.append(found)
        size //= extent
        below *= extent
        rest = {name: column[::extent] for name, column in rest.items()}
    return iters[::-1]


def _last_iter(rest: Columns, looked_at: int, size: int, below: int, total: int) -> Iter | NoLayout:
    """The line that the table begins with, by its first entries; or why no iter ends there."""
    import numpy as np

    steps = {axis: np.diff(column[:looked_at]) for axis, column in rest.items()}
    moving = {axis: int(step[0]) for axis, step in steps.items() if step[0] != 0}
    if len(moving) > 1:
        moves = " and ".join(f"{step}@{axis.name}" for axis, step in moving.items())
        return NoLayout(f"one step of {below} elements moves {moves} at once")
    axis, stride = next(iter(moving.items()), (m, 0))
    on_line = np.ones(looked_at - 1, dtype=bool)
    for name, step in steps.items():
        on_line &= step == (stride if name is axis else 0)
    leaves = np.flatnonzero(~on_line)
    extent = int(leaves[0]) + 1 if leaves.size else size
    if size % extent:
        return NoLayout(
            f"it leaves its line after {below * extent} elements, which do not divide {total}"
        )
    early = leaves[(leaves + 1) % extent != 0]
    if early.size:
        return NoLayout(
            f"it leaves its line at element {below * (int(early[0]) + 1)}, inside a block of "
            f"{below * extent}"
        )
    return Iter(extent, stride, axis)


def additive_parts(columns: Columns, sizes: Sequence[int]) -> list[Columns] | None:
    """t(x_0, x_1, ...) = t_0(x_0) + t_1(x_1) + ... + t(0): the parts, or None if it is no sum.

    Args:
        columns: the table over all x, the last fastest.
        sizes: how many values each x has.
    """
    parts: list[dict[Axis, Any]] = [{} for _ in sizes]
    for axis, column in columns.items():
        table = column.reshape(sizes)
        origin = table[(0,) * len(sizes)]
        left = table - origin
        for k in range(len(sizes)):
            line = table[tuple(slice(None) if d == k else 0 for d in range(len(sizes)))] - origin
            parts[k][axis] = line
            left = left - line.reshape([-1 if d == k else 1 for d in range(len(sizes))])
        if left.any():
            return None
    return list(parts)
