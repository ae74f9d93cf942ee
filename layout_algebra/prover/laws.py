"""`checked()`: every operation inside the block is proven, call by call.

    with checked():
        tiled = atom.tile_to((128, 64), (8, 64))     # raises unless the solver proves the law

A law says what a result means, as a claim about the inputs and the result, built from the one
definition (semantics.py) and not from the operation's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from layout_algebra import terms
from layout_algebra.algebra.canonicalize import canonicalize
from layout_algebra.algebra.checking import checking
from layout_algebra.algebra.threads import Target, fusing
from layout_algebra.algebra.tile import scale, spans
from layout_algebra.axes import Axis, m
from layout_algebra.claims import Claim, Composition, Equivalent
from layout_algebra.dims import Size
from layout_algebra.errors import ClaimError, NotProvedError
from layout_algebra.maps import Map
from layout_algebra.prover.inverse_laws import INVERSE_LAWS
from layout_algebra.prover.proving import prove
from layout_algebra.prover.solve import Budget
from layout_algebra.semantics import layout_map, places, swizzle_term
from layout_algebra.terms import Term, Var
from layout_algebra.values import AnyLayout, Swizzled, Tile
from layout_algebra.verdicts import Verdict

Inputs = dict[str, Any]
Law = Callable[[Any, Inputs], Claim | None]


@contextmanager
def checked(budget: Budget | None = None) -> Generator[list[str], None, None]:
    """Proves the law of every operation called inside the block; yields their names as they pass.

    Raises (from the operation):
        NotProvedError: the law is refuted for this call (a fault in this library), or the solver
            could not decide it within the budget.
    """
    passed: list[str] = []

    def check(operation: str, result: Any, inputs: Inputs) -> None:
        law = LAWS.get(operation)
        try:
            claim = None if law is None or result is None else law(result, inputs)
        except ClaimError as error:  # a result of another size
            raise NotProvedError(f"{operation} could not be checked: {error}") from error
        if claim is None:
            return
        proof = prove(claim, budget=budget)
        if proof.verdict is not Verdict.PROVED:
            raise NotProvedError(f"{operation} could not be checked: {proof}")
        passed.append(operation)

    with checking(check):
        yield passed


# -- laws --------------------------------------------------------------------------------------
def same_map(result: AnyLayout, inputs: Inputs) -> Claim:
    """The map stays, on the axes of the target: canonicalize, normal_form."""
    layout = inputs["layout"]
    if inputs.get("target") is None:
        return Equivalent(layout, result)
    mapped = layout_map(layout)
    outputs = _fused(dict(mapped.outputs), layout.affine)
    return Equivalent(result, Map(mapped.coordinates, tuple(outputs.items()), mapped.replicas))


def grouped(result: tuple[Tile, Any], inputs: Inputs) -> Claim:
    """The map stays, and the dimensions' sizes are reached: group, group_many."""
    return Equivalent(inputs["layout"], result[0])


def tiled(result: AnyLayout, inputs: Inputs) -> Claim:
    """place = w * outer(o) + inner(n), the swizzle last."""
    inner, outer = canonicalize(inputs["inner"]), canonicalize(inputs["outer"])
    scaled = outer.rebuild(scale(outer.shard, spans(inner)), outer.replica, outer.offset)
    shapes = inputs["outer_shape"], inputs["inner_shape"]
    return _sum_law(result, (scaled, inner), shapes, inputs["target"])


def summed(result: AnyLayout, inputs: Inputs) -> Claim:
    """place = left(o) + right(n), the swizzle last."""
    sides = canonicalize(inputs["left"]), canonicalize(inputs["right"])
    shapes = inputs["left_shape"], inputs["right_shape"]
    return _sum_law(result, sides, shapes, inputs["target"])


def sliced(result: AnyLayout, inputs: Inputs) -> Claim:
    """result(r) = layout(begin + r)."""
    layout = _over(result, canonicalize(inputs["tile"], inputs["target"]))
    shape, region = inputs["shape"], inputs["region"]
    coordinates = _coordinates("r", [end - begin for begin, end in region])
    shifted = [
        terms.linear([(coordinate, 1)], begin)
        for coordinate, (begin, _) in zip(coordinates, region, strict=True)
    ]
    digits = terms.split(_flat(shifted, shape), layout.extents)
    return Equivalent(result, places(layout, coordinates, digits))


def permuted(result: Tile, inputs: Inputs) -> Claim:
    """The coordinates change places, each with its iter."""
    layout, order = inputs["layout"], inputs["order"]
    mapped = layout_map(layout)
    return Equivalent(
        result,
        Map(tuple(mapped.coordinates[k] for k in order), mapped.outputs, mapped.replicas),
    )


def unpacked(result: AnyLayout, inputs: Inputs) -> Claim:
    """result(f*num + j) = layout(f)*num + j on the axis, the rest unchanged."""
    mapped, num, axis = layout_map(inputs["layout"]), inputs["num"], inputs["axis"]
    within = terms.coordinate("j", num)
    wide = terms.linear([(mapped.output(axis.name), num), (within, 1)])
    outputs = {**dict(mapped.outputs), axis.name: wide}
    return Equivalent(
        result, Map((*mapped.coordinates, within), tuple(outputs.items()), mapped.replicas)
    )


def packed(result: AnyLayout, inputs: Inputs) -> Claim:
    """Unpacking gives the layout back."""
    return unpacked(inputs["layout"], {**inputs, "layout": result})


def broadcast(result: AnyLayout, inputs: Inputs) -> Claim:
    """The new coordinate moves nothing."""
    mapped = layout_map(inputs["layout"])
    new = terms.coordinate("copy", inputs["num"])
    coordinates = list(mapped.coordinates)
    position = inputs["position"]
    coordinates.insert(position if position >= 0 else position + len(coordinates) + 1, new)
    return Equivalent(result, Map(tuple(coordinates), mapped.outputs, mapped.replicas))


def composed(result: AnyLayout, inputs: Inputs) -> Claim:
    """result(x) = outer(inner(x))."""
    return Composition(inputs["outer"], inputs["inner"], result)


LAWS: dict[str, Law] = {
    "canonicalize": same_map,
    "normal_form": same_map,
    "group": grouped,
    "group_many": grouped,
    "tile": tiled,
    "tile_to": tiled,
    "direct_sum": summed,
    "slice": sliced,
    "permute": permuted,
    "unpack": unpacked,
    "pack": packed,
    "broadcast": broadcast,
    "compose": composed,
    **INVERSE_LAWS,
}


# -- inside ------------------------------------------------------------------------------------
def _sum_law(
    result: AnyLayout,
    sides: tuple[Tile, Tile],
    shapes: tuple[Sequence[Size], Sequence[Size]],
    target: Target | None,
) -> Claim:
    """result(o*I + n) = slow(o) + fast(n); coordinates by turns flatten like o*I + n."""
    slow, fast = sides
    outer = _coordinates("o", shapes[0])
    inner = _coordinates("n", shapes[1])
    one = places(slow, (), terms.split(_flat(outer, shapes[0]), slow.extents)).renamed("o")
    two = places(fast, (), terms.split(_flat(inner, shapes[1]), fast.extents)).renamed("n")
    axes = dict.fromkeys((*one.axes, *two.axes))
    outputs = {axis: terms.add(one.output(axis), two.output(axis)) for axis in axes}
    if target is not None:
        offsets = dict.fromkeys((axis for side in sides for axis, _ in side.offsets), 1)
        both = Tile.make((*slow.shard, *fast.shard), (*slow.replica, *fast.replica), offsets)
        outputs = _fused(outputs, both)
    if isinstance(result, Swizzled):
        outputs[m.name] = swizzle_term(result.swizzle, outputs.get(m.name, terms.const(0)))
    coordinates = tuple(v for pair in zip(outer, inner, strict=True) for v in pair)
    return Equivalent(
        result, Map(coordinates, tuple(outputs.items()), (*one.replicas, *two.replicas))
    )


def _fused(outputs: dict[str, Term], layout: Tile) -> dict[str, Term]:
    """Places on the axes onto which a layout's thread axes are fused."""
    shard = [it for it in layout.shard if it.extent != 1]
    offsets = {axis: value for axis, value in layout.offsets if value != 0}
    onto = fusing(Tile.make(shard, layout.replica, offsets))
    parts: dict[str, list[tuple[Term, Size]]] = {}
    for name, place in outputs.items():
        fused, factor = onto.get(Axis.get(name), (Axis.get(name), 1))
        parts.setdefault(fused.name, []).append((place, factor))
    return {name: terms.linear(summands) for name, summands in parts.items()}


def _coordinates(letter: str, sizes: Sequence[Size]) -> tuple[Var, ...]:
    return tuple(terms.coordinate(f"{letter}{k}", size) for k, size in enumerate(sizes))


def _flat(digits: Sequence[Term], sizes: Sequence[Size]) -> Term:
    below: Size = 1
    parts: list[tuple[Term, Size]] = []
    for digit, size in zip(reversed(digits), reversed(sizes), strict=True):
        parts.append((digit, below))
        below = below * size
    return terms.linear(parts)


def _over(result: AnyLayout, tile: Tile) -> AnyLayout:
    """The tile, under the result's swizzle if it has one."""
    return result.with_tile(tile) if isinstance(result, Swizzled) else tile
