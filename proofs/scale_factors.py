"""The scale-factor atom: one 32-row group that every warp's window of TMEM sees.

    S[(32, sf_per_mma) : (1@TLane, 1@TCol)] + R[4 : 32@TLane]

for every sf_per_mma.
"""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    Covers,
    Dim,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    Map,
    R,
    ReplicasDistinct,
    S,
    TCol,
    TileLayout,
    TLane,
    Verdict,
)
from layout_algebra.theorems import theorem

SCALE = "book: TIRx Layout API, section Scale factor layouts"

sf_per_mma = Dim("sf_per_mma")
#: The same for whole hardware columns of four 8-bit elements.
sf_of_four = Dim("sf_of_four", multiple_of=4)

# fmt: off
scale = TileLayout(S[(32, sf_per_mma) : (1@TLane, 1@TCol)] + R[4 : 32@TLane])
# fmt: on
#: TMEM lane -> the warp whose 32-lane window it is in, and the lane of that window.
window = Map.of(
    lambda TLane, TCol: {"warp": TLane // 32, "lane": TLane % 32, "TCol": TCol},
    (128, sf_per_mma),
)


# -- the map -----------------------------------------------------------------------------------
@theorem("scale: the shard puts (r, s) at lane r, column s", source=SCALE)
def base_place():
    base = Map.of(lambda r, s: scale.apply(r, s), (32, sf_per_mma))
    return Equivalent(base, Map.of(lambda r, s: {TLane: r, TCol: s}, (32, sf_per_mma)))


@theorem("scale: the copies are at lanes r + 32*q, q in 0..3", source=SCALE)
def copies():
    formula = Map.of(
        lambda r, s, q: {TLane: r + 32 * q, TCol: s}, (32, sf_per_mma, 4), copies=("q",)
    )
    return Equivalent(scale, formula)


@theorem("scale: injective, and the four copies are at different places", source=SCALE)
def distinct():
    return Injective(scale) & ReplicasDistinct(scale)


@theorem("scale: the copies fill lanes 0-31, 32-63, 64-95 and 96-127", source=SCALE)
def four_windows():
    """Each copy, taken alone, fills one window once: every row, every column."""

    def copy(q):
        layout = TileLayout(S[(32, sf_per_mma) : (1@TLane, 1@TCol)] + 32*q@TLane)  # fmt: skip
        return Bijective(layout, {TLane: (32 * q, 32 * q + 32), TCol: sf_per_mma})

    return copy(0) & copy(1) & copy(2) & copy(3)


@theorem("scale: all copies fill 128 lanes x sf_per_mma columns once", source=SCALE)
def all_lanes():
    return Bijective(scale, {TLane: 128, TCol: sf_per_mma})


@theorem("scale: every warp's window holds the whole group", source=SCALE)
def every_window_sees_all():
    """(r, s) is at lane r, column s of the windows of all four warps."""
    seen = Map.of(
        lambda r, s, w: {"warp": w, "lane": r, "TCol": s}, (32, sf_per_mma, 4), copies=("w",)
    )
    return Equivalent(window.after(scale.map()), seen)


@theorem("scale: no window is left out", source=SCALE)
def every_window_is_full():
    def window_of(warp):
        return Covers(scale, {TLane: (32 * warp, 32 * warp + 32), TCol: sf_per_mma})

    return window_of(0) & window_of(1) & window_of(2) & window_of(3)


@theorem(
    "scale: without the replica every warp's window holds the group",
    source=SCALE,
    expect=Verdict.REFUTED,
    note="the shard alone is in lanes 0 to 31, the window of warp 0",
)
def shard_alone():
    alone = TileLayout(S[(32, 16) : (1@TLane, 1@TCol)])  # fmt: skip
    return Covers(alone, {TLane: (32, 64), TCol: 16})


@theorem(
    "scale: a scale factor has one place, as an accumulator element has",
    source=SCALE,
    expect=Verdict.REFUTED,
    note="accumulators have one place each; a scale factor has four",
)
def not_one_to_one():
    alone = TileLayout(S[(32, sf_per_mma) : (1@TLane, 1@TCol)])  # fmt: skip
    return Equivalent(scale, alone)


# -- 8-bit elements in 32-bit columns ----------------------------------------------------------
def packed(size):
    """Element s of 8 bits starts at bit 8*s: its 32-bit column, and its byte there."""
    return Map.of(lambda s: {"column": 8 * s // 32, "byte": 8 * s % 32 // 8}, (size,))


def chapter(size):
    """As the chapter writes it."""
    return Map.of(lambda s: {"column": s // 4, "byte": s % 4}, (size,))


@theorem("scale: hardware column s//4, byte s%4", source=SCALE)
def column_and_byte():
    return Equivalent(packed(sf_per_mma), chapter(sf_per_mma))


@theorem("scale: the byte is 0 to 3, and no two elements share one", source=SCALE)
def bytes_of_a_column():
    back = Map.of(lambda column, byte: {"s": 4 * column + byte}, {"column": sf_per_mma, "byte": 4})
    return LeftInverse(chapter(sf_per_mma), back)


@theorem("scale: whole columns are filled, four elements each", source=SCALE)
def whole_columns():
    back = Map.of(
        lambda column, byte: {"s": 4 * column + byte}, {"column": sf_of_four // 4, "byte": 4}
    )
    return Bijective(chapter(sf_of_four), {"column": sf_of_four // 4, "byte": 4}) & Inverse(
        chapter(sf_of_four), back
    )


@theorem("scale: four consecutive elements share a hardware column", source=SCALE)
def four_share():
    """Elements 4*k to 4*k + 3, for every k."""
    four = Map.of(lambda k, b: (8 * (4 * k + b)) // 32, {"k": sf_per_mma, "b": 4})
    return Equivalent(four, Map.of(lambda k, b: k, {"k": sf_per_mma, "b": 4}))


@theorem(
    "scale: any four consecutive elements share a hardware column",
    source=SCALE,
    expect=Verdict.REFUTED,
    note="only those that start at a multiple of four",
)
def any_four_share():
    four = Map.of(lambda k, b: (8 * (k + b)) // 32, {"k": sf_per_mma, "b": 4})
    return Equivalent(four, Map.of(lambda k, b: k // 4, {"k": sf_per_mma, "b": 4}))
