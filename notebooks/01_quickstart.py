# %% [markdown]
# # Quickstart
#
# A layout says where each element of a tensor lives. Write one, ask where an element is, and have
# proven what you need to know about all of them.

# %%
from layout_algebra import (
    Bijective,
    ComposeLayout,
    Dim,
    Injective,
    R,
    S,
    TileLayout,
    Verdict,
    assert_proved,
    laneid,
    prove,
    warpid,
)

# %% [markdown]
# The register fragment of the TIRx book: an 8 x 16 tile over the lanes of two warps, with a copy
# in two more. `S` is how the flat index is cut and where the digits go, `R` are copies, the rest
# is an offset.

# %%
frag = TileLayout(
    S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid
)
frag

# %%
places = frag.places(1, 3, shape=(8, 16))
assert [place["warpid"] for place in places] == [5, 9]
places

# %%
print(frag.formula(shape=(8, 16)))

# %% [markdown]
# Do two elements ever share a place? This is answered for all elements and copies, by a rule whose
# theorem is proven for all layouts.

# %%
proof = prove(Injective(frag))
assert proof.verdict is Verdict.PROVED
print(proof.verdict, "by", proof.method)

# %% [markdown]
# Sizes may be symbols. A matrix with rows `ld` apart is injective only if the rows do not overlap;
# the counterexample is small, and was replayed by plain integer arithmetic.

# %%
M, K, ld = Dim("M"), Dim("K"), Dim("ld")
padded = TileLayout(S[(M, K) : (ld, 1)])
refuted = prove(Injective(padded))
assert refuted.verdict is Verdict.REFUTED
print(refuted.witness)

# %%
theorem = assert_proved(Injective(padded), given=[ld >= K])
print(theorem.verdict, "by", theorem.method)

# %% [markdown]
# A swizzled tile in shared memory is one more layout. `Bijective` says that it uses each of 512
# places once, so that no padding is wasted.

# %%
tile = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
assert tile.apply(1, 0, shape=(8, 64)) == {"m": 72}
print(assert_proved(Bijective(tile, {"m": 512})).verdict)
