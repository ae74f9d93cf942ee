"""`S[...] + R[...] + offset`, as Python and as text."""

from __future__ import annotations

import pytest

from layout_algebra.errors import NotationError
from layout_algebra.layouts import TileLayout
from tests.oracle.comparison import Deviation, compare, refused
from tests.oracle.records import NOTATION, load, written
from tests.oracle.summary import check

DEVIATIONS = [
    # extents below 1: S[0] and S[-4]
    Deviation(
        "12.13",
        ["notation-0040", "notation-0041"],
        refused(NotationError, "extent 0: the extent is at least 1"),
    ),
    # S[8:(4,"laneid")] was two strides, of which the second was dropped
    Deviation(
        "12.14",
        ["notation-0014"],
        refused(NotationError, "a single stride on an axis is written S[8 : 4@laneid]"),
    ),
    # of R[2:1]+R[3:1] the first was dropped
    Deviation("12.14", ["notation-0016"], refused(NotationError, "a layout has one R[...]")),
    # S[(4,):"m"] went through the letters of "m": with "laneid" the stride would be on an axis "l"
    Deviation("12.14", ["notation-0044"], refused(NotationError, "the strides are a list too")),
    # 1@laneid+S[4]+2 failed on the left offset
    Deviation(
        "12.14",
        ["notation-0056"],
        lambda record: {"shard": [[4, 1, "m"]], "replica": [], "offset": {"laneid": 1, "m": 2}},
    ),
]


def evaluated(text: str) -> TileLayout:
    return TileLayout(eval(text, {"__builtins__": {}}, dict(NOTATION)))


def test_notation(record_property):
    """Every line as the Python expression that it is."""
    outcome = compare(
        "notation",
        load("notation"),
        lambda record: written(evaluated(record.args["expr"])),
        DEVIATIONS,
    )
    check(outcome, record_property)


def test_notation_as_text(record_property):
    """Every line as text that is parsed."""
    parsing = pytest.importorskip("layout_algebra.parsing")
    outcome = compare(
        "notation, parsed",
        load("notation"),
        lambda record: written(parsing.parse(record.args["expr"])),
        DEVIATIONS,
    )
    check(outcome, record_property)


def test_printed_notation_is_an_expression():
    """str(layout), evaluated as Python, is the layout again."""
    for record in load("notation"):
        if record.error is None and not any(d.covers(record) for d in DEVIATIONS):
            layout = evaluated(record.args["expr"])
            assert evaluated(str(layout)) == layout, record
