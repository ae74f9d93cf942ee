"""TIRx's own layout objects, in and out, by what they have.

    from tvm_tirx.tirx import layout as tirx        # or tvm.tirx.layout

    ours = from_tirx(tirx.TileLayout(tirx.S[(8, 64) : (64, 1)]))
    theirs = to_tirx(ours, tirx)                    # their module makes the object

Neither package is imported here.  Read are `shard`, `replica` and `offset` of a TileLayout, whose
iters have `extent`, `stride` and `axis.name`, and the four parameters of a ComposeLayout.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layout_algebra.interop.refusals import InteropError, checked_layout
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled


def from_tirx(theirs: Any) -> TileLayout | ComposeLayout | Swizzle:
    """Our layout of a TIRx TileLayout or ComposeLayout (or the Swizzle of a SwizzleLayout).

    Raises:
        InteropError: another object, or a size that is not a number.
        AxisError: an axis that is not registered here.
    """
    if all(hasattr(theirs, name) for name in ("shard", "replica", "offset")):
        offset = {axis.name: _int(value, "an offset") for axis, value in theirs.offset.items()}
        return TileLayout.from_iters(_iters(theirs.shard), _iters(theirs.replica), offset)
    parameters = ("per_element", "swizzle_len", "atom_len", "swizzle_inner")
    if all(hasattr(theirs, name) for name in parameters):
        p, b, a = (_int(getattr(theirs, name), name) for name in parameters[:3])
        swizzle = Swizzle(p, b, a, bool(theirs.swizzle_inner))
        if not hasattr(theirs, "tile_layout"):
            return swizzle
        tile = from_tirx(theirs.tile_layout)
        if not isinstance(tile, TileLayout):
            raise InteropError(f"the tile of a ComposeLayout is a TileLayout; got {tile}")
        return ComposeLayout._from_parts(swizzle, tile)
    raise InteropError(
        "a TIRx layout has shard, replica and offset, or per_element, swizzle_len, atom_len and "
        f"swizzle_inner; got {type(theirs).__name__}"
    )


def to_tirx(layout: AnyLayout, module: Any) -> Any:
    """The TIRx object of a layout.

    Args:
        layout: a layout with numbers for sizes.
        module: the module that makes it, with TileLayout, ComposeLayout and Iter: `tvm.tirx.layout`
            or `tvm_tirx.tirx.layout`.

    Raises:
        InteropError: no layout, Dims, or a module without these classes.
    """
    checked_layout("the layout of to_tirx", layout)
    if not all(hasattr(module, name) for name in ("TileLayout", "ComposeLayout", "Iter", "Axis")):
        raise InteropError(
            "module= has TileLayout, ComposeLayout, Iter and Axis, as tvm.tirx.layout has; got "
            f"{module!r}"
        )
    if layout.is_symbolic:
        raise InteropError(f"a TIRx object is made of numbers: evaluate the Dims of {layout}")
    if isinstance(layout, Swizzled):
        s = layout.swizzle
        tile = to_tirx(layout.tile_layout, module)
        return module.ComposeLayout(s.per_element, s.swizzle_len, s.atom_len, tile, s.swizzle_inner)

    def iters(ours: Iterable[Iter]) -> list[Any]:
        return [module.Iter(extent, stride, axis.name) for extent, stride, axis in ours]

    offset = {module.Axis.get(axis.name): value for axis, value in layout.offsets}
    return module.TileLayout.from_iters(iters(layout.shard), iters(layout.replica), offset)


def _iters(theirs: Iterable[Any]) -> list[tuple[int, int, str]]:
    return [
        (_int(it.extent, "an extent"), _int(it.stride, "a stride"), it.axis.name) for it in theirs
    ]


def _int(value: Any, what: str) -> int:
    """A Python int, or a constant expression that holds one."""
    held = getattr(value, "value", value)
    if type(held) is not int:
        raise InteropError(f"{what} is a number here, not the expression {value}")
    return held
