"""Known answers, what is said with them, and the errors."""

from __future__ import annotations

import pytest

from layout_algebra import ComposeLayout, Dim, R, S, TileLayout, assert_proved
from layout_algebra.axes import m
from layout_algebra.claims import BankConflictFree, Equivalent
from layout_algebra.memory import NVIDIA_WHOLE_WARP, Buffer
from layout_algebra.synthesis import (
    F2,
    PADDING,
    TMA_MODES,
    XOR,
    Candidate,
    Found,
    SynthesisError,
    find_swizzle,
    pattern,
    rank,
)
from layout_algebra.synthesis.counting import Count
from layout_algebra.verdicts import Verdict

ROWS = TileLayout(S[(128, 64) : (64, 1)])
I8, J8 = Dim("i", multiple_of=8, at_most=96), Dim("j", multiple_of=8, at_most=56)
ROW4 = Dim("r", multiple_of=4, at_most=124)
#: 32 rows at one 16-byte column; four rows of eight 16-byte pieces.
COLUMN = pattern(lambda lane, i, j: (i + lane, j), bytes=16, free=[I8, J8])
ROW = pattern(lambda lane, r: (r + lane // 8, lane % 8 * 8), bytes=16, free=[ROW4])


def half_tile(align: int = 1024) -> Buffer:
    return Buffer((128, 64), "float16", ROWS, align=align)


def test_one_xor_alone_serves_a_column_and_a_row() -> None:
    found = find_swizzle(half_tile(), reads=[COLUMN], writes=[ROW], among=XOR)
    assert found.layout == ComposeLayout(3, 3, 3, ROWS)
    assert found.proved
    assert found.minimal.method == "bound"
    # 13 * 8 columns and 32 groups of rows, four phases each
    assert found.wavefronts == found.least == (13 * 8 + 32) * 4
    free = [one.name for one in found.candidates if one.wavefronts == found.least]
    assert free == ["(3, 3, 3)"]
    assert len(found.candidates) == 407  # 203 each way, and the tile as it is
    for access in found.accesses:
        assert_proved(BankConflictFree(access))


def test_among_the_modes_of_tma_it_is_128b() -> None:
    found = find_swizzle(half_tile(), reads=[COLUMN], writes=[ROW], among=TMA_MODES)
    table = {one.name: [count.degree for count in one.counts] for one in found.candidates}
    assert table == {"128B": [1, 1], "64B": [2, 1], "32B": [4, 1], "none": [8, 1]}
    assert found.layout == ComposeLayout(3, 3, 3, ROWS)


def test_a_mode_asks_for_the_alignment_of_its_period() -> None:
    found = find_swizzle(half_tile(align=16), reads=[COLUMN], among=TMA_MODES)
    assert found.buffer.align == 1024
    assert {one.name: one.align for one in found.candidates} == {
        "128B": 1024,
        "64B": 512,
        "32B": 256,
        "none": 16,
    }
    software = find_swizzle(half_tile(align=16), reads=[COLUMN], among=XOR)
    assert (software.layout, software.buffer.align) == (found.layout, 16)


def test_padding_takes_the_smallest_pitch_that_does() -> None:
    found = find_swizzle(half_tile(), reads=[COLUMN], writes=[ROW], among=PADDING)
    assert found.layout == TileLayout(S[(128, 64) : (72, 1)])
    assert found.proved
    names = {one.name for one in found.candidates if one.wavefronts == found.least}
    assert names == {f"pitch 64 + {k}" for k in (8, 24, 40, 56)}


def test_the_33rd_column_of_a_float_tile() -> None:
    row, column = Dim("row", at_most=31), Dim("column", at_most=31)
    tile = Buffer((32, 32), "float32", TileLayout(S[(32, 32) : (32, 1)]))
    store = pattern(lambda lane, row: (row, lane), free=[row])
    load = pattern(lambda lane, column: (lane, column), free=[column])
    found = find_swizzle(tile, writes=[store], reads=[load], among=PADDING)
    assert found.layout == TileLayout(S[(32, 32) : (33, 1)])
    assert found.wavefronts == found.least == 64


def test_of_equals_the_one_without_more_room_and_then_the_simplest_wins() -> None:
    found = find_swizzle(half_tile(16), reads=[COLUMN], among=PADDING | XOR | TMA_MODES)
    best = [one.name for one in found.candidates if one.wavefronts == found.wavefronts]
    assert best[:3] == ["128B", "(3, 3, 3)", "pitch 64 + 8"]
    plain = find_swizzle(half_tile(16), writes=[ROW], among=PADDING | XOR)
    assert plain.layout == ROWS


def test_room_counts_before_simplicity() -> None:
    padded = Candidate("pitch 8 + 1", ROWS, 16, 71, (Count(9, 2),), (2, 1))
    permuted = Candidate("bits", ROWS, 16, 64, (Count(9, 2),), (3, 4, 1))
    faster = Candidate("pitch 8 + 2", ROWS, 16, 78, (Count(8, 1),), (2, 2))
    unusable = Candidate("none", ROWS, 16, 64, (Count(reason="not aligned"),), (0,))
    ranked = [faster, permuted, padded, unusable]
    assert sorted([unusable, permuted, padded, faster], key=lambda one: one.rank) == ranked


def test_a_class_without_a_perfect_layout_is_exhausted() -> None:
    """Eight rows and every eighth row: no single XOR serves both; a permutation of bits does."""
    k, c = Dim("k", at_most=7), Dim("c", at_most=7)
    tile = Buffer((64, 64), "float16", TileLayout(S[(64, 64) : (64, 1)]), align=16)
    near = pattern(lambda lane, k, c: (8 * k + lane, 8 * c), lanes=8, bytes=16, free=[k, c])
    far = pattern(lambda lane, k, c: (8 * lane + k, 8 * c), lanes=8, bytes=16, free=[k, c])
    found = find_swizzle(tile, reads=[near, far], among=XOR)
    assert (found.wavefronts, found.least) == (384, 128)
    assert found.minimal.verdict is Verdict.PROVED
    assert "exhaustion of 323 layouts" in str(found)
    assert found.proved

    permuted = find_swizzle(tile, reads=[near, far], among=F2)
    assert permuted.wavefronts == permuted.least == 128
    assert permuted.proved
    for access in permuted.accesses:
        assert_proved(BankConflictFree(access))


def test_what_only_a_search_could_say_is_undecided() -> None:
    """With rows of eight 16-byte pieces as well, each bank bit is the XOR of three bits."""
    k, c, h = Dim("k", at_most=7), Dim("c", at_most=7), Dim("h", at_most=15)
    tile = Buffer((64, 64), "float16", TileLayout(S[(64, 64) : (64, 1)]), align=16)
    near = pattern(lambda lane, k, c: (8 * k + lane, 8 * c), lanes=8, bytes=16, free=[k, c])
    far = pattern(lambda lane, k, c: (8 * lane + k, 8 * c), lanes=8, bytes=16, free=[k, c])
    row = pattern(lambda lane, h: (4 * h + lane // 8, lane % 8 * 8), bytes=16, free=[h])
    found = find_swizzle(tile, reads=[near, far, row], among=F2)
    assert found.least < found.wavefronts < find_swizzle(tile, reads=[near, far, row]).wavefronts
    assert found.minimal.verdict is Verdict.UNDECIDED
    assert not found.proved
    assert "UNDECIDED no layout among F2 serves them in fewer" in str(found)
    again = find_swizzle(tile, reads=[near, far, row], among=F2)
    assert again.layout == found.layout  # the same answer every time


def test_bits_are_permuted_where_no_xor_keeps_vectors_whole() -> None:
    columns = Buffer((128, 64), "float16", TileLayout(S[(128, 64) : (1, 128)]), align=16)
    with pytest.raises(SynthesisError, match="elements of a lane are not one run"):
        find_swizzle(columns, reads=[COLUMN], writes=[ROW], among=XOR)
    found = find_swizzle(columns, reads=[COLUMN], writes=[ROW], among=F2)
    assert found.wavefronts == found.least
    assert_proved(Equivalent(found.layout, ComposeLayout(3, 3, 3, ROWS)))


def test_functions_of_a_buffer_are_accesses_too() -> None:
    i, j = Dim("i", multiple_of=16), Dim("j", multiple_of=16)

    def matrices(tile: Buffer):
        return tile[i : i + 16, j : j + 16].read(lambda lane: (lane % 16, lane // 16 * 8), bytes=16)

    found = find_swizzle(half_tile(), reads=[matrices], among=TMA_MODES)
    assert found.layout == ComposeLayout(3, 3, 3, ROWS)
    assert found.wavefronts == 8 * 4 * 4


def test_the_target_decides() -> None:
    """A row of 128 bytes a quarter is one wavefront; merged, a warp's four rows are four."""
    apart = find_swizzle(half_tile(), reads=[COLUMN], among=PADDING)
    merged = find_swizzle(half_tile(), reads=[COLUMN], among=PADDING, target=NVIDIA_WHOLE_WARP)
    assert apart.wavefronts == merged.wavefronts == 13 * 8 * 4
    assert apart.layout == merged.layout
    broadcast = pattern(lambda lane, j: (lane % 8, j), bytes=16, free=[J8])
    apart = find_swizzle(half_tile(), reads=[broadcast])
    merged = find_swizzle(half_tile(), reads=[broadcast], target=NVIDIA_WHOLE_WARP)
    assert (apart.wavefronts, merged.wavefronts) == (8 * 4, 8 * 1)


def test_it_prints_what_it_found() -> None:
    found = find_swizzle(half_tile(), reads=[COLUMN], writes=[ROW], among=XOR)
    text = str(found)
    assert text.startswith("ComposeLayout(3, 3, 3, S[(128, 64) : (64, 1)]): 544 wavefronts; NVIDIA")
    assert (
        "PROVED no layout that keeps elements apart serves them in fewer than 544 wavefronts"
        in text
    )
    assert "(3, 3, 3)             544  416 [1]  128 [1]" in text
    assert "216 cannot serve some access, like (0, 1, 1): the 8 elements" in text
    assert repr(found) == text


def test_candidates_that_serve_nothing_are_ranked_last() -> None:
    table = rank(half_tile(), reads=[COLUMN], among=PADDING)
    kept = [one.wavefronts is not None for one in table]
    assert kept == sorted(kept, reverse=True)
    assert kept.count(True) == 8
    assert all("not aligned" in one.reason for one in table if one.reason)


def test_sub_byte_elements() -> None:
    tile = Buffer((32, 64), "int4", TileLayout(S[(32, 64) : (64, 1)]), align=128)
    column = pattern(lambda lane, j: (lane, j), bits=32, free=[Dim("j", multiple_of=8, at_most=56)])
    found = find_swizzle(tile, reads=[column])
    assert found.proved
    assert found.wavefronts == found.least == 8


def test_a_function_that_looks_at_the_layout_is_found_out() -> None:
    def sly(tile: Buffer):
        turned = isinstance(tile.layout, ComposeLayout)
        return tile.read(lambda lane: (lane, 8 if turned else 0), bytes=16)

    with pytest.raises(SynthesisError, match="touches other elements when the layout is another"):
        find_swizzle(half_tile(), reads=[sly])


SWIZZLED = Buffer((8, 64), "float16", ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)])))
LANE = pattern(lambda lane: (lane,))


def line(layout: TileLayout, **how: object) -> Buffer:
    return Buffer((64,), "float32", layout, **how)  # type: ignore[arg-type]


FLAT = line(TileLayout(S[64:1]))


@pytest.mark.parametrize(
    ("wanted", "ask"),
    [
        ("at least one access", lambda: find_swizzle(FLAT)),
        ("the unswizzled tile", lambda: find_swizzle(SWIZZLED, reads=[COLUMN])),
        ("a list of patterns", lambda: find_swizzle(FLAT, reads=LANE)),
        ("a list of patterns", lambda: find_swizzle(FLAT, reads=[3])),
        ("is made for one layout", lambda: find_swizzle(FLAT, reads=[LANE.on(FLAT, "read")])),
        ("gives an access", lambda: find_swizzle(FLAT, reads=[lambda tile: (tile,)])),
        (
            "is a write: put it into writes=",
            lambda: find_swizzle(FLAT, reads=[lambda tile: tile.write(lambda lane: (lane,))]),
        ),
        ("among= is TMA_MODES", lambda: find_swizzle(FLAT, reads=[LANE], among="XOR")),
        ("a Buffer with the unswizzled", lambda: find_swizzle(ROWS, reads=[LANE])),
        (
            "two elements .* at one place",
            lambda: find_swizzle(line(TileLayout(S[(2, 32) : (0, 1)])), reads=[LANE]),
        ),
        (
            "has copies",
            lambda: find_swizzle(line(TileLayout(S[64:1] + R[2:64])), reads=[LANE]),
        ),
        (
            "needs numbers for sizes",
            lambda: find_swizzle(line(TileLayout(S[(2, 32) : (Dim("p"), 1)])), reads=[LANE]),
        ),
        (
            "banks are of shared memory",
            lambda: find_swizzle(line(TileLayout(S[64:1]), scope="global"), reads=[LANE]),
        ),
        ("PADDING is for tiles", lambda: find_swizzle(FLAT, reads=[LANE], among=PADDING)),
        (
            "F2 is for powers of two: the tile has 96 elements",
            lambda: find_swizzle(
                Buffer((3, 32), "float32", TileLayout(S[96:1])),
                reads=[pattern(lambda lane: (lane // 10, lane % 10), lanes=30)],
                among=F2,
            ),
        ),
        (
            "n has no upper bound",
            lambda: find_swizzle(
                half_tile(),
                reads=[lambda tile: tile.read(lambda lane, n: (n % 128, lane), free=[Dim("n")])],
            ),
        ),
        (
            "64 lanes, and a warp of",
            lambda: find_swizzle(FLAT, reads=[pattern(lambda lane: (lane,), lanes=64)]),
        ),
        (
            "has no aligned 16-byte access",
            lambda: find_swizzle(half_tile(align=8), reads=[COLUMN], among=XOR),
        ),
    ],
)
def test_errors_say_what_to_change(wanted: str, ask: object) -> None:
    with pytest.raises(ValueError, match=wanted):
        ask()  # type: ignore[operator]


def test_the_name_of_a_class_is_what_it_is_made_of() -> None:
    assert str(XOR | PADDING) == "XOR | PADDING"
    assert XOR | XOR == XOR
    assert isinstance(find_swizzle(FLAT, reads=[LANE]), Found)
    assert TileLayout.make([(64, 1, m)]) == find_swizzle(FLAT, reads=[LANE]).layout
