"""The target `cuda`: a claim's kernels on a GPU.

Every map's kernel is launched, the very text that was compiled (and proven, where there is a prover
on the machine), and what it stores is compared with code compiled for the CPU.  Then, where the
claim has such a check, its own meaning is looked at on the GPU: collisions and coverage in a byte
map, equality, round trips through memory, and the time of loads from shared memory.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from layout_algebra.claims import All
from layout_algebra.claims.accesses import AccessClaim
from layout_algebra.claims.banks import BankClaim
from layout_algebra.crosschecks import gpu_banks, gpu_maps
from layout_algebra.crosschecks.cpu import without_compositions
from layout_algebra.crosschecks.gpu_fragments import fragments
from layout_algebra.crosschecks.kernels import subjects_of
from layout_algebra.crosschecks.ptx import compiled, record, validated
from layout_algebra.crosschecks.results import (
    ELEMENTS,
    Checked,
    Limits,
    NotCheckedError,
    Ran,
)
from layout_algebra.crosschecks.sampling import completed, sampled
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.crosschecks.witnesses import replays
from layout_algebra.device.launching import Gpu
from layout_algebra.memory import banks
from layout_algebra.verdicts import Verdict

#: What a report says of a text that no prover has looked at here.
UNPROVEN = "no prover here"


class OnGpu:
    """Kernels on a GPU."""

    name = "cuda"

    def __init__(self, limits: Limits, gpu: Gpu | None = None) -> None:
        self.gpu = Gpu() if gpu is None else gpu
        self.memory = limits.memory
        self.elements = ELEMENTS if limits.elements is None else limits.elements
        self.proves = importlib.util.find_spec("z3") is not None

    def tools(self) -> dict[str, str]:
        return self.gpu.tools()

    def own(self) -> Iterator[Checked]:
        return fragments(self.gpu)

    def close(self) -> None:
        pass

    def run(self, statement: Statement) -> Ran:
        """See `Target.run`."""
        witness = statement.entry.witness
        if witness is not None and replays(statement.claim, witness) is False:
            return Ran(False, "no witness", 1, 0.0, "the recorded witness does not refute it")
        if isinstance(statement.claim, BankClaim):
            return self._timed(statement, statement.claim)
        ran = self._kernels(statement)
        if not ran.agrees or _has_access(statement):
            return ran
        return self._claim(statement, ran)

    def _kernels(self, statement: Statement) -> Ran:
        """Every map's kernel against the CPU's table."""
        subjects, about = subjects_of(statement, self.elements)
        elements, seconds = 0, 0.0
        kernels: list[dict[str, Any]] = []
        for subject in subjects:
            ptx = compiled(subject, self.gpu.arch)
            verdict, said = validated(subject, ptx) if self.proves else (UNPROVEN, "")
            kernels.append(record(ptx, verdict))
            if verdict == str(Verdict.REFUTED):
                return Ran(False, "PTX refuted", elements, seconds, said, tuple(kernels))
            stored = gpu_maps.stored_on(self.gpu, subject.map, subject.kernel, ptx, self.memory)
            elements, seconds = elements + subject.kernel.size, seconds + stored.seconds
            wrong = gpu_maps.difference(self.gpu, stored)
            if wrong is not None:
                return Ran(False, "differs", elements, seconds, wrong, tuple(kernels))
        return Ran(True, "kernels equal", elements, seconds, about, tuple(kernels))

    def _claim(self, statement: Statement, ran: Ran) -> Ran:
        """The claim's own meaning, where it has a check on the GPU and fits."""
        entry, claim = statement.entry, without_compositions(statement.claim)
        refuted = entry.verdict == str(Verdict.REFUTED)
        if refuted:
            dims = {} if entry.witness is None else dict(entry.witness["dims"])
            samples = [completed(claim, statement.given, dims)]
        else:
            samples = sampled(claim, statement.given)
        if claim.work(samples[0]) > self.elements:
            return ran
        found = [gpu_maps.holds(self.gpu, claim, one, self.memory) for one in samples]
        if None in found:
            return replace(ran, detail=f"{ran.detail}; no check of {claim.name} on the GPU")
        verdict = str(Verdict.PROVED if all(found) else Verdict.REFUTED)
        return replace(ran, verdict=verdict, agrees=verdict == entry.verdict)

    def _timed(self, statement: Statement, claim: BankClaim) -> Ran:
        """The time of an access: as the model of the banks has it, and as the claim says."""
        access = claim.access
        points = gpu_banks.points_of(access)
        refuted = statement.entry.verdict == str(Verdict.REFUTED)
        if refuted:
            record = statement.entry.witness or {"points": ()}
            names = {free.name for free in access.free}
            values = record["points"][0] if record["points"] else {}
            if not names <= set(values):
                raise NotCheckedError("the ledger does not say where the access is refuted")
            points = [banks.point_of(access, {name: values[name] for name in names})]
            if statement.entry.witness is not None and claim.wrong_at(points[0], 0) is None:
                raise NotCheckedError("it is refuted at a base that the probe has not")
        found, seconds = gpu_banks.measured(self.gpu, access, points)
        elements = access.lanes * len(points)
        odd = next((one for one in found if not one.agrees), None)
        if odd is not None:
            at = f"at {claim.values(odd.point)}" if access.free else "here"
            said = f"{odd.wavefronts:.2f} wavefronts by the clock {at}, {odd.expected} by the model"
            return Ran(False, "differs", elements, seconds, said)
        holds = all(gpu_banks.bounded(claim, one) for one in found)
        verdict = str(Verdict.PROVED if holds else Verdict.REFUTED)
        worst = max(found, key=lambda one: one.wavefronts)
        said = f"{worst.wavefronts:.2f} wavefronts at most, {len(points)} points, base 0"
        return Ran(holds is not refuted, verdict, elements, seconds, said)


def _has_access(statement: Statement) -> bool:
    """Whether the claim, or a part of it, is about an access: its maps are all that is run."""
    claim = statement.claim
    parts = claim.claims if isinstance(claim, All) else (claim,)
    return any(isinstance(part, AccessClaim) for part in parts)
