"""Kernels in numba's CUDA simulator, in a process of their own.

    with Simulator() as simulator:
        simulator.stored(kernel_of(layout))      # a list of words for each output

The simulator is chosen when numba is first imported, so it has a process (simulated.py): one for as
long as it is open, which is sent kernels and sends back what they stored.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Self

from layout_algebra.device.errors import LaunchError, UnavailableError
from layout_algebra.device.kernels import Kernel

#: Threads of a block: few, so that a grid has several blocks and a last one that is not full.
BLOCK = 24
#: What is in the arrays before: a value that a kernel that stores nothing leaves there.
_POISON = 0xA5A5A5A5


class Simulator:
    """A process that runs kernels.

    Raises:
        UnavailableError: it does not start; why.
    """

    def __init__(self) -> None:
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        # a pipe that nobody reads would fill up
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (open as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "layout_algebra.device.simulated"],
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stored(self, kernel: Kernel) -> list[list[int]]:
        """What a kernel stores, one list of words for each output.

        Raises:
            LaunchError: it does not run.
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
            raise LaunchError("the simulator has ended")
        stdin.write(json.dumps(asked) + "\n")
        stdin.flush()
        line = self._line()
        if not line:
            raise LaunchError(f"the kernel does not run in the simulator: {self._last_words()}")
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
