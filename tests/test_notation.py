"""The notation in Python: `S[...] + R[...] + offset`, `@`, and the text of a layout."""

import random

import pytest

from layout_algebra.axes import Axis, TCol, TLane, laneid, m, reg, warpid
from layout_algebra.dims import Dim
from layout_algebra.errors import LayoutError, NotationError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.notation import ItemError, R, S, Spec, notation
from layout_algebra.parsing import parse
from tests.building import built
from tests.generators import random_layout

M = Dim("M", multiple_of=8)


def shard(spec):
    return [tuple(it) for it in TileLayout(spec).shard]


# fmt: off
SHARDS = {
    "row-major": (S[2, 3, 4], [(2, 12, m), (3, 4, m), (4, 1, m)]),
    "one": (S[8], [(8, 1, m)]),
    "a list in brackets": (S[[2, 3]], [(2, 3, m), (3, 1, m)]),
    "a tuple in brackets": (S[(2, 3)], [(2, 3, m), (3, 1, m)]),
    "none": (S[()], []),
    "none with strides": (S[() : ()], []),
    "symbolic": (S[M, 4, M // 8], [(M, M // 8 * 4, m), (4, M // 8, m), (M // 8, 1, m)]),
    "strides": (S[(8, 4) : (4@laneid, 1)], [(8, 4, laneid), (4, 1, m)]),
    "lists": (S[[8, 4] : [4@laneid, 1]], [(8, 4, laneid), (4, 1, m)]),
    "single": (S[8 : 4@laneid], [(8, 4, laneid)]),
    "axis": (S[(8, 4) : (laneid, 3)], [(8, 1, laneid), (4, 3, m)]),
    "axis name": (S[2 : "laneid"], [(2, 1, laneid)]),
    "pair": (S[(8,) : ((4, "laneid"),)], [(8, 4, laneid)]),
    "pair with an axis": (S[(8, 2) : ([4, laneid], 1)], [(8, 4, laneid), (2, 1, m)]),
    "zero": (S[(2, 3) : (0, 0@warpid)], [(2, 0, m), (3, 0, warpid)]),
    "negative": (S[(4, 4) : (-4, -1@laneid)], [(4, -4, m), (4, -1, laneid)]),
    "reg is m": (S[(8, 2) : (1@laneid, 1@reg)], [(8, 1, laneid), (2, 1, m)]),
    "symbolic stride": (S[(4, M) : (M, 1)], [(4, M, m), (M, 1, m)]),
    "expression on an axis": (S[4 : (M // 8 + 1)@TCol], [(4, M // 8 + 1, TCol)]),
    "comparison as a number": (S[8 > 4, 2], [(1, 2, m), (2, 1, m)]),
}
OFFSETS = {
    "right": (S[3 : 1] + 5, {m: 5}),
    "left": (5 + S[3 : 1], {m: 5}),
    "on an axis": (S[3 : 1] + 5@laneid, {laneid: 5}),
    "left on an axis": (5@laneid + S[3 : 1], {laneid: 5}),
    "sums": (S[3 : 1] + 5@laneid + 2@laneid + 7, {laneid: 7, m: 7}),
    "both sides": (1@laneid + S[4] + 2, {laneid: 1, m: 2}),
    "in parentheses": (S[8 : 4@laneid] + (2 + 1@laneid), {m: 2, laneid: 1}),
    "negative": (S[3 : 1] + (-5), {m: -5}),
    "negative on an axis": (S[3 : 1] + -5@laneid, {laneid: -5}),
    "negated": (S[3 : 1] + -(5@laneid), {laneid: -5}),
    "zero is kept": (S[4] + 0, {m: 0}),
    "cancelled is kept": (S[4] + 3@TLane + -3@TLane, {TLane: 0}),
    "symbolic": (S[4] + M + 1, {m: M + 1}),
    "left symbolic": (M + S[4], {m: M}),
    "reg": (S[(4,) : (1@laneid,)] + 2@reg, {m: 2}),
}
# fmt: on


@pytest.mark.parametrize("name", SHARDS)
def test_shards(name):
    spec, expected = SHARDS[name]
    assert shard(spec) == expected


@pytest.mark.parametrize("name", OFFSETS)
def test_offsets(name):
    spec, expected = OFFSETS[name]
    assert TileLayout(spec).offset == expected


def test_replicas():
    layout = TileLayout(S[(32, 4) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane])
    assert layout.replica == ((4, 32, TLane),)
    assert TileLayout(R[2, 3]).replica == ((2, 3, m), (3, 1, m))
    assert TileLayout(R[2] + S[4]) == TileLayout(S[4] + R[2])
    assert TileLayout(R[2]).shard == ()


def test_order_of_the_sum_does_not_matter():
    parts = [S[(8, 4) : (4 @ laneid, 1)], R[2 : 4 @ warpid], 5 @ warpid, 3]
    expected = TileLayout(parts[0] + parts[1] + parts[2] + parts[3])
    for seed in range(10):
        random.Random(seed).shuffle(parts)
        if isinstance(parts[0], Spec) or isinstance(parts[1], Spec):
            assert TileLayout(parts[0] + parts[1] + parts[2] + parts[3]) == expected


def test_item_errors_say_which():
    for key, part, position in (
        ((8, 0, 4), "extent", 1),
        (slice((8, 4), (1, 1.5)), "stride", 1),
        (slice((8, (4, 2)), (1, (1, 2))), "extent", 1),
        (slice(8, "lanid"), "stride", 0),
        (0, "extent", 0),
    ):
        with pytest.raises(ItemError) as caught:
            S[key]
        assert (caught.value.part, caught.value.position) == (part, position), key


def test_one_shard_and_one_replica():
    with pytest.raises(NotationError, match=r"a layout has one S\[\.\.\.\]: join its iters"):
        S[4] + S[2]
    with pytest.raises(NotationError, match=r"a layout has one R\[\.\.\.\]: join its iters"):
        S[4] + R[2] + R[3]


def test_reg_or_m_but_not_both():
    for spec in (
        S[(4, 2) : (1 @ reg, 1 @ m)],
        S[(4, 2) : (1 @ reg, 1)],
        S[4 : 1 @ reg] + R[2:4],
        S[4 : 1 @ reg] + 2,
        S[4] + 2 @ reg,
    ):
        with pytest.raises(NotationError, match="@reg is another spelling of m: use one of them"):
            TileLayout(spec)
    with pytest.raises(LayoutError, match="axis reg is another spelling of m"):
        TileLayout.from_iters([(4, 1, "reg"), (2, 4, m)])
    assert TileLayout.from_iters([(4, 1, "reg")], offset={reg: 3}) == TileLayout(S[4] + 3)


# ----------------------------------------------------------------------------- the text

TEXTS = (
    "S[()]",
    "S[8 : 1]",
    "S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid",
    "S[8 : -4@laneid] + -5 + 0@warpid",
    "S[()] + R[(2, 2) : (3, 1@TLane)]",
    "ComposeLayout(3, 3, 3, S[(8, 64) : (64, 1)])",
    "ComposeLayout(3, 2, 3, S[(8, 64) : (64, 1)] + 8, swizzle_inner=False)",
    'S[(Dim("M", multiple_of=8)//8, 8) : (512, 64)]',
    'S[8 : 1] + (Dim("M") - 1)',
    'S[8 : (Dim("K") + 2)@TCol] + 3*Dim("K")@laneid',
)


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_canonical(text):
    layout = parse(text)
    assert str(layout) == repr(layout) == notation(layout) == text


def test_the_text_is_python():
    """Every text, run as Python, makes the same layout: the grammar is Python's."""
    names = {axis.name: axis for axis in Axis.registered()}
    names |= {"S": S, "R": R, "Dim": Dim, "ComposeLayout": ComposeLayout}
    for seed in range(300):
        layout = built(random_layout(random.Random(seed), max_places=200))
        made = eval(str(getattr(layout, "tile_layout", layout)), names)
        assert TileLayout(made) == getattr(layout, "tile_layout", layout)


def test_a_spec_shows_itself():
    assert repr(S[(8, 4) : (4 @ laneid, 1)] + 5) == "S[(8, 4) : (4@laneid, 1)] + 5"
    assert repr(S[4 : 1 @ reg] + 2) == "S[4 : 1] + 2"  # no error where it is only shown
    assert repr(S) == "S"
