"""wgmma as the documents have it, on images of shared memory: what a GPU would do.

Descriptors and canonical layouts are typed from the PTX ISA (Matrix Descriptor Format, Strides,
Swizzling Modes), fragments from CUTLASS (tests/hardware/test_wgmma.py).
"""

from __future__ import annotations

import re

import numpy as np

from tests.hardware.test_wgmma import ALAYOUT, CLAYOUT_64XN, cutlass_table

#: Bits 62 and 63 -> bytes of the swizzle's row; of 16 there is no swizzle.
ROW_BYTES = {0: 16, 1: 128, 2: 64, 3: 32}
VIEWS = {"f16": np.float16, "bf16": np.uint16, "tf32": np.float32, "s8": np.int8}


def byte_of(descriptor, i, k, size, major):
    """Where element (i, k), of `size` bytes, is found: byte addresses."""
    start, leading, stride = (16 * (descriptor >> at & 0x3FFF) for at in (0, 16, 32))
    row = ROW_BYTES[descriptor >> 62]
    if major == "MN":
        run, lines = i * size, k
        at = run % row + run // row * leading + lines % 8 * row + lines // 8 * stride
    elif row == 16:
        at = i % 8 * 16 + i // 8 * stride + k * size % 16 + k * size // 16 * leading
    else:
        at = i % 8 * row + i // 8 * stride + k * size
    at = start + at
    return at ^ (at >> 7 & row // 16 - 1) << 4


def read(words, many, descriptor, shape, kind, major, begin=0):
    """The matrices that a descriptor leads to, one for each image."""
    view = VIEWS[kind]
    i, k = np.indices(shape)
    at = byte_of(int(descriptor), i, k, np.dtype(view).itemsize, major) + begin
    held = words.reshape(many, -1).view(view)[:, at // np.dtype(view).itemsize]
    return (held.astype(np.uint32) << 16).view(np.float32) if kind == "bf16" else held


def run(entry, a, b, first, second, d):
    """D = A * B for each block."""
    name = r"wgmma_m64n(\d+)k(\d+)_([a-z0-9]+)_(K|MN)(_registers)?"
    n, depth, kind, major, registers = re.fullmatch(name, entry).groups()
    n, depth = int(n), int(depth)
    many = d.size // (64 * n)
    if registers:
        threads, shape, strides = ALAYOUT[256 // depth]
        row, column, warp, lane, value = cutlass_table(threads, shape, strides, 64)
        held = a.view(VIEWS[kind]).reshape(many, 128, -1)
        left = np.zeros((many, 64, depth))
        left[:, row, column] = held[:, 32 * warp + lane, value]
    else:
        left = read(a, many, first, (64, depth), kind, major).astype(float)
    right = read(b, many, second, (n, depth), kind, major).astype(float)
    product = left @ right.transpose(0, 2, 1)
    threads, shape, strides = CLAYOUT_64XN
    row, column, warp, lane, value = cutlass_table(threads, (*shape[:2], n // 8), strides, 64)
    found = np.zeros((many, 128, n // 2), dtype=np.int32 if kind == "s8" else np.float32)
    found[:, 32 * warp + lane, value] = product[:, row, column]
    d[:] = found.view(np.uint32).reshape(-1)
