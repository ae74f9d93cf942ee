"""Cross-checks on a GPU: `python -m pytest tests/gpu -m gpu`.  Without one all of them are skipped.

The same layouts that are looked at without a GPU, with the GPU itself: kernels, collisions, round
trips, the time of loads from shared memory, and the fragments of matrix instructions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from layout_algebra import ComposeLayout, S, TileLayout, hardware
from layout_algebra.claims import BankConflictFree, Bijective, Injective, Inverse, Wavefronts
from layout_algebra.crosschecks import Limits, Outcome, UnavailableError, gpu_banks
from layout_algebra.crosschecks.cuda import OnGpu
from layout_algebra.crosschecks.gpu_fragments import fragments
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.launching import Gpu
from layout_algebra.ledger import Entry
from layout_algebra.memory import Buffer

pytestmark = pytest.mark.gpu


@cache
def found() -> Gpu | str:
    try:
        return Gpu()
    except UnavailableError as error:
        return str(error)


@pytest.fixture
def gpu() -> Gpu:
    one = found()
    if isinstance(one, str):
        pytest.skip(one)
    return one


@pytest.fixture
def target(gpu) -> OnGpu:
    return OnGpu(Limits(), gpu)


def stated(claim, verdict="PROVED") -> Statement:
    return Statement(Entry("a", "b", "c.py", str(claim), (), verdict, verdict), claim)


ROWS = TileLayout(S[(512, 1024) : (1024, 1)])
COLUMNS = TileLayout(S[(512, 1024) : (1, 512)])
BACK = TileLayout(S[(1024, 512) : (1, 1024)])
PROVED = {
    "rows": Injective(ROWS),
    "columns": Bijective(COLUMNS, {"m": 1 << 19}),
    "swizzled": Bijective(ComposeLayout(3, 3, 3, TileLayout(S[(64, 64) : (64, 1)])), {"m": 4096}),
    "there and back": Inverse(COLUMNS, BACK),
}
REFUTED = {
    "colliding": Injective(TileLayout(S[(3, 4, 5) : (20, 7, 1)])),
    "not there and back": Inverse(COLUMNS, ROWS),
}


@pytest.mark.parametrize("name", PROVED)
def test_proved(target, name):
    ran = target.run(stated(PROVED[name]))
    assert (ran.agrees, ran.verdict) == (True, "PROVED"), ran.detail


@pytest.mark.parametrize("name", REFUTED)
def test_refuted(target, name):
    ran = target.run(stated(REFUTED[name], "REFUTED"))
    assert (ran.agrees, ran.verdict) == (True, "REFUTED"), ran.detail
    assert not target.run(stated(REFUTED[name])).agrees


def test_every_layout_of_the_catalogue(target):
    wrong = []
    for entry in hardware.catalogue():
        ran = target._kernels(stated(Injective(entry.map())))
        if not ran.agrees:
            wrong.append(f"{entry.name}: {ran.detail}")
    assert wrong == []


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("stride", [32, 36, 40, 48, 64])
def test_bank_conflicts(target, size, stride):
    """A column of rows so many words apart, and whether it conflicts."""
    rows = TileLayout(S[(32, stride) : (stride, 1)])
    access = Buffer((32, stride), "float32", rows, align=128).read(
        lambda lane: (lane, 0), bytes=size
    )
    (one,), _ = gpu_banks.measured(target.gpu, access, [{}])
    assert one.agrees, f"{one.wavefronts:.2f} wavefronts by the clock, {one.expected} by the model"
    free = one.expected == one.least
    assert target.run(stated(BankConflictFree(access), "PROVED" if free else "REFUTED")).agrees
    assert target.run(stated(Wavefronts(access, one.expected))).agrees


def test_a_wrong_model_would_be_seen(target):
    """The clock tells one degree from the next."""
    by_stride = {}
    for stride in (1, 2, 4, 8, 16, 32):
        rows = TileLayout(S[(32, stride) : (stride, 1)])
        access = Buffer((32, stride), "float32", rows, align=128).read(lambda lane: (lane, 0))
        ((one,), _) = gpu_banks.measured(target.gpu, access, [{}])
        by_stride[stride] = round(one.wavefronts)
        assert not replace(one, expected=one.expected + 1).agrees
    assert by_stride == {1: 1, 2: 2, 4: 4, 8: 8, 16: 16, 32: 32}


def test_fragments(gpu):
    outcomes = {one.name: one.outcome for one in fragments(gpu)}
    assert set(outcomes.values()) == {Outcome.AGREES}, outcomes
