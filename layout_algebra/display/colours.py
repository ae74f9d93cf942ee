"""Colours of pictures: light tints for numbers, one ramp, and a few fixed ones, as `#rrggbb`.

    tint(5)           # a light colour; neighbours differ in hue
    ramp(3, 0, 7)     # from light to darker blue
    contrast(INK, tint(5))    # 9.6: WCAG asks for 4.5

Every fill is light and every text on it is dark, on a light sheet of its own: a picture reads the
same on a light and on a dark page.  Colour is never alone: what it says is written in the cell.
"""

from __future__ import annotations

import colorsys

#: Text, quieter text, lines, the sheet, and what is marked.
INK, QUIET, RULE, SHEET, MARK = "#1f2933", "#52606d", "#cbd2d9", "#ffffff", "#b4330a"
#: Fills of the four verdicts, dark enough for white text.
VERDICTS = {
    "PROVED": "#1b6e3c",
    "REFUTED": "#b3261e",
    "UNDECIDED": "#8a5300",
    "VACUOUS": "#52606d",
}
#: Fills of words that wait: first wavefront, second, ... the last one for all beyond.
WAVES = ("#cfe3f7", "#fde3b0", "#fbc9a2", "#f5aca2", "#efa3bd", "#dbabdf")
#: The golden angle in degrees: neighbours are far apart, and no two of many numbers meet.
_STEP = 137.508
_LIGHT, _SATURATION = 0.86, 0.62
_RAMP = ((240, 246, 252), (133, 180, 230))


def tint(number: int, shade: float = 0.0) -> str:
    """A light colour for a number.

    Args:
        number: the number; equal ones have equal colours, and neighbours other hues.
        shade: 0 to 1, how much darker; what belongs together has one hue and several shades.
    """
    hue = number * _STEP % 360 / 360
    return _hex(colorsys.hls_to_rgb(hue, _LIGHT - 0.08 * shade, _SATURATION))


def ramp(number: int, low: int, high: int) -> str:
    """A colour between light and darker blue, for numbers whose order matters."""
    part = (number - low) / (high - low) if high > low else 0.0
    first, last = _RAMP
    return _hex((a + (b - a) * part) / 255 for a, b in zip(first, last, strict=True))


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours as WCAG 2 defines it: 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


# -- inside ------------------------------------------------------------------------------------
def _hex(parts: object) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)  # type: ignore[attr-defined]


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
