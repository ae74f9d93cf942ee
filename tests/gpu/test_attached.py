"""Kernels with layouts attached to what they hold, on a GPU; see tests/gpu/test_crosscheck.py."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gpu.test_crosscheck import found

pytestmark = pytest.mark.gpu

#: Times that a block transposes its tile in one launch, and launches of which the least counts.
REPEATS, LAUNCHES = 2000, 5


@pytest.fixture(scope="module")
def cuda():
    one = found()
    if isinstance(one, str):
        pytest.skip(one)
    from numba import cuda

    return cuda


def test_every_kernel(cuda):
    from tests.device.attached_kernels import runs

    for one in runs():
        out = np.zeros_like(one.expected)
        cuda.jit(one.kernel)[1, one.block](one.given, out)
        assert (out == one.expected).all(), one.name


def milliseconds(cuda, layout) -> float:
    """The least time of a launch that transposes a tile again and again."""
    from numba import float32

    from layout_algebra.device import shared

    tile = shared(layout, (32, 32), "float32")

    def again(A, B):
        memory = tile.allocate()
        lane = cuda.threadIdx.x
        total = float32(0)
        for turn in range(REPEATS):
            for i in range(32):
                tile.store(memory, i, lane, A[i, lane] + total)
            cuda.syncthreads()
            for i in range(32):
                total += tile.load(memory, lane, (i + turn) % 32)
            cuda.syncthreads()
        B[0, lane] = total

    kernel = cuda.jit(again)
    given = cuda.to_device(np.zeros((32, 32), dtype=np.float32))
    out = cuda.to_device(np.zeros((32, 32), dtype=np.float32))
    times = []
    for _ in range(LAUNCHES + 1):  # the first one compiles
        start, end = cuda.event(), cuda.event()
        start.record()
        kernel[1, 32](given, out)
        end.record()
        end.synchronize()
        times.append(cuda.event_elapsed_time(start, end))
    return min(times[1:])


def test_the_swizzle_is_faster(cuda):
    from tests.device.attached_kernels import PLAIN, SWIZZLED

    plain, swizzled = milliseconds(cuda, PLAIN), milliseconds(cuda, SWIZZLED)
    print(f"transposition: {plain:.3f} ms plain, {swizzled:.3f} ms swizzled")
    assert plain > 2 * swizzled
