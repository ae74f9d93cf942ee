"""The graph of what a proof rests on: claims, then rules, then theorems and solver queries.

    sheet.paste(draw_graph(proof), 16, 120)

Four kinds of box, told apart by their shape and their first word: claims are rounded, rules are
plain, theorems are rounded and rest on their own proofs, queries are dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from layout_algebra.display.canvas import Canvas, wrapped
from layout_algebra.display.colours import INK, QUIET
from layout_algebra.verdicts import Proof, Query, Step

#: Boxes in one column at most; sizes of boxes, and room between them.
MOST, WIDTH, HEIGHT, ACROSS, DOWN = 12, 250, 58, 44, 10
#: A sign for each verdict, beside its word.
SIGNS = {"PROVED": "\N{CHECK MARK}", "REFUTED": "\N{BALLOT X}", "UNDECIDED": "?", "VACUOUS": "!"}
_FILLS = {"claim": "#e8eef5", "rule": "#f3f0fa", "theorem": "#e6f4ea", "query": "#fdf4e3"}
_LETTERS = 39


@dataclass
class _Box:
    """A node: what it says, and what it points to."""

    kind: str
    lines: list[str]
    tip: str
    column: int
    targets: list[_Box] = field(default_factory=list["_Box"])
    y: float = 0.0

    @property
    def x(self) -> float:
        return self.column * (WIDTH + ACROSS)


def draw_graph(proof: Proof) -> Canvas:
    """The graph of a proof; empty where it has neither steps nor parts.

    Queries of proofs by structure are made when they are asked for, so the first picture of such a
    proof takes as long as making them.
    """
    sheet = Canvas("obligations")
    if not proof.steps and not proof.parts:
        return sheet
    graph = _Graph(proof)
    graph.place()
    for box in graph.boxes:
        for target in box.targets:
            _edge(sheet, box, target)
    for box in graph.boxes:
        _draw(sheet, box)
    if graph.left_out:
        text = f"{graph.left_out} more that are not drawn: proof.graph has all"
        sheet.word(0, sheet.height + 18, text, size=11, fill=QUIET)
    return sheet


# -- inside ------------------------------------------------------------------------------------
class _Graph:
    """The boxes of a proof in columns; what is shared is one box."""

    def __init__(self, proof: Proof) -> None:
        self.boxes: list[_Box] = []
        self.left_out = 0
        self.depth = _depth(proof)
        self._shared: dict[str, _Box] = {}
        self._claim(proof, 0)

    def _add(self, box: _Box) -> _Box | None:
        if sum(other.column == box.column for other in self.boxes) >= MOST:
            self.left_out += 1
            return None
        self.boxes.append(box)
        return box

    def _claim(self, proof: Proof, column: int) -> _Box | None:
        verdict = str(proof.verdict)
        name = "claims, together" if proof.claim.name == "All" else f"claim {proof.claim.name}"
        lines = [name, f"{SIGNS[verdict]} {verdict}"]
        box = self._add(_Box("claim", lines, str(proof.claim), column))
        for part in proof.parts:
            _join(box, self._claim(part, column + 1))
        for step in proof.steps:
            _join(box, self._rule(step))
        return box

    def _rule(self, step: Step) -> _Box | None:
        lines = [f"by {step.rule}", *wrapped(step.detail, _LETTERS, 2)]
        box = self._add(_Box("rule", lines, f"{step.rule} {step.detail}".strip(), self.depth))
        for lemma in step.lemmas:
            made = _Box("theorem", ["theorem", *wrapped(lemma, _LETTERS, 2)], lemma, self.depth + 1)
            _join(box, self._once(lemma, made))
        for query in step.queries():
            _join(box, self._once(query.key, self._query(query)))
        return box

    def _once(self, key: str, made: _Box) -> _Box | None:
        if key not in self._shared:
            added = self._add(made)
            if added is None:
                return None
            self._shared[key] = added
        return self._shared[key]

    def _query(self, query: Query) -> _Box:
        ran = "not run" if query.result is None else f"{query.result}, {query.seconds * 1e3:.1f} ms"
        lines = [f"query {query.logic}: {ran}", *wrapped(query.about, _LETTERS, 2)]
        return _Box("query", lines, f"query: {query.about}", self.depth + 1)

    def place(self) -> None:
        """Heights: each column in its order, a box beside the middle of what it points to."""
        last = max(box.column for box in self.boxes)
        for column in range(last, -1, -1):
            free = 0.0
            for box in (box for box in self.boxes if box.column == column):
                wish = _middle(box.targets)
                box.y = free if wish is None else max(free, wish)
                free = box.y + HEIGHT + DOWN


def _depth(proof: Proof) -> int:
    """Columns of claims."""
    return 1 + max(map(_depth, proof.parts), default=0)


def _join(box: _Box | None, target: _Box | None) -> None:
    if box is not None and target is not None and target not in box.targets:
        box.targets.append(target)


def _middle(targets: Sequence[_Box]) -> float | None:
    heights = [target.y for target in targets]
    return (min(heights) + max(heights)) / 2 if heights else None


def _edge(sheet: Canvas, box: _Box, target: _Box) -> None:
    x, y = box.x + WIDTH, box.y + HEIGHT / 2
    end, below = target.x, target.y + HEIGHT / 2
    bend = min(ACROSS, end - x) / 2
    sheet.path(f"M{x:g} {y:g}C{x + bend:g} {y:g} {end - bend:g} {below:g} {end:g} {below:g}")


def _draw(sheet: Canvas, box: _Box) -> None:
    at = (box.x, box.y, WIDTH, HEIGHT)
    round_ = 12 if box.kind in ("claim", "theorem") else 0
    dashed = box.kind == "query"
    sheet.box(at, fill=_FILLS[box.kind], line=INK, round_=round_, dashed=dashed, tip=box.tip)
    first, *rest = [*wrapped(box.lines[0], _LETTERS, 1), *box.lines[1:]]
    sheet.word(box.x + 8, box.y + 19, first, size=10, bold=True)
    sheet.lines(box.x + 8, box.y + 35, rest, size=10)
