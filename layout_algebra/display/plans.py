"""Pictures of plans: how far elements go, the shuffle rounds, the trip through shared memory.

    svg(plan(accumulator, operand))

A round is a row for each group of warps that do the same.  A cell is what the lane above reads:
the sending lane and its register, and the register that it goes to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from layout_algebra.display.canvas import MARGIN, Box, Canvas, Word, width_of
from layout_algebra.display.colours import INK, QUIET, RULE, WAVES, tint

if TYPE_CHECKING:
    from layout_algebra.planning.movement import Group
    from layout_algebra.planning.plans import Plan

#: Rows of the table of rounds, lanes of a warp, sizes.
MOST_ROWS, LANES, LEFT, HEIGHT, BAR_WIDTH = 24, 32, 150, 34, 640
MOST_WARPS = 16


@dataclass(frozen=True)
class PlanOptions:
    """What a picture of a plan can be asked.

    Attributes:
        rounds: whether the table of rounds is drawn.
    """

    rounds: bool = True


def draw(plan: Plan, options: PlanOptions) -> Canvas:
    """The picture of a plan."""
    headline = str(plan).splitlines()[0]
    sheet = Canvas(f"plan: {headline}")
    sheet.word(MARGIN, 30, headline, size=14, bold=True)
    y = _distances(sheet, plan, 50)
    if plan.renames:
        many = "" if len(plan.renames) == 1 else "s"
        sheet.word(MARGIN, y, f"{len(plan.renames)} register{many} renamed inside threads", size=12)
        y += 22
    if options.rounds and plan.rounds:
        y = _Rounds(sheet, plan).draw(y + 4)
    if plan.shared is not None:
        y = _shared(sheet, plan, y + 4)
    if plan.rounds:
        known = "the fewest" if plan.minimal else "not known to be the fewest"
        sheet.word(MARGIN, y + 14, f"{known}: {plan.why}", size=11, fill=QUIET)
    return sheet


# -- inside ------------------------------------------------------------------------------------
def _distances(sheet: Canvas, plan: Plan, top: float) -> float:
    """One bar: how many places of the target are filled from how far."""
    total = sum(plan.counts.values())
    x, texts = float(MARGIN), []
    for number, (distance, count) in enumerate(plan.counts.items()):
        if count:
            width = max(4.0, BAR_WIDTH * count / total)
            at = (x, top, width, 22)
            sheet.box(at, fill=WAVES[number], line=RULE, tip=f"{distance}: {count}")
            if width_of(str(count), 11) + 4 < width:
                sheet.word(x + width / 2, top + 15, str(count), size=11, anchor="middle")
            x += width
        texts.append(f"{distance} {count}")
    sheet.word(MARGIN, top + 40, f"{total} places of the target: {', '.join(texts)}", size=12)
    return top + 66


class _Rounds:
    """Rows of rounds, columns of lanes."""

    def __init__(self, sheet: Canvas, plan: Plan) -> None:
        self.sheet = sheet
        self.rows: list[tuple[str, Group]] = []
        for number, one in enumerate(plan.rounds):
            for group in one.groups:
                self.rows.append((f"round {number}", group))
        cells = [_cell(read) for _, group in self.rows for read in group.reads]
        longest = max((max(map(len, cell)) for cell in cells), default=2)
        self.width = max(30, round(width_of("0" * longest, 9)) + 6)

    def draw(self, top: float) -> float:
        rows = self.rows[:MOST_ROWS]
        first = top + 30
        half = self.width / 2
        heads = [(self._x(lane) + half, first - 8, str(lane)) for lane in range(LANES)]
        self.sheet.words(heads, size=9, fill=QUIET, anchor="middle")
        self.sheet.word(LEFT - 8, first - 8, "lane", size=9, fill=INK, anchor="end")
        for k, (name, group) in enumerate(rows):
            self._row(first + k * HEIGHT, name, group)
        bottom = first + len(rows) * HEIGHT
        notes = ["cell: from lane . register (above), into register (below); empty: reads nothing"]
        if len(self.rows) > MOST_ROWS:
            notes.append(f"a window: the first {MOST_ROWS} of {len(self.rows)} rows")
        return self.sheet.lines(MARGIN, bottom + 18, notes, size=11, fill=QUIET)

    def _x(self, lane: int) -> float:
        return LEFT + lane * self.width

    def _row(self, y: float, name: str, group: Group) -> None:
        self.sheet.word(LEFT - 8, y + 14, name, size=11, anchor="end")
        self.sheet.word(LEFT - 8, y + 28, _warps(group), size=9, fill=QUIET, anchor="end")
        every = [(self._x(lane), y, self.width, HEIGHT) for lane in range(LANES)]
        self.sheet.cells("#f7f9fb", every, line=RULE)
        boxes: dict[str, list[Box]] = {}
        above: list[Word] = []
        below: list[Word] = []
        for read in group.reads:
            x = self._x(read.lane)
            boxes.setdefault(tint(read.source_lane), []).append((x, y, self.width, HEIGHT))
            source, target = _cell(read)
            above.append((x + self.width / 2, y + 14, source))
            below.append((x + self.width / 2, y + 28, target))
        for colour, cells in boxes.items():
            self.sheet.cells(colour, cells)
        self.sheet.words(above, size=9, anchor="middle")
        self.sheet.words(below, size=9, anchor="middle")


def _cell(read: tuple[int, int, int, tuple[int, ...]]) -> tuple[str, str]:
    """A lane's part in a round, as two texts."""
    _, source_lane, source_register, registers = read
    shown = ",".join(map(str, registers[:3])) + (",.." if len(registers) > 3 else "")
    return f"{source_lane}.{source_register}", shown


def _warps(group: Group) -> str:
    warps = sorted(group.warps)
    if len(warps) == 1:
        return f"warp {warps[0]}"
    if warps == list(range(warps[0], warps[-1] + 1)):
        return f"warps {warps[0]}-{warps[-1]}"
    few = ", ".join(map(str, warps[:4]))
    return f"warps {few}{', ...' if len(warps) > 4 else ''}"


def _shared(sheet: Canvas, plan: Plan, top: float) -> float:
    """A table: what each warp writes and reads."""
    assert_counts = plan.shared.counted() if plan.shared is not None else {}
    sheet.word(MARGIN, top + 12, "through shared memory: writes, a barrier, reads", size=12)
    rows = list(assert_counts.items())
    y = top + 36
    columns = [MARGIN, MARGIN + 90, MARGIN + 260]
    bits = plan.element_bits

    def shown(count: int) -> str:
        return f"{count} elements" + (f", {count * bits // 8} bytes" if bits else "")

    heads = zip(columns, ("warp", "writes", "reads"), strict=True)
    sheet.words([(x, y, text) for x, text in heads], size=11, bold=True)
    for warp, (written, read) in rows[:MOST_WARPS]:
        y += 18
        texts = zip(columns, (str(warp), shown(written), shown(read)), strict=True)
        sheet.words([(x, y, text) for x, text in texts], size=11)
    if len(rows) > MOST_WARPS:
        y += 18
        sheet.word(MARGIN, y, f"a window: the first {MOST_WARPS} of {len(rows)} warps", size=11)
    return y + 14
