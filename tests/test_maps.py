"""Maps: made, fed into each other, restricted, evaluated; and stored."""

import pickle

import numpy as np
import pytest

from layout_algebra import folding, terms
from layout_algebra.axes import laneid
from layout_algebra.dims import Dim
from layout_algebra.errors import CoordinateError, DimError, TraceError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map, shape_coordinates, unique_places
from layout_algebra.notation import R, S
from layout_algebra.tracing import Traced

M = Dim("M", multiple_of=4, at_least=4)
FRAGMENT = Map.of(lambda i, j: {"laneid": 4 * i + j // 2 % 4, "m": j % 2}, (8, 16))
COPIED = TileLayout(S[(4, 2) : (2, 1)] + R[2 : 8] + 3).map((8,))  # fmt: skip
# What is no layout is a map all the same: an access, an inverse, a formula.
ACCESS = Map.of(lambda lane, j: (lane % 8) * 72 + j + 8 * (lane // 8), {"lane": 32, "j": (0, 7)})
INVERSE = Map.of(lambda m: {"index": m // 2 + 8 * (m % 2)}, {"m": 16})


def all_places(map_, dims=None):
    """Coordinates -> the set of places, zeros left out."""
    return {
        tuple(point.values()): {
            tuple(sorted((axis, n) for axis, n in place.items() if n))
            for place in map_.places_at(point, dims)
        }
        for point in map_.points(dims)
    }


# ------------------------------------------------------------------------------- making


def test_a_callable_is_called_once():
    calls = []

    def formula(i, j):
        calls.append((i, j))
        return i + j

    made = Map.of(formula, (4, 8))
    assert len(calls) == 1
    assert isinstance(calls[0][0], Traced)
    assert made.apply(3, 5) == {"m": 8}
    assert made.extents == (4, 8)


def test_coordinates_from_a_mapping():
    made = Map.of(lambda lane, j: lane + j, {"j": (-2, 5), "lane": M})
    assert [v.name for v in made.coordinates] == ["lane", "j"]
    assert [(v.low, v.high) for v in made.coordinates] == [(0, M - 1), (-2, 5)]
    assert made.extents == (M, 8)
    assert made.size == 8 * M


def test_layouts_and_maps_are_sources():
    layout = TileLayout(S[(8, 4) : (4 @ laneid, 1)])
    assert Map.of(layout) == layout.map()
    assert Map.of(layout, (32,)) == layout.map((32,))
    assert Map.of(FRAGMENT) is FRAGMENT


def test_outputs():
    made = Map.of(lambda i: {laneid: i % 4, "reg": i // 4}, (8,))
    assert made.axes == ("laneid", "m")
    assert made.output("warpid") is terms.const(0)
    assert Map.of(lambda i: 3 * i, (8,)).axes == ("m",)


def test_a_layout_inside_a_formula():
    layout = ComposeLayout(0, 2, 2, TileLayout(S[(4, 4) : (4, 1)]))
    by_column = Map.of(lambda c, r: layout.apply(r, c, shape=(4, 4)), (4, 4))
    for c in range(4):
        for r in range(4):
            assert by_column.apply(c, r) == layout.apply(r, c)


def test_branching_is_refused_and_says_so():
    with pytest.raises(TraceError, match=r"branches on a symbol \(i - 3 >= 0\); write it with"):
        Map.of(lambda i: i if i > 2 else 0, (8,))


# ---------------------------------------------------------------------------- the domain


def test_guard():
    below = Map.of(lambda i, j: 4 * i + j, (4, 4), where=lambda i, j: (j < i) & (i != 3))
    inside = {(i, j) for i in range(4) for j in range(4) if j < i and i != 3}
    assert set(all_places(below)) == inside
    assert below.size == 16  # before the guard
    assert below.apply(2, 1) == {"m": 9}
    with pytest.raises(CoordinateError, match=r"\(i=1, j=1\) is outside the map's domain: "):
        below.apply(1, 1)
    with pytest.raises(CoordinateError, match="outside the map's domain"):
        below.places(3, 0)


def test_fixed_coordinates():
    row = FRAGMENT.fixed(i=3)
    assert [v.name for v in row.coordinates] == ["j"]
    assert all(row.apply(j) == FRAGMENT.apply(3, j) for j in range(16))
    assert FRAGMENT.fixed(i=3, j=5).apply() == FRAGMENT.apply(3, 5)
    guarded = Map.of(lambda i, j: i + j, (4, 4), where=lambda i, j: i + j < 4).fixed(i=2)
    assert set(all_places(guarded)) == {(0,), (1,)}


def test_flat_index():
    shifted = Map.of(lambda i, j: i, {"i": (2, 4), "j": (-1, 2)})
    (flat,) = {shifted.index}
    numbers = [folding.substitute(flat, consts(point)).fields[0] for point in shifted.points()]
    assert numbers == list(range(12))


def consts(point):
    return {variable: terms.const(value) for variable, value in point.items()}


# --------------------------------------------------------------------------- composition


def composed(outer, inner):
    """What outer.after(inner) is, by enumeration, when outer takes one index."""
    expected = {}
    for x, places in all_places(inner).items():
        found = set()
        for place in places:
            index = dict(place).get("m", 0)
            point = next(itertools_point(outer, index))
            found |= {
                tuple(sorted((axis, n) for axis, n in p.items() if n))
                for p in outer.places_at(point)
            }
        expected[x] = found
    return expected


def itertools_point(map_, index):
    for number, point in enumerate(map_.points()):
        if number == index:
            yield point


def test_after_matches_names():
    back = Map.of(lambda laneid, m: {"m": 2 * laneid + m}, {"laneid": 32, "m": 2})
    both = back.after(FRAGMENT)
    assert [v.name for v in both.coordinates] == ["i", "j"]
    for i in range(8):
        for j in range(16):
            place = FRAGMENT.apply(i, j)
            assert both.apply(i, j) == {"m": 2 * place["laneid"] + place["m"]}


def test_after_feeds_a_flat_index():
    inner = Map.of(lambda i: (3 * i) % 16, (16,))
    outer = TileLayout(S[(4, 4) : (1, 4)] + R[2 : 16]).map()  # fmt: skip
    assert all_places(outer.after(inner)) == composed(outer, inner)


def test_after_keeps_copies_apart():
    """Copies of copies of copies: each kind has variables of its own, whatever they are called."""
    step = TileLayout(S[8] + R[2 : 1]).map((8,))  # fmt: skip
    wide = TileLayout(S[16] + R[2 : 4]).map((16,))  # fmt: skip
    widest = TileLayout(S[32] + R[2 : 16]).map((32,))  # fmt: skip
    chain = widest.after(wide.after(step))
    assert len({variable.name for variable in chain.replicas}) == 3
    assert all_places(chain)[(2,)] == {
        (("m", 2 + a + b + c),) for a in (0, 1) for b in (0, 4) for c in (0, 16)
    }


def test_after_keeps_guards():
    inner = Map.of(lambda i: i, (8,), where=lambda i: i >= 2)
    outer = Map.of(lambda i: 10 * i, (8,), where=lambda i: i < 5)
    assert set(all_places(outer.after(inner))) == {(2,), (3,), (4,)}
    assert outer.after(inner).apply(3) == {"m": 30}


def test_after_refuses_other_names():
    with pytest.raises(
        CoordinateError, match=r"coordinates \(i, j\) cannot be fed from places on "
    ):
        FRAGMENT.after(FRAGMENT)


def test_renamed():
    other = COPIED.renamed("_b")
    assert not {v.name for v in other.coordinates} & {v.name for v in COPIED.coordinates}
    assert list(all_places(other).values()) == list(all_places(COPIED).values())


# ---------------------------------------------------------------------------- evaluation


def test_evaluated():
    made = Map.of(lambda i, j: {"m": M * i + j, "bank": (M * i + j) // 2 % M}, (M // 4, M))
    assert made.is_symbolic
    assert {symbol.name for symbol in made.symbols()} == {"M"}
    for m in (4, 8, 12):
        fixed = made.evaluated(M=m)
        assert not fixed.is_symbolic
        assert fixed.extents == (m // 4, m)
        expected = {
            (i, j): {"m": m * i + j, "bank": (m * i + j) // 2 % m}
            for i in range(m // 4)
            for j in range(m)
        }
        assert {tuple(p.values()): fixed.apply(*p.values()) for p in fixed.points()} == expected
        assert all_places(made, {"M": m}) == all_places(fixed)
    with pytest.raises(DimError, match="no value given for Dim 'M'"):
        made.evaluated(N=4)
    with pytest.raises(
        DimError, match=r'6 is not a value of Dim\("M", multiple_of=4, at_least=4\)'
    ):
        made.evaluated(M=6)


def test_symbolic_maps_apply_to_symbolic_places():
    made = Map.of(lambda i: M * i + 1, (M,))
    assert made.apply(2) == {"m": 2 * M + 1}
    assert made.apply(i=M - 1) == {"m": M * M - M + 1}
    with pytest.raises(CoordinateError, match=r"i = M is outside 0\.\.M - 1"):
        made.apply(M)


@pytest.mark.parametrize("map_", [FRAGMENT, ACCESS, INVERSE, COPIED], ids="fAIc")
def test_table_is_every_element_at_once(map_):
    table = map_.table()
    assert set(table) == set(map_.axes)
    rank = len(map_.coordinates)
    for array in table.values():
        assert array.dtype == np.int64
        assert array.shape[:rank] == map_.extents
    for point in map_.points():
        index = tuple(value - int(v.low) for v, value in point.items())
        first = index + (0,) * len(map_.replicas)
        assert {axis: int(table[axis][first]) for axis in table} == map_.apply(*point.values())
        places = {tuple(table[axis][index].ravel().tolist()) for axis in table}
        for axis, array in table.items():
            expected = {place[axis] for place in map_.places_at(point)}
            assert set(array[index].ravel().tolist()) == expected
        assert places


def test_table_needs_bounds_and_numbers():
    with pytest.raises(CoordinateError, match="coordinate i has no bounds"):
        Map.of(lambda i: i, (None,)).table()
    with pytest.raises(CoordinateError, match="a table needs numbers for the sizes"):
        Map.of(lambda i: M * i, (4,)).table()


def test_places():
    assert COPIED.places(5) == [{"m": 8}, {"m": 16}]
    assert COPIED.places(i=0) == [{"m": 3}, {"m": 11}]
    assert COPIED.copies == 2
    still = TileLayout(S[4] + R[3 : 0]).map()  # fmt: skip
    assert still.places(2) == [{"m": 2}]  # the same place three times
    assert still.copies == 3


def test_unique_places_ignore_zeros():
    places = [{"m": 1, "laneid": 0}, {"m": 1}, {"laneid": 1}, {"m": 0, "laneid": 1}]
    assert unique_places(places) == [{"m": 1, "laneid": 0}, {"laneid": 1}]


def test_apply_by_position_and_name():
    assert FRAGMENT.apply(1, j=3) == FRAGMENT.apply(1, 3) == FRAGMENT.apply(j=3, i=1)
    with pytest.raises(CoordinateError, match="two values for coordinate i: 1, 2"):
        FRAGMENT.apply(1, 3, i=2)
    with pytest.raises(CoordinateError, match="3 coordinates for a map of 2"):
        FRAGMENT.apply(1, 2, 3)


# ------------------------------------------------------------------------------- values


@pytest.mark.parametrize("map_", [FRAGMENT, ACCESS, INVERSE, COPIED], ids="fAIc")
def test_maps_are_values(map_):
    copy = pickle.loads(pickle.dumps(map_))
    assert copy == map_
    assert hash(copy) == hash(map_)
    assert all(a is b for a, b in zip(copy.all_terms(), map_.all_terms(), strict=True))


def test_text():
    assert str(FRAGMENT) == "(i, j) -> {laneid = 4*i + floor(j/2) mod 4, m = j mod 2}"
    copied = TileLayout(S[8] + R[2 : 8] + 3).map()  # fmt: skip
    assert str(copied) == "(c0) -> {m = c0 + 8*r0 + 3}, r0 < 2"
    guarded = Map.of(lambda i: i, (8,), where=lambda i: i < 3)
    assert str(guarded) == "(i) -> {m = i} where -i + 2 >= 0"


def test_formula_is_the_closed_form():
    formula = FRAGMENT.formula()
    assert str(formula) == "laneid = 4*i + floor(j/2) mod 4\nm      = j mod 2"
    for i in range(8):
        for j in range(16):
            values = {s: {"i": i, "j": j}[s.name] for f in formula.values() for s in f.free_symbols}
            numbers = {axis: int(f.subs(values)) for axis, f in formula.items()}
            assert numbers == FRAGMENT.apply(i, j)
    assert formula.latex().startswith(r"\begin{aligned}\mathrm{laneid} &= ")


def test_shape_coordinates():
    assert [v.name for v in shape_coordinates((2, 3))] == ["i", "j"]
    assert [v.name for v in shape_coordinates((2, 3, 4))] == ["i", "j", "k"]
    assert [v.name for v in shape_coordinates((2,) * 4)] == ["i0", "i1", "i2", "i3"]
