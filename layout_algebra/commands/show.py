"""`show`: what a layout is, in words, formulas and, where it is small, a grid of places."""

from __future__ import annotations

import argparse
import json
from typing import Any

from layout_algebra.arithmetic.text import text
from layout_algebra.axes import Axis
from layout_algebra.commands.drawing import aligned, grid
from layout_algebra.dims import Dim, Polynomial, Size
from layout_algebra.errors import LayoutError
from layout_algebra.grammar import Layout
from layout_algebra.maps import Map
from layout_algebra.parsing import parse, parse_shape


def main(arguments: argparse.Namespace) -> int:
    layout = parse(arguments.notation)
    shape = None if arguments.shape is None else parse_shape(arguments.shape, dims_of(layout))
    f = layout.map(shape)
    print(json.dumps(_json(layout, f), indent=1) if arguments.json else "\n".join(_text(layout, f)))
    return 0


def dims_of(*layouts: Layout) -> dict[str, Polynomial]:
    """The Dims that occur in layouts, by name."""
    found = sorted({s for layout in layouts for s in layout.symbols()}, key=lambda s: s.name)
    return {
        s.name: Dim(s.name, multiple_of=s.multiple_of, at_least=s.at_least, at_most=s.at_most)
        for s in found
    }


def _text(layout: Layout, f: Map) -> list[str]:
    copies = "" if f.copies == 1 else f", {f.copies} copies of each"
    lines = [str(layout), "", f"{layout.size()} elements{copies}", ""]
    lines += aligned([["axis", "width", "span", ""], *(_row(layout, axis) for axis in layout.axes)])
    names = ", ".join(f"{v.name} < {v.extent}" for v in (*f.coordinates, *f.replicas))
    lines += ["", *(f"{axis} = {text(term)}" for axis, term in f.outputs)]
    lines += [f"  for {names}"] if names else []
    picture = grid(f)
    return [*lines, "", *picture] if picture else lines


def _row(layout: Layout, axis: Axis) -> list[str]:
    return [
        axis.name,
        *(_extent(layout, axis, what) for what in ("width", "span")),
        axis.describe(),
    ]


def _extent(layout: Layout, axis: Axis, what: str) -> str:
    """Width or span; "?" where symbolic sizes leave it open."""
    value = _size_or_none(layout, axis, what)
    return "?" if value is None else str(value)


def _size_or_none(layout: Layout, axis: Axis, what: str) -> Size | None:
    try:
        return layout.width(axis) if what == "width" else layout.span(axis)
    except LayoutError:
        return None


def _json(layout: Layout, f: Map) -> dict[str, Any]:
    def plain(value: Size | None) -> int | str | None:
        return value if value is None or isinstance(value, int) else str(value)

    return {
        "notation": str(layout),
        "size": plain(layout.size()),
        "copies": plain(f.copies),
        "shape": [plain(extent) for extent in f.extents],
        "coordinates": [variable.name for variable in f.coordinates],
        "axes": [
            {
                "name": axis.name,
                "kind": axis.kind,
                "width": plain(_size_or_none(layout, axis, "width")),
                "span": plain(_size_or_none(layout, axis, "span")),
            }
            for axis in layout.axes
        ],
        "formula": {axis: text(term) for axis, term in f.outputs},
    }
