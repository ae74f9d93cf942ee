"""AMD's matrix instructions: every operand fills its lanes and registers once.

And the lanes that the LDS serves together are each lane once.
"""

from __future__ import annotations

from math import prod

from layout_algebra import Bijective, Equivalent, Map, Verdict, laneid, m
from layout_algebra.claims import BankConflictFree, Claim
from layout_algebra.hardware.amd import (
    WAVE32,
    WAVE64,
    lane_in_wave,
    mfma,
    mfma_layout,
    wmma,
    wmma_layout,
)
from layout_algebra.hardware.entries import Entry
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory import Buffer
from layout_algebra.memory.amd_targets import CDNA3, CDNA4, ExactTarget
from layout_algebra.theorems import theorem

CDNA3_ISA = "AMD Instinct MI300 (CDNA3) ISA, matrix arithmetic instructions"
RDNA4 = "AMD GPUOpen, Using the Matrix Cores of AMD RDNA 4"


def of_64_lanes(entry: Entry) -> Claim:
    return Bijective(entry.layout, {lane_in_wave: WAVE64, m: prod(entry.shape) // WAVE64})


def of_32_lanes(entry: Entry) -> Claim:
    return Bijective(entry.layout, {laneid: WAVE32, m: prod(entry.shape) // WAVE32})


for _entry in mfma():
    theorem(f"{_entry.name}: fills the registers of 64 lanes", source=CDNA3_ISA)(
        lambda entry=_entry: of_64_lanes(entry)
    )
for _entry in wmma():
    theorem(f"{_entry.name}: fills the registers of 32 lanes", source=RDNA4)(
        lambda entry=_entry: of_32_lanes(entry)
    )


# -- closed forms --------------------------------------------------------------------------------
@theorem("mfma 32x32: D has 4 rows in a lane, then the other half's, 8 rows on", source=CDNA3_ISA)
def rows_of_32x32():
    formula = Map.of(
        lambda i, j: {lane_in_wave: j + 32 * (i // 4 % 2), m: i % 4 + 4 * (i // 8)}, (32, 32)
    )
    return Equivalent(mfma_layout("D", 32, 32, 8, "float16").map((32, 32)), formula)


@theorem("mfma 16x16: D has 4 neighbouring rows in a lane", source=CDNA3_ISA)
def rows_of_16x16():
    formula = Map.of(lambda i, j: {lane_in_wave: j + 16 * (i // 4), m: i % 4}, (16, 16))
    return Equivalent(mfma_layout("D", 16, 16, 16, "float16").map((16, 16)), formula)


@theorem("mfma 16x16x4 float64: D has every fourth row in a lane", source=CDNA3_ISA)
def rows_of_float64():
    formula = Map.of(lambda i, j: {lane_in_wave: j + 16 * (i % 4), m: i // 4}, (16, 16))
    return Equivalent(mfma_layout("D", 16, 16, 4, "float64").map((16, 16)), formula)


@theorem("mfma 4x4x4 in 16 blocks: the blocks are side by side in the lanes", source=CDNA3_ISA)
def sixteen_blocks():
    layout = mfma_layout("D", 4, 4, 4, "float16", 16).map((16, 4, 4))
    return Equivalent(layout, Map.of(lambda b, i, j: {lane_in_wave: 4 * b + j, m: i}, (16, 4, 4)))


@theorem("mfma 16x16x16: B is where the transpose of A is", source=CDNA3_ISA)
def b_is_a_transposed():
    swapped = Map.of(lambda k, j: {"i": j, "j": k}, (16, 16))
    a, b = (mfma_layout(one, 16, 16, 16, "float16").map((16, 16)) for one in "AB")
    return Equivalent(a.after(swapped), b)


@theorem("mfma 16x16x16: D is where B is: it can be the B of a next product", source=CDNA3_ISA)
def d_is_b():
    b, d = (mfma_layout(one, 16, 16, 16, "float16") for one in "BD")
    return Equivalent(b, d)


@theorem(
    "mfma 32x32x8: D has 16 neighbouring rows in a lane",
    source=CDNA3_ISA,
    expect=Verdict.REFUTED,
    note="a lane has rows 0-3, 8-11, 16-19 and 24-27, or the others: D is no B as it is",
)
def neighbouring_rows():
    one_lane = Map.of(lambda k, j: {lane_in_wave: j + 32 * (k // 16), m: k % 16}, (32, 32))
    return Equivalent(mfma_layout("D", 32, 32, 8, "float16").map((32, 32)), one_lane)


@theorem("wmma: D is where B is: it can be the B of a next product", source=RDNA4)
def wmma_d_is_b():
    b, d = (wmma_layout(one, 16, "float16") for one in "BD")
    return Equivalent(b, d)


# -- LDS -----------------------------------------------------------------------------------------
def rows_of_64(layout: TileLayout | ComposeLayout, target: ExactTarget) -> Claim:
    """16 bytes a lane of 64 x 64 halves: lane l reads row l % 16, 8 columns from 8*(l // 16)."""
    tile = Buffer((64, 64), "float16", layout, scope="shared", align=128)
    read = tile.read(lambda lane: (lane % 16, lane // 16 * 8), lanes=64, bytes=16)
    return BankConflictFree(read, target=target)


plain = TileLayout.from_iters([(64, 64, m), (64, 1, m)])
swizzled = ComposeLayout(3, 3, 3, plain)


@theorem("CDNA3: an XOR of 8 columns by row makes an A fragment's reads free", source="AMD CK, LDS")
def swizzle_for_cdna3():
    return rows_of_64(swizzled, CDNA3)


@theorem(
    "CDNA3: rows of 64 halves can be read as A fragments without conflicts",
    source="AMD CK, LDS",
    expect=Verdict.REFUTED,
    note="rows begin in one bank each, and lanes 0-3 are served together",
)
def rows_for_cdna3():
    return rows_of_64(plain, CDNA3)


@theorem("CDNA4: the same XOR makes an A fragment's reads free", source="HipKittens, IREE")
def swizzle_for_cdna4():
    return rows_of_64(swizzled, CDNA4)
