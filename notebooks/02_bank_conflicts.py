# %% [markdown]
# # Bank conflicts, and how a swizzle removes them
#
# Shared memory is 32 banks of 4 bytes. When lanes that are served together want different words of
# one bank, they are served one after the other.

# %%
from layout_algebra import (
    BankConflictFree,
    Buffer,
    ComposeLayout,
    ConflictDegree,
    Dim,
    S,
    TileLayout,
    Vectorizable,
    Verdict,
    assert_proved,
    prove,
)
from layout_algebra.memory import served

# %% [markdown]
# A 64 x 64 tile of float16, row by row. Each of 32 lanes reads 16 bytes of its own row: a column
# of vectors. `j` stands for every column where such a vector can begin.

# %%
rows = TileLayout(S[(64, 64) : (64, 1)])
plain = Buffer((64, 64), "float16", rows, align=1024)
j = Dim("j", multiple_of=8, at_most=56)


def column(buffer):
    """16 bytes of each of 32 rows, at column j."""
    return buffer.read(lambda lane, j: (lane, j), bytes=16, free=[j])


refuted = prove(BankConflictFree(column(plain)))
assert refuted.verdict is Verdict.REFUTED
refuted

# %% [markdown]
# How bad is it? A row is 128 bytes, so all 32 lanes begin in the same bank. They are served by
# quarters of the warp: 8 lanes, one after the other.

# %%
before = served(column(plain), j=0)
assert (before.degree, before.wavefronts, before.least) == (8, 32, 4)
print(f"{before.degree} words of one bank; {before.wavefronts} wavefronts, {before.least} would do")

# %% [markdown]
# The swizzle XORs the row's lowest bits into the number of the vector: (3, 3, 3) on elements,
# which is 128B on bytes. Rows that met in one bank are spread over all of them.

# %%
swizzled = Buffer((64, 64), "float16", ComposeLayout(3, 3, 3, rows), align=1024)
after = served(column(swizzled), j=0)
assert (after.degree, after.wavefronts) == (1, 4)
after

# %% [markdown]
# That was one column. The claim is about every column, every lane, and every address that the
# buffer may have:

# %%
assert_proved(BankConflictFree(column(swizzled)) & Vectorizable(column(swizzled)))
print(assert_proved(ConflictDegree(column(plain), at_most=8)).verdict)

# %% [markdown]
# Padding is the other way. With rows `16*h + 8` elements apart (an odd number of 16-byte units),
# there is no conflict for any `h`; with an even number there is.

# %%
h = Dim("h", at_most=500)
odd = Buffer((32, 8), "float16", TileLayout(S[(32, 8) : (16 * h + 8, 1)]), align=16)
even = Buffer((32, 8), "float16", TileLayout(S[(32, 8) : (16 * h + 16, 1)]), align=16)
assert_proved(BankConflictFree(odd.read(lambda lane: (lane, 0), bytes=16)))
found = prove(BankConflictFree(even.read(lambda lane: (lane, 0), bytes=16)))
assert found.verdict is Verdict.REFUTED
print("odd: free of conflicts; even:", found.verdict)
