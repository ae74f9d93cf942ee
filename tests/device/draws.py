"""Random layouts and maps for the tests of generated code, each with what it means.

layout, plain = draw_layout(random.Random(3))
source, values = draw_map(random.Random(3))     # values(point): what Python calculates
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from layout_algebra.conditions import Condition
from layout_algebra.maps import Map
from tests.bruteforce import Plain
from tests.building import Scene, built, random_term
from tests.generators import random_layout

#: Places of one drawn layout, at most.
MOST_PLACES = 400


def draw_layout(rng: random.Random, **options: Any) -> tuple[Any, Plain]:
    """A small layout of any kind, and its plain data."""
    plain = random_layout(rng, max_places=MOST_PLACES, **options)
    return built(plain), plain


def draw_map(
    rng: random.Random, *, guarded: bool = False
) -> tuple[Map, Callable[[dict[str, int]], dict[str, int]]]:
    """A map with terms of every kind, and a function of a point that gives its places.

    With a guard, the function also gives `guard`: 1 where it holds, else 0.
    """
    scene = Scene.drawn(rng, symbolic=False)
    made = [random_term(rng, scene, rng.randint(1, 3)) for _ in range(rng.randint(1, 3))]
    outputs = tuple((f"a{k}", term) for k, (term, _) in enumerate(made))
    conditions = []
    for _ in range(rng.randint(1, 2) if guarded else 0):
        term, function = random_term(rng, scene, 2)
        conditions.append((rng.choice((">=", "==", "!=")), term, function))
    guard = tuple(Condition(kind, term) for kind, term, _ in conditions)

    def values(point: dict[str, int]) -> dict[str, int]:
        found = {f"a{k}": function(point) for k, (_, function) in enumerate(made)}
        if guarded:
            holds = {">=": lambda x: x >= 0, "==": lambda x: x == 0, "!=": lambda x: x != 0}
            found["guard"] = int(all(holds[kind](f(point)) for kind, _, f in conditions))
        return found

    return Map(tuple(scene.variables), outputs, (), guard), values


def points_of(source: Map) -> list[dict[str, int]]:
    """Every value of a map's coordinates, by name, in the order of the flat index; guard or not."""
    points: list[dict[str, int]] = [{}]
    for variable in source.coordinates:
        values = range(variable.low, variable.high + 1)
        points = [{**point, variable.name: value} for point in points for value in values]
    return points
