"""Docstrings for autodoc: from plain text to reStructuredText.

    prepared(["Widths of `x`:", "", "    S[(4, 8) : (8, 1)]", "", "Raises:", "    E: when."])

Docstrings of the package are written to be read in an editor: names in single backticks, examples
and tables indented, asterisks that are products.  reStructuredText reads all three otherwise.  So
an indented block, or one with hanging lines, becomes a code block, backticks are doubled, and other
marks lose their meaning.  The sections `Args:`, `Returns:`, `Raises:` and `Attributes:` are left
to Napoleon.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

#: Characters of a default value that a signature shows.
MOST_SHOWN = 60
SECTIONS = ("Args:", "Returns:", "Raises:", "Attributes:", "Yields:")
_BACKTICKS = re.compile(r"(`+)(.+?)\1", flags=re.DOTALL)
_MARKS = re.compile(r"([*|\\_])")
_BULLET = re.compile(r"(\s*)[*-] (?=\S)")


def prepared(lines: list[str]) -> list[str]:
    """The lines of one docstring, as reStructuredText.

    Args:
        lines: the docstring, its common indentation already taken off.

    Returns:
        New lines; every paragraph, code block and section is set off by blank lines.
    """
    result: list[str] = []
    in_section = False
    for block in _blocks(lines):
        first = block[0]
        if not first.startswith(" "):
            in_section = first in SECTIONS
        if in_section:
            result += _section(block)
        elif first.startswith(" "):
            result += ["::", "", *block]
        elif any(map(_indented, block)) and not any(map(_BULLET.match, block)):
            result += ["::", "", *(f"    {line}" for line in block)]  # a table of words
        else:
            result += _paragraph(block)
        result.append("")
    return result


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines: paragraphs, and indented parts with the blank lines inside them."""
    block: list[str] = []
    for line in _without_last_blanks(lines):
        if block and _begins(line, block):
            yield _without_last_blanks(block)
            block = []
        if block or line:
            block.append(line)
    if block:
        yield _without_last_blanks(block)


def _begins(line: str, block: list[str]) -> bool:
    """Whether a line begins a new block: after a blank one, if indented text does not go on."""
    if line in SECTIONS:
        return True
    if not line:
        return False
    if block[0] in SECTIONS:
        return block[-1] == "" and not _indented(line)
    if _indented(line):
        return block[-1] == "" and not _indented(block[0])
    return block[-1] == "" or _indented(block[0])


def _indented(line: str) -> bool:
    return line.startswith(" ")


def _without_last_blanks(lines: list[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return [line.rstrip() for line in lines[:end]]


def _section(block: list[str]) -> list[str]:
    """A section for Napoleon: names as they are, descriptions escaped."""
    result = [block[0]]
    for line in block[1:]:
        name, colon, text = line.partition(": ")
        own = len(line) - len(line.lstrip()) == 4
        if own and colon:
            # With a blank after the comma, the first of two names would be taken for a type.
            result.append(f"{name.replace(', ', ',')}: {inline(text)}")
        else:
            result.append(inline(line))
    return result


def _paragraph(block: list[str]) -> list[str]:
    """A paragraph or a list; items of a list are set off, as reStructuredText wants."""
    result: list[str] = []
    for line in inline("\n".join(block), bullets=True).split("\n"):
        if _BULLET.match(line) and result and not _BULLET.match(result[-1]):
            result.append("")
        result.append(line)
    return result


def inline(text: str, bullets: bool = False) -> str:
    """Text with doubled backticks and without other marks.

    Args:
        text: one or more lines.
        bullets: whether a line may begin with a bullet, which is then kept.
    """
    parts: list[str] = []
    end = 0
    for found in _BACKTICKS.finditer(text):
        parts += [_escaped(text[end : found.start()], bullets), f"``{found.group(2)}``"]
        following = text[found.end() : found.end() + 1]
        # A mark has to end before a blank or punctuation: `Iter`s needs an invisible break.
        parts.append("\\ " if following.isalnum() else "")
        end = found.end()
    return "".join([*parts, _escaped(text[end:], bullets)])


def _escaped(text: str, bullets: bool) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        bullet = _BULLET.match(line) if bullets else None
        head = bullet.group() if bullet else ""
        lines.append(head + _MARKS.sub(r"\\\1", line[len(head) :]))
    return "\n".join(lines)


def _prepare(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    del app, name, obj, options
    if lines and lines[0].startswith("Alias for field number"):  # Python's own, of named tuples
        lines.clear()
    # Napoleon takes what stands before a colon in the first line of a value's text for its type:
    # an empty comment goes first.
    first = ["..", ""] if lines and what in ("attribute", "data", "property") else []
    lines[:] = first + prepared(lines)


def shortened(signature: str, function: Any) -> str:
    """A signature whose long default values are shown by their names, or as `...`.

    Args:
        signature: as autodoc writes it.
        function: what it is the signature of.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # not every class has one
        return signature
    space = vars(sys.modules[function.__module__])
    for parameter in parameters:
        shown = repr(parameter.default)
        if len(shown) > MOST_SHOWN:
            names = (name for name, value in space.items() if value is parameter.default)
            signature = signature.replace(shown, next(names, "..."))
    return signature


def _shorten(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, result: str
) -> tuple[str | None, str]:
    del app, what, name, options
    return (signature and shortened(signature, obj), result)


def setup(app: Any) -> dict[str, bool]:
    """Registers both steps; that of docstrings comes before Napoleon's."""
    app.connect("autodoc-process-docstring", _prepare, priority=400)
    app.connect("autodoc-process-signature", _shorten)
    return {"parallel_read_safe": True}
