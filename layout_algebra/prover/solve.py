"""Questions to Z3: choose the encoding, build the query, run it within a budget, read the answer.

The encoding decides everything: integers with digits where the terms are sums and divisions
(QF_LIA, or QF_NIA with symbolic sizes), bit-vectors where there is XOR.  The two are never mixed in
one query.  Budgets are Z3 resource units, which are deterministic; the wall clock only caps them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import z3

from layout_algebra.conditions import Condition
from layout_algebra.dims import Relation, Size
from layout_algebra.errors import WitnessError
from layout_algebra.folding import Fold, subterms
from layout_algebra.prover.bits import Bits, NoWidth, width_of
from layout_algebra.prover.digits import Digits, NeedsBits
from layout_algebra.prover.dims import Expr, SizeEncoder, number, smt_name
from layout_algebra.questions import Question
from layout_algebra.terms import Product, Var
from layout_algebra.verdicts import Query


@dataclass(frozen=True)
class Budget:
    """Limits of one query: Z3 resource units (deterministic) and seconds (a cap)."""

    rlimit: int = 20_000_000
    seconds: float = 10.0


@dataclass(frozen=True)
class Answer:
    """What Z3 said: `result` "unsat", "sat" or "unknown"; a point and the Dims' values when sat."""

    result: str
    query: Query
    point: dict[Var, int]
    dims: dict[str, int]
    reason: str = ""


class Encoded:
    """A question as Z3 assertions, with the way back from a model to a point."""

    def __init__(self, question: Question, context: z3.Context | None = None) -> None:
        self.question = question
        self.sizes = SizeEncoder(context)
        try:
            if _multiplies(question):  # two numbers below 2^w: bit-vectors do better than NIA
                raise NeedsBits
            self._as_integers()
        except NeedsBits:
            try:
                self._as_bits(context)
            except NoWidth:
                if not _multiplies(question):
                    raise
                self._as_integers()
        names = [smt_name(variable) for variable in self.variables]
        if len(set(names)) != len(names):
            raise WitnessError(f"two variables of one question share a name: {sorted(names)}")

    def _as_integers(self) -> None:
        question, sizes = self.question, self.sizes
        digits = Digits(sizes)
        clauses = _clauses(question, Fold(digits), lambda v: sizes(v), _integer_holds)
        for variable in question.variables:
            digits.var(variable)
        relations = [sizes.relation(relation) for relation in question.relations]
        self.assertions = [*sizes.conditions, *digits.conditions, *relations, *clauses]
        self.variables: dict[Var, Expr] = dict(digits.variables)
        linear = not question.symbols() and not _multiplies(question)
        self.logic = "QF_LIA" if linear else "QF_NIA"

    def _as_bits(self, context: z3.Context | None) -> None:
        question = self.question
        if question.symbols():
            raise NoWidth("bit operations on symbolic sizes")
        bits = Bits(width_of([*question.terms(), *question.variables]), context)
        clauses = _clauses(question, Fold(bits), bits.value, _bits_hold)
        for variable in question.variables:
            bits.var(variable)
        self.assertions = [*bits.conditions, *clauses]
        self.variables = dict(bits.variables)
        self.logic = "QF_BV"

    def smt2(self) -> str:
        """The query as SMT-LIB 2 text."""
        solver = z3.Solver()
        solver.add(*self.assertions)
        return f"(set-logic {self.logic})\n{solver.to_smt2()}"

    def read(self, model: z3.ModelRef) -> dict[Var, int]:
        """The point that a model describes."""
        point: dict[Var, int] = {}
        for variable, value in self.variables.items():
            if isinstance(value, z3.BitVecRef):
                found: Expr = model.eval(value, model_completion=True)
                point[variable] = found.as_signed_long()
            else:
                point[variable] = number(model, value)
        return point


def as_query(question: Question) -> Query:
    """The question as a query that was not run.

    Raises:
        NoWidth: the question cannot be encoded.
    """
    encoded = Encoded(question)
    return Query(question.about, encoded.logic, encoded.smt2())


def products_query(
    about: str, pairs: Iterable[tuple[Sequence[Size], Size]], relations: Iterable[Relation]
) -> Query:
    """Does some product of factors differ from what it should be?  As a query that was not run.

    The products are written out for the solver: polynomials of ours multiply by themselves, and an
    identity between them would already be folded away.
    """
    sizes = SizeEncoder()
    unequal: list[Expr] = []
    for factors, total in pairs:
        made: Expr = sizes(1)
        for factor in factors:
            made = made * sizes(factor)
        unequal.append(made != sizes(total))
    assumed = [sizes.relation(relation) for relation in relations]
    solver = z3.Solver()
    solver.add(*sizes.conditions, *assumed, z3.Or(unequal))
    return Query(about, "QF_NIA", f"(set-logic QF_NIA)\n{solver.to_smt2()}")


def ask(question: Question, budget: Budget) -> Answer:
    """Run one question.

    Raises:
        NoWidth: the question cannot be encoded (bit operations on symbolic or unbounded numbers).
    """
    start = time.perf_counter()
    encoded = Encoded(question)
    solver = _solver(encoded.logic, budget)
    solver.add(*encoded.assertions)
    result = _check(solver)
    seconds = time.perf_counter() - start
    query = _Lazy(question.about, encoded.logic, encoded.smt2, result, seconds, _rlimit(solver))
    if result == "sat":
        model = solver.model()
        point, dims = encoded.read(model), encoded.sizes.values(model)
        return Answer(result, query, point, dims)
    reason = str(solver.reason_unknown()) if result == "unknown" else ""
    return Answer(result, query, {}, {}, reason)


def replay(query: Query, budget: Budget) -> Query:
    """The query with the answer that Z3 gives to its text."""
    start = time.perf_counter()
    solver = _solver(query.logic, budget)
    solver.from_string(query.smt2)
    result = _check(solver)
    seconds = time.perf_counter() - start
    return Query(query.about, query.logic, query.smt2, result, seconds, _rlimit(solver))


@contextmanager
def fresh_context() -> Iterator[None]:
    """Inside, Z3 has forgotten everything: answers do not depend on what was asked before.

    Z3's own order of things depends on all that its context has seen, and with it models, resource
    units, and whether a hard query is decided at all.
    """
    before, spent = z3.z3._main_ctx, _spent[0]
    z3.z3._main_ctx, _spent[0] = z3.Context(), 0
    try:
        yield
    finally:
        z3.z3._main_ctx, _spent[0] = before, spent


def _check(solver: z3.Solver) -> str:
    """What Z3 says; Ctrl-C, which it takes for an answer, is Ctrl-C."""
    result = str(solver.check())
    if result == "unknown" and solver.reason_unknown() == "interrupted from keyboard":
        raise KeyboardInterrupt
    return result


def _solver(logic: str, budget: Budget) -> z3.Solver:
    solver = z3.Solver() if logic == "QF_NIA" else z3.SolverFor(logic)
    solver.set("rlimit", budget.rlimit)
    solver.set("timeout", max(1, int(budget.seconds * 1000)))
    return solver


class _Lazy(Query):
    """A query whose text is made when somebody reads it: printing costs more than solving."""

    def __init__(
        self,
        about: str,
        logic: str,
        make: Callable[[], str],
        result: str,
        seconds: float,
        rlimit: int | None,
    ) -> None:
        super().__init__(about, logic, "", result, seconds, rlimit)
        object.__setattr__(self, "_make", make)

    def __getattribute__(self, name: str) -> object:
        if name == "smt2":
            text = object.__getattribute__(self, "__dict__").get("smt2", "")
            if not text:
                text = object.__getattribute__(self, "_make")()
                object.__setattr__(self, "smt2", text)
            return text
        return object.__getattribute__(self, name)


def _clauses(
    question: Question,
    fold: Fold,
    value: Callable[[int], Expr],
    holds: Callable[[Condition, Expr, Expr], Expr],
) -> list[Expr]:
    zero = value(0)
    out: list[Expr] = []
    for clause in question.clauses:
        conditions = [holds(condition, fold(condition.term), zero) for condition in clause]
        if not conditions:
            out.append(z3.BoolVal(False))
        else:
            out.append(conditions[0] if len(conditions) == 1 else z3.Or(conditions))
    return out


def _integer_holds(condition: Condition, value: Expr, zero: Expr) -> Expr:
    if condition.kind == ">=":
        return value >= zero
    return value == zero if condition.kind == "==" else value != zero


_bits_hold = _integer_holds  # bit-vector comparisons are signed, and the width holds every value


def _multiplies(question: Question) -> bool:
    """Whether variables multiply each other, with numbers for all sizes."""
    return not question.symbols() and any(
        isinstance(term, Product) for term in subterms(question.terms())
    )


_spent = [0]


def _rlimit(solver: z3.Solver) -> int | None:
    """Resource units of the last check: Z3 counts them for the whole process."""
    try:
        total = int(solver.statistics().get_key_value("rlimit count"))
    except z3.Z3Exception:
        return None
    used, _spent[0] = total - _spent[0], total
    return used


__all__ = ["Answer", "Budget", "Encoded", "NoWidth", "as_query", "ask", "fresh_context", "replay"]
