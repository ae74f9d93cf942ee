"""The one traversal of terms, and what is asked of whole graphs.

`Fold` interprets terms bottom-up, each node once; a backend is an `Interpreter`, which says what
each kind of node is, given its children.  Substitution is one too: its answers are terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from layout_algebra.dims import Polynomial, Size, Symbol
from layout_algebra.dims import divisors as size_divisors
from layout_algebra.dims import symbols as size_symbols
from layout_algebra.terms import (
    And,
    Const,
    Digit,
    FloorDiv,
    Mod,
    Or,
    Product,
    ShiftLeft,
    ShiftRight,
    Sum,
    Term,
    Var,
    Xor,
    bit_and,
    bit_or,
    const,
    divmod_terms,
    linear,
    multiply,
    shift_left,
    shift_right,
    split,
    xor,
)

V = TypeVar("V")


class Interpreter(Protocol[V]):
    """What a backend answers for each kind of node, given its children's answers."""

    def const(self, value: Size, /) -> V: ...
    def var(self, term: Var, /) -> V: ...
    def linear(self, constant: Size, parts: Sequence[tuple[V, Size]], /) -> V: ...
    def product(self, a: V, b: V, /) -> V: ...
    def divmod(self, x: V, divisor: Size, term: Term, /) -> tuple[V, V]: ...
    def digits(self, x: V, radices: tuple[Size, ...], term: Term, /) -> Sequence[V]: ...
    def xor(self, a: V, b: V, term: Term, /) -> V: ...
    def bit_and(self, a: V, b: V, term: Term, /) -> V: ...
    def bit_or(self, a: V, b: V, term: Term, /) -> V: ...
    def shift_left(self, x: V, amount: V, term: Term, /) -> V: ...
    def shift_right(self, x: V, amount: V, term: Term, /) -> V: ...


class Fold:
    """Interprets terms bottom-up, each once; keep one Fold for terms that share parts."""

    def __init__(self, interpreter: Interpreter[Any]) -> None:
        self.interpreter = interpreter
        self._done: dict[Term, Any] = {}
        self._divisions: dict[tuple[Term, Any], Any] = {}

    def __call__(self, root: Term) -> Any:
        done = self._done
        stack = [root]
        while stack:
            term = stack[-1]
            if term in done:
                stack.pop()
                continue
            waiting = [child for child in term.children() if child not in done]
            if waiting:
                stack.extend(waiting)
                continue
            done[term] = self._node(term)
            stack.pop()
        return done[root]

    def _node(self, term: Term) -> Any:
        do, done, fields = self.interpreter, self._done, term.fields
        match term:
            case Const():
                return do.const(fields[0])
            case Var():
                return do.var(term)
            case Sum():
                return do.linear(fields[0], [(done[t], c) for t, c in fields[1]])
            case Product():
                return do.product(done[fields[0]], done[fields[1]])
            case FloorDiv() | Mod():
                key = (fields[0], fields[1])
                if key not in self._divisions:
                    self._divisions[key] = do.divmod(done[fields[0]], fields[1], term)
                return self._divisions[key][0 if isinstance(term, FloorDiv) else 1]
            case Digit():
                key = (fields[0], fields[1])
                if key not in self._divisions:
                    self._divisions[key] = do.digits(done[fields[0]], fields[1], term)
                return self._divisions[key][fields[2]]
            case Xor():
                return do.xor(done[fields[0]], done[fields[1]], term)
            case And():
                return do.bit_and(done[fields[0]], done[fields[1]], term)
            case Or():
                return do.bit_or(done[fields[0]], done[fields[1]], term)
            case ShiftLeft():
                return do.shift_left(done[fields[0]], done[fields[1]], term)
            case ShiftRight():
                return do.shift_right(done[fields[0]], done[fields[1]], term)
            case _:
                raise TypeError(f"no such node: {type(term).__name__}")


def variables(roots: Iterable[Term]) -> frozenset[Var]:
    return frozenset(term for term in subterms(roots) if isinstance(term, Var))


def subterms(roots: Iterable[Term]) -> set[Term]:
    """Every node reachable from the roots."""
    seen: set[Term] = set()
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term not in seen:
            seen.add(term)
            stack.extend(term.children())
    return seen


def term_symbols(roots: Iterable[Term]) -> frozenset[Symbol]:
    """The Dims' symbols in constants, coefficients, divisors, radices and coordinate ranges."""
    found: set[Symbol] = set()
    for term in subterms(roots):
        for size in sizes_of(term):
            found |= size_symbols(size)
    return frozenset(found)


def divisors(roots: Iterable[Term]) -> frozenset[Size]:
    """Every symbolic size that something in the terms is divided by."""
    found: set[Size] = set()
    for term in subterms(roots):
        for size in sizes_of(term):
            found |= size_divisors(size)
        if isinstance(term, FloorDiv | Mod):
            found.add(term.fields[1])
        elif isinstance(term, Digit):
            found |= set(term.fields[1][1:])
    return frozenset(size for size in found if not isinstance(size, int))


def sizes_of(term: Term) -> list[Size]:
    """The sizes written in one node."""
    if isinstance(term, Sum):
        return [term.constant, *(c for _, c in term.parts)]
    if isinstance(term, Digit):
        return list(term.fields[1])
    return [field for field in term.fields if isinstance(field, int | Polynomial)]


def substitute(
    root: Term, values: Mapping[Var, Term], size: Callable[[Size], Size] | None = None
) -> Term:
    """The term with coordinates replaced (and sizes rewritten), simplified again on the way up."""
    return Fold(_Substitution(values, size or (lambda value: value)))(root)


class _Substitution:
    """Rebuilds a term through the constructors; an interpreter whose answers are terms."""

    def __init__(self, values: Mapping[Var, Term], size: Callable[[Size], Size]) -> None:
        self.values = values
        self.size = size

    def const(self, value: Size) -> Term:
        return const(self.size(value))

    def var(self, term: Var) -> Term:
        return self.values.get(term, term)

    def linear(self, constant: Size, parts: Sequence[tuple[Term, Size]]) -> Term:
        return linear([(t, self.size(c)) for t, c in parts], self.size(constant))

    def product(self, a: Term, b: Term) -> Term:
        return multiply(a, b)

    def divmod(self, x: Term, divisor: Size, term: Term) -> tuple[Term, Term]:
        return divmod_terms(x, self.size(divisor))

    def digits(self, x: Term, radices: tuple[Size, ...], term: Term) -> list[Term]:
        return split(x, [self.size(radix) for radix in radices])

    def xor(self, a: Term, b: Term, term: Term) -> Term:
        return xor(a, b)

    def bit_and(self, a: Term, b: Term, term: Term) -> Term:
        return bit_and(a, b)

    def bit_or(self, a: Term, b: Term, term: Term) -> Term:
        return bit_or(a, b)

    def shift_left(self, x: Term, amount: Term, term: Term) -> Term:
        return shift_left(x, amount)

    def shift_right(self, x: Term, amount: Term, term: Term) -> Term:
        return shift_right(x, amount)
