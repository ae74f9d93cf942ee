"""Symbolic sizes: integer polynomials over Dims.

    M = Dim("M", multiple_of=8)      # any M in 0, 8, 16, ...
    M // 8                           # exact: the quotient M/8 is what is stored
    (M // 8) * 512 + 64              # a polynomial, compared by structure

A Dim *is* its constraints: `Dim("M")` and `Dim("M", multiple_of=8)` are different sizes, and a
claim that contains both is an error.  Inside, the atom of `Dim("M", multiple_of=8)` is the quotient
`M/8`, a free integer, so that `M // 8` and `M % 8` are exact and need no solver.  Divisions that
are not exact become opaque quotient atoms, defined by `d*q <= n < d*(q+1)`.

A Dim may be 0 by default, because it may be an index; where it is an extent the layout exists only
for positive values, and every claim about the layout assumes that.  Sizes that turn out constant
are plain ints, so `Size = int | Polynomial` never holds the same number in two forms.

Comparisons (`ld >= K`) give a `Relation` for `prove(..., given=[...])`, and so does
`N % (2*bn) == 0`.  `==` between polynomials is structural and gives a bool; `equal(a, b)` is the
relation.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Literal, TypeAlias, Union

from layout_algebra.errors import DimError

Size: TypeAlias = Union[int, "Polynomial"]
#: Terms that `divide_exactly` finds at most in a quotient; beyond that it is not called exact.
MOST_QUOTIENT = 256
#: Terms that `bounds` writes out at most; beyond that it bounds each term alone.
MOST_EXPANDED = 4096
Monomial: TypeAlias = tuple[tuple["Atom", int], ...]


@dataclass(frozen=True)
class Symbol:
    """The free integer behind a Dim: `Dim = multiple_of * Symbol`, between `lo` and `hi`."""

    name: str
    multiple_of: int = 1
    at_least: int = 0
    at_most: int | None = None

    @property
    def lo(self) -> int:
        return -(-self.at_least // self.multiple_of)

    @property
    def hi(self) -> int | None:
        return None if self.at_most is None else self.at_most // self.multiple_of

    @cached_property
    def order(self) -> str:
        """What monomials are sorted by: the name first, then the constraints."""
        return self.call()

    def call(self) -> str:
        """The `Dim(...)` call that makes this symbol's Dim."""
        parts = [f'"{self.name}"']
        if self.multiple_of != 1:
            parts.append(f"multiple_of={self.multiple_of}")
        if self.at_least != 0:
            parts.append(f"at_least={self.at_least}")
        if self.at_most is not None:
            parts.append(f"at_most={self.at_most}")
        return f"Dim({', '.join(parts)})"


@dataclass(frozen=True)
class Quotient:
    """The integer q with `denominator*q <= numerator < denominator*(q + 1)`."""

    numerator: Polynomial
    denominator: Size

    @property
    def lo(self) -> int | None:
        low, _ = bounds(self.numerator)
        return 0 if low is not None and low >= 0 else None

    @property
    def hi(self) -> int | None:
        return None

    @cached_property
    def order(self) -> str:
        """What monomials are sorted by: after every Dim, whose order is `Dim(...)`."""
        below = self.denominator
        bottom = str(below) if isinstance(below, int) else below.call_text()
        return f"floor(({self.numerator.call_text()})//({bottom}))"

    def __str__(self) -> str:
        return f"(({self.numerator})//({self.denominator}))"


Atom: TypeAlias = Symbol | Quotient


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A sum of integer multiples of products of atoms.  Never constant: constants are ints.

    Made by arithmetic on Dims, not by hand; `terms` is sorted, without zero coefficients.
    """

    terms: tuple[tuple[Monomial, int], ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial):
            return self is other or self.terms == other.terms
        return False if isinstance(other, int) else NotImplemented

    def __reduce__(self) -> tuple[object, ...]:
        # without the cached hash: strings hash differently in every process
        return (Polynomial, (self.terms,))

    # -- arithmetic ---------------------------------------------------------------------------
    def __add__(self, other: Size) -> Size:
        return _combine(self, other, 1)

    __radd__ = __add__

    def __sub__(self, other: Size) -> Size:
        return _combine(self, other, -1)

    def __rsub__(self, other: Size) -> Size:
        return _combine(-self, other, 1)

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((mono, -c) for mono, c in self.terms))

    def __mul__(self, other: Size) -> Size:
        factors = _terms(other)
        if factors is None:
            return NotImplemented
        out: dict[Monomial, int] = {}
        for mono_a, a in self.terms:
            for mono_b, b in factors:
                key = _times(mono_a, mono_b)
                out[key] = out.get(key, 0) + a * b
        return _make(out)

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        return floordiv(self, other) if is_size(other) else NotImplemented

    def __rfloordiv__(self, other: Size) -> Size:
        return floordiv(other, self) if is_size(other) else NotImplemented

    def __mod__(self, other: Size) -> Size | Remainder:
        return _remainder(self, other) if is_size(other) else NotImplemented

    def __rmod__(self, other: Size) -> Size | Remainder:
        return _remainder(other, self) if is_size(other) else NotImplemented

    # -- relations ----------------------------------------------------------------------------
    def __ge__(self, other: Size) -> Relation:
        if not is_size(other):
            return NotImplemented
        return Relation(_size(self - other), ">=", f"{self} >= {other}")

    def __gt__(self, other: Size) -> Relation:
        if not is_size(other):
            return NotImplemented
        return Relation(_size(self - other - 1), ">=", f"{self} > {other}")

    def __le__(self, other: Size) -> Relation:
        if not is_size(other):
            return NotImplemented
        return Relation(_size(other - self), ">=", f"{self} <= {other}")

    def __lt__(self, other: Size) -> Relation:
        if not is_size(other):
            return NotImplemented
        return Relation(_size(other - self - 1), ">=", f"{self} < {other}")

    def __bool__(self) -> bool:
        raise DimError(f"{self} is symbolic: it has no truth value")

    def __index__(self) -> int:
        raise DimError(f"{self} is symbolic; a number is needed here (evaluate it first)")

    # -- reading ------------------------------------------------------------------------------
    def atoms(self) -> Iterator[Atom]:
        for mono, _ in self.terms:
            for atom, _ in mono:
                yield atom

    def symbols(self) -> frozenset[Symbol]:
        """Every Dim's symbol in it, also those inside quotients."""
        found: set[Symbol] = set()
        for atom in self.atoms():
            if isinstance(atom, Symbol):
                found.add(atom)
            else:
                found |= symbols(atom.numerator) | symbols(atom.denominator)
        return frozenset(found)

    def __str__(self) -> str:
        return _text(self, lambda symbol: symbol.name)

    __repr__ = __str__

    def call_text(self) -> str:
        """The same with every Dim written as its call, which `parse` reads back."""
        return _text(self, Symbol.call)


class Remainder(Polynomial):
    """`n % d` that is not known; `n % d == 0` is a relation, everything else is arithmetic."""

    def __init__(self, numerator: Polynomial, denominator: Size) -> None:
        plain = numerator - denominator * floordiv(numerator, denominator)
        object.__setattr__(self, "terms", _size(plain).terms)  # type: ignore[union-attr]
        object.__setattr__(self, "numerator", numerator)
        object.__setattr__(self, "denominator", denominator)

    def __eq__(self, other: object) -> Relation:  # type: ignore[override]
        if other != 0:
            raise DimError(f"write the relation as ({self.numerator}) % ({self.denominator}) == 0")
        return Relation(
            self.numerator,
            "divides",
            f"{self.numerator} % ({self.denominator}) == 0",
            self.denominator,
        )

    __hash__ = Polynomial.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return (Remainder, (self.numerator, self.denominator))

    numerator: Polynomial
    denominator: Size


@dataclass(frozen=True)
class Relation:
    """A condition on Dims: `size >= 0`, `size == 0`, or `divisor >= 1` divides `size`."""

    size: Size
    kind: Literal[">=", "==", "divides"]
    text: str
    divisor: Size = 1

    def holds(self, values: Mapping[str, int]) -> bool:
        value = evaluate(self.size, values)
        if self.kind == "divides":
            divisor = evaluate(self.divisor, values)
            return divisor >= 1 and value % divisor == 0
        return value >= 0 if self.kind == ">=" else value == 0

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        raise DimError(f"'{self.text}' is a relation between sizes; pass it as given=[...]")


def Dim(  # noqa: N802  (reads as a type where it is used)
    name: str, *, multiple_of: int = 1, at_least: int = 0, at_most: int | None = None
) -> Polynomial:
    """A symbolic size or index: any multiple of `multiple_of` from `at_least` to `at_most`.

    Raises:
        DimError: a name that is no identifier, a divisor below 1, or a range without a value.
    """
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):  # type: ignore[redundant-expr]
        raise DimError(f"a Dim's name is an identifier; got {name!r}")
    for label, value in (
        ("multiple_of", multiple_of),
        ("at_least", at_least),
        ("at_most", at_most),
    ):
        if not (value is None and label == "at_most") and type(value) is not int:
            raise DimError(f"{label} of Dim {name!r} is an int; got {value!r}")
    if multiple_of < 1:
        raise DimError(f"multiple_of of Dim {name!r} is at least 1; got {multiple_of}")
    symbol = Symbol(name, multiple_of, at_least, at_most)
    if symbol.hi is not None and symbol.hi < symbol.lo:
        raise DimError(
            f"Dim {name!r} has no value: no {'int' if multiple_of == 1 else 'multiple of '}"
            f"{'' if multiple_of == 1 else multiple_of} is at least {at_least} "
            f"and at most {at_most}"
        )
    return Polynomial(((((symbol, 1),), multiple_of),))


def equal(a: Size, b: Size) -> Relation:
    """The relation a == b, for `given=` (`==` itself compares polynomials by structure)."""
    return Relation(_size(a - b), "==", f"{a} == {b}")


def is_size(value: object) -> bool:
    """Whether a value is a plain int (bool is not) or a polynomial."""
    return type(value) is int or isinstance(value, Polynomial)


def floordiv(a: Size, b: Size) -> Size:
    """a // b: a polynomial where the division is exact, else an opaque quotient.

    Raises:
        DimError: b is zero or negative.
    """
    if isinstance(a, int) and isinstance(b, int):
        if b < 1:
            raise DimError(f"sizes are divided by positive numbers; got {a} // {b}")
        return a // b
    most = bounds(b)[1]
    if most is not None and most < 1:
        raise DimError(f"sizes are divided by positive numbers; got ({a}) // ({b})")
    exact = divide_exactly(a, b)
    if exact is not None:
        return exact
    if isinstance(b, int):
        # split off the part that divides: (8*q + 3) // 8 = q + 3 // 8
        whole = _make({mono: c // b for mono, c in _terms(a)})
        rest = _size(a - whole * b)
        low, high = bounds(rest)
        if low is not None and high is not None and low // b == high // b:
            return _size(whole + low // b)
        return whole + _quotient(rest, b)
    low, high = bounds(_size(b - 1 - a))
    if low is not None and low >= 0 and (bounds(a)[0] or 0) >= 0 and bounds(a)[0] is not None:
        return 0
    return _quotient(a, b)


def divide_exactly(a: Size, b: Size) -> Size | None:
    """The polynomial q with a == q*b, or None when there is none (or b is 0)."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b != 0 and a % b == 0 else None
    if isinstance(b, int):
        terms_a = _terms(a)
        if b == 0 or any(c % b for _, c in terms_a):
            return None
        return _make({mono: c // b for mono, c in terms_a})
    lead_mono, lead_c = b.terms[0]
    quotient: Size = 0
    rest = a
    # long division: if b divides the rest, its leading term divides the rest's, and cancels it
    for _ in range(MOST_QUOTIENT):
        if isinstance(rest, int) and rest == 0:
            return quotient
        mono, c = _terms(rest)[0]
        ratio = _over(mono, lead_mono)
        if ratio is None or c % lead_c != 0:
            return None
        step = _make({ratio: c // lead_c})
        quotient = quotient + step
        rest = _size(rest - step * b)
    return None


def bounds(size: Size, positive: frozenset[Symbol] = frozenset()) -> tuple[int | None, int | None]:
    """Least and greatest value as far as intervals tell; None where they do not.

    `positive` names symbols that are known to be at least 1 (extents).  Sound, not complete.
    """
    if isinstance(size, int):
        return size, size
    # measured from each atom's least value every atom is >= 0, and signs decide
    lows: dict[Atom, int] = {}
    for atom in size.atoms():
        low = atom.lo
        if low is None:
            return None, None
        lows[atom] = max(low, 1) if atom in positive else low
    signs = {c > 0 for mono, c in size.terms if mono}
    if all(low >= 0 for low in lows.values()) and (
        len(signs) == 1 or _expanded_terms(size, lows) > MOST_EXPANDED
    ):
        return _termwise_bounds(size, lows)
    if _expanded_terms(size, lows) > MOST_EXPANDED:
        return None, None
    shifted: dict[Monomial, int] = {}
    for mono, c in size.terms:
        parts: dict[Monomial, int] = {(): c}
        for atom, power in mono:
            for _ in range(power):
                grown: dict[Monomial, int] = {}
                for key, value in parts.items():
                    up = _times(key, ((atom, 1),))
                    grown[up] = grown.get(up, 0) + value
                    if lows[atom]:
                        grown[key] = grown.get(key, 0) + value * lows[atom]
                parts = grown
        for key, value in parts.items():
            shifted[key] = shifted.get(key, 0) + value
    low_sum: int | None = shifted.pop((), 0)
    high_sum: int | None = low_sum
    for mono, c in shifted.items():
        if c == 0:
            continue
        top: int | None = c
        for atom, power in mono:
            top = None if top is None or atom.hi is None else top * (atom.hi - lows[atom]) ** power
        if c > 0:
            high_sum = None if high_sum is None or top is None else high_sum + top
        else:
            low_sum = None if low_sum is None or top is None else low_sum + top
    return low_sum, high_sum


def at_least(size: Size, least: int, positive: frozenset[Symbol] = frozenset()) -> bool:
    """Whether intervals alone show size >= least.  False may mean unknown."""
    low, _ = bounds(size, positive)
    return low is not None and low >= least


def symbols(size: Size) -> frozenset[Symbol]:
    return frozenset() if isinstance(size, int) else size.symbols()


def divisors(size: Size) -> frozenset[Size]:
    """Every symbolic size that something in it is divided by: a value of 0 makes no sense there."""
    if isinstance(size, int):
        return frozenset()
    found: set[Size] = set()
    for atom in size.atoms():
        if isinstance(atom, Quotient):
            if not isinstance(atom.denominator, int):
                found.add(atom.denominator)
            found |= divisors(atom.numerator) | divisors(atom.denominator)
    return frozenset(found)


def positive_symbols(extents: Iterable[Size]) -> frozenset[Symbol]:
    """Symbols that must be at least 1 when all these sizes are: the factors of single products."""
    found: set[Symbol] = set()
    for extent in extents:
        if isinstance(extent, Polynomial) and len(extent.terms) == 1:
            for atom, _ in extent.terms[0][0]:
                if isinstance(atom, Symbol) and atom.lo >= 0:
                    found.add(atom)
    return frozenset(found)


def product(sizes: Iterable[Size]) -> Size:
    result: Size = 1
    for size in sizes:
        result = result * size
    return result


def evaluate(size: Size, values: Mapping[str, int]) -> int:
    """The number that a size is when the Dims have these values (by Dim name).

    Raises:
        DimError: a Dim without a value, one that is no int, or one outside the Dim's constraints.
    """
    if isinstance(size, int):
        return size
    total = 0
    for mono, c in size.terms:
        for atom, power in mono:
            c *= _atom_value(atom, values) ** power
        total += c
    return total


def rewrite(size: Size, replace: Callable[[Symbol], Size]) -> Size:
    """The size with every symbol (the quotient Dim/multiple_of) replaced."""
    if isinstance(size, int):
        return size
    total: Size = 0
    for mono, c in size.terms:
        part: Size = c
        for atom, power in mono:
            if isinstance(atom, Symbol):
                value = replace(atom)
            else:
                value = floordiv(
                    rewrite(atom.numerator, replace), rewrite(atom.denominator, replace)
                )
            for _ in range(power):
                part = part * value
        total = total + part
    return total


def as_size(value: Size) -> Size:
    """The plain form of a size that a user gave (a `Remainder` loses its special `==`)."""
    return Polynomial(value.terms) if isinstance(value, Remainder) else value


# -- inside ------------------------------------------------------------------------------------
def _expanded_terms(size: Polynomial, lows: Mapping[Atom, int]) -> int:
    """How many terms a polynomial has when every atom is written as its least value plus a rest."""
    count = 0
    for mono, _ in size.terms:
        grown = 1
        for atom, power in mono:
            grown *= power + 1 if lows[atom] else 1
        count += grown
    return count


def _termwise_bounds(size: Polynomial, lows: Mapping[Atom, int]) -> tuple[int | None, int | None]:
    """The sum of each term's own bounds, for atoms that are not negative."""
    low_sum: int | None = 0
    high_sum: int | None = 0
    for mono, c in size.terms:
        least: int | None = c
        most: int | None = c
        for atom, power in mono:
            least = None if least is None else least * lows[atom] ** power
            most = None if most is None or atom.hi is None else most * atom.hi**power
        if c < 0:
            least, most = most, least
        low_sum = None if low_sum is None or least is None else low_sum + least
        high_sum = None if high_sum is None or most is None else high_sum + most
    return low_sum, high_sum


def _atom_value(atom: Atom, values: Mapping[str, int]) -> int:
    if isinstance(atom, Quotient):
        below = evaluate(atom.denominator, values)
        if below < 1:
            raise DimError(f"sizes are divided by positive numbers; {atom.denominator} is {below}")
        return evaluate(atom.numerator, values) // below
    if atom.name not in values:
        raise DimError(f"no value given for Dim {atom.name!r}")
    value = values[atom.name]
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise DimError(f"the value of Dim {atom.name!r} is an int; got {value!r}")
    value = index(value)
    high = atom.at_most
    if value % atom.multiple_of or value < atom.at_least or (high is not None and value > high):
        raise DimError(f"{value} is not a value of {atom.call()}")
    return value // atom.multiple_of


def _size(value: Size | Remainder) -> Size:
    return value


def _terms(size: object) -> tuple[tuple[Monomial, int], ...]:
    if isinstance(size, Polynomial):
        return size.terms
    if type(size) is int:
        return (((), size),) if size else ()
    return None  # type: ignore[return-value]


def _make(terms: Mapping[Monomial, int]) -> Size:
    kept = {mono: c for mono, c in terms.items() if c}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    return Polynomial(tuple(sorted(kept.items(), key=lambda item: _rank(item[0]))))


def _rank(mono: Monomial) -> tuple[int, tuple[tuple[str, int], ...]]:
    """High degree first, then by name, high powers first: the order in which terms are written.

    Multiplying two monomials by a third keeps their order (it is the graded lexicographic one), on
    which `divide_exactly` relies.
    """
    return (-sum(power for _, power in mono), tuple((atom.order, -power) for atom, power in mono))


def _combine(a: Polynomial, b: Size, sign: int) -> Size:
    terms_b = _terms(b)
    if terms_b is None:
        return NotImplemented
    out = dict(a.terms)
    for mono, c in terms_b:
        out[mono] = out.get(mono, 0) + sign * c
    return _make(out)


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].order))


def _over(a: Monomial, b: Monomial) -> Monomial | None:
    powers = dict(a)
    for atom, power in b:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return tuple((atom, power) for atom, power in powers.items() if power)


def _quotient(a: Size, b: Size) -> Size:
    if isinstance(a, int):
        a = Polynomial((((), a),))
    return Polynomial(((((Quotient(a, b), 1),), 1),))


def _remainder(a: Size, b: Size) -> Size | Remainder:
    whole = floordiv(a, b)
    rest = a - whole * b
    if (
        isinstance(rest, int)
        or isinstance(a, int)
        or not any(isinstance(atom, Quotient) for atom in rest.atoms())
    ):
        return rest
    return Remainder(a, b)


def _text(polynomial: Polynomial, name: Callable[[Symbol], str]) -> str:
    pieces: list[str] = []
    for mono, c in polynomial.terms:
        factors: list[str] = []
        left = abs(c)
        for atom, power in mono:
            if isinstance(atom, Quotient):
                inner = _text(atom.numerator, name)
                below = atom.denominator
                bottom = str(below) if isinstance(below, int) else f"({_text(below, name)})"
                text = f"(({inner})//{bottom})"
            elif atom.multiple_of != 1 and left % atom.multiple_of**power == 0:
                left //= atom.multiple_of**power
                text = name(atom)
            elif atom.multiple_of != 1:
                text = f"({name(atom)}//{atom.multiple_of})"
                if (
                    len(mono) == 1
                    and power == 1
                    and left == 1
                    and len(polynomial.terms) == 1
                    and c > 0
                ):
                    text = text[1:-1]
            else:
                text = name(atom)
            factors += [text] * power
        if left != 1 or not factors:
            factors.insert(0, str(left))
        pieces.append(("-" if c < 0 else "+") + " " + "*".join(factors))
    first, *others = pieces
    text = first[2:] if first[0] == "+" else "-" + first[2:]
    return " ".join([text, *others])
