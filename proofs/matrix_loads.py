"""ldmatrix, stmatrix and movmatrix: what they deal out is what mma.sync wants, conflict-free.

The tiles are pieces of buffers in shared memory that begin anywhere that 16 bytes allow.
"""

from __future__ import annotations

from functools import reduce
from operator import and_

from layout_algebra import (
    BankConflictFree,
    Bijective,
    ComposeLayout,
    Dim,
    Equivalent,
    Map,
    Matches,
    NoWriteRace,
    S,
    TileLayout,
    Verdict,
    laneid,
    m,
)
from layout_algebra.claims import Claim
from layout_algebra.hardware.matrices import (
    MatrixLoad,
    MatrixStore,
    ldmatrix,
    matrix_entries,
    movmatrix,
    stmatrix,
)
from layout_algebra.hardware.mma import mma
from layout_algebra.memory import Buffer
from layout_algebra.theorems import theorem

LOAD = "PTX ISA, warp-level matrix load instruction: ldmatrix"
STORE = "PTX ISA, warp-level matrix store instruction: stmatrix"
MOVE = "PTX ISA, warp-level matrix transpose instruction: movmatrix"

LANES = 32

#: Where a tile begins: any row that is a multiple of 16, any column of 16 bytes.
i = Dim("i", multiple_of=16)
k8, k16, k32, k64 = (Dim("k", multiple_of=n) for n in (8, 16, 32, 64))


def swizzled(dtype: str, columns: int, per_element: int) -> Buffer:
    """128 rows of 128 bytes under the 128-byte swizzle."""
    tile = TileLayout(S[(128, columns) : (columns, 1)])
    layout = ComposeLayout(per_element, 3, 3, tile)
    return Buffer((128, columns), dtype, layout, scope="shared", align=1024)


half = swizzled("float16", 64, 3)
byte = swizzled("int8", 128, 4)
nibble = swizzled("int4", 256, 5)
word = swizzled("float32", 32, 2)


def all_of(claims: list[Claim]) -> Claim:
    return reduce(and_, claims)


# -- every instruction -------------------------------------------------------------------------
@theorem(
    "ldmatrix, stmatrix, movmatrix: every fragment fills the registers of 32 lanes", source=LOAD
)
def fragments_fill_registers():
    found: list[Claim] = []
    for entry in matrix_entries():
        rows, columns = entry.shape
        found.append(Bijective(entry.layout, {laneid: LANES, m: rows * columns // LANES}))
    return all_of(found)


def plain(one: MatrixLoad | MatrixStore) -> Buffer:
    """A buffer that is just the instruction's tile, row by row."""
    rows, columns = one.fragment.shape
    layout = TileLayout(S[(rows, columns) : (columns, 1)])
    return Buffer((rows, columns), str(one.form.bits), layout, scope="shared", align=16)


LOADS = [
    *(ldmatrix(num, trans) for num in ("x1", "x2", "x4") for trans in (False, True)),
    *(ldmatrix(num, True, "m16n16", "b8") for num in ("x1", "x2")),
    *(ldmatrix(num, False, "m8n16", "b4x16_p64") for num in ("x1", "x2", "x4")),
]
STORES = [
    *(stmatrix(num, trans) for num in ("x1", "x2", "x4") for trans in (False, True)),
    *(stmatrix(num, True, "m16n8", "b8") for num in ("x1", "x2", "x4")),
]


def state_load(one: MatrixLoad) -> None:
    @theorem(f"{one.name}: a read deals out the fragment", source=LOAD)
    def deals_out():
        return Matches(one.read(plain(one)), one.fragment.map())


def state_store(one: MatrixStore) -> None:
    @theorem(f"{one.name}: a write stores the fragment, each byte once", source=STORE)
    def stores():
        access = one.write(plain(one))
        return Matches(access, one.fragment.map()) & NoWriteRace(access)


for load in LOADS:
    state_load(load)
for store in STORES:
    state_store(store)


# -- what mma wants ----------------------------------------------------------------------------
@theorem("ldmatrix.x4: any 16 x 16 piece of a swizzled tile is A of m16n8k16", source=LOAD)
def a_of_halves():
    access = ldmatrix("x4").read(half[i : i + 16, k16 : k16 + 16])
    return Matches(access, mma("m16n8k16", "float16").A.map()) & BankConflictFree(access)


@theorem("ldmatrix.x2: any 16 x 8 piece of a swizzled tile is A of m16n8k8", source=LOAD)
def a_of_few_halves():
    access = ldmatrix("x2").read(half[i : i + 16, k8 : k8 + 8])
    return Matches(access, mma("m16n8k8", "bfloat16").A.map()) & BankConflictFree(access)


@theorem("ldmatrix.x4: any 16 x 32 bytes of a swizzled tile are A of m16n8k32", source=LOAD)
def a_of_bytes():
    access = ldmatrix("x4").read(byte[i : i + 16, k32 : k32 + 32])
    return Matches(access, mma("m16n8k32", "int8").A.map()) & BankConflictFree(access)


@theorem("ldmatrix.x4: any 16 x 64 nibbles of a swizzled tile are A of m16n8k64", source=LOAD)
def a_of_nibbles():
    access = ldmatrix("x4").read(nibble[i : i + 16, k64 : k64 + 64])
    return Matches(access, mma("m16n8k64", "e2m1").A.map()) & BankConflictFree(access)


@theorem("ldmatrix.x4: any 16 x 8 words of a swizzled tile are A of m16n8k8 over tf32", source=LOAD)
def a_of_words():
    access = ldmatrix("x4").read(word[i : i + 16, k8 : k8 + 8])
    return Matches(access, mma("m16n8k8", "tf32").A.map()) & BankConflictFree(access)


@theorem("ldmatrix.m8n16.x4: 16 x 32 padded nibbles are A of m16n8k32 over e2m1", source=LOAD)
def a_of_padded_nibbles():
    access = ldmatrix("x4", shape="m8n16", dtype="b4x16_p64").read(byte[i : i + 16, k32 : k32 + 32])
    return Matches(access, mma("m16n8k32", "e2m1").A.map()) & BankConflictFree(access)


@theorem("ldmatrix.x2.trans: any 16 x 8 piece of B by rows is B of m16n8k16", source=LOAD)
def b_by_rows():
    access = ldmatrix("x2", trans=True).read(half[i : i + 16, k8 : k8 + 8])
    return Matches(access, mma("m16n8k16", "float16").B.map()) & BankConflictFree(access)


def turned(fragment: str, shape: str, dtype: str) -> Map:
    """A fragment with its two coordinates exchanged."""
    entry = getattr(mma(shape, dtype), fragment)
    rows, columns = entry.shape
    return Map.of(lambda i, j: entry.layout.apply(j, i, shape=entry.shape), (columns, rows))


@theorem("ldmatrix.x2: any 8 x 16 piece of B by columns is B of m16n8k16", source=LOAD)
def b_by_columns():
    """Stored by columns, the rows of memory are columns of B."""
    n = Dim("n", multiple_of=8)
    access = ldmatrix("x2").read(half[n : n + 8, k16 : k16 + 16])
    return Matches(access, turned("B", "m16n8k16", "float16")) & BankConflictFree(access)


@theorem("ldmatrix.x4.trans: A by columns, with the matrices across first", source=LOAD)
def a_by_columns():
    """The rows of memory are columns of A: matrix 1, its lower left, is to the right in memory."""
    access = ldmatrix("x4", trans=True).read(
        half[i : i + 16, k16 : k16 + 16],
        where=lambda lane: (lane % 8 + 8 * (lane // 16), 8 * (lane // 8 % 2)),
    )
    return Matches(access, turned("A", "m16n8k16", "float16")) & BankConflictFree(access)


@theorem(
    "ldmatrix.x4: in any order of its matrices the registers are A of m16n8k16",
    source=LOAD,
    expect=Verdict.REFUTED,
    note="A wants the lower left matrix second: across first it is the upper right one",
)
def order_of_matrices():
    across = ldmatrix("x4").read(
        half[i : i + 16, k16 : k16 + 16],
        where=lambda lane: (lane % 8 + 8 * (lane // 16), 8 * (lane // 8 % 2)),
    )
    return Matches(across, mma("m16n8k16", "float16").A.map())


@theorem(
    "ldmatrix.x2: without trans, B by rows is B of m16n8k16",
    source=LOAD,
    expect=Verdict.REFUTED,
    note="a lane would get neighbours of a row, and B wants neighbours of a column",
)
def b_by_rows_needs_trans():
    access = ldmatrix("x2").read(half[i : i + 16, k8 : k8 + 8])
    return Matches(access, mma("m16n8k16", "float16").B.map())


@theorem("ldmatrix.m16n16.x2.trans: 32 x 16 bytes by rows are two B of m16n8k32", source=LOAD)
def b_of_bytes_by_rows():
    """Registers 0 and 2 are B of columns 0 to 7, registers 1 and 3 of columns 8 to 15."""
    one = mma("m16n8k32", "int8").B

    def two(i, j):
        place = one.layout.apply(i, j % 8, shape=one.shape)
        register = place["m"] // 4
        return {laneid: place["laneid"], m: place["m"] % 4 + 4 * (2 * register + j // 8)}

    fragment = ldmatrix("x2", True, "m16n16", "b8").fragment
    return Equivalent(fragment.map(), Map.of(two, (32, 16)))


# -- storing -----------------------------------------------------------------------------------
@theorem("stmatrix.x2: stores C of 16 x 8, rounded to 16 bits, by rows", source=STORE)
def c_by_rows():
    access = stmatrix("x2").write(half[i : i + 16, k8 : k8 + 8])
    result = mma("m16n8k16", "float16", accumulator="float16").D.map()
    return Matches(access, result) & BankConflictFree(access) & NoWriteRace(access)


@theorem("stmatrix.x2.trans: stores C of 16 x 8, rounded to 16 bits, by columns", source=STORE)
def c_by_columns():
    n = Dim("n", multiple_of=8)
    access = stmatrix("x2", trans=True).write(half[n : n + 8, k16 : k16 + 16])
    result = turned("D", "m16n8k16", "float16")
    return Matches(access, result) & BankConflictFree(access) & NoWriteRace(access)


@theorem("stmatrix.m16n8.x1.trans: stores C of 16 x 8, rounded to 8 bits, by columns", source=STORE)
def c_of_bytes_by_columns():
    n = Dim("n", multiple_of=8)
    access = stmatrix("x1", True, "m16n8", "b8").write(byte[n : n + 8, k16 : k16 + 16])
    result = turned("D", "m16n8k32", "e4m3")
    return Matches(access, result) & BankConflictFree(access) & NoWriteRace(access)


# -- from registers to registers ---------------------------------------------------------------
@theorem("movmatrix: the result is held as the source's transpose", source=MOVE)
def transposes():
    moved = movmatrix()
    back = Map.of(lambda i, j: moved.source.layout.apply(j, i, shape=(8, 8)), (8, 8))
    return Equivalent(moved.result.map(), back)


@theorem("movmatrix: after ldmatrix it gives what ldmatrix.trans would have given", source=MOVE)
def transposed_load():
    moved = movmatrix()
    return Equivalent(ldmatrix("x1").fragment.map(), moved.source.map()) & Equivalent(
        ldmatrix("x1", trans=True).fragment.map(), moved.result.map()
    )


# -- pitch instead of swizzle ------------------------------------------------------------------
W = Dim("W", multiple_of=16, at_least=16, at_most=512)


def padded(pad: int) -> Buffer:
    layout = TileLayout(S[(128, W) : (W + pad, 1)])
    return Buffer((128, W), "float16", layout, scope="shared", align=16)


@theorem("ldmatrix.x4: rows of any width, padded by 16 bytes, have no conflicts", source=LOAD)
def padding_by_one_row_of_a_matrix():
    return BankConflictFree(ldmatrix("x4").read(padded(8)[i : i + 16, 0:16]))


@theorem(
    "ldmatrix.x4: rows of any width, padded by 32 bytes, have no conflicts",
    source=LOAD,
    expect=Verdict.REFUTED,
    note="a pitch of an even number of 16 bytes puts rows that are 4 apart in one bank",
)
def padding_by_two_rows_of_a_matrix():
    return BankConflictFree(ldmatrix("x4").read(padded(16)[i : i + 16, 0:16]))


@theorem(
    "ldmatrix.x4: rows of 128 bytes need neither swizzle nor padding",
    source=LOAD,
    expect=Verdict.REFUTED,
    note="all eight rows of a matrix begin in one bank",
)
def plain_rows():
    layout = TileLayout(S[(128, 64) : (64, 1)])
    rows = Buffer((128, 64), "float16", layout, scope="shared", align=1024)
    return BankConflictFree(ldmatrix("x4").read(rows[i : i + 16, k16 : k16 + 16]))
