"""Division by multiplication: which divisor a product and a shift stand for, by exact integers.

    divisor_of(0xAAAAAAAB, 33, 2**32 - 1)      # 3: (x * 0xAAAAAAAB) >> 33 is x // 3 for 32-bit x

Compilers write x // d as floor(x * c / 2^s).  With e = c*d - 2^s,

    x * c / 2^s  =  x / d  +  e * x / (d * 2^s),

and x / d lies at least 1/d below the next integer.  So for e >= 0 both have the same floor for
every x in 0..top as soon as e * top < 2^s.  This is all that is used: constants are compared,
nothing is searched for, and a multiplication that is no division stays what it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from layout_algebra.conditions import differs
from layout_algebra.questions import Question, question
from layout_algebra.terms import Term, coordinate, floordiv, scale


@dataclass(frozen=True)
class Scaled:
    """floor(base * multiplier / 2^shift), for a base that is not negative."""

    base: Term
    multiplier: int
    shift: int


@dataclass(frozen=True)
class Division:
    """A fact: floor(x * multiplier / 2^shift) = x // divisor for every x in 0..top."""

    multiplier: int
    shift: int
    divisor: int
    top: int

    def __str__(self) -> str:
        return f"(x * {self.multiplier}) >> {self.shift} is x // {self.divisor} for x <= {self.top}"

    def question(self) -> Question:
        """Is there an x in the range where the two differ?"""
        x = coordinate("x", self.top + 1)
        product = floordiv(scale(x, self.multiplier), 1 << self.shift)
        return question(str(self), [(differs(product, floordiv(x, self.divisor)),)])


def divisor_of(multiplier: int, shift: int, top: int) -> int | None:
    """The d with floor(x * multiplier / 2^shift) = x // d for every x in 0..top, if this shows it.

    Args:
        multiplier: a positive number.
        shift: a number of bits.
        top: the greatest x.
    """
    return ratio_of(multiplier, 1 << shift, top)


def ratio_of(multiplier: int, whole: int, top: int) -> int | None:
    """The d with x * multiplier // whole = x // d for every x in 0..top, if this shows it."""
    if multiplier < 1 or top < 0:
        return None
    divisor = -(-whole // multiplier)
    excess = multiplier * divisor - whole
    return divisor if excess * top < whole else None


def questions_about(divisions: Iterable[Division]) -> list[Question]:
    """One question for each fact, each once; divisions by powers of two need none."""
    found = dict.fromkeys(one for one in divisions if one.multiplier & (one.multiplier - 1))
    return [one.question() for one in found]
