"""The same maps as text for CUDA C++ and for Triton.

    print(cuda_source(TileLayout(S[(8, 3) : (3, 1)])))

    __device__ __forceinline__ void place_at(unsigned int i, unsigned int &out0) {
        ...
    extern "C" __global__ void place(unsigned int *out0, unsigned int n) {
        ...

    print(triton_source(TileLayout(S[(8, 3) : (3, 1)])))

Both come from the emitter that writes the text for numba, by another spelling, and store what that
kernel stores: see `kernels`.  Neither text needs a header of this library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layout_algebra.device.kernels import check_name, flat_map, kernel_body
from layout_algebra.maps import Map

_WORDS = {32: "unsigned int", 64: "unsigned long long"}


class CudaSpelling:
    """CUDA C++: unsigned words wrap by themselves."""

    quotient = "/"

    def literal(self, value: int, width: int) -> str:
        return f"{value}u" if width == 32 else f"{value}ull"

    def assignment(self, name: str, expression: str, width: int) -> str:
        return f"const {_WORDS[width]} {name} = {expression};"


class TritonSpelling:
    """Triton: a literal is a scalar of the words' type, so that nothing is promoted."""

    quotient = "//"

    def literal(self, value: int, width: int) -> str:
        return f"tl.full((), {value}, tl.uint{width})"

    def assignment(self, name: str, expression: str, width: int) -> str:
        return f"{name} = {expression}"


def cuda_source(map_or_layout: Any, shape: Sequence[int] | None = None, name: str = "place") -> str:
    """CUDA C++: `NAME_at(i, out0, ...)` for the device, and the kernel `NAME(out0, ..., n)`.

    Args:
        map_or_layout, shape, name: as for `kernel_of`.

    Raises:
        CoordinateError: symbolic sizes, coordinates without bounds, or a name that is none.
        WidthError: numbers beyond 64 bits.
    """
    check_name(name)
    flat, _ = flat_map(Map.of(map_or_layout, shape))
    width, lines, results = kernel_body(flat, CudaSpelling())
    word, outs = _WORDS[width], [f"out{k}" for k in range(len(results))]
    head = ", ".join([f"{word} i", *(f"{word} &{out}" for out in outs)])
    stores = [f"{out} = {result};" for out, result in zip(outs, results, strict=True)]
    inner = "".join(f"    {line}\n" for line in [*lines, *stores])
    pointers = ", ".join([*(f"{word} *{out}" for out in outs), f"{word} n"])
    places = ", ".join(["i", *(f"{out}[i]" for out in outs)])
    index = f"({word})blockIdx.x * ({word})blockDim.x + ({word})threadIdx.x"
    return (
        f"__device__ __forceinline__ void {name}_at({head}) {{\n{inner}}}\n\n"
        f'extern "C" __global__ void {name}({pointers}) {{\n'
        f"    const {word} i = {index};\n    if (i < n) {name}_at({places});\n}}\n"
    )


def triton_source(
    map_or_layout: Any, shape: Sequence[int] | None = None, name: str = "place"
) -> str:
    """Triton: `NAME_at(i)` on a block of words, and the kernel `NAME(out0, ..., n, BLOCK)`.

    `i`, and the kernel's pointers and `n`, are of the width that the text names: uint32 or uint64.

    Args:
        map_or_layout, shape, name: as for `kernel_of`.

    Raises:
        CoordinateError: symbolic sizes, coordinates without bounds, or a name that is none.
        WidthError: numbers beyond 64 bits.
    """
    check_name(name)
    flat, _ = flat_map(Map.of(map_or_layout, shape))
    width, lines, results = kernel_body(flat, TritonSpelling())
    word, outs = f"tl.uint{width}", [f"out{k}" for k in range(len(results))]
    given = "".join(result + ", " for result in results)
    inner = "".join(f"    {line}\n" for line in [*lines, f"return ({given})"])
    stores = "".join(
        f"    tl.store({out} + i, place[{k}], mask=inside)\n" for k, out in enumerate(outs)
    )
    head = ", ".join([*outs, "n", "BLOCK: tl.constexpr"])
    return (
        "import triton\nimport triton.language as tl\n\n\n"
        f"@triton.jit\ndef {name}_at(i):\n{inner}\n\n"
        f"@triton.jit\ndef {name}({head}):\n"
        f"    start = tl.program_id(0).to({word}) * tl.full((), BLOCK, {word})\n"
        f"    i = start + tl.arange(0, BLOCK).to({word})\n"
        f"    inside = i < n\n    place = {name}_at(i)\n{stores}"
    )
