"""ldmatrix, stmatrix and movmatrix: matrices of 16-byte rows, dealt out to the lanes of a warp.

    load = ldmatrix("x4")
    load.fragment                              # over (16, 16): element -> laneid, m
    access = load.read(sA[i : i + 16, k : k + 16])
    prove(BankConflictFree(access) & Matches(access, mma("m16n8k16", "float16").A))

A matrix has 8 rows (m16n16: 16) of 16 bytes.  With r rows, lane r*k + l gives the address of row l
of matrix k, and nothing else: x1 and x2 take addresses from the first lanes only.  The elements
land elsewhere.  With g = laneid//4, t = laneid % 4, element e that a lane holds of a matrix is

    m8n8, b16           row g            column 2*t + e
    m8n8.trans, b16     row 2*t + e      column g
    m16n16.trans, b8    row 4*t + e % 4  column g + 8*(e//4)
    m8n16, b8           row g            column 4*t + e
    m16n8.trans, b8     row 2*t + e % 2  column g + 8*(e//2)     (stmatrix)

where rows are the 16-byte rows of memory; the elements of matrix k + 1 follow those of k.

The matrices of a view go down its rows first, then to the right: the four of x4 in a 16 x 16 view
are the upper left, the lower left, the upper right and the lower right one, in this order, which is
what A of mma.m16n8k16 wants.  Another arrangement is given by `where`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from layout_algebra import terms
from layout_algebra.axes import laneid, m
from layout_algebra.errors import LayoutError, TraceError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.mma_tables import PTX
from layout_algebra.layouts import TileLayout
from layout_algebra.maps import Map, shape_coordinates
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.buffers import Buffer, View
from layout_algebra.tracing import Traced, term_of

#: Lanes of a warp, and bits of a row.
LANES = 32
ROW_BITS = 128

#: Number of matrices, by its name.
_COUNTS = {"x1": 1, "x2": 2, "x4": 4}

#: Number -> how the matrices of the fragment's own tile lie: how many down, how many across.
_ARRANGED = {1: (1, 1), 2: (2, 1), 4: (2, 2)}

#: Widths that a row of b16 elements may be looked at in; the last one not transposed.
_WIDTHS = (4, 8, 16, 32)

Where = Callable[[Any], Any]
_TEXT = "tables typed from the ISA text, tests/hardware/test_matrices.py"


@dataclass(frozen=True)
class Form:
    """One kind of matrix.

    Attributes:
        rows: 16-byte rows of a matrix, each addressed by a lane.
        bits: bits of an element.
        held: elements that a lane holds of a matrix.
        counts: how many matrices there may be.
        dtypes: element types that it is written with.
        place: (laneid, e) -> row and column in memory of the lane's element e.
        confirmed_by: see `Entry`.
    """

    rows: int
    bits: int
    held: int
    counts: tuple[str, ...]
    dtypes: tuple[str, ...]
    place: Callable[[Any, Any], tuple[Any, Any]]
    confirmed_by: str

    @property
    def columns(self) -> int:
        return ROW_BITS // self.bits


_ALL = ("x1", "x2", "x4")
_PADDED = ("b6x16_p32", "b4x16_p64")
_ATOMS = f"{_TEXT}; tensor-layouts 0.3.2, copy atoms"
_CUTE = f"{_TEXT}; CUTLASS, copy_traits_sm100.hpp"

#: (instruction, shape, trans) -> what it moves.
FORMS = {
    ("ldmatrix", "m8n8", False): Form(
        8, 16, 2, _ALL, ("b16",), lambda lane, e: (lane // 4, 2 * (lane % 4) + e), _ATOMS
    ),
    ("ldmatrix", "m8n8", True): Form(
        8, 16, 2, _ALL, ("b16",), lambda lane, e: (2 * (lane % 4) + e, lane // 4), _ATOMS
    ),
    ("ldmatrix", "m16n16", True): Form(
        16,
        8,
        8,
        ("x1", "x2"),
        ("b8", *_PADDED),
        lambda lane, e: (4 * (lane % 4) + e % 4, lane // 4 + 8 * (e // 4)),
        _CUTE,
    ),
    ("ldmatrix", "m8n16", False): Form(
        8, 8, 4, _ALL, _PADDED, lambda lane, e: (lane // 4, 4 * (lane % 4) + e), _CUTE
    ),
    ("stmatrix", "m8n8", False): Form(
        8, 16, 2, _ALL, ("b16",), lambda lane, e: (lane // 4, 2 * (lane % 4) + e), _ATOMS
    ),
    ("stmatrix", "m8n8", True): Form(
        8, 16, 2, _ALL, ("b16",), lambda lane, e: (2 * (lane % 4) + e, lane // 4), _ATOMS
    ),
    ("stmatrix", "m16n8", True): Form(
        8,
        8,
        4,
        _ALL,
        ("b8",),
        lambda lane, e: (2 * (lane % 4) + e % 2, lane // 4 + 8 * (e // 2)),
        _CUTE,
    ),
}

_SECTIONS = {"ldmatrix": "9.7.14.5.15", "stmatrix": "9.7.14.5.16", "movmatrix": "9.7.14.5.17"}


@dataclass(frozen=True)
class MatrixMove:
    """What ldmatrix and stmatrix share.

    Attributes:
        name: like "ldmatrix.m8n8.x4.trans.b16".
        form: rows, widths and places of one matrix.
        count: how many matrices it moves.
        trans: whether it transposes.
        fragment: the elements of a tile in memory, in the default arrangement, in the registers;
            m counts what a lane holds, in register order.
    """

    name: str
    form: Form
    count: int
    trans: bool
    fragment: Entry

    def _access(self, kind: str, view: View | Buffer, where: Where | None) -> Access:
        whole = view.whole if isinstance(view, Buffer) else view
        if not isinstance(whole, View):  # type: ignore[redundant-expr]
            raise LayoutError(f"{self.name}: a view of a buffer is needed; got {view!r}")
        buffer = whole.buffer
        if buffer.scope != "shared":
            raise LayoutError(
                f"{self.name}: matrices are in shared memory; the buffer is in {buffer.scope}"
            )
        self._check_width(buffer.bits)
        rows = self._default(whole) if where is None else where
        addressing = self.form.rows * self.count

        def row_of(lane: Any) -> Any:
            return rows(lane % addressing)  # the other lanes repeat them: their addresses count not

        active = None if addressing == LANES else (lambda lane: lane < addressing)
        going = whole.read if kind == "read" else whole.write
        access = going(row_of, bits=ROW_BITS, active=active)
        return replace(access, data=self._data(whole, rows), text=f"{self.name} {kind} of {whole}")

    def _check_width(self, bits: int) -> None:
        if self.form.bits == 8:
            if bits != 8:
                raise LayoutError(
                    f"{self.name}: rows are 16 elements in 16 bytes (narrow ones padded at the "
                    f"row's end), a buffer of 8-bit elements; got {bits} bits"
                )
            return
        allowed = _WIDTHS[:-1] if self.trans else _WIDTHS
        if bits not in allowed:
            widths = ", ".join(map(str, allowed))
            raise LayoutError(f"{self.name}: elements of {widths} bits stay whole; got {bits} bits")

    def _default(self, view: View) -> Where:
        """The matrices of a view, down its rows first."""
        high, wide = self.form.rows, ROW_BITS // view.buffer.bits
        down = self._fitting(view)

        def where(lane: Any) -> tuple[Any, Any]:
            matrix, row = lane // high, lane % high
            return (matrix % down) * high + row, (matrix // down) * wide

        return where

    def _fitting(self, view: View) -> int:
        """How many matrices the view has down its rows."""
        high, wide = self.form.rows, ROW_BITS // view.buffer.bits
        shape = view.shape
        if len(shape) == 2:
            rows, columns = shape
            if isinstance(rows, int) and isinstance(columns, int):
                down, across = rows // high, columns // wide
                if (down * high, across * wide, down * across) == (rows, columns, self.count):
                    return down
        options = [
            f"{n * high} x {self.count // n * wide}" for n in (1, 2, 4) if self.count % n == 0
        ]
        raise LayoutError(
            f"{self.name} moves a view of {' or '.join(options)} elements of {view.buffer.bits} "
            f"bits, or of any shape with where=; got {' x '.join(map(str, shape))}"
        )

    def _data(self, view: View, rows: Where) -> Map:
        """(laneid, m) -> the coordinates in the view of the element that the lane holds there."""
        bits, own = view.buffer.bits, self.form.bits
        narrow, joined = max(1, own // bits), max(1, bits // own)
        lane = terms.coordinate("laneid", LANES)
        place = terms.coordinate("m", self.count * self.form.held * narrow // joined)
        element = Traced(place) // narrow * joined
        matrix, inside = element // self.form.held, element % self.form.held
        row, column = self.form.place(Traced(lane), inside)
        start = rows(matrix * self.form.rows + row)
        begin = [*start] if isinstance(start, tuple | list) else [start]
        names = [variable.name for variable in shape_coordinates(view.shape)]
        if len(begin) != len(names):
            raise TraceError(
                f"{rows!r} gives {len(begin)} coordinates; the view has {len(names)} dimensions"
            )
        begin[-1] = begin[-1] + column // joined * narrow + Traced(place) % narrow
        found = zip(names, map(term_of, begin), strict=True)
        return Map((lane, place), tuple(found))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class MatrixLoad(MatrixMove):
    """One ldmatrix instruction; see the module's text."""

    def read(self, view: View | Buffer, where: Where | None = None) -> Access:
        """The read of the matrices in a view of shared memory.

        Args:
            view: a view that has exactly the matrices, or with `where` any; with elements of 16
                bits, or others that stay whole (m8n8: 4, 8 and, not transposed, 32; b8: 8).
            where: lane -> coordinates in the view where the row begins that the lane addresses; by
                default down the rows first, then to the right.

        Returns:
            An access with `data`: (laneid, m) -> i, j of the element that the lane then holds.

        Raises:
            LayoutError: a view that does not fit, not shared, or with elements that would be cut.
        """
        return self._access("read", view, where)


@dataclass(frozen=True)
class MatrixStore(MatrixMove):
    """One stmatrix instruction; see the module's text."""

    def write(self, view: View | Buffer, where: Where | None = None) -> Access:
        """The write of the matrices into a view; arguments and errors as for `MatrixLoad.read`.

        `data` of the access says which element of the view the lane's m-th element becomes.
        """
        return self._access("write", view, where)


@dataclass(frozen=True)
class MatrixTranspose:
    """movmatrix: one 8 x 8 matrix, transposed from registers to registers.

    Attributes:
        name: "movmatrix.m8n8.trans.b16".
        source: the elements of the given matrix, as the lanes hold them before.
        result: the same elements, as the lanes hold them after: the transposed matrix is held as
            `source` holds the given one.
    """

    name: str
    source: Entry
    result: Entry


def ldmatrix(num: str, trans: bool = False, shape: str = "m8n8", dtype: str = "b16") -> MatrixLoad:
    """One ldmatrix instruction.

    Args:
        num: how many matrices: "x1", "x2" or "x4" (not with m16n16).
        trans: whether each lane gets elements of a column; m16n16 always, m8n16 never.
        shape: "m8n8" of 16 bits, "m16n16" or "m8n16" of 8 bits.
        dtype: "b16" with m8n8; "b8" with m16n16; "b6x16_p32" and "b4x16_p64" (a row of 16 elements
            of 6 or 4 bits, padded to 16 bytes, that become 8-bit elements) with both others.

    Raises:
        LayoutError: an instruction that there is not.

    Source: PTX ISA 9.1, section 9.7.14.5.15.
    """
    return MatrixLoad(*_made("ldmatrix", num, trans, shape, dtype))


def stmatrix(num: str, trans: bool = False, shape: str = "m8n8", dtype: str = "b16") -> MatrixStore:
    """One stmatrix instruction.

    Args:
        num: how many matrices: "x1", "x2" or "x4".
        trans: whether each lane gives elements of a column; m16n8 always.
        shape: "m8n8" of 16 bits, or "m16n8" of 8 bits, which is 8 rows of 16 in memory.
        dtype: "b16" with m8n8, "b8" with m16n8.

    Raises:
        LayoutError: an instruction that there is not.

    Source: PTX ISA 9.1, section 9.7.14.5.16.
    """
    return MatrixStore(*_made("stmatrix", num, trans, shape, dtype))


def movmatrix() -> MatrixTranspose:
    """The movmatrix instruction: there is the one, movmatrix.m8n8.trans.b16.

    Source: PTX ISA 9.1, section 9.7.14.5.17.
    """
    name = "movmatrix.m8n8.trans.b16"
    made: list[Entry] = []
    for part, trans in (("source", False), ("result", True)):
        layout = _layout(FORMS["ldmatrix", "m8n8", trans], 1, trans)
        source = f"{PTX}{_SECTIONS['movmatrix']}"
        made.append(Entry(f"{name}.{part}", layout, (8, 8), "b16", source, _TEXT))
    return MatrixTranspose(name, *made)


def _made(
    instruction: str, num: object, trans: object, shape: object, dtype: object
) -> tuple[str, Form, int, bool, Entry]:
    shapes = list(dict.fromkeys(key[1] for key in FORMS if key[0] == instruction))
    if shape not in shapes:
        raise LayoutError(f"{instruction}: the shape is {' or '.join(shapes)}; got {shape!r}")
    if type(trans) is not bool:
        raise LayoutError(f"{instruction}: trans is True or False; got {trans!r}")
    one = FORMS.get((instruction, str(shape), trans))
    if one is None:
        raise LayoutError(f"{instruction}: {shape} has trans={not trans} only; got trans={trans}")
    for what, value, legal in (("num", num, one.counts), ("dtype", dtype, one.dtypes)):
        if value not in legal:
            options = " or ".join(legal)
            raise LayoutError(f"{instruction}: {what} of {shape} is {options}; got {value!r}")
    name = f"{instruction}.{shape}.{num}{'.trans' if trans else ''}.{dtype}"
    count = _COUNTS[str(num)]
    down, across = _ARRANGED[count] if one.rows == 8 else (count, 1)
    tile = (down * one.rows, across * one.columns)
    layout = _layout(one, count, trans)
    source = f"{PTX}{_SECTIONS[instruction]}"
    entry = Entry(f"{name}.fragment", layout, tile, f"b{one.bits}", source, one.confirmed_by)
    return name, one, count, trans, entry


def _layout(one: Form, count: int, trans: bool) -> TileLayout:
    """The registers of a tile in the default arrangement."""
    down, across = _ARRANGED[count] if one.rows == 8 else (count, 1)
    below, beside = (down, one.held, m), (across, one.held * down, m)
    if not trans:  # a lane has neighbours of one row
        iters = [below, (8, 4, laneid), beside, (4, 1, laneid), (one.held, 1, m)]
    else:  # a lane has neighbours of one column; of 8-bit elements, of two that are 8 apart
        stack = one.rows // 4
        halves = one.columns // 8
        iters = [
            below,
            (4, 1, laneid),
            (stack, 1, m),
            beside,
            (halves, stack, m),
            (8, 4, laneid),
        ]
    return TileLayout.from_iters([it for it in iters if it[0] > 1])


@family
def matrix_entries() -> Iterator[Entry]:
    """The fragments of every ldmatrix, stmatrix and movmatrix."""
    for (instruction, shape, trans), one in FORMS.items():
        make = ldmatrix if instruction == "ldmatrix" else stmatrix
        for dtype in one.dtypes:
            for num in one.counts:
                yield make(num, trans, shape, dtype).fragment
    transposed = movmatrix()
    yield transposed.source
    yield transposed.result
