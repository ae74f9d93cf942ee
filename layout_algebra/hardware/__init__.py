"""The catalogue: where pieces of hardware keep the elements of a tile.

    from layout_algebra import hardware as hw

    hw.tmem_datapath_layout("D", 128, 256)     # the TMEM accumulator of an M = 128 MMA
    hw.wg_local_layout(64)                     # one row for each thread of a warpgroup

Every entry is an ordinary layout and cites where its facts come from.
"""

from layout_algebra.hardware.registers import wg_local_layout
from layout_algebra.hardware.tmem import tmem_datapath_layout

__all__ = ["tmem_datapath_layout", "wg_local_layout"]
