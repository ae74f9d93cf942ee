"""The claim that compiled code does what a layout says.

    Validates(f, text, entry, contract)

For every thread of a launch, and wherever the output arrays are: what the thread leaves in memory
is the place of its element, in each output array at the element's index, and nothing else; a thread
beyond the last element leaves nothing.  The code is the function `entry` of the PTX text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from layout_algebra.claims import Dims, Point, Subject
from layout_algebra.claims.base import check_subject
from layout_algebra.device.kernels import flat_map
from layout_algebra.maps import Map
from layout_algebra.validation.cases import Case, cases_of
from layout_algebra.validation.compiled import Compiled
from layout_algebra.validation.contracts import (
    Contract,
    ContractError,
    Program,
    check_contract,
)
from layout_algebra.validation.enumerating import difference_in_any_block, first_difference
from layout_algebra.validation.grids import BLOCK_REGISTERS, COUNTED
from layout_algebra.validation.reader import read_ptx
from layout_algebra.validation.replaying import replayed
from layout_algebra.validation.syntax import Function
from layout_algebra.verdicts import Witness


@dataclass(frozen=True)
class Validates(Compiled):
    """The function `entry` of a PTX text stores the places of f, as the contract says."""

    f: Subject
    text: str
    entry: str
    contract: Contract

    def __post_init__(self) -> None:
        check_subject(self.name, self.f)
        if self.is_symbolic():
            raise ContractError("compiled code has numbers for sizes: evaluate the Dims first")
        check_contract(self.contract, self.function, self.flat)

    def subjects(self) -> tuple[Subject, ...]:
        return (self.f,)

    @property
    def function(self) -> Function:
        return read_ptx(self.text, self.entry)

    @cached_property
    def flat(self) -> Map:
        """f over what the code counts: the flat index of an entry, a function's coordinates."""
        (f,) = self.maps()
        if self.function.is_entry:
            return flat_map(f)[0]
        if f.replicas or f.guard:
            raise ContractError("a function has one place an element: no copies and no guard")
        return f

    @property
    def program(self) -> Program:
        """The code with its meaning."""
        return Program(self.function, self.contract, self.flat)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        return cases_of(self.program)

    def witness(self, point: Point, dims: Dims) -> Witness | None:
        values = {variable.name: number for variable, number in point.items()}
        for case in self.cases:
            found = replayed(self.program, case, values)
            if found is not None:
                return found
        return None

    def counterexample(self, dims: Dims | None = None) -> Witness | None:
        """By running every thread.

        Raises:
            CoordinateError: the code depends on where the arrays are or how blocks are cut, so that
                no one run stands for all.
        """
        self.check_terms()
        if not self.beside & BLOCK_REGISTERS:
            found = first_difference(self.program)
        else:
            found = difference_in_any_block(self.program)
        if found is None:
            self.check_independent(COUNTED)
        return found

    def work(self, dims: Dims | None = None) -> int:
        """Threads, or calls."""
        return self.program.work

    def __str__(self) -> str:
        key = sha256(self.text.encode()).hexdigest()[:12]
        target = f" for {self.function.target}" if self.function.target else ""
        block = f", blocks of {self.contract.block}" if self.contract.block else ""
        return f"Validates({self.f} by {self.entry}{target}, text {key}{block})"
