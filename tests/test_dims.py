"""Symbolic sizes: what their arithmetic says is what Python's integers say at every point."""

import pickle
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layout_algebra.dims import (
    Dim,
    Polynomial,
    Quotient,
    Relation,
    Remainder,
    at_least,
    bounds,
    divide_exactly,
    equal,
    evaluate,
    floordiv,
    is_size,
    positive_symbols,
    product,
    rewrite,
    symbols,
)
from layout_algebra.errors import DimError
from layout_algebra.parsing import parse_size
from tests.building import random_dims, random_size

M, N, K = Dim("M"), Dim("N"), Dim("K")
M8 = Dim("M", multiple_of=8)


def written(size):
    return str(size) if isinstance(size, int) else size.call_text()


# ----------------------------------------------------------------------- random sizes


def test_random_sizes_are_what_python_calculates():
    for seed in range(4000):
        rng = random.Random(seed)
        dims = random_dims(rng)
        size, expected = random_size(rng, dims, rng.randint(1, 4))
        for _ in range(4):
            point = {known.name: known.value(rng) for known in dims}
            assert evaluate(size, point) == expected(point), (seed, size, point)


def test_bounds_hold_at_every_point():
    bounded = 0
    for seed in range(4000):
        rng = random.Random(seed)
        dims = random_dims(rng)
        size, expected = random_size(rng, dims, rng.randint(1, 3))
        positive = frozenset(symbol for symbol in symbols(size) if rng.random() < 0.5)
        names = {symbol.name for symbol in positive}
        low, high = bounds(size, positive)
        bounded += low is not None or high is not None
        for _ in range(4):
            point = {d.name: d.value(rng, positive=d.name in names) for d in dims}
            value = expected(point)
            assert low is None or low <= value, (seed, size, positive, point)
            assert high is None or value <= high, (seed, size, positive, point)
    assert bounded > 2000  # the check is not empty


def test_text_reads_back():
    for seed in range(1500):
        rng = random.Random(seed)
        size, _ = random_size(rng, random_dims(rng), rng.randint(1, 3))
        text = written(size)
        if len(text) < 2000:
            assert parse_size(text) == size, (seed, text)


def test_a_product_is_divided_by_its_factors():
    for seed in range(1500):
        rng = random.Random(seed)
        dims = random_dims(rng)
        a, _ = random_size(rng, dims, 3, divisions=False)
        b, _ = random_size(rng, dims, 2, divisions=False)
        if b == 0:
            assert divide_exactly(a * b, b) is None
            continue
        assert divide_exactly(a * b, b) == a, (seed, a, b)
        quotient = divide_exactly(a, b)
        if quotient is not None:
            assert quotient * b == a, (seed, a, b)
        if bounds(b)[0] is not None and bounds(b)[0] > 0:
            assert floordiv(a * b, b) == a


def test_substitution_commutes_with_evaluation():
    for seed in range(500):
        rng = random.Random(seed)
        dims = random_dims(rng, "KM")
        size, expected = random_size(rng, dims, 3)
        changed = rewrite(size, lambda symbol: 3 * Dim("q_" + symbol.name) + 1)
        inner = {known.name: rng.randint(0, 5) for known in dims}
        point = {f"q_{name}": value for name, value in inner.items()}
        # a symbol is the Dim over its divisor: here the Dim itself is divisor * (3*q + 1)
        values = {known.name: known.multiple_of * (3 * inner[known.name] + 1) for known in dims}
        assert evaluate(changed, point) == expected(values), (seed, size)


@given(st.integers(-50, 50), st.integers(1, 12), st.integers(0, 40))
def test_division_of_one_dim(constant, divisor, value):
    size = 3 * M + constant
    assert evaluate(size // divisor, {"M": value}) == (3 * value + constant) // divisor
    assert evaluate(size % divisor, {"M": value}) == (3 * value + constant) % divisor


# ------------------------------------------------------------------------------- forms


def test_divisors_are_part_of_a_dim():
    assert M8 // 8 * 8 == M8
    assert M8 % 8 == 0
    assert M8 % 4 == 0
    assert (M8 // 8 * 512 + 64) // 64 == M8 + 1
    assert str(M8 // 8 * 512 + 64) == "64*M + 64"
    assert str(M8 // 8) == "M//8"
    assert (M8 // 8).call_text() == 'Dim("M", multiple_of=8)//8'
    assert str(3 * (M8 // 8)) == "3*(M//8)"
    assert str(-(M8 // 8)) == "-(M//8)"


def test_other_divisions_are_opaque():
    half = M // 2
    (atom,) = half.atoms()
    assert isinstance(atom, Quotient)
    assert str(half) == "((M)//2)"
    assert half != M8 // 2
    assert half == M // 2
    assert N + half == (2 * N + M) // 2  # the part that divides comes out


def test_constants_are_plain_ints():
    assert type(M - M) is int
    assert type(M8 // 8 * 8 - M8 + 5) is int
    assert (M + 0) is not M
    assert M + 0 == M
    assert M * 0 == 0
    assert type(floordiv(17, 5)) is int


def test_dims_with_other_constraints_are_others():
    assert M != M8
    assert Dim("M", at_least=1) != M
    assert Dim("M", multiple_of=8) == M8
    assert hash(Dim("M", multiple_of=8)) == hash(M8)


def test_order_does_not_depend_on_how_it_was_made():
    assert M + M8 == M8 + M
    assert (M * N + K) * M == K * M + N * M * M
    assert str(N * M + M * M + 1 + N) == "M*M + M*N + N + 1"


def test_comparison_with_other_things():
    assert M != "M"
    assert M != 3
    assert M not in [3, "M", None]
    for operation in (
        lambda: M + 1.5,
        lambda: M // 1.5,
        lambda: 1.5 // M,
        lambda: M % 1.5,
        lambda: M * 2.5,
        lambda: M >= 1.5,
        lambda: M < None,
    ):
        with pytest.raises(TypeError):
            operation()


def test_division_of_leading_terms_ends():
    """Not every order of monomials allows long division: with some this does not end."""
    assert divide_exactly(M * M * N * N, M * N + M * M + N * N) is None
    assert divide_exactly((M * N + M * M + N * N) * (M + N), M * N + M * M + N * N) == M + N


def test_bounds_of_long_products_are_quick():
    many = product(Dim(f"x{k}") for k in range(60))
    ones = product(Dim(f"x{k}", at_least=1, at_most=2) for k in range(60))
    assert bounds(many - 1) == (-1, None)
    assert bounds(ones - 1) == (0, 2**60 - 1)
    assert bounds(ones - many) == (None, 2**60)


def test_positive_symbols():
    assert at_least(64 * M - 64, 0) is False
    assert at_least(64 * M - 64, 0, positive_symbols([64 * M]))
    assert positive_symbols([M + N, 4, 2 * K * M8]) == symbols(K * M8)


def test_sizes():
    assert is_size(3)
    assert is_size(M)
    assert not is_size(True)
    assert not is_size(3.0)


# --------------------------------------------------------------------------- relations


def test_relations_say_what_they_mean():
    cases = (
        (M >= N, lambda m, n: m >= n, "M >= N"),
        (M > N + 1, lambda m, n: m > n + 1, "M > N + 1"),
        (M <= 5, lambda m, n: m <= 5, "M <= 5"),
        (3 + N < M, lambda m, n: m > n + 3, "N + 3 < M"),
        (equal(M, 2 * N), lambda m, n: m == 2 * n, "M == 2*N"),
        (M % 3 == 0, lambda m, n: m % 3 == 0, "M % (3) == 0"),
        (M % (N + 1) == 0, lambda m, n: m % (n + 1) == 0, "M % (N + 1) == 0"),
    )
    for relation, holds, text in cases:
        assert isinstance(relation, Relation)
        assert str(relation) == text
        for m in range(8):
            for n in range(5):
                assert relation.holds({"M": m, "N": n}) == holds(m, n), (text, m, n)


def test_remainder_is_a_size_and_makes_a_relation():
    rest = M % 3
    assert isinstance(rest, Remainder)
    assert evaluate(rest + 5 * M, {"M": 7}) == 1 + 35
    assert isinstance(rest == 0, Relation)
    with pytest.raises(DimError, match=r"write the relation as \(M\) % \(3\) == 0"):
        rest == 1
    assert not isinstance(M8 % 8, Remainder)
    copy = pickle.loads(pickle.dumps(rest))
    assert isinstance(copy, Remainder)
    assert (copy == 0) == (rest == 0)


# --------------------------------------------------------------------------- processes

STORE = """
import pickle, sys
from layout_algebra.dims import Dim
from layout_algebra import terms
M = Dim("M", multiple_of=8)
size = M*M + 3*(M // 16) + 5
hash(size)
term = terms.floordiv(terms.coordinate("i", size), M + 1)
sys.stdout.buffer.write(pickle.dumps((size, term)))
"""


def test_pickles_are_equal_in_another_process():
    """A hash of strings is another in each process, so none may travel with a size."""
    from layout_algebra import terms

    made = subprocess.run(
        [sys.executable, "-c", STORE],
        env={"PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
    )
    size, term = pickle.loads(made.stdout)
    here = M8 * M8 + 3 * (M8 // 16) + 5
    assert isinstance(size, Polynomial)
    assert size == here
    assert {here: "found"}[size] == "found"
    assert term is terms.floordiv(terms.coordinate("i", here), M8 + 1)
