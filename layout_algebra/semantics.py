"""What a layout means: the one definition, as a function from its data to a Map.

A layout sends each logical element to places in the machine.  The direction is logical -> physical
because that is the question code asks ("where is element (1, 3)?"), because it is always a function
(an element has its places, while a place may hold nothing, or several elements by mistake), and
because replication then needs no special case: an element with copies has several places.

A tile is three lists.  For a flat index f (row-major over the logical shape),

    c_k  = the k-th digit of f in the mixed radix of the shard's extents      (last one fastest)
    D(f) = for each axis, the sum of c_k * stride_k over the shard iters on it
    L(f) = { D(f) + O + sum of r_t * stride_t  |  0 <= r_t < extent_t }       (t: replica iters)

Worked, for S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid and the
element (1, 3) of an (8, 16) tile, f = 1*16 + 3 = 19:

    iter        (8, 4@laneid)   (2, 1@warpid)   (4, 1@laneid)   (2, 1@m)
    digit of 19       1               0               1             1
    goes to      laneid += 4     warpid += 0     laneid += 1     m += 1
    offset                       warpid += 5
    so  laneid = 5, m = 1, and warpid = 5 and 5 + 4 (the copy)

A swizzled tile is the same, and then the number on axis m goes through the XOR of its Swizzle.
Copies are made before the XOR: the places are swizzle(base + r), not swizzle(base) + r.

Nothing else in the library says what a layout means.  Interpreters fold the terms that are built
here; direct loops for speed (`apply` on ints) are held equal to it by property tests.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_algebra import terms
from layout_algebra.axes import m
from layout_algebra.dims import (
    Size,
    Symbol,
    as_size,
    at_least,
    is_size,
    positive_symbols,
    product,
    symbols,
)
from layout_algebra.errors import CoordinateError
from layout_algebra.maps import Map, shape_coordinates
from layout_algebra.terms import Term, Var
from layout_algebra.values import AnyLayout, Swizzle, Swizzled, layout_size


def layout_map(layout: AnyLayout, shape: Sequence[Size] | None = None) -> Map:
    """The Map of a layout over a logical shape (its own extents when None).

    Args:
        layout: a tile or a swizzled tile.
        shape: sizes of the logical dimensions, row-major.  Its product may be smaller than the
            layout's size: then the map covers the first elements.

    Raises:
        CoordinateError: a shape that reaches beyond the layout, or is not made of sizes.
    """
    if shape is None:
        coordinates = tuple(
            terms.coordinate(f"c{k}", extent) for k, extent in enumerate(layout.extents)
        )
        digits: Sequence[Term] = coordinates
    else:
        coordinates = shape_coordinates(check_shape(layout, shape), _symbols(layout, shape))
        extents = tuple(as_size(extent) for extent in shape)
        digits = terms.split(_flatten(coordinates, extents), layout.extents)
    return places(layout, coordinates, digits)


def places(layout: AnyLayout, coordinates: Sequence[Var], digits: Sequence[Term]) -> Map:
    """The Map whose shard digits are the given terms of the coordinates."""
    tile = layout.affine
    replicas = tuple(
        terms.coordinate(f"r{t}", extent) for t, (extent, _, _) in enumerate(tile.replica)
    )
    parts: dict[str, list[tuple[Term, Size]]] = {axis.name: [] for axis in layout.axes}
    for digit, (_, stride, axis) in zip(digits, tile.shard, strict=True):
        parts[axis.name].append((digit, stride))
    for copy, (_, stride, axis) in zip(replicas, tile.replica, strict=True):
        parts[axis.name].append((copy, stride))
    offset = {axis.name: value for axis, value in tile.offsets}
    outputs = {axis: terms.linear(on_axis, offset.get(axis, 0)) for axis, on_axis in parts.items()}
    if isinstance(layout, Swizzled):
        outputs[m.name] = swizzle_term(layout.swizzle, outputs[m.name])
    return Map(tuple(coordinates), tuple(outputs.items()), replicas)


def swizzle_term(swizzle: Swizzle, address: Term) -> Term:
    """The address after the XOR; see `Swizzle` for the formula."""
    p, b, a = swizzle.per_element, swizzle.swizzle_len, swizzle.atom_len
    if b == 0:
        return address
    source, target = (p + a, p) if swizzle.swizzle_inner else (p, p + a)
    field = terms.mod(terms.floordiv(address, 1 << source), 1 << b)
    return terms.xor(address, terms.scale(field, 1 << target))


def digits_of(layout: AnyLayout, flat: Term) -> list[Term]:
    """The shard digits of a flat index."""
    return terms.split(flat, layout.extents)


def check_shape(layout: AnyLayout, shape: Sequence[Size]) -> Sequence[Size]:
    """The shape, if its elements are all elements of the layout.

    Raises:
        CoordinateError: otherwise, naming both sizes.
    """
    if not isinstance(shape, tuple | list) or not all(is_size(extent) for extent in shape):
        raise CoordinateError(f"a shape is a sequence of positive ints or Dims; got {shape!r}")
    for extent in shape:
        if isinstance(extent, int) and extent < 1:
            raise CoordinateError(f"a shape's sizes are at least 1; got {tuple(shape)}")
    given, size = product(shape), layout_size(layout)
    if given != size:
        known = positive_symbols([*layout.extents, *shape])
        if not at_least(size - given, 0, known):
            sure = isinstance(given, int) and isinstance(size, int)
            raise CoordinateError(
                f"shape {tuple(shape)} has {given} elements, "
                f"{'more than' if sure else 'for some values of the Dims more than'} "
                f"the layout's {size}"
            )
    return shape


def _symbols(layout: AnyLayout, shape: Sequence[Size]) -> frozenset[Symbol]:
    """The Dims of the layout and of the shape."""
    found = layout.symbols()
    for size in shape:
        found |= symbols(size)
    return found


def _flatten(coordinates: Sequence[Var], extents: Sequence[Size]) -> Term:
    weight: Size = 1
    parts: list[tuple[Term, Size]] = []
    for variable, extent in zip(reversed(coordinates), reversed(extents), strict=True):
        parts.append((variable, weight))
        weight = weight * extent
    return terms.linear(parts)
