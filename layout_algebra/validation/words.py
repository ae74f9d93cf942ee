"""Registers as terms: a value of w bits is an integer term, known modulo 2^w.

    Word(t, 32)             a 32-bit register whose value is t modulo 2^32
    unsigned(word)          a term that is the value itself, in 0..2^32 - 1

Sums, differences, products and left shifts do not care which representative they work on, so a term is
reduced only when somebody reads it as a number: a comparison, a right shift, a longer register.
Where its range shows that nothing wraps the term is read as it is; otherwise `mod` stays as a term.
Coefficients are kept near 0, since a compiler writes -7 as 4294967289.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from layout_algebra import terms
from layout_algebra.dims import Size
from layout_algebra.terms import Const, FloorDiv, Mod, Sum, Term
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
    return terms.linear([(terms.mod(terms.linear([(term, 1)], -low), whole), 1)], low)


def _representatives(word: Word) -> Iterator[Term]:
    """The term itself, and with other coefficients: one of them may show that nothing wraps."""
    yield word.term
    term = centred(word.term, word.bits)
    yield term
    yield without_inner_moduli(term, word.bits)


def centred(term: Term, bits: int) -> Term:
    """The same residue modulo 2^bits with coefficients near 0, and remainders put together."""
    constant, parts = _parts(term)
    near = [(t, centred_number(c, bits)) for t, c in parts]
    return collected(terms.linear(near, centred_number(constant, bits)))


def without_inner_moduli(term: Term, bits: int) -> Term:
    """The same residue modulo 2^bits, without remainders that it takes no notice of."""
    constant, parts = _parts(term)
    found: list[tuple[Term, int]] = []
    changed = False
    for t, c in parts:
        if isinstance(t, Mod) and isinstance(t.fields[1], int) and c * t.fields[1] % (1 << bits) == 0:
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
    constant, parts = _parts(term)
    return all(c % (1 << bits) == 0 for c in (constant, *(c for _, c in parts)))


def _parts(term: Term) -> tuple[int, list[tuple[Term, int]]]:
    """A term as constant + sum of coefficient * term, with numbers."""
    if isinstance(term, Sum):
        return _int(term.constant), [(t, _int(c)) for t, c in term.parts]
    if isinstance(term, Const):
        return _int(term.value), []
    return 0, [(term, 1)]


def _int(size: Size) -> int:
    if not isinstance(size, int):
        raise TypeError(f"{size} is symbolic")  # maps with Dims are refused before they come here
    return size


# -- the simplifications that compilers make necessary ------------------------------------------
def collected(term: Term) -> Term:
    """x - d*(x // d) as x % d, also for an x that is spread over the sum."""
    if not isinstance(term, Sum):
        return term
    for part, c in term.parts:
        if isinstance(part, FloorDiv):
            found = _as_remainder(term, part, _int(c))
            if found is not None:
                return collected(found)
    return term


def _as_remainder(term: Sum, quotient: Term, c: int) -> Term | None:
    """The sum with c*(x // d) and its -c/d * x as one remainder; None where x is not there."""
    x, divisor = quotient.fields
    if not isinstance(divisor, int):
        return None
    held = {t: _int(k) for t, k in term.parts}
    for whole, d in _dividends(x, divisor, held):
        if c % d:
            continue
        factor = -c // d
        constant, parts = _parts(whole)
        if not parts or any(held.get(t) != k * factor for t, k in parts):
            continue
        rest = {t: k for t, k in held.items() if t is not quotient}
        for t, _ in parts:
            rest.pop(t, None)
        remainder = modulo(whole, d)
        pieces = [*rest.items(), (remainder, factor)]
        return terms.linear(pieces, _int(term.constant) - constant * factor)
    return None


def _dividends(x: Term, divisor: int, held: dict[Term, int]) -> Iterator[tuple[Term, int]]:
    """What x // divisor may be the quotient of: x by divisor, and x // a by divisor / a."""
    yield x, divisor
    for other in held:
        if isinstance(other, FloorDiv) and other.fields[0] is x:
            inner = other.fields[1]
            if isinstance(inner, int) and inner < divisor and divisor % inner == 0:
                yield other, divisor // inner


def quotient(x: Term, divisor: int) -> Term:
    """x // divisor; a quotient of a quotient is one of the first dividend."""
    if isinstance(x, FloorDiv) and isinstance(x.fields[1], int):
        return quotient(x.fields[0], x.fields[1] * divisor)
    if isinstance(x, Sum):
        inner = _common_quotient(x, divisor)
        if inner is not None:
            return inner
    return terms.floordiv(x, divisor)


def _common_quotient(x: Sum, divisor: int) -> Term | None:
    """(y // a + c) // d as (y + a*c) // (a*d), for a sum of one quotient and a constant."""
    if len(x.parts) != 1:
        return None
    (part, c) = x.parts[0]
    if c != 1 or not isinstance(part, FloorDiv) or not isinstance(part.fields[1], int):
        return None
    y, a = part.fields
    return quotient(terms.linear([(y, 1)], a * _int(x.constant)), a * divisor)


def modulo(x: Term, divisor: int) -> Term:
    """x % divisor; a remainder of a remainder by a multiple is one of the first dividend."""
    if isinstance(x, Mod) and isinstance(x.fields[1], int) and x.fields[1] % divisor == 0:
        return modulo(x.fields[0], divisor)
    return terms.mod(x, divisor)


# -- bits ----------------------------------------------------------------------------------------
def field(x: Term, low: int, length: int) -> Term:
    """Bits low..low+length-1 of a number, moved down."""
    return modulo(quotient(x, 1 << low), 1 << length)


def masked(x: Term, mask: int, bits: int) -> Term | None:
    """x & mask as a sum of fields, for a mask of few runs; x is in 0..2^bits - 1."""
    runs = list(_runs(mask % (1 << bits)))
    if len(runs) > 4:
        return None
    parts: list[tuple[Term, Size]] = []
    for low, length in runs:
        top = low + length == bits
        moved = quotient(x, 1 << low) if top else field(x, low, length)
        parts.append((moved, 1 << low))
    return terms.linear(parts)


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """The runs of ones in a mask: (lowest bit, length)."""
    low = 0
    while mask >> low:
        if (mask >> low) & 1:
            length = 1
            while (mask >> (low + length)) & 1:
                length += 1
            yield low, length
            low += length
        else:
            low += 1


def possible_bits(x: Term) -> int | None:
    """A mask of the bits that a number may have, None where nothing is known; x is not negative."""
    if not isinstance(x.low, int) or x.low < 0 or not isinstance(x.high, int):
        return None
    whole = (1 << x.high.bit_length()) - 1
    if isinstance(x, Const):
        return int(x.high)
    if isinstance(x, Sum):
        return _bits_of_sum(x, whole)
    return whole


def _bits_of_sum(x: Sum, whole: int) -> int:
    used = 0
    zeros = _trailing_zeros(_int(x.constant)) if x.constant else 1 << 20
    for _, c in x.parts:
        zeros = min(zeros, _trailing_zeros(_int(c)))
    coarse = whole >> zeros << zeros
    for t, c in [*x.parts, (terms.const(1), x.constant)]:
        inner, c = possible_bits(t), _int(c)
        if inner is None or c < 0 or (c & (c - 1) and inner != 1):
            return coarse
        shifted = inner * c
        if used & shifted:  # a carry may go anywhere above
            return coarse
        used |= shifted
    return used & coarse


def _trailing_zeros(value: int) -> int:
    return (value & -value).bit_length() - 1
