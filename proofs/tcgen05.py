"""Tensor Memory: every operand, copy and fragment fills its cells or registers once, and what one
instruction writes is what the next one reads.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from layout_algebra import (
    Bijective,
    Dim,
    Equivalent,
    Injective,
    Map,
    ReplicasDistinct,
    S,
    TCol,
    TileLayout,
    TLane,
    Verdict,
    WithinBounds,
    laneid,
    m,
    tid_in_wg,
    wid_in_wg,
)
from layout_algebra.claims import Claim
from layout_algebra.hardware import tmem_datapath_layout
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.tcgen05 import (
    copies,
    data_paths,
    operands,
    scale_factor_layout,
    scales,
    tcgen05_cp_layout,
    tmem_cell,
    tmem_mma_operand_layout,
)
from layout_algebra.hardware.tcgen05_atoms import atoms, tcgen05_atom_layout
from layout_algebra.theorems import theorem

MMA = "PTX ISA, tcgen05.mma: matrix shapes and data path layouts"
LD = "PTX ISA, tcgen05.ld: matrix fragments"
CP = "PTX ISA, tcgen05.cp"
SCALES = "PTX ISA, tcgen05.mma: scale factor layouts"
CELLS = "PTX ISA, tcgen05: Tensor Memory addressing"

N = Dim("N", at_least=1, at_most=512)


def each(name: str, entry: Entry, make: Callable[[Entry], Claim]) -> None:
    """One theorem about one entry of the catalogue."""
    theorem(f"{entry.name}: {name}", source=entry.source)(lambda: make(entry))


# -- one element for each cell and register -----------------------------------------------------
def full_lanes(entry: Entry) -> Claim:
    """All 128 lanes, and as many columns as the elements and their copies ask for."""
    copies_made = prod(copy.extent for copy in entry.layout.replica)  # type: ignore[arg-type]
    columns = prod(entry.shape) * copies_made // 128
    return Bijective(entry.layout, {TLane: 128, TCol: columns})


def registers(entry: Entry) -> Claim:
    """All 128 threads, and as many registers as the elements ask for."""
    many = prod(entry.shape) // 128
    if tid_in_wg in entry.layout.axes:
        return Bijective(entry.layout, {tid_in_wg: 128, m: many})
    return Bijective(entry.layout, {wid_in_wg: 4, laneid: 32, m: many})


def apart(entry: Entry) -> Claim:
    """No two elements or copies in one place, all inside TMEM's lanes and 512 columns."""
    most = 512 * (1 if entry.dtype == "float32" else 2 if entry.dtype == "float16" else 4)
    within = WithinBounds(entry.layout, {TLane: 128, TCol: most})
    return Injective(entry.layout) & ReplicasDistinct(entry.layout) & within


for _entry in (*data_paths(), *operands(), *scales()):
    each("no two elements share a cell, and all are in TMEM", _entry, apart)
for _entry in data_paths():
    if _entry.name.split(".")[2] in "ABDEG":
        each("fills 128 lanes", _entry, full_lanes)
for _entry in copies():
    if ".4x256b." in _entry.name:
        each("no two elements share a cell, and all are in TMEM", _entry, apart)
    else:
        each("with its copies it fills 128 lanes", _entry, full_lanes)
for _entry in atoms():
    each("fills the registers of 128 threads", _entry, registers)


# -- cells ---------------------------------------------------------------------------------------
def cell_is_exact(bits: int) -> Claim:
    """Elements of so many bits to bytes of cells: every byte, if one takes all of an element."""
    columns = 512 * 32 // bits
    within = 32 // bits

    def back(lane, column, byte):
        return {TLane: lane, TCol: column * within + byte // (bits // 8)}

    cell = Map.of(lambda TLane, TCol: tmem_cell(TLane, TCol, bits), (128, columns))
    whole = Map.of(back, {"lane": 128, "column": 512, "byte": 4})
    return Injective(cell) & Equivalent(
        whole.after(cell), Map.of(lambda r, c: {TLane: r, TCol: c}, (128, columns))
    )


for _bits in (8, 16, 32):
    theorem(f"TMEM cells: elements of {_bits} bits have cells of their own", source=CELLS)(
        lambda bits=_bits: cell_is_exact(bits)
    )


@theorem("TMEM cells: a 16-bit accumulator has each element in the low half of a cell", source=MMA)
def sixteen_bit_accumulator():
    """For every number of columns: column c of D is hardware column c, byte 0."""
    layout = tmem_mma_operand_layout("D", (128, N), "float16", M=128, cta_group=1)
    cell = Map.of(lambda TLane, TCol: tmem_cell(TLane, TCol, "float16"), (128, 1024))
    own = Map.of(lambda r, c: layout.apply(r, c), (128, N))
    there = Map.of(lambda r, c: {"lane": r, "column": c, "byte": 0}, (128, N))
    return Equivalent(cell.after(own), there)


@theorem("tcgen05.mma A of data path B: the copy is 64 lanes on, for all K", source=MMA)
def copies_of_a():
    layout = tmem_mma_operand_layout("A", (64, N), "float16", M=128, cta_group=2)
    formula = Map.of(lambda r, k, q: {TLane: r + 64 * q, TCol: k}, (64, N, 2), copies=("q",))
    return Equivalent(layout, formula) & Bijective(layout, {TLane: 128, TCol: N})


# -- data paths: what mma writes, ld reads -------------------------------------------------------
def loaded(instr: str, columns: int, slabs: int) -> Map:
    """What the instruction gives to a thread from a cell: PTX, one figure a shape.

    `columns` 32-bit columns; with two slabs the upper 16 lanes of a window come second.
    """
    half = columns // 2

    def place(TLane, TCol):
        q, hi, lo, f = TLane % 16, TLane % 16 // 8, TLane % 8, TCol
        lane, register, many = {
            "16x64b": (4 * lo + 2 * (f % 2) + hi, f // 2, half),
            "16x128b": (4 * lo + f % 4, hi + 2 * (f // 4), half),
            "16x256b": (4 * lo + f // 2 % 4, f % 2 + 2 * hi + 4 * (f // 8), half),
            "16x32bx2": (q + 16 * (f // half), f % half, half),
            "32x32b": (TLane % 32, f, 0),
        }[instr]
        slab = TLane % 32 // 16 if slabs == 2 else 0
        return {wid_in_wg: TLane // 32, laneid: lane, m: register + slab * many}

    return Map.of(place, (128, columns))


def by_warp(layout: TileLayout, shape: tuple[int, int]) -> Map:
    """A register tile with the thread as warp and lane, whichever way it names it."""
    tile = layout.map(shape)
    if tid_in_wg not in layout.axes:
        return tile
    split = Map.of(
        lambda tid_in_wg, m: {wid_in_wg: tid_in_wg // 32, laneid: tid_in_wg % 32, "m": m},
        (128, shape[0] * shape[1] // 128),
    )
    return split.after(tile)


def reads(letter: str, rows: int, instr: str, cols: int = 64) -> Claim:
    """The tile that the data path writes is the tile that the instruction's registers show."""
    cells = tmem_datapath_layout(letter, rows, cols).map((rows, cols))
    per_lane = cols // 2 if letter in "BE" else cols
    slabs = 2 if rows == 128 and instr != "32x32b" else 1
    tile = by_warp(tcgen05_atom_layout(instr, (rows, cols), "float32"), (rows, cols))
    return Equivalent(loaded(instr, per_lane, slabs).after(cells), tile)


SIXTEEN = ("16x64b", "16x128b", "16x256b", "16x32bx2")
MATCHES = [
    *((letter, 128, instr) for letter in "AD" for instr in ("32x32b", *SIXTEEN)),
    *((letter, 64, "32x32b") for letter in "BE"),
    *((letter, 64, instr) for letter in "CF" for instr in SIXTEEN),
]
for _letter, _rows, _instr in MATCHES:
    theorem(f"tcgen05.ld {_instr} reads what tcgen05.mma writes in data path {_letter}", source=LD)(
        lambda letter=_letter, rows=_rows, instr=_instr: reads(letter, rows, instr)
    )


@theorem(
    "tcgen05.ld 32x32b reads data path F as data path E",
    source=LD,
    expect=Verdict.REFUTED,
    note="F has 16 rows in each window of 32 lanes, all of its columns there; E has 32 rows and "
    "half of the columns",
)
def scattered_rows_are_not_halves():
    cells = tmem_datapath_layout("F", 64, 64).map((64, 64))
    tile = by_warp(tcgen05_atom_layout("32x32b", (64, 64), "float32"), (64, 64))
    return Equivalent(loaded("32x32b", 64, 1).after(cells), tile)


@theorem(
    "tcgen05.ld 16x64b of 64 rows reads data path E",
    source=LD,
    expect=Verdict.REFUTED,
    note="E uses all 32 lanes of a window: a single load of 16 lanes sees half of its rows",
)
def halves_are_not_scattered_rows():
    cells = tmem_datapath_layout("E", 64, 64).map((64, 64))
    tile = tcgen05_atom_layout("16x64b", (64, 64), "float32").map((64, 64))
    return Equivalent(loaded("16x64b", 64, 1).after(cells), tile)


# -- data paths: what cp writes, mma reads -------------------------------------------------------
@theorem("tcgen05.cp 32x128b.warpx4 writes the scales that scale_vec::4X reads", source=CP)
def copied_scales():
    """Bytes 4*g + k of row r of the copy are scales k of row 32*g + r."""
    source = Map.of(lambda row, k: {"i": row % 32, "j": row // 32 * 4 + k}, (128, 4))
    written = tcgen05_cp_layout("32x128b", "warpx4", "uint8").map((32, 16))
    return Equivalent(written.after(source), scale_factor_layout(128, "4X").map((128, 4)))


@theorem("scale_vec::1X and 2X read bytes of what 4X reads", source=SCALES)
def narrower_vectors():
    four = scale_factor_layout(128, "4X").map((128, 4))

    def part(scale_vec, many, first):
        chosen = Map.of(lambda row, k: {"i": row, "j": first + k}, (128, many))
        return Equivalent(
            four.after(chosen), scale_factor_layout(128, scale_vec, first).map((128, many))
        )

    claim: Claim = part("2X", 2, 0) & part("2X", 2, 2)
    for first in range(4):
        claim = claim & part("1X", 1, first)
    return claim


@theorem(
    "tcgen05.cp 64x128b: 02_13 and 01_23 are the same copy",
    source=CP,
    expect=Verdict.REFUTED,
    note="the second half goes to warps 1 and 3 by the one, to warps 2 and 3 by the other",
)
def two_pairings():
    return Equivalent(
        tcgen05_cp_layout("64x128b", "warpx2::02_13"),
        tcgen05_cp_layout("64x128b", "warpx2::01_23"),
    )


def window(shape: str, multicast: str, formula: Callable[..., dict[str, object]]) -> Claim:
    """Which window of 32 lanes has which rows: 32 of them for each value of `part`."""
    layout = tcgen05_cp_layout(shape, multicast, "uint8")
    rows = int(shape.split("x")[0])
    warp = Map.of(lambda TLane, TCol: {"warp": TLane // 32, "lane": TLane % 32}, (128, 16))
    spread = Map.of(formula, (rows, 16, 128 // rows), copies=("q",))
    return Equivalent(warp.after(layout.map((rows, 16))), spread)


@theorem("tcgen05.cp warpx2::02_13: rows 0-31 in windows 0 and 2, 32-63 in 1 and 3", source=CP)
def pairs_02_13():
    return window(
        "64x128b", "warpx2::02_13", lambda r, b, q: {"warp": r // 32 + 2 * q, "lane": r % 32}
    )


@theorem("tcgen05.cp warpx2::01_23: rows 0-31 in windows 0 and 1, 32-63 in 2 and 3", source=CP)
def pairs_01_23():
    return window(
        "64x128b", "warpx2::01_23", lambda r, b, q: {"warp": 2 * (r // 32) + q, "lane": r % 32}
    )


for _entry in copies():
    if ".4x256b." in _entry.name:
        each(
            "one row in the first lane of every window",
            _entry,
            lambda entry: Equivalent(
                entry.map(), Map.of(lambda r, c: {TLane: 32 * r, TCol: c}, entry.shape)
            ),
        )


@theorem("tcgen05.cp warpx4: all 32 rows in every window", source=CP)
def all_windows():
    return window("32x128b", "warpx4", lambda r, b, q: {"warp": q, "lane": r})


@theorem("tcgen05.mma: M = 128 with .ws has the rows of M = 128 without", source=MMA)
def weight_stationary():
    with_ws, without = (
        tmem_mma_operand_layout("D", (128, N), "float32", M=128, cta_group=1, ws=ws)
        for ws in (True, False)
    )
    return Equivalent(with_ws, without) & Equivalent(
        with_ws, TileLayout(S[(128, N) : (1 @ TLane, 1 @ TCol)])
    )
