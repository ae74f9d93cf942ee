"""The fragments of mma.sp: a sparse A, of which half the elements of each row are stored.

    one = mma_sparse("m16n8k32", "float16")
    one.A                # over (16, 16): the stored elements, packed along K
    one.chunk, one.kept  # (4, 2): two of every four neighbours are stored

Stored element (i, c) of A is one of the `kept` of chunk c // kept of row i, columns
chunk * (c // kept) and on.  Which of the chunk's elements it is the metadata say: 4 bits for every
chunk (two 2-bit indices; with tf32 one index of 4 bits).  Over the stored elements A is held as the
dense A of half the K is.

    one.metadata         # 4 bits for each chunk, in the lanes that selector 0 names
    mma_sparse("m16n8k32", "float16", selector=1).metadata

The sparsity selector says which lanes of a quad have the metadata: one of four, one of two pairs,
or all of them.  An instruction of twice the depth takes those of two selectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from layout_algebra.axes import laneid, m
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.mma import (
    TYPED,
    Iters,
    a_iters,
    b_iters,
    c_iters,
    fragment_layout,
)
from layout_algebra.hardware.mma_tables import (
    PTX,
    SPARSE_FORMS,
    SparseForm,
    accumulator_type,
    canonical,
    second_type,
    sparse_form,
)

_TVM = "Apache TVM, test_tir_ptx_mma_sp.py: random masks beside NumPy on sm_80"
_TILELANG = "TileLang, mma_sp_layout.py"

#: B whose fragment the document shows by a figure only -> what else shows it.
_B_BY_FIGURE = {
    ("m16n8k16", 1): "the figure is that of B of the dense m16n8k16 over float64",
    ("m16n8k32", 2): _TVM,
    ("m16n8k64", 4): "CUTLASS' BLayout, typed in tests/hardware/test_mma.py",
    ("m16n8k128", 8): "CUTLASS' BLayout, typed in tests/hardware/test_mma.py",
}

#: Bits of the metadata for one chunk.
INDEX_BITS = 4

#: Chunks of which the metadata fill a register.
_PER_REGISTER = 32 // INDEX_BITS

#: Which programs that run the instruction give its metadata so, each typed in the tests.
_METADATA_CONFIRMED = {
    ("m16n8k16", 2): _TVM,
    ("m16n8k32", 2): f"{_TVM}; MLIR, sparse-mma-2-4-f16.mlir; {_TILELANG}",
    ("m16n8k16", 1): _TILELANG,
    ("m16n8k64", 4): _TILELANG,
}


@dataclass(frozen=True)
class SparseMma:
    """One mma.sp instruction.

    Attributes:
        name: like "mma_sparse.m16n8k32.float16".
        sizes: M, N and K, with K that of the full A.
        A: the stored elements, (M, K/2).
        B: (K, N).
        C, D: (M, N).
        metadata: over (M, K/chunk), 4 bits for each chunk, in the lanes of the selector.
        chunk: neighbours of a row of which `kept` are stored.
        kept: see `chunk`.  Over 4-bit types whole pairs are kept or not.
        selectors: the sparsity selector is below this.
    """

    name: str
    sizes: tuple[int, int, int]
    A: Entry
    B: Entry
    C: Entry
    D: Entry
    metadata: Entry
    chunk: int
    kept: int
    selectors: int

    @property
    def entries(self) -> tuple[Entry, ...]:
        return (self.A, self.B, self.C, self.D, self.metadata)


def mma_sparse(
    shape: str,
    dtype: str,
    b_dtype: str | None = None,
    *,
    accumulator: str | None = None,
    selector: int = 0,
) -> SparseMma:
    """The fragments of one mma.sp instruction.

    Args:
        shape: "m16n8k8" to "m16n8k128"; K is that of the full A.
        dtype: A's element type, like "float16", "tf32", "int8", "e4m3".
        b_dtype: B's, where it may differ; A's by default.
        accumulator: C's and D's type; float32 or int32 by default.
        selector: the sparsity selector: which lanes of a quad have the metadata.

    Raises:
        LayoutError: an instruction that there is not, or a selector that it does not take; the
            message has those that there are.

    Source: PTX ISA 9.1, section 9.7.14.6, sparse matrix storage and fragments, by shape.
    """
    one = sparse_form(shape, dtype)
    first = canonical(dtype)
    second = second_type("mma_sparse", one, first, b_dtype)
    result = accumulator_type("mma_sparse", one, accumulator)
    rows, columns, depth = one.sizes
    family_name = one.dtypes[0]
    return SparseMma(
        f"mma_sparse.{one.shape}.{first}",
        one.sizes,
        _entry(one, f"{first}.A", a_iters(rows, depth // 2, one.packed), (rows, depth // 2), first),
        _entry(one, f"{second}.B", b_iters(depth, one.packed), (depth, columns), second),
        _entry(one, f"{family_name}.C.{result}", c_iters(rows), (rows, columns), result),
        _entry(one, f"{family_name}.D.{result}", c_iters(rows), (rows, columns), result),
        _metadata(one, selector),
        one.chunk,
        one.kept,
        one.selectors,
    )


def _entry(one: SparseForm, part: str, iters: Iters, tile: tuple[int, int], dtype: str) -> Entry:
    source = f"{PTX}{one.section}, matrix fragments for sparse mma.{one.shape}"
    confirmed = TYPED
    if part.endswith(".B"):
        confirmed = _B_BY_FIGURE.get((one.shape, one.packed), TYPED)
    name = f"mma_sparse.{one.shape}.{part}"
    return Entry(name, fragment_layout(iters), tile, dtype, source, confirmed)


def _metadata(one: SparseForm, selector: int) -> Entry:
    """The metadata in the lanes of a selector; m counts chunks in a register, lowest bits first.

    Over 16 bits and tf32 a register has 4 chunks of each of two rows that are 8 apart.  Over 8 and
    4 bits it has 8 chunks of one row, and the rows that are 8 apart are in neighbouring lanes.
    """
    if type(selector) is not int or not 0 <= selector < one.selectors:
        legal = "0" if one.selectors == 1 else f"0 to {one.selectors - 1}"
        raise LayoutError(
            f"mma_sparse: the sparsity selector of {one.shape} over {one.dtypes[0]} is {legal}; "
            f"got {selector!r}"
        )
    rows, _, depth = one.sizes
    chunks = depth // one.chunk
    half = _PER_REGISTER // 2
    iters: Iters = (
        ((rows // 8, half, m), (8, 4, laneid), (chunks // half, 1, laneid), (half, 1, m))
        if one.packed <= 2
        else (
            (rows // 8, 1, laneid),
            (8, 4, laneid),
            (chunks // _PER_REGISTER, 2, laneid),
            (_PER_REGISTER, 1, m),
        )
    )
    source = f"{PTX}{one.section}, sparse mma.{one.shape}, metadata layout (a figure)"
    if one.selectors == 1:
        source = f"CUTLASS, mma_traits_sm120_sparse.hpp, ELayout; {source}"
    name = f"mma_sparse.{one.shape}.{one.dtypes[0]}.metadata"
    if one.selectors > 1:
        name += f".selector{selector}"
    first = selector * (4 // one.selectors)
    layout = fragment_layout(iters, {laneid: first} if first else None)
    confirmed = _METADATA_CONFIRMED.get((one.shape, one.packed), "")
    return Entry(name, layout, (rows, chunks), f"b{INDEX_BITS}", source, confirmed)


def sparse_instructions() -> Iterator[SparseMma]:
    """Every instruction, once for each accumulator and selector."""
    for one in SPARSE_FORMS:
        for dtype, result in product(one.dtypes, one.accumulators):
            for selector in range(one.selectors):
                yield mma_sparse(one.shape, dtype, accumulator=result, selector=selector)


@family
def sparse_entries() -> Iterator[Entry]:
    """Every fragment of mma.sp, each name once."""
    seen: set[str] = set()
    for one in sparse_instructions():
        for entry in one.entries:
            if entry.name not in seen:
                seen.add(entry.name)
                yield entry
