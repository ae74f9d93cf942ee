"""Pictures of accesses: what each lane touches, for one value of the free variables.

    svg(column)                                  # the first value at which a lane is active
    svg(column, values={"j": 8}, base=1024)      # this one
    svg(column, target=CDNA3)

Shared memory is drawn as lanes and banks, global memory as lanes and sectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from layout_algebra.display.canvas import MARGIN, Box, Canvas, Word, wrapped
from layout_algebra.display.colours import INK, QUIET, RULE, WAVES
from layout_algebra.display.errors import DisplayError
from layout_algebra.display.services import ServiceOptions
from layout_algebra.display.services import draw as draw_service
from layout_algebra.errors import LayoutError
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.banks import check_lanes, lane_bits, point_of, points, service_at
from layout_algebra.memory.targets import NVIDIA, MemoryTarget
from layout_algebra.terms import Var

#: Values of the free variables that are looked at for one with an active lane.
MOST_TRIED = 1000
#: Sectors that are drawn, and the sizes of their cells.
MOST_SECTORS, LEFT, WIDTH, HEIGHT = 64, 64, 34, 20


@dataclass(frozen=True)
class AccessOptions:
    """What a picture of an access can be asked.

    Attributes:
        values: a value for each free Dim, by name; the first at which a lane is active when None.
        target: the memory; NVIDIA's when None.
        base: the buffer's first byte.
        mark: cells to mark, as (lane, bank).
    """

    values: Mapping[str, int] | None = None
    target: MemoryTarget | None = None
    base: int = 0
    mark: Collection[tuple[int, int]] = ()


def draw(access: Access, options: AccessOptions) -> Canvas:
    """The picture of an access.

    Raises:
        CoordinateError: values that the free variables have not.
        LayoutError: a target that is not known to serve such an access.
        DisplayError: a base that is not aligned.
    """
    if type(options.base) is not int or options.base < 0 or options.base % access.align:
        raise DisplayError(
            f"base= is a byte that is a multiple of {access.align}; got {options.base!r}"
        )
    point = _first(access) if options.values is None else point_of(access, options.values)
    title = _title(access, point, options.base)
    if access.scope == "shared":
        return _in_banks(access, options, point, title)
    if access.scope == "global":
        return _Sectors(access, options, point).draw(title)
    return _words(title, f"{access.scope} memory has neither banks nor sectors")


# -- inside ------------------------------------------------------------------------------------
def _in_banks(
    access: Access, options: AccessOptions, point: Mapping[Var, int], title: str
) -> Canvas:
    target = options.target or NVIDIA
    try:
        check_lanes(access, target)
        service = service_at(access, target, 8 * options.base, point)
    except LayoutError as error:
        if options.target is not None:
            raise
        return _words(title, f"{error}: target= names another memory")
    return draw_service(service, ServiceOptions(options.mark, title))


def _words(title: str, why: str) -> Canvas:
    """The access in words, where it has no picture."""
    sheet = Canvas(f"access: {title}")
    end = sheet.lines(MARGIN, 30, wrapped(title, 110), size=12)
    sheet.lines(MARGIN, end + 4, wrapped(why, 110), size=12, fill=QUIET)
    return sheet


def _first(access: Access) -> dict[Var, int]:
    """The first values at which a lane is active; the first of all where none is found."""
    tried = list(itertools.islice(points(access), MOST_TRIED))
    return next((point for point in tried if any(True for _ in lane_bits(access, point))), tried[0])


def _title(access: Access, point: Mapping[Var, int], base: int) -> str:
    values = [f"{one.name} = {point[one.variable] * one.multiple}" for one in access.free]
    values += [f"base = {base}"] if base else []
    return f"{access}{' at ' if values else ''}{', '.join(values)}"


class _Sectors:
    """Lanes down, the touched sectors of global memory across."""

    def __init__(self, access: Access, options: AccessOptions, point: Mapping[Var, int]) -> None:
        self.target = options.target or NVIDIA
        size = 8 * self.target.sector_bytes
        #: (lane, sector) -> bits of the sector that the lane touches
        self.touched: dict[tuple[int, int], int] = {}
        for lane, bit in lane_bits(access, point):
            first = 8 * options.base + bit
            last = first + access.bits - 1
            for sector in range(first // size, last // size + 1):
                inside = min(last, (sector + 1) * size - 1) - max(first, sector * size) + 1
                self.touched[lane, sector] = inside
        self.lanes = sorted({lane for lane, _ in self.touched})
        self.sectors = sorted({sector for _, sector in self.touched})

    def draw(self, title: str) -> Canvas:
        sheet = Canvas(f"sectors: {title}")
        y = sheet.lines(MARGIN, 30, wrapped(title, 120), size=12)
        per_line = self.target.line_bytes // self.target.sector_bytes
        lines = len({sector // per_line for sector in self.sectors})
        headline = (
            f"{_counted(len(self.sectors), 'sector')} of {self.target.sector_bytes} bytes, "
            f"{_counted(lines, 'line')} of {self.target.line_bytes} bytes"
        )
        sheet.word(MARGIN, y, headline, size=12, bold=True)
        bottom = self._table(sheet, y + 44)
        notes = ["cell: bytes of the sector that the lane moves"]
        if len(self.sectors) > MOST_SECTORS:
            notes.append(f"a window: the first {MOST_SECTORS} of {len(self.sectors)} sectors")
        sheet.lines(MARGIN, bottom + 20, notes, size=11, fill=QUIET)
        return sheet

    def _table(self, sheet: Canvas, top: float) -> float:
        shown = self.sectors[:MOST_SECTORS]
        column = {sector: LEFT + k * WIDTH for k, sector in enumerate(shown)}
        row = {lane: top + k * HEIGHT for k, lane in enumerate(self.lanes)}
        half = WIDTH / 2
        heads = [(x + half, top - 6, str(sector)) for sector, x in column.items()]
        sheet.words(heads, size=8, fill=QUIET, anchor="middle")
        sheet.word(LEFT - 6, top - 6, "sector", size=9, fill=INK, anchor="end")
        names = [(LEFT - 6, y + 14, f"lane {lane}") for lane, y in row.items()]
        sheet.words(names, size=9, fill=QUIET, anchor="end")
        every = [(x, y, WIDTH, HEIGHT) for x in column.values() for y in row.values()]
        sheet.cells("#f7f9fb", every, line=RULE)
        boxes: list[Box] = []
        words: list[Word] = []
        for (lane, sector), bits in self.touched.items():
            if sector in column:
                boxes.append((column[sector], row[lane], WIDTH, HEIGHT))
                words.append((column[sector] + half, row[lane] + 14, f"{bits / 8:g}"))
        sheet.cells(WAVES[0], boxes)
        sheet.words(words, size=10, anchor="middle")
        return top + len(self.lanes) * HEIGHT


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
