"""PTX text as words with line numbers; comments and debug lines are left out.

[str(one) for one in words_of("add.s32 %r1, %r2, -7; // sum")]
# ['add.s32', '%r1', ',', '%r2', ',', '-7', ';']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from layout_algebra.validation.syntax import PtxError


class Word(NamedTuple):
    """One word of the text, and its line."""

    text: str
    line: int

    def __str__(self) -> str:
        return self.text


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
#: Lines that say where the source is; they end with the line, and nothing depends on them.
_DEBUG = re.compile(r"^[ \t]*\.(?:loc|file)\b[^\n;]*;?[ \t]*$", re.MULTILINE)
_WORD = re.compile(
    r"""(?P<blank>\s+)
      | (?P<name>[.%$]?[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_]\w*)*(?:\.\d+)?)
      | (?P<float>0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w))
      | (?P<number>-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?(?![\w.]))
      | (?P<version>\d+\.\d+)
      | (?P<text>"[^"\n]*")
      | (?P<sign>[\[\]{}()<>,;:@!+|=-])""",
    re.VERBOSE,
)


def words_of(text: str) -> list[Word]:
    """The words of a PTX text.

    Raises:
        PtxError: a character that PTX does not have, or a number that is no integer.
    """
    return list(_words(_DEBUG.sub("", _COMMENT.sub(_blank, text))))


def number(word: Word) -> int:
    """The value of an integer literal.

    Raises:
        PtxError: another word.
    """
    digits = word.text.removesuffix("U")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.removeprefix("-").lower()
    for prefix, base in (("0x", 16), ("0b", 2)):
        if digits.startswith(prefix):
            return sign * int(digits, base)
    if not digits.isdigit():
        raise PtxError(f"an integer was expected; got {word.text!r}", word.line)
    octal = digits.startswith("0") and len(digits) > 1
    if octal and not set(digits) <= set("01234567"):
        raise PtxError(f"{word.text} is no octal number", word.line)
    return sign * int(digits, 8 if octal else 10)


def is_float(word: Word) -> bool:
    """Whether a word is a floating-point literal, 0f or 0d and its bits."""
    return word.text[:2].lower() in ("0f", "0d") and len(word.text) in (10, 18)


def is_number(word: Word) -> bool:
    return word.text[0].isdigit() or (word.text[0] == "-" and word.text[1:2].isdigit())


def _words(text: str) -> Iterator[Word]:
    position, line = 0, 1
    while position < len(text):
        found = _WORD.match(text, position)
        if found is None:
            rest = text[position : position + 20].split("\n")[0]
            raise PtxError(f"no PTX at {rest!r}", line)
        if found.lastgroup != "blank":
            yield Word(found.group(), line)
        line += found.group().count("\n")
        position = found.end()


def _blank(comment: re.Match[str]) -> str:
    """A comment as its line breaks, so that lines keep their numbers."""
    return " " + "\n" * comment.group().count("\n")
