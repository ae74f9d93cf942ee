"""Where elements are, by plain enumeration, and tables of bases as other libraries print them.

A table of bases says for each bit of a lane, a register, ... by how much the element moves:
`{"m": [(1, 0), (2, 0)], "laneid": [(0, 1), (8, 0)]}` has element (3, 1) at m = 3, laneid = 1.
A basis (0, 0) is a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from layout_algebra.layouts import TileLayout
from tests import bruteforce
from tests.bruteforce import Place, Plain, make_place

Table = dict[tuple[int, ...], frozenset[Place]]
Bases = Mapping[str, Sequence[Sequence[int]]]


def plain(layout: TileLayout) -> Plain:
    """The layout as plain data."""
    return Plain(
        tuple((e, s, axis.name) for e, s, axis in layout.shard),
        tuple((e, s, axis.name) for e, s, axis in layout.replica),
        tuple((axis.name, value) for axis, value in layout.offset.items()),
    )


def enumerated(layout: TileLayout, shape: Sequence[int]) -> Table:
    """Every element's places, past the library's own arithmetic."""
    data = plain(layout)
    assert bruteforce.size(data) == prod(shape)
    every = product(*map(range, shape))
    return {element: bruteforce.places(data, flat) for flat, element in enumerate(every)}


def agrees(layout: TileLayout, shape: Sequence[int], table: Table) -> bool:
    """Whether every element is where the table has it; stops at the first that is not."""
    data = plain(layout)
    every = product(*map(range, shape))
    return all(
        bruteforce.places(data, flat) == table[element] for flat, element in enumerate(every)
    )


def from_formula(
    formula: Callable[..., Mapping[str, int]], shape: Sequence[int], copies: int = 1
) -> Table:
    """The table of a formula (element..., copy) -> place; without copies it takes the element."""
    table: Table = {}
    for element in product(*map(range, shape)):
        every = [(*element, q) for q in range(copies)] if copies > 1 else [element]
        table[element] = frozenset(make_place(formula(*one)) for one in every)
    return table


def from_bases(bases: Bases, shape: Sequence[int]) -> Table:
    """The table of bases, whose places are all that their bits can say."""
    bits = [(axis, 1 << k, basis) for axis, one in bases.items() for k, basis in enumerate(one)]
    found: dict[tuple[int, ...], set[Place]] = {}
    for chosen in product((0, 1), repeat=len(bits)):
        place = dict.fromkeys(bases, 0)
        element = [0] * len(shape)
        for on, (axis, value, basis) in zip(chosen, bits, strict=True):
            if on:
                place[axis] += value
                element = [x ^ step for x, step in zip(element, basis, strict=True)]
        found.setdefault(tuple(element), set()).add(make_place(place))
    assert len(found) == prod(shape)
    return {element: frozenset(places) for element, places in found.items()}


def mutants(layout: TileLayout) -> Iterator[TileLayout]:
    """The layout with one stride changed, for each iter of more than one position."""
    for part in ("shard", "replica"):
        iters = list(getattr(layout, part))
        for position, (extent, stride, axis) in enumerate(iters):
            if extent == 1:
                continue
            for changed in (stride + 1, 2 * stride, 0):
                if changed == stride:
                    continue
                other = [*iters[:position], (extent, changed, axis), *iters[position + 1 :]]
                parts = {"shard": layout.shard, "replica": layout.replica, part: other}
                yield TileLayout.from_iters(parts["shard"], parts["replica"], layout.offset)
