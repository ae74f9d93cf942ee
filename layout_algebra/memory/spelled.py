"""Accesses by a word or a formula, as people type them: `column`, `row`, `lane % 16, lane // 8`.

    access_of(buffer, "column", 16)                         # 16 bytes of each row, at any column
    access_of(buffer, "lane % 16, lane // 16 * 8", 16)      # a coordinate for each dimension

The text comes from strangers: it is read, never run (trees.py), and is arithmetic on the lane only.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from layout_algebra.dims import Dim
from layout_algebra.errors import LayoutError
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.buffers import Buffer
from layout_algebra.trees import Source

#: Lanes that a column or a row has at most.
WARP = 32
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def access_of(buffer: Buffer, text: str, bytes: int, kind: str = "read") -> Access:
    """The access that a word or a formula describes.

    Args:
        buffer: of two dimensions of numbers for `column` and `row`.
        text: `column`: lane l has row l, at any column that is a multiple of the vector; `row`: the
            lanes go along any row, vector by vector; else the coordinates of lane's first element.
        bytes: what each lane moves.
        kind: "read" or "write".

    Raises:
        LayoutAlgebraError: an access that the buffer does not have, or a text that is none.
    """
    moving = buffer.read if kind == "read" else buffer.write
    if text not in ("column", "row"):
        return moving(lane_formula(text, len(buffer.shape)), bytes=bytes)
    if len(buffer.shape) != 2 or not all(isinstance(size, int) for size in buffer.shape):
        raise LayoutError(
            f"a {text} is of two dimensions of numbers, like 128x64; the shape is {buffer.shape}"
        )
    rows, columns = (int(size) for size in buffer.shape)  # type: ignore[arg-type]
    count = 8 * bytes // buffer.bits if 8 * bytes % buffer.bits == 0 else 1
    if count > columns:
        raise LayoutError(f"{bytes} bytes are {count} elements, more than a row's {columns}")
    if text == "column":
        free = Dim("column", multiple_of=count, at_most=columns - count)
        lanes = min(WARP, rows)
        return moving(lambda lane, at: (lane, at), bytes=bytes, lanes=lanes, free=[free])
    lanes = min(WARP, columns // count)
    free = Dim("row", at_most=rows - 1)
    return moving(lambda lane, at: (at, count * lane), bytes=bytes, lanes=lanes, free=[free])


def lane_formula(text: str, rank: int) -> Callable[[Any], Any]:
    """`lane % 16, lane // 16 * 8` as a function of the lane, one coordinate a dimension.

    Raises:
        NotationError: anything but arithmetic on lane and integers.
    """
    source = Source(text, "an access", "column, row, or lane % 16, lane // 16 * 8", "%^&|<>")
    nodes = [source.node(*piece) for piece in source.pieces(0, len(text), ",")]
    if len(nodes) != rank:
        raise source.error(f"{len(nodes)} coordinates for a shape of {rank} dimensions", 0)

    def value(node: ast.expr, lane: Any) -> Any:
        match node:
            case ast.Constant(value=int() as number) if type(number) is int:
                return number
            case ast.Name(id="lane"):
                return lane
            case ast.BinOp() if type(node.op) in _OPERATIONS:
                sides = value(node.left, lane), value(node.right, lane)
                with source.at(node):
                    return _OPERATIONS[type(node.op)](*sides)
            case _:
                raise source.error("an access is arithmetic on lane and integers", node)

    return lambda lane: tuple(value(node, lane) for node in nodes)
