"""Kernels compiled and proven by the hundred: the catalogue, and random layouts.

    python -m tests.device.compiled_sweep                 # all of it, with figures

Needs the extra `cuda`, and no GPU.  Kernels with the same text are compiled once.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter

from layout_algebra.device import Kernel, compile_ptx, kernel_of
from layout_algebra.hardware import catalogue
from layout_algebra.validation import validate
from tests.building import built
from tests.generators import random_layout

#: Random layouts, their places at most, and their seed.
RANDOM, PLACES, SEED = 500, 3000, 20


@dataclass
class Sweep:
    """What came of some kernels for one target.

    Attributes:
        verdicts: by verdict and method.
        milliseconds: of each validation, after compiling.
        wrong: kernels that were not proven.
    """

    target: str
    verdicts: Counter[str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    compiled: int = 0

    def add(self, named: Iterable[tuple[str, Kernel]]) -> Sweep:
        known: dict[str, str] = {}
        for name, kernel in named:
            if kernel.source not in known:
                ptx = compile_ptx(kernel, self.target)
                self.compiled += 1
                start = perf_counter()
                proof = validate(kernel, ptx)
                self.milliseconds.append(1e3 * (perf_counter() - start))
                known[kernel.source] = f"{proof.verdict}, {proof.method}"
            self.verdicts[known[kernel.source]] += 1
            if not known[kernel.source].startswith("PROVED"):
                self.wrong.append(f"{name}: {known[kernel.source]}")
        return self

    @property
    def by_terms(self) -> float:
        """The part that is proven by terms alone."""
        total = sum(self.verdicts.values())
        return self.verdicts["PROVED, structure: translation"] / total

    def __str__(self) -> str:
        total = sum(self.verdicts.values())
        median = statistics.median(self.milliseconds)
        return (
            f"{self.target}: {total} kernels, {self.compiled} texts, {100 * self.by_terms:.1f}% by "
            f"terms, {dict(self.verdicts)}, median {median:.1f} ms"
        )


def entries(part: int = 0, parts: int = 1) -> list[tuple[str, Kernel]]:
    """The catalogue's kernels."""
    return [
        (entry.name, kernel_of(entry.layout, entry.shape)) for entry in [*catalogue()][part::parts]
    ]


def random_kernels(count: int = RANDOM, seed: int = SEED) -> list[tuple[str, Kernel]]:
    """Kernels of random layouts."""
    rng = random.Random(seed)
    drawn = [built(random_layout(rng, max_places=PLACES)) for _ in range(count)]
    return [(str(layout), kernel_of(layout)) for layout in drawn]


def main() -> int:
    wrong: list[str] = []
    for target in ("sm_90a", "sm_100"):
        found = Sweep(target).add(entries())
        print("catalogue", found, flush=True)
        wrong += found.wrong
    for target, count in (("sm_90a", RANDOM), ("sm_80", 50)):
        found = Sweep(target).add(random_kernels(count))
        print("random", found, flush=True)
        wrong += found.wrong
    print("\n".join(wrong) or "all proven")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
