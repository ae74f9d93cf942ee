"""The memory model: buffers, what instructions of a warp touch in them, and how it is served.

    sA = Buffer((128, 64), "float16", layout, scope="shared", align=1024)
    column = sA.read(lambda lane, j: (lane % 8, j), lanes=8, bytes=16,
                     free=[Dim("j", multiple_of=8, at_most=56)])
    prove(BankConflictFree(column))

The claims about accesses are in `layout_algebra.claims`.
"""

from layout_algebra.memory.accesses import Access
from layout_algebra.memory.amd_targets import CDNA3, CDNA4, CDNA4_32_BANKS
from layout_algebra.memory.banks import Service, served
from layout_algebra.memory.buffers import Buffer, View
from layout_algebra.memory.dtypes import bits_of
from layout_algebra.memory.targets import NVIDIA, NVIDIA_WHOLE_WARP, MemoryTarget

__all__ = [
    "CDNA3",
    "CDNA4",
    "CDNA4_32_BANKS",
    "NVIDIA",
    "NVIDIA_WHOLE_WARP",
    "Access",
    "Buffer",
    "MemoryTarget",
    "Service",
    "View",
    "bits_of",
    "served",
]
