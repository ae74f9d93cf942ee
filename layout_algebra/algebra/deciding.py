"""Conditions on sizes: who decides them.

Operations ask three things of sizes: are two equal, does one divide another, is one at least so
much.  On numbers the answer is arithmetic.  On Dims the default answers by structure, which is
exact for equality of polynomials, and says no where intervals and exact division do not tell.
Another `Decide` (the prover's) answers by proof; "not provable" counts as no.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from layout_algebra.dims import Size, Symbol, at_least, divide_exactly, positive_symbols
from layout_algebra.errors import LayoutError


class Decide(Protocol):
    """What an operation may ask of sizes; every yes must hold for all values of the Dims."""

    def equal(self, a: Size, b: Size) -> bool:
        """Whether a == b."""
        ...

    def quotient(self, n: Size, d: Size) -> Size | None:
        """n / d where d divides n, else None."""
        ...

    def at_least(self, size: Size, least: int) -> bool:
        """Whether size >= least."""
        ...


@dataclass(frozen=True)
class Structurally:
    """Decides by the form of the polynomials; `positive` are symbols known to be at least 1."""

    positive: frozenset[Symbol] = frozenset()

    def equal(self, a: Size, b: Size) -> bool:
        return a == b

    def quotient(self, n: Size, d: Size) -> Size | None:
        if isinstance(n, int) and isinstance(d, int):
            return n // d if d > 0 and n % d == 0 else None
        return divide_exactly(n, d)

    def at_least(self, size: Size, least: int) -> bool:
        return size >= least if isinstance(size, int) else at_least(size, least, self.positive)


#: The default.
STRUCTURALLY = Structurally()


def checked_decide(decide: object) -> Decide | None:
    """The argument, if it can be asked what operations ask, or None for the default.

    Raises:
        LayoutError: it lacks one of the three methods.
    """
    if decide is None:
        return None
    missing = [
        name
        for name in ("equal", "quotient", "at_least")
        if not callable(getattr(decide, name, None))
    ]
    if missing or isinstance(decide, type):
        raise LayoutError(
            "decide= is an object with the methods equal, quotient and at_least, or None; got "
            f"{decide!r}"
        )
    return decide  # type: ignore[return-value]


def knowing_extents(extents: Iterable[Size]) -> Structurally:
    """The default, knowing that these sizes are extents and so at least 1."""
    symbolic = [extent for extent in extents if not isinstance(extent, int)]
    return Structurally(positive_symbols(symbolic)) if symbolic else STRUCTURALLY
