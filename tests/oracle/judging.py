"""What is right, whoever says it: the laws of tests/algebra/laws.py put to lines and answers.

Layouts are plain data here, as the lines write them. Nothing of the package judges, but for the
extraction of slices, which looks at every element.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from layout_algebra.algebra.extract import extract
from layout_algebra.axes import Axis
from tests import bruteforce as bf
from tests.algebra import laws
from tests.algebra.laws import Shape, Table
from tests.bruteforce import Plain
from tests.oracle.records import Record, by_axis, plain

Layout = Mapping[str, Any]


def as_written(layout: Plain) -> dict[str, Any]:
    """Plain data in the form of a line."""
    tile = {
        "shard": [list(it) for it in layout.shard],
        "replica": by_axis([list(it) for it in layout.replica]),
        "offset": dict(layout.offset),
    }
    if layout.swizzle is None:
        return tile
    names = ("per_element", "swizzle_len", "atom_len", "swizzle_inner")
    return {"compose": dict(zip(names, layout.swizzle, strict=True)) | {"tile": tile}}


def canonical(layout: Plain, target: str | None = None) -> Plain:
    """TIRx's form with 12.3, 12.4 and 12.19: rewritten by the rules, in their order."""
    kept = laws.reduced(replace(layout, replica=()))
    kept = replace(kept, replica=layout.replica)
    if target is not None:
        kept = fused(kept)
    shard: list[tuple[int, int, str]] = []
    for extent, stride, axis in kept.shard:
        if shard and shard[-1][2] == axis and extent * stride == shard[-1][1]:
            shard[-1] = (shard[-1][0] * extent, stride, axis)
        else:
            shard.append((extent, stride, axis))
    if len(shard) == 1 and shard[0][0] == 1:
        shard = [(1, 1, shard[0][2])]
    copies = (it for it in kept.replica if it[0] != 1)
    ordered = tuple(sorted(copies, key=lambda it: (it[2], it[1], it[0])))
    offset = tuple((axis, value) for axis, value in kept.offset if value != 0)
    return Plain(tuple(shard), ordered, offset, layout.swizzle)


def fused(layout: Plain) -> Plain:
    """Every iter and offset counted on the widest thread axis; offsets that meet add up."""
    pair = laws.scope(layout)

    def moved(value: int, axis: str) -> tuple[int, str]:
        ((onto, factor),) = laws.fused_place(((axis, 1),), pair)
        return value * factor, onto

    offset: dict[str, int] = {}
    for axis, value in layout.offset:
        number, onto = moved(value, axis)
        offset[onto] = offset.get(onto, 0) + number
    return Plain(
        tuple((e, *moved(s, axis)) for e, s, axis in layout.shard),
        tuple((e, *moved(s, axis)) for e, s, axis in layout.replica),
        tuple(offset.items()),
        layout.swizzle,
    )


def without_unit_copies(layout: Layout) -> Layout:
    """12.19: what the lines write, without copies of extent 1."""
    if "compose" in layout:
        tile = without_unit_copies(layout["compose"]["tile"])
        return {"compose": {**layout["compose"], "tile": tile}}
    return {**layout, "replica": [it for it in layout["replica"] if it[0] != 1]}


def has_unit_copies(record: Record) -> bool:
    result = record.result
    return isinstance(result, dict) and without_unit_copies(result) != result


def same_canonically(ours: Layout | None, theirs: Layout | None) -> bool:
    """12.21, 12.22: answers whose form nothing fixes; equal by their canonical form."""
    if ours is None or theirs is None:
        return ours is theirs
    return canonical(plain(ours)) == canonical(plain(theirs))


# ------------------------------------------------------------------- tile and direct_sum


def sum_table(record: Record) -> Table:
    """The table of `tile`, `tile_to` or `direct_sum` by the law, as fused as the target asks."""
    args = record.args
    if record.op == "direct_sum":
        slow, slow_shape, fast_shape = plain(args["left"]), args["left_shape"], args["right_shape"]
    elif record.op == "tile":
        slow, slow_shape, fast_shape = (
            *(plain(args["outer"]), args["outer_shape"]),
            args["inner_shape"],
        )
    else:
        fast_shape = args["current_shape"]
        slow_shape = laws.halves(args["to_shape"], fast_shape)
        slow = laws.row_major(slow_shape)
    fast = laws.stands_for(plain(record.layout), fast_shape)
    assert fast is not None, record
    return combined(record.op, slow, fast, slow_shape, fast_shape, record.target)


def combined(
    op: str, slow: Plain, fast: Plain, slow_shape: Shape, fast_shape: Shape, target: str | None
) -> Table:
    slow, fast = canonical(slow), canonical(fast)
    law = laws.direct_sum if op == "direct_sum" else laws.tiled
    return fused_table(law(fast, slow, slow_shape, fast_shape), laws.mixed(slow, fast), target)


def fused_table(table: Table, mixed: Plain, target: str | None) -> Table:
    """A table on the axes to which the target fuses a layout with these iters."""
    if target is None:
        return table
    pair = laws.scope(mixed)
    return [frozenset(laws.fused_place(p, pair) for p in places) for places in table]


# --------------------------------------------------------------------------------- slice


def slice_table(record: Record) -> Table:
    """The region's elements, of the tile under the swizzle, on the axes of the target."""
    shape = record.args["shape"]
    own = laws.stands_for(plain(record.layout), shape)
    assert own is not None, record
    tile = laws.affine(own)
    tile = fused(laws.reduced(tile)) if record.target is not None else tile
    return laws.restricted(bf.table(tile), shape, record.args["region"])


def slice_is(record: Record, answer: Layout | None) -> bool:
    """Whether an answer is the restriction; or there is none, which two searches must say."""
    wanted = slice_table(record)
    if answer is not None:
        found = plain(answer)
        same_swizzle = found.swizzle == plain(record.layout).swizzle
        return same_swizzle and bf.table(laws.affine(found)) == wanted
    vectors = laws.base_vectors(wanted)
    if vectors is None:
        return True
    exists = laws.has_layout(wanted)
    by_axis = [{Axis.get(axis): value for axis, value in vector} for vector in vectors]
    assert (extract(lambda x: by_axis[x], len(vectors)) is not None) == exists, record
    return not exists
