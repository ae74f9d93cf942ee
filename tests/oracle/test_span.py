"""`span`: the size of a buffer that holds every place."""

from __future__ import annotations

from layout_algebra.errors import AxisError, LayoutError
from tests import bruteforce
from tests.oracle.comparison import Deviation, compare, refused
from tests.oracle.records import (
    AXES,
    MEMORY,
    Record,
    axes_of,
    has_extent_below_1,
    has_unknown_axis,
    layout_of,
    load,
    plain,
)
from tests.oracle.summary import check


def memory_axes(record: Record) -> list[str]:
    return sorted(axes_of(record.layout) & set(MEMORY))


def names_no_axis(record: Record) -> bool:
    """An unknown axis, in the question put to a tile or in the layout itself."""
    asked = record.args["axis"]
    unknown = asked is not None and asked not in AXES and record.error is None
    return unknown or has_unknown_axis(record)


def has_no_one_axis(record: Record) -> bool:
    return record.args["axis"] is None and len(memory_axes(record)) > 1


def true_span(record: Record) -> int:
    """By enumeration of all places."""
    asked = record.args["axis"]
    if asked is None:
        found = memory_axes(record)
        if not found:
            return 1
        (asked,) = found
    return bruteforce.span(plain(record.layout), asked)


DEVIATIONS = [
    Deviation("12.13", has_extent_below_1, refused(LayoutError, "the extent is at least 1; got 0")),
    # different memory axes are not added up
    Deviation("12.17", has_no_one_axis, refused(LayoutError, "name the one you mean")),
    # a swizzled layout has a span on m as well
    Deviation(
        "12.17",
        lambda record: record.error is not None and record.args["axis"] in AXES,
        true_span,
    ),
    # strides that are negative
    Deviation(
        "12.17",
        ["span-0006", "span-0103", "span-0157", "span-0173", "span-0225"],
        true_span,
    ),
    # offsets that are negative
    Deviation("12.17", ["span-0099", "span-0112", "span-0123"], true_span),
    # swizzles that reach further than their tile
    Deviation("12.17", ["span-0143", "span-0164"], true_span),
    # the span of an axis that does not exist was 1
    Deviation("12.18", names_no_axis, refused(AxisError, "unknown axis 'zzz'")),
]


def our_span(record: Record) -> object:
    return layout_of(record.layout).span(record.args["axis"])


def test_span(record_property):
    check(compare("span", load("span"), our_span, DEVIATIONS), record_property)


def test_span_and_width_are_what_enumeration_says():
    """Also on the lines that agree, and on every axis of every layout."""
    for record in load("span"):
        if has_extent_below_1(record) or has_unknown_axis(record):
            continue
        layout, judge = layout_of(record.layout), plain(record.layout)
        for axis in axes_of(record.layout):
            assert layout.span(axis) == bruteforce.span(judge, axis), (axis, record)
            assert layout.width(axis) == bruteforce.width(judge, axis), (axis, record)
        if record.error is None and not has_no_one_axis(record) and not names_no_axis(record):
            assert our_span(record) == true_span(record), record
