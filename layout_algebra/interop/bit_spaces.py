"""Linear algebra over F2 on ints: bit i of an int is coordinate i of a vector.

    Span([3, 5]).coordinates(6)     # 3: the first two vectors together, 3 ^ 5 = 6
    Span([3, 5]).coordinates(1)     # None: no XOR of them is 1
    Span([3, 5, 6]).relations       # [7]: 3 ^ 5 ^ 6 = 0

A set of vectors is kept as one reduced by Gaussian elimination, each with the set of the given
vectors that it is the XOR of, again as bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Span:
    """The subspace that vectors span, and how each of its members is made of them.

    Args:
        vectors: nonnegative ints; their order numbers the bits of `coordinates`.

    Attributes:
        relations: independent sets of the vectors, as bits, whose XOR is 0.
    """

    def __init__(self, vectors: Iterable[int]) -> None:
        self._reduced: dict[int, tuple[int, int]] = {}  # leading bit -> (vector, made of)
        self.relations: list[int] = []
        for position, vector in enumerate(vectors):
            rest, used = self._reduce(vector)
            used ^= 1 << position
            if rest:
                self._reduced[rest.bit_length() - 1] = (rest, used)
            else:
                self.relations.append(used)

    @property
    def rank(self) -> int:
        """Number of independent vectors."""
        return len(self._reduced)

    def coordinates(self, target: int) -> int | None:
        """The given vectors, as bits, whose XOR is the target; None when there are none."""
        rest, used = self._reduce(target)
        return None if rest else used

    def first_missing_unit(self, bits: int) -> int | None:
        """The least k below `bits` with 1 << k outside the span; None when there is none."""
        return next((k for k in range(bits) if self._reduce(1 << k)[0]), None)

    def _reduce(self, vector: int) -> tuple[int, int]:
        used, rest = 0, vector
        for bit in range(vector.bit_length() - 1, -1, -1):
            if rest >> bit & 1 and bit in self._reduced:
                reduced, made_of = self._reduced[bit]
                rest ^= reduced
                used ^= made_of
        return rest, used


def xor_of(vectors: Sequence[int], chosen: int) -> int:
    """The XOR of the vectors that the bits of `chosen` name: vectors[k] for each bit k."""
    total = 0
    while chosen:
        low = chosen & -chosen
        total ^= vectors[low.bit_length() - 1]
        chosen ^= low
    return total
