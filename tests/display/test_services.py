"""Pictures of accesses: each cell against banks and wavefronts that are counted here."""

import random
import re
from collections import defaultdict

import pytest

from layout_algebra import Buffer, Dim, S, TileLayout, display
from layout_algebra.display import DisplayError
from layout_algebra.display.colours import MARK
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.memory import CDNA3, served
from tests.display.reading import read


def counted(addresses, size, lanes_together):
    """phase -> (lane, bank) -> [(wavefront, word)], from byte addresses of whole words."""
    found = {}
    for begin in range(0, 32, lanes_together):
        lanes = [lane for lane in range(begin, begin + lanes_together) if lane in addresses]
        if not lanes:
            continue
        wanted = defaultdict(set)
        cells = defaultdict(list)
        for lane in lanes:
            words = range(addresses[lane] // 4, (addresses[lane] + size - 1) // 4 + 1)
            for word in words:
                wanted[word % 32].add(word)
        for lane in lanes:
            for word in range(addresses[lane] // 4, (addresses[lane] + size - 1) // 4 + 1):
                order = sorted(wanted[word % 32]).index(word) + 1
                cells[lane, word % 32].append((order, word))
        found[begin // lanes_together] = (dict(cells), {b: len(w) for b, w in wanted.items()})
    return found


def phases_of(picture):
    """Per phase: (lane, bank) -> (wavefront, word), and bank -> words, as drawn."""
    captions = [t for t in picture.texts if re.match(r"phase \d+: ", t.text)]
    edges = [t.y for t in captions] + [picture.height]
    result = []
    for caption, end in zip(captions, edges[1:], strict=True):
        here = [t for t in picture.texts if caption.y < t.y < end]
        head = min(t.y for t in here)
        banks = {t.x: int(t.text) for t in here if t.y == head and t.anchor == "middle"}
        sides = [t for t in here if t.anchor == "end" and t.y != head]
        lanes = {t.y: int(t.text.removeprefix("lane ")) for t in sides if t.text != "words"}
        (bar,) = [t.y for t in sides if t.text == "words"]
        cells = {}
        for cell in picture.filled():
            if not caption.y < cell.y < end:
                continue
            (lane,) = [n for y, n in lanes.items() if cell.y < y < cell.y + cell.height]
            large, small = sorted(cell.texts, key=lambda t: t.y)
            cells[lane, banks[large.x]] = (large.text, small.text)
        counts = {banks[t.x]: int(t.text) for t in here if t.anchor == "middle" and t.y > bar}
        result.append((caption.text, cells, counts))
    return result


@pytest.mark.parametrize("seed", range(12))
def test_random_accesses(seed):
    rng = random.Random(seed)
    bytes_ = rng.choice((4, 8, 16))
    stride = rng.choice((16, 20, 32, 33, 64, 72)) * 4
    buffer = Buffer((64, stride), "uint8", TileLayout(S[(64, stride) : (stride, 1)]), align=bytes_)
    rows, step = rng.choice((4, 8, 16, 32)), rng.choice((0, bytes_))
    access = buffer.read(lambda lane: (lane % rows, lane // rows * step % 64), bytes=bytes_)
    addresses = {n: n % rows * stride + n // rows * step % 64 for n in range(32)}
    if any(address % 4 for address in addresses.values()):
        pytest.fail("the test draws whole words only")
    expected = counted(addresses, bytes_, 32 * 4 // bytes_)
    drawn = phases_of(read(display.svg(access)))
    assert len(drawn) == len(expected)
    for number, (caption, cells, counts) in enumerate(drawn):
        wanted, words = expected[number]
        assert cells == {key: (str(one[0][0]), str(one[0][1])) for key, one in wanted.items()}
        assert counts == words
        degree = max(words.values())
        assert caption.endswith(f"degree {degree}: {degree} wavefront{'s' if degree > 1 else ''}")
    total = sum(max(words.values()) for _, words in expected.values())
    assert f"{total} wavefront" in read(display.svg(access)).written


def column(pitch=64, align=16):
    layout = TileLayout(S[(128, 64) : (pitch, 1)])
    buffer = Buffer((128, 64), "float16", layout, align=align)
    free = [Dim("j", multiple_of=8, at_most=56)]
    return buffer.read(lambda lane, j: (lane, j), bytes=16, free=free)


def test_values_and_base():
    picture = read(display.svg(column(), values={"j": 8}, base=32))
    assert "at j = 8, base = 32" in picture.written
    (_, cells, _), *_ = phases_of(picture)
    assert cells[0, 12] == ("1", "12")  # byte 16 + 32 is word 12
    assert cells[1, 12] == ("2", "44")


def test_a_service_alone():
    one = read(display.svg(served(column(), j=8)))
    whole = read(display.svg(column(), values={"j": 8}))
    assert phases_of(one) == phases_of(whole)
    assert "32 wavefronts, at least 4 for these words; degree 8" in one.written


def test_marks():
    picture = read(display.svg(column(), mark=[(3, 1)]))
    (box,) = [box for box in picture.boxes if box.stroke == MARK]
    assert box.tip == "marked: lane 3, bank 1"
    with pytest.raises(DisplayError, match=r"pairs \(lane, bank\); got 3"):
        display.svg(column(), mark=[3])


def test_first_values_with_an_active_lane():
    buffer = Buffer((64,), "float32", TileLayout(S[64:1]))
    j = Dim("j", at_most=40)
    access = buffer.read(lambda lane, j: (lane + j,), free=[j], active=lambda lane, j: j >= 7)
    assert "at j = 7" in read(display.svg(access)).written


def test_sectors():
    buffer = Buffer((64, 64), "float32", TileLayout(S[(64, 64) : (64, 1)]), "global", 128)
    picture = read(display.svg(buffer.read(lambda lane: (lane, 4), bytes=16)))
    assert "32 sectors of 32 bytes, 32 lines of 128 bytes" in picture.written
    assert {c.texts[0].text for c in picture.filled()} == {"16"}
    assert len(picture.filled()) == 32
    row = read(display.svg(buffer.read(lambda lane: (0, lane))))
    assert "4 sectors of 32 bytes, 1 line of 128 bytes" in row.written


def test_a_lane_across_two_sectors():
    buffer = Buffer((64,), "uint8", TileLayout(S[64:1]), "global", 1)
    picture = read(display.svg(buffer.read(lambda lane: (28,), bytes=16, lanes=1)))
    assert [c.texts[0].text for c in picture.filled()] == ["4", "12"]


def test_other_memory_has_words():
    buffer = Buffer((64,), "uint8", TileLayout(S[64:1]), "local", 1)
    picture = read(display.svg(buffer.read(lambda lane: (lane,))))
    assert "local memory has neither banks nor sectors" in picture.written


def test_what_the_default_target_does_not_serve():
    layout = TileLayout(S[(128, 64) : (64, 1)])
    buffer = Buffer((128, 64), "float16", layout, align=16)
    wide = buffer.read(lambda lane: (lane, 0), bytes=32)
    assert "target= names another" in " ".join(read(display.svg(wide)).written.split())
    many = buffer.read(lambda lane: (lane, 0), bytes=16, lanes=64)
    assert not read(display.svg(many)).cells
    assert len(phases_of(read(display.svg(many, target=CDNA3)))) == 8
    with pytest.raises(LayoutError, match="8 bytes"):
        display.svg(buffer.read(lambda lane: (lane, 0), bytes=8), target=CDNA3)


def test_wrong_options():
    with pytest.raises(DisplayError, match="a multiple of 16; got 8"):
        display.svg(column(), base=8)
    with pytest.raises(CoordinateError, match="j is a multiple of 8"):
        display.svg(column(), values={"j": 3})
