"""Proofs by structure: rules that decide in microseconds, before any solver is asked.

Each rule is sound because of a theorem in proofs/rules.py, proven there for all parameters, and a
proof by a rule names that theorem and emits what has to be checked about this instance: for numbers
the whole negated claim (which a solver refutes without trusting the rule), for symbolic sizes the
rule's side conditions.

A rule answers with an `Outcome`, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from layout_algebra.algebra.extent import tile_ends
from layout_algebra.algebra.normal_form import equal_copies, merge_copies, normal_form
from layout_algebra.axes import Axis, m
from layout_algebra.claims import (
    Claim,
    Covers,
    Disjoint,
    Equivalent,
    Injective,
    LeftInverse,
    ReplicasDistinct,
    WithinBounds,
    as_map,
)
from layout_algebra.conditions import Condition, at_most, differs
from layout_algebra.dims import Relation, Size, Symbol, at_least, positive_symbols
from layout_algebra.errors import LayoutError
from layout_algebra.maps import Map
from layout_algebra.prover.copies import bases_of_equal_copies
from layout_algebra.prover.solve import NoWidth, as_query
from layout_algebra.questions import Question, question
from layout_algebra.terms import const, recorded_splits
from layout_algebra.values import Iter, Swizzled, Tile
from layout_algebra.verdicts import Query, Step, Verdict, Witness


@dataclass(frozen=True)
class Outcome:
    """What a rule found: a verdict with its step, or simpler claims with the same answer."""

    verdict: Verdict | None
    step: Step
    instead: tuple[Claim, ...] = ()
    witness: Witness | None = None


@dataclass(frozen=True)
class Facts:
    """What is assumed of the Dims: what was given, and that extents and divisors are positive."""

    given: tuple[Relation, ...] = ()
    positive: frozenset[Symbol] = frozenset()
    exist: tuple[Relation, ...] = ()

    def at_least(self, size: Size, least: int) -> bool:
        """Whether size >= least follows from intervals, or from one given relation."""
        if isinstance(size, int):
            return size >= least
        if at_least(size, least, self.positive):
            return True
        return any(
            relation.kind == ">=" and at_least(size - relation.size, least, self.positive)
            for relation in self.given
        )

    @property
    def relations(self) -> tuple[Relation, ...]:
        return (*self.given, *self.exist)


def facts_about(claim: Claim, given: Sequence[Relation] = ()) -> Facts:
    """The given relations, and that every layout of the claim exists: its extents, and whatever it
    divides by, are at least 1."""
    extents: list[Size] = []
    for subject in claim.subjects():
        if isinstance(subject, Map):
            extents += [
                v.extent for v in (*subject.coordinates, *subject.replicas) if v.extent is not None
            ]
        else:
            extents += [it.extent for it in (*subject.shard, *subject.replica)]
    symbolic = [extent for extent in extents if not isinstance(extent, int)]
    if claim.symbols():
        symbolic += [divisor for divisor in claim.divisors() if not isinstance(divisor, int)]
    exist = tuple(Relation(e - 1, ">=", f"{e} >= 1") for e in dict.fromkeys(symbolic))
    return Facts(tuple(given), positive_symbols(symbolic), exist)


def by_structure(claim: Claim, facts: Facts) -> Outcome | None:
    """The first rule that decides the claim or makes it simpler."""
    for rule in RULES.get(type(claim), ()):
        outcome = rule(claim, facts)
        if outcome is not None:
            return outcome
    return None


# -- injectivity -------------------------------------------------------------------------------
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
            stride = _absolute(stride, facts)
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
    check = _side_conditions("a stride within the reach of the smaller ones", side, facts)
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


# -- pairs -------------------------------------------------------------------------------------
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
                check = _side_conditions("the intervals meet", [gap - 1], facts)
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


# -- bounds and covering -----------------------------------------------------------------------
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
        check = _side_conditions("a range beyond its limit", side, facts)
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
            (_absolute(it.stride, facts), it.extent)
            for it in (*tile.shard, *tile.replica)
            if it.axis is axis and it.extent != 1 and it.stride != 0
        ]
        gaps = [low - least, most - high]
        reach: Size = 0
        for stride, extent in _by_size(steps, facts):
            gaps.append(reach + 1 - stride)
            reach = reach + stride * (extent - 1)
        if not all(facts.at_least(gap, 0) for gap in gaps):
            return None
        side += gaps
    if any(low != 0 or high != 0 for low, high in box.values()):
        return None
    check = _side_conditions("a stride that leaves a gap, or an end inside the box", side, facts)
    return Outcome(Verdict.PROVED, Step("no gaps", "", (DENSE,), check))


# -- inverses, and maps given by formulas ------------------------------------------------------
def rewriting(claim: LeftInverse | Equivalent, facts: Facts) -> Outcome | None:
    """Both sides become the same terms once digits of mixed-radix sums are taken apart."""
    with recorded_splits() as splits:
        pairs = _sides(claim)
        if pairs is None or any(a is not b for a, b in pairs):
            return None
    if isinstance(claim, LeftInverse) and not _lands_inside(claim, facts):
        return None
    copied = any(one.replicas for one in claim.maps())
    lemmas = (DIVISION, COPIES) if copied else (DIVISION,)
    if not claim.symbols():
        queries = Negation(claim, ())
        return Outcome(
            Verdict.PROVED, Step("division steps", f"{len(splits)} of them", lemmas, queries)
        )
    side: list[Size] = []
    for boundary, rest in splits:
        if rest.low is None or rest.high is None:
            return None
        side += [rest.low, boundary - 1 - rest.high]
    check = _side_conditions("a remainder outside its range", side, facts)
    return Outcome(Verdict.PROVED, Step("division steps", f"{len(splits)} of them", lemmas, check))


def _sides(claim: LeftInverse | Equivalent) -> list[tuple[object, object]] | None:
    if isinstance(claim, Equivalent):
        f, g = claim.maps()
        if f.guard or g.guard or f.size != g.size:
            return None
        if f.replicas or g.replicas:
            bases = bases_of_equal_copies(f, g)
            if bases is None:
                return None
            f, g = bases
        if f.coordinates != g.coordinates:
            g = g.after(Map(f.coordinates, (("flat index", f.index),)))
        return [(f.output(axis), g.output(axis)) for axis in dict.fromkeys((*f.axes, *g.axes))]
    f, g = claim.maps()
    if f.replicas or f.guard or g.guard:
        return None
    back = g.after(Map(f.coordinates, f.outputs))
    names = {variable.name: variable for variable in f.coordinates}
    outputs = dict(back.outputs)
    if set(names) == set(outputs):
        return [(outputs[name], names[name]) for name in names]
    return [(next(iter(outputs.values()), const(0)), f.index)]


def _lands_inside(claim: LeftInverse, facts: Facts) -> bool:
    f, g = claim.maps()
    names = {variable.name: variable for variable in g.coordinates}
    if set(names) == set(f.axes):
        ranges = [(f.output(name), v.low, v.high) for name, v in names.items()]
    else:
        only = f.outputs[0][1] if f.outputs else const(0)
        ranges = [(only, 0, g.size - 1)]
    for term, low, high in ranges:
        if low is not None and (term.low is None or not facts.at_least(term.low - low, 0)):
            return False
        if high is not None and (term.high is None or not facts.at_least(high - term.high, 0)):
            return False
    return True


# -- inside ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Negation:
    """The whole negated claim as queries, made when they are asked for."""

    claim: Claim
    relations: tuple[Relation, ...]

    def __call__(self) -> tuple[Query, ...]:
        questions = self.claim.questions()
        return () if questions is None else as_queries(questions or (NOTHING,), self.relations)


@dataclass(frozen=True)
class _NegationOrBases:
    """The negated claim, or, with too many copies to spell out, that of the least copies alone."""

    claim: Equivalent
    bases: Equivalent

    def __call__(self) -> tuple[Query, ...]:
        return Negation(self.claim, ())() or Negation(self.bases, ())()


#: What stands for a negation without any case: no solver finds an answer to it.
NOTHING = question("nothing that could go wrong", [()])


def as_queries(questions: Iterable[Question], relations: tuple[Relation, ...]) -> tuple[Query, ...]:
    """Questions as queries that were not run; those that no encoding can say are left out."""
    found: list[Query] = []
    for one in questions:
        try:
            found.append(as_query(replace(one, relations=relations)))
        except NoWidth:
            continue
    return tuple(found)


def _side_conditions(
    about: str, sizes: Sequence[Size], facts: Facts
) -> Callable[[], tuple[Query, ...]]:
    """A query that looks for Dims at which one of the sizes is negative."""

    def make() -> tuple[Query, ...]:
        negative = tuple(at_most(const(size), -1) for size in dict.fromkeys(sizes))
        return as_queries([question(about, [negative])], facts.relations)

    return make


def _merge_conditions(tiles: Sequence[Tile], facts: Facts) -> Callable[[], tuple[Query, ...]]:
    """A query that looks for Dims at which a merged pair does not count on."""

    def make() -> tuple[Query, ...]:
        unequal: list[Condition] = []
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
                    # written out unsimplified: extent*stride and the stride that it must equal
                    unequal.append(differs(const(it.extent * it.stride), const(last.stride)))
                    it = Iter(last.extent * it.extent, it.stride, it.axis)
                last = it
        return as_queries(
            [question("a merged pair that does not count on", [tuple(unequal)])], facts.relations
        )

    return make


def _ascending(steps: list[tuple[Size, Size]], facts: Facts) -> list[Size] | None:
    """Gaps (>= 0) that show the strides sorted with reach, or None when no order shows it."""
    reach: Size = 0
    gaps: list[Size] = []
    for stride, extent in _by_size(steps, facts):
        gap = stride - reach - 1
        if not facts.at_least(gap, 0):
            return None
        gaps.append(gap)
        reach = reach + stride * (extent - 1)
    return gaps


def _by_size(steps: Sequence[tuple[Size, Size]], facts: Facts) -> list[tuple[Size, Size]]:
    """Steps by ascending stride, as far as strides can be compared."""
    rest = list(steps)
    ordered: list[tuple[Size, Size]] = []
    while rest:
        least = next(
            (one for one in rest if all(facts.at_least(other[0] - one[0], 0) for other in rest)),
            rest[0],
        )
        rest.remove(least)
        ordered.append(least)
    return ordered


def _absolute(stride: Size, facts: Facts) -> Size:
    """A stride's size, where its sign is known; itself where it is not."""
    if isinstance(stride, int):
        return abs(stride)
    return -stride if facts.at_least(-stride, 0) else stride


def _multiple(size: Size, period: int) -> bool:
    if isinstance(size, int):
        return size % period == 0
    return all(c % period == 0 for _, c in size.terms)


SORTED = "rule: sorted strides do not collide"
BIJECTION = "rule: a swizzle is a bijection"
PERIODS = "rule: a swizzle keeps every aligned period"
MERGING = "rule: merging iters keeps the map"
COPIES = "rule: merging copies keeps the set"
INTERVALS = "rule: sums stay in the sum of the ranges"
RESIDUES = "rule: other residues do not meet"
DENSE = "rule: strides without a gap cover"
DIVISION = "rule: a division step"
COUNTING = "rule: as many places as elements"

RULES: dict[type[Claim], tuple[Callable[..., Outcome | None], ...]] = {
    Injective: (sorted_strides, swizzle_bijection, zero_stride),
    ReplicasDistinct: (sorted_strides, swizzle_bijection, zero_stride),
    Equivalent: (same_swizzle, equal_normal_forms, rewriting),
    Disjoint: (same_swizzle, apart),
    WithinBounds: (interval, whole_periods),
    Covers: (dense, whole_periods),
    LeftInverse: (rewriting,),
}
