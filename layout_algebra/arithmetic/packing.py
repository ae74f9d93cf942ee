"""NumPy arrays in their physical arrangement, and back.

The packed array has a dimension for each axis of the map: first who owns a value (devices, blocks,
warps, lanes), then where in its storage the value lies.  Each element is written to all its places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_algebra.axes import SCOPES, Axis
from layout_algebra.errors import LayoutError

#: Memory axes that come before others of the same storage.
_FIRST = ("TLane", "Bank", "P")
#: Elements of the largest array that is made.
MOST = 1 << 31


def array_axes(names: Iterable[str]) -> tuple[str, ...]:
    """The axes as a packed array has its dimensions: owners, the widest first, then storage."""
    registered = {axis.name: k for k, axis in enumerate(Axis.registered())}

    def order(name: str) -> tuple[int, int, int]:
        axis = Axis.get(name)
        if axis.kind == "device":
            return 0, 0, registered[name]
        if axis.is_thread:
            return 1, SCOPES.index(axis.scope) if axis.scope else 0, registered[name]
        return 2, _FIRST.index(name) if name in _FIRST else len(_FIRST), registered[name]

    return tuple(sorted(names, key=order))


def packed(
    what: str,
    table: Mapping[str, NDArray[np.int64]],
    array: NDArray[Any],
    extents: Mapping[str, int],
    fill: Any,
) -> NDArray[Any]:
    """The array in its physical arrangement.

    Args:
        what: the layout, for messages.
        table: for each axis the places, over the elements and then their copies.
        array: the values.
        extents: sizes of dimensions, by axis; up to the highest place where none is given.
        fill: what places hold that no element has.

    Raises:
        LayoutError: a place outside the array, or two different values for one place.
    """
    axes = array_axes(table)
    sizes = _sizes(what, axes, table, extents)
    if not axes:  # one element in the one place
        return array.reshape(())
    if array.dtype.kind in "iu" and not _is_whole(fill):
        raise LayoutError(f"pack_array: places of {array.dtype} cannot be filled with {fill!r}")
    made = np.full(sizes, fill, dtype=array.dtype)
    places = tuple(_by_copy(table[axis], array) for axis in axes)
    values = np.broadcast_to(array.reshape(-1, 1), places[0].shape)
    made[places] = values
    lost = _differing(made[places], values)
    if lost.any():
        element, copy = (int(k) for k in np.argwhere(lost)[0])
        place = {axis: int(own[element, copy]) for axis, own in zip(axes, places, strict=True)}
        shown = ", ".join(f"{axis}={number}" for axis, number in place.items())
        index = tuple(int(k) for k in np.unravel_index(element, array.shape))
        raise LayoutError(
            f"pack_array: another element has the place of element {index}, {shown}, and another "
            f"value: an array can hold one of them ({what})"
        )
    return made


def unpacked(
    what: str,
    table: Mapping[str, NDArray[np.int64]],
    array: NDArray[Any],
    shape: Sequence[int],
) -> NDArray[Any]:
    """The values of the elements, from their physical arrangement; each from its first copy.

    Raises:
        LayoutError: an array of other dimensions or with too few places, or copies that differ.
    """
    axes = array_axes(table)
    if array.ndim != len(axes):
        raise LayoutError(
            f"unpack_array: the array has a dimension for each of ({', '.join(axes)}); got shape "
            f"{array.shape}"
        )
    _sizes(what, axes, table, dict(zip(axes, array.shape, strict=True)), verb="unpack_array")
    if not axes:
        return array.reshape(tuple(shape))
    count = prod(shape)
    places = tuple(table[axis].reshape(count, -1) for axis in axes)
    values = array[places]
    differ = _differing(values, values[:, :1])
    if differ.any():
        element, copy = (int(k) for k in np.argwhere(differ)[0])
        index = tuple(int(k) for k in np.unravel_index(element, tuple(shape)))
        raise LayoutError(
            f"unpack_array: copies of element {index} differ: {values[element, 0]} and "
            f"{values[element, copy]}"
        )
    return values[:, 0].reshape(tuple(shape))


def _is_whole(number: Any) -> bool:
    return not isinstance(number, float | np.floating) or float(number).is_integer()


def _by_copy(own: NDArray[np.int64], array: NDArray[Any]) -> NDArray[np.int64]:
    """Places as (element, copy)."""
    return own.reshape(array.size, -1)


def _sizes(
    what: str,
    axes: Sequence[str],
    table: Mapping[str, NDArray[np.int64]],
    extents: Mapping[str, int],
    verb: str = "pack_array",
) -> tuple[int, ...]:
    """The array's sizes, all places inside."""
    unknown = [axis for axis in extents if axis not in axes]
    if unknown:
        raise LayoutError(f"{verb}: no axis {unknown[0]!r}; there is ({', '.join(axes)})")
    found: list[int] = []
    for axis in axes:
        low, high = int(table[axis].min()), int(table[axis].max())
        size = extents.get(axis, high + 1)
        if isinstance(size, np.integer):
            size = int(size)
        if type(size) is not int or low < 0 or high >= size:
            raise LayoutError(
                f"{verb}: places on {axis} are {low} to {high}, and the array has "
                f"{size!r} of them, from 0 ({what})"
            )
        found.append(size)
    if prod(found) > MOST:
        raise LayoutError(f"{verb}: an array of {' x '.join(map(str, found))} places is too large")
    return tuple(found)


def _differing(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
    """Where two arrays differ; not-a-number is itself, also as a part of a value."""
    if one.dtype.names is not None:
        fields = [_differing(one[name], other[name]) for name in one.dtype.names]
        return np.logical_or.reduce(fields) if fields else np.zeros(one.shape, dtype=bool)
    if one.dtype.kind == "c":
        return _differing(np.real(one), np.real(other)) | _differing(np.imag(one), np.imag(other))
    return (one != other) & ~((one != one) & (other != other))
