"""What the maps of a claim store on a GPU: compared with the CPU, and looked at there.

    stored = stored_on(gpu, f, kernel, ptx, most=1 << 30)    # the map's kernel has run
    difference(gpu, stored)                                  # None: it is the CPU's table
    holds(gpu, Injective(f), {}, most=1 << 30)               # True, by a byte map on the GPU

Collisions, coverage, equality and round trips are decided on the GPU, from the arrays that the
kernels have stored there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_algebra.claims import (
    All,
    Bijective,
    Claim,
    Covers,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    RightInverse,
)
from layout_algebra.crosschecks.gpu_texts import LOOKING
from layout_algebra.crosschecks.results import NotCheckedError
from layout_algebra.device import cpu
from layout_algebra.device.kernels import GUARD, Kernel, kernel_of
from layout_algebra.device.launching import DeviceArray, Gpu
from layout_algebra.device.toolchain import Ptx, compile_cuda, compile_ptx
from layout_algebra.dims import evaluate
from layout_algebra.errors import CoordinateError, LayoutAlgebraError
from layout_algebra.maps import Map

#: A box: axis -> (lowest, how many).
Box = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Stored:
    """A kernel that has run: its arrays, and how long it took."""

    map: Map
    kernel: Kernel
    ptx: Ptx
    arrays: tuple[DeviceArray, ...]
    seconds: float


def stored_on(gpu: Gpu, f: Map, kernel: Kernel, ptx: Ptx, most: int) -> Stored:
    """Launch a map's kernel.

    Raises:
        NotCheckedError: its arrays take more than `most` bytes, or the GPU refuses.
    """
    needed = len(kernel.outputs) * kernel.size * kernel.width // 8
    if needed > most:
        raise NotCheckedError(
            f"it needs {needed:,} bytes of the GPU and may take {most:,}: --memory gives it more"
        )
    word = np.dtype(f"uint{kernel.width}")
    poison = np.full(kernel.size, word.type(0xA5A5A5A5), dtype=word)
    arrays = tuple(gpu.put(poison) for _ in kernel.outputs)
    arguments = [*arrays, word.type(kernel.size)]
    seconds = gpu.launch(ptx.text, ptx.entry, kernel.size, arguments)
    return Stored(f, kernel, ptx, arrays, seconds)


def difference(gpu: Gpu, stored: Stored) -> str | None:
    """The first element that the GPU stored and the CPU's code for the same map does not."""
    table = cpu_table(stored.kernel)
    for axis, array, wanted in zip(stored.kernel.outputs, stored.arrays, table, strict=True):
        wrong = np.flatnonzero(gpu.fetched(array) != wanted)
        if wrong.size:
            at = int(wrong[0])
            found = int(gpu.fetched(array)[at])
            return (
                f"{axis} of element {at} of {stored.map}: the GPU stores {found}, the CPU says "
                f"{int(wanted[at])}; {wrong.size} of {array.count} differ"
            )
    return None


def cpu_table(kernel: Kernel) -> list[NDArray[Any]]:
    """What a kernel has to store, by the map compiled for the CPU: signed numbers, from a text of
    their own; an array of words for each output.

    Raises:
        NotCheckedError: numbers beyond that code's 62 bits.
    """
    try:
        table = cpu.table(kernel.map)
    except CoordinateError as error:
        raise NotCheckedError(" ".join(str(error).split())) from error
    return [table[axis].astype(f"uint{kernel.width}") for axis in kernel.outputs]


# -- claims ------------------------------------------------------------------------------------
def holds(gpu: Gpu, claim: Claim, dims: Mapping[str, int], most: int) -> bool | None:
    """Whether a claim holds at these sizes, by the GPU; None where it has no such check.

    Raises:
        NotCheckedError: it needs more than `most` bytes, or the GPU refuses.
    """
    looking = Looking(gpu, dims, most)
    try:
        return looking.holds(claim)
    except NotCheckedError:
        raise
    except LayoutAlgebraError as error:
        raise NotCheckedError(" ".join(str(error).split())) from error


@dataclass(frozen=True)
class Looking:
    """Claims on a GPU, at given values of the Dims."""

    gpu: Gpu
    dims: Mapping[str, int]
    most: int

    def holds(self, claim: Claim) -> bool | None:
        """See `holds`."""
        match claim:
            case All() | Inverse() | RightInverse():
                return self._all(claim.parts())
            case Injective():
                counts = self._places(claim.f, None)
                return None if counts is None else counts.shared == 0
            case Covers() | Bijective():
                return self._box(claim)
            case Equivalent():
                return self._equal(*claim.maps())
            case LeftInverse():
                return self._returns(*claim.maps())
            case _:
                return None

    def _all(self, claims: Sequence[Claim]) -> bool | None:
        found = [self.holds(one) for one in claims]
        if False in found:
            return False
        return None if None in found else True

    def _box(self, claim: Covers | Bijective) -> bool | None:
        box = {
            axis: (evaluate(low, self.dims), evaluate(high - low + 1, self.dims))
            for axis, low, high in claim.box
        }
        counts = self._places(claim.f, box)
        if counts is None:
            return None
        covers = counts.used == prod(extent for _, extent in box.values())
        if isinstance(claim, Covers):
            return covers
        return covers and counts.shared == 0 and counts.strays == 0

    def _places(self, subject: Any, box: Box | None) -> Counts | None:
        """The byte map of a map's places; None for maps whose elements have copies."""
        f = self._numbers(subject)
        kernel = kernel_of(f)
        if kernel.copies != 1:
            return None
        box = boxed(kernel) if box is None else box
        volume = prod(extent for _, extent in box.values())
        self._check(volume + 8 * kernel.size)
        cells = self._cells(f, kernel, box)
        marks, counts = self.gpu.zeros(-(-volume // 4), "uint32"), self.gpu.zeros(3, "uint64")
        self._look("mark", kernel.size, [cells, np.uint64(kernel.size), marks, counts])
        shared, strays, absent = (int(n) for n in self.gpu.fetched(counts))
        return Counts(shared, strays, kernel.size - shared - strays - absent)

    def _equal(self, f: Map, g: Map) -> bool | None:
        one, two = self._numbers(f), self._numbers(g)
        kernels = kernel_of(one), kernel_of(two)
        if any(kernel.copies != 1 for kernel in kernels):
            return None
        size = kernels[0].size
        if size != kernels[1].size:
            return False
        box = joined(boxed(kernels[0]), boxed(kernels[1]))
        self._check(16 * size)
        cells = [self._cells(f, k, box) for f, k in zip((one, two), kernels, strict=True)]
        counts = self.gpu.zeros(1, "uint64")
        self._look("unequal", size, [*cells, np.uint64(size), counts])
        return int(self.gpu.fetched(counts)[0]) == 0

    def _returns(self, f: Map, g: Map) -> bool | None:
        """Whether g sends every place of f back to its element, through memory."""
        f, g = self._numbers(f), self._numbers(g)
        kernels = kernel_of(f), kernel_of(g)
        if g.guard or kernels[1].copies != 1:
            return None
        places, elements = fed_box(f, g), fed_box(g, f)
        self._check(8 * (kernels[0].size + kernels[1].size))
        cells, back = self._cells(f, kernels[0], places), self._cells(g, kernels[1], elements)
        counts = self.gpu.zeros(1, "uint64")
        sizes = np.uint64(kernels[0].size), np.uint64(kernels[0].copies)
        self._look("round_trip", kernels[0].size, [cells, back, *sizes, counts])
        return int(self.gpu.fetched(counts)[0]) == 0

    # -- pieces -------------------------------------------------------------------------------
    def _numbers(self, subject: Any) -> Map:
        f = Map.of(subject)
        return f.evaluated(**self.dims) if f.is_symbolic else f

    def _cells(self, f: Map, kernel: Kernel, box: Box) -> DeviceArray:
        """The number in a box of every element's place, made from what the kernel stores."""
        if prod(extent for _, extent in box.values()) >= 1 << 62:
            raise NotCheckedError(f"the places of {f} have numbers beyond 62 bits")
        stored = stored_on(self.gpu, f, kernel, compile_ptx(kernel, self.gpu.arch), self.most)
        size = np.uint64(kernel.size)
        cells = self.gpu.zeros(kernel.size, "uint64")
        arrays = dict(zip(kernel.outputs, stored.arrays, strict=True))
        signs = dict(zip(kernel.outputs, kernel.signed, strict=True))
        zeros = self.gpu.zeros(kernel.size, f"uint{kernel.width}")
        width = np.uint32(kernel.width)
        if f.guard:
            self._look("leave_out", kernel.size, [arrays.pop(GUARD), width, cells, size])
        for axis in dict.fromkeys((*box, *arrays)):  # on an axis outside the box a place is 0
            low, extent = box.get(axis, (0, 1))
            signed = np.uint32(signs.get(axis, False))
            out = arrays.get(axis, zeros)
            number = [out, width, signed, np.int64(low), np.uint64(extent), cells, size]
            self._look("number_places", kernel.size, number)
        return cells

    def _look(self, entry: str, threads: int, arguments: Sequence[Any]) -> None:
        ptx = compile_cuda(LOOKING, entry, self.gpu.arch)
        self.gpu.launch(ptx.text, entry, threads, arguments)

    def _check(self, needed: int) -> None:
        if needed > self.most:
            raise NotCheckedError(
                f"it needs {needed:,} bytes of the GPU and may take {self.most:,}: --memory gives "
                "it more"
            )


@dataclass(frozen=True)
class Counts:
    """Elements that found their cell in use, that are outside the box; cells in use."""

    shared: int
    strays: int
    used: int


def boxed(kernel: Kernel) -> dict[str, tuple[int, int]]:
    """A box that holds every place, by the ranges of the terms."""
    found: dict[str, tuple[int, int]] = {}
    for axis, term in kernel.map.outputs:
        low, high = term.low, term.high
        if axis != GUARD and isinstance(low, int) and isinstance(high, int):
            found[axis] = low, high - low + 1
    return found


def joined(one: Box, two: Box) -> dict[str, tuple[int, int]]:
    """The least box around both; on an axis that one has not, its places are 0."""
    found: dict[str, tuple[int, int]] = {}
    for axis in dict.fromkeys((*one, *two)):
        ranges = [box.get(axis, (0, 1)) for box in (one, two)]
        low = min(low for low, _ in ranges)
        found[axis] = low, max(start + extent for start, extent in ranges) - low
    return found


def fed_box(f: Map, g: Map) -> dict[str, tuple[int, int]]:
    """The box of f's places whose numbers are g's flat indices, as a place is put into g."""
    names = {v.name: v for v in g.coordinates}
    if set(names) == set(f.axes):
        return {
            name: (0 if v.low is None else int(v.low), int(v.extent or 1))  # type: ignore[arg-type]
            for name, v in names.items()
        }
    if len(f.axes) != 1:
        raise NotCheckedError(f"places on ({', '.join(f.axes)}) are not one index")
    return {f.axes[0]: (0, int(g.size))}  # type: ignore[arg-type]
