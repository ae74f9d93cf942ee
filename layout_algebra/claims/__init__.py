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
    BankConflictFree(access)    no two lanes want different words of one bank at once
    ConflictDegree(access, k)   no bank gives more than k words in one phase
    Wavefronts(access, n)       at most n wavefronts in all
    Coalesced(access, n)        at most n sectors of global memory
    Vectorizable(access)        a lane's elements are one aligned run
    NoWriteRace(access)         no byte is written by two lanes
    Matches(access, fragment)   what a load deals out is what the fragment wants
    a & b                       all of them

A box gives for each axis a size, or a pair (low, high) with the high end outside, as in Python;
axes that it does not name must be 0.  Limits are written the same way, and axes without a limit are
free.  Dims may occur anywhere: the claim is then about every value of them for which the layouts
exist.

A claim knows three things about itself: its negation as questions over terms, how to read an
answer as a counterexample, and its meaning by enumeration.  It does not know any solver.
"""

from __future__ import annotations

from layout_algebra.claims.banks import BankConflictFree, ConflictDegree, Wavefronts
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
from layout_algebra.claims.vectors import Coalesced, Matches, NoWriteRace, Vectorizable

__all__ = [
    "CLAIMS",
    "All",
    "BankConflictFree",
    "Bijective",
    "Claim",
    "Coalesced",
    "Composition",
    "ConflictDegree",
    "Covers",
    "Dims",
    "Disjoint",
    "Empty",
    "Equivalent",
    "Injective",
    "Inverse",
    "LeftInverse",
    "Matches",
    "NoWriteRace",
    "Point",
    "ReplicasDistinct",
    "RightInverse",
    "Subject",
    "Vectorizable",
    "Wavefronts",
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
        BankConflictFree,
        ConflictDegree,
        Wavefronts,
        Coalesced,
        Vectorizable,
        NoWriteRace,
        Matches,
    )
}
