"""The XOR swizzle of shared memory, as the TIRx Layout API chapter states it.

Addresses are below 2^20 elements here; all_parameters.py has the same for every 32-bit address and
for all M, B and S at once.  That a ComposeLayout with S < B is refused is a matter of tests; what
goes wrong without that rule is stated at the end.
"""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    ComposeLayout,
    Equivalent,
    Injective,
    Map,
    S,
    TileLayout,
    Verdict,
    WithinBounds,
    laneid,
    m,
)
from layout_algebra.theorems import theorem

BOOK = "book: TIRx Layout API, section "
COMPOSE = BOOK + "ComposeLayout"
WHY = BOOK + "Why swizzle"
TRANSFORM = BOOK + "The swizzle transform"
CHOOSING = BOOK + "Choosing swizzle parameters"
EXAMPLE = BOOK + "Example: a 128B swizzle on an (8, 64) float16 tile"

ADDRESSES = 2**20
M, B, A = 3, 3, 3  # per_element, swizzle_len, atom_len of the 128-byte swizzle for 16-bit elements

# fmt: off
tile = TileLayout(S[(8, 64) : (64@m, 1@m)])
# fmt: on
swizzled = ComposeLayout(M, B, A, tile)
#: The swizzle by itself: over the trivial layout of one period, and of all addresses.
one_period = ComposeLayout(M, B, A, TileLayout(S[512:1]))
bare = ComposeLayout(M, B, A, TileLayout(S[ADDRESSES:1]))


def over_addresses(formula) -> Map:
    return Map.of(formula, {"x": ADDRESSES})


def three_lines(address, M, B, S):
    """low, x, x2 and the address, as the chapter writes them."""
    mask = (1 << B) - 1
    low = address & ((1 << M) - 1)
    x = address >> M
    x2 = x ^ ((x >> S) & mask)
    return (x2 << M) | low


def swizzle(address):
    return bare.apply(address)["m"]


# -- ComposeLayout -----------------------------------------------------------------------------
@theorem("compose: first the tile's address, then the swizzle", source=COMPOSE)
def tile_then_swizzle():
    return Equivalent(swizzled, bare.map().after(tile.map()))


@theorem("compose: a bare swizzle is one over the trivial layout of a period", source=COMPOSE)
def bare_swizzle():
    """Of 512 elements; over any longer trivial layout it repeats, period by period."""
    periods = Map.of(
        lambda k, x: 512 * k + one_period.apply(x)["m"], {"k": ADDRESSES // 512, "x": 512}
    )
    return Equivalent(one_period, Map.of(lambda x: three_lines(x, M, B, A), {"x": 512})) & (
        Equivalent(bare, periods)
    )


@theorem("compose: swizzle_inner=False XORs in the mirrored direction", source=COMPOSE)
def mirrored():
    """The low field [0, B) goes into the high one [S, S+B); the usual one goes the other way."""

    def mirror(x):
        y = x >> M
        return ((y ^ ((y & ((1 << B) - 1)) << A)) << M) | (x & ((1 << M) - 1))

    other = ComposeLayout(M, B, A, TileLayout(S[ADDRESSES:1]), swizzle_inner=False)
    return Equivalent(other, over_addresses(mirror))


@theorem(
    "compose: the direction of the XOR makes no difference",
    source=COMPOSE,
    expect=Verdict.REFUTED,
    note="row 1 goes to another place: the fields change roles",
)
def direction_matters():
    return Equivalent(bare, ComposeLayout(M, B, A, TileLayout(S[ADDRESSES:1]), swizzle_inner=False))


@theorem("compose: the tile gives one linear address on m", source=COMPOSE)
def tile_is_linear():
    """All other axes are 0 in every place of the swizzled tile, and 512 addresses are used."""
    return Bijective(swizzled, {m: 512})


@theorem("compose: over other axes the swizzle acts on m, the others pass", source=COMPOSE)
def other_axes_pass():
    """The chapter asks for m only; what a tile with lanes would mean is this library's choice."""
    # fmt: off
    layout = ComposeLayout(M, B, A, TileLayout(S[(4, 8, 64) : (1@laneid, 64, 1)]))
    # fmt: on
    formula = Map.of(lambda a, i, j: {laneid: a, m: three_lines(64 * i + j, M, B, A)}, (4, 8, 64))
    return Equivalent(layout, formula)


@theorem(
    "compose: a swizzled place is on m alone, whatever the tile",
    source=COMPOSE,
    expect=Verdict.REFUTED,
    note="TIRx demands a tile on m only; here other axes pass through, and a lane stays a lane",
)
def not_on_m_alone():
    # fmt: off
    layout = ComposeLayout(M, B, A, TileLayout(S[(4, 8, 64) : (1@laneid, 64, 1)]))
    # fmt: on
    return WithinBounds(layout, {laneid: 1})


@theorem(
    "compose: the swizzle is affine",
    source=COMPOSE,
    expect=Verdict.REFUTED,
    note="it maps 0 to 0, so an affine one would add up; the XOR does not carry",
)
def not_affine():
    small = {"x": 512, "y": 512}
    together = Map.of(lambda x, y: swizzle(x + y), small)
    return Equivalent(together, Map.of(lambda x, y: swizzle(x) + swizzle(y), small))


# -- the transform -----------------------------------------------------------------------------
@theorem("swizzle: the chapter's formula is ComposeLayout, M = B = S = 3", source=TRANSFORM)
def formula_is_compose():
    return Equivalent(bare, over_addresses(lambda x: three_lines(x, M, B, A)))


@theorem("swizzle: the chapter's formula is ComposeLayout, other parameters", source=TRANSFORM)
def formula_for_other_parameters():
    """Parameters of 8-, 16-, 32-bit elements, of modes, and with fields that do not touch."""

    def same(M, B, S_):
        formula = over_addresses(lambda x: three_lines(x, M, B, S_))
        return Equivalent(ComposeLayout(M, B, S_, TileLayout(S[ADDRESSES:1])), formula)

    return (same(4, 3, 3) & same(2, 3, 3) & same(3, 2, 3) & same(3, 1, 3)) & (
        same(0, 1, 1) & same(0, 2, 3) & same(1, 2, 5)
    )


@theorem("swizzle: the low M bits stay as they are", source=TRANSFORM)
def low_bits_stay():
    """M counts bits: 2^3 = 8 elements, and no bytes."""
    return Equivalent(
        over_addresses(lambda x: swizzle(x) & ((1 << M) - 1)),
        over_addresses(lambda x: x & ((1 << M) - 1)),
    )


@theorem("swizzle: neighbours in a group of 2^M stay neighbours", source=TRANSFORM)
def groups_stay_contiguous():
    groups = {"group": ADDRESSES // 8, "e": 8}
    return Equivalent(
        Map.of(lambda group, e: swizzle(8 * group + e), groups),
        Map.of(lambda group, e: swizzle(8 * group) + e, groups),
    )


@theorem("swizzle: bits [S, S+B) of x are XORed into bits [0, B)", source=TRANSFORM)
def only_the_low_field_changes():
    """With x = m >> M: the low field gets the XOR, everything above it stays."""
    return Equivalent(
        over_addresses(lambda x: {"low": (swizzle(x) >> M) & 7, "above": swizzle(x) >> (M + B)}),
        over_addresses(
            lambda x: {"low": ((x >> M) & 7) ^ ((x >> (M + A)) & 7), "above": x >> (M + B)}
        ),
    )


@theorem("swizzle: low address bits come to depend on higher, row bits", source=WHY)
def row_bits_enter():
    """Of (i, j): the three bits above the vector group are q = j//8, XORed with the row."""
    return Equivalent(
        Map.of(lambda i, j: swizzled.apply(i, j)["m"] >> 3 & 7, (8, 64)),
        Map.of(lambda i, j: j // 8 ^ i, (8, 64)),
    )


@theorem("swizzle: with S >= B it is its own inverse", source=TRANSFORM)
def involution():
    return Equivalent(bare.map().after(bare.map()), over_addresses(lambda x: x))


# -- what stays --------------------------------------------------------------------------------
@theorem("swizzle: the tile holds the same addresses, with and without", source=TRANSFORM)
def same_addresses():
    """Both use each of 512 addresses once: only who is where changes."""
    return Bijective(tile, {m: 512}) & Bijective(swizzled, {m: 512})


@theorem(
    "swizzle: the physical addresses of the elements stay",
    source=TRANSFORM,
    expect=Verdict.REFUTED,
    note="the set of addresses stays, the elements at them are permuted",
)
def addresses_of_elements_change():
    return Equivalent(swizzled, tile)


# -- the rule S >= B ---------------------------------------------------------------------------
@theorem("legal: with 0 < S < B it is still a bijection of a period", source=TRANSFORM)
def overlapping_fields():
    """M = 0, B = 2, S = 1: the rule S >= B asks for more than that no two elements collide."""
    return Bijective(Map.of(lambda x: three_lines(x, 0, 2, 1), {"x": 8}), {m: 8})


@theorem(
    "legal: with 0 < S < B it is its own inverse",
    source=TRANSFORM,
    expect=Verdict.REFUTED,
    note="the fields overlap, and the XOR changes bits that it reads: this is what S >= B is for",
)
def overlapping_fields_do_not_undo():
    twice = Map.of(lambda x: three_lines(three_lines(x, 0, 2, 1), 0, 2, 1), {"x": 8})
    return Equivalent(twice, Map.of(lambda x: x, {"x": 8}))


@theorem(
    "legal: with S = 0 elements keep places of their own",
    source=TRANSFORM,
    expect=Verdict.REFUTED,
    note="a field XORed with itself is 0",
)
def no_distance():
    return Injective(Map.of(lambda x: three_lines(x, 0, 2, 0), {"x": 8}))


# -- choosing parameters -----------------------------------------------------------------------
@theorem("choosing: 16 bytes are 8 float16, so M = 3", source=CHOOSING)
def sixteen_bytes():
    """Byte b of element e of a vector group is byte 2*e + b of 16, together and aligned."""
    bytes_ = {"group": ADDRESSES // 8, "e": 8, "b": 2}
    return Equivalent(
        Map.of(
            lambda group, e, b: {
                "vector": (2 * swizzle(8 * group + e) + b) // 16,
                "byte": (2 * swizzle(8 * group + e) + b) % 16,
            },
            bytes_,
        ),
        Map.of(lambda group, e, b: {"vector": swizzle(8 * group) >> 3, "byte": 2 * e + b}, bytes_),
    )


@theorem("choosing: the atom is 8 rows of 128 bytes, 1024 bytes", source=CHOOSING)
def atom_is_1024_bytes():
    """As bytes, the swizzled tile fills 8 rows of 128 once each."""
    atom = Map.of(
        lambda i, j, b: {
            "row": (2 * swizzled.apply(i, j)["m"] + b) // 128,
            "byte": (2 * swizzled.apply(i, j)["m"] + b) % 128,
        },
        (8, 64, 2),
    )
    return Bijective(atom, {"row": 8, "byte": 128})


@theorem("choosing: 128 bytes are the width of a row, and elements stay in theirs", source=CHOOSING)
def rows_stay():
    return Equivalent(
        Map.of(lambda i, j: swizzled.apply(i, j)["m"] // 64, (8, 64)),
        Map.of(lambda i, j: i, (8, 64)),
    )


@theorem("choosing: 32-, 64- and 128-byte modes keep rows of that width", source=CHOOSING)
def modes():
    """B = 1, 2, 3 with M = S = 3: the atom is 8 rows of 16, 32, 64 float16; elements stay in their
    row, and the atom fills its own addresses."""

    def mode(swizzle_len, width):
        atom = ComposeLayout(3, swizzle_len, 3, TileLayout(S[(8, width) : (width, 1)]))
        row = Map.of(lambda i, j: atom.apply(i, j)["m"] // width, (8, width))
        stays = Equivalent(row, Map.of(lambda i, j: i, (8, width)))
        return stays & Bijective(atom, {m: 8 * width})

    return mode(1, 16) & mode(2, 32) & mode(3, 64)


@theorem("choosing: higher bits are permuted while vector groups stay whole", source=CHOOSING)
def groups_are_permuted():
    """Group q of row i goes to group q xor i of the same row, and takes its 8 elements along."""
    return Equivalent(
        Map.of(lambda i, q, r: swizzled.apply(i, 8 * q + r, shape=(8, 64))["m"], (8, 8, 8)),
        TileLayout(S[(8, 8, 8) : (64, 8, 1)])
        .map()
        .after(Map.of(lambda i, q, r: {"c0": i, "c1": q ^ i, "c2": r}, (8, 8, 8))),
    )


# -- the worked tile ---------------------------------------------------------------------------
@theorem("tile: without swizzle element (i, j) is at 64*i + j", source=WHY)
def row_major():
    return Equivalent(tile, Map.of(lambda i, j: 64 * i + j, (8, 64)))


@theorem("tile: 64*i + 8*(q xor i) + r for every element", source=EXAMPLE)
def every_element():
    formula = Map.of(lambda i, j: 64 * i + 8 * (j // 8 ^ i) + j % 8, (8, 64))
    return Equivalent(swizzled, formula)


@theorem("tile: the same by the chapter's formula", source=EXAMPLE)
def every_element_by_formula():
    formula = Map.of(lambda i, j: three_lines(64 * i + j, M, B, A), (8, 64))
    return Equivalent(swizzled, formula)


@theorem("tile: column 0 of row i is at 72*i", source=EXAMPLE)
def column_0():
    return Equivalent(swizzled.map().fixed(c1=0), Map.of(lambda i: 72 * i, (8,)))


@theorem(
    "tile: the rows of every column are 72 apart",
    source=EXAMPLE,
    expect=Verdict.REFUTED,
    note="column 0 only: in column 8, rows 0 and 1 are 56 apart",
)
def other_columns():
    return Equivalent(swizzled, Map.of(lambda i, j: 72 * i + j, (8, 64)))
