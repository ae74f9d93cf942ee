"""Small layouts as text: a grid of places, columns that line up, a line that says how far it is.

places (laneid, m) of the 2 x 4 elements (i, j)

      j=0   1    2    3
i=0   0,0  0,1  1,0  1,1
  1   4,0  4,1  5,0  5,1
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from layout_algebra.arithmetic import integers
from layout_algebra.maps import Map

#: Rows and columns of the largest grid that is drawn.
MOST_ROWS, MOST_COLUMNS = 32, 64


def grid(f: Map, marked: Collection[tuple[int, ...]] = ()) -> list[str]:
    """The places of a map of at most two coordinates, in lines; none where it is not drawn.

    Marked elements are in brackets.  Of copies the first is shown.
    """
    if f.is_symbolic or not 1 <= len(f.coordinates) <= 2 or f.guard or not f.outputs:
        return []
    *above, across = f.coordinates
    rows = _range(above[0]) if above else range(1)
    columns = _range(across)
    if rows[MOST_ROWS:] or columns[MOST_COLUMNS:]:  # len() knows no more than 63 bits
        return []
    axes = _moving_axes(f)
    cells = [
        [_cell(f, axes, (row, column) if above else (column,), marked) for column in columns]
        for row in rows
    ]
    sizes = " x ".join(str(len(values)) for values in ((rows, columns) if above else (columns,)))
    names = ", ".join(variable.name for variable in f.coordinates)
    shown = f"({', '.join(axes)})" if len(axes) > 1 else axes[0]
    copies = ", the first copy of each" if f.replicas else ""
    headline = f"{shown} of the {sizes} elements ({names}){copies}"
    header = ["", *_labels(across.name, columns)]
    labels = _labels(above[0].name, rows) if above else [""]
    table = [header, *([label, *row] for label, row in zip(labels, cells, strict=True))]
    return [headline, *aligned(table, right=True)]


def aligned(rows: Sequence[Sequence[str]], right: bool = False) -> list[str]:
    """Rows of words in columns that line up, to the left or to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    justify: Callable[[str, int], str] = str.rjust if right else str.ljust
    return [
        "  ".join(justify(word, width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def clipped(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def witness_lines(witness: Mapping[str, object]) -> list[str]:
    """A counterexample: what it says, with the Dims' values."""
    dims = witness["dims"]
    values = dims.items() if isinstance(dims, dict) else ()
    shown = ", ".join(f"{name} = {value}" for name, value in values)
    return [str(witness["summary"]) + (f"  (with {shown})" if shown else "")]


class Meter:
    """How far a long run is: one line, written over; or a line each, where nobody watches."""

    def __init__(self, asked: bool) -> None:
        self.terminal = sys.stderr.isatty()
        self.shown = self.terminal or asked
        self.width = 0

    def __call__(self, done: int, total: int, text: str) -> None:
        if not self.shown:
            return
        line = clipped(f"[{done:{len(str(total))}}/{total}] {text}", 79)
        if self.terminal:
            print(f"\r{line:<{self.width}}", end="", file=sys.stderr, flush=True)
            self.width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self.terminal and self.width:
            print(f"\r{'':{self.width}}\r", end="", file=sys.stderr, flush=True)
            self.width = 0


# -- inside ------------------------------------------------------------------------------------
def _range(variable: object) -> range:
    low, high = variable.low, variable.high  # type: ignore[attr-defined]
    return range(low, high + 1)


def _labels(name: str, values: Iterable[int]) -> list[str]:
    labels = [str(value) for value in values]
    return [f"{name}={labels[0]}", *labels[1:]]


def _moving_axes(f: Map) -> list[str]:
    """The axes that say where an element is; all of them where none moves."""
    moving = [axis for axis, term in f.outputs if term.low != 0 or term.high != 0]
    return moving or list(f.axes)


def _cell(
    f: Map, axes: Sequence[str], at: tuple[int, ...], marked: Collection[tuple[int, ...]]
) -> str:
    values = dict(zip(f.coordinates, at, strict=True))
    values |= {replica: _range(replica).start for replica in f.replicas}
    numbers = integers.values_of((f.output(axis) for axis in axes), values, {})
    text = ",".join(map(str, numbers))
    return f"[{text}]" if at in marked else text
