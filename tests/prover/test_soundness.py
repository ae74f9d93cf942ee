"""Verdicts against brute force on tens of thousands of random layouts, with fixed seeds.

Volume by seeded generators; hypothesis adds the shrinking.  `make soundness` runs the same for an
hour, on other seeds.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from layout_algebra.claims import Equivalent, Injective, ReplicasDistinct
from layout_algebra.prover import prove
from layout_algebra.verdicts import Step, Verdict
from tests import bruteforce as bf
from tests import generators as gen
from tests import soundness

ROUNDS = 20_000
SHARDS = 8
FORCED = 2_400


@pytest.mark.parametrize("shard", range(SHARDS))
def test_verdicts_agree_with_brute_force(shard: int) -> None:
    each = ROUNDS // SHARDS
    counts = soundness.campaign(range(shard * each, (shard + 1) * each))
    assert counts["rounds"] == each
    # the mixture is what it claims to be: every claim comes out both ways, by both routes
    assert counts["by structure"] > each // 3
    assert counts["by solver"] > each // 6
    for name in (
        "Injective",
        "Covers",
        "WithinBounds",
        "Bijective",
        "Equivalent",
        "Disjoint",
        "Inverse",
    ):
        assert counts[f"{name}: PROVED"] > 5
        assert counts[f"{name}: REFUTED"] > 5


@pytest.mark.parametrize("shard", range(2))
def test_the_solver_route_agrees_with_brute_force(shard: int) -> None:
    each = FORCED // 2
    first = 1_000_000 + shard * each
    counts = soundness.campaign(range(first, first + each), method="solver")
    decided = sum(n for key, n in counts.items() if key.endswith((": PROVED", ": REFUTED")))
    assert counts["by solver"] == each
    assert (
        decided >= each * 0.85
    )  # Covers needs a quantifier, and is often UNDECIDED by solver alone
    undecided = Counter({k: n for k, n in counts.items() if k.endswith(": UNDECIDED")})
    beyond = {k for k in undecided if not k.startswith(("Covers", "Bijective", "Equivalent"))}
    assert not beyond, undecided


@settings(max_examples=300, deadline=None, derandomize=True)
@given(gen.layouts(max_places=200))
def test_one_layout(plain: bf.Plain) -> None:
    layout = soundness.build(plain)
    assert (prove(Injective(layout)).verdict is Verdict.PROVED) == bf.injective(plain)[0]
    assert (prove(ReplicasDistinct(layout)).verdict is Verdict.PROVED) == bf.replicas_distinct(
        plain
    )[0]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(gen.equivalent_pairs(max_places=200))
def test_two_layouts(pair: tuple[bf.Plain, bf.Plain]) -> None:
    one, two = pair
    if bf.size(one) != bf.size(two):
        return
    expected = bf.equivalent(one, two)[0]
    assert (
        prove(Equivalent(soundness.build(one), soundness.build(two))).verdict is Verdict.PROVED
    ) == expected


def test_a_wrong_rule_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: with a rule that accepts everything it does, at once."""
    from layout_algebra.prover import rules

    def believes_everything(claim: Injective, facts: rules.Facts) -> rules.Outcome:
        return rules.Outcome(Verdict.PROVED, Step("believing"))

    monkeypatch.setitem(rules.RULES, Injective, (believes_everything,))
    with pytest.raises(soundness.DisagreementError):
        soundness.campaign(range(300))
