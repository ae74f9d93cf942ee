"""Operations on 8-iter layouts, beside the reference implementations.

    python -m tests.benchmarks.against_tirx

The references are C++ behind a Python API: apache-tvm-tirx (the `bench` extra) and apache-tvm 0.27,
whose API has slice and direct_sum too.  The two cannot be loaded into one process, so each is timed
in a process of its own, right after ours in the same process; ratios are quoted from there.
A package that is not installed is named and left out.
"""

from __future__ import annotations

import json
import subprocess
import sys

EXTENTS = (2, 3, 4, 5, 2, 3, 4, 5)
STRIDES = (1, 2, 6, 24, 120, 240, 720, 2880)
SHAPE = [120, 120]
REGION = [(0, 60), (10, 15)]
PACKAGES = {"apache-tvm-tirx": "tvm_tirx.tirx.layout", "apache-tvm": "tvm.tirx.layout"}
LARGE = 1 << 20  # the same layout with its slowest extent this large: the time must not grow

PROGRAM = """
import importlib, json, sys, timeit
from layout_algebra.layouts import TileLayout
from layout_algebra.notation import S

module, extents, strides, shape, region, large = json.loads(sys.argv[1])

def micros(call):
    call()
    count = max(20, int(0.02 / max(timeit.timeit(call, number=3) / 3, 1e-7)))
    return min(timeit.repeat(call, number=count, repeat=5)) / count * 1e6

def cases(tile, spec):
    inner = tile(spec[tuple(extents) : tuple(strides)])
    outer = tile(spec[(2, 3) : (3, 1)])
    wide = tile(spec[(large, *extents[1:]) : tuple(strides)])
    region_ = [tuple(pair) for pair in region]
    return {
        "canonicalize": lambda: inner.canonicalize(),
        "group": lambda: inner.group(shape),
        "tile": lambda: inner.tile(outer, [2, 3], shape),
        "direct_sum": lambda: inner.direct_sum(outer, [2, 3], shape),
        "slice": lambda: inner.slice(shape, region_),
        "canonicalize, 2^20 times as many elements": lambda: wide.canonicalize(),
        "group, 2^20 times as many elements": lambda: wide.group([large * 60, 120]),
    }

theirs = importlib.import_module(module)
ours_cases, their_cases = cases(TileLayout, S), cases(theirs.TileLayout, theirs.S)
out = {}
for name in ours_cases:
    try:
        reference = micros(their_cases[name])
    except AttributeError:
        reference = None
    out[name] = [micros(ours_cases[name]), reference]
print(json.dumps(out))
"""


def main() -> int:
    arguments = [EXTENTS, STRIDES, SHAPE, REGION, LARGE]
    for package, module in PACKAGES.items():
        call = [sys.executable, "-c", PROGRAM, json.dumps([module, *arguments])]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{package}: not timed ({done.stderr.strip().splitlines()[-1:]})")
            continue
        print(f"{package:<44} ours us  theirs us  ratio")
        for name, (ours, theirs) in json.loads(done.stdout).items():
            shown = "        -      -" if theirs is None else f"{theirs:9.1f}  {ours / theirs:5.2f}"
            print(f"  {name:<42} {ours:7.1f}  {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
