"""How far layouts reach: ends, span and width against brute force, large swizzles too."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from layout_algebra import ComposeLayout, Dim, R, S, TileLayout, TLane, laneid, m
from layout_algebra.algebra import extent
from layout_algebra.axes import Axis
from layout_algebra.dims import evaluate
from layout_algebra.errors import LayoutError
from tests import bruteforce as bf
from tests import generators as gen
from tests import symbolic
from tests.building import built

N = Dim("N", at_least=1)


def ends(layout, axis) -> tuple[int, int]:
    return extent.lowest(layout, axis), extent.highest(layout, axis)


# ----------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("seed", range(0, 4000, 1000))
def test_ends_span_and_width(seed):
    swizzled = 0
    for each in range(seed, seed + 1000):
        plain = gen.random_layout(random.Random(each), max_places=300)
        layout = built(plain)
        swizzled += plain.swizzle is not None
        used = bf.all_places(plain)
        for name in {*bf.axes(plain), "m", "F"}:
            axis = Axis.get(name)
            numbers = [bf.at(place, name) for place in used]
            low, high = min(numbers), max(numbers)
            assert ends(layout, axis) == (low, high), (each, layout, name)
            assert extent.span(layout, axis) == high - min(0, low) + 1 == layout.span(axis)
            assert extent.width(layout, axis) == high - low + 1 == layout.width(axis)
    assert swizzled > 100


def test_swizzled_ends_are_not_the_tiles():
    """All small swizzles over tiles that begin and end anywhere."""
    for seed in range(3000):
        rng = random.Random(seed)
        b = rng.randint(1, 3)
        swizzle = (rng.randint(0, 2), b, rng.randint(b, 4), rng.random() < 0.5)
        iters = tuple((rng.randint(1, 5), rng.randint(-9, 30), "m") for _ in range(2))
        plain = bf.Plain(iters[:1], iters[1:], {"m": rng.randint(-300, 300)}, swizzle)
        found = ends(built(plain), m)
        assert found == (bf.lowest(plain, "m"), bf.highest(plain, "m")), (seed, plain)


@pytest.mark.parametrize("seed", range(12))
def test_large_swizzled_layouts_in_bounded_time(seed):
    """2^20 to 2^24 elements: the sums that can matter are few."""
    rng = random.Random(seed)
    bits = rng.choice((20, 22, 24))
    extents, left = [], bits
    while left:
        step = min(left, rng.randint(1, 6))
        extents.append(1 << step)
        left -= step
    order = rng.sample(range(len(extents)), len(extents))
    strides, reach = [0] * len(extents), 1
    for k in order:
        strides[k] = reach * rng.choice((1, 1, 1, -1))
        reach = reach * extents[k] + rng.choice((0, 0, 1, 5, 8))
    b = rng.randint(1, 3)
    tile = TileLayout.from_iters(
        [(e, s, m) for e, s in zip(extents, strides, strict=True)], (), {m: rng.randint(-99, 9999)}
    )
    layout = ComposeLayout(rng.randint(0, 4), b, rng.randint(b, 8), tile, rng.random() < 0.6)
    start = time.perf_counter()
    found = ends(layout, m)
    assert time.perf_counter() - start < 2.0
    places = layout.table()["m"]
    assert found == (int(places.min()), int(places.max()))
    assert extent.width(layout, m) == int(places.max()) - int(places.min()) + 1


def test_beyond_any_enumeration():
    """2^40 elements with a swizzle, in no time."""
    layout = ComposeLayout(3, 3, 3, TileLayout(S[(2,) * 40 : tuple(2**k for k in range(40))]))
    start = time.perf_counter()
    assert ends(layout, m) == (0, 2**40 - 1)
    shifted = ComposeLayout(3, 3, 3, TileLayout(S[(2,) * 40 : tuple(2**k for k in range(40))] + 8))
    low, high = ends(shifted, m)
    assert time.perf_counter() - start < 0.5
    # the tile's ends are 8 and 2^40 + 7; the blocks of 512 at both ends are only partly used
    assert low == min(layout.swizzle(x) for x in range(8, 512))
    assert high == max(layout.swizzle(x) for x in range(2**40, 2**40 + 8))


def test_irregular_strides_end_in_an_error_not_in_a_hang():
    rng = random.Random(0)
    strides = tuple(rng.randrange(1, 100_000) for _ in range(26))
    tile = TileLayout(S[(2,) * 26 : strides])
    start = time.perf_counter()
    with pytest.raises(LayoutError, match=r"more than the \d+ that are tried"):
        ends(ComposeLayout(0, 8, 12, tile, swizzle_inner=False), m)
    # the usual direction moves nothing out of blocks of 2^8: few sums reach the last of them
    low, high = ends(ComposeLayout(0, 8, 12, tile), m)
    assert (low, high >> 8) == (0, sum(strides) >> 8)
    assert time.perf_counter() - start < 10


def test_a_bounded_number_of_sums(monkeypatch):
    monkeypatch.setattr(extent, "MOST_SUMS", 8)
    tile = TileLayout(S[(2,) * 8 : (1, 3, 7, 12, 20, 33, 54, 88)] + 1)
    with pytest.raises(LayoutError, match=r"more than the 8 that are tried"):
        ends(ComposeLayout(0, 2, 4, tile, swizzle_inner=False), m)


def test_a_swizzle_leaves_other_axes_alone():
    layout = ComposeLayout(0, 2, 2, TileLayout(S[(4, 4) : (3 @ laneid, 4)] + 2 @ laneid))
    assert ends(layout, laneid) == (2, 11)
    assert ends(layout, m) == (0, 15)  # 0 5 10 15
    nothing_on_m = ComposeLayout(0, 2, 2, TileLayout(S[(4,) : (3 @ laneid,)]))
    assert ends(nothing_on_m, m) == (0, 0)


def test_span_counts_from_zero_or_below():
    assert TileLayout(S[4:1] + 5).span() == 9
    assert TileLayout(S[4:1] + 5).width() == 4
    assert TileLayout(S[4:-1]).span() == 4
    assert TileLayout(S[4:-1] + 1).span() == 4
    assert TileLayout(S[4:1] + R[3:10]).span() == 24
    assert TileLayout(S[4 : 1 @ laneid]).span() == 1
    assert TileLayout(S[4 : 1 @ laneid]).span("laneid") == 4
    with pytest.raises(LayoutError, match=r"several memory axes \(m, TLane\): name the one"):
        TileLayout(S[(4, 4) : (1, 1 @ TLane)]).span()


# ----------------------------------------------------------------------------- symbolic


def or_none(ask, *given, reasons: tuple[str, ...]):
    """An answer, or None where it is refused for one of these reasons."""
    try:
        return ask(*given)
    except LayoutError as error:
        if not any(reason in str(error) for reason in reasons):
            raise
        return None


def test_with_dims_the_ends_hold_at_every_small_value():
    known = points = 0
    for seed in range(800):
        rng = random.Random(seed)
        draw = symbolic.Draw(rng)
        plan = symbolic.planned(draw).layout
        if rng.random() < 0.3:
            plan = symbolic.perturbed(draw, plan)
        case = symbolic.Case("Injective", tuple(draw.dims), (plan,))
        try:
            layout = plan.built(case.names())
        except ValueError:
            continue
        for axis in layout.axes:
            found = or_none(ends, layout, axis, reasons=("sign of stride", "no closed form"))
            if found is None:
                continue
            low, high = found
            known += 1
            span = or_none(extent.span, layout, axis, reasons=("no one span",))
            for values in list(case.points())[:10]:
                try:
                    there = plan.at(values)
                except ZeroDivisionError:
                    continue
                if there is None or there.size * there.copies > 200:
                    continue
                numbers = [bf.at(place, axis.name) for place in there.all_places()]
                where = (seed, layout, axis, values)
                assert evaluate(low, values) == min(numbers), where
                assert evaluate(high, values) == max(numbers), where
                if span is not None:
                    assert evaluate(span, values) == max(numbers) - min(0, *numbers, 0) + 1, where
                points += 1
    assert known > 400
    assert points > 2000


def test_what_is_not_known_is_an_error():
    with pytest.raises(LayoutError, match=r"the sign of stride \(N - 3\)@m is not known"):
        TileLayout(S[4 : (N - 3)]).span()
    with pytest.raises(LayoutError, match="may be negative or not: no one span"):
        TileLayout(S[4:1] + (N - 3)).span()
    with pytest.raises(LayoutError, match="no closed form"):
        ComposeLayout(0, 1, 1, TileLayout(S[(N,) : (1,)])).span()
    # a swizzle without bits is none
    assert ComposeLayout(0, 0, 1, TileLayout(S[(N,) : (1,)])).span() == N
    # nothing symbolic on m
    layout = ComposeLayout(0, 1, 1, TileLayout(S[(N, 4) : (1 @ laneid, 1)]))
    assert layout.span() == 4
    assert layout.span("laneid") == N


def test_bounded_strides_have_a_known_sign():
    s = Dim("s", at_least=1, at_most=5)
    assert ends(TileLayout(S[4:-s]), m) == (-3 * s, 0)
    assert ends(TileLayout(S[4 : (s - 6)]), m) == (3 * s - 18, 0)
    assert ends(TileLayout(S[4:1] + R[2 : (5 - s)]), m) == (0, 8 - s)


def test_numbers_are_ints():
    for value in ends(ComposeLayout(1, 1, 1, TileLayout(S[(5, 3) : (3, 20)])), m):
        assert type(value) is int
    assert np.iinfo(np.int64).max < ends(TileLayout(S[(2,) : (2**70,)]), m)[1]
