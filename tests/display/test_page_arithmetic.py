"""The page's arithmetic, run under Node, against enumeration and against the Python library.

places, elements of a place    tests/bruteforce.py, on 2,000 random layouts
texts                          the library's parse and str, both notations
banks                          the library's `served`, four targets, 4 to 128 bits
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from layout_algebra import cute, parse
from layout_algebra.axes import Axis
from layout_algebra.errors import LayoutAlgebraError, NotationError
from tests import bruteforce as bf
from tests.building import built
from tests.display.test_page_module import ask
from tests.generators import random_layout

AXES = [axis.name for axis in Axis.registered()]


def key(place: bf.Place) -> str:
    return ",".join(f"{axis}={value}" for axis, value in place)


def drawn(count: int, seed: int) -> list[bf.Plain]:
    rng = random.Random(seed)
    return [random_layout(rng, max_places=600) for _ in range(count)]


def test_two_thousand_layouts() -> None:
    """Every element's places, and at random places every element, as by enumeration."""
    rng = random.Random(7)
    layouts = drawn(2000, 20)
    questions, tables, lookups = [], [], []
    for plain in layouts:
        table = bf.table(plain)
        where = sorted({place for places in table for place in places})
        picked = [dict(rng.choice(where)) for _ in range(3)]
        strays = [{**one, "m": one.get("m", 0) + rng.randint(-3, 3)} for one in picked[:2]]
        tables.append(table)
        lookups.append([*picked, *strays])
        questions.append(
            {"ask": "places", "layout": str(built(plain)), "axes": AXES, "lookups": lookups[-1]}
        )
    answers = ask(questions)
    assert len(answers) == 2000
    found = 0
    for plain, table, looked, answer in zip(layouts, tables, lookups, answers, strict=True):
        assert [set(keys) for keys in answer["table"]] == [
            {key(place) for place in places} for places in table
        ], plain
        assert answer["text"] == str(built(plain))
        for place, got in zip(looked, answer["found"], strict=True):
            wanted = bf.make_place(place)
            flats = [flat for flat, places in enumerate(table) if wanted in places]
            found += len(flats)
            if got["complete"]:
                assert got["flats"] == flats, (plain, place)
            else:
                assert len(flats) > 64, (plain, place)
                assert set(got["flats"]) <= set(flats), (plain, place)
        for axis, (low, high) in answer["ranges"].items():
            if low == 0 and high == 0:
                continue
            assert low <= bf.lowest(plain, axis), (plain, axis)
            assert high >= bf.highest(plain, axis), (plain, axis)
            if plain.swizzle is None:
                assert (low, high) == (bf.lowest(plain, axis), bf.highest(plain, axis))
    assert found > 6000  # most of the looked-up places hold something


def test_large_numbers_are_exact_or_refused() -> None:
    """Places between 2^31 and 2^53, where JavaScript's bit operations would wrap."""
    rng = random.Random(8)
    questions, layouts = [], []
    for _ in range(300):
        rows, step = 1 << rng.randint(1, 12), 1 << rng.randint(20, 38)
        text = f"S[({rows}, 64) : ({step + rng.choice((0, 1, 64))}, 1)]"
        if rng.random() < 0.8:
            p, b = rng.randint(0, 6), rng.randint(1, 4)
            inner = rng.choice(("", ", swizzle_inner=False"))
            text = f"ComposeLayout({p}, {b}, {rng.randint(b, 12)}, {text}{inner})"
        layout = parse(text)
        flat = rng.randrange(int(layout.size()))
        layouts.append((layout, flat))
        questions.append({"ask": "element", "layout": text, "axes": AXES, "flat": flat})
    beyond = 0
    for (layout, flat), answer in zip(layouts, ask(questions), strict=True):
        place = layout.apply(flat)
        if "refused" in answer:
            assert int(layout.span("m")) >= 1 << 53
            continue
        assert answer["place"] == place, layout
        assert answer["found"] == {"flats": [flat], "complete": True} or not layout_injective(
            layout, place, answer["found"]["flats"]
        )
        beyond += place["m"] >= 1 << 31
    assert beyond > 100
    (refused,) = ask([{"ask": "text", "text": f"S[{1 << 53} : 3]", "axes": AXES}])
    assert "2^53" in refused["refused"]


def layout_injective(layout: Any, place: dict[str, int], flats: list[int]) -> bool:
    """Whether only one of the elements is at the place; false where several really are."""
    return sum(layout.apply(flat) == place for flat in flats) != len(flats)


READ = [
    "S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid",
    "5@warpid + S[8 : laneid] + 3 + 4",
    'S[(8, 4) : ((2, "laneid"), "warpid")] + -1@laneid',
    "S[(8, 64)]",
    "S[8]",
    "S[()]",
    "R[2 : 4@warpid]",
    "TileLayout(S[8 : 4*2@laneid])",
    "S[[8, 4] : [2*(3 - 1), -7 // 2]]",
    "S[(4, 2) : (1@reg, 2@laneid)]",
    "S[8 : 1] + R[()]",
    "S[(2, 3,) : (0, 1,)] + 0@laneid",
    "ComposeLayout(3, 3, 3, S[(8, 64) : (64, 1)])",
    "ComposeLayout(3, swizzle_len=2, atom_len=4, tile_layout=S[64], swizzle_inner=False)",
    "ComposeLayout(3, 3, 3, TileLayout(S[(8, 64)] + 8), True)",
]
REFUSED = [
    "",
    "S",
    "S[",
    "S[8",
    "S[8 : 1]]",
    "S[(8, 4) : 1]",
    "S[8 : (1, 2)]",
    "S[(8, 4) : (1,)]",
    "S[0 : 1]",
    "S[-8 : 1]",
    "S[8 : 1] - 1",
    "S[8] + S[4]",
    "R[8] + R[4]",
    "S[8] * 2",
    "S[8 : 1@nowhere]",
    "S[8 : 1@reg] + 1",
    "S[8 : laneid@4]",
    "S[8 : 1 / 2]",
    "S[8 : 1 // 0]",
    "S[8] + laneid",
    "5@laneid",
    "8",
    "Foo(S[8])",
    "ComposeLayout(3, 3, 2, S[64])",
    "ComposeLayout(3, 3, 3)",
    "ComposeLayout(3, 3, 3, 8)",
    "ComposeLayout(64, 3, 3, S[64])",
    "S[8.5]",
    "S[8 : 1] # a comment",
]


def test_texts_are_read_as_in_python() -> None:
    answers = ask([{"ask": "text", "text": text, "axes": AXES} for text in READ])
    assert answers == [str(parse(text)) for text in READ]


def test_bad_texts_are_refused_as_in_python() -> None:
    answers = ask([{"ask": "text", "text": text, "axes": AXES} for text in REFUSED])
    for text, answer in zip(REFUSED, answers, strict=True):
        with pytest.raises(NotationError):
            parse(text)
        assert isinstance(answer, dict), (text, answer)
        assert answer["refused"], text


def random_cute(rng: random.Random) -> str:
    def nest(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.4:
            return rng.randint(1, 6)
        return tuple(nest(depth - 1) for _ in range(rng.randint(1, 3)))

    def strides(shape: Any) -> Any:
        if isinstance(shape, tuple):
            return tuple(strides(one) for one in shape)
        return rng.randint(0, 40)

    shape = nest(2)
    layout = str(cute.Layout(shape, strides(shape)))
    if rng.random() < 0.4:
        bits = rng.randint(1, 3)
        shift = rng.choice((1, -1)) * rng.randint(bits, 5)
        return f"Sw<{bits},{rng.randint(0, 4)},{shift}> o {rng.randint(0, 50)} o {layout}"
    return layout


def test_cute_texts_are_the_same_function() -> None:
    """Read as `to_tile` reads them, and written as `from_tile` writes them."""
    rng = random.Random(9)
    texts = [random_cute(rng) for _ in range(300)]
    answers = ask([{"ask": "text", "text": text, "axes": AXES} for text in texts])
    assert answers == [str(cute.to_tile(cute.parse(text))) for text in texts]
    layouts = [built(plain) for plain in drawn(400, 21)]
    asked = [{"ask": "places", "layout": str(one), "axes": AXES, "lookups": []} for one in layouts]
    written = 0
    for layout, answer in zip(layouts, ask(asked), strict=True):
        try:
            wanted = str(cute.from_tile(layout))
        except LayoutAlgebraError:
            wanted = None
        assert answer["cute"] == wanted, layout
        written += wanted is not None
    assert written > 50


def test_shapes() -> None:
    layout = "S[(8, 64)]"
    texts = ["8x64", "(8, 64)", "8,64", "512", "", "4 x 8 x 16", "4x4", "8x65", "0x4", "a"]
    answers = ask([{"ask": "shape", "text": text, "layout": layout} for text in texts])
    assert answers[:7] == [[8, 64], [8, 64], [8, 64], [512], [8, 64], [4, 8, 16], [4, 4]]
    assert all("refused" in answer for answer in answers[7:])


# -- operations --------------------------------------------------------------------------------
def test_compose_and_invert() -> None:
    """Tables against enumeration; a text that is given back is the same map."""
    rng = random.Random(12)
    pairs = []
    for _ in range(300):
        inner = random_layout(rng, max_places=200, axes=("m",), replicas=False)
        outer = random_layout(rng, max_places=4000, replicas=False)
        pairs.append((outer, inner))
    questions = [
        {"ask": "compose", "outer": str(built(a)), "inner": str(built(b)), "axes": AXES}
        for a, b in pairs
    ] + [{"ask": "inverse", "layout": str(built(b)), "axes": AXES} for _, b in pairs]
    answers = ask(questions)
    composed = inverted = recognised = 0
    for (outer, inner), answer in zip(pairs, answers[:300], strict=True):
        values = [bf.address(inner, flat) for flat in range(bf.size(inner))]
        if not all(0 <= value < bf.size(outer) for value in values):
            assert "refused" in answer
            continue
        wanted = [bf.base_place(outer, value) for value in values]
        assert [bf.make_place(place) for place in answer["values"]] == wanted
        composed += 1
        recognised += check_text(answer, wanted)
    for (_, inner), answer in zip(pairs, answers[300:], strict=True):
        values = [bf.address(inner, flat) for flat in range(bf.size(inner))]
        if sorted(values) != list(range(len(values))):
            assert "refused" in answer
            continue
        wanted = [values.index(place) for place in range(len(values))]
        assert [place["m"] for place in answer["values"]] == wanted
        inverted += 1
        recognised += check_text(answer, [bf.make_place({"m": flat}) for flat in wanted])
    assert composed > 50
    assert inverted > 50
    assert recognised > 80


def check_text(answer: dict[str, Any], wanted: list[bf.Place]) -> int:
    if answer["layoutText"] is None:
        return 0
    layout = parse(answer["layoutText"])
    assert [bf.make_place(layout.apply(flat)) for flat in range(len(wanted))] == wanted
    return 1


def test_compare_and_collision() -> None:
    layouts = drawn(400, 22)
    texts = [str(built(plain)) for plain in layouts]
    pairs = list(zip(range(0, 400, 2), range(1, 400, 2), strict=True))
    questions = [
        {"ask": "compare", "layouts": [texts[a], texts[b]], "axes": AXES} for a, b in pairs
    ] + [{"ask": "collision", "layout": text, "axes": AXES} for text in texts]
    answers = ask(questions)
    tables = [bf.table(plain) for plain in layouts]
    for (a, b), answer in zip(pairs, answers, strict=False):
        both = enumerate(zip(tables[a], tables[b], strict=False))
        assert answer["differing"] == [flat for flat, (x, y) in both if x != y]
    hits = 0
    for plain, table, answer in zip(layouts, tables, answers[len(pairs) :], strict=True):
        assert (answer is None) == bf.injective(plain)[0], plain
        if answer is not None:
            hits += 1
            first, second = (table[flat] for flat in answer["flats"])
            assert bf.make_place(answer["place"]) in first & second
    assert 50 < hits < 350


def test_the_steps_end_at_the_place() -> None:
    (lines,) = ask(
        [{"ask": "steps", "layout": READ[0], "shape": [8, 16], "flat": 19, "axes": AXES}]
    )
    assert lines[0] == "flat index of (1, 3): 1*16 + 3 = 19"
    assert lines[-1] == "place: laneid = 5, warpid = 5, m = 1"
    (lines,) = ask(
        [{"ask": "steps", "layout": READ[12], "shape": [8, 64], "flat": 64, "axes": AXES}]
    )
    assert "64 xor 1 * 2^3 = 72" in lines[-2]


def test_the_state_survives_the_address() -> None:
    state = {"layout": "S[(8, 4) : (4@laneid, 1)] + 5@laneid", "element": 7, "view": "owner"}
    (back,) = ask([{"ask": "address", "state": state}])
    assert {name: back[name] for name in state} == state
