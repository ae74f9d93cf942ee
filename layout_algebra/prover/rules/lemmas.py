"""The names of the theorems in proofs/ that license the rules."""

from __future__ import annotations

SORTED = "rule: sorted strides do not collide"
BIJECTION = "rule: a swizzle is a bijection"
PERIODS = "rule: a swizzle keeps every aligned period"
MERGING = "rule: merging iters keeps the map"
COPIES = "rule: merging copies keeps the set"
INTERVALS = "rule: sums stay in the sum of the ranges"
RESIDUES = "rule: other residues do not meet"
DENSE = "rule: strides without a gap cover"
DIVISION = "rule: a division step"
COUNTING = "rule: as many places as elements"
XORS = "rule: an XOR leaves the blocks above it"
