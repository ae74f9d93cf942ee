"""What stands behind a covering that enumeration found: who is where, and that nothing is left.

No question without quantifiers says that every place of a box is used.  But enumeration knows an
element at each place, and with that two questions do: is one of those elements somewhere else than
said, and does the box have a place besides those?  When neither has an answer the box is covered.
"""

from __future__ import annotations

from layout_algebra.arithmetic import enumeration
from layout_algebra.claims import Covers
from layout_algebra.claims.support import table
from layout_algebra.conditions import Condition, differs, negated
from layout_algebra.maps import Map
from layout_algebra.questions import Clause, Question, question
from layout_algebra.terms import Term, Var, const, var

#: Places that are written out at most: the questions grow with them.
MOST_PLACES_WRITTEN = 1024


def covering_questions(claim: Covers) -> tuple[Question, ...]:
    """The two questions about a covering that holds; none where its box has too many places.

    The claim's sizes are numbers, and an element is at every place of its box.
    """
    (f,) = claim.maps()
    box = {axis: (int(low), int(high)) for axis, low, high in claim.box}
    places = 1
    for low, high in box.values():
        places *= high - low + 1
    if places > MOST_PLACES_WRITTEN:
        return ()
    strayed: list[Condition] = []
    left: list[Clause] = []
    anywhere = {axis: var(f"at.{axis}", low, high) for axis, (low, high) in box.items()}
    for number, (point, place) in enumerate(enumeration.occupants(table(f, None), box)):
        strayed += _strays(f, point, place, f".{number}")
        left.append(tuple(differs(at, const(place[axis])) for axis, at in anywhere.items()))
    return (
        question("an element that is not at the place it is said to be", [tuple(strayed)]),
        question("a place of the box besides those of the elements", left, anywhere.values()),
    )


def _strays(f: Map, point: tuple[int, ...], place: dict[str, int], mark: str) -> list[Condition]:
    """Conditions one of which holds if the element is not in the domain, or not at the place.

    Its coordinates stay variables, each with one value: the solver calculates, not the terms.
    """
    pinned: dict[Var, Term] = {
        old: var(old.name + mark, value, value)
        for old, value in zip((*f.coordinates, *f.replicas), point, strict=True)
    }
    one = f._rebuilt(pinned)
    outside = [negated(condition) for condition in one.guard]
    axes = dict.fromkeys((*one.axes, *place))
    return outside + [differs(one.output(axis), const(place.get(axis, 0))) for axis in axes]
