"""How fast compiled code looks at elements, reported and never asserted: `make bench`.

Goals, on two cores: 800 million elements a second for a map of 4 iters whose places come in order,
150 million for a permuted one.  The first check of a kind also pays for fresh memory.
"""

from __future__ import annotations

import os

import pytest

from layout_algebra.claims import (
    BankConflictFree,
    Bijective,
    Claim,
    Equivalent,
    Injective,
    LeftInverse,
)
from layout_algebra.device.checks import check
from layout_algebra.device.kernels import kernel_of
from layout_algebra.dims import Dim
from layout_algebra.inverting import inverse
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.memory import Buffer
from layout_algebra.notation import S
from layout_algebra.verdicts import Verdict

SIDE = 1 << 6
ALL = (SIDE, SIDE, SIDE, SIDE)  # 2^24 elements
IN_ORDER = TileLayout(S[ALL : (SIDE**3, SIDE**2, SIDE, 1)])
PERMUTED = TileLayout(S[ALL : (SIDE, SIDE**3, 1, SIDE**2)])
ODD = TileLayout(S[(65, 63, 61, 67) : (63 * 61 * 67, 61 * 67, 67, 1)])
SWIZZLED = ComposeLayout(3, 3, 3, TileLayout(S[(1 << 18, 64) : (64, 1)]))


def transposed() -> Map:
    """A map whose places do not come in order however its coordinates are visited."""
    low = 1 << 12
    return Map.of(lambda i: i % low * low + (i // low ^ i % low), (low * low,))


def banks() -> BankConflictFree:
    column = Dim("column", multiple_of=8, at_least=0, at_most=56)
    row = Dim("row", multiple_of=32, at_least=0, at_most=(1 << 17) - 32)
    whole = (1 << 17, 64)
    layout = ComposeLayout(3, 3, 3, TileLayout(S[whole : (64, 1)]))
    tile = Buffer(whole, "float16", layout, scope="shared", align=1024)
    read = tile.read(lambda lane, r, c: (r + lane, c), free=[row, column], bits=128)
    return BankConflictFree(read)


CLAIMS = {
    "injective, places in order": lambda: Injective(IN_ORDER),
    "injective, extents that are no powers of two": lambda: Injective(ODD),
    "injective, permuted iters": lambda: Injective(PERMUTED),
    "injective, a transpose in one coordinate": lambda: Injective(transposed()),
    "bijective, swizzled": lambda: Bijective(SWIZZLED, {"m": 1 << 24}),
    "equivalent": lambda: Equivalent(IN_ORDER, TileLayout(S[(1 << 24,) : (1,)])),
    "left inverse": lambda: LeftInverse(PERMUTED, inverse(PERMUTED)),
    "bank conflicts": banks,
}


@pytest.mark.parametrize("name", CLAIMS)
def test_elements_a_second(benchmark, name: str):
    claim: Claim = CLAIMS[name]()
    result = benchmark.pedantic(check, (claim,), rounds=3, warmup_rounds=1)
    best = max((check(claim) for _ in range(3)), key=lambda one: one.rate)
    assert result.verdict is Verdict.PROVED
    benchmark.extra_info["million elements a second"] = round(best.rate / 1e6)
    benchmark.extra_info["seconds to compile"] = round(best.compile_seconds, 2)
    benchmark.extra_info["load average"] = round(os.getloadavg()[0], 1)
    print(f"\n{name}: {best.rate / 1e6:,.0f} million elements a second of {best.cost}")


def test_the_text_of_a_kernel(benchmark):
    """What a person waits for before a compiler begins."""
    benchmark(lambda: kernel_of(SWIZZLED, (1 << 18, 64)))
