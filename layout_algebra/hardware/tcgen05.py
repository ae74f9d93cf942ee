"""Tensor Memory: its cells, the operands of `tcgen05.mma` there, and what `tcgen05.cp` writes.

    tmem_mma_operand_layout("D", (64, 256), "float32", M=128, cta_group=2)   # in TLane and TCol
    tcgen05_cp_layout("32x128b", "warpx4", "uint8")        # cells that tcgen05.cp writes
    scale_factor_layout(128, "4X")                         # block scales of tcgen05.mma

TMEM is 128 lanes by 512 columns of 32-bit cells; warp w of a warpgroup reaches lanes 32*w to
32*w + 31; columns are allocated by a power of two, from 32.  A TCol counts elements of a buffer:
`tmem_cell` says which column and byte that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from layout_algebra.axes import Axis, TCol, TLane
from layout_algebra.dims import Size, as_size, bounds, is_size
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.sizes import positive_size
from layout_algebra.hardware.tmem import COLUMN_BITS, COLUMNS, tmem_datapath_layout
from layout_algebra.layouts import TileLayout
from layout_algebra.memory.dtypes import bits_of

#: Lanes of TMEM, and those that one warp reaches (PTX ISA, tcgen05: access restrictions).
LANES, WARP_LANES = 128, 32
#: The least number of columns that tcgen05.alloc gives.
LEAST_COLUMNS = 32

Iters = list[tuple[Size, Size, Axis]]

_MMA = "PTX ISA, tcgen05: matrix shapes and data path layouts"
_CP = "PTX ISA, tcgen05.cp"
_SCALES = "PTX ISA, tcgen05.mma: scale factor layouts in Tensor Memory"


# -- cells -------------------------------------------------------------------------------------
def tmem_cell(lane: Any, col: Any, dtype: object) -> dict[str, Any]:
    """The 32-bit cell that holds an element, and its byte there.

    Args:
        lane, col: TLane and TCol of the element; ints, or symbols inside `Map.of`.
        dtype: the buffer's element type, of 8, 16 or 32 bits (4- and 6-bit elements that are
            padded to bytes have 8).

    Returns:
        {"lane": ..., "column": ..., "byte": ...}, column one of 512, byte 0 to 3.

    Raises:
        LayoutError: elements of another width.

    Source: PTX ISA, tcgen05: Tensor Memory addressing.
    """
    bits = _element_bits("tmem_cell", dtype)
    first = col * (bits // 8)
    return {"lane": lane, "column": first // 4, "byte": first % 4}


def tmem_address(lane: int, column: int) -> int:
    """The 32-bit address of a cell: the lane in the upper half, the column in the lower.

    Raises:
        LayoutError: a lane or column that TMEM has not.
    """
    for name, value, count in (("lane", lane, LANES), ("column", column, COLUMNS)):
        if type(value) is not int or not 0 <= value < count:
            raise LayoutError(f"tmem_address: the {name} is 0 to {count - 1}; got {value!r}")
    return lane << 16 | column


def tmem_allocation(columns: int) -> int:
    """Columns that tcgen05.alloc takes for so many: the next power of two, at least 32.

    Raises:
        LayoutError: fewer than 1 or more than 512 columns.
    """
    if type(columns) is not int or not 1 <= columns <= COLUMNS:
        raise LayoutError(f"tmem_allocation: TMEM has 1 to {COLUMNS} columns; got {columns!r}")
    return max(LEAST_COLUMNS, 1 << (columns - 1).bit_length())


def warp_lanes(warp: int) -> range:
    """The lanes of TMEM that a warp of a warpgroup reaches.

    Raises:
        LayoutError: not a warp 0 to 3.
    """
    if type(warp) is not int or not 0 <= warp < LANES // WARP_LANES:
        raise LayoutError(f"warp_lanes: a warpgroup has warps 0 to 3; got {warp!r}")
    return range(WARP_LANES * warp, WARP_LANES * (warp + 1))


def _element_bits(name: str, dtype: object) -> int:
    bits = bits_of(dtype)
    if bits not in (8, 16, 32):
        raise LayoutError(f"{name}: elements in TMEM have 8, 16 or 32 bits; {dtype} has {bits}")
    return bits


# -- operands of tcgen05.mma -------------------------------------------------------------------
#: (M, CTAs, .ws) -> the data path's letter.
_LETTERS = {
    (128, 1, False): "D",
    (128, 1, True): "D",
    (64, 1, False): "F",
    (64, 1, True): "E",
    (256, 2, False): "A",
    (128, 2, False): "B",
}


def tmem_mma_operand_layout(
    operand: str,
    shape: Sequence[Size],
    dtype: object,
    *,
    M: int,
    cta_group: int,
    ws: bool = False,
    sparse: bool = False,
    group: Sequence[int] | None = None,
) -> TileLayout:
    """Where `tcgen05.mma` has its accumulator D, or reads its A, in TMEM.

    Formula: for D the table of `tmem_datapath_layout`; an accumulator of 16 bits has one element
    in each 32-bit cell, so that its TCols are even.  A is packed: row r in lane r, and for the
    halves of data path B a second time in lane r + 64.

    Args:
        operand: "A" or "D".
        shape: (m, N) with m = M // cta_group rows; for data paths B and E also (2, m, h),
            (m, 2, h) and, of D, (m, s, 2, n): the half of the columns as a dimension of its own.
        dtype: element type; of 8, 16 or 32 bits for A, of 16 or 32 for D.
        M: rows of the MMA.
        cta_group: CTAs that make it, 1 or 2.
        ws: whether it is `tcgen05.mma.ws`.
        sparse: not told of here; False.
        group: (s, 2, n) for D of data paths B and E over (m, N): how its columns come in groups.

    Raises:
        LayoutError: what the instruction or the data path does not have.

    Source: the TIRx layout API, common layout constructors; PTX ISA, tcgen05.mma.
    """
    name = "tmem_mma_operand_layout"
    letter = _letter(M, cta_group, ws, sparse)
    rows = M // cta_group
    if operand not in ("A", "D"):
        raise LayoutError(f'{name}: the operands in TMEM are "A" and "D"; got {operand!r}')
    if group is not None and operand == "A":
        raise LayoutError(f"{name}: group= is for operand D; got operand A")
    sizes = [positive_size(name, f"shape[{d}]", size) for d, size in enumerate(shape)]
    bits = _element_bits(name, dtype)
    if operand == "D" and bits == 8:
        raise LayoutError(f"{name}: accumulators have 16 or 32 bits; {dtype} has {bits}")
    if group is not None:
        sizes = _grouped(letter, sizes, group)
    iters, copies = _operand(operand, letter, rows, sizes)
    _check_columns(name, iters, COLUMN_BITS if operand == "D" else bits)
    if operand == "D" and bits == 16:
        iters = [(e, 2 * s if axis is TCol else s, axis) for e, s, axis in iters]
    return TileLayout.from_iters(iters, copies).canonicalize()


def _letter(M: object, cta_group: object, ws: object, sparse: object) -> str:
    name = "tmem_mma_operand_layout"
    if sparse:
        raise LayoutError(f"{name}: a sparse A is not supported; for D use tmem_datapath_layout")
    letter = None
    if type(M) is int and type(cta_group) is int:
        letter = _LETTERS.get((M, cta_group, bool(ws)))
    if letter is None:
        legal = "M = 64 or 128 with cta_group 1, M = 128 or 256 with cta_group 2, ws with 1 only"
        raise LayoutError(f"{name}: {legal}; got M={M!r}, cta_group={cta_group!r}, ws={ws!r}")
    return letter


def _grouped(letter: str, sizes: list[Size], group: Sequence[int]) -> list[Size]:
    """(m, N) and a group (s, 2, n) as the shape (m, s, 2, n)."""
    name = "tmem_mma_operand_layout"
    parts = [as_size(part) if is_size(part) else 0 for part in group]
    if letter not in "BE" or len(sizes) != 2 or len(parts) != 3 or parts[1] != 2:
        raise LayoutError(f"{name}: group=(s, 2, n) is for a shape (m, N) of B or E; got {group}")
    if parts[0] * 2 * parts[2] != sizes[1]:
        raise LayoutError(f"{name}: s * 2 * n is the number of columns {sizes[1]}; got {group}")
    return [sizes[0], *parts]


def _operand(operand: str, letter: str, rows: int, sizes: list[Size]) -> tuple[Iters, Iters]:
    """Shard and replica, with a TCol for each element."""
    halves = letter in "BE"
    match sizes:
        case [first, cols] if first == rows and operand == "D":
            return list(tmem_datapath_layout(letter, rows, cols).shard), []
        case [first, cols] if first == rows and letter != "E":
            return [(rows, 1, TLane), (cols, 1, TCol)], [(2, 64, TLane)] if letter == "B" else []
        case [2, second, half] if second == rows and halves:
            return [(2, 64, TLane), (rows, 1, TLane), (half, 1, TCol)], []
        case [first, 2, half] if first == rows and halves and operand == "D":
            return [(rows, 1, TLane), (2, 64, TLane), (half, 1, TCol)], []
        case [first, s, 2, n] if first == rows and halves and operand == "D":
            return [(rows, 1, TLane), (s, n, TCol), (2, 64, TLane), (n, 1, TCol)], []
    legal = {"A": f"({rows}, K)", "D": f"({rows}, N)"}[operand]
    if halves:
        more = f"(2, {rows}, h)"
        full = f"{legal}, {more}, ({rows}, 2, h) or ({rows}, s, 2, n)"
        legal = full if operand == "D" else more if letter == "E" else f"{legal} or {more}"
    raise LayoutError(
        f"tmem_mma_operand_layout: operand {operand} of data path {letter} has shape {legal}; got "
        f"{tuple(sizes)}"
    )


def _check_columns(name: str, iters: Iters, bits: int) -> None:
    """That the TCols of one lane fit into 512 hardware columns."""
    cols: Size = 1
    for extent, _, axis in iters:
        cols = cols * extent if axis is TCol else cols
    most = COLUMNS * COLUMN_BITS // bits
    least = bounds(cols)[0]
    if least is not None and least > most:
        raise LayoutError(
            f"{name}: TMEM has {COLUMNS} columns of {COLUMN_BITS} bits, {most} such elements; got "
            f"{cols} for each lane"
        )


# -- cells that tcgen05.cp writes --------------------------------------------------------------
#: (shape, multicast) -> (rows' iters, copies, bits of a row).
_COPIES: dict[tuple[str, str], tuple[Iters, Iters, int]] = {
    ("128x256b", ""): ([(128, 1, TLane)], [], 256),
    ("4x256b", ""): ([(4, 32, TLane)], [], 256),
    ("128x128b", ""): ([(128, 1, TLane)], [], 128),
    ("64x128b", "warpx2::02_13"): ([(64, 1, TLane)], [(2, 64, TLane)], 128),
    ("64x128b", "warpx2::01_23"): ([(2, 64, TLane), (32, 1, TLane)], [(2, 32, TLane)], 128),
    ("32x128b", "warpx4"): ([(32, 1, TLane)], [(4, 32, TLane)], 128),
}


def tcgen05_cp_layout(shape: str, multicast: str = "", dtype: object = "uint8") -> TileLayout:
    """The cells that `tcgen05.cp` writes: (row, element) to lane and column, with its copies.

    Formula: row r goes to lane r, of 4 rows to lane 32*r; of 64 rows warpx2::02_13 has a copy at
    lane r + 64, and warpx2::01_23 puts r at lanes 64*(r // 32) + r % 32 and 32 more; of 32 rows
    warpx4 has copies at r, r + 32, r + 64 and r + 96.

    Args:
        shape: "128x256b", "4x256b", "128x128b", "64x128b" or "32x128b": rows by bits.
        multicast: "warpx2::02_13" or "warpx2::01_23" for 64 rows, "warpx4" for 32, else "".
        dtype: element type, of 8, 16 or 32 bits.

    Raises:
        LayoutError: another shape or multicast, another width.

    Source: PTX ISA, tcgen05.cp.
    """
    found = _COPIES.get((shape, multicast))
    if found is None:
        legal = ", ".join(f"{a}.{b}" if b else a for a, b in _COPIES)
        raise LayoutError(f"tcgen05_cp_layout: one of {legal}; got {shape!r} with {multicast!r}")
    rows, copies, bits = found
    elements = bits // _element_bits("tcgen05_cp_layout", dtype)
    return TileLayout.from_iters([*rows, (elements, 1, TCol)], copies)


_SCALES_PER_ROW = {"1X": (1, (0, 1, 2, 3)), "2X": (2, (0, 2)), "4X": (4, (0,))}


def scale_factor_layout(rows: int, scale_vec: str, sf_id: int = 0) -> TileLayout:
    """The block scales of `tcgen05.mma` in TMEM: (row, block of K) to lane and byte.

    Formula: scale k of row r is at lanes r % 32 + 32*q for q = 0 to 3, hardware column r // 32,
    byte sf_id + k; TCol counts bytes, 4*(r // 32) + sf_id + k.

    Args:
        rows: rows of A, or columns of B, that the CTA has scales for: 32 to 256, by 32.
        scale_vec: "1X", "2X" or "4X": 1, 2 or 4 scales of 8 bits for a row.
        sf_id: the byte of the column that the first one is in: 0 to 3, 0 or 2, or 0.

    Raises:
        LayoutError: another number of rows, vector or byte.

    Source: PTX ISA, tcgen05.mma, scale factor layouts.
    """
    if type(rows) is not int or rows % 32 or not 32 <= rows <= 256:
        raise LayoutError(f"scale_factor_layout: rows are 32 to 256, by 32; got {rows!r}")
    if scale_vec not in _SCALES_PER_ROW:
        raise LayoutError(f"scale_factor_layout: scale_vec is 1X, 2X or 4X; got {scale_vec!r}")
    many, ids = _SCALES_PER_ROW[scale_vec]
    if type(sf_id) is not int or sf_id not in ids:
        raise LayoutError(f"scale_factor_layout: {scale_vec} has sf_id in {ids}; got {sf_id!r}")
    iters: Iters = [(rows // 32, 4, TCol), (32, 1, TLane), (many, 1, TCol)]
    return TileLayout.from_iters(iters, [(4, 32, TLane)], {TCol: sf_id} if sf_id else {})


# -- entries -----------------------------------------------------------------------------------
_TIRX = "apache-tvm 0.27.0.post1 and apache-tvm-tirx 0.1.0a4, answer by answer"
_CUTLASS = "CUTLASS, copy_traits_sm100.hpp, typed as tables in the tests"


@family
def data_paths() -> Iterator[Entry]:
    """The accumulators of every data path, for 64 columns."""
    for letter, rows in (("A", 128), ("B", 64), ("C", 64), ("D", 128), ("E", 64), ("F", 64)):
        for slab in (0, 1) if letter in "CF" else (0,):
            layout = tmem_datapath_layout(letter, rows, 64, slab)
            name = f"tcgen05.mma.{letter}.float32" + (".upper" if slab else "")
            yield Entry(name, layout, (rows, 64), "float32", _MMA, _TIRX)
    layout = tmem_datapath_layout("G", 32, 64)
    yield Entry("tcgen05.mma.G.float32", layout, (32, 64), "float32", _MMA, _TIRX)


@family
def operands() -> Iterator[Entry]:
    """A and 16-bit D of every kind of MMA that has them in TMEM."""
    for (rows, ctas, ws), letter in _LETTERS.items():
        if rows == 128 and ws:
            continue  # the same as without .ws
        m = rows // ctas
        plain = (m, 64) if letter != "E" else (2, m, 64)
        for operand, shape in (("A", plain), ("D", (m, 64))):
            layout = tmem_mma_operand_layout(
                operand, shape, "float16", M=rows, cta_group=ctas, ws=ws
            )
            name = f"tcgen05.mma.{letter}.float16.{operand}"
            yield Entry(name, layout, shape, "float16", _MMA, _TIRX)


@family
def copies() -> Iterator[Entry]:
    """What tcgen05.cp writes, for each width of element."""
    for (shape, multicast), (_, _, bits) in _COPIES.items():
        for dtype in ("uint8", "float16", "float32"):
            layout = tcgen05_cp_layout(shape, multicast, dtype)
            tile = (int(shape.split("x")[0]), bits // bits_of(dtype))
            name = ".".join(filter(None, ("tcgen05.cp", shape, multicast, dtype)))
            confirmed = f"{_CUTLASS}; Apache TVM's documentation of tcgen05.cp"
            yield Entry(name, layout, tile, dtype, _CP, confirmed)


@family
def scales() -> Iterator[Entry]:
    """Block scales of 128 rows, wherever they begin in a column."""
    confirmed = "triton 3.9.0, TensorMemoryScalesLayout, and CUTLASS's tmem_sf_frg"
    for scale_vec, (many, ids) in _SCALES_PER_ROW.items():
        for sf_id in ids:
            layout = scale_factor_layout(128, scale_vec, sf_id)
            name = f"tcgen05.mma.scale_vec::{scale_vec}.byte{sf_id}"
            yield Entry(name, layout, (128, many), "uint8", _SCALES, confirmed)
