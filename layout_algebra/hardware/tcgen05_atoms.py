"""Registers that `tcgen05.ld` fills from Tensor Memory, and `tcgen05.st` stores there.

    tcgen05_atom_layout("16x256b", (128, 64), "float32")

What `tcgen05.ld` gives a warp, with q = row in its 16, hi = q // 8, lo = q % 8, f = the 32-bit
column in the warp's tile, h = half of its columns:

    shape      lane                        register
    32x32b     row                         f
    16x64b     4*lo + 2*(f % 2) + hi       f // 2
    16x128b    4*lo + f % 4                hi + 2*(f // 4)
    16x256b    4*lo + (f // 2) % 4         f % 2 + 2*hi + 4*(f // 8)
    16x32bx2   q + 16*(f // h)             f % h

The rows of a 64-row tile are 16 for each warp.  A 128-row tile has 32 for each warp; the shapes of
16 lanes read it in two slabs of 16, the second one into the upper half of the registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from layout_algebra.axes import Axis, laneid, m, tid_in_wg, wid_in_wg
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.layouts import TileLayout
from layout_algebra.memory.dtypes import bits_of

Iters = list[tuple[Size, Size, Axis]]

_LD = "PTX ISA, tcgen05: data movement shapes, matrix fragments"
#: shape -> (32-bit columns of one repetition, the most repetitions).
_ATOMS = {
    "32x32b": (1, 128),
    "16x64b": (2, 128),
    "16x128b": (4, 64),
    "16x256b": (8, 32),
    "16x32bx2": (2, 128),
}


def tcgen05_atom_layout(instr: str, shape: Sequence[int], dtype: object) -> TileLayout:
    """The registers of a warpgroup that `tcgen05.ld` fills, or `tcgen05.st` stores.

    Formula: see the table of this module; register r holds the elements m = r * (32 // bits) and
    on.  32x32b names the thread by tid_in_wg, the others by wid_in_wg and laneid.  A 64-row tile
    for 32x32b has 32-bit elements, and its right half of the columns in threads 64 to 127, as
    data path E has it.  Of 16x32bx2 the two halves follow each other in TMEM: the offset that the
    instruction names is half of the columns.

    Args:
        instr: "32x32b", "16x64b", "16x128b", "16x256b" or "16x32bx2".
        shape: (64 or 128 rows, columns); the columns are a power of two of repetitions.
        dtype: element type, of 16 or 32 bits.

    Raises:
        LayoutError: what the instruction does not have.

    Source: the TIRx layout API (`tcgen05_atom_layout`); PTX ISA, tcgen05.ld, matrix fragments.
    """
    name = "tcgen05_atom_layout"
    if not isinstance(instr, str) or instr not in _ATOMS:
        raise LayoutError(f"{name}: the shape is one of {', '.join(_ATOMS)}; got {instr!r}")
    bits = bits_of(dtype)
    if bits not in (16, 32):
        raise LayoutError(f"{name}: elements have 16 or 32 bits; {dtype} has {bits}")
    if len(shape) != 2 or any(type(size) is not int for size in shape) or shape[0] not in (64, 128):
        raise LayoutError(f"{name}: the tile is (64 or 128, columns); got {tuple(shape)}")
    rows, cols = shape
    pack = 32 // bits
    if instr == "32x32b":
        return _whole_windows(rows, cols, pack)
    repeats = _repeats(instr, cols, pack)
    columns = repeats * _ATOMS[instr][0]
    slabs: Iters = [(2, columns // 2 * pack, m)] if rows == 128 else []
    packed: Iters = [(pack, 1, m)] if pack > 1 else []
    return TileLayout.from_iters(
        [(4, 1, wid_in_wg), *slabs, *_sixteen_rows(instr, repeats, pack), *packed]
    )


def _repeats(instr: str, cols: int, pack: int) -> int:
    """How often the instruction's shape is repeated along the columns."""
    columns, most = _ATOMS[instr]
    step = columns * pack
    repeats, rest = divmod(cols, step)
    if rest or not 1 <= repeats <= most or repeats & (repeats - 1):
        raise LayoutError(
            f"tcgen05_atom_layout: {instr} has {step} columns times a power of two up to {most}; "
            f"got {cols} columns"
        )
    return repeats


def _whole_windows(rows: int, cols: int, pack: int) -> TileLayout:
    if rows == 128:
        _repeats("32x32b", cols, pack)
        return TileLayout.from_iters([(128, 1, tid_in_wg), (cols, 1, m)])
    if pack > 1 or cols % 2:
        raise LayoutError(
            "tcgen05_atom_layout: 64 rows of 32x32b have elements of 32 bits and an even number "
            f"of columns; got {32 // pack} bits and {cols} columns"
        )
    _repeats("32x32b", cols // 2, pack)
    return TileLayout.from_iters([(64, 1, tid_in_wg), (2, 64, tid_in_wg), (cols // 2, 1, m)])


def _sixteen_rows(instr: str, repeats: int, pack: int) -> Iters:
    """The 16 rows of a warp and its 32-bit columns; `m` counts elements, pack for a register."""
    if instr == "16x64b":
        return [(2, 1, laneid), (8, 4, laneid), (repeats, pack, m), (2, 2, laneid)]
    if instr == "16x128b":
        return [(2, pack, m), (8, 4, laneid), (repeats, 2 * pack, m), (4, 1, laneid)]
    if instr == "16x256b":
        rows: Iters = [(2, 2 * pack, m), (8, 4, laneid)]
        return [*rows, (repeats, 4 * pack, m), (4, 1, laneid), (2, pack, m)]
    return [(16, 1, laneid), (2, 16, laneid), (repeats, pack, m)]


@family
def atoms() -> Iterator[Entry]:
    """Every shape, for tiles of 64 and 128 rows by 32 columns."""
    tables = "triton 3.9.0, register layouts of TMEM, typed as tables in the tests"
    for instr in _ATOMS:
        for rows in (64, 128):
            for dtype in ("float32", "float16"):
                if instr == "32x32b" and rows == 64 and dtype == "float16":
                    continue
                name = f"tcgen05.ld.{instr}.{dtype}.{rows}rows"
                layout = tcgen05_atom_layout(instr, (rows, 32), dtype)
                confirmed = tables
                if instr == "32x32b" and rows == 64:
                    confirmed = "apache-tvm 0.27.0.post1, answer by answer"
                elif instr == "16x32bx2" and rows == 128:
                    confirmed = ""
                yield Entry(name, layout, (rows, 32), dtype, _LD, confirmed)
