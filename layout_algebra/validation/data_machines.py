"""The interpreters of PTX where loads and floating point are read: values are carried, not known.

Integers are run as ever.  What a load from global memory gives is a `Datum`, which moves, stores
and floating-point instructions with constants take; whatever else reads one has no term.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from layout_algebra import terms
from layout_algebra.errors import CoordinateError
from layout_algebra.validation.arithmetic import Arithmetic, NotATerm
from layout_algebra.validation.concrete import Thread
from layout_algebra.validation.data import Datum, calculated, step_of
from layout_algebra.validation.predicates import Test
from layout_algebra.validation.symbolic import Machine, Placed
from layout_algebra.validation.syntax import (
    Address,
    Instruction,
    Operand,
    PtxError,
    Register,
    Type,
    Vector,
)
from layout_algebra.validation.words import Word, constant

_PLACES = 64


def _is_float(one: Instruction) -> bool:
    return bool(one.types) and one.type.kind == "f" and one.opcode not in ("ld", "st")


def _parts(operand: Operand) -> tuple[Operand, ...]:
    return operand.parts if isinstance(operand, Vector) else (operand,)


class DataMachine(Machine):
    """All threads at once."""

    def step(self, do: Arithmetic, one: Instruction) -> None:
        held: dict[str, Any] = self.state.registers
        target = one.operands[0]
        if one.opcode == "ld" and "global" in one.modifiers:
            self._loaded(one, held)
        elif one.opcode == "selp" and any(map(self._datum, one.operands[1:3])):
            chosen = one.operands[1 if self.decide(self.test(one.operands[3], one)) else 2]
            held[str(target)] = self._whole(chosen, one)
        elif one.opcode == "mov" and self._datum(one.operands[1]) is not None:
            held[str(target)] = self._whole(one.operands[1], one)
        elif _is_float(one) and one.opcode != "mov":
            held[str(target)] = self._applied(one)
        else:
            super().step(do, one)

    def _datum(self, operand: Operand) -> Datum | None:
        found: Any = None
        if isinstance(operand, Register):
            found = self.state.registers.get(operand.name)
        return found if isinstance(found, Datum) else None

    def _whole(self, operand: Operand, one: Instruction) -> Datum:
        """A loaded value, if an instruction takes all of it and no more."""
        found = self._datum(operand)
        if found is None or found.bits != one.types[-1].bits:
            raise NotATerm(f"no loaded value of {one.types[-1].bits} bits in {one}")
        return found

    def _loaded(self, one: Instruction, held: dict[str, Any]) -> None:
        place = one.operands[1]
        if not isinstance(place, Address) or not isinstance(place.base, Register):
            raise PtxError(f"{place} is no address", one.line)
        start, bits = self.word(place.base, _PLACES, one).term, one.type.bits
        for k, part in enumerate(_parts(one.operands[0])):
            address = terms.linear([(start, 1)], place.offset + k * bits // 8)
            held[str(part)] = Datum(Word(address, _PLACES), bits, bits)

    def _applied(self, one: Instruction) -> Datum:
        data = {found for x in one.operands[1:] if (found := self._datum(x)) is not None}
        if len(data) != 1:
            raise NotATerm(f"{len(data)} loaded values in {one}")
        operands: list[int | None] = []
        for x in one.operands[1:]:
            if self._datum(x) is not None:
                self._whole(x, one)
                operands.append(None)
                continue
            value = constant(self.word(x, one.types[-1].bits, one))
            if value is None:
                raise NotATerm(f"a number that varies in {one}")
            operands.append(value)
        (datum,) = data
        rounded = "rn" in one.modifiers
        if datum.loose and one.opcode in ("add", "sub") and not rounded:
            raise NotATerm(f"a product and {one} may become one fma: say .rn in one of them")
        step = step_of(one, operands)
        loose = step[0].startswith("mul") and not rounded
        return replace(datum, bits=one.type.bits, steps=(*datum.steps, step), loose=loose)

    def word(self, operand: Operand, bits: int, one: Instruction) -> Word:
        if self._datum(operand) is not None:
            raise NotATerm(f"it computes with what it loads: {one}")
        return super().word(operand, bits, one)

    def test(self, operand: Operand, one: Instruction) -> Test:
        if self._datum(operand) is not None:
            raise NotATerm(f"it decides by what it loads: {one}")
        return super().test(operand, one)

    def stored(self, one: Instruction) -> list[Placed]:
        place, given = one.operands
        parts = _parts(given)
        if not any(self._datum(part) for part in parts):
            return super().stored(one)
        if not isinstance(place, Address) or not isinstance(place.base, Register):
            raise PtxError(f"{place} is no address", one.line)
        start, bits = self.word(place.base, _PLACES, one).term, one.type.bits
        found: list[Placed] = []
        for k, part in enumerate(parts):
            address = Word(terms.linear([(start, 1)], place.offset + k * bits // 8), _PLACES)
            datum = self._datum(part)
            value: Any = self.word(part, bits, one) if datum is None else self._whole(part, one)
            found.append(Placed("global", address, value, bits, one.line))
        return found


@dataclass(frozen=True)
class Held:
    """A value in a register: its bits, and where it was loaded from, unless from several places."""

    bits: int
    address: int | None


class DataThread(Thread):
    """One thread, on numbers: `memory` says what a load gives, from an address and a size (bytes).

    Raises:
        CoordinateError: a load from where the thread stored.
    """

    def __init__(self, memory: Callable[[int, int], int], *more: Any) -> None:
        super().__init__(*more)
        self.memory = memory
        #: For each store, where its value was loaded from.
        self.origins: list[int | None] = []

    def step(self, one: Instruction) -> None:
        held: dict[str, Any] = self.registers
        target = one.operands[0]
        if one.opcode == "ld" and "global" in one.modifiers:
            place = one.operands[1]
            if not isinstance(place, Address) or not isinstance(place.base, Register):
                raise PtxError(f"{place} is no address", one.line)
            start, size = int(self.register(place.base)), one.type.bits // 8
            for k, part in enumerate(_parts(target)):
                address = (start + place.offset + k * size) % 2**64
                self._check_foreign(address, size)
                value = self.memory(address, size)
                if one.type.kind == "s" and value >> (one.type.bits - 1):
                    value -= 1 << one.type.bits
                bits = part.bits if isinstance(part, Register) else one.type.bits
                held[str(part)] = Held(value % (1 << bits), address)
            return
        origins = {
            found.address
            for x in one.operands[1:]
            if isinstance(x, Register) and isinstance(found := held.get(x.name), Held)
        }
        if _is_float(one) and one.opcode not in ("mov", "selp"):
            name = ".".join([one.opcode, *map(str, one.types)])
            given = [self.read(x, Type("b", one.types[-1].bits)) for x in one.operands[1:]]
            held[str(target)] = calculated(name, given)
        else:
            super().step(one)
        if origins and isinstance(target, Register):
            (address,) = origins if len(origins) == 1 else (None,)
            held[str(target)] = Held(held[str(target)], address)

    def _check_foreign(self, address: int, size: int) -> None:
        """Raises CoordinateError where this thread has stored: that memory is not followed."""
        for store in self.stores:
            if (address - store.address) % 2**64 < store.bits // 8 or (
                store.address - address
            ) % 2**64 < size:
                raise CoordinateError("a thread reads what it stored, which is not followed")

    def register(self, register: Register) -> int:
        found: Any = super().register(register)
        return found.bits if isinstance(found, Held) else found

    def store(self, one: Instruction) -> None:
        super().store(one)
        for part in _parts(one.operands[1]):
            found: Any = self.registers.get(str(part))
            self.origins.append(found.address if isinstance(found, Held) else None)
