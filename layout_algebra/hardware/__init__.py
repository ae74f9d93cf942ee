"""The catalogue: where pieces of hardware keep the elements of a tile.

    from layout_algebra import hardware as hw

    hw.mma("m16n8k16", "float16").A            # which lane holds which element of operand A
    hw.ldmatrix("x4").read(sA[0:16, 0:16])     # what a matrix load reads, and whom it deals it to
    hw.tmem_datapath_layout("D", 128, 256)     # the TMEM accumulator of an M = 128 MMA
    hw.wg_local_layout(64)                     # one row for each thread of a warpgroup

Every entry is an ordinary layout and cites where its facts come from; `catalogue()` yields all.
"""

from layout_algebra.hardware.amd import lane_in_wave, mfma_layout, wmma_layout
from layout_algebra.hardware.descriptors import (
    MatrixDescriptor,
    Tcgen05Descriptor,
    WgmmaDescriptor,
    base_offset,
)
from layout_algebra.hardware.entries import Entry, catalogue
from layout_algebra.hardware.finding_descriptors import (
    NoDescriptor,
    descriptor_for,
    mode_of_buffer,
)
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
from layout_algebra.hardware.shared import (
    SwizzleMode,
    mma_atom_layout,
    mma_atom_shape,
    mma_shared_layout,
)
from layout_algebra.hardware.sparse import SparseMma, mma_sparse
from layout_algebra.hardware.tcgen05 import (
    scale_factor_layout,
    tcgen05_cp_layout,
    tmem_address,
    tmem_allocation,
    tmem_cell,
    tmem_mma_operand_layout,
    warp_lanes,
)
from layout_algebra.hardware.tcgen05_atoms import tcgen05_atom_layout
from layout_algebra.hardware.tma import (
    Interleave,
    tma_box_problem,
    tma_shared_layout,
    tma_shared_problem,
    tma_tensor_problem,
)
from layout_algebra.hardware.tmem import tmem_datapath_layout
from layout_algebra.hardware.trainium import to_psum, trainium_layout
from layout_algebra.hardware.wgmma import (
    Wgmma,
    wgmma,
    wgmma_a_layout,
    wgmma_accumulator_layout,
    wgmma_columns,
    wgmma_types,
)

__all__ = [
    "Entry",
    "Interleave",
    "MatrixDescriptor",
    "MatrixLoad",
    "MatrixStore",
    "MatrixTranspose",
    "Mma",
    "NoDescriptor",
    "SparseMma",
    "SwizzleMode",
    "Tcgen05Descriptor",
    "Wgmma",
    "WgmmaDescriptor",
    "base_offset",
    "catalogue",
    "descriptor_for",
    "lane_in_wave",
    "ldmatrix",
    "mfma_layout",
    "mma",
    "mma_atom_layout",
    "mma_atom_shape",
    "mma_scales",
    "mma_shared_layout",
    "mma_sparse",
    "mode_of_buffer",
    "movmatrix",
    "scale_factor_layout",
    "stmatrix",
    "tcgen05_atom_layout",
    "tcgen05_cp_layout",
    "tma_box_problem",
    "tma_shared_layout",
    "tma_shared_problem",
    "tma_tensor_problem",
    "tmem_address",
    "tmem_allocation",
    "tmem_cell",
    "tmem_datapath_layout",
    "tmem_mma_operand_layout",
    "to_psum",
    "trainium_layout",
    "warp_lanes",
    "wg_local_layout",
    "wgmma",
    "wgmma_a_layout",
    "wgmma_accumulator_layout",
    "wgmma_columns",
    "wgmma_types",
    "wmma_layout",
]
