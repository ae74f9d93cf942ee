"""Shared-memory matrix descriptors: the 64 bits by which wgmma and tcgen05 find a matrix.

    found = WgmmaDescriptor(0x4000, stride=1024, mode=SwizzleMode.B128)
    found.encode()                                # 0x4000004000010400
    found.layout((64, 64), "float16")             # where element (i, k) is read

    bits     wgmma                         tcgen05
    0-13     start address / 16            the same
    16-29    leading byte offset / 16      the same; with bit 52 set an address
    32-45    stride byte offset / 16       the same
    46-48    -                             0b001
    49-51    base offset                   base offset
    61-63    62-63: 0 none, 1 128B,        0 none, 1 128B with 32B atoms, 2 128B, 4 64B, 6 32B
             2 64B, 3 32B

What a descriptor reaches are the canonical layouts.  With T elements in 16 bytes, c in a row of the
swizzle mode, L and S the two offsets, element (i, k) is before the swizzle at

    K-major,  none      i % 8 * T + i // 8 * S + k % T + k // T * L
    K-major,  swizzled  i % 8 * c + i // 8 * S + k                        k inside one row
    MN-major, none      i % T + i // T * S + k % 8 * T + k // 8 * L
    MN-major, swizzled  i % c + i // c * L + k % 8 * c + k // 8 * S       % 4, // 4 with 32B atoms

from the start on, and the swizzle acts on the whole address.  A base offset other than 0 moves the
pattern; what is read then is not modelled here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from layout_algebra.axes import m
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.shared import (
    CHUNK,
    ROWS,
    SwizzleMode,
    atom_size,
    checked_bits,
    swizzle_mode,
)
from layout_algebra.layouts import ComposeLayout, TileLayout

Major = Literal["K", "MN"]
#: Addresses and offsets are below this: 14 bits of 16 bytes.
MOST = 1 << 18
_FIELD = (1 << 14) - 1


@dataclass(frozen=True)
class MatrixDescriptor:
    """What both descriptors say.

    Attributes:
        start: address of the first element in shared memory (bytes).
        leading, stride: the leading and the stride byte offset.
        mode: the swizzle mode.
        base_offset: 0 where the mode's pattern begins at its boundary; see `base_offset`.
    """

    start: int
    leading: int = CHUNK
    stride: int = 0
    mode: SwizzleMode = SwizzleMode.NONE
    base_offset: int = 0

    _codes: ClassVar[Mapping[SwizzleMode, int]] = {}
    _mode_at: ClassVar[int] = 0
    _mode_bits: ClassVar[int] = 0
    _fixed: ClassVar[int] = 0
    _transposed: ClassVar[Mapping[int, tuple[SwizzleMode, ...]]] = {}
    _widths: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        name = type(self).__name__
        for field in ("start", "leading", "stride"):
            value = getattr(self, field)
            if type(value) is not int or value % CHUNK or not 0 <= value < MOST:
                raise LayoutError(
                    f"{name}: {field} is a multiple of {CHUNK} bytes below {MOST}; got {value!r}"
                )
        object.__setattr__(self, "mode", swizzle_mode(name, self.mode))
        if self.mode not in self._codes:
            allowed = ", ".join(map(str, self._codes))
            raise LayoutError(f"{name}: the mode is one of {allowed}; got {self.mode}")
        if type(self.base_offset) is not int or not 0 <= self.base_offset < 8:
            raise LayoutError(f"{name}: base_offset is 0 to 7; got {self.base_offset!r}")
        if self.base_offset and self.mode is SwizzleMode.NONE:
            raise LayoutError(f"{name}: without a swizzle base_offset is 0; got {self.base_offset}")

    # -- bits ---------------------------------------------------------------------------------
    def encode(self) -> int:
        """The 64 bits."""
        fields = (self.start, 0), (self.leading, 16), (self.stride, 32)
        found = self._fixed | self.base_offset << 49 | self._codes[self.mode] << self._mode_at
        for value, at in fields:
            found |= value // CHUNK << at
        return found

    @classmethod
    def decode(cls, bits: int) -> Self:
        """The descriptor of 64 bits.

        Raises:
            LayoutError: bits that no descriptor of this kind has.
        """
        name = cls.__name__
        if type(bits) is not int or not 0 <= bits < 1 << 64:
            raise LayoutError(f"{name}: a descriptor has 64 bits; got {bits!r}")
        code = bits >> cls._mode_at & (1 << cls._mode_bits) - 1
        modes = [mode for mode, number in cls._codes.items() if number == code]
        if not modes:
            raise LayoutError(f"{name}: swizzle mode {code} is none of {[*cls._codes.values()]}")
        start, leading, stride = (CHUNK * (bits >> at & _FIELD) for at in (0, 16, 32))
        more = cls._more(bits)
        found = cls(start, leading, stride, modes[0], bits >> 49 & 7, **more)
        if found.encode() != bits:
            raise LayoutError(
                f"{name}: {bits:#018x} has fixed or reserved bits wrong: "
                f"{bits ^ found.encode():#018x}"
            )
        return found

    @classmethod
    def _more(cls, bits: int) -> dict[str, Any]:
        """Fields that only one kind has."""
        del bits
        return {}

    # -- meaning ------------------------------------------------------------------------------
    def layout(
        self, shape: tuple[int, int], dtype: object, major: Major = "K"
    ) -> TileLayout | ComposeLayout:
        """Where the instruction finds element (i, k): elements from address 0 of shared memory.

        Args:
            shape: (M or N, K), in elements.
            dtype: element type.
            major: "K" or "MN".

        Raises:
            LayoutError: a shape, type or major that the instruction does not read, or a base
                offset.
        """
        name = type(self).__name__
        bits = checked_bits(name, dtype)
        problem = self.problem(shape, bits, major)
        if problem is not None:
            raise LayoutError(f"{name}: {problem}")
        each = 8 * CHUNK // bits

        def elements(size: int) -> int:
            return size // CHUNK * each

        leading, stride = elements(self.leading), elements(self.stride)
        iters = _canonical(self.mode, shape, bits, major, leading, stride)
        offset = {m: elements(self.start)} if self.start else {}
        tile = TileLayout.from_iters([(n, s, m) for n, s in iters], (), offset)
        if self.mode is SwizzleMode.NONE:
            return tile
        own = self.mode.swizzle_of(bits)
        return ComposeLayout(own.per_element, own.swizzle_len, own.atom_len, tile)

    def problem(self, shape: tuple[int, int], bits: int, major: Major) -> str | None:
        """Why a matrix of this shape cannot be read through this descriptor, or None."""
        if self.base_offset:
            return f"base offset {self.base_offset}: what is read then is not modelled"
        found = self.type_problem(bits, major, self.mode) or shape_problem(
            shape, bits, major, self.mode
        )
        if found is not None or major == "MN" or self.mode is SwizzleMode.NONE:
            return found
        row, begin = shape[1] * bits // 8, self.start % self.mode.row_bytes
        if begin + row > self.mode.row_bytes:
            return (
                f"{row} bytes of K from byte {begin} of a row; {self.mode} has rows of "
                f"{self.mode.row_bytes}: take fewer columns at once"
            )
        return None

    @classmethod
    def type_problem(cls, bits: int, major: Major, mode: SwizzleMode) -> str | None:
        """Why the instruction does not read elements of this width with this major and mode."""
        if major not in ("K", "MN"):
            return f"the major is 'K' or 'MN'; got {major!r}"
        if bits not in cls._widths:
            allowed = ", ".join(map(str, cls._widths))
            return f"elements have {allowed} bits; these have {bits}"
        if mode not in cls._codes:
            return f"the instruction has no mode {mode}"
        if major == "K":
            bad = mode is SwizzleMode.B128_ATOM_32B
            return f"{mode} is for MN-major matrices" if bad else None
        modes = cls._transposed.get(bits, ())
        if mode in modes:
            return None
        allowed = ", ".join(map(str, modes)) or "none"
        return f"MN-major matrices of {bits} bits have the modes: {allowed}; this one has {mode}"


@dataclass(frozen=True)
class WgmmaDescriptor(MatrixDescriptor):
    """The descriptor of wgmma (PTX ISA, Matrix Descriptor Format); see the module's text."""

    _codes: ClassVar[Mapping[SwizzleMode, int]] = {
        SwizzleMode.NONE: 0,
        SwizzleMode.B128: 1,
        SwizzleMode.B64: 2,
        SwizzleMode.B32: 3,
    }
    _mode_at, _mode_bits = 62, 2
    _transposed: ClassVar[Mapping[int, tuple[SwizzleMode, ...]]] = {16: tuple(_codes)}
    _widths = (1, 8, 16, 32)


@dataclass(frozen=True)
class Tcgen05Descriptor(MatrixDescriptor):
    """The descriptor of tcgen05 (PTX ISA, Shared Memory Descriptor); see the module's text.

    Attributes:
        leading_is_address: `leading` is an absolute address (bit 52; sm_103a).
    """

    leading_is_address: bool = False

    _codes: ClassVar[Mapping[SwizzleMode, int]] = {
        SwizzleMode.NONE: 0,
        SwizzleMode.B128_ATOM_32B: 1,
        SwizzleMode.B128: 2,
        SwizzleMode.B64: 4,
        SwizzleMode.B32: 6,
    }
    _mode_at, _mode_bits = 61, 3
    _fixed = 0b001 << 46
    _transposed: ClassVar[Mapping[int, tuple[SwizzleMode, ...]]] = {
        8: (SwizzleMode.NONE, SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128),
        16: (SwizzleMode.NONE, SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128),
        32: (SwizzleMode.B128_ATOM_32B,),
    }
    _widths = (4, 8, 16, 32)

    def encode(self) -> int:
        return super().encode() | int(self.leading_is_address) << 52

    @classmethod
    def _more(cls, bits: int) -> dict[str, Any]:
        return {"leading_is_address": bool(bits >> 52 & 1)}

    def problem(self, shape: tuple[int, int], bits: int, major: Major) -> str | None:
        if self.leading_is_address:
            return "an absolute leading address: what is read then is not modelled"
        return super().problem(shape, bits, major)


def base_offset(mode: SwizzleMode | int, pattern_start: int) -> int:
    """The base offset for a swizzle pattern that begins at an address.

    Formula: 0 at a multiple of the mode's boundary, else bits 7 to 9 of the address.

    Args:
        mode: B32, B64 or B128.
        pattern_start: the address, in bytes.

    Raises:
        LayoutError: another mode, or no address.

    Source: PTX ISA, Matrix Descriptor Format.
    """
    found = swizzle_mode("base_offset", mode)
    if not SwizzleMode.B32 <= found <= SwizzleMode.B128:
        raise LayoutError(f"base_offset: the mode is B32, B64 or B128; got {found}")
    if type(pattern_start) is not int or pattern_start < 0:
        raise LayoutError(f"base_offset: an address is an int from 0; got {pattern_start!r}")
    return 0 if pattern_start % found.boundary == 0 else pattern_start >> 7 & 7


def shape_problem(shape: tuple[int, int], bits: int, major: Major, mode: SwizzleMode) -> str | None:
    """Why a canonical layout of this mode has not this shape, or None."""
    chunk = 8 * CHUNK // bits
    rows, row = atom_size(mode, bits)
    units = (ROWS, 2 * chunk) if major == "K" else (chunk, rows)
    for name, size, unit in zip(("M or N", "K"), shape, units, strict=True):
        if size % unit:
            return f"{name} is a multiple of {unit} ({major}-major, {mode}); got {size}"
    if major == "MN" and shape[0] > row and shape[0] % row:
        return f"M or N is a multiple of a row of {row} elements, or within one; got {shape[0]}"
    return None


def _canonical(
    mode: SwizzleMode, shape: tuple[int, int], bits: int, major: Major, leading: int, stride: int
) -> list[tuple[int, int]]:
    """(extent, stride in elements) of the canonical layout, M or N first."""
    size, depth = shape
    rows, row = atom_size(mode, bits)
    plain = mode is SwizzleMode.NONE
    if major == "K":
        down = [(size // ROWS, stride), (ROWS, row)]
        across = [(depth // row, leading), (row, 1)] if plain else [(depth, 1)]
        return down + across
    within = min(size, row)
    over, under = (stride, leading) if plain else (leading, stride)
    return [(size // within, over), (within, 1), (depth // rows, under), (rows, row)]
