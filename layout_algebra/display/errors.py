"""Errors of pictures."""

from __future__ import annotations

from layout_algebra.errors import LayoutAlgebraError


class DisplayError(LayoutAlgebraError, ValueError):
    """A value that has no picture, or an option that its picture does not take."""
