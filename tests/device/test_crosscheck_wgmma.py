"""The check of wgmma without a GPU: a stand-in that does what documents say, and faults in it."""

from __future__ import annotations

import numpy as np
import pytest

from layout_algebra.crosschecks import gpu_wgmma
from layout_algebra.crosschecks.gpu_wgmma import CASES, Case
from layout_algebra.crosschecks.results import NotCheckedError
from layout_algebra.device.launching import DeviceArray
from layout_algebra.device.toolchain import Ptx
from layout_algebra.hardware.shared import SwizzleMode
from tests.device import wgmma_by_hand
from tests.device.host_arrays import HostArrays


class StandIn(HostArrays):
    """A GPU for one kernel; `spoil` is given its arguments before it runs, `after` its D."""

    arch = "sm_90a"

    def __init__(self, spoil=None, after=None):
        self.spoil, self.after = spoil, after

    def launch(self, text, entry, threads, arguments, block):
        assert (block, threads % block) == (128, 0)
        given = [one.buffer if isinstance(one, DeviceArray) else one for one in arguments]
        if self.spoil is not None:
            given = self.spoil(*given)
        wgmma_by_hand.run(entry, *given)
        if self.after is not None:
            self.after(given[4].reshape(threads // block, 128, -1))
        return 1e-3


@pytest.fixture(autouse=True)
def texts(monkeypatch):
    monkeypatch.setattr(
        gpu_wgmma, "compile_cuda", lambda text, entry, arch="", **_: Ptx(text, arch, entry)
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_case_is_as_the_documents_say(case):
    wrong, elements, _ = gpu_wgmma.check_wgmma(StandIn(), case)
    assert wrong is None
    assert elements == 2 * 64 * case.instruction.k * 64 * case.n


def test_every_mode_and_both_majors_are_among_the_cases():
    modes = {case.mode for case in CASES if case.dtype == "float16"}
    assert modes == {SwizzleMode(k) for k in range(4)}
    assert {case.major for case in CASES} == {"K", "MN"}
    assert {case.dtype for case in CASES} == {"float16", "bfloat16", "tf32", "int8"}


def other_mode(a, b, first, second, d):
    """Without the swizzle, or with one where there is none."""
    flip = np.uint64(1 << 62)
    return a, b, first ^ flip, second ^ flip, d


@pytest.mark.parametrize("case", [case for case in CASES if not case.registers], ids=str)
def test_another_mode_is_found(case):
    def grown(a, b, first, second, d):
        many = d.size // (64 * case.n)
        wide = [np.tile(one.reshape(many, -1), (1, 8)).reshape(-1) for one in (a, b)]
        return other_mode(*wide, first, second, d)

    wrong, _, _ = gpu_wgmma.check_wgmma(StandIn(grown), case)
    assert wrong is not None
    assert "with A one at" in wrong


@pytest.mark.parametrize("case", CASES, ids=str)
def test_another_accumulator_is_found(case):
    def exchanged(held):
        held[:, [0, 37]] = held[:, [37, 0]]

    wrong, _, _ = gpu_wgmma.check_wgmma(StandIn(after=exchanged), case)
    assert wrong is not None


@pytest.mark.parametrize("case", [case for case in CASES if case.registers], ids=str)
def test_other_registers_are_found(case):
    def spoil(a, b, first, second, d):
        moved = a.reshape(-1, 128, 4)[:, :, [0, 2, 1, 3]].reshape(-1)
        return moved, b, first, second, d

    wrong, _, _ = gpu_wgmma.check_wgmma(StandIn(spoil), case)
    assert wrong is not None


def test_a_matrix_without_a_descriptor_is_not_checked():
    case = Case("tf32", 16, SwizzleMode.B128, major="MN")
    with pytest.raises(NotCheckedError, match="MN-major matrices of 32 bits"):
        gpu_wgmma.check_wgmma(StandIn(), case)


def test_the_text_of_a_kernel():
    """The instruction's operands, as the PTX ISA's syntax has them."""
    half = gpu_wgmma.wgmma_kernel(Case("float16", 8, SwizzleMode.B128))
    assert "m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, more, 1, 1, 0, 0;" in half
    turned = gpu_wgmma.wgmma_kernel(Case("float16", 64, SwizzleMode.B128, major="MN"))
    assert "more, 1, 1, 1, 1;" in turned
    byte = gpu_wgmma.wgmma_kernel(Case("int8", 8, SwizzleMode.B128, registers=True))
    assert "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, more;" in byte
    assert "memory[k] = a[k]" not in byte
