"""NoLayout: the answer where a map is no layout of the class."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NoLayout:
    """Why a map is no layout of the class.

    Attributes:
        reason: one sentence, with the numbers.
        certain: whether no layout of the class is this map; False where it is only not known
            whether one is (symbolic sizes, tables that would be too large).
    """

    reason: str
    certain: bool = True


class UndecidedError(Exception):
    """Inside an operation: whether there is a layout is not known; the text says why."""
