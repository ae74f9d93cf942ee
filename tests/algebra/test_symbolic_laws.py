"""The laws with symbolic sizes: what an operation gives for Dims is, at every point, what the law
gives for the numbers there.  At least 500 cases for each operation.

An operation may decline what it cannot know for all values; every test says how often it must not.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pytest

from layout_algebra import TileLayout, m
from layout_algebra.algebra.group import GroupError
from layout_algebra.arithmetic.integers import values_of
from layout_algebra.errors import CoordinateError, LayoutError
from layout_algebra.tracing import term_of
from tests import bruteforce as bf
from tests.algebra import draws, laws
from tests.algebra.draws import DIMS, numbers, plain_at, points, sizes
from tests.bruteforce import Plain
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


#: What the table is, of the layouts' plain data at a point; None where the point does not count.
Law = Callable[..., laws.Table | None]


def assert_everywhere(found, layouts: Sequence[SymLayout], law: Law, where: object) -> int:
    """Compares at every point that is small enough; the number of points."""
    count = 0
    for point in points(*layouts):
        wanted = law(*(plain_at(layout, point) for layout in layouts), point)
        if wanted is not None:
            assert table_at(found, point) == wanted, (where, point, found)
            count += 1
    return count


def the_same(plain: Plain, _point: Point) -> laws.Table:
    return bf.table(plain)


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
        seen["points"] += assert_everywhere(form, [case.layout], the_same, seed)
        assert getattr(form, operation)() == form
        seen["changed"] += len(form.shard) < len(layout.shard)
    assert seen["points"] > 2 * ENOUGH
    assert seen["changed"] > CASES // 4


def test_canonicalize_for_a_target_and_fuse():
    seen: Counter[str] = Counter()
    for seed, rng in cases(800):
        case = draws.symbolic(rng, axes=rng.choice(draws.FUSING))
        layout = case.layout.built(DIMS)
        whole = skeleton(case.layout)
        for operation, kept in (("fuse", whole), ("canonicalize", laws.reduced(whole))):
            run = partial(getattr(layout, operation), target="cuda")
            pair = laws.scope(kept)
            if pair == laws.ILL_FORMED:
                with pytest.raises(LayoutError):
                    run()
                continue

            def law(plain, _point, pair=pair):
                return laws.fused(plain, pair)

            assert_everywhere(run(), [case.layout], law, (seed, operation))
            seen[operation] += 1
            seen["fused"] += run() != layout
    assert min(seen.values()) > ENOUGH, seen


def skeleton(layout: SymLayout) -> Plain:
    """Which axes there are, and what is a unit or no offset for all values of the Dims."""
    shard, replica = (
        tuple((1 if it.extent == "1" else 2, 1, it.axis) for it in part)
        for part in (layout.shard, layout.replica)
    )
    return Plain(shard, replica, tuple((a, 0 if v == "0" else 1) for a, v in layout.offset))


def test_split():
    """tx taken apart where all that is known of the Dims says so."""
    found = 0
    for seed, rng in cases():
        axis, level = rng.choice(list(laws.FALLS_APART))
        *_, size = laws.FALLS_APART[axis, level]
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

        def law(plain, _point, level=level):
            return [
                frozenset(laws.split_place(p, level) for p in places) for places in bf.table(plain)
            ]

        assert_everywhere(parts, [made], law, seed)
    assert found > ENOUGH, found


# ----------------------------------------------------------------------------- cutting


PIECES = {"M": ["M//4", "4"], "K": ["K//2", "2"], "4": ["2", "2"]}


def whole_or_cut(rng: random.Random, case: draws.Symbolic) -> tuple[str, ...]:
    """The shape that a layout was made for, or another that its iters can be cut to."""
    kind = rng.random()
    if kind < 0.4:
        return case.shape
    shape: list[str] = []
    for it in case.layout.shard:
        pieces = [it.extent]
        if rng.random() < 0.4:
            pieces = {"M": ["M//4", "4"], "K": ["K//2", "2"], "4": ["2", "2"]}.get(
                it.extent, pieces
            )
        for piece in pieces:
            if shape and rng.random() < 0.5:
                shape[-1] = times(shape[-1], piece)
            else:
                shape.append(piece)
    return tuple(shape)


def test_group():
    found = 0
    for seed, rng in cases():
        case = draws.symbolic(rng)
        shape = whole_or_cut(rng, case)
        layout = case.layout.built(DIMS)
        cut, seps = layout.group(sizes(shape))
        assert_everywhere(cut, [case.layout], the_same, (seed, layout))
        assert_groups(cut, seps, shape, (seed, layout))
        found += 1
    assert found > ENOUGH


def assert_groups(cut, seps, shape, where):
    assert (seps[0], seps[-1]) == (0, len(cut.shard)), where
    assert len(seps) == len(shape) + 1
    for d, text in enumerate(shape):
        size = 1
        for extent in cut.extents[seps[d] : seps[d + 1]]:
            size = size * extent
        assert size == number(text, DIMS), where


def test_group_many():
    found = 0
    for seed, rng in cases():
        case = draws.symbolic(rng)
        shapes = [whole_or_cut(rng, case) for _ in range(2)]
        layout = case.layout.built(DIMS)
        try:
            cut, every = layout.group_many([sizes(shape) for shape in shapes])
        except GroupError:
            continue
        found += 1
        assert_everywhere(cut, [case.layout], the_same, (seed, layout))
        for seps, shape in zip(every, shapes, strict=True):
            assert_groups(cut, seps, shape, (seed, layout))
    assert found > ENOUGH, found


@pytest.mark.parametrize(
    ("extent", "stride", "shape"),
    [
        ("N", "1", ("2", "N")),
        ("N", "1", ("N//2", "2")),
        ("M", "1", ("M//8", "8")),
        ("N", "1", ("K",)),
    ],
)
def test_what_is_not_known_is_not_cut(extent, stride, shape):
    layout = SymLayout((SymIter((extent,), stride, "m"),)).built(DIMS)
    with pytest.raises(GroupError):
        layout.group(sizes(shape))


def test_apply_to_shape():
    """At numbers and at Dims; what becomes of them is looked at afterwards."""
    found = 0
    for seed, rng in cases(900):
        case = draws.symbolic(rng)
        layout = case.layout.built(DIMS)
        coordinate = [rng.choice(("0", "0", "1", "J", f"{text} - 1")) for text in case.shape]
        try:
            digits = layout.apply_to_shape(sizes(coordinate), sizes(case.shape))
        except CoordinateError:  # it may be outside
            continue
        cut, seps = layout.group(sizes(case.shape))
        found += 1
        for point in points(case.layout):
            concrete = cut.evaluated(**point)
            values = [value_of(digit, point) for digit in digits]
            wanted_ones, size = numbers(coordinate, point), numbers(case.shape, point)
            if any(wanted >= n for wanted, n in zip(wanted_ones, size, strict=True)):
                continue  # the caller vouches for symbolic coordinates
            for d, wanted in enumerate(wanted_ones):
                part = slice(seps[d], seps[d + 1])
                assert laws.flat(values[part], concrete.extents[part]) == wanted, (seed, layout)
    assert found > ENOUGH, found


def value_of(digit, point: Point) -> int:
    return values_of([term_of(digit)], {}, point)[0]


# ------------------------------------------------------------------------------- sums


def pair(rng: random.Random):
    """An inner and an outer layout for shapes of one rank."""
    rank = rng.choice((1, 1, 2))
    axes = rng.choice((("m",), ("m", "laneid"), ("m", "laneid", "warpid")))
    small = (("N",), ("2",), ("3",), ("M//4",), ("1",), ("K//2", "2"), ("M",))
    outer = draws.symbolic(rng, axes=axes, shape=[rng.choice(small) for _ in range(rank)])
    inner = draws.symbolic(rng, axes=axes, shape=[rng.choice(small) for _ in range(rank)])
    return inner, outer


def unless_not_known(run):
    """The result; None when it is an error that a span is not known, or a bare swizzle's size."""
    try:
        return run()
    except LayoutError as error:
        if any(words in str(error) for words in ("sign", "may be negative", "bare")):
            return None
        raise


@pytest.mark.parametrize("operation", ["tile", "direct_sum"])
def test_tile_and_direct_sum(operation):
    seen: Counter[str] = Counter()
    law = laws.tiled if operation == "tile" else laws.direct_sum
    for seed, rng in cases(1000):
        inner, outer = pair(rng)
        one = inner.layout
        if rng.random() < 0.2:
            one = replace(one, swizzle=draws.swizzle(rng))
        layouts = one.built(DIMS), outer.layout.built(DIMS)
        found = unless_not_known(
            partial(getattr(layouts[0], operation), layouts[1], outer.sizes(), inner.sizes())
        )
        if found is None:
            seen["declined"] += 1
            continue

        def wanted(tile, over, point, one=one, shapes=(outer.shape, inner.shape)):
            if operation == "tile" and not same_axes(one, tile):
                return None
            return law(tile, over, *(numbers(shape, point) for shape in shapes))

        assert_everywhere(found, [one, outer.layout], wanted, (seed, layouts))
        seen["found"] += 1
    assert seen["found"] > ENOUGH, seen


def same_axes(layout: SymLayout, at: Plain) -> bool:
    """Whether no iter is a unit at a point only: the scaled axes are those of the Dims' layout."""
    return laws.scaled_axes(skeleton(layout)) == laws.scaled_axes(at)


def test_tile_to():
    found = 0
    for seed, rng in cases(900):
        inner, outer = pair(rng)
        layout = inner.layout.built(DIMS)
        to_shape = [times(o, n) for o, n in zip(outer.shape, inner.shape, strict=True)]
        made = unless_not_known(partial(layout.tile_to, sizes(to_shape), inner.sizes()))
        if made is None:
            continue

        def law(own, _outer, point, inner=inner, outer=outer):
            over = numbers(outer.shape, point)
            if not same_axes(inner.layout, own):
                return None
            return laws.tiled(own, laws.row_major(over), over, numbers(inner.shape, point))

        assert_everywhere(made, [inner.layout, outer.layout], law, (seed, layout))
        found += 1
    assert found > ENOUGH, found


RECOGNISERS = {
    "is_tile_inner": ("tile", "inner"),
    "is_tile_outer": ("tile", "outer"),
    "is_direct_sum_right": ("direct_sum", "inner"),
    "is_direct_sum_left": ("direct_sum", "outer"),
}


@pytest.mark.parametrize("name", RECOGNISERS)
def test_recognisers(name):
    """What an operation made of Dims is found again; what is found makes the whole everywhere."""
    operation, known = RECOGNISERS[name]
    seen: Counter[str] = Counter()
    for seed, rng in cases(1100):
        inner, outer = pair(rng)
        one, other = inner.layout.built(DIMS), outer.layout.built(DIMS)
        o, n = outer.sizes(), inner.sizes()
        whole = unless_not_known(partial(getattr(one, operation), other, o, n))
        if whole is None:
            continue
        own = rng.random() < 0.7
        if not own:
            whole = slightly_changed(rng, whole)
        shape = [a * b for a, b in zip(o, n, strict=True)]
        if operation == "direct_sum":
            shape = [size for both in zip(o, n, strict=True) for size in both]
        given, sizes_given = (one, n) if known == "inner" else (other, o)
        found = unless_not_known(partial(getattr(given, name), whole, shape, sizes_given))
        if found is None:
            seen["missed" if own else "none"] += 1
            continue
        seen["own" if own else "of another form"] += 1
        pieces = (one, found) if known == "inner" else (found, other)
        again = getattr(pieces[0], operation)(pieces[1], o, n)
        for point in points(inner.layout, outer.layout):
            assert table_at(again, point) == table_at(whole, point), (seed, given, whole, found)
            if operation == "direct_sum":
                right, left = (plain_of(piece.evaluated(**point)) for piece in pieces)
                shapes = numbers(outer.shape, point), numbers(inner.shape, point)
                wanted = laws.direct_sum(right, left, *shapes)
                assert wanted == table_at(whole, point), (seed, given, whole, found)
    assert seen["own"] > ENOUGH, seen
    assert seen["missed"] == 0, seen


def slightly_changed(rng: random.Random, whole):
    if not whole.shard or rng.random() < 0.3:
        return type(whole).from_iters(whole.shard, whole.replica, {**whole.offset, m: 1})
    k = rng.randrange(len(whole.shard))
    extent, stride, axis = whole.shard[k]
    iters = [*whole.shard]
    iters[k] = (extent, stride + rng.choice((1, DIMS["N"], DIMS["J"])), axis)
    return type(whole).from_iters(iters, whole.replica, whole.offset)


# ------------------------------------------------------------------------------- parts

#: Regions of a dimension of some size, as text.
REGIONS = {
    "M": (
        *(("0", "M"), ("J", "J + 2"), ("4", "M"), ("0", "4"), ("0", "M//2"), ("M//4", "M//2")),
        *(("4*J", "4*J + 4"), ("4*J + 1", "4*J + 3"), ("2*J", "2*J + 2"), ("2*J + 1", "2*J + 2")),
    ),
    "N": (("0", "N"), ("0", "1"), ("N - 1", "N"), ("J", "N")),
    "K": (("0", "K"), ("K//2", "K"), ("2", "K"), ("0", "2"), ("J", "J + 1"), ("2*J", "2*J + 1")),
    "2": (("0", "2"), ("1", "2")),
    "3": (("0", "3"), ("1", "3"), ("1", "2")),
    "1": (("0", "1"),),
}


CUTS = {
    "M": (("M",), ("M//4", "4"), ("M//2", "2"), ("M//4", "2", "2")),
    "K": (("K",), ("K//2", "2")),
}


def test_slice():
    """With regions that are whole blocks, parts of one block, or of one iter; J is an index."""
    seen: Counter[str] = Counter()
    for seed, rng in cases(1200):
        case = draws.symbolic(rng)
        names = [rng.choice(("M", "N", "K", "2", "3", "1")) for _ in range(rng.choice((1, 2)))]
        shape = [rng.choice(CUTS.get(name, ((name,),))) for name in names]
        case = draws.symbolic(rng, shape=shape)
        region = [rng.choice(REGIONS[name]) for name in names]
        layout = case.layout.built(DIMS)
        pairs = [(number(a, DIMS), number(b, DIMS)) for a, b in region]
        found = layout.slice(sizes(names), pairs)
        if found is None:
            assert layout.why_no_slice(sizes(names), pairs)
            seen["none"] += 1
            continue
        seen["found"] += 1

        def law(plain, point, names=names, region=region):
            size = numbers(names, point)
            box = [(number(a, point), number(b, point)) for a, b in region]
            if any(not 0 <= a < b <= n for (a, b), n in zip(box, size, strict=True)):
                return None  # the caller vouches for its region
            return laws.restricted(bf.table(plain), size, box)

        seen["points"] += assert_everywhere(found, [case.layout], law, (seed, layout, region))
    assert seen["found"] > ENOUGH, seen
    assert seen["points"] > 2 * ENOUGH, seen


def test_regions_whose_blocks_are_known():
    M, J = DIMS["M"], DIMS["J"]
    layout = TileLayout.from_iters([(M // 4, 10, "m"), (4, 1, "m")])
    inside = layout.slice((M,), [(4 * J + 1, 4 * J + 3)])
    assert inside == TileLayout.from_iters([(2, 1, "m")], (), {"m": 10 * J + 1})
    whole = layout.slice((M,), [(4 * J, 4 * J + 8)])
    assert whole == TileLayout.from_iters([(2, 10, "m"), (4, 1, "m")], (), {"m": 10 * J})
    assert layout.slice((M,), [(4 * J + 1, 4 * J + 9)]) is None
    assert layout.slice((M,), [(J, J + 2)]) is None
    assert "not known" in layout.why_no_slice((M,), [(J, J + 2)])


def test_extents_are_known_to_be_positive():
    """A Dim may be 0, but not where it is an extent."""
    K = DIMS["K"]
    layout = TileLayout.from_iters([(2, K + 5, "m"), (K, 1, "m")])
    assert layout.slice((2 * K,), [(0, 1)]) == TileLayout.from_iters([(1, 1, "m")])
    assert layout.slice((2 * K,), [(0, 2)]) == TileLayout.from_iters([(2, 1, "m")])  # K is even
    assert layout.slice((2 * K,), [(0, 3)]) is None


# ------------------------------------------------------------------------------- edits


def test_permute_dims_and_by_groups():
    for seed, rng in cases():
        case = draws.symbolic(rng, rank=rng.choice((1, 2, 3)))
        layout = case.layout.built(DIMS)
        count = len(layout.shard)
        perm = rng.sample(range(count), count)
        assert_everywhere(
            layout.permute_dims(perm),
            [case.layout],
            lambda plain, _, perm=perm: laws.permuted(plain, perm),
            seed,
        )
        middle = rng.randint(0, count)
        order = [*range(middle, count), *range(middle)]
        assert_everywhere(
            layout.permute_by_groups((0, middle, count), (1, 0)),
            [case.layout],
            lambda plain, _, order=order: laws.permuted(plain, order),
            seed,
        )


def test_unpack_and_pack():
    for seed, rng in cases():
        case = draws.symbolic(rng)
        layout = case.layout.built(DIMS)
        text, axis = rng.choice(("2", "3", "N", "M//4", "K")), rng.choice(("m", "TCol"))
        num = number(text, DIMS)
        wide = layout.unpack(num, axis)

        def law(plain, point, text=text, axis=axis):
            return laws.unpacked(bf.table(plain), number(text, point), axis)

        assert_everywhere(wide, [case.layout], law, (seed, layout))
        back = wide.pack(num, axis)
        assert_everywhere(back, [case.layout], the_same, (seed, layout))


def test_pack_what_is_known_to_be_whole():
    M, N = DIMS["M"], DIMS["N"]
    made = TileLayout.from_iters
    packed = made([(N, M, "m"), (M, 1, "m")]).pack(4)
    assert packed == made([(N, M // 4, "m"), (M // 4, 1, "m")])
    for shard in ([(N, M, "m"), (N, 1, "m")], [(N, N, "m"), (M, 1, "m")], [(M, N, "m")]):
        with pytest.raises(LayoutError):
            made(shard).pack(4)


def test_broadcast_and_storage():
    for seed, rng in cases():
        case = draws.symbolic(rng)
        layout = case.layout.built(DIMS)
        text, position = rng.choice(("2", "N", "K")), rng.randint(0, len(layout.shard))

        def law(plain, point, text=text, position=position):
            extents = [extent for extent, _, _ in plain.shard]
            return laws.broadcast(bf.table(plain), extents, number(text, point), position)

        wide = layout.broadcast(number(text, DIMS), position)
        assert_everywhere(wide, [case.layout], law, (seed, layout))
        assert_everywhere(
            layout.storage(), [case.layout], lambda plain, _: laws.stored(plain), (seed, layout)
        )


# --------------------------------------------------------------------------- questions


def test_questions():
    """A yes holds everywhere; the scope is that of the axes."""
    seen: Counter[str] = Counter()
    for _, rng in cases(900):
        kind = rng.random()
        if kind < 0.5:
            case = draws.symbolic(rng, axes=("m",), replicas=False, signs=False)
        else:
            case = draws.symbolic(rng, axes=rng.sample(draws.ALL_AXES, 2))
        layout = case.layout.built(DIMS)
        wanted = laws.scope(skeleton(case.layout))
        assert layout.check_well_formed() == (wanted != laws.ILL_FORMED)
        if wanted == laws.ILL_FORMED:
            continue
        assert layout.get_scope() == wanted
        seen["scope"] += 1
        trivial, contiguous = layout.is_trivial(), layout.is_contiguous()
        seen["trivial"] += trivial
        seen["contiguous"] += contiguous
        for point in points(case.layout):
            plain = plain_at(case.layout, point)
            if trivial:
                own = bf.table(plain)
                axes = {a for _, _, a in plain.shard}
                assert any(own == bf.table(laws.row_major([len(own)], a)) for a in axes)
            assert not contiguous or laws.is_consecutive(plain)
    assert seen["scope"] > ENOUGH
    assert min(seen.values()) > 50, seen
