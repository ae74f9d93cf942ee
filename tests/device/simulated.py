"""Runs kernels and device functions in the CUDA simulator, and prints what they store as JSON.

    NUMBA_ENABLE_CUDASIM=1 python -m tests.device.simulated

The variable has to be set before numba is loaded, so this is a process of its own.  The layouts are
drawn as in `test_simulator`, which compares.
"""

from __future__ import annotations

import json
import random
import sys
import warnings

import numpy as np
from numba import cuda

from layout_algebra.device.functions import device_function
from layout_algebra.device.kernels import exec_source, kernel_of
from tests.device.draws import draw_layout, draw_map

LAYOUTS, MAPS, THREADS = 12, 6, 32


def drawn():
    """(a layout or map, its kernel), the same in every process."""
    for number in range(LAYOUTS):
        layout, _ = draw_layout(random.Random(f"e {number}"))  # five with copies
        yield layout, kernel_of(layout)
    for number in range(MAPS):
        source, _ = draw_map(random.Random(f"simulated {number}"), guarded=number % 2 == 0)
        yield source, kernel_of(source)


def main() -> None:
    warnings.simplefilter("ignore")
    found = []
    for source, kernel in drawn():
        word = np.uint32 if kernel.width == 32 else np.uint64
        outs = [np.zeros(kernel.size + 3, dtype=word) for _ in kernel.outputs]
        launched = cuda.jit(exec_source(kernel.source, kernel.name, {"cuda": cuda}))
        launched[-(-kernel.size // THREADS), THREADS](*outs, kernel.size)
        place = device_function(source)
        called = np.zeros((kernel.size, max(1, len(kernel.outputs))), dtype=np.int64)

        def user(given, out, place=place):
            i = cuda.grid(1)
            if i < out.shape[0]:
                values = place(*given[i])
                values = values if isinstance(values, tuple) else (values,)
                for k, value in enumerate(values):
                    out[i, k] = value

        cuda.jit(user)[-(-kernel.size // THREADS), THREADS](inputs(source, kernel), called)
        found.append({"stored": [out.tolist() for out in outs], "called": called.tolist()})
    json.dump(found, sys.stdout)


def inputs(source, kernel) -> np.ndarray:
    """What the device function takes for each element: the index and the copy, or coordinates."""
    flat = np.arange(kernel.size)
    if hasattr(source, "map"):
        columns = [flat // kernel.copies] + ([flat % kernel.copies] if kernel.copies > 1 else [])
        return np.stack(columns, axis=1)
    columns = []
    for variable in reversed(source.coordinates):
        flat, digit = np.divmod(flat, variable.extent)
        columns.append(digit + variable.low)
    return np.stack(columns[::-1], axis=1)


if __name__ == "__main__":
    main()
