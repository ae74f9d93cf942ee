"""Fragments of matrix instructions, as a GPU has them: by running the instruction.

    for one in fragments(gpu): one.outcome

mma.sync: A is 1 at one element and 0 elsewhere, B holds numbers that tell its elements apart; D
then has one row of B in one row, and nothing else, if A, B and D are where the catalogue says.
wgmma does the same from shared memory.
(How A and B number the summed dimension cannot be seen so: any order that they share gives the same
D.)

ldmatrix and stmatrix: every element of the tile is its own number; it has to arrive in the lane and
register, or the place in memory, that the catalogue names, from the rows that the lanes address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from layout_algebra import hardware as hw
from layout_algebra.crosschecks import gpu_wgmma
from layout_algebra.crosschecks.gpu_data import (
    KINDS,
    LANES,
    Words,
    misplaced,
    packed,
    problems,
    unpacked,
)
from layout_algebra.crosschecks.gpu_texts import ldmatrix_text, mma_text, stmatrix_text
from layout_algebra.crosschecks.results import Checked, NotCheckedError, Outcome, Ran
from layout_algebra.device.launching import Gpu
from layout_algebra.device.toolchain import compile_cuda
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.hardware.matrices import MatrixLoad, MatrixStore
from layout_algebra.layouts import TileLayout
from layout_algebra.memory import Buffer, banks
from layout_algebra.notation import S

#: The instructions that are run: shape and element type.
MMAS = (
    ("m16n8k8", "float16"),
    ("m16n8k16", "float16"),
    ("m16n8k8", "bfloat16"),
    ("m16n8k16", "bfloat16"),
    ("m16n8k4", "tf32"),
    ("m16n8k8", "tf32"),
    ("m16n8k16", "int8"),
    ("m16n8k32", "int8"),
)
MATRICES = tuple((count, trans) for count in ("x1", "x2", "x4") for trans in (False, True))


def fragments(gpu: Gpu) -> Iterator[Checked]:
    """Every instruction that this GPU has."""
    for shape, dtype in MMAS:
        yield _checked(f"mma.{shape}.{dtype}", lambda s=shape, t=dtype: check_mma(gpu, s, t))
    for count, trans in MATRICES:
        load = hw.ldmatrix(count, trans=trans)
        yield _checked(load.name, lambda one=load: check_ldmatrix(gpu, one))
        if gpu.capability >= (9, 0):
            store = hw.stmatrix(count, trans=trans)
            yield _checked(store.name, lambda one=store: check_stmatrix(gpu, one))
    if gpu.arch == "sm_90a":
        for case in gpu_wgmma.CASES:
            yield _checked(str(case), lambda one=case: gpu_wgmma.check_wgmma(gpu, one))


def _checked(name: str, check: Callable[[], tuple[str | None, int, float]]) -> Checked:
    title = f"hardware: {name}, every element of its fragments"
    try:
        wrong, elements, seconds = check()
    except LayoutAlgebraError as error:
        said = " ".join(str(error).split())
        return Checked(title, "", name, "", Outcome.NOT_CHECKED, None, said)
    verdict = "as stated" if wrong is None else "differs"
    run = Ran(wrong is None, verdict, elements, seconds, wrong or "")
    outcome = Outcome.AGREES if run.agrees else Outcome.DISAGREES
    return Checked(title, "", name, "", outcome, run, run.detail)


# -- mma.sync ----------------------------------------------------------------------------------
def check_mma(gpu: Gpu, shape: str, dtype: str) -> tuple[str | None, int, float]:
    """What is wrong with the fragments of one mma.sync; elements of D looked at; seconds."""
    kind, one = KINDS[dtype], hw.mma(shape, dtype)
    rows, columns, depth = one.sizes
    name, text, counts = mma_kernel(shape, dtype)
    a, b, wanted = problems(rows, columns, depth)
    words_a = packed(one.A.map(), kind.encode(a), kind.bits, counts[0])
    words_b = packed(one.B.map(), kind.encode(b), kind.bits, counts[1])
    out = gpu.zeros(len(a) * LANES * counts[2], "uint32")
    ptx = compile_cuda(text, name, gpu.arch)
    given = [gpu.put(words_a), gpu.put(words_b), out]
    seconds = gpu.launch(ptx.text, name, len(a) * LANES, given, block=LANES)
    words = gpu.fetched(out).reshape(len(a), LANES, counts[2])
    numbers = words.view(np.float32 if kind.result == "f32" else np.int32)
    found = unpacked(one.D.map(), numbers)
    return misplaced(found, wanted, depth), wanted.size, seconds


def mma_kernel(shape: str, dtype: str) -> tuple[str, str, tuple[int, int, int]]:
    """The kernel of one mma.sync: its name, its text, and the registers of A, B and D."""
    kind = KINDS[dtype]
    rows, columns, depth = hw.mma(shape, dtype).sizes
    per = LANES * 32 // kind.bits
    counts = rows * depth // per, depth * columns // per, rows * columns // LANES
    types = f"{kind.result}.{kind.ptx}.{kind.ptx}.{kind.result}"
    name = f"mma_{shape}_{kind.ptx}"
    text = mma_text(
        name,
        f"mma.sync.aligned.{shape}.row.col.{types}",
        counts,
        "f" if kind.result == "f32" else "r",
    )
    return name, text, counts


# -- ldmatrix and stmatrix ---------------------------------------------------------------------
def check_ldmatrix(gpu: Gpu, load: MatrixLoad) -> tuple[str | None, int, float]:
    """What is wrong with one ldmatrix; elements looked at; seconds."""
    tile, rows, held = matrix_case(load)
    name, text = matrix_kernel(load)
    out = gpu.zeros(held.size, "uint32")
    ptx = compile_cuda(text, name, gpu.arch)
    seconds = gpu.launch(ptx.text, name, LANES, [gpu.put(tile), gpu.put(rows), out], block=LANES)
    return _said(gpu.fetched(out), held.reshape(-1), "register"), 2 * held.size, seconds


def check_stmatrix(gpu: Gpu, store: MatrixStore) -> tuple[str | None, int, float]:
    """What is wrong with one stmatrix; elements looked at; seconds."""
    tile, rows, held = matrix_case(store)
    name, text = matrix_kernel(store)
    out = gpu.zeros(tile.size, "uint32")
    ptx = compile_cuda(text, name, gpu.arch)
    seconds = gpu.launch(ptx.text, name, LANES, [out, gpu.put(rows), gpu.put(held)], block=LANES)
    return _said(gpu.fetched(out), tile, "word"), 2 * held.size, seconds


def _said(found: Words, wanted: Words, what: str) -> str | None:
    wrong = np.flatnonzero(found != wanted)
    if not wrong.size:
        return None
    at = int(wrong[0])
    shown = [f"({int(w) & 0xFFFF}, {int(w) >> 16})" for w in (found[at], wanted[at])]
    return f"{what} {at} holds elements {shown[0]}, not {shown[1]}; {wrong.size} differ"


def matrix_case(move: MatrixLoad | MatrixStore) -> tuple[Words, Words, Words]:
    """A tile of 16-bit numbers, where each lane's row begins, and what each lane holds of it."""
    if move.form.bits != 16:
        raise NotCheckedError(f"{move.name}: only matrices of 16-bit elements are run")
    rows, columns = move.fragment.shape
    numbers = np.arange(rows * columns, dtype=np.int64).reshape(1, rows, columns)
    buffer = Buffer((rows, columns), "uint16", TileLayout(S[(rows, columns) : (columns, 1)]))
    access = move.read(buffer) if isinstance(move, MatrixLoad) else move.write(buffer)
    begins = dict(banks.lane_bits(access, {}))
    starts = np.array([begins.get(lane, 0) // 8 for lane in range(LANES)], dtype=np.uint32)
    tile = numbers.astype(np.uint16).reshape(-1).view(np.uint32)
    return tile, starts, packed(move.fragment.map(), numbers, 16, move.count)[0]


def matrix_kernel(move: MatrixLoad | MatrixStore) -> tuple[str, str]:
    """The kernel of one ldmatrix or stmatrix: its name and its text."""
    rows, columns = move.fragment.shape
    load = isinstance(move, MatrixLoad)
    verb = "ldmatrix" if load else "stmatrix"
    trans = ".trans" if move.trans else ""
    opcode = f"{verb}.sync.aligned.m8n8.x{move.count}{trans}.shared.b16"
    name = f"{verb}_x{move.count}" + ("_trans" if move.trans else "")
    make = ldmatrix_text if load else stmatrix_text
    return name, make(name, opcode, move.count, rows * columns // 2)
