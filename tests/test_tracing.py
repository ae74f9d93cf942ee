"""Tracing: a Python callable, called once with symbols, means what it computes."""

import random

import pytest

from layout_algebra import terms
from layout_algebra.arithmetic.integers import values_of
from layout_algebra.dims import Dim
from layout_algebra.errors import TraceError
from layout_algebra.tracing import Conditions, Traced, term_of

x, y = terms.var("x", -6, 9), terms.coordinate("y", 6)
X, Y = Traced(x), Traced(y)
POINTS = [(a, b) for a in range(-6, 10) for b in range(6)]

FORMULAS = (
    lambda a, b: 3 * a + b * 2 - 7,
    lambda a, b: 5 - a - b,
    lambda a, b: -a + +b,
    lambda a, b: a * b,
    lambda a, b: a // 4 + b % 4,
    lambda a, b: divmod(a, 3)[0] * 5 + divmod(a, 3)[1],
    lambda a, b: (a ^ b) + (a & b) - (a | b),
    lambda a, b: (7 ^ a) + (5 & b) - (9 | a),
    lambda a, b: (a << 2) + (a >> 1),
    lambda a, b: (a << b) + (a >> b),
    lambda a, b: (3 << b) + (100 >> b),
    lambda a, b: ~a + ~b,
    lambda a, b: 8 * (b // 2 ^ a % 4) + b % 2,
    lambda a, b: sum([a, b, 3]),
)


@pytest.mark.parametrize("number", range(len(FORMULAS)))
def test_operators_are_those_of_integers(number):
    formula = FORMULAS[number]
    traced = formula(X, Y)
    for a, b in POINTS:
        assert values_of([term_of(traced)], {x: a, y: b}) == [formula(a, b)], (a, b)


def test_random_formulas():
    """A program of random operations, run on ints and on symbols."""
    operations = (
        lambda p, q, n: p + q,
        lambda p, q, n: p - n * q,
        lambda p, q, n: p // n,
        lambda p, q, n: p % n,
        lambda p, q, n: p ^ q,
        lambda p, q, n: p & n,
        lambda p, q, n: p | q,
        lambda p, q, n: (p >> n % 3) + q,
    )
    for seed in range(300):
        rng = random.Random(seed)
        steps = [(rng.choice(operations), rng.randint(1, 9), rng.random()) for _ in range(6)]

        def program(a, b, steps=steps):
            for operation, n, swap in steps:
                a, b = operation(a, b, n), (a if swap < 0.5 else b)
            return a

        traced = term_of(program(X, Y))
        for a, b in rng.sample(POINTS, 8):
            assert values_of([traced], {x: a, y: b}) == [program(a, b)], (seed, a, b)


COMPARISONS = (
    lambda a, b: a >= b,
    lambda a, b: a > 2 * b,
    lambda a, b: a <= b + 1,
    lambda a, b: a < 4,
    lambda a, b: a + 1 > b,
    lambda a, b: a == b,
    lambda a, b: a % 4 != b,
    lambda a, b: (a >= 0) & (a < b) & (b != 3),
)


@pytest.mark.parametrize("number", range(len(COMPARISONS)))
def test_comparisons_are_conditions(number):
    conditions = COMPARISONS[number](X, Y)
    assert isinstance(conditions, Conditions)
    for a, b in POINTS:
        held = [c.holds(values_of([c.term], {x: a, y: b})[0]) for c in conditions.all]
        assert all(held) == COMPARISONS[number](a, b), (a, b)


def test_dims_in_formulas():
    M = Dim("M", multiple_of=8)
    assert term_of(M // 8 * X + M) is terms.linear([(x, M // 8)], M)
    assert term_of(X % M) is terms.mod(x, M)
    for conditions in (M >= X, M > X, M == X, X <= M):
        assert isinstance(conditions, Conditions)
    assert str(X <= M) == "-x + M >= 0"
    with pytest.raises(TraceError, match="a divisor is a positive int or a Dim; got the symbol x"):
        M // X


def test_true_joins_conditions():
    assert ((X > 1) & True) == (True & (X > 1)) == (X > 1)
    assert str((X > 1) & (Y == 2)) == "x - 2 >= 0 and y - 2 == 0"


def test_integers_of_other_kinds():
    class Three:
        def __index__(self):
            return 3

    assert term_of(X + Three()) is terms.linear([(x, 1)], 3)
    assert term_of(7) is terms.const(7)
    with pytest.raises(TraceError, match="an integer is needed here; got True"):
        term_of(True)


def test_symbols_show_what_they_are():
    assert repr(4 * X + Y // 2) == "4*x + floor(y/2)"
    assert str(X != 0) == "x != 0"
    with pytest.raises(TypeError):
        {X: 1}
