"""Ledgers and queries as files: written in one stroke, read with every part checked."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from layout_algebra.errors import LedgerError
from layout_algebra.ledger.entries import (
    FORMAT,
    VERSION,
    Entry,
    Ledger,
    QueryRecord,
    StepRecord,
    query_file,
)
from layout_algebra.ledger.shape import LEDGER, Fault, check


def write_ledger(ledger: Ledger, path: str | Path) -> None:
    """Write a ledger, in one stroke.

    Raises:
        LedgerError: the file cannot be written.
    """
    write_text(Path(path), json.dumps(ledger.to_json(), indent=1, ensure_ascii=False) + "\n")


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
            with open(
                handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as file:
                file.write(text)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LedgerError(f"cannot write {path}: {error.strerror or error}") from None


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
