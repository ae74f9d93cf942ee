"""The scale factors of block-scaled mma.sync: which byte of which lane scales which row or column.

    mma_scales("A", "2X")                          # over (16, 2): row i, block of K
    mma_scales("B", "1X", thread_id=3, byte_id=1)  # over (1, 8)

A row of A (a column of B) has one scale factor for each block of K: one, two or four of them, one
byte each, in one register.  Row i of A is scaled by lane 4*(i % 8) + i//8 + 2*thread_id, column j
of B by lane 4*j + thread_id; the factor of block s is byte byte_id + s there.  Other lanes'
registers are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from layout_algebra.axes import laneid, m
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.mma_tables import PTX
from layout_algebra.layouts import TileLayout

#: Scale vector size -> (factors of a row, values of byte_id).
_VECTORS = {"1X": (1, (0, 1, 2, 3)), "2X": (2, (0, 2)), "4X": (4, (0,))}

#: Operand -> values of thread_id.
_THREADS = {"A": (0, 1), "B": (0, 1, 2, 3)}

_SOURCE = (
    f"{PTX}9.7.14.3, block scaling for mma.sync; which lane of a pair has which row: CUTLASS, "
    "mma_traits_sm120.hpp, SFALayout"
)
_CONFIRMED = {
    "A": "CUTLASS' layout for (thread-id 0, byte-id 0), typed in tests/hardware/test_mma.py",
    "B": "tables typed from the ISA text and from CUTLASS' SFBLayout, tests/hardware/test_mma.py",
}


def mma_scales(operand: str, scale_vec: str, *, thread_id: int = 0, byte_id: int = 0) -> Entry:
    """The scale factors of one operand of a block-scaled mma.sync.

    Args:
        operand: "A" for scale-a-data over (16, n), "B" for scale-b-data over (n, 8).
        scale_vec: "1X", "2X" or "4X": n is 1, 2 or 4.
        thread_id: the thread selector; 0 or 1 for A, 0 to 3 for B.
        byte_id: the byte selector; 0 to 3 with 1X, 0 or 2 with 2X, 0 with 4X.

    Raises:
        LayoutError: another operand, vector size or selector.

    Source: PTX ISA 9.1, section 9.7.14.3, block scaling for mma.sync.
    """
    if operand not in _THREADS:
        raise LayoutError(f"mma_scales: the operand is A or B; got {operand!r}")
    if scale_vec not in _VECTORS:
        raise LayoutError(f"mma_scales: scale_vec is {', '.join(_VECTORS)}; got {scale_vec!r}")
    count, bytes_allowed = _VECTORS[scale_vec]
    for name, value, allowed in (
        (f"thread_id of {operand}", thread_id, _THREADS[operand]),
        (f"byte_id with {scale_vec}", byte_id, bytes_allowed),
    ):
        if type(value) is not int or value not in allowed:
            legal = ", ".join(map(str, allowed))
            raise LayoutError(f"mma_scales: {name} is one of {legal}; got {value!r}")
    blocks = [(count, 1, m)] if count > 1 else []
    if operand == "A":
        iters, tile = [(2, 1, laneid), (8, 4, laneid), *blocks], (16, count)
        first = 2 * thread_id
    else:
        iters, tile = [*blocks, (8, 4, laneid)], (count, 8)
        first = thread_id
    offset = {axis: value for axis, value in ((laneid, first), (m, byte_id)) if value}
    layout = TileLayout.from_iters(iters, (), offset)
    name = f"mma_scales.{operand}.{scale_vec}.thread{thread_id}.byte{byte_id}"
    return Entry(name, layout, tile, "b8", _SOURCE, _CONFIRMED[operand])


@family
def scale_entries() -> Iterator[Entry]:
    """Every choice of operand, vector size and selectors."""
    for operand, threads in _THREADS.items():
        for scale_vec, (_, bytes_allowed) in _VECTORS.items():
            for thread_id in threads:
                for byte_id in bytes_allowed:
                    yield mma_scales(operand, scale_vec, thread_id=thread_id, byte_id=byte_id)
