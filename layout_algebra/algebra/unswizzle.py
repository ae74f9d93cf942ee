"""The way back through a swizzle, and swizzles moved to the other side of a tile.

A swizzle is I + N on the bits of an address, where N moves one bit field into another.  N is
nilpotent unless the fields coincide, so over bits its inverse is

    (I + N)^-1 = (I + N)(I + N^2)(I + N^4)...

and N^k is again one field moved: k times as far, and shorter.  With fields that do not overlap
N^2 = 0 and the swizzle is its own inverse; with overlapping ones the inverse is a chain.

    Swizzle(0, 3, 1)   x ^ (x >> 1) % 8     (Gray code of four bits)
    its inverse        Swizzle(0, 3, 1), then Swizzle(0, 2, 2)
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_algebra.axes import m
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError
from layout_algebra.semantics import swizzle_term
from layout_algebra.terms import Term
from layout_algebra.values import Iter, Swizzle, Tile, layout_size


def swizzle_inverse(swizzle: Swizzle) -> tuple[Swizzle, ...]:
    """The swizzles that undo one, in the order in which they are applied (any order does).

    An involution gives itself; one that moves nothing gives none.

    Raises:
        LayoutError: no Swizzle, or fields that coincide (atom_len 0): addresses collide.
    """
    if not isinstance(swizzle, Swizzle):  # type: ignore[redundant-expr]
        raise LayoutError(
            f"swizzle_inverse takes a Swizzle(per_element, swizzle_len, atom_len); got {swizzle!r}"
        )
    if not swizzle.is_bijection:
        raise LayoutError(
            f"swizzle_len={swizzle.swizzle_len} with atom_len=0 clears bits, it has no inverse: "
            f"addresses 0 and {1 << swizzle.per_element} both go to 0"
        )
    found: list[Swizzle] = []
    distance, length = swizzle.atom_len, swizzle.swizzle_len
    while length > 0:
        found.append(Swizzle(swizzle.per_element, length, distance, swizzle.swizzle_inner))
        length -= distance
        distance *= 2
    return tuple(found)


def unswizzled(swizzle: Swizzle, address: int) -> int:
    """The address that the swizzle sends to this one."""
    for step in swizzle_inverse(swizzle):
        address = step(address)
    return address


def unswizzled_term(swizzle: Swizzle, address: Term) -> Term:
    """The same for a term."""
    for step in swizzle_inverse(swizzle):
        address = swizzle_term(step, address)
    return address


def untouched(swizzle: Swizzle) -> int:
    """How many addresses from 0 on the swizzle leaves where they are, at least."""
    bits = swizzle.per_element + (swizzle.atom_len if swizzle.swizzle_inner else 0)
    return 1 << bits


def block(swizzle: Swizzle) -> int:
    """The aligned blocks of addresses that it keeps: the period, or the low field where only that
    changes."""
    if swizzle.is_identity:
        return 1
    if swizzle.swizzle_inner:
        return 1 << (swizzle.per_element + swizzle.swizzle_len)
    return swizzle.period


def moved_out(tile: Tile, swizzle: Swizzle) -> Swizzle | None:
    """The swizzle with `tile(swizzle(y)) = found(tile(y))` for each y of the tile's domain.

    The tile gives a flat index, from digits that each have a weight of their own (or none).  The
    answer moves nothing where the XOR changes nothing in the index.  None where there is no such
    swizzle: the fields' bits are not whole fields of the index, or the domain is not whole periods.
    """
    nothing = Swizzle(0, 0, 0)
    size = layout_size(tile)
    if swizzle.is_identity or (isinstance(size, int) and size <= untouched(swizzle)):
        return nothing
    bits = swizzle.period.bit_length() - 1
    weights = _bit_weights(tile.shard, bits) if multiple(size, swizzle.period) else None
    if weights is None:
        return None
    p, b, a = swizzle.per_element, swizzle.swizzle_len, swizzle.atom_len
    low, high = weights[p : p + b], weights[p + a : p + a + b]
    target, source = (low, high) if swizzle.swizzle_inner else (high, low)
    if not any(target):
        return nothing
    to, by = _field(target), _field(source)
    if to is None or by is None:
        return None
    return Swizzle(min(to, by), b, abs(by - to), by > to)


def multiple(size: Size, number: int) -> bool:
    """Whether a number divides a size for all values of its Dims, as its form shows."""
    if isinstance(size, int):
        return size % number == 0
    return all(c % number == 0 for _, c in size.terms)


def _bit_weights(shard: Sequence[Iter], bits: int) -> list[int] | None:
    """What each of the lowest bits of a tile's domain adds to its place on m; None where the
    digits do not fall apart into bits, or run backwards."""
    found: list[int] = []
    for extent, stride, axis in reversed(shard):
        if axis is not m or not isinstance(stride, int):
            return None
        left = extent
        while len(found) < bits and left != 1:
            if not multiple(left, 2):
                return None
            found.append(stride)
            left = left // 2
            stride *= 2
    return found if len(found) == bits and all(weight >= 0 for weight in found) else None


def _field(weights: Sequence[int]) -> int | None:
    """The lowest bit of the field that these weights are, 2^k, 2^(k+1), ...; None: no field."""
    first = weights[0]
    if first < 1 or first & (first - 1):
        return None
    if any(weight != first << k for k, weight in enumerate(weights)):
        return None
    return first.bit_length() - 1
