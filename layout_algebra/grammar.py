"""What a node of a text's tree stands for: the grammar of the notation.

    layout   S[...] + R[...] + offset | TileLayout(layout) | ComposeLayout(3, 3, 3, layout, True)
    S[...]   S[extents] | S[extents : strides], each a number or a tuple or list of numbers
    stride   number | number@axis | axis | "axis" | (number, "axis")
    offset   number | number@axis, on either side of +
    number   integers and Dim("M", multiple_of=8, at_least=8, at_most=64), with + - * // % and ( )

The trees are Python's own, so that numbers, brackets and precedences are those that the same text
has in a program; but nothing is run: `Reader.value` knows the nodes above and no others.  Layouts
are built through the same `S`, `R`, `Dim` and constructors that a program calls, with the same
errors; what is added here is the place, a caret under the node at fault.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, cast

from layout_algebra.axes import Axis, AxisTerms, reg
from layout_algebra.dims import Dim, Polynomial, Size, as_size, floordiv, is_size
from layout_algebra.errors import AxisError, LayoutAlgebraError, NotationError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.notation import ItemError, R, S, Spec
from layout_algebra.trees import MOST_DIGITS, Source

#: Characters of a name, symbolic factors of a product, and products of terms that are multiplied
#: out, at most.
MOST_NAME = 100
MOST_DEGREE = 64
MOST_WORK = 20_000

Layout = TileLayout | ComposeLayout

_MAKERS = {"S": S, "R": R}
_CALLS = ("Dim", "TileLayout", "ComposeLayout")
_COMPOSE = ("per_element", "swizzle_len", "atom_len", "tile_layout", "swizzle_inner")
_FOREIGN = {
    ast.Attribute: "a '.'",
    ast.BoolOp: "'and' or 'or'",
    ast.Compare: "a comparison",
    ast.IfExp: "'if ... else'",
    ast.Lambda: "a lambda",
    ast.Slice: "a ':' here",
    ast.Starred: "a '*' before a value",
}
_OPERATORS = {
    ast.Div: "'/' (write // for a quotient of sizes)",
    ast.Pow: "'**' (write M*M)",
    ast.BitXor: "'^'",
    ast.BitAnd: "'&'",
    ast.BitOr: "'|'",
    ast.LShift: "'<<'",
    ast.RShift: "'>>'",
}


class Reader(Source):
    """A text, the Dims that were seen in it, and the work that its products made so far."""

    def __init__(self, text: str, what: str, like: str, allowed: str = "") -> None:
        super().__init__(text, what, like, allowed)
        self.dims: dict[str, Polynomial] = {}
        self.named: Mapping[str, Polynomial] | None = None
        self.work = 0

    def know(self, dims: Mapping[str, Polynomial] | None) -> None:
        """Let the text name these Dims without writing out their calls."""
        self.named = dims
        self.dims.update(dims or {})

    # -- what a text can be -------------------------------------------------------------------
    def layout(self, node: ast.expr) -> Layout:
        value = self.value(node)
        if isinstance(value, Spec):
            with self.at(_spelling_of_reg(node)):
                return TileLayout(value)
        if isinstance(value, Layout):
            return value
        if is_size(value) or isinstance(value, AxisTerms):
            raise self.error(f"an offset alone is no layout: add it to S[...]; got {value}", node)
        raise self.error(
            f"a layout is S[...] + R[...] + offset, or ComposeLayout(...); got {_shown(value)}",
            node,
        )

    def size(self, node: ast.expr) -> Size:
        value = self.value(node)
        if not is_size(value):
            raise self.error(
                f"an int or an expression of Dims is needed; got {_shown(value)}", node
            )
        return cast(Size, value)

    # -- values of nodes ----------------------------------------------------------------------
    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.Tuple() | ast.List():
                return tuple(self.value(element) for element in node.elts)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self._signed(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.Subscript():
                return self._brackets(node)
            case ast.Call():
                return self._call(node)
            case _:
                what = _FOREIGN.get(type(node), "this")
                raise self.error(
                    "the notation is made of S[...], R[...], numbers, n@axis, + and Dim(...); "
                    f"{what} is not part of it",
                    node,
                )

    def _constant(self, node: ast.Constant) -> int | str:
        value = node.value
        if isinstance(value, int):
            return self._checked(value, node)
        if isinstance(value, str):
            return value
        shown = "..." if value is Ellipsis else repr(value)
        raise self.error(f"sizes, strides and offsets are integers; got {shown}", node)

    def _name(self, node: ast.Name, *, after_at: bool = False) -> Any:
        name = node.id
        if len(name) > MOST_NAME:
            raise self.error(f"a name of {len(name)} characters names nothing", node)
        if name in _MAKERS:
            return _MAKERS[name]
        if name in _CALLS:
            raise self.error(f"{name} is followed by its arguments: {name}(...)", node)
        if self.named and name in self.named and not after_at:
            return self.named[name]
        with self.at(node):
            try:
                return Axis.get(name)
            except AxisError as error:
                if self.named is not None and not after_at:
                    known = f"its Dims are {', '.join(self.named)}" if self.named else "it has none"
                    raise NotationError(f"{name!r} is no Dim of the layout: {known}") from None
                if "did you mean" in str(error) or after_at:
                    raise
                raise NotationError(
                    f'{name!r} is no axis; a symbolic size is written Dim("{name}")'
                ) from None

    def _signed(self, node: ast.UnaryOp) -> Size | AxisTerms:
        value = self.value(node.operand)
        if not is_size(value) and not isinstance(value, AxisTerms):
            raise self.error(f"a sign stands before a number; got {_shown(value)}", node.operand)
        return -value if isinstance(node.op, ast.USub) else value

    def _checked(self, value: Any, node: ast.expr) -> Any:
        """A size that is small enough to work with and to print."""
        numbers = [c for _, c in value.terms] if isinstance(value, Polynomial) else [value]
        if any(abs(number) >= 10**MOST_DIGITS for number in numbers):
            raise self.error(f"an integer has at most {MOST_DIGITS} digits here", node)
        if isinstance(value, Polynomial) and any(
            sum(power for _, power in mono) > MOST_DEGREE for mono, _ in value.terms
        ):
            raise self.error(f"a product has at most {MOST_DEGREE} symbolic factors here", node)
        return value

    # -- operators ----------------------------------------------------------------------------
    def _binary(self, node: ast.BinOp) -> Any:
        operator = node.op
        left = self.value(node.left)
        if isinstance(operator, ast.MatMult) and isinstance(node.right, ast.Name):
            return self._on_axis(left, self._name(node.right, after_at=True), node)
        right = self.value(node.right)
        if isinstance(operator, ast.MatMult):
            return self._on_axis(left, right, node)
        if is_size(left) and is_size(right):
            return self._arithmetic(left, right, node)
        if isinstance(operator, ast.Add):
            return self._sum(left, right, node)
        if isinstance(operator, ast.Sub) and isinstance(left, Spec):
            raise self.error(
                "write a negative offset as + (-n) or + (-n)@axis, not with -", node.right
            )
        if type(operator) in _OPERATORS:
            raise self.error(
                f"{_OPERATORS[type(operator)]} is not part of the notation", node.right
            )
        wrong = node.left if not is_size(left) else node.right
        shown = _shown(left if not is_size(left) else right)
        hint = ", as in (4*2)@laneid" if isinstance(left, AxisTerms) else ""
        if isinstance(left, Spec) or isinstance(right, Spec):
            hint = ", and a layout is a sum, S[...] + R[...] + offset"
        raise self.error(f"- * // and % join numbers only{hint}; got {shown}", wrong)

    def _on_axis(self, number: Any, axis: Any, node: ast.BinOp) -> AxisTerms:
        with self.at(node.left):
            if isinstance(number, Axis):
                return number @ (axis if is_size(axis) else _shown(axis))
            if not is_size(number):
                raise NotationError(f"the number before @ is an int or a Dim; got {_shown(number)}")
        if not isinstance(axis, Axis):
            quotes = " without quotes" if isinstance(axis, str) else ""
            raise self.error(
                f"@ is followed by the name of an axis{quotes}; got {_shown(axis)}", node.right
            )
        return cast(AxisTerms, cast(Any, number) @ axis)

    def _arithmetic(self, left: Any, right: Any, node: ast.BinOp) -> Size:
        self.work += _length(left) * _length(right)
        if self.work > MOST_WORK:
            raise self.error("these products of Dims are too long to be multiplied out", node)
        with self.at(node.right):
            match node.op:
                case ast.Add():
                    value = left + right
                case ast.Sub():
                    value = left - right
                case ast.Mult():
                    value = left * right
                case ast.FloorDiv():
                    value = floordiv(left, right)
                case ast.Mod():
                    value = left - right * floordiv(left, right)
                case _:
                    raise NotationError(
                        f"{_OPERATORS[type(node.op)]} is not part of the notation: numbers have "
                        "+ - * // and %"
                    )
        return self._checked(as_size(value), node)

    def _sum(self, left: Any, right: Any, node: ast.BinOp) -> Any:
        for value, side in ((left, node.left), (right, node.right)):
            if isinstance(value, Layout):
                raise self.error(
                    "R[...] and offsets are added inside the brackets of TileLayout(...)", side
                )
            if value in _MAKERS.values():
                raise self.error(f"{value} needs its extents in brackets: {value}[...]", side)
            if not is_size(value) and not isinstance(value, Spec | AxisTerms):
                hint = f": write n@{value}" if isinstance(value, Axis) else ""
                raise self.error(
                    f"an offset is a number or n@axis{hint}; got {_shown(value)}", side
                )
        with self.at(node.right):
            return left + right

    # -- brackets and calls -------------------------------------------------------------------
    def _brackets(self, node: ast.Subscript) -> Spec:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        if name not in _MAKERS:
            raise self.error("only S and R are followed by [...]", node.value)
        inside = node.slice
        key: Any
        if isinstance(inside, ast.Slice):
            sides = (inside.lower, inside.upper, inside.step)
            values = [None if side is None else self.value(side) for side in sides]
            if inside.step is not None:
                raise self.error(
                    f"{name}[...] takes extents : strides; got a second ':'", inside.step
                )
            key = slice(*values)
        elif any(isinstance(element, ast.Slice) for element in elements(inside)):
            key = tuple(slice(None) for _ in elements(inside))
        else:
            key = self.value(inside)
        try:
            spec = _MAKERS[name][key]
        except ItemError as error:
            raise self.error(error.reason, _item(inside, error)) from None
        except LayoutAlgebraError as error:
            reason = error.reason if isinstance(error, NotationError) else str(error)
            raise self.error(reason, _strides_or_all(inside, node)) from None
        for made in (*(spec.shard or ()), *(spec.replica or ())):
            self._checked(made.stride, node)
        return spec

    def _call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _CALLS:
            raise self.error(
                "the notation calls Dim(...), TileLayout(...) and ComposeLayout(...) only",
                node.func,
            )
        if name == "Dim":
            return self._dim(node)
        if name == "TileLayout":
            given = self._arguments(node, ("spec",), required=1)
            value = self.value(given["spec"])
            if not isinstance(value, Spec):
                raise self.error(
                    f"TileLayout takes S[...] + R[...] + offset; got {_shown(value)}", given["spec"]
                )
            with self.at(_spelling_of_reg(given["spec"])):
                return TileLayout(value)
        return self._compose(node)

    def _dim(self, node: ast.Call) -> Polynomial:
        given = self._arguments(node, ("name", "multiple_of", "at_least", "at_most"), required=1)
        if len(node.args) > 1:
            raise self.error(
                'write Dim("M", multiple_of=8): only the name goes without one', node.args[1]
            )
        values = {key: self.value(argument) for key, argument in given.items()}
        try:
            dim = Dim(values.pop("name"), **values)
        except LayoutAlgebraError as error:
            raise self.error(str(error), _named_in(given, node, str(error))) from None
        (symbol,) = dim.symbols()
        known = self.dims.setdefault(symbol.name, dim)
        if known != dim:
            raise self.error(
                f"Dim {symbol.name!r} is one size in a text: it was {known.call_text()} before, "
                f"and is {dim.call_text()} here",
                node,
            )
        return dim

    def _compose(self, node: ast.Call) -> ComposeLayout:
        given = self._arguments(node, _COMPOSE, required=4)
        values = {key: self.value(argument) for key, argument in given.items()}
        tile, place = values["tile_layout"], given["tile_layout"]
        if isinstance(tile, Spec):
            with self.at(_spelling_of_reg(place)):
                values["tile_layout"] = TileLayout(tile)
        elif not isinstance(tile, TileLayout):
            raise self.error(f"tile_layout is S[...] or TileLayout(...); got {_shown(tile)}", place)
        try:
            return ComposeLayout(**values)
        except LayoutAlgebraError as error:
            raise self.error(str(error), _named_in(given, node, str(error))) from None

    def _arguments(
        self, node: ast.Call, names: Sequence[str], *, required: int
    ) -> dict[str, ast.expr]:
        """The argument nodes by parameter; the first `required` parameters must be given."""
        inside = "S[...] + R[...] + offset" if names == ("spec",) else ", ".join(names)
        call = f"{cast(ast.Name, node.func).id}({inside})"
        for argument in node.args[len(names) :]:
            raise self.error(f"{call} is given {len(node.args)} arguments", argument)
        given = dict(zip(names, node.args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in names:
                shown = "**" if keyword.arg is None else repr(keyword.arg)
                raise self.error(f"{call} has no argument {shown}", keyword.value)
            if keyword.arg in given:
                raise self.error(f"{call} is given {keyword.arg} twice", keyword.value)
            given[keyword.arg or ""] = keyword.value
        missing = [name for name in names[:required] if name not in given]
        if missing:
            raise self.error(f"{call}: {', '.join(missing)} is missing", node)
        return given


# -- places in the tree ------------------------------------------------------------------------
def elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else [node]


def _item(inside: ast.expr, error: ItemError) -> ast.expr:
    """The node of the extent or the stride that an error is about."""
    if isinstance(inside, ast.Slice):
        side = inside.lower if error.part == "extent" else inside.upper
        listed = elements(side) if side is not None else [inside]
    else:
        listed = elements(inside)
        if len(listed) == 1:
            listed = elements(listed[0])
    return listed[min(error.position, len(listed) - 1)]


def _strides_or_all(inside: ast.expr, node: ast.Subscript) -> ast.expr:
    """Where extents and strides do not go together: the strides, or what there is."""
    if isinstance(inside, ast.Slice):
        return inside.upper or inside.lower or node
    return inside


def _spelling_of_reg(node: ast.expr) -> ast.expr:
    """The first place at which the text says `reg`; the whole when it does not."""
    said = [
        part
        for part in ast.walk(node)
        if (isinstance(part, ast.Name) and part.id == reg.name)
        or (isinstance(part, ast.Constant) and part.value == reg.name)
    ]
    return min(said, key=lambda part: part.col_offset, default=node)


def _named_in(given: dict[str, ast.expr], node: ast.expr, message: str) -> ast.expr:
    """The argument that a message names first; else the call."""
    places = {name: message.find(name) for name in given if name in message}
    return given[min(places, key=places.__getitem__)] if places else node


def _shown(value: Any) -> str:
    if isinstance(value, str | bool):
        return repr(value)
    if isinstance(value, tuple):
        inside = ", ".join(_shown(part) for part in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return str(value)


def _length(size: Size) -> int:
    return len(size.terms) if isinstance(size, Polynomial) else 1
