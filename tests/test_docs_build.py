"""The documentation: what it draws from the code is so, and it builds without a warning."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
LIMIT = 180
NEEDED = ("sphinx", "myst_nb", "furo")


def module(name: str) -> ModuleType:
    """One of the documentation's own modules."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


def pages() -> list[Path]:
    return sorted([*DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("api/*.md")])


# -- the build ---------------------------------------------------------------------------------
@pytest.mark.slow
def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    for package in NEEDED:
        pytest.importorskip(package, reason="pip install '.[docs]' to build the documentation")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    environment = {**os.environ, "PYTHONWARNINGS": ""}
    done = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(DOCS), str(tmp_path / "html")],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    html = tmp_path / "html"
    assert "Injective" in (html / "api" / "claims.html").read_text("utf-8")
    assert "--bijective-onto" in (html / "command_line.html").read_text("utf-8")
    assert (html / "notebooks" / "01_quickstart.html").is_file()
    assert "<svg" in (html / "floors.html").read_text("utf-8")


# -- pages -------------------------------------------------------------------------------------
def test_every_page_is_in_a_table_of_contents() -> None:
    listed: set[Path] = set()
    for page in pages():
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for line in tree.splitlines():
                if line and not line.startswith(":"):
                    listed |= set(page.parent.glob(f"{line}.md"))
    assert listed | {DOCS / "index.md"} == set(pages())


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    prose = re.sub(r"`[^`\n]+`", "code", text)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target:
            assert (page.parent / target).is_file(), target


def test_every_command_has_its_help_text() -> None:
    from layout_algebra import cli

    (commands,) = (
        action.choices for action in cli._parser()._actions if isinstance(action.choices, dict)
    )
    page = (DOCS / "command_line.md").read_text("utf-8")
    assert re.findall(r"\{program-help\} (\w+)", page) == list(commands)


def test_help_texts_come_from_the_program() -> None:
    pytest.importorskip("docutils", reason="pip install '.[docs]' to build the documentation")
    sys.path.insert(0, str(DOCS))
    try:
        directives = module("directives")
    finally:
        sys.path.remove(str(DOCS))
    assert directives.help_text("show").startswith("usage: layout-algebra show")
    with pytest.raises(LookupError, match="no command 'nothing'"):
        directives.help_text("nothing")


def test_every_family_of_the_catalogue_is_drawn() -> None:
    from layout_algebra import hardware

    page = (DOCS / "catalogue_pictures.md").read_text("utf-8")
    drawn = re.findall(r"\{catalogue-picture\} (\S+)", page)
    names = [entry.name for entry in hardware.catalogue()]
    assert set(drawn) <= set(names)
    assert {name.split(".")[0] for name in drawn} == {name.split(".")[0] for name in names}


# -- floors ------------------------------------------------------------------------------------
def test_the_floors_are_those_of_the_contract() -> None:
    floors = module("floors")
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = (
        one for one in config["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    drawn = [name for row in floors.floors() for name in row]
    order = [name for layer in contract["layers"] for name in re.findall(r"\w+", layer)]
    assert drawn == [name for name in order if name in drawn]

    package = ROOT / "layout_algebra"
    there = {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}
    there |= {path.parent.name for path in package.glob("*/__init__.py")}
    assert set(drawn) == there


def test_the_picture_of_the_floors() -> None:
    floors = module("floors")
    tree = ElementTree.fromstring(floors.floors_svg())
    names = [node.text for node in tree.iter() if node.tag.endswith("text")]
    assert names == [name for row in floors.floors() for name in row]
    rows = [float(node.attrib["y"]) for node in tree.iter() if node.tag.endswith("rect")]
    assert rows == sorted(rows)
    assert len(set(rows)) == len(floors.floors())
    assert all(floors.about(name) for name in names)


# -- docstrings --------------------------------------------------------------------------------
def prepared(text: str) -> str:
    return "\n".join(module("docstrings").prepared(text.splitlines())).rstrip("\n")


def test_indented_blocks_become_code() -> None:
    assert prepared("Say:\n\n    S[4 : 1]\n\n    R[2 : 4*x]\n\nEnd.") == (
        "Say:\n\n::\n\n    S[4 : 1]\n\n    R[2 : 4*x]\n\nEnd."
    )


def test_marks_lose_their_meaning() -> None:
    assert prepared("a * b of `x*y`, f_") == r"a \* b of ``x*y``, f\_"
    assert prepared("some `Iter`s") == r"some ``Iter``\ s"


def test_lists_stay_lists() -> None:
    assert prepared("Two:\n* one\n  more\n* two") == "Two:\n\n* one\n  more\n\n* two"


def test_words_with_hanging_lines_are_a_table() -> None:
    assert prepared("XOR   every *\n      swizzle\nF2    more") == (
        "::\n\n    XOR   every *\n          swizzle\n    F2    more"
    )


def test_sections_are_napoleons() -> None:
    text = "Do.\n\nArgs:\n    a, b: the `x`.\n        More.\n\nRaises:\n    E: a * b."
    assert prepared(text) == (
        "Do.\n\nArgs:\n    a,b: the ``x``.\n        More.\n\nRaises:\n    E: a \\* b."
    )
