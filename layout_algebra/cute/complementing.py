"""complement: the shifts by which copies of a layout's image fill an interval.

formula     every y in 0..N-1 is A(x) + C(z) for exactly one x and one z (strides of 0 apart)
requires    no negative stride; in ascending order each stride is a multiple of the size times the
            stride before (strides of 0 and sizes of 1 apart): so A puts no two elements together
ensures     N is n, rounded up to whole blocks of A; C is increasing, and merged
example     complement(4:2, 24) is (2,3):(1,8)

The condition is also necessary: when an interval is the direct sum of arithmetic progressions and a
set, the progressions are digits of one mixed radix.  So a refusal means that there is no
complement.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from layout_algebra.algebra.deciding import Decide, knowing_extents
from layout_algebra.cute import tuples
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.shapes import known, of_pairs
from layout_algebra.cute.strides import Pair, merged, numbers
from layout_algebra.cute.values import ComposedLayout, Layout, plain
from layout_algebra.dims import Size, bounds


def complement(a: Layout, cotarget: Any = 1) -> Layout:
    """The layout of the shifts by which a's image fills 0..N-1.

    Args:
        a: the layout.
        cotarget: n, the number of places to fill, or a shape of as many.  N is n rounded up to a
            multiple of a's block, the last stride times its size; without it, one block.

    Law: every y in 0..N-1 is a(x) + result(z) for exactly one x and one z, where x is 0 in modes of
    stride 0; result is increasing.

    Raises:
        CuteError: a negative stride, or two modes of which the strides do not nest (named), or a
            condition on Dims that is not sure.
    """
    if isinstance(known(a, "complement"), ComposedLayout):
        raise CuteError(f"complement: the layout has no swizzle; got {a}")
    shape = tuples.checked_shape(cotarget)
    return of_pairs(gaps(plain(a, "complement: the layout"), tuples.size_of(shape), "complement"))


def gaps(a: Layout, places: Size, operation: str) -> list[Pair]:
    """The pairs of the complement."""
    ask = knowing_extents([*(size for size, _ in a.pairs()), places])
    ordered = nested_order(a, ask, operation)
    found: list[Pair] = []
    reached: Size = 1
    for size, stride in ordered:
        gap = ask.quotient(stride, reached)
        if gap is None:  # `nested_order` has asked the same
            raise CuteError(f"{operation}: {reached} does not divide {stride}")
        found.append((gap, reached))
        reached = stride * size
    found.append((_blocks(places, reached, ask, operation), reached))
    return merged(found)


def block(a: Layout, operation: str) -> Size:
    """The length of a's block: the greatest stride times its size; 1 without any.

    Raises:
        CuteError: as `complement`.
    """
    ordered = nested_order(a, knowing_extents([size for size, _ in a.pairs()]), operation)
    return ordered[-1][0] * ordered[-1][1] if ordered else 1


def _blocks(places: Size, length: Size, ask: Decide, operation: str) -> Size:
    """places / length, rounded up."""
    if isinstance(places, int) and isinstance(length, int):
        return -(-places // length)
    exact = ask.quotient(places, length)
    if exact is not None:
        return exact
    if ask.at_least(length - places, 0):
        return 1
    raise CuteError(f"{operation}: blocks of {length} are not known to divide the {places} places")


def nested_order(a: Layout, ask: Decide, operation: str) -> list[Pair]:
    """The pairs that move, by ascending stride, each stride a multiple of the block before.

    Raises:
        CuteError: a negative stride, or strides that do not nest.
    """
    moving = [(size, stride) for size, stride in a.pairs() if size != 1 and stride != 0]
    for size, stride in moving:
        most = bounds(stride)[1]
        if most is not None and most < 0:
            raise CuteError(
                f"{operation}: mode {size}:{stride} of {a} goes down, so its places are not in "
                "0..n-1"
            )
    if numbers(moving) is None:
        return _by_divisibility(a, moving, ask, operation)
    moving.sort(key=lambda pair: (pair[1], pair[0]))  # type: ignore[arg-type, return-value]
    for before, after in itertools.pairwise(moving):
        length = before[0] * before[1]
        if ask.quotient(after[1], length) is None:
            raise CuteError(
                f"{operation}: modes {before[0]}:{before[1]} and {after[0]}:{after[1]} of {a} do "
                f"not nest: stride {after[1]} is no multiple of {before[0]}*{before[1]} = {length}"
            )
    return moving


def _by_divisibility(a: Layout, moving: list[Pair], ask: Decide, operation: str) -> list[Pair]:
    """With Dims strides have no order but this: each is a multiple of all blocks before."""
    left = list(moving)
    found: list[Pair] = []
    while left:
        first = next((k for k in range(len(left)) if _goes_first(left, k, ask)), None)
        if first is None:
            raise CuteError(
                f"{operation}: it is not known that the strides of {a} nest: none of "
                f"{', '.join(f'{s}:{d}' for s, d in left)} divides all others by its size times "
                "its stride"
            )
        found.append(left.pop(first))
    return found


def _goes_first(pairs: Sequence[Pair], k: int, ask: Decide) -> bool:
    length = pairs[k][0] * pairs[k][1]
    return all(ask.quotient(d, length) is not None for j, (_, d) in enumerate(pairs) if j != k)
