"""The target `simulator`: small kernels in numba's CUDA simulator, against the integer interpreter.

The simulator is chosen when numba is first imported, so it has a process of its own: one for the
whole run, which is sent kernels and sends back what they stored, a line of JSON each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from time import perf_counter
from typing import Any

from layout_algebra.crosschecks.kernels import Subject, place, points, subjects_of
from layout_algebra.crosschecks.results import (
    SIMULATED,
    Checked,
    Limits,
    NotCheckedError,
    Ran,
    UnavailableError,
)
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.kernels import GUARD, Kernel

#: Threads of a block: few, so that a grid has several blocks and a last one that is not full.
BLOCK = 24

#: What the process runs: a user's own program, with nothing of this library in it.
_PROGRAM = """
import json, os, sys
import numpy as np
from numba import config, cuda

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
print(json.dumps({"simulated": bool(config.ENABLE_CUDASIM)}), file=answers, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    word = getattr(np, "uint%d" % asked["width"])
    names = {"cuda": cuda, "uint32": np.uint32, "uint64": np.uint64}
    exec(asked["source"], names)
    outs = [np.full(asked["size"], word(asked["poison"])) for _ in range(asked["outputs"])]
    grid = -(-asked["size"] // asked["block"])
    with np.errstate(over="ignore"):
        cuda.jit(names[asked["name"]])[grid, asked["block"]](*outs, word(asked["size"]))
    print(json.dumps([[int(n) for n in out] for out in outs]), file=answers, flush=True)
"""

#: What is in the arrays before: a value that a kernel that stores nothing leaves there.
_POISON = 0xA5A5A5A5


class InSimulator:
    """Kernels in numba's simulator."""

    name = "simulator"

    def __init__(self, limits: Limits) -> None:
        self.elements = SIMULATED if limits.elements is None else limits.elements
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        # a pipe that nobody reads would fill up
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (open as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment,
        )
        hello = self._line()
        if not hello or json.loads(hello) != {"simulated": True}:
            said = self._last_words()
            self.close()
            raise UnavailableError(f"numba's CUDA simulator does not start here: {said}")

    def tools(self) -> dict[str, str]:
        found = {name: metadata.version(name) for name in ("numba", "numpy")}
        return {**found, **_version_of("numba-cuda")}

    def run(self, statement: Statement) -> Ran:
        """See `Target.run`."""
        subjects, about = subjects_of(statement, self.elements)
        elements, seconds = 0, 0.0
        for subject in subjects:
            start = perf_counter()
            stored = self.stored(subject.kernel)
            seconds += perf_counter() - start
            elements += subject.kernel.size
            wrong = difference(subject, stored)
            if wrong is not None:
                return Ran(False, "differs", elements, seconds, wrong)
        return Ran(True, "kernels equal", elements, seconds, about)

    def own(self) -> Iterator[Checked]:
        return iter(())

    def stored(self, kernel: Kernel) -> list[list[int]]:
        """What a kernel stores, one list of words for each output.

        Raises:
            NotCheckedError: it does not run.
        """
        asked: dict[str, Any] = {
            "source": kernel.source,
            "name": kernel.name,
            "width": kernel.width,
            "outputs": len(kernel.outputs),
            "size": kernel.size,
            "block": BLOCK,
            "poison": _POISON,
        }
        stdin = self._process.stdin
        if stdin is None or self._process.poll() is not None:
            raise NotCheckedError("the simulator has ended")
        stdin.write(json.dumps(asked) + "\n")
        stdin.flush()
        line = self._line()
        if not line:
            raise NotCheckedError(f"the kernel does not run in the simulator: {self._last_words()}")
        found: list[list[int]] = json.loads(line)
        return found

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _line(self) -> str:
        return "" if self._process.stdout is None else self._process.stdout.readline()

    def _last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        lines = [line for line in self._errors.read().splitlines() if line.strip()]
        return lines[-1].strip() if lines else "it says nothing"


def difference(subject: Subject, stored: list[list[int]]) -> str | None:
    """The first element at which a kernel stored something else than the integers say."""
    f, kernel = subject.map, subject.kernel
    guarded = GUARD in kernel.outputs and GUARD not in f.axes
    for number, ((point, inside), values) in enumerate(
        zip(points(f), zip(*stored, strict=True), strict=True)
    ):
        found = kernel.read(values)
        if guarded and found.pop(GUARD) != int(inside):
            return f"element {number} is{'' if inside else ' not'} in the domain of {f}"
        wanted = dict(zip(f.axes, place(f, point), strict=True))
        if inside and found != wanted:
            return f"element {number} of {f}: the kernel stores {found}, the map says {wanted}"
    return None


def _version_of(package: str) -> dict[str, str]:
    try:
        return {package: metadata.version(package)}
    except metadata.PackageNotFoundError:
        return {}
