"""Sizes with Dims: results hold for every value, are proven, and what is not sure says so."""

from __future__ import annotations

import random

import pytest

from layout_algebra import Dim, Equivalent, Map, assert_proved, cute, prove
from layout_algebra.claims import Bijective, LeftInverse
from layout_algebra.errors import CoordinateError
from layout_algebra.verdicts import Verdict
from tests.cute import enumeration as en

Layout = cute.Layout
M = Dim("M", multiple_of=8)
N = Dim("N", multiple_of=16)
K = Dim("K")
VALUES = [{"M": m, "N": n, "K": k} for m in (8, 16, 40) for n in (16, 48) for k in (1, 3)]

#: (left, right) for compositions and divides, products, complements.
DIVIDES = [
    (Layout((M, N)), (8, 16)),
    (Layout((M, N), (N, 1)), (Layout(4, 2), 4)),
    (Layout((M, N), (N, 1)), (M // 8, Layout(N // 16, 16))),
    (Layout((M, N)), M),
    (Layout((M, N)), Layout((M, 4))),
    (Layout((K, M, N)), (None, 8, 4)),
    (Layout((4, M), (M, 1)), 4),
]
COMPOSITIONS = [
    (Layout((M, N)), Layout((M, N), (N, 1))),
    (Layout((M, N), (N, 1)), Layout((M, N))),
    (Layout((M, N), (K, 7)), Layout((8, M // 8, N), (M // 8, 1, M))),
    (Layout((M, N), (K, 1)), Layout(M * N)),
    (Layout(M * N, K), Layout((M, N), (N, 1))),
]
PRODUCTS = [
    (Layout((8, 16), (16, 1)), Layout((M // 8, N // 16))),
    (Layout((M, N)), Layout((K, 2))),
    (Layout(4, 2), Layout(M)),
]


def same_at_values(found, operation, left, right):
    """The symbolic result is the operation's result on numbers."""
    for values in VALUES:
        concrete = [at(one, values) for one in (left, right)]
        wanted = operation(*concrete)
        here = found.evaluated(**values)
        assert en.table(here.shape, here.stride) == en.table(wanted.shape, wanted.stride)


def at(one, values):
    if one is None or isinstance(one, int):
        return one
    if isinstance(one, tuple):
        return tuple(at(part, values) for part in one)
    if isinstance(one, Layout):
        return one.evaluated(**values)
    return Layout(one).evaluated(**values)


@pytest.mark.parametrize(("left", "right"), DIVIDES)
def test_divides(left, right):
    for operation in (cute.logical_divide, cute.zipped_divide, cute.tiled_divide, cute.flat_divide):
        same_at_values(operation(left, right), operation, left, right)


@pytest.mark.parametrize(("left", "right"), COMPOSITIONS)
def test_compositions(left, right):
    found = cute.composition(left, right)
    same_at_values(found, cute.composition, left, right)
    proof = prove(Equivalent(cute.composition_map(left, right), cute.as_map(found)))
    assert proof.verdict is Verdict.PROVED, proof


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
def test_products(left, right):
    for operation in (cute.logical_product, cute.blocked_product, cute.raked_product):
        same_at_values(operation(left, right), operation, left, right)


def test_complements_and_inverses():
    assert cute.complement(Layout((M, N)), 4 * M * N) == Layout(4, M * N)
    assert cute.complement(Layout(4, M), 8 * M) == Layout((M, 2), (1, 4 * M))
    assert cute.complement(Layout(M, 1), M) == Layout(1, 0)
    row_major = Layout((M, N), (N, 1))
    for operation in (cute.left_inverse, cute.right_inverse):
        assert operation(row_major) == Layout((N, M), (M, 1))
    inverse = cute.left_inverse(row_major)
    assert_proved(LeftInverse(cute.as_map(row_major), cute.as_map(inverse)))
    assert_proved(Bijective(cute.as_map(row_major), {"m": M * N}))
    assert cute.max_common_vector(Layout((M, K)), Layout((M, K), (1, M))) == M * K


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        (lambda: cute.logical_divide(Layout((M, N)), (8, 32)), "blocks of 32 elements are not kn"),
        (lambda: cute.composition(Layout((M, K), (1, 99)), Layout(8, K)), "known how 8:K counts"),
        (lambda: cute.composition(Layout(M), Layout(4, -1)), "not known to be at least 0"),
        (lambda: cute.composition(Layout((M, K), (3, 1)), Layout(N)), "N"),
        (lambda: cute.composition(Layout(M, 3), Layout(9)), "9:1"),
        (lambda: cute.composition(Layout((M, 4), (1, 99)), Layout((M, 2), (1, 1))), "carry"),
        (lambda: cute.complement(Layout((4, 4), (1, K)), 64), "not known that the strides"),
        (lambda: cute.complement(Layout(M), 64), "blocks of M are not known to divide the 64"),
        (lambda: cute.left_inverse(Layout((4, 4), (1, K))), "not known that the strides"),
    ],
)
def test_what_is_not_known_says_so(attempt, says):
    with pytest.raises(cute.CuteError, match=says):
        attempt()


def test_numbers_beside_dims_are_checked_too():
    # the left layout has numbers only, and so has one mode of the right one: 0, 6, 12 of 8 elements
    with pytest.raises(cute.CuteError, match="leave the left layout"):
        cute.composition(Layout((4, 2), (1, 9)), Layout((3, K), (6, 0)))
    with pytest.raises(cute.CuteError):
        cute.composition(Layout((4, 2), (1, 9)), Layout((K, 9), (0, 1)))


def test_random_results_are_proven():
    rng = random.Random(7320)
    proven = 0
    while proven < 40:
        a = en.random_layout(rng, 48)
        left, right = Layout(*a), Layout(*en.random_right(rng, en.size(a[0])))
        try:
            found = cute.composition(left, right)
        except cute.CuteError:
            continue
        meaning = cute.composition_map(left, right)
        assert_proved(Equivalent(meaning, cute.as_map(found)))
        proven += 1
        if found.size() > 1:
            moved = Layout((found.shape, 1), (found.stride, 0))
            assert_proved(Equivalent(meaning, cute.as_map(moved)))
    wrong = prove(
        Equivalent(
            cute.composition_map(Layout((4, 6, 8), (2, 3, 5)), Layout(6, 3)),
            cute.as_map(Layout((2, 3), (6, 3))),
        )
    )
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.witness is not None
    assert wrong.witness.places[0] != wrong.witness.places[1]


def test_the_domain_is_part_of_the_meaning():
    outside = cute.composition_map(Layout((2, 3), (4, 1)), Layout((3, 4), (3, 1)))
    assert outside.guard
    extended = cute.as_map(Layout((3, 4), (5, 1)))
    assert prove(Equivalent(outside, extended)).verdict is Verdict.REFUTED


def test_maps_of_shapes():
    layout = Layout(((2, 4), 8), ((1, 16), 2))
    by_shape = cute.as_map(layout, shape=(8, 8))
    assert by_shape.apply(i=3, j=5) == {"m": layout(3, 5)}
    assert [v.name for v in by_shape.coordinates] == ["j", "i"]
    assert_proved(Equivalent(cute.as_map(layout), by_shape))
    assert_proved(Equivalent(by_shape, cute.to_tile(layout)))
    nested = cute.as_map(layout, shape=((4, 2), 8))
    assert nested.size == 64
    named = cute.as_map(Layout((Dim("c1"), 4)))
    assert [v.name for v in named.coordinates] == ["x1", "x0"]
    with pytest.raises(CoordinateError, match=r"\(8,9\) has 72 elements"):
        cute.as_map(layout, shape=(8, 9))
    assert isinstance(by_shape, Map)
