"""Trainium's constructors, line by line."""

from __future__ import annotations

from typing import Any

from layout_algebra.errors import LayoutError
from layout_algebra.hardware.trainium import to_psum, trainium_layout
from tests.oracle.comparison import Deviation, Refused, compare, refused
from tests.oracle.records import Record, by_axis, layout_of, load, written
from tests.oracle.summary import check


def too_many_banks(record: Record) -> bool:
    return "psum_more_than_8_banks" in record.flags


def within_a_bank(record: Record) -> int:
    """The last word that the reference's answer names in a bank, offset and copies included."""
    tile = record.result
    return sum((e - 1) * s for e, s, axis in tile["shard"] if axis == "F")


def runs_over(record: Record) -> bool:
    """The answer has words 512 and on, which no bank has."""
    return record.error is None and within_a_bank(record) > 511


def lost(record: Record) -> bool:
    """Copies and offset on F."""
    return "to_psum_changes_place" in record.flags and not runs_over(record)


def kept(record: Record) -> dict[str, Any]:
    """The reference's answer with the copies and the offset, which stay within a bank here."""
    assert all(e * s <= 256 for e, s, axis in record.layout["replica"] if axis == "F")
    assert 0 <= record.layout["offset"].get("F", 0) < 256
    return {
        **record.result,
        "replica": by_axis(record.layout["replica"]),
        "offset": record.layout["offset"],
    }


ERRORS = {
    "rank_mismatch": [Refused(LayoutError, "one letter for each dimension")],
    "assertion": [
        Refused(LayoutError, "the annotation is of letters P and F"),
        Refused(LayoutError, "there are 128 partitions"),
    ],
    "not_psum": [Refused(LayoutError, "to_psum: an iter on F has a stride that is a multiple")],
}
TRAINIUM = [Deviation("12.10", too_many_banks, refused(LayoutError, "PSUM has 8 banks"))]
TO_PSUM = [
    Deviation("12.10", lost, kept),
    Deviation("12.10", runs_over, refused(LayoutError, "a bank has words 0 to 511")),
]


def test_trainium(record_property):
    outcome = compare(
        "trainium",
        load("trainium"),
        lambda record: written(
            trainium_layout(record.args["annotation"], record.args["shape"], record.args["is_psum"])
        ),
        TRAINIUM,
        errors=ERRORS,
    )
    check(outcome, record_property)


def test_to_psum(record_property):
    def answer(record: Record) -> dict[str, Any]:
        layout = layout_of(record.layout)
        return written(to_psum(layout))  # type: ignore[arg-type]

    outcome = compare("to_psum", load("to_psum"), answer, TO_PSUM, errors=ERRORS)
    check(outcome, record_property)
