"""Rules for Injective and ReplicasDistinct: digits that cannot collide, or surely do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from layout_algebra.algebra.normal_form import merge_copies
from layout_algebra.axes import Axis
from layout_algebra.claims import (
    Injective,
    ReplicasDistinct,
    as_map,
)
from layout_algebra.dims import Size
from layout_algebra.prover.rules.lemmas import BIJECTION, SORTED
from layout_algebra.prover.rules.steps import (
    Facts,
    Negation,
    Outcome,
    absolute,
    by_size,
    side_conditions,
)
from layout_algebra.values import Iter, Swizzled, Tile
from layout_algebra.verdicts import Step, Verdict


def sorted_strides(claim: Injective | ReplicasDistinct, facts: Facts) -> Outcome | None:
    """On every axis, each stride exceeds the reach of all smaller ones: digits cannot collide."""
    tile = claim.f
    if not isinstance(tile, Tile):
        return None
    if isinstance(claim, Injective):
        copies: Iterable[Iter] = merge_copies(tile.replica)[0] if tile.replica else ()
        moving: Sequence[Iter] = (*tile.shard, *copies) if copies else tile.shard
    else:
        moving = tile.replica
    by_axis: dict[Axis, list[tuple[Size, Size]]] = {}
    concrete = True
    for extent, stride, axis in moving:
        if extent == 1:
            continue
        if type(stride) is int:
            if stride < 0:
                stride = -stride
        else:
            stride = absolute(stride, facts)
        if type(stride) is not int or type(extent) is not int:
            concrete = False
        by_axis.setdefault(axis, []).append((stride, extent))
    side: list[Size] = []
    for steps in by_axis.values():
        if concrete:
            steps.sort()  # type: ignore[type-var]
            reach = 0
            for stride, extent in steps:
                if stride <= reach:  # type: ignore[operator]
                    return None
                reach += stride * (extent - 1)  # type: ignore[operator]
        else:
            found = _ascending(steps, facts)
            if found is None:
                return None
            side += found
    rule = "sorted strides"
    if concrete:
        return Outcome(Verdict.PROVED, Step(rule, "", (SORTED,), Negation(claim, ())))
    check = side_conditions("a stride within the reach of the smaller ones", side, facts)
    return Outcome(Verdict.PROVED, Step(rule, "", (SORTED,), check))


def zero_stride(claim: Injective | ReplicasDistinct, facts: Facts) -> Outcome | None:
    """A stride of 0 puts neighbours at one place."""
    tile = claim.f
    if not isinstance(tile, Tile) or tile.is_symbolic:
        return None
    moving = tile.shard if isinstance(claim, Injective) else tile.replica
    for position, (extent, stride, _) in enumerate(moving):
        if stride == 0 and extent != 1:
            f = as_map(tile)
            digit = (f.coordinates if isinstance(claim, Injective) else f.replicas)[position]
            first = dict.fromkeys((*f.coordinates, *f.replicas), 0)
            primed = type(digit).make((digit.name + "'", 0, digit.high), 0, digit.high)
            witness = claim.witness({**first, primed: 1}, {})  # type: ignore[dict-item]
            return Outcome(Verdict.REFUTED, Step("zero stride"), (), witness)
    return None


def swizzle_bijection(claim: Injective | ReplicasDistinct, facts: Facts) -> Outcome | None:
    """A swizzle is a bijection: the swizzled layout collides exactly where its tile does."""
    if not isinstance(claim.f, Swizzled):
        return None
    step = Step("the swizzle is a bijection", str(claim.f.swizzle), (BIJECTION,))
    return Outcome(None, step, (type(claim)(claim.f.tile_layout),))


def _ascending(steps: list[tuple[Size, Size]], facts: Facts) -> list[Size] | None:
    """Gaps (>= 0) that show the strides sorted with reach, or None when no order shows it."""
    reach: Size = 0
    gaps: list[Size] = []
    for stride, extent in by_size(steps, facts):
        gap = stride - reach - 1
        if not facts.at_least(gap, 0):
            return None
        gaps.append(gap)
        reach = reach + stride * (extent - 1)
    return gaps
