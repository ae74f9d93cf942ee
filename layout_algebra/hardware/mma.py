"""The fragments of mma.sync: which lane of a warp holds which elements of A, B, C and D.

    mma("m16n8k16", "float16").A     # over (16, 16): element (i, k) -> laneid, m
    mma("m16n8k32", "e4m3", "e5m2").B
    mma("m8n8k4", "float16", a_order="col").A

With p elements in a register (2 of 16 bits, 4 of 8, 8 of 4, 1 of tf32 and of float64), h = M/8 and
g = 4*p, all but m8n8k4 over float16 hold

    A (M, K)  element (i, k)   laneid = 4*(i % 8) + (k % g)//p   m = k % p + p*(i//8) + h*p*(k//g)
    B (K, 8)  element (k, j)   laneid = 4*j + (k % g)//p         m = k % p + p*(k//g)
    C (M, 8)  element (i, j)   laneid = 4*(i % 8) + j//2         m = j % 2 + 2*(i//8)

m counts the elements that a lane holds in register order, lowest bits first.  m8n8k4 over float16
makes four multiplications at once; its entries have a first dimension for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from layout_algebra.axes import Axis, laneid, m
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.mma_tables import (
    FORMS,
    PTX,
    Form,
    accumulator_type,
    canonical,
    form,
    second_type,
)
from layout_algebra.layouts import TileLayout

#: What the entries are compared with, and where.
TYPED = "tables typed from the ISA text, tests/hardware/test_mma.py"
ATOMS = f"{TYPED}; tensor-layouts 0.3.2, MMA atoms"
ORDERS = ("row", "col")

#: Operands for which the other library has no atom of that name, or a wrong one (B of 4 bits).
_WITHOUT_ATOM = {
    *((part, "m16n8k16", dtype) for part in "AB" for dtype in ("e4m3", "e5m2")),
    *((part, "m16n8k32", dtype) for part in "AB" for dtype in ("e3m2", "e2m3", "e2m1")),
    *((part, "m16n8k64", "e2m1") for part in "AB"),
    *(("B", "m16n8k32", dtype) for dtype in ("int4", "uint4")),
}
Iters = tuple[tuple[int, int, Axis], ...]


@dataclass(frozen=True)
class Mma:
    """One mma.sync instruction.

    Attributes:
        name: like "mma.m16n8k16.float16".
        sizes: M, N and K.
        A, B: the multiplicands, (M, K) and (K, N).
        C, D: the accumulator, read and written, (M, N).
    """

    name: str
    sizes: tuple[int, int, int]
    A: Entry
    B: Entry
    C: Entry
    D: Entry

    @property
    def entries(self) -> tuple[Entry, ...]:
        return (self.A, self.B, self.C, self.D)


def mma(
    shape: str,
    dtype: str,
    b_dtype: str | None = None,
    *,
    accumulator: str | None = None,
    a_order: str = "row",
    b_order: str = "col",
) -> Mma:
    """The fragments of one mma.sync instruction.

    The block-scaled forms hold A, B, C and D alike: m16n8k32 over fp8, fp6 and fp4 (mxf8f6f4) and
    m16n8k64 over e2m1 (mxf4, mxf4nvf4); `mma_scales` gives their scale factors.

    Args:
        shape: "m8n8k4", "m8n8k16", "m8n8k32", or "m16n8k4" to "m16n8k64".
        dtype: A's element type, like "float16", "bf16", "tf32", "int8", "u4", "e4m3".
        b_dtype: B's, where it may differ; A's by default.
        accumulator: C's and D's type; float32, int32 or float64 by default.
        a_order, b_order: "row" or "col", for m8n8k4 over float16 only; others have A by rows and B
            by columns.

    Raises:
        LayoutError: an instruction that there is not; the message has those that there are.

    Source: PTX ISA 9.1, section 9.7.14.5, matrix fragments, by shape.
    """
    one = form(shape, dtype)
    first = canonical(dtype)
    types = (first, second_type("mma", one, first, b_dtype))
    result = accumulator_type("mma", one, accumulator)
    name = f"mma.{one.shape}.{first}"
    rows, columns, depth = one.sizes
    if _has_orders(one, first, a_order, b_order):
        return _four_at_once(one, name, result, a_order, b_order)
    made = {
        "A": (a_iters(rows, depth, one.packed), (rows, depth), types[0]),
        "B": (b_iters(depth, one.packed), (depth, columns), types[1]),
        "C": (c_iters(rows), (rows, columns), result),
        "D": (c_iters(rows), (rows, columns), result),
    }
    entries = {part: _entry(one, part, iters, tile, of) for part, (iters, tile, of) in made.items()}
    return Mma(name, one.sizes, **entries)


def _has_orders(one: Form, dtype: str, a_order: str, b_order: str) -> bool:
    """Whether it is m8n8k4 over float16; raises LayoutError for orders that there are not."""
    for name, order in (("a_order", a_order), ("b_order", b_order)):
        if order not in ORDERS:
            raise LayoutError(f"mma: {name} is row or col; got {order!r}")
    if one.shape == "m8n8k4" and dtype == "float16":
        return True
    if (a_order, b_order) != ("row", "col"):
        raise LayoutError(
            f"mma: {one.shape} over {dtype} has A by rows and B by columns; got {a_order} and "
            f"{b_order}"
        )
    return False


def a_iters(rows: int, depth: int, packed: int) -> Iters:
    """Iters of A by rows: registers go down the halves of the rows, then along K."""
    halves = rows // 8
    return (
        (halves, packed, m),
        (8, 4, laneid),
        (depth // (4 * packed), halves * packed, m),
        (4, 1, laneid),
        (packed, 1, m),
    )


def b_iters(depth: int, packed: int) -> Iters:
    """Iters of B by columns: a lane has one column."""
    return ((depth // (4 * packed), packed, m), (4, 1, laneid), (packed, 1, m), (8, 4, laneid))


def c_iters(rows: int) -> Iters:
    """Iters of the accumulator: two neighbours of a row, of one row or of two that are 8 apart."""
    return ((rows // 8, 2, m), (8, 4, laneid), (4, 1, laneid), (2, 1, m))


def fragment_layout(iters: Iters, offset: Mapping[Axis, int] | None = None) -> TileLayout:
    """The layout without the iters that count to one."""
    return TileLayout.from_iters([it for it in iters if it[0] > 1], (), offset or {})


def _entry(one: Form, part: str, iters: Iters, tile: tuple[int, ...], dtype: str) -> Entry:
    name = f"mma.{one.shape}.{dtype}.{part}"
    if part in "CD":
        name = f"mma.{one.shape}.{one.dtypes[0]}.{part}.{dtype}"
    atom = part in "CD" or (part, one.shape, dtype) not in _WITHOUT_ATOM
    source = f"{PTX}{one.section}, matrix fragments for mma.{one.shape}"
    layout = fragment_layout(iters)
    return Entry(name, layout, tile, dtype, source, ATOMS if atom else TYPED)


# -- m8n8k4 over float16 -----------------------------------------------------------------------
def _four_at_once(one: Form, name: str, result: str, a_order: str, b_order: str) -> Mma:
    """Four multiplications, each by four lanes and the four that are 16 on.

    Element (q, i, k) is of multiplication q.  An operand whose own lines are the lanes' (A by rows,
    B by columns) gives each lane one line; otherwise a lane has one k and four lines of it.
    """
    four = (4, 4, laneid)
    lines: Iters = ((2, 16, laneid), (4, 1, laneid))
    lane_by_line: Iters = (four, *lines, (4, 1, m))
    lane_by_k: Iters = (four, (2, 16, laneid), (4, 1, m), (4, 1, laneid))
    k_by_line: Iters = (four, (4, 1, m), *lines)
    k_by_lane: Iters = (four, (4, 1, laneid), (2, 16, laneid), (4, 1, m))
    accumulators: dict[str, Iters] = {
        "float16": (four, *lines, (8, 1, m)),
        "float32": (
            four,
            (2, 16, laneid),
            (2, 2, m),
            (2, 1, laneid),
            (2, 4, m),
            (2, 2, laneid),
            (2, 1, m),
        ),
    }
    a = lane_by_line if a_order == "row" else lane_by_k
    b = k_by_line if b_order == "col" else k_by_lane
    source = f"{PTX}{one.section}, matrix fragments for mma.m8n8k4 with .f16"

    def entry(part: str, iters: Iters, tile: tuple[int, ...], dtype: str) -> Entry:
        return Entry(f"{name}.{part}", fragment_layout(iters), tile, dtype, source, ATOMS)

    return Mma(
        name,
        one.sizes,
        entry(f"A.{a_order}", a, (4, 8, 4), "float16"),
        entry(f"B.{b_order}", b, (4, 4, 8), "float16"),
        entry(f"C.{result}", accumulators[result], (4, 8, 8), result),
        entry(f"D.{result}", accumulators[result], (4, 8, 8), result),
    )


# -- the catalogue -----------------------------------------------------------------------------
def instructions() -> Iterator[Mma]:
    """Every instruction, once for each accumulator and order."""
    for one in FORMS:
        volta = (one.shape, one.dtypes[0]) == ("m8n8k4", "float16")
        orders = [(a, b) for a in ORDERS for b in ORDERS] if volta else [("row", "col")]
        for dtype in one.dtypes:
            for result in one.accumulators:
                for a, b in orders:
                    yield mma(one.shape, dtype, accumulator=result, a_order=a, b_order=b)


@family
def mma_entries() -> Iterator[Entry]:
    """Every fragment of mma.sync, each name once."""
    seen: set[str] = set()
    for one in instructions():
        for entry in one.entries:
            if entry.name not in seen:
                seen.add(entry.name)
                yield entry
