"""The laws of the operations, for all sizes where the operation's shape allows it.

Each theorem runs the operation on layouts with symbolic sizes and compares the result with what the
operation is said to mean, as a map.
"""

from __future__ import annotations

from typing import TypeVar

from layout_algebra import (
    ComposeLayout,
    Dim,
    Equivalent,
    Map,
    R,
    S,
    TileLayout,
    Verdict,
    laneid,
    tx,
    warpid,
    wgid,
    wid_in_wg,
)
from layout_algebra.errors import ClaimError
from layout_algebra.theorems import theorem

LAW = "the operation's law"

Found = TypeVar("Found")


def there(found: Found | None) -> Found:
    """What an operation found; a theorem about None would say nothing."""
    if found is None:
        raise ClaimError("the operation found no layout")
    return found


M, N, K = Dim("M", at_least=1), Dim("N", at_least=1), Dim("K", at_least=1)
P, Q = Dim("P", at_least=1), Dim("Q", at_least=1)
s, t = Dim("s", at_least=1), Dim("t", at_least=1)
M8 = Dim("M8", multiple_of=8, at_least=8)


@theorem("canonicalize: merging rows keeps the map, for all sizes", source=LAW)
def canonicalize_keeps():
    layout = TileLayout(S[(M, 1, N, K) : (N * K * s, t, K * s, s)] + 0)
    return Equivalent(layout, layout.canonicalize())


@theorem("canonicalize: copies and offsets stay, for all sizes", source=LAW)
def canonicalize_copies():
    layout = TileLayout(S[(M, N) : (N, 1)] + R[(1, 2) : (5, M * N)] + s @ laneid)  # fmt: skip
    return Equivalent(layout, layout.canonicalize())


@theorem("fuse: laneid and warpid are tx = laneid + 32*warpid", source="PTX thread numbering")
def fuse_threads():
    layout = TileLayout(S[(M, 8, 4) : (1@warpid, 4@laneid, 1@laneid)])  # fmt: skip
    fused = layout.fuse("cuda")
    place = Map.of(lambda c0, c1, c2: {"tx": 32 * c0 + 4 * c1 + c2}, (M, 8, 4))
    return Equivalent(fused, place)


@theorem("fuse: wgid at (warp, cta) is four warps each", source="docs/differences.md, 12.3")
def fuse_warpgroups():
    layout = TileLayout(S[(M, 4) : (1@wgid, 1@wid_in_wg)])  # fmt: skip
    return Equivalent(layout.fuse("cuda"), Map.of(lambda g, w: {"warpid": 4 * g + w}, (M, 4)))


@theorem("group: the map stays, for all sizes that divide", source=LAW)
def group_keeps():
    layout = TileLayout(S[(M8, N) : (N, 1)])
    cut, _ = layout.group((M8 // 8, 8 * N))
    return Equivalent(layout, cut)


@theorem("group: across iters of different axes, for all sizes", source=LAW)
def group_axes():
    layout = TileLayout(S[(P * 4, Q) : (1@laneid, s)])  # fmt: skip
    cut, _ = layout.group((P, 4, Q))
    return Equivalent(layout, cut)


@theorem("tile: place = w*outer + inner, for all sizes", source=LAW)
def tile_law():
    """inner is an M x N row-major tile (w = M*N), outer a P x Q one."""
    inner = TileLayout(S[(M, N) : (N, 1)])
    outer = TileLayout(S[(P, Q) : (Q, 1)])
    tiled = inner.tile(outer, (P, Q), (M, N))
    place = Map.of(lambda p, i, q, j: (p * Q + q) * (M * N) + i * N + j, (P, M, Q, N))
    return Equivalent(tiled, place)


@theorem(
    "tile: inner's copies count in the span", source="TIRx: tile scales shard strides by the span"
)
def tile_copies():
    inner = TileLayout(S[(M,) : (1,)] + R[2:M])
    tiled = inner.tile(TileLayout(S[(P,) : (1,)]), (P,), (M,))
    return Equivalent(tiled, TileLayout(S[(P, M) : (2 * M, 1)] + R[2:M]))


@theorem("tile: other axes are not scaled", source="TIRx: tile scales shard strides by the span")
def tile_other_axes():
    inner = TileLayout(S[(M, N) : (N, 1)])
    outer = TileLayout(S[(P, Q) : (1@warpid, 1)])  # fmt: skip
    tiled = inner.tile(outer, (P, Q), (M, N))
    place = Map.of(lambda p, i, q, j: {"warpid": p, "m": q * (M * N) + i * N + j}, (P, M, Q, N))
    return Equivalent(tiled, place)


@theorem("tile_to: the whole shape, tile by tile, for all sizes", source=LAW)
def tile_to_law():
    tile = TileLayout(S[(8, N) : (N, 1)])
    whole = tile.tile_to((M8, N * K), (8, N))
    place = Map.of(lambda p, i, q, j: (p * K + q) * (8 * N) + i * N + j, (M8 // 8, 8, K, N))
    return Equivalent(whole, place)


@theorem("direct_sum: place = left + right, for all sizes", source=LAW)
def direct_sum_law():
    right = TileLayout(S[(M, N) : (N, 1)] + 3)
    left = TileLayout(S[(P, Q) : (s, t)] + 4)
    total = right.direct_sum(left, (P, Q), (M, N))
    place = Map.of(lambda p, i, q, j: p * s + q * t + i * N + j + 7, (P, M, Q, N))
    return Equivalent(total, place)


@theorem("is_tile_inner: finds the outer layout again, for all sizes", source=LAW)
def tile_inner_again():
    inner, outer = TileLayout(S[(M, N) : (N, 1)]), TileLayout(S[(P, Q) : (Q, 1)])
    tiled = inner.tile(outer, (P, Q), (M, N))
    found = inner.is_tile_inner(tiled, (P * M, Q * N), (M, N))
    return Equivalent(there(found), outer)


@theorem("is_tile_outer: finds the inner layout again, for all sizes", source=LAW)
def tile_outer_again():
    inner, outer = TileLayout(S[(M, N) : (N, 1)]), TileLayout(S[(P, Q) : (Q, 1)])
    tiled = inner.tile(outer, (P, Q), (M, N))
    found = outer.is_tile_outer(tiled, (P * M, Q * N), (P, Q))
    return Equivalent(there(found), inner)


@theorem("is_direct_sum_right and left: find the other part again, for all sizes", source=LAW)
def direct_sum_again():
    right, left = TileLayout(S[(M, N) : (N, 1)]), TileLayout(S[(P, Q) : (s * 64, t * 64)])
    total = right.direct_sum(left, (P, Q), (M, N))
    shape = (P, M, Q, N)
    return Equivalent(there(right.is_direct_sum_right(total, shape, (M, N))), left) & Equivalent(
        there(left.is_direct_sum_left(total, shape, (P, Q))), right
    )


@theorem("slice: the restriction to rows and columns, for all sizes and places", source=LAW)
def slice_law():
    """Any b rows from any row r on, 16 columns from column 8 on, of an M x 64 tile."""
    rows, first = Dim("rows", at_least=1), Dim("first")
    layout = TileLayout(S[(M, 64) : (64, 1)])
    part = layout.slice((M, 64), ((first, first + rows), (8, 24)))
    place = Map.of(lambda i, j: (first + i) * 64 + 8 + j, (rows, 16))
    return Equivalent(there(part), place), [M >= first + rows]


@theorem("slice: whole blocks of a tiled layout, for all sizes", source=LAW)
def slice_blocks():
    first = Dim("first")
    layout = TileLayout(S[(M, 8, N) : (8 * N * 2, N, 1)])
    part = layout.slice((M * 8, N), ((8 * first, 8 * first + 8 * P), (0, N)))
    place = Map.of(lambda i, r, j: (first + i) * (16 * N) + r * N + j, (P, 8, N))
    return Equivalent(there(part), place), [M >= first + P]


@theorem("slice: half a block on, every block's second half and the next one's first", source=LAW)
def slice_halves():
    """The places [4, 20) of 8-element blocks 100 apart: a layout of two iters and a half block."""
    layout = TileLayout(S[(3, 8) : (100, 1)])
    part = layout.slice((24,), ((4, 20),))
    return Equivalent(there(part), TileLayout(S[(2, 2, 4) : (100, 96, 1)] + 4))


@theorem("permute_dims: the coordinates change places, for all sizes", source=LAW)
def permute_law():
    layout = TileLayout(S[(M, N, K) : (s, t, 1)])
    return Equivalent(
        layout.permute_dims([2, 0, 1]), Map.of(lambda k, i, j: i * s + j * t + k, (K, M, N))
    )


@theorem("unpack: element f becomes f*num + j, for all sizes", source="TIRx: pack and unpack")
def unpack_law():
    num = Dim("num", at_least=1)
    layout = TileLayout(S[(M, N) : (s, t)] + R[2:K] + 5)
    wide = layout.unpack(num)
    expected = TileLayout(S[(M, N, num) : (s * num, t * num, 1)] + R[2 : K * num] + 5 * num)
    return Equivalent(wide, expected)


@theorem("pack undoes unpack, for all sizes", source="TIRx: pack and unpack")
def pack_unpack():
    layout = TileLayout(S[(M, N) : (s, t)] + R[2 : K] + 5 + 3@laneid)  # fmt: skip
    num = Dim("num", at_least=1)
    return Equivalent(layout.unpack(num).pack(num), layout)


@theorem("unpack under a swizzle keeps its pattern, in wider units", source="TIRx: pack and unpack")
def unpack_swizzled():
    layout = ComposeLayout(2, 3, 3, TileLayout(S[(8, 32) : (32, 1)]))
    wide = layout.unpack(2)
    place = Map.of(lambda f, j: layout.apply(f)["m"] * 2 + j, (256, 2))
    return Equivalent(wide, place)


@theorem("broadcast: the new coordinate moves nothing, for all sizes", source=LAW)
def broadcast_law():
    layout = TileLayout(S[(M, N) : (s, t)]).broadcast(K, 1)
    return Equivalent(layout, Map.of(lambda i, k, j: i * s + j * t, (M, K, N)))


@theorem("storage: what one thread keeps, for all sizes", source=LAW)
def storage_law():
    layout = TileLayout(S[(M, N) : (1@tx, 1)] + R[2 : 1@warpid] + 3)  # fmt: skip
    return Equivalent(layout.storage(), TileLayout(S[(N,) : (1,)] + 3))


@theorem(
    "tiling a swizzled tile repeats its pattern, whatever the outer strides",
    source="often assumed; the swizzle acts on the final address",
    expect=Verdict.REFUTED,
    note="the swizzle acts on the final address: blocks must move by whole periods",
)
def tiled_swizzle_any_stride():
    tile = ComposeLayout(0, 1, 1, TileLayout(S[4:1]))
    moved = tile.direct_sum(TileLayout(S[2:6]), (2,), (4,))
    return Equivalent(moved, Map.of(lambda o, x: o * 6 + (x ^ (x // 2 % 2)), (2, 4)))


@theorem(
    "tiling a swizzled tile by whole periods repeats its pattern",
    source="TIRx: tile scales shard strides by the span",
)
def tiled_swizzle_whole_periods():
    tile = ComposeLayout(0, 1, 1, TileLayout(S[4:1]))
    moved = tile.direct_sum(TileLayout(S[16:8]), (16,), (4,))
    return Equivalent(moved, Map.of(lambda o, x: o * 8 + (x ^ (x // 2 % 2)), (16, 4)))
