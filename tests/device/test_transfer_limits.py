"""What `validate_transfer` must not prove: kernels and moves that are wrong in places not run."""

from __future__ import annotations

import pytest

from layout_algebra import ComposeLayout, R, S, TileLayout, Verdict, laneid, m, tx
from layout_algebra.prover import Budget
from layout_algebra.validation import (
    ContractError,
    Coordinate,
    Launch,
    Move,
    PtxError,
    validate_transfer,
)

ROWS = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
ARRAYS = {"source": "source", "target": "target"}
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry moves(.param .u64 source, .param .u64 target{more})
{{
    .reg .pred %p<9>; .reg .b16 %rs<40>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<40>;
    ld.param.u64 %rd1, [source]; ld.param.u64 %rd2, [target]; mov.u32 %r1, %tid.x;
"""
BY_16 = "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
BY_1 = "cvt.u64.u32 %rd3, %r1; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
LOAD = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];\n"
STORE = "st.global.v4.f32 [%rd5], {%f1, %f2, %f3, %f4};\n"
COPY = LOAD + STORE
HASTE = Budget(rlimit=1, seconds=0.001)


def kernel(body: str, more: str = "", start: str = BY_16) -> str:
    return HEAD.format(more=more) + start + body + "ret;\n}\n"


def each(*operations: str) -> str:
    """Load four, do this to each (X), store four."""
    done = "".join(one.replace("X", f"%f{k}") + ";\n" for k in (1, 2, 3, 4) for one in operations)
    return kernel(LOAD + done + STORE)


def moved(text: str, move: Move, parameters=ARRAYS, **more):
    return validate_transfer(text, "moves", move, parameters=parameters, **more)


GUARD = "ld.param.u32 %r9, [n]; setp.ge.u32 %p1, %r1, %r9; @%p1 ret;\n"


def test_a_guard_of_a_parameter_that_may_hold_anything():
    text = kernel(GUARD + COPY, ", .param .u32 n")
    found = moved(text, Move(ROWS, (32, 4)))
    assert found.verdict is Verdict.REFUTED
    assert "stores nothing" in str(found)
    assert moved(text, Move(ROWS, (32, 4)), budget=HASTE).verdict is not Verdict.PROVED
    assert moved(text, Move(ROWS, (32, 4)), {**ARRAYS, "n": 32}).verdict is Verdict.PROVED


def test_one_run_does_not_stand_for_all_parameters():
    product = 2147483647 * 2147483629
    text = kernel(
        "ld.param.u32 %r9, [n]; ld.param.u32 %r10, [q]; mul.wide.u32 %rd7, %r9, %r10;\n"
        f"setp.eq.u64 %p1, %rd7, {product}; @%p1 ret;\n" + COPY,
        ", .param .u32 n, .param .u32 q",
    )
    assert moved(text, Move(ROWS, (32, 4))).verdict is not Verdict.PROVED


def test_what_depends_on_where_an_array_is():
    text = kernel("setp.lt.u64 %p1, %rd2, 4294967296; @%p1 ret;\n" + COPY)
    for budget in (Budget(), HASTE):
        assert moved(text, Move(ROWS, (32, 4)), budget=budget).verdict is not Verdict.PROVED


def test_small_elements_that_repeat():
    text = kernel(
        "setp.eq.u32 %p1, %r1, 100; selp.b64 %rd6, 251, 0, %p1; add.s64 %rd4, %rd4, %rd6;\n"
        "ld.global.u8 %rs1, [%rd4]; st.global.u8 [%rd5], %rs1;\n",
        start=BY_1,
    )
    move = Move(TileLayout(S[(512, 1) : (1 @ tx, 1)]), (512, 1), dtype="int8")
    for budget in (Budget(), HASTE):
        found = moved(text, move, budget=budget)
        assert found.verdict is Verdict.REFUTED
        assert "source[351]" in str(found)


def test_products_and_sums_that_may_become_one_step():
    ways = Move(ROWS, (32, 4), through=lambda x: x * 3 + 0.1)
    product, total = "mul{}.f32 X, X, 0f40400000", "add{}.f32 X, X, 0f3DCCCCCD"
    assert moved(each(product.format(""), total.format("")), ways).verdict is Verdict.UNDECIDED
    for first, second in ((".rn", ""), ("", ".rn"), (".rn", ".rn")):
        text = each(product.format(first), total.format(second))
        assert moved(text, ways).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("dtype", "through"),
    [
        ("int32", lambda x: -x),
        ("int32", abs),
        ("bfloat16", lambda x: -x),
        ("f32", lambda x: x + 1),
        ("float32", lambda x: x if x == 0 else x + 1),
        ("float32", lambda x: x + 1 if x else x),
        ("float32", lambda x: x if x < 1 else -x),
        ("float32", lambda x: x + "1"),
        ("float32", lambda x: x + True),
    ],
)
def test_what_is_not_followed(dtype, through):
    with pytest.raises(TypeError):
        moved(each("neg.f32 X, X"), Move(ROWS, (32, 4), dtype=dtype, through=through))


@pytest.mark.parametrize(
    ("threads", "block"), [(None, 2048), (16, 16), (32, 16), (32, 0), (32, -4)]
)
def test_launches_that_do_not_fit(threads, block):
    with pytest.raises(ContractError):
        moved(kernel(COPY), Move(ROWS, (32, 4)), launch=Launch(threads=threads, block=block))


def test_launches_have_whole_blocks():
    found = moved(kernel(COPY), Move(ROWS, (32, 4)), launch=Launch(threads=32, block=64))
    assert found.verdict is Verdict.REFUTED
    assert "thread 32" in str(found)


@pytest.mark.parametrize(
    "move",
    [
        Move(ROWS, (32, 5)),
        Move(ROWS, (16, 4)),
        Move(TileLayout(S[(2048, 1) : (1 @ tx, 1)]), (2048, 1)),
        Move(TileLayout(S[(64, 4) : (1 @ laneid, 1)]), (64, 4)),
        Move(ROWS, (32, 4), target=TileLayout(S[(32, 4) : (4, 0)])),
    ],
)
def test_moves_that_do_not_fit(move):
    with pytest.raises(ContractError):
        move.map


@pytest.mark.parametrize(
    "held",
    [
        TileLayout(S[128 : 1 @ tx]),
        TileLayout(S[4:1]),
        ComposeLayout(0, 1, 1, TileLayout(S[4:1])),
        ComposeLayout(0, 1, 1, ROWS),
    ],
    ids=str,
)
def test_moves_of_layouts_on_one_axis_and_swizzled(held):
    size = held.size()
    f = Move(held, (size,)).map
    threads, slots = f.extents
    for thread in range(threads):
        for slot in range(slots):
            place = {axis.name: thread if axis.is_thread else slot for axis in held.axes}
            index = f.apply(thread, slot)["source"]
            assert {name: held.apply(index)[name] for name in place} == place


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"target": "target"}, "one parameter is the source"),
        ({**ARRAYS, "n": Coordinate("thread")}, "no parameters"),
    ],
)
def test_parameters_that_do_not_fit(parameters, says):
    with pytest.raises(ContractError, match=says):
        moved(kernel(COPY, ", .param .u32 n"), Move(ROWS, (32, 4)), parameters)


@pytest.mark.parametrize(
    "body",
    [
        COPY + "ld.global.f32 %f5, [%rd5]; st.global.f32 [%rd5], %f5;\n",
        "ld.global.f32 %f9, [%rd4]; st.global.f32 [%rd5+2], %f9;\n" + COPY,
    ],
    ids=["reads what it stored", "overwrites what it stored"],
)
def test_right_kernels_are_not_refuted(body):
    assert moved(kernel(body), Move(ROWS, (32, 4))).verdict is not Verdict.REFUTED


def test_a_kernel_that_reads_the_target_for_the_source_is_refuted():
    text = kernel(COPY.replace("[%rd4]", "[%rd5]"))
    assert moved(text, Move(ROWS, (32, 4))).verdict is Verdict.REFUTED


def test_copies_of_one_value_are_no_difference():
    copies = TileLayout(S[(32, 4) : (1 @ laneid, 1)] + R[2 : 4 @ m])
    assert moved(kernel(COPY), Move(copies, (32, 4))).verdict is not Verdict.REFUTED


@pytest.mark.parametrize("literal", ["0d3FF0000000000000", "1065353216"])
def test_literals_of_another_type(literal):
    with pytest.raises(PtxError, match="literal"):
        moved(each(f"add.f32 X, X, {literal}"), Move(ROWS, (32, 4), through=lambda x: x + 1))
