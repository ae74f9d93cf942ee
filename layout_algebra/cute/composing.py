"""composition: R(c) = A(B(c)), with B's top-level modes.

formula     R(c) = A(B(c)) for every coordinate c of B
requires    B's values are indices of A, and there is such a layout: the parts that B's modes
            contribute add up, and each is a layout of its own
ensures     where B's shape is a tuple, R has as many top-level modes as B, of the same sizes; a B
            that is a size alone, as 8:2, is one mode, of which R may be several parts.  Where
            possible R refines each leaf of B, else (the leaf boundary is none of the composite)
            each top-level mode
example     (10,2):(16,4) after (3,4):(1,5) is (3,(2,2)):(16,(80,4))

Complete: with numbers for the sizes a refusal means that no such layout exists, or says "not
decided" where neither structure nor 2**20 elements told.  A's last mode ends at its size, unlike
CuTe's, which goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from layout_algebra.algebra.deciding import Decide, knowing_extents
from layout_algebra.cute import tuples
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.leaves import (
    NoLayoutError,
    Part,
    UndecidedError,
    added,
    check_inside,
    extracted,
    overfull,
    through,
)
from layout_algebra.cute.shapes import known, make_layout, of_pairs
from layout_algebra.cute.strides import (
    MOST_ENUMERATED,
    Pair,
    applied,
    first_outside,
    greatest_digits,
    merged,
    numbers,
    value,
    values,
)
from layout_algebra.cute.tuples import Nested
from layout_algebra.cute.values import AnyLayout, ComposedLayout, Layout, Swizzle, plain
from layout_algebra.dims import Size, is_size


def composition(a: AnyLayout | Swizzle, b: Any) -> AnyLayout:
    """The layout c -> a(b(c)).

    Args:
        a: a layout; a composed one keeps swizzle and offset; a Swizzle makes a composed layout.
        b: a layout; an int or a Dim N stands for N:1; a tuple of those (and of tuples, and None for
            "as it is") is a tiler: its parts go to a's modes one by one, modes beyond it stay.

    Law: result(c) == a(b(c)) for every index and every coordinate of b's top-level modes; with a
    tiler, mode by mode.  Where b's shape is a size alone, the result has as many modes as a takes
    it apart into: (8,8,2):(2,32,16) after 8:2 is (4,2):(4,32).

    Raises:
        CuteError: b leaves a's domain (with the first coordinate that does), a(b(c)) is no layout
            with b's modes (with the mode or the coordinate that shows it), or it is not decided.
    """
    if isinstance(a, Swizzle):
        return ComposedLayout(a, 0, tiler_layout(b, "composition"))
    a = known(a, "composition")
    if isinstance(a, ComposedLayout):
        return a.with_layout(composed(a.layout, b))
    return composed(a, b)


def composed(a: Layout, b: Any, operation: str = "composition") -> Layout:
    """`composition` of layouts without a swizzle."""
    if not isinstance(b, tuple | list):
        return _compose(a, tiler_layout(b, operation), operation)
    parts = tiled_modes(a, b, operation)
    done = [
        mode if part is None else composed(mode, part, f"{operation}, mode {k}")
        for k, (mode, part) in enumerate(zip(parts, b, strict=False))
    ]
    return make_layout(*done, *parts[len(b) :])


def tiled_modes(a: Layout, tiler: Sequence[Any], operation: str) -> tuple[Layout, ...]:
    """a's modes, at least as many as the tiler has parts.

    Raises:
        CuteError: a tiler of more parts, or nested too deeply.
    """
    tuples.check_nesting(tiler, f"tiler of {operation}")
    parts = a.modes()
    if len(tiler) > len(parts):
        raise CuteError(
            f"{operation}: a tiler of {len(tiler)} modes for {a}, which has {len(parts)}"
        )
    return parts


def tiler_layout(b: Any, operation: str) -> Layout:
    """A layout from a layout, or from the N that stands for N:1."""
    if is_size(b):
        return Layout(b, 1)
    return plain(b, f"{operation}: the right argument")


# -- one layout after another ------------------------------------------------------------------
class _Mode:
    """A top-level mode of the result, with what it reaches at A's pairs."""

    def __init__(self, shape: Nested, stride: Nested, reach: Mapping[int, Size]) -> None:
        self.layout = Layout(shape, stride)
        self.reach = reach


def _compose(a: Layout, b: Layout, operation: str) -> Layout:
    pairs = merged(a.pairs()) or [(1, 0)]
    ask = knowing_extents([*(s for s, _ in a.pairs()), *(s for s, _ in b.pairs())])
    _check_inside(pairs, b, operation)
    found: list[_Mode] = []
    for k, mode in enumerate(b.modes()):
        try:
            found.append(_through_mode(pairs, mode, ask))
        except (NoLayoutError, UndecidedError) as error:
            where = f", mode {k} of {b}" if len(b) > 1 else ""
            raise type(error)(f"{operation}: {a} after {mode}{where}: {error}") from None
    whole = make_layout(*(mode.layout for mode in found))
    result = whole if isinstance(b.shape, tuple) else whole[0]
    try:
        _check_sum(pairs, b, result, [mode.reach for mode in found], ask)
    except (NoLayoutError, UndecidedError) as error:
        raise type(error)(f"{operation}: {a} after {b}: {error}") from None
    return result


def _check_inside(pairs: Sequence[Pair], b: Layout, operation: str) -> None:
    """That b's values are indices of A, where all are numbers (else the digits tell)."""
    left, right = numbers(pairs), numbers(b.pairs())
    if left is None or right is None:
        return
    size = 1
    for count, _ in left:
        size *= count
    index = first_outside(right, size)
    if index is not None:
        coordinate = tuples.coordinate_of(index, b.shape)
        raise NoLayoutError(
            f"{operation}: {b} leaves the left layout, which has indices 0..{size - 1}: first at "
            f"coordinate {coordinate} (index {index}), where it is {b(index)}"
        )


def _through_mode(pairs: Sequence[Pair], mode: Layout, ask: Decide) -> _Mode:
    """One top-level mode: leaf by leaf, else as one leaf, else by its values."""
    leaves = mode.pairs()
    try:
        parts = [through(pairs, size, step, ask) for size, step in leaves]
        reach = added([part.reach for part in parts])
        if not overfull(pairs, reach, ask) or len(leaves) == 1:
            return _Mode(*_nested(mode.shape, parts), reach)
    except (NoLayoutError, UndecidedError):
        joined = merged(leaves)
        if len(leaves) == 1 or (len(joined) > 1 and not _small(mode)):
            raise
        if len(joined) == 1:
            return _flat_mode(through(pairs, *joined[0], ask))
        parts = None
    return _by_values(pairs, mode, parts)


def _by_values(pairs: Sequence[Pair], mode: Layout, parts: list[Part] | None) -> _Mode:
    left, right = numbers(pairs), numbers(mode.pairs())
    if left is None or right is None or not _small(mode):
        raise UndecidedError(
            f"{mode}: it is not known whether its leaves count through the left layout without "
            "carries between them"
        )
    check_inside(left, right)
    size = tuples.number(mode.size())
    indices = values(right, size)
    found = applied(left, indices)
    reach: dict[int, Size] = dict(enumerate(greatest_digits(left, indices)))
    if parts is not None:
        shape, stride = _nested(mode.shape, parts)
        summed = numbers(Layout(shape, stride).pairs())
        if summed is not None and bool((values(summed, size) == found).all()):
            return _Mode(shape, stride, reach)
    return _flat_mode(Part(extracted(found, str(mode)), reach))


def _flat_mode(part: Part) -> _Mode:
    layout = of_pairs(part.pieces)
    return _Mode(layout.shape, layout.stride, part.reach)


def _nested(shape: Nested, parts: Sequence[Part]) -> tuple[Nested, Nested]:
    """Each leaf of the shape replaced by its pieces."""
    layouts = [of_pairs(part.pieces) for part in parts]
    return (
        tuples.shaped(shape, iter([layout.shape for layout in layouts])),
        tuples.shaped(shape, iter([layout.stride for layout in layouts])),
    )


def _small(layout: Layout) -> bool:
    size = layout.size()
    return isinstance(size, int) and size <= MOST_ENUMERATED


# -- the modes together ------------------------------------------------------------------------
def _check_sum(
    pairs: Sequence[Pair],
    b: Layout,
    result: Layout,
    reaches: Sequence[Mapping[int, Size]],
    ask: Decide,
) -> None:
    """That the modes' parts add up to A(B(c)): by digits without carries, else element by element.

    Raises:
        NoLayoutError: they do not.
        UndecidedError: a carry may happen, and there are too many elements to look at.
    """
    over = overfull(pairs, added(reaches), ask)
    if not over:
        return
    left, right, made = numbers(pairs), numbers(b.pairs()), numbers(result.pairs())
    crossed = f"{pairs[over[0]][0]}:{pairs[over[0]][1]}"
    if left is None or right is None or made is None:
        raise UndecidedError(
            f"it is not known that its modes count without a carry through mode {crossed} of the "
            "left layout"
        )
    size = tuples.number(b.size())
    if size > MOST_ENUMERATED:
        last = value(left, b(size - 1))
        if last != result(size - 1):
            raise _no_sum(size - 1, last, b, result, crossed)
        raise UndecidedError(
            f"a carry through mode {crossed} of the left layout is not decided, and {size} "
            "elements are too many to look at"
        )
    found = applied(left, values(right, size))
    wrong = (found != values(made, size)).nonzero()[0]
    if len(wrong):
        first = int(wrong[0])
        raise _no_sum(first, int(found[first]), b, result, crossed)


def _no_sum(index: int, true: int, b: Layout, result: Layout, crossed: str) -> NoLayoutError:
    return NoLayoutError(
        f"the modes together carry through mode {crossed} of the left layout: at coordinate "
        f"{tuples.coordinate_of(index, b.shape)} the value is {true}, and its modes alone add up "
        f"to {result(index)}; that is no layout"
    )
