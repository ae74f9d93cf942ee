"""The code on the pages of docs/ runs, each page from top to bottom, as a reader would type it.

Comments are held to their word: `x   # = text` says that x prints as the text, and
`print(x)   # ... text` that the text is part of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
EQUALS = re.compile(r"(\S.*?)\s{2,}# = (.*)")
CONTAINS = re.compile(r"print\((.*)\)\s{2,}# \.\.\. (.*)")
PAGES = sorted(page for page in DOCS.rglob("*.md") if BLOCK.search(page.read_text()))
#: Pages of which every comment is such a statement, and how many there are at least.
ALL_CHECKED = {"cute": 35, "interop": 25}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs_and_keeps_its_word(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, object] = {}
    text = page.read_text()
    claims = 0
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block.group(1), str(page), "exec"), space)
        claims += sum(says_so(one, space) for one in block.group(1).splitlines())
        if page.stem in ALL_CHECKED:
            lines = block.group(1).splitlines()
            left = [one for one in lines if re.search(r"\S\s+# (?!= |\.\.\. )", one)]
            assert not left, "a comment that nothing checks"
    assert claims >= ALL_CHECKED.get(page.stem, 0)
    capsys.readouterr()


def says_so(line: str, space: dict[str, object]) -> bool:
    """Whether a line has a statement; it must be true."""
    if found := EQUALS.fullmatch(line):
        assert str(eval(found[1], space)) == found[2], line
    elif found := CONTAINS.fullmatch(line):
        assert found[2] in str(eval(found[1], space)), line
    return found is not None


def test_there_are_pages() -> None:
    assert {"composition", "cute", "interop", "memory"} <= {page.stem for page in PAGES}
