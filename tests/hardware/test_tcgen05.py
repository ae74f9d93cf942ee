"""TMEM: operands, copies, scales and fragments against tables of other sources, and refusals.

The tables are typed from the PTX ISA's text and figures, from the copy traits of CUTLASS
(copy_traits_sm100.hpp), and from what triton 3.9.0 prints for its layouts.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from layout_algebra import Dim, Verdict, prove
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.tcgen05 import (
    copies,
    data_paths,
    operands,
    scale_factor_layout,
    scales,
    tcgen05_cp_layout,
    tmem_address,
    tmem_allocation,
    tmem_cell,
    tmem_mma_operand_layout,
    warp_lanes,
)
from layout_algebra.hardware.tcgen05_atoms import atoms, tcgen05_atom_layout
from tests.hardware.places import (
    Table,
    agrees,
    enumerated,
    from_bases,
    from_formula,
    mutants,
)

# -- tables ------------------------------------------------------------------------------------


def data_path_table(entry: Entry) -> Table:
    """Layout organisation of the data paths, with one 32-bit column for each element."""
    letter = entry.name.split(".")[2]
    rows, cols = entry.shape
    step = 16 if entry.name.endswith("upper") else 0

    def place(r: int, c: int) -> dict[str, int]:
        if letter in "AD":
            return {"TLane": r, "TCol": c}
        if letter in "CF":
            return {"TLane": r // 16 * 32 + r % 16 + step, "TCol": c}
        pieces = {"B": 2, "E": 2, "G": 4}[letter]
        return {"TLane": r + 128 // pieces * (c // (cols // pieces)), "TCol": c % (cols // pieces)}

    return from_formula(place, (rows, cols))


def operand_table(entry: Entry) -> Table:
    """16-bit elements: A packed, two in a column; D one in a column, in its low half."""
    _, _, letter, _, operand = entry.name.split(".")
    if operand == "D":
        half = 32

        def accumulator(r: int, c: int) -> dict[str, int]:
            lane = {"F": r // 16 * 32 + r % 16}.get(letter, r)
            if letter in "BE":
                lane, c = r + 64 * (c // half), c % half
            return {"TLane": lane, "TCol": 2 * c}

        return from_formula(accumulator, entry.shape)
    if letter == "E":
        return from_formula(lambda b, r, k: {"TLane": 64 * b + r, "TCol": k}, entry.shape)
    if letter == "B":
        return from_formula(lambda r, k, q: {"TLane": r + 64 * q, "TCol": k}, entry.shape, 2)
    return from_formula(lambda r, k: {"TLane": r, "TCol": k}, entry.shape)


#: CUTLASS: (rows, bits of a row, copies) -> lanes of a row, with r its row and q its copy.
COPY_TRAITS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "128x256b": (1, lambda r, q: r),
    "4x256b": (1, lambda r, q: 32 * r),
    "128x128b": (1, lambda r, q: r),
    "64x128b.warpx2::02_13": (2, lambda r, q: r + 64 * q),
    "64x128b.warpx2::01_23": (2, lambda r, q: r % 32 + 64 * (r // 32) + 32 * q),
    "32x128b.warpx4": (4, lambda r, q: r + 32 * q),
}


def copy_table(entry: Entry) -> Table:
    parts = entry.name.split(".")
    many, lane = COPY_TRAITS[".".join(parts[2:-1])]
    if many == 1:
        return from_formula(lambda r, c: {"TLane": lane(r, 0), "TCol": c}, entry.shape)
    return from_formula(lambda r, c, q: {"TLane": lane(r, q), "TCol": c}, entry.shape, many)


#: triton 3.9.0: TensorMemoryScalesLayout of 128 x 4 scales, by bits of a lane and of a byte.
SCALE_BASES = {
    "TLane": [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 0), (0, 0)],
    "TCol": [(0, 1), (0, 2), (32, 0), (64, 0)],
}


def scale_table(entry: Entry) -> Table:
    """Those of 4X, of which the other vectors see some: those that begin with byte sf_id."""
    first = int(entry.name[-1])
    whole = from_bases(SCALE_BASES, (128, 4))
    return {
        (row, k - first): places
        for (row, k), places in whole.items()
        if first <= k < first + entry.shape[1]
    }


#: triton 3.9.0, register layouts of 64 and 128 rows by 32 columns, by bits of a register, lane
#: and warp: TensorMemoryLayout((rows, 32), col_stride=1) with float32 and float16.
LANES_16X64B = [(8, 0), (0, 1), (1, 0), (2, 0), (4, 0)]
LANES_16X128B = [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)]
LANES_16X256B = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
WARPS_64, WARPS_128 = [(16, 0), (32, 0)], [(32, 0), (64, 0)]
REGISTERS = {
    ("16x64b", "float32"): ([(0, 2), (0, 4), (0, 8), (0, 16)], LANES_16X64B),
    ("16x64b", "float16"): (
        [(0, 1), (0, 4), (0, 8), (0, 16)],
        [(8, 0), (0, 2), (1, 0), (2, 0), (4, 0)],
    ),
    ("16x128b", "float32"): ([(8, 0), (0, 4), (0, 8), (0, 16)], LANES_16X128B),
    ("16x128b", "float16"): (
        [(0, 1), (8, 0), (0, 8), (0, 16)],
        [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)],
    ),
    ("16x256b", "float32"): ([(0, 1), (8, 0), (0, 8), (0, 16)], LANES_16X256B),
    ("16x256b", "float16"): (
        [(0, 1), (0, 2), (8, 0), (0, 16)],
        [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)],
    ),
    # what it makes of 64 rows when 32x32b is asked for
    ("16x32bx2", "float32"): (
        [(0, 1), (0, 2), (0, 4), (0, 8)],
        [(1, 0), (2, 0), (4, 0), (8, 0), (0, 16)],
    ),
}
REGISTERS["16x32bx2", "float16"] = REGISTERS["16x32bx2", "float32"]


def atom_table(entry: Entry) -> Table:
    _, _, instr, dtype, rows = entry.name.split(".")
    if instr == "32x32b" and rows == "64rows":
        return from_formula(
            lambda r, c: {"tid_in_wg": r + 64 * (c // 16), "m": c % 16}, entry.shape
        )
    if instr == "32x32b":
        return from_formula(lambda r, c: {"tid_in_wg": r, "m": c}, entry.shape)
    registers, lanes = REGISTERS[instr, dtype]
    if rows == "64rows":
        bases = {"m": registers, "laneid": lanes, "wid_in_wg": WARPS_64}
    else:
        # the upper 16 rows of a warp are the upper half of its registers
        bases = {"m": [*registers, (16, 0)], "laneid": lanes, "wid_in_wg": WARPS_128}
    return from_bases(bases, entry.shape)


TABLES: list[tuple[Entry, Callable[[Entry], Table]]] = [
    *((entry, data_path_table) for entry in data_paths()),
    *((entry, operand_table) for entry in operands()),
    *((entry, copy_table) for entry in copies()),
    *((entry, scale_table) for entry in scales()),
    *((entry, atom_table) for entry in atoms()),
]


@pytest.mark.parametrize(("entry", "table"), TABLES, ids=[entry.name for entry, _ in TABLES])
def test_every_element_is_where_the_table_has_it(entry, table):
    """And is not, as soon as one stride is another."""
    wanted = table(entry)
    assert enumerated(entry.layout, entry.shape) == wanted
    changed = list(mutants(entry.layout))
    assert changed
    for mutant in changed:
        assert not agrees(mutant, entry.shape, wanted), str(mutant)


def test_entries_that_nothing_confirms_are_known():
    assert [entry.name for entry, _ in TABLES if not entry.confirmed_by] == [
        "tcgen05.ld.16x32bx2.float32.128rows",
        "tcgen05.ld.16x32bx2.float16.128rows",
    ]


def test_names_are_unique_and_sources_given():
    names = [entry.name for entry, _ in TABLES]
    assert len(set(names)) == len(names) == 63
    assert all("PTX ISA" in entry.source for entry, _ in TABLES)


#: PTX ISA, the figures of the matrix fragments, at single elements: (shape, row, 32-bit column of
#: 16 rows) -> (lane, register).
FIGURES = [
    ("16x64b", 0, 0, 0, 0),
    ("16x64b", 8, 0, 1, 0),
    ("16x64b", 0, 1, 2, 0),
    ("16x64b", 7, 1, 30, 0),
    ("16x64b", 15, 1, 31, 0),
    ("16x64b", 0, 2, 0, 1),
    ("16x128b", 0, 3, 3, 0),
    ("16x128b", 8, 0, 0, 1),
    ("16x128b", 7, 3, 31, 0),
    ("16x128b", 0, 4, 0, 2),
    ("16x256b", 0, 1, 0, 1),
    ("16x256b", 0, 7, 3, 1),
    ("16x256b", 8, 0, 0, 2),
    ("16x256b", 15, 7, 31, 3),
    ("16x256b", 0, 8, 0, 4),
    ("16x32bx2", 3, 0, 3, 0),
    ("16x32bx2", 15, 1, 15, 1),
    ("16x32bx2", 0, 16, 16, 0),
    ("16x32bx2", 15, 17, 31, 1),
]


@pytest.mark.parametrize(("instr", "row", "col", "lane", "register"), FIGURES)
def test_figures_of_the_fragments(instr, row, col, lane, register):
    layout = tcgen05_atom_layout(instr, (64, 32), "float32")
    for warp in range(4):
        place = layout.apply(16 * warp + row, col, shape=(64, 32))
        assert place == {"wid_in_wg": warp, "laneid": lane, "m": register}


# -- cells -------------------------------------------------------------------------------------
@pytest.mark.parametrize(("dtype", "within"), [("uint8", 4), ("float16", 2), ("float32", 1)])
def test_cells(dtype, within):
    seen = {}
    for col in range(512 * within):
        cell = tmem_cell(5, col, dtype)
        assert cell["lane"] == 5
        assert cell["column"] == col // within
        assert cell["byte"] == col % within * (4 // within)
        seen[cell["column"], cell["byte"]] = col
    assert len(seen) == 512 * within
    for bad in ("float64", "float4_e2m1fn"):
        with pytest.raises(LayoutError, match="elements in TMEM have 8, 16 or 32 bits"):
            tmem_cell(0, 0, bad)


def test_addresses_allocations_and_windows():
    assert tmem_address(0, 0) == 0
    assert tmem_address(127, 511) == 0x007F01FF
    assert [tmem_allocation(n) for n in (1, 32, 33, 64, 65, 129, 257, 512)] == [
        *(32, 32, 64, 64, 128, 256, 512, 512),
    ]
    assert [lane for warp in range(4) for lane in warp_lanes(warp)] == list(range(128))
    for ask, says in [
        (lambda: tmem_address(128, 0), "the lane is 0 to 127; got 128"),
        (lambda: tmem_address(0, 512), "the column is 0 to 511; got 512"),
        (lambda: tmem_address(0, True), "the column is 0 to 511; got True"),
        (lambda: tmem_allocation(0), "TMEM has 1 to 512 columns; got 0"),
        (lambda: tmem_allocation(513), "TMEM has 1 to 512 columns; got 513"),
        (lambda: warp_lanes(4), "a warpgroup has warps 0 to 3; got 4"),
    ]:
        with pytest.raises(LayoutError, match=says):
            ask()


# -- operands ----------------------------------------------------------------------------------
def test_one_operand_for_all_numbers_of_columns():
    cols = Dim("cols", multiple_of=2, at_least=2, at_most=1024)
    symbolic = tmem_mma_operand_layout("D", (64, cols), "float16", M=64, cta_group=1, ws=True)
    for number in (2, 64):
        own = tmem_mma_operand_layout("D", (64, number), "float16", M=64, cta_group=1, ws=True)
        table = enumerated(own, (64, number))
        assert enumerated(symbolic.evaluated(cols=number), (64, number)) == table


def test_grouped_columns_are_the_four_dimensional_shape():
    """Also of 16-bit accumulators, which then have every other TCol as well."""
    for dtype in ("float32", "float16"):
        keys = {"M": 128, "cta_group": 2}
        grouped = tmem_mma_operand_layout("D", (64, 64), dtype, group=(4, 2, 8), **keys)
        assert grouped == tmem_mma_operand_layout("D", (64, 4, 2, 8), dtype, **keys)
        step = 2 if dtype == "float16" else 1
        for r, c in ((0, 0), (63, 7), (5, 8), (17, 63)):
            s, half, n = c // 16, c // 8 % 2, c % 8
            place = {"TLane": r + 64 * half, "TCol": step * (8 * s + n)}
            assert grouped.apply(r, c, shape=(64, 64)) == place


def test_a_wide_accumulator_takes_a_column_for_each_element():
    """16 bits or 32: 512 columns at most, of each half for data paths B and E."""
    for dtype in ("float16", "float32"):
        tmem_mma_operand_layout("D", (128, 512), dtype, M=128, cta_group=1)
        tmem_mma_operand_layout("D", (64, 1024), dtype, M=128, cta_group=2)
        with pytest.raises(LayoutError, match="TMEM has 512 columns"):
            tmem_mma_operand_layout("D", (128, 513), dtype, M=128, cta_group=1)
        with pytest.raises(LayoutError, match="TMEM has 512 columns"):
            tmem_mma_operand_layout("D", (64, 4, 2, 129), dtype, M=128, cta_group=2)
    tmem_mma_operand_layout("A", (128, 1024), "float16", M=128, cta_group=1)
    with pytest.raises(LayoutError, match="1024 such elements; got 1025 for each lane"):
        tmem_mma_operand_layout("A", (128, 1025), "float16", M=128, cta_group=1)


D64 = {"M": 64, "cta_group": 1}
REFUSED_OPERANDS = [
    (("B", (64, 8), "float32"), D64, 'the operands in TMEM are "A" and "D"; got \'B\''),
    (("D", (64, 8), "float32"), {"M": 96, "cta_group": 1}, "got M=96, cta_group=1, ws=False"),
    (("D", (64, 8), "float32"), {"M": 64, "cta_group": 2}, "got M=64, cta_group=2, ws=False"),
    (("D", (64, 8), "float32"), {**D64, "M": True}, "got M=True"),
    (("D", (128, 8), "float32"), {"M": 256, "cta_group": 2, "ws": True}, "ws with 1 only"),
    (("D", (64, 8), "float32"), {**D64, "sparse": True}, "a sparse A is not supported"),
    (("D", (128, 8), "float32"), D64, "operand D of data path F has shape (64, N); got (128, 8)"),
    (("D", (64, 2, 4), "float32"), D64, "operand D of data path F has shape (64, N)"),
    (("A", (64, 8), "float32"), {**D64, "ws": True}, "of data path E has shape (2, 64, h)"),
    (("D", (64, 0), "float32"), D64, "shape[1] is a positive int or a Dim; got 0"),
    (("D", (64, 8), "uint8"), D64, "accumulators have 16 or 32 bits; uint8 has 8"),
    (("A", (64, 8), "float64"), D64, "elements in TMEM have 8, 16 or 32 bits; float64 has 64"),
    (("D", (64, 7), "float32"), {**D64, "ws": True}, "datapath E cuts its columns into 2; got 7"),
    (("A", (64, 8), "float32"), {**D64, "group": (1, 2, 4)}, "group= is for operand D"),
    (("D", (64, 8), "float32"), {**D64, "group": (1, 2, 4)}, "group=(s, 2, n) is for a shape"),
    (
        ("D", (64, 8), "float32"),
        {**D64, "ws": True, "group": (2, 2, 4)},
        "s * 2 * n is the number of columns 8; got (2, 2, 4)",
    ),
]


@pytest.mark.parametrize(("arguments", "keys", "says"), REFUSED_OPERANDS)
def test_refused_operands(arguments, keys, says):
    with pytest.raises(LayoutError) as caught:
        tmem_mma_operand_layout(*arguments, **keys)
    assert says in str(caught.value)


REFUSED = [
    (lambda: tcgen05_cp_layout("8x256b"), "one of 128x256b, 4x256b, 128x128b, 64x128b.warpx2::"),
    (lambda: tcgen05_cp_layout("64x128b"), "got '64x128b' with ''"),
    (lambda: tcgen05_cp_layout("128x256b", "warpx4"), "got '128x256b' with 'warpx4'"),
    (lambda: tcgen05_cp_layout("128x256b", "", "float64"), "8, 16 or 32 bits; float64 has 64"),
    (lambda: scale_factor_layout(48, "1X"), "rows are 32 to 256, by 32; got 48"),
    (lambda: scale_factor_layout(288, "1X"), "rows are 32 to 256, by 32; got 288"),
    (lambda: scale_factor_layout(128, "3X"), "scale_vec is 1X, 2X or 4X; got '3X'"),
    (lambda: scale_factor_layout(128, "2X", 1), "2X has sf_id in (0, 2); got 1"),
    (lambda: tcgen05_atom_layout("8x32b", (64, 8), "float32"), "the shape is one of 32x32b, "),
    (lambda: tcgen05_atom_layout("16x64b", (64, 8), "int8"), "elements have 16 or 32 bits; int8"),
    (lambda: tcgen05_atom_layout("16x64b", (32, 8), "float32"), "the tile is (64 or 128, columns)"),
    (lambda: tcgen05_atom_layout("16x64b", (64, 6), "float32"), "16x64b has 2 columns times a po"),
    (
        lambda: tcgen05_atom_layout("16x256b", (64, 512), "float32"),
        "8 columns times a power of two",
    ),
    (lambda: tcgen05_atom_layout("32x32b", (64, 8), "float16"), "64 rows of 32x32b have elements"),
    (lambda: tcgen05_atom_layout("16x32bx2", (64, 512), "float32"), "2 columns times a power of"),
]


@pytest.mark.parametrize(("ask", "says"), REFUSED)
def test_refusals(ask, says):
    with pytest.raises(LayoutError) as caught:
        ask()
    assert says in str(caught.value)


def test_the_proofs_fail_for_another_stride():
    """The theorems of proofs/tcgen05.py, asked of layouts with one stride doubled."""
    from proofs.tcgen05 import full_lanes, registers

    entries = [(entry, full_lanes) for entry in copies() if ".4x256b." not in entry.name]
    entries += [(entry, registers) for entry in atoms()]
    for entry, claim in entries:
        for mutant in mutants(entry.layout):
            changed = Entry(entry.name, mutant, entry.shape, entry.dtype, entry.source)
            assert prove(claim(changed)).verdict is Verdict.REFUTED, str(changed)
