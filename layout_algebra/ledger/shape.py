"""What the JSON of a ledger looks like, and where a text that claims to be one does not.

`LEDGER` says the same as ledger.schema.json, which is for other people's tools (a test holds the
two together); this one needs no package, and its messages name the place: `entries[3].ok: ...`.

A description is a type (`float` stands for any finite number from 0 up, `Count` for such an
integer), a set of constants, a compiled pattern, a list of one description (an array of such), a
dict (an object with exactly these keys), `Values(description)` (an object with any keys), or
`Maybe(description)` (null as well).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERDICTS = {"PROVED", "REFUTED", "UNDECIDED", "VACUOUS", "FAILED"}
RESULTS = {"unsat", "sat", "unknown"}


class Fault(Exception):  # noqa: N818  (becomes a LedgerError that names the file)
    """Where a value is not what it has to be."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}" if where else message)


@dataclass(frozen=True)
class Values:
    inside: Any


@dataclass(frozen=True)
class Maybe:
    inside: Any


class Count:
    """An integer that is not negative."""


KEY = re.compile(r"[0-9a-f]{24}")

QUERY = {
    "key": KEY,
    "about": str,
    "logic": str,
    "expected": Maybe({"unsat", "sat"}),
    "result": RESULTS,
    "seconds": float,
    "rlimit": Maybe(Count),
    "file": re.compile(r"queries/[0-9a-f]{24}\.smt2"),
}
STEP = {"claim": str, "rule": str, "detail": str, "lemmas": [str], "queries": [KEY]}
WITNESS = {"summary": str, "points": [Values(int)], "places": [Values(int)], "dims": Values(int)}
ENTRY = {
    "name": str,
    "source": str,
    "file": str,
    "claim": str,
    "given": [str],
    "expect": {"PROVED", "REFUTED"},
    "verdict": VERDICTS,
    "method": str,
    "seconds": float,
    "witness": Maybe(WITNESS),
    "reason": str,
    "note": str,
    "content": re.compile(r"([0-9a-f]{32})?"),
    "steps": [STEP],
    "queries": [QUERY],
    "ok": bool,
}
SUMMARY = {
    "theorems": Count,
    "proved": Count,
    "refuted": Count,
    "failed": Count,
    "undecided": Count,
    "queries": Count,
    "median_seconds": float,
    "slowest_seconds": float,
    "without_query": [str],
}
LEDGER = {
    "format": str,
    "version": int,
    "status": {"complete", "partial"},
    "planned": Count,
    "tools": Values(str),
    "settings": {"rlimit": Count, "seconds": float, "most_places": Count},
    "summary": SUMMARY,
    "lemmas": {"checked": bool, "needed": [str], "missing": [str], "circular": [str]},
    "run": {"seconds": float, "workers": Count, "resumed": Count},
    "entries": [ENTRY],
}


def check(value: Any, wanted: Any, where: str = "") -> None:
    """Compare a value with a description.

    Raises:
        Fault: the first difference.
    """
    match wanted:
        case Maybe(inside):
            if value is not None:
                check(value, inside, where)
        case Values(inside):
            for key, part in _object(value, where).items():
                check(part, inside, f"{where}.{key}")
        case dict():
            _check_keys(value, wanted, where)
            for key, inside in wanted.items():
                check(value[key], inside, f"{where}.{key}" if where else key)
        case list():
            if not isinstance(value, list):
                raise Fault(where, f"expected an array; got {_shown(value)}")
            for position, part in enumerate(value):
                check(part, wanted[0], f"{where}[{position}]")
        case set():
            if not isinstance(value, str) or value not in wanted:
                raise Fault(
                    where, f"expected one of {', '.join(sorted(wanted))}; got {_shown(value)}"
                )
        case re.Pattern():
            if not isinstance(value, str) or not wanted.fullmatch(value):
                raise Fault(where, f"expected a text like {wanted.pattern}; got {_shown(value)}")
        case _:
            _check_type(value, wanted, where)


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Fault(where, f"expected an object; got {_shown(value)}")
    return value


def _check_keys(value: Any, wanted: Mapping[str, Any], where: str) -> None:
    found = _object(value, where)
    missing = [key for key in wanted if key not in found]
    if missing:
        raise Fault(where, f"{missing[0]!r} is missing")
    unknown = [key for key in found if key not in wanted]
    if unknown:
        raise Fault(where, f"{unknown[0]!r} is not part of the format")


def _check_type(value: Any, wanted: type, where: str) -> None:
    if wanted is float:
        number = type(value) is int or (type(value) is float and math.isfinite(value))
        if not number or value < 0:
            raise Fault(where, f"expected a number that is not negative; got {_shown(value)}")
    elif wanted is Count:
        if type(value) is not int or value < 0:
            raise Fault(where, f"expected an integer that is not negative; got {_shown(value)}")
    elif type(value) is not wanted:
        kind = {str: "a text", int: "an integer", bool: "true or false"}[wanted]
        raise Fault(where, f"expected {kind}; got {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
