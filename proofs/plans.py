"""Fragments that follow each other: what moves between threads from one product to the next.

An accumulator of `mma.m16n8k16` holds element (i, j) of 8 columns in lane 4*(i mod 8) + floor(j/2);
its operand A holds element (i, j) of 16 columns in the same lane as the accumulators that lie side
by side.  So the result of one product is the operand of the next without any exchange.
"""

from __future__ import annotations

from layout_algebra import Dim, Equivalent, Map, S, TileLayout, Verdict, laneid, m, tx, warpid
from layout_algebra.planning import same_threads, same_warps
from layout_algebra.theorems import theorem

PTX = "PTX ISA, matrix fragments for mma.m16n8k16: "
STEPS = Dim("steps", at_least=1)
WARPS = Dim("warps", at_least=1, at_most=32)

#: Accumulators of 2*steps products side by side, registers c0..c3 of each after the other.
accumulator = Map.of(
    lambda i, j: {laneid: 4 * (i % 8) + j % 8 // 2, m: 4 * (j // 8) + 2 * (i // 8) + j % 2},
    (16, 16 * STEPS),
)
#: Operands A of steps products, registers a0..a7 of each after the other.
operand = Map.of(
    lambda i, j: {
        laneid: 4 * (i % 8) + j % 8 // 2,
        m: 8 * (j // 16) + 4 * (j % 16 // 8) + 2 * (i // 8) + j % 2,
    },
    (16, 16 * STEPS),
)
#: The accumulators again, with their registers row by row.
by_rows = TileLayout(S[(2, 8, 2 * STEPS, 4, 2) : (4 * STEPS, 4 @ laneid, 2, 1 @ laneid, 1)])
rows = TileLayout(S[(16, 16 * STEPS) : (1 @ laneid, 1)])


@theorem("accumulators are the operand A of the next products", source=PTX + "C and A")
def accumulator_is_operand():
    return Equivalent(accumulator, operand)


@theorem("accumulators numbered by rows: the same threads as operand A", source=PTX + "C and A")
def by_rows_stays_in_its_threads():
    return same_threads(by_rows, operand)


@theorem(
    "accumulators numbered by rows: the same registers as operand A",
    source=PTX + "C and A",
    expect=Verdict.REFUTED,
    note="each thread has the elements, in other registers: it renames them",
)
def by_rows_renames_registers():
    return Equivalent(by_rows, operand)


@theorem(
    "accumulators to one row a lane: no thread needs another's elements",
    source=PTX + "C",
    expect=Verdict.REFUTED,
    note="a row lies in four lanes: the elements are shuffled within their warp",
)
def rows_are_shuffled():
    return same_threads(by_rows, rows)


@theorem("accumulators to one row a lane: all within the warp", source=PTX + "C")
def rows_stay_in_their_warp():
    return same_warps(by_rows, rows)


@theorem("threads by number and by warp and lane: the same", source="CUDA, warps of 32 lanes")
def numbers_of_threads():
    by_lane = TileLayout(S[(WARPS, 32, 4) : (1 @ warpid, 1 @ laneid, 1)])
    return same_threads(TileLayout(S[(32 * WARPS, 4) : (1 @ tx, 1)]), by_lane)
