"""The base of all claims, conjunctions, and what a claim can be about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

from layout_algebra.dims import Relation, Size, Symbol, evaluate
from layout_algebra.errors import ClaimError
from layout_algebra.maps import Map
from layout_algebra.questions import Question
from layout_algebra.semantics import layout_map
from layout_algebra.terms import Var
from layout_algebra.values import Swizzled, Tile
from layout_algebra.verdicts import Witness

Subject: TypeAlias = Tile | Swizzled | Map
Point: TypeAlias = Mapping[Var, int]
Dims: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Claim:
    """Base of all claims; `a & b` claims both."""

    def __and__(self, other: object) -> All:
        if not isinstance(other, Claim):
            return NotImplemented
        # a claim with parts of its own stays whole: its parts may be proven from each other
        sides = [one.claims if isinstance(one, All) else (one,) for one in (self, other)]
        return All((*sides[0], *sides[1]))

    @property
    def name(self) -> str:
        return type(self).__name__

    def subjects(self) -> tuple[Subject, ...]:
        raise NotImplementedError

    def parts(self) -> tuple[Claim, ...]:
        """The claims that this one is the conjunction of; empty for a single claim."""
        return ()

    def assuming(self, relations: Sequence[Relation]) -> Self:
        """The claim where relations hold that it keeps as conditions of its own variables.

        Relations of the Dims in the claim are assumed by the questions; an access has its Dims as
        variables, and takes relations into its guard.
        """
        del relations
        return self

    def maps(self) -> tuple[Map, ...]:
        return tuple(as_map(subject) for subject in self.subjects())

    def symbols(self) -> frozenset[Symbol]:
        """The Dims that the claim is about."""
        found: frozenset[Symbol] = frozenset()
        for one in self.maps():
            found |= one.symbols()
        return found

    def is_symbolic(self) -> bool:
        """Whether it is about any Dims."""
        return any(subject.symbols() for subject in self.subjects())

    def divisors(self) -> frozenset[Size]:
        """The symbolic sizes that it divides by."""
        found: frozenset[Size] = frozenset()
        for one in self.maps():
            found |= one.divisors()
        return found

    def questions(self) -> tuple[Question, ...] | None:
        """The negation: the claim holds when no question has an answer.  None: not expressible."""
        raise NotImplementedError

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        """The counterexample that an answer describes, recomputed; None if it is none."""
        raise NotImplementedError

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        """The claim's meaning by enumeration: a counterexample, or None when it holds.

        Raises:
            CoordinateError: the domain is not finite, or too large for 62-bit arithmetic.
        """
        raise NotImplementedError

    def work(self, dims: Dims | None = None) -> int:
        """Places that `counterexample` looks at."""
        return sum(evaluate(one.size * one.copies, dims or {}) for one in self.maps())

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(subject) for subject in self.subjects())})"


@dataclass(frozen=True)
class All(Claim):
    """A conjunction; made by `&`."""

    claims: tuple[Claim, ...]

    def subjects(self) -> tuple[Subject, ...]:
        return tuple(subject for claim in self.claims for subject in claim.subjects())

    def parts(self) -> tuple[Claim, ...]:
        return self.claims

    def assuming(self, relations: Sequence[Relation]) -> Self:
        return replace(self, claims=tuple(claim.assuming(relations) for claim in self.claims))

    def symbols(self) -> frozenset[Symbol]:
        return frozenset(symbol for claim in self.claims for symbol in claim.symbols())

    def is_symbolic(self) -> bool:
        return any(claim.is_symbolic() for claim in self.claims)

    def divisors(self) -> frozenset[Size]:
        return frozenset(size for claim in self.claims for size in claim.divisors())

    def work(self, dims: Dims | None = None) -> int:
        return sum(claim.work(dims) for claim in self.claims)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        return first_counterexample(self.claims, dims)

    def __str__(self) -> str:
        return " & ".join(str(claim) for claim in self.claims)


def first_counterexample(claims: tuple[Claim, ...], dims: Dims | None) -> Witness | None:
    """The first part's counterexample that enumeration finds."""
    for claim in claims:
        found = claim.counterexample(dims)
        if found is not None:
            return found
    return None


def as_map(subject: Subject) -> Map:
    """The Map of a subject."""
    return subject if isinstance(subject, Map) else layout_map(subject)


def check_subject(claim: str, subject: object) -> None:
    """Raises ClaimError unless the subject is a layout or a Map."""
    if not isinstance(subject, Tile | Swizzled | Map):
        hint = ""
        if type(subject).__module__.startswith("layout_algebra.cute"):
            hint = "; a CuTe layout becomes one by cute.to_tile or cute.as_map"
        elif callable(subject):
            hint = "; a formula becomes one by Map.of(callable, shape)"
        elif isinstance(subject, str):
            hint = "; text becomes one by parse(text)"
        elif hasattr(subject, "tile_parts"):
            hint = "; S[...] becomes one by TileLayout(S[...])"
        raise ClaimError(f"{claim} is about a layout or a Map; got {subject!r}{hint}")
