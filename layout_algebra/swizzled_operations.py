"""The operations on swizzled tiles as methods: on the tile, the swizzle kept.

The names and arguments are those of tile_operations.py; algebra/swizzled.py says what the swizzle
means for each.
"""

from __future__ import annotations

from typing import Self

from layout_algebra.algebra import (
    canonicalize as canonical,
)
from layout_algebra.algebra import (
    edits,
    normal_form,
    recognise,
    scope,
    swizzled,
)
from layout_algebra.algebra import (
    slice as slicing,
)
from layout_algebra.algebra import (
    tile as tiling,
)
from layout_algebra.algebra.checking import reported
from layout_algebra.algebra.deciding import STRUCTURALLY, Decide
from layout_algebra.algebra.no_layout import NoLayout
from layout_algebra.algebra.threads import Target
from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size
from layout_algebra.tile_operations import Region, Shape, any_layout, plain
from layout_algebra.values import Swizzled, Tile


class SwizzledOperations(Swizzled):
    """The same for swizzled tiles: operations on the tile, the swizzle kept."""

    def canonicalize(self, *, target: Target | None = None, decide: Decide = STRUCTURALLY) -> Self:
        """The same swizzle over the canonical tile."""
        form = self.with_tile(canonical.canonicalize(self.tile_layout, target, decide))
        return reported("canonicalize", form, layout=self, target=target)

    def normal_form(self) -> Tile | Swizzled:
        """The same swizzle over the normal tile; the tile alone where the swizzle does nothing."""
        return reported("normal_form", normal_form.normal_form(self), layout=self)

    def get_scope(self) -> tuple[str, str] | None:
        """The tile's scope."""
        return scope.get_scope(self)

    def check_well_formed(self) -> bool:
        """Whether TIRx accepts the layout (places on m only); `why_ill_formed` has the reason."""
        return scope.why_ill_formed(self) is None

    def why_ill_formed(self) -> str | None:
        """Why TIRx would refuse the layout; None when it would not."""
        return scope.why_ill_formed(self)

    def is_trivial(self) -> bool:
        """False: a swizzle is not the identity."""
        return canonical.is_trivial(self)

    def is_swizzle(self) -> bool:
        """Whether it is a swizzle over the identity."""
        return canonical.is_swizzle(self)

    def is_contiguous(self) -> bool:
        """False: a swizzle moves elements."""
        return canonical.is_contiguous(self)

    def is_trainium(self) -> bool:
        """False: Trainium's layouts have no swizzle."""
        return canonical.is_trainium(self)

    def tile(
        self,
        outer: Tile,
        outer_shape: Shape,
        inner_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Self:
        """The tile repeated over an outer layout; the swizzle acts on the final place."""
        outer = plain("outer", outer)
        inner = swizzled.tile_over(self, inner_shape)
        result = self.with_tile(tiling.tile(inner, outer, outer_shape, inner_shape, target, decide))
        return reported(
            "tile",
            result,
            inner=inner,
            outer=outer,
            outer_shape=outer_shape,
            inner_shape=inner_shape,
            target=target,
        )

    def tile_to(
        self,
        to_shape: Shape,
        current_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Self:
        """The tile repeated, row-major, to fill a shape."""
        outer, outer_shape = tiling.repeats(self.tile_layout, to_shape, current_shape, decide)
        return self.tile(outer, outer_shape, current_shape, target=target, decide=decide)

    def direct_sum(
        self,
        left: Tile,
        left_shape: Shape,
        right_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Self:
        """left(o) + tile(n), under the swizzle."""
        left = plain("left", left)
        right = swizzled.tile_over(self, right_shape)
        result = self.with_tile(
            tiling.direct_sum(right, left, left_shape, right_shape, target, decide)
        )
        return reported(
            "direct_sum",
            result,
            left=left,
            right=right,
            left_shape=left_shape,
            right_shape=right_shape,
            target=target,
        )

    def is_tile_inner(
        self,
        tiled: Tile | Swizzled,
        tiled_shape: Shape,
        inner_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Tile | None:
        """The outer layout, when both have one swizzle and the tiles stand so; or None."""
        tiled = any_layout("tiled", tiled)
        if not isinstance(tiled, Swizzled) or tiled.swizzle != self.swizzle:
            return None
        inner = swizzled.tile_over(self, inner_shape)
        whole = swizzled.tile_over(tiled, tiled_shape)
        return recognise.is_tile_inner(inner, whole, tiled_shape, inner_shape, target, decide)

    def is_tile_outer(
        self,
        tiled: Tile | Swizzled,
        tiled_shape: Shape,
        outer_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> None:
        """None: a swizzled layout is never the outer one."""
        any_layout("tiled", tiled)
        return None

    def is_direct_sum_right(
        self,
        whole: Tile | Swizzled,
        interleaved_shape: Shape,
        right_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Tile | None:
        """The left layout, when both have one swizzle and the tiles add up so; or None."""
        whole = any_layout("whole", whole)
        if not isinstance(whole, Swizzled) or whole.swizzle != self.swizzle:
            return None
        return recognise.is_direct_sum_right(
            swizzled.tile_over(self, right_shape),
            swizzled.tile_over(whole, interleaved_shape),
            interleaved_shape,
            right_shape,
            target,
            decide,
        )

    def is_direct_sum_left(
        self,
        whole: Tile | Swizzled,
        interleaved_shape: Shape,
        left_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Tile | None:
        """The right layout, when both have one swizzle and the tiles add up so; or None."""
        whole = any_layout("whole", whole)
        if not isinstance(whole, Swizzled) or whole.swizzle != self.swizzle:
            return None
        return recognise.is_direct_sum_left(
            swizzled.tile_over(self, left_shape),
            swizzled.tile_over(whole, interleaved_shape),
            interleaved_shape,
            left_shape,
            target,
            decide,
        )

    def slice(
        self,
        shape: Shape,
        region: Region,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Self | None:
        """The restriction to a region, under the same swizzle; None when it is no layout."""
        tile = swizzled.tile_over(self, shape)
        found = slicing.slice_tile(tile, shape, region, target, decide)
        if isinstance(found, NoLayout):
            return None
        result = self.with_tile(found)
        return reported("slice", result, tile=tile, shape=shape, region=region, target=target)

    def why_no_slice(
        self, shape: Shape, region: Region, *, decide: Decide | None = None
    ) -> str | None:
        """Why `slice` gives None; None when it gives a layout."""
        found = slicing.slice_tile(swizzled.tile_over(self, shape), shape, region, None, decide)
        return found.reason if isinstance(found, NoLayout) else None

    def unpack(self, num: Size, axis: Axis | str = m) -> Self:
        """Each element becomes `num` consecutive ones: on m a power of two, by which per_element
        grows; on another axis the swizzle stays."""
        on = Axis.get(axis)
        swizzle = edits.repacked_swizzle(self.swizzle, num, on, wider=True)
        result = self._from_parts(swizzle, edits.unpack(self.tile_layout, num, on))
        return reported("unpack", result, layout=self, num=num, axis=on)

    def pack(self, num: Size, axis: Axis | str = m, *, decide: Decide | None = None) -> Self:
        """`num` consecutive elements become one: on m a power of two that the swizzle keeps
        together; on another axis the swizzle stays."""
        on = Axis.get(axis)
        swizzle = edits.repacked_swizzle(self.swizzle, num, on, wider=False)
        result = self._from_parts(swizzle, edits.pack(self.tile_layout, num, on, decide))
        return reported("pack", result, layout=self, num=num, axis=on)

    def broadcast(self, num: Size, position: int = -1, axis: Axis | str = m) -> Self:
        """A new iter of stride 0 in the tile."""
        result = self.with_tile(edits.broadcast(self.tile_layout, num, position, axis))
        return reported("broadcast", result, layout=self, num=num, position=position)

    def storage(self) -> Self:
        """The tile without thread axes, under the same swizzle."""
        return self.with_tile(edits.storage(self.tile_layout))
