"""normal_form keeps the map, and equal maps have equal forms: decided by structure, completely."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest

from layout_algebra import ComposeLayout, Dim, R, S, TileLayout, laneid, m, warpid
from layout_algebra.algebra.normal_form import equal_copies, merge_copies, normal_form
from layout_algebra.values import Iter, Tile
from tests import bruteforce as bf
from tests import generators as gen
from tests import symbolic
from tests.bruteforce import Plain
from tests.building import built, plain_of

N = Dim("N")


# ----------------------------------------------------------------------------- meaning


def test_the_map_stays():
    for seed in range(3000):
        plain = gen.random_layout(random.Random(seed), max_places=200)
        layout = built(plain)
        form = normal_form(layout)
        assert bf.equivalent(plain, plain_of(form))[0], (seed, layout, form)
        assert normal_form(form) == form, (seed, layout)
        assert isinstance(form, TileLayout | ComposeLayout)


def test_the_class_stays_unless_the_swizzle_is_none():
    tile = TileLayout(S[(2, 4) : (4, 1)])
    assert normal_form(tile) == TileLayout(S[8:1])
    assert normal_form(ComposeLayout(1, 2, 3, tile)) == ComposeLayout(1, 2, 3, TileLayout(S[8:1]))
    assert normal_form(ComposeLayout(1, 0, 3, tile)) == TileLayout(S[8:1])
    assert type(normal_form(Tile.make([(2, 4, m), (4, 1, m)]))) is Tile


@pytest.mark.parametrize(
    ("given", "form"),
    [
        (S[(1, 4, 1) : (7, 2, 9 @ laneid)], S[4:2]),
        (S[(2, 3) : (0 @ laneid, 0 @ warpid)], S[6:0]),
        (S[(2, 3) : (-3, -1)], S[6:-1]),
        (S[(2, 3) : (3 @ laneid, 1)], S[(2, 3) : (3 @ laneid, 1)]),
        (S[(2, 3, 5) : (15, 5, 1)], S[30:1]),
        (S[4:1] + 0 @ laneid, S[4:1]),
        (S[4:1] + R[(2, 1) : (0, 5)], S[4:1]),
        (S[4:1] + R[3:-4], S[4:1] + R[3:4] + (-8)),
        (S[4:1] + R[(2, 2) : (8, 4)], S[4:1] + R[4:4]),
        (S[4:1] + R[(3, 2) : (4, 4)], S[4:1] + R[4:4]),
        (S[4:1] + R[(3, 2) : (4, 12)], S[4:1] + R[6:4]),
        (S[4:1] + R[(3, 2) : (4, 16)], S[4:1] + R[(3, 2) : (4, 16)]),
        (S[()] + 3, S[()] + 3),
        (S[1:5], S[()]),
    ],
)
def test_forms(given, form):
    assert normal_form(TileLayout(given)) == TileLayout(form)


# ------------------------------------------------------------------- equal maps, equal forms


def map_of(iters: tuple[tuple[int, int, str], ...]) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Every element's place, by addition alone."""
    places: list[dict[str, int]] = [{}]
    for extent, stride, axis in iters:
        places = [
            {**place, axis: place.get(axis, 0) + digit * stride}
            for place in places
            for digit in range(extent)
        ]
    return tuple(tuple(sorted((a, v) for a, v in place.items() if v)) for place in places)


def factorisations(size: int) -> Iterator[tuple[int, ...]]:
    """Every ordered product of factors above 1."""
    if size == 1:
        yield ()
    for first in range(2, size + 1):
        if size % first == 0:
            for rest in factorisations(size // first):
                yield (first, *rest)


def one_form_for_each_map(iters_of_a_size: Iterator[tuple[tuple[int, int, str], ...]]) -> int:
    forms: dict[object, Tile] = {}
    maps: dict[Tile, object] = {}
    count = 0
    for iters in iters_of_a_size:
        count += 1
        form = normal_form(Tile.make(iters))
        places = map_of(iters)
        assert forms.setdefault(places, form) == form, (iters, form, forms[places])
        assert maps.setdefault(form, places) == places, (iters, form)
    assert len(forms) == len(maps)
    return count


def test_the_brute_force_of_this_file_is_that_of_the_others():
    for seed in range(300):
        plain = gen.random_layout(random.Random(seed), max_places=50, swizzles=False)
        bare = Plain(plain.shard)
        found = [frozenset([place]) for place in map_of(plain.shard)]
        assert found == bf.table(bare)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24])
def test_all_layouts_of_a_size_on_one_axis(size):
    """Strides that merge, nearly merge, vanish and turn around, in every factorisation."""
    strides = (0, 1, -1, 2, 3, 4, 6, 8, 12) if size not in (16, 24) else (0, 1, -1, 2, 3, 4, 6, 12)

    def layouts():
        for extents in factorisations(size):
            for chosen in product(strides, repeat=len(extents)):
                yield tuple(
                    (extent, stride, "m") for extent, stride in zip(extents, chosen, strict=True)
                )

    assert one_form_for_each_map(layouts()) > 0


@pytest.mark.parametrize("size", [4, 6, 8, 12])
def test_all_layouts_of_a_size_on_two_axes(size):
    steps = [(s, axis) for axis in ("m", "laneid") for s in (0, 1, 2, 4, -2)]

    def layouts():
        for extents in factorisations(size):
            for chosen in product(steps, repeat=len(extents)):
                yield tuple((e, s, axis) for e, (s, axis) in zip(extents, chosen, strict=True))

    assert one_form_for_each_map(layouts()) > 100


def test_random_pairs_have_equal_forms_exactly_where_the_maps_are_equal():
    """With units and offsets; half of the pairs are one map in two forms, or nearly."""
    seen = {True: 0, False: 0}
    for seed in range(30_000):
        rng = random.Random(seed)
        one = random_tile(rng)
        two = other_form(rng, one) if rng.random() < 0.7 else random_tile(rng)
        if bf.size(one) != bf.size(two):
            continue
        same = bf.equivalent(one, two)[0]
        forms = [normal_form(built(plain)) for plain in (one, two)]
        assert (forms[0] == forms[1]) == same, (seed, one, two, forms)
        seen[same] += 1
    assert sum(seen.values()) > 20_000
    assert min(seen.values()) > 5000, seen


def random_tile(rng: random.Random) -> Plain:
    extents = rng.choice(((2, 2), (4,), (2, 3), (3, 2), (6,), (2, 2, 2), (4, 2), (8,), (12,)))
    strides = (0, 1, 1, 2, 2, 3, 4, 6, 8, -1, -2)
    axes = ("m", "m", "m", "laneid")
    shard = tuple((extent, rng.choice(strides), rng.choice(axes)) for extent in extents)
    return Plain(shard, (), {"m": rng.choice((0, 0, 0, 1))})


def other_form(rng: random.Random, plain: Plain) -> Plain:
    """Iters split, units put in, and now and then a stride changed."""
    shard: list[tuple[int, int, str]] = []
    for extent, stride, axis in plain.shard:
        inner = rng.choice([d for d in range(1, extent + 1) if extent % d == 0])
        shard += [(extent // inner, inner * stride, axis), (inner, stride, axis)]
    if rng.random() < 0.4:
        k = rng.randrange(len(shard))
        extent, stride, axis = shard[k]
        shard[k] = (extent, stride + rng.choice((-1, 1, 2)), axis)
    if rng.random() < 0.2:
        k = rng.randrange(len(shard))
        shard[k] = (shard[k][0], shard[k][1], "laneid")
    return Plain(tuple(shard), (), plain.offset)


# ------------------------------------------------------------------------------- copies


def test_with_copies_the_forms_and_the_sets_decide():
    """Equal shard, offset and sets of copies: then, and only then, it is one map."""
    seen = {True: 0, False: 0}
    for seed in range(3000):
        rng = random.Random(seed)
        one, two = gen.equivalent_pair(rng, max_places=150)
        if bf.size(one) != bf.size(two) or one.swizzle or two.swizzle:
            continue
        if not one.replica and not two.replica:
            continue
        same = bf.equivalent(one, two)[0]
        a, b = (normal_form(built(plain)) for plain in (one, two))
        decided = a.shard == b.shard and a.offsets == b.offsets and equal_copies(a, b)
        assert decided == same, (seed, one, two)
        seen[same] += 1
    assert min(seen.values()) > 50, seen


def test_merged_copies_are_the_same_set_with_its_least_at_zero():
    for seed in range(4000):
        rng = random.Random(seed)
        iters = [
            Iter(rng.randint(1, 5), rng.choice((0, 1, 1, 2, 3, 4, 6, -1, -2, -4)), m)
            for _ in range(rng.randint(0, 4))
        ]
        kept, shift = merge_copies(iters)
        assert sums(iters) == {total + shift.get(m, 0) for total in sums(kept)}, iters
        assert min(sums(kept)) == 0
        assert all(it.stride > 0 and it.extent > 1 for it in kept)


def sums(iters) -> set[int]:
    found = {0}
    for extent, stride, _ in iters:
        found = {total + digit * stride for total in found for digit in range(extent)}
    return found


def test_equal_copies():
    def copies(*iters):
        return Tile.make([], iters)

    assert equal_copies(copies((6, 1, m)), copies((2, 3, m), (3, 1, m))) is True
    assert equal_copies(copies((6, 1, m)), copies((7, 1, m))) is False
    assert equal_copies(copies((6, 1, m)), copies((6, 1, laneid))) is False
    # 0 2 3 5 7 8 10: no progression, but two ways to write it are one set
    assert equal_copies(copies((2, 3, m), (2, 2, m)), copies((2, 2, m), (2, 3, m))) is True
    # with Dims only the same form is known to be the same set
    assert equal_copies(copies((N, 1, m)), copies((N, 1, m))) is True
    assert equal_copies(copies((N, 1, m)), copies((6, 1, m))) is None
    # too many to enumerate
    assert equal_copies(copies((1 << 17, 1, m)), copies((1 << 17, 3, m))) is None


# ----------------------------------------------------------------------------- symbolic


def test_with_dims_the_map_stays_at_every_small_value():
    changed = points = 0
    for seed in range(600):
        rng = random.Random(seed)
        draw = symbolic.Draw(rng)
        plan = symbolic.rewritten(draw, symbolic.planned(draw).layout)
        if rng.random() < 0.3:
            plan = symbolic.perturbed(draw, plan)
        case = symbolic.Case("Injective", tuple(draw.dims), (plan,))
        try:
            layout = plan.built(case.names())
        except ValueError:
            continue  # an extent that is never positive
        form = normal_form(layout)
        changed += form != layout
        assert normal_form(form) == form
        for values in list(case.points())[:12]:
            try:
                found = plan.at(values)
            except ZeroDivisionError:
                continue
            if found is None or found.size * found.copies > 200:
                continue
            points += 1
            one = plain_of(layout.evaluated(**values))
            assert bf.equivalent(one, plain_of(form.evaluated(**values)))[0], (seed, layout, form)
    assert changed > 200
    assert points > 1500


def test_what_holds_for_all_values_is_merged_and_nothing_else():
    M = Dim("M", multiple_of=8)
    assert normal_form(TileLayout(S[(M // 8, 8, 64) : (512, 64, 1)])) == TileLayout(S[64 * M : 1])
    # N*1 is the stride below only where N is 4
    kept = TileLayout(S[(N, 4) : (N, 1)])
    assert normal_form(kept) == kept
    # an extent that may be 1 is no unit, a stride that may be 0 is not 0
    unit = TileLayout(S[(Dim("K", at_least=1), 4) : (3, 2)])
    assert normal_form(unit) == unit
    assert normal_form(TileLayout(S[(2, 2) : (N - N, 3)])) == TileLayout(S[(2, 2) : (0, 3)])


def test_copies_with_dims():
    s = Dim("s", at_least=1)
    # a stride of unknown sign stays; a negative one is turned
    either = TileLayout(S[4:1] + R[2 : (N - 3)])
    assert normal_form(either) == either
    turned = normal_form(TileLayout(S[4:1] + R[3:-s]))
    assert turned == TileLayout(S[4:1] + R[3:s] + (-2 * s))
    # s and 2s continue each other whatever s is
    joined = normal_form(TileLayout(S[4:1] + R[(2, 2) : (2 * s, s)]))
    assert joined == TileLayout(S[4:1] + R[4:s])
