"""`Map.of(..., copies=...)`: formulas with several places for one element."""

from __future__ import annotations

import pytest

from layout_algebra import Bijective, Equivalent, Map, R, S, TileLayout, TLane, assert_proved
from layout_algebra.errors import TraceError


def lanes(r, q):
    return {TLane: r + 32 * q}


def test_each_value_of_a_copy_is_one_more_place():
    seen = Map.of(lanes, (32, 4), copies=("q",))
    assert [variable.name for variable in seen.coordinates] == ["r"]
    assert seen.copies == 4
    assert seen.places(5) == [{"TLane": lane} for lane in (5, 37, 69, 101)]
    assert_proved(Equivalent(seen, TileLayout(S[32 : 1@TLane] + R[4 : 32@TLane])))  # fmt: skip
    assert_proved(Bijective(seen, {TLane: 128}))


def test_a_copy_is_a_parameter():
    with pytest.raises(TraceError, match=r"no parameter 'p' to count copies; there is \(r, q\)"):
        Map.of(lanes, (32, 4), copies=("p",))


def test_conditions_are_about_coordinates():
    some = Map.of(lanes, (32, 4), copies=("q",), where=lambda r, q: r <= 7)
    assert len(list(some.points())) == 8
    with pytest.raises(TraceError, match="cannot leave out copies of an element"):
        Map.of(lanes, (32, 4), copies=("q",), where=lambda r, q: q <= 2)
