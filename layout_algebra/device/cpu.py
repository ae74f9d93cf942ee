"""Maps compiled for the CPU: the source text of arithmetic/source.py, through numba.

One flat loop over the map's elements in row-major order; coordinates come from the flat index, so
the text is the same that a kernel would run for one thread.  Numbers are int64 with Python's floor
semantics; a map whose terms could leave 62 bits is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from layout_algebra import folding, terms
from layout_algebra.arithmetic.arrays import LIMIT
from layout_algebra.arithmetic.source import function_text
from layout_algebra.dims import Size
from layout_algebra.errors import CoordinateError
from layout_algebra.maps import Map


def place_text(source: Map) -> str:
    """Python source of `place(x0)`: the flat index in, one number for each output out.

    Raises:
        CoordinateError: symbolic sizes, copies, a guard, or numbers beyond 62 bits.
    """
    flat = _flat_map(source)
    return function_text("place", flat.coordinates, [term for _, term in flat.outputs])


def compile_place(source: Map) -> Callable[[int], tuple[int, ...]]:
    """`place(flat index)` compiled; the outputs come in the order of `source.axes`."""
    return _compiled(_run(place_text(source))["place"])


def table(source: Map) -> dict[str, NDArray[np.int64]]:
    """Every element's place, computed by compiled code: axis -> array over the extents."""
    flat = _flat_map(source)
    names = [f"out{k}" for k in range(len(flat.outputs))]
    assigned = ", ".join(f"{name}[f]" for name in names)
    text = (
        function_text("place", flat.coordinates, [term for _, term in flat.outputs])
        + f"def fill(n, {', '.join(names)}):\n"
        + "    for f in range(n):\n"
        + f"        {assigned}, = place(f)\n"
    )
    size = _number(source.size)
    arrays = [np.empty(size, dtype=np.int64) for _ in names]
    if names:
        space = _run(text)
        space["place"] = _compiled(space["place"])
        _compiled(space["fill"])(size, *arrays)
    shape = tuple(_number(extent) for extent in source.extents)
    return {axis: out.reshape(shape) for axis, out in zip(source.axes, arrays, strict=True)}


def _flat_map(source: Map) -> Map:
    if source.is_symbolic:
        raise CoordinateError("compiled maps need numbers for the sizes: evaluate the Dims first")
    if source.replicas or source.guard:
        raise CoordinateError("only maps without copies and without a guard are compiled")
    flat = terms.coordinate("flat", source.size)
    result = source.after(Map((flat,), (("flat index", flat),)))
    for term in folding.subterms(term for _, term in result.outputs):
        for bound in (term.low, term.high):
            if not isinstance(bound, int) or abs(bound) >= LIMIT:
                raise CoordinateError(f"a number of the map may reach {bound}, beyond 62 bits")
    return result


def _run(text: str) -> dict[str, Any]:
    """The names that generated source defines."""
    space: dict[str, Any] = {}
    exec(compile(text, "<map>", "exec"), space)  # noqa: S102  (our own text: see source.py)
    return space


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    compiled: Callable[..., Any] = numba.njit()(function)
    return compiled


def _number(size: Size) -> int:
    if not isinstance(size, int):
        raise CoordinateError(f"{size} is symbolic")
    return size
