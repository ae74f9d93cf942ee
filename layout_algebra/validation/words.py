"""Registers as terms: a value of w bits is an integer term, known modulo 2^w.

    Word(t, 32)             a 32-bit register whose value is t modulo 2^32
    unsigned(word)          a term that is the value itself, in 0..2^32 - 1

Sums, differences, products and left shifts do not care which representative they work on, so a term
is reduced only when somebody reads it as a number: a comparison, a right shift, a longer register.
Where its range shows that nothing wraps the term is read as it is; otherwise `mod` stays as a term.
Coefficients are kept near 0, since a compiler writes -7 as 4294967289.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from layout_algebra import terms
from layout_algebra.terms import Const, Mod, Term
from layout_algebra.validation.forms import collected, modulo, parts_of
from layout_algebra.validation.magic import Scaled


@dataclass(frozen=True)
class Partial:
    """A step of a division by multiplication, with q = floor(base * multiplier / 2^shift):

    "less": q - base;  "rest": base - q;  "half": floor((base - q) / 2).
    """

    of: Scaled
    step: Literal["less", "rest", "half"]


@dataclass(frozen=True)
class Word:
    """A value of `bits` bits: `term` modulo 2^bits; `origin` says how it was made, where known."""

    term: Term
    bits: int
    origin: Scaled | Partial | None = None

    def __str__(self) -> str:
        return f"{self.term} mod 2^{self.bits}"


def number(value: int, bits: int) -> Word:
    """A constant."""
    return Word(terms.const(centred_number(value, bits)), bits)


def centred_number(value: int, bits: int) -> int:
    """The residue of least absolute value: -2^(bits-1) .. 2^(bits-1) - 1."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def constant(word: Word) -> int | None:
    """The value of a word that is a number, unsigned; None for others."""
    term = unsigned(word)
    return int(term.value) if isinstance(term, Const) and isinstance(term.value, int) else None


# -- reading -------------------------------------------------------------------------------------
def unsigned(word: Word) -> Term:
    """The value as a term in 0..2^bits - 1."""
    return _within(word, 0)


def signed(word: Word) -> Term:
    """The value as a term in -2^(bits-1)..2^(bits-1) - 1."""
    return _within(word, -(1 << (word.bits - 1)))


def _within(word: Word, low: int) -> Term:
    """The representative in low..low + 2^bits - 1."""
    whole = 1 << word.bits
    for term in _representatives(word):
        if isinstance(term.low, int) and isinstance(term.high, int):
            turns = (term.low - low) // whole
            if term.high - turns * whole < low + whole:
                return terms.linear([(term, 1)], -turns * whole)
    term = centred(word.term, word.bits)
    return terms.linear([(modulo(terms.linear([(term, 1)], -low), whole), 1)], low)


def _representatives(word: Word) -> Iterator[Term]:
    """The term itself, and with other coefficients: one of them may show that nothing wraps."""
    yield word.term
    term = centred(word.term, word.bits)
    yield term
    yield without_inner_moduli(term, word.bits)


def centred(term: Term, bits: int) -> Term:
    """The same residue modulo 2^bits with coefficients near 0, and remainders put together."""
    constant, parts = parts_of(term)
    near = [(t, centred_number(c, bits)) for t, c in parts]
    return collected(terms.linear(near, centred_number(constant, bits)))


def without_inner_moduli(term: Term, bits: int) -> Term:
    """The same residue modulo 2^bits, without remainders that it takes no notice of."""
    constant, parts = parts_of(term)
    found: list[tuple[Term, int]] = []
    changed = False
    for t, c in parts:
        if (
            isinstance(t, Mod)
            and isinstance(t.fields[1], int)
            and c * t.fields[1] % (1 << bits) == 0
        ):
            found.append((t.fields[0], c))
            changed = True
        else:
            found.append((t, c))
    if not changed:
        return term
    return without_inner_moduli(centred(terms.linear(found, constant), bits), bits)


def congruent(a: Term, b: Term, bits: int) -> bool:
    """Whether a = b modulo 2^bits shows itself; False says nothing."""
    difference = terms.linear([(a, 1), (b, -1)])
    for term in (difference, centred(difference, bits)):
        if _vanishes(term, bits):
            return True
    return _vanishes(without_inner_moduli(centred(difference, bits), bits), bits)


def _vanishes(term: Term, bits: int) -> bool:
    constant, parts = parts_of(term)
    return all(c % (1 << bits) == 0 for c in (constant, *(c for _, c in parts)))
