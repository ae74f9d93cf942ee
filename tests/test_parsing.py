"""Reading text: what is written comes back, and whatever the text, the only error is ours."""

import pickle
import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_algebra.axes import laneid, m, warpid
from layout_algebra.dims import Dim
from layout_algebra.errors import MOST_SHOWN, NotationError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.notation import R, S
from layout_algebra.parsing import parse, parse_box, parse_shape, parse_size
from layout_algebra.trees import MOST_CHARACTERS, MOST_MESSAGE
from tests.building import built, random_dims, random_size
from tests.generators import layouts, random_layout

READERS = (parse, parse_size, parse_shape, parse_box)
M, K = Dim("M", multiple_of=8), Dim("K")


# --------------------------------------------------------------------------- round trip


def test_random_layouts_come_back():
    for seed in range(3000):
        layout = built(random_layout(random.Random(seed)))
        assert parse(str(layout)) == layout, seed


@given(layouts())
def test_any_layout_comes_back(plain):
    layout = built(plain)
    back = parse(str(layout))
    assert back == layout
    assert type(back) is type(layout)
    assert hash(back) == hash(layout)
    assert pickle.loads(pickle.dumps(back)) == layout


def test_symbolic_layouts_come_back():
    """Extents, strides and offsets of every form that sizes have, on every axis."""
    axes = ("m", "laneid", "TCol")
    for seed in range(1500):
        rng = random.Random(seed)
        dims = random_dims(rng)

        def size(rng=rng, dims=dims):
            return random_size(rng, dims, rng.choice((0, 1, 1, 2)))[0]

        def iters(count, rng=rng, dims=dims, size=size):
            extents = [rng.choice((*(d.dim for d in dims), 1, 4, 7)) for _ in range(count)]
            return [(extent, size(), rng.choice(axes)) for extent in extents]

        offset = {axis: size() for axis in axes if rng.random() < 0.3}
        layout = TileLayout.from_iters(iters(rng.randint(0, 3)), iters(rng.randint(0, 2)), offset)
        if rng.random() < 0.3:
            layout = ComposeLayout(rng.randint(0, 3), 2, 3, layout, rng.random() < 0.5)
        text = str(layout)
        if len(text) < MOST_CHARACTERS:
            assert parse(text) == layout, (seed, text)


# -------------------------------------------------------------------------------- forms

# fmt: off
FORMS = {
    "S[8]": TileLayout(S[8]),
    "S[[2, 3]]": TileLayout(S[2, 3]),
    "S[(8,) : ((4, 'laneid'),)]": TileLayout(S[8 : 4@laneid]),
    "S[(8, 2) : ((4, laneid), 'warpid')]": TileLayout(S[(8, 2) : (4@laneid, 1@warpid)]),
    "S[[8, 2] : [laneid, 1]]": TileLayout(S[(8, 2) : (1@laneid, 1)]),
    "5@laneid + (S[8] + R[2 : 8]) + -3": TileLayout(S[8] + R[2 : 8] + 5@laneid + (-3)),
    "3 + S[8] + (2 + 1@laneid)": TileLayout(S[8] + 5 + 1@laneid),
    "S[8] + -(5@laneid)": TileLayout(S[8] + -5@laneid),
    "S[8] + -5@laneid": TileLayout(S[8] + -5@laneid),
    "S[2*4 : 2*(3 - 1)@laneid]": TileLayout(S[8 : 4@laneid]),
    "S[17//2 : 7 % 4]": TileLayout(S[8 : 3]),
    "S[+8 : -(-3)]": TileLayout(S[8 : 3]),
    "S[0x10, 1_0]": TileLayout(S[16, 10]),
    "TileLayout(S[8] + 3)": TileLayout(S[8] + 3),
    "TileLayout(spec=S[8])": TileLayout(S[8]),
    "  S[(8, 2)\n    : (2, 1)]\n\t+ 4\xa0": TileLayout(S[(8, 2) : (2, 1)] + 4),
    'S[Dim("M", multiple_of=8)//8, 8]': TileLayout(S[M // 8, 8]),
    'S[Dim(name="M", multiple_of=2*4)]': TileLayout(S[M]),
    'S[(Dim("M", multiple_of=8) - 8)//4 : Dim("K")@laneid]': TileLayout(S[(M - 8) // 4 : K@laneid]),
    'S[8] + (Dim("K") - 1) + Dim("K")@laneid': TileLayout(S[8] + (K - 1) + K@laneid),
    'S[Dim("größe")]': TileLayout(S[Dim("größe")]),
    "ComposeLayout(3, 3, 3, S[512])": ComposeLayout(3, 3, 3, TileLayout(S[512])),
    "ComposeLayout(3, 3, 3, S[512], False)": ComposeLayout(3, 3, 3, TileLayout(S[512]), False),
    "ComposeLayout(1, 2, 3, TileLayout(S[512]), True)": ComposeLayout(1, 2, 3, TileLayout(S[512])),
    "ComposeLayout(tile_layout=S[8], per_element=0, atom_len=2, swizzle_len=1)":
        ComposeLayout(0, 1, 2, TileLayout(S[8])),
}
# fmt: on


@pytest.mark.parametrize("text", FORMS)
def test_forms(text):
    assert parse(text) == FORMS[text]


def test_sizes():
    assert parse_size("64") == 64
    assert parse_size(" -(3 - 5)*4 // 3 ") == 2
    assert parse_size('Dim("M", multiple_of=8)//8 + 2*Dim("K")') == M // 8 + 2 * K
    assert parse_size('Dim("K") % 3') == K - 3 * (K // 3)


def test_shapes():
    for text in ("8x16", " 8 x 16", "8X16", "8×16", "8,16", "(8, 16)", "[8, 16]", "8, 2*8,"):
        assert parse_shape(text) == (8, 16)
    assert parse_shape("128") == (128,)
    assert parse_shape("()") == ()
    assert parse_shape("2x3x4x5") == (2, 3, 4, 5)
    assert parse_shape('Dim("M", multiple_of=8), 64') == (M, 64)


def test_boxes():
    assert parse_box("laneid=32,m=2") == {"laneid": (0, 32), "m": (0, 2)}
    assert parse_box(" laneid = 0:32 , m = -2 : 4 ") == {"laneid": (0, 32), "m": (-2, 4)}
    assert parse_box("reg=4") == {"m": (0, 4)}
    box = parse_box('m=Dim("M", multiple_of=8)*64, TLane=(4 - 2)*8:32')
    assert box == {"m": (0, 64 * M), "TLane": (16, 32)}


# ------------------------------------------------------------------------------- errors


def test_the_caret_is_under_the_item():
    for text, under in (
        ("S[(8, 0, 4) : (4, 2, 1)]", "0"),
        ("S[8, 4, -1]", "-1"),
        ("S[[8, 4, 0]]", "0"),
        ("S[[8, 4, 0],]", "0"),
        ('S[(Dim("M"), 4) : (4*Dim("M", at_least=1), 1)]', 'Dim("M", at'),
        ("S[(8, 4) : (4@laneid, (1, 'lane'))]", "(1, 'lane')"),
        ("S[(8, 4) : [4, 1.5]]", "1.5"),
        ("ComposeLayout(3, 3, 3, S[(8, 0) : (64, 1)])", "0)"),
        ("ComposeLayout(3, swizzle_len=5, atom_len=4, tile_layout=S[8])", "4"),
        ('S[(Dim("größe"), 4) : (4@laneid, 1@lane)]', "lane)"),
        ("S[8] + R[4 : 1@laneid] + R[2 : 1]", "R[2"),
        ("   S[8] + 1.5", "1.5"),
    ):
        with pytest.raises(NotationError) as caught:
            parse(text)
        error = caught.value
        assert text[error.column :].startswith(under), str(error)
        message, shown, caret = str(error).split("\n")
        assert shown == f"  {text}"
        assert caret == " " * (2 + error.column) + "^"
        assert message == error.reason


def test_blanks_do_not_move_the_caret():
    text = "S[(8,\n    4)\t: (4@laneid,\n    1@lane)]"
    with pytest.raises(NotationError) as caught:
        parse(text)
    assert text[caught.value.column :] == "lane)]"
    assert "\n  S[(8,     4) : (4@laneid,     1@lane)]\n" in str(caught.value)


def test_long_texts_are_shown_around_the_caret():
    text = "S[" + ", ".join(["7"] * 200) + ", 0, " + ", ".join(["3"] * 200) + "]"
    with pytest.raises(NotationError) as caught:
        parse(text)
    _, shown, caret = str(caught.value).split("\n")
    assert text[caught.value.column] == shown[caret.index("^")] == "0"
    assert len(shown) <= MOST_SHOWN + 8
    assert shown.startswith("  ..., 7, 7")
    with pytest.raises(NotationError) as caught:
        parse("S[8 : " + "x+" * 200 + "1]")
    assert len(caught.value.reason) <= MOST_MESSAGE


def test_errors_are_values():
    with pytest.raises(NotationError) as caught:
        parse("S[(8, 0) : (1, 1)]")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.reason, copy.text, copy.column) == (
        str(caught.value),
        caught.value.reason,
        "S[(8, 0) : (1, 1)]",
        6,
    )


@pytest.mark.parametrize("value", [None, 5, b"S[8]", ["S[8]"], S[8]])
def test_text_is_needed(value):
    with pytest.raises(NotationError, match="is read from a text; got "):
        parse(value)


# -------------------------------------------------------------------- whatever the text

WORDS = (
    *"[]():,+-@=*.#'\"\\~!^&|<>{}%$;_x\t\n\x00é−\uff18\ud800",
    *("S", "R", "8", "0", "laneid", "m", "reg", '"laneid"', "TileLayout(", "ComposeLayout("),
    *('Dim("M")', 'Dim("M", multiple_of=8)', "Dim(", "True", "None", "...", "1.5", "//", "**"),
    *("S[8]", "S[(8, 4) : (4@laneid, 1)]", "R[2 : 4]", "lambda", " if ", " else ", " for ", 'f"'),
    *("b'", "08", "0x1F", "1_0", "at_least=", "swizzle_inner=", "8and", "not ", "await ", ":="),
)


def outcome(reader, text):
    """What a reader makes of a text, or its error; any other error is the test's failure."""
    try:
        return reader(text)
    except NotationError as error:
        return error


def only_our_errors(text):
    for reader in READERS:
        made = outcome(reader, text)
        if isinstance(made, NotationError):
            assert 0 <= made.column <= len(text), (reader, text)
            # no lone surrogate, nothing that a terminal would obey
            assert str(made).replace("\n", "").isprintable(), (reader, text)
            str(made).encode("utf-8")
        elif reader is parse:
            assert parse(str(made)) == made


@given(st.lists(st.sampled_from(WORDS), max_size=15).map("".join))
def test_words_in_any_order(text):
    only_our_errors(text)


@given(st.text(max_size=30))
def test_any_characters(text):
    only_our_errors(text)


def test_layouts_with_mistakes():
    texts = [*FORMS, "laneid=0:32,m=2:4", "8x16"]
    for seed in range(4000):
        rng = random.Random(seed)
        text = rng.choice(texts)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text) + 1)
            put = rng.choice((*WORDS, *string.printable, *[""] * 30))
            text = text[:at] + put + text[at + rng.choice((0, 1, 1, 2, 6)) :]
        only_our_errors(text)


SIZE = "(" + "+".join(f'Dim("x{n}")' for n in range(10)) + "+1)"
HOSTILE = {
    "a long sum": "S[8]" + " + 1" * 2000,
    "signs": "S[8] + " + "-" * 9000 + "1",
    "tildes": "~" * 3000 + "1",
    "brackets": "(" * 5000,
    "tuples": "(1," * 3000,
    "subscripts": "S[" * 300 + "1" + "]" * 300,
    "attributes": "x." * 4000 + "x",
    "calls": "x(" * 90 + ")" * 90,
    "powers": "1**" * 3000 + "1",
    "towers": "S[9**9**9**9**9]",
    "digits": "S[8 : " + "9" * 9000 + "]",
    "hexadecimal": "S[8 : 0x" + "f" * 9000 + "]",
    "products of numbers": "S[8 : " + "*".join(["9" * 90] * 90) + "]",
    "strides beyond the digits of an int": "S[" + ",".join(["9" * 90] * 100) + "]",
    "products of sums": "S[" + "*".join([SIZE] * 90) + "]",
    "a product": "S[" + "*".join(f'Dim("x{n}")' for n in range(200)) + "]",
    "many symbolic extents": "S[" + ",".join(f'Dim("x{n}")' for n in range(700)) + "]",
    "a power": "S[" + "*".join(['Dim("x")'] * 300) + "]",
    "nested quotients": "S[" + "(" * 80 + "S" + "".join(f"//{n}+1)" for n in range(3, 83)) + "]",
    "division of polynomials": f'S[({SIZE}*{SIZE}*{SIZE})//(Dim("x0")-Dim("x1")-Dim("x2"))]',
    "names": "S[8 : 4@" + "x" * 9000 + "]",
    "strings": 'S[(8, 4) : ("' + "a" * 9000 + '", 1)]',
    "differences": "S["
    + "*".join(f'(Dim("a{n}",at_least=1)-Dim("b{n}",at_least=1))' for n in range(14))
    + "]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_end_quickly(name):
    text = HOSTILE[name]
    start = time.process_time()
    for reader in READERS:
        str(outcome(reader, text))
    assert time.process_time() - start < 5


def test_long_but_honest_texts_are_read():
    text = "S[(" + ", ".join(["7"] * 1500) + ") : (" + ", ".join(["1@laneid"] * 1500) + ")]"
    with pytest.raises(NotationError, match="at most 10000 characters; got "):
        parse(text)
    assert len(parse(text.replace("1@laneid", "1").replace(" ", "")).shard) == 1500
    many = " + ".join(["S[8]", *(f"{n}@{axis}" for n, axis in enumerate([laneid, warpid, m] * 60))])
    assert len(parse(many).offset) == 3
