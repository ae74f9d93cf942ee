"""Terms: the small frozen graph of integer expressions that every interpreter folds over.

A term is a constant (an int or a polynomial of Dims), a coordinate, or one of

    Sum      constant + c1*t1 + c2*t2 + ...        the c are sizes
    Product  a * b
    FloorDiv x // d,  Mod  x % d                   d a positive size; floor, as in Python
    Digit    the k-th digit of x in mixed radix    (the first digit is not reduced)
    Xor, And, Or, ShiftLeft, ShiftRight            bits, two's complement for negative numbers

Terms are hash-consed: two equal terms are one object, so `is` and `==` agree, memo tables are
cheap, and shared parts are interpreted once.  They carry their value range (`low`, `high`, both
inclusive, None where unbounded or unknown), which is what licenses most simplifications.

Nothing here decides what a layout means (semantics.py does) and nothing here computes (the
interpreters do, by the one traversal of folding.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from layout_algebra.dims import (
    Polynomial,
    Size,
    at_least,
    bounds,
    divide_exactly,
)
from layout_algebra.dims import (
    floordiv as size_floordiv,
)
from layout_algebra.dims import (
    product as size_product,
)
from layout_algebra.errors import DimError

#: Bits that a shift may move by: far beyond any address, and small enough to calculate with.
MOST_SHIFTED = 1024


class Term:
    """Base of all nodes.  Build terms with the functions below: they simplify."""

    __slots__ = ("__weakref__", "digest", "fields", "high", "low")
    fields: tuple[Any, ...]
    low: Size | None
    high: Size | None
    digest: bytes

    _table: ClassVar[WeakValueDictionary[tuple[Any, ...], Term]] = WeakValueDictionary()

    @classmethod
    def make(cls, fields: tuple[Any, ...], low: Size | None, high: Size | None) -> Term:
        key = (cls, *fields)
        known = Term._table.get(key)
        if known is None:
            known = object.__new__(cls)
            known.fields, known.low, known.high = fields, low, high
            known.digest = _digest(cls.__name__, fields)
            Term._table[key] = known
        return known

    def children(self) -> tuple[Term, ...]:
        return tuple(field for field in self.fields if isinstance(field, Term))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.fields, self.low, self.high))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.fields!r}"


class Const(Term):
    """fields: (value,)"""

    __slots__ = ()

    @property
    def value(self) -> Size:
        return self.fields[0]


class Var(Term):
    """A coordinate.  fields: (name, low, high)"""

    __slots__ = ()

    @property
    def name(self) -> str:
        return self.fields[0]

    @property
    def extent(self) -> Size | None:
        """How many values it has, None when unbounded."""
        return None if self.low is None or self.high is None else self.high - self.low + 1


class Sum(Term):
    """fields: (constant, ((term, coefficient), ...)), sorted, no zero coefficient"""

    __slots__ = ()

    @property
    def constant(self) -> Size:
        return self.fields[0]

    @property
    def parts(self) -> tuple[tuple[Term, Size], ...]:
        return self.fields[1]

    def children(self) -> tuple[Term, ...]:
        return tuple(term for term, _ in self.fields[1])


class Product(Term):
    __slots__ = ()


class FloorDiv(Term):
    """fields: (x, divisor)"""

    __slots__ = ()


class Mod(Term):
    """fields: (x, divisor)"""

    __slots__ = ()


class Digit(Term):
    """fields: (x, radices, k).  For k > 0: (x // prod(radices[k+1:])) % radices[k]."""

    __slots__ = ()


class Xor(Term):
    __slots__ = ()


class And(Term):
    __slots__ = ()


class Or(Term):
    __slots__ = ()


class ShiftLeft(Term):
    """fields: (x, amount): x * 2**amount"""

    __slots__ = ()


class ShiftRight(Term):
    """fields: (x, amount): floor(x / 2**amount)"""

    __slots__ = ()


# -- constructors ------------------------------------------------------------------------------
def const(value: Size) -> Term:
    return Const.make((value,), value, value)


def var(name: str, low: Size | None, high: Size | None) -> Var:
    """A coordinate with values low..high inclusive (None: unbounded)."""
    return Var.make((name, low, high), low, high)  # type: ignore[return-value]


def coordinate(name: str, extent: Size) -> Var:
    """A coordinate with values 0..extent-1."""
    return var(name, 0, extent - 1)


def linear(parts: Iterable[tuple[Term, Size]], constant: Size = 0) -> Term:
    """constant + sum of coefficient * term; c*d*(x // d) + c*(x % d) is c*x."""
    found: dict[Term, Size] = {}
    for term, coefficient in parts:
        if isinstance(term, Const):
            constant = constant + term.value * coefficient
        elif isinstance(term, Sum):
            constant = constant + term.constant * coefficient
            for inner, c in term.parts:
                found[inner] = found.get(inner, 0) + c * coefficient
        else:
            found[term] = found.get(term, 0) + coefficient
    kept = [(term, c) for term, c in found.items() if not (isinstance(c, int) and c == 0)]
    if not kept:
        return const(constant)
    for term, c in kept:
        if isinstance(term, Mod):
            x, divisor = term.fields
            quotient = FloorDiv.make((x, divisor), *_quotient_range(x, divisor))
            if quotient in found and found[quotient] == c * divisor:
                others = [part for part in kept if part[0] is not term and part[0] is not quotient]
                return linear([*others, (x, c)], constant)
    if len(kept) == 1 and kept[0][1] == 1 and constant == 0:
        return kept[0][0]
    kept.sort(key=lambda part: part[0].digest)
    low: Size | None = constant
    high: Size | None = constant
    for term, c in kept:
        below, above = bounds(c)
        if below is not None and below >= 0:
            least, most = term.low, term.high
        elif above is not None and above <= 0:
            least, most = term.high, term.low
        else:
            least = most = None
        low = None if low is None or least is None else low + c * least
        high = None if high is None or most is None else high + c * most
    return Sum.make((constant, tuple(kept)), low, high)


def add(*terms: Term) -> Term:
    return linear((term, 1) for term in terms)


def scale(term: Term, factor: Size) -> Term:
    return linear([(term, factor)])


def multiply(a: Term, b: Term) -> Term:
    if isinstance(a, Const):
        return scale(b, a.value)
    if isinstance(b, Const):
        return scale(a, b.value)
    if a.digest > b.digest:
        a, b = b, a
    low = high = None
    if _nonnegative(a) and _nonnegative(b) and a.low is not None and b.low is not None:
        low = a.low * b.low
        high = None if a.high is None or b.high is None else a.high * b.high
    elif all(isinstance(bound, int) for bound in (a.low, a.high, b.low, b.high)):
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]  # type: ignore[operator]
        low, high = min(corners), max(corners)  # type: ignore[type-var]
    return Product.make((a, b), low, high)


def floordiv(x: Term, divisor: Size) -> Term:
    """x // divisor for a positive divisor."""
    return divmod_terms(x, divisor)[0]


def mod(x: Term, divisor: Size) -> Term:
    """x % divisor for a positive divisor, in 0..divisor-1."""
    return divmod_terms(x, divisor)[1]


def divmod_terms(x: Term, divisor: Size) -> tuple[Term, Term]:
    """Quotient and remainder, simplified where ranges allow it.

    Raises:
        DimError: a divisor that is an int below 1.
    """
    if isinstance(divisor, int) and divisor < 1:
        raise DimError(f"a divisor is a positive int or a Dim; got {divisor}")
    exact = _split_at(x, divisor)
    if exact is not None:
        return exact
    if isinstance(x, FloorDiv):  # (y // a) // b = y // (a*b)
        inner, first = x.fields
        quotient = FloorDiv.make((inner, first * divisor), *_quotient_range(inner, first * divisor))
    else:
        quotient = FloorDiv.make((x, divisor), *_quotient_range(x, divisor))
    return quotient, Mod.make((x, divisor), 0, divisor - 1)


def split(x: Term, radices: Sequence[Size]) -> list[Term]:
    """The digits of x, one for each radix, most significant first (which is not reduced).

    Where x is itself a sum over coordinates, it is cut at every boundary at which it falls apart
    into a multiple of the boundary and a rest below it; only what is left becomes a division.
    """
    if not radices:
        return []
    if len(radices) == 1:
        return [x]
    below: Size = 1
    cuts: list[tuple[int, Size]] = []
    for k in range(len(radices) - 1, 0, -1):
        below = below * radices[k]
        cuts.append((k, below))
    for k, boundary in reversed(cuts):
        parts = _split_at(x, boundary)
        if parts is not None:
            return split(parts[0], radices[:k]) + split(parts[1], radices[k:])
    # A radix of one is always digit 0; the others are the digits of x by what is left.
    kept = [k for k, radix in enumerate(radices) if k == 0 or radix != 1]
    left = tuple(radices[k] for k in kept)
    if len(left) == 1:
        digits = {kept[0]: x}
    else:
        digits = {k: _digit(x, left, position) for position, k in enumerate(kept)}
    return [digits[k] if k in digits else const(0) for k in range(len(radices))]


def xor(a: Term, b: Term) -> Term:
    """a ^ b; twice the same is nothing, and what lies above the lower side's bits is untouched."""
    if isinstance(a, Const) and isinstance(b, Const) and _ints(a, b):
        return const(a.value ^ b.value)  # type: ignore[operator]
    if a is b:
        return const(0)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const) and one.value == 0:
            return other
        if isinstance(one, Xor) and other in one.fields:
            return one.fields[0] if other is one.fields[1] else one.fields[1]
        if isinstance(other.high, int) and _nonnegative(other) and not isinstance(one, Const):
            parts = _split_at(one, 1 << other.high.bit_length())
            if parts is not None and not (isinstance(parts[0], Const) and parts[0].value == 0):
                above = scale(parts[0], 1 << other.high.bit_length())
                return add(above, xor(parts[1], other))
    shared = min(_trailing_zeros(a), _trailing_zeros(b))
    if shared:
        return scale(xor(_shifted(a, shared), _shifted(b, shared)), 1 << shared)
    if a.digest > b.digest:
        a, b = b, a
    low, high = _bit_range(a, b)
    return Xor.make((a, b), low, high)


def bit_and(a: Term, b: Term) -> Term:
    """a & b; with a mask 2**k - 1 it is the remainder by 2**k."""
    if isinstance(a, Const) and isinstance(b, Const) and _ints(a, b):
        return const(a.value & b.value)  # type: ignore[operator]
    if isinstance(a, Const):
        a, b = b, a
    if isinstance(b, Const) and isinstance(b.value, int) and b.value >= 0:
        if b.value & (b.value + 1) == 0:
            return mod(a, b.value + 1)
        return And.make((a, b), 0, b.value)
    if a.digest > b.digest:
        a, b = b, a
    low, high = _bit_range(a, b)
    if _nonnegative(a) and isinstance(a.high, int):
        low, high = 0, a.high
    if _nonnegative(b) and isinstance(b.high, int):
        low, high = 0, b.high if high is None else min(high, b.high)  # type: ignore[type-var]
    return And.make((a, b), low, high)


def bit_or(a: Term, b: Term) -> Term:
    """a | b; 0 on either side gives the other."""
    if isinstance(a, Const) and isinstance(b, Const) and _ints(a, b):
        return const(a.value | b.value)  # type: ignore[operator]
    if a is b:
        return a
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const) and one.value == 0:
            return other
    if a.digest > b.digest:
        a, b = b, a
    low, high = _bit_range(a, b)
    return Or.make((a, b), low, high)


def shift_left(x: Term, amount: Term) -> Term:
    """x * 2**amount.

    Raises:
        DimError: an amount that may be negative, or above `MOST_SHIFTED`.
    """
    least, most = _shift_range(amount)
    if isinstance(amount, Const) and least == most:
        return scale(x, 1 << least)
    low = high = None
    if isinstance(x.low, int):
        low = x.low << least if x.low >= 0 else None if most is None else x.low << most
    if isinstance(x.high, int):
        high = x.high << least if x.high <= 0 else None if most is None else x.high << most
    return ShiftLeft.make((x, amount), low, high)


def shift_right(x: Term, amount: Term) -> Term:
    """floor(x / 2**amount); amounts as for `shift_left`."""
    least, most = _shift_range(amount)
    if isinstance(amount, Const) and least == most:
        return floordiv(x, 1 << least)
    low: Size | None = None
    high: Size | None = None
    if isinstance(x.low, int) and x.low < 0:
        low = x.low >> least
    elif _nonnegative(x):
        low = x.low >> most if isinstance(x.low, int) and most is not None else 0
        high = x.high
    if isinstance(x.high, int):
        high = x.high >> least if x.high >= 0 else -1 if most is None else x.high >> most
    return ShiftRight.make((x, amount), low, high)


@contextmanager
def recorded_splits() -> Iterator[list[tuple[Size, Term]]]:
    """Collects the (boundary, remainder) of every cut that simplification makes inside the block.

    Each cut is one instance of the division step `x = q*b + r, 0 <= r < b`: a proof that closes by
    simplification lists them, so that another solver can check the remainders' ranges.
    """
    record: list[tuple[Size, Term]] = []
    _recorder.append(record)
    try:
        yield record
    finally:
        _recorder.remove(record)


# -- inside ------------------------------------------------------------------------------------
_recorder: list[list[tuple[Size, Term]]] = []


def _split_at(x: Term, boundary: Size) -> tuple[Term, Term] | None:
    """x as (q, r) with x = q*boundary + r and 0 <= r < boundary, when ranges show it; else None.

    Parts whose coefficient the boundary divides go to q.  One part may be cut itself: c*t with
    boundary = c*n is c*n*(t // n) + c*(t % n).
    """
    found = _find_split(x, boundary)
    if found is not None and _recorder:
        _recorder[-1].append((boundary, found[1]))
    return found


def _find_split(x: Term, boundary: Size) -> tuple[Term, Term] | None:
    if boundary == 1:
        return x, const(0)
    if isinstance(x, Xor):
        return _split_xor(x, boundary)
    if isinstance(x, Sum):
        parts, constant = x.parts, x.constant
    elif isinstance(x, Const):
        parts, constant = (), x.value
    else:
        parts, constant = ((x, 1),), 0
    if isinstance(constant, int) and isinstance(boundary, int):
        high_constant, low_constant = divmod(constant, boundary)
    else:
        whole = divide_exactly(constant, boundary)
        high_constant, low_constant = (0, constant) if whole is None else (whole, 0)
    above: list[tuple[Term, Size]] = []
    under: list[tuple[Term, Size]] = []
    for term, c in parts:
        ratio = divide_exactly(c, boundary)
        if ratio is None:
            under.append((term, c))
        else:
            above.append((term, ratio))
    rest = linear(under, low_constant)
    if _within(rest, boundary):
        return linear(above, high_constant), rest
    # cut the one part that reaches over the boundary
    for position, (term, c) in enumerate(under):
        ratio = divide_exactly(boundary, c)
        if ratio is None or not at_least(ratio, 2) or isinstance(term, FloorDiv | Mod | Digit):
            continue
        if len(under) == 1 and low_constant == 0 and term is x:
            continue  # nothing was gained: x // boundary itself
        quotient, remainder = divmod_terms(term, ratio)
        others = under[:position] + under[position + 1 :]
        rest = linear([*others, (remainder, c)], low_constant)
        if _within(rest, boundary):
            return linear([*above, (quotient, 1)], high_constant), rest
    return None


def _split_xor(x: Xor, boundary: Size) -> tuple[Term, Term] | None:
    """Both sides of an XOR cut at a power of two, where one of them has nothing above or below."""
    if not isinstance(boundary, int) or boundary & (boundary - 1):
        return None
    sides = [divmod_terms(side, boundary) for side in x.fields]
    for part in (0, 1):
        if any(isinstance(side[part], Const) and side[part].value == 0 for side in sides):  # type: ignore[union-attr]
            return xor(sides[0][0], sides[1][0]), xor(sides[0][1], sides[1][1])
    return None


def _trailing_zeros(x: Term) -> int:
    """How many low bits are surely 0, by the coefficients (at most 64)."""
    numbers = [x.constant, *(c for _, c in x.parts)] if isinstance(x, Sum) else []
    if isinstance(x, Const):
        numbers = [x.value]
    if not numbers or not all(isinstance(number, int) for number in numbers):
        return 0
    found = [int(number) & -int(number) for number in numbers if number != 0]  # type: ignore[arg-type]
    return min(min(found, default=1 << 64).bit_length() - 1, 64)


def _shifted(x: Term, bits: int) -> Term:
    """x / 2^bits for an x with so many trailing zeros."""
    if isinstance(x, Const):
        return const(int(x.value) >> bits)  # type: ignore[arg-type]
    return linear(((term, int(c) >> bits) for term, c in x.parts), int(x.constant) >> bits)  # type: ignore[attr-defined, arg-type]


def _within(rest: Term, boundary: Size) -> bool:
    return (
        rest.low is not None
        and rest.high is not None
        and at_least(rest.low, 0)
        and at_least(boundary - 1 - rest.high, 0)
    )


def _digit(x: Term, radices: tuple[Size, ...], k: int) -> Term:
    if k > 0:
        return Digit.make((x, radices, k), 0, radices[k] - 1)
    low, high = _quotient_range(x, size_product(radices[1:]))
    return Digit.make((x, radices, k), low, high)


def _quotient_range(x: Term, divisor: Size) -> tuple[Size | None, Size | None]:
    low: Size | None = None
    high: Size | None = None
    if isinstance(x.low, int) and isinstance(divisor, int):
        low = x.low // divisor
    elif _nonnegative(x):
        low = 0
    if x.high is not None:
        if isinstance(x.high, int) and isinstance(divisor, int):
            high = x.high // divisor
        else:
            ratio = divide_exactly(x.high + 1, divisor)
            high = size_floordiv(x.high, divisor) if ratio is None else ratio - 1
    return low, high


def _nonnegative(term: Term) -> bool:
    return term.low is not None and at_least(term.low, 0)


def _shift_range(amount: Term) -> tuple[int, int | None]:
    """Least and greatest number of bits to shift by (None: a Dim without bound)."""
    least = None if amount.low is None else bounds(amount.low)[0]
    most = None if amount.high is None else bounds(amount.high)[1]
    if least is None or least < 0 or (most is not None and most > MOST_SHIFTED):
        shown = f"{'-inf' if least is None else least}..{'inf' if most is None else most}"
        shown = str(least) if least == most else shown
        raise DimError(f"a shift is by 0..{MOST_SHIFTED} bits; got {shown}")
    return least, most


def _ints(*terms: Const) -> bool:
    return all(isinstance(term.value, int) for term in terms)


def _bit_range(a: Term, b: Term) -> tuple[Size | None, Size | None]:
    """The range of a bitwise operation: as many bits as the wider side, with its sign."""
    if not all(isinstance(bound, int) for bound in (a.low, a.high, b.low, b.high)):
        return (0 if _nonnegative(a) and _nonnegative(b) else None), None
    width = max(int(bound).bit_length() for bound in (a.low, a.high, b.low, b.high))  # type: ignore[arg-type]
    top = (1 << width) - 1
    return (0 if _nonnegative(a) and _nonnegative(b) else -top - 1), top


def _digest(kind: str, fields: tuple[Any, ...]) -> bytes:
    """A structural fingerprint: orders terms the same way in every process."""
    state = blake2b(kind.encode(), digest_size=12)

    def feed(value: Any) -> None:
        if isinstance(value, Term):
            state.update(value.digest)
        elif isinstance(value, tuple):
            state.update(b"(")
            for part in value:
                feed(part)
            state.update(b")")
        elif isinstance(value, Polynomial):
            state.update(value.call_text().encode() + b";")
        else:
            state.update(repr(value).encode() + b";")

    feed(fields)
    return state.digest()


def _rebuild(cls: type[Term], fields: tuple[Any, ...], low: Size | None, high: Size | None) -> Term:
    return cls.make(fields, low, high)
