"""Live objects of TIRx, the CuTe DSL and Triton, where they are installed.  No GPU is needed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

import numpy as np
import pytest

from layout_algebra import Equivalent, Map, cute, parse, prove
from layout_algebra.interop import (
    InteropError,
    LinearLayout,
    PhaseSwizzle,
    from_object,
    thread_value_map,
    tile_from_linear,
    to_cute_dsl,
    to_linear,
    to_tirx,
    to_triton,
)
from layout_algebra.verdicts import Verdict

TEXTS = (
    "S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid",
    "S[(8, 64) : (64, 1)]",
    "S[(128, 64) : (1@TLane, 1@TCol)]",
    "ComposeLayout(3, 3, 3, S[(8, 64) : (64, 1)])",
    "ComposeLayout(2, 1, 4, S[(8, 64) : (64, 1)], swizzle_inner=False)",
)


def installed(package: str) -> Any:
    """The module, or a skip that says what is missing."""
    root = package.partition(".")[0]
    if importlib.util.find_spec(root) is None:
        pytest.skip(f"{root} is not installed: stand-ins with its attributes are tested instead")
    return importlib.import_module(package)


# ------------------------------------------------------------------- TIRx


@pytest.mark.parametrize("package", ["tvm_tirx.tirx.layout", "tvm.tirx.layout"])
@pytest.mark.parametrize("text", TEXTS)
def test_tirx_there_and_back(package: str, text: str) -> None:
    if {"tvm", "tvm_tirx"} & set(sys.modules) - {package.partition(".")[0]}:
        pytest.skip("the two releases of TIRx cannot be loaded into one process")
    module = installed(package)
    ours = parse(text)
    theirs = to_tirx(ours, module)
    assert from_object(theirs) == ours
    for flat in (0, 1, 19, 100):
        there = {axis: int(value) for axis, value in theirs.apply(flat).items()}
        assert {axis: there.get(axis, 0) for axis in there} == ours.apply(flat)


# ------------------------------------------------------------------- CuTe DSL


def traced(body: Any) -> None:
    """Runs a function of `cutlass.cute` while the DSL traces, which is when its objects exist."""
    dsl = installed("cutlass.cute")

    @dsl.jit
    def host() -> None:
        body(dsl)

    host()


@pytest.mark.parametrize("text", ["8:1", "((2,4),8):((1,16),2)", "Sw<3,4,3> o 0 o (8,64):(64,1)"])
def test_the_cute_dsl_there_and_back(text: str) -> None:
    seen: list[Any] = []
    traced(lambda dsl: seen.append(from_object(to_cute_dsl(cute.parse(text), dsl))))
    assert seen == [cute.parse(text)]


def test_a_tiled_mma_of_the_cute_dsl() -> None:
    seen: list[Any] = []

    def body(dsl: Any) -> None:
        types = importlib.import_module("cutlass")
        kind = dsl.nvgpu.warp.MmaF16BF16Op(types.Float16, types.Float32, (16, 8, 16))
        seen.append(from_object(dsl.make_tiled_mma(kind)))

    traced(body)
    there = thread_value_map(seen[0]["C"], (16, 8))
    for lane in range(32):  # PTX ISA, mma.m16n8k16: rows by groups of four lanes, columns in pairs
        for value in range(4):
            element = {"dim0": lane // 4 + value // 2 * 8, "dim1": lane % 4 * 2 + value % 2}
            assert there.apply(laneid=lane, m=value) == element


def test_sizes_that_the_cute_dsl_knows_later() -> None:
    seen: list[str] = []

    def body(dsl: Any) -> None:
        with pytest.raises(InteropError) as caught:
            from_object(dsl.make_identity_layout((4, 8)))
        seen.append(str(caught.value))

    traced(body)
    assert "not made of numbers alone" in seen[0]


# ------------------------------------------------------------------- Triton


def test_a_linear_layout_of_triton_there_and_back() -> None:
    theirs_class = installed("triton.tools").LinearLayout
    tile = parse("S[(2, 4, 8, 4, 4, 4) : (16, 1@warpid, 4@laneid, 4, 1@laneid, 1)]")
    ll = to_linear(tile, (64, 64)).value
    assert ll is not None
    theirs = to_triton(ll, theirs_class)
    assert from_object(theirs) == ll
    for place in ({"register": 5, "lane": 17, "warp": 2}, {"register": 31, "lane": 31, "warp": 3}):
        assert dict(theirs.apply({**place, "block": 0})) == ll.apply(**place)


def gluon() -> Any:
    return installed("triton.experimental.gluon.language")


def test_a_blocked_layout_is_what_its_parameters_say() -> None:
    blocked = gluon().BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    ll = from_object(blocked, (64, 64))
    assert isinstance(ll, LinearLayout)
    seen = set()
    for register in range(32):
        for lane in range(32):
            for warp in range(4):
                element = ll.apply(register=register, lane=lane, warp=warp)
                row = lane // 4 + 8 * warp + 32 * (register // 16)
                column = register % 4 + 4 * (lane % 4) + 16 * (register // 4 % 4)
                assert element == {"dim0": row, "dim1": column}
                seen.add((row, column))
    assert len(seen) == 64 * 64
    converted = tile_from_linear(ll)
    assert converted.is_proved


def test_more_distributed_layouts_become_tiles() -> None:
    gl = gluon()
    blocked = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
    tensor_core = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    for layout, shape in (
        (blocked, (16, 16)),
        (gl.SliceLayout(1, blocked), (64,)),
        (tensor_core, (64, 64)),
        (gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]), (64, 64)),
        (gl.DotOperandLayout(0, tensor_core, 2), (64, 64)),
    ):
        assert tile_from_linear(from_object(layout, shape)).is_proved


@pytest.mark.parametrize(
    ("parameters", "shape"),
    [((8, 1, 8), (16, 64)), ((8, 2, 4), (16, 32)), ((4, 2, 4), (16, 64)), ((8, 1, 8), (16, 32))],
)
def test_swizzled_shared_layouts_are_the_phase_formula(parameters: tuple, shape: tuple) -> None:
    theirs = gluon().SwizzledSharedLayout(*parameters, [1, 0])
    old = from_object(theirs)
    assert old == PhaseSwizzle(*parameters)
    places = old.within_row(*shape).to_map(*shape)
    ll = from_object(theirs, shape)
    for offset in range(shape[0] * shape[1]):
        assert places.apply(*ll.apply(offset=offset).values()) == {"m": offset}
    composed = old.within_row(*shape).to_compose(*shape).value
    assert composed is not None
    found = tile_from_linear(ll).value
    assert found is not None
    assert prove(Equivalent(found.map(shape), composed.map(shape))).verdict is Verdict.PROVED


def test_the_128_byte_mode_of_triton() -> None:
    theirs = gluon().NVMMASharedLayout(128, 16, 2)
    found = tile_from_linear(from_object(theirs, (64, 64))).value
    assert str(found) == "ComposeLayout(3, 3, 3, S[4096 : 1])"
    with pytest.raises(InteropError, match="no linear layout for this NVMMASharedLayout"):
        from_object(theirs, (64, 32))


def test_a_padded_layout_of_triton() -> None:
    theirs = gluon().PaddedSharedLayout.with_identity_for([[32, 4]], [64, 32], [1, 0])
    assert str(from_object(theirs)) == "S[(64, 32) : (36, 1)]"


# ------------------------------------------------------------------- NumPy


def test_an_array_of_numpy() -> None:
    array = np.arange(24, dtype=np.int16).reshape(4, 6).T
    layout = from_object(array)
    transposed = Map.of(lambda i, j: i + 6 * j, (6, 4))
    assert prove(Equivalent(layout.map((6, 4)), transposed)).verdict is Verdict.PROVED
