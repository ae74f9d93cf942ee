"""Rules for WithinBounds and Covers: ranges of sums, whole periods, no gaps."""

from __future__ import annotations

from layout_algebra.algebra.extent import tile_ends
from layout_algebra.axes import m
from layout_algebra.claims import (
    Covers,
    WithinBounds,
    as_map,
)
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError
from layout_algebra.prover.rules.lemmas import BIJECTION, DENSE, INTERVALS, PERIODS
from layout_algebra.prover.rules.steps import (
    Facts,
    Negation,
    Outcome,
    absolute,
    by_size,
    side_conditions,
)
from layout_algebra.values import Swizzled, Tile
from layout_algebra.verdicts import Step, Verdict


def interval(claim: WithinBounds, facts: Facts) -> Outcome | None:
    """The range of every term lies within its limits."""
    f = as_map(claim.f)
    side: list[Size] = []
    for axis, low, high in claim.limits:
        term = f.output(axis)
        if term.low is None or term.high is None:
            return None
        gaps = term.low - low, high - term.high
        if not all(facts.at_least(gap, 0) for gap in gaps):
            return None
        side += gaps
    if claim.symbols():
        check = side_conditions("a range beyond its limit", side, facts)
    else:
        check = Negation(claim, ())
    return Outcome(Verdict.PROVED, Step("ranges of terms", "", (INTERVALS,), check))


def whole_periods(claim: WithinBounds | Covers, facts: Facts) -> Outcome | None:
    """A swizzle permutes every aligned period, so a box of whole periods stays what it is."""
    f = claim.f
    if not isinstance(f, Swizzled):
        return None
    box = claim.limits if isinstance(claim, WithinBounds) else claim.box
    period = f.swizzle.period
    whole = all(
        axis != m.name or (_multiple(low, period) and _multiple(high + 1, period))
        for axis, low, high in box
    )
    named = any(axis == m.name for axis, _, _ in box)
    if not whole or (isinstance(claim, Covers) and not named):
        return None
    again = {axis: (low, high + 1) for axis, low, high in box}
    step = Step("the box is whole swizzle periods", f"of {period}", (BIJECTION, PERIODS))
    return Outcome(None, step, (type(claim)(f.tile_layout, again),))


def dense(claim: Covers, facts: Facts) -> Outcome | None:
    """No stride leaves a gap: each is at most one more than the reach of the smaller ones."""
    tile = claim.f
    if not isinstance(tile, Tile):
        return None
    box = {axis: (low, high) for axis, low, high in claim.box}
    side: list[Size] = []
    for axis in tile.axes:
        low, high = box.pop(axis.name, (0, 0))
        try:
            least, most = tile_ends(tile, axis)
        except LayoutError:
            return None
        steps = [
            (absolute(it.stride, facts), it.extent)
            for it in (*tile.shard, *tile.replica)
            if it.axis is axis and it.extent != 1 and it.stride != 0
        ]
        gaps = [low - least, most - high]
        reach: Size = 0
        for stride, extent in by_size(steps, facts):
            gaps.append(reach + 1 - stride)
            reach = reach + stride * (extent - 1)
        if not all(facts.at_least(gap, 0) for gap in gaps):
            return None
        side += gaps
    if any(low != 0 or high != 0 for low, high in box.values()):
        return None
    check = side_conditions("a stride that leaves a gap, or an end inside the box", side, facts)
    return Outcome(Verdict.PROVED, Step("no gaps", "", (DENSE,), check))


def _multiple(size: Size, period: int) -> bool:
    if isinstance(size, int):
        return size % period == 0
    return all(c % period == 0 for _, c in size.terms)
