"""tcgen05.ld and st over a whole tile: registers as cells of TMEM.

What a repetition of an instruction gives to a lane, in 32-bit cells from a column on and, for the
shapes of 16 lanes, from lane 0 or 16 of the warp's 32, is the table of tcgen05_atoms.  Repetitions
that follow each other in the columns are one instruction, in powers of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from layout_algebra.axes import TCol, TLane
from layout_algebra.hardware.tcgen05_atoms import _ATOMS
from layout_algebra.hardware.tmem import COLUMN_BITS
from layout_algebra.instructions.claims import Found, Stated
from layout_algebra.instructions.tables import (
    LANES,
    REGISTER_BITS,
    CannotMoveError,
    Memory,
    Registers,
    fitted,
)
from layout_algebra.maps import Map
from layout_algebra.tracing import Traced, term_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tries = Iterator[tuple[str, Callable[[], Found]]]
#: Lanes of the narrow shapes, and warps of a warpgroup.
HALF, WARPS = 16, 4

#: Shape -> (registers of a repetition, (lane, register) -> row and column of a cell).
_CELLS: dict[str, tuple[int, Callable[[Any, Any], tuple[Any, Any]]]] = {
    "32x32b": (1, lambda lane, r: (lane, 0 * lane)),
    "16x64b": (1, lambda lane, r: (lane // 4 + 8 * (lane % 2), lane // 2 % 2)),
    "16x128b": (2, lambda lane, r: (lane // 4 + 8 * r, lane % 4)),
    "16x256b": (4, lambda lane, r: (lane // 4 + 8 * (r // 2), 2 * (lane % 4) + r % 2)),
    "16x32bx2": (1, lambda lane, r: (lane % 16, 0 * lane)),
}


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
