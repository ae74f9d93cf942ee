"""What a left layout does to one leaf of a right one: x -> A(d*x) for 0 <= x < s.

A is a list of pairs, merged.  d*x counts through A's pairs; the answer is found by structure:

* d is a multiple of the first pair's size S: its digit is always 0, and d/S counts the others;
* (s-1)*d < S: the leaf stays inside the pair, and is s : d*a for the pair's stride a;
* d divides S: S/d steps of d*a, then the next pair counts by 1.  A merged list leaves the line
  exactly there, so s must be a multiple of S/d, or there is no layout.

Otherwise the values are looked at, all of them: normal forms are unique, so what `extracted` does
not find does not exist.  With Dims, only the three cases above count, each where it is sure.

    through([(10, 16), (2, 4)], 4, 5, ask)      # pieces 2:80, 2:4
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from layout_algebra.algebra.deciding import Decide
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.strides import (
    MOST_ENUMERATED,
    Pair,
    applied,
    ends,
    greatest_digits,
    numbers,
    values,
)
from layout_algebra.dims import Size

#: Values that an error shows at most.
MOST_SHOWN = 8


class NoLayoutError(CuteError):
    """The values are those of no layout, for sure."""


class UndecidedError(CuteError):
    """It is not known whether there is a layout."""


@dataclass
class Part:
    """A leaf's values as pieces, and the greatest digit that it reaches at each of A's pairs."""

    pieces: list[Pair] = field(default_factory=list[Pair])
    reach: dict[int, Size] = field(default_factory=dict[int, Size])


def through(pairs: Sequence[Pair], size: Size, step: Size, ask: Decide) -> Part:
    """The leaf `size:step` through A.

    Args:
        pairs: A, merged.
        size, step: the leaf; step*(size - 1) is inside A (where that is known).
        ask: who decides conditions on sizes.

    Raises:
        NoLayoutError: the values are no layout.
        UndecidedError: with Dims, a condition that is not sure; without, too many values.
    """
    part = Part()
    walked = step  # the step in units of the pair that is looked at
    if size == 1 or step == 0:
        part.pieces.append((size, 0))
        return part
    leaf = f"{size}:{step}"
    if not ask.at_least(step, 0):  # a known negative stride has left A's domain before
        raise UndecidedError(f"the stride of {leaf} is not known to be at least 0")
    for k, (count, stride) in enumerate(pairs):
        last = k == len(pairs) - 1
        skipped = None if last else ask.quotient(walked, count)
        if skipped is not None:
            walked = skipped
            continue
        if ask.at_least(count - 1 - (size - 1) * walked, 0):
            part.pieces.append((size, walked * stride))
            part.reach[k] = (size - 1) * walked
            return part
        steps = None if last else ask.quotient(count, walked)
        if steps is None:
            break
        rest = ask.quotient(size, steps)
        if rest is None:
            raise _crossing(leaf, pairs[k], steps, size)
        part.pieces.append((steps, walked * stride))
        part.reach[k] = count - walked
        size, walked = rest, 1
    # with numbers this is the first pair in which the leaf counts: a step of 1 divides all others
    return _looked_at(pairs, size, step, leaf, ask)


def _crossing(leaf: str, pair: Pair, steps: Size, size: Size) -> CuteError:
    sure = isinstance(steps, int) and isinstance(size, int)
    text = (
        f"{leaf} crosses the end of the left layout's mode {pair[0]}:{pair[1]} after {steps} "
        f"steps, and {steps} {'does not divide' if sure else 'is not known to divide'} {size}"
    )
    return NoLayoutError(text) if sure else UndecidedError(text)


def _looked_at(pairs: Sequence[Pair], size: Size, step: Size, leaf: str, ask: Decide) -> Part:
    left = numbers(pairs)
    if left is None or not isinstance(size, int) or not isinstance(step, int):
        modes = ", ".join(f"{s}:{d}" for s, d in pairs)
        raise UndecidedError(
            f"it is not known how {leaf} counts through the left layout's modes {modes}: "
            "no divisibility between its stride and their sizes is sure for every value of the Dims"
        )
    check_inside(left, [(size, step)])
    if size > MOST_ENUMERATED:
        return _by_period(left, size, step, leaf, ask)
    indices = values([(size, step)], size)
    pieces = extracted(applied(left, indices), leaf)
    return Part(pieces, dict(enumerate(greatest_digits(left, indices))))


def _by_period(left: list[tuple[int, int]], size: int, step: int, leaf: str, ask: Decide) -> Part:
    """The leaf as one period through the first pair that it counts in, and the periods."""
    count = next((c for c, _ in left if step % c), 1)
    period = count // math.gcd(step, count)
    if size % period == 0 and 1 < period <= MOST_ENUMERATED:
        # a period that is no layout says nothing of the whole: runs may be longer than it
        with contextlib.suppress(NoLayoutError):
            inner = through(left, period, step, ask)
            outer = through(left, size // period, step * period, ask)
            reach = added([inner.reach, outer.reach])
            if not overfull(left, reach, ask):
                return Part([*inner.pieces, *outer.pieces], reach)
    raise UndecidedError(
        f"{leaf} through the left layout is not decided: neither of its stride and the modes' "
        f"sizes divides the other, and {size} elements are too many to look at"
    )


def check_inside(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    """That the right pairs' values are indices of the left ones.

    Raises:
        NoLayoutError: they are not.
    """
    count, (low, high) = math.prod(size for size, _ in left), ends(right)
    if low < 0 or high >= count:
        raise NoLayoutError(
            f"its values {low}..{high} leave the left layout, which has indices 0..{count - 1}"
        )


def added(reaches: Sequence[Mapping[int, Size]]) -> dict[int, Size]:
    """The sum of greatest digits, pair by pair."""
    found: dict[int, Size] = {}
    for reach in reaches:
        for k, digit in reach.items():
            found[k] = found.get(k, 0) + digit
    return found


def overfull(pairs: Sequence[Pair], reach: Mapping[int, Size], ask: Decide) -> list[int]:
    """The pairs in which the digits may add up to a carry."""
    return [k for k, most in reach.items() if not ask.at_least(pairs[k][0] - 1 - most, 0)]


# -- values to pairs ---------------------------------------------------------------------------
def extracted(found: Any, what: str) -> list[Pair]:
    """The merged pairs of the layout with these values (the first is 0).

    Raises:
        NoLayoutError: there is none; it says where the values leave every layout.
    """
    pieces: list[Pair] = []
    rows = found
    below = 1
    while len(rows) > 1:
        step = rows[1] - rows[0]
        differences = rows[1:] - rows[:-1]
        breaks = (differences != step).nonzero()[0]
        run = int(breaks[0]) + 1 if len(breaks) else len(rows)
        if len(rows) % run:
            raise _no_layout(found, what, f"{run * below} of them, {len(found)} is no multiple")
        table = rows.reshape(-1, run)
        wrong = (table[:, 1:] - table[:, :-1] != step).any(axis=1).nonzero()[0]
        if len(wrong):
            first = int(wrong[0]) * run * below
            raise _no_layout(found, what, f"{run * below} of them, which do not repeat at {first}")
        pieces.append((run, int(step)))
        rows = table[:, 0]
        below *= run
    return pieces


def _no_layout(found: Any, what: str, why: str) -> NoLayoutError:
    shown = ", ".join(str(int(number)) for number in found[:MOST_SHOWN])
    more = ", ..." if len(found) > MOST_SHOWN else ""
    return NoLayoutError(f"{what} has the values {shown}{more}: a run of {why}; that is no layout")
