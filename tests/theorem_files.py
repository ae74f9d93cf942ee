"""Small theorem files for the tests of runs and of the command line."""

from pathlib import Path

START = """
import os, sys, time
from layout_algebra import *
from layout_algebra.theorems import theorem

tile = TileLayout(S[(8, 64) : (64, 1)])
K, ld = Dim("K"), Dim("ld")

def declare(name, make, **more):
    theorem(name, source="a test", **more)(make)
"""

GOOD = """
declare("row-major is injective", lambda: Injective(tile))
declare("a swizzle fills the box", lambda: Bijective(ComposeLayout(3, 3, 3, tile), {"m": 512}))
declare("padded, for all ld", lambda: (Injective(TileLayout(S[(8, K) : (ld, 1)])), [ld >= K]))
declare("by the solver", lambda: Injective(tile), method="solver")
declare(
    "strides that collide",
    lambda: Injective(TileLayout(S[(3, 4, 5) : (20, 7, 1)])),
    expect=Verdict.REFUTED,
    note="three strides, none of them above the reach of the others",
)
"""

RAISES = 'declare("raises", lambda: [][1])\n'
WRONG = 'declare("is not so", lambda: Injective(TileLayout(S[4 : 0])))\n'
UNDECIDED = """
other = TileLayout(S[(3, 4, 5) : (20, 7, 1)])
declare("too hard for structure", lambda: Injective(other), method="structure")
"""
VACUOUS = 'declare("from nothing", lambda: (Injective(tile), [K >= 3, K <= 2]))\n'
DIES = 'declare("dies", lambda: os._exit(3))\n'
SLOW = 'declare("takes its time", lambda: time.sleep(60) or Injective(tile))\n'


def write(folder: Path, *parts: str, name: str = "theorems.py") -> Path:
    """A theorem file of these parts."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(START + "\n".join(parts), encoding="utf-8")
    return path


def without_times(data):
    """A ledger's JSON without what differs from run to run."""
    if isinstance(data, dict):
        return {
            key: without_times(value)
            for key, value in data.items()
            if key != "run" and not key.endswith("seconds")
        }
    return [without_times(item) for item in data] if isinstance(data, list) else data
