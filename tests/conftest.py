"""Hooks for the whole run.

Those of a folder's own conftest are not seen by the process that prints under `-n`, which collects
nothing; so they are named here.
"""

from hypothesis import settings

from tests.oracle.summary import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

# How long an example takes is the benchmarks' business: a busy machine is no failure.
settings.register_profile("package", deadline=None)
settings.load_profile("package")
