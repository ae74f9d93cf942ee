"""The PTX samples of tests/data/ptx, and what they are compiled from."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from layout_algebra import ComposeLayout, S, TileLayout, parse
from layout_algebra.device.kernels import Kernel, kernel_of
from layout_algebra.layouts import ComposeLayout as Swizzled

FOLDER = Path(__file__).parent.parent / "data" / "ptx"
TARGETS = ("sm_80", "sm_90a", "sm_100")

TILE = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))

LAYOUTS: dict[str, TileLayout | Swizzled] = {
    "fragment": parse(
        "S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid"
    ),
    "tile": TILE,
    "odd": parse("S[(5, 3, 7) : (1, -50, 1@laneid)]"),
    "large": parse("S[(64, 7, 123, 7, 100, 920) : (17, 2@warpid, -345, 1, 64@warpid, 64@warpid)]"),
    "sums": parse("S[(16, 16, 32, 24, 64) : (18871, 215@laneid, 16@TCol, 1, 3@TCol)] + 49"),
}


@cache
def text(name: str, target: str) -> str:
    """One sample."""
    return (FOLDER / f"{name}.{target}.ptx").read_text()


@cache
def kernel(name: str) -> Kernel:
    """The kernel that a sample was compiled from."""
    return kernel_of(LAYOUTS[name])
