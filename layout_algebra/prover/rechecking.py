"""A ledger's queries put to solvers that share no code with Z3.

Each query is asked once, however many theorems it stands behind, and the answer is held against
what the verdicts rest on (`QueryRecord.wanted`): "unsat" for every query of a proof, Z3's own
answer for the others.

    confirmed     a second solver says the same
    disagreement  it says the opposite: one of the solvers, or the prover, is wrong
    unconfirmed   it does not say: it did not end, or nothing was to be confirmed

The texts are checked against their hashes first, so that what is asked is what the ledger means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from layout_algebra.errors import LedgerError
from layout_algebra.ledger import Ledger, QueryRecord, query_key
from layout_algebra.prover.recheck import Answer, SolverPool

#: Seconds that one solver has for one query.
TIMEOUT = 20.0

Progress = Callable[[int, int, "Checked"], None]


@dataclass(frozen=True)
class Checked:
    """One query, the theorems behind which it stands, and what was said of it.

    Attributes:
        outcome: "confirmed", "disagreement" or "unconfirmed".
        wanted: what the verdicts rest on; None where they rest on nothing, or on opposites.
        answers: those of the solvers that were asked, the decisive one last.
        detail: why it is not confirmed.
    """

    key: str
    about: str
    logic: str
    theorems: tuple[str, ...]
    outcome: str
    wanted: str | None
    answers: tuple[Answer, ...]
    detail: str = ""


@dataclass(frozen=True)
class Report:
    """Every query of a ledger, checked."""

    checked: tuple[Checked, ...]

    def among(self, outcome: str) -> list[Checked]:
        return [one for one in self.checked if one.outcome == outcome]

    @property
    def summary(self) -> str:
        return (
            f"{len(self.checked)} queries: {len(self.among('confirmed'))} confirmed by a second "
            f"solver, {len(self.among('disagreement'))} disagreements, "
            f"{len(self.among('unconfirmed'))} not confirmed"
        )


@dataclass(frozen=True)
class _Asked:
    """One query as all entries see it."""

    record: QueryRecord
    theorems: tuple[str, ...]
    wanted: frozenset[str]
    path: Path

    def text(self) -> str:
        """The query's text.

        Raises:
            LedgerError: no such file, or another text than the ledger speaks of.
        """
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise LedgerError(f"cannot read the query {self.path}: {reason}") from None
        if query_key(text) != self.record.key:
            raise LedgerError(f"the query {self.path} is another text than its name says")
        return text


def recheck(
    ledger: Ledger,
    folder: str | Path,
    *,
    timeout: float = TIMEOUT,
    workers: int = 2,
    progress: Progress | None = None,
) -> Report:
    """Ask second solvers about every query of a ledger.

    Args:
        ledger: what `read_ledger` gives.
        folder: the ledger's own; the queries lie below it.
        timeout: seconds for one solver and one query.
        workers: queries that are asked at a time.
        progress: called for each query: (how many are done, of how many, what was found).

    Raises:
        LedgerError: a query's file is missing, or is not what the ledger speaks of.
        MissingSolverError: no second solver is installed.
    """
    asked = _asked(ledger, Path(folder))
    for one in asked.values():
        one.text()
    found: list[Checked] = []
    with SolverPool(workers) as pool:
        items = ((key, one.text(), one.record.logic) for key, one in asked.items())
        for key, answers in pool.decide_many(items, timeout):
            found.append(_judged(asked[key], answers))
            if progress is not None:
                progress(len(found), len(asked), found[-1])
    return Report(tuple(found))


def _asked(ledger: Ledger, folder: Path) -> dict[str, _Asked]:
    theorems: dict[str, list[str]] = {}
    wanted: dict[str, set[str]] = {}
    records: dict[str, QueryRecord] = {}
    for name, query in _queries(ledger):
        records.setdefault(query.key, query)
        theorems.setdefault(query.key, []).append(name)
        wanted.setdefault(query.key, set()).update([query.wanted] if query.wanted else [])
    return {
        key: _Asked(one, tuple(theorems[key]), frozenset(wanted[key]), folder / one.file)
        for key, one in records.items()
    }


def _queries(ledger: Ledger) -> Iterator[tuple[str, QueryRecord]]:
    for entry in ledger.entries:
        for query in entry.queries:
            yield entry.name, query


def _judged(asked: _Asked, answers: list[Answer]) -> Checked:
    one, last = asked.record, answers[-1]
    said = last.result if last.decided else None
    wanted = next(iter(asked.wanted)) if len(asked.wanted) == 1 else None
    if len(asked.wanted) > 1:
        outcome, detail = "disagreement", "two entries rest on opposite answers"
    elif said is None:
        outcome, detail = "unconfirmed", "; ".join(_shown(answer) for answer in answers)
    elif wanted is None:
        outcome, detail = "unconfirmed", f"no verdict rests on it; {last.solver} says {said}"
    elif said == wanted:
        outcome, detail = "confirmed", ""
    else:
        outcome, detail = "disagreement", f"{last.solver} says {said} where {wanted} is needed"
    return Checked(
        one.key, one.about, one.logic, asked.theorems, outcome, wanted, tuple(answers), detail
    )


def _shown(answer: Answer) -> str:
    text = f"{answer.solver}: {answer.result}"
    return f"{text} ({answer.detail})" if answer.detail else text
