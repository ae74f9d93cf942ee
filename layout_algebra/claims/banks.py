"""Claims about banks of shared memory.

Banks follow a named `MemoryTarget`, whose rule for wide accesses is an assumption of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from layout_algebra import terms
from layout_algebra.claims.accesses import AccessClaim, check_count
from layout_algebra.claims.base import Point
from layout_algebra.conditions import at_most, differs, equals
from layout_algebra.errors import ClaimError
from layout_algebra.memory import banks
from layout_algebra.memory.targets import NVIDIA, MemoryTarget
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import Term, Var
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class BankClaim(AccessClaim):
    """Base of the claims about banks."""

    target: MemoryTarget = field(default=NVIDIA, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.target, MemoryTarget):  # type: ignore[redundant-expr]
            raise ClaimError(f"{self.name}: the target is a MemoryTarget; got {self.target!r}")
        banks.check_banked(self.access)
        banks.check_lanes(self.access, self.target)
        self.target.phases(self.access.kind, self.access.bits)

    def __str__(self) -> str:
        return f"{self.name}({self.access}; {self.target.name})"

    def base_classes(self) -> Sequence[int]:
        return banks.base_bits(self.access, self.target)

    def crowded(self, count: int, about: str) -> tuple[Question, ...]:
        """So many lanes of one phase that want different words of one bank."""
        return (*self.misaligned(), *self._crowds(count, about))

    def _crowds(self, count: int, about: str) -> Iterator[Question]:
        lanes = self.lanes(count)
        wanted = [self._word(lane) for lane in lanes]
        words = [word for word, _ in wanted]
        clauses = [clause for lane in lanes for clause in self.is_active(lane)]
        clauses += [clause for _, conditions in wanted for clause in conditions]
        # by differences: what all addresses share, the base, is then gone
        apart = [terms.add(word, terms.scale(words[0], -1)) for word in words[1:]]
        clauses += [(equals(terms.mod(gap, self._turn()), 0),) for gap in apart]
        clauses += [(at_most(terms.add(a, terms.const(1)), b),) for a, b in pairwise(lanes)]
        clauses += [(differs(a, b),) for a, b in combinations(words, 2)]
        groups = self.target.phases(self.access.kind, self.access.bits)
        run = len(groups[0])
        if all(group == tuple(range(k * run, (k + 1) * run)) for k, group in enumerate(groups)):
            phases = [terms.floordiv(lane, run) for lane in lanes]
            together: list[Clause] = [(equals(phases[0], phase),) for phase in phases[1:]]
            yield question(about, [*clauses, *together])
            return
        for group in groups:
            inside = [tuple(equals(lane, number) for number in group) for lane in lanes]
            yield question(about, [*clauses, *inside])

    def _unit(self) -> int:
        """Bits of what is compared: a word, or what a lane moves if that is whole words."""
        word, bits = 8 * self.target.bank_bytes, self.access.bits
        return max(word, bits) if bits & (bits - 1) == 0 else word

    def _turn(self) -> int:
        """After so many units the banks begin again."""
        return 8 * self.target.row_bytes // self._unit()

    def _word(self, lane: Var) -> tuple[Term, list[Clause]]:
        """A unit that a lane wants, and what makes it one."""
        unit, first = self._unit(), self.first_bit(lane)
        word = terms.floordiv(first, unit)
        bits = self.access.bits
        if bits & (bits - 1) == 0:
            return word, []
        last = terms.floordiv(terms.add(first, terms.const(bits - 1)), unit)
        step = terms.var(f"w.{lane.name}", 0, (bits + unit - 2) // unit)
        chosen = terms.add(word, step)
        return chosen, [(at_most(chosen, last),)]

    def over_at(self, at: Point, base_bit: int, most: int) -> Witness | None:
        """A bank that has to give more than `most` words in one phase."""
        found = self.misaligned_at(at, base_bit)
        if found is not None:
            return found
        service = banks.service_at(self.access, self.target, base_bit, at)
        for phase in service.phases:
            for bank, words in phase.words.items():
                if len(words) > most:
                    return self._conflict(bank, words, at, base_bit)
        return None

    def _conflict(self, bank: int, words: object, at: Point, base_bit: int) -> Witness:
        shown = sorted(dict(words).items())  # type: ignore[call-overload]
        names = [f"word {word} of lane {lanes[0]}" for word, lanes in shown[:3]]
        names += [f"{len(shown) - 3} more words"] if len(shown) > 3 else []
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        how = "both" if len(shown) == 2 else "all"
        return Witness(
            f"{listed} are {how} in bank {bank}{self.told(at, base_bit)}",
            tuple({"lane": lanes[0], **self.values(at)} for _, lanes in shown),
            tuple({"word": word, "bank": bank} for word, _ in shown),
        )


@dataclass(frozen=True)
class BankConflictFree(BankClaim):
    """No two lanes of one phase want different words of one bank; every address is aligned."""

    def questions(self) -> tuple[Question, ...]:
        return self.crowded(2, "two lanes want different words of one bank")

    def wrong_at(self, at: Point, base_bit: int) -> Witness | None:
        return self.over_at(at, base_bit, 1)


@dataclass(frozen=True)
class ConflictDegree(BankClaim):
    """In no phase does one bank have to give more than `at_most` different words."""

    at_most: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.name, self.at_most)

    def questions(self) -> tuple[Question, ...]:
        if self.at_most >= self.access.lanes and self.access.bits <= 8 * self.target.bank_bytes:
            return tuple(self.misaligned())
        about = f"{self.at_most + 1} different words of one bank are wanted together"
        return self.crowded(self.at_most + 1, about)

    def wrong_at(self, at: Point, base_bit: int) -> Witness | None:
        return self.over_at(at, base_bit, self.at_most)

    def __str__(self) -> str:
        return f"{self.name}({self.access}, at most {self.at_most}; {self.target.name})"


@dataclass(frozen=True)
class Wavefronts(BankClaim):
    """The access takes at most so many wavefronts, over all its phases.

    Decided by looking at every value of the free variables, unless it says the same as a degree.
    """

    at_most: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.name, self.at_most)

    def questions(self) -> tuple[Question, ...] | None:
        phases = len(self._phases())
        if self.at_most < phases or self.at_most % phases:
            return None
        # if every phase has at most its share, all have at most the sum; the converse is not so
        return (
            None
            if phases > 1
            else ConflictDegree(self.access, self.at_most, target=self.target).questions()
        )

    def _phases(self) -> list[tuple[int, ...]]:
        groups = self.target.phases(self.access.kind, self.access.bits)
        return [group for group in groups if group[0] < self.access.lanes]

    def wrong_at(self, at: Point, base_bit: int) -> Witness | None:
        found = self.misaligned_at(at, base_bit)
        if found is not None:
            return found
        service = banks.service_at(self.access, self.target, base_bit, at)
        if service.wavefronts <= self.at_most:
            return None
        degrees = ", ".join(str(phase.degree) for phase in service.phases)
        return Witness(
            f"it takes {service.wavefronts} wavefronts, by phases {degrees}"
            f"{self.told(at, base_bit)}",
            (self.values(at),),
        )

    def __str__(self) -> str:
        return f"{self.name}({self.access}, at most {self.at_most}; {self.target.name})"
