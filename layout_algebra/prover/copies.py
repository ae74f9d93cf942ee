"""Copies taken off a map: a base without replicas, and the set that its copies make."""

from __future__ import annotations

from collections.abc import Mapping

from layout_algebra.algebra.normal_form import equal_copies, merge_copies
from layout_algebra.axes import Axis
from layout_algebra.dims import Size
from layout_algebra.errors import AxisError
from layout_algebra.folding import variables
from layout_algebra.maps import Map
from layout_algebra.terms import Sum, Term, Var, const, linear
from layout_algebra.values import Iter, Tile


def bases_of_equal_copies(f: Map, g: Map) -> tuple[Map, Map] | None:
    """Both maps' least copies, when the sets of copies around them are the same.

    Then the maps are equal exactly when these are.  None: copies that are no sums (under a XOR), or
    that are not known to be the same set.
    """
    one, two = _peeled(f), _peeled(g)
    if one is None or two is None or equal_copies(one[1], two[1]) is not True:
        return None
    return one[0], two[0]


def _peeled(f: Map) -> tuple[Map, Tile] | None:
    """The map of the least copies, and the copies as iters of a tile."""
    outputs: list[tuple[str, Term]] = []
    copies: list[Iter] = []
    for axis, term in f.outputs:
        taken = _coefficients(term, f.replicas)
        if taken is None:
            return None
        base, steps = taken
        if steps:
            try:
                on = Axis.get(axis)
            except AxisError:
                return None
            for v, stride in steps.items():
                if v.extent is None or v.low is None:
                    return None
                copies.append(Iter(v.extent, stride, on))
                base = linear([(base, 1)], stride * v.low)
        outputs.append((axis, base))
    if len({v for _, term in f.outputs for v in _replicas_in(term, f.replicas)}) != len(copies):
        return None  # a replica that moves on several axes at once
    merged, shift = merge_copies(copies)
    by_name = {axis.name: value for axis, value in shift.items()}
    moved = tuple((axis, linear([(term, 1)], by_name.get(axis, 0))) for axis, term in outputs)
    return Map(f.coordinates, moved, (), f.guard), Tile((), tuple(merged), ())


def _coefficients(term: Term, replicas: tuple[Var, ...]) -> tuple[Term, Mapping[Var, Size]] | None:
    """The term without its replicas, and their coefficients; None where one is inside a part."""
    if isinstance(term, Var) and term in replicas:
        return const(0), {term: 1}
    if not isinstance(term, Sum):
        return None if _replicas_in(term, replicas) else (term, {})
    steps: dict[Var, Size] = {}
    rest: list[tuple[Term, Size]] = []
    for part, c in term.parts:
        if isinstance(part, Var) and part in replicas:
            steps[part] = c
        elif _replicas_in(part, replicas):
            return None
        else:
            rest.append((part, c))
    return linear(rest, term.constant), steps


def _replicas_in(term: Term, replicas: tuple[Var, ...]) -> frozenset[Var]:
    return variables([term]) & frozenset(replicas)
