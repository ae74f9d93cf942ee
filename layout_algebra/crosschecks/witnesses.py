"""Counterexamples that a ledger has recorded, put to their claims again.

    replays(claim, entry.witness)         # True: it refutes the claim; False: it does not

The record names the elements' coordinates; the claim's own meaning, on exact integers, says whether
they refute it.  None: the record does not say enough to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from layout_algebra.claims import Claim, Covers, ReplicasDistinct
from layout_algebra.claims.accesses import AccessClaim
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.maps import Map, Place
from layout_algebra.memory import banks
from layout_algebra.terms import Var, var

#: Elements, or copies, that are looked at to replay what speaks of all of them.
MOST = 1 << 16

Record = Mapping[str, Any]


def replays(claim: Claim, record: Record) -> bool | None:
    """Whether a recorded witness refutes a claim, or one of its parts."""
    found = [_replays(part, record) for part in _leaves(claim)]
    if True in found:
        return True
    return None if None in found else False


def _leaves(claim: Claim) -> Iterator[Claim]:
    parts = claim.parts()
    if not parts:
        yield claim
    for part in parts:
        yield from _leaves(part)


def _replays(claim: Claim, record: Record) -> bool | None:
    dims: dict[str, int] = dict(record["dims"])
    points: Sequence[Mapping[str, int]] = record["points"]
    try:
        if isinstance(claim, AccessClaim):
            return _access(claim, points)
        if isinstance(claim, Covers):
            return _uncovered(claim, record["places"], dims)
        if isinstance(claim, ReplicasDistinct):
            return _same_place(claim, points, dims)
        return claim.witness(_point(claim, points), dims) is not None
    except (LayoutAlgebraError, KeyError):
        return None  # the record is of another part, or its Dims are not all there


def _point(claim: Claim, points: Sequence[Mapping[str, int]]) -> dict[Var, int]:
    """The recorded coordinates as variables: the second element's have a prime."""
    found: dict[Var, int] = {}
    for suffix, values in zip(("", "'"), points, strict=False):
        for f in claim.maps():
            for variable in (*f.coordinates, *f.replicas):
                if variable.name in values:
                    named = var(variable.name + suffix, variable.low, variable.high)
                    found[named] = values[variable.name]
    return found


def _access(claim: AccessClaim, points: Sequence[Mapping[str, int]]) -> bool | None:
    """The same values of the Dims, at every base that makes a difference."""
    names = {free.name for free in claim.access.free}
    given = points[0] if points else {}
    if not names <= set(given):
        return None
    at = banks.point_of(claim.access, {name: given[name] for name in names})
    return any(claim.wrong_at(at, base) is not None for base in claim.base_classes())


def _uncovered(claim: Covers, places: Sequence[Place], dims: dict[str, int]) -> bool | None:
    """Whether no element is at the recorded place."""
    if len(places) != 1 or claim.work(dims) > MOST:
        return None
    (f,) = claim.maps()
    wanted = _nonzero(places[0])
    return all(wanted != _nonzero(place) for place in _every_place(f, dims))


def _same_place(
    claim: ReplicasDistinct, points: Sequence[Mapping[str, int]], dims: dict[str, int]
) -> bool | None:
    """Whether two copies of the recorded element are at one place; the copies are not recorded."""
    (f,) = claim.maps()
    if not points:
        return None
    at = {variable: points[0][variable.name] for variable in f.coordinates}
    places = [_nonzero(place) for place in islice(f.places_at(at, dims), MOST)]
    return len(set(places)) < len(places)


def _every_place(f: Map, dims: dict[str, int]) -> Iterator[Place]:
    for point in f.points(dims):
        yield from f.places_at(point, dims)


def _nonzero(place: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset((axis, value) for axis, value in place.items() if value)
