"""What a compiled function is to do: the meaning of its parameters, and which threads run it.

    Contract((Output("laneid", 32), Output("m", 32), Number(512)), threads=512 + 1023)

An entry runs once for each thread; the thread's number is the map's flat index, and thread i stores
the place of element i in the output arrays, or nothing where there is no element i.  A function
runs for one element; `Coordinate` parameters say which, and it returns the place or stores it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from layout_algebra import terms
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.maps import Map
from layout_algebra.terms import Term, Var
from layout_algebra.validation.syntax import Function
from layout_algebra.validation.words import Word

#: Bits of an address.
ADDRESS_BITS = 64


class ContractError(LayoutAlgebraError, ValueError):
    """A contract that does not fit its function: parameters, sizes or axes that are not there."""


@dataclass(frozen=True)
class Number:
    """A parameter whose value is known."""

    value: int


@dataclass(frozen=True)
class Output:
    """A pointer to an array of words of `bits` bits: element i is the place of element i on `axis`.

    In a function, the pointer is to the one word.
    """

    axis: str
    bits: int = 32


@dataclass(frozen=True)
class Coordinate:
    """A parameter that holds one of the map's coordinates."""

    name: str


@dataclass(frozen=True)
class Anything:
    """A parameter that may have any value: nothing may depend on it."""


Role: TypeAlias = Number | Output | Coordinate | Anything


@dataclass(frozen=True)
class Contract:
    """How a function is called.

    Attributes:
        roles: what each parameter holds, in order.
        threads: at most how many threads a launch has; 0 for a function, which has no threads.
        block: threads of a block; None claims it for every size of blocks.
        result: the axis that a function returns.
    """

    roles: tuple[Role, ...]
    threads: int = 0
    block: int | None = None
    result: str | None = None

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(role for role in self.roles if isinstance(role, Output))


@dataclass(frozen=True)
class Program:
    """A function, how it is called, and the map whose places it stores.

    The map has one coordinate for an entry, the flat index.
    """

    function: Function
    contract: Contract
    flat: Map

    @property
    def size(self) -> int:
        """How many elements are stored."""
        return _size(self.flat)

    @property
    def places(self) -> int:
        """Elements of each output array."""
        return self.size if self.function.is_entry else 1

    @property
    def work(self) -> int:
        """Threads, or calls."""
        return self.contract.threads if self.function.is_entry else self.size


def check_contract(contract: Contract, function: Function, f: Map) -> None:
    """Raises ContractError unless the contract fits the function and the map."""
    if len(contract.roles) != len(function.parameters):
        raise ContractError(
            f"{function.name} has {len(function.parameters)} parameters; "
            f"{len(contract.roles)} are described"
        )
    if function.is_entry != (contract.threads > 0):
        kind = "an entry has threads" if function.is_entry else "a function has none"
        raise ContractError(f"{kind}; got threads={contract.threads}")
    if (contract.result is not None) != bool(function.results):
        given = "returns nothing" if not function.results else "returns a value"
        raise ContractError(f"{function.name} {given}; got result={contract.result!r}")
    named = [one.axis for one in contract.outputs]
    named += [contract.result] if contract.result is not None else []
    for axis in named:
        if axis not in f.axes:
            raise ContractError(f"no axis {axis!r}; there is ({', '.join(f.axes)})")
    if len(set(named)) != len(named):
        raise ContractError(f"each output has an axis of its own; got ({', '.join(named)})")
    known = {variable.name for variable in f.coordinates}
    for role in contract.roles:
        if isinstance(role, Coordinate) and role.name not in known:
            raise ContractError(f"no coordinate {role.name!r}; there is ({', '.join(known)})")
    _check_sizes(contract, function)


def _check_sizes(contract: Contract, function: Function) -> None:
    for role, parameter in zip(contract.roles, function.parameters, strict=True):
        if isinstance(role, Output) and parameter.bits != 64:
            raise ContractError(f"{parameter.name} has {parameter.bits} bits: it is no pointer")
        if isinstance(role, Output) and role.bits not in (8, 16, 32, 64):
            raise ContractError(f"elements have 8, 16, 32 or 64 bits; got {role.bits}")
        if isinstance(role, Number) and role.value % (1 << parameter.bits) != role.value:
            raise ContractError(f"{parameter.name} has {parameter.bits} bits; got {role.value}")


def base_of(program: Program, output: Output) -> Var:
    """The variable of an output array: its address in elements, so that the address is aligned.

    The array ends inside the address space.
    """
    most = (1 << ADDRESS_BITS) // (output.bits // 8) - program.places
    return terms.var(f"array of {output.axis}", 0, most)


def address_of(program: Program, output: Output, index: Term) -> Term:
    """The address of an element of an output array."""
    return terms.scale(terms.add(base_of(program, output), index), output.bits // 8)


def arguments_of(program: Program, at: Mapping[str, Term]) -> list[Word]:
    """A word for each parameter; `at` has the terms of the coordinates by name."""
    found: list[Word] = []
    for role, parameter in zip(program.contract.roles, program.function.parameters, strict=True):
        match role:
            case Number(value):
                term = terms.const(value)
            case Output():
                term = address_of(program, role, terms.const(0))
            case Coordinate(name):
                term = at[name]
            case Anything():
                term = terms.var(f"parameter {parameter.name}", 0, (1 << parameter.bits) - 1)
        found.append(Word(term, parameter.bits))
    return found


def _size(f: Map) -> int:
    if not isinstance(f.size, int):
        raise ContractError(f"compiled code has numbers for sizes; {f.size} is symbolic")
    return f.size
