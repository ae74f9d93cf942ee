"""Random problems for the search, in the library's words and as plain numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from layout_algebra import Dim
from layout_algebra.axes import m
from layout_algebra.layouts import TileLayout
from layout_algebra.memory import Buffer, MemoryTarget
from layout_algebra.synthesis import Pattern, pattern
from tests.synthesis.plain import PlainAccess, PlainTarget


def small_target(banks: int, bank_bytes: int, lanes: int) -> tuple[MemoryTarget, PlainTarget]:
    """A small memory: narrow accesses all lanes at once, wide ones by halves and by quarters."""
    groups = {
        2: [list(range(lanes))],
        4: [list(range(k, k + lanes // 2)) for k in range(0, lanes, lanes // 2)],
        16: [list(range(k, k + lanes // 4)) for k in range(0, lanes, lanes // 4)],
    }
    table = tuple((size, tuple(map(tuple, rows))) for size, rows in groups.items())
    target = MemoryTarget("small", banks, bank_bytes, lanes, table, table, 32, 128, "made up")
    return target, PlainTarget(banks, bank_bytes, groups)


@dataclass
class RandomAccess:
    """A pattern, and the same as numbers."""

    kind: str
    pattern: Pattern
    plain: PlainAccess


@dataclass
class Problem:
    buffer: Buffer
    #: the place of each element under the buffer's own layout
    places: list[int]
    accesses: list[RandomAccess]
    target: MemoryTarget
    plain_target: PlainTarget

    @property
    def reads(self) -> list[Pattern]:
        return [one.pattern for one in self.accesses if one.kind == "read"]

    @property
    def writes(self) -> list[Pattern]:
        return [one.pattern for one in self.accesses if one.kind == "write"]

    @property
    def in_order(self) -> list[RandomAccess]:
        """As the search counts them, reads first."""
        return sorted(self.accesses, key=lambda one: one.kind)


def random_problem(chance: random.Random) -> Problem:
    """A small tile, one or two accesses, a small memory."""
    rows, columns = chance.choice([(4, 8), (8, 8), (4, 16), (8, 16), (16, 8), (6, 8), (8, 12)])
    bits = chance.choice([4, 8, 16, 16, 32, 6])
    lanes = chance.choice([4, 8])
    target, plain_target = small_target(*chance.choice([(8, 2), (4, 4), (8, 4)]), lanes)
    align = chance.choice([1, 2, 4, 8, 16, 16, 16])
    buffer, places = _tile(chance, rows, columns, bits, align)
    accesses = [
        _access(chance, rows, columns, bits, lanes) for _ in range(chance.choice([1, 1, 2]))
    ]
    return Problem(buffer, places, accesses, target, plain_target)


def _tile(
    chance: random.Random, rows: int, columns: int, bits: int, align: int
) -> tuple[Buffer, list[int]]:
    pitch = columns + chance.choice([0, 0, 0, 2, 8])
    offset = chance.choice([0, 0, 0, 4])
    strides = chance.choice([(pitch, 1), (pitch, 1), (1, rows)])
    tile = TileLayout.make(
        [(rows, strides[0], m), (columns, strides[1], m)], (), {m: offset} if offset else None
    )
    buffer = Buffer((rows, columns), str(bits), tile, align=align)
    places = [offset + i * strides[0] + j * strides[1] for i in range(rows) for j in range(columns)]
    return buffer, places


def _access(chance: random.Random, rows: int, columns: int, bits: int, lanes: int) -> RandomAccess:
    widths = [w for w in (1, 2, 4, 8) if columns % w == 0 and w * bits <= 128]
    width = chance.choice(widths)
    where = _where(chance, rows, columns // width, width)
    values = chance.choice([1, 2, 4])
    active_lanes = chance.choice([lanes, lanes, lanes - 1])
    free = [Dim("f", at_most=values - 1, at_least=0)] if values > 1 else []
    call = where if free else lambda lane: where(lane, 0)
    active: Callable[..., object] | None = None
    if active_lanes < lanes:
        active = (lambda lane, f: lane < lanes - 1) if free else (lambda lane: lane < lanes - 1)
    moments = []
    for f in range(values):
        moment = {}
        for lane in range(active_lanes):
            i, j = where(lane, f)
            moment[lane] = [i * columns + j + e for e in range(width)]
        moments.append(moment)
    given = pattern(call, lanes=lanes, bits=width * bits, free=free, active=active)
    return RandomAccess(chance.choice(["read", "write"]), given, PlainAccess(moments, width * bits))


def _where(chance: random.Random, rows: int, columns: int, width: int) -> Callable[..., tuple]:
    a, b, c, d, e, f = (chance.choice([0, 1, 1, 2, 3]) for _ in range(6))
    cut = chance.choice([1, 2, 4])
    return lambda lane, free: (
        (a * lane + b * (lane // cut) + c * free) % rows,
        (d * lane + e * (lane // cut) + f * free) % columns * width,
    )
