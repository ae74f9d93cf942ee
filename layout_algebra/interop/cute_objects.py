"""Layout objects of the CuTe DSL, in and out, and the thread-value layouts of tiled operations.

    @cute.jit                                     # the DSL's objects live inside a traced function
    def kernel_host():
        from_cute_dsl(cute.make_layout((8, 64), stride=(64, 1)))    # (8,64):(64,1)
        thread_values(tiled_mma)["C"]                               # ((4,8),(2,2)):((32,1),(16,8))

What comes out are `layout_algebra.cute` values: CuTe's convention, first mode fastest.  The package
is not imported here.  Read are `shape` and `stride` of a layout, `inner`, `offset` and `outer` of a
composed one, and `num_bits`, `num_base` and `num_shift` of a swizzle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from layout_algebra import terms
from layout_algebra.cute.tuples import leaves
from layout_algebra.cute.values import ComposedLayout, Layout, Swizzle
from layout_algebra.dims import Size, at_least, is_size, positive_symbols, product
from layout_algebra.interop.refusals import InteropError
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var

#: Where tiled operations and atoms keep thread-value layouts, and what they are called here.
_THREAD_VALUES = {
    "tv_layout_A": "A",
    "tv_layout_B": "B",
    "tv_layout_C": "C",
    "tv_layout_A_tiled": "A tiled",
    "tv_layout_B_tiled": "B tiled",
    "tv_layout_C_tiled": "C tiled",
    "layout_src_tv": "source",
    "layout_dst_tv": "destination",
    "layout_tv_tiled": "tiled",
    "layout_src_tv_tiled": "source tiled",
    "layout_dst_tv_tiled": "destination tiled",
}


def from_cute_dsl(theirs: Any) -> Layout | ComposedLayout | Swizzle:
    """Our CuTe value of a Layout, a ComposedLayout or a Swizzle of the CuTe DSL.

    Raises:
        InteropError: another object, sizes that are known at run time only, strides that are basis
            elements, or a composed layout whose outer function is not a swizzle.
    """
    if all(hasattr(theirs, name) for name in ("num_bits", "num_base", "num_shift")):
        return Swizzle(theirs.num_bits, theirs.num_base, theirs.num_shift)
    if all(hasattr(theirs, name) for name in ("inner", "offset", "outer")):
        swizzle, layout = from_cute_dsl(theirs.inner), from_cute_dsl(theirs.outer)
        if not isinstance(swizzle, Swizzle) or not isinstance(layout, Layout):
            raise InteropError(
                f"a composed layout is a swizzle of a layout here; got {swizzle} after {layout}"
            )
        return ComposedLayout(swizzle, _numbers(theirs.offset, theirs), layout)
    if all(hasattr(theirs, name) for name in ("shape", "stride")):
        return Layout(_numbers(theirs.shape, theirs), _numbers(theirs.stride, theirs))
    raise InteropError(
        "an object of the CuTe DSL is a Layout, a ComposedLayout or a Swizzle here (and "
        f"thread_values takes tiled copies and MMAs); got {type(theirs).__name__}"
    )


def thread_values(theirs: Any) -> dict[str, Layout]:
    """The thread-value layouts of a tiled copy, a tiled MMA or their atoms, by role.

    Each sends (thread, value) to an index into the tile, which counts its first mode first.

    Raises:
        InteropError: an object with none.
    """
    found: dict[str, Layout] = {}
    for attribute, role in _THREAD_VALUES.items():
        one = getattr(theirs, attribute, None)
        layout = None if one is None else from_cute_dsl(one)
        if isinstance(layout, Layout):
            found[role] = layout
    if not found:
        raise InteropError(
            f"no thread-value layout in a {type(theirs).__name__}: tiled copies and MMAs have some"
        )
    return found


def thread_value_map(
    layout: Layout, tile: Sequence[Size], names: tuple[str, str] = ("laneid", "m")
) -> Map:
    """The Map (thread, value) -> element of a thread-value layout over a tile.

    Args:
        layout: a layout of two modes, threads and values.
        tile: the tile's shape, e.g. (16, 8); its first dimension is counted first.
        names: what the two coordinates are called.

    The outputs are dim0, dim1, ...: the element's coordinates.

    Raises:
        InteropError: not a layout of two modes, a tile or names that are none, or an index outside
            the tile.
    """
    if not isinstance(layout, Layout):  # type: ignore[redundant-expr]
        raise InteropError(
            f"a thread-value layout is a layout_algebra.cute.Layout; got {type(layout).__name__}"
        )
    _check_tile(tile, names)
    if not isinstance(layout.shape, tuple) or len(layout.shape) != 2:
        raise InteropError(f"a thread-value layout has two modes, threads and values; got {layout}")
    coordinates: list[Var] = []
    parts: list[tuple[Term, Size]] = []
    for name, shape, stride in zip(names, layout.shape, layout.stride, strict=True):
        sizes = leaves(shape)
        coordinate = terms.coordinate(name, product(sizes))
        coordinates.append(coordinate)
        digits = terms.split(coordinate, sizes[::-1])[::-1]
        parts += zip(digits, leaves(stride), strict=True)
    index = terms.linear(parts)
    known = positive_symbols(tile)
    for bound, sign in ((index.low, 1), (index.high, -1)):
        room = None if bound is None else sign * bound + (0 if sign > 0 else product(tile) - 1)
        if room is None or not at_least(room, 0, known):
            raise InteropError(
                f"the indices of {layout} are {index.low} to {index.high}, and a tile of "
                f"{tuple(tile)} has {product(tile)} elements"
            )
    places = terms.split(index, list(tile)[::-1])[::-1]
    return Map(tuple(coordinates), tuple((f"dim{k}", place) for k, place in enumerate(places)))


def to_cute_dsl(layout: Layout | ComposedLayout, module: Any) -> Any:
    """The CuTe DSL's object of a layout; call it inside a traced function.

    Args:
        layout: a `layout_algebra.cute` value with numbers for sizes.
        module: `cutlass.cute`, whose functions make it.

    Raises:
        InteropError: no layout of CuTe's, Dims, or a module without these functions.
    """
    if not isinstance(layout, Layout | ComposedLayout):  # type: ignore[redundant-expr]
        raise InteropError(
            f"to_cute_dsl takes a layout of layout_algebra.cute; got {type(layout).__name__}"
        )
    needed = ("make_layout", "make_swizzle", "make_composed_layout")
    if not all(hasattr(module, name) for name in needed):
        raise InteropError(f"module= has {', '.join(needed)}, as cutlass.cute; got {module!r}")
    if layout.is_symbolic:
        raise InteropError(f"the DSL's object is made of numbers: evaluate the Dims of {layout}")
    if isinstance(layout, ComposedLayout):
        s = layout.swizzle
        inner = to_cute_dsl(layout.layout, module)
        swizzle = module.make_swizzle(s.B, s.M, s.S)
        return module.make_composed_layout(swizzle, layout.offset, inner)
    return module.make_layout(layout.shape, stride=layout.stride)


def _check_tile(tile: Any, names: Any) -> None:
    """That a tile is a sequence of sizes, and names are two different ones."""
    sizes = tile if isinstance(tile, tuple | list) else ()
    if not sizes or not all(is_size(size) and at_least(size, 1) for size in sizes):
        raise InteropError(f"a tile is a tuple of positive ints or Dims, as (16, 8); got {tile!r}")
    named = names if isinstance(names, tuple | list) else ()
    if len(set(map(str, named))) != 2 or not all(isinstance(name, str) for name in named):
        raise InteropError(f"names= are two different names, of thread and value; got {names!r}")


def _numbers(given: Any, whole: Any) -> Any:
    """Nested ints."""
    if isinstance(given, tuple | list):
        return tuple(_numbers(one, whole) for one in given)
    if type(given) is not int:
        raise InteropError(f"{whole} is not made of numbers alone: {given} is known only later")
    return given
