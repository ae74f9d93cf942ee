"""The ledger: what was asked, what was answered, and every query behind the answers, as files.

    build/ledger.json                       one JSON object, described by ledger.schema.json
    build/queries/19cd0b01221abcc64e00ddb8.smt2     a query, named by the hash of its text

A ledger is for people who do not trust the prover: another solver can be put to every query
(`recheck`), a later run can be held against it (`prove --baseline`), and an interrupted run goes on
from it.  Reading one needs no solver.

An entry's *standing* is what a table shows: `proved`; `refuted`, where that is what was expected;
`undecided`, which is also said of assumptions that contradict each other; `failed` for everything
else.  Only the first two are `ok`.  A query's *expectation* is the answer that the verdict rests on:
"unsat" for every query of a proof.

Ledgers are written in one stroke (a new file takes the old one's place), and the same theorems give
the same text but for times: fields named `seconds`, and `run`.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from layout_algebra.errors import LedgerError
from layout_algebra.ledger_format import LEDGER, Fault, check
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
        found = asdict(self) | {"ok": self.ok}
        return found | {"queries": [query.to_json() for query in self.queries]}


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

    def write(self, path: str | Path) -> None:
        """Write it, in one stroke.

        Raises:
            LedgerError: the file cannot be written.
        """
        write_text(Path(path), json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n")


def write_query(folder: Path, key: str, text: str) -> None:
    """Write a query beside the ledger of this folder, unless it is there."""
    path = folder / query_file(key)
    if not path.exists():
        write_text(path, text)


def check_writable(path: Path) -> None:
    """Make the folder of a file that is to be written.

    Raises:
        LedgerError: the file could not be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"cannot write {path}: {error.strerror or error}") from None
    if not os.access(path.parent, os.W_OK):
        raise LedgerError(f"cannot write {path}: its folder may not be written to")


def write_text(path: Path, text: str) -> None:
    """Write a file in one stroke: no reader ever finds half of it.

    Raises:
        LedgerError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LedgerError(f"cannot write {path}: {error.strerror or error}") from None


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


# -- two ledgers -------------------------------------------------------------------------------
@dataclass(frozen=True)
class Change:
    """A theorem whose verdict is another than before; `worse` where it no longer stands as well."""

    name: str
    before: str | None
    after: str | None
    worse: bool

    def __str__(self) -> str:
        if self.before is None:
            return f"appeared: {self.name} ({self.after})"
        if self.after is None:
            return f"vanished: {self.name} (was {self.before})"
        return (
            f"{'WORSE' if self.worse else 'changed'}: {self.name} ({self.before} -> {self.after})"
        )


def changes(old: Ledger, new: Ledger) -> list[Change]:
    """Every verdict that changed, appeared or vanished, by name."""
    before = {entry.name: entry for entry in old.entries}
    after = {entry.name: entry for entry in new.entries}
    found: list[Change] = []
    for name in dict.fromkeys((*after, *before)):
        one, two = before.get(name), after.get(name)
        said = tuple(None if entry is None else _said(entry) for entry in (one, two))
        if said[0] != said[1]:
            worse = one is not None and two is not None and _rank(two) < _rank(one)
            found.append(Change(name, *said, worse))
    return found


def _said(entry: Entry) -> str:
    return entry.verdict if entry.verdict != "REFUTED" or not entry.ok else "REFUTED as expected"


def _rank(entry: Entry) -> int:
    return 2 if entry.ok else 1 if entry.standing == "undecided" else 0


# -- reading -----------------------------------------------------------------------------------
def read_ledger(path: str | Path) -> Ledger:
    """The ledger in a file.

    Raises:
        LedgerError: no file, not JSON, or not a ledger; the message says where it is not.
    """
    path = Path(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LedgerError(f"no ledger at {path}") from None
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LedgerError(f"{path} is not text: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise LedgerError(f"{path} is not JSON: {error.msg}, {where}") from None
    except (RecursionError, ValueError):
        raise LedgerError(f"{path} is not a ledger: its JSON cannot be read") from None
    try:
        return _ledger(data)
    except Fault as fault:
        raise LedgerError(f"{path} is not a ledger of format {VERSION}: {fault}") from None


def _ledger(data: Any) -> Ledger:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Fault("", f'expected an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        raise Fault(
            "version",
            f"expected {VERSION}, the one that this release reads; got {data.get('version')!r}",
        )
    check(data, LEDGER)
    entries = tuple(_entry(one, f"entries[{k}]") for k, one in enumerate(data["entries"]))
    seen: set[str] = set()
    for position, entry in enumerate(entries):
        if entry.name in seen:
            raise Fault(f"entries[{position}].name", f"a second entry named {entry.name!r}")
        seen.add(entry.name)
    ledger = Ledger(entries, data["planned"], data["tools"], data["settings"], data["run"])
    found = ledger.to_json()
    for name in ("status", "lemmas"):
        if found[name] != data[name]:
            raise Fault(name, f"says {data[name]!r}, by the entries it is {found[name]!r}")
    for name, value in found["summary"].items():
        if not name.endswith("seconds") and data["summary"][name] != value:
            raise Fault(
                f"summary.{name}", f"says {data['summary'][name]!r}, by the entries it is {value!r}"
            )
    return ledger


def _entry(data: dict[str, Any], where: str) -> Entry:
    rest = dict(data)
    ok = rest.pop("ok")
    queries: list[QueryRecord] = []
    for position, one in enumerate(data["queries"]):
        query = QueryRecord(**{name: value for name, value in one.items() if name != "file"})
        if one["file"] != query.file:
            raise Fault(
                f"{where}.queries[{position}].file", f"expected {query.file!r}; got {one['file']!r}"
            )
        queries.append(query)
    rest["queries"] = tuple(queries)
    rest["given"] = tuple(data["given"])
    rest["steps"] = tuple(
        StepRecord(
            one["claim"], one["rule"], one["detail"], tuple(one["lemmas"]), tuple(one["queries"])
        )
        for one in data["steps"]
    )
    entry = Entry(**rest)
    if entry.ok is not ok:
        raise Fault(
            f"{where}.ok",
            f"expected {entry.ok} for {entry.verdict} where {entry.expect} was expected",
        )
    keys = {query.key for query in queries}
    for position, step in enumerate(entry.steps):
        unknown = [key for key in step.queries if key not in keys]
        if unknown:
            raise Fault(
                f"{where}.steps[{position}].queries", f"no query {unknown[0]!r} in the entry"
            )
    return entry
