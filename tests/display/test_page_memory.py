"""The page's memory under Node: banks, wavefronts, true footprints, TMEM, owners.

banks                 the library's `served`, four targets, 4 to 128 bits
cells of the views    enumeration (tests/bruteforce.py)
"""

from __future__ import annotations

import math
import random
from typing import Any

from layout_algebra import parse
from layout_algebra.axes import Axis
from layout_algebra.display.page import TARGETS, target_data
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.memory import Buffer, served
from layout_algebra.memory.spelled import access_of, lane_formula
from tests import bruteforce as bf
from tests.building import built
from tests.display.test_page_module import ask
from tests.generators import random_layout

AXES_DATA = [{"name": axis.name, "kind": axis.kind} for axis in Axis.registered()]

DTYPES = {4: "int4", 6: "float6_e2m3fn", 8: "int8", 16: "float16", 32: "float32", 64: "float64"}
FORMULAS = ["lane % 16, lane // 16 * 8", "lane // 4, lane % 4 * 2", "lane ^ (lane >> 3) & 7, 0"]


def memory_case(rng: random.Random) -> dict[str, Any]:
    bits = rng.choice([*DTYPES, 128])
    rows, columns = rng.choice((8, 32, 40, 64)), 1 << rng.randint(4, 7)
    pitch = columns + rng.choice((0, 0, 1, 8))
    text = f"S[({rows}, {columns}) : ({pitch}, 1)] + {rng.choice((0, 0, 3, 64))}"
    if rng.random() < 0.5:
        b = rng.randint(1, 3)
        text = f"ComposeLayout({rng.randint(0, 5)}, {b}, {rng.randint(b, 4)}, {text})"
    count = rng.choice((1, 2, 4, 8))
    while count > 1 and (count * bits > 128 or columns < count):
        count //= 2
    while count * bits % 8:
        count *= 2
    pick = rng.choice(("column", "row", *FORMULAS))
    return {
        "layout": text,
        "shape": (rows, columns),
        "bits": bits,
        "pick": {"pick": pick, "bytes": count * bits // 8, "kind": rng.choice(("read", "write"))},
        "target": rng.randrange(len(TARGETS)),
        "base": rng.choice((0, 0, 1, 4, 16, 100)),
    }


def test_banks_and_wavefronts() -> None:
    """Phases, words, lanes, degree and wavefronts as `served` has them."""
    rng = random.Random(10)
    questions, expected = [], []
    while len(questions) < 600:
        case = memory_case(rng)
        pick, bits = case["pick"], case["bits"]
        buffer = Buffer(case["shape"], DTYPES.get(bits, "b128"), parse(case["layout"]), align=1)
        try:
            access = access_of(buffer, pick["pick"], pick["bytes"], pick["kind"])
        except LayoutAlgebraError:
            continue
        free = access.free[0] if access.free else None
        position, values = 0, {}
        if free is not None:
            position = rng.randint(0, int(free.variable.high)) * free.multiple
            values = {free.name: position}
        target = TARGETS[case["target"]]
        try:
            expected.append((case, served(access, target, case["base"], **values)))
        except LayoutAlgebraError:
            expected.append((case, None))
        sent = {"target": target_data(target), "position": position, "ask": "service"}
        questions.append(case | sent)
    degrees: set[int | str] = set()
    for (case, service), answer in zip(expected, ask(questions), strict=True):
        if service is None:
            assert "refused" in answer, case
            degrees.add("refused")
            continue
        for name in ("degree", "wavefronts", "least"):
            assert answer[name] == getattr(service, name), (case, name)
        phases = [
            (phase["lanes"], {bank: dict(words) for bank, words in phase["words"]})
            for phase in answer["phases"]
        ]
        assert phases == [
            (
                list(phase.lanes),
                {b: {w: list(n) for w, n in ws.items()} for b, ws in phase.words.items()},
            )
            for phase in service.phases
        ], case
        check_wavefronts(answer["shown"], service, case)
        degrees.add(service.degree)
    assert {"refused", 1, 2, 4, 8} <= degrees


def check_wavefronts(shown: list[Any], service: Any, case: Any) -> None:
    """Every word once, at most one a bank in a wavefront, as many wavefronts as are counted."""
    assert len(shown) == service.wavefronts, case
    for number, phase in enumerate(service.phases):
        given = [one for front in shown if front["phase"] == number for one in front["words"]]
        assert len({one["word"] for one in given}) == len(given) == phase.distinct
    for front in shown:
        banks = [one["bank"] for one in front["words"]]
        assert len(set(banks)) == len(banks)


def test_lines_and_banks_have_true_footprints() -> None:
    """Every cell has the elements of which a bit lies in its bank's word: 4 to 128 bits."""
    rng = random.Random(13)
    cases, questions = [], []
    for number in range(200):
        plain = random_layout(rng, max_places=120, axes=("m",), replicas=False)
        bits, base = (4, 6, 8, 16, 32, 64, 128)[number % 7], rng.choice((0, 0, 2, 4, 36))
        if bf.highest(plain, "m") - bf.lowest(plain, "m") > 600:
            continue
        cases.append((plain, bits, base))
        target = target_data(TARGETS[0])
        about = {"layout": str(built(plain)), "axes": AXES_DATA, "shape": [bf.size(plain)]}
        questions.append(
            {"ask": "view", "view": "banks", "bits": bits, "base": base, "target": target, **about}
        )
    for (plain, bits, base), answer in zip(cases, ask(questions), strict=True):
        wanted: dict[tuple[int, int], set[int]] = {}
        for flat in range(bf.size(plain)):
            first = bf.address(plain, flat) * bits + 8 * base
            words = {bit // 32 for bit in range(first, first + bits)}
            found = {(word // 32, word % 32) for word in words}
            for cell in found:
                wanted.setdefault(cell, set()).add(flat)
            assert {(int(r), int(c)) for r, c in answer["where"][flat]} == found, (plain, bits)
        for r, c, flats, pieces in answer["cells"]:
            assert set(flats) == wanted.get((int(r), int(c)), set()), (plain, bits, base, r, c)
            covered = sum(to - start for start, to in pieces)
            assert abs(covered - 1) < 1e-9
    assert len(cases) > 150


def test_tmem_cells_and_owners() -> None:
    """TMEM columns of 32 bits, and the rows of threads, by enumeration."""
    rng = random.Random(14)
    cases, questions = [], []
    for number in range(150):
        tmem = number % 2 == 0
        axes = ("TCol", "TLane") if tmem else ("laneid", "m", "warpid")
        plain = random_layout(rng, max_places=120, axes=axes, swizzles=False)
        names = {axis for _, _, axis in (*plain.shard, *plain.replica)} | dict(plain.offset).keys()
        spread = [bf.highest(plain, axis) - bf.lowest(plain, axis) for axis in names]
        threads = sorted(names & {"laneid", "warpid"})
        if names < {"TCol", "TLane"} or math.prod(n + 1 for n in spread) > 3000:
            continue
        if not tmem and not threads:
            continue
        bits = rng.choice((8, 16, 32))
        cases.append((plain, tmem, bits))
        about = {"layout": str(built(plain)), "axes": AXES_DATA, "shape": [bf.size(plain)]}
        questions.append(
            {"ask": "view", "view": "tmem" if tmem else "owner", "bits": bits, "base": 0, **about}
        )
    kinds = [0, 0]
    for (plain, tmem, bits), answer in zip(cases, ask(questions), strict=True):
        if "refused" in answer:
            assert tmem
            continue
        kinds[tmem] += 1
        owners = [axis for axis in bf_axes(plain) if axis != "m"]
        wanted: dict[tuple[str, str], set[int]] = {}
        for flat in range(bf.size(plain)):
            for place in bf.places(plain, flat):
                if tmem:
                    row, column = bf.at(place, "TLane"), bf.at(place, "TCol") * bits // 32
                else:
                    row = ",".join(str(bf.at(place, axis)) for axis in owners)
                    column = bf.at(place, "m")
                wanted.setdefault((str(row), str(column)), set()).add(flat)
        got = {(r, c): set(flats) for r, c, flats, _ in answer["cells"] if flats}
        assert got == wanted, (plain, bits)
        for flat, cells in enumerate(answer["where"]):
            assert {tuple(cell) for cell in cells} == {at for at in wanted if flat in wanted[at]}
    assert min(kinds) > 20


def bf_axes(plain: bf.Plain) -> list[str]:
    """Axes in the order in which a layout names them."""
    return [axis.name for axis in built(plain).axes]


def test_formulas_of_the_lane() -> None:
    rng = random.Random(11)
    texts = []
    for _ in range(200):
        text = "lane"
        for _ in range(rng.randint(1, 4)):
            operator = rng.choice(("+", "*", "//", "%", "^", "&", "|", "<<", ">>", "-"))
            most = 4 if operator in ("<<", ">>") else 40
            text = rng.choice(
                (f"{text} {operator} {rng.randint(1, most)}", f"({text}) {operator} 3")
            )
        texts.append(text)
    for text, answer in zip(
        texts, ask([{"ask": "formula", "text": t} for t in texts]), strict=True
    ):
        where = lane_formula(text, 1)
        try:
            wanted = [where(lane)[0] for lane in range(32)]
        except ValueError:  # a negative shift
            assert "refused" in answer, text
            continue
        if max(map(abs, wanted)) < 1 << 53 or isinstance(answer, list):
            assert answer == wanted, text
    refused = ["lane / 2", "x", "lane // 0", "-lane", "lane ** 2", "f(lane)", "lane, lane", "1.5"]
    answers = ask([{"ask": "formula", "text": text} for text in refused])
    assert all("refused" in answer for answer in answers)
