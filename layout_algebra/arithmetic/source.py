"""Terms as flat Python source: one assignment an operation, for numba and for people.

The text uses only `+ - * // % ^ & | << >>` on integers, with Python's floor semantics, so it means
the same under CPython and under `numba.njit` on int64.  Names are ours: nothing that a user typed
reaches the text, so it can be compiled safely.
"""

from __future__ import annotations

from collections.abc import Sequence

from layout_algebra.dims import Polynomial, Size
from layout_algebra.errors import DimError
from layout_algebra.folding import Fold
from layout_algebra.terms import Term, Var


class Lines:
    """Answers with the name (or literal) that holds a node's value; collects the assignments."""

    def __init__(self, names: dict[Var, str]) -> None:
        self.names = names
        self.lines: list[str] = []

    def size(self, value: Size) -> str:
        if isinstance(value, Polynomial):
            raise DimError(f"source text needs concrete sizes; {value} is symbolic")
        return str(value) if value >= 0 else f"({value})"

    def _let(self, expression: str) -> str:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def const(self, value: Size) -> str:
        return self.size(value)

    def var(self, term: Var) -> str:
        return self.names[term]

    def linear(self, constant: Size, parts: Sequence[tuple[str, Size]]) -> str:
        pieces = [x if c == 1 else f"{x} * {self.size(c)}" for x, c in parts]
        if constant != 0 or not pieces:
            pieces.append(self.size(constant))
        return self._let(" + ".join(pieces))

    def product(self, a: str, b: str) -> str:
        return self._let(f"{a} * {b}")

    def divmod(self, x: str, divisor: Size, term: Term) -> tuple[str, str]:
        d = self.size(divisor)
        if isinstance(divisor, int) and divisor & (divisor - 1) == 0:
            return self._let(f"{x} >> {divisor.bit_length() - 1}"), self._let(
                f"{x} & {divisor - 1}"
            )
        quotient = self._let(f"{x} // {d}")
        return quotient, self._let(f"{x} - {quotient} * {d}")

    def digits(self, x: str, radices: tuple[Size, ...], term: Term) -> list[str]:
        out: list[str] = []
        for radix in reversed(radices[1:]):
            x, digit = self.divmod(x, radix, term)
            out.append(digit)
        return [x, *reversed(out)]

    def xor(self, a: str, b: str, term: Term) -> str:
        return self._let(f"{a} ^ {b}")

    def bit_and(self, a: str, b: str, term: Term) -> str:
        return self._let(f"{a} & {b}")

    def bit_or(self, a: str, b: str, term: Term) -> str:
        return self._let(f"{a} | {b}")

    def shift_left(self, x: str, amount: str, term: Term) -> str:
        return self._let(f"{x} << {amount}")

    def shift_right(self, x: str, amount: str, term: Term) -> str:
        return self._let(f"{x} >> {amount}")


def function_text(name: str, inputs: Sequence[Var], outputs: Sequence[Term]) -> str:
    """A Python function `name(x0, x1, ...)` that returns the outputs as a tuple.

    Parameters are numbered in the order of `inputs`; the text is plain Python.
    """
    names = {variable: f"x{k}" for k, variable in enumerate(inputs)}
    emit = Lines(names)
    fold = Fold(emit)
    results = [fold(term) for term in outputs]
    body = [*emit.lines, f"return ({''.join(result + ', ' for result in results)})"]
    return "\n    ".join([f"def {name}({', '.join(names.values())}):", *body]) + "\n"
