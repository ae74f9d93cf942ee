"""The floors of the code, drawn from the contract in pyproject.toml: `python docs/floors.py`.

    floors()         # [("cli",), ("commands",), ("tirx", "display", ...), ...], highest first
    floors_svg()     # the picture, as text

Only modules that are there are drawn, and what each is for is the first line of its docstring.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH, ROW, GAP, LETTER = 880, 26, 6, 7.6


def floors(root: Path = ROOT) -> list[tuple[str, ...]]:
    """Modules of each floor, highest floor first.

    Raises:
        LookupError: pyproject.toml has no contract of layers.
    """
    config = tomllib.loads((root / "pyproject.toml").read_text())
    for contract in config["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            rows = [_modules(layer) for layer in contract["layers"]]
            there = [tuple(name for name in row if _file(name, root)) for row in rows]
            return [row for row in there if row]
    raise LookupError("pyproject.toml has no import-linter contract of type layers")


def _modules(layer: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", layer))


def _file(name: str, root: Path) -> Path | None:
    package = root / "layout_algebra"
    for path in (package / f"{name}.py", package / name / "__init__.py"):
        if path.is_file():
            return path
    return None


def about(name: str, root: Path = ROOT) -> str:
    """The first line of a module's docstring, "" where there is none."""
    path = _file(name, root)
    text = ast.get_docstring(ast.parse(path.read_text())) if path else None
    return (text or "").split("\n\n")[0].replace("\n", " ")


def floors_svg(root: Path = ROOT) -> str:
    """The floors as SVG: one row of boxes a floor; an import goes to a lower row only."""
    rows = floors(root)
    height = len(rows) * (ROW + GAP) + GAP
    body: list[str] = []
    for number, row in enumerate(rows):
        y = GAP + number * (ROW + GAP)
        wide = [LETTER * len(name) + 18 for name in row]
        x = (WIDTH - sum(wide) - GAP * (len(row) - 1)) / 2
        for name, width in zip(row, wide, strict=True):
            body.append(
                f"<g><title>{escape(about(name, root))}</title>"
                f"<rect x='{x:g}' y='{y}' width='{width:g}' height='{ROW}' rx='4' "
                f"fill='#eef2f7' stroke='#7b8794'/>"
                f"<text x='{x + width / 2:g}' y='{y + 17}' text-anchor='middle' font-size='12' "
                f"font-family='DejaVu Sans Mono, monospace' fill='#1f2933'>{name}</text></g>"
            )
            x += width + GAP
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img' "
        f"style='max-width:100%' aria-label='{len(rows)} floors of modules, highest first'>"
        + "".join(body)
        + "</svg>"
    )


if __name__ == "__main__":
    sys.stdout.write(floors_svg() + "\n")
