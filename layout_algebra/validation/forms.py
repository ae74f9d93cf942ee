"""Terms in one form: quotients, remainders and bit fields that compilers write in many ways.

    quotient(x, 24), modulo(x, 24)          x // 24 and x % 24, whatever x is made of
    collected(term)                         x - d*(x // d) as x % d
    masked(x, 0x1F0, 32)                    x & 0x1F0 as 16 * ((x // 16) % 32)

The constructors of terms.py simplify what ranges decide at once.  Here two ways to write a number
are made one term: whole multiples are taken out of quotients, a quotient of a quotient becomes one,
and a remainder has nothing inside that it takes no notice of.  Sizes are numbers; each step is an
identity of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd
from typing import TypeAlias

from layout_algebra import terms
from layout_algebra.dims import Size
from layout_algebra.terms import Const, FloorDiv, Mod, Sum, Term, Xor

#: What is known of a quotient of some term: (term, divisor) -> the quotient, or None.
Known: TypeAlias = Callable[[Term, int], Term | None]

#: Runs of ones in a mask that is taken apart into fields.
MOST_RUNS = 4


def parts_of(term: Term) -> tuple[int, list[tuple[Term, int]]]:
    """A term as constant + sum of coefficient * term, with numbers."""
    if isinstance(term, Sum):
        return number_of(term.constant), [(t, number_of(c)) for t, c in term.parts]
    if isinstance(term, Const):
        return number_of(term.value), []
    return 0, [(term, 1)]


def number_of(size: Size) -> int:
    if not isinstance(size, int):
        raise TypeError(f"{size} is symbolic")  # maps with Dims are refused before they come here
    return size


# -- quotients and remainders -------------------------------------------------------------------
def collected(term: Term) -> Term:
    """x - d*(x // d) as x % d, also for an x that is spread over the sum."""
    if not isinstance(term, Sum):
        return term
    for part, c in term.parts:
        if isinstance(part, FloorDiv):
            found = _as_remainder(term, part, number_of(c))
            if found is not None:
                return collected(found)
    return term


def _as_remainder(term: Sum, quotient: Term, c: int) -> Term | None:
    """The sum with c*(x // d) and its -c/d * x as one remainder; None where x is not there."""
    x, divisor = quotient.fields
    if not isinstance(divisor, int):
        return None
    held = {t: number_of(k) for t, k in term.parts}
    for whole, d in _dividends(x, divisor, held):
        if c % d:
            continue
        factor = -c // d
        constant, parts = parts_of(whole)
        if not parts or any(held.get(t) != k * factor for t, k in parts):
            continue
        rest = {t: k for t, k in held.items() if t is not quotient}
        for t, _ in parts:
            rest.pop(t, None)
        remainder = modulo(whole, d)
        pieces = [*rest.items(), (remainder, factor)]
        return terms.linear(pieces, number_of(term.constant) - constant * factor)
    return None


def _dividends(x: Term, divisor: int, held: dict[Term, int]) -> Iterator[tuple[Term, int]]:
    """What x // divisor may be the quotient of: x by divisor, and x // a by divisor / a."""
    yield x, divisor
    for other in held:
        if isinstance(other, FloorDiv) and other.fields[0] is x:
            inner = other.fields[1]
            if isinstance(inner, int) and inner < divisor and divisor % inner == 0:
                yield other, divisor // inner


def quotient(x: Term, divisor: int, known: Known | None = None) -> Term:
    """x // divisor in one form: whole multiples outside, a quotient of a quotient as one.

    Args:
        x: a term with numbers for its sizes.
        divisor: a positive number.
        known: what else is known of quotients of some terms.
    """
    found = None if known is None else known(x, divisor)
    if found is not None:
        return found
    if divisor == 1:
        return x
    constant, parts = parts_of(x)
    inner = [t for t, c in parts if isinstance(t, FloorDiv) and c == 1]
    if len(inner) == 1 and isinstance(inner[0].fields[1], int):  # (y // a + z) // d
        y, a = inner[0].fields
        rest = terms.linear([(x, a), (inner[0], -a)])
        return quotient(terms.add(y, rest), a * divisor, known)
    common = gcd(divisor, *(c for _, c in parts))
    if common > 1:
        smaller = terms.linear([(t, c // common) for t, c in parts], constant // common)
        return quotient(smaller, divisor // common, known)
    for cut in _cuts:
        whole, rest = _cut(constant, parts, divisor, cut)
        turns = _window(rest, divisor)
        if turns is not None:
            return terms.linear([(whole, 1)], turns)
    whole, rest = _cut(constant, parts, divisor, _down)
    two = _of_two_values(rest, lambda value: value // divisor)
    return terms.add(whole, terms.floordiv(rest, divisor) if two is None else two)


def modulo(x: Term, divisor: int) -> Term:
    """x % divisor in one form: nothing inside that the remainder takes no notice of."""
    constant, parts = parts_of(x)
    for t, c in parts:
        if isinstance(t, Mod) and isinstance(t.fields[1], int) and c * t.fields[1] % divisor == 0:
            return modulo(terms.linear([(x, 1), (t, -c), (t.fields[0], c)]), divisor)
    for cut in _cuts:
        _, rest = _cut(constant, parts, divisor, cut)
        turns = _window(rest, divisor)
        if turns is not None:
            return terms.linear([(rest, 1)], -turns * divisor)
    _, rest = _cut(constant, parts, divisor, _down)
    two = _of_two_values(rest, lambda value: value % divisor)
    return terms.mod(rest, divisor) if two is None else two


def _down(value: int, divisor: int) -> int:
    return value // divisor


def _to_zero(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)


def _not(value: int, divisor: int) -> int:
    return 0


#: How much of each coefficient is taken out: one of these may show that the rest is small.
_cuts: tuple[Callable[[int, int], int], ...] = (_not, _to_zero, _down)


def _cut(
    constant: int,
    parts: list[tuple[Term, int]],
    divisor: int,
    cut: Callable[[int, int], int],
) -> tuple[Term, Term]:
    """A sum as whole * divisor + rest."""
    taken = [(t, cut(c, divisor)) for t, c in parts]
    least = cut(constant, divisor)
    whole = terms.linear(taken, least)
    left = [(t, c - k * divisor) for (t, c), (_, k) in zip(parts, taken, strict=True)]
    return whole, terms.linear(left, constant - least * divisor)


def _window(x: Term, divisor: int) -> int | None:
    """The k for which x surely lies in k*divisor .. (k+1)*divisor - 1."""
    if not isinstance(x.low, int) or not isinstance(x.high, int):
        return None
    turns = x.low // divisor
    return turns if x.high < (turns + 1) * divisor else None


def _of_two_values(x: Term, function: Callable[[int], int]) -> Term | None:
    """A function of c*t + k, for a t that is 0 or 1: as a sum again."""
    constant, parts = parts_of(x)
    if len(parts) != 1 or parts[0][0].low != 0 or parts[0][0].high != 1:
        return None
    (t, c) = parts[0]
    at_zero, at_one = function(constant), function(constant + c)
    return terms.linear([(t, at_one - at_zero)], at_zero)


# -- bits ----------------------------------------------------------------------------------------
def field(x: Term, low: int, length: int, known: Known | None = None) -> Term:
    """Bits low..low+length-1 of a number, moved down."""
    return modulo(quotient(x, 1 << low, known), 1 << length)


def masked(x: Term, mask: int, bits: int, known: Known | None = None) -> Term | None:
    """x & mask as a sum of fields, for a mask of few runs; x is in 0..2^bits - 1."""
    runs = list(_runs(mask % (1 << bits)))
    if len(runs) > MOST_RUNS:
        return None
    parts: list[tuple[Term, Size]] = []
    for low, length in runs:
        top = low + length == bits
        moved = quotient(x, 1 << low, known) if top else field(x, low, length, known)
        parts.append((moved, 1 << low))
    return terms.linear(parts)


def exclusive(a: Term, b: Term) -> Term:
    """a ^ b of numbers that are not negative; all ones on one side are a difference."""
    return _without_ones(terms.xor(a, b))


def _without_ones(x: Term) -> Term:
    _, parts = parts_of(x)
    for t, c in parts:
        if isinstance(t, Xor):
            for one, other in (t.fields, t.fields[::-1]):
                ones = number_of(one.value) if isinstance(one, Const) else 0
                if ones > 0 and ones & (ones + 1) == 0 and _window(other, ones + 1) == 0:
                    turned = modulo(terms.linear([(other, -1)], -1), ones + 1)
                    return _without_ones(terms.linear([(x, 1), (t, -c), (turned, c)]))
    return x


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
    zeros = _trailing_zeros(number_of(x.constant)) if x.constant else 1 << 20
    for _, c in x.parts:
        zeros = min(zeros, _trailing_zeros(number_of(c)))
    coarse = whole >> zeros << zeros
    for t, c in [*x.parts, (terms.const(1), x.constant)]:
        inner, c = possible_bits(t), number_of(c)
        if inner is None or c < 0 or (c & (c - 1) and inner != 1):
            return coarse
        shifted = inner * c
        if used & shifted:  # a carry may go anywhere above
            return coarse
        used |= shifted
    return used & coarse


def _trailing_zeros(value: int) -> int:
    return (value & -value).bit_length() - 1
