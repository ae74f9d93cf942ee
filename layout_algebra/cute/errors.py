"""The error of the cute namespace.

    cute.composition(cute.Layout((4, 6, 8), (2, 3, 5)), cute.Layout(6, 3))      # raises CuteError

It is a LayoutError, and so a ValueError.
"""

from __future__ import annotations

from layout_algebra.errors import LayoutError


class CuteError(LayoutError):
    """A CuTe layout that cannot be, or an operation that is undefined for its arguments."""
