# %% [markdown]
# # Composing and inverting
#
# A layout maps an element's flat index to places. Where the places of one are the indices of
# another they compose; where no two elements share a place it inverts.

# %%
from layout_algebra import (
    ComposeLayout,
    Composition,
    Equivalent,
    Inverse,
    S,
    TileLayout,
    Verdict,
    assert_proved,
    checked,
    compose,
    element_at,
    inverse,
    laneid,
    layout_of,
    prove,
    warpid,
)

# %% [markdown]
# Take every second row of a fragment. The result is a layout again, found digit by digit.

# %%
frag = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)])
every_second_row = TileLayout(S[(4, 16) : (32, 1)])
half = compose(frag, every_second_row)
assert_proved(Composition(frag, every_second_row, half))
half

# %% [markdown]
# Which element does lane 5 of warp 1 hold in its register 1? Nothing is enumerated for this.

# %%
element = element_at(frag, laneid=5, warpid=1, m=1)
assert frag.apply(element) == {"laneid": 5, "warpid": 1, "m": 1}
print("element", divmod(element, 16))

# %% [markdown]
# The inverse of a transposition is a layout. That of a fragment with several axes is a formula.

# %%
columns = TileLayout(S[(8, 4) : (1, 8)])
assert inverse(columns) == TileLayout(S[(4, 8) : (1, 4)])
back = inverse(frag)
assert_proved(Inverse(frag, back))
print(back)

# %% [markdown]
# Swizzles compose too: the same XOR twice is none.

# %%
swizzled = ComposeLayout(3, 3, 3, TileLayout(S[(64, 64) : (64, 1)]))
assert compose(swizzled, swizzled) == TileLayout(S[4096:1])

# %% [markdown]
# And a formula that someone wrote by hand is recognised, swizzle included:

# %%
found = layout_of(lambda i, j: 64 * i + (j ^ (i % 8 * 8)), (64, 64))
assert_proved(Equivalent(found, swizzled))
print(found)

# %% [markdown]
# Sometimes no layout is the composite. Then the answer is a map, with the reason:

# %%
odd = compose(TileLayout(S[(8, 6, 4) : (5, 3, 2)]), TileLayout(S[6:3]))
assert [odd.apply(i)["m"] for i in range(6)] == [0, 6, 7, 8, 9, 15]
print(odd.why_no_layout)
guess = prove(Equivalent(odd, TileLayout(S[(3, 2) : (6, 3)])))
assert guess.verdict is Verdict.REFUTED

# %% [markdown]
# Inside `checked()` every operation proves its own result, call by call.

# %%
with checked() as passed:
    compose(inverse(columns), columns)
passed
