"""Which element is at a place: a search on each axis alone, without a table of all elements.

Digits of one axis never help another, so the elements at a place are all combinations of what each
axis allows, and the least is made of the least of each.  On an axis the digits are tried from the
largest stride down; a value is tried only if the others can still make up the rest: by their range,
and by what divides all of their strides.  Strides that exceed the reach of the smaller ones leave
one value each, so that forty of them take forty steps.  Where strides are so irregular that too
many values are left, the sums of one half of the digits are listed and met from the other half.

    S[(8, 4) : (4@laneid, 1@laneid)]   lane 13: 13 = 3*4 + 1, element 3*4 + 1 = 13
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from typing import TypeAlias

from layout_algebra.algebra.axis_digits import AxisDigits, digits_by_axis
from layout_algebra.algebra.deciding import STRUCTURALLY
from layout_algebra.algebra.peeling import Searching, as_int, shown_strides, steps_to, unrolled
from layout_algebra.algebra.unswizzle import unswizzled
from layout_algebra.axes import Axis, m, reg
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.values import AnyLayout, Swizzled

#: (stride, extent, step in the flat index) of a digit.
DigitOf: TypeAlias = tuple[int, int, int]
#: Values of digits that a search on one axis may try.
MOST_TRIED = 1 << 20
#: Sums of one half of the digits that are listed.
MOST_HALF = 1 << 18
#: Elements at one place that `elements_at` gives.
MOST_ELEMENTS = 1 << 12


class GivenUpError(LayoutError):
    """Strides that overlap so much that a search took too many steps."""


def element_at(layout: AnyLayout, place: Mapping[Axis | str, int]) -> int | None:
    """The least element that is at a place (one of its copies), as a flat index; None: there is
    none.

    Args:
        layout: a tile or a swizzled tile with numbers for all sizes.
        place: axis or its name -> number; axes that are not named are 0.

    Raises:
        LayoutError: symbolic sizes, or strides so irregular that the search is given up.
        CoordinateError: a place that is no mapping to integers, or names an axis twice.
    """
    wanted = _wanted(layout, place)
    if wanted is None:
        return None
    total = 0
    for part, number in wanted:
        found = _least(part, number - as_int(part.lowest))
        if found is None:
            return None
        total += found + sum(as_int(digit.start) for digit in part.digits)
    return total


def elements_at(
    layout: AnyLayout, place: Mapping[Axis | str, int], most: int = MOST_ELEMENTS
) -> tuple[int, ...]:
    """Every element that is at a place, in order; arguments as for `element_at`.

    Raises:
        LayoutError: more than `most` of them, which is an int; or as for `element_at`.
        CoordinateError: as for `element_at`.
    """
    if type(most) is not int or most < 0:  # type: ignore[redundant-expr]
        raise LayoutError(f"most= is how many elements are allowed, an int from 0; got {most!r}")
    wanted = _wanted(layout, place)
    if wanted is None:
        return ()
    sets: list[set[int]] = []
    for part, number in wanted:
        start = sum(as_int(digit.start) for digit in part.digits)
        found = Search.of(part, most).all(number - as_int(part.lowest))
        sets.append({start + one for one in found})
    if not all(sets):
        return ()
    still = digits_by_axis(layout.affine, layout.axes, STRUCTURALLY).still
    count = prod(as_int(digit.extent) for digit in still) * prod(len(some) for some in sets)
    if count > most:
        raise _too_many(most, count)
    elements = {0}
    for digit in still:
        steps = range(0, as_int(digit.extent) * as_int(digit.weight), as_int(digit.weight))
        elements = {one + step for one in elements for step in steps}
    for some in sets:
        elements = {one + other for one in elements for other in some}
    return tuple(sorted(elements))


def _least(part: AxisDigits, rest: int) -> int | None:
    """The least sum of digit * step on an axis whose places sum to `rest`."""
    search = Search.of(part)
    try:
        return search.least(rest)
    except GivenUpError:
        halves = _halves(search.digits)
        if halves is None:
            raise
        listed = _sums(halves[0])
        found: int | None = None
        for place, index in _sums(halves[1]).items():
            other = listed.get(rest - place)
            if other is not None and (found is None or index + other < found):
                found = index + other
        return found


def _halves(digits: Sequence[DigitOf]) -> tuple[Sequence[DigitOf], Sequence[DigitOf]] | None:
    """Two parts of the digits with about as many sums each; None where that is too many."""
    counts = [1]
    for _, extent, _ in digits:
        counts.append(counts[-1] * extent)
    cut = min(range(len(counts)), key=lambda k: max(counts[k], counts[-1] // counts[k]))
    if max(counts[cut], counts[-1] // counts[cut]) > MOST_HALF:
        return None
    return digits[:cut], digits[cut:]


def _sums(digits: Iterable[DigitOf]) -> dict[int, int]:
    """Every sum of digit * stride, with its least sum of digit * step."""
    found = {0: 0}
    for stride, extent, step in digits:
        grown: dict[int, int] = {}
        for place, index in found.items():
            for x in range(extent):
                known = grown.get(place + x * stride)
                if known is None or index + x * step < known:
                    grown[place + x * stride] = index + x * step
        found = grown
    return found


def _wanted(
    layout: AnyLayout, place: Mapping[Axis | str, int]
) -> list[tuple[AxisDigits, int]] | None:
    """Each axis of the layout with the number that is wanted on it; None: another axis is not 0."""
    if layout.is_symbolic:
        raise LayoutError(
            "a place is looked up with numbers for all sizes: evaluate the Dims first"
        )
    if not isinstance(place, Mapping):  # type: ignore[redundant-expr]
        raise CoordinateError(f"a place is a mapping from axes to numbers; got {place!r}")
    numbers: dict[Axis, int] = {}
    for name, value in place.items():
        axis = Axis.get(name)
        axis = m if axis is reg else axis
        if isinstance(value, bool) or not hasattr(value, "__index__"):  # type: ignore[redundant-expr]
            raise CoordinateError(f"the place on {axis.name} is an integer; got {value!r}")
        if axis in numbers:
            raise CoordinateError(f"the place names axis {axis.name} twice")
        numbers[axis] = value.__index__()
    if isinstance(layout, Swizzled):
        numbers[m] = unswizzled(layout.swizzle, numbers.get(m, 0))
    parts = digits_by_axis(layout.affine, layout.axes, STRUCTURALLY).on_axes
    known = {part.axis for part in parts}
    if any(value != 0 for axis, value in numbers.items() if axis not in known):
        return None
    return [(part, numbers.get(part.axis, 0)) for part in parts]


@dataclass
class Search:
    """Sums of digit * stride on one axis, by descending stride; see the module's text.

    Attributes:
        digits: (stride, extent, step in the flat index) of each digit.
        reaches: for each level the least (0) and greatest sum of the digits from it on, and what
            divides their strides; one more for no digits.
        most: solutions that `all` gives.
    """

    digits: Sequence[DigitOf]
    reaches: Sequence[tuple[int, int, int]]
    most: int = MOST_ELEMENTS
    tried: int = 0
    known: dict[tuple[int, int], int | None] = field(
        default_factory=dict[tuple[int, int], int | None]
    )
    every: dict[tuple[int, int], frozenset[int]] = field(
        default_factory=dict[tuple[int, int], frozenset[int]]
    )

    @classmethod
    def of(cls, part: AxisDigits, most: int = MOST_ELEMENTS) -> Search:
        digits = sorted(
            ((as_int(d.stride), as_int(d.extent), as_int(d.step)) for d in part.digits),
            reverse=True,
        )
        reaches = [(0, 0, 0)]
        for stride, extent, _ in reversed(digits):
            _, most_below, shared = reaches[-1]
            reaches.append((0, most_below + stride * (extent - 1), gcd(shared, stride)))
        return cls(digits, reaches[::-1], most)

    def least(self, rest: int) -> int | None:
        """The least sum of digit * step whose places sum to `rest`."""
        return unrolled(self._least(rest, 0))

    def all(self, rest: int) -> frozenset[int]:
        """Every sum of digit * step whose places sum to `rest`."""
        return unrolled(self._all(rest, 0))

    def _least(self, rest: int, level: int) -> Searching[int | None]:
        """The least sum of digit * step, from a level on, whose places sum to `rest`."""
        if level == len(self.digits):
            return 0 if rest == 0 else None
        key = level, rest
        if key in self.known:
            return self.known[key]
        stride, _, step = self.digits[level]
        found: int | None = None
        for x in self._values(rest, level):
            below = yield self._least(rest - x * stride, level + 1)
            if below is not None and (found is None or x * step + below < found):
                found = x * step + below
        self.known[key] = found
        return found

    def _all(self, rest: int, level: int) -> Searching[frozenset[int]]:
        """Every sum of digit * step, from a level on, whose places sum to `rest`."""
        if level == len(self.digits):
            return frozenset((0,)) if rest == 0 else frozenset()
        key = level, rest
        if key not in self.every:
            stride, _, step = self.digits[level]
            found: set[int] = set()
            for x in self._values(rest, level):
                below = yield self._all(rest - x * stride, level + 1)
                found |= {x * step + one for one in below}
                if len(found) > self.most:
                    raise _too_many(self.most, None)
            self.every[key] = frozenset(found)
        return self.every[key]

    def _values(self, rest: int, level: int) -> range:
        stride, extent, _ = self.digits[level]
        values = steps_to(rest, stride, range(extent), self.reaches[level + 1])
        self.tried += len(values) + 1
        if self.tried > MOST_TRIED:
            raise GivenUpError(
                f"the element at a place is not found within {MOST_TRIED} steps: "
                f"{shown_strides([one for one, _, _ in self.digits])} overlap too much"
            )
        return values


def _too_many(most: int, count: int | None) -> LayoutError:
    found = "more" if count is None else str(count)
    return LayoutError(f"{found} elements are at one place, {most} are allowed: raise most=")
