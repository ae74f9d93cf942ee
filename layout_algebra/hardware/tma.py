"""TMA: which boxes it copies, and where in shared memory their elements go.

    tma_box_problem((64, 128), "float16", swizzle=SwizzleMode.B128)
    # 'the inner box dimension is 256 bytes; B128 takes at most 128'
    tma_shared_layout((64, 64), "float16", SwizzleMode.B128)

Swizzle and interleave are two settings: the swizzle says how 16-byte chunks lie in shared memory,
the interleave that the tensor in global memory has its channels in slices of 16 or 32 bytes.

Shapes are written with the last dimension fastest; the driver's arrays are in the opposite order.
The functions give the first rule that is broken, as a sentence, or None.  The rules are those of
cuTensorMapEncodeTiled, the tiled mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

from layout_algebra.axes import m
from layout_algebra.dims import Size, is_size
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.shared import SwizzleMode, checked_bits, swizzle_mode
from layout_algebra.hardware.sizes import positive_size
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory.dtypes import bits_of
from layout_algebra.values import row_major_strides

MOST_RANK, MOST_BOX, MOST_STEP = 5, 256, 8
MOST_SIZE, MOST_STRIDE = 1 << 32, 1 << 40
#: Bytes that a box lies at a multiple of, in shared memory (CUDA C++ Programming Guide, TMA).
SHARED_ALIGN = 128
#: Bytes that rows, strides and addresses are multiples of; with slices or padding, twice that.
UNIT = 16
#: Elements of a row of a padded type, which a box begins at a multiple of; bits of an element.
PADDED_ROW, PADDED_BITS = 128, (4, 6)


class Interleave(IntEnum):
    """How channels lie in global memory, numbered as CUtensorMapInterleave numbers them."""

    NONE = 0
    B16 = 1
    B32 = 2

    def __str__(self) -> str:
        return self.name


def tma_box_problem(
    box: Sequence[int],
    dtype: object,
    *,
    swizzle: SwizzleMode | int = SwizzleMode.NONE,
    interleave: Interleave | int = Interleave.NONE,
    steps: Sequence[int] | None = None,
    padded: bool = False,
    store: bool = False,
) -> str | None:
    """Why TMA cannot copy a box, or None when it can.

    Args:
        box: elements along each dimension, the last one fastest.
        dtype: element type.
        swizzle, interleave: the two settings.
        steps: for each dimension, every which element is copied (1: each); the fastest
            dimension's is ignored without an interleave.
        padded: 4- and 6-bit elements widened in shared memory, 16 of them to 16 bytes.
        store: the box goes to global memory, not from it.

    Raises:
        LayoutError: a box or steps that are no lists of ints, or an unknown setting or type.

    Source: CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA, restrictions on tensor copies (the
    store of padded 4-bit elements and of the flipped mode).
    """
    name = "tma_box_problem"
    sizes, mode = _ints(name, "box", box), swizzle_mode(name, swizzle)
    slices = _interleave(name, interleave)
    taken = [1] * len(sizes) if steps is None else _ints(name, "steps", steps)
    problems = [
        *_type_problems(dtype, padded, store, mode, slices),
        *_setting_problems(mode, slices),
        *_rank_problems(len(sizes), slices),
        *_box_problems(sizes, taken, slices),
        *_row_problems(sizes, bits_of(dtype), mode, slices, padded),
    ]
    return problems[0] if problems else None


def tma_tensor_problem(
    shape: Sequence[int],
    strides: Sequence[int],
    dtype: object,
    *,
    address: int = 0,
    interleave: Interleave | int = Interleave.NONE,
    padded: bool = False,
) -> str | None:
    """Why TMA cannot reach a tensor in global memory, or None when it can.

    Args:
        shape: elements along each dimension, the last one fastest.
        strides: bytes between neighbours along each dimension but the last, whose elements touch.
        dtype: element type.
        address: the first byte's.
        interleave, padded: as for `tma_box_problem`.

    Raises:
        LayoutError: arguments that are no lists of ints, or an unknown setting or type.

    Source: CUDA Driver API, cuTensorMapEncodeTiled.
    """
    name = "tma_tensor_problem"
    sizes, steps = _ints(name, "shape", shape), _ints(name, "strides", strides)
    slices = _interleave(name, interleave)
    problems = [
        *_type_problems(dtype, padded, False, SwizzleMode.NONE, slices),
        *_rank_problems(len(sizes), slices),
        *_tensor_problems(sizes, steps, bits_of(dtype), address, padded, slices),
    ]
    return problems[0] if problems else None


def tma_shared_layout(
    box: Sequence[Size], dtype: object, swizzle: SwizzleMode | int = SwizzleMode.NONE
) -> TileLayout | ComposeLayout:
    """Where TMA puts the elements of a box, from a place where the mode's pattern begins.

    Formula: row-major, and then the mode's swizzle.

    Args:
        box: elements along each dimension, the last one fastest; with a swizzle the last dimension
            fills the mode's row (how shorter rows are padded is not confirmed).
        dtype: element type; of a padded one, 16 to 16 bytes, name an 8-bit type.
        swizzle: the mode.

    Raises:
        LayoutError: a box that TMA does not copy, a shorter row, or a mode without a swizzle.

    Source: PTX ISA, Swizzling Modes of tensors.
    """
    name = "tma_shared_layout"
    mode, bits = swizzle_mode(name, swizzle), checked_bits(name, dtype)
    if not isinstance(box, Sequence) or not box or not all(is_size(size) for size in box):
        raise LayoutError(f"{name}: a box is a sequence of sizes; got {box!r}")
    sizes = [positive_size(name, f"size {d}", n, MOST_BOX, "of a box") for d, n in enumerate(box)]
    row = sizes[-1]
    if not isinstance(row, int):
        raise LayoutError(f"{name}: the last size is a number; got {row}")
    known = [size if isinstance(size, int) else 1 for size in sizes]
    problem = tma_box_problem(known, dtype, swizzle=mode)
    if problem is None and mode is not SwizzleMode.NONE and row * bits != 8 * mode.row_bytes:
        problem = (
            f"rows of {row * bits // 8} bytes in a mode of {mode.row_bytes}: how they are padded "
            "is not confirmed"
        )
    if problem is not None:
        raise LayoutError(f"{name}: {problem}")
    strides = row_major_strides(sizes)
    tile = TileLayout.from_iters([(n, s, m) for n, s in zip(sizes, strides, strict=True)])
    if mode is SwizzleMode.NONE:
        return tile
    own = mode.swizzle_of(bits)
    return ComposeLayout(own.per_element, own.swizzle_len, own.atom_len, tile)


def tma_shared_problem(address: int, swizzle: SwizzleMode | int = SwizzleMode.NONE) -> str | None:
    """Why a box cannot begin at an address of shared memory, or not with its pattern's first row.

    Raises:
        LayoutError: an address that is no int, or an unknown mode.

    Source: CUDA C++ Programming Guide, TMA swizzle; PTX ISA, Swizzling Modes of tensors.
    """
    mode = swizzle_mode("tma_shared_problem", swizzle)
    (place,) = _ints("tma_shared_problem", "address", [address])
    if place % SHARED_ALIGN:
        return f"a box begins at a multiple of {SHARED_ALIGN} bytes; got {place}"
    if place % mode.boundary:
        row = place // SHARED_ALIGN % (mode.boundary // SHARED_ALIGN)
        return (
            f"the pattern of {mode} begins at multiples of {mode.boundary} bytes; at {place} the "
            f"box begins with the pattern's line {row}"
        )
    return None


# -- the rules ---------------------------------------------------------------------------------
def _type_problems(
    dtype: object, padded: bool, store: bool, mode: SwizzleMode, slices: Interleave
) -> Iterator[str]:
    bits = bits_of(dtype)
    if padded and bits not in PADDED_BITS:
        yield f"elements of 4 or 6 bits are padded, not of {bits}"
    if not padded and bits not in (4, 8, 16, 32, 64):
        yield f"elements have 4, 8, 16, 32 or 64 bits, or are padded; these have {bits}"
    if mode is SwizzleMode.B128_ATOM_32B_FLIP_8B and store:
        yield f"{mode} is for loads from global memory only"
    if not padded:
        return
    modes = [SwizzleMode.NONE, SwizzleMode.B128, SwizzleMode.B128_ATOM_32B]
    if bits == 6 and store:
        modes.append(SwizzleMode.B128_ATOM_64B)
    if mode not in modes:
        allowed = ", ".join(map(str, modes))
        yield f"padded {bits}-bit elements take the swizzles {allowed}; got {mode}"
    if bits == 4 and store:
        yield "padded 4-bit elements are loaded, not stored"
    if bits == 6 and slices is not Interleave.NONE:
        yield f"padded 6-bit elements have no interleave; got {slices}"


def _setting_problems(mode: SwizzleMode, slices: Interleave) -> Iterator[str]:
    if slices is Interleave.B32 and mode is not SwizzleMode.B32:
        yield f"interleave B32 takes swizzle B32 only; got {mode}"


def _rank_problems(rank: int, slices: Interleave) -> Iterator[str]:
    least = 1 if slices is Interleave.NONE else 3
    if not least <= rank <= MOST_RANK:
        yield f"there are {least} to {MOST_RANK} dimensions with interleave {slices}; got {rank}"


def _box_problems(sizes: Sequence[int], steps: Sequence[int], slices: Interleave) -> Iterator[str]:
    for d, size in enumerate(sizes):
        if not 1 <= size <= MOST_BOX:
            yield f"dimension {d} of the box has 1 to {MOST_BOX} elements; got {size}"
    if len(steps) != len(sizes):
        yield f"a step for each of the {len(sizes)} dimensions; got {len(steps)}"
    read = steps[:-1] if slices is Interleave.NONE else steps
    for d, step in enumerate(read):
        if not 1 <= step <= MOST_STEP:
            yield f"the step of dimension {d} is 1 to {MOST_STEP}; got {step}"


def _row_problems(
    sizes: Sequence[int], bits: int, mode: SwizzleMode, slices: Interleave, padded: bool
) -> Iterator[str]:
    if not sizes:
        return
    row = sizes[-1]
    if padded:
        if row != PADDED_ROW:
            yield f"a row of padded elements has {PADDED_ROW}; got {row}"
        return
    if slices is not Interleave.NONE:
        return
    if row * bits % (8 * UNIT):
        yield f"the inner box dimension is a multiple of {UNIT} bytes; got {row * bits} bits"
    elif mode is not SwizzleMode.NONE and row * bits > 8 * mode.row_bytes:
        yield (
            f"the inner box dimension is {row * bits // 8} bytes; {mode} takes at most "
            f"{mode.row_bytes}"
        )


def _tensor_problems(
    sizes: Sequence[int],
    strides: Sequence[int],
    bits: int,
    address: int,
    padded: bool,
    slices: Interleave,
) -> Iterator[str]:
    unit = 2 * UNIT if padded or slices is Interleave.B32 else UNIT
    if address % unit:
        yield f"the address is a multiple of {unit} bytes; got {address}"
    for d, size in enumerate(sizes):
        if not 1 <= size <= MOST_SIZE:
            yield f"dimension {d} has 1 to {MOST_SIZE} elements; got {size}"
    whole = PADDED_ROW if padded else 2 if bits == 4 else 1
    if sizes and sizes[-1] % whole:
        yield f"the last dimension is a multiple of {whole} elements; got {sizes[-1]}"
    if len(strides) != len(sizes) - 1:
        yield f"a stride for each dimension but the last, {len(sizes) - 1}; got {len(strides)}"
    for d, stride in enumerate(strides):
        if stride % unit or not 0 <= stride < MOST_STRIDE:
            yield (
                f"the stride of dimension {d} is a multiple of {unit} bytes below {MOST_STRIDE}; "
                f"got {stride}"
            )


# -- checks ------------------------------------------------------------------------------------
def _ints(constructor: str, what: str, given: object) -> list[int]:
    if not isinstance(given, Sequence) or any(type(one) is not int for one in given):
        raise LayoutError(f"{constructor}: {what} is made of ints; got {given!r}")
    return list(given)


def _interleave(constructor: str, given: object) -> Interleave:
    if isinstance(given, Interleave):
        return given
    if type(given) is int and 0 <= given < len(Interleave):
        return Interleave(given)
    raise LayoutError(f"{constructor}: the interleave is an Interleave or 0 to 2; got {given!r}")
