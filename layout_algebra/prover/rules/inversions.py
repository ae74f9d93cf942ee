"""The rule for inverses that are Maps: divisions there, sums back, and what their guards say.

To a place and back, `g(f(x)) = x` with g a Map: f's places are sums of digits, which g's divisions
take apart again; every condition of g's guard has to hold by the ranges of the digits.

From a place to an element and back, `f(g(y)) = y`: the sum of stride * digit is put together again
by `x % d = x - d*(x // d)`, with the guard of g used: a digit that it bounds is small enough to be
one of the mixed-radix sum, and a rest that it says is 0 may be left over.

    y = 16*(y // 16) + y % 16        with y % 16 <= 3 the digits of S[(4, 2) : (1, 16)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from layout_algebra.claims import LeftInverse
from layout_algebra.conditions import Condition
from layout_algebra.dims import (
    Polynomial,
    Relation,
    Size,
    Symbol,
    at_least,
    divide_exactly,
    product,
    rewrite,
    symbols,
)
from layout_algebra.folding import substitute, variables
from layout_algebra.maps import Map
from layout_algebra.prover.rules.lemmas import COPIES, DIVISION
from layout_algebra.prover.rules.steps import Facts, Negation, Outcome, side_conditions
from layout_algebra.terms import (
    Const,
    Digit,
    FloorDiv,
    Mod,
    Sum,
    Term,
    Var,
    const,
    floordiv,
    linear,
    recorded_splits,
    var,
)
from layout_algebra.verdicts import Step, Verdict


def recombining(claim: LeftInverse, facts: Facts) -> Outcome | None:
    """Digits that divisions give are the digits of the sum, and their sum is the place."""
    f, g = claim.maps()
    if f.guard and g.guard:
        return None
    known = Positive.of(claim, facts)
    f, g = known.resized(f), known.resized(g)
    with recorded_splits() as splits:
        side = _there(f, g, known) if not f.guard else None
        side = _back(f, g, known) if side is None and not f.replicas else side
    if side is None:
        return None
    lemmas = (DIVISION, COPIES) if f.replicas else (DIVISION,)
    detail = f"{len(splits)} of them, put together again"
    if not claim.symbols():
        return Outcome(Verdict.PROVED, Step("division steps", detail, lemmas, Negation(claim, ())))
    for boundary, rest in splits:
        if rest.low is None or rest.high is None:
            return None
        side += [rest.low, boundary - 1 - rest.high]
    about = "a remainder or a digit outside its range"
    check = side_conditions(about, [known.plain(size) for size in side], facts)
    return Outcome(Verdict.PROVED, Step("division steps", detail, lemmas, check))


@dataclass(frozen=True)
class Positive:
    """The claim's sizes written with Dims whose own bounds say what is assumed of them.

    The ranges of terms know nothing of assumptions.  Symbols that are known to be positive are
    therefore replaced by such as are by their own bounds, and where `x >= rest` is given, x is
    replaced by rest + a new symbol that is at least 0.
    """

    facts: Facts
    to: dict[Symbol, Size]
    back: dict[Symbol, Size]

    @classmethod
    def of(cls, claim: LeftInverse, facts: Facts) -> Positive:
        known = claim.symbols()
        bounded = {old: _bounded(old) for old in known & facts.positive if old.lo < 1}
        to = {old: _size_of(new) for old, new in bounded.items()}
        back = {new: _size_of(old) for old, new in bounded.items()}
        used: frozenset[Symbol] = frozenset()
        for relation in facts.given:
            found = _larger(relation, known - used)
            if found is None:
                continue
            larger, rest = found
            more = Symbol(f"{larger.name} more")
            smaller = rewrite(rest, lambda symbol: to.get(symbol, _size_of(symbol)))
            to[larger], back[more] = smaller + _size_of(more), _size_of(larger) - rest
            used |= symbols(rest) | {larger}
        return cls(facts, to, back)

    def resized(self, f: Map) -> Map:
        """The map over these symbols."""
        if not self.to:
            return f

        def size(value: Size) -> Size:
            return rewrite(value, lambda symbol: self.to.get(symbol, _size_of(symbol)))

        values: dict[Var, Term] = {
            old: var(
                old.name,
                None if old.low is None else size(old.low),
                None if old.high is None else size(old.high),
            )
            for old in (*f.coordinates, *f.replicas)
        }
        return f._rebuilt(values, size)

    def plain(self, size: Size) -> Size:
        """A size over the claim's own symbols."""
        if not self.back:
            return size
        return rewrite(size, lambda symbol: self.back.get(symbol, _size_of(symbol)))

    def sure(self, sizes: Iterable[Size]) -> bool:
        """Whether all of them are known to be at least 0."""
        return all(at_least(size, 0) or self.facts.at_least(self.plain(size), 0) for size in sizes)


def _size_of(symbol: Symbol) -> Size:
    """A symbol as a size (that of the Dim divided by its multiple_of)."""
    return Polynomial(((((symbol, 1),), 1),))


def _bounded(symbol: Symbol) -> Symbol:
    """The same symbol, at least 1."""
    return Symbol(symbol.name, symbol.multiple_of, symbol.multiple_of, symbol.at_most)


def _larger(relation: Relation, among: frozenset[Symbol]) -> tuple[Symbol, Size] | None:
    """A symbol and what it is given to be at least, where the relation has this form."""
    size = relation.size
    if relation.kind != ">=" or isinstance(size, int) or not symbols(size) <= among:
        return None
    for monomial, c in size.terms:
        if c == 1 and len(monomial) == 1 and isinstance(monomial[0][0], Symbol):
            symbol = monomial[0][0]
            rest = _size_of(symbol) - size
            if monomial[0][1] == 1 and symbol not in symbols(rest):
                return symbol, rest
    return None


def _there(f: Map, g: Map, known: Positive) -> list[Size] | None:
    """g(f(x)) = x for each copy: what has to be >= 0 for it, or None where it is not shown."""
    from_zero = _from_zero(f)
    inner = Map(
        tuple(v for value in from_zero.values() for v in variables([value])),
        tuple((axis, substitute(term, from_zero)) for axis, term in f.outputs),
    )
    back = g.after(inner)
    if not all(a is b for a, b in _compared(f, dict(back.outputs), from_zero)):
        return None
    side: list[Size] = []
    for condition in back.guard:
        if condition.kind == "==" and condition.term is const(0):
            continue
        if condition.kind != ">=" or condition.term.low is None:
            return None
        side.append(condition.term.low)
    return side if known.sure(side) else None


def _back(f: Map, g: Map, known: Positive) -> list[Size] | None:
    """g(f(y)) = y for f a Map of divisions: what has to be >= 0 for it, or None."""
    if len(f.outputs) != 1 or g.guard:
        return None
    axis, index = f.outputs[0]
    from_zero = _from_zero(f)
    guard = [Condition(c.kind, substitute(c.term, from_zero)) for c in f.guard]
    values: dict[Var, Term] = {}
    side: list[Size] = []
    index = _with_bounds(substitute(index, from_zero), guard, g, values, known, side)
    low: Size | None = 0
    if [variable.name for variable in g.coordinates] == [axis]:
        low, high = g.coordinates[0].low, g.coordinates[0].high
    else:
        high = g.size - 1
    if index.low is None or index.high is None:
        return None
    side += [] if low is None else [index.low - low]
    side += [] if high is None else [high - index.high]
    if not known.sure(side):
        return None
    found = g._rebuilt(g.feed({axis: index}))
    outputs = {name: substitute(term, values) for name, term in found.outputs}
    zeros = [expanded(c.term) for c in guard if c.kind == "=="]
    for got, wanted in _compared(f, outputs, from_zero):
        rest = expanded(linear([(got, 1), (wanted, -1)]))
        if rest is not const(0) and not any(_is_multiple(rest, zero) for zero in zeros):
            return None
    return side


def _from_zero(f: Map) -> dict[Var, Term]:
    """Each variable as its lowest value and one from 0; a number where it has one value."""
    found: dict[Var, Term] = {}
    for old in (*f.coordinates, *f.replicas):
        if old.low is None:
            found[old] = old
        elif old.low == old.high:
            found[old] = const(old.low)
        elif old.low != 0:
            high = None if old.high is None else old.high - old.low
            found[old] = linear([(var(old.name, 0, high), 1)], old.low)
        else:
            found[old] = old
    return found


def _compared(f: Map, outputs: dict[str, Term], values: dict[Var, Term]) -> list[tuple[Term, Term]]:
    """What comes back, and what it has to be."""
    names = {variable.name: variable for variable in f.coordinates}
    if set(names) == set(outputs):
        return [(outputs[name], values[variable]) for name, variable in names.items()]
    return [(next(iter(outputs.values()), const(0)), substitute(f.index, values))]


def _with_bounds(
    index: Term,
    guard: Sequence[Condition],
    g: Map,
    values: dict[Var, Term],
    known: Positive,
    side: list[Size],
) -> Term:
    """A sum of digits, some of them replaced by variables with the range that they have.

    A digit's range is known better than by its form where a condition `digit <= k` bounds it, and
    where it is a quotient that stays below the extent that has its weight in g.  `values` gets what
    the variables stand for, `side` what has to be >= 0 for it.
    """
    bounds: dict[Term, Size] = {}
    for condition in guard:
        term = condition.term
        if condition.kind == ">=" and isinstance(term, Sum) and len(term.parts) == 1:
            digit, c = term.parts[0]
            if c == -1:
                bounds[digit] = term.constant
    parts, constant = (
        (index.parts, index.constant) if isinstance(index, Sum) else (((index, 1),), 0)
    )
    if not isinstance(index, Const):
        bounds = _quotient_bounds(parts, g, known, side) | bounds
    bounded: list[tuple[Term, Size]] = []
    for digit, c in parts:
        if digit in bounds and digit.low is not None and known.sure([digit.low]):
            side.append(digit.low)
            variable = var(f"digit {len(values)}", 0, bounds[digit])
            values[variable] = digit
            bounded.append((variable, c))
        else:
            bounded.append((digit, c))
    return linear(bounded, constant)


def _quotient_bounds(
    parts: Sequence[tuple[Term, Size]], g: Map, known: Positive, side: list[Size]
) -> dict[Term, Size]:
    """Upper ends of quotients x // d by symbolic sizes: below the extent of their weight in g."""
    found: dict[Term, Size] = {}
    by_weight: dict[Size, Size] = {}
    weight: Size = 1
    for extent in reversed(g.extents):
        by_weight.setdefault(weight, extent)
        weight = weight * extent
    for digit, c in parts:
        if not isinstance(digit, FloorDiv) or isinstance(digit.high, int):
            continue
        x, d = digit.fields
        extent = by_weight.get(c, by_weight.get(-c))
        if extent is None or x.high is None:
            continue
        gap = extent * d - 1 - x.high
        if known.sure([gap]):
            side.append(gap)
            found[digit] = extent - 1
    return found


def expanded(term: Term) -> Term:
    """The same sum without remainders: every `x % d` as `x - d*(x // d)`, also under a division."""
    if isinstance(term, Sum):
        return linear([(expanded(part), c) for part, c in term.parts], term.constant)
    if isinstance(term, Mod):
        x, d = term.fields
        return linear([(expanded(x), 1), (expanded(floordiv(x, d)), -d)])
    if isinstance(term, Digit):
        x, radices, k = term.fields
        below = product(radices[k + 1 :])
        quotient = expanded(floordiv(x, below))
        if k == 0:
            return quotient
        above = expanded(floordiv(x, below * radices[k]))
        return linear([(quotient, 1), (above, -radices[k])])
    if isinstance(term, FloorDiv) and isinstance(term.fields[0], Mod):
        (x, d), small = term.fields[0].fields, term.fields[1]
        ratio = divide_exactly(d, small)
        if ratio is not None:
            above = expanded(floordiv(x, d))
            return linear([(expanded(floordiv(x, small)), 1), (above, -ratio)])
    return term


def _is_multiple(term: Term, zero: Term) -> bool:
    """Whether a sum is a multiple of one that is 0."""
    if isinstance(zero, Const):
        return False
    first, c = zero.parts[0] if isinstance(zero, Sum) else (zero, 1)
    parts = dict(term.parts) if isinstance(term, Sum) else {term: 1}
    ratio = divide_exactly(parts.get(first, 0), c)
    return ratio is not None and linear([(term, 1), (zero, -ratio)]) is const(0)
