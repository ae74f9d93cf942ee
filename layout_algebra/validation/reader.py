"""PTX text in, one checked function out.

    function = read_ptx(text, "kernel")
    function.parameters, function.body

What is read is the subset of PTX that compilers emit for address arithmetic: straight-line code
with branches that never lead back (a guard, a choice).  The function that is asked for is read
whole, and every opcode, modifier, type and operand of it has to be known; other functions and
variables of the text are passed over, since nothing in the function can name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from layout_algebra.validation.opcodes import SPECIALS, check, type_of
from layout_algebra.validation.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Operand,
    Parameter,
    Predicate,
    PtxError,
    Register,
    Special,
    Type,
    Vector,
)
from layout_algebra.validation.tokens import Word, is_float, is_number, number, words_of

#: Words before a function's name that change nothing of what one thread computes.
_LINKAGE = frozenset([".visible", ".extern", ".weak"])
#: Directives between a function's parameters and its body, which bound launches.
_LAUNCH = frozenset([".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".noreturn"])


@lru_cache(maxsize=64)
def read_ptx(text: str, entry: str | None = None, data: bool = False) -> Function:
    """Read one function of a PTX text.

    Args:
        text: the module.
        entry: the name of the entry or function; the only one that has a body when None.
        data: read loads from global memory and floating point as well.

    Returns:
        The function, with all instructions checked against the table of opcodes.

    Raises:
        PtxError: no such function, or something that the table does not have; names the line.
    """
    module = _Module(words_of(text))
    bodies = module.functions
    if entry is None:
        if len(bodies) != 1:
            raise PtxError(f"name one of the functions: {', '.join(bodies) or 'there is none'}")
        entry = next(iter(bodies))
    if entry not in bodies:
        raise PtxError(f"no function {entry!r}; there is {', '.join(bodies) or 'none'}")
    function = _Reader(module.words, bodies[entry], module.target, data).function()
    _check_ends(function)
    return function


class _Module:
    """The words of a module, its target, and where its functions begin."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.target = ""
        self.functions: dict[str, int] = {}
        position = 0
        while position < len(words):
            position = self._directive(position)

    def _directive(self, position: int) -> int:
        word = self.words[position]
        match word.text:
            case ".version":
                return position + 2
            case ".target":
                self.target = self.words[position + 1].text
                return self._targets(position + 1)
            case ".address_size":
                if self.words[position + 1].text != "64":
                    raise PtxError("addresses have 64 bits", word.line)
                return position + 2
            case _:
                return self._declaration(position)

    def _targets(self, position: int) -> int:
        while position + 1 < len(self.words) and self.words[position + 1].text == ",":
            position += 2
        return position + 1

    def _declaration(self, start: int) -> int:
        """Past a variable or a function; a function with a body is noted by name."""
        words, position, depth = self.words, start, 0
        is_function, has_body = False, False
        while position < len(words):
            text = words[position].text
            is_function |= text in (".entry", ".func")
            depth += (text in "([{") - (text in ")]}")
            if text == "{" and depth == 1:
                has_body = True
            position += 1
            if depth == 0 and (text == ";" or (text == "}" and has_body and is_function)):
                break
            if depth == 0 and text == "}" and words[start].text == ".section":
                break
        else:
            raise PtxError("the text ends inside a declaration", words[start].line)
        if is_function and has_body:
            self.functions[_name_of(words, start)] = start
        return position


def _name_of(words: Sequence[Word], start: int) -> str:
    """The name of the function that is declared at a word."""
    position = start
    while words[position].text not in (".entry", ".func"):
        position += 1
    position += 1
    if words[position].text == "(":  # what it returns
        while words[position].text != ")":
            position += 1
        position += 1
    return words[position].text


@dataclass
class _Reader:
    """One function, word by word."""

    words: Sequence[Word]
    at: int
    target: str
    data: bool
    registers: dict[str, int] = field(default_factory=dict[str, int])
    families: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    symbols: dict[str, Parameter] = field(default_factory=dict[str, Parameter])

    def function(self) -> Function:
        while self.word.text in _LINKAGE:
            self.at += 1
        kind = self.take(".entry", ".func")
        results = self._parameters() if self.word.text == "(" else ()
        name = self.next().text
        parameters = self._parameters() if self.word.text == "(" else ()
        self._launch_bounds()
        self.take("{")
        self.symbols = {one.name: one for one in (*results, *parameters)}
        body = self._body()
        made = tuple(self._linked(one) for one in body)
        return Function(name, kind.text == ".entry", parameters, results, made, self.target)

    # -- words --------------------------------------------------------------------------------
    @property
    def word(self) -> Word:
        if self.at >= len(self.words):
            raise PtxError("the text ends inside a function", self.words[-1].line)
        return self.words[self.at]

    def next(self) -> Word:
        word = self.word
        self.at += 1
        return word

    def take(self, *wanted: str) -> Word:
        word = self.next()
        if word.text not in wanted:
            raise PtxError(f"{' or '.join(wanted)} was expected; got {word.text!r}", word.line)
        return word

    # -- declarations -------------------------------------------------------------------------
    def _parameters(self) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        self.take("(")
        while self.word.text != ")":
            self.take(".param")
            found.append(self._parameter())
            if self.word.text != ")":
                self.take(",")
        self.take(")")
        return tuple(found)

    def _parameter(self) -> Parameter:
        kind = self.next()
        found = type_of(kind.text.removeprefix("."))
        if found is None or found.kind == "pred" or not kind.text.startswith("."):
            raise PtxError(f"unknown type of a parameter: {kind.text}", kind.line)
        while self.word.text in (".ptr", ".global", ".align"):
            if self.next().text == ".align":
                number(self.next())
        name = self.next()
        if self.word.text == "[":
            raise PtxError(f"parameter {name.text} is an array, which is not read", name.line)
        return Parameter(name.text, found.bits)

    def _launch_bounds(self) -> None:
        while self.word.text in _LAUNCH:
            self.next()
            while is_number(self.word) or self.word.text == ",":
                self.next()

    def _declare_registers(self) -> None:
        kind = self.next()
        found = type_of(kind.text.removeprefix("."), self.data)
        if found is None or found.bits == 8:
            raise PtxError(f"unknown type of registers: {kind.text}", kind.line)
        while True:
            name = self.next()
            if self.word.text == "<":
                self.next()
                self.families[name.text] = (found.bits, number(self.next()))
                self.take(">")
            else:
                self.registers[name.text] = found.bits
            if self.take(",", ";").text == ";":
                return

    # -- instructions -------------------------------------------------------------------------
    def _body(self) -> list[Instruction]:
        body: list[Instruction] = []
        while self.word.text != "}":
            if self.word.text == ".reg":
                self.next()
                self._declare_registers()
            elif self.words[self.at + 1].text == ":":
                name = self.next()
                if name.text in self.labels:
                    raise PtxError(f"two labels {name.text}", name.line)
                self.labels[name.text] = len(body)
                self.next()
            else:
                body.append(self._instruction())
        return body

    def _instruction(self) -> Instruction:
        predicate = self._predicate() if self.word.text == "@" else None
        word = self.next()
        opcode, *suffixes = word.text.split(".")
        types: list[Type] = []
        while suffixes and (found := type_of(suffixes[-1], self.data)) is not None:
            types.insert(0, found)
            suffixes.pop()
        operands: list[Operand] = []
        while self.word.text != ";":
            operands.append(self._operand(opcode))
            if self.word.text != ";":
                self.take(",")
        self.take(";")
        return Instruction(
            opcode, tuple(suffixes), tuple(types), tuple(operands), predicate, word.line
        )

    def _predicate(self) -> Predicate:
        self.take("@")
        negated = self.word.text == "!"
        if negated:
            self.next()
        word = self.next()
        register = self._register(word)
        if register is None or register.bits != 1:
            raise PtxError(f"{word.text} is no predicate", word.line)
        return Predicate(register, negated)

    def _operand(self, opcode: str) -> Operand:
        word = self.next()
        if word.text == "[":
            return self._address()
        if word.text == "{":
            return self._vector()
        if is_float(word):
            if not self.data:
                raise PtxError(f"no PTX of integers at {word.text!r}", word.line)
            return Immediate(int(word.text[2:], 16), 32 if word.text[1] in "fF" else 64)
        if is_number(word):
            return Immediate(number(word))
        if opcode == "bra":
            return Label(word.text, word.line)  # the line until all labels are known
        if word.text in SPECIALS:
            return Special(word.text)
        register = self._register(word)
        if register is None:
            raise PtxError(f"unknown operand {word.text}", word.line)
        return register

    def _address(self) -> Address:
        word = self.next()
        base: Register | str | None = self._register(word)
        if base is None:
            if word.text not in self.symbols:
                raise PtxError(f"unknown address {word.text}", word.line)
            base = word.text
        offset = 0
        if self.word.text == "+":
            self.next()
            offset = number(self.next())
        elif is_number(self.word):
            offset = number(self.next())
        self.take("]")
        return Address(base, offset)

    def _vector(self) -> Vector:
        parts: list[Register | Immediate] = []
        while True:
            operand = self._operand("")
            if not isinstance(operand, Register | Immediate):
                raise PtxError(f"{operand} in a vector", self.word.line)
            parts.append(operand)
            if self.take(",", "}").text == "}":
                return Vector(tuple(parts))

    def _register(self, word: Word) -> Register | None:
        if word.text in self.registers:
            return Register(word.text, self.registers[word.text])
        stem = word.text.rstrip("0123456789")
        if stem in self.families and stem != word.text:
            bits, count = self.families[stem]
            position = word.text[len(stem) :]
            if int(position) < count and position == str(int(position)):
                return Register(word.text, bits)
        return None

    def _linked(self, instruction: Instruction) -> Instruction:
        """The instruction with its label found, checked against the table."""
        operands: list[Operand] = []
        for operand in instruction.operands:
            if isinstance(operand, Label):
                if operand.name not in self.labels:
                    raise PtxError(f"no label {operand.name}", instruction.line)
                operand = Label(operand.name, self.labels[operand.name])
            elif isinstance(operand, Address) and isinstance(operand.base, str):
                self._check_parameter(operand, instruction)
            operands.append(operand)
        linked = replace(instruction, operands=tuple(operands))
        check(linked, self.data)
        return linked

    def _check_parameter(self, address: Address, instruction: Instruction) -> None:
        """Parameters are read and written whole."""
        held = self.symbols[str(address.base)].bits
        if address.offset != 0 or (instruction.types and instruction.type.bits != held):
            raise PtxError(
                f"{address.base} has {held} bits and is read as a whole; got {instruction}",
                instruction.line,
            )


def _check_ends(function: Function) -> None:
    """Raises PtxError where a path leads back, or past the end."""
    body = function.body
    state: dict[int, str] = {}
    stack: list[tuple[int, bool]] = [(0, False)]
    line = body[0].line if body else 0
    while stack:
        position, left = stack.pop()
        if left:
            state[position] = "done"
            continue
        if position >= len(body):
            raise PtxError(f"{function.name} runs past its end: a path has no ret", line)
        if state.get(position) == "done":
            continue
        if state.get(position) == "open":
            raise PtxError("a branch leads back: loops are not read", body[position].line)
        state[position] = "open"
        line = body[position].line
        stack.append((position, True))
        stack += [(one, False) for one in following(body, position)]


def following(body: Sequence[Instruction], position: int) -> list[int]:
    """The instructions that may be next: one, or for a guarded branch two."""
    instruction = body[position]
    taken: list[int] = []
    if instruction.opcode == "bra":
        (label,) = instruction.operands
        taken = [label.target] if isinstance(label, Label) else []
    elif instruction.opcode not in ("ret", "exit"):
        return [position + 1]
    return [*taken, position + 1] if instruction.predicate else taken
