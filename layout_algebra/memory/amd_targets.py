"""AMD's LDS: banks, and which lanes of a wave are served together, as far as sources say.

    prove(BankConflictFree(column, target=CDNA3))

A target here knows only the widths that a source names, and refuses the others: which lanes share
a phase is no rule of arithmetic on this hardware (of a 16-byte read of CDNA3, lanes 0-3 go with
20-23), and it differs for reads and writes.  CDNA4 has 64 banks for some instructions and behaves
like 32 for others, so it is two targets.
"""

from __future__ import annotations

from dataclasses import dataclass

from layout_algebra.errors import LayoutError
from layout_algebra.memory.targets import Groups, MemoryTarget


@dataclass(frozen=True)
class ExactTarget(MemoryTarget):
    """A target that answers only for the widths that its source names.

    Attributes:
        elsewhere: what to say about the widths that it does not know.
    """

    elsewhere: str = ""

    def phases(self, kind: str, bits: int) -> Groups:
        """The groups of lanes served together when each lane moves so many bits.

        Raises:
            LayoutError: a width that the source does not name.
        """
        table = dict(self.writes if kind == "write" else self.reads)
        groups = table.get(bits // 8) if bits % 8 == 0 else None
        if groups is None:
            widths = ", ".join(map(str, sorted(table))) or "no"
            raise LayoutError(
                f"{self.name}: of {kind}s of {widths} bytes a lane it is known which lanes are "
                f"served together; got {bits / 8:g} bytes{self.elsewhere}"
            )
        return groups


def _runs(size: int) -> Groups:
    """Neighbouring lanes, so many at a time."""
    return tuple(tuple(range(start, start + size)) for start in range(0, WAVE, size))


def _both_halves(*groups: tuple[range, ...]) -> Groups:
    """Groups of lanes 0 to 31, and the same ones 32 lanes on."""
    return tuple(
        tuple(lane + half for run in group for lane in run) for half in (0, 32) for group in groups
    )


#: Lanes of a wave of CDNA.
WAVE = 64

_EIGHT_LANES = _both_halves(
    (range(4), range(20, 24)),
    (range(4, 8), range(16, 20)),
    (range(8, 12), range(28, 32)),
    (range(12, 16), range(24, 28)),
)
_SIXTEEN_LANES = _both_halves(
    (range(4), range(12, 16), range(20, 28)),
    (range(4, 12), range(16, 20), range(28, 32)),
)

CDNA3 = ExactTarget(
    "AMD CDNA3, 32 banks",
    banks=32,
    bank_bytes=4,
    lanes=WAVE,
    reads=((4, _runs(32)), (16, _EIGHT_LANES)),
    writes=((4, _runs(32)), (16, _runs(8))),
    sector_bytes=128,
    line_bytes=128,
    source=(
        "AMD Composable Kernel documentation, LDS bank conflicts: 16 bytes a lane, read and "
        "written.  4 bytes by halves of a wave: AMD OpenCL optimization guide, LDS, for the "
        "32 banks of GCN.  Cache lines of 128 bytes: AMD CDNA 3 white paper"
    ),
)

CDNA4 = ExactTarget(
    "AMD CDNA4, 64 banks",
    banks=64,
    bank_bytes=4,
    lanes=WAVE,
    reads=((4, _runs(64)), (8, _runs(32)), (16, _SIXTEEN_LANES)),
    writes=(),
    sector_bytes=128,
    line_bytes=128,
    source=(
        "measured on an MI355X: HipKittens (arXiv 2511.08083), table of phases and banks, for "
        "reads of 8 and 16 bytes; the same ones, and reads of 4 bytes by whole waves, in IREE's "
        "shared memory model for CDNA4"
    ),
    elsewhere="; 12-byte reads and 8-byte writes see 32 banks: CDNA4_32_BANKS",
)

CDNA4_32_BANKS = ExactTarget(
    "AMD CDNA4, instructions that see 32 banks",
    banks=32,
    bank_bytes=4,
    lanes=WAVE,
    reads=((12, _EIGHT_LANES),),
    writes=((8, _runs(16)),),
    sector_bytes=128,
    line_bytes=128,
    source="measured on an MI355X: HipKittens (arXiv 2511.08083), table of phases and banks",
    elsewhere="; reads of 4, 8 and 16 bytes see 64 banks: CDNA4",
)
