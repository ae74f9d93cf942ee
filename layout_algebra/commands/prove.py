"""`prove`: every theorem of files and folders; a table, a ledger, and what changed since another.

    proofs/rules.py
      proved    rule: sorted strides do not collide          solver: QF_NIA              12.31 ms
      refuted   rule: sorted strides, a stride within ...    solver: QF_NIA               3.02 ms
                elements (0, 1) and (1, 0) are both at m = 1  (with s = 1, ...)

The last line is for people and for scripts alike; it counts every theorem once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout

from layout_algebra.commands.drawing import Meter, aligned, clipped, witness_lines
from layout_algebra.errors import LedgerError
from layout_algebra.ledger import Change, Entry, Ledger, changes, read_ledger
from layout_algebra.prover.running import RunInterrupted, run
from layout_algebra.theorems import load_theorems

#: Characters of a name and of a method in the table, and of a line below, unless --verbose.
MOST_NAME, MOST_METHOD, MOST_LINE = 72, 36, 110
_WORDS = {"proved": "proved", "refuted": "refuted", "failed": "FAILED", "undecided": "UNDECIDED"}


def main(arguments: argparse.Namespace) -> int:
    folder = os.path.dirname(arguments.ledger) or "."
    if not os.path.exists(folder):
        raise LedgerError(f"cannot write {arguments.ledger}: there is no folder {folder}")
    baseline = None if arguments.baseline is None else read_ledger(arguments.baseline)
    sys.path.append(os.getcwd())  # where the theorems' own imports may lie
    with redirect_stdout(sys.stderr):  # what theorems print is not part of the table
        theorems = load_theorems(arguments.paths)
    meter = Meter(arguments.progress)
    try:
        ledger = run(
            theorems,
            workers=arguments.workers or os.cpu_count() or 1,
            ledger_path=arguments.ledger,
            resume=not arguments.fresh,
            progress=lambda done, total, entry: meter(done, total, entry.name),
        )
    except RunInterrupted as stop:
        done, planned = len(stop.ledger.entries), stop.ledger.planned
        raise KeyboardInterrupt(
            f"interrupted: {done} of {planned} theorems are in {arguments.ledger}; "
            "the same command goes on from there"
        ) from None
    finally:
        meter.clear()
    found = [] if baseline is None else changes(baseline, ledger)
    if arguments.json:
        print(json.dumps(_json(ledger, found, baseline is not None), indent=1))
    else:
        print("\n".join(_text(ledger, found, arguments.verbose)))
    return exit_code(ledger, found)


def exit_code(ledger: Ledger, found: Sequence[Change]) -> int:
    if ledger.count("failed") or any(change.worse for change in found):
        return 1
    return 3 if ledger.count("undecided") else 0


def _json(ledger: Ledger, found: Sequence[Change], compared: bool) -> dict[str, object]:
    shown = [
        {"name": one.name, "before": one.before, "after": one.after, "worse": one.worse}
        for one in found
    ]
    return {**ledger.to_json(), **({"changes": shown} if compared else {})}


def _text(ledger: Ledger, found: Sequence[Change], verbose: bool) -> Iterator[str]:
    yield from _table(ledger, verbose)
    yield from _warnings(ledger)
    if found:
        yield "changed since the baseline:"
        yield from (f"  {change}" for change in found)
        yield ""
    median, slowest = ledger.seconds()
    resumed = ledger.run["resumed"]
    again = f"; {resumed} taken over from an interrupted run" if resumed else ""
    yield f"median proof {median * 1e3:.2f} ms, slowest {slowest * 1e3:.0f} ms{again}"
    count = ledger.count
    yield (
        f"{len(ledger.entries)} theorems: {count('proved')} proved, {count('refuted')} refuted as "
        f"expected, {count('failed')} failed, {count('undecided')} undecided"
    )


def _table(ledger: Ledger, verbose: bool) -> Iterator[str]:
    rows = [_row(entry, verbose) for entry in ledger.entries]
    file = ""
    for entry, line in zip(ledger.entries, aligned(rows) if rows else (), strict=True):
        if entry.file != file:
            if file:
                yield ""
            file = entry.file
            yield file
        yield f"  {line}"
        for text in _below(entry, verbose):
            yield f"  {'':11}{text if verbose else clipped(text, MOST_LINE)}"
    if rows:
        yield ""


def _row(entry: Entry, verbose: bool) -> list[str]:
    most_name, most_method = (10**6, 10**6) if verbose else (MOST_NAME, MOST_METHOD)
    return [
        _WORDS[entry.standing],
        clipped(" ".join(entry.name.split()), most_name),
        clipped(entry.method, most_method),
        f"{entry.seconds * 1e3:8.2f} ms",
    ]


def _below(entry: Entry, verbose: bool) -> Iterator[str]:
    """What a line of the table does not say: a witness, a reason, and where it is asked for all."""
    if verbose:
        yield f"{entry.source}"
        if entry.claim:
            yield f"{entry.claim}" + (f"  given {', '.join(entry.given)}" if entry.given else "")
    if entry.note and (verbose or not entry.ok):
        yield entry.note
    if entry.witness is not None:
        yield from witness_lines(entry.witness)
    if entry.reason and not entry.ok:
        yield " ".join(entry.reason.split())
    if entry.standing == "failed" and not entry.reason:
        yield f"expected {entry.expect}; {entry.verdict}"


def _warnings(ledger: Ledger) -> Iterator[str]:
    lemmas = ledger.to_json()["lemmas"]
    for title, names in (
        ("rules are used whose theorems are not proved here", lemmas["missing"]),
        ("theorems rest on themselves", lemmas["circular"]),
        ("proved, but with no query that another solver could be asked", ledger.without_query()),
    ):
        if names:
            yield f"warning: {title}: {'; '.join(names)}"
            yield ""
