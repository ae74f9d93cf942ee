"""A layout as a function for a user's own kernel.

    place = device_function(TileLayout(S[(8, 8) : (8, 1)]), (8, 8))

    @cuda.jit
    def kernel(out):
        i, j = cuda.grid(2)
        out[place(i, j)] = ...

The function is inlined where it is called, and its numbers are those of `kernels`: words of 32 bits
where that is enough, else of 64; signed on an axis that may be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from layout_algebra import terms
from layout_algebra.device.kernels import (
    body,
    check_name,
    exec_source,
    function_text,
    guarded,
    number,
    signs,
)
from layout_algebra.device.source_text import PYTHON
from layout_algebra.device.toolchain import require
from layout_algebra.errors import CoordinateError
from layout_algebra.folding import substitute
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var


def device_function(
    map_or_layout: Any, shape: Sequence[int] | None = None, name: str = "place"
) -> Callable[..., Any]:
    """The map as a device function of numba-cuda, to be called in a kernel.

    Args:
        map_or_layout: a layout, a Map, or a callable as for `Map.of`.
        shape: the logical shape: the function then has one parameter for each dimension.  None: it
            has one, the flat index, for a layout; for a Map those of the Map.
        name: the name of the function.

    Returns:
        A function of integers in the map's domain.  Where elements have copies, its last parameter
        is the number of the copy.  It gives the place: one number, or a tuple of them in the order
        of the map's axes, and then, for a map with a guard, 1 or 0.

    Raises:
        CoordinateError: symbolic sizes, coordinates without bounds, or a name that is none.
        WidthError: numbers beyond 64 bits.
        ToolchainError: no numba-cuda.
    """
    require()
    from numba import config, cuda, types

    simulated: bool = config.ENABLE_CUDASIM  # type: ignore[attr-defined]
    names = () if simulated else ("uint32", "uint64", "int32", "int64")
    words: dict[str, Any] = {word: getattr(types, word) for word in names}
    function = exec_source(function_source(map_or_layout, shape, name), name, words)
    jit: Any = cuda.jit
    made: Callable[..., Any] = jit(device=True, inline="always")(function)
    return made


def function_source(
    map_or_layout: Any, shape: Sequence[int] | None = None, name: str = "place"
) -> str:
    """The text of `device_function`, as plain Python; arguments and errors as there."""
    check_name(name)
    source = guarded(Map.of(map_or_layout, shape))
    if shape is None and not isinstance(map_or_layout, Map) and hasattr(map_or_layout, "map"):
        flat = terms.coordinate("flat", source.size)
        source = source.after(Map((flat,), (("flat index", flat),)), inside=True)
    source = _with_copy(source)
    names = {variable: f"x{k}" for k, variable in enumerate(source.coordinates)}
    width, lines, results = body(source, names, PYTHON)
    casts = [f"x{k} = uint{width}(p{k})" for k in range(len(names))]
    shown = [
        f"int{width}({result})" if signed else result
        for result, signed in zip(results, signs(source), strict=True)
    ]
    head = ", ".join(f"p{k}" for k in range(len(names)))
    if len(shown) == 1:
        lines_text = "".join(f"    {line}\n" for line in [*casts, *lines, f"return {shown[0]}"])
        return f"def {name}({head}):\n{lines_text}"
    return function_text(name, head, [*casts, *lines], shown)


def _with_copy(source: Map) -> Map:
    """The map with one more coordinate, the number of the copy, in place of its replicas; without
    it where there is one copy."""
    if not source.replicas:
        return source
    taken = {variable.name for variable in source.coordinates}
    name = "copy"
    while name in taken:
        name += "_"
    if any(replica.extent is None for replica in source.replicas):
        raise CoordinateError("copies without bounds cannot be numbered: bound the replicas")
    count = number(source.copies)
    copy = terms.coordinate(name, count) if count > 1 else terms.const(0)
    extents = [number(replica.extent) for replica in source.replicas]
    digits = terms.split(copy, extents)
    values: dict[Var, Term] = {
        replica: terms.add(digit, terms.const(0 if replica.low is None else replica.low))
        for replica, digit in zip(source.replicas, digits, strict=True)
    }
    outputs = tuple((axis, substitute(term, values)) for axis, term in source.outputs)
    more = (copy,) if isinstance(copy, Var) else ()
    return Map((*source.coordinates, *more), outputs)
