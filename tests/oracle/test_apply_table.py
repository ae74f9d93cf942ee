"""`table`: every element at once."""

from __future__ import annotations

from itertools import product
from typing import Any

from layout_algebra.layouts import ComposeLayout, TileLayout
from tests import bruteforce
from tests.oracle.comparison import compare
from tests.oracle.records import Place, Record, layout_of, load, plain, tile_of, without_zeros
from tests.oracle.summary import check


def columns(record: Record) -> dict[str, Any]:
    """Axis -> flat array; of copies, which have dimensions of their own at the end, the first."""
    layout = layout_of(record.layout)
    first = (..., *(0 for _ in layout.replica))
    table = layout.table(record.args.get("shape"))
    return {axis: numbers[first].reshape(-1).tolist() for axis, numbers in table.items()}


def rows(table: dict[str, Any]) -> list[Place]:
    """A place for each element, without the axes on which it is 0."""
    return [
        without_zeros(dict(zip(table, numbers, strict=True)))
        for numbers in zip(*table.values(), strict=True)
    ]


def answer(record: Record) -> list[Place]:
    found = rows(columns(record))
    assert len(found) == record.args["size"]
    return found


def same_rows(ours: list[Place], theirs: dict[str, Any]) -> bool:
    return ours == rows(dict(zip(theirs["axes"], zip(*theirs["rows"], strict=True), strict=True)))


def test_apply_table(record_property):
    outcome = compare("apply_table", load("apply_table"), answer, same=same_rows)
    check(outcome, record_property)


def test_every_copy_in_the_table_is_where_enumeration_says():
    for record in load("apply_table"):
        layout, judge = layout_of(record.layout), plain(record.layout)
        copies = list(bruteforce.all_replica_digits(judge))
        table = {
            axis: numbers.reshape(record.args["size"], len(copies)).tolist()
            for axis, numbers in layout.table(record.args.get("shape")).items()
        }
        for flat, (position, copy) in product(range(record.args["size"]), enumerate(copies)):
            ours = {axis: numbers[flat][position] for axis, numbers in table.items()}
            wanted = bruteforce.copy_place(judge, flat, copy)
            assert bruteforce.make_place(ours) == wanted, record


def test_apply_says_the_same_as_the_table():
    """Every element in all three forms of `apply`."""
    for record in load("apply_table"):
        layout = layout_of(record.layout)
        wanted = rows(columns(record))
        extents = [extent for extent, _, _ in tile_of(record.layout)["shard"]]
        forms = [((flat,), None) for flat in range(record.args["size"])]
        assert [_apply(layout, *form) for form in forms] == wanted, record
        if len(extents) > 1:
            forms = [(point, None) for point in product(*map(range, extents))]
            assert [_apply(layout, *form) for form in forms] == wanted, record
        if shape := record.args.get("shape"):
            forms = [(point, shape) for point in product(*map(range, shape))]
            assert [_apply(layout, *form) for form in forms] == wanted, record


def _apply(layout: TileLayout | ComposeLayout, point: tuple[int, ...], shape: Any) -> Place:
    return without_zeros(layout.apply(*point, shape=shape))
