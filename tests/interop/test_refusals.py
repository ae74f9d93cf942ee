"""Ways in and out take layouts, sizes and names; anything else is refused in words."""

from __future__ import annotations

import pytest

from layout_algebra import S, TileLayout, cute, interop, laneid
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.interop import InteropError, LinearLayout
from layout_algebra.interop.linear_import import layout_of

TILE = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)])
MEMORY = TileLayout(S[(4, 8) : (8, 1)])
CUTE = cute.Layout((4, 8))
TRANSPOSED = cute.Layout((4, 2), (1, 8))
LINEAR = LinearLayout({"register": [(0, 1)], "lane": [(1, 0)]}, {"dim0": 2, "dim1": 2})


class Module:
    """A stand-in that has all of the names that are asked for."""

    def __getattr__(self, name):
        return name


#: Calls with one argument left out, and what is said where it is of another kind.
NEEDS_A_LAYOUT = {
    "to_linear": lambda x: interop.to_linear(x, (8, 8)),
    "to_strides": lambda x: interop.to_strides(x, (4, 8)),
    "to_tirx": lambda x: interop.to_tirx(x, Module()),
    "recast": lambda x: interop.recast(x, 8, 16),
    "recast_claim, before": lambda x: interop.recast_claim(x, 8, MEMORY, 16),
    "recast_claim, after": lambda x: interop.recast_claim(MEMORY, 8, x, 16),
}
NEEDS_LINEAR = {
    "from_linear": interop.from_linear,
    "tile_from_linear": interop.tile_from_linear,
    "layout_of": layout_of,
    "to_triton": lambda x: interop.to_triton(x, Module()),
}
NEEDS_CUTE = {
    "thread_value_map": lambda x: interop.thread_value_map(x, (4, 8)),
    "to_cute_dsl": lambda x: interop.to_cute_dsl(x, Module()),
}


@pytest.mark.parametrize("call", NEEDS_A_LAYOUT)
@pytest.mark.parametrize("wrong", [5, None, "S[32 : 1]", CUTE, LINEAR], ids=repr)
def test_layouts(call, wrong):
    with pytest.raises(InteropError, match=f"ComposeLayout; got {type(wrong).__name__}"):
        NEEDS_A_LAYOUT[call](wrong)


@pytest.mark.parametrize("call", NEEDS_LINEAR)
@pytest.mark.parametrize("wrong", [5, None, MEMORY, CUTE], ids=repr)
def test_linear_layouts(call, wrong):
    with pytest.raises(InteropError, match=f"is a LinearLayout; got {type(wrong).__name__}"):
        NEEDS_LINEAR[call](wrong)


@pytest.mark.parametrize("call", NEEDS_CUTE)
@pytest.mark.parametrize("wrong", [5, None, MEMORY], ids=repr)
def test_layouts_of_cute(call, wrong):
    with pytest.raises(InteropError, match=f"layout_algebra.cute.*; got {type(wrong).__name__}"):
        NEEDS_CUTE[call](wrong)


def test_hints_name_the_way():
    with pytest.raises(InteropError, match=r"by cute\.to_tile"):
        interop.recast(CUTE, 8, 16)
    with pytest.raises(InteropError, match=r"by parse\(text\)"):
        interop.to_strides("S[8 : 1]", (8,))


@pytest.mark.parametrize("wrong", [0, -8, 16.0, True, "16", None])
def test_widths(wrong):
    for before, after in ((wrong, 8), (8, wrong)):
        with pytest.raises(InteropError, match="is a positive number of bits"):
            interop.recast(MEMORY, before, after)
        with pytest.raises(InteropError, match="is a positive number of bits"):
            interop.recast_claim(MEMORY, before, MEMORY, after)


@pytest.mark.parametrize("wrong", [5, ["lane"], "lane"])
def test_names_of_inputs_are_a_mapping(wrong):
    for call in (
        lambda: interop.from_linear(LINEAR, wrong),
        lambda: interop.tile_from_linear(LINEAR, wrong),
        lambda: interop.to_linear(TILE, (8, 8), wrong),
    ):
        with pytest.raises(InteropError, match="is a mapping from the names of inputs"):
            call()


def test_names_of_inputs():
    renamed = interop.from_linear(LINEAR, {"lane": "laneid"})
    assert [variable.name for variable in renamed.coordinates] == ["register", "laneid"]
    with pytest.raises(InteropError, match="input lane in names= is an identifier; got 5"):
        interop.from_linear(LINEAR, {"lane": 5})


@pytest.mark.parametrize("wrong", [5, None, (), (0,), (-4, -8), "ab", (4, 2.0), ((4,), 8)])
def test_tiles_of_thread_values(wrong):
    with pytest.raises(InteropError, match="a tile is a tuple of positive ints or Dims"):
        interop.thread_value_map(TRANSPOSED, wrong)


@pytest.mark.parametrize("wrong", [5, None, ("a",), ("a", "a"), ("a", 1), ("a", "b", "c")])
def test_names_of_thread_and_value(wrong):
    with pytest.raises(InteropError, match="names= are two different names"):
        interop.thread_value_map(TRANSPOSED, (4, 4), wrong)


def test_thread_values_as_they_should_be():
    found = interop.thread_value_map(TRANSPOSED, [4, 4])
    for thread in range(4):
        for value in range(2):
            index = thread + 8 * value
            assert found.apply(thread, value) == {"dim0": index % 4, "dim1": index // 4}


@pytest.mark.parametrize(
    "call",
    [
        lambda: interop.to_linear(5, 5),
        lambda: interop.to_linear(TILE, 5),
        lambda: interop.to_linear(TILE, (8, 8), {"lane": 5}),
        lambda: interop.to_strides(MEMORY, 5),
        lambda: interop.to_strides(MEMORY, (4, 8), None),
        lambda: interop.recast(MEMORY, 8, 16, axis=5),
        lambda: interop.thread_value_map(cute.Layout(4), (4,)),
    ],
)
def test_other_arguments(call):
    with pytest.raises(LayoutAlgebraError):
        call()
