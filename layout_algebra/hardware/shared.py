"""Swizzled shared memory: the modes of TMA, wgmma and tcgen05, and the atoms that they repeat.

    mma_atom_layout("float16", SwizzleMode.B128)      # 8 rows of 64 halves
    mma_shared_layout("float16", SwizzleMode.B128, (128, 128))

A mode moves chunks of 16, 32 or 64 bytes inside a row of 32, 64 or 128 bytes: it XORs the number of
the 128-byte line of the absolute address into the number of the chunk.  As a swizzle of bytes:

    mode            row  chunk  pattern begins at     per_element, swizzle_len, atom_len
    NONE             16     16  every 16 bytes        4, 0, 3
    B32              32     16  every 256 bytes       4, 1, 3
    B64              64     16  every 512 bytes       4, 2, 3
    B128            128     16  every 1024 bytes      4, 3, 3
    B128_ATOM_32B   128     32  every 1024 bytes      5, 2, 2
    B128_ATOM_64B   128     64  every 1024 bytes      6, 1, 1

B128_ATOM_32B_FLIP_8B also swaps the 8-byte halves of 16 bytes in every other line.  Which lines
those are is told by a picture only, so the mode is named here but has no swizzle.

An atom is 8 rows of a mode's row (4 for B128_ATOM_32B).  K-major atoms have K along the row,
MN-major ones M or N.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

from layout_algebra.axes import m
from layout_algebra.dims import Size, divide_exactly, is_size
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.sizes import positive_size
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory.dtypes import bits_of
from layout_algebra.values import Swizzle, row_major_strides

#: Bytes of a core matrix' row, the least that the matrix instructions address.
CHUNK = 16
#: Rows of an atom.
ROWS = 8


class SwizzleMode(IntEnum):
    """The swizzling modes, numbered as CUtensorMapSwizzle numbers them (TIRx: the first four)."""

    NONE = 0
    B32 = 1
    B64 = 2
    B128 = 3
    B128_ATOM_32B = 4
    B128_ATOM_32B_FLIP_8B = 5
    B128_ATOM_64B = 6

    @property
    def row_bytes(self) -> int:
        """Bytes of the row inside which chunks move (without a swizzle, of one chunk)."""
        return CHUNK << min(self, SwizzleMode.B128)

    @property
    def chunk_bytes(self) -> int:
        """Bytes that stay together."""
        return {
            SwizzleMode.B128_ATOM_32B: 32,
            SwizzleMode.B128_ATOM_32B_FLIP_8B: 8,
            SwizzleMode.B128_ATOM_64B: 64,
        }.get(self, CHUNK)

    @property
    def boundary(self) -> int:
        """Bytes: where the pattern begins with its first row, at multiples of this address."""
        return CHUNK if self is SwizzleMode.NONE else ROWS * self.row_bytes

    @property
    def swizzle(self) -> Swizzle:
        """The swizzle of byte addresses.

        Raises:
            LayoutError: for B128_ATOM_32B_FLIP_8B.
        """
        if self is SwizzleMode.B128_ATOM_32B_FLIP_8B:
            raise LayoutError(
                f"{self.name} is more than one XOR, and which lines it flips is not confirmed: "
                "use another mode"
            )
        if self is SwizzleMode.B128_ATOM_32B:
            return Swizzle(5, 2, 2)
        if self is SwizzleMode.B128_ATOM_64B:
            return Swizzle(6, 1, 1)
        return Swizzle(4, int(self), 3)

    def swizzle_of(self, bits: int) -> Swizzle:
        """The swizzle of places that count elements of so many bits.

        Raises:
            LayoutError: a width that is no power of two up to 128, or a mode without a swizzle.
        """
        own = self.swizzle
        per_element = own.per_element + 3 - checked_bits("swizzle_of", bits).bit_length() + 1
        return Swizzle(per_element, own.swizzle_len, own.atom_len)

    def __str__(self) -> str:
        return self.name


def swizzle_mode(constructor: str, mode: object) -> SwizzleMode:
    """The mode of a SwizzleMode, its number, or its name: "none", "32B", "64B", "128B", ...

    Raises:
        LayoutError: anything else.
    """
    if isinstance(mode, SwizzleMode):
        return mode
    if isinstance(mode, str):
        written = mode.upper().replace(" ", "_")
        for named in SwizzleMode:
            if written in (named.name, named.name.replace("B", "", 1) + "B"):
                return named
    if type(mode) is int and 0 <= mode < len(SwizzleMode):
        return SwizzleMode(mode)
    raise LayoutError(
        f"{constructor}: the swizzle mode is a SwizzleMode, 0 to {len(SwizzleMode) - 1}, or one of "
        f'"none", "32B", "64B", "128B"; got {mode!r}'
    )


def checked_bits(constructor: str, dtype: object) -> int:
    """Bits of an element, if whole elements fill 16 bytes.

    Raises:
        LayoutError: they do not (6-bit elements are padded in shared memory: name an 8-bit type).
    """
    bits = bits_of(dtype)
    if bits & (bits - 1) or bits > 8 * CHUNK:
        raise LayoutError(
            f"{constructor}: elements of {bits} bits do not fill {CHUNK} bytes; in shared memory "
            "they are padded to bytes: name an 8-bit type"
        )
    return bits


def atom_size(mode: SwizzleMode, bits: int) -> tuple[int, int]:
    """(rows, elements of a row) of a mode's atom."""
    rows = ROWS // 2 if mode is SwizzleMode.B128_ATOM_32B else ROWS
    return rows, 8 * mode.row_bytes // bits


def mma_atom_layout(dtype: object, mode: SwizzleMode | int, major: str = "K") -> ComposeLayout:
    """The atom that a swizzle mode repeats in shared memory.

    Formula: before the swizzle the atom is dense, a row after the other: (row, k) of a K-major atom
    is at row*columns + k, (mn, k) of an MN-major one at mn + k*columns.

    Args:
        dtype: element type; a vector type is one element of its whole width.
        mode: NONE, B32, B64 or B128, or their numbers; MN-major also B128_ATOM_32B.
        major: "K": the atom's flat index, row by row; "MN": over the shape (columns, rows).

    Raises:
        LayoutError: another mode or major, or elements that do not fill 16 bytes.

    Source: PTX ISA, swizzling modes of tensors, and swizzle atoms of wgmma and tcgen05.
    """
    name = "mma_atom_layout"
    found = _mma_mode(name, mode, major)
    bits = checked_bits(name, dtype)
    rows, columns = atom_size(found, bits)
    if major == "K":
        return _swizzled(found, bits, TileLayout.from_iters([(rows * columns, 1, m)]))
    return _swizzled(found, bits, TileLayout.from_iters([(columns, 1, m), (rows, columns, m)]))


def mma_atom_shape(
    dtype: object, mode: SwizzleMode | int, shape: Sequence[Size] | None = None
) -> tuple[int, ...]:
    """Rows and columns of a mode's K-major atom.

    Formula: (8, 128 * 2^mode / bits).

    Args:
        dtype, mode: as for `mma_atom_layout`.
        shape: a shape to which the atom's is padded with ones in front.

    Raises:
        LayoutError: another mode, elements that do not fill 16 bytes, or a shape that is none.
    """
    name = "mma_atom_shape"
    found = _mma_mode(name, mode, "K")
    atom = atom_size(found, checked_bits(name, dtype))
    if shape is None:
        return atom
    return (1,) * (len(_checked_shape(name, shape)) - 2) + atom


def mma_shared_layout(
    dtype: object, mode: SwizzleMode | int, shape: Sequence[Size]
) -> TileLayout | ComposeLayout:
    """A matrix in shared memory, or several, as MMA instructions read it K-major.

    Formula: atoms follow each other down the rows, then to the next columns, then to the next
    matrix.  With c columns in an atom, element (l, i, k) is before the swizzle at
    l*M*K + (k // c)*M*c + i*c + k % c.  Without a swizzle c is 16 bytes; where these do not divide
    a row, the tile is row-major.

    Args:
        dtype, mode: as for `mma_atom_layout`.
        shape: (..., M, K), ints or Dims; with a swizzle multiples of the atom's rows and columns.

    Raises:
        LayoutError: fewer than two dimensions, a size below 1, or one that no atom divides.

    Source: the TIRx layout API (`mma_shared_layout`).
    """
    name = "mma_shared_layout"
    found = _mma_mode(name, mode, "K")
    bits = checked_bits(name, dtype)
    sizes = _checked_shape(name, shape)
    if len(sizes) < 2:
        raise LayoutError(f"{name}: the shape is (..., M, K); got {tuple(shape)}")
    *lead, rows, columns = sizes
    atom_rows, wide = atom_size(found, bits)
    blocks = divide_exactly(columns, wide)
    if found is SwizzleMode.NONE:
        if blocks is None and not isinstance(columns, int):
            raise LayoutError(f"{name}: it is not known whether {wide} elements divide {columns}")
        if blocks is None:
            return TileLayout.from_iters(_row_major(sizes)).canonicalize()
    elif blocks is None or divide_exactly(rows, atom_rows) is None:
        raise LayoutError(
            f"{name}: {found} repeats atoms of {atom_rows} x {wide}; they do not divide "
            f"{rows} x {columns}"
        )
    steps = [stride * rows * columns for stride in row_major_strides(lead)]
    iters = [(size, step, m) for size, step in zip(lead, steps, strict=True)]
    iters += [(rows, wide, m), (blocks, rows * wide, m), (wide, 1, m)]
    tile = TileLayout.from_iters(iters).canonicalize()
    return tile if found is SwizzleMode.NONE else _swizzled(found, bits, tile)


def _mma_mode(constructor: str, mode: object, major: str) -> SwizzleMode:
    """The mode, if MMA instructions read it with this major."""
    if major not in ("K", "MN"):
        raise LayoutError(f"{constructor}: the major is 'K' or 'MN'; got {major!r}")
    found = swizzle_mode(constructor, mode)
    most = SwizzleMode.B128 if major == "K" else SwizzleMode.B128_ATOM_32B
    if found > most:
        raise LayoutError(
            f"{constructor}: {major}-major matrices have the modes 0 to {int(most)}, up to {most}; "
            f"got {int(found)}, {found}"
        )
    return found


def _checked_shape(constructor: str, shape: object) -> list[Size]:
    if not isinstance(shape, Sequence) or not all(is_size(size) for size in shape):
        raise LayoutError(f"{constructor}: a shape is a sequence of sizes; got {shape!r}")
    return [positive_size(constructor, f"size {d}", size) for d, size in enumerate(shape)]


def _row_major(sizes: Sequence[Size]) -> list[tuple[Size, Size, object]]:
    strides = row_major_strides(sizes)
    return [(size, stride, m) for size, stride in zip(sizes, strides, strict=True)]


def _swizzled(mode: SwizzleMode, bits: int, tile: TileLayout) -> ComposeLayout:
    own = mode.swizzle_of(bits)
    return ComposeLayout(own.per_element, own.swizzle_len, own.atom_len, tile)


# -- entries -----------------------------------------------------------------------------------
_ATOMS = "PTX ISA, Shared Memory Matrix Layout (wgmma), swizzle atoms; Swizzling Modes of tensors"
_TYPED = "the swizzle tables of PTX ISA, Swizzling Modes, typed in the tests"
_RECORDED = "; the recorded answers of TIRx"
#: Element types that stand for their widths, and whether MN-major atoms have them.
_TYPES = (("float16", True), ("int8", True), ("float32", False), ("float4_e2m1fn", False))


@family
def shared_atoms() -> Iterator[Entry]:
    """The atoms: K-major for each width, MN-major for those that can be transposed."""
    plain = [mode for mode in SwizzleMode if mode <= SwizzleMode.B128]
    for dtype, transposed in _TYPES:
        for mode in plain:
            rows, columns = atom_size(mode, bits_of(dtype))
            layout = mma_atom_layout(dtype, mode)
            about = (dtype, _ATOMS, _TYPED)
            name = f"shared.{mode}.{dtype}"
            yield Entry(f"{name}.K", layout, (rows, columns), *about[:2], _TYPED + _RECORDED)
            if transposed:
                layout = mma_atom_layout(dtype, mode, "MN")
                yield Entry(f"{name}.MN", layout, (columns, rows), *about)
    mode = SwizzleMode.B128_ATOM_32B
    rows, columns = atom_size(mode, 32)
    source = "PTX ISA, Shared Memory Layout and Swizzling (tcgen05), 128B swizzling, 32B atomicity"
    layout = mma_atom_layout("float32", mode, "MN")
    yield Entry(f"shared.{mode}.float32.MN", layout, (columns, rows), "float32", source, _TYPED)
