"""The kernels of a claim: every map that it speaks of, at a few values of its Dims.

    subjects, about = subjects_of(statement, most=1 << 20)
    subjects[0].kernel.source                 # what is compiled, simulated or launched
    about                                     # '2 kernels at 3 values of M, N'

A map that no kernel is made of (symbolic beyond the samples, unbounded, beyond 64 bits) is a reason
not to check the claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from layout_algebra.arithmetic import integers
from layout_algebra.claims import Claim
from layout_algebra.claims.accesses import AccessClaim
from layout_algebra.crosschecks.results import NotCheckedError
from layout_algebra.crosschecks.sampling import PLACES, SAMPLES, at_values, sampled
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.kernels import Kernel, kernel_of
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.maps import Map
from layout_algebra.terms import Var

#: What every kernel of a claim is called, with its number.
NAME = "place"


@dataclass(frozen=True)
class Subject:
    """One map of a claim, with numbers for its Dims, and its kernel."""

    map: Map
    kernel: Kernel


def subjects_of(statement: Statement, most: int) -> tuple[list[Subject], str]:
    """The maps of a claim with their kernels, each once; and how many, of what.

    Args:
        statement: the claim.
        most: elements that all of them may have together.

    Raises:
        NotCheckedError: no values of the Dims, a map that has no kernel, or too many elements.
    """
    samples = sampled(statement.claim, statement.given, min(PLACES, most // SAMPLES))
    if not samples:
        raise NotCheckedError("no small values of its Dims were found that fulfil what is given")
    maps: dict[Map, None] = {}
    for dims in samples:
        for f in _maps(statement.claim):
            maps.setdefault(f.evaluated(**dims) if f.is_symbolic else f)
    try:
        found = [Subject(f, kernel_of(f, name=f"{NAME}{k}")) for k, f in enumerate(maps)]
    except LayoutAlgebraError as error:
        raise NotCheckedError(" ".join(str(error).split())) from error
    total = sum(one.kernel.size for one in found)
    if total > most:
        raise NotCheckedError(
            f"its maps have {total:,} elements, more than the {most:,} that may be looked at: "
            "--elements gives it more"
        )
    kept = [one for one in found if one.kernel.outputs]
    if not kept:
        raise NotCheckedError("its maps have no axis: there is nothing to store")
    many = "1 kernel" if len(kept) == 1 else f"{len(kept)} kernels"
    return kept, f"{many} {at_values(samples)}".strip()


def _maps(claim: Claim) -> Iterator[Map]:
    """The maps of a claim; of an access, from a lane and an element to its bit."""
    if isinstance(claim, AccessClaim):
        yield claim.access.elements
        return
    yield from claim.maps()


def points(f: Map) -> Iterator[tuple[dict[Var, int], bool]]:
    """Every element and copy of a map, in the order of its kernel; whether it is in the domain."""
    whole = Map((*f.coordinates, *f.replicas), f.outputs)
    for point in whole.points():
        yield point, f.admits(point)


def place(f: Map, point: Mapping[Var, int]) -> tuple[int, ...]:
    """Where an element is, by the integer interpreter."""
    return tuple(integers.values_of((term for _, term in f.outputs), point))
