"""Text to values: what `str(layout)` writes, and what people type on a command line.

    parse("S[(8, 64) : (64, 1)] + R[2 : 4@warpid] + 5@warpid")
    parse('ComposeLayout(3, 3, 3, S[(Dim("M", multiple_of=8), 64) : (64, 1)])')
    parse_size('Dim("M", multiple_of=8)//8 + 1')
    parse_shape("8x64")
    parse_box("laneid=32,m=2:4")
    parse_relation("ld >= K", {"ld": Dim("ld"), "K": Dim("K")})

The grammar is in grammar.py.  Text comes from strangers: its length, the digits of its integers,
the depth of its brackets and the work that its products cause are bounded, and whatever the text,
the only error is a `NotationError`, which shows the text with a caret under what is wrong.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from layout_algebra.axes import Axis, m, reg
from layout_algebra.dims import Polynomial, Relation, Remainder, Size, bounds, equal, symbols
from layout_algebra.grammar import Layout, Reader, elements

#: A box as people type it, and which places its ranges have.
_BOX = "laneid=32,m=2:4 (the end is not in it: the places 0 to 7 are m=0:8, or m=8)"

#: Dims by their names.
Dims: TypeAlias = Mapping[str, Polynomial]


def parse(text: str) -> Layout:
    """The layout that a text writes; `parse(str(layout)) == layout`.

    Raises:
        NotationError: anything else, with the column (in characters, from 0) of what is wrong.
    """
    with _reading(text, "a layout", "S[(8, 4) : (4@laneid, 1)] + 5@laneid") as reader:
        return reader.layout(reader.node(0, len(reader.text)))


def parse_size(text: str) -> Size:
    """The size that a text writes: an int, or an expression of Dims.

    Raises:
        NotationError: anything else.
    """
    with _reading(text, "a size", '64 or Dim("M")//8') as reader:
        return reader.size(reader.node(0, len(reader.text)))


def parse_shape(text: str, dims: Dims | None = None) -> tuple[Size, ...]:
    """A shape as people type it: `8x16`, `(8, 16)`, `8,16` or `128`; sizes may be Dims.

    `dims` are those that the text may call by their names, as in `(M, 64)`.

    Raises:
        NotationError: anything else, or a size below 1.
    """
    with _reading(text, "a shape", "8x64 or 8,64", allowed="×", dims=dims) as reader:
        cut = re.fullmatch(r" *\d+ *([xX×] *\d+ *)+", reader.text)
        if cut:
            spans = [match.span() for match in re.finditer(r"\d+", reader.text)]
            nodes = [reader.node(start, end) for start, end in spans]
        else:
            nodes = elements(reader.node(0, len(reader.text)))
        shape = [(reader.size(node), node) for node in nodes]
        for size, node in shape:
            most = bounds(size)[1]
            if most is not None and most < 1:
                raise reader.error(f"a shape's sizes are at least 1; got {size}", node)
        return tuple(size for size, _ in shape)


def parse_box(text: str, dims: Dims | None = None) -> dict[str, tuple[Size, Size]]:
    """A box of places: `laneid=32,m=2`, or with the first and the end, `laneid=0:32,m=2:4`.

    `dims` are those that the text may call by their names, as in `m=M*64`.

    Returns:
        axis name -> (lowest, highest + 1); `laneid=32` is (0, 32).

    Raises:
        NotationError: anything else, an axis given twice, or a range without a place.
    """
    with _reading(text, "a box", _BOX, dims=dims) as reader:
        box: dict[str, tuple[Size, Size]] = {}
        for start, end in reader.pieces(0, len(reader.text), ","):
            left, *others = reader.pieces(start, end, "=")
            name, place = reader.word(*left)
            if len(others) != 1:
                raise reader.error(f"this is not {reader.wanted}", place)
            with reader.at(place):
                axis = Axis.get(name)
            axis = m if axis is reg else axis
            if axis.name in box:
                raise reader.error(f"two ranges for axis {axis.name}: give one", place)
            ends = [reader.size(reader.node(*piece)) for piece in reader.pieces(*others[0], ":")]
            if len(ends) > 2:
                raise reader.error(
                    f"the range of {name} is end or first:end; got a second ':'", place
                )
            low, high = (0, ends[0]) if len(ends) == 1 else (ends[0], ends[1])
            most = bounds(high - low)[1]
            if most is not None and most < 1:
                raise reader.error(f"the range {low}:{high} of {name} has no place", place)
            box[axis.name] = (low, high)
        return box


def parse_relation(text: str, dims: Dims) -> Relation:
    """A relation between Dims as `prove(given=[...])` takes it: `ld >= K`, `N % (2*bn) == 0`.

    Args:
        text: two sizes with one of >= <= > < == between them.
        dims: the Dims that it may speak of, by name.

    Raises:
        NotationError: anything else, another name, or a relation without a Dim.
    """
    with _reading(text, "a relation between Dims", "ld >= K", dims=dims) as reader:
        node = reader.node(0, len(reader.text))
        if not isinstance(node, ast.Compare):
            raise reader.error(f"this is not {reader.wanted}", node)
        if len(node.ops) > 1:
            raise reader.error("one comparison at a time: a <= b <= c is two relations", node)
        left, right, compare = node.left, node.comparators[0], node.ops[0]
        if type(compare) not in _COMPARE:
            raise reader.error("a relation is one of >= <= > < and ==", right)
        relation: object
        if isinstance(compare, ast.Eq):
            relation = _equality(reader, left, right)
        else:
            relation = _COMPARE[type(compare)](reader.size(left), reader.size(right))
        if not isinstance(relation, Relation) or not _speaks_of_dims(relation):
            raise reader.error(f"a relation is about Dims; {reader.text.strip()} has none", node)
        return relation


#: What a comparison of sizes gives; == is a relation by `equal`.
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.GtE: operator.ge,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
    ast.Eq: equal,
}


def _equality(reader: Reader, left: ast.expr, right: ast.expr) -> object:
    """left == right; `a % b == 0` says that b divides a."""
    other = reader.size(right)
    if other == 0 and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
        reader.size(left)
        rest = reader.size(left.left) % reader.size(left.right)  # type: ignore[operator]
        return rest == 0 if isinstance(rest, Remainder) else equal(rest, 0)
    return equal(reader.size(left), other)


def _speaks_of_dims(relation: Relation) -> bool:
    return bool(symbols(relation.size) | symbols(relation.divisor))


@contextmanager
def _reading(
    text: str, what: str, like: str, allowed: str = "", dims: Dims | None = None
) -> Iterator[Reader]:
    """A reader of the text; a tree that is too deep for Python is a NotationError too."""
    reader = Reader(text, what, like, allowed)
    reader.know(dims)
    try:
        yield reader
    except (RecursionError, MemoryError):
        raise reader.error("brackets or operators are nested too deeply", 0) from None
