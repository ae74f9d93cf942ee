"""Claims with symbolic sizes against brute force at all small sizes, on thousands of random cases.

`python -m tests.soundness --symbolic` runs the same for an hour, on other seeds.
"""

from __future__ import annotations

from collections import Counter

import pytest

from layout_algebra.claims import Injective
from layout_algebra.prover import rules
from layout_algebra.verdicts import Step, Verdict
from tests import symbolic
from tests.symbolic import Case, SymIter, SymLayout

ROUNDS = 2000
SHARDS = 8
#: Kinds with the share that has to be decided; what is left is UNDECIDED, and no fault.
DECIDED = {
    "Injective": 0.7,
    "ReplicasDistinct": 0.8,
    "WithinBounds": 0.7,
    "Covers": 0.4,
    "Bijective": 0.5,
    "Equivalent": 0.7,
    "Disjoint": 0.7,
    "LeftInverse": 0.6,
}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_verdicts_hold_at_every_small_size(shard: int, record_property) -> None:
    each = ROUNDS // SHARDS
    counts = symbolic.campaign(range(shard * each, (shard + 1) * each))
    assert counts["rounds"] == each
    assert counts["points"] > 4 * each
    assert sum(n for key, n in counts.items() if key.startswith("refused")) < each // 10
    assert counts["PROVED, no point looked at"] < each // 10
    verdicts = Counter()
    for key, number in counts.items():
        if key.startswith("by "):
            verdicts[key.split(": ")[1]] += number
    for verdict in Verdict:
        assert verdicts[str(verdict)] > 5, counts
    assert verdicts["PROVED"] > each // 4
    assert verdicts["REFUTED"] > each // 6
    for kind, share in DECIDED.items():
        found = {v: counts[f"{kind}: {v}"] for v in Verdict}
        record_property(kind, {str(v): n for v, n in found.items()})
        whole = sum(found.values())
        if whole >= 20:
            assert whole - found[Verdict.UNDECIDED] >= share * whole, (kind, found)


@pytest.mark.parametrize("shard", range(2))
def test_the_solver_alone_agrees_too(shard: int) -> None:
    first = 500_000 + 150 * shard
    counts = symbolic.campaign(range(first, first + 150), method="solver")
    assert counts["rounds"] == 150


def test_a_wrong_rule_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: with a rule that accepts every symbolic layout it does, at once."""

    def believes_everything(claim: Injective, facts: rules.Facts) -> rules.Outcome:
        return rules.Outcome(Verdict.PROVED, Step("believing"))

    monkeypatch.setitem(rules.RULES, Injective, (believes_everything,))
    with pytest.raises(symbolic.DisagreementError, match="PROVED by structure: believing"):
        symbolic.campaign(range(300))


def test_a_wrong_witness_would_be_noticed() -> None:
    from layout_algebra.verdicts import Proof, Witness
    from tests.building import KnownDim

    rows = SymLayout((SymIter(("M",), "4", "m"), SymIter(("4",), "1", "m")))
    case = Case("Injective", (KnownDim("M", at_least=1, at_most=8),), (rows,))
    claim = case.claim()
    points = ({"c0": 0, "c1": 3}, {"c0": 1, "c1": 0})
    for dims, message in (
        ({"M": 9}, "its values are not admitted"),
        ({"M": 0}, "its values are not admitted"),
        ({"M": 2}, "brute force finds nothing wrong there"),
    ):
        witness = Witness("", points, ({"m": 3},), dims)
        proof = Proof(claim, Verdict.REFUTED, "made up", witness=witness)
        with pytest.raises(symbolic.DisagreementError, match=message):
            symbolic.check(case, proof)
    false = Case("Injective", case.dims, (SymLayout((rows.shard[0], SymIter(("5",), "1", "m"))),))
    shown = Witness("", points, ({"m": 3},), {"M": 2})
    with pytest.raises(symbolic.DisagreementError, match="it shows nothing"):
        symbolic.check(false, Proof(false.claim(), Verdict.REFUTED, "made up", witness=shown))
    right = Witness("", ({"c0": 0, "c1": 4}, {"c0": 1, "c1": 0}), ({"m": 4},), {"M": 2})
    assert symbolic.check(false, Proof(claim, Verdict.REFUTED, "made up", witness=right)) == 1
    with pytest.raises(symbolic.DisagreementError, match="without a witness"):
        symbolic.check(false, Proof(claim, Verdict.REFUTED, "made up"))
    with pytest.raises(symbolic.DisagreementError, match="VACUOUS"):
        symbolic.check(case, Proof(claim, Verdict.VACUOUS, "made up"))
    with pytest.raises(symbolic.DisagreementError, match="PROVED by made up, false at"):
        symbolic.check(false, Proof(claim, Verdict.PROVED, "made up"))


def test_negative_strides_with_bounds_do_not_cover() -> None:
    """A stride -s with 1 <= s <= 5 has a lower bound too; it leaves gaps all the same."""
    from tests.building import KnownDim

    tile = SymLayout((SymIter(("4",), "-s", "m"),), (), (("m", "3*s"),))
    case = Case(
        "Covers", (KnownDim("s", at_least=1, at_most=5),), (tile,), (("m", "0", "3*s + 1"),)
    )
    proof = symbolic.prove(case.claim())
    assert proof.verdict is not Verdict.PROVED
    symbolic.check(case, proof)
