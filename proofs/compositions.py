"""Composition: outer(inner(x)), for all sizes, and what it is mistaken for.

Each theorem composes layouts with symbolic sizes and compares the result, as a map, with outer put
after inner.
"""

from __future__ import annotations

from layout_algebra import (
    ComposeLayout,
    Composition,
    Dim,
    Equivalent,
    Map,
    S,
    TileLayout,
    Verdict,
    compose,
    laneid,
    warpid,
)
from layout_algebra.errors import ClaimError
from layout_algebra.semantics import swizzle_term
from layout_algebra.theorems import theorem
from layout_algebra.tracing import Traced, term_of
from layout_algebra.values import Swizzle

LAW = "composition of maps"

M, N, K = (Dim(name, at_least=1) for name in "MNK")
P, Q, bm, bn = (Dim(name, at_least=1) for name in ("P", "Q", "bm", "bn"))
s, t = Dim("s", at_least=1), Dim("t", at_least=1)


def composite(outer: TileLayout | ComposeLayout, inner: TileLayout | ComposeLayout) -> Composition:
    """The claim about what compose finds; a theorem about a mere map would say nothing."""
    found = compose(outer, inner)
    if isinstance(found, Map):
        raise ClaimError(f"no layout was found: {found.why_no_layout}")
    return Composition(outer, inner, found)


TILED = TileLayout(S[(P, bm, Q, bn) : (Q * bm * bn, bn, bm * bn, 1)])
UNTILED = TileLayout(S[(P, Q, bm, bn) : (bm * Q * bn, bn, Q * bn, 1)])


@theorem(
    "compose: a digit and the blocks above it are those of the parts, for all extents", source=LAW
)
def digits_of_parts():
    e = Dim("e", at_least=1)
    f = Map.of(lambda q, r: {"block": (q * e + r) // e, "digit": (q * e + r) % e}, (M, e))
    return Equivalent(f, Map.of(lambda q, r: {"block": q, "digit": r}, (M, e)))


@theorem("compose: tiled after untiled is the identity, for all four sizes", source=LAW)
def tiled_after_untiled():
    return composite(TILED, UNTILED) & Equivalent(
        compose(TILED, UNTILED), TileLayout(S[(P * bm * Q * bn,) : (1,)])
    )


@theorem("compose: untiled after tiled is the identity, for all four sizes", source=LAW)
def untiled_after_tiled():
    return composite(UNTILED, TILED) & Equivalent(
        compose(UNTILED, TILED), TileLayout(S[(P * bm * Q * bn,) : (1,)])
    )


@theorem("compose: rows read by columns are the transpose, for all M and N", source=LAW)
def transposed():
    rows = TileLayout(S[(M, N) : (s * N, s)])
    columns = TileLayout(S[(N, M) : (1, N)])
    return composite(rows, columns) & Equivalent(
        compose(rows, columns), TileLayout(S[(N, M) : (s, s * N)])
    )


@theorem("compose: every second row block of a tiled matrix, for all sizes", source=LAW)
def strided_blocks():
    matrix = TileLayout(S[(2 * P, bm, K) : (bm * K, K, 1)])
    blocks = TileLayout(S[(P, bm * K) : (2 * bm * K, 1)])
    return composite(matrix, blocks)


@theorem("compose: a fragment's rows through a permutation of the rows", source=LAW)
def fragment_rows():
    fragment = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)])  # fmt: skip
    permuted = TileLayout(S[(2, 4, 16) : (16, 32, 1)])
    return composite(fragment, permuted)


@theorem("compose: associative, for tiles whose blocks nest", source=LAW)
def associative():
    a = TileLayout(S[(M, N, K) : (t, M * t, M * N * t)])
    b = TileLayout(S[(M, N * K) : (N * K, 1)])
    c = TileLayout(S[(M, N, K) : (N * K, K, 1)])
    return Equivalent(compose(a, compose(b, c)), compose(compose(a, b), c))


@theorem(
    "compose: a 128-byte swizzle passes a tile whose rows are wider, for all row counts", source=LAW
)
def swizzle_passes_rows():
    atom = ComposeLayout(3, 3, 3, TileLayout(S[(8 * M, 64) : (64, 1)]))
    wide = TileLayout(S[(M, 512) : (1024, 2)])
    return composite(wide, atom)


@theorem("compose: a swizzle after itself is none, for all row counts", source=LAW)
def swizzle_twice():
    atom = ComposeLayout(3, 3, 3, TileLayout(S[(8 * M, 64) : (64, 1)]))
    return composite(atom, atom) & Equivalent(compose(atom, atom), TileLayout(S[(512 * M,) : (1,)]))


@theorem(
    "compose: two swizzles of other distances are no single swizzle of the first kind",
    source="NVIDIA/cutlass#1531",
    expect=Verdict.REFUTED,
    note="the second one moves bit 3 as well: from 8 on they differ",
)
def two_swizzles():
    two = Map.of(lambda x: swizzled(Swizzle(0, 3, 3), swizzled(Swizzle(2, 1, 1), x)), (64,))
    return Equivalent(two, Map.of(lambda x: swizzled(Swizzle(0, 3, 3), x), (64,)))


@theorem(
    "compose: six steps of 3 through an extent of 4 are no two rows of three",
    source="NVIDIA/cutlass#3177",
    expect=Verdict.REFUTED,
    note="after 0, 6 the third step carries into the next column: 7, 8, 9 and then 15",
)
def carries_are_seen():
    left = TileLayout(S[(8, 6, 4) : (5, 3, 2)])
    return Composition(left, TileLayout(S[6:3]), TileLayout(S[(3, 2) : (3, 6)]))


def swizzled(swizzle: Swizzle, address: Traced) -> Traced:
    return Traced(swizzle_term(swizzle, term_of(address)))
