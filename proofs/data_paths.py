"""Data paths: what one instruction writes into shared memory is what the next one reads there.

TMA swizzles the absolute address, a layout the place in its tile.  The two agree from every base
that is a multiple of the swizzle's period, and from half of it they do not; so that a tile that TMA
wrote is what ldmatrix, wgmma and tcgen05 read, and what stmatrix stored is what TMA sends.

The period is 256, 512 and 1024 bytes for B32, B64 and B128: their boundary.  The modes with atoms
of 32 and 64 bytes repeat after 512 and 256 bytes already, inside their boundary of 1024.
"""

from __future__ import annotations

from functools import reduce
from operator import and_

from layout_algebra import (
    BankConflictFree,
    ComposeLayout,
    ConflictDegree,
    Dim,
    Equivalent,
    Map,
    Matches,
    NoWriteRace,
    TileLayout,
    Verdict,
    laneid,
    m,
    wid_in_wg,
)
from layout_algebra.claims import Claim
from layout_algebra.hardware.descriptors import (
    MatrixDescriptor,
    Tcgen05Descriptor,
    WgmmaDescriptor,
)
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.matrices import ldmatrix, stmatrix
from layout_algebra.hardware.mma import mma
from layout_algebra.hardware.mma_tables import FORMS, Form
from layout_algebra.hardware.shared import SwizzleMode, atom_size, checked_bits
from layout_algebra.hardware.tcgen05_atoms import tcgen05_atom_layout
from layout_algebra.hardware.tma import tma_shared_layout
from layout_algebra.hardware.wgmma import wgmma_accumulator_layout
from layout_algebra.memory import Buffer, View
from layout_algebra.theorems import theorem

TMA = "PTX ISA, Swizzling Modes of tensors"
WGMMA = "PTX ISA, wgmma: Matrix Descriptor Format, canonical layouts"
TCGEN05 = "PTX ISA, tcgen05: Shared Memory Descriptor, canonical layouts"
LOAD = "PTX ISA, warp-level matrix load instruction: ldmatrix"
STORE = "PTX ISA, warp-level matrix store instruction: stmatrix"

B32, B64, B128 = SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128
ATOM_32B, ATOM_64B = SwizzleMode.B128_ATOM_32B, SwizzleMode.B128_ATOM_64B
PLAIN = (B32, B64, B128)

#: Bytes of shared memory that a descriptor's address reaches.
MEMORY = 1 << 18
#: Rows of a tile.
ROWS = 128


def all_of(claims: list[Claim]) -> Claim:
    return reduce(and_, claims)


def swizzled(mode: SwizzleMode, bits: int, place):
    """Where a mode puts an element whose absolute place, counted in elements, is given."""
    own = mode.swizzle_of(bits)
    plain = TileLayout.from_iters([(2 * MEMORY * 8 // bits, 1, m)])
    layout = ComposeLayout(own.per_element, own.swizzle_len, own.atom_len, plain)
    return layout.apply(place)["m"]


def elements(size: int, bits: int) -> int:
    """Bytes as elements."""
    return 8 * size // bits


# -- TMA and the layout ------------------------------------------------------------------------
def absolute_is_relative(mode: SwizzleMode, dtype: str, step: int) -> Claim:
    """A box at base b*step: TMA's XOR of the whole address, and the layout's inside the box."""
    bits = checked_bits("proofs", dtype)
    wide, base = elements(mode.row_bytes, bits), elements(step, bits)
    layout = tma_shared_layout((ROWS, wide), dtype, mode)

    def written(b, i, j):
        return {m: swizzled(mode, bits, base * b + wide * i + j)}

    def told(b, i, j):
        return {m: base * b + layout.apply(i, j, shape=(ROWS, wide))["m"]}

    sizes = {"b": MEMORY // step, "i": ROWS, "j": wide}
    return Equivalent(Map.of(written, sizes), Map.of(told, sizes))


def state_bases(mode: SwizzleMode, dtype: str) -> None:
    """At which bases a tile of a mode is what its layout says."""
    whole = mode.swizzle.period

    @theorem(f"{mode} {dtype}: TMA writes its layout at every multiple of {whole}", source=TMA)
    def at_periods():
        return absolute_is_relative(mode, dtype, whole)

    @theorem(
        f"{mode} {dtype}: TMA writes its layout at every multiple of {whole // 2}",
        source=TMA,
        expect=Verdict.REFUTED,
        note="the XOR takes bits of the whole address: from half of the period on the pattern "
        "begins in its middle",
    )
    def at_halves():
        return absolute_is_relative(mode, dtype, whole // 2)


for one_mode in (*PLAIN, ATOM_32B, ATOM_64B):
    for one_type in ("float4_e2m1fn", "int8", "float16", "float32", "float64"):
        state_bases(one_mode, one_type)


# -- TMA to wgmma and tcgen05 ------------------------------------------------------------------
#: Bytes of K that one wgmma or tcgen05.mma reads.
SLICE = 32
DESCRIPTORS = {"wgmma": (WgmmaDescriptor, WGMMA), "tcgen05.mma": (Tcgen05Descriptor, TCGEN05)}


def reads_k_major(kind: type[MatrixDescriptor], mode: SwizzleMode, dtype: str, step: int) -> Claim:
    """Slice s of K of a box at base b*step, by a descriptor that starts 32*s bytes into its row."""
    bits = checked_bits("proofs", dtype)
    wide, part, base = (elements(n, bits) for n in (mode.row_bytes, SLICE, step))
    tile = tma_shared_layout((ROWS, wide), dtype, mode)
    found = kind(0, stride=8 * mode.row_bytes, mode=mode).layout((ROWS, part), dtype)

    def read(b, s, i, k):
        inside = found.affine.apply(i, k, shape=(ROWS, part))["m"]  # type: ignore[attr-defined]
        return {m: swizzled(mode, bits, base * b + part * s + inside)}

    def written(b, s, i, k):
        return {m: base * b + tile.apply(i, part * s + k, shape=(ROWS, wide))["m"]}

    sizes = {"b": MEMORY // step, "s": wide // part, "i": ROWS, "k": part}
    return Equivalent(Map.of(read, sizes), Map.of(written, sizes))


def reads_mn_major(kind: type[MatrixDescriptor], mode: SwizzleMode, dtype: str, step: int) -> Claim:
    """Two boxes of 64 rows of K, side by side along M or N; slice s of K, 32 bytes' worth."""
    bits = checked_bits("proofs", dtype)
    deep, part, base = 64, elements(SLICE, bits), elements(step, bits)
    rows, wide = atom_size(mode, bits)
    boxes = tma_shared_layout((2, deep, wide), dtype, mode)
    leading, stride = deep * mode.row_bytes, rows * mode.row_bytes
    found = kind(0, leading, stride, mode).layout((2 * wide, part), dtype, "MN")

    def read(b, s, i, k):
        inside = found.affine.apply(i, k, shape=(2 * wide, part))["m"]  # type: ignore[attr-defined]
        return {m: swizzled(mode, bits, base * b + part * wide * s + inside)}

    def written(b, s, i, k):
        own = boxes.apply(i // wide, part * s + k, i % wide, shape=(2, deep, wide))
        return {m: base * b + own["m"]}

    sizes = {"b": MEMORY // step, "s": deep // part, "i": 2 * wide, "k": part}
    return Equivalent(Map.of(read, sizes), Map.of(written, sizes))


def state_descriptor(instruction: str, mode: SwizzleMode, dtype: str, major: str) -> None:
    """What an instruction reads of a tile that TMA wrote, at which bases."""
    kind, source = DESCRIPTORS[instruction]
    reads = reads_k_major if major == "K" else reads_mn_major
    whole = mode.swizzle.period
    name = f"{mode} {dtype}: {instruction} reads {major}-major what TMA wrote, at every multiple of"

    @theorem(f"{name} {whole}", source=source)
    def at_periods():
        return reads(kind, mode, dtype, whole)

    @theorem(
        f"{name} {whole // 2}",
        source=source,
        expect=Verdict.REFUTED,
        note="the instruction XORs the whole address, the tile's layout only its own",
    )
    def at_halves():
        return reads(kind, mode, dtype, whole // 2)


for one_mode in PLAIN:
    for one_type in ("int8", "float16", "float32"):
        for one_instruction in DESCRIPTORS:
            state_descriptor(one_instruction, one_mode, one_type, "K")
    state_descriptor("tcgen05.mma", one_mode, "float4_e2m1fn", "K")
    state_descriptor("wgmma", one_mode, "float16", "MN")
    state_descriptor("tcgen05.mma", one_mode, "float16", "MN")
    state_descriptor("tcgen05.mma", one_mode, "int8", "MN")
state_descriptor("tcgen05.mma", ATOM_32B, "float32", "MN")


# -- TMA to ldmatrix to mma --------------------------------------------------------------------
def tile_of(mode: SwizzleMode, bits: int) -> Buffer:
    """128 rows of a mode, as TMA writes them."""
    shape = (ROWS, elements(mode.row_bytes, bits))
    layout = tma_shared_layout(shape, bits, mode)
    return Buffer(shape, str(bits), layout, scope="shared", align=mode.boundary)


def piece(mode: SwizzleMode, bits: int, rows: int, columns: int) -> View:
    """Any piece of such a tile that begins at a multiple of its own size."""
    i, k = Dim("i", multiple_of=rows), Dim("k", multiple_of=columns)
    return tile_of(mode, bits)[i : i + rows, k : k + columns]


def turned(entry: Entry) -> Map:
    """A fragment over its two coordinates exchanged: B stored by columns has a row for each."""
    rows, columns = entry.shape
    return Map.of(lambda i, j: entry.layout.apply(j, i, shape=entry.shape), (columns, rows))


def loads(form: Form) -> bool:
    """Whether ldmatrix serves it: four lanes hold 16 bytes of a row, in 32-bit registers."""
    return form.dtypes[0] != "float64" and form.section != "9.7.14.5.1"


def state_operands(form: Form, mode: SwizzleMode) -> None:
    """A by rows and B by columns of one instruction, from anywhere in a tile of a mode."""
    rows, columns, depth = form.sizes
    bits = 32 // form.packed  # of a container
    across = depth * bits // 128
    one = mma(form.shape, form.dtypes[0])

    @theorem(f"{mode}: ldmatrix reads A and B of {form.shape} over {form.dtypes[0]}", source=LOAD)
    def operands():
        """Whatever TMA wrote, without bank conflicts; all types of the family share fragments."""
        a = ldmatrix(f"x{rows // 8 * across}").read(piece(mode, bits, rows, depth))
        b = ldmatrix(f"x{across}").read(piece(mode, bits, columns, depth))
        claims: list[Claim] = [Matches(a, one.A.map()), Matches(b, turned(one.B))]
        return all_of([*claims, BankConflictFree(a), BankConflictFree(b)])


for one_form in filter(loads, FORMS):
    for one_mode in PLAIN:
        state_operands(one_form, one_mode)


def state_transposed(mode: SwizzleMode) -> None:
    """B by rows, which the load transposes."""

    @theorem(f"{mode}: ldmatrix.trans reads B by rows of m16n8k16 over float16", source=LOAD)
    def halves():
        access = ldmatrix("x2", trans=True).read(piece(mode, 16, 16, 8))
        return Matches(access, mma("m16n8k16", "float16").B.map()) & BankConflictFree(access)

    @theorem(f"{mode}: ldmatrix.m16n16.trans reads 32 x 16 bytes of B by rows", source=LOAD)
    def narrow():
        one = ldmatrix("x2", True, "m16n16", "b8")
        access = one.read(piece(mode, 8, 32, 16))
        return Matches(access, one.fragment.map()) & BankConflictFree(access)


for one_mode in PLAIN:
    state_transposed(one_mode)


def state_atom(mode: SwizzleMode, degree: int) -> None:
    """A from a tile whose chunks are larger than a matrix' rows."""

    @theorem(f"{mode}: ldmatrix reads A of m16n8k16 over float16, {degree}-way", source=LOAD)
    def operand():
        access = ldmatrix("x4").read(piece(mode, 16, 16, 16))
        return Matches(access, mma("m16n8k16", "float16").A.map()) & ConflictDegree(access, degree)


state_atom(ATOM_32B, 2)
state_atom(ATOM_64B, 4)


# -- accumulators to shared memory -------------------------------------------------------------
#: Columns of an accumulator, in strips of 16.
N = Dim("N", multiple_of=16, at_least=16, at_most=256)


def of_strip(i, j):
    """Two accumulators of mma.m16n8 side by side, the second one's registers after the first's."""
    place = mma("m16n8k16", "float16", accumulator="float16").D.layout.apply(
        i, j % 8, shape=(16, 8)
    )
    return {laneid: place["laneid"], m: place["m"] + 4 * (j // 8)}


def state_stores(mode: SwizzleMode) -> None:
    """What stmatrix stores, rounded to 16 bits, into a tile of a mode that TMA then sends."""

    @theorem(f"{mode}: stmatrix stores the accumulators of m16n8, one or two at once", source=STORE)
    def accumulators():
        one = stmatrix("x2").write(piece(mode, 16, 16, 8))
        two = stmatrix("x4").write(piece(mode, 16, 16, 16))
        single = mma("m16n8k16", "float16", accumulator="float16").D.map()
        claims: list[Claim] = [Matches(one, single), Matches(two, Map.of(of_strip, (16, 16)))]
        free = [BankConflictFree(one), BankConflictFree(two)]
        return all_of([*claims, *free, NoWriteRace(one), NoWriteRace(two)])


for one_mode in PLAIN:
    state_stores(one_mode)


@theorem(
    "stmatrix.x4: 16 columns of a wgmma accumulator are its matrices, warp by warp", source=STORE
)
def strips_of_wgmma():
    """Strip s is registers 8*s to 8*s + 7, for every number of columns."""
    whole, matrices = wgmma_accumulator_layout(N), stmatrix("x4").fragment

    def held(warp, i, s, j):
        return whole.apply(16 * warp + i, 16 * s + j, shape=(64, N))

    def stored(warp, i, s, j):
        place = matrices.layout.apply(i, j, shape=(16, 16))
        return {wid_in_wg: warp, laneid: place["laneid"], m: place["m"] + 8 * s}

    sizes = {"warp": 4, "i": 16, "s": N // 16, "j": 16}
    return Equivalent(Map.of(held, sizes), Map.of(stored, sizes))


def state_loaded(columns: int) -> None:
    @theorem(
        f"tcgen05.ld 16x256b gives the registers of a wgmma of {columns} columns", source=STORE
    )
    def as_wgmma():
        """So that what is stored of the one is stored of the other."""
        loaded = tcgen05_atom_layout("16x256b", (64, columns), "float32")
        return Equivalent(loaded, wgmma_accumulator_layout(columns))


for one_width in (8, 16, 32, 64, 128, 256):
    state_loaded(one_width)
