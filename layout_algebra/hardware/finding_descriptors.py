"""From a matrix in shared memory to the descriptor through which an instruction reads it.

tile = Buffer((64, 64), "float16", mma_shared_layout("float16", 3, (64, 64)), align=1024)
descriptor_for(tile[0:64, 16:32], address=0x4000).encode()
descriptor_for(tile[0:64, 16:32], "wgmma", "MN")          # NoDescriptor: the reason
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layout_algebra.axes import m
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.descriptors import (
    Major,
    MatrixDescriptor,
    Tcgen05Descriptor,
    WgmmaDescriptor,
    shape_problem,
)
from layout_algebra.hardware.shared import CHUNK, ROWS, SwizzleMode, atom_size, checked_bits
from layout_algebra.layouts import TileLayout
from layout_algebra.memory.buffers import Buffer, View
from layout_algebra.values import Swizzle, Swizzled

_KINDS: dict[str, type[MatrixDescriptor]] = {
    "wgmma": WgmmaDescriptor,
    "tcgen05": Tcgen05Descriptor,
}


@dataclass(frozen=True)
class NoDescriptor:
    """Why a matrix has no descriptor: one sentence."""

    reason: str


def descriptor_for(
    where: Buffer | View,
    instruction: str = "wgmma",
    major: Major = "K",
    address: int = 0,
    *,
    first_rows: bool = False,
) -> MatrixDescriptor | NoDescriptor:
    """The descriptor through which an instruction reads a matrix in shared memory.

    Every element of the matrix is compared with the place that the descriptor leads to.

    Args:
        where: a buffer or a view of it, (M or N, K) after leading dimensions of size 1.
        instruction: "wgmma" or "tcgen05".
        major: "K", or "MN" for a matrix that the instruction is told to transpose.
        address: of the buffer's first byte in shared memory.
        first_rows: fewer than 8 rows are the first ones of a group of 8 (tcgen05.cp has 4).

    Raises:
        LayoutError: a buffer that is not in shared memory, an unknown instruction or major, an
            address that the buffer's alignment excludes.
    """
    view = where.whole if isinstance(where, Buffer) else where
    if not isinstance(view, View) or view.buffer.scope != "shared":  # type: ignore[redundant-expr]
        raise LayoutError(f"descriptor_for: a buffer in shared memory or a view; got {where!r}")
    if instruction not in _KINDS or major not in ("K", "MN"):
        raise LayoutError(
            f"descriptor_for: the instruction is wgmma or tcgen05, the major 'K' or 'MN'; "
            f"got {instruction!r}, {major!r}"
        )
    if type(address) is not int or address < 0 or address % view.buffer.align:
        raise LayoutError(
            f"descriptor_for: the buffer begins at a multiple of {view.buffer.align}; "
            f"got {address!r}"
        )
    found = _bits_of_view(view)
    mode = mode_of_buffer(view.buffer)
    for problem in (found, mode):
        if isinstance(problem, NoDescriptor):
            return problem
    least = ROWS if first_rows and major == "K" else 0
    return _fitted(view, _KINDS[instruction], major, mode, address, found, least)  # type: ignore[arg-type]


def mode_of_buffer(buffer: Buffer) -> SwizzleMode | NoDescriptor:
    """The mode whose swizzle a buffer's layout has, or why there is none."""
    swizzle = buffer.layout.swizzle if isinstance(buffer.layout, Swizzled) else Swizzle(0, 0, 0)
    if swizzle.is_identity:
        return SwizzleMode.NONE
    bits = checked_bits("descriptor_for", buffer.bits)
    for mode in SwizzleMode:
        if mode is not SwizzleMode.B128_ATOM_32B_FLIP_8B and mode.swizzle_of(bits) == swizzle:
            return mode
    return NoDescriptor(f"the layout's {swizzle} is that of no mode for elements of {bits} bits")


def _bits_of_view(view: View) -> Any:
    """Where each element of a view is before the swizzle, in bits from the buffer's first."""
    sizes = [*view.begin, *view.shape, *view.buffer.shape]
    layout = view.buffer.layout
    if layout.is_symbolic or not all(isinstance(size, int) for size in sizes):
        return NoDescriptor("a descriptor is of numbers: give the Dims' values")
    if layout.affine.replica:
        return NoDescriptor("the layout has copies: an instruction reads one place")
    shape = view.shape
    if len(shape) < 2 or any(size != 1 for size in shape[:-2]):
        return NoDescriptor(f"a matrix has two dimensions besides those of size 1; got {shape}")
    box = tuple(slice(b, b + n) for b, n in zip(view.begin, shape, strict=True))  # type: ignore[operator]
    whole = TileLayout.from_iters(layout.affine.shard, (), layout.affine.offset)
    places = whole.map(view.buffer.shape).table()
    table = places[m.name][box].reshape(shape[-2:])  # type: ignore[arg-type]
    return table * view.buffer.bits


def _fitted(
    view: View,
    kind: type[MatrixDescriptor],
    major: Major,
    mode: SwizzleMode,
    address: int,
    table: Any,
    least: int,
) -> MatrixDescriptor | NoDescriptor:
    """The descriptor with the offsets that the table has, if it leads to every element of it."""
    bits = view.buffer.bits
    rows = int(table.shape[0])
    shape = (max(rows, least), int(table.shape[1]))
    problem = kind.type_problem(bits, major, mode) or shape_problem(shape, bits, major, mode)
    if problem is not None:
        return NoDescriptor(problem)
    if view.buffer.align < mode.boundary:
        return NoDescriptor(
            f"the pattern of {mode} begins at multiples of {mode.boundary} bytes; the buffer at "
            f"multiples of {view.buffer.align}: give align={mode.boundary}"
        )
    leading, stride = _offsets(mode, bits, major, table)
    start = address + int(table[0, 0]) // 8
    try:
        found = kind(start, leading, stride, mode)
    except LayoutError as error:
        return NoDescriptor(str(error))
    problem = found.problem(shape, bits, major)
    if problem is not None:
        return NoDescriptor(problem)
    reads = found.layout(shape, bits, major).affine
    expected = TileLayout.from_iters(reads.shard, (), reads.offset).map(shape).table()
    got = expected[m.name].reshape(shape)[:rows] * bits
    wrong = got != table + 8 * address
    if not wrong.any():
        return found
    i, k = divmod(int(wrong.argmax()), shape[1])
    return NoDescriptor(
        f"element ({i}, {k}) is at byte {int(table[i, k]) // 8 + address} before the swizzle; the "
        f"{major}-major descriptor of mode {mode} with leading offset {leading} and stride offset "
        f"{stride} reads byte {int(got[i, k]) // 8}"
    )


def _offsets(mode: SwizzleMode, bits: int, major: Major, table: Any) -> tuple[int, int]:
    """The leading and the stride offset, in bytes, as the first elements have them."""
    rows, row = atom_size(mode, bits)
    plain = mode is SwizzleMode.NONE
    down, across = (ROWS, row) if major == "K" else (row, rows)

    def step(i: int, k: int, otherwise: int) -> int:
        if i >= table.shape[0] or k >= table.shape[1]:
            return otherwise
        return int(table[i, k] - table[0, 0]) // 8

    if major == "K":
        return (step(0, across, CHUNK) if plain else CHUNK), step(down, 0, 0)
    if plain:
        return step(0, across, CHUNK), step(down, 0, 0)
    return step(down, 0, CHUNK), step(0, across, 0)
