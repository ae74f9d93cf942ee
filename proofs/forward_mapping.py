"""From a logical coordinate to its place: flatten, split, multiply by strides, add up.

`apply` has three forms; the longest takes a coordinate and a shape, and the other two start in the
middle, from the flat index or from the digits.
"""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    Dim,
    Equivalent,
    Inverse,
    Map,
    R,
    S,
    TileLayout,
    Verdict,
    bx,
    by,
    bz,
    laneid,
    tx,
    warpid,
)
from layout_algebra.theorems import theorem

FORWARD = "book: TIRx Layout API, section Forward mapping"
FIGURE = "book: TIRx Layout API, section Interactive figure"

# fmt: off
full = TileLayout(
    S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid
)
#: The same extents, with every digit on an axis of its own: it shows the digits.
digits = TileLayout(S[(8, 2, 4, 2) : (1@bx, 1@by, 1@bz, 1@tx)])
digits_1011 = TileLayout(S[()] + 1@bx + 0@by + 1@bz + 1@tx)
# fmt: on

#: A logical shape, and extents of shard iters, of any size.
S0, S1, S2, S3 = Dim("S0"), Dim("S1"), Dim("S2"), Dim("S3")
e0, e1, e2 = Dim("e0"), Dim("e1"), Dim("e2")


def from_flat(size):
    return Map.of(lambda x: full.apply(x), (size,))


def from_digits():
    return Map.of(lambda c0, c1, c2, c3: full.apply(c0, c1, c2, c3), (8, 2, 4, 2))


def from_shape(*shape):
    if len(shape) == 2:
        return Map.of(lambda i, j: full.apply(i, j, shape=shape), shape)
    return Map.of(lambda i, j, k: full.apply(i, j, k, shape=shape), shape)


# -- the three forms ---------------------------------------------------------------------------
@theorem("apply: by flat index and by digits is the same", source=FORWARD)
def flat_and_digits():
    return Equivalent(from_flat(128), from_digits())


@theorem("apply: by digits and by coordinate and shape is the same", source=FORWARD)
def digits_and_shape():
    return Equivalent(from_digits(), from_shape(8, 16))


@theorem("apply: by coordinate and shape and by flat index is the same", source=FORWARD)
def shape_and_flat():
    return Equivalent(from_shape(8, 16), from_flat(128))


@theorem("apply: the three forms agree, for any extents and strides", source=FORWARD)
def three_forms_any_layout():
    """Extents e0, e1 over a logical shape of e0*e1 rows of one column each, and back."""
    s, t = Dim("s"), Dim("t")
    layout = TileLayout(S[(e0, e1) : (s@laneid, t)])  # fmt: skip
    flat = Map.of(lambda x: layout.apply(x), (e0 * e1,))
    split = Map.of(lambda c0, c1: layout.apply(c0, c1), (e0, e1))
    column = Map.of(lambda x, y: layout.apply(x, y, shape=(e0 * e1, 1)), (e0 * e1, 1))
    return Equivalent(split, flat) & Equivalent(column, flat)


# -- flatten -----------------------------------------------------------------------------------
@theorem("flatten: x0*S1 + x1, for every shape of rank 2", source=FORWARD)
def flatten_2():
    formula = Map.of(lambda i, j: i * S1 + j, (S0, S1))
    return Equivalent(TileLayout(S[S0 * S1 : 1]).map((S0, S1)), formula)


@theorem("flatten: x0*S1*S2 + x1*S2 + x2, for every shape of rank 3", source=FORWARD)
def flatten_3():
    formula = Map.of(lambda i, j, k: i * S1 * S2 + j * S2 + k, (S0, S1, S2))
    return Equivalent(TileLayout(S[S0 * S1 * S2 : 1]).map((S0, S1, S2)), formula)


@theorem("flatten: the sum of x_k times the sizes after it, rank 4", source=FORWARD)
def flatten_4():
    formula = Map.of(
        lambda x0, x1, x2, x3: x0 * S1 * S2 * S3 + x1 * S2 * S3 + x2 * S3 + x3, (S0, S1, S2, S3)
    )
    return Equivalent(TileLayout(S[S0 * S1 * S2 * S3 : 1]).map((S0, S1, S2, S3)), formula)


@theorem("flatten: one to one onto 0 .. S0*S1 - 1, for every shape", source=FORWARD)
def flatten_bijective():
    return Bijective(Map.of(lambda i, j: i * S1 + j, (S0, S1)), {"m": S0 * S1})


@theorem("flatten: (1, 3) of (8, 16) is index 19", source=FORWARD)
def flat_19():
    return Equivalent(TileLayout(S[128:1]).map((8, 16)).fixed(i=1, j=3), TileLayout(S[()] + 19))


# -- split -------------------------------------------------------------------------------------
@theorem("split: quotient and remainder, for every pair of extents", source=FORWARD)
def split_formula():
    """Over (e0, e1): c0 = flat // e1, c1 = flat mod e1."""
    layout = TileLayout(S[(e0, e1) : (1@bx, 1@by)])  # fmt: skip
    formula = Map.of(lambda flat: {bx: flat // e1, by: flat % e1}, (e0 * e1,))
    return Equivalent(layout.map((e0 * e1,)), formula)


@theorem("split: c_k is the flat index over the extents after it, mod e_k", source=FORWARD)
def split_formula_of_the_fragment():
    """Over (e0, 2, 4, 2), for every e0: the first digit alone is not reduced."""
    layout = TileLayout(S[(e0, 2, 4, 2) : (1@bx, 1@by, 1@bz, 1@tx)])  # fmt: skip
    formula = Map.of(
        lambda flat: {bx: flat // 16, by: flat // 8 % 2, bz: flat // 2 % 4, tx: flat % 2},
        (16 * e0,),
    )
    return Equivalent(layout.map((16 * e0,)), formula)


@theorem("split: undone by flattening over the extents", source=FORWARD)
def split_inverse():
    """For all extents (e0, e1, e2); every digit on an axis of its own."""
    split = TileLayout(S[(e0, e1, e2) : (1@bx, 1@by, 1@bz)]).map((e0 * e1 * e2,))  # fmt: skip
    flatten = Map.of(lambda bx, by, bz: {"i": bx * e1 * e2 + by * e2 + bz}, (e0, e1, e2))
    return Inverse(flatten, split)


@theorem("split: 19 over (8, 2, 4, 2) is (1, 0, 1, 1)", source=FORWARD)
def digits_of_19():
    return Equivalent(digits.map((128,)).fixed(i=19), digits_1011)


@theorem("split: element (1, 3) of (8, 16) has digits (1, 0, 1, 1)", source=FORWARD)
def digits_of_1_3():
    return Equivalent(digits.map((8, 16)).fixed(i=1, j=3), digits_1011)


# -- contributions -----------------------------------------------------------------------------
@theorem("contribution: digit c_k moves c_k * s_k along a_k", source=FORWARD)
def one_digit_at_a_time():
    """For the fragment: all other digits 0, before the offset."""
    # fmt: off
    frag = TileLayout(S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)]).map()
    return (
        Equivalent(frag.fixed(c1=0, c2=0, c3=0), TileLayout(S[8 : 4@laneid]))
        & Equivalent(frag.fixed(c0=0, c2=0, c3=0), TileLayout(S[2 : 1@warpid]))
        & Equivalent(frag.fixed(c0=0, c1=0, c3=0), TileLayout(S[4 : 1@laneid]))
        & Equivalent(frag.fixed(c0=0, c1=0, c2=0), TileLayout(S[2 : 1]))
    )
    # fmt: on


@theorem("contribution: of one axis they add up, then the offset", source=FIGURE)
def contributions_add_up():
    """For all extents, strides and offsets."""
    s0, s1, s2 = (Dim(f"s{k}", at_least=-(2**31)) for k in range(3))
    o = Dim("o", at_least=-(2**31))
    # fmt: off
    layout = TileLayout(S[(e0, e1, e2) : (s0@laneid, s1@warpid, s2@laneid)] + o@laneid)
    # fmt: on
    formula = Map.of(
        lambda c0, c1, c2: {laneid: (c0 * s0 + c2 * s2) + o, warpid: c1 * s1}, (e0, e1, e2)
    )
    return Equivalent(layout.map(), formula)


# -- other shapes ------------------------------------------------------------------------------
@theorem("shape: its rank and sizes need not be those of the shard", source=FORWARD)
def other_factorisations():
    """Every shape of 128 elements sees the same place at the same flat index."""
    return (
        Equivalent(from_shape(16, 8), from_flat(128))
        & Equivalent(from_shape(4, 32), from_flat(128))
        & Equivalent(from_shape(2, 4, 16), from_flat(128))
        & Equivalent(from_shape(4, 2, 16), from_shape(8, 16))
    )


@theorem("shape: (B, A) over a layout of extents (A, B), for all A and B", source=FORWARD)
def transposed_sizes():
    A, B = Dim("A"), Dim("B")
    layout = TileLayout(S[(A, B) : (1@laneid, 1)])  # fmt: skip
    seen = layout.map((B, A))
    formula = Map.of(lambda i, j: {laneid: (i * A + j) // B, "m": (i * A + j) % B}, (B, A))
    return Equivalent(seen, formula)


@theorem("shape: it may have fewer elements than the layout", source=FORWARD)
def smaller_shape():
    first = Map.of(lambda i, j: full.apply(5 * i + j), (3, 5))
    return Equivalent(from_shape(3, 5), first)


@theorem("shape: it may reach beyond the layout where the index does not", source=FORWARD)
def larger_shape():
    """Of a (9, 16) shape the first 128 elements are inside; so are all of its first eight rows."""

    def inside(i, j):
        return 16 * i + j <= 127

    seen = Map.of(lambda i, j: full.apply(i, j, shape=(9, 16)), (9, 16), where=inside)
    return Equivalent(seen, Map.of(lambda i, j: full.apply(16 * i + j), (9, 16), where=inside))


@theorem(
    "shape: the coordinate alone says the place, whatever the shape",
    source=FORWARD,
    expect=Verdict.REFUTED,
    note="what counts is the flat index: (1, 3) is 19 in (8, 16) and 11 in (16, 8)",
)
def shape_matters():
    return Equivalent(from_shape(8, 16).fixed(i=1, j=3), from_shape(16, 8).fixed(i=1, j=3))
