"""Inverses against enumeration: what every result does at every place of its box and beyond.

The enumeration is that of tests/bruteforce.py.  A result is asked as a user would ask it, place by
place; only the arithmetic of its terms is done for many places at once.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from layout_algebra import (
    ComposeLayout,
    Dim,
    LeftInverse,
    Map,
    R,
    S,
    TileLayout,
    Verdict,
    laneid,
    parse,
    prove,
    warpid,
)
from layout_algebra.algebra.deciding import Structurally
from layout_algebra.algebra.extract import extract
from layout_algebra.arithmetic import arrays
from layout_algebra.axes import m
from layout_algebra.claims import as_map
from layout_algebra.dims import Size, positive_symbols
from layout_algebra.errors import LayoutError
from layout_algebra.inverting import (
    FiniteInverse,
    NotInjectiveError,
    element_at,
    elements_at,
    inverse,
    left_inverse,
    pseudo_inverse,
    right_inverse,
)
from layout_algebra.prover.inverse_laws import INVERSE_LAWS
from layout_algebra.prover.rules import facts_about
from layout_algebra.prover.rules.inversions import recombining
from layout_algebra.terms import linear, var
from layout_algebra.values import Iter
from tests import bruteforce as bf
from tests.bruteforce import Plain
from tests.building import built, plain_of
from tests.generators import random_layout

CASES = Path(__file__).parent.parent / "data" / "cases"
#: Layouts in all, in chunks of this many.
LAYOUTS, CHUNK = 20_000, 2_500
OPERATIONS = {
    "inverse": inverse,
    "left_inverse": left_inverse,
    "right_inverse": right_inverse,
    "pseudo_inverse": pseudo_inverse,
}


# -- what is drawn -----------------------------------------------------------------------------
def orderly(rng: random.Random) -> Plain:
    """Each stride beyond the reach of the smaller ones, in any order, both signs, some copies."""
    axes = rng.choice((["m"], ["laneid"], ["m", "laneid"]))
    extents = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
    reach = dict.fromkeys(axes, 0)
    iters = []
    for extent in extents:
        axis = rng.choice(axes)
        stride = reach[axis] + 1 + rng.choice((0, 0, 0, 1, 2))
        if rng.random() < 0.3:
            stride = 2 * stride
        reach[axis] += stride * (extent - 1)
        iters.append((extent, stride * rng.choice((1, 1, 1, -1)), axis))
    rng.shuffle(iters)
    cut = rng.choice((0, 0, 0, 1))
    offset = {axes[0]: rng.randint(-4, 9)} if rng.random() < 0.3 else {}
    return Plain(tuple(iters[cut:]), tuple(iters[:cut]), offset)


def irregular(rng: random.Random) -> Plain:
    """Strides that share factors or none, on one axis: residues, blocks and look-ups."""
    common = rng.choice((1, 1, 2, 3))
    iters = [
        (rng.randint(2, 3), common * rng.randint(1, 14), "m") for _ in range(rng.randint(2, 3))
    ]
    if rng.random() < 0.4:
        iters.append((2, rng.randint(40, 60), "m"))
    cut = rng.choice((0, 0, 0, 1))
    return Plain(tuple(iters[cut:]), tuple(iters[:cut]), {})


def swizzled(rng: random.Random) -> Plain:
    """Bits in some order under a swizzle, most often of whole periods, some times three of them."""
    bits = list(range(rng.randint(2, 5)))
    if rng.random() < 0.5:
        rng.shuffle(bits)
    iters = [(2, 1 << bit, "m") for bit in bits]
    if rng.random() < 0.3:
        iters.insert(rng.randrange(len(iters) + 1), (3, 1 << len(bits), "m"))
    b = rng.randint(1, 2)
    swizzle = (rng.randint(0, 1), b, rng.randint(b, 3), rng.random() < 0.5)
    return Plain(tuple(iters), (), {"m": rng.choice((0, 0, 0, 8, 5))}, swizzle)


def drawn(rng: random.Random) -> Plain:
    kind = rng.random()
    if kind < 0.4:
        return random_layout(rng, max_places=30)
    return orderly(rng) if kind < 0.7 else irregular(rng) if kind < 0.85 else swizzled(rng)


# -- enumeration -------------------------------------------------------------------------------
def owners(plain: Plain) -> dict[bf.Place, list[int]]:
    """Every place with its elements, in order."""
    found: dict[bf.Place, list[int]] = {}
    for element in range(bf.size(plain)):
        for place in bf.places(plain, element):
            found.setdefault(place, []).append(element)
    return found


def looked_at(rng: random.Random, plain: Plain, owned, margin: int) -> list[bf.Place]:
    """All places of the box around a layout, or a sample of them with every place that is used."""
    box = {axis: (low - margin, high + margin) for axis, (low, high) in box_of(plain).items()}
    if math.prod(high - low for low, high in box.values()) <= 150:
        return list(bf.box_places(box))
    drawn = ({a: rng.randrange(*ends) for a, ends in box.items()} for _ in range(40))
    return [*owned, *(bf.make_place(one) for one in drawn)]


def box_of(plain: Plain) -> dict[str, tuple[int, int]]:
    axes = bf.axes(plain) if plain.swizzle is None else sorted({*bf.axes(plain), "m"})
    used = bf.all_places(plain)
    values = {axis: [bf.at(place, axis) for place in used] for axis in axes}
    return {axis: (min(some), max(some) + 1) for axis, some in values.items()}


def answers(result, axes, places) -> list[int | None]:
    """What an inverse says of each place; None outside its domain."""
    if isinstance(result, FiniteInverse):
        return [result.element_at(dict(place)) for place in places]
    if not isinstance(result, Map):
        plain = plain_of(result)
        index = [bf.at(place, axes[0]) if axes else 0 for place in places]
        size = bf.size(plain)
        return [bf.address(plain, i) if 0 <= i < size else None for i in index]
    columns, inside = {}, np.ones(len(places), dtype=bool)
    assert {variable.name for variable in result.coordinates} == set(axes)
    for variable in result.coordinates:
        column = np.array([bf.at(place, variable.name) for place in places], dtype=np.int64)
        inside &= (column >= variable.low) & (column <= variable.high)
        columns[variable] = np.clip(column, variable.low, variable.high)
    ((name, index),) = result.outputs
    assert name == "m"
    values, *checks = arrays.arrays_of([index, *(c.term for c in result.guard)], columns, {})
    for condition, value in zip(result.guard, checks, strict=True):
        inside &= condition.holds(value)
    values = np.broadcast_to(values, inside.shape)
    return [int(value) if ok else None for value, ok in zip(values, inside, strict=True)]


def domain(result, axes) -> list[bf.Place]:
    """Every place of a result's domain."""
    if isinstance(result, Map):
        return [
            bf.make_place({v.name: value for v, value in point.items()})
            for point in result.points()
        ]
    return [bf.make_place({axes[0]: y} if axes else {}) for y in range(math.prod(result.extents))]


def check_collision(plain: Plain, error: NotInjectiveError) -> None:
    one, two = error.elements
    place = bf.make_place(error.place)
    assert one != two
    assert place in bf.places(plain, one) & bf.places(plain, two)
    assert f"elements {one} and {two} " in str(error)


# -- 20,000 layouts ----------------------------------------------------------------------------
@pytest.mark.parametrize("chunk", range(LAYOUTS // CHUNK))
def test_random_layouts(chunk):
    rng = random.Random(f"inverses {chunk}")
    kinds: Counter[str] = Counter()
    for _ in range(CHUNK):
        plain = drawn(rng)
        layout = built(plain)
        axes = [axis.name for axis in layout.axes]
        owned = owners(plain)
        kinds[check_inverse(rng, plain, layout, axes, owned)] += 1
        check_pseudo(rng, plain, layout, axes, owned)
        check_right(plain, layout, axes, owned)
        check_elements(rng, plain, layout, axes, owned)
    for kind in ("refused", "TileLayout", "ComposeLayout", "Map"):
        assert kinds[kind] > CHUNK // 200, kinds


def check_inverse(rng, plain, layout, axes, owned) -> str:
    """inverse and left_inverse of one layout; what kind of answer it was."""
    collides = any(len(elements) > 1 for elements in owned.values())
    try:
        found = inverse(layout)
    except NotInjectiveError as error:
        assert collides, plain
        check_collision(plain, error)
        with pytest.raises(NotInjectiveError):
            left_inverse(layout)
        return "refused"
    assert not collides, plain
    around = looked_at(rng, plain, owned, 2)
    expected = [owned[place][0] if place in owned else None for place in around]
    assert answers(found, axes, around) == expected, (plain, found)
    full = {bf.make_place({axes[0]: y}) for y in range(len(owned))} if len(axes) == 1 else None
    if set(owned) == full and not plain.replica:
        check_form(axes, owned, found)
    check_left(rng, plain, layout, axes, owned)
    return type(found).__name__


def check_form(axes, owned, found) -> None:
    """The image is 0..n-1: a layout wherever there is one."""
    tile = extract(lambda y: {m: owned[bf.make_place({axes[0]: y})][0]}, len(owned))
    if tile is not None:
        assert isinstance(found, TileLayout), (tile, found)


def check_left(rng, plain, layout, axes, owned) -> None:
    found = left_inverse(layout)
    inside = looked_at(rng, plain, owned, 0)
    for place, element in zip(inside, answers(found, axes, inside), strict=True):
        assert element in range(bf.size(plain)), (plain, found, place)
        assert place not in owned or element == owned[place][0], (plain, found, place)


def check_pseudo(rng, plain, layout, axes, owned) -> None:
    """Every place to its least element; refused where elements meet without a stride of 0."""
    moving = Plain(
        tuple((e if s else 1, s, a) for e, s, a in plain.shard),
        plain.replica,
        plain.offset,
        plain.swizzle,
    )
    meet = any(len(elements) > 1 for elements in owners(moving).values())
    try:
        found = pseudo_inverse(layout)
    except NotInjectiveError as error:
        assert meet, plain
        check_collision(plain, error)
        return
    assert not meet, plain
    around = looked_at(rng, plain, owned, 1)
    expected = [owned[place][0] if place in owned else None for place in around]
    assert answers(found, axes, around) == expected, (plain, found)


def check_right(plain, layout, axes, owned) -> None:
    found = right_inverse(layout)
    places = domain(found, axes)
    assert places
    for place, element in zip(places, answers(found, axes, places), strict=True):
        assert element in owned[place], (plain, found, place)
    if plain.swizzle is None and not plain.replica:  # copies are joined first, which moves strides
        assert len(places) == math.prod(compact_reach(plain, axis) for axis in axes), plain


def compact_reach(plain: Plain, axis: str, reached: int = 1) -> int:
    """How far strides that continue each other reach, by trying all orders."""
    longer = [
        e for e, s, a in {*plain.shard, *plain.replica} if a == axis and abs(s) == reached and e > 1
    ]
    return max((compact_reach(plain, axis, reached * e) for e in longer), default=reached)


def check_elements(rng, plain, layout, axes, owned) -> None:
    for place in rng.sample(sorted(owned), min(3, len(owned))):
        assert element_at(layout, dict(place)) == owned[place][0]
        assert elements_at(layout, dict(place)) == tuple(owned[place])
    place = bf.make_place({axis: rng.randint(-5, 40) for axis in axes})
    assert element_at(layout, dict(place)) == owned.get(place, [None])[0]


# -- laws, proven ------------------------------------------------------------------------------
def test_laws_are_proven():
    rng = random.Random("laws of inverses")
    proven: Counter[str] = Counter()
    for _ in range(120):
        layout = built(drawn(rng))
        for name, operation in OPERATIONS.items():
            try:
                result = operation(layout)
            except NotInjectiveError:
                continue
            claim = INVERSE_LAWS[name](result, {"layout": layout})
            if claim is not None:
                assert prove(claim).verdict is Verdict.PROVED, (layout, name, result)
                proven[name] += 1
    assert min(proven[name] for name in OPERATIONS) > 30


def test_wrong_inverses_are_refuted():
    layout = TileLayout(S[(4, 8) : (1, 4)])
    for name in ("inverse", "left_inverse", "right_inverse"):
        claim = INVERSE_LAWS[name](layout, {"layout": layout})
        assert claim is not None
        assert prove(claim).verdict is Verdict.REFUTED
    wrong = Map.of(lambda m: m % 3, {"m": 4})
    claim = INVERSE_LAWS["pseudo_inverse"](wrong, {"layout": TileLayout(S[4:1])})
    assert claim is not None
    assert prove(claim).verdict is Verdict.REFUTED


def test_the_rule_for_inverses_proves_nothing_that_is_false():
    """Inverses with a condition taken away, a number changed, or of another layout."""
    rng = random.Random("wrong inverses")
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for _ in range(600):
        layout = built(orderly(rng))
        found = as_map(inverse(layout))
        wrong, moved = changed_map(rng, found), changed_layout(rng, layout)
        pairs = [(layout, wrong), (moved, found), (moved, wrong)]
        for one, other in [*pairs, *(pair[::-1] for pair in pairs)]:
            if as_map(other).replicas:
                continue
            claim = LeftInverse(one, other)
            outcome = recombining(claim, facts_about(claim))
            true = claim.counterexample() is None
            assert true or outcome is None, claim
            verdicts[true, outcome is not None] += 1
    assert verdicts[True, True] > 400
    assert verdicts[False, False] > 400


def changed_map(rng: random.Random, found: Map) -> Map:
    """A map with one condition less, another constant, or a longer range."""
    guard = list(found.guard)
    if guard and rng.random() < 0.5:
        guard.pop(rng.randrange(len(guard)))
        return Map(found.coordinates, found.outputs, (), tuple(guard))
    if rng.random() < 0.5:
        at = rng.randrange(len(found.coordinates))
        old = found.coordinates[at]
        longer = var(old.name, old.low - rng.randint(0, 1), old.high + rng.randint(0, 1))
        return found._rebuilt({old: longer})
    moved = [(axis, linear([(term, 1)], rng.randint(-1, 1))) for axis, term in found.outputs]
    return Map(found.coordinates, tuple(moved), (), found.guard)


def changed_layout(rng: random.Random, layout: TileLayout) -> TileLayout:
    """A layout with one stride or its place changed by a little."""
    shard = list(layout.shard)
    if shard and rng.random() < 0.7:
        at = rng.randrange(len(shard))
        extent, stride, axis = shard[at]
        shard[at] = Iter(extent, stride + rng.choice((-1, 0, 1, 2)), axis)
    offset = layout.offset
    axis = rng.choice(layout.axes or (m,))
    offset[axis] = offset.get(axis, 0) + rng.randint(-1, 1)
    return layout.rebuild(shard, layout.replica, offset)


def test_a_bounded_quotient_may_be_negative():
    """4*(y // 4) + y % 4 is y also below 0, where the layout has no element."""
    f = Map.of(lambda y: 4 * (y // 4) + y % 4, {"y": (-3, 8)}, where=lambda y: y // 4 <= 1)
    claim = LeftInverse(f, TileLayout(S[(2, 4) : (4, 1)]))
    assert claim.counterexample() is not None
    assert recombining(claim, facts_about(claim)) is None


# -- symbolic sizes ----------------------------------------------------------------------------
P, Q, bm, bn, pad = Dim("P"), Dim("Q"), Dim("bm"), Dim("bn"), Dim("pad")
SYMBOLIC = [
    TileLayout(S[(P, bm, Q, bn) : (bm * Q * bn, bn, bm * bn, 1)]),
    TileLayout(S[(P, bm, Q, bn) : (-bm * Q * bn, bn, bm * bn, 1)] + (P - 1) * bm * Q * bn),
    TileLayout(S[(P, bm) : (bm + pad, 1)] + 3),
    TileLayout(S[(P, bm, Q) : (Q @ laneid, 1, 1 @ laneid)] + R[bn : 2 @ warpid] + 1 @ warpid),
    TileLayout(S[(P, bm) : (bm * (pad + 1), 1)] + R[bn : P * bm * (pad + 1)]),
]


@pytest.mark.parametrize("layout", SYMBOLIC, ids=str)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_symbolic_sizes(layout, operation):
    """The closed form for all sizes is right at each."""
    rng = random.Random("symbolic inverses")
    found = operation(layout)
    for _ in range(6):
        names = {symbol.name for symbol in layout.symbols()}
        dims = {name: rng.randint(0 if name == "pad" else 1, 3) for name in sorted(names)}
        plain = plain_of(layout.evaluated(**dims))
        used = {s.name for s in found.symbols()}
        at = found.evaluated(**{name: dims[name] for name in used | names})
        axes = [axis.name for axis in layout.axes]
        owned = owners(plain)
        if operation is right_inverse:
            places = domain(at, axes)
            for place, element in zip(places, answers(at, axes, places), strict=True):
                assert element in owned[place]
            continue
        around = looked_at(rng, plain, owned, 0 if operation is left_inverse else 2)
        for place, element in zip(around, answers(at, axes, around), strict=True):
            if operation is left_inverse and place not in owned:
                continue
            assert element == owned.get(place, [None])[0], (dims, place)
    claim = INVERSE_LAWS[operation.__name__](found, {"layout": layout})
    assert claim is None or prove(claim).verdict is Verdict.PROVED


def test_the_tiled_matrix_has_a_layout_for_an_inverse():
    assert isinstance(inverse(SYMBOLIC[0]), TileLayout)
    assert isinstance(inverse(SYMBOLIC[1]), TileLayout)


def test_unknown_orders_are_refused():
    s, t = Dim("s", at_least=1), Dim("t", at_least=1)
    with pytest.raises(LayoutError, match="known to exceed"):
        inverse(TileLayout(S[(P, Q) : (s, t)]))
    with pytest.raises(LayoutError, match="stride 0"):
        inverse(TileLayout(S[(P, Q) : (0, 1)]))
    with pytest.raises(NotInjectiveError):
        inverse(TileLayout(S[(2, Q) : (0, 1)]))
    with pytest.raises(LayoutError, match="evaluate"):
        element_at(TileLayout(S[(P, Q) : (Q, 1)]), m=0)


@dataclass(frozen=True)
class Assuming(Structurally):
    """Decides by form, and by one size that is assumed to be at least 0."""

    assumed: Size = 0

    def at_least(self, size: Size, least: int) -> bool:
        return any(super(Assuming, self).at_least(s, least) for s in (size, size - self.assumed))


def test_what_is_assumed_of_sizes_is_used():
    rows, columns, ld = Dim("rows"), Dim("columns"), Dim("ld")
    padded = TileLayout(S[(rows, columns) : (ld, 1)])
    with pytest.raises(LayoutError, match="decide="):
        inverse(padded)
    positive = positive_symbols([rows, columns])
    for operation in (inverse, left_inverse):
        found = operation(padded, decide=Assuming(positive, ld - columns))
        claim = INVERSE_LAWS[operation.__name__](found, {"layout": padded})
        assert claim is not None
        assert prove(claim, given=[ld >= columns]).verdict is Verdict.PROVED


# -- forms -------------------------------------------------------------------------------------
def test_forms():
    assert inverse(parse("S[(4,8):(1,4)]")) == TileLayout(S[(8, 4) : (1, 8)])
    assert inverse(parse("S[(4,8):(-1,4)] + 3")) == TileLayout(S[(8, 4) : (1, -8)] + 24)
    assert inverse(parse("S[(4,8):(1@laneid,4@laneid)]")) == TileLayout(S[(8, 4) : (1, 8)])
    assert inverse(parse("S[4:2] + R[2:1]")) == TileLayout(S[(4, 2) : (1, 0)])
    assert left_inverse(parse("S[(4,2):(1,16)]")) == TileLayout(S[(2, 4, 4) : (1, 0, 2)])
    assert right_inverse(parse("S[(4,2):(1,16)]")) == TileLayout(S[4:2])
    assert isinstance(inverse(parse("S[(4,2):(1,16)]")), Map)
    tile = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
    assert inverse(tile) == tile
    assert isinstance(inverse(tile), ComposeLayout)


def test_a_long_irregular_layout_has_a_finite_inverse():
    """512 elements at irregular places: listed, looked up, and none left out."""
    plain = Plain(tuple((2, stride, "m") for stride in LONG), (), {})
    layout, owned = built(plain), owners(plain)
    assert all(len(elements) == 1 for elements in owned.values())
    found = inverse(layout)
    assert isinstance(found, FiniteInverse)
    assert found.table() == {(bf.at(p, "m"),): e[0] for p, e in sorted(owned.items())}
    for place in random.Random(0).sample(sorted(owned), 20):
        assert found.element_at(dict(place)) == owned[place][0]
        assert (
            found.element_at({"m": bf.at(place, "m") + 1})
            == owned.get(bf.make_place({"m": bf.at(place, "m") + 1}), [None])[0]
        )
    with pytest.raises(LayoutError, match="element_at"):
        left_inverse(layout)


#: The Conway-Guy set of nine numbers: all of its subsets have different sums.
LONG = (77, 117, 137, 148, 154, 157, 159, 160, 161)


def test_a_collision_among_too_many_to_list_is_found():
    """2^20 elements at irregular places below 2^17."""
    rng = random.Random("collisions")
    layout = TileLayout(S[(2,) * 20 : tuple(rng.randint(4_000, 8_000) for _ in range(20))])
    with pytest.raises(NotInjectiveError) as caught:
        inverse(layout)
    plain = plain_of(layout)
    one, two = caught.value.elements
    assert one != two
    assert bf.base_place(plain, one) == bf.base_place(plain, two)
    assert bf.base_place(plain, one) == bf.make_place(caught.value.place)


# -- public cases ------------------------------------------------------------------------------
def test_case_13_left_inverses_agree_on_the_image_only():
    answer = json.loads((CASES / "13-left-inverse-not-unique.json").read_text())["answer"]
    layout = TileLayout(S[(4, 2) : (1, 16)])
    found = left_inverse(layout)
    assert prove(LeftInverse(layout, found)).verdict is Verdict.PROVED
    right = right_inverse(layout)
    assert math.prod(right.extents) == answer["first_missing"]  # places 0..3 are reached
    assert element_at(layout, m=answer["first_missing"]) is None
