"""`prove`: what it promises of verdicts, assumptions, budgets and witnesses, and what is behind."""

from __future__ import annotations

import json
import pickle
import random
import time
from dataclasses import replace
from pathlib import Path

import networkx
import pytest

from layout_algebra import (
    Buffer,
    ComposeLayout,
    Dim,
    Map,
    R,
    S,
    TileLayout,
    Verdict,
    assert_proved,
    equal,
    laneid,
    prove,
    warpid,
)
from layout_algebra.claims import (
    CLAIMS,
    BankConflictFree,
    Bijective,
    Claim,
    Coalesced,
    Composition,
    ConflictDegree,
    Covers,
    Disjoint,
    Empty,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    Matches,
    NoWriteRace,
    ReplicasDistinct,
    RightInverse,
    Vectorizable,
    Wavefronts,
    WithinBounds,
)
from layout_algebra.errors import ClaimError, DimError, NotProvedError, WitnessError
from layout_algebra.prover import Budget, rules
from layout_algebra.prover.solve import ask, replay
from layout_algebra.questions import Question
from layout_algebra.theorems import load_theorems
from layout_algebra.verdicts import Proof, Step
from tests import soundness

ROOT = Path(__file__).parents[2]
M, K, N, ld = Dim("M"), Dim("K"), Dim("N"), Dim("ld")
tile = TileLayout(S[(4, 8) : (8, 1)])
padded = TileLayout(S[(M, K) : (ld, 1)])
overlapping = TileLayout(S[(2, 4) : (3, 1)])


def irregular(bits: int, seed: int = 1) -> TileLayout:
    """Subset sum: strides without any order, as many as bits, whose sums may meet."""
    rng = random.Random(seed)
    strides = tuple(rng.randrange(1 << (bits + 8), 1 << (bits + 9)) for _ in range(bits))
    return TileLayout(S[(2,) * bits : strides])


# ----------------------------------------------------------------------------- verdicts


def test_verdicts_are_ordered():
    order = [Verdict.REFUTED, Verdict.UNDECIDED, Verdict.VACUOUS, Verdict.PROVED]
    assert sorted(Verdict) == order
    assert min(Verdict.PROVED, Verdict.VACUOUS) is Verdict.VACUOUS
    assert [str(verdict) for verdict in order] == ["REFUTED", "UNDECIDED", "VACUOUS", "PROVED"]


def test_a_proof_has_no_truth_value():
    for proof in (prove(Injective(tile)), prove(Injective(overlapping))):
        with pytest.raises(TypeError, match=r"a Proof has no truth value: compare \.verdict"):
            assert proof
        with pytest.raises(TypeError, match="has no truth value"):
            not proof
        with pytest.raises(TypeError, match="has no truth value"):
            proof and True


def test_assert_proved_returns_the_proof_or_raises_with_the_counterexample():
    assert assert_proved(Injective(tile)).verdict is Verdict.PROVED
    with pytest.raises(NotProvedError) as caught:
        assert_proved(Injective(overlapping))
    text = str(caught.value)
    assert text.startswith("REFUTED Injective(S[(2, 4) : (3, 1)])")
    assert "elements (0, 3) and (1, 0) are both at m = 3" in text or (
        "elements (1, 0) and (0, 3) are both at m = 3" in text
    )
    assert isinstance(caught.value, AssertionError)
    with pytest.raises(NotProvedError, match=r"(?s)REFUTED.*\(with .*ld = "):
        assert_proved(Injective(padded))
    with pytest.raises(NotProvedError, match=r"(?s)VACUOUS.*no values satisfy"):
        assert_proved(Injective(padded), given=[M >= 3, M <= 2])
    with pytest.raises(NotProvedError, match=r"(?s)UNDECIDED.*no rule applies"):
        assert_proved(Injective(overlapping), method="structure")


def test_only_claims_are_proven():
    with pytest.raises(ClaimError, match=r"prove takes a claim such as Injective\(layout\); got S"):
        prove(tile)
    with pytest.raises(ClaimError, match="got True"):
        assert_proved(True)
    with pytest.raises(ClaimError, match="method is auto, structure, solver or enumeration; got"):
        prove(Injective(tile), method="guess")


def test_the_proof_says_how_and_how_long():
    proof = prove(Injective(tile))
    assert proof.method == "structure: sorted strides"
    assert 0 < proof.seconds < 1
    shown = "PROVED Injective(S[(4, 8) : (8, 1)])  [structure: sorted strides, "
    assert str(proof).startswith(shown)
    assert repr(proof) == str(proof)


# -------------------------------------------------------------------------------- given


def test_given_relations():
    claim = Injective(padded)
    assert prove(claim).verdict is Verdict.REFUTED
    for given in ([ld >= K], (ld >= K,), iter([ld >= K]), ld >= K, [ld > K], [ld >= K + 1]):
        assert prove(claim, given=given).verdict is Verdict.PROVED
    assert prove(claim, given=[equal(ld, K)]).verdict is Verdict.PROVED
    assert prove(claim, given=[ld >= K - 1]).verdict is Verdict.REFUTED
    assert prove(claim, given=[ld >= K]).given[0].text == "ld >= K"


def test_true_is_something_that_holds_anyway():
    """`8*N % 8 == 0` and `N == N` are plain True."""
    assert prove(Injective(padded), given=[True, ld >= K, 8 * N % 8 == 0]).verdict is Verdict.PROVED
    assert prove(Injective(padded), given=[True]).verdict is Verdict.REFUTED


def test_false_is_explained():
    with pytest.raises(ClaimError) as caught:
        prove(Injective(padded), given=[ld >= K, M == N])
    assert str(caught.value) == (
        "given[1] is False: == between sizes compares their form; "
        "write equal(a, b) for the relation"
    )


@pytest.mark.parametrize("wrong", [[3], ["ld >= K"], [None], [ld], [Injective(tile)]])
def test_what_is_no_relation_is_refused(wrong):
    with pytest.raises(ClaimError, match=r"given\[0\] is a relation such as ld >= K; got "):
        prove(Injective(padded), given=wrong)


def test_divisibility():
    bn = Dim("bn", at_least=1)
    stages = TileLayout(S[(N // bn, bn) : (bn, 1)])
    whole = TileLayout(S[(N,) : (1,)])
    assert prove(Equivalent(stages, whole), given=[N % bn == 0]).verdict is Verdict.PROVED
    assert prove(Equivalent(stages, whole)).verdict is Verdict.REFUTED
    # what is divided is not thereby at least 0
    assert prove(Injective(padded), given=[(ld - K) % 4 == 0]).verdict is Verdict.REFUTED
    assert prove(Injective(padded), given=[(ld - K) % 4 == 0, ld >= K]).verdict is Verdict.PROVED


def test_the_witness_satisfies_what_is_given():
    """Also relations between Dims that the question itself does not contain."""
    D = Dim("D")
    proof = prove(Injective(TileLayout(S[(4,) : (N,)])), given=[N % D == 0, D >= 3])
    assert proof.verdict is Verdict.REFUTED
    dims = proof.witness.dims
    assert dims["N"] == 0
    assert dims.get("D", 3) >= 3


def test_contradictions_are_vacuous():
    for given in (
        [M >= 3, M <= 2],
        [M >= K + 1, K >= M],
        [equal(M, 2 * K), equal(M, 2 * K + 1)],
        [M <= 0],  # there is no such layout
        [equal(3, 4)],  # about no Dim at all
        [M <= -1],
    ):
        proof = prove(Injective(padded), given=given)
        assert proof.verdict is Verdict.VACUOUS, given
        assert proof.reason.startswith("no values satisfy ")
        assert proof.witness is None
    for given in ([M >= 3, M <= 2], [equal(3, 4)]):  # also of claims about no Dim
        for layout in (tile, overlapping):
            assert prove(Injective(layout), given=given).verdict is Verdict.VACUOUS


def test_a_layout_that_never_exists_is_vacuous():
    two = TileLayout(S[(M - N, N - M) : (1, 1)])
    proof = prove(Injective(two))
    assert proof.verdict is Verdict.VACUOUS
    assert ">= 1" in proof.reason


def test_assumptions_that_are_not_decided():
    """x^3 + y^3 + z^3 = 114 has no known solution: the claim is UNDECIDED, and says why."""
    x, y, z = (Dim(name, at_least=-(10**6)) for name in "xyz")
    cubes = equal(x * x * x + y * y * y + z * z * z, 114)
    start = time.perf_counter()
    proof = prove(Injective(TileLayout(S[(4,) : (x,)])), given=[cubes], budget=Budget(100_000, 2.0))
    assert time.perf_counter() - start < 10
    assert proof.verdict is Verdict.UNDECIDED
    assert proof.reason.startswith("it is not known whether any values satisfy ")


def test_two_dims_of_one_name():
    other = Dim("M", multiple_of=8)
    message = r'one name, two Dims: Dim\("M".*\) and Dim\("M".*\) in one claim'
    both = TileLayout(S[(M, 4) : (other, 1)])
    with pytest.raises(DimError, match=message):
        prove(Injective(both))
    with pytest.raises(DimError, match=message):  # in what is given
        prove(Injective(padded), given=[other >= 8])
    with pytest.raises(DimError, match=message):  # in a box, about a layout with numbers only
        prove(WithinBounds(tile, {"m": M + 32, "laneid": other + 1}))
    with pytest.raises(DimError, match=message):  # in the box of one part
        prove(Injective(padded) & Covers(tile, {"m": other}))


def test_divisors_are_positive_wherever_they_stand():
    """Where N // M occurs, M is at least 1, also in witnesses about something else."""
    shifted = TileLayout(S[(4,) : (0,)] + (N // M) @ laneid)
    proof = prove(Injective(shifted))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.dims["M"] >= 1
    divided = Map.of(lambda i: {"m": i // M, "laneid": i}, (8,))
    proof = prove(WithinBounds(divided, {"laneid": 4}))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.dims["M"] >= 1
    proof = prove(WithinBounds(tile, {"m": N // M}))
    assert proof.witness.dims["M"] >= 1
    proof = prove(Injective(TileLayout(S[(4,) : (N,)])), given=[N % M == 0, M <= 0])
    assert proof.verdict is Verdict.VACUOUS


# ------------------------------------------------------------------------------- routes


def test_each_route_alone():
    decided = {
        "structure": (Injective(tile), "structure: sorted strides"),
        "solver": (Injective(tile), "solver: QF_LIA"),
        "enumeration": (Injective(tile), "enumeration"),
    }
    for method, (claim, route) in decided.items():
        proof = prove(claim, method=method)
        assert (proof.verdict, proof.method) == (Verdict.PROVED, route)
    assert prove(Injective(padded), method="structure").verdict is Verdict.UNDECIDED
    assert prove(Injective(padded), given=ld >= K, method="structure").verdict is Verdict.PROVED
    assert prove(Injective(padded), given=ld >= K, method="solver").method == "solver: QF_NIA"
    wide = TileLayout(S[(8, 64) : (64, 1)])
    swizzled, other = ComposeLayout(3, 3, 3, wide), ComposeLayout(2, 3, 3, wide)
    assert prove(Equivalent(swizzled, other), method="solver").method == "solver: QF_BV"


@pytest.mark.parametrize("method", ["structure", "solver", "enumeration"])
def test_a_route_alone_keeps_to_itself(method):
    """Parts and simpler claims too."""
    whole = Bijective(ComposeLayout(0, 1, 1, TileLayout(S[(4, 4) : (4, 1)])), {"m": 16})
    proof = prove(whole & Injective(overlapping), method=method)

    def methods(one: Proof) -> set[str]:
        return {one.method.split(":")[0].split(",")[0]} | {
            name for part in one.parts for name in methods(part)
        }

    allowed = {method, "structure"} if method == "solver" else {method}
    for name in methods(proof):
        assert name.split(";")[0] in allowed, proof.parts


def test_enumeration_has_a_limit():
    proof = prove(Injective(tile), method="enumeration", most_places=31)
    assert proof.verdict is Verdict.UNDECIDED
    assert proof.reason == "32 places are more than the 31 that are enumerated"
    assert prove(Injective(tile), method="enumeration", most_places=32).verdict is Verdict.PROVED


def test_enumeration_of_what_has_no_bounds():
    evens = Map.of(lambda x: 2 * x, {"x": (None, None)})
    proof = prove(Injective(evens), method="enumeration")
    assert (proof.verdict, proof.reason) == (Verdict.UNDECIDED, "coordinate x has no bounds")
    assert prove(Injective(evens)).verdict is Verdict.PROVED


def test_what_structure_decides_alone():
    """Without a solver, as the docs promise: in microseconds, whatever the sizes."""
    s = Dim("s", at_least=1, at_most=4)
    swizzled = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
    for claim in (
        Injective(TileLayout(S[(2, 4) : (-4, -1)])),
        Injective(TileLayout(S[(4, 2, 8) : (2, 1, -8)] + R[2:64])),
        Injective(TileLayout(S[(4, 2) : (-2 * s, s)])),
        Injective(TileLayout(S[(M, K, 3) : (1, M, 1 @ laneid)])),
        Injective(TileLayout(S[4:4] + R[(2, 3) : (1, 1)])),  # copies may meet each other
        ReplicasDistinct(TileLayout(S[4:0] + R[(2, 3) : (-3, 1)])),
        Injective(swizzled),
        Covers(TileLayout(S[(2, 4) : (-4, -1)] + 7), {"m": 8}),
        Covers(TileLayout(S[(4, 3) : (2, 1)]), {"m": (1, 9)}),
        Covers(TileLayout(S[4:1]), {"laneid": 1}),  # the place where all axes are 0
        Covers(TileLayout(S[(M, 4) : (-4, -1)] + (4 * M - 1)), {"m": 4 * M}),
        Covers(TileLayout(S[(3, 4) : (-s, -1)] + (2 * s + 3)), {"m": 2 * s + 4}),
        Covers(swizzled, {"m": 512}),
        WithinBounds(TileLayout(S[(M, 4) : (-4, -1)]), {"m": (1 - 4 * M, 1)}),
        WithinBounds(swizzled, {"m": 512}),
        WithinBounds(ComposeLayout(0, 2, 2, TileLayout(S[(M, 16) : (16, 1)])), {"m": 16 * M}),
        Equivalent(swizzled, ComposeLayout(3, 3, 3, TileLayout(S[(512,) : (1,)]))),
        Equivalent(
            TileLayout(S[4:1] + R[(6,) : (-4,)]), TileLayout(S[4:1] + R[(2, 3) : (12, 4)] + (-20))
        ),
        Disjoint(TileLayout(S[(M, K) : (K, 1)]), TileLayout(S[(8,) : (-1,)] + (-1))),
        Disjoint(TileLayout(S[(M, 8) : (4, 6)]), TileLayout(S[(K,) : (8,)] + 3)),
        LeftInverse(TileLayout(S[(M, K) : (1, M)]), TileLayout(S[(K, M) : (1, K)])),
        Bijective(TileLayout(S[(M, K) : (1, M)]), {"m": M * K}),
    ):
        proof = prove(claim, method="structure")
        assert proof.verdict is Verdict.PROVED, proof


def test_what_structure_must_not_decide():
    """One step away from each of the above."""
    s = Dim("s", at_least=1, at_most=9)
    three = ComposeLayout(0, 1, 1, TileLayout(S[3:1]))
    for claim in (
        Injective(TileLayout(S[(2, 4) : (-3, -1)])),
        Injective(TileLayout(S[(4, 2) : (-s, s)])),
        Injective(TileLayout(S[(M, K) : (1, M - 1)])),
        Injective(TileLayout(S[4:1] + R[2:1])),
        ReplicasDistinct(TileLayout(S[4:1] + R[(2, 3) : (2, 1)])),
        Covers(TileLayout(S[(2, 4) : (-5, -1)] + 8), {"m": 9}),
        Covers(TileLayout(S[(4,) : (-s,)] + 3 * s), {"m": 3 * s + 1}),
        Covers(TileLayout(S[4:1]), {"m": 4, "laneid": 2}),
        Covers(TileLayout(S[4:1] + 1), {"m": 5}),
        Covers(TileLayout(S[4:1]), {"m": 5}),
        Covers(three, {"m": 3}),
        WithinBounds(three, {"m": 3}),
        WithinBounds(three, {"m": (1, 4)}),
        WithinBounds(TileLayout(S[4:1]), {"m": (1, 5)}),
        WithinBounds(TileLayout(S[4:1]), {"m": 3}),
        Equivalent(three, TileLayout(S[3:1])),
        Equivalent(
            ComposeLayout(0, 1, 1, TileLayout(S[4:1])), ComposeLayout(0, 1, 2, TileLayout(S[4:1]))
        ),
        Equivalent(TileLayout(S[4:1] + R[2:4]), TileLayout(S[4:1] + R[3:4])),
        Equivalent(TileLayout(S[4:1] + R[2:4]), TileLayout(S[4:1] + R[2:8])),
        Equivalent(TileLayout(S[4:1]), TileLayout(S[4:1] + 1)),
        Equivalent(TileLayout(S[(2, 2) : (2, 1)]), TileLayout(S[(2, 2) : (2 @ laneid, 1)])),
        Disjoint(TileLayout(S[4:1]), TileLayout(S[4:1] + 3)),
        Disjoint(TileLayout(S[8:2]), TileLayout(S[8:3] + 1)),
        Disjoint(TileLayout(S[8:2] + R[2:1]), TileLayout(S[8:2] + 1)),
        LeftInverse(TileLayout(S[(2, 4) : (8, 1)]), TileLayout(S[(4,) : (1,)])),
        LeftInverse(TileLayout(S[(M, K) : (1, M)]), TileLayout(S[(M, K) : (1, M)])),
        Bijective(TileLayout(S[(2, 2) : (2, 1)]), {"m": 5}),
    ):
        proof = prove(claim, method="structure")
        assert proof.verdict is not Verdict.PROVED, proof


# ------------------------------------------------------------------------------ budgets


def test_subset_sum_ends_by_its_budget():
    """24 bits of irregular strides: Z3 gives up in bounded time, enumeration decides."""
    hard = Injective(irregular(24))
    start = time.perf_counter()
    alone = prove(hard, method="solver", budget=Budget(rlimit=200_000, seconds=5.0))
    assert time.perf_counter() - start < 15
    assert alone.verdict is Verdict.UNDECIDED
    assert alone.reason.startswith("Z3 gave up on 'two elements share a place")
    both = prove(Injective(irregular(18)), budget=Budget(rlimit=50_000, seconds=5.0))
    assert both.method == "enumeration"
    assert both.verdict in (Verdict.PROVED, Verdict.REFUTED)


def test_beyond_enumeration_the_reason_has_both():
    start = time.perf_counter()
    proof = prove(Injective(irregular(30)), budget=Budget(rlimit=100_000, seconds=2.0))
    assert time.perf_counter() - start < 15
    assert proof.verdict is Verdict.UNDECIDED
    assert "Z3 gave up" in proof.reason
    assert f"{2**30} places are more than the {2**24} that are enumerated" in proof.reason


def test_the_clock_caps_a_query():
    start = time.perf_counter()
    proof = prove(
        Injective(irregular(30)), method="solver", budget=Budget(rlimit=10**9, seconds=0.5)
    )
    assert time.perf_counter() - start < 8
    assert proof.verdict is Verdict.UNDECIDED
    assert any(word in proof.reason for word in ("timeout", "canceled", "interrupted"))


def test_budgets_are_deterministic():
    """The same resource units, the same answer: what is in the ledger can be had again."""
    from layout_algebra.prover.solve import fresh_context

    found = []
    for _ in range(2):
        with fresh_context():
            proof = prove(Injective(irregular(16)), method="solver", budget=Budget(100_000, 60.0))
            found.append((proof.verdict, [query.rlimit for query in proof.queries()]))
    assert found[0] == found[1]


def test_symbolic_xor_is_undecided_and_says_so():
    length = Dim("length", at_least=1)
    mixed = Map.of(lambda x: x ^ (x >> 1), (length,))
    proof = prove(Injective(mixed), budget=Budget(100_000, 2.0))
    assert proof.verdict is Verdict.UNDECIDED
    assert "no encoding for" in proof.reason


def test_nothing_hangs():
    """A wide sample of hard claims, each within its budget and some slack."""
    odd = Dim("odd", at_least=3)
    claims = [
        Covers(irregular(22), {"m": 1 << 20}),
        Bijective(irregular(22), {"m": 1 << 22}),
        Equivalent(irregular(20, 1), irregular(20, 2)),
        Disjoint(irregular(22, 1), irregular(22, 3)),
        LeftInverse(irregular(20), TileLayout(S[(2**20,) : (1,)])),
        Injective(ComposeLayout(2, 3, 7, irregular(22))),
        Injective(TileLayout(S[(odd, odd + 1, odd + 2) : (odd * odd, M, N)])),
        Equivalent(TileLayout(S[(M, N, K) : (N, M, 1)]), TileLayout(S[(K, M, N) : (M, N, 1)])),
        ReplicasDistinct(
            TileLayout(S[()] + R[(2,) * 24 : tuple(it.stride for it in irregular(24).shard)])
        ),
        WithinBounds(ComposeLayout(0, 4, 9, irregular(30)), {"m": 1 << 37}),
    ]
    for claim in claims:
        start = time.perf_counter()
        prove(claim, budget=Budget(rlimit=100_000, seconds=1.0), most_places=1 << 18)
        assert time.perf_counter() - start < 8, claim


# ------------------------------------------------------------------------ what is behind


swizzled_rows = ComposeLayout(3, 3, 3, TileLayout(S[(32, 64) : (64, 1)]))
banked = Buffer((32, 64), "float16", swizzled_rows, align=128).read(
    lambda lane: (lane, 0), bytes=16
)
crowded = Buffer((32, 64), "float16", swizzled_rows.tile_layout, align=16).read(
    lambda lane: (lane, 0), bytes=16
)
row = Buffer((32, 64), "float32", swizzled_rows.tile_layout).write(lambda lane: (0, lane))
eight_by_eight = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]).map((8, 8))
dealt = replace(
    crowded, data=Map.of(lambda laneid, m: {"i": laneid // 4, "j": laneid % 4 * 2 + m}, (32, 2))
)


def sample() -> list[tuple[Claim, dict]]:
    """True claims of every kind, by every route, concrete and symbolic, with lemmas and parts."""
    swizzled = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
    symbolic_swizzle = ComposeLayout(0, 2, 2, TileLayout(S[(M, 16) : (16, 1)]))
    column = TileLayout(S[(8, 4) : (1, 8)])
    copied = TileLayout(S[(4,) : (1,)] + R[(2, 3) : (4, 8)])
    many = TileLayout(S[(4,) : (1,)] + R[128:4])
    many_split = TileLayout(S[(4,) : (1,)] + R[(2, 64) : (256, 4)])
    s = Dim("s", at_least=1)
    guarded = Map.of(lambda i, j: 8 * i + j, (4, 8), where=lambda i, j: i + j <= 5)
    found: list[tuple[Claim, dict]] = []
    for method in ("auto", "structure", "solver", "enumeration"):
        how = {"method": method}
        found += [(Injective(one), how) for one in (tile, column, swizzled, copied, guarded)]
        found += [(ReplicasDistinct(one), how) for one in (tile, copied, many)]
        found += [
            (Injective(TileLayout(S[(1,) : (0,)])), how),  # nothing that could collide
            (Injective(TileLayout(R[3:1])), how),
            (WithinBounds(tile), how),  # no limit at all
            (WithinBounds(tile, {"m": 32}), how),
            (WithinBounds(swizzled, {"m": 512}), how),
            (Covers(tile, {"m": 32}), how),
            (Covers(swizzled, {"m": 512}), how),
            (Covers(guarded, {"m": 5}), how),
            (Bijective(tile, {"m": 32}), how),
            (Bijective(swizzled, {"m": 512}), how),
            (Bijective(copied, {"m": 24}), how),
            (Equivalent(tile, TileLayout(S[(32,) : (1,)])), how),
            (Equivalent(copied, TileLayout(S[(2, 2) : (2, 1)] + R[6:4])), how),
            (Equivalent(many, many_split), {}),
            (Equivalent(swizzled, swizzled), how),
            (Equivalent(ComposeLayout(0, 0, 3, tile), tile), how),
            (Disjoint(tile, TileLayout(S[(4, 8) : (8, 1)] + 32)), how),
            (Disjoint(TileLayout(S[8:2]), TileLayout(S[8:2] + 1)), how),
            (Inverse(tile, TileLayout(S[32:1])), how),
            (LeftInverse(column, TileLayout(S[(4, 8) : (1, 4)])), how),
            (RightInverse(column, TileLayout(S[(4, 8) : (1, 4)])), how),
            (Composition(column, TileLayout(S[(4, 8) : (1, 4)]), TileLayout(S[32:1])), how),
            (BankConflictFree(banked), how),
            (ConflictDegree(crowded, 8), how),
            (Wavefronts(row, 1), how),
            (Coalesced(replace(row, scope="global"), 5), how),
            (Vectorizable(banked), how),
            (NoWriteRace(row), how),
            (Matches(dealt, eight_by_eight), how),
            (Empty(Map.of(lambda i: i, (4,), where=lambda i: i >= 4)), how),
            (Injective(tile) & Covers(tile, {"m": 32}) & Injective(swizzled), how),
        ]
    for how in ({}, {"method": "structure"}, {"method": "solver"}):
        found += [
            (Injective(padded), {"given": [ld >= K]} | how),
            (Injective(symbolic_swizzle), how),
            (WithinBounds(padded, {"m": M * ld}), {"given": [ld >= K]} | how),
            (Equivalent(TileLayout(S[(M, K) : (K, 1)]), TileLayout(S[(M * K,) : (1,)])), how),
            (
                Disjoint(padded, TileLayout(S[(M, K) : (ld, 1)] + M * ld)),
                {"given": [ld >= K]} | how,
            ),
            (Bijective(TileLayout(S[(M, K) : (K, 1)]), {"m": M * K}), how),
            (Bijective(symbolic_swizzle, {"m": 16 * M}), how),
            (Covers(TileLayout(S[(4,) : (-s,)] + 3 * s), {"m": (3 * s, 3 * s + 1)}), how),
            (ReplicasDistinct(TileLayout(S[4:1] + R[(M, 2) : (2 * s, s)])), how),
            (Inverse(TileLayout(S[(M, K) : (1, M)]), TileLayout(S[(K, M) : (1, K)])), how),
            (
                Composition(
                    TileLayout(S[(M, 512) : (1024, 2)]),
                    ComposeLayout(3, 3, 3, TileLayout(S[(8 * M, 64) : (64, 1)])),
                    ComposeLayout(4, 3, 3, TileLayout(S[(512 * M,) : (2,)])),
                ),
                how,
            ),
            (
                Composition(
                    TileLayout(S[(K, M) : (1, K)]),
                    TileLayout(S[(M, K) : (1, M)]),
                    TileLayout(S[(M * K,) : (1,)]),
                ),
                how,
            ),
        ]
    return found


@pytest.fixture(scope="module")
def proofs() -> list[Proof]:
    found = [prove(claim, **how) for claim, how in sample()]
    assert not [proof for proof in found if proof.verdict in (Verdict.REFUTED, Verdict.VACUOUS)]
    proved = [proof for proof in found if proof.verdict is Verdict.PROVED]
    assert len(proved) > 100
    assert {type(proof.claim).__name__ for proof in proved} >= set(CLAIMS)
    return proved


def test_every_proof_has_a_query_behind_it(proofs):
    """Each part on its own as well, whatever the route."""

    def leaves(proof: Proof):
        if not proof.parts:
            yield proof
        for part in proof.parts:
            yield from leaves(part)

    for proof in proofs:
        assert proof.queries(), proof
        for leaf in leaves(proof):
            assert leaf.queries(), (proof, leaf)


def test_every_query_of_a_proof_is_unsat(proofs):
    texts = {query.key: query for proof in proofs for query in proof.queries()}
    assert len(texts) > 50
    assert {query.logic for query in texts.values()} == {"QF_LIA", "QF_NIA", "QF_BV"}
    for query in texts.values():
        again = replay(query, Budget(20_000_000, 20.0))
        assert again.result == "unsat", (query.about, again.result, query.smt2)
        assert query.result in (None, "unsat")


def test_the_graph_is_what_the_proof_is(proofs):
    for proof in proofs:
        graph = proof.graph
        assert networkx.is_directed_acyclic_graph(graph)
        roots = [node for node in graph if graph.in_degree(node) == 0]
        assert roots == [str(proof.claim)]
        kinds = {
            kind: [n for n in graph if graph.nodes[n]["kind"] == kind]
            for kind in ("claim", "rule", "lemma", "query")
        }
        assert sum(map(len, kinds.values())) == len(graph)
        assert set(kinds["query"]) == {query.key for query in proof.queries()}
        assert set(kinds["lemma"]) == set(proof.lemmas())
        for node in kinds["claim"]:
            assert graph.nodes[node]["verdict"] == "PROVED"
        for kind, above in (("rule", "claim"), ("lemma", "rule"), ("query", "rule")):
            for node in kinds[kind]:
                parents = {graph.nodes[n]["kind"] for n in graph.predecessors(node)}
                assert parents == {above}, (proof, node)


def test_the_lemmas_are_theorems(proofs):
    named = {lemma for proof in proofs for lemma in proof.lemmas()}
    stated = {
        theorem.name: theorem
        for theorem in load_theorems(
            [str(ROOT / "proofs" / "rules.py"), str(ROOT / "proofs" / "all_parameters.py")]
        )
    }
    every = {value for name, value in vars(rules).items() if str(value).startswith("rule: ")}
    assert named == every  # the sample uses every rule there is
    for lemma in every:
        assert stated[lemma].expect is Verdict.PROVED
        if stated[lemma].file.endswith("rules.py"):
            assert stated[lemma].method == "solver"  # not by the rule itself


def test_a_symbolic_proof_states_its_side_conditions():
    """Not vacuous: without what is given, the query has an answer."""
    proof = prove(Injective(padded), given=[ld >= K])
    (query,) = proof.queries()
    assert query.about == "a stride within the reach of the smaller ones"
    facts = rules.facts_about(Injective(padded), ())
    outcome = rules.sorted_strides(
        Injective(padded), rules.facts_about(Injective(padded), (ld >= K,))
    )
    assert outcome is not None
    without = rules.side_conditions("the same", [ld - K], facts)()
    assert replay(without[0], Budget()).result == "sat"


def test_the_query_behind_a_rule_is_the_negated_claim():
    """With numbers, what is checked again does not trust the rule: a wrong rule's query is sat."""
    wrong = rules.Negation(Injective(overlapping), ())
    assert [replay(query, Budget()).result for query in wrong()] == ["sat"]


def test_the_questions_behind_an_enumerated_covering_are_real(monkeypatch):
    from layout_algebra.arithmetic import enumeration
    from layout_algebra.prover.covering import covering_questions

    layout = TileLayout(S[(4, 3) : (3, 2)] + R[5:1])
    claim = Covers(layout, {"m": 10})
    assert [ask(one, Budget()).result for one in covering_questions(claim)] == ["unsat", "unsat"]
    honest = enumeration.occupants

    def forgets_one(*given):
        return honest(*given)[1:]

    monkeypatch.setattr(enumeration, "occupants", forgets_one)
    assert [ask(one, Budget()).result for one in covering_questions(claim)] == ["unsat", "sat"]

    def confuses_two(*given):
        (a, place), (b, other), *rest = honest(*given)
        return [(a, other), (b, place), *rest]

    monkeypatch.setattr(enumeration, "occupants", confuses_two)
    assert [ask(one, Budget()).result for one in covering_questions(claim)] == ["sat", "unsat"]


def test_proofs_become_plain_data(proofs):
    for proof in (*proofs, prove(Injective(padded)), prove(Injective(overlapping))):
        data = {
            "claim": str(proof.claim),
            "verdict": str(proof.verdict),
            "method": proof.method,
            "witness": proof.witness and proof.witness.to_json(),
            "queries": [(q.about, q.logic, q.smt2, q.result) for q in proof.queries()],
            "graph": networkx.node_link_data(proof.graph, edges="edges"),
        }
        assert json.loads(json.dumps(data))["claim"] == str(proof.claim)
        assert pickle.loads(pickle.dumps(proof.claim)) == proof.claim
        if proof.witness is not None:
            assert pickle.loads(pickle.dumps(proof.witness)) == proof.witness


# -------------------------------------------------------------------------- conjunctions


def test_a_conjunction_has_the_least_verdict():
    good, bad = Injective(tile), Injective(overlapping)
    unknown = Injective(irregular(30))
    quick = {"budget": Budget(10_000, 1.0), "most_places": 10}
    assert prove(good & good, **quick).verdict is Verdict.PROVED
    assert prove(good & unknown, **quick).verdict is Verdict.UNDECIDED
    assert prove(unknown & good, **quick).verdict is Verdict.UNDECIDED
    proof = prove(unknown & bad, **quick)
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness == prove(bad).witness
    assert "Z3 gave up" in prove(good & unknown, **quick).reason


def test_what_is_refuted_ends_the_conjunction():
    proof = prove(Injective(overlapping) & Injective(tile))
    assert [part.verdict for part in proof.parts] == [Verdict.REFUTED]
    assert proof.witness.places == ({"m": 3},)


def test_given_holds_for_all_parts():
    claim = Injective(padded) & WithinBounds(padded, {"m": M * ld})
    assert prove(claim, given=[ld >= K]).verdict is Verdict.PROVED
    assert prove(claim).verdict is Verdict.REFUTED


# ------------------------------------------------------------------------------ claims


def test_bijective_by_counting_and_otherwise():
    compact = TileLayout(S[(M, K) : (1, M)])
    proof = prove(Bijective(compact, {"m": M * K}))
    assert proof.verdict is Verdict.PROVED
    # three digits out of the order of their strides, sizes unknown: neither sorted nor dense
    pieces = TileLayout(S[(2, 3) : (1, 2)] + R[2:6])
    for box, verdict in (
        ({"m": 12}, Verdict.PROVED),
        ({"m": 13}, Verdict.REFUTED),
        ({"m": 11}, Verdict.REFUTED),
        ({"m": (1, 13)}, Verdict.REFUTED),
    ):
        assert prove(Bijective(pieces, box)).verdict is verdict
    # counting: a swizzle whose period is larger than the box, so that no rule speaks of the box
    table = Map.of(lambda i, j: 4 * i + (i ^ j), (4, 4))
    proof = prove(Bijective(table, {"m": 16}))
    assert proof.verdict is Verdict.PROVED
    assert "counting" in proof.method
    # as many elements as places, but they collide
    proof = prove(Bijective(TileLayout(S[(4, 4) : (4, 0)]), {"m": 16}))
    assert proof.verdict is Verdict.REFUTED
    # as many places with multiplicity, but two copies at one
    proof = prove(Bijective(TileLayout(S[(2, 2) : (2, 1)] + R[2:0]), {"m": 8}))
    assert proof.verdict is Verdict.REFUTED
    # a guard takes elements out: counting would be wrong
    some = Map.of(lambda i: i, (8,), where=lambda i: i != 3)
    proof = prove(Bijective(some, {"m": 8}))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.places == ({"m": 3},)


def test_counting_counts_copies():
    """Every element twice: 32 places of 16 elements, by no rule but counting."""
    twice = Map.of(lambda i, j, r: 8 * i + 2 * (i ^ j) + r, (4, 4, 2), copies=["r"])
    proof = prove(Bijective(twice, {"m": 32}), method="solver")
    assert proof.verdict is Verdict.PROVED
    assert "counting" in proof.method
    assert prove(Bijective(twice, {"m": 16})).verdict is Verdict.REFUTED


def test_counting_needs_what_it_counts_on():
    """Where it is not known that no two elements meet, as many elements as places say nothing."""
    table = Map.of(lambda i, j: 16 * i + (5 * i % 16 ^ j), (16, 16))
    proof = prove(Bijective(table, {"m": 256}), method="solver", budget=Budget(rlimit=1))
    verdicts = {type(part.claim).__name__: part.verdict for part in proof.parts}
    assert verdicts["Injective"] is Verdict.UNDECIDED
    assert verdicts["Covers"] is not Verdict.PROVED
    assert proof.verdict is Verdict.UNDECIDED


def test_what_the_solver_does_not_find_may_be_there():
    """No answer in time is no gap."""
    table = Map.of(lambda i, j: 16 * i + (5 * i % 16 ^ j), (16, 16))
    proof = prove(Covers(table, {"m": 256}), method="solver", budget=Budget(rlimit=1))
    assert proof.verdict is Verdict.UNDECIDED
    assert prove(Covers(table, {"m": 256})).verdict is Verdict.PROVED


def test_bijective_counts_on_all_axes():
    both = TileLayout(S[(4, 8) : (1 @ laneid, 1)])
    assert prove(Bijective(both, {"laneid": 4, "m": 8})).verdict is Verdict.PROVED
    assert prove(Bijective(both, {"m": 8})).verdict is Verdict.REFUTED
    assert prove(Bijective(both, {"laneid": 4, "m": 8, "warpid": 1})).verdict is Verdict.PROVED
    assert prove(Bijective(both, {"laneid": 4, "m": 8, "warpid": 2})).verdict is Verdict.REFUTED


def test_the_place_that_is_not_covered():
    swizzled = ComposeLayout(0, 1, 1, TileLayout(S[(3,) : (1,)]))  # 0 1 3
    proof = prove(Covers(swizzled, {"m": 4}))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.places == ({"m": 2},)
    assert proof.witness.summary == "no element is at m = 2"
    proof = prove(Covers(TileLayout(S[(3,) : (2 @ laneid,)]), {laneid: 6}))
    assert proof.witness.places[0]["laneid"] in (1, 3, 5)
    far = TileLayout(S[(2**13, 2**12) : (2**12, 1)] + 1)  # too many to enumerate
    proof = prove(Covers(far, {"m": 2**25}))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.places == ({"m": 0},)
    elsewhere = TileLayout(S[(2**13, 2**12) : (2**12, 1)] + 1 @ laneid)  # on another axis too
    assert prove(Covers(elsewhere, {"m": 2**25})).verdict is Verdict.REFUTED


def test_covering_with_negative_strides():
    """A stride -s leaves gaps like s: with bounds on s too (its sign is known, not its size)."""
    s = Dim("s", at_least=1, at_most=5)
    proof = prove(Covers(TileLayout(S[(4,) : (-s,)] + 3 * s), {"m": 3 * s + 1}))
    assert proof.verdict in (Verdict.REFUTED, Verdict.UNDECIDED)
    assert prove(Covers(TileLayout(S[4:-1] + 3), {"m": 4})).verdict is Verdict.PROVED
    assert prove(Covers(TileLayout(S[(2, 4) : (-4, -1)] + 7), {"m": 8})).verdict is Verdict.PROVED
    assert prove(Covers(TileLayout(S[4:-2] + 6), {"m": 7})).verdict is Verdict.REFUTED
    assert prove(Injective(TileLayout(S[(4, 2) : (-2 * s, -s)]))).verdict is Verdict.PROVED
    assert prove(Injective(TileLayout(S[(4, 2) : (-s, -s)]))).verdict is Verdict.REFUTED


def test_maps_with_guards():
    half = Map.of(lambda i: i // 2, (8,), where=lambda i: i % 2 == 0)
    assert prove(Injective(half)).verdict is Verdict.PROVED
    assert prove(Injective(Map.of(lambda i: i // 2, (8,)))).verdict is Verdict.REFUTED
    assert prove(Covers(half, {"m": 4})).verdict is Verdict.PROVED
    assert prove(WithinBounds(half, {"m": 4})).verdict is Verdict.PROVED
    assert prove(WithinBounds(half, {"m": 3})).verdict is Verdict.REFUTED
    # the domains count for Equivalent, either way round
    whole = Map.of(lambda i: i // 2, (8,))
    for pair in ((half, whole), (whole, half)):
        proof = prove(Equivalent(*pair))
        assert proof.verdict is Verdict.REFUTED
        assert "outside its domain" in proof.witness.summary
    assert prove(Equivalent(half, half)).verdict is Verdict.PROVED
    odd = Map.of(lambda i: i // 2, (8,), where=lambda i: i % 2 == 1)
    assert prove(Disjoint(half, odd)).verdict is Verdict.REFUTED
    early = Map.of(lambda i: i, (8,), where=lambda i: i <= 3)
    late = Map.of(lambda i: i, (8,), where=lambda i: i >= 4)
    assert prove(Disjoint(early, late)).verdict is Verdict.PROVED


def test_inverses_with_a_domain():
    """Padded rows: the inverse exists where there is an element."""
    rows = TileLayout(S[(4, 5) : (8, 1)])
    back = Map.of(lambda m: 5 * (m // 8) + m % 8, (32,), where=lambda m: m % 8 <= 4)
    assert prove(LeftInverse(rows, back)).verdict is Verdict.PROVED
    assert prove(LeftInverse(back, rows)).verdict is Verdict.PROVED
    assert prove(Inverse(rows, back)).verdict is Verdict.PROVED
    everywhere = Map.of(lambda m: 5 * (m // 8) + m % 8, (32,))
    assert prove(LeftInverse(rows, everywhere)).verdict is Verdict.PROVED
    assert prove(RightInverse(rows, everywhere)).verdict is Verdict.REFUTED
    narrow = Map.of(lambda m: 5 * (m // 8) + m % 8, (32,), where=lambda m: m % 8 <= 3)
    proof = prove(LeftInverse(rows, narrow))
    assert proof.verdict is Verdict.REFUTED
    assert "outside the other's domain" in proof.witness.summary
    small = TileLayout(S[8:1])
    proof = prove(LeftInverse(rows, small))
    assert proof.verdict is Verdict.REFUTED
    assert "outside the other's domain" in proof.witness.summary


@pytest.mark.parametrize("method", ["auto", "solver", "enumeration"])
def test_flat_indices_begin_at_zero(method):
    """A coordinate that runs from 3 has the flat index 0 at 3."""
    four = TileLayout(S[4:1])
    shifted = Map.of(lambda y: y - 3, {"y": (3, 6)})
    same = Map.of(lambda y: y, {"y": (3, 6)})
    named = Map.of(lambda index: index, {"index": (3, 6)})
    assert prove(LeftInverse(four, shifted), method=method).verdict is Verdict.PROVED
    assert prove(LeftInverse(four, same), method=method).verdict is Verdict.REFUTED
    assert prove(Equivalent(four, shifted), method=method).verdict is Verdict.PROVED
    for wrong in (same, named):
        proof = prove(Equivalent(four, wrong), method=method)
        assert proof.verdict is Verdict.REFUTED, wrong


def test_a_map_that_begins_at_a_dim():
    window = Map.of(lambda y: y - N, {"y": (N, N + 3)})
    assert prove(Equivalent(window, TileLayout(S[4:1]))).verdict is Verdict.PROVED
    assert prove(Equivalent(TileLayout(S[4:2]), window)).verdict is Verdict.REFUTED
    assert prove(WithinBounds(window, {"m": 4})).verdict is Verdict.PROVED
    assert prove(Bijective(window, {"m": 4})).verdict is Verdict.PROVED


def test_copies_of_a_formula_begin_where_they_begin():
    """Copies 3 and 4 are not copies 0 and 1."""

    def copied(low, high):
        return Map.of(lambda i, r: i + 10 * r, {"i": (0, 3), "r": (low, high)}, copies=["r"])

    moved = Map.of(lambda i, r: i + 10 * r + 30, {"i": (0, 3), "r": (0, 1)}, copies=["r"])
    assert prove(Equivalent(copied(3, 4), copied(0, 1))).verdict is Verdict.REFUTED
    assert prove(Equivalent(copied(3, 4), moved)).verdict is Verdict.PROVED
    assert prove(Equivalent(copied(0, N), copied(0, N))).verdict is Verdict.PROVED
    proof = prove(Equivalent(copied(0, N), copied(1, N + 1)), budget=Budget(100_000, 2.0))
    assert proof.verdict is Verdict.REFUTED
    assert prove(Equivalent(copied(N, N + 1), copied(0, 1))).verdict is Verdict.REFUTED
    assert prove(Equivalent(copied(N, N + 1), copied(N, N + 1))).verdict is Verdict.PROVED


def test_a_map_and_a_layout():
    frag = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)])
    says = Map.of(
        lambda i, j: {"laneid": 4 * i + j // 2 % 4, "warpid": j // 8, "m": j % 2}, (8, 16)
    )
    for pair in ((frag, says), (says, frag), (frag.map((8, 16)), says)):
        assert prove(Equivalent(*pair)).verdict is Verdict.PROVED
    slip = Map.of(
        lambda i, j: {"laneid": 4 * i + j // 2 % 4, "warpid": j // 8, "m": j // 2 % 2}, (8, 16)
    )
    proof = prove(Equivalent(frag, slip))
    assert proof.verdict is Verdict.REFUTED
    first, second = proof.witness.points
    assert set(first) == {"c0", "c1", "c2", "c3"}
    assert set(second) == {"i", "j"}
    flat = ((first["c0"] * 2 + first["c1"]) * 4 + first["c2"]) * 2 + first["c3"]
    assert flat == 16 * second["i"] + second["j"]
    assert frag.apply(flat) == proof.witness.places[0]


def test_empty():
    assert prove(Empty(tile)).verdict is Verdict.REFUTED
    never = Map.of(lambda i: i, (N,), where=lambda i: i >= N)
    assert prove(Empty(never)).verdict is Verdict.PROVED
    assert prove(Empty(never), method="solver").verdict is Verdict.PROVED
    sometimes = Map.of(lambda i: i, (N,), where=lambda i: i >= 5)
    proof = prove(Empty(sometimes))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.dims["N"] >= 6
    assert prove(Empty(sometimes), given=[N <= 5]).verdict is Verdict.PROVED


# ---------------------------------------------------------------------------- swizzles


@pytest.mark.parametrize("inner", [True, False])
def test_swizzles_both_ways(inner):
    layout = ComposeLayout(1, 2, 3, TileLayout(S[(8, 16) : (16, 1)]), inner)
    other = ComposeLayout(1, 2, 3, TileLayout(S[(8, 16) : (16, 1)]), not inner)
    box = {"m": 128}
    assert prove(Injective(layout)).verdict is Verdict.PROVED
    assert prove(Bijective(layout, box)).verdict is Verdict.PROVED
    assert prove(Equivalent(layout, layout)).verdict is Verdict.PROVED
    assert prove(Equivalent(layout, other)).verdict is Verdict.REFUTED
    # an involution: its own inverse
    assert prove(Inverse(layout, layout)).verdict is Verdict.PROVED
    assert prove(LeftInverse(layout, other)).verdict is Verdict.REFUTED
    by_solver = prove(Injective(layout), method="solver")
    assert (by_solver.verdict, by_solver.method) == (Verdict.PROVED, "solver: QF_BV")


def test_swizzles_of_negative_addresses():
    """Two's complement, however wide the field is beside the address: by the solver too."""
    for p, b, a, inner in ((0, 1, 1, True), (0, 4, 4, True), (1, 5, 6, True), (0, 4, 5, False)):
        layout = ComposeLayout(p, b, a, TileLayout(S[6:1] + (-5)), inner)
        reached = sorted(layout.apply(x)["m"] for x in range(6))
        mask = (1 << b) - 1

        def formula(i, p=p, mask=mask, a=a, inner=inner):
            x = i - 5
            if inner:
                return x ^ (((x >> (p + a)) & mask) << p)
            return x ^ (((x >> p) & mask) << (p + a))

        same = Equivalent(layout, Map.of(lambda i, f=formula: f(i), (6,)))
        assert prove(same, method="solver").verdict is Verdict.PROVED
        for low, high, verdict in (
            (reached[0], reached[-1], Verdict.PROVED),
            (reached[0] + 1, reached[-1], Verdict.REFUTED),
            (reached[0], reached[-1] - 1, Verdict.REFUTED),
        ):
            proof = prove(WithinBounds(layout, {"m": (low, high + 1)}), method="solver")
            assert proof.verdict is verdict, (p, b, a, inner, low, high)


def test_a_swizzle_without_bits_is_none():
    plain = ComposeLayout(3, 0, 3, tile)
    assert prove(Equivalent(plain, tile)).verdict is Verdict.PROVED
    assert prove(Equivalent(tile, plain), method="solver").verdict is Verdict.PROVED
    assert prove(Bijective(plain, {"m": 32})).verdict is Verdict.PROVED
    assert prove(Disjoint(plain, TileLayout(S[4:1] + 31))).verdict is Verdict.REFUTED
    symbolic = ComposeLayout(3, 0, 3, padded)
    assert prove(Equivalent(symbolic, padded)).verdict is Verdict.PROVED
    assert prove(Injective(symbolic), given=[ld >= K]).verdict is Verdict.PROVED


def test_tiles_that_never_reach_the_bits_that_are_read():
    small = TileLayout(S[(8, 8) : (8, 1)])  # 64 places, the XOR reads bits 6, 7, 8
    assert prove(Equivalent(ComposeLayout(3, 3, 3, small), small)).verdict is Verdict.PROVED
    one_more = TileLayout(S[(9, 8) : (8, 1)])
    proof = prove(Equivalent(ComposeLayout(3, 3, 3, one_more), one_more))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.points[0]["c0"] == 8
    # the other direction reads the low field, which is reached at once
    assert prove(Equivalent(ComposeLayout(3, 3, 3, small, False), small)).verdict is Verdict.REFUTED
    # two swizzles that only differ where the tile does not reach
    assert (
        prove(Equivalent(ComposeLayout(3, 3, 3, small), ComposeLayout(3, 2, 4, small))).verdict
        is Verdict.PROVED
    )


def test_boxes_that_are_not_whole_periods():
    layout = ComposeLayout(0, 1, 2, TileLayout(S[12:1]))  # period 8
    reached = {layout.apply(x)["m"] for x in range(12)}
    assert prove(WithinBounds(layout, {"m": max(reached) + 1})).verdict is Verdict.PROVED
    assert prove(WithinBounds(layout, {"m": max(reached)})).verdict is Verdict.REFUTED
    assert prove(Covers(layout, {"m": 12})).verdict is (
        Verdict.PROVED if reached >= set(range(12)) else Verdict.REFUTED
    )
    # 13 and 14 of 16 places, moved out of the first 12 by the swizzle
    shifted = ComposeLayout(0, 1, 2, TileLayout(S[5:1] + 8))
    reached = {shifted.apply(x)["m"] for x in range(5)}
    for low in range(6, 14):
        for high in range(low + 1, 18):
            proof = prove(Covers(shifted, {"m": (low, high)}))
            assert proof.verdict is (
                Verdict.PROVED if reached >= set(range(low, high)) else Verdict.REFUTED
            )
            proof = prove(WithinBounds(shifted, {"m": (low, high)}))
            assert proof.verdict is (
                Verdict.PROVED if reached <= set(range(low, high)) else Verdict.REFUTED
            )


def test_whole_periods_need_both_ends_aligned():
    """A box that begins inside a period is not permuted into itself."""
    layout = ComposeLayout(0, 1, 1, TileLayout(S[4:1]))  # 0 1 3 2, period 4
    assert prove(Covers(layout, {"m": (2, 4)})).verdict is Verdict.PROVED
    three = ComposeLayout(0, 1, 1, TileLayout(S[3:1]))  # 0 1 3
    assert prove(Covers(three, {"m": 3})).verdict is Verdict.REFUTED
    assert prove(WithinBounds(three, {"m": 3})).verdict is Verdict.REFUTED
    assert prove(WithinBounds(three, {"m": (1, 4)})).verdict is Verdict.REFUTED
    assert prove(WithinBounds(three, {"m": (0, 4)})).verdict is Verdict.PROVED


def test_thread_axes_under_a_swizzle():
    layout = ComposeLayout(0, 1, 1, TileLayout(S[(4, 4) : (1 @ laneid, 1)] + R[2 : 4 @ laneid]))
    assert prove(Injective(layout)).verdict is Verdict.PROVED
    assert prove(ReplicasDistinct(layout)).verdict is Verdict.PROVED
    assert prove(Bijective(layout, {"laneid": 8, "m": 4})).verdict is Verdict.PROVED
    assert prove(Bijective(layout, {"laneid": 9, "m": 4})).verdict is Verdict.REFUTED
    assert prove(WithinBounds(layout, {"laneid": 7})).verdict is Verdict.REFUTED
    assert prove(WithinBounds(layout, {"laneid": 8})).verdict is Verdict.PROVED
    moved = ComposeLayout(0, 1, 1, TileLayout(S[(4, 4) : (1 @ laneid, 1)] + 8 @ laneid))
    assert prove(Disjoint(layout, moved)).verdict is Verdict.PROVED


def test_a_swizzled_tile_without_m():
    """The swizzle sends 0 to 0, so m is 0 throughout."""
    lanes = TileLayout(S[(8,) : (1 @ laneid,)])
    layout = ComposeLayout(0, 2, 2, lanes)
    assert prove(Injective(layout)).verdict is Verdict.PROVED
    assert prove(Equivalent(layout, lanes)).verdict is Verdict.PROVED
    assert prove(Bijective(layout, {"laneid": 8})).verdict is Verdict.PROVED
    assert prove(Bijective(layout, {"laneid": 8, "m": 1})).verdict is Verdict.PROVED
    assert prove(Covers(layout, {"laneid": 8, "m": 16})).verdict is Verdict.REFUTED
    assert prove(Empty(layout)).verdict is Verdict.REFUTED


def test_copies_go_through_the_swizzle():
    layout = ComposeLayout(0, 1, 1, TileLayout(S[2:2] + R[2:1]))
    assert prove(Equivalent(layout, TileLayout(S[2:2] + R[2:1]))).verdict is Verdict.PROVED
    apart = ComposeLayout(0, 1, 1, TileLayout(S[4:1] + R[2:2]))
    proof = prove(Injective(apart))
    assert proof.verdict is Verdict.REFUTED
    one, two = ((point["c0"], point["r0"]) for point in proof.witness.points)
    assert one[0] != two[0]
    assert one[0] + 2 * one[1] == two[0] + 2 * two[1]


def test_symbolic_tiles_under_a_swizzle():
    rows = ComposeLayout(0, 2, 2, TileLayout(S[(M, 16) : (16, 1)]))
    assert prove(Injective(rows)).verdict is Verdict.PROVED
    assert prove(Bijective(rows, {"m": 16 * M})).verdict is Verdict.PROVED
    assert prove(Covers(rows, {"m": 16 * M})).verdict is Verdict.PROVED
    # not whole periods for every N: no rule may say so
    short = ComposeLayout(0, 2, 2, TileLayout(S[(N,) : (1,)]))
    proof = prove(Bijective(short, {"m": N}), budget=Budget(100_000, 2.0))
    assert proof.verdict in (Verdict.UNDECIDED, Verdict.REFUTED)
    proof = prove(Injective(ComposeLayout(0, 2, 2, padded)))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.dims


def test_large_swizzled_layouts_are_quick():
    layout = ComposeLayout(3, 3, 3, TileLayout(S[(2**12, 2**12) : (2**12, 1)]))
    for claim in (
        Injective(layout),
        Bijective(layout, {"m": 2**24}),
        Equivalent(layout, layout),
        Disjoint(layout, ComposeLayout(3, 3, 3, TileLayout(S[(2**12,) : (1,)] + 2**24))),
    ):
        proof = prove(claim)
        assert proof.verdict is Verdict.PROVED
        assert proof.seconds < 2.0


# ----------------------------------------------------------------------------- the guard


def test_an_answer_that_does_not_hold_is_an_error(monkeypatch):
    """A model is replayed by the integer interpreter before anything is said."""
    monkeypatch.setattr(Question, "answered_by", lambda self, point, dims: False)
    with pytest.raises(WitnessError, match=r"the solver's answer to .* does not hold"):
        prove(Injective(overlapping), method="solver")


def test_a_witness_that_shows_nothing_is_an_error(monkeypatch):
    monkeypatch.setattr(Injective, "witness", lambda self, point, dims: None)
    with pytest.raises(WitnessError, match="the solver's answer does not refute Injective"):
        prove(Injective(overlapping), method="solver")


def test_a_rule_that_refutes_needs_a_counterexample(monkeypatch):
    def refutes(claim, facts):
        return rules.Outcome(Verdict.REFUTED, Step("refusing"))

    monkeypatch.setitem(rules.RULES, Injective, (refutes,))
    with pytest.raises(WitnessError, match="without a counterexample"):
        prove(Injective(tile))


def test_enumeration_and_solver_agree_with_structure():
    """One claim by all routes, on layouts where structure speaks."""
    spoken = 0
    for seed in range(400):
        rng = random.Random(seed)
        claim, expected, _ = rng.choice(soundness.KINDS)(rng, 60)
        by_rule = prove(claim, method="structure")
        by_looking = prove(claim, method="enumeration")
        assert (by_looking.verdict is Verdict.PROVED) == expected
        if by_rule.verdict is not Verdict.UNDECIDED:
            spoken += 1
            assert by_rule.verdict is by_looking.verdict, claim
    assert spoken > 150


def test_proving_keeps_no_state():
    """The order in which claims are proven does not matter."""
    claims = [Injective(overlapping), Injective(padded), Covers(tile, {"m": 32})]
    first = [prove(claim).verdict for claim in claims]
    assert [prove(claim).verdict for claim in reversed(claims)] == first[::-1]
