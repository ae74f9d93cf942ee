"""Bank conflicts as a GPU shows them: the time of dependent loads from shared memory.

    measured(gpu, access, [{}])           # [Measured(wavefronts=8, expected=1, ...)]

A chain of loads, each of which waits for the one before, takes longer by what each load waits for
its banks.  In the same launch two tables of known wavefronts are measured: every lane in banks of
its own, and all lanes in one bank (32 wavefronts, whatever the width).  Between the two the time is
taken to grow by the same amount for each wavefront; that it does is an assumption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from layout_algebra.claims import BankConflictFree, ConflictDegree, Wavefronts
from layout_algebra.claims.banks import BankClaim
from layout_algebra.crosschecks.gpu_texts import SHARED, bank_text
from layout_algebra.crosschecks.results import NotCheckedError
from layout_algebra.device.launching import Gpu
from layout_algebra.device.results import point_of
from layout_algebra.device.toolchain import compile_cuda
from layout_algebra.maps import Map
from layout_algebra.memory import banks
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.targets import NVIDIA
from layout_algebra.terms import Var

#: Bytes that a lane loads at once.
SIZES = (4, 8, 16)
#: Values of the free variables that are measured.
MOST_POINTS = 64
#: A measurement this far from a whole number of wavefronts says nothing.
FAR = 0.3

Point = Mapping[Var, int]


@dataclass(frozen=True)
class Measured:
    """One access at one point: wavefronts by the clock, and by the model of the banks."""

    point: Point
    wavefronts: float
    expected: int
    least: int

    @property
    def agrees(self) -> bool:
        return abs(self.wavefronts - self.expected) <= FAR


def measured(gpu: Gpu, access: Access, points: Sequence[Point]) -> tuple[list[Measured], float]:
    """An access at each point, its buffer at the beginning of shared memory; and the seconds.

    Raises:
        NotCheckedError: a width or an address that the probe has not.
    """
    size = check_probed(access)
    tables = [table_of(access, point) for point in points]
    free, full = (apart(step) for step in (size, NVIDIA.row_bytes))
    cycles, seconds = _cycles(gpu, size, [free, full, *tables])
    services = [banks.service_at(access, NVIDIA, 0, point) for point in points]
    phases = len(NVIDIA.phases("read", access.bits))
    found: list[Measured] = []
    for point, taken, service in zip(points, cycles[2:], services, strict=True):
        wavefronts = wavefronts_of(taken, cycles[0], cycles[1], phases)
        found.append(Measured(point, wavefronts, service.wavefronts, len(service.phases)))
    return found, seconds


def wavefronts_of(taken: int, free: int, full: int, phases: int) -> float:
    """Wavefronts from cycles, between a table without conflicts and one with all of them.

    Raises:
        NotCheckedError: the two take the same time.
    """
    if full <= free:
        raise NotCheckedError(f"no conflict shows in the time: {free} and {full} cycles")
    return phases + (taken - free) / (full - free) * (NVIDIA.lanes - phases)


def check_probed(access: Access) -> int:
    """The bytes that a lane moves.

    Raises:
        NotCheckedError: not by one load from shared memory.
    """
    if access.scope != "shared" or access.lanes != NVIDIA.lanes:
        raise NotCheckedError("the probe is a whole warp's access to shared memory")
    if access.bits % 8 or access.bits // 8 not in SIZES:
        raise NotCheckedError(
            f"the probe loads 4, 8 or 16 bytes a lane; this is {access.bits} bits"
        )
    return access.bits // 8


def table_of(access: Access, point: Point) -> list[int | None]:
    """The byte offset of every lane, None for one that is not active.

    What all lanes have in common, as far as it is whole rows of banks, is left out.

    Raises:
        NotCheckedError: they do not fit into the probe's memory, or are not aligned.
    """
    size = access.bits // 8
    found = dict(banks.lane_bits(access, point))
    if any(bit % access.bits for bit in found.values()):
        raise NotCheckedError("a lane's address is not aligned to what it moves: no load does that")
    begin = min(found.values(), default=0) // (8 * NVIDIA.row_bytes) * NVIDIA.row_bytes
    offsets = {lane: bit // 8 - begin for lane, bit in found.items()}
    if max(offsets.values(), default=0) + size > SHARED:
        raise NotCheckedError(f"its lanes are further apart than the probe's {SHARED:,} bytes")
    return [offsets.get(lane) for lane in range(NVIDIA.lanes)]


def apart(step: int) -> list[int | None]:
    """A table whose lanes are so many bytes apart."""
    return [lane * step for lane in range(NVIDIA.lanes)]


def points_of(access: Access) -> list[dict[Var, int]]:
    """Some points of the free variables, from the first to the last; always the same ones."""
    count = banks.count_points(access)
    free = Map(access.variables, ())
    many = min(count, MOST_POINTS)
    numbers = [k * (count - 1) // max(many - 1, 1) for k in range(many)]
    return [point_of(free, number, {}) for number in numbers]


def bounded(claim: BankClaim, one: Measured) -> bool:
    """Whether what was measured keeps to the claim, as far as time can tell.

    A time is that of all phases together: a degree is bounded by it where the phases have one
    each, and no more.
    """
    if isinstance(claim, Wavefronts):
        return one.wavefronts <= claim.at_most + FAR
    if isinstance(claim, BankConflictFree):
        return one.wavefronts <= one.least + FAR
    if isinstance(claim, ConflictDegree):
        return one.wavefronts <= claim.at_most * one.least + FAR
    raise NotCheckedError(f"time says nothing of {claim.name}")


def _cycles(gpu: Gpu, size: int, tables: Sequence[Sequence[int | None]]) -> tuple[list[int], float]:
    """The cycles that each table's chain takes, in one launch of one warp."""
    name, text = bank_text(size)
    ptx = compile_cuda(text, name, gpu.arch)
    offsets = np.array([[offset or 0 for offset in table] for table in tables], dtype=np.uint32)
    active = np.array([[offset is not None for offset in table] for table in tables])
    cycles = gpu.zeros(active.size, "int64")
    given = [gpu.put(offsets), gpu.put(active.astype(np.uint32)), np.uint32(len(tables)), cycles]
    seconds = gpu.launch(ptx.text, name, NVIDIA.lanes, given, block=NVIDIA.lanes)
    lanes = gpu.fetched(cycles).reshape(active.shape)
    taken = [int(row[on].max()) if on.any() else 0 for row, on in zip(lanes, active, strict=True)]
    return taken, seconds
