"""What a ledger holds: entries, their steps and queries, and what follows from them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from layout_algebra.verdicts import Verdict

FORMAT = "layout_algebra ledger"
VERSION = 1
QUERIES = "queries"
#: The verdict of a theorem that could not be put to the prover, or whose answer does not hold up.
FAILED = "FAILED"
STANDINGS = ("proved", "refuted", "failed", "undecided")
#: How the names of the theorems begin that license the prover's rules.
RULE = "rule: "


def query_key(text: str) -> str:
    """The hash that names a query's file."""
    return sha256(text.encode()).hexdigest()[:24]


def query_file(key: str) -> str:
    """Where a query lies, seen from its ledger."""
    return f"{QUERIES}/{key}.smt2"


@dataclass(frozen=True)
class QueryRecord:
    """One query behind a verdict.

    Attributes:
        key: the hash of its text, which names its file.
        about: what an answer would be, in words.
        logic: the SMT-LIB logic.
        expected: the answer that the verdict rests on; None where it rests on none.
        result: what Z3 said: "unsat", "sat" or "unknown".
        rlimit: Z3's resource units.
    """

    key: str
    about: str
    logic: str
    expected: str | None
    result: str
    seconds: float = 0.0
    rlimit: int | None = None

    @property
    def file(self) -> str:
        return query_file(self.key)

    @property
    def wanted(self) -> str | None:
        """What another solver has to say: what is expected, else what Z3 found."""
        return self.expected or (self.result if self.result in ("sat", "unsat") else None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"file": self.file}


@dataclass(frozen=True)
class StepRecord:
    """One step: the claim or part of it that it decided, the rule, lemmas, and keys of queries."""

    claim: str
    rule: str
    detail: str
    lemmas: tuple[str, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One theorem and its proof; `given`, `witness`, `reason` and `method` are those of the Proof.

    Attributes:
        content: hash of everything that the verdict depends on; "" where that cannot be said.
        expect: "PROVED" or "REFUTED".
        verdict: a verdict's name, or "FAILED".
    """

    name: str
    source: str
    file: str
    claim: str
    given: tuple[str, ...]
    expect: str
    verdict: str
    method: str = ""
    seconds: float = 0.0
    witness: dict[str, Any] | None = None
    reason: str = ""
    note: str = ""
    content: str = ""
    steps: tuple[StepRecord, ...] = ()
    queries: tuple[QueryRecord, ...] = ()

    @property
    def standing(self) -> str:
        if self.verdict in (str(Verdict.UNDECIDED), str(Verdict.VACUOUS)):
            return "undecided"
        if self.verdict != self.expect:
            return "failed"
        return "proved" if self.verdict == str(Verdict.PROVED) else "refuted"

    @property
    def ok(self) -> bool:
        return self.standing in ("proved", "refuted")

    def lemmas(self) -> tuple[str, ...]:
        """Names of the theorems that its rules rest on."""
        return tuple(dict.fromkeys(lemma for step in self.steps for lemma in step.lemmas))

    def to_json(self) -> dict[str, Any]:
        found = _with_lists(asdict(self)) | {"ok": self.ok}
        return found | {"queries": [query.to_json() for query in self.queries]}


def _with_lists(value: Any) -> Any:
    """The same with lists for tuples, as JSON has it."""
    if isinstance(value, dict):
        return {key: _with_lists(part) for key, part in value.items()}
    return [_with_lists(part) for part in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Ledger:
    """The theorems of one run, in the order in which they were stated.

    Attributes:
        entries: what is done.
        planned: how many theorems the run was to prove; more than there are entries in a ledger
            that an interrupted run left.
        tools: name -> version of what had a part in it.
        settings: the limits that the prover was given.
        run: what differs from run to run: wall-clock seconds, workers, resumed theorems.
    """

    entries: tuple[Entry, ...]
    planned: int
    tools: dict[str, str]
    settings: dict[str, Any]
    run: dict[str, Any]

    @property
    def partial(self) -> bool:
        return len(self.entries) < self.planned

    def count(self, standing: str) -> int:
        return sum(entry.standing == standing for entry in self.entries)

    def seconds(self) -> tuple[float, float]:
        """Median and slowest time of a proof."""
        times = [entry.seconds for entry in self.entries]
        return (statistics.median(times), max(times)) if times else (0.0, 0.0)

    def queries(self) -> dict[str, QueryRecord]:
        """Every query once, by key."""
        return {query.key: query for entry in self.entries for query in entry.queries}

    def without_query(self) -> list[str]:
        """Theorems that are proved with nothing that another solver could be asked."""
        return [e.name for e in self.entries if e.standing == "proved" and not e.queries]

    def to_json(self) -> dict[str, Any]:
        median, slowest = self.seconds()
        return {
            "format": FORMAT,
            "version": VERSION,
            "status": "partial" if self.partial else "complete",
            "planned": self.planned,
            "tools": self.tools,
            "settings": self.settings,
            "summary": {
                "theorems": len(self.entries),
                **{standing: self.count(standing) for standing in STANDINGS},
                "queries": len(self.queries()),
                "median_seconds": median,
                "slowest_seconds": slowest,
                "without_query": self.without_query(),
            },
            "lemmas": lemma_report(self.entries),
            "run": self.run,
            "entries": [entry.to_json() for entry in self.entries],
        }


# -- lemmas ------------------------------------------------------------------------------------
def lemma_report(entries: Iterable[Entry]) -> dict[str, Any]:
    """Which theorems the rules of these proofs rest on, and whether those hold.

    Checked only where the run has the rules' own theorems in it.  `missing` are lemmas that are not
    proved in it, `circular` theorems that rest on themselves.
    """
    by_name = {entry.name: entry for entry in entries}
    needed = {lemma for entry in by_name.values() for lemma in entry.lemmas()}
    if not any(name.startswith(RULE) for name in by_name):
        return {"checked": False, "needed": sorted(needed), "missing": [], "circular": []}
    holds = {name for name, entry in by_name.items() if entry.standing == "proved"}
    circular = [name for name in by_name if name in _reached(name, by_name)]
    return {
        "checked": True,
        "needed": sorted(needed),
        "missing": sorted(needed - holds),
        "circular": circular,
    }


def _reached(name: str, by_name: Mapping[str, Entry]) -> set[str]:
    """The theorems that one rests on, by however many steps."""
    found: set[str] = set()
    ahead = list(by_name[name].lemmas())
    while ahead:
        lemma = ahead.pop()
        if lemma not in found:
            found.add(lemma)
            ahead += by_name[lemma].lemmas() if lemma in by_name else ()
    return found
