"""The target `ptx`: every map of a claim as a kernel, compiled for a GPU and proven to be the map.

No GPU is needed, but the compilers of the extra `cuda` are.  The verdict is one on the compiled
text, not on the claim: that what a GPU would run is the map that the claim speaks of.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from time import perf_counter
from typing import Any

from layout_algebra.crosschecks.kernels import Subject, subjects_of
from layout_algebra.crosschecks.results import (
    ELEMENTS,
    Checked,
    Limits,
    NotCheckedError,
    Ran,
)
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.errors import UnavailableError
from layout_algebra.device.toolchain import TARGETS, Ptx, available, compile_ptx, versions
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.verdicts import Verdict


class AsPtx:
    """Kernels compiled and validated."""

    name = "ptx"

    def __init__(self, limits: Limits) -> None:
        missing = available()
        if missing is not None:
            raise UnavailableError(missing)
        if limits.arch not in TARGETS:
            raise UnavailableError(
                f"no architecture {limits.arch!r}; there is {', '.join(TARGETS)}"
            )
        self.arch = limits.arch
        self.elements = ELEMENTS if limits.elements is None else limits.elements

    def tools(self) -> dict[str, str]:
        return {**versions(), "arch": self.arch}

    def run(self, statement: Statement) -> Ran:
        """See `Target.run`."""
        subjects, about = subjects_of(statement, self.elements)
        kernels: list[dict[str, Any]] = []
        elements, seconds = 0, 0.0
        for subject in subjects:
            ptx = compiled(subject, self.arch)
            start = perf_counter()
            verdict, said = validated(subject, ptx)
            seconds += perf_counter() - start
            elements += subject.kernel.size
            kernels.append(record(ptx, verdict))
            if verdict == str(Verdict.REFUTED):
                return Ran(False, verdict, elements, seconds, said, tuple(kernels))
            if verdict != str(Verdict.PROVED):
                raise NotCheckedError(f"the PTX of {subject.map} is {verdict}: {said}")
        return Ran(True, "PTX proved", elements, seconds, about, tuple(kernels))

    def own(self) -> Iterator[Checked]:
        return iter(())

    def close(self) -> None:
        pass


def compiled(subject: Subject, arch: str) -> Ptx:
    """A map's PTX.

    Raises:
        NotCheckedError: it cannot be compiled.
    """
    try:
        return compile_ptx(subject.kernel, arch)
    except LayoutAlgebraError as error:
        raise NotCheckedError(" ".join(str(error).split())) from error


def validated(subject: Subject, ptx: Ptx) -> tuple[str, str]:
    """The verdict on a compiled text, and what there is to say of it."""
    from layout_algebra.validation import validate  # the only part here that needs the prover

    try:
        proof = validate(subject.kernel, ptx)
    except LayoutAlgebraError as error:
        return str(Verdict.UNDECIDED), " ".join(str(error).split())
    return str(proof.verdict), str(proof.witness or proof.reason)


def record(ptx: Ptx, verdict: str) -> dict[str, Any]:
    """What a report keeps of a compiled text: whoever runs one of this hash runs this one."""
    text = sha256(ptx.text.encode()).hexdigest()
    return {"entry": ptx.entry, "arch": ptx.target, "sha256": text, "validated": verdict}
