"""Wavefronts counted lane by lane, from the definition alone: nothing here is from the library.

A problem is a tile of `size` elements of `bits` bits and some accesses; an access is a list of
moments, one for each value of the free variable, and a moment is a dict lane -> logical elements
that the lane moves.  A layout is a list: the place of each element.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

Moment = dict[int, list[int]]


@dataclass(frozen=True)
class PlainTarget:
    banks: int
    bank_bytes: int
    #: bytes a lane -> groups of lanes
    groups: dict[int, list[list[int]]]

    def phases(self, bits: int) -> list[list[int]]:
        size = max(1, (bits + 7) // 8)
        return self.groups[min(width for width in self.groups if width >= size)]


@dataclass(frozen=True)
class PlainAccess:
    moments: list[Moment]
    bits: int


def wavefronts(
    place: Sequence[int], access: PlainAccess, element_bits: int, align: int, target: PlainTarget
) -> int | None:
    """All moments together, each at the worst base address; None when it cannot be done."""
    whole = access.bits in (8, 16, 32, 64, 128)
    if whole and (align * 8) % access.bits != 0:
        return None
    total = 0
    for moment in access.moments:
        for elements in moment.values():
            run = [place[element] for element in elements]
            if any(b - a != 1 for a, b in pairwise(run)):
                return None
            if whole and run[0] * element_bits % access.bits != 0:
                return None
        bases = range(0, 2 * target.bank_bytes, align)  # bytes: two words
        total += max(_moment(place, moment, element_bits, 8 * b, target, access) for b in bases)
    return total


def _moment(
    place: Sequence[int],
    moment: Moment,
    element_bits: int,
    base: int,
    target: PlainTarget,
    access: PlainAccess,
) -> int:
    count, word_bits = 0, 8 * target.bank_bytes
    for group in target.phases(access.bits):
        wanted: dict[int, set[int]] = defaultdict(set)
        for lane in group:
            for element in moment.get(lane, []):
                first = base + place[element] * element_bits
                last = first + element_bits - 1
                for word in range(first // word_bits, last // word_bits + 1):
                    wanted[word % target.banks].add(word)
        count += max((len(words) for words in wanted.values()), default=0)
    return count


def swizzles(place: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Every (M, B, S) that leaves no place outside the range of places, by its name."""
    low, high = min(place), max(place)
    limit = high.bit_length() + 1
    for b in range(1, limit):
        for m in range(limit):
            for s in [*range(-limit, -b + 1), *range(b, limit)]:
                if m + b + abs(s) > high.bit_length():
                    continue
                moved = [xored(x, m, b, s) for x in place]
                if low <= min(moved) and max(moved) <= high:
                    yield f"({m}, {b}, {s})", moved


def xored(x: int, m: int, b: int, s: int) -> int:
    """CuTe's Swizzle<b, m, s>, bit by bit."""
    for k in range(b):
        source, goal = (m + s + k, m + k) if s > 0 else (m + k, m - s + k)
        if x & (1 << source):
            x ^= 1 << goal
    return x
