"""Grids of layouts and maps: each cell, and its colour, says what enumeration gives."""

import itertools
import random
import re
import time

import pytest

from layout_algebra import (
    Buffer,
    ComposeLayout,
    Dim,
    Map,
    R,
    S,
    TileLayout,
    display,
    laneid,
    warpid,
)
from layout_algebra.display import DisplayError
from layout_algebra.display.colours import MARK, contrast
from layout_algebra.memory import NVIDIA
from tests import bruteforce as bf
from tests.building import Scene, built, random_term
from tests.display.reading import read
from tests.generators import random_layout

FRAGMENT = TileLayout(
    S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid
)


def legend_of(picture):
    """(axis written large, axes written small, axis of the colour), as the legend says."""
    found = re.search(
        r"each element: (\w+)(?: \(large\), ([\w, ]+) \(small\))?; colour: (\w+)", picture.written
    )
    small = found[2].split(", ") if found[2] else []
    return found[1], small, found[3]


def numbers_of(cell):
    """(number written large, numbers written small) of a cell."""
    large, *rest = sorted(cell.texts, key=lambda t: t.y)
    return int(large.text), [int(n) for n in rest[0].text.split(",")] if rest else []


def check_cells(picture, elements, bank=None):
    """Every cell against the places of the elements, in order; colours tell numbers apart."""
    main, small, colour = legend_of(picture)
    cells = picture.filled()
    assert len(cells) == len(elements)
    colours = {}
    for cell, place in zip(cells, elements, strict=True):

        def at(axis, place=place):
            return bank(bf.at(place, "m")) if axis == "bank" and bank else bf.at(place, axis)

        assert numbers_of(cell) == (at(main), [at(axis) for axis in small]), place
        assert colours.setdefault(at(colour), cell.fill) == cell.fill
    return colours


def small_places(rng):
    return random_layout(rng, max_places=600)


def test_random_layouts():
    rng = random.Random(7)
    drawn = 0
    for _ in range(250):
        plain = small_places(rng)
        layout = built(plain)
        if not bf.axes(plain) and plain.swizzle is None:
            continue
        picture = read(display.svg(layout))
        if "a window" in picture.written:
            continue
        drawn += 1
        elements = [bf.base_place(plain, flat) for flat in range(bf.size(plain))]
        bits = 128 >> plain.swizzle[0] if plain.swizzle else 0
        check_cells(picture, elements, lambda m, bits=bits: m * bits // 32 % 32)
        copies = bf.copies(plain)
        assert ("copies of each element: the first is shown" in picture.written) == bool(
            plain.replica
        ), copies
    assert drawn > 200


def test_shape_and_labels():
    picture = read(display.svg(FRAGMENT, shape=(8, 16)))
    plain = bf.Plain(
        ((8, 4, "laneid"), (2, 1, "warpid"), (4, 1, "laneid"), (2, 1, "m")),
        ((2, 4, "warpid"),),
        (("warpid", 5),),
    )
    check_cells(picture, [bf.base_place(plain, flat) for flat in range(128)])
    assert legend_of(picture) == ("laneid", ["warpid", "m"], "laneid")
    cells = picture.filled()
    assert len({c.y for c in cells}) == 8
    heads = [t for t in picture.texts if t.anchor == "middle" and t.y < min(c.y for c in cells)]
    assert [t.text for t in heads] == [str(j) for j in range(16)]
    sides = [t for t in picture.texts if t.anchor == "end" and t.y > cells[0].y]
    assert [t.text for t in sides] == [str(i) for i in range(8)]
    assert "laneid = 4*i + floor(j/2) mod 4" in picture.written
    assert "2 copies of each element" in picture.written


def test_neighbouring_lanes_differ_in_colour():
    colours = check_cells(
        read(display.svg(TileLayout(S[(4, 8) : (8 @ laneid, 1 @ laneid)]))),
        [bf.make_place({"laneid": n}) for n in range(32)],
    )
    assert len(set(colours.values())) == 32


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 16), ("float32", 32), ("float8_e4m3", 8)])
def test_banks(dtype, bits):
    tile = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
    plain = bf.Plain(((8, 64, "m"), (64, 1, "m")), swizzle=(3, 3, 3, True))
    picture = read(display.svg(tile, dtype=dtype))
    elements = [bf.base_place(plain, flat) for flat in range(512)]
    colours = check_cells(picture, elements, lambda m: m * bits // 8 // 4 % 32)
    assert legend_of(picture) == ("m", ["bank"], "bank")
    assert len(set(colours.values())) == len(colours)
    assert f"elements of {bits} bits" in picture.written


def test_a_swizzles_vector_is_16_bytes():
    tile = ComposeLayout(4, 3, 3, TileLayout(S[(8, 128) : (128, 1)]))
    assert "elements of 8 bits" in read(display.svg(tile, columns=range(4))).written


def test_buffers_are_coloured_by_bank():
    buffer = Buffer((8, 8), "float32", TileLayout(S[(8, 8) : (9, 1)]))
    plain = bf.Plain(((8, 9, "m"), (8, 1, "m")))
    picture = read(display.svg(buffer))
    check_cells(picture, [bf.base_place(plain, n) for n in range(64)], lambda m: m % 32)
    elsewhere = Buffer((8, 8), "float32", TileLayout(S[(8, 8) : (9, 1)]), "global")
    assert legend_of(read(display.svg(elsewhere))) == ("m", [], "m")


def test_memory_order_is_a_ramp():
    picture = read(display.svg(TileLayout(S[(4, 4) : (4, 1)])))
    fills = [cell.fill for cell in picture.filled()]
    light = [contrast(fill, "#ffffff") for fill in fills]
    assert light == sorted(light)
    assert light[-1] > light[0]
    assert "darker is larger" in picture.written


def test_texts_can_be_read():
    rng = random.Random(8)
    for _ in range(40):
        picture = read(display.svg(built(small_places(rng))))
        for cell in picture.cells:
            for text in cell.texts:
                assert contrast(text.fill, cell.fill) >= 4.5
        for text in picture.texts:
            assert contrast(text.fill, "#ffffff") >= 4.5


def test_texts_stay_in_their_cells():
    rng = random.Random(9)
    for _ in range(60):
        picture = read(display.svg(built(small_places(rng))))
        for cell in picture.filled():
            assert all(len(t.text) * t.size * 0.602 <= cell.width for t in cell.texts)
        for text in picture.texts:
            share = {"start": 1, "middle": 0.5, "end": 0}[text.anchor]
            assert text.x + share * len(text.text) * text.size * 0.602 <= picture.width
            assert text.x - (1 - share) * len(text.text) * text.size * 0.602 >= 0 or (
                text.anchor == "start"
            )
            assert text.y <= picture.height


def test_marks():
    picture = read(display.svg(FRAGMENT, shape=(8, 16), mark=[(1, 3), {"i": 7, "j": 0}]))
    marks = [box for box in picture.boxes if box.stroke == MARK]
    assert [box.tip for box in marks] == ["marked: element (1, 3)", "marked: element (7, 0)"]
    cells = picture.filled()
    for box, flat in zip(marks, (19, 112), strict=True):
        assert cells[flat].holds(box.x, box.y)
        assert cells[flat].holds(box.x + box.width, box.y + box.height)
    assert "marked: (1, 3), (7, 0)" in picture.written


def test_a_window_says_so():
    layout = TileLayout(S[(256, 512) : (512, 1)])
    picture = read(display.svg(layout))
    assert "a window: rows 0-31 of 256, columns 0-" in picture.written
    picture = read(display.svg(layout, rows=range(100, 103), columns=range(7, 9)))
    shown = [numbers_of(cell)[0] for cell in picture.filled()]
    assert shown == [512 * i + j for i in range(100, 103) for j in range(7, 9)]
    assert "rows 100-102 of 256, columns 7-8 of 512" in picture.written


def test_a_window_goes_to_the_marks():
    layout = TileLayout(S[(256, 512) : (512, 1)])
    picture = read(display.svg(layout, mark=[(0, 0), (200, 300)]))
    shown = {numbers_of(cell)[0] for cell in picture.filled()}
    assert {0, 200 * 512 + 300} <= shown
    assert len(shown) < 200
    assert len([box for box in picture.boxes if box.stroke == MARK]) == 2
    near = read(display.svg(layout, mark=[(255, 511)]))
    assert 256 * 512 - 1 in {numbers_of(cell)[0] for cell in near.filled()}


def test_huge_layouts():
    layout = TileLayout(S[(1 << 40, 1 << 30) : (1 << 30, 1)])
    picture = read(display.svg(layout, mark=[((1 << 40) - 1, (1 << 30) - 1)]))
    assert (1 << 70) - 1 in {numbers_of(cell)[0] for cell in picture.filled()}
    one = read(display.svg(TileLayout(S[1 << 80 : 3])))
    assert [numbers_of(cell)[0] for cell in one.filled()] == [
        3 * n for n in range(len(one.filled()))
    ]


def test_indices_beyond_64_bits_of_small_places():
    extent = 3**19
    layout = TileLayout(S[(1 << 40, extent) : (0, 1)])
    picture = read(display.svg(layout, mark=[((1 << 40) - 1, extent - 1)]))
    shown = {numbers_of(cell)[0] for cell in picture.filled()}
    assert max(shown) == extent - 1
    assert shown == set(range(min(shown), extent))


def test_symbolic_sizes():
    M = Dim("M", multiple_of=8)
    layout = TileLayout(S[(M, 4) : (4, 1)])
    picture = read(display.svg(layout))
    assert not picture.cells
    assert "m = 4*c0 + c1" in picture.written
    assert "dims={'M': ...}" in picture.written
    drawn = read(display.svg(layout, dims={"M": 8}))
    assert [numbers_of(cell)[0] for cell in drawn.filled()] == list(range(32))


def test_a_domain_is_respected():
    f = Map.of(lambda i, j: {"laneid": 4 * i + j}, (8, 4), where=lambda i, j: i + j <= 5)
    picture = read(display.svg(f))
    expected = [4 * i + j for i in range(8) for j in range(4) if i + j <= 5]
    assert [numbers_of(cell)[0] for cell in picture.filled()] == expected
    assert "no cell: not in the map's domain" in picture.written


def test_random_maps():
    rng = random.Random(10)
    for _ in range(120):
        scene = Scene.drawn(rng, symbolic=False)
        term, function = random_term(rng, scene, 3)
        f = Map(tuple(scene.variables), (("m", term),))
        picture = read(display.svg(f))
        ranges = [range(v.low, v.high + 1) for v in scene.variables]
        points = [dict(zip("ijk", point, strict=True)) for point in itertools.product(*ranges)]
        if "a window" not in picture.written:
            assert [numbers_of(c)[0] for c in picture.filled()] == [function(p) for p in points]


def test_coordinates_that_begin_elsewhere():
    f = Map.of(lambda i, j: {"m": i * j}, {"i": (-2, 1), "j": (3, 5)})
    picture = read(display.svg(f, mark=[(-1, 4)]))
    assert [numbers_of(c)[0] for c in picture.filled()] == [
        i * j for i in range(-2, 2) for j in range(3, 6)
    ]
    assert "marked: (-1, 4)" in picture.written


@pytest.mark.parametrize(
    "f", [Map((), ()), Map.of(lambda i: i, (3,)).fixed(i=1), TileLayout(S[1:1])]
)
def test_tiny(f):
    read(display.svg(f))


def test_colour_is_chosen():
    picture = read(display.svg(FRAGMENT, shape=(8, 16), colour="m"))
    assert legend_of(picture) == ("m", ["laneid", "warpid"], "m")
    assert len({cell.fill for cell in picture.filled()}) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "tx"}, r"colour is one of \(laneid, warpid, m\); got 'tx'"),
        ({"colour": "bank"}, 'colour="bank" needs places on m alone'),
        ({"mark": [(1, 2)]}, r"a mark is one int for each of \(c0, c1, c2, c3\)"),
        ({"mark": [(8, 0, 0, 0)]}, r"mark c0 in 0..7; got 8"),
        ({"mark": [{"x": 1}]}, "mark= names x"),
        ({"rows": range(9)}, r"rows is a range inside range\(0, 8\)"),
        ({"columns": (0, 4)}, "columns is a range"),
        ({"dims": {"M": 1}}, "dims= names M"),
        ({"size": 3}, "no option 'size'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(DisplayError, match=message):
        display.svg(FRAGMENT, **options)


def test_an_axis_that_is_called_bank():
    f = Map.of(lambda i, j: {"bank": i, "column": 3 * j}, (4, 4))
    picture = read(display.svg(f, dtype="float16"))
    assert legend_of(picture)[2] in ("bank", "column")
    elements = [bf.make_place({"bank": n // 4, "column": n % 4 * 3}) for n in range(16)]
    check_cells(picture, elements)


def test_other_targets():
    narrow = NVIDIA.__class__(
        "test", 8, 4, 32, NVIDIA.reads, NVIDIA.writes, 32, 128, "made for this test"
    )
    tile = TileLayout(S[(4, 8) : (8, 1)])
    picture = read(display.svg(tile, dtype="float32", target=narrow))
    plain = bf.Plain(((4, 8, "m"), (8, 1, "m")))
    check_cells(picture, [bf.base_place(plain, n) for n in range(32)], lambda m: m % 8)


def test_size_and_speed(capsys):
    """Reported; only the size is asserted, and a speed that no idle machine misses."""
    layout = TileLayout(S[(32, 64) : (1 @ laneid, 1)])
    swizzled = ComposeLayout(3, 3, 3, TileLayout(S[(32, 64) : (64, 1)]))
    for made in (layout, swizzled):
        display.svg(made)
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            picture = display.svg(made)
            times.append(time.perf_counter() - begin)
        assert len(picture.encode()) < 300_000
        assert min(times) < 0.5
        with capsys.disabled():
            print(f"\n32 x 64: {min(times) * 1e3:.1f} ms, {len(picture) / 1e3:.0f} kB")
