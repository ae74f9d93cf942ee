"""The element at a place, and addresses before their swizzle."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest

from layout_algebra import S, Swizzle, TileLayout, laneid, m, parse, warpid
from layout_algebra.algebra.unswizzle import unswizzled
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.inverting import element_at, elements_at, swizzle_inverse


# -- one place ---------------------------------------------------------------------------------
def test_forty_iters_are_looked_up_at_once():
    rng = random.Random("forty")
    extents = [rng.randint(2, 7) for _ in range(40)]
    strides, reach = [0] * 40, 0
    for k in rng.sample(range(40), 40):
        strides[k] = reach + 1 + rng.choice((0, 1, 5))
        reach += strides[k] * (extents[k] - 1)
    layout = TileLayout(S[tuple(extents) : tuple(strides)])
    for _ in range(20):
        element = rng.randrange(math.prod(extents))
        assert element_at(layout, layout.apply(element)) == element


def test_places_as_keywords_and_by_axis():
    frag = parse("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid")
    assert element_at(frag, laneid=5, warpid=9, reg=1) == 1 * 16 + 3
    assert element_at(frag, {laneid: 5, warpid: 5, m: 1}) == 1 * 16 + 3
    assert element_at(frag, laneid=5, warpid=7) is None
    assert element_at(frag, laneid=5, warpid=5, bx=1) is None
    assert elements_at(TileLayout(S[(3, 2) : (0, 1)]), m=1) == (1, 3, 5)
    assert elements_at(TileLayout(S[(3, 2) : (0, 1)]), m=2) == ()
    with pytest.raises(LayoutError, match="most="):
        elements_at(TileLayout(S[(100_000, 2) : (0, 1)]), m=1)
    with pytest.raises(CoordinateError, match="not both"):
        element_at(frag, {laneid: 5}, warpid=5)
    with pytest.raises(CoordinateError, match="twice"):
        element_at(frag, {"m": 5, "reg": 5})
    with pytest.raises(CoordinateError, match="integer"):
        element_at(frag, laneid=0.5)


def test_windows_that_overlap():
    """S[(512, 512) : (1, 1)]: many elements at a place, the least and all of them."""
    windows = TileLayout(S[(512, 512) : (1, 1)])
    assert element_at(windows, m=700) == (700 - 511) * 512 + 511
    assert elements_at(windows, m=3) == (3, 514, 1025, 1536)


# -- swizzles ----------------------------------------------------------------------------------
@pytest.mark.parametrize("inner", [True, False])
def test_swizzles_are_undone(inner):
    for p, b, a in product(range(2), range(5), range(1, 5)):
        swizzle = Swizzle(p, b, a, inner)
        for address in range(-3, 2 * swizzle.period):
            assert unswizzled(swizzle, swizzle(address)) == address
        assert swizzle_inverse(swizzle) == (
            (swizzle,) if b and a >= b else swizzle_inverse(swizzle)
        )


def test_a_swizzle_that_clears_bits_has_no_inverse():
    with pytest.raises(LayoutError, match="addresses 0 and 2"):
        swizzle_inverse(Swizzle(1, 2, 0))


def test_irregular_strides_are_met_from_both_halves():
    """3^18 elements at places below 2^51: no range narrows them down."""
    rng = random.Random("halves")
    layout = TileLayout(S[(3,) * 18 : tuple(rng.randint(1, 10**14) for _ in range(18))])
    element = rng.randrange(3**18)
    assert element_at(layout, layout.apply(element)) == element
    assert element_at(layout, m=layout.apply(element)["m"] + 1) is None


def test_a_search_without_end_is_given_up():
    rng = random.Random("given up")
    layout = TileLayout(S[(3,) * 40 : tuple(rng.randint(1, 10**14) for _ in range(40))])
    with pytest.raises(LayoutError, match="overlap too much"):
        element_at(layout, layout.apply(3**40 // 2))
