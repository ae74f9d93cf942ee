"""Writes docs/catalogue.md from the catalogue:  python docs/make_catalogue.py"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from layout_algebra.hardware import Entry, catalogue

PAGE = Path(__file__).with_name("catalogue.md")
HEAD = """# The hardware catalogue

`layout_algebra.hardware.catalogue()` yields every entry: an ordinary layout with its shape, element
type and source. Every entry has a theorem in `proofs/`; a test changes each of its numbers to see
one fail. "Confirmed by" names what says the same independently of our constructor; entries without
such a confirmation are listed at the end. None of them has been run on a chip by this project.

This page is written by `docs/make_catalogue.py`.

"""


def page() -> str:
    """The page's text."""
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in catalogue():
        groups[".".join(entry.name.split(".")[:1]), entry.source].append(entry)
    lines = [
        HEAD,
        "| family | entries | for example | source | confirmed by |",
        "|---|---|---|---|---|",
    ]
    for (name, source), entries in groups.items():
        confirmed = sorted({entry.confirmed_by for entry in entries if entry.confirmed_by})
        told = "; ".join(confirmed) or "-"
        lines.append(
            f"| {name} | {len(entries)} | `{entries[0].name}` | {source} | {told} |".replace(
                "\n", " "
            )
        )
    unconfirmed = [entry.name for entry in catalogue() if not entry.confirmed_by]
    lines += ["", f"## Not confirmed independently ({len(unconfirmed)})", ""]
    lines += [f"* `{name}`" for name in unconfirmed]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
