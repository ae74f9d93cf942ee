"""Layouts of more iters on one axis than Python's stack is deep.

Searches go one level down for each digit; they have to end with an answer, or with a refusal that
says what is too much.  The answers are compared with sums of strides.
"""

from __future__ import annotations

import random

import pytest

from layout_algebra import Map, TileLayout, inverse, left_inverse
from layout_algebra.algebra.invert import MOST_CHAINED
from layout_algebra.algebra.peeling import MOST_NESTED
from layout_algebra.errors import LayoutError
from layout_algebra.inverting import NotInjectiveError, element_at, elements_at, right_inverse

MANY = 1500
BITS = TileLayout.from_iters([(2, 1 << k, "m") for k in range(MANY)])
#: Strides without a common factor, of which many sums meet.
SQUARES = TileLayout.from_iters([(2, 3 * k * k + 7, "m") for k in range(MANY)])


def place(layout: TileLayout, element: int) -> int:
    """Where an element is: digits by division, the last iter first."""
    total = 0
    for extent, stride, _ in reversed(layout.shard):
        element, digit = divmod(element, extent)
        total += digit * stride
    return total


def by_sums(layout: TileLayout, wanted: int) -> list[int]:
    """All elements at a place of a layout of positive strides, from the sums up to the place."""
    sums: dict[int, list[int]] = {0: [0]}
    weight = 1
    for extent, stride, _ in reversed(layout.shard):
        grown: dict[int, list[int]] = {}
        for at, elements in sums.items():
            for x in range(extent):
                if at + x * stride <= wanted:
                    moved = [element + x * weight for element in elements]
                    grown.setdefault(at + x * stride, []).extend(moved)
        sums = grown
        weight *= extent
    return sorted(sums.get(wanted, []))


def residues(count: int) -> TileLayout:
    """Each digit is known modulo 2 once those before are: no stride exceeds the others."""
    iters: list[tuple[int, int, str]] = []
    for _ in range(count):
        iters = [(2, 3, "m"), *((extent, 2 * stride, axis) for extent, stride, axis in iters)]
    return TileLayout.from_iters(iters)


def nested(levels: int) -> TileLayout:
    """Blocks within blocks: an odd digit to be taken by its residue, a block, and a single step."""
    strides, top = [(3, 2), (2, 3)], 3
    for _ in range(levels):
        top = 4 * top + 1
        strides = [(2, top), *((extent, 4 * stride) for extent, stride in strides), (2, 2)]
    return TileLayout.from_iters([(extent, stride, "m") for extent, stride in strides])


def check_inverses(layout: TileLayout, seed: str) -> None:
    rng = random.Random(seed)
    size = layout.size()
    for found in (inverse(layout), left_inverse(layout)):
        for element in [0, size - 1, *(rng.randrange(size) for _ in range(3))]:
            assert found.apply(place(layout, element)) == {"m": element}


def test_bits_are_looked_up():
    assert element_at(BITS, m=5) == (1 << MANY - 1) + (1 << MANY - 3)
    assert elements_at(BITS, m=5) == ((1 << MANY - 1) + (1 << MANY - 3),)
    element = random.Random("bits").randrange(1 << MANY)
    assert element_at(BITS, m=place(BITS, element)) == element


@pytest.mark.parametrize("wanted", [5, 7, 17, 207, 214, 216])
def test_squares_are_looked_up(wanted):
    expected = by_sums(SQUARES, wanted)
    assert elements_at(SQUARES, m=wanted) == tuple(expected)
    assert element_at(SQUARES, m=wanted) == (expected[0] if expected else None)


def test_squares_meet():
    for operation in (inverse, left_inverse):
        with pytest.raises(NotInjectiveError) as caught:
            operation(SQUARES)
        one, two = caught.value.elements
        assert one != two
        assert place(SQUARES, one) == place(SQUARES, two) == caught.value.place["m"]


def test_digits_known_by_their_residue():
    layout = residues(MANY // 2)
    assert isinstance(inverse(layout), Map)
    check_inverses(layout, "residues")


def test_blocks_within_blocks():
    check_inverses(nested(20), "nested")
    with pytest.raises(LayoutError, match=f"more than {MOST_NESTED} levels deep"):
        inverse(nested(MOST_NESTED + 1))


def test_a_chain_of_digits_has_an_end():
    longest = TileLayout.from_iters([(2, 1 << k, "m") for k in range(MOST_CHAINED)])
    found = right_inverse(longest)
    for y in (0, 5, (1 << MOST_CHAINED) - 1):
        assert place(longest, found.apply(y)["m"]) == y
    with pytest.raises(LayoutError, match=f"at most {MOST_CHAINED} digits .* m has {MANY}"):
        right_inverse(BITS)
