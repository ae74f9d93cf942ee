"""Flat lists of (size, stride) pairs, the first fastest: what a layout is when nesting is left out.

    merged([(2, 1), (1, 6), (6, 2)])      # [(12, 1)]
    values([(2, 1), (3, 10)], 6)          # the NumPy array 0, 1, 10, 11, 20, 21

A list without pairs is the map of one element to 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from layout_algebra.dims import Size

Pair: TypeAlias = tuple[Size, Size]

#: Elements that are looked at one by one at most, where structure does not decide.
MOST_ENUMERATED = 1 << 20
#: Numbers below this are calculated in 64 bits.
_EXACT = 1 << 61


def merged(pairs: Sequence[Pair]) -> list[Pair]:
    """The same map with sizes of 1 left out and neighbours that count on joined."""
    found: list[Pair] = []
    for size, stride in pairs:
        if size == 1:
            continue
        if found and found[-1][0] * found[-1][1] == stride:
            found[-1] = (found[-1][0] * size, found[-1][1])
        else:
            found.append((size, stride))
    return found


def value(pairs: Sequence[tuple[int, int]], index: int) -> int:
    """The value at one index inside."""
    total = 0
    for size, stride in pairs:
        index, digit = divmod(index, size)
        total += digit * stride
    return total


def numbers(pairs: Sequence[Pair]) -> list[tuple[int, int]] | None:
    """The pairs, if all of them are ints."""
    found = [(s, d) for s, d in pairs if isinstance(s, int) and isinstance(d, int)]
    return found if len(found) == len(pairs) else None


def ends(pairs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The lowest and the highest value."""
    steps = [(size - 1) * stride for size, stride in pairs]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)


def first_outside(pairs: Sequence[tuple[int, int]], end: int) -> int | None:
    """The first index at which the value is outside 0..end-1; None when all are inside.

    From the slowest pair down: the least digit from which the faster pairs can still get outside.
    """
    low, high = ends(pairs)
    if low >= 0 and high < end:
        return None
    base, index = 0, 0
    weights = [1]
    for size, _ in pairs:
        weights.append(weights[-1] * size)
    for k in range(len(pairs) - 1, -1, -1):
        size, stride = pairs[k]
        low, high = ends(pairs[:k])
        above = _least_digit(size, stride, end - base - high)
        below = _least_digit(size, -stride, 1 + base + low)
        digit = min(d for d in (above, below) if d is not None)
        base += digit * stride
        index += digit * weights[k]
    return index


def _least_digit(size: int, stride: int, least: int) -> int | None:
    """The least digit with digit*stride >= least."""
    if least <= 0:
        return 0
    if stride <= 0:
        return None
    digit = -(-least // stride)
    return digit if digit < size else None


# -- every element -----------------------------------------------------------------------------
def values(pairs: Sequence[tuple[int, int]], size: int) -> Any:
    """The values at 0..size-1, as a NumPy array (of Python ints where 64 bits are too few)."""
    return applied(pairs, _indices(size, max(_magnitude(pairs), size)))


def applied(pairs: Sequence[tuple[int, int]], indices: Any) -> Any:
    """The values at an array of indices inside."""
    import numpy as np

    large = max(_magnitude(pairs), _weight(pairs)) >= _EXACT
    rest = indices.astype(object) if large else indices
    total = np.zeros(len(indices), dtype=object if large else np.int64)
    for size, stride in pairs:
        digit = rest % size
        rest = rest // size
        total = total + digit * stride
    return total


def greatest_digits(pairs: Sequence[tuple[int, int]], indices: Any) -> list[int]:
    """The greatest digit of an array of indices at each pair."""
    found: list[int] = []
    rest = indices.astype(object) if _weight(pairs) >= _EXACT else indices
    for size, _ in pairs:
        found.append(int((rest % size).max()))
        rest = rest // size
    return found


def _indices(size: int, largest: int) -> Any:
    import numpy as np

    found = np.arange(size, dtype=np.int64)
    return found.astype(object) if largest >= _EXACT else found


def _magnitude(pairs: Sequence[tuple[int, int]]) -> int:
    return sum(size * abs(stride) for size, stride in pairs)


def _weight(pairs: Sequence[tuple[int, int]]) -> int:
    total = 1
    for size, _ in pairs:
        total *= size
    return total
