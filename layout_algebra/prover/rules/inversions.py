"""The rule for inverses that are Maps: divisions there, sums back, and what their guards say.

To a place and back, `g(f(x)) = x` with g a Map: f's places are sums of digits, which g's divisions
take apart again; every condition of g's guard has to hold by the ranges of the digits.

From a place to an element and back, `f(g(y)) = y`: the sum of stride * digit is put together again
by `x % d = x - d*(x // d)`, with the guard of g used: a digit that it bounds is small enough to be
one of the mixed-radix sum, and a rest that it says is 0 may be left over.

    y = 16*(y // 16) + y % 16        with y % 16 <= 3 the digits of S[(4, 2) : (1, 16)]
"""

from __future__ import annotations

from layout_algebra.claims import LeftInverse
from layout_algebra.conditions import Condition
from layout_algebra.dims import Size, divide_exactly, product
from layout_algebra.folding import substitute
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
    with recorded_splits() as splits:
        side = _there(f, g, facts) if not f.guard else None
        side = _back(f, g, facts) if side is None and not f.replicas else side
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
    check = side_conditions("a remainder or a digit outside its range", side, facts)
    return Outcome(Verdict.PROVED, Step("division steps", detail, lemmas, check))


def _there(f: Map, g: Map, facts: Facts) -> list[Size] | None:
    """g(f(x)) = x for each copy: what has to be >= 0 for it, or None where it is not shown."""
    whole = Map((*f.coordinates, *f.replicas), f.outputs)
    back = g.after(whole)
    if not all(a is b for a, b in _compared(f, dict(back.outputs))):
        return None
    side: list[Size] = []
    for condition in back.guard:
        if condition.kind == "==" and condition.term is const(0):
            continue
        if condition.kind != ">=" or condition.term.low is None:
            return None
        side.append(condition.term.low)
    return side if all(facts.at_least(size, 0) for size in side) else None


def _back(f: Map, g: Map, facts: Facts) -> list[Size] | None:
    """g(f(y)) = y for f a Map of divisions: what has to be >= 0 for it, or None."""
    if len(f.outputs) != 1:
        return None
    values: dict[Var, Term] = {}
    index = _with_bounds(f.outputs[0][1], f.guard, values, facts)
    if index.low is None or index.high is None or g.guard:
        return None
    axis = f.outputs[0][0]
    low: Size | None = 0
    high: Size | None = None
    if [variable.name for variable in g.coordinates] == [axis]:
        low, high = g.coordinates[0].low, g.coordinates[0].high
    else:
        high = g.size - 1
    side = [] if low is None else [index.low - low]
    side += [] if high is None else [high - index.high]
    if not all(facts.at_least(size, 0) for size in side):
        return None
    found = g._rebuilt(g.feed({axis: index}))
    outputs = {name: substitute(term, values) for name, term in found.outputs}
    known = [expanded(c.term) for c in f.guard if c.kind == "=="]
    for got, wanted in _compared(f, outputs):
        difference = expanded(linear([(got, 1), (wanted, -1)]))
        if difference is not const(0) and not any(_is_multiple(difference, zero) for zero in known):
            return None
    return side


def _compared(f: Map, outputs: dict[str, Term]) -> list[tuple[Term, Term]]:
    """What comes back, and what it has to be."""
    names = {variable.name: variable for variable in f.coordinates}
    if set(names) == set(outputs):
        return [(outputs[name], variable) for name, variable in names.items()]
    return [(next(iter(outputs.values()), const(0)), f.index)]


def _with_bounds(
    index: Term, guard: tuple[Condition, ...], values: dict[Var, Term], facts: Facts
) -> Term:
    """A sum of digits, each that a condition `digit <= k` bounds replaced by a variable in 0..k.

    `values` gets what the variables stand for.
    """
    bounds: dict[Term, Size] = {}
    for condition in guard:
        term = condition.term
        if condition.kind != ">=" or not isinstance(term, Sum) or len(term.parts) != 1:
            continue
        digit, c = term.parts[0]
        if c == -1 and digit.low is not None and facts.at_least(digit.low, 0):
            bounds[digit] = term.constant
    if not bounds:
        return index
    parts, constant = (
        (index.parts, index.constant) if isinstance(index, Sum) else (((index, 1),), 0)
    )
    bounded: list[tuple[Term, Size]] = []
    for digit, c in parts:
        if digit in bounds:
            variable = var(f"digit {len(values)}", 0, bounds[digit])
            values[variable] = digit
            digit = variable
        bounded.append((digit, c))
    return linear(bounded, constant)


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
