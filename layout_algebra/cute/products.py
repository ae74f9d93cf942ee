"""Products: copies of a layout, placed as another layout says.

    logical_product   (block, copies); by mode with a tuple: ((block, copies), ...)
    zipped_product    ((block, block, ...), (copies, copies, ...))
    tiled_product     ((block, block, ...), copies, copies, ...)
    flat_product      (block, block, ..., copies, copies, ...)
    blocked_product   ((block, copies), (block, copies), ...): blocks side by side
    raked_product     ((copies, block), (copies, block), ...): blocks spread like the teeth of rakes

formula     R(x, y) = A(x) + C(B(y)),  C = complement(A, size(A)*cosize(B))
requires    A has a complement, B has no negative strides, and C after B is a layout
ensures     copy y of A lies free of the others wherever B's values differ
example     (2,5):(5,1) blocked by (3,4):(1,3) is ((2,3),(5,4)):((5,10),(1,30))
"""

from __future__ import annotations

from typing import Any

from layout_algebra.cute.complementing import block, gaps
from layout_algebra.cute.composing import composed, tiled_modes, tiler_layout
from layout_algebra.cute.dividing import unzipped
from layout_algebra.cute.shapes import make_layout, of_pairs, on_inner
from layout_algebra.cute.values import AnyLayout, Layout, plain


def logical_product(a: AnyLayout, b: Any) -> AnyLayout:
    """Copies of a, one for each coordinate of b: (a, copies).

    Args:
        a: the block; a composed one keeps swizzle and offset, and the swizzle acts on the whole
            address: copies look alike where they are whole periods of it apart.
        b: how the copies are arranged: a layout, an int or a Dim N for N:1, or a tuple of those,
            which multiplies a's modes one by one.

    Law: result(x, y) == a(x) + complement(a, size(a)*cosize(b))(b(y)), by mode with a tuple.

    Raises:
        CuteError: a has no complement, b has a negative stride, or the copies are no layout.
    """
    return on_inner(lambda one: _multiplied(one, b, "logical_product"), a, "logical_product")


def zipped_product(a: AnyLayout, b: Any) -> AnyLayout:
    """`logical_product` with the blocks of all modes in the first mode, copies in the second."""
    return on_inner(lambda one: _zipped(one, b, "zipped_product"), a, "zipped_product")


def tiled_product(a: AnyLayout, b: Any) -> AnyLayout:
    """`zipped_product` with the copies as modes of their own."""

    def arranged(one: Layout) -> Layout:
        first, second = _zipped(one, b, "tiled_product")
        return make_layout(first, *second)

    return on_inner(arranged, a, "tiled_product")


def flat_product(a: AnyLayout, b: Any) -> AnyLayout:
    """`zipped_product` with every part a mode of its own."""

    def arranged(one: Layout) -> Layout:
        first, second = _zipped(one, b, "flat_product")
        return make_layout(*first, *second)

    return on_inner(arranged, a, "flat_product")


def blocked_product(a: AnyLayout, b: Layout) -> AnyLayout:
    """Copies of a side by side, mode by mode: ((a0, b0), (a1, b1), ...).

    The layout of fewer modes is given modes 1:0.

    Law: result((x0, y0), (x1, y1), ...) == logical_product(a, b)((x0, x1, ...), (y0, y1, ...)).

    Raises:
        CuteError: as `logical_product`.
    """

    def arranged(one: Layout) -> Layout:
        first, second = _paired(one, b, "blocked_product")
        pairs = zip(first, second, strict=True)
        return make_layout(*(make_layout(x, y) for x, y in pairs))

    return on_inner(arranged, a, "blocked_product")


def raked_product(a: AnyLayout, b: Layout) -> AnyLayout:
    """Copies of a interleaved, mode by mode: ((b0, a0), (b1, a1), ...).

    Law: result((y0, x0), (y1, x1), ...) == logical_product(a, b)((x0, x1, ...), (y0, y1, ...)).

    Raises:
        CuteError: as `logical_product`.
    """

    def arranged(one: Layout) -> Layout:
        first, second = _paired(one, b, "raked_product")
        pairs = zip(first, second, strict=True)
        return make_layout(*(make_layout(y, x) for x, y in pairs))

    return on_inner(arranged, a, "raked_product")


def _zipped(a: Layout, b: Any, operation: str) -> Layout:
    return unzipped(_multiplied(a, b, operation), b, a)


def _paired(a: Layout, b: Any, operation: str) -> tuple[Layout, Layout]:
    """The block and the copies of the logical product, with as many modes each."""
    copies = plain(b, f"{operation}: the right argument")
    rank = max(len(a), len(copies))
    first, second = _multiplied(_padded(a, rank), _padded(copies, rank), operation)
    return first, second


def _padded(layout: Layout, rank: int) -> Layout:
    return make_layout(*layout, *(Layout(1, 0) for _ in range(rank - len(layout))))


def _multiplied(a: Layout, b: Any, operation: str) -> Layout:
    if isinstance(b, tuple | list):
        parts = tiled_modes(a, b, operation)
        done = [
            mode if part is None else _multiplied(mode, part, f"{operation}, mode {k}")
            for k, (mode, part) in enumerate(zip(parts, b, strict=False))
        ]
        return make_layout(*done, *parts[len(b) :])
    copies = tiler_layout(b, operation)
    # whole blocks, so that Dims need no rounding; CuTe's size(a)*cosize(b) places are among them
    reached = copies.cosize()
    if isinstance(reached, int):  # strides that go down are refused by `composed`
        reached = max(reached, 1)
    shifts = of_pairs(gaps(a, block(a, operation) * reached, operation))
    return make_layout(a, composed(shifts, copies, operation))
