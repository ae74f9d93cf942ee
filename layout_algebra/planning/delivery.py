"""The claim that a movement brings every element to its places.

    prove(Delivers(source, target, movement), method="enumeration")

Its meaning is the replay: every element starts at the places that the source gives it, the
movement is executed, and every element has to be at each place that the target gives it.  There is
no shorter way to say it, since a movement is a table; so every element is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from layout_algebra.claims.base import Claim, Dims, Point, Subject, check_subject
from layout_algebra.errors import ClaimError
from layout_algebra.planning.movement import Movement
from layout_algebra.planning.places import Place, Residence, places_of
from layout_algebra.questions import Question
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class Delivers(Claim):
    """Threads can make the movement, and it brings source's elements to target's places."""

    source: Subject
    target: Subject
    movement: Movement

    def __post_init__(self) -> None:
        for subject in (self.source, self.target):
            check_subject(self.name, subject)
        if not isinstance(self.movement, Movement):  # type: ignore[redundant-expr]
            raise ClaimError(
                f"Delivers is about a Movement, as plan(...).movement; got {self.movement!r}"
            )

    def subjects(self) -> tuple[Subject, ...]:
        return (self.source, self.target)

    def questions(self) -> tuple[Question, ...] | None:
        return None  # a table of moves is no term

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        return self.counterexample(dims)

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        wrong = self.movement.fault()
        if wrong is not None:
            return Witness(f"no threads can move so: {wrong}")
        source, target = places_of(self.source, "source"), places_of(self.target, "target")
        start = {place: element for element, places in enumerate(source.of) for place in places}
        for read, _ in self.movement.steps():
            if read not in start:
                return Witness(f"{read} is read and holds no element", (), (_shown(read),))
        end = self.movement.run(start)
        for element, places in enumerate(target.of):
            for place in places:
                if end.get(place) != element:
                    return _astray(target, element, place, end.get(place))
        return None


def _astray(target: Residence, element: int, place: Place, holds: int | None) -> Witness:
    instead = "nothing" if holds is None else f"element {target.name(holds)}"
    return Witness(
        f"element {target.name(element)} has to be at {place}, which gets {instead}",
        ({"index": element},),
        (_shown(place),),
    )


def _shown(place: Place) -> dict[str, int]:
    return {"warpid": place.warp, "laneid": place.lane, "m": place.register}
