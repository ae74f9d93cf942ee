"""A tile after a tile: digit by digit of the outer index.

inner's place is o + sum of d_j * x_j.  At the digit with extent e, each d_j = q_j * e + r_j; the
digit is o%e + sum of r_j * x_j as long as that stays in 0..e-1, and the rest is o//e + sum of
q_j * x_j.  (r_j is negative, and q_j one more, where the first step already carries.)  Where the
sum leaves the digit, iters with r_j != 0 carry: first an iter is cut where its steps come round,
every e/gcd(e, d) of them, and what still carries is put together into a table of all its steps.

In the end each group moves places on its own, and the groups side by side are the composite.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from layout_algebra.algebra.copy_sets import Copies, without_copies
from layout_algebra.algebra.deciding import Decide
from layout_algebra.algebra.no_layout import NoLayout, UndecidedError
from layout_algebra.algebra.normal_form import merge_shard
from layout_algebra.algebra.table_form import additive_parts, iters_of
from layout_algebra.axes import Axis, m
from layout_algebra.dims import Polynomial, Size
from layout_algebra.values import AnyTile, Iter, Tile

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Points that a table of iters that carry may have.
MOST_POINTS = 1 << 21

Vector = dict[Axis, Size]


@dataclass(frozen=True)
class Moving:
    """One inner iter, or a part of one: `extent` steps.

    Each step adds `rest` to the index that is still to be taken apart, and `step` to the place.
    Keys are in the order of the inner layout, copies (1, ...) after the shard (0, ...).
    """

    key: tuple[int, ...]
    extent: Size
    rest: Size
    step: Vector = field(default_factory=dict[Axis, Size])

    def cut(self, inside: Size, outside: Size) -> tuple[Moving, Moving]:
        """The same steps as `outside` blocks of `inside` steps."""
        step = {axis: value * inside for axis, value in self.step.items()}
        return (
            Moving((*self.key, 0), outside, self.rest * inside, step),
            Moving((*self.key, 1), inside, self.rest, self.step),
        )


@dataclass(frozen=True)
class Together:
    """Iters that carry into each other: tables over all their steps, the last member fastest."""

    members: tuple[Moving, ...]
    rest: NDArray[Any]
    place: dict[Axis, NDArray[Any]]


Group = Moving | Together
#: What a group adds to a digit and to the rest above it; numbers, or tables.
Share = tuple[Any, Any]


def composed_tile(outer: AnyTile, inner: Tile, ask: Decide) -> AnyTile | NoLayout:
    """outer(inner(x)) for inner's places inside outer's indices, or why it is no layout.

    Raises:
        UndecidedError: too little is known of the sizes, or a table would be too large.
    """
    groups: list[Group] = [
        Moving((part, position), extent, stride)
        for part, iters in enumerate((inner.shard, inner.replica))
        for position, (extent, stride, _) in enumerate(iters)
        if extent != 1
    ]
    start: Size = 0
    for _, value in inner.offsets:
        start = start + value
    begin = outer.offset
    done: list[Group] = []
    slowest, *radices = merge_shard(outer.shard) or [Iter(1, 0, m)]
    for extent, stride, axis in reversed(radices):
        start, digit = _divided(start, extent, ask)
        groups, shares = _without_carry(groups, digit, extent, ask)
        begin[axis] = begin.get(axis, 0) + digit * stride
        moved = [_moved(g, s, stride, axis) for g, s in zip(groups, shares, strict=True)]
        groups = []
        for group in moved:  # nothing left to take apart: it moves no further
            still = isinstance(group, Moving) and type(group.rest) is int and group.rest == 0
            (done if still else groups).append(group)
    _, stride, axis = slowest
    begin[axis] = begin.get(axis, 0) + start * stride
    done += [_moved(group, (group.rest, 0), stride, axis) for group in groups]
    return _side_by_side(done, begin, outer)


# -- one digit ---------------------------------------------------------------------------------
def _without_carry(
    groups: list[Group], digit: Size, extent: Size, ask: Decide
) -> tuple[list[Group], list[Share]]:
    """The groups, cut and put together so that their shares add up inside the digit."""
    shares = [_share(group, digit, extent, ask) for group in groups]
    if _stays(groups, shares, digit, extent, ask):
        return groups, shares
    groups = [
        part
        for group, share in zip(groups, shares, strict=True)
        for part in _cut_where_it_comes_round(group, share[0], extent, ask)
    ]
    shares = [_share(group, digit, extent, ask) for group in groups]
    if _stays(groups, shares, digit, extent, ask):
        return groups, shares
    aside: list[Group] = []
    carrying: list[Group] = []
    for group, (low, _) in zip(groups, shares, strict=True):
        still = low == 0 if isinstance(group, Moving) else not low.any()
        (aside if still else carrying).append(group)
    groups = [*aside, _together(carrying)]
    return groups, [_share(group, digit, extent, ask) for group in groups]


def _share(group: Group, digit: Size, extent: Size, ask: Decide) -> Share:
    """What a group alone adds to the digit, and to the rest."""
    rest = group.rest
    if type(rest) is int and type(extent) is int and type(digit) is int:
        above, low = divmod(rest, extent)
        carry = (digit + low) // extent
        return low - carry * extent, above + carry
    if isinstance(group, Together):
        if not isinstance(extent, int) or not isinstance(digit, int):
            raise UndecidedError(f"it is not known how a table falls into blocks of {extent}")
        above, low = divmod(group.rest + digit, extent)
        return low - digit, above
    above, low = _divided(group.rest, extent, ask)
    return low, above


def _stays(
    groups: Sequence[Group], shares: Sequence[Share], digit: Size, extent: Size, ask: Decide
) -> bool:
    """Whether the digit and all shares together stay in 0..extent-1."""
    low = high = digit
    for group, (step, _) in zip(groups, shares, strict=True):
        if isinstance(group, Together):
            low, high = low + int(step.min()), high + int(step.max())
        elif type(step) is int and step == 0:
            continue
        elif ask.at_least(step, 0):
            high = high + step * (group.extent - 1)
        elif ask.at_least(-step, 0):
            low = low + step * (group.extent - 1)
        else:
            return False  # up or down: it is not known
    return ask.at_least(low, 0) and ask.at_least(extent - 1 - high, 0)


def _cut_where_it_comes_round(group: Group, low: Any, extent: Size, ask: Decide) -> list[Group]:
    """An iter as blocks that add nothing to the digit, where it consists of whole blocks."""
    if isinstance(group, Together) or low == 0:
        return [group]
    if isinstance(low, int) and isinstance(extent, int):
        inside: Size | None = extent // math.gcd(extent, low)
    else:
        inside = ask.quotient(extent, low if ask.at_least(low, 0) else -low)
    outside = None if inside is None else ask.quotient(group.extent, inside)
    if inside is None or outside is None or outside == 1:
        return [group]
    return list(group.cut(inside, outside))


def _together(groups: Sequence[Group]) -> Together:
    """One table over all steps of some groups.

    Raises:
        UndecidedError: it would be symbolic, or too large.
    """
    import numpy as np

    members = [
        member
        for group in groups
        for member in (group.members if isinstance(group, Together) else (group,))
    ]
    extents = [member.extent for member in members]
    numbers = [*extents, *(n for g in groups if isinstance(g, Moving) for n in _numbers(g))]
    names = " and ".join(f"{member.extent} steps of {member.rest}" for member in members)
    if not all(isinstance(n, int) for n in numbers):
        raise UndecidedError(f"it is not known where {names} leave a digit of the outer index")
    points = math.prod(extents)  # type: ignore[arg-type]
    if points > MOST_POINTS:
        raise UndecidedError(f"{points} sums of {names} would have to be looked at")
    axes = dict.fromkeys(
        axis for g in groups for axis in (g.step if isinstance(g, Moving) else g.place)
    )
    rest: Any = np.zeros((), dtype=object)
    place: dict[Axis, Any] = {axis: np.zeros((), dtype=object) for axis in axes}
    for group in groups:
        if isinstance(group, Moving):
            count = np.arange(int(group.extent), dtype=object)  # type: ignore[arg-type]
            own = {axis: count * value for axis, value in group.step.items()}
            rest = np.add.outer(rest, count * group.rest)
            place = {a: np.add.outer(p, own.get(a, count * 0)) for a, p in place.items()}
        else:
            shape = [member.extent for member in group.members]
            zero = np.zeros(shape, dtype=object)
            rest = np.add.outer(rest, group.rest.reshape(shape))
            place = {
                a: np.add.outer(p, group.place[a].reshape(shape) if a in group.place else zero)
                for a, p in place.items()
            }
    order = sorted(range(len(members)), key=lambda k: members[k].key)
    return Together(
        tuple(members[k] for k in order),
        _small(rest.transpose(order).ravel()),
        {axis: _small(column.transpose(order).ravel()) for axis, column in place.items()},
    )


def _numbers(group: Moving) -> list[Size]:
    return [group.rest, *group.step.values()]


def _small(column: Any) -> Any:
    """Machine integers where the numbers leave room for what is added to them later."""
    import numpy as np

    return (
        column.astype(np.int64)
        if max((abs(int(number)) for number in column.flat), default=0) < 1 << 40
        else column
    )


def _moved(group: Group, share: Share, stride: Size, axis: Axis) -> Group:
    """The group with its share of one digit taken off its rest and added to its places.

    Raises:
        UndecidedError: a table and a symbolic stride.
    """
    low, above = share
    if isinstance(group, Moving):
        if type(low) is int and low == 0:
            return Moving(group.key, group.extent, above, group.step)
        step = dict(group.step)
        value = step.pop(axis, 0) + low * stride
        if value != 0:
            step[axis] = value
        return Moving(group.key, group.extent, above, step)
    if not isinstance(stride, int):
        raise UndecidedError(f"iters that carry move by {stride}, which is symbolic")
    wide = low if abs(stride) < 1 << 20 else low.astype(object)
    place = dict(group.place)
    place[axis] = place.get(axis, 0) + wide * stride
    return Together(group.members, above, place)


def _divided(x: Size, extent: Size, ask: Decide) -> tuple[Size, Size]:
    """x = above * extent + low; for numbers low is the remainder.

    For symbolic sizes above takes what is surely a multiple, summand by summand.  Any such pair is
    right: whether low stays in the digit is asked where everything in it is added up.
    """
    if isinstance(x, int) and isinstance(extent, int):
        return divmod(x, extent)
    exact = ask.quotient(x, extent)
    if exact is not None:
        return exact, 0
    if isinstance(x, int):
        return 0, x
    multiple: Size = 0
    for mono, factor in x.terms:
        summand = Polynomial(((mono, factor),)) if mono else factor
        if ask.quotient(summand, extent) is not None:
            multiple = multiple + summand
    whole = ask.quotient(multiple, extent)
    rest = x - multiple
    if isinstance(rest, int) and isinstance(extent, int) and whole is not None:
        return whole + rest // extent, rest % extent
    return (0, x) if whole is None else (whole, rest)


# -- all groups --------------------------------------------------------------------------------
def _side_by_side(groups: Sequence[Group], begin: Vector, outer: AnyTile) -> AnyTile | NoLayout:
    """The layout whose parts the groups are; each must be one on its own."""
    members = [
        member
        for group in groups
        for member in (group.members if isinstance(group, Together) else (group,))
    ]
    order = sorted(member.key for member in members if not _is_copy(member))
    shard: dict[tuple[int, ...], list[Iter]] = {}
    copies = Copies(list(outer.replica), [])
    all_copies = sum(map(_is_copy, members)) + len(outer.replica)
    for group in groups:
        if isinstance(group, Moving):
            found = _one_iter(group, shard, copies)
        else:
            alone = sum(map(_is_copy, group.members)) == all_copies
            found = _one_table(group, order, shard, copies, begin)
            if found is COPIES_DIFFER and not alone:
                raise UndecidedError("some elements' copies differ before other copies are added")
        if found is not None:
            return found
    replica = copies.iters(begin)
    if isinstance(replica, NoLayout):
        return replica
    iters = merge_shard(it for key in sorted(shard) for it in shard[key])
    return outer.rebuild(
        iters or [Iter(1, 1, m)], replica, {a: v for a, v in begin.items() if v != 0}
    )


COPIES_DIFFER = NoLayout("its elements' copies do not lie alike")


def _is_copy(member: Moving) -> bool:
    return member.key[0] == 1


def _one_iter(
    group: Moving, shard: dict[tuple[int, ...], list[Iter]], copies: Copies
) -> NoLayout | None:
    """A single iter's steps as an iter; why not, if they are none."""
    if _is_copy(group) and len(group.step) > 1:
        copies.add_steps(group.extent, group.step)
        return None
    if len(group.step) > 1:
        moves = " and ".join(f"{value}@{axis.name}" for axis, value in group.step.items())
        return NoLayout(f"one step of {group.extent} moves {moves} at once")
    axis, stride = next(iter(group.step.items()), (m, 0))
    if _is_copy(group):
        copies.ordinary.append(Iter(group.extent, stride, axis))
    else:
        shard[group.key] = [Iter(group.extent, stride, axis)]
    return None


def _one_table(
    group: Together,
    order: Sequence[tuple[int, ...]],
    shard: dict[tuple[int, ...], list[Iter]],
    copies: Copies,
    begin: Vector,
) -> NoLayout | None:
    """A table's iters: each run of neighbours among its members is a layout of its own."""
    elements = [member for member in group.members if not _is_copy(member)]
    count = math.prod(int(member.extent) for member in elements)  # type: ignore[arg-type]
    table = {axis: column.reshape(count, -1) for axis, column in group.place.items()}
    split = without_copies(table)
    if split is None:
        return COPIES_DIFFER
    table, own, shift = split
    for axis, value in shift.items():
        begin[axis] = begin.get(axis, 0) + value
    if own:
        copies.add(own)
    where = [order.index(member.key) for member in elements]
    sizes = [int(member.extent) for member in elements]  # type: ignore[arg-type]
    cuts = [k for k in range(1, len(where)) if where[k] != where[k - 1] + 1]
    runs = [range(a, b) for a, b in itertools.pairwise([0, *cuts, len(where)]) if a != b]
    parts = additive_parts(table, [math.prod(sizes[k] for k in run) for run in runs])
    if parts is None:
        return NoLayout("iters that are no neighbours carry into each other")
    for run, columns in zip(runs, parts, strict=True):
        size = math.prod(sizes[k] for k in run)
        iters = iters_of(columns, size)
        if isinstance(iters, NoLayout):
            steps = " and ".join(str(elements[k].extent) for k in run)
            return NoLayout(f"inner's iter of {steps} elements carries: {iters.reason}")
        shard[elements[run[0]].key] = iters
    return None
