"""The prover against brute force, on random layouts, for as long as one likes.

    python -m tests.soundness --minutes 60
    python -m tests.soundness --minutes 60 --symbolic      (see tests/symbolic.py)

Each round draws a layout (or a pair), states a claim, and compares the verdict with
`tests.bruteforce`, which knows nothing of the package.  Every witness is looked up again in the
brute-force tables.  A disagreement stops the run and prints the seed that repeats it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable

from layout_algebra.claims import (
    Bijective,
    Claim,
    Covers,
    Disjoint,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    ReplicasDistinct,
    RightInverse,
    WithinBounds,
)
from layout_algebra.errors import ClaimError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.prover import Budget, prove
from layout_algebra.verdicts import Verdict, Witness
from tests import bruteforce as bf
from tests import generators as gen
from tests import symbolic
from tests.bruteforce import Plain

Layout = TileLayout | ComposeLayout
#: A round: the claim, what brute force says of it, and whether a witness really refutes it.
Round = tuple[Claim, bool, Callable[[Witness], bool]]


def build(plain: Plain) -> Layout:
    """The package's layout for plain data."""
    tile = TileLayout.from_iters(plain.shard, plain.replica, dict(plain.offset))
    if plain.swizzle is None:
        return tile
    p, b, a, inner = plain.swizzle
    return ComposeLayout(p, b, a, tile, inner)


def flat_index(plain: Plain, point: dict[str, int]) -> int:
    """The flat index of a witness's point, whose coordinates are the digits c0, c1, ..."""
    flat = 0
    for position, (extent, _, _) in enumerate(plain.shard):
        flat = flat * extent + point[f"c{position}"]
    return flat


def injective(rng: random.Random, most: int) -> Round:
    plain = gen.random_layout(rng, max_places=most)

    def replay(witness: Witness) -> bool:
        one, two = (flat_index(plain, point) for point in witness.points)
        return one != two and bool(bf.places(plain, one) & bf.places(plain, two))

    return Injective(build(plain)), bf.injective(plain)[0], replay


def replicas_distinct(rng: random.Random, most: int) -> Round:
    plain = gen.random_layout(rng, max_places=most)

    def replay(witness: Witness) -> bool:
        flat = flat_index(plain, witness.points[0])
        return len(bf.places(plain, flat)) < bf.copies(plain)

    return ReplicasDistinct(build(plain)), bf.replicas_distinct(plain)[0], replay


def within_bounds(rng: random.Random, most: int) -> Round:
    plain = gen.random_layout(rng, max_places=most)
    limits = gen.random_limits(rng, plain)

    def replay(witness: Witness) -> bool:
        flat = flat_index(plain, witness.points[0])
        place = bf.make_place(witness.places[0])
        beyond = any(not low <= bf.at(place, axis) < high for axis, (low, high) in limits.items())
        return place in bf.places(plain, flat) and beyond

    return WithinBounds(build(plain), limits), bf.within_bounds(plain, limits)[0], replay


def covers(rng: random.Random, most: int) -> Round:
    plain = gen.random_layout(rng, max_places=most)
    box = gen.random_box(rng, plain)

    def replay(witness: Witness) -> bool:
        place = bf.make_place(witness.places[0])
        inside = all(low <= bf.at(place, axis) < high for axis, (low, high) in box.items())
        elsewhere = any(axis not in box for axis, _ in place)
        return inside and not elsewhere and place not in bf.all_places(plain)

    return Covers(build(plain), box), bf.covers(plain, box)[0], replay


def bijective(rng: random.Random, most: int) -> Round:
    plain = gen.random_layout(rng, max_places=most)
    box = gen.random_box(rng, plain)
    return Bijective(build(plain), box), bf.bijective(plain, box)[0], lambda witness: True


def equivalent(rng: random.Random, most: int) -> Round:
    one, two = gen.equivalent_pair(rng, max_places=most)
    expected = bf.equivalent(one, two)[0]

    def replay(witness: Witness) -> bool:
        flat = flat_index(one, witness.points[0])
        return bf.places(one, flat) != bf.places(two, flat)

    try:
        return Equivalent(build(one), build(two)), expected, replay
    except ClaimError:
        if bf.size(one) == bf.size(two):
            raise
        return equivalent(rng, most)


def disjoint(rng: random.Random, most: int) -> Round:
    one, two = gen.disjoint_pair(rng, max_places=most)

    def replay(witness: Witness) -> bool:
        a, b = flat_index(one, witness.points[0]), flat_index(two, witness.points[1])
        return bool(bf.places(one, a) & bf.places(two, b))

    return Disjoint(build(one), build(two)), bf.disjoint(one, two)[0], replay


def inverse(rng: random.Random, most: int) -> Round:
    f, g = gen.inverse_pair(rng, max_places=min(most, 1000))
    kind, meaning = rng.choice(
        [(LeftInverse, bf.left_inverse), (RightInverse, bf.right_inverse), (Inverse, bf.inverse)]
    )
    return kind(build(f), build(g)), meaning(f, g)[0], lambda witness: True


KINDS = (
    injective,
    replicas_distinct,
    within_bounds,
    covers,
    bijective,
    equivalent,
    disjoint,
    inverse,
)


class DisagreementError(AssertionError):
    """The prover and brute force differ, or a witness does not replay."""


def one_round(seed: int, *, most: int = 5000, method: str = "auto") -> tuple[str, Verdict, str]:
    """Draw, prove and compare once; returns the claim's name, the verdict and the method.

    With method "solver" an UNDECIDED is not an error (the caller counts them); a verdict is.
    """
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    claim, expected, replay = kind(rng, most)
    where = f"seed {seed}: {claim}"
    budget = Budget(rlimit=5_000_000, seconds=5.0) if method == "solver" else None
    proof = prove(claim, method=method, budget=budget)  # type: ignore[arg-type]
    if proof.verdict is Verdict.UNDECIDED and method == "solver":
        return claim.name, proof.verdict, proof.method
    if proof.verdict not in (Verdict.PROVED, Verdict.REFUTED):
        raise DisagreementError(f"{where}: {proof.verdict} ({proof.reason})")
    if (proof.verdict is Verdict.PROVED) != expected:
        raise DisagreementError(
            f"{where}: {proof.verdict} by {proof.method}, enumeration says {expected}"
        )
    if proof.verdict is Verdict.REFUTED:
        if proof.witness is None:
            raise DisagreementError(f"{where}: refuted without a witness")
        if not replay(proof.witness):
            raise DisagreementError(f"{where}: the witness does not replay: {proof.witness}")
    return claim.name, proof.verdict, proof.method


def campaign(
    seeds: range, *, most: int = 5000, method: str = "auto", until: float | None = None
) -> Counter[str]:
    """Rounds over seeds (until a time); counts by claim, verdict and route."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        if until is not None and time.monotonic() > until:
            break
        name, verdict, route = one_round(seed, most=most, method=method)
        counts["rounds"] += 1
        counts[f"{name}: {verdict}"] += 1
        counts[f"by {route.split(':')[0]}"] += 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument(
        "--seed", type=int, default=None, help="first seed (default: from the clock)"
    )
    parser.add_argument("--method", default="auto", choices=("auto", "solver", "enumeration"))
    parser.add_argument(
        "--symbolic",
        action="store_true",
        help="layouts with symbolic sizes, compared at all small values of their Dims",
    )
    options = parser.parse_args()
    first = options.seed if options.seed is not None else int(time.time()) * 1_000_000
    until = time.monotonic() + options.minutes * 60
    run = symbolic.campaign if options.symbolic else campaign
    try:
        counts = run(range(first, first + 10**12), method=options.method, until=until)
    except (DisagreementError, symbolic.DisagreementError) as error:
        print(f"DISAGREEMENT {error}")
        return 1
    for key in sorted(counts):
        print(f"{counts[key]:10d}  {key}")
    print(f"first seed {first}: {counts['rounds']} rounds, 0 disagreements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
