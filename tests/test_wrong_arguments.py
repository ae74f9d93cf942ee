"""Arguments of another kind than an operation takes: refused in words, by an error of the library.

What is text, a size or a coordinate is in test_bad_inputs.py.
"""

from __future__ import annotations

import pytest

from layout_algebra import ComposeLayout, S, Swizzle, TileLayout, compose, inverse, left_inverse
from layout_algebra.algebra.deciding import STRUCTURALLY, Structurally, checked_decide
from layout_algebra.errors import LayoutError
from layout_algebra.inverting import elements_at, pseudo_inverse, right_inverse, swizzle_inverse

ROWS = TileLayout(S[(4, 8) : (8, 1)])
SWIZZLED = ComposeLayout(1, 1, 1, ROWS)
LINE = TileLayout(S[32:1])


class Half:
    """Answers two of the three questions."""

    equal = staticmethod(lambda a, b: a == b)
    quotient = staticmethod(lambda n, d: None)
    at_least = 5

    def __repr__(self) -> str:
        return "Half()"


@pytest.mark.parametrize("layout", [ROWS, SWIZZLED], ids=["tile", "swizzled"])
@pytest.mark.parametrize("wrong", [5, None, "S[32 : 1]", S[32:1]])
def test_recognisers_take_layouts(layout, wrong):
    for name in ("is_tile_inner", "is_tile_outer"):
        with pytest.raises(LayoutError, match="tiled is a layout; got"):
            getattr(layout, name)(wrong, (4, 8), (2, 2))
    for name in ("is_direct_sum_left", "is_direct_sum_right"):
        with pytest.raises(LayoutError, match="whole is a layout; got"):
            getattr(layout, name)(wrong, (4, 8), (2, 2))


@pytest.mark.parametrize("wrong", [5, 0, "yes", Half(), Structurally], ids=repr)
def test_who_decides_has_three_methods(wrong):
    for operation in (inverse, left_inverse, right_inverse, pseudo_inverse):
        with pytest.raises(LayoutError, match="equal, quotient and at_least"):
            operation(ROWS, decide=wrong)
    with pytest.raises(LayoutError, match="equal, quotient and at_least"):
        compose(ROWS, LINE, decide=wrong)


def test_who_may_decide():
    assert checked_decide(None) is None
    assert checked_decide(STRUCTURALLY) is STRUCTURALLY
    assert inverse(ROWS, decide=Structurally()) == inverse(ROWS)


@pytest.mark.parametrize("wrong", [None, 3, (0, 3, 1), ROWS], ids=repr)
def test_swizzle_inverse_takes_a_swizzle(wrong):
    with pytest.raises(LayoutError, match="swizzle_inverse takes a Swizzle"):
        swizzle_inverse(wrong)
    assert swizzle_inverse(Swizzle(0, 3, 3)) == (Swizzle(0, 3, 3),)


@pytest.mark.parametrize("wrong", [None, -1, 2.0, True, "4"])
def test_the_most_elements_is_a_number(wrong):
    with pytest.raises(LayoutError, match="most= is how many elements are allowed"):
        elements_at(ROWS, m=1, most=wrong)
    assert elements_at(ROWS, m=1, most=1) == (1,)
