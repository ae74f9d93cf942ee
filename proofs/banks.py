"""Banks of shared memory under the 128-byte swizzle: which rows of a column share one.

32 banks of 4-byte words; the tile is (8, 64) float16, a row is 128 bytes, all banks once.
"""

from __future__ import annotations

from layout_algebra import (
    ComposeLayout,
    Dim,
    Equivalent,
    Injective,
    Map,
    S,
    TileLayout,
    Verdict,
    m,
)
from layout_algebra.theorems import theorem

BOOK = "book: TIRx Layout API, section "
WHY = BOOK + "Why swizzle"
TRANSFORM = BOOK + "The swizzle transform"
CHOOSING = BOOK + "Choosing swizzle parameters"
EXAMPLE = BOOK + "Example: a 128B swizzle on an (8, 64) float16 tile"

# fmt: off
tile = TileLayout(S[(8, 64) : (64@m, 1@m)])
# fmt: on
swizzled = ComposeLayout(3, 3, 3, tile)


def bank(address, bytes_=2):
    """The bank of an element of so many bytes, by its element address: word of 4 bytes mod 32."""
    return address * bytes_ // 4 % 32


def banks(layout, rows=8, cols=64, bytes_=2):
    """(row, column) -> bank; the column is part of the place, so that only its rows compare."""
    return Map.of(
        lambda i, j: {
            "bank": bank(layout.apply(i, j, shape=(rows, cols))["m"], bytes_),
            "column": j,
        },
        (rows, cols),
    )


# -- banks of float16 --------------------------------------------------------------------------
@theorem("banks: float16 element a is in bank floor(a/2) mod 32", source=EXAMPLE)
def bank_of_float16():
    """From bytes: element a starts at byte 2*a, a bank word is 4 bytes, and there are 32."""
    addresses = {"a": 2**20}
    return Equivalent(
        Map.of(lambda a: 2 * a // 4 % 32, addresses), Map.of(lambda a: a // 2 % 32, addresses)
    )


@theorem(
    "banks: element a is in bank floor(a/2) mod 32, of any type",
    source=EXAMPLE,
    expect=Verdict.REFUTED,
    note="of 2-byte types only: of float32 every element is a word, its bank is a mod 32",
)
def bank_of_float32():
    addresses = {"a": 2**20}
    return Equivalent(
        Map.of(lambda a: 4 * a // 4 % 32, addresses), Map.of(lambda a: a // 2 % 32, addresses)
    )


@theorem("banks: rows of the tile are 128 bytes apart", source=WHY)
def row_pitch():
    return Equivalent(
        Map.of(lambda i, j: 2 * (tile.apply(i + 1, j)["m"] - tile.apply(i, j)["m"]), (7, 64)),
        Map.of(lambda i, j: 128, (7, 64)),
    )


# -- without swizzle ---------------------------------------------------------------------------
@theorem("banks: without swizzle every row of column 0 is in bank 0", source=EXAMPLE)
def all_in_bank_0():
    column = Map.of(lambda i: bank(tile.apply(i, 0, shape=(8, 64))["m"]), (8,))
    return Equivalent(column, Map.of(lambda i: 0, (8,)))


@theorem("banks: without swizzle a column's rows are in one bank, every column", source=WHY)
def one_bank_per_column():
    return Equivalent(banks(tile), Map.of(lambda i, j: {"bank": j // 2, "column": j}, (8, 64)))


@theorem(
    "banks: without swizzle the rows of a column are in different banks",
    source=EXAMPLE,
    expect=Verdict.REFUTED,
    note="they are all in one: this is the conflict that the swizzle is for",
)
def conflict():
    return Injective(banks(tile))


@theorem("banks: and in different words, so that no broadcast helps", source=WHY)
def different_words():
    """Lanes that read one word together are no conflict; rows of a column are different words."""
    return Injective(
        Map.of(lambda i, j: {"word": tile.apply(i, j)["m"] // 2, "column": j}, (8, 64))
    )


@theorem(
    "banks: the rows of a column share a bank, whatever the width of the tile",
    source=WHY,
    expect=Verdict.REFUTED,
    note="of rows that are a multiple of 128 bytes only: a pitch of 66 float16 spreads them",
)
def any_width():
    padded = TileLayout(S[(8, 64) : (66, 1)])
    return Equivalent(banks(padded), Map.of(lambda i, j: {"bank": j // 2, "column": j}, (8, 64)))


@theorem("banks: rows of any multiple of 128 bytes share a bank", source=WHY)
def multiples_of_128_bytes():
    """The same conflict for every number n of 128-byte lines in a row."""
    n = Dim("n", at_least=1)
    return Equivalent(
        Map.of(lambda i, j: (64 * n * i + j) // 2 % 32, (8, 64 * n)),
        Map.of(lambda i, j: j // 2 % 32, (8, 64 * n)),
    )


# -- with swizzle ------------------------------------------------------------------------------
@theorem("banks: with the swizzle row i of column 0 is in bank 4*i", source=EXAMPLE)
def eight_banks():
    """Banks 0, 4, 8, 12, 16, 20, 24 and 28."""
    column = Map.of(lambda i: bank(swizzled.apply(i, 0, shape=(8, 64))["m"]), (8,))
    return Equivalent(column, Map.of(lambda i: 4 * i, (8,)))


@theorem("banks: with the swizzle column 0 uses 8 different banks", source=EXAMPLE)
def different_banks():
    return Injective(Map.of(lambda i: bank(swizzled.apply(i, 0, shape=(8, 64))["m"]), (8,)))


@theorem("banks: with the swizzle every column uses 8 different banks", source=EXAMPLE)
def every_column():
    return Injective(banks(swizzled))


@theorem("banks: bank 4*(q xor i) + r//2, every row and column", source=EXAMPLE)
def bank_formula():
    formula = Map.of(lambda i, j: {"bank": 4 * (j // 8 ^ i) + j % 8 // 2, "column": j}, (8, 64))
    return Equivalent(banks(swizzled), formula)


@theorem("banks: 16-byte reads of a column of groups use all 32 banks once", source=CHOOSING)
def vector_reads():
    """Eight rows, one 16-byte vector each: 4 words a row, 32 words, no bank twice."""
    return Injective(
        Map.of(
            lambda q, i, w: {
                "bank": bank(swizzled.apply(i, 8 * q + 2 * w, shape=(8, 64))["m"]),
                "column": q,
            },
            (8, 8, 4),
        )
    )


@theorem("banks: the swizzle leaves the rows' words alone: a row uses each bank", source=TRANSFORM)
def rows_are_conflict_free():
    """32 words of a row, in 32 banks, with and without swizzle."""
    return Injective(
        Map.of(
            lambda i, w: {"bank": bank(swizzled.apply(i, 2 * w, shape=(8, 64))["m"]), "row": i},
            (8, 32),
        )
    ) & Injective(
        Map.of(
            lambda i, w: {"bank": bank(tile.apply(i, 2 * w, shape=(8, 64))["m"]), "row": i}, (8, 32)
        )
    )


# -- what does not follow ----------------------------------------------------------------------
@theorem(
    "banks: with the swizzle a column of 16 rows uses 16 banks",
    source=EXAMPLE,
    expect=Verdict.REFUTED,
    note="the pattern repeats every 8 rows: rows 0 and 8 share a bank; 8 is what is claimed",
)
def sixteen_rows():
    return Injective(banks(ComposeLayout(3, 3, 3, TileLayout(S[(16, 64) : (64, 1)])), rows=16))


@theorem(
    "banks: the swizzle for float16 serves float32 columns as well",
    source=EXAMPLE,
    expect=Verdict.REFUTED,
    note="with M = 3 groups of float32 are 32 bytes: only four places for eight rows",
)
def float32_needs_its_own():
    return Injective(banks(ComposeLayout(3, 3, 3, TileLayout(S[(8, 32) : (32, 1)])), 8, 32, 4))


@theorem("banks: with M = log2(4) = 2 float32 columns use 8 different banks", source=EXAMPLE)
def float32_with_its_own():
    return Injective(banks(ComposeLayout(2, 3, 3, TileLayout(S[(8, 32) : (32, 1)])), 8, 32, 4))


@theorem("banks: the swizzle puts a diagonal of groups into one bank", source=EXAMPLE)
def diagonal():
    """Row i reads group i: without swizzle 8 banks, with it one, as i xor i is 0."""

    def along(layout):
        return Map.of(lambda i: bank(layout.apply(i, 8 * i, shape=(8, 64))["m"]), (8,))

    return Equivalent(along(swizzled), Map.of(lambda i: 0, (8,))) & Injective(along(tile))


@theorem(
    "banks: with the swizzle any access to 8 rows uses 8 banks",
    source=EXAMPLE,
    expect=Verdict.REFUTED,
    note="of one column; rows that read different columns can meet, as on the diagonal",
)
def any_access():
    return Injective(Map.of(lambda i: bank(swizzled.apply(i, 8 * i, shape=(8, 64))["m"]), (8,)))
