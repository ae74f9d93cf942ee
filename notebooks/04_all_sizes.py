# %% [markdown]
# # Proofs for all sizes
#
# A test tries some shapes. A proof with symbolic sizes is about every shape, and the assumptions
# that it needs are part of it.

# %%
from layout_algebra import (
    Bijective,
    Dim,
    Equivalent,
    Injective,
    Inverse,
    Map,
    S,
    TileLayout,
    Verdict,
    assert_proved,
    inverse,
    prove,
)

# %% [markdown]
# A row-major matrix cut into strips of 8 rows is the same matrix, for every number of rows that 8
# divides and every number of columns.

# %%
M, N = Dim("M", multiple_of=8), Dim("N")
strips = TileLayout(S[(M // 8, 8, N) : (8 * N, N, 1)])
matrix = TileLayout(S[(M, N) : (N, 1)])
same = assert_proved(Equivalent(strips, matrix))
print(same.verdict, "by", same.method)

# %% [markdown]
# Blocked storage: tiles of `bm` x `bn`, one after the other. All four sizes are symbols. The
# layout wastes no place, and its inverse is a layout again.

# %%
P, Q, bm, bn = (Dim(name) for name in ("P", "Q", "bm", "bn"))
blocked = TileLayout(S[(P, bm, Q, bn) : (Q * bm * bn, bn, bm * bn, 1)])
assert_proved(Bijective(blocked, {"m": P * bm * Q * bn}))
back = inverse(blocked)
assert_proved(Inverse(blocked, back))
back

# %% [markdown]
# The two statements hold for 10**18 elements as they do for 24; nothing was enumerated. With
# numbers:

# %%
assert blocked.evaluated(P=2, Q=3, bm=2, bn=2).apply(1, 0, 2, 1) == {"m": 21}

# %% [markdown]
# A formula is a map too. This is how an index is often computed by hand; is it blocked storage?

# %%
by_hand = Map.of(
    lambda p, i, q, j: ((p * Q + q) * bm + i) * bn + j,
    (P, bm, Q, bn),
)
assert_proved(Equivalent(by_hand, blocked.map()))

# %% [markdown]
# A slip is refuted, and the counterexample says for which sizes:

# %%
slip = Map.of(lambda p, i, q, j: ((p * Q + q) * bn + i) * bm + j, (P, bm, Q, bn))
refuted = prove(Equivalent(slip, blocked.map()))
assert refuted.verdict is Verdict.REFUTED
assert refuted.witness.dims["bm"] != refuted.witness.dims["bn"]
print(refuted.witness)

# %% [markdown]
# Assumptions that contradict each other prove nothing, and the verdict says so: VACUOUS is no
# pass.

# %%
K, ld = Dim("K"), Dim("ld")
rows = TileLayout(S[(4, K) : (ld, 1)])
nothing = prove(Injective(rows), given=[ld >= K, ld < K])
assert nothing.verdict is Verdict.VACUOUS
assert "ld >= K, ld < K" in nothing.reason
print(nothing.verdict)
