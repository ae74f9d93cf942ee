"""Values that code moves: where one was loaded from, and what was done to it on the way.

    steps_of(lambda x: 2 * x + 1, "float32")
    # (("mul.f32", (None, 0x40000000)), ("add.f32", (None, 0x3f800000)))

A step is an instruction with its constants as bits; None is where the value goes in.  What numbers
are loaded is not asked: two values are the same when they come from the same place by the same
steps.  Equivalent ways of writing a step (x - c as x + -c, 2 * x as x + x, constants last) are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from layout_algebra.memory.dtypes import bits_of
from layout_algebra.validation.syntax import Instruction

#: An instruction's name, and its operands: None for the value, else a constant's bits.
Step: TypeAlias = tuple[str, tuple[int | None, ...]]

#: What is loaded where steps that are written differently are compared by what they make of it.
SAMPLES = (0.0, 1.0, -3.0, 0.625, 1e3, -1.5e-3)


@dataclass(frozen=True)
class Datum:
    """A loaded value: the address it came from (a Word, or a number), its bits, what was done.

    One that was made of several loaded values has no address, and is the number that comes of what
    `content` says of theirs.
    """

    address: Any
    bits: int
    steps: tuple[Step, ...] = ()
    number: Any = None


def content(address: int, bits: int) -> int:
    """What is loaded where a number is needed: small, and another one a few elements on."""
    return address // (bits // 8) % 61 + 1


def number_of(datum: Datum) -> Any:
    """The number that a value is, for such contents; None where that is not known here."""
    if datum.number is not None:
        return datum.number
    return _result(datum.steps, content(datum.address, datum.bits), datum.bits)


def combined(one: Instruction, operands: Sequence[Any]) -> Any:
    """What an instruction makes of numbers; None where that is not known here."""
    opcode = one.opcode
    if opcode not in _CALCULATE or any(x is None for x in operands):
        return None
    import numpy as np

    with np.errstate(all="ignore"):
        return np.dtype(f"f{one.type.bits // 8}").type(_CALCULATE[opcode](*operands))


def step_of(one: Instruction, operands: Sequence[int | None]) -> Step:
    """The step that an instruction is, with its operands after the result."""
    modifiers = [name for name in one.modifiers if name != "rn"]
    name = ".".join([one.opcode, *modifiers, *map(str, one.types)])
    return _usual(name, tuple(operands), one.type.bits)


def _usual(name: str, operands: tuple[int | None, ...], bits: int) -> Step:
    opcode = name.split(".", maxsplit=1)[0]
    if opcode == "sub" and operands[1] is not None:
        sign = 1 << (bits - 1)
        return _usual("add" + name[3:], (operands[0], operands[1] ^ sign), bits)
    if opcode in ("add", "mul", "min", "max") and operands[0] is not None:
        operands = operands[1], operands[0]
    if opcode == "mul" and operands[1] == 1 << (bits - 2):  # 2.0 in every format
        return "add" + name[3:], (None, None)
    if opcode == "fma" and operands[0] is not None and operands[1] is None:
        return name, (None, operands[0], operands[2])
    return name, operands


# -- what a user says -------------------------------------------------------------------------
class Value:
    """The value in a callable that is traced: sums, differences, products with constants."""

    def __init__(self, dtype: str, steps: tuple[Step, ...] = ()) -> None:
        self.dtype = dtype
        self.steps = steps

    def _with(self, opcode: str, *operands: object) -> Value:
        bits = bits_of(self.dtype)
        given = tuple(None if one is None else constant_bits(one, self.dtype) for one in operands)
        return Value(self.dtype, (*self.steps, _usual(f"{opcode}.f{bits}", given, bits)))

    def __add__(self, other: object) -> Value:
        return self._with("add", None, other)

    def __radd__(self, other: object) -> Value:
        return self._with("add", None, other)

    def __sub__(self, other: object) -> Value:
        return self._with("sub", None, other)

    def __rsub__(self, other: object) -> Value:
        return self._with("sub", other, None)

    def __mul__(self, other: object) -> Value:
        return self._with("mul", None, other)

    def __rmul__(self, other: object) -> Value:
        return self._with("mul", None, other)

    def __neg__(self) -> Value:
        return self._with("neg", None)

    def __abs__(self) -> Value:
        return self._with("abs", None)


def steps_of(through: Callable[[Any], Any] | None, dtype: str) -> tuple[Step, ...]:
    """The steps that a callable of one value does.

    Raises:
        TypeError: it does something else than arithmetic with constants on its argument.
    """
    if through is None:
        return ()
    found = through(Value(dtype))
    if not isinstance(found, Value):
        raise TypeError(f"the callable gives no value made from its argument; got {found!r}")
    return found.steps


def constant_bits(number: object, dtype: str) -> int:
    """A constant as the bits of a type.

    Raises:
        TypeError: no number, or no floating-point type.
    """
    import numpy as np

    own = np.dtype(dtype)
    if own.kind != "f" or isinstance(number, Value) or not np.isscalar(number):
        raise TypeError(f"{number!r} is no constant of {dtype}")
    return int(own.type(number).view(f"u{own.itemsize}"))  # type: ignore[call-overload]


# -- what steps make of a value ---------------------------------------------------------------
def differ(one: Sequence[Step], other: Sequence[Step], bits: int) -> tuple[float, Any, Any] | None:
    """A value of which the steps make different ones, and those; None where no sample shows it."""
    for sample in SAMPLES:
        made = [_result(steps, sample, bits) for steps in (one, other)]
        if None not in made and made[0].tobytes() != made[1].tobytes():
            return sample, made[0], made[1]
    return None


def _result(steps: Sequence[Step], sample: float, bits: int) -> Any:
    """The steps on NumPy's numbers; None where there is one that is not known here."""
    import numpy as np

    value: Any = np.dtype(f"f{bits // 8}").type(sample)
    for name, operands in steps:
        opcode, *types = name.split(".")
        size = int(types[0][1:]) if types and types[0][:1] == "f" and types[0][1:].isdigit() else 0
        if not size or opcode not in _CALCULATE:
            return None
        kind = np.dtype(f"f{size // 8}").type
        word = np.dtype(f"u{size // 8}").type
        given = [kind(value) if one is None else word(one).view(kind) for one in operands]
        with np.errstate(all="ignore"):
            value = kind(_CALCULATE[opcode](*given))
    return value


_CALCULATE: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "cvt": lambda a: a,
    "fma": lambda a, b, c: a * b + c,
}


def shown(steps: Sequence[Step]) -> str:
    """The steps as text: "add.f32 x, 0x3f800000"."""
    parts = [
        f"{name} {', '.join('x' if one is None else hex(one) for one in operands)}"
        for name, operands in steps
    ]
    return "; ".join(parts) or "as it is"
