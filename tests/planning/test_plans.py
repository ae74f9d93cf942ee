"""Plans that people know the answer of, what a plan says of itself, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest

from layout_algebra import (
    ComposeLayout,
    Dim,
    Map,
    R,
    S,
    TileLayout,
    laneid,
    m,
    parse,
    tx,
    warpid,
)
from layout_algebra.errors import ClaimError
from layout_algebra.planning import (
    Place,
    PlanError,
    Read,
    plan,
)

CASE = Path(__file__).parents[1] / "data" / "cases" / "15-cyclic-shift-inverse.json"


def fragment(i, j):
    """Lane of an 8 x 8 matrix of 16-bit elements in a fragment (PTX ISA, ldmatrix)."""
    return 4 * (i % 8) + j % 8 // 2


#: Operand A of mma.m16n8k16 (PTX ISA): a0..a7 of each lane, by row and column.
OPERAND = Map.of(
    lambda i, j: {laneid: fragment(i, j), m: j % 2 + 2 * (i // 8) + 4 * (j // 8)}, (16, 16)
)
#: Two accumulators of mma.m16n8k16, side by side: c0..c3 of the left one, then of the right one.
ACCUMULATOR = Map.of(
    lambda i, j: {laneid: fragment(i, j), m: 4 * (j // 8) + 2 * (i // 8) + j % 2}, (16, 16)
)
#: The same with the registers row by row.
BY_ROWS = TileLayout(S[(2, 8, 2, 4, 2) : (4, 4 @ laneid, 2, 1 @ laneid, 1)])
MATRIX = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)])


def shifted(layout, n):
    """Who reads element (i + 1) mod n: the owner of i."""
    return Map.of(lambda j: layout.apply((j - 1) % n), (n,))


# -- known answers -----------------------------------------------------------------------------
def test_the_cyclic_shift():
    answer = json.loads(CASE.read_text(encoding="utf-8"))["answer"]
    for layout, key in (
        (TileLayout(S[128 : 1 @ tx]), "local_128x1"),
        (TileLayout(S[(32, 4) : (1 @ tx, 1)]), "local_32x4"),
    ):
        counts = plan(layout, shifted(layout, 128)).counts
        assert counts["stay"] + counts["register"] == answer[key]


def test_the_cyclic_shift_of_four_elements_a_lane_is_one_shuffle():
    rows = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
    found = plan(rows, shifted(rows, 128))
    assert found.kind == "lanes"
    assert found.minimal
    (only,) = found.rounds
    assert only.reads(0) == {lane: Read(lane, (lane + 1) % 32, 0, (3,)) for lane in range(32)}
    assert only.reads(1) == {}
    assert found.first["lane"] == (0, "lane", (0, 0, 0), (0, 31, 3))


def test_an_accumulator_is_the_operand_of_the_next_product():
    assert plan(ACCUMULATOR, OPERAND).kind == "nothing"
    found = plan(BY_ROWS, OPERAND)
    assert found.kind == "registers"
    assert found.counts == {"stay": 128, "register": 128, "lane": 0, "warp": 0}
    assert len(found.renames) == 128
    assert found.minimal
    assert found.why == "nothing is sent"


def test_a_transposed_matrix_goes_by_shuffles():
    transposed = Map.of(lambda i, j: MATRIX.apply(j, i, shape=(8, 8)), (8, 8))
    found = plan(MATRIX, transposed)
    assert (found.kind, len(found.rounds), found.minimal) == ("lanes", 2, True)
    # a lane keeps what is in its row and its column: 4*i + j//2 = 4*j + i//2
    stay = [(i, j) for i in range(8) for j in range(8) if 4 * i + j // 2 == 4 * j + i // 2]
    assert found.counts["stay"] + found.counts["register"] == len(stay)


def test_rows_to_fragments_need_as_many_rounds_as_the_owner_of_a_row_sends():
    owners = TileLayout(S[(8, 8) : (1 @ laneid, 1)])
    found = plan(owners, MATRIX)
    assert (found.kind, found.at_least, len(found.rounds)) == ("lanes", 8, 8)
    # lane 0 has row 0 and keeps two elements of it; the others have all eight to send
    assert found.counts == {"stay": 2, "register": 0, "lane": 62, "warp": 0}


def test_warps_that_do_the_same_share_their_rounds():
    one = TileLayout(S[(4, 32, 2) : (1 @ warpid, 1 @ laneid, 1)])
    found = plan(one, TileLayout(S[(4, 2, 32) : (1 @ warpid, 1, 1 @ laneid)]))
    assert all([group.warps for group in each.groups] == [(0, 1, 2, 3)] for each in found.rounds)


def test_warps_that_do_not_run_their_own_rounds_at_the_same_time():
    one = TileLayout(S[(2, 32) : (1 @ warpid, 1 @ laneid)])
    found = plan(one, Map.of(lambda w, l: {warpid: w, laneid: l ^ w}, (2, 32)))
    (only,) = found.rounds
    assert [group.warps for group in only.groups] == [(1,)]


def test_the_busiest_warp_says_how_many_rounds():
    """Neighbours exchange four registers in warp 0, two in warp 1, none in warp 2."""
    one = TileLayout(S[(3, 2, 4) : (1 @ warpid, 1 @ laneid, 1)])
    target = Map.of(
        lambda w, l, r: {warpid: w, laneid: l ^ (1 - (r + 2 * w) // 4), m: r}, (3, 2, 4)
    )
    found = plan(one, target)
    assert found.at_least == len(found.rounds) == 4
    assert [len(each.reads(1)) for each in found.rounds] == [2, 2, 0, 0]
    assert found.why == "lane 0 of warp 0 reads 4 elements, one a round"


def test_a_value_for_two_registers_of_a_lane_is_read_once():
    source = TileLayout(S[2 : 1 @ laneid])
    target = TileLayout(S[2 : 1 @ laneid] + R[2:1] + 1 @ laneid)
    found = plan(source, target)
    assert [each.reads(0) for each in found.rounds] == [
        {1: Read(1, 0, 0, (0, 1)), 2: Read(2, 1, 0, (0, 1))}
    ]


def test_the_nearest_copy_is_taken_and_the_sends_are_shared_out():
    # every element is in lanes 0 and 1, and lanes 2 and 3 want one each: one round, not two
    source = TileLayout(S[2:1] + R[2 : 1 @ laneid])
    found = plan(source, Map.of(lambda i: {laneid: i + 2}, (2,)))
    assert len(found.rounds) == 1
    assert {read.source_lane for read in found.rounds[0].reads(0).values()} == {0, 1}


def test_what_several_lanes_read_may_leave_the_fewest_open():
    target = Map.of(
        lambda i, k: {laneid: (7 * i + 8 * k + 8 * i * k + i * i) % 5, m: i}, (10, 3), copies=["k"]
    )
    found = plan(TileLayout(S[(5, 2) : (1 @ laneid, 1)]), target)
    assert not found.minimal
    assert found.at_least < len(found.rounds)
    assert "the fewest are not known" in found.why
    assert "whether fewer are enough is not known" in str(found)


def test_elements_that_change_their_warp_go_through_memory():
    column = TileLayout(S[(64, 2) : (1 @ tx, 1)])
    found = plan(column, TileLayout(S[(2, 64) : (1, 1 @ tx)]), element_bits=16)
    assert (found.kind, found.rounds, found.at_least) == ("warps", (), 0)
    assert not found.minimal
    leaving = 128 - found.counts["stay"] - found.counts["register"]
    assert sum(found.bytes_written.values()) == sum(found.bytes_read.values()) == 2 * leaving
    assert str(found).startswith(f"Through shared memory: {2 * leaving} bytes written")


def test_copies_in_several_warps_share_the_writes():
    source = TileLayout(S[64:1] + R[2 : 1 @ warpid])
    target = Map.of(lambda i: {warpid: 2 + i // 32, laneid: i % 32}, (64,))
    found = plan(source, target, element_bits=32)
    assert found.bytes_written == {0: 128, 1: 128, 2: 0, 3: 0}
    assert found.bytes_read == {0: 0, 1: 0, 2: 128, 3: 128}


def test_swizzled_registers():
    swizzled = ComposeLayout(0, 1, 1, TileLayout(S[(2, 4) : (1 @ laneid, 1)]))
    found = plan(swizzled, TileLayout(S[(2, 4) : (1 @ laneid, 1)]))
    assert found.counts == {"stay": 4, "register": 4, "lane": 0, "warp": 0}


def test_axes_are_brought_to_threads():
    by_tx = TileLayout(S[(256, 2) : (1 @ tx, 1)])
    for text in (
        "S[(8, 32, 2) : (1@warpid, 1@laneid, 1)]",
        "S[(2, 128, 2) : (1@wgid, 1@tid_in_wg, 1)]",
        "S[(2, 4, 32, 2) : (1@wgid, 1@wid_in_wg, 1@laneid, 1@reg)]",
    ):
        assert plan(by_tx, parse(text)).kind == "nothing"


# -- text --------------------------------------------------------------------------------------
def test_a_plan_in_words():
    rows = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
    found = plan(rows, shifted(rows, 128))
    assert str(found) == (
        "Within each warp: 1 shuffle round (at least 1 is needed).\n"
        "0 elements stay, 96 change register, 32 change lane, 0 change warp."
    )
    assert repr(found) == "<Plan lanes, 1 shuffle round: stay=0, register=96, lane=32, warp=0>"
    assert found.why == "lane 0 of warp 0 reads 1 element, one a round"
    assert str(plan(BY_ROWS, OPERAND)) == (
        "Each thread only renames registers: nothing is sent.\n"
        "128 elements stay, 128 change register, 0 change lane, 0 change warp."
    )
    assert str(plan(ACCUMULATOR, OPERAND)) == (
        "Nothing moves: every element is where the target has it.\n"
        "256 elements stay, 0 change register, 0 change lane, 0 change warp."
    )
    both = plan(TileLayout(S[2 : 1 @ warpid]), TileLayout(S[2:1] + R[2 : 1 @ warpid]))
    assert str(both) == (
        "Through shared memory: 2 elements written, 2 read.\n"
        "1 place of the target stays, 1 change register, 0 change lane, 2 change warp."
    )


def test_plans_of_equal_layouts_are_equal_and_hashable():
    assert plan(PAIR, TURNED) == plan(PAIR, TURNED)
    assert len({plan(PAIR, TURNED), plan(PAIR, TURNED)}) == 1


# -- refusals ----------------------------------------------------------------------------------
PAIR = TileLayout(S[(2, 2) : (1 @ laneid, 1)])
TURNED = TileLayout(S[(2, 2) : (1, 1 @ laneid)])
N = Dim("N")
LANES = TileLayout(S[32 : 1 @ laneid])
REFUSED = {
    "sizes": (
        LANES,
        TileLayout(S[64 : 1 @ tx]),
        "plan moves one tensor: the source has 32 elements and the target 64",
    ),
    "domains": (
        LANES,
        Map.of(lambda i: {laneid: i}, (32,), where=lambda i: i < 30),
        "element (30) is in the domain of the source and not of the target",
    ),
    "two elements in one register": (
        TileLayout(S[(2, 16) : (0, 1 @ laneid)]),
        LANES,
        "the source has elements (0, 0) (index 0) and (1, 0) (index 16) both at warp 0, lane 0, "
        "register 0: a register holds one element",
    ),
    "two elements in one register of the target": (
        LANES,
        Map.of(lambda i: {laneid: i // 2}, (32,)),
        "the target has elements (0) and (1) both at warp 0, lane 0, register 0",
    ),
    "an axis of no thread": (
        LANES,
        parse("S[32 : 1@bx]"),
        "on axes tx, laneid, wid_in_wg, tid_in_wg, warpid, wgid and m; the target has places on bx",
    ),
    "tensor memory": (parse("S[32 : 1@TLane]"), LANES, "the source has places on TLane"),
    "two axes for one thing": (
        parse("S[(2, 16) : (1@warpid, 1@tx)]"),
        LANES,
        "axes warpid and tx of the source count the same threads",
    ),
    "a lane too many": (
        Map.of(lambda i: {laneid: i + 1}, (32,)),
        LANES,
        "places on laneid are 0..31; the source has laneid = 32",
    ),
    "a lane below 0": (
        LANES,
        Map.of(lambda i: {laneid: 30 - i}, (32,)),
        "places on laneid are 0..31; the target has laneid = -1",
    ),
    "a register below 0": (
        parse("S[32 : -1]"),
        LANES,
        "places on m are 0 and up; the source has m = -31",
    ),
    "symbolic": (
        TileLayout(S[N : 1 @ laneid]),
        LANES,
        "plan needs numbers for the sizes, and the source has N",
    ),
    "too large": (
        LANES,
        TileLayout(S[1 << 21 : 1]),
        "plan lists at most 131072 places, which takes about 5 s; the target has 2097152: plan a",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    source, target, says = REFUSED[name]
    with pytest.raises(PlanError) as caught:
        plan(source, target)
    assert says in str(caught.value)


def test_no_layout():
    with pytest.raises(ClaimError, match="plan is about a layout or a Map; got 'S'"):
        plan("S", LANES)


@pytest.mark.parametrize("bits", [0, -8, 4, 12, 16.0, True, "16"])
def test_no_width(bits):
    with pytest.raises(PlanError, match="element_bits is whole bytes"):
        plan(LANES, LANES, element_bits=bits)


def test_bytes_need_a_width():
    found = plan(TileLayout(S[2 : 1 @ warpid]), TileLayout(S[2:1]))
    with pytest.raises(PlanError, match="element_bits="):
        found.bytes_written
    assert found.shared.counted() == {0: (0, 1), 1: (1, 0)}


def test_a_missing_value():
    with pytest.raises(PlanError, match="give a value for warp 0, lane 1, register 1: the plan"):
        plan(PAIR, TURNED).simulate({Place(0, 0, 0): 1})


# -- the largest plans -------------------------------------------------------------------------
def test_the_most_places_in_some_seconds():
    """1024 threads of 128 registers, turned round: register r of thread t is t + 1024*r there."""
    rows, columns = ((1024, 1, "tx"), (128, 1, "m")), ((128, 1, "m"), (1024, 1, "tx"))
    began = process_time()
    found = plan(TileLayout.from_iters(rows), TileLayout.from_iters(columns))
    assert process_time() - began < 20  # about 3 s on one core
    here = [(t, r) for t in range(1024) for r in range(128)]
    there = [(t, r) for r in range(128) for t in range(1024)]
    moves = list(zip(here, there, strict=True))
    assert found.counts["stay"] == sum(one == two for one, two in moves)
    assert found.counts["register"] == sum(one[0] == two[0] and one != two for one, two in moves)
    assert found.counts["warp"] == sum(one[0] // 32 != two[0] // 32 for one, two in moves)
    assert sum(found.counts.values()) == 1 << 17
