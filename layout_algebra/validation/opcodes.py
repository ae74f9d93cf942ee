"""The instructions that are read, as one table: opcode, modifiers, types, operands.

    check(Instruction("add", (), (Type("s", 32),), ...))     # passes, or PtxError with the line

The table is the PTX ISA's (sections "Integer Arithmetic", "Logic and Shift", "Comparison and
Selection", "Data Movement and Conversion", "Control Flow"), cut down to what compilers emit for
integer address arithmetic.  What is not in it is refused: an instruction that was guessed at would
be proven wrong, or worse, right.

Operands are written by letters: `d` a register of the first type's size, `a` a register, a special
register or a number of that size, `n` one of 32 bits, `w` a register twice as wide, `p` a predicate
and `q` one that is set, `x` and `y` as `d` and `a` but possibly wider than the type, `s` the
operand of a second type (possibly wider), `m` an address, `l` a label, `v` a `y` or a vector, `u`
an `x` or a vector.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from layout_algebra.validation.syntax import (
    Address,
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
class Form:
    """What one opcode may look like.

    Attributes:
        operands: one letter each; see the module's text.
        types: for each type suffix, the kinds and sizes that it may be.
        modifiers: the sets of suffixes that may stand between opcode and types, in order.
    """

    operands: str
    types: tuple[frozenset[str], ...]
    modifiers: frozenset[tuple[str, ...]] = frozenset([()])


def _joined(
    heads: Iterable[tuple[str, ...]], tails: Iterable[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    return [(*head, *tail) for head, tail in product(heads, tails)]


def _kinds(kinds: str, sizes: tuple[int, ...], *others: str) -> frozenset[str]:
    return frozenset([f"{kind}{size}" for kind, size in product(kinds, sizes)]) | set(others)


_WORDS = (16, 32, 64)
_INTEGERS = (_kinds("us", _WORDS),)
_WIDE = (_kinds("us", (16, 32)),)
_BITS = (_kinds("b", _WORDS, "pred"),)
_MOVED = (_kinds("usb", _WORDS),)
_STORED = (_kinds("usb", (8, 16, 32, 64)),)
_FIELDS = (_kinds("us", (32, 64)),)
_EQUALITY = ("eq", "ne")
_ORDER = ("lt", "le", "gt", "ge")
_UNSIGNED_ORDER = ("lo", "ls", "hi", "hs")

#: The operand forms of the table; `mul.wide` and `mad.wide` have a result twice as wide.
FORMS: dict[str, tuple[Form, ...]] = {
    "add": (Form("daa", _INTEGERS),),
    "sub": (Form("daa", _INTEGERS),),
    "neg": (Form("da", (_kinds("s", _WORDS),)),),
    "mul": (
        Form("daa", _INTEGERS, frozenset([("lo",), ("hi",)])),
        Form("waa", _WIDE, frozenset([("wide",)])),
    ),
    "mad": (
        Form("daaa", _INTEGERS, frozenset([("lo",), ("hi",)])),
        Form("waaw", _WIDE, frozenset([("wide",)])),
    ),
    "div": (Form("daa", _INTEGERS),),
    "rem": (Form("daa", _INTEGERS),),
    "min": (Form("daa", _INTEGERS),),
    "max": (Form("daa", _INTEGERS),),
    "and": (Form("daa", _BITS),),
    "or": (Form("daa", _BITS),),
    "xor": (Form("daa", _BITS),),
    "not": (Form("da", _BITS),),
    "shl": (Form("dan", (_kinds("b", _WORDS),)),),
    "shr": (Form("dan", (_kinds("bus", _WORDS),)),),
    "bfe": (Form("dann", _FIELDS),),
    "bfi": (Form("daann", (_kinds("b", (32, 64)),)),),
    "setp": (
        Form("qaa", (_kinds("b", _WORDS),), frozenset((one,) for one in _EQUALITY)),
        Form("qaa", (_kinds("s", _WORDS),), frozenset((one,) for one in (*_EQUALITY, *_ORDER))),
        Form(
            "qaa",
            (_kinds("u", _WORDS),),
            frozenset((one,) for one in (*_EQUALITY, *_ORDER, *_UNSIGNED_ORDER)),
        ),
    ),
    "selp": (Form("daap", _MOVED),),
    "mov": (Form("da", (_MOVED[0] | {"pred"},)),),
    "cvt": (Form("xs", (_STORED[0] - _kinds("b", (8, 16, 32, 64)),) * 2),),
    "cvta": (Form("da", (_kinds("u", (64,)),), frozenset([("to", "global"), ("global",)])),),
    "ld": (Form("xm", _STORED, frozenset([("param",)])),),
    "st": (
        Form("my", _STORED, frozenset([("param",)])),
        Form("mv", _STORED, frozenset(_joined([(), ("global",)], [(), ("v2",), ("v4",)]))),
    ),
    "bra": (Form("l", (), frozenset([(), ("uni",)])),),
    "ret": (Form("", (), frozenset([(), ("uni",)])),),
    "exit": (Form("", ()),),
}

_FLOATS = (_kinds("f", _WORDS),)
_ROUNDED = frozenset(_joined([(), ("rn",)], [(), ("ftz",)]))
_PLAIN = frozenset([(), ("ftz",)])

#: What is read besides where code moves data: loads from global memory, and floating point.  The
#: rounding to nearest is the one that is read.
DATA_FORMS: dict[str, tuple[Form, ...]] = {
    "ld": (
        Form(
            "um",
            (_STORED[0] | _FLOATS[0],),
            frozenset(_joined(_joined([("global",)], [(), ("nc",)]), [(), ("v2",), ("v4",)])),
        ),
    ),
    "st": (Form("mv", _FLOATS, frozenset(_joined([("global",)], [(), ("v2",), ("v4",)]))),),
    "mov": (Form("da", _FLOATS),),
    "selp": (Form("daap", _FLOATS),),
    "add": (Form("daa", _FLOATS, _ROUNDED),),
    "sub": (Form("daa", _FLOATS, _ROUNDED),),
    "mul": (Form("daa", _FLOATS, _ROUNDED),),
    "fma": (Form("daaa", _FLOATS, frozenset([("rn",), ("rn", "ftz")])),),
    "neg": (Form("da", _FLOATS, _PLAIN),),
    "abs": (Form("da", _FLOATS, _PLAIN),),
    "min": (Form("daa", _FLOATS, _PLAIN),),
    "max": (Form("daa", _FLOATS, _PLAIN),),
    "cvt": (Form("xs", _FLOATS * 2, _ROUNDED),),
}

#: Special registers that are read.
SPECIALS = frozenset(
    f"%{name}.{side}" for name in ("tid", "ntid", "ctaid", "nctaid") for side in "xyz"
)


def type_of(suffix: str, data: bool = False) -> Type | None:
    """The type that a suffix names, of integers and where data is moved of floating point; None
    for one that does not."""
    if suffix == "pred":
        return Type("pred", 1)
    kind, size = suffix[:1], suffix[1:]
    if data and kind == "f" and size in ("16", "32", "64"):
        return Type(kind, int(size))
    if kind in ("u", "s", "b") and size in ("8", "16", "32", "64"):
        return Type(kind, int(size))
    return None


def check(instruction: Instruction, data: bool = False) -> None:
    """Raises PtxError, with the line, unless the instruction is in the table (or that for data)."""
    forms = FORMS.get(instruction.opcode, ())
    if data:
        forms += DATA_FORMS.get(instruction.opcode, ())
    if not forms:
        raise PtxError(f"unknown opcode in {instruction}", instruction.line)
    fitting = [form for form in forms if instruction.modifiers in form.modifiers]
    if not fitting:
        shown = ".".join([instruction.opcode, *instruction.modifiers])
        raise PtxError(f"unknown modifier: {shown} in {instruction}", instruction.line)
    for form in fitting:
        if _types_fit(form, instruction.types):
            _check_operands(form, instruction)
            return
    raise PtxError(f"unknown type in {instruction}", instruction.line)


def _types_fit(form: Form, types: tuple[Type, ...]) -> bool:
    return len(types) == len(form.types) and all(
        str(one) in allowed for one, allowed in zip(types, form.types, strict=True)
    )


def _check_operands(form: Form, instruction: Instruction) -> None:
    wanted, given = form.operands, instruction.operands
    if len(wanted) != len(given):
        raise PtxError(
            f"{instruction.opcode} has {len(wanted)} operands; got {len(given)} in {instruction}",
            instruction.line,
        )
    for letter, operand in zip(wanted, given, strict=True):
        if not _operand_fits(letter, operand, instruction):
            raise PtxError(f"operand {operand} does not fit in {instruction}", instruction.line)
        if isinstance(operand, Immediate) and not _literal_fits(operand, instruction):
            raise PtxError(
                f"literal {operand} is of another type in {instruction}", instruction.line
            )


def _literal_fits(literal: Immediate, instruction: Instruction) -> bool:
    """Whether floating-point literals, and they alone, are where floating point is read."""
    read = instruction.types[-1]
    return literal.floating == read.bits or (literal.floating is None and read.kind != "f")


def _operand_fits(letter: str, operand: Operand, instruction: Instruction) -> bool:
    if letter == "l":
        return isinstance(operand, Label)
    if letter == "m":
        return _address_fits(operand, instruction)
    if letter in "pq":
        return isinstance(operand, Register) and operand.bits == 1
    bits = instruction.types[0].bits if instruction.types else 0
    match letter:
        case "d":
            return isinstance(operand, Register) and operand.bits == bits
        case "w":
            wide = isinstance(operand, Register) and operand.bits == 2 * bits
            return wide or (isinstance(operand, Immediate) and operand is not _first(instruction))
        case "a":
            return _reads(operand, bits)
        case "n":
            return _reads(operand, 32)
        case "u":
            return _targets_fit(operand, bits, instruction)
        case "x":
            return isinstance(operand, Register) and operand.bits >= max(bits, 16)
        case "s":
            return _reads(operand, instruction.types[1].bits, wider=True)
        case "y":
            return _reads(operand, bits, wider=True)
        case _:
            return _values_fit(operand, bits, instruction)


def _first(instruction: Instruction) -> Operand:
    return instruction.operands[0]


def _reads(operand: Operand, bits: int, *, wider: bool = False) -> bool:
    """Whether an operand can be read as a number of so many bits."""
    if isinstance(operand, Immediate):
        return bits > 1
    if isinstance(operand, Special):
        return bits == 32
    if not isinstance(operand, Register):
        return False
    return operand.bits == bits or (wider and operand.bits > bits)


def _address_fits(operand: Operand, instruction: Instruction) -> bool:
    if not isinstance(operand, Address):
        return False
    if "param" in instruction.modifiers:
        return isinstance(operand.base, str)
    return isinstance(operand.base, Register) and operand.base.bits == 64


def _targets_fit(operand: Operand, bits: int, instruction: Instruction) -> bool:
    """What a load from global memory is written to: as many registers as `.v2` or `.v4` says."""
    count = {"v2": 2, "v4": 4}.get("".join(instruction.modifiers[-1:]), 1)
    parts = operand.parts if isinstance(operand, Vector) else (operand,)
    return (
        (count > 1) == isinstance(operand, Vector)
        and len(parts) == count
        and all(isinstance(part, Register) and part.bits >= max(bits, 16) for part in parts)
    )


def _values_fit(operand: Operand, bits: int, instruction: Instruction) -> bool:
    """What a store to global memory stores: one value, or as many as `.v2` or `.v4` says."""
    count = {"v2": 2, "v4": 4}.get("".join(instruction.modifiers[-1:]), 1)
    if isinstance(operand, Vector):
        return len(operand.parts) == count and all(
            _reads(part, bits, wider=True) for part in operand.parts
        )
    return count == 1 and _reads(operand, bits, wider=True)
