"""Reads pictures back: cells with their colours and texts, boxes, and all that is written.

Nothing here knows how a picture was made; it reads the SVG as a browser would place it.
"""

import re
from dataclasses import dataclass, field
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
STEP = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
#: The elements and attributes that a static picture is made of.
ELEMENTS = {"svg", "g", "rect", "path", "text", "title"}
ATTRIBUTES = {
    *("xmlns", "width", "height", "viewBox", "role", "aria-label", "x", "y", "rx", "d", "fill"),
    *("stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight"),
    *("text-anchor", "transform"),
}


@dataclass
class Text:
    x: float
    y: float
    size: float
    fill: str
    text: str
    anchor: str
    bold: bool


@dataclass
class Cell:
    """A rectangle of a path, with the texts inside it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    texts: list[Text] = field(default_factory=list)

    def holds(self, x, y):
        return self.x <= x <= self.x + self.width and self.y <= y <= self.y + self.height


@dataclass
class Box:
    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str
    tip: str


@dataclass
class Picture:
    width: float
    height: float
    label: str
    cells: list[Cell]
    boxes: list[Box]
    texts: list[Text]

    @property
    def written(self):
        return "\n".join(text.text for text in self.texts)

    def filled(self, fill=None):
        """The cells that say something, row by row."""
        found = [c for c in self.cells if c.texts and (fill is None or c.fill == fill)]
        return sorted(found, key=lambda c: (c.y, c.x))


def read(svg):
    """The picture of an SVG text; fails on anything that a static picture has not."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    found = Picture(float(root.get("width")), float(root.get("height")), root.get("aria-label"),
                    [], [], [])  # fmt: skip
    _walk(root, 0.0, 0.0, {}, found)
    for text in found.texts:
        under = [cell for cell in found.cells if cell.holds(text.x, text.y)]
        if under and text.anchor == "middle":
            under[-1].texts.append(text)  # the one that was painted last
    return found


def _walk(node, dx, dy, look, found):
    name = node.tag.removeprefix(SVG)
    assert name in ELEMENTS, name
    assert set(node.keys()) <= ATTRIBUTES, node.keys()
    look = {**look, **node.attrib}
    if name == "g" and "transform" in node.attrib:
        x, y = re.fullmatch(r"translate\((\S+) (\S+)\)", node.get("transform")).groups()
        dx, dy = dx + float(x), dy + float(y)
    if name == "path":
        for x, y, width, height in STEP.findall(node.get("d")):
            at = (float(x) + dx, float(y) + dy, float(width), float(height))
            found.cells.append(Cell(*at, node.get("fill")))
    if name == "rect" and node.get("x") is not None:
        at = [float(node.get(key)) for key in ("x", "y", "width", "height")]
        tip = "".join(node.itertext())
        found.boxes.append(
            Box(at[0] + dx, at[1] + dy, at[2], at[3], node.get("fill"), node.get("stroke"), tip)
        )
    if name == "text":
        found.texts.append(
            Text(
                float(node.get("x")) + dx,
                float(node.get("y")) + dy,
                float(look["font-size"]),
                look["fill"],
                node.text,
                look["text-anchor"],
                look.get("font-weight") == "bold",
            )
        )
    for child in node:
        _walk(child, dx, dy, look, found)
