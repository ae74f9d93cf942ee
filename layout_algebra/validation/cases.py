"""The two cases of a validation: threads that have an element, and threads beyond the last one.

In the first, the thread's number is written in digits of a mixed radix, taken from the divisors of
the map: what the map divides by falls apart into digits, and what the compiled code divides by does
too, so that both come out as the same terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from layout_algebra import terms
from layout_algebra.conditions import Condition, at_most
from layout_algebra.dims import product
from layout_algebra.folding import Fold, subterms, variables
from layout_algebra.maps import Map
from layout_algebra.terms import Digit, FloorDiv, Mod, Term, Var
from layout_algebra.validation.contracts import (
    ADDRESS_BITS,
    Program,
    address_of,
    arguments_of,
    base_of,
)
from layout_algebra.validation.forms import either, exclusive, modulo, quotient
from layout_algebra.validation.grids import Grid
from layout_algebra.validation.symbolic import Execution, execute
from layout_algebra.validation.words import Word


@dataclass(frozen=True)
class Wanted:
    """One store that has to be made."""

    space: str
    address: Word
    value: Word
    array: Var | None = None


@dataclass(frozen=True)
class Case:
    """Some threads (or calls): their number, what is known of them, and what they have to store.

    `coordinates` are the terms of the map's coordinates.
    """

    about: str
    program: Program
    thread: Term
    coordinates: Mapping[Var, Term]
    known: tuple[Condition, ...]
    wanted: tuple[Wanted, ...]

    @cached_property
    def execution(self) -> Execution:
        """What the compiled code does in this case.

        Raises:
            NotATerm: symbolic execution does not get through.
        """
        at = {variable.name: term for variable, term in self.coordinates.items()}
        contract = self.program.contract
        grid = Grid(self.thread, max(contract.threads, 1), contract.block)
        return execute(self.program.function, arguments_of(self.program, at), grid, self.known)

    @property
    def moves(self) -> bool:
        """Whether what is stored are addresses, those that values were loaded from."""
        return False

    def variables(self) -> list[Var]:
        """What says which thread, or which call."""
        found = variables([self.thread, *self.coordinates.values()])
        return sorted(found, key=lambda variable: variable.name)


def cases_of(program: Program) -> tuple[Case, ...]:
    """The two cases of an entry, or the one case of a function."""
    f = program.flat
    if not program.function.is_entry:
        same: dict[Var, Term] = {variable: variable for variable in f.coordinates}
        zero = terms.const(0)
        return (Case("a call", program, zero, same, (), _wanted(program, same, zero)),)
    (flat,) = f.coordinates
    thread, known = in_digits(f, min(program.size, program.contract.threads))
    about = "a thread that has an element"
    wanted = _wanted(program, {flat: thread}, thread)
    cases = [Case(about, program, thread, {flat: thread}, known, wanted)]
    if program.contract.threads > program.size:
        beyond = terms.var("thread", program.size, program.contract.threads - 1)
        about = "a thread beyond the elements"
        cases.append(Case(about, program, beyond, {flat: beyond}, (), ()))
    return tuple(cases)


def _wanted(program: Program, values: Mapping[Var, Term], index: Term) -> tuple[Wanted, ...]:
    """What has to be stored: each output's place, at the index of its element."""
    f, contract = program.flat, program.contract
    outputs = dict(zip(f.axes, plain((t for _, t in f.outputs), values), strict=True))
    found: list[Wanted] = []
    for one in contract.outputs:
        array = base_of(program, one)
        address = Word(address_of(program, one, index), ADDRESS_BITS)
        found.append(Wanted("global", address, Word(outputs[one.axis], one.bits), array))
    if contract.result is not None:
        (result,) = program.function.results
        value = Word(outputs[contract.result], result.bits)
        found.append(Wanted(result.name, Word(terms.const(0), ADDRESS_BITS), value))
    return tuple(found)


def in_digits(f: Map, count: int) -> tuple[Term, tuple[Condition, ...]]:
    """One of the first `count` threads, and what has to be known beside the range of its number."""
    (flat,) = f.coordinates
    size = _int(f.size)
    boundaries = _boundaries(f, flat, size)
    extents = [high // low for low, high in pairwise(boundaries)]
    extents.append(-(-size // boundaries[-1]))
    parts = [
        (terms.coordinate(f"d{k}", extent), low)
        for k, (extent, low) in enumerate(zip(extents, boundaries, strict=True))
        if extent > 1
    ]
    thread = terms.linear(parts)
    if thread.high == count - 1:
        return thread, ()
    return thread, (at_most(thread, count - 1),)


def _boundaries(f: Map, flat: Var, size: int) -> list[int]:
    """Divisors of the flat index, from 1, each a multiple of the one before it."""
    found: set[int] = set()
    for term in subterms(term for _, term in f.outputs):
        if term.fields and term.fields[0] is flat:
            if isinstance(term, FloorDiv | Mod):
                found.add(_int(term.fields[1]))
            elif isinstance(term, Digit):
                radices = term.fields[1]
                found |= {_int(product(radices[k:])) for k in range(1, len(radices))}
    chain = [1]
    for boundary in sorted(found):
        if boundary < size and boundary % chain[-1] == 0 and boundary > chain[-1]:
            chain.append(boundary)
    return chain


def plain(roots: Iterable[Term], values: Mapping[Var, Term]) -> list[Term]:
    """Terms with coordinates put in, and digits written as quotients and remainders."""
    fold = Fold(_Plain(values))
    return [fold(root) for root in roots]


class _Plain:
    """Rebuilds terms as symbolic execution would build them; an interpreter of terms."""

    def __init__(self, values: Mapping[Var, Term]) -> None:
        self.values = values

    def const(self, value: object) -> Term:
        return terms.const(_int(value))

    def var(self, term: Var) -> Term:
        return self.values.get(term, term)

    def linear(self, constant: object, parts: Sequence[tuple[Term, object]]) -> Term:
        return terms.linear([(t, _int(c)) for t, c in parts], _int(constant))

    def product(self, a: Term, b: Term) -> Term:
        return terms.multiply(a, b)

    def divmod(self, x: Term, divisor: object, term: Term) -> tuple[Term, Term]:
        return quotient(x, _int(divisor)), modulo(x, _int(divisor))

    def digits(self, x: Term, radices: Sequence[object], term: Term) -> list[Term]:
        found: list[Term] = []
        below = 1
        for radix in reversed(radices[1:]):
            found.append(modulo(quotient(x, below), _int(radix)))
            below *= _int(radix)
        return [quotient(x, below), *reversed(found)]

    def xor(self, a: Term, b: Term, term: Term) -> Term:
        return exclusive(a, b)

    def bit_and(self, a: Term, b: Term, term: Term) -> Term:
        return terms.bit_and(a, b)

    def bit_or(self, a: Term, b: Term, term: Term) -> Term:
        return either(a, b)

    def shift_left(self, x: Term, amount: Term, term: Term) -> Term:
        return terms.shift_left(x, amount)

    def shift_right(self, x: Term, amount: Term, term: Term) -> Term:
        return terms.shift_right(x, amount)


def _int(size: object) -> int:
    if not isinstance(size, int):
        raise TypeError(f"{size} is symbolic")  # such maps are refused when the claim is made
    return size
