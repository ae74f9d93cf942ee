"""The name of an axis is part of a place, and says what its number counts."""

from __future__ import annotations

from layout_algebra import (
    Dim,
    Disjoint,
    Equivalent,
    Injective,
    Inverse,
    Map,
    R,
    S,
    TileLayout,
    TLane,
    Verdict,
    WithinBounds,
    laneid,
    tid_in_wg,
    tx,
    warpid,
)
from layout_algebra.theorems import theorem

AXES = "book: TIRx Layout API, section Named axes"
OVERVIEW = "book: TIRx Layout API, section Overview"

#: Columns of a TMEM buffer: any number.
N = Dim("N")


def column(bits: int) -> Map:
    """Element -> 32-bit hardware column and bit in it: elements are packed one after the other."""
    return Map.of(lambda s: {"column": s * bits // 32, "bit": s * bits % 32}, (N,))


@theorem(
    "axes: 1@tx and 1@tid_in_wg mean the same",
    source=AXES,
    expect=Verdict.REFUTED,
    note="equal numbers on different axes are different places",
)
def tx_is_not_tid_in_wg():
    return Equivalent(TileLayout(S[8 : 1@tx]), TileLayout(S[8 : 1@tid_in_wg]))  # fmt: skip


@theorem(
    "axes: 1@laneid and 1@TLane mean the same",
    source=AXES,
    expect=Verdict.REFUTED,
    note="equal numbers on different axes are different places",
)
def laneid_is_not_tlane():
    return Equivalent(TileLayout(S[8 : 1@laneid]), TileLayout(S[8 : 1@TLane]))  # fmt: skip


@theorem("axes: numbers on different axes are never one place", source=AXES)
def different_places():
    """From number 1 on, for all lengths.  (0 on one axis is 0 on all: an axis not named is 0.)"""
    # fmt: off
    threads = TileLayout(S[N : 1@tx] + 1@tx)
    return (
        Disjoint(threads, TileLayout(S[N : 1@tid_in_wg] + 1@tid_in_wg))
        & Disjoint(TileLayout(S[N : 1@laneid] + 1@laneid), TileLayout(S[N : 1@TLane] + 1@TLane))
    )
    # fmt: on


@theorem("axes: the fragment is on lanes and warps that there are", source=AXES)
def within_the_hardware():
    """With its copies: inside the 32 lanes of a warp and the 32 warps of a CTA."""
    # fmt: off
    full = TileLayout(
        S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid
    )
    # fmt: on
    return WithinBounds(full)


@theorem("TCol: 32-bit elements are the hardware columns, one to one", source=AXES)
def wide_elements():
    return Inverse(
        column(32), Map.of(lambda column, bit: column, {"column": N, "bit": (0, 0)})
    ) & Equivalent(column(32), Map.of(lambda s: {"column": s, "bit": 0}, (N,)))


@theorem(
    "TCol: a number on it is a hardware column, for 16-bit elements",
    source=AXES,
    expect=Verdict.REFUTED,
    note="two 16-bit elements share a column; only 32-bit elements have one each",
)
def halves_share_a_column():
    return Injective(Map.of(lambda s: {"column": 16 * s // 32}, (N,)))


@theorem(
    "TCol: a number on it is a hardware column, for 8-bit elements",
    source=AXES,
    expect=Verdict.REFUTED,
    note="four 8-bit elements share a column; only 32-bit elements have one each",
)
def bytes_share_a_column():
    return Injective(Map.of(lambda s: {"column": 8 * s // 32}, (N,)))


@theorem("TCol: neighbours of 16 or 8 bits are packed into one column", source=OVERVIEW)
def packed():
    """Element 2k+h is half h of column k; element 4k+b is byte b of column k."""
    halves = Map.of(lambda k, h: column(16).apply(2 * k + h)["column"], {"k": 2**20, "h": 2})
    quarters = Map.of(lambda k, b: column(8).apply(4 * k + b)["column"], {"k": 2**20, "b": 4})
    return Equivalent(halves, Map.of(lambda k, h: k, {"k": 2**20, "h": 2})) & Equivalent(
        quarters, Map.of(lambda k, b: k, {"k": 2**20, "b": 4})
    )
