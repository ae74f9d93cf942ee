"""The row maps of the layout constructors, for every number of columns."""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    Covers,
    Dim,
    Disjoint,
    Equivalent,
    Inverse,
    Map,
    TCol,
    TLane,
    Verdict,
    WithinBounds,
    m,
    tid_in_wg,
)
from layout_algebra.hardware import tmem_datapath_layout, wg_local_layout
from layout_algebra.theorems import theorem

COMMON = "book: TIRx Layout API, section Common layout constructors"
RULE = "PTX ISA, data path layouts of tcgen05.mma"

N = Dim("N", at_least=1, at_most=512)
N2 = Dim("N2", multiple_of=2, at_least=2, at_most=1024)
N4 = Dim("N4", multiple_of=4, at_least=4, at_most=2048)
rows = Dim("rows", at_least=1, at_most=128)


# -- TMEM accumulators -------------------------------------------------------------------------
@theorem("datapath D: M = 128, row r is lane r", source=COMMON)
def rows_of_d():
    return Equivalent(
        tmem_datapath_layout("D", 128, N), Map.of(lambda r, c: {TLane: r, TCol: c}, (128, N))
    )


@theorem("datapath D: fills 128 lanes of N columns", source=COMMON)
def d_is_bijective():
    return Bijective(tmem_datapath_layout("D", 128, N), {TLane: 128, TCol: N})


@theorem("datapath F: M = 64, row r is lane 32*(r//16) + r%16", source=COMMON)
def rows_of_f():
    formula = Map.of(lambda r, c: {TLane: 32 * (r // 16) + r % 16, TCol: c}, (64, N))
    return Equivalent(tmem_datapath_layout("F", 64, N).map((64, N)), formula)


@theorem("datapath F: 16 rows in each of the four lane windows", source=COMMON)
def f_is_scattered():
    """Of window w, lanes 0 to 15 hold rows 16*w to 16*w + 15."""
    window = Map.of(
        lambda TLane, TCol: {"window": TLane // 32, "lane": TLane % 32, "TCol": TCol}, (128, N)
    )
    scattered = Map.of(lambda w, l, c: {"window": w, "lane": l, "TCol": c}, (4, 16, N))
    return Equivalent(window.after(tmem_datapath_layout("F", 64, N).map()), scattered)


@theorem(
    "datapath F: its 64 rows are lanes 0 to 63",
    source=COMMON,
    expect=Verdict.REFUTED,
    note="only M = 128 maps rows to lanes directly; with M = 64, row 32 is at lane 64",
)
def f_is_not_direct():
    return WithinBounds(tmem_datapath_layout("F", 64, N), {TLane: 64})


@theorem("datapath F: the two sub-slabs share no lane and fill them all", source=RULE)
def sub_slabs():
    low, high = (tmem_datapath_layout("F", 64, N, sub_slab) for sub_slab in (0, 1))

    def both(slab, r, c):
        place = low.apply(r, c, shape=(64, N))
        return {TLane: place["TLane"] + 16 * slab, TCol: place["TCol"]}

    whole = Map.of(both, (2, 64, N))
    return (
        Disjoint(low, high)
        & Equivalent(whole.fixed(slab=1), high.map((64, N)))
        & Bijective(whole, {TLane: 128, TCol: N})
    )


@theorem("datapath A: M = 256 by two CTAs, row r of a CTA is lane r", source=RULE)
def rows_of_a():
    return Equivalent(
        tmem_datapath_layout("A", 128, N), Map.of(lambda r, c: {TLane: r, TCol: c}, (128, N))
    )


@theorem("datapaths B and E: the right half of the columns is 64 lanes on", source=RULE)
def rows_of_b_and_e():
    half = N2 // 2
    formula = Map.of(
        lambda r, side, c: {TLane: r + 64 * side, TCol: c}, {"r": 64, "side": 2, "c": half}
    )
    b, e = (tmem_datapath_layout(letter, 64, N2) for letter in "BE")
    return Equivalent(b, formula) & Equivalent(e, b) & Bijective(b, {TLane: 128, TCol: half})


@theorem("datapath C: the rows of F", source=RULE)
def rows_of_c():
    return Equivalent(tmem_datapath_layout("C", 64, N, 1), tmem_datapath_layout("F", 64, N, 1))


@theorem("datapath G: each quarter of the columns is 32 lanes on", source=RULE)
def rows_of_g():
    quarter = N4 // 4
    formula = Map.of(
        lambda r, part, c: {TLane: r + 32 * part, TCol: c}, {"r": 32, "part": 4, "c": quarter}
    )
    g = tmem_datapath_layout("G", 32, N4)
    return Equivalent(g, formula) & Bijective(g, {TLane: 128, TCol: quarter})


# -- warpgroup registers -----------------------------------------------------------------------
@theorem("wg_local: row r is thread r, column c is local position c", source=COMMON)
def wg_local():
    formula = Map.of(lambda r, c: {tid_in_wg: r, m: c}, (rows, N))
    return Equivalent(wg_local_layout(N, rows), formula)


@theorem("wg_local: with 128 rows each thread has one row", source=COMMON)
def one_row_each():
    """A thread's positions are exactly the columns of its row."""
    back = Map.of(lambda tid_in_wg, m: {"r": tid_in_wg, "c": m}, (128, N))
    place = Map.of(lambda r, c: wg_local_layout(N).apply(r, c), (128, N))
    return Bijective(wg_local_layout(N), {tid_in_wg: 128, m: N}) & Inverse(place, back)


@theorem(
    "wg_local: each thread has one row, whatever the number of rows",
    source=COMMON,
    expect=Verdict.REFUTED,
    note="with fewer than 128 rows the last threads have none",
)
def fewer_rows():
    return Covers(wg_local_layout(8, 64), {tid_in_wg: 128, m: 8})


# -- between the two ---------------------------------------------------------------------------
@theorem("tcgen05.ld 32x32b: each warp has its own 32 lanes of TMEM", source=COMMON)
def warp_and_window():
    """Row r of a register tile with a row a thread, and of the accumulator D it is loaded from:
    warp and lane of the thread are window and lane of TMEM."""
    registers, accumulator = wg_local_layout(N), tmem_datapath_layout("D", 128, N)

    def thread(r, c):
        place = registers.apply(r, c)
        return {
            "warp": place["tid_in_wg"] // 32,
            "lane": place["tid_in_wg"] % 32,
            "col": place["m"],
        }

    def cell(r, c):
        place = accumulator.apply(r, c)
        return {"warp": place["TLane"] // 32, "lane": place["TLane"] % 32, "col": place["TCol"]}

    return Equivalent(Map.of(thread, (128, N)), Map.of(cell, (128, N)))
