"""Layouts for ALL sizes: row-major, column-major, tiled, padded; inverses and bounds."""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    Dim,
    Disjoint,
    Equivalent,
    Injective,
    Inverse,
    Map,
    S,
    TileLayout,
    Verdict,
    WithinBounds,
)
from layout_algebra.theorems import theorem

FIELD = "the field's common knowledge"

M, N, K = Dim("M"), Dim("N"), Dim("K")
P, Q, bm, bn = Dim("P"), Dim("Q"), Dim("bm"), Dim("bn")
ld = Dim("ld")

row_major = TileLayout(S[(M, N) : (N, 1)])
column_major = TileLayout(S[(M, N) : (1, M)])
#: P x Q blocks of bm x bn, each block contiguous; indexed by (block row, row, block column,
#: column).
tiled = TileLayout(S[(P, bm, Q, bn) : (bm * Q * bn, bn, bm * bn, 1)])
#: From the place in `tiled` back to the row-major index of the P*bm x Q*bn matrix.
untiled = TileLayout(S[(P, Q, bm, bn) : (bm * Q * bn, bn, Q * bn, 1)])


@theorem("row-major: a bijection onto M*N places, for all M, N", source=FIELD)
def row_major_bijective():
    return Bijective(row_major, {"m": M * N})


@theorem("column-major: a bijection onto M*N places, for all M, N", source=FIELD)
def column_major_bijective():
    return Bijective(column_major, {"m": M * N})


@theorem("row-major: the inverse is (m // N, m % N), for all M, N", source=FIELD)
def row_major_inverse():
    f = Map.of(lambda i, j: i * N + j, (M, N))
    return Inverse(f, Map.of(lambda m: {"i": m // N, "j": m % N}, (M * N,)))


@theorem("column-major: the inverse is (m % M, m // M), for all M, N", source=FIELD)
def column_major_inverse():
    f = Map.of(lambda i, j: i + j * M, (M, N))
    return Inverse(f, Map.of(lambda m: {"i": m % M, "j": m // M}, (M * N,)))


@theorem("column-major: its inverse is the row-major layout of the transpose", source=FIELD)
def column_major_transposed():
    return Inverse(column_major, TileLayout(S[(N, M) : (1, N)]))


@theorem("tiled: a bijection onto P*bm*Q*bn places, for all sizes", source=FIELD)
def tiled_bijective():
    return Bijective(tiled, {"m": P * bm * Q * bn})


@theorem("tiled: the inverse is a layout, for all sizes", source=FIELD)
def tiled_inverse():
    return Inverse(tiled, untiled)


@theorem("tiled: one row of blocks is row-major blocks", source=FIELD)
def tiled_one_row():
    one = TileLayout(S[(1, bm, Q, bn) : (bm * Q * bn, bn, bm * bn, 1)])
    return Equivalent(one, TileLayout(S[(bm, Q, bn) : (bn, bm * bn, 1)]))


@theorem("tiled: blocks as wide as the matrix are row-major, for all sizes", source=FIELD)
def tiled_full_width():
    wide = TileLayout(S[(P, bm, 1, bn) : (bm * bn, bn, bm * bn, 1)])
    return Equivalent(wide, TileLayout(S[(P * bm, bn) : (bn, 1)]))


@theorem("M split by 8 is the same row-major matrix, for all M divisible by 8", source=FIELD)
def split_rows():
    by8 = Dim("M8", multiple_of=8)
    return Equivalent(
        TileLayout(S[(by8 // 8, 8, 64) : (512, 64, 1)]), TileLayout(S[(by8, 64) : (64, 1)])
    )


@theorem("padded: injective for every leading dimension ld >= K", source=FIELD)
def padded():
    return Injective(TileLayout(S[(M, K) : (ld, 1)])), [ld >= K]


@theorem(
    "padded: injective for every leading dimension",
    source="the same without ld >= K",
    expect=Verdict.REFUTED,
    note="rows overlap when ld < K",
)
def padded_too_little():
    return Injective(TileLayout(S[(M, K) : (ld, 1)]))


@theorem("padded: within (M - 1)*ld + K places", source=FIELD)
def padded_bound():
    return WithinBounds(TileLayout(S[(M, K) : (ld, 1)]), {"m": (M - 1) * ld + K})


@theorem("two stages of a ring buffer never overlap, for all stage sizes", source=FIELD)
def stages():
    first = TileLayout(S[(M, K) : (K, 1)])
    second = TileLayout(S[(M, K) : (K, 1)] + M * K)
    return Disjoint(first, second)


@theorem(
    "row-major and column-major are one layout",
    source="true only where M or N is 1",
    expect=Verdict.REFUTED,
    note="a 2 x 2 matrix tells them apart",
)
def orders_differ():
    return Equivalent(row_major, column_major)
