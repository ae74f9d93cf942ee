"""`plan`: how a tensor gets from one distributed layout to another.

    from layout_algebra.planning import plan

    rows = TileLayout(S[(32, 4) : (1@laneid, 1)])
    shifted = Map.of(lambda j: rows.apply((j - 1) % 128), (128,))
    print(plan(rows, shifted))
    # Within each warp: 1 shuffle round (at least 1 is needed).
    # 0 elements stay, 96 change register, 32 change lane, 0 change warp.

A register holds one element, and a round of shuffles moves one element to each lane at most.  (Two
halves packed into one register travel together: describe the pairs as the elements then.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from layout_algebra.claims.base import Subject
from layout_algebra.planning.delivery import Delivers
from layout_algebra.planning.making import in_rounds, in_threads, through_memory
from layout_algebra.planning.movement import Movement, Round, Shared, Value
from layout_algebra.planning.moves import DISTANCES, Distance, Move, choose
from layout_algebra.planning.places import Place, PlanError, Residence, places_of
from layout_algebra.prover import prove
from layout_algebra.showing import Shown
from layout_algebra.verdicts import Proof

#: The farthest that anything has to go: nowhere, in its thread, within its warp, between warps.
Kind = Literal["nothing", "registers", "lanes", "warps"]
_KINDS: dict[Distance, Kind] = dict(
    zip(DISTANCES, ("nothing", "registers", "lanes", "warps"), strict=True)
)


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """How every element gets to its places; `plan(source, target)` makes one.

    Attributes:
        source, target: the layouts.
        moves: one for each place of the target.
        movement: the same as what threads do: renames, rounds, a trip through shared memory.
        at_least: no schedule has fewer shuffle rounds (0 where none are needed).
        minimal: whether `rounds` is known to be the fewest.
        why: the reason for `minimal`, in one sentence.
        element_bits: width of an element, where it was given.
    """

    source: Subject
    target: Subject
    moves: tuple[Move, ...]
    movement: Movement
    at_least: int
    minimal: bool
    why: str
    element_bits: int | None = None

    # -- reading ------------------------------------------------------------------------------
    @property
    def kind(self) -> Kind:
        """ "nothing", "registers", "lanes" (shuffles) or "warps" (through shared memory)."""
        farthest = max((DISTANCES.index(move.distance) for move in self.moves), default=0)
        return _KINDS[DISTANCES[farthest]]

    @property
    def counts(self) -> dict[Distance, int]:
        """How many places of the target are filled from how far; copies count each."""
        found = Counter(move.distance for move in self.moves)
        return {distance: found[distance] for distance in DISTANCES}

    @property
    def first(self) -> dict[Distance, Move]:
        """The first move of each distance that there is."""
        found: dict[Distance, Move] = {}
        for move in self.moves:
            found.setdefault(move.distance, move)
        return found

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The shuffles, in order; all warps at once."""
        return self.movement.rounds

    @property
    def shared(self) -> Shared | None:
        """The trip through shared memory, where warps exchange elements."""
        return self.movement.shared

    @property
    def renames(self) -> tuple[tuple[Place, Place], ...]:
        """(place of the source, place of the target) where a thread takes another register."""
        return tuple((one, two) for one, two in self.movement.local if one != two)

    @property
    def bytes_written(self) -> dict[int, int]:
        """Warp -> bytes that its lanes write to shared memory.

        Raises:
            PlanError: the width of an element is not known.
        """
        return {warp: self._bytes(written) for warp, (written, _) in self._traffic().items()}

    @property
    def bytes_read(self) -> dict[int, int]:
        """Warp -> bytes that its lanes read from shared memory.

        Raises:
            PlanError: the width of an element is not known.
        """
        return {warp: self._bytes(read) for warp, (_, read) in self._traffic().items()}

    # -- checking -----------------------------------------------------------------------------
    def simulate(self, values: Mapping[Place, Value]) -> dict[Place, Value]:
        """Executes the plan on values.

        Args:
            values: what each place of the source holds, by `Place` or (warp, lane, register).

        Returns:
            What each place of the target holds.

        Raises:
            PlanError: a place that is read and has no value.
        """
        return self.movement.run(values)

    def prove(self) -> Proof:
        """Replays the plan: every element ends at all of its target's places.

        The method is enumeration: each element is followed from the places of the source, as its
        map gives them, through every step.
        """
        return prove(Delivers(self.source, self.target, self.movement), method="enumeration")

    # -- showing ------------------------------------------------------------------------------
    def __str__(self) -> str:
        stay, register, lane, warp = self.counts.values()
        copies = len({move.element for move in self.moves}) != len(self.moves)
        noun = ("place" if copies else "element") + ("" if stay == 1 else "s")
        return (
            f"{self._headline()}\n{stay} {noun}{' of the target' if copies else ''} "
            f"stay{'s' if stay == 1 else ''}, {register} change register, {lane} change lane, "
            f"{warp} change warp."
        )

    def __repr__(self) -> str:
        counts = ", ".join(f"{distance}={count}" for distance, count in self.counts.items())
        rounds = f", {_rounds(len(self.rounds))}" if self.rounds else ""
        return f"<Plan {self.kind}{rounds}: {counts}>"

    # -- inside -------------------------------------------------------------------------------
    def _headline(self) -> str:
        if self.kind == "nothing":
            return "Nothing moves: every element is where the target has it."
        if self.kind == "registers":
            return "Each thread only renames registers: nothing is sent."
        if self.kind == "lanes":
            verb = "is" if self.at_least == 1 else "are"
            known = "" if self.minimal else "; whether fewer are enough is not known"
            return (
                f"Within each warp: {_rounds(len(self.rounds))} (at least {self.at_least} {verb} "
                f"needed{known})."
            )
        traffic = self._traffic().values()
        written, read = (sum(numbers) for numbers in zip(*traffic, strict=True))
        if self.element_bits is None:
            return f"Through shared memory: {written} elements written, {read} read."
        sizes = f"{self._bytes(written)} bytes written, {self._bytes(read)} read"
        return f"Through shared memory: {sizes}."

    def _traffic(self) -> dict[int, tuple[int, int]]:
        return {} if self.shared is None else self.shared.counted()

    def _bytes(self, elements: int) -> int:
        if self.element_bits is None:
            raise PlanError("give plan(..., element_bits=) to count bytes: it is not known here")
        return elements * self.element_bits // 8


def plan(source: Subject, target: Subject, *, element_bits: int | None = None) -> Plan:
    """How to move a tensor from one distributed layout to another.

    Formula: element x goes from the places source(x) to all places target(x).

    Args:
        source, target: layouts or Maps of one size, over thread axes (laneid, warpid, tx, ...)
            and registers (m); elements are matched by their flat index.
        element_bits: width of an element (bits, whole bytes), to count bytes of shared memory.

    Returns:
        A Plan.  Within warps its rounds are the fewest where no register has several readers.
        Where any element changes its warp, all that leave their thread go through shared memory.

    Raises:
        PlanError: sizes or domains that differ, sizes that are no numbers, an axis that is neither
            of threads nor of registers, two elements in one register.
        ClaimError: neither a layout nor a Map.
    """
    _check_bits(element_bits)
    here, there = places_of(source, "source"), places_of(target, "target")
    _check_same_tensor(here, there)
    moves = choose(here, there)
    local = in_threads(moves)
    far = [move for move in moves if move.distance in ("lane", "warp")]
    if any(move.distance == "warp" for move in far):
        why = "the fewest are counted for shuffle rounds only, and elements change their warp"
        movement = Movement(local, (), through_memory(far))
        return Plan(source, target, moves, movement, 0, False, why, element_bits)
    rounds, needed = in_rounds(far)
    minimal = len(rounds) == needed.count
    why = needed.reason(minimal)
    movement = Movement(local, rounds)
    return Plan(source, target, moves, movement, needed.count, minimal, why, element_bits)


def _check_bits(bits: object) -> None:
    if bits is not None and (type(bits) is not int or bits < 1 or bits % 8 != 0):
        raise PlanError(f"element_bits is whole bytes, as memory accesses are; got {bits!r}")


def _check_same_tensor(source: Residence, target: Residence) -> None:
    if len(source.of) != len(target.of):
        raise PlanError(
            f"plan moves one tensor: the source has {len(source.of)} elements and the target "
            f"{len(target.of)}"
        )
    for element, (here, there) in enumerate(zip(source.of, target.of, strict=True)):
        if bool(here) != bool(there):
            one, other = (source, target) if here else (target, source)
            raise PlanError(
                f"plan moves one tensor: element {one.name(element)} is in the domain of the "
                f"{one.role} and not of the {other.role}"
            )


def _rounds(count: int) -> str:
    return f"{count} shuffle round" + ("" if count == 1 else "s")
