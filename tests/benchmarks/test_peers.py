"""Answers of this library beside those of others: ours are asserted, theirs are reported.

The whole measurement is `python -m tests.benchmarks.against_peers`; these are a small part of it.
"""

from __future__ import annotations

import itertools
import json
import random
import sys

import pytest

from tests.benchmarks import against_peers as peers
from tests.benchmarks import peer_laws as laws
from tests.benchmarks.peer_libraries import LIBRARIES
from tests.cute import enumeration as en

CASES = 60
OURS = [name for name, library in LIBRARIES.items() if library.package == "layout-algebra"]
#: Strides of which none divides the other, as in (2,6):(7,6), can have a left inverse (by a
#: negative stride, here); cute.left_inverse says that it does not look for those.
NOT_LOOKED_FOR = {("layout-algebra", "left_inverse")}


def counted(benchmark, ask):
    """The cells of one run, with their counts in the report."""
    cells = benchmark.pedantic(ask, rounds=1)
    for row, cell in cells.items():
        benchmark.extra_info[row] = cell.record()["counts"]
    return cells


@pytest.mark.parametrize("name", OURS)
def test_ours_are_right(benchmark, name):
    cells = counted(benchmark, lambda: peers.ask_here(name, CASES, peers.SEED))
    assert cells["composition"].counts["accepted"] > CASES // 2
    for row, cell in cells.items():
        assert cell.counts["wrong"] == 0, cell.examples["wrong"]
        assert cell.counts["errors"] == 0, cell.examples["errors"]
        if (name, row) not in NOT_LOOKED_FOR:
            assert cell.counts["though one exists"] == 0, cell.examples["though one exists"]


@pytest.mark.parametrize("name", [name for name in LIBRARIES if name not in OURS])
def test_theirs_are_reported(benchmark, name):
    questions = peers.Questions(CASES, peers.SEED)

    def ask():
        return questions.judged(peers.ask(name, sys.executable, questions.requests())[1])

    try:
        counted(benchmark, ask)
    except peers.NotInstalledError as error:
        pytest.skip(str(error))


RIGHT = [
    ("composition", {"layout": ((2, 2), (24, 2))}, [[(6, 2), (8, 2)], [4, 3]]),
    ("complement", {"layout": ((2, 3), (1, 8))}, [[4, 2], 24]),
    ("logical_divide", {"layout": ((4, 3), (2, 8))}, [[12, 2], [4, 1]]),
    ("left_inverse", {"layout": ((4, 4, 2), (1, 0, 4))}, [[(4, 2), (1, 16)]]),
    ("left_inverse, A not injective", {"layout": (4, 1)}, [[(4, 2), (1, 0)]]),
    ("right_inverse", {"layout": ((3, 2), (2, 1))}, [[(2, 3), (3, 1)]]),
    ("swizzle, |S| < B", {"values": [0, 1, 3, 2, 6, 7, 5, 4]}, [2, 0, 1]),
    ("inverse of a swizzle, |S| < B", {"values": [0, 1, 3, 2, 7, 6, 4, 5]}, [2, 0, 1]),
]


@pytest.mark.parametrize(("row", "answer", "arguments"), RIGHT, ids=[row for row, *_ in RIGHT])
def test_laws_tell_right_from_wrong(row, answer, arguments):
    holds = laws.OPERATIONS[row].holds
    assert holds(answer, *arguments)
    for wrong in altered(answer):
        assert not holds(wrong, *arguments), wrong


def altered(answer):
    """The answer with one size or stride that matters, or two values, changed."""
    if "values" in answer:
        first, second, *rest = answer["values"]
        yield {"values": [second, first, *rest]}
        return
    shape, stride = (tuple(en.leaves(part)) for part in answer["layout"])
    for k, step in enumerate(stride):
        if step:
            yield {"layout": (shape, (*stride[:k], step + 1, *stride[k + 1 :]))}
    yield {"layout": (tuple(0 for _ in shape), stride)}


def test_left_inverses_are_found_wherever_small_strides_do():
    """The linear system against trying strides: where these find one, so must it, and where the
    system finds none, no strides may."""
    rng = random.Random(4)
    seen = set()
    for _ in range(150):
        (a,) = laws.draw_one(rng)
        places = en.table(*a)
        if len(set(places)) < len(places) or len(places) > 6 or max(places) > 12:
            continue
        for weights in laws.chains(max(places)):
            if len(weights) > 3:
                continue
            above = [*weights[1:], max(places) + 1]
            digits = [[y % up // w for w, up in zip(weights, above, strict=True)] for y in places]
            tried = any(
                all(laws.dot(row, steps) == i for i, row in enumerate(digits))
                for steps in itertools.product(range(-6, 7), repeat=len(weights))
            )
            assert laws.fits(weights, places) >= tried, (a, weights)
            seen.add((laws.fits(weights, places), tried))
    assert {(True, True), (False, False)} <= seen


def test_the_report_as_text_and_as_json(capsys):
    command = ["--only", "layout-algebra", "--cases", "20", "--examples"]
    assert peers.main(command) == 0
    text = capsys.readouterr().out
    assert peers.main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    row = report["libraries"]["layout-algebra"]["operations"]["complement, A not injective"]
    assert row["counts"]["refused"] == row["counts"]["asked"] == 20
    (line,) = [line for line in text.splitlines() if "complement, A not injective" in line]
    assert line.split()[4:-1] == [str(row["counts"][kind]) for kind in peers.COUNTS]


def test_a_library_that_is_not_there_is_named():
    with pytest.raises(peers.NotInstalledError, match="no-such-python"):
        peers.ask("pycute", "/no-such-python", [])
