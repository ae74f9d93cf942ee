"""Python callables become terms: they are called once, with symbols.

    trace(lambda lane, j: (lane % 8, j + lane // 8), [lane, j])

A `Traced` value supports integer arithmetic and bit operations.  A comparison gives a condition,
which a guard may use, but which has no truth value: a callable that branches on a symbol raises
`TraceError` instead of silently following one branch.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from layout_algebra import terms
from layout_algebra.arithmetic.text import condition_text, text
from layout_algebra.conditions import Condition
from layout_algebra.dims import Size, as_size, is_size
from layout_algebra.errors import TraceError
from layout_algebra.terms import Term


@dataclass(frozen=True)
class Conditions:
    """A conjunction of conditions that a traced comparison gave."""

    all: tuple[Condition, ...]

    def __and__(self, other: object) -> Conditions:
        if isinstance(other, Conditions):
            return Conditions(self.all + other.all)
        if other is True:
            return self
        return NotImplemented

    __rand__ = __and__

    def __or__(self, other: object) -> NoReturn:
        raise TraceError(f"conditions are joined by & only; got ({self}) | ({other})")

    __ror__ = __or__

    def __invert__(self) -> NoReturn:
        raise TraceError(f"write the opposite condition instead of ~({self})")

    def __str__(self) -> str:
        return " and ".join(condition_text(condition) for condition in self.all)

    def __bool__(self) -> NoReturn:
        raise TraceError(
            f"this callable branches on a symbol ({self}); write it with arithmetic only "
            "(// and % pick digits), or give conditions as a guard, joined by &"
        )


class Traced:
    """A symbol in a traced callable: a term with Python's integer operators."""

    __slots__ = ("term",)
    __array_priority__ = 1000

    def __init__(self, term: Term) -> None:
        self.term = term

    def __add__(self, other: Any) -> Traced:
        return Traced(terms.add(self.term, term_of(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Traced:
        return Traced(terms.linear([(self.term, 1), (term_of(other), -1)]))

    def __rsub__(self, other: Any) -> Traced:
        return Traced(terms.linear([(term_of(other), 1), (self.term, -1)]))

    def __neg__(self) -> Traced:
        return Traced(terms.scale(self.term, -1))

    def __pos__(self) -> Traced:
        return self

    def __invert__(self) -> Traced:
        return Traced(terms.linear([(self.term, -1)], -1))

    def __pow__(self, other: Any) -> NoReturn:
        raise TraceError(
            f"powers of symbols are not traced: write {self}*{self}, or 1 << n for 2**n"
        )

    __rpow__ = __pow__

    def __mul__(self, other: Any) -> Traced:
        return Traced(terms.multiply(self.term, term_of(other)))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Traced:
        return Traced(terms.floordiv(self.term, _divisor(other)))

    def __mod__(self, other: Any) -> Traced:
        return Traced(terms.mod(self.term, _divisor(other)))

    def __divmod__(self, other: Any) -> tuple[Traced, Traced]:
        return self // other, self % other

    def __rfloordiv__(self, other: Any) -> Traced:
        return Traced(terms.floordiv(term_of(other), _divisor(self)))

    def __rmod__(self, other: Any) -> Traced:
        return Traced(terms.mod(term_of(other), _divisor(self)))

    def __truediv__(self, other: Any) -> NoReturn:
        raise TraceError("coordinates are integers: write // for the floor of a division")

    __rtruediv__ = __truediv__

    def __xor__(self, other: Any) -> Traced:
        return Traced(terms.xor(self.term, term_of(other)))

    __rxor__ = __xor__

    def __and__(self, other: Any) -> Traced:
        return Traced(terms.bit_and(self.term, term_of(other)))

    __rand__ = __and__

    def __or__(self, other: Any) -> Traced:
        return Traced(terms.bit_or(self.term, term_of(other)))

    __ror__ = __or__

    def __lshift__(self, other: Any) -> Traced:
        return Traced(terms.shift_left(self.term, term_of(other)))

    def __rlshift__(self, other: Any) -> Traced:
        return Traced(terms.shift_left(term_of(other), self.term))

    def __rshift__(self, other: Any) -> Traced:
        return Traced(terms.shift_right(self.term, term_of(other)))

    def __rrshift__(self, other: Any) -> Traced:
        return Traced(terms.shift_right(term_of(other), self.term))

    def __ge__(self, other: Any) -> Conditions:
        return _condition(">=", self - other)

    def __gt__(self, other: Any) -> Conditions:
        return _condition(">=", self - other - 1)

    def __le__(self, other: Any) -> Conditions:
        return _condition(">=", other - self)

    def __lt__(self, other: Any) -> Conditions:
        return _condition(">=", other - self - 1)

    def __eq__(self, other: object) -> Conditions:  # type: ignore[override]
        return _condition("==", self - other)

    def __ne__(self, other: object) -> Conditions:  # type: ignore[override]
        return _condition("!=", self - other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise TraceError(f"{text(self.term)} is a symbol: it has no truth value here")

    def __index__(self) -> NoReturn:
        raise TraceError(
            f"{text(self.term)} is a symbol, not a number: it cannot index, size a range, or be "
            "turned into an int"
        )

    __int__ = __index__

    def __iter__(self) -> NoReturn:
        raise TraceError(f"{text(self.term)} is one symbol: it cannot be unpacked or iterated")

    def __repr__(self) -> str:
        return text(self.term)


def term_of(value: object) -> Term:
    """The term of a traced value, an int, a Dim, or anything with `__index__`.

    Raises:
        TraceError: anything else.
    """
    if isinstance(value, Traced):
        return value.term
    if isinstance(value, Term):
        return value
    if is_size(value):
        return terms.const(as_size(value))  # type: ignore[arg-type]
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TraceError(f"an integer is needed here; got {value!r}")
    return terms.const(operator.index(value))  # type: ignore[arg-type]


def _divisor(value: object) -> Size:
    term = term_of(value)
    if not isinstance(term, terms.Const):
        raise TraceError(f"a divisor is a positive int or a Dim; got the symbol {text(term)}")
    return term.value


def _condition(kind: Literal[">=", "==", "!="], difference: Traced) -> Conditions:
    return Conditions((Condition(kind, difference.term),))
