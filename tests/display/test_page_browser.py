"""The page in a headless Chromium: opened from disk, edited, clicked, stepped, exported.

One browser makes one walk (page/walk.mjs); each test looks at one part of what it saw.  The
accessibility check is axe-core's where a package with it is installed; our own looks at roles,
names and contrast in any case.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from layout_algebra import R, S, TileLayout, laneid, warpid
from layout_algebra import hardware as hw
from layout_algebra.display.page import module_source, page_data, style_source, write_html
from layout_algebra.display.widget import answer
from layout_algebra.memory import Buffer
from layout_algebra.memory.spelled import access_of
from tests.display.test_page_module import HERE, node

FRAGMENT = TileLayout(
    S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid
)
TILE = TileLayout(S[(128, 64) : (64, 1)])
#: Milliseconds that an interaction may take at 64 x 256 elements.
FLUENT = 100.0

#: A widget's page: the module, and a model that answers with what Python says.
WIDGET = """<!doctype html><html lang="en"><title>widget</title><style>@STYLE@</style><body>
<script type="module">
@MODULE@
const ANSWERS = @ANSWERS@;
class Model {
  constructor(values) { this.values = values; this.sent = []; this.listeners = {}; }
  get(name) { return this.values[name]; }
  set(name, value) { this.values[name] = value; }
  save_changes() {}
  on(name, listener) { this.listeners[name] = listener; }
  off() {}
  send(request) {
    this.sent.push(request);
    const reply = {...ANSWERS[request.layout], number: request.number};
    setTimeout(() => this.listeners["msg:custom"](reply));
  }
}
window.model = new Model({data: @DATA@, state: ""});
render({model: window.model, el: document.body});
window.ready = true;
</script></body></html>
"""


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.skip("no Chromium here (Debian: apt-get install chromium): the page is not opened")


def axe() -> list[str]:
    """axe-core, from a package that brings it; nothing where there is none."""
    for package in ("axe_playwright_python", "axe_core_python"):
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            found = Path(spec.origin).parent / "axe.min.js"
            if found.exists():
                return [str(found)]
    return []


def widget_page() -> str:
    """The page of the widget test, with Python's answer about the edited layout."""
    text = "S[(8, 4) : (4, 1)]"
    request = {"kind": "prove", "layout": text, "shape": [8, 4], "dtype": "float16"}
    parts = {
        "STYLE": style_source(),
        "MODULE": module_source(),
        "ANSWERS": json.dumps({text: answer(request)}),
        "DATA": json.dumps(page_data(TILE, shape=(128, 64), presets=False)),
    }
    page = WIDGET
    for name, part in parts.items():
        page = page.replace(f"@{name}@", part)
    return page


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    programs = node(), chromium()
    folder = tmp_path_factory.mktemp("pages")
    write_html(FRAGMENT, folder / "fragment.html", shape=(8, 16), title="A fragment <of 2>")
    write_html(TILE, folder / "tile.html", shape=(128, 64), presets=False)
    broken = TileLayout(S[(64, 256) : (128, 1)])
    write_html(broken, folder / "broken.html", presets=False)
    write_html(TileLayout(S[(64, 256) : (256, 1)]), folder / "big.html", presets=False)
    tmem = hw.tmem_datapath_layout("D", 128, 64)
    write_html(tmem, folder / "tmem.html", dtype="float32", shape=(128, 64), presets=False)
    (folder / "widget.html").write_text(widget_page(), encoding="utf-8")
    run = subprocess.run(
        [programs[0], str(HERE / "walk.mjs"), programs[1], str(folder), *axe()],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def seen(walk: dict[str, Any], step: str) -> Any:
    """What a step found; it may not have failed, complained or gone to the network."""
    result = walk[step]
    assert "failed" not in result, result["failed"]
    assert result["problems"] == []
    assert result["foreign"] == []
    return result["found"]


def test_opens_from_disk(walk) -> None:
    found = seen(walk, "opens")
    assert found["heading"] == "A fragment <of 2>"
    assert "PROVED" in found["verdicts"]
    assert "structure" in found["verdicts"]
    assert " ms]" in found["verdicts"]
    assert (found["grid"]["rows"], found["grid"]["columns"]) == ("8", "16")
    assert min(found["drawn"]) > 8


def test_clicks_on_either_side(walk) -> None:
    found = seen(walk, "chooses")
    logical = found["logical"]
    row, column = int(logical["grid"]["row"]) - 1, int(logical["grid"]["column"]) - 1
    assert row == 1
    assert column > 0
    assert logical["element"] == f"Element ({row}, {column}), flat index {16 * row + column}"
    assert logical["copies"].startswith("Its 2 places:")
    for place, steps in zip(
        FRAGMENT.places(row, column, shape=(8, 16)), (logical["steps"], found["copy"]), strict=True
    ):
        shown = ", ".join(f"{axis} = {place.get(axis, 0)}" for axis in ("laneid", "warpid", "m"))
        assert shown in logical["copies"]
        assert steps.endswith(f"place: {shown}")
    physical = found["physical"]
    assert physical["element"].startswith("Element (0, 0)")
    assert physical["grid"]["selected"] == "true"


def test_keyboard_and_screen_reader(walk) -> None:
    found = seen(walk, "keys")
    assert found["seen"] == [
        ["1", "2"],
        ["2", "2"],
        ["2", "16"],
        ["1", "1"],
        ["8", "16"],
        ["8", "16"],
    ]
    assert found["element"] == "Element (7, 15), flat index 127"
    assert "element 127 chosen, 2 places" in found["spoken"]
    assert found["grid"]["cell"].startswith("element (7, 15): laneid = 31")


def test_edits(walk) -> None:
    found = seen(walk, "edits")
    whole = found["whole"]
    assert (whole["grid"]["rows"], whole["grid"]["columns"]) == ("8", "64")
    assert "layout=" in whole["address"]
    assert "ENUMERATED" in whole["verdicts"]  # Python has not spoken of this layout
    assert "PROVED" not in whole["verdicts"]
    assert found["mode"] == "ComposeLayout(3, 3, 3, S[(8, 64) : (64, 1)])"
    assert found["parts"] == "ComposeLayout(3, 3, 3, S[(8, 64) : (64, 1)] + R[2 : 512])"
    assert found["cute"] == "(4,8):(8,1)"
    assert "both lists or both single" in found["error"]
    assert (found["kept"]["rows"], found["kept"]["columns"]) == ("8", "4")


def test_presets(walk) -> None:
    found = seen(walk, "presets")
    entries = [one for one in hw.catalogue() if one.name.startswith("wgmma.")]
    assert found["entries"] == len(entries) + 1
    assert found["layout"] == str(entries[0].layout)
    assert "PROVED" in found["verdicts"]
    assert entries[0].source in found["about"]


def test_views(walk) -> None:
    found = seen(walk, "views")
    for name, shown in found.items():
        assert shown["chosen"] == name.split()[1]
    assert found["fragment owner"]["note"].startswith("Owners (laneid, warpid)")
    assert (found["fragment owner"]["rows"], found["fragment owner"]["columns"]) == ("192", "2")
    assert found["fragment banks"]["note"].startswith("banks are of axis m alone")
    assert not found["fragment tmem"]["drawn"]
    assert (found["tile banks"]["rows"], found["tile banks"]["columns"]) == ("128", "32")
    assert (found["tile places"]["rows"], found["tile places"]["columns"]) == ("128", "64")
    assert (found["tmem tmem"]["rows"], found["tmem tmem"]["columns"]) == ("128", "64")
    drawn = [shown["colours"] for shown in found.values() if shown["drawn"]]
    assert len(drawn) == 6
    assert min(drawn) > 8


def test_access_and_wavefronts(walk) -> None:
    found = seen(walk, "accesses")
    assert found["whole"] == "Degree 8: 32 wavefronts, at least 4 for these words, in 4 phases"
    assert found["shown"][0] == "wavefront 1 of 32: phase 0, 4 words to lanes 0"
    assert found["shown"][2].startswith("wavefront 3 of 32: phase 0")
    assert found["back"].startswith("wavefront 2 of 32")
    assert found["bars"] == "phase 0 (lanes 0-7): most words from one bank 8, banks 0-3"
    assert found["swizzled"].startswith("Degree 1 (no conflict): 4 wavefronts")
    assert found["formula"].startswith("Degree 1 (no conflict): 4 wavefronts")
    assert (found["grid"]["rows"], found["grid"]["columns"]) == ("32", "32")


def test_refutation_and_its_witness(walk) -> None:
    found = seen(walk, "witness")
    assert "REFUTED" in found["verdicts"]
    assert "share" in found["told"] or "both" in found["told"]
    assert "(witness)" in found["cell"]["cell"]
    assert "NOT INJECTIVE" in found["edited"]  # by enumeration: Python has not spoken of it


def test_two_layouts(walk) -> None:
    found = seen(walk, "operations")
    assert found["compared"].startswith(
        "By enumeration: 8190 of 8192 elements differ, first (0, 1)"
    )
    assert "it is S[" in found["composed"]
    assert "it is S[(4, 8) : (1, 4)]" in found["inverted"]
    assert found["drawn"] > 8


def test_exports(walk) -> None:
    texts = seen(walk, "exports")
    for name in ("logical.svg", "places.svg", "access.svg"):
        root = ElementTree.fromstring(texts[name])
        assert root.tag.endswith("svg")
        assert len(root.findall(".//{*}rect")) > 500
        assert "script" not in texts[name]
    written = json.loads(texts["layout.json"])
    assert written["notation"] == str(TILE)
    assert [verdict["verdict"] for verdict in written["verdicts"]].count("REFUTED") == 1
    assert texts["queries.smt2"].count("(check-sat)") >= 4
    made, lines = run(texts["layout.py"])
    assert lines == ["PROVED Injective", "REFUTED BankConflictFree"]
    access = access_of(Buffer((128, 64), "float16", TILE, align=16), "column", 16)
    assert made["layout"] == TILE
    assert (made["access"].elements, made["access"].free) == (access.elements, access.free)
    assert (made["access"].lanes, made["access"].align) == (access.lanes, access.align)


def run(program: str) -> tuple[dict[str, Any], list[str]]:
    """The names that an exported program makes, and the verdicts that it prints."""
    printed = StringIO()
    made: dict[str, Any] = {}
    with redirect_stdout(printed):
        exec(program, made)
    lines = printed.getvalue().splitlines()
    return made, [line.split("(")[0] for line in lines if line.startswith(("PROVED", "REFUTED"))]


def test_state_is_in_the_address(walk) -> None:
    found = seen(walk, "address")
    assert "colour=bank" in found["hash"]
    assert found["before"] is not None
    assert found["after"] == found["before"]
    assert found["view"] == "places"


def test_odd_addresses_break_nothing(walk) -> None:
    told = seen(walk, "addresses")
    assert len(told) == 12
    # no layout, no shape of it, and a tile's shape for one element are refused in words
    assert [number for number, text in enumerate(told) if text] == [0, 1, 9]


def test_64_by_256_stays_fluent(walk) -> None:
    found = seen(walk, "speed")
    slow = {name for name, time in found.items() if time["best"] > FLUENT}
    assert not slow, found


def test_a_tera_of_elements_is_windowed(walk) -> None:
    found = seen(walk, "huge")
    assert found["element"] is not None
    assert found["grid"]["rows"] == str(1 << 19)  # what a browser can scroll
    assert found["drawn"] > 8


def test_widget_asks_python(walk) -> None:
    found = seen(walk, "widget")
    (request,) = found["asked"]
    assert request["kind"] == "prove"
    assert request["layout"] == "S[(8, 4) : (4, 1)]"
    assert "layout=" in found["state"]
    assert "PROVED" in found["verdicts"]


def test_roles_names_and_contrast(walk) -> None:
    found = seen(walk, "names")
    assert found["language"] == "en"
    assert found["unnamed"] == []
    assert found["faint"] == []
    assert found["active"]
    assert found["live"] == 1
    assert found["counted"] > 40


def test_axe_finds_nothing_serious(walk) -> None:
    found = seen(walk, "axe")
    if found is None:
        pytest.skip("no axe-core here (pip install axe-playwright-python has one): own checks only")
    assert found.pop("version")
    for name, result in found.items():
        serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
        assert serious == [], name
        assert result["passes"] > 20
