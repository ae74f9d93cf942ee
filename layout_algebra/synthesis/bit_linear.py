"""The search among bit-linear layouts: permute the bits of an element's index, then XOR two fields.

    best, looked = search(ground, target, runs=[8, 1], cost=cost, floor=64)

The place's bits are the index's bits in some order; then the field of `length` bits right above
those that choose a bank is XORed into the lowest ones of them.  With the order free, that gives
every bank bit that is one bit of the index, or the XOR of two, no bit used twice.  General
bit-linear maps have bank bits that are XORs of more, so this is a part of the class, and it is
searched by improving steps from several beginnings, with a fixed seed: the best that it finds need
not be the best there is.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from layout_algebra.axes import m
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory.targets import MemoryTarget
from layout_algebra.synthesis.counting import Numbers
from layout_algebra.synthesis.errors import SynthesisError
from layout_algebra.synthesis.families import Choice, Ground
from layout_algebra.values import AnyLayout, Swizzle

#: Layouts that are looked at, and the seed: the same answer every time.
MOST_TRIES, SEED = 1200, 11

#: Total wavefronts of a layout; None where it cannot serve the accesses.
Cost = Callable[[Numbers], int | None]


@dataclass(frozen=True)
class Wiring:
    """Which bit of the index is which bit of the place, and the XOR.

    Attributes:
        bits: bits[k] is the index's bit that is bit k of the place.
        swizzle: the XOR of two fields of the place.
    """

    bits: tuple[int, ...]
    swizzle: Swizzle

    def places(self) -> Numbers:
        """Where each element is."""
        found = np.zeros((2,) * len(self.bits), dtype=np.int64)
        for position, bit in enumerate(self.bits):
            shape = [1] * len(self.bits)
            shape[len(self.bits) - 1 - bit] = 2
            found = found + (np.arange(2, dtype=np.int64) << position).reshape(shape)
        return np.asarray(self.swizzle(found.reshape(-1)))  # type: ignore[arg-type]

    def layout(self, shape: Sequence[int]) -> AnyLayout:
        """The layout, its tile cut into the shape's dimensions."""
        strides = {bit: 1 << position for position, bit in enumerate(self.bits)}
        iters = [(2, strides[bit], m) for bit in reversed(range(len(self.bits)))]
        tile = TileLayout.make(iters).canonicalize().group(shape)[0]
        s = self.swizzle
        if s.is_identity:
            return tile
        return ComposeLayout(s.per_element, s.swizzle_len, s.atom_len, tile)

    @property
    def moved(self) -> int:
        """Bits that are not where row-major order has them."""
        return sum(position != bit for position, bit in enumerate(self.bits))


@dataclass
class Tries:
    """How many layouts may still be looked at."""

    left: int

    def cost(self, search: Search, wiring: Wiring) -> int | None:
        """The cost, for one try; None when none is left or it cannot serve the accesses."""
        if self.left == 0:
            return None
        self.left -= 1
        return search.cost(wiring.places())


@dataclass(frozen=True)
class Search:
    """What the search is given.

    Attributes:
        size_bits: bits of an index.
        bank_bits: bits of a place that are below the turn of all banks.
        kept: low bits that stay where they are, so that lanes' runs of elements stay whole.
        units: where the XORed field may begin.
        cost: total wavefronts of a layout.
        floor: no layout has less.
    """

    size_bits: int
    bank_bits: int
    kept: int
    units: tuple[int, ...]
    cost: Cost
    floor: int

    def run(self) -> tuple[Wiring | None, int]:
        """The best wiring found, and how many were looked at."""
        chance = random.Random(SEED)
        tries = Tries(MOST_TRIES)
        best: tuple[int, Wiring] | None = None
        for start in self._starts(chance):
            for cost, wiring in self._climb(start, chance, tries):
                if best is None or (cost, wiring.moved) < (best[0], best[1].moved):
                    best = cost, wiring
            if tries.left == 0 or (best is not None and best[0] <= self.floor):
                break
        return (None if best is None else best[1]), MOST_TRIES - tries.left

    def _starts(self, chance: random.Random) -> Iterator[Wiring]:
        """Row-major order, then random ones."""
        order = list(range(self.size_bits))
        for unit in self.units:
            for length in reversed(range(self._longest(unit) + 1)):
                yield Wiring(tuple(order), self._swizzle(unit, length))
        while True:
            rest = order[self.kept :]
            chance.shuffle(rest)
            unit = chance.choice(self.units)
            length = chance.randint(0, self._longest(unit))
            yield Wiring((*order[: self.kept], *rest), self._swizzle(unit, length))

    def _climb(
        self, start: Wiring, chance: random.Random, tries: Tries
    ) -> Iterator[tuple[int, Wiring]]:
        """Every improvement from a beginning, until no step improves."""
        here, cost = start, tries.cost(self, start)
        if cost is not None:
            yield cost, here
        better = True
        while better and (cost is None or cost > self.floor):
            better = False
            for step in self._steps(here, chance):
                there = tries.cost(self, step)
                if there is not None and (cost is None or there < cost):
                    here, cost, better = step, there, True
                    yield cost, here
                    break

    def _steps(self, here: Wiring, chance: random.Random) -> list[Wiring]:
        """Two bits of the place exchanged, or another XOR."""
        unit = here.swizzle.per_element
        beyond = unit + here.swizzle.atom_len + here.swizzle.swizzle_len
        found: list[Wiring] = []
        for a, b in itertools.combinations(range(self.kept, self.size_bits), 2):
            if a < max(beyond, self.bank_bits):
                bits = list(here.bits)
                bits[a], bits[b] = bits[b], bits[a]
                found.append(replace(here, bits=tuple(bits)))
        chance.shuffle(found)
        for other in self.units:
            for length in range(self._longest(other) + 1):
                swizzle = self._swizzle(other, length)
                if swizzle != here.swizzle:
                    found.append(replace(here, swizzle=swizzle))
        return found

    def _longest(self, unit: int) -> int:
        """The most bits that can be XORed into the bank bits from `unit` on."""
        banked = max(0, self.bank_bits - unit)
        return max(0, min(banked, self.size_bits - unit - banked))

    def _swizzle(self, unit: int, length: int) -> Swizzle:
        return Swizzle(unit, length, max(length, self.bank_bits - unit))


def search(
    ground: Ground, target: MemoryTarget, runs: Sequence[int], cost: Cost, floor: int
) -> tuple[Choice | None, int]:
    """The best layout found, and how many were looked at.

    Args:
        ground: the tile; a power of two of elements.
        target: the memory.
        runs: elements that a lane moves, for each access.
        cost: total wavefronts of a layout given by its places.
        floor: no layout has less.

    Raises:
        SynthesisError: sizes that are no powers of two, or a tile with gaps.
    """
    if not ground.is_compact:
        raise SynthesisError(f"F2 is for tiles without gaps or offset; got {ground.tile}")
    size, row_bits = ground.places.size, 8 * target.row_bytes
    bits = ground.buffer.bits
    for what, number in (("elements", size), ("bits of an element", bits)):
        if number & (number - 1):
            raise SynthesisError(f"F2 is for powers of two: the tile has {number} {what}")
    bank_bits = max(0, (row_bits // bits).bit_length() - 1)
    word_bits = max(0, (8 * target.bank_bytes // bits).bit_length() - 1)
    widths = {max(word_bits, (count - 1).bit_length()) for count in runs}
    size_bits = size.bit_length() - 1
    kept = max((count - 1).bit_length() for count in runs)
    units = tuple(sorted({min(width, size_bits) for width in widths}, reverse=True))
    wiring, looked = Search(
        size_bits, min(bank_bits, size_bits), min(kept, size_bits), units, cost, floor
    ).run()
    if wiring is None:
        return None, looked
    order = (3, wiring.moved, wiring.swizzle.swizzle_len)
    layout = wiring.layout(ground.shape)
    return Choice("bits", layout, ground.buffer.align, wiring.places(), order), looked
