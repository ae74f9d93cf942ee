"""The catalogue: where pieces of hardware keep the elements of a tile.

    from layout_algebra import hardware as hw

    hw.mma("m16n8k16", "float16").A            # which lane holds which element of operand A
    hw.ldmatrix("x4").read(sA[0:16, 0:16])     # what a matrix load reads, and whom it deals it to
    hw.tmem_datapath_layout("D", 128, 256)     # the TMEM accumulator of an M = 128 MMA
    hw.wg_local_layout(64)                     # one row for each thread of a warpgroup

Every entry is an ordinary layout and cites where its facts come from; `catalogue()` yields them all.
"""

from layout_algebra.hardware.entries import Entry, catalogue
from layout_algebra.hardware.matrices import (
    MatrixLoad,
    MatrixStore,
    MatrixTranspose,
    ldmatrix,
    movmatrix,
    stmatrix,
)
from layout_algebra.hardware.mma import Mma, mma
from layout_algebra.hardware.mma_scales import mma_scales
from layout_algebra.hardware.registers import wg_local_layout
from layout_algebra.hardware.sparse import SparseMma, mma_sparse
from layout_algebra.hardware.tmem import tmem_datapath_layout

__all__ = [
    "Entry",
    "MatrixLoad",
    "MatrixStore",
    "MatrixTranspose",
    "Mma",
    "SparseMma",
    "catalogue",
    "ldmatrix",
    "mma",
    "mma_scales",
    "mma_sparse",
    "movmatrix",
    "stmatrix",
    "tmem_datapath_layout",
    "wg_local_layout",
]
