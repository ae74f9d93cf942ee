"""Pictures of layouts, maps and buffers: a grid of the elements, each with its place.

    svg(frag, shape=(8, 16))                       # coloured by lane
    svg(tile, shape=(8, 64), dtype="float16")      # coloured by bank
    svg(large, rows=range(64, 96), colour="m")     # another window, another colour
    svg(symbolic, dims={"M": 16})                  # at numbers for the sizes

Without `dims`, symbolic sizes leave the formula alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from layout_algebra.arithmetic.text import condition_text, text
from layout_algebra.dims import Size
from layout_algebra.display.canvas import MARGIN, Box, Canvas, Word, width_of, wrapped
from layout_algebra.display.colours import INK, MARK, QUIET
from layout_algebra.display.errors import DisplayError
from layout_algebra.display.grids import MOST_COLUMNS, MOST_ROWS, Grid, grid_of, is_drawable
from layout_algebra.display.looks import Banked, Look, look_of
from layout_algebra.maps import Map
from layout_algebra.memory.buffers import Buffer
from layout_algebra.memory.dtypes import bits_of
from layout_algebra.memory.targets import NVIDIA, MemoryTarget
from layout_algebra.semantics import layout_map
from layout_algebra.values import AnyLayout, Swizzled, Tile

Subject = Tile | Swizzled | Map | Buffer
#: Sizes of letters, and how wide a grid may be before columns are left out.
LARGE, SMALL, MOST_WIDTH = 13, 9, 2600
#: Room between rows or columns that are no neighbours.
GAP = 16
#: Bytes that a swizzle's low bits stand for: its vector.
_VECTOR_BITS = 128


@dataclass(frozen=True)
class GridOptions:
    """What a picture of a layout can be asked.

    Attributes:
        shape: logical shape; a layout's own extents when None.
        dims: numbers for symbolic sizes, by name.
        colour: the axis to colour by, or "bank".
        dtype: element type, for banks; a swizzle's is taken from its vector of 16 bytes when None.
        target: the memory whose banks are meant.
        rows, columns: the window, as ranges.
        mark: elements to mark, each a tuple of coordinates or a dict by their names.
        formula: whether the formula is written above the grid.
        title: the headline; the notation when None.
    """

    shape: Sequence[Size] | None = None
    dims: Mapping[str, int] = field(default_factory=dict[str, int])
    colour: str | None = None
    dtype: Any = None
    target: MemoryTarget = NVIDIA
    rows: range | None = None
    columns: range | None = None
    mark: Sequence[Any] = ()
    formula: bool = True
    title: str | None = None


def draw(subject: Subject, options: GridOptions) -> Canvas:
    """The picture of a layout, a map or a buffer.

    Raises:
        DisplayError: options that do not fit the subject.
    """
    f, banked = _map_of(subject, options)
    title = str(subject) if options.title is None else options.title
    sheet = Canvas(f"layout {title}")
    top = sheet.lines(MARGIN, 30, wrapped(title, 96), size=14)
    if options.formula:
        top = sheet.lines(MARGIN, top + 4, formula_lines(f), size=11, fill=QUIET)
    if not is_drawable(f):
        missing = ", ".join(sorted(symbol.name for symbol in f.symbols()))
        if missing:
            first = missing.split(", ")[0]
            sheet.word(
                MARGIN, top + 8, f"sizes are symbols: dims={{{first!r}: ...}} draws the grid"
            )
        return sheet
    marks = [_mark(f, one) for one in options.mark]
    look = look_of(f, options.colour, banked)
    picture = draw_grid(f, look, rows=options.rows, columns=options.columns, marks=marks)
    sheet.paste(picture, MARGIN, top)
    return sheet


def draw_grid(
    f: Map,
    look: Look,
    *,
    rows: range | None = None,
    columns: range | None = None,
    marks: Sequence[Mapping[str, int]] = (),
    most: tuple[int, int] = (MOST_ROWS, MOST_COLUMNS),
) -> Canvas:
    """The grid of a map alone, with its legend below; arguments as for `grid_of`."""
    grid = grid_of(f, rows=rows, columns=columns, marks=marks, most=most)
    shown = _Cells(grid, look)
    fitting = max(4, int(MOST_WIDTH // shown.width))
    if columns is None and len(grid.columns) > fitting:
        grid = grid_of(f, rows=rows, marks=marks, most=(most[0], fitting))
        shown = _Cells(grid, look)
    sheet = Canvas("grid")
    bottom = shown.draw(sheet, [grid.cell(mark) for mark in marks])
    sheet.lines(0, bottom + 20, [*look.legend, *_notes(grid, marks)], size=11, fill=QUIET)
    return sheet


def formula_lines(f: Map, letters: int = 120) -> list[str]:
    """The formula of each axis, for the ranges of the coordinates, in a few lines."""
    found = [f"{axis} = {text(term)}" for axis, term in f.outputs]
    found += [f"where {condition_text(condition)}" for condition in f.guard]
    lines = [line for one in found[:8] for line in wrapped(one, letters, 2)]
    if len(found) > 8:
        lines.append(f"... {len(found) - 8} more")
    ranges = [f"{v.low} <= {v.name} <= {v.high}" if v.low != 0 else f"{v.name} < {v.extent}"
              for v in (*f.coordinates, *f.replicas)]  # fmt: skip
    return lines + wrapped("for " + ", ".join(ranges), letters, 2) if ranges else lines


# -- inside ------------------------------------------------------------------------------------
class _Cells:
    """Where the cells of a grid are, and what is in them."""

    def __init__(self, grid: Grid, look: Look) -> None:
        self.grid, self.look = grid, look
        self.main = _texts(grid, [look.numbers(grid, look.main)])
        self.small = _texts(grid, [look.numbers(grid, axis) for axis in look.small])
        self.row_labels = [grid.label_row(row) for row in grid.rows]
        self.column_labels = [grid.label_column(column) for column in grid.columns]
        widths = [
            width_of("x" * _longest(self.main), LARGE),
            width_of("x" * _longest(self.small), SMALL),
            width_of(max(self.column_labels, key=len, default=""), SMALL + 1),
        ]
        self.width = max(26, round(max(widths) + 8))
        self.height = 34 if look.small else 24

    def draw(self, sheet: Canvas, marked: Sequence[tuple[int, int]]) -> float:
        """Everything onto a sheet; the grid's lower edge."""
        left, top = self._labels(sheet)
        xs = _positions(self.grid.columns, left, self.width)
        ys = _positions(self.grid.rows, top, self.height)
        paint = self.look.paint(self.grid)
        colours = self.look.numbers(self.grid, self.look.colour)
        boxes: dict[str, list[Box]] = {}
        large: list[Word] = []
        small: list[Word] = []
        for k, y in enumerate(ys):
            texts = zip(xs, colours[k], self.main[k], self.small[k], strict=True)
            for x, number, main, rest in texts:
                if main:
                    boxes.setdefault(paint(number), []).append((x, y, self.width, self.height))
                    large.append((x + self.width / 2, y + 16, main))
                    small.append((x + self.width / 2, y + 29, rest))
        for colour, cells in boxes.items():
            sheet.cells(colour, cells)
        sheet.words(large, size=LARGE, anchor="middle")
        if self.look.small:
            sheet.words(small, size=SMALL, anchor="middle")
        self._marks(sheet, xs, ys, marked)
        return ys[-1] + self.height if ys else top

    def _labels(self, sheet: Canvas) -> tuple[float, float]:
        """Names and numbers of rows and columns; the grid's upper left corner."""
        down, across = self.grid.names
        down, across = (f"{down} \N{DOWNWARDS ARROW}" if down else "",
                        f"{across} \N{RIGHTWARDS ARROW}" if across else "")  # fmt: skip
        longest = max([*self.row_labels, down], key=len)
        left = round(width_of(longest, SMALL + 1)) + 8
        xs = _positions(self.grid.columns, left, self.width)
        ys = _positions(self.grid.rows, 36, self.height)
        sheet.words(
            [(x + self.width / 2, 30, n) for x, n in zip(xs, self.column_labels, strict=True)],
            size=SMALL + 1, fill=QUIET, anchor="middle",
        )  # fmt: skip
        middle = self.height / 2 + 4
        sheet.words(
            [(left - 6, y + middle, n) for y, n in zip(ys, self.row_labels, strict=True)],
            size=SMALL + 1, fill=QUIET, anchor="end",
        )  # fmt: skip
        sheet.word(left - 6, 30, down, size=SMALL + 1, fill=INK, anchor="end")
        sheet.word(left, 14, across, size=SMALL + 1, fill=INK)
        for one, other in _gaps(self.grid.columns, xs):
            sheet.path(
                f"M{(one + self.width + other) / 2:g} 22V{ys[-1] + self.height:g}", dashed=True
            )
        for one, other in _gaps(self.grid.rows, ys):
            y = (one + self.height + other) / 2
            sheet.path(f"M{left - 6:g} {y:g}H{xs[-1] + self.width:g}", dashed=True)
        return left, 36

    def _marks(
        self, sheet: Canvas, xs: Sequence[float], ys: Sequence[float],
        marked: Sequence[tuple[int, int]],
    ) -> None:  # fmt: skip
        for row, column in dict.fromkeys(marked):
            if row in self.grid.rows and column in self.grid.columns:
                x = xs[self.grid.columns.index(column)]
                y = ys[self.grid.rows.index(row)]
                inner = (x + 1.5, y + 1.5, self.width - 3, self.height - 3)
                tip = f"marked: element {self.grid.element(row, column)}"
                sheet.box(inner, line=MARK, thick=3, tip=tip)


def _texts(grid: Grid, numbers: Sequence[Sequence[Sequence[int]]]) -> list[list[str]]:
    """What is written in each cell; nothing where there is no element."""
    if not numbers:
        return [[""] * len(grid.columns) for _ in grid.rows]
    written = [[list(map(str, row)) for row in axis] for axis in numbers]
    joined = written[0]
    if len(written) > 1:
        joined = [[",".join(cell) for cell in zip(*row, strict=True)]
                  for row in zip(*written, strict=True)]  # fmt: skip
    for row, inside in zip(joined, grid.inside, strict=True):
        if not all(inside):
            row[:] = [text if there else "" for text, there in zip(row, inside, strict=True)]
    return joined


def _longest(texts: Sequence[Sequence[str]]) -> int:
    return max((len(text) for row in texts for text in row), default=0)


def _positions(shown: Sequence[int], start: float, step: float) -> list[float]:
    """Where each row or column begins; room is left where some are left out."""
    found: list[float] = []
    at = start
    for k, number in enumerate(shown):
        at += GAP if k and number != shown[k - 1] + 1 else 0
        found.append(at)
        at += step
    return found


def _gaps(shown: Sequence[int], at: Sequence[float]) -> list[tuple[float, float]]:
    """Positions on both sides of what is left out between two that are shown."""
    return [(at[k - 1], at[k]) for k in range(1, len(shown)) if shown[k] != shown[k - 1] + 1]


def _notes(grid: Grid, marks: Sequence[Mapping[str, int]]) -> list[str]:
    """Sentences on what is not to be seen, and on what is marked."""
    lines: list[str] = []
    if grid.map.replicas:
        lines.append(f"{grid.map.copies} copies of each element: the first is shown")
    if not grid.is_whole:
        rows = f"rows {_spans(grid.rows)} of {grid.height}"
        columns = f"columns {_spans(grid.columns)} of {grid.width}"
        lines.append(f"a window: {rows}, {columns}")
    if marks:
        cells = dict.fromkeys(grid.cell(mark) for mark in marks)
        names = [grid.element(*cell) for cell in cells]
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        lines.append(f"marked: {', '.join(names[:8])}{more}")
    if any(not all(row) for row in grid.inside):
        lines.append("no cell: not in the map's domain")
    return lines


def _spans(numbers: Sequence[int]) -> str:
    """Numbers in order as spans: 0-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _map_of(subject: Subject, options: GridOptions) -> tuple[Map, Banked | None]:
    """The map that is drawn, and the banks of its places where they are known."""
    if isinstance(subject, Map):
        if options.shape is not None:
            raise DisplayError("shape= is for layouts; a map has its own coordinates")
        f, layout = subject, None
    elif isinstance(subject, Buffer):
        f, layout = layout_map(subject.layout, subject.shape), subject.layout
    else:
        f, layout = layout_map(subject, options.shape), subject
    if options.dims:
        f = _evaluated(f, options.dims)
    return f, _banked(subject, layout, options)


def _evaluated(f: Map, dims: Mapping[str, int]) -> Map:
    unknown = set(dims) - {symbol.name for symbol in f.symbols()}
    if unknown:
        raise DisplayError(f"dims= names {', '.join(sorted(unknown))}, which is no Dim of it")
    return f.evaluated(**dims)


def _banked(subject: Subject, layout: AnyLayout | None, options: GridOptions) -> Banked | None:
    if options.dtype is not None:
        return Banked(bits_of(options.dtype), options.target)
    if isinstance(subject, Buffer):
        return Banked(subject.bits, options.target) if subject.scope == "shared" else None
    if isinstance(layout, Swizzled) and layout.swizzle_len:
        bits = _VECTOR_BITS >> layout.per_element
        return Banked(bits, options.target) if bits >= 1 else None
    return None


def _mark(f: Map, mark: Any) -> Mapping[str, int]:
    names = [variable.name for variable in f.coordinates]
    if isinstance(mark, Mapping):
        unknown = set(mark) - set(names)
        if unknown:
            raise DisplayError(
                f"mark= names {', '.join(map(str, unknown))}; the coordinates are "
                f"({', '.join(names)})"
            )
        return mark
    values = mark if isinstance(mark, tuple | list) else (mark,)
    if len(values) != len(names) or not all(type(value) is int for value in values):
        raise DisplayError(f"a mark is one int for each of ({', '.join(names)}); got {mark!r}")
    return dict(zip(names, values, strict=True))
