"""One meaning, every interpreter: layouts, an access pattern, an inverse and a formula through all.

Integers are the reference; NumPy, SymPy, source text (under CPython and under numba) and both Z3
encodings must give the same numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import z3

from layout_algebra.arithmetic.expressions import expression, symbol
from layout_algebra.arithmetic.source import function_text
from layout_algebra.axes import laneid, warpid
from layout_algebra.device import cpu
from layout_algebra.folding import Fold
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.notation import S
from layout_algebra.prover.bits import Bits, width_of
from layout_algebra.prover.digits import Digits, NeedsBits
from layout_algebra.prover.dims import SizeEncoder
from layout_algebra.terms import Term, Var

frag = TileLayout(S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)])  # fmt: skip
swizzled = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))


def access(lane, column):
    """ldmatrix-like: lane 8k+r addresses row r, sixteen bytes of column k of a swizzled tile."""
    place = swizzled.apply(lane % 8, 8 * (column + lane // 8) % 64, shape=(8, 64))
    return {"byte": 2 * place["m"], "bank": place["m"] // 2 % 32}


MAPS: dict[str, Map] = {
    "fragment": frag.map((8, 16)),
    "regrouped": TileLayout(S[(6, 10) : (10, 1)]).map((4, 15)),
    "negative": TileLayout(S[(3, 5, 2) : (-7, 2, 1)] + 4).map((5, 6)),
    "swizzled": swizzled.map((8, 64)),
    "mirrored": ComposeLayout(1, 2, 3, TileLayout(S[(4, 16) : (16, 1)]), False).map((64,)),
    "access": Map.of(access, (32, 8)),
    "inverse": Map.of(
        lambda laneid, warpid, m: {"index": (laneid // 4 * 2 + warpid) * 8 + laneid % 4 * 2 + m},
        (32, 2, 2),
    ),
    "formula": Map.of(lambda i, j: {"m": (i * 7 + j // 3) % 11 ^ (j & 5), "t": -i | j}, (9, 13)),
    "shifts": Map.of(lambda x, k: (x << k) ^ (x >> (k // 2)), (16, 6)),
}


def points(source: Map, most: int = 60) -> list[dict[Var, int]]:
    every = list(source.points())
    return every if len(every) <= most else random.Random(7).sample(every, most)


def expected(source: Map, point: dict[Var, int]) -> list[int]:
    return list(next(source.places_at(point)).values())


@pytest.mark.parametrize("name", MAPS)
def test_numpy(name: str) -> None:
    source = MAPS[name]
    table = source.table()
    for point in points(source):
        at = tuple(point[v] for v in source.coordinates)
        assert [int(table[axis][at]) for axis in source.axes] == expected(source, point)


@pytest.mark.parametrize("name", MAPS)
def test_sympy(name: str) -> None:
    source = MAPS[name]
    forms = [expression(term) for _, term in source.outputs]
    for point in points(source, 12):
        values = {symbol(v.name): number for v, number in point.items()}
        assert [int(form.subs(values)) for form in forms] == expected(source, point)


@pytest.mark.parametrize("name", MAPS)
def test_source_text(name: str) -> None:
    source = MAPS[name]
    text = function_text("place", source.coordinates, [term for _, term in source.outputs])
    space: dict[str, Callable[..., tuple[int, ...]]] = {}
    exec(text, space)
    for point in points(source):
        got = space["place"](*(point[v] for v in source.coordinates))
        assert list(got) == expected(source, point)


@pytest.mark.parametrize("name", MAPS)
def test_compiled_on_the_cpu(name: str) -> None:
    source = MAPS[name]
    compiled, table = cpu.table(source), source.table()
    for axis in source.axes:
        assert np.array_equal(compiled[axis], table[axis])


@pytest.mark.parametrize("name", MAPS)
def test_z3_bits(name: str) -> None:
    source = MAPS[name]
    terms = [term for _, term in source.outputs]
    bits = Bits(width_of([*terms, *source.coordinates]))
    fold = Fold(bits)
    check_z3(source, terms, fold, bits)


@pytest.mark.parametrize("name", MAPS)
def test_z3_digits(name: str) -> None:
    source = MAPS[name]
    terms = [term for _, term in source.outputs]
    digits = Digits(SizeEncoder())
    fold = Fold(digits)
    if name in ("swizzled", "mirrored", "access", "formula", "shifts"):
        with pytest.raises(NeedsBits):
            _ = [fold(term) for term in terms]
        return
    check_z3(source, terms, fold, digits)


def check_z3(source: Map, terms: list[Term], fold: Fold, encoder: Bits | Digits) -> None:
    """At a point the encoding has exactly one model, and it has the right numbers."""
    values = [fold(term) for term in terms]
    inputs = {v: encoder.var(v) for v in source.coordinates}
    for point in points(source, 6):
        solver = z3.Solver()
        solver.add(*encoder.conditions, *(inputs[v] == number for v, number in point.items()))
        assert solver.check() == z3.sat
        model = solver.model()
        got = []
        for value in values:
            number = model.eval(value, model_completion=True)
            got.append(number.as_signed_long() if isinstance(encoder, Bits) else number.as_long())
        assert got == expected(source, point)
        solver.add(z3.Or([value != number for value, number in zip(values, got, strict=True)]))
        assert solver.check() == z3.unsat


def test_what_is_not_compiled_says_so() -> None:
    from layout_algebra.dims import Dim
    from layout_algebra.errors import CoordinateError
    from layout_algebra.notation import R

    with pytest.raises(CoordinateError, match="copies"):
        cpu.place_text(TileLayout(S[4] + R[2 : 4@warpid]).map())  # fmt: skip
    with pytest.raises(CoordinateError, match="evaluate the Dims"):
        cpu.place_text(TileLayout(S[(Dim("M"), 4) : (4, 1)]).map())
    with pytest.raises(CoordinateError, match="62 bits"):
        cpu.place_text(TileLayout(S[(4,) : (2**61,)]).map())
    assert cpu.compile_place(frag.map())(19) == (5, 0, 1)
