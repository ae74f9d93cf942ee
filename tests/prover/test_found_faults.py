"""Faults of the prover that a reviewer once found, each with the case that showed it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from layout_algebra import (
    ComposeLayout,
    Covers,
    Dim,
    Empty,
    Equivalent,
    Injective,
    LeftInverse,
    Map,
    S,
    TileLayout,
    Verdict,
    WithinBounds,
    prove,
)
from layout_algebra.errors import CoordinateError, LayoutAlgebraError
from layout_algebra.prover import Budget


def test_two_divisibilities_do_not_share_their_factor() -> None:
    M, K = Dim("M"), Dim("K", at_least=1)
    overlapping = Injective(TileLayout(S[(2, M) : (1000, 1)]))
    assert prove(overlapping, given=[M % 2 == 0, M % 4 == 0]).verdict is Verdict.REFUTED
    proof = prove(Injective(TileLayout(S[K:1])), given=[K % 6 == 0, K % 4 == 0])
    assert proof.verdict is Verdict.PROVED


def test_replicas_of_composed_maps_keep_apart() -> None:
    inner = Map.of(lambda i, r0: {"i": i}, (4, 1), copies=("r0",))
    outer = Map.of(lambda i, r0: {"m": i + 8 * r0}, (4, 4), copies=("r0",))
    four, two = outer.after(inner), Map.of(lambda i, r0: {"m": i + 8 * r0}, (4, 2), copies=("r0",))
    assert len(four.places(0)) == 4
    assert prove(Equivalent(four, two)).verdict is Verdict.REFUTED
    assert not any("'" in variable.name for variable in (*four.coordinates, *four.replicas))


def test_a_domain_does_not_depend_on_the_copy() -> None:
    inner = Map.of(lambda c, r: c + 4 * r, (4, 2), copies=("r",))
    upper_half = Map.of(lambda m: {"m": m // 4}, (8,), where=lambda m: m >= 4)
    with pytest.raises(CoordinateError, match="depend on the copy"):
        upper_half.after(inner)


def test_a_composed_map_is_defined_where_the_outer_one_is() -> None:
    sixteen = TileLayout(S[16:1]).map()
    eight = Map.of(lambda m: m % 8, (8,)).after(sixteen)
    assert [eight.apply(c) for c in range(8)] == [{"m": c} for c in range(8)]
    with pytest.raises(CoordinateError, match="outside"):
        eight.apply(8)
    assert prove(Injective(eight)).verdict is Verdict.PROVED
    wrapping = Map.of(lambda m: m % 8, (16,)).after(sixteen)
    assert prove(Injective(wrapping)).verdict is Verdict.REFUTED


def test_queries_say_what_the_rule_used() -> None:
    M, N = Dim("M", multiple_of=8), Dim("N")
    merged = Equivalent(
        TileLayout(S[(M // 8, 8, N) : (8 * N, N, 1)]), TileLayout(S[(M, N) : (N, 1)])
    )
    (query,) = prove(merged).queries()
    assert "distinct" in query.smt2
    assert "dim.N" in query.smt2
    landing = LeftInverse(Map.of(lambda i: i, (N,)), Map.of(lambda m: {"i": m}, (N + 1,)))
    (query,) = prove(landing).queries()
    assert "dim.N" in query.smt2


def test_a_conjunct_assumes_only_its_own_extents() -> None:
    M = Dim("M", at_most=50)
    one = Injective(TileLayout(S[M:1]))
    other = WithinBounds(Map.of(lambda i: i - M, (4,)), {"m": (-100, 3)})  # false at M = 0
    assert prove(other).verdict is Verdict.REFUTED
    assert prove(one & other).verdict is Verdict.REFUTED


def test_covering_by_an_unbounded_map_is_undecided() -> None:
    unbounded = Map.of(lambda i: i ^ 5, {"i": (0, None)})
    assert prove(Covers(unbounded, {"m": 4})).verdict is Verdict.UNDECIDED
    assert prove(Empty(unbounded)).verdict is Verdict.REFUTED


def test_a_hole_inside_the_box_is_found_whatever_the_size() -> None:
    proof = prove(Covers(TileLayout(S[(8192, 8192) : (8193, 1)]), {"m": 8192 * 8192}))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    assert proof.witness.places == ({"m": 8192},)


def test_irregular_strides_are_refuted_by_a_sample() -> None:
    rng = random.Random(3)
    layout = TileLayout.from_iters([(3, rng.randint(1, 10**8), "m") for _ in range(24)])
    proof = prove(Injective(layout), budget=Budget(rlimit=200_000, seconds=1.0))
    assert proof.verdict is Verdict.REFUTED
    assert proof.method == "sampling"
    one, two = ([point[f"c{k}"] for k in range(24)] for point in proof.witness.points)
    assert one != two
    assert layout.apply(*one) == layout.apply(*two)


@pytest.mark.parametrize(
    "call",
    [
        lambda layout: layout.tile(ComposeLayout(0, 1, 1, layout), (2,), (8,)),
        lambda layout: layout.tile(None, (2,), (8,)),
        lambda layout: layout.direct_sum(None, (2,), (8,)),
        lambda layout: layout.is_tile_inner(None, (8,), (8,)),
        lambda layout: layout.slice((8,), None),
        lambda layout: layout.group(None),
        lambda layout: layout.permute_dims(None),
        lambda layout: layout.split("xx"),
        lambda layout: prove(Injective(layout), given=None),
        lambda layout: prove(Injective(layout), budget=-1),
        lambda _: TileLayout(S[2**40 : 1]).table(),
        lambda _: ComposeLayout(20, 20, 20, TileLayout(S[2**60 : 3])).span(),
    ],
)
def test_wrong_arguments_are_explained_at_once(call: Callable[[TileLayout], object]) -> None:
    start = time.perf_counter()
    with pytest.raises(LayoutAlgebraError):
        call(TileLayout(S[8:1]))
    assert time.perf_counter() - start < 2.0
