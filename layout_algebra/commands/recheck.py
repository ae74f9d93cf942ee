"""`recheck`: a ledger's queries put to other solvers."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from layout_algebra.commands.drawing import Meter
from layout_algebra.ledger import read_ledger
from layout_algebra.prover.rechecking import TIMEOUT, Checked, Report, recheck


def main(arguments: argparse.Namespace) -> int:
    path = Path(arguments.ledger)
    ledger = read_ledger(path)
    meter = Meter(arguments.progress)
    try:
        report = recheck(
            ledger,
            path.parent,
            timeout=arguments.timeout or TIMEOUT,
            workers=arguments.workers or os.cpu_count() or 1,
            progress=lambda done, total, one: meter(done, total, f"{one.outcome}: {one.about}"),
        )
    finally:
        meter.clear()
    if arguments.json:
        print(json.dumps(_json(report), indent=1))
    else:
        print("\n".join(_text(report)))
    wrong = report.among("disagreement")
    if wrong:
        print(f"layout-algebra: error: solvers disagree on {len(wrong)} queries", file=sys.stderr)
    return 1 if wrong else 0


def _text(report: Report) -> list[str]:
    lines: list[str] = []
    for outcome, headline in (("unconfirmed", "not confirmed:"), ("disagreement", "DISAGREEMENT:")):
        found = report.among(outcome)
        lines += [headline] if found else []
        for one in found:
            lines.append(f"  {_named(one)}: {one.about}  [{one.logic}, queries/{one.key}.smt2]")
            lines.append(f"      {one.detail}")
    return [*lines, report.summary]


def _named(one: Checked) -> str:
    more = len(one.theorems) - 1
    return one.theorems[0] + (f" and {more} more" if more else "")


def _json(report: Report) -> dict[str, object]:
    return {
        "queries": len(report.checked),
        "confirmed": len(report.among("confirmed")),
        "disagreements": len(report.among("disagreement")),
        "not_confirmed": len(report.among("unconfirmed")),
        "checked": [
            {
                "key": one.key,
                "about": one.about,
                "logic": one.logic,
                "theorems": list(one.theorems),
                "outcome": one.outcome,
                "wanted": one.wanted,
                "detail": one.detail,
                "answers": [
                    {
                        "solver": answer.solver,
                        "version": answer.version,
                        "result": answer.result,
                        "seconds": round(answer.seconds, 6),
                        "detail": answer.detail,
                    }
                    for answer in one.answers
                ],
            }
            for one in report.checked
        ],
    }
