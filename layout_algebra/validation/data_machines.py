"""The interpreters of PTX where loads and floating point are read: values are carried, not known.

Integers are run as ever.  What a load from global memory gives is a `Datum`, which moves, stores
and floating-point instructions with constants take; whatever else reads one has no term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from layout_algebra import terms
from layout_algebra.validation.arithmetic import Arithmetic, NotATerm
from layout_algebra.validation.concrete import Store, Thread
from layout_algebra.validation.data import Datum, combined, number_of, step_of
from layout_algebra.validation.predicates import Test
from layout_algebra.validation.symbolic import Machine, Placed
from layout_algebra.validation.syntax import (
    Address,
    Immediate,
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
            found = self._datum(chosen)
            if found is None:
                raise NotATerm(f"a choice between what is loaded and a number: {one}")
            held[str(target)] = found
        elif one.opcode == "mov" and self._datum(one.operands[1]) is not None:
            held[str(target)] = self._datum(one.operands[1])
        elif _is_float(one) and one.opcode != "mov":
            held[str(target)] = self._applied(one)
        else:
            super().step(do, one)

    def _datum(self, operand: Operand) -> Datum | None:
        found: Any = None
        if isinstance(operand, Register):
            found = self.state.registers.get(operand.name)
        return found if isinstance(found, Datum) else None

    def _loaded(self, one: Instruction, held: dict[str, Any]) -> None:
        place = one.operands[1]
        if not isinstance(place, Address) or not isinstance(place.base, Register):
            raise PtxError(f"{place} is no address", one.line)
        start, bits = self.word(place.base, _PLACES, one).term, one.type.bits
        for k, part in enumerate(_parts(one.operands[0])):
            address = terms.linear([(start, 1)], place.offset + k * bits // 8)
            held[str(part)] = Datum(Word(address, _PLACES), bits)

    def _applied(self, one: Instruction) -> Datum:
        data = {found for x in one.operands[1:] if (found := self._datum(x)) is not None}
        if len(data) != 1:
            raise NotATerm(f"{len(data)} loaded values in {one}")
        operands: list[int | None] = []
        for x in one.operands[1:]:
            if self._datum(x) is not None:
                operands.append(None)
                continue
            value = constant(self.word(x, one.type.bits, one))
            if value is None:
                raise NotATerm(f"a number that varies in {one}")
            operands.append(value)
        (datum,) = data
        bits = one.type.bits
        return Datum(datum.address, bits, (*datum.steps, step_of(one, operands)))

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
            value: Any = self._datum(part) or self.word(part, bits, one)
            found.append(Placed("global", address, value, bits, one.line))
        return found


class DataThread(Thread):
    """One thread, on numbers; a value is where it was loaded from."""

    def step(self, one: Instruction) -> None:
        held: dict[str, Any] = self.registers
        target = one.operands[0]
        if one.opcode == "ld" and "global" in one.modifiers:
            place = one.operands[1]
            if not isinstance(place, Address) or not isinstance(place.base, Register):
                raise PtxError(f"{place} is no address", one.line)
            start, bits = self.register(place.base), one.type.bits
            for k, part in enumerate(_parts(target)):
                held[str(part)] = Datum((start + place.offset + k * bits // 8) % 2**64, bits)
        elif one.opcode == "selp" and any(self._is_datum(x) for x in one.operands[1:3]):
            chosen = self.read(one.operands[3], Type("pred", 1))
            held[str(target)] = self._held(one.operands[1 if chosen else 2], one)
        elif one.opcode == "mov" and self._is_datum(one.operands[1]):
            held[str(target)] = self._held(one.operands[1], one)
        elif _is_float(one) and one.opcode != "mov":
            held[str(target)] = self._applied(one)
        else:
            super().step(one)

    def _is_datum(self, operand: Operand) -> bool:
        found: Any = self.registers.get(operand.name) if isinstance(operand, Register) else None
        return isinstance(found, Datum)

    def _held(self, operand: Operand, one: Instruction) -> Any:
        if isinstance(operand, Register):
            return self.register(operand)
        return operand.value if isinstance(operand, Immediate) else self.read(operand, one.type)

    def _applied(self, one: Instruction) -> Datum:
        given = [self._held(x, one) for x in one.operands[1:]]
        data = {x for x in given if isinstance(x, Datum)}
        if len(data) != 1 or any(x.address is None for x in data):
            return self._combined(one, given)
        operands = [None if isinstance(x, Datum) else int(x) for x in given]
        (datum,) = data
        return Datum(datum.address, one.type.bits, (*datum.steps, step_of(one, operands)))

    def _combined(self, one: Instruction, given: Sequence[Any]) -> Datum:
        """Of several loaded values, or none: the number that comes of it."""
        kind, word = (np.dtype(f"{letter}{one.type.bits // 8}").type for letter in "fu")
        numbers = [number_of(x) if isinstance(x, Datum) else word(x).view(kind) for x in given]
        made = combined(one, numbers)
        if made is None:
            raise PtxError(f"loaded values in {one}", one.line)
        return Datum(None, one.type.bits, (), made)

    def read(self, operand: Operand, kind: Type) -> int:
        if self._is_datum(operand):
            raise PtxError(f"it computes with a loaded value: {operand}", self.line)
        return super().read(operand, kind)

    def store(self, one: Instruction) -> None:
        place, given = one.operands
        if not any(map(self._is_datum, _parts(given))):
            super().store(one)
            return
        if not isinstance(place, Address) or not isinstance(place.base, Register):
            raise PtxError(f"{place} is no address", one.line)
        start, bits = self.register(place.base), one.type.bits
        for k, part in enumerate(_parts(given)):
            address = (start + place.offset + k * bits // 8) % 2**64
            value: Any = self._held(part, one)
            self.stores.append(Store("global", address, value, bits))
