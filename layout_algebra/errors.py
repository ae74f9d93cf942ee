"""Every error that the library raises on purpose.

All of them derive from `LayoutAlgebraError`, and from the built-in error that a caller would
expect (`ValueError`, `TypeError`, ...), so both `except ValueError` and
`except LayoutAlgebraError` work.  A message says what was given, what was expected, and where.
"""

from __future__ import annotations


class LayoutAlgebraError(Exception):
    """Base of all errors of this library."""


class AxisError(LayoutAlgebraError, ValueError):
    """An axis name that is not registered, or a registration that contradicts an earlier one."""


class DimError(LayoutAlgebraError, ValueError):
    """A symbolic size that cannot exist, or arithmetic on sizes that is not exact."""


class LayoutError(LayoutAlgebraError, ValueError):
    """Extents, strides, offsets or swizzle parameters that do not make a layout."""


class CoordinateError(LayoutAlgebraError, ValueError):
    """A coordinate or a shape that does not fit the layout it is used with."""


class TraceError(LayoutAlgebraError, TypeError):
    """A Python callable that cannot be traced into a map (it branches on a symbol, ...)."""


class ClaimError(LayoutAlgebraError, ValueError):
    """A claim that makes no sense for its subjects: sizes that differ, axes that are missing."""


class NotProvedError(LayoutAlgebraError, AssertionError):
    """`assert_proved` was given a claim that is refuted, undecided or vacuous."""


class WitnessError(LayoutAlgebraError, RuntimeError):
    """A counterexample did not replay through the integer interpreter: a fault in this library."""


class LedgerError(LayoutAlgebraError, ValueError):
    """A ledger file that cannot be read, or that does not follow its schema."""


class MissingSolverError(LayoutAlgebraError, ImportError):
    """A second solver was asked for and none is installed."""


#: Characters of a text that an error shows.
MOST_SHOWN = 100


def _excerpt(text: str, column: int | None) -> tuple[str, int | None]:
    """The part of a long text around a column, and where the column is in it."""
    if len(text) <= MOST_SHOWN:
        return text, column
    start = max(0, min((column or 0) - MOST_SHOWN // 2, len(text) - MOST_SHOWN))
    before = "..." if start > 0 else ""
    after = "..." if start + MOST_SHOWN < len(text) else ""
    place = None if column is None else column - start + len(before)
    return f"{before}{text[start : start + MOST_SHOWN]}{after}", place


class NotationError(LayoutAlgebraError, ValueError):
    """Text that is not a layout; shows the text with a caret under the place.

    `column` counts characters from 0; without it no caret is drawn.
    """

    def __init__(self, message: str, text: str | None = None, column: int | None = None) -> None:
        self.reason = message
        self.text = text
        self.column = column
        shown = message
        if text is not None and "\n" not in text:
            line, place = _excerpt(text, column)
            shown += f"\n  {line}"
            if place is not None and 0 <= place <= len(line):
                shown += f"\n  {' ' * place}^"
        super().__init__(shown)

    def __reduce__(self) -> tuple[type[NotationError], tuple[str, str | None, int | None]]:
        return (NotationError, (self.reason, self.text, self.column))
