"""Chains of operations keep the map that enumeration predicts.

Along with the layout goes a plain table of its tile, transformed by each operation's meaning: the
table of one step is made from the table of the step before, never from what the package gave.  Only
which indices there are (the shard's extents, the axes with iters) is read off the layout.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import pytest

from layout_algebra.algebra.normal_form import normal_form
from layout_algebra.errors import LayoutAlgebraError
from tests import bruteforce as bf
from tests.algebra import draws, laws
from tests.algebra.laws import Table
from tests.bruteforce import Plain
from tests.building import built, plain_of

CHAINS = 500
#: Elements and copies that a chain may reach.
MOST = 200
AXES = ("m", "laneid", "warpid", "TCol")


@dataclass(frozen=True)
class State:
    """A layout, and the table that its tile must have; the swizzle is applied to that."""

    layout: Any
    table: Table
    swizzle: tuple[int, int, int, bool] | None

    @property
    def plain(self) -> Plain:
        return plain_of(self.layout)

    def check(self, where: object) -> None:
        found = self.plain
        assert found.swizzle == self.swizzle, where
        assert bf.table(laws.affine(found)) == self.table, where
        wanted = laws.at_swizzled(self.table, self.swizzle)
        assert bf.table(found) == wanted, where
        # the package's own definition of what a layout means
        flat = random.Random(len(wanted)).randrange(len(wanted))
        places = {bf.make_place(place) for place in self.layout.places(flat)}
        assert places == wanted[flat], where


#: An operation on a state: the next one, or None where it cannot be applied.
Step = Callable[[random.Random, State], State | None]


def canonicalize(rng: random.Random, state: State) -> State | None:
    target = rng.choice((None, "cuda"))
    pair = laws.scope(laws.reduced(laws.affine(state.plain))) if target else None
    table = [frozenset(laws.fused_place(p, pair) for p in places) for places in state.table]
    return replace(state, layout=state.layout.canonicalize(target=target), table=table)


def to_normal_form(_rng: random.Random, state: State) -> State:
    layout = normal_form(state.layout)
    return replace(state, layout=layout, swizzle=plain_of(layout).swizzle)


def group(rng: random.Random, state: State) -> State | None:
    shape = draws.shape(rng, state.plain)
    if state.swizzle or not laws.can_group(state.plain, shape):
        return None
    return replace(state, layout=state.layout.group(shape)[0])


def _another(rng: random.Random, state: State) -> tuple[Plain, tuple[int], tuple[int]] | None:
    size = len(state.table)
    copies = len(state.table[0])
    room = MOST // (size * copies)
    if room < 2 or not state.plain.shard:
        return None
    shape = (rng.choice((2, 2, 3, 4)),)
    other = draws.iters_for(rng, shape, AXES)
    other = replace(other, replica=other.replica[:1])
    return (other, shape, (size,)) if shape[0] * bf.copies(other) <= room else None


def tile(rng: random.Random, state: State) -> State | None:
    drawn = _another(rng, state)
    if drawn is None:
        return None
    outer, outer_shape, inner_shape = drawn
    factors = {}
    for axis in laws.scaled_axes(state.plain):
        values = [bf.at(place, axis) for places in state.table for place in places]
        factors[axis] = max(values) - min(0, *values) + 1
    shard = tuple((e, s * factors.get(axis, 1), axis) for e, s, axis in outer.shard)
    slow = bf.table(replace(outer, shard=shard))
    return replace(
        state,
        layout=state.layout.tile(built(outer), outer_shape, inner_shape),
        table=laws.summed(slow, state.table, outer_shape, inner_shape),
    )


def direct_sum(rng: random.Random, state: State) -> State | None:
    drawn = _another(rng, state)
    if drawn is None:
        return None
    left, left_shape, right_shape = drawn
    return replace(
        state,
        layout=state.layout.direct_sum(built(left), left_shape, right_shape),
        table=laws.summed(bf.table(left), state.table, left_shape, right_shape),
    )


def there_and_back(rng: random.Random, state: State) -> State | None:
    """A direct sum, and the part that was there before."""
    drawn = _another(rng, state)
    if drawn is None or state.swizzle:
        return None
    left, left_shape, right_shape = drawn
    whole = state.layout.direct_sum(built(left), left_shape, right_shape)
    shape = (*left_shape, *right_shape)
    return replace(state, layout=built(left).is_direct_sum_left(whole, shape, left_shape))


def slice_(rng: random.Random, state: State) -> State | None:
    shape = draws.shape(rng, laws.affine(state.plain))
    if prod(shape) != len(state.table):
        return None
    region = draws.region(rng, shape)
    if not laws.can_group(plain_of(state.layout.canonicalize()), shape):
        return None
    table = laws.restricted(state.table, shape, region)
    layout = state.layout.slice(shape, region)
    if layout is None:
        assert not laws.has_layout(table), (state, shape, region)
        return None
    return replace(state, layout=layout, table=table)


def permute_dims(rng: random.Random, state: State) -> State | None:
    if state.swizzle:
        return None
    extents = [extent for extent, _, _ in state.plain.shard]
    perm = rng.sample(range(len(extents)), len(extents))
    table = []
    for digits in laws.coordinates([extents[k] for k in perm]):
        own = dict(zip(perm, digits, strict=True))
        table.append(state.table[laws.flat([own[k] for k in range(len(perm))], extents)])
    return replace(state, layout=state.layout.permute_dims(perm), table=table)


def unpack(rng: random.Random, state: State) -> State | None:
    num = rng.choice((2, 2, 3, 4))
    if len(state.table) * num > MOST or (state.swizzle and num == 3):
        return None
    swizzle = state.swizzle
    if swizzle:
        swizzle = (swizzle[0] + num.bit_length() - 1, *swizzle[1:])
    return State(state.layout.unpack(num), laws.unpacked(state.table, num), swizzle)


def pack(rng: random.Random, state: State) -> State | None:
    num = rng.choice((2, 2, 3, 4))
    try:
        layout = state.layout.pack(num)
    except LayoutAlgebraError:
        return None
    swizzle = state.swizzle
    if swizzle:
        swizzle = (swizzle[0] - num.bit_length() + 1, *swizzle[1:])
    table = laws.packed(state.table, num)
    assert table is not None, state
    return State(layout, table, swizzle)


def broadcast(rng: random.Random, state: State) -> State | None:
    num = rng.choice((1, 2, 3))
    if len(state.table) * num > MOST:
        return None
    extents = [extent for extent, _, _ in state.plain.shard]
    position = rng.randint(0, len(extents))
    layout = state.layout.broadcast(num, position, rng.choice(AXES))
    return replace(state, layout=layout, table=laws.broadcast(state.table, extents, num, position))


def storage(_rng: random.Random, state: State) -> State:
    kept = [axis not in laws.COUNTS for _, _, axis in state.plain.shard]
    extents = [extent for extent, _, _ in state.plain.shard]
    region = [(0, e if keep else 1) for e, keep in zip(extents, kept, strict=True)]
    table = [
        frozenset(tuple(pair for pair in place if pair[0] not in laws.COUNTS) for place in places)
        for places in laws.restricted(state.table, extents, region)
    ]
    return replace(state, layout=state.layout.storage(), table=table)


STEPS: tuple[Step, ...] = (
    *(canonicalize, to_normal_form, group, tile, direct_sum, there_and_back, slice_, slice_),
    *(permute_dims, permute_dims, unpack, pack, pack, broadcast, storage),
)


def start(rng: random.Random) -> State:
    shape = draws.small_shape(rng, 24)
    plain = draws.iters_for(rng, shape, AXES) if rng.random() < 0.6 else draws.layout(rng, 24)
    if laws.scope(plain) == laws.ILL_FORMED:
        return start(rng)
    plain = draws.swizzled(rng, plain)
    return State(built(plain), bf.table(laws.affine(plain)), plain.swizzle)


def fusing_is_over(state: State) -> bool:
    """Whether thread axes were fused: another thread axis cannot join them."""
    return bool({"tx", "tid_in_wg"} & set(bf.axes(state.plain)))


@pytest.mark.parametrize("shard", range(4))
def test_chains(shard):
    seen: Counter[str] = Counter()
    for seed in range(shard * CHAINS, (shard + 1) * CHAINS):
        rng = random.Random(seed)
        state = start(rng)
        wanted = rng.randint(2, 6)
        chain: list[str] = []
        while len(chain) < wanted:
            step = rng.choice(STEPS)
            if fusing_is_over(state) and step in (tile, direct_sum, there_and_back):
                continue
            found = step(rng, state)
            if found is None:
                continue
            chain.append(step.__name__)
            found.check((seed, chain, state.layout, found.layout))
            state = found
        seen.update(chain)
    assert len(seen) == len(set(STEPS))
    assert min(seen.values()) > CHAINS // 50, seen
