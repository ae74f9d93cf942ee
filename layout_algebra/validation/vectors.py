"""PTX run for many threads at once on NumPy arrays: for enumeration.

    for group in run_many(function, {"%tid.x": threads}, [base, 100], count):
        group.members, group.stores

Values are uint64 arrays reduced to the size of their register; threads that part at a branch become
two groups.  Held equal to concrete.py by the tests, which share no operation with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Numbers = NDArray[np.uint64]


@dataclass(frozen=True)
class Stored:
    """One store of a group: arrays over its members."""

    space: str
    address: Numbers
    value: Numbers
    bits: int


@dataclass(frozen=True)
class Group:
    """Threads that took one path: their positions among those given, and their stores in order."""

    members: NDArray[np.int64]
    stores: tuple[Stored, ...]


def run_many(
    function: Function,
    specials: Mapping[str, Any],
    arguments: Sequence[Any],
    count: int,
) -> list[Group]:
    """The stores of many threads.

    Args:
        function: what `read_ptx` gives.
        specials: special registers: a number, or an array with one for each thread; others are 0.
        arguments: the parameters, in the same way.
        count: how many threads there are.

    Raises:
        PtxError: a register that is read before it is written, or a division by zero.
    """
    held = {
        one.name: _reduced(_numbers(value), one.bits)
        for one, value in zip(function.parameters, arguments, strict=True)
    }
    given = {name: _reduced(_numbers(value), 32) for name, value in specials.items()}
    waiting = [_Threads(function, given, held, np.arange(count))]
    done: list[Group] = []
    with np.errstate(over="ignore"):
        while waiting:
            threads = waiting.pop()
            waiting += threads.advance()
            if threads.ended:
                done.append(Group(threads.members, tuple(threads.stores)))
    return done


class _Threads:
    """Threads that have taken one path so far."""

    def __init__(
        self,
        function: Function,
        specials: dict[str, Numbers],
        arguments: dict[str, Numbers],
        members: NDArray[np.int64],
    ) -> None:
        self.function, self.members = function, members
        self.specials, self.arguments = specials, arguments
        self.registers: dict[str, Any] = {}
        self.stores: list[Stored] = []
        self.at = 0
        self.ended = False

    def advance(self) -> list[_Threads]:
        """Runs to the end, or to where the threads part: the groups that go on."""
        while True:
            one = self.function.body[self.at]
            if one.predicate is not None:
                taken = self._broadcast(self._register(one.predicate.register, one) != 0)
                taken = taken ^ one.predicate.negated
                if not taken.all():
                    if taken.any():
                        return [self._part(taken), self._part(~taken)]
                    self.at += 1
                    continue
            if one.opcode in ("ret", "exit"):
                self.ended = True
                return []
            if one.opcode == "bra":
                (label,) = one.operands
                self.at = label.target if isinstance(label, Label) else self.at
                continue
            self._step(one)
            self.at += 1

    def _part(self, kept: NDArray[np.bool_]) -> _Threads:
        """The threads for which `kept` is true, at the same instruction."""

        def chosen(values: Any) -> Any:
            return values[kept] if np.ndim(values) else values

        part = _Threads(
            self.function,
            {name: chosen(values) for name, values in self.specials.items()},
            {name: chosen(values) for name, values in self.arguments.items()},
            self.members[kept],
        )
        part.registers = {name: chosen(values) for name, values in self.registers.items()}
        part.stores = [
            Stored(one.space, one.address[kept], one.value[kept], one.bits) for one in self.stores
        ]
        part.at = self.at
        return part

    def _broadcast(self, values: Any) -> Any:
        return np.broadcast_to(values, self.members.shape)

    def _step(self, one: Instruction) -> None:
        if one.opcode == "st":
            self.stores += self._stored(one)
            return
        target = one.operands[0]
        if not isinstance(target, Register):
            raise PtxError(f"{target} is no register", one.line)
        if one.opcode == "ld":
            source = one.operands[1]
            base = source.base if isinstance(source, Address) else ""
            made = _extended(self.arguments[str(base)], one.type)
        elif one.opcode == "cvt":
            value = _extended(self._read(one.operands[1], one.types[1].bits, one), one.types[1])
            made = _extended(_reduced(value, one.type.bits), one.type)
        else:
            operands = [self._read(x, _bits_of(x, one, k), one) for k, x in _sources(one)]
            made = _CALCULATE[one.opcode](one, *operands)
        self.registers[target.name] = _reduced(made, target.bits)

    def _register(self, register: Register, one: Instruction) -> Any:
        if register.name not in self.registers:
            raise PtxError(f"{register} is read before it is written", one.line)
        return self.registers[register.name]

    def _read(self, operand: Operand, bits: int, one: Instruction) -> Any:
        match operand:
            case Register():
                return _reduced(self._register(operand, one), bits)
            case Immediate():
                return np.uint64(operand.value % (1 << bits))
            case Special():
                return self.specials.get(operand.name, np.uint64(0))
            case _:
                raise PtxError(f"{operand} is no number", one.line)

    def _stored(self, one: Instruction) -> Iterator[Stored]:
        place, given = one.operands
        if not isinstance(place, Address):
            raise PtxError(f"{place} is no address", one.line)
        space, start = str(place.base), np.uint64(0)
        if isinstance(place.base, Register):
            space, start = "global", self._register(place.base, one)
        bits = one.type.bits
        for k, part in enumerate(given.parts if isinstance(given, Vector) else (given,)):
            address = start + np.uint64((place.offset + k * bits // 8) % 2**64)
            value = self._broadcast(self._read(part, bits, one))
            yield Stored(space, self._broadcast(address), value, bits)


def _sources(one: Instruction) -> Iterator[tuple[int, Operand]]:
    return enumerate(one.operands[1:])


def _bits_of(operand: Operand, one: Instruction, position: int) -> int:
    """The size at which an operand is read: registers have their own, numbers take the type's."""
    if isinstance(operand, Register):
        return operand.bits
    if one.opcode in ("shl", "shr") and position == 1:
        return 32
    if one.opcode in ("bfe", "bfi") and position >= len(one.operands) - 3:
        return 32
    wide = one.opcode == "mad" and "wide" in one.modifiers and position == 2
    return 2 * one.type.bits if wide else one.type.bits


def _numbers(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.astype(np.uint64)
    return np.uint64(int(value) % 2**64)


def _reduced(values: Any, bits: int) -> Any:
    return values if bits == 64 else values & np.uint64((1 << bits) - 1)


def _extended(values: Any, kind: Type) -> Any:
    """Numbers of a type as 64 bits: with their sign, for a signed type."""
    values = _reduced(values, kind.bits)
    if kind.kind != "s" or kind.bits == 64:
        return values
    half = np.uint64(1 << (kind.bits - 1))
    return (values ^ half) - half


def _as_signed(values: Any, bits: int) -> Any:
    return _extended(values, Type("s", bits)).view(np.int64)


# -- what the instructions compute ---------------------------------------------------------------
def _multiply(one: Instruction, a: Any, b: Any) -> Any:
    kind = one.type
    if "lo" in one.modifiers:
        return a * b
    x, y = _extended(a, kind), _extended(b, kind)
    if "wide" in one.modifiers:
        return x * y
    if kind.bits < 64:
        product = x * y
        if kind.kind == "s":
            return (product.view(np.int64) >> np.int64(kind.bits)).view(np.uint64)
        return product >> np.uint64(kind.bits)
    high = _high(a, b)
    if kind.kind == "s":
        zero = np.uint64(0)
        high = high - np.where(_as_signed(a, 64) < 0, b, zero)
        high = high - np.where(_as_signed(b, 64) < 0, a, zero)
    return high


def _high(a: Any, b: Any) -> Any:
    """The upper 64 bits of unsigned products, from halves of 32."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


def _multiply_add(one: Instruction, a: Any, b: Any, c: Any) -> Any:
    return _multiply(one, a, b) + c


def _divided(one: Instruction, a: Any, b: Any) -> tuple[Any, Any]:
    """Quotient and remainder, rounded to zero."""
    if not np.all(b):
        raise PtxError("a division by zero has no value", one.line)
    if one.type.kind != "s":
        return a // b, a % b
    x, y = _as_signed(a, one.type.bits), _as_signed(b, one.type.bits)
    below_x, below_y = x < 0, y < 0
    size_x = np.where(below_x, np.uint64(0) - x.view(np.uint64), x.view(np.uint64))
    size_y = np.where(below_y, np.uint64(0) - y.view(np.uint64), y.view(np.uint64))
    quotient, rest = size_x // size_y, size_x % size_y
    zero = np.uint64(0)
    return (
        np.where(below_x == below_y, quotient, zero - quotient),
        np.where(below_x, zero - rest, rest),
    )


def _shift_left(one: Instruction, a: Any, n: Any) -> Any:
    return np.where(n < one.type.bits, a << np.minimum(n, np.uint64(63)), np.uint64(0))


def _shift_right(one: Instruction, a: Any, n: Any) -> Any:
    least = np.minimum(n, np.uint64(63))
    if one.type.kind == "s":
        return (_as_signed(a, one.type.bits) >> least.astype(np.int64)).view(np.uint64)
    return np.where(n < one.type.bits, a >> least, np.uint64(0))


def _extract(one: Instruction, a: Any, position: Any, length: Any) -> Any:
    byte, top = np.uint64(0xFF), np.uint64(one.type.bits - 1)
    low, count = position & byte, length & byte
    last = np.minimum(low + count - np.uint64(1), top)
    sign = (a >> last) & np.uint64(1)
    field = np.where(low <= top, a >> np.minimum(low, top), np.uint64(0))
    inside = np.where(low <= top, np.minimum(count, top + np.uint64(1) - np.minimum(low, top)), 0)
    mask = _ones(inside.astype(np.uint64))
    filled = np.where((sign == 1) & (one.type.kind == "s"), ~mask, np.uint64(0))
    return np.where(count == 0, np.uint64(0), (field & mask) | filled)


def _insert(one: Instruction, a: Any, b: Any, position: Any, length: Any) -> Any:
    byte, bits = np.uint64(0xFF), np.uint64(one.type.bits)
    low, count = position & byte, length & byte
    mask = np.where(low < bits, _ones(count) << np.minimum(low, bits - np.uint64(1)), np.uint64(0))
    moved = a << np.minimum(low, bits - np.uint64(1))
    return (b & ~mask) | (moved & mask)


def _ones(count: Any) -> Any:
    """So many ones at the bottom, at most 64."""
    some = (np.uint64(1) << np.minimum(count, np.uint64(63))) - np.uint64(1)
    return np.where(count >= 64, ~np.uint64(0), some)


def _compare(one: Instruction, a: Any, b: Any) -> Any:
    if one.type.kind == "s":
        a, b = _as_signed(a, one.type.bits), _as_signed(b, one.type.bits)
    return _ORDERS[one.modifiers[0]](a, b).astype(np.uint64)


def _least(one: Instruction, a: Any, b: Any) -> Any:
    read: Callable[[Any], Any] = lambda x: x  # noqa: E731
    if one.type.kind == "s":
        read = lambda x: _as_signed(x, one.type.bits)  # noqa: E731
    first = read(a) < read(b)
    return np.where(first == (one.opcode == "min"), a, b)


_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "lo": np.less,
    "le": np.less_equal,
    "ls": np.less_equal,
    "gt": np.greater,
    "hi": np.greater,
    "ge": np.greater_equal,
    "hs": np.greater_equal,
}

_CALCULATE: dict[str, Callable[..., Any]] = {
    "add": lambda one, a, b: a + b,
    "sub": lambda one, a, b: a - b,
    "neg": lambda one, a: np.uint64(0) - a,
    "mul": _multiply,
    "mad": _multiply_add,
    "div": lambda one, a, b: _divided(one, a, b)[0],
    "rem": lambda one, a, b: _divided(one, a, b)[1],
    "min": _least,
    "max": _least,
    "and": lambda one, a, b: a & b,
    "or": lambda one, a, b: a | b,
    "xor": lambda one, a, b: a ^ b,
    "not": lambda one, a: ~a,
    "shl": _shift_left,
    "shr": _shift_right,
    "bfe": _extract,
    "bfi": _insert,
    "setp": _compare,
    "selp": lambda one, a, b, p: np.where(p != 0, a, b),
    "mov": lambda one, a: a,
    "cvta": lambda one, a: a,
}
