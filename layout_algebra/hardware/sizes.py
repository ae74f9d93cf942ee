"""Sizes that constructors are given, checked with one wording."""

from __future__ import annotations

from layout_algebra.dims import Size, as_size, bounds, is_size
from layout_algebra.errors import LayoutError


def positive_size(
    constructor: str, name: str, value: object, most: int | None = None, of_what: str = ""
) -> Size:
    """The size, when it may be at least 1 and at most `most`.

    A Dim is refused only when none of its values is in the range: a layout with a Dim exists for
    those values that make it one.

    Raises:
        LayoutError: otherwise, naming the constructor, the argument and its value.
    """
    wanted = "a positive int or a Dim" if most is None else f"1 to {most} ({of_what})"
    if not is_size(value):
        raise LayoutError(f"{constructor}: {name} is {wanted}; got {value!r}")
    size = as_size(value)  # type: ignore[arg-type]
    low, high = bounds(size)
    too_small = high is not None and high < 1
    too_large = most is not None and low is not None and low > most
    if too_small or too_large:
        raise LayoutError(f"{constructor}: {name} is {wanted}; got {size}")
    return size
