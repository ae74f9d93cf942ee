"""Two ledgers side by side."""

from __future__ import annotations

from dataclasses import dataclass

from layout_algebra.ledger.entries import Entry, Ledger


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
        was, now = (None if entry is None else _said(entry) for entry in (one, two))
        if was != now:
            worse = one is not None and two is not None and _rank(two) < _rank(one)
            found.append(Change(name, was, now, worse))
    return found


def _said(entry: Entry) -> str:
    return entry.verdict if entry.verdict != "REFUTED" or not entry.ok else "REFUTED as expected"


def _rank(entry: Entry) -> int:
    return 2 if entry.ok else 1 if entry.standing == "undecided" else 0
