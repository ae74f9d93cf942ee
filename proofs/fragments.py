"""The register fragment of the TIRx Layout API chapter: its lanes, its warps, its copies.

    S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid

over an (8, 16) tile.  The three parts are first taken alone, then together.
"""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    Covers,
    Dim,
    Disjoint,
    Equivalent,
    Injective,
    Map,
    R,
    ReplicasDistinct,
    S,
    TileLayout,
    Verdict,
    WithinBounds,
    laneid,
    m,
    reg,
    warpid,
)
from layout_algebra.theorems import theorem

BOOK = "book: TIRx Layout API, section "

# fmt: off
ITERS = S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)]
COPIES = R[2 : 4@warpid]
frag = TileLayout(ITERS)                      # the shard alone
moved = TileLayout(ITERS + 5@warpid)          # shard and offset: the base places
full = TileLayout(ITERS + COPIES + 5@warpid)  # and the copies
tile = (8, 16)

#: Any extents, any strides, any offset: negative ones too.
E0, E1 = Dim("E0"), Dim("E1")
s0, s1 = Dim("s0", at_least=-(2**31)), Dim("s1", at_least=-(2**31))
t, O = Dim("t", at_least=-(2**31)), Dim("O", at_least=-(2**31))
# fmt: on


# -- the shard ---------------------------------------------------------------------------------
@theorem("frag: the first and the third iter both move along laneid", source=BOOK + "Overview")
def two_iters_on_one_axis():
    by_digits = Map.of(
        lambda c0, c1, c2, c3: {laneid: 4 * c0 + c2, warpid: c1, m: c3}, (8, 2, 4, 2)
    )
    return Equivalent(frag.map(), by_digits)


@theorem("frag: one physical axis may occur any number of times", source=BOOK + "Overview")
def repeated_axis():
    """For all extents and strides: the iters of one axis add up on it."""
    layout = TileLayout(S[(E0, E1) : (s0@laneid, s1@laneid)])  # fmt: skip
    return Equivalent(layout.map(), Map.of(lambda c0, c1: {laneid: s0 * c0 + s1 * c1}, (E0, E1)))


@theorem("frag: a stride without an axis is on the default axis m", source=BOOK + "Overview")
def default_axis():
    tagged = TileLayout(S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1@m)])  # fmt: skip
    return Equivalent(frag, tagged)


@theorem("frag: @reg of the notation chapter is m in code", source=BOOK + "Overview")
def reg_is_m():
    slots = TileLayout(S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1@reg)])  # fmt: skip
    return Equivalent(frag, slots)


@theorem("frag: m is a position within one thread", source=BOOK + "Overview")
def local_positions():
    """Every lane of two warps holds positions 0 and 1, each position one element of the tile."""
    return Bijective(frag, {laneid: 32, warpid: 2, m: 2})


@theorem("frag: four iters split the 128 elements", source=BOOK + "Shard")
def four_iters():
    """The extents 8, 2, 4, 2 are a row-major mixed radix: digits to index is one to one."""
    return Bijective(
        Map.of(lambda c0, c1, c2, c3: ((c0 * 2 + c1) * 4 + c2) * 2 + c3, (8, 2, 4, 2)), {m: 128}
    )


@theorem("frag: summed over its axes it is the plain shape-stride layout", source=BOOK + "Shard")
def ordinary_shape_stride():
    def on_one_axis(c0, c1, c2, c3):
        place = frag.apply(c0, c1, c2, c3)
        return place["laneid"] + place["warpid"] + place["m"]

    return Equivalent(Map.of(on_one_axis, (8, 2, 4, 2)), TileLayout(S[(8, 2, 4, 2) : (4, 1, 1, 1)]))


@theorem(
    "frag: with all strides on one address the places stay apart",
    source=BOOK + "Shard",
    expect=Verdict.REFUTED,
    note="the axes keep apart what the strides 4, 1, 1, 1 alone would put together",
)
def anonymous_strides_collide():
    return Injective(TileLayout(S[(8, 2, 4, 2) : (4, 1, 1, 1)]))


@theorem("frag: injective, copies included", source=BOOK + "TileLayout")
def injective():
    return Injective(full)


# -- the replica -------------------------------------------------------------------------------
@theorem("replica: R[2 : 4@warpid] is two places, 4 warps apart", source=BOOK + "Replica")
def two_copies():
    one = TileLayout(S[()] + R[2 : 4@warpid])  # fmt: skip
    between = TileLayout(S[3 : 1@warpid] + 1@warpid)  # fmt: skip
    return (
        ReplicasDistinct(one)
        & Equivalent(one, Map.of(lambda q: {warpid: 4 * q}, (2,), copies=("q",)))
        & Disjoint(one, between)
    )


@theorem("replica: every element of frag has two different places", source=BOOK + "Replica")
def replicas_distinct():
    return ReplicasDistinct(full)


@theorem("replica: copies do not depend on the element", source=BOOK + "Replica")
def copies_independent_of_element():
    """Each copy is the whole base layout, moved: for all extents and strides."""
    # fmt: off
    copied = TileLayout(S[(E0, E1) : (s0@laneid, s1@warpid)] + R[2 : t@warpid])
    # fmt: on
    by_copy = Map.of(
        lambda c0, c1, q: {laneid: s0 * c0, warpid: s1 * c1 + t * q}, (E0, E1, 2), copies=("q",)
    )
    return Equivalent(copied.map(), by_copy)


@theorem(
    "replica: it leaves the places as they are",
    source=BOOK + "Replica",
    expect=Verdict.REFUTED,
    note="a replica adds places: the element has a second one, which the base layout lacks",
)
def replica_adds_places():
    return Equivalent(full, moved)


# -- the offset --------------------------------------------------------------------------------
@theorem("offset: 5@warpid moves the whole layout by 5 warps", source=BOOK + "Offset")
def offset_moves_all():
    def by_hand(i, j):
        place = frag.apply(i, j, shape=tile)
        return {laneid: place["laneid"], warpid: place["warpid"] + 5, m: place["m"]}

    return Equivalent(moved.map(tile), Map.of(by_hand, tile))


@theorem("offset: added to every place, copies too, for any layout", source=BOOK + "Offset")
def offset_moves_any_layout():
    # fmt: off
    layout = TileLayout(S[(E0, E1) : (s0@laneid, s1@warpid)] + R[2 : t@warpid] + O@warpid)
    # fmt: on
    shifted = Map.of(
        lambda c0, c1, q: {laneid: s0 * c0, warpid: (s1 * c1 + t * q) + O},
        (E0, E1, 2),
        copies=("q",),
    )
    return Equivalent(layout.map(), shifted)


@theorem("offset: tiles of any width lie side by side in one resource", source=BOOK + "Offset")
def offset_separates_tiles():
    first = TileLayout(S[(E0, E1) : (1@laneid, 1)])  # fmt: skip
    second = TileLayout(S[(E0, E1) : (1@laneid, 1)] + E1)  # fmt: skip
    return Disjoint(first, second)


# -- the three together ------------------------------------------------------------------------
@theorem("L(x) = { D(x) + r + O }: the places of frag", source=BOOK + "Combining the three parts")
def set_of_places():
    """D is the shard alone, without replica and offset; r is 0 or 4 warps, O is 5 warps."""

    def place(i, j, r):
        base = frag.apply(i, j, shape=tile)
        return {laneid: base["laneid"], warpid: base["warpid"] + 4 * r + 5, m: base["m"]}

    return Equivalent(full.map(tile), Map.of(place, (*tile, 2), copies=("r",)))


@theorem("L(x) = { D(x) + r + O }: for any layout", source=BOOK + "Combining the three parts")
def set_of_places_any_layout():
    """All extents, strides and offsets; two replica iters, with any strides."""
    # fmt: off
    u = Dim("u", at_least=-(2**31))
    layout = TileLayout(
        S[(E0, E1) : (s0@laneid, s1@warpid)] + R[(2, 3) : (t@warpid, u@laneid)] + O@laneid
    )
    # fmt: on
    formula = Map.of(
        lambda c0, c1, r0, r1: {laneid: s0 * c0 + u * r1 + O, warpid: s1 * c1 + t * r0},
        (E0, E1, 2, 3),
        copies=("r0", "r1"),
    )
    return Equivalent(layout.map(), formula)


@theorem(
    "without a replica there is one place, D(x) + O", source=BOOK + "Combining the three parts"
)
def one_place_without_replica():
    base = Map.of(lambda i, j: moved.apply(i, j, shape=tile), tile)
    return Equivalent(moved.map(tile), base)


@theorem("with a replica apply gives D(x) + O only", source=BOOK + "Combining the three parts")
def apply_is_the_base_place():
    base = Map.of(lambda i, j: full.apply(i, j, shape=tile), tile)
    return Equivalent(base, moved.map(tile))


@theorem(
    "apply gives all places of an element",
    source=BOOK + "Combining the three parts",
    expect=Verdict.REFUTED,
    note="apply leaves out the copies; places() is the set L(x)",
)
def apply_is_not_all_places():
    base = Map.of(lambda i, j: full.apply(i, j, shape=tile), tile)
    return Equivalent(base, full.map(tile))


@theorem("from_iters makes the same layout", source=BOOK + "Combining the three parts")
def from_iters():
    """A layout is its triples (extent, stride, axis), its replica triples, and its offset."""
    made = TileLayout.from_iters(
        shard=[(8, 4, "laneid"), (2, 1, "warpid"), (4, 1, "laneid"), (2, 1, "m")],
        replica=[(2, 4, "warpid")],
        offset={"warpid": 5},
    )
    return Equivalent(made, full)


# -- the worked element ------------------------------------------------------------------------
@theorem("frag: element (1, 3) is at lane 5, warp 5, m 1", source=BOOK + "Forward mapping")
def element_1_3():
    base = Map.of(lambda i, j: full.apply(i, j, shape=tile), tile).fixed(i=1, j=3)
    return Equivalent(base, TileLayout(S[()] + 5@laneid + 5@warpid + 1))  # fmt: skip


@theorem("frag: element (1, 3) is at warps 5 and 9", source=BOOK + "Forward mapping")
def element_1_3_and_its_copy():
    # fmt: off
    two = TileLayout(S[()] + R[2 : 4@warpid] + 5@laneid + 5@warpid + 1)
    # fmt: on
    return Equivalent(full.map(tile).fixed(i=1, j=3), two)


@theorem("frag: before the offset element (1, 3) is at warp 0", source=BOOK + "Forward mapping")
def element_1_3_before_the_offset():
    place = TileLayout(S[()] + 5@laneid + 0@warpid + 1)  # fmt: skip
    return Equivalent(frag.map(tile).fixed(i=1, j=3), place)


# -- the whole tile ----------------------------------------------------------------------------
@theorem("frag: closed form of the base place, every element", source=BOOK + "Forward mapping")
def closed_form():
    formula = Map.of(lambda i, j: {laneid: 4 * i + j // 2 % 4, warpid: j // 8 + 5, m: j % 2}, tile)
    return Equivalent(moved.map(tile), formula)


@theorem("frag: closed form with the copies, warp + 0 or 4", source=BOOK + "Forward mapping")
def closed_form_with_copies():
    formula = Map.of(
        lambda i, j, q: {laneid: 4 * i + j // 2 % 4, warpid: j // 8 + 5 + 4 * q, m: j % 2},
        (*tile, 2),
        copies=("q",),
    )
    return Equivalent(full.map(tile), formula)


@theorem("frag: shard and offset use exactly warps 5 and 6", source=BOOK + "Forward mapping")
def base_warps():
    return Bijective(moved, {laneid: 32, warpid: (5, 7), m: 2})


@theorem("frag: the copies use exactly warps 9 and 10", source=BOOK + "Forward mapping")
def copy_warps():
    """The second copy is the layout with offset 5 + 4."""
    return Bijective(TileLayout(ITERS + 9@warpid), {laneid: 32, warpid: (9, 11), m: 2})  # fmt: skip


@theorem("frag: warps 5, 6, 9, 10 and no others", source=BOOK + "Forward mapping")
def all_warps():
    """Of all 32 warps that a CTA can have: 5, 6, 9, 10 are filled, 7 and 8 are not touched."""
    between = TileLayout(S[(32, 2, 2) : (1@laneid, 1@warpid, 1)] + 7@warpid)  # fmt: skip
    return (
        WithinBounds(full, {warpid: (5, 11)})
        & Disjoint(full, between)
        & Covers(full, {laneid: 32, warpid: (5, 7), m: 2})
        & Covers(full, {laneid: 32, warpid: (9, 11), m: 2})
    )


@theorem(
    "frag: all warps from 5 to 10 are used",
    source=BOOK + "Forward mapping",
    expect=Verdict.REFUTED,
    note="the tile is 2 warps wide and its copies 4 apart: warps 7 and 8 stay free",
)
def warps_between():
    return Covers(full, {laneid: 32, warpid: (5, 11), m: 2})
