# %% [markdown]
# # Finding a swizzle
#
# Say how the tile is written and read; `find_swizzle` gives the layout that serves all of it in
# the fewest wavefronts, and says why there is no better one.

# %%
from layout_algebra import (
    BankConflictFree,
    Buffer,
    ComposeLayout,
    Dim,
    S,
    TileLayout,
    Verdict,
    assert_proved,
)
from layout_algebra.synthesis import F2, PADDING, TMA_MODES, XOR, find_swizzle, pattern, rank

# %% [markdown]
# A tile of 128 x 64 float16. A warp writes four rows at a time, 16 bytes a lane, and reads columns
# of such vectors.

# %%
rows = TileLayout(S[(128, 64) : (64, 1)])
tile = Buffer((128, 64), "float16", rows, align=1024)
i, j = Dim("i", multiple_of=8, at_most=96), Dim("j", multiple_of=8, at_most=56)
r = Dim("r", multiple_of=4, at_most=124)
read = pattern(lambda lane, i, j: (i + lane, j), bytes=16, free=[i, j])
write = pattern(lambda lane, r: (r + lane // 8, lane % 8 * 8), bytes=16, free=[r])

for candidate in rank(tile, reads=[read], writes=[write], among=TMA_MODES):
    print(f"{candidate.name:5} {candidate.wavefronts} wavefronts")

# %%
found = find_swizzle(tile, reads=[read], writes=[write], among=XOR)
assert found.layout == ComposeLayout(3, 3, 3, rows)
print(found.layout)

# %% [markdown]
# No layout of any kind is better: as many wavefronts are needed for the bytes alone.

# %%
assert found.wavefronts == found.least
assert found.minimal.verdict is Verdict.PROVED
print(found.minimal.method)

# %% [markdown]
# The search counted; the prover then proves, for every position and every base address, that the
# accesses have no conflict.

# %%
assert found.proved
for access in found.accesses:
    assert_proved(BankConflictFree(access))
print(len(found.proofs), "proofs")

# %% [markdown]
# Padding serves the accesses as well, and takes more room:

# %%
padded = find_swizzle(tile, reads=[read], among=PADDING)
assert padded.layout == TileLayout(S[(128, 64) : (72, 1)])
print(padded.layout)

# %% [markdown]
# Not every pair of accesses has a perfect XOR. Here all of them were tried, and the best takes 384
# wavefronts; permuting the bits of the address reaches the bound of 128.

# %%
k, c = Dim("k", at_most=7), Dim("c", at_most=7)
square = Buffer((64, 64), "float16", TileLayout(S[(64, 64) : (64, 1)]), align=16)
near = pattern(lambda lane, k, c: (8 * k + lane, 8 * c), lanes=8, bytes=16, free=[k, c])
far = pattern(lambda lane, k, c: (8 * lane + k, 8 * c), lanes=8, bytes=16, free=[k, c])
one = find_swizzle(square, reads=[near, far], among=XOR)
more = find_swizzle(square, reads=[near, far], among=F2)
assert (one.wavefronts, more.wavefronts, more.least) == (384, 128, 128)
print(one.minimal.method)
print(more.layout)
