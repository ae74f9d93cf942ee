"""Random layouts, boxes and pairs of layouts, to compare the package with ``bruteforce``.

Every generator takes a seeded ``random.Random`` and needs the standard library only; the
hypothesis strategies at the end import hypothesis when they are called. ``python -m
tests.generators`` prints what the generators yield.

About half of the layouts are made to be orderly (their places fill a box, or a box with
gaps), since a layout drawn blindly is almost never injective and then says little.
"""

from __future__ import annotations

import random
from dataclasses import replace
from math import prod

from tests import bruteforce as bf
from tests.bruteforce import Box, Plain, total_places

AXES = ("m", "laneid", "warpid", "TLane", "TCol")
MAX_EXTENT = 7
EXTENTS = tuple(range(1, MAX_EXTENT + 1))
MAX_ITERS = 6


# ------------------------------------------------------------------------------- pieces


def random_axis(rng: random.Random, axes=AXES) -> str:
    """An axis; the first one half of the time, so that iters meet on it."""
    return axes[0] if rng.random() < 0.5 else rng.choice(axes)


def axis_pool(rng: random.Random, axes=AXES) -> tuple[str, ...]:
    """The axes of one layout: often one or two of those allowed, so that iters meet on them."""
    count = rng.choice((1, 1, 2, 2, 3, len(axes)))
    if count >= len(axes):
        return tuple(axes)
    if rng.random() < 0.7:
        return (axes[0], *rng.sample(axes[1:], count - 1))
    return tuple(rng.sample(axes, count))


def random_extents(rng: random.Random, limit: int, most: int, choices=EXTENTS):
    """Up to `most` extents, units not too often, with a product of at most `limit`."""
    extents: list[int] = []
    if 1 in choices:
        choices = choices + choices[1:]
    count = 0 if rng.random() < 0.03 else rng.randint(1, most)
    for _ in range(count):
        fitting = [e for e in choices if e * prod(extents) <= limit]
        if not fitting:
            break
        extents.append(rng.choice(fitting))
    rng.shuffle(extents)
    return extents


def random_limit(rng: random.Random, max_places: int) -> int:
    """Mostly small, sometimes as large as allowed, so that many layouts take little time."""
    limit = rng.choices([8, 32, 100, 300, 1000, max_places], [20, 30, 30, 12, 4, 1])[0]
    return max(1, min(limit, max_places))


def random_swizzle(rng: random.Random) -> tuple[int, int, int, bool]:
    swizzle_len = rng.randint(0, 3)
    return (rng.randint(0, 3), swizzle_len, rng.randint(swizzle_len, 5), rng.random() < 0.5)


def random_stride(rng: random.Random) -> int:
    kind = rng.random()
    if kind < 0.08:
        return 0
    if kind < 0.6:
        return rng.randint(1, 8)
    if kind < 0.75:
        return rng.choice((1, 2, 4, 8, 16, 32, 64))
    if kind < 0.85:
        return rng.randint(1, 200)
    return -rng.choice((rng.randint(1, 8), rng.randint(1, 40)))


def random_offset(rng: random.Random, axes=AXES) -> dict[str, int]:
    if rng.random() < 0.6:
        return {}
    chosen = rng.sample(axes, rng.randint(1, min(2, len(axes))))
    return {axis: rng.choice((0, 1, 2, 5, 8, 64, rng.randint(-20, 200))) for axis in chosen}


# ------------------------------------------------------------------------------ layouts


def wild_layout(rng, limit, axes, replicas) -> Plain:
    """Strides without any plan, or near compact ones: these just collide, or just do not."""
    extents = random_extents(rng, limit, MAX_ITERS)
    copies = []
    if replicas and rng.random() < 0.3:
        copies = random_extents(rng, min(limit // prod(extents), 30), 3)
    crowded = rng.random() < 0.6
    reach = dict.fromkeys(axes, 1)
    iters = []
    for e in extents + copies:
        axis = random_axis(rng, axes)
        stride = random_stride(rng)
        if crowded:
            stride = reach[axis] + rng.choice((-2, -1, -1, 0, 0, 1))
            reach[axis] += (e - 1) * abs(stride)
            stride *= rng.choice((1, 1, 1, -1))
        iters.append((e, stride, axis))
    shard, replica = iters[: len(extents)], iters[len(extents) :]
    rng.shuffle(shard)
    if len(replica) > 1 and rng.random() < 0.5:  # copies that meet
        first, second = rng.sample(range(len(replica)), 2)
        replica[first] = (replica[first][0], *replica[second][1:])
    elif replica and rng.random() < 0.1:
        replica[0] = (replica[0][0], 0, replica[0][2])
    return Plain(tuple(shard), tuple(replica), random_offset(rng, axes))


def compact_strides(rng, extents, iter_axes, *, gaps=False) -> list[int]:
    """Strides that fill a box: on each axis, in some order, each is the span of those before it.

    With gaps, some strides are larger than that span.
    """
    order = list(range(len(extents)))
    if rng.random() < 0.4:
        order.reverse()  # row-major
    elif rng.random() < 0.8:
        rng.shuffle(order)
    reach = dict.fromkeys(iter_axes, 1)
    strides = [0] * len(extents)
    for k in order:
        axis = iter_axes[k]
        if gaps and rng.random() < 0.5:
            reach[axis] += rng.choice((1, 1, 2, 3, 8))
        strides[k] = reach[axis]
        reach[axis] *= extents[k]
    return strides


def orderly_layout(rng, limit, axes, replicas, *, gaps=False, choices=EXTENTS):
    """Compact, permuted or tiled; some iters become replicas, some run backwards."""
    extents = random_extents(rng, limit, MAX_ITERS, choices)
    iter_axes = [random_axis(rng, axes) for _ in extents]
    strides = compact_strides(rng, extents, iter_axes, gaps=gaps)
    offset = random_offset(rng, axes) if rng.random() < 0.3 else {}
    shard, replica = [], []
    backwards = rng.random() < 0.2
    with_replicas = replicas and rng.random() < 0.3
    for e, s, axis in zip(extents, strides, iter_axes, strict=True):
        if backwards and rng.random() < 0.5:
            offset[axis] = offset.get(axis, 0) + (e - 1) * s
            s = -s
        if with_replicas and len(replica) < 3 and rng.random() < 0.4:
            replica.append((e, s, axis))
        else:
            shard.append((e, s, axis))
    return Plain(tuple(shard), tuple(replica), offset)


def whole_period_layout(rng, limit, axes, replicas) -> Plain:
    """Extents 2 and 4 only, and a swizzle whose period mostly divides what the tile fills on m."""
    tile = orderly_layout(rng, limit, axes, replicas, choices=(2, 4))
    bits = prod(e for e, s, a in tile.shard + tile.replica if a == "m").bit_length() - 1
    per_element = rng.randint(0, min(3, bits))
    atom_len = rng.randint(0, min(5, bits - per_element))
    swizzle_len = rng.randint(0, min(3, atom_len, bits - per_element - atom_len))
    swizzle = (per_element, swizzle_len, atom_len, rng.random() < 0.6)
    offset = {} if rng.random() < 0.7 else {"m": rng.choice((1, 2, 1 << bits))}
    return replace(tile, offset=offset if not tile.offset else tile.offset, swizzle=swizzle)


def random_layout(
    rng: random.Random, *, max_places=5000, axes=AXES, replicas=True, swizzles=True, wild=0.5
) -> Plain:
    """A layout with total_places(layout) <= max_places.

    `wild` is the share of layouts drawn without a plan. `axes` names the axes that may occur;
    the first one occurs most.
    """
    limit = random_limit(rng, max_places)
    pool = axis_pool(rng, axes)
    kind = rng.random()
    if kind < wild:
        layout = wild_layout(rng, limit, pool, replicas)
    elif swizzles and "m" in pool and rng.random() < 0.25:
        return whole_period_layout(rng, limit, pool, replicas)
    else:
        layout = orderly_layout(rng, limit, pool, replicas, gaps=rng.random() < 0.2)
        if rng.random() < 0.3:
            layout = perturbed_variant(rng, layout, max_places=max_places, axes=axes)
    if swizzles and "m" in axes and layout.swizzle is None and rng.random() < 0.2:
        layout = replace(layout, swizzle=random_swizzle(rng))
    return strip(layout, replicas, swizzles)


def strip(layout: Plain, replicas: bool, swizzles: bool) -> Plain:
    """Take away what the caller did not want (a perturbation may have added it)."""
    return replace(
        layout,
        replica=layout.replica if replicas else (),
        swizzle=layout.swizzle if swizzles else None,
    )


def random_box(rng: random.Random, layout: Plain) -> dict[str, tuple[int, int]]:
    """Often exactly the layout's bounding box, sometimes off by a little; never empty."""
    box = bf.bounding_box(layout)
    kind = rng.random()
    if kind < 0.7:
        return box
    names = sorted(box)
    if not names or kind < 0.75:
        extra = rng.choice([axis for axis in AXES if axis not in box] or ["m"])
        return box | {extra: rng.choice(((0, 1), (0, 2), (-1, 1), (1, 2)))}
    axis = rng.choice(names)
    low, high = box[axis]
    if kind < 0.8:  # an axis left out counts as 0
        return {name: ends for name, ends in box.items() if name != axis}
    changed = [(low + 1, high), (low, high - 1), (low - 1, high), (low, high + 1)]
    changed += [(low + 1, high + 1), (low - 1, high - 1)]
    changed = [(lo, hi) for lo, hi in changed if lo < hi]
    return box | {axis: rng.choice(changed)}


def random_limits(rng: random.Random, layout: Plain) -> dict[str, tuple[int, int]]:
    """For within_bounds: a box without some of its axes, sometimes wider or narrower."""
    box: Box = random_box(rng, layout)
    limits = {axis: ends for axis, ends in box.items() if rng.random() < 0.8}
    kind = rng.random()
    for axis, (low, high) in limits.items():
        if kind < 0.2:
            limits[axis] = (low - rng.randint(0, 3), high + rng.randint(0, 3))
        elif kind < 0.5:
            low += rng.choice((0, 0, 1))
            limits[axis] = (low, max(low + 1, high - rng.choice((0, 0, 1, 2))))
    return limits


# ------------------------------------------------------------------ variants: same meaning


def divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def changed(items: tuple, at: int, taken: int, *new) -> tuple:
    """`items` with `taken` entries at position `at` replaced by `new`."""
    return items[:at] + new + items[at + taken :]


def split_iter(rng, layout, _max_places, _axes):
    part = rng.choice(("shard", "replica"))
    iters = getattr(layout, part)
    if not iters:
        return None
    k = rng.randrange(len(iters))
    e, s, axis = iters[k]
    inner = rng.choice(divisors(e))
    pair = ((e // inner, s * inner, axis), (inner, s, axis))
    return replace(layout, **{part: changed(iters, k, 1, *pair)})


def merge_shard(rng, layout, _max_places, _axes):
    found = []
    for k in range(len(layout.shard) - 1):
        (_, s, a), (f, t, b) = layout.shard[k : k + 2]
        if a == b and f * t == s:
            found.append(k)
    if not found:
        return None
    k = rng.choice(found)
    (e, _, _), (f, t, axis) = layout.shard[k : k + 2]
    return replace(layout, shard=changed(layout.shard, k, 2, (e * f, t, axis)))


def merge_replicas(rng, layout, _max_places, _axes):
    """{0, s, .., (e-1)s} + {0, t, .., (f-1)t} is one run when t = s (overlapping) or t = e*s."""
    shuffled = rng.sample(layout.replica, len(layout.replica))
    for i, (e, s, a) in enumerate(shuffled):
        for j, (f, t, b) in enumerate(shuffled):
            if i == j or a != b:
                continue
            others = [it for k, it in enumerate(shuffled) if k not in (i, j)]
            if t == s:
                return replace(layout, replica=(*others, (e + f - 1, s, a)))
            if t == e * s:
                return replace(layout, replica=(*others, (e * f, s, a)))
    return None


def overlap_replica(rng, layout, max_places, _axes):
    """One run as two that overlap: the same places, some of them used by two copies."""
    found = [k for k, (e, _, _) in enumerate(layout.replica) if e >= 3]
    if not found:
        return None
    k = rng.choice(found)
    e, s, axis = layout.replica[k]
    first = rng.randint(2, e - 1)
    pair = ((first, s, axis), (e + 1 - first, s, axis))
    return within(max_places, replace(layout, replica=changed(layout.replica, k, 1, *pair)))


def insert_unit(rng, layout, _max_places, axes):
    part = rng.choice(("shard", "shard", "replica"))
    iters = getattr(layout, part)
    unit = (1, random_stride(rng), random_axis(rng, axes))
    return replace(layout, **{part: changed(iters, rng.randint(0, len(iters)), 0, unit)})


def drop_units(_rng, layout, _max_places, _axes):
    kept = {p: tuple(it for it in getattr(layout, p) if it[0] != 1) for p in ("shard", "replica")}
    return replace(layout, **kept)


def permute_replicas(rng, layout, _max_places, _axes):
    return replace(layout, replica=tuple(rng.sample(layout.replica, len(layout.replica))))


def turn_replica(rng, layout, _max_places, _axes):
    """The same copies counted from the other end."""
    if not layout.replica:
        return None
    k = rng.randrange(len(layout.replica))
    e, s, axis = layout.replica[k]
    offset = dict(layout.offset)
    offset[axis] = offset.get(axis, 0) + (e - 1) * s
    return replace(layout, replica=changed(layout.replica, k, 1, (e, -s, axis)), offset=offset)


def insert_still_replica(rng, layout, max_places, axes):
    """Copies that stay where they are: no new place."""
    still = (rng.randint(2, 3), 0, random_axis(rng, axes))
    k = rng.randint(0, len(layout.replica))
    return within(max_places, replace(layout, replica=changed(layout.replica, k, 0, still)))


def move_still_iters(rng, layout, _max_places, axes):
    """Stride 0: the axis does not matter, and neighbours may swap or merge."""
    still = [k for k, (_, s, _) in enumerate(layout.shard) if s == 0]
    if not still:
        return None
    k = rng.choice(still)
    e, _, _ = layout.shard[k]
    axis = random_axis(rng, axes)
    if k + 1 in still:
        f, _, b = layout.shard[k + 1]
        new = rng.choice((((e * f, 0, axis),), ((f, 0, b), (e, 0, axis))))
        return replace(layout, shard=changed(layout.shard, k, 2, *new))
    return replace(layout, shard=changed(layout.shard, k, 1, (e, 0, axis)))


def toggle_zero_offset(rng, layout, _max_places, axes):
    offset = dict(layout.offset)
    zeros = [axis for axis, value in offset.items() if value == 0]
    absent = [axis for axis in axes if axis not in offset]
    if zeros and rng.random() < 0.5:
        del offset[rng.choice(zeros)]
    elif absent:
        offset[rng.choice(absent)] = 0
    return replace(layout, offset=offset)


def toggle_idle_swizzle(rng, layout, _max_places, axes):
    """A swizzle of length 0 does nothing, nor one that looks at bits above every address."""
    if "m" not in axes:
        return None
    idle = (rng.randint(0, 3), 0, rng.randint(0, 5), rng.random() < 0.5)
    if layout.swizzle is not None:
        if layout.swizzle[1] != 0:
            return None
        layout = replace(layout, swizzle=None)
    if rng.random() < 0.2:
        return layout
    per_element, atom_len = rng.randint(0, 3), rng.randint(1, 5)
    # Bits p+A and up are read and found 0 when every address is in [0, 2^(p+A)).
    if bf.lowest(layout, "m") >= 0 and bf.highest(layout, "m") < 1 << (per_element + atom_len):
        swizzle_len = rng.randint(1, min(3, atom_len))
        return replace(layout, swizzle=(per_element, swizzle_len, atom_len, True))
    return replace(layout, swizzle=idle)


def within(max_places: int, layout: Plain):
    return layout if total_places(layout) <= max_places else None


REWRITES = (
    split_iter,
    merge_shard,
    merge_replicas,
    overlap_replica,
    insert_unit,
    drop_units,
    permute_replicas,
    turn_replica,
    insert_still_replica,
    move_still_iters,
    toggle_zero_offset,
    toggle_idle_swizzle,
)


def equivalent_variant(rng: random.Random, layout: Plain, *, max_places=5000, axes=AXES) -> Plain:
    """The same map written in another way: one to six rewrites that keep the meaning."""
    for _ in range(rng.randint(1, 6)):
        layout = rng.choice(REWRITES)(rng, layout, max_places, axes) or layout
    return layout


# ------------------------------------------------------------- variants: a small change


def perturb_iter(rng, layout, axes):
    part = "shard" if layout.shard and (not layout.replica or rng.random() < 0.75) else "replica"
    iters = getattr(layout, part)
    if not iters:
        return None
    k = rng.randrange(len(iters))
    e, s, axis = iters[k]
    new = rng.choice(
        (
            (e, s + rng.choice((-1, 1)), axis),
            (e, -s, axis),
            (e, 2 * s, axis),
            (e, s, random_axis(rng, axes)),
            (max(1, e + rng.choice((-1, 1))), s, axis),
            (e + 1, s, axis),
        )
    )
    return replace(layout, **{part: changed(iters, k, 1, new)})


def perturb_pair(rng, layout, _axes):
    """Swap two shard iters, or their extents, or their strides: the size stays."""
    if len(layout.shard) < 2:
        return None
    shard = list(layout.shard)
    i, j = rng.sample(range(len(shard)), 2)
    (e, s, a), (f, t, b) = shard[i], shard[j]
    swaps = (((f, t, b), (e, s, a)), ((f, s, a), (e, t, b)), ((e, t, a), (f, s, b)))
    shard[i], shard[j] = rng.choice(swaps)
    return replace(layout, shard=tuple(shard))


def perturb_offset(rng, layout, axes):
    offset = dict(layout.offset)
    axis = random_axis(rng, axes)
    offset[axis] = offset.get(axis, 0) + rng.choice((-1, 1, 2, 8))
    return replace(layout, offset=offset)


def perturb_replicas(rng, layout, axes):
    if len(layout.replica) > 2 or (layout.replica and rng.random() < 0.5):
        return replace(layout, replica=layout.replica[1:])
    used = [axis for _, s, axis in layout.shard + layout.replica] or axes
    new = (rng.randint(2, 3), random_stride(rng), rng.choice(used))
    return replace(layout, replica=(*layout.replica, new))


def perturb_swizzle(rng, layout, axes):
    if layout.swizzle is None:
        return replace(layout, swizzle=random_swizzle(rng)) if "m" in axes else None
    p, length, atom, inner = layout.swizzle
    near = [(p + 1, length, atom), (p - 1, length, atom), (p, length + 1, atom)]
    near += [(p, length - 1, atom), (p, length, atom + 1), (p, length, atom - 1)]
    options = [None, (p, length, atom, not inner)]
    for q, b, a in near:
        if 0 <= q <= 3 and 0 <= b <= 3 and b <= a <= 5:
            options.append((q, b, a, inner))
    return replace(layout, swizzle=rng.choice(options))


PERTURBATIONS = (
    perturb_iter,
    perturb_iter,
    perturb_iter,
    perturb_pair,
    perturb_pair,
    perturb_offset,
    perturb_replicas,
    perturb_swizzle,
)


def perturbed_variant(rng: random.Random, layout: Plain, *, max_places=5000, axes=AXES) -> Plain:
    """One small change, which usually changes the map (now and then it does not)."""
    for _ in range(20):
        other = rng.choice(PERTURBATIONS)(rng, layout, axes)
        if other is not None and other != layout and total_places(other) <= max_places:
            return other
    return layout


# -------------------------------------------------------------------------------- pairs


def equivalent_pair(rng: random.Random, *, max_places=5000, **options) -> tuple[Plain, Plain]:
    """Two layouts that are often the same map: rewritten, and half of the time perturbed too."""
    a = random_layout(rng, max_places=max_places, **options)
    axes = options.get("axes", AXES)
    b = equivalent_variant(rng, a, max_places=max_places, axes=axes)
    if rng.random() < 0.5:
        b = perturbed_variant(rng, b, max_places=max_places, axes=axes)
    return a, b


def disjoint_pair(rng: random.Random, *, max_places=5000, **options) -> tuple[Plain, Plain]:
    """Two layouts that are often, and often only just, disjoint."""
    a = random_layout(rng, max_places=max_places, **options)
    axes = options.get("axes", AXES)
    kind = rng.random()
    if kind < 0.15:
        return a, random_layout(rng, max_places=max_places, **options)
    if kind < 0.3:  # interleaved: even places and odd places
        a = Plain(
            tuple((e, 2 * s, axis) for e, s, axis in a.shard),
            tuple((e, 2 * s, axis) for e, s, axis in a.replica),
            {axis: 2 * value for axis, value in a.offset},
            a.swizzle,
        )
        distance = rng.choice((1, 1, 1, 2, 3))
        axis = random_axis(rng, axes)
    else:  # moved by its width, or by a little less or more
        axis = rng.choice(bf.axes(a) or list(axes))
        distance = bf.width(a, axis) + rng.choice((0, 0, 0, 0, 1, -1, -2))
        if axis == "m" and a.swizzle is not None and rng.random() < 0.7:
            period = 1 << sum(a.swizzle[:3])
            distance += -distance % period
    offset = dict(a.offset)
    offset[axis] = offset.get(axis, 0) + distance * rng.choice((1, 1, -1))
    b = replace(a, offset=offset)
    if rng.random() < 0.3:
        b = equivalent_variant(rng, b, max_places=max_places, axes=axes)
    if rng.random() < 0.1:
        b = perturbed_variant(rng, b, max_places=max_places, axes=axes)
    return a, b


def permuted_pair(rng: random.Random, limit: int, *, padded: bool) -> tuple[Plain, Plain]:
    """f writes its digits in another order (some backwards); g reads them back.

    Padded: the numbers that f reaches have gaps, and g, whose domain includes the gaps, is
    then a left inverse only.
    """
    extents = random_extents(rng, limit, 5)
    n = len(extents)
    row_major = [prod(extents[k + 1 :]) for k in range(n)]
    order = rng.sample(range(n), n)  # slowest first among f's places
    room = {k: extents[k] + (rng.choice((0, 1, 2)) if padded else 0) for k in order}
    f_shard, g_shard, f_offset, g_offset = [None] * n, [], 0, 0
    for position, k in enumerate(order):
        e, pitch, step = extents[k], prod(room[j] for j in order[position + 1 :]), row_major[k]
        if rng.random() < 0.2:  # the digit d is written as e - 1 - d
            f_offset += (e - 1) * pitch
            g_offset += (e - 1) * step
            pitch, step = -pitch, -step
        f_shard[k] = (e, pitch, "m")
        g_shard.append((room[k], step, "m"))
    f = Plain(tuple(f_shard), offset={"m": f_offset} if f_offset else {})
    g = Plain(tuple(g_shard), offset={"m": g_offset} if g_offset else {})
    return f, g


def swizzle_pair(rng: random.Random, limit: int) -> tuple[Plain, Plain]:
    """A bare swizzle over n addresses undoes itself when its period divides n."""
    swizzle = random_swizzle(rng)
    period = 1 << sum(swizzle[:3])
    n = period * rng.randint(1, 3) if period <= limit else rng.randint(1, limit)
    if n > 1 and rng.random() < 0.3:
        n -= rng.randint(1, min(n - 1, 3))
    bare = Plain(((n, 1, "m"),), swizzle=swizzle)
    return bare, bare


def shifted_pair(rng: random.Random, limit: int) -> tuple[Plain, Plain]:
    """f moves n numbers up by c; g moves n + c numbers down again: a left inverse only."""
    n, c = rng.randint(1, limit), rng.randint(0, 9)
    return Plain(((n, 1, "m"),), offset={"m": c}), Plain(((n + c, 1, "m"),), offset={"m": -c})


def inverse_pair(rng: random.Random, *, max_places=1000) -> tuple[Plain, Plain]:
    """Layouts on m alone, without replicas: often inverse, or inverse from one side, or nearly."""
    limit = random_limit(rng, max_places)
    kind = rng.random()
    if kind < 0.5:
        f, g = permuted_pair(rng, limit, padded=False)
    elif kind < 0.75:
        f, g = permuted_pair(rng, limit, padded=True)
    elif kind < 0.9:
        f, g = swizzle_pair(rng, limit)
    else:
        f, g = shifted_pair(rng, limit)
    options = {"axes": ("m",), "max_places": max_places}
    if rng.random() < 0.3:
        g = strip_copies(equivalent_variant(rng, g, **options), otherwise=g)
    if rng.random() < 0.25:
        g = strip_copies(perturbed_variant(rng, g, **options), otherwise=g)
    return (g, f) if rng.random() < 0.3 else (f, g)


def strip_copies(layout: Plain, otherwise: Plain) -> Plain:
    """A rewriting may have added replicas; inverse claims are about layouts without any."""
    return otherwise if layout.replica else layout


# --------------------------------------------------------------------------- hypothesis


def layouts(*, max_places=500, axes=AXES, replicas=True, swizzles=True, offsets=True):
    """A hypothesis strategy for Plain: shrinks towards few, small, compact iters on one axis."""
    from hypothesis import strategies as st

    extent = st.integers(1, MAX_EXTENT)
    stride = st.one_of(st.integers(0, 8), st.integers(-40, 200), st.sampled_from((16, 32, 64)))
    axis = st.sampled_from(axes)

    @st.composite
    def swizzle_values(draw):
        swizzle_len = draw(st.integers(0, 3))
        atom_len = draw(st.integers(swizzle_len, 5))
        return (draw(st.integers(0, 3)), swizzle_len, atom_len, draw(st.booleans()))

    @st.composite
    def plain(draw):
        drawn = draw(st.lists(st.tuples(extent, axis), max_size=MAX_ITERS))
        cut = len(drawn)
        if replicas:
            drawn += draw(st.lists(st.tuples(extent, axis), max_size=3))
        iters = []
        for e, a in drawn:  # an extent that would be too much becomes 1
            fits = e * prod(x for x, _ in iters) <= max_places
            iters.append((e if fits else 1, a))
        if draw(st.booleans()):  # orderly: compact on each axis, in some order
            reach, strides = {}, {}
            for k in draw(st.permutations(range(len(iters)))):
                e, a = iters[k]
                strides[k] = reach.setdefault(a, 1)
                reach[a] *= e
            triples = [(e, strides[k], a) for k, (e, a) in enumerate(iters)]
        else:
            triples = [(e, draw(stride), a) for e, a in iters]
        offset = draw(st.dictionaries(axis, st.integers(-20, 200), max_size=2)) if offsets else {}
        swizzle = None
        if swizzles and "m" in axes and draw(st.booleans()):
            swizzle = draw(swizzle_values())
        return Plain(tuple(triples[:cut]), tuple(triples[cut:]), offset, swizzle)

    return plain()


def _with_random(make):
    """A strategy from a plain generator, with random numbers that hypothesis supplies."""
    from hypothesis import strategies as st

    return st.randoms(use_true_random=False).map(make)


def layouts_with_boxes(**options):
    """Strategy for (layout, box), the box as random_box makes it."""
    from hypothesis import strategies as st

    @st.composite
    def pair(draw):
        layout = draw(layouts(**options))
        return layout, random_box(draw(st.randoms(use_true_random=False)), layout)

    return pair()


def equivalent_pairs(*, max_places=500):
    """Strategy for (a, b), often the same map."""
    return _with_random(lambda rng: equivalent_pair(rng, max_places=max_places))


def disjoint_pairs(*, max_places=500):
    """Strategy for (a, b), often just disjoint."""
    return _with_random(lambda rng: disjoint_pair(rng, max_places=max_places))


def inverse_pairs(*, max_places=500):
    """Strategy for (f, g) on axis m, often inverse from one or both sides."""
    return _with_random(lambda rng: inverse_pair(rng, max_places=max_places))


# --------------------------------------------------------------------------- statistics


def statistics(count=5000, seed=0) -> dict[str, float]:
    """Shares over `count` layouts and over count // 5 pairs of each kind; checks the promises."""
    rng = random.Random(seed)
    seen: dict[str, list[bool]] = {}

    def note(name, value):
        seen.setdefault(name, []).append(bool(value))

    biggest = 0
    for _ in range(count):
        layout = random_layout(rng)
        if total_places(layout) > 5000:
            raise RuntimeError(f"too many places: {layout}")
        biggest = max(biggest, total_places(layout))
        note("with replicas", layout.replica)
        note("with offset", layout.offset)
        note("with swizzle", layout.swizzle)
        note("several axes", len(bf.axes(layout)) > 1)
        note("a negative stride", any(s < 0 for _, s, _ in layout.shard + layout.replica))
        note("a zero stride", any(s == 0 for _, s, _ in layout.shard + layout.replica))
        note("one element", bf.size(layout) == 1)
        note("injective", bf.injective(layout)[0])
        if layout.replica:
            note("replicas distinct, of those with replicas", bf.replicas_distinct(layout)[0])
        box = random_box(rng, layout)
        note("covers random_box", bf.covers(layout, box)[0])
        note("bijective to random_box", bf.bijective(layout, box)[0])
        note("within random_limits", bf.within_bounds(layout, random_limits(rng, layout))[0])
    for _ in range(count // 5):
        layout = random_layout(rng)
        other = equivalent_variant(rng, layout)
        if total_places(other) > 5000 or not bf.equivalent(layout, other)[0]:
            raise RuntimeError(f"a rewrite changed the map or went too far: {layout} {other}")
        note("equivalent_variant differs in form", other != layout)
        other = perturbed_variant(rng, layout)
        note("perturbed_variant is equivalent", bf.equivalent(layout, other)[0])
        note("equivalent_pair is equivalent", bf.equivalent(*equivalent_pair(rng))[0])
        note("disjoint_pair is disjoint", bf.disjoint(*disjoint_pair(rng))[0])
        f, g = inverse_pair(rng)
        note("inverse_pair: left inverse", bf.left_inverse(f, g)[0])
        note("inverse_pair: right inverse", bf.right_inverse(f, g)[0])
        note("inverse_pair: inverse", bf.inverse(f, g)[0])
    shares = {name: sum(values) / len(values) for name, values in seen.items()}
    return shares | {"most places": biggest}


if __name__ == "__main__":
    for name, share in statistics().items():
        print(f"{name:45} {share:.3f}" if isinstance(share, float) else f"{name:45} {share}")
