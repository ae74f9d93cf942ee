"""wgmma, as a GPU has it: descriptors, swizzles and fragments by running the instruction.

    check_wgmma(gpu, CASES[0])          # None, or what is wrong

The matrices are those of mma.sync (`gpu_data.problems`).  They lie in shared memory where the
catalogue's layout of the mode puts them, and the instruction is given the descriptors that the
catalogue finds for them: D is right if layouts, swizzles, descriptors and accumulator are as the
catalogue says.  Or A is in registers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layout_algebra import hardware as hw
from layout_algebra.crosschecks.gpu_data import KINDS, Words, misplaced, packed, problems, unpacked
from layout_algebra.crosschecks.gpu_texts import wgmma_text
from layout_algebra.crosschecks.results import NotCheckedError
from layout_algebra.device.launching import Gpu
from layout_algebra.device.toolchain import compile_cuda
from layout_algebra.hardware.descriptors import Major
from layout_algebra.hardware.finding_descriptors import NoDescriptor, descriptor_for
from layout_algebra.hardware.shared import SwizzleMode, mma_shared_layout
from layout_algebra.hardware.wgmma import ROWS, Wgmma
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory import Buffer
from layout_algebra.memory.buffers import View
from layout_algebra.notation import S

#: Threads of a warpgroup, a thread's registers of A, and what shared memory begins at multiples of.
THREADS, REGISTERS, ALIGN = 128, 4, 1024


@dataclass(frozen=True)
class Case:
    """One wgmma: its type and columns, and how A and B lie in shared memory.

    Attributes:
        dtype: A's and B's element type.
        n: columns of B and D.
        mode: the swizzle mode of both.
        major: "K", or "MN" where both are told to be transposed (16-bit elements).
        registers: A is in registers.
    """

    dtype: str
    n: int
    mode: SwizzleMode
    major: Major = "K"
    registers: bool = False

    @property
    def instruction(self) -> Wgmma:
        return hw.wgmma(self.n, self.dtype)

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        one, kind = self.instruction, KINDS[self.dtype]
        a = "_registers" if self.registers else ""
        return f"wgmma_m64n{one.n}k{one.k}_{kind.ptx}_{self.major}{a}"

    def __str__(self) -> str:
        a = "A in registers" if self.registers else f"{self.major}-major"
        return f"{self.instruction}, {self.mode}, {a}"


_MODES = (SwizzleMode.NONE, SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128)
#: The instructions that are run.
CASES = (
    *(Case("float16", 16, mode) for mode in _MODES),
    *(Case(dtype, 16, SwizzleMode.B128) for dtype in ("bfloat16", "tf32", "int8")),
    Case("float16", 64, SwizzleMode.B128),
    Case("float16", 64, SwizzleMode.B128, major="MN"),
    *(Case(dtype, 16, SwizzleMode.B128, registers=True) for dtype in ("float16", "tf32", "int8")),
)


def check_wgmma(gpu: Gpu, case: Case) -> tuple[str | None, int, float]:
    """What is wrong with one wgmma; elements of D looked at; seconds."""
    one, kind = case.instruction, KINDS[case.dtype]
    a, b, wanted = problems(ROWS, one.n, one.k)
    right = matrix(case, one.n, one.k)
    words_b = image(right, kind.encode(b).transpose(0, 2, 1), kind.bits)
    if case.registers:
        words_a = packed(one.A.map(), kind.encode(a), kind.bits, REGISTERS, THREADS)
        first = np.uint64(0)
    else:
        left = matrix(case, ROWS, one.k)
        words_a = image(left, kind.encode(a), kind.bits)
        first = described(left, case.major)
    text = wgmma_kernel(case)
    ptx = compile_cuda(text, case.kernel, gpu.arch)
    out = gpu.zeros(len(a) * ROWS * one.n, "uint32")
    given = [gpu.put(words_a), gpu.put(words_b), first, described(right, case.major), out]
    seconds = gpu.launch(ptx.text, case.kernel, len(a) * THREADS, given, block=THREADS)
    words = gpu.fetched(out).reshape(len(a), THREADS, -1)
    numbers = words.view(np.float32 if kind.result == "f32" else np.int32)
    return misplaced(unpacked(one.D.map(), numbers), wanted, one.k), wanted.size, seconds


def wgmma_kernel(case: Case) -> str:
    """The text of a case's kernel."""
    one, kind = case.instruction, KINDS[case.dtype]
    rows = () if case.registers else (ROWS,)
    buffers = [matrix(case, size, one.k).buffer for size in (*rows, one.n)]
    return wgmma_text(
        case.kernel,
        f"wgmma.mma_async.sync.aligned.m64n{one.n}k{one.k}.{kind.result}.{kind.ptx}.{kind.ptx}",
        [int(np.prod(buffer.shape)) * kind.bits // 32 for buffer in buffers],  # type: ignore[arg-type]
        registers=REGISTERS if case.registers else 0,
        results=one.n // 2,
        immediates=_immediates(case),
        kind="f" if kind.result == "f32" else "r",
    )


def _immediates(case: Case) -> str:
    """The operands after the predicate: signs of A and B, and which matrices are transposed."""
    bits = KINDS[case.dtype].bits
    if bits == 8:
        return ""
    turned = f", {int(case.major == 'MN')}" if bits == 16 else ""
    return ", 1, 1" + turned * (1 if case.registers else 2)


def matrix(case: Case, size: int, depth: int) -> View:
    """Where A or B, (M or N, K), is: the last columns of K of a tile in the case's mode."""
    bits = KINDS[case.dtype].bits
    if case.major == "MN":
        tile = TileLayout(S[(size, depth) : (1, size)])
        own = case.mode.swizzle_of(bits)
        layout = ComposeLayout(own.per_element, own.swizzle_len, own.atom_len, tile)
        return Buffer((size, depth), f"b{bits}", layout, align=ALIGN).whole
    columns = max(depth, 8 * case.mode.row_bytes // bits)
    plain = mma_shared_layout(f"b{bits}", case.mode, (size, columns))
    buffer = Buffer((size, columns), f"b{bits}", plain, align=ALIGN)
    return buffer[0:size, columns - depth : columns]


def described(where: View, major: Major) -> np.uint64:
    """The descriptor of a matrix in a buffer at address 0.

    Raises:
        NotCheckedError: there is none.
    """
    found = descriptor_for(where, "wgmma", major)
    if isinstance(found, NoDescriptor):
        raise NotCheckedError(found.reason)
    return np.uint64(found.encode())


def image(where: View, elements: NDArray[np.unsignedinteger], bits: int) -> Words:
    """The words of a buffer, for each matrix that its view holds."""
    buffer = where.buffer
    size = int(np.prod(buffer.shape))  # type: ignore[arg-type]
    table = buffer.layout.map(buffer.shape).table()["m"].reshape(buffer.shape)  # type: ignore[arg-type]
    box = tuple(slice(b, b + n) for b, n in zip(where.begin, where.shape, strict=True))  # type: ignore[operator]
    held = np.zeros((len(elements), size), dtype=np.int64)
    held[:, table[box].reshape(-1)] = elements.reshape(len(elements), -1)
    per = 32 // bits
    shifts = bits * np.arange(per, dtype=np.int64)
    return (held.reshape(len(elements), -1, per) << shifts).sum(axis=2).astype(np.uint32)
