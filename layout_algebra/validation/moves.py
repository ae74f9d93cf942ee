"""What a kernel that moves a tile has to do: which thread moves which element, from where to where.

Move(TileLayout(S[(32, 4) : (1 @ laneid, 1)]), (32, 4), through=lambda x: x + 1).map
# (thread, slot) -> {source = slot + 4*thread, target = slot + 4*thread}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from layout_algebra import terms
from layout_algebra.arithmetic import integers
from layout_algebra.axes import m
from layout_algebra.folding import substitute
from layout_algebra.inverting import inverse_map
from layout_algebra.layouts import TileLayout
from layout_algebra.maps import Map
from layout_algebra.terms import Term
from layout_algebra.validation.contracts import ContractError
from layout_algebra.validation.data import Step, steps_of
from layout_algebra.validation.grids import MOST_THREADS
from layout_algebra.values import row_major_strides

#: The outputs of the map, and the names of the arrays.
SOURCE, TARGET = "source", "target"


@dataclass(frozen=True)
class Move:
    """A tile that the threads of a block move.

    Attributes:
        held: the layout of who moves which element: thread axes, and m for a thread's slots.  Every
            slot of every thread holds one element.
        shape: the logical shape.
        source, target: layouts of the arrays, on m; row by row where none is given.
        dtype: element type.
        through: what is done to a value on the way, as a callable of arithmetic with constants.
    """

    held: Any
    shape: Sequence[int]
    source: Any = None
    target: Any = None
    dtype: str = "float32"
    through: Callable[[Any], Any] | None = None

    @property
    def map(self) -> Map:
        """(thread, slot) -> the element that is read, and the place where it is written.

        Raises:
            ContractError: a layout that holds nothing in some slot of some thread, or is on axes
                that are no thread's; a shape of another size; two elements in one place of the
                target.
            NotInjectiveError: two elements in one slot.
        """
        shape = (self.shape,) if isinstance(self.shape, int) else tuple(self.shape)
        found = _map_of(self.held, shape, self.source, self.target)
        _check_places(found)
        return found

    @property
    def steps(self) -> tuple[Step, ...]:
        """What `through` does."""
        return steps_of(self.through, self.dtype)


def _map_of(held: Any, shape: Sequence[int], source: Any, target: Any) -> Map:
    """(thread, slot) -> the element that is read and the place where it is written."""
    size = Map.of(held).size
    if size != prod(shape):
        raise ContractError(f"{held} has {size} elements; got shape {tuple(shape)}")
    found = inverse_map(held)
    if found is None:
        raise ContractError(f"there is no formula for which element a slot holds: {held}")
    if found.guard:
        raise ContractError(f"not every slot of every thread holds an element: {held}")
    thread = terms.coordinate("thread", _threads(found))
    at: dict[terms.Var, Term] = {}
    slot = terms.coordinate("slot", 1)
    for one in found.coordinates:
        if one.name == m.name:
            slot = terms.var("slot", one.low, one.high)
            at[one] = slot
        else:
            at[one] = _owner(one, thread)
    index = substitute(found.output(m.name), at)
    coordinates = dict(
        zip(
            Map.of(_rows(shape), shape).coordinates,
            terms.split(index, list(shape)),
            strict=True,
        )
    )
    outputs: list[tuple[str, Term]] = []
    for axis, layout in ((SOURCE, source), (TARGET, target)):
        own = Map.of(_rows(shape) if layout is None else layout, shape)
        if own.axes != (m.name,) or own.replicas or own.guard:
            raise ContractError(f"the {axis} is an array: one place on m for each element; {own}")
        renamed = dict(zip(own.coordinates, coordinates.values(), strict=True))
        outputs.append((axis, substitute(own.output(m.name), renamed)))
    return Map((thread, slot), tuple(outputs))


def _check_places(f: Map) -> None:
    """Raises ContractError where two elements belong at one place of the target."""
    thread, slot = (np.arange(_int(one.extent)) + _int(one.low) for one in f.coordinates)
    at: dict[Any, Any] = dict(zip(f.coordinates, (thread[:, None], slot[None, :]), strict=True))
    found = integers.values_of([f.output(SOURCE), f.output(TARGET)], at)
    shape = (len(thread), len(slot))
    source, target = (np.broadcast_to(one, shape).ravel() for one in found)
    order = np.argsort(target, kind="stable")
    source, target = source[order], target[order]
    both = np.flatnonzero((target[1:] == target[:-1]) & (source[1:] != source[:-1]))
    if len(both):
        k = both[0]
        raise ContractError(
            f"elements {source[k]} and {source[k + 1]} of the source both belong at "
            f"target[{target[k]}]"
        )


def _rows(shape: Sequence[int]) -> TileLayout:
    return TileLayout.from_iters(
        [(n, step, m) for n, step in zip(shape, row_major_strides(list(shape)), strict=True)]
    )


#: Thread axes -> how many threads further one step on it is, and how many steps there are.
_STEPS: Mapping[str, tuple[int, int | None]] = {
    "laneid": (1, 32),
    "warpid": (32, None),
    "wid_in_wg": (32, 4),
    "tid_in_wg": (1, 128),
    "wgid": (128, None),
    "tx": (1, None),
}


def _threads(found: Map) -> int:
    """How many threads a block has whose places on the thread axes are those of the map."""
    reach: list[tuple[int, int]] = []
    for one in found.coordinates:
        if one.name == m.name:
            continue
        if one.name not in _STEPS:
            raise ContractError(f"{one.name} is no axis of the threads of a block")
        step, many = _STEPS[one.name]
        extent = _int(one.extent)
        if many is not None and extent > many:
            raise ContractError(f"{one.name} is below {many}; got {extent} of it")
        if one.low != 0 or (many is not None and extent != many and len(found.coordinates) > 2):
            raise ContractError(f"not every thread holds an element: {one.name} from {one.low}")
        reach.append((step, extent))
    count = 1
    for step, extent in sorted(reach):
        if step != count:
            raise ContractError("not every thread of the block is one of the owners")
        count *= extent
    if count > MOST_THREADS:
        raise ContractError(f"a block has at most {MOST_THREADS} threads; got {count}")
    return count


def _owner(axis: terms.Var, thread: Term) -> Term:
    """A thread's place on an axis."""
    step, _ = _STEPS[axis.name]
    further = terms.floordiv(thread, step) if step > 1 else thread
    extent = _int(axis.extent)
    high = further.high
    return further if isinstance(high, int) and high < extent else terms.mod(further, extent)


def _int(size: object) -> int:
    if not isinstance(size, int):
        raise ContractError(f"compiled code has numbers for sizes; {size} is symbolic")
    return size
