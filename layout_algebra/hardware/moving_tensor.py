"""tcgen05.ld, st and cp over a whole tile, and the descriptors of wgmma and tcgen05.

What a repetition of tcgen05.ld gives to a lane, in 32-bit cells from a column and, for the shapes
of 16 lanes, from lane 0 or 16 of the warp's 32, is the table of tcgen05_atoms; repetitions that
follow each other in the columns are one instruction, in powers of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from layout_algebra import terms
from layout_algebra.axes import TCol, TLane
from layout_algebra.hardware.descriptors import Major
from layout_algebra.hardware.finding_descriptors import NoDescriptor, descriptor_for
from layout_algebra.hardware.moving_claims import Found, Stated, put_into
from layout_algebra.hardware.moving_tables import (
    LANES,
    REGISTER_BITS,
    CannotMoveError,
    Memory,
    Registers,
    fitted,
)
from layout_algebra.hardware.shared import CHUNK, ROWS
from layout_algebra.hardware.tcgen05 import _COPIES, tcgen05_cp_layout
from layout_algebra.hardware.tcgen05_atoms import _ATOMS
from layout_algebra.hardware.tmem import COLUMN_BITS
from layout_algebra.maps import Map
from layout_algebra.terms import Term
from layout_algebra.tracing import Traced, term_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tries = Iterator[tuple[str, Callable[[], Found]]]
#: Lanes of the narrow shapes, warps of a warpgroup, bytes of K of one multiplication.
HALF, WARPS, SLICE = 16, 4, 32

#: Shape -> (registers of a repetition, (lane, register) -> row and column of a cell).
_CELLS: dict[str, tuple[int, Callable[[Any, Any], tuple[Any, Any]]]] = {
    "32x32b": (1, lambda lane, r: (lane, 0 * lane)),
    "16x64b": (1, lambda lane, r: (lane // 4 + 8 * (lane % 2), lane // 2 % 2)),
    "16x128b": (2, lambda lane, r: (lane // 4 + 8 * r, lane % 4)),
    "16x256b": (4, lambda lane, r: (lane // 4 + 8 * (r // 2), 2 * (lane % 4) + r % 2)),
    "16x32bx2": (1, lambda lane, r: (lane % 16, 0 * lane)),
}


# -- between TMEM and registers ----------------------------------------------------------------
def tmem_loads(memory: Memory, registers: Registers) -> Tries:
    """tcgen05.ld of every shape."""
    return _cells("ld", memory, registers)


def tmem_stores(registers: Registers, memory: Memory) -> Tries:
    """tcgen05.st of every shape."""
    return _cells("st", memory, registers)


def _cells(verb: str, memory: Memory, registers: Registers) -> Tries:
    for shape in _CELLS:

        def attempt(shape: str = shape) -> Found:
            return _Window(memory, registers, shape).moved(verb)

        yield f"tcgen05.{verb}.{shape}", attempt


@dataclass(frozen=True)
class _Repetition:
    """Registers that one repetition fills.

    Attributes:
        registers: in the instruction's order.
        slab: 0, or 16 for the upper lanes of the warp's window.
        columns: for each warp, the first column.
        beyond: of 16x32bx2, by how many columns the second half is further on.
    """

    registers: tuple[int, ...]
    slab: int
    columns: tuple[int, ...]
    beyond: int = 0


@dataclass(frozen=True)
class _Window:
    """A tile between TMEM and registers, by one shape."""

    memory: Memory
    registers: Registers
    shape: str

    def moved(self, verb: str) -> Found:
        """How instructions of the shape move the tile.

        Raises:
            CannotMoveError: they do not.
        """
        self._check(verb)
        row, column = self._places()
        found = self._repetitions(row, column)
        return Found(self._count(found), (self._claim(found, row),))

    def _check(self, verb: str) -> None:
        """Raises CannotMoveError for widths, lanes and copies that no shape has."""
        bits = self.memory.bits
        others = [axis for axis in self.memory.map.axes if axis not in (TLane.name, TCol.name)]
        if others:
            raise CannotMoveError(f"TMEM has TLane and TCol; the layout is on {others[0]}")
        if bits not in (8, 16, 32):
            raise CannotMoveError(f"elements in TMEM have 8, 16 or 32 bits; these have {bits}")
        self.memory.check_single()
        self.registers.check_width(bits)
        self.registers.check_all_lanes()
        if verb == "st":
            self.registers.check_once()

    def _places(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """(warp, lane, register) -> the cell's lane in the warp's window, and its column."""
        import numpy as np

        registers, bits = self.registers, self.memory.bits
        words, each = registers.words(bits), REGISTER_BITS // bits
        lane, at = (self.memory.column(axis.name)[registers.elements] for axis in (TLane, TCol))
        lane, at = (one.reshape(*one.shape[:2], words, each) for one in (lane, at))
        cell, inside = np.divmod(at * bits, COLUMN_BITS)
        whole = (cell == cell[..., :1]) & (lane == lane[..., :1])
        wrong = np.argwhere(~(whole & (inside == bits * np.arange(each))))
        if wrong.size:
            warp, own, register, part = map(int, wrong[0])
            raise CannotMoveError(
                f"register {register} of lane {own} of warp {warp} is no cell of TMEM: its element "
                f"{part} is in column {int(cell[warp, own, register, part])}, bit "
                f"{int(inside[warp, own, register, part])}"
            )
        row = lane[..., 0] % LANES
        window = lane[..., 0] // LANES
        own = np.arange(registers.warps)[:, None, None] % WARPS
        free = registers.warps == 1 and (window == window[0, 0, 0]).all()
        wrong = np.argwhere(window != own)
        if wrong.size and not free:
            warp, at_lane, register = map(int, wrong[0])
            raise CannotMoveError(
                f"warp {warp} has lane {int(lane[warp, at_lane, register, 0])} of TMEM in register "
                f"{register} of lane {at_lane}; it reaches lanes {LANES * (warp % WARPS)} to "
                f"{LANES * (warp % WARPS) + LANES - 1}"
            )
        return row, cell[..., 0]

    def _repetitions(self, row: NDArray[Any], column: NDArray[Any]) -> list[_Repetition]:
        """The tile's registers as repetitions of the shape.

        Raises:
            CannotMoveError: a register that is part of none.
        """
        many, _ = _CELLS[self.shape]
        fits = [
            [self._fitting(row[:, :, r], column[:, :, r], part) for part in range(many)]
            for r in range(row.shape[2])
        ]
        left = list(range(len(fits)))
        found: list[_Repetition] = []
        while left:
            first = next((r for r in left if fits[r][0] is not None), None)
            if first is None:
                raise self._stray(left[0], row, column)
            chosen = [first]
            for part in range(1, many):
                other = next((r for r in left if fits[r][part] == fits[first][0]), None)
                if other is None:
                    raise self._stray(first, row, column, part)
                chosen.append(other)
            left = [r for r in left if r not in chosen]
            slab, columns, beyond = fits[first][0]  # type: ignore[misc]
            found.append(_Repetition(tuple(chosen), slab, columns, beyond))
        return found

    def _fitting(
        self, row: NDArray[Any], column: NDArray[Any], part: int
    ) -> tuple[int, tuple[int, ...], int] | None:
        """(slab, first columns, beyond) if a register is this part of a repetition, else None."""
        import numpy as np

        lane = np.arange(LANES)
        rows, columns = _CELLS[self.shape][1](lane, part)
        slab = int(row[0, 0] - rows[0])
        begins = column - columns
        beyond = 0
        if self.shape == "16x32bx2":
            beyond = int(begins[0, HALF] - begins[0, 0])
            begins = begins - beyond * (lane // HALF)
        slabs = (0,) if self.shape == "32x32b" else (0, HALF)
        if slab not in slabs or beyond < 0 or (row != rows + slab).any():
            return None
        if (begins != begins[:, :1]).any():
            return None
        return slab, tuple(map(int, begins[:, 0])), beyond

    def _stray(
        self, register: int, row: NDArray[Any], column: NDArray[Any], part: int = 0
    ) -> CannotMoveError:
        """A register that the shape does not fill in this way."""
        rows, columns = _CELLS[self.shape][1](1, part)
        if part:
            return CannotMoveError(
                f"register {register} begins a repetition, and no register is its part {part}, "
                f"which has for lane 1 row {rows} and column {columns} from the first"
            )
        cells = [(int(row[0, lane, register]), int(column[0, lane, register])) for lane in (0, 1)]
        beside = f"row {rows} and column {columns}"
        return CannotMoveError(
            f"register {register} of warp 0 has the cells (row, column) {cells[0]} in lane 0 and "
            f"{cells[1]} in lane 1, ...; the shape gives lane 1 {beside} from lane 0's on, in "
            f"{LANES if self.shape == '32x32b' else HALF} rows"
        )

    def _count(self, found: list[_Repetition]) -> int:
        """Instructions that the repetitions make: runs of columns in powers of two."""
        step, most = _ATOMS[self.shape]
        step = 1 if self.shape == "16x32bx2" else step
        by_kind: dict[tuple[int, int, tuple[int, ...]], set[int]] = {}
        for one in found:
            gaps = tuple(column - one.columns[0] for column in one.columns)
            by_kind.setdefault((one.slab, one.beyond, gaps), set()).add(one.columns[0])
        total = 0
        for begins in by_kind.values():
            while begins:
                first = min(begins)
                length = 1
                while first + length * step in begins:
                    length += 1
                begins.difference_update(range(first, first + length * step, step))
                total += length // most + (length % most).bit_count()
        return total

    def _claim(self, found: list[_Repetition], row: NDArray[Any]) -> Stated:
        """That the cells of the fragment's registers are those of the tile."""
        registers, bits = self.registers, self.memory.bits
        many, cell = _CELLS[self.shape]
        slots = [0] * row.shape[2]
        for number, one in enumerate(found):
            for part, register in enumerate(one.registers):
                slots[register] = number * many + part
        coordinates, warp, lane, at = registers.symbols()
        register, inside = divmod(Traced(at), REGISTER_BITS // bits)
        number, part = divmod(Traced(fitted(slots)(register.term)), many)
        rows, columns = cell(Traced(lane), part)
        begins = fitted([column for one in found for column in one.columns])
        first = Traced(begins((number * registers.warps + Traced(warp)).term))
        slab = Traced(fitted([one.slab for one in found])(term_of(number)))
        beyond = Traced(fitted([one.beyond for one in found])(term_of(number)))
        if self.shape == "16x32bx2":
            columns = columns + beyond * (Traced(lane) // HALF)
        window = Traced(warp) % WARPS if registers.warps > 1 else self._window()
        places = {
            TLane.name: term_of(LANES * window + slab + rows),
            TCol.name: term_of((first + columns) * (COLUMN_BITS // bits) + inside),
        }
        cells = Map(coordinates, tuple(places.items())).after(registers.map, inside=True)
        return Stated("Equivalent", (cells, self.memory.map))

    def _window(self) -> int:
        """The window of a single warp."""
        return int(self.memory.column(TLane.name)[0]) // LANES


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
            f"it copies elements of 8, 16 or 32 bits as they are; there are {source.bits} and {bits}"
        )
    if len(target.shape) != 2 or len(source.shape) != 2:
        raise CannotMoveError(f"a matrix has two dimensions; got {target.shape}")
    rows, cols = target.shape
    each = width // bits
    if rows != wanted or cols % each:
        raise CannotMoveError(
            f"it copies {wanted} rows by a multiple of {each} elements; the tile has {rows} x {cols}"
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
    first = terms.linear([(fitted(begins)(number), 1)])
    outputs = {axis: term for axis, term in cells.outputs}
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


def _check_source(source: Memory, first: int, each: int) -> None:
    """Raises CannotMoveError unless a descriptor leads to these columns in shared memory."""
    view = source.view[0 : source.shape[0], first : first + each]
    if each * source.bits > 8 * CHUNK:
        found = descriptor_for(view, "tcgen05")
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
        view = source.view[row : row + high, column : column + each]
        found = descriptor_for(view, instruction, major)
        if isinstance(found, NoDescriptor):
            raise CannotMoveError(f"rows from {row}, K from {column}: {found.reason}")
        reads = found.layout((high, each), f"b{bits}", major).map((high, each))
        proof.append(Stated("Equivalent", (reads, Memory.of(view).map)))
    return Found(len(proof), tuple(proof))
