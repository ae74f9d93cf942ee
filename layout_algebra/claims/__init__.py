"""What can be asked: small frozen values over layouts and Maps.

    Injective(f)                no two logical elements share a place, copies included
    ReplicasDistinct(f)         the copies of one element are at different places
    Covers(f, box)              every place of the box is used
    WithinBounds(f, limits)     every place is inside the limits
    Bijective(f, box)           inside the box, every place of it used exactly once
    Equivalent(f, g)            the same map from the flat index to the set of places
    Disjoint(f, g)              no place of f is a place of g
    Empty(f)                    no coordinate is in f's domain: its guard cannot hold
    LeftInverse(f, g)           g(f(x)) = x on f's whole domain
    RightInverse(f, g)          f(g(y)) = y on g's whole domain
    Inverse(f, g)               both
    Composition(f, g, h)        h(x) = f(g(x))
    a & b                       all of them

A box gives for each axis a size, or a pair (low, high) with the high end outside, as in Python;
axes that it does not name must be 0.  Limits are written the same way, and axes without a limit are
free.  Dims may occur anywhere: the claim is then about every value of them for which the layouts
exist.

A claim knows three things about itself: its negation as questions over terms, how to read an
answer as a counterexample, and its meaning by enumeration.  It does not know any solver.
"""

from __future__ import annotations

from layout_algebra.claims.base import All, Claim, Dims, Point, Subject, as_map
from layout_algebra.claims.compositions import Composition
from layout_algebra.claims.inverses import Inverse, LeftInverse, RightInverse
from layout_algebra.claims.pairs import Disjoint, Equivalent
from layout_algebra.claims.places import (
    Bijective,
    Covers,
    Empty,
    Injective,
    ReplicasDistinct,
    WithinBounds,
)

__all__ = [
    "CLAIMS",
    "All",
    "Bijective",
    "Claim",
    "Composition",
    "Covers",
    "Dims",
    "Disjoint",
    "Empty",
    "Equivalent",
    "Injective",
    "Inverse",
    "LeftInverse",
    "Point",
    "ReplicasDistinct",
    "RightInverse",
    "Subject",
    "WithinBounds",
    "as_map",
]

#: Every kind of claim by name.
CLAIMS: dict[str, type[Claim]] = {
    kind.__name__: kind
    for kind in (
        Injective,
        ReplicasDistinct,
        Covers,
        WithinBounds,
        Bijective,
        Empty,
        Equivalent,
        Disjoint,
        LeftInverse,
        RightInverse,
        Inverse,
        Composition,
    )
}
