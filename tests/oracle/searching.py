"""The recognisers' answers, held to the law: what they find gives back the whole, and where they
find nothing there is nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests import bruteforce as bf
from tests.algebra import laws
from tests.algebra.laws import Shape
from tests.bruteforce import Place, Plain
from tests.oracle.judging import Layout, canonical, combined, fused_table
from tests.oracle.records import Record, plain

#: Where a line has the shape of its layout.
OWN_SHAPE = {
    "is_tile_inner": "inner_shape",
    "is_tile_outer": "outer_shape",
    "is_direct_sum_left": "left_shape",
    "is_direct_sum_right": "right_shape",
}


@dataclass(frozen=True)
class Search:
    """One part of a sum and the whole; the other part is looked for.

    Attributes:
        op: "tile" or "direct_sum".
        part, whole: canonical, bare swizzles in full; the whole for the target.
        part_is_slow: outer or left, not inner or right.
        shapes: of the slow part and of the fast one.
    """

    op: str
    part: Plain
    whole: Plain
    part_is_slow: bool
    shapes: tuple[Shape, Shape]
    target: str | None

    @classmethod
    def of(cls, record: Record) -> Search:
        args = record.args
        own = args[OWN_SHAPE[record.op]]
        part_is_slow = record.op in ("is_tile_outer", "is_direct_sum_left")
        if record.op.startswith("is_tile"):
            written, whole_shape = args["tiled"], args["tiled_shape"]
            other = laws.halves(whole_shape, own)
        else:
            written, whole_shape = args["sum"], args["interleaved_shape"]
            other = whole_shape[1 if part_is_slow else 0 :: 2]
        part, whole = plain(record.layout), plain(written)
        if part.swizzle == whole.swizzle:  # otherwise the whole is no shape of its own
            part, whole = laws.stands_for(part, own), laws.stands_for(whole, whole_shape)
        assert part is not None
        assert whole is not None
        return cls(
            "tile" if record.op.startswith("is_tile") else "direct_sum",
            canonical(part),
            canonical(whole, record.target),
            part_is_slow,
            (own, other) if part_is_slow else (other, own),
            record.target,
        )

    @property
    def swizzles_agree(self) -> bool:
        """A swizzled whole has the swizzle of its fast part; the slow part has none."""
        if self.part_is_slow and self.op == "tile":
            return self.part.swizzle is None
        return self.part.swizzle == self.whole.swizzle

    def finds(self, answer: Layout | None) -> bool:
        """Whether an answer is right: it gives back the whole, or there is provably none."""
        if answer is None:
            return self.has_none
        return self.swizzles_agree and self.gives_back_the_whole(plain(answer))

    def gives_back_the_whole(self, found: Plain) -> bool:
        if self.op == "tile" and self.part_is_slow and found.swizzle != self.whole.swizzle:
            return False
        part, found = laws.affine(self.part), laws.affine(found)
        slow, fast = (part, found) if self.part_is_slow else (found, part)
        table = combined(self.op, slow, fast, *self.shapes, self.target)
        return table == bf.table(laws.affine(self.whole))

    @property
    def has_none(self) -> bool:
        """A proof that no layout gives back the whole: some condition on any of them fails."""
        return not self.swizzles_agree or any(self._obstacles())

    def _reaches_beyond(self) -> bool:
        """Whether the part moves along levels that the whole does not go over."""
        pair = laws.scope(self.whole)
        moving = {axis for extent, stride, axis in self.part.shard if extent != 1 and stride != 0}
        if not isinstance(pair, tuple):
            return not moving.isdisjoint(laws.COUNTS)
        levels = [laws.COUNTS[axis] for axis in moving if axis in laws.COUNTS]
        finest, widest = map(laws.LEVELS.index, pair)
        return any(
            laws.LEVELS.index(child) < finest or laws.LEVELS.index(parent) > widest
            for child, parent in levels
        )

    def _obstacles(self) -> Iterator[bool]:
        yield self._reaches_beyond()
        whole, part = bf.table(laws.affine(self.whole)), bf.table(laws.affine(self.part))
        unfused, part = part, fused_table(part, self.whole, self.target)
        slow_shape, fast_shape = self.shapes
        ends = [o * n for o, n in zip(slow_shape, fast_shape, strict=True)]
        at = {
            (o, n): laws.flat([c * e + d for c, e, d in zip(o, fast_shape, n, strict=True)], ends)
            for o in laws.coordinates(slow_shape)
            for n in laws.coordinates(fast_shape)
        }
        where = [laws.corner(places) for places in whole]
        own = _steps([laws.corner(places) for places in part])
        zero_slow, zero_fast = (0,) * len(slow_shape), (0,) * len(fast_shape)
        yield laws.base_vectors(whole) is None
        yield _differences(whole[0], part[0]) is None
        if self.part_is_slow:
            found = _steps([where[at[zero_slow, n]] for n in laws.coordinates(fast_shape)])
            yield not laws.lines(found, fast_shape)
            scales = self._scales(found, whole[0], part[0]) if unfused == part else {}
            for (o, n), position in at.items():
                step = laws.subtracted(where[position], where[at[zero_slow, n]])
                moved = own[laws.flat(o, slow_shape)]
                for axis in {axis for axis, _ in (*step, *moved)}:
                    possible = scales.get(axis)
                    if possible is None:  # fused: scaled by some number before it was
                        possible = set(range(1, abs(bf.at(step, axis)) + 1))
                    scales[axis] = {
                        w for w in possible if w * bf.at(moved, axis) == bf.at(step, axis)
                    }
            yield any(not possible for possible in scales.values())
            return
        yield any(
            laws.subtracted(where[position], where[at[o, zero_fast]])
            != own[laws.flat(n, fast_shape)]
            for (o, n), position in at.items()
        )
        found = _steps([where[at[o, zero_fast]] for o in laws.coordinates(slow_shape)])
        if self.op == "tile" and self.target is None:
            factors = {a: bf.span(laws.affine(self.part), a) for a in laws.scaled_axes(self.part)}
            yield any(value % factors.get(axis, 1) for step in found for axis, value in step)
        yield not laws.lines(found, slow_shape)

    def _scales(
        self, found: Sequence[Place], whole: frozenset[Place], part: frozenset[Place]
    ) -> dict[str, set[int]]:
        """By how much an inner layout with these steps may scale the outer one, axis by axis.

        On an axis on which it does not move it may have an iter all the same, or not.
        """
        scales: dict[str, set[int]] = {}
        axes = set(bf.axes(self.whole)) | set(bf.axes(self.part))
        for axis in axes | {axis for place in (*whole, *part) for axis, _ in place}:
            steps = [bf.at(step, axis) for step in found]
            low, high = (
                pick(bf.at(p, axis) for p in whole) - pick(bf.at(p, axis) for p in part)
                for pick in (min, max)
            )
            span = high + max(steps) - min(0, low + min(steps)) + 1
            still = not any(steps)
            scales[axis] = {1} if self.op == "direct_sum" else {span, 1} if still else {span}
        return scales


def _steps(vectors: Sequence[Place]) -> list[Place]:
    return [laws.subtracted(vector, vectors[0]) for vector in vectors]


def _differences(whole: frozenset[Place], part: frozenset[Place]) -> set[Place] | None:
    """The largest set X with X + part = whole; None: there is no such set."""
    first = next(iter(part))
    found = {
        x
        for x in {laws.subtracted(place, first) for place in whole}
        if all(laws.added(x, place) in whole for place in part)
    }
    return found if {laws.added(x, place) for x in found for place in part} == whole else None
