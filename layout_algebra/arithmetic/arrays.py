"""Terms evaluated on NumPy int64 arrays: every element at once.

Ranges are checked before anything is computed: a term that could leave 63 bits is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_algebra.arithmetic.text import text
from layout_algebra.dims import Size, evaluate
from layout_algebra.errors import CoordinateError
from layout_algebra.folding import Fold, sizes_of, subterms
from layout_algebra.terms import Term, Var

Array = NDArray[np.int64]
LIMIT = 2**62


class Arrays:
    """Answers with int64 arrays (or NumPy-broadcastable ints)."""

    def __init__(self, values: Mapping[Var, Any], dims: Mapping[str, int]) -> None:
        self.values = values
        self.dims = dims

    def size(self, value: Size) -> int:
        return value if isinstance(value, int) else evaluate(value, self.dims)

    def const(self, value: Size) -> Any:
        return np.int64(self.size(value))

    def var(self, term: Var) -> Any:
        return self.values[term]

    def linear(self, constant: Size, parts: Sequence[tuple[Any, Size]]) -> Any:
        total: Any = np.int64(self.size(constant))
        for x, c in parts:
            factor = self.size(c)
            total = total + (x if factor == 1 else x * np.int64(factor))
        return total

    def product(self, a: Any, b: Any) -> Any:
        return a * b

    def divmod(self, x: Any, divisor: Size, term: Term) -> tuple[Any, Any]:
        return _divmod(x, self.size(divisor))

    def digits(self, x: Any, radices: tuple[Size, ...], term: Term) -> list[Any]:
        digits = []
        for radix in reversed(radices[1:]):
            x, digit = _divmod(x, self.size(radix))
            digits.append(digit)
        return [x, *reversed(digits)]

    def xor(self, a: Any, b: Any, term: Term) -> Any:
        return a ^ b

    def bit_and(self, a: Any, b: Any, term: Term) -> Any:
        return a & b

    def bit_or(self, a: Any, b: Any, term: Term) -> Any:
        return a | b

    def shift_left(self, x: Any, amount: Any, term: Term) -> Any:
        return x << amount

    def shift_right(self, x: Any, amount: Any, term: Term) -> Any:
        return x >> amount


def _divmod(x: Any, divisor: int) -> tuple[Any, Any]:
    if divisor & (divisor - 1) == 0:  # shifts are several times faster than int64 division
        return x >> np.int64(divisor.bit_length() - 1), x & np.int64(divisor - 1)
    quotient = x // np.int64(divisor)
    return quotient, x - quotient * np.int64(divisor)


def grid(extents: Sequence[tuple[Var, int, int]]) -> dict[Var, Array]:
    """Open coordinate arrays (variable, low, extent) that broadcast to the full domain."""
    rank = len(extents)
    arrays: dict[Var, Array] = {}
    for position, (variable, low, extent) in enumerate(extents):
        shape = [1] * rank
        shape[position] = extent
        arrays[variable] = np.arange(low, low + extent, dtype=np.int64).reshape(shape)
    return arrays


def arrays_of(
    terms: Iterable[Term], values: Mapping[Var, Any], dims: Mapping[str, int] | None = None
) -> list[Any]:
    """The terms' values over arrays of coordinates (broadcast against each other).

    Raises:
        CoordinateError: a term whose values may not fit in 62 bits.
    """
    terms, dims = list(terms), dims or {}
    for term in subterms(terms):
        bound = max(_magnitude(term.low, dims), _magnitude(term.high, dims))
        if bound >= LIMIT:
            raise CoordinateError(f"{text(term)} reaches {bound}, which does not fit in 62 bits")
        if any(_magnitude(number, dims) >= LIMIT for number in sizes_of(term)):
            raise CoordinateError(f"{text(term)} has a number that does not fit in 62 bits")
    fold = Fold(Arrays(values, dims))
    return [fold(term) for term in terms]


def _magnitude(bound: Size | None, dims: Mapping[str, int]) -> int:
    return 0 if bound is None else abs(evaluate(bound, dims))
