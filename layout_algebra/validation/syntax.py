"""What PTX text is read into: functions of checked instructions over sized registers.

    add.s32 %r3, %r1, -7;       Instruction("add", (), (Type("s", 32),), (Register("%r3", 32),
                                            Register("%r1", 32), Immediate(-7)))

Instructions are numbered in the order of the text; a label is the number of the instruction after
it.  Nothing here has a meaning: the interpreters (concrete.py, vectors.py, symbolic.py) give it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layout_algebra.errors import LayoutAlgebraError


class PtxError(LayoutAlgebraError, ValueError):
    """PTX that is not read: an unknown opcode, type or modifier, or text that is no PTX.

    `line` is the number of the line in the text, from 1; 0 where no line is concerned.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        self.reason = message
        self.line = line
        super().__init__(f"PTX line {line}: {message}" if line else f"PTX: {message}")

    def __reduce__(self) -> tuple[type[PtxError], tuple[str, int]]:
        return (PtxError, (self.reason, self.line))


@dataclass(frozen=True)
class Type:
    """`kind` is "u", "s", "b" or "pred"; a predicate has one bit."""

    kind: str
    bits: int

    def __str__(self) -> str:
        return "pred" if self.kind == "pred" else f"{self.kind}{self.bits}"


@dataclass(frozen=True)
class Register:
    """A register and its size; a predicate has one bit."""

    name: str
    bits: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Immediate:
    """A number in the text, as written: it is reduced to the size that reads it.

    `floating` is the size of a floating-point literal, whose value is its bits; None for integers.
    """

    value: int
    floating: int | None = None

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Special:
    """A special register, such as %tid.x; all that are read have 32 bits."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Address:
    """`[base + offset]`; the base is a register or the name of a parameter."""

    base: Register | str
    offset: int = 0

    def __str__(self) -> str:
        return f"[{self.base}+{self.offset}]" if self.offset else f"[{self.base}]"


@dataclass(frozen=True)
class Label:
    """Where a branch goes: `target` is the number of an instruction."""

    name: str
    target: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Vector:
    """`{%r1, %r2}`: several operands of one load or store."""

    parts: tuple[Register | Immediate, ...]

    def __str__(self) -> str:
        return "{" + ", ".join(str(part) for part in self.parts) + "}"


Operand: TypeAlias = Register | Immediate | Special | Address | Label | Vector


@dataclass(frozen=True)
class Predicate:
    """`@%p1` or `@!%p1` before an instruction."""

    register: Register
    negated: bool

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.register}"


@dataclass(frozen=True)
class Instruction:
    """One instruction, whose opcode, modifiers, types and operands fit each other."""

    opcode: str
    modifiers: tuple[str, ...]
    types: tuple[Type, ...]
    operands: tuple[Operand, ...]
    predicate: Predicate | None = None
    line: int = 0

    @property
    def type(self) -> Type:
        """The first type: that of the result, and for most opcodes of everything."""
        return self.types[0]

    def __str__(self) -> str:
        name = ".".join([self.opcode, *self.modifiers, *(str(one) for one in self.types)])
        guard = f"{self.predicate} " if self.predicate else ""
        return f"{guard}{name} {', '.join(str(one) for one in self.operands)}".rstrip()


@dataclass(frozen=True)
class Parameter:
    """A parameter, or the value that a function returns."""

    name: str
    bits: int


@dataclass(frozen=True)
class Function:
    """An entry (a kernel) or a function, with its instructions.

    `results` are the parameters that a function returns its value in; an entry has none.
    `target` is that of the module, such as "sm_90a".
    """

    name: str
    is_entry: bool
    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    body: tuple[Instruction, ...]
    target: str = ""
