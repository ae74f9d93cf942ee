"""Methods of layouts that move NumPy arrays; the work is done by arithmetic/packing.py.

fragment = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
held = fragment.pack_array(array)           # (laneid, m): what each lane has in its slots
fragment.unpack_array(held, (32, 4))        # the array
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from layout_algebra.errors import LayoutError
from layout_algebra.semantics import layout_map
from layout_algebra.values import AnyLayout, layout_size


class ArrayOperations:
    """Arrays in the physical arrangement of a layout, and back."""

    def packed_axes(self: AnyLayout) -> tuple[str, ...]:  # type: ignore[misc]
        """The axes of a packed array's dimensions: owners, the widest first, then the storage."""
        from layout_algebra.arithmetic.packing import array_axes

        return array_axes(layout_map(self).axes)

    def pack_array(
        self: AnyLayout,  # type: ignore[misc]
        array: Any,
        *,
        extents: Mapping[str, int] | None = None,
        fill: Any = 0,
    ) -> Any:
        """A NumPy array of the logical elements, moved into its physical arrangement.

        Args:
            array: the values, in the logical shape; as many as the layout has elements.
            extents: sizes of the result's dimensions, by axis; up to the highest place where none
                is given.
            fill: what places hold that no element has.

        Returns:
            An array with a dimension for each axis, `packed_axes()`: who owns a value, then where
            in its storage it lies.  Every copy of an element is written.

        Raises:
            LayoutError: another number of elements, a place outside the result, or elements that
                share a place and differ.
        """
        from layout_algebra.arithmetic import packing

        values = packing.np.asarray(array)
        if values.size != layout_size(self):
            raise LayoutError(
                f"pack_array: {layout_size(self)} elements ({self}); got {values.shape}"
            )
        table = layout_map(self, values.shape or (1,)).table()
        return packing.packed(str(self), table, values, extents or {}, fill)

    def unpack_array(
        self: AnyLayout,  # type: ignore[misc]
        packed: Any,
        shape: Sequence[int] | None = None,
    ) -> Any:
        """The logical elements of an array in its physical arrangement; undoes `pack_array`.

        Args:
            packed: a dimension for each of `packed_axes()`; places that no element has are ignored.
            shape: the logical shape (the shard's extents when None).

        Raises:
            LayoutError: other dimensions, too few places, or copies of an element that differ.
        """
        from layout_algebra.arithmetic import packing

        source = layout_map(self, shape)
        if source.size != layout_size(self):
            raise LayoutError(
                f"unpack_array: {layout_size(self)} elements ({self}); got shape {shape}"
            )
        table = source.table()
        return packing.unpacked(str(self), table, packing.np.asarray(packed), source.extents)  # type: ignore[arg-type]
