"""The replay of a plan as a claim: what is wrong with a movement is found."""

from __future__ import annotations

import pytest

from layout_algebra import S, TileLayout, Verdict, laneid, prove
from layout_algebra.planning import Delivers, Group, Movement, Place, Read, Round, Shared, plan

PAIR = TileLayout(S[(2, 2) : (1 @ laneid, 1)])
TURNED = TileLayout(S[(2, 2) : (1, 1 @ laneid)])
GOOD = plan(PAIR, TURNED).movement


def swap(*reads):
    return Round((Group((0,), reads),))


WRONG = {
    "an element stays behind": (Movement(GOOD.local), "has to be at"),
    "another element": (
        Movement(GOOD.local, (swap(Read(0, 1, 1, (1,)), Read(1, 0, 1, (0,))),)),
        "which gets element",
    ),
    "two offers": (
        Movement(GOOD.local, (swap(Read(0, 1, 0, (1,)), Read(2, 1, 1, (0,))),)),
        "round 0: lane 1 offers two registers",
    ),
    "two reads": (
        Movement(GOOD.local, (swap(Read(0, 1, 0, (1,)), Read(0, 0, 0, (2,))),)),
        "round 0: two values are read by lane 0",
    ),
    "no such lane": (
        Movement(GOOD.local, (swap(Read(32, 1, 0, (1,))),)),
        "lane 32 reads lane 1, and a warp has 32",
    ),
    "an empty register": (
        Movement(GOOD.local, (swap(Read(0, 5, 0, (1,))),)),
        "warp 0, lane 5, register 0 is read and holds no element",
    ),
    "one warp twice": (
        Movement(GOOD.local, (Round((Group((0,), ()), Group((0, 1), ()))),)),
        "two groups have warp 0",
    ),
    "a rename between threads": (
        Movement(((Place(0, 0, 0), Place(0, 1, 0)),)),
        "a thread cannot rename",
    ),
    "two writes": (Movement((*GOOD.local, *GOOD.local), GOOD.rounds), "two values go to"),
    "a slot that nobody wrote": (
        Movement(shared=Shared((), ((0, (Place(0, 0, 0),)),))),
        "slot 0 is read and never written",
    ),
    "a slot that two wrote": (
        Movement(shared=Shared(((Place(0, 0, 0), 0), (Place(0, 0, 1), 0)), ())),
        "two values go to slot 0",
    ),
    "one read by two threads": (
        Movement(shared=Shared(((Place(0, 0, 0), 0),), ((0, (Place(0, 0, 0), Place(0, 1, 0))),))),
        "the read of slot 0 is by several threads",
    ),
}


def test_the_good_movement():
    assert prove(Delivers(PAIR, TURNED, GOOD)).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_movement_is_refuted(name):
    movement, says = WRONG[name]
    proof = prove(Delivers(PAIR, TURNED, movement))
    assert proof.verdict is Verdict.REFUTED
    assert says in proof.witness.summary
