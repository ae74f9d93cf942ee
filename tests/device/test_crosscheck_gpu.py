"""`crosscheck --target cuda` without a GPU: everything but the GPU itself.

A stand-in runs what would be launched, from descriptions of its own: the maps' kernels as Python,
the C++ of the kernels that look at them through the machine's C++ compiler, matrix instructions by
the tables typed from the ISA text, and the time of loads by counting banks.  Faults are then put
in, one in each part, and have to be found.
"""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest

from layout_algebra import ComposeLayout, Dim, Map, R, S, TileLayout, laneid, warpid
from layout_algebra import hardware as hw
from layout_algebra.claims import (
    BankConflictFree,
    Bijective,
    ConflictDegree,
    Covers,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    Matches,
    RightInverse,
    Wavefronts,
)
from layout_algebra.crosschecks import (
    Limits,
    NotCheckedError,
    Outcome,
    UnavailableError,
    cuda,
    gpu_banks,
    gpu_data,
    gpu_fragments,
    gpu_maps,
    gpu_texts,
    gpu_wgmma,
    ptx,
)
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.device.kernels import exec_source
from layout_algebra.device.launching import DeviceArray, arch_of
from layout_algebra.device.toolchain import Ptx
from layout_algebra.ledger import Entry
from layout_algebra.memory import Buffer
from layout_algebra.prover import prove
from tests.device import wgmma_by_hand
from tests.device.host_arrays import HostArrays
from tests.hardware.isa_tables import ACCUMULATORS, DENSE

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler (g++)")

SHIM = """
#define __global__
#define __device__
struct Three { unsigned x; };
static Three blockIdx, blockDim, threadIdx;
template <class T> static T atomicAdd(T *at, T more) { T before = *at; *at += more; return before; }
static unsigned atomicOr(unsigned *at, unsigned more) { unsigned b = *at; *at |= more; return b; }
extern "C" void set_thread(unsigned block, unsigned size, unsigned thread) {
    blockIdx.x = block; blockDim.x = size; threadIdx.x = thread;
}
"""


@dataclass
class StandIn(HostArrays):
    """What the target asks of a GPU.

    `spoil` is called with an entry's name and the arrays that its kernel has been given, after it
    has run; `banks` is how many the memory has.
    """

    looking: ctypes.CDLL | None = None
    spoil: object = None
    banks: int = 32
    capability: tuple[int, int] = (9, 0)
    arch: str = "sm_90a"
    launched: list[str] = field(default_factory=list)

    def tools(self):
        return {"gpu": "a stand-in"}

    def launch(self, text, entry, threads, arguments, block=256):
        self.launched.append(entry)
        given = [one.buffer if isinstance(one, DeviceArray) else one for one in arguments]
        if text.startswith("def "):
            self._python(text, entry, threads, given)
        elif entry.startswith("bank_cycles_"):
            self._loads(int(entry.removeprefix("bank_cycles_")), *given)
        elif entry.startswith("mma_"):
            self._mma(entry, *given)
        elif entry.startswith("wgmma_"):
            wgmma_by_hand.run(entry, *given)
        elif "matrix_" in entry:
            self._matrix(entry, *given)
        else:
            self._looks(entry, threads, given, block)
        if self.spoil is not None:
            self.spoil(entry, given)
        return 1e-3

    def _python(self, text, entry, threads, given):
        for number in range(threads + 3):
            here = SimpleNamespace(
                blockIdx=SimpleNamespace(x=number // 8),
                blockDim=SimpleNamespace(x=8),
                threadIdx=SimpleNamespace(x=number % 8),
            )
            exec_source(text, entry, {"cuda": here})(*given)

    def _looks(self, entry, threads, given, block):
        kinds = {"u": ctypes.c_uint64, "i": ctypes.c_int64}
        words = {4: ctypes.c_uint32}
        converted = [
            ctypes.c_void_p(one.ctypes.data)
            if isinstance(one, np.ndarray)
            else words.get(one.dtype.itemsize, kinds[one.dtype.kind])(int(one))
            for one in given
        ]
        for number in range(-(-threads // block) * block):
            self.looking.set_thread(number // block, block, number % block)
            getattr(self.looking, entry)(*converted)

    def _loads(self, size, offsets, active, tables, cycles):
        """20 cycles, and 2 for every wavefront: phases of 128 bytes, words of one bank in turn."""
        lanes = 128 // size
        for t in range(int(tables)):
            total = 0
            for start in range(0, 32, lanes):
                wanted = {}
                for lane in range(start, start + lanes):
                    if active[32 * t + lane]:
                        first = int(offsets[32 * t + lane]) // 4
                        for word in range(first, first + size // 4):
                            wanted.setdefault(word % self.banks, set()).add(word)
                total += max(map(len, wanted.values()), default=0)
            cycles[32 * t : 32 * t + 32] = 20 + 2 * total

    def _mma(self, entry, a, b, d):
        _, shape, kind = entry.split("_")
        name = {"f16": "float16", "bf16": "bfloat16", "tf32": "tf32", "s8": "int8"}[kind]
        tables = next(t for (s, names), t in DENSE.items() if s == shape and name in names)
        rows, columns, depth = hw.mma(shape, name).sizes
        many = a.size * 32 // (rows * depth * gpu_data.KINDS[name].bits)
        left = self._decoded(a, tables[0], (many, rows, depth), kind)
        right = self._decoded(b, tables[1], (many, depth, columns), kind)
        product = left @ right
        table = ACCUMULATORS[rows]
        held = np.zeros((many, 32, table.count))
        for lane, i, (row, column) in table.rows():
            held[:, lane, i] = product[:, row, column]
        d[:] = held.astype(np.int32 if kind == "s8" else np.float32).view(np.uint32).reshape(-1)

    def _decoded(self, words, table, shape, kind):
        views = {"f16": np.float16, "bf16": np.uint16, "tf32": np.float32, "s8": np.int8}
        held = words.view(views[kind]).reshape(shape[0], 32, table.count)
        if kind == "bf16":
            held = (held.astype(np.uint32) << 16).view(np.float32)
        found = np.zeros(shape)
        for lane, i, (row, column) in table.rows():
            found[:, row, column] = held[:, lane, i]
        return found

    def _matrix(self, entry, tile, rows, held):
        """Matrix k: lane 8k + r addresses row r; lane l holds of it row l/4, columns 2(l%4) + e."""
        verb, count, *trans = entry.split("_")
        halves, registers = tile.view(np.uint16), held.view(np.uint16).reshape(32, -1)
        for k, lane, e in itertools.product(range(int(count[1:])), range(32), range(2)):
            row, column = lane // 4, 2 * (lane % 4) + e
            if trans:
                row, column = column, row
            at = int(rows[8 * k + row]) // 2 + column
            if verb == "ldmatrix":
                registers[lane, 2 * k + e] = halves[at]
            else:
                halves[at] = registers[lane, 2 * k + e]


@pytest.fixture(scope="module")
def looking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looking")
    (folder / "looking.cpp").write_text(SHIM + gpu_texts.LOOKING)
    program = ["g++", "-shared", "-fPIC", "-Wall", "-Wno-unused-function", "-o", "looking.so"]
    subprocess.run([*program, "looking.cpp"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "looking.so"))


@pytest.fixture
def target(looking, monkeypatch):
    """The target `cuda` on a stand-in, with texts in the place of PTX."""

    def text_of_kernel(kernel, arch="", **_):
        return Ptx(kernel.source, arch, kernel.name)

    def text_of_cuda(text, entry, arch="", **_):
        return Ptx(text, arch, entry)

    for module in (gpu_maps, ptx):
        monkeypatch.setattr(module, "compile_ptx", text_of_kernel)
    for module in (gpu_maps, gpu_banks, gpu_fragments, gpu_wgmma):
        monkeypatch.setattr(module, "compile_cuda", text_of_cuda)
    found = cuda.OnGpu(Limits(), StandIn(looking))
    found.proves = False  # the texts are no PTX
    return found


def stated(claim, **more) -> Statement:
    proof = prove(claim, **more)
    witness = None if proof.witness is None else proof.witness.to_json()
    given = tuple(more.get("given", ()))
    verdict = str(proof.verdict)
    entry = Entry("a", "b", "c.py", str(claim), (), verdict, verdict, witness=witness)
    return Statement(entry, claim.assuming(given), given)


def turned(statement: Statement) -> Statement:
    """The same with the other verdict."""
    other = {"PROVED": "REFUTED", "REFUTED": "PROVED"}[statement.entry.verdict]
    return replace(statement, entry=replace(statement.entry, verdict=other))


# -- maps and their claims -----------------------------------------------------------------------
N = Dim("N")
ROWS, COLUMNS = TileLayout(S[(4, 6) : (6, 1)]), TileLayout(S[(4, 6) : (1, 4)])
SPREAD = TileLayout(S[(4, 2, 3) : (1 @ laneid, 1 @ warpid, 1)])
SWIZZLED = ComposeLayout(2, 2, 2, TileLayout(S[(8, 8) : (8, 1)]))
CLAIMS = {
    "injective": Injective(SWIZZLED),
    "colliding": Injective(TileLayout(S[(3, 4, 5) : (20, 7, 1)])),
    "negative": Injective(Map.of(lambda i: 5 - 3 * i, (30,))),
    "guarded": Injective(Map.of(lambda i: i % 20, (30,), where=lambda i: i < 20)),
    "guarded too late": Injective(Map.of(lambda i: i % 20, (30,), where=lambda i: i < 21)),
    "bijective": Bijective(SWIZZLED, {"m": 64}),
    "bijective, two axes": Bijective(SPREAD, {"laneid": 4, "warpid": 2, "m": 3}),
    "not onto": Bijective(ROWS, {"m": 25}),
    "strays": Bijective(ROWS, {"m": (1, 25)}),
    "strays, and covers": Bijective(TileLayout(S[25:1]), {"m": (1, 25)}),
    "covers": Covers(Map.of(lambda i: i // 2, (30,)), {"m": 15}),
    "does not cover": Covers(TileLayout(S[8:2]), {"m": 15}),
    "equivalent": Equivalent(ROWS, TileLayout(S[24:1])),
    "other axes": Equivalent(SPREAD, TileLayout(S[(4, 2, 3) : (1 @ laneid, 0, 1)])),
    "not equivalent": Equivalent(ROWS, COLUMNS),
    "left inverse": LeftInverse(ROWS, ROWS),
    "no left inverse": LeftInverse(ROWS, COLUMNS),
    "inverse": Inverse(COLUMNS, TileLayout(S[(6, 4) : (1, 6)])),
    "right inverse": RightInverse(COLUMNS, TileLayout(S[(6, 4) : (1, 6)])),
    "inverse, named": Inverse(
        Map.of(lambda i, j: {"laneid": j, "m": i}, (4, 6)),
        Map.of(lambda laneid, m: {"i": m, "j": laneid}, (6, 4)),
    ),
    "leaves the domain": LeftInverse(TileLayout(S[4:2]), TileLayout(S[4:1])),
    "copies go back": LeftInverse(TileLayout(S[4:1] + R[2:4]), Map.of(lambda a: a % 4, (8,))),
    "any size": Bijective(TileLayout(S[(N, 4) : (4, 1)]), {"m": 4 * N}),
    "not any size": Injective(TileLayout(S[(N, 4) : (3, 1)])),
    "both": Injective(ROWS) & Equivalent(ROWS, COLUMNS),
}


@needs_compiler
@pytest.mark.parametrize("name", CLAIMS)
def test_claims_are_decided_by_the_arrays(target, name):
    statement = stated(CLAIMS[name])
    ran = target.run(statement)
    assert (ran.agrees, ran.verdict) == (True, statement.entry.verdict)
    assert ran.kernels
    assert ran.kernels[0]["validated"] == cuda.UNPROVEN
    if statement.entry.witness is not None or not CLAIMS[name].is_symbolic():
        assert not target.run(turned(statement)).agrees


@needs_compiler
def test_copies_and_other_claims_are_kernels_only(target):
    copied = TileLayout(S[4:1] + R[2:4])
    ran = target.run(stated(Injective(copied)))
    assert (ran.agrees, ran.verdict) == (True, "kernels equal")
    assert "no check of Injective on the GPU" in ran.detail
    assert ran.elements == 8


@needs_compiler
def test_a_wrong_store_is_found(target):
    def spoil(entry, given):
        if entry.startswith("place"):
            given[0][17] += 1

    target.gpu.spoil = spoil
    ran = target.run(stated(Injective(ROWS)))
    assert (ran.agrees, ran.verdict) == (False, "differs")
    assert ran.detail.startswith("m of element 17 of ")


@needs_compiler
def test_limits_are_reasons(target):
    small = cuda.OnGpu(Limits(memory=64), target.gpu)
    small.proves = False
    with pytest.raises(NotCheckedError, match="needs 96 bytes of the GPU"):
        small.run(stated(Injective(ROWS)))
    few = cuda.OnGpu(Limits(elements=10), target.gpu)
    with pytest.raises(NotCheckedError, match="24 elements"):
        few.run(stated(Injective(ROWS)))


# -- banks ---------------------------------------------------------------------------------------
def read_of(stride, size=4, rows=32, where=lambda lane: (lane, 0), align=16, **more):
    rows_of = TileLayout(S[(rows, stride) : (stride, 1)])
    buffer = Buffer((rows, stride), "float32", rows_of, align=align)
    return buffer.read(where, bytes=size, **more)


ACCESSES = {
    "a column": read_of(33),
    "a column of one bank": read_of(32),
    "a broadcast": read_of(32, where=lambda lane: (0, 0)),
    "pairs": read_of(34, size=8),
    "pairs that meet": read_of(32, size=8),
    "fours": read_of(36, size=16),
    "fours that meet": read_of(64, size=16),
    "half a warp": read_of(32, active=lambda lane: lane < 16),
}


@needs_compiler
@pytest.mark.parametrize("name", ACCESSES)
def test_times_are_wavefronts(target, name):
    access = ACCESSES[name]
    points = gpu_banks.points_of(access)
    (found,), _ = gpu_banks.measured(target.gpu, access, points)
    assert found.wavefronts == pytest.approx(found.expected)
    for claim in (BankConflictFree(access), ConflictDegree(access, 8), Wavefronts(access, 8)):
        statement = stated(claim)
        ran = target.run(statement)
        assert (ran.agrees, ran.verdict) == (True, statement.entry.verdict)
        assert not target.run(turned(statement)).agrees


@needs_compiler
def test_a_memory_of_other_banks_is_found(target):
    target.gpu.banks = 16
    ran = target.run(stated(BankConflictFree(read_of(16))))
    assert (ran.agrees, ran.verdict) == (False, "differs")
    assert ran.detail == "32.00 wavefronts by the clock here, 16 by the model"


@needs_compiler
def test_what_only_another_base_refutes_is_not_checked(target):
    statement = stated(BankConflictFree(read_of(34, size=8, align=4)))
    assert "not aligned" in statement.entry.witness["summary"]
    with pytest.raises(NotCheckedError, match="at a base that the probe has not"):
        target.run(statement)
    sound = replace(statement, claim=BankConflictFree(read_of(34, size=8)))
    ran = target.run(sound)
    assert (ran.agrees, ran.detail) == (False, "the recorded witness does not refute it")


@needs_compiler
def test_free_variables_are_sampled(target):
    k = Dim("k", multiple_of=4, at_most=28)
    swizzled = ComposeLayout(2, 3, 3, TileLayout(S[(32, 64) : (64, 1)]))
    sA = Buffer((32, 64), "float32", swizzled, align=1024)
    access = sA[0:32, k : k + 4].read(lambda lane: (lane, 0), bytes=16)
    claim = Wavefronts(access, 32)
    ran = target.run(stated(claim))
    assert ran.agrees
    assert "8 points" in ran.detail
    refuted = stated(BankConflictFree(access))
    assert refuted.entry.verdict == "REFUTED"
    assert target.run(refuted).agrees


def test_what_the_probe_has_not():
    for access, says in (
        (read_of(8, size=4, rows=16, lanes=16, where=lambda lane: (lane, 0)), "a whole warp's"),
        (
            Buffer((32, 8), "float16", TileLayout(S[(32, 8) : (8, 1)])).read(
                lambda lane: (lane, 0), bytes=2
            ),
            "4, 8 or 16 bytes",
        ),
        (read_of(4096), "further apart"),
        (read_of(33, size=8), "not aligned"),
    ):
        with pytest.raises(NotCheckedError, match=says):
            gpu_banks.measured(StandIn(), access, [{}])
    with pytest.raises(NotCheckedError, match="no conflict shows"):
        gpu_banks.wavefronts_of(20, 20, 20, 1)


@needs_compiler
def test_an_access_and_its_fragment_are_kernels(target):
    load = hw.ldmatrix("x4")
    sA = Buffer((16, 16), "float16", TileLayout(S[(16, 16) : (16, 1)]), align=256)
    claim = Matches(load.read(sA), hw.mma("m16n8k16", "float16").A)
    ran = target.run(stated(claim))
    assert (ran.agrees, ran.verdict) == (True, "kernels equal")


# -- fragments -----------------------------------------------------------------------------------
@needs_compiler
def test_every_instruction_is_as_stated(target):
    found = list(target.own())
    single = len(gpu_fragments.MMAS) + 2 * len(gpu_fragments.MATRICES)
    assert len(found) == single + len(gpu_wgmma.CASES)
    assert {one.outcome for one in found} == {Outcome.AGREES}
    target.gpu.capability, target.gpu.arch = (8, 0), "sm_80"
    older = [one.name for one in target.own()]
    assert len(older) == len(gpu_fragments.MMAS) + len(gpu_fragments.MATRICES)
    assert not [name for name in older if "stmatrix" in name or "wgmma" in name]


@needs_compiler
@pytest.mark.parametrize("part", range(3))
def test_registers_in_another_order_are_found(target, part):
    """What two lanes give to the instruction, or get from it, exchanged."""
    plain = target.gpu._mma

    def exchanged(entry, *given):
        words = [one.copy() for one in given]
        many = words[2].size // 32 // 4
        if part < 2:
            words[part] = _exchanged(words[part], many)
        plain(entry, *words)
        given[2][:] = words[2] if part < 2 else _exchanged(words[2], many)

    target.gpu._mma = exchanged
    found = [one for one in target.own() if "mma.m16" in one.name]
    assert found
    assert {one.outcome for one in found} == {Outcome.DISAGREES}
    assert all("with A one at" in one.detail for one in found)


def _exchanged(words, many):
    """Lanes 0 and 5, in every one of so many problems."""
    found = words.reshape(many, 32, -1).copy()
    found[:, [0, 5]] = found[:, [5, 0]]
    return found.reshape(-1)


@needs_compiler
def test_a_wrong_matrix_load_is_found(target):
    def spoil(entry, given):
        if entry.startswith("ldmatrix"):
            given[2][:] = given[2][::-1].copy()
        elif entry.startswith("stmatrix"):
            given[0][:] = np.roll(given[0], 1)

    target.gpu.spoil = spoil
    found = [one for one in target.own() if "matrix" in one.name]
    assert {one.outcome for one in found} == {Outcome.DISAGREES}
    assert "holds elements" in found[0].detail


# -- the machine ---------------------------------------------------------------------------------
def test_the_architecture_for_a_gpu():
    wanted = {
        (8, 0): "sm_80",
        (8, 6): "sm_80",
        (9, 0): "sm_90a",
        (10, 0): "sm_100",
        (12, 0): "sm_100",
    }
    assert {capability: arch_of(capability) for capability in wanted} == wanted
    with pytest.raises(UnavailableError, match=r"capability 7\.5; kernels need 8\.0"):
        arch_of((7, 5))
