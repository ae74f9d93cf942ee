"""The threads of a launch: what the special registers hold, as terms.

    Grid(thread, 1000 + 1023)         # any block size: %ctaid.x * %ntid.x + %tid.x is `thread`
    Grid(thread, 1024, block=128)     # blocks of 128: %tid.x is thread % 128

Launches have one dimension.  With an unknown block size the three registers are variables, and the
one sum of them that is known, the thread's number, is recognised wherever it comes up; a kernel
that uses one of them otherwise has variables whose names begin with "%", and needs the block size.
"""

from __future__ import annotations

from dataclasses import dataclass

from layout_algebra import terms
from layout_algebra.terms import Sum, Term, Var
from layout_algebra.validation.forms import modulo, quotient
from layout_algebra.validation.words import Word

#: The most threads of a block, and the most blocks of a launch.
MOST_THREADS, MOST_BLOCKS = 1024, 2**31 - 1

#: What a kernel may depend on where the block size is not known, beside the thread's number: of
#: these, the number of blocks alone is not settled by the thread and the size of its block.
BLOCK_REGISTERS = frozenset({"%tid", "%ntid", "%ctaid", "%nctaid", "%first"})
COUNTED = BLOCK_REGISTERS - {"%nctaid"}

_FIXED = {"%tid": 0, "%ctaid": 0, "%ntid": 1, "%nctaid": 1}


@dataclass(frozen=True)
class Grid:
    """One thread of a launch, as terms.

    Attributes:
        thread: its number, %ctaid.x * %ntid.x + %tid.x.
        threads: how many there are at most.
        block: threads of a block, None for any number.
    """

    thread: Term
    threads: int
    block: int | None = None

    def special(self, name: str) -> Word:
        """A special register: the first dimension has the threads, the others one each."""
        register, _, side = name.partition(".")
        if side != "x":
            return Word(terms.const(_FIXED[register]), 32)
        if self.block is None:
            return Word(self._variable(register), 32)
        match register:
            case "%ntid":
                return Word(terms.const(self.block), 32)
            case "%tid":
                return Word(modulo(self.thread, self.block), 32)
            case "%ctaid":
                return Word(quotient(self.thread, self.block), 32)
            case _:
                return Word(terms.const(-(-self.threads // self.block)), 32)

    def _variable(self, register: str) -> Var:
        count = MOST_THREADS if register in ("%tid", "%ntid") else min(self.threads, MOST_BLOCKS)
        low = _FIXED[register]
        return terms.var(register, low, count - 1 + low)

    @property
    def _first(self) -> Var:
        """The number of the block's first thread: %ctaid.x * %ntid.x."""
        return terms.var("%first", 0, self.threads - 1)

    def product(self, a: Term, b: Term) -> Term:
        """a * b; the block's number times its size is its first thread."""
        if {a, b} == {self._variable("%ctaid"), self._variable("%ntid")}:
            return self._first
        return terms.multiply(a, b)

    def join(self, term: Term) -> Term:
        """A sum in which the block's first thread and the thread in the block are the thread."""
        if not isinstance(term, Sum) or self.block is not None:
            return term
        first, within = self._first, self._variable("%tid")
        held = dict(term.parts)
        if first not in held or held[first] != held.get(within):
            return term
        factor = held.pop(first)
        del held[within]
        return terms.linear([*held.items(), (self.thread, factor)], term.constant)
