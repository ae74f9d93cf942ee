"""What the search gives: the layout found, every candidate, and why there is no better one.

found = find_swizzle(buffer, reads=[column, row])
found.layout                    # ComposeLayout(3, 3, 3, ...)
found.minimal.verdict           # PROVED: no layout of the class takes fewer wavefronts
print(found)                    # both, with a table
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layout_algebra.memory.accesses import Access
from layout_algebra.memory.buffers import Buffer
from layout_algebra.memory.targets import MemoryTarget
from layout_algebra.synthesis.counting import Count
from layout_algebra.values import AnyLayout
from layout_algebra.verdicts import Proof, Verdict

#: Candidates that `print` shows.
MOST_SHOWN = 8


@dataclass(frozen=True)
class Candidate:
    """One layout that was looked at.

    Attributes:
        name: "none", a mode of TMA, (M, B, S), "pitch 64 + 8", or "bits" for permuted bits.
        layout: the layout.
        align: bytes that the buffer's base has to be aligned to.
        span: elements from the first place to the last.
        counts: how each access is served.
        order: less is simpler, among layouts with equally many wavefronts in equally much room.
    """

    name: str
    layout: AnyLayout
    align: int
    span: int
    counts: tuple[Count, ...]
    order: tuple[int, ...]

    @property
    def reason(self) -> str:
        """Why some access cannot be served; empty when all can."""
        return next((count.reason for count in self.counts if count.reason), "")

    @property
    def wavefronts(self) -> int | None:
        """Of all accesses together; None when one cannot be served."""
        return None if self.reason else sum(count.wavefronts for count in self.counts)

    @property
    def rank(self) -> tuple[int, int, tuple[int, ...]]:
        """Candidates are better in this order: wavefronts, then room, then simplicity."""
        wavefronts = self.wavefronts
        return (1 << 62 if wavefronts is None else wavefronts, self.span, self.order)


@dataclass(frozen=True)
class Least:
    """That no layout of a class serves the accesses in fewer wavefronts; see `Found.minimal`."""

    wavefronts: int
    among: str

    @property
    def name(self) -> str:
        return type(self).__name__

    def __str__(self) -> str:
        return f"no layout {self.among} serves them in fewer than {self.wavefronts} wavefronts"


@dataclass(frozen=True, repr=False)
class Found:
    """The best layout of a class; `find_swizzle` makes one.

    Attributes:
        layout: the layout.
        buffer: the buffer with it, and with the alignment that it needs.
        wavefronts: of all accesses, over all values of their free variables.
        least: wavefronts that any layout needs which keeps elements apart.
        minimal: the proof that no layout of the class takes fewer, or UNDECIDED.
        proofs: of the layout's claims: it is injective, and for each access Vectorizable, then
            BankConflictFree or the ConflictDegree that it has.
        candidates: all that were looked at, the best first; those that cannot serve some access at
            the end.
        accesses: the accesses to `buffer`.
        names: how the table calls them.
        target: the memory, whose rule for wide accesses is an assumption of all this.
    """

    layout: AnyLayout
    buffer: Buffer
    wavefronts: int
    least: int
    minimal: Proof
    proofs: tuple[Proof, ...]
    candidates: tuple[Candidate, ...]
    accesses: tuple[Access, ...]
    names: tuple[str, ...]
    target: MemoryTarget

    @property
    def proved(self) -> bool:
        """Whether every claim of the layout is proven, and that it is the least."""
        return all(proof.verdict is Verdict.PROVED for proof in (*self.proofs, self.minimal))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        yield f"{self.layout}: {self.wavefronts} wavefronts; {self.target.name}"
        yield f"{self.minimal.verdict} {self.minimal.claim}  [{self.minimal.method}]"
        if self.minimal.reason:
            yield f"  {self.minimal.reason}"
        for proof in self.proofs:
            yield f"{proof.verdict} {proof.claim}  [{proof.method}]"
        yield from self._table()

    def _table(self) -> Iterator[str]:
        usable = [one for one in self.candidates if not one.reason]
        heads = [f"{name:>9}" for name in self.names]
        yield f"{'candidate':<16}{'total':>9}{''.join(heads)}   (degree in brackets)"
        for one in usable[:MOST_SHOWN]:
            cells = [f"{f'{c.wavefronts} [{c.degree}]':>9}" for c in one.counts]
            yield f"{one.name:<16}{one.wavefronts:>9}{''.join(cells)}"
        if len(usable) > MOST_SHOWN:
            yield f"and {len(usable) - MOST_SHOWN} more"
        unusable = [one for one in self.candidates if one.reason]
        if unusable:
            yield (
                f"{len(unusable)} cannot serve some access, like {unusable[0].name}: "
                f"{unusable[0].reason}"
            )
