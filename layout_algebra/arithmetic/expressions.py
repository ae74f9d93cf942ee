"""Terms as SymPy expressions: closed forms to read, print as LaTeX, and calculate with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
from sympy.core.symbol import Symbol as SymPySymbol

from layout_algebra.arithmetic.text import text
from layout_algebra.dims import Quotient, Size, product
from layout_algebra.folding import Fold
from layout_algebra.terms import Term, Var

Expr = Any  # SymPy's classes are untyped


class BitXor(sympy.Function):  # type: ignore[misc]
    """Bitwise exclusive or of integers (SymPy has none for integers)."""

    is_integer = True

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        a, b = args
        if a.is_Integer and b.is_Integer:
            return sympy.Integer(int(a) ^ int(b))
        return a if b == 0 else b if a == 0 else None

    def _latex(self, printer: Any) -> str:
        a, b = (printer._print(arg) for arg in self.args)
        return rf"\left({a} \oplus {b}\right)"

    def _sympystr(self, printer: Any) -> str:
        return f"({printer._print(self.args[0])} xor {printer._print(self.args[1])})"


class BitAnd(sympy.Function):  # type: ignore[misc]
    """Bitwise and of integers."""

    is_integer = True

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        a, b = args
        if a.is_Integer and b.is_Integer:
            return sympy.Integer(int(a) & int(b))
        return None


def symbol(name: str) -> SymPySymbol:
    """A coordinate's symbol."""
    return sympy.Symbol(name, integer=True)


def dim_symbol(name: str) -> SymPySymbol:
    """A Dim's symbol: never the same as a coordinate's, whatever their names."""
    return sympy.Symbol(name, integer=True, extended_real=True, dim=True)


def size(value: Size) -> Expr:
    """A size; `Dim("M", multiple_of=8) // 8` becomes M/8."""
    if isinstance(value, int):
        return sympy.Integer(value)
    total: Expr = sympy.Integer(0)
    for mono, c in value.terms:
        part: Expr = sympy.Integer(c)
        for atom, power in mono:
            if isinstance(atom, Quotient):
                base = sympy.floor(size(atom.numerator) / size(atom.denominator))
            else:
                base = dim_symbol(atom.name) / atom.multiple_of
            part *= base**power
        total += part
    return total


class Expressions:
    """Answers with SymPy expressions."""

    def const(self, value: Size) -> Expr:
        return size(value)

    def var(self, term: Var) -> Expr:
        return symbol(term.name)

    def linear(self, constant: Size, parts: Sequence[tuple[Expr, Size]]) -> Expr:
        return sympy.Add(size(constant), *(x * size(c) for x, c in parts))

    def product(self, a: Expr, b: Expr) -> Expr:
        return a * b

    def divmod(self, x: Expr, divisor: Size, term: Term) -> tuple[Expr, Expr]:
        d = size(divisor)
        return sympy.floor(x / d), sympy.Mod(x, d)

    def digits(self, x: Expr, radices: tuple[Size, ...], term: Term) -> list[Expr]:
        out = [sympy.floor(x / size(product(radices[1:])))]
        for k in range(1, len(radices)):
            shifted = sympy.floor(x / size(product(radices[k + 1 :])))
            out.append(sympy.Mod(shifted, size(radices[k])))
        return out

    def xor(self, a: Expr, b: Expr, term: Term) -> Expr:
        return BitXor(a, b)

    def bit_and(self, a: Expr, b: Expr, term: Term) -> Expr:
        return BitAnd(a, b)

    def bit_or(self, a: Expr, b: Expr, term: Term) -> Expr:
        return a + b - BitAnd(a, b)

    def shift_left(self, x: Expr, amount: Expr, term: Term) -> Expr:
        return x * 2**amount

    def shift_right(self, x: Expr, amount: Expr, term: Term) -> Expr:
        return sympy.floor(x / 2**amount)


def expression(term: Term) -> Expr:
    """One term as a SymPy expression."""
    return Fold(Expressions())(term)


class Formula(dict[str, Expr]):
    """Axis -> SymPy expression.  Prints one line an axis, as the book writes it."""

    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, outputs: Sequence[tuple[str, Term]]) -> Formula:
        formula = cls((axis, expression(term)) for axis, term in outputs)
        width = max((len(axis) for axis, _ in outputs), default=0)
        formula.lines = tuple(f"{axis:<{width}} = {text(term)}" for axis, term in outputs)
        return formula

    def latex(self) -> str:
        """The formulas as one LaTeX `aligned` block."""
        rows = (rf"\mathrm{{{axis}}} &= {sympy.latex(value)}" for axis, value in self.items())
        return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"
