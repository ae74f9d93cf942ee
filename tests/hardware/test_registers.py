"""Warpgroup tiles in registers: the row map by brute force, the refusals, and the carried lines."""

from __future__ import annotations

from itertools import product

import pytest

from layout_algebra import Dim
from layout_algebra.errors import LayoutError
from layout_algebra.hardware import wg_local_layout
from tests.oracle.comparison import Deviation, compare, refused
from tests.oracle.records import Record, load, written
from tests.oracle.summary import check


@pytest.mark.parametrize(("cols", "rows"), [(1, 1), (1, 128), (8, 128), (7, 100), (64, 64)])
def test_a_row_for_each_thread(cols, rows):
    layout = wg_local_layout(cols, rows)
    assert layout.size() == rows * cols
    for r, c in product(range(rows), range(cols)):
        assert layout.apply(r, c) == {"tid_in_wg": r, "m": c}


def test_128_rows_unless_told_otherwise():
    assert wg_local_layout(8) == wg_local_layout(8, rows=128)


def test_one_layout_for_all_sizes():
    rows, cols = Dim("rows", at_least=1, at_most=128), Dim("cols", at_least=1)
    assert wg_local_layout(cols, rows).evaluated(rows=100, cols=7) == wg_local_layout(7, 100)


REFUSED = [
    ((0,), "cols is a positive int or a Dim; got 0"),
    ((-2, 16), "cols is a positive int or a Dim; got -2"),
    ((1.5,), "cols is a positive int or a Dim; got 1.5"),
    ((True,), "cols is a positive int or a Dim; got True"),
    ((4, 0), "rows is 1 to 128 (the threads of a warpgroup); got 0"),
    ((4, -1), "rows is 1 to 128 (the threads of a warpgroup); got -1"),
    ((4, 129), "rows is 1 to 128 (the threads of a warpgroup); got 129"),
    ((4, "128"), "rows is 1 to 128 (the threads of a warpgroup); got '128'"),
    ((4, Dim("rows", at_least=129)), "rows is 1 to 128 (the threads of a warpgroup); got rows"),
]


@pytest.mark.parametrize(("arguments", "says"), REFUSED)
def test_refusals(arguments, says):
    with pytest.raises(LayoutError) as caught:
        wg_local_layout(*arguments)
    assert str(caught.value) == f"wg_local_layout: {says}"


# -- the carried lines -------------------------------------------------------------------------
def rows_of(record: Record) -> int:
    arguments = record.args["args"]
    return arguments[1] if len(arguments) > 1 else 128


def bad_rows(record: Record) -> bool:
    return not 1 <= rows_of(record) <= 128


def bad_columns_only(record: Record) -> bool:
    return record.args["args"][0] < 1 and not bad_rows(record)


DEVIATIONS = [
    Deviation("12.13", bad_rows, refused(LayoutError, "rows is 1 to 128")),
    Deviation("12.13", bad_columns_only, refused(LayoutError, "cols is a positive int or a Dim")),
]


def test_wg_local_layout(record_property):
    outcome = compare(
        "wg_local_layout",
        load("wg_local_layout"),
        lambda record: written(wg_local_layout(*record.args["args"])),
        DEVIATIONS,
    )
    check(outcome, record_property)
