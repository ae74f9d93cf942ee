"""mma.sync: every fragment against the ISA's tables, changed strides, refusals, other atoms."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from math import prod

import pytest

from layout_algebra import TileLayout
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, catalogue
from layout_algebra.hardware.mma import instructions, mma, mma_entries
from layout_algebra.hardware.mma_scales import mma_scales, scale_entries
from layout_algebra.hardware.sparse import mma_sparse, sparse_entries, sparse_instructions
from layout_algebra.memory import bits_of
from tests.hardware import isa_tables as isa

DENSE, SPARSE, SCALES = list(mma_entries()), list(sparse_entries()), list(scale_entries())


def pick(tables, shape, dtype):
    return next(t for (s, dtypes), t in tables.items() if s == shape and dtype in dtypes)


@lru_cache(None)
def elements(name: str) -> dict[tuple[int, ...], tuple[int, int]]:
    """Element -> (lane, m), from the table that the entry's name asks for."""
    kind, shape, *rest = name.split(".")
    if kind == "mma_scales":
        return scaled(*name.split(".")[1:])
    if (shape, rest[0]) == ("m8n8k4", "float16"):
        table = isa.VOLTA[".".join(rest[1:])]
    elif rest[1] in "CD":
        table = isa.ACCUMULATORS[16 if shape.startswith("m16") else 8]
    elif rest[1] == "metadata":
        return metadata_places(shape, *rest)
    elif kind == "mma":
        table = pick(isa.DENSE, shape, rest[0])["AB".index(rest[1])]
    elif rest[1] == "A":
        table = pick(isa.STORED, shape, rest[0]).table()
    else:
        table = pick(isa.SPARSE_B, shape, rest[0])
    found = {place: (lane, i) for lane, i, place in table.rows()}
    assert len(found) == 32 * table.count, "the table itself says something twice"
    return found


def metadata_places(
    shape, dtype, _, selector="selector0"
) -> dict[tuple[int, ...], tuple[int, int]]:
    lanes, tables = pick(isa.METADATA, shape, dtype)
    first = lanes * int(selector.removeprefix("selector"))
    found = [
        {
            table(lane, i): (lane, i)
            for lane in range(32)
            for i in range(8)
            if first <= lane % 4 < first + lanes
        }
        for table in tables
    ]
    assert all(one == found[0] for one in found), "the sources differ"
    assert len(found[0]) == 64 * lanes
    return found[0]


def scaled(operand, vector, thread, byte) -> dict[tuple[int, ...], tuple[int, int]]:
    thread_id, byte_id, count = int(thread[-1]), int(byte[-1]), int(vector[0])
    line_of = isa.scales_a if operand == "A" else isa.scales_b
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    for lane in range(32):
        line = line_of(thread_id, lane)
        if line is not None:
            for s in range(count):
                found[(line, s) if operand == "A" else (s, line)] = lane, byte_id + s
    return found


def agrees(entry: Entry, layout: TileLayout) -> bool:
    """Whether a layout puts every element where the entry's table does."""
    wanted = elements(entry.name)
    if len(wanted) != layout.size():
        return False
    for element, (lane, register) in wanted.items():
        place = layout.apply(*element, shape=entry.shape)
        if (place.get("laneid", 0), place.get("m", 0)) != (lane, register):
            return False
    return True


@pytest.mark.parametrize("entry", [*DENSE, *SPARSE, *SCALES], ids=lambda entry: entry.name)
def test_every_element_is_where_the_isa_says(entry):
    assert prod(entry.shape) == entry.layout.size()
    assert agrees(entry, entry.layout)


@pytest.mark.parametrize("entry", [*DENSE, *SPARSE, *SCALES], ids=lambda entry: entry.name)
def test_no_stride_may_change(entry):
    layout = entry.layout
    iters = [(it.extent, it.stride, it.axis) for it in layout.shard]
    offset = dict(layout.offset)
    for k, (extent, stride, axis) in enumerate(iters):
        for other in (stride + 1, 2 * stride, 0):
            changed = [*iters[:k], (extent, other, axis), *iters[k + 1 :]]
            assert not agrees(entry, TileLayout.from_iters(changed, (), offset))
    for axis in offset:
        moved = {**offset, axis: offset[axis] + 1}
        assert not agrees(entry, TileLayout.from_iters(iters, (), moved))


def test_names_are_unique_and_in_the_catalogue():
    names = [entry.name for entry in [*DENSE, *SPARSE, *SCALES]]
    assert len(set(names)) == len(names)
    assert set(names) <= {entry.name for entry in catalogue()}


def test_every_entry_has_a_source_and_the_unconfirmed_are_known():
    assert all(entry.source for entry in [*DENSE, *SPARSE, *SCALES])
    unconfirmed = sorted(
        entry.name for entry in [*DENSE, *SPARSE, *SCALES] if not entry.confirmed_by
    )
    assert unconfirmed == [
        "mma_sparse.m16n8k128.e2m1.metadata",
        "mma_sparse.m16n8k128.int4.metadata",
        "mma_sparse.m16n8k32.int8.metadata.selector0",
        "mma_sparse.m16n8k32.int8.metadata.selector1",
        "mma_sparse.m16n8k64.int4.metadata.selector0",
        "mma_sparse.m16n8k64.int4.metadata.selector1",
        *(f"mma_sparse.m16n8k8.tf32.metadata.selector{k}" for k in range(4)),
    ]


#: Types that are held in bytes outside m16n8k64 and m16n8k128.
IN_BYTES = ("e3m2", "e2m3", "e2m1")


def register_bits(dtype: str, shape: str, sparse: bool) -> int:
    packed = ("m16n8k128",) if sparse else ("m16n8k64",)
    return 8 if dtype in IN_BYTES and shape not in packed else bits_of(dtype)


#: Registers of 32 bits of A and B, as the document counts them (.f64 registers count twice).
REGISTERS = {
    ("m8n8k4", "float16"): (2, 2),
    ("m8n8k4", "float64"): (2, 2),
    ("m8n8k16", "int8"): (1, 1),
    ("m8n8k32", "int4"): (1, 1),
    ("m16n8k4", "tf32"): (2, 1),
    ("m16n8k4", "float64"): (4, 2),
    ("m16n8k8", "float16"): (2, 1),
    ("m16n8k8", "bfloat16"): (2, 1),
    ("m16n8k8", "tf32"): (4, 2),
    ("m16n8k8", "float64"): (8, 4),
    ("m16n8k16", "float16"): (4, 2),
    ("m16n8k16", "bfloat16"): (4, 2),
    ("m16n8k16", "float64"): (16, 8),
    ("m16n8k16", "int8"): (2, 1),
    ("m16n8k16", "e4m3"): (2, 1),
    ("m16n8k32", "int4"): (2, 1),
    ("m16n8k32", "int8"): (4, 2),
    ("m16n8k32", "e4m3"): (4, 2),
    ("m16n8k32", "e3m2"): (4, 2),
    ("m16n8k32", "e2m1"): (4, 2),
    ("m16n8k64", "int4"): (4, 2),
    ("m16n8k64", "e2m1"): (4, 2),
}
SPARSE_REGISTERS = {
    ("m16n8k8", "tf32"): (2, 2),
    ("m16n8k16", "float16"): (2, 2),
    ("m16n8k16", "tf32"): (4, 4),
    ("m16n8k32", "bfloat16"): (4, 4),
    ("m16n8k32", "int8"): (2, 2),
    ("m16n8k64", "uint8"): (4, 4),
    ("m16n8k64", "e2m1"): (4, 4),
    ("m16n8k64", "int4"): (2, 2),
    ("m16n8k128", "e2m1"): (4, 4),
    ("m16n8k128", "int4"): (4, 4),
}


@pytest.mark.parametrize(
    ("make", "key", "counts"),
    [
        *((mma, key, counts) for key, counts in REGISTERS.items()),
        *((mma_sparse, key, counts) for key, counts in SPARSE_REGISTERS.items()),
    ],
)
def test_as_many_registers_as_the_isa_counts(make, key, counts):
    shape, dtype = key
    one = make(*key)
    bits = register_bits(dtype, shape, make is mma_sparse)
    assert tuple(prod(e.shape) * bits // 1024 for e in (one.A, one.B)) == counts


def test_the_stored_elements_are_from_the_chunks_that_the_isa_names():
    for one in sparse_instructions():
        _, shape, dtype = one.name.split(".")
        stored = pick(isa.STORED, shape, dtype)
        assert one.A.shape == (16, one.sizes[2] // 2)
        for (row, column), (lane, i) in elements(one.A.name).items():
            first = stored.first(lane, i)
            begin = one.chunk * (column // one.kept)
            assert first <= begin
            assert begin + one.chunk <= first + stored.width
            assert row == stored.row(lane, i)


def test_sparsity_selectors():
    """What section 9.7.14.6.1 lists."""
    wanted = {
        ("m16n8k16", "float16"): 4,
        ("m16n8k32", "bfloat16"): 2,
        ("m16n8k8", "tf32"): 4,
        ("m16n8k16", "tf32"): 2,
        ("m16n8k32", "int8"): 2,
        ("m16n8k64", "int4"): 2,
        ("m16n8k64", "uint8"): 1,
        ("m16n8k64", "e5m2"): 1,
        ("m16n8k128", "int4"): 1,
        ("m16n8k128", "e2m1"): 1,
    }
    for (shape, dtype), count in wanted.items():
        one = mma_sparse(shape, dtype)
        assert one.selectors == count
        chosen = [mma_sparse(shape, dtype, selector=k).metadata for k in range(count)]
        assert len({entry.layout for entry in chosen}) == count
        with pytest.raises(LayoutError, match=r"sparsity selector of .* is 0( to \d)?; got"):
            mma_sparse(shape, dtype, selector=count)


# -- arguments ---------------------------------------------------------------------------------
def test_types_have_many_names():
    for given, name in [
        ("f16", "float16"),
        ("half", "float16"),
        ("bf16", "bfloat16"),
        ("torch.bfloat16", "bfloat16"),
        ("s8", "int8"),
        ("float8_e4m3fn", "e4m3"),
    ]:
        assert mma("m16n8k16", given) == mma("m16n8k16", name)


def test_mixed_types_and_accumulators():
    one = mma("m16n8k32", "e4m3", "e2m1", accumulator="f16")
    assert (one.A.dtype, one.B.dtype, one.C.dtype, one.D.dtype) == (
        "e4m3",
        "e2m1",
        "float16",
        "float16",
    )
    assert mma("m16n8k32", "s8", "u8").B.dtype == "uint8"
    assert mma("m16n8k16", "float16").C.dtype == "float32"
    assert dataclasses.is_dataclass(one)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.A = one.B


REFUSED = [
    (lambda: mma("m16n8k128", "int4"), "mma: the shape is one of m8n8k4, m8n8k16, m8n8k32, "),
    (lambda: mma(16, "int4"), "mma: the shape is one of m8n8k4, "),
    (
        lambda: mma("m16n8k4", "float16"),
        "mma: m16n8k4 is over tf32, float64; got 'float16'",
    ),
    (
        lambda: mma("m16n8k64", "e4m3"),
        "mma: m16n8k64 is over int4, uint4, e2m1; got 'e4m3'",
    ),
    (
        lambda: mma("m16n8k16", "e4m3", "e2m1"),
        "mma: B of m16n8k16 with A of e4m3 is e4m3, e5m2; got 'e2m1'",
    ),
    (
        lambda: mma("m16n8k8", "bf16", accumulator="float16"),
        "mma: m16n8k8 over bfloat16 accumulates in float32; got 'float16'",
    ),
    (lambda: mma("m8n8k4", "half", a_order="rows"), "mma: a_order is row or col; got 'rows'"),
    (
        lambda: mma("m16n8k8", "half", b_order="row"),
        "mma: m16n8k8 over float16 has A by rows and B by columns; got row and row",
    ),
    (
        lambda: mma_sparse("m16n8k8", "float16"),
        "mma_sparse: m16n8k8 is over tf32; got 'float16'",
    ),
    (lambda: mma_sparse("m8n8k4", "float64"), "mma_sparse: the shape is one of m16n8k8, "),
    (lambda: mma_scales("C", "1X"), "mma_scales: the operand is A or B; got 'C'"),
    (lambda: mma_scales("A", "3X"), "mma_scales: scale_vec is 1X, 2X, 4X; got '3X'"),
    (
        lambda: mma_scales("A", "1X", thread_id=2),
        "mma_scales: thread_id of A is one of 0, 1; got 2",
    ),
    (
        lambda: mma_scales("B", "2X", byte_id=1),
        "mma_scales: byte_id with 2X is one of 0, 2; got 1",
    ),
    (
        lambda: mma_scales("B", "4X", byte_id=True),
        "mma_scales: byte_id with 4X is one of 0; got True",
    ),
]


@pytest.mark.parametrize(("make", "says"), REFUSED)
def test_refusals(make, says):
    with pytest.raises(LayoutError) as caught:
        make()
    assert str(caught.value).startswith(says)


# -- another library's atoms -------------------------------------------------------------------
ATOMS = {
    ("m8n8k4", "float64"): "SM80_8x8x4_F64F64F64F64_TN",
    ("m8n8k16", "int8"): "SM80_8x8x16_S32S8S8S32_TN",
    ("m8n8k32", "int4"): "SM80_8x8x32_S32S4S4S32_TN",
    ("m16n8k4", "tf32"): "SM80_16x8x4_F32TF32TF32F32_TN",
    ("m16n8k4", "float64"): "SM90_16x8x4_F64F64F64F64_TN",
    ("m16n8k8", "float16"): "SM80_16x8x8_F32F16F16F32_TN",
    ("m16n8k8", "bfloat16"): "SM80_16x8x8_F32BF16BF16F32_TN",
    ("m16n8k8", "tf32"): "SM80_16x8x8_F32TF32TF32F32_TN",
    ("m16n8k8", "float64"): "SM90_16x8x8_F64F64F64F64_TN",
    ("m16n8k16", "float16"): "SM80_16x8x16_F32F16F16F32_TN",
    ("m16n8k16", "bfloat16"): "SM80_16x8x16_F32BF16BF16F32_TN",
    ("m16n8k16", "float64"): "SM90_16x8x16_F64F64F64F64_TN",
    ("m16n8k16", "int8"): "SM80_16x8x16_S32S8S8S32_TN",
    ("m16n8k32", "int8"): "SM80_16x8x32_S32S8S8S32_TN",
    ("m16n8k32", "int4"): "SM80_16x8x32_S32S4S4S32_TN",
    ("m16n8k32", "e4m3"): "SM89_16x8x32_F32E4M3E4M3F32_TN",
    ("m16n8k32", "e5m2"): "SM89_16x8x32_F32E5M2E5M2F32_TN",
    ("m16n8k64", "int4"): "SM80_16x8x64_S32S4S4S32_TN",
}

#: Where the other library is wrong: a lane's rows begin 4 apart instead of 8, as the ISA has it.
WRONG_B = ("m16n8k32", "int4")


def same_as_atom(entry: Entry, atom, thread_layout=None) -> None:
    """(thread, value) -> row + rows*column in CuTe's order; B's rows are its columns."""
    rows, columns = entry.shape[-2:]
    turned = ".B" in entry.name
    lead = columns if turned else rows
    for thread in range(32 if thread_layout is None else 8):
        lane = thread if thread_layout is None else thread_layout(thread)
        for value in range(prod(entry.shape) // 32):
            at = atom(thread, value)
            line, other = at % lead, at // lead
            element = (other, line) if turned else (line, other)
            if len(entry.shape) == 3:
                element = (0, *element)
            place = entry.layout.apply(*element, shape=entry.shape)
            assert (place["laneid"], place.get("m", 0)) == (lane, value)


@pytest.mark.parametrize(("key", "name"), ATOMS.items())
def test_tensor_layouts_has_the_same_atoms(key, name):
    atoms = pytest.importorskip("tensor_layouts.atoms_nv")
    atom, one = getattr(atoms, name), mma(*key)
    same_as_atom(one.A, atom.a_layout)
    same_as_atom(one.C, atom.c_layout)
    if key == WRONG_B:
        reached = {atom.b_layout(t, v) // 8 for t in range(32) for v in range(8)}
        assert reached == set(range(20)), "its B leaves out rows 20 to 31: has it been mended?"
    else:
        same_as_atom(one.B, atom.b_layout)


@pytest.mark.parametrize("orders", ["TN", "NT", "NN", "TT"])
@pytest.mark.parametrize("accumulator", ["F16", "F32"])
def test_tensor_layouts_has_the_same_quad_pairs(orders, accumulator):
    atoms = pytest.importorskip("tensor_layouts.atoms_nv")
    atom = getattr(atoms, f"SM70_8x8x4_{accumulator}F16F16{accumulator}_{orders}")
    one = mma(
        "m8n8k4",
        "float16",
        accumulator=accumulator.lower(),
        a_order="row" if orders[0] == "T" else "col",
        b_order="col" if orders[1] == "N" else "row",
    )
    for entry, layout in ((one.A, atom.a_layout), (one.B, atom.b_layout), (one.C, atom.c_layout)):
        same_as_atom(entry, layout, atom.thr_id)


def test_every_instruction_is_made_once():
    keys = [tuple(entry.name for entry in one.entries) for one in instructions()]
    assert len(set(keys)) == len(keys)
