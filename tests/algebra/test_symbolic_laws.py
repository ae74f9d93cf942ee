"""The laws with symbolic sizes: what an operation gives for Dims is, at every point, what the law
gives for the numbers there.  At least 500 cases for each operation.

An operation may decline what it cannot know for all values; every test says how often it must not.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from layout_algebra.algebra.group import GroupError
from layout_algebra.errors import LayoutAlgebraError, LayoutError
from tests import bruteforce as bf
from tests.algebra import draws, laws
from tests.algebra.draws import DIMS, numbers, plain_at, points, sizes
from tests.building import plain_of
from tests.symbolic import SymIter, SymLayout, number, times

CASES = 600
#: Results that there must be, of those.
ENOUGH = 500
Point = dict[str, int]


def cases(count: int = CASES) -> Iterator[tuple[int, random.Random]]:
    for seed in range(count):
        yield seed, random.Random(seed)


def table_at(layout, point: Point) -> laws.Table:
    return bf.table(plain_of(layout.evaluated(**point)))


def assert_everywhere(
    found, layouts: Sequence[SymLayout], law: Callable[[Point], laws.Table | None], where: object
) -> int:
    """Compares at every point that is small enough; the number of points."""
    count = 0
    for point in points(*layouts):
        wanted = law(point)
        if wanted is not None:
            assert table_at(found, point) == wanted, (where, point, found)
            count += 1
    return count


# ------------------------------------------------------------------------------- forms


@pytest.mark.parametrize("operation", ["canonicalize", "normal_form"])
def test_forms(operation):
    seen: Counter[str] = Counter()
    for seed, rng in cases():
        case = draws.symbolic(rng)
        if operation == "canonicalize" and rng.random() < 0.2:
            case = replace(case, layout=replace(case.layout, swizzle=draws.swizzle(rng)))
        layout = case.layout.built(DIMS)
        form = getattr(layout, operation)()
        seen["points"] += assert_everywhere(
            form, [case.layout], lambda point: bf.table(plain_at(case.layout, point)), seed
        )
        assert getattr(form, operation)() == form
        seen["changed"] += len(form.shard) < len(layout.shard)
    assert seen["points"] > 2 * ENOUGH
    assert seen["changed"] > CASES // 4


def test_canonicalize_for_a_target_and_fuse():
    fused = 0
    for seed, rng in cases():
        axes = rng.choice([chain for chain in draws.FUSING if "cbx" not in chain])
        case = draws.symbolic(rng, axes=axes)
        layout = case.layout.built(DIMS)
        pair = laws.scope(plain_at(case.layout, draws.POINTS[0]))
        if pair == laws.ILL_FORMED:
            continue

        def law(point, case=case, pair=pair):
            return laws.fused(plain_at(case.layout, point), pair)

        assert_everywhere(layout.fuse(), [case.layout], law, seed)
        form = layout.canonicalize(target="cuda")
        if {a for *_, a in plain_of_axes(form)} or form.get_scope() is None:
            reduced = layout.canonicalize()
            if reduced.get_scope() == layout.get_scope():
                assert_everywhere(form, [case.layout], law, seed)
        fused += layout.fuse() != layout
    assert fused > CASES // 3


def plain_of_axes(layout):
    return [(it.extent, it.stride, it.axis.name) for it in layout.shard]


def test_split():
    """tx taken apart where all that is known of the Dims says so."""
    found = 0
    for seed, rng in cases():
        axis, level = rng.choice(list(laws.FALLS_APART))
        outer, inner, size = laws.FALLS_APART[axis, level]
        whole = [
            SymIter((rng.choice(("N", "M", "K", "2")),), str(size * rng.choice((1, 2))), axis),
            SymIter((rng.choice(("N", "2")),), rng.choice((times("N", str(size)), "0")), axis),
        ]
        part = [SymIter((str(size // 2),), "1", axis), SymIter(("2",), str(size // 2), axis)]
        shard = rng.sample([*whole, *part, SymIter(("M",), "1", "m")], rng.randint(1, 3))
        made = SymLayout(tuple(shard), (), ((axis, rng.choice(("0", str(size)))),))
        layout = made.built(DIMS)
        try:
            parts = layout.split(level)
        except LayoutError:
            continue
        found += 1
        assert_everywhere(
            parts,
            [made],
            lambda point: [
                frozenset(laws.split_place(p, level) for p in places)
                for places in bf.table(plain_at(made, point))
            ],
            seed,
        )
    assert found > ENOUGH, found
