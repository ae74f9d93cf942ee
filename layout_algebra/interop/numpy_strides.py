"""Arrays of NumPy and PyTorch: shape and strides in, and out where a layout has them.

    from_strides((8, 64), (256, 2), itemsize=2)                     # S[(8, 64) : (128, 1)]
    to_strides(TileLayout(S[(8, 64) : (64, 1)]), (64, 8), 2).value  # Strides((64, 8), (16, 2), 0)

NumPy counts strides in bytes, PyTorch in elements; `from_array` takes either's objects, by what
they have and not by their class.  Places are elements on axis m.

A layout has strides exactly when over the shape it is `offset + sum of index * stride`.  There is
one candidate, read off the elements with a single index 1; whether it is the layout is a claim, so
the answer comes with its proof, and a refusal with the first element that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from layout_algebra.axes import m
from layout_algebra.claims import Equivalent
from layout_algebra.dims import Size, as_size, at_least, divide_exactly, is_size, product
from layout_algebra.interop.refusals import Exported, InteropError, checked_layout, spelled
from layout_algebra.layouts import TileLayout
from layout_algebra.maps import Map
from layout_algebra.prover import prove
from layout_algebra.terms import Const, Term, Var, const
from layout_algebra.values import AnyLayout, Swizzled, layout_size
from layout_algebra.verdicts import Verdict, Witness


@dataclass(frozen=True)
class Strides:
    """A strided array: sizes, and strides and offset in one unit (bytes, or elements)."""

    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size = 0


def from_strides(
    shape: Sequence[Size], strides: Sequence[Size], itemsize: int = 1, offset: Size = 0
) -> TileLayout:
    """The layout of a strided array, in elements on axis m.

    Args:
        shape: one size for each dimension, none of them 0.
        strides: one step for each dimension, in units of which an element has `itemsize`.
        itemsize: bytes of an element for NumPy's strides; 1 for PyTorch's, which count elements.
        offset: where the element (0, 0, ...) is, in the same unit as the strides.

    Raises:
        InteropError: numbers that do not fit together, or a step inside an element.
    """
    sizes, steps = _sizes("shape", shape), _sizes("strides", strides)
    if len(sizes) != len(steps):
        raise InteropError(f"one stride for each of {len(sizes)} dimensions; got {len(steps)}")
    if type(itemsize) is not int or itemsize < 1:
        raise InteropError(f"an element has a positive number of bytes; got {itemsize!r}")
    for position, size in enumerate(sizes):
        if isinstance(size, int) and size < 1:
            raise InteropError(f"dimension {position} has {size} elements: a layout has some")
    units = [
        0 if size == 1 else _elements(step, itemsize, f"the stride of dimension {position}")
        for position, (size, step) in enumerate(zip(sizes, steps, strict=True))
    ]
    (start,) = _sizes("offset", (offset,))
    base = _elements(start, itemsize, "the offset")
    iters = [(size, unit, m) for size, unit in zip(sizes, units, strict=True)]
    return TileLayout.from_iters(iters, (), {m: base} if base != 0 else None)


def from_array(array: Any) -> TileLayout:
    """The layout of an array or tensor, by what it has.

    NumPy's way: `.shape`, `.strides` (a tuple of bytes) and `.itemsize`.  PyTorch's way: `.shape`,
    `.stride()` (elements) and `.storage_offset()`.  NumPy's arrays know no offset: the element
    (0, 0, ...) is at 0.

    Raises:
        InteropError: an object with neither.
    """
    if callable(getattr(array, "stride", None)) and callable(
        getattr(array, "storage_offset", None)
    ):
        shape = tuple(int(size) for size in array.shape)
        strides = tuple(int(step) for step in array.stride())
        return from_strides(shape, strides, 1, int(array.storage_offset()))
    if all(hasattr(array, name) for name in ("shape", "strides", "itemsize")):
        if array.strides is None:
            raise InteropError("the array has no strides: give them to from_strides")
        shape = tuple(int(size) for size in array.shape)
        strides = tuple(int(step) for step in array.strides)
        return from_strides(shape, strides, int(array.itemsize))
    raise InteropError(
        "an array has .shape, .strides and .itemsize (NumPy), or .shape, .stride() and "
        f".storage_offset() (PyTorch); got {type(array).__name__}"
    )


def to_strides(
    layout: AnyLayout, shape: Sequence[Size], itemsize: int = 1, *, negative: bool = True
) -> Exported[Strides]:
    """Shape, strides and offset of a layout over a shape, with the proof.

    Args:
        layout: a layout on axis m alone.
        shape: the array's sizes; their product is the layout's size.
        itemsize: bytes of an element; 1 gives strides in elements.
        negative: whether strides may be negative; PyTorch's may not.

    Returns:
        The strides and the proof that they are the layout.  A dimension of size 1 has stride 0.

    Raises:
        InteropError: no layout, copies, places on another axis or below 0, or a dimension along
            which the places are not evenly spaced.
    """
    checked_layout("the layout of to_strides", layout)
    sizes = _sizes("shape", shape)
    if type(itemsize) is not int or itemsize < 1:
        raise InteropError(f"an element has a positive number of bytes; got {itemsize!r}")
    if product(sizes) != layout_size(layout):
        raise InteropError(
            f"shape {sizes} has {product(sizes)} elements, the layout {layout_size(layout)}"
        )
    whole = layout.map(sizes)  # type: ignore[union-attr]
    found = _candidate(whole, sizes)
    tile = from_strides(sizes, found.strides, 1, found.offset)
    proof = prove(Equivalent(tile.map(sizes), whole))
    if proof.verdict is Verdict.REFUTED:
        raise InteropError(_reason(layout), _against(found, proof.witness))
    if proof.verdict is not Verdict.PROVED:
        raise InteropError(f"whether {found} is the layout is not decided: {proof.reason}")
    _check_signs(found, negative)
    scaled = tuple(step * itemsize for step in found.strides)
    return Exported(Strides(sizes, scaled, found.offset * itemsize), proof)


def _check_signs(found: Strides, negative: bool) -> None:
    """No place below 0, and no stride below 0 where those are not allowed."""
    lowest = found.offset
    for position, (size, step) in enumerate(zip(found.shape, found.strides, strict=True)):
        if not at_least(step, 0):
            lowest = lowest + (size - 1) * step
            if not negative:
                raise InteropError(f"dimension {position} has stride {step}, which is not >= 0")
    if isinstance(lowest, int) and lowest < 0:
        raise InteropError(
            f"the lowest place is {lowest}: an array has no element before its start"
        )


def _candidate(whole: Map, shape: Sequence[Size]) -> Strides:
    """The only strides that a map can have: its places one step from the first element.

    Raises:
        InteropError: places on another axis, or a place that is not a number or a Dim.
    """
    names = [variable.name for variable in whole.coordinates]
    first = _place(whole, dict.fromkeys(names, 0))
    steps: list[Size] = []
    for name, size in zip(names, shape, strict=True):
        if size == 1:
            steps.append(0)
        elif at_least(size, 2):
            steps.append(_place(whole, {**dict.fromkeys(names, 0), name: 1}) - first)
        else:
            raise InteropError(
                f"dimension {name} has {size} elements, perhaps only one: declare its Dim with "
                "at_least=2"
            )
    return Strides(tuple(shape), tuple(steps), first)


def _place(whole: Map, point: dict[str, int]) -> Size:
    """The number on axis m at an element, its first copy's."""
    fixed = whole.fixed(**point)
    first: dict[Var, Term] = {replica: const(0) for replica in fixed.replicas}
    for axis, term in fixed._rebuilt(first).outputs:
        if not isinstance(term, Const):
            raise InteropError(f"the place of element {spelled(point)} is not known: {term!r}")
        if axis == m.name:
            return term.value
    return 0


def _against(found: Strides, witness: Witness | None) -> Witness | None:
    """A counterexample in words about the only strides that could be."""
    if witness is None or len(witness.places) < 2:
        return witness
    element, (wanted, place) = witness.points[0], witness.places
    text = (
        f"with strides {found.strides} element {spelled(element)} is at {spelled(wanted)}, "
        f"in the layout at {spelled(place)}"
    )
    if wanted == place:
        text = f"in the layout element {spelled(element)} is at more places than {spelled(place)}"
    return Witness(text, witness.points, witness.places, witness.dims)


def _reason(layout: AnyLayout) -> str:
    """What stands against strides, as far as the form of the layout tells."""
    others = [axis.name for axis in layout.axes if axis is not m]
    if others:
        return f"an array has places on axis m only, this layout also on {', '.join(others)}"
    if layout.replica:
        return "an array has one place for each element, this layout has copies"
    if isinstance(layout, Swizzled):
        return "an array has no swizzle"
    return "along some dimension the places are not evenly spaced"


def _elements(step: Size, itemsize: int, what: str) -> Size:
    whole = divide_exactly(step, itemsize)
    if whole is None:
        raise InteropError(
            f"{what} is {step} bytes, not a whole number of {itemsize}-byte elements"
        )
    return whole


def _sizes(what: str, given: Any) -> tuple[Size, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InteropError(f"the {what} is a tuple of ints or Dims; got {given!r}")
    for number in given:
        if not is_size(number):
            raise InteropError(f"the {what} is made of ints or Dims; got {number!r}")
    return tuple(as_size(number) for number in given)
