"""The rule for inverses and formulas: both sides become one term, division step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from layout_algebra.claims import (
    Equivalent,
    LeftInverse,
)
from layout_algebra.dims import Size
from layout_algebra.folding import subterms
from layout_algebra.maps import Map
from layout_algebra.prover.copies import bases_of_equal_copies
from layout_algebra.prover.rules.lemmas import COPIES, DIVISION, XORS
from layout_algebra.prover.rules.steps import Facts, Negation, Outcome, side_conditions
from layout_algebra.terms import Xor, const, coordinate, recorded_splits
from layout_algebra.verdicts import Step, Verdict


def rewriting(claim: LeftInverse | Equivalent, facts: Facts) -> Outcome | None:
    """Both sides become the same terms once digits of mixed-radix sums are taken apart."""
    with recorded_splits() as splits:
        pairs = _sides(claim)
        if pairs is None or any(a is not b for a, b in pairs):
            return None
    landing = _landing(claim, facts) if isinstance(claim, LeftInverse) else []
    if landing is None:
        return None
    lemmas = (DIVISION, *_further_lemmas(claim.maps()))
    if not claim.symbols():
        queries = Negation(claim, ())
        return Outcome(
            Verdict.PROVED, Step("division steps", f"{len(splits)} of them", lemmas, queries)
        )
    side = list(landing)
    for boundary, rest in splits:
        if rest.low is None or rest.high is None:
            return None
        side += [rest.low, boundary - 1 - rest.high]
    check = side_conditions("a remainder outside its range", side, facts)
    return Outcome(Verdict.PROVED, Step("division steps", f"{len(splits)} of them", lemmas, check))


def _further_lemmas(maps: Sequence[Map]) -> Iterator[str]:
    """What the rewriting of these maps needs besides division."""
    if any(one.replicas for one in maps):
        yield COPIES
    if any(isinstance(term, Xor) for one in maps for term in subterms(one.all_terms())):
        yield XORS


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
            f, g = _on_the_same_digits(f, g)
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


def _on_the_same_digits(f: Map, g: Map) -> tuple[Map, Map]:
    """Both maps over one set of digits of the flat index: fine enough for both, where there is one.

    A digit of a coarser map is then a sum of these digits, and nothing is left to divide.
    """
    boundaries: set[int] = set()
    for one in (f, g):
        below: Size = 1
        for extent in reversed(one.extents):
            below = below * extent
            if not isinstance(below, int):
                return _on_the_finer_digits(f, g)
            boundaries.add(below)
    ends = [1, *sorted(boundaries - {1})]
    if any(high % low for low, high in pairwise(ends)):
        return _on_the_finer_digits(f, g)
    extents = [high // low for low, high in pairwise(ends)]
    digits = Map(tuple(coordinate(f"d{k}", e) for k, e in enumerate(reversed(extents))), ())
    flat = Map(digits.coordinates, (("flat index", digits.index),))
    return f.after(flat), g.after(flat)


def _on_the_finer_digits(f: Map, g: Map) -> tuple[Map, Map]:
    """Both maps over the coordinates of the one that has more of them."""
    finer = f if len(f.coordinates) >= len(g.coordinates) else g
    flat = Map(finer.coordinates, (("flat index", finer.index),))
    return (f, g.after(flat)) if finer is f else (f.after(flat), g)


def _landing(claim: LeftInverse, facts: Facts) -> list[Size] | None:
    """How far f's places stay from the ends of g's domain, each known to be >= 0; or None."""
    f, g = claim.maps()
    names = {variable.name: variable for variable in g.coordinates}
    if set(names) == set(f.axes):
        ranges = [(f.output(name), v.low, v.high) for name, v in names.items()]
    else:
        only = f.outputs[0][1] if f.outputs else const(0)
        ranges = [(only, 0, g.size - 1)]
    gaps: list[Size] = []
    for term, low, high in ranges:
        if (low is not None and term.low is None) or (high is not None and term.high is None):
            return None
        if low is not None and term.low is not None:
            gaps.append(term.low - low)
        if high is not None and term.high is not None:
            gaps.append(high - term.high)
    return gaps if all(facts.at_least(gap, 0) for gap in gaps) else None
