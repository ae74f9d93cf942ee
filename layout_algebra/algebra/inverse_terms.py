"""Plans as terms: the flat index of a place, and the conditions that something is there.

Two readings of one plan (peeling.py).  An inverse is *guarded*: every digit that might come out
too large, and every rest that might be left, becomes a condition, and together they say that the
place is a place of the layout.  A left inverse is *total*: digits are reduced by their extents
instead, so that the index always is one of an element.

A Lookup is a sum of steps `(rest + width - p) // width`, which are 0 below p and 1 from p on, so it
needs no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from layout_algebra.algebra.axis_digits import INDEX, AxisDigits
from layout_algebra.algebra.deciding import Decide
from layout_algebra.algebra.peeling import Block, Lookup, Residue, Scale, Steps, Take
from layout_algebra.algebra.unswizzle import unswizzled_term
from layout_algebra.axes import Axis, m
from layout_algebra.conditions import Condition, at_most, equals
from layout_algebra.dims import Size
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var, const, divmod_terms, floordiv, linear, mod, var
from layout_algebra.values import Swizzle


@dataclass
class Reading:
    """What plans read so far say of the flat index, and where they are valid.

    Attributes:
        ask: decides conditions on sizes.
        guarded: conditions instead of reduced digits.
        parts, start: the flat index, as a sum.
        guard: the conditions.
    """

    ask: Decide
    guarded: bool
    parts: list[tuple[Term, Size]] = field(default_factory=list[tuple[Term, Size]])
    start: Size = 0
    guard: list[Condition] = field(default_factory=list[Condition])

    def read(self, steps: Steps, rest: Term, width: Size | None) -> None:
        """One plan; `rest` is in 0..width-1 (where width is known)."""
        for step in steps:
            if isinstance(step, Take):
                digit, rest = divmod_terms(rest, step.divisor)
                reach = step.digit.extent * step.divisor
                fits = width is not None and self.ask.at_least(reach - width, 0)
                self._add(digit, step.digit.extent, step.digit.step, fits)
                width = step.divisor
            elif isinstance(step, Block):
                inner, rest = divmod_terms(rest, step.divisor)
                self.read(step.steps, inner, _quotient(width, step.divisor))
                width = step.divisor
            elif isinstance(step, Scale):
                if self.guarded:
                    self.guard.append(equals(mod(rest, step.divisor), 0))
                rest, width = floordiv(rest, step.divisor), _quotient(width, step.divisor)
            elif isinstance(step, Residue):
                rest, width = self._residue(step, rest, width)
            elif isinstance(step, Lookup):
                self._lookup(step, rest, width)
                return
        if self.guarded and not (width is not None and self.ask.equal(width, 1)):
            self.guard.append(equals(rest, 0))

    def _add(self, digit: Term, extent: Size, step: Size, fits: bool) -> None:
        if not fits and self.guarded:
            self.guard.append(at_most(digit, extent - 1))
        elif not fits:
            digit = mod(digit, extent)
        self.parts.append((digit, step))

    def _residue(self, step: Residue, rest: Term, width: Size | None) -> tuple[Term, Size | None]:
        residue = mod(rest, step.modulus)
        digit = mod(linear([(residue, step.inverse)]), step.modulus)
        before = len(self.parts)
        self._add(digit, step.digit.extent, step.digit.step, step.digit.extent == step.modulus)
        rest = linear([(rest, 1), (self.parts[before][0], -step.stride)])
        if self.guarded:
            self.guard.append(at_most(0, rest))
        left = _quotient(width, step.modulus) if self.guarded else None
        return floordiv(rest, step.modulus), left

    def _lookup(self, step: Lookup, rest: Term, width: Size | None) -> None:
        if width is None or not self.ask.at_least(step.width - width, 0):
            if self.guarded:
                self.guard.append(at_most(rest, step.width - 1))
            else:
                rest = mod(rest, step.width)
        before = step.entries[0]
        member: list[tuple[Term, Size]] = []
        for place, index in step.entries[1:]:
            self.parts.append((_from(place, rest, step.width), index - before[1]))
            if place != before[0] + 1:
                member.append((_from(before[0] + 1, rest, step.width), -1))
                member.append((_from(place, rest, step.width), 1))
            before = place, index
        if self.guarded and member:
            self.guard.append(equals(linear(member), 0))


@dataclass(frozen=True)
class AxisPlan:
    """A plan for an axis, and the box of places on it that the map is about.

    Attributes:
        part: the axis' digits.
        steps: their plan.
        low, high: the box.
        inside: whether every place of the box is, after the way back through the swizzle, between
            the digits' lowest and highest sum.
    """

    part: AxisDigits
    steps: Steps
    low: Size
    high: Size
    inside: bool = True


def place_map(
    plans: Sequence[AxisPlan], swizzle: Swizzle | None, ask: Decide, guarded: bool, start: Size = 0
) -> Map:
    """The Map from places (coordinates named after the axes) to the flat index.

    Args:
        plans: one for each axis.
        swizzle: what the places on axis m went through.
        ask: decides conditions on sizes.
        guarded: whether the domain is the image alone, or the whole box.
        start: what to add to the index.
    """
    reading = Reading(ask, guarded, start=start)
    coordinates: list[Var] = []
    for one in plans:
        part = one.part
        coordinate = var(part.axis.name, one.low, one.high)
        coordinates.append(coordinate)
        place = _before(swizzle, part.axis, coordinate)
        rest = linear([(place, 1)], -part.lowest)
        width: Size | None = part.reach + 1
        if not one.inside:
            if guarded:
                reading.guard += [at_most(0, rest), at_most(rest, part.reach)]
            else:
                width = None
        for digit in part.digits:
            reading.start = reading.start + digit.start
        reading.read(one.steps, rest, width)
    index = linear(reading.parts, reading.start)
    return Map(tuple(coordinates), ((INDEX.name, index),), (), tuple(_needed(reading.guard)))


def _before(swizzle: Swizzle | None, axis: Axis, place: Term) -> Term:
    """The place before the swizzle."""
    return place if swizzle is None or axis is not m else unswizzled_term(swizzle, place)


def _needed(guard: Sequence[Condition]) -> list[Condition]:
    """The conditions without those that are sure by their form."""
    always = (Condition("==", const(0)), Condition(">=", const(0)))
    return [condition for condition in dict.fromkeys(guard) if condition not in always]


def _quotient(width: Size | None, divisor: int) -> Size | None:
    """How many values x // divisor has for x in 0..width-1."""
    return -(-width // divisor) if isinstance(width, int) else None


def _from(place: int, rest: Term, width: int) -> Term:
    """1 where the rest (in 0..width-1) is at least `place`, else 0."""
    return floordiv(linear([(rest, 1)], width - place), width)
