"""Values that show themselves in a notebook: the base class that asks `display` how.

    class Proof(Shown): ...

It lies below everything, since layouts, maps and proofs do; what it asks lies above.  So `display`
is named, not imported: it is loaded when a notebook asks for a picture, and never otherwise.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module


class Shown:
    """Base of values with a picture."""

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Media type -> the value in that form, as IPython asks for it."""
        return import_module("layout_algebra.display").mimebundle(self, include, exclude)
