"""The claim that compiled code moves data as layouts say.

    Transfers(f, text, entry, contract, bits, steps)

f says of (thread, slot) which element of the source is read there, and at which place of the target
it is written: the outputs `source` and `target`.  For every thread of a launch, and wherever the
arrays are: what the thread leaves in memory is, at each of its places of the target, the source's
value after the steps, and nothing else.  Source and target do not overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from layout_algebra import terms
from layout_algebra.arithmetic import integers
from layout_algebra.claims import Dims, Point, Subject
from layout_algebra.claims.base import check_subject
from layout_algebra.errors import CoordinateError
from layout_algebra.folding import substitute
from layout_algebra.maps import Map
from layout_algebra.terms import Term
from layout_algebra.validation.arithmetic import NotATerm
from layout_algebra.validation.cases import Case, Wanted, in_digits, plain
from layout_algebra.validation.compiled import Compiled
from layout_algebra.validation.contracts import (
    ADDRESS_BITS,
    Contract,
    ContractError,
    Coordinate,
    Output,
    Program,
    address_of,
    arguments_of,
    base_of,
    check_contract,
)
from layout_algebra.validation.data import Datum, Step, after, content, seen, shown
from layout_algebra.validation.data_machines import DataMachine, DataThread
from layout_algebra.validation.grids import COUNTED, Grid
from layout_algebra.validation.moves import SOURCE, TARGET
from layout_algebra.validation.reader import read_ptx
from layout_algebra.validation.replaying import Run, blocks_of, specials_of
from layout_algebra.validation.replaying import arguments_of as values_of
from layout_algebra.validation.symbolic import Execution, Path, Placed, execute
from layout_algebra.validation.syntax import Function, PtxError
from layout_algebra.validation.words import Word
from layout_algebra.verdicts import Witness

#: Elements of a thread.
MOST_SLOTS = 256


@dataclass(frozen=True)
class TransferProgram(Program):
    """The code with its meaning: `flat` is f, (thread, slot) -> source, target."""

    @property
    def size(self) -> int:
        """Threads that have elements."""
        return _number(self.flat.coordinates[0].extent)

    @property
    def places(self) -> int:
        """Elements of the longer array."""
        return 1 + max(_number(term.high) for _, term in self.flat.outputs)


@dataclass(frozen=True)
class TransferCase(Case):
    """Some threads: the values of `wanted` are the addresses in the source."""

    bits: int = 32
    steps: tuple[Step, ...] = ()

    @property
    def moves(self) -> bool:
        return True

    @cached_property
    def execution(self) -> Execution:
        contract = self.program.contract
        grid = Grid(self.thread, max(contract.threads, 1), contract.block)
        arguments = arguments_of(self.program, {})
        found = execute(self.program.function, arguments, grid, self.known, DataMachine)
        return replace(found, paths=tuple(map(self._addresses, found.paths)))

    def _addresses(self, path: Path) -> Path:
        """The path with each stored value as the address that it was loaded from."""
        return replace(path, stores=tuple(map(self._address, path.stores)))

    def _address(self, store: Placed) -> Placed:
        value: Any = store.value
        if not isinstance(value, Datum):
            raise NotATerm(f"a number is stored that was not loaded (line {store.line})")
        if (value.steps, value.loaded, store.bits) != (self.steps, self.bits, self.bits):
            raise NotATerm(
                f"values of {value.loaded} bits are stored with {store.bits} after "
                f"{shown(value.steps)} (line {store.line}), where it is {self.bits} bits after "
                f"{shown(self.steps)}"
            )
        return replace(store, value=Word(value.address.term, ADDRESS_BITS), bits=ADDRESS_BITS)


@dataclass(frozen=True)
class Transfers(Compiled):
    """The function `entry` of a PTX text moves elements as f says."""

    f: Subject
    text: str
    entry: str
    contract: Contract
    bits: int
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)
        f = self.map
        if self.is_symbolic():
            raise ContractError("compiled code has numbers for sizes: evaluate the Dims first")
        if f.replicas or f.guard or set(f.axes) != {SOURCE, TARGET} or len(f.coordinates) != 2:
            raise ContractError(f"a transfer is (thread, slot) -> source, target; got {f}")
        if _number(f.coordinates[1].extent) > MOST_SLOTS:
            raise ContractError(f"a thread has at most {MOST_SLOTS} elements")
        if not self.function.is_entry:
            raise ContractError(f"{self.entry} is no entry: threads move data")
        check_contract(self.contract, self.function, f)
        arrays = sorted(one.axis for one in self.contract.outputs)
        if arrays != [SOURCE, TARGET]:
            raise ContractError(
                f"one parameter is the {SOURCE} and one the {TARGET}; "
                f"got {', '.join(arrays) or 'neither'}"
            )
        if any(isinstance(role, Coordinate) for role in self.contract.roles):
            raise ContractError("a transfer's coordinates are threads and slots, no parameters")

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    @property
    def map(self) -> Map:
        (f,) = self.maps()
        return f

    @property
    def function(self) -> Function:
        return read_ptx(self.text, self.entry, data=True)

    @property
    def program(self) -> TransferProgram:
        return TransferProgram(self.function, self.contract, self.map)

    @cached_property
    def cases(self) -> tuple[TransferCase, ...]:
        """Threads that have elements, and those beyond."""
        program, slots = self.program, _slots(self.map)
        (flat,) = slots.coordinates
        thread, known = in_digits(slots, min(program.size, self.contract.threads))
        found = plain((term for _, term in slots.outputs), {flat: thread})
        at = dict(zip(slots.axes, found, strict=True))
        count = len(slots.outputs) // 2
        wanted = tuple(self._wanted(at[f"{TARGET}{k}"], at[f"{SOURCE}{k}"]) for k in range(count))
        about = "a thread that has elements"
        cases = [
            TransferCase(
                about, program, thread, {flat: thread}, known, wanted, self.bits, self.steps
            )
        ]
        if self.contract.threads > program.size:
            beyond = terms.var("thread", program.size, self.contract.threads - 1)
            about = "a thread beyond those that have elements"
            cases.append(
                TransferCase(about, program, beyond, {flat: beyond}, (), (), self.bits, self.steps)
            )
        return tuple(cases)

    def _wanted(self, target: Term, source: Term) -> Wanted:
        arrays = {one.axis: one for one in self.contract.outputs}
        address, value = (
            Word(address_of(self.program, arrays[axis], place), ADDRESS_BITS)
            for axis, place in ((TARGET, target), (SOURCE, source))
        )
        return Wanted("global", address, value, base_of(self.program, arrays[TARGET]))

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        """By running the thread of the point, with its parameters and places of arrays.

        Raises:
            CoordinateError: the run is right: terms that differ did not show it.
        """
        values = {variable.name: number for variable, number in point.items()}
        for case in self.cases:
            at: dict[Any, int] = {}
            for variable in case.variables():
                at[variable] = values.get(variable.name, _number(variable.low))
            (thread,) = integers.values_of([case.thread], at)
            found = self.difference(int(thread), values)
            if found is not None:
                return found
        raise CoordinateError("terms differ, and a run with the solver's numbers is right")

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        """By running every thread.

        Raises:
            CoordinateError: no term says what is done, or stores depend on more than the thread:
                parameters, or where the arrays are; so that no one run stands for all.
        """
        for thread in range(self.work()):
            found = self.difference(thread)
            if found is not None:
                return found
        self.check_terms()
        # The size of a block that is named, and with it the thread's place in it, are run.
        self.check_independent(COUNTED if self.contract.block is not None else frozenset())
        return None

    def work(self, dims: Dims | None = None) -> int:
        """Threads."""
        return self.contract.threads

    # -- one thread on numbers ----------------------------------------------------------------
    def difference(self, thread: int, values: Mapping[str, int] | None = None) -> Witness | None:
        """What a thread leaves in memory and should not, or the other way, in some block size.

        Raises:
            CoordinateError: a thread reads what it stored.
        """
        for block in blocks_of(self.contract):
            text = self._difference(Run(thread, block, values=values or {}))
            if text is not None:
                who = f"thread {thread}"
                who += f" (in blocks of {block})" if self.contract.block is None else ""
                return Witness(f"{who} {text}", ({"thread": thread},), tuple(self._places(thread)))
        return None

    def _places(self, thread: int) -> list[dict[str, int]]:
        """For each slot of a thread, the elements of source and target."""
        f = self.map
        if thread >= self.program.size:
            return []
        own, slot = f.coordinates
        low = _number(slot.low)
        return [
            f.apply(thread + _number(own.low), k) for k in range(low, low + _number(slot.extent))
        ]

    def _difference(self, run: Run) -> str | None:
        program, step = self.program, self.bits // 8
        arguments = values_of(program, {}, run.values)
        held = {
            role.axis: value
            for role, value in zip(self.contract.roles, arguments, strict=True)
            if isinstance(role, Output)
        }
        place = _Named(held, step)
        places = self._places(run.thread)
        wanted = {(held[TARGET] + one[TARGET] * step) % 2**64: one for one in places}
        specials = specials_of(self.contract, run.thread, run.block)
        named = {
            one.name: value % (1 << one.bits)
            for one, value in zip(self.function.parameters, arguments, strict=True)
        }
        thread = DataThread(self._memory(held[SOURCE]), self.function, specials, named)
        try:
            stores = thread.run()
        except PtxError as error:
            return f"does not run: {error}"
        left: dict[int, tuple[int, int | None]] = {}  # of each byte: what, and where it came from
        for store, origin in zip(stores, thread.origins, strict=True):
            for k in range(store.bits // 8):
                left[(store.address + k) % 2**64] = (store.value >> 8 * k & 0xFF, origin)
        for address, one in wanted.items():
            found = [left.pop((address + k) % 2**64, None) for k in range(step)]
            source = held[SOURCE] + one[SOURCE] * step
            if None in found:
                return f"stores nothing at {place(address)}, where {place(source)} belongs"
            said = after(self.steps, content(one[SOURCE], self.bits, bool(self.steps)))
            made = sum(byte << 8 * k for k, (byte, _) in enumerate(found))  # type: ignore[misc]
            (_, origin) = found[0]  # type: ignore[misc]
            # Small elements cannot all be different: where values only move, their origins tell.
            elsewhere = self.findings is not None and origin not in (None, source)
            if made != said or elsewhere:
                return f"stores {self._told(made, said, origin, source, place)} at {place(address)}"
        if left:
            return f"stores at {place(next(iter(left)))} what it should not"
        return None

    def _told(self, made: int, said: int, origin: int | None, source: int, place: _Named) -> str:
        """What is stored, and what belongs there."""
        if origin is not None and origin != source:
            return f"{place(origin)}, where {place(source)} belongs"
        values = (seen(made, self.bits), seen(said, self.bits)) if self.steps else (made, said)
        index = (source - place.arrays[SOURCE]) // place.step
        given = content(index, self.bits, bool(self.steps))
        of = seen(given, self.bits) if self.steps else given
        return f"{values[0]}, where {values[1]} belongs (source[{index}] is {of})"

    def _memory(self, start: int) -> Callable[[int, int], int]:
        """What loads give: the source's elements, and 0xA5 wherever else."""
        step, floats = self.bits // 8, bool(self.steps)
        size = self.program.places

        def byte(address: int) -> int:
            index, rest = divmod(address - start, step)
            if not 0 <= index < size:
                return 0xA5
            return content(index, self.bits, floats) >> 8 * rest & 0xFF

        def load(address: int, count: int) -> int:
            return sum(byte((address + k) % 2**64) << 8 * k for k in range(count))

        return load

    def __str__(self) -> str:
        key = sha256(self.text.encode()).hexdigest()[:12]
        target = f" for {self.function.target}" if self.function.target else ""
        block = f", blocks of {self.contract.block}" if self.contract.block else ""
        return (
            f"Transfers({self.f} by {self.entry}{target}, {shown(self.steps)}, text {key}{block})"
        )


@dataclass(frozen=True)
class _Named:
    """Addresses as elements of the arrays."""

    arrays: Mapping[str, int]
    step: int

    def __call__(self, address: int) -> str:
        axis = min(self.arrays, key=lambda name: abs(self.arrays[name] - address))
        number, rest = divmod(address - self.arrays[axis], self.step)
        return f"{axis}[{number}]" + (f" and {rest} bytes" if rest else "")


def _slots(f: Map) -> Map:
    """thread -> source and target of every slot, as outputs of their own."""
    thread, slot = f.coordinates
    low = _number(slot.low)
    outputs: list[tuple[str, Term]] = []
    flat = terms.coordinate("flat", _number(thread.extent))
    own = terms.linear([(flat, 1)], _number(thread.low))
    for k in range(_number(slot.extent)):
        for axis, term in f.outputs:
            at = substitute(term, {thread: own, slot: terms.const(low + k)})
            outputs.append((f"{axis}{k}", at))
    return Map((flat,), tuple(outputs))


def _number(size: object) -> int:
    if not isinstance(size, int):
        raise ContractError(f"compiled code has numbers for sizes; {size} is symbolic")
    return size
