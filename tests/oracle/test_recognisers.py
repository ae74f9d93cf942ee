"""`is_tile_inner`, `is_tile_outer`, `is_direct_sum_left` and `is_direct_sum_right`."""

from __future__ import annotations

from typing import Any

import pytest

from layout_algebra.algebra.group import GroupError
from layout_algebra.algebra.scope import ScopeError
from tests.oracle.comparison import Deviation, Lawful, Refused, compare
from tests.oracle.judging import same_canonically
from tests.oracle.records import Record, layout_of, load, written
from tests.oracle.searching import OWN_SHAPE, Search
from tests.oracle.summary import check


def answer(record: Record) -> dict[str, Any] | None:
    layout, (whole, *shapes) = layout_of(record.layout), record.args.values()
    recognise = getattr(layout, record.op)
    found = recognise(layout_of(whole), *shapes, target=record.target)
    return None if found is None else written(found)


def the_right_one(record: Record) -> Lawful:
    return Lawful(
        "a layout that gives back the whole; None where there is none",
        Search.of(record).finds,
    )


def one_by_the_law(item: str, *numbers: str) -> Deviation:
    op, *digits = numbers
    return Deviation(item, [f"{op}-{number}" for number in digits], the_right_one)


DEVIATIONS = {
    "is_tile_inner": [
        # inner's offset is not tiled's: it is lacking in the outer layout, or there is none
        one_by_the_law("12.6", "is_tile_inner", "0064", "0069", "0074", "0203"),
        # and so are copies
        one_by_the_law("12.6", "is_tile_inner", "0032"),
        # copies of the outer layout: the span does not scale them
        one_by_the_law(
            "12.6",
            "is_tile_inner",
            *("0003", "0006", "0068", "0091", "0133", "0172", "0185", "0230"),
        ),
        # the outer layout on the thread axes of the whole
        one_by_the_law("12.6", "is_tile_inner", "0083", "0097", "0171", "0233"),
        # a swizzle over an axis on which it does not act is not a bare one
        one_by_the_law("12.15", "is_tile_inner", "0125"),
        # spans of inner layouts with negative strides
        one_by_the_law("12.17", "is_tile_inner", "0113", "0163", "0215", "0218"),
    ],
    "is_tile_outer": [
        # the same: offsets, copies, thread axes
        one_by_the_law("12.6", "is_tile_outer", "0031", "0047", "0061"),
        one_by_the_law("12.6", "is_tile_outer", "0051", "0145", "0181"),
        # offsets on two axes that fuse into one
        one_by_the_law("12.7", "is_tile_outer", "0157"),
        one_by_the_law("12.17", "is_tile_outer", "0044", "0052", "0127"),
    ],
    "is_direct_sum_left": [
        # copies that the whole lacks
        one_by_the_law("12.6", "is_direct_sum_left", "0056", "0161"),
        # lanes in a sum that is fused
        one_by_the_law("12.6", "is_direct_sum_left", "0130"),
    ],
    "is_direct_sum_right": [],
}

ERRORS = {
    "rank_mismatch": [
        Refused(GroupError, "tiled_shape ("),
        Refused(GroupError, "an interleaved shape has two sizes for each dimension of ("),
    ],
    "not_divisible": [
        Refused(GroupError, " of tiled_shape"),
        Refused(GroupError, "a bare swizzle stands for whole periods of "),
    ],
    "not_groupable": [
        Refused(GroupError, "cannot be cut to shape ("),
        Refused(GroupError, " is given"),
    ],
    "scope_disconnected": [Refused(ScopeError, "do not chain")],
}


@pytest.mark.parametrize("op", OWN_SHAPE)
def test_recogniser(op, record_property):
    outcome = compare(op, load(op), answer, DEVIATIONS[op], same_canonically, ERRORS)
    check(outcome, record_property)


@pytest.mark.parametrize("op", OWN_SHAPE)
def test_every_answer_is_right(op):
    """What is found gives back the whole; where nothing is found there is nothing."""
    seen = {True: 0, False: 0}
    for record in load(op):
        if record.error is None:
            ours, search = answer(record), Search.of(record)
            assert search.finds(ours), (record, ours)
            assert ours is None or not search.has_none, record
            seen[ours is None] += 1
    assert min(seen.values()) > 10


@pytest.mark.parametrize("op", OWN_SHAPE)
def test_what_we_do_not_follow_is_wrong(op):
    """A layout that does not give back the whole, or None where there is one."""
    for record in load(op):
        if any(deviation.covers(record) for deviation in DEVIATIONS[op]):
            assert not Search.of(record).finds(record.result), record


#: A tile for the span of their inner layout, whose offset is negative: none for ours (12.17).
FLAGGED_AND_AGREED = {"is_tile_inner-0063"}


def test_flagged_lines_are_among_them():
    rest = {
        record.id
        for op in OWN_SHAPE
        for record in load(op)
        if record.flags and not any(deviation.covers(record) for deviation in DEVIATIONS[op])
    }
    assert rest == FLAGGED_AND_AGREED
