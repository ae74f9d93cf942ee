"""CUDA C++ of the kernels that look at what the maps' kernels have stored.

    ptx = compile_cuda(LOOKING, "mark", "sm_90a")

These are not proven: they are short, and say what they do.  Cells are 64-bit numbers of places in a
box; `NONE` is what lies outside it, `ABSENT` an element that is not in the domain.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Bytes of shared memory that a bank probe has: what every block may have.
SHARED = 48 * 1024
#: Dependent loads of one measurement, and how often it is repeated; the least time counts.
CHAIN, REPEATS = 64, 16

LOOKING = """
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
#define NONE 0xffffffffffffffffull
#define ABSENT 0xfffffffffffffffeull

static __device__ u64 number_of_thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// cells = cells * extent + (out - low), where that lies in the box
extern "C" __global__ void number_places(const void *out, u32 width, u32 is_signed, i64 low,
                                         u64 extent, u64 *cells, u64 n) {
    u64 i = number_of_thread();
    if (i >= n || cells[i] >= ABSENT) return;
    i64 value = width == 64 ? ((const i64 *)out)[i]
              : is_signed ? (i64)((const int *)out)[i] : (i64)((const u32 *)out)[i];
    u64 digit = (u64)value - (u64)low;
    cells[i] = digit < extent ? cells[i] * extent + digit : NONE;
}

extern "C" __global__ void leave_out(const void *guard, u32 width, u64 *cells, u64 n) {
    u64 i = number_of_thread();
    if (i >= n) return;
    u64 inside = width == 64 ? ((const u64 *)guard)[i] : (u64)((const u32 *)guard)[i];
    if (!inside) cells[i] = ABSENT;
}

// a byte for each cell; counts: found in use, outside the box, not in the domain
extern "C" __global__ void mark(const u64 *cells, u64 n, u32 *bytes, u64 *counts) {
    u64 i = number_of_thread();
    if (i >= n) return;
    u64 cell = cells[i];
    if (cell == ABSENT) atomicAdd(counts + 2, 1ull);
    else if (cell == NONE) atomicAdd(counts + 1, 1ull);
    else {
        u32 byte = 1u << (8 * (u32)(cell % 4));
        if (atomicOr(bytes + cell / 4, byte) & byte) atomicAdd(counts, 1ull);
    }
}

extern "C" __global__ void unequal(const u64 *one, const u64 *two, u64 n, u64 *counts) {
    u64 i = number_of_thread();
    if (i < n && one[i] != two[i]) atomicAdd(counts, 1ull);
}

// back[cell] is the element that the inverse gives for a cell
extern "C" __global__ void round_trip(const u64 *cells, const u64 *back, u64 n, u64 copies,
                                      u64 *counts) {
    u64 i = number_of_thread();
    if (i >= n || cells[i] == ABSENT) return;
    if (cells[i] == NONE || back[cells[i]] != i / copies) atomicAdd(counts, 1ull);
}
"""


def bank_text(size: int) -> tuple[str, str]:
    """The probe for loads of 4, 8 or 16 bytes a lane, and its name.

    One warp; for each table of byte offsets it runs a chain of loads, each of which waits for the
    one before (memory holds zeros, which are added to the address), and keeps the least time.
    """
    words = size // 4
    name = f"bank_cycles_{size}"
    vector = "" if words == 1 else f".v{words}"
    registers = ", ".join(f"%{k}" for k in range(words))
    target = registers if words == 1 else f"{{{registers}}}"
    results = ", ".join(f'"=r"(v{k})' for k in range(words))
    declared = ", ".join(f"v{k}" for k in range(words))
    total = " + ".join(f"v{k}" for k in range(words))
    load = f'asm volatile("ld.shared{vector}.u32 {target}, [%{words}];" : {results} : "r"(at));'
    return (
        name,
        f"""
typedef unsigned int u32;
typedef long long i64;

extern "C" __global__ void {name}(const u32 *offsets, const u32 *active, u32 tables, i64 *cycles) {{
    __shared__ __align__(16) u32 memory[{SHARED // 4}];
    u32 lane = threadIdx.x;
    for (u32 k = lane; k < {SHARED // 4}; k += 32) memory[k] = 0;
    __syncwarp();
    u32 base = (u32)__cvta_generic_to_shared(memory);
    for (u32 t = 0; t < tables; ++t) {{
        u32 at = base + offsets[32 * t + lane];
        i64 least = 0x7fffffffffffffffll;
        for (u32 again = 0; again < {REPEATS}; ++again) {{
            __syncwarp();
            if (active[32 * t + lane]) {{
                i64 start = clock64();
                #pragma unroll
                for (u32 k = 0; k < {CHAIN}; ++k) {{
                    u32 {declared};
                    {load}
                    at += {total};
                }}
                i64 taken = clock64() - start;
                least = taken < least ? taken : least;
            }}
        }}
        cycles[32 * t + lane] = least;
        if (at == base - 1) memory[0] = 1;  // what was loaded is used
    }}
}}
""",
    )


def mma_text(name: str, opcode: str, counts: tuple[int, int, int], kind: str) -> str:
    """One mma.sync for each block: D = A * B + 0, registers in and out as words.

    Args:
        name: the kernel's.
        opcode: the instruction.
        counts: registers of a lane in A, B and D.
        kind: "f" for a D of float32, "r" for one of int32.
    """
    a, b, d = counts
    ends = d, d + a, d + a + b, d + a + b + d
    parts = [
        ", ".join(f"%{k}" for k in range(low, high))
        for low, high in zip((0, *ends), ends, strict=False)
    ]
    operands = ", ".join(f"{{{part}}}" for part in parts)
    scalar, zero, word = (
        ("float", "0.0f", "__float_as_uint") if kind == "f" else ("int", "0", "(u32)")
    )
    given = [f'"r"(a[{k}])' for k in range(a)] + [f'"r"(b[{k}])' for k in range(b)]
    given += [f'"{kind}"(zero)'] * d
    results = ", ".join(f'"={kind}"(found[{k}])' for k in range(d))
    stores = "\n    ".join(f"d[{k}] = {word}(found[{k}]);" for k in range(d))
    return f"""
typedef unsigned int u32;

extern "C" __global__ void {name}(const u32 *a, const u32 *b, u32 *d) {{
    u32 lane = 32 * blockIdx.x + threadIdx.x;
    a += {a} * lane;
    b += {b} * lane;
    d += {d} * lane;
    {scalar} zero = {zero}, found[{d}];
    asm volatile("{opcode} {operands};" : {results} : {", ".join(given)});
    {stores}
}}
"""


def wgmma_text(
    name: str,
    opcode: str,
    shared: Sequence[int],
    *,
    registers: int,
    results: int,
    immediates: str,
    kind: str,
) -> str:
    """One wgmma for each block: D = A * B + 0, with images of A and B in shared memory.

    The descriptors are those of buffers at address 0; where the images are is added.

    Args:
        name: the kernel's.
        opcode: the instruction, with its types.
        shared: words of the image of A, unless it is in registers, and of B.
        registers: a thread's of A; 0 where A is in shared memory.
        results: a thread's of D.
        immediates: what follows the predicate.
        kind: "f" for a D of float32, "r" for one of int32.
    """
    scalar, word = ("float", "__float_as_uint") if kind == "f" else ("int", "(u32)")
    at = [f"%{k}" for k in range(results + max(registers, 1) + 2)]
    result, left, (right, one) = at[:results], at[results:-2], at[-2:]
    matrix_a = f"{{{', '.join(left)}}}" if registers else left[0]
    given = [f'"r"(a[{k}])' for k in range(registers)] or ['"l"(first)']
    given += ['"l"(second)', '"r"(1)']
    held = ", ".join(f'"+{kind}"(found[{k}])' for k in range(results))
    words_a, words_b = 0 if registers else shared[0], shared[-1]
    each_a = f"for (u32 k = t; k < {words_a}; k += 128) memory[k] = a[k];\n    "
    take_a = each_a if words_a else ""
    return f"""
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void {name}(const u32 *a, const u32 *b, u64 first, u64 second, u32 *d) {{
    __shared__ __align__(1024) u32 memory[{words_a + words_b}];
    u32 t = threadIdx.x, base = (u32)__cvta_generic_to_shared(memory);
    a += {registers} * (128 * blockIdx.x + t) + {words_a} * blockIdx.x;
    b += {words_b} * blockIdx.x;
    d += {results} * (128 * blockIdx.x + t);
    {take_a}for (u32 k = t; k < {words_b}; k += 128) memory[{words_a} + k] = b[k];
    first += (base & 0x3ffff) >> 4;
    second += ((base + {4 * words_a}) & 0x3ffff) >> 4;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    {scalar} found[{results}];
    #pragma unroll
    for (u32 k = 0; k < {results}; ++k) found[k] = 0;
    asm volatile(
        "{{ .reg .pred more;"
        "setp.ne.b32 more, {one}, 0;"
        "wgmma.fence.sync.aligned;"
        "{opcode} {{{", ".join(result)}}}, {matrix_a}, {right}, more{immediates};"
        "wgmma.commit_group.sync.aligned;"
        "wgmma.wait_group.sync.aligned 0; }}"
        : {held}
        : {", ".join(given)} : "memory");
    #pragma unroll
    for (u32 k = 0; k < {results}; ++k) d[k] = {word}(found[k]);
}}
"""


def ldmatrix_text(name: str, opcode: str, count: int, words: int) -> str:
    """One ldmatrix: a tile of so many words, each lane's row as a byte offset, registers out."""
    registers = ", ".join(f"%{k}" for k in range(count))
    results = ", ".join(f'"=r"(r[{k}])' for k in range(count))
    load = f'asm volatile("{opcode} {{{registers}}}, [%{count}];" : {results} : "r"(at));'
    return _matrix_text(
        name, "const u32 *tile, const u32 *rows, u32 *held", words, count, load, load_first=True
    )


def stmatrix_text(name: str, opcode: str, count: int, words: int) -> str:
    """One stmatrix: the tile out, each lane's row as a byte offset, registers in."""
    registers = ", ".join(f"%{k + 1}" for k in range(count))
    given = ", ".join(f'"r"(r[{k}])' for k in range(count))
    store = f'asm volatile("{opcode} [%0], {{{registers}}};" :: "r"(at), {given} : "memory");'
    return _matrix_text(
        name, "u32 *tile, const u32 *rows, const u32 *held", words, count, store, load_first=False
    )


def _matrix_text(
    name: str, parameters: str, words: int, count: int, move: str, *, load_first: bool
) -> str:
    each = f"for (u32 k = lane; k < {words}; k += 32)"
    take = f"for (u32 k = 0; k < {count}; ++k)"
    before = (
        f"{each} memory[k] = tile[k];" if load_first else f"{take} r[k] = held[{count} * lane + k];"
    )
    after = (
        f"{take} held[{count} * lane + k] = r[k];" if load_first else f"{each} tile[k] = memory[k];"
    )
    return f"""
typedef unsigned int u32;

extern "C" __global__ void {name}({parameters}) {{
    __shared__ __align__(16) u32 memory[{words}];
    u32 lane = threadIdx.x, r[{count}];
    {before}
    __syncwarp();
    u32 at = (u32)__cvta_generic_to_shared(memory) + rows[lane];
    {move}
    __syncwarp();
    {after}
}}
"""
