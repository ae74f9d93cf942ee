"""Compiled code proven equal to the layout that it was made from.

    proof = validate(kernel, compile_ptx(kernel, "sm_90a"))
    proof.verdict                                   # PROVED, for every thread of the grid

    validate_ptx(text, "kernel", layout, parameters=["laneid", "m", 512])

    validate_transfer(text, "add_one", Move(fragment, (32, 4), through=lambda x: x + 1), ...)

The PTX text is read (reader.py), run for all threads at once (symbolic.py), and compared with the
map, store by store.  Where the terms are the same there is nothing left to ask; otherwise the
solver is asked, and then every thread is run.  What is trusted is written down in docs/trust.md.
"""

from __future__ import annotations

from layout_algebra.validation.claim import Validates
from layout_algebra.validation.contracts import (
    Anything,
    Contract,
    ContractError,
    Coordinate,
    Number,
    Output,
)
from layout_algebra.validation.moves import Move
from layout_algebra.validation.reader import read_ptx
from layout_algebra.validation.syntax import PtxError
from layout_algebra.validation.transfers import Transfers
from layout_algebra.validation.validating import (
    Launch,
    claim_of,
    validate,
    validate_ptx,
    validate_transfer,
)

__all__ = [
    "Anything",
    "Contract",
    "ContractError",
    "Coordinate",
    "Launch",
    "Move",
    "Number",
    "Output",
    "PtxError",
    "Transfers",
    "Validates",
    "claim_of",
    "read_ptx",
    "validate",
    "validate_ptx",
    "validate_transfer",
]
