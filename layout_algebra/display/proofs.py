"""Pictures of proofs: the verdict, what was asked, how it was decided, and what it rests on.

svg(prove(Injective(frag)))                 # verdict, method, time, obligations
svg(refuted)                                # the counterexample, marked on the grid
svg(proof, obligations=False)               # without making the queries
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layout_algebra.display.canvas import MARGIN, Canvas, width_of, wrapped
from layout_algebra.display.colours import QUIET, SHEET, VERDICTS
from layout_algebra.display.obligations import SIGNS, draw_graph
from layout_algebra.display.witnesses import pictures_of
from layout_algebra.verdicts import Proof

#: Letters in a line of the headline.
LETTERS = 104
#: Room between pictures side by side, and how wide they may be together.
APART, MOST_WIDTH = 32, 1500


@dataclass(frozen=True)
class ProofOptions:
    """What a picture of a proof can be asked.

    Attributes:
        obligations: whether the graph of rules, theorems and queries is drawn.
        witness: whether a counterexample is drawn on the grid.
    """

    obligations: bool = True
    witness: bool = True


def draw(proof: Proof, options: ProofOptions) -> Canvas:
    """The picture of a proof."""
    sheet = Canvas(f"{proof.verdict} {proof.claim}")
    y = _badge(sheet, proof)
    y = sheet.lines(MARGIN, y, wrapped(str(proof.claim), LETTERS), size=13)
    for given in proof.given[:6]:
        y = sheet.lines(MARGIN, y, wrapped(f"given {given}", LETTERS, 2), size=12)
    method = f"{proof.method}, {proof.seconds * 1e3:.2f} ms"
    y = sheet.lines(MARGIN, y + 2, wrapped(method, LETTERS), size=12, fill=QUIET)
    if proof.reason:
        y = sheet.lines(MARGIN, y + 2, wrapped(proof.reason, LETTERS), size=12)
    if proof.witness is not None:
        y = sheet.lines(MARGIN, y + 4, wrapped(str(proof.witness), LETTERS), size=12, bold=True)
    if options.obligations:
        y = _paste(sheet, draw_graph(proof), y)
    if options.witness:
        _beside(sheet, list(_counterexamples(proof)), y + 10)
    return sheet


# -- inside ------------------------------------------------------------------------------------
def _badge(sheet: Canvas, proof: Proof) -> float:
    """The verdict, on a field of its colour."""
    verdict = str(proof.verdict)
    text = f"{SIGNS[verdict]} {verdict}"
    width = width_of(text, 14) + 20
    sheet.box((MARGIN, MARGIN, width, 26), fill=VERDICTS[verdict], line="none", round_=5)
    sheet.word(MARGIN + 10, MARGIN + 18, text, size=14, fill=SHEET, bold=True)
    return MARGIN + 50


def _paste(sheet: Canvas, picture: Canvas, y: float) -> float:
    if not picture.body:
        return y
    sheet.paste(picture, MARGIN, y)
    return y + picture.height + 10


def _beside(sheet: Canvas, pictures: list[Canvas], y: float) -> None:
    """Pictures side by side, or below each other where that is too wide."""
    room = sum(picture.width + APART for picture in pictures) <= MOST_WIDTH
    x = float(MARGIN)
    for picture in pictures:
        sheet.paste(picture, x, y)
        x, y = (x + picture.width + APART, y) if room else (x, y + picture.height + APART)


def _counterexamples(proof: Proof) -> Iterator[Canvas]:
    """The pictures of the counterexample: of the part that it refutes, for a conjunction."""
    if proof.witness is None:
        return
    refuted = next((part for part in proof.parts if part.witness is not None), None)
    if refuted is not None:
        yield from _counterexamples(refuted)
    else:
        yield from pictures_of(proof.claim, proof.witness)
