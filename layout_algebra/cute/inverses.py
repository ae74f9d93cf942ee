"""Inverses: from values back to indices.

    right_inverse(A)            R with A(R(y)) == y for every y in 0..size(R)-1
    left_inverse(A)             R with R(A(i)) == i for every index i of A
    max_common_vector(A, B)     how many elements lie one after another in both

Neither inverse is unique: where A has gaps a left inverse may say anything there, so compare two of
them on A's values.  Two kinds come back:

* Where A has a complement the gaps are counted after A's own elements: the left inverse is
  right_inverse((A, complement(A))), a bijection of 0..size(R)-1.
* Where strides divide one another but not by whole blocks, each digit is as wide as the next stride
  and counts on into the gap.  That is no bijection: of (3,2):(1,4) it is (4,2):(1,3), which gives 3
  for the values 3 (a gap) and 4.
"""

from __future__ import annotations

from layout_algebra.algebra.deciding import knowing_extents
from layout_algebra.cute import tuples
from layout_algebra.cute.complementing import block, gaps
from layout_algebra.cute.composing import composed
from layout_algebra.cute.errors import CuteError
from layout_algebra.cute.leaves import NoLayoutError, UndecidedError
from layout_algebra.cute.shapes import make_layout, of_pairs
from layout_algebra.cute.strides import MOST_ENUMERATED, Pair, merged, numbers, value
from layout_algebra.cute.values import Layout, plain
from layout_algebra.dims import Size


def right_inverse(a: Layout) -> Layout:
    """Where the values 0, 1, 2, ... are, as far as a's modes count on from stride 1.

    Law: a(result(y)) == y for every y in 0..size(result)-1.  It is 1:0 where no mode has stride 1.
    It is made of whole modes of a, as in CuTe: a longer one may exist where modes overlap.
    """
    return of_pairs(_inverted(plain(a, "right_inverse: the layout")))


def left_inverse(a: Layout) -> Layout:
    """The index of each value: right_inverse((a, complement(a))) where a has a complement.

    Law: result(a(i)) == i for every index i of a.

    Where strides divide one another but not by whole blocks, there is no complement; then each
    digit of the result is as wide as the next stride, and counts on into the gap: some values in
    gaps get the index of an element, so the result is no bijection.

    Raises:
        CuteError: two elements of a have one value, or its strides do not nest (named).
    """
    a = plain(a, "left_inverse: the layout")
    widened = _widened(a)
    if widened is not None:
        return widened
    for size, stride in a.pairs():
        if stride == 0 and size != 1:
            raise CuteError(
                f"left_inverse: mode {size}:0 of {a} puts {size} elements in one place, which no "
                "function undoes"
            )
    places = block(a, "left_inverse")
    filled = make_layout(a, of_pairs(gaps(a, 1, "left_inverse")))
    found = of_pairs(_inverted(filled))
    if found.size() != places:
        raise CuteError(
            f"left_inverse: it is not known that the modes of {a} and its gaps count through "
            f"0..{places - 1}"
        )
    return found


def _widened(a: Layout) -> Layout | None:
    """Strides that divide one another, though not by whole blocks: digits as wide as the strides.

    The digit of a mode counts up to the next stride; above the mode's own size it is in a gap.
    """
    pairs = numbers(merged(a.pairs()))
    if pairs is None:
        return None
    weight = 1
    modes: list[tuple[int, int, int]] = []
    for size, stride in pairs:
        if size != 1:
            modes.append((stride, size, weight))
        weight *= size
    modes.sort()
    if not modes or modes[0][0] < 1:
        return None
    strides = [stride for stride, _, _ in modes]
    nests = all(
        high % (low * size) == 0 for (low, size, _), high in zip(modes, strides[1:], strict=False)
    )
    if nests:
        return None  # the usual way counts the gaps apart
    found: list[Pair] = [(strides[0], 0)] if strides[0] > 1 else []
    for (stride, size, weight), above in zip(modes, [*strides[1:], 0], strict=True):
        width, rest = (size, 0) if above == 0 else divmod(above, stride)
        if rest or width < size:
            return None
        found.append((width, weight))
    return of_pairs(merged(found))


def _inverted(a: Layout) -> list[Pair]:
    pairs = merged(a.pairs())
    ask = knowing_extents([size for size, _ in a.pairs()])
    places: list[Size] = [1]
    for size, _ in pairs:
        places.append(places[-1] * size)
    found: list[Pair] = []
    reached: Size = 1
    left = list(range(len(pairs)))
    while True:
        k = next((k for k in left if ask.equal(pairs[k][1], reached)), None)
        if k is None:
            return merged(found)
        left.remove(k)
        found.append((pairs[k][0], places[k]))
        reached = reached * pairs[k][0]


def max_common_vector(a: Layout, b: Layout) -> Size:
    """The greatest n such that the elements at 0..n-1 of b are at 0..n-1 of a, in the same order.

    So n elements can be copied from one to the other as one vector.

    Law: a(right_inverse(b)(i)) == i for every i < n, and not for n, where n < size(right_inverse).

    Raises:
        CuteError: with Dims, how a goes through b's places is not known.
    """
    a, b = plain(a, "max_common_vector: the first"), plain(b, "max_common_vector: the second")
    inverse = right_inverse(b)
    try:
        common = merged(composed(a, inverse, "max_common_vector").pairs())
    except (NoLayoutError, UndecidedError):
        if a.is_symbolic or b.is_symbolic:
            raise
        return _common_prefix(a, inverse)
    return common[0][0] if common and common[0][1] == 1 else 1


def _common_prefix(a: Layout, inverse: Layout) -> int:
    """The same element by element, where a does not have all of b's elements or is no layout."""
    left, right = (
        [(tuples.number(s), tuples.number(d)) for s, d in merged(layout.pairs())]
        for layout in (a, inverse)
    )
    here, there = (tuples.number(layout.size()) for layout in (a, inverse))
    for index in range(min(there, MOST_ENUMERATED)):
        place = value(right, index)
        if place >= here or value(left, place) != index:
            return index
    if there > MOST_ENUMERATED:
        raise UndecidedError(
            f"max_common_vector: {a} and b agree in the first {MOST_ENUMERATED} elements, and "
            f"{there} are too many to look at"
        )
    return there
