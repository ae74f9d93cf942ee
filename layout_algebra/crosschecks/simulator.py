"""The target `simulator`: small kernels in numba's CUDA simulator, against the integer interpreter.

One process of the simulator serves the whole run (device/simulator.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from time import perf_counter

from layout_algebra.crosschecks.kernels import Subject, place, points, subjects_of
from layout_algebra.crosschecks.results import (
    SIMULATED,
    Checked,
    Limits,
    NotCheckedError,
    Ran,
)
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.errors import LaunchError
from layout_algebra.device.kernels import GUARD, Kernel
from layout_algebra.device.simulator import Simulator


class InSimulator:
    """Kernels in numba's simulator."""

    name = "simulator"

    def __init__(self, limits: Limits) -> None:
        self.elements = SIMULATED if limits.elements is None else limits.elements
        self._simulator = Simulator()

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
        try:
            return self._simulator.stored(kernel)
        except LaunchError as error:
            raise NotCheckedError(str(error)) from error

    def close(self) -> None:
        self._simulator.close()


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
