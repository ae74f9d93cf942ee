"""Predicates as tests over terms, and what a path knows of them.

compared("lt", Type("u", 32), a, b)       # a test: unsigned(a) < unsigned(b)
value_of(test, known)                     # True, False, or the condition to split on
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from layout_algebra import terms
from layout_algebra.conditions import Condition, at_most, differs, equals, negated
from layout_algebra.terms import Const, Sum, Term
from layout_algebra.validation.syntax import Type
from layout_algebra.validation.words import Word, signed, unsigned


@dataclass(frozen=True)
class Atom:
    """One comparison."""

    condition: Condition


@dataclass(frozen=True)
class Negated:
    """Not."""

    of: Test


@dataclass(frozen=True)
class Both:
    """Two tests, combined bit by bit."""

    how: Literal["and", "or", "xor"]
    a: Test
    b: Test


Test: TypeAlias = Atom | Negated | Both


def compared(how: str, kind: Type, a: Word, b: Word) -> Test:
    """The test of a setp."""
    read = signed if kind.kind == "s" else unsigned
    x, y = read(a), read(b)
    match how:
        case "eq":
            return Atom(equals(x, y))
        case "ne":
            return Atom(differs(x, y))
        case "le" | "ls":
            return Atom(at_most(x, y))
        case "ge" | "hs":
            return Atom(at_most(y, x))
        case "lt" | "lo":
            return Atom(negated(at_most(y, x)))
        case _:
            return Atom(negated(at_most(x, y)))


def value_of(test: Test, known: Sequence[Condition]) -> bool | Condition:
    """Whether a test holds where all of `known` do; else a condition that has to be known first."""
    match test:
        case Atom(condition):
            found = holds(condition, known)
            return condition if found is None else found
        case Negated(inner):
            value = value_of(inner, known)
            return not value if isinstance(value, bool) else value
        case Both(how, one, other):
            a, b = value_of(one, known), value_of(other, known)
            if how != "xor":
                short = how == "or"  # either of them alone decides
                if a is short or b is short:
                    return short
            if not isinstance(a, bool):
                return a
            if not isinstance(b, bool):
                return b
            return a != b if how == "xor" else how == "and"


def holds(condition: Condition, known: Sequence[Condition]) -> bool | None:
    """Whether a condition follows from ranges or from one that is known; None: not this way."""
    kind, term = condition.kind, condition.term
    if kind == ">=":
        if _at_least(term, 0, known):
            return True
        return False if _at_least(terms.linear([(term, -1)]), 1, known) else None
    apart = _at_least(term, 1, known) or _at_least(terms.linear([(term, -1)]), 1, known)
    same = isinstance(term, Const) and term.value == 0
    for other in known:
        if other.kind != ">=" and other.term is term:
            same |= other.kind == "=="
            apart |= other.kind == "!="
    if not same and not apart:
        return None
    return same == (kind == "==")


def _at_least(term: Term, least: int, known: Sequence[Condition]) -> bool:
    """Whether term >= least, by its range or by a condition that differs by a constant."""
    if isinstance(term.low, int) and term.low >= least:
        return True
    for other in known:
        if other.kind == ">=":
            gap = terms.linear([(term, 1), (other.term, -1)])
            if isinstance(gap.low, int) and gap.low >= least:
                return True
    return False


def indicator(test: Test) -> Term | None:
    """1 where a test holds and 0 where not, for a comparison that is a digit of two values."""
    if isinstance(test, Negated):
        inner = indicator(test.of)
        return None if inner is None else terms.linear([(inner, -1)], 1)
    if not isinstance(test, Atom):
        return None
    term, kind = test.condition.term, test.condition.kind
    if kind == ">=":
        return terms.linear([(term, 1)], 1) if _between(term, -1, 0) else None
    if isinstance(term, Sum) and term.constant == 0 and len(term.parts) == 1:
        term = term.parts[0][0]  # c*t is 0 exactly where t is
    if _between(term, -1, 0):
        term = terms.scale(term, -1)
    if not _between(term, 0, 1):
        return None
    return term if kind == "!=" else terms.linear([(term, -1)], 1)


def _between(term: Term, low: int, high: int) -> bool:
    return (
        isinstance(term.low, int)
        and isinstance(term.high, int)
        and low <= term.low
        and term.high <= high
    )
