"""Triton's linear layouts: maps, inverses and exports, compared with enumeration."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from math import prod

import pytest

from layout_algebra import ComposeLayout, Dim, S, TileLayout, laneid, tx, warpid
from layout_algebra.interop import (
    InteropError,
    LinearLayout,
    from_linear,
    tile_from_linear,
    to_linear,
)
from layout_algebra.interop.linear_export import linear_of
from layout_algebra.interop.linear_import import layout_of
from layout_algebra.interop.refusals import Exported
from layout_algebra.verdicts import Verdict
from tests import bruteforce as bf
from tests.building import built, plain_of
from tests.generators import equivalent_variant, perturbed_variant
from tests.interop import enumerated

INPUTS = {"register": "m", "lane": "laneid", "warp": "warpid"}
AXES = tuple(INPUTS.values())


# ------------------------------------------------------------------- random data


def random_bases(rng: random.Random, bits: int, out_bits: int) -> LinearLayout:
    """Any linear layout: bases drawn blindly, zero and repeated ones among them."""
    cut = sorted(rng.randint(0, bits) for _ in range(len(INPUTS) - 1))
    widths = [b - a for a, b in zip((0, *cut), (*cut, bits), strict=True)]
    first = rng.randint(0, out_bits)
    sizes = {"dim0": 1 << first, "dim1": 1 << (out_bits - first)}
    bases = {
        name: [[rng.randrange(size) for size in sizes.values()] for _ in range(width)]
        for name, width in zip(INPUTS, widths, strict=True)
    }
    return LinearLayout(bases, sizes)


def random_invertible(rng: random.Random, bits: int, steps: int) -> LinearLayout:
    """A bijection: single bits in any order, then some bases added to others."""
    columns = [1 << k for k in range(bits)]
    rng.shuffle(columns)
    for _ in range(steps):
        a, b = rng.sample(range(bits), 2)
        columns[a] ^= columns[b]
    first, second = sorted((rng.randint(0, bits), rng.randint(0, bits)))
    parts = columns[:first], columns[first:second], columns[second:]
    height = rng.randint(0, bits)
    sizes = (1 << height, 1 << (bits - height))
    bases = {
        name: [divmod(column, sizes[1]) for column in part]
        for name, part in zip(INPUTS, parts, strict=True)
    }
    return LinearLayout(bases, {"dim0": sizes[0], "dim1": sizes[1]})


def random_powers(rng: random.Random) -> bf.Plain:
    """A layout whose bits fill boxes, sometimes with copies and a swizzle: mostly linear."""
    bits = rng.randint(1, 6)
    steps: list[tuple[int, str]] = []
    taken = dict.fromkeys(AXES, 0)
    for _ in range(bits):
        axis = rng.choice(AXES)
        steps.append((1 << taken[axis], axis))
        taken[axis] += 1
    rng.shuffle(steps)
    copies = rng.choice((0, 0, 1, 2)) if bits > 2 else 0
    shard = tuple((2, step, axis) for step, axis in steps[copies:])
    replica = tuple((2, step, axis) for step, axis in steps[:copies])
    swizzle = None
    if rng.random() < 0.4:
        width = rng.randint(0, 2)
        swizzle = (rng.randint(0, 2), width, rng.randint(width, 3), rng.random() < 0.7)
    return bf.Plain(shard, replica, (), swizzle)


def random_shape(rng: random.Random, size: int) -> tuple[int, ...]:
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    first = rng.choice(divisors)
    return (first, size // first) if rng.random() < 0.7 else (size,)


def as_data(ll: LinearLayout) -> tuple[dict[str, list], dict[str, int]]:
    return {name: list(vectors) for name, vectors in ll.bases}, dict(ll.out_dims)


# ------------------------------------------------------------------- place -> element


@pytest.mark.parametrize("seed", range(4))
def test_the_map_is_the_xor_of_the_bases(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        ll = random_bases(rng, rng.randint(0, 7), rng.randint(0, 6))
        bases, sizes = as_data(ll)
        found = from_linear(ll)
        for place in enumerated.every_place(bases):
            element = dict(zip(sizes, enumerated.element_at(bases, sizes, place), strict=True))
            assert found.apply(**place) == element
            assert ll.apply(**place) == element


def test_bases_that_share_no_bit_are_one_sum() -> None:
    plain = LinearLayout({"lane": [[k] for k in (1, 2, 4, 8, 16)]}, {"dim0": 32})
    assert str(from_linear(plain)) == "(lane) -> {dim0 = lane}"
    crossed = LinearLayout({"lane": [[1], [3]]}, {"dim0": 4})
    assert "xor" in str(from_linear(crossed))


# ------------------------------------------------------------------- element -> place


@pytest.mark.parametrize("seed", range(4))
def test_the_layout_of_a_bijection_is_found_exactly_when_there_is_one(seed: int) -> None:
    rng = random.Random(100 + seed)
    found = 0
    for _ in range(60):
        bits = rng.randint(2, 6)
        ll = random_invertible(rng, bits, rng.choice((0, 0, 1, 1, 2, 3)))
        bases, sizes = as_data(ll)
        inverse: dict[int, enumerated.Place] = {}
        for place in enumerated.every_place(bases):
            element = enumerated.element_at(bases, sizes, place)
            flat = element[0] * sizes["dim1"] + element[1]
            inverse[flat] = tuple(place[name] for name in INPUTS)
        places = [inverse[flat] for flat in range(1 << bits)]
        width = len(bases["register"])
        exists = enumerated.is_tile(places) or any(
            enumerated.is_tile([(bf.swizzled(p[0], s), *p[1:]) for p in places])
            for s in enumerated.swizzles(width)
        )
        layout = layout_of(ll)
        assert (layout is not None) == exists
        if layout is not None:
            found += 1
            plain = plain_of(layout)
            for flat, place in enumerate(places):
                named = dict(zip(AXES, place, strict=True))
                assert bf.places(plain, flat) == {bf.make_place(named)}
    assert 10 < found < 58


@pytest.mark.parametrize("seed", range(3))
def test_layouts_with_copies_are_found_exactly_when_there_are_some(seed: int) -> None:
    rng = random.Random(150 + seed)
    seen: Counter[bool] = Counter()
    for _ in range(120):
        bits = rng.randint(1, 5)
        columns = [1 << k for k in range(rng.randint(1, bits))]
        columns += [rng.choice((0, 0, 0, rng.choice(columns))) for _ in range(bits - len(columns))]
        rng.shuffle(columns)
        cut = rng.randint(0, bits)
        size = 1 << max(columns).bit_length()
        bases = {"register": [[c] for c in columns[:cut]], "lane": [[c] for c in columns[cut:]]}
        sets: list[set[enumerated.Place]] = [set() for _ in range(size)]
        for place in enumerated.every_place(bases):
            (flat,) = enumerated.element_at(bases, {"dim0": size}, place)
            sets[flat].add((place["register"], place["lane"]))
        exists = enumerated.is_tile_of_sets(sets) or any(
            enumerated.is_tile_of_sets([{(bf.swizzled(r, s), lane) for r, lane in p} for p in sets])
            for s in enumerated.swizzles(cut)
        )
        layout = layout_of(LinearLayout(bases, {"dim0": size}))
        assert (layout is not None) == exists
        seen[exists] += 1
        if layout is not None:
            plain = plain_of(layout)
            for flat, places in enumerate(sets):
                wanted = {bf.make_place({"m": r, "laneid": lane}) for r, lane in places}
                assert bf.places(plain, flat) == wanted
    assert min(seen.values()) > 10


@pytest.mark.parametrize("seed", range(4))
def test_a_layout_comes_back_from_its_linear_layout(seed: int) -> None:
    rng = random.Random(200 + seed)
    for k in range(60):
        plain = random_powers(rng)
        shape = random_shape(rng, bf.size(plain))
        if enumerated.linear_bases(plain, shape, AXES) is None:
            continue
        ll = linear_of(built(plain), shape, INPUTS)
        if k % 6:
            layout = layout_of(ll)
        else:
            converted = tile_from_linear(ll)
            assert converted.is_proved
            layout = converted.value
        assert layout is not None
        again = plain_of(layout)
        for flat in range(bf.size(plain)):
            assert bf.places(again, flat) == bf.places(plain, flat)


@pytest.mark.parametrize("seed", range(3))
def test_why_there_is_no_layout_is_true(seed: int) -> None:
    rng = random.Random(300 + seed)
    kinds = set()
    for _ in range(150):
        bits = rng.randint(2, 5)
        ll = random_bases(rng, bits, rng.randint(1, bits))
        converted = tile_from_linear(ll) if layout_of(ll) is None else None
        if converted is None:
            continue
        assert converted.value is None
        assert converted.proof is None
        kinds.add(checked_reason(ll, converted))
    assert kinds == {"nowhere", "twice", "two axes", "no sum"}


def checked_reason(ll: LinearLayout, converted: Exported) -> str:
    """Which kind of witness it is, after it was found true."""
    witness = converted.witness
    assert witness is not None
    assert witness.summary in converted.reason
    bases, sizes = as_data(ll)

    def at(place: dict[str, int]) -> dict[str, int]:
        inputs = {name: place[axis] for name, axis in INPUTS.items() if axis in place}
        inputs = {name: inputs.get(name, 0) for name in INPUTS}
        return dict(zip(sizes, enumerated.element_at(bases, sizes, inputs), strict=True))

    if not witness.places:
        (element,) = witness.points
        reached = [enumerated.element_at(bases, sizes, p) for p in enumerated.every_place(bases)]
        assert tuple(element.values()) not in reached
        return "nowhere"
    if len(witness.points) == 1 and len(witness.places) == 2:
        assert at(witness.places[0]) == at(witness.places[1]) == witness.points[0]
        assert witness.places[0] != witness.places[1]
        return "twice"
    for element, place in zip(witness.points, witness.places, strict=True):
        assert at(place) == element
    if len(witness.points) == 1:
        assert sum(1 for number in witness.places[0].values() if number) > 1
        return "two axes"
    p, q, both = witness.places
    assert any(p[axis] + q[axis] != both[axis] for axis in p)
    return "no sum"


# ------------------------------------------------------------------- exports


@pytest.mark.parametrize("seed", range(6))
def test_exports_are_complete_and_refusals_true(seed: int) -> None:
    rng = random.Random(400 + seed)
    exports = refusals = 0
    for _ in range(120):
        plain = random_powers(rng)
        for _ in range(rng.choice((0, 1, 1, 2))):
            change = rng.choice((equivalent_variant, perturbed_variant))
            plain = change(rng, plain, max_places=300, axes=AXES)
        shape = random_shape(rng, bf.size(plain))
        wanted = enumerated.linear_bases(plain, shape, AXES)
        if wanted is None:
            with pytest.raises(InteropError) as caught:
                linear_of(built(plain), shape, INPUTS)
            check_refusal(plain, shape, caught.value)
            refusals += 1
            continue
        ll = linear_of(built(plain), shape, INPUTS)
        assert [list(vectors) for _, vectors in ll.bases] == wanted
        assert ll.shape == shape
        exports += 1
    assert min(exports, refusals) > 15


def check_refusal(plain: bf.Plain, shape: tuple[int, ...], error: InteropError) -> None:
    """The witness shows, on the layout itself, what the message says."""
    witness = error.witness
    assert witness is not None
    if not witness.places:
        (name, high), (_, low), (_, size) = (next(iter(p.items())) for p in witness.points)
        assert shape[int(name[3:])] == size == high ^ low
        assert max(high, low) < size
        return
    axes = sorted({*AXES, *bf.axes(plain)})
    places = enumerated.held(plain, axes)

    def held(place: dict[str, int]) -> set[int]:
        return places.get(tuple(place.get(axis, 0) for axis in axes), set())

    flats = []
    for point in witness.points:
        flat = 0
        for k, size in enumerate(shape):
            flat = flat * size + point[f"dim{k}"]
        flats.append(flat)
    counts = len(witness.points), len(witness.places)
    if counts == (3, 3):
        (x, y, z), (p, q, r) = flats, witness.places
        assert x in held(p)
        assert y in held(q)
        assert z == x ^ y
        assert r == {axis: p[axis] ^ q[axis] for axis in p}
        assert z not in held(r)
    elif counts == (0, 1):
        (place,) = witness.places
        assert not held(place)
        beyond = [max(key[k] for key in places) for k in range(len(axes))]
        assert all(place.get(axis, 0) <= beyond[k] for k, axis in enumerate(axes))
    elif counts == (1, 1):
        assert flats[0] in held(witness.places[0])
        assert min(witness.places[0].values()) < 0
    else:
        assert counts == (2, 1)
        assert {*flats} <= held(witness.places[0])
        assert flats[0] != flats[1]


def test_exports_are_proved() -> None:
    rng = random.Random(7)
    proved = 0
    while proved < 12:
        plain = random_powers(rng)
        shape = random_shape(rng, bf.size(plain))
        if enumerated.linear_bases(plain, shape, AXES) is None:
            continue
        exported = to_linear(built(plain), shape, INPUTS)
        assert exported.is_proved
        assert exported.reason == ""
        proved += 1


def test_the_128_byte_mode_as_a_linear_layout() -> None:
    tile = ComposeLayout(3, 3, 3, TileLayout(S[(64, 64) : (64, 1)]))
    exported = to_linear(tile, (64, 64), {"offset": "m"})
    ll = exported.value
    assert ll is not None
    assert exported.is_proved
    offsets = dict(ll.bases)["offset"]
    columns = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 32)]
    assert offsets[:6] == tuple(columns)
    assert offsets[6:] == ((1, 8), (2, 16), (4, 32), (8, 0), (16, 0), (32, 0))
    back = tile_from_linear(ll)
    assert back.is_proved
    assert str(back.value) == "ComposeLayout(3, 3, 3, S[4096 : 1])"


def test_a_fragment_with_copies() -> None:
    frag = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)])
    copied = TileLayout.from_iters(frag.shard, [(4, 1, "warpid")])
    exported = to_linear(copied, (8, 8))
    ll = exported.value
    assert ll is not None
    assert exported.is_proved
    assert dict(ll.bases)["warp"] == ((0, 0), (0, 0))
    for lane, register in product(range(32), range(2)):
        element = ll.apply(lane=lane, register=register, warp=3)
        assert frag.apply(*element.values(), shape=(8, 8)) == {"laneid": lane, "m": register}


def test_a_million_million_elements_take_no_enumeration() -> None:
    rng = random.Random(1)
    steps = list(range(40))
    rng.shuffle(steps)
    tile = TileLayout.from_iters([(2, 1 << step, "m") for step in steps])
    exported = to_linear(tile, (1 << 20, 1 << 20), {"offset": "m"})
    assert exported.is_proved
    assert exported.value is not None
    for flat in (1, 1 << 39, 123_456_789_012):
        element = exported.value.apply(offset=tile.apply(flat)["m"])
        assert element["dim0"] << 20 | element["dim1"] == flat


# ------------------------------------------------------------------- hostile inputs


@pytest.mark.parametrize(
    ("bases", "out_dims", "says"),
    [
        ({"lane": [[4]]}, {"dim0": 4}, "output dim0 is 0 to 3; got 4"),
        ({"lane": [[-1]]}, {"dim0": 4}, "got -1"),
        ({"lane": [[True]]}, {"dim0": 4}, "got True"),
        ({"lane": [[1, 2]]}, {"dim0": 4}, "one number for each of the 1 outputs"),
        ({"lane": [1]}, {"dim0": 4}, "a list of ints"),
        ({"lane": "12"}, {"dim0": 4}, "a list of bases"),
        ({"lane": [[1]]}, {"dim0": 3}, "power of two"),
        ({"lane": [[1]]}, {"dim0": 0}, "power of two"),
        ({"lane": [[1]]}, {"dim 0": 4}, "identifier"),
        ({"dim0": [[1]]}, {"dim0": 4}, "of one name"),
        ([("lane", [[1]])], {"dim0": 4}, "made of"),
        ({"lane": [[0]] * 63}, {"dim0": 4}, "63 bits"),
    ],
)
def test_what_is_no_linear_layout_says_why(bases: object, out_dims: object, says: str) -> None:
    with pytest.raises(InteropError, match=says):
        LinearLayout(bases, out_dims)  # type: ignore[arg-type]


def test_places_outside_the_inputs() -> None:
    ll = LinearLayout({"lane": [[1], [2]]}, {"dim0": 4})
    assert ll.apply() == {"dim0": 0}
    with pytest.raises(InteropError, match="0 to 3; got 4"):
        ll.apply(lane=4)
    with pytest.raises(InteropError, match="no input 'warp'"):
        ll.apply(warp=0)


def test_inputs_without_an_axis_and_axes_without_an_input() -> None:
    odd = LinearLayout({"thread": [[1]]}, {"dim0": 2})
    with pytest.raises(InteropError, match="which axis is input 'thread'"):
        tile_from_linear(odd)
    named = tile_from_linear(odd, {"thread": tx})
    assert str(named.value) == "S[2 : 1@tx]"
    both = LinearLayout({"register": [[1]], "offset": [[0]]}, {"dim0": 2})
    with pytest.raises(InteropError, match="two inputs are on axis m"):
        tile_from_linear(both)
    with pytest.raises(InteropError, match="axis tx is the axis of no input"):
        to_linear(TileLayout(S[2 : 1 @ tx]), (2,))
    with pytest.raises(InteropError, match="two inputs are on one axis"):
        to_linear(TileLayout(S[2:1]), (2,), {"register": "m", "offset": "reg"})


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(InteropError, match="evaluate the Dims"):
        to_linear(TileLayout(S[Dim("M") : 1]), (2,))
    with pytest.raises(InteropError, match="6 elements, the layout 8"):
        to_linear(TileLayout(S[8:1]), (2, 3))
    with pytest.raises(InteropError, match="positive ints"):
        to_linear(TileLayout(S[8:1]), "8")  # type: ignore[arg-type]
    with pytest.raises(InteropError, match="powers of two") as caught:
        to_linear(TileLayout(S[(3, 4) : (4, 1)]), (3, 4))
    check_refusal(plain_of(TileLayout(S[(3, 4) : (4, 1)])), (3, 4), caught.value)


def test_one_element_and_no_axis() -> None:
    exported = to_linear(TileLayout(S[1:1]), (1,))
    assert exported.value is not None
    assert exported.proof is not None
    assert exported.proof.verdict is Verdict.PROVED
    assert prod(exported.value.in_dims.values()) == 1
    assert tile_from_linear(exported.value).is_proved


def test_a_warp_of_copies_beside_lanes() -> None:
    lanes = TileLayout(S[(8, 4) : (4 @ laneid, 1 @ laneid)])
    spread = TileLayout.from_iters(lanes.shard, [(3, 1, "warpid")])
    with pytest.raises(InteropError, match="not linear") as caught:
        to_linear(spread, (8, 4))
    check_refusal(plain_of(spread), (8, 4), caught.value)
    assert warpid.name in str(caught.value)
