"""Kernels: a map as flat source text that one thread runs for one element.

    kernel = kernel_of(TileLayout(S[(8, 4) : (1, 8)]))
    print(kernel.source)

    def place(out0, n):
        i = uint32(uint32(cuda.blockIdx.x) * uint32(cuda.blockDim.x) + uint32(cuda.threadIdx.x))
        if i < n:
            t0 = uint32(i >> uint32(2))
            ...
            out0[uint64(i)] = t2

Thread i stores the place of element i, one number an axis, while i < n.  Numbers are unsigned
words of 32 bits where ranges show that nothing is lost, else of 64; a place that may be negative is
its residue, to be read as signed.  Copies of an element are elements of the kernel: they vary
fastest.  A map with a guard has one more output, `guard`: 1 where the element is in the domain,
else 0 (the other outputs are then the values of their formulas, which mean nothing).

The grid has at most `MOST_THREADS` - 1 threads more than there are elements, so that a thread's
number always fits in a word.

No compiler is loaded here; the text uses only names that `exec_source` or a user's module gives it:
`uint32`, `uint64`, and for the kernel `cuda`.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from layout_algebra import terms
from layout_algebra.conditions import Condition
from layout_algebra.device.source_text import (
    PYTHON,
    Spelling,
    Words,
    check_range,
    least_width,
)
from layout_algebra.errors import CoordinateError
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var

#: Threads of a block: a grid is rounded up by less than this, and its last thread has to fit.
MOST_THREADS = 1024

#: The output that says whether an element is in the domain.
GUARD = "guard"

#: What the text itself refers to.
RESERVED = ("cuda", "uint32", "uint64", "int32", "int64")


class Body(NamedTuple):
    """Assignments at a width, and the names that hold the results."""

    width: int
    lines: list[str]
    results: list[str]


@dataclass(frozen=True)
class Kernel:
    """A map as source text.

    Attributes:
        map: flat index -> places, with one coordinate, no copies and no guard; what is stored.
        name: the name of the function.
        width: bits of every number, 32 or 64.
        outputs: the axes, in the order of the kernel's arrays.
        signed: for each output, whether it is to be read as signed.
        size: how many elements it stores: those of the map, times their copies.
        copies: how many of them follow each other for one element.
        source: the kernel, for numba-cuda.
        function: `name(i)` that returns the same numbers as a tuple, for any Python.
    """

    map: Map
    name: str
    width: int
    outputs: tuple[str, ...]
    signed: tuple[bool, ...]
    size: int
    copies: int
    source: str
    function: str

    def read(self, values: Sequence[int]) -> dict[str, int]:
        """The place that the numbers of one element are: residues that stand for negatives too."""
        half, whole = 1 << (self.width - 1), 1 << self.width
        return {
            axis: value - whole if signed and value >= half else value
            for axis, signed, value in zip(self.outputs, self.signed, values, strict=True)
        }


def kernel_of(
    map_or_layout: Any, shape: Sequence[int] | None = None, name: str = "place"
) -> Kernel:
    """The kernel of a map or a layout.

    Args:
        map_or_layout: a layout, a Map, or a callable as for `Map.of`.
        shape: the logical shape of a layout (its own extents when None), or a callable's sizes.
        name: the name of the function in the text.

    Raises:
        CoordinateError: symbolic sizes, coordinates without bounds, or a name that is none.
        WidthError: numbers beyond 64 bits.
    """
    check_name(name)
    flat, copies = flat_map(Map.of(map_or_layout, shape))
    made = kernel_body(flat, PYTHON)
    return Kernel(
        flat,
        name,
        made.width,
        flat.axes,
        signs(flat),
        number(flat.size),
        copies,
        _kernel_text(name, made),
        function_text(name, "i", made.lines, made.results),
    )


def kernel_source(
    map_or_layout: Any, shape: Sequence[int] | None = None, name: str = "place"
) -> str:
    """The text of a kernel for numba-cuda; see the module's text, and `kernel_of` for the rest."""
    return kernel_of(map_or_layout, shape, name).source


def kernel_body(flat: Map, spelling: Spelling) -> Body:
    """What a kernel does for its thread number `i`."""
    return body(flat, dict.fromkeys(flat.coordinates, "i"), spelling, spare=MOST_THREADS)


def body(source: Map, names: dict[Var, str], spelling: Spelling, spare: int = 0) -> Body:
    """The assignments that give a map's outputs, at the least width that serves it.

    Args:
        source: a map without copies and guard.
        names: what holds each coordinate, as a word.
        spelling: the language.
        spare: by how much a coordinate may be too large without being mistaken for another.

    Raises:
        WidthError: numbers beyond 64 bits.
    """
    return least_width(lambda width: body_at(width, source, names, spelling, spare))[1]


def body_at(
    width: int, source: Map, names: dict[Var, str], spelling: Spelling, spare: int = 0
) -> Body:
    """The same at a given width.

    Raises:
        WidthError: numbers beyond it.
    """
    for variable in source.coordinates:
        high = variable.high + spare if isinstance(variable.high, int) else None
        check_range(variable.name, variable.low, high, width)
    for axis, term in source.outputs:
        check_range(axis, term.low, term.high, width)
    words = Words(spelling, width, names)
    results = [words.name_of(term) for _, term in source.outputs]
    return Body(width, words.lines_for(results), results)


def flat_map(source: Map) -> tuple[Map, int]:
    """The map of one flat index whose copies are elements and whose guard is an output; how many
    copies follow each other.

    Raises:
        CoordinateError: symbolic sizes, or coordinates without bounds.
    """
    source = guarded(source)
    plain = Map((*source.coordinates, *source.replicas), source.outputs)
    flat = terms.coordinate("flat", plain.size)
    return plain.after(Map((flat,), (("flat index", flat),)), inside=True), number(source.copies)


def guarded(source: Map) -> Map:
    """The map without its guard, which is one more output where there is one.

    Raises:
        CoordinateError: symbolic sizes, or an axis of that name.
    """
    if source.is_symbolic:
        raise CoordinateError("kernels need numbers for the sizes: evaluate the Dims first")
    if not source.guard:
        return source
    if GUARD in source.axes:
        raise CoordinateError(f"the axis {GUARD!r} is taken: a guarded map has it as an output")
    holds = reduce(terms.multiply, (_truth(condition) for condition in source.guard))
    return Map(source.coordinates, (*source.outputs, (GUARD, holds)), source.replicas)


def _truth(condition: Condition) -> Term:
    """1 where a condition holds, else 0."""
    term = condition.term
    least = _at_least_zero(term)
    if condition.kind == ">=":
        return least
    zero = terms.multiply(least, _at_least_zero(terms.scale(term, -1)))
    return zero if condition.kind == "==" else terms.linear([(zero, -1)], 1)


def _at_least_zero(term: Term) -> Term:
    """1 where the term is not negative, else 0: its quotient by more than it reaches, plus one."""
    if not isinstance(term.low, int) or not isinstance(term.high, int):
        raise CoordinateError("a guard speaks of a number without bounds: bound its coordinates")
    reach = 1 << max(abs(term.low), abs(term.high), 1).bit_length()
    return terms.linear([(terms.floordiv(term, reach), 1)], 1)


def signs(source: Map) -> tuple[bool, ...]:
    """For each output, whether it may be negative."""
    return tuple(isinstance(term.low, int) and term.low < 0 for _, term in source.outputs)


def _kernel_text(name: str, made: Body) -> str:
    w = f"uint{made.width}"
    head = ", ".join([*(f"out{k}" for k in range(len(made.results))), "n"])
    stores = [f"out{k}[uint64(i)] = {result}" for k, result in enumerate(made.results)]
    index = f"i = {w}({w}(cuda.blockIdx.x) * {w}(cuda.blockDim.x) + {w}(cuda.threadIdx.x))"
    inner = "".join(f"        {line}\n" for line in [*made.lines, *stores] or ["return"])
    return f"def {name}({head}):\n    {index}\n    if i < n:\n{inner}"


def function_text(name: str, head: str, lines: Sequence[str], results: Sequence[str]) -> str:
    """A function that returns the results as a tuple."""
    given = "".join(result + ", " for result in results)
    return f"def {name}({head}):\n" + "".join(
        f"    {line}\n" for line in [*lines, f"return ({given})"]
    )


def check_name(name: str) -> None:
    """Raises CoordinateError unless a function can be called so, in Python and in PTX."""
    usable = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    if not usable or name in RESERVED:
        raise CoordinateError(
            f"a kernel's name is an ASCII identifier, none of {', '.join(RESERVED)}; got {name!r}"
        )


def number(size: Any) -> int:
    """A size that is a number.

    Raises:
        CoordinateError: it is symbolic.
    """
    if not isinstance(size, int):
        raise CoordinateError(f"{size} is symbolic")
    return size


# -- running the text ----------------------------------------------------------------------------
def exec_source(text: str, name: str, names: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The function that a text of ours defines, as plain Python over exact integers.

    Args:
        text: a kernel's `source` or `function`.
        name: the function's name.
        names: what the text may use besides (`cuda`), or instead: `uint32` and its kin are by
            default functions that give the residue of a Python int.
    """
    space: dict[str, Any] = {**_WORDS, **(names or {})}
    exec(compile(text, f"<{name}>", "exec"), space)  # noqa: S102  (our own text)
    function: Callable[..., Any] = space[name]
    return function


def _word(width: int, signed: bool) -> Callable[[int], int]:
    least = -(1 << (width - 1)) if signed else 0
    return lambda value: (int(value) - least) % (1 << width) + least


_WORDS: dict[str, Callable[[int], int]] = {
    "uint32": _word(32, False),
    "uint64": _word(64, False),
    "int32": _word(32, True),
    "int64": _word(64, True),
}
