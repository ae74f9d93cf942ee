"""Pictures of how an access is served: lanes down, banks across, phase by phase.

    svg(served(column, j=8))

A cell is a word that a lane wants from a bank.  Its large number says which wavefront of the phase
brings it, counting the bank's words by their address; its small number is the word.  The bar below
each phase counts the different words of each bank: the largest is the phase's degree.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from layout_algebra.display.canvas import MARGIN, Box, Canvas, Word, width_of, wrapped
from layout_algebra.display.colours import INK, MARK, QUIET, RULE, WAVES
from layout_algebra.display.errors import DisplayError
from layout_algebra.memory.banks import Phase, Service

#: Left edge of the banks, height of a cell and of the bar, sizes of letters.
LEFT, HEIGHT, BAR, LARGE, SMALL = 64, 26, 16, 12, 8


@dataclass(frozen=True)
class ServiceOptions:
    """What a picture of a service can be asked.

    Attributes:
        mark: cells to mark, as (lane, bank).
        title: lines above it.
    """

    mark: Collection[tuple[int, int]] = ()
    title: str = ""


def draw(service: Service, options: ServiceOptions) -> Canvas:
    """The lanes and banks of a service.

    Raises:
        DisplayError: a mark that is not a pair of a lane and a bank.
    """
    for one in options.mark:
        if not isinstance(one, tuple) or len(one) != 2:  # type: ignore[redundant-expr]
            raise DisplayError(f"mark= has pairs (lane, bank); got {one!r}")
    headline = headline_of(service)
    sheet = Canvas(f"banks: {options.title or headline}")
    width = _cell_width(service)
    letters = max(80, int((LEFT + width * service.target.banks) / 7.4))
    y = 30.0
    if options.title:
        y = sheet.lines(MARGIN, y, wrapped(options.title, letters), size=12)
    sheet.word(MARGIN, y, headline, size=12, bold=True)
    y += 22
    for number, phase in enumerate(service.phases):
        y = _Phase(sheet, service, number, phase, width).draw(y, options.mark) + 14
    notes = [
        "cell: the wavefront of the phase that brings the word (large), and the word (small)",
        "bar: different words of each bank; lanes that want one word get it together",
    ]
    sheet.lines(MARGIN, y + 6, notes, size=11, fill=QUIET)
    return sheet


def headline_of(service: Service) -> str:
    """Wavefronts and degree, in one sentence."""
    free = " (no conflict)" if service.degree <= 1 else ""
    many = "" if service.wavefronts == 1 else "s"
    return (
        f"{service.wavefronts} wavefront{many}, at least {service.least} for these words; "
        f"degree {service.degree}{free}; {service.target.name}"
    )


# -- inside ------------------------------------------------------------------------------------
def _cell_width(service: Service) -> int:
    words = [word for phase in service.phases for bank in phase.words.values() for word in bank]
    return max(22, round(width_of(str(max(words, default=0)), SMALL)) + 4)


class _Phase:
    """One phase: its lanes as rows, its banks as columns, its bar."""

    def __init__(
        self, sheet: Canvas, service: Service, number: int, phase: Phase, width: int
    ) -> None:
        self.sheet, self.service, self.number, self.phase = sheet, service, number, phase
        self.width = width

    def draw(self, top: float, marked: Collection[tuple[int, int]]) -> float:
        """From an upper edge on; its lower edge."""
        many = "" if self.phase.degree == 1 else "s"
        caption = (
            f"phase {self.number}: {len(self.phase.lanes)} lanes, {self.phase.distinct} words, "
            f"degree {self.phase.degree}: {self.phase.degree} wavefront{many}"
        )
        self.sheet.word(LEFT, top + 10, caption, size=11)
        rows = top + 34
        self._heads(rows)
        self._cells(rows, marked)
        return self._bar(rows + len(self.phase.lanes) * HEIGHT)

    def _x(self, bank: int) -> float:
        return LEFT + bank * self.width

    def _heads(self, top: float) -> None:
        banks = range(self.service.target.banks)
        half = self.width / 2
        self.sheet.words(
            [(self._x(bank) + half, top - 6, str(bank)) for bank in banks],
            size=9, fill=QUIET, anchor="middle",
        )  # fmt: skip
        self.sheet.word(LEFT - 6, top - 6, "bank", size=9, fill=INK, anchor="end")
        names = [
            (LEFT - 6, top + k * HEIGHT + 16, f"lane {lane}" if k == 0 else str(lane))
            for k, lane in enumerate(self.phase.lanes)
        ]
        self.sheet.words(names, size=9, fill=QUIET, anchor="end")
        empty = [
            (self._x(bank), top + k * HEIGHT, self.width, HEIGHT)
            for k in range(len(self.phase.lanes))
            for bank in banks
        ]
        self.sheet.cells("#f7f9fb", empty, line=RULE)

    def _cells(self, top: float, marked: Collection[tuple[int, int]]) -> None:
        wanted = wavefronts_of(self.phase)
        row = {lane: top + k * HEIGHT for k, lane in enumerate(self.phase.lanes)}
        boxes: dict[str, list[Box]] = {}
        large: list[Word] = []
        small: list[Word] = []
        for (lane, bank), words in wanted.items():
            x, y = self._x(bank), row[lane]
            colour = WAVES[min(max(words.values()), len(WAVES)) - 1]
            boxes.setdefault(colour, []).append((x, y, self.width, HEIGHT))
            middle = x + self.width / 2
            large.append((middle, y + 13, ",".join(map(str, words.values()))))
            few = list(words)
            text = str(few[0]) if len(few) == 1 else f"{len(few)}w"
            small.append((middle, y + 23, text))
        for colour, cells in boxes.items():
            self.sheet.cells(colour, cells)
        self.sheet.words(large, size=LARGE, anchor="middle")
        self.sheet.words(small, size=SMALL, anchor="middle")
        for lane, bank in wanted:
            if (lane, bank) in marked:
                at = (self._x(bank) + 1, row[lane] + 1, self.width - 2, HEIGHT - 2)
                self.sheet.box(at, line=MARK, thick=2.5, tip=f"marked: lane {lane}, bank {bank}")

    def _bar(self, top: float) -> float:
        """How many different words each bank has to give."""
        counts = {bank: len(words) for bank, words in self.phase.words.items()}
        self.sheet.word(LEFT - 6, top + 14, "words", size=9, fill=INK, anchor="end")
        for bank, count in counts.items():
            at = (self._x(bank) + 1, top + 3, self.width - 2, BAR)
            worst = count == self.phase.degree > 1
            colour = WAVES[min(count, len(WAVES)) - 1]
            self.sheet.box(at, fill=colour, line=INK if worst else RULE, thick=2 if worst else 1)
        half = self.width / 2
        self.sheet.words(
            [(self._x(bank) + half, top + 15, str(count)) for bank, count in counts.items()],
            size=10, anchor="middle",
        )  # fmt: skip
        return top + BAR + 6


def wavefronts_of(phase: Phase) -> Mapping[tuple[int, int], Mapping[int, int]]:
    """(lane, bank) -> word -> the wavefront that brings it, from 1; a bank's words by address."""
    found: dict[tuple[int, int], dict[int, int]] = {}
    for bank, words in phase.words.items():
        for number, word in enumerate(sorted(words), start=1):
            for lane in words[word]:
                found.setdefault((lane, bank), {})[word] = number
    return found
