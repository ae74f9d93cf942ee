"""The replay of a plan as a claim: what is wrong with a movement is found."""

from __future__ import annotations

import pytest

from layout_algebra import S, TileLayout, Verdict, laneid, prove
from layout_algebra.errors import ClaimError
from layout_algebra.planning import (
    Delivers,
    Group,
    Movement,
    Place,
    PlanError,
    Read,
    Round,
    Shared,
    plan,
)

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


# -- parts of other kinds ----------------------------------------------------------------------
@pytest.mark.parametrize("wrong", [None, 5, GOOD.local, plan(PAIR, TURNED)], ids=lambda x: type(x))
def test_the_claim_is_about_a_movement(wrong):
    with pytest.raises(ClaimError, match="Delivers is about a Movement"):
        Delivers(PAIR, TURNED, wrong)


ONE = Place(0, 0, 0)
NO_PARTS = {
    "a number for moves": lambda: Movement(5),
    "numbers for moves": lambda: Movement((5,)),
    "a move of three": lambda: Movement(((ONE, ONE, ONE),)),
    "a move to a number": lambda: Movement(((ONE, 5),)),
    "a move of plain tuples": lambda: Movement((((0, 0, 0), (0, 0, 1)),)),
    "a list of moves": lambda: Movement([(ONE, ONE)]),
    "a number for rounds": lambda: Movement((), 5),
    "a group for a round": lambda: Movement((), (Group((0,), ()),)),
    "pairs for shared memory": lambda: Movement((), (), ((ONE, 0),)),
    "a group's reads": lambda: Group((0,), ((0, 1, 0, (1,)),)),
    "a group's warp": lambda: Group(0, ()),
    "a round's groups": lambda: Round((swap(),)),
    "writes": lambda: Shared(((0, ONE),), ()),
    "reads": lambda: Shared(((ONE, 0),), ((0, ONE, ONE),)),
}


@pytest.mark.parametrize("name", NO_PARTS)
def test_movements_are_made_of_their_parts(name):
    with pytest.raises(PlanError, match="got"):
        NO_PARTS[name]()


@pytest.mark.parametrize("wrong", [None, 5, [ONE], "values"])
def test_values_are_a_mapping(wrong):
    with pytest.raises(PlanError, match="values is a mapping from places of the source"):
        plan(PAIR, TURNED).simulate(wrong)
    with pytest.raises(PlanError, match="values is a mapping"):
        Movement().run(wrong)
    assert Movement().run({}) == {}
