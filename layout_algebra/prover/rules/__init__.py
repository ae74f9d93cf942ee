"""Proofs by structure: rules that decide in microseconds, before any solver is asked.

Each rule is sound because of a theorem in proofs/rules.py, proven there for all parameters, and a
proof by a rule names that theorem and emits what has to be checked about this instance: for numbers
the whole negated claim (which a solver refutes without trusting the rule), for symbolic sizes the
rule's side conditions.

A rule answers with an `Outcome`, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable

from layout_algebra.claims import (
    Claim,
    Covers,
    Disjoint,
    Equivalent,
    Injective,
    LeftInverse,
    ReplicasDistinct,
    WithinBounds,
)
from layout_algebra.prover.rules.collisions import sorted_strides, swizzle_bijection, zero_stride
from layout_algebra.prover.rules.divisions import rewriting
from layout_algebra.prover.rules.inversions import recombining
from layout_algebra.prover.rules.lemmas import (
    BIJECTION,
    COPIES,
    COUNTING,
    DENSE,
    DIVISION,
    INTERVALS,
    MERGING,
    PERIODS,
    RESIDUES,
    SORTED,
    XORS,
)
from layout_algebra.prover.rules.pairs import apart, equal_normal_forms, same_swizzle
from layout_algebra.prover.rules.regions import dense, interval, whole_periods
from layout_algebra.prover.rules.steps import (
    NOTHING,
    Facts,
    Negation,
    Outcome,
    as_queries,
    facts_about,
    side_conditions,
)

__all__ = [
    "BIJECTION",
    "COPIES",
    "COUNTING",
    "DENSE",
    "DIVISION",
    "INTERVALS",
    "MERGING",
    "NOTHING",
    "PERIODS",
    "RESIDUES",
    "RULES",
    "SORTED",
    "XORS",
    "Facts",
    "Negation",
    "Outcome",
    "as_queries",
    "by_structure",
    "facts_about",
    "side_conditions",
    "sorted_strides",
]

#: The rules by claim, in the order in which they are tried.
RULES: dict[type[Claim], tuple[Callable[..., Outcome | None], ...]] = {
    Injective: (sorted_strides, swizzle_bijection, zero_stride),
    ReplicasDistinct: (sorted_strides, swizzle_bijection, zero_stride),
    Equivalent: (same_swizzle, equal_normal_forms, rewriting),
    Disjoint: (same_swizzle, apart),
    WithinBounds: (interval, whole_periods),
    Covers: (dense, whole_periods),
    LeftInverse: (rewriting, recombining),
}


def by_structure(claim: Claim, facts: Facts) -> Outcome | None:
    """The first rule that decides the claim or makes it simpler."""
    for rule in RULES.get(type(claim), ()):
        outcome = rule(claim, facts)
        if outcome is not None:
            return outcome
    return None
