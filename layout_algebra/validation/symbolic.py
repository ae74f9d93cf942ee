"""PTX run for every thread at once: paths of conditions, and what each of them stores.

    execution = execute(function, arguments, grid, known)
    for path in execution.paths:
        path.conditions, path.stores

A path that comes to a choice of which nothing is known becomes two.  Values are words (words.py);
nothing is assumed of a thread but its range and `known`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from layout_algebra import terms
from layout_algebra.conditions import Condition, negated
from layout_algebra.validation.arithmetic import Arithmetic, NotATerm, Undecided
from layout_algebra.validation.grids import Grid
from layout_algebra.validation.magic import Division, Scaled
from layout_algebra.validation.predicates import Test, value_of
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
from layout_algebra.validation.words import Partial, Word, number, signed, unsigned

#: Paths that are followed.
MOST_PATHS = 64

_PLACES = 64  # bits of an address


@dataclass(frozen=True)
class Placed:
    """One store: where, what, and how many bits of it; `space` as in concrete.py."""

    space: str
    address: Word
    value: Word
    bits: int
    line: int


@dataclass(frozen=True)
class Path:
    """The threads for which these conditions hold store this, in this order."""

    conditions: tuple[Condition, ...]
    stores: tuple[Placed, ...]


@dataclass(frozen=True)
class Execution:
    """All paths, and the divisions that were recognised on them."""

    paths: tuple[Path, ...]
    divisions: tuple[Division, ...]


def execute(
    function: Function,
    arguments: Sequence[Word],
    grid: Grid,
    known: Sequence[Condition] = (),
    machine: type[Machine] | None = None,
) -> Execution:
    """Run a function symbolically.

    Args:
        function: what `read_ptx` gives.
        arguments: a word for each parameter.
        grid: what the special registers hold.
        known: what holds of every thread.
        machine: what runs a path.

    Raises:
        NotATerm: something is computed that no term says, or there are too many paths.
        PtxError: a register that is read before it is written.
    """
    named = {one.name: word for one, word in zip(function.parameters, arguments, strict=True)}
    waiting = [State(0, {}, (), ())]
    paths: list[Path] = []
    runs = (machine or Machine)(function, named, grid, tuple(known))
    while waiting:
        state = waiting.pop()
        try:
            path = runs.advance(state)
        except Undecided as choice:
            if len(paths) + len(waiting) + 2 > MOST_PATHS:
                raise NotATerm(f"more than {MOST_PATHS} paths") from None
            sides = (choice.condition, negated(choice.condition))
            waiting += [
                replace(state.copied(), conditions=(*state.conditions, side)) for side in sides
            ]
            continue
        paths.append(path)
    return Execution(tuple(paths), tuple(runs.divisions))


@dataclass
class State:
    """Where a path is, and what it has computed."""

    at: int
    registers: dict[str, Word | Test]
    conditions: tuple[Condition, ...]
    stores: tuple[Placed, ...]

    def copied(self) -> State:
        return replace(self, registers=dict(self.registers))


class Machine:
    """Runs one path up to its end, or to a choice that is not decided."""

    def __init__(
        self,
        function: Function,
        arguments: dict[str, Word],
        grid: Grid,
        known: tuple[Condition, ...],
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.grid = grid
        self.known = known
        self.divisions: dict[Division, None] = {}
        self.state = State(0, {}, (), ())

    def advance(self, state: State) -> Path:
        """The path to its end.

        Raises:
            Undecided: a choice; `state` is then just before it.
        """
        self.state = state
        body = self.function.body
        do = Arithmetic(self.decide, self.grid.join, self.grid.product, self.divisions)
        while True:
            one = body[state.at]
            if one.predicate is not None:
                holds = self.decide(self.test(one.predicate.register, one))
                if holds == one.predicate.negated:
                    state.at += 1
                    continue
            if one.opcode in ("ret", "exit"):
                return Path(state.conditions, state.stores)
            if one.opcode == "bra":
                (label,) = one.operands
                state.at = label.target if isinstance(label, Label) else state.at
                continue
            self.step(do, one)
            state.at += 1

    def step(self, do: Arithmetic, one: Instruction) -> None:
        target = one.operands[0]
        if one.opcode == "st":
            self.state.stores = (*self.state.stores, *self.stored(one))
            return
        if one.opcode == "ld":
            source = one.operands[1]
            word = self.arguments[str(source.base)] if isinstance(source, Address) else None
            made: Word | Test = self._extended(word, one.type, target, one)
        elif one.opcode == "cvt":
            source = self.word(one.operands[1], one.types[1].bits, one)
            value = self._longer(source, one.types[1], one.type.bits)
            made = self._extended(value, one.type, target, one)
        else:
            made = do.calculate(one, self._operands(one))
        self.state.registers[str(target)] = made

    def decide(self, test: Test) -> bool:
        found = value_of(test, (*self.known, *self.state.conditions))
        if isinstance(found, Condition):
            raise Undecided(found)
        return found

    # -- operands -----------------------------------------------------------------------------
    def _operands(self, one: Instruction) -> list[Word | Test]:
        found: list[Word | Test] = []
        for position, operand in enumerate(one.operands[1:]):
            bits = _size_read(one, position)
            if bits == 1:
                found.append(self.test(operand, one))
            else:
                found.append(self.word(operand, bits, one))
        return found

    def word(self, operand: Operand, bits: int, one: Instruction) -> Word:
        """An operand as a word of this size; a longer register is cut."""
        match operand:
            case Register():
                value = self.register(operand, one)
                if not isinstance(value, Word):
                    raise PtxError(f"{operand} is a predicate", one.line)
                return value if value.bits == bits else _cut(value, bits)
            case Immediate():
                return number(operand.value, bits)
            case Special():
                return self.grid.special(operand.name)
            case _:
                raise PtxError(f"{operand} is no number", one.line)

    def test(self, operand: Operand, one: Instruction) -> Test:
        value = self.register(operand, one) if isinstance(operand, Register) else None
        if value is None or isinstance(value, Word):
            raise PtxError(f"{operand} is no predicate", one.line)
        return value

    def register(self, register: Register, one: Instruction) -> Word | Test:
        if register.name not in self.state.registers:
            raise PtxError(f"{register} is read before it is written", one.line)
        return self.state.registers[register.name]

    # -- conversion and memory ----------------------------------------------------------------
    def _longer(self, word: Word, kind: Type, bits: int) -> Word:
        """A word of one type as one of another size: extended by its type, or cut."""
        if bits <= word.bits:
            return word if bits == word.bits else _cut(word, bits)
        value = signed(word) if kind.kind == "s" else unsigned(word)
        natural = kind.kind != "s" or _is_natural(value)
        return Word(value, bits, _carried(word) if natural else None)

    def _extended(self, word: Word | None, kind: Type, target: Operand, one: Instruction) -> Word:
        """What a register holds that is at least as long as the value written to it."""
        if word is None or not isinstance(target, Register):
            raise PtxError(f"{one} has no such operands", one.line)
        return self._longer(word, kind, target.bits)

    def stored(self, one: Instruction) -> list[Placed]:
        place, given = one.operands
        if not isinstance(place, Address):
            raise PtxError(f"{place} is no address", one.line)
        space, start = str(place.base), terms.const(0)
        if isinstance(place.base, Register):
            space, start = "global", self.word(place.base, _PLACES, one).term
        bits = one.type.bits
        parts = given.parts if isinstance(given, Vector) else (given,)
        found: list[Placed] = []
        for k, part in enumerate(parts):
            address = terms.linear([(start, 1)], place.offset + k * bits // 8)
            value = self.word(part, bits, one)
            found.append(Placed(space, Word(address, _PLACES), value, bits, one.line))
        return found


def _size_read(one: Instruction, position: int) -> int:
    """The size of the operand at a position after the result."""
    if (one.opcode in ("shl", "shr") and position == 1) or (
        one.opcode in ("bfe", "bfi") and position >= len(one.operands) - 3
    ):
        return 32
    if one.opcode == "selp" and position == 2:
        return 1
    if one.opcode == "mad" and "wide" in one.modifiers and position == 2:
        return 2 * one.type.bits
    return one.type.bits


def _cut(word: Word, bits: int) -> Word:
    """The low bits of a word; how it was made is still known where nothing is lost."""
    value = unsigned(word)
    fits = isinstance(value.high, int) and value.high < 1 << bits
    return Word(word.term, bits, _carried(word) if fits else None)


def _carried(word: Word) -> Scaled | Partial | None:
    """How a word was made, for one of another size with the same value."""
    origin = word.origin
    wraps = isinstance(origin, Partial) and origin.step == "less"  # a negative number, modulo 2^w
    return None if wraps else origin


def _is_natural(term: terms.Term) -> bool:
    return isinstance(term.low, int) and term.low >= 0
