"""`crosscheck --target ptx`, and the texts of the probes: compiled and assembled without a GPU."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from layout_algebra import ComposeLayout, Dim, Equivalent, Injective, S, TileLayout
from layout_algebra import hardware as hw
from layout_algebra.crosschecks import (
    Limits,
    UnavailableError,
    gpu_fragments,
    gpu_texts,
    gpu_wgmma,
    ptx,
)
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.launching import Gpu
from layout_algebra.device.ptx_cache import VARIABLE
from layout_algebra.device.toolchain import TARGETS, available, compile_cuda
from layout_algebra.ledger import Entry

MISSING = available()
needs_wheels = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
needs_prover = pytest.mark.skipif(
    MISSING is not None or find_spec("z3") is None,
    reason=MISSING or "no z3",
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def stated(claim, verdict="PROVED") -> Statement:
    return Statement(Entry("a", "b", "c.py", str(claim), (), verdict, verdict), claim)


N = Dim("N")
TILE = TileLayout(S[(8, 64) : (64, 1)])


@needs_prover
def test_kernels_are_compiled_and_proven():
    target = ptx.AsPtx(Limits())
    ran = target.run(stated(Equivalent(ComposeLayout(3, 3, 3, TILE), TILE), "REFUTED"))
    assert (ran.agrees, ran.verdict, ran.detail) == (True, "PTX proved", "2 kernels")
    assert ran.elements == 2 * 512
    assert {one["validated"] for one in ran.kernels} == {"PROVED"}
    assert len({one["sha256"] for one in ran.kernels}) == 2
    sizes = target.run(stated(Injective(TileLayout(S[(N, 3) : (3, 1)]))))
    assert sizes.detail == "3 kernels at 3 values of N"


@needs_prover
def test_the_text_of_another_map_is_refuted(monkeypatch):
    other = ptx.compile_ptx(ptx.Subject(None, _kernel()).kernel, "sm_90a")
    monkeypatch.setattr(ptx, "compile_ptx", lambda kernel, arch: other)
    ran = ptx.AsPtx(Limits()).run(stated(Injective(TILE)))
    assert (ran.agrees, ran.verdict) == (False, "REFUTED")
    assert "thread" in ran.detail


def _kernel():
    from layout_algebra.crosschecks.kernels import NAME
    from layout_algebra.device.kernels import kernel_of

    return kernel_of(ComposeLayout(3, 3, 3, TILE), name=f"{NAME}0")


@needs_wheels
def test_an_architecture_that_there_is_not():
    with pytest.raises(UnavailableError, match="no architecture 'sm_1'; there is sm_80"):
        ptx.AsPtx(Limits(arch="sm_1"))


def texts(arch):
    yield "mark", gpu_texts.LOOKING
    for size in (4, 8, 16):
        yield gpu_texts.bank_text(size)
    for shape, dtype in gpu_fragments.MMAS:
        yield gpu_fragments.mma_kernel(shape, dtype)[:2]
    for count, trans in gpu_fragments.MATRICES:
        yield gpu_fragments.matrix_kernel(hw.ldmatrix(count, trans=trans))
        if TARGETS[arch][:2] >= (9, 0):
            yield gpu_fragments.matrix_kernel(hw.stmatrix(count, trans=trans))
    if arch == "sm_90a":
        for case in gpu_wgmma.CASES:
            yield case.kernel, gpu_wgmma.wgmma_kernel(case)


@needs_wheels
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100"])
def test_every_probe_is_assembled(arch):
    """By the environment's assembler: what a driver would otherwise refuse."""
    core = import_module("cuda.core")
    for name, text in texts(arch):
        code = core.ObjectCode.from_ptx(compile_cuda(text, name, arch).text.encode())
        linked = core.Linker(code, options=core.LinkerOptions(arch=arch)).link("cubin")
        assert name.encode() in bytes(linked.code)


@needs_wheels
def test_a_probe_with_a_mistake_is_not_assembled():
    core = import_module("cuda.core")
    name, text = gpu_texts.bank_text(8)
    wrong = text.replace("ld.shared.v2.u32", "ld.shared.v3.u32")
    code = core.ObjectCode.from_ptx(compile_cuda(wrong, name, "sm_90a").text.encode())
    with pytest.raises(Exception, match="v3"):
        core.Linker(code, options=core.LinkerOptions(arch="sm_90a")).link("cubin")


@needs_wheels
@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="there is a GPU")
def test_no_gpu_is_said():
    with pytest.raises(UnavailableError, match="there is no GPU to be used here"):
        Gpu()
