"""wgmma: who holds which element of the accumulator and of A, for every number of columns."""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    Dim,
    Equivalent,
    Map,
    Verdict,
    laneid,
    m,
    wid_in_wg,
)
from layout_algebra.hardware.wgmma import (
    Wgmma,
    wgmma,
    wgmma_a_layout,
    wgmma_accumulator_layout,
    wgmma_types,
)
from layout_algebra.theorems import theorem

SOURCE = "PTX ISA, wgmma.mma_async, Register Fragments"

N = Dim("N", multiple_of=8, at_least=8, at_most=256)
#: Strips of 16 columns.
N16 = Dim("N16", multiple_of=16, at_least=16, at_most=256)
accumulator = wgmma_accumulator_layout(N)

WARPGROUP = {wid_in_wg: 4, laneid: 32}


# -- the accumulator ---------------------------------------------------------------------------
@theorem("wgmma D: the registers N/2 of 128 threads hold each element once", source=SOURCE)
def d_is_bijective():
    return Bijective(accumulator, {**WARPGROUP, m: N // 2})


@theorem("wgmma D: element (i, j) is where the figure has it, for every N", source=SOURCE)
def d_closed_form():
    """i = 16*warp + 8*half + g, j = 8*group + 2*q + one: register 4*group + 2*half + one."""

    def place(warp, half, g, group, q, one):
        return {wid_in_wg: warp, laneid: 4 * g + q, m: 4 * group + 2 * half + one}

    sizes = {"warp": 4, "half": 2, "g": 8, "group": N // 8, "q": 4, "one": 2}
    return Equivalent(accumulator, Map.of(place, sizes))


@theorem("wgmma D: a warp holds 16 rows of the 64", source=SOURCE)
def warp_rows():
    warp = Map.of(
        lambda i, j: {"warp": accumulator.apply(i, j, shape=(64, N))["wid_in_wg"]}, (64, N)
    )
    return Equivalent(warp, Map.of(lambda i, j: {"warp": i // 16}, (64, N)))


# -- A in registers ----------------------------------------------------------------------------
def of_type(dtype: str) -> tuple[int, Wgmma]:
    one = wgmma(8, dtype)
    return one.k * 64 // 128, one


def state_a(dtype: str) -> None:
    """The theorems of one type of A."""
    registers, one = of_type(dtype)
    e = registers // 4

    @theorem(f"wgmma A {dtype}: each element is in one place of four registers", source=SOURCE)
    def a_is_bijective():
        return Bijective(wgmma_a_layout(dtype), {**WARPGROUP, m: registers})

    @theorem(f"wgmma A {dtype}: element (i, k) is where the figure has it", source=SOURCE)
    def a_closed_form():
        def place(i, k):
            lane = 4 * (i % 8) + k // e % 4
            register = i // 8 % 2 + 2 * (k // (4 * e))
            return {wid_in_wg: i // 16, laneid: lane, m: e * register + k % e}

        return Equivalent(one.A.map(), Map.of(place, (64, one.k)))


for one_type in wgmma_types():
    state_a(one_type)


# -- from one wgmma to the next ----------------------------------------------------------------
@theorem("wgmma: 16 columns of an accumulator lie as A of the next wgmma does", source=SOURCE)
def accumulator_is_a():
    """Strip s of 16 columns is in registers 8*s to 8*s + 7, in A's order (16-bit types): no lane
    hands anything to another."""
    d, a = wgmma_accumulator_layout(N16), wgmma_a_layout("float16")

    def of_d(i, strip, k):
        return d.apply(i, 16 * strip + k, shape=(64, N16))

    def of_a(i, strip, k):
        place = a.apply(i, k, shape=(64, 16))
        return {**place, "m": place["m"] + 8 * strip}

    sizes = {"i": 64, "strip": N16 // 16, "k": 16}
    return Equivalent(Map.of(of_d, sizes), Map.of(of_a, sizes))


@theorem(
    "wgmma: 32 columns of an accumulator lie as A of 8-bit types does",
    source=SOURCE,
    expect=Verdict.REFUTED,
    note="a lane has pairs of columns of D and fours of A: 8-bit types need an exchange of lanes",
)
def accumulator_is_not_a_of_8_bits():
    return Equivalent(wgmma_accumulator_layout(32), wgmma_a_layout("int8"))
