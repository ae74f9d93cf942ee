"""`crosscheck`: a ledger's proofs checked again by code that runs; a table, JSON and JUnit XML.

    DISAGREES    PROVED   REFUTED  frag: no two elements share a place     128      51 million/s
                 elements (0, 0) and (1, 0) are both at laneid = 0
    not checked  PROVED            the two buffers are apart
                 there is no exhaustive check of Disjoint
    agrees       PROVED   PROVED   rows: onto 0..511                       512     310 million/s

What disagrees comes first, then what could not be checked, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from layout_algebra.commands.drawing import Meter, aligned, clipped
from layout_algebra.crosschecks import (
    Checked,
    Limits,
    Outcome,
    Report,
    UnavailableError,
    crosscheck,
    junit_text,
    target_of,
)
from layout_algebra.errors import LedgerError
from layout_algebra.ledger import read_ledger
from layout_algebra.ledger.files import write_text

NOT_THERE = 4
#: Characters of a name in the table, and of a line below it.
MOST_NAME, MOST_LINE = 72, 110
_WORDS = {
    Outcome.DISAGREES: "DISAGREES",
    Outcome.NOT_CHECKED: "not checked",
    Outcome.AGREES: "agrees",
}


def main(arguments: argparse.Namespace) -> int:
    ledger = read_ledger(arguments.ledger)
    for path in (arguments.json, arguments.junit):
        folder = os.path.dirname(path or "") or "."
        if not os.path.isdir(folder):
            raise LedgerError(f"cannot write {path}: there is no folder {folder}")
    given = {"memory": arguments.memory, "elements": arguments.elements, "arch": arguments.arch}
    limits = Limits(**{name: value for name, value in given.items() if value is not None})
    try:
        target = target_of(arguments.target, limits)
    except UnavailableError as missing:
        print(f"layout-algebra: {missing}", file=sys.stderr)
        return NOT_THERE
    sys.path.append(os.getcwd())  # where the theorems' own imports may lie
    meter = Meter(arguments.progress)
    try:
        report = crosscheck(
            ledger,
            target,
            only=arguments.only,
            progress=lambda done, total, one: meter(done, total, f"{one.outcome}: {one.name}"),
        )
    finally:
        meter.clear()
        target.close()
    if arguments.json:
        write_text(Path(arguments.json), json.dumps(report.to_json(), indent=1) + "\n")
    if arguments.junit:
        write_text(Path(arguments.junit), junit_text(report))
    print("\n".join(_text(report)))
    return report.exit_code


def _text(report: Report) -> Iterator[str]:
    order = list(_WORDS)
    found = sorted(report.checked, key=lambda one: order.index(one.outcome))
    lines = aligned([_row(one) for one in found]) if found else []
    for one, line in zip(found, lines, strict=True):
        yield line
        if one.detail and one.outcome is not Outcome.AGREES:
            yield f"{'':13}{clipped(' '.join(one.detail.split()), MOST_LINE)}"
    yield ""
    yield f"{report.target}: " + ", ".join(f"{name} {v}" for name, v in report.tools.items())
    counts = {outcome: len(report.among(outcome)) for outcome in Outcome}
    yield (
        f"{len(found)} claims: {counts[Outcome.AGREES]} agree, {counts[Outcome.DISAGREES]} "
        f"disagree, {counts[Outcome.NOT_CHECKED]} not checked; {report.elements:,} elements, "
        f"{report.seconds:.1f} s"
    )


def _row(one: Checked) -> list[str]:
    run = one.run
    rate = "" if one.rate is None else f"{one.rate / 1e6:,.3g} million/s"
    name = clipped(" ".join(one.name.split()), MOST_NAME)
    counted = "" if run is None else f"{run.elements:13,}"
    shown = clipped(one.detail, 40) if one.outcome is Outcome.AGREES else ""
    return [
        _WORDS[one.outcome],
        one.proof,
        "" if run is None else run.verdict,
        name,
        counted,
        rate,
        shown,
    ]
