"""The target `cpu`: every element of a claim, by code compiled for this machine's processors.

    OnCpu(Limits()).run(statement)        # Ran(agrees=True, verdict='PROVED', ...)

A claim about all sizes is looked at for a few values of its Dims.  One that is refuted is looked at
where its recorded counterexample is, after that has been replayed.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

from layout_algebra.claims import All, Claim, Composition
from layout_algebra.crosschecks.results import ELEMENTS, Checked, Limits, NotCheckedError, Ran
from layout_algebra.crosschecks.sampling import at_values, completed, sampled
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.crosschecks.witnesses import replays
from layout_algebra.device import checks
from layout_algebra.device.results import CheckResult
from layout_algebra.device.runner import usable_threads
from layout_algebra.errors import LayoutAlgebraError, WitnessError
from layout_algebra.verdicts import Verdict


class OnCpu:
    """Exhaustive checks by compiled code."""

    name = "cpu"

    def __init__(self, limits: Limits) -> None:
        self.memory = limits.memory
        self.elements = ELEMENTS if limits.elements is None else limits.elements

    def tools(self) -> dict[str, str]:
        found = {name: metadata.version(name) for name in ("numba", "llvmlite", "numpy")}
        return {**found, "threads": str(usable_threads())}

    def run(self, statement: Statement) -> Ran:
        """See `Target.run`."""
        if statement.entry.verdict == str(Verdict.REFUTED):
            return self._refuted(statement)
        return self._proved(statement)

    def own(self) -> Iterator[Checked]:
        return iter(())

    def close(self) -> None:
        pass

    def _proved(self, statement: Statement) -> Ran:
        samples = sampled(statement.claim, statement.given)
        if not samples:
            raise NotCheckedError(
                "no small values of its Dims were found that fulfil what is given"
            )
        elements, seconds = 0, 0.0
        for dims in samples:
            try:
                found = self.check(statement.claim, dims)
            except WitnessError as error:
                return Ran(False, "fault", elements, seconds, str(error))
            elements, seconds = elements + found.elements, seconds + found.seconds
            if found.verdict is not Verdict.PROVED:
                return Ran(False, str(found.verdict), elements, seconds, str(found.witness))
        return Ran(True, str(Verdict.PROVED), elements, seconds, at_values(samples))

    def _refuted(self, statement: Statement) -> Ran:
        claim, record = statement.claim, statement.entry.witness
        if record is None and claim.is_symbolic():
            raise NotCheckedError("the ledger records no counterexample: at which sizes to look?")
        replayed = None if record is None else replays(claim, record)
        if replayed is False:
            return Ran(False, "no witness", 1, 0.0, "the recorded witness does not refute it")
        said = (
            "its witness replays" if replayed else "its witness cannot be replayed from the ledger"
        )
        dims = {} if record is None else completed(claim, statement.given, dict(record["dims"]))
        try:
            found = self.check(claim, dims)
        except NotCheckedError as reason:
            raise NotCheckedError(f"{reason}; {said}") from None
        except WitnessError as error:
            return Ran(False, "fault", 0, 0.0, str(error))
        if found.verdict is Verdict.REFUTED:
            return Ran(True, str(found.verdict), found.elements, found.seconds, said)
        shown = f"no counterexample{_at(dims)}; {said}"
        return Ran(False, str(found.verdict), found.elements, found.seconds, shown)

    def check(self, claim: Claim, dims: dict[str, int]) -> CheckResult:
        """One exhaustive check, inside the limits.

        Raises:
            NotCheckedError: there is none of such a claim, or it takes more.
            WitnessError: compiled code and integers disagree.
        """
        whole = without_compositions(claim)
        try:
            cost = checks.cost(whole, dims, memory=self.memory)
            if cost.elements > self.elements:
                raise NotCheckedError(
                    f"{cost.elements:,} elements are more than the {self.elements:,} that a check "
                    "may look at: --elements gives it more"
                )
            if cost.memory > self.memory:
                raise NotCheckedError(
                    f"it needs {cost.memory:,} bytes and may take {self.memory:,}: --memory gives "
                    "it more"
                )
            return checks.check(whole, dims, memory=self.memory)
        except (NotCheckedError, WitnessError):
            raise
        except (LayoutAlgebraError, MemoryError) as error:
            raise NotCheckedError(" ".join(str(error).split())) from error


def without_compositions(claim: Claim) -> Claim:
    """The claim with equivalences in the place of compositions, which are defined by them."""
    if isinstance(claim, Composition):
        return claim.parts()[0]
    if isinstance(claim, All):
        return All(tuple(without_compositions(part) for part in claim.claims))
    return claim


def _at(dims: dict[str, int]) -> str:
    return "".join([" at ", ", ".join(f"{name} = {n}" for name, n in dims.items())]) if dims else ""
