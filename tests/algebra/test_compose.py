"""compose against enumeration: what it returns is outer(inner(x)); what it does not find is not.

That there is no layout is decided here by trying every way to write the number of elements as a
product of extents, under every swizzle that can change the places met; copies by trying every sum
of progressions.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from layout_algebra import (
    ComposeLayout,
    Composition,
    CoordinateError,
    Dim,
    Map,
    S,
    Swizzle,
    TileLayout,
    Verdict,
    checked,
    compose,
    layout_of,
    parse,
    prove,
)
from layout_algebra.algebra.compose import DomainError
from layout_algebra.algebra.no_layout import NoLayout
from layout_algebra.axes import laneid, m
from layout_algebra.composing import ComposedMap
from layout_algebra.errors import LayoutError
from tests import bruteforce as bf
from tests.algebra import laws
from tests.building import built, plain_of

CASES = 5000
shards = pytest.mark.parametrize("shard", range(4))

Table = list[frozenset[bf.Place]]


# ------------------------------------------------------------------------ what there is
def composite(outer: bf.Plain, inner: bf.Plain) -> Table | int:
    """outer(inner(x)) for every x; or the first x with a place that is no index of outer."""
    found = []
    for x in range(bf.size(inner)):
        indices = {dict(place).get("m", 0) for place in bf.places(inner, x)}
        if not all(0 <= index < bf.size(outer) for index in indices):
            return x
        found.append(frozenset().union(*(bf.places(outer, index) for index in indices)))
    return found


@cache
def factorisations(number: int) -> list[tuple[int, ...]]:
    """Every ordered way to write it as a product of numbers above 1."""
    if number == 1:
        return [()]
    firsts = [d for d in range(2, number + 1) if number % d == 0]
    return [(first, *rest) for first in firsts for rest in factorisations(number // first)]


def is_tile(table: Table) -> bool:
    """Whether some tile has these places."""
    corners = [laws.corner(places) for places in table]
    around = {
        frozenset(laws.subtracted(place, corner) for place in places)
        for places, corner in zip(table, corners, strict=True)
    }
    if len(around) > 1 or not are_copies(around.pop()):
        return False
    return any(is_linear(corners, extents) for extents in factorisations(len(corners)))


def is_linear(places: list[bf.Place], extents: tuple[int, ...]) -> bool:
    weights = [1]
    for extent in reversed(extents[1:]):
        weights.append(weights[-1] * extent)
    weights.reverse()
    steps = [laws.subtracted(places[w], places[0]) for w in weights[: len(extents)]]
    if any(len(step) > 1 for step in steps):
        return False
    for x, place in enumerate(places):
        wanted = dict(places[0])
        for digit, step in zip(bf.digits(x, list(extents)), steps, strict=True):
            for axis, value in step:
                wanted[axis] = wanted.get(axis, 0) + digit * value
        if bf.make_place(wanted) != place:
            return False
    return True


def are_copies(around: frozenset[bf.Place]) -> bool:
    """Whether they are a sum of progressions, each on one axis."""
    axes = sorted({axis for place in around for axis, _ in place})
    sets = [{bf.at(place, axis) for place in around} for axis in axes]
    count = 1
    for one in sets:
        count *= len(one)
    return count == len(around) and all(is_sum_of_pairs(one) for one in sets)


def is_sum_of_pairs(wanted: set[int]) -> bool:
    """Whether it is {0, s} + {0, t} + ...: every multiset of steps is tried."""
    steps = sorted(wanted - {0})

    def further(sums: set[int], first: int) -> bool:
        if sums == wanted:
            return True
        for k in range(first, len(steps)):
            grown = sums | {total + steps[k] for total in sums}
            if grown <= wanted and max(grown) <= max(wanted) and further(grown, k):
                return True
        return False

    return further({0}, 0)


def is_swizzled(table: Table) -> bool:
    """Whether some tile under some swizzle within the places' bits has these places."""
    top = max(abs(bf.at(place, "m")) for places in table for place in places).bit_length()
    for length in range(1, top + 1):
        for low, shift in itertools.product(range(top), range(length, top)):
            if low + length + shift > top:
                continue
            for direction in (True, False):
                swizzle = (low, length, shift, direction)
                if is_tile([frozenset(unswizzled(p, swizzle) for p in some) for some in table]):
                    return True
    return False


def unswizzled(place: bf.Place, swizzle: tuple[int, int, int, bool]) -> bf.Place:
    return bf.make_place({**dict(place), "m": bf.swizzled(bf.at(place, "m"), swizzle)})


# ---------------------------------------------------------------------------- what is drawn
EXTENTS = (1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8)


def extents(rng: random.Random, most: int) -> list[int]:
    found: list[int] = []
    size = 1
    for _ in range(rng.randint(1, 4)):
        extent = rng.choice(EXTENTS)
        if size * extent <= most:
            found.append(extent)
            size *= extent
    return found or [2]


def an_outer(rng: random.Random) -> bf.Plain:
    sizes = extents(rng, 96)
    axes = ("m",) if rng.random() < 0.6 else ("m", "laneid")
    if rng.random() < 0.5:  # compact, permuted
        order = rng.sample(range(len(sizes)), len(sizes))
        strides, weight = [0] * len(sizes), 1
        for k in order:
            strides[k], weight = weight, weight * sizes[k]
    else:
        strides = [rng.choice((0, 1, 1, 2, 3, 4, 6, 8, 12, 16, -1, -2)) for _ in sizes]
    shard = [(e, s, rng.choice(axes)) for e, s in zip(sizes, strides, strict=True)]
    replica = [(2, rng.choice((1, 3, 16)), rng.choice(axes))] if rng.random() < 0.1 else []
    offset = {rng.choice(axes): rng.randint(-2, 9)} if rng.random() < 0.2 else {}
    return bf.Plain(shard, replica, offset)


def an_inner(rng: random.Random, reach: int) -> bf.Plain:
    """A layout on m whose places are mostly below `reach`."""
    shard, replica, room = [], [], reach - 1
    for extent in extents(rng, 48):
        steps = [s for s in (*range(13), reach // 2, reach // 4) if s * (extent - 1) <= room]
        stride = rng.choice(steps or [0]) if rng.random() < 0.97 else rng.randint(0, reach)
        room -= stride * (extent - 1)
        shard.append((extent, stride, "m"))
    rng.shuffle(shard)
    start = rng.randint(0, max(room, 0)) if rng.random() < 0.3 else 0
    if rng.random() < 0.1 and room - start >= 1:
        replica.append((2, rng.randint(1, room - start), "m"))
        room -= replica[0][1]
    if rng.random() < 0.15:  # counted down
        k = rng.randrange(len(shard))
        extent, stride, _ = shard[k]
        shard[k] = (extent, -stride, "m")
        start += stride * (extent - 1)
    return bf.Plain(shard, replica, {"m": start} if start else {})


def a_swizzle(rng: random.Random) -> tuple[int, int, int, bool]:
    length = rng.choice((1, 1, 2, 3))
    return (rng.randint(0, 2), length, length + rng.randint(0, 1), rng.random() < 0.8)


# ------------------------------------------------------------------------------- the tests
@shards
def test_tiles_against_enumeration(shard):
    seen: Counter[str] = Counter()
    for seed in range(shard * CASES, (shard + 1) * CASES):
        rng = random.Random(seed)
        outer = an_outer(rng)
        inner = an_inner(rng, bf.size(outer))
        wanted = composite(outer, inner)
        if isinstance(wanted, int):
            with pytest.raises(DomainError, match=f"^element {wanted} of inner"):
                compose(built(outer), built(inner))
            seen["outside"] += 1
            continue
        found = compose(built(outer), built(inner))
        if isinstance(found, ComposedMap):
            assert found.certain, (seed, outer, inner)
            assert not is_tile(wanted), (seed, outer, inner, found.why_no_layout)
            assert seed % 10 or not is_swizzled(wanted), (seed, outer, inner, found.why_no_layout)
            assert values(found) == wanted, (seed, outer, inner)
            seen["no layout"] += 1
        else:
            assert bf.table(plain_of(found)) == wanted, (seed, outer, inner, found)
            assert found == found.normal_form() or len(wanted) == 1, (seed, found)
            seen["layout"] += 1
    assert min(seen.values()) > CASES // 50, seen


def values(found: Map) -> Table:
    return [
        frozenset(bf.make_place(place) for place in found.places(*point.values()))
        for point in (
            dict(zip(found.coordinates, numbers, strict=True))
            for numbers in itertools.product(*(range(e) for e in found.extents))  # type: ignore[arg-type]
        )
    ]


def test_swizzled_against_enumeration():
    seen: Counter[str] = Counter()
    for seed in range(CASES // 4):
        rng = random.Random(seed)
        outer = an_outer(rng)
        inner = an_inner(rng, bf.size(outer))
        if rng.random() < 0.7:
            inner = bf.Plain(inner.shard, inner.replica, inner.offset, a_swizzle(rng))
        if rng.random() < 0.7 or inner.swizzle is None:
            outer = bf.Plain(outer.shard, outer.replica, outer.offset, a_swizzle(rng))
        wanted = composite(outer, inner)
        if isinstance(wanted, int):
            with pytest.raises(DomainError, match=f"^element {wanted} of inner"):
                compose(built(outer), built(inner))
            seen["outside"] += 1
            continue
        found = compose(built(outer), built(inner))
        if isinstance(found, ComposedMap):
            assert not is_tile(wanted), (seed, outer, inner)
            assert not is_swizzled(wanted), (seed, outer, inner, found.why_no_layout)
            seen["no layout"] += 1
        else:
            assert bf.table(plain_of(found)) == wanted, (seed, outer, inner, found)
            seen[type(found).__name__] += 1
    assert min(seen.values()) > CASES // 200, seen


def test_every_composite_is_proven():
    """By the solver or by structure, call by call; and a composite that is changed is refuted."""
    proven = 0
    for seed in range(400):
        rng = random.Random(seed)
        outer = an_outer(rng)
        inner = an_inner(rng, bf.size(outer))
        if rng.random() < 0.3:
            outer = bf.Plain(outer.shard, outer.replica, outer.offset, a_swizzle(rng))
        try:
            with checked() as names:
                found = compose(built(outer), built(inner))
        except DomainError:
            continue
        if isinstance(found, ComposedMap):
            continue
        assert names == ["compose"]
        proven += 1
        if bf.size(inner) > 1:
            moved = built(replace(plain_of(found), offset={"m": 1}))
            same = bf.table(plain_of(moved)) == bf.table(plain_of(found))
            proof = prove(Composition(built(outer), built(inner), moved))
            assert proof.verdict is (Verdict.PROVED if same else Verdict.REFUTED), (seed, proof)
    assert proven > 150


def test_a_swizzle_passes_large_tiles():
    """2^30 elements: nothing is enumerated; the map is looked at here and there."""
    rng = random.Random(5)
    for _ in range(200):
        low, length, shift, direction = a_swizzle(rng)
        swizzled = ComposeLayout(
            low, length, shift, TileLayout(S[(1 << 15, 1 << 15) : (1 << 15, 1)]), direction
        )
        up = rng.randint(0, 3)
        rows = TileLayout(S[(1 << 15, 1 << 15) : (1 << (15 + up), 1 << up)])
        for outer in (rows, TileLayout(S[(1 << 20, 1 << 10) : (1 << 10, 1)])):
            found = compose(outer, swizzled)
            assert isinstance(found, ComposeLayout)
            for _ in range(50):
                x = rng.randrange(1 << 30)
                assert found.apply(x) == outer.apply(swizzled.apply(x)["m"])


@pytest.mark.parametrize("outer", ["S[(3,2,2):(2,4,1)]", "S[(2,2,2):(4,4,1)]"])
def test_a_swizzle_does_not_pass_where_other_iters_reach_its_bits(outer):
    outer = parse(outer)
    inner = ComposeLayout(0, 1, 1, TileLayout(S[outer.size() : 1]))
    wanted = composite(plain_of(outer), plain_of(inner))
    assert not is_tile(wanted)
    assert not is_swizzled(wanted)
    found = compose(outer, inner)
    assert isinstance(found, ComposedMap)
    assert values(found) == wanted


def test_two_swizzles_by_different_distances_are_not_one():
    outer, inner = (ComposeLayout(*s, TileLayout(S[64:1])) for s in ((0, 1, 3), (2, 1, 2)))
    found = compose(outer, inner)  # bit 3 onto bit 0, bit 4 onto bit 2
    wanted = composite(plain_of(outer), plain_of(inner))
    assert isinstance(found, ComposedMap)
    assert values(found) == wanted
    assert not is_tile(wanted)
    assert not is_swizzled(wanted)


def test_large_layouts_counted_down():
    """2^25 elements: no table could be made, so the digit must be seen to count down."""
    n = 1 << 22
    inner = parse(f"S[(8,{n}):({n},-1)] + {n - 1}")
    assert compose(TileLayout(S[(8, n) : (1, 8)]), inner) == parse(
        f"S[(8,{n}):(1,-8)] + {8 * (n - 1)}"
    )


def test_the_same_swizzle_twice_is_none():
    swizzled = ComposeLayout(3, 3, 3, TileLayout(S[(64, 64) : (64, 1)]))
    assert compose(swizzled, swizzled) == TileLayout(S[4096:1])
    assert compose(Swizzle(3, 3, 3), swizzled) == TileLayout(S[4096:1])
    assert compose(TileLayout(S[4096:1]), Swizzle(3, 3, 3)) == ComposeLayout(
        3, 3, 3, TileLayout(S[4096:1])
    )


def test_symbolic_tiles_compose():
    P, bm, Q, bn = (Dim(name) for name in ("P", "bm", "Q", "bn"))
    tiled = TileLayout(S[(P, bm, Q, bn) : (Q * bm * bn, bn, bm * bn, 1)])
    back = TileLayout(S[(P, Q, bm, bn) : (bm * Q * bn, bn, Q * bn, 1)])
    assert compose(back, tiled) == TileLayout(S[(P * bm * Q * bn,) : (1,)])
    assert compose(tiled, back) == TileLayout(S[(P * bm * Q * bn,) : (1,)])
    columns = compose(tiled, TileLayout(S[(P, bm) : (bm * Q * bn, Q * bn)]))
    assert columns == TileLayout(S[(P, bm) : (Q * bm * bn, bn)])
    M = Dim("M", multiple_of=8)
    rows = compose(TileLayout(S[(M, 64) : (64, 1)]), TileLayout(S[(M // 8, 64) : (8 * 64, 1)]))
    assert rows == TileLayout(S[(M // 8, 64) : (512, 1)])


def test_what_is_not_known_of_symbolic_sizes_comes_back_as_a_map():
    M, K = Dim("M", at_least=1), Dim("K", at_least=1)
    outer = TileLayout(S[(K, M) : (1, K)])
    found = compose(outer, TileLayout(S[(K * M,) : (1,)]))
    assert found == outer
    found = compose(TileLayout(S[(2, M) : (100, 1)]), TileLayout(S[(M, 2) : (2, 1)]))
    assert isinstance(found, ComposedMap)
    assert not found.certain
    for size in (1, 2, 5):
        numbers = found.evaluated(M=size)
        for x, y in itertools.product(range(size), range(2)):
            block, rest = divmod(2 * x + y, size)
            assert numbers.places(x, y) == [{"m": 100 * block + rest}]


def test_a_step_of_unknown_sign_goes_neither_up_nor_down():
    """E + K - 1 with K = 0, 1 or 2: down, or still, or up by one."""
    E, K = Dim("E", at_least=4), Dim("K", at_most=2)
    outer, inner = TileLayout(S[(8, E) : (100, 1)]), TileLayout(S[2 : E + K - 1] + 3)
    found = compose(outer, inner)
    assert isinstance(found, ComposedMap)
    for e, k in itertools.product((4, 5, 7), range(3)):
        o, i = outer.evaluated(E=e), inner.evaluated(E=e, K=k)
        for x in range(2):
            place = found.evaluated(E=e, K=k).places(x)
            assert place == [o.apply(i.apply(x)["m"])]


def test_two_tiles_can_be_a_swizzled_one():
    outer, inner = TileLayout(S[(2, 2, 8) : (64, 32, 2)]), TileLayout(S[3:12])
    found = compose(outer, inner)
    assert isinstance(found, ComposeLayout)
    assert [found.apply(x) for x in range(3)] == [outer.apply(12 * x) for x in range(3)]


def test_negative_places_under_a_swizzle():
    """Above its highest bit a negative number is all ones, which a field may read."""
    layout = ComposeLayout(0, 1, 3, TileLayout(S[11:1] + (-5)))
    found = layout_of(layout.map())
    assert isinstance(found, ComposeLayout)
    assert [found.apply(x) for x in range(11)] == [layout.apply(x) for x in range(11)]


def test_the_first_element_outside_of_a_large_swizzled_layout():
    swizzled = ComposeLayout(3, 3, 3, TileLayout(S[1 << 40 : 1]))
    with pytest.raises(DomainError, match=f"^element {(1 << 39) + 1} of inner"):
        compose(TileLayout(S[(1 << 39) + 1 : 1]), swizzled)


def test_numbers_beyond_machine_integers():
    outer = ComposeLayout(3, 3, 3, TileLayout(S[(3, 5) : (1 << 62, 1)]))
    found = compose(outer, TileLayout(S[6:2]))
    assert found.apply(3) == outer.apply(6)
    far = layout_of(lambda i: i * (1 << 70), (8,))
    assert isinstance(far, NoLayout)
    assert not far.certain


def test_wrong_things_are_refused():
    tile = TileLayout(S[8:1])
    with pytest.raises(LayoutError, match="takes layouts"):
        compose(tile, (8, 1))
    with pytest.raises(CoordinateError, match="laneid, m"):
        compose(tile, TileLayout(S[(2, 2) : (1 @ laneid, 1)]))
    with pytest.raises(DomainError, match=r"has the place 8, outside outer's indices 0\.\.7"):
        compose(tile, TileLayout(S[9:1]))
    with pytest.raises(DomainError, match="has the place -1, outside"):
        compose(tile, TileLayout(S[2:-1]))
    with pytest.raises(DomainError, match="not known"):
        compose(tile, TileLayout(S[(Dim("N"),) : (1,)]))


def test_places_of_lanes_are_an_index_too():
    lanes = TileLayout(S[(4, 8) : (1 @ laneid, 4 @ laneid)])
    assert compose(TileLayout(S[(8, 4) : (1, 8)]), lanes).apply(9) == {"m": 9}
    assert m.name in compose(TileLayout(S[32:1]), lanes).apply(0)
