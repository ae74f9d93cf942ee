"""Digits of one axis in an order, and the tiles that they make of the flat index.

A tile that goes from the places of an axis to the flat index has the axis' digits as its iters,
slowest first, each with its weight as the stride.  It is the inverse where the strides are compact:
each the product of the extents below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from layout_algebra.algebra.axis_digits import INDEX, AxisDigit
from layout_algebra.algebra.deciding import Decide
from layout_algebra.algebra.peeling import Steps, Take
from layout_algebra.dims import Size, product
from layout_algebra.values import Iter, Tile


def descending(digits: Iterable[AxisDigit]) -> list[AxisDigit] | None:
    """Digits from the largest stride down; None where strides are symbolic."""
    found = list(digits)
    if any(type(digit.stride) is not int for digit in found):
        return None
    return sorted(found, key=lambda digit: digit.stride, reverse=True)  # type: ignore[arg-type, return-value]


def taken(steps: Steps) -> list[AxisDigit] | None:
    """The digits of a plan that takes them one by one; None for another plan."""
    found = [step.digit for step in steps if isinstance(step, Take)]
    return found if len(found) == len(steps) else None


def is_compact(order: Sequence[AxisDigit], ask: Decide) -> bool:
    """Whether each stride, from the last up, is the product of the extents below it."""
    below: Size = 1
    for digit in reversed(order):
        if digit.stride != below and not ask.equal(digit.stride, below):
            return False
        below = below * digit.extent
    return True


def index_tile(tile: Tile, order: Sequence[AxisDigit]) -> Tile:
    """The tile whose digits, slowest first, move the flat index as these digits do."""
    shard = [Iter(digit.extent, digit.step, INDEX) for digit in order]
    start: Size = 0
    for digit in order:
        start = start + digit.start
    offset = {INDEX: start} if start != 0 else None
    return tile.rebuild(shard or [Iter(1, 1, INDEX)], (), offset)


def compact_chain(digits: Sequence[AxisDigit], ask: Decide) -> list[AxisDigit]:
    """The digits that count on from stride 1, fastest first; those that reach furthest."""
    known: dict[Size, list[AxisDigit]] = {}

    def chain(stride: Size) -> list[AxisDigit]:
        if stride not in known:
            best: list[AxisDigit] = []
            for digit in digits:
                if digit.stride != stride and not ask.equal(digit.stride, stride):
                    continue
                found = [digit, *chain(stride * digit.extent)]
                if not best or _surely_more(found, best):
                    best = found
            known[stride] = best
        return known[stride]

    return chain(1)


def _surely_more(one: Iterable[AxisDigit], two: Iterable[AxisDigit]) -> bool:
    reached = [product(digit.extent for digit in chain) for chain in (one, two)]
    difference = reached[0] - reached[1]
    return isinstance(difference, int) and difference > 0
