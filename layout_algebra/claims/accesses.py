"""The base of the claims about memory accesses.

They speak of every value of the access' free variables and of every base address that the buffer's
alignment allows (below 2^28 bytes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from layout_algebra import terms
from layout_algebra.claims.base import Claim, Dims, Point, Subject
from layout_algebra.conditions import Condition, differs
from layout_algebra.dims import Relation
from layout_algebra.errors import ClaimError
from layout_algebra.folding import substitute
from layout_algebra.memory import banks
from layout_algebra.memory.accesses import BIT, MOST_ADDRESS, Access
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import Term, Var
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class AccessClaim(Claim):
    """Base of the claims about one access."""

    access: Access

    def __post_init__(self) -> None:
        if not isinstance(self.access, Access):  # type: ignore[redundant-expr]
            raise ClaimError(
                f"{self.name} is about an access, like buffer.read(lambda lane: ...); "
                f"got {self.access!r}"
            )

    def subjects(self) -> tuple[Subject, ...]:
        return (self.access.elements,)

    def assuming(self, relations: Sequence[Relation]) -> Self:
        return replace(self, access=self.access.assuming(relations))

    def work(self, dims: Dims | None = None) -> int:
        return banks.count_points(self.access) * self.access.lanes

    def __str__(self) -> str:
        return f"{self.name}({self.access})"

    # -- pieces of questions ------------------------------------------------------------------
    def lanes(self, count: int) -> list[Var]:
        low, high = self.access.lane.low, self.access.lane.high
        return [terms.var(f"lane{k}", low, high) for k in range(count)]

    def base(self) -> Term:
        """The buffer's first bit."""
        most = MOST_ADDRESS // self.access.align
        return terms.scale(terms.var("base", 0, most - 1), 8 * self.access.align)

    def first_bit(self, lane: Var) -> Term:
        """Where a lane's access begins, from the start of memory."""
        address = self.access.address
        own = substitute(address.output(BIT), {self.access.lane: lane})
        return terms.add(own, self.base())

    def is_active(self, lane: Var) -> list[Clause]:
        return [
            (Condition(c.kind, substitute(c.term, {self.access.lane: lane})),)
            for c in self.access.address.guard
        ]

    def misaligned(self) -> list[Question]:
        """A lane whose address is no multiple of what it moves: the hardware refuses it."""
        bits = self.access.bits
        if not banks.is_aligned_width(bits):
            return []
        (lane,) = self.lanes(1)
        rest = terms.mod(self.first_bit(lane), bits)
        clauses = [*self.is_active(lane), (differs(rest, 0),)]
        return [question("a lane's address is not aligned to its access", clauses)]

    # -- reading answers ----------------------------------------------------------------------
    def free_at(self, point: Point) -> dict[Var, int]:
        return {
            v: point.get(v, int(v.low or 0))  # type: ignore[arg-type]
            for v in self.access.variables
        }

    def base_at(self, point: Point) -> int:
        return 8 * self.access.align * next((n for v, n in point.items() if v.name == "base"), 0)

    def values(self, at: Point) -> dict[str, int]:
        """The Dims' values."""
        return {free.name: at[free.variable] * free.multiple for free in self.access.free}

    def told(self, at: Point, base_bit: int) -> str:
        """Where it happens: the free variables' values, and the base if it is not 0."""
        parts = [f"{name} = {value}" for name, value in self.values(at).items()]
        if base_bit:
            parts.append(f"base = {base_bit // 8}")
        return f" (at {', '.join(parts)})" if parts else ""

    def misaligned_at(self, at: Point, base_bit: int) -> Witness | None:
        bits = self.access.bits
        if not banks.is_aligned_width(bits):
            return None
        for lane, bit in banks.lane_bits(self.access, at):
            if (bit + base_bit) % bits:
                byte = (bit + base_bit) // 8
                return Witness(
                    f"lane {lane} moves {bits // 8} bytes at byte {byte}, which is not aligned to "
                    f"them{self.told(at, base_bit)}",
                    ({"lane": lane, **self.values(at)},),
                    ({"byte": byte},),
                )
        return None

    def base_classes(self) -> Sequence[int]:
        """Base addresses, in bits, that enumeration looks at."""
        return [0]

    def wrong_at(self, at: Point, base_bit: int) -> Witness | None:
        """The counterexample at one point, if there is one."""
        raise NotImplementedError

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        return self.wrong_at(self.free_at(point), self.base_at(point))

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        for at in banks.points(self.access):
            for base_bit in self.base_classes():
                found = self.wrong_at(at, base_bit)
                if found is not None:
                    return found
        return None


def check_count(claim: str, count: object) -> None:
    if type(count) is not int or count < 1:
        raise ClaimError(f"{claim}: at most a positive number; got {count!r}")
