"""Random layouts against enumeration.py: no wrong answer, and no refusal where a layout exists."""

from __future__ import annotations

import random

import pytest

from layout_algebra import cute
from layout_algebra.cute.leaves import UndecidedError
from tests.cute import enumeration as en

CASES = 5000


def attempt(operation, *arguments):
    """The result as plain tuples, or None where the operation refuses."""
    try:
        found = operation(*arguments)
    except UndecidedError:
        raise  # these sizes are small
    except cute.CuteError:
        return None
    return found.shape, found.stride


def made(layout):
    return cute.Layout(*layout)


def mode_sizes(shape):
    return [en.size(part) for part in en.parts(shape)]


@pytest.mark.slow
def test_compositions():
    rng = random.Random(7301)
    counts = {True: 0, False: 0}
    for _ in range(CASES):
        a = en.random_layout(rng, negative=True)
        b = en.random_right(rng, en.size(a[0]))
        found = attempt(cute.composition, made(a), made(b))
        exists = en.composition_exists(a, b)
        assert (found is not None) == exists, (a, b, found)
        counts[exists] += 1
        if found is not None:
            assert en.table(*found) == en.composite(a, b), (a, b, found)
            if isinstance(b[0], tuple):
                assert mode_sizes(found[0]) == mode_sizes(b[0]), (a, b, found)
    assert min(counts.values()) > CASES // 5


@pytest.mark.slow
def test_complements():
    rng = random.Random(7302)
    counts = {True: 0, False: 0}
    for _ in range(CASES):
        a = en.random_layout(rng, 48, negative=True)
        places = rng.choice((1, rng.randint(1, 60), 24, 48, 96))
        found = attempt(cute.complement, made(a), places)
        wanted = en.shifts(a, places)
        counts[wanted is not None] += 1
        assert (None if found is None else en.table(*found)) == wanted, (a, places, found)
    assert min(counts.values()) > CASES // 10


def draw_tile(rng, a):
    size = en.size(a[0])
    if rng.random() < 0.3:
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        return rng.choice(divisors), 1
    return en.random_layout(rng, 12, 2) if rng.random() < 0.5 else en.random_right(rng, size)


@pytest.mark.slow
def test_divides():
    rng = random.Random(7303)
    counts = {True: 0, False: 0}
    for _ in range(CASES):
        a = en.random_layout(rng)
        b = draw_tile(rng, a)
        found = attempt(cute.logical_divide, made(a), made(b))
        left, tile, rests = en.table(*a), en.table(*b), en.shifts(b, en.size(a[0]))
        wanted = None
        if rests is not None and max(rests) + max(tile) < len(left):
            values = [left[x + y] for y in rests for x in tile]
            if en.is_layout_by_modes(values, [len(tile), len(rests)]):
                wanted = values
        counts[wanted is not None] += 1
        assert (None if found is None else en.table(*found)) == wanted, (a, b, found)
        if found is not None:
            assert mode_sizes(found[0]) == [len(tile), len(rests)]
            assert sorted(set(wanted)) == sorted(set(left)), (a, b, found)
    assert min(counts.values()) > CASES // 5


@pytest.mark.slow
def test_products():
    rng = random.Random(7304)
    counts = {True: 0, False: 0}
    for _ in range(CASES // 2):
        a, b = en.random_layout(rng, 24), en.random_layout(rng, 12, 2, negative=True)
        found = attempt(cute.logical_product, made(a), made(b))
        block, copies = en.table(*a), en.table(*b)
        moves = en.shifts(a, max(1, len(block) * (max(copies) + 1)))
        wanted = None
        if moves is not None and min(copies) >= 0:
            placed = [moves[y] for y in copies]
            if en.is_layout_by_modes(placed, mode_sizes(b[0])):
                wanted = [x + y for y in placed for x in block]
        counts[wanted is not None] += 1
        assert (None if found is None else en.table(*found)) == wanted, (a, b, found)
    assert min(counts.values()) > CASES // 10


@pytest.mark.slow
def test_inverses_and_vectors():
    rng = random.Random(7305)
    counts = {True: 0, False: 0}
    for _ in range(CASES // 2):
        a = en.random_layout(rng, 48, negative=True)
        places = en.table(*a)
        right = attempt(cute.right_inverse, made(a))
        assert [places[y] for y in en.table(*right)] == list(range(en.size(right[0])))
        left = attempt(cute.left_inverse, made(a))
        fills = len(set(places)) == len(places) and en.shifts(a, 1) is not None
        counts[fills] += 1
        assert left is not None or not fills, (a, left)
        if left is not None:
            back = en.table(*left)
            assert [back[y] for y in places] == list(range(len(places))), (a, left)
            assert not fills or sorted(back) == list(range(len(back))), (a, left)
        b = en.random_layout(rng, 48)
        here = en.table(*attempt(cute.right_inverse, made(b)))
        common = 0
        while common < len(here) and here[common] < len(places):
            if places[here[common]] != common:
                break
            common += 1
        assert cute.max_common_vector(made(a), made(b)) == common, (a, b)
    assert min(counts.values()) > CASES // 20


def test_coalescing_text_and_tiles():
    rng = random.Random(7306)
    for _ in range(CASES // 5):
        a = en.random_layout(rng, 48, negative=True)
        layout, values = made(a), en.table(*a)
        merged = cute.coalesce(layout)
        assert en.table(merged.shape, merged.stride) == values
        assert merged.depth() <= 1
        sizes, steps = en.leaves(merged.shape), en.leaves(merged.stride)
        joins = zip(sizes, steps, steps[1:], strict=False)
        assert merged.size() == 1 or (1 not in sizes and not any(s * d == e for s, d, e in joins))
        by_mode = cute.coalesce(layout, (1,) * layout.rank())
        assert mode_sizes(by_mode.shape) == mode_sizes(a[0])
        assert en.table(by_mode.shape, by_mode.stride) == values
        flat = cute.flatten(layout)
        assert en.table(flat.shape, flat.stride) == values
        assert cute.parse(str(layout)) == layout
        assert cute.footprint(layout) == max(values) - min(values) + 1
        assert layout.cosize() == values[-1] + 1
        assert [layout(i) for i in range(len(values))] == values
        tile = cute.to_tile(layout)
        assert [tile.apply(i)["m"] for i in range(len(values))] == values
        back = cute.from_tile(tile)
        assert en.table(back.shape, back.stride) == values
        assert cute.as_map(layout).table()["m"].ravel().tolist() == values


def test_swizzled_forms():
    rng = random.Random(7307)
    for _ in range(CASES // 10):
        B, M = rng.randint(0, 3), rng.randint(0, 3)
        S = rng.choice((-1, 1)) * rng.randint(max(B, 1), 4)
        a, offset = en.random_layout(rng, 48, negative=True), rng.randint(0, 40)
        layout = cute.ComposedLayout(cute.Swizzle(B, M, S), offset, made(a))
        low, high = (M, M + S) if S > 0 else (M - S, M)  # bits from `high` on go into `low`
        values = []
        for y in en.table(*a):
            field = (offset + y) // 2**high % 2**B
            values.append((offset + y) ^ (field * 2**low))
        assert [layout(i) for i in range(len(values))] == values
        assert cute.parse(str(layout)) == layout
        assert cute.footprint(layout) == max(values) - min(values) + 1
        tile = cute.to_tile(layout)
        assert [tile.apply(i)["m"] for i in range(len(values))] == values
        back = cute.from_tile(tile)
        assert [back(i) for i in range(len(values))] == values
        assert cute.as_map(layout).table()["m"].ravel().tolist() == values
