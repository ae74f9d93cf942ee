"""CuTe's definitions by enumeration, from plain nested tuples: no import of the package.

A layout is a pair (shape, stride).  Everything is looked at element by element; whether a list of
values is a layout is decided by trying every mixed-radix factorisation of its length.
"""

from __future__ import annotations

import random
from itertools import product
from math import prod


def leaves(nested):
    if isinstance(nested, tuple):
        return [leaf for part in nested for leaf in leaves(part)]
    return [nested]


def parts(nested):
    return nested if isinstance(nested, tuple) else (nested,)


def size(shape):
    return prod(leaves(shape))


def table(shape, stride):
    """The values of all indices; itertools.product counts through the last factor first."""
    sizes, steps = leaves(shape)[::-1], leaves(stride)[::-1]
    return [
        sum(c * d for c, d in zip(digits, steps, strict=True))
        for digits in product(*(range(s) for s in sizes))
    ]


def factorisations(n):
    """Every ordered list of factors of at least 2 with product n."""
    if n == 1:
        yield []
    for first in range(2, n + 1):
        if n % first == 0:
            for rest in factorisations(n // first):
                yield [first, *rest]


def is_layout(values):
    """Whether some mixed radix and some strides give these values, the first digit fastest."""
    for radices in factorisations(len(values)):
        weights = [prod(radices[:k]) for k in range(len(radices))]
        made = table(tuple(radices), tuple(values[w] for w in weights))
        if made == values:
            return True
    return False


def composite(a, b):
    """The values of a(b(i)) for every index of b; None when b leaves a."""
    left, right = table(*a), table(*b)
    if any(not 0 <= y < len(left) for y in right):
        return None
    return [left[y] for y in right]


def is_layout_by_modes(values, mode_sizes):
    """Whether values (over the modes, first fastest) are a sum of one layout for each mode."""
    singles = []
    weight = 1
    for count in mode_sizes:
        singles.append([values[c * weight] for c in range(count)])
        weight *= count
    summed = [
        sum(single[c] for single, c in zip(singles, digits[::-1], strict=True))
        for digits in product(*(range(count) for count in mode_sizes[::-1]))
    ]
    return summed == values and all(is_layout(single) for single in singles)


def composition_exists(a, b):
    values = composite(a, b)
    return values is not None and is_layout_by_modes(values, [size(s) for s in parts(b[0])])


def shifts(a, places):
    """The ascending shifts by which a's image fills 0..N-1, N >= places whole blocks; else None.

    Strides of 0 are left out first, and what is left must put no two elements together.  Greedy:
    the lowest free place must be filled by the image's 0.
    """
    kept = [(s, d) for s, d in zip(leaves(a[0]), leaves(a[1]), strict=True) if d != 0 and s != 1]
    image = table(tuple(s for s, _ in kept), tuple(d for _, d in kept))
    if min(image) < 0 or len(set(image)) != len(image):
        return None
    covered: set[int] = set()
    found = []
    low = 0
    while not (low >= places and len(covered) == low and found):
        if low > places + 2 * (max(image) + 1):
            return None
        moved = {low + y for y in image}
        if moved & covered:
            return None
        covered |= moved
        found.append(low)
        while low in covered:
            low += 1
    return found


# -- random layouts ------------------------------------------------------------------------------
def random_sizes(rng: random.Random, most: int, count: int):
    sizes = []
    for _ in range(rng.randint(1, count)):
        fitting = [n for n in (1, 2, 2, 3, 4, 4, 5, 6, 8, 10, 12) if n * prod(sizes) <= most]
        sizes.append(rng.choice(fitting))
    return sizes


def compact(sizes, rng: random.Random):
    """Strides of a compact layout whose sizes grow in a random order."""
    order = list(range(len(sizes)))
    rng.shuffle(order)
    strides, below = [0] * len(sizes), rng.choice((1, 1, 1, 2, 3))
    for k in order:
        strides[k] = below
        below *= sizes[k] * rng.choice((1, 1, 1, 1, 2, 3))
    return strides


def nest(flat, rng: random.Random):
    """A random nesting, and a function that puts another list in the same one."""
    cuts = sorted(rng.sample(range(1, len(flat)), rng.randint(0, len(flat) - 1)))
    bounds = list(zip([0, *cuts], [*cuts, len(flat)], strict=True))

    def arrange(items):
        if len(items) == 1 and rng_alone:
            return items[0]
        return tuple(items[i] if j - i == 1 else tuple(items[i:j]) for i, j in bounds)

    rng_alone = rng.random() < 0.5
    return arrange


def random_layout(rng: random.Random, most: int = 96, count: int = 4, negative: bool = False):
    sizes = random_sizes(rng, most, count)
    strides = compact(sizes, rng)
    style = rng.random()
    if style < 0.25:
        strides = [rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 12)) for _ in sizes]
    if negative and rng.random() < 0.1:
        strides[rng.randrange(len(strides))] *= -1
    arrange = nest(sizes, rng)
    return arrange(sizes), arrange(strides)


def random_right(rng: random.Random, domain: int):
    """A right layout that mostly stays in 0..domain-1, with strides that often divide something."""
    divisors = [d for d in range(1, domain + 1) if domain % d == 0]
    sizes, strides, room = [], [], domain - 1
    for _ in range(rng.randint(1, 3)):
        stride = rng.choice((*divisors, *divisors, 1, 1, 2, 3, 5, 0))
        most = 12 if stride == 0 else min(12, room // stride + 1)
        extent = rng.randint(1, max(1, most))
        if rng.random() < 0.03:
            extent += rng.randint(1, 3)
        sizes.append(extent)
        strides.append(stride)
        room = max(0, room - (extent - 1) * stride)
    arrange = nest(sizes, rng)
    return arrange(sizes), arrange(strides)
