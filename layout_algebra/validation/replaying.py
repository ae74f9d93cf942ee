"""Counterexamples by running the code: one thread on exact ints.

    replayed(program, case, {"d0": 3, "d1": 1})         # the thread at a point of a case
    difference(program, Run(thread=7, block=128))       # None: it leaves what it should

A difference is one between what a thread leaves in memory and what it should leave.  Whoever finds
a thread, concrete.py is the one that is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from layout_algebra.arithmetic import integers
from layout_algebra.validation import concrete
from layout_algebra.validation.cases import Case
from layout_algebra.validation.concrete import Store
from layout_algebra.validation.contracts import Contract, Coordinate, Number, Output, Program
from layout_algebra.validation.grids import MOST_BLOCKS
from layout_algebra.validation.syntax import PtxError
from layout_algebra.verdicts import Witness

#: Sizes of blocks that are tried where any is claimed.
BLOCKS = (128, 1024, 1, 96)
#: Where arrays are when nothing says it: so far apart, and aligned to no more than an element.
_APART = 1 << 56
#: What a parameter holds that may hold anything.
_ANYTHING = 0x5A5A_1234_5678_9ABC

_Bytes = dict[tuple[str, int], int]


@dataclass(frozen=True)
class Run:
    """One thread or call.

    Attributes:
        thread: the thread's number; 0 for a call.
        block: threads of a block.
        coordinates: the map's coordinates, by name.
        values: where arrays are (in elements), and what parameters hold, by their variables' names.
    """

    thread: int = 0
    block: int = BLOCKS[0]
    coordinates: Mapping[str, int] = field(default_factory=dict[str, int])
    values: Mapping[str, int] = field(default_factory=dict[str, int])


def replayed(program: Program, case: Case, values: Mapping[str, int]) -> Witness | None:
    """The counterexample at a point of a case's variables, given by name.

    Variables that the point does not name have their lowest values.  None: the point is none of the
    case's, or what is stored there is right.
    """
    point: dict[Any, int] = {}
    for variable in case.variables():
        low, high = int(variable.low), int(variable.high)  # type: ignore[arg-type]
        value = values.get(variable.name, low)
        if not low <= value <= high:
            return None
        point[variable] = value
    held = integers.values_of([c.term for c in case.known], point)
    if not all(c.holds(value) for c, value in zip(case.known, held, strict=True)):
        return None
    number, *at = integers.values_of([case.thread, *case.coordinates.values()], point)
    names = [variable.name for variable in case.coordinates]
    coordinates = dict(zip(names, at, strict=True))
    for block in blocks_of(program.contract):
        found = difference(program, Run(number, block, coordinates, values))
        if found is not None:
            return found
    return None


def difference(program: Program, run: Run) -> Witness | None:
    """What one thread leaves in memory and should not, or the other way; None: all is right."""
    wanted = wanted_stores(program, run)
    specials = specials_of(program.contract, run.thread, run.block)
    arguments = arguments_of(program, run.coordinates, run.values)
    try:
        stores = concrete.run(program.function, specials, arguments)
    except PtxError as error:
        return _witness(run, program, f"does not run: {error}", {}, {})
    memory, right = concrete.bytes_of(stores), concrete.bytes_of([one for _, one in wanted])
    if memory == right:
        return None
    said = {axis: _as_place(program, axis, one.value, one.bits) for axis, one in wanted}
    found: dict[str, int | None] = {}
    for axis, one in wanted:
        value = _read(memory, one)
        found[axis] = None if value is None else _as_place(program, axis, value, one.bits)
    wrong = [axis for axis in said if found[axis] != said[axis]]
    text = f"stores {_shown(found, wrong)}, where the layout says {_shown(said, wrong)}"
    if not wrong:
        extra = next(at for at in memory if at not in right)
        length = sum(1 for at in memory if at not in right)
        text = f"stores {length} bytes that it should not, the first at {_place(extra)}"
        text += "" if wanted else ", though it has no element"
    return _witness(run, program, text, said, found)


def wanted_stores(program: Program, run: Run) -> list[tuple[str, Store]]:
    """What one thread should store, by axis."""
    f, contract, function = program.flat, program.contract, program.function
    if function.is_entry and run.thread >= program.size:
        return []
    point = {variable: run.coordinates[variable.name] for variable in f.coordinates}
    numbers = integers.values_of((term for _, term in f.outputs), point)
    places = dict(zip(f.axes, numbers, strict=True))
    found: list[tuple[str, Store]] = []
    arguments = arguments_of(program, run.coordinates, run.values)
    for role, argument in zip(contract.roles, arguments, strict=True):
        if isinstance(role, Output):
            address = (argument + run.thread * (role.bits // 8)) % 2**64
            value = places[role.axis] % (1 << role.bits)
            found.append((role.axis, Store("global", address, value, role.bits)))
    if contract.result is not None:
        (result,) = function.results
        value = places[contract.result] % (1 << result.bits)
        found.append((contract.result, Store(result.name, 0, value, result.bits)))
    return found


def arguments_of(
    program: Program, coordinates: Mapping[str, Any], values: Mapping[str, int]
) -> tuple[Any, ...]:
    """The parameters' values: numbers, or arrays where the coordinates are arrays."""
    found: list[Any] = []
    outputs = 0
    for role, parameter in zip(program.contract.roles, program.function.parameters, strict=True):
        match role:
            case Number(value):
                found.append(value)
            case Output(axis, bits):
                outputs += 1
                elements = outputs * _APART // (bits // 8) + 1
                found.append(values.get(f"array of {axis}", elements) * (bits // 8))
            case Coordinate(name):
                found.append(coordinates[name])
            case _:
                anything = _ANYTHING % (1 << parameter.bits)
                found.append(values.get(f"parameter {parameter.name}", anything))
    return tuple(found)


def specials_of(contract: Contract, thread: Any, block: int) -> dict[str, Any]:
    """The special registers of a thread, or of an array of threads."""
    found: dict[str, Any] = {f"%{name}.{side}": 1 for name in ("ntid", "nctaid") for side in "yz"}
    found["%tid.x"], found["%ctaid.x"] = thread % block, thread // block
    found["%ntid.x"], found["%nctaid.x"] = block, -(-max(contract.threads, 1) // block)
    return found


def blocks_of(contract: Contract) -> tuple[int, ...]:
    """Sizes of blocks that a launch may have, a few of them where any is claimed."""
    sizes = BLOCKS if contract.block is None else (contract.block,)
    return tuple(size for size in sizes if -(-contract.threads // size) <= MOST_BLOCKS)


def _witness(
    run: Run,
    program: Program,
    text: str,
    said: Mapping[str, int],
    found: Mapping[str, int | None],
) -> Witness:
    if program.function.is_entry:
        who, points = f"thread {run.thread}", {"thread": run.thread}
        who += f" (in blocks of {run.block})" if program.contract.block is None else ""
    else:
        points = dict(run.coordinates)
        who = f"the call at ({', '.join(f'{n} = {v}' for n, v in points.items())})"
    stored = {axis: value for axis, value in found.items() if value is not None}
    return Witness(f"{who} {text}", (points,), (dict(said), stored))


def _as_place(program: Program, axis: str, value: int, bits: int) -> int:
    """A word as the number that it stands for: signed, on an axis that has negative places."""
    low = program.flat.output(axis).low
    negative = isinstance(low, int) and low < 0 and value >> (bits - 1)
    return value - (1 << bits) if negative else value


def _read(memory: _Bytes, store: Store) -> int | None:
    """What is in memory where something should be; None where some of it is missing."""
    found = [memory.get((store.space, (store.address + k) % 2**64)) for k in range(store.bits // 8)]
    if any(byte is None for byte in found):
        return None
    return sum(int(byte or 0) << 8 * k for k, byte in enumerate(found))


def _shown(values: Mapping[str, int | None], axes: Sequence[str]) -> str:
    return ", ".join(f"{a} = {'nothing' if values[a] is None else values[a]}" for a in axes)


def _place(at: tuple[str, int]) -> str:
    space, address = at
    return f"address {address:#x}" if space == "global" else space
