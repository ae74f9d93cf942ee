"""The same memory seen as elements of another width.

    recast(TileLayout(S[(8, 64) : (64, 1)]), 16, 32)                  # S[(8, 32) : (32, 1)]
    recast(ComposeLayout(4, 3, 3, TileLayout(S[1024 : 1])), 8, 16)    # (3, 3, 3), S[512 : 1]

A place counts elements, so strides scale by the ratio of the widths, and the low field of a swizzle
by its logarithm: a byte swizzle (B, M, S) on elements of 2**k bytes is (B, M - k, S), since the XOR
acts on addresses and addresses are shifted by k.  The law is

    narrow units of element x = narrow units of the recast elements that it is made of, in order

`recast_claim` is that law as a claim.  To wider elements it asks that every r neighbours lie side
by side and start at a multiple of r; what breaks it is named by its first element.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

from layout_algebra import terms
from layout_algebra.algebra.normal_form import merge_shard
from layout_algebra.axes import Axis, m, reg
from layout_algebra.claims import Equivalent
from layout_algebra.dims import Size, divide_exactly
from layout_algebra.interop.refusals import InteropError, checked_layout, is_power_of_two, spelled
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.semantics import layout_map
from layout_algebra.values import AnyLayout, Iter, Swizzle, Swizzled, Tile, layout_size
from layout_algebra.verdicts import Witness

#: Elements that are looked at for the first one that breaks a run.
MOST_LOOKED = 1 << 16


def recast(
    layout: AnyLayout, from_bits: int, to_bits: int, axis: Axis | str = m
) -> TileLayout | ComposeLayout:
    """The layout of the same memory in elements of another width.

    Args:
        layout: a tile or a swizzled tile whose places on `axis` count elements of `from_bits`.
        from_bits, to_bits: widths of an element, before and after.
        axis: the axis that counts elements: m, or TCol for tensor memory.

    Returns:
        The layout over the recast elements in the same order: (from_bits / to_bits) times as many.

    Raises:
        InteropError: neighbours that do not lie side by side, a step that is no whole number of new
            elements, or a swizzle below them; the witness is the first unit (element of the
            greatest common width) that shows it.
    """
    checked_layout("the layout of recast", layout)
    _check_widths(from_bits, to_bits)
    counted = _memory_axis(axis)
    unit = gcd(from_bits, to_bits)
    narrow = _narrowed(layout, from_bits // unit, counted)
    return _widened(_Units(narrow, to_bits // unit, counted, unit))


def recast_claim(
    before: AnyLayout,
    from_bits: int,
    after: AnyLayout,
    to_bits: int,
    axis: Axis | str = m,
) -> Equivalent:
    """That two layouts in elements of two widths are one memory, unit by unit in order.

    Raises:
        InteropError: no layouts, or widths that are no positive ints.
    """
    checked_layout("the layout before", before)
    checked_layout("the layout after", after)
    _check_widths(from_bits, to_bits)
    unit = gcd(from_bits, to_bits)
    name = _memory_axis(axis).name
    return Equivalent(_units(before, from_bits // unit, name), _units(after, to_bits // unit, name))


def _check_widths(from_bits: object, to_bits: object) -> None:
    for name, bits in (("from_bits", from_bits), ("to_bits", to_bits)):
        if type(bits) is not int or bits < 1:
            raise InteropError(f"{name} is a positive number of bits; got {bits!r}")


def _memory_axis(axis: Axis | str) -> Axis:
    found = Axis.get(axis)
    return m if found is reg else found


def _units(layout: AnyLayout, ratio: int, axis: str) -> Map:
    """Where each narrow unit of each element is."""
    found = layout_map(layout)
    part = terms.coordinate("unit", ratio)
    outputs = dict(found.outputs)
    outputs[axis] = terms.linear([(found.output(axis), ratio), (part, 1)])
    return Map((*found.coordinates, part), tuple(outputs.items()), found.replicas, found.guard)


def _narrowed(layout: AnyLayout, ratio: int, axis: Axis) -> TileLayout | ComposeLayout:
    """Every element cut into `ratio` narrower ones."""
    tile = layout.affine
    if ratio == 1:
        return _made(layout, tile, 0)
    shard = [Iter(e, s * ratio if a is axis else s, a) for e, s, a in tile.shard]
    if tile.shard and tile.shard[-1][1:] == (1, axis):
        shard[-1] = Iter(tile.shard[-1].extent * ratio, 1, axis)
    else:
        shard.append(Iter(ratio, 1, axis))
    copies = [Iter(e, s * ratio if a is axis else s, a) for e, s, a in tile.replica]
    offset = {a: value * ratio if a is axis else value for a, value in tile.offsets}
    moved = isinstance(layout, Swizzled) and axis is m and not layout.swizzle.is_identity
    if moved and not is_power_of_two(ratio):
        raise InteropError(
            f"{layout.swizzle} acts on bits of an address, which {ratio} units for an element "
            "do not shift: recast the tile before it is swizzled"
        )
    return _made(
        layout, tile.rebuild(shard, copies, offset), ratio.bit_length() - 1 if moved else 0
    )


@dataclass(frozen=True)
class _Units:
    """A layout in narrow units, of which `ratio` make a new element; its words and witnesses."""

    layout: TileLayout | ComposeLayout
    ratio: int
    axis: Axis
    bits: int

    def broken(self, reason: str) -> InteropError:
        """The refusal, with the first unit that breaks the law where one is found."""
        return InteropError(reason, _first_break(self))

    def whole(self, step: Size, what: str) -> Size:
        """step / ratio; a step that is no whole number of new elements is refused."""
        quotient = divide_exactly(step, self.ratio)
        if quotient is None:
            raise self.broken(
                f"{what} of {step} units of {self.bits} bits "
                f"{'is no' if isinstance(step, int) else 'is not known to be a'} multiple of "
                f"{self.ratio}"
            )
        return quotient


def _widened(units: _Units) -> TileLayout | ComposeLayout:
    """Every `ratio` neighbours joined into one element."""
    layout, ratio, axis = units.layout, units.ratio, units.axis
    if ratio == 1:
        return layout
    tile = layout.affine
    shard = _joined_shard(units)
    copies = [
        Iter(e, units.whole(s, "a copy's stride") if a is axis and e != 1 else s, a)
        for e, s, a in tile.replica
    ]
    offset = {
        a: units.whole(value, "the offset") if a is axis else value for a, value in tile.offsets
    }
    joined = tile.rebuild(shard, copies, offset)
    if not isinstance(layout, Swizzled) or axis is not m or layout.swizzle.is_identity:
        return _made(layout, joined, 0)
    kept = layout.swizzle.per_element
    if is_power_of_two(ratio) and ratio <= 1 << kept:
        return _made(layout, joined, 1 - ratio.bit_length())
    if _is_idle(layout):
        return _made(tile, joined, 0)
    raise units.broken(f"the swizzle keeps runs of {1 << kept} together, a new element has {ratio}")


def _joined_shard(units: _Units) -> list[Iter]:
    """The shard over groups of `ratio` units.

    A run that the last iter does not hold alone may still be one with its neighbours merged.
    """
    ratio, axis = units.ratio, units.axis
    shard = [it for it in units.layout.shard if it.extent != 1]
    if not shard or shard[-1][1:] != (1, axis) or divide_exactly(shard[-1].extent, ratio) is None:
        shard = merge_shard(shard)
    count = divide_exactly(shard[-1].extent, ratio) if shard else None
    if count is None or shard[-1][1:] != (1, axis):
        size = layout_size(units.layout)
        if divide_exactly(size, ratio) is None:
            are = "are no" if isinstance(size, int) else "are not known to be a"
            raise InteropError(
                f"{size} units of {units.bits} bits {are} whole number of groups of {ratio}"
            )
        raise units.broken(f"{ratio} neighbours of {units.bits} bits do not lie side by side")
    rest = [Iter(e, units.whole(s, "a stride") if a is axis else s, a) for e, s, a in shard[:-1]]
    return rest if count == 1 and rest else [*rest, Iter(count, 1, axis)]


def _is_idle(layout: ComposeLayout) -> bool:
    """Whether no address of the layout reaches the field that the swizzle reads."""
    if layout.is_symbolic:
        return False
    s = layout.swizzle
    source = s.per_element + (s.atom_len if s.swizzle_inner else 0)
    lowest, highest = _reach(layout.affine)
    return lowest >= 0 and highest < 1 << source


def _reach(tile: Tile) -> tuple[int, int]:
    """The lowest and the highest place on axis m of a tile with numbers."""
    low = high = _int(tile.offset.get(m, 0))
    for extent, stride, axis in (*tile.shard, *tile.replica):
        if axis is m:
            step = (_int(extent) - 1) * _int(stride)
            low, high = low + min(0, step), high + max(0, step)
    return low, high


def _int(size: Any) -> int:
    return size  # callers have looked at is_symbolic


def _made(layout: AnyLayout, tile: Tile, shift: int) -> TileLayout | ComposeLayout:
    """The tile with the layout's swizzle, its low field `shift` bits wider."""
    plain = TileLayout.from_iters(tile.shard, tile.replica, tile.offset)
    if not isinstance(layout, Swizzled):
        return plain
    s = layout.swizzle
    moved = Swizzle(s.per_element + shift, s.swizzle_len, s.atom_len, s.swizzle_inner)
    return ComposeLayout._from_parts(moved, plain)


def _first_break(units: _Units) -> Witness | None:
    """The first unit that does not lie where its group of `ratio` puts it."""
    layout, ratio, axis = units.layout, units.ratio, units.axis.name
    if layout.is_symbolic:
        return None
    start: list[dict[str, int]] = []
    for flat in range(min(_int(layout_size(layout)), MOST_LOOKED)):
        places = layout.places(flat)
        if flat % ratio == 0:
            start = places
            stray = next((place for place in places if place.get(axis, 0) % ratio), None)
            if stray is not None:
                text = f"unit {flat} is at {spelled(stray)}, not at a multiple of {ratio}"
                return Witness(text, ({"unit": flat},), (stray,))
            continue
        for first in start:
            wanted = {**first, axis: first.get(axis, 0) + flat % ratio}
            if not _is_among(wanted, places):
                before = flat - flat % ratio
                text = (
                    f"unit {before} is at {spelled(first)}, unit {flat} at {spelled(places[0])}, "
                    f"not at {spelled(wanted)}"
                )
                return Witness(text, ({"unit": flat},), (places[0], wanted))
    return None


def _is_among(place: dict[str, int], places: list[dict[str, int]]) -> bool:
    def key(one: dict[str, int]) -> dict[str, int]:
        return {axis: value for axis, value in one.items() if value}

    return any(key(place) == key(one) for one in places)
