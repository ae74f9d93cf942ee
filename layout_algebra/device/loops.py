"""Loops over every element, compiled for the CPU and run by threads.

    runner = Runner(threads=2)
    cell = runner.function(text, "cell", 32)
    runner.each(marking(cell), count, marks)

What one element does is source text (see `kernels`, `element_texts`); numba compiles it, and the
loop around it, into one piece of machine code.  The loops release the interpreter's lock and are run
by plain threads on blocks of elements: a second of compiling less for each loop than with numba's
own parallel loops, and no threading layer that forked processes can break.

The loops index their arrays without bounds checks: a cell is compared with the array's size by the
text that computes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numba

from layout_algebra.device.kernels import exec_source

#: Elements that a thread takes at a time.
BLOCK = 1 << 20

#: Blocks of one loop: larger ones where there would be more.
MOST_BLOCKS = 1 << 12

_OPTIONS: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
_WORDS: dict[int, Any] = {32: numba.uint32, 64: numba.uint64}
_NAMES = {"uint32": numba.uint32, "uint64": numba.uint64}

Compiled = Callable[..., Any]


@dataclass
class Runner:
    """Compiles and runs, and knows how long both took.

    Attributes:
        threads: how many run at a time.
        compiling, running: seconds so far.
    """

    threads: int
    compiling: float = 0.0
    running: float = 0.0
    _pool: ThreadPoolExecutor | None = field(default=None, repr=False)

    def __enter__(self) -> Runner:
        self._pool = ThreadPoolExecutor(self.threads)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def function(self, text: str, name: str, width: int) -> Compiled:
        """The function of one word that a text defines, compiled."""
        started = perf_counter()
        made: Any = numba.njit(**_OPTIONS)(exec_source(text, name, _NAMES))
        made.compile((_WORDS[width],))
        self.compiling += perf_counter() - started
        return made

    def each(self, loop: Compiled, count: int, *arguments: Any) -> list[int]:
        """What the loop gives for each block of 0..count-1, in order."""
        self._compile(loop, arguments)
        started = perf_counter()
        size = max(BLOCK, -(-count // MOST_BLOCKS))
        blocks = [(start, min(start + size, count)) for start in range(0, count, size)]
        if self._pool is None or len(blocks) < 2:
            found = [int(loop(*block, *arguments)) for block in blocks]
        else:
            jobs = [self._pool.submit(loop, *block, *arguments) for block in blocks]
            found = [int(job.result()) for job in jobs]
        self.running += perf_counter() - started
        return found

    def first(self, loop: Compiled, count: int, *arguments: Any) -> int | None:
        """The least of what the loop finds, block by block; None when it finds nothing.

        A loop gives the number of what it has found, or -1.
        """
        self._compile(loop, arguments)
        started = perf_counter()
        found = -1
        for start in range(0, count, BLOCK):
            found = int(loop(start, min(start + BLOCK, count), *arguments))
            if found >= 0:
                break
        self.running += perf_counter() - started
        return None if found < 0 else found

    def timed(self, work: Callable[[], Any]) -> Any:
        """The result of some other work, whose time counts as running."""
        started = perf_counter()
        result = work()
        self.running += perf_counter() - started
        return result

    def _compile(self, loop: Any, arguments: Sequence[Any]) -> None:
        started = perf_counter()
        kinds = [numba.int64, numba.int64, *(numba.typeof(one) for one in arguments)]
        loop.compile(tuple(kinds))
        self.compiling += perf_counter() - started


def usable_threads() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _loop(function: Callable[..., Any]) -> Compiled:
    compiled: Compiled = numba.njit(**_OPTIONS)(function)
    return compiled


# -- loops: each takes where to start, where to stop, and arrays -------------------------------------
def marking(cell: Compiled, width: int) -> Compiled:
    """marks[cell(i)] = 1 for every i.  Threads may write one byte twice: always the same value."""
    word = _WORDS[width]

    def loop(start, stop, marks):  # type: ignore[no-untyped-def]
        for number in range(start, stop):
            marks[cell(word(number))] = 1
        return 0

    return _loop(loop)


def filling(cell: Compiled, width: int) -> Compiled:
    """keys[i] = cell(i), or `repeated` where an earlier copy of the same element has that cell."""
    word = _WORDS[width]

    def loop(start, stop, keys, copies, repeated):  # type: ignore[no-untyped-def]
        for number in range(start, stop):
            found = cell(word(number))
            for other in range(number - number % copies, number):
                if cell(word(other)) == found:
                    found = word(repeated)
                    break
            keys[number] = found
        return 0

    return _loop(loop)


def counting(cell: Compiled, width: int) -> Compiled:
    """How many i have a cell other than the given one."""
    word = _WORDS[width]

    def loop(start, stop, other):  # type: ignore[no-untyped-def]
        found = 0
        for number in range(start, stop):
            found += cell(word(number)) != word(other)
        return found

    return _loop(loop)


def distinct(cell: Compiled, width: int) -> Compiled:
    """How many different cells below `volume` the copies of each element have, summed."""
    word = _WORDS[width]

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

    return _loop(loop)


def repeating(cell: Compiled, width: int) -> Compiled:
    """The first i whose cell below `volume` an earlier element has; marks what it has seen."""
    word = _WORDS[width]

    def loop(start, stop, marks, copies, volume):  # type: ignore[no-untyped-def]
        for element in range(start, stop):
            for copy in range(copies):
                found = cell(word(element * copies + copy))
                if found < word(volume) and marks[found]:
                    return element * copies + copy
            for copy in range(copies):
                marks[cell(word(element * copies + copy))] = 1
        return -1

    return _loop(loop)


def finding(cell: Compiled, width: int) -> Compiled:
    """The first i at or after `begin` that has the wanted cell."""
    word = _WORDS[width]

    def loop(start, stop, begin, wanted):  # type: ignore[no-untyped-def]
        for number in range(start, stop):
            if number >= begin and cell(word(number)) == word(wanted):
                return number
        return -1

    return _loop(loop)


def failing(bad: Compiled, width: int) -> tuple[Compiled, Compiled]:
    """Two loops: how many i are bad, and the first of them."""
    word = _WORDS[width]

    def count(start, stop):  # type: ignore[no-untyped-def]
        found = 0
        for number in range(start, stop):
            found += bad(word(number))
        return found

    def first(start, stop):  # type: ignore[no-untyped-def]
        for number in range(start, stop):
            if bad(word(number)):
                return number
        return -1

    return _loop(count), _loop(first)


def unequal_sets(f: Compiled, g: Compiled, width: int) -> Compiled:
    """The first element at which two maps have different sets of places.

    Both functions give the place, and then 1 or 0: whether the element is in the domain.
    """
    word = _WORDS[width]

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

    return _loop(loop)
