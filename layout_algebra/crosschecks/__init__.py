"""Cross-checks: what a ledger says, checked again by code that runs.

    report = crosscheck(read_ledger("build/ledger.json"), target_of("cpu", Limits()))
    report.exit_code                      # 0: all that was checked agrees

A theorem is loaded from the file that its entry names, its claim is made, and a target checks it:

    cpu         every element, by code compiled for the CPU
    ptx         every map's kernel compiled for a GPU, and proven to be the map; no GPU needed
    simulator   every map's kernel in numba's simulator, against the integer interpreter
    cuda        every map's kernel on a GPU, against the CPU's table; collisions, round trips and
                bank conflicts there; and the fragments of matrix instructions

What a target cannot check is "not checked", with the reason, and never counts as a pass.  Only
`ptx` needs a solver; the others do without where none is installed, as far as the theorems' own
files do.
"""

from __future__ import annotations

from layout_algebra.crosschecks.junit import junit_text
from layout_algebra.crosschecks.results import (
    Checked,
    Limits,
    NotCheckedError,
    Outcome,
    Ran,
    Report,
)
from layout_algebra.crosschecks.running import Target, crosscheck, target_of
from layout_algebra.device.errors import UnavailableError

__all__ = [
    "Checked",
    "Limits",
    "NotCheckedError",
    "Outcome",
    "Ran",
    "Report",
    "Target",
    "UnavailableError",
    "crosscheck",
    "junit_text",
    "target_of",
]
