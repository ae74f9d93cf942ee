"""Questions: "is there a point at which all of these hold?", asked of integer terms.

The negation of a claim is one question or several; the claim holds when none has an answer.  A
question is plain data over terms, so any interpreter can serve it: Z3 searches, the integer
interpreter replays what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from layout_algebra.arithmetic import integers
from layout_algebra.conditions import Condition
from layout_algebra.dims import Relation, Symbol, evaluate, symbols
from layout_algebra.folding import term_symbols, variables
from layout_algebra.terms import Term, Var

Clause = tuple[Condition, ...]


@dataclass(frozen=True)
class Question:
    """Is there a point in the variables' ranges where some condition of every clause holds?

    `relations` are assumed of the Dims; `about` says in words what an answer would be.
    """

    about: str
    clauses: tuple[Clause, ...]
    variables: tuple[Var, ...]
    relations: tuple[Relation, ...] = ()

    def terms(self) -> list[Term]:
        return [condition.term for clause in self.clauses for condition in clause]

    def symbols(self) -> frozenset[Symbol]:
        """Dims in terms, ranges and relations."""
        found = term_symbols([*self.terms(), *self.variables])
        for relation in self.relations:
            found |= symbols(relation.size) | symbols(relation.divisor)
        return found

    def answered_by(self, point: Mapping[Var, int], dims: Mapping[str, int]) -> bool:
        """Whether a point answers it, by the integer interpreter."""
        for variable in self.variables:
            value = point[variable]
            if variable.low is not None and value < evaluate(variable.low, dims):
                return False
            if variable.high is not None and value > evaluate(variable.high, dims):
                return False
        if not all(relation.holds(dims) for relation in self.relations):
            return False
        numbers = dict(
            zip(self.terms(), integers.values_of(self.terms(), point, dims), strict=True)
        )
        return all(any(c.holds(numbers[c.term]) for c in clause) for clause in self.clauses)


def question(
    about: str,
    clauses: Iterable[Clause],
    extra: Iterable[Var] = (),
    relations: Iterable[Relation] = (),
) -> Question:
    """A question over the variables that its clauses mention, and the extra ones."""
    clauses = tuple(clauses)
    found = variables(condition.term for clause in clauses for condition in clause) | set(extra)
    ordered = tuple(sorted(found, key=lambda variable: variable.name))
    return Question(about, clauses, ordered, tuple(relations))
