"""Errors of running code on a device."""

from __future__ import annotations

from layout_algebra.errors import LayoutAlgebraError


class UnavailableError(LayoutAlgebraError, RuntimeError):
    """A device, or what is needed to use it, that is not here."""


class LaunchError(LayoutAlgebraError, RuntimeError):
    """A kernel that a device does not run, or memory that it does not give."""
