"""What several test files build: layouts from plain data, random sizes, random terms.

A random size or term comes with a plain Python function of a point, so that whatever the package
makes of it can be compared with what Python calculates.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from layout_algebra import terms
from layout_algebra.dims import Dim, Polynomial, Size, evaluate, floordiv
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.terms import Term, Var
from layout_algebra.values import Swizzled, Tile
from tests.bruteforce import Plain

Point = Mapping[str, int]
Evaluate = Callable[[Point], int]


def built(plain: Plain) -> TileLayout | ComposeLayout:
    """The layout that plain data describe."""
    tile = TileLayout.from_iters(plain.shard, plain.replica, dict(plain.offset))
    if plain.swizzle is None:
        return tile
    per_element, swizzle_len, atom_len, inner = plain.swizzle
    return ComposeLayout(per_element, swizzle_len, atom_len, tile, inner)


def plain_of(layout: Tile | Swizzled) -> Plain:
    """The plain data of a concrete layout."""
    tile = layout.affine
    shard, replica = (
        tuple((extent, stride, axis.name) for extent, stride, axis in part)
        for part in (tile.shard, tile.replica)
    )
    offset = tuple((axis.name, value) for axis, value in tile.offsets)
    if isinstance(layout, Tile):
        return Plain(shard, replica, offset)
    s = layout.swizzle
    return Plain(
        shard, replica, offset, (s.per_element, s.swizzle_len, s.atom_len, s.swizzle_inner)
    )


# ------------------------------------------------------------------------------- sizes


@dataclass(frozen=True)
class KnownDim:
    """A Dim and the values that its constraints admit."""

    name: str
    multiple_of: int = 1
    at_least: int = 0
    at_most: int | None = None

    @property
    def dim(self) -> Polynomial:
        return Dim(
            self.name,
            multiple_of=self.multiple_of,
            at_least=self.at_least,
            at_most=self.at_most,
        )

    def value(self, rng: random.Random, *, most: int = 40, positive: bool = False) -> int:
        """A random value that the constraints admit; at least 1 if asked."""
        low = -(-max(self.at_least, 1 if positive else self.at_least) // self.multiple_of)
        high = most if self.at_most is None else self.at_most
        return self.multiple_of * rng.randint(low, max(low, high // self.multiple_of))


def random_dims(rng: random.Random, names: str = "KMN") -> list[KnownDim]:
    """Dims with constraints of every sort."""
    found = []
    for name in names:
        multiple_of = rng.choice((1, 1, 2, 8))
        at_least = rng.choice((0, 0, 1, 8, -5))
        at_most = rng.choice((None, None, 24, 40))
        found.append(KnownDim(name, multiple_of, at_least, at_most))
    return found


def random_size(
    rng: random.Random, dims: list[KnownDim], depth: int, *, divisions: bool = True
) -> tuple[Size, Evaluate]:
    """A size and the function that Python has for it; divisors are positive at every point."""
    if depth == 0 or rng.random() < 0.15:
        if rng.random() < 0.35:
            number = rng.choice((-8, -3, -1, 0, 1, 2, 3, 4, 8, 64))
            return number, lambda point: number
        known = rng.choice(dims)
        return known.dim, lambda point: point[known.name]
    a, f = random_size(rng, dims, depth - 1, divisions=divisions)
    kind = rng.choice("++--***//%" if divisions else "++--***")
    if kind in "/%":
        if rng.random() < 0.7:
            number = rng.choice((1, 2, 3, 4, 8, 16))
            b, g = number, lambda point: number
        else:  # 2*n*n + 3 is positive whatever n is
            n, h = random_size(rng, dims, 0)
            b, g = 2 * n * n + 3, lambda point: 2 * h(point) ** 2 + 3
        quotient = floordiv(a, b)
        if kind == "/":
            return quotient, lambda point: f(point) // g(point)
        return a - quotient * b, lambda point: f(point) % g(point)
    b, g = random_size(rng, dims, depth - 1, divisions=divisions)
    if kind == "+":
        return a + b, lambda point: f(point) + g(point)
    if kind == "-":
        return a - b, lambda point: f(point) - g(point)
    return a * b, lambda point: f(point) * g(point)


# ------------------------------------------------------------------------------- terms


@dataclass
class Scene:
    """Coordinates and Dims that random terms are made of."""

    variables: list[Var]
    dims: list[KnownDim]

    @classmethod
    def drawn(cls, rng: random.Random, *, symbolic: bool) -> Self:
        dims = []
        if symbolic:
            dims = [KnownDim("M", rng.choice((1, 8)), at_least=1), KnownDim("N", 4, 0, 64)]
        variables = []
        for name in "ijk":
            low = rng.choice((0, 0, 0, 0, -5, 3))
            variables.append(terms.var(name, low, low + rng.choice((0, 1, 3, 4, 7, 11))))
        if symbolic:
            variables.append(terms.coordinate("s", rng.choice((1, 4, 3)) * dims[0].dim))
        return cls(variables, dims)

    def point(self, rng: random.Random) -> dict[str, int]:
        """A value for every Dim and every coordinate, in its range."""
        values = {known.name: known.value(rng, most=20) for known in self.dims}
        for variable in self.variables:
            low, high = (evaluate(bound, values) for bound in (variable.low, variable.high))
            values[variable.name] = rng.choice((low, high, rng.randint(low, high)))
        return values

    def sizes(self, rng: random.Random, *, positive: bool) -> tuple[Size, Evaluate]:
        """A number, or something with a Dim in it."""
        if self.dims and rng.random() < 0.3:
            factor = rng.choice((1, 1, 4, 8))
            known = self.dims[0]  # at least 1
            return factor * known.dim, lambda point: factor * point[known.name]
        number = rng.choice((1, 2, 3, 4, 8, 12, 64) if positive else (-7, -1, 0, 1, 2, 3, 8, 64))
        return number, lambda point: number


def random_term(rng: random.Random, scene: Scene, depth: int) -> tuple[Term, Evaluate]:
    """A term made by the simplifying constructors, and what Python calculates for it."""
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.2:
            size, g = scene.sizes(rng, positive=False)
            return terms.const(size), g
        variable = rng.choice(scene.variables)
        return variable, lambda point: point[variable.name]
    return rng.choice(MAKERS)(rng, scene, depth - 1)


def _sum(rng, scene, depth):
    parts = []
    for _ in range(rng.randint(1, 4)):
        term, f = random_term(rng, scene, depth if rng.random() < 0.4 else 0)
        parts.append((term, f, *scene.sizes(rng, positive=False)))
    constant, h = scene.sizes(rng, positive=False)
    made = terms.linear([(term, size) for term, _, size, _ in parts], constant)
    return made, lambda point: h(point) + sum(f(point) * g(point) for _, f, _, g in parts)


def _product(rng, scene, depth):
    (a, f), (b, g) = random_term(rng, scene, depth), random_term(rng, scene, 0)
    return terms.multiply(a, b), lambda point: f(point) * g(point)


def _floordiv(rng, scene, depth):
    (a, f), (size, g) = random_term(rng, scene, depth), scene.sizes(rng, positive=True)
    return terms.floordiv(a, size), lambda point: f(point) // g(point)


def _mod(rng, scene, depth):
    (a, f), (size, g) = random_term(rng, scene, depth), scene.sizes(rng, positive=True)
    return terms.mod(a, size), lambda point: f(point) % g(point)


def _digit(rng, scene, depth):
    a, f = random_term(rng, scene, depth)
    radices = [scene.sizes(rng, positive=True) for _ in range(rng.randint(1, 4))]
    k = rng.randrange(len(radices))
    made = terms.split(a, [size for size, _ in radices])[k]

    def evaluate(point):
        flat = f(point)
        for _, g in reversed(radices[k + 1 :]):
            flat //= g(point)
        return flat % radices[k][1](point) if k else flat

    return made, evaluate


def _bitwise(rng, scene, depth):
    (a, f), (b, g) = random_term(rng, scene, depth), random_term(rng, scene, depth)
    kind = rng.choice("^&|")
    if kind == "^":
        return terms.xor(a, b), lambda point: f(point) ^ g(point)
    if kind == "&":
        return terms.bit_and(a, b), lambda point: f(point) & g(point)
    return terms.bit_or(a, b), lambda point: f(point) | g(point)


def _shift(rng, scene, depth):
    a, f = random_term(rng, scene, depth)
    variable, modulus = rng.choice(scene.variables), rng.choice((1, 2, 4))
    amount, bits = terms.mod(variable, modulus), lambda point: point[variable.name] % modulus
    if rng.random() < 0.5:
        number = rng.randint(0, 4)
        amount, bits = terms.const(number), lambda point: number
    if rng.random() < 0.5:
        return terms.shift_left(a, amount), lambda point: f(point) << bits(point)
    return terms.shift_right(a, amount), lambda point: f(point) >> bits(point)


MAKERS = (_sum, _sum, _sum, _product, _floordiv, _mod, _digit, _digit, _bitwise, _shift)
