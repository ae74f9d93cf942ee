"""The claim about a composite."""

from __future__ import annotations

from dataclasses import dataclass

from layout_algebra.claims.base import Claim, Dims, Subject, as_map, check_subject
from layout_algebra.claims.pairs import Equivalent
from layout_algebra.errors import ClaimError, CoordinateError
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class Composition(Claim):
    """result(x) = outer(inner(x)) for every element x of inner, copies of both included.

    inner's places are put in as outer's coordinates: by axis name, or, from a single axis, as the
    flat index.  The claim is false where inner leaves outer's domain; where only
    some copies of an element do, it cannot be asked.
    """

    outer: Subject
    inner: Subject
    result: Subject

    def __post_init__(self) -> None:
        for one in (self.outer, self.inner, self.result):
            check_subject(self.name, one)
        try:
            as_map(self.outer).after(as_map(self.inner))
        except CoordinateError as error:
            raise ClaimError(f"{self.name}: {error}") from error

    def subjects(self) -> tuple[Subject, ...]:
        return (self.outer, self.inner, self.result)

    def parts(self) -> tuple[Claim, ...]:
        return (Equivalent(self.result, as_map(self.outer).after(as_map(self.inner))),)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        return self.parts()[0].counterexample(dims)
