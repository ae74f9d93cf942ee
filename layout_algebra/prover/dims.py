"""Sizes and relations between Dims, as Z3 integers."""

from __future__ import annotations

from typing import Any, TypeAlias

import z3

from layout_algebra.dims import Quotient, Relation, Size, Symbol
from layout_algebra.terms import Var

#: A Z3 expression.  Z3's own annotations give unions of every sort for each operator.
Expr: TypeAlias = Any


class SizeEncoder:
    """Z3 integers for sizes; `conditions` collects the ranges of the symbols that were met."""

    def __init__(self, context: z3.Context | None = None) -> None:
        self.context = context
        self.conditions: list[Expr] = []
        self.atoms: dict[Symbol | Quotient, Expr] = {}
        self.factors = 0  # one unknown factor for each divisibility that is given

    def __call__(self, size: Size) -> Expr:
        if isinstance(size, int):
            return z3.IntVal(size, self.context)
        pieces: list[Expr] = []
        for mono, c in size.terms:
            factors = [self.atom(atom) for atom, power in mono for _ in range(power)]
            if c != 1 or not factors:
                factors.insert(0, z3.IntVal(c, self.context))
            piece = factors[0]
            for factor in factors[1:]:
                piece = piece * factor
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else z3.Sum(pieces)

    def atom(self, atom: Symbol | Quotient) -> Expr:
        """The integer of a symbol (its Dim divided by multiple_of) or of an inexact quotient."""
        if atom in self.atoms:
            return self.atoms[atom]
        if isinstance(atom, Symbol):
            value = z3.Int(f"dim.{atom.name}", self.context)
            self.atoms[atom] = value
            self.conditions.append(value >= atom.lo)
            if atom.hi is not None:
                self.conditions.append(value <= atom.hi)
            return value
        value = z3.Int(f"quotient.{len(self.atoms)}", self.context)
        self.atoms[atom] = value
        over, under = self(atom.numerator), self(atom.denominator)
        self.conditions += [under >= 1, under * value <= over, over < under * value + under]
        return value

    def relation(self, relation: Relation) -> Expr:
        size = self(relation.size)
        if relation.kind == ">=":
            return size >= 0
        if relation.kind == "==":
            return size == 0
        factor = z3.Int(f"factor.{self.factors}", self.context)
        self.factors += 1
        divisor = self(relation.divisor)
        return z3.And(divisor >= 1, size == divisor * factor)

    def values(self, model: z3.ModelRef) -> dict[str, int]:
        """The Dims' values in a model, by name."""
        return {
            atom.name: atom.multiple_of * number(model, value)
            for atom, value in self.atoms.items()
            if isinstance(atom, Symbol)
        }


def smt_name(variable: Var) -> str:
    """A coordinate's name as an SMT-LIB symbol: never a reserved word, never in need of quotes."""
    return "x." + variable.name.replace("'", ".2")


def number(model: z3.ModelRef, value: Expr) -> int:
    """The int that a Z3 integer is in a model."""
    return model.eval(value, model_completion=True).as_long()  # type: ignore[attr-defined]
