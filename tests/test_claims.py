"""Claims by meaning: their own enumeration against brute force, what they refuse, how they read.

`counterexample()` is the executable meaning that the prover falls back to.  Here it is held against
`tests.bruteforce` (layouts) and `tests.extensions` (maps in general), which share no code with it;
no solver is asked.
"""

from __future__ import annotations

import pickle
import random
from collections import Counter
from dataclasses import replace

import pytest

from layout_algebra import (
    Axis,
    Buffer,
    ComposeLayout,
    Dim,
    Map,
    R,
    S,
    TileLayout,
    compose,
    laneid,
    m,
    warpid,
)
from layout_algebra.algebra.compose import DomainError
from layout_algebra.axes import reg
from layout_algebra.claims import (
    CLAIMS,
    All,
    BankConflictFree,
    Bijective,
    Claim,
    Coalesced,
    Composition,
    ConflictDegree,
    Covers,
    Disjoint,
    Empty,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    Matches,
    NoWriteRace,
    ReplicasDistinct,
    RightInverse,
    Vectorizable,
    Wavefronts,
    WithinBounds,
)
from layout_algebra.errors import ClaimError, CoordinateError
from layout_algebra.memory import NVIDIA
from tests import bruteforce as bf
from tests import extensions, symbolic
from tests import generators as gen
from tests.building import built, plain_of
from tests.extensions import of_plain

MOST = 120
#: Claims whose meaning is tested elsewhere: above, in tests/memory, or as the parts they have.
OF_OTHERS = {
    *("Bijective", "Composition", "BankConflictFree", "ConflictDegree", "Wavefronts"),
    *("Coalesced", "Vectorizable", "NoWriteRace", "Matches"),
}
tile = TileLayout(S[(4, 8) : (8, 1)])
N = Dim("N")


# ----------------------------------------------------------------------------- meaning


def compare(claim: Claim, expected: bool, subjects, box=None, seed=None) -> bool:
    """Whether it holds; enumeration says the same, and its witness shows it."""
    witness = claim.counterexample()
    where = f"seed {seed}: {claim}: {witness}"
    assert (witness is None) == expected, where
    if witness is not None:
        found = extensions.refutes(claim.name, witness.points, witness.places, subjects, box)
        assert found, where
    return expected


@pytest.mark.parametrize("seed", range(0, 1500, 250))
def test_one_layout_means_what_brute_force_says(seed):
    counts = Counter()
    for each in range(seed, seed + 250):
        rng = random.Random(each)
        plain = gen.random_layout(rng, max_places=MOST)
        layout, subjects = built(plain), (of_plain(plain),)
        box, limits = gen.random_box(rng, plain), gen.random_limits(rng, plain)
        for claim, (expected, _), given in (
            (Injective(layout), bf.injective(plain), None),
            (ReplicasDistinct(layout), bf.replicas_distinct(plain), None),
            (Covers(layout, box), bf.covers(plain, box), box),
            (WithinBounds(layout, limits), bf.within_bounds(plain, limits), limits),
            (Bijective(layout, box), bf.bijective(plain, box), box),
            (Empty(layout), (False, None), None),
        ):
            counts[claim.name, compare(claim, expected, subjects, given, each)] += 1
    for name in ("Injective", "Covers", "WithinBounds", "Bijective"):
        assert min(counts[name, True], counts[name, False]) > 10, counts
    assert counts["ReplicasDistinct", False] > 1, counts


@pytest.mark.parametrize("seed", range(0, 1500, 250))
def test_two_layouts_mean_what_brute_force_says(seed):
    counts = Counter()
    for each in range(seed, seed + 250):
        rng = random.Random(each)
        one, two = gen.equivalent_pair(rng, max_places=MOST)
        if bf.size(one) == bf.size(two):
            claim, expected = Equivalent(built(one), built(two)), bf.equivalent(one, two)[0]
            subjects = (of_plain(one), of_plain(two))
            counts["Equivalent", compare(claim, expected, subjects, None, each)] += 1
        one, two = gen.disjoint_pair(rng, max_places=MOST)
        claim, expected = Disjoint(built(one), built(two)), bf.disjoint(one, two)[0]
        subjects = (of_plain(one), of_plain(two))
        counts["Disjoint", compare(claim, expected, subjects, None, each)] += 1
        f, g = gen.inverse_pair(rng, max_places=MOST)
        subjects = (of_plain(f), of_plain(g))
        for kind, meaning in (
            (LeftInverse, bf.left_inverse),
            (RightInverse, bf.right_inverse),
            (Inverse, bf.inverse),
        ):
            claim, expected = kind(built(f), built(g)), meaning(f, g)[0]
            counts[kind.__name__, compare(claim, expected, subjects, None, each)] += 1
    for name in ("Equivalent", "Disjoint", "LeftInverse", "RightInverse", "Inverse"):
        assert min(counts[name, True], counts[name, False]) > 10, counts


def test_compositions_mean_what_brute_force_says():
    """The composite, or a layout that is nearly it; or places that are no index of the outer."""
    counts = Counter()
    for seed in range(1500):
        rng = random.Random(seed)
        outer = gen.random_layout(rng, max_places=MOST, swizzles=False)
        sizes = gen.random_extents(rng, 24, 3)
        steps = [rng.choice((0, 1, 2, 3, 6)) for _ in sizes]
        inner = bf.Plain(tuple((e, s, "m") for e, s in zip(sizes, steps, strict=True)))
        try:
            composite = compose(built(outer), built(inner))
        except DomainError:
            composite = built(inner)
        result = inner if isinstance(composite, Map) else plain_of(composite)
        if rng.random() < 0.5:
            result = gen.perturbed_variant(rng, result, max_places=MOST)
        if bf.size(result) != bf.size(inner):
            continue
        indices = [dict(bf.base_place(inner, x)).get("m", 0) for x in range(bf.size(inner))]
        expected = max(indices) < bf.size(outer) and all(
            bf.places(outer, index) == bf.places(result, x) for x, index in enumerate(indices)
        )
        claim = Composition(built(outer), built(inner), built(result))
        assert (claim.counterexample() is None) == expected, (seed, claim)
        counts[expected] += 1
    assert min(counts.values()) > 100, counts


def test_claims_on_maps_mean_what_brute_force_says():
    """Formulas, guards, copies and ranges that do not begin at 0, with numbers for all sizes."""
    counts = Counter()
    kinds = ((symbolic.on_formulas, 4), (symbolic.inverses, 2), (symbolic.nothing_there, 1))
    for seed in range(2000):
        rng = random.Random(seed)
        case = symbolic.drawn(rng, kinds)
        points = [values for values in case.points() if case.at(values) is not None]
        if not points or not any(isinstance(one, symbolic.SymMap) for one in case.subjects):
            continue
        values = rng.choice(points)
        subjects, box = case.at(values)
        if symbolic.places_of(subjects, box) > MOST:
            continue
        try:
            claim = case.claim_at(values)
        except ClaimError as error:
            reasons = ("is empty", "of one size", "neither one flat index")
            if any(reason in str(error) for reason in reasons):
                continue
            raise
        expected = case.holds(subjects, box)
        counts[claim.name, compare(claim, expected, subjects, box, seed)] += 1
    for name in CLAIMS.keys() - OF_OTHERS:
        assert min(counts[name, True], counts[name, False]) >= 3, counts
    assert sum(counts.values()) > 500


def test_a_conjunction_is_refuted_by_its_first_part_that_fails():
    both = Injective(tile) & WithinBounds(tile, {"m": 31})
    assert isinstance(both, All)
    assert both.counterexample().places == ({"m": 31},)
    assert (Injective(tile) & Covers(tile, {"m": 32})).counterexample() is None


def test_enumeration_with_values_for_the_dims():
    padded = TileLayout(S[(4, 4) : (N, 1)])
    assert Injective(padded).counterexample({"N": 4}) is None
    assert Injective(padded).counterexample({"N": 3}).dims == {"N": 3}
    assert Bijective(padded, {"m": 4 * N}).counterexample({"N": 4}) is None
    assert Bijective(padded, {"m": 4 * N}).counterexample({"N": 5}) is not None


def test_enumeration_needs_bounds():
    everywhere = Map.of(lambda x: 2 * x, {"x": (None, None)})
    with pytest.raises(CoordinateError, match="coordinate x has no bounds"):
        Injective(everywhere).counterexample()
    with pytest.raises(CoordinateError, match="62 bits"):
        Injective(TileLayout(S[(2,) : (2**62,)])).counterexample()
    # 16 * 2^60 would be 0 in 64 bits
    wide = WithinBounds(TileLayout(S[(N,) : (2**60,)]), {"m": 2**60})
    assert wide.counterexample({"N": 1}) is None
    with pytest.raises(CoordinateError, match="62 bits"):
        wide.counterexample({"N": 17})


def test_places_count_by_all_axes():
    """An axis that only one of two maps mentions is 0 in the other."""
    one = TileLayout(S[(4,) : (1,)])
    two = TileLayout(S[(4,) : (1,)] + 0 @ laneid)
    moved = TileLayout(S[(4,) : (1,)] + 1 @ laneid)
    assert Equivalent(one, two).counterexample() is None
    assert Equivalent(one, moved).counterexample() is not None
    assert Disjoint(one, moved).counterexample() is None
    assert Covers(moved, {"m": 4}).counterexample().places == ({"m": 0},)
    assert Covers(moved, {"m": 4, "laneid": (1, 2)}).counterexample() is None
    assert Bijective(moved, {"m": 4}).counterexample() is not None


def test_copies_are_a_set_for_equivalent():
    twice = TileLayout(S[(4,) : (4,)] + R[(2, 2) : (1, 1)])
    once = TileLayout(S[(4,) : (4,)] + R[3:1])
    assert Equivalent(twice, once).counterexample() is None
    assert Equivalent(once, twice).counterexample() is None
    assert ReplicasDistinct(twice).counterexample() is not None


def test_the_swizzle_comes_after_the_copies():
    layout = ComposeLayout(0, 1, 1, TileLayout(S[(2,) : (2,)] + R[2:1]))
    # element 1 is at 2 and 3, swizzled 3 and 2
    assert Equivalent(layout, TileLayout(S[(2,) : (2,)] + R[2:1])).counterexample() is None


# ---------------------------------------------------------------------------- refusals

several = TileLayout(S[(4, 8) : (1 @ laneid, 1 @ warpid)])
copied = TileLayout(S[(4,) : (1,)] + R[2:4])


@pytest.mark.parametrize("kind", [Injective, ReplicasDistinct, Empty])
@pytest.mark.parametrize(
    ("subject", "hint"),
    [
        ("S[4:1]", "is about a layout or a Map; got 'S[4:1]'; text becomes one by parse(text)"),
        (S[4:1], "S[...] becomes one by TileLayout(S[...])"),
        (lambda i: i, "a formula becomes one by Map.of(callable, shape)"),
        (7, "is about a layout or a Map; got 7"),
        (None, "is about a layout or a Map; got None"),
    ],
)
def test_what_is_no_layout_is_named(kind, subject, hint):
    with pytest.raises(ClaimError) as caught:
        kind(subject)
    assert str(caught.value).startswith(f"{kind.__name__} is about a layout or a Map; got ")
    assert hint in str(caught.value)


@pytest.mark.parametrize("kind", [Covers, Bijective, WithinBounds])
def test_a_wrong_subject_is_named_before_its_box(kind):
    with pytest.raises(ClaimError, match=f"{kind.__name__} is about a layout or a Map; got 'text'"):
        kind("text", {"nonsense": 0})


@pytest.mark.parametrize("kind", [Equivalent, Disjoint, LeftInverse, RightInverse, Inverse])
def test_both_sides_are_looked_at(kind):
    for pair in ((tile, 3), (3, tile)):
        with pytest.raises(ClaimError, match=f"{kind.__name__} is about a layout or a Map; got 3"):
            kind(*pair)


@pytest.mark.parametrize("kind", [Covers, Bijective, WithinBounds])
@pytest.mark.parametrize(
    ("box", "message"),
    [
        (32, "a box is a mapping axis -> size or (low, high); got 32"),
        ([("m", 32)], "a box is a mapping axis -> size or (low, high); got [('m', 32)]"),
        ({3: 4}, "a box names axes; got 3"),
        ({"n": 4}, "no axis 'n' here: the axes are m"),
        ({"mm": 4}, "no axis 'mm' here: the axes are m; did you mean 'm'?"),
        ({"m": "4"}, "the range of m is a size or a pair of them; got '4'"),
        ({"m": 4.0}, "the range of m is a size or a pair of them; got 4.0"),
        ({"m": True}, "the range of m is a size or a pair of them; got True"),
        ({"m": (1, 2, 3)}, "the range of m is a size or a pair of them; got (1, 2, 3)"),
        ({"m": (0, None)}, "the range of m is a size or a pair of them; got (0, None)"),
        ({"m": 0}, "the range 0..0 of m is empty (high end outside)"),
        ({"m": -3}, "the range 0..-3 of m is empty (high end outside)"),
        ({"m": (5, 5)}, "the range 5..5 of m is empty (high end outside)"),
        ({"m": 4, m: 5}, "two ranges of axis m"),
        ({"m": 4, "reg": 5}, "two ranges of axis m"),
    ],
)
def test_what_is_no_box_is_named(kind, box, message):
    with pytest.raises(ClaimError) as caught:
        kind(tile, box)
    assert str(caught.value) == f"{kind.__name__}: {message}"


def test_boxes_may_name_axes_that_the_layout_does_not():
    assert Covers(tile, {"m": 32, "laneid": 1}).counterexample() is None
    assert Covers(tile, {"m": 32, laneid: 2}).counterexample().places == ({"m": 0, "laneid": 1},)
    assert WithinBounds(tile, {"laneid": (1, 4)}).counterexample() is not None


def test_reg_in_a_box_is_m():
    """As in layouts, where the book's `@reg` is another spelling of m."""
    slots = TileLayout(S[(8,) : (1 @ reg,)])
    for axis in ("reg", reg, "m", m):
        assert WithinBounds(slots, {axis: 8}).counterexample() is None
        assert WithinBounds(slots, {axis: 4}).counterexample() is not None
        assert Bijective(slots, {axis: 8}).box == (("m", 0, 7),)


def test_a_users_axis_is_known_in_a_box():
    gpu = Axis("gpuid_of_claims", kind="device")
    mesh = TileLayout(S[(4,) : (1 @ gpu,)])
    assert Bijective(mesh, {gpu: 4}).counterexample() is None
    assert Bijective(mesh, {"gpuid_of_claims": 4}).counterexample() is None
    with pytest.raises(ClaimError, match=r"no axis 'gpuid_of_claim' here: .*did you mean"):
        Covers(mesh, {"gpuid_of_claim": 4})


def test_a_symbolic_box_may_be_empty():
    """A box of a size that is not known is taken as it is: for N = 0 there is nothing to cover."""
    assert Covers(tile, {"m": N}).box == (("m", 0, N - 1),)
    assert Covers(tile, {"m": (N, 32)}).counterexample({"N": 31}) is None


def test_sizes_that_differ_are_refused():
    with pytest.raises(ClaimError) as caught:
        Equivalent(tile, TileLayout(S[(4, 4) : (4, 1)]))
    assert str(caught.value) == (
        "Equivalent compares layouts of one size: S[(4, 8) : (8, 1)] has 32 elements, "
        "S[(4, 4) : (4, 1)] has 16"
    )
    # with Dims in a size, some values may make them equal: that is for the prover to say
    assert Equivalent(tile, TileLayout(S[(N, 4) : (4, 1)])).counterexample({"N": 3}) is not None


def test_inverses_that_cannot_be_composed_are_refused():
    with pytest.raises(ClaimError) as caught:
        LeftInverse(tile, copied)
    assert str(caught.value) == (
        "LeftInverse: S[4 : 1] + R[2 : 4] gives several places for one element; "
        "it cannot be an inverse"
    )
    with pytest.raises(ClaimError, match=r"RightInverse: .* gives several places"):
        RightInverse(copied, tile)
    with pytest.raises(ClaimError, match=r"Inverse: .* gives several places"):
        Inverse(copied, tile)
    with pytest.raises(ClaimError) as caught:
        LeftInverse(several, tile)
    assert str(caught.value) == (
        "LeftInverse: places on (laneid, warpid) cannot be put into coordinates (c0, c1); "
        "name the inverse's coordinates after the axes"
    )
    back = Map.of(lambda laneid, warpid: {"x": laneid, "y": warpid}, (4, 8))
    with pytest.raises(ClaimError) as caught:
        LeftInverse(several, back)
    assert str(caught.value) == (
        "LeftInverse: (x, y) is neither one flat index nor the coordinates (c0, c1)"
    )
    # copies of f are fine: each has to come back
    assert LeftInverse(copied, TileLayout(S[(2, 4) : (0, 1)])).counterexample() is None


def test_an_inverse_by_names_or_by_the_flat_index():
    by_names = Map.of(lambda laneid, warpid: {"c0": laneid, "c1": warpid}, (4, 8))
    by_index = Map.of(lambda laneid, warpid: 8 * laneid + warpid, (4, 8))
    crossed = Map.of(lambda laneid, warpid: {"c0": warpid, "c1": laneid}, (4, 8))
    assert LeftInverse(several, by_names).counterexample() is None
    assert LeftInverse(several, by_index).counterexample() is None
    assert LeftInverse(several, crossed).counterexample() is not None


def test_the_flat_index_begins_at_zero_wherever_the_coordinates_do():
    shifted = Map.of(lambda y: y - 3, {"y": (3, 6)})  # index 0 is y = 3
    same = Map.of(lambda y: y, {"y": (3, 6)})
    four = TileLayout(S[4:1])
    assert LeftInverse(four, shifted).counterexample() is None
    assert LeftInverse(four, same).counterexample() is not None
    assert Equivalent(four, shifted).counterexample() is None
    assert Equivalent(four, same).counterexample() is not None


def test_only_claims_join():
    with pytest.raises(TypeError):
        Injective(tile) & tile
    with pytest.raises(TypeError):
        True & Injective(tile)


# --------------------------------------------------------------------------- as values


shared = Buffer((32, 64), "float16", TileLayout(S[(32, 64) : (64, 1)]), align=16)
column = shared.read(lambda lane: (lane, 0), bytes=16)
row = shared.write(lambda lane: (0, lane))
far = Buffer((32, 64), "float16", TileLayout(S[(32, 64) : (64, 1)]), "global", 64)
far_row = far.read(lambda lane: (0, lane))
fragment = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]).map((8, 8))
dealt = replace(
    shared.read(lambda lane: (lane % 8, 0), bytes=16),
    data=Map.of(lambda laneid, m: {"i": laneid // 4, "j": laneid % 4 * 2 + m}, (32, 2)),
)


def examples() -> list[Claim]:
    back = TileLayout(S[(8, 4) : (4, 1)])
    return [
        Injective(tile),
        ReplicasDistinct(copied),
        Covers(tile, {"m": 32}),
        WithinBounds(several, {"laneid": 4, "warpid": (0, 8)}),
        WithinBounds(several),
        Bijective(tile, {"m": N + 3}),
        Empty(Map.of(lambda i: i, (4,), where=lambda i: i >= 4)),
        Equivalent(tile, back),
        Disjoint(tile, copied),
        LeftInverse(tile, back),
        RightInverse(tile, back),
        Inverse(tile, back),
        Composition(back, tile, tile),
        BankConflictFree(column),
        ConflictDegree(column, 8),
        Wavefronts(column, 4),
        Coalesced(far_row, 4),
        Vectorizable(column),
        NoWriteRace(row),
        Matches(dealt, fragment),
        Injective(tile) & ReplicasDistinct(copied),
    ]


def test_claims_read_as_they_are_written():
    assert [str(claim) for claim in examples()] == [
        "Injective(S[(4, 8) : (8, 1)])",
        "ReplicasDistinct(S[4 : 1] + R[2 : 4])",
        "Covers(S[(4, 8) : (8, 1)], {m: 0..31})",
        "WithinBounds(S[(4, 8) : (1@laneid, 1@warpid)], {laneid: 0..3, warpid: 0..7})",
        "WithinBounds(S[(4, 8) : (1@laneid, 1@warpid)], {laneid: 0..31, warpid: 0..31})",
        "Bijective(S[(4, 8) : (8, 1)], {m: 0..N + 2})",
        "Empty((i) -> {m = i} where i - 4 >= 0)",
        "Equivalent(S[(4, 8) : (8, 1)], S[(8, 4) : (4, 1)])",
        "Disjoint(S[(4, 8) : (8, 1)], S[4 : 1] + R[2 : 4])",
        "LeftInverse(S[(4, 8) : (8, 1)], S[(8, 4) : (4, 1)])",
        "RightInverse(S[(4, 8) : (8, 1)], S[(8, 4) : (4, 1)])",
        "Inverse(S[(4, 8) : (8, 1)], S[(8, 4) : (4, 1)])",
        "Composition(S[(8, 4) : (4, 1)], S[(4, 8) : (8, 1)], S[(4, 8) : (8, 1)])",
        f"BankConflictFree({column}; {NVIDIA.name})",
        f"ConflictDegree({column}, at most 8; {NVIDIA.name})",
        f"Wavefronts({column}, at most 4; {NVIDIA.name})",
        f"Coalesced({far_row}, at most 4 sectors)",
        f"Vectorizable({column})",
        f"NoWriteRace({row})",
        f"Matches({dealt}, {fragment})",
        "Injective(S[(4, 8) : (8, 1)]) & ReplicasDistinct(S[4 : 1] + R[2 : 4])",
    ]


def test_every_kind_is_listed_by_name():
    kinds = {type(claim).__name__: type(claim) for claim in examples()}
    assert kinds.pop("All") is All
    assert kinds == CLAIMS


def test_claims_are_values():
    assert examples() == examples()
    assert len(set(examples()) | set(examples())) == len(examples())
    assert Covers(tile, {"m": 32}) == Covers(tile, {m: (0, 32)})
    assert Covers(tile, {"m": 32}) != Covers(tile, {"m": 31})
    assert Covers(tile, {"m": 32}) != Bijective(tile, {"m": 32})
    for claim in examples():
        again = pickle.loads(pickle.dumps(claim))
        assert again == claim
        assert hash(again) == hash(claim)
        assert str(again) == str(claim)


def test_claims_are_frozen():
    with pytest.raises(AttributeError):
        Injective(tile).f = copied


def test_conjunctions_flatten_and_keep_their_order():
    a, b, c = Injective(tile), ReplicasDistinct(copied), Covers(tile, {"m": 32})
    assert (a & b & c).claims == (a, b, c) == (a & (b & c)).claims
    whole = Bijective(tile, {"m": 32})
    assert (whole & a).claims == (whole, a)  # a claim with parts of its own stays whole


def test_claims_know_their_dims():
    names = lambda claim: sorted(symbol.name for symbol in claim.symbols())  # noqa: E731
    padded = TileLayout(S[(Dim("M"), 4) : (Dim("ld"), 1)])
    assert names(Injective(padded)) == ["M", "ld"]
    assert names(Covers(padded, {"m": N})) == ["M", "N", "ld"]
    assert names(Covers(tile, {"m": (N, 2 * N)})) == ["N"]
    assert names(WithinBounds(tile, {"m": N})) == ["N"]
    assert names(Bijective(tile, {"m": N})) == ["N"]
    assert names(Injective(padded) & Covers(tile, {"m": N})) == ["M", "N", "ld"]
    assert names(Injective(tile)) == []
    assert [claim.is_symbolic() for claim in (Injective(tile), Covers(tile, {"m": N}))] == [
        False,
        True,
    ]


def test_default_limits_are_the_hardwares():
    assert WithinBounds(several).limits == (("laneid", 0, 31), ("warpid", 0, 31))
    assert WithinBounds(tile).limits == ()
    beyond = TileLayout(S[(33,) : (1 @ laneid,)] + 0 @ warpid)
    assert WithinBounds(beyond).counterexample().places == ({"laneid": 32, "warpid": 0},)


def test_counterexamples_are_worded():
    overlapping = TileLayout(S[(2, 4) : (3, 1)])
    texts = {
        Injective(overlapping): "elements (0, 3) and (1, 0) are both at m = 3",
        ReplicasDistinct(
            TileLayout(S[2:1] + R[2:0])
        ): "copies (0) and (1) of element (0) are both at m = 0",
        Covers(overlapping, {"m": 9}): "no element is at m = 7",
        WithinBounds(tile, {"m": (0, 9)}): "element (1, 1) is at m = 9: m = 9 is outside 0..8",
        Equivalent(tile, TileLayout(S[(4, 8) : (8, 2)])): (
            "element (0, 1) (index 1) is at (m = 1) in the first and at (m = 2) in the second"
        ),
        Disjoint(tile, TileLayout(S[(3,) : (1,)] + 31)): (
            "element (3, 7) of the first and (0) of the second are both at m = 31"
        ),
        LeftInverse(tile, TileLayout(S[(8, 4) : (1, 8)])): (
            "element (0, 1) goes to m = 1, which comes back as m = 8 instead of m = 1"
        ),
        LeftInverse(tile, TileLayout(S[4:1])): (
            "element (0, 4) goes to m = 4, outside the other's domain"
        ),
        Empty(Map.of(lambda i: i, (4,), where=lambda i: i >= 2)): "(2) is in the domain",
    }
    for claim, text in texts.items():
        assert claim.counterexample().summary == text
