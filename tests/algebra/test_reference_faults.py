"""Where the reference answers wrongly or accepts nonsense: one test for each item, by its number.

The items are those of docs/differences.md.  12.10 and 12.12 are about hardware constructors, and
12.14 about the notation; both have tests of their own.
"""

from __future__ import annotations

import pytest

from layout_algebra import (
    ComposeLayout,
    Equivalent,
    R,
    S,
    TCol,
    TileLayout,
    TLane,
    Verdict,
    bx,
    laneid,
    prove,
    tx,
    warpid,
    wgid,
    wid_in_wg,
)
from layout_algebra.algebra.group import GroupError
from layout_algebra.axes import Axis, m
from layout_algebra.errors import AxisError, CoordinateError, LayoutError, NotationError
from tests import bruteforce as bf
from tests.algebra import laws
from tests.building import plain_of


def table(layout) -> laws.Table:
    return bf.table(plain_of(layout))


def on_m(layout) -> list[int]:
    return [layout.apply(f)["m"] for f in range(layout.size())]


def same(a, b) -> bool:
    return table(a) == table(b)


# ------------------------------------------------------------------------ wrong answers


def test_12_01_slice_carry_that_goes_further():
    """At [6, 10) the carry passes two digits: the places are 9 10 100 101."""
    layout = TileLayout(S[(2, 2, 4) : (100, 7, 1)])
    assert on_m(layout)[6:10] == [9, 10, 100, 101]
    assert layout.slice((16,), [(6, 10)]) == TileLayout(S[(2, 2) : (91, 1)] + 9)
    # over more blocks than two there is no such iter
    assert on_m(layout)[2:12] == [2, 3, 7, 8, 9, 10, 100, 101, 102, 103]
    assert layout.slice((16,), [(2, 12)]) is None
    assert "leaves its line" in layout.why_no_slice((16,), [(2, 12)])
    # and where the carry stays inside, as in the reference
    assert on_m(layout.slice((16,), [(2, 6)])) == [2, 3, 7, 8]


@pytest.mark.parametrize(
    ("region", "says"),
    [
        ([(-1, 2)], "begins at -1, before 0"),
        ([(0, 17)], "ends at 17, after 16"),
        ([(3, 3)], r"is empty: \[3, 3\)"),
        ([(5, 3)], r"is empty: \[5, 3\)"),
        ([(16, 20)], "after 16"),
        ([(0, 1), (0, 1)], "2 dimensions for a shape of 1"),
    ],
)
def test_12_02_regions_outside_empty_or_reversed(region, says):
    for shard in (S[16:1], S[(2, 2, 4) : (100, 7, 1)]):
        with pytest.raises(CoordinateError, match=says):
            TileLayout(shard).slice((16,), region)


def test_12_03_wgid_fuses_onto_warpid():
    layout = TileLayout(S[(2, 4) : (1 @ wgid, 1 @ wid_in_wg)])
    assert layout.get_scope() == ("warp", "cta")
    assert layout.canonicalize(target="cuda") == TileLayout(S[8 : 1 @ warpid])
    inner, outer = TileLayout(S[3 : 1 @ wid_in_wg]), TileLayout(S[2 : 1 @ wgid])
    found = inner.tile(outer, (2,), (3,), target="cuda")
    assert found == TileLayout(S[(2, 3) : (4 @ warpid, 1 @ warpid)])


def test_12_04_offsets_that_fuse_add():
    layout = TileLayout(S[(2, 2) : (1 @ warpid, 1 @ laneid)] + 1 @ warpid + 2 @ laneid)
    assert layout.canonicalize(target="cuda").offset == {tx: 34}
    assert layout.fuse().offset == {tx: 34}
    # to nothing, when they cancel
    layout = TileLayout(S[(2, 2) : (1 @ warpid, 1 @ laneid)] + 1 @ warpid + (-32) @ laneid)
    assert layout.canonicalize(target="cuda").offset == {}


def test_12_05_pack_and_unpack_on_one_axis_with_copies_and_offset():
    layout = TileLayout(S[(4, 2) : (1 @ laneid, 3)] + R[2:8] + 5 + 1 @ laneid)
    wide = layout.unpack(2)
    assert wide == TileLayout(S[(4, 2, 2) : (1 @ laneid, 6, 1)] + R[2:16] + 10 + 1 @ laneid)
    assert wide.pack(2).normal_form() == layout.normal_form()
    assert TileLayout(S[4 : 1 @ TCol]).unpack(2, TCol) == TileLayout(
        S[(4, 2) : (2 @ TCol, 1 @ TCol)]
    )
    for spec in (S[(4, 4) : (5, 1)], S[(4, 4) : (8, 1)] + R[2:3], S[(4, 4) : (8, 1)] + 1):
        with pytest.raises(LayoutError, match="pack: 2 does not divide"):
            TileLayout(spec).pack(2)
    # thread strides are none of its business
    packed = TileLayout(S[(4, 4) : (5 @ laneid, 1)]).pack(2)
    assert packed == TileLayout(S[(4, 2) : (5 @ laneid, 1)])
    for wrong in (0, -2):
        for operation in (layout.pack, layout.unpack):
            with pytest.raises(LayoutError, match="at least 1"):
                operation(wrong)
    with pytest.raises(LayoutError, match="laneid is a thread axis"):
        layout.unpack(2, laneid)


def test_12_06_recognisers_keep_their_law():
    inner = TileLayout(S[4:1] + 3)
    # inner's offset is not in the whole: there is an outer layout, and it takes it back
    found = inner.is_tile_inner(TileLayout(S[(2, 4) : (7, 1)]), (8,), (4,))
    assert found.offset == {m: -3}
    assert same(inner.tile(found, (2,), (4,)), TileLayout(S[(2, 4) : (7, 1)]))
    # inner's copies are not in the whole: there is none
    copied = TileLayout(S[4:1] + R[2:8])
    assert copied.is_tile_inner(TileLayout(S[(2, 4) : (12, 1)]), (8,), (4,)) is None
    assert copied.is_direct_sum_right(TileLayout(S[(2, 4) : (12, 1)]), (2, 4), (4,)) is None
    # copies of the outer layout: tile does not scale them, and so they are not divided
    outer = TileLayout(S[2:1] + R[3:5])
    whole = TileLayout(S[6:16]).tile(outer, (2,), (6,))
    found = TileLayout(S[6:16]).is_tile_inner(whole, (12,), (6,))
    assert same(found, outer)
    # equal copies are taken away one at a time
    right = TileLayout(S[4:1] + R[2:8])
    left = TileLayout(S[2:4] + R[2:8])
    whole = right.direct_sum(left, (2,), (4,))
    assert same(right.is_direct_sum_right(whole, (2, 4), (4,)), left)
    assert same(left.is_direct_sum_left(whole, (2, 4), (2,)), right)
    # and when they were merged: 0 8 16 is twice 0 8
    merged = TileLayout(S[(2, 4) : (4, 1)] + R[3:8])
    assert same(right.is_direct_sum_right(merged, (2, 4), (4,)), left)


def test_12_06_recognisers_for_a_target():
    """Lanes in a warp, warps in a CTA: in the whole both are tx."""
    lanes, warps = TileLayout(S[8 : 4 @ laneid]), TileLayout(S[4 : 1 @ warpid])
    whole = lanes.tile(warps, (4,), (8,), target="cuda")
    assert whole == TileLayout(S[32 : 4 @ tx])
    assert lanes.is_tile_inner(whole, (32,), (8,), target="cuda") == warps
    assert warps.is_tile_outer(whole, (32,), (4,), target="cuda") == lanes
    assert warps.is_direct_sum_left(whole, (4, 8), (4,), target="cuda") == lanes
    assert lanes.is_direct_sum_right(whole, (4, 8), (8,), target="cuda") == warps
    # without a target they are not the same places
    assert lanes.is_tile_inner(whole, (32,), (8,)) is None


def test_12_06_copies_on_thread_axes_that_were_not_fused():
    """The other layout has copies on threads and no iter there: alone it is not fused."""
    lanes = TileLayout(S[6 : 6 @ laneid])
    copies = TileLayout(S[1:1] + R[(3, 2) : (3 @ warpid, 2 @ laneid)])
    whole = lanes.tile(copies, (1,), (6,), target="cuda")
    assert whole == TileLayout(S[6 : 6 @ tx] + R[(2, 3) : (2 @ tx, 96 @ tx)])
    found = lanes.is_tile_inner(whole, (6,), (6,), target="cuda")
    assert lanes.tile(found, (1,), (6,), target="cuda") == whole
    # and the other way round: the given one has them
    found = copies.is_tile_outer(whole, (6,), (1,), target="cuda")
    assert same(found, lanes)


def test_12_07_spans_are_counted_before_fusing():
    """Two warps of four lanes: the next warps begin after them, not after 32 + 4 lanes."""
    inner = TileLayout(S[(2, 4) : (1 @ warpid, 1 @ laneid)])
    outer = TileLayout(S[3 : 1 @ warpid])
    tiled = inner.tile(outer, (3,), (8,))
    assert tiled == TileLayout(S[(6, 4) : (1 @ warpid, 1 @ laneid)])
    fused = inner.tile(outer, (3,), (8,), target="cuda")
    assert fused == tiled.canonicalize(target="cuda") == TileLayout(S[(6, 4) : (32 @ tx, 1 @ tx)])
    found = inner.is_tile_inner(fused, (24,), (8,), target="cuda")
    assert inner.tile(found, (3,), (8,), target="cuda") == fused
    assert same(outer.is_tile_outer(fused, (24,), (3,), target="cuda"), inner)


def test_12_07_scaled_warps_and_scaled_lanes_in_one_layout():
    """Each iter of the whole is put back on the axis on which inner's span divides it."""
    inner = TileLayout(S[(2, 32) : (1 @ warpid, 1 @ laneid)])
    outer = TileLayout(S[(2, 3) : (1 @ warpid, 1 @ laneid)])
    whole = inner.tile(outer, (6,), (64,), target="cuda")
    assert whole == TileLayout(S[(2, 3, 64) : (64 @ tx, 32 @ tx, 1 @ tx)])
    found = inner.is_tile_inner(whole, (384,), (64,), target="cuda")
    assert inner.tile(found, (6,), (64,), target="cuda") == whole
    found = outer.is_tile_outer(whole, (384,), (6,), target="cuda")
    assert same(found.tile(outer, (6,), (64,), target="cuda"), whole)


def test_12_08_what_cannot_be_split_is_an_error():
    with pytest.raises(LayoutError, match="does not fall apart into 32 places of laneid"):
        TileLayout(S[4 : 24 @ tx]).split("warp")
    split = TileLayout(S[8 : 1 @ warpid]).split("warpgroup")
    assert split == TileLayout(S[(2, 4) : (1 @ wgid, 1 @ wid_in_wg)])
    assert TileLayout(S[8 : 1 @ warpid]).split("warp") == TileLayout(S[8 : 1 @ warpid])
    # iters that fall apart one by one, and carry together
    with pytest.raises(LayoutError, match=r"laneid would be 0\.\.40, of 32"):
        TileLayout(S[(2, 2) : (20 @ tx, 20 @ tx)]).split("warp")
    with pytest.raises(LayoutError, match=r"laneid would be 31\.\.32, of 32"):
        TileLayout(S[2 : 1 @ tx] + 31 @ tx).split("warp")


def test_12_09_blocks_with_a_whole_chain_have_a_scope():
    assert TileLayout(S[(4, 8) : (1 @ bx, 1 @ tx)]).get_scope() == ("thread", "kernel")
    chain = TileLayout(S[(4, 2, 8) : (1 @ bx, 1 @ warpid, 1 @ laneid)])
    assert chain.get_scope() == ("thread", "kernel")
    # nothing is fused as wide as that
    assert chain.canonicalize(target="cuda") == chain


def test_12_11_tile_to_what_does_not_divide():
    for to_shape in ((9,), (1,)):
        with pytest.raises(GroupError, match="does not divide"):
            TileLayout(S[2:1]).tile_to(to_shape, (2,))
    with pytest.raises(GroupError, match="dimensions"):
        TileLayout(S[2:1]).tile_to((4, 2), (2,))


# --------------------------------------------------------------- nonsense that is accepted


def test_12_13_nonsense_is_refused():
    layout = TileLayout(S[(2, 3) : (3, 1)])
    for extent in (0, -2):
        with pytest.raises(LayoutError, match="extent"):
            TileLayout.from_iters([(extent, 1, "m")])
    for index in (-1, 6):
        with pytest.raises(CoordinateError, match="outside"):
            layout.apply(index)
    for perm in ((0, 0), (1,), (0, 2), (-1, 0), (0, 1, 2)):
        with pytest.raises(LayoutError, match="permutation of 2 shard iters"):
            layout.permute_dims(perm)
    with pytest.raises(LayoutError, match="permutation of 1 groups"):
        layout.permute_by_groups((0, 2), (0, 0))
    with pytest.raises(GroupError, match="separators"):
        layout.permute_by_groups((0, 1), (0,))
    for num in (0, -1):
        with pytest.raises(LayoutError, match="broadcast"):
            layout.broadcast(num)
        with pytest.raises(LayoutError, match="unpack"):
            layout.unpack(num)
    # another shape is fine while the index stays inside
    assert layout.apply(1, 1, shape=(2, 2)) == layout.apply(3)


def test_12_14_lists_that_do_not_fit_are_refused():
    with pytest.raises(NotationError):
        S[(2, 3) : (1,)]
    with pytest.raises(NotationError):
        S[8 : (4, "laneid")]
    assert TileLayout(5 @ laneid + S[8:1]) == TileLayout(S[8:1] + 5 @ laneid)


def test_12_15_a_swizzle_acts_on_m_and_other_axes_pass():
    tile = TileLayout(S[(2, 4) : (1 @ laneid, 1)])
    layout = ComposeLayout(0, 1, 1, tile)
    assert [layout.apply(f) for f in (2, 6)] == [
        {"laneid": 0, "m": 3},
        {"laneid": 1, "m": 3},
    ]
    assert not layout.check_well_formed()
    assert "on m only" in layout.why_ill_formed()
    assert ComposeLayout(0, 1, 1, TileLayout(S[()])).apply() == {"m": 0}


def test_12_15_a_swizzle_over_another_axis_is_not_bare():
    """It does not act there: slicing must not move it to m."""
    layout = ComposeLayout(0, 1, 1, TileLayout(S[8 : 1 @ TCol]))
    part = layout.slice((8,), [(2, 6)])
    assert table(part) == table(layout)[2:6]
    with pytest.raises(GroupError):
        layout.slice((16,), [(2, 6)])


def test_12_16_a_bare_swizzle_stands_for_whole_periods():
    bare = ComposeLayout(1, 1, 1, TileLayout(S[6:1]))
    assert bare.slice((16,), [(4, 8)]).apply(0) == {"m": 6}
    assert bare.slice((6,), [(0, 6)]).tile_layout == TileLayout(S[6:1])
    assert bare.tile_to((24,), (8,)).size() == 24
    for shape in ((12,), (7,), (2, 2)):
        region = [(0, 1)] * len(shape)
        with pytest.raises(GroupError, match="whole periods of 8 elements, or for the 6"):
            bare.slice(shape, region)
        with pytest.raises(GroupError, match="whole periods of 8 elements, or for the 6"):
            bare.tile_to(shape, shape)


def test_12_17_span_holds_every_place():
    assert TileLayout(S[4:-3]).span() == 10
    assert TileLayout(S[4:-3] + 9).span() == 10
    assert TileLayout(S[4:1] + 7).span() == 11
    assert ComposeLayout(0, 1, 1, TileLayout(S[3:1])).span() == 4  # 2 goes to 3
    with pytest.raises(LayoutError, match="several memory axes"):
        TileLayout(S[(2, 2) : (1 @ TLane, 1 @ TCol)]).span()
    # and so tiles with negative strides do not overlap
    found = TileLayout(S[4:-1]).tile(TileLayout(S[2:1]), (2,), (4,))
    assert on_m(found) == [0, -1, -2, -3, 4, 3, 2, 1]
    # what is scaled is outer's shard alone, by the span of the tile under a swizzle
    inner = ComposeLayout(0, 1, 1, TileLayout(S[3:1]))
    assert inner.tile(TileLayout(S[2:1]), (2,), (3,)).tile_layout == TileLayout(S[6:1])
    outer = TileLayout(S[2:1] + R[2:1] + 1)
    assert TileLayout(S[4:1]).tile(outer, (2,), (4,)) == TileLayout(S[8:1] + R[2:1] + 1)


def test_12_18_ill_formed_is_an_answer_and_unknown_axes_are_errors():
    layout = TileLayout(S[(2, 2) : (1 @ tx, 1 @ laneid)])
    assert layout.check_well_formed() is False
    assert "one layout uses one of them" in layout.why_ill_formed()
    assert TileLayout(S[(2, 2) : (1 @ wgid, 1 @ laneid)]).check_well_formed() is False
    with pytest.raises(AxisError, match="did you mean 'laneid'"):
        Axis.get("laneidx")


def test_12_19_copies_are_ordered_and_units_dropped():
    one = TileLayout(S[4:1] + R[(2, 1, 3) : (8 @ warpid, 5, 4)])
    two = TileLayout(S[4:1] + R[(3, 1, 2) : (4, 7 @ laneid, 8 @ warpid)])
    assert one.canonicalize() == two.canonicalize()
    assert one.canonicalize() == TileLayout(S[4:1] + R[(3, 2) : (4, 8 @ warpid)])
    # equality is the normal form's business: this one is kept as TIRx keeps it
    still = TileLayout(S[4:1] + R[2:0])
    assert still.canonicalize() == still
    assert still.normal_form() == TileLayout(S[4:1])


def test_12_20_the_target_is_an_argument():
    layout = TileLayout(S[(2, 32) : (1 @ warpid, 1 @ laneid)])
    assert layout.canonicalize() == layout
    assert layout.canonicalize(target="cuda") == TileLayout(S[64 : 1 @ tx])
    with pytest.raises(LayoutError, match="target"):
        layout.canonicalize(target="opencl")


def test_12_21_grouped_layouts_are_equal_up_to_unit_strides():
    cut, seps = TileLayout(S[8:3]).group((1, 8, 1))
    assert seps == (0, 1, 2, 3)
    assert cut.extents == (1, 8, 1)
    assert cut.normal_form() == TileLayout(S[8:3])
    assert same(cut, TileLayout(S[8:3]))


def test_12_22_slice_finds_a_layout_wherever_there_is_one():
    layout = TileLayout(S[(2, 6, 4) : (6, 1, 12)])
    found = layout.slice((48,), [(38, 46)])
    assert on_m(found) == on_m(layout)[38:46]
    # zero offsets and units: the same after canonicalizing
    row = TileLayout(S[(4, 4) : (4, 1)]).slice((4, 4), [(1, 2), (0, 4)])
    assert row.canonicalize() == TileLayout(S[4:1] + 4)


# --------------------------------------------------------------- equality under a swizzle

TILE = S[(8, 8) : (8, 1)]


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        # no bits are XORed
        (ComposeLayout(2, 0, 3, TileLayout(TILE)), TileLayout(TILE), True),
        (ComposeLayout(2, 0, 3, TileLayout(TILE)), ComposeLayout(0, 0, 1, TileLayout(TILE)), True),
        (ComposeLayout(2, 0, 3, TileLayout(TILE)), TileLayout(S[64:2]), False),
        # in both directions: bits 3.. into 0.., or 0.. into 3..
        (
            ComposeLayout(0, 3, 3, TileLayout(TILE)),
            ComposeLayout(0, 3, 3, TileLayout(S[64:1])),
            True,
        ),
        (
            ComposeLayout(0, 3, 3, TileLayout(TILE)),
            ComposeLayout(0, 3, 3, TileLayout(TILE), swizzle_inner=False),
            False,
        ),
        (
            ComposeLayout(0, 3, 3, TileLayout(S[8:8]), swizzle_inner=False),
            TileLayout(S[8:8]),
            True,
        ),
        (ComposeLayout(0, 3, 3, TileLayout(S[8:8])), TileLayout(S[8:9]), True),
        (
            ComposeLayout(0, 3, 3, TileLayout(S[8:1]), swizzle_inner=False),
            TileLayout(S[8:9]),
            True,
        ),
        # tiles that never reach the XORed bits
        (ComposeLayout(0, 3, 3, TileLayout(S[8:1])), TileLayout(S[8:1]), True),
        (ComposeLayout(3, 2, 3, TileLayout(TILE)), TileLayout(TILE), True),
        (ComposeLayout(3, 3, 3, TileLayout(TILE)), ComposeLayout(3, 2, 3, TileLayout(TILE)), True),
        (ComposeLayout(0, 3, 3, TileLayout(S[9:1])), TileLayout(S[9:1]), False),
        (
            ComposeLayout(2, 3, 3, TileLayout(S[4:1] + R[2:64])),
            TileLayout(S[4:1] + R[2:64]),
            False,
        ),
        # a multiple of the period away it is the same pattern
        (
            ComposeLayout(0, 2, 2, TileLayout(S[16:1] + 32)),
            ComposeLayout(0, 2, 2, TileLayout(S[(4, 4) : (4, 1)] + 32)),
            True,
        ),
        (
            ComposeLayout(0, 2, 2, TileLayout(S[16:1] + 32)),
            ComposeLayout(0, 2, 2, TileLayout(S[16:1] + 16)),
            False,
        ),
        # other axes pass
        (
            ComposeLayout(0, 3, 3, TileLayout(S[(2, 8) : (1 @ laneid, 1)])),
            TileLayout(S[(2, 8) : (1 @ laneid, 1)]),
            True,
        ),
    ],
)
def test_equivalent_decides_swizzled_layouts(one, two, equal):
    assert same(one, two) == equal
    for a, b in ((one, two), (two, one)):
        proof = prove(Equivalent(a, b))
        assert proof.verdict is (Verdict.PROVED if equal else Verdict.REFUTED), proof
