"""`apply` in its three forms: one element at a time."""

from __future__ import annotations

from layout_algebra.errors import AxisError, CoordinateError
from tests import bruteforce
from tests.oracle.comparison import Deviation, compare, refused
from tests.oracle.records import (
    Place,
    Record,
    first_place,
    flat_index,
    has_unknown_axis,
    layout_of,
    load,
    plain,
    shape_of,
    without_zeros,
)
from tests.oracle.summary import check


def is_outside(record: Record) -> bool:
    """An element that the layout does not have, or a coordinate past its own range."""
    if record.error is not None:
        return False
    coordinate, shape = record.args["coord"], shape_of(record)
    inside = all(0 <= number < size for number, size in zip(coordinate, shape, strict=True))
    return not inside or not 0 <= flat_index(record) < bruteforce.size(plain(record.layout))


DEVIATIONS = [
    Deviation("12.13", is_outside, refused(CoordinateError, "outside 0..")),
    # the swizzle acts on m, and other axes pass; the address of no iters is 0
    Deviation(
        "12.15",
        lambda record: record.error == "compose_not_m",
        lambda record: first_place(record.layout, flat_index(record)),
    ),
    Deviation("12.18", has_unknown_axis, refused(AxisError, "unknown axis 'zzz'")),
]


def place_of(record: Record) -> Place:
    layout = layout_of(record.layout)
    return layout.apply(*record.args["coord"], shape=record.args.get("shape"))


def same_place(ours: Place, theirs: Place) -> bool:
    return without_zeros(ours) == without_zeros(theirs)


def test_apply(record_property):
    outcome = compare("apply", load("apply"), place_of, DEVIATIONS, same_place)
    check(outcome, record_property)


def test_apply_and_places_are_what_enumeration_says():
    """The axes too: all of shard and offset, and m under a swizzle, also where 0."""
    asked = 0
    for record in load("apply"):
        if record.error == "rank_mismatch" or is_outside(record) or has_unknown_axis(record):
            continue
        asked += 1
        flat = flat_index(record)
        assert place_of(record) == first_place(record.layout, flat), record
        places = layout_of(record.layout).places(
            *record.args["coord"], shape=record.args.get("shape")
        )
        found = [bruteforce.make_place(place) for place in places]
        assert len(found) == len(set(found)), record
        assert set(found) == bruteforce.places(plain(record.layout), flat), record
    assert asked > 200
