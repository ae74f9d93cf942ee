"""docs/theorems.md: the theorems that it names are there, and those of the texts are all named."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from layout_algebra.theorems import Theorem, load_theorems

ROOT = Path(__file__).parents[1]
INDEX = ROOT / "docs" / "theorems.md"

#: The files that state what the two texts say; the others hold rules and general facts.
OF_THE_TEXTS = (
    "banks",
    "constructors",
    "forward_mapping",
    "fragments",
    "guide",
    "named_axes",
    "scale_factors",
    "swizzle",
    "tmem",
)

ROW = re.compile(
    r"\| (?P<statement>[^|]*)\| `(?P<name>[^`]+)` \| (?P<file>\S+) \| (?P<verdict>\w+) \|"
)


class Row(NamedTuple):
    statement: str
    name: str
    file: str
    verdict: str


def rows(text: str) -> list[Row]:
    """The lines of the tables; one that is almost a line of a table is an error."""
    found: list[Row] = []
    for line in text.splitlines():
        if line.startswith("|") and "`" in line:
            match = ROW.fullmatch(line)
            assert match, f"not a line of the index: {line}"
            found.append(Row(*(part.strip() for part in match.group(*Row._fields))))
    return found


def faults(text: str, theorems: dict[str, Theorem]) -> list[str]:
    """What is wrong with an index of these theorems."""
    found: list[str] = []
    listed = rows(text)
    for row in listed:
        theorem = theorems.get(row.name)
        if theorem is None:
            found.append(f"there is no theorem {row.name!r}")
        elif (row.file, row.verdict) != (Path(theorem.file).name, str(theorem.expect).lower()):
            found.append(f"{row.name!r} is {theorem.expect} in {Path(theorem.file).name}")
    names = [row.name for row in listed]
    found += [f"{name!r} is listed twice" for name in {n for n in names if names.count(n) > 1}]
    found += [
        f"{name!r} is not listed"
        for name, theorem in theorems.items()
        if Path(theorem.file).stem in OF_THE_TEXTS and name not in names
    ]
    return found


@pytest.fixture(scope="module")
def theorems() -> dict[str, Theorem]:
    return {theorem.name: theorem for theorem in load_theorems([ROOT / "proofs"])}


def test_the_index_is_whole(theorems):
    assert not faults(INDEX.read_text(encoding="utf-8"), theorems)


def test_every_table_begins_with_a_statement():
    previous = ""
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        if previous.startswith("|---"):
            assert rows(line)[0].statement, line
        previous = line


def test_at_least_fifty_five_statements(theorems):
    listed = rows(INDEX.read_text(encoding="utf-8"))
    assert sum(bool(row.statement) for row in listed) >= 55
    for file in OF_THE_TEXTS:
        assert any(row.file == f"{file}.py" for row in listed)


def test_theorems_of_the_texts_cite_a_section(theorems):
    for theorem in theorems.values():
        if Path(theorem.file).stem in OF_THE_TEXTS:
            assert theorem.source.startswith(
                ("book: TIRx Layout API, section ", "guide: Data Layout, section ")
            ) or theorem.source.startswith("PTX ISA"), theorem


def test_what_is_false_says_why(theorems):
    for theorem in theorems.values():
        if theorem.expect.name == "REFUTED":
            assert theorem.note, theorem.name


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("72*i`", "73*i`"), "there is no theorem"),
        (("tmem.py | proved", "tmem.py | refuted"), "is PROVED in tmem.py"),
        (("| fragments.py |", "| guide.py |"), "in fragments.py"),
        (("`guide: element (3, 2) is at lane 3, m 2`", "`tile: column 0 of row i is at 72*i`"),
         "is listed twice"),
    ],
)  # fmt: skip
def test_faults_of_an_index_are_found(change, says, theorems):
    text = INDEX.read_text(encoding="utf-8")
    assert change[0] in text
    assert any(says in fault for fault in faults(text.replace(*change), theorems))


def test_an_omission_is_found(theorems):
    lines = INDEX.read_text(encoding="utf-8").splitlines()
    shorter = [line for line in lines if "`tile: column 0 of row i is at 72*i`" not in line]
    assert faults("\n".join(shorter), theorems) == [
        "'tile: column 0 of row i is at 72*i' is not listed"
    ]
