"""Text of CuTe layouts to their numbers: `((2,4),8):((1,16),2)`, `Sw<3,4,3> o 0 o (8,64):(64,1)`.

    read("((2,4),8):((1,16),2)").shape        # ((2, 4), 8)

Brackets are tuples, `(4)` too: a size alone is `4`.  Static sizes may be written as CuTe prints
them, `_4`.  Sizes with Dims are expressions, `Dim("M", multiple_of=8)//8`.  Text comes from
strangers: the only error is a `NotationError` with a caret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from layout_algebra.cute.tuples import MOST_DEPTH, Nested, short
from layout_algebra.dims import Polynomial, Size
from layout_algebra.errors import NotationError
from layout_algebra.grammar import Reader

_SWIZZLE = re.compile(r"\s*Sw<\s*(-?\d{1,4})\s*,\s*(-?\d{1,4})\s*,\s*(-?\d{1,4})\s*>\s*$")
_STATIC = re.compile(r"\s*_(\d+)\s*")
_AN_O = re.compile(r"(?<=\s)o(?=\s)")


class Read(NamedTuple):
    """What a text says; `swizzle` is (B, M, S), None without one."""

    shape: Nested
    stride: Nested
    swizzle: tuple[int, int, int] | None
    offset: Size
    reader: Reader


def read(text: str, dims: Mapping[str, Polynomial] | None = None) -> Read:
    """The numbers of a CuTe layout's text; `dims` may be called by their names in it.

    Raises:
        NotationError: any other text, or no text; dims that are no mapping.
    """
    if not isinstance(text, str):  # type: ignore[redundant-expr]
        raise NotationError(f"a CuTe layout is read from a text; got {short(text)}")
    if dims is not None and not isinstance(dims, Mapping):  # type: ignore[redundant-expr]
        raise NotationError(f"dims= is a mapping from names to Dims; got {short(dims)}")
    reader = Reader(text, "a CuTe layout", "((2,4),8):((1,16),2) or Sw<3,4,3> o 0 o (8,64):(64,1)")
    reader.know(dims)
    parts = _composed_parts(reader)
    swizzle, offset = None, 0
    if len(parts) == 3:
        swizzle = _swizzle(reader, parts[0])
        offset = _size(reader, *parts[1])
    elif len(parts) != 1:
        raise reader.error(f"this is not {reader.wanted}", parts[1][0])
    sides = reader.pieces(*parts[-1], ":")
    if len(sides) != 2:
        where = parts[-1][0] if len(sides) == 1 else sides[2][0]
        raise reader.error("a layout is shape:stride, with one ':'", where)
    shape, stride = (_nested(reader, start, end, 0) for start, end in sides)
    return Read(shape, stride, swizzle, offset, reader)


def _composed_parts(reader: Reader) -> list[tuple[int, int]]:
    """The text cut at ` o ` outside brackets: swizzle, offset, layout; or the layout alone."""
    cuts: list[tuple[int, int]] = []
    start = 0
    for match in _AN_O.finditer(reader.text):
        before = reader.text[: match.start()]
        if before.count("(") == before.count(")") and before.count('"') % 2 == 0:
            cuts.append((start, match.start()))
            start = match.end()
    return [*cuts, (start, len(reader.text))]


def _swizzle(reader: Reader, span: tuple[int, int]) -> tuple[int, int, int]:
    found = _SWIZZLE.match(reader.text[span[0] : span[1]])
    if found is None:
        raise reader.error("before 'o offset o layout' stands a swizzle, like Sw<3,4,3>", span[0])
    bits, base, shift = (int(group) for group in found.groups())
    return bits, base, shift


def _nested(reader: Reader, start: int, end: int, depth: int) -> Nested:
    word, column = reader.word(start, end)
    if not _is_bracketed(word):
        return _size(reader, start, end)
    if depth >= MOST_DEPTH:
        raise reader.error(f"brackets are nested deeper than {MOST_DEPTH} levels", column)
    inside = (column + 1, column + len(word) - 1)
    if not reader.text[slice(*inside)].strip():
        return ()
    pieces = reader.pieces(*inside, ",")
    if len(pieces) > 1 and not reader.word(*pieces[-1])[0]:
        pieces.pop()  # a comma at the end, as Python writes a tuple of one
    return tuple(_nested(reader, *piece, depth + 1) for piece in pieces)


def _is_bracketed(word: str) -> bool:
    """Whether the first bracket closes at the very end: `(4)`, but not `(M + 1)*(N + 1)`."""
    if not (word.startswith("(") and word.endswith(")")):
        return False
    depth = 0
    for column, character in enumerate(word):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return column == len(word) - 1
    return False


def _size(reader: Reader, start: int, end: int) -> Size:
    static = _STATIC.fullmatch(reader.text[start:end])
    if static is not None:
        start, end = start + static.start(1), start + static.end(1)
    return reader.size(reader.node(start, end))
