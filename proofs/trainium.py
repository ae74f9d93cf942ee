"""Trainium: tiles of SBUF and PSUM fill their words once, and banks are where F says."""

from __future__ import annotations

from math import prod

from layout_algebra import (
    Bank,
    Bijective,
    Dim,
    Equivalent,
    F,
    Injective,
    Inverse,
    Map,
    P,
    TileLayout,
    WithinBounds,
)
from layout_algebra.claims import Claim
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.trainium import memories, to_psum, trainium_layout
from layout_algebra.theorems import theorem

SOURCE = "AWS Neuron documentation, NeuronCore: SBUF and PSUM"

rows = Dim("rows", at_least=1, at_most=128)
cols, more = Dim("cols", at_least=1), Dim("more", at_least=1)
blocks = Dim("blocks", at_least=1)

#: PSUM by words of a partition: word 512*b + f is word f of bank b.
word = Map.of(lambda P, F: {"P": P, "Bank": F // 512, "F": F % 512}, (128, 4096))


def fits(entry: Entry) -> Claim:
    """No two elements share a word; in PSUM all are in 8 banks of 512 words."""
    limits = {P: 128}
    if "psum" in entry.name:
        limits |= {Bank: 8, F: 512}
    return Injective(entry.layout) & WithinBounds(entry.layout, limits)


def filled(entry: Entry) -> Claim:
    """The words of as many partitions as the P dimensions ask for, each once."""
    letters = entry.name.split(".")[2]
    sizes = dict.fromkeys((P, F), 1)
    for letter, size in zip(letters, entry.shape, strict=True):
        sizes[P if letter == "P" else F] *= size
    partitions = min(sizes[P], 128)
    words = prod(entry.shape) // partitions
    if "psum" in entry.name:
        banks = -(-words // 512)
        return Bijective(entry.layout, {P: partitions, Bank: banks, F: min(words, 512)})
    return Bijective(entry.layout, {P: partitions, F: words})


for _entry in memories():
    theorem(f"{_entry.name}: no two elements share a word", source=SOURCE)(
        lambda entry=_entry: fits(entry)
    )
    theorem(f"{_entry.name}: fills its partitions", source=SOURCE)(
        lambda entry=_entry: filled(entry)
    )


# -- formulas, for all sizes ---------------------------------------------------------------------
@theorem("trainium PF: row r is partition r, column c is word c, for all sizes", source=SOURCE)
def rows_on_partitions():
    layout = trainium_layout("PF", (rows, cols))
    formula = Map.of(lambda r, c: {P: r, F: c}, (rows, cols))
    return Equivalent(layout, formula) & Bijective(layout, {P: rows, F: cols})


@theorem("trainium FPF: the words of a partition are row-major over the F sizes", source=SOURCE)
def row_major_words():
    layout = trainium_layout("FPF", (more, rows, cols))
    formula = Map.of(lambda a, r, c: {P: r, F: cols * a + c}, (more, rows, cols))
    return Equivalent(layout, formula) & Bijective(layout, {P: rows, F: more * cols})


@theorem("trainium PF: of 128*n rows, r is in partition r mod 128, block r // 128", source=SOURCE)
def blocks_of_rows():
    layout = trainium_layout("PF", (128 * blocks, cols))
    formula = Map.of(lambda b, r, c: {P: r, F: cols * b + c}, {"b": blocks, "r": 128, "c": cols})
    return Equivalent(layout, formula) & Bijective(layout, {P: 128, F: blocks * cols})


# -- banks ---------------------------------------------------------------------------------------
def banked(layout: TileLayout) -> Claim:
    """to_psum is Bank = F // 512 and F mod 512 on every place, copies and offset included."""
    return Equivalent(word.after(layout.map()), to_psum(layout).map())


CUT = {
    "a whole partition of PSUM": TileLayout.from_iters([(128, 1, P), (4096, 1, F)]),
    "a stride that divides a bank": TileLayout.from_iters([(64, 1, P), (256, 4, F), (4, 1, F)]),
    "a stride of whole banks": TileLayout.from_iters([(4, 1024, F), (128, 1, P)]),
    "an offset within a bank": TileLayout.from_iters([(128, 1, P), (8, 512, F)], (), {F: 100}),
    "an offset of whole banks": TileLayout.from_iters([(16, 1, P), (512, 1, F)], (), {F: 1536}),
    "copies in two banks": TileLayout.from_iters([(128, 1, P), (256, 1, F)], [(2, 512, F)]),
    "copies within a bank": TileLayout.from_iters([(128, 1, P), (256, 1, F)], [(2, 256, F)]),
}
for _name, _layout in CUT.items():
    theorem(f"to_psum: {_name} goes where F says", source=SOURCE)(
        lambda layout=_layout: banked(layout)
    )


@theorem("PSUM: bank and word give the word of the partition back", source=SOURCE)
def words_and_banks():
    back = Map.of(lambda P, Bank, F: {"P": P, "F": 512 * Bank + F}, (128, 8, 512))
    return Inverse(word, back)
