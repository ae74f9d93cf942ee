"""Wavefronts of an access for every value of its free variables at once, layout after layout.

    footprint = footprint_of(access, target)      # of an access to a row-major tile
    footprint.count(places)                       # places: where each logical element is

A footprint holds which logical elements are touched, so that a layout is one more array: the place
of each element.  The plain meaning is in memory/banks.py, and the tests hold this equal to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layout_algebra.arithmetic import arrays
from layout_algebra.memory.accesses import BIT, Access
from layout_algebra.memory.banks import check_banked
from layout_algebra.memory.targets import MemoryTarget
from layout_algebra.synthesis.errors import SynthesisError
from layout_algebra.terms import Var

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

#: Elements (values of the free variables, times lanes, times elements of a lane) that one access
#: may touch: all of them are looked at for every candidate.
MOST_TOUCHED = 1 << 22
_NO_WORD = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Count:
    """How an access is served under one layout.

    Attributes:
        wavefronts: of all values of the free variables together.
        degree: the most different words that a bank has to give in one phase.
        reason: why the access cannot be served at all; the numbers are 0 then.
    """

    wavefronts: int = 0
    degree: int = 0
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Footprint:
    """Which logical elements an access touches; `footprint_of` makes one.

    Attributes:
        first: [value of the free variables, phase, lane of the phase] -> the lane's first element.
        active: the same, whether there is such a lane and it is active.
        vectors: the different runs of elements that lanes touch, one a row.
        least: wavefronts that any layout needs at least, all values of the free variables together.
        bits, element_bits: bits a lane, bits of an element.
        target: the memory.
    """

    first: Numbers
    active: Truths
    vectors: Numbers
    least: int
    bits: int
    element_bits: int
    target: MemoryTarget

    def count(self, places: Numbers, align: int) -> Count:
        """How it is served when element x is at places[x], in a buffer aligned to `align` bytes."""
        reason = self._why_not(places, align)
        if reason:
            return Count(reason=reason)
        begins = places[self.first] * self.element_bits
        most: Numbers | None = None
        degree = 0
        for base in self._bases(align):
            degrees = self._degrees(begins + base)
            degree = max(degree, int(degrees.max(initial=0)))
            served = degrees.sum(axis=1)
            most = served if most is None else np.maximum(most, served)
        return Count(0 if most is None else int(most.sum()), degree)

    def _why_not(self, places: Numbers, align: int) -> str:
        """Why the hardware could not do it as one access a lane; empty when it can."""
        count = self.vectors.shape[1]
        begins = places[self.vectors[:, 0]]
        if count > 1:
            wanted = begins[:, None] + np.arange(count)
            broken = np.flatnonzero((places[self.vectors] != wanted).any(axis=1))
            if broken.size:
                apart = places[self.vectors[broken[0]]].tolist()
                return f"the {count} elements of a lane are not one run: they are at {apart}"
        if self.bits % 8 or self.bits & (self.bits - 1):
            return ""
        if 8 * align % self.bits:
            return f"a buffer aligned to {align} bytes has no aligned {self.bits // 8}-byte access"
        rest = np.flatnonzero(begins * self.element_bits % self.bits)
        if rest.size:
            byte = int(begins[rest[0]]) * self.element_bits // 8
            return f"{self.bits // 8} bytes at byte {byte} are not aligned"
        return ""

    def _bases(self, align: int) -> list[int]:
        """Base addresses in bits that may make a difference, as in memory/banks.py."""
        word, step = 8 * self.target.bank_bytes, 8 * align
        return list(range(0, word, step)) if step < word else [0]

    def _degrees(self, begins: Numbers) -> Numbers:
        """[value, phase] -> different words that the busiest bank gives."""
        word, row = 8 * self.target.bank_bytes, 8 * self.target.row_bytes
        active = self.active[..., None]
        words = _divided(begins[..., None], word)[0]
        if self.bits & (self.bits - 1) == 0 and self.bits <= row:
            # aligned: the first word says in which banks the others of the lane are
            return _busiest(words, active, self.target.banks)
        words = words + np.arange((self.bits + word - 2) // word + 1)
        last = _divided(begins[..., None] + (self.bits - 1), word)[0]
        return _busiest(words, active & (words <= last), self.target.banks)


def _busiest(words: Numbers, wanted: Truths, banks: int) -> Numbers:
    """The most different words of one bank, for [value, phase, lane, word of the lane]."""
    values, phases = words.shape[:2]
    rows = values * phases
    found = np.where(wanted, words, _NO_WORD).reshape(rows, -1)
    fresh = _distinct(found)
    # what is no word or was counted before goes to one bank more, which nobody looks at
    bank = np.where(fresh, _divided(found, banks)[1], banks)
    width = banks + 1
    bank += np.arange(rows)[:, None] * width
    counts = np.bincount(bank.reshape(-1), minlength=rows * width)
    return counts.reshape(values, phases, width)[..., :-1].max(axis=2)


def _divided(numbers: Numbers, divisor: int) -> tuple[Numbers, Numbers]:
    """Quotient and remainder; by shifts, which are several times faster, where they do."""
    if divisor & (divisor - 1):
        return np.divmod(numbers, divisor)
    return numbers >> (divisor.bit_length() - 1), numbers & (divisor - 1)


def _distinct(rows: Numbers) -> Truths:
    """Sorts each row in place; True at the first of equal numbers."""
    rows.sort(axis=1)
    fresh = rows != _NO_WORD
    fresh[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    return fresh


def footprint_of(access: Access, target: MemoryTarget) -> Footprint:
    """The footprint of an access to a tile that is stored row by row without gaps.

    Raises:
        SynthesisError: too many values of the free variables, or a lane that leaves the tile.
        LayoutError: a width that the target has not, or memory without banks.
    """
    check_banked(access)
    if access.lanes > target.lanes:
        raise SynthesisError(
            f"{access}: {access.lanes} lanes, and a warp of {target.name} has {target.lanes}"
        )
    phases = target.phases(access.kind, access.bits)
    flat, active = _touched(access)
    lanes = _phase_lanes(phases, access.lanes)
    there = lanes >= 0
    element = flat[:, np.where(there, lanes, 0)]
    taken = active[:, np.where(there, lanes, 0)] & there
    vectors = _vectors(flat[active])
    return Footprint(
        first=np.where(taken, element[..., 0], 0),
        active=taken,
        vectors=vectors,
        least=_least(element, taken, access.element_bits, target),
        bits=access.bits,
        element_bits=access.element_bits,
        target=target,
    )


def addresses(access: Access) -> tuple[Numbers, Truths]:
    """[value of the free variables, lane, element] -> bits from the buffer's first, and whether
    the lane is active with it.

    Raises:
        SynthesisError: too many values.
    """
    element = access.elements.coordinates[1]
    variables = (*access.variables, access.lane, element)
    spans = [_span(variable) for variable in variables]
    touched = math.prod(extent for _, _, extent in spans)
    if touched > MOST_TOUCHED:
        raise SynthesisError(
            f"{access}: {touched} elements over all values of ({_names(access)}), more than the "
            f"{MOST_TOUCHED} that are looked at: give the Dims at_most= and multiple_of="
        )
    shape = tuple(extent for _, _, extent in spans)
    guard = access.elements.guard
    terms = [access.elements.output(BIT), *(condition.term for condition in guard)]
    found = arrays.arrays_of(terms, arrays.grid(spans))
    admitted = np.ones(shape, dtype=bool)
    for condition, value in zip(guard, found[1:], strict=True):
        admitted &= condition.holds(value)
    where = np.broadcast_to(found[0], shape).astype(np.int64)
    rank = (-1, *shape[-2:])
    return where.reshape(rank), admitted.reshape(rank)


def _touched(access: Access) -> tuple[Numbers, Truths]:
    """[value, lane, element] -> logical element, and [value, lane] whether it is active."""
    where, admitted = addresses(access)
    active = admitted[..., 0]
    if (active & ~admitted.all(axis=2)).any():
        raise SynthesisError(
            f"{access}: a lane's first element is inside and its last is not, for some value of "
            f"({_names(access)}): bound the Dims or restrict active="
        )
    return where // access.element_bits, active


def _span(variable: Var) -> tuple[Var, int, int]:
    low, high = variable.low, variable.high
    if type(low) is not int or type(high) is not int:
        raise SynthesisError(f"{variable.name} is not bounded by numbers: give it at_most=")
    return variable, low, high - low + 1


def _names(access: Access) -> str:
    return ", ".join(free.name for free in access.free) or "no Dim"


def _phase_lanes(phases: tuple[tuple[int, ...], ...], lanes: int) -> Numbers:
    """[phase, lane of the phase] -> lane, -1 where there is none."""
    kept = [[lane for lane in group if lane < lanes] for group in phases]
    kept = [group for group in kept if group]
    widest = max((len(group) for group in kept), default=1)
    return np.array([[*group, *[-1] * (widest - len(group))] for group in kept], dtype=np.int64)


def _vectors(rows: Numbers) -> Numbers:
    """The different rows; a row is usually known by its first element."""
    _, one = np.unique(rows[:, 0], return_index=True)
    in_order = rows - rows[:, :1] == np.arange(rows.shape[1])
    return rows[one] if in_order.all() else np.unique(rows, axis=0)


def _least(element: Numbers, taken: Truths, bits: int, target: MemoryTarget) -> int:
    """Wavefronts that any layout needs: a wavefront gives one word of every bank, so a phase takes
    as many as its different elements fill, wherever they lie."""
    row_bits = 8 * target.row_bytes
    total = 0
    for part in _slices(element.shape[0], element[0].size):
        own = np.where(taken[part][..., None], element[part], _NO_WORD)
        rows = own.reshape(own.shape[0] * own.shape[1], -1)
        distinct = _distinct(rows).sum(axis=1)
        total += int((-(-distinct * bits // row_bits)).sum())
    return total


def _slices(count: int, size: int) -> Iterator[slice]:
    """Pieces of an axis, so that a piece has about a million numbers."""
    step = max(1, (1 << 20) // max(1, size))
    for start in range(0, count, step):
        yield slice(start, start + step)
