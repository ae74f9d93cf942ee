"""Rules for Equivalent and Disjoint on layouts: one normal form, places that are apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd

from layout_algebra.algebra.extent import tile_ends
from layout_algebra.algebra.normal_form import equal_copies, normal_form
from layout_algebra.claims import (
    Disjoint,
    Equivalent,
)
from layout_algebra.dims import Size
from layout_algebra.errors import LayoutError
from layout_algebra.prover.rules.lemmas import BIJECTION, COPIES, INTERVALS, MERGING, RESIDUES
from layout_algebra.prover.rules.steps import (
    NOTHING,
    Facts,
    Negation,
    Outcome,
    as_queries,
    side_conditions,
)
from layout_algebra.prover.solve import products_query
from layout_algebra.values import Iter, Swizzled, Tile
from layout_algebra.verdicts import Query, Step, Verdict


def same_swizzle(claim: Equivalent | Disjoint, facts: Facts) -> Outcome | None:
    """Under one and the same swizzle, layouts agree or meet exactly where their tiles do."""
    f, g = claim.f, claim.g
    if isinstance(f, Swizzled) and f.swizzle.is_identity:
        f = f.tile_layout
    if isinstance(g, Swizzled) and g.swizzle.is_identity:
        g = g.tile_layout
    if isinstance(f, Swizzled) and isinstance(g, Swizzled) and f.swizzle == g.swizzle:
        step = Step("one swizzle is a bijection", str(f.swizzle), (BIJECTION,))
        return Outcome(None, step, (type(claim)(f.tile_layout, g.tile_layout),))
    if f is not claim.f or g is not claim.g:
        return Outcome(None, Step("an empty XOR field changes nothing"), (type(claim)(f, g),))
    return None


def equal_normal_forms(claim: Equivalent, facts: Facts) -> Outcome | None:
    """Two tiles with one normal form are one map."""
    f, g = claim.f, claim.g
    if not isinstance(f, Tile) or not isinstance(g, Tile):
        return None
    one, two = normal_form(f), normal_form(g)
    if one.shard != two.shard or one.offsets != two.offsets:
        return None
    if one.replica != two.replica and equal_copies(one, two) is not True:
        return None
    lemmas = (MERGING, COPIES) if f.replica or g.replica else (MERGING,)
    if f.is_symbolic or g.is_symbolic:
        queries = _merge_conditions([f, g], facts)
    else:
        bases = (tile.rebuild(tile.shard, (), form.offset) for tile, form in ((f, one), (g, two)))
        queries = _NegationOrBases(claim, Equivalent(*bases))
    return Outcome(Verdict.PROVED, Step("equal normal forms", "", lemmas, queries))


def apart(claim: Disjoint, facts: Facts) -> Outcome | None:
    """On some axis the places are apart: no common interval, or another residue."""
    f, g = claim.f, claim.g
    if not isinstance(f, Tile) or not isinstance(g, Tile):
        return None
    for axis in dict.fromkeys((*f.axes, *g.axes)):
        try:
            (low_f, high_f), (low_g, high_g) = tile_ends(f, axis), tile_ends(g, axis)
        except LayoutError:
            continue
        gaps = low_g - high_f, low_f - high_g
        gap = next((gap for gap in gaps if facts.at_least(gap, 1)), None)
        if gap is not None:
            if f.is_symbolic or g.is_symbolic:
                check = side_conditions("the intervals meet", [gap - 1], facts)
            else:
                check = Negation(claim, ())
            return Outcome(
                Verdict.PROVED, Step("separate intervals", f"on {axis.name}", (INTERVALS,), check)
            )
        strides = [it.stride for t in (f, g) for it in (*t.shard, *t.replica) if it.axis is axis]
        apart_by = dict(g.offsets).get(axis, 0) - dict(f.offsets).get(axis, 0)
        if isinstance(apart_by, int) and strides and all(isinstance(s, int) for s in strides):
            step = gcd(*strides)  # type: ignore[arg-type]
            if step and apart_by % step:
                detail = f"on {axis.name} modulo {step}"
                return Outcome(
                    Verdict.PROVED,
                    Step("other residues", detail, (RESIDUES,), Negation(claim, facts.relations)),
                )
    return None


@dataclass(frozen=True)
class _NegationOrBases:
    """The negated claim, or, with too many copies to spell out, that of the least copies alone."""

    claim: Equivalent
    bases: Equivalent

    def __call__(self) -> tuple[Query, ...]:
        return Negation(self.claim, ())() or Negation(self.bases, ())()


def _merge_conditions(tiles: Sequence[Tile], facts: Facts) -> Callable[[], tuple[Query, ...]]:
    """A query that looks for Dims at which a merged pair does not count on."""

    def make() -> tuple[Query, ...]:
        pairs: list[tuple[Sequence[Size], Size]] = []
        for tile in tiles:
            last: Iter | None = None
            for it in tile.shard:
                if it.extent == 1:
                    continue
                if (
                    last is not None
                    and last.axis is it.axis
                    and it.extent * it.stride == last.stride
                ):
                    pairs.append(((it.extent, it.stride), last.stride))
                    it = Iter(last.extent * it.extent, it.stride, it.axis)
                last = it
        if not pairs:
            return as_queries((NOTHING,), facts.relations)
        about = "a merged pair that does not count on"
        return (products_query(about, pairs, facts.relations),)

    return make
