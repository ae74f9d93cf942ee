"""The kernel that the `triton` samples were compiled from."""

import triton
import triton.language as tl


@triton.jit
def tile(m, n, BLOCK: tl.constexpr):
    f = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = f // 64
    j = f % 64
    a = i * 64 + j
    tl.store(m + f, a ^ ((a >> 3) & 0x38), mask=f < n)
