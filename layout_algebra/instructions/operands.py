"""tcgen05.cp over a whole tile, and the descriptors through which tensor cores read one.

A tile is cut into slices along its columns: as wide as a copy is, or 32 bytes of K for each matrix
multiplication.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from layout_algebra import terms
from layout_algebra.axes import TCol, TLane
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.descriptors import Major
from layout_algebra.hardware.finding_descriptors import NoDescriptor, descriptor_for
from layout_algebra.hardware.shared import CHUNK, ROWS
from layout_algebra.hardware.tcgen05 import _COPIES, tcgen05_cp_layout
from layout_algebra.hardware.tmem import COLUMN_BITS
from layout_algebra.instructions.claims import Found, Stated, put_into
from layout_algebra.instructions.tables import CannotMoveError, Memory, fitted
from layout_algebra.maps import Map
from layout_algebra.memory.buffers import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tries = Iterator[tuple[str, Callable[[], Found]]]
#: Bytes of K of one multiplication.
SLICE = 32


# -- from shared memory to TMEM ----------------------------------------------------------------
def copies(source: Memory, target: Memory) -> Tries:
    """tcgen05.cp of every shape and multicast."""
    for shape, multicast in _COPIES:

        def attempt(shape: str = shape, multicast: str = multicast) -> Found:
            return _copied(source, target, shape, multicast)

        yield ".".join(filter(None, ("tcgen05.cp", shape, multicast))), attempt


def _copied(source: Memory, target: Memory, shape: str, multicast: str) -> Found:
    """How the copies move the tile, a slice of a few columns after the other.

    Raises:
        CannotMoveError: they do not.
    """
    bits = target.bits
    wanted, width = int(shape.split("x")[0]), _COPIES[shape, multicast][2]
    if source.bits != bits or bits not in (8, 16, 32):
        raise CannotMoveError(
            f"it copies elements of 8, 16 or 32 bits as they are; got {source.bits} and {bits} bits"
        )
    if len(target.shape) != 2 or len(source.shape) != 2:
        raise CannotMoveError(f"a matrix has two dimensions; got {target.shape}")
    rows, cols = target.shape
    each = width // bits
    if rows != wanted or cols % each:
        raise CannotMoveError(
            f"it copies {wanted} rows by a multiple of {each} elements; got {rows} x {cols}"
        )
    begins = [int(first) for first in target.column(TCol.name)[:cols:each]]
    odd = next((first for first in begins if first * bits % COLUMN_BITS), None)
    if odd is not None:
        raise CannotMoveError(f"column {odd} of TMEM begins inside a cell of {COLUMN_BITS} bits")
    written = _written(shape, multicast, target, begins, each)
    _check_cells(written, target.map)
    for first in range(0, cols, each):
        _check_source(source, first, each)
    return Found(cols // each, (Stated("Equivalent", (written, target.map)),))


def _written(shape: str, multicast: str, target: Memory, begins: list[int], each: int) -> Map:
    """The cells of all copies, over the tile's coordinates."""
    layout = tcgen05_cp_layout(shape, multicast, f"b{target.bits}")
    one = layout.map((target.shape[0], each))
    row, column = target.map.coordinates
    number, inside = terms.divmod_terms(column, each)
    cells = put_into(one, dict(zip(("i", "j"), (row, inside), strict=True)))
    first = fitted(begins)(number)
    outputs = dict(cells.outputs)
    outputs[TCol.name] = terms.add(outputs[TCol.name], first)
    return Map(target.map.coordinates, tuple(outputs.items()), cells.replicas)


def _check_cells(written: Map, target: Map) -> None:
    """Raises CannotMoveError unless both have the same cells, copies included, everywhere."""
    import numpy as np

    def keys(one: Map) -> NDArray[Any]:
        """Each element's cells, sorted."""
        table = one.table()
        size = int(one.size)  # type: ignore[arg-type]
        lane, column = (
            table.get(axis.name, np.zeros(1, np.int64)).reshape(size, -1) for axis in (TLane, TCol)
        )
        return np.sort(lane << 32 | column, axis=1)

    sides = [keys(written), keys(target)]
    counts = [len(set(side[0].tolist())) for side in sides]
    if counts[0] != counts[1] or sides[0].shape != sides[1].shape:
        raise CannotMoveError(f"it writes {counts[0]} copies of a row; the tile has {counts[1]}")
    wrong = np.argwhere(sides[0] != sides[1])
    if wrong.size:
        element = int(wrong[0][0])
        got, expected = (divmod(int(side[tuple(wrong[0])]), 1 << 32) for side in sides)
        raise CannotMoveError(
            f"element {element} is written to lane {got[0]}, column {got[1]}; the tile has it at "
            f"lane {expected[0]}, column {expected[1]}"
        )


def _part(source: Memory, row: int, rows: int, column: int, columns: int) -> View:
    """A box of a tile that is a view of two dimensions."""
    if source.view is None:
        raise LayoutError("instructions: descriptors are of views of buffers")
    return source.view[row : row + rows, column : column + columns]


def _check_source(source: Memory, first: int, each: int) -> None:
    """Raises CannotMoveError unless a descriptor leads to these columns in shared memory."""
    view = _part(source, 0, source.shape[0], first, each)
    if each * source.bits > 8 * CHUNK:
        found = descriptor_for(view, "tcgen05", first_rows=True)
        if isinstance(found, NoDescriptor):
            raise CannotMoveError(found.reason)
        return
    _check_chunks(Memory.of(view))


def _check_chunks(source: Memory) -> None:
    """A single column of 16-byte rows: groups of 8 rows that touch, at equal distances."""
    import numpy as np

    source.check_single()
    source.check_align(CHUNK)
    rows, each = source.shape
    found = source.table.reshape(rows // ROWS, ROWS, each)
    dense = source.bits * np.arange(ROWS * each).reshape(ROWS, each)
    if (found - found[:, :1, :1] != dense).any() or found[0, 0, 0] % (8 * CHUNK):
        raise CannotMoveError(
            f"in shared memory {ROWS} rows of {CHUNK} bytes are not one run of {ROWS * CHUNK}"
        )
    gaps = np.diff(found[:, 0, 0])
    if (gaps != gaps[:1]).any() or (gaps % (8 * CHUNK)).any() or (gaps < 0).any():
        raise CannotMoveError(
            f"groups of {ROWS} rows do not follow each other at one distance in shared memory"
        )


# -- from shared memory to the tensor cores ----------------------------------------------------
def descriptors(source: Memory, instruction: str, rows: int | None) -> Tries:
    """Descriptors of an instruction, K-major and MN-major: one for each 32 bytes' worth of K."""
    majors: tuple[Major, ...] = ("K", "MN")
    for major in majors:

        def attempt(major: Major = major) -> Found:
            return _described(source, instruction, major, rows)

        yield f"{instruction} descriptor, {major}-major", attempt


def _described(source: Memory, instruction: str, major: Major, rows: int | None) -> Found:
    """The slices of a tile, each with its descriptor.

    Raises:
        CannotMoveError: a slice that has none.
    """
    bits, shape = source.bits, source.shape
    if len(shape) != 2:
        raise CannotMoveError(f"a matrix has two dimensions; got {shape}")
    high, each = shape[0] if rows is None else rows, 8 * SLICE // bits
    if shape[0] % high or shape[1] % each:
        raise CannotMoveError(
            f"one multiplication reads {high} rows and {each} elements of K; the tile has "
            f"{shape[0]} x {shape[1]}"
        )
    proof: list[Stated] = []
    for row, column in product(range(0, shape[0], high), range(0, shape[1], each)):
        view = _part(source, row, high, column, each)
        found = descriptor_for(view, instruction, major)
        if isinstance(found, NoDescriptor):
            raise CannotMoveError(f"rows from {row}, K from {column}: {found.reason}")
        reads = found.layout((high, each), f"b{bits}", major).map((high, each))
        proof.append(Stated("Equivalent", (reads, Memory.of(view).map)))
    return Found(len(proof), tuple(proof))
