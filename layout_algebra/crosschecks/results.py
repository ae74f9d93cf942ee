"""What a cross-check says of each entry of a ledger, and of all of them.

    report.among(Outcome.DISAGREES)       # what has to be looked at
    report.to_json()

A run *agrees* when it says what the proof says, and *disagrees* when it says something else.  What
could not be run, or was too large, is *not checked*: it has a reason, and counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from layout_algebra.errors import LayoutAlgebraError

#: Bytes that a check may take.
MEMORY = 1 << 30
#: Elements that a check may look at: seconds of compiled code, or of the simulator.
ELEMENTS = 1 << 31
SIMULATED = 1 << 10


class NotCheckedError(LayoutAlgebraError, ValueError):
    """Why a claim is not checked by a target."""


class Outcome(StrEnum):
    """What became of an entry."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Limits:
    """What one check may take.

    Attributes:
        memory: bytes.
        elements: how many it may look at; None: `ELEMENTS`, or `SIMULATED` in the simulator.
        arch: the architecture that PTX is made for.
    """

    memory: int = MEMORY
    elements: int | None = None
    arch: str = "sm_90a"


@dataclass(frozen=True)
class Ran:
    """What a target found.

    Attributes:
        agrees: whether it is what the proof says.
        verdict: its own verdict, in a word or two.
        elements: how many it looked at.
        seconds: the time of the loops or kernels, without compiling.
        detail: what was looked at; of a disagreement, what is wrong.
        kernels: for every kernel its text's hash, and whether that text was proven here.
    """

    agrees: bool
    verdict: str
    elements: int
    seconds: float
    detail: str = ""
    kernels: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Checked:
    """An entry of a ledger, beside what a target found.

    Attributes:
        name, file, claim: the entry's.
        proof: the verdict in the ledger; "" for what is in none.
        outcome: see the module's text.
        run: what the target found; None where nothing was checked.
        detail: the reason, or what was looked at.
    """

    name: str
    file: str
    claim: str
    proof: str
    outcome: Outcome
    run: Ran | None
    detail: str

    @property
    def rate(self) -> float | None:
        """Elements a second; None where nothing was timed."""
        if self.run is None or not self.run.seconds:
            return None
        return self.run.elements / self.run.seconds

    def to_json(self) -> dict[str, Any]:
        run = self.run
        return {
            "name": self.name,
            "file": self.file,
            "claim": self.claim,
            "proof": self.proof,
            "outcome": str(self.outcome),
            "run": "" if run is None else run.verdict,
            "elements": 0 if run is None else run.elements,
            "seconds": 0.0 if run is None else round(run.seconds, 6),
            "rate": None if self.rate is None else round(self.rate),
            "detail": self.detail,
            "kernels": [] if run is None else list(run.kernels),
        }


@dataclass(frozen=True)
class Report:
    """All entries of a run.

    Attributes:
        target: its name.
        checked: the entries, in the ledger's order.
        tools: name -> version of what ran.
        seconds: wall-clock time of the whole.
    """

    target: str
    checked: tuple[Checked, ...]
    tools: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0

    def among(self, outcome: Outcome) -> list[Checked]:
        return [one for one in self.checked if one.outcome is outcome]

    @property
    def elements(self) -> int:
        return sum(one.run.elements for one in self.checked if one.run is not None)

    @property
    def exit_code(self) -> int:
        """0: all that was checked agrees; 1: something disagrees; 4: nothing could be checked."""
        if self.among(Outcome.DISAGREES):
            return 1
        return 0 if self.among(Outcome.AGREES) else 4

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "tools": self.tools,
            "seconds": round(self.seconds, 3),
            "summary": {
                "entries": len(self.checked),
                **{_key(outcome): len(self.among(outcome)) for outcome in Outcome},
                "elements": self.elements,
            },
            "checked": [one.to_json() for one in self.checked],
        }


def _key(outcome: Outcome) -> str:
    return str(outcome).replace(" ", "_")
