"""Divides: a layout cut into tiles, ((tile), (rest)) in four arrangements.

    logical_divide   (tile, rest); by mode with a tuple: ((tile, rest), (tile, rest), ...)
    zipped_divide    ((tile, tile, ...), (rest, rest, ...))
    tiled_divide     ((tile, tile, ...), rest, rest, ...)
    flat_divide      (tile, tile, ..., rest, rest, ...)

formula     R(x, y) = A(B(x) + C(y)),  C = complement(B, size(A))
requires    B has a complement, B's blocks divide A's size, and the composition is a layout
ensures     R's values are A's, each as often (unless B has strides of 0)
example     (12,32):(1,12) by (4, 8) is ((4,3),(8,4)):((1,4),(12,96))
"""

from __future__ import annotations

from typing import Any

from layout_algebra.algebra.deciding import knowing_extents
from layout_algebra.cute import tuples
from layout_algebra.cute.complementing import block, gaps
from layout_algebra.cute.composing import composed, tiled_modes, tiler_layout
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.shapes import make_layout, of_pairs, on_inner
from layout_algebra.cute.values import AnyLayout, Layout


def logical_divide(a: AnyLayout, b: Any) -> AnyLayout:
    """a's elements as (tile, rest).

    Args:
        a: the layout; a composed one keeps swizzle and offset.
        b: a layout: which elements are the first tile; an int or a Dim N for N:1; or a tuple of
            those, which cuts a's modes one by one (None leaves a mode as it is, as those beyond).

    Law: result(x, y) == a(b(x) + complement(b, size(a))(y)), by mode with a tuple.

    Raises:
        CuteError: b has no complement, its blocks do not divide a, or a tile is no layout: it says
            which mode's end is in the way.
    """
    return on_inner(lambda one: _divided(one, b, "logical_divide"), a, "logical_divide")


def zipped_divide(a: AnyLayout, b: Any) -> AnyLayout:
    """`logical_divide` with the tiles of all modes in the first mode, the rests in the second."""
    return on_inner(lambda one: _zipped(one, b, "zipped_divide"), a, "zipped_divide")


def tiled_divide(a: AnyLayout, b: Any) -> AnyLayout:
    """`zipped_divide` with the rests as modes of their own: ((tile, ...), rest, rest, ...)."""

    def arranged(one: Layout) -> Layout:
        tile, rest = _zipped(one, b, "tiled_divide")
        return make_layout(tile, *rest)

    return on_inner(arranged, a, "tiled_divide")


def flat_divide(a: AnyLayout, b: Any) -> AnyLayout:
    """`zipped_divide` with every part a mode of its own: (tile, tile, ..., rest, rest, ...)."""

    def arranged(one: Layout) -> Layout:
        tile, rest = _zipped(one, b, "flat_divide")
        return make_layout(*tile, *rest)

    return on_inner(arranged, a, "flat_divide")


def unzipped(divided: Layout, tiler: Any, whole: Layout) -> Layout:
    """((first, ...), (second, ...)) from modes that are pairs as the tiler has parts.

    Where the tiler says None, the first part is 1:0 and the second the mode; modes beyond the
    tiler are among the seconds.
    """
    if tiler is None:
        return make_layout(Layout(1, 0), whole)
    if not isinstance(tiler, tuple | list):
        return divided
    split = [
        unzipped(part, inner, mode)
        for part, inner, mode in zip(divided, tiler, whole, strict=False)
    ]
    beyond = list(divided)[len(tiler) :]
    return make_layout(
        make_layout(*(pair[0] for pair in split)),
        make_layout(*(pair[1] for pair in split), *beyond),
    )


def _zipped(a: Layout, b: Any, operation: str) -> Layout:
    return unzipped(_divided(a, b, operation), b, a)


def _divided(a: Layout, b: Any, operation: str) -> Layout:
    if isinstance(b, tuple | list):
        parts = tiled_modes(a, b, operation)
        done = [
            mode if part is None else _divided(mode, part, f"{operation}, mode {k}")
            for k, (mode, part) in enumerate(zip(parts, b, strict=False))
        ]
        return make_layout(*done, *parts[len(b) :])
    tile = tiler_layout(b, operation)
    _check_blocks(a, tile, operation)
    rest = of_pairs(gaps(tile, a.size(), operation))
    return composed(a, make_layout(tile, rest), operation)


def _check_blocks(a: Layout, tile: Layout, operation: str) -> None:
    length, size = block(tile, operation), a.size()
    if knowing_extents([size]).quotient(size, length) is None:
        sure = isinstance(length, int) and isinstance(size, int)
        blocks = f"blocks of {length} elements" + (
            f" ({tile})" if tuples.depth_of(tile.shape) or tile.stride != 1 else ""
        )
        raise CuteError(
            f"{operation}: {blocks} {'do not' if sure else 'are not known to'} divide the {size} "
            f"elements of {a}"
        )
