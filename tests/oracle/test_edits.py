"""`permute_dims`, `permute_by_groups`, `pack`, `unpack`, `broadcast` and `storage`."""

from __future__ import annotations

from typing import Any

import pytest

from layout_algebra.algebra.group import GroupError
from layout_algebra.errors import LayoutError
from tests import bruteforce as bf
from tests.algebra import laws
from tests.algebra.laws import Table
from tests.oracle.comparison import Deviation, Refused, compare, refused
from tests.oracle.records import Record, layout_of, load, plain, tile_of, written
from tests.oracle.summary import check


def answer(record: Record) -> dict[str, Any]:
    return written(getattr(layout_of(record.layout), record.op)(**record.args))


def is_no_permutation(record: Record) -> bool:
    perm = record.args["perm"]
    return record.error is None and sorted(perm) != list(range(len(perm)))


def has_num_0(record: Record) -> bool:
    return record.args["num"] == 0 and record.error is None


def is_on_a_thread_axis(record: Record) -> bool:
    return record.args.get("axis") == "laneid" and record.args["num"] > 0 and record.error is None


def is_beside_the_swizzle(record: Record) -> bool:
    """Elements of a swizzled layout that are packed on an axis that the swizzle does not touch."""
    beside = record.args.get("axis", "m") not in ("m", "laneid")
    return beside and "compose" in record.layout and record.error is None


def is_read_in_two_ways(record: Record) -> bool:
    """By the two references. That of axes is right: one axis is packed, with all that is on it."""
    return record.tirx is not None and record.args["num"] > 0


def by_axes(record: Record) -> Any:
    assert record.tirx is not None
    if "result" in record.tirx:
        return record.tirx["result"]
    wrong = {"not_packable": "pack: the last iter must step by 1 on m", "not_divisible": "pack: "}
    return Refused(LayoutError, wrong[record.tirx["error"]])


def with_the_same_swizzle(record: Record) -> dict[str, Any]:
    given, made = record.layout["compose"], record.result["compose"]
    return {"compose": {**made, "per_element": given["per_element"]}}


PACKING = [
    Deviation("12.5", is_read_in_two_ways, by_axes),
    Deviation("12.5", is_on_a_thread_axis, refused(LayoutError, "packed on a memory axis; laneid")),
]

DEVIATIONS: dict[str, list[Deviation]] = {
    "permute_dims": [
        Deviation("12.13", is_no_permutation, refused(LayoutError, "names 0.."))
    ],
    "permute_by_groups": [],
    "pack": PACKING,
    "unpack": [
        *PACKING,
        Deviation("12.13", has_num_0, refused(LayoutError, "the number of elements is at least 1")),
        # where the swizzle does not act it is not widened
        Deviation("12.15", is_beside_the_swizzle, with_the_same_swizzle),
    ],
    "broadcast": [
        Deviation("12.13", has_num_0, refused(LayoutError, "the extent is at least 1; got 0")),
    ],
    "storage": [],
}  # fmt: skip

SEPARATORS = Refused(GroupError, "separators go from 0 up to ")
PERMUTATION = Refused(LayoutError, "once each; got ")
ERRORS = {
    "rank_mismatch": [PERMUTATION, SEPARATORS],
    "index_error": [PERMUTATION],
    "bad_perm": [PERMUTATION],
    "not_packable": [
        Refused(LayoutError, "pack: the last iter must step by 1 on "),
        Refused(LayoutError, "packed on a memory axis; laneid"),
    ],
    "not_divisible": [Refused(LayoutError, " does not divide the stride ")],
    "not_power_of_two": [Refused(LayoutError, "the number of elements is a power of two")],
    "per_element_too_small": [
        Refused(LayoutError, "that the swizzle keeps together"),
        Refused(LayoutError, "packed on a memory axis; laneid"),
    ],
    # a division by 0
    "internal_error": [
        Refused(LayoutError, "the number of elements is at least 1"),
        Refused(LayoutError, "the number of elements is a power of two"),
    ],
}


@pytest.mark.parametrize("op", DEVIATIONS)
def test_edit(op, record_property):
    """Replicas as multisets; all else as it is written."""
    outcome = compare(op, load(op), answer, DEVIATIONS[op], errors=ERRORS)
    check(outcome, record_property)


def by_the_law(record: Record) -> Table | None:
    """The table of the result, from the table of the layout."""
    layout, args = plain(record.layout), record.args
    table, extents = bf.table(layout), [extent for extent, _, _ in layout.shard]
    match record.op:
        case "permute_dims":
            return laws.permuted(layout, args["perm"])
        case "permute_by_groups":
            seps = args["seps"]
            order = [k for d in args["perm"] for k in range(seps[d], seps[d + 1])]
            return laws.permuted(layout, order)
        case "unpack":
            return laws.unpacked(table, args["num"], args.get("axis", "m"))
        case "pack":
            return laws.packed(table, args["num"], args.get("axis", "m"))
        case "broadcast":
            position, rank = args["position"], len(extents)
            at = position if position >= 0 else position + rank + 1
            at = min(at, rank) if at >= 0 else max(at + rank, 0)  # as list.insert reads it
            return laws.broadcast(table, extents, args["num"], at)
        case _:
            return laws.stored(layout)


def answered(op: str) -> list[Record]:
    """The lines for which there is a result."""
    found = []
    for record in load(op):
        covering = [deviation for deviation in DEVIATIONS[op] if deviation.covers(record)]
        wanted = covering[0].ours(record) if covering else record.result
        if isinstance(wanted, dict):
            found.append(record)
    return found


@pytest.mark.parametrize("op", DEVIATIONS)
def test_every_result_is_that_of_the_law(op):
    assert len(answered(op)) > 30
    for record in answered(op):
        assert bf.table(plain(answer(record))) == by_the_law(record), record


@pytest.mark.parametrize("op", ["pack", "unpack"])
def test_what_is_read_in_two_ways_is_wrong_in_the_other(op):
    """Where it moved other axes, or left copies and offsets behind."""
    wrong = 0
    for record in load(op):
        if is_read_in_two_ways(record) and record.flags:
            wrong += 1
            assert bf.table(plain(record.result)) != by_the_law(record), record
    assert wrong > 20


def test_packing_takes_unpacking_back():
    """On the axis of the line, under a swizzle too; of the iter that came a unit stays."""
    for record in answered("unpack"):
        layout = layout_of(record.layout)
        back = written(layout.unpack(**record.args).pack(**record.args))
        unit = tile_of(back)["shard"].pop()
        assert unit == [1, 1, record.args.get("axis", "m")], record
        assert back == written(layout), record


def test_storage_keeps_no_thread_axis():
    for record in load("storage"):
        tile = tile_of(answer(record))
        named = {axis for _, _, axis in (*tile["shard"], *tile["replica"])} | set(tile["offset"])
        assert named.isdisjoint(laws.COUNTS), record
