# %% [markdown]
# # Tensor-core fragments, from Ampere to Blackwell
#
# The same accumulator, 64 x 8 and more, moved from the registers of a warp (Ampere) to those of a
# warpgroup (Hopper) and into tensor memory (Blackwell). The catalogue has each as a layout, with
# its source.

# %%
from layout_algebra import (
    Bijective,
    Equivalent,
    Map,
    TCol,
    TLane,
    Verdict,
    WithinBounds,
    assert_proved,
    laneid,
    m,
    prove,
)
from layout_algebra import hardware as hw
from layout_algebra.planning import plan

# %% [markdown]
# **Ampere: `mma.m16n8k16`.** A warp holds a 16 x 8 accumulator, four numbers in each lane.

# %%
ampere = hw.mma("m16n8k16", "float16")
accumulator = ampere.C.map()
print(ampere.C.source)
print(accumulator.formula())
assert_proved(Bijective(accumulator, {laneid: 32, m: 4}))
ampere.C.layout

# %% [markdown]
# The ISA writes it with a group and a thread of the group. It is the same map:

# %%
isa = Map.of(lambda i, j: {laneid: i % 8 * 4 + j // 2, m: j % 2 + 2 * (i // 8)}, (16, 8))
assert_proved(Equivalent(accumulator, isa))

# %% [markdown]
# `ldmatrix` deals out exactly what operand A wants, so nothing is left to move:

# %%
handed = plan(hw.ldmatrix("x4").fragment.map(), ampere.A.map())
assert handed.kind == "nothing"
handed

# %% [markdown]
# **Hopper: `wgmma`.** Four warps hold 64 rows. Warp w has the rows from 16 * w on, each as Ampere
# has them: the accumulator is Ampere's, four times.

# %%
hopper = hw.wgmma_accumulator_layout(8)
hopper

# %%
four = Map.of(
    lambda i, j: {
        "wid_in_wg": i // 16,
        "laneid": i % 8 * 4 + j // 2,
        "m": j % 2 + 2 * (i % 16 // 8),
    },
    (64, 8),
)
assert_proved(Equivalent(hopper, four))

# %% [markdown]
# **Blackwell: `tcgen05.mma`.** The accumulator is in tensor memory: 128 lanes of 512 columns, one
# row a lane. A 128 x 256 accumulator is half of it.

# %%
blackwell = hw.tmem_datapath_layout("D", 128, 256)
print(blackwell)
assert_proved(Bijective(blackwell, {TLane: 128, TCol: 256}))
assert_proved(WithinBounds(blackwell, {TLane: 128, TCol: 512}))

# %% [markdown]
# It comes back into registers by `tcgen05.ld`. Does the shape `16x256b` give a warp what Hopper's
# epilogue expects of its accumulator? Yes, for 64 rows:

# %%
loaded = hw.tcgen05_atom_layout("16x256b", (64, 8), "float32")
assert_proved(Equivalent(loaded, hopper))

# %% [markdown]
# The shape `32x32b` does not: there a thread has a whole row.

# %%
rowwise = hw.tcgen05_atom_layout("32x32b", (128, 8), "float32")
other = prove(Equivalent(rowwise, hw.tcgen05_atom_layout("16x256b", (128, 8), "float32")))
assert other.verdict is Verdict.REFUTED
first, second = other.witness.places
assert first.keys() == {"tid_in_wg", "m"} != second.keys()
print(rowwise.formula(shape=(128, 8)))
