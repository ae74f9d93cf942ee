"""wgmma's fragments beside tables typed from CUTLASS and from the ISA's text; legal shapes."""

from __future__ import annotations

import dataclasses
from itertools import product
from math import prod

import numpy as np
import pytest

from layout_algebra import Dim, TileLayout
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.wgmma import (
    Wgmma,
    wgmma,
    wgmma_a_layout,
    wgmma_accumulator_layout,
    wgmma_columns,
    wgmma_fragments,
    wgmma_types,
)

ENTRIES = list(wgmma_fragments())

#: CUTLASS, cute/atom/mma_traits_sm90_gmma.hpp: (thread, value) -> the column-major index of the
#: element, as ((shape of threads), (strides)), ((shape of values), (strides)).
THREADS = (4, 8, 4)
CLAYOUT_64XN = ((128, 1, 16), (2, 2, None), (64, 8, 512))
ALAYOUT = {
    32: ((64, 1, 16), (2, 2), (8, 256)),
    16: ((128, 1, 16), (2, 2, 2), (64, 8, 512)),
    8: ((256, 1, 16), (4, 2, 2), (64, 8, 1024)),
}


def digits(number, shape):
    """CuTe's order: the first digit is the fastest."""
    found = []
    for size in shape:
        number, digit = np.divmod(number, size)
        found.append(digit)
    return found


def cutlass_table(threads, shape, strides, rows):
    """Columns (row, column, warp, lane, value) of one of CUTLASS's (thread, value) layouts."""
    thread, value = np.divmod(np.arange(128 * prod(shape)), prod(shape))
    index = sum(d * s for d, s in zip(digits(thread, THREADS), threads, strict=True))
    index += sum(d * s for d, s in zip(digits(value, shape), strides, strict=True))
    return index % rows, index // rows, thread // 32, thread % 32, value


def b1_table():
    """A of m64nNk256: each warp as mma.m16n8k256's A, whose formulas the ISA prints.

    row = groupID for i < 32 and 64 <= i < 96, else groupID + 8;
    col = threadID_in_group * 32 + (i & 0x1F), and 128 more for i >= 64.
    """
    found = []
    for warp, lane, i in product(range(4), range(32), range(128)):
        group, thread = lane >> 2, lane % 4
        row = group if i < 32 or 64 <= i < 96 else group + 8
        col = thread * 32 + (i & 0x1F) + (0 if i < 64 else 128)
        found.append((16 * warp + row, col, warp, lane, i))
    return np.array(found).T


def expected(entry: Entry):
    """The typed table of an entry: who holds each element, over (row, column)."""
    bits = 256 // entry.shape[1]
    if entry.name.endswith(".D"):
        threads, shape, strides = CLAYOUT_64XN
        columns = cutlass_table(threads, (*shape[:2], entry.shape[1] // 8), strides, 64)
    else:
        columns = b1_table() if bits == 1 else cutlass_table(*ALAYOUT[bits], 64)
    table = np.full((*entry.shape, 3), -1)
    row, column, *place = columns
    table[row, column] = np.stack(place, axis=-1)
    return table


def holders(layout: TileLayout, shape: tuple[int, ...]):
    """(warp, lane, register's element) of every element of a layout of ours."""
    found = layout.map(shape).table()
    return np.stack([found[axis] for axis in ("wid_in_wg", "laneid", "m")], axis=-1)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_element_is_where_the_table_has_it(entry):
    assert isinstance(entry.layout, TileLayout)
    assert (holders(entry.layout, entry.shape) == expected(entry)).all()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_another_stride_is_another_table(entry):
    """Each stride by itself, a step more and doubled: the table notices."""
    table = expected(entry)
    for k, it in enumerate(entry.layout.shard):
        if it.extent == 1:
            continue
        for stride in (it.stride + 1, 2 * it.stride):
            shard = list(entry.layout.shard)
            shard[k] = it._replace(stride=stride)
            changed = TileLayout.from_iters(shard)
            assert (holders(changed, entry.shape) != table).any(), (k, stride)


def test_entries_have_names_of_their_own():
    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names)
    assert all(entry.source for entry in ENTRIES)
    assert [entry.name for entry in ENTRIES if not entry.confirmed_by] == ["wgmma.m64k256.b1.A"]


def test_one_layout_for_all_numbers_of_columns():
    columns = Dim("columns", multiple_of=8, at_least=8, at_most=256)
    symbolic = wgmma_accumulator_layout(columns)
    for n in (8, 24, 256):
        assert symbolic.evaluated(columns=n) == wgmma_accumulator_layout(n)


# -- which shapes there are ----------------------------------------------------------------------
def test_legal_columns():
    """Every 8 up to 256; for integers 8, 16, 24, 32 and every 16 from 48."""
    floats = [8 * i for i in range(1, 33)]
    integers = [8, 16, 24, 32] + [16 * i for i in range(3, 17)]
    for dtype in wgmma_types():
        wanted = integers if dtype in ("int8", "uint8", "b1") else floats
        assert list(wgmma_columns(dtype)) == wanted


@pytest.mark.parametrize(
    ("dtype", "k"),
    [
        ("float16", 16),
        ("bfloat16", 16),
        ("tf32", 8),
        ("float8_e4m3fn", 32),
        ("float8_e5m2", 32),
        ("int8", 32),
        ("uint8", 32),
        ("b1", 256),
    ],
)
def test_inner_size(dtype, k):
    one = wgmma(16, dtype)
    assert one.k == k
    assert one.A.shape == (64, k)
    assert one.D.shape == (64, 16)


def test_names():
    one = wgmma(128, "float16")
    assert str(one) == "wgmma.m64n128k16.float32.float16"
    assert str(wgmma(8, "float8_e5m2", "float16")) == "wgmma.m64n8k32.float16.float8_e5m2"
    assert isinstance(one, Wgmma)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.n = 8  # type: ignore[misc]


REFUSED = [
    ((8, "float64"), "A is one of float16, bfloat16, tf32"),
    ((8, 16), "A is one of float16, bfloat16, tf32"),
    ((12, "float16"), "N of float16 is every 8 up to 256; got 12"),
    ((264, "float16"), "N of float16 is every 8 up to 256; got 264"),
    ((0, "tf32"), "N of tf32 is every 8 up to 256; got 0"),
    ((True, "tf32"), "N of tf32 is every 8 up to 256; got True"),
    ((40, "int8"), "N of int8 is 8, 16, 24 and every 16 from 32 up to 256; got 40"),
    ((8, "bfloat16", "float16"), "the accumulator of bfloat16 is float32; got 'float16'"),
    ((8, "int8", "float32"), "the accumulator of int8 is int32; got 'float32'"),
]


@pytest.mark.parametrize(("arguments", "says"), REFUSED)
def test_refusals(arguments, says):
    with pytest.raises(LayoutError) as caught:
        wgmma(*arguments)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "n", [0, -8, 12, 264, 1.5, "8", Dim("n"), Dim("n8", multiple_of=8), Dim("n4", multiple_of=4)]
)
def test_refused_columns(n):
    with pytest.raises(LayoutError, match="wgmma_accumulator_layout"):
        wgmma_accumulator_layout(n)


def test_refused_types():
    for make in (wgmma_a_layout, wgmma_columns):
        with pytest.raises(LayoutError, match="A is one of"):
            make("float32")
