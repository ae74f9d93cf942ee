"""The prover's rules as theorems.

A proof by structure is an instance of one of these.  They speak of one step: an inner part whose
places are known to lie in 0..B, and one more iter of extent e and stride s around it.  The rules
apply them iter by iter, from the smallest stride up; that induction is what a reader must see, each
of its steps is what a solver checks.
"""

from __future__ import annotations

from layout_algebra import (
    Dim,
    Disjoint,
    Empty,
    Equivalent,
    Injective,
    Map,
    S,
    TileLayout,
    Verdict,
    WithinBounds,
    laneid,
)
from layout_algebra.prover.rules import (
    COPIES,
    COUNTING,
    DENSE,
    DIVISION,
    INTERVALS,
    MERGING,
    RESIDUES,
    SORTED,
)
from layout_algebra.theorems import theorem

HERE = "the prover's own rule"

e = Dim("e", at_least=1)
B = Dim("B")
s = Dim("s")
k = Dim("k", at_least=1)
n = Dim("n", at_least=1)
a = Dim("a", at_least=1)
b = Dim("b", at_least=1)


@theorem(SORTED, source=HERE, method="solver")
def sorted_strides():
    """c*s + x with 0 <= x <= B < s: different (c, x) are at different places."""
    return Injective(Map.of(lambda c, x: c * s + x, (e, B + 1))), [s >= B + 1]


@theorem("rule: sorted strides, also where the stride is negative", source=HERE, method="solver")
def sorted_strides_negative():
    return Injective(Map.of(lambda c, x: x - c * s, (e, B + 1))), [s >= B + 1]


@theorem(
    "rule: sorted strides, a stride within the reach may collide",
    source=HERE,
    method="solver",
    expect=Verdict.REFUTED,
    note="the strict inequality is needed",
)
def sorted_strides_needed():
    return Injective(Map.of(lambda c, x: c * s + x, (e, B + 1))), [s >= B, e >= 2]


@theorem(INTERVALS, source=HERE, method="solver")
def intervals():
    """An iter of stride s >= 0 around places 0..B reaches 0..(e-1)*s + B."""
    inner = Map.of(lambda c, x: c * s + x, (e, B + 1))
    return WithinBounds(inner, {"m": (e - 1) * s + B + 1})


@theorem(RESIDUES, source=HERE, method="solver")
def residues():
    """Multiples of g never meet multiples of g plus r, 0 < r < g."""
    g, r = Dim("g"), Dim("r")
    anywhere = {"x": (None, None)}
    one = Map.of(lambda x: x * g, anywhere)
    other = Map.of(lambda x: x * g + r, anywhere)
    return Disjoint(one, other), [r >= 1, g >= r + 1]


@theorem(DENSE, source=HERE, method="solver")
def dense():
    """With s <= B + 1 every y in 0..(e-1)*s + B is c*s + x, 0 <= c < e, 0 <= x <= B.

    Below e*s the digits are y // s and y % s, and y % s <= s - 1 <= B; the rest is reached by the
    last c = e - 1, and then y - (e-1)*s is between s > 0 and B.
    """
    below = Map.of(lambda y: {"c": y // s, "x": y % s}, (e * s,))
    above = Map.of(
        lambda y: {"x": y - (e - 1) * s}, (B + 1 + (e - 1) * s,), where=lambda y: y >= (e - 1) * s
    )
    claim = WithinBounds(below, {"c": e, "x": B + 1}) & WithinBounds(above, {"x": B + 1})
    return claim, [s >= 1, s <= B + 1]


@theorem("rule: strides with a gap do not cover", source=HERE, method="solver")
def gap():
    """With s > B + 1, and every larger stride at least s, nothing is at B + 1."""
    t = Dim("t")
    rest = Map.of(
        lambda x, c, d: x + c * s + d * t,
        (B + 1, e, n),
        where=lambda x, c, d: x + c * s + d * t == B + 1,
    )
    return Empty(rest), [s >= B + 2, t >= s]


@theorem(MERGING, source=HERE, method="solver")
def merging():
    """(a, s*b), (b, s) on one axis counts as (a*b, s)."""
    split = TileLayout(S[(a, b) : (b * s, s)])
    return Equivalent(split, TileLayout(S[(a * b,) : (s,)]))


@theorem("rule: merging iters, also where the stride is negative", source=HERE, method="solver")
def merging_negative():
    split = TileLayout(S[(a, b) : (-b * s, -s)])
    return Equivalent(split, TileLayout(S[(a * b,) : (-s,)]))


@theorem("rule: dropping a unit iter keeps the map", source=HERE, method="solver")
def dropping_units():
    """The digit of a unit iter is 0: it moves nothing, and the flat index does not count it."""
    t = Dim("t")
    shape = (a, 1, b)
    places = Equivalent(
        Map.of(lambda i, unit, j: i * s + unit * t + j, shape),
        Map.of(lambda i, unit, j: i * s + j, shape),
    )
    index = Equivalent(
        Map.of(lambda i, unit, j: (i + unit) * b + j, shape),
        Map.of(lambda i, unit, j: i * b + j, shape),
    )
    return places & index


@theorem("rule: stride 0 is the same on every axis", source=HERE, method="solver")
def stride_zero():
    return Equivalent(TileLayout(S[(a, b) : (0 @ laneid, s)]), TileLayout(S[(a, b) : (0, s)]))


@theorem("rule: where a pair does not merge, the map leaves the line", source=HERE, method="solver")
def leaving():
    """f(b) = t is not b*s, the next point of the line that f follows up to b: so b is found."""
    t = Dim("t")
    next_place = Map.of(lambda x: {"after": x * t}, {"x": (1, 1)}, where=lambda x: x * t == b * s)
    return Empty(next_place), [t >= b * s + 1]


@theorem(COPIES, source=HERE, method="solver")
def copies():
    """Progressions of steps s and k*s, k <= a, are one: every l < a + k*(n-1) is i + k*j.

    Below k*n by j = l // k and i = l % k <= k - 1 < a; above k*(n-1) by j = n - 1.  And i + k*j is
    never larger.
    """
    below = Map.of(lambda x: {"i": x % k, "j": x // k}, (k * n,))
    above = Map.of(
        lambda x: {"i": x - k * (n - 1)}, (a + k * (n - 1),), where=lambda x: x >= k * (n - 1)
    )
    back = Map.of(lambda i, j: i + k * j, (a, n))
    claim = (
        WithinBounds(below, {"i": a, "j": n})
        & WithinBounds(above, {"i": a})
        & WithinBounds(back, {"m": a + k * (n - 1)})
    )
    return claim, [a >= k]


@theorem(DIVISION, source=HERE, method="solver")
def division_step():
    """x = q*b + r with 0 <= r < b: no other q and r make the same x."""
    return Injective(Map.of(lambda q, r: q * b + r, {"q": (None, None), "r": (0, b - 1)}))


@theorem(COUNTING, source=HERE, method="solver")
def counting():
    """Five different numbers below 5 are all numbers below 5 (the pigeonhole, at one size).

    The principle itself speaks of all sizes and is taken from arithmetic, not from a solver.
    """

    def all_differ(v0, v1, v2, v3, v4, missed):
        used = (v0, v1, v2, v3, v4)
        apart = missed != v0
        for position, one in enumerate(used):
            apart = apart & (missed != one)
            for other in used[:position]:
                apart = apart & (one != other)
        return apart

    return Empty(Map.of(lambda v0, v1, v2, v3, v4, missed: 0, (5,) * 6, where=all_differ))
