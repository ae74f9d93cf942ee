"""`tile`, `tile_to` and `direct_sum`."""

from __future__ import annotations

from typing import Any

import pytest

from layout_algebra.algebra.group import GroupError
from layout_algebra.algebra.scope import ScopeError
from tests import bruteforce as bf
from tests.algebra import laws
from tests.oracle.comparison import Deviation, Lawful, Refused, compare, refused
from tests.oracle.judging import has_unit_copies, sum_table, without_unit_copies
from tests.oracle.records import Record, layout_of, load, plain, written
from tests.oracle.summary import check

OPS = ("tile", "tile_to", "direct_sum")


def answer(record: Record) -> dict[str, Any]:
    layout, args = layout_of(record.layout), dict(record.args)
    other = [layout_of(args.pop(name)) for name in ("outer", "left") if name in args]
    return written(getattr(layout, record.op)(*other, *args.values(), target=record.target))


def has_bare_swizzle(record: Record) -> bool:
    """One that stands for a shape of neither whole periods nor as many elements as its tile."""
    shape = record.args.get("inner_shape", record.args.get("right_shape"))
    return shape is not None and laws.stands_for(plain(record.layout), shape) is None


def is_the_sum(record: Record, ours: dict[str, Any]) -> bool:
    """By the law, every copy of every element; and in canonical form."""
    found = plain(ours)
    same_swizzle = found.swizzle == plain(record.layout).swizzle
    return same_swizzle and bf.table(found) == sum_table(record) and laws.is_canonical(found)


def the_sum(record: Record) -> Lawful:
    return Lawful("the sum of the law, canonical", lambda ours: is_the_sum(record, ours))


def with_unit_copies(*, but: tuple[str, ...] = ()) -> Deviation:
    return Deviation(
        "12.19",
        lambda record: has_unit_copies(record) and record.id not in but,
        lambda record: without_unit_copies(record.result),
    )


BARE = refused(GroupError, "a bare swizzle stands for whole periods of ")

DEVIATIONS = {
    "tile": [
        # warps of a warpgroup tiled over warpgroups are warps of a CTA
        Deviation("12.3", ["tile-0010", "tile-0011", "tile-0182", "tile-0211"], the_sum),
        # spans on the axes that the two layouts name, not on the fused ones
        Deviation("12.7", ["tile-0190"], the_sum),
        Deviation("12.16", has_bare_swizzle, BARE),
        # spans of inner layouts with negative strides
        Deviation(
            "12.17",
            ["tile-0059", "tile-0065", "tile-0273", "tile-0304", "tile-0320"],
            the_sum,
        ),
        # and with negative offsets
        Deviation("12.17", ["tile-0164", "tile-0181", "tile-0192", "tile-0251"], the_sum),
        with_unit_copies(),
    ],
    "tile_to": [
        # sizes that do not divide
        Deviation(
            "12.11",
            ["tile_to-0013", "tile_to-0087", "tile_to-0149"],
            refused(GroupError, " of current_shape: "),
        ),
        # a swizzle over an axis on which it does not act is not a bare one
        Deviation("12.15", ["tile_to-0012"], the_sum),
        # a negative stride
        Deviation("12.17", ["tile_to-0154"], the_sum),
        with_unit_copies(),
    ],
    "direct_sum": [
        # the sum is fused, not each side alone
        Deviation("12.7", ["direct_sum-0205"], the_sum),
        Deviation("12.15", ["direct_sum-0158"], the_sum),
        Deviation("12.16", has_bare_swizzle, BARE),
        with_unit_copies(),
    ],
}

ERRORS = {
    "rank_mismatch": [
        Refused(GroupError, "outer_shape ("),
        Refused(GroupError, "left_shape ("),
    ],
    "not_groupable": [Refused(GroupError, "cannot be cut to shape (")],
    "scope_conflict": [Refused(ScopeError, "one layout uses one of them")],
    "scope_disconnected": [Refused(ScopeError, "do not chain")],
    # tile_to of shapes of two ranks
    "index_error": [Refused(GroupError, "to_shape (")],
}


@pytest.mark.parametrize("op", OPS)
def test_sum(op, record_property):
    outcome = compare(op, load(op), answer, DEVIATIONS[op], errors=ERRORS)
    check(outcome, record_property)


def is_refused(record: Record) -> bool:
    """Lines for which there is no sum."""
    covering = [d for d in DEVIATIONS[record.op] if d.covers(record)]
    if covering:
        return isinstance(covering[0].ours(record), Refused)
    return record.error is not None


@pytest.mark.parametrize("op", OPS)
def test_every_sum_is_that_of_the_law(op):
    for record in load(op):
        if not is_refused(record):
            assert is_the_sum(record, answer(record)), record


@pytest.mark.parametrize("op", OPS)
def test_what_we_do_not_follow_is_not_the_sum(op):
    """Of 12.3, 12.15 and 12.17: the lines' results fail the law."""
    for record in load(op):
        if record.result is not None and record.id in _listed(op) and not is_refused(record):
            assert bf.table(plain(record.result)) != sum_table(record), record


def _listed(op: str) -> set[str]:
    return {name for d in DEVIATIONS[op] if not callable(d.lines) for name in d.lines}


def test_flagged_lines_that_we_agree_with():
    """Copies of outer are not scaled and may collide (12.17); bare swizzles fit by 12.16."""
    flags = {
        flag
        for op in OPS
        for record in load(op)
        if not any(deviation.covers(record) for deviation in DEVIATIONS[op])
        for flag in record.flags
    }
    assert flags == {"tile_of_disjoint_layouts_overlaps", "bare_swizzle_accepts_any_shape"}
