"""Data movement as data: what each thread renames, what lanes send, what goes through memory.

    movement = plan(source, target).movement
    movement.run({Place(0, 0, 0): "a", Place(0, 1, 0): "b"})     # target place -> value

All of it reads the registers as they were at the start and writes registers of the target, which
are others: which ones may share a physical register is the register allocator's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from layout_algebra.planning.places import LANES, Place, PlanError

Value = TypeVar("Value")


class Read(NamedTuple):
    """One lane's part in a round: it reads a register of another lane into its own.

    `registers` are those of the target that get the value, mostly one.
    """

    lane: int
    source_lane: int
    source_register: int
    registers: tuple[int, ...]


@dataclass(frozen=True)
class Group:
    """Warps that do the same in a round, and what their lanes read."""

    warps: tuple[int, ...]
    reads: tuple[Read, ...]

    def __post_init__(self) -> None:
        _check_tuple("the warps of a Group", self.warps, int, "warp numbers")
        _check_tuple("the reads of a Group", self.reads, Read, "Reads")


@dataclass(frozen=True)
class Round:
    """One shuffle: every lane offers at most one register and reads at most one."""

    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        _check_tuple("the groups of a Round", self.groups, Group, "Groups")

    def reads(self, warp: int) -> dict[int, Read]:
        """Lane -> what it reads, of one warp; lanes that read nothing are not in it."""
        found = [group.reads for group in self.groups if warp in group.warps]
        return {read.lane: read for reads in found for read in reads}


@dataclass(frozen=True)
class Shared:
    """One trip through shared memory: all writes, a barrier, all reads.

    A slot is the room of one element; which address it has is not said here.

    Attributes:
        writes: (place of the source, slot).
        reads: (slot, places of the target in one thread): one read for all of them.
    """

    writes: tuple[tuple[Place, int], ...]
    reads: tuple[tuple[int, tuple[Place, ...]], ...]

    def __post_init__(self) -> None:
        _check_pairs("the writes of a Shared", self.writes, (Place, int), "(Place, slot)")
        _check_pairs("the reads of a Shared", self.reads, (int, tuple), "(slot, Places)")

    def counted(self) -> dict[int, tuple[int, int]]:
        """Warp -> (elements that its lanes write, elements that they read)."""
        written = Counter(place.warp for place, _ in self.writes)
        read = Counter(places[0].warp for _, places in self.reads)
        return {warp: (written[warp], read[warp]) for warp in sorted({*written, *read})}


@dataclass(frozen=True)
class Movement:
    """Everything that a plan moves.

    Attributes:
        local: (place of the source, place of the target) in one thread; those that are the same
            stay where they are.
        rounds: the shuffles, in order.
        shared: the trip through shared memory, where there is one.

    Raises:
        PlanError: parts of other kinds; what threads can do is asked by `fault`.
    """

    local: tuple[tuple[Place, Place], ...] = ()
    rounds: tuple[Round, ...] = ()
    shared: Shared | None = None

    def __post_init__(self) -> None:
        _check_pairs("the local moves", self.local, (Place, Place), "(source Place, target Place)")
        _check_tuple("the rounds of a Movement", self.rounds, Round, "Rounds")
        if not isinstance(self.shared, Shared | None):  # type: ignore[redundant-expr]
            raise PlanError(f"shared is a Shared or None; got {self.shared!r}")

    def steps(self) -> Iterator[tuple[Place, Place]]:
        """Every (place that is read, place that is written)."""
        yield from self.local
        for one in self.rounds:
            for group in one.groups:
                for warp in group.warps:
                    for lane, source_lane, register, registers in group.reads:
                        for target in registers:
                            yield Place(warp, source_lane, register), Place(warp, lane, target)
        if self.shared is not None:
            slots = {slot: place for place, slot in self.shared.writes}
            for slot, places in self.shared.reads:
                for place in places:
                    yield slots[slot], place

    def run(self, values: Mapping[Place, Value]) -> dict[Place, Value]:
        """Executes it.

        Args:
            values: what each place of the source holds at the start.

        Returns:
            What each place that is written holds at the end.

        Raises:
            PlanError: values that are no mapping, or a place that is read and has no value.
        """
        if not isinstance(values, Mapping):  # type: ignore[redundant-expr]
            raise PlanError(
                f"values is a mapping from places of the source to what they hold; got {values!r}"
            )
        found: dict[Place, Value] = {}
        for source, target in self.steps():
            if source not in values:
                raise PlanError(f"give a value for {source}: the plan reads it")
            found[target] = values[source]
        return found

    def fault(self) -> str | None:
        """Why this is no movement that threads can make, in one sentence; None where it is."""
        for source, target in self.local:
            if source.thread != target.thread:
                return f"a thread cannot rename {source} to {target}"
        for number, one in enumerate(self.rounds):
            wrong = _fault_of_round(one)
            if wrong is not None:
                return f"round {number}: {wrong}"
        wrong = None if self.shared is None else _fault_of_shared(self.shared)
        return wrong or _twice("two values go to", (target for _, target in self.steps()))


def _check_tuple(what: str, given: Any, kind: type, parts: str) -> None:
    if not isinstance(given, tuple) or not all(isinstance(one, kind) for one in given):
        raise PlanError(f"{what} are a tuple of {parts}; got {given!r}")


def _check_pairs(what: str, given: Any, kinds: tuple[type, type], parts: str) -> None:
    first, second = kinds
    _check_tuple(what, given, tuple, parts)
    for pair in given:
        if len(pair) != 2 or not isinstance(pair[0], first) or not isinstance(pair[1], second):
            raise PlanError(f"{what} are a tuple of {parts}; got {pair!r} among them")


def _fault_of_round(one: Round) -> str | None:
    warps = _twice("two groups have warp", (warp for group in one.groups for warp in group.warps))
    if warps is not None:
        return warps
    for group in one.groups:
        offered: dict[int, int] = {}
        for read in group.reads:
            if not (0 <= read.lane < LANES and 0 <= read.source_lane < LANES):
                return f"lane {read.lane} reads lane {read.source_lane}, and a warp has {LANES}"
            if offered.setdefault(read.source_lane, read.source_register) != read.source_register:
                return f"lane {read.source_lane} offers two registers"
        twice = _twice("two values are read by lane", (read.lane for read in group.reads))
        if twice is not None:
            return twice
    return None


def _fault_of_shared(shared: Shared) -> str | None:
    for slot, places in shared.reads:
        if len({place.thread for place in places}) != 1:
            return f"the read of slot {slot} is by several threads"
    unwritten = {slot for slot, _ in shared.reads} - {slot for _, slot in shared.writes}
    if unwritten:
        return f"slot {min(unwritten)} is read and never written"
    return _twice("two values go to slot", (slot for _, slot in shared.writes))


def _twice(what: str, items: Iterable[object]) -> str | None:
    for item, count in Counter(items).items():
        if count > 1:
            return f"{what} {item}"
    return None
