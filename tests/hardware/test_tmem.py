"""TMEM accumulators: the row maps by brute force, the refusals, and the carried lines."""

from __future__ import annotations

import pytest

from layout_algebra import Bijective, Dim, assert_proved
from layout_algebra.errors import LayoutError
from layout_algebra.hardware import tmem_datapath_layout
from tests.oracle.comparison import Deviation, compare, refused
from tests.oracle.records import Record, load, written
from tests.oracle.summary import check

ROWS = {"A": 128, "B": 64, "C": 64, "D": 128, "E": 64, "F": 64, "G": 32}
PIECES = {"A": 1, "B": 2, "C": 1, "D": 1, "E": 2, "F": 1, "G": 4}


def lane_and_column(datapath: str, r: int, c: int, cols: int, sub_slab: int) -> tuple[int, int]:
    """The table of the datapaths, element by element."""
    if datapath in "AD":
        return r, c
    if datapath in "BE":
        return r + 64 * (c // (cols // 2)), c % (cols // 2)
    if datapath in "CF":
        return 32 * (r // 16) + 16 * sub_slab + r % 16, c
    return r + 32 * (c // (cols // 4)), c % (cols // 4)


CASES = [
    (datapath, cols, sub_slab)
    for datapath in ROWS
    for cols in (1, 2, 4, 7, 8, 12, 112, 512)
    for sub_slab in ((0, 1) if datapath in "CF" else (0,))
    if cols % PIECES[datapath] == 0
]


@pytest.mark.parametrize(("datapath", "cols", "sub_slab"), CASES)
def test_every_element_is_where_the_table_says(datapath, cols, sub_slab):
    rows = ROWS[datapath]
    layout = tmem_datapath_layout(datapath, rows, cols, sub_slab)
    assert layout.size() == rows * cols
    for r in range(rows):
        for c in {*range(min(cols, 16)), cols // 2, cols - 1}:
            lane, column = lane_and_column(datapath, r, c, cols, sub_slab)
            assert layout.apply(r, c, shape=(rows, cols)) == {"TLane": lane, "TCol": column}


@pytest.mark.parametrize("datapath", list(ROWS))
def test_one_layout_for_all_numbers_of_columns(datapath):
    pieces = PIECES[datapath]
    cols = Dim("cols", multiple_of=pieces, at_least=pieces)
    symbolic = tmem_datapath_layout(datapath, ROWS[datapath], cols)
    for number in (pieces, 8 * pieces, 512):
        concrete = tmem_datapath_layout(datapath, ROWS[datapath], number)
        assert symbolic.evaluated(cols=number) == concrete
    if datapath not in "CF":
        assert_proved(Bijective(symbolic, {"TLane": 128, "TCol": cols // pieces}))


def test_the_limit_counts_hardware_columns():
    """512 columns of 32 bits: more elements when they are narrow, and of each lane's piece."""
    assert tmem_datapath_layout("D", 128, 1024, bits=16).size() == 128 * 1024
    assert tmem_datapath_layout("D", 128, 2048, bits=8).size() == 128 * 2048
    assert tmem_datapath_layout("E", 64, 1024).size() == 64 * 1024
    assert tmem_datapath_layout("G", 32, 2048).size() == 32 * 2048
    for datapath, rows, cols, bits in [
        ("D", 128, 513, 32),
        ("D", 128, 1025, 16),
        ("D", 128, 2049, 8),
        ("E", 64, 1026, 32),
        ("G", 32, 2052, 32),
    ]:
        with pytest.raises(LayoutError, match="TMEM has 512 columns of 32 bits"):
            tmem_datapath_layout(datapath, rows, cols, bits=bits)


REFUSED = [
    (("H", 128, 64), "the datapath is one of A to G; got 'H'"),
    (("", 128, 64), "the datapath is one of A to G; got ''"),
    (("AB", 128, 64), "the datapath is one of A to G; got 'AB'"),
    ((None, 128, 64), "the datapath is one of A to G; got None"),
    (("D", 64, 64), "datapath D has 128 rows; got 64"),
    (("F", 128, 64), "datapath F has 64 rows; got 128"),
    (("G", 32.0, 64), "datapath G has 32 rows; got 32.0"),
    (("D", 128, 64, 1), "the sub-slab of datapath D is 0; got 1"),
    (("F", 64, 64, 2), "the sub-slab of datapath F is 0 or 1; got 2"),
    (("F", 64, 64, True), "the sub-slab of datapath F is 0 or 1; got True"),
    (("D", 128, 0), "cols is a positive int or a Dim; got 0"),
    (("D", 128, -4), "cols is a positive int or a Dim; got -4"),
    (("D", 128, 1.5), "cols is a positive int or a Dim; got 1.5"),
    (("D", 128, True), "cols is a positive int or a Dim; got True"),
    (("D", 128, Dim("none", at_most=0)), "cols is a positive int or a Dim; got none"),
    (("B", 64, 7), "datapath B cuts its columns into 2; got 7"),
    (("G", 32, 6), "datapath G cuts its columns into 4; got 6"),
    (("E", 64, Dim("cols")), "datapath E cuts its columns into 2; got cols"),
    (
        ("D", 128, 513),
        "TMEM has 512 columns of 32 bits, 512 elements of 32 bits; got 513 columns",
    ),
    (
        ("D", 128, Dim("cols", at_least=513)),
        "TMEM has 512 columns of 32 bits, 512 elements of 32 bits; got cols columns",
    ),
    (
        ("B", 64, 2048),
        "TMEM has 512 columns of 32 bits, 512 elements of 32 bits; got 2048 columns, 1024 for each"
        " lane",
    ),
]


@pytest.mark.parametrize(("arguments", "says"), REFUSED)
def test_refusals(arguments, says):
    with pytest.raises(LayoutError) as caught:
        tmem_datapath_layout(*arguments)
    assert str(caught.value) == f"tmem_datapath_layout: {says}"


def test_refused_widths_of_elements():
    for bits in (64, 4, 0, "32", True):
        with pytest.raises(LayoutError) as caught:
            tmem_datapath_layout("D", 128, 64, bits=bits)
        assert str(caught.value) == (
            f"tmem_datapath_layout: elements have 8, 16 or 32 bits; got {bits!r}"
        )


# -- the carried lines -------------------------------------------------------------------------
def without_columns(record: Record) -> bool:
    return record.error is None and record.args["cols"] <= 0


def too_wide(record: Record) -> bool:
    """In hardware columns: 1024 columns of B, E and G are 512 or 256 for each lane, and fit."""
    args = record.args
    return record.error is None and args["cols"] // PIECES[args["datapath"]] > 512


DEVIATIONS = [
    Deviation("12.13", without_columns, refused(LayoutError, "cols is a positive int or a Dim")),
    Deviation("12.13", too_wide, refused(LayoutError, "TMEM has 512 columns of 32 bits")),
]


def test_tmem_datapath_layout(record_property):
    outcome = compare(
        "tmem_datapath_layout",
        load("tmem_datapath_layout"),
        lambda record: written(tmem_datapath_layout(**record.args)),
        DEVIATIONS,
    )
    check(outcome, record_property)
