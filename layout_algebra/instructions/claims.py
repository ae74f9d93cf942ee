"""What shows that an instruction moves a tile: claims, by name, and the access that deals it out.

    Stated("Matches", (access, fragment)).made()

Claims lie floors above the catalogue: it names them, and they are made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from layout_algebra import terms
from layout_algebra.claims import CLAIMS
from layout_algebra.conditions import Condition, at_most
from layout_algebra.dims import Symbol
from layout_algebra.folding import substitute
from layout_algebra.instructions.tables import LANES, Memory, Registers, fitted
from layout_algebra.maps import Map
from layout_algebra.memory.accesses import BIT, Access
from layout_algebra.memory.free import free_variable
from layout_algebra.terms import Term

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Stated:
    """A claim by its name and subjects."""

    claim: str
    subjects: tuple[Any, ...]

    def made(self) -> Any:
        """The claim."""
        return CLAIMS[self.claim](*self.subjects)

    def __str__(self) -> str:
        return f"{self.claim}({', '.join(map(str, self.subjects))})"


@dataclass(frozen=True)
class Found:
    """That an instruction moves the tile: how often, and the claims that say so."""

    count: int
    says: tuple[Stated, ...]


#: (lane, m) -> instruction, lane that addresses, element of what that lane addresses.
Deal = Callable[[Term, Term], tuple[Term, Term, Term]]


@dataclass(frozen=True)
class Dealing:
    """What some instructions of a warp address, and whom they deal it to.

    Attributes:
        name: the instruction.
        kind: whether memory is read or written.
        elements: (warp, instruction, addressing lane, e) -> the tile's element; -1 for an idle one.
        deal: which of those a lane has at m.
    """

    name: str
    kind: Literal["read", "write"]
    elements: NDArray[Any]
    deal: Deal


def dealt(one: Dealing, memory: Memory, registers: Registers) -> Access:
    """The access: all its instructions, in all warps."""
    warps, count, lanes, each = one.elements.shape
    lane, e = terms.coordinate("lane", LANES), terms.coordinate("e", each)
    sizes = {"step": count, "warp": warps}
    free = [free_variable(Symbol(n, at_most=k - 1)) for n, k in sizes.items() if k > 1]
    own = {one.name: one.variable for one in free}
    number = fitted(one.elements.clip(min=0))

    def element(warp: Term, instruction: Term, address: Term, inside: Term) -> Term:
        row = terms.linear([(warp, count * lanes), (instruction, lanes), (address, 1)])
        return number(terms.linear([(row, each), (inside, 1)]))

    zero = terms.const(0)
    warp, instruction = own.get("warp", zero), own.get("step", zero)
    flat = element(warp, instruction, terms.mod(lane, lanes), e)
    inputs = (lane, e, *own.values())
    guard = _active(one.elements, lane, warp)
    place = terms.scale(memory.place(flat), memory.bits)
    coordinates, thread, held_by, place_in = registers.symbols()
    data = element(thread, *one.deal(held_by, place_in))
    return Access(
        one.kind,
        Map(inputs, ((BIT, place),), (), guard),
        where=Map(inputs, _digits(flat, memory), (), guard),
        bits=each * memory.bits,
        element_bits=memory.bits,
        lanes=LANES,
        scope=memory.scope,
        align=memory.align,
        free=tuple(free),
        text=f"{one.name} of {memory.view}",
        data=Map(coordinates, registers.coordinates_of(data)),
    )


def _active(elements: NDArray[Any], lane: Term, warp: Term) -> tuple[Condition, ...]:
    """That a lane addresses anything."""
    lanes = elements.shape[2]
    found: list[Condition] = []
    if lanes < LANES:
        found.append(at_most(lane, lanes - 1))
    if (elements < 0).any():
        busy = fitted((elements >= 0).any(axis=(1, 3)).astype("int64"))
        thread = terms.linear([(warp, lanes), (terms.mod(lane, lanes), 1)])
        found.append(at_most(1, busy(thread)))
    return tuple(found)


def _digits(flat: Term, memory: Memory) -> tuple[tuple[str, Term], ...]:
    return tuple((f"d{d}", one) for d, one in enumerate(terms.split(flat, memory.shape)))


def put_into(inner: Map, values: Mapping[str, Term]) -> Map:
    """A Map's outputs with terms for its coordinates; replicas stay."""
    known = {v: values[v.name] for v in inner.coordinates}
    used = tuple((axis, substitute(term, known)) for axis, term in inner.outputs)
    return Map((), used, inner.replicas)
