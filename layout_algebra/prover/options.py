"""How to prove: the route, a query's budget, how far to enumerate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from layout_algebra.prover.solve import Budget

Method = Literal["auto", "structure", "solver", "enumeration"]

#: Places that enumeration looks at before it gives up.
MOST_PLACES = 1 << 24
#: For symbolic sizes: how many values of the Dims are tried before the solver, and after it gave
#: up, and the places that each may have.
FIRST_SIZES, MORE_SIZES, SMALL_PLACES = 4, 60, 1 << 13


DEFAULT_BUDGET = Budget()
#: Where so many places at most would be enumerated next, the solver gets less.
SOONER = (
    (1 << 12, Budget(rlimit=250_000, seconds=0.4)),
    (1 << 16, Budget(rlimit=1_000_000, seconds=1.0)),
    (1 << 20, Budget(rlimit=3_000_000, seconds=2.0)),
    (1 << 24, Budget(rlimit=8_000_000, seconds=4.0)),
)


@dataclass(frozen=True)
class Options:
    """How to prove: which route, the budget of a query, and how far to enumerate."""

    method: Method = "auto"
    budget: Budget = DEFAULT_BUDGET
    most_places: int = MOST_PLACES
