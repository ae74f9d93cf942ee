"""Questions from public reports about banks and vectors, through the public API (tests/data/cases).

Layouts, accesses and answers are read from the files.  An access' coordinates are text in `lane`
and `v`; v counts the elements that one lane moves, the package's accesses begin at v = 0.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from layout_algebra import ComposeLayout, Dim, S, TileLayout, Verdict, assert_proved, parse, prove
from layout_algebra.claims import BankConflictFree, ConflictDegree, Vectorizable, Wavefronts
from layout_algebra.memory import NVIDIA_WHOLE_WARP, Access, Buffer, served

CASES = Path(__file__).parent.parent / "data" / "cases"
OPERATORS = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def case(number: int) -> dict[str, Any]:
    (path,) = CASES.glob(f"{number:02d}-*.json")
    return json.loads(path.read_text())


def callable_of(text: str) -> Callable[[Any], tuple[Any, ...]]:
    """The callable that a text like "(lane//16, 4*(lane%16)+v)" stands for, at v = 0."""
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Tuple)

    def value(node: ast.expr, lane: Any) -> Any:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id="lane"):
                return lane
            case ast.Name(id="v"):
                return 0
            case ast.BinOp(left=left, op=op, right=right):
                return OPERATORS[type(op)](value(left, lane), value(right, lane))
        raise ValueError(ast.dump(node))

    return lambda lane: tuple(value(node, lane) for node in tree.elts)


def layout_of_case(layout: dict[str, Any]) -> Any:
    """The layout that a file's `tirx` spelling (or the entry itself) is."""
    spelled = layout.get("tirx", layout)
    tile: Any = parse(spelled["tile"])
    return ComposeLayout(**spelled["compose"], tile_layout=tile) if "compose" in spelled else tile


def access_of(layout: dict[str, Any], about: dict[str, Any], kind: str = "read") -> Access:
    shape = tuple(layout.get("tirx", layout)["shape"])
    buffer = Buffer(shape, 8 * about["elem_bytes"], layout_of_case(layout), align=1024)  # type: ignore[arg-type]
    go = getattr(buffer, kind)
    return go(callable_of(about["coord"]), lanes=about["lanes"], bytes=about["vec_bytes"])


def check(access: Access, answer: dict[str, Any]) -> None:
    """The recorded degree and wavefronts are the exact ones, and its pair of lanes conflicts."""
    degree = answer["max_degree"]
    assert served(access).degree == degree
    assert_proved(ConflictDegree(access, degree))
    free = prove(BankConflictFree(access)).verdict is Verdict.PROVED
    assert free == (degree == 1)
    if degree > 1:
        assert prove(ConflictDegree(access, degree - 1)).verdict is Verdict.REFUTED
    if "wavefronts" in answer:
        total = answer["wavefronts"]
        assert_proved(Wavefronts(access, total))
        assert prove(Wavefronts(access, total - 1)).verdict is Verdict.REFUTED
    if "witness" in answer:
        first, second, bank = answer["witness"]
        wanted = next(phase for phase in served(access).phases if first in phase.lanes).words[bank]
        assert {frozenset(lanes) >= {first, second} for lanes in wanted.values()} == {False}
        assert {first, second} <= {lane for lanes in wanted.values() for lane in lanes}


@pytest.mark.parametrize("number", [43, 45])
def test_degrees_of_layouts(number: int):
    """43: padding by one; 45: broadcast is no conflict."""
    read = case(number)
    answers = read["answer"]
    names = [about["layout"] for about in read["access"]]
    assert names
    assert set(names) <= set(answers)
    for about in read["access"]:
        check(access_of(read["layouts"][about["layout"]], about), answers[about["layout"]])


def test_39_one_layout_in_two_spellings():
    layouts = case(39)["layouts"]
    assert layout_of_case(layouts["sw334"]) == layout_of_case(layouts["tirx_sw334"])


def test_39_a_transposing_matrix_load():
    """A lane's vector runs along the first dimension, so the buffer is turned: (k, m)."""
    read = case(39)
    for about in read["access"]:
        entry = read["layouts"][about["layout"]]
        layout, tile = layout_of_case(entry), TileLayout(S[(8, 128) : (128, 1)])
        turned = tile
        if "compose" in entry["tirx"]:
            turned = ComposeLayout(**entry["tirx"]["compose"], tile_layout=tile)
        assert (layout.table((128, 8))["m"] == turned.table((8, 128))["m"].T).all()
        buffer = Buffer((8, 128), 8 * about["elem_bytes"], turned, align=16)  # type: ignore[arg-type]
        go = callable_of(about["coord"])
        answer = read["answer"][about["layout"]]
        check(buffer.read(lambda lane, go=go: go(lane)[::-1], bytes=about["vec_bytes"]), answer)
        # and the same 32 rows anywhere
        i = Dim("i", multiple_of=32, at_most=96)
        anywhere = buffer.read(
            lambda lane, i: (lane % 8, i + 8 * (lane // 8)), bytes=about["vec_bytes"], free=[i]
        )
        assert_proved(ConflictDegree(anywhere, answer["max_degree"]))
        assert_proved(Vectorizable(anywhere))


def test_39_padding_instead_of_a_swizzle():
    """Lanes walk over k: a pitch of an odd number of 16-byte units is free, an even one never."""

    def access(pitch: Any) -> Access:
        buffer = Buffer((8, 128), "float16", TileLayout(S[(8, 128) : (pitch, 1)]), align=16)
        return buffer.read(lambda lane: (lane % 8, 8 * (lane // 8)), bytes=16)

    pad = Dim("pad", multiple_of=16)
    assert_proved(BankConflictFree(access(128 + 8 + pad)))
    for even in range(0, 1024, 16):
        assert prove(BankConflictFree(access(128 + even))).verdict is Verdict.REFUTED


@pytest.mark.parametrize("number", [41, 47])
def test_degrees_of_accesses(number: int):
    """41: sixteen-byte stores to two pages; 47: stride 2, scalar and vector."""
    read = case(number)
    for about in read["access"]:
        layout = read["layouts"][about["layout"]]
        check(access_of(layout, about, "write"), read["answer"][about["name"]])
        assert_proved(Vectorizable(access_of(layout, about)))


def test_41_the_wrong_count_of_a_whole_warp():
    read = case(41)
    wrong = read["answer"]["whole_warp_words_in_worst_bank"]
    for about in read["access"]:
        access = access_of(read["layouts"][about["layout"]], about, "write")
        degree = wrong[about["name"]]
        assert_proved(ConflictDegree(access, degree, target=NVIDIA_WHOLE_WARP))
        fewer = ConflictDegree(access, degree - 1, target=NVIDIA_WHOLE_WARP)
        assert prove(fewer).verdict is Verdict.REFUTED


def test_49_padding_of_matrix_rows_for_every_width():
    """Padding 8 is free for every row width that 16 divides, padding 16 for none."""
    read = case(49)
    about, answer = read["access"], read["answer"]
    go = callable_of(about["coord"])

    def access(pitch: Any, width: int = 32) -> Access:
        tile = TileLayout(S[(8, width) : (pitch, 1)])
        buffer = Buffer((8, width), 8 * about["elem_bytes"], tile, align=16)  # type: ignore[arg-type]
        return buffer.read(go, lanes=about["lanes"], bytes=about["vec_bytes"])

    W = Dim("W", multiple_of=16, at_least=32)
    free = prove(BankConflictFree(access(W + 8))).verdict is Verdict.PROVED
    assert free == answer["pad8_free_for_all"]
    # never free: lanes 0 and 4 are 4*(W + 16) halves, a whole number of turns of the banks, apart
    for width in range(32, 513, 16):
        refuted = prove(BankConflictFree(access(width + 16))).verdict is Verdict.REFUTED
        assert refuted == (not answer["pad16_ever_free"])
    assert prove(BankConflictFree(access(W + 16))).verdict is Verdict.REFUTED
    assert_proved(ConflictDegree(access(64 + 16), answer["pad16_W64_degree"]))
    check(
        access(64 + 16),
        {"max_degree": answer["pad16_W64_degree"], "witness": answer["witness_pad16_W64"]},
    )
    check(access(64), {"max_degree": answer["pad0_W64_degree"]})


def test_33_pairs_through_a_swizzle_of_elements():
    """A pair (i, 2j), (i, 2j+1) is one aligned word for all j in even rows only."""
    read = case(33)
    tile = TileLayout(S[(64, 64) : (64, 1)])
    # 64*i + (j ^ (i % 8)): bits 6..8 of the address into bits 0..2
    layout = ComposeLayout(0, 3, 6, tile)
    table = layout.table(shape=(64, 64))["m"]
    assert all(table[i, j] == 64 * i + (j ^ (i % 8)) for i in range(64) for j in range(64))
    buffer = Buffer((64, 64), "float16", layout, align=4)
    j = Dim("j", multiple_of=2, at_most=62)

    def pair(row: int) -> Vectorizable:
        return Vectorizable(buffer.read(lambda lane, j: (row, j), bytes=4, free=[j]))

    good = [row for row in range(64) if prove(pair(row)).verdict is Verdict.PROVED]
    assert len(good) == read["answer"]["elem_good_rows"]
    assert all(row % 2 == 0 for row in good)
    bad = read["answer"]["elem_bad_witness"]
    assert prove(pair(bad["i"])).verdict is Verdict.REFUTED
    assert [table[bad["i"], bad["j"] + e] for e in (0, 1)] == bad["slots"]


def test_33_the_widest_vector_of_the_swizzle_by_eight():
    read = case(33)
    layout = layout_of_case(read["layouts"]["vec8"])
    buffer = Buffer((64, 64), "float16", layout, align=1024)
    i, widest = Dim("i", at_most=63), read["answer"]["vec8_max_vector"]
    for count, verdict in ((widest, Verdict.PROVED), (2 * widest, Verdict.REFUTED)):
        j = Dim("j", multiple_of=count, at_most=64 - count)
        access = buffer.read(lambda lane, i, j: (i, j), bytes=2 * count, free=[i, j])
        assert prove(Vectorizable(access)).verdict is verdict
