"""Dims as coordinates: "for every column" becomes one more variable of an address map.

An access may depend on Dims: where a view begins, a row's pitch.  For questions about banks each of
them becomes a coordinate with a range, so that bit operations can be asked about all values.  A
Dim of k*q is the variable q, its values k*q.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layout_algebra import terms
from layout_algebra.dims import Polynomial, Size, Symbol
from layout_algebra.errors import LayoutError
from layout_algebra.folding import Fold
from layout_algebra.terms import Term, Var

#: Names that an access' own variables have.
_TAKEN = re.compile(r"lane\d*|e|base|w\..*")


@dataclass(frozen=True)
class Free:
    """A free variable: the Dim of a symbol, whose values are `multiple` times the variable's."""

    symbol: Symbol
    variable: Var

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def multiple(self) -> int:
        return self.symbol.multiple_of

    @property
    def term(self) -> Term:
        return terms.scale(self.variable, self.multiple)


def free_variable(symbol: Symbol, low: int | None = None, high: int | None = None) -> Free:
    """The coordinate of a Dim's symbol, in its own range and between the given bounds.

    Raises:
        LayoutError: no upper bound, no value, or a name that an access has for itself.
    """
    if _TAKEN.fullmatch(symbol.name):
        raise LayoutError(f"a Dim of an access has another name than {symbol.name!r}, its own")
    least = max(symbol.lo, symbol.lo if low is None else low)
    bounds = [bound for bound in (symbol.hi, high) if bound is not None]
    if not bounds:
        raise LayoutError(
            f"{symbol.name} has no upper bound, and addresses have: write Dim({symbol.name!r}, "
            "at_most=...)"
        )
    most = min(bounds)
    if most < least:
        raise LayoutError(
            f"{symbol.name} has no value: it is at least {least * symbol.multiple_of} and at most "
            f"{most * symbol.multiple_of}"
        )
    return Free(symbol, terms.var(symbol.name, least, most))


def with_variables(term: Term, free: Mapping[Symbol, Free]) -> Term:
    """The term with every Dim in a constant or a coefficient as its coordinate.

    Raises:
        LayoutError: a Dim that something is divided by, or a quotient of Dims.
    """
    return Fold(_Freeing(free))(term)


class _Freeing:
    """Rebuilds a term; sizes become terms."""

    def __init__(self, free: Mapping[Symbol, Free]) -> None:
        self.free = free

    def size(self, size: Size) -> Term:
        if isinstance(size, int):
            return terms.const(size)
        total: list[tuple[Term, Size]] = []
        for monomial, factor in size.terms:
            product: Term = terms.const(1)
            for atom, power in monomial:
                if not isinstance(atom, Symbol):
                    raise LayoutError(f"{size} is a quotient of Dims: it cannot be a variable")
                for _ in range(power):
                    product = terms.multiply(product, self.free[atom].variable)
            total.append((product, factor))
        return terms.linear(total)

    def const(self, value: Size) -> Term:
        return self.size(value)

    def var(self, term: Var) -> Term:
        return term

    def linear(self, constant: Size, parts: Sequence[tuple[Term, Size]]) -> Term:
        return terms.add(
            self.size(constant), *(terms.multiply(part, self.size(c)) for part, c in parts)
        )

    def product(self, a: Term, b: Term) -> Term:
        return terms.multiply(a, b)

    def divmod(self, x: Term, divisor: Size, term: Term) -> tuple[Term, Term]:
        return terms.divmod_terms(x, self._number(divisor))

    def digits(self, x: Term, radices: tuple[Size, ...], term: Term) -> list[Term]:
        return terms.split(x, [radices[0], *(self._number(radix) for radix in radices[1:])])

    def xor(self, a: Term, b: Term, term: Term) -> Term:
        return terms.xor(a, b)

    def bit_and(self, a: Term, b: Term, term: Term) -> Term:
        return terms.bit_and(a, b)

    def bit_or(self, a: Term, b: Term, term: Term) -> Term:
        return terms.bit_or(a, b)

    def shift_left(self, x: Term, amount: Term, term: Term) -> Term:
        return terms.shift_left(x, amount)

    def shift_right(self, x: Term, amount: Term, term: Term) -> Term:
        return terms.shift_right(x, amount)

    def _number(self, size: Size) -> int:
        if isinstance(size, Polynomial):
            raise LayoutError(
                f"the layout divides by {size}, a Dim: give the shape so that no digit is left, or "
                "a number"
            )
        return size
