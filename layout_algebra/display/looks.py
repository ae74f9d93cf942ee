"""How the elements of a grid look: what is written large, what small, and what the colour says.

    look = look_of(f, colour=None, bank=None)
    look.main, look.small        # "laneid", ("warpid", "m")
    look.legend                  # sentences for below the picture

Thread axes come first: who holds an element.  Places in memory alone are coloured by their order,
or by their bank of shared memory, where the width of an element is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from layout_algebra.axes import Axis, m
from layout_algebra.display.colours import ramp, tint
from layout_algebra.display.errors import DisplayError
from layout_algebra.display.grids import Grid, moving_axes
from layout_algebra.maps import Map
from layout_algebra.memory.targets import NVIDIA, MemoryTarget

BANK = "bank"
#: Banks of one hue: 16 bytes, what a swizzle keeps together.
_HUE_BYTES = 16
_ORDER = {"thread": 0, "device": 1, "memory": 2}


@dataclass(frozen=True)
class Banked:
    """Elements of a width in the banks of a memory.

    Attributes:
        bits: bits of an element.
        target: the memory.
    """

    bits: int
    target: MemoryTarget = NVIDIA

    def bank(self, place: int) -> int:
        """The bank of an element's first byte, for a buffer that begins in bank 0."""
        return place * self.bits // (8 * self.target.bank_bytes) % self.target.banks

    def colour(self, bank: int) -> str:
        """One hue for what a swizzle keeps together, darker bank by bank."""
        together = max(1, _HUE_BYTES // self.target.bank_bytes)
        return tint(bank // together, bank % together / together)


@dataclass(frozen=True)
class Look:
    """How elements are written and coloured.

    Attributes:
        main: the axis whose number is written large.
        small: those that are written small, below.
        colour: the axis that the colour says; "bank" is the bank of a place on m.
        banked: the banks, where they are shown.
    """

    main: str
    small: tuple[str, ...]
    colour: str
    banked: Banked | None = None

    @property
    def legend(self) -> list[str]:
        """What the numbers and colours say, in sentences."""
        large = f"each element: {self.main} (large)" if self.small else f"each element: {self.main}"
        text = f"{large}, {', '.join(self.small)} (small)" if self.small else large
        order = (
            ""
            if self.banked is not None or _kind(self.colour) != "memory"
            else (", darker is larger")
        )
        lines = [f"{text}; colour: {self.colour}{order}"]
        if self.banked is not None:
            target = self.banked.target
            lines.append(
                f"{target.banks} banks of {target.bank_bytes} bytes, elements of "
                f"{self.banked.bits} bits, the buffer begins in bank 0"
            )
        return lines

    def numbers(self, grid: Grid, axis: str) -> Sequence[Sequence[int]]:
        """The numbers of a grid's elements on an axis, or their banks."""
        if axis == BANK and self.banked is not None:
            return [list(map(self.banked.bank, row)) for row in grid.values[m.name]]
        return grid.values[axis]

    def paint(self, grid: Grid) -> Callable[[int], str]:
        """The colour of a number on the coloured axis."""
        if self.colour == BANK and self.banked is not None:
            return cache(self.banked.colour)
        if _kind(self.colour) != "memory":
            return cache(tint)
        numbers = [
            n
            for row, kept in zip(grid.values[self.colour], grid.inside, strict=True)
            for n, there in zip(row, kept, strict=True)
            if there
        ]
        low, high = min(numbers, default=0), max(numbers, default=0)
        return cache(lambda number: ramp(number, low, high))


def look_of(f: Map, colour: str | None = None, banked: Banked | None = None) -> Look:
    """The look of a map's elements.

    Args:
        f: the map.
        colour: the axis to colour by, or "bank"; chosen by the kinds of the axes when None.
        banked: the banks that places on m are in, where they are known.

    Raises:
        DisplayError: an axis that the map has not, or banks that are not known.
    """
    axes = moving_axes(f)
    in_banks = banked if axes == [m.name] else None
    chosen = colour or (BANK if in_banks is not None else _first(f, axes))
    if chosen == BANK and in_banks is not None:
        return Look(m.name, (BANK,), BANK, in_banks)
    if chosen == BANK and BANK not in f.axes:  # a Map may have an axis of that name
        raise DisplayError(
            'colour="bank" needs places on m alone and dtype= of an element; the axes are '
            f"({', '.join(axes)})"
        )
    if chosen not in f.axes:
        raise DisplayError(f"colour is one of ({', '.join(f.axes)}); got {chosen!r}")
    others = tuple(axis for axis in axes if axis != chosen)
    return Look(chosen, others, chosen)


# -- inside ------------------------------------------------------------------------------------
def _kind(axis: str) -> str:
    """The kind of an axis; a Map may have axes that nobody registered."""
    known = next((one for one in Axis.registered() if one.name == axis), None)
    return "memory" if known is None else known.kind


def _first(f: Map, axes: Sequence[str]) -> str:
    """The axis that says most: threads before memory, and of those the one of most values."""

    def rank(axis: str) -> tuple[int, int]:
        term = f.output(axis)
        low, high = term.low, term.high
        sure = isinstance(low, int) and isinstance(high, int)
        return _ORDER[_kind(axis)], -(high - low) if sure else 0  # type: ignore[operator]

    return min(axes, key=rank)
