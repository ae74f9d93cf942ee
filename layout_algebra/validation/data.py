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
from numbers import Real
from typing import Any, Never, TypeAlias

import numpy as np

from layout_algebra.memory.dtypes import bits_of
from layout_algebra.validation.syntax import Instruction

#: An instruction's name, and its operands: None for the value, else a constant's bits.
Step: TypeAlias = tuple[str, tuple[int | None, ...]]


@dataclass(frozen=True)
class Datum:
    """A loaded value, where it is not known: from where, how long it was and is, what was done."""

    address: Any
    loaded: int
    bits: int
    steps: tuple[Step, ...] = ()
    #: The last step is a product without a rounding modifier: ptxas may make one step of it and of
    #: a sum without one that follows (PTX ISA, mul and add of floating point).
    loose: bool = False


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
        bits = _bits_of_float(self.dtype)
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

    def _decides(self, *_: object) -> Never:
        raise TypeError("what is done to a value may not depend on what it is")

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _decides
    __eq__ = __ne__ = _decides  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


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


def _bits_of_float(dtype: str) -> int:
    if dtype not in ("float16", "float32", "float64"):
        raise TypeError(
            f"arithmetic on values is followed for float16, float32 and float64, by these names; "
            f"got {dtype!r}"
        )
    return bits_of(dtype)


def constant_bits(number: object, dtype: str) -> int:
    """A constant as the bits of a type.

    Raises:
        TypeError: no number, or no floating-point type.
    """
    _bits_of_float(dtype)
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{number!r} is no constant of {dtype}")
    own = np.dtype(dtype)
    return int(own.type(number).view(f"u{own.itemsize}"))  # type: ignore[call-overload]


# -- what instructions make of numbers ---------------------------------------------------------
_CALCULATE: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "cvt": lambda a: a,
    "fma": lambda a, b, c: type(a)(np.longdouble(a) * np.longdouble(b) + np.longdouble(c)),
}


def calculated(name: str, operands: Sequence[int]) -> int:
    """What a floating-point instruction makes of bits: bits again.

    Args:
        name: with its types, like "add.f32"; the last type is that of the operands.
        operands: bits, as unsigned numbers.
    """
    opcode, *suffixes = name.split(".")
    sizes = [int(one[1:]) // 8 for one in suffixes if one[:1] == "f" and one[1:].isdigit()]
    made, read = np.dtype(f"f{sizes[0]}"), np.dtype(f"f{sizes[-1]}")
    word = np.dtype(f"u{sizes[-1]}").type
    given = [word(one).view(read) for one in operands]
    with np.errstate(all="ignore"):
        found = made.type(_CALCULATE[opcode](*given))
    return int(found.view(f"u{sizes[0]}"))


def after(steps: Sequence[Step], value: int) -> int:
    """What steps make of a value, in bits."""
    for name, operands in steps:
        value = calculated(name, [value if one is None else one for one in operands])
    return value


def content(index: int, bits: int, floats: bool) -> int:
    """What element `index` of an array holds where numbers are needed: a whole number above zero.

    Elements hold different numbers, as far as their bits allow.  Near elements hold numbers that
    are far apart (multiples of the golden ratio, modulo a prime): a step that was left out, or done
    twice, shall not give what the next element holds.
    """
    modulus, factor = _SPREAD[min(bits, 32)]
    number = index * factor % modulus + 1
    if not floats:
        return number
    return int(np.dtype(f"f{bits // 8}").type(number).view(f"u{bits // 8}"))


#: By bits: a prime whose multiples' rests a float of that many bits holds, and the multiplier.
_SPREAD = {8: (251, 155), 16: (2039, 1260), 32: (16777199, 10368879)}


def seen(bits: int, size: int) -> str:
    """Bits as a person reads them: a number of floating point."""
    if size not in (16, 32, 64):
        return str(bits)
    return str(np.dtype(f"u{size // 8}").type(bits).view(f"f{size // 8}"))


def shown(steps: Sequence[Step]) -> str:
    """The steps as text: "add.f32 x, 0x3f800000"."""
    parts = [
        f"{name} {', '.join('x' if one is None else hex(one) for one in operands)}"
        for name, operands in steps
    ]
    return "; ".join(parts) or "as it is"
