"""Deals: which lane moves which element of a tile, read from a layout and turned round.

    deal = deal_of(TileLayout(S[(32, 8) : (1@laneid, 1)]), (32, 8))
    deal.lanes, deal.warps, deal.values       # 32, 1, 8

A layout sends an element to a thread and to a number among the thread's values; an instruction asks
the other way round, from the lane and the number to the element.  Layouts are inverted in closed
form.  Of a Map that is no layout every place is looked at, and what is found becomes a term
(lookups.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal, Protocol

from layout_algebra import terms
from layout_algebra.algebra.invert import FiniteInverse, inverse
from layout_algebra.axes import Axis, laneid, m
from layout_algebra.composing import layout_of
from layout_algebra.conditions import Condition, equals
from layout_algebra.dims import Dim, Size, Symbol
from layout_algebra.errors import LayoutError
from layout_algebra.folding import substitute, term_symbols
from layout_algebra.maps import Map
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.buffers import View
from layout_algebra.memory.free import Free, free_variable
from layout_algebra.memory.lookups import looked_up
from layout_algebra.semantics import layout_map
from layout_algebra.terms import Term, Var
from layout_algebra.values import AnyLayout, Swizzled, Tile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Table = NDArray[np.int64]

#: Levels that threads are counted in, the finest first.
LEVELS = ("thread", "warp", "warpgroup")
#: Names of an access' own variables: no Dim that it is about may be called so.
OWN_NAMES = ("step", "warp")
#: Places of all threads together that are looked at.
MOST_PLACES = 1 << 24


class HasMap(Protocol):
    """A layout with a shape of its own: an entry of the hardware catalogue."""

    def map(self) -> Map: ...


@dataclass(frozen=True)
class Deal:
    """The element that a lane moves as one of its values.

    Attributes:
        lanes, warps, values: lanes of a warp, warps that take part, most values of a lane.
        elements: (lane, warp, value) -> the tile's flat index; its guard says where there is one.
        held: threads x values -> whether there is one.
    """

    lanes: int
    warps: int
    values: int
    elements: Map
    held: NDArray[np.bool_]

    def element(self, lane: Term, warp: Term, value: Term) -> tuple[Term, tuple[Condition, ...]]:
        """The flat index at terms for the three, and the conditions that there is one."""
        given = dict(zip(self.elements.coordinates, (lane, warp, value), strict=True))
        kept = tuple(Condition(c.kind, substitute(c.term, given)) for c in self.elements.guard)
        return substitute(self.elements.output(m.name), given), kept

    def torn(self, count: int) -> tuple[str, dict[str, int]] | None:
        """A lane that has some values of a vector of so many, and not all.

        Returns:
            It in words, and its lane, warp and step; None where there is none.
        """
        import numpy as np

        threads, values = self.held.shape
        held = np.zeros((threads, -(-values // count) * count), dtype=bool)
        held[:, :values] = self.held
        vectors = held.reshape(threads, -1, count)
        partial = np.argwhere(vectors.any(axis=2) & ~vectors.all(axis=2))
        if not len(partial):
            return None
        thread, step = (int(number) for number in partial[0])
        missing = step * count + int(np.argmin(vectors[thread, step]))
        warp, lane = divmod(thread, self.lanes)
        where = f"lane {lane} of warp {warp}" if self.warps > 1 else f"lane {lane}"
        return f"{where} has no value {missing}", {"lane": lane, "warp": warp, "step": step}


def deal_of(tv: object, shape: tuple[int, ...]) -> Deal:
    """The deal of a tile of a shape.

    Args:
        tv: element -> thread and value; see `Copy`.
        shape: the tile's sizes.

    Raises:
        LayoutError: a `tv` of another tile, with symbolic sizes, on other axes, with two elements
            in one place, or with places that no thread has.
    """
    layout, forward = _read(tv, shape)
    threads = _thread_axes(forward)
    lanes = 1
    if threads:
        lanes = _limit(threads[0]) if threads[0].scope == "warp" else _limit(laneid)
    thread, value = _places(forward, threads)
    values = int(value.max()) + 1
    warps = int(thread.max()) // lanes + 1
    held = _held(thread, value, (warps * lanes, values))
    lane, warp = terms.coordinate("lane", lanes), terms.coordinate("warp", warps)
    own = terms.coordinate("value", values)
    number = terms.linear([(warp, lanes), (lane, 1)])
    coordinates = (lane, warp, own)
    found = None if layout is None else inverse(layout)
    if found is None or isinstance(found, FiniteInverse):
        place = terms.linear([(number, values), (own, 1)])
        index, guard = _listed(thread, value, held, place)
        elements = Map(coordinates, ((m.name, index),), (), guard)
        return Deal(lanes, warps, values, elements, held)
    at = dict(_at_axes(threads, number)) | {m.name: own}
    turned = found if isinstance(found, Map) else layout_map(found)
    names = [variable.name for variable in turned.coordinates]
    if not isinstance(found, Map):  # of one axis: its flat places
        names = list(forward.axes)
    inputs = Map(coordinates, tuple((name, at[name]) for name in names))
    return Deal(lanes, warps, values, turned.after(inputs), held)


def instruction(view: View, kind: Literal["read", "write"], deal: Deal, count: int) -> Access:
    """The access of one instruction of a warp: `count` values of each lane together.

    Args:
        view: what it reads or writes; sizes in numbers.
        kind: which.
        deal: who moves what, with no lane's vectors torn by the count.
        count: elements of a vector.

    Raises:
        LayoutError: a Dim with a name that the access uses itself.
    """
    one, dims = _one_element(view, kind)
    lane, e = terms.coordinate("lane", deal.lanes), terms.coordinate("e", count)
    sizes = {"step": deal.values // count, "warp": deal.warps}
    own = {
        name: free_variable(Symbol(name, at_most=size - 1))
        for name, size in sizes.items()
        if size > 1
    }
    step, warp = (own[name].variable if name in own else terms.const(0) for name in OWN_NAMES)
    value = terms.linear([(step, count), (e, 1)])
    element, guard = deal.element(lane, warp, value)
    free = (*own.values(), *dims)
    own_lane, own_e, index = one.elements.coordinates[:3]
    values: dict[Var, Term] = {own_lane: terms.const(0), own_e: terms.const(0), index: element}
    inputs = (lane, e, *(one.variable for one in free))

    def put(map: Map) -> Map:
        found = tuple((axis, substitute(term, values)) for axis, term in map.outputs)
        kept = (Condition(c.kind, substitute(c.term, values)) for c in map.guard)
        return Map(inputs, found, (), (*guard, *kept))

    bits = count * view.buffer.bits
    return replace(
        one,
        elements=put(one.elements),
        where=put(one.where),
        bits=bits,
        lanes=deal.lanes,
        free=free,
        text=f"copy's {kind} of {bits} bits a lane from {view}",
    )


# -- inside ------------------------------------------------------------------------------------
def _one_element(view: View, kind: Literal["read", "write"]) -> tuple[Access, tuple[Free, ...]]:
    """The access to the element with a flat index, its first free variable; and the other ones."""
    layout = view.buffer.layout
    sizes: list[Size] = [*view.begin, *view.buffer.shape, *layout.affine.sizes()]
    names = {symbol.name for symbol in term_symbols(terms.const(size) for size in sizes)}
    taken = sorted(names & set(OWN_NAMES))
    if taken:
        raise LayoutError(
            f"a copy's accesses have a variable {taken[0]} of their own: rename the Dim"
        )
    name = "element"
    while name in names:
        name += "_"
    index = Dim(name, at_most=prod(int(size) for size in view.shape) - 1)  # type: ignore[arg-type]

    def where(lane: Any, element: Any) -> tuple[Any, ...]:
        del lane
        found: list[Any] = []
        for size in reversed(view.shape[1:]):
            found.append(element % size)
            element = element // size
        return (element, *reversed(found))

    one = getattr(view, kind)(where, lanes=1, free=[index])
    return one, one.free[1:]


def _read(tv: object, shape: tuple[int, ...]) -> tuple[AnyLayout | None, Map]:
    """The layout of a `tv`, None where it is none, and its map over the tile's elements in order.

    Raises:
        LayoutError: something else, symbolic sizes, or another tile.
    """
    layout = tv if isinstance(tv, Tile | Swizzled) else getattr(tv, "layout", None)
    if isinstance(tv, Tile | Swizzled):
        forward = layout_map(tv)
    elif isinstance(tv, Map) or hasattr(tv, "map"):
        forward = Map.of(tv)
    else:
        raise LayoutError(
            f"tv is a layout, an entry of the catalogue or a Map from elements to lanes; got {tv!r}"
        )
    if forward.is_symbolic or forward.guard:
        raise LayoutError(f"tv says of every element, in numbers, who moves it; got {tv}")
    given = [size for size in forward.extents if size != 1]
    own = [size for size in shape if size != 1]
    total = [prod(own)]
    # a layout only flattens, and one coordinate is the flat index: of the others the shape counts
    flattens = isinstance(tv, Tile | Swizzled) or len(given) == 1
    if not (given == own or (flattens and [forward.size] == total)):
        sizes = " x ".join(map(str, forward.extents))
        raise LayoutError(
            f"tv is about {sizes} elements; the tile is {' x '.join(map(str, shape))}"
        )
    if not isinstance(layout, Tile | Swizzled):
        found = layout_of(forward)
        layout = found if isinstance(found, Tile | Swizzled) else None
    return layout, forward


def _thread_axes(forward: Map) -> list[Axis]:
    """The axes that count threads, the finest first.

    Raises:
        LayoutError: another axis, or axes that do not count the threads of one block.
    """
    axes = [Axis.get(name) for name in forward.axes if name != m.name]
    wrong = [axis.name for axis in axes if axis.subscope not in LEVELS]
    if wrong:
        raise LayoutError(f"tv is on thread axes and m, like laneid, tx or warpid; got {wrong[0]}")
    axes.sort(key=lambda axis: LEVELS.index(str(axis.subscope)))
    levels = ["thread", *(str(axis.scope) for axis in axes)]
    for axis, level in zip(axes, levels, strict=False):
        if axis.subscope != level:
            names = ", ".join(one.name for one in axes)
            raise LayoutError(
                f"tv's axes count threads up from lanes, like laneid and warpid; got {names}, and "
                f"{axis.name} counts {axis.subscope}s, not {level}s"
            )
    return axes


def _limit(axis: Axis) -> int:
    if axis.limit is None:
        raise LayoutError(f"tv is on axes with a known number of places; {axis.name} has none")
    return axis.limit


def _at_axes(threads: Sequence[Axis], number: Term) -> list[tuple[str, Term]]:
    """The places on thread axes of the thread with a number."""
    found: list[tuple[str, Term]] = []
    for axis in threads:
        number, place = terms.divmod_terms(number, _limit(axis))
        found.append((axis.name, place))
    return found


def _places(forward: Map, threads: Sequence[Axis]) -> tuple[Table, Table]:
    """The thread and the value of every element: arrays of elements x copies.

    Raises:
        LayoutError: a place that the hardware does not have.
    """
    import numpy as np

    size, table = int(forward.size), forward.table()  # type: ignore[arg-type]
    columns = {axis: column.reshape(size, -1) for axis, column in table.items()}
    thread = np.zeros((size, 1), dtype=np.int64)
    weight = 1
    for axis in threads:
        column = columns[axis.name]
        low, high = int(column.min()), int(column.max())
        if low < 0 or high >= _limit(axis):
            raise LayoutError(
                f"tv's places on {axis.name} are 0..{_limit(axis) - 1}; got {low}..{high}"
            )
        thread = thread + weight * column
        weight *= _limit(axis)
    value = columns.get(m.name, np.zeros((size, 1), dtype=np.int64))
    if int(value.min()) < 0:
        raise LayoutError(f"a thread's values are counted from 0; tv has {int(value.min())} on m")
    thread, value = np.broadcast_arrays(thread, value)
    return thread, value


def _held(thread: Table, value: Table, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Which thread has which value.

    Raises:
        LayoutError: two elements in one place.
    """
    import numpy as np

    if prod(shape) > MOST_PLACES:
        raise LayoutError(
            f"tv has {shape[0]} threads of {shape[1]} values: at most {MOST_PLACES} places in all"
        )
    owner = np.full(shape, -1, dtype=np.int64)
    elements = np.broadcast_to(np.arange(len(thread))[:, None], thread.shape)
    owner[thread, value] = elements
    lost = np.argwhere(owner[thread, value] != elements)
    if len(lost):
        row, copy = lost[0]
        at = thread[row, copy], value[row, copy]
        raise LayoutError(
            f"tv has elements {int(row)} and {int(owner[at])} both in value {int(at[1])} of thread "
            f"{int(at[0])}: give each a place of its own"
        )
    return owner >= 0


def _listed(
    thread: Table, value: Table, held: NDArray[np.bool_], number: Term
) -> tuple[Term, tuple[Condition, ...]]:
    """The element at a place by its number, thread by thread, and the conditions that one is."""
    import numpy as np

    owner = np.zeros(held.shape, dtype=np.int64)
    owner[thread, value] = np.arange(len(thread))[:, None]
    there = held.reshape(-1).astype(np.int64)
    guard = () if there.all() else (equals(looked_up(there, number), 1),)
    return looked_up(owner.reshape(-1), number), guard
