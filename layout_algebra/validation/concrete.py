"""PTX run for one thread on Python ints: the reference that has the last word.

    stores = run(function, {"%tid.x": 3, "%ntid.x": 32, "%ctaid.x": 0}, [4096, 100])
    bytes_of(stores)            # what the thread leaves in memory: address -> byte

Each instruction is a few lines after the PTX ISA's own description, on numbers reduced to the size
of their type.  Nothing is shared with the two other interpreters but the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from layout_algebra.validation.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Operand,
    PtxError,
    Register,
    Special,
    Type,
    Vector,
)


@dataclass(frozen=True)
class Store:
    """One value that a thread stored: `space` is "global" or the name of a result."""

    space: str
    address: int
    value: int
    bits: int


def run(
    function: Function, specials: Mapping[str, int], arguments: Sequence[int]
) -> tuple[Store, ...]:
    """The stores of one thread, in order.

    Args:
        function: what `read_ptx` gives.
        specials: the special registers' values; those that are not named are 0.
        arguments: the parameters' values, in order.

    Raises:
        PtxError: as many arguments as the function does not have, or a register that is read before
            it is written.
    """
    if len(arguments) != len(function.parameters):
        raise PtxError(
            f"{function.name} has {len(function.parameters)} parameters; got {len(arguments)}"
        )
    held = {
        one.name: value % (1 << one.bits)
        for one, value in zip(function.parameters, arguments, strict=True)
    }
    return Thread(function, specials, held).run()


def bytes_of(stores: Sequence[Store]) -> dict[tuple[str, int], int]:
    """What is left in memory: (space, address) -> byte, the later store winning."""
    memory: dict[tuple[str, int], int] = {}
    for store in stores:
        for k in range(store.bits // 8):
            memory[store.space, (store.address + k) % 2**64] = (store.value >> 8 * k) & 0xFF
    return memory


class Thread:
    """One thread's registers, and where it is."""

    def __init__(
        self, function: Function, specials: Mapping[str, int], arguments: Mapping[str, int]
    ) -> None:
        self.function = function
        self.specials = specials
        self.arguments = arguments
        self.registers: dict[str, int] = {}
        self.stores: list[Store] = []
        self.line = 0

    def run(self) -> tuple[Store, ...]:
        body, at = self.function.body, 0
        while True:
            one = body[at]
            self.line = one.line
            at += 1
            if one.predicate is not None:
                holds = bool(self.register(one.predicate.register))
                if holds == one.predicate.negated:
                    continue
            if one.opcode in ("ret", "exit"):
                return tuple(self.stores)
            if one.opcode == "bra":
                (label,) = one.operands
                at = label.target if isinstance(label, Label) else at
            else:
                self.step(one)

    def step(self, one: Instruction) -> None:
        if one.opcode == "st":
            self.store(one)
        elif one.opcode == "ld":
            self._load(one)
        elif one.opcode == "cvt":
            self._convert(one)
        else:
            types = _operand_types(one)
            values = [self.read(x, t) for x, t in zip(one.operands[1:], types, strict=True)]
            kind = Type("u", 2 * one.type.bits) if "wide" in one.modifiers else one.type
            result = CALCULATE[one.opcode](one, *values)
            target = one.operands[0]
            bits = 1 if one.opcode == "setp" else kind.bits
            self.registers[str(target)] = result % (1 << bits)

    # -- operands -----------------------------------------------------------------------------
    def register(self, register: Register) -> int:
        if register.name not in self.registers:
            raise PtxError(f"{register} is read before it is written", self.line)
        return self.registers[register.name]

    def read(self, operand: Operand, kind: Type) -> int:
        """An operand as a number of this type: what lies beyond its size is cut off."""
        match operand:
            case Register():
                value = self.register(operand)
            case Immediate():
                value = operand.value
            case Special():
                value = self.specials.get(operand.name, 0)
            case _:
                raise PtxError(f"{operand} is no number", self.line)
        value %= 1 << kind.bits
        if kind.kind == "s" and value >> (kind.bits - 1):
            value -= 1 << kind.bits
        return value

    def _write(self, target: Operand, value: int) -> None:
        """A signed or unsigned number into a register at least as wide."""
        if not isinstance(target, Register):
            raise PtxError(f"{target} is no register", self.line)
        self.registers[target.name] = value % (1 << target.bits)

    # -- memory and conversion ----------------------------------------------------------------
    def _load(self, one: Instruction) -> None:
        target, source = one.operands
        value = self.arguments[str(source.base)] if isinstance(source, Address) else 0
        self._write(target, _signed(value, one.type))

    def _convert(self, one: Instruction) -> None:
        target, source = one.operands
        value = self.read(source, one.types[1])
        self._write(target, _signed(value % (1 << one.type.bits), one.type))

    def store(self, one: Instruction) -> None:
        place, given = one.operands
        if not isinstance(place, Address):
            raise PtxError(f"{place} is no address", self.line)
        size = Type("b", one.type.bits)
        parts = given.parts if isinstance(given, Vector) else (given,)
        if isinstance(place.base, Register):
            space, start = "global", self.register(place.base)
        else:
            space, start = place.base, 0
        for k, part in enumerate(parts):
            address = (start + place.offset + k * size.bits // 8) % 2**64
            self.stores.append(Store(space, address, self.read(part, size), size.bits))


def _operand_types(one: Instruction) -> list[Type]:
    """How each operand after the result is read."""
    count, kind = len(one.operands) - 1, one.type
    types = [kind] * count
    if one.opcode in ("shl", "shr"):
        types[1] = Type("u", 32)
    elif one.opcode in ("bfe", "bfi"):
        types[-2:] = [Type("u", 32)] * 2
    elif one.opcode == "selp":
        types[2] = Type("pred", 1)
    elif one.opcode == "mad" and "wide" in one.modifiers:
        types[2] = Type(kind.kind, 2 * kind.bits)
    return types


def _signed(value: int, kind: Type) -> int:
    """A number of this size as the type reads it."""
    return value - (1 << kind.bits) if kind.kind == "s" and value >> (kind.bits - 1) else value


# -- what the instructions compute ---------------------------------------------------------------
def _multiply(one: Instruction, a: int, b: int) -> int:
    return a * b >> one.type.bits if "hi" in one.modifiers else a * b


def _shift_left(one: Instruction, a: int, n: int) -> int:
    return a << n if n < one.type.bits else 0


def _shift_right(one: Instruction, a: int, n: int) -> int:
    return a >> min(n, one.type.bits)


def _quotient(one: Instruction, a: int, b: int) -> int:
    if b == 0:
        raise PtxError("a division by zero has no value", one.line)
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(one: Instruction, a: int, b: int) -> int:
    return a - b * _quotient(one, a, b)


def _extract(one: Instruction, a: int, position: int, length: int) -> int:
    """bfe: positions and lengths are bytes; beyond the top come zeros, or copies of the sign."""
    position, length = position & 0xFF, length & 0xFF
    top, signed = one.type.bits - 1, one.type.kind == "s"
    sign = 0
    if signed and length:
        sign = (a >> min(position + length - 1, top)) & 1
    result = 0
    for k in range(one.type.bits):
        inside = k < length and position + k <= top
        result |= (((a >> (position + k)) & 1) if inside else sign) << k
    return result


def _insert(one: Instruction, a: int, b: int, position: int, length: int) -> int:
    """bfi: bits of a over those of b, as far as they lie inside."""
    position, length = position & 0xFF, length & 0xFF
    for k in range(length):
        if position + k < one.type.bits:
            at = 1 << (position + k)
            b = b | at if (a >> k) & 1 else b & ~at
    return b


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "lo": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "ls": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "hi": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "hs": lambda a, b: a >= b,
}

#: From an instruction and its operands' values to its result, before it is cut to its size.
CALCULATE: dict[str, Callable[..., int]] = {
    "add": lambda one, a, b: a + b,
    "sub": lambda one, a, b: a - b,
    "neg": lambda one, a: -a,
    "mul": _multiply,
    "mad": lambda one, a, b, c: _multiply(one, a, b) + c,
    "div": _quotient,
    "rem": _remainder,
    "min": lambda one, a, b: min(a, b),
    "max": lambda one, a, b: max(a, b),
    "and": lambda one, a, b: a & b,
    "or": lambda one, a, b: a | b,
    "xor": lambda one, a, b: a ^ b,
    "not": lambda one, a: ~a,
    "shl": _shift_left,
    "shr": _shift_right,
    "bfe": _extract,
    "bfi": _insert,
    "setp": lambda one, a, b: int(_COMPARE[one.modifiers[0]](a, b)),
    "selp": lambda one, a, b, p: a if p else b,
    "mov": lambda one, a: a,
    "cvta": lambda one, a: a,
}
