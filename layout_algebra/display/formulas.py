r"""A Map's formula as LaTeX, straight from its terms.

    latex(frag.map((8, 16)))
    # \begin{aligned}\mathrm{laneid} &= 4 i + \left\lfloor \frac{j}{2} \right\rfloor \bmod 4 ...

It writes what `Map.formula` prints, and needs no SymPy: a notebook asks for it with every value.
Signs: `\bmod` binds as in the text of a formula, tighter than a sum; `\oplus` is exclusive or.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import prod

from layout_algebra.conditions import Condition
from layout_algebra.dims import Polynomial, Quotient, Size, Symbol, product
from layout_algebra.folding import Fold
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var

#: A text and how tightly it binds: 0 bits, 1 sum, 2 mod, 3 product, 4 atom.
Piece = tuple[str, int]

_SPECIAL = {
    "\\": r"\backslash{}",
    "^": r"\hat{}",
    "~": r"\sim{}",
    **{sign: f"\\{sign}" for sign in "_&%$#{}"},
}
_INDEXED = re.compile(r"([A-Za-z])(\d+)('*)")
_SIGNS = {">=": r"\ge", "<=": r"\le", "==": "=", "!=": r"\ne"}


def latex(f: Map) -> str:
    r"""The map's axes as one `aligned` block, without dollar signs.

    Args:
        f: the map; its sizes may be symbols.

    Returns:
        One row for each axis, then one for each condition of the domain.
    """
    fold = Fold(Latex())
    rows = [rf"{name(axis)} &= {fold(term)[0]}" for axis, term in f.outputs]
    rows += [rf"\text{{where }} & {_condition(fold, one)}" for one in f.guard]
    rows = rows or [r"\text{one place} &"]
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def name(word: str) -> str:
    """A name in mathematics: one letter as it is, `c0` with an index, longer ones upright."""
    indexed = _INDEXED.fullmatch(word)
    if indexed is not None:
        return f"{indexed[1]}_{{{indexed[2]}}}{indexed[3]}"
    if len(word) == 1 and word.isalpha():
        return word
    return rf"\mathrm{{{''.join(_SPECIAL.get(sign, sign) for sign in word)}}}"


class Latex:
    """Interprets terms as (LaTeX, precedence)."""

    def const(self, value: Size) -> Piece:
        return _size(value)

    def var(self, term: Var) -> Piece:
        return name(term.name), 4

    def linear(self, constant: Size, parts: Sequence[tuple[Piece, Size]]) -> Piece:
        out = ""
        for piece, c in sorted(parts, key=lambda part: part[0][0]):
            negative = isinstance(c, int) and c < 0
            factor = -c if negative else c
            shown = _tight(piece, 2) if factor == 1 else _times(_size(factor), piece)
            out += (" - " if negative else " + ") + shown
        if isinstance(constant, Polynomial) or constant != 0:
            last = _size(constant)[0]
            out += f" - {last[1:]}" if last.startswith("-") else f" + {last}"
        return (out[3:] if out.startswith(" + ") else "-" + out[3:]), 1

    def product(self, a: Piece, b: Piece) -> Piece:
        return rf"{_tight(a, 3)} \cdot {_tight(b, 4)}", 3

    def divmod(self, x: Piece, divisor: Size, term: Term) -> tuple[Piece, Piece]:
        return _quotient(x, divisor), _remainder(x, divisor)

    def digits(self, x: Piece, radices: tuple[Size, ...], term: Term) -> list[Piece]:
        found = [_quotient(x, product(radices[1:]))]
        for k in range(1, len(radices)):
            below = product(radices[k + 1 :])
            found.append(_remainder(x if below == 1 else _quotient(x, below), radices[k]))
        return found

    def xor(self, a: Piece, b: Piece, term: Term) -> Piece:
        return _signed(a, r"\oplus", b)

    def bit_and(self, a: Piece, b: Piece, term: Term) -> Piece:
        return _signed(a, r"\mathbin{\&}", b)

    def bit_or(self, a: Piece, b: Piece, term: Term) -> Piece:
        return _signed(a, r"\mathbin{|}", b)

    def shift_left(self, x: Piece, amount: Piece, term: Term) -> Piece:
        return rf"{_tight(x, 4)} \cdot 2^{{{amount[0]}}}", 3

    def shift_right(self, x: Piece, amount: Piece, term: Term) -> Piece:
        return _floor(x[0], f"2^{{{amount[0]}}}"), 4


# -- inside ------------------------------------------------------------------------------------
def _condition(fold: Fold, condition: Condition) -> str:
    return f"{fold(condition.term)[0]} {_SIGNS.get(condition.kind, condition.kind)} 0"


def _tight(piece: Piece, least: int) -> str:
    return piece[0] if piece[1] >= least else rf"\left({piece[0]}\right)"


def _times(factor: Piece, piece: Piece) -> str:
    return rf"{_tight(factor, 3)} {_tight(piece, 4)}"


def _signed(a: Piece, sign: str, b: Piece) -> Piece:
    first, second = sorted((a, b))
    return f"{_tight(first, 3)} {sign} {_tight(second, 3)}", 0


def _floor(above: str, below: str) -> str:
    return rf"\left\lfloor \frac{{{above}}}{{{below}}} \right\rfloor"


def _quotient(x: Piece, divisor: Size) -> Piece:
    return _floor(x[0], _size(divisor)[0]), 4


def _remainder(x: Piece, divisor: Size) -> Piece:
    return rf"{_tight(x, 3)} \bmod {_tight(_size(divisor), 4)}", 2


def _size(value: Size) -> Piece:
    """A size: `Dim("M", multiple_of=8) // 8` becomes M/8, as a fraction."""
    if isinstance(value, int):
        return str(value), 4 if value >= 0 else 1
    out = ""
    for monomial, coefficient in value.terms:
        below = prod(a.multiple_of**power for a, power in monomial if isinstance(a, Symbol))
        factor = Fraction(coefficient, below)
        atoms = [_atom(atom) + (f"^{{{power}}}" if power > 1 else "") for atom, power in monomial]
        above = " ".join(([] if abs(factor.numerator) == 1 and atoms else
                          [str(abs(factor.numerator))]) + atoms)  # fmt: skip
        shown = above if factor.denominator == 1 else rf"\frac{{{above}}}{{{factor.denominator}}}"
        out += (" - " if factor < 0 else " + ") + shown
    text = out[3:] if out.startswith(" + ") else "-" + out[3:]
    single = len(value.terms) == 1 and not text.startswith("-")
    return text, (4 if single and " " not in text else 3 if single else 1)


def _atom(atom: Symbol | Quotient) -> str:
    if isinstance(atom, Symbol):
        return name(atom.name)
    return _floor(_size(atom.numerator)[0], _size(atom.denominator)[0])
