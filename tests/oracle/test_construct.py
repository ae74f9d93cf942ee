"""`ComposeLayout(...)` of all parameters, and back."""

from __future__ import annotations

from layout_algebra.layouts import TileLayout
from tests import bruteforce
from tests.oracle.comparison import Deviation, compare
from tests.oracle.records import (
    Record,
    has_extent_below_1,
    has_unknown_axis,
    layout_of,
    load,
    plain,
    tile_of,
    without_zeros,
    written,
)
from tests.oracle.summary import check

DEVIATIONS = [
    # a tile over lanes and warpgroups, with no level between them, is still a layout
    Deviation(
        "12.18",
        lambda record: record.error == "scope_disconnected",
        lambda record: record.layout,
    ),
]


def test_construct(record_property):
    outcome = compare(
        "construct", load("construct"), lambda record: written(layout_of(record.layout)), DEVIATIONS
    )
    check(outcome, record_property)


def test_what_was_constructed_means_what_was_written():
    """Every element and every copy, also over tiles that the lines refuse."""
    for record in load("construct"):
        if record.error in (None, "scope_disconnected"):
            layout, judge = layout_of(record.layout), plain(record.layout)
            for flat in range(bruteforce.size(judge)):
                ours = {bruteforce.make_place(place) for place in layout.places(flat)}
                assert ours == bruteforce.places(judge, flat), record


def test_tiles_are_read_and_written_back():
    """from_iters keeps what it was given, in every line of the operations here."""

    def is_a_tile(record: Record) -> bool:
        return not (has_unknown_axis(record) or has_extent_below_1(record))

    for op in ("apply", "apply_table", "size", "span"):
        for record in filter(is_a_tile, load(op)):
            tile = layout_of(tile_of(record.layout))
            assert isinstance(tile, TileLayout)
            again = layout_of(written(tile))
            assert sorted(again.replica) == sorted(tile.replica), record
            assert (again.shard, again.offset) == (tile.shard, tile.offset), record
            assert [list(it) for it in tile_of(record.layout)["shard"]] == written(tile)["shard"]
            assert without_zeros(tile_of(record.layout)["offset"]) == without_zeros(
                written(tile)["offset"]
            )
