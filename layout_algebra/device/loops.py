"""Loops over elements: what `runner` runs for the exhaustive checks.

    loop = marking(cell, 32)        # cell: a compiled function of one element, on words of 32 bits
    runner.each(loop, count, marks)

Each takes where to start and where to stop, and what else it needs.  They index their arrays
without bounds checks: a cell is compared with the array's size by the text that computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from layout_algebra.device.runner import OPTIONS, WORDS, Compiled

#: Bytes within which `spread` moves a byte.
PAGE = 1 << 12


def compiled_loop(function: Callable[..., Any]) -> Compiled:
    """The function, to be compiled for the arguments that it gets."""
    made: Compiled = numba.njit(**OPTIONS)(function)
    return made


def spread(cell: int) -> int:
    """Where a byte map keeps a cell: in another line of the same page.

    Strides that are large powers of two would otherwise meet in a few sets of the cache.  The
    lines of a page are permuted by what is above the page, so that this is its own inverse.
    """
    return cell ^ ((((cell >> 12) ^ (cell >> 18)) & 63) << 6)


_spread_word: Compiled = compiled_loop(spread)


def marking(cell: Compiled, width: int) -> Compiled:
    """Marks the byte of cell(i) for every i.  Two threads may write one byte: the same value."""
    word = WORDS[width]

    def loop(start, stop, marks):  # type: ignore[no-untyped-def]
        for number in range(start, stop):
            marks[word(_spread_word(cell(word(number))))] = 1
        return 0

    return compiled_loop(loop)


def filling(cell: Compiled, width: int) -> Compiled:
    """keys[i] = cell(i), or `repeated` where an earlier copy of the same element has that cell."""
    word = WORDS[width]

    def loop(start, stop, keys, copies, repeated):  # type: ignore[no-untyped-def]
        for number in range(start, stop):
            found = cell(word(number))
            for other in range(number - number % copies, number):
                if cell(word(other)) == found:
                    found = word(repeated)
                    break
            keys[number] = found
        return 0

    return compiled_loop(loop)


def counting(cell: Compiled, width: int) -> Compiled:
    """How many i have a cell other than the given one."""
    word = WORDS[width]

    def loop(start, stop, other):  # type: ignore[no-untyped-def]
        found = 0
        for number in range(start, stop):
            found += cell(word(number)) != word(other)
        return found

    return compiled_loop(loop)


def distinct(cell: Compiled, width: int) -> Compiled:
    """How many different cells below `volume` the copies of each element have, summed."""
    word = WORDS[width]

    def loop(start, stop, copies, volume):  # type: ignore[no-untyped-def]
        total = 0
        for element in range(start, stop):
            for copy in range(copies):
                found = cell(word(element * copies + copy))
                new = found < word(volume)
                for other in range(copy):
                    if cell(word(element * copies + other)) == found:
                        new = False
                        break
                total += new
        return total

    return compiled_loop(loop)


def repeating(cell: Compiled, width: int) -> Compiled:
    """The first i whose cell below `volume` an earlier element has; marks what it has seen."""
    word = WORDS[width]

    def loop(start, stop, marks, copies, volume):  # type: ignore[no-untyped-def]
        for element in range(start, stop):
            for copy in range(copies):
                found = cell(word(element * copies + copy))
                if found < word(volume) and marks[word(_spread_word(found))]:
                    return element * copies + copy
            for copy in range(copies):
                marks[word(_spread_word(cell(word(element * copies + copy))))] = 1
        return -1

    return compiled_loop(loop)


def finding(cell: Compiled, width: int) -> Compiled:
    """The first i at or after `begin` that has the wanted cell."""
    word = WORDS[width]

    def loop(start, stop, begin, wanted):  # type: ignore[no-untyped-def]
        for number in range(start, stop):
            if number >= begin and cell(word(number)) == word(wanted):
                return number
        return -1

    return compiled_loop(loop)


def copying(cell: Compiled, width: int) -> Compiled:
    """The first i whose cell below `volume` an earlier copy of its element has."""
    word = WORDS[width]

    def loop(start, stop, copies, volume):  # type: ignore[no-untyped-def]
        for element in range(start, stop):
            for copy in range(1, copies):
                found = cell(word(element * copies + copy))
                for other in range(copy):
                    same = cell(word(element * copies + other)) == found
                    if same and found < word(volume):
                        return element * copies + copy
        return -1

    return compiled_loop(loop)


def failing(bad: Compiled, width: int) -> Compiled:
    """How many i are bad."""
    word = WORDS[width]

    def loop(start, stop):  # type: ignore[no-untyped-def]
        found = 0
        for number in range(start, stop):
            found += bad(word(number))
        return found

    return compiled_loop(loop)


def unequal_sets(f: Compiled, g: Compiled, width: int) -> Compiled:
    """The first element at which two maps have different sets of places.

    Both functions give the place, and then 1 or 0: whether the element is in the domain.
    """
    word = WORDS[width]

    def loop(start, stop, copies_f, copies_g):  # type: ignore[no-untyped-def]
        for element in range(start, stop):
            for copy in range(copies_f):
                place = f(word(element * copies_f + copy))
                hit = False
                for other in range(copies_g):
                    found = g(word(element * copies_g + other))
                    if found == place or (found[-1] == 0 and place[-1] == 0):
                        hit = True
                        break
                if not hit:
                    return element
            for copy in range(copies_g):
                place = g(word(element * copies_g + copy))
                hit = False
                for other in range(copies_f):
                    found = f(word(element * copies_f + other))
                    if found == place or (found[-1] == 0 and place[-1] == 0):
                        hit = True
                        break
                if not hit:
                    return element
        return -1

    return compiled_loop(loop)


def _twin(keys):  # type: ignore[no-untyped-def]
    for at in range(1, len(keys)):
        if keys[at] == keys[at - 1]:
            return at
    return -1


def _gap(keys):  # type: ignore[no-untyped-def]
    free = 0
    for key in keys:
        if key > free:
            break
        if key == free:
            free += 1
    return free


#: The first place of a sorted array that holds what the one before it holds.
twin: Compiled = compiled_loop(_twin)

#: The least number that is not in a sorted array of unsigned numbers.
gap: Compiled = compiled_loop(_gap)
