"""`crosscheck --target simulator`: kernels in numba's simulator against the integer interpreter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from layout_algebra import ComposeLayout, Dim, Injective, Map, R, S, TileLayout, laneid
from layout_algebra.claims import BankConflictFree, Equivalent
from layout_algebra.crosschecks import Limits, NotCheckedError
from layout_algebra.crosschecks.kernels import Subject, place, points, subjects_of
from layout_algebra.crosschecks.simulator import InSimulator, difference
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.kernels import kernel_of
from layout_algebra.ledger import Entry
from layout_algebra.memory import Buffer

pytestmark = pytest.mark.slow


def stated(claim, **more) -> Statement:
    return Statement(Entry("a", "b", "c.py", str(claim), (), "PROVED", "PROVED"), claim, **more)


N = Dim("N")
CLAIMS = {
    "a fragment": Injective(TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 7, 1 @ laneid, 1)] + R[2:40])),
    "a swizzle": Equivalent(
        ComposeLayout(3, 3, 3, TileLayout(S[(8, 32) : (32, 1)])),
        Map.of(lambda i, j: (i * 32 + j) ^ ((i * 32 + j) // 64 % 8 * 8), (8, 32)),
    ),
    "negative places": Injective(Map.of(lambda i: 5 - 3 * i, (30,))),
    "a guard": Injective(Map.of(lambda i: 2 * i, (30,), where=lambda i: i >= 7)),
    "any size": Injective(TileLayout(S[(N, 3) : (3, 1)])),
    "an access": BankConflictFree(
        Buffer((32, 2), "float32", TileLayout(S[(32, 2) : (2, 1)])).read(
            lambda lane: (lane, 0), bytes=8
        )
    ),
}


@pytest.fixture(scope="module")
def simulator():
    found = InSimulator(Limits())
    yield found
    found.close()


@pytest.mark.parametrize("name", CLAIMS)
def test_kernels_are_their_maps(simulator, name):
    ran = simulator.run(stated(CLAIMS[name]))
    assert ran.agrees
    subjects, about = subjects_of(stated(CLAIMS[name]), 1 << 10)
    assert (ran.elements, ran.detail) == (sum(one.kernel.size for one in subjects), about)


def test_a_kernel_of_another_map_is_seen(simulator):
    """Every part of the comparison can fail: another place, a wrong guard, nothing stored."""
    f, g = (Map.of(lambda i, k=k: 2 * i + i // k, (40,)) for k in (39, 50))
    mixed = Subject(f, kernel_of(g))
    said = difference(mixed, simulator.stored(mixed.kernel))
    assert said.startswith("element 39 of ")
    guarded, later = (
        Map.of(lambda i: i, (9,), where=lambda i, low=low: i >= low) for low in (3, 4)
    )
    mixed = Subject(guarded, kernel_of(later))
    said = difference(mixed, simulator.stored(mixed.kernel))
    assert said.startswith("element 3 is in the domain")
    idle = replace(kernel_of(f), source="def place(out0, n):\n    return\n")
    assert difference(Subject(f, idle), simulator.stored(idle)).startswith("element 0 of ")


def test_limits():
    simulator = InSimulator(Limits(elements=10))
    try:
        with pytest.raises(NotCheckedError, match="256 elements, more than the 10"):
            simulator.run(stated(Injective(TileLayout(S[256:1]))))
    finally:
        simulator.close()


def test_a_kernel_that_does_not_run_is_not_checked():
    simulator = InSimulator(Limits())
    broken = replace(kernel_of(TileLayout(S[4:1])), source="def place(out0, n):\n    none()\n")
    with pytest.raises(NotCheckedError, match="does not run in the simulator"):
        simulator.stored(broken)
    with pytest.raises(NotCheckedError, match="has ended"):
        simulator.stored(broken)
    simulator.close()


def test_the_order_of_elements_is_that_of_the_kernel():
    f = TileLayout(S[(2, 3) : (3, 1)] + R[2:10]).map()
    found = [place(f, point) for point, _ in points(f)]
    assert found == [(k,) for i in range(6) for k in (i, i + 10)]
