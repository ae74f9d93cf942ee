"""Text from strangers, as Python's trees with columns.

A `Source` holds one text and gives the tree of it or of a part of it (`ast.parse`, which reads and
never runs), with every node's column counted in characters of the whole text, so that an error can
put its caret under the node at fault.  What no notation contains (control characters, comments,
backslashes, look-alikes of - and *) is refused before; what Python cannot read, or what is too long
or nested too deeply, is a `NotationError` as well.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from layout_algebra.errors import LayoutAlgebraError, NotationError

#: Limits on a text and on what is said of it.
MOST_CHARACTERS = 10_000
MOST_DIGITS = 100
MOST_MESSAGE = 400

_LOOKALIKES = {
    "−": "-",
    "–": "-",
    "×": "*",
    "∗": "*",
    "“": '"',
    "”": '"',
    "\N{FULLWIDTH COLON}": ":",
    "\N{FULLWIDTH COMMA}": ",",
}
#: What to say of texts that Python cannot read, where it says "invalid syntax".
_ADVICE = (
    (r"\b[SR] *\[ *\]", "the extents go between the brackets; S[()] has none"),
    (r"\b\d+ *(?!x\d)[A-Za-z_]\w*", "a number and its axis are joined by @, as in 4@laneid"),
)


class Source:
    """One text to be read as `what` ("a layout"), of which `like` is an example.

    `allowed` has characters that this text may contain besides those of the notation.
    """

    def __init__(self, text: str, what: str, like: str, allowed: str = "") -> None:
        if not isinstance(text, str):  # type: ignore[redundant-expr]
            raise NotationError(f"{what} is read from a text; got {text!r}")
        if len(text) > MOST_CHARACTERS:
            raise NotationError(
                f"{what} is read from at most {MOST_CHARACTERS} characters; got {len(text)}"
            )
        self.wanted = f"{what}, like {like}"
        self.text = "".join(_visible(character) for character in text)
        for column, character in enumerate(text):
            if character not in allowed:
                self._check_character(character, column)
        if not self.text.strip():
            raise self.error(f"an empty text is not {self.wanted}", 0)

    def _check_character(self, character: str, column: int) -> None:
        if character in "#\\" or not (
            character.isspace()
            or (character.isascii() and character.isprintable())
            or f"a{character}".isidentifier()
        ):
            meant = _LOOKALIKES.get(character)
            hint = f"; write {meant} for it" if meant else ""
            raise self.error(
                f"the character {character!r} is not part of the notation{hint}", column
            )

    # -- errors -------------------------------------------------------------------------------
    def error(self, message: str, where: ast.expr | int) -> NotationError:
        """The error with a caret under a node or a column."""
        column = where if isinstance(where, int) else where.col_offset
        if len(message) > MOST_MESSAGE:
            message = f"{message[: MOST_MESSAGE - 100]} ... {message[-90:]}"
        return NotationError(message, self.text, column)

    @contextmanager
    def at(self, where: ast.expr | int) -> Iterator[None]:
        """Errors of the library inside get their caret here, unless they have one."""
        try:
            yield
        except NotationError as error:
            if error.column is not None:
                raise
            raise self.error(error.reason, where) from None
        except LayoutAlgebraError as error:
            raise self.error(str(error), where) from None

    # -- the tree -----------------------------------------------------------------------------
    def node(self, start: int, end: int) -> ast.expr:
        """The tree of text[start:end], its columns counted in the characters of the whole text."""
        part = self.text[start:end]
        if not part.strip():
            raise self.error(f"something is missing here: this is not {self.wanted}", start)
        start += len(part) - len(part.lstrip())
        part = part.strip()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                root = ast.parse(part, mode="eval").body
        except SyntaxError as error:
            column, reason = _syntax(error, part)
            if reason in ("invalid syntax", "invalid decimal literal"):
                reason = f"this is not {self.wanted}"
            raise self.error(reason, start + column) from None
        characters = _characters(part)
        for node in ast.walk(root):
            if isinstance(node, ast.expr):
                node.col_offset = start + characters(node.col_offset)
        return root

    def pieces(self, start: int, end: int, mark: str) -> list[tuple[int, int]]:
        """text[start:end] cut at a mark that stands outside brackets and quotes."""
        cuts: list[int] = []
        depth, quote = 0, ""
        for column in range(start, end):
            character = self.text[column]
            if quote:
                quote = "" if character == quote else quote
            elif character in "\"'":
                quote = character
            elif character in "([{":
                depth += 1
            elif character in ")]}":
                depth -= 1
            elif character == mark and depth == 0:
                cuts.append(column)
        return list(zip([start, *(cut + 1 for cut in cuts)], [*cuts, end], strict=True))

    def word(self, start: int, end: int) -> tuple[str, int]:
        """text[start:end] without blanks around it, and the column where it begins."""
        part = self.text[start:end]
        return part.strip(), start + len(part) - len(part.lstrip())


def _visible(character: str) -> str:
    if character.isspace():
        return " "
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _characters(part: str) -> Callable[[int], int]:
    """From a column in UTF-8 bytes, which trees have, to one in characters."""
    if part.isascii():
        return lambda column: column
    encoded = part.encode()
    return lambda column: len(encoded[:column].decode(errors="ignore"))


def _syntax(error: SyntaxError, part: str) -> tuple[int, str]:
    """Where and why Python cannot read a text, without its advice for programs."""
    long = re.search(rf"[\d_]{{{MOST_DIGITS},}}", part)
    if "integer string conversion" in error.msg and long:
        return long.start(), f"an integer has at most {MOST_DIGITS} digits here"
    column = min(max((error.offset or 1) - 1, 0), len(part))
    for pattern, advice in _ADVICE:
        for match in re.finditer(pattern, part):
            if match.start() <= column <= match.end():
                return match.start(), advice
    return column, error.msg.split("; use an 0o prefix")[0].split(". ")[0]
