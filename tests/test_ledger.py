"""Ledgers: what is written is what is read, what is not a ledger is refused with its place."""

import copy
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import layout_algebra
from layout_algebra.errors import LedgerError
from layout_algebra.ledger import (
    Entry,
    Ledger,
    StepRecord,
    changes,
    lemma_report,
    query_key,
    read_ledger,
    write_ledger,
)
from layout_algebra.ledger.files import write_text
from layout_algebra.prover.running import run
from layout_algebra.theorems import load_theorems
from tests.theorem_files import GOOD, RAISES, UNDECIDED, VACUOUS, WRONG, write

SCHEMA = json.loads(
    (Path(layout_algebra.__file__).parent / "ledger.schema.json").read_text(encoding="utf-8")
)
VALID = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the ledger of a run in which everything that can happen happens."""
    folder = tmp_path_factory.mktemp("ledger")
    path = write(folder, GOOD, RAISES, WRONG, UNDECIDED, VACUOUS)
    with ThreadPoolExecutor(1) as executor:
        run(load_theorems([path]), executor=executor, ledger_path=folder / "ledger.json")
    return folder


@pytest.fixture
def data(folder):
    return json.loads((folder / "ledger.json").read_text(encoding="utf-8"))


def entry(name, verdict="PROVED", expect="PROVED", lemmas=()):
    steps = (StepRecord("claim", "rule", "", tuple(lemmas), ()),)
    return Entry(name, "", "", "claim", (), expect, verdict, steps=steps)


def ledger(*entries):
    settings = {"rlimit": 1, "seconds": 1.0, "most_places": 1}
    run = {"seconds": 0.0, "workers": 1, "resumed": 0}
    return Ledger(tuple(entries), len(entries), {"z3": "5"}, settings, run)


# -- writing and reading -----------------------------------------------------------------------
def test_what_is_read_is_what_was_written(folder, tmp_path):
    found = read_ledger(folder / "ledger.json")
    write_ledger(found, tmp_path / "again.json")
    assert read_ledger(tmp_path / "again.json") == found
    assert (tmp_path / "again.json").read_bytes() == (folder / "ledger.json").read_bytes()


def test_a_ledger_has_all_standings(data):
    summary = data["summary"]
    counts = [summary[name] for name in ("theorems", "proved", "refuted", "failed", "undecided")]
    assert counts == [9, 4, 1, 2, 2]
    assert data["status"] == "complete"
    assert summary["without_query"] == []


def test_every_query_is_a_file_named_by_its_text(folder, data):
    named = {query["file"] for one in data["entries"] for query in one["queries"]}
    assert len(named) == data["summary"]["queries"] > 5
    for name in named:
        text = (folder / name).read_text(encoding="utf-8")
        assert name == f"queries/{query_key(text)}.smt2"
        assert text.startswith("(set-logic ")


def test_the_schema_accepts_ledgers(data):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALID.validate(data)
    VALID.validate(ledger(entry("one")).to_json())
    VALID.validate(ledger().to_json())


def places(data, path=()):
    """Every place in a ledger's JSON, but one example of each array's items."""
    yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*path, key))
    elif isinstance(data, list) and data:
        yield from places(data[0], (*path, 0))


def changed(data, path, change):
    """The ledger with the value at a path put through `change`, which works on its holder."""
    data = copy.deepcopy(data)
    holder = data
    for step in path[:-1]:
        holder = holder[step]
    change(holder, path[-1])
    return data


def put(value):
    return lambda holder, key: holder.__setitem__(key, value)


FREE = {"tools", "dims", "points", "places"}  # objects with any keys


def refused(data, tmp_path):
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(LedgerError, match=r"changed\.json is not a ledger"):
        read_ledger(path)
    return True


def test_the_reader_and_the_schema_refuse_the_same(data, tmp_path):
    """Keys that are missing or unknown, and values of another kind, one at a time."""
    data["entries"].sort(key=lambda one: one["name"] != "strides that collide")  # has all parts
    assert data["entries"][0]["witness"] is not None
    tried = 0
    for path in list(places(data))[1:]:
        inside_free = FREE & set(path[:-1])
        broken = [changed(data, path, put(value)) for value in ({"x": []}, [[]], -1.5, True)]
        if isinstance(path[-1], str) and not inside_free:
            broken.append(changed(data, path, lambda holder, key: holder.pop(key)))
            broken.append(changed(data, path, lambda holder, key: holder.__setitem__("zz", 1)))
        for one in broken:
            if one != data and not VALID.is_valid(one):
                assert refused(one, tmp_path), path
                tried += 1
    assert tried > 300


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("entries", 0, "verdict"), "MAYBE", "entries[0].verdict: expected one of FAILED, PROVED"),
        (("entries", 0, "seconds"), "x", "entries[0].seconds: expected a number that is not"),
        (
            ("entries", 0, "steps", 0, "lemmas"),
            "x",
            "entries[0].steps[0].lemmas: expected an array",
        ),
        (("entries", 0, "ok"), False, "entries[0].ok: expected True for PROVED where PROVED was"),
        (("entries", 1, "name"), "row-major is injective", "entries[1].name: a second entry named"),
        (("version",), 2, "version: expected 1, the one that this release reads; got 2"),
        (("format",), "x", 'expected an object with "format": "layout_algebra ledger"'),
        (("planned",), 99, "status: says 'complete', by the entries it is 'partial'"),
        (("summary", "proved"), 9, "summary.proved: says 9, by the entries it is 4"),
        (
            ("entries", 0, "queries", 0, "file"),
            "../../etc/passwd",
            "queries[0].file: expected a text",
        ),
        (("entries", 0, "queries", 0, "key"), "0" * 24, "queries[0].file: expected 'queries/0000"),
        (("entries", 0, "steps", 0, "queries"), ["0" * 24], "steps[0].queries: no query '0000"),
        (("tools",), {"z3": 5}, "tools.z3: expected a text; got 5"),
    ],
)
def test_messages_name_the_place(data, tmp_path, path, value, says):
    target = tmp_path / "changed.json"
    target.write_text(json.dumps(changed(data, path, put(value))), encoding="utf-8")
    with pytest.raises(LedgerError, match=re.escape(says)):
        read_ledger(target)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not JSON: Expecting value, line 1, column 1"),
        (b'{"format": ', "is not JSON"),
        (b"\xff\xfe", "is not text"),
        (b"[]", "is not a ledger"),
        (b"null", "is not a ledger"),
        (b"[" * 100_000, "cannot be read"),
        (b"1" * 5000, "cannot be read"),
    ],
)
def test_other_files(tmp_path, content, says):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=re.escape(says)):
        read_ledger(path)


def test_no_file_and_no_place(tmp_path):
    with pytest.raises(LedgerError, match="no ledger at"):
        read_ledger(tmp_path / "none.json")
    with pytest.raises(LedgerError, match=r"cannot read .*Is a directory"):
        read_ledger(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot write"):
        write_ledger(ledger(), tmp_path / "file" / "ledger.json")


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "ledger.json"
    write_text(path, "old")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(LedgerError, match="No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


# -- standings, lemmas, changes ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("verdict", "expect", "standing"),
    [
        ("PROVED", "PROVED", "proved"),
        ("REFUTED", "REFUTED", "refuted"),
        ("REFUTED", "PROVED", "failed"),
        ("PROVED", "REFUTED", "failed"),
        ("FAILED", "PROVED", "failed"),
        ("UNDECIDED", "PROVED", "undecided"),
        ("UNDECIDED", "REFUTED", "undecided"),
        ("VACUOUS", "PROVED", "undecided"),
    ],
)
def test_standings(verdict, expect, standing):
    found = entry("one", verdict, expect)
    assert found.standing == standing
    assert found.ok is (standing in ("proved", "refuted"))


def test_lemmas_are_checked_where_the_rules_are():
    user = entry("user", lemmas=["rule: a", "rule: b"])
    assert lemma_report([user]) == {
        "checked": False, "needed": ["rule: a", "rule: b"], "missing": [], "circular": [],
    }  # fmt: skip
    report = lemma_report([user, entry("rule: a"), entry("rule: b", "UNDECIDED")])
    assert report["checked"]
    assert report["missing"] == ["rule: b"]
    assert report["circular"] == []


def test_theorems_that_rest_on_themselves_are_found():
    round_about = [
        entry("rule: a", lemmas=["rule: b"]),
        entry("rule: b", lemmas=["rule: c"]),
        entry("rule: c", lemmas=["rule: a"]),
        entry("user", lemmas=["rule: a"]),
    ]
    assert lemma_report(round_about)["circular"] == ["rule: a", "rule: b", "rule: c"]


def test_changes_name_every_verdict_that_is_another():
    old = ledger(
        entry("same"), entry("worse"), entry("slower", "UNDECIDED"), entry("better", "UNDECIDED"),
        entry("gone"), entry("turned"),
    )  # fmt: skip
    new = ledger(
        entry("same"), entry("worse", "UNDECIDED"), entry("slower", "REFUTED"), entry("better"),
        entry("new"), entry("turned", "REFUTED", "REFUTED"),
    )  # fmt: skip
    assert [str(change) for change in changes(old, new)] == [
        "WORSE: worse (PROVED -> UNDECIDED)",
        "WORSE: slower (UNDECIDED -> REFUTED)",
        "changed: better (UNDECIDED -> PROVED)",
        "appeared: new (PROVED)",
        "changed: turned (PROVED -> REFUTED as expected)",
        "vanished: gone (was PROVED)",
    ]
    assert changes(old, old) == []
    assert changes(old, ledger(*(replace(e, seconds=9.0) for e in old.entries))) == []
