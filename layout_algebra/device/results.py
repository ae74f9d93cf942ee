"""What an exhaustive check is, what it costs, and what it answers.

result = check(claim)
result.verdict, result.witness, result.elements, result.seconds, result.rate
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layout_algebra.claims.base import Claim
from layout_algebra.device.runner import Runner
from layout_algebra.dims import evaluate
from layout_algebra.errors import LayoutAlgebraError, WitnessError
from layout_algebra.maps import Map
from layout_algebra.terms import Var
from layout_algebra.verdicts import Verdict, Witness

Dims = Mapping[str, int]


class CheckError(LayoutAlgebraError, MemoryError):
    """A check that needs more memory than it may take."""


@dataclass(frozen=True)
class Cost:
    """What a check will take.

    Attributes:
        elements: places, or lanes of accesses, that it looks at at least once.
        memory: bytes of its arrays.
        method: how it works.
    """

    elements: int
    memory: int
    method: str

    def __str__(self) -> str:
        return f"{self.elements:,} elements, {self.memory:,} bytes, {self.method}"


@dataclass(frozen=True)
class Task:
    """A check that is ready to run: `run` gives the counterexample, or None."""

    cost: Cost
    run: Callable[[Runner], Witness | None]


@dataclass(frozen=True)
class CheckResult:
    """The answer of a check.

    Attributes:
        claim: what was asked.
        verdict: PROVED or REFUTED, by every element.
        cost: what was looked at, and how.
        seconds: the time of the loops.
        compile_seconds: the time to make them.
        witness: the counterexample, replayed by the claim.
    """

    claim: Claim
    verdict: Verdict
    cost: Cost
    seconds: float
    compile_seconds: float
    witness: Witness | None = None

    @property
    def elements(self) -> int:
        """Places, or lanes of accesses, that were looked at."""
        return self.cost.elements

    @property
    def rate(self) -> float:
        """Elements a second, without the time to compile."""
        return self.elements / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        text = (
            f"{self.verdict} {self.claim}  [{self.cost.method}: {self.elements:,} elements, "
            f"{self.seconds:.3f} s, {self.rate / 1e6:,.0f} million a second]"
        )
        return text if self.witness is None else f"{text}\n  {self.witness}"


def evaluated(f: Map, dims: Dims) -> Map:
    """The map with numbers for its Dims."""
    return f.evaluated(**dims) if dims and f.is_symbolic else f


def point_of(f: Map, flat: int, dims: Dims, order: Sequence[str] | None = None) -> dict[Var, int]:
    """The values of a map's variables for a flat index.

    Args:
        f: the map.
        flat: the index.
        dims: the values of its Dims.
        order: the names of the variables, the first varies slowest; by default the coordinates and
            then the replicas.
    """
    every = {variable.name: variable for variable in (*f.coordinates, *f.replicas)}
    point: dict[Var, int] = {}
    for name in reversed(tuple(every) if order is None else order):
        variable = every[name]
        low, high = (evaluate(_bound(v), dims) for v in (variable.low, variable.high))
        flat, digit = divmod(flat, high - low + 1)
        point[variable] = low + digit
    return point


def replayed(witness: Witness | None, claim: Claim, about: str) -> Witness:
    """The counterexample, if integers agree that it is one.

    Raises:
        WitnessError: they do not.
    """
    if witness is None:
        raise WitnessError(
            f"compiled code refutes {claim} by {about}, and the integer interpreter does not: a "
            "fault in layout_algebra"
        )
    return witness


def _bound(value: Any) -> Any:
    return 0 if value is None else value
