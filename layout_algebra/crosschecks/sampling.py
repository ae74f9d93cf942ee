"""Values of the Dims at which a claim about all sizes is looked at.

    sampled(Injective(tile), given=(ld >= K,))    # [{'K': 0, 'ld': 1}, {'K': 8, 'ld': 64}, ...]

They fulfil what is given, and every layout of the claim exists there: its extents, and whatever it
divides by, are at least 1.  A few of them, from the smallest to the largest that were tried; always
the same ones.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from layout_algebra.claims import Claim
from layout_algebra.dims import Relation, Size, Symbol, evaluate, symbols
from layout_algebra.errors import CoordinateError, DimError
from layout_algebra.maps import Map

#: How many values are looked at, and how many are tried to find them.
SAMPLES, TRIES = 3, 4096
#: What is tried for each Dim: its least value, and so many steps above it.
STEPS = (1, 2, 3, 0, 5, 8, 16, 64)
#: Places that a claim may have at a sample.
PLACES = 1 << 20
_SEED = 20


def sampled(
    claim: Claim, given: Iterable[Relation] = (), most: int = PLACES
) -> list[dict[str, int]]:
    """A few values of a claim's Dims, by name; the one empty value where it has none.

    Args:
        claim: the claim.
        given: relations that they fulfil.
        most: places that the claim may have at one of them.
    """
    relations = tuple(given)
    dims = _dims(claim, relations)
    if not dims:
        return [{}]
    sizes = _positive(claim)
    found: list[tuple[int, dict[str, int]]] = []
    for values in _tried(dims):
        if _holds(values, relations, sizes):
            work = _work(claim, values, most)
            if work <= most:
                found.append((work, values))
    found.sort(key=lambda one: one[0])
    if len(found) <= SAMPLES:
        return [values for _, values in found]
    last = len(found) - 1
    return [found[k * last // (SAMPLES - 1)][1] for k in range(SAMPLES)]


def completed(claim: Claim, given: Iterable[Relation], values: dict[str, int]) -> dict[str, int]:
    """Values with the least one for each Dim that has none."""
    return {s.name: s.lo * s.multiple_of for s in _dims(claim, tuple(given))} | values


def _dims(claim: Claim, relations: Sequence[Relation]) -> list[Symbol]:
    found = claim.symbols()
    if found:  # what is given of an access is in its own variables
        for relation in relations:
            found |= symbols(relation.size) | symbols(relation.divisor)
    return sorted(found, key=lambda symbol: symbol.name)


def _tried(dims: Sequence[Symbol]) -> Iterator[dict[str, int]]:
    """Values to try, each once; a random part of them where there are too many."""
    choices = [_choices(one) for one in dims]
    every: Iterable[tuple[int, ...]] = itertools.product(*choices)
    if prod(map(len, choices)) > TRIES:
        draw = random.Random(_SEED)
        drawn = (tuple(draw.choice(one) for one in choices) for _ in range(TRIES))
        every = dict.fromkeys(drawn)
    for values in every:
        yield {one.name: value for one, value in zip(dims, values, strict=True)}


def _choices(one: Symbol) -> list[int]:
    found = [one.lo + step for step in STEPS if one.hi is None or one.lo + step <= one.hi]
    return [one.multiple_of * value for value in found or [one.lo]]


def _positive(claim: Claim) -> list[Size]:
    """Sizes that are at least 1 where the claim's layouts exist."""
    found: list[Size] = list(claim.divisors())
    for subject in claim.subjects():
        if isinstance(subject, Map):
            found += [
                v.extent for v in (*subject.coordinates, *subject.replicas) if v.extent is not None
            ]
        else:
            found += [one.extent for one in (*subject.shard, *subject.replica)]
    return [size for size in dict.fromkeys(found) if not isinstance(size, int)]


def _holds(values: dict[str, int], relations: Sequence[Relation], sizes: Sequence[Size]) -> bool:
    try:
        return all(one.holds(values) for one in relations) and all(
            evaluate(size, values) >= 1 for size in sizes
        )
    except (DimError, ZeroDivisionError):
        return False


def _work(claim: Claim, values: dict[str, int], most: int) -> int:
    """Places that a claim has there; too many where that cannot be said."""
    try:
        return claim.work(values)
    except (CoordinateError, DimError):
        return most + 1


def at_values(samples: list[dict[str, int]]) -> str:
    """How many values of which Dims were looked at; "" where there are none."""
    names = ", ".join(samples[0])
    many = "1 value" if len(samples) == 1 else f"{len(samples)} values"
    return f"at {many} of {names}" if names else ""
