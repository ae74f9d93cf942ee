"""Operations on layouts that people have met, the words of refusals, and sizes beyond counting."""

from __future__ import annotations

import random

import pytest

from layout_algebra import cute
from layout_algebra.cute.leaves import NoLayoutError, UndecidedError
from tests.cute import enumeration as en

Layout = cute.Layout


def of(text):
    return cute.parse(text)


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        ("(10,2):(16,4)", "(3,4):(1,5)", "(3,(2,2)):(16,(80,4))"),
        ("(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"),
        ("(2,3):(1,2)", "(2,3):(3,1)", "(2,3):(3,1)"),
        # the leaf boundary of the right layout is none of the composite: its mode is refined anew
        ("(3,2):(1,10)", "((2,3)):((1,2))", "((3,2)):((1,10))"),
        # neither of 6 and 4 divides the other, and there is a layout
        ("(4,9):(1,7)", "6:6", "(2,3):(9,21)"),
        ("4:1", "():()", "():()"),
        ("Sw<3,3,3> o 8 o (8,64):(64,1)", "(4,2):(2,8)", "Sw<3,3,3> o 8 o (4,2):(128,1)"),
    ],
)
def test_known_compositions(a, b, result):
    left, right = of(a), of(b)
    found = cute.composition(left, right)
    assert str(found) == result
    inside = [left(right(i)) for i in range(right.size())]
    assert [found(i) for i in range(found.size())] == inside


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (
            "(4,6,8):(2,3,5)",
            "6:3",
            "6:3 has the values 0, 6, 7, 8, 9, 15: a run of 2 of them, which do not repeat at 2",
        ),
        (
            "(2,3):(4,1)",
            "(3,4):(3,1)",
            "(3,4):(3,1) leaves the left layout, which has indices 0..5: first at coordinate "
            "(2, 0) (index 2), where it is 6",
        ),
        ("8:1", "(2,3):(4,-1)", "first at coordinate (0, 1) (index 2), where it is -1"),
        (
            "(4,4):(1,10)",
            "(4,2):(1,2)",
            "the modes together carry through mode 4:1 of the left layout: at coordinate (2, 1) "
            "the value is 10, and its modes alone add up to 4",
        ),
        (
            "(12,4):(1,100)",
            "(2,18):(18,1)",
            "mode 1 of (2,18):(18,1): 18:1 crosses the end of the left layout's mode 12:1 after "
            "12 steps, and 12 does not divide 18",
        ),
    ],
)
def test_what_refusals_say(a, b, says):
    with pytest.raises(NoLayoutError) as caught:
        cute.composition(of(a), of(b))
    assert says in str(caught.value)


def test_tilers_go_mode_by_mode():
    a = Layout((12, (4, 8)), (59, (13, 1)))
    assert str(cute.composition(a, (Layout(3, 4), Layout(8, 2)))) == "(3,(2,4)):(236,(26,1))"
    assert cute.composition(a, (None, 4)) == Layout((12, 4), (59, 13))
    assert cute.composition(a, (3,)) == Layout((3, (4, 8)), (59, (13, 1)))
    assert cute.composition(a, (None, (2, 4))) == Layout((12, (2, 4)), (59, (13, 1)))
    with pytest.raises(cute.CuteError, match="a tiler of 3 modes for "):
        cute.composition(a, (1, 1, 1))
    with pytest.raises(cute.CuteError, match="composition, mode 1: 64:1 leaves the left layout"):
        cute.composition(a, (1, 64))
    with pytest.raises(cute.CuteError, match="got str"):
        cute.composition(a, "4:1")
    with pytest.raises(cute.CuteError, match="without a swizzle"):
        cute.composition(a, of("Sw<1,1,1> o 0 o 4:1"))
    assert cute.composition(cute.Swizzle(1, 1, 2), Layout(16)) == of("Sw<1,1,2> o 0 o 16:1")


@pytest.mark.parametrize(
    ("a", "places", "result"),
    [
        ("4:1", 24, "6:4"),
        ("6:4", 24, "4:1"),
        ("(4,6):(1,4)", 24, "1:0"),
        ("4:2", 24, "(2,3):(1,8)"),
        ("(2,4):(1,6)", 24, "3:2"),
        ("(2,2):(1,6)", 24, "(3,2):(2,12)"),
        ("(4,8):(1,4)", (12, 32), "12:32"),
        ("4:1", 5, "2:4"),
        ("(4,3):(1,0)", 8, "2:4"),
    ],
)
def test_known_complements(a, places, result):
    assert str(cute.complement(of(a), places)) == result


@pytest.mark.parametrize(
    ("a", "says"),
    [
        ("4:-1", "mode 4:-1 of 4:-1 goes down"),
        (
            "(2,3):(1,3)",
            r"2:1 and 3:3 of \(2,3\):\(1,3\) do not nest: stride 3 is no multiple of 2\*1 = 2",
        ),
        ("Sw<1,1,1> o 0 o 4:1", "has no swizzle"),
    ],
)
def test_layouts_without_a_complement(a, says):
    with pytest.raises(cute.CuteError, match=says):
        cute.complement(of(a), 24)


def test_divides_across_the_end_of_a_mode():
    layout = of("((12),(4,8)):((7),(1,30))")
    first = en.table(layout.shape, layout.stride)
    for tile in (12, 48, 96, 192):
        found = cute.logical_divide(layout, tile)
        assert en.table(found.shape, found.stride) == first
        assert en.size(found.shape[0]) == tile
    with pytest.raises(cute.CuteError, match="blocks of 18 elements do not divide the 384"):
        cute.logical_divide(layout, 18)
    with pytest.raises(NoLayoutError) as caught:
        cute.logical_divide(layout, 128)
    assert (
        "128:1 crosses the end of the left layout's mode 12:7 after 12 steps, and 12 does not"
        in (str(caught.value))
    )


def test_twelve_tiles():
    layout = of("(12,32):(1,12)")
    assert str(cute.logical_divide(layout, of("(4,8):(1,4)"))) == "((4,8),12):((1,4),32)"
    by_mode = cute.logical_divide(layout, (Layout(4, 1), Layout(8, 1)))
    assert str(by_mode) == "((4,3),(8,4)):((1,4),(12,96))"
    assert cute.logical_divide(layout, (4, 8)) == by_mode


def test_the_arrangements_of_a_divide():
    layout = of("(12,32,5):(1,12,384)")
    texts = {
        cute.logical_divide: "((4,3),(8,4),5):((1,4),(12,96),384)",
        cute.zipped_divide: "((4,8),(3,4,5)):((1,12),(4,96,384))",
        cute.tiled_divide: "((4,8),3,4,5):((1,12),4,96,384)",
        cute.flat_divide: "(4,8,3,4,5):(1,12,4,96,384)",
    }
    for operation, text in texts.items():
        assert str(operation(layout, (4, 8))) == text
    assert str(cute.zipped_divide(layout, 24)) == "(24,80):(1,24)"
    assert str(cute.zipped_divide(layout, (4, None))) == "((4,1),(3,32,5)):((1,0),(4,12,384))"
    nested = of("((4,6),8):((1,4),24)")
    assert str(cute.zipped_divide(nested, ((2, 3), 4))) == (
        "(((2,3),4),((2,2),2)):(((1,4),24),((2,12),96))"
    )
    swizzled = of("Sw<3,3,3> o 0 o (8,64):(64,1)")
    assert str(cute.zipped_divide(swizzled, (4, 8))) == (
        "Sw<3,3,3> o 0 o ((4,8),(2,8)):((64,1),(256,8))"
    )


def test_known_products():
    block, tiler = of("(2,5):(5,1)"), of("(3,4):(1,3)")
    assert str(cute.blocked_product(block, tiler)) == "((2,3),(5,4)):((5,10),(1,30))"
    assert str(cute.raked_product(block, tiler)) == "((3,2),(4,5)):((10,5),(30,1))"
    assert str(cute.logical_product(of("(2,2):(4,1)"), 6)) == "((2,2),(2,3)):((4,1),(2,8))"
    assert str(cute.logical_product(of("(2,2):(4,1)"), of("(4,2):(2,1)"))) == (
        "((2,2),(4,2)):((4,1),(8,2))"
    )
    texts = {
        cute.logical_product: "((2,3),(5,4)):((5,1),(1,5))",
        cute.zipped_product: "((2,5),(3,4)):((5,1),(1,5))",
        cute.tiled_product: "((2,5),3,4):((5,1),1,5)",
        cute.flat_product: "(2,5,3,4):(5,1,1,5)",
    }
    for operation, text in texts.items():
        assert str(operation(block, (3, 4))) == text
    assert str(cute.blocked_product(of("4:1"), of("(2,3):(1,2)"))) == "((4,2),(1,3)):((1,4),(0,8))"
    with pytest.raises(cute.CuteError, match="leaves the left layout"):
        cute.logical_product(block, Layout(3, -1))


def test_products_by_their_law():
    rng = random.Random(7310)
    seen = 0
    for _ in range(300):
        a, b = en.random_layout(rng, 24), en.random_layout(rng, 12, 2)
        block, tiler = Layout(*a), Layout(*b)
        try:
            blocked, raked = cute.blocked_product(block, tiler), cute.raked_product(block, tiler)
        except cute.CuteError:
            continue
        seen += 1
        rank = max(len(block), len(tiler))
        whole = cute.logical_product(block, tiler)
        for i in range(block.size()):
            for j in range(tiler.size()):
                x = by_modes(i, block, rank)
                y = by_modes(j, tiler, rank)
                place = whole(i, j)
                assert blocked(tuple(zip(x, y, strict=True))) == place
                assert raked(tuple(zip(y, x, strict=True))) == place
    assert seen > 100


def by_modes(index, layout, rank):
    """The index as one number for each mode, 0 in the modes that a product adds."""
    digits = []
    for mode in layout:
        index, digit = divmod(index, mode.size())
        digits.append(digit)
    return digits + [0] * (rank - len(digits))


def test_inverses():
    assert str(cute.left_inverse(of("(4,2):(1,16)"))) == "(4,4,2):(1,8,4)"
    assert str(cute.right_inverse(of("(4,2):(1,16)"))) == "4:1"
    assert str(cute.right_inverse(of("(8,4):(4,1)"))) == "(4,8):(8,1)"
    assert str(cute.right_inverse(of("4:2"))) == "1:0"
    with pytest.raises(cute.CuteError, match="puts 3 elements in one place"):
        cute.left_inverse(of("(4,3):(1,0)"))
    with pytest.raises(cute.CuteError, match="do not nest"):
        cute.left_inverse(of("(2,2):(1,1)"))
    assert cute.max_common_vector(of("(4,8):(1,4)"), of("(4,8):(1,8)")) == 4
    assert cute.max_common_vector(of("(4,8):(8,1)"), of("(4,8):(1,4)")) == 1
    assert cute.max_common_vector(of("8:1"), of("(4,8):(1,4)")) == 8


# -- sizes beyond counting -----------------------------------------------------------------------
def big_layouts(rng):
    """Left layouts of about 2**60 elements, and right ones that mostly fit."""
    sizes = [rng.choice((4, 6, 12, 2**20, 3 * 2**18)) for _ in range(4)]
    strides = en.compact(sizes, rng)
    domain = en.size(tuple(sizes))
    right, steps, reached = [], [], 1
    for _ in range(3):
        extent = rng.choice((2, 3, 4, 12, 2**10, 2**19))
        if reached * extent > domain:
            break
        right.append(extent)
        steps.append(reached)
        reached *= extent * rng.choice((1, 2, 3))
    return (tuple(sizes), tuple(strides)), (tuple(right), tuple(steps))


def test_huge_compositions_at_random_points():
    rng = random.Random(7311)
    found = {"layout": 0, "none": 0, "undecided": 0}
    for _ in range(400):
        a, b = big_layouts(rng)
        left, right = Layout(*a), Layout(*b)
        try:
            result = cute.composition(left, right)
        except UndecidedError:
            found["undecided"] += 1
            continue
        except NoLayoutError:
            found["none"] += 1
            continue
        found["layout"] += 1
        for _ in range(50):
            index = rng.randrange(right.size())
            assert result(index) == left(right(index)), (left, right, result)
    assert found["layout"] > 50
    assert found["none"] > 50
    assert found["undecided"] < 40


def test_huge_sizes_are_decided_by_structure():
    left = Layout((4, 2**40), (1, 7))
    assert str(cute.composition(left, Layout((2**30, 2), (6, 1)))) == (
        "((2,536870912),2):((9,21),1)"
    )
    with pytest.raises(NoLayoutError, match="carry through mode 4:1"):
        cute.composition(left, Layout((2**30, 2), (5, 3)))
    with pytest.raises(NoLayoutError, match=r"first at coordinate \(1, 2\)"):
        cute.composition(Layout(2**80 + 5), Layout((2**20, 4), (5, 2**79)))
    with pytest.raises(UndecidedError, match="too many to look at"):
        cute.composition(Layout((4, 2**40), (1, 7)), Layout(3**20, 3))
    # the leaves 2 and 3*2**25 count on: together they are cut at 3
    anew = cute.composition(Layout((3, 2**40), (1, 10)), Layout(((2, 3 * 2**25),), ((1, 2),)))
    assert anew == Layout(((3, 2**26),), ((1, 10),))
    big = Layout((2**70, 3), (1, 2**75))
    assert cute.composition(big, Layout((2, 3), (3, 2**70))) == Layout((2, 3), (3, 2**75))
    assert cute.complement(Layout(2**50, 2**20), 2**80) == Layout((2**20, 2**10), (1, 2**70))
    assert cute.max_common_vector(Layout(2**60), Layout((2**30, 2**30))) == 2**60
