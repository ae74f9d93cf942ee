"""The fragments of mma.sync: nothing is held twice, nothing is left out, and the formulas hold.

For every instruction of the catalogue: each of A, B, C and D fills the registers of its lanes, and
is what the formula of `layout_algebra.hardware.mma` says.
"""

from __future__ import annotations

from functools import partial, reduce
from math import prod
from operator import and_

from layout_algebra import Bijective, Equivalent, Injective, Map, Verdict, WithinBounds, laneid, m
from layout_algebra.claims import Claim
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.mma import Mma, instructions, mma
from layout_algebra.hardware.mma_scales import mma_scales, scale_entries
from layout_algebra.hardware.mma_tables import FORMS, SPARSE_FORMS, Form, SparseForm
from layout_algebra.hardware.sparse import SparseMma, mma_sparse
from layout_algebra.theorems import theorem

PTX = "PTX ISA, matrix fragments for mma"
SPARSE = "PTX ISA, matrix fragments for mma.sp"
SCALES = "PTX ISA, block scaling for mma.sync"

LANES = 32


def fills(entry: Entry) -> Claim:
    """Every lane holds equally many elements, and each of its registers is one element's."""
    return Bijective(entry.layout, {laneid: LANES, m: prod(entry.shape) // LANES})


def all_of(claims: list[Claim]) -> Claim:
    return reduce(and_, claims)


def same(one: Entry, other: Entry) -> Claim:
    return Equivalent(one.map(), other.map())


def formula_of_a(one: Mma, packed: int) -> Claim:
    """A by rows: registers go down the halves of the rows, then along K."""
    halves, group = one.sizes[0] // 8, 4 * packed

    def a(i, k):
        register = i // 8 + halves * (k // group)
        return {laneid: 4 * (i % 8) + k % group // packed, m: k % packed + packed * register}

    return Equivalent(one.A.map(), Map.of(a, one.A.shape))


def formula_of_b(one: Mma | SparseMma, packed: int) -> Claim:
    """B by columns: a lane has one column, registers go along K."""
    group = 4 * packed

    def b(k, j):
        return {laneid: 4 * j + k % group // packed, m: k % packed + packed * (k // group)}

    return Equivalent(one.B.map(), Map.of(b, one.B.shape))


def formula_of_c(one: Mma) -> Claim:
    def c(i, j):
        return {laneid: 4 * (i % 8) + j // 2, m: j % 2 + 2 * (i // 8)}

    return Equivalent(one.C.map(), Map.of(c, one.C.shape))


# -- dense -------------------------------------------------------------------------------------
def state_dense(form: Form) -> None:
    """The theorems of one shape over one family of types."""
    each = [mma(form.shape, dtype) for dtype in form.dtypes]
    first, types = each[0], ", ".join(form.dtypes)

    @theorem(f"mma.{form.shape} over {types}: A, B, C and D fill 32 lanes' registers", source=PTX)
    def fragments_fill_registers():
        return all_of([fills(entry) for one in each for entry in one.entries])

    @theorem(f"mma.{form.shape} over {types}: lanes and registers by formula", source=PTX)
    def fragments_have_formulas():
        """Types of one family share their fragments."""
        return all_of(
            [
                formula_of_a(first, form.packed),
                formula_of_b(first, form.packed),
                formula_of_c(first),
                *(same(first.A, one.A) & same(first.B, one.B) for one in each[1:]),
            ]
        )


for dense in FORMS:
    if dense.section != "9.7.14.5.1":
        state_dense(dense)


@theorem("mma.m8n8k4.float16: four multiplications fill the registers of 32 lanes", source=PTX)
def four_at_once_fill_registers():
    """By rows and by columns, with both accumulators."""
    every = [one for one in instructions() if one.name == "mma.m8n8k4.float16"]
    return all_of([fills(entry) for one in every for entry in one.entries])


@theorem("mma.m8n8k4.float16: multiplication q is of lanes 4q to 4q+3 and of 16 on", source=PTX)
def lanes_of_one_of_four():
    """A by rows and B by columns: a lane has one line, the upper four lines are 16 lanes on."""
    one = mma("m8n8k4", "float16")
    a = Map.of(lambda q, i, k: {laneid: 4 * q + i % 4 + 16 * (i // 4), m: k}, (4, 8, 4))
    b = Map.of(lambda q, k, j: {laneid: 4 * q + j % 4 + 16 * (j // 4), m: k}, (4, 4, 8))
    return Equivalent(one.A.map(), a) & Equivalent(one.B.map(), b)


@theorem("mma.m8n8k4.float16: A by columns and B by rows give a lane one k", source=PTX)
def lanes_of_one_of_four_transposed():
    one = mma("m8n8k4", "float16", a_order="col", b_order="row")
    a = Map.of(lambda q, i, k: {laneid: 4 * q + k + 16 * (i // 4), m: i % 4}, (4, 8, 4))
    b = Map.of(lambda q, k, j: {laneid: 4 * q + k + 16 * (j // 4), m: j % 4}, (4, 4, 8))
    return Equivalent(one.A.map(), a) & Equivalent(one.B.map(), b)


@theorem(
    "mma.m8n8k4.float16: the accumulator is in the same registers with float32 as with float16",
    source=PTX,
    expect=Verdict.REFUTED,
    note="with float16 a lane has one row, with float32 pairs of two rows",
)
def accumulators_of_four_differ():
    wide, narrow = (mma("m8n8k4", "float16", accumulator=name) for name in ("float32", "float16"))
    return Equivalent(wide.C.map(), narrow.C.map())


@theorem("mma: the accumulator is read and written in the same registers", source=PTX)
def accumulator_in_place():
    return all_of([same(one.C, one.D) for one in instructions()])


# -- one fragment as another -------------------------------------------------------------------
@theorem("mma: C of 16 x 8 is, over 16 bits, A of m16n8k8", source=PTX)
def accumulator_is_next_a():
    """A product goes into the next product without leaving its registers."""
    return Equivalent(mma("m16n8k16", "float16").C.map(), mma("m16n8k8", "float16").A.map())


def two_accumulators(i, j):
    """Two accumulators of 16 x 8 side by side, the second one's registers after the first's."""
    place = mma("m16n8k16", "float16").C.layout.apply(i, j % 8, shape=(16, 8))
    return {laneid: place["laneid"], m: place["m"] + 4 * (j // 8)}


@theorem("mma: two C of 16 x 8 side by side are, over 16 bits, A of m16n8k16", source=PTX)
def two_accumulators_are_next_a():
    return Equivalent(Map.of(two_accumulators, (16, 16)), mma("m16n8k16", "float16").A.map())


@theorem(
    "mma: two C of 16 x 8 side by side are, over 8 bits, A of m16n8k16",
    source=PTX,
    expect=Verdict.REFUTED,
    note="a register of bytes has four neighbours of a row, the accumulator gives a lane two",
)
def two_accumulators_are_no_a_of_bytes():
    return Equivalent(Map.of(two_accumulators, (16, 16)), mma("m16n8k16", "int8").A.map())


# -- sparse ------------------------------------------------------------------------------------
def state_sparse(form: SparseForm) -> None:
    """The theorems of one shape with a sparse A over one family of types."""
    each = [mma_sparse(form.shape, dtype) for dtype in form.dtypes]
    first, types = each[0], ", ".join(form.dtypes)
    half = mma(f"m16n8k{form.sizes[2] // 2}", form.dtypes[0])

    @theorem(f"mma_sparse.{form.shape} over {types}: everything fills 32 lanes", source=SPARSE)
    def fragments_fill_registers():
        """The stored A, B, C and D."""
        return all_of([fills(entry) for one in each for entry in one.entries[:4]])

    @theorem(
        f"mma_sparse.{form.shape} over {types}: all selectors' metadata fill it", source=SPARSE
    )
    def metadata_fill_registers():
        """Over (selector, row, chunk): 8 nibbles of each of 32 lanes."""
        base, step = first.metadata, 4 // form.selectors

        def place(selector, i, c):
            found = base.layout.apply(i, c, shape=base.shape)
            return {laneid: found["laneid"] + step * selector, m: found["m"]}

        every = Bijective(Map.of(place, (form.selectors, *base.shape)), {laneid: LANES, m: 8})
        chosen = [mma_sparse(form.shape, form.dtypes[0], selector=k) for k in range(form.selectors)]
        lanes = [
            Equivalent(one.metadata.map(), Map.of(partial(place, k), base.shape))
            for k, one in enumerate(chosen)
        ]
        return all_of([every, *lanes])

    @theorem(f"mma_sparse.{form.shape} over {types}: the stored A is dense", source=SPARSE)
    def stored_a_is_dense_a():
        """Over the stored elements A is held as the dense A of half the K; C as ever."""
        parts = [same(one.A, half.A) & same(one.C, half.C) for one in each]
        return all_of([*parts, formula_of_b(first, form.packed)])


for thinned in SPARSE_FORMS:
    state_sparse(thinned)


@theorem(
    "mma_sparse: twice the depth has the metadata of two selectors side by side", source=SPARSE
)
def metadata_side_by_side():
    """The first half of the chunks is that of selector 2k, the second that of 2k + 1."""
    claims: list[Claim] = []
    for form in SPARSE_FORMS:
        twice = f"m16n8k{2 * form.sizes[2]}"
        if (twice, form.dtypes) not in {(one.shape, one.dtypes) for one in SPARSE_FORMS}:
            continue
        chunks = form.sizes[2] // form.chunk
        for selector in range(form.selectors):
            half = mma_sparse(form.shape, form.dtypes[0], selector=selector).metadata
            whole = mma_sparse(twice, form.dtypes[0], selector=selector // 2).metadata
            begin = chunks * (selector % 2)
            part = Map.of(lambda i, c, begin=begin: {"i": i, "j": begin + c}, half.shape)
            claims.append(Equivalent(whole.map().after(part), half.map()))
    return all_of(claims)


@theorem("mma_sparse.m16n8k64: a lane has the metadata of 32 columns of one row", source=SPARSE)
def metadata_rows():
    """Chunk c of row i is nibble c % 8 of lane 4*(i % 8) + i//8 + 2*(c//8)."""
    entry = mma_sparse("m16n8k64", "int8").metadata
    by_hand = Map.of(lambda i, c: {laneid: 4 * (i % 8) + i // 8 + 2 * (c // 8), m: c % 8}, (16, 16))
    return Equivalent(entry.map(), by_hand)


# -- scale factors -----------------------------------------------------------------------------
@theorem("mma_scales: no two scale factors of an operand share a byte", source=SCALES)
def scale_factors_are_apart():
    every = list(scale_entries())
    apart: list[Claim] = [Injective(entry.layout) for entry in every]
    inside: list[Claim] = [WithinBounds(entry.layout, {laneid: LANES, m: 4}) for entry in every]
    return all_of(apart + inside)


@theorem("mma_scales: both thread ids, all byte ids: A's scales fill 32 lanes x 4", source=SCALES)
def scale_factors_of_a_fill():
    """Row i, byte s and thread id d: lane 4*(i % 8) + i//8 + 2*d."""
    base = mma_scales("A", "4X")

    def place(d, i, s):
        found = base.layout.apply(i, s, shape=(16, 4))
        return {laneid: found["laneid"] + 2 * d, m: found["m"]}

    whole = Map.of(place, (2, 16, 4))
    second = mma_scales("A", "4X", thread_id=1)
    return Bijective(whole, {laneid: LANES, m: 4}) & Equivalent(whole.fixed(d=1), second.map())


@theorem("mma_scales: the four thread ids: B's scales fill 32 lanes x 4", source=SCALES)
def scale_factors_of_b_fill():
    base = mma_scales("B", "4X")

    def place(d, s, j):
        found = base.layout.apply(s, j, shape=(4, 8))
        return {laneid: found["laneid"] + d, m: found["m"]}

    whole = Map.of(place, (4, 4, 8))
    last = mma_scales("B", "4X", thread_id=3)
    return Bijective(whole, {laneid: LANES, m: 4}) & Equivalent(whole.fixed(d=3), last.map())


@theorem(
    "mma_scales: the lane that scales a row of A holds accumulators of that row",
    source=SCALES,
    expect=Verdict.REFUTED,
    note="lane 4*(i % 8) + i//8 scales row i; of a row's four lanes two have a row that is 8 apart",
)
def scale_is_not_of_the_lanes_own_row():
    """That would be row laneid//4 for every lane."""
    own = Map.of(lambda i, s: {laneid: 4 * i, m: s}, (16, 1))
    return Equivalent(mma_scales("A", "1X").map(), own)
