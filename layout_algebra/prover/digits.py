"""Terms as Z3 integers, without division: every digit is a fresh variable.

`x // d` and `x % d` become q and r with x = q*d + r and 0 <= r < d; the digits of a mixed radix
come one by one, most significant first, each by one such equation.  With concrete sizes all of it
is linear (QF_LIA); with symbolic sizes the products of sizes and digits make it QF_NIA.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from layout_algebra.dims import Size, product
from layout_algebra.prover.dims import Expr, SizeEncoder, smt_name
from layout_algebra.terms import Term, Var


class NeedsBits(Exception):  # noqa: N818  (a signal between two encodings, not an error)
    """The term has bit operations, which this encoding does not speak."""


class Digits:
    """Answers with Z3 integers; `conditions` collects ranges and defining equations."""

    def __init__(self, sizes: SizeEncoder) -> None:
        self.size = sizes
        self.conditions: list[Expr] = []
        self.variables: dict[Var, Expr] = {}
        self.fresh = 0

    def const(self, value: Size) -> Expr:
        return self.size(value)

    def var(self, term: Var) -> Expr:
        if term not in self.variables:
            value = z3.Int(smt_name(term), self.size.context)
            self.variables[term] = value
            self._bound(value, term.low, term.high)
        return self.variables[term]

    def linear(self, constant: Size, parts: Sequence[tuple[Expr, Size]]) -> Expr:
        pieces = [x if c == 1 else self.size(c) * x for x, c in parts]
        if constant != 0 or not pieces:
            pieces.append(self.size(constant))
        return pieces[0] if len(pieces) == 1 else z3.Sum(pieces)

    def product(self, a: Expr, b: Expr) -> Expr:
        return a * b

    def divmod(self, x: Expr, divisor: Size, term: Term) -> tuple[Expr, Expr]:
        quotient, rest = self._fresh("q"), self._fresh("r")
        self.conditions.append(x == self.size(divisor) * quotient + rest)
        self._bound(rest, 0, divisor - 1)
        return quotient, rest

    def digits(self, x: Expr, radices: tuple[Size, ...], term: Term) -> list[Expr]:
        digits: list[Expr] = []
        rest = x
        for k in range(len(radices) - 1):
            weight = product(radices[k + 1 :])
            digit, below = self._fresh("q"), self._fresh("r")
            self.conditions.append(rest == self.size(weight) * digit + below)
            self._bound(below, 0, weight - 1)
            if k > 0:
                self._bound(digit, 0, radices[k] - 1)
            digits.append(digit)
            rest = below
        return [*digits, rest]

    def xor(self, a: Expr, b: Expr, term: Term) -> Expr:
        raise NeedsBits

    bit_and = xor
    bit_or = xor
    shift_left = xor
    shift_right = xor

    def _fresh(self, letter: str) -> Expr:
        self.fresh += 1
        return z3.Int(f"{letter}.{self.fresh}", self.size.context)

    def _bound(self, value: Expr, low: Size | None, high: Size | None) -> None:
        if low is not None:
            self.conditions.append(value >= self.size(low))
        if high is not None:
            self.conditions.append(value <= self.size(high))
