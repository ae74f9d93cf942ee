"""wgmma: the registers of a warpgroup, the accumulator D and the matrix A.

    one = wgmma(128, "float16")          # m64n128k16
    one.D.layout                         # (row, column) -> wid_in_wg, laneid, m

Warp w of the four holds rows 16*w to 16*w + 15.  Lane 4*g + q holds, of the accumulator, rows g and
g + 8 and in every 8 columns the columns 2*q and 2*q + 1; m counts columns of the pair first, then
the two rows, then the groups of columns:

    D   laneid = 4*(i % 8) + j % 8 // 2       m = j % 2 + 2*(i // 8 % 2) + 4*(j // 8)

A is four 32-bit registers a lane, with e = 32/bits elements of one row each:

    A   laneid = 4*(i % 8) + k // e % 4       m = k % e + e*(i // 8 % 2) + 2*e*(k // (4*e))

m counts elements in register order; 32/bits of them are packed in a register.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layout_algebra.axes import laneid, m, wid_in_wg
from layout_algebra.dims import Size, bounds, divide_exactly
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.sizes import positive_size
from layout_algebra.layouts import TileLayout
from layout_algebra.memory.dtypes import bits_of

#: Rows of the instruction, and the most columns.
ROWS, COLUMNS = 64, 256
#: Bits of one row that the two groups of four lanes' registers hold: K times the element's bits.
K_BITS = 256

_STEP_8 = tuple(range(8, COLUMNS + 1, 8))
#: Integer types have N = 8, 16, 24, 32 and then only every second.
_STEP_16 = (8, 16, 24, *range(32, COLUMNS + 1, 16))
_FLOATS = ("float16", "float32")
#: A's type -> (its accumulators, legal N).
_TYPES: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "float16": (_FLOATS, _STEP_8),
    "bfloat16": (("float32",), _STEP_8),
    "tf32": (("float32",), _STEP_8),
    "float8_e4m3fn": (_FLOATS, _STEP_8),
    "float8_e5m2": (_FLOATS, _STEP_8),
    "int8": (("int32",), _STEP_16),
    "uint8": (("int32",), _STEP_16),
    "b1": (("int32",), _STEP_16),
}


@dataclass(frozen=True)
class Wgmma:
    """One shape of wgmma.mma_async.

    Attributes:
        n, k: columns of D, and the inner size.
        A: the register fragment of A (wgmma also takes A from shared memory).
        D: the accumulator.
    """

    n: int
    k: int
    A: Entry
    D: Entry

    def __str__(self) -> str:
        return f"wgmma.m{ROWS}n{self.n}k{self.k}.{self.D.dtype}.{self.A.dtype}"


def wgmma(n: int, dtype: str, out: str | None = None) -> Wgmma:
    """The fragments of a wgmma.mma_async.

    Args:
        n: columns of B and D.
        dtype: type of A: one of `wgmma_types()`.
        out: type of D; by default the 32-bit one.

    Raises:
        LayoutError: a type, accumulator or N that the instruction has not.

    Source: PTX ISA, wgmma.mma_async, shapes and register fragments.
    """
    outs, legal = _of_type("wgmma", dtype)
    out = outs[-1] if out is None else out
    if out not in outs:
        raise LayoutError(f"wgmma: the accumulator of {dtype} is {' or '.join(outs)}; got {out!r}")
    if type(n) is not int or n not in legal:
        step = "every 8" if legal is _STEP_8 else "8, 16, 24 and every 16 from 32"
        raise LayoutError(f"wgmma: N of {dtype} is {step} up to {COLUMNS}; got {n!r}")
    return Wgmma(n, K_BITS // bits_of(dtype), _a_entry(dtype), _d_entry(n, out))


def wgmma_types() -> tuple[str, ...]:
    """The types of A."""
    return tuple(_TYPES)


def wgmma_columns(dtype: str) -> tuple[int, ...]:
    """The legal N of a type of A.

    Raises:
        LayoutError: a type that wgmma has not.
    """
    return _of_type("wgmma_columns", dtype)[1]


def wgmma_accumulator_layout(n: Size) -> TileLayout:
    """The accumulator of 64 rows and n columns over the warpgroup.

    Formula: see this module's text.

    Args:
        n: columns (8 to 256, a multiple of 8; an int or a Dim).

    Raises:
        LayoutError: another number of columns.
    """
    name = "wgmma_accumulator_layout"
    groups = divide_exactly(positive_size(name, "n", n, COLUMNS, "columns of wgmma"), 8)
    most = bounds(n)[1]
    if groups is None or most is None or most > COLUMNS:
        raise LayoutError(f"{name}: n is a multiple of 8 up to {COLUMNS}; got {n}")
    rows = [(4, 1, wid_in_wg), (2, 2, m), (8, 4, laneid)]
    return TileLayout.from_iters([*rows, (groups, 4, m), (4, 1, laneid), (2, 1, m)])


def wgmma_a_layout(dtype: str) -> TileLayout:
    """The registers of A, 64 rows by K, over the warpgroup.

    Formula: see this module's text.

    Args:
        dtype: type of A.

    Raises:
        LayoutError: a type that wgmma has not.
    """
    _of_type("wgmma_a_layout", dtype)
    packed = 32 // bits_of(dtype)
    rows = [(4, 1, wid_in_wg), (2, packed, m), (8, 4, laneid)]
    return TileLayout.from_iters([*rows, (2, 2 * packed, m), (4, 1, laneid), (packed, 1, m)])


def _of_type(constructor: str, dtype: object) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if not isinstance(dtype, str) or dtype not in _TYPES:
        raise LayoutError(f"{constructor}: A is one of {', '.join(_TYPES)}; got {dtype!r}")
    return _TYPES[dtype]


# -- entries -----------------------------------------------------------------------------------
_SOURCE = "PTX ISA, wgmma.mma_async, Register Fragments"
_CUTLASS = "CUTLASS, cute/atom/mma_traits_sm90_gmma.hpp, {}, typed in the tests"
#: Element width -> CUTLASS's atom of A.
_ATOMS = {8: "ALayout_64x32", 16: "ALayout_64x16", 32: "ALayout_64x8"}


def _d_entry(n: int, dtype: str) -> Entry:
    layout = wgmma_accumulator_layout(n)
    confirmed = _CUTLASS.format("CLayout_64xN")
    return Entry(f"wgmma.m64n{n}.{dtype}.D", layout, (ROWS, n), dtype, _SOURCE, confirmed)


def _a_entry(dtype: str) -> Entry:
    bits = bits_of(dtype)
    k = K_BITS // bits
    confirmed = _CUTLASS.format(_ATOMS[bits]) if bits in _ATOMS else ""
    layout = wgmma_a_layout(dtype)
    return Entry(f"wgmma.m64k{k}.{dtype}.A", layout, (ROWS, k), dtype, _SOURCE, confirmed)


@family
def wgmma_fragments() -> Iterator[Entry]:
    """A of every type; D of every accumulator type and N."""
    for dtype in _TYPES:
        yield _a_entry(dtype)
    for out, legal in (("float32", _STEP_8), ("float16", _STEP_8), ("int32", _STEP_16)):
        for n in legal:
            yield _d_entry(n, out)
