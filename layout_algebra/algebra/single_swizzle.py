"""Which one swizzle two XORs are, one after the other.

An XOR of bit fields is linear over F2: two of them are one swizzle exactly when together they move
a run of bits by one distance, which the images of single bits show.
"""

from __future__ import annotations

from layout_algebra.values import Swizzle


def as_one_swizzle(outer: Swizzle, inner: Swizzle) -> Swizzle | None:
    """The swizzle that is `inner`, then `outer`, on every address; None when there is none."""
    top = max(outer.period, inner.period).bit_length()
    moved: dict[int, int] = {}
    for bit in range(top):
        extra = outer(inner(1 << bit)) ^ (1 << bit)
        if extra:
            if extra & (extra - 1):
                return None  # onto two bits
            moved[bit] = extra.bit_length() - 1
    if not moved:
        return Swizzle(0, 0, 0)
    bits = sorted(moved)
    distances = {bit - moved[bit] for bit in bits}
    if len(distances) > 1 or bits[-1] - bits[0] + 1 != len(bits):
        return None
    distance = distances.pop()
    found = Swizzle(min(bits[0], moved[bits[0]]), len(bits), abs(distance), distance > 0)
    return found if found.is_involution else None
