"""docs/interop.md: its code runs, in order, and what the comments say is so.

`x   # = text` says that x prints as the text, `print(x)   # ... text` that the text is part of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "interop.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_page_keeps_its_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(BLOCKS) >= 5
    space: dict[str, object] = {}
    claims = 0
    for block in BLOCKS:
        exec(compile(block, str(PAGE), "exec"), space)
        for line in block.splitlines():
            found = re.fullmatch(r"(\S.*?)\s{2,}# = (.*)", line)
            if found:
                claims += 1
                assert str(eval(found[1], space)) == found[2], line
            found = re.fullmatch(r"print\((.*)\)\s{2,}# \.\.\. (.*)", line)
            if found:
                claims += 1
                assert found[2] in eval(found[1], space), line
        left = [line for line in block.splitlines() if re.search(r"\S\s+# (?!= |\.\.\. )", line)]
        assert not left, "a comment that nothing checks"
    assert claims >= 25
    capsys.readouterr()
