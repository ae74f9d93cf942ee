"""`canonicalize`, and the questions about a layout's form and its thread axes."""

from __future__ import annotations

from typing import Any

import pytest

from layout_algebra.algebra.scope import ScopeError
from layout_algebra.errors import AxisError, LayoutError
from tests import bruteforce as bf
from tests.algebra import laws
from tests.oracle.comparison import Deviation, Refused, compare, refused
from tests.oracle.judging import (
    as_written,
    canonical,
    fused_table,
    has_unit_copies,
    without_unit_copies,
)
from tests.oracle.records import (
    Record,
    has_extent_below_1,
    has_unknown_axis,
    layout_of,
    load,
    plain,
    tile_of,
    written,
)
from tests.oracle.summary import check

ERRORS = {
    "scope_conflict": [Refused(ScopeError, "one layout uses one of them")],
    "scope_disconnected": [Refused(ScopeError, "do not chain")],
    "unknown_axis": [Refused(AxisError, "unknown axis 'zzz'")],
}


def canonicalized(record: Record) -> dict[str, Any]:
    return written(layout_of(record.layout).canonicalize(target=record.target))


def by_the_rules(record: Record) -> dict[str, Any]:
    return as_written(canonical(plain(record.layout), record.target))


def fuses_warpgroups_into_warps(record: Record) -> bool:
    """The thread axes are counted in warps of a CTA, and some are on wgid."""
    if record.target is None or record.error is not None:
        return False
    layout = laws.reduced(plain(record.layout))
    return laws.scope(layout) == ("warp", "cta") and "wgid" in bf.axes(layout)


CANONICALIZE = [
    # a warpgroup is four warps: wgid x1 is warpid x4, not wgid x4
    Deviation(
        "12.3",
        lambda record: fuses_warpgroups_into_warps(record) and "wgid" in str(record.result),
        by_the_rules,
    ),
    # lanes and warps with an offset each: both count
    Deviation("12.4", ["canonicalize-0564"], by_the_rules),
    Deviation("12.13", has_extent_below_1, refused(LayoutError, "the extent is at least 1; got 0")),
    # copies of extent 1
    Deviation(
        "12.19",
        lambda record: has_unit_copies(record) and not fuses_warpgroups_into_warps(record),
        lambda record: without_unit_copies(record.result),
    ),
]


def test_canonicalize(record_property):
    outcome = compare(
        "canonicalize", load("canonicalize"), canonicalized, CANONICALIZE, errors=ERRORS
    )
    check(outcome, record_property)


def test_every_canonical_form_is_the_map_and_the_form_of_the_rules():
    """Every copy of every element, the target's axes aside; and once more it is the same."""
    for record in load("canonicalize"):
        if has_extent_below_1(record) or has_unknown_axis(record) or record.error is not None:
            continue
        ours = canonicalized(record)
        layout = plain(record.layout)
        wanted = fused_table(bf.table(layout), laws.reduced(layout), record.target)
        assert bf.table(plain(ours)) == wanted, record
        assert laws.is_canonical(plain(ours)), record
        assert ours == by_the_rules(record), record
        again = layout_of(ours).canonicalize(target=record.target)
        assert written(again) == ours, record


# ----------------------------------------------------------------------------- questions


def is_ill_formed(record: Record) -> bool:
    return laws.scope(plain(record.layout)) == laws.ILL_FORMED


def is_swizzled_beyond_m(record: Record) -> bool:
    layout = plain(record.layout)
    return layout.swizzle is not None and bf.axes(layout) not in ([], ["m"])


#: Of a swizzled tile that is trivial but for copies of extent 1.
SWIZZLES_WITH_UNIT_COPIES = ["is_swizzle-0068", "is_swizzle-0100", "is_swizzle-0136"]

QUESTIONS: dict[str, list[Deviation]] = {
    "get_scope": [],
    "well_formed": [
        # TIRx wants the places of a swizzled layout on m alone
        Deviation(
            "12.15",
            lambda record: record.result is True and is_swizzled_beyond_m(record),
            lambda record: False,
        ),
        # a question is answered
        Deviation("12.18", lambda record: record.error is not None, lambda record: False),
    ],
    "is_trivial": [],
    "is_swizzle": [Deviation("12.19", SWIZZLES_WITH_UNIT_COPIES, lambda record: True)],
    "is_contiguous": [],
    "is_trainium": [
        # of a swizzled tile the answer is no, whatever its axes
        Deviation("12.18", is_ill_formed, lambda record: False)
    ],
}


def answer(record: Record) -> Any:
    name = "check_well_formed" if record.op == "well_formed" else record.op
    found = getattr(layout_of(record.layout), name)()
    return list(found) if isinstance(found, tuple) else found


@pytest.mark.parametrize("op", QUESTIONS)
def test_question(op, record_property):
    check(compare(op, load(op), answer, QUESTIONS[op], errors=ERRORS), record_property)


def test_every_answer_is_right():
    """By enumeration: also where the lines agree."""
    for record in load("get_scope"):
        wanted = laws.scope(plain(record.layout))
        if wanted != laws.ILL_FORMED:
            assert answer(record) == (None if wanted is None else list(wanted)), record
        assert (record.error is None) == (wanted != laws.ILL_FORMED), record
    for record in load("well_formed"):
        assert answer(record) is laws.well_formed(plain(record.layout)), record
        why = layout_of(record.layout).why_ill_formed()
        assert (why is None) is answer(record), record
    for record in load("is_trivial"):
        assert answer(record) is laws.is_identity(plain(record.layout)), record
    for record in load("is_swizzle"):
        tile = laws.is_identity(laws.affine(plain(record.layout)))
        assert answer(record) is ("compose" in record.layout and tile), record
    for record in load("is_contiguous"):
        assert answer(record) is laws.is_consecutive(plain(record.layout)), record
    for record in load("is_trainium"):
        memory = {axis for _, _, axis in tile_of(record.layout)["shard"]} & set(laws.MEMORY)
        wanted = "compose" not in record.layout and memory <= {"P", "F", "Bank"}
        assert answer(record) is wanted, record
