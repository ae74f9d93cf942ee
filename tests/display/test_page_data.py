"""What Python writes into the page: the file, the data, the verdicts, the answers to the widget."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from layout_algebra import ComposeLayout, Dim, Injective, R, S, TileLayout, laneid, parse, prove
from layout_algebra import hardware as hw
from layout_algebra.display.page import page_data, page_html, write_html
from layout_algebra.display.page_records import access_records, layout_records
from layout_algebra.display.widget import answer, layout_widget
from layout_algebra.errors import LayoutAlgebraError, LayoutError
from layout_algebra.memory import Buffer, served
from layout_algebra.memory.spelled import access_of
from tests import bruteforce as bf
from tests.building import built, plain_of
from tests.display.test_page_arithmetic import drawn

TILE = TileLayout(S[(128, 64) : (64, 1)])
PADDED = TileLayout(S[(8, 64) : (32, 1)])


# -- the file ----------------------------------------------------------------------------------
def test_one_file_that_needs_nothing(tmp_path: Path) -> None:
    path = write_html(TILE, tmp_path / "tile.html", shape=(128, 64), title="a < b </script>")
    text = path.read_text()
    assert path == tmp_path / "tile.html"
    assert list(tmp_path.iterdir()) == [path]
    for reference in re.findall(r"https?://[^\s\"'`)]+", text):
        assert reference.startswith("http://www.w3.org/2000/svg"), reference  # a name, not loaded
    assert "@import" not in text
    assert re.search(r"<(?:link|img|iframe|object)\b|<script[^>]*\bsrc=", text) is None
    assert text.count("</script>") == 2  # the data and the module end where they should
    assert "<title>a &lt; b &lt;/script&gt;</title>" in text
    assert "default-src 'none'" in text


def test_text_of_a_layout_cannot_end_the_script() -> None:
    text = page_html(TILE, dtype="float16", presets=False)
    (data,) = re.findall(r'id="layout-data">(.*?)</script>', text, re.DOTALL)
    assert "<" not in data
    assert json.loads(data)["layout"] == str(TILE)


# -- data --------------------------------------------------------------------------------------
def test_presets_are_the_catalogue() -> None:
    presets = page_data(TILE)["presets"]
    entries = {one["name"]: one for family in presets["families"].values() for one in family}
    wanted = {one.name: one for one in hw.catalogue()}
    assert entries.keys() == wanted.keys()
    for name, entry in wanted.items():
        assert entries[name]["layout"] == str(entry.layout)
        assert presets["sources"][entries[name]["source"]] == entry.source
    for name in list(wanted)[::25]:
        truth = bf.injective(plain_of(wanted[name].layout))[0]
        assert entries[name]["verdict"][0] == ("PROVED" if truth else "REFUTED"), name


def test_injective_records_tell_the_truth() -> None:
    """The verdict, and a witness whose flat indices really share a place."""
    refuted = 0
    for plain in drawn(300, 30):
        layout = built(plain)
        (record,) = layout_records(layout, None, "float16")
        table = bf.table(plain)
        truth = bf.injective(plain)[0]
        assert (record["verdict"] == "PROVED") == truth, plain
        if not truth:
            refuted += 1
            first, second = record["witness"]["flats"]
            assert first != second
            assert table[first] & table[second]
    assert 50 < refuted < 250


def test_access_records_tell_the_truth() -> None:
    """Free of conflicts exactly where no position has any, by looking at all."""
    seen = set()
    tiles = [
        "S[(32, 64) : (64, 1)]",
        "S[(32, 64) : (72, 1)]",
        "ComposeLayout(3, 3, 3, S[(32, 64) : (64, 1)])",
        "ComposeLayout(3, 2, 3, S[(32, 64) : (64, 1)])",
    ]
    for text in tiles:
        layout = parse(text)
        for pick in ("column", "row", "lane % 16, lane // 16 * 8"):
            for moved in (2, 8, 16):
                records = access_records(layout, (32, 64), "float16", pick, moved)
                buffer = Buffer((32, 64), "float16", layout, align=moved)
                degrees = all_degrees(access_of(buffer, pick, moved))
                by_name = {record["name"]: record for record in records}
                free = by_name["BankConflictFree"]
                assert (free["verdict"] == "PROVED") == (max(degrees) <= 1), (text, pick, moved)
                seen.add(free["verdict"])
                if "ConflictDegree" in by_name:
                    assert by_name["ConflictDegree"]["verdict"] in ("PROVED", "REFUTED")
                assert all("check-sat" in query["smt2"] for query in free["queries"])
                assert f"every base that {moved} divides" in free["short"]
    assert seen == {"PROVED", "REFUTED"}


@pytest.mark.parametrize(
    ("bits", "moved", "count"), [(16, 16, 8), (16, 2, 1), (4, 4, 8), (128, 16, 1)]
)
def test_a_column_and_a_row_may_be_anywhere(bits: int, moved: int, count: int) -> None:
    """Every column that a lane's elements fit in, every row, and the lanes that there are."""
    buffer = Buffer((24, 64), str(bits), TileLayout(S[(24, 64)]), align=moved)
    column, row = (access_of(buffer, pick, moved) for pick in ("column", "row"))
    (free,) = column.free
    ends = range(int(free.variable.low), int(free.variable.high) + 1)
    assert [at * free.multiple for at in ends] == list(range(0, 64 - count + 1, count))
    (free,) = row.free
    assert (free.variable.low, free.variable.high, free.multiple) == (0, 23, 1)
    assert (column.lanes, row.lanes) == (24, min(32, 64 // count))
    assert (column.bits, row.bits) == (8 * moved, 8 * moved)


def all_degrees(access: Any) -> list[int]:
    if not access.free:
        return [served(access).degree]
    (free,) = access.free
    count = int(free.variable.high) + 1
    return [served(access, **{free.name: at * free.multiple}).degree for at in range(count)]


def test_options_of_the_data() -> None:
    data = page_data(TILE, shape=(128, 64))
    assert {record["name"] for record in data["verdicts"]} >= {"Injective", "BankConflictFree"}
    assert data["access"] == "column"
    none = page_data(TILE, shape=(128, 64), accesses=(), presets=False)
    assert [record["name"] for record in none["verdicts"]] == ["Injective"]
    assert none["presets"]["families"] == {}
    proof = prove(Injective(PADDED.map((8, 64))))
    more = page_data(PADDED, shape=(8, 64), accesses=(), proofs=(proof,), presets=False)
    flats = [record["witness"]["flats"] for record in more["verdicts"]]
    for first, second in flats:
        assert PADDED.apply(first) == PADDED.apply(second)
    json.dumps(more)
    assert page_data(TileLayout(S[()]), presets=False)["shape"] == [1]


@pytest.mark.parametrize(
    ("layout", "options", "said"),
    [
        (TileLayout(S[(Dim("M"), 64)]), {}, "evaluated"),
        (TileLayout(S[(2, 2) : (1 << 60, 1)]), {}, "exactly below"),
        (TILE, {"shape": (256, 64)}, "more than"),
        (TILE, {"dtype": "floaty"}, "element type"),
        (TILE, {"shape": (128, 64), "accesses": ("lane",)}, "coordinates"),
        (TILE, {"shape": (128, 64), "accesses": ("lane, 0 / 1",)}, "arithmetic"),
        (TILE, {"shape": (128, 64), "accesses": ("column",), "bytes": 512}, "more than a row"),
        (TileLayout(S[8 : 1 @ laneid]), {"accesses": ("row",)}, "axis m"),
        ("S[8]", {}, "TileLayout"),
    ],
)
def test_what_does_not_fit_is_refused(layout: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(LayoutAlgebraError, match=re.escape(said)):
        page_data(layout, presets=False, **options)


# -- the widget --------------------------------------------------------------------------------
def test_answers_to_the_page() -> None:
    reply = answer(
        {"kind": "prove", "number": 4, "layout": str(PADDED), "shape": [8, 64], "dtype": "int8"}
    )
    assert reply["number"] == 4
    assert [record["verdict"] for record in reply["verdicts"]] == ["REFUTED"]
    access = {"pick": "row", "bytes": 16, "kind": "read"}
    request = {"kind": "prove", "layout": str(TILE), "shape": [128, 64], "dtype": "float16"}
    names = [record["name"] for record in answer(request | {"access": access})["verdicts"]]
    assert names == ["Injective", "BankConflictFree", "Vectorizable"]


def test_operations_of_the_widget() -> None:
    columns = "S[(8, 4) : (1, 8)]"
    inverted = answer({"kind": "operate", "operation": "inverse", "layouts": [columns]})
    assert inverted["layout"] == "S[(4, 8) : (1, 4)]"
    assert "PROVED" in inverted["text"]
    layouts = [columns, inverted["layout"]]
    composed = answer({"kind": "operate", "operation": "compose", "layouts": layouts})
    assert [parse(composed["layout"]).apply(flat)["m"] for flat in range(32)] == list(range(32))
    compared = answer({"kind": "operate", "operation": "compare", "layouts": layouts})
    assert compared["text"].startswith("REFUTED Equivalent")
    assert compared["layout"] is None


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"kind": "prove"},
        {"kind": "prove", "layout": 7},
        {"kind": "prove", "layout": "S[", "shape": [8], "dtype": "int8"},
        {"kind": "prove", "layout": "S[8]", "shape": "8", "dtype": "int8"},
        {"kind": "prove", "layout": "S[8]", "shape": 8, "dtype": "int8"},
        {"kind": "prove", "layout": "S[8]", "shape": [16], "dtype": "int8"},
        {"kind": "prove", "layout": "S[8]", "shape": [8], "dtype": None},
        {"kind": "prove", "layout": "S[8]", "shape": [8], "dtype": "int8", "access": {}},
        {"kind": "prove", "layout": "S[8]", "shape": [8], "dtype": "int8", "access": 3},
        {"kind": "operate", "operation": "inverse", "layouts": "S[8]"},
        {"kind": "operate", "operation": "inverse", "layouts": ["S[8]", "S[8]"]},
        {"kind": "operate", "operation": "divide", "layouts": ["S[8]"]},
        {"kind": "operate", "operation": "compose", "layouts": ["S[8 : 2]", "S[8]"]},
    ],
)
def test_bad_requests_are_answered_by_an_error(request_: dict[str, Any]) -> None:
    reply = answer(request_)
    assert reply["error"]
    assert "verdicts" not in reply


def test_the_widget_itself() -> None:
    if find_spec("anywidget") is None:
        with pytest.raises(LayoutError, match=r"layout-algebra\[notebook\]"):
            layout_widget(TILE)
        pytest.skip("no anywidget here (the extra notebook): the widget is not made")
    made = layout_widget(ComposeLayout(3, 3, 3, TileLayout(S[(8, 64)])), shape=(8, 64))
    assert made.layout == ComposeLayout(3, 3, 3, TileLayout(S[(8, 64)]))
    made.state = "layout=S%5B8+%3A+1%5D+%2B+R%5B2+%3A+8%5D&element=3"
    assert made.layout == TileLayout(S[8:1] + R[2:8])
    sent = []
    made.send = sent.append
    made._handle_custom_msg(
        {"kind": "prove", "number": 1, "layout": "S[8]", "shape": [8], "dtype": "int8"}, []
    )
    assert sent[0]["verdicts"][0]["verdict"] == "PROVED"
