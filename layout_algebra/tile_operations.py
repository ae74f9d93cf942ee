"""The operations as methods, with TIRx's names and order of arguments.

One-liners over algebra/, where each operation's file says what it does, requires and ensures.  They
return layouts of the caller's class.  Two keywords are ours: `target="cuda"` fuses thread axes
(TIRx takes it from its ambient state), and `decide` says who decides conditions on symbolic sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from layout_algebra.algebra import (
    canonicalize as canonical,
)
from layout_algebra.algebra import (
    edits,
    normal_form,
    recognise,
    scope,
    threads,
)
from layout_algebra.algebra import (
    group as grouping,
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
from layout_algebra.errors import LayoutError
from layout_algebra.values import Swizzled, Tile

Shape = Sequence[Size]
Region = Sequence[tuple[Size, Size]]


def plain(name: str, layout: object) -> Tile:
    """The layout, if it is a tile without a swizzle.

    Raises:
        LayoutError: it is not.
    """
    if not isinstance(layout, Tile):
        raise LayoutError(f"{name} is a TileLayout; got {layout!r}")
    return layout


def any_layout(name: str, layout: object) -> Tile | Swizzled:
    """The layout, if it is one.

    Raises:
        LayoutError: it is not.
    """
    if not isinstance(layout, Tile | Swizzled):
        raise LayoutError(f"{name} is a layout; got {layout!r}")
    return layout


class TileOperations(Tile):
    """What a tile can be asked and turned into."""

    # -- form ---------------------------------------------------------------------------------
    def canonicalize(self, *, target: Target | None = None, decide: Decide = STRUCTURALLY) -> Self:
        """TIRx's canonical form: units dropped, neighbours merged, copies ordered."""
        form = canonical.canonicalize(self, target, decide)
        return reported("canonicalize", form, layout=self, target=target)

    def normal_form(self) -> Self:
        """The one form of all tiles with this map (see algebra/normal_form.py for copies)."""
        return reported("normal_form", normal_form.normal_form(self), layout=self)

    def fuse(self, target: Target = "cuda") -> Self:
        """Thread axes rewritten onto the widest: laneid and warpid onto tx."""
        return threads.fuse(self, target)

    def split(self, level: str, *, decide: Decide | None = None) -> Self:
        """Thread axes taken apart at a level: tx at "warp" into warpid and laneid.

        Raises:
            LayoutError: an iter that does not fall apart there.
        """
        return threads.split(self, level, decide)

    def group(self, shape: Shape, *, decide: Decide | None = None) -> tuple[Self, tuple[int, ...]]:
        """Iters cut so that dimension d of the shape is shard[seps[d]:seps[d+1]]; and the seps.

        Raises:
            GroupError: the shape cannot be reached.
        """
        return reported("group", grouping.group(self, shape, decide), layout=self)

    def group_many(
        self, shapes: Sequence[Shape], *, decide: Decide | None = None
    ) -> tuple[Self, tuple[tuple[int, ...], ...]]:
        """One cutting for several shapes, and each one's separators.

        Raises:
            GroupError: shapes of other sizes, or boundaries that do not divide one another.
        """
        return reported("group_many", grouping.group_many(self, shapes, decide), layout=self)

    # -- questions ----------------------------------------------------------------------------
    def get_scope(self) -> tuple[str, str] | None:
        """(finest child, widest parent) of the thread axes: ("thread", "cta"); None without any.

        Raises:
            ScopeError: the thread axes do not chain.
        """
        return scope.get_scope(self)

    def check_well_formed(self) -> bool:
        """Whether TIRx accepts the layout; `why_ill_formed` has the reason."""
        return scope.why_ill_formed(self) is None

    def why_ill_formed(self) -> str | None:
        """Why TIRx would refuse the layout; None when it would not."""
        return scope.why_ill_formed(self)

    def is_trivial(self) -> bool:
        """Whether it is the identity on one memory axis."""
        return canonical.is_trivial(self)

    def is_swizzle(self) -> bool:
        """False: a tile has no swizzle."""
        return canonical.is_swizzle(self)

    def is_contiguous(self) -> bool:
        """Whether elements follow each other on m, row-major, without copies."""
        return canonical.is_contiguous(self)

    def is_trainium(self) -> bool:
        """Whether the shard's memory axes are all Trainium's: P, F, Bank."""
        return canonical.is_trainium(self)

    # -- products -----------------------------------------------------------------------------
    def tile(
        self,
        outer: Tile,
        outer_shape: Shape,
        inner_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Self:
        """This layout repeated over an outer one: place = span * outer(o) + self(n).

        Raises:
            GroupError: shapes of two ranks, or that a layout cannot be cut to.
        """
        outer = plain("outer", outer)
        result = tiling.tile(self, outer, outer_shape, inner_shape, target, decide)
        return reported(
            "tile",
            result,
            inner=self,
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
        """This layout repeated, row-major, to fill a shape.

        Raises:
            GroupError: a size that current_shape does not divide.
        """
        outer, outer_shape = tiling.repeats(self, to_shape, current_shape, decide)
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
        """left(o) + self(n) over the product of the shapes.

        Raises:
            GroupError: shapes of two ranks, or that a layout cannot be cut to.
        """
        left = plain("left", left)
        result = tiling.direct_sum(self, left, left_shape, right_shape, target, decide)
        return reported(
            "direct_sum",
            result,
            left=left,
            right=self,
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
        """The outer layout of which `tiled` is this one's tiling, or None."""
        tiled = any_layout("tiled", tiled)
        if isinstance(tiled, Swizzled):
            return None
        return recognise.is_tile_inner(self, tiled, tiled_shape, inner_shape, target, decide)

    def is_tile_outer(
        self,
        tiled: Tile | Swizzled,
        tiled_shape: Shape,
        outer_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Tile | Swizzled | None:
        """The inner layout whose tiling over this one is `tiled` (swizzled as that is), or None."""
        tiled = any_layout("tiled", tiled)
        found = recognise.is_tile_outer(
            self, tiled.affine, tiled_shape, outer_shape, target, decide
        )
        return (
            tiled.with_tile(found) if found is not None and isinstance(tiled, Swizzled) else found
        )

    def is_direct_sum_right(
        self,
        whole: Tile | Swizzled,
        interleaved_shape: Shape,
        right_shape: Shape,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Tile | None:
        """The left layout with which this one adds up to `whole`, or None."""
        whole = any_layout("whole", whole)
        if isinstance(whole, Swizzled):
            return None
        return recognise.is_direct_sum_right(
            self, whole, interleaved_shape, right_shape, target, decide
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
        """The right layout with which this one adds up to `whole`, or None."""
        whole = any_layout("whole", whole)
        if isinstance(whole, Swizzled):
            return None
        return recognise.is_direct_sum_left(
            self, whole, interleaved_shape, left_shape, target, decide
        )

    # -- parts and edits ----------------------------------------------------------------------
    def slice(
        self,
        shape: Shape,
        region: Region,
        *,
        target: Target | None = None,
        decide: Decide | None = None,
    ) -> Self | None:
        """The restriction to a region of (begin, end) pairs; None when it is no layout.

        Raises:
            CoordinateError: a region that is empty or not inside the shape.
            GroupError: a shape that the layout cannot be cut to.
        """
        found = slicing.slice_tile(self, shape, region, target, decide)
        if isinstance(found, NoLayout):
            return None
        return reported("slice", found, tile=self, shape=shape, region=region, target=target)

    def why_no_slice(
        self, shape: Shape, region: Region, *, decide: Decide | None = None
    ) -> str | None:
        """Why `slice` gives None; None when it gives a layout."""
        found = slicing.slice_tile(self, shape, region, None, decide)
        return found.reason if isinstance(found, NoLayout) else None

    def permute_dims(self, perm: Sequence[int]) -> Self:
        """Shard iters reordered: the k-th becomes shard[perm[k]]."""
        result = edits.permute_dims(self, perm)
        return reported("permute", result, layout=self, order=tuple(perm))

    def permute_by_groups(self, seps: Sequence[int], perm: Sequence[int]) -> Self:
        """Groups of shard iters reordered whole."""
        result = edits.permute_by_groups(self, seps, perm)
        order = [k for d in perm for k in range(seps[d], seps[d + 1])]
        return reported("permute", result, layout=self, order=tuple(order))

    def unpack(self, num: Size, axis: Axis | str = m) -> Self:
        """Each element becomes `num` consecutive ones."""
        on = Axis.get(axis)
        return reported("unpack", edits.unpack(self, num, on), layout=self, num=num, axis=on)

    def pack(self, num: Size, axis: Axis | str = m, *, decide: Decide | None = None) -> Self:
        """`num` consecutive elements become one.

        Raises:
            LayoutError: they are not consecutive, or a stride or offset is not divisible.
        """
        on = Axis.get(axis)
        result = edits.pack(self, num, on, decide)
        return reported("pack", result, layout=self, num=num, axis=on)

    def broadcast(self, num: Size, position: int = -1, axis: Axis | str = m) -> Self:
        """A new iter of stride 0 at a position of the shard (-1: at the end)."""
        result = edits.broadcast(self, num, position, axis)
        return reported("broadcast", result, layout=self, num=num, position=position)

    def storage(self) -> Self:
        """The part on memory and device axes: what one thread stores."""
        return edits.storage(self)
