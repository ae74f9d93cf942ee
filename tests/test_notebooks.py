"""The notebooks run, and what is stored of them is what they print.

Each is run twice: cell by cell, as `notebooks/execute.py` does, and as a plain script.  Where
nbclient is installed (extra `notebook`) Jupyter runs the stored form too.
"""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
#: The most that is stored of one notebook (bytes).
MOST_BYTES = 250_000


def _executor() -> ModuleType:
    spec = importlib.util.spec_from_file_location("execute", NOTEBOOKS / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["execute"] = module
    spec.loader.exec_module(module)
    return module


execute = _executor()
SCRIPTS: list[Path] = execute.scripts()
each = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def stored(script: Path) -> dict[str, Any]:
    return json.loads(script.with_suffix(".ipynb").read_text(encoding="utf-8"))


def on_any_target(texts: list[str]) -> list[str]:
    """Outputs as they are without a GPU: which target ran is the one thing that may differ."""
    return [text.replace("target: cuda", "target: cpu") for text in texts]


def test_every_story_is_there() -> None:
    assert [script.stem[3:] for script in SCRIPTS] == [
        "quickstart",
        "bank_conflicts",
        "tensor_cores",
        "all_sizes",
        "composing",
        "finding_a_swizzle",
        "ptx_and_its_proof",
        "cross_check",
    ]
    notebooks = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    assert notebooks == [script.stem for script in SCRIPTS]


@each
def test_both_forms_have_the_same_cells(script: Path) -> None:
    ours = [(cell.is_code, cell.text) for cell in execute.cells_of(script.read_text("utf-8"))]
    theirs = [
        (cell["cell_type"] == "code", "".join(cell["source"])) for cell in stored(script)["cells"]
    ]
    assert ours == theirs


@each
def test_nothing_of_a_machine_is_stored(script: Path) -> None:
    notebook = stored(script)
    assert notebook["metadata"] == execute.METADATA
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    path = script.with_suffix(".ipynb")
    assert path.stat().st_size < MOST_BYTES
    assert not re.search(r"/(home|root|tmp|usr|work|mnt|Users)/", path.read_text("utf-8"))


@each
def test_stored_outputs_are_what_it_prints(script: Path) -> None:
    fresh = execute.executed(script)
    assert on_any_target(execute.texts(fresh)) == on_any_target(execute.texts(stored(script)))


@each
def test_it_is_a_plain_script_that_checks_itself(
    script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert script.read_text("utf-8").count("\nassert") >= 4
    assert "Traceback" not in capsys.readouterr().out


@each
def test_jupyter_runs_it(script: Path) -> None:
    nbformat, nbclient, _ = (
        pytest.importorskip(package, reason="pip install '.[notebook]' to run it in Jupyter")
        for package in ("nbformat", "nbclient", "ipykernel")
    )
    notebook: Any = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(notebook)
    before = execute.texts(stored(script))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert on_any_target(execute.texts(json.loads(nbformat.writes(notebook)))) == before


# -- the executor ------------------------------------------------------------------------------
def made(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "09_some.py"
    path.write_text(text, encoding="utf-8")
    return execute.executed(path)


def test_cells_and_outputs(tmp_path: Path) -> None:
    script = "# %% [markdown]\n# # Title\n#\n# a\n\n# %%\nx = 2\nprint(x)\nx + 1\n"
    notebook = made(tmp_path, script)
    words, code = notebook["cells"]
    assert (words["cell_type"], "".join(words["source"])) == ("markdown", "# Title\n\na")
    assert code["execution_count"] == 1
    assert "".join(code["source"]) == "x = 2\nprint(x)\nx + 1"
    assert execute.texts(notebook) == ["2\n", "3"]


def test_an_error_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(AssertionError) as caught:
        made(tmp_path, "# %%\nx = 1\n\n# %%\n\nassert x == 2\n")
    assert caught.traceback[-1].lineno == 5  # the script's own line, counted from 0


def test_values_show_themselves(tmp_path: Path) -> None:
    text = """
# %%
class Shown:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": "plain", "text/html": "<b>html</b>", "text/latex": "$x$"}

Shown()
"""
    (cell,) = made(tmp_path, text)["cells"]
    (output,) = cell["outputs"]
    assert output["data"] == {"text/html": ["<b>html</b>"], "text/plain": ["plain"]}


def test_durations_are_not_compared() -> None:
    def notebook(text: str) -> dict[str, Any]:
        return {"cells": [{"outputs": [{"text": [text]}]}]}

    assert execute.texts(notebook("PROVED [0.10 ms]")) == execute.texts(notebook("PROVED [3 s]"))
    assert execute.texts(notebook("PROVED [1 ms]")) != execute.texts(notebook("REFUTED [1 ms]"))


def test_a_notebook_is_written_when_more_than_durations_changed(tmp_path: Path) -> None:
    script = tmp_path / "09_some.py"
    script.write_text("# %%\nprint('PROVED', 0.1, 'ms')\n", encoding="utf-8")
    notebook = execute.write(script)
    first = notebook.read_text("utf-8")
    notebook.write_text(first.replace("PROVED 0.1 ms", "PROVED 25 ms"), encoding="utf-8")
    execute.write(script)
    assert "PROVED 25 ms" in notebook.read_text("utf-8")
    notebook.write_text(first.replace("PROVED 0.1", "REFUTED 0.1"), encoding="utf-8")
    execute.write(script)
    assert notebook.read_text("utf-8") == first
