"""Which instructions move a tile from here to there, how often, and why the others do not.

    for move in instructions(sA[0:16, 0:16], mma("m16n8k16", "float16").A):
        print(move)
    # ld.shared.b32: 4 times
    # ld.shared.v4.b32: no: lane 0 of warp 0 has 4 bytes each at byte 0, byte 1024, ...
    # ldmatrix.m8n8.x4.b16: once

A place is a buffer or a view of one (shared, global, TMEM), an entry of the catalogue (a fragment
in registers, or cells of TMEM), a Map to registers, or a tensor core's operand (`Operand`).  An
instruction may name its registers in any order, and each warp, box or descriptor its own address;
what is asked is whether some number of such instructions moves every element of the tile and
nothing else.

    from          to          instructions
    shared        registers   ld.shared, ldmatrix
    registers     shared      st.shared, stmatrix
    global        registers   ld.global                    and back: st.global
    global        shared      TMA load, by swizzle mode    and back: TMA store
    tmem          registers   tcgen05.ld                   and back: tcgen05.st
    shared        tmem        tcgen05.cp
    shared        operand     descriptors of wgmma or tcgen05
    registers     registers   movmatrix, or nothing at all

Between other places there is no instruction that is modelled here, and none is listed.  Neither are
variants that convert (ldmatrix from padded 4- and 6-bit rows, tcgen05.ld.pack::16b).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_
from typing import Any, TypeAlias

from layout_algebra.axes import TCol, TLane
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.finding_descriptors import _KINDS
from layout_algebra.instructions.boxes import boxes
from layout_algebra.instructions.claims import Found, Stated
from layout_algebra.instructions.matrices import loaded_matrices, stored_matrices, transposes
from layout_algebra.instructions.operands import copies, descriptors
from layout_algebra.instructions.tables import CannotMoveError, Memory, Registers
from layout_algebra.instructions.tmem import tmem_loads, tmem_stores
from layout_algebra.instructions.vectors import loaded_vectors, stored_vectors
from layout_algebra.maps import Map
from layout_algebra.memory.buffers import Buffer, View
from layout_algebra.prover import prove
from layout_algebra.verdicts import Proof


@dataclass(frozen=True)
class Operand:
    """A matrix that a tensor core reads from shared memory through descriptors.

    Attributes:
        instruction: "wgmma" or "tcgen05".
        rows: rows (M or N) of one instruction; None for all that the tile has.
    """

    instruction: str
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.instruction not in _KINDS:
            raise LayoutError(
                f"Operand: the instruction is {' or '.join(_KINDS)}; got {self.instruction!r}"
            )
        if self.rows is not None and (type(self.rows) is not int or self.rows < 1):
            raise LayoutError(f"Operand: rows is a positive int or None; got {self.rows!r}")


@dataclass(frozen=True)
class Move:
    """One instruction, and whether it moves the tile.

    Attributes:
        name: the instruction.
        possible: whether some number of them moves the tile.
        count: how many, for each warp that takes part (TMA, tcgen05.cp, descriptors: in all).
        reason: why it does not; empty when it does.
        says: claims, by name and subjects, that say that it does; `claim` is their conjunction.
    """

    name: str
    possible: bool
    count: int = 0
    reason: str = ""
    says: tuple[Stated, ...] = ()

    @property
    def claim(self) -> Any:
        """That it moves the tile, as a claim.

        Raises:
            LayoutError: a move that is not possible.
        """
        if not self.possible:
            raise LayoutError(f"{self.name} does not move the tile: {self.reason}")
        return reduce(and_, (one.made() for one in self.says))

    @cached_property
    def proof(self) -> Proof | None:
        """The proof of its claim, made when it is asked for; None when it is not possible."""
        return prove(self.claim) if self.possible else None

    def __str__(self) -> str:
        if not self.possible:
            return f"{self.name}: no: {self.reason}"
        often = {0: "nothing to do", 1: "once"}.get(self.count, f"{self.count} times")
        return f"{self.name}: {often}"


Place: TypeAlias = Buffer | View | Entry | Map | Operand


def instructions(source: Place, target: Place) -> tuple[Move, ...]:
    """The instructions between two places: which move the tile, how often, and why the others not.

    Every element is looked at: sizes are numbers.  A possible move has a proof.

    Args:
        source, target: buffers or views, fragments, or (as target) an `Operand`; of one shape, but
            for dimensions of size 1.

    Raises:
        LayoutError: tiles of different shapes, symbolic sizes, a place of another kind, or a
            fragment that is not over the lanes of warps.
    """
    between = (_kind(source), _kind(target))
    if between not in _BETWEEN:
        return ()
    places = _places(source, target)
    return tuple(_tried(name, make) for name, make in _BETWEEN[between](*places))


def _tried(name: str, make: Callable[[], Found]) -> Move:
    try:
        found = make()
    except CannotMoveError as error:
        return Move(name, False, reason=str(error))
    return Move(name, True, found.count, "", found.says)


def _kind(place: object) -> str:
    """shared, global, tmem, local, registers or operand."""
    if isinstance(place, Buffer):
        return place.scope
    if isinstance(place, View):
        return place.buffer.scope
    if isinstance(place, Entry) and set(place.map().axes) <= {TLane.name, TCol.name}:
        return "tmem"
    if isinstance(place, Entry | Map):
        return "registers"
    if isinstance(place, Operand):
        return "operand"
    raise LayoutError(
        f"instructions: a buffer or view, an entry or Map of registers, or an Operand; got "
        f"{place!r}"
    )


def _places(source: Place, target: Place) -> tuple[Any, Any]:
    """Both places as tables, if they are of one shape."""
    found: list[Any] = []
    for place in (source, target):
        if isinstance(place, Buffer | View):
            found.append(Memory.of(place))
        elif isinstance(place, Operand):
            found.append(place)
        elif isinstance(place, Entry) and _kind(place) == "tmem":
            found.append(Memory.of_cells(place))
        else:
            found.append(Registers.of(place))
    shapes = [one.shape for one in found if not isinstance(one, Operand)]
    plain = [[size for size in shape if size != 1] for shape in shapes]
    if any(one != plain[0] for one in plain):
        raise LayoutError(
            f"instructions: source and target are one tile; got {shapes[0]} and {shapes[1]}"
        )
    return found[0], found[1]


Tries = Iterator[tuple[str, Callable[[], Found]]]


def _from_shared(memory: Memory, registers: Registers) -> Tries:
    yield from loaded_vectors(memory, registers)
    yield from loaded_matrices(memory, registers)


def _to_shared(registers: Registers, memory: Memory) -> Tries:
    yield from stored_vectors(registers, memory)
    yield from stored_matrices(registers, memory)


def _load_boxes(source: Memory, target: Memory) -> Tries:
    return boxes(source, target, store=False)


def _store_boxes(source: Memory, target: Memory) -> Tries:
    return boxes(target, source, store=True)


def _described(memory: Memory, operand: Operand) -> Tries:
    return descriptors(memory, operand.instruction, operand.rows)


_BETWEEN: dict[tuple[str, str], Callable[[Any, Any], Tries]] = {
    ("shared", "registers"): _from_shared,
    ("registers", "shared"): _to_shared,
    ("global", "registers"): loaded_vectors,
    ("registers", "global"): stored_vectors,
    ("global", "shared"): _load_boxes,
    ("shared", "global"): _store_boxes,
    ("tmem", "registers"): tmem_loads,
    ("registers", "tmem"): tmem_stores,
    ("shared", "tmem"): copies,
    ("shared", "operand"): _described,
    ("registers", "registers"): transposes,
}
