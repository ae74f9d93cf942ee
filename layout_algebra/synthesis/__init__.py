"""Synthesis: find the layout of shared memory that serves given accesses best.

from layout_algebra.synthesis import TMA_MODES, XOR, find_swizzle, pattern

tile = Buffer((128, 64), "float16", TileLayout(S[(128, 64) : (64, 1)]), align=1024)
i, j = Dim("i", multiple_of=8, at_most=96), Dim("j", multiple_of=8, at_most=56)
column = pattern(lambda lane, i, j: (i + lane, j), bytes=16, free=[i, j])
found = find_swizzle(tile, reads=[column], among=TMA_MODES)
found.layout                     # ComposeLayout(3, 3, 3, S[(128, 64) : (64, 1)])
found.minimal.verdict            # PROVED: no layout takes fewer wavefronts
"""

from layout_algebra.synthesis.errors import SynthesisError
from layout_algebra.synthesis.families import F2, PADDING, TMA_MODES, XOR, Family
from layout_algebra.synthesis.finding import find_swizzle, rank
from layout_algebra.synthesis.patterns import Pattern, pattern
from layout_algebra.synthesis.results import Candidate, Found, Least

__all__ = [
    "F2",
    "PADDING",
    "TMA_MODES",
    "XOR",
    "Candidate",
    "Family",
    "Found",
    "Least",
    "Pattern",
    "SynthesisError",
    "find_swizzle",
    "pattern",
    "rank",
]
