"""Verdicts about accesses at the model's edges: bases, assumptions, lanes, Dims and names."""

from __future__ import annotations

import pytest

from layout_algebra import Dim, LayoutAlgebraError, S, TileLayout, Verdict, prove
from layout_algebra.claims import (
    BankConflictFree,
    Claim,
    Coalesced,
    ConflictDegree,
    NoWriteRace,
    Vectorizable,
    Wavefronts,
)
from layout_algebra.errors import WitnessError
from layout_algebra.memory import Buffer, served

SQUARE = TileLayout(S[(64, 64) : (64, 1)])
METHODS = ("auto", "solver", "enumeration")


def verdict(claim: Claim, method: str, **how: object) -> Verdict:
    return prove(claim, method=method, **how).verdict  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("align", [1, 2, 4, 8, 16, 32])
def test_a_base_that_the_access_is_not_aligned_to(method: str, align: int):
    """16 bytes a lane need a buffer of 16: less is refuted, by every route that decides."""
    buffer = Buffer((64, 64), "float32", TileLayout(S[(64, 64) : (68, 1)]), align=align)
    access = buffer.read(lambda lane: (lane, 0), bytes=16)
    expected = Verdict.PROVED if align >= 16 else Verdict.REFUTED
    claims = BankConflictFree(access), ConflictDegree(access, 1), Vectorizable(access)
    for claim in claims:
        assert verdict(claim, method) is expected, claim
    assert verdict(Wavefronts(access, 4), method) in (
        (expected, Verdict.UNDECIDED) if method == "solver" else (expected,)
    )
    everywhere = Buffer((64, 64), "float32", buffer.layout, scope="global", align=align)
    wide = Coalesced(everywhere.read(lambda lane: (lane, 0), bytes=16), 32)
    assert verdict(wide, method) is expected


@pytest.mark.parametrize("method", METHODS)
def test_what_is_given_of_a_pitch_is_assumed(method: str):
    """A column of words is free of conflicts for odd pitches, and that is given."""
    ld = Dim("ld", at_least=64, at_most=80)
    padded = Buffer((64, 64), "float32", TileLayout(S[(64, 64) : (ld, 1)]))
    claim = BankConflictFree(padded.read(lambda lane: (lane, 0)))
    assert verdict(claim, method) is Verdict.REFUTED
    for given in ([(ld + 1) % 2 == 0], [ld >= 65, ld <= 65]):
        assert verdict(claim, method, given=given) is not Verdict.REFUTED, given
    assert verdict(claim, "auto", given=[ld >= 65, ld <= 65]) is Verdict.PROVED
    assert verdict(claim, method, given=[ld >= 66, ld <= 66]) is not Verdict.PROVED
    assert verdict(claim, method, given=[ld >= 1000]) is Verdict.VACUOUS


def never_proved(make: object, method: str) -> None:
    """The claim is false: it may be refuted, left open or refused, but not proved."""
    try:
        found = verdict(make(), method)  # type: ignore[operator]
    except WitnessError:
        raise
    except LayoutAlgebraError:
        return
    assert found is not Verdict.PROVED


@pytest.mark.parametrize("method", METHODS)
def test_lanes_beyond_the_target_are_not_forgotten(method: str):
    """Lanes 32 to 63 write one bank; the target's warp has 32 lanes."""
    buffer = Buffer((64, 64), "float32", SQUARE)

    def access():
        return buffer.read(lambda lane: (lane // 32 * (lane % 32), 0), lanes=64)

    never_proved(lambda: BankConflictFree(access()), method)
    never_proved(lambda: ConflictDegree(access(), 31), method)
    never_proved(lambda: Wavefronts(access(), 31), method)


@pytest.mark.parametrize("method", METHODS)
def test_a_dim_without_a_bound_has_all_its_values(method: str):
    """From x = 2,000,000 on all lanes write one element; global memory is larger than that."""
    buffer = Buffer((64, 64), "float16", SQUARE, scope="global")

    def claim():
        everything = buffer.write(
            lambda lane, x: (0, 0), free=[Dim("x")], active=lambda lane, x: x >= 2_000_000
        )
        return NoWriteRace(everything)

    never_proved(claim, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("most", [8, 31])
@pytest.mark.parametrize("name", ["lane", "lane0", "lane1", "base", "e"])
def test_a_dim_may_have_any_name_or_is_refused(method: str, name: str, most: int):
    """For every column x the lanes read one bank; were x the lane itself, they would not."""
    buffer = Buffer((64, 64), "float32", SQUARE)

    def claim():
        x = Dim(name, at_most=most)
        return BankConflictFree(buffer.read(lambda lane, x: (lane, x), free=[x]))

    never_proved(claim, method)


@pytest.mark.parametrize("method", METHODS)
def test_no_active_lane_is_no_conflict(method: str):
    buffer = Buffer((64, 64), "float32", SQUARE, align=4)
    access = buffer.write(lambda lane: (lane, 1), bytes=8, active=lambda lane: lane >= 40)
    for claim in (BankConflictFree(access), ConflictDegree(access, 1), Vectorizable(access)):
        assert verdict(claim, method) is Verdict.PROVED
    assert verdict(NoWriteRace(access), method) is Verdict.PROVED


@pytest.mark.parametrize("method", METHODS)
def test_nibbles_of_one_byte_race_and_of_two_do_not(method: str):
    buffer = Buffer((64, 64), "int4", SQUARE)
    assert verdict(NoWriteRace(buffer.write(lambda lane: (0, lane))), method) is Verdict.REFUTED
    apart = buffer.write(lambda lane: (0, 2 * lane % 64))
    assert verdict(NoWriteRace(apart), method) is Verdict.PROVED


@pytest.mark.parametrize("method", METHODS)
def test_the_last_place_of_a_view_counts_and_none_beyond(method: str):
    """A view of 16 of 64 rows begins at 48 at most; only there do its lanes take part."""
    buffer, i = Buffer((64, 64), "float32", SQUARE), Dim("i", multiple_of=16)
    for first, expected in ((48, Verdict.REFUTED), (49, Verdict.PROVED)):
        access = buffer[i : i + 16, 0:8].read(
            lambda lane, i: (lane % 16, 0),
            free=[i],
            active=lambda lane, i, first=first: i >= first,
        )
        assert verdict(BankConflictFree(access), method) is expected
    begins = buffer[i : i + 16, 0:8].read(lambda lane: (lane % 16, 0))
    assert [served(begins, i=first).degree for first in (0, 16, 32, 48)] == [16] * 4
    with pytest.raises(LayoutAlgebraError, match=r"0\.\.48"):
        served(begins, i=64)
