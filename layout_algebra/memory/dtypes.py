"""Element types: how many bits one element takes in memory.

Sub-byte types are packed: two 4-bit elements in a byte.  (TMA and tcgen05 can also pad 4- and 6-bit
elements to whole bytes; a buffer of those has 8-bit elements.)
"""

from __future__ import annotations

import re

from layout_algebra.errors import LayoutError

#: Names of NumPy, PyTorch, PTX and TIRx -> bits of an element.
BITS = {
    "bool": 8,
    "fp16": 16,
    "f16": 16,
    "half": 16,
    "bf16": 16,
    "bfloat16": 16,
    "tf32": 32,
    "f32": 32,
    "fp32": 32,
    "float": 32,
    "f64": 64,
    "fp64": 64,
    "double": 64,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "s32": 32,
    "u32": 32,
    "b1": 1,
    "fp8": 8,
    "fp6": 6,
    "fp4": 4,
    "e4m3": 8,
    "e5m2": 8,
    "e2m3": 6,
    "e3m2": 6,
    "e2m1": 4,
    "ue8m0": 8,
    "ue4m3": 8,
}
_WITH_BITS = re.compile(r"[bu]?(?:int|float|f|b|s|u)(\d{1,5})(?:_e\d+m\d+\w*)?(?:x(\d{1,5}))?")
#: Bits of the widest element.
MOST_BITS = 1024


def bits_of(dtype: object) -> int:
    """Bits of one element.

    Args:
        dtype: a name ("float16", "bf16", "float8_e4m3fn", "int4", "e2m1", ...), a number of bits,
            or an object of NumPy or PyTorch, which prints as its name.

    Raises:
        LayoutError: not a type that is known here.
    """
    if type(dtype) is int:
        if not 1 <= dtype <= MOST_BITS:
            raise LayoutError(f"an element has 1 to {MOST_BITS} bits; got {dtype}")
        return dtype
    name = getattr(dtype, "__name__", None) or str(dtype)
    name = name.removeprefix("torch.").lower()
    if name in BITS:
        return BITS[name]
    match = _WITH_BITS.fullmatch(name)
    if match is None:
        raise LayoutError(
            f"{dtype!r} is no element type: write its name, like float16, bfloat16, float8_e4m3fn, "
            "int4, or its number of bits"
        )
    bits = int(match.group(1)) * int(match.group(2) or 1)
    if not 1 <= bits <= MOST_BITS:
        raise LayoutError(f"an element has 1 to {MOST_BITS} bits; {dtype!r} has {bits}")
    return bits
