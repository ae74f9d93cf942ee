"""Entries of the catalogue by their formulas, one theorem for each family and type.

Where the theorems of a family speak of all sizes at once, or of what the entries are for, these
say of every entry where each of its elements is: change one of its numbers, and one of them fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import groupby
from operator import and_

from layout_algebra import Equivalent, Map
from layout_algebra.claims import Claim
from layout_algebra.hardware import Entry, SwizzleMode, catalogue
from layout_algebra.memory import bits_of
from layout_algebra.theorems import theorem

PTX = "PTX ISA, "
Family = Callable[[Entry], Claim]


def family(prefix: str) -> list[Entry]:
    return [entry for entry in catalogue() if entry.name.startswith(prefix)]


def every(entries: Iterable[Entry], claim: Family) -> Claim:
    return reduce(and_, map(claim, entries))


# -- wgmma accumulators ------------------------------------------------------------------------
def accumulator(entry: Entry) -> Claim:
    """Warp i/16; in it the rows of mma's C, column pairs of 8 one after the other."""

    def place(i, j):
        return {
            "wid_in_wg": i // 16,
            "laneid": 4 * (i % 8) + j % 8 // 2,
            "m": j % 2 + 2 * (i % 16 // 8) + 4 * (j // 8),
        }

    return Equivalent(entry.map(), Map.of(place, entry.shape))


for dtype, found in groupby(
    sorted((e for e in family("wgmma.") if e.name.endswith(".D")), key=lambda e: e.dtype),
    key=lambda entry: entry.dtype,
):
    entries = list(found)

    @theorem(
        f"wgmma D {dtype}: where each element is, for each of the {len(entries)} widths",
        source=PTX + "register fragments for wgmma",
    )
    def accumulators(entries=entries):
        return every(entries, accumulator)


# -- shared-memory atoms -----------------------------------------------------------------------
def atom(entry: Entry) -> Claim:
    """Rows of the mode's width; 16-byte chunks XORed with the number of the 128-byte line."""
    _, mode, _, major = entry.name.split(".")
    bits = bits_of(entry.dtype)
    row = SwizzleMode[mode].row_bytes * 8 // bits  # elements of a row
    chunk, line = 128 // bits, 1024 // bits  # elements of 16 and of 128 bytes
    coarse = mode == "B128_ATOM_32B"
    if coarse:  # 32 bytes stay together, and the lines count by four
        chunk *= 2
    columns = row // chunk

    def place(r, c):
        number = r * row // line % columns
        return r * row + (c // chunk ^ number) * chunk + c % chunk

    if major == "K":
        return Equivalent(entry.map(), Map.of(place, entry.shape))
    return Equivalent(entry.map(), Map.of(lambda i, k: place(k, i), entry.shape))


for mode in SwizzleMode:
    atoms = family(f"shared.{mode.name}.")
    if atoms:

        @theorem(
            f"shared {mode.name}: where each element of the {len(atoms)} atoms is",
            source=PTX + "shared memory matrix layout, swizzling modes",
        )
        def of_mode(atoms=atoms):
            return every(atoms, atom)


# -- tensor memory ------------------------------------------------------------------------------
def tensor_memory(entry: Entry) -> Claim:
    """The data path's lanes; a 16-bit accumulator has one element in each 32-bit cell."""
    parts = entry.name.split(".")
    path, operand = parts[2], parts[4] if len(parts) > 4 else "D"
    wide = 2 if entry.dtype == "float16" and operand == "D" else 1
    upper = 16 if operand == "upper" else 0
    rows, columns = entry.shape
    half = columns // 2

    def place(r, c):
        if path in "CF" and operand != "A":
            return {"TLane": 32 * (r // 16) + r % 16 + upper, "TCol": wide * c}
        if path in "BE" and operand != "A":
            return {"TLane": r + rows * (c // half), "TCol": wide * (c % half)}
        return {"TLane": r, "TCol": wide * c}

    if path == "B" and operand == "A":  # held twice, for both halves of the lanes
        twice = Map.of(
            lambda r, c, copy: {"TLane": r + rows * copy, "TCol": c},
            (rows, columns, 2),
            copies=["copy"],
        )
        return Equivalent(entry.map(), twice)
    return Equivalent(entry.map(), Map.of(place, entry.shape))


for path in "ABCDEF":
    written = [e for e in family(f"tcgen05.mma.{path}.") if len(e.shape) == 2]
    if written:

        @theorem(
            f"tcgen05 data path {path}: where each element of its {len(written)} entries is",
            source=PTX + "tcgen05 data path layouts",
        )
        def of_path(written=written):
            return every(written, tensor_memory)


# -- scale factors ------------------------------------------------------------------------------
def scales(entry: Entry) -> Claim:
    """Of A a thread of the quad, or a pair of them, has the rows; of B one has the columns."""
    _, operand, _, thread, byte = entry.name.split(".")
    first, start = int(thread.removeprefix("thread")), int(byte.removeprefix("byte"))

    def of_a(i, k):  # rows 0 to 7 in the first thread of a pair, 8 to 15 in the second
        return {"laneid": 4 * (i % 8) + 2 * first + i // 8, "m": k + start}

    def of_b(k, j):
        return {"laneid": 4 * j + first, "m": k + start}

    return Equivalent(entry.map(), Map.of(of_a if operand == "A" else of_b, entry.shape))


for operand in "AB":
    chosen = family(f"mma_scales.{operand}.")

    @theorem(
        f"mma_scales {operand}: where each factor of the {len(chosen)} selections is",
        source=PTX + "block scaling for mma.sync",
    )
    def of_operand(chosen=chosen):
        return every(chosen, scales)
