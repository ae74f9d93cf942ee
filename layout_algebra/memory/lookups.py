"""Lookups: a table of numbers as a term of the place in it.

    looked_up(np.array([0, 1, 3, 2]), number)      # number ^ (number // 2 % 2)

Two ways, and the shorter one is taken.  A table of 2^k numbers is an XOR of factors, each where
the place has certain bits: for an XOR of digits, or a rotation, there are few.  And any table is a
line, and a step at every place where it leaves the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layout_algebra import terms
from layout_algebra.errors import LayoutError
from layout_algebra.terms import Term

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Table = NDArray[np.int64]

#: Factors or steps of one term.
MOST_PARTS = 1024


def looked_up(table: Table, number: Term) -> Term:
    """table[number].

    Args:
        table: numbers from 0 on.
        number: a term with values in the table's range.

    Raises:
        LayoutError: neither way is short.
    """
    import numpy as np

    size = len(table)
    steps = np.diff(table)
    slopes, counts = np.unique(steps, return_counts=True)
    slope = int(slopes[counts.argmax()]) if len(steps) else 0
    changes = np.flatnonzero(steps != slope)
    factors = _factors(table) if size & (size - 1) == 0 else None
    products = None if factors is None else np.flatnonzero(factors)
    shortest = len(changes) if products is None else min(len(products), len(changes))
    if shortest > MOST_PARTS:
        raise LayoutError(
            f"a table of {size} numbers that is no layout has {shortest} parts, more than "
            f"{MOST_PARTS}: give each lane longer runs of the tile"
        )
    if factors is not None and products is not None and len(products) == shortest:
        return _of_bits([(int(p), int(factors[p])) for p in products], number)
    parts = [(number, slope)]
    for place in map(int, changes):  # 1 from place + 1 on, 0 before
        beyond = terms.floordiv(terms.linear([(number, 1)], size - place - 1), size)
        parts.append((beyond, int(steps[place]) - slope))
    return terms.linear(parts, int(table[0]))


def _factors(table: Table) -> Table:
    """The f with table[x] = the XOR of f[s] over all s whose bits are among those of x."""
    import numpy as np

    found, width = table.copy(), 1
    while width < len(table):
        halves = found.reshape(-1, 2, width)
        np.bitwise_xor(halves[:, 1], halves[:, 0], out=halves[:, 1])
        width *= 2
    return found


def _of_bits(factors: Sequence[tuple[int, int]], number: Term) -> Term:
    """The XOR of factors, each where the number has all bits of its mask: bit by bit, as parities.

    A sum of digits modulo 2 is kept apart at every bit, where an XOR of wide terms is not.
    """
    products: list[tuple[Term, int]] = []
    for mask, factor in factors:
        product: Term = terms.const(1)
        for bit in range(mask.bit_length()):
            if mask >> bit & 1:
                digit = terms.mod(terms.floordiv(number, 1 << bit), 2)
                product = terms.multiply(product, digit)
        products.append((product, factor))
    width = max((factor.bit_length() for _, factor in factors), default=0)
    parities = (
        terms.mod(terms.add(*(product for product, factor in products if factor >> bit & 1)), 2)
        for bit in range(width)
    )
    return terms.linear((parity, 1 << bit) for bit, parity in enumerate(parities))
