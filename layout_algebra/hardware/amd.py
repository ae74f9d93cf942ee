"""AMD's matrix instructions: which lane and register of a wave holds each element.

    mfma_layout("A", 32, 32, 8, "float16")            # CDNA3, a wave of 64 lanes
    mfma_layout("D", 16, 16, 4, "float16", blocks=4)  # four 16 x 16 products at once
    wmma_layout("B", 16, "bfloat16")                  # RDNA4, a wave of 32 lanes

CDNA3, for M x N x K in B blocks, with K_L = K*M*B / 64 elements of A in a lane (of B, N for M), and
rows of D in groups of H = 4 (of float64, 1), M_I = groups of rows in the lanes, G = M / (H*M_I):

    A[b][i][k]   lane i + M*(b + B*(k // K_L))             item k % K_L
    B[b][k][j]   lane j + N*(b + B*(k // K_L))             item k % K_L
    D[b][i][j]   lane j + N*((i // H) % M_I + M_I*(b % B_I))
                 item i % H + H*(i // (H*M_I) + G*(b // B_I))

where B_I, the blocks side by side in the lanes, is 64*H / (M*N) but at least 1, and M_I is
64 / (N*B_I).

RDNA4, 16 x 16 x 16: A[i][k] is item k % 8 of lane i + 16*(k // 8), B[k][j] item k % 8 of lane
j + 16*(k // 8), D[i][j] item i % 8 of lane j + 16*(i // 8).

Items are elements in register order.  The lanes of a 64-lane wave are on an axis of their own,
`lane_in_wave`; those of a 32-lane wave are on laneid.
"""

from __future__ import annotations

from collections.abc import Iterator

from layout_algebra.axes import Axis, laneid, m
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.layouts import TileLayout

#: Lanes of a wave of CDNA.
lane_in_wave = Axis("lane_in_wave", "thread", scope="warp", subscope="thread", limit=64)
WAVE64, WAVE32 = 64, 32

_CDNA3 = "AMD Instinct MI300 (CDNA3) ISA, matrix arithmetic instructions: register layouts"
_RDNA4 = "AMD GPUOpen, Using the Matrix Cores of AMD RDNA 4; RDNA4 ISA, WMMA"

Shape = tuple[int, int, int, int]
_SMALL: tuple[Shape, ...] = ((32, 32, 4, 2), (16, 16, 4, 4), (4, 4, 4, 16))
#: Input type -> (M, N, K, blocks) of the dense MFMA instructions of CDNA3.
MFMA: dict[str, tuple[Shape, ...]] = {
    "float32": ((32, 32, 1, 2), (16, 16, 1, 4), (4, 4, 1, 16), (32, 32, 2, 1), (16, 16, 4, 1)),
    "tf32": ((32, 32, 4, 1), (16, 16, 8, 1)),
    "float16": (*_SMALL, (32, 32, 8, 1), (16, 16, 16, 1)),
    "bfloat16": (*_SMALL, (32, 32, 8, 1), (16, 16, 16, 1)),
    "int8": (*_SMALL, (32, 32, 16, 1), (16, 16, 32, 1)),
    "float8_e4m3fnuz": ((32, 32, 16, 1), (16, 16, 32, 1)),
    "float8_e5m2fnuz": ((32, 32, 16, 1), (16, 16, 32, 1)),
    "float64": ((16, 16, 4, 1), (4, 4, 4, 4)),
}
#: Input type -> accumulator types of the dense 16 x 16 x 16 WMMA instructions of RDNA4.
WMMA: dict[str, tuple[str, ...]] = {
    "float16": ("float32", "float16"),
    "bfloat16": ("float32", "bfloat16"),
    "int8": ("int32",),
    "int4": ("int32",),
    "float8_e4m3fn": ("float32",),
    "float8_e5m2": ("float32",),
}
WMMA_SIZE = 16


def mfma_layout(
    operand: str, rows: int, cols: int, depth: int, dtype: str, blocks: int = 1
) -> TileLayout:
    """An operand of an MFMA instruction of CDNA3, in lane_in_wave and m.

    Formula: see this module.

    Args:
        operand: "A" of shape (rows, depth), "B" of (depth, cols), or "D" (and C) of (rows, cols);
            with several blocks these have the block as their first dimension.
        rows, cols, depth: M, N and K of one block (elements).
        dtype: the type of A and B; tf32 is what AMD calls xf32.
        blocks: independent products.

    Raises:
        LayoutError: another operand, or a shape that the type does not have.

    Source: AMD Instinct MI300 ISA, matrix arithmetic instructions.
    """
    if dtype not in MFMA:
        raise LayoutError(f"mfma_layout: the type is one of {', '.join(MFMA)}; got {dtype!r}")
    if (rows, cols, depth, blocks) not in MFMA[dtype]:
        legal = ", ".join(_shape_text(*shape) for shape in MFMA[dtype])
        shown = _shape_text(rows, cols, depth, blocks)
        raise LayoutError(f"mfma_layout: {dtype} has {legal}; got {shown}")
    if operand == "D":
        return _accumulator(rows, cols, 1 if dtype == "float64" else 4, blocks)
    if operand not in ("A", "B"):
        raise LayoutError(f'mfma_layout: the operands are "A", "B" and "D"; got {operand!r}')
    width = rows if operand == "A" else cols
    items = depth * width * blocks // WAVE64
    along = [(depth // items, width * blocks, lane_in_wave), (items, 1, m)]
    across = [(width, 1, lane_in_wave)]
    block = [(blocks, width, lane_in_wave)] if blocks > 1 else []
    return TileLayout.from_iters(
        [*block, *across, *along] if operand == "A" else [*block, *along, *across]
    )


def _accumulator(rows: int, cols: int, high: int, blocks: int) -> TileLayout:
    """D: groups of `high` rows, dealt to the lanes and then to the registers."""
    beside = max(1, WAVE64 * high // (rows * cols))
    in_lanes = WAVE64 // (cols * beside)
    above = rows // (high * in_lanes)
    tile = [
        (above, high, m),
        (in_lanes, cols, lane_in_wave),
        (high, 1, m),
        (cols, 1, lane_in_wave),
    ]
    if blocks == 1:
        return TileLayout.from_iters(tile)
    block = [
        (blocks // beside, high * above, m),
        (beside, cols * in_lanes, lane_in_wave),
    ]
    return TileLayout.from_iters([*block, *tile])


def _shape_text(rows: int, cols: int, depth: int, blocks: int) -> str:
    text = f"{rows}x{cols}x{depth}"
    return text if blocks == 1 else f"{text} in {blocks} blocks"


def wmma_layout(operand: str, depth: int, dtype: str) -> TileLayout:
    """An operand of a 16 x 16 WMMA instruction of RDNA4 in a wave of 32 lanes.

    Formula: see this module.

    Args:
        operand: "A" of shape (16, depth), "B" of (depth, 16), or "D" (and C) of (16, 16).
        depth: K, 16 (the 4-bit K of 32 and the sparse K of 32 are not told of here).
        dtype: the type of A and B.

    Raises:
        LayoutError: another operand, depth or type.

    Source: AMD GPUOpen, Using the Matrix Cores of AMD RDNA 4 architecture GPUs.
    """
    if dtype not in WMMA:
        raise LayoutError(f"wmma_layout: the type is one of {', '.join(WMMA)}; got {dtype!r}")
    if depth != WMMA_SIZE or type(depth) is not int:
        raise LayoutError(f"wmma_layout: K is {WMMA_SIZE}; got {depth!r}")
    half = WMMA_SIZE // 2
    # of A the columns, of B and D the rows are in the items and in the wave's half
    halves = [(2, WMMA_SIZE, laneid), (half, 1, m)]
    lanes = [(WMMA_SIZE, 1, laneid)]
    if operand == "A":
        return TileLayout.from_iters([*lanes, *halves])
    if operand in ("B", "D"):
        return TileLayout.from_iters([*halves, *lanes])
    raise LayoutError(f'wmma_layout: the operands are "A", "B" and "D"; got {operand!r}')


@family
def mfma() -> Iterator[Entry]:
    """Every operand of every dense MFMA instruction of CDNA3."""
    for dtype, shapes in MFMA.items():
        for rows, cols, depth, blocks in shapes:
            name = f"mfma.{rows}x{cols}x{depth}" + (f".{blocks}b" if blocks > 1 else "")
            several = (blocks,) if blocks > 1 else ()
            confirmed = "" if blocks > 1 else "triton 3.9.0, AMDMFMALayout, typed in the tests"
            for operand, tile in (
                ("A", (rows, depth)),
                ("B", (depth, cols)),
                ("D", (rows, cols)),
            ):
                layout = mfma_layout(operand, rows, cols, depth, dtype, blocks)
                shape = (*several, *tile)
                kind = dtype if operand != "D" else _accumulates(dtype)
                yield Entry(f"{name}.{dtype}.{operand}", layout, shape, kind, _CDNA3, confirmed)


def _accumulates(dtype: str) -> str:
    """The type of D of an MFMA instruction."""
    return {"int8": "int32", "float64": "float64"}.get(dtype, "float32")


@family
def wmma() -> Iterator[Entry]:
    """Every operand of the dense 16 x 16 x 16 WMMA instructions of RDNA4."""
    tables = "triton 3.9.0, AMDWMMALayout version 2, typed in the tests"
    for dtype, accumulators in WMMA.items():
        confirmed = "" if dtype == "int4" else tables
        for operand, kind in (("A", dtype), ("B", dtype), *(("D", one) for one in accumulators)):
            layout = wmma_layout(operand, WMMA_SIZE, dtype)
            name = f"wmma.16x16x16.{dtype}.{operand}" + (f".{kind}" if operand == "D" else "")
            yield Entry(name, layout, (16, 16), kind, _RDNA4, confirmed)
