"""Layouts: what people call, held against brute force and against what the texts say."""

import itertools
import pickle
import random
from math import prod

import pytest
from hypothesis import given

from layout_algebra import layouts as layouts_module
from layout_algebra.arithmetic.integers import values_of
from layout_algebra.axes import TCol, TLane, laneid, m, warpid
from layout_algebra.dims import Dim, evaluate
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.notation import R, S
from layout_algebra.tracing import Traced
from layout_algebra.values import Iter, Swizzle, Tile
from tests import bruteforce as bf
from tests.building import built
from tests.generators import layouts, random_layout

# fmt: off
FRAGMENT = TileLayout(
    S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid
)
# fmt: on


def nonzero(place):
    return bf.make_place(place)


def random_layouts(count, **options):
    for seed in range(count):
        rng = random.Random(seed)
        plain = random_layout(rng, **({"max_places": 600} | options))
        yield seed, rng, plain, built(plain)


def random_shape(rng, size):
    """A shape of that many elements."""
    shape = []
    while size > 1 and len(shape) < 4:
        factor = rng.choice([d for d in range(1, size + 1) if size % d == 0])
        shape.append(factor)
        size //= factor
    return (*shape, size)


# ---------------------------------------------------------------- against brute force


def test_apply_in_its_three_forms():
    for seed, rng, plain, layout in random_layouts(1200):
        size = bf.size(plain)
        assert layout.size() == size
        shape = random_shape(rng, size)
        named = {axis for _, _, axis in plain.shard} | dict(plain.offset).keys()
        named |= {"m"} if plain.swizzle else set()
        for flat in {0, size - 1, rng.randrange(size), rng.randrange(size)}:
            place = layout.apply(flat)
            assert nonzero(place) == bf.base_place(plain, flat), (seed, flat)
            assert set(place) == named, seed
            digits = bf.digits(flat, [e for e, _, _ in plain.shard])
            if len(digits) != 1:
                assert layout.apply(*digits) == place, (seed, digits)
            coordinate = bf.digits(flat, list(shape))
            assert layout.apply(*coordinate, shape=shape) == place, (seed, shape, coordinate)


def test_the_direct_loop_is_the_definition():
    """`apply` on ints has a loop of its own: the terms of the Map say the same."""
    for seed, rng, _, layout in random_layouts(800):
        whole = layout.map()
        flat = rng.randrange(layout.size())
        digits = bf.digits(flat, list(layout.extents))
        assert nonzero(layout.apply(flat)) == nonzero(whole.apply(*digits)), (seed, flat)


def test_places_are_all_copies():
    for seed, rng, plain, layout in random_layouts(1000):
        flat = rng.randrange(bf.size(plain))
        places = layout.places(flat)
        assert len(places) == len({nonzero(place) for place in places}), seed
        assert {nonzero(place) for place in places} == bf.places(plain, flat), (seed, flat)
        shape = random_shape(rng, bf.size(plain))
        assert layout.places(*bf.digits(flat, list(shape)), shape=shape) == places


def test_table_is_apply_everywhere():
    for seed, rng, plain, layout in random_layouts(600):
        size = bf.size(plain)
        shape = random_shape(rng, size) if rng.random() < 0.7 else None
        table = layout.table(shape)
        extents = shape if shape is not None else tuple(layout.extents)
        copies = tuple(e for e, _, _ in plain.replica)
        flats = {axis: array.reshape(size, -1) for axis, array in table.items()}
        for axis, array in table.items():
            assert array.shape == extents + copies, (seed, axis)
        for flat in {0, size - 1, rng.randrange(size)}:
            found = {
                nonzero({axis: int(array[flat, copy]) for axis, array in flats.items()})
                for copy in range(prod(copies))
            }
            assert found == bf.places(plain, flat), (seed, flat)


def test_map_over_the_first_elements():
    """A shape may have fewer elements than the layout: then they are the first ones."""
    for seed, rng, plain, layout in random_layouts(300):
        shape = random_shape(rng, rng.randint(1, bf.size(plain)))
        made = layout.map(shape)
        points = list(itertools.product(*(range(extent) for extent in shape)))
        for flat in {0, len(points) - 1, rng.randrange(len(points))}:
            places = {nonzero(place) for place in made.places(*points[flat])}
            assert places == bf.places(plain, flat), (seed, shape, flat)


def test_span_width_and_size():
    for seed, _, plain, layout in random_layouts(1000):
        for axis in {*bf.axes(plain), "m", "warpid"}:
            assert layout.span(axis) == bf.span(plain, axis), (seed, axis)
            assert layout.width(axis) == bf.width(plain, axis), (seed, axis)
            if plain.swizzle is None:
                expected = prod(e for e, _, on in plain.shard if on == axis)
                assert layout.size(axis) == expected, (seed, axis)
        memory = [axis for axis in layout.axes if axis.is_memory]
        if len(memory) == 1:
            assert layout.span() == layout.span(memory[0])
            assert layout.width() == layout.width(memory[0])
        elif not memory:
            assert layout.span() == layout.width() == 1
        else:
            with pytest.raises(LayoutError, match="several memory axes"):
                layout.span()


@given(layouts(max_places=200))
def test_any_layout(plain):
    layout = built(plain)
    for flat in range(bf.size(plain)):
        assert nonzero(layout.apply(flat)) == bf.base_place(plain, flat)
        assert {nonzero(place) for place in layout.places(flat)} == bf.places(plain, flat)


def test_the_comparison_can_fail(monkeypatch):
    """A loop that forgets the offset is noticed."""
    whole = layouts_module._apply_flat

    def forgetful(layout, flat):
        bare = TileLayout.from_iters(layout.affine.shard)
        return whole(bare, flat)

    monkeypatch.setattr(layouts_module, "_apply_flat", forgetful)
    wrong = 0
    for _, _, plain, layout in random_layouts(100):
        wrong += nonzero(layout.apply(0)) != bf.base_place(plain, 0)
    assert wrong > 20


# ------------------------------------------------------------------------ symbolic sizes


def symbolic_layout(rng):
    """A layout with Dims, and values for them."""
    dims = [Dim("M", at_least=1), Dim("N", multiple_of=4, at_least=4), Dim("s")]
    values = {"M": rng.randint(1, 4), "N": 4 * rng.randint(1, 3), "s": rng.randint(0, 9)}
    sizes = [dims[0], dims[1], dims[1] // 4, 2, 3, 1]
    extents = [rng.choice(sizes) for _ in range(rng.randint(1, 4))]
    strides, below = [], 1
    for extent in reversed(extents):
        strides.append(rng.choice((below, below, 1, dims[2], dims[2] * dims[0] - 3, 0)))
        below = below * extent
    iters = [
        (extent, stride, rng.choice(("m", "m", "laneid", "TCol")))
        for extent, stride in zip(extents, reversed(strides), strict=True)
    ]
    replica = [(rng.choice(sizes), dims[2], "m")] if rng.random() < 0.3 else []
    offset = {"m": dims[2] + dims[0] * 2} if rng.random() < 0.4 else {}
    layout = TileLayout.from_iters(iters, replica, offset)
    if rng.random() < 0.3:
        layout = ComposeLayout(1, 2, 2, layout, rng.random() < 0.5)
    return layout, values


def concrete(value, values):
    """A number, a size or a traced place, at a point."""
    if isinstance(value, Traced):
        return values_of([value.term], {}, values)[0]
    return evaluate(value, values)


def test_symbolic_layouts_at_points():
    for seed in range(250):
        rng = random.Random(seed)
        layout, values = symbolic_layout(rng)
        fixed = layout.evaluated(**values)
        assert not fixed.is_symbolic
        assert type(fixed) is type(layout)
        assert evaluate(layout.size(), values) == fixed.size()
        expected = fixed.map()
        made = layout.map().evaluated(**values)
        for point in itertools.islice(expected.points(), 40):
            numbers = tuple(point.values())
            assert made.places(*numbers) == expected.places(*numbers), (seed, numbers)


def test_symbolic_layouts_over_a_shape():
    for seed in range(300):
        rng = random.Random(seed)
        layout, values = symbolic_layout(rng)
        shape = rng.choice(
            ([layout.size()], [1, layout.size()], [layout.extents[0], prod(layout.extents[1:])])
        )
        made = layout.map(shape).evaluated(**values)
        fixed = layout.evaluated(**values)
        for flat, point in enumerate(itertools.islice(made.points(), 40)):
            found = {nonzero(place) for place in made.places_at(point)}
            assert found == {nonzero(place) for place in fixed.places(flat)}, (seed, shape, flat)


def test_symbolic_apply_at_points():
    for seed in range(300):
        layout, values = symbolic_layout(random.Random(seed))
        fixed = layout.evaluated(**values)
        assert {a: concrete(v, values) for a, v in layout.apply(0).items()} == fixed.apply(0)
        last = tuple(extent - 1 for extent in layout.extents)
        if len(last) > 1:
            place = {axis: concrete(value, values) for axis, value in layout.apply(*last).items()}
            assert place == fixed.apply(fixed.size() - 1), seed


def traced(layout, size, shape):
    """The layout over a shape and over its flat index, by tracing calls of `apply`."""
    by_shape = Map.of(lambda i, j: layout.apply(i, j, shape=shape), shape)
    return by_shape, Map.of(lambda flat: layout.apply(flat), (size,))


def test_traced_coordinates():
    for seed, rng, plain, layout in random_layouts(200):
        size = bf.size(plain)
        rows = random_shape(rng, size)[0]
        by_shape, flat = traced(layout, size, (rows, size // rows))
        for index in {0, size - 1, rng.randrange(size)}:
            expected = bf.base_place(plain, index)
            assert nonzero(by_shape.apply(*divmod(index, size // rows))) == expected, (seed, index)
            assert nonzero(flat.apply(index)) == expected, (seed, index)
    with pytest.raises(CoordinateError, match="places needs numbers; got c0 = i"):
        Map.of(lambda i: TileLayout(S[8]).map().places(i), (8,))


def test_spans_of_symbolic_layouts():
    M = Dim("M", at_least=1)
    assert TileLayout(S[M, 64]).span() == 64 * M
    assert TileLayout(S[(M, 4) : (-4, 1)]).width() == 4 * M
    assert TileLayout(S[M:M] + 3).span("m") == M * M - M + 4
    assert TileLayout(S[M, 64]).size("m") == 64 * M


# ------------------------------------------------------------------------ what texts say


def test_the_fragment_of_the_chapter():
    place = {"laneid": 5, "warpid": 5, "m": 1}
    assert FRAGMENT.apply(1, 3, shape=(8, 16)) == place
    assert FRAGMENT.apply(1, 3, shape=[8, 16]) == place
    assert FRAGMENT.apply(19) == place
    assert FRAGMENT.apply(1, 0, 1, 1) == place
    assert FRAGMENT.places(1, 3, shape=(8, 16)) == [place, place | {"warpid": 9}]
    for i in range(8):
        for j in range(16):
            expected = {"laneid": 4 * i + j // 2 % 4, "warpid": j // 8 + 5, "m": j % 2}
            assert FRAGMENT.apply(i, j, shape=(8, 16)) == expected
    warps = {p["warpid"] for flat in range(128) for p in FRAGMENT.places(flat)}
    assert warps == {5, 6, 9, 10}


def test_the_formula_reads_as_the_chapter_writes_it():
    bare = TileLayout.from_iters(FRAGMENT.shard)
    assert str(bare.formula(shape=(8, 16))) == (
        "laneid = 4*i + floor(j/2) mod 4\n"
        "warpid = floor(j/8)\n"
        "m      = j mod 2"
    )  # fmt: skip
    assert "warpid = floor(j/8) + 4*r0 + 5" in str(FRAGMENT.formula(shape=(8, 16)))


def test_tensor_memory_of_the_chapter():
    layout = TileLayout(S[(2, 128, 112) : (112 @ TCol, 1 @ TLane, 1 @ TCol)])
    for a in range(2):
        for lane in (0, 5, 127):
            for c in (0, 50, 111):
                assert layout.apply(a, lane, c) == {"TCol": 112 * a + c, "TLane": lane}
    assert layout.span(TCol) == 224
    assert layout.span(TLane) == 128


def test_scale_factors_of_the_chapter():
    scale = TileLayout(S[(32, 4) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane])
    assert scale.places(7, 2, shape=(32, 4)) == [{"TLane": 7 + 32 * q, "TCol": 2} for q in range(4)]
    symbolic = TileLayout(S[(32, Dim("sf", at_least=1)) : (1 @ TLane, 1 @ TCol)])
    assert symbolic.apply(7, 0) == {"TLane": 7, "TCol": 0}


def test_the_swizzle_of_the_chapter():
    tile = TileLayout(S[(8, 64) : (64 @ m, 1 @ m)])
    layout = ComposeLayout(per_element=3, swizzle_len=3, atom_len=3, tile_layout=tile)
    for i in range(8):
        for j in range(64):
            expected = 64 * i + 8 * (j // 8 ^ i) + j % 8
            assert layout.apply(i, j, shape=(8, 64)) == {"m": expected}
    column = [layout.apply(i, 0)["m"] for i in range(8)]
    assert column == [72 * i for i in range(8)]
    assert [address // 2 % 32 for address in column] == [0, 4, 8, 12, 16, 20, 24, 28]
    assert layout.apply(1, 0, shape=(8, 64)) == {"m": 72}
    assert tile.apply(1, 0, shape=(8, 64)) == {"m": 64}


def test_the_guide():
    fragment = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
    assert fragment.apply(3, 2, shape=(32, 4)) == {"laneid": 3, "m": 2}
    copied = TileLayout(S[(32, 4) : (1 @ laneid, 1)] + R[2 : 1 @ warpid])
    assert {place["warpid"] for place in copied.places(3, 2)} == {0, 1}
    assert copied.apply(3, 2) == {"laneid": 3, "m": 2}  # never an axis of copies only
    shifted = TileLayout(S[(32, 4) : (1 @ laneid, 1)] + 4)
    assert {shifted.apply(flat)["m"] for flat in range(128)} == {4, 5, 6, 7}


# ------------------------------------------------------------------------------- values


def test_layouts_are_values():
    for seed, _, _, layout in random_layouts(200):
        copy = pickle.loads(pickle.dumps(layout))
        assert copy == layout, seed
        assert hash(copy) == hash(layout)
        assert type(copy) is type(layout)
    assert TileLayout(S[8]) != TileLayout(S[8] + 0)  # as values, not as maps
    assert TileLayout(S[8]) != ComposeLayout(0, 0, 0, TileLayout(S[8]))
    with pytest.raises(AttributeError):
        TileLayout(S[8]).shard = ()


def test_parts():
    assert FRAGMENT.shard[1] == Iter(2, 1, warpid)
    assert FRAGMENT.shard[1].extent == 2
    assert FRAGMENT.replica == ((2, 4, warpid),)
    assert FRAGMENT.offset == {warpid: 5}
    assert FRAGMENT.axes == (laneid, warpid, m)
    composed = ComposeLayout(3, 2, 4, TileLayout(S[8] + 1), swizzle_inner=False)
    assert (composed.per_element, composed.swizzle_len, composed.atom_len) == (3, 2, 4)
    assert not composed.swizzle_inner
    assert composed.tile_layout == TileLayout(S[8] + 1)
    assert composed.swizzle == Swizzle(3, 2, 4, False)
    same = TileLayout.from_iters(FRAGMENT.shard, FRAGMENT.replica, FRAGMENT.offset)
    assert same == FRAGMENT


def test_rebuilding_keeps_the_class():
    class Mine(TileLayout):
        pass

    mine = Mine(S[(8, 4) : (4 @ laneid, 1)])
    assert type(mine.rebuild(mine.shard[:1])) is Mine
    assert type(mine.evaluated()) is Mine
    assert type(TileLayout(S[8]).rebuild(())) is TileLayout
    assert type(Tile((Iter(8, 1, m),)).rebuild(())) is Tile
    composed = ComposeLayout(0, 1, 1, mine)
    assert type(composed.with_tile(mine.rebuild(()))) is ComposeLayout


def test_the_end_of_a_swizzled_layout_is_no_end_of_its_tile():
    """Both ends of the tile are ends of swizzle periods, but it has holes: its top place moves."""
    for shard in [((2, 15, "m"),), ((2, 15, "m"), (3, 16, "m")), ((4, 4, "m"), (2, 3, "m"))]:
        plain = bf.Plain(shard, swizzle=(0, 2, 2, True))
        assert built(plain).span() == bf.span(plain, "m")
        assert built(plain).width() == bf.width(plain, "m")


def test_an_empty_layout_has_one_element():
    empty = TileLayout(S[()] + 3 @ laneid)
    assert empty.size() == 1
    assert empty.apply() == empty.apply(0) == {"laneid": 3}
    assert ComposeLayout(0, 1, 1, TileLayout(S[()])).apply(0) == {"m": 0}
    with pytest.raises(CoordinateError, match=r"index 1 is outside 0\.\.0"):
        empty.apply(1)


def test_a_swizzle_is_what_brute_force_says():
    for p, b, a in itertools.product(range(4), range(4), range(5)):
        for inner in (True, False):
            swizzle = Swizzle(p, b, a, inner)
            block = range(-64, swizzle.period + 64)
            images = [swizzle(x) for x in block]
            assert images == [bf.swizzled(x, (p, b, a, inner)) for x in block]
            period = range(swizzle.period)
            assert swizzle.is_bijection == (sorted(swizzle(x) for x in period) == list(period))
            if swizzle.is_involution:
                assert all(swizzle(y) == x for x, y in zip(block, images, strict=True))
            assert all(y % (1 << p) == x % (1 << p) for x, y in zip(block, images, strict=True))
            assert swizzle.outer_mask == swizzle.inner_mask << a
