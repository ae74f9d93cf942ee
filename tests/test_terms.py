"""Terms: the simplifying constructors keep the value, and all interpreters agree on it."""

import pickle
import random
from math import prod

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from layout_algebra import folding, terms
from layout_algebra.arithmetic import arrays
from layout_algebra.arithmetic.expressions import expression
from layout_algebra.arithmetic.integers import values_of
from layout_algebra.arithmetic.source import function_text
from layout_algebra.arithmetic.text import text
from layout_algebra.dims import Dim, evaluate
from layout_algebra.errors import CoordinateError, DimError
from layout_algebra.folding import Fold
from layout_algebra.terms import FloorDiv, Mod, Product, Sum, Term, Var, const
from layout_algebra.terms import coordinate as coord
from tests.building import Scene, random_term

i, j, k = coord("i", 8), coord("j", 16), coord("k", 4)
M = Dim("M", at_least=1)


def value(term: Term, point, scene: Scene) -> int:
    places = {variable: point[variable.name] for variable in scene.variables}
    dims = {known.name: point[known.name] for known in scene.dims}
    (number,) = values_of([term], places, dims)
    return number


def scenes(count, *, depth, symbolic=None):
    """Random scenes with a term and what Python calculates for it."""
    for seed in range(count):
        rng = random.Random(seed)
        scene = Scene.drawn(rng, symbolic=seed % 2 == 0 if symbolic is None else symbolic)
        yield seed, rng, scene, *random_term(rng, scene, depth)


# ------------------------------------------------------------------------------ meaning


def test_constructors_keep_the_value():
    kinds = set()
    for seed, rng, scene, term, expected in scenes(8000, depth=3):
        kinds |= {type(part).__name__ for part in folding.subterms([term])}
        for _ in range(3):
            point = scene.point(rng)
            assert value(term, point, scene) == expected(point), (seed, term, point)
    nodes = "Const Var Sum Product FloorDiv Mod Digit Xor And Or ShiftLeft ShiftRight"
    assert kinds == set(nodes.split())


def test_ranges_hold():
    bounded = 0
    for seed, rng, scene, term, _ in scenes(3000, depth=3):
        for _ in range(3):
            point = scene.point(rng)
            dims = {known.name: point[known.name] for known in scene.dims}
            for part in folding.subterms([term]):
                number = value(part, point, scene)
                if part.low is not None:
                    assert evaluate(part.low, dims) <= number, (seed, part, point)
                if part.high is not None:
                    assert number <= evaluate(part.high, dims), (seed, part, point)
                bounded += part.low is not None and part.high is not None
    assert bounded > 20000


def test_the_check_of_values_can_fail(monkeypatch):
    """With the test of ranges taken out, sums are split where they do not fall apart."""
    monkeypatch.setattr(terms, "_within", lambda rest, boundary: True)
    wrong = 0
    for seed in range(400):
        rng = random.Random(seed)
        scene = Scene.drawn(rng, symbolic=False)
        try:
            term, expected = random_term(rng, scene, 3)
        except DimError:  # wrong ranges, here of the amount of a shift
            continue
        point = scene.point(rng)
        wrong += value(term, point, scene) != expected(point)
    assert wrong > 40


@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=5),
    st.lists(st.integers(1, 7), min_size=1, max_size=5),
    st.data(),
)
def test_split_into_any_radices(extents, radices, data):
    """Digits of a row-major sum over any extents, whether or not the radices fit them."""
    variables = [coord(f"c{n}", extent) for n, extent in enumerate(extents)]
    parts = [(v, prod(extents[n + 1 :])) for n, v in enumerate(variables)]
    digits = terms.split(terms.linear(parts), radices)
    point = {v: data.draw(st.integers(0, e - 1)) for v, e in zip(variables, extents, strict=True)}
    flat = sum(point[v] * weight for v, weight in parts)
    numbers = values_of(digits, point)
    for radix, number in zip(reversed(radices[1:]), reversed(numbers[1:]), strict=True):
        flat, expected = divmod(flat, radix)
        assert number == expected
    assert numbers[0] == flat  # the first digit is not reduced


# ---------------------------------------------------------------------------- structure


def test_equal_terms_are_one_object():
    assert terms.add(i, j) is terms.add(j, i)
    assert terms.linear([(i, 2), (j, 3)], 5) is terms.linear([(j, 3), (i, 1), (i, 1)], 5)
    assert terms.xor(i, j) is terms.xor(j, i)
    assert terms.multiply(i, j) is terms.multiply(j, i)
    assert coord("i", 8) is i
    assert coord("i", 9) is not i
    assert terms.scale(i, M) is terms.linear([(i, Dim("M", at_least=1))])
    assert terms.scale(i, M) is not terms.scale(i, Dim("M"))


def test_pickles_are_the_same_object():
    for _, _, _, term, _ in scenes(300, depth=3):
        assert pickle.loads(pickle.dumps(term)) is term


def test_what_ranges_decide_is_no_division():
    row_major = terms.linear([(i, 16), (j, 1)])
    assert terms.floordiv(row_major, 16) is i
    assert terms.mod(row_major, 16) is j
    assert terms.mod(row_major, 128) is row_major
    assert terms.floordiv(row_major, 128) is const(0)
    assert terms.mod(row_major, 32) is terms.linear([(terms.mod(i, 2), 16), (j, 1)])
    assert isinstance(terms.floordiv(row_major, 3), FloorDiv)
    assert isinstance(terms.mod(row_major, 3), Mod)
    assert terms.floordiv(terms.floordiv(j, 2), 3) is terms.floordiv(j, 6)
    assert terms.floordiv(i, 1) is i
    assert terms.mod(i, 1) is const(0)


def test_symbolic_ranges_decide_too():
    row, column = coord("r", 5), coord("c", M)
    flat = terms.linear([(row, M), (column, 1)])
    assert terms.split(flat, [5, M]) == [row, column]
    assert terms.split(flat, [1, 5, M])[1:] == [row, column]
    assert terms.split(terms.linear([(column, 8), (i, 1)]), [M, 8]) == [column, i]


def test_split_takes_the_common_refinement():
    flat = terms.linear([(i, 16), (j, 1)])
    digits = terms.split(flat, [8, 2, 4, 2])
    assert digits[0] is i
    assert [text(digit) for digit in digits[1:]] == ["floor(j/8)", "floor(j/2) mod 4", "j mod 2"]
    assert all(folding.variables([digit]) == {j} for digit in digits[1:])
    assert terms.split(flat, [128]) == [flat]
    assert terms.split(flat, []) == []


def test_units_have_digit_zero():
    digits = terms.split(terms.linear([(j, 3), (i, 1)]), [1, 3, 1, 7, 1])
    assert digits[2] is const(0)
    assert digits[4] is const(0)


def test_bit_identities():
    assert terms.xor(i, i) is const(0)
    assert terms.xor(i, const(0)) is i
    assert terms.bit_and(j, const(7)) is terms.mod(j, 8)
    assert terms.bit_or(i, i) is i
    assert terms.shift_left(i, const(3)) is terms.scale(i, 8)
    assert terms.shift_right(j, const(3)) is terms.floordiv(j, 8)


def test_sums_are_flat_and_without_zeros():
    assert terms.linear([(terms.add(i, j), 2), (j, -2)]) is terms.scale(i, 2)
    assert terms.linear([(i, 1), (i, -1)], 4) is const(4)
    assert terms.multiply(const(3), i) is terms.scale(i, 3)
    total = terms.linear([(i, 2)], M)
    assert isinstance(total, Sum)
    assert total.constant == M
    assert isinstance(terms.multiply(i, j), Product)


@pytest.mark.parametrize("divisor", [0, -1])
def test_divisors_are_positive(divisor):
    with pytest.raises(DimError, match=f"a divisor is a positive int or a Dim; got {divisor}"):
        terms.divmod_terms(i, divisor)


def test_shifts_have_a_range():
    amount = terms.var("n", 0, 5)
    assert terms.shift_left(i, amount).high == 7 << 5
    assert terms.shift_left(terms.var("x", -3, 2), amount).low == -3 << 5
    assert terms.shift_right(terms.var("x", -9, 40), amount).low == -9
    for bad in (terms.var("n", -1, 2), const(-1), const(5000), terms.var("n", 0, None)):
        if bad.high is None:
            assert terms.shift_left(i, bad).high is None
        else:
            with pytest.raises(DimError, match=r"a shift is by 0\.\.1024 bits; got"):
                terms.shift_left(i, bad)


# ------------------------------------------------------------------------- substitution


def test_substitution_is_composition():
    compared = refused = 0
    for seed, rng, scene, term, _ in scenes(4000, depth=2):
        inner = {v: random_term(rng, scene, 1)[0] for v in scene.variables if rng.random() < 0.7}
        try:
            changed = folding.substitute(term, inner)
        except DimError:  # what is put in for the amount of a shift may be negative
            refused += 1
            continue
        point = scene.point(rng)
        moved = {v.name: value(t, point, scene) for v, t in inner.items()}
        # a value outside the variable's range may be simplified away: ask only inside
        dims = {known.name: point[known.name] for known in scene.dims}
        inside = all(
            evaluate(v.low, dims) <= moved[v.name] <= evaluate(v.high, dims) for v in inner
        )
        if inside:
            expected = value(term, point | moved, scene)
            assert value(changed, point, scene) == expected, (seed, term, inner, point)
            compared += 1
    assert compared > 700
    assert refused < 200


def test_sizes_are_rewritten():
    for seed, rng, scene, term, expected in scenes(500, depth=2, symbolic=True):
        point = scene.point(rng)
        dims = {known.name: point[known.name] for known in scene.dims}
        fixed = folding.substitute(term, {}, lambda size, dims=dims: evaluate(size, dims))
        used = folding.term_symbols([fixed]) - folding.term_symbols(folding.variables([fixed]))
        assert not used, (seed, fixed)
        assert value(fixed, point, scene) == expected(point), (seed, term, point)


def test_variables_and_subterms():
    term = terms.xor(terms.linear([(i, 2), (j, M)]), terms.floordiv(k, 3))
    assert folding.variables([term]) == {i, j, k}
    assert term in folding.subterms([term])
    assert {symbol.name for symbol in folding.term_symbols([term])} == {"M"}


# ------------------------------------------------------------------------- interpreters


def grid_of(scene):
    return [(v, int(v.low), int(v.high) - int(v.low) + 1) for v in scene.variables]


def test_arrays_agree_with_integers():
    compared = refused = 0
    for seed, rng, scene, term, expected in scenes(1500, depth=3, symbolic=False):
        grid = arrays.grid(grid_of(scene))
        try:
            (array,) = arrays.arrays_of([term], grid)
        except CoordinateError:
            refused += 1
            continue
        array = np.broadcast_to(array, tuple(extent for _, _, extent in grid_of(scene)))
        for _ in range(5):
            point = scene.point(rng)
            place = tuple(point[v.name] - int(v.low) for v in scene.variables)
            assert int(array[place]) == expected(point), (seed, term, point)
            compared += 1
    assert compared > 5000
    assert refused < 200


def test_arrays_refuse_what_leaves_62_bits():
    big = terms.scale(i, 2**60)
    with pytest.raises(CoordinateError, match=r"reaches 8070450532247928832, which does not fit"):
        arrays.arrays_of([big], arrays.grid([(i, 0, 8)]))
    x = terms.var("x", -4, 4)
    for term in (
        terms.shift_left(x, terms.var("n", 0, 70)),
        terms.floordiv(terms.multiply(x, x), 2**70),
        terms.mod(x, 2**70),
    ):
        with pytest.raises(CoordinateError, match="does not fit in 62 bits"):
            arrays.arrays_of([term], arrays.grid([(v, 0, 5) for v in folding.variables([term])]))


def test_source_text_agrees_with_integers():
    for seed, rng, scene, term, expected in scenes(1000, depth=3, symbolic=False):
        other, also = random_term(rng, scene, 2)
        code = function_text("places", scene.variables, [term, other])
        space = {"__builtins__": {}}
        exec(code, space)
        for _ in range(5):
            point = scene.point(rng)
            numbers = space["places"](*(point[v.name] for v in scene.variables))
            assert numbers == (expected(point), also(point)), (seed, code, point)


def test_source_text_has_our_names_only():
    strange = coord("exec__import__", 4)
    code = function_text("f", [strange], [terms.mod(strange, 3)])
    assert "exec" not in code
    with pytest.raises(DimError, match="source text needs concrete sizes; M is symbolic"):
        function_text("f", [i], [terms.scale(i, M)])


def test_closed_forms_agree_with_integers():
    for seed, rng, scene, term, expected in scenes(120, depth=2):
        formula = expression(term)
        for _ in range(2):
            point = scene.point(rng)
            values = {symbol: point[symbol.name] for symbol in formula.free_symbols}
            assert formula.subs(values) == expected(point), (seed, term, formula, point)
    assert expression(terms.linear([(i, 4)], 1)) == 4 * sympy.Symbol("i", integer=True) + 1


def test_text_reads_as_the_book():
    cases = {
        "4*i + floor(j/2) mod 4": terms.add(terms.scale(i, 4), terms.mod(terms.floordiv(j, 2), 4)),
        "floor(j/8) + 5": terms.linear([(terms.floordiv(j, 8), 1)], 5),
        "-i + 3": terms.linear([(i, -1)], 3),
        "i - 2*j": terms.linear([(i, 1), (j, -2)]),
        "(i + j) mod 5": terms.mod(terms.add(i, j), 5),
        "i xor floor(j/2)": terms.xor(i, terms.floordiv(j, 2)),
        "3*(i xor j) + k": terms.linear([(terms.xor(i, j), 3), (k, 1)]),
        "(i xor j) + k": terms.add(terms.xor(i, j), k),
        "M*i": terms.scale(i, M),
        "(M + 1)*i + M": terms.linear([(i, M + 1)], M),
    }
    for expected, term in cases.items():
        assert text(term) == expected


def test_shared_parts_are_interpreted_once():
    class Counting:
        def __init__(self):
            self.asked = 0

        def var(self, term: Var):
            return 1

        def linear(self, constant, parts):
            self.asked += 1
            return constant + sum(x * c for x, c in parts)

        def divmod(self, x, divisor, term):
            self.asked += 1
            return divmod(x, divisor)

    chain = terms.add(i, j)
    for _ in range(200):  # as a tree 2**200 leaves
        chain = terms.linear([(terms.floordiv(chain, 3), 1), (terms.mod(chain, 3), 1)], 9)
    counting = Counting()
    Fold(counting)(chain)
    assert counting.asked == 401
