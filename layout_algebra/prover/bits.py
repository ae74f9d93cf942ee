"""Terms as Z3 bit-vectors: for XOR, masks and shifts.

One width serves a whole question: enough for the range of every term in it as a signed number, so
nothing wraps and the answers are about integers.  Divisions by powers of two are shifts; others
are fresh quotients and remainders, as in digits.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from layout_algebra.dims import Polynomial, Size
from layout_algebra.folding import sizes_of, subterms
from layout_algebra.prover.dims import Expr, smt_name
from layout_algebra.terms import Term, Var

#: Wider questions are not asked: solving time grows with the width.
MOST_BITS = 128


class NoWidth(Exception):  # noqa: N818  (a signal: this encoding does not apply)
    """Some term has no known finite range, or a symbolic size."""


def width_of(roots: Iterable[Term]) -> int:
    """Bits that hold every term below the roots as a signed number.

    Raises:
        NoWidth: a term without a known range, or a range beyond MOST_BITS.
    """
    bits = 1
    for term in subterms(roots):
        for bound in (term.low, term.high, *sizes_of(term)):
            if bound is None or isinstance(bound, Polynomial):
                raise NoWidth(f"no fixed range: {bound}")
            bits = max(bits, bound.bit_length() if bound >= 0 else (-bound - 1).bit_length())
    if bits + 2 > MOST_BITS:
        raise NoWidth(f"{bits} bits")
    return bits + 2


class Bits:
    """Answers with signed bit-vectors of one width; `conditions` collects what defines them."""

    def __init__(self, width: int, context: z3.Context | None = None) -> None:
        self.width = width
        self.context = context
        self.conditions: list[Expr] = []
        self.variables: dict[Var, Expr] = {}
        self.fresh = 0

    def value(self, number: Size) -> Expr:
        if isinstance(number, Polynomial):
            raise NoWidth(str(number))
        return z3.BitVecVal(number, self.width, self.context)

    const = value

    def var(self, term: Var) -> Expr:
        if term not in self.variables:
            value = z3.BitVec(smt_name(term), self.width, self.context)
            self.variables[term] = value
            self._bound(value, term.low, term.high)
        return self.variables[term]

    def linear(self, constant: Size, parts: Sequence[tuple[Expr, Size]]) -> Expr:
        total: Expr | None = None
        for x, c in parts:
            piece = self._times(x, c)
            total = piece if total is None else total + piece
        if total is None:
            return self.value(constant)
        return total if constant == 0 else total + self.value(constant)

    def product(self, a: Expr, b: Expr) -> Expr:
        return a * b

    def divmod(self, x: Expr, divisor: Size, term: Term) -> tuple[Expr, Expr]:
        if isinstance(divisor, Polynomial):
            raise NoWidth(str(divisor))
        if divisor & (divisor - 1) == 0:
            return x >> (divisor.bit_length() - 1), x & self.value(divisor - 1)
        # the dividend's range bounds the quotient, so q*divisor cannot wrap
        dividend = term.fields[0]
        quotient, rest = self._fresh("q"), self._fresh("r")
        self.conditions.append(x == quotient * self.value(divisor) + rest)
        self._bound(quotient, dividend.low // divisor, dividend.high // divisor)
        self._bound(rest, 0, divisor - 1)
        return quotient, rest

    def digits(self, x: Expr, radices: tuple[Size, ...], term: Term) -> list[Expr]:
        digits: list[Expr] = []
        low, high = term.fields[0].low, term.fields[0].high
        for radix in reversed(radices[1:]):
            if isinstance(radix, Polynomial):
                raise NoWidth(str(radix))
            if radix & (radix - 1) == 0:
                x, digit = x >> (radix.bit_length() - 1), x & self.value(radix - 1)
            else:
                quotient, digit = self._fresh("q"), self._fresh("r")
                self.conditions.append(x == quotient * self.value(radix) + digit)
                self._bound(quotient, low // radix, high // radix)
                self._bound(digit, 0, radix - 1)
                x = quotient
            low, high = low // radix, high // radix
            digits.append(digit)
        return [x, *reversed(digits)]

    def xor(self, a: Expr, b: Expr, term: Term) -> Expr:
        return a ^ b

    def bit_and(self, a: Expr, b: Expr, term: Term) -> Expr:
        return a & b

    def bit_or(self, a: Expr, b: Expr, term: Term) -> Expr:
        return a | b

    def shift_left(self, x: Expr, amount: Expr, term: Term) -> Expr:
        return x << amount

    def shift_right(self, x: Expr, amount: Expr, term: Term) -> Expr:
        return x >> amount

    def _times(self, x: Expr, c: Size) -> Expr:
        if isinstance(c, int) and c > 0 and c & (c - 1) == 0:
            return x if c == 1 else x << (c.bit_length() - 1)
        return x * self.value(c)

    def _fresh(self, letter: str) -> Expr:
        self.fresh += 1
        return z3.BitVec(f"{letter}.{self.fresh}", self.width, self.context)

    def _bound(self, value: Expr, low: Size | None, high: Size | None) -> None:
        if low is not None:
            self.conditions.append(value >= self.value(low))
        if high is not None:
            self.conditions.append(value <= self.value(high))
