"""`validate`, `validate_ptx` and `validate_transfer`: from compiled code to a Proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from layout_algebra.claims import Subject
from layout_algebra.device.kernels import Kernel, flat_map
from layout_algebra.maps import Map
from layout_algebra.memory.dtypes import bits_of
from layout_algebra.prover import Budget, prove
from layout_algebra.validation import routes as routes
from layout_algebra.validation.claim import Validates
from layout_algebra.validation.contracts import (
    Anything,
    Contract,
    ContractError,
    Coordinate,
    Number,
    Output,
    Role,
)
from layout_algebra.validation.grids import MOST_BLOCKS, MOST_THREADS
from layout_algebra.validation.moves import SOURCE, TARGET, Move
from layout_algebra.validation.reader import read_ptx
from layout_algebra.validation.syntax import Function
from layout_algebra.validation.transfers import Transfers
from layout_algebra.verdicts import Proof


@dataclass(frozen=True)
class Launch:
    """The launches that a claim is about.

    Attributes:
        threads: at most how many threads; as many as ceil(size / block) blocks have, when None.
        block: the size of a block; every size up to 1024, when None.
    """

    threads: int | None = None
    block: int | None = None

    def threads_for(self, f: Map) -> int:
        """The most threads that a launch for this map has."""
        if self.threads is not None:
            return self.threads
        if not isinstance(f.size, int):
            raise ContractError(f"compiled code has numbers for sizes; {f.size} is symbolic")
        if self.block is not None:
            return min(-(-f.size // self.block), MOST_BLOCKS) * self.block
        return min(f.size + MOST_THREADS - 1, MOST_BLOCKS * MOST_THREADS)


#: How a parameter may be described: a role, a number, or the name of an axis or a coordinate.
Described: TypeAlias = Role | int | str

#: Limits of a query: what terms leave open is small, or hopeless.
BUDGET = Budget(rlimit=4_000_000, seconds=2.0)


def validate(kernel: Kernel, ptx: Any, *, budget: Budget = BUDGET) -> Proof:
    """Prove that compiled code is what a generated kernel says.

    Args:
        kernel: from `kernel_of`.
        ptx: from `compile_ptx(kernel, target)`, or the text itself.

    Returns:
        A Proof of `Validates`: for every launch of ceil(size / block) blocks of any size, and
        wherever the arrays are.

    Raises:
        PtxError: something in the text is not read.
        ContractError: the text's parameters are not the kernel's.
    """
    return prove(claim_of(kernel, ptx), budget=budget)


def claim_of(kernel: Kernel, ptx: Any) -> Validates:
    """The claim that `validate` proves."""
    text = ptx if isinstance(ptx, str) else ptx.text
    entry = kernel.name if isinstance(ptx, str) else ptx.entry
    roles = (*(Output(axis, kernel.width) for axis in kernel.outputs), Number(kernel.size))
    contract = Contract(roles, Launch().threads_for(kernel.map))
    return Validates(kernel.map, text, entry, contract)


def validate_ptx(
    text: str,
    entry: str | None,
    layout: Any,
    *,
    shape: Any = None,
    parameters: Mapping[int | str, Described] | Sequence[Described],
    result: str | None = None,
    launch: Launch = Launch(),
    budget: Budget = BUDGET,
) -> Proof:
    """Prove that a user's own PTX computes the places of a layout.

    Args:
        text: the PTX, from any compiler.
        entry: the entry or function; None where there is only one.
        layout: a layout, a Map, or a callable as for `Map.of`.
        shape: the logical shape of a layout, or a callable's sizes.
        parameters: what the parameters hold, in order, or by number or name; those that are not
            named may hold anything.  An int is the value; a str the axis to whose array of 32-bit
            words it points, or the coordinate that it holds; or one of `Output`, `Number`,
            `Coordinate`, `Anything`.
        result: the axis that a function returns.
        launch: which threads run an entry.
        budget: limits of each solver query.

    Returns:
        A Proof of `Validates`.

    Raises:
        PtxError: something in the text is not read.
        ContractError: parameters that are not there, or do not fit.
    """
    function = read_ptx(text, entry)
    source: Subject = Map.of(layout, shape)
    names = [variable.name for variable in source.coordinates]
    roles = tuple(_role(given, source.axes, names) for given in _given(function, parameters))
    if not function.results and not any(isinstance(role, Output) for role in roles):
        raise ContractError(
            f"nothing says what {function.name} computes: give one parameter or the result an axis "
            f"({', '.join(source.axes)})"
        )
    threads = 0
    if function.is_entry:
        threads = launch.threads_for(flat_map(source)[0])
    contract = Contract(roles, threads, launch.block, result)
    return prove(Validates(source, text, function.name, contract), budget=budget)


def validate_transfer(
    text: str,
    entry: str | None,
    move: Move,
    *,
    parameters: Mapping[int | str, Described] | Sequence[Described],
    launch: Launch = Launch(),
    budget: Budget = BUDGET,
) -> Proof:
    """Prove that a kernel moves the elements of a tile as layouts say.

    Args:
        text: the PTX, from any compiler.
        entry: the entry; None where there is only one.
        move: which thread moves which elements, from where to where.
        parameters: as for `validate_ptx`, with "source" and "target" for the arrays.
        launch: the threads; as many as hold elements, in one block, when not given.  A launch has
            whole blocks; all but the threads of the first that hold elements store nothing.
        budget: limits of each solver query.

    Returns:
        A Proof of `Transfers`: every thread stores its elements, and nothing else.

    Raises:
        PtxError: something in the text is not read.
        ContractError: parameters or layouts that do not fit.
    """
    function = read_ptx(text, entry, data=True)
    f, bits = move.map, bits_of(move.dtype)
    roles = tuple(_array(one, bits) for one in _given(function, parameters))
    held = f.extents[0]
    if not isinstance(held, int):
        raise ContractError("compiled code has numbers for sizes: evaluate the Dims first")
    block = held if launch.block is None else launch.block
    if not held <= block <= MOST_THREADS:
        raise ContractError(
            f"{held} threads of a block hold elements; a block has from {held} to {MOST_THREADS} "
            f"threads, got {block}"
        )
    threads = block if launch.threads is None else -(-launch.threads // block) * block
    if threads < held:
        raise ContractError(f"{held} threads hold elements; the launch has {launch.threads}")
    contract = Contract(roles, threads, block)
    return prove(Transfers(f, text, function.name, contract, bits, move.steps), budget=budget)


def _array(given: Described, bits: int) -> Role:
    """A role of a parameter, where arrays are of elements of so many bits."""
    role = _role(given, (SOURCE, TARGET), ())
    return Output(role.axis, bits) if isinstance(role, Output) else role


def _given(
    function: Function, parameters: Mapping[int | str, Described] | Sequence[Described]
) -> list[Described]:
    """What is said of each parameter, in order."""
    if not isinstance(parameters, Mapping):
        return list(parameters)
    found: list[Described] = [Anything() for _ in function.parameters]
    positions = {one.name: k for k, one in enumerate(function.parameters)}
    for key, described in parameters.items():
        position = key if isinstance(key, int) else positions.get(key, -1)
        if not 0 <= position < len(found):
            raise ContractError(
                f"no parameter {key!r} of {function.name}; there is ({', '.join(positions)})"
            )
        found[position] = described
    return found


def _role(given: Described, axes: Sequence[str], names: Sequence[str]) -> Role:
    if isinstance(given, Output | Number | Coordinate | Anything):
        return given
    if isinstance(given, int):
        return Number(given)
    if given in axes and given in names:
        raise ContractError(f"{given!r} is an axis and a coordinate: say Output or Coordinate")
    if given in axes:
        return Output(given)
    if given in names:
        return Coordinate(given)
    raise ContractError(
        f"{given!r} is neither an axis ({', '.join(axes)}) nor a coordinate ({', '.join(names)})"
    )


__all__ = ["BUDGET", "Launch", "claim_of", "validate", "validate_ptx", "validate_transfer"]
