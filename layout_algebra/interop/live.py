"""Any other package's layout object, to ours: one entry point.

    from_object(tvm.tirx.layout.TileLayout(...))           # a TileLayout
    from_object(cute.make_layout(...))                     # a layout_algebra.cute.Layout
    from_object(gl.BlockedLayout(...), shape=(64, 64))     # a LinearLayout
    from_object(numpy_array)                               # a TileLayout

The package that an object's class is from says who reads it.  No package is imported: an object of
it could not be there if it were not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from layout_algebra.interop.cute_objects import from_cute_dsl, thread_values
from layout_algebra.interop.numpy_strides import from_array
from layout_algebra.interop.refusals import InteropError
from layout_algebra.interop.tirx_objects import from_tirx
from layout_algebra.interop.triton_objects import from_triton
from layout_algebra.maps import Map
from layout_algebra.values import Swizzled, Tile

#: What is understood, for the error.
UNDERSTOOD = (
    "TIRx (tvm.tirx, tvm_tirx): TileLayout, ComposeLayout, SwizzleLayout",
    "CuTe DSL (cutlass): Layout, ComposedLayout, Swizzle, tiled copies and MMAs",
    "Triton (triton): LinearLayout and Gluon's layouts, with shape= where they have none",
    "arrays with .shape and .strides, or .stride(): NumPy, PyTorch, CuPy",
)


def from_object(theirs: Any, shape: Sequence[int] | None = None) -> Any:
    """Our value of another package's layout, layout-like or array object.

    Args:
        theirs: the object; what is understood is listed in `UNDERSTOOD`.
        shape: the tensor's shape, for Gluon layouts that have none.

    Returns:
        A TileLayout or ComposeLayout (TIRx, arrays), a `layout_algebra.cute` value or a dict of
        thread-value layouts (CuTe DSL), a LinearLayout, PhaseSwizzle or TileLayout (Triton).  Ours
        come back as they are.

    Raises:
        InteropError: an object that is not understood, with the list of what is.
    """
    if isinstance(theirs, Tile | Swizzled | Map):
        return theirs
    package = type(theirs).__module__.partition(".")[0]
    if package == "triton":
        return from_triton(theirs, shape)
    if shape is not None:
        raise InteropError(f"shape= is for Gluon's layouts; got a {type(theirs).__name__}")
    reader = _READERS.get(package)
    if reader is not None:
        return reader(theirs)
    if hasattr(theirs, "shape") and (hasattr(theirs, "strides") or hasattr(theirs, "stride")):
        return from_array(theirs)
    known = "; ".join(UNDERSTOOD)
    raise InteropError(f"not understood: {_described(theirs)}. Understood are {known}")


def _from_cutlass(theirs: Any) -> Any:
    """A layout where it is one, else the thread-value layouts of an operation."""
    is_layout = any(hasattr(theirs, name) for name in ("stride", "outer", "num_bits"))
    return from_cute_dsl(theirs) if is_layout else thread_values(theirs)


def _described(theirs: Any) -> str:
    return f"a {type(theirs).__module__}.{type(theirs).__qualname__}"


_READERS: dict[str, Callable[[Any], Any]] = {
    "tvm": from_tirx,
    "tvm_tirx": from_tirx,
    "cutlass": _from_cutlass,
}
