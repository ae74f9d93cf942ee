"""Claims about what one lane moves, and about lanes together: vectors, sectors, races, matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Protocol, Self

from layout_algebra import terms
from layout_algebra.arithmetic import integers
from layout_algebra.claims.accesses import AccessClaim, check_count
from layout_algebra.claims.base import Claim, Dims, Point, Subject, first_counterexample
from layout_algebra.claims.inverses import LeftInverse
from layout_algebra.conditions import at_most, differs
from layout_algebra.dims import Relation
from layout_algebra.errors import ClaimError
from layout_algebra.folding import substitute
from layout_algebra.maps import Map
from layout_algebra.memory import banks
from layout_algebra.memory.accesses import BIT, Access
from layout_algebra.memory.targets import NVIDIA, MemoryTarget
from layout_algebra.questions import Question, question
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class Coalesced(AccessClaim):
    """The lanes together touch at most so many sectors of global memory."""

    sectors: int
    target: MemoryTarget = field(default=NVIDIA, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.name, self.sectors)
        if not isinstance(self.target, MemoryTarget):  # type: ignore[redundant-expr]
            raise ClaimError(f"{self.name}: the target is a MemoryTarget; got {self.target!r}")
        if self.access.scope != "global":
            raise ClaimError(
                f"sectors are of global memory; the buffer is in {self.access.scope} memory"
            )

    def _sector(self) -> int:
        return 8 * self.target.sector_bytes

    def questions(self) -> tuple[Question, ...] | None:
        bits = self.access.bits
        if bits & (bits - 1) or bits > self._sector():
            return None  # a lane may touch several sectors: looked at one by one
        if self.sectors >= self.access.lanes:
            return tuple(self.misaligned())
        lanes = self.lanes(self.sectors + 1)
        touched = [terms.floordiv(self.first_bit(lane), self._sector()) for lane in lanes]
        clauses = [clause for lane in lanes for clause in self.is_active(lane)]
        clauses += [(at_most(terms.add(a, terms.const(1)), b),) for a, b in pairwise(touched)]
        about = f"lanes in {self.sectors + 1} different sectors"
        return (*self.misaligned(), question(about, clauses))

    def base_classes(self) -> Sequence[int]:
        return range(0, self._sector(), 8 * self.access.align) or [0]

    def work(self, dims: Dims | None = None) -> int:
        return super().work(dims) * len(self.base_classes())

    def wrong_at(self, at: Point, base_bit: int) -> Witness | None:
        found = self.misaligned_at(at, base_bit)
        if found is not None:
            return found
        touched: dict[int, int] = {}
        for lane, bit in banks.lane_bits(self.access, at):
            first = base_bit + bit
            last = first + self.access.bits - 1
            for sector in range(first // self._sector(), last // self._sector() + 1):
                touched.setdefault(sector, lane)
        if len(touched) <= self.sectors:
            return None
        return Witness(
            f"its lanes touch {len(touched)} sectors of {self.target.sector_bytes} bytes"
            f"{self.told(at, base_bit)}",
            tuple({"lane": lane, **self.values(at)} for lane in touched.values()),
            tuple({"sector": sector} for sector in touched),
        )

    def __str__(self) -> str:
        return f"{self.name}({self.access}, at most {self.sectors} sectors)"


@dataclass(frozen=True)
class Vectorizable(AccessClaim):
    """What a lane moves is one aligned run of memory, its elements in order."""

    def questions(self) -> tuple[Question, ...]:
        access = self.access
        count = access.bits // access.element_bits
        element = access.elements.coordinates[1]
        (lane,) = self.lanes(1)
        place = substitute(access.elements.output(BIT), {access.lane: lane})
        first = substitute(place, {element: terms.const(0)})
        in_order = terms.add(first, terms.scale(element, access.element_bits))
        clauses = [*self.is_active(lane), (differs(place, in_order),)]
        found = self.misaligned()
        if count > 1:
            found.append(question("an element that does not follow the first one", clauses))
        return tuple(found)

    def base_classes(self) -> Sequence[int]:
        return range(0, max(self.access.bits, 8), 8 * self.access.align) or [0]

    def wrong_at(self, at: Point, base_bit: int) -> Witness | None:
        found = self.misaligned_at(at, base_bit)
        if found is not None:
            return found
        access = self.access
        term, element = access.elements.output(BIT), access.elements.coordinates[1]
        for lane, first in banks.lane_bits(access, at):
            for e in range(1, access.bits // access.element_bits):
                point = {**at, access.lane: lane, element: e}
                (place,) = integers.values_of([term], point)
                if place != first + e * access.element_bits:
                    own, here = first // access.element_bits, place // access.element_bits
                    return Witness(
                        f"lane {lane}: element {e} is at {here}, {here - own} after the first, "
                        f"which is at {own}{self.told(at, base_bit)}",
                        ({"lane": lane, "e": e, **self.values(at)},),
                        ({"m": own}, {"m": here}),
                    )
        return None


@dataclass(frozen=True)
class NoWriteRace(AccessClaim):
    """No two active lanes write one byte (two nibbles of one byte are one byte)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.access.kind != "write":
            raise ClaimError(f"NoWriteRace is about a write; this is a {self.access.kind}")

    def questions(self) -> tuple[Question, ...]:
        lanes = self.lanes(2)
        reach = terms.const(self.access.bits - 1)
        firsts = [self.first_bit(lane) for lane in lanes]
        begins = [terms.floordiv(first, 8) for first in firsts]
        ends = [terms.floordiv(terms.add(first, reach), 8) for first in firsts]
        clauses = [clause for lane in lanes for clause in self.is_active(lane)]
        clauses.append((at_most(terms.add(lanes[0], terms.const(1)), lanes[1]),))
        clauses += [(at_most(begins[0], ends[1]),), (at_most(begins[1], ends[0]),)]
        return (question("two lanes write one byte", clauses),)

    def wrong_at(self, at: Point, base_bit: int) -> Witness | None:
        written: dict[int, int] = {}
        for lane, bit in banks.lane_bits(self.access, at):
            first = base_bit + bit
            for byte in range(first // 8, (first + self.access.bits - 1) // 8 + 1):
                other = written.setdefault(byte, lane)
                if other != lane:
                    return Witness(
                        f"lanes {other} and {lane} both write byte {byte}{self.told(at, base_bit)}",
                        tuple({"lane": one, **self.values(at)} for one in (other, lane)),
                        ({"byte": byte},),
                    )
        return None


class HasMap(Protocol):
    """A layout with a shape of its own: an entry of the hardware catalogue."""

    def map(self) -> Map: ...


@dataclass(frozen=True)
class Matches(Claim):
    """What a collective load leaves in the lanes' registers is what a fragment wants there.

    For every element (i, j) of the fragment's shape, the place that the fragment gives it (laneid,
    m) is one at which the load puts the view's element (i, j); and every row that a lane addresses
    is one aligned run of memory.

    Args:
        access: an access whose `data` says which lane gets which element.
        fragment: an entry of the hardware catalogue, or a Map of coordinates i, j to laneid and m.
    """

    access: Access
    fragment: Map | HasMap

    def __post_init__(self) -> None:
        if not isinstance(self.access, Access) or self.access.data is None:  # type: ignore[redundant-expr]
            raise ClaimError(
                "Matches is about an access that deals elements out to lanes, like "
                f"hardware.ldmatrix('x4').read(view); got {self.access}"
            )
        if not isinstance(self.fragment, Map):  # type: ignore[redundant-expr]
            object.__setattr__(self, "fragment", Map.of(self.fragment))

    def subjects(self) -> tuple[Subject, ...]:
        return (self.access.elements, Map.of(self.fragment))

    def assuming(self, relations: Sequence[Relation]) -> Self:
        return replace(self, access=self.access.assuming(relations))

    def parts(self) -> tuple[Claim, ...]:
        data = self.access.data
        if data is None:
            raise ClaimError("the access deals no elements out")
        return (LeftInverse(Map.of(self.fragment), data), Vectorizable(self.access))

    def work(self, dims: Dims | None = None) -> int:
        return sum(part.work(dims) for part in self.parts())

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        return first_counterexample(self.parts(), dims)

    def __str__(self) -> str:
        return f"Matches({self.access}, {self.fragment})"
