# %% [markdown]
# # From a layout to PTX, and its proof
#
# A layout becomes a kernel, the kernel becomes PTX, and the PTX is read back and proven to be the
# layout: for every thread of every launch. The compiler need not be trusted for that; what comes
# after it, from PTX to the chip, still is.

# %%
from layout_algebra import ComposeLayout, S, TileLayout, Verdict
from layout_algebra.device.kernels import kernel_of
from layout_algebra.validation import Output, validate, validate_ptx

tile = ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
kernel = kernel_of(tile, (8, 64))
assert (kernel.size, kernel.width, kernel.outputs) == (512, 32, ("m",))
print(kernel.source)

# %% [markdown]
# Thread i stores the place of element i. numba-cuda compiles this text, without a GPU:
#
#     from layout_algebra.device.toolchain import compile_ptx     # the extra "cuda"
#     ptx = compile_ptx(kernel, "sm_90a").text
#
# What it gave (numba-cuda 0.30.4, CUDA 13.5) is kept here, so that this page runs anywhere.

# %%
ptx = """
.version 9.5
.target sm_90a
.address_size 64

.common .global .align 8 .u64 place_environment;

.visible .entry place(
    .param .u64 place_param_0,
    .param .u32 place_param_1
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<5>;

    ld.param.u64 %rd1, [place_param_0];
    ld.param.u32 %r2, [place_param_1];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra $L__BB0_2;

    cvta.to.global.u64 %rd2, %rd1;
    shr.u32 %r6, %r1, 3;
    and.b32 %r7, %r6, 536870904;
    and.b32 %r8, %r1, 63;
    xor.b32 %r9, %r7, %r8;
    and.b32 %r10, %r1, -64;
    add.s32 %r11, %r9, %r10;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r11;

$L__BB0_2:
    ret;

}
"""
proof = validate(kernel, ptx)
assert proof.verdict is Verdict.PROVED
print(proof.verdict, "by", proof.method)

# %% [markdown]
# The compiler replaced the shift and the multiplication by one shift and a mask, and took the sum
# apart. The proof undoes that, and says that addresses, values and the guard are the layout's.
#
# Three faults that a compiler, or a person, could make. Each is refuted with a thread that shows
# it.

# %%
FAULTS = {
    "a wrong mask in the swizzle": ("536870904", "536870896"),
    "a wrong shift": ("shr.u32 %r6, %r1, 3;", "shr.u32 %r6, %r1, 4;"),
    "one thread too many": ("setp.ge.u32", "setp.gt.u32"),
}
for name, (right, wrong) in FAULTS.items():
    assert ptx.count(right) == 1
    refuted = validate(kernel, ptx.replace(right, wrong))
    assert refuted.verdict is Verdict.REFUTED
    print(f"{name}:\n    {refuted.witness}")

# %% [markdown]
# PTX from anywhere can be asked. It has to be said what its parameters hold; here the array that
# axis `m` goes to, and the number of elements.

# %%
mine = validate_ptx(ptx, "place", tile, shape=(8, 64), parameters=[Output("m", 32), 8 * 64])
assert mine.verdict is Verdict.PROVED

unswizzled = TileLayout(S[(8, 64) : (64, 1)])
other = validate_ptx(ptx, "place", unswizzled, parameters=[Output("m", 32), 8 * 64])
assert other.verdict is Verdict.REFUTED
print(other.witness)
