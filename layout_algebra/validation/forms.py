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
from layout_algebra.validation.magic import ratio_of

#: What is known of a quotient of some term: (term, divisor) -> the quotient, or None.
Known: TypeAlias = Callable[[Term, int], Term | None]

Parts: TypeAlias = list[tuple[Term, int]]

#: Runs of ones in a mask that is taken apart into fields.
MOST_RUNS = 4


def parts_of(term: Term) -> tuple[int, Parts]:
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
    """x - d*(x // d) as x % d, also for an x that is spread over the sum; two digits as one."""
    if not isinstance(term, Sum):
        return term
    for part, c in term.parts:
        found = None
        if isinstance(part, FloorDiv):
            found = _as_remainder(term, part, number_of(c))
        elif isinstance(part, Mod) and isinstance(part.fields[0], FloorDiv):
            found = _as_longer_digit(term, part, number_of(c))
        if found is not None:
            return collected(found)
    return term


def _as_longer_digit(term: Sum, upper: Mod, c: int) -> Term | None:
    """c*(x % a) + c*a*((x // a) % b) as c*(x % (a*b)); None where the lower digit is not there."""
    x, a = upper.fields[0].fields
    b = upper.fields[1]
    if not isinstance(a, int) or not isinstance(b, int) or c % a:
        return None
    lower = modulo(x, a)
    if dict(term.parts).get(lower) != c // a:
        return None
    whole = modulo(x, a * b)
    return terms.linear([(term, 1), (upper, -c), (lower, -c // a), (whole, c // a)])


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
    if isinstance(x, Mod) and number_of(x.fields[1]) % divisor == 0:
        return modulo(quotient(x.fields[0], divisor, known), x.fields[1] // divisor)
    constant, parts = parts_of(x)
    for cut in (_not, _to_zero, _down):
        whole, rest = _cut(constant, parts, divisor, cut)
        turns = _window(rest, divisor)
        if turns is not None:
            return terms.linear([(whole, 1)], turns)
    whole, rest = _cut(constant, parts, divisor, _down)
    if rest is not x:
        return terms.add(whole, quotient(rest, divisor, known))
    for rule in (_of_a_quotient, _by_common_factor, _without_low_parts, _of_one_part):
        found = rule(constant, parts, divisor, known)
        if found is not None:
            return found
    return terms.floordiv(x, divisor)


def _of_a_quotient(constant: int, parts: Parts, divisor: int, known: Known | None) -> Term | None:
    """(y // a + z) // d as (y + a*z) // (a*d)."""
    inner = [t for t, c in parts if isinstance(t, FloorDiv) and c == 1]
    if len(inner) != 1:
        return None
    y, a = inner[0].fields
    rest = terms.linear([(t, a * c) for t, c in parts if t is not inner[0]], a * constant)
    return quotient(terms.add(y, rest), a * divisor, known)


def _by_common_factor(
    constant: int, parts: Parts, divisor: int, known: Known | None
) -> Term | None:
    """(g*y + k) // (g*d) as (y + k // g) // d."""
    common = gcd(divisor, *(c for _, c in parts))
    if common == 1:
        return None
    smaller = terms.linear([(t, c // common) for t, c in parts], constant // common)
    return quotient(smaller, divisor // common, known)


def _without_low_parts(
    constant: int, parts: Parts, divisor: int, known: Known | None
) -> Term | None:
    """(g*y + r) // (g*d) as (y + r // g) // d, where r // g is a number or takes two values."""
    factors = {gcd(c, divisor) for _, c in parts} - {1, divisor}
    for factor in sorted(factors, reverse=True):
        low = terms.linear([(t, c) for t, c in parts if c % factor], constant % factor)
        turns = _window(low, factor)
        left = _of_two_values(low, lambda value, by=factor: value // by)
        if turns is not None:
            left = terms.const(turns)
        if left is not None:
            high = [(t, c // factor) for t, c in parts if c % factor == 0]
            y = terms.add(terms.linear(high, constant // factor), left)
            return quotient(y, divisor // factor, known)
    return None


def _of_one_part(constant: int, parts: Parts, divisor: int, known: Known | None) -> Term | None:
    """(c*t + k) // d as a sum, for a t of two values; c*t // d as t // e, where they are equal."""
    two = _of_two_values(terms.linear(parts, constant), lambda value: value // divisor)
    if two is not None or len(parts) != 1 or constant != 0:
        return two
    (t, c) = parts[0]
    if not isinstance(t.low, int) or t.low < 0 or not isinstance(t.high, int) or c < 2:
        return None
    smaller = ratio_of(c, divisor, t.high)
    return None if smaller is None else quotient(t, smaller, known)


def modulo(x: Term, divisor: int) -> Term:
    """x % divisor in one form: nothing inside that the remainder takes no notice of."""
    if isinstance(x, Xor) and divisor & (divisor - 1) == 0:
        a, b = x.fields
        return exclusive(modulo(a, divisor), modulo(b, divisor))
    constant, parts = parts_of(x)
    for t, c in parts:
        simpler = _loosened(t, divisor // gcd(c, divisor))
        if simpler is not t:
            return modulo(terms.linear([(x, 1), (t, -c), (simpler, c)]), divisor)
    for cut in (_not, _to_zero, _down):
        _, rest = _cut(constant, parts, divisor, cut)
        turns = _window(rest, divisor)
        if turns is not None:
            return terms.linear([(rest, 1)], -turns * divisor)
    _, rest = _cut(constant, parts, divisor, _down)
    two = _of_two_values(rest, lambda value: value % divisor)
    return terms.mod(rest, divisor) if two is None else two


def _loosened(t: Term, divisor: int) -> Term:
    """A term with the same remainder by the divisor, without remainders that do not count."""
    if isinstance(t, Mod) and number_of(t.fields[1]) % divisor == 0:
        return t.fields[0]
    if not isinstance(t, FloorDiv):
        return t
    x, a = t.fields
    constant, parts = parts_of(x)
    inner = [(_loosened(one, a * divisor // gcd(c, a * divisor)), c) for one, c in parts]
    if all(new is old for (new, _), (old, _) in zip(inner, parts, strict=True)):
        return t
    return quotient(terms.linear(inner, constant), a)


def _down(value: int, divisor: int) -> int:
    return value // divisor


def _to_zero(value: int, divisor: int) -> int:
    return value // divisor if value >= 0 else -(-value // divisor)


def _not(value: int, divisor: int) -> int:
    return 0


def _cut(
    constant: int,
    parts: Parts,
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
    """a ^ b; where no bit meets it is a sum, and with all ones a difference."""
    one, other = possible_bits(a), possible_bits(b)
    if one is not None and other is not None and one & other == 0:
        return terms.add(a, b)
    return _without_ones(terms.xor(a, b))


def either(a: Term, b: Term) -> Term:
    """a | b of numbers that are not negative; what cannot carry is a sum."""
    one, other = possible_bits(a), possible_bits(b)
    if one is not None and other is not None and one & other == 0:
        return terms.add(a, b)
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const) and isinstance(b.value, int) and isinstance(a.high, int):
        bits = max(a.high, b.value).bit_length()
        rest = masked(a, ~b.value, bits)
        if rest is not None and a.low is not None and b.value >= 0:
            return terms.add(rest, b)
    return terms.bit_or(a, b)


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
