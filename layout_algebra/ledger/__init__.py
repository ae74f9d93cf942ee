"""The ledger: what was asked, what was answered, and every query behind the answers, as files.

    build/ledger.json                       one JSON object, described by ledger.schema.json
    build/queries/19cd0b01221abcc64e00ddb8.smt2     a query, named by the hash of its text

A ledger is for people who do not trust the prover: another solver can be put to every query
(`recheck`), a later run can be held against it (`prove --baseline`), and an interrupted run goes on
from it.  Reading one needs no solver.

An entry's *standing* is what a table shows: `proved`; `refuted`, where that is what was expected;
`undecided`, which is also said of assumptions that contradict each other; `failed` for everything
else.  Only the first two are `ok`.  What a query is *expected* to be is the answer that the verdict
rests on: "unsat" for every query of a proof.

Ledgers are written in one stroke (a new file takes the old one's place), and the same theorems give
the same text but for times: fields named `seconds`, and `run`.
"""

from __future__ import annotations

from layout_algebra.ledger.changes import Change, changes
from layout_algebra.ledger.entries import (
    FAILED,
    FORMAT,
    RULE,
    VERSION,
    Entry,
    Ledger,
    QueryRecord,
    StepRecord,
    lemma_report,
    query_file,
    query_key,
)
from layout_algebra.ledger.files import (
    check_writable,
    read_ledger,
    write_ledger,
    write_query,
)

__all__ = [
    "FAILED",
    "FORMAT",
    "RULE",
    "VERSION",
    "Change",
    "Entry",
    "Ledger",
    "QueryRecord",
    "StepRecord",
    "changes",
    "check_writable",
    "lemma_report",
    "query_file",
    "query_key",
    "read_ledger",
    "write_ledger",
    "write_query",
]
