"""ld and st of 1 to 16 bytes a lane: a lane's registers as runs of memory.

A vector instruction names its registers one by one, so that any registers of a lane may make a run,
the same ones in all lanes.  Narrower than a register, a piece lands in a register of its own and is
packed with its neighbours afterwards; that is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from layout_algebra import terms
from layout_algebra.instructions.claims import Dealing, Found, Stated, dealt
from layout_algebra.instructions.tables import (
    REGISTER_BITS,
    CannotMoveError,
    Memory,
    Registers,
    fitted,
)
from layout_algebra.terms import Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Bytes a lane -> how PTX writes it.
WIDTHS = {1: "b8", 2: "b16", 4: "b32", 8: "v2.b32", 16: "v4.b32"}

Tries = Iterator[tuple[str, Callable[[], Found]]]


def loaded_vectors(memory: Memory, registers: Registers) -> Tries:
    """ld of each width, from shared or global memory."""
    return _vectors("ld", "read", memory, registers)


def stored_vectors(registers: Registers, memory: Memory) -> Tries:
    """st of each width, to shared or global memory."""
    return _vectors("st", "write", memory, registers)


def _vectors(
    verb: str, kind: Literal["read", "write"], memory: Memory, registers: Registers
) -> Tries:
    for size, suffix in WIDTHS.items():
        name = f"{verb}.{memory.scope}.{suffix}"

        def attempt(name: str = name, size: int = size) -> Found:
            return _moved(name, kind, memory, registers, size)

        yield name, attempt


def _moved(
    name: str, kind: Literal["read", "write"], memory: Memory, registers: Registers, size: int
) -> Found:
    """How the vectors of a lane move the tile.

    Raises:
        CannotMoveError: they do not.
    """
    memory.check_single()
    registers.check_width(memory.bits)
    registers.check_even()
    if kind == "write":
        registers.check_once()
        memory.check_written_once()
    order = _order(memory, registers, size)
    count, each = order.shape
    held = registers.elements[:, :, order]  # warp, lane, vector, e
    back = fitted(order.ravel().argsort())

    def deal(lane: Term, place: Term) -> tuple[Term, Term, Term]:
        vector, inside = terms.divmod_terms(back(place), each)
        return vector, lane, inside

    access = dealt(
        Dealing(name, kind, held.transpose(0, 2, 1, 3), deal),
        memory,
        registers,
    )
    claims = [Stated("Matches", (access, registers.map))]
    if kind == "write":
        claims.append(Stated("NoWriteRace", (access,)))
    return Found(count, tuple(claims))


def _order(memory: Memory, registers: Registers, size: int) -> NDArray[Any]:
    """(vector, e) -> m: which places of a lane make a vector, the same for all lanes."""
    import numpy as np

    bits, held = memory.bits, registers.held
    unit = max(bits, min(8 * size, REGISTER_BITS))
    if 8 * size < bits or 8 * size % bits:
        raise CannotMoveError(f"{8 * size} bits hold no whole elements of {bits} bits")
    if held * bits % (8 * size):
        raise CannotMoveError(
            f"a lane holds {held} elements of {bits} bits, which are no multiple of {size} bytes"
        )
    memory.check_align(size)
    threads = np.argwhere(registers.active)
    owned = registers.elements[registers.active]
    begins = memory.table[owned]  # thread, m
    each = unit // bits
    units = begins.reshape(len(owned), held // each, each)
    _check_units(units, bits, threads)
    runs = _runs(units[:, :, 0], unit, 8 * size, threads)
    places = np.asarray(runs)[:, :, None] * each + np.arange(each)
    return places.reshape(len(runs), -1)


def _check_units(units: NDArray[Any], bits: int, threads: NDArray[Any]) -> None:
    """That the elements of a register are neighbours in memory."""
    import numpy as np

    each = units.shape[2]
    wrong = np.argwhere(units != units[:, :, :1] + bits * np.arange(each))
    if not wrong.size:
        return
    thread, unit, inside = map(int, wrong[0])
    warp, lane = map(int, threads[thread])
    first, other = (_where(int(units[thread, unit, e])) for e in (0, inside))
    raise CannotMoveError(
        f"of lane {lane} of warp {warp} the elements m = {unit * each} and {unit * each + inside} "
        f"lie at {first} and {other}: they are no run of {each * bits} bits"
    )


def _runs(
    begins: NDArray[Any], unit: int, width: int, threads: NDArray[Any]
) -> list[tuple[int, ...]]:
    """Units chained into runs of the width, aligned in every thread.

    Units go with each other by their differences from the first thread on, so that a chain is one
    in all threads.
    """
    known: dict[bytes, list[int]] = {}
    for number in range(begins.shape[1]):
        known.setdefault(begins[:, number].tobytes(), []).append(number)
    _check_neighbours(begins, unit, width, threads)
    aligned = [n for n in range(begins.shape[1]) if not (begins[:, n] % width).any()]
    left = set(range(begins.shape[1]))
    runs: list[tuple[int, ...]] = []
    for first in aligned:
        run = [first]
        for step in range(1, width // unit):
            following = known.get((begins[:, first] + step * unit).tobytes(), [])
            chosen = next((n for n in following if n in left and n not in run), None)
            if chosen is None:
                raise _broken(begins, first, step * unit, width, threads)
            run.append(chosen)
        left.difference_update(run)
        runs.append(tuple(run))
    if left:
        raise _stray(begins, min(left), width, threads)
    return runs


def _check_neighbours(begins: NDArray[Any], unit: int, width: int, threads: NDArray[Any]) -> None:
    """That some unit follows another one in the first thread, if runs are longer than units."""
    first = begins[0].tolist()
    if width == unit or any(begin + unit in first for begin in first):
        return
    warp, lane = map(int, threads[0])
    shown = ", ".join(_where(begin) for begin in first[:4]) + (", ..." if len(first) > 4 else "")
    raise CannotMoveError(
        f"lane {lane} of warp {warp} has {unit // 8} bytes each at {shown}: no run of "
        f"{width // 8} bytes"
    )


def _broken(
    begins: NDArray[Any], first: int, reached: int, width: int, threads: NDArray[Any]
) -> CannotMoveError:
    """No register of all lanes follows a run."""
    thread = next((t for t in range(len(begins)) if begins[t, first] + reached not in begins[t]), 0)
    warp, lane = map(int, threads[thread])
    begin = _where(int(begins[thread, first]))
    return CannotMoveError(
        f"lane {lane} of warp {warp} has {reached // 8} bytes at {begin}, and no register that "
        f"continues them in every lane: no run of {width // 8} bytes"
    )


def _stray(begins: NDArray[Any], unit: int, width: int, threads: NDArray[Any]) -> CannotMoveError:
    """A register that no aligned run takes up."""
    off = (begins[:, unit] % width).nonzero()[0]
    thread = int(off[0]) if off.size else 0
    warp, lane = map(int, threads[thread])
    return CannotMoveError(
        f"lane {lane} of warp {warp} has {_where(int(begins[thread, unit]))} in no run of "
        f"{width // 8} bytes that begins at a multiple of them in every lane"
    )


def _where(bit: int) -> str:
    byte, rest = divmod(bit, 8)
    return f"byte {byte}" if not rest else f"byte {byte} and {rest} bits"
