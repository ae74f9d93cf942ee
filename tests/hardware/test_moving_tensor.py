"""Instructions of TMEM and of the tensor cores between two places, beside the ISA's tables."""

from __future__ import annotations

from itertools import product

import pytest

from layout_algebra import Dim, Map, S, TCol, TileLayout, TLane, laneid, m, tid_in_wg
from layout_algebra import hardware as hw
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, catalogue
from layout_algebra.hardware.shared import SwizzleMode, mma_shared_layout
from layout_algebra.hardware.tma import tma_shared_layout
from layout_algebra.instructions.moving import Operand, instructions
from layout_algebra.memory import Buffer
from tests.hardware.test_moving import by_name, gmem, possible, proven, smem

M = SwizzleMode
ENTRIES = {entry.name: entry for entry in catalogue()}

#: Shape -> (columns of a repetition, (q, f) -> lane and register): PTX ISA, the shapes' figures,
#: with q the row in 16 (32x32b: in 32), f the column.
FIGURES = {
    "32x32b": (1, lambda q, f: (q, f)),
    "16x64b": (2, lambda q, f: (4 * (q % 8) + 2 * (f % 2) + q // 8, f // 2)),
    "16x128b": (4, lambda q, f: (4 * (q % 8) + f % 4, q // 8 + 2 * (f // 4))),
    "16x256b": (8, lambda q, f: (4 * (q % 8) + f // 2 % 4, f % 2 + 2 * (q // 8) + 4 * (f // 8))),
}


def cells_of(shape: str) -> dict[int, dict[int, tuple[int, int]]]:
    """register -> lane -> row and column, of one repetition."""
    columns, figure = FIGURES[shape]
    found: dict[int, dict[int, tuple[int, int]]] = {}
    for q, f in product(range(32 if shape == "32x32b" else 16), range(columns)):
        lane, register = figure(q, f)
        found.setdefault(register, {})[lane] = (q, f)
    assert all(len(lanes) == 32 for lanes in found.values())
    return found


def brute_cells(buffer: Buffer, fragment: Map, shape: str) -> bool:
    """Whether repetitions of the shape, wherever they begin, fill all registers of warp 0."""
    bits = buffer.bits
    at: dict[tuple[int, int], tuple[int, int]] = {}
    rows, columns = buffer.shape
    for element in product(range(rows if rows == 64 else 32), range(columns)):
        place, cell = fragment.apply(*element), buffer.layout.apply(*element, shape=buffer.shape)
        lane, number = place.get("laneid", place.get("tid_in_wg", 0)), place["m"]
        if place.get("wid_in_wg", 0) or lane > 31:
            continue
        bit = cell["TCol"] * bits
        if bit % 32 != number * bits % 32:
            return False
        new = (cell["TLane"], bit // 32)
        if at.setdefault((lane, number * bits // 32), new) != new:
            return False
    registers = {register for _, register in at}
    slabs, wanted = ((0,) if shape == "32x32b" else (0, 16)), cells_of(shape)
    left = set(registers)
    for slab, begin in product(slabs, range(64)):
        chosen = []
        for part in sorted(wanted):
            where = {lane: (q + slab, f + begin) for lane, (q, f) in wanted[part].items()}
            chosen += [r for r in left if all(at[lane, r] == where[lane] for lane in where)]
        if len(chosen) == len(wanted):
            left -= set(chosen)
    return not left


def accumulator(rows: int, bits: int, columns: int = 32) -> Buffer:
    """Cells of 128 rows in 128 lanes, or of 64 in the lower half of each window."""
    lanes = [(128, 1, TLane)] if rows == 128 else [(4, 32, TLane), (16, 1, TLane)]
    layout = TileLayout.from_iters([*lanes, (columns, 1, TCol)])
    return Buffer((rows, columns), bits, layout, scope="tmem")


ATOMS = [name for name in ENTRIES if name.startswith("tcgen05.ld.")]


@pytest.mark.parametrize("name", ATOMS)
def test_tcgen05_ld_beside_the_figures(name):
    """Each entry's tile from its cells: by its own shape, and by whichever else the figures let."""
    entry = ENTRIES[name]
    rows, columns = entry.shape
    bits = 32 if entry.dtype == "float32" else 16
    tmem = accumulator(rows, bits, columns)
    if ".32x32b." in name and rows == 64:
        layout = hw.tmem_datapath_layout("E", 64, columns)
        tmem = Buffer((64, columns), bits, layout, scope="tmem")
    moves = by_name(tmem, entry)
    own = name.split(".")[2]
    assert moves[f"tcgen05.ld.{own}"].count == (2 if rows == 128 and own != "32x32b" else 1)
    for shape in FIGURES:
        assert moves[f"tcgen05.ld.{shape}"].possible == brute_cells(tmem, entry.map(), shape)
    proven(moves.values())
    back = instructions(entry, tmem)
    assert [move.possible for move in back] == [move.possible for move in moves.values()]
    proven(back)


def test_repetitions_are_joined_in_powers_of_two():
    """48 columns are 32 and 16; other warps may begin elsewhere, but at one distance."""
    tmem = Buffer((128, 64), "float32", hw.tmem_datapath_layout("D", 128, 64), scope="tmem")
    rows = Entry("rows", hw.wg_local_layout(48), (128, 48), "float32", "")
    moves = by_name(tmem[0:128, 16:64], rows)
    assert moves["tcgen05.ld.32x32b"].count == 2
    proven(moves.values())
    single = Map.of(lambda i, j: {laneid: i, m: j}, (32, 8))
    assert by_name(tmem[32:64, 8:16], single)["tcgen05.ld.32x32b"].count == 1
    proven(instructions(tmem[32:64, 8:16], single))


def test_of_16x32bx2_the_halves_may_lie_apart():
    tmem = Buffer((64, 64), "float32", hw.tmem_datapath_layout("F", 64, 64), scope="tmem")
    far = Map.of(
        lambda i, j: {"wid_in_wg": i // 16, laneid: i % 16 + 16 * (j // 8), m: j % 8}, (64, 16)
    )
    moves = by_name(tmem[0:64, 0:16], far)
    assert moves["tcgen05.ld.16x32bx2"].count == 1
    assert not moves["tcgen05.ld.16x64b"].possible
    proven(moves.values())


def test_why_tcgen05_ld_does_not():
    tmem = Buffer((128, 32), "float32", hw.tmem_datapath_layout("D", 128, 32), scope="tmem")
    upside = Map.of(lambda i, j: {tid_in_wg: 127 - i, m: j}, (128, 32))
    assert "it reaches lanes 0 to 31" in by_name(tmem, upside)["tcgen05.ld.32x32b"].reason
    d16 = ENTRIES["tcgen05.mma.D.float16.D"]
    rows = Entry("rows", hw.wg_local_layout(64), (128, 64), "float16", "")
    assert "no cell of TMEM" in by_name(d16, rows)["tcgen05.ld.32x32b"].reason
    wide = Entry("rows", hw.wg_local_layout(64), (128, 64), "float32", "")
    reason = by_name(d16, wide)["tcgen05.ld.32x32b"].reason
    assert "32 bits in the registers and 16 in memory" in reason
    atom = ENTRIES["tcgen05.ld.16x64b.float32.128rows"]
    assert "the shape gives lane 1" in by_name(tmem, atom)["tcgen05.ld.16x256b"].reason


# -- tcgen05.cp ------------------------------------------------------------------------------------
def dense(rows: int, columns: int) -> Buffer:
    """Bytes in chunks of 16, down the rows first."""
    layout = mma_shared_layout("uint8", M.NONE, (rows, columns))
    return Buffer((rows, columns), "uint8", layout, align=128)


@pytest.mark.parametrize("name", [n for n in ENTRIES if n.startswith("tcgen05.cp.")])
def test_tcgen05_cp_writes_its_own_entry(name):
    entry = ENTRIES[name]
    rows, columns = entry.shape
    layout = mma_shared_layout(entry.dtype, M.NONE, (rows, columns))
    source = Buffer((rows, columns), entry.dtype, layout, align=128)
    moves = by_name(source, entry)
    own = name.rsplit(".", 1)[0]
    also = {"tcgen05.cp.128x128b"} if own == "tcgen05.cp.128x256b" else set()
    assert possible(source, entry) == {own} | also
    assert moves[own].count == 1
    proven(moves.values())


def test_tcgen05_cp_of_several_slices():
    layout = TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)])
    target = Buffer((128, 64), "uint8", layout, scope="tmem")
    moves = by_name(dense(128, 64), target)
    counts = {name: move.count for name, move in moves.items() if move.possible}
    assert counts == {"tcgen05.cp.128x256b": 2, "tcgen05.cp.128x128b": 4}
    proven(moves.values())
    swizzled = Buffer((128, 32), "uint8", mma_shared_layout("uint8", M.B32, (128, 32)), align=256)
    part = target[0:128, 0:32]
    assert possible(swizzled, part) == {"tcgen05.cp.128x256b"}
    rows = Buffer((128, 32), "uint8", TileLayout(S[(128, 32) : (32, 1)]), align=128)
    assert possible(rows, part) == set()
    assert (
        "copies of a row"
        in by_name(
            dense(32, 16),
            Buffer((32, 16), "uint8", TileLayout(S[(32, 16) : (1 @ TLane, 1 @ TCol)]), "tmem"),
        )["tcgen05.cp.32x128b.warpx4"].reason
    )
    other = TileLayout(S[(128, 32) : (-1 @ TLane, 1 @ TCol)] + 127 @ TLane)
    turned = Buffer((128, 32), "uint8", other, scope="tmem")
    reason = by_name(dense(128, 32), turned)["tcgen05.cp.128x256b"].reason
    assert reason == (
        "element 0 is written to lane 0, column 0; the tile has it at lane 127, column 0"
    )


# -- descriptors -----------------------------------------------------------------------------------
def test_descriptors_of_an_operand():
    """128 x 64 halves: one descriptor for 16 columns, and for 64 rows where they are given."""
    for operand, count in ((Operand("wgmma", 64), 8), (Operand("tcgen05"), 4)):
        moves = by_name(smem, operand)
        found = moves[f"{operand.instruction} descriptor, K-major"]
        assert (found.possible, found.count) == (True, count)
        assert not moves[f"{operand.instruction} descriptor, MN-major"].possible
        proven(moves.values())
        begins = [tuple(one.subjects[1].places(0, 0)[0].values()) for one in found.says]
        slices = [(r, k) for r in range(0, 128, operand.rows or 128) for k in range(0, 64, 16)]
        assert begins == [(smem.layout.apply(*at, shape=(128, 64))["m"],) for at in slices]
    columns = Buffer((64, 64), "float16", mma_shared_layout("float16", 0, (64, 64)), align=1024)
    proven(instructions(columns, Operand("wgmma")))
    box = tma_shared_layout((64, 64), "float16", M.B128)
    across = by_columns(box)
    moves = by_name(across, Operand("wgmma"))
    assert moves["wgmma descriptor, MN-major"].count == 4
    assert not moves["wgmma descriptor, K-major"].possible
    proven(moves.values())


def by_columns(box) -> Buffer:
    """The 64 x 64 tile whose rows of memory are its columns."""
    tile = TileLayout(S[(64, 64) : (1, 64)])
    return Buffer((64, 64), "float16", box.with_tile(tile), align=1024)


def test_why_an_operand_has_no_descriptor():
    def reason(source, operand) -> str:
        return by_name(source, operand)[f"{operand.instruction} descriptor, K-major"].reason

    assert "one multiplication reads 48 rows" in reason(smem, Operand("wgmma", 48))
    assert "16 elements of K" in reason(smem[0:64, 0:24], Operand("wgmma"))
    plain = Buffer((64, 64), "float16", TileLayout(S[(64, 64) : (64, 1)]), align=1024)
    assert "rows from 0, K from 0: element" in reason(plain, Operand("wgmma"))


# -- registers -------------------------------------------------------------------------------------
def test_from_registers_to_registers():
    moved = hw.movmatrix()
    moves = by_name(moved.source, moved.result)
    assert {n: x.count for n, x in moves.items() if x.possible} == {"movmatrix.m8n8.trans.b16": 1}
    assert "no register" in moves["registers as they are"].reason
    plain, turned = hw.ldmatrix("x4").fragment, hw.ldmatrix("x4", True).fragment
    moves = by_name(plain, turned)
    assert {n: x.count for n, x in moves.items() if x.possible} == {"movmatrix.m8n8.trans.b16": 4}
    proven(moves.values())
    product_, next_a = (
        hw.mma("m16n8k16", "float16", accumulator="float16").D,
        hw.mma("m16n8k8", "float16").A,
    )
    moves = by_name(product_, next_a)
    assert possible(product_, next_a) == {"registers as they are"}
    assert str(moves["registers as they are"]) == "registers as they are: nothing to do"
    proven(moves.values())
    assert "not known" in by_name(plain, turned.map())["movmatrix.m8n8.trans.b16"].reason


# -- what there is not -----------------------------------------------------------------------------
def test_between_other_places_nothing_is_listed():
    tmem = accumulator(128, 16, 64)
    assert instructions(gmem[0:128, 0:64], tmem) == ()
    assert instructions(tmem, smem) == ()


def test_what_is_no_tile_is_refused():
    fragment = hw.mma("m16n8k16", "float16").A
    with pytest.raises(LayoutError, match=r"one tile; got \(128, 64\) and \(16, 16\)"):
        instructions(smem, fragment)
    with pytest.raises(LayoutError, match="numbers for the Dims"):
        instructions(smem[Dim("i") : Dim("i") + 16, 0:16], fragment)
    wave = Entry("a", hw.mfma_layout("A", 16, 16, 16, "float16"), (16, 16), "float16", "")
    with pytest.raises(LayoutError, match="over laneid"):
        instructions(smem[0:16, 0:16], wave)
    with pytest.raises(LayoutError, match="a buffer or view"):
        instructions(smem, "wgmma")
    with pytest.raises(LayoutError, match="share a register"):
        instructions(smem[0:16, 0:16], Map.of(lambda i, j: {laneid: i, m: j // 2}, (16, 16)))
    with pytest.raises(LayoutError, match="wgmma or tcgen05"):
        Operand("mma")
    with pytest.raises(LayoutError, match="rows is a positive int"):
        Operand("wgmma", 0)


def test_an_impossible_move_claims_nothing():
    (move, *_) = instructions(smem[0:16, 0:16], hw.mma("m16n8k16", "float16").A)
    assert str(move) == "ld.shared.b8: no: 8 bits hold no whole elements of 16 bits"
    with pytest.raises(LayoutError, match="does not move the tile"):
        move.claim
