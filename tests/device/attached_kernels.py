"""Kernels with layouts attached to what they hold; run as a program, they run in the simulator.

The guide's add-one kernel, fragments of warps and warpgroups with copies, and a transposition
through shared memory, with and without a swizzle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda, float32

from layout_algebra import ComposeLayout, R, S, TileLayout, laneid, warpid
from layout_algebra import hardware as hw
from layout_algebra.device import fragment, shared

ROWS = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
PLAIN = TileLayout(S[(32, 32) : (32, 1)])
SWIZZLED = ComposeLayout(0, 5, 5, PLAIN)
TWICE = TileLayout(S[(32, 4) : (1 @ laneid, 1)] + R[2 : 1 @ warpid])


@dataclass(frozen=True)
class Run:
    """A kernel, its block, its input, and what comes out."""

    kernel: Callable[..., None]
    block: int
    given: np.ndarray
    expected: np.ndarray

    @property
    def name(self) -> str:
        return self.kernel.__name__


def add_one() -> Run:
    """The guide's kernel: each lane has four values."""
    rows = fragment(ROWS, (32, 4), "float32")

    def add_one_layout(A: Any, B: Any) -> None:
        lane = cuda.threadIdx.x
        lane_values = rows.local()
        for j in range(rows.size):
            lane_values[j] = A[lane, j] + float32(1)
        for j in range(rows.size):
            B[lane, j] = lane_values[j]

    given = np.arange(128, dtype=np.float32).reshape(32, 4)
    return Run(add_one_layout, 32, given, given + 1)


def through_fragment(name: str, layout: TileLayout, shape: tuple[int, int], block: int) -> Run:
    """Each thread takes the elements of its slots, doubles them, and puts them back."""
    tile = fragment(layout, shape, "float32")

    def doubled(A: Any, B: Any) -> None:
        values = tile.local()
        for k in range(tile.size):
            if tile.holds(k):
                i, j = tile.element(k)
                values[k] = A[i, j]
        for k in range(tile.size):
            if tile.holds(k):
                i, j = tile.element(k)
                B[i, j] = tile.load(values, i, j) * float32(2)

    doubled.__name__ = name
    given = np.arange(layout.size(), dtype=np.float32).reshape(shape)
    return Run(doubled, block, given, 2 * given)


def marked() -> Run:
    """Every owner of an element stores to its copy; then all copies are added up."""
    tile = fragment(TWICE, (32, 4), "float32")

    def owners(A: Any, B: Any) -> None:
        values = tile.local()
        for k in range(tile.size):
            values[k] = float32(0)
        for i in range(32):
            for j in range(4):
                tile.store(values, i, j, A[i, j])
        for i in range(32):
            for j in range(4):
                if tile.owns(i, j):
                    cuda.atomic.add(B, (i, j), tile.load(values, i, j))

    given = np.arange(1, 129, dtype=np.float32).reshape(32, 4)
    return Run(owners, 64, given, 2 * given)


def transposed(layout: Any, name: str) -> Run:
    """Rows in, columns out, through shared memory."""
    tile = shared(layout, (32, 32), "float32")

    def transpose(A: Any, B: Any) -> None:
        memory = tile.allocate()
        lane = cuda.threadIdx.x
        for i in range(32):
            tile.store(memory, i, lane, A[i, lane])
        cuda.syncthreads()
        for i in range(32):
            B[i, lane] = tile.load(memory, lane, i)

    transpose.__name__ = name
    given = np.arange(1024, dtype=np.float32).reshape(32, 32)
    return Run(transpose, 32, given, given.T.copy())


def runs() -> list[Run]:
    accumulator = hw.mma("m16n8k16", "float16").D.layout
    wide = hw.wgmma(16, "float16").D.layout
    return [
        add_one(),
        through_fragment("mma_accumulator", accumulator, (16, 8), 32),
        through_fragment("wgmma_accumulator", wide, (64, 16), 128),
        through_fragment("copies", TWICE, (32, 4), 64),
        through_fragment("shifted", TileLayout(S[(32, 4) : (1 @ laneid, 1)] + 4), (32, 4), 32),
        marked(),
        transposed(PLAIN, "transpose_plain"),
        transposed(SWIZZLED, "transpose_swizzled"),
    ]


def main() -> None:
    for one in runs():
        out = np.zeros_like(one.expected)
        cuda.jit(one.kernel)[1, one.block](one.given, out)  # type: ignore[index]
        print(one.name, "right" if (out == one.expected).all() else "wrong")


if __name__ == "__main__":
    main()
