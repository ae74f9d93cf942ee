"""The process in which kernels run in numba's CUDA simulator.

Started by simulator.py, with NUMBA_ENABLE_CUDASIM=1, since numba reads that when it is first
imported.  A line of JSON in is a kernel, a line out is what it stored, one list for each output.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    import numba
    import numba.cuda
    import numpy as np

    from layout_algebra.device.kernels import exec_source

    library: Any = numba  # the simulator stands in for what its types describe
    cuda = library.cuda
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a kernel prints is not an answer
    print(json.dumps({"simulated": bool(library.config.ENABLE_CUDASIM)}), file=answers, flush=True)
    names = {"cuda": cuda, "uint32": np.uint32, "uint64": np.uint64}
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        word = {32: np.uint32, 64: np.uint64}[asked["width"]]
        kernel = cuda.jit(exec_source(asked["source"], asked["name"], names))
        outs = [np.full(asked["size"], word(asked["poison"])) for _ in range(asked["outputs"])]
        grid = -(-asked["size"] // asked["block"])
        with np.errstate(over="ignore"):
            kernel[grid, asked["block"]](*outs, word(asked["size"]))
        print(json.dumps([out.tolist() for out in outs]), file=answers, flush=True)


if __name__ == "__main__":
    main()
