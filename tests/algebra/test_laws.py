"""Every operation against its law by brute force: 5,000 random cases each, seeds fixed.

The laws are in laws.py and know nothing of the package.  Symbolic sizes are in
test_symbolic_laws.py.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from layout_algebra.algebra.copies import without
from layout_algebra.algebra.extract import extract
from layout_algebra.algebra.group import GroupError
from layout_algebra.algebra.normal_form import normal_form
from layout_algebra.algebra.scope import ScopeError
from layout_algebra.axes import Axis
from layout_algebra.errors import CoordinateError, LayoutError
from tests import bruteforce as bf
from tests import generators as gen
from tests.algebra import draws, laws
from tests.bruteforce import Plain
from tests.building import built, plain_of

#: Cases of a shard, and the shards over which the workers share an operation's cases.
CASES = 1250
shards = pytest.mark.parametrize("shard", range(4))
half_as_many = pytest.mark.parametrize("shard", range(2))


def cases(shard: int) -> Iterator[tuple[int, random.Random]]:
    for seed in range(shard * CASES, (shard + 1) * CASES):
        yield seed, random.Random(seed)


def table(layout) -> laws.Table:
    return bf.table(plain_of(layout))


# ------------------------------------------------------------------------------- forms


@shards
def test_canonicalize(shard):
    changed = 0
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40, axes=("m", "laneid", "warpid", "F"), swizzles=True)
        layout = built(plain)
        form = layout.canonicalize()
        assert bf.table(plain) == table(form), (seed, layout, form)
        assert laws.is_canonical(plain_of(form)), (seed, layout, form)
        assert form.canonicalize() == form, (seed, layout)
        assert plain_of(form).swizzle == plain.swizzle
        assert type(form) is type(layout)
        changed += form != layout
    assert changed > CASES // 4


@shards
def test_canonicalize_for_a_target(shard):
    """Places are equal after counting in the fused axes; thread axes that do not chain are
    refused, with and without a target."""
    seen: Counter[str] = Counter()
    for seed, rng in cases(shard):
        axes = rng.choice(draws.FUSING) if rng.random() < 0.8 else rng.sample(draws.ALL_AXES, 3)
        plain = draws.layout(rng, 40, axes=axes, swizzles="m" in axes)
        layout = built(plain)
        pair = laws.scope(laws.reduced(plain))
        if pair == laws.ILL_FORMED:
            for target in (None, "cuda"):
                with pytest.raises(ScopeError):
                    layout.canonicalize(target=target)
            seen["ill formed"] += 1
            continue
        form = layout.canonicalize(target="cuda")
        assert table(form) == laws.fused(plain, pair), (seed, layout, form)
        assert laws.is_canonical(plain_of(form)), (seed, layout, form)
        kept = tuple(it for it in plain.replica if it[0] != 1)
        if laws.scope(laws.reduced(replace(plain, replica=kept))) == pair:
            # copies that are none have a say in the scope, and then they are gone
            assert form.canonicalize(target="cuda") == form, (seed, layout)
        seen["fused"] += form != layout.canonicalize()
    assert seen["ill formed"] > CASES // 100
    assert seen["fused"] > CASES // 20


@shards
def test_normal_form(shard):
    """The map stays; forms without copies are equal exactly where the maps are."""
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40, swizzles=True)
        layout = built(plain)
        form = normal_form(layout)
        assert bf.table(plain) == table(form), (seed, layout, form)
        assert normal_form(form) == form
        one = replace(plain, replica=(), swizzle=None)
        two = gen.equivalent_variant(rng, one, max_places=60, axes=draws.AXES)
        if rng.random() < 0.5:
            two = gen.perturbed_variant(rng, two, max_places=60, axes=draws.AXES)
        two = gen.strip(two, replicas=False, swizzles=False)
        same = bf.size(one) == bf.size(two) and bf.table(one) == bf.table(two)
        assert (built(one).normal_form() == built(two).normal_form()) == same, (seed, one, two)
        seen[same] += 1
    assert min(seen.values()) > CASES // 5, seen


@shards
def test_fuse(shard):
    fused = 0
    for seed, rng in cases(shard):
        axes = rng.choice(draws.FUSING)
        plain = draws.layout(rng, 40, axes=axes)
        layout = built(plain)
        pair = laws.scope(plain)
        if pair == laws.ILL_FORMED:
            with pytest.raises(ScopeError):
                layout.fuse()
            continue
        assert table(layout.fuse()) == laws.fused(plain, pair), (seed, layout)
        assert layout.fuse(None) == layout
        fused += layout.fuse() != layout
    assert fused > CASES // 10


@shards
def test_split(shard):
    """Where it is possible, quotient and remainder; fusing gives back the whole."""
    seen: Counter[str] = Counter()
    for seed, rng in cases(shard):
        axis, level = rng.choice(list(laws.FALLS_APART))
        *_, size = laws.FALLS_APART[axis, level]
        shard_iters = [
            (
                rng.choice((1, 2, 2, 3, 4, 8)),
                rng.choice((0, 1, 1, 2, 4, size // 4, size // 2, size, size, 2 * size, -1, -size)),
                axis if rng.random() < 0.7 else "m",
            )
            for _ in range(rng.randint(1, 3))
        ]
        moved = {axis: rng.choice((0, 1, size - 1, size, 2 * size + 1, -1)), "m": 3}
        plain = Plain(
            tuple(shard_iters),
            ((2, rng.choice((1, size)), axis),) if rng.random() < 0.2 else (),
            moved if rng.random() < 0.4 else (),
        )
        layout = built(plain)
        whole = bf.table(plain)
        try:
            parts = layout.split(level)
        except LayoutError:
            seen["refused"] += 1
            continue
        wanted = [frozenset(laws.split_place(p, level) for p in places) for places in whole]
        assert table(parts) == wanted, (seed, layout, parts)
        if plain_of(parts) != plain and laws.scope(plain_of(parts)) == laws.COUNTS[axis]:
            assert table(parts.fuse()) == whole, (seed, layout, parts)
            seen["there and back"] += 1
        seen["split"] += parts != layout
    assert seen["split"] > CASES // 5, seen
    assert seen["there and back"] > CASES // 20, seen


# ----------------------------------------------------------------------------- cutting


@shards
def test_group(shard):
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40)
        shape = draws.shape(rng, plain)
        layout = built(plain)
        possible = laws.can_group(plain, shape)
        seen[possible] += 1
        if not possible:
            with pytest.raises(GroupError):
                layout.group(shape)
            continue
        cut, seps = layout.group(shape)
        assert table(cut) == bf.table(plain), (seed, layout, shape)
        assert_groups(cut, seps, shape)
        assert (cut.replica, cut.offset) == (layout.replica, layout.offset)
    assert min(seen.values()) > CASES // 20, seen


@shards
def test_group_many(shard):
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40)
        shapes = [draws.shape(rng, plain) for _ in range(rng.choice((0, 1, 2, 2, 2, 3)))]
        layout = built(plain)
        possible = laws.can_group_many(plain, shapes)
        seen[possible] += 1
        if not possible:
            with pytest.raises(GroupError):
                layout.group_many(shapes)
            continue
        cut, every = layout.group_many(shapes)
        assert table(cut) == bf.table(plain), (seed, layout, shapes)
        assert len(every) == len(shapes)
        for seps, shape in zip(every, shapes, strict=True):
            assert_groups(cut, seps, shape)
        assert (cut.replica, cut.offset) == (layout.replica, layout.offset)
    assert min(seen.values()) > CASES // 20, seen


def assert_groups(cut, seps, shape):
    assert len(seps) == len(shape) + 1
    assert seps[0] == 0
    assert seps[-1] == len(cut.shard)
    assert list(seps) == sorted(seps)
    for d, size in enumerate(shape):
        count = 1
        for extent in cut.extents[seps[d] : seps[d + 1]]:
            count *= extent
        assert count == size, (cut, seps, shape)


@shards
def test_apply_to_shape(shard):
    """A number for each iter of the cut layout, which together are the coordinate and the place."""
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40)
        shape = draws.shape(rng, plain)
        layout = built(plain)
        if not shape or bf.size(Plain(tuple((e, 1, "m") for e in shape))) > bf.size(plain):
            continue
        coordinate = [rng.randrange(size) for size in shape]
        digits = layout.apply_to_shape(coordinate, shape)
        flat = laws.flat(coordinate, shape)
        possible = laws.can_group(plain, shape)
        seen[possible] += 1
        cut, seps = layout.group(shape) if possible else (layout, (0, len(layout.shard)))
        sizes, wanted = (shape, coordinate) if possible else ((bf.size(plain),), [flat])
        assert len(digits) == len(cut.shard), (seed, layout, shape)
        assert all(0 <= digit < extent for digit, extent in zip(digits, cut.extents, strict=True))
        for d in range(len(sizes)):
            part = slice(seps[d], seps[d + 1])
            assert laws.flat(digits[part], cut.extents[part]) == wanted[d], (seed, layout, shape)
        bare = Plain(plain.shard)
        steps = (
            bf.make_place({axis: digit * stride})
            for digit, (_, stride, axis) in zip(digits, plain_of(cut).shard, strict=True)
        )
        total = ()
        for step in steps:
            total = laws.added(total, step)
        assert total == bf.base_place(bare, flat)
    assert min(seen.values()) > CASES // 40, seen


# ------------------------------------------------------------------------------- sums


def pair(rng, *, swizzles=True, most=36):
    """Two layouts and the shapes of one rank that they are for."""
    axes = ("m", *rng.sample(("laneid", "warpid", "TCol"), rng.choice((0, 1, 1, 2))))
    rank = rng.choice((0, 1, 1, 2, 2, 3))
    outer_shape = draws.small_shape(rng, 6, rank)
    inner_shape = draws.small_shape(rng, 6, rank)
    outer = draws.iters_for(rng, outer_shape, axes)
    inner = draws.iters_for(rng, inner_shape, axes)
    if rng.random() < 0.08:  # another layout of the same size: it may not be cut that way
        inner_shape = tuple(rng.sample(inner_shape, rank))
    if rng.random() < 0.03:
        outer_shape = (*outer_shape, 1)
    if swizzles:
        inner = draws.swizzled(rng, inner)
    return inner, outer, outer_shape, inner_shape


def can_sum(one: Plain, other: Plain, one_shape, other_shape) -> bool:
    return (
        len(one_shape) == len(other_shape)
        and laws.can_group(plain_of(built(one).canonicalize()), one_shape)
        and laws.can_group(plain_of(built(other).canonicalize()), other_shape)
    )


@shards
@pytest.mark.parametrize("operation", ["tile", "direct_sum"])
def test_tile_and_direct_sum(operation, shard):
    seen: Counter[str] = Counter()
    law = laws.tiled if operation == "tile" else laws.direct_sum
    for seed, rng in cases(shard):
        inner, outer, outer_shape, inner_shape = pair(rng)
        run = getattr(built(inner), operation)
        own = laws.stands_for(inner, inner_shape)
        if own is None or not can_sum(own, outer, inner_shape, outer_shape):
            with pytest.raises(GroupError):
                run(built(outer), outer_shape, inner_shape)
            seen["refused"] += 1
            continue
        found = run(built(outer), outer_shape, inner_shape)
        wanted = law(own, outer, outer_shape, inner_shape)
        assert table(found) == wanted, (seed, inner, outer, outer_shape, inner_shape, found)
        assert laws.is_canonical(plain_of(found)), (seed, found)
        assert type(found) is type(built(inner))
        seen["negative"] += any(s < 0 for _, s, _ in (*inner.shard, *outer.shard))
        seen["copies"] += bool(inner.replica or outer.replica)
        seen["swizzled"] += bool(inner.swizzle)
    assert min(seen.values()) > CASES // 40, seen


@shards
@pytest.mark.parametrize("operation", ["tile", "direct_sum"])
def test_tile_and_direct_sum_for_a_target(operation, shard):
    """The sum without a target, fused by its own scope."""
    law = laws.tiled if operation == "tile" else laws.direct_sum
    fused = 0
    for seed, rng in cases(shard):
        axes = rng.choice(draws.FUSING)
        rank = rng.choice((1, 2))
        outer_shape, inner_shape = (draws.small_shape(rng, 6, rank) for _ in range(2))
        outer, inner = (draws.iters_for(rng, s, axes) for s in (outer_shape, inner_shape))
        scopes = [laws.scope(laws.reduced(one)) for one in (inner, outer)]
        run = getattr(built(inner), operation)
        if laws.ILL_FORMED in scopes:
            with pytest.raises(ScopeError):
                run(built(outer), outer_shape, inner_shape, target="cuda")
            continue
        own, other = (plain_of(built(one).canonicalize()) for one in (inner, outer))
        mixed = laws.mixed(other, own)
        pair_of_scopes = laws.scope(mixed)
        if pair_of_scopes == laws.ILL_FORMED:
            with pytest.raises(ScopeError):
                run(built(outer), outer_shape, inner_shape, target="cuda")
            continue
        found = run(built(outer), outer_shape, inner_shape, target="cuda")
        wanted = [
            frozenset(laws.fused_place(p, pair_of_scopes) for p in places)
            for places in law(own, other, outer_shape, inner_shape)
        ]
        assert table(found) == wanted, (seed, inner, outer, outer_shape, inner_shape, found)
        if scopes[0] and scopes[1] and scopes[0] != scopes[1]:
            fused += 1
    assert fused > CASES // 20


@shards
def test_tile_to(shard):
    seen: Counter[str] = Counter()
    for seed, rng in cases(shard):
        rank = rng.choice((1, 1, 2, 3))
        current = draws.small_shape(rng, 6, rank)
        outer_shape = draws.small_shape(rng, 6, rank)
        to_shape = [o * n for o, n in zip(outer_shape, current, strict=True)]
        inner = draws.swizzled(rng, draws.iters_for(rng, current, draws.AXES))
        own = laws.stands_for(inner, current)
        whole = True
        if rng.random() < 0.1:
            d = rng.randrange(rank)
            to_shape[d] += 1
            whole = current[d] == 1
        if rng.random() < 0.03:
            to_shape, whole = [*to_shape, 2], False
        if own is None or not whole:
            with pytest.raises(GroupError):
                built(inner).tile_to(to_shape, current)
            seen["refused"] += 1
            continue
        outer_shape = laws.halves(to_shape, current)
        found = built(inner).tile_to(to_shape, current)
        wanted = laws.tiled(own, laws.row_major(outer_shape), outer_shape, current)
        assert table(found) == wanted, (seed, inner, to_shape, current, found)
        seen["made"] += 1
    assert min(seen.values()) > CASES // 20, seen


# ------------------------------------------------------------------------------- parts


@shards
def test_slice(shard):
    """The restriction; None exactly where no iters and no offset give it."""
    seen: Counter[str] = Counter()
    for seed, rng in cases(shard):
        if rng.random() < 0.5:
            plain = draws.layout(rng, 40)
            shape = draws.shape(rng, plain)
        else:
            shape = draws.small_shape(rng, 30)
            plain = draws.iters_for(rng, shape, ("m", "m", rng.choice(draws.AXES)))
        plain = draws.swizzled(rng, plain)
        layout = built(plain)
        region = draws.region(rng, shape)
        own = laws.stands_for(plain, shape)
        if own is None or not laws.can_group(plain_of(built(own).canonicalize()), shape):
            with pytest.raises(GroupError):
                layout.slice(shape, region)
            seen["no such shape"] += 1
            continue
        wanted = laws.restricted(bf.table(laws.affine(own)), shape, region)
        found = layout.slice(shape, region)
        why = layout.why_no_slice(shape, region)
        if found is None:
            assert not laws.has_layout(wanted), (seed, layout, shape, region)
            assert why
            seen["none"] += 1
            continue
        assert why is None
        assert table(found) == laws.at_swizzled(wanted, plain.swizzle), (seed, layout, region)
        assert type(found) is type(layout)
        seen["found"] += 1
        seen["swizzled"] += bool(plain.swizzle)
    assert min(seen.values()) > CASES // 80, seen


def of_many_iters(rng) -> Plain:
    """One dimension whose carries often land on the line of the fastest iter, or on its own."""
    extents = [rng.choice((2, 2, 3, 4, 4)) for _ in range(rng.choice((2, 3, 3, 4)))]
    if bf.size(Plain(tuple((extent, 0, "m") for extent in extents))) > 96:
        return of_many_iters(rng)
    iters, below = [], 1
    for extent in reversed(extents):
        stride = rng.choice((below, below, below * 2, rng.randint(-4, 8), 0, -below))
        iters.insert(0, (extent, stride, rng.choice(("m", "m", "m", "laneid"))))
        below = abs(stride) * extent or 1
    if rng.random() < 0.5:
        (e, d, axis), slow = iters[-1], iters[:-1]
        line = rng.choice((e * d, e * d, rng.randint(-2, 6)))
        for k in range(len(slow) - 2, -1, -1):
            if rng.random() < 0.85:  # the step when all digits between are at their greatest
                carried = sum((f - 1) * s for f, s, _ in slow[k + 1 :])
                slow[k] = (slow[k][0], line + carried, axis)
                slow[k + 1] = (*slow[k + 1][:2], axis)
        iters = [*slow, (e, d, axis)]
    return Plain(tuple(iters))


@shards
def test_slice_of_one_dimension_of_many_iters(shard):
    """Where regions begin and end in the middle of iters."""
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        plain = of_many_iters(rng)
        size = bf.size(plain)
        begin = rng.randrange(size)
        region = [(begin, rng.randint(begin + 1, size))]
        wanted = laws.restricted(bf.table(plain), (size,), region)
        found = built(plain).slice((size,), region)
        exists = laws.has_layout(wanted)
        assert (found is not None) == exists, (seed, plain, region)
        assert found is None or table(found) == wanted, (seed, plain, region, found)
        seen[exists] += 1
    assert min(seen.values()) > CASES // 10, seen


@shards
def test_extract(shard):
    """The layout of a table, exactly where there is one."""
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        plain = replace(draws.layout(rng, 24), replica=())
        vectors = [bf.base_place(plain, f) for f in range(bf.size(plain))]
        if rng.random() < 0.5:
            x = rng.randrange(len(vectors))
            vectors[x] = laws.added(vectors[x], ((rng.choice(("m", "F")), rng.choice((1, -1))),))
        vectors = vectors[rng.choice((0, 0, 0, len(vectors) // 2)) :]
        found = extract(lambda x, v=vectors: {Axis.get(a): n for a, n in v[x]}, len(vectors))
        exists = laws.is_layout(vectors)
        assert (found is not None) == exists, (seed, vectors)
        if found is not None:
            assert table(found) == [frozenset([place]) for place in vectors], (seed, vectors)
            assert found == normal_form(found)
        seen[exists] += 1
    assert min(seen.values()) > CASES // 5, seen


@shards
def test_slice_refuses_what_is_outside(shard):
    for seed, rng in cases(shard):
        shape = draws.small_shape(rng, 24)
        plain = draws.iters_for(rng, shape, draws.AXES)
        region = draws.region(rng, shape)
        d = rng.randrange(len(shape))
        begin, end = region[d]
        wrong = [(-1, end), (begin, shape[d] + 1), (end, end), (end, begin), (begin,), None]
        region[d] = rng.choice(wrong)
        if rng.random() < 0.1:
            region = [*draws.region(rng, shape), (0, 1)]
        with pytest.raises(CoordinateError):
            print(seed, built(plain).slice(shape, region))


# ------------------------------------------------------------------------------- edits


@shards
def test_permute_dims(shard):
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40)
        perm = list(range(len(plain.shard)))
        rng.shuffle(perm)
        assert table(built(plain).permute_dims(perm)) == laws.permuted(plain, perm), (seed, plain)
        wrong = rng.choice(([*perm, len(perm)], perm[1:], [-1, *perm[1:]], [0, *perm], perm + perm))
        if sorted(wrong) != sorted(perm):
            with pytest.raises(LayoutError):
                built(plain).permute_dims(wrong)


@shards
def test_permute_by_groups(shard):
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40)
        count = len(plain.shard)
        inside = sorted(rng.randint(0, count) for _ in range(rng.randint(0, 3)))
        seps = [0, *inside, count]
        perm = rng.sample(range(len(seps) - 1), len(seps) - 1)
        order = [k for d in perm for k in range(seps[d], seps[d + 1])]
        found = built(plain).permute_by_groups(seps, perm)
        assert table(found) == laws.permuted(plain, order), (seed, plain, seps, perm)
        with pytest.raises(LayoutError):
            built(plain).permute_by_groups(
                rng.choice(([*seps, count + 1], [1, *seps[1:]], [])), perm
            )
        with pytest.raises(LayoutError):
            built(plain).permute_by_groups(seps, rng.choice(([*perm, 0], perm[1:])))


@shards
def test_unpack_and_pack(shard):
    """unpack(f)[num*x + j] = num * f[x] + j, under a swizzle too; pack takes it back."""
    for seed, rng in cases(shard):
        plain = draws.swizzled(rng, draws.layout(rng, 20))
        axis = "m" if plain.swizzle else rng.choice(("m", "m", "TCol", "F"))
        num = rng.choice((1, 2, 4, 8)) if plain.swizzle else rng.randint(1, 6)
        layout = built(plain)
        wide = layout.unpack(num, axis)
        assert table(wide) == laws.unpacked(bf.table(plain), num, axis), (seed, layout, num)
        back = wide.pack(num, axis)
        assert table(back) == bf.table(plain), (seed, layout, num)
        assert back.affine.shard[:-1] == layout.affine.shard
        assert (back.replica, back.affine.offsets) == (layout.replica, layout.affine.offsets)


@shards
def test_pack(shard):
    """What it gives is what the elements are the unpacking of; refused by its rule alone."""
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        num = rng.choice((1, 2, 2, 3, 4))
        plain = draws.layout(rng, 20)
        if rng.random() < 0.7:
            wide = Plain(
                tuple((e, s * num if a == "m" else s, a) for e, s, a in plain.shard),
                tuple((e, s * num if a == "m" else s, a) for e, s, a in plain.replica),
                tuple((a, v * num if a == "m" else v) for a, v in plain.offset),
            )
            plain = replace(wide, shard=(*wide.shard, (num * rng.choice((1, 1, 2)), 1, "m")))
        if rng.random() < 0.2:
            plain = gen.perturbed_variant(rng, plain, max_places=60)
        per_element, bits = 0, num.bit_length() - 1
        if plain.swizzle is None and rng.random() < 0.2:
            per_element = rng.randint(0, 2)
            plain = replace(plain, swizzle=(per_element, 1, 1, rng.random() < 0.5))
        elif plain.swizzle is not None:
            per_element = plain.swizzle[0]
        possible = can_pack(plain, num) and (
            plain.swizzle is None or (num == 1 << bits and bits <= per_element)
        )
        seen[possible] += 1
        if not possible:
            with pytest.raises(LayoutError):
                built(plain).pack(num)
            continue
        found = built(plain).pack(num)
        assert table(found) == laws.packed(bf.table(plain), num), (seed, plain, num, found)
    assert min(seen.values()) > CASES // 5, seen


def can_pack(plain: Plain, num: int) -> bool:
    """The last iter steps by 1 on m through whole packs, and all else on m is a multiple."""
    if not plain.shard:
        return False
    extent, stride, axis = plain.shard[-1]
    others = [s for _, s, a in (*plain.shard[:-1], *plain.replica) if a == "m"]
    moved = [value for a, value in plain.offset if a == "m"]
    fits = (axis, stride) == ("m", 1) and extent % num == 0
    return fits and all(value % num == 0 for value in (*others, *moved))


@shards
def test_broadcast(shard):
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 24, swizzles=True)
        extents = [extent for extent, _, _ in plain.shard]
        num, rank = rng.randint(1, 4), len(plain.shard)
        position = rng.randint(-rank - 1, rank + 1)
        axis = rng.choice(draws.AXES)
        found = built(plain).broadcast(num, position, axis)
        at = position if position >= 0 else position + rank + 1
        wanted = laws.broadcast(bf.table(plain), extents, num, min(at, rank))
        assert table(found) == wanted, (seed, plain, num, position)
        assert found.shard[min(at, rank)].axis.name == axis
        with pytest.raises(LayoutError):
            built(plain).broadcast(rng.choice((0, -1, 1.5, "2", True)), position, axis)


@shards
def test_storage(shard):
    for seed, rng in cases(shard):
        plain = draws.layout(rng, 40, axes=("m", "laneid", "warpid", "F", "tx"), swizzles=True)
        found = built(plain).storage()
        assert table(found) == laws.stored(plain), (seed, plain, found)
        assert not any(axis.is_thread for axis in found.axes)


# --------------------------------------------------------------------------- questions


@shards
def test_get_scope(shard):
    seen: Counter[str] = Counter()
    for seed, rng in cases(shard):
        axes = rng.sample(draws.ALL_AXES, rng.randint(2, 4))
        if rng.random() < 0.3:
            axes = rng.choice(draws.FUSING)
        plain = draws.layout(rng, 24, axes=axes, swizzles=True)
        layout = built(plain)
        wanted = laws.scope(plain)
        if wanted == laws.ILL_FORMED:
            with pytest.raises(ScopeError):
                layout.get_scope()
            seen["ill formed"] += 1
        else:
            assert layout.get_scope() == wanted, (seed, layout)
            seen["none" if wanted is None else "chain"] += 1
        well = laws.well_formed(plain)
        assert layout.check_well_formed() == well, (seed, layout)
        assert (layout.why_ill_formed() is None) == well
    assert min(seen.values()) > CASES // 20, seen


@shards
def test_is_trivial_and_is_contiguous(shard):
    seen: Counter[str] = Counter()
    for seed, rng in cases(shard):
        if rng.random() < 0.7:
            axis = rng.choice(("m", "m", "m", "F", "TCol", "laneid"))
            plain = laws.row_major(draws.small_shape(rng, 24, rng.choice((0, 1, 2, 3))), axis)
            if rng.random() < 0.3:
                plain = replace(plain, offset={rng.choice(("m", "F")): rng.choice((0, 3))})
            if rng.random() < 0.4:
                plain = gen.equivalent_variant(rng, plain, max_places=50, axes=("m", "F"))
            if rng.random() < 0.2:
                plain = gen.perturbed_variant(rng, plain, max_places=50, axes=("m", "F"))
        else:
            plain = draws.layout(rng, 12, axes=("m", "F", "laneid"), swizzles=True)
        layout = built(plain)
        trivial, contiguous = laws.is_identity(plain), laws.is_consecutive(plain)
        assert layout.is_trivial() == trivial, (seed, layout)
        assert layout.is_contiguous() == contiguous, (seed, layout)
        tile = laws.is_identity(laws.affine(plain))
        assert layout.is_swizzle() == (plain.swizzle is not None and tile), (seed, layout)
        storage = {axis for _, _, axis in plain.shard if axis in laws.MEMORY}
        trainium = plain.swizzle is None and storage <= {"P", "F", "Bank"}
        assert layout.is_trainium() == trainium, (seed, layout)
        seen[f"{trivial} {contiguous}"] += 1
    assert len(seen) == 4
    assert min(seen.values()) > CASES // 40, seen


# ------------------------------------------------------------------------- recognisers


@shards
def test_copies_without_copies(shard):
    """X with X + part = whole, exactly where there is such a set."""
    seen: Counter[bool] = Counter()
    for seed, rng in cases(shard):
        axes = rng.choice((("m",), ("m", "laneid")))
        count = rng.choice((0, 1, 1, 2))
        part, rest = (
            tuple(
                (rng.choice((2, 2, 3)), rng.choice((1, 1, 2, 3, -1, -2, 4, 0)), rng.choice(axes))
                for _ in range(n)
            )
            for n in (count, rng.choice((0, 1, 2)))
        )
        whole = Plain((), (*part, *rest), draws.offset(rng, axes))
        part = Plain((), part, draws.offset(rng, axes))
        if rng.random() < 0.7:
            whole = plain_of(normal_form(built(whole)))
        while rng.random() < 0.6:
            whole = gen.perturbed_variant(rng, whole, max_places=40, axes=axes)
            whole = Plain((), whole.replica, whole.offset)
        wanted, taken = bf.places(whole, 0), bf.places(part, 0)
        if bf.width(whole, "m") > laws.FARTHEST or bf.width(whole, "laneid") > laws.FARTHEST:
            continue
        found = list(without(built(whole), built(part)))
        exists = any(True for _ in laws.set_quotients(wanted, taken))
        assert bool(found) == exists, (seed, whole, part, found)
        for iters, moved in found:
            x = plain_of(built(whole).rebuild((), iters, moved))
            sums = {laws.added(a, b) for a in taken for b in bf.places(x, 0)}
            assert sums == wanted, (seed, whole, part, x)
        seen[exists] += 1
    assert min(seen.values()) > CASES // 10, seen


def sum_of(rng, operation: str):
    """What the operation makes of two random layouts, and these."""
    inner, outer, outer_shape, inner_shape = pair(rng, swizzles=False)
    while not can_sum(inner, outer, inner_shape, outer_shape):
        inner, outer, outer_shape, inner_shape = pair(rng, swizzles=False)
    whole = getattr(built(inner), operation)(built(outer), outer_shape, inner_shape)
    return inner, outer, outer_shape, inner_shape, plain_of(whole)


def changed(rng, whole: Plain, shape) -> Plain:
    """The whole in another form, or another whole; one that can still be cut to the shape."""
    for _ in range(20):
        made = whole
        if rng.random() < 0.4:
            made = gen.equivalent_variant(rng, made, max_places=120, axes=draws.AXES)
        if rng.random() < 0.8:
            made = gen.perturbed_variant(rng, made, max_places=120, axes=draws.AXES)
        made = gen.strip(made, True, False)
        if laws.can_group(plain_of(built(made).canonicalize()), shape):
            return made
    return whole


def interleaved(one, other):
    return [size for both in zip(one, other, strict=True) for size in both]


RECOGNISERS = {
    # the operation, which layout is given, the call, whether there is an answer at all
    "is_tile_inner": (
        "tile",
        lambda inner, outer, whole, o, n, **kw: inner.is_tile_inner(
            whole, product_of(o, n), n, **kw
        ),
        lambda inner, outer, whole, o, n: laws.outer_exists(inner, whole, o, n),
    ),
    "is_tile_outer": (
        "tile",
        lambda inner, outer, whole, o, n, **kw: outer.is_tile_outer(
            whole, product_of(o, n), o, **kw
        ),
        lambda inner, outer, whole, o, n: laws.inner_exists(outer, whole, o, n),
    ),
    "is_direct_sum_right": (
        "direct_sum",
        lambda right, left, whole, o, n, **kw: right.is_direct_sum_right(
            whole, interleaved(o, n), n, **kw
        ),
        lambda right, left, whole, o, n: laws.left_exists(right, whole, o, n),
    ),
    "is_direct_sum_left": (
        "direct_sum",
        lambda right, left, whole, o, n, **kw: left.is_direct_sum_left(
            whole, interleaved(o, n), o, **kw
        ),
        lambda right, left, whole, o, n: laws.right_exists(left, whole, o, n),
    ),
}


def product_of(one, other):
    return [a * b for a, b in zip(one, other, strict=True)]


@shards
@pytest.mark.parametrize("name", RECOGNISERS)
def test_recognisers(name, shard):
    """What they find gives back the whole; what an operation made they find; where they find
    nothing, nothing is there."""
    operation, recognise, exists = RECOGNISERS[name]
    law = laws.tiled if operation == "tile" else laws.direct_sum
    of_slow = name in ("is_tile_inner", "is_direct_sum_right")
    seen: Counter[str] = Counter()
    for seed, rng in cases(shard):
        inner, outer, o, n, whole = sum_of(rng, operation)
        own = rng.random() < 0.5
        if not own:
            whole = changed(rng, whole, interleaved(o, n))
        where = (seed, inner, outer, o, n, whole)
        found = recognise(built(inner), built(outer), built(whole), o, n)
        if found is None:
            assert not own, where
            assert not exists(inner, outer, bf.table(whole), o, n), where
            seen["none"] += 1
            continue
        x = plain_of(found)
        again = law(inner, x, o, n) if of_slow else law(x, outer, o, n)
        assert again == bf.table(whole), (*where, found)
        seen["own" if own else "of another form"] += 1
    assert min(seen.values()) > CASES // 20, seen


@half_as_many
@pytest.mark.parametrize("name", RECOGNISERS)
def test_recognisers_for_a_target(name, shard):
    """On fused axes too: what they find is lawful, and what an operation made they find."""
    operation, recognise, _ = RECOGNISERS[name]
    of_slow = name in ("is_tile_inner", "is_direct_sum_right")
    split = 0
    for seed, rng in cases(shard):
        axes = rng.choice(draws.FUSING)
        o, n = (draws.small_shape(rng, 6, rank) for rank in [rng.choice((1, 2))] * 2)
        outer, inner = (draws.iters_for(rng, s, axes) for s in (o, n))
        try:
            whole = getattr(built(inner), operation)(built(outer), o, n, target="cuda")
        except ScopeError:
            continue
        found = recognise(built(inner), built(outer), whole, o, n, target="cuda")
        assert found is not None, (seed, inner, outer, o, n, whole)
        x = (built(inner), found) if of_slow else (found, built(outer))
        again = getattr(x[0], operation)(x[1], o, n, target="cuda")
        assert table(again) == table(whole), (seed, inner, outer, o, n, whole, found)
        given = inner if of_slow else outer
        split += not set(bf.axes(given)) & set(laws.COUNTS) <= set(bf.axes(plain_of(whole)))
    assert split > CASES // 20


@half_as_many
@pytest.mark.parametrize("name", RECOGNISERS)
def test_recognisers_under_a_swizzle(name, shard):
    """One swizzle on both, and the tiles stand so; the found inner layout is swizzled as well."""
    operation, recognise, _ = RECOGNISERS[name]
    law = laws.tiled if operation == "tile" else laws.direct_sum
    of_slow = name in ("is_tile_inner", "is_direct_sum_right")
    for seed, rng in cases(shard):
        inner, outer, o, n, whole = sum_of(rng, operation)
        swizzle = draws.swizzle(rng)
        whole = replace(whole, swizzle=swizzle)
        given = replace(inner, swizzle=swizzle), outer
        if name == "is_direct_sum_left":
            given = inner, replace(outer, swizzle=swizzle)
        stands = laws.stands_for(whole, product_of(o, n))
        if stands != whole or laws.stands_for(given[0], n) != given[0]:
            continue  # a bare swizzle stands for other sizes than its own
        if laws.stands_for(given[1], o) != given[1]:
            continue
        found = recognise(built(given[0]), built(given[1]), built(whole), o, n)
        where = (seed, given, o, n, whole, found)
        assert found is not None, where
        x = plain_of(found)
        assert (x.swizzle == swizzle) == (name == "is_tile_outer"), where
        again = law(inner, x, o, n) if of_slow else law(laws.affine(x), outer, o, n)
        assert laws.at_swizzled(again, swizzle) == bf.table(whole), where
        other = built(replace(whole, swizzle=(swizzle[0] + 1, *swizzle[1:])))
        if name != "is_tile_outer":
            assert recognise(built(given[0]), built(given[1]), other, o, n) is None
            assert recognise(built(given[0]), built(given[1]), other.tile_layout, o, n) is None
    whole = built(Plain(((4, 1, "m"),), (), (), (0, 1, 1, True)))
    assert whole.is_tile_outer(whole, (4,), (1,), target="cuda") is None
