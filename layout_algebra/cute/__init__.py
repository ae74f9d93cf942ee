"""CuTe's layouts: values, algebra and text, in CuTe's own convention.

    from layout_algebra import cute

    A = cute.Layout((12, 32), (1, 12))
    cute.logical_divide(A, (4, 8))                # ((4,3),(8,4)):((1,4),(12,96))
    cute.composition(cute.parse("(10,2):(16,4)"), cute.parse("(3,4):(1,5)"))
                                                  # (3,(2,2)):(16,(80,4))

An index counts through the *first* mode first; a TileLayout's through the last iter.  Nothing here
takes a TileLayout: `to_tile`, `from_tile` and `as_map` are the ways between.  Sizes may be Dims.
What is undefined raises `CuteError`, which says which mode, which divisor or which coordinate is in
the way; see docs/cute.md for what differs from CuTe.
"""

from __future__ import annotations

from layout_algebra.cute.complementing import complement
from layout_algebra.cute.composing import composition
from layout_algebra.cute.dividing import flat_divide, logical_divide, tiled_divide, zipped_divide
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.inverses import left_inverse, max_common_vector, right_inverse
from layout_algebra.cute.products import (
    blocked_product,
    flat_product,
    logical_product,
    raked_product,
    tiled_product,
    zipped_product,
)
from layout_algebra.cute.shapes import (
    coalesce,
    cosize,
    depth,
    flatten,
    footprint,
    make_layout,
    make_layout_like,
    make_ordered_layout,
    rank,
    size,
)
from layout_algebra.cute.tiles import as_map, composition_map, from_tile, to_tile
from layout_algebra.cute.values import ComposedLayout, Layout, Swizzle, parse

__all__ = [
    "ComposedLayout",
    "CuteError",
    "Layout",
    "Swizzle",
    "as_map",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "composition_map",
    "cosize",
    "depth",
    "flat_divide",
    "flat_product",
    "flatten",
    "footprint",
    "from_tile",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "max_common_vector",
    "parse",
    "raked_product",
    "rank",
    "right_inverse",
    "size",
    "tiled_divide",
    "tiled_product",
    "to_tile",
    "zipped_divide",
    "zipped_product",
]
