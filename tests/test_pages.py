"""The code on the pages of docs/ runs, each page from top to bottom, as a reader would type it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
PAGES = sorted(page for page in DOCS.glob("*.md") if BLOCK.search(page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs(page: Path) -> None:
    space: dict[str, object] = {}
    text = page.read_text()
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        code = compile("\n" * line + block.group(1), str(page), "exec")
        exec(code, space)


def test_there_are_pages() -> None:
    assert {"composition", "cute"} <= {page.stem for page in PAGES}
