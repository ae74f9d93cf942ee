"""`slice`: the restriction to a region, wherever it is a layout."""

from __future__ import annotations

from typing import Any

from layout_algebra.algebra.group import GroupError
from layout_algebra.errors import CoordinateError
from tests.oracle.comparison import Deviation, Lawful, Refused, compare, refused
from tests.oracle.judging import same_canonically, slice_is
from tests.oracle.records import Record, layout_of, load, written
from tests.oracle.summary import check


def answer(record: Record) -> dict[str, Any] | None:
    args = record.args
    found = layout_of(record.layout).slice(args["shape"], args["region"], target=record.target)
    return None if found is None else written(found)


def the_restriction(record: Record) -> Lawful:
    return Lawful("the restriction", lambda ours: slice_is(record, ours))


def is_no_region(record: Record) -> bool:
    """Empty, reversed, or beyond the shape."""
    shape, region = record.args["shape"], record.args["region"]
    return len(shape) == len(region) and not all(
        0 <= begin < end <= size for (begin, end), size in zip(region, shape, strict=True)
    )


def ends_beyond(record: Record) -> bool:
    ends = [end for _, end in record.args["region"]]
    return is_no_region(record) and any(
        end > size for end, size in zip(ends, record.args["shape"], strict=True)
    )


DEVIATIONS = [
    # a carry that goes further than to the next digit
    Deviation(
        "12.1",
        [
            *("slice-0481", "slice-0488", "slice-0495", "slice-0504", "slice-0519"),
            *("slice-0525", "slice-0532", "slice-0545"),
        ],
        the_restriction,
    ),
    Deviation("12.2", ends_beyond, refused(CoordinateError, " of the region ends at ")),
    Deviation(
        "12.2",
        lambda record: is_no_region(record) and not ends_beyond(record),
        refused(CoordinateError, " of the region is empty: ["),
    ),
    # the answer was None, and there is one
    Deviation("12.22", ["slice-0469"], the_restriction),
]

ERRORS = {
    "rank_mismatch": [Refused(CoordinateError, "a region of ")],
    "not_groupable": [Refused(GroupError, "cannot be cut to shape (")],
}


def test_slice(record_property):
    """12.22: in canonical form, without explicit offsets of 0 and iters of extent 1."""
    outcome = compare("slice", load("slice"), answer, DEVIATIONS, same_canonically, ERRORS)
    check(outcome, record_property)


def test_every_answer_is_the_restriction():
    """Element by element; and None, with a reason, where no layout is, by search."""
    seen = {True: 0, False: 0}
    for record in load("slice"):
        if record.error is None and not is_no_region(record):
            ours, args = answer(record), record.args
            assert slice_is(record, ours), (record, ours)
            why = layout_of(record.layout).why_no_slice(args["shape"], args["region"])
            assert (why is not None) == (ours is None), record
            seen[ours is None] += 1
    assert min(seen.values()) > 10


def test_what_we_do_not_follow_is_wrong():
    for record in load("slice"):
        listed = any(deviation.covers(record) for deviation in DEVIATIONS)
        if listed and not is_no_region(record):
            assert not slice_is(record, record.result), record
        assert listed or not record.flags, record
