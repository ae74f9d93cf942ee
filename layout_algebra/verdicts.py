"""Verdicts, witnesses and proofs: what the prover answers.  No solver here.

    REFUTED < UNDECIDED < VACUOUS < PROVED

REFUTED comes with a witness that was replayed through the integer interpreter.  VACUOUS means that
the assumptions contradict each other, so that the claim says nothing.  UNDECIDED says what ran out,
and never counts as a pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from layout_algebra.showing import Shown

if TYPE_CHECKING:
    from networkx import DiGraph


class Statement(Protocol):
    """What a proof is about: a claim, as far as this file has to know it."""

    @property
    def name(self) -> str: ...


class Verdict(IntEnum):
    """The four answers, ordered: a conjunction has the least verdict of its parts."""

    REFUTED = 0
    UNDECIDED = 1
    VACUOUS = 2
    PROVED = 3

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Witness:
    """A counterexample.

    Attributes:
        summary: one sentence, with the values.
        points: the coordinates, one dict for each element concerned.
        places: the places that those elements have (or the place that is not covered).
        dims: values of the Dims, by name.
    """

    summary: str
    points: tuple[dict[str, int], ...] = ()
    places: tuple[dict[str, int], ...] = ()
    dims: dict[str, int] = field(default_factory=dict[str, int])

    def __str__(self) -> str:
        with_dims = ", ".join(f"{name} = {value}" for name, value in self.dims.items())
        return self.summary + (f"  (with {with_dims})" if with_dims else "")

    def to_json(self) -> dict[str, Any]:
        return {
            "summary": self.summary,
            "points": list(self.points),
            "places": list(self.places),
            "dims": self.dims,
        }


@dataclass(frozen=True)
class Query:
    """One satisfiability problem as text, and what a solver said of it.

    Attributes:
        about: what an answer would be, in words.
        logic: the SMT-LIB logic.
        smt2: the SMT-LIB 2 text, with `set-logic` and `check-sat`.
        result: "unsat", "sat", "unknown", or None when it was not run.
        rlimit: solver resource units that were used (deterministic), None when it was not run.
    """

    about: str
    logic: str
    smt2: str
    result: str | None = None
    seconds: float = 0.0
    rlimit: int | None = None

    @property
    def key(self) -> str:
        """The hash that names its file."""
        from hashlib import sha256

        return sha256(self.smt2.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Step:
    """One step of a proof: a rule, the lemmas (theorems in proofs/) that license it, and queries.

    `queries` is made when it is asked for, so that proofs by structure stay cheap; and once, since
    Z3 may write one query in several ways.
    """

    rule: str
    detail: str = ""
    lemmas: tuple[str, ...] = ()
    make_queries: Callable[[], tuple[Query, ...]] = tuple

    def queries(self) -> tuple[Query, ...]:
        return self._made

    @cached_property
    def _made(self) -> tuple[Query, ...]:
        return self.make_queries()


@dataclass(frozen=True)
class Proof(Shown):
    """The answer to `prove(claim)`.

    Attributes:
        claim: what was asked.
        verdict: see the module's text.
        method: how it was decided: "structure: ...", "solver: ...", "enumeration", ...
        seconds: wall-clock time.
        witness: the counterexample of a refutation.
        reason: what ran out, when UNDECIDED; which assumptions clash, when VACUOUS.
        steps: how it was decided; `queries()` and `graph` unfold them.
        parts: the proofs of a conjunction's parts.
    """

    claim: Statement
    verdict: Verdict
    method: str
    seconds: float = 0.0
    witness: Witness | None = None
    reason: str = ""
    steps: tuple[Step, ...] = ()
    parts: tuple[Proof, ...] = ()
    given: tuple[Any, ...] = ()

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a Proof has no truth value: compare .verdict, or use assert_proved(claim), so that "
            "UNDECIDED cannot pass for a proof"
        )

    def queries(self) -> tuple[Query, ...]:
        """Every query behind the verdict, those of the parts included, each once."""
        found: dict[str, Query] = {}
        for step in self.steps:
            for query in step.queries():
                found.setdefault(query.key, query)
        for part in self.parts:
            for query in part.queries():
                found.setdefault(query.key, query)
        return tuple(found.values())

    def lemmas(self) -> tuple[str, ...]:
        """Names of the theorems that the proof's rules rest on."""
        found = dict.fromkeys(lemma for step in self.steps for lemma in step.lemmas)
        for part in self.parts:
            found |= dict.fromkeys(part.lemmas())
        return tuple(found)

    @property
    def graph(self) -> DiGraph[str]:
        """claim -> rule -> lemma and query, as a networkx DiGraph with a `kind` on every node."""
        from networkx import DiGraph  # loaded when a graph is asked for

        graph: DiGraph[str] = DiGraph()
        self._grow(graph)
        return graph

    def _grow(self, graph: DiGraph[str]) -> str:
        root = str(self.claim)
        graph.add_node(root, kind="claim", verdict=str(self.verdict), method=self.method)
        for step in self.steps:
            rule = f"{step.rule} <- {root}"
            graph.add_node(rule, kind="rule", label=step.rule, detail=step.detail)
            graph.add_edge(root, rule)
            for lemma in step.lemmas:
                graph.add_node(lemma, kind="lemma")
                graph.add_edge(rule, lemma)
            for query in step.queries():
                graph.add_node(query.key, kind="query", logic=query.logic, about=query.about)
                graph.add_edge(rule, query.key)
        for part in self.parts:
            graph.add_edge(root, part._grow(graph))
        return root

    def __str__(self) -> str:
        time = f"{self.seconds * 1e3:.2f} ms"
        text = f"{self.verdict} {self.claim}  [{self.method}, {time}]"
        if self.witness is not None:
            text += f"\n  {self.witness}"
        if self.reason:
            text += f"\n  {self.reason}"
        return text

    def __repr__(self) -> str:
        return str(self)
