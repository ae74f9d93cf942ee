"""inverse and its weaker forms: from places back to elements, in closed form.

    inverse         g(f(x)) = x; the domain is exactly the places of f (injective layouts)
    left_inverse    g(f(x)) = x; total on the box from the lowest to the highest place
    right_inverse   f(g(y)) = y; on the largest range from the lowest place on that compact strides
                    reach
    pseudo_inverse  f(g(f(x))) = f(x); the domain is exactly the places, the least element at each

On each axis the offset is taken off, negative strides are mirrored, and the digits are peeled off
by divisions (peeling.py); copies are digits that are thrown away.  A swizzled layout first goes
back through its swizzle (unswizzle.py).  The answer is

    a tile, or a swizzle over a tile   where the layout has one axis, its places are 0..n-1 and the
                                       inverse is a layout: flat place -> flat index on axis m (not
                                       always found where copies overlap)
    a Map                              otherwise, from the axes by name to the flat index "m"; a
                                       guard says which places are used where there are gaps
    a FiniteInverse                    where strides are so irregular that a formula would list more
                                       than MOST_LISTED places

    S[(4, 8) : (1, 4)]           inverse S[(8, 4) : (1, 8)]
    S[(4, 2) : (1, 16)]          left inverse S[(2, 4, 4) : (1, 0, 2)], right inverse S[4 : 2]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from layout_algebra.algebra.axis_digits import (
    INDEX,
    AxisDigit,
    AxisDigits,
    Digits,
    digits_by_axis,
    flat_index,
    shown_place,
)
from layout_algebra.algebra.deciding import Decide, checked_decide, knowing_extents
from layout_algebra.algebra.extent import highest, lowest
from layout_algebra.algebra.index_tiles import (
    compact_chain,
    descending,
    index_tile,
    is_compact,
    taken,
)
from layout_algebra.algebra.inverse_terms import AxisPlan, place_map
from layout_algebra.algebra.locate import element_at
from layout_algebra.algebra.peeling import CollisionError, Steps, Take, is_listed, plan
from layout_algebra.algebra.unswizzle import block, moved_out, multiple
from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError
from layout_algebra.maps import Map
from layout_algebra.semantics import layout_map
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile

#: Elements that a FiniteInverse makes a table of.
MOST_TABLE = 1 << 16
#: Digits on one axis among which a right inverse follows a chain.
MOST_CHAINED = 256


class NotInjectiveError(LayoutError):
    """Two elements share a place.

    Attributes:
        elements: their flat indices.
        place: axis name -> number.
    """

    def __init__(self, elements: tuple[Size, Size], place: Mapping[str, Size]) -> None:
        self.elements = elements
        self.place = dict(place)
        super().__init__(
            f"elements {elements[0]} and {elements[1]} are both at {shown_place(place)}: which of "
            "them it is cannot be told from the place"
        )

    def __reduce__(self) -> tuple[type[NotInjectiveError], tuple[object, object]]:
        return (NotInjectiveError, (self.elements, self.place))


@dataclass(frozen=True)
class FiniteInverse:
    """The inverse of a layout whose strides are irregular: a search place by place, no formula."""

    layout: AnyLayout

    def element_at(self, place: Mapping[Axis | str, int]) -> int | None:
        """The (least) element at a place, None where there is none."""
        return element_at(self.layout, place)

    def table(self) -> dict[tuple[int, ...], int]:
        """Every place (numbers in the order of the layout's axes) with its (least) element.

        Raises:
            LayoutError: more than MOST_TABLE places to look at.
        """
        f = layout_map(self.layout)
        count = f.size * f.copies
        if not isinstance(count, int) or count > MOST_TABLE:
            raise LayoutError(f"a table of {count} places: at most {MOST_TABLE} are listed")
        found: dict[tuple[int, ...], int] = {}
        for element, point in enumerate(f.points()):
            for place in f.places_at(point):
                found.setdefault(tuple(place[axis] for axis in f.axes), element)
        return dict(sorted(found.items()))


Inverted = Tile | Swizzled | Map | FiniteInverse


class Subject(NamedTuple):
    """A layout taken apart: what an inverse is made of."""

    layout: AnyLayout
    tile: Tile
    swizzle: Swizzle | None
    digits: Digits
    ask: Decide

    @property
    def only(self) -> AxisDigits | None:
        """The digits of the one axis; None where there are several."""
        on_axes = self.digits.on_axes
        return on_axes[0] if len(on_axes) == 1 else None

    @property
    def all_digits(self) -> list[AxisDigit]:
        return [digit for part in self.digits.on_axes for digit in part.digits]


def inverse(layout: AnyLayout, decide: Decide | None = None) -> Inverted:
    """The inverse on the image: its domain is exactly the places, and g(f(x)) = x.

    Without copies `Inverse(layout, g)` holds, with copies `LeftInverse(layout, g)`, and each place
    y of the domain is a place of g(y).

    Raises:
        NotInjectiveError: two elements share a place.
        LayoutError: with symbolic sizes: it is not known that no two elements do.
    """
    subject = subject_of(layout, decide)
    _check_still(subject)
    return _image_inverse(subject)


def pseudo_inverse(layout: AnyLayout, decide: Decide | None = None) -> Inverted:
    """f(g(f(x))) = f(x): the least element at each place; the domain is exactly the places.

    For layouts that are injective apart from iters of stride 0, whose digits are put to 0.

    Raises:
        NotInjectiveError: two elements share a place for another reason.
        LayoutError: with symbolic sizes: it is not known that there is no other.
    """
    return _image_inverse(subject_of(layout, decide))


def left_inverse(layout: AnyLayout, decide: Decide | None = None) -> Tile | Swizzled | Map:
    """A total map on the box from the lowest to the highest place, with g(f(x)) = x.

    In the gaps it gives some element.  A layout where the layout has one axis and its strides and
    extents divide one another from 0 on: it may reach further than the box, and digits that count
    a gap have stride 0.

    Raises:
        NotInjectiveError: two elements share a place.
        LayoutError: it is not known that no two do, or the strides are too irregular for a formula.
    """
    subject = subject_of(layout, decide)
    _check_still(subject)
    plans = _plans(subject)
    if not all(is_listed(steps) for steps in plans):
        raise LayoutError(
            "the strides are too irregular for a formula of a left inverse: element_at looks up "
            "one place, inverse gives an object that does"
        )
    tile = _spread_tile(subject, plans[0]) if subject.only is not None else None
    found = None if tile is None else _under(subject, tile)
    if found is not None:
        return found
    return _map_of(subject, subject.digits.on_axes, plans, guarded=False)


def right_inverse(layout: AnyLayout, decide: Decide | None = None) -> Tile | Swizzled | Map:
    """f(g(y)) = y on the places that compact strides reach from the lowest place on.

    On each axis the digits with stride 1, then with stride the extent of that, and so on (copies
    joined first); where there is a choice, those that reach furthest.  All other digits, and those
    of stride 0, are at their lowest place.  With copies y is one of the places of g(y).  Under a
    swizzle the domain is what the swizzle makes of that range.

    Raises:
        LayoutError: a stride whose sign is not known for all values of the Dims, or an axis with
            more than MOST_CHAINED digits.
    """
    subject = subject_of(layout, decide)
    for part in subject.digits.on_axes:
        if len(part.digits) > MOST_CHAINED:
            raise LayoutError(
                f"right_inverse takes at most {MOST_CHAINED} digits on one axis: axis "
                f"{part.axis.name} has {len(part.digits)}; join iters that continue each other"
            )
    chains = [compact_chain(part.digits, subject.ask) for part in subject.digits.on_axes]
    used = {digit for chain in chains for digit in chain}
    start: Size = 0
    for digit in subject.all_digits:
        start = start + (digit.start if digit not in used else 0)
    only = subject.only
    if only is not None and subject.ask.equal(only.lowest, 0) and start == 0:
        found = _under(subject, index_tile(subject.tile, chains[0][::-1]))
        if found is not None:
            return found
    parts = [
        AxisDigits(part.axis, part.lowest, tuple(chain))
        for part, chain in zip(subject.digits.on_axes, chains, strict=True)
    ]
    steps = [tuple(Take(digit, digit.stride) for digit in chain[::-1]) for chain in chains]
    return _map_of(subject, parts, steps, guarded=True, start=start)


def subject_of(layout: AnyLayout, decide: Decide | None) -> Subject:
    """A layout with its digits; a swizzle that moves nothing is left out.

    Raises:
        LayoutError: a stride whose sign is not known, or a `decide` that cannot be asked.
    """
    tile = layout.affine
    extents = [it.extent for it in (*tile.shard, *tile.replica)]
    ask = checked_decide(decide) or knowing_extents(extents)
    swizzle = layout.swizzle if isinstance(layout, Swizzled) else None
    digits = digits_by_axis(tile, layout.axes, ask)
    if swizzle is not None and swizzle.is_identity:
        swizzle = None
    return Subject(layout, tile, swizzle, digits, ask)


# -- inside ------------------------------------------------------------------------------------
def _check_still(subject: Subject) -> None:
    """Raises NotInjectiveError where an iter of stride 0 repeats an element's place."""
    for digit in subject.digits.still:
        if not subject.ask.at_least(digit.extent, 2):
            raise LayoutError(
                f"an iter of stride 0 and extent {digit.extent}: elements share a place wherever "
                "that is more than 1; pseudo_inverse gives the least of them"
            )
        raise _shared(subject, {}, digit.weight)


def _shared(
    subject: Subject, one: Mapping[AxisDigit, int], two: Mapping[AxisDigit, int] | Size
) -> NotInjectiveError:
    """The error about two elements, digits that are not given being 0."""
    every = subject.all_digits
    first = flat_index(one, every)
    second = flat_index(two, every) if isinstance(two, Mapping) else first + two
    place: dict[str, Size] = {}
    for part in subject.digits.on_axes:
        number: Size = part.lowest
        for digit in part.digits:
            number = number + one.get(digit, 0) * digit.stride
        if subject.swizzle is not None and part.axis is m and isinstance(number, int):
            number = subject.swizzle(number)
        place[part.axis.name] = number
    return NotInjectiveError((first, second), place)


def _plans(subject: Subject) -> list[Steps]:
    """The plan of each axis.

    Raises:
        NotInjectiveError: two elements share a place.
    """
    try:
        return [plan(part.digits, subject.ask) for part in subject.digits.on_axes]
    except CollisionError as found:
        raise _shared(subject, found.one, found.two) from None


def _image_inverse(subject: Subject) -> Inverted:
    only = subject.only
    if only is None and not subject.digits.on_axes:  # a single place, 0
        return subject.tile.rebuild([Iter(1, 1, INDEX)])
    plans: list[Steps] | None = None
    if only is not None and subject.ask.equal(only.lowest, 0):
        order = descending(only.digits)
        if order is None:
            plans = _plans(subject)
            order = taken(plans[0])
        found = None
        if order is not None and is_compact(order, subject.ask):
            found = _under(subject, index_tile(subject.tile, order))
        if found is not None:
            return found
    plans = plans or _plans(subject)
    if not all(is_listed(steps) for steps in plans):
        return FiniteInverse(subject.layout)
    return _map_of(subject, subject.digits.on_axes, plans, guarded=True)


def _spread_tile(subject: Subject, steps: Steps) -> Tile | None:
    """A left inverse as a tile: digits of stride 0 count the gaps; None where there is none."""
    order, only, ask = taken(steps), subject.only, subject.ask
    if order is None or only is None:
        return None
    spread: list[AxisDigit] = []
    below: Size = 1
    for digit in reversed(order):
        gap = 1 if digit.stride == below else ask.quotient(digit.stride, below)
        if gap is None:
            return None
        if gap != 1:
            spread.append(AxisDigit(gap, 0, 0))
        spread.append(digit)
        below = digit.stride * digit.extent
    before = 0 if only.lowest == 0 else ask.quotient(only.lowest, below)
    if before is None or not ask.at_least(before, 0):
        return None
    if before != 0:
        spread.append(AxisDigit(before + 1, 0, 0))
    return index_tile(subject.tile, spread[::-1])


def _under(subject: Subject, tile: Tile) -> Tile | Swizzled | None:
    """The tile after the way back through the swizzle, if that is a layout."""
    if subject.swizzle is None:
        return tile
    outside = moved_out(tile, subject.swizzle)
    if outside is None:
        return None
    return tile if outside.is_identity else Swizzled(outside, tile)


def _map_of(
    subject: Subject,
    parts: Sequence[AxisDigits],
    plans: Sequence[Steps],
    *,
    guarded: bool,
    start: Size = 0,
) -> Map:
    boxes = [_box(subject, part, steps) for part, steps in zip(parts, plans, strict=True)]
    return place_map(boxes, subject.swizzle, subject.ask, guarded, start)


def _box(subject: Subject, part: AxisDigits, steps: Steps) -> AxisPlan:
    """The box of places on an axis: their lowest and highest, where a swizzle leaves them known."""
    low, high = part.lowest, part.highest
    if subject.swizzle is None or part.axis is not m:
        return AxisPlan(part, steps, low, high)
    size = block(subject.swizzle)
    whole = multiple(low, size) and multiple(high + 1, size)
    if isinstance(low, int) and isinstance(high, int):
        every = part in subject.digits.on_axes
        ends = _ends(subject.layout, part.axis) if every else None
        wide = low // size * size, high // size * size + size - 1
        return AxisPlan(part, steps, *(ends or wide), whole)
    if whole:
        return AxisPlan(part, steps, low, high)
    return AxisPlan(part, steps, low - (size - 1), high + (size - 1), False)


def _ends(layout: AnyLayout, axis: Axis) -> tuple[Size, Size] | None:
    """Lowest and highest place; None where the swizzle leaves too many to try."""
    try:
        return lowest(layout, axis), highest(layout, axis)
    except LayoutError:
        return None
