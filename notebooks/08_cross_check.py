# %% [markdown]
# # A cross-check by running it
#
# A proof is an argument; running every element is an experiment. Compiled code looks at all
# elements of a layout, and has to come to the prover's verdict.

# %%
import numpy as np
from numba import cuda

from layout_algebra import (
    Bijective,
    ComposeLayout,
    Dim,
    Injective,
    S,
    TileLayout,
    Verdict,
    prove,
)
from layout_algebra.device import cpu
from layout_algebra.device.checks import check, cost
from layout_algebra.device.functions import device_function

# %% [markdown]
# What will it take? Memory is known before anything is allocated.

# %%
tile = ComposeLayout(3, 3, 3, TileLayout(S[(4096, 64) : (64, 1)]))
claim = Bijective(tile, {"m": 4096 * 64})
print(cost(claim))

# %%
proof, result = prove(claim), check(claim)
assert proof.verdict is result.verdict is Verdict.PROVED
print("the prover:   ", proof.verdict, "by", proof.method)
print("every element:", result.verdict, "by", result.cost.method)

# %% [markdown]
# A false claim is found false by both. The compiled code's counterexample was replayed by the
# claim itself, on integers.

# %%
overlapping = Injective(TileLayout(S[(4096, 64) : (63, 1)]))
proof, result = prove(overlapping), check(overlapping)
assert proof.verdict is result.verdict is Verdict.REFUTED
print("the prover:   ", proof.witness)
print("every element:", result.witness)

# %% [markdown]
# A theorem about all sizes can be tried at one size that is large enough to be no accident:

# %%
P, Q = Dim("P"), Dim("Q")
blocked = TileLayout(S[(P, 8, Q, 16) : (128 * Q, 16, 128, 1)])
theorem = Bijective(blocked, {"m": 128 * P * Q})
assert prove(theorem).verdict is Verdict.PROVED
at_one_size = check(theorem, {"P": 125, "Q": 63})
assert at_one_size.verdict is Verdict.PROVED
print(f"{at_one_size.elements:,} elements")

# %% [markdown]
# `layout-algebra crosscheck build/ledger.json` does this for every theorem of a ledger.
#
# The same map as code of a kernel. Where there is a GPU it runs there; otherwise on the CPU, from
# the same terms. Both have to give the table that NumPy gives.

# %%
SHAPE = (4096, 64)


def places_on_gpu(layout):
    """Every place, computed in a kernel of our own that calls the layout; None without a GPU."""
    if not cuda.is_available():
        return None
    place = device_function(layout, SHAPE)

    @cuda.jit
    def kernel(out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = place(i, j)

    out = np.zeros(SHAPE, dtype=np.int64)
    kernel[(SHAPE[0] // 8, SHAPE[1] // 32), (8, 32)](out)
    return out


expected = tile.table(SHAPE)["m"]
found, target = places_on_gpu(tile), "cuda"
if found is None:
    found, target = cpu.table(tile.map(SHAPE))["m"], "cpu"
assert np.array_equal(found, expected)
print("target:", target)
