"""Random cases for the laws: small layouts, shapes that fit them and shapes that do not.

Layouts of one map in many forms, with copies, offsets, negative and zero strides, several axes.
With symbolic sizes everything is text: `tests.symbolic` evaluates it with Dims and with numbers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from tests import generators as gen
from tests.bruteforce import Plain
from tests.building import KnownDim
from tests.symbolic import SymIter, SymLayout, number, plus, times

AXES = ("m", "laneid", "warpid", "TCol")
#: Sets of axes whose thread axes chain, and then fuse.
FUSING = (
    ("laneid", "warpid", "m"),
    ("laneid", "wid_in_wg", "m"),
    ("laneid", "wid_in_wg", "wgid", "m"),
    ("tid_in_wg", "wgid", "m"),
    ("wid_in_wg", "wgid", "m"),
    ("tx", "m"),
    ("laneid", "m"),
    ("warpid", "m"),
    ("tx", "cbx", "m"),
)
ALL_AXES = (
    *("m", "bx", "cbx", "tx", "warpid", "laneid", "wgid", "tid_in_wg", "wid_in_wg"),
    *("TCol", "TLane", "F", "P"),
)


# ----------------------------------------------------------------------------- layouts


def layout(
    rng: random.Random, most: int = 24, *, axes: Sequence[str] = AXES, swizzles: bool = False
) -> Plain:
    """A small layout: half of them orderly, half not."""
    made = gen.random_layout(rng, max_places=most, axes=tuple(axes), swizzles=swizzles)
    if rng.random() < 0.15:
        made = gen.equivalent_variant(rng, made, max_places=most, axes=tuple(axes))
        made = gen.strip(made, True, swizzles)
    return made


def iters_for(rng: random.Random, shape: Sequence[int], axes: Sequence[str]) -> Plain:
    """A layout that can be cut to a shape, with at least an iter for each dimension.

    Compact, permuted, on a line, backwards, still, or without a plan; copies reach not far.
    """
    cut: list[list[int]] = []
    for size in shape:
        parts = [size]
        while rng.random() < 0.4:
            k = rng.randrange(len(parts))
            inner = rng.choice(gen.divisors(parts[k]))
            parts[k : k + 1] = [parts[k] // inner, inner]
        cut.append(parts)
    extents = [e for parts in cut for e in parts]
    own = [rng.choice(axes) if rng.random() < 0.4 else axes[0] for _ in extents]
    strides = gen.compact_strides(rng, extents, own, gaps=rng.random() < 0.3)
    shard = list(zip(extents, strides, own, strict=True))
    for k, (e, s, axis) in enumerate(shard):
        kind = rng.random()
        if kind < 0.1:
            shard[k] = (e, -s, axis)
        elif kind < 0.16:
            shard[k] = (e, 0, axis)
        elif kind < 0.22:
            shard[k] = (e, rng.randint(-3, 6), axis)
    return Plain(tuple(shard), copies(rng, axes), offset(rng, axes))


def copies(rng: random.Random, axes: Sequence[str]) -> tuple[tuple[int, int, str], ...]:
    if rng.random() < 0.6:
        return ()
    count = rng.choice((1, 1, 2))
    return tuple(
        (rng.choice((1, 2, 2, 3)), rng.choice((0, 1, 1, 2, 3, -1, 4)), rng.choice(axes))
        for _ in range(count)
    )


def offset(rng: random.Random, axes: Sequence[str]) -> tuple[tuple[str, int], ...]:
    if rng.random() < 0.6:
        return ()
    return ((rng.choice(axes), rng.choice((0, 1, 2, 3, 5, -2))),)


def small_shape(rng: random.Random, most: int, rank: int | None = None) -> tuple[int, ...]:
    """A shape of at most so many elements."""
    rank = rng.choice((1, 1, 2, 2, 3)) if rank is None else rank
    sizes: list[int] = []
    for _ in range(rank):
        fitting = [size for size in (1, 2, 2, 3, 4, 6) if size * prod(sizes) <= most]
        sizes.append(rng.choice(fitting))
    rng.shuffle(sizes)
    return tuple(sizes)


def swizzle(rng: random.Random) -> tuple[int, int, int, bool]:
    """A small one, so that small tiles reach the bits it looks at."""
    b = rng.choice((0, 1, 1, 2))
    return (rng.choice((0, 0, 1)), b, rng.randint(max(b, 1), 2), rng.random() < 0.5)


def swizzled(rng: random.Random, plain: Plain, share: float = 0.25) -> Plain:
    return replace(plain, swizzle=swizzle(rng)) if rng.random() < share else plain


# ------------------------------------------------------------------------------ shapes


def factored(rng: random.Random, total: int) -> list[int]:
    """Random factors of a number, ones among them."""
    parts = [total]
    while rng.random() < 0.6:
        k = rng.randrange(len(parts))
        inner = rng.choice(gen.divisors(parts[k]))
        parts[k : k + 1] = [parts[k] // inner, inner]
    return parts


def shape(rng: random.Random, plain: Plain) -> tuple[int, ...]:
    """A shape with as many elements, which the layout can often be cut to."""
    extents = [extent for extent, _, _ in plain.shard]
    if rng.random() < 0.25:
        sizes = factored(rng, prod(extents))
    else:
        pieces = [part for extent in extents for part in factored(rng, extent)]
        sizes = []
        for piece in pieces:
            if sizes and rng.random() < 0.5:
                sizes[-1] *= piece
            else:
                sizes.append(piece)
        if rng.random() < 0.15:
            sizes.insert(rng.randint(0, len(sizes)), 1)
    if rng.random() < 0.03:
        sizes[:1] = [2, *sizes[:1]]
    return tuple(sizes)


def region(rng: random.Random, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """A box in a shape: whole dimensions, aligned parts, anything; never empty."""
    found = []
    for size in sizes:
        begin = rng.randrange(size)
        end = rng.randint(begin + 1, size)
        if rng.random() < 0.4:
            unit = rng.choice(gen.divisors(size))
            begin = begin // unit * unit
            end = -(-end // unit) * unit
        found.append((begin, end))
    return found


# ---------------------------------------------------------------------------- symbolic

M = KnownDim("M", 4, at_least=4)
N = KnownDim("N", at_least=1)
K = KnownDim("K", 2, at_least=0)
J = KnownDim("J", at_least=0)
DIMS = {known.name: known.dim for known in (M, N, K, J)}
#: J is an index, not a size: it may be 0.
POINTS = (
    {"M": 4, "N": 1, "K": 2, "J": 0},
    {"M": 8, "N": 2, "K": 2, "J": 1},
    {"M": 4, "N": 3, "K": 4, "J": 2},
    {"M": 8, "N": 1, "K": 2, "J": 3},
    {"M": 8, "N": 1, "K": 6, "J": 5},
)
FACTORS = (
    *(("N",), ("N",), ("2",), ("3",), ("1",), ("K",)),
    *(("M//4", "4"), ("M//2", "2"), ("M//4", "2", "2"), ("K//2", "2"), ("M",)),
)


@dataclass(frozen=True)
class Symbolic:
    """A layout as text, with the shape that it was made for."""

    layout: SymLayout
    shape: tuple[str, ...]

    def sizes(self) -> list:
        return sizes(self.shape)


def sizes(texts: Sequence[str]) -> list:
    """The sizes that texts are, with Dims."""
    return [number(text, DIMS) for text in texts]


def numbers(texts: Sequence[str], point: dict[str, int]) -> list[int]:
    return [number(text, point) for text in texts]


def plain_at(layout: SymLayout, point: dict[str, int]) -> Plain:
    shard, replica, moved = layout.parts(point)
    return Plain(tuple(shard), tuple(replica), tuple(moved.items()), layout.swizzle)


def symbolic(
    rng: random.Random,
    *,
    rank: int | None = None,
    axes: Sequence[str] = ("m", "m", "laneid", "warpid"),
    replicas: bool = True,
    signs: bool = True,
    shape: Sequence[tuple[str, ...]] | None = None,
) -> Symbolic:
    """A layout for a shape whose sizes are products of Dims and numbers.

    Strides that leave room, in some order of the iters; here and there one that is negative, zero,
    padded, or just a number.
    """
    if shape is None:
        rank = rng.choice((1, 2, 2, 3)) if rank is None else rank
        shape = [rng.choice(FACTORS) for _ in range(rank)]
    factors = [factor for dimension in shape for factor in dimension]
    copied = rng.choice((("2",), ("N",), ("3",))) if replicas and rng.random() < 0.3 else ()
    every = [*factors, *copied]
    own = [rng.choice(axes) for _ in every]
    order = list(range(len(every)))
    if rng.random() < 0.5:
        order.reverse()
    else:
        rng.shuffle(order)
    room = dict.fromkeys(axes, "1")
    strides = [""] * len(every)
    for k in order:
        stride = room[own[k]]
        if rng.random() < 0.1:
            stride = plus(stride, rng.choice(("1", "J", "N")))
        strides[k] = stride
        room[own[k]] = times(stride, every[k])
    if signs:
        for k in range(len(every)):
            kind = rng.random()
            if kind < 0.08:
                strides[k] = f"-({strides[k]})"
            elif kind < 0.13:
                strides[k] = "0"
            elif kind < 0.18:
                strides[k] = rng.choice(("7", "N", "-2", "M + 1"))
    iters = [
        SymIter((factor,), stride, axis)
        for factor, stride, axis in zip(every, strides, own, strict=True)
    ]
    moved = {}
    if rng.random() < 0.3:
        moved[rng.choice(axes)] = rng.choice(("1", "J", "M", "0", "3*N"))
    made = SymLayout(
        tuple(iters[: len(factors)]), tuple(iters[len(factors) :]), tuple(moved.items())
    )
    return Symbolic(made, tuple(times(*dimension) for dimension in shape))


def points(*layouts: SymLayout, most: int = 200) -> Iterator[dict[str, int]]:
    """The values of the Dims at which these layouts together are small enough to enumerate."""
    for point in POINTS:
        count = 1
        for one in layouts:
            shard, replica, _ = one.parts(point)
            count *= prod(extent for extent, _, _ in (*shard, *replica))
        if count <= most:
            yield dict(point)
