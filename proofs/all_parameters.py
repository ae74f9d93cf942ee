"""The swizzle, for ALL parameters: every M, B, S and every 32-bit address at once.

The parameters are coordinates here, so one query speaks of all of them.  An address is any number
below 2^32; M + S + B <= 32, as no field can lie above the address.  U is M + S, where the high
field begins: a coordinate of its own, so that its range keeps the queries narrow.
"""

from __future__ import annotations

from layout_algebra import Equivalent, Injective, Map, Verdict
from layout_algebra.prover.rules import BIJECTION, PERIODS, XORS
from layout_algebra.theorems import theorem

BITS = 32
SHAPE = {"x": (0, 2**BITS - 1), "M": (0, BITS), "B": (0, BITS), "S": (0, BITS), "U": (0, BITS)}
BOOK = "book: TIRx Layout API, the swizzle transform"


def swizzle(x, M, B, S, U):
    """As semantics.py has it: one XOR on the whole address."""
    return x ^ (((x >> U) & ((1 << B) - 1)) << M)


def mirrored(x, M, B, S, U):
    """swizzle_inner=False: the low field goes into the high one."""
    return x ^ (((x >> M) & ((1 << B) - 1)) << U)


def legal(x, M, B, S, U):
    return (S >= B) & (U + B <= BITS) & (U == M + S)


def over_all(place, where=legal):
    """A Map over every address and every parameter; the parameters are part of the place."""
    return Map.of(
        lambda x, M, B, S, U: {"address": place(x, M, B, S, U), "M": M, "B": B, "S": S},
        SHAPE,
        where=where,
    )


@theorem(BIJECTION, source=BOOK)
def bijection():
    return Injective(over_all(swizzle)) & Injective(over_all(mirrored))


@theorem("swizzle: an involution, for all M, B, S", source="S >= B: the fields do not overlap")
def involution():
    twice = over_all(lambda x, M, B, S, U: swizzle(swizzle(x, M, B, S, U), M, B, S, U))
    return Equivalent(twice, over_all(lambda x, M, B, S, U: x))


@theorem(
    "swizzle: the mirrored one is an involution, for all M, B, S",
    source="S >= B: the fields do not overlap",
)
def mirrored_involution():
    twice = over_all(lambda x, M, B, S, U: mirrored(mirrored(x, M, B, S, U), M, B, S, U))
    return Equivalent(twice, over_all(lambda x, M, B, S, U: x))


@theorem("swizzle: the book's three lines are this XOR, for all M, B, S", source=BOOK)
def book_formula():
    def book(x, M, B, S, U):
        low = x & ((1 << M) - 1)
        high = x >> M
        return ((high ^ ((high >> S) & ((1 << B) - 1))) << M) | low

    return Equivalent(over_all(book), over_all(swizzle))


@theorem("swizzle: the low M bits stay, for all M, B, S", source=BOOK)
def low_bits_stay():
    swizzled = over_all(lambda x, M, B, S, U: swizzle(x, M, B, S, U) & ((1 << M) - 1))
    return Equivalent(swizzled, over_all(lambda x, M, B, S, U: x & ((1 << M) - 1)))


@theorem(PERIODS, source=BOOK)
def periods():
    """x and its swizzled address lie in one aligned block of 2^(M+S+B)."""
    swizzled = over_all(lambda x, M, B, S, U: swizzle(x, M, B, S, U) >> (U + B))
    other = over_all(lambda x, M, B, S, U: mirrored(x, M, B, S, U) >> (U + B))
    plain = over_all(lambda x, M, B, S, U: x >> (U + B))
    return Equivalent(swizzled, plain) & Equivalent(other, plain)


XOR_SHAPE = {"x": (0, 2**BITS - 1), "c": (0, 2**BITS - 1), "k": (0, BITS - 1)}


def below_a_boundary(x, c, k):
    return (c < (1 << k)) & (x < 2 ** (BITS - 1))


@theorem(XORS, source="XOR works bit by bit")
def xors():
    """For c below 2^k: x ^ c has the blocks of x, and inside the block the XOR of the rests.

    Twice as large on both sides is twice as large.
    """
    parts = Map.of(
        lambda x, c, k: {
            "blocks": (x ^ c) >> k,
            "rest": (x ^ c) & ((1 << k) - 1),
            "twice": (2 * x) ^ (2 * c),
        },
        XOR_SHAPE,
        where=below_a_boundary,
    )
    apart = Map.of(
        lambda x, c, k: {
            "blocks": x >> k,
            "rest": (x & ((1 << k) - 1)) ^ c,
            "twice": (x ^ c) + (x ^ c),
        },
        XOR_SHAPE,
        where=below_a_boundary,
    )
    return Equivalent(parts, apart)


@theorem("swizzle: B = 0 changes nothing", source="an empty field")
def empty_field():
    return Equivalent(
        over_all(swizzle, where=lambda x, M, B, S, U: legal(x, M, B, S, U) & (B == 0)),
        over_all(
            lambda x, M, B, S, U: x, where=lambda x, M, B, S, U: legal(x, M, B, S, U) & (B == 0)
        ),
    )


def overlapping(x, M, B, S, U):
    return (S >= 1) & (S < B) & (U + B <= BITS) & (U == M + S)


@theorem("swizzle: with 0 < S < B still a bijection", source="CuTe's Swizzle allows it")
def overlapping_bijection():
    return Injective(over_all(swizzle, where=overlapping))


@theorem(
    "swizzle: with 0 < S < B an involution",
    source="often assumed of CuTe's Swizzle",
    expect=Verdict.REFUTED,
    note="the fields overlap: the XOR changes the bits that it reads",
)
def overlapping_involution():
    twice = over_all(
        lambda x, M, B, S, U: swizzle(swizzle(x, M, B, S, U), M, B, S, U), where=overlapping
    )
    return Equivalent(twice, over_all(lambda x, M, B, S, U: x, where=overlapping))


@theorem(
    "swizzle: with S = 0 < B a bijection",
    source="the legality rule S >= B, without it",
    expect=Verdict.REFUTED,
    note="a field XORed with itself is 0",
)
def no_distance():
    def zero(x, M, B, S, U):
        return (S == 0) & (B >= 1) & (M + B <= BITS) & (U == M)

    return Injective(over_all(swizzle, where=zero))
