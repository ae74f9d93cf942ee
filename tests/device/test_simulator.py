"""One text, three runs: Python, numba on the CPU, and the CUDA simulator store the same numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from layout_algebra.device.kernels import Kernel, exec_source
from tests.device.simulated import drawn

WORDS = {"uint32": numba.uint32, "uint64": numba.uint64}


def by_python(kernel: Kernel) -> list[tuple[int, ...]]:
    place = exec_source(kernel.function, kernel.name)
    return [place(i) for i in range(kernel.size)]


@pytest.fixture(scope="module")
def simulated() -> list[dict[str, list[list[int]]]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.device.simulated"],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_simulator(simulated):
    both = list(zip(drawn(), simulated, strict=True))
    assert sum(kernel.copies > 1 for (_, kernel), _ in both) >= 2
    assert any(any(kernel.signed) for (_, kernel), _ in both)
    for (_, kernel), found in both:
        wanted = by_python(kernel)
        for k, out in enumerate(found["stored"]):
            assert out == [*(place[k] for place in wanted), 0, 0, 0]  # nothing beyond the guard
        for place, row in zip(wanted, found["called"], strict=True):
            assert list(kernel.read(place).values()) == row[: len(kernel.outputs)]


@pytest.mark.parametrize("number", range(0, 18, 3))
def test_numba_on_the_cpu(number: int):
    kernel = list(drawn())[number][1]
    word = np.uint32 if kernel.width == 32 else np.uint64
    place = numba.njit(exec_source(kernel.function, kernel.name, WORDS))
    found = [tuple(map(int, place(word(i)))) for i in range(kernel.size)]
    assert found == by_python(kernel)
