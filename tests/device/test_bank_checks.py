"""Checks of banks by compiled code give what an enumeration of words and lanes gives."""

from __future__ import annotations

import random

import pytest

from layout_algebra.claims import BankConflictFree, ConflictDegree, Wavefronts
from layout_algebra.device.checks import check, cost
from layout_algebra.dims import Dim
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory import Buffer
from layout_algebra.memory.amd_targets import CDNA3
from layout_algebra.notation import S
from layout_algebra.verdicts import Verdict
from tests.memory.draws import draw
from tests.memory.replay import replay

DRAWS = 6


@pytest.mark.parametrize("number", range(DRAWS))
def test_degrees_and_wavefronts(number: int):
    rng = random.Random(f"banks {number}")
    drawn = draw(rng, "shared", rng.choice(("read", "write")))
    access, plain = drawn.access, drawn.plain
    degree, waves = max(1, plain.degree), max(1, plain.wavefronts)
    asked = [(ConflictDegree(access, degree), plain.aligned)]
    if degree > 1:
        asked.append((ConflictDegree(access, degree - 1), False))
    if number % 2:
        asked.append((BankConflictFree(access), plain.aligned and plain.degree <= 1))
    asked.append((Wavefronts(access, waves), plain.aligned))
    if waves > 1:
        asked.append((Wavefronts(access, waves - 1), False))
    for claim, true in asked:
        result = check(claim)
        assert result.verdict is (Verdict.PROVED if true else Verdict.REFUTED), drawn.text
        assert result.witness is None or replay(claim, result.witness, plain) == "", drawn.text


def test_a_swizzle_takes_the_conflicts_away():
    plain = TileLayout(S[(64, 64) : (64, 1)])
    column = Dim("column", multiple_of=8, at_least=0, at_most=56)
    for layout, verdict in (
        (plain, Verdict.REFUTED),
        (ComposeLayout(3, 3, 3, plain), Verdict.PROVED),
    ):
        tile = Buffer((64, 64), "float16", layout, scope="shared", align=1024)
        access = tile.read(lambda lane, at: (lane, at), free=[column], bits=128)
        claim = BankConflictFree(access)
        assert cost(claim).elements == 32 * 8
        assert check(claim).verdict is verdict


def test_wavefronts_are_summed_over_phases():
    """16 bytes a lane from one column of rows of 128 bytes: 4 phases of 8 lanes in one bank."""
    tile = Buffer((64, 64), "float16", TileLayout(S[(64, 64) : (64, 1)]), scope="shared", align=128)
    access = tile.read(lambda lane: (lane, 0), bits=128)
    assert check(ConflictDegree(access, 8)).verdict is Verdict.PROVED
    assert check(ConflictDegree(access, 7)).verdict is Verdict.REFUTED
    assert check(Wavefronts(access, 32)).verdict is Verdict.PROVED
    assert check(Wavefronts(access, 31)).verdict is Verdict.REFUTED


def test_phases_that_are_no_runs_of_lanes():
    """What AMD serves together is not neighbouring lanes."""
    tile = Buffer((64, 8), "float32", TileLayout(S[(64, 8) : (8, 1)]), scope="shared")
    access = tile.read(lambda lane: (lane, 0), lanes=64, bits=128)
    for most in (1, 2, 4, 8, 16):
        claim = ConflictDegree(access, most, target=CDNA3)
        expected = claim.counterexample() is None
        assert (check(claim).verdict is Verdict.PROVED) == expected
