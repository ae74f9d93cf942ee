"""`pack_array` and `unpack_array`: arrays in their physical arrangement, element by element."""

from __future__ import annotations

import random

import numpy as np
import pytest

from layout_algebra import (
    Axis,
    Bank,
    ComposeLayout,
    F,
    P,
    R,
    S,
    TCol,
    TileLayout,
    TLane,
    laneid,
    tid_in_wg,
    warpid,
)
from layout_algebra import hardware as hw
from layout_algebra.errors import LayoutError
from tests import bruteforce as bf
from tests.building import built
from tests.generators import random_layout

ROWS = TileLayout(S[(32, 4) : (1 @ laneid, 1)])


def packed_by_hand(layout, array, fill):
    """Place by place, from `places`."""
    axes = layout.packed_axes()
    places = {
        index: [tuple(place[axis] for axis in axes) for place in layout.places(flat)]
        for flat, index in enumerate(np.ndindex(*array.shape))
    }
    sizes = [1 + max(p[k] for own in places.values() for p in own) for k in range(len(axes))]
    made = np.full(sizes, fill, dtype=array.dtype)
    for index, own in places.items():
        for place in own:
            made[place] = array[index]
    return made


def test_the_guides_fragment():
    """Lane i holds row i: the array as it is."""
    array = np.arange(128, dtype=np.float32).reshape(32, 4)
    made = ROWS.pack_array(array)
    assert made.dtype == np.float32
    assert (made == array).all()
    assert (ROWS.unpack_array(made, (32, 4)) == array).all()
    assert ROWS.unpack_array(made).shape == (32, 4)


def test_random_layouts_there_and_back():
    rng = random.Random(3)
    done = 0
    while done < 200:
        plain = random_layout(rng, max_places=300)
        layout = built(plain)
        places = [place for own in bf.table(plain) for place in own]
        if not places or any(number < 0 for place in places for _, number in place):
            continue
        array = np.arange(1, layout.size() + 1)
        by_place: dict = {}
        for value, own in zip(array, bf.table(plain), strict=True):
            for place in own:
                by_place.setdefault(place, set()).add(int(value))
        if any(len(values) > 1 for values in by_place.values()):
            with pytest.raises(LayoutError, match="another element has the place of element"):
                layout.pack_array(array)
            made = layout.pack_array(np.full(layout.size(), 7))
            assert (layout.unpack_array(made, (layout.size(),)) == 7).all()
            continue
        made = layout.pack_array(array, fill=-1)
        if layout.packed_axes():
            assert (made == packed_by_hand(layout, array, -1)).all()
        assert (layout.unpack_array(made, (layout.size(),)) == array).all()
        done += 1


def test_swizzled_tiles_and_fragments():
    halves = np.arange(512, dtype=np.float16).reshape(8, 64)
    tile = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
    made = tile.pack_array(halves)
    assert made[72] == halves[1, 0]
    assert (tile.unpack_array(made, (8, 64)) == halves).all()
    for entry in (hw.mma("m16n8k16", "float16").A, hw.wgmma(16, "float16").D):
        array = np.arange(entry.layout.size()).reshape(entry.shape)
        made = entry.layout.pack_array(array)
        assert (made == packed_by_hand(entry.layout, array, 0)).all()
        assert (entry.layout.unpack_array(made, entry.shape) == array).all()


def test_all_copies_are_written_and_have_to_agree():
    twice = TileLayout(
        S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid]
    )
    array = np.arange(128).reshape(8, 16)
    made = twice.pack_array(array, fill=-1)
    assert made.shape == (6, 32, 2)
    assert (made[:2] == made[4:]).all()
    assert (made[2:4] == -1).all()
    made[5, 3, 1] += 1
    with pytest.raises(LayoutError, match=r"copies of element \(0, 15\) differ: 15 and 16"):
        twice.unpack_array(made, (8, 16))


def test_owners_come_first_the_widest_before_the_others():
    device = Axis("gpuid_of_packing", kind="device")
    layout = TileLayout(S[(2, 2, 2, 2) : (1, 1 @ laneid, 1 @ warpid, 1 @ device)])
    assert layout.packed_axes() == ("gpuid_of_packing", "warpid", "laneid", "m")
    assert TileLayout(S[(4, 4) : (1 @ TCol, 1 @ TLane)]).packed_axes() == ("TLane", "TCol")
    psum = TileLayout(S[(2, 2, 2) : (1 @ F, 1 @ P, 1 @ Bank)])
    assert psum.packed_axes() == ("Bank", "P", "F")


def test_not_a_number_is_itself():
    array = np.full((32, 4), np.nan, dtype=np.float32)
    twice = TileLayout(S[(32, 4) : (1 @ laneid, 1)] + R[2 : 1 @ warpid])
    assert np.isnan(twice.unpack_array(twice.pack_array(array), (32, 4))).all()


def test_larger_arrays_and_fill():
    made = TileLayout(S[(16, 2) : (1 @ laneid, 2)]).pack_array(
        np.ones((16, 2), dtype=np.int8), extents={"laneid": 32, "m": 4}, fill=9
    )
    assert made.shape == (32, 4)
    assert (made[:16, ::2] == 1).all()
    assert (made[16:] == 9).all()
    assert (made[:, 1::2] == 9).all()


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: ROWS.pack_array(np.zeros(3)), r"pack_array: 128 elements .*; got \(3,\)"),
        (
            lambda: ROWS.pack_array(np.zeros((32, 4)), extents={"laneid": 16}),
            "places on laneid are 0 to 31, and the array has 16 of them",
        ),
        (
            lambda: ROWS.pack_array(np.zeros((32, 4)), extents={"lane": 32}),
            r"no axis 'lane'; there is \(laneid, m\)",
        ),
        (lambda: TileLayout(S[4:-1]).pack_array(np.zeros(4)), "places on m are -3 to 0"),
        (
            lambda: TileLayout(S[(2, 4) : (0, 1)]).pack_array(np.arange(8)),
            r"place of element \(0,\), m=0, and another value",
        ),
        (lambda: ROWS.unpack_array(np.zeros((32, 3))), "places on m are 0 to 3, and the array"),
        (lambda: ROWS.unpack_array(np.zeros(128)), r"each of \(laneid, m\); got shape \(128,\)"),
        (lambda: ROWS.unpack_array(np.zeros((32, 4)), (3,)), r"128 elements .*got shape \(3,\)"),
        (
            lambda: TileLayout(S[4 : 1 << 40]).pack_array(np.zeros(4)),
            "an array of 3298534883329 places is too large",
        ),
    ],
)
def test_what_is_refused(ask, says):
    with pytest.raises(LayoutError, match=says):
        ask()


def test_values_with_parts_that_are_no_numbers():
    pair = [("a", "i4"), ("b", "f4")]
    both = TileLayout(S[2:0])
    with pytest.raises(LayoutError, match="another value"):
        both.pack_array(np.array([(1, np.nan), (2, np.nan)], pair))
    same = both.pack_array(np.array([(1, np.nan), (1, np.nan)], pair))
    assert same["a"].tolist() == [1]
    copied = TileLayout(S[1:1] + R[2 : 1 @ laneid])
    with pytest.raises(LayoutError, match="copies of element"):
        copied.unpack_array(np.array([[complex(1, np.nan)], [complex(2, np.nan)]]), (1,))
    alike = np.array([[complex(1, np.nan)], [complex(1, np.nan)]])
    assert copied.unpack_array(alike, (1,)).real.tolist() == [1]


def test_fillings_and_extents():
    holes = TileLayout(S[(2, 3) : (4, 1)])
    with pytest.raises(LayoutError, match="cannot be filled with nan"):
        holes.pack_array(np.zeros((2, 3), int), fill=np.nan)
    assert holes.pack_array(np.zeros((2, 3), int), extents={"m": np.int64(9)}).shape == (9,)


def test_one_place():
    assert TileLayout(S[1:1]).pack_array(5).tolist() == [5]
    warpgroup = TileLayout(S[128 : 1 @ tid_in_wg])
    assert warpgroup.pack_array(np.arange(128)).shape == (128,)
    rows = TileLayout(S[(128, 2) : (1 @ TLane, 1 @ TCol)])
    assert rows.pack_array(np.zeros((128, 2))).shape == (128, 2)
