"""Exhaustive checks with compiled code give the verdicts of enumeration, on random layouts.

The verdicts and the replays of witnesses are those of tests/bruteforce.py.  The compiled loops are
the same for small and for large maps, so that small ones test them.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from layout_algebra.axes import laneid
from layout_algebra.claims import (
    Bijective,
    Claim,
    Covers,
    Disjoint,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    ReplicasDistinct,
    WithinBounds,
)
from layout_algebra.device import loops, place_checks
from layout_algebra.device.checks import check, cost
from layout_algebra.device.element_texts import Cells, cells_of
from layout_algebra.device.kernels import exec_source
from layout_algebra.device.pair_texts import same_place
from layout_algebra.device.results import CheckError
from layout_algebra.device.runner import BLOCK, Runner
from layout_algebra.dims import Dim
from layout_algebra.errors import ClaimError, CoordinateError, WitnessError
from layout_algebra.inverting import inverse
from layout_algebra.layouts import TileLayout
from layout_algebra.maps import Map
from layout_algebra.notation import R, S
from layout_algebra.verdicts import Verdict
from tests import soundness
from tests.soundness import Round

KINDS = (
    soundness.injective,
    soundness.replicas_distinct,
    soundness.within_bounds,
    soundness.covers,
    soundness.bijective,
    soundness.equivalent,
    soundness.inverse,
)
ROUNDS, MOST = 4, 300


def agree(claim: Claim, drawn: Round, **options: int) -> Verdict:
    """The verdict of a check, which must be the expected one with a witness that replays."""
    _, expected, replay = drawn
    result = check(claim, **options)  # type: ignore[arg-type]
    assert result.verdict is (Verdict.PROVED if expected else Verdict.REFUTED), str(result)
    assert (result.witness is None) == expected
    assert result.witness is None or replay(result.witness), str(result)
    return result.verdict


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_verdicts(kind):
    seen, number = Counter(), 0
    while min(seen[Verdict.PROVED], seen[Verdict.REFUTED]) < ROUNDS // 2:
        drawn = kind(random.Random(f"check {kind.__name__} {number}"), MOST)
        number += 1
        # as many of each verdict
        if seen[Verdict.PROVED if drawn[1] else Verdict.REFUTED] < ROUNDS // 2:
            seen[agree(drawn[0], drawn)] += 1


@pytest.mark.parametrize("kind", [soundness.injective, soundness.bijective, soundness.covers])
def test_verdicts_by_sorted_places(kind, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(place_checks, "SPARSE", 0)
    for number in range(ROUNDS - 1):
        drawn = kind(random.Random(f"sorted {kind.__name__} {number}"), MOST)
        assert cost(drawn[0]).method == "sorted places"
        agree(drawn[0], drawn)


# ------------------------------------------------------------------------- more than one block

SIDE = 1 << 11  # four blocks of elements


def test_a_collision_in_another_block():
    assert SIDE * SIDE == 4 * BLOCK
    apart = TileLayout(S[(SIDE, SIDE) : (SIDE, 1)])
    close = TileLayout(S[(SIDE, SIDE) : (SIDE - 1, 1)])
    assert check(Injective(apart)).verdict is Verdict.PROVED
    found = check(Injective(close))
    assert found.verdict is Verdict.REFUTED
    one, two = ([point["c0"], point["c1"]] for point in found.witness.points)
    assert one != two
    assert one[0] * (SIDE - 1) + one[1] == two[0] * (SIDE - 1) + two[1]


def test_the_last_element_counts():
    last = {"m": (0, SIDE * SIDE - 1)}
    whole = TileLayout(S[(SIDE, SIDE) : (1, SIDE)])
    assert check(Bijective(whole, {"m": SIDE * SIDE})).verdict is Verdict.PROVED
    assert check(WithinBounds(whole, last)).witness.places == ({"m": SIDE * SIDE - 1},)
    assert check(Bijective(whole, last)).verdict is Verdict.REFUTED
    more = check(Bijective(whole, {"m": SIDE * SIDE + 1}))
    assert more.witness.places == ({"m": SIDE * SIDE},)
    assert check(Covers(whole, {"m": SIDE * SIDE + 1})).verdict is Verdict.REFUTED


def test_two_maps_that_differ_in_one_element():
    where = SIDE * SIDE - 3
    f = Map.of(lambda i: i, (SIDE * SIDE,))
    g = Map.of(lambda i: i + (i + 3) // (SIDE * SIDE), (SIDE * SIDE,))
    found = check(Equivalent(f, g))
    assert found.witness.points[0] == {"i": where}
    assert check(LeftInverse(f, g)).witness.points[0] == {"i": where}
    assert check(Equivalent(f, f)).verdict is Verdict.PROVED


def test_both_maps_are_computed():
    """What is compared goes through memory: a compiler cannot find that two texts are one."""
    layout = TileLayout(S[(SIDE, SIDE) : (1, SIDE)])
    passes = same_place(layout.map(), layout.map())
    first, bad = exec_source(passes.first, "first"), exec_source(passes.bad, "bad")
    assert not bad(5, *first(5))
    assert bad(5, *first(6))


def test_negative_places_are_not_large_ones():
    """-1 and 2^32 - 1 are one word of 32 bits and two places."""
    below, above = TileLayout(S[2:1] + -1), TileLayout(S[2:1] + (2**32 - 1))
    assert check(Equivalent(below, above)).verdict is Verdict.REFUTED
    assert check(Equivalent(below, TileLayout(S[2:1] + -1))).verdict is Verdict.PROVED
    back = Map.of(lambda m: {"c0": m - (2**32 - 1)}, {"m": (2**32 - 1, 2**32)})
    assert check(LeftInverse(above, back)).verdict is Verdict.PROVED
    assert check(LeftInverse(below, back)).verdict is Verdict.REFUTED


def test_guards():
    size = 64
    half = Map.of(lambda i: i % 32, (size,), where=lambda i: i < 32)
    assert check(Injective(half)).verdict is Verdict.PROVED
    most = Map.of(lambda i: i % 32, (size,), where=lambda i: i < 33)
    assert check(Injective(most)).witness.points == ({"i": 0}, {"i": 32})
    other = Map.of(lambda i: i, (size,), where=lambda i: i < 32)
    assert check(Equivalent(half, other)).verdict is Verdict.PROVED
    assert check(Equivalent(half, most)).witness.points[0] == {"i": 32}
    assert check(Bijective(half, {"m": 32})).verdict is Verdict.PROVED
    assert check(LeftInverse(half, other)).verdict is Verdict.PROVED
    assert check(LeftInverse(other, most)).verdict is Verdict.PROVED
    assert check(LeftInverse(most, half)).verdict is Verdict.REFUTED


def test_conjunctions_and_dims():
    M = Dim("M", at_least=1)
    tile = TileLayout(S[(M, 8) : (8, 1)])
    both = Injective(tile) & WithinBounds(tile, {"m": 8 * M})
    result = check(both, {"M": 5})
    assert (result.verdict, result.elements) == (Verdict.PROVED, 80)
    padded = TileLayout(S[(M, 8) : (7, 1)])
    result = check(Injective(padded), {"M": 3})
    assert result.verdict is Verdict.REFUTED
    assert result.witness.dims == {"M": 3}
    with pytest.raises(CoordinateError, match="evaluate the Dims"):
        check(both)
    columns = TileLayout(S[(8, 4) : (1, 8)])
    assert check(Inverse(columns, inverse(columns))).verdict is Verdict.PROVED


# ------------------------------------------------------------------------------- memory


def test_memory_is_known_before_and_bounded():
    wide = TileLayout(S[(1 << 10, 1 << 10) : (1 << 30, 1 << 10)])
    assert cost(Injective(wide)).memory == 8 << 20  # a word of 64 bits for each of 2^20 elements
    assert check(Injective(wide)).verdict is Verdict.PROVED
    with pytest.raises(CheckError, match="needs 8,388,608 bytes"):
        check(Injective(wide), memory=1 << 20)
    close = TileLayout(S[(1 << 10, 1 << 10) : (1 << 10, 1)])
    assert cost(Injective(close)).method == "byte map"
    assert cost(Injective(close)).memory == (1 << 20) + loops.PAGE


def test_a_sparse_collision():
    assert check(Injective(TileLayout(S[(3, 2, 2) : (2**41, 2**40, 2**40)]))).witness is not None
    copies = TileLayout(S[(3, 2) : (2**41, 2**40)] + R[(2, 2) : (0, 2**50)])
    assert check(Injective(copies)).verdict is Verdict.PROVED
    assert check(ReplicasDistinct(copies)).verdict is Verdict.REFUTED
    assert check(Bijective(copies, {"m": 2**52})).verdict is Verdict.REFUTED


@pytest.mark.parametrize(("unit", "method"), [(1, "byte map"), (2**39, "sorted places")])
def test_copies_that_meet(unit: int, method: str):
    """Copies of one element may share a place; the places of two elements may not."""
    copies = R[(2, 2) : (unit, unit)]  # at 0, 1, 1 and 2 units
    apart, close, closer = (TileLayout(S[3 : stride * unit] + copies) for stride in (3, 2, 1))
    assert cost(Injective(apart)).method == method
    assert check(Injective(apart)).verdict is Verdict.PROVED
    assert check(Injective(close)).witness.places[0]["m"] in (2 * unit, 4 * unit)
    # here two copies of the first element meet one of the second
    assert check(Injective(closer)).witness.places[0]["m"] in (unit, 2 * unit, 3 * unit)
    assert check(ReplicasDistinct(apart)).verdict is Verdict.REFUTED


def test_spreading_is_its_own_inverse_within_a_page():
    for number in (0, 1, 4095, 4096, 123456789, 2**40 + 17):
        assert loops.spread(loops.spread(number)) == number
        assert loops.spread(number) // loops.PAGE == number // loops.PAGE


@pytest.mark.parametrize("width", [32, 64])
def test_loops_on_words_of_both_widths(width: int):
    cells = cells_of(TileLayout(S[(300, 40) : (1, 300)]).map())
    text = cells.text.replace("uint32", f"uint{width}")
    wide = Cells(**{**vars(cells), "text": text, "width": width})
    with Runner(1) as runner:
        occupancy = place_checks.ByteMap(runner, wide, 1)
        assert occupancy.collision() is None
        assert occupancy.missing() is None
        assert place_checks.SortedCells(runner, wide, 1).collision() is None
        marks = np.zeros(place_checks.ByteMap.memory(wide), dtype=np.uint8)
        loop = loops.repeating(runner.function(text, "cell"), width)
        assert runner.first(loop, 12000, marks, 1, wide.volume) is None
        assert runner.first(loop, 12000, marks, 1, wide.volume) == 0  # all are marked by now


# --------------------------------------------------------------------------- what is refused


def test_claims_without_a_check():
    tile = TileLayout(S[8])
    with pytest.raises(ClaimError, match="no exhaustive check of Disjoint; there is one of"):
        check(Disjoint(tile, tile))


def test_a_fault_in_compiled_code_is_no_verdict(monkeypatch: pytest.MonkeyPatch):
    """Where compiled code finds a collision and integers do not, the check says so."""
    wrong = cells_of(TileLayout(S[(8, 8) : (7, 1 @ laneid)]).map())

    def cells(*_):
        text = "def cell(i):\n    return uint32(i // uint32(2))\n"
        return Cells(**{**vars(wrong), "text": text})

    monkeypatch.setattr(place_checks, "cells_of", cells)
    with pytest.raises(WitnessError, match="the integer interpreter does not"):
        check(Injective(TileLayout(S[(8, 8) : (8, 1)])))
