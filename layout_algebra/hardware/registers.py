"""Tiles in the registers of a warpgroup's threads."""

from __future__ import annotations

from layout_algebra.axes import m, tid_in_wg
from layout_algebra.dims import Size
from layout_algebra.hardware.sizes import positive_size
from layout_algebra.layouts import TileLayout

#: Threads of a warpgroup: four warps of 32 (PTX ISA, wgmma).
WARPGROUP = 128


def wg_local_layout(cols: Size, rows: Size = WARPGROUP) -> TileLayout:
    """A tile with one row for each thread of a warpgroup.

    Formula: element (r, c) is in thread tid_in_wg = r, at local position m = c.

    Args:
        cols: elements of a row, all in one thread's registers (elements; at least 1, or a Dim).
        rows: rows, and threads that hold one (1 to 128, or a Dim).

    Raises:
        LayoutError: a size that is no size, below 1, or more rows than threads.

    Source: the TIRx layout API, common layout constructors (`wg_local_layout`).
    """
    rows = positive_size("wg_local_layout", "rows", rows, WARPGROUP, "the threads of a warpgroup")
    cols = positive_size("wg_local_layout", "cols", cols)
    return TileLayout.from_iters([(rows, 1, tid_in_wg), (cols, 1, m)])
