"""A layout as one of Triton's linear layouts, or the elements that show that it is none.

    exported = to_linear(TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]), (8, 8))
    exported.value.apply(register=1, lane=5)     # {'dim0': 1, 'dim1': 3}
    exported.proof.verdict                       # PROVED: each is the inverse of the other

A linear layout says which element each place holds.  So every place 0 .. 2**n - 1 of each axis has
to hold exactly one element, and where p holds x and q holds y, p ^ q has to hold x ^ y.  What is
refused breaks one of these, and the error's witness is where.

The answer is complete for numbers: before the swizzle (which is linear and a bijection) the copies
of element 0 have to be closed under XOR, and the steps of the single bits of an element have to
share no bit with each other and with the copies; else some carry makes a sum that is no XOR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layout_algebra.algebra.normal_form import copy_sums
from layout_algebra.axes import Axis, m, reg
from layout_algebra.dims import product
from layout_algebra.interop.bit_spaces import Span
from layout_algebra.interop.linear_import import inverse_claim
from layout_algebra.interop.refusals import (
    Exported,
    InteropError,
    checked_layout,
    checked_names,
    exported,
    is_power_of_two,
    spelled,
)
from layout_algebra.interop.triton import MOST_INDEX_BITS, LinearLayout
from layout_algebra.values import AnyLayout, Swizzled, Tile, layout_size
from layout_algebra.verdicts import Witness

#: Inputs of a layout whose axis m counts registers.
DISTRIBUTED: Mapping[str, str] = {
    "register": "m",
    "lane": "laneid",
    "warp": "warpid",
    "block": "cbx",
}
#: Copies on one axis that are looked at.
MOST_COPIES = 1 << 16

Vector = dict[Axis, int]


@dataclass(frozen=True)
class _Bit:
    """A single bit of the element, or of a copy (element 0), and how far it moves on one axis."""

    element: int
    axis: Axis
    step: int


def to_linear(
    layout: AnyLayout,
    shape: Sequence[int],
    in_dims: Mapping[str, Any] | None = None,
) -> Exported[LinearLayout]:
    """The linear layout place -> element of a layout over a shape.

    Args:
        layout: a tile or a swizzled tile with numbers for sizes.
        shape: the tensor's shape, powers of two; its outputs are dim0, dim1, ...
        in_dims: input name -> axis (or its name); by default register (m), lane (laneid), warp
            (warpid) and block (cbx).  For shared memory give {"offset": "m"}.

    Returns:
        The linear layout, with the proof that each is the other's inverse.  Copies are bases 0.

    Raises:
        InteropError: no layout, or one that is not linear over F2; the error's witness shows where.
    """
    ll = linear_of(layout, shape, in_dims)
    return exported(ll, inverse_claim(layout, ll, _inputs(layout, in_dims)))


def linear_of(
    layout: AnyLayout,
    shape: Sequence[int],
    in_dims: Mapping[str, Any] | None = None,
) -> LinearLayout:
    """What `to_linear` exports, without the proof; arguments and errors are the same."""
    axes = _inputs(layout, in_dims)
    _check_sizes(layout, shape)
    _check_signs(layout, shape)
    tile = layout.affine
    bits = _bits_of(tile)
    copies = {axis: _copies_on(tile, axis) for axis in axes.values()}
    _check_sums(bits, copies, _Telling(layout, shape))
    bits += [_Bit(0, axis, step) for axis, found in copies.items() for step in _basis(found)]
    return _inverted(layout, bits, axes, shape)


@dataclass(frozen=True)
class _Telling:
    """Words and witnesses about a layout's elements over a shape."""

    layout: AnyLayout
    shape: Sequence[int]

    def element(self, index: int) -> dict[str, int]:
        """The element of a flat index, by output."""
        found: dict[str, int] = {}
        for position, size in reversed(list(enumerate(self.shape))):
            index, found[f"dim{position}"] = divmod(index, size)
        return dict(reversed(found.items()))

    def place(self, vector: Vector) -> dict[str, int]:
        """A place of the tile, after the swizzle, on every axis of the layout."""
        found = {axis.name: vector.get(axis, 0) for axis in self.layout.axes}
        if isinstance(self.layout, Swizzled):
            found[m.name] = self.layout.swizzle(found.get(m.name, 0))
        return found

    def not_xor(self, elements: tuple[int, int], places: tuple[Vector, Vector]) -> InteropError:
        """p holds x and q holds y, and p ^ q does not hold x ^ y."""
        (x, y), (p, q) = elements, places
        both = {axis: p.get(axis, 0) ^ q.get(axis, 0) for axis in (*p, *q)}
        points = tuple(self.element(index) for index in (x, y, x ^ y))
        shown = tuple(self.place(vector) for vector in (p, q, both))
        (a, b, c), (d, e, f) = map(spelled, points), map(spelled, shown)
        text = f"{d} holds {a} and {e} holds {b}, but their XOR {f} does not hold {c}"
        return InteropError("the layout is not linear over F2", Witness(text, points, shown))


def _inputs(layout: AnyLayout, given: Mapping[str, Any] | None) -> dict[str, Axis]:
    """The axis of each input; every axis of the layout has one."""
    checked_layout("the layout of to_linear", layout)
    in_dims = DISTRIBUTED if given is None else checked_names("in_dims=", given)
    axes = {name: Axis.get(axis) for name, axis in in_dims.items()}
    axes = {name: m if axis is reg else axis for name, axis in axes.items()}
    if len(set(axes.values())) < len(axes):
        raise InteropError(f"two inputs are on one axis: {in_dims}")
    for axis in layout.axes:
        if axis not in axes.values():
            raise InteropError(
                f"axis {axis.name} is the axis of no input: give in_dims=, e.g. "
                f'{{"offset": "m"}} for shared memory; the inputs are {dict(in_dims)}'
            )
    return axes


def _check_sizes(layout: AnyLayout, shape: Sequence[int]) -> None:
    """Numbers only, one size on both sides, and powers of two."""
    if not isinstance(shape, tuple | list) or not all(type(n) is int and n > 0 for n in shape):
        raise InteropError(f"the shape is a sequence of positive ints; got {shape!r}")
    if layout.is_symbolic:
        raise InteropError(f"a linear layout has numbers for sizes: evaluate the Dims of {layout}")
    if product(shape) != layout_size(layout):
        raise InteropError(
            f"shape {tuple(shape)} has {product(shape)} elements, the layout {layout_size(layout)}"
        )
    for position, size in enumerate(shape):
        if not is_power_of_two(size):
            high = 1 << (size.bit_length() - 1)
            text = f"dim{position} has {high} and {size - high} but not their XOR {size}"
            points = tuple({f"dim{position}": value} for value in (high, size - high, size))
            raise InteropError("a linear layout has powers of two for sizes", Witness(text, points))
    if product(shape) > 1 << MOST_INDEX_BITS:  # type: ignore[operator]
        raise InteropError(f"the layout has more than 2**{MOST_INDEX_BITS} elements")


def _check_signs(layout: AnyLayout, shape: Sequence[int]) -> None:
    """No place is negative: the last step against each negative stride is the lowest place."""
    tile, weight, element = layout.affine, 1, 0
    lowest = dict.fromkeys(layout.axes, 0)
    lowest |= {axis: _int(value) for axis, value in tile.offsets}
    for extent, stride, axis in reversed(tile.shard):
        if _int(stride) < 0:
            lowest[axis] += (_int(extent) - 1) * _int(stride)
            element += (_int(extent) - 1) * weight
        weight *= _int(extent)
    for extent, stride, axis in tile.replica:
        lowest[axis] += min(0, (_int(extent) - 1) * _int(stride))
    if min(lowest.values(), default=0) < 0:
        telling = _Telling(layout, shape)
        at, place = telling.element(element), telling.place(lowest)
        text = f"{spelled(at)} is at {spelled(place)}"
        raise InteropError(
            "the places of a linear layout start at 0", Witness(text, (at,), (place,))
        )


def _bits_of(tile: Tile) -> list[_Bit]:
    """The bits of the flat index, lowest first."""
    found: list[_Bit] = []
    weight = 1
    for extent, stride, axis in reversed(tile.shard):
        width = _int(extent).bit_length() - 1
        found += [_Bit(weight << k, axis, _int(stride) << k) for k in range(width)]
        weight *= _int(extent)
    return found


def _copies_on(tile: Tile, axis: Axis) -> frozenset[int]:
    """The numbers on an axis of element 0's places, before the swizzle.

    Raises:
        InteropError: too many copies.
    """
    sums = copy_sums((it for it in tile.replica if it.axis is axis), MOST_COPIES)
    if sums is None:
        raise InteropError(f"more than {MOST_COPIES} copies of each element on axis {axis.name}")
    offset = _int(tile.offset.get(axis, 0))
    return frozenset(offset + value for value in sums)


def _check_sums(
    bits: Sequence[_Bit], copies: Mapping[Axis, frozenset[int]], telling: _Telling
) -> None:
    """Sums are XORs: copies closed, and no step meets another step or a copy."""
    base = {axis: min(found) for axis, found in copies.items()}
    for axis, found in copies.items():
        clash = _not_closed(found)
        if clash is not None:
            p, q = ({**base, axis: value} for value in clash)
            raise telling.not_xor((0, 0), (p, q))
    for k, bit in enumerate(bits):
        if bit.step == 0:
            at = telling.element(0), telling.element(bit.element)
            place = telling.place({})
            text = f"{spelled(at[0])} and {spelled(at[1])} are both at {spelled(place)}"
            raise InteropError("two elements share a place", Witness(text, at, (place,)))
        for q in copies[bit.axis]:
            if bit.step & q and (bit.step ^ q) - bit.step not in copies[bit.axis]:
                raise telling.not_xor((bit.element, 0), ({bit.axis: bit.step}, {bit.axis: q}))
        for other in bits[:k]:
            if other.axis is bit.axis and other.step & bit.step:
                steps = {bit.axis: bit.step}, {bit.axis: other.step}
                raise telling.not_xor((bit.element, other.element), steps)


def _not_closed(numbers: frozenset[int]) -> tuple[int, int] | None:
    """Two of the numbers whose XOR is not one of them; None when there are none."""
    if 0 not in numbers:
        least = min(numbers)
        return least, least
    closed = {0}
    for number in sorted(numbers):
        if number not in closed:
            for known in closed:
                if known ^ number not in numbers:
                    return known, number
            closed |= {known ^ number for known in closed}
    return None


def _basis(closed: frozenset[int]) -> list[int]:
    """Independent numbers whose XORs are all of a set that is closed under XOR."""
    basis: list[int] = []
    spanned = {0}
    for number in sorted(closed):
        if number not in spanned:
            basis.append(number)
            spanned |= {known ^ number for known in spanned}
    return basis


def _inverted(
    layout: AnyLayout, bits: Sequence[_Bit], axes: Mapping[str, Axis], shape: Sequence[int]
) -> LinearLayout:
    """The linear layout that gives each place its element.

    Raises:
        InteropError: a place that holds no element.
    """
    telling = _Telling(layout, shape)
    steps: list[Vector] = []
    for bit in bits:
        after = bit.step
        if isinstance(layout, Swizzled) and bit.axis is m:
            after = layout.swizzle(bit.step)
        steps.append({bit.axis: after})
    widths = {
        axis: max((step.get(axis, 0).bit_length() for step in steps), default=0)
        for axis in axes.values()
    }
    starts, total = {}, 0
    for axis, width in widths.items():
        starts[axis], total = total, total + width
    span = Span(sum(v << starts[axis] for axis, v in step.items()) for step in steps)
    bases: dict[str, list[list[int]]] = {}
    for name, axis in axes.items():
        bases[name] = []
        for k in range(widths[axis]):
            used = span.coordinates(1 << (starts[axis] + k))
            if used is None:
                raise _gap(layout, axis, 1 << k)
            index = 0
            for position, bit in enumerate(bits):
                index ^= bit.element if used >> position & 1 else 0
            bases[name].append(list(telling.element(index).values()))
    return LinearLayout(bases, {f"dim{k}": size for k, size in enumerate(shape)})


def _gap(layout: AnyLayout, axis: Axis, number: int) -> InteropError:
    place = {one.name: number if one is axis else 0 for one in layout.axes}
    text = f"{spelled(place)} holds no element, though places beyond do"
    return InteropError(
        "every place of a linear layout holds an element", Witness(text, (), (place,))
    )


def _int(size: object) -> int:
    if not isinstance(size, int):
        raise InteropError(f"a linear layout has numbers for sizes; got {size}")
    return size
