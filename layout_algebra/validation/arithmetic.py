"""The instructions on words: what each computes, as terms.

    Arithmetic(grid).calculate(instruction, operands)      # the result as a Word or a Test

Wrapping follows words.py.  Multiplications that are half of a division are followed through the
sequences that compilers write, so that the division comes out as a division (magic.py); each such
step is kept in `divisions`, for whoever wants it checked.

What has no term (a shift by a number that varies, a signed division of what may be negative)
raises `NotATerm`; what depends on a comparison that is not decided raises `Undecided`, and the
caller splits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from layout_algebra import terms
from layout_algebra.conditions import Condition, at_most
from layout_algebra.terms import Const, Term
from layout_algebra.validation.forms import either, exclusive, masked, modulo, quotient
from layout_algebra.validation.forms import field as bit_field
from layout_algebra.validation.magic import Division, Scaled, divisor_of
from layout_algebra.validation.predicates import Atom, Both, Negated, Test, compared, indicator
from layout_algebra.validation.syntax import Instruction
from layout_algebra.validation.words import (
    Partial,
    Word,
    congruent,
    constant,
    number,
    signed,
    unsigned,
)

#: Multiplications that begin a division are shifted by at least so many bits.
_LONG = 16


class NotATerm(Exception):  # noqa: N818  (a signal: symbolic execution does not go on here)
    """An instruction whose result is no term."""


class Undecided(Exception):  # noqa: N818  (a signal: split the path on this condition)
    """A choice that depends on a condition of which nothing is known."""

    def __init__(self, condition: Condition) -> None:
        super().__init__(str(condition))
        self.condition = condition


@dataclass
class Arithmetic:
    """The operations; `decide` says whether a test holds on the path, or raises Undecided.

    `join` is applied to every sum: it recognises a thread's number (grids.py).
    """

    decide: Callable[[Test], bool]
    join: Callable[[Term], Term]
    product: Callable[[Term, Term], Term]
    divisions: dict[Division, None] = field(default_factory=dict[Division, None])
    products: dict[Term, Scaled] = field(default_factory=dict[Term, Scaled])

    def calculate(self, one: Instruction, operands: Sequence[Word | Test]) -> Word | Test:
        """The result of an instruction that neither loads, stores nor converts."""
        if one.type.kind == "pred":
            return _TESTS[one.opcode](*operands)
        return _WORDS[one.opcode](self, one, *operands)

    # -- sums ---------------------------------------------------------------------------------
    def add(self, a: Word, b: Word) -> Word:
        total = Word(self.join(terms.add(a.term, b.term)), a.bits)
        for one, other in ((a, b), (b, a)):
            made = self._completed(one, other)
            if made is not None:
                found = self._division(made)
                return Word(total.term if found is None else found, a.bits, made)
        return total

    def subtract(self, a: Word, b: Word) -> Word:
        difference = self.join(terms.linear([(a.term, 1), (b.term, -1)]))
        origin = None
        if (
            isinstance(b.origin, Scaled)
            and b.origin.multiplier <= 1 << b.origin.shift
            and congruent(a.term, b.origin.base, a.bits)
            and _top(b.origin.base) < 1 << a.bits
        ):
            origin = Partial(b.origin, "rest")
        return Word(difference, a.bits, origin)

    def _completed(self, one: Word, other: Word) -> Scaled | None:
        """The longer multiplication that a sum completes: q + base, or (base - q)/2 + q."""
        origin = one.origin
        if isinstance(origin, Partial):
            of = origin.of
            if origin.step == "half" and other.origin == of:
                return Scaled(of.base, of.multiplier + (1 << of.shift), of.shift + 1)
            if origin.step == "less" and congruent(other.term, of.base, one.bits):
                return of
        elif isinstance(origin, Scaled) and congruent(other.term, origin.base, one.bits):
            longer = replace(origin, multiplier=origin.multiplier + (1 << origin.shift))
            if _top(longer.base) * longer.multiplier >> longer.shift < 1 << one.bits:
                return longer
        return None

    def _scaled(self, of: Scaled, bits: int) -> Word:
        """floor(base * multiplier / 2^shift), which fits."""
        return Word(self._floor(of), bits, of)

    def _floor(self, of: Scaled) -> Term:
        """floor(base * multiplier / 2^shift), as a division where it is one."""
        found = self._division(of)
        if found is None and of.shift < _LONG:
            found = quotient(terms.scale(of.base, of.multiplier), 1 << of.shift)
        if found is None:  # kept whole: a later shift makes it a division
            found = terms.floordiv(terms.scale(of.base, of.multiplier), 1 << of.shift)
            self.products[found] = of
        return found

    def _division(self, of: Scaled) -> Term | None:
        """floor(base * multiplier / 2^shift) as base // d; None where it is no division."""
        top = _top(of.base)
        divisor = divisor_of(of.multiplier, of.shift, top)
        if divisor is None:
            return None
        self.divisions[Division(of.multiplier, of.shift, divisor, top)] = None
        return quotient(of.base, divisor)

    def _known(self, x: Term, divisor: int) -> Term | None:
        """A quotient by a power of two of what a multiplication has begun to divide."""
        of = self.products.get(x)
        if of is None or divisor & (divisor - 1):
            return None
        return self._floor(replace(of, shift=of.shift + divisor.bit_length() - 1))

    # -- products -----------------------------------------------------------------------------
    def multiply(self, one: Instruction, a: Word, b: Word) -> Word:
        if constant(a) is not None:
            a, b = b, a
        bits = 2 * a.bits if "wide" in one.modifiers else a.bits
        read = signed if one.type.kind == "s" else unsigned
        if "hi" in one.modifiers:
            return self._high(read(a), read(b), bits)
        if "lo" in one.modifiers and constant(b) is None:
            return Word(self.product(unsigned(a), unsigned(b)), bits)
        if "lo" in one.modifiers:
            x, factor = unsigned(a), constant(b) or 0
            plain = Word(terms.multiply(a.term, number(factor, bits).term), bits)
        else:
            x, by = read(a), read(b)
            plain = Word(self.product(x, by), bits)
            factor = int(by.value) if isinstance(by, Const) else 0  # type: ignore[arg-type]
        if factor > 0 and _least(x) >= 0 and _top(x) * factor < 1 << bits:
            return replace(plain, origin=Scaled(x, factor, 0))
        return plain

    def _high(self, a: Term, b: Term, bits: int) -> Word:
        """The upper half of a product."""
        if not isinstance(b, Const):
            return Word(quotient(self.product(a, b), 1 << bits), bits)
        factor = int(b.value)  # type: ignore[arg-type]
        if _least(a) >= 0 and factor > 0:
            return self._scaled(Scaled(a, factor, bits), bits)
        if _least(a) >= 0 and factor < 0:  # floor(a*(c - 2^w) / 2^w) is floor(a*c / 2^w) - a
            whole = self._scaled(Scaled(a, factor + (1 << bits), bits), bits)
            less = terms.linear([(whole.term, 1), (a, -1)])
            origin = whole.origin
            return Word(less, bits, Partial(origin, "less") if isinstance(origin, Scaled) else None)
        return Word(quotient(terms.scale(a, factor), 1 << bits), bits)

    def multiply_add(self, one: Instruction, a: Word, b: Word, c: Word) -> Word:
        return self.add(self.multiply(one, a, b), c)

    # -- quotients ----------------------------------------------------------------------------
    def divide(self, one: Instruction, a: Word, b: Word) -> Word:
        x, divisor = self._divided(one, a, b)
        return Word(quotient(x, divisor), a.bits)

    def remainder(self, one: Instruction, a: Word, b: Word) -> Word:
        x, divisor = self._divided(one, a, b)
        return Word(modulo(x, divisor), a.bits)

    def _divided(self, one: Instruction, a: Word, b: Word) -> tuple[Term, int]:
        read = signed if one.type.kind == "s" else unsigned
        x, divisor = read(a), read(b)
        if not isinstance(divisor, Const) or int(divisor.value) < 1:  # type: ignore[arg-type]
            raise NotATerm(f"a division by what is no positive number: {one}")
        if _least(x) < 0:
            raise NotATerm(f"a signed division of what may be negative: {one}")
        return x, int(divisor.value)  # type: ignore[arg-type]

    def shift_right(self, one: Instruction, a: Word, n: Word) -> Word:
        amount = min(_amount(one, n), a.bits)
        if amount == 0:
            return a
        if one.type.kind == "s":
            value = signed(a)
            if _least(value) < 0:
                return Word(quotient(value, 1 << amount, self._known), a.bits)
        if isinstance(a.origin, Scaled):
            return self._scaled(replace(a.origin, shift=a.origin.shift + amount), a.bits)
        origin = None
        if isinstance(a.origin, Partial) and a.origin.step == "rest" and amount == 1:
            origin = replace(a.origin, step="half")
        return Word(quotient(unsigned(a), 1 << amount, self._known), a.bits, origin)

    # -- bits ---------------------------------------------------------------------------------
    def bit_and(self, a: Word, b: Word) -> Word:
        if constant(a) is not None:
            a, b = b, a
        mask, x = constant(b), unsigned(a)
        if mask is not None:
            found = masked(x, mask, a.bits, self._known)
            if found is not None:
                return Word(found, a.bits)
        return Word(terms.bit_and(x, unsigned(b)), a.bits)

    def bit_or(self, a: Word, b: Word) -> Word:
        return Word(either(unsigned(a), unsigned(b)), a.bits)

    def bit_xor(self, a: Word, b: Word) -> Word:
        for one, other in ((a, b), (b, a)):
            if constant(one) == (1 << a.bits) - 1:
                return self.bit_not(other)
        return Word(exclusive(unsigned(a), unsigned(b)), a.bits)

    def bit_not(self, a: Word) -> Word:
        return Word(terms.linear([(a.term, -1)], -1), a.bits)

    def shift_left(self, one: Instruction, a: Word, n: Word) -> Word:
        amount = _amount(one, n)
        if amount >= a.bits:
            return number(0, a.bits)
        shifted = Word(terms.scale(a.term, 1 << amount), a.bits)
        x = unsigned(a)
        if _top(x) << amount < 1 << a.bits:
            return replace(shifted, origin=Scaled(x, 1 << amount, 0))
        return shifted

    def extract(self, one: Instruction, a: Word, position: Word, length: Word) -> Word:
        low, count = _amount(one, position) & 0xFF, _amount(one, length) & 0xFF
        if count == 0 or low >= a.bits:
            if count and one.type.kind == "s":
                raise NotATerm(f"a field beyond the top: {one}")
            return number(0, a.bits)
        count = min(count, a.bits - low)
        value = bit_field(unsigned(a), low, count, self._known)
        if one.type.kind == "s":
            value = signed(Word(value, count))
        return Word(value, a.bits)

    def insert(self, one: Instruction, a: Word, b: Word, position: Word, length: Word) -> Word:
        low, count = _amount(one, position) & 0xFF, _amount(one, length) & 0xFF
        if count == 0 or low >= a.bits:
            return b
        count = min(count, a.bits - low)
        hole = ~(((1 << count) - 1) << low)
        kept = masked(unsigned(b), hole, a.bits, self._known)
        if kept is None:
            raise NotATerm(f"a mask of many pieces: {one}")
        moved = terms.scale(modulo(unsigned(a), 1 << count), 1 << low)
        return Word(terms.add(kept, moved), a.bits)

    # -- choices ------------------------------------------------------------------------------
    def choose(self, a: Word, b: Word, test: Test) -> Word:
        """a where the test holds, else b: without a split where the test is a number 0 or 1."""
        try:
            return a if self.decide(test) else b
        except Undecided:
            holds = indicator(test)
            if holds is None:
                raise
        difference = terms.linear([(a.term, 1), (b.term, -1)])
        return Word(terms.add(b.term, self.product(difference, holds)), a.bits)

    def extreme(self, one: Instruction, a: Word, b: Word) -> Word:
        read = signed if one.type.kind == "s" else unsigned
        first = self.decide(Atom(at_most(read(a), read(b))))
        return a if first == (one.opcode == "min") else b


# -- inside --------------------------------------------------------------------------------------
def _amount(one: Instruction, word: Word) -> int:
    found = constant(word)
    if found is None:
        raise NotATerm(f"a number of bits that varies: {one}")
    return found


def _least(term: Term) -> int:
    return term.low if isinstance(term.low, int) else -1


def _top(term: Term) -> int:
    if not isinstance(term.high, int):
        raise NotATerm(f"a number without bounds: {term}")
    return term.high


_WORDS: dict[str, Callable[..., Word | Test]] = {
    "add": lambda do, one, a, b: do.add(a, b),
    "sub": lambda do, one, a, b: do.subtract(a, b),
    "neg": lambda do, one, a: Word(terms.scale(a.term, -1), a.bits),
    "mul": Arithmetic.multiply,
    "mad": Arithmetic.multiply_add,
    "div": Arithmetic.divide,
    "rem": Arithmetic.remainder,
    "min": Arithmetic.extreme,
    "max": Arithmetic.extreme,
    "and": lambda do, one, a, b: do.bit_and(a, b),
    "or": lambda do, one, a, b: do.bit_or(a, b),
    "xor": lambda do, one, a, b: do.bit_xor(a, b),
    "not": lambda do, one, a: do.bit_not(a),
    "shl": Arithmetic.shift_left,
    "shr": Arithmetic.shift_right,
    "bfe": Arithmetic.extract,
    "bfi": Arithmetic.insert,
    "setp": lambda do, one, a, b: compared(one.modifiers[0], one.type, a, b),
    "selp": lambda do, one, a, b, test: do.choose(a, b, test),
    "mov": lambda do, one, a: a,
    "cvta": lambda do, one, a: a,
}

_TESTS: dict[str, Callable[..., Test]] = {
    "and": lambda a, b: Both("and", a, b),
    "or": lambda a, b: Both("or", a, b),
    "xor": lambda a, b: Both("xor", a, b),
    "not": Negated,
    "mov": lambda a: a,
}
