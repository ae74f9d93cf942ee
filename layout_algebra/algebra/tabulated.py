"""The layout of a finite map, found by looking at every place; or the certainty that there is none.

The elements' least copies must be a table of iters (table_form.py), their copies one sum of
progressions (copy_sets.py).  A map is a swizzled tile exactly when some swizzle, undone, leaves a
tile: swizzles whose fields lie within the bits of the map's places are tried one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from layout_algebra.algebra.copy_sets import Copies, without_copies
from layout_algebra.algebra.no_layout import NoLayout, UndecidedError
from layout_algebra.algebra.table_form import iters_of
from layout_algebra.axes import Axis, m
from layout_algebra.errors import CoordinateError
from layout_algebra.maps import Map
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Places (elements times copies) up to which every one is looked at, under every swizzle.
MOST_PLACES = 1 << 15

#: Places of all elements: axis -> array of elements x copies.
Places = dict[Axis, "NDArray[Any]"]


def tabulated(f: Map, swizzles: bool = True) -> AnyLayout | NoLayout:
    """The layout that a map is: flat index -> places.

    Args:
        f: a map with numbers for all sizes, and no guard.
        swizzles: whether tiles under a swizzle will do as well.

    Raises:
        UndecidedError: symbolic, restricted by a guard, or more than MOST_PLACES places.
    """
    count = None if f.is_symbolic else f.size * f.copies
    if not isinstance(count, int):
        raise UndecidedError("symbolic sizes cannot be looked at one by one")
    if count > MOST_PLACES:
        raise UndecidedError(f"{count} places are more than the {MOST_PLACES} that are looked at")
    if f.guard:
        raise UndecidedError("a layout has all elements of a shape; this map leaves some out")
    size = int(f.size)  # type: ignore[arg-type]
    try:
        table = f.table()
    except CoordinateError as error:  # numbers beyond machine integers
        raise UndecidedError(str(error)) from error
    places = {Axis.get(a): column.reshape(size, -1) for a, column in table.items()}
    found = _tile_of(places, size)
    if isinstance(found, Tile) or not swizzles or m not in places:
        return found
    return _under_some_swizzle(places, size, found)


def _under_some_swizzle(places: Places, size: int, otherwise: NoLayout) -> AnyLayout | NoLayout:
    reach = int(abs(places[m]).max()).bit_length()
    signed = int(places[m].min()) < 0
    certain = otherwise.certain
    for swizzle in _candidates(reach, signed):
        found = _tile_of({**places, m: _swizzled(swizzle, places[m])}, size)  # its own inverse
        if isinstance(found, Tile):
            return Swizzled(swizzle, found)
        certain = certain and found.certain
    return NoLayout(
        f"{otherwise.reason}; nor is it a tile under a swizzle within the {reach} bits of its "
        "places",
        certain,
    )


def _candidates(bits: int, signed: bool) -> Iterator[Swizzle]:
    """Every swizzle that can tell places of so many bits apart, short ones first.

    The field that is written begins within the bits, the one that is read lies in them; of negative
    places all bits above are set, so that there a field may also be read above.
    """
    for length in range(1, bits + 1):
        for shift in range(length, bits + 1):
            for low in range(bits - length + 1):
                if low + length + shift <= bits or (signed and low < bits):
                    yield Swizzle(low, length, shift)
                if low + shift <= bits:
                    yield Swizzle(low, length, shift, swizzle_inner=False)


def _swizzled(swizzle: Swizzle, address: NDArray[Any]) -> NDArray[Any]:
    mask = (1 << swizzle.swizzle_len) - 1
    high, low = swizzle.per_element + swizzle.atom_len, swizzle.per_element
    source, target = (high, low) if swizzle.swizzle_inner else (low, high)
    return address ^ (((address >> source) & mask) << target)


def _tile_of(places: Places, size: int) -> Tile | NoLayout:
    """The tile of so many elements with these places."""
    split = without_copies(places)
    if split is None:
        return NoLayout("its elements' copies do not lie alike")
    elements, around, begin = split
    iters = iters_of(elements, size)
    if isinstance(iters, NoLayout):
        return iters
    copies = Copies([], [])
    if around:
        copies.add(around)
    offset = dict(begin)
    try:
        replica = copies.iters(offset)  # type: ignore[arg-type]
    except UndecidedError as error:
        return NoLayout(str(error), certain=False)
    if isinstance(replica, NoLayout):
        return replica
    return Tile.make(iters or [Iter(1, 1, m)], replica, {a: v for a, v in offset.items() if v})
