"""What claims about compiled code share: symbolic execution by cases, and what it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from layout_algebra.claims import Claim
from layout_algebra.errors import CoordinateError
from layout_algebra.questions import Question
from layout_algebra.validation.arithmetic import NotATerm
from layout_algebra.validation.cases import Case
from layout_algebra.validation.comparing import Findings, compare
from layout_algebra.validation.grids import BLOCK_REGISTERS
from layout_algebra.validation.magic import questions_about


class Compiled(Claim):
    """A claim about every thread of a launch, in a few cases."""

    @cached_property
    def cases(self) -> Sequence[Case]:
        """What is wanted of which threads."""
        raise NotImplementedError

    @cached_property
    def _compared(self) -> tuple[Findings, ...] | str:
        try:
            return tuple(compare(case) for case in self.cases)
        except NotATerm as signal:
            return str(signal)

    @property
    def findings(self) -> tuple[Findings, ...] | None:
        """What symbolic execution leaves open, case by case; None: it does not get through."""
        return None if isinstance(self._compared, str) else self._compared

    @property
    def obstacle(self) -> str:
        """Why symbolic execution does not get through; empty where it does."""
        return self._compared if isinstance(self._compared, str) else ""

    @property
    def beside(self) -> frozenset[str]:
        """What stores depend on beside the thread's number."""
        return frozenset().union(*(one.beside for one in self.findings or ()))

    def questions(self) -> tuple[Question, ...] | None:
        if self.findings is None or self.beside & BLOCK_REGISTERS:
            return None
        found = [one for findings in self.findings for one in findings.questions]
        return (*found, *self.division_questions())

    def division_questions(self) -> tuple[Question, ...]:
        """That multiplications and shifts are the divisions for which they were taken."""
        divisions = [one for case in self.cases for one in case.execution.divisions]
        return tuple(questions_about(divisions))

    def check_terms(self) -> None:
        """Raises CoordinateError where no term says what is done: then no runs show all."""
        if self.findings is None:
            raise CoordinateError(f"no term says what is computed: {self.obstacle}")

    def check_independent(self, known: frozenset[str]) -> None:
        """Raises CoordinateError where stores depend on more than the thread and what is known."""
        others = sorted(self.beside - known)
        if others:
            raise CoordinateError(
                f"what is stored may depend on {', '.join(others)}: running every thread once does "
                "not show all"
            )
