"""Claims that a tensor stays in its threads or warps, for all sizes, against plans."""

from __future__ import annotations

import pytest

from layout_algebra import Dim, Map, S, TileLayout, Verdict, laneid, m, parse, prove, tx, warpid
from layout_algebra.planning import PlanError, plan, same_threads, same_warps

LANES = TileLayout(S[32 : 1 @ laneid])


def test_nothing_is_sent_for_every_size():
    K = Dim("K", at_least=1)
    source = TileLayout(S[(2, 8, 2 * K, 4, 2) : (4 * K, 4 @ laneid, 2, 1 @ laneid, 1)])
    target = Map.of(
        lambda i, j: {laneid: 4 * (i % 8) + j % 8 // 2, m: j % 2 + 2 * (i // 8) + 4 * (j // 8)},
        (16, 16 * K),
    )
    assert prove(same_threads(source, target)).verdict is Verdict.PROVED
    rows = TileLayout(S[(16, 16 * K) : (1 @ laneid, 1)])
    assert prove(same_threads(source, rows)).verdict is Verdict.REFUTED
    assert prove(same_warps(source, rows)).verdict is Verdict.PROVED


def test_claims_of_staying_hold_where_plans_say_so():
    by_tx = TileLayout(S[(64, 2) : (1 @ tx, 1)])
    for target, threads, warps in (
        (TileLayout(S[(2, 32, 2) : (1 @ warpid, 1 @ laneid, 1)]), True, True),
        (TileLayout(S[(2, 2, 32) : (1 @ warpid, 1, 1 @ laneid)]), False, True),
        (TileLayout(S[(2, 64) : (1, 1 @ tx)]), False, False),
    ):
        kind = plan(by_tx, target).kind
        assert (kind in ("nothing", "registers")) == threads
        assert (kind != "warps") == warps
        assert (prove(same_threads(by_tx, target)).verdict is Verdict.PROVED) == threads
        assert (prove(same_warps(by_tx, target)).verdict is Verdict.PROVED) == warps


def test_a_lane_that_no_warp_has_is_no_thread():
    wide = Map.of(lambda i: {laneid: i}, (64,))
    by_tx = TileLayout(S[64 : 1 @ tx])
    assert prove(same_threads(wide, by_tx)).verdict is Verdict.REFUTED


def test_a_thread_axis_at_0_counts_nothing_and_another_axis_is_refused_even_there():
    by_lane = Map.of(lambda i: {laneid: i, tx: 0, warpid: 0}, (32,))
    assert plan(by_lane, LANES).kind == "nothing"
    assert prove(same_threads(by_lane, LANES)).verdict is Verdict.PROVED
    elsewhere = Map.of(lambda i: {laneid: i, "TLane": 0}, (32,))
    for ask in (plan, same_threads):
        with pytest.raises(PlanError, match="has places on TLane"):
            ask(elsewhere, LANES)


@pytest.mark.parametrize(
    ("text", "says"),
    [("S[32 : 1@TLane]", "has places on TLane"), ("S[(2, 16) : (1@wgid, 1@tx)]", "count the same")],
)
def test_claims_of_staying_refuse_the_same(text, says):
    with pytest.raises(PlanError, match=says):
        same_threads(LANES, parse(text))
