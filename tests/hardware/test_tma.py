"""TMA's rules one by one, and where the elements of a box go."""

from __future__ import annotations

import pytest

from layout_algebra import Dim
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.shared import SwizzleMode, mma_shared_layout
from layout_algebra.hardware.tma import (
    Interleave,
    tma_box_problem,
    tma_shared_layout,
    tma_shared_problem,
    tma_tensor_problem,
)
from tests.hardware.test_shared import moved

M = SwizzleMode

#: Rules of cuTensorMapEncodeTiled: a box that is just legal, and what breaks one rule.
LEGAL = [
    (((64,), "float16"), {}),
    (((1, 1, 1, 1, 256), "int8"), {}),
    (((256, 64), "float16"), {"swizzle": M.B128}),
    (((256, 32), "float16"), {"swizzle": M.B64}),
    (((256, 8), "float32"), {"swizzle": 1}),
    (((8, 8), "float16"), {"swizzle": M.B128}),
    (((8, 32), "float4_e2m1fn"), {}),
    (((8, 256), "float4_e2m1fn"), {"swizzle": M.B128}),
    (((8, 64), "float16"), {"swizzle": M.B128_ATOM_32B_FLIP_8B}),
    (((8, 64), "float16"), {"swizzle": M.B128_ATOM_64B, "store": True}),
    (((8, 8, 4), "float16"), {"interleave": Interleave.B16}),
    (((8, 8, 3), "float16"), {"interleave": Interleave.B32, "swizzle": M.B32}),
    (((8, 8), "float16"), {"steps": (8, 9)}),
    (((8, 128), "float4_e2m1fn"), {"padded": True, "swizzle": M.B128}),
    (((8, 128), "float6_e2m3fn"), {"padded": True, "swizzle": M.B128_ATOM_64B, "store": True}),
    (((8, 128), "float6_e2m3fn"), {"padded": True, "swizzle": M.B128_ATOM_32B}),
]
BROKEN = [
    (((), "float16"), {}, "there are 1 to 5 dimensions with interleave NONE; got 0"),
    (((1, 1, 1, 1, 1, 8), "float16"), {}, "there are 1 to 5 dimensions"),
    (((8, 8), "float16"), {"interleave": 1}, "there are 3 to 5 dimensions with interleave B16"),
    (((0, 8), "float16"), {}, "dimension 0 of the box has 1 to 256 elements; got 0"),
    (((257, 8), "float16"), {}, "dimension 0 of the box has 1 to 256 elements; got 257"),
    (((8, 4), "float16"), {}, "the inner box dimension is a multiple of 16 bytes; got 64 bits"),
    (((8, 16), "int4"), {}, "the inner box dimension is a multiple of 16 bytes; got 64 bits"),
    (((8, 128), "float16"), {"swizzle": 3}, "the inner box dimension is 256 bytes; B128 takes"),
    (((8, 64), "float16"), {"swizzle": 2}, "is 128 bytes; B64 takes at most 64"),
    (((8, 32), "float16"), {"swizzle": 1}, "is 64 bytes; B32 takes at most 32"),
    (((8, 128), "float16"), {"swizzle": 6}, "is 256 bytes; B128_ATOM_64B takes at most 128"),
    (((8, 8, 8), "float16"), {"interleave": 2}, "interleave B32 takes swizzle B32 only; got NONE"),
    (((8, 8), "float16"), {"steps": (9, 1)}, "the step of dimension 0 is 1 to 8; got 9"),
    (((8, 8), "float16"), {"steps": (0, 1)}, "the step of dimension 0 is 1 to 8; got 0"),
    (((8, 8), "float16"), {"steps": (1,)}, "a step for each of the 2 dimensions; got 1"),
    (((8, 8, 8), "float16"), {"interleave": 1, "steps": (1, 1, 9)}, "the step of dimension 2"),
    (((8, 8), "float6_e2m3fn"), {}, "elements have 4, 8, 16, 32 or 64 bits, or are padded"),
    (((8, 128), "float16"), {"padded": True}, "elements of 4 or 6 bits are padded, not of 16"),
    (((8, 64), "int4"), {"padded": True}, "a row of padded elements has 128; got 64"),
    (((8, 128), "int4"), {"padded": True, "store": True}, "4-bit elements are loaded, not stored"),
    (((8, 128), "int4"), {"padded": True, "swizzle": 2}, "padded 4-bit elements take the swizzles"),
    (((8, 128), 6), {"padded": True, "swizzle": 6}, "padded 6-bit elements take the swizzles NONE"),
    (((8, 8, 128), 6), {"padded": True, "interleave": 1}, "6-bit elements have no interleave"),
    (((8, 64), "float16"), {"swizzle": 5, "store": True}, "is for loads from global memory only"),
]


@pytest.mark.parametrize(("arguments", "settings"), LEGAL)
def test_legal_boxes(arguments, settings):
    assert tma_box_problem(*arguments, **settings) is None


@pytest.mark.parametrize(("arguments", "settings", "says"), BROKEN)
def test_broken_rules(arguments, settings, says):
    assert says in (tma_box_problem(*arguments, **settings) or "none")


@pytest.mark.parametrize(
    ("shape", "strides", "dtype", "settings", "says"),
    [
        ((64, 64), (128,), "float16", {}, None),
        ((64,), (), "float16", {"address": 16}, None),
        ((1 << 32, 1), (16,), "float16", {}, None),
        ((64, 128), (64,), "float4_e2m1fn", {"padded": True, "address": 32}, None),
        ((64, 64), (128,), "float16", {"address": 8}, "the address is a multiple of 16 bytes"),
        ((64, 64), (120,), "float16", {}, "the stride of dimension 0 is a multiple of 16 bytes"),
        ((64, 64), (1 << 40,), "float16", {}, "below 1099511627776; got 1099511627776"),
        ((64, 64), (-128,), "float16", {}, "the stride of dimension 0"),
        ((64, 64), (128, 2), "float16", {}, "a stride for each dimension but the last, 1; got 2"),
        ((0, 64), (128,), "float16", {}, "dimension 0 has 1 to 4294967296 elements; got 0"),
        ((64, 63), (32,), "int4", {}, "the last dimension is a multiple of 2 elements; got 63"),
        ((64, 64), (32,), "int4", {"padded": True}, "is a multiple of 128 elements; got 64"),
        ((64, 128), (48,), "int4", {"padded": True}, "is a multiple of 32 bytes"),
        ((4, 4, 64), (512, 144), "float16", {"interleave": 2}, "dimension 1 is a multiple of 32"),
        ((4, 4, 64), (512, 128), "float16", {"interleave": 1, "address": 16}, None),
    ],
)
def test_tensors(shape, strides, dtype, settings, says):
    found = tma_tensor_problem(shape, strides, dtype, **settings)
    assert found is None if says is None else says in (found or "none")


@pytest.mark.parametrize("mode", [m for m in M if m is not M.B128_ATOM_32B_FLIP_8B], ids=str)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "float4_e2m1fn"])
def test_every_element_of_a_box_is_where_the_table_says(mode, dtype):
    bits = {"int8": 8, "float16": 16, "float32": 32, "float64": 64, "float4_e2m1fn": 4}[dtype]
    row = 8 * (32 if mode is M.NONE else mode.row_bytes) // bits
    layout = tma_shared_layout((2, 8, row), dtype, mode)
    for flat in range(16 * row):
        byte, rest = divmod(flat * bits, 8)
        assert layout.apply(flat)["m"] * bits == 8 * moved(mode, byte) + rest


def test_a_box_of_one_row_of_atoms_is_what_mma_reads():
    for mode in (M.B32, M.B64, M.B128):
        columns = mode.row_bytes // 2
        box = tma_shared_layout((64, columns), "float16", mode)
        assert box.canonicalize() == mma_shared_layout("float16", mode, (64, columns))


def test_any_number_of_rows():
    rows = Dim("rows", at_least=1, at_most=256)
    layout = tma_shared_layout((rows, 64), "float16", M.B128)
    assert layout.tile_layout.evaluated(rows=7) == (
        tma_shared_layout((7, 64), "float16", M.B128).tile_layout
    )


def test_where_a_box_may_begin():
    assert tma_shared_problem(2048, M.B128) is None
    assert tma_shared_problem(128) is None
    assert "begins at a multiple of 128 bytes; got 64" in (tma_shared_problem(64) or "")
    assert "with the pattern's line 3" in (tma_shared_problem(1408, M.B128) or "")
    assert "with the pattern's line 1" in (tma_shared_problem(128, M.B32) or "")
    assert "with the pattern's line 3" in (tma_shared_problem(896, M.B64) or "")


REFUSED = [
    (tma_box_problem, ((8.0, 8), "float16"), {}, "tma_box_problem: box is made of ints"),
    (tma_box_problem, (8, "float16"), {}, "tma_box_problem: box is made of ints; got 8"),
    (tma_box_problem, ((8, 8), "float16"), {"swizzle": 9}, "the swizzle mode is a SwizzleMode"),
    (tma_box_problem, ((8, 8), "float16"), {"interleave": 3}, "the interleave is an Interleave"),
    (tma_box_problem, ((8, 8), "nonsense"), {}, "'nonsense' is no element type"),
    (tma_shared_layout, ((8, 32), "float16", 3), {}, "rows of 64 bytes in a mode of 128"),
    (tma_shared_layout, ((8, 128), "float16", 3), {}, "is 256 bytes; B128 takes at most 128"),
    (tma_shared_layout, ((8, 64), "float16", 5), {}, "which lines it flips is not confirmed"),
    (tma_shared_layout, ((512, 64), "float16", 3), {}, "size 0 is 1 to 256 (of a box); got 512"),
    (tma_shared_layout, ((), "float16"), {}, "a box is a sequence of sizes; got ()"),
    (tma_shared_layout, ((8, Dim("k")), "float16"), {}, "the last size is a number; got k"),
    (tma_shared_problem, (1.5,), {}, "address is made of ints"),
]


@pytest.mark.parametrize(("ask", "arguments", "settings", "says"), REFUSED)
def test_refusals(ask, arguments, settings, says):
    with pytest.raises(LayoutError) as caught:
        ask(*arguments, **settings)
    assert says in str(caught.value)
