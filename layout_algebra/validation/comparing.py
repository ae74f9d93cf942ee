"""A case's compiled stores against those that it has to make: what is left to be asked.

    findings = compare(case)
    findings.questions          # empty: every store of every path is the wanted one

Stores are paired by their addresses.  Where an address or a value is not the wanted one by its
terms, "they differ" becomes a question over the thread's digits; a path that stores too little, too
much or in another size is wrong for every thread that takes it, and the question is whether one
does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from layout_algebra import terms
from layout_algebra.conditions import Condition, at_most, differs
from layout_algebra.folding import variables
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import Term
from layout_algebra.validation.cases import Case, Wanted
from layout_algebra.validation.contracts import Program, address_of, base_of
from layout_algebra.validation.symbolic import Path, Placed
from layout_algebra.validation.words import Word, congruent, signed, unsigned


@dataclass(frozen=True)
class Findings:
    """What came of comparing one case.

    Attributes:
        questions: what is open; an answer is a thread that stores something else.
        stores: how many stores are the wanted ones by their terms.
        beside: what stores depend on beside the thread's number: %ntid and its like, where arrays
            are (but for the addresses in them), parameters that may hold anything.
    """

    questions: tuple[Question, ...]
    stores: int
    beside: frozenset[str]


def compare(case: Case) -> Findings:
    """Every path's stores against the wanted ones.

    Raises:
        NotATerm: symbolic execution does not get through.
    """
    found: list[Question] = []
    closed = 0
    beside: set[str] = set()
    for path in case.execution.paths:
        wrong = _differences(path, case.wanted)
        beside |= _beside(case, path)
        if wrong == ():
            closed += len(case.wanted)
            continue
        clauses: list[Clause] = [(condition,) for condition in (*case.known, *path.conditions)]
        if wrong is not None:
            clauses.append(wrong)
        clauses += _arrays_apart(case, clauses)
        found.append(question(f"{case.about} stores something else", clauses, case.variables()))
    return Findings(tuple(found), closed, frozenset(beside))


def _differences(path: Path, wanted: Sequence[Wanted]) -> Clause | None:
    """What may differ on a path, as alternatives; None: something does, on all of it."""
    stores = _last_ones(path.stores)
    if len(stores) != len(wanted):
        return None
    found: list[Condition] = []
    left = list(stores)
    for want in wanted:
        store = _partner(want, left)
        left.remove(store)
        if store.bits != want.value.bits or store.space != want.space:
            return None
        if not _same_address(store, want):
            found.append(differs(unsigned(store.address), unsigned(want.address)))
        if not _same_value(store, want):
            found.append(differs(*_values(store, want)))
    return tuple(found)


def _values(store: Placed, want: Wanted) -> tuple[Term, Term]:
    """Two numbers that are equal where the values are, in the simpler of two ways."""
    gap = signed(Word(terms.linear([(store.value.term, 1), (want.value.term, -1)]), store.bits))
    plain = unsigned(Word(store.value.term, store.bits)), unsigned(want.value)
    if any(isinstance(side, terms.Mod) for side in plain):
        return gap, terms.const(0)
    return plain


def _partner(want: Wanted, stores: Sequence[Placed]) -> Placed:
    """The store that is at the wanted address, or else in the same array, or else any."""
    for store in stores:
        if store.bits == want.value.bits and _same_address(store, want):
            return store
    for store in stores:
        if want.array in variables([store.address.term]):
            return store
    return stores[0]


def _last_ones(stores: Iterable[Placed]) -> list[Placed]:
    """The stores without those that a later one overwrites."""
    kept: list[Placed] = []
    for store in stores:
        kept = [
            one
            for one in kept
            if one.space != store.space
            or one.bits > store.bits
            or not congruent(one.address.term, store.address.term, store.address.bits)
        ]
        kept.append(store)
    return kept


def _same_address(store: Placed, want: Wanted) -> bool:
    return store.space == want.space and congruent(
        store.address.term, want.address.term, want.address.bits
    )


def _same_value(store: Placed, want: Wanted) -> bool:
    if congruent(store.value.term, want.value.term, store.bits):
        return True
    return unsigned(Word(store.value.term, store.bits)) is unsigned(want.value)


def _arrays_apart(case: Case, clauses: Sequence[Clause]) -> list[Clause]:
    """That the arrays do not overlap, where a question speaks of several of them."""
    program = case.program
    used = variables(condition.term for clause in clauses for condition in clause)
    arrays = [one for one in program.contract.outputs if base_of(program, one) in used]
    found: list[Clause] = []
    for one, other in combinations(arrays, 2):
        (start, end), (first, last) = (
            [address_of(program, x, terms.const(index)) for index in (0, program.places)]
            for x in (one, other)
        )
        found.append((at_most(end, first), at_most(last, start)))
    return found


def _within(program: Program, address: Term) -> Term:
    """An address as one from the start of the array in which it is."""
    for one in program.contract.outputs:
        if base_of(program, one) in variables([address]):
            start = address_of(program, one, terms.const(0))
            return terms.linear([(address, 1), (start, -1)])
    return address


def _beside(case: Case, path: Path) -> set[str]:
    """What conditions, values and offsets in the arrays depend on, beside the thread's number."""
    program = case.program
    inner: list[Term] = [condition.term for condition in path.conditions]
    for store in path.stores:
        value = store.value.term
        inner.append(_within(program, value) if case.moves else value)
        inner.append(_within(program, store.address.term))
    return {variable.name for variable in variables(inner) - set(case.variables())}
