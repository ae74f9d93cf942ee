"""Inverses in closed form, for all sizes.

Each theorem runs an operation of `layout_algebra.inverting` and claims what it is said to give.
"""

from __future__ import annotations

from layout_algebra import (
    Dim,
    Equivalent,
    Inverse,
    LeftInverse,
    Map,
    R,
    RightInverse,
    S,
    Swizzle,
    TileLayout,
    Verdict,
    laneid,
    parse,
    warpid,
)
from layout_algebra.claims import Claim
from layout_algebra.errors import ClaimError
from layout_algebra.inverting import (
    FiniteInverse,
    inverse,
    left_inverse,
    pseudo_inverse,
    right_inverse,
    swizzle_inverse,
)
from layout_algebra.theorems import theorem

LAW = "the operation's law"
CUTLASS = "NVIDIA/cutlass#3485"

P, Q = Dim("P", at_least=1), Dim("Q", at_least=1)
bm, bn = Dim("bm", at_least=1), Dim("bn", at_least=1)
M, N, pad = Dim("M", at_least=1), Dim("N", at_least=1), Dim("pad")

ADDRESSES = 2**32
#: An XOR whose fields overlap: five bits, two apart.
overlapping = Swizzle(3, 5, 2)
mirrored = Swizzle(3, 5, 2, False)


def both_ways(layout) -> Claim:
    """That the inverse found is one."""
    found = inverse(layout)
    if isinstance(found, FiniteInverse):
        raise ClaimError("the inverse is no formula")
    return Inverse(layout, found)


def applied(*swizzles: Swizzle) -> Map:
    """Swizzles one after the other, on every address."""

    def address(x):
        for s in swizzles:
            source, target = s.per_element + s.atom_len, s.per_element
            if not s.swizzle_inner:
                source, target = target, source
            x = x ^ (((x >> source) & ((1 << s.swizzle_len) - 1)) << target)
        return x

    return Map.of(address, {"x": ADDRESSES})


@theorem("inverse: a tiled row-major matrix, for all sizes", source=LAW)
def tiled_row_major():
    """Tiles of bm x bn, one after the other; the inverse is a layout."""
    layout = TileLayout(S[(P, bm, Q, bn) : (bm * Q * bn, bn, bm * bn, 1)])
    found = inverse(layout)
    if not isinstance(found, TileLayout):
        raise ClaimError(f"the inverse is no layout: {found}")
    return Inverse(layout, found)


@theorem("inverse: rows on the lanes, columns in registers, for all sizes", source=LAW)
def two_axes():
    return both_ways(TileLayout(S[(P, bm, Q, bn) : (Q @ laneid, bn, 1 @ laneid, 1)] + 3 @ laneid))


@theorem("inverse: the places of padded rows are those before the padding", source=LAW)
def padded_rows():
    return both_ways(TileLayout(S[(M, N) : (N + pad, 1)]))


@theorem("inverse: rows that lie a leading dimension apart, of at least their length", source=LAW)
def leading_dimension():
    ld = Dim("ld")
    place = Map.of(
        lambda m: N * (m // ld) + m % ld,
        {"m": (0, (M - 1) * ld + N - 1)},
        where=lambda m: m % ld <= N - 1,
    )
    return Inverse(TileLayout(S[(M, N) : (ld, 1)]), place), [ld >= N]


@theorem("inverse: tiles spread over two axes, with gaps on one, for all sizes", source=LAW)
def gaps_on_an_axis():
    return both_ways(
        TileLayout(S[(P, bm, Q, bn) : ((bm * Q * bn) @ laneid, bn, (bm * bn) @ laneid, 1)])
    )


@theorem("inverse: the fragment of the book", source="book, forward mapping")
def fragment():
    return both_ways(parse("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + 5@warpid"))


@theorem("inverse: every copy goes back to its element, for all sizes", source=LAW)
def copies():
    layout = TileLayout(S[(M, N) : (N @ laneid, 1 @ laneid)] + R[P : 1 @ warpid] + 5 @ warpid)
    found = inverse(layout)
    if isinstance(found, FiniteInverse):
        raise ClaimError("the inverse is no formula")
    return LeftInverse(layout, found)


@theorem("left inverse: rows with gaps, for all sizes", source=LAW)
def left_with_gaps():
    layout = TileLayout(S[(M, N) : (N + pad, 1)])
    return LeftInverse(layout, left_inverse(layout))


@theorem("left inverse: a gap that the strides divide is a digit of stride 0", source=CUTLASS)
def left_as_layout():
    layout = TileLayout(S[(M, N) : (P * N, 1)])
    found = left_inverse(layout)
    return LeftInverse(layout, found) & Equivalent(found, TileLayout(S[(M, P, N) : (N, 0, 1)]))


LEFT = TileLayout(S[(4, 2) : (1, 16)])
#: Two left inverses of it; the flat index is row-major here.
STILL = TileLayout(S[(2, 4, 4) : (1, 0, 2)])
MOVING = TileLayout(S[(2, 4, 4) : (1, 8, 2)])


@theorem("left inverse: two different ones undo one layout", source=CUTLASS)
def two_left_inverses():
    return LeftInverse(LEFT, STILL) & LeftInverse(LEFT, MOVING)


@theorem(
    "left inverse: two of one layout are equal",
    source=CUTLASS,
    expect=Verdict.REFUTED,
    note="they agree on the places of the layout; in its gaps each may give anything",
)
def left_inverses_differ():
    return Equivalent(STILL, MOVING)


@theorem("right inverse: what the compact strides reach, for all sizes", source=LAW)
def right_compact():
    layout = TileLayout(S[(M, P, N) : (1, N * M * 2, M)])
    return RightInverse(layout, right_inverse(layout))


@theorem("pseudo inverse: the least of the elements that a stride of 0 repeats", source=LAW)
def pseudo_of_broadcast():
    layout = TileLayout(S[(M, P, N) : (N, 0, 1)])
    found = pseudo_inverse(layout)
    if isinstance(found, FiniteInverse):
        raise ClaimError("the inverse is no formula")
    back = Map.of(lambda i, j: {"m": (i * P) * N + j}, (M, N))
    return Equivalent(found, back)


@theorem("swizzle: an XOR with overlapping fields is undone by its chain", source=LAW)
def overlapping_fields():
    return Inverse(applied(overlapping), applied(*swizzle_inverse(overlapping)))


@theorem("swizzle: the mirrored XOR with overlapping fields is undone by its chain", source=LAW)
def overlapping_mirrored():
    return Inverse(applied(mirrored), applied(*swizzle_inverse(mirrored)))


@theorem(
    "swizzle: an XOR with overlapping fields undoes itself",
    source="often assumed; true for fields that do not overlap",
    expect=Verdict.REFUTED,
    note="the bits where the fields overlap are XORed twice, with different bits",
)
def overlapping_is_no_involution():
    return Inverse(applied(overlapping), applied(overlapping))


@theorem("a rotation is undone by the rotation back, for all sizes", source="tile-ai/tilelang#2948")
def rotation():
    forth = Map.of(lambda i: (i + 1) % N, {"i": N})
    back = Map.of(lambda i: (i + N - 1) % N, {"i": N})
    return Inverse(forth, back)


@theorem(
    "a rotation is undone by the identity",
    source="tile-ai/tilelang#2948",
    expect=Verdict.REFUTED,
    note="what was read came from the neighbour, and the identity does not say so",
)
def rotation_is_not_the_identity():
    return Inverse(Map.of(lambda i: (i + 1) % N, {"i": N}), Map.of(lambda i: i, {"i": N}))
