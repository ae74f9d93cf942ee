"""The laws of the inverses, as claims about a layout and what was found for it.

    inverse          Inverse(f, g); with copies LeftInverse(f, g), for each copy
    left_inverse     LeftInverse(f, g)
    right_inverse    RightInverse(f, g)
    pseudo_inverse   f(g(f(x))) = f(x)

With copies, that a place y is one of the places of g(y) is no claim: there `right_inverse` and
`pseudo_inverse` are not checked, nor is a FiniteInverse, which is a search and no map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layout_algebra.algebra.invert import FiniteInverse
from layout_algebra.claims import (
    Claim,
    Equivalent,
    Inverse,
    LeftInverse,
    RightInverse,
    as_map,
)

Inputs = dict[str, Any]


def inverted(result: Any, inputs: Inputs) -> Claim | None:
    """g(f(x)) = x, and f(g(y)) = y on g's domain where f has one place for each element."""
    if isinstance(result, FiniteInverse):
        return None
    layout = inputs["layout"]
    return LeftInverse(layout, result) if layout.replica else Inverse(layout, result)


def left_inverted(result: Any, inputs: Inputs) -> Claim:
    """g(f(x)) = x for each copy."""
    return LeftInverse(inputs["layout"], result)


def right_inverted(result: Any, inputs: Inputs) -> Claim | None:
    """f(g(y)) = y; not checked with copies."""
    layout = inputs["layout"]
    return None if layout.replica else RightInverse(layout, result)


def pseudo_inverted(result: Any, inputs: Inputs) -> Claim | None:
    """f(g(f(x))) = f(x), all of f's elements being in the domain; not checked with copies."""
    layout = inputs["layout"]
    if isinstance(result, FiniteInverse) or layout.replica:
        return None
    f = as_map(layout)
    return Equivalent(f, f.after(as_map(result).after(f)))


#: The laws by the operation's name.
INVERSE_LAWS: dict[str, Callable[[Any, Inputs], Claim | None]] = {
    "inverse": inverted,
    "left_inverse": left_inverted,
    "right_inverse": right_inverted,
    "pseudo_inverse": pseudo_inverted,
}
