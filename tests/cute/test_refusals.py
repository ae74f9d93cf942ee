"""What CuTe functions refuse: nested far too deeply, parts that repeat without end, other kinds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from layout_algebra import Dim, Map, cute
from layout_algebra.cute.tuples import MOST_DEPTH
from layout_algebra.errors import (
    AxisError,
    CoordinateError,
    DimError,
    LayoutAlgebraError,
    NotationError,
)

L = cute.Layout((4, 8))
SWIZZLE = cute.Swizzle(1, 1, 1)


def wrapped(inner, times, copies=1):
    """A tuple of itself, so many times; with two copies its text doubles each time."""
    for _ in range(times):
        inner = (inner,) * copies
    return inner


def inside_itself():
    found = []
    found.append(found)
    return found


STRANGE = {
    "deep": wrapped(1, 3000),
    "doubled": wrapped(1, 30, copies=2),
    "doubled and empty": wrapped((), 30, copies=2),
    "inside itself": inside_itself(),
}
CALLS = {
    "composition": lambda x: cute.composition(L, x),
    "composition of a swizzle": lambda x: cute.composition(SWIZZLE, x),
    "logical_divide": lambda x: cute.logical_divide(L, x),
    "zipped_divide": lambda x: cute.zipped_divide(L, x),
    "tiled_divide": lambda x: cute.tiled_divide(L, x),
    "flat_divide": lambda x: cute.flat_divide(L, x),
    "logical_product": lambda x: cute.logical_product(L, x),
    "zipped_product": lambda x: cute.zipped_product(L, x),
    "blocked_product": lambda x: cute.blocked_product(L, x),
    "raked_product": lambda x: cute.raked_product(L, x),
    "complement": lambda x: cute.complement(L, x),
    "coalesce": lambda x: cute.coalesce(L, x),
    "make_layout": lambda x: cute.make_layout(x),
    "make_ordered_layout": lambda x: cute.make_ordered_layout((4, 8), x),
    "shape": lambda x: cute.Layout(x),
    "stride": lambda x: cute.Layout((4, 8), x),
    "coordinate": lambda x: L(x),
    "mode": lambda x: L[x],
    "Swizzle": lambda x: cute.Swizzle(x, 1, 1),
    "address": lambda x: SWIZZLE(x),
    "offset": lambda x: cute.ComposedLayout(SWIZZLE, x, L),
    "swizzle": lambda x: cute.ComposedLayout(x, 0, L),
    "to_tile": lambda x: cute.to_tile(L, x),
    "from_tile": lambda x: cute.from_tile(x),
    "as_map": lambda x: cute.as_map(L, x),
    "parse": lambda x: cute.parse(x),
    "parse with dims": lambda x: cute.parse("4:1", x),
    "evaluated": lambda x: cute.Layout(Dim("M"), 1).evaluated(M=x),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("strange", STRANGE)
def test_strange_tuples_are_refused_in_words(call, strange):
    with pytest.raises(LayoutAlgebraError) as caught:
        CALLS[call](STRANGE[strange])
    assert 20 < len(str(caught.value)) < 200


def test_how_deep_a_tiler_may_be():
    """Modes nested as deep as shapes may be are divided; one level more is refused."""
    deepest = cute.Layout(wrapped(8, MOST_DEPTH - 1))
    assert cute.logical_divide(deepest, wrapped(4, MOST_DEPTH - 1)).size() == 8
    assert cute.coalesce(deepest, wrapped(1, MOST_DEPTH)).size() == 8
    with pytest.raises(cute.CuteError, match=f"tiler of logical_divide is nested deeper than {32}"):
        cute.logical_divide(deepest, wrapped(4, MOST_DEPTH + 1))


@pytest.mark.parametrize("wrong", [5, "M", [("M", Dim("M"))]])
def test_names_in_a_text_are_a_mapping(wrong):
    with pytest.raises(NotationError, match="dims= is a mapping from names to Dims"):
        cute.parse("4:1", wrong)
    with pytest.raises(NotationError, match="read from a text; got 5"):
        cute.parse(5)


@pytest.mark.parametrize("wrong", ["x", None, 1.5, (8,)])
def test_an_address_is_an_integer(wrong):
    with pytest.raises(CoordinateError, match="an address is an integer"):
        SWIZZLE(wrong)


def test_addresses_of_all_kinds():
    """1 bit, 1 above bit 1: bit 2 is XORed into bit 1."""
    expected = [x ^ ((x >> 2 & 1) << 1) for x in range(16)]
    assert [SWIZZLE(x) for x in range(16)] == expected
    assert SWIZZLE(np.arange(16)).tolist() == expected
    assert Map.of(lambda i: SWIZZLE(i), (16,)).table()["m"].tolist() == expected


@pytest.mark.parametrize("wrong", ["x", None, 8.0, True])
def test_values_of_dims_are_integers(wrong):
    M = Dim("M", multiple_of=8)
    for layout in (cute.Layout(M, 1), cute.ComposedLayout(SWIZZLE, M, cute.Layout(M, 1))):
        with pytest.raises(DimError, match="the value of Dim M is an integer"):
            layout.evaluated(M=wrong)
        assert layout.evaluated(M=np.int64(16)) == layout.evaluated(M=16)


@pytest.mark.parametrize("wrong", [5, None, ("m",)])
def test_an_axis_is_an_axis(wrong):
    with pytest.raises(AxisError, match="an axis is an Axis or its name"):
        cute.to_tile(L, wrong)


def test_a_size_alone_may_come_apart_into_modes():
    """The result has b's modes where b's shape is a tuple; the function is the same either way."""
    a = cute.Layout((8, 8, 2), (2, 32, 16))
    alone, tuple_of_one = (cute.composition(a, cute.Layout(*b)) for b in ((8, 2), ((8,), (2,))))
    assert (str(alone), alone.rank()) == ("(4,2):(4,32)", 2)
    assert (str(tuple_of_one), tuple_of_one.rank()) == ("((4,2)):((4,32))", 1)
    for x in range(8):
        digit, above = 2 * x % 8, 2 * x // 8
        assert alone(x) == tuple_of_one(x) == 2 * digit + 32 * above


def test_which_left_inverses_are_bijections():
    for text in ("(2,4):(1,4)", "(4,2):(2,8)", "3:5"):
        a = cute.parse(text)
        found = cute.left_inverse(a)
        assert found == cute.right_inverse(cute.make_layout(a, cute.complement(a)))
        assert sorted(found(y) for y in range(found.size())) == list(range(found.size()))
    wide = cute.parse("(3,2):(1,4)")
    with pytest.raises(cute.CuteError, match="do not nest"):
        cute.complement(wide)
    found = cute.left_inverse(wide)
    assert str(found) == "(4,2):(1,3)"
    for x, y in itertools.product(range(3), range(2)):
        assert found(x + 4 * y) == x + 3 * y
    assert found(3) == found(4) == 3
