"""AMD's fragments and LDS: tables of triton, the ISA's formulas, vendor listings, refusals."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from math import prod

import pytest

from layout_algebra import TileLayout, Verdict, m, prove
from layout_algebra.claims import BankConflictFree, ConflictDegree
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.amd import MFMA, mfma, mfma_layout, wmma, wmma_layout
from layout_algebra.hardware.entries import Entry
from layout_algebra.memory import Buffer, served
from layout_algebra.memory.amd_targets import CDNA3, CDNA4, CDNA4_32_BANKS
from tests.hardware.places import Table, agrees, enumerated, from_bases, from_formula, mutants


# -- fragments: the formulas of the ISA --------------------------------------------------------
def mfma_formula(name: str) -> Callable[..., Mapping[str, int]]:
    """Lane and item as the CDNA3 ISA says, from the instruction's M, N, K and blocks."""
    parts = name.split(".")
    rows, cols, depth = map(int, parts[1].split("x"))
    blocks = int(parts[2][:-1]) if parts[2].endswith("b") else 1
    dtype, operand = parts[-2:]

    def of_inputs(width: int, i: int, k: int, b: int) -> Mapping[str, int]:
        in_a_lane = depth // (64 // (width * blocks))
        lane = i + width * (b + blocks * (k // in_a_lane))
        return {"lane_in_wave": lane, "m": k % in_a_lane}

    def of_output(i: int, j: int, b: int) -> Mapping[str, int]:
        high = 1 if dtype == "float64" else 4
        beside = -(-64 // (cols * rows // high))
        groups = 64 // beside // cols
        above = rows // (high * groups)
        item = i % high + high * (i // (high * groups) + above * (b // beside))
        return {"lane_in_wave": j + cols * (i // high % groups + groups * (b % beside)), "m": item}

    def place(*element: int) -> Mapping[str, int]:
        b, first, second = element if blocks > 1 else (0, *element)
        if operand == "D":
            return of_output(first, second, b)
        return (
            of_inputs(rows, first, second, b)
            if operand == "A"
            else of_inputs(cols, second, first, b)
        )

    return place


#: triton 3.9.0: bits of an item and of a lane of AMDMFMALayout(3, shape) and its operands, A and D;
#: B is A with its coordinates exchanged.
MFMA_BASES = {
    ("D", "32x32", 4): (
        [(1, 0), (2, 0), (8, 0), (16, 0)],
        [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (4, 0)],
    ),
    ("D", "16x16", 4): ([(1, 0), (2, 0)], [(0, 1), (0, 2), (0, 4), (0, 8), (4, 0), (8, 0)]),
    ("D", "16x16", 1): ([(4, 0), (8, 0)], [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0)]),
    ("A", "32x32x2", 1): ([], [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 1)]),
    ("A", "32x32x4", 2): ([(0, 1)], [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 2)]),
    ("A", "32x32x8", 4): ([(0, 1), (0, 2)], [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 4)]),
    ("A", "32x32x16", 8): (
        [(0, 1), (0, 2), (0, 4)],
        [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (0, 8)],
    ),
    ("A", "16x16x4", 1): ([], [(1, 0), (2, 0), (4, 0), (8, 0), (0, 1), (0, 2)]),
    ("A", "16x16x8", 2): ([(0, 1)], [(1, 0), (2, 0), (4, 0), (8, 0), (0, 2), (0, 4)]),
    ("A", "16x16x16", 4): ([(0, 1), (0, 2)], [(1, 0), (2, 0), (4, 0), (8, 0), (0, 4), (0, 8)]),
    ("A", "16x16x32", 8): (
        [(0, 1), (0, 2), (0, 4)],
        [(1, 0), (2, 0), (4, 0), (8, 0), (0, 8), (0, 16)],
    ),
}
#: triton 3.9.0: AMDWMMALayout version 2 (RDNA4), 16 x 16 x 16, k_width 8.
WMMA_BASES = {
    "A": ([(0, 1), (0, 2), (0, 4)], [(1, 0), (2, 0), (4, 0), (8, 0), (0, 8)]),
    "D": ([(1, 0), (2, 0), (4, 0)], [(0, 1), (0, 2), (0, 4), (0, 8), (8, 0)]),
}


def bases_of(bases: tuple[list, list], lane: str, shape: tuple[int, ...], turned: bool) -> Table:
    items, lanes = ([basis[::-1] if turned else basis for basis in one] for one in bases)
    return from_bases({"m": items, lane: lanes}, shape)


def mfma_table(entry: Entry) -> Table:
    _, size, dtype, operand = entry.name.split(".")
    if operand == "D":
        key = ("D", size.rsplit("x", 1)[0], 1 if dtype == "float64" else 4)
        return bases_of(MFMA_BASES[key], "lane_in_wave", entry.shape, False)
    key = ("A", size, prod(entry.shape) // 64)
    return bases_of(MFMA_BASES[key], "lane_in_wave", entry.shape, operand == "B")


def wmma_table(entry: Entry) -> Table:
    operand = entry.name.split(".")[3]
    return bases_of(WMMA_BASES["D" if operand == "D" else "A"], "laneid", (16, 16), operand == "B")


@pytest.mark.parametrize("entry", list(mfma()), ids=lambda entry: entry.name)
def test_mfma_as_the_isa_has_it(entry):
    """And as triton has it, where that has it; another stride is told."""
    wanted = from_formula(mfma_formula(entry.name), entry.shape)
    assert enumerated(entry.layout, entry.shape) == wanted
    if entry.confirmed_by:
        assert mfma_table(entry) == wanted
    for mutant in mutants(entry.layout):
        assert not agrees(mutant, entry.shape, wanted), str(mutant)


@pytest.mark.parametrize("entry", list(wmma()), ids=lambda entry: entry.name)
def test_wmma_as_triton_has_it(entry):
    wanted = wmma_table(entry)
    assert enumerated(entry.layout, entry.shape) == wanted
    for mutant in mutants(entry.layout):
        assert not agrees(mutant, entry.shape, wanted), str(mutant)


def test_a_vendor_example_of_32x32x2():
    """AMD's article on the matrix cores of CDNA3: its kernel's indices for float32 32x32x2."""
    a, b, d = (mfma_layout(one, 32, 32, 2, "float32") for one in "ABD")
    for lane in range(64):
        half = {"lane_in_wave": lane, "m": 0}
        assert a.apply(lane % 32, lane // 32, shape=(32, 2)) == half
        assert b.apply(lane // 32, lane % 32, shape=(2, 32)) == half
        for i in range(4):
            for j in range(4):
                row, col = lane // 32 * 4 + 8 * i + j, lane % 32
                assert d.apply(row, col, shape=(32, 32)) == {"lane_in_wave": lane, "m": 4 * i + j}


def test_a_vendor_example_of_16x16x16():
    """The same article for float16 16x16x16: four neighbours of a row of A, of a column of B."""
    a, b, d = (mfma_layout(one, 16, 16, 16, "float16") for one in "ABD")
    for lane in range(64):
        for i in range(4):
            place = {"lane_in_wave": lane, "m": i}
            assert a.apply(lane % 16, 4 * (lane // 16) + i, shape=(16, 16)) == place
            assert b.apply(i + 4 * (lane // 16), lane % 16, shape=(16, 16)) == place
            assert d.apply(i + 4 * (lane // 16), lane % 16, shape=(16, 16)) == place


def test_the_proofs_fail_for_another_stride():
    """The theorems of proofs/amd.py, asked of layouts with one stride changed."""
    from proofs.amd import of_32_lanes, of_64_lanes

    for entries, claim in ((mfma(), of_64_lanes), (wmma(), of_32_lanes)):
        for entry in {entry.layout: entry for entry in entries}.values():
            for mutant in mutants(entry.layout):
                changed = Entry(entry.name, mutant, entry.shape, entry.dtype, entry.source)
                assert prove(claim(changed)).verdict is Verdict.REFUTED, str(changed)


def test_entries_that_nothing_confirms_are_known():
    """Several blocks at once, and 4-bit elements of WMMA."""
    for entry in (*mfma(), *wmma()):
        several = any(part in ("2b", "4b", "16b") for part in entry.name.split("."))
        assert bool(entry.confirmed_by) is not (several or ".int4." in entry.name), entry.name


REFUSED = [
    (lambda: mfma_layout("A", 32, 32, 8, "int2"), "the type is one of float32, tf32"),
    (lambda: mfma_layout("A", 32, 32, 4, "float16"), "got 32x32x4"),
    (lambda: mfma_layout("A", 32, 32, 8, "float16", 2), "float16 has 32x32x4 in 2 blocks, 16x16"),
    (
        lambda: mfma_layout("C", 32, 32, 8, "float16"),
        'the operands are "A", "B" and "D"; got \'C\'',
    ),
    (lambda: wmma_layout("A", 16, "float64"), "the type is one of float16, bfloat16"),
    (lambda: wmma_layout("A", 32, "int4"), "K is 16; got 32"),
    (lambda: wmma_layout("C", 16, "int4"), 'the operands are "A", "B" and "D"; got \'C\''),
]


@pytest.mark.parametrize(("ask", "says"), REFUSED)
def test_refusals(ask, says):
    with pytest.raises(LayoutError) as caught:
        ask()
    assert says in str(caught.value)


def test_every_shape_has_all_elements_in_64_lanes():
    for shapes in MFMA.values():
        for rows, cols, depth, blocks in shapes:
            assert rows * cols * blocks % 64 == 0
            assert rows * depth * blocks % 64 == 0


# -- LDS ---------------------------------------------------------------------------------------
#: Composable Kernel's documentation: lanes of ds_read_b128 on 32 banks, from and including.
CK_READ_B128 = [
    ((0, 3), (20, 23)),
    ((4, 7), (16, 19)),
    ((8, 11), (28, 31)),
    ((12, 15), (24, 27)),
    ((32, 35), (52, 55)),
    ((36, 39), (48, 51)),
    ((40, 43), (60, 63)),
    ((44, 47), (56, 59)),
]
#: HipKittens, table of phases: ds_read_b128 on an MI355X.
HK_READ_B128 = [
    ((0, 3), (12, 15), (20, 27)),
    ((4, 11), (16, 19), (28, 31)),
    ((32, 35), (44, 47), (52, 59)),
    ((36, 43), (48, 51), (60, 63)),
]


def lanes(rows: list[tuple[tuple[int, int], ...]]) -> list[set[int]]:
    return [{lane for low, high in row for lane in range(low, high + 1)} for row in rows]


def test_groups_are_those_of_the_sources():
    assert list(map(set, CDNA3.phases("read", 128))) == lanes(CK_READ_B128)
    assert list(map(set, CDNA4_32_BANKS.phases("read", 96))) == lanes(CK_READ_B128)
    assert list(map(set, CDNA4.phases("read", 128))) == lanes(HK_READ_B128)
    assert CDNA3.phases("write", 128) == tuple(tuple(range(8 * k, 8 * k + 8)) for k in range(8))
    assert [len(group) for group in CDNA4.phases("read", 64)] == [32, 32]
    assert [len(group) for group in CDNA4_32_BANKS.phases("write", 64)] == [16] * 4


@pytest.mark.parametrize("target", [CDNA3, CDNA4, CDNA4_32_BANKS], ids=lambda one: one.name)
def test_every_lane_is_served_once_and_a_phase_can_fill_the_banks(target):
    for table in (target.reads, target.writes):
        for width, groups in table:
            assert sorted(lane for group in groups for lane in group) == list(range(64))
            for group in groups:
                assert len(group) * width <= target.row_bytes


@pytest.mark.parametrize(
    ("target", "kind", "bits", "says"),
    [
        (CDNA3, "read", 64, "AMD CDNA3, 32 banks: of reads of 4, 16 bytes a lane it is known"),
        (CDNA3, "write", 16, "got 2 bytes"),
        (CDNA4, "write", 64, "of writes of no bytes a lane it is known which lanes are served"),
        (CDNA4, "write", 64, "see 32 banks: CDNA4_32_BANKS"),
        (CDNA4, "read", 4, "got 0.5 bytes"),
        (CDNA4_32_BANKS, "read", 128, "reads of 4, 8 and 16 bytes see 64 banks: CDNA4"),
    ],
)
def test_widths_that_no_source_names_are_refused(target, kind, bits, says):
    with pytest.raises(LayoutError) as caught:
        target.phases(kind, bits)
    assert says in str(caught.value)


def degree(words: list[int], target, width: int) -> int:
    """The most different words of one bank in one phase, for the word where each lane begins."""
    most = 0
    for group in target.phases("read", 8 * width):
        banks: dict[int, set[int]] = {}
        for lane in group:
            for word in range(words[lane], words[lane] + width // 4):
                banks.setdefault(word % target.banks, set()).add(word)
        most = max(most, *(len(wanted) for wanted in banks.values()))
    return most


@pytest.mark.parametrize("target", [CDNA3, CDNA4], ids=["CDNA3", "CDNA4"])
def test_random_reads_have_the_degree_of_enumeration(target):
    drawn = random.Random(3)
    for _ in range(6):
        pitch, step = 8 * drawn.randrange(1, 20), 8 * drawn.choice((1, 2))
        plain = TileLayout.from_iters([(16, pitch, m), (64, 1, m)])
        tile = Buffer((16, 64), "float16", plain, scope="shared", align=256)
        read = tile.read(lambda lane, step=step: (lane % 16, lane // 16 * step), lanes=64, bytes=16)
        words = [(lane % 16 * pitch + lane // 16 * step) // 2 for lane in range(64)]
        wanted = degree(words, target, 16)
        assert served(read, target).degree == wanted
        assert prove(ConflictDegree(read, wanted, target=target)).verdict is Verdict.PROVED
        free = prove(BankConflictFree(read, target=target)).verdict
        assert free is (Verdict.PROVED if wanted == 1 else Verdict.REFUTED)
