"""The counts of every operation, after pytest's own summary of a run.

A test records its counts as a property of its report. Reports of other processes (`-n 2`) bring
their properties along, so that the process that prints has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle.comparison import Outcome

PROPERTY = "oracle"


def check(outcome: Outcome, record_property: Callable[[str, object], None]) -> None:
    """The end of a test: tell the summary, and fail with every fault."""
    record_property(PROPERTY, str(outcome))
    assert not outcome.faults, "\n".join([str(outcome), *outcome.faults])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A line for each operation, such as `oracle size: 101 lines, 90 agree, ...`."""
    lines = {
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY
    }
    if lines:
        terminalreporter.section("oracle")
    for line in sorted(lines):
        terminalreporter.write_line(line)
