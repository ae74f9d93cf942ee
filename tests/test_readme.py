"""The README's code runs, in order, and what its comments say is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from layout_algebra.errors import NotProvedError
from layout_algebra.verdicts import Verdict

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_code_runs_and_keeps_its_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(BLOCKS) >= 4
    space: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, str(README), "exec"), space)
    printed = capsys.readouterr().out
    assert "laneid = 4*i + floor(j/2) mod 4" in printed
    assert "REFUTED" in printed

    frag, tile = space["frag"], space["tile"]
    prove, injective = space["prove"], space["Injective"]
    assert frag.apply(1, 3, shape=(8, 16)) == {"laneid": 5, "warpid": 5, "m": 1}
    assert [p["warpid"] for p in frag.places(1, 3, shape=(8, 16))] == [5, 9]
    assert tile.apply(1, 0, shape=(8, 64)) == {"m": 72}
    assert prove(injective(frag)).verdict is Verdict.PROVED
    assert prove(injective(frag)).method.startswith("structure")
    assert prove(space["fragment_is_injective"]()).verdict is Verdict.PROVED
    with pytest.raises(NotProvedError, match="elements"):
        space["assert_proved"](injective(space["padded"]))
