"""Exhaustive checks of the claims about two maps: equivalence, and a left inverse.

    task = equivalent(Equivalent(f, g), {}, memory=0)
    task.cost, task.run(runner)         # the counterexample, or None

The arguments are those of `place_checks`; no memory is used that grows with the maps.
"""

from __future__ import annotations

from collections.abc import Callable

from layout_algebra.claims.inverses import LeftInverse
from layout_algebra.claims.pairs import Equivalent
from layout_algebra.device import loops
from layout_algebra.device.kernels import number
from layout_algebra.device.pair_texts import Passes, places_texts, round_trip, same_place
from layout_algebra.device.results import Cost, Dims, Task, evaluated, point_of, replayed
from layout_algebra.device.runner import Runner
from layout_algebra.maps import Map
from layout_algebra.verdicts import Witness


def equivalent(claim: Equivalent, dims: Dims, memory: int) -> Task:
    """No element has another set of places in the second map than in the first."""
    first, _, _ = claim.joined()
    f, g = (evaluated(one, dims) for one in claim.maps())
    size = number(f.size)
    if size != g.size:
        return Task(Cost(1, 0, "sizes"), lambda _: claim.witness({}, dims))
    copies = number(f.copies), number(g.copies)
    find = _by_sets(f, g, copies) if copies != (1, 1) else _by_passes(same_place(f, g), size)

    def run(runner: Runner) -> Witness | None:
        found = find(runner)
        if found is None:
            return None
        at = point_of(first, found, dims, [v.name for v in first.coordinates])
        return replayed(claim.witness(at, dims), claim, f"element {found}")

    return Task(Cost(size * sum(copies), 0, "every element"), run)


def left_inverse(claim: LeftInverse, dims: Dims, memory: int) -> Task:
    """No element, or copy of one, goes to a place from which it does not come back."""
    own = claim.maps()[0]
    f, g = (evaluated(one, dims) for one in claim.maps())
    total = number(f.size) * number(f.copies)
    find = _by_passes(round_trip(f, g), total)

    def run(runner: Runner) -> Witness | None:
        found = find(runner)
        if found is None:
            return None
        at = point_of(own, found, dims)
        return replayed(claim.witness(at, dims), claim, f"element {found}")

    return Task(Cost(total, 0, "every element"), run)


def _by_sets(f: Map, g: Map, copies: tuple[int, int]) -> Callable[[Runner], int | None]:
    """The first element at which two maps have different sets of places."""
    texts, size = places_texts([f, g]), number(f.size)

    def find(runner: Runner) -> int | None:
        one, two = (runner.function(text.text, text.name) for text in texts)
        return runner.least(loops.unequal_sets(one, two, texts[0].width), size, *copies)

    return find


def _by_passes(passes: Passes, total: int) -> Callable[[Runner], int | None]:
    """The first element that the second pass finds bad."""

    def find(runner: Runner) -> int | None:
        bad = runner.function(passes.bad, "bad")
        return runner.bad(runner.function(passes.count, "count", bad=bad), total)

    return find
