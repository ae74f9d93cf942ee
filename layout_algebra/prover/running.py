"""Many theorems at once: proven in processes, interrupted, gone on with.

    ledger = run(load_theorems(["proofs/"]), ledger_path="build/ledger.json")

A theorem is known by its file and its name: a worker loads the file once, makes the claim, proves
it, runs every query behind it (records.py), and sends back the ledger's entry.

Whatever a theorem does, the run ends: one that raises is FAILED; one that ends its process, or that
takes longer than `MOST_SECONDS`, is tried once more alone, and then FAILED; the others go
on.

Ctrl-C leaves a partial ledger of what is done, and the next run takes over its entries, as far as
their content hashes are still the theorems'.  A complete ledger is never taken over: to prove means
to prove.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from layout_algebra.errors import ClaimError, LedgerError
from layout_algebra.ledger import (
    Entry,
    Ledger,
    check_writable,
    query_file,
    read_ledger,
    write_ledger,
    write_query,
)
from layout_algebra.prover.options import MOST_PLACES
from layout_algebra.prover.records import Record, blank, shown_path, tools
from layout_algebra.prover.solve import Budget
from layout_algebra.prover.workers import (
    MOST_SECONDS,
    Task,
    feed,
    in_processes,
    interrupts_held,
)
from layout_algebra.theorems import Theorem

#: Seconds between two partial ledgers of a run that goes on.
SAVE_EVERY = 5.0

Progress = Callable[[int, int, Entry], None]


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted; `ledger` has what was done until then."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__("interrupted")
        self.ledger = ledger


def run(
    theorems: Sequence[Theorem],
    *,
    executor: Executor | None = None,
    workers: int = 2,
    ledger_path: str | Path | None = None,
    resume: bool = True,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Ledger:
    """Prove theorems.

    Args:
        theorems: what `load_theorems` gives.
        executor: where to prove, instead of processes of our own; they must see the theorems'
            files.  It is left open.
        workers: how many theorems are under way at a time (twice as many are sent out).
        ledger_path: the ledger to write, with its queries beside it; None writes none.
        resume: whether to go on from a partial ledger at that path.
        budget: limits of each query.
        progress: called for each theorem that is done: (how many are, of how many, its entry).

    Raises:
        RunInterrupted: Ctrl-C; the partial ledger is written, and is in the error.
        LedgerError: the ledger cannot be written, or something else is at its path.
        ClaimError: a theorem that no file states, or fewer workers than one.
    """
    if workers < 1:
        raise ClaimError(f"workers is at least 1; got {workers}")
    state = _State(theorems, ledger_path, workers, budget or Budget(), progress)
    tasks = deque(state.tasks(resume))
    try:
        if executor is None:
            in_processes(tasks, workers, state.take)
        else:
            for task in [*feed(executor, tasks, 2 * workers, state.take), *tasks]:
                state.take(task, "the executor broke before it was proven")
    except KeyboardInterrupt:
        with interrupts_held():
            ledger = state.save()
        raise RunInterrupted(ledger) from None
    return state.save()


class _State:
    """The entries so far, and where they are written."""

    def __init__(
        self,
        theorems: Sequence[Theorem],
        path: str | Path | None,
        workers: int,
        budget: Budget,
        progress: Progress | None,
    ) -> None:
        self.theorems, self.workers = theorems, workers
        self.budget, self.progress = budget, progress
        self.path = None if path is None else Path(path)
        self.start = self.saved = time.monotonic()
        self.done: dict[int, Entry] = {}
        self.old: Mapping[str, Entry] = {}
        self.resumed = 0

    def tasks(self, resume: bool) -> list[Task]:
        """One for each theorem."""
        for theorem in self.theorems:
            if not theorem.file:
                raise ClaimError(f"theorem {theorem.name!r} is in no file: workers cannot find it")
        if self.path is not None:
            check_writable(self.path)
            old = _old_entries(self.path)
            self.old = old if resume else {}
        return [
            Task(
                position,
                str(Path(theorem.file).absolute()),
                theorem.name,
                self.budget,
                self.old[theorem.name].content if theorem.name in self.old else "",
                MOST_SECONDS,
            )
            for position, theorem in enumerate(self.theorems)
        ]

    def take(self, task: Task, found: Record | str) -> None:
        """A theorem is done: with its record, or with the reason why there is none."""
        theorem = self.theorems[task.position]
        if isinstance(found, str):
            found = Record(blank(theorem, found), {})
        entry = found.entry
        if entry is None:
            self.resumed += 1
            entry = self.old[task.name]
        if self.path is not None:
            for key, text in found.texts.items():
                write_query(self.path.parent, key, text)
        entry = replace(entry, file=shown_path(theorem.file))
        self.done[task.position] = entry
        if self.progress is not None:
            self.progress(len(self.done), len(self.theorems), entry)
        if time.monotonic() - self.saved > SAVE_EVERY and len(self.done) < len(self.theorems):
            self.save()

    def save(self) -> Ledger:
        """The ledger of what is done, also written where there is a path."""
        budget = self.budget
        ledger = Ledger(
            entries=tuple(self.done[position] for position in sorted(self.done)),
            planned=len(self.theorems),
            tools={**tools(), "python": ".".join(map(str, sys.version_info[:3]))},
            settings={
                "rlimit": budget.rlimit,
                "seconds": budget.seconds,
                "most_places": MOST_PLACES,
            },
            run={
                "seconds": round(time.monotonic() - self.start, 3),
                "workers": self.workers,
                "resumed": self.resumed,
            },
        )
        if self.path is not None:
            write_ledger(ledger, self.path)
        self.saved = time.monotonic()
        return ledger


def _old_entries(path: Path) -> Mapping[str, Entry]:
    """The entries of a partial ledger that may be taken over: fine ones that have their queries.

    Raises:
        LedgerError: something else than a ledger is there, and would be overwritten.
    """
    if not path.exists():
        return {}
    try:
        ledger = read_ledger(path)
    except LedgerError as error:
        raise LedgerError(f"{error}; remove it, or name another file for the new ledger") from None
    if not ledger.partial:
        return {}
    return {
        entry.name: entry
        for entry in ledger.entries
        if entry.ok and all((path.parent / query_file(q.key)).exists() for q in entry.queries)
    }
