"""Terms as flat source text over unsigned integers of one width, and Python's spelling of it.

    words = Words(PYTHON, 32, {index: "i"})
    name = words.name_of(term)
    words.lines_for([name])        # ['t0 = uint32(i // uint32(24))', ...]

Every value is held modulo 2^width.  Sums, products, XOR, AND, OR and left shifts mean the same
there as on integers, so a negative number is simply its residue.  Quotients and right shifts do
not: what they are taken of must lie in 0..2^width - 1, and a multiple of the divisor is added first
(and taken off the quotient) where it may be negative.  What does not fit is refused with
`WidthError`.

One emitter serves every language; a `Spelling` says how a literal, a binary operation and an
assignment are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Protocol, TypeVar

from layout_algebra.arithmetic.text import text
from layout_algebra.dims import Polynomial, Size
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.folding import Fold
from layout_algebra.terms import Term, Var

V = TypeVar("V")


class WidthError(LayoutAlgebraError, ValueError):
    """A map whose numbers do not fit the integers that its text computes with."""


class Spelling(Protocol):
    """How a language writes what the emitter needs."""

    #: The operator of floor division on unsigned numbers.
    quotient: str

    def literal(self, value: int, width: int) -> str:
        """A number in 0..2^width - 1, typed."""
        ...

    def assignment(self, name: str, expression: str, width: int) -> str:
        """The statement that binds a name to an expression, reduced modulo 2^width."""
        ...


class PythonSpelling:
    """Python for numba: `uint32(...)` around every result and every literal.

    numba gives the sum of two `uint32` as `uint64`, and that of a `uint64` and a plain literal as
    a float; the casts keep every name at its width.
    """

    quotient = "//"

    def literal(self, value: int, width: int) -> str:
        return f"uint{width}({value})"

    def assignment(self, name: str, expression: str, width: int) -> str:
        return f"{name} = uint{width}({expression})"


PYTHON = PythonSpelling()


class Words:
    """An interpreter for `Fold` that answers with names, and collects the assignments.

    Args:
        spelling: the language.
        width: bits of every value.
        names: the names of the coordinates, whose values are residues modulo 2^width.
        prefix: what the names that it makes begin with.
    """

    def __init__(
        self, spelling: Spelling, width: int, names: dict[Var, str], prefix: str = "t"
    ) -> None:
        self.spelling = spelling
        self.width = width
        self.names = names
        self.prefix = prefix
        self._fold = Fold(self)
        self._made: dict[str, tuple[str, tuple[str, ...]]] = {}

    def name_of(self, term: Term) -> str:
        """The name that holds a term's value; what it shares with earlier ones is made once."""
        return self._fold(term)

    def lines_for(self, results: Iterable[str]) -> list[str]:
        """The assignments that these names need, in order; what nothing uses is left out."""
        needed = set(results)
        kept: list[str] = []
        for name, (expression, used) in reversed(self._made.items()):
            if name in needed:
                needed.update(used)
                kept.append(self.spelling.assignment(name, expression, self.width))
        return kept[::-1]

    # -- the interpreter ----------------------------------------------------------------------
    def const(self, value: Size) -> str:
        return self._number(_int(value))

    def var(self, term: Var) -> str:
        return self.names[term]

    def linear(self, constant: Size, parts: Sequence[tuple[str, Size]]) -> str:
        plus: list[str] = []
        minus: list[str] = []
        for x, size in parts:
            factor = _int(size)
            scaled = x if abs(factor) == 1 else f"{x} * {self._number(abs(factor))}"
            (plus if factor > 0 else minus).append(scaled)
        number = _int(constant)
        if number < 0 and plus:
            minus.append(self._number(-number))
        elif number != 0 or not plus:
            plus.append(self._number(number))
        return self._let(" - ".join([" + ".join(plus), *minus]), [x for x, _ in parts])

    def product(self, a: str, b: str) -> str:
        return self._let(f"{a} * {b}", (a, b))

    def divmod(self, x: str, divisor: Size, term: Term) -> tuple[str, str]:
        quotient, digit = self.digits(x, (1, divisor), term)
        return quotient, digit

    def digits(self, x: str, radices: tuple[Size, ...], term: Term) -> list[str]:
        sizes = [_int(radix) for radix in radices[1:]]
        below = prod(sizes)
        turns = self._turns(term.fields[0], below)
        if turns:
            x = self._let(f"{x} + {self._number(turns * below)}", (x,))
        found: list[str] = []
        for radix in reversed(sizes):
            x, digit = self._cut(x, radix)
            found.append(digit)
        if turns:
            x = self._let(f"{x} - {self._number(turns)}", (x,))
        return [x, *reversed(found)]

    def xor(self, a: str, b: str, term: Term) -> str:
        return self._let(f"{a} ^ {b}", (a, b))

    def bit_and(self, a: str, b: str, term: Term) -> str:
        return self._let(f"{a} & {b}", (a, b))

    def bit_or(self, a: str, b: str, term: Term) -> str:
        return self._let(f"{a} | {b}", (a, b))

    def shift_left(self, x: str, amount: str, term: Term) -> str:
        self._most_shifted(term.fields[1])
        return self._let(f"{x} << {amount}", (x, amount))

    def shift_right(self, x: str, amount: str, term: Term) -> str:
        most = self._most_shifted(term.fields[1])
        turns = self._turns(term.fields[0], 1 << most)
        if not turns:
            return self._let(f"{x} >> {amount}", (x, amount))
        added = self._let(self._number(turns << most), ())
        raised = self._let(f"{x} + {added}", (x, added))  # reduced, before it is shifted
        above = self._let(f"{raised} >> {amount}", (raised, amount))
        return self._let(f"{above} - ({added} >> {amount})", (above, added, amount))

    # -- inside -------------------------------------------------------------------------------
    def _let(self, expression: str, used: Sequence[str]) -> str:
        name = f"{self.prefix}{len(self._made)}"
        self._made[name] = (expression, tuple(used))
        return name

    def _number(self, value: int) -> str:
        return self.spelling.literal(value % (1 << self.width), self.width)

    def _cut(self, x: str, radix: int) -> tuple[str, str]:
        """Quotient and remainder of a number that is not negative."""
        if radix & (radix - 1) == 0:
            bits = radix.bit_length() - 1
            return (
                self._let(f"{x} >> {self._number(bits)}", (x,)),
                self._let(f"{x} & {self._number(radix - 1)}", (x,)),
            )
        quotient = self._let(f"{x} {self.spelling.quotient} {self._number(radix)}", (x,))
        return quotient, self._let(f"{x} - {quotient} * {self._number(radix)}", (x, quotient))

    def _turns(self, x: Term, divisor: int) -> int:
        """How many divisors make x nowhere negative.

        Raises:
            WidthError: x with them, or the divisor, does not fit.
        """
        if not isinstance(x.low, int) or not isinstance(x.high, int):
            raise WidthError(f"{text(x)} is divided and has no bounds: bound its coordinates")
        turns = max(0, -(x.low // divisor))
        most = max(x.high + turns * divisor, divisor)
        if most >> self.width:
            raise WidthError(
                f"{text(x)} is divided by {divisor} and needs numbers up to {most}, beyond "
                f"{self.width} bits: use smaller sizes"
            )
        return turns

    def _most_shifted(self, amount: Term) -> int:
        if not isinstance(amount.high, int) or amount.high >= self.width:
            raise WidthError(
                f"a shift by {text(amount)} may reach {amount.high} bits, and words have "
                f"{self.width}: bound the amount"
            )
        return amount.high


def least_width(make: Callable[[int], V]) -> tuple[int, V]:
    """What `make` gives for 32 bits, or for 64 where those are too few; and the width.

    Raises:
        WidthError: 64 are too few.
    """
    try:
        return 32, make(32)
    except WidthError:
        return 64, make(64)


def check_range(about: str, low: object, high: object, width: int) -> None:
    """Raises WidthError unless low..high is a range of unsigned or of signed numbers of a width."""
    if not isinstance(low, int) or not isinstance(high, int):
        raise WidthError(f"{about} has no bounds: bound the map's coordinates")
    least = 0 if low >= 0 else -(1 << (width - 1))
    if low < least or high >= least + (1 << width):
        raise WidthError(f"{about} reaches from {low} to {high}, beyond {width} bits")


def _int(value: Size) -> int:
    if isinstance(value, Polynomial):
        raise WidthError(f"source text needs numbers for the sizes; {value} is symbolic")
    return value
