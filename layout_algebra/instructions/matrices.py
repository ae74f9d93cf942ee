"""ldmatrix and stmatrix over a whole tile, and movmatrix: registers as matrices of 16-byte rows.

Each register of a warp (of two instructions: each two) is a matrix if its elements, looked at as
the instruction deals them out, are 16-byte rows of memory.  Which registers an instruction names,
and in which order, is free; so are the rows' addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from layout_algebra import terms
from layout_algebra.hardware.matrices import (
    _COUNTS,
    _WIDTHS,
    FORMS,
    ROW_BITS,
    Form,
    ldmatrix,
    stmatrix,
)
from layout_algebra.instructions.claims import Dealing, Found, Stated, dealt
from layout_algebra.instructions.tables import (
    LANES,
    REGISTER_BITS,
    CannotMoveError,
    Memory,
    Registers,
    fitted,
)
from layout_algebra.maps import Map
from layout_algebra.terms import Term
from layout_algebra.tracing import Traced, term_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tries = Iterator[tuple[str, Callable[[], Found]]]
#: Types that are moved as they are; the others widen padded rows.
_AS_IT_IS = ("b16", "b8")


def loaded_matrices(memory: Memory, registers: Registers) -> Tries:
    """Every ldmatrix that moves bits as they are."""
    return _matrices("ldmatrix", "read", memory, registers)


def stored_matrices(registers: Registers, memory: Memory) -> Tries:
    """Every stmatrix."""
    return _matrices("stmatrix", "write", memory, registers)


def _matrices(
    instruction: str, kind: Literal["read", "write"], memory: Memory, registers: Registers
) -> Tries:
    make = ldmatrix if instruction == "ldmatrix" else stmatrix
    for (own, shape, trans), form in FORMS.items():
        dtype = form.dtypes[0]
        if own != instruction or dtype not in _AS_IT_IS:
            continue
        for num in form.counts:
            name = make(num, trans, shape, dtype).name

            def attempt(
                name: str = name, form: Form = form, num: int = _COUNTS[num], trans: bool = trans
            ) -> Found:
                return _Tile(memory, registers, form, trans).moved(name, kind, num)

            yield name, attempt


@dataclass(frozen=True)
class _Tile:
    """A tile that a form's matrices are looked for in."""

    memory: Memory
    registers: Registers
    form: Form
    trans: bool

    def moved(self, name: str, kind: Literal["read", "write"], num: int) -> Found:
        """How instructions of so many matrices move the tile.

        Raises:
            CannotMoveError: they do not.
        """
        self._check(kind)
        slots, rows = self._found()
        count, rest = divmod(len(rows), num)
        if rest:
            raise CannotMoveError(
                f"the tile is {len(rows)} matrices of a warp, which are no multiple of {num}"
            )
        bits, own = self.memory.bits, self.form.bits
        elements = rows.reshape(count, num, *rows.shape[1:])  # count, num, warp, row, e
        elements = elements.transpose(2, 0, 1, 3, 4)
        warps, _, _, high, each = elements.shape
        elements = elements.reshape(warps, count, num * high, each)
        slot, per = fitted(slots), self._per_register
        parts = self.form.held // per
        held = REGISTER_BITS // bits

        def deal(lane: Term, place: Term) -> tuple[Term, Term, Term]:
            register, inside = divmod(Traced(place), held)
            matrix, part = divmod(Traced(slot(register.term)), parts)
            unit = part * per + inside * bits // own
            row, column = self.form.place(Traced(lane), unit)
            begin = column * own // bits + inside % max(1, own // bits)
            address = matrix % num * high + row
            return term_of(matrix // num), term_of(address), term_of(begin)

        access = dealt(Dealing(name, kind, elements, deal), self.memory, self.registers)
        claims = [Stated("Matches", (access, self.registers.map))]
        if kind == "write":
            claims.append(Stated("NoWriteRace", (access,)))
        return Found(count, tuple(claims))

    @property
    def _per_register(self) -> int:
        """Elements of the form in one register."""
        return REGISTER_BITS // self.form.bits

    def _check(self, kind: str) -> None:
        """Raises CannotMoveError for widths, lanes and alignments that no matrix has."""
        bits, own = self.memory.bits, self.form.bits
        widths = (8,) if own == 8 else _WIDTHS[:-1] if self.trans else _WIDTHS
        if bits not in widths:
            allowed = " or ".join(map(str, widths))
            raise CannotMoveError(f"elements of {allowed} bits stay whole in it; these have {bits}")
        self.memory.check_single()
        self.registers.check_width(bits)
        self.registers.check_all_lanes()
        if kind == "write":
            self.registers.check_once()
            self.memory.check_written_once()
        self.memory.check_align(ROW_BITS // 8)

    def _units(self) -> NDArray[Any]:
        """(warp, lane, register, unit of the form) -> the bit where it is in memory."""
        import numpy as np

        bits, own, registers = self.memory.bits, self.form.bits, self.registers
        words = registers.words(bits)
        begins = self.memory.table[registers.elements]
        shape = (*begins.shape[:2], words, self._per_register)
        if bits >= own:
            return (begins[..., None] + own * np.arange(bits // own)).reshape(shape)
        parts = begins.reshape(*shape, own // bits)
        wrong = np.argwhere(parts != parts[..., :1] + bits * np.arange(own // bits))
        if wrong.size:
            warp, lane, register, *_ = map(int, wrong[0])
            raise CannotMoveError(
                f"register {register} of lane {lane} of warp {warp} has elements that share "
                f"{own} bits and are no neighbours in memory"
            )
        return parts[..., 0]

    def _found(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """register -> matrix and part of it; and (matrix, warp, row, e) -> the tile's element."""
        import numpy as np

        units = self._units()
        per = self._per_register
        parts = self.form.held // per
        rows = [
            [_rows(self.form, units[:, :, r], part * per) for part in range(parts)]
            for r in range(units.shape[2])
        ]
        matrices = _paired(rows, parts)
        slots = np.zeros(units.shape[2], np.int64)
        for number, registers in enumerate(matrices):
            for part, register in enumerate(registers):
                slots[register] = number * parts + part
        begins = [rows[registers[0]][0] for registers in matrices]
        return slots, self._elements(np.asarray(begins))

    def _elements(self, begins: NDArray[Any]) -> NDArray[Any]:
        """The tile's elements in rows of memory that begin at given bits."""
        import numpy as np

        bits, table = self.memory.bits, self.memory.table
        order = np.argsort(table, kind="stable")
        wanted = begins[..., None] + bits * np.arange(ROW_BITS // bits)
        return order[np.searchsorted(table, wanted, sorter=order)]


def _rows(form: Form, units: NDArray[Any], first: int) -> Any:
    """(warp, row) -> the bit where it begins, if a register is part of a matrix; else the reason.

    Args:
        units: (warp, lane, unit) -> bit.
        first: the number of its first unit among those that a lane holds of a matrix.
    """
    import numpy as np

    lane, unit = np.meshgrid(np.arange(LANES), np.arange(units.shape[2]), indexing="ij")
    row, column = form.place(lane, unit + first)
    begins = units - column * form.bits
    found = np.zeros((units.shape[0], form.rows), np.int64)
    found[:, row.ravel()[::-1]] = begins.reshape(len(units), -1)[:, ::-1]  # the first lane's stays
    wrong = np.argwhere(begins != found[:, row])
    if wrong.size:
        warp, lane_, at = map(int, wrong[0])
        byte, other = int(units[warp, lane_, at]), int(found[warp, row[lane_, at]])
        expected = other + int(column[lane_, at]) * form.bits
        return (
            f"lane {lane_} of warp {warp} has byte {byte // 8}, where row {int(row[lane_, at])} of "
            f"a matrix would have byte {expected // 8}"
        )
    odd = np.argwhere(found % ROW_BITS)
    if odd.size:
        warp, at = map(int, odd[0])
        return (
            f"row {at} of a matrix of warp {warp} begins at byte {int(found[warp, at]) // 8}, no "
            f"multiple of {ROW_BITS // 8}"
        )
    return found


def _paired(rows: list[list[Any]], parts: int) -> list[tuple[int, ...]]:
    """The registers of each matrix: those that, as its parts, have the same rows.

    Raises:
        CannotMoveError: a register that is no part of one.
    """
    left = list(range(len(rows)))
    matrices: list[tuple[int, ...]] = []
    while left:
        first = next((r for r in left if not isinstance(rows[r][0], str)), left[0])
        begins = rows[first][0]
        if isinstance(begins, str):
            raise CannotMoveError(f"register {first} is no matrix: {begins}")
        chosen = [first]
        for part in range(1, parts):
            others = (r for r in left if r not in chosen)
            fits = (r for r in others if _same(rows[r][part], begins))
            other = next(fits, None)
            if other is None:
                raise CannotMoveError(
                    f"register {first} is a part of a matrix, and no register is the other part"
                )
            chosen.append(other)
        left = [r for r in left if r not in chosen]
        matrices.append(tuple(chosen))
    return matrices


def _same(one: Any, other: Any) -> bool:
    return not isinstance(one, str) and bool((one == other).all())


# -- from registers to registers ---------------------------------------------------------------
def transposes(source: Registers, target: Registers) -> Tries:
    """movmatrix, and no instruction at all."""
    yield "registers as they are", lambda: _in_place(source, target)
    yield "movmatrix.m8n8.trans.b16", lambda: _transposed(source, target)


def _in_place(source: Registers, target: Registers) -> Found:
    """The same elements in the same lanes, registers only named otherwise."""
    bits = _common_bits(source, target)
    before, after = _by_register(source, bits), _by_register(target, bits)
    chosen = _renamed(before, after)
    held, register = REGISTER_BITS // bits, fitted(chosen)

    def place(lane: Term, at: Term) -> tuple[Term, Term]:
        number, inside = terms.divmod_terms(at, held)
        return lane, terms.linear([(register(number), held), (inside, 1)])

    return Found(0, (_carried(source, target, place),))


def _transposed(source: Registers, target: Registers) -> Found:
    """Each register a matrix of 8 x 8, whose transpose is a register of the target."""
    bits = _common_bits(source, target)
    if bits != FORMS["ldmatrix", "m8n8", False].bits:
        raise CannotMoveError(f"it transposes elements of 16 bits; these have {bits}")
    before, after = _by_register(source, bits), _by_register(target, bits)
    squares = before.reshape(before.shape[0], before.shape[1], 8, 8)
    turned = squares.transpose(0, 1, 3, 2).reshape(before.shape)
    register = fitted(_renamed(turned, after))

    def place(lane: Term, at: Term) -> tuple[Term, Term]:
        number, inside = divmod(Traced(at), 2)
        row, column = Traced(lane) // 4, 2 * (Traced(lane) % 4) + inside
        chosen = 2 * Traced(register(number.term)) + row % 2
        return term_of(4 * column + row // 2), term_of(chosen)

    return Found(before.shape[1], (_carried(source, target, place),))


def _common_bits(source: Registers, target: Registers) -> int:
    if source.bits is None or target.bits is None:
        raise CannotMoveError(
            "the width of its elements is not known: give entries of the catalogue"
        )
    if source.bits != target.bits:
        raise CannotMoveError(
            f"elements of {source.bits} bits do not become ones of {target.bits} by being moved"
        )
    for one in (source, target):
        one.check_all_lanes()
    source.words(source.bits)
    target.words(source.bits)
    if source.elements.shape != target.elements.shape:
        raise CannotMoveError(
            f"{source.warps} warps hold {source.held} elements a lane, and {target.warps} warps "
            f"want {target.held}"
        )
    return source.bits


def _by_register(one: Registers, bits: int) -> NDArray[Any]:
    """(warp, register, lane and element in it) -> element."""
    warps, lanes, held = one.elements.shape
    each = REGISTER_BITS // bits
    parts = one.elements.reshape(warps, lanes, held // each, each)
    return parts.transpose(0, 2, 1, 3).reshape(warps, held // each, lanes * each)


def _renamed(before: NDArray[Any], after: NDArray[Any]) -> list[int]:
    """register -> the register of the target that has its elements."""
    known: dict[bytes, list[int]] = {}
    for register in range(after.shape[1]):
        known.setdefault(after[:, register].tobytes(), []).append(register)
    found: list[int] = []
    for register in range(before.shape[1]):
        others = known.get(before[:, register].tobytes(), [])
        if not others:
            raise CannotMoveError(
                f"what register {register} then has in the lanes of its warps, no register of the "
                "target has"
            )
        found.append(others.pop(0))
    return found


def _carried(
    source: Registers, target: Registers, place: Callable[[Term, Term], tuple[Term, Term]]
) -> Stated:
    """That the source's places, moved, are the target's."""
    coordinates, warp, lane, at = source.symbols()
    to, number = place(lane, at)
    thread = terms.linear([(warp, LANES), (to, 1)])
    named = {"laneid": to, "tid_in_wg": thread, "wid_in_wg": warp, "warpid": warp, "m": number}
    outputs = tuple((axis, named[axis]) for axis in target.map.axes)
    carried = Map(coordinates, outputs).after(source.map, inside=True)
    return Stated("Equivalent", (carried, target.map))
