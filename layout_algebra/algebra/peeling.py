"""From a place on one axis back to the digits: a plan of divisions.

Digits of one axis are peeled off one by one, each by a step that the place alone decides:

    Take      the largest stride exceeds the reach of all others: digit = rest // stride
    Block     several strides share a factor above the reach of the others: they are a layout of
              their own on rest // factor
    Scale     all strides share a factor: the rest is a multiple of it
    Residue   all strides but one share a factor: that one is known by the rest modulo the factor
    Lookup    neither: the few places of what is left, one by one

Each step is exact: two elements share a place exactly when they do so in one of the parts.  So the
plan also decides whether elements collide; what is irregular and too large to list is searched for
a collision.

    S[(2, 3) : (3, 2)]   Residue: the first digit is place % 2 (3 is odd), then (place - 3*digit)//2
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from itertools import product as combinations
from math import gcd, prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

from layout_algebra.algebra.axis_digits import AxisDigit
from layout_algebra.algebra.deciding import Decide
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError

#: Places that a Lookup lists; more are left to a search.
MOST_LISTED = 256
#: Combinations of digits that are looked at, one by one, for a collision.
MOST_COMBINATIONS = 1 << 16
#: Differences that a search for a collision may try.
MOST_TRIED = 1 << 18
#: Strides that an error lists.
MOST_SHOWN = 40
#: Blocks within blocks of a plan.
MOST_NESTED = 64

T = TypeVar("T")
#: A search that yields the searches whose answers it needs, and returns its own (see `unrolled`).
Searching: TypeAlias = Generator[Any, Any, T]


class Take(NamedTuple):
    """digit = rest // divisor, rest = rest % divisor"""

    digit: AxisDigit
    divisor: Size


class Block(NamedTuple):
    """The steps go on rest // divisor, rest = rest % divisor"""

    steps: Steps
    divisor: int


class Scale(NamedTuple):
    """rest = rest // divisor, which is exact"""

    divisor: int


class Residue(NamedTuple):
    """digit = rest * inverse % modulus, rest = (rest - digit * stride) // modulus"""

    digit: AxisDigit
    stride: int
    modulus: int
    inverse: int


class Lookup(NamedTuple):
    """(place, what the digits there add to the flat index), by place, from place 0 to width - 1"""

    entries: tuple[tuple[int, int], ...]
    width: int


class Unlisted(NamedTuple):
    """Digits without collisions that are too many to list."""

    digits: tuple[AxisDigit, ...]


Step: TypeAlias = Take | Block | Scale | Residue | Lookup | Unlisted
Steps: TypeAlias = tuple[Step, ...]


class CollisionError(LayoutError):
    """Two combinations of an axis' digits at one place (digits that are not named are 0)."""

    def __init__(self, one: dict[AxisDigit, int], two: dict[AxisDigit, int]) -> None:
        super().__init__("two elements share a place")
        self.one, self.two = one, two


class Moving(NamedTuple):
    """A digit, and its stride as it is now: divided by what was taken out already."""

    stride: Size
    digit: AxisDigit


class Number(NamedTuple):
    """The same where all is numbers."""

    stride: int
    extent: int
    digit: AxisDigit


def plan(digits: Iterable[AxisDigit], ask: Decide) -> Steps:
    """The steps that take a place (less the lowest one) apart.

    Raises:
        CollisionError: two elements share a place.
        LayoutError: it is not known, or not found within the limits, whether any do.
    """
    moving = [Moving(digit.stride, digit) for digit in digits]
    steps: list[Step] = []
    while True:
        numbers = _as_numbers(moving)
        if numbers is not None:
            return (*steps, *_plan_numbers(numbers))
        top = _topmost(moving, ask)
        steps.append(Take(top.digit, top.stride))
        moving = [one for one in moving if one is not top]


def unrolled(search: Searching[T]) -> T:
    """The answer of a search that goes as deep as there are digits, on a stack of our own.

    Python's stack ends at about a thousand calls.  What would be `below = self.least(...)` is
    written `below = yield self._least(...)` in a generator.
    """
    waiting: list[Searching[Any]] = [search]
    answer: Any = None
    while waiting:
        try:
            deeper = waiting[-1].send(answer)
        except StopIteration as done:
            waiting.pop()
            answer = done.value
        else:
            waiting.append(deeper)
            answer = None
    return answer


def is_listed(steps: Steps) -> bool:
    """Whether every step is a formula."""
    return not any(
        isinstance(step, Unlisted) or (isinstance(step, Block) and not is_listed(step.steps))
        for step in steps
    )


# -- inside ------------------------------------------------------------------------------------
def _as_numbers(moving: Sequence[Moving]) -> list[Number] | None:
    found: list[Number] = []
    for stride, digit in moving:
        if not isinstance(stride, int) or not isinstance(digit.extent, int):
            return None
        found.append(Number(stride, digit.extent, digit))
    return found


def _topmost(moving: Sequence[Moving], ask: Decide) -> Moving:
    """The digit whose stride exceeds the reach of all others.

    Raises:
        LayoutError: there is none for which that is known.
    """
    whole: Size = 0
    for stride, digit in moving:
        whole = whole + (digit.extent - 1) * stride
    for one in moving:
        others = whole - (one.digit.extent - 1) * one.stride
        if ask.at_least(one.stride - 1 - others, 0):
            return one
    shown = ", ".join(f"{one.digit.extent}:{one.stride}" for one in moving)
    raise LayoutError(
        f"no stride of the digits ({shown}) is known to exceed the reach of the others: give "
        "bounds of their Dims, or decide="
    )


def _plan_numbers(numbers: list[Number], depth: int = 0) -> Steps:
    if depth > MOST_NESTED:
        raise LayoutError(
            f"the strides of an axis make blocks within blocks, more than {MOST_NESTED} levels deep"
        )
    left = sorted(numbers, key=lambda one: one.stride, reverse=True)
    steps: list[Step] = []
    while left:
        cut, factor = _cut(left)
        if cut == 1:
            steps.append(Take(left[0].digit, left[0].stride))
            del left[0]
        elif cut < len(left):
            inner = _plan_numbers(_divided(left[:cut], factor), depth + 1)
            steps.append(Block(inner, factor))
            del left[:cut]
        elif factor > 1:
            steps.append(Scale(factor))
            left = _divided(left, factor)
        else:
            found = _residue(left)
            if found is None:
                steps.append(_listed(left))
                break
            step, at = found
            steps.append(step)
            left = _divided(left[:at] + left[at + 1 :], step.modulus)
    return tuple(steps)


def _cut(left: Sequence[Number]) -> tuple[int, int]:
    """How many of the largest strides share a factor above the reach of the others, and it."""
    below = sum(one.stride * (one.extent - 1) for one in left)
    factor = 0
    for count, one in enumerate(left, 1):
        factor = gcd(factor, one.stride)
        below -= one.stride * (one.extent - 1)
        if factor > below:
            return count, factor
    return len(left), factor


def _divided(numbers: Iterable[Number], factor: int) -> list[Number]:
    return [Number(one.stride // factor, one.extent, one.digit) for one in numbers]


def _residue(left: Sequence[Number]) -> tuple[Residue, int] | None:
    """A digit that is known modulo what all other strides share, and where it stands."""
    strides = [one.stride for one in left]
    before = [0, *accumulate(strides, gcd)]
    after = [0, *accumulate(reversed(strides), gcd)][::-1]
    for at, one in enumerate(left):
        factor = gcd(before[at], after[at + 1])
        if one.extent <= factor and gcd(one.stride, factor) == 1:
            inverse = pow(one.stride, -1, factor)
            return Residue(one.digit, one.stride, factor, inverse), at
    return None


def _listed(left: Sequence[Number]) -> Lookup | Unlisted:
    """What is irregular, place by place; Unlisted where that is too long."""
    count = prod(one.extent for one in left)
    if count > MOST_COMBINATIONS:
        Differences(left).check()
        return Unlisted(tuple(one.digit for one in left))
    known: dict[int, tuple[int, tuple[int, ...]]] = {}
    for values in combinations(*(range(one.extent) for one in left)):
        place = index = 0
        for value, one in zip(values, left, strict=True):
            place += value * one.stride
            index += value * as_int(one.digit.step)
        other = known.setdefault(place, (index, values))
        if other[0] != index:
            digits = [one.digit for one in left]
            first, second = (dict(zip(digits, v, strict=True)) for v in (other[1], values))
            raise CollisionError(first, second)
    if len(known) > MOST_LISTED:
        return Unlisted(tuple(one.digit for one in left))
    entries = tuple((place, known[place][0]) for place in sorted(known))
    return Lookup(entries, entries[-1][0] + 1)


def as_int(size: Size) -> int:
    """A size that is a number.

    Raises:
        LayoutError: it is not.
    """
    if not isinstance(size, int):
        raise LayoutError(f"a number is needed here; got {size}: evaluate the Dims first")
    return size


@dataclass
class Differences:
    """A search for two elements at one place: differences of digits whose sum is 0."""

    numbers: Sequence[Number]

    def check(self) -> None:
        """Raises CollisionError where there are such, LayoutError beyond MOST_TRIED."""
        steps = [(one.stride * (one.extent - 1), one.stride) for one in reversed(self.numbers)]
        self.below = [0, *accumulate(reach for reach, _ in steps)][::-1]
        self.shared = [0, *accumulate((stride for _, stride in steps), gcd)][::-1]
        self.tried = 0
        self.failed: set[tuple[int, int, bool]] = set()
        found = unrolled(self._search(0, 0, False))
        if found is not None:
            digits = [one.digit for one in self.numbers]
            raise CollisionError(
                {d: max(x, 0) for d, x in zip(digits, found, strict=True)},
                {d: max(-x, 0) for d, x in zip(digits, found, strict=True)},
            )

    def _search(self, level: int, rest: int, moved: bool) -> Searching[list[int] | None]:
        """Differences from this level on that sum to `rest`, an element's among them unless one
        was moved before."""
        if level == len(self.numbers):
            return [] if rest == 0 and moved else None
        if (level, rest, moved) in self.failed:
            return None
        one = self.numbers[level]
        for x in steps_to(
            rest, one.stride, range(1 - one.extent, one.extent), self._reach(level + 1)
        ):
            self.tried += 1
            if self.tried > MOST_TRIED:
                raise LayoutError(
                    f"whether two elements share a place is not found out within {MOST_TRIED} "
                    f"steps, for {shown_strides([n.stride for n in self.numbers])}"
                )
            is_element = one.digit.weight != 0 and x != 0
            more = yield self._search(level + 1, rest - x * one.stride, moved or is_element)
            if more is not None:
                return [x, *more]
        self.failed.add((level, rest, moved))
        return None

    def _reach(self, level: int) -> tuple[int, int, int]:
        return -self.below[level], self.below[level], self.shared[level]


def shown_strides(strides: Sequence[int]) -> str:
    """The strides of an axis in words, the first ones where they are many."""
    shown = ", ".join(str(stride) for stride in strides[:MOST_SHOWN])
    if len(strides) <= MOST_SHOWN:
        return f"the strides {shown}"
    return f"{len(strides)} strides {shown}, ..."


def steps_to(rest: int, stride: int, values: range, reach: tuple[int, int, int]) -> range:
    """The values x for which others may still make up rest - x*stride.

    Args:
        rest: the sum that is wanted.
        stride: how much one step of x adds, at least 1.
        values: the values that x may have, in steps of 1.
        reach: the least and the greatest sum of the others, and what divides all of their strides
            (0 where there are none).
    """
    least, most, shared = reach
    first = max(values.start, -((most - rest) // stride))
    last = min(values.stop - 1, (rest - least) // stride)
    if shared == 0:  # no others: their sum is 0
        return range(first, last + 1) if first <= last else range(0)
    common = gcd(stride, shared)
    if rest % common:
        return range(0)
    period = shared // common
    wanted = rest // common * pow(stride // common, -1, period) % period
    first += (wanted - first) % period
    return range(first, last + 1, period)
