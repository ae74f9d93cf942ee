"""`find_swizzle`: the layout that serves a buffer's accesses in the fewest wavefronts.

    i, j = Dim("i", multiple_of=8, at_most=96), Dim("j", multiple_of=8, at_most=56)
    column = pattern(lambda lane, i, j: (i + lane, j), bytes=16, free=[i, j])
    found = find_swizzle(buffer, reads=[column], among=TMA_MODES | XOR)

Candidates are ranked by counting, for all values of the free variables; what is said of the best
one is then proven by the prover, which shares no code with the counting.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from layout_algebra.claims import (
    BankConflictFree,
    Claim,
    ConflictDegree,
    Injective,
    Vectorizable,
)
from layout_algebra.errors import WitnessError
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.buffers import Buffer
from layout_algebra.memory.targets import NVIDIA, MemoryTarget
from layout_algebra.prover import Budget, prove
from layout_algebra.synthesis.bit_linear import search
from layout_algebra.synthesis.counting import Count, Footprint, Numbers, addresses, footprint_of
from layout_algebra.synthesis.errors import SynthesisError
from layout_algebra.synthesis.families import (
    XOR,
    Choice,
    Family,
    Ground,
    choices,
    ground_of,
    places_of,
    row_major,
)
from layout_algebra.synthesis.patterns import Request, Requests
from layout_algebra.synthesis.results import Candidate, Found, Least
from layout_algebra.verdicts import Proof, Step, Verdict

#: Of each solver query about the best layout (about 0.3 s): what it does not decide is enumerated,
#: which takes less for most accesses than a hard query does.
BUDGET = Budget(rlimit=500_000)


def find_swizzle(
    buffer: Buffer,
    *,
    reads: Iterable[Request] = (),
    writes: Iterable[Request] = (),
    among: Family = XOR,
    target: MemoryTarget = NVIDIA,
) -> Found:
    """The layout of a class with the fewest wavefronts, then the least room, then the simplest.

    Args:
        buffer: shared memory with the unswizzled tile.
        reads, writes: the accesses to serve: patterns (see `pattern`), or functions of a buffer
            that give an access of it.  Each counts once for every value of its free variables.
        among: TMA_MODES, XOR, PADDING, F2, or several joined by `|`.
        target: the memory, and its rule for wide accesses.

    Returns:
        The layout with the proofs of its claims, and the proof that no layout of the class is
        better.  For F2 that proof is UNDECIDED unless no layout at all could be better.

    Raises:
        SynthesisError: no layout of the class serves all accesses, or the problem is no tile of
            numbers, or too large.
        LayoutError, TraceError: an access that cannot be.
    """
    return _found(_problem(buffer, reads, writes, among, target))


def rank(
    buffer: Buffer,
    *,
    reads: Iterable[Request] = (),
    writes: Iterable[Request] = (),
    among: Family = XOR,
    target: MemoryTarget = NVIDIA,
) -> tuple[Candidate, ...]:
    """Every candidate with its wavefronts, the best first; nothing is proven.

    Arguments and errors as for `find_swizzle`, but candidates that serve nothing are no error.
    """
    return _candidates(_problem(buffer, reads, writes, among, target))[0]


@dataclass(frozen=True)
class Problem:
    """A tile, what has to be served in it, and where to look."""

    ground: Ground
    requests: Requests
    footprints: tuple[Footprint, ...]
    among: Family
    target: MemoryTarget

    @property
    def least(self) -> int:
        """Wavefronts that any layout needs."""
        return sum(one.least for one in self.footprints)

    def counts(self, places: Numbers, align: int) -> tuple[Count, ...]:
        return tuple(one.count(places, align) for one in self.footprints)

    def cost(self, places: Numbers) -> int | None:
        """Total wavefronts with the buffer's own alignment; None when an access is not served."""
        total = 0
        for footprint in self.footprints:
            count = footprint.count(places, self.ground.buffer.align)
            if count.reason:
                return None
            total += count.wavefronts
        return total

    def candidate(self, choice: Choice) -> Candidate:
        counts = self.counts(choice.places, choice.align)
        about = (choice.name, choice.layout, choice.align, choice.span)
        return Candidate(*about, counts, choice.order)

    def check(self, buffer: Buffer, accesses: Sequence[Access]) -> None:
        """The accesses to the best layout are the counted ones: only places differ.

        Raises:
            SynthesisError: a function of the buffer that looks at its layout.
        """
        places = places_of(buffer.layout, self.ground.shape)
        for name, access, plain in zip(
            self.requests.names, accesses, self.requests.on(row_major(buffer)), strict=True
        ):
            (real, active), (element, counted) = addresses(access), addresses(plain)
            index = np.where(counted, element // access.element_bits, 0)
            wanted = places[index] * access.element_bits
            same = np.array_equal(active, counted) and np.array_equal(
                np.where(active, real, 0), np.where(counted, wanted, 0)
            )
            if not same:
                raise SynthesisError(
                    f"{name} touches other elements when the layout is another: give a function "
                    "that only slices and reads the buffer"
                )


def _problem(
    buffer: Buffer,
    reads: Iterable[Request],
    writes: Iterable[Request],
    among: Family,
    target: MemoryTarget,
) -> Problem:
    if not isinstance(buffer, Buffer):  # type: ignore[redundant-expr]
        raise SynthesisError(f"a Buffer with the unswizzled tile is needed; got {buffer!r}")
    if not isinstance(among, Family):  # type: ignore[redundant-expr]
        raise SynthesisError(f"among= is TMA_MODES, XOR, PADDING or F2; got {among!r}")
    ground = ground_of(buffer)
    requests = Requests.of(reads, writes)
    plain = row_major(buffer)
    footprints = tuple(footprint_of(access, target) for access in requests.on(plain))
    return Problem(ground, requests, footprints, among, target)


def _found(problem: Problem) -> Found:
    """The best candidate and the proofs about it."""
    candidates, looked = _candidates(problem)
    best = candidates[0]
    if best.wavefronts is None:
        raise SynthesisError(
            f"none of {len(candidates)} layouts among {problem.among} serves every access; "
            f"{best.name}: {best.reason}"
        )
    buffer = replace(problem.ground.buffer, layout=best.layout, align=best.align)
    accesses = problem.requests.on(buffer)
    problem.check(buffer, accesses)
    return Found(
        layout=best.layout,
        buffer=buffer,
        wavefronts=best.wavefronts,
        least=problem.least,
        minimal=_minimal(problem, best.wavefronts, len(candidates), looked),
        proofs=_proofs(best, accesses, problem.target),
        candidates=candidates,
        accesses=accesses,
        names=problem.requests.names,
        target=problem.target,
    )


def _candidates(problem: Problem) -> tuple[tuple[Candidate, ...], int]:
    """Every candidate, the best first, and how many more the bit-linear search looked at."""
    found: dict[object, Candidate] = {}
    for kind in problem.among.kinds:
        for choice in choices(kind, problem.ground, problem.target):
            key = (choice.layout, choice.align)
            if key not in found:
                found[key] = problem.candidate(choice)
    looked = 0
    best = min(found.values(), key=lambda one: one.rank)
    if "F2" in problem.among.kinds and best.wavefronts != problem.least:
        runs = [footprint.vectors.shape[1] for footprint in problem.footprints]
        choice, looked = search(problem.ground, problem.target, runs, problem.cost, problem.least)
        if choice is not None:
            found.setdefault((choice.layout, choice.align), problem.candidate(choice))
    return tuple(sorted(found.values(), key=lambda one: one.rank)), looked


def _minimal(problem: Problem, wavefronts: int, candidates: int, looked: int) -> Proof:
    """That no layout is better: of all that there are, or of the class."""
    start = time.perf_counter()
    if wavefronts == problem.least:
        claim = Least(wavefronts, "that keeps elements apart")
        detail = "different elements of a phase, by what all banks give in one wavefront"
        proof = Proof(claim, Verdict.PROVED, "bound", steps=(Step("bound", detail),))
    elif "F2" in problem.among.kinds:
        reason = (
            f"a search looked at {candidates + looked} of the bit-linear layouts; any layout needs "
            f"at least {problem.least}"
        )
        claim = Least(wavefronts, "among F2")
        proof = Proof(claim, Verdict.UNDECIDED, "search", reason=reason)
    else:
        claim = Least(wavefronts, f"among {problem.among}")
        detail = f"{candidates} layouts, each for all values of the free variables"
        steps = (Step("exhaustion", detail),)
        proof = Proof(claim, Verdict.PROVED, f"exhaustion of {candidates} layouts", steps=steps)
    return replace(proof, seconds=time.perf_counter() - start)


def _proofs(best: Candidate, accesses: Sequence[Access], target: MemoryTarget) -> tuple[Proof, ...]:
    """Proofs of what the counting says of the best candidate.

    Raises:
        WitnessError: the prover refutes it, a fault in this library.
    """
    claims: list[Claim] = [Injective(best.layout)]
    for access, count in zip(accesses, best.counts, strict=True):
        if access.bits > access.element_bits:
            claims.append(Vectorizable(access))
        if count.degree <= 1:
            claims.append(BankConflictFree(access, target=target))
        else:
            claims.append(ConflictDegree(access, count.degree, target=target))
    proofs = tuple(prove(claim, budget=BUDGET) for claim in claims)
    for proof in proofs:
        if proof.verdict is Verdict.REFUTED:
            raise WitnessError(f"counting and the prover contradict each other: {proof}")
    return proofs
