"""The facts about the registered axes, and names that are not registered."""

from __future__ import annotations

from typing import Any

from layout_algebra.axes import Axis
from tests.oracle.comparison import Deviation, compare
from tests.oracle.records import Record, load
from tests.oracle.summary import check

DEVIATIONS = [
    # the scope of bx and bz is not `thread`; the other implementation has it right
    Deviation(
        "12.9",
        lambda record: record.tirx is not None,
        lambda record: record.tirx["result"],
    ),
    # the registers of a lane, in the notation's own description
    Deviation(
        "reg",
        ["axis-0020"],
        lambda record: {"thread": False, "memory": True, "scope": None, "subscope": None},
    ),
]


def facts(record: Record) -> dict[str, Any]:
    axis = Axis.get(record.args["name"])
    return {
        "thread": axis.is_thread,
        "memory": axis.is_memory,
        "scope": axis.scope,
        "subscope": axis.subscope,
    }


def test_axis(record_property):
    check(compare("axis", load("axis"), facts, DEVIATIONS), record_property)
