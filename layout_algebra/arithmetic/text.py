"""Terms as readable text, in the notation of the book: `4*i + floor(j/2) mod 4`."""

from __future__ import annotations

from collections.abc import Sequence

from layout_algebra.conditions import Condition
from layout_algebra.dims import Polynomial, Size, product
from layout_algebra.folding import Fold
from layout_algebra.terms import Term, Var

#: A text and how tightly it binds: 0 xor/and, 1 sum, 2 mod, 3 product, 4 atom.
Piece = tuple[str, int]


class Texts:
    """Answers with (text, precedence)."""

    def const(self, value: Size) -> Piece:
        return _size(value)

    def var(self, term: Var) -> Piece:
        return term.name, 4

    def linear(self, constant: Size, parts: Sequence[tuple[Piece, Size]]) -> Piece:
        out = ""
        for (text, tight), c in sorted(parts, key=lambda part: _reading_order(part[0][0])):
            negative = isinstance(c, int) and c < 0
            factor = -c if negative else c
            if factor == 1:
                piece = text if tight >= 2 else f"({text})"
            else:
                piece = f"{_tight(_size(factor), 3)}*{_tight((text, tight), 4)}"
            out += (" - " if negative else " + ") + piece
        if not (isinstance(constant, int) and constant == 0):
            if isinstance(constant, int) and constant < 0:
                out += f" - {-constant}"
            else:
                out += f" + {_size(constant)[0]}"
        return (out[3:] if out.startswith(" + ") else "-" + out[3:]), 1

    def product(self, a: Piece, b: Piece) -> Piece:
        return f"{_tight(a, 3)}*{_tight(b, 4)}", 3

    def divmod(self, x: Piece, divisor: Size, term: Term) -> tuple[Piece, Piece]:
        return _quotient(x, divisor), _remainder(x, divisor)

    def digits(self, x: Piece, radices: tuple[Size, ...], term: Term) -> list[Piece]:
        pieces = [_quotient(x, product(radices[1:]))]
        for k in range(1, len(radices)):
            below = product(radices[k + 1 :])
            shifted = x if below == 1 else _quotient(x, below)
            pieces.append(_remainder(shifted, radices[k]))
        return pieces

    def xor(self, a: Piece, b: Piece, term: Term) -> Piece:
        first, second = sorted((a, b), key=lambda piece: _reading_order(piece[0]))
        return f"{_tight(first, 3)} xor {_tight(second, 3)}", 0

    def bit_and(self, a: Piece, b: Piece, term: Term) -> Piece:
        return f"{_tight(a, 3)} and {_tight(b, 3)}", 0

    def bit_or(self, a: Piece, b: Piece, term: Term) -> Piece:
        return f"{_tight(a, 3)} or {_tight(b, 3)}", 0

    def shift_left(self, x: Piece, amount: Piece, term: Term) -> Piece:
        return f"({x[0]} << {_tight(amount, 4)})", 4

    def shift_right(self, x: Piece, amount: Piece, term: Term) -> Piece:
        return f"({x[0]} >> {_tight(amount, 4)})", 4


def text(term: Term) -> str:
    """One term as text."""
    return Fold(Texts())(term)[0]


def condition_text(condition: Condition) -> str:
    """A condition as text: `i - 3 >= 0`."""
    return f"{text(condition.term)} {condition.kind} 0"


def _size(value: Size) -> Piece:
    if isinstance(value, Polynomial):
        tight = (
            4 if len(value.terms) == 1 and "*" not in str(value) and "/" not in str(value) else 1
        )
        return str(value), tight
    return str(value), 4 if value >= 0 else 1


def _tight(piece: Piece, least: int) -> str:
    return piece[0] if piece[1] >= least else f"({piece[0]})"


def _quotient(x: Piece, divisor: Size) -> Piece:
    return f"floor({_tight(x, 3)}/{_tight(_size(divisor), 4)})", 4


def _remainder(x: Piece, divisor: Size) -> Piece:
    return f"{_tight(x, 3)} mod {_tight(_size(divisor), 4)}", 2


def _reading_order(text: str) -> tuple[str, str]:
    """By the first coordinate that a piece mentions."""
    word = ""
    for part in text.replace("floor", "").replace("mod", ""):
        if part.isalnum() or part == "_":
            word += part
        elif word and word[0].isalpha():
            break
        else:
            word = ""
    return word if word and word[0].isalpha() else "~", text
