"""A sheet to draw on: the few SVG elements that pictures are made of, as text.

    sheet = Canvas("one cell")
    sheet.cells("#dfe7fb", [(10, 10, 44, 24)])
    sheet.words([(32, 26, "5")], size=13, anchor="middle")
    sheet.svg()

Only presentation attributes: no style sheet, no script, no identifier, no reference, so a picture
keeps its looks where pages are cleaned, and two of them on one page do not meet.  Cells of one
colour are one path, texts of one kind one group: 32 x 64 elements stay near 0.2 MB.  Letters are
monospaced, so that the width of a text is known without a browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from layout_algebra.display.colours import INK, QUIET, SHEET

FONT = "DejaVu Sans Mono, Menlo, Consolas, monospace"
#: Width of a letter, in parts of the font's size; the widest of the fonts above has 0.602.
LETTER = 0.61
MARGIN = 16

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_UNSAFE = re.compile(r"[&<>\"']")
#: What XML 1.0 does not allow in a text, and line ends, which a picture does not break at.
_FORBIDDEN = re.compile(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Box = tuple[float, float, float, float]
Word = tuple[float, float, str]


def escaped(text: str) -> str:
    """A text as SVG may hold it; what XML forbids becomes the replacement character."""
    if text.isalnum() and text.isascii():  # nearly every cell
        return text
    allowed = _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
    return _UNSAFE.sub(lambda found: _ESCAPES[found[0]], allowed)


def width_of(text: str, size: float) -> float:
    """How wide a text is at most, at a font size."""
    return len(text) * size * LETTER


def wrapped(text: str, letters: int, lines: int = 6) -> list[str]:
    """A text in lines of at most so many letters, cut at blanks; the last ends in ... if need be.

    Args:
        text: the text; a word that is too long is cut.
        letters, lines: the most letters in a line, and lines.
    """
    found: list[str] = []
    rest = " ".join(text.split())
    while rest and len(found) < lines:
        if len(rest) <= letters:
            return [*found, rest]
        cut = rest.rfind(" ", 1, letters + 1)
        cut = cut if cut > letters // 3 else letters
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if rest and found:
        kept = found[-1][: letters - 4]
        blank = kept.rfind(" ") if len(found[-1]) > letters - 4 else -1
        found[-1] = (kept if blank < letters // 3 else kept[:blank]).rstrip() + " ..."
    return found


class Canvas:
    """A picture in the making; it is as large as what is drawn on it.

    Attributes:
        label: what the picture is, for those who do not see it.
        width, height: what is used so far.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.width = self.height = 0.0
        self.body: list[str] = []

    # -- drawing ------------------------------------------------------------------------------
    def cells(self, fill: str, boxes: Iterable[Box], line: str = SHEET) -> None:
        """Rectangles (x, y, width, height) of one colour, with thin lines between them."""
        boxes = list(boxes)
        if boxes:
            steps = "".join([f"M{x:g} {y:g}h{w:g}v{h:g}h{-w:g}z" for x, y, w, h in boxes])
            self.body.append(f'<path fill="{fill}" stroke="{line}" d="{steps}"/>')
            self.cover(max([x + w for x, _, w, _ in boxes]), max([y + h for _, y, _, h in boxes]))

    def box(
        self, at: Box, *, fill: str = "none", line: str = INK, thick: float = 1, round_: float = 0,
        dashed: bool = False, tip: str = "",
    ) -> None:  # fmt: skip
        """One rectangle, with a text that a pointer shows."""
        x, y, width, height = at
        more = f' rx="{round_:g}"' if round_ else ""
        more += ' stroke-dasharray="4 3"' if dashed else ""
        where = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        look = f'fill="{fill}" stroke="{line}" stroke-width="{thick:g}"'
        inside = f"><title>{escaped(tip)}</title></rect>" if tip else "/>"
        self.body.append(f"<rect {where} {look}{more}{inside}")
        self.cover(x + width, y + height)

    def path(
        self, steps: str, *, line: str = QUIET, thick: float = 1, dashed: bool = False
    ) -> None:
        """A line; the caller says by `cover` how far it reaches, where nothing else does."""
        more = ' stroke-dasharray="2 3"' if dashed else ""
        self.body.append(
            f'<path fill="none" stroke="{line}" stroke-width="{thick:g}"{more} d="{steps}"/>'
        )

    def words(
        self, words: Iterable[Word], *, size: float = 12, fill: str = INK, anchor: str = "start",
        bold: bool = False,
    ) -> None:  # fmt: skip
        """Texts (x, baseline, text) of one look."""
        words = [word for word in words if word[2]]
        if words:
            made = "".join([f'<text x="{x:g}" y="{y:g}">{escaped(t)}</text>' for x, y, t in words])
            weight = ' font-weight="bold"' if bold else ""
            look = f'font-size="{size:g}" fill="{fill}" text-anchor="{anchor}"{weight}'
            self.body.append(f"<g {look}>{made}</g>")
            share = {"start": 1.0, "middle": 0.5, "end": 0.0}[anchor] * width_of("x", size)
            right = max([x + share * len(text) for x, _, text in words])
            self.cover(right, max([y for _, y, _ in words]) + size * 0.3)

    def word(self, x: float, y: float, text: str, **look: Any) -> None:
        """One text; looks as for `words`."""
        self.words([(x, y, text)], **look)

    def lines(
        self, x: float, y: float, texts: Sequence[str], size: float = 12, **look: Any
    ) -> float:
        """Texts below each other from a baseline on; the baseline after them."""
        step = round(size * 1.5)
        self.words([(x, y + k * step, text) for k, text in enumerate(texts)], size=size, **look)
        return y + len(texts) * step

    def paste(self, other: Canvas, x: float, y: float) -> None:
        """Another picture inside this one, its upper left corner at a point."""
        self.body.append(f'<g transform="translate({x:g} {y:g})">')
        self.body += other.body
        self.body.append("</g>")
        self.cover(x + other.width, y + other.height)

    def cover(self, x: float, y: float) -> None:
        """The sheet reaches to a point."""
        self.width, self.height = max(self.width, x), max(self.height, y)

    # -- the result ---------------------------------------------------------------------------
    def svg(self) -> str:
        """The whole picture, as one SVG element on a sheet of its own."""
        width, height = round(self.width + MARGIN), round(self.height + MARGIN)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="{escaped(self.label)}" '
            f'font-family="{FONT}">'
        )
        sheet = f'<rect width="{width}" height="{height}" rx="6" fill="{SHEET}"/>'
        return "\n".join([head, sheet, *self.body, "</svg>"])
