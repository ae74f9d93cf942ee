"""How one access is served: words, banks, phases, wavefronts.  Plain arithmetic on numbers.

    service = served(access, j=8)             # the free variables' values
    service.degree, service.wavefronts, service.least
    print(service)                            # lanes and banks as a table

This is the meaning that the claims about banks are held to.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from layout_algebra.arithmetic import integers
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.memory.accesses import BIT, Access
from layout_algebra.memory.targets import NVIDIA, MemoryTarget
from layout_algebra.showing import Shown
from layout_algebra.terms import Var


@dataclass(frozen=True)
class Phase:
    """Lanes that are served together.

    Attributes:
        lanes: the active ones.
        words: bank -> word -> the lanes that want it.
    """

    lanes: tuple[int, ...]
    words: Mapping[int, Mapping[int, tuple[int, ...]]]

    @property
    def degree(self) -> int:
        """The most different words that one bank has to give."""
        return max((len(wanted) for wanted in self.words.values()), default=0)

    @property
    def distinct(self) -> int:
        """Different words that its lanes want."""
        return sum(len(wanted) for wanted in self.words.values())


@dataclass(frozen=True)
class Service(Shown):
    """One access, for one value of every free variable."""

    target: MemoryTarget
    phases: tuple[Phase, ...]

    @property
    def degree(self) -> int:
        """The greatest of its phases' degrees; 1 is free of conflicts."""
        return max((phase.degree for phase in self.phases), default=0)

    @property
    def wavefronts(self) -> int:
        """Wavefronts that all phases take together."""
        return sum(phase.degree for phase in self.phases)

    @property
    def least(self) -> int:
        """Wavefronts that the same words take at least, wherever they lie."""
        return sum(-(-phase.distinct // self.target.banks) for phase in self.phases)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"Service({next(self._lines())})"

    def _lines(self) -> Iterator[str]:
        free = " (no conflict)" if self.degree <= 1 else ""
        yield (
            f"{self.wavefronts} wavefronts, at least {self.least}; degree {self.degree}{free}; "
            f"{self.target.name}"
        )
        for number, phase in enumerate(self.phases):
            if len(self.phases) > 1:
                yield f"phase {number}: lanes {_spans(phase.lanes)}, degree {phase.degree}"
            for bank in sorted(phase.words):
                wanted = phase.words[bank]
                parts = [f"word {w}: lanes {_spans(wanted[w])}" for w in sorted(wanted)]
                mark = "  <-" if len(wanted) == phase.degree > 1 else ""
                yield f"  bank {bank:2}  {'; '.join(parts)}{mark}"


def served(access: Access, target: MemoryTarget = NVIDIA, base: int = 0, **values: int) -> Service:
    """How an access is served.

    Args:
        access: the access.
        target: the memory.
        base: the buffer's first byte.
        values: a value for each free variable, by the Dim's name.

    Raises:
        CoordinateError: a variable without a value, a value that it has not, or a base that is
            not aligned.
    """
    if not isinstance(access, Access):  # type: ignore[redundant-expr]
        raise LayoutError(f"served is about an access, like buffer.read(...); got {access!r}")
    if not isinstance(target, MemoryTarget):  # type: ignore[redundant-expr]
        raise LayoutError(f"the target is a MemoryTarget; got {target!r}")
    check_banked(access)
    check_lanes(access, target)
    if type(base) is not int or base < 0 or base % access.align:
        raise CoordinateError(
            f"the buffer begins at a byte that is a multiple of {access.align}; got {base!r}"
        )
    return service_at(access, target, 8 * base, point_of(access, values))


def point_of(access: Access, values: Mapping[str, int]) -> dict[Var, int]:
    """The free variables' values from those of the Dims.

    Raises:
        CoordinateError: one without a value, or a value that it has not.
    """
    names = {free.name for free in access.free}
    if set(values) != names:
        raise CoordinateError(
            f"one value for each of ({', '.join(sorted(names))}); got ({', '.join(values)})"
        )
    point: dict[Var, int] = {}
    for free in access.free:
        if type(values[free.name]) is not int:
            raise CoordinateError(f"{free.name} is an int; got {values[free.name]!r}")
        number, rest = divmod(values[free.name], free.multiple)
        low, high = free.variable.low, free.variable.high
        if rest or not (low <= number <= high):  # type: ignore[operator]
            raise CoordinateError(
                f"{free.name} is a multiple of {free.multiple} in {low * free.multiple}.."  # type: ignore[operator]
                f"{high * free.multiple}; got {values[free.name]}"  # type: ignore[operator]
            )
        point[free.variable] = number
    return point


def service_at(
    access: Access, target: MemoryTarget, base_bit: int, point: Mapping[Var, int]
) -> Service:
    """How it is served at one point of the free variables."""
    bits = dict(lane_bits(access, point))
    word_bits = 8 * target.bank_bytes
    phases: list[Phase] = []
    for group in target.phases(access.kind, access.bits):
        lanes = tuple(lane for lane in group if lane in bits)
        words: dict[int, dict[int, list[int]]] = {}
        for lane in lanes:
            first = base_bit + bits[lane]
            for word in range(first // word_bits, (first + access.bits - 1) // word_bits + 1):
                words.setdefault(word % target.banks, {}).setdefault(word, []).append(lane)
        frozen = {
            bank: {word: tuple(found) for word, found in wanted.items()}
            for bank, wanted in words.items()
        }
        if lanes:
            phases.append(Phase(lanes, frozen))
    return Service(target, tuple(phases))


def lane_bits(access: Access, point: Mapping[Var, int]) -> Iterator[tuple[int, int]]:
    """(lane, the bit where its access begins) of the active lanes."""
    address = access.address
    term = address.output(BIT)
    for lane in range(access.lanes):
        at = {**point, access.lane: lane}
        if address.admits(at):
            yield lane, integers.values_of([term], at)[0]


def points(access: Access) -> Iterator[dict[Var, int]]:
    """Every value of the free variables."""
    ranges = [range(int(v.low), int(v.high) + 1) for v in access.variables]  # type: ignore[arg-type]
    for numbers in itertools.product(*ranges):
        yield dict(zip(access.variables, numbers, strict=True))


def count_points(access: Access) -> int:
    return math.prod(int(v.high) - int(v.low) + 1 for v in access.variables)  # type: ignore[arg-type]


def base_bits(access: Access, target: MemoryTarget) -> list[int]:
    """Base addresses, in bits, that may make a difference.

    A shift by less than a word changes which lanes share a word, and one by less than what a lane
    moves whether its address is aligned; what shifts by more only turns the banks.
    """
    step = 8 * access.align
    most = max(8 * target.bank_bytes, access.bits if is_aligned_width(access.bits) else 1)
    return list(range(0, most, step)) if step < most else [0]


def is_aligned_width(bits: int) -> bool:
    """Whether accesses of so many bits have to be aligned to them: whole bytes, a power of two."""
    return bits % 8 == 0 and bits & (bits - 1) == 0


def check_banked(access: Access) -> None:
    """Raises LayoutError unless the access is to shared memory."""
    if access.scope != "shared":
        raise LayoutError(f"banks are of shared memory; the buffer is in {access.scope} memory")


def check_lanes(access: Access, target: MemoryTarget) -> None:
    """Raises LayoutError if the access has more lanes than a warp of the target."""
    if access.lanes > target.lanes:
        raise LayoutError(
            f"a warp of {target.name} has {target.lanes} lanes; the access has {access.lanes}"
        )


def _spans(lanes: tuple[int, ...]) -> str:
    """Lanes as spans: 0-3, 7."""
    parts: list[str] = []
    for _, run in itertools.groupby(enumerate(lanes), lambda pair: pair[1] - pair[0]):
        found = [lane for _, lane in run]
        parts.append(f"{found[0]}-{found[-1]}" if len(found) > 1 else str(found[0]))
    return ", ".join(parts)
