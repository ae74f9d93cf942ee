"""Pictures of plans: the bar, the table of rounds and the traffic are those of the plan."""

import pytest

from layout_algebra import Map, S, TileLayout, display, laneid, plan, warpid
from layout_algebra.planning import Place
from tests.display.reading import read

ROWS = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
SHIFTED = Map.of(lambda j: ROWS.apply((j - 1) % 128), (128,))
TURNED = TileLayout(S[(4, 32) : (1, 1 @ laneid)])


def rounds_of(picture):
    """Rows of lane -> (source lane, source register, target registers), as drawn."""
    names = sorted((t.y, t.text) for t in picture.texts if t.text.startswith("round "))
    head = next(t.y for t in picture.texts if t.text == "lane")
    lanes = {t.x: int(t.text) for t in picture.texts if t.y == head and t.anchor == "middle"}
    rows = []
    for y, name in names:
        cells = [c for c in picture.filled() if c.y < y < c.y + c.height]
        row = {}
        for cell in cells:
            above, below = sorted(cell.texts, key=lambda t: t.y)
            source = tuple(map(int, above.text.split(".")))
            row[lanes[above.x]] = (*source, tuple(map(int, below.text.split(","))))
        rows.append((name, row))
    return rows


@pytest.mark.parametrize("target", [SHIFTED, TURNED])
def test_rounds_move_every_element(target):
    made = plan(ROWS, target)
    rows = rounds_of(read(display.svg(made)))
    assert [name for name, _ in rows] == [f"round {n}" for n in range(len(made.rounds))]
    # carry the elements by what the picture says, and by nothing else
    held = {tuple(ROWS.map().apply(i, r).values()): 4 * i + r for i in range(32) for r in range(4)}
    got = {}
    for _, row in rows:
        for lane, (source, register, registers) in row.items():
            for one in registers:
                got[lane, one] = held[source, register]
    flat = target.map((128,)) if isinstance(target, TileLayout) else target
    wanted = {}
    for element in range(128):
        place = flat.apply(element)
        wanted[place["laneid"], place.get("m", 0)] = element
    own = {(p.lane, p.register) for s, p in made.movement.local}
    assert got == {place: element for place, element in wanted.items() if place not in own}


def test_headline_and_bar():
    made = plan(ROWS, TURNED)
    picture = read(display.svg(made))
    assert str(made).splitlines()[0] in picture.written
    tips = {box.tip for box in picture.boxes}
    assert tips == {f"{name}: {count}" for name, count in made.counts.items() if count}
    widths = {box.tip.split(":")[0]: box.width for box in picture.boxes}
    assert widths["lane"] > widths["stay"]
    assert made.why in picture.written


def test_nothing_moves():
    picture = read(display.svg(plan(ROWS, ROWS)))
    assert "Nothing moves" in picture.written
    assert not picture.filled()


def test_through_shared_memory():
    source = TileLayout(S[(4, 32, 4) : (1 @ warpid, 1 @ laneid, 1)])
    target = TileLayout(S[(4, 32, 4) : (1, 1 @ laneid, 1 @ warpid)])
    made = plan(source, target, element_bits=16)
    written = read(display.svg(made)).written
    for warp in range(4):
        assert made.bytes_written[warp] == 192
    assert written.count("96 elements, 192 bytes") == 8
    assert "bytes" not in read(display.svg(plan(source, target))).written


def test_groups_of_warps():
    many = TileLayout(S[(8, 32, 2) : (1 @ warpid, 1 @ laneid, 1)])
    turned = TileLayout(S[(8, 2, 32) : (1 @ warpid, 1, 1 @ laneid)])
    picture = read(display.svg(plan(many, turned)))
    assert "warps 0-7" in picture.written
    assert not read(display.svg(plan(many, turned), rounds=False)).filled()


def test_places_are_known():
    assert Place(0, 1, 2).thread == (0, 1)
