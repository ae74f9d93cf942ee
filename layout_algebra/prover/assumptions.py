"""What is given about the Dims: read, checked for clashing names, and for contradiction."""

from __future__ import annotations

from collections.abc import Iterable

from layout_algebra.dims import Relation, Symbol
from layout_algebra.dims import symbols as size_symbols
from layout_algebra.errors import (
    ClaimError,
    DimError,
)
from layout_algebra.prover.options import (
    Options,
)
from layout_algebra.prover.rules import (
    Facts,
)
from layout_algebra.prover.solve import ask
from layout_algebra.questions import question
from layout_algebra.verdicts import Verdict


def relations_given(given: Iterable[Relation | bool]) -> tuple[Relation, ...]:
    if isinstance(given, Relation):
        return (given,)
    if not isinstance(given, Iterable):  # type: ignore[redundant-expr]
        raise ClaimError(f"given= is a list of relations such as ld >= K; got {given!r}")
    found: list[Relation] = []
    for position, relation in enumerate(given):
        if isinstance(relation, Relation):
            found.append(relation)
        elif relation is False:
            raise ClaimError(
                f"given[{position}] is False: == between sizes compares their form; "
                "write equal(a, b) for the relation"
            )
        elif relation is not True:
            raise ClaimError(f"given[{position}] is a relation such as ld >= K; got {relation!r}")
    return tuple(found)


def symbols_of(relations: Iterable[Relation]) -> frozenset[Symbol]:
    found: frozenset[Symbol] = frozenset()
    for relation in relations:
        found |= size_symbols(relation.size) | size_symbols(relation.divisor)
    return found


def check_names(symbols: Iterable[Symbol]) -> None:
    by_name: dict[str, Symbol] = {}
    for symbol in symbols:
        other = by_name.setdefault(symbol.name, symbol)
        if other != symbol:
            raise DimError(f"one name, two Dims: {other.call()} and {symbol.call()} in one claim")


def clash_of(
    facts: Facts, symbols: Iterable[Symbol], options: Options
) -> tuple[Verdict, str] | None:
    """VACUOUS when the assumptions contradict each other; None when some values satisfy them."""
    relations = facts.relations
    ordered = sorted(symbols, key=lambda symbol: symbol.name)
    for step in (1, 2, 4, 0, 3, 8):
        values = {
            s.name: s.multiple_of
            * min(
                max(s.lo, 1) * max(step, 1) if step else s.lo, s.hi if s.hi is not None else 1 << 30
            )
            for s in ordered
        }
        if all(holds(relation, values) for relation in relations):
            return None
    answer = ask(
        question("values that satisfy the assumptions", [], relations=relations), options.budget
    )
    if answer.result == "sat":
        return None
    shown = ", ".join(str(relation) for relation in relations)
    if answer.result == "unsat":
        return Verdict.VACUOUS, f"no values satisfy {shown}"
    return Verdict.UNDECIDED, f"it is not known whether any values satisfy {shown}"


def holds(relation: Relation, values: dict[str, int]) -> bool:
    try:
        return relation.holds(values)
    except (DimError, ZeroDivisionError):
        return False
