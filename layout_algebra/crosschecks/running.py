"""All entries of a ledger on one target."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from layout_algebra.crosschecks.results import (
    Checked,
    Limits,
    NotCheckedError,
    Outcome,
    Ran,
    Report,
)
from layout_algebra.crosschecks.statements import Statement, Statements
from layout_algebra.device.errors import LaunchError, UnavailableError
from layout_algebra.errors import LedgerError
from layout_algebra.ledger import Entry, Ledger


class Target(Protocol):
    """Where claims are checked."""

    name: str

    def tools(self) -> dict[str, str]:
        """Name -> version of what runs."""
        ...

    def run(self, statement: Statement) -> Ran:
        """Check one claim.

        Raises:
            NotCheckedError: it cannot; the reason.
        """
        ...

    def own(self) -> Iterator[Checked]:
        """What this target checks besides, and is in no ledger."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


Progress = Callable[[int, int, Checked], None]

#: The targets, in the order in which they need more.
TARGETS = ("cpu", "simulator", "ptx", "cuda")


def target_of(name: str, limits: Limits) -> Target:
    """A target, ready to run.

    Raises:
        UnavailableError: it needs what is not here; says what.
    """
    if name == "cpu":
        from layout_algebra.crosschecks.cpu import OnCpu

        return OnCpu(limits)
    if name == "simulator":
        from layout_algebra.crosschecks.simulator import InSimulator

        return InSimulator(limits)
    if name == "ptx":
        from layout_algebra.crosschecks.ptx import AsPtx

        return AsPtx(limits)
    if name == "cuda":
        from layout_algebra.crosschecks.cuda import OnGpu

        return OnGpu(limits)
    raise UnavailableError(f"no target {name!r}; there is {', '.join(TARGETS)}")


def crosscheck(
    ledger: Ledger, target: Target, *, only: str = "", progress: Progress | None = None
) -> Report:
    """Check the entries of a ledger again.

    Args:
        ledger: from `read_ledger`.
        target: from `target_of`; it is left open.
        only: a text that the names of the entries contain.
        progress: called for each entry: (how many are done, of how many, what became of it).

    Raises:
        LedgerError: no entry has such a name.
    """
    start = time.perf_counter()
    entries = [entry for entry in ledger.entries if only in entry.name]
    if not entries:
        what = f"no entry whose name contains {only!r}" if only else "no entry"
        raise LedgerError(f"the ledger has {what}: there is nothing to check")
    found = _checked(entries, Statements(ledger), target, progress)
    if not only:
        found += target.own()
    return Report(target.name, tuple(found), target.tools(), time.perf_counter() - start)


def _checked(
    entries: Sequence[Entry], statements: Statements, target: Target, progress: Progress | None
) -> list[Checked]:
    found: list[Checked] = []
    for entry in entries:
        try:
            run = target.run(statements.of(entry))
            outcome = Outcome.AGREES if run.agrees else Outcome.DISAGREES
            detail = run.detail
        except (NotCheckedError, LaunchError) as reason:
            run, outcome, detail = None, Outcome.NOT_CHECKED, str(reason)
        found.append(
            Checked(entry.name, entry.file, entry.claim, entry.verdict, outcome, run, detail)
        )
        if progress is not None:
            progress(len(found), len(entries), found[-1])
    return found
