"""Claims to verdicts.  The only package that imports Z3."""

from __future__ import annotations

from layout_algebra.prover.laws import checked
from layout_algebra.prover.proving import assert_proved, prove
from layout_algebra.prover.solve import Budget

__all__ = ["Budget", "assert_proved", "checked", "prove"]
