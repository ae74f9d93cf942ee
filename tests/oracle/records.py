"""The lines of tests/data/oracle, and what is written in them as layouts of ours and as plain data.

tests/data/oracle/README.md says what the fields of a line mean.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from layout_algebra import axes
from layout_algebra.dims import Dim, Size
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.notation import R, S
from tests import bruteforce
from tests.bruteforce import Plain

DATA = Path(__file__).parents[1] / "data" / "oracle"

AXES = (
    *("bx", "by", "bz", "cbx", "cby", "cbz", "tx", "warpid", "laneid", "wgid", "tid_in_wg"),
    *("wid_in_wg", "m", "P", "F", "Bank", "TCol", "TLane"),
)
MEMORY = ("m", "P", "F", "Bank", "TCol", "TLane")

#: What an expression of a notation line may use.
NOTATION = {"S": S, "R": R} | {name: getattr(axes, name) for name in AXES}

#: The variables of symbolic lines. `n` is an extent, `b` the begin of a slice.
DIMS: Mapping[str, Size] = {"n": Dim("n", at_least=1), "b": Dim("b")}

Place = dict[str, int]


@dataclass(frozen=True)
class Record:
    """One line: a question, and either `result` (perhaps None) or `error`."""

    id: str
    op: str
    args: dict[str, Any]
    layout: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str | None = None
    flags: tuple[str, ...] = ()
    ref: str = ""
    agree: bool | None = None
    tirx: dict[str, Any] | None = None
    target: str | None = None
    tvm027: str | None = None
    sym_op: str | None = None
    seps: list[int] | None = None
    at: list[list[Any]] = field(default_factory=list)

    @classmethod
    def read(cls, line: str) -> Record:
        fields = json.loads(line)
        if ("result" in fields) == ("error" in fields):
            raise ValueError(f"{fields['id']} has neither or both of a result and an error")
        return cls(**{**fields, "flags": tuple(fields.get("flags", ()))})


@cache
def load(op: str) -> tuple[Record, ...]:
    """Every line of an operation."""
    with (DATA / f"{op}.jsonl").open(encoding="utf-8") as lines:
        return tuple(Record.read(line) for line in lines)


# --------------------------------------------------------------------- layouts and sizes


def layout_of(data: Mapping[str, Any]) -> TileLayout | ComposeLayout:
    """The layout that is written in a line; sizes written as text become sizes of our Dims."""
    if "compose" in data:
        given = data["compose"]
        return ComposeLayout(
            given["per_element"],
            given["swizzle_len"],
            given["atom_len"],
            layout_of(given["tile"]),
            given["swizzle_inner"],
        )

    def iters(items: list[Any]) -> list[tuple[Size, Size, str]]:
        return [(size_of(extent), size_of(stride), axis) for extent, stride, axis in items]

    offset = {axis: size_of(value) for axis, value in data["offset"].items()}
    return TileLayout.from_iters(iters(data["shard"]), iters(data["replica"]), offset)


def written(layout: Any) -> dict[str, Any]:
    """A layout as a line writes it: the way back."""
    if isinstance(layout, ComposeLayout):
        fields = ("per_element", "swizzle_len", "atom_len", "swizzle_inner")
        compose = {name: getattr(layout, name) for name in fields}
        return {"compose": compose | {"tile": written(layout.tile_layout)}}

    def iters(items: Any) -> list[list[Any]]:
        return [[extent, stride, axis.name] for extent, stride, axis in items]

    offset = {axis.name: value for axis, value in layout.offset.items()}
    return {
        "shard": iters(layout.shard),
        "replica": by_axis(iters(layout.replica)),
        "offset": offset,
    }


def by_axis(replica: list[list[Any]]) -> list[list[Any]]:
    """Replica iters in the order of the lines' results: the order itself means nothing."""
    return sorted(replica, key=lambda it: (it[2], it[1], it[0]))


def size_of(written: int | str, values: Mapping[str, Size] = DIMS) -> Size:
    """An int, or text such as "2*n*8": whole numbers, variables, + - * and parentheses.

    Raises:
        ValueError: anything else.
    """
    if isinstance(written, int):
        return written
    return _value(ast.parse(written, mode="eval").body, values, written)


def _value(node: ast.expr, values: Mapping[str, Size], text: str) -> Size:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, values, text)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, values, text), _value(right, values, text)
            if isinstance(op, ast.Add):
                return a + b
            if isinstance(op, ast.Sub):
                return a - b
            if isinstance(op, ast.Mult):
                return a * b
    raise ValueError(f"{text!r} is not a size: {ast.unparse(node)}")


# --------------------------------------------------------------- the same, as plain data


def tile_of(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tile of a layout as it is written: under its swizzle, if it has one."""
    return data["compose"]["tile"] if "compose" in data else data


def plain(data: Mapping[str, Any]) -> Plain:
    """The layout for brute force, past every class of ours."""
    tile = tile_of(data)
    swizzle = None
    if "compose" in data:
        c = data["compose"]
        swizzle = (c["per_element"], c["swizzle_len"], c["atom_len"], c["swizzle_inner"])
    return Plain(tile["shard"], tile["replica"], tuple(tile["offset"].items()), swizzle)


def axes_of(data: Mapping[str, Any]) -> set[str]:
    """Every axis that has a say in where an element lies."""
    return set(bruteforce.axes(plain(data))) | ({"m"} if "compose" in data else set())


def has_extent_below_1(record: Record) -> bool:
    tile = tile_of(record.layout)
    return any(extent < 1 for extent, _, _ in (*tile["shard"], *tile["replica"]))


def has_unknown_axis(record: Record) -> bool:
    return not axes_of(record.layout) <= set(AXES)


def shape_of(record: Record) -> list[int]:
    """The shape over which the coordinates of an `apply` line are flattened."""
    extents = [extent for extent, _, _ in tile_of(record.layout)["shard"]]
    form = record.args.get("form")
    if form == "shape":
        return record.args["shape"]
    return extents if form == "multi" and len(record.args["coord"]) > 1 else [prod(extents)]


def flat_index(record: Record) -> int:
    """The flat index that an `apply` line asks for."""
    flat = 0
    for number, extent in zip(record.args["coord"], shape_of(record), strict=True):
        flat = flat * extent + number
    return flat


def first_place(data: Mapping[str, Any], flat: int) -> Place:
    """The place of an element's first copy by brute force, on the axes of shard and offset."""
    tile = tile_of(data)
    mentioned = [axis for _, _, axis in tile["shard"]] + list(tile["offset"])
    if "compose" in data:
        mentioned.append("m")
    return dict.fromkeys(mentioned, 0) | dict(bruteforce.base_place(plain(data), flat))


def without_zeros(place: Mapping[str, int]) -> Place:
    """A place as it is compared: an axis that is not mentioned is 0."""
    return {axis: value for axis, value in place.items() if value}
