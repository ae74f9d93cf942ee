"""Executes the notebooks: `python notebooks/execute.py [NAME ...]` writes .ipynb beside .py.

    cells_of(text)              # the cells of a script in the py:percent format
    executed(path)              # the notebook, every cell run, as the data of a .ipynb
    python notebooks/execute.py 01_quickstart

A cell begins with `# %%`, one of text with `# %% [markdown]`.  The scripts are what is edited; they
run as they are, and Jupyter opens either form (jupytext pairs them).  Cells run in this process, as
a kernel would run them: what is printed and the value of a last expression are the outputs.
Nothing of this machine is written into a notebook; how long a proof took is, and a notebook in
which nothing else has changed is left as it is.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
MARK = re.compile(r"^# %%(?P<title>.*)$")
#: Durations are the one thing that differs from run to run.
TIME = re.compile(r"\d[\d.,]*(?:e[-+]\d+)? (?:ns|us|µs|ms|s)\b")
#: What a notebook keeps of a value's forms, best first.
KEPT = ("text/html", "text/plain")


class Cell(NamedTuple):
    """One cell: whether it is code, its text, and the line of the script where that begins."""

    is_code: bool
    text: str
    line: int


def scripts() -> list[Path]:
    """The notebooks as scripts, in order."""
    return sorted(HERE.glob("[0-9]*.py"))


def cells_of(text: str) -> list[Cell]:
    """The cells of a script in the py:percent format; what stands before the first mark is none."""
    cells: list[Cell] = []
    lines = text.splitlines()
    marks = [number for number, line in enumerate(lines) if MARK.match(line)]
    for begin, end in zip(marks, [*marks[1:], len(lines)], strict=True):
        text = "\n".join(lines[begin + 1 : end])
        body = text.strip("\n")
        if "[markdown]" in lines[begin]:
            words = [line.removeprefix("#").removeprefix(" ") for line in body.splitlines()]
            cells.append(Cell(False, "\n".join(words), begin + 2))
        else:
            blank = len(text) - len(text.lstrip("\n"))
            cells.append(Cell(True, body.rstrip(), begin + 2 + blank))
    return cells


def executed(path: Path) -> dict[str, Any]:
    """The notebook of a script, with outputs.

    Args:
        path: a script in the py:percent format.

    Returns:
        The data of a .ipynb file, format 4.5.

    Whatever a cell raises is raised: there are no notebooks with errors in them.
    """
    # Classes that a cell defines look for their module by name.
    name = f"notebook_{path.stem}"
    module = ModuleType(name)
    sys.modules[name] = module
    cells: list[dict[str, Any]] = []
    count = 0
    try:
        for number, cell in enumerate(cells_of(path.read_text(encoding="utf-8"))):
            made: dict[str, Any] = {
                "cell_type": "code" if cell.is_code else "markdown",
                "id": f"cell-{number}",
                "metadata": {},
                "source": cell.text.splitlines(keepends=True),
            }
            if cell.is_code:
                count += 1
                made["execution_count"] = count
                made["outputs"] = _outputs(cell, path, module.__dict__, count)
            cells.append(made)
    finally:
        del sys.modules[name]
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


METADATA = {
    "jupytext": {"formats": "ipynb,py:percent"},
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def _outputs(cell: Cell, path: Path, space: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree = ast.parse(cell.text)
    ast.increment_lineno(tree, cell.line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, str(path), "exec"), space)  # noqa: S102  (our own notebooks)
        if isinstance(last, ast.Expr):
            expression = ast.Expression(last.value)
            value = eval(compile(expression, str(path), "eval"), space)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    if value is not None:
        forms = {kind: text.splitlines(keepends=True) for kind, text in shown(value).items()}
        outputs.append(
            {"output_type": "execute_result", "metadata": {}, "execution_count": count}
            | {"data": forms}
        )
    return outputs


def shown(value: object) -> dict[str, str]:
    """The forms of a value that a notebook stores: its HTML where it has one, and its text."""
    bundle: dict[str, str] = {"text/plain": repr(value)}
    as_bundle = getattr(value, "_repr_mimebundle_", None)
    as_html = getattr(value, "_repr_html_", None)
    if as_bundle is not None:
        bundle |= as_bundle()
    elif as_html is not None:
        bundle["text/html"] = as_html()
    return {kind: bundle[kind] for kind in KEPT if kind in bundle}


def texts(notebook: dict[str, Any]) -> list[str]:
    """What each cell printed and gave, as text, with every duration written as `TIME`.

    A kernel may hand over what a cell prints in several parts; they are one here.
    """
    found: list[str] = []
    for cell in notebook["cells"]:
        outputs = cell.get("outputs", ())
        printed = "".join("".join(one.get("text", ())) for one in outputs)
        values = ["".join(one["data"].get("text/plain", ())) for one in outputs if "data" in one]
        found += [TIME.sub("TIME", text) for text in (printed, *values) if text]
    return found


def write(path: Path) -> Path:
    """Executes a script and writes its notebook beside it, unless only durations differ."""
    made = path.with_suffix(".ipynb")
    text = json.dumps(executed(path), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    before = made.read_text(encoding="utf-8") if made.is_file() else ""
    if TIME.sub("TIME", text) != TIME.sub("TIME", before):
        made.write_text(text, encoding="utf-8")
    return made


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for script in scripts():
        if not wanted or script.stem in wanted:
            sys.stdout.write(f"{write(script).name}\n")
