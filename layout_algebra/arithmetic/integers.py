"""Terms evaluated on Python ints: exact, no width, one element at a time.

This is the interpreter that has the last word: every counterexample is replayed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from layout_algebra.dims import Size, evaluate
from layout_algebra.folding import Fold
from layout_algebra.terms import Term, Var


class Integers:
    """Answers with ints, given a value for every coordinate and every Dim (by Dim name)."""

    def __init__(self, values: Mapping[Var, int], dims: Mapping[str, int]) -> None:
        self.values = values
        self.dims = dims

    def size(self, value: Size) -> int:
        return value if isinstance(value, int) else evaluate(value, self.dims)

    def const(self, value: Size) -> int:
        return self.size(value)

    def var(self, term: Var) -> int:
        return self.values[term]

    def linear(self, constant: Size, parts: Sequence[tuple[int, Size]]) -> int:
        return self.size(constant) + sum(x * self.size(c) for x, c in parts)

    def product(self, a: int, b: int) -> int:
        return a * b

    def divmod(self, x: int, divisor: Size, term: Term) -> tuple[int, int]:
        return divmod(x, self.size(divisor))

    def digits(self, x: int, radices: tuple[Size, ...], term: Term) -> list[int]:
        digits = []
        for radix in reversed(radices[1:]):
            x, digit = divmod(x, self.size(radix))
            digits.append(digit)
        return [x, *reversed(digits)]

    def xor(self, a: int, b: int, term: Term) -> int:
        return a ^ b

    def bit_and(self, a: int, b: int, term: Term) -> int:
        return a & b

    def bit_or(self, a: int, b: int, term: Term) -> int:
        return a | b

    def shift_left(self, x: int, amount: int, term: Term) -> int:
        return x << amount

    def shift_right(self, x: int, amount: int, term: Term) -> int:
        return x >> amount


def values_of(
    terms: Iterable[Term], values: Mapping[Var, int], dims: Mapping[str, int] | None = None
) -> list[int]:
    """The terms' values at one point."""
    fold = Fold(Integers(values, dims or {}))
    return [fold(term) for term in terms]
