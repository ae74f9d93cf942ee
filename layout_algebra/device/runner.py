"""Loops over every element, compiled for the CPU and run by threads.

    with Runner(threads=2) as runner:
        cell = runner.function(text, "cell", 32)
        runner.each(loops.marking(cell, 32), count, marks)

What one element does is source text (see `kernels`, `element_texts`); numba compiles it, and the
loop around it, into one piece of machine code.  The loops release the interpreter's lock and are
run by plain threads on blocks of elements: a second of compiling less for each loop than with
numba's own parallel loops, and no threading layer that forked processes can break.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numba
import numpy as np

from layout_algebra.device.kernels import exec_source

#: Elements that a thread takes at a time.
BLOCK = 1 << 20

#: Blocks of one loop: larger ones where there would be more.
MOST_BLOCKS = 1 << 12

#: How everything is compiled.
OPTIONS: dict[str, Any] = {"nogil": True, "boundscheck": False, "error_model": "numpy"}
#: The words' types.
WORDS: dict[int, Any] = {32: numba.uint32, 64: numba.uint64}
_NAMES: dict[str, Any] = {"uint32": numba.uint32, "uint64": numba.uint64, "numpy": np}

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

    def function(self, text: str, name: str, **names: Compiled) -> Compiled:
        """The function that a text defines, and what it calls besides; compiled when it is used.

        The text may also use `numpy`.
        """
        made: Compiled = numba.njit(**OPTIONS)(exec_source(text, name, {**_NAMES, **names}))
        return made

    def each(self, loop: Compiled, count: int, *arguments: Any) -> list[int]:
        """What the loop gives for each block of 0..count-1, in order."""
        self._compile(loop, arguments)
        started = perf_counter()
        blocks = _blocks(count)
        if self._pool is None or len(blocks) < 2:
            found = [int(loop(*block, *arguments)) for block in blocks]
        else:
            jobs = [self._pool.submit(loop, *block, *arguments) for block in blocks]
            found = [int(job.result()) for job in jobs]
        self.running += perf_counter() - started
        return found

    def bad(self, counted: Compiled, count: int) -> int | None:
        """The first of 0..count-1 that is bad, by a loop that counts them; None when none is."""
        found = self.each(counted, count)
        started = perf_counter()
        blocks = [block for block, number in zip(_blocks(count), found, strict=True) if number]
        if not blocks:
            return None
        start, stop = blocks[0]
        while stop - start > 1:
            middle = (start + stop) // 2
            start, stop = (start, middle) if counted(start, middle) else (middle, stop)
        self.running += perf_counter() - started
        return start

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

    def least(self, loop: Compiled, count: int, *arguments: Any) -> int | None:
        """As `first`, by all threads: when nothing is found all blocks are looked at anyway."""
        found = [number for number in self.each(loop, count, *arguments) if number >= 0]
        return min(found, default=None)

    def whole(self, loop: Any, *arguments: Any) -> int | None:
        """What a loop over whole arrays finds, None for -1."""
        started = perf_counter()
        loop.compile(tuple(numba.typeof(one) for one in arguments))
        self.compiling += perf_counter() - started
        found = self.timed(lambda: int(loop(*arguments)))
        return None if found < 0 else found

    def prepared(self, work: Callable[[], Any]) -> None:
        """Calls functions once, with nothing to do, so that they are compiled."""
        started = perf_counter()
        work()
        self.compiling += perf_counter() - started

    def timed(self, work: Callable[[], Any]) -> Any:
        """The result of some other work, whose time counts as running."""
        started = perf_counter()
        result = work()
        self.running += perf_counter() - started
        return result

    def _compile(self, loop: Any, arguments: Sequence[Any]) -> None:
        if not hasattr(loop, "compile"):  # a Python function, which calls compiled ones
            return
        started = perf_counter()
        kinds = [numba.int64, numba.int64, *(numba.typeof(one) for one in arguments)]
        loop.compile(tuple(kinds))
        self.compiling += perf_counter() - started


def _blocks(count: int) -> list[tuple[int, int]]:
    size = max(BLOCK, -(-count // MOST_BLOCKS))
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def usable_threads() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
