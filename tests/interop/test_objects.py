"""Other packages' objects by what they have: stand-ins, which need no package."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from layout_algebra import ComposeLayout, Dim, Inverse, Map, R, S, TileLayout, cute, prove, warpid
from layout_algebra.axes import laneid, tx
from layout_algebra.errors import AxisError
from layout_algebra.interop import (
    InteropError,
    LinearLayout,
    PhaseSwizzle,
    from_cute_dsl,
    from_object,
    from_tirx,
    from_triton,
    thread_value_map,
    thread_values,
    to_cute_dsl,
    to_linear,
    to_tirx,
    to_triton,
)
from layout_algebra.values import Swizzle
from layout_algebra.verdicts import Verdict
from tests.interop import enumerated


def stand_in(module: str, name: str, **attributes: Any) -> Any:
    """An object whose class says that it is from `module`."""
    kind = type(name, (), {"__module__": module})
    made = kind()
    for attribute, value in attributes.items():
        setattr(made, attribute, value)
    return made


# ------------------------------------------------------------------- TIRx


class NamedAxis(NamedTuple):
    name: str


def tirx_iter(extent: Any, stride: Any, axis: str) -> Any:
    held = SimpleNamespace(value=extent), SimpleNamespace(value=stride)
    return SimpleNamespace(extent=held[0], stride=held[1], axis=NamedAxis(axis))


def tirx_tile(*iters: tuple[Any, Any, str]) -> Any:
    return stand_in(
        "tvm.tirx.layout",
        "TileLayout",
        shard=[tirx_iter(*it) for it in iters],
        replica=[tirx_iter(2, 4, "warpid")],
        offset={NamedAxis("warpid"): SimpleNamespace(value=5)},
    )


def test_a_tirx_tile() -> None:
    theirs = tirx_tile((8, 4, "laneid"), (2, 1, "m"))
    wanted = TileLayout(S[(8, 2) : (4 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid)
    assert from_object(theirs) == wanted


def test_tirx_swizzles() -> None:
    tile = tirx_tile((64, 1, "m"))
    tile.replica, tile.offset = [], {}
    parameters = {"per_element": 3, "swizzle_len": 2, "atom_len": 3, "swizzle_inner": False}
    theirs = stand_in("tvm_tirx.tirx.layout", "ComposeLayout", tile_layout=tile, **parameters)
    assert from_object(theirs) == ComposeLayout(3, 2, 3, TileLayout(S[64:1]), swizzle_inner=False)
    alone = stand_in("tvm.tirx.layout", "SwizzleLayout", **parameters)
    assert from_object(alone) == Swizzle(3, 2, 3, swizzle_inner=False)
    nested = stand_in("tvm.tirx.layout", "ComposeLayout", tile_layout=theirs, **parameters)
    with pytest.raises(InteropError, match="the tile of a ComposeLayout is a TileLayout"):
        from_object(nested)


def test_tirx_objects_that_are_not_understood() -> None:
    with pytest.raises(InteropError, match="an extent is a number here"):
        from_object(tirx_tile(("n", 1, "m")))
    with pytest.raises(AxisError, match="unknown axis 'elsewhere'"):
        from_object(tirx_tile((8, 1, "elsewhere")))
    with pytest.raises(InteropError, match="a TIRx layout has shard"):
        from_tirx(stand_in("tvm.tirx.layout", "Other"))
    with pytest.raises(InteropError, match="module= has TileLayout"):
        to_tirx(TileLayout(S[8:1]), SimpleNamespace())


# ------------------------------------------------------------------- CuTe DSL


def dsl_layout(shape: Any, stride: Any) -> Any:
    return stand_in("cutlass.cute.core", "_Layout", shape=shape, stride=stride)


def dsl_swizzle(b: int, m: int, s: int) -> Any:
    return stand_in("cutlass.cute.core", "Swizzle", num_bits=b, num_base=m, num_shift=s)


def test_cute_dsl_layouts() -> None:
    theirs = dsl_layout(((2, 4), 8), ((1, 16), 2))
    assert from_object(theirs) == cute.parse("((2,4),8):((1,16),2)")
    assert from_object(dsl_swizzle(3, 4, -3)) == cute.Swizzle(3, 4, -3)
    composed = stand_in(
        "cutlass.cute.core", "_ComposedLayout", inner=dsl_swizzle(3, 4, 3), offset=2, outer=theirs
    )
    assert from_object(composed) == cute.parse("Sw<3,4,3> o 2 o ((2,4),8):((1,16),2)")


def test_cute_dsl_objects_that_are_not_understood() -> None:
    late = SimpleNamespace()
    with pytest.raises(InteropError, match="known only later"):
        from_object(dsl_layout((late, 4), (1, 4)))
    outer = dsl_layout((2, 2), (1, 2))
    composed = stand_in("cutlass.cute.core", "C", inner=outer, offset=0, outer=outer, shape=(2, 2))
    with pytest.raises(InteropError, match="a swizzle of a layout here"):
        from_object(composed)
    with pytest.raises(InteropError, match="no thread-value layout in a Thing"):
        from_object(stand_in("cutlass.cute.atom", "Thing"))
    with pytest.raises(InteropError, match="thread_values takes tiled copies"):
        from_cute_dsl(stand_in("cutlass.cute.atom", "Thing"))


def test_cute_dsl_objects_are_made_by_its_functions() -> None:
    module = SimpleNamespace(
        make_layout=lambda shape, stride: ("layout", shape, stride),
        make_swizzle=lambda b, m, s: ("swizzle", b, m, s),
        make_composed_layout=lambda *parts: parts,
    )
    made = to_cute_dsl(cute.parse("Sw<3,4,3> o 2 o (8,(4,2)):(8,(1,4))"), module)
    assert made == (("swizzle", 3, 4, 3), 2, ("layout", (8, (4, 2)), (8, (1, 4))))
    with pytest.raises(InteropError, match="module= has make_layout"):
        to_cute_dsl(cute.parse("8:1"), SimpleNamespace())
    with pytest.raises(InteropError, match="evaluate the Dims"):
        to_cute_dsl(cute.Layout(Dim("M"), 1), module)


def test_thread_values_of_an_operation() -> None:
    accumulator = dsl_layout(((4, 8), (2, 2)), ((32, 1), (16, 8)))
    operation = stand_in("cutlass.cute.atom", "TiledMma", tv_layout_C=accumulator, tv_layout_A=None)
    found = thread_values(operation)
    assert found == {"C": cute.parse("((4,8),(2,2)):((32,1),(16,8))")}
    there = thread_value_map(found["C"], (16, 8))
    for lane in range(32):
        for value in range(4):
            index = found["C"]((lane % 4, lane // 4), (value % 2, value // 2))
            place = {"dim0": index % 16, "dim1": index // 16}
            assert there.apply(laneid=lane, m=value) == place


def test_a_thread_value_layout_is_the_inverse_of_a_fragment() -> None:
    there = thread_value_map(cute.parse("((4,8),(2,2)):((32,1),(16,8))"), (16, 8))  # type: ignore[arg-type]
    frag = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ laneid, 1 @ laneid, 1)])
    ll = to_linear(frag, (16, 8), {"laneid": laneid, "m": "m"}).value
    assert ll is not None
    for lane in range(32):
        for value in range(4):
            assert there.apply(laneid=lane, m=value) == ll.apply(laneid=lane, m=value)


def test_thread_value_layouts_that_do_not_fit() -> None:
    layout = cute.parse("((4,8),(2,2)):((32,1),(16,8))")
    with pytest.raises(InteropError, match="are 0 to 127, and a tile of"):
        thread_value_map(layout, (16, 4))  # type: ignore[arg-type]
    with pytest.raises(InteropError, match="two modes"):
        thread_value_map(cute.parse("8:1"), (8,))  # type: ignore[arg-type]
    with pytest.raises(InteropError, match="are -7 to 0"):
        thread_value_map(cute.parse("(4,2):(-1,-4)"), (8,))  # type: ignore[arg-type]


# ------------------------------------------------------------------- Triton

GLUON = "triton.experimental.gluon.language._layouts"


def test_layouts_that_list_their_bases() -> None:
    linear = stand_in(
        "triton._C.libtriton.linear_layout",
        "LinearLayout",
        bases=[("register", [[0, 1]]), ("lane", [[1, 0], [0, 2]])],
        out_dims=[("dim0", 2), ("dim1", 4)],
    )
    wanted = LinearLayout({"register": [(0, 1)], "lane": [(1, 0), (0, 2)]}, {"dim0": 2, "dim1": 4})
    assert from_object(linear) == wanted
    listed = stand_in(
        GLUON,
        "DistributedLinearLayout",
        reg_bases=[[0, 1]],
        lane_bases=[[1, 0], [0, 2]],
        warp_bases=[],
        block_bases=[],
        shape=[2, 4],
    )
    assert from_object(listed).apply(register=1, lane=3) == wanted.apply(register=1, lane=3)
    shared = stand_in(
        GLUON, "SharedLinearLayout", offset_bases=[[1], [2]], block_bases=[], shape=[4]
    )
    assert from_object(shared) == LinearLayout({"offset": [(1,), (2,)], "block": []}, {"dim0": 4})


def test_a_swizzled_shared_layout() -> None:
    theirs = stand_in(GLUON, "SwizzledSharedLayout", vec=8, per_phase=2, max_phase=4, order=[1, 0])
    assert from_object(theirs) == PhaseSwizzle(8, 2, 4)


def padded(pairs: list[list[int]], bases: list[list[int]], shape: list[int]) -> Any:
    return stand_in(
        GLUON,
        "PaddedSharedLayout",
        interval_padding_pairs=pairs,
        offset_bases=bases,
        cga_layout=[],
        shape=shape,
    )


@pytest.mark.parametrize(
    ("pairs", "bases", "shape"),
    [
        ([[2, 1], [4, 2]], [[1], [2], [4]], [8]),
        ([[2, 2]], [[2], [1], [4]], [8]),
        ([[8, 1]], [[0, 1], [0, 2], [2, 0], [4, 0], [1, 0]], [8, 4]),
        ([[32, 4]], [[0, 1 << k] for k in range(5)] + [[1 << k, 0] for k in range(4)], [16, 32]),
    ],
)
def test_padding_after_every_interval(pairs: list, bases: list, shape: list) -> None:
    layout = from_object(padded(pairs, bases, shape))
    outs = {f"dim{k}": size for k, size in enumerate(shape)}
    for offset in range(1 << len(bases)):
        element = enumerated.element_at({"offset": bases}, outs, {"offset": offset})
        place = offset + sum(offset // interval * padding for interval, padding in pairs)
        assert layout.apply(*element, shape=tuple(shape)) == {"m": place}


def test_triton_objects_that_are_not_understood() -> None:
    with pytest.raises(InteropError, match="what the compiler will choose"):
        from_object(stand_in(GLUON, "AutoLayout"))
    with pytest.raises(InteropError, match="no tile before the padding"):
        from_object(padded([[2, 1]], [[1, 0], [1, 1]], [2, 2]))
    with pytest.raises(InteropError, match=r"a triton\.tools\.LinearLayout or one of Gluon's"):
        from_triton(stand_in(GLUON, "Other"))
    with pytest.raises(InteropError, match="with from_bases"):
        to_triton(LinearLayout({}, {}), object)


def test_what_a_shape_has_to_be() -> None:
    blocked = stand_in(GLUON, "BlockedLayout", rank=2, _to_ir=None)
    with pytest.raises(InteropError, match="A BlockedLayout needs shape="):
        from_object(blocked)
    with pytest.raises(InteropError, match="made of powers of two"):
        from_object(blocked, (48, 64))
    with pytest.raises(InteropError, match="made of powers of two"):
        from_object(blocked, "64")  # type: ignore[arg-type]
    with pytest.raises(InteropError, match="has 2 dimensions, the shape 1"):
        from_object(blocked, (64,))
    with pytest.raises(InteropError, match="shape= is for Gluon's layouts"):
        from_object(tirx_tile((8, 1, "m")), (8,))


class Unheard:
    """A layout that Triton does not know, or that has no Triton to know it."""

    _to_ir = None


def test_what_triton_cannot_say_is_an_error_and_no_crash() -> None:
    with pytest.raises(InteropError, match="Triton has no linear layout for this Unheard"):
        from_triton(Unheard(), (8, 8))


def test_triton_objects_are_made_by_its_class() -> None:
    class Theirs:
        @staticmethod
        def from_bases(*arguments: Any) -> tuple[Any, ...]:
            return arguments

    ll = LinearLayout({"lane": [(0, 1), (1, 0)]}, {"dim0": 2, "dim1": 2})
    bases = [("lane", [[0, 1], [1, 0]])]
    assert to_triton(ll, Theirs) == (bases, ["dim0", "dim1"], [2, 2], False)


# ------------------------------------------------------------------- anything


def test_ours_come_back() -> None:
    layout = TileLayout(S[8 : 1 @ tx])
    assert from_object(layout) is layout
    there = layout.map()
    assert from_object(there) is there


@pytest.mark.parametrize("theirs", [None, 3, "S[8 : 1]", object(), [8, 1], {"shard": []}])
def test_anything_else_is_refused_with_what_is_understood(theirs: object) -> None:
    with pytest.raises(InteropError, match="not understood") as caught:
        from_object(theirs)
    for package in ("TIRx", "CuTe DSL", "Triton", "NumPy"):
        assert package in str(caught.value)


def test_an_inverse_claim_with_a_wrong_layout_is_refuted() -> None:
    there = thread_value_map(cute.parse("((4,8),(2,2)):((32,1),(16,8))"), (16, 8))  # type: ignore[arg-type]
    wrong = Map.of(lambda dim0, dim1: {"laneid": dim0 % 8 * 4 + dim1 // 2, "m": dim1 % 2}, (16, 8))
    assert prove(Inverse(wrong, there)).verdict is Verdict.REFUTED
    right = Map.of(
        lambda dim0, dim1: {"laneid": dim0 % 8 * 4 + dim1 // 2, "m": dim0 // 8 * 2 + dim1 % 2},
        (16, 8),
    )
    assert prove(Inverse(right, there)).verdict is Verdict.PROVED
