"""The notation: `S[extents : strides] + R[extents : strides] + offset`, and its text.

    S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid

A stride is an int or Dim (on axis m), `4@axis`, an axis or its name (one place), or a pair
`(4, "axis")`.  Extents without strides are row-major compact on m.  Offsets are ints (on m) or
`n@axis`, on either side, and add up.  `@reg` is the book's spelling of `m` for a lane's fragment
slots; one layout uses one of the two.

Lists of different lengths, a second `S` or `R`, and numbers that are not integers are errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from layout_algebra.axes import Axis, AxisTerms, m, reg
from layout_algebra.dims import Polynomial, Size, as_size, is_size
from layout_algebra.errors import LayoutAlgebraError, LayoutError, NotationError
from layout_algebra.values import Iter, Swizzled, Tile, make_iter, row_major_strides

Part = Literal["extent", "stride"]


class ItemError(NotationError):
    """A notation error in one extent or stride: `part` and `position` say which."""

    def __init__(self, message: str, part: Part, position: int) -> None:
        super().__init__(message)
        self.part = part
        self.position = position


@dataclass(frozen=True, repr=False)
class Spec:
    """What `S[...] + R[...] + offset` makes; `TileLayout(spec)` turns it into a layout."""

    shard: tuple[Iter, ...] | None = None
    replica: tuple[Iter, ...] | None = None
    offset: tuple[tuple[Axis, Size], ...] = ()
    spelled: frozenset[str] = field(default=frozenset(), compare=False)

    def __add__(self, other: object) -> Spec:
        if isinstance(other, Spec):
            if self.shard and other.shard:
                raise NotationError("a layout has one S[...]: join its iters in one list")
            if self.replica and other.replica:
                raise NotationError("a layout has one R[...]: join its iters in one list")
            return replace(
                self,
                shard=self.shard or (other.shard if other.shard is not None else self.shard),
                replica=self.replica or other.replica,
                offset=_joined(self.offset, other.offset),
                spelled=self.spelled | other.spelled,
            )
        found = _offset(other)
        if found is None:
            if isinstance(other, _Maker):
                raise NotationError(f"{other} needs its extents in brackets: {other}[...]")
            if isinstance(other, Axis):
                raise NotationError(
                    f"an offset on an axis has a number: n@{other}; got {other} alone"
                )
            if other is None or isinstance(other, float | str | bool | tuple | list):
                raise NotationError(f"an offset is an int, a Dim, or n@axis; got {other!r}")
            return NotImplemented
        return replace(
            self,
            offset=_joined(
                self.offset, [(m if axis is reg else axis, value) for axis, value in found]
            ),
            spelled=self.spelled | {axis.name for axis, _ in found if axis in (m, reg)},
        )

    def __radd__(self, other: object) -> Spec:
        return self.__add__(other)

    def __sub__(self, other: object) -> Spec:
        raise NotationError(f"write a negative offset as + (-n) or + (-n)@axis; got - {other}")

    def __mul__(self, other: object) -> Spec:
        raise NotationError(f"a layout is a sum, S[...] + R[...] + offset; got * {other}")

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return notation(Tile(self.shard or (), self.replica or (), self.offset))

    def tile_parts(
        self,
    ) -> tuple[tuple[Iter, ...], tuple[Iter, ...], tuple[tuple[Axis, Size], ...]]:
        """Shard, replica and sorted offsets.

        Raises:
            NotationError: both `@reg` and `m` are used.
        """
        if {"m", "reg"} <= self.spelled:
            raise NotationError("@reg is another spelling of m: use one of them in a layout")
        return (
            self.shard or (),
            self.replica or (),
            tuple(sorted(self.offset, key=lambda p: p[0].name)),
        )


class _Maker:
    """`S` and `R`: `S[8, 4]`, `S[(8, 4) : (4@laneid, 1)]`, `S[()]`."""

    def __init__(self, name: Literal["S", "R"]) -> None:
        self.name = name

    def __getitem__(self, key: Any) -> Spec:
        iters, spelled = _read(self.name, key)
        if self.name == "S":
            return Spec(shard=iters, spelled=spelled)
        return Spec(replica=iters, spelled=spelled)

    def __repr__(self) -> str:
        return self.name


#: The shard: places the distinct elements.
S = _Maker("S")
#: The replica: places the copies of every element.
R = _Maker("R")


def notation(layout: Tile | Swizzled) -> str:
    """The text of a layout, which `parse` reads back to an equal layout."""
    if isinstance(layout, Swizzled):
        s = layout.swizzle
        inner = "" if s.swizzle_inner else ", swizzle_inner=False"
        tile = notation(layout.tile_layout)
        return f"ComposeLayout({s.per_element}, {s.swizzle_len}, {s.atom_len}, {tile}{inner})"
    parts = [_maker_text("S", layout.shard)]
    if layout.replica:
        parts.append(_maker_text("R", layout.replica))
    parts += [_offset_text(value, axis) for axis, value in layout.offsets]
    return " + ".join(parts)


def _both_sides(name: str, key: slice[Any, Any, Any]) -> tuple[list[Any], list[Any]]:
    """The extents and the strides of `extents : strides`: both lists, or both single."""
    if key.step is not None:
        raise NotationError(f"{name}[...] takes extents : strides; got a second ':'")
    if key.start is None or key.stop is None:
        missing = "extents before" if key.start is None else "strides after"
        raise NotationError(
            f"{name}[...] has no {missing} the ':' (for row-major strides leave the ':' out)"
        )
    extents, strides = _as_list(key.start), _as_list(key.stop)
    if extents is None and strides is None:
        return [key.start], [key.stop]
    if extents is None:
        raise NotationError(_strides_alone(name, key.start, key.stop))
    if strides is None:
        raise NotationError(
            f"{name}[...]: {_count(len(extents), 'extent')} in a list: the strides are a list too; "
            f"got {key.stop!r}"
        )
    if len(extents) != len(strides):
        raise NotationError(
            f"{name}[...]: one stride for each extent; got {_count(len(extents), 'extent')} and "
            f"{_count(len(strides), 'stride')}"
        )
    return extents, strides


def _as_list(side: Any) -> list[Any] | None:
    """The items of a tuple or list; None for anything else."""
    return list(cast("Sequence[Any]", side)) if isinstance(side, tuple | list) else None


def _read(name: str, key: Any) -> tuple[tuple[Iter, ...], frozenset[str]]:
    extents: list[Any]
    if isinstance(key, slice):
        extents, strides = _both_sides(name, cast("slice[Any, Any, Any]", key))
        extents = _checked_extents(name, extents)
        read = [_stride(name, position, stride) for position, stride in enumerate(strides)]
    else:
        several = _as_list(key)
        extents = [key] if several is None else several
        if any(isinstance(extent, slice) for extent in extents):
            raise NotationError(
                f"{name}[...] has one ':', between all extents and all strides: "
                f"{name}[(8, 4) : (4, 1)]"
            )
        if len(extents) == 1:
            extents = _as_list(extents[0]) or extents
        extents = _checked_extents(name, extents)
        read = [(stride, m) for stride in row_major_strides(as_size(e) for e in extents)]
    iters: list[Iter] = []
    spelled: set[str] = set()
    for extent, (stride, axis) in zip(extents, read, strict=True):
        iters.append(make_iter(extent, stride, axis))
        if axis in (m, reg):
            spelled.add(axis.name)
    return tuple(iters), frozenset(spelled)


def _strides_alone(name: str, extent: Any, strides: Any) -> str:
    """The message for `S[8 : (4, "laneid")]`: one extent, but a list of strides."""
    if len(strides) == 2 and isinstance(strides[1], str | Axis):
        meant = f"{strides[0]}@{strides[1]}"
        return f"{name}[...]: a single stride on an axis is written {name}[{extent} : {meant}]"
    return (
        f"{name}[...]: a list of {_count(len(strides), 'stride')} goes with a list of extents, "
        f"{name}[({extent},) : ...]; got the extent {extent} alone"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _number(value: Any) -> Any:
    """In brackets True is 1, as TIRx has it: `S[flag]` may hold a comparison."""
    return int(value) if isinstance(value, bool) else value


def _checked_extents(name: str, extents: Sequence[Any]) -> list[Any]:
    checked = [_number(extent) for extent in extents]
    for position, extent in enumerate(checked):
        where = f"{name}[...], extent {position}"
        if isinstance(extent, tuple | list):
            raise ItemError(f"{where}: extents are not nested; got {extent!r}", "extent", position)
        try:
            make_iter(extent, 0, m, where)
        except LayoutError as error:
            raise ItemError(str(error), "extent", position) from None
    return checked


def _stride(name: str, position: int, stride: Any) -> tuple[Size, Axis]:
    where = f"{name}[...], stride {position}"
    try:
        if isinstance(stride, AxisTerms) and len(stride.terms) == 1:
            return stride.terms[0]
        if isinstance(stride, Axis | str):
            return 1, Axis.get(stride)
        value: Any = stride
        axis: Axis | str = m
        pair = _as_list(stride)
        if pair is not None and len(pair) == 2 and isinstance(pair[1], Axis | str):
            value, axis = pair
        value = _number(value)
        if not is_size(value):
            raise LayoutError(f'{where}: one int, Dim, n@axis or (n, "axis"); got {stride!r}')
        return as_size(value), Axis.get(axis)
    except LayoutAlgebraError as error:
        text = str(error) if str(error).startswith(where) else f"{where}: {error}"
        raise ItemError(text, "stride", position) from None


def _offset(value: object) -> Sequence[tuple[Axis, Size]] | None:
    if isinstance(value, AxisTerms):
        return [(axis, number) for number, axis in value.terms]
    if is_size(value):
        return [(m, as_size(value))]  # type: ignore[arg-type]
    return None


def _joined(
    first: Sequence[tuple[Axis, Size]], second: Sequence[tuple[Axis, Size]]
) -> tuple[tuple[Axis, Size], ...]:
    total: dict[Axis, Size] = {}
    for axis, value in (*first, *second):
        total[axis] = total.get(axis, 0) + value
    return tuple(total.items())


def _maker_text(name: str, iters: Sequence[Iter]) -> str:
    if not iters:
        return f"{name}[()]"
    extents = [_size_text(it.extent) for it in iters]
    strides = [_on_axis(it.stride, it.axis) for it in iters]
    if len(iters) == 1:
        return f"{name}[{extents[0]} : {strides[0]}]"
    return f"{name}[({', '.join(extents)}) : ({', '.join(strides)})]"


def _offset_text(value: Size, axis: Axis) -> str:
    """An offset; a sum is in parentheses, since `- n` cannot follow a layout."""
    several = isinstance(value, Polynomial) and len(value.terms) > 1
    return f"({_size_text(value)})" if axis is m and several else _on_axis(value, axis)


def _on_axis(value: Size, axis: Axis) -> str:
    text = _size_text(value)
    if axis is m:
        return text
    if isinstance(value, Polynomial) and len(value.terms) > 1:
        text = f"({text})"
    return f"{text}@{axis.name}"


def _size_text(value: Size) -> str:
    return str(value) if isinstance(value, int) else value.call_text()
