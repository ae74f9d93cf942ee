"""The error of the synthesis package.

    find_swizzle(buffer, reads=[])      # raises SynthesisError: there is nothing to serve

It is a LayoutError, and so a ValueError.
"""

from __future__ import annotations

from layout_algebra.errors import LayoutError


class SynthesisError(LayoutError):
    """A problem without a candidate, or one that is too large to look at every value."""
