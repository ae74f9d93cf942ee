"""What each operation means, by enumeration on plain data.

Nothing here is imported from the package.  A *table* is the whole map of a layout: the set of
places of every flat index.  Every law says which table an operation's result has, or whether a
result exists at all; it looks at every element, and is slow on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product
from math import prod

from tests import bruteforce as bf
from tests.bruteforce import Place, Plain

Table = list[frozenset[Place]]
Vector = dict[str, int]
Shape = Sequence[int]


# ----------------------------------------------------------------------------- places


def added(a: Place, b: Place) -> Place:
    """The sum of two places, axis by axis."""
    if not a or not b:
        return a or b
    values = dict(a)
    for axis, value in b:
        values[axis] = values.get(axis, 0) + value
    return bf.make_place(values)


def subtracted(a: Place, b: Place) -> Place:
    return added(a, tuple((axis, -value) for axis, value in b))


def corner(places: Iterable[Place]) -> Place:
    """The least value on every axis: it moves with the places, wherever they are moved."""
    found = [dict(place) for place in places]
    axes = {axis for place in found for axis in place}
    return bf.make_place({axis: min(place.get(axis, 0) for place in found) for axis in axes})


def at_swizzled(table: Table, swizzle: tuple[int, int, int, bool] | None) -> Table:
    """Every place's number on m sent through the swizzle."""
    if swizzle is None:
        return table
    return [
        frozenset(
            bf.make_place({**dict(p), "m": bf.swizzled(bf.at(p, "m"), swizzle)}) for p in places
        )
        for places in table
    ]


def affine(plain: Plain) -> Plain:
    """The tile under the swizzle."""
    return replace(plain, swizzle=None) if plain.swizzle else plain


def flat(coordinate: Sequence[int], shape: Shape) -> int:
    """Row-major: the last dimension moves fastest."""
    found = 0
    for value, size in zip(coordinate, shape, strict=True):
        found = found * size + value
    return found


def coordinates(shape: Shape) -> Iterator[tuple[int, ...]]:
    return product(*(range(size) for size in shape))


# ----------------------------------------------------------------------------- scopes

#: Thread axis -> (what it counts, in what).
COUNTS = {
    "bx": ("cta", "kernel"),
    "by": ("cta", "kernel"),
    "bz": ("cta", "kernel"),
    "cbx": ("cta", "cluster"),
    "cby": ("cta", "cluster"),
    "cbz": ("cta", "cluster"),
    "tx": ("thread", "cta"),
    "warpid": ("warp", "cta"),
    "laneid": ("thread", "warp"),
    "wgid": ("warpgroup", "cta"),
    "tid_in_wg": ("thread", "warpgroup"),
    "wid_in_wg": ("warp", "warpgroup"),
}
#: Finest first.
LEVELS = ("thread", "warp", "warpgroup", "cta", "cluster", "kernel")
#: Threads in one.
THREADS = {"thread": 1, "warp": 32, "warpgroup": 128}
MEMORY = ("m", "P", "F", "Bank", "TCol", "TLane")

ILL_FORMED = "ill formed"


def scope(plain: Plain) -> tuple[str, str] | str | None:
    """(finest child, widest parent); None without a shard iter on a thread axis; or ILL_FORMED."""
    if not any(axis in COUNTS for _, _, axis in plain.shard):
        return None
    links = {COUNTS[axis] for axis in bf.axes(plain) if axis in COUNTS}
    chain = sorted(links, key=lambda link: LEVELS.index(link[0]))
    for (child, parent), (next_child, _) in pairwise(chain):
        if child == next_child or parent != next_child:
            return ILL_FORMED
    return chain[0][0], chain[-1][1]


def reduced(plain: Plain) -> Plain:
    """Without unit iters (one stays where there is nothing else) and without offsets of 0."""
    shard = tuple(it for it in plain.shard if it[0] != 1)
    if not shard:
        shard = tuple((1, 1, axis) for _, _, axis in plain.shard[:1])
    offset = tuple((axis, value) for axis, value in plain.offset if value != 0)
    return replace(plain, shard=shard, offset=offset)


def well_formed(plain: Plain) -> bool:
    """Thread axes chain; a swizzled tile is on m alone."""
    return scope(plain) != ILL_FORMED and not (
        plain.swizzle and any(axis != "m" for axis in bf.axes(plain))
    )


def fused_place(place: Place, pair: tuple[str, str] | str | None) -> Place:
    """Every thread axis's number counted in the finest children within the widest parent."""
    if not isinstance(pair, tuple) or pair[1] not in ("warpgroup", "cta"):
        return place
    onto = next((axis for axis, link in COUNTS.items() if link == pair), None)
    if onto is None or pair[0] not in THREADS:
        return place
    values: Vector = {}
    for axis, value in place:
        if axis in COUNTS:
            value *= THREADS[COUNTS[axis][0]] // THREADS[pair[0]]
            axis = onto
        values[axis] = values.get(axis, 0) + value
    return bf.make_place(values)


def fused(plain: Plain, pair: tuple[str, str] | str | None) -> Table:
    """The table on the fused axes; the swizzle, if any, is on m and does not care."""
    return [frozenset(fused_place(p, pair) for p in places) for places in bf.table(plain)]


#: (axis, level) -> (outer axis, inner axis, inner places in an outer one).
FALLS_APART = {
    ("tx", "warp"): ("warpid", "laneid", 32),
    ("tx", "warpgroup"): ("wgid", "tid_in_wg", 128),
    ("tid_in_wg", "warp"): ("wid_in_wg", "laneid", 32),
    ("warpid", "warpgroup"): ("wgid", "wid_in_wg", 4),
}


def split_place(place: Place, level: str) -> Place:
    """Every thread axis's number taken apart at a level, by quotient and remainder."""
    values: Vector = {}
    for axis, value in place:
        parts = {axis: value}
        if (axis, level) in FALLS_APART:
            outer, inner, size = FALLS_APART[axis, level]
            parts = {outer: value // size, inner: value % size}
        for onto, number in parts.items():
            values[onto] = values.get(onto, 0) + number
    return bf.make_place(values)


# --------------------------------------------------------------------------- canonical


def is_canonical(plain: Plain) -> bool:
    """TIRx's form: no units (but one for a layout of one element), nothing to merge, copies
    sorted."""
    units = [it for it in plain.shard if it[0] == 1]
    if units and (len(plain.shard) > 1 or units[0][1] != 1):
        return False
    for (_, s, a), (e, t, b) in pairwise(plain.shard):
        if a == b and e * t == s:
            return False
    copies = [(axis, stride, extent) for extent, stride, axis in plain.replica]
    if copies != sorted(copies) or any(extent == 1 for _, _, extent in copies):
        return False
    return all(value != 0 for _, value in plain.offset)


def is_identity(plain: Plain) -> bool:
    """On one memory axis every element is at its own number, and there are no copies.

    A layout of one element is at 0 on any axis: there the axis of its first iter decides.
    """
    if plain.swizzle or any(extent != 1 for extent, _, _ in plain.replica):
        return False
    table = bf.table(plain)
    if len(table) == 1:
        on_memory = not plain.shard or plain.shard[0][2] in MEMORY
        return on_memory and table[0] == {()}
    return any(
        all(places == {bf.make_place({axis: f})} for f, places in enumerate(table))
        for axis in MEMORY
    )


def is_consecutive(plain: Plain) -> bool:
    """Element f is at first + f on m; no other axis is mentioned, no copies are."""
    if plain.swizzle or plain.replica or any(axis != "m" for axis in bf.axes(plain)):
        return False
    found = [bf.address(plain, f) for f in range(bf.size(plain))]
    return found == [found[0] + f for f in range(len(found))]


# ------------------------------------------------------------------------------ cutting


def ends(sizes: Shape) -> list[int]:
    """1 and the products of the last size, the last two, ..."""
    found = [1]
    for size in reversed(sizes):
        found.append(found[-1] * size)
    return found


def can_group(plain: Plain, shape: Shape) -> bool:
    """Every boundary of the shape lies on one of the iters', or cuts one into whole parts."""
    extents = [extent for extent, _, _ in plain.shard]
    if prod(extents) != prod(shape) or (shape and not extents):
        return False
    iters = list(pairwise(ends(extents)))
    return all(
        end == 1 or any(end % low == 0 and high % end == 0 for low, high in iters)
        for end in ends(shape)
    )


def can_group_many(plain: Plain, shapes: Sequence[Shape]) -> bool:
    """All boundaries together, ordered, divide one another."""
    extents = [extent for extent, _, _ in plain.shard]
    if (
        not extents
        or not shapes
        or any(not shape or prod(shape) != prod(extents) for shape in shapes)
    ):
        return False
    every = sorted({end for sizes in (extents, *shapes) for end in ends(sizes)})
    return all(high % low == 0 for low, high in pairwise(every))


# ------------------------------------------------------------------------- sums, tiles


def summed(slow: Table, fast: Table, slow_shape: Shape, fast_shape: Shape) -> Table:
    """x_d = o_d * fast_d + n_d: the sum of the places of o and of n, copy with copy."""
    found = []
    whole = [o * n for o, n in zip(slow_shape, fast_shape, strict=True)]
    for x in coordinates(whole):
        o = flat([c // n for c, n in zip(x, fast_shape, strict=True)], slow_shape)
        n = flat([c % n for c, n in zip(x, fast_shape, strict=True)], fast_shape)
        found.append(frozenset(added(p, q) for p in slow[o] for q in fast[n]))
    return found


def scaled_axes(inner: Plain) -> set[str]:
    """The axes of the shard; units do not count, unless there is nothing else: then the first."""
    return {axis for _, _, axis in reduced(inner).shard}


def scaled(outer: Plain, inner: Plain) -> Plain:
    """Outer's shard strides times inner's span; its copies and its offset stay."""
    factors = {axis: bf.span(affine(inner), axis) for axis in scaled_axes(inner)}
    shard = tuple((e, s * factors.get(axis, 1), axis) for e, s, axis in outer.shard)
    return replace(outer, shard=shard)


def tiled(inner: Plain, outer: Plain, outer_shape: Shape, inner_shape: Shape) -> Table:
    """inner repeated over outer; a swizzle acts on the final place."""
    slow, fast = bf.table(scaled(outer, inner)), bf.table(affine(inner))
    return at_swizzled(summed(slow, fast, outer_shape, inner_shape), inner.swizzle)


def direct_sum(right: Plain, left: Plain, left_shape: Shape, right_shape: Shape) -> Table:
    slow, fast = bf.table(left), bf.table(affine(right))
    return at_swizzled(summed(slow, fast, left_shape, right_shape), right.swizzle)


def mixed(slow: Plain, fast: Plain) -> Plain:
    """The iters, copies and offsets of both: what decides the scope of a sum."""
    offset = dict(slow.offset)
    for axis, value in fast.offset:
        offset[axis] = offset.get(axis, 0) + value
    return reduced(Plain(slow.shard + fast.shard, slow.replica + fast.replica, offset))


def row_major(shape: Shape, axis: str = "m") -> Plain:
    strides = ends(shape)[-2::-1] if shape else []
    return Plain(tuple((e, s, axis) for e, s in zip(shape, strides, strict=True)))


def is_bare(plain: Plain) -> bool:
    """A swizzle over the identity on m as it is written."""
    if plain.swizzle is None or plain.replica or plain.offset or len(plain.shard) > 1:
        return False
    return all(stride == 1 and axis == "m" for _, stride, axis in plain.shard)


def period(swizzle: tuple[int, int, int, bool]) -> int:
    """Addresses in a block that the swizzle keeps in place."""
    p, b, a, _ = swizzle
    return 1 << (p + a + b) if b else 1


def stands_for(plain: Plain, shape: Shape) -> Plain | None:
    """A bare swizzle over a shape: the identity over it. None: it cannot stand for that shape."""
    if not is_bare(plain):
        return plain
    count = prod(shape)
    if count % period(plain.swizzle) and count != bf.size(plain):
        return None
    return Plain(((count, 1, "m"),), (), (), plain.swizzle)


# ------------------------------------------------------------------------------- parts


def restricted(table: Table, shape: Shape, region: Sequence[tuple[int, int]]) -> Table:
    """The table of a box of the shape."""
    ranges = (range(begin, end) for begin, end in region)
    return [table[flat(x, shape)] for x in product(*ranges)]


def is_layout(vectors: Sequence[Place]) -> bool:
    """Whether some iters and an offset put element x at vectors[x]: all of them are tried."""
    count = len(vectors)
    if count == 1:
        return True
    step = subtracted(vectors[1], vectors[0])
    if len(step) > 1:
        return False
    for extent in range(2, count + 1):
        if subtracted(vectors[extent - 1], vectors[extent - 2]) != step:
            return False
        on_lines = count % extent == 0 and all(
            subtracted(vectors[x], vectors[x - 1]) == step for x in range(count) if x % extent
        )
        if on_lines and is_layout(vectors[::extent]):
            return True
    return False


def base_vectors(table: Table) -> list[Place] | None:
    """One place for each element, when all have the same copies around it; None otherwise."""
    corners = [corner(places) for places in table]
    around = {
        frozenset(subtracted(place, first) for place in places)
        for places, first in zip(table, corners, strict=True)
    }
    return corners if len(around) == 1 else None


def has_layout(table: Table) -> bool:
    """Whether the map is that of a tile, copies aside."""
    vectors = base_vectors(table)
    return vectors is not None and is_layout(vectors)


# ------------------------------------------------------------------------------- edits


def permuted(plain: Plain, perm: Sequence[int]) -> Table:
    """Digit k of the result is digit perm[k] of the layout."""
    extents = [extent for extent, _, _ in plain.shard]
    table = bf.table(plain)
    found = []
    for digits in coordinates([extents[k] for k in perm]):
        own = [0] * len(extents)
        for k, digit in zip(perm, digits, strict=True):
            own[k] = digit
        found.append(table[flat(own, extents)])
    return found


def unpacked(table: Table, num: int, axis: str = "m") -> Table:
    """Element f*num + j is at num times the place of f, and j."""
    return [
        frozenset(bf.make_place({**dict(p), axis: bf.at(p, axis) * num + j}) for p in places)
        for places in table
        for j in range(num)
    ]


def packed(table: Table, num: int, axis: str = "m") -> Table | None:
    """The table of which this is the unpacking; None when it is of none."""
    if len(table) % num or any(bf.at(p, axis) % num for places in table[::num] for p in places):
        return None
    found = [
        frozenset(bf.make_place({**dict(p), axis: bf.at(p, axis) // num}) for p in places)
        for places in table[::num]
    ]
    return found if unpacked(found, num, axis) == table else None


def broadcast(table: Table, extents: Shape, num: int, position: int) -> Table:
    """A new digit at a position that does not matter."""
    shape = [*extents[:position], num, *extents[position:]]
    return [table[flat([*x[:position], *x[position + 1 :]], extents)] for x in coordinates(shape)]


def stored(plain: Plain) -> Table:
    """The places of the elements of thread 0, without the thread axes."""
    extents = [extent for extent, _, _ in plain.shard]
    kept = [axis not in COUNTS for _, _, axis in plain.shard]
    table = bf.table(plain)
    of_thread_0 = product(*(range(e if keep else 1) for e, keep in zip(extents, kept, strict=True)))
    return [
        frozenset(
            tuple(pair for pair in place if pair[0] not in COUNTS)
            for place in table[flat(x, extents)]
        )
        for x in of_thread_0
    ]


# ------------------------------------------------------------------------- recognisers

#: Copies are looked for among sums of progressions that reach no farther than this.
FARTHEST = 14


@cache
def sums_of_progressions() -> frozenset[frozenset[int]]:
    """Every set of numbers from 0 to at most FARTHEST that replica iters on one axis make."""
    found = {frozenset([0])}
    left = list(found)
    while left:
        one = left.pop()
        for stride in range(1, FARTHEST + 1):
            grown = one
            for extent in range(2, FARTHEST // stride + 2):
                grown = grown | {x + (extent - 1) * stride for x in one}
                if max(grown) > FARTHEST:
                    break
                if grown not in found:
                    found.add(grown)
                    left.append(grown)
    return frozenset(found)


def set_quotients(whole: frozenset[Place], part: frozenset[Place]) -> Iterator[frozenset[Place]]:
    """Every set of copies X, moved or not, with X + part = whole."""
    first, *_ = part
    largest = [
        x
        for x in {subtracted(place, first) for place in whole}
        if all(added(x, place) in whole for place in part)
    ]
    if not largest:
        return
    axes = sorted({axis for x in largest for axis, _ in x})
    values = {axis: sorted({bf.at(x, axis) for x in largest}) for axis in axes}
    for chosen in product(*(_progressions_in(values[axis]) for axis in axes)):
        found = frozenset(bf.make_place(dict(zip(axes, x, strict=True))) for x in product(*chosen))
        if found <= set(largest) and {added(x, p) for x in found for p in part} == whole:
            yield found


def _progressions_in(values: Sequence[int]) -> Iterator[tuple[int, ...]]:
    known = sums_of_progressions()
    for count in range(1, len(values) + 1):
        for chosen in combinations(values, count):
            if frozenset(x - chosen[0] for x in chosen) in known:
                yield chosen


def halves(shape: Shape, fast: Shape) -> list[int]:
    return [whole // part for whole, part in zip(shape, fast, strict=True)]


def lines(vectors: Sequence[Place], shape: Shape) -> bool:
    """Whether the vectors are a sum over the dimensions, each of which is a layout's."""
    parts = []
    for d in range(len(shape)):
        along = [0] * len(shape)
        part = []
        for x in range(shape[d]):
            along[d] = x
            part.append(subtracted(vectors[flat(along, shape)], vectors[0]))
        if not is_layout(part):
            return False
        parts.append(part)
    for x in coordinates(shape):
        total: Place = vectors[0]
        for part, digit in zip(parts, x, strict=True):
            total = added(total, part[digit])
        if total != vectors[flat(x, shape)]:
            return False
    return True


def _subtable(table: Table, slow: Shape, fast: Shape, *, vary: str) -> Table:
    """The table over the slow indices with the fast ones at 0, or the other way round."""
    whole = [o * n for o, n in zip(slow, fast, strict=True)]
    if vary == "slow":
        found = ([c * n for c, n in zip(x, fast, strict=True)] for x in coordinates(slow))
    else:
        found = (list(x) for x in coordinates(fast))
    return [table[flat(x, whole)] for x in found]


def left_exists(right: Plain, whole: Table, left_shape: Shape, right_shape: Shape) -> bool:
    """Whether some layout x has direct_sum(right, x) = whole."""
    return _slow_exists(bf.table(right), whole, left_shape, right_shape, {})


def outer_exists(inner: Plain, whole: Table, outer_shape: Shape, inner_shape: Shape) -> bool:
    """Whether some layout x has tile(inner, x) = whole."""
    factors = {axis: bf.span(inner, axis) for axis in scaled_axes(inner)}
    return _slow_exists(bf.table(inner), whole, outer_shape, inner_shape, factors)


def _slow_exists(
    fast: Table, whole: Table, slow_shape: Shape, fast_shape: Shape, factors: Mapping[str, int]
) -> bool:
    vectors = base_vectors(_subtable(whole, slow_shape, fast_shape, vary="slow"))
    if vectors is None:
        return False
    steps = [subtracted(vector, vectors[0]) for vector in vectors]
    if any(value % factors.get(axis, 1) for step in steps for axis, value in step):
        return False
    unscaled = [
        tuple((axis, value // factors.get(axis, 1)) for axis, value in step) for step in steps
    ]
    if not lines(unscaled, slow_shape):
        return False
    for copies in set_quotients(whole[0], fast[0]):
        slow = [frozenset(added(step, x) for x in copies) for step in steps]
        if summed(slow, fast, slow_shape, fast_shape) == whole:
            return True
    return False


def right_exists(left: Plain, whole: Table, left_shape: Shape, right_shape: Shape) -> bool:
    """Whether some layout x has direct_sum(x, left) = whole."""
    return any(
        summed(bf.table(left), fast, left_shape, right_shape) == whole
        for fast in _fast_candidates(left, whole, left_shape, right_shape)
    )


def inner_exists(outer: Plain, whole: Table, outer_shape: Shape, inner_shape: Shape) -> bool:
    """Whether some layout x has tile(x, outer) = whole.

    An axis on which x does not move may still be scaled, by a unit or an iter of stride 0 on it.
    """
    for fast in _fast_candidates(outer, whole, outer_shape, inner_shape):
        moving = {axis for places in fast for p in places for axis, _ in p}
        for used in _shard_axes(fast, inner_shape, moving | {a for _, _, a in outer.shard}):
            factors = {}
            for axis in used:
                values = [bf.at(p, axis) for places in fast for p in places]
                factors[axis] = max(values) - min(0, *values) + 1
            shard = tuple((e, s * factors.get(a, 1), a) for e, s, a in outer.shard)
            slow = bf.table(replace(outer, shard=shard))
            if summed(slow, fast, outer_shape, inner_shape) == whole:
                return True
    return False


def _fast_candidates(
    slow: Plain, whole: Table, slow_shape: Shape, fast_shape: Shape
) -> Iterator[Table]:
    vectors = base_vectors(_subtable(whole, slow_shape, fast_shape, vary="fast"))
    if vectors is None or not lines(vectors, fast_shape):
        return
    for copies in set_quotients(whole[0], bf.table(slow)[0]):
        yield [
            frozenset(added(subtracted(vector, vectors[0]), x) for x in copies)
            for vector in vectors
        ]


def _shard_axes(fast: Table, shape: Shape, axes: set[str]) -> Iterator[set[str]]:
    """The sets of axes on which a shard with this table may have iters: one more at most."""
    vectors = [subtracted(corner(places), corner(fast[0])) for places in fast]
    moving = {axis for vector in vectors for axis, _ in vector}
    yield moving
    still = len(fast) == 1 or any(
        vectors[flat([0] * d + [1] + [0] * (len(shape) - d - 1), shape)] == ()
        for d in range(len(shape))
        if shape[d] > 1
    )
    if still and shape:
        for axis in sorted(axes - moving):
            yield moving | {axis}
