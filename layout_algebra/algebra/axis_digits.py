"""The digits of a layout, axis by axis, each counting up from 0 with a positive stride.

A place on an axis is `lowest + sum of digit * stride`: negative strides are mirrored (the digit is
counted from its other end), the offset goes into `lowest`, and digits that move nothing are set
apart.  Copies are digits too; their weight in the flat index is 0, for which copy it is does not
matter.

    S[(4, 2) : (-1, 8)] + 3   on m: lowest 0, digits (2, stride 8, weight 1) and
                              (4, stride 1, weight 2, mirrored)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from layout_algebra.algebra.deciding import Decide
from layout_algebra.algebra.normal_form import merge_copies
from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError
from layout_algebra.values import Iter, Tile, row_major_strides


class AxisDigit(NamedTuple):
    """`extent` values, `stride` >= 0 apart on an axis, `weight` apart in the flat index.

    A mirrored digit d stands for the coordinate extent - 1 - d.
    """

    extent: Size
    stride: Size
    weight: Size
    mirrored: bool = False

    @property
    def reach(self) -> Size:
        return (self.extent - 1) * self.stride

    @property
    def step(self) -> Size:
        """How much the flat index grows with the digit."""
        return -self.weight if self.mirrored else self.weight

    @property
    def start(self) -> Size:
        """What it adds to the flat index where the digit is 0."""
        return (self.extent - 1) * self.weight if self.mirrored else 0


@dataclass(frozen=True)
class AxisDigits:
    """What moves a layout along one axis, and from where."""

    axis: Axis
    lowest: Size
    digits: tuple[AxisDigit, ...]

    @property
    def reach(self) -> Size:
        """The highest place less the lowest."""
        total: Size = 0
        for digit in self.digits:
            total = total + digit.reach
        return total

    @property
    def highest(self) -> Size:
        return self.lowest + self.reach


class Digits(NamedTuple):
    """All digits of a tile: those of each axis, and those that move nothing."""

    on_axes: tuple[AxisDigits, ...]
    still: tuple[AxisDigit, ...]


def digits_by_axis(tile: Tile, axes: Iterable[Axis], ask: Decide) -> Digits:
    """The digits of a tile on each of the axes (all of its own, or more), copies merged.

    Raises:
        LayoutError: a stride whose sign is not known for all values of the Dims.
    """
    weights = row_major_strides(tile.extents)
    copies, shift = merge_copies(tile.replica) if tile.replica else ([], {})
    lowest: dict[Axis, Size] = dict.fromkeys(axes, 0)
    found: dict[Axis, list[AxisDigit]] = {axis: [] for axis in lowest}
    still: list[AxisDigit] = []
    for moved in (tile.offset, shift):
        for axis, value in moved.items():
            lowest[axis] = lowest[axis] + value
    for iters, index in ((tile.shard, weights), (copies, (0,) * len(copies))):
        for it, weight in zip(iters, index, strict=True):
            if it.extent == 1:
                continue
            digit = _digit(it, weight, ask)
            if digit.mirrored:
                lowest[it.axis] = lowest[it.axis] - digit.reach
            (still if digit.stride == 0 else found[it.axis]).append(digit)
    on_axes = (AxisDigits(axis, low, tuple(found[axis])) for axis, low in lowest.items())
    return Digits(tuple(on_axes), tuple(still))


def _digit(it: Iter, weight: Size, ask: Decide) -> AxisDigit:
    extent, stride, axis = it
    if ask.at_least(stride, 0):
        return AxisDigit(extent, stride, weight)
    if ask.at_least(-stride, 0):
        return AxisDigit(extent, -stride, weight, True)
    raise LayoutError(
        f"the sign of stride ({stride})@{axis.name} is not known: give its Dims bounds (at_least=, "
        "at_most=)"
    )


def flat_index(values: Mapping[AxisDigit, int], every: Iterable[AxisDigit]) -> Size:
    """The flat index at which some digits have these values and all others are 0."""
    total: Size = 0
    for digit in every:
        total = total + digit.start + values.get(digit, 0) * digit.step
    return total


def shown_place(place: Mapping[str, Size]) -> str:
    """A place in words."""
    return ", ".join(f"{axis} = {value}" for axis, value in place.items()) or "the only place"


#: The axis on which inverses give the flat index.
INDEX = m
