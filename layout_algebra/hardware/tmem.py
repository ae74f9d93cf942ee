"""Tensor Memory: the accumulators that `tcgen05.mma` writes.

TMEM is 128 lanes (rows) by 512 columns of 32-bit cells.  The MMA writes its accumulator in one of
a few arrangements, the datapaths of the PTX ISA, lettered A to G: which lanes a row goes to depends
on M (the rows of the whole MMA), on one CTA or two, on `.ws`, and on a sparse A.

With h = cols/2 and q = cols/4, element (r, c) of the rows that one CTA holds is at

    letter  rows  TLane                                TCol
    A, D    128   r                                    c
    B, E     64   r + 64*(c // h)                      c % h
    C, F     64   32*(r // 16) + 16*sub_slab + r % 16  c
    G        32   r + 32*(c // q)                      c % q

    A: M = 256 by two CTAs        B: M = 128 by two CTAs, dense A    C: the same, sparse A
    D: M = 128                    E: M = 64, .ws                     F: M = 64        G: M = 32, .ws

Columns count buffer elements: only for elements of 32 bits is a TCol a hardware column.
"""

from __future__ import annotations

from layout_algebra.axes import TCol, TLane
from layout_algebra.dims import Size, bounds, divide_exactly
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.sizes import positive_size
from layout_algebra.layouts import TileLayout

#: 32-bit columns of TMEM (PTX ISA, Tensor Memory).
COLUMNS = 512
COLUMN_BITS = 32

#: Letter -> (rows, pieces that the columns are cut into; each piece has lanes of its own).
_DATAPATHS = {
    "A": (128, 1),
    "B": (64, 2),
    "C": (64, 1),
    "D": (128, 1),
    "E": (64, 2),
    "F": (64, 1),
    "G": (32, 4),
}
_SCATTERED = ("C", "F")


def tmem_datapath_layout(
    datapath: str, rows: int, cols: Size, sub_slab: int = 0, *, bits: int = COLUMN_BITS
) -> TileLayout:
    """The TMEM accumulator layout of a `tcgen05.mma` datapath.

    Formula: see the table of this module.

    Args:
        datapath: a letter, "A" to "G".
        rows: rows that this CTA holds; each datapath has one number of rows.
        cols: columns of the accumulator (elements; an int or a Dim, divisible by 2 for B and E, by
            4 for G).
        sub_slab: for C and F, which half of each 32-lane window: lanes 0-15 or lanes 16-31.
        bits: width of a buffer element; the limit of 512 hardware columns is counted in it.

    Raises:
        LayoutError: another letter, number of rows or sub-slab, columns that are not positive, that
            do not divide, or that take more than 512 hardware columns.

    Source: the TIRx layout API, common layout constructors; PTX ISA, tcgen05 data path layouts.
    """
    name = "tmem_datapath_layout"
    if not isinstance(datapath, str) or datapath not in _DATAPATHS:
        raise LayoutError(f"{name}: the datapath is one of A to G; got {datapath!r}")
    wanted, pieces = _DATAPATHS[datapath]
    if type(rows) is not int or rows != wanted:
        raise LayoutError(f"{name}: datapath {datapath} has {wanted} rows; got {rows!r}")
    _check_sub_slab(datapath, sub_slab)
    if type(bits) is not int or bits not in (8, 16, 32):
        raise LayoutError(f"{name}: elements have 8, 16 or 32 bits; got {bits!r}")
    width = divide_exactly(positive_size(name, "cols", cols), pieces)
    if width is None:
        raise LayoutError(f"{name}: datapath {datapath} cuts its columns into {pieces}; got {cols}")
    most = COLUMNS * COLUMN_BITS // bits
    least = bounds(width)[0]
    if least is not None and least > most:
        per_lane = "" if pieces == 1 else f", {width} for each lane"
        raise LayoutError(
            f"{name}: TMEM has {COLUMNS} columns of {COLUMN_BITS} bits, {most} elements of {bits} "
            f"bits; got {cols} columns{per_lane}"
        )
    columns = (width, 1, TCol)
    if datapath in _SCATTERED:
        offset = {TLane: 16} if sub_slab else {}
        return TileLayout.from_iters([(4, 32, TLane), (16, 1, TLane), columns], (), offset)
    if pieces == 1:
        return TileLayout.from_iters([(rows, 1, TLane), columns])
    return TileLayout.from_iters([(rows, 1, TLane), (pieces, rows, TLane), columns])


def _check_sub_slab(datapath: str, sub_slab: object) -> None:
    most = 1 if datapath in _SCATTERED else 0
    if type(sub_slab) is not int or not 0 <= sub_slab <= most:
        allowed = "0 or 1" if most else "0"
        raise LayoutError(
            f"tmem_datapath_layout: the sub-slab of datapath {datapath} is {allowed}; "
            f"got {sub_slab!r}"
        )
