"""ldmatrix, stmatrix, movmatrix: fragments, what a read deals out, addresses, strides, refusals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import product
from math import prod

import pytest

from layout_algebra import (
    BankConflictFree,
    ComposeLayout,
    Dim,
    Matches,
    S,
    TileLayout,
    Verdict,
    assert_proved,
    prove,
)
from layout_algebra.errors import LayoutError, TraceError
from layout_algebra.hardware.entries import catalogue
from layout_algebra.hardware.matrices import (
    FORMS,
    ldmatrix,
    matrix_entries,
    movmatrix,
    stmatrix,
)
from layout_algebra.hardware.mma import mma
from layout_algebra.memory import Buffer, served

COUNT = {"x1": 1, "x2": 2, "x4": 4}

#: name up to the number -> lane, element of one matrix -> row and column in memory.  From the text
#: and the figures' captions of sections 9.7.14.5.15 to 9.7.14.5.17, and, for 8 bits, from CUTLASS'
#: layouts below.
ONE_MATRIX: dict[tuple[str, bool], tuple[int, Callable[[int, int], tuple[int, int]]]] = {
    # "a group of four threads loads an entire row", each lane a register of two elements
    ("m8n8", False): (2, lambda lane, e: (lane // 4, lane % 4 * 2 + e)),
    # the transposed: a group of four threads has an entire column
    ("m8n8", True): (2, lambda lane, e: (lane % 4 * 2 + e, lane // 4)),
    # "4 consecutive columns", an entire row by four threads
    ("m8n16", False): (4, lambda lane, e: (lane // 4, lane % 4 * 4 + e)),
}


# -- CUTLASS, copy_traits_sm100.hpp ------------------------------------------------------------
def cute(shape, stride, index):
    """The number that a CuTe layout of one mode gives for an index."""
    found = 0
    for extent, step in zip(shape, stride, strict=True):
        found += index % extent * step
        index //= extent
    return found


def m16n16(matrices):
    """SM100_U8x8_LDSM_T and SM100_U8x16_LDSM_T, with the bytes of the registers as copied.

    The layouts count bits of a reference; lane l addresses 128 bits of it.  The copy exchanges the
    bytes of two registers: new registers take the lower, then the upper halves of both.
    """
    row_of = {cute((2, 2, 4, 2), (1, 8, 2, 16), lane): lane for lane in range(16 * matrices)}
    found = {}
    for lane in range(32):
        for register, byte in product(range(2 * matrices), range(4)):
            bit = cute((4, 8), (256, 8), lane)
            bit += cute((2, 2, 2 * matrices), (128, 64, 1024), byte + 4 * register)
            pair, upper = register // 2, register % 2
            from_register, from_byte = 2 * pair + byte // 2, 2 * upper + byte % 2
            found[lane, 4 * from_register + from_byte] = row_of[bit // 128], bit % 128 // 8
    return found


def m16n8(matrices):
    """SM100_U8x4_STSM_T and wider: lane l addresses 128 bits, registers go as they are."""
    found = {}
    for lane in range(32):
        for e in range(4 * matrices):
            bit = cute((4, 8), (256, 8), lane) + cute((2, 2, matrices), (128, 64, 1024), e)
            found[lane, e] = bit // 128, bit % 128 // 8
    return found


def dealt(one) -> dict[tuple[int, int], tuple[int, int]]:
    """(lane, m) -> the lane that addresses the row, and the column in the row."""
    _, shape, num, *_ = one.name.split(".")
    count = COUNT[num]
    if shape == "m16n16":
        return m16n16(count)
    if shape == "m16n8":
        return m16n8(count)
    held, place = ONE_MATRIX[shape, one.trans]
    found = {}
    for lane, matrix, e in product(range(32), range(count), range(held)):
        row, column = place(lane, e)
        found[lane, held * matrix + e] = 8 * matrix + row, column
    return found


ALL = [
    (ldmatrix if instruction == "ldmatrix" else stmatrix)(num, trans, shape, dtype)
    for (instruction, shape, trans), form in FORMS.items()
    for dtype in form.dtypes
    for num in form.counts
]


def default_row(one, lane, columns):
    """Where the row of a lane begins: matrices down first, then to the right."""
    high = one.form.rows
    down = one.fragment.shape[0] // high
    matrix = lane // high
    return high * (matrix % down) + lane % high, columns * (matrix // down)


def held_by_hand(one) -> dict[tuple[int, int], tuple[int, int]]:
    """Element of the tile -> (lane, m)."""
    found = {}
    for (lane, register), (address, column) in dealt(one).items():
        row, begin = default_row(one, address, one.form.columns)
        found[row, begin + column] = lane, register
    return found


def agrees(one, layout) -> bool:
    shape = one.fragment.shape
    wanted = held_by_hand(one)
    assert len(wanted) == prod(shape)
    for element, (lane, register) in wanted.items():
        place = layout.apply(*element, shape=shape)
        if (place["laneid"], place["m"]) != (lane, register):
            return False
    return True


@pytest.mark.parametrize("one", ALL, ids=str)
def test_the_fragment_is_what_the_tables_say(one):
    assert agrees(one, one.fragment.layout)


@pytest.mark.parametrize("one", ALL, ids=str)
def test_no_stride_may_change(one):
    iters = [(it.extent, it.stride, it.axis) for it in one.fragment.layout.shard]
    for k, (extent, stride, axis) in enumerate(iters):
        for other in (stride + 1, 2 * stride, 0):
            changed = [*iters[:k], (extent, other, axis), *iters[k + 1 :]]
            assert not agrees(one, TileLayout.from_iters(changed))


def buffer_of(shape, bits, **how):
    layout = TileLayout(S[tuple(shape) : (shape[1], 1)])
    return Buffer(tuple(shape), str(bits), layout, **{"scope": "shared", "align": 16, **how})


def move(one, view, where=None):
    return one.read(view, where) if hasattr(one, "read") else one.write(view, where)


@pytest.mark.parametrize("one", ALL, ids=str)
def test_a_move_deals_out_the_fragment_and_addresses_the_rows(one):
    shape = one.fragment.shape
    access = move(one, buffer_of(shape, one.form.bits))
    assert access.kind == ("read" if hasattr(one, "read") else "write")
    assert [v.name for v in access.data.coordinates] == ["laneid", "m"]
    wanted = {held: element for element, held in held_by_hand(one).items()}
    assert access.data.size == len(wanted)
    for (lane, register), (i, j) in wanted.items():
        assert access.data.apply(laneid=lane, m=register) == {"i": i, "j": j}
    # lane l addresses row l of the matrices, 16 bytes; the last lanes of x1 and x2 address none
    assert access.bits == 128
    phases = served(access).phases
    active = [lane for phase in phases for lane in phase.lanes]
    assert active == list(range(one.form.rows * one.count))
    address = access.address
    lane_variable = access.lane
    for lane in active:
        row, column = default_row(one, lane, one.form.columns)
        (place,) = address.places_at({lane_variable: lane})
        assert place == {"bit": (row * shape[1] + column) * one.form.bits}


@pytest.mark.parametrize("dtype_bits", [4, 8, 16, 32])
@pytest.mark.parametrize("trans", [False, True])
def test_rows_of_other_widths_are_the_same_bytes(dtype_bits, trans):
    """Bit by bit: an element of another width is the bits of the 16-bit elements that it has."""
    one = ldmatrix("x4", trans)
    rows, columns = 16, 256 // dtype_bits
    if trans and dtype_bits == 32:
        with pytest.raises(LayoutError, match="elements of 4, 8, 16 bits stay whole; got 32"):
            one.read(buffer_of((rows, columns), dtype_bits))
        return
    access = one.read(buffer_of((rows, columns), dtype_bits))
    bit_of = {}
    for (lane, register), (address, column) in dealt(one).items():
        row, begin = default_row(one, address, 8)
        for bit in range(16):
            bit_of[lane, 16 * register + bit] = row, 16 * (begin + column) + bit
    count = 128 // dtype_bits
    assert access.data.size == 32 * count
    for lane, element in product(range(32), range(count)):
        place = access.data.apply(laneid=lane, m=element)
        for bit in range(dtype_bits):
            row, column = bit_of[lane, dtype_bits * element + bit]
            assert (row, column) == (place["i"], dtype_bits * place["j"] + bit)


def test_another_arrangement():
    """Four matrices side by side: a given one and the default of the wide view agree."""
    wide = buffer_of((8, 32), 16)
    one = ldmatrix("x4")
    given = one.read(wide, where=lambda lane: (lane % 8, 8 * (lane // 8)))
    for lane, register in product(range(32), range(8)):
        place = given.data.apply(laneid=lane, m=register)
        assert place == {"i": lane // 4, "j": 8 * (register // 2) + lane % 4 * 2 + register % 2}
    assert one.read(wide).data == given.data
    assert one.read(wide).elements == given.elements


def test_x2_gives_the_callable_no_lane_beyond_its_matrices():
    """A lane that addresses nothing repeats one that does: a small view is never left."""
    access = ldmatrix("x2").read(buffer_of((16, 8), 16), where=lambda lane: (lane, 0))
    assert [lane for phase in served(access).phases for lane in phase.lanes] == list(range(16))


def test_three_dimensions():
    """With `where`, a view may have any rank; the data are i, j, k."""
    layout = TileLayout(S[(2, 8, 8) : (64, 8, 1)])
    stack = Buffer((2, 8, 8), "float16", layout, scope="shared", align=16)
    access = ldmatrix("x2").read(stack, where=lambda lane: (lane // 8, lane % 8, 0))
    assert access.data.apply(laneid=6, m=3) == {"i": 1, "j": 1, "k": 5}


# -- claims ------------------------------------------------------------------------------------
def test_matches_can_fail():
    view = buffer_of((16, 16), 16)
    wanted = mma("m16n8k16", "float16").A.map()
    assert_proved(Matches(ldmatrix("x4").read(view), wanted))
    for wrong in (
        ldmatrix("x4", trans=True).read(view),
        ldmatrix("x4").read(
            view, where=lambda lane: (lane // 16 * 8 + lane % 8, lane // 8 % 2 * 8)
        ),
    ):
        assert prove(Matches(wrong, wanted)).verdict is Verdict.REFUTED


def test_swizzles_make_it_free_of_conflicts():
    i, k = Dim("i", multiple_of=16), Dim("k", multiple_of=16)
    plain = TileLayout(S[(128, 64) : (64, 1)])
    for layout, verdict in (
        (ComposeLayout(3, 3, 3, plain), Verdict.PROVED),
        (plain, Verdict.REFUTED),
        (ComposeLayout(3, 2, 3, plain), Verdict.REFUTED),
    ):
        tile = Buffer((128, 64), "float16", layout, scope="shared", align=1024)
        access = ldmatrix("x4").read(tile[i : i + 16, k : k + 16])
        assert prove(BankConflictFree(access)).verdict is verdict


def test_movmatrix():
    """Lane 4*r + c holds columns 2c and 2c + 1 of row r, and afterwards those of the transpose."""
    one = movmatrix()
    for row, column in product(range(8), range(8)):
        before = one.source.layout.apply(row, column, shape=(8, 8))
        after = one.result.layout.apply(row, column, shape=(8, 8))
        assert before == {"laneid": 4 * row + column // 2, "m": column % 2}
        assert after == {"laneid": 4 * column + row // 2, "m": row % 2}


def test_no_stride_of_movmatrix_may_change():
    """Its fragments are those of ldmatrix.x1, of which no stride may change either."""
    assert movmatrix().source.layout == ldmatrix("x1").fragment.layout
    assert movmatrix().result.layout == ldmatrix("x1", trans=True).fragment.layout


def test_names_are_unique_and_in_the_catalogue():
    entries = list(matrix_entries())
    names = [entry.name for entry in entries]
    assert len(set(names)) == len(names) == len(ALL) + 2
    assert set(names) <= {entry.name for entry in catalogue()}
    assert all(entry.source and entry.confirmed_by for entry in entries)


def test_instructions_are_frozen_values():
    assert ldmatrix("x4") == ldmatrix("x4")
    assert ldmatrix("x4") != ldmatrix("x2")
    assert str(stmatrix("x2", True)) == "stmatrix.m8n8.x2.trans.b16"
    with pytest.raises(dataclasses.FrozenInstanceError):
        ldmatrix("x4").count = 2


# -- refusals ----------------------------------------------------------------------------------
REFUSED = [
    (lambda: ldmatrix("x3"), "ldmatrix: num of m8n8 is x1 or x2 or x4; got 'x3'"),
    (lambda: ldmatrix(4), "ldmatrix: num of m8n8 is x1 or x2 or x4; got 4"),
    (
        lambda: ldmatrix("x1", shape="m16n8"),
        "ldmatrix: the shape is m8n8 or m16n16 or m8n16; got 'm16n8'",
    ),
    (lambda: ldmatrix("x1", trans=1), "ldmatrix: trans is True or False; got 1"),
    (
        lambda: ldmatrix("x1", shape="m16n16", dtype="b8"),
        "ldmatrix: m16n16 has trans=True only; got trans=False",
    ),
    (
        lambda: ldmatrix("x1", True, "m8n16", "b4x16_p64"),
        "ldmatrix: m8n16 has trans=False only; got trans=True",
    ),
    (
        lambda: ldmatrix("x4", True, "m16n16", "b8"),
        "ldmatrix: num of m16n16 is x1 or x2; got 'x4'",
    ),
    (
        lambda: ldmatrix("x4", shape="m8n16", dtype="b8"),
        "ldmatrix: dtype of m8n16 is b6x16_p32 or b4x16_p64; got 'b8'",
    ),
    (
        lambda: stmatrix("x4", shape="m16n16"),
        "stmatrix: the shape is m8n8 or m16n8; got 'm16n16'",
    ),
    (lambda: stmatrix("x4", dtype="b8"), "stmatrix: dtype of m8n8 is b16; got 'b8'"),
    (
        lambda: ldmatrix("x4").read(buffer_of((16, 8), 16)),
        "ldmatrix.m8n8.x4.b16 moves a view of 8 x 32 or 16 x 16 or 32 x 8 elements of 16 bits, or "
        "of any shape with where=; got 16 x 8",
    ),
    (
        lambda: ldmatrix("x2", True, "m16n16", "b8").read(buffer_of((16, 16), 8)),
        "ldmatrix.m16n16.x2.trans.b8 moves a view of 16 x 32 or 32 x 16 elements of 8 bits, or of "
        "any shape with where=; got 16 x 16",
    ),
    (
        lambda: ldmatrix("x1").read(buffer_of((8, 2), 64)),
        "ldmatrix.m8n8.x1.b16: elements of 4, 8, 16, 32 bits stay whole; got 64 bits",
    ),
    (
        lambda: stmatrix("x1", True, "m16n8", "b8").write(buffer_of((8, 8), 16)),
        "stmatrix.m16n8.x1.trans.b8: rows are 16 elements in 16 bytes",
    ),
    (
        lambda: ldmatrix("x1").read(buffer_of((8, 8), 16, scope="global")),
        "ldmatrix.m8n8.x1.b16: matrices are in shared memory; the buffer is in global",
    ),
    (
        lambda: ldmatrix("x1").read("sA"),
        "ldmatrix.m8n8.x1.b16: a view of a buffer is needed; got 'sA'",
    ),
]


@pytest.mark.parametrize(("make", "says"), REFUSED)
def test_refusals(make, says):
    with pytest.raises(LayoutError) as caught:
        make()
    assert str(caught.value).startswith(says)


def test_a_callable_of_the_wrong_rank():
    with pytest.raises(TraceError, match="gives 1 coordinates; the view has 2 dimensions"):
        ldmatrix("x1").read(buffer_of((8, 8), 16), where=lambda lane: lane)


# -- another library's atoms -------------------------------------------------------------------
COPIES = {
    ("x1", False): ("SM75_U32x1_LDSM_N", "SM90_U32x1_STSM_N"),
    ("x2", False): ("SM75_U32x2_LDSM_N", "SM90_U32x2_STSM_N"),
    ("x4", False): ("SM75_U32x4_LDSM_N", "SM90_U32x4_STSM_N"),
    ("x1", True): ("SM75_U16x2_LDSM_T", "SM90_U16x2_STSM_T"),
    ("x2", True): ("SM75_U16x4_LDSM_T", "SM90_U16x4_STSM_T"),
    ("x4", True): ("SM75_U16x8_LDSM_T", "SM90_U16x8_STSM_T"),
}


@pytest.mark.parametrize(("key", "names"), COPIES.items())
def test_tensor_layouts_has_the_same_atoms(key, names):
    """Bits of the memory side, lane by lane, and bits of the registers, against the data."""
    atoms = pytest.importorskip("tensor_layouts.atoms_nv")
    rows = 8 * COUNT[key[0]]
    for make, name, memory, registers in (
        (ldmatrix, names[0], "src_layout_bits", "dst_layout_bits"),
        (stmatrix, names[1], "dst_layout_bits", "src_layout_bits"),
    ):
        atom, one = getattr(atoms, name), make(*key)
        access = move(one, buffer_of((rows, 8), 16))
        for lane in range(rows):
            (place,) = access.address.places_at({access.lane: lane})
            assert place == {"bit": getattr(atom, memory)(lane, 0)}
        for lane, element in product(range(32), range(access.data.size // 32)):
            place = access.data.apply(laneid=lane, m=element)
            bit = getattr(atom, registers)(lane, 16 * element)
            assert bit == 16 * (8 * place["i"] + place["j"])
