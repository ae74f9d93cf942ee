"""Operations on swizzled tiles: on the tile, with the swizzle kept.

The swizzle acts on the final place, so an operation on the tile is the operation on the layout
wherever it only rearranges logical elements.  `tile` and `direct_sum` move whole places: there the
swizzle is applied to the new, final address, which repeats the swizzled pattern only where blocks
are moved by multiples of its period (the claims tell).

A *bare* swizzle is one over the identity.  In tile, direct_sum and slice it stands for the identity
over the shape that is asked for, which must be whole periods, or as many elements as its tile has.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_algebra.algebra.group import GroupError, check_sizes
from layout_algebra.axes import m
from layout_algebra.dims import Size, product
from layout_algebra.values import Iter, Swizzled, Tile, layout_size


def is_bare(layout: Swizzled) -> bool:
    """Whether the tile is the identity on m as written: at most one iter, stride 1, no more."""
    tile = layout.tile_layout
    if tile.replica or tile.offsets or len(tile.shard) > 1:
        return False
    return all(it.axis is m and it.stride == 1 for it in tile.shard)


def tile_over(layout: Swizzled, shape: Sequence[Size]) -> Tile:
    """The layout's tile; for a bare swizzle the identity over the shape.

    Raises:
        GroupError: a bare swizzle, and a shape that is neither whole periods nor as large as its
        tile.
    """
    if not is_bare(layout):
        return layout.tile_layout
    sizes = check_sizes(shape)
    count, own, period = product(sizes), layout_size(layout), layout.swizzle.period
    whole = isinstance(count, int) and count % period == 0
    if not isinstance(count, int):
        whole = all(c % period == 0 for _, c in count.terms)
    if not whole and count != own:
        raise GroupError(
            f"a bare swizzle stands for whole periods of {period} elements, or for the {own} of "
            f"its tile; shape {tuple(shape)} has {count}"
        )
    return layout.tile_layout.rebuild([Iter(count, 1, m)])
