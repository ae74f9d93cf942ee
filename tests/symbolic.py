"""Claims with symbolic sizes against brute force at every small value of their Dims.

A case is plain data: every size is a Python expression in the Dims' names.  The package gets it
with Dims for the names, brute force with numbers, so that nothing of what the package makes of a
size (evaluation, polynomials, simplification) is needed to know the truth.

    PROVED     holds at every small point that the Dims' constraints and what is given admit
    REFUTED    the witness's own values are admitted, the claim is false there, and it shows that
    VACUOUS    no small point is admitted
    UNDECIDED  counted

A layout exists where its extents are at least 1 and nothing is divided by 0: other points do not
count.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod
from typing import Any

from layout_algebra.claims import CLAIMS, Claim
from layout_algebra.dims import Polynomial, equal
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.prover import Budget, prove
from layout_algebra.verdicts import Proof, Verdict
from tests import bruteforce as bf
from tests import extensions
from tests import generators as gen
from tests.bruteforce import Plain
from tests.building import KnownDim
from tests.extensions import Extension, of_plain

#: Elements and copies of one point beyond which brute force leaves it out.
MOST_PLACES = 400
AXES = ("m", "laneid", "warpid")
Values = Mapping[str, int]


class DisagreementError(AssertionError):
    """The prover and brute force differ, or a witness does not show what it says."""


# ------------------------------------------------------------------------------- sizes


@cache
def _code(text: str) -> Any:
    return compile(text, "<size>", "eval")


def number(text: str, values: Mapping[str, Any]) -> Any:
    """An expression's value: an int where the names stand for ints, a size where for Dims."""
    return eval(_code(text), {"__builtins__": {}}, dict(values))


def times(*parts: str) -> str:
    """A product as an expression, without factors of 1."""
    kept = [part if part.isidentifier() or part.isdigit() else f"({part})" for part in parts]
    return "*".join(part for part in kept if part != "1") or "1"


def plus(*parts: str) -> str:
    return " + ".join(f"({part})" for part in parts if part != "0") or "0"


# ---------------------------------------------------------------------------- subjects


@dataclass(frozen=True)
class SymIter:
    """The extent is the product of the factors."""

    factors: tuple[str, ...]
    stride: str
    axis: str

    @property
    def extent(self) -> str:
        return times(*self.factors)


@dataclass(frozen=True)
class SymLayout:
    shard: tuple[SymIter, ...]
    replica: tuple[SymIter, ...] = ()
    offset: tuple[tuple[str, str], ...] = ()
    swizzle: tuple[int, int, int, bool] | None = None

    def parts(self, values: Mapping[str, Any]) -> tuple[list[Any], list[Any], dict[str, Any]]:
        def iters(given: Sequence[SymIter]) -> list[Any]:
            return [(number(i.extent, values), number(i.stride, values), i.axis) for i in given]

        offset = {axis: number(value, values) for axis, value in self.offset}
        return iters(self.shard), iters(self.replica), offset

    def built(self, dims: Mapping[str, Any]) -> TileLayout | ComposeLayout:
        tile = TileLayout.from_iters(*self.parts(dims))
        if self.swizzle is None:
            return tile
        p, b, a, inner = self.swizzle
        return ComposeLayout(p, b, a, tile, inner)

    def at(self, values: Values) -> Extension | None:
        """The concrete layout's extension; None where there is no such layout."""
        shard, replica, offset = self.parts(values)
        if any(extent < 1 for extent, _, _ in (*shard, *replica)):
            return None
        return of_plain(Plain(tuple(shard), tuple(replica), tuple(offset.items()), self.swizzle))


@dataclass(frozen=True)
class SymMap:
    """Coordinates are (name, lowest, highest); names in `copies` count copies instead."""

    coordinates: tuple[tuple[str, str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    where: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()

    def built(self, dims: Mapping[str, Any]) -> Map:
        names = ", ".join(name for name, _, _ in self.coordinates)
        body = ", ".join(f"{axis!r}: {text}" for axis, text in self.outputs)
        shape = {
            name: (number(low, dims), number(high, dims)) for name, low, high in self.coordinates
        }
        where = None
        if self.where:
            kept = " & ".join(f"({text})" for text in self.where)
            where = eval(_code(f"lambda {names}: {kept}"), dict(dims))
        formula = eval(_code(f"lambda {names}: {{{body}}}"), dict(dims))
        return Map.of(formula, shape, where=where, copies=self.copies)

    def at(self, values: Values) -> Extension | None:
        ranges = {
            name: (number(low, values), number(high, values))
            for name, low, high in self.coordinates
        }
        if any(high < low for low, high in ranges.values()):
            return None
        first = {**values, **{name: low for name, (low, _) in ranges.items()}}
        for text in (*(text for _, text in self.outputs), *self.where):
            number(text, first)  # raises where it divides by 0
        moving = [name for name in ranges if name not in self.copies]
        copying = [range(ranges[name][0], ranges[name][1] + 1) for name in self.copies]

        def places(at: tuple[int, ...]) -> list[bf.Place] | None:
            point = {**values, **dict(zip(moving, at, strict=True))}
            found: list[bf.Place] = []
            for copy in product(*copying):
                full = {**point, **dict(zip(self.copies, copy, strict=True))}
                if not found and not all(number(text, full) for text in self.where):
                    return None
                found.append(
                    bf.make_place({axis: number(text, full) for axis, text in self.outputs})
                )
            return found

        coordinates = tuple(
            (name, ranges[name][0], ranges[name][1] - ranges[name][0] + 1) for name in moving
        )
        copies = prod(len(values) for values in copying)
        return Extension(coordinates, frozenset(axis for axis, _ in self.outputs), copies, places)


Subject = SymLayout | SymMap
SymBox = Mapping[str, tuple[str, str]]  # axis -> (low, high), high not included


@dataclass(frozen=True)
class Case:
    """A claim as plain data: its name, its subjects, its box, and what is given of the Dims."""

    kind: str
    dims: tuple[KnownDim, ...]
    subjects: tuple[Subject, ...]
    box: tuple[tuple[str, str, str], ...] | None = None
    given: tuple[str, ...] = ()

    def names(self) -> dict[str, Polynomial]:
        return {known.name: known.dim for known in self.dims}

    def claim(self) -> Claim:
        return self.claim_at(self.names())

    def claim_at(self, dims: Mapping[str, Any]) -> Claim:
        """The claim with Dims, or with numbers for them."""
        made: list[Any] = [subject.built(dims) for subject in self.subjects]
        if self.box is not None:
            made.append({axis: (number(lo, dims), number(hi, dims)) for axis, lo, hi in self.box})
        return CLAIMS[self.kind](*made)

    def relations(self) -> list[Any]:
        names = {**self.names(), "equal": equal}
        return [number(text, names) for text in self.given]

    def admits(self, values: Values) -> bool:
        """Whether the values satisfy the Dims' constraints and the given relations."""
        for known in self.dims:
            value = values.get(known.name)
            if (
                value is None
                or value % known.multiple_of
                or value < known.at_least
                or (known.at_most is not None and value > known.at_most)
            ):
                return False
        names = {**values, "equal": lambda a, b: a == b}
        try:
            return all(number(text, names) for text in self.given)
        except ZeroDivisionError:
            return False

    def at(self, values: Values) -> tuple[tuple[Extension, ...], bf.Box | None] | None:
        """The subjects and the box at a point; None where they do not exist."""
        try:
            found = [subject.at(values) for subject in self.subjects]
            box = self.box_at(values)
        except ZeroDivisionError:
            return None
        if any(one is None for one in found):
            return None
        return tuple(one for one in found if one is not None), box

    def box_at(self, values: Values) -> bf.Box | None:
        if self.box is None:
            return None
        return {axis: (number(lo, values), number(hi, values)) for axis, lo, hi in self.box}

    def points(self, **fixed: int) -> Iterator[dict[str, int]]:
        """All combinations of the Dims' least values that are admitted, some values fixed."""
        each = {0: 1, 1: 6, 2: 4, 3: 4}.get(len(self.dims), 3)
        ranges = []
        for known in self.dims:
            if known.name in fixed:
                ranges.append(range(1))
                continue
            step = known.multiple_of
            first = -(-known.at_least // step) * step
            last = first + step * (each - 1)
            if known.at_most is not None:
                last = min(last, known.at_most)
            ranges.append(range(first, last + 1, step))
        for values in product(*ranges):
            point = dict(zip((known.name for known in self.dims), values, strict=True)) | fixed
            if self.admits(point):
                yield point

    def holds(self, subjects: Sequence[Extension], box: bf.Box | None) -> bool:
        return extensions.MEANING[self.kind](*subjects, *(() if box is None else (box,)))

    def __str__(self) -> str:
        dims = ", ".join(str(known) for known in self.dims)
        return f"{self.kind}{self.subjects} box {self.box} given {list(self.given)} with {dims}"


def places_of(subjects: Sequence[Extension], box: bf.Box | None) -> int:
    count = sum(one.size * one.copies for one in subjects)
    return count + prod(max(0, high - low) for low, high in (box or {}).values())


# ---------------------------------------------------------------------------- comparing


def check(case: Case, proof: Proof) -> int:
    """Raises DisagreementError unless brute force agrees; the points that were looked at."""
    looked = 0
    if proof.verdict is Verdict.PROVED:
        for values in case.points():
            found = case.at(values)
            if found is None or places_of(*found) > MOST_PLACES:
                continue
            looked += 1
            if not case.holds(*found):
                raise DisagreementError(f"PROVED by {proof.method}, false at {values}")
    elif proof.verdict is Verdict.VACUOUS:
        for values in case.points():
            if case.at(values) is not None:
                raise DisagreementError(f"VACUOUS ({proof.reason}), but there is {values}")
            looked += 1
    elif proof.verdict is Verdict.REFUTED:
        looked += _check_witness(case, proof)
    return looked


def _check_witness(case: Case, proof: Proof) -> int:
    witness = proof.witness
    if witness is None:
        raise DisagreementError("REFUTED without a witness")
    by = f"REFUTED by {proof.method}, witness {witness}"
    # Dims of which the claim does not speak have no value: any that is admitted will do
    values = next(case.points(**witness.dims), None)
    if values is None:
        raise DisagreementError(f"{by}: its values are not admitted")
    found = case.at(values)
    if found is None:
        raise DisagreementError(f"{by}: there is no such layout")
    small = places_of(*found) <= 20 * MOST_PLACES
    if small and case.holds(*found):
        raise DisagreementError(f"{by}: brute force finds nothing wrong there")
    if not small and (
        case.kind in ("Covers", "Bijective") or any(one.copies > MOST_PLACES for one in found[0])
    ):
        return 1  # too many places to look at
    if not extensions.refutes(case.kind, witness.points, witness.places, *found):
        raise DisagreementError(f"{by}: it shows nothing")
    return 1


def check_meaning(case: Case, claim: Claim, rng: random.Random) -> bool:
    """The claim's own enumeration, at one small point, against brute force."""
    points = [values for values in case.points() if case.at(values) is not None]
    if not points:
        return False
    values = rng.choice(points)
    found = case.at(values)
    if found is None or places_of(*found) > MOST_PLACES:
        return False
    sizes = [high - low for low, high in (found[1] or {}).values()]
    if any(size < 1 for size in sizes):
        return False
    witness = claim.counterexample(values)
    if (witness is None) != case.holds(*found):
        raise DisagreementError(f"at {values} enumeration says {witness}")
    if witness is not None and not extensions.refutes(
        case.kind, witness.points, witness.places, *found
    ):
        raise DisagreementError(f"at {values} enumeration's witness {witness} shows nothing")
    return True


def check_evaluated(case: Case, values: Values) -> None:
    """`evaluated` gives the layout that one builds from the numbers."""
    for subject in case.subjects:
        if isinstance(subject, SymLayout):
            layout = subject.built(case.names()).evaluated(**values)
            if layout != subject.built(values):
                raise DisagreementError(f"evaluated({values}) gives {layout}")


# ---------------------------------------------------------------------------- drawing


class Draw:
    """One case in the making: the Dims, what is given, and random choices."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.dims: list[KnownDim] = []
        self.given: list[str] = []
        for name in rng.sample("MKNP", rng.choice((1, 1, 2, 2, 3))):
            self.new_dim(name)

    def new_dim(self, name: str, **fixed: Any) -> str:
        rng = self.rng
        step = rng.choice((1, 1, 1, 2, 4))
        least = rng.choice((0, 0, 0, 1, 2, 3))
        most = rng.choice((None, None, None, 4, 8))
        known = {"multiple_of": step, "at_least": least, "at_most": most} | fixed
        self.dims.append(KnownDim(name, **known))
        return name

    def factors(self) -> tuple[str, ...]:
        """The factors of an extent."""
        rng = self.rng
        found: list[str] = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            kind = rng.random()
            known = rng.choice(self.dims[:3])
            step = known.multiple_of
            if kind < 0.25:
                found.append(str(rng.randint(1, 4)))
            elif kind < 0.4 and step > 1:
                part = rng.choice([d for d in gen.divisors(step) if d > 1])
                found.append(f"{known.name}//{part}")
                if rng.random() < 0.4:
                    found.append(str(part))
            elif kind < 0.47:
                found.append(f"{known.name} + {rng.randint(1, 2)}")
            elif kind < 0.52:
                found.append(f"{known.name} - {rng.randint(1, 2)}")
            elif kind < 0.57:
                found.append(f"{known.name}//{rng.choice((2, 3))}")
            elif kind < 0.6 and known is not self.dims[-1]:
                found.append(f"{known.name}//{self.dims[-1].name}")
            else:
                found.append(known.name)
        return tuple(found)

    def axes(self) -> tuple[str, ...]:
        return self.rng.choice((("m",), ("m",), ("m", "laneid"), ("laneid", "warpid"), AXES))


@dataclass(frozen=True)
class Planned:
    """A layout with its natural box: on each axis where its places begin and end."""

    layout: SymLayout
    box: dict[str, tuple[str, str]]


def planned(
    draw: Draw,
    *,
    axes: Sequence[str] | None = None,
    replicas: bool = True,
    pads: bool = True,
    plain: bool = False,
) -> Planned:
    """A layout that would be right: strides that leave room, in a random order of the iters.

    Row-major, column-major, tiled, padded, with copies, running backwards, in stages.
    """
    rng = draw.rng
    axes = axes or draw.axes()
    count = rng.choice((1, 2, 2, 3, 3, 4))
    iters = [(draw.factors(), rng.choice(axes)) for _ in range(count)]
    order = list(range(count))
    if rng.random() < 0.45:
        order.reverse()
    elif rng.random() < 0.6:
        rng.shuffle(order)
    room = dict.fromkeys(axes, "1")
    strides = [""] * count
    for k in order:
        factors, axis = iters[k]
        stride = room[axis]
        if pads and stride != "1" and rng.random() < 0.25:
            stride = _padded(draw, stride)
        strides[k] = stride
        room[axis] = times(stride, *factors)
    shard: list[SymIter] = []
    replica: list[SymIter] = []
    offset: dict[str, str] = {}
    with_copies = replicas and rng.random() < 0.35
    backwards = not plain and rng.random() < 0.2
    reach = dict.fromkeys(axes, "0")
    for (factors, axis), stride in zip(iters, strides, strict=True):
        step = times(stride, f"{times(*factors)} - 1")
        reach[axis] = plus(reach[axis], step)
        if backwards and rng.random() < 0.5:
            offset[axis] = plus(offset.get(axis, "0"), step)
            stride = f"-({stride})"
        copied = with_copies and rng.random() < 0.4
        (replica if copied else shard).append(SymIter(factors, stride, axis))
    lows = dict.fromkeys(axes, "0")
    if not plain and rng.random() < 0.3:
        axis = rng.choice(axes)
        lows[axis] = rng.choice(
            ("1", "8", draw.dims[0].name, times(draw.dims[-1].name, room[axis]), "-3")
        )
        offset[axis] = plus(offset.get(axis, "0"), lows[axis])
    layout = SymLayout(tuple(shard), tuple(replica), tuple(offset.items()))
    if not plain and "m" in axes and rng.random() < 0.2:
        b = rng.randint(0, 2)
        layout = replace(
            layout, swizzle=(rng.randint(0, 1), b, rng.randint(max(b, 1), 2), rng.random() < 0.6)
        )
    used = {it.axis for it in (*shard, *replica)} | set(offset)
    box = {a: (lows[a], plus(lows[a], reach[a], "1")) for a in axes if a in used}
    return Planned(layout, box)


def _padded(draw: Draw, stride: str) -> str:
    """A stride with room to spare: by a number, or any that is given to be large enough."""
    rng = draw.rng
    if rng.random() < 0.4 or len(draw.dims) > 3:
        return plus(stride, str(rng.randint(1, 3)))
    name = draw.new_dim(f"ld{len(draw.dims)}")
    kind = rng.random()
    if kind < 0.7:
        draw.given.append(f"{name} >= {stride}")
    elif kind < 0.8:
        draw.given.append(f"{name} > {stride}")
    elif kind < 0.9:
        draw.given.append(f"equal({name}, {stride} + 1)")
    else:
        return times(name, stride)  # any multiple; 0 is one
    return name


# ------------------------------------------------------------------------ perturbations


def perturbed(draw: Draw, layout: SymLayout) -> SymLayout:
    """A small change that often breaks what held."""
    rng = draw.rng
    part = "replica" if layout.replica and rng.random() < 0.3 else "shard"
    iters: list[SymIter] = list(getattr(layout, part))
    kind = rng.choice(("swap", "stride", "stride", "extent", "drop", "offset", "axis", "given"))
    if kind == "given":
        if draw.given:
            at = rng.randrange(len(draw.given))
            if rng.random() < 0.5:
                del draw.given[at]
            else:
                draw.given[at] = draw.given[at].replace(">=", "+ 1 >=")
        return layout
    if kind == "offset" or not iters:
        axis = rng.choice(AXES)
        offset = dict(layout.offset)
        offset[axis] = plus(offset.get(axis, "0"), rng.choice(("1", "-1", draw.dims[0].name)))
        return replace(layout, offset=tuple(offset.items()))
    k = rng.randrange(len(iters))
    it = iters[k]
    if kind == "swap":
        other = rng.randrange(len(iters))
        iters[k], iters[other] = (
            replace(it, stride=iters[other].stride),
            replace(iters[other], stride=it.stride),
        )
    elif kind == "stride":
        name = rng.choice(draw.dims).name
        new = rng.choice(
            (
                *(f"{it.stride} - 1", f"{it.stride} + 1", f"2*({it.stride})", f"({it.stride})//2"),
                *(f"{it.stride} - {name}", name, f"-({name})", f"{name} - 2", f"2 - {name}", "0"),
            )
        )
        iters[k] = replace(it, stride=new)
    elif kind == "extent":
        factors = (*it.factors, "2") if rng.random() < 0.5 else (f"{it.extent} + 1",)
        iters[k] = replace(it, factors=factors)
    elif kind == "axis":
        iters[k] = replace(it, axis=rng.choice(AXES))
    else:
        del iters[k]
    return replace(layout, **{part: tuple(iters)})


def rewritten(draw: Draw, layout: SymLayout, steps: int = 2) -> SymLayout:
    """The same map in another form (as far as the expressions are what they seem)."""
    for _ in range(draw.rng.randint(1, steps)):
        layout = draw.rng.choice(
            (_split, _split, _merged, _with_unit, _turned, _shuffled, _spelled)
        )(draw, layout)
    return layout


def _changed(items: Sequence[Any], at: int, taken: int, *new: Any) -> tuple[Any, ...]:
    return (*items[:at], *new, *items[at + taken :])


def _split(draw: Draw, layout: SymLayout) -> SymLayout:
    part = "replica" if layout.replica and draw.rng.random() < 0.3 else "shard"
    iters = getattr(layout, part)
    if not iters:
        return layout
    k = draw.rng.randrange(len(iters))
    it: SymIter = iters[k]
    factors: list[str] = []
    steps = {known.name: known.multiple_of for known in draw.dims}
    for factor in it.factors:
        if steps.get(factor, 1) > 1:
            factors += [f"{factor}//{steps[factor]}", str(steps[factor])]
        elif factor == "4":
            factors += ["2", "2"]
        else:
            factors.append(factor)
    if len(factors) < 2:
        return layout
    cut = draw.rng.randrange(1, len(factors))
    outer = SymIter(tuple(factors[:cut]), times(it.stride, *factors[cut:]), it.axis)
    inner = SymIter(tuple(factors[cut:]), it.stride, it.axis)
    pair = (inner, outer) if part == "replica" and draw.rng.random() < 0.5 else (outer, inner)
    return replace(layout, **{part: _changed(iters, k, 1, *pair)})


def _merged(draw: Draw, layout: SymLayout) -> SymLayout:
    for k, (one, two) in enumerate(zip(layout.shard, layout.shard[1:], strict=False)):
        if one.axis == two.axis and _same(draw, one.stride, times(two.stride, *two.factors)):
            new = SymIter((*one.factors, *two.factors), two.stride, two.axis)
            return replace(layout, shard=_changed(layout.shard, k, 2, new))
    return layout


def _same(draw: Draw, one: str, two: str) -> bool:
    """Whether two expressions agree at some random points."""
    for _ in range(5):
        values = {k.name: draw.rng.randint(1, 9) * k.multiple_of for k in draw.dims}
        if number(one, values) != number(two, values):
            return False
    return True


def _with_unit(draw: Draw, layout: SymLayout) -> SymLayout:
    unit = SymIter(("1",), draw.dims[0].name, draw.rng.choice(AXES))
    at = draw.rng.randint(0, len(layout.shard))
    return replace(layout, shard=_changed(layout.shard, at, 0, unit))


def _turned(draw: Draw, layout: SymLayout) -> SymLayout:
    if not layout.replica:
        return layout
    k = draw.rng.randrange(len(layout.replica))
    it = layout.replica[k]
    offset = dict(layout.offset)
    offset[it.axis] = plus(offset.get(it.axis, "0"), times(f"{it.extent} - 1", it.stride))
    turned = replace(it, stride=f"-({it.stride})")
    return replace(
        layout, replica=_changed(layout.replica, k, 1, turned), offset=tuple(offset.items())
    )


def _shuffled(draw: Draw, layout: SymLayout) -> SymLayout:
    return replace(layout, replica=tuple(draw.rng.sample(layout.replica, len(layout.replica))))


def _spelled(draw: Draw, layout: SymLayout) -> SymLayout:
    """Another spelling of a size: a Dim tied to it by what is given."""
    if not layout.shard or len(draw.dims) > 3:
        return layout
    k = draw.rng.randrange(len(layout.shard))
    it = layout.shard[k]
    if it.stride.isdigit():
        return layout
    name = draw.new_dim(f"same{len(draw.dims)}", multiple_of=1, at_most=None, at_least=0)
    draw.given.append(f"equal({name}, {it.stride})")
    return replace(layout, shard=_changed(layout.shard, k, 1, replace(it, stride=name)))


# -------------------------------------------------------------------------------- maps


def formula(draw: Draw) -> SymMap:
    """A map given by a formula, with a guard, copies, or ranges that do not begin at 0."""
    rng = draw.rng
    first, second = (times(*draw.factors()) for _ in range(2))
    low = rng.choice(("0", "0", "0", "1", draw.dims[0].name, "-2"))
    coordinates = [("i", "0", f"{first} - 1"), ("j", low, f"{low} + {second} - 1")]
    dim = rng.choice(draw.dims).name
    outputs = rng.choice(
        (
            (("m", f"i*({second}) + j"),),
            (("m", f"i + j*({first})"),),
            (("m", f"j*{dim} + i"),),
            (("m", "i*4 + j % 4"), ("laneid", "j // 4")),
            (("m", f"(i*({second}) + j) // {rng.choice(('2', dim))}"), ("laneid", "j % 2")),
            (("m", "i*j + i"),),
            (("laneid", "i % 3"), ("m", f"i // 3 + j*{dim}")),
            (("m", f"(i*({second}) + j) % ({second})"), ("laneid", "i")),
            (("m", "i ^ (j % 4)"), ("laneid", "j")),
        )
    )
    where = rng.choice(
        (
            *((), (), (f"i + j <= {dim}",), ("i >= j",), ("i % 2 == 0",), (f"i >= {first}",)),
            *(
                (f"i*{dim} + j < 5", "j >= 1"),
                (f"i >= {dim}", f"i + {dim} < 3"),
                (f"i*4 == {dim}",),
            ),
        )
    )
    copies: tuple[str, ...] = ()
    if rng.random() < 0.2:
        least = rng.choice(("0", "0", "1", dim))
        coordinates.append(("r", least, plus(least, rng.choice(("1", "2", f"{dim} - 1")))))
        axis, text = outputs[-1]
        outputs = (*outputs[:-1], (axis, f"{text} + r*{rng.choice(('1', '8', '0', first))}"))
        copies = ("r",)
    return SymMap(tuple(coordinates), outputs, where, copies)


def as_formula(layout: SymLayout) -> SymMap:
    """A layout as a formula of its flat index, with divisions."""
    weight = "1"
    parts: dict[str, list[str]] = {axis: [value] for axis, value in layout.offset}
    for it in reversed(layout.shard):
        digit = f"(x // ({weight})) % ({it.extent})" if weight != "1" else f"x % ({it.extent})"
        parts.setdefault(it.axis, []).append(f"({digit})*({it.stride})")
        weight = times(weight, *it.factors)
    outputs = tuple((axis, plus(*pieces)) for axis, pieces in parts.items())
    return SymMap((("x", "0", f"{weight} - 1"),), outputs)


# ------------------------------------------------------------------------------- cases


def one_layout(kind: str) -> Callable[[Draw], Case]:
    def make(draw: Draw) -> Case:
        rng = draw.rng
        plan = planned(draw)
        if kind == "ReplicasDistinct" and not plan.layout.replica and rng.random() < 0.8:
            shard = plan.layout.shard
            cut = rng.randrange(len(shard))
            plan = replace(
                plan, layout=replace(plan.layout, shard=shard[:cut], replica=shard[cut:])
            )
        subject: Subject = plan.layout
        if rng.random() < 0.5:
            subject = perturbed(draw, plan.layout)
        if rng.random() < 0.15:
            subject = formula(draw)
        if rng.random() < 0.1 and not plan.layout.replica and plan.layout.swizzle is None:
            subject = as_formula(plan.layout)
        box = None
        if kind in ("Covers", "Bijective", "WithinBounds"):
            box = _box(draw, plan)
        return Case(kind, tuple(draw.dims), (subject,), box, tuple(draw.given))

    return make


def _box(draw: Draw, plan: Planned) -> tuple[tuple[str, str, str], ...]:
    rng = draw.rng
    box = dict(plan.box)
    if plan.layout.swizzle is not None and "m" in box and rng.random() < 0.6:
        # whole periods of the swizzle
        p, b, a, _ = plan.layout.swizzle
        period = 1 << (p + a + b) if b else 1
        low, high = box["m"]
        box["m"] = (
            f"({low}) // {period} * {period}",
            f"({high} + {period - 1}) // {period} * {period}",
        )
        if rng.random() < 0.5:
            box["m"] = ("0", times(str(period), draw.dims[0].name))
    if box and rng.random() < 0.35:
        axis = rng.choice(sorted(box))
        low, high = box[axis]
        box[axis] = rng.choice(
            (
                *((f"{low} + 1", high), (f"{low} - 1", high), (low, f"{high} - 1")),
                *((low, f"{high} + 1"), (low, plus(high, draw.dims[0].name))),
                *((low, "4"), (low, draw.dims[-1].name)),
            )
        )
    if len(box) > 1 and rng.random() < 0.1:
        del box[rng.choice(sorted(box))]
    kept = []
    for axis, (low, high) in box.items():
        if low.lstrip("-").isdigit() and high.isdigit() and int(high) <= int(low):
            high = str(int(low) + 1)
        kept.append((axis, low, high))
    return tuple(kept)


def equivalent(draw: Draw) -> Case:
    rng = draw.rng
    one = planned(draw).layout
    two: Subject = rewritten(draw, one)
    if rng.random() < 0.4:
        two = perturbed(draw, two)
    if rng.random() < 0.2 and not two.replica and two.swizzle is None and two.shard:
        two = as_formula(two)
    elif rng.random() < 0.1 and one.swizzle is not None:
        two = replace(two, swizzle=None)
    pair = (one, two) if rng.random() < 0.5 else (two, one)
    return Case("Equivalent", tuple(draw.dims), pair, None, tuple(draw.given))


def disjoint(draw: Draw) -> Case:
    """Two stages of a ring, tiles side by side, other residues, or nothing of the kind."""
    rng = draw.rng
    plan = planned(draw)
    one = plan.layout
    two = rewritten(draw, one) if rng.random() < 0.4 else one
    if rng.random() < 0.15:
        two = planned(draw).layout
    axis = rng.choice(sorted(plan.box) or ["m"])
    low, high = plan.box.get(axis, ("0", "1"))
    width = f"({high}) - ({low})"
    kind = rng.random()
    if kind < 0.5:
        shift = rng.choice((width, f"{width} - 1", f"-({width})", "1"))
    elif kind < 0.8 and len(draw.dims) <= 3:
        s, t = draw.new_dim("s", multiple_of=1), draw.new_dim("t", multiple_of=1)
        draw.given.append(f"{t} >= {s} + {rng.choice((0, 1, 1))}")
        one = _moved(one, axis, times(s, width))
        shift = times(t, width)
    else:
        factor = str(rng.randint(2, 3))
        one, two = _stretched(one, axis, factor), _stretched(two, axis, factor)
        shift = rng.choice(("1", factor, "-1"))
    two = _moved(two, axis, shift)
    if rng.random() < 0.25:
        two = perturbed(draw, two)
    return Case("Disjoint", tuple(draw.dims), (one, two), None, tuple(draw.given))


def _moved(layout: SymLayout, axis: str, by: str) -> SymLayout:
    offset = dict(layout.offset)
    offset[axis] = plus(offset.get(axis, "0"), by)
    return replace(layout, offset=tuple(offset.items()))


def _stretched(layout: SymLayout, axis: str, factor: str) -> SymLayout:
    def iters(given: Sequence[SymIter]) -> tuple[SymIter, ...]:
        return tuple(
            replace(it, stride=times(factor, it.stride)) if it.axis == axis else it for it in given
        )

    return replace(layout, shard=iters(layout.shard), replica=iters(layout.replica))


def inverses(draw: Draw) -> Case:
    """A permuted tile and its inverse as a tile, or as a formula of places or coordinates."""
    rng = draw.rng
    count = rng.choice((1, 2, 2, 3))
    factors = [draw.factors() for _ in range(count)]
    order = rng.sample(range(count), count)  # from the smallest stride up
    strides, room = [""] * count, "1"
    widths = [times(*one) for one in factors]
    for position, k in enumerate(order):
        strides[k] = room
        if position == 0 and count > 1 and rng.random() < 0.25:
            widths[k] = _padded(draw, times(*factors[k]))
        room = times(room, widths[k])
    f = SymLayout(
        tuple(SymIter(one, s, "m") for one, s in zip(factors, strides, strict=True)),
    )
    weights, below = [""] * count, "1"
    for k in reversed(range(count)):
        weights[k] = below
        below = times(below, *factors[k])
    g: Subject
    if rng.random() < 0.6:
        tile = SymLayout(
            tuple(SymIter((widths[k],), weights[k], "m") for k in reversed(order)),
        )
        g = perturbed(draw, tile) if rng.random() < 0.3 else tile
        if rng.random() < 0.2:
            g = as_formula(g)
        if isinstance(g, SymLayout) and {it.axis for it in g.shard} | {a for a, _ in g.offset} != {
            "m"
        }:
            g = tile
    else:
        low = rng.choice(("0", "0", "0", "3"))
        outputs = tuple(
            (f"c{k}", f"m // ({strides[k]}) % ({widths[k]})" if rng.random() < 0.95 else "m")
            for k in range(count)
        )
        name = rng.choice(("m", "m", "y"))
        outputs = tuple((axis, text.replace("m", name)) for axis, text in outputs)
        g = SymMap(((name, low, f"{low} + {room} - 1"),), outputs)
    if rng.random() < 0.15:
        f = perturbed(draw, f)
        if f.replica or {it.axis for it in f.shard} | {a for a, _ in f.offset} != {"m"}:
            f = replace(f, shard=tuple(replace(i, axis="m") for i in f.shard), offset=())
    kind = rng.choice(("LeftInverse", "LeftInverse", "RightInverse", "Inverse"))
    pair = (f, g)
    if kind == "RightInverse":
        pair = (g, f) if rng.random() < 0.5 else (f, g)
    return Case(kind, tuple(draw.dims), pair, None, tuple(draw.given))


def nothing_there(draw: Draw) -> Case:
    subject: Subject = formula(draw) if draw.rng.random() < 0.8 else planned(draw).layout
    return Case("Empty", tuple(draw.dims), (subject,), None, tuple(draw.given))


def on_formulas(draw: Draw) -> Case:
    """Any claim about maps that are given by formulas, with guards, copies and ranges."""
    rng = draw.rng
    kind = rng.choice(
        (
            *("Injective", "ReplicasDistinct", "WithinBounds", "Covers", "Bijective"),
            *("Equivalent", "Equivalent", "Disjoint", "Disjoint"),
        )
    )
    one = formula(draw)
    while kind == "ReplicasDistinct" and not one.copies:
        one = formula(draw)
    subjects: tuple[Subject, ...] = (one,)
    box = None
    if kind == "Equivalent":
        subjects = (one, _same_formula(draw, one))
    elif kind == "Disjoint":
        shift = rng.choice(("1", "100", draw.dims[0].name, "-5"))
        axis, text = one.outputs[0]
        moved = replace(one, outputs=((axis, f"{text} + {shift}"), *one.outputs[1:]))
        subjects = (one, moved if rng.random() < 0.6 else formula(draw))
    elif kind not in ("Injective", "ReplicasDistinct"):
        sizes = ("2", "4", draw.dims[0].name, times(*draw.factors()), "40")
        box = tuple(
            (axis, rng.choice(("0", "0", "0", "1", "-2")), plus(rng.choice(sizes), "2"))
            for axis, _ in one.outputs
        )
    return Case(kind, tuple(draw.dims), subjects, box, tuple(draw.given))


def _same_formula(draw: Draw, one: SymMap) -> SymMap:
    """The same map over other coordinates, or with a guard or a term that is a little different."""
    rng = draw.rng
    kind = rng.random()
    if kind < 0.3:
        (axis, text), *others = one.outputs
        new = rng.choice((f"{text} + i//3", f"{text} + j%3//2", f"{text} + 0*i", f"j + {text} - j"))
        return replace(one, outputs=((axis, new), *others))
    if kind < 0.5 and one.copies:  # other copies: as many, but not from the same start
        *others, (name, low, high) = one.coordinates
        return replace(one, coordinates=(*others, (name, f"{low} + 1", f"{high} + 1")))
    if kind < 0.45:
        return replace(one, where=(*one.where, rng.choice(("i >= 0", "j <= 4", "i + j >= 0"))))
    # every coordinate counted from another start
    renamed = {name: f"{name}2" for name, _, _ in one.coordinates}
    start = rng.choice(("0", "1", "5"))

    def put(text: str) -> str:
        words = re.split(r"(\b[ijr]\b)", text)
        return "".join(f"({renamed[w]} - {start})" if w in renamed else w for w in words)

    return SymMap(
        tuple((renamed[n], f"{lo} + {start}", f"{hi} + {start}") for n, lo, hi in one.coordinates),
        tuple((axis, put(text)) for axis, text in one.outputs),
        tuple(put(text) for text in one.where),
        tuple(renamed[name] for name in one.copies),
    )


KINDS: tuple[tuple[Callable[[Draw], Case], int], ...] = (
    (one_layout("Injective"), 4),
    (one_layout("ReplicasDistinct"), 2),
    (one_layout("WithinBounds"), 4),
    (one_layout("Covers"), 3),
    (one_layout("Bijective"), 4),
    (equivalent, 5),
    (disjoint, 4),
    (inverses, 4),
    (nothing_there, 1),
    (on_formulas, 3),
)


def drawn(rng: random.Random, kinds: Sequence[tuple[Callable[[Draw], Case], int]] = KINDS) -> Case:
    """A random case; one whose sizes cannot be is drawn again."""
    makers, weights = zip(*kinds, strict=True)
    while True:
        draw = Draw(rng)
        case = rng.choices(makers, weights)[0](draw)
        if rng.random() < 0.05:
            name = rng.choice(draw.dims).name
            case = replace(case, given=(*case.given, f"{name} >= 3", f"{name} <= 2"))
        if rng.random() < 0.1:
            a, b = rng.choice(draw.dims).name, rng.choice(draw.dims).name
            extra = rng.choice(
                (f"{a} >= {b}", f"{a}*{b} <= 4", f"{a} + {b} >= 2", f"({a} - {b}) % 3 == 0")
            )
            case = replace(case, given=(*case.given, extra))
        if all(known_relation(case, text) for text in case.given):
            return case


def known_relation(case: Case, text: str) -> bool:
    """Whether what is given stays a relation (sizes may turn out to be numbers)."""
    found = number(text, {**case.names(), "equal": equal})
    return found is not False


# ------------------------------------------------------------------------------- running

BUDGET = Budget(rlimit=150_000, seconds=1.0)


def one_round(
    seed: int, budget: Budget = BUDGET, method: str = "auto"
) -> tuple[str, Verdict, str, int]:
    """Draw, prove, compare once: the claim's name, the verdict, the route, the points looked at."""
    rng = random.Random(seed)
    case = drawn(rng)
    try:
        claim = case.claim()
    except LayoutAlgebraError as error:
        return case.kind, Verdict.VACUOUS, f"refused: {type(error).__name__}", 0
    try:
        proof = prove(claim, given=case.relations(), budget=budget, method=method)  # type: ignore[arg-type]
        looked = check(case, proof)
        check_meaning(case, claim, rng)
        if looked and proof.witness is not None:
            check_evaluated(case, next(case.points(**proof.witness.dims)))
    except Exception as error:
        raise DisagreementError(f"seed {seed}: {error!r}\n  {case}\n  {claim}") from error
    return case.kind, proof.verdict, proof.method.split(":")[0], looked


def campaign(
    seeds: range, *, budget: Budget = BUDGET, method: str = "auto", until: float | None = None
) -> Counter[str]:
    """Rounds over seeds (until a time); counts by claim, verdict and route."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        if until is not None and time.monotonic() > until:
            break
        kind, verdict, route, looked = one_round(seed, budget, method)
        counts["rounds"] += 1
        counts["points"] += looked
        if route.startswith("refused"):
            counts[route] += 1
            continue
        counts[f"{kind}: {verdict}"] += 1
        counts[f"by {route.split(',')[0]}: {verdict}"] += 1
        if verdict is Verdict.PROVED and not looked:
            counts["PROVED, no point looked at"] += 1
    return counts
