"""Small edits: permuting iters, packing and unpacking elements, broadcasting, dropping threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from layout_algebra.algebra.deciding import Decide, checked_decide, knowing_extents
from layout_algebra.algebra.group import GroupError
from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size, is_size
from layout_algebra.errors import LayoutError
from layout_algebra.values import AnyTile, Iter, Swizzle, make_iter


def permute_dims(tile: AnyTile, perm: Sequence[int]) -> AnyTile:
    """Shard iters reordered: the k-th becomes shard[perm[k]].

    Raises:
        LayoutError: perm is no permutation of the iters.
    """
    order = _permutation(perm, len(tile.shard), "shard iters")
    return tile.rebuild([tile.shard[k] for k in order], tile.replica, tile.offset)


def permute_by_groups(tile: AnyTile, seps: Sequence[int], perm: Sequence[int]) -> AnyTile:
    """Groups of iters moved whole: group d is shard[seps[d]:seps[d+1]].

    Raises:
        GroupError: separators that do not cut the shard into groups.
        LayoutError: perm is no permutation of the groups.
    """
    cuts = list(seps)
    ordered = all(type(c) is int for c in cuts) and cuts == sorted(cuts)
    if not cuts or not ordered or cuts[0] != 0 or cuts[-1] != len(tile.shard):
        raise GroupError(
            f"separators go from 0 up to {len(tile.shard)}, the number of shard iters; "
            f"got {tuple(seps)}"
        )
    order = _permutation(perm, len(cuts) - 1, "groups")
    shard = [it for d in order for it in tile.shard[cuts[d] : cuts[d + 1]]]
    return tile.rebuild(shard, tile.replica, tile.offset)


def unpack(tile: AnyTile, num: Size, axis: Axis = m) -> AnyTile:
    """Each element becomes `num` consecutive ones: result(f*num + j) = L(f)*num + j on the axis.

    Raises:
        LayoutError: num below 1, or an axis that is no memory axis.
    """
    _check_num("unpack", num)
    _check_memory("unpack", axis)

    def wider(it: Iter) -> Iter:
        return Iter(it.extent, it.stride * num, it.axis) if it.axis is axis else it

    offset = {a: value * num if a is axis else value for a, value in tile.offsets}
    shard = [*map(wider, tile.shard), Iter(num, 1, axis)]
    return tile.rebuild(shard, map(wider, tile.replica), offset)


def pack(tile: AnyTile, num: Size, axis: Axis = m, decide: Decide | None = None) -> AnyTile:
    """`num` consecutive elements become one: the inverse of `unpack`.

    Raises:
        LayoutError: the last iter does not step by 1 on the axis or num does not divide its extent,
            or a stride, copy or offset on the axis that num does not divide.
    """
    _check_num("pack", num)
    _check_memory("pack", axis)
    ask = checked_decide(decide) or knowing_extents([*tile.extents, num])
    if not tile.shard:
        raise LayoutError("pack: the layout has no iters to pack")
    last = tile.shard[-1]
    if last.axis is not axis or not ask.equal(last.stride, 1):
        raise LayoutError(f"pack: the last iter must step by 1 on {axis.name}; it is {last}")
    rest = ask.quotient(last.extent, num)
    if rest is None:
        raise LayoutError(f"pack: {num} does not divide the last extent {last.extent}")

    def divided(value: Size, what: str) -> Size:
        found = ask.quotient(value, num)
        if found is None:
            raise LayoutError(f"pack: {num} does not divide the {what} {value}@{axis.name}")
        return found

    def narrower(it: Iter) -> Iter:
        if it.axis is not axis:
            return it
        return Iter(it.extent, divided(it.stride, "stride"), it.axis)

    offset = {a: divided(value, "offset") if a is axis else value for a, value in tile.offsets}
    shard = [*map(narrower, tile.shard[:-1]), Iter(rest, 1, axis)]
    return tile.rebuild(shard, map(narrower, tile.replica), offset)


def repacked_swizzle(swizzle: Swizzle, num: Size, axis: Axis, *, wider: bool) -> Swizzle:
    """The swizzle in units of packed elements: per_element grows or shrinks by log2(num).

    Places on another axis than m do not pass through the swizzle: there it stays.

    Raises:
        LayoutError: num is no power of two, or larger than the kept low bits.
    """
    if axis is not m:
        return swizzle
    if not isinstance(num, int) or num < 1 or num & (num - 1):
        raise LayoutError(f"under a swizzle the number of elements is a power of two; got {num}")
    bits = num.bit_length() - 1
    kept = swizzle.per_element + (bits if wider else -bits)
    if kept < 0:
        raise LayoutError(
            f"pack: {num} elements are more than the 2^{swizzle.per_element} that the swizzle "
            "keeps together"
        )
    return Swizzle(kept, swizzle.swizzle_len, swizzle.atom_len, swizzle.swizzle_inner)


def broadcast(tile: AnyTile, num: Size, position: int = -1, axis: Axis | str = m) -> AnyTile:
    """A new iter of stride 0: `num` logical elements at one place.

    Args:
        position: where the new iter goes, as in `list.insert` (beyond the end it is appended);
            negative counts from one past the end, so -1 appends.

    Raises:
        LayoutError: num below 1, or a position that is no int.
    """
    new = make_iter(num, 0, axis, "broadcast")
    if type(position) is not int:
        raise LayoutError(f"broadcast: the position is an int; got {position!r}")
    shard = list(tile.shard)
    shard.insert(position if position >= 0 else position + len(shard) + 1, new)
    return tile.rebuild(shard, tile.replica, tile.offset)


def storage(tile: AnyTile) -> AnyTile:
    """What lies in one thread's storage: iters, copies and offsets on thread axes dropped."""

    def kept(iters: Iterable[Iter]) -> list[Iter]:
        return [it for it in iters if not it.axis.is_thread]

    offset = {axis: value for axis, value in tile.offsets if not axis.is_thread}
    return tile.rebuild(kept(tile.shard), kept(tile.replica), offset)


def _permutation(perm: Sequence[int], count: int, what: str) -> list[int]:
    if not isinstance(perm, Sequence):  # type: ignore[redundant-expr]
        raise LayoutError(f"a permutation is a sequence of ints; got {perm!r}")
    order = list(perm)
    if any(type(k) is not int for k in order) or sorted(order) != list(range(count)):
        raise LayoutError(
            f"a permutation of {count} {what} names 0..{count - 1} once each; got {tuple(perm)}"
        )
    return order


def _check_num(name: str, num: object) -> None:
    if not is_size(num) or (isinstance(num, int) and num < 1):
        raise LayoutError(f"{name}: the number of elements is at least 1; got {num!r}")


def _check_memory(name: str, axis: Axis) -> None:
    if not axis.is_memory:
        raise LayoutError(
            f"{name}: elements are packed on a memory axis; {axis.name} is a {axis.kind} axis"
        )
