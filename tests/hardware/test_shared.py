"""Swizzled atoms beside the tables of the ISA, typed chunk by chunk; tiles by brute force."""

from __future__ import annotations

from itertools import product

import pytest

from layout_algebra import Bijective, ComposeLayout, Dim, TileLayout, assert_proved
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.shared import (
    SwizzleMode,
    checked_bits,
    mma_atom_layout,
    mma_atom_shape,
    mma_shared_layout,
    shared_atoms,
    swizzle_mode,
)

#: PTX ISA, Swizzling Modes: the 16-byte chunks of a line of 128 bytes, line after line; position
#: p of line l has the chunk that is printed there.  After the last line the pattern repeats.
TABLES = {
    SwizzleMode.NONE: ["01234567"],
    SwizzleMode.B32: ["01234567", "10325476"],
    SwizzleMode.B64: ["01234567", "10325476", "23016745", "32107654"],
    SwizzleMode.B128: [
        "01234567",
        "10325476",
        "23016745",
        "32107654",
        "45670123",
        "54761032",
        "67452301",
        "76543210",
    ],
    SwizzleMode.B128_ATOM_32B: ["01234567", "23016745", "45670123", "67452301"],
    SwizzleMode.B128_ATOM_64B: ["01234567", "45670123"],
}
MODES = list(TABLES)
PLAIN = MODES[:4]


def moved(mode: SwizzleMode, byte: int) -> int:
    """Where the table puts a byte."""
    lines = TABLES[mode]
    line, inside = divmod(byte, 128)
    chunk, rest = divmod(inside, 16)
    return 128 * line + 16 * lines[line % len(lines)].index(str(chunk)) + rest


def place_of(entry, i: int, j: int) -> int:
    """An entry's element by the ISA's atom: rows of the mode's bytes, then the table; bits."""
    _, mode, dtype, major = entry.name.split(".")
    bits = checked_bits("test", dtype)
    columns = entry.shape[1] if major == "K" else entry.shape[0]
    flat = i * columns + j if major == "K" else i + j * columns
    byte, rest = divmod(flat * bits, 8)
    return 8 * moved(SwizzleMode[mode], byte) + rest


ENTRIES = list(shared_atoms())


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_mode_moves_bytes_as_the_table_says(mode):
    for byte in range(2048):
        assert mode.swizzle(byte) == moved(mode, byte)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("bits", [1, 4, 8, 16, 32, 64, 128])
def test_the_swizzle_of_elements_is_that_of_their_bytes(mode, bits):
    swizzle = mode.swizzle_of(bits)
    for element in range(0, 2048 * 8 // bits, max(1, 64 // bits)):
        byte, rest = divmod(element * bits, 8)
        assert swizzle(element) * bits == 8 * moved(mode, byte) + rest


def test_sizes_of_the_modes():
    """PTX ISA: the pattern begins at 256-, 512- and 1024-byte boundaries."""
    found = {mode: (mode.row_bytes, mode.chunk_bytes, mode.boundary) for mode in SwizzleMode}
    assert found == {
        SwizzleMode.NONE: (16, 16, 16),
        SwizzleMode.B32: (32, 16, 256),
        SwizzleMode.B64: (64, 16, 512),
        SwizzleMode.B128: (128, 16, 1024),
        SwizzleMode.B128_ATOM_32B: (128, 32, 1024),
        SwizzleMode.B128_ATOM_32B_FLIP_8B: (128, 8, 1024),
        SwizzleMode.B128_ATOM_64B: (128, 64, 1024),
    }


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_element_of_an_atom_is_where_the_table_says(entry):
    bits = checked_bits("test", entry.dtype)
    for i, j in product(*map(range, entry.shape)):
        assert entry.layout.apply(i, j, shape=entry.shape)["m"] * bits == place_of(entry, i, j)


def changes(layout: ComposeLayout):
    """The layout with each number changed by itself."""
    parts = (layout.per_element, layout.swizzle_len, layout.atom_len)
    for k, it in enumerate(layout.tile_layout.shard):
        shard = list(layout.tile_layout.shard)
        shard[k] = it._replace(stride=it.stride + 1)
        yield ComposeLayout(*parts, TileLayout.from_iters(shard))
    if layout.swizzle_len:
        for per_element, length, atom in ((1, 0, 0), (0, -1, 0), (0, 0, 1)):
            changed = (parts[0] + per_element, parts[1] + length, parts[2] + atom)
            yield ComposeLayout(*changed, layout.tile_layout)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_another_stride_or_swizzle_is_another_table(entry):
    bits = checked_bits("test", entry.dtype)
    for changed in changes(entry.layout):
        places = [
            changed.apply(i, j, shape=entry.shape)["m"] * bits
            for i, j in product(*map(range, entry.shape))
        ]
        assert places != [place_of(entry, i, j) for i, j in product(*map(range, entry.shape))]


def test_entries_have_names_of_their_own():
    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names)
    assert all(entry.source and entry.confirmed_by for entry in ENTRIES)


# -- tiles -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", PLAIN, ids=str)
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [("float16", (16, 128)), ("int8", (2, 8, 256)), ("float32", (24, 64)), ("int4", (8, 512))],
)
def test_a_tile_is_atoms_down_the_rows_then_across(mode, dtype, shape):
    bits = checked_bits("test", dtype)
    *lead, rows, columns = shape
    wide = 8 * mode.row_bytes // bits
    layout = mma_shared_layout(dtype, mode, shape)
    for flat in range(0, rows * columns * (lead[0] if lead else 1), 7):
        matrix, inside = divmod(flat, rows * columns)
        i, k = divmod(inside, columns)
        block, column = divmod(k, wide)
        place = matrix * rows * columns + block * rows * wide + i * wide + column
        byte, rest = divmod(place * bits, 8)
        assert layout.apply(flat)["m"] * bits == 8 * moved(mode, byte) + rest


def test_without_whole_chunks_a_tile_is_row_major():
    assert mma_shared_layout("float16", 0, (8, 20)).is_trivial()
    assert mma_shared_layout("float16", 0, (3, 5, 7)).is_trivial()


def test_one_layout_for_all_sizes():
    rows, blocks = Dim("rows", multiple_of=8, at_least=8), Dim("blocks", at_least=1)
    symbolic = mma_shared_layout("float16", SwizzleMode.B128, (rows, 64 * blocks))
    concrete = mma_shared_layout("float16", SwizzleMode.B128, (24, 192))
    found = symbolic.tile_layout.evaluated(rows=24, blocks=3).canonicalize()
    assert found == concrete.tile_layout
    assert_proved(Bijective(symbolic, {"m": 64 * blocks * rows}))


def test_atom_shapes():
    assert mma_atom_shape("float16", SwizzleMode.B128) == (8, 64)
    assert mma_atom_shape("float16", 0) == (8, 8)
    assert mma_atom_shape("tf32", 1, (4, 16, 64)) == (1, 8, 8)
    assert mma_atom_shape("int8", 2, (64,)) == (8, 64)
    assert mma_atom_layout("float16", 3).size() == 8 * 64


# -- refusals --------------------------------------------------------------------------------------
REFUSED = [
    (mma_atom_layout, ("float16", 4), "K-major matrices have the modes 0 to 3"),
    (mma_atom_layout, ("float16", 7), '"none", "32B", "64B", "128B"; got 7'),
    (mma_atom_layout, ("float16", True), '"none", "32B", "64B", "128B"; got True'),
    (mma_atom_layout, ("float16", 3, "M"), "the major is 'K' or 'MN'; got 'M'"),
    (mma_atom_layout, ("float16", 5, "MN"), "MN-major matrices have the modes 0 to 4"),
    (mma_atom_layout, ("float6_e2m3fn", 3), "elements of 6 bits do not fill 16 bytes"),
    (mma_atom_layout, (256, 3), "elements of 256 bits do not fill 16 bytes"),
    (mma_atom_layout, ("nonsense", 3), "'nonsense' is no element type"),
    (mma_atom_shape, ("float16", 3, 8), "a shape is a sequence of sizes; got 8"),
    (mma_atom_shape, ("float16", 3, (0, 8)), "size 0 is a positive int or a Dim; got 0"),
    (mma_shared_layout, ("float16", 3, (64,)), "the shape is (..., M, K); got (64,)"),
    (mma_shared_layout, ("float16", 3, (12, 64)), "atoms of 8 x 64; they do not divide 12 x 64"),
    (mma_shared_layout, ("float16", 3, (8, 96)), "atoms of 8 x 64; they do not divide 8 x 96"),
    (mma_shared_layout, ("float16", 3, (4, 64)), "atoms of 8 x 64; they do not divide 4 x 64"),
    (mma_shared_layout, ("float16", 1, (Dim("rows"), 64)), "they do not divide rows x 64"),
    (mma_shared_layout, ("float16", 0, (8, Dim("k"))), "it is not known whether 8 elements divide"),
    (mma_shared_layout, ("float16", 3, (-8, 64)), "size 0 is a positive int or a Dim; got -8"),
]


@pytest.mark.parametrize(("make", "arguments", "says"), REFUSED)
def test_refusals(make, arguments, says):
    with pytest.raises(LayoutError) as caught:
        make(*arguments)
    assert says in str(caught.value)


def test_the_flipped_mode_has_no_swizzle():
    with pytest.raises(LayoutError, match="which lines it flips is not confirmed"):
        _ = SwizzleMode.B128_ATOM_32B_FLIP_8B.swizzle


def test_modes_are_known_by_number_and_by_name():
    assert [swizzle_mode("test", n) for n in range(7)] == list(SwizzleMode)
    names = ["none", "32B", "64B", "128B"]
    assert [swizzle_mode("test", name) for name in names] == list(SwizzleMode)[:4]
    assert swizzle_mode("test", "B128") is SwizzleMode.B128
    with pytest.raises(LayoutError, match="test: the swizzle mode"):
        swizzle_mode("test", "96B")
