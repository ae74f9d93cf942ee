"""`size`, of the layout and of one axis."""

from __future__ import annotations

from layout_algebra.errors import AxisError, LayoutError
from tests.oracle.comparison import Deviation, compare, refused
from tests.oracle.records import AXES, Record, has_extent_below_1, layout_of, load
from tests.oracle.summary import check


def names_no_axis(record: Record) -> bool:
    """An unknown name asked of a tile; of a swizzled one, any name is an error for both."""
    asked = record.args["axis"]
    return asked is not None and asked not in AXES and record.error is None


DEVIATIONS = [
    Deviation("12.13", has_extent_below_1, refused(LayoutError, "the extent is at least 1; got 0")),
    # the size of an axis that does not exist was 1
    Deviation("12.18", names_no_axis, refused(AxisError, "unknown axis 'zzz'")),
]


def test_size(record_property):
    outcome = compare(
        "size",
        load("size"),
        lambda record: layout_of(record.layout).size(record.args["axis"]),
        DEVIATIONS,
    )
    check(outcome, record_property)
