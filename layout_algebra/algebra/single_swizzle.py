"""Which one swizzle a map is: of two XORs one after the other, and of a finite map.

An XOR of bit fields is linear over F2: two of them are one swizzle exactly when together they move
a run of bits by one distance, which the images of single bits show.  A finite map is a swizzled
tile exactly when some swizzle, undone, leaves a tile: those whose fields lie inside the map's
places are tried one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from layout_algebra.algebra.copy_sets import Copies, without_copies
from layout_algebra.algebra.no_layout import NoLayout, UndecidedError
from layout_algebra.algebra.table_form import iters_of
from layout_algebra.axes import Axis, m
from layout_algebra.dims import product
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile, layout_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Places (elements times copies) up to which every swizzle is tried.
MOST_PLACES = 1 << 15


def as_one_swizzle(outer: Swizzle, inner: Swizzle) -> Swizzle | None:
    """The swizzle that is `inner`, then `outer`, on every address; None when there is none."""
    top = max(outer.period, inner.period).bit_length()
    moved: dict[int, int] = {}
    for bit in range(top):
        extra = outer(inner(1 << bit)) ^ (1 << bit)
        if extra:
            if extra & (extra - 1):
                return None  # onto two bits
            moved[bit] = extra.bit_length() - 1
    if not moved:
        return Swizzle(0, 0, 0)
    bits = sorted(moved)
    distances = {bit - moved[bit] for bit in bits}
    if len(distances) > 1 or bits[-1] - bits[0] + 1 != len(bits):
        return None
    distance = distances.pop()
    found = Swizzle(min(bits[0], moved[bits[0]]), len(bits), abs(distance), distance > 0)
    return found if found.is_involution else None


def by_every_place(outer: AnyLayout, inner: AnyLayout, otherwise: NoLayout) -> AnyLayout | NoLayout:
    """outer(inner(x)) by looking at every place: as a tile, or (if there is a swizzle in it) as a
    tile under any swizzle at all; `otherwise` where there are too many places."""
    copies = product(it.extent for it in (*outer.replica, *inner.replica))
    count = layout_size(inner) * copies
    if not isinstance(count, int) or count > MOST_PLACES or outer.is_symbolic:
        return otherwise if not otherwise.certain else NoLayout(otherwise.reason, certain=False)
    places = _places(outer, _places(inner, None))
    on_m = places.pop(m, None)
    reach = 0 if on_m is None else int(abs(on_m).max()).bit_length()
    kinds = [one for one in (outer, inner) if isinstance(one, Swizzled)]
    unsure = False
    for swizzle in _candidates(reach if kinds else 0):
        # a swizzle of the class is its own inverse
        unmoved = places if on_m is None else {**places, m: _swizzled(swizzle, on_m)}
        try:
            tile = _tile_of(unmoved, int(layout_size(inner)), outer.affine)
        except UndecidedError:
            unsure = True
            continue
        if tile is not None:
            if swizzle.is_identity:
                return tile
            return kinds[0].with_swizzle(swizzle, tile)
    reason = otherwise.reason
    if kinds:
        reason += f"; nor is it one under a swizzle within the {reach} bits of its places"
    return NoLayout(reason, certain=not unsure)


def _candidates(bits: int) -> Iterator[Swizzle]:
    """None first, then every swizzle whose fields lie within so many bits, short ones first."""
    yield Swizzle(0, 0, 0)
    for length in range(1, bits // 2 + 1):
        for shift in range(length, bits - length + 1):
            for low in range(bits - length - shift + 1):
                for inner in (True, False):
                    yield Swizzle(low, length, shift, inner)


def _swizzled(swizzle: Swizzle, address: NDArray[Any]) -> NDArray[Any]:
    if swizzle.is_identity:
        return address
    mask = (1 << swizzle.swizzle_len) - 1
    high, low = swizzle.per_element + swizzle.atom_len, swizzle.per_element
    source, target = (high, low) if swizzle.swizzle_inner else (low, high)
    return address ^ (((address >> source) & mask) << target)


def _places(layout: AnyLayout, fed: dict[Axis, NDArray[Any]] | None) -> dict[Axis, NDArray[Any]]:
    """Places of the given indices, or of all; elements x copies, the copies of `fed` first."""
    import numpy as np

    tile = layout.affine
    if fed is None:
        index = np.arange(int(layout_size(layout)), dtype=np.int64)[:, None]  # type: ignore[arg-type]
        rows = len(index)
    else:
        index = sum(fed.values(), np.zeros((1, 1), dtype=np.int64))
        rows = len(next(iter(fed.values()), index))
    found = {axis: np.full((rows, 1), int(v), np.int64) for axis, v in tile.offsets}  # type: ignore[arg-type]
    zero = np.zeros((rows, 1), dtype=np.int64)
    for extent, stride, axis in reversed(tile.shard):
        index, digit = np.divmod(index, int(extent))  # type: ignore[arg-type]
        found[axis] = found.get(axis, zero) + digit * stride
    width = max((column.shape[1] for column in found.values()), default=1)
    found = {axis: np.broadcast_to(column, (rows, width)) for axis, column in found.items()}
    for extent, stride, axis in tile.replica:
        moved = np.arange(int(extent), dtype=np.int64) * int(stride)  # type: ignore[arg-type]
        found.setdefault(axis, np.broadcast_to(zero, (rows, width)))
        width *= int(extent)  # type: ignore[arg-type]
        found = {
            name: (column[:, :, None] + (moved if name is axis else moved * 0)).reshape(rows, width)
            for name, column in found.items()
        }
    if isinstance(layout, Swizzled) and m in found:
        found[m] = _swizzled(layout.swizzle, found[m])
    return found


def _tile_of(places: dict[Axis, NDArray[Any]], size: int, like: Tile) -> Tile | None:
    """The tile of so many elements with these places (elements x copies), or None.

    Raises:
        UndecidedError: too many copies to write as progressions.
    """
    split = without_copies(places)
    if split is None:
        return None
    elements, around, first = split
    iters = iters_of(elements, size)
    if iters is None:
        return None
    copies = Copies([], [])
    begin = dict(first)
    if around:
        copies.add(around)
    replica = copies.iters(begin)  # type: ignore[arg-type]
    if isinstance(replica, NoLayout):
        return None
    return like.rebuild(iters or [Iter(1, 1, m)], replica, {a: v for a, v in begin.items() if v})
