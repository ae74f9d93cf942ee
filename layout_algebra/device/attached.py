"""Layouts attached to what a kernel holds: fragments of its threads, and shared memory.

    rows = fragment(TileLayout(S[(32, 4) : (1 @ laneid, 1)]), (32, 4), "float32")

    @cuda.jit
    def add_one(A, B):
        lane = cuda.threadIdx.x
        values = rows.local()                  # this lane's four values
        for k in range(rows.size):
            i, j = rows.element(k)             # whose values they are
            values[k] = A[i, j] + float32(1)
        for k in range(rows.size):
            B[lane, k] = values[k]

What is attached is a module, so that a kernel finds its functions by name: numba-cuda looks them up
in modules, and compiles them with the kernel, inlined.  The places are those of the layout's own
terms, as in `functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import ModuleType
from typing import Any

from layout_algebra import terms
from layout_algebra.axes import m
from layout_algebra.device.functions import function_source
from layout_algebra.device.kernels import exec_source, number
from layout_algebra.device.toolchain import require
from layout_algebra.errors import LayoutError
from layout_algebra.folding import substitute
from layout_algebra.inverting import inverse, inverse_map
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map

#: The number of a thread in its block.
_THREAD = (
    "uint32(uint32(cuda.threadIdx.x) + uint32(uint32(cuda.blockDim.x) * uint32(uint32("
    "cuda.threadIdx.y) + uint32(uint32(cuda.blockDim.y) * uint32(cuda.threadIdx.z)))))"
)
#: Thread axes -> where on it a thread is, which is number `t` in its block.
_OWNERS: Mapping[str, str] = {
    "laneid": "uint32(t & uint32(31))",
    "warpid": "uint32(t >> uint32(5))",
    "wid_in_wg": "uint32(uint32(t >> uint32(5)) & uint32(3))",
    "tid_in_wg": "uint32(t & uint32(127))",
    "wgid": "uint32(t >> uint32(7))",
    "tx": "t",
    "bx": "uint32(cuda.blockIdx.x)",
    "by": "uint32(cuda.blockIdx.y)",
    "bz": "uint32(cuda.blockIdx.z)",
}

Layout = TileLayout | ComposeLayout


class Attached(ModuleType):
    """A tile of a layout, for kernels.

    Attributes:
        layout: where its elements are.
        shape: its logical shape.
        dtype: NumPy's name of the element type.
        size: elements of the storage that one owner has.
        place: device function (i, j, ...) -> the element's place in the storage, its first copy.
        load: device function (storage, i, j, ...) -> the element's value.
    """

    layout: Layout
    shape: tuple[int, ...]
    dtype: str
    size: int
    place: Callable[..., Any]
    load: Callable[..., Any]


class Shared(Attached):
    """A tile in shared memory (or in any array that every thread reaches).

    Attributes:
        allocate: device function () -> an array of `size` elements in the block's shared memory.
        store: device function (storage, i, j, ..., value).
    """

    allocate: Callable[..., Any]
    store: Callable[..., Any]


class Fragment(Attached):
    """A tile that threads hold together, each of them in a storage of its own.

    Attributes:
        local: device function () -> this thread's storage, an array of `size` elements.
        owns: device function (i, j, ...) -> whether this thread has a copy of the element.
        store: device function (storage, i, j, ..., value): only a thread that has the element
            stores it.
        element: device function (k) -> the coordinates of the element in slot k of this thread.
        holds: device function (k) -> whether there is one.
    """

    local: Callable[..., Any]
    owns: Callable[..., Any]
    store: Callable[..., Any]
    element: Callable[..., Any]
    holds: Callable[..., Any]


def shared(layout: Layout, shape: Sequence[int], dtype: str) -> Shared:
    """A tile in shared memory.

    Args:
        layout: a place on m for each element; no copies.
        shape: the logical shape.
        dtype: element type, by NumPy's name.

    Raises:
        LayoutError: other axes, copies, negative places, a shape of another size, or elements that
            share a place.
        ToolchainError: no numba-cuda.
    """
    made = Shared("shared")
    _describe(made, layout, shape, dtype)
    others = [axis.name for axis in layout.axes if axis is not m]
    if others or layout.replica:
        found = f"it is on {', '.join(others)} too" if others else "it has copies"
        raise LayoutError(f"shared memory has one place on m for an element; {layout}: {found}")
    inverse(layout)  # refuses elements that share a place
    code = _Code(made)
    made.place = code.function(
        "place", function_source(_storage(layout, made.shape), None, "place")
    )
    code.accessors()
    made.allocate = code.function(
        "allocate",
        function_lines("allocate()", [f"return cuda.shared.array({made.size}, dtype)"]),
    )
    return made


def fragment(layout: Layout, shape: Sequence[int], dtype: str) -> Fragment:
    """A tile that threads of a block hold together.

    Args:
        layout: the owner on thread axes (laneid, warpid, tx, ...), the slot on m.
        shape: the logical shape.
        dtype: element type, by NumPy's name.

    Raises:
        LayoutError: other axes, negative places, a shape of another size, or elements that share a
            slot.
        ToolchainError: no numba-cuda.
    """
    made = Fragment("fragment")
    _describe(made, layout, shape, dtype)
    others = [axis.name for axis in layout.axes if axis is not m and axis.name not in _OWNERS]
    if others:
        raise LayoutError(
            f"a fragment is on thread axes ({', '.join(_OWNERS)}) and m; {layout} is on "
            f"{', '.join(others)} too"
        )
    code = _Code(made)
    made.place = code.function(
        "place", function_source(_storage(layout, made.shape), None, "place")
    )
    made.local = code.function(
        "local", function_lines("local()", [f"return cuda.local.array({made.size}, dtype)"])
    )
    made.owns = code.function("owns", _owns(code, layout, made.shape))
    code.accessors("if owns({at}):")
    code.slots(layout, made.shape)
    return made


def _describe(made: Attached, layout: Layout, shape: Sequence[int], dtype: str) -> None:
    if not isinstance(layout, TileLayout | ComposeLayout):  # type: ignore[redundant-expr]
        raise LayoutError(f"{made.__name__}: a TileLayout or ComposeLayout; got {layout!r}")
    size = layout.size()
    if layout.is_symbolic or prod(shape) != size:
        raise LayoutError(f"{made.__name__}: {size} elements ({layout}); got shape {tuple(shape)}")
    for axis, term in layout.map().outputs:
        if number(term.low) < 0:
            raise LayoutError(f"{made.__name__}: places on {axis} begin at {term.low} ({layout})")
    made.layout, made.shape, made.dtype = layout, tuple(shape), str(dtype)
    made.size = number(layout.span(m)) if m in layout.axes else 1


def _storage(layout: Layout, shape: Sequence[int]) -> Map:
    """(i, j, ...) -> the place on m, of the first copy."""
    own = layout.map(shape)
    term = own.output(m.name) if m.name in own.axes else terms.const(0)
    values = {replica: terms.const(replica.low or 0) for replica in own.replicas}
    return Map(own.coordinates, ((m.name, _put(term, values)),))


def _put(term: terms.Term, values: Mapping[terms.Var, terms.Term]) -> terms.Term:
    return substitute(term, values) if values else term


def _owns(code: _Code, layout: Layout, shape: Sequence[int]) -> str:
    """The text of `owns`: one of the copies is this thread's."""
    own = layout.map(shape)
    outputs = tuple((axis, term) for axis, term in own.outputs if axis in _OWNERS)
    names = ", ".join(f"p{k}" for k in range(len(shape)))
    if not outputs:
        return function_lines(f"owns({names})", ["return True"])
    owners = Map(own.coordinates, outputs, own.replicas)
    code.function("owner", function_source(owners, None, "owner"))
    copies = number(owners.copies)
    call = f"owner({names}, copy)" if copies > 1 else f"owner({names})"
    found = ", ".join(f"a{k}" for k in range(len(outputs)))
    same = " and ".join(f"a{k} == {_OWNERS[axis]}" for k, (axis, _) in enumerate(outputs))
    lines = [f"t = {_THREAD}", "found = False", f"for copy in range({copies}):"]
    lines += [f"    {found} = {call}", f"    found = found or ({same})", "return found"]
    return function_lines(f"owns({names})", lines)


class _Code:
    """The functions of a tile, each of which may call those before it."""

    def __init__(self, made: Attached) -> None:
        import numpy as np
        from numba import config, cuda, from_dtype, types

        self.made = made
        self.simulated: bool = config.ENABLE_CUDASIM  # type: ignore[attr-defined]
        if not self.simulated:
            require()
        self.jit: Any = cuda.jit
        names = () if self.simulated else ("uint32", "uint64", "int32", "int64")
        own = np.dtype(made.dtype)
        self.space: dict[str, Any] = {word: getattr(types, word) for word in names}
        self.space |= {"cuda": cuda, "dtype": own if self.simulated else from_dtype(own)}

    def function(self, name: str, text: str) -> Callable[..., Any]:
        """A device function from its text."""
        function = exec_source(text, name, self.space)
        compiled: Callable[..., Any] = self.jit(device=True, inline="always")(function)
        self.space[name] = compiled
        return compiled

    def accessors(self, guard: str = "") -> None:
        """`load` and `store`."""
        at = ", ".join(f"p{k}" for k in range(len(self.made.shape)))
        self.made.load = self.function(
            "load", function_lines(f"load(storage, {at})", [f"return storage[place({at})]"])
        )
        assign = f"storage[place({at})] = value"
        lines = [guard.format(at=at), f"    {assign}"] if guard else [assign]
        made: Any = self.made
        made.store = self.function("store", function_lines(f"store(storage, {at}, value)", lines))

    def slots(self, layout: Layout, shape: Sequence[int]) -> None:
        """`element` and `holds`."""
        found = _slot_map(layout, shape)
        text = function_source(found, None, "slot")
        self.function("slot", text)
        given = ["k" if one.name == m.name else _OWNERS[one.name] for one in found.coordinates]
        outputs = [f"c{d}" for d in range(len(found.outputs) + bool(found.guard))]
        lines = [f"t = {_THREAD}"]
        lines += [f"a{d} = {argument}" for d, argument in enumerate(given)]
        taken = ", ".join(f"a{d}" for d in range(len(given)))
        inside = [
            f"a{d} {sign} {number(limit)}"
            for d, one in enumerate(found.coordinates)
            for sign, limit in ((">=", one.low), ("<=", one.high))
        ]
        coordinates = outputs[: len(found.outputs)]
        shown = coordinates[0] if len(coordinates) == 1 else f"({', '.join(coordinates)})"
        call = f"{', '.join(outputs)} = slot({taken})"
        made: Any = self.made
        made.element = self.function(
            "element", function_lines("element(k)", [*lines, call, f"return {shown}"])
        )
        if found.guard:  # of numbers outside the map's ranges it says nothing
            lines.append(call)
            inside.append(f"{outputs[-1]} == 1")
        inside.append(f"k < {self.made.size}")
        made.holds = self.function(
            "holds", function_lines("holds(k)", [*lines, f"return {' and '.join(inside)}"])
        )


def function_lines(head: str, lines: Sequence[str]) -> str:
    """The text of a function."""
    return f"def {head}:\n" + "".join(f"    {line}\n" for line in lines)


def _slot_map(layout: Layout, shape: Sequence[int]) -> Map:
    """(owner, slot) -> the element's coordinates."""
    found = inverse_map(layout)
    if found is None:
        raise LayoutError(f"fragment: there is no formula for which element a slot holds: {layout}")
    index = found.output(m.name) if m.name in found.axes else terms.const(0)
    digits = terms.split(index, [int(n) for n in shape])
    outputs = tuple((f"i{d}", digit) for d, digit in enumerate(digits))
    return Map(found.coordinates, outputs, guard=found.guard)


__all__ = ["Attached", "Fragment", "Shared", "fragment", "shared"]
