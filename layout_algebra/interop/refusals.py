"""What conversions answer: a value with its proof, or an error with its witness.

Exported(value, proof)     the converted layout, and the proof that it is the same map
InteropError               why there is none, with the elements and places that show it

try:
    to_linear(TileLayout(S[(2, 4) : (3, 1)]), (2, 4))
except InteropError as error:
    error.witness.places       # the places at which the law of the other notation fails
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from layout_algebra.claims import Claim
from layout_algebra.errors import LayoutError
from layout_algebra.prover import prove
from layout_algebra.values import AnyLayout, Swizzled, Tile
from layout_algebra.verdicts import Proof, Verdict, Witness

T = TypeVar("T")


class InteropError(LayoutError):
    """A layout that another notation cannot say, or a value of theirs that is no layout.

    Attributes:
        witness: the elements and places that show it, None where the reason is a form alone.
    """

    def __init__(self, message: str, witness: Witness | None = None) -> None:
        super().__init__(f"{message}: {witness.summary}" if witness is not None else message)
        self.reason = message
        self.witness = witness

    def __reduce__(self) -> tuple[type[InteropError], tuple[str, Witness | None]]:
        return (InteropError, (self.reason, self.witness))


@dataclass(frozen=True)
class Exported(Generic[T]):
    """A converted value and the proof that it means the same.

    Attributes:
        value: the value in the other notation; None where there is none.
        proof: the answer to the claim that both are one map; None where there is no value.
        reason: why there is no value.
        witness: the elements and places that show it.
    """

    value: T | None
    proof: Proof | None = None
    reason: str = ""
    witness: Witness | None = None

    @property
    def is_proved(self) -> bool:
        """Whether there is a value and its proof is one (not UNDECIDED)."""
        return self.proof is not None and self.proof.verdict is Verdict.PROVED


def exported(value: T, claim: Claim) -> Exported[T]:
    """A value with the proof of the claim about it.

    Raises:
        InteropError: the claim is refuted; a conversion never gives back such a value.
    """
    proof = prove(claim)
    if proof.verdict is Verdict.REFUTED:
        raise InteropError(f"{value} is not the same map", proof.witness)
    return Exported(value, proof)


def checked_layout(what: str, given: object) -> AnyLayout:
    """The argument, if it is a layout of this library.

    Raises:
        InteropError: it is not.
    """
    if isinstance(given, Tile | Swizzled):
        return given
    hint = ""
    if type(given).__module__.startswith("layout_algebra.cute"):
        hint = ": a CuTe layout becomes one by cute.to_tile"
    elif isinstance(given, str):
        hint = ": text becomes one by parse(text)"
    raise InteropError(
        f"{what} is a TileLayout or a ComposeLayout; got {type(given).__name__}{hint}"
    )


def checked_names(what: str, given: object) -> Mapping[str, Any]:
    """A mapping that may be left out; empty for None.

    Raises:
        InteropError: something else.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InteropError(f"{what} is a mapping from the names of inputs; got {given!r}")
    return given


def is_power_of_two(number: object) -> bool:
    """Whether it is an int and 1, 2, 4, ..."""
    return type(number) is int and number > 0 and number & (number - 1) == 0


def spelled(numbers: Mapping[str, int]) -> str:
    """A place or an element in words: `(dim0=1, dim1=2)`."""
    return f"({', '.join(f'{name}={value}' for name, value in numbers.items())})"
