"""A warp's memory accesses by enumeration, written from the memory model's description alone.

    found = enumerated(access)       # an `Accessed`, plain numbers and a callable
    found.degree, found.wavefronts, found.aligned, found.sectors, found.contiguous, found.raceless

Shared memory is 32 banks of 4 bytes.  A warp's access is served in phases of neighbouring lanes: up
to 4 bytes a lane 32 lanes together, up to 8 bytes 16, up to 16 bytes 8.  In one phase a bank gives
its different words one after the other; lanes that want one word get it together.  Global memory
is cut into sectors of 32 bytes.  A lane moves `width` bits from its first element on.  An address
that is no multiple of what a lane moves is refused where an instruction of that width exists: whole
bytes, a power of two.

No module of the package is imported here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

BANKS, WORD_BITS, SECTOR_BITS = 32, 32, 256
Coordinates = tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """A layout as numbers: each size is an int or the name of a free variable.

    Attributes:
        extents, strides, offset: the tile.
        swizzle: (per_element, swizzle_len, atom_len, swizzle_inner) or None.
    """

    extents: tuple[int | str, ...]
    strides: tuple[int | str, ...]
    offset: int = 0
    swizzle: tuple[int, int, int, bool] | None = None

    def place(self, flat: int, values: Mapping[str, int]) -> int:
        """The address of the element with a flat index, in elements."""
        address = self.offset
        for extent, stride in zip(reversed(self.extents), reversed(self.strides), strict=True):
            flat, digit = divmod(flat, number(extent, values))
            address += digit * number(stride, values)
        if self.swizzle is None:
            return address
        low, length, apart, inner = self.swizzle
        source, target = (low + apart, low) if inner else (low, low + apart)
        return address ^ ((address >> source) % (1 << length) << target)


@dataclass(frozen=True)
class Variable:
    """A free variable: the multiples of `multiple` from `least` to `most`."""

    name: str
    multiple: int
    least: int
    most: int
    parameter: bool = True  # the callables take it, after the lane

    @property
    def values(self) -> range:
        return range(-(-self.least // self.multiple) * self.multiple, self.most + 1, self.multiple)


@dataclass(frozen=True)
class Accessed:
    """An access as plain numbers and callables; see the module's text.

    Attributes:
        shape: the buffer's sizes.
        placed: its layout.
        element_bits, width: bits of an element, and that a lane moves.
        lanes: lanes of the warp.
        align: bytes that the buffer's first byte is a multiple of.
        where: (lane, *parameters) -> coordinates in the view.
        active: (lane, *parameters) -> whether the lane takes part, or None.
        begin, view: where the view begins (ints or names), and its sizes.
        free: the free variables.
    """

    shape: tuple[int | str, ...]
    placed: Placed
    element_bits: int
    width: int
    lanes: int
    align: int
    where: Callable[..., Coordinates]
    active: Callable[..., bool] | None = None
    begin: tuple[int | str, ...] = ()
    view: Coordinates = ()
    free: tuple[Variable, ...] = ()
    memo: dict[tuple[int, ...], dict[int, int]] = field(
        default_factory=dict[tuple[int, ...], dict[int, int]], compare=False
    )

    # ------------------------------------------------------------------------------ elements
    def points(self) -> Iterator[dict[str, int]]:
        """Every value of the free variables for which the view lies in the buffer."""
        names = [one.name for one in self.free]
        for numbers in itertools.product(*(one.values for one in self.free)):
            values = dict(zip(names, numbers, strict=True))
            if self._inside(values):
                yield values

    def _inside(self, values: Mapping[str, int]) -> bool:
        if not self.begin:
            return True
        starts = [number(one, values) for one in self.begin]
        whole = [number(one, values) for one in self.shape]
        ends = zip(starts, self.view, whole, strict=True)
        return all(start >= 0 and start + size <= most for start, size, most in ends)

    def element(self, lane: int, e: int, values: Mapping[str, int]) -> int:
        """The bit where the lane's element e begins, from the buffer's first."""
        given = [values[one.name] for one in self.free if one.parameter]
        coordinates = list(self.where(lane, *given))
        coordinates[-1] += e
        whole = [number(one, values) for one in self.shape]
        sizes = self.view or whole
        if not all(0 <= c < size for c, size in zip(coordinates, sizes, strict=True)):
            raise AssertionError(f"lane {lane} leaves the view: {coordinates} of {sizes}")
        starts = [number(one, values) for one in self.begin or (0,) * len(self.shape)]
        flat = 0
        for coordinate, start, size in zip(coordinates, starts, whole, strict=True):
            flat = flat * size + coordinate + start
        return self.placed.place(flat, values) * self.element_bits

    def firsts(self, values: Mapping[str, int]) -> dict[int, int]:
        """Active lane -> the bit where what it moves begins."""
        key = tuple(values[one.name] for one in self.free)
        if key not in self.memo:
            lanes = filter(lambda lane: self.takes_part(lane, values), range(self.lanes))
            self.memo[key] = {lane: self.element(lane, 0, values) for lane in lanes}
        return self.memo[key]

    def takes_part(self, lane: int, values: Mapping[str, int]) -> bool:
        """Whether a lane is active."""
        given = [values[one.name] for one in self.free if one.parameter]
        return self.active is None or bool(self.active(lane, *given))

    # --------------------------------------------------------------------------------- bases
    def bases(self, period: int) -> range:
        """Base addresses in bits, one of each class modulo a period of bits."""
        step = 8 * self.align
        return range(0, math.lcm(step, period), step)

    @property
    def has_alignment(self) -> bool:
        """Whether an instruction of this width exists, which then asks for an alignment."""
        return self.width % 8 == 0 and self.width & (self.width - 1) == 0

    @cached_property
    def aligned(self) -> bool:
        """Whether every active lane's address is a multiple of what it moves, at every base."""
        return not self.has_alignment or not any(
            (first + base) % self.width
            for values in self.points()
            for first in self.firsts(values).values()
            for base in self.bases(self.width)
        )

    # --------------------------------------------------------------------------------- banks
    def phases(self) -> list[range]:
        """Lanes that are served together."""
        together = 32 if self.width <= 32 else 16 if self.width <= 64 else 8
        return [range(start, start + together) for start in range(0, 32, together)]

    def degrees(self, values: Mapping[str, int], base: int = 0) -> list[int]:
        """For each phase, the most different words that one bank has to give."""
        return [
            max(map(len, self.words(values, base, phase).values()), default=0)
            for phase in self.phases()
        ]

    def words(
        self, values: Mapping[str, int], base: int, phase: range
    ) -> dict[int, dict[int, list[int]]]:
        """Bank -> word -> the lanes of a phase that want it."""
        found: dict[int, dict[int, list[int]]] = {}
        for lane, first in self.firsts(values).items():
            if lane in phase:
                for word in range(
                    (base + first) // WORD_BITS, (base + first + self.width - 1) // WORD_BITS + 1
                ):
                    found.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
        return found

    @cached_property
    def degree(self) -> int:
        """The greatest degree of any phase, over all points and bases."""
        return max(max(degrees) for degrees in self._served())

    @cached_property
    def wavefronts(self) -> int:
        """The most wavefronts in all, over all points and bases."""
        return max(sum(degrees) for degrees in self._served())

    def _served(self) -> list[list[int]]:
        # a base that is a whole number of words turns the banks and changes no count
        bases = self.bases(WORD_BITS)
        return [self.degrees(values, base) for values in self.points() for base in bases]

    # -------------------------------------------------------------- sectors, vectors and races
    def sectors_at(self, values: Mapping[str, int], base: int) -> set[int]:
        """The sectors that the lanes touch together."""
        touched: set[int] = set()
        for first in self.firsts(values).values():
            last = first + base + self.width - 1
            touched |= set(range((first + base) // SECTOR_BITS, last // SECTOR_BITS + 1))
        return touched

    @cached_property
    def sectors(self) -> int:
        """The most sectors, over all points and bases."""
        return max(
            len(self.sectors_at(values, base))
            for values in self.points()
            for base in self.bases(SECTOR_BITS)
        )

    @cached_property
    def contiguous(self) -> bool:
        """Whether each active lane's elements follow each other in memory."""
        return all(
            self.element(lane, e, values) == first + e * self.element_bits
            for values in self.points()
            for lane, first in self.firsts(values).items()
            for e in range(self.width // self.element_bits)
        )

    @cached_property
    def raceless(self) -> bool:
        """Whether no byte is touched by two active lanes."""
        return not any(self.raced(values) for values in self.points())

    def raced(self, values: Mapping[str, int]) -> dict[int, list[int]]:
        """Byte -> the lanes that touch it, of the bytes that several touch."""
        owners: dict[int, list[int]] = {}
        for lane, first in self.firsts(values).items():
            for byte in range(first // 8, (first + self.width - 1) // 8 + 1):
                owners.setdefault(byte, []).append(lane)
        return {byte: lanes for byte, lanes in owners.items() if len(lanes) > 1}


def number(size: int | str, values: Mapping[str, int]) -> int:
    """A size's value."""
    return values[size] if isinstance(size, str) else size
