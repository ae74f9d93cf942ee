"""Memory targets: banks, and which lanes are served together, as data with their sources.

Shared memory is cut into words, and word w is in bank w mod `banks`.  A warp's access is served in
phases; in one phase every bank gives one word, so that a phase takes as many wavefronts as the
largest number of different words that its lanes want from one bank.  Lanes that want one word get
it together.  How a wide access falls into phases is observed practice, not ISA text: it is an
assumption that every verdict about banks names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layout_algebra.errors import LayoutError

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class MemoryTarget:
    """A kind of banked memory.

    Attributes:
        name: how it is named in verdicts.
        banks, bank_bytes: banks, and bytes of one word.
        lanes: lanes of a warp (a wave).
        reads, writes: bytes a lane -> the groups of lanes that are served together.
        sector_bytes, line_bytes: of global memory.
        source: where the rule is from.
    """

    name: str
    banks: int
    bank_bytes: int
    lanes: int
    reads: tuple[tuple[int, Groups], ...]
    writes: tuple[tuple[int, Groups], ...]
    sector_bytes: int
    line_bytes: int
    source: str

    def phases(self, kind: str, bits: int) -> Groups:
        """The groups of lanes served together when each lane moves so many bits.

        Raises:
            LayoutError: a width that no instruction has.
        """
        table = dict(self.writes if kind == "write" else self.reads)
        size = max(1, -(-bits // 8))
        for width in sorted(table):
            if size <= width:
                return table[width]
        raise LayoutError(
            f"{self.name}: a lane moves at most {max(table)} bytes at once; got {size}"
        )

    @property
    def row_bytes(self) -> int:
        """Bytes of all banks once."""
        return self.banks * self.bank_bytes


def _runs(lanes: int, size: int) -> Groups:
    """Neighbouring lanes, so many at a time."""
    return tuple(tuple(range(start, start + size)) for start in range(0, lanes, size))


def _groups(*runs: Sequence[range]) -> Groups:
    return tuple(tuple(lane for run in group for lane in run) for group in runs)


def _table(groups: Mapping[int, Groups]) -> tuple[tuple[int, Groups], ...]:
    return tuple(sorted(groups.items()))


_NVIDIA = _table({4: _runs(32, 32), 8: _runs(32, 16), 16: _runs(32, 8)})

NVIDIA = MemoryTarget(
    "NVIDIA, 32 banks, halves and quarters",
    banks=32,
    bank_bytes=4,
    lanes=32,
    reads=_NVIDIA,
    writes=_NVIDIA,
    sector_bytes=32,
    line_bytes=128,
    source=(
        "CUDA C++ Programming Guide, shared memory: 32 banks of 32-bit words, broadcast.  "
        "8 bytes a lane by halves of a warp, 16 bytes by quarters: observed, not ISA text"
    ),
)

NVIDIA_WHOLE_WARP = MemoryTarget(
    "NVIDIA, 32 banks, the whole warp merged",
    banks=32,
    bank_bytes=4,
    lanes=32,
    reads=_table({16: _runs(32, 32)}),
    writes=_table({16: _runs(32, 32)}),
    sector_bytes=32,
    line_bytes=128,
    source=(
        "the stricter reading that older chips were seen to allow when lanes share addresses: "
        "all lanes of a warp are looked at together, whatever the width"
    ),
)
