"""Descriptors: the bits, what they reach by the ISA's canonical layouts, and finding them."""

from __future__ import annotations

import random
from itertools import product

import pytest

from layout_algebra import ComposeLayout, Dim, S, TileLayout
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.descriptors import (
    MatrixDescriptor,
    Tcgen05Descriptor,
    WgmmaDescriptor,
    base_offset,
)
from layout_algebra.hardware.finding_descriptors import (
    NoDescriptor,
    descriptor_for,
    mode_of_buffer,
)
from layout_algebra.hardware.shared import SwizzleMode, mma_shared_layout
from layout_algebra.memory import Buffer
from tests.hardware.test_shared import moved

M = SwizzleMode
KINDS = (WgmmaDescriptor, Tcgen05Descriptor)

#: PTX ISA, matrix descriptor formats: mode -> the number in the mode's field.
WGMMA_MODES = {M.NONE: 0, M.B128: 1, M.B64: 2, M.B32: 3}
TCGEN05_MODES = {M.NONE: 0, M.B128_ATOM_32B: 1, M.B128: 2, M.B64: 4, M.B32: 6}


# -- bits ------------------------------------------------------------------------------------------
def wgmma_bits(start, leading, stride, mode, offset) -> int:
    """The table of the ISA, field by field; encode(x) = (x & 0x3FFFF) >> 4."""
    encoded = [(x & 0x3FFFF) >> 4 for x in (start, leading, stride)]
    return encoded[0] + encoded[1] * 2**16 + encoded[2] * 2**32 + offset * 2**49 + mode * 2**62


def tcgen05_bits(start, leading, stride, mode, offset, absolute=False) -> int:
    encoded = [(x & 0x3FFFF) >> 4 for x in (start, leading, stride)]
    fixed = 0b001 * 2**46 + int(absolute) * 2**52
    return (
        encoded[0] + encoded[1] * 2**16 + encoded[2] * 2**32 + offset * 2**49 + mode * 2**61 + fixed
    )


def test_encode_and_decode():
    rng = random.Random(7)
    for _ in range(200):
        start, leading, stride = (16 * rng.randrange(1 << 14) for _ in range(3))
        mode = rng.choice(list(WGMMA_MODES))
        offset = 0 if mode is M.NONE else rng.randrange(8)
        one = WgmmaDescriptor(start, leading, stride, mode, offset)
        assert one.encode() == wgmma_bits(start, leading, stride, WGMMA_MODES[mode], offset)
        assert WgmmaDescriptor.decode(one.encode()) == one
        mode = rng.choice(list(TCGEN05_MODES))
        offset, absolute = 0 if mode is M.NONE else rng.randrange(8), rng.random() < 0.5
        two = Tcgen05Descriptor(start, leading, stride, mode, offset, absolute)
        number = TCGEN05_MODES[mode]
        assert two.encode() == tcgen05_bits(start, leading, stride, number, offset, absolute)
        assert Tcgen05Descriptor.decode(two.encode()) == two


def test_values_that_are_written_in_other_projects():
    """128-byte swizzle, 8 rows of 128 bytes apart: 1 << 62 | 64 << 32 | 1 << 16 on Hopper."""
    assert WgmmaDescriptor(0, 16, 1024, M.B128).encode() == 1 << 62 | 64 << 32 | 1 << 16
    found = Tcgen05Descriptor(0, 16, 1024, M.B128).encode()
    assert found == 2 << 61 | 1 << 46 | 64 << 32 | 1 << 16


@pytest.mark.parametrize("bit", [14, 15, 30, 31, 46, 47, 48, *range(52, 62)])
def test_reserved_bits_of_wgmma(bit):
    with pytest.raises(LayoutError, match="fixed or reserved bits wrong"):
        WgmmaDescriptor.decode(WgmmaDescriptor(0, 16, 1024, M.B128).encode() ^ 1 << bit)


@pytest.mark.parametrize("bit", [14, 15, 30, 31, 46, 47, 48, *range(53, 61)])
def test_reserved_bits_of_tcgen05(bit):
    with pytest.raises(LayoutError, match="fixed or reserved bits wrong"):
        Tcgen05Descriptor.decode(Tcgen05Descriptor(0, 16, 1024, M.B128).encode() ^ 1 << bit)


@pytest.mark.parametrize("code", [3, 5, 7])
def test_invalid_modes_of_tcgen05(code):
    with pytest.raises(LayoutError, match=f"swizzle mode {code} is none of"):
        Tcgen05Descriptor.decode(code << 61 | 1 << 46)


REFUSED = [
    ((8,), "start is a multiple of 16 bytes below 262144; got 8"),
    ((1 << 18,), "start is a multiple of 16 bytes below 262144; got 262144"),
    ((-16,), "start is a multiple of 16 bytes"),
    ((0, 24), "leading is a multiple of 16 bytes"),
    ((0, 16, 1.5), "stride is a multiple of 16 bytes below 262144; got 1.5"),
    ((0, 16, 0, M.B128_ATOM_64B), "the mode is one of NONE"),
    ((0, 16, 0, 9), "the swizzle mode is a SwizzleMode, 0 to 6, or one of"),
    ((0, 16, 0, M.B128, 8), "base_offset is 0 to 7; got 8"),
    ((0, 16, 0, M.NONE, 1), "without a swizzle base_offset is 0; got 1"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("arguments", "says"), REFUSED)
def test_refusals(kind, arguments, says):
    with pytest.raises(LayoutError) as caught:
        kind(*arguments)
    assert says in str(caught.value)


@pytest.mark.parametrize("bits", [-1, 1 << 64, 1.5])
def test_64_bits(bits):
    with pytest.raises(LayoutError, match="a descriptor has 64 bits"):
        WgmmaDescriptor.decode(bits)


def test_base_offsets():
    """(address >> 7) & 7, and 0 where the pattern begins at its boundary."""
    for mode, boundary in ((M.B32, 256), (M.B64, 512), (M.B128, 1024)):
        for address in range(0, 4096, 128):
            wanted = 0 if address % boundary == 0 else address // 128 % 8
            assert base_offset(mode, address) == wanted
    with pytest.raises(LayoutError, match="the mode is B32, B64 or B128; got NONE"):
        base_offset(M.NONE, 0)
    with pytest.raises(LayoutError, match="an address is an int from 0; got -1"):
        base_offset(M.B64, -1)


# -- meaning ---------------------------------------------------------------------------------------
def cute(coordinate: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """One mode of a CuTe layout: the first digit is the fastest."""
    place = 0
    for size, stride in zip(shape, strides, strict=True):
        coordinate, digit = divmod(coordinate, size)
        place += digit * stride
    return place


def canonical(major, mode, bits, lbo, sbo, i, k) -> int:
    """The ISA's canonical layouts, typed from its table, in elements; lbo and sbo too."""
    t, many = 128 // bits, 1 << 20
    if major == "K":
        if mode is M.NONE:
            return cute(i, (8, many), (t, sbo)) + cute(k, (t, many), (1, lbo))
        rows = {M.B32: 2 * t, M.B64: 4 * t, M.B128: 8 * t}[mode]
        return cute(i, (8, many), (rows, sbo)) + k
    if mode is M.NONE:
        return cute(i, (t, 1, many), (1, t, sbo)) + cute(k, (8, many), (t, lbo))
    if mode is M.B128_ATOM_32B:
        return cute(i, (t, 8, many), (1, t, lbo)) + cute(k, (4, many), (8 * t, sbo))
    chunks = {M.B32: 2, M.B64: 4, M.B128: 8}[mode]
    return cute(i, (t, chunks, many), (1, t, lbo)) + cute(k, (8, many), (chunks * t, sbo))


def reach(found: MatrixDescriptor, bits: int, major: str, i: int, k: int) -> int:
    """The bit of shared memory from which the instruction takes element (i, k)."""
    lbo, sbo = (8 * x // bits for x in (found.leading, found.stride))
    place = canonical(major, found.mode, bits, lbo, sbo, i, k) * bits
    byte, rest = divmod(8 * found.start + place, 8)
    return 8 * moved(found.mode, byte) + rest


CASES = [
    (kind, major, mode, dtype, bits)
    for kind in KINDS
    for major in ("K", "MN")
    for mode in (M.NONE, M.B32, M.B64, M.B128, M.B128_ATOM_32B)
    for dtype, bits in (("int8", 8), ("float16", 16), ("float32", 32), ("int4", 4), ("b1", 1))
    if kind.type_problem(bits, major, mode) is None
]


def test_what_the_instructions_read():
    """PTX ISA: wgmma transposes 16-bit types only; tcgen05 8 and 16 bits in all modes but 32-byte
    atoms, and 32 bits in those alone; the other widths are K-major."""
    wgmma = [case for case in CASES if case[0] is WgmmaDescriptor]
    assert {case[4] for case in wgmma if case[1] == "MN"} == {16}
    assert {case[4] for case in wgmma if case[1] == "K"} == {1, 8, 16, 32}
    tcgen05 = [case for case in CASES if case[0] is Tcgen05Descriptor]
    plain = (M.NONE, M.B32, M.B64, M.B128)
    assert {case[2:5:2] for case in tcgen05 if case[1] == "MN"} == {
        *product(plain, (8, 16)),
        (M.B128_ATOM_32B, 32),
    }
    assert {case[2:5:2] for case in tcgen05 if case[1] == "K"} == set(
        product(plain, (4, 8, 16, 32))
    )


@pytest.mark.parametrize(("kind", "major", "mode", "dtype", "bits"), CASES)
def test_a_layout_is_the_canonical_one(kind, major, mode, dtype, bits):
    t = 128 // bits
    row = mode.row_bytes // 16 * t
    if major == "K":
        shape = (24, min(row, 2 * t) if mode is not M.NONE else 4 * t)
    else:
        shape = (2 * row, 16)
    found = kind(4096, 4096, 8192, mode)
    layout = found.layout(shape, dtype, major)
    for i, k in product(range(shape[0]), range(shape[1])):
        if (i + k) % 3 == 0:
            place = layout.apply(i, k, shape=shape)["m"] * bits
            assert place == reach(found, bits, major, i, k), (i, k)


def test_examples_of_the_isa():
    """The worked examples of wgmma's canonical layouts: exact layouts over (M or N, K)."""
    tf32 = WgmmaDescriptor(0, 64 * 4, 32 * 4).layout((16, 16), "float32")
    assert tf32.canonicalize() == TileLayout(S[(2, 8, 4, 4) : (32, 4, 64, 1)]).canonicalize()
    swizzled = WgmmaDescriptor(0, 16, 64 * 4, M.B32).layout((16, 8), "float32")
    assert swizzled == ComposeLayout(2, 1, 3, TileLayout(S[(2, 8, 8) : (64, 8, 1)]))
    bf16 = WgmmaDescriptor(0, 128 * 2, 64 * 2).layout((16, 16), "bfloat16", "MN")
    assert bf16.canonicalize() == (TileLayout(S[(2, 8, 2, 8) : (64, 1, 128, 8)]).canonicalize())
    mn = WgmmaDescriptor(0, 128 * 2, 256 * 2, M.B32).layout((32, 16), "bfloat16", "MN")
    assert mn == ComposeLayout(3, 1, 3, TileLayout(S[(2, 16, 2, 8) : (128, 1, 256, 16)]))


UNREADABLE = [
    (WgmmaDescriptor(0, 16, 1024, M.B128), (64, 128), "float16", "K", "256 bytes of K from byte 0"),
    (WgmmaDescriptor(96, 16, 1024, M.B128), (64, 32), "float16", "K", "64 bytes of K from byte 96"),
    (WgmmaDescriptor(0, 16, 1024, M.B128), (12, 16), "float16", "K", "M or N is a multiple of 8"),
    (WgmmaDescriptor(0, 16, 1024, M.B128), (64, 8), "float16", "K", "K is a multiple of 16"),
    (WgmmaDescriptor(0, 16, 1024, M.B128), (96, 16), "float16", "MN", "multiple of a row of 64"),
    (WgmmaDescriptor(0, 16, 1024, M.B128), (64, 16), "float32", "MN", "have the modes: none"),
    (WgmmaDescriptor(0, 16, 1024, M.B128), (64, 16), "int4", "K", "have 1, 8, 16, 32 bits"),
    (WgmmaDescriptor(0, 16, 1024, M.B128), (64, 16), "float16", "N", "the major is 'K' or 'MN'"),
    (WgmmaDescriptor(0, 16, 1024, M.B128, 3), (64, 16), "float16", "K", "base offset 3"),
    (Tcgen05Descriptor(0, 16, 0, M.B128_ATOM_32B), (64, 16), "tf32", "K", "is for MN-major"),
    (Tcgen05Descriptor(0, 16, 0, M.B128), (64, 16), "tf32", "MN", "modes: B128_ATOM_32B"),
    (Tcgen05Descriptor(0, 16, 0, M.B128, 0, True), (64, 16), "half", "K", "an absolute leading"),
]


@pytest.mark.parametrize(("found", "shape", "dtype", "major", "says"), UNREADABLE)
def test_what_cannot_be_read(found, shape, dtype, major, says):
    with pytest.raises(LayoutError) as caught:
        found.layout(shape, dtype, major)
    assert says in str(caught.value)


# -- finding one -----------------------------------------------------------------------------------
def assert_reads(where, buffer, begin, shape, major, address, found):
    """Every element of the view, from the buffer's own layout, is where the descriptor leads."""
    bits = buffer.bits
    whole = buffer.shape
    for i, k in product(range(shape[0]), range(shape[1])):
        own = buffer.layout.apply(begin[0] + i, begin[1] + k, shape=whole).get("m", 0)
        assert 8 * address + own * bits == reach(found, bits, major, i, k), (where, i, k)


@pytest.mark.parametrize("instruction", ["wgmma", "tcgen05"])
@pytest.mark.parametrize("mode", [M.NONE, M.B32, M.B64, M.B128], ids=str)
@pytest.mark.parametrize(("dtype", "columns"), [("float16", 128), ("int8", 256), ("float32", 64)])
def test_tiles_of_the_constructor_are_found(instruction, mode, dtype, columns):
    layout = mma_shared_layout(dtype, mode, (64, columns))
    buffer = Buffer((64, columns), dtype, layout, align=1024)
    step = 256 // buffer.bits
    for begin in (0, step, columns - step):
        view = buffer[16:48, begin : begin + step]
        found = descriptor_for(view, instruction, address=4096)
        assert isinstance(found, MatrixDescriptor), found
        assert found.mode is mode
        assert_reads(view, buffer, (16, begin), (32, step), "K", 4096, found)


@pytest.mark.parametrize("mode", [M.B32, M.B64, M.B128], ids=str)
def test_transposed_tiles_are_found(mode):
    """Rows of K, 64 * 2 of M or N in each: atoms along M or N first."""
    wide = mode.row_bytes // 2
    blocks = 128 // wide
    tile = TileLayout(S[(blocks, wide, 32) : (32 * wide, 1, wide)])
    buffer = Buffer((128, 32), "float16", ComposeLayout(3, int(mode), 3, tile), align=1024)
    for instruction in ("wgmma", "tcgen05"):
        found = descriptor_for(buffer[0:128, 16:32], instruction, "MN", 8192)
        assert isinstance(found, MatrixDescriptor), found
        assert (found.leading, found.stride) == (64 * wide, 16 * wide)
        assert_reads("MN", buffer, (0, 16), (128, 16), "MN", 8192, found)


def test_transposed_tf32_is_found_with_32_byte_atoms_only():
    tile = TileLayout(S[(32, 16) : (1, 32)])
    buffer = Buffer((32, 16), "float32", ComposeLayout(3, 2, 2, tile), align=1024)
    found = descriptor_for(buffer, "tcgen05", "MN")
    assert isinstance(found, Tcgen05Descriptor)
    assert (found.mode, found.stride) == (M.B128_ATOM_32B, 512)
    assert_reads("tf32", buffer, (0, 0), (32, 16), "MN", 0, found)
    other = Buffer((32, 16), "float32", ComposeLayout(2, 3, 3, tile), align=1024)
    found = descriptor_for(other, "tcgen05", "MN")
    assert isinstance(found, NoDescriptor)
    assert "have the modes: B128_ATOM_32B; this one has B128" in found.reason


def test_stages():
    layout = mma_shared_layout("float16", M.B128, (3, 64, 64))
    buffer = Buffer((3, 64, 64), "float16", layout, align=1024)
    found = descriptor_for(buffer[2, 0:64, 0:16])
    assert isinstance(found, WgmmaDescriptor)
    assert found.start == 2 * 64 * 64 * 2


ROW_MAJOR = TileLayout(S[(64, 64) : (64, 1)])
B128_TILE = mma_shared_layout("float16", M.B128, (64, 64))
NOT_FOUND = [
    (Buffer((64, 64), "float16", ROW_MAJOR, align=16), {}, "element (1, 0) is at byte 128"),
    (
        Buffer((64, 64), "float16", B128_TILE, align=512),
        {},
        "begins at multiples of 1024 bytes; the buffer at multiples of 512: give align=1024",
    ),
    (Buffer((64, 64), "float16", B128_TILE, align=1024), {"major": "MN"}, "element (0, 1) is at"),
    (
        Buffer((64, 64), "float16", ComposeLayout(2, 3, 3, ROW_MAJOR), align=1024),
        {},
        "is that of no mode for elements of 16 bits",
    ),
    (
        Buffer((64, 64), "float16", ComposeLayout(3, 3, 3, ROW_MAJOR, False), align=1024),
        {},
        "is that of no mode",
    ),
    (
        Buffer((64, 128), "float16", mma_shared_layout("float16", 3, (64, 128)), align=1024),
        {},
        "256 bytes of K from byte 0 of a row; B128 has rows of 128",
    ),
    (
        Buffer((64, 64), "float16", TileLayout(S[(64, 64) : (72, 1)]), align=16),
        {},
        "element (1, 0) is at byte 144 before the swizzle",
    ),
    (
        Buffer((64, 64), "float16", B128_TILE, align=1024)[4:12, 0:24],
        {},
        "K is a multiple of 16 (K-major, B128); got 24",
    ),
    (
        Buffer((64, 64), "float16", B128_TILE, align=1024)[0:64, 4:20],
        {},
        "start is a multiple of 16 bytes below 262144; got 8",
    ),
    (
        Buffer((64, 64), "float16", B128_TILE, align=1024)[0:64, Dim("k") : Dim("k") + 16],
        {},
        "give the Dims' values",
    ),
    (
        Buffer((4096,), "float16", TileLayout(S[4096:1]), align=16),
        {},
        "a matrix has two dimensions",
    ),
]


@pytest.mark.parametrize(("where", "how", "says"), NOT_FOUND)
def test_reasons(where, how, says):
    found = descriptor_for(where, **how)
    assert isinstance(found, NoDescriptor)
    assert says in found.reason


def test_a_changed_stride_is_noticed():
    """One element block elsewhere: no descriptor, and the reason names an element of it."""
    good = mma_shared_layout("float16", M.B64, (64, 32)).tile_layout
    for k, it in enumerate(good.group((8, 8, 32))[0].shard):
        shard = list(good.group((8, 8, 32))[0].shard)
        shard[k] = it._replace(stride=it.stride + 1)
        layout = ComposeLayout(3, 2, 3, TileLayout.from_iters(shard))
        found = descriptor_for(Buffer((64, 32), "float16", layout, align=512)[0:64, 0:16])
        assert isinstance(found, NoDescriptor), k


def test_wrong_questions():
    buffer = Buffer((64, 64), "float16", B128_TILE, align=1024)
    for arguments, says in [
        ((buffer, "mma"), "the instruction is wgmma or tcgen05"),
        ((buffer, "wgmma", "M"), "the major 'K' or 'MN'"),
        ((buffer, "wgmma", "K", 512), "the buffer begins at a multiple of 1024; got 512"),
        ((Buffer((64, 64), "float16", ROW_MAJOR, scope="global"),), "a buffer in shared memory"),
        ((ROW_MAJOR,), "a buffer in shared memory or a view"),
    ]:
        with pytest.raises(LayoutError) as caught:
            descriptor_for(*arguments)
        assert says in str(caught.value)


def test_mode_of_a_buffer():
    for mode in (M.NONE, M.B32, M.B64, M.B128):
        layout = mma_shared_layout("int8", mode, (64, 128))
        assert mode_of_buffer(Buffer((64, 128), "int8", layout)) is mode
    assert mode_of_buffer(Buffer((64, 64), "half", ComposeLayout(5, 0, 1, ROW_MAJOR))) is M.NONE
