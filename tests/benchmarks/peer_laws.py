"""What an answer of a CuTe layout library has to be, by enumeration; and random questions.

    OPERATIONS["composition"].holds(answer, a, b)         # is R(i) = A(B(i)) everywhere
    OPERATIONS["composition"].exists(a, b)                # is there such a layout at all

A layout is [shape, stride], flat, without negative strides, and with at most 64 elements.  This
module imports no layout library: it uses tests/cute/enumeration.py, which imports none either.
Whether a layout exists is decided by trying every mixed radix.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from tests.cute import enumeration as en

MOST = 64  # elements of an input; and values, where all mixed radices are tried on them
Answer = dict[str, Any]


# -- questions -------------------------------------------------------------------------------------
def flat(layout: tuple[Any, Any]) -> list[Any]:
    shape, stride = (tuple(en.leaves(part)) for part in layout)
    return [shape[0], stride[0]] if len(shape) == 1 else [shape, stride]


def draw_layout(rng: random.Random, most: int = MOST) -> list[Any]:
    """Compact in some order, with gaps; or, one in four, with any strides up to 12."""
    return flat(en.random_layout(rng, most))


def injective(layout: list[Any], *, zeros: bool) -> bool:
    """Whether no two elements share a value; with `zeros`, modes of stride 0 are left out."""
    kept = [(s, d) for s, d in zip(*map(en.leaves, layout), strict=True) if d != 0 or not zeros]
    places = en.table(tuple(s for s, _ in kept), tuple(d for _, d in kept))
    return len(set(places)) == len(places)


def draw_composition(rng: random.Random) -> list[Any]:
    """Two layouts; all values of the second are indices of the first."""
    while True:
        a = draw_layout(rng)
        b = flat(en.random_right(rng, en.size(a[0])))
        if en.size(b[0]) <= MOST and en.composite(a, b) is not None:
            return [a, b]


def draw_complement(rng: random.Random) -> list[Any]:
    return [draw_layout(rng, MOST // 2), rng.choice((1, 12, 24, 48, 64, rng.randint(1, MOST)))]


def draw_divide(rng: random.Random) -> list[Any]:
    """A layout and a tile whose copies fill its indices exactly."""
    while True:
        a, b = draw_composition(rng)
        shifts = en.shifts(b, en.size(a[0]))
        if shifts is not None and max(en.table(*b)) + shifts[-1] < en.size(a[0]):
            return [a, b]


def draw_one(rng: random.Random) -> list[Any]:
    return [draw_layout(rng)]


def drawn_where(
    draw: Callable[[random.Random], list[Any]], wanted: Callable[..., bool]
) -> Callable[[random.Random], list[Any]]:
    """The questions of `draw` that are wanted."""

    def drawn(rng: random.Random) -> list[Any]:
        while True:
            arguments = draw(rng)
            if wanted(*arguments):
                return arguments

    return drawn


def swizzles(overlapping: bool) -> list[list[Any]]:
    """B, M, S with either sign of S; the fields overlap where |S| < B."""
    found = itertools.product((1, 2, 3, 4), (0, 2), (1, 2, 3, 4), (1, -1))
    return [[B, M, sign * S] for B, M, S, sign in found if (S < B) == overlapping]


# -- meaning ---------------------------------------------------------------------------------------
def at(answer: Answer, index: int) -> int | None:
    """The value at an index; a layout's last leaf goes on beyond its size, as in CuTe.

    None outside of a table, and where a size is 0, as it is in some wrong answers.
    """
    if "values" in answer:
        inside = 0 <= index < len(answer["values"])
        return answer["values"][index] if inside else None
    sizes, strides = map(en.leaves, answer["layout"])
    if 0 in sizes:
        return None
    total = 0
    for size, stride in zip(sizes[:-1], strides[:-1], strict=True):
        total += index % size * stride
        index //= size
    return total + index * strides[-1]


def whole(answer: Answer) -> list[int]:
    """The values of all indices."""
    return answer["values"] if "values" in answer else en.table(*answer["layout"])


def composes(answer: Answer, a: Any, b: Any) -> bool:
    return whole(answer) == en.composite(a, b)


def complements(answer: Answer, a: Any, n: int) -> bool:
    kept = [(s, d) for s, d in zip(*map(en.leaves, a), strict=True) if d != 0]
    image = en.table(tuple(s for s, _ in kept), tuple(d for _, d in kept))
    places = sorted(x + z for x in image for z in whole(answer))
    return len(places) >= n and places == list(range(len(places)))


def complement_exists(a: Any, n: int) -> bool:
    shifts = en.shifts(a, n)
    return shifts is not None and en.is_layout(shifts)


def parts(a: Any, b: Any) -> list[int]:
    """A's values, tile after tile."""
    left, tile = en.table(*a), en.table(*b)
    return [left[x + z] for z in en.shifts(b, len(left)) or [] for x in tile]


def divides(answer: Answer, a: Any, b: Any) -> bool:
    return whole(answer) == parts(a, b)


def divide_exists(a: Any, b: Any) -> bool:
    values, tile = parts(a, b), en.size(b[0])
    return en.is_layout_by_modes(values, [tile, len(values) // tile])


def undoes(answer: Answer, a: Any) -> bool:
    return all(at(answer, place) == i for i, place in enumerate(en.table(*a)))


def undo_exists(a: Any) -> bool | None:
    """Whether a layout, its last mode open, sends each A(i) to i; None where A reaches too far."""
    places = en.table(*a)
    if max(places) >= MOST:
        return None
    return any(fits(weights, places) for weights in chains(max(places)))


def returns(answer: Answer, a: Any) -> bool:
    there, places = {"layout": a}, en.table(*a)
    found = [at(answer, place) for place in places]
    return all(x is not None and at(there, x) == y for x, y in zip(found, places, strict=True))


def right_undoes(answer: Answer, a: Any) -> bool:
    places, found = en.table(*a), whole(answer)
    inside = all(0 <= x < len(places) for x in found)
    return bool(found) and inside and [places[x] for x in found] == list(range(len(found)))


def xored(B: int, M: int, S: int) -> list[int]:
    """The swizzle on its period, from its definition."""
    mask = (1 << B) - 1
    source, target = (M + S, M) if S > 0 else (M, M - S)
    return [x ^ (((x >> source) & mask) << target) for x in range(1 << (B + M + abs(S)))]


def swizzles_so(answer: Answer, B: int, M: int, S: int) -> bool:
    return whole(answer) == xored(B, M, S)


def unswizzles(answer: Answer, B: int, M: int, S: int) -> bool:
    found = whole(answer)
    return all(found[y] == x for x, y in enumerate(xored(B, M, S)))


# -- all layouts that send given places to 0, 1, 2, ... --------------------------------------------
def chains(top: int, last: int = 1) -> Iterator[list[int]]:
    """Every mixed radix of numbers up to top, as the weights of its digits."""
    yield [last]
    for weight in range(2 * last, top + 1, last):
        for rest in chains(top, weight):
            yield [last, *rest]


def fits(weights: Sequence[int], places: Sequence[int]) -> bool:
    """Whether integer strides for these digits send places[i] to i, for each i.

    A linear system over the integers, equation by equation: its solutions are `point` plus the
    lattice that `free` spans.
    """
    count = len(weights)
    point = [0] * count
    free = [[int(k == j) for k in range(count)] for j in range(count)]
    for i, place in enumerate(places):
        above = [*weights[1:], place + 1]
        digits = [place % up // down for down, up in zip(weights, above, strict=True)]
        missing = i - dot(digits, point)
        steps = [dot(digits, direction) for direction in free]
        step = gcd(*steps)
        if missing % step if step else missing:
            return False
        if step:
            used, free = narrowed(steps, free)
            times = missing // dot(digits, used)
            point = [p + times * u for p, u in zip(point, used, strict=True)]
    return True


def dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(x * y for x, y in zip(left, right, strict=True))


def narrowed(steps: list[int], free: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    """Another basis of the lattice: one direction with a step, and those that have none."""
    moving = [pair for pair in zip(steps, free, strict=True) if pair[0]]
    still = [direction for step, direction in zip(steps, free, strict=True) if not step]
    while len(moving) > 1:
        moving.sort(key=lambda pair: abs(pair[0]))
        (small, first), (large, last) = moving[0], moving.pop()
        times = large // small
        rest = [y - times * x for x, y in zip(first, last, strict=True)]
        if large % small:
            moving.append((large - times * small, rest))
        else:
            still.append(rest)
    return moving[0][1], still


# -- the table of operations -----------------------------------------------------------------------
@dataclass(frozen=True)
class Operation:
    """A row of the report.

    Attributes:
        call: what libraries are asked for.
        holds: whether an answer is right, given the arguments.
        exists: whether there is a right answer that is a layout; None: not decided.
        draw: a random question; None where `all` lists every one.
        all: every question.
    """

    call: str
    holds: Callable[..., bool]
    exists: Callable[..., bool | None]
    draw: Callable[[random.Random], list[Any]] | None = None
    all: Sequence[list[Any]] = ()


def always(*_: Any) -> bool:
    return True


def never(*_: Any) -> bool:
    return False


def _rows() -> Iterator[tuple[str, Operation]]:
    """Every operation, where it matters for injective operands and for others."""
    for apart in (True, False):
        name = "" if apart else ", B not injective"
        draw = drawn_where(draw_composition, lambda a, b, x=apart: injective(b, zeros=True) == x)
        law = ("composition", composes, en.composition_exists)
        yield f"composition{name}", Operation(*law, draw)
    for apart in (True, False):
        name = "" if apart else ", A not injective"
        draw = drawn_where(draw_complement, lambda a, n, x=apart: injective(a, zeros=True) == x)
        yield f"complement{name}", Operation("complement", complements, complement_exists, draw)
    yield "logical_divide", Operation("logical_divide", divides, divide_exists, draw_divide)
    draw = drawn_where(draw_one, lambda a: injective(a, zeros=False))
    yield "left_inverse", Operation("left_inverse", undoes, undo_exists, draw)
    draw = drawn_where(draw_one, lambda a: not injective(a, zeros=False))
    yield "left_inverse, A not injective", Operation("left_inverse", returns, never, draw)
    yield "right_inverse", Operation("right_inverse", right_undoes, always, draw_one)
    yield "swizzle, |S| < B", Operation("swizzle", swizzles_so, always, all=swizzles(True))
    for overlapping in (True, False):
        name = f"inverse of a swizzle, |S| {'<' if overlapping else '>='} B"
        every = swizzles(overlapping)
        yield name, Operation("swizzle inverse", unswizzles, always, all=every)


OPERATIONS = dict(_rows())
