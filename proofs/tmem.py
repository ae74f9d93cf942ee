"""Tensor Memory: an accumulator layout on TMEM's own axes, lanes and columns."""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    Covers,
    Dim,
    Disjoint,
    Equivalent,
    Injective,
    Inverse,
    Map,
    S,
    TCol,
    TileLayout,
    TLane,
    Verdict,
    WithinBounds,
)
from layout_algebra.theorems import theorem

OVERVIEW = "book: TIRx Layout API, section Overview"
BLACKWELL = "book: TIRx Layout API, section Example: Blackwell Tensor Memory"
SCALE = "book: TIRx Layout API, section Scale factor layouts"

# fmt: off
wide = TileLayout(S[(128, 256) : (1@TLane, 1@TCol)])
accumulators = TileLayout(S[(2, 128, 112) : (112@TCol, 1@TLane, 1@TCol)])
#: The same with any number of stages and of columns.
K, N = Dim("stages"), Dim("N")
any_size = TileLayout(S[(K, 128, N) : (N@TCol, 1@TLane, 1@TCol)])
# fmt: on


# -- the 128 x 256 tile ------------------------------------------------------------------------
@theorem("TMEM: a 128 x 256 tile has its rows on TLane, its columns on TCol", source=OVERVIEW)
def rows_and_columns():
    return Equivalent(wide, Map.of(lambda r, c: {TLane: r, TCol: c}, (128, 256)))


@theorem("TMEM: the 128 x 256 tile fills 128 lanes of 256 columns", source=OVERVIEW)
def wide_is_bijective():
    return Bijective(wide, {TLane: 128, TCol: 256})


@theorem("TMEM: the place is no single address: no axis alone tells", source=OVERVIEW)
def two_axes():
    """Lane and column together give the element back."""
    back = Map.of(lambda TLane, TCol: {"r": TLane, "c": TCol}, (128, 256))
    return Inverse(Map.of(lambda r, c: wide.apply(r, c), (128, 256)), back)


@theorem(
    "TMEM: the column alone is an address of the element",
    source=OVERVIEW,
    expect=Verdict.REFUTED,
    note="128 elements of a column have one TCol; the lane is the other half of the place",
)
def column_is_no_address():
    return Injective(Map.of(lambda r, c: {TCol: wide.apply(r, c)["TCol"]}, (128, 256)))


# -- two accumulators of 112 columns -----------------------------------------------------------
@theorem("TMEM: element (a, l, c) is at lane l, column 112*a + c", source=BLACKWELL)
def every_element():
    formula = Map.of(lambda a, l, c: {TLane: l, TCol: 112 * a + c}, (2, 128, 112))
    return Equivalent(accumulators, formula)


@theorem("TMEM: where shape and extents agree the digits are the coordinate", source=BLACKWELL)
def digits_are_coordinates():
    return Equivalent(
        Map.of(lambda a, l, c: accumulators.apply(a, l, c, shape=(2, 128, 112)), (2, 128, 112)),
        Map.of(lambda a, l, c: accumulators.apply(a, l, c), (2, 128, 112)),
    )


@theorem("TMEM: the lanes 0 to 127 are filled, each column of them", source=BLACKWELL)
def all_lanes():
    """One stage's column: a and c fixed, the lane iter alone."""
    column = accumulators.map().fixed(c0=1, c2=5)
    return Bijective(column, {TLane: 128, TCol: (117, 118)})


@theorem("TMEM: two stages cover the columns 0 to 223 once each", source=BLACKWELL)
def columns_0_to_223():
    return Bijective(accumulators, {TLane: 128, TCol: 224})


@theorem("TMEM: sizes need not be powers of two", source=BLACKWELL)
def any_number_of_columns():
    """For every number of stages and of columns: no gap, no overlap."""
    return Bijective(any_size, {TLane: 128, TCol: K * N})


@theorem("TMEM: stages of any width never overlap", source=BLACKWELL)
def stages_disjoint():
    # fmt: off
    first = TileLayout(S[(128, N) : (1@TLane, 1@TCol)])
    second = TileLayout(S[(128, N) : (1@TLane, 1@TCol)] + N@TCol)
    # fmt: on
    return Disjoint(first, second)


@theorem(
    "TMEM: padded to 128 columns a stage still fills TMEM without a gap",
    source=BLACKWELL,
    expect=Verdict.REFUTED,
    note="with a stage every 128 columns, columns 112 to 127 are empty: extents are not padded",
)
def padding_leaves_gaps():
    # fmt: off
    padded = TileLayout(S[(2, 128, 112) : (128@TCol, 1@TLane, 1@TCol)])
    # fmt: on
    return Covers(padded, {TLane: 128, TCol: 240})


@theorem("TMEM: of 256 columns the two stages leave 32 for scale factors", source=BLACKWELL)
def room_for_scale_factors():
    """Counted in hardware columns; a single accumulator of 256 columns would leave none."""
    # fmt: off
    rest = TileLayout(S[(128, 32) : (1@TLane, 1@TCol)] + 224@TCol)
    # fmt: on
    return (
        Disjoint(accumulators, rest)
        & WithinBounds(accumulators, {TCol: 256})
        & WithinBounds(rest, {TCol: 256})
    )


@theorem("TMEM: each accumulator element has one place, each place one element", source=SCALE)
def one_to_one():
    """The inverse, for every number of columns."""
    place = Map.of(lambda a, l, c: any_size.apply(a, l, c), (K, 128, N))
    back = Map.of(lambda TLane, TCol: {"a": TCol // N, "l": TLane, "c": TCol % N}, (128, K * N))
    return Inverse(place, back)
