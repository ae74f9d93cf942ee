"""Layouts, swizzles, their text, and what is refused."""

from __future__ import annotations

import pickle

import pytest

from layout_algebra import Dim, R, S, TileLayout, cute, laneid
from layout_algebra.errors import CoordinateError, LayoutError, NotationError
from layout_algebra.layouts import ComposeLayout

Layout = cute.Layout
M = Dim("M", multiple_of=8)
N = Dim("N")


def test_a_layout_is_a_frozen_value():
    layout = Layout([[2, 4], 8], [[1, 16], 2])
    assert layout == Layout(((2, 4), 8), ((1, 16), 2))
    assert hash(layout) == hash(Layout(((2, 4), 8), ((1, 16), 2)))
    assert layout != Layout((2, 4, 8), (1, 16, 2))
    assert pickle.loads(pickle.dumps(layout)) == layout
    with pytest.raises(AttributeError):
        layout.shape = (2,)
    assert Layout(((2, 4), 8)).stride == ((1, 2), 8)
    assert (layout.size(), layout.rank(), layout.depth(), layout.cosize()) == (64, 2, 2, 64)
    assert [str(mode) for mode in layout] == ["(2,4):(1,16)", "8:2"]
    assert layout[-1] == Layout(8, 2)


def test_coordinates_are_colexicographic():
    layout = Layout(((2, 4), 8), ((1, 16), 2))
    assert layout(1) == layout(1, 0) == layout((1, 0), 0) == layout(((1, 0), 0)) == 1
    assert layout(2) == layout((0, 1), 0) == 16
    assert layout(8) == layout(0, 1) == 2
    assert layout((1, 3), 7) == layout(63) == 63


@pytest.mark.parametrize("coordinate", [(64,), (-1,), (8, 0), (0, 8), ((2, 0), 0), ((0, 4), 0)])
def test_coordinates_outside(coordinate):
    with pytest.raises(CoordinateError, match="is outside"):
        Layout(((2, 4), 8))(*coordinate)


@pytest.mark.parametrize("coordinate", [(), (1, 2, 3), ((1, 1, 1), 0), (0, (1, 1)), ("1",), (1.0,)])
def test_coordinates_of_another_kind(coordinate):
    with pytest.raises(CoordinateError):
        Layout(((2, 4), 8))(*coordinate)


TEXTS = [
    "4:1",
    "(4):(1)",
    "((2,4),8):((1,16),2)",
    "((12),(4,8)):((7),(1,30))",
    "(2,3):(-1,2)",
    "():()",
    "Sw<3,4,3> o 0 o (8,64):(64,1)",
    "Sw<2,0,-3> o -5 o 8:1",
    '(Dim("M", multiple_of=8)//8,8):(8,1)',
    '((Dim("N") + 1)//2,8):(Dim("N"),1)',
    'Sw<1,2,2> o 2*Dim("N") + 1 o (Dim("N")):(0)',
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_in_and_out(text):
    layout = cute.parse(text)
    assert str(layout) == text
    assert Layout.parse(str(layout)) == layout
    assert cute.ComposedLayout.parse(text) == layout


def test_text_is_read_generously():
    assert cute.parse(" ( _4 , ( 8 ,) ) : ( 1 , ( 4 ) )") == Layout((4, (8,)), (1, (4,)))
    assert cute.parse("(M,N):(1,M)", {"M": M, "N": N}) == Layout((M, N))
    # a size in brackets is a tuple of one, also when it is a quotient
    assert cute.parse(str(Layout(((M + 1) // 3,), (1,)))) == Layout(((M + 1) // 3,), (1,))
    assert cute.parse(str(Layout((M + 1) // 3, 1))) == Layout((M + 1) // 3, 1)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 0),
        ("4", 0),
        ("4:1:2", 4),
        ("(4,8):(1", 6),
        ("(4,,8):(1,2,3)", 3),
        ("(4,8):(1,x)", 9),
        ("Sw<3,4> o 0 o 4:1", 0),
        ("Sw<3,4,3> o 4:1", 11),
        ("a o b o c o d", 3),
        ("(4,8):(1,2**70)", 12),
        ("__import__('os'):1", 0),
        ("4:1 # no", 4),
        ("(4.5):(1)", 1),
        ("(" * 40 + "4" + ")" * 40 + ":1", 32),
        ("(" * 4000 + ")" * 4000 + ":1", 32),
        ("0:1", 0),
        ("(4,8):(1)", 0),
        ("Sw<2,0,0> o 0 o 4:1", 0),
        ("Sw<99,0,3> o 0 o 4:1", 0),
        ("9" * 200 + ":1", 0),
    ],
)
def test_other_text_is_a_notation_error(text, column):
    with pytest.raises(NotationError) as caught:
        cute.parse(text)
    assert caught.value.column == column


@pytest.mark.parametrize("text", [None, 4, b"4:1", "x" * 20_000, "(" * 9000])
def test_what_is_no_text_or_too_much(text):
    with pytest.raises(NotationError):
        cute.parse(text)


def loop():
    inside = []
    inside.append(inside)
    return inside


@pytest.mark.parametrize(
    ("shape", "stride", "says"),
    [
        (0, 1, "at least 1; got 0"),
        ((4, -2), None, r"at least 1; got -2 in \(4,-2\)"),
        (True, 1, "got bool True"),
        (4.0, 1, "got float 4.0"),
        ("4", 1, "got str '4'"),
        ((4, None), (1, 1), "got NoneType None"),
        ((4, 8), (1,), r"nested alike; got \(4,8\) and \(1\)"),
        (4, (1,), r"nested alike; got 4 and \(1\)"),
        ((4, 8), (1, "x"), "a stride is made of ints, Dims and tuples of them; got str 'x'"),
        (loop(), None, "deeper than 32 levels"),
        ((1,) * 5000, None, "more than 4096 numbers"),
        (2**5000, 1, "more than 4096 bits"),
        (Dim("Z", at_most=0), 1, "at least 1"),
    ],
)
def test_layouts_that_are_none(shape, stride, says):
    with pytest.raises(cute.CuteError, match=says):
        Layout(shape, stride)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((-1, 0, 3), "B of a swizzle is an int, 0 to 63; got -1"),
        ((1, 0.5, 3), "M of a swizzle"),
        ((1, 0, 64), "S of a swizzle is an int, -63 to 63; got 64"),
        ((2, 1, 0), r"Sw<2,1,0>: with S = 0"),
        ((True, 1, 1), "got True"),
    ],
)
def test_swizzles_that_are_none(arguments, says):
    with pytest.raises(cute.CuteError, match=says):
        cute.Swizzle(*arguments)


def test_a_swizzle_with_fields_that_overlap_is_a_bijection_but_no_tile():
    layout = cute.ComposedLayout(cute.Swizzle(3, 0, 1), 0, Layout(16))
    assert sorted(layout(i) for i in range(16)) == list(range(16))
    assert cute.footprint(layout) == 16
    with pytest.raises(cute.CuteError, match=r"\|S\| >= B; got Sw<3,0,1>"):
        cute.to_tile(layout)


def test_cosize_is_cutes_and_footprint_is_true():
    cases = [("4:-1", -2, 4), ("(2,3):(-1,2)", 4, 6), ("Sw<3,0,3> o 0 o 9:1", 9, 10)]
    for text, cosize, footprint in cases:
        layout = cute.parse(text)
        assert (cute.cosize(layout), cute.footprint(layout)) == (cosize, footprint)
    assert cute.footprint(Layout((M, 4), (4, -1))) == 4 * (M - 1) + 4
    with pytest.raises(cute.CuteError, match="sign"):
        cute.footprint(Layout(4, Dim("d", at_least=-8)))


def test_the_two_conventions_do_not_mix():
    tile = TileLayout(S[(8, 4) : (1, 8)])
    says = r"S\[\(8, 4\) : \(1, 8\)\] is a TileLayout.*cute.from_tile"
    for operation in (cute.size, cute.coalesce, cute.flatten, cute.to_tile, cute.as_map):
        with pytest.raises(cute.CuteError, match=says):
            operation(tile)
    for operation in (cute.composition, cute.logical_divide, cute.logical_product):
        with pytest.raises(cute.CuteError, match=says):
            operation(tile, Layout(4))
        with pytest.raises(cute.CuteError, match=says):
            operation(Layout(32), tile)
    for operation in (cute.complement, cute.right_inverse, cute.left_inverse):
        with pytest.raises(cute.CuteError, match=says):
            operation(tile)
    with pytest.raises(LayoutError):
        cute.max_common_vector(Layout(4), ComposeLayout(3, 3, 3, tile))
    with pytest.raises(cute.CuteError, match="got str; text becomes one"):
        cute.coalesce("4:1")


def test_tiles_in_reverse():
    layout = Layout((4, 8), (8, 1))
    assert cute.to_tile(layout) == TileLayout(S[(8, 4) : (1, 8)])
    assert cute.to_tile(layout, axis=laneid) == TileLayout(S[(8, 4) : (1 @ laneid, 8 @ laneid)])
    assert cute.from_tile(TileLayout(S[(8, 4) : (1, 8)])) == layout
    assert str(cute.from_tile(TileLayout(S[4:1] + 3))) == "Sw<0,0,0> o 3 o 4:1"
    swizzled = ComposeLayout(3, 3, 4, TileLayout(S[(8, 64) : (64, 1)]), False)
    assert str(cute.from_tile(swizzled)) == "Sw<3,3,-4> o 0 o (64,8):(1,64)"
    assert cute.to_tile(cute.from_tile(swizzled)) == swizzled
    with pytest.raises(cute.CuteError, match="copies"):
        cute.from_tile(TileLayout(S[4:1] + R[2:4]))
    with pytest.raises(cute.CuteError, match="laneid, m"):
        cute.from_tile(TileLayout(S[(4, 2) : (1 @ laneid, 1)]))
    with pytest.raises(cute.CuteError, match="axis m; got axis laneid"):
        cute.to_tile(cute.parse("Sw<3,4,3> o 0 o 8:1"), axis="laneid")
    with pytest.raises(cute.CuteError, match="got Layout 4:1"):
        cute.from_tile(Layout(4))


def test_made_layouts():
    assert cute.make_layout(Layout(4), Layout((2, 3), (1, 2))) == Layout((4, (2, 3)), (1, (1, 2)))
    assert cute.make_ordered_layout((4, 8), (1, 0)) == Layout((4, 8), (8, 1))
    assert cute.make_ordered_layout(((2, 3), 4, 5), (2, 0, 1)) == Layout(
        ((2, 3), 4, 5), ((20, 40), 1, 4)
    )
    like = cute.make_layout_like(Layout(((2, 3), 4, 5), ((100, 0), 7, 30)))
    assert like == Layout(((2, 3), 4, 5), ((20, 0), 1, 4))
    with pytest.raises(cute.CuteError, match=r"nested as its shape; got \(0,1,2\) for \(4,8\)"):
        cute.make_ordered_layout((4, 8), (0, 1, 2))
    with pytest.raises(cute.CuteError, match="an order is made of ints"):
        cute.make_ordered_layout((4, 8), (0, None))
    with pytest.raises(cute.CuteError, match="order of strides"):
        cute.make_layout_like(Layout((4, M), (M, 1)))
    with pytest.raises(cute.CuteError, match="a profile of 3 modes"):
        cute.coalesce(Layout((4, 8)), (1, 1, 1))


def test_symbolic_values():
    layout = Layout((M, N))
    assert layout.is_symbolic
    assert layout.size() == M * N
    assert layout.evaluated(M=8, N=3) == Layout((8, 3))
    composed = cute.ComposedLayout(cute.Swizzle(3, 3, 3), N, layout)
    assert composed.evaluated(M=8, N=3) == cute.parse("Sw<3,3,3> o 3 o (8,3):(1,8)")
    with pytest.raises(CoordinateError, match="evaluated"):
        layout(3)
