"""Notations of other projects, in and out, each way out with its proof.

    from layout_algebra.interop import LinearLayout, to_linear, tile_from_linear
    from layout_algebra.interop import PhaseSwizzle, from_strides, to_strides, recast, from_object

    to_linear(layout, (64, 64))              # Triton's linear layouts; tile_from_linear goes back
    PhaseSwizzle(8, 2, 4).to_compose(16, 32) # (vec, per_phase, max_phase) as one (B, M, S)
    to_strides(layout, (64, 64), itemsize=2) # NumPy and PyTorch
    recast(layout, 16, 32)                   # elements of another width
    from_object(theirs)                      # objects of TIRx, CuTe DSL, Triton, NumPy, PyTorch

What another notation cannot say is refused by `InteropError`, whose witness is an element that
shows it.
"""

from __future__ import annotations

from layout_algebra.interop.cute_objects import (
    from_cute_dsl,
    thread_value_map,
    thread_values,
    to_cute_dsl,
)
from layout_algebra.interop.linear_export import to_linear
from layout_algebra.interop.linear_import import tile_from_linear
from layout_algebra.interop.live import from_object
from layout_algebra.interop.numpy_strides import Strides, from_array, from_strides, to_strides
from layout_algebra.interop.phases import Composed, PhaseSwizzle
from layout_algebra.interop.recast import recast, recast_claim
from layout_algebra.interop.refusals import Exported, InteropError
from layout_algebra.interop.tirx_objects import from_tirx, to_tirx
from layout_algebra.interop.triton import LinearLayout, from_linear
from layout_algebra.interop.triton_objects import from_triton, to_triton

__all__ = [
    "Composed",
    "Exported",
    "InteropError",
    "LinearLayout",
    "PhaseSwizzle",
    "Strides",
    "from_array",
    "from_cute_dsl",
    "from_linear",
    "from_object",
    "from_strides",
    "from_tirx",
    "from_triton",
    "recast",
    "recast_claim",
    "thread_value_map",
    "thread_values",
    "tile_from_linear",
    "to_cute_dsl",
    "to_linear",
    "to_strides",
    "to_tirx",
    "to_triton",
]
