"""Conditions on terms: what guards are made of, and questions.

A condition compares a term with 0; the functions here write the usual comparisons in that form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from layout_algebra.dims import Size
from layout_algebra.terms import Term, const, linear


@dataclass(frozen=True)
class Condition:
    """`term >= 0`, `term == 0` or `term != 0`."""

    kind: Literal[">=", "==", "!="]
    term: Term

    def holds(self, value: Any) -> Any:
        """Whether it holds where the term has this value (elementwise for an array)."""
        if self.kind == ">=":
            return value >= 0
        return value == 0 if self.kind == "==" else value != 0


def equals(a: Term | Size, b: Term | Size) -> Condition:
    """a == b"""
    return Condition("==", _difference(a, b))


def differs(a: Term | Size, b: Term | Size) -> Condition:
    """a != b"""
    return Condition("!=", _difference(a, b))


def at_most(a: Term | Size, b: Term | Size) -> Condition:
    """a <= b"""
    return Condition(">=", _difference(b, a))


def negated(condition: Condition) -> Condition:
    """The condition that holds exactly where this one does not."""
    if condition.kind == ">=":
        return Condition(">=", linear([(condition.term, -1)], -1))
    return Condition("!=" if condition.kind == "==" else "==", condition.term)


def _difference(a: Term | Size, b: Term | Size) -> Term:
    sides = [side if isinstance(side, Term) else const(side) for side in (a, b)]
    return linear([(sides[0], 1), (sides[1], -1)])
