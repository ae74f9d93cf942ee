"""`group`, `group_many` and `apply_to_shape`."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

from layout_algebra.algebra.group import GroupError
from tests import bruteforce as bf
from tests.algebra import laws
from tests.oracle.comparison import Refused, compare
from tests.oracle.records import Record, layout_of, load, plain, written
from tests.oracle.summary import check


def grouped(record: Record) -> dict[str, Any]:
    layout, seps = layout_of(record.layout).group(record.args["shape"])
    return {"layout": written(layout), "seps": list(seps)}


def grouped_many(record: Record) -> dict[str, Any]:
    layout, every = layout_of(record.layout).group_many(record.args["shapes"])
    return {"layout": written(layout), "seps": [list(seps) for seps in every]}


def same_cut(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """12.21: all but the strides of iters of extent 1."""
    return _units_aside(ours) == _units_aside(theirs)


def _units_aside(cut: dict[str, Any]) -> dict[str, Any]:
    layout = cut["layout"]
    shard = [[e, None if e == 1 else s, axis] for e, s, axis in layout["shard"]]
    return {**cut, "layout": {**layout, "shard": shard}}


def test_group(record_property):
    errors = {"not_groupable": [Refused(GroupError, "cannot be cut to shape (")]}
    check(compare("group", load("group"), grouped, same=same_cut, errors=errors), record_property)


def test_group_many(record_property):
    errors = {
        "group_many": [
            Refused(GroupError, "do not divide one another"),
            Refused(GroupError, "a shape without dimensions"),
            Refused(GroupError, "elements, the layout "),
        ]
    }
    outcome = compare("group_many", load("group_many"), grouped_many, same=same_cut, errors=errors)
    check(outcome, record_property)


def test_every_cut_is_the_map_in_groups_of_the_shape():
    """And where there is none, no cutting reaches every boundary of the shape."""
    for record in load("group"):
        possible = laws.can_group(plain(record.layout), record.args["shape"])
        assert possible == (record.error is None), record
        if possible:
            ours = grouped(record)
            is_cut(record, ours["layout"], ours["seps"], record.args["shape"])
    for record in load("group_many"):
        possible = laws.can_group_many(plain(record.layout), record.args["shapes"])
        assert possible == (record.error is None), record
        if possible:
            ours = grouped_many(record)
            for seps, shape in zip(ours["seps"], record.args["shapes"], strict=True):
                is_cut(record, ours["layout"], seps, shape)


def is_cut(record: Record, layout: dict[str, Any], seps: list[int], shape: list[int]) -> None:
    assert bf.table(plain(layout)) == bf.table(plain(record.layout)), record
    extents = [extent for extent, _, _ in layout["shard"]]
    assert (seps[0], seps[-1]) == (0, len(extents)), record
    sizes = [prod(extents[first:last]) for first, last in pairwise(seps)]
    assert sizes == shape, record


def test_apply_to_shape(record_property):
    check(compare("apply_to_shape", load("apply_to_shape"), numbers), record_property)


def numbers(record: Record) -> list[int]:
    return layout_of(record.layout).apply_to_shape(record.args["coord"], record.args["shape"])


def test_the_numbers_are_those_of_the_flat_index():
    """Flattened over the iters that they are for."""
    for record in load("apply_to_shape"):
        layout, shape = layout_of(record.layout), record.args["shape"]
        if laws.can_group(plain(record.layout), shape):
            layout, _ = layout.group(shape)
        flat = laws.flat(record.args["coord"], shape)
        assert laws.flat(numbers(record), layout.extents) == flat, record
