"""Times, reported and never asserted: `make bench`.

Goals are in the names: what a person waits for when they write a layout and ask about it.
"""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from layout_algebra import Buffer, Dim, compose, inverse
from layout_algebra.claims import (
    BankConflictFree,
    Bijective,
    Composition,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
)
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.notation import S
from layout_algebra.prover import prove
from layout_algebra.verdicts import Verdict


def bits(count: int) -> TileLayout:
    """`count` iters of extent 2 in random order: 2**count elements."""
    strides = [1 << k for k in range(count)]
    random.Random(1).shuffle(strides)
    return TileLayout.from_iters([(2, stride, "m") for stride in strides])


def mixed() -> TileLayout:
    """14 iters of mixed radix in random order, 1.8e9 elements."""
    extents = [3, 5, 2, 7, 4, 6, 3, 2, 5, 3, 4, 2, 3, 5]
    strides, below = [], 1
    for extent in extents:
        strides.append(below)
        below *= extent
    iters = list(zip(extents, strides, strict=True))
    random.Random(2).shuffle(iters)
    return TileLayout.from_iters([(extent, stride, "m") for extent, stride in iters])


def inverse_pair(count: int) -> tuple[TileLayout, TileLayout]:
    """A layout of `count` mixed-radix iters whose places are permuted, and its inverse layout."""
    rng = random.Random(3)
    extents = [rng.randint(2, 6) for _ in range(count)]
    order = list(range(count))
    rng.shuffle(order)
    strides, below = [0] * count, 1
    for position in reversed(order):
        strides[position] = below
        below *= extents[position]
    weights, below = [0] * count, 1
    for position in reversed(range(count)):
        weights[position] = below
        below *= extents[position]
    f = TileLayout.from_iters([(e, s, "m") for e, s in zip(extents, strides, strict=True)])
    g = TileLayout.from_iters([(extents[k], weights[k], "m") for k in order])
    return f, g


@pytest.mark.parametrize("layout", [bits(40), mixed()], ids=["40 bits", "14 mixed"])
def test_injective_by_structure_at_most_50_us(benchmark, layout):
    assert benchmark(prove, Injective(layout)).verdict is Verdict.PROVED


@pytest.mark.parametrize("layout", [bits(40), mixed()], ids=["40 bits", "14 mixed"])
def test_injective_by_solver_at_most_100_ms(benchmark, layout):
    proof = benchmark(prove, Injective(layout), method="solver")
    assert proof.verdict is Verdict.PROVED


@pytest.mark.parametrize("method", ["auto", "solver"])
def test_swizzled_tile_of_2_to_the_24_at_most_20_ms(benchmark, method):
    tile = ComposeLayout(3, 3, 3, TileLayout(S[(4096, 4096) : (4096, 1)]))
    assert benchmark(prove, Injective(tile), method=method).verdict is Verdict.PROVED


def test_swizzled_bijective(benchmark):
    tile = ComposeLayout(3, 3, 3, TileLayout(S[(4096, 4096) : (4096, 1)]))
    assert benchmark(prove, Bijective(tile, {"m": 1 << 24})).verdict is Verdict.PROVED


@pytest.mark.parametrize("method", ["auto", "solver"])
def test_equivalent_factorisations(benchmark, method):
    one = TileLayout.from_iters([(1000, 999, "m"), (999, 1, "m")])
    two = TileLayout.from_iters([(999, 1000, "m"), (1000, 1, "m")])
    assert benchmark(prove, Equivalent(one, two), method=method).verdict is Verdict.PROVED


@pytest.mark.parametrize("method", ["auto", "solver"])
def test_inverse_of_30_iters(benchmark, method):
    f, g = inverse_pair(30)
    assert benchmark(prove, LeftInverse(f, g), method=method).verdict is Verdict.PROVED


@pytest.mark.parametrize("proven", [False, True], ids=["alone", "proven"])
@pytest.mark.parametrize("operation", ["compose", "inverse"])
def test_24_bits_at_most_1_ms_and_50_ms_proven(benchmark, operation, proven):
    f = bits(24)
    outer = inverse(f)

    def work() -> None:
        found = compose(outer, f) if operation == "compose" else inverse(f)
        if proven:
            claim = Composition(outer, f, found) if operation == "compose" else Inverse(f, found)
            assert prove(claim).verdict is Verdict.PROVED

    benchmark(work)


def test_inverse_of_30_iters_found_and_proven_at_most_200_ms(benchmark):
    f, _ = inverse_pair(30)
    assert f.size() > 10**17

    def work() -> None:
        assert prove(Inverse(f, inverse(f))).verdict is Verdict.PROVED

    benchmark(work)


def test_symbolic_tiles_composed_with_their_inverse_at_most_1_s(benchmark):
    P, bm, Q, bn = (Dim(name) for name in ("P", "bm", "Q", "bn"))
    f = TileLayout(S[(P, bm, Q, bn) : (Q * bm * bn, bn, bm * bn, 1)])

    def work() -> None:
        g = inverse(f)
        identity = compose(g, f)
        assert identity == TileLayout(S[(P * bm * Q * bn,) : (1,)])
        assert prove(Composition(g, f, identity)).verdict is Verdict.PROVED

    benchmark(work)


BANKS = {
    "swizzled column": (ComposeLayout(3, 3, 3, TileLayout(S[(32, 64) : (64, 1)])), 8),
    "padded column": (TileLayout(S[(32, 64) : (72, 1)]), 8),
    "any odd pitch": (TileLayout(S[(32, 64) : (16 * Dim("h", at_most=999) + 8, 1)]), 8),
}


@pytest.mark.parametrize("name", BANKS)
def test_bank_claim_over_all_bases_at_most_20_ms(benchmark, name):
    layout, step = BANKS[name]
    column = Dim("j", multiple_of=step, at_most=64 - step)
    buffer = Buffer((32, 64), "float16", layout, align=16)
    access = buffer.read(lambda lane, j: (lane, j), bytes=16, free=[column])
    proof = benchmark(lambda: prove(BankConflictFree(access)))
    assert proof.verdict is Verdict.PROVED


def test_apply_on_8_iters_at_most_10_us(benchmark):
    layout = TileLayout(S[(2, 3, 4, 5, 2, 3, 4, 5) : (1, 2, 3, 4, 5, 6, 7, 8)])
    benchmark(layout.apply, 77)


def test_apply_with_a_shape(benchmark):
    layout = TileLayout(S[(2, 3, 4, 5, 2, 3, 4, 5) : (1, 2, 3, 4, 5, 6, 7, 8)])
    benchmark(layout.apply, 7, 77, shape=(120, 120))


def test_import_at_most_50_ms(benchmark):
    program = (
        "import time; t = time.perf_counter(); import layout_algebra; "
        "from layout_algebra import S, TileLayout; print(time.perf_counter() - t)"
    )

    def start() -> float:
        return float(
            subprocess.run(
                [sys.executable, "-c", program], capture_output=True, check=True, text=True
            ).stdout
        )

    seconds = benchmark.pedantic(start, rounds=5)
    benchmark.extra_info["import seconds"] = seconds
