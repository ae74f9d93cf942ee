"""Which layout a linear layout is: the inverse direction, element -> place.

    tile_from_linear(ll).value     # a TileLayout or ComposeLayout, None where it is neither

The answer is complete.  A tile's digit moves along one axis, and its digits add up; a linear
layout's bits are XORed.  The two agree exactly when no two bits of a place meet, so the inverse of
a linear layout is a tile exactly when every basis is 0 (a copy) or a single bit of the element, no
bit twice, and every bit there.  With a swizzle the same holds of the bases taken after it, and few
swizzles act inside the bits of one input: all are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from layout_algebra.algebra.normal_form import merge_copies, merge_shard
from layout_algebra.axes import Axis, m
from layout_algebra.claims import Claim, Covers, Inverse, LeftInverse
from layout_algebra.interop.bit_spaces import Span
from layout_algebra.interop.refusals import Exported, exported, spelled
from layout_algebra.interop.triton import LinearLayout, axes_of, from_linear, spans_all
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.semantics import layout_map
from layout_algebra.values import AnyLayout, Iter, Swizzle
from layout_algebra.verdicts import Witness

#: A bit of a place: the axis and the number that the bit is worth there.
Bit = tuple[Axis, int]


def tile_from_linear(
    ll: LinearLayout, in_dims: Mapping[str, Any] | None = None
) -> Exported[TileLayout | ComposeLayout]:
    """The layout element -> places of a linear layout, where it is one.

    Args:
        ll: the linear layout; several places may hold one element, and then it has copies.
        in_dims: input -> axis, for inputs other than register (m), lane (laneid), warp (warpid),
            block (cbx), offset (m), row (TLane) and col (TCol).

    Returns:
        The layout over the row-major elements of `ll.shape`, with the proof that it is the inverse;
        or no value, the reason, and a witness.

    Raises:
        InteropError: no LinearLayout, or an input whose axis is not known.
    """
    axes = axes_of(ll, in_dims)
    missing = spans_all(ll)
    if missing is not None:
        element = ll.element(missing)
        return _none(
            "an element has no place", Witness(f"no place holds {spelled(element)}", (element,))
        )
    layout = layout_of(ll, in_dims)
    if layout is not None:
        return exported(layout, inverse_claim(layout, ll, axes))
    bits = _bits(ll, axes)
    columns = [vector for _, one in ll.columns() for vector in one]
    return _none(
        "the inverse is neither a tile nor one swizzle over a tile", _witness(ll, bits, columns)
    )


def layout_of(
    ll: LinearLayout, in_dims: Mapping[str, Any] | None = None
) -> TileLayout | ComposeLayout | None:
    """What `tile_from_linear` finds, without the proof; None when there is none."""
    axes = axes_of(ll, in_dims)
    if spans_all(ll) is not None:
        return None
    bits = _bits(ll, axes)
    columns = [vector for _, one in ll.columns() for vector in one]
    for swizzle in (None, *_swizzles(bits)):
        parts = _tile_parts(bits, _after(bits, columns, swizzle))
        if parts is not None:
            tile = TileLayout.from_iters(*parts)
            return tile if swizzle is None else ComposeLayout._from_parts(swizzle, tile)
    return None


def _bits(ll: LinearLayout, axes: Mapping[str, Axis]) -> list[Bit]:
    """The bits of a place, in the order of the bases."""
    return [(axes[name], 1 << k) for name, vectors in ll.bases for k in range(len(vectors))]


def inverse_claim(layout: AnyLayout, ll: LinearLayout, axes: Mapping[str, Axis]) -> Claim:
    """That a layout over `ll.shape` and a linear layout are inverse to each other.

    Both by the row-major index of the element, which is what lets bits cancel without a solver.
    With copies: each copy comes back to its element, and every place of the inputs is taken.
    """
    names = {name: axis.name for name, axis in axes.items()}
    back = from_linear(ll.flattened(), names)
    forth = layout_map(layout)
    every = tuple(dict.fromkeys((*names.values(), *forth.axes)))
    places = tuple((axis, forth.output(axis)) for axis in every)
    forth = Map(forth.coordinates, places, forth.replicas)
    if not forth.replicas:
        return Inverse(forth, back)
    sizes = {names[name]: size for name, size in ll.in_dims.items()}
    return LeftInverse(forth, back) & Covers(layout, sizes)


def _swizzles(bits: Sequence[Bit]) -> Iterator[Swizzle]:
    """Every swizzle that acts within the bits on axis m, the narrowest first."""
    count = sum(1 for axis, _ in bits if axis is m)
    for width in range(1, count // 2 + 1):
        for low in range(count - 2 * width + 1):
            for distance in range(width, count - width - low + 1):
                for inner in (True, False):
                    yield Swizzle(low, width, distance, inner)


def _after(bits: Sequence[Bit], columns: Sequence[int], swizzle: Swizzle | None) -> Sequence[int]:
    """The bases as seen from the places before the swizzle."""
    if swizzle is None:
        return columns
    number = {value: position for position, (axis, value) in enumerate(bits) if axis is m}
    found = list(columns)
    for value, position in number.items():
        moved = swizzle(value) ^ value
        if moved:
            found[position] ^= columns[number[moved]]
    return found


def _tile_parts(
    bits: Sequence[Bit], columns: Sequence[int]
) -> tuple[list[Iter], list[Iter]] | None:
    """Shard and replica when every basis is 0 or a single bit, no bit twice."""
    copies: list[Iter] = []
    digits: dict[int, Iter] = {}
    for (axis, value), column in zip(bits, columns, strict=True):
        if column == 0:
            copies.append(Iter(2, value, axis))
        elif column & (column - 1) or column in digits:
            return None
        else:
            digits[column] = Iter(2, value, axis)
    shard = merge_shard(digits[column] for column in sorted(digits, reverse=True))
    return shard, merge_copies(copies)[0]


def _none(reason: str, witness: Witness) -> Exported[TileLayout | ComposeLayout]:
    return Exported(None, None, f"{reason}: {witness.summary}", witness)


def _witness(ll: LinearLayout, bits: Sequence[Bit], columns: Sequence[int]) -> Witness:
    """What a tile could not do, as elements and places of the linear layout."""

    def place(vector: int) -> dict[str, int]:
        found = {axis.name: 0 for axis, _ in bits}
        for position, (axis, value) in enumerate(bits):
            found[axis.name] += value if vector >> position & 1 else 0
        return found

    span = Span(columns)
    for relation in span.relations:
        if relation & (relation - 1):
            first, both = place(0), place(relation)
            text = f"{spelled(both)} holds element 0 too, which is not a copy along one axis"
            return Witness(text, (ll.element(0),), (first, both))
    size = sum(width.bit_length() - 1 for width in ll.shape)
    vectors = [span.coordinates(1 << k) or 0 for k in range(size)]
    for k, vector in enumerate(vectors):
        moved = {axis for position, (axis, _) in enumerate(bits) if vector >> position & 1}
        if len(moved) > 1:
            element = ll.element(1 << k)
            text = f"element {spelled(element)} is at {spelled(place(vector))}, on two axes at once"
            return Witness(text, (element,), (place(vector),))
    j, k = next(
        (j, k) for k in range(size) for j in range(k) if _meet(vectors[j], vectors[k], columns)
    )
    elements = tuple(ll.element(x) for x in (1 << j, 1 << k, 1 << j | 1 << k))
    places = tuple(place(x) for x in (vectors[j], vectors[k], vectors[j] ^ vectors[k]))
    x, y, both = (spelled(element) for element in elements)
    p, q, there = (spelled(one) for one in places)
    text = f"{x} is at {p} and {y} at {q}, but {both} is at {there}, which is not the sum"
    return Witness(text, elements, places)


def _meet(a: int, b: int, columns: Sequence[int]) -> bool:
    """Whether two places share a bit that is no copy's."""
    return any(a >> p & b >> p & 1 and column for p, column in enumerate(columns))
