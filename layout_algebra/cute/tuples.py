"""Nested tuples of sizes: shapes, strides and coordinates of CuTe layouts.

    leaves(((2, 4), 8))                   # [2, 4, 8]
    coordinate_of(21, ((2, 4), 8))        # ((1, 2), 2)         the first number counts fastest
    index_of(((1, 2), 2), ((2, 4), 8))    # 21

Everything here is colexicographic: an index counts through the first leaf first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from layout_algebra.cute.errors import CuteError
from layout_algebra.dims import Polynomial, Size, as_size, bounds, is_size, product
from layout_algebra.errors import CoordinateError

#: A size, or a tuple of nested tuples of sizes.
Nested: TypeAlias = int | Polynomial | tuple["Nested", ...]

#: How deep a shape or a tiler may be nested, how many leaves it may have, and how many bits a
#: number.
MOST_DEPTH = 32
MOST_LEAVES = 4096
MOST_BITS = 4096
#: Numbers and tuples of one nested tuple, together.
MOST_PARTS = MOST_LEAVES * MOST_DEPTH


def checked(value: Any, what: str) -> Nested:
    """A nested tuple of sizes from nested tuples or lists.

    Raises:
        CuteError: anything else in it, or more than the limits above.
    """
    check_nesting(value, what)
    count = 0

    def walk(part: Any) -> Nested:
        nonlocal count
        if isinstance(part, tuple | list):
            return tuple(walk(inner) for inner in part)
        if not is_size(part):
            raise CuteError(
                f"{'an' if what == 'order' else 'a'} {what} is made of ints, Dims and tuples of "
                f"them; got {type(part).__name__} {short(part)}"
            )
        if isinstance(part, int) and part.bit_length() > MOST_BITS:
            raise CuteError(f"a number of the {what} has more than {MOST_BITS} bits")
        count += 1
        if count > MOST_LEAVES:
            raise CuteError(f"the {what} has more than {MOST_LEAVES} numbers")
        return as_size(part)

    return walk(value)


def check_nesting(value: Any, what: str) -> None:
    """That nested tuples or lists may be gone through: not too deep, not too many parts.

    Raises:
        CuteError: deeper than MOST_DEPTH levels (a list inside itself too), or more than MOST_PARTS
            numbers and tuples.
    """
    waiting: list[tuple[Any, int]] = [(value, 0)]
    count = 1
    while waiting:
        part, depth = waiting.pop()
        if depth > MOST_DEPTH:
            raise CuteError(f"the {what} is nested deeper than {MOST_DEPTH} levels")
        if isinstance(part, tuple | list):
            count += len(part)
            if count > MOST_PARTS:
                raise CuteError(f"the {what} has more than {MOST_PARTS} numbers and tuples")
            waiting += [(inner, depth + 1) for inner in part]


def checked_shape(value: Any) -> Nested:
    """A shape: a nested tuple of sizes that are at least 1.

    Raises:
        CuteError: otherwise.
    """
    shape = checked(value, "shape")
    for size in leaves(shape):
        most = bounds(size)[1]
        if most is not None and most < 1:
            raise CuteError(f"a shape's sizes are at least 1; got {size} in {text(shape)}")
    return shape


def leaves(nested: Nested) -> list[Size]:
    """The sizes from left to right."""
    if not isinstance(nested, tuple):
        return [nested]
    return [leaf for part in nested for leaf in leaves(part)]


def modes(nested: Nested) -> tuple[Nested, ...]:
    """The top level: the tuple's parts, or the size alone."""
    return nested if isinstance(nested, tuple) else (nested,)


def size_of(shape: Nested) -> Size:
    """The product of the sizes."""
    return product(leaves(shape))


def depth_of(nested: Nested) -> int:
    """0 for a size, else one more than the deepest part."""
    if not isinstance(nested, tuple):
        return 0
    return 1 + max((depth_of(part) for part in nested), default=0)


def congruent(a: Nested, b: Nested) -> bool:
    """Whether both are nested alike."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(congruent(x, y) for x, y in zip(a, b, strict=True))
    return not isinstance(a, tuple) and not isinstance(b, tuple)


def shaped(profile: Nested, values: Iterator[Nested]) -> Nested:
    """The values, in order, in the places of the profile's leaves."""
    if isinstance(profile, tuple):
        return tuple(shaped(part, values) for part in profile)
    return next(values)


def mapped(nested: Nested, change: Callable[[Size], Size]) -> Nested:
    """Every leaf changed."""
    return shaped(nested, iter([change(leaf) for leaf in leaves(nested)]))


def column_major(shape: Nested) -> Nested:
    """Compact strides, the first leaf fastest."""
    strides: list[Size] = []
    below: Size = 1
    for size in leaves(shape):
        strides.append(below)
        below = below * size
    return shaped(shape, iter(strides))


# -- coordinates -------------------------------------------------------------------------------
def index_of(coordinate: Any, shape: Nested) -> int:
    """The index of a coordinate; a number stands for the index into its part of the shape.

    Raises:
        CoordinateError: a coordinate that is not nested as the shape allows, or outside of it.
    """
    if isinstance(coordinate, tuple | list):
        parts = modes(shape)
        if not isinstance(shape, tuple) or len(coordinate) != len(parts):
            raise CoordinateError(
                f"coordinate {short(coordinate)} does not go with shape {text(shape)}: "
                f"give a number{f' or {len(parts)} parts' if isinstance(shape, tuple) else ''}"
            )
        index, weight = 0, 1
        for part, inner in zip(coordinate, parts, strict=True):
            index += index_of(part, inner) * weight
            weight *= number(size_of(inner))
        return index
    if isinstance(coordinate, bool) or not hasattr(coordinate, "__index__"):
        raise CoordinateError(f"a coordinate is made of integers; got {short(coordinate)}")
    index, size = int(coordinate.__index__()), number(size_of(shape))
    if not 0 <= index < size:
        raise CoordinateError(
            f"coordinate {short(index)} is outside 0..{size - 1} of shape {text(shape)}"
        )
    return index


def coordinate_of(index: int, shape: Nested) -> Any:
    """The coordinate, nested as the shape, of an index inside it."""
    if not isinstance(shape, tuple):
        return index
    parts: list[Any] = []
    for inner in shape:
        index, digit = divmod(index, number(size_of(inner)))
        parts.append(coordinate_of(digit, inner))
    return tuple(parts)


def number(size: Size) -> int:
    """The size as an int.

    Raises:
        CoordinateError: a size with Dims.
    """
    if isinstance(size, int):
        return size
    raise CoordinateError(f"a number is needed for {size}: call evaluated(...) first")


# -- text --------------------------------------------------------------------------------------
def text(nested: Nested) -> str:
    """As CuTe prints it, `((2,4),8)`; a tuple of one is `(4)`, Dims are written as their calls."""
    if isinstance(nested, tuple):
        return f"({','.join(text(part) for part in nested)})"
    if isinstance(nested, int):
        return str(nested)
    return _without_brackets(nested.call_text())


def _without_brackets(written: str) -> str:
    """The text of a size, which must not look like a tuple of one."""
    if not written.startswith("("):
        return written
    depth = 0
    for column, character in enumerate(written):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return written[1:-1] if column == len(written) - 1 else written
    return written


def short(value: Any) -> str:
    """A value as an error shows it, cut off where it is long."""
    try:
        check_nesting(value, "value")  # parts that occur over and over make a long text
        shown = repr(value)
    except (ValueError, RecursionError):  # CuteErrors are ValueErrors, as for an int of many digits
        return f"a {type(value).__name__} that is too large to show"
    return shown if len(shown) <= 60 else f"{shown[:50]} ..."
