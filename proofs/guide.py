"""The Data Layout guide: one row a lane, copies, offsets, a swizzled tile and its alignment."""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    ComposeLayout,
    Covers,
    Equivalent,
    Injective,
    Inverse,
    Map,
    R,
    ReplicasDistinct,
    S,
    TileLayout,
    Verdict,
    WithinBounds,
    laneid,
    m,
    warpid,
)
from layout_algebra.theorems import theorem

GUIDE = "guide: Data Layout, section "
MAPPING = GUIDE + "Mapping Elements to Lanes"
ATTACHING = GUIDE + "Attaching a Layout to a Tensor"
REPLICATION = GUIDE + "Replication and Offsets"
SWIZZLED = GUIDE + "Swizzled Shared Memory"

# fmt: off
fragment = TileLayout(S[(32, 4) : (1@laneid, 1)])
replicated = TileLayout(S[(32, 4) : (1@laneid, 1)] + R[2 : 1@warpid])
shifted = TileLayout(S[(32, 4) : (1@laneid, 1)] + 4)
# fmt: on
shape = (32, 4)
linear = TileLayout(S[(8, 64) : (64, 1)])
swizzled = ComposeLayout(per_element=3, swizzle_len=3, atom_len=3, tile_layout=linear)

PERIOD = 512  # elements of 2 bytes: 1024 bytes
#: The hardware's swizzle, on absolute addresses: of 2-byte elements, and of bytes.
on_elements = ComposeLayout(3, 3, 3, TileLayout(S[2**25 : 1]))
on_bytes = ComposeLayout(4, 3, 3, TileLayout(S[2**26 : 1]))


# -- mapping elements to lanes -----------------------------------------------------------------
@theorem("guide: element (i, j) is at lane i, local position j", source=MAPPING)
def lane_and_slot():
    return Equivalent(fragment, Map.of(lambda i, j: {laneid: i, m: j}, shape))


@theorem("guide: element (3, 2) is at lane 3, m 2", source=MAPPING)
def element_3_2():
    place = TileLayout(S[()] + 3@laneid + 2)  # fmt: skip
    return Equivalent(fragment.map(shape).fixed(i=3, j=2), place)


@theorem("guide: each lane of a warp has one row, in four positions", source=MAPPING)
def one_row_a_lane():
    return Bijective(fragment, {laneid: 32, m: 4})


@theorem("guide: an untagged stride is on the linear memory axis m", source=MAPPING)
def untagged():
    return Equivalent(fragment, TileLayout(S[(32, 4) : (1@laneid, 1@m)]))  # fmt: skip


@theorem("guide: S places different elements at different places", source=MAPPING)
def distinct_elements():
    return Injective(fragment)


@theorem(
    "guide: every S places different elements at different places",
    source=MAPPING,
    expect=Verdict.REFUTED,
    note="meant of the example; strides that overlap, or a stride 0, put elements together",
)
def not_every_shard_is_injective():
    return Injective(TileLayout(S[(32, 4) : (1@laneid, 0)]))  # fmt: skip


@theorem("guide: storage strides count elements", source=MAPPING)
def strides_count_elements():
    """Of float32: neighbours of a row, one stride apart, are 4 bytes apart."""
    apart = Map.of(
        lambda i, j: 4 * fragment.apply(i, j + 1)["m"] - 4 * fragment.apply(i, j)["m"], (32, 3)
    )
    return Equivalent(apart, Map.of(lambda i, j: 4, (32, 3)))


# -- attaching ---------------------------------------------------------------------------------
@theorem("guide: the view's position j of a lane is element (lane, j)", source=ATTACHING)
def view_of_a_lane():
    """Position j of lane i holds A[i, j], and the other way round."""
    place = Map.of(lambda i, j: fragment.apply(i, j), shape)
    return Inverse(place, Map.of(lambda laneid, m: {"i": laneid, "j": m}, (32, 4)))


@theorem("guide: one warp of 32 threads is enough for the fragment", source=ATTACHING)
def one_warp():
    """No lane beyond the 32 of a warp, none idle, and 4 values each."""
    return WithinBounds(fragment) & Covers(fragment, {laneid: 32, m: 4})


# -- replication and offsets -------------------------------------------------------------------
@theorem("guide: R[2 : 1@warpid] copies each value to warps 0 and 1", source=REPLICATION)
def copies_in_two_warps():
    formula = Map.of(lambda i, j, w: {laneid: i, m: j, warpid: w}, (*shape, 2), copies=("w",))
    return Equivalent(replicated, formula)


@theorem("guide: both warps hold the tile in their corresponding lanes", source=REPLICATION)
def both_warps_full():
    return Bijective(replicated, {laneid: 32, warpid: 2, m: 4})


@theorem("guide: the two copies are at different places", source=REPLICATION)
def copies_distinct():
    return ReplicasDistinct(replicated)


@theorem("guide: the offset 4 moves every local position by 4", source=REPLICATION)
def offset_4():
    return Equivalent(shifted, Map.of(lambda i, j: {laneid: i, m: j + 4}, shape))


@theorem("guide: positions 0..3 become 4..7", source=REPLICATION)
def positions_4_to_7():
    before = Bijective(fragment, {laneid: 32, m: (0, 4)})
    return before & Bijective(shifted, {laneid: 32, m: (4, 8)})


@theorem("guide: apply gives the base place, with the offset", source=REPLICATION)
def apply_with_offset():
    base = Map.of(lambda i, j: shifted.apply(i, j, shape=shape), shape)
    return Equivalent(base, shifted.map(shape))


@theorem("guide: apply of the replicated layout is that of its first copy", source=REPLICATION)
def apply_without_copies():
    base = Map.of(lambda i, j: replicated.apply(i, j, shape=shape), shape)
    return Equivalent(base, fragment.map(shape))


@theorem(
    "guide: apply gives the copies too",
    source=REPLICATION,
    expect=Verdict.REFUTED,
    note="copies stay in layout.replica; places() gives them",
)
def apply_is_not_places():
    base = Map.of(lambda i, j: replicated.apply(i, j, shape=shape), shape)
    return Equivalent(base, replicated.map(shape))


# -- swizzled shared memory --------------------------------------------------------------------
@theorem("guide: the swizzle permutes the addresses of the tile", source=SWIZZLED)
def permutes_addresses():
    return Bijective(linear, {m: PERIOD}) & Bijective(swizzled, {m: PERIOD})


@theorem("guide: the permutation comes after the tile's mapping", source=SWIZZLED)
def permutation_after_mapping():
    return Equivalent(swizzled, on_elements.map().after(linear.map()))


@theorem("guide: groups of eight float16 stay contiguous", source=SWIZZLED)
def groups_of_eight():
    groups = (8, 8, 8)
    return Equivalent(
        Map.of(lambda i, q, r: swizzled.apply(i, 8 * q + r)["m"], groups),
        Map.of(lambda i, q, r: swizzled.apply(i, 8 * q)["m"] + r, groups),
    )


@theorem("guide: a group is 16 bytes, aligned to 16", source=SWIZZLED)
def groups_are_16_bytes():
    return Equivalent(
        Map.of(lambda i, q, r: 2 * swizzled.apply(i, 8 * q + r)["m"] % 16, (8, 8, 8)),
        Map.of(lambda i, q, r: 2 * r, (8, 8, 8)),
    )


@theorem(
    "guide: the groups keep their positions in the tile",
    source=SWIZZLED,
    expect=Verdict.REFUTED,
    note="contiguous within a group; the groups themselves are permuted",
)
def groups_move():
    return Equivalent(
        Map.of(lambda i, q: swizzled.apply(i, 8 * q)["m"], (8, 8)),
        Map.of(lambda i, q: linear.apply(i, 8 * q)["m"], (8, 8)),
    )


@theorem("guide: element (1, 0) is at linear offset 64", source=SWIZZLED)
def linear_64():
    return Equivalent(linear.map((8, 64)).fixed(i=1, j=0), TileLayout(S[()] + 64))


@theorem("guide: element (1, 0) is at swizzled offset 72", source=SWIZZLED)
def swizzled_72():
    return Equivalent(swizzled.map((8, 64)).fixed(i=1, j=0), TileLayout(S[()] + 72))


@theorem("guide: eight rows of 128 bytes are one period of 1024 bytes", source=SWIZZLED)
def period_in_bytes():
    """Byte b of element (i, j), swizzled: all 1024 bytes of eight 128-byte rows, each once."""
    place = Map.of(lambda i, j, b: 2 * swizzled.apply(i, j)["m"] + b, (8, 64, 2))
    rows = Map.of(lambda i, j, b: 2 * linear.apply(i, j)["m"] + b, (8, 64, 2))
    return Bijective(place, {m: 1024}) & Equivalent(rows, TileLayout(S[(8, 128) : (128, 1)]))


@theorem("guide: on bytes the same swizzle has per_element 4", source=SWIZZLED)
def swizzle_of_bytes():
    """Elements of 2 bytes: byte b of the element at x, for every x."""
    bytes_ = {"x": 2**20, "b": 2}
    return Equivalent(
        Map.of(lambda x, b: on_bytes.apply(2 * x + b)["m"], bytes_),
        Map.of(lambda x, b: 2 * on_elements.apply(x)["m"] + b, bytes_),
    )


@theorem("guide: a base aligned to the period keeps the pattern", source=SWIZZLED)
def aligned_base():
    """base + swizzle(x) = swizzle(base + x) for every base that is a multiple of 1024 bytes."""
    bases = {"block": 2**16, "i": 8, "j": 64}
    return Equivalent(
        Map.of(lambda block, i, j: PERIOD * block + swizzled.apply(i, j)["m"], bases),
        Map.of(
            lambda block, i, j: on_elements.apply(PERIOD * block + linear.apply(i, j)["m"])["m"],
            bases,
        ),
    )


@theorem("guide: the same in bytes, base a multiple of 1024", source=SWIZZLED)
def aligned_base_in_bytes():
    bases = {"block": 2**16, "i": 8, "j": 64, "b": 2}

    def shifted_pattern(block, i, j, b):
        return 1024 * block + 2 * swizzled.apply(i, j)["m"] + b

    def hardware(block, i, j, b):
        return on_bytes.apply(1024 * block + 2 * linear.apply(i, j)["m"] + b)["m"]

    return Equivalent(Map.of(shifted_pattern, bases), Map.of(hardware, bases))


@theorem(
    "guide: a base aligned to half the period keeps the pattern",
    source=SWIZZLED,
    expect=Verdict.REFUTED,
    note="512 bytes are not enough: from a base with bit 9 set the rows' XOR comes out otherwise",
)
def half_aligned_base():
    bases = {"block": 2**16, "i": 8, "j": 64}
    return Equivalent(
        Map.of(lambda block, i, j: 256 * block + swizzled.apply(i, j)["m"], bases),
        Map.of(
            lambda block, i, j: on_elements.apply(256 * block + linear.apply(i, j)["m"])["m"], bases
        ),
    )


@theorem(
    "guide: a swizzle leaves every access pattern without conflicts",
    source=SWIZZLED,
    expect=Verdict.REFUTED,
    note="suitable patterns only: rows 0 and 1 that read groups 0 and 1 are both in bank 0",
)
def suitable_patterns_only():
    along = Map.of(lambda i: swizzled.apply(i, 8 * i, shape=(8, 64))["m"] // 2 % 32, (8,))
    return Injective(along)
