"""Draws the pictures of the README from the layouts themselves: `python docs/pictures/draw.py`.

Hand-written SVG: a cell is a rectangle and a text, so the files stay small and readable.
"""

from __future__ import annotations

import colorsys
from pathlib import Path

from layout_algebra import R, S, TileLayout, laneid, warpid

HERE = Path(__file__).parent
CELL_W, CELL_H, LEFT, TOP = 44, 30, 46, 92
INK, FAINT, MARK = "#1f2933", "#7b8794", "#c2410c"
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"


def fragment() -> str:
    """The 8 x 16 fragment of the book: who holds each element, with one element's copies named."""
    frag = TileLayout(
        S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid
    )  # fmt: skip
    rows, columns = 8, 16
    out = [
        text(LEFT + (j + 0.5) * CELL_W, TOP - 8, str(j) if j else "j=0", FAINT, 11)
        for j in range(columns)
    ]
    for i in range(rows):
        y = TOP + i * CELL_H
        out.append(text(LEFT - 16, y + 20, f"i={i}" if i == 0 else str(i), FAINT, 11))
        for j in range(columns):
            place = frag.apply(i, j, shape=(rows, columns))
            lane, warp, slot = place["laneid"], place["warpid"], place["m"]
            fill = tint(lane, 0.86 if warp == 5 else 0.93)
            x = LEFT + j * CELL_W
            size = f"width='{CELL_W}' height='{CELL_H}'"
            out.append(f"<rect x='{x}' y='{y}' {size} fill='{fill}' stroke='white'/>")
            out.append(text(x + CELL_W / 2 - 5, y + 20, str(lane), INK, 13))
            out.append(text(x + CELL_W / 2 + 13, y + 23, str(slot), FAINT, 9))
    x, y = LEFT + 3 * CELL_W, TOP + CELL_H
    out.append(
        f"<rect x='{x + 1}' y='{y + 1}' width='{CELL_W - 2}' height='{CELL_H - 2}' fill='none' "
        f"stroke='{MARK}' stroke-width='2.5'/>"
    )
    places = frag.places(1, 3, shape=(rows, columns))
    lanes = f"lane {places[0]['laneid']}, slot {places[0]['m']}"
    warps = " and ".join(str(place["warpid"]) for place in places)
    bottom = TOP + rows * CELL_H
    half = LEFT + 8 * CELL_W
    out.append(f"<path d='M{half} {TOP - 4} V{bottom + 6}' stroke='{INK}' stroke-width='1.5'/>")
    out.append(text(LEFT + 4 * CELL_W, bottom + 22, "warp 5, and a copy in warp 9", INK, 12))
    out.append(text(half + 4 * CELL_W, bottom + 22, "warp 6, and a copy in warp 10", INK, 12))
    title = "S[(8,2,4,2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid"
    out.append(text(LEFT, 26, title, INK, 14, anchor="start", family="DejaVu Sans Mono, monospace"))
    legend = f"each element: lane (large) and slot (small); element (1, 3): {lanes}, warps {warps}"
    out.append(text(LEFT, 52, legend, MARK, 12, anchor="start"))
    return svg(LEFT + columns * CELL_W + 20, bottom + 40, out)


def tint(number: int, lightness: float) -> str:
    """A light colour for a number: neighbours differ."""
    red, green, blue = colorsys.hls_to_rgb(number * 47 % 360 / 360, lightness, 0.6)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def text(
    x: float, y: float, content: str, fill: str, size: int, anchor: str = "middle", family: str = ""
) -> str:
    font = f"font-family='{family}'" if family else FONT
    where = f"x='{x:g}' y='{y:g}' text-anchor='{anchor}'"
    return f"<text {where} {font} font-size='{size}' fill='{fill}'>{content}</text>"


def svg(width: int, height: int, body: list[str]) -> str:
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}' role='img'>"
    )
    background = f"<rect width='{width}' height='{height}' fill='white'/>"
    return "\n".join([head, background, *body, "</svg>"]) + "\n"


if __name__ == "__main__":
    (HERE / "fragment.svg").write_text(fragment())
