"""Fragments as the PTX ISA prints them: (lane, i) -> row and column of the lane's element i.

Typed from the text of the document, section by section, with its own names and case distinctions,
and apart from the constructors.  What the document shows by figures only is typed from CUTLASS'
traits, where it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Place = tuple[int, ...]
Formula = Callable[[int, int], Place]


@dataclass(frozen=True)
class Table:
    """How many elements a lane holds, and where each of them is."""

    count: int
    place: Formula

    def rows(self) -> Iterator[tuple[int, int, Place]]:
        for lane in range(32):
            for i in range(self.count):
                yield lane, i, self.place(lane, i)


def group(lane: int) -> int:
    return lane >> 2


def thread(lane: int) -> int:
    return lane % 4


def a_pairs(lane: int, i: int) -> Place:
    """m16n8k8 .f16: a0, a1 in row groupID, a2, a3 in row groupID + 8."""
    row = group(lane) if i in (0, 1) else group(lane) + 8
    return row, thread(lane) * 2 + (i & 0x1)


def a_words(lane: int, i: int) -> Place:
    """m16n8k8 .tf32 and .f64."""
    row = group(lane) if i in (0, 2) else group(lane) + 8
    return row, thread(lane) if i in (0, 1) else thread(lane) + 4


def a_halves(lane: int, i: int) -> Place:
    """m16n8k16 .f16."""
    row = group(lane) if 0 <= i < 2 or 4 <= i < 6 else group(lane) + 8
    column = thread(lane) * 2 + (i & 0x1)
    return row, column if i < 4 else column + 8


def a_doubles(lane: int, i: int) -> Place:
    """m16n8k16 .f64."""
    if i % 2 == 0:
        return group(lane), i * 2 + thread(lane)
    return group(lane) + 8, i * 2 - 2 + thread(lane)


def a_bytes(lane: int, i: int) -> Place:
    """m16n8k32 .s8."""
    row = group(lane) if 0 <= i < 4 or 8 <= i < 12 else group(lane) + 8
    column = thread(lane) * 4 + (i & 0x3)
    return row, column if i < 8 else column + 16


def a_nibbles(lane: int, i: int) -> Place:
    """m16n8k64."""
    row = group(lane) if 0 <= i < 8 or 16 <= i < 24 else group(lane) + 8
    column = thread(lane) * 8 + (i & 0x7)
    return row, column if i < 16 else column + 32


def b_halves(lane: int, i: int) -> Place:
    """m16n8k16 .f16."""
    row = thread(lane) * 2 + (i & 0x1)
    return row if i < 2 else row + 8, group(lane)


def b_bytes(lane: int, i: int) -> Place:
    """m16n8k32 .s8."""
    row = thread(lane) * 4 + (i & 0x3)
    return row if i < 4 else row + 16, group(lane)


def b_nibbles(lane: int, i: int) -> Place:
    """m16n8k64."""
    row = thread(lane) * 8 + (i & 0x7)
    return row if i < 8 else row + 32, group(lane)


def c_of_8_rows(lane: int, i: int) -> Place:
    return group(lane), thread(lane) * 2 + (i & 0x1)


def c_of_16_rows(lane: int, i: int) -> Place:
    row = group(lane) if i < 2 else group(lane) + 8
    return row, thread(lane) * 2 + (i & 0x1)


_ONE_A = Table(1, lambda lane, i: (lane >> 2, lane % 4))
_ONE_B = Table(1, lambda lane, i: (lane % 4, lane >> 2))
_TWO_A = Table(2, lambda lane, i: (group(lane) + (0, 8)[i], thread(lane)))
_WORDS = (Table(4, a_words), Table(2, lambda lane, i: (thread(lane) + (0, 4)[i], group(lane))))
_HALVES = (Table(8, a_halves), Table(4, b_halves))
_PAIRS = (Table(4, a_pairs), Table(2, lambda lane, i: (thread(lane) * 2 + i, group(lane))))
_SMALL_BYTES = (
    Table(8, lambda lane, i: (group(lane) + (0 if i < 4 else 8), thread(lane) * 4 + (i & 0x3))),
    Table(4, lambda lane, i: (thread(lane) * 4 + i, group(lane))),
)
_BYTES = (Table(16, a_bytes), Table(8, b_bytes))
_SMALL_NIBBLES = (
    Table(16, lambda lane, i: (group(lane) + (0 if i < 8 else 8), thread(lane) * 8 + (i & 0x7))),
    Table(8, lambda lane, i: (thread(lane) * 8 + i, group(lane))),
)
_NIBBLES = (Table(32, a_nibbles), Table(16, b_nibbles))

#: (shape, dtypes) -> tables of A and of B, sections 9.7.14.5.2 to 9.7.14.5.11.
DENSE: dict[tuple[str, tuple[str, ...]], tuple[Table, Table]] = {
    ("m8n8k4", ("float64",)): (_ONE_A, _ONE_B),
    ("m8n8k16", ("int8", "uint8")): (
        Table(4, lambda lane, i: (group(lane), thread(lane) * 4 + i)),
        Table(4, lambda lane, i: (thread(lane) * 4 + i, group(lane))),
    ),
    ("m8n8k32", ("int4", "uint4")): (
        Table(8, lambda lane, i: (group(lane), thread(lane) * 8 + i)),
        Table(8, lambda lane, i: (thread(lane) * 8 + i, group(lane))),
    ),
    ("m16n8k4", ("tf32", "float64")): (_TWO_A, _ONE_B),
    ("m16n8k8", ("float16", "bfloat16")): _PAIRS,
    ("m16n8k8", ("tf32", "float64")): _WORDS,
    ("m16n8k16", ("float16", "bfloat16")): _HALVES,
    ("m16n8k16", ("float64",)): (
        Table(8, a_doubles),
        Table(4, lambda lane, i: (thread(lane) + i * 4, group(lane))),
    ),
    ("m16n8k16", ("int8", "uint8", "e4m3", "e5m2")): _SMALL_BYTES,
    ("m16n8k32", ("int4", "uint4")): _SMALL_NIBBLES,
    ("m16n8k32", ("int8", "uint8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")): _BYTES,
    ("m16n8k64", ("int4", "uint4", "e2m1")): _NIBBLES,
}

#: Accumulators by the number of rows.
ACCUMULATORS = {8: Table(2, c_of_8_rows), 16: Table(4, c_of_16_rows)}


# -- m8n8k4 .f16, section 9.7.14.5.1 -----------------------------------------------------------
def computation(lane: int) -> int:
    """Computation 1 (here 0) is of lanes 0-3 and 16-19, and so on."""
    return next(
        q for q in range(4) if lane in (*range(4 * q, 4 * q + 4), *range(4 * q + 16, 4 * q + 20))
    )


def _line(lane: int) -> int:
    return lane % 4 if lane < 16 else lane % 4 + 4


def c_wide(lane: int, i: int) -> Place:
    x = (lane & 0b1) + (i & 0b10)
    return x if lane < 16 else x + 4, (i & 0b100) + (lane & 0b10) + (i & 0b1)


def _four(count: int, place: Formula) -> Table:
    return Table(count, lambda lane, i: (computation(lane), *place(lane, i)))


#: Part of the entry's name -> table, with the computation first.
VOLTA = {
    "A.row": _four(4, lambda lane, i: (_line(lane), i)),
    "A.col": _four(4, lambda lane, i: (i % 4 if lane < 16 else i % 4 + 4, lane % 4)),
    "B.row": _four(4, lambda lane, i: (lane % 4, i if lane < 16 else i + 4)),
    "B.col": _four(4, lambda lane, i: (i, _line(lane))),
    "C.float16": _four(8, lambda lane, i: (_line(lane), i)),
    "D.float16": _four(8, lambda lane, i: (_line(lane), i)),
    "C.float32": _four(8, c_wide),
    "D.float32": _four(8, c_wide),
}


# -- sparse A, section 9.7.14.6.2 --------------------------------------------------------------
@dataclass(frozen=True)
class Stored:
    """A stored A: rows, and the first and last column of the chunks that an element is from.

    `run` elements, in order, are those that are stored of these columns.
    """

    count: int
    run: int
    width: int
    first_rows: Callable[[int], bool]
    first: Callable[[int, int], int]

    def row(self, lane: int, i: int) -> int:
        return group(lane) if self.first_rows(i) else group(lane) + 8

    def column(self, lane: int, i: int) -> int:
        """The stored column: half the columns before are stored."""
        return self.first(lane, i) // 2 + i % self.run

    def table(self) -> Table:
        return Table(self.count, lambda lane, i: (self.row(lane, i), self.column(lane, i)))


#: (shape, dtypes) -> the stored A.
STORED = {
    ("m16n8k16", ("float16", "bfloat16")): Stored(
        4, 2, 4, lambda i: i in (0, 1), lambda lane, i: thread(lane) * 4
    ),
    ("m16n8k32", ("float16", "bfloat16")): Stored(
        8,
        2,
        4,
        lambda i: 0 <= i < 2 or 4 <= i < 6,
        lambda lane, i: thread(lane) * 4 if i < 4 else thread(lane) * 4 + 16,
    ),
    ("m16n8k16", ("tf32",)): Stored(
        4,
        1,
        2,
        lambda i: i in (0, 2),
        lambda lane, i: thread(lane) * 2 if i in (0, 1) else thread(lane) * 2 + 8,
    ),
    ("m16n8k8", ("tf32",)): Stored(2, 1, 2, lambda i: i == 0, lambda lane, i: thread(lane) * 2),
    ("m16n8k32", ("int8", "uint8")): Stored(
        8, 4, 8, lambda i: 0 <= i < 4, lambda lane, i: thread(lane) * 8
    ),
    ("m16n8k64", ("int8", "uint8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")): Stored(
        16,
        4,
        8,
        lambda i: 0 <= i < 4 or 8 <= i < 12,
        lambda lane, i: thread(lane) * 8 if i < 8 else thread(lane) * 8 + 32,
    ),
    ("m16n8k64", ("int4", "uint4")): Stored(
        16, 8, 16, lambda i: 0 <= i < 8, lambda lane, i: thread(lane) * 16
    ),
    ("m16n8k128", ("int4", "uint4", "e2m1")): Stored(
        32,
        8,
        16,
        lambda i: 0 <= i < 8 or 16 <= i < 24,
        lambda lane, i: thread(lane) * 16 if i < 16 else thread(lane) * 16 + 64,
    ),
}

#: (shape, dtypes) -> B: that of a dense shape, or, where only figures show it, CUTLASS' BLayout
#: (m16n8k64 of bytes, m16n8k128), the figure's twin (tf32), or Apache TVM's test (m16n8k32 of
#: halves: row i // 2 * 8 + lane % 4 * 2 + i % 2 of column lane // 4).
SPARSE_B = {
    ("m16n8k16", ("float16", "bfloat16")): _HALVES[1],
    ("m16n8k8", ("tf32",)): _WORDS[1],
    ("m16n8k32", ("int8", "uint8")): _BYTES[1],
    ("m16n8k64", ("int4", "uint4")): _NIBBLES[1],
    ("m16n8k16", ("tf32",)): Table(4, lambda lane, i: (thread(lane) + i * 4, group(lane))),
    ("m16n8k32", ("float16", "bfloat16")): Table(
        8, lambda lane, i: (8 * (i // 2) + 2 * thread(lane) + i % 2, group(lane))
    ),
    ("m16n8k64", ("int8", "uint8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")): Table(
        16, lambda lane, i: ((32 * thread(lane) + 8 * (i % 4) + 128 * (i // 4)) // 8, group(lane))
    ),
    ("m16n8k128", ("int4", "uint4", "e2m1")): Table(
        32, lambda lane, i: ((64 * thread(lane) + 8 * (i % 8) + 256 * (i // 8)) // 8, group(lane))
    ),
}


def elayout(lane: int, i: int) -> Place:
    """CUTLASS' ELayout, lane (2, 2, 8) -> (8, 512, 1), column -> 16, over 16 rows of 64 columns."""
    at = 8 * (lane % 2) + 512 * (lane // 2 % 2) + lane // 4
    first_column = 4 * i
    return (at % 16, (at // 16 + first_column) // 4)


def tvm_one_lane(lane: int, i: int) -> Place:
    """Apache TVM, test_mma_sp_m16n8k16_f16: word lane // 4 has row blk*8 + g, then index j."""
    blk, j = divmod(2 * i, 8)
    return (8 * blk + lane // 4, j // 2)


def tvm_two_lanes(lane: int, i: int) -> Place:
    """Apache TVM, test_mma_sp_m16n8k32_f16: word (lane // 4, lane % 2), row blk*8 + g, index j."""
    blk, j = divmod(2 * i, 8)
    return (8 * blk + lane // 4, 4 * (lane % 2) + j // 2)


def tilelang_halves(lane: int, i: int) -> Place:
    """TileLang, metadata_16bit_load_32x2_to_shared_16x2_layout_32bit: two words of 16 bits."""
    logical = (lane // 4) * 2 + (lane % 4) % 2
    word, nibble = divmod(i, 4)
    return (logical // 2 + 8 * word, 4 * (logical % 2) + nibble)


def tilelang_words(lane: int, i: int) -> Place:
    """TileLang, metadata_32bit_load_32x1_to_shared_16x2_layout_8bit: a word of 32 bits."""
    return (lane // 4 + 8 * (lane % 2), 8 * ((lane % 4) // 2) + i)


def first_chunks(table: Callable[[int, int], Place]) -> Callable[[int, int], Place]:
    """The lanes of a selector, from an instruction of twice the depth: its first or last chunks.

    No source but a figure says so of m16n8k8 over tf32, m16n8k32 of bytes, m16n8k64 of nibbles.
    """

    def of_half(lane: int, i: int) -> Place:
        row, chunk = table(lane, i)
        return (row, chunk % (4 if table is tilelang_halves else 8))

    return of_half


#: (shape, dtypes) -> lanes of a quad that have the metadata, and the sources' tables.
METADATA: dict[tuple[str, tuple[str, ...]], tuple[int, list[Callable[[int, int], Place]]]] = {
    ("m16n8k8", ("tf32",)): (1, [first_chunks(tilelang_halves)]),
    ("m16n8k16", ("float16", "bfloat16")): (1, [tvm_one_lane]),
    ("m16n8k16", ("tf32",)): (2, [tilelang_halves]),
    ("m16n8k32", ("float16", "bfloat16")): (2, [tvm_two_lanes, tilelang_halves]),
    ("m16n8k32", ("int8", "uint8")): (2, [first_chunks(elayout)]),
    ("m16n8k64", ("int8", "uint8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")): (
        4,
        [elayout, tilelang_words],
    ),
    ("m16n8k64", ("int4", "uint4")): (2, [first_chunks(elayout)]),
    ("m16n8k128", ("int4", "uint4", "e2m1")): (4, [elayout]),
}


# -- scale factors, section 9.7.14.3, and CUTLASS' SFALayout and SFBLayout ----------------------
def scale_rows(lane: int) -> int:
    """SFALayout, lane (2, 2, 8) -> (8, 0, 1): the row that a lane has the scales of."""
    return 8 * (lane % 2) + lane // 4


def scales_a(thread_id: int, lane: int) -> int | None:
    """The row whose scales a lane provides; the pair of lanes % 4 is 0, 1 or 2, 3."""
    provides = lane % 4 in ((0, 1), (2, 3))[thread_id]
    return scale_rows(lane) if provides else None


def scales_b(thread_id: int, lane: int) -> int | None:
    """The column whose scales a lane provides: the lane with laneid % 4 == thread-id-b does."""
    return lane // 4 if lane % 4 == thread_id else None
