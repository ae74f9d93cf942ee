"""Layouts attached to what kernels hold: run in the simulator, compiled, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from layout_algebra import (
    BankConflictFree,
    ComposeLayout,
    Dim,
    Injective,
    R,
    S,
    TCol,
    TileLayout,
    TLane,
    Verdict,
    laneid,
    prove,
)
from layout_algebra.device import available
from layout_algebra.device.attached import _slot_map, fragment, shared
from layout_algebra.errors import LayoutError
from layout_algebra.inverting import NotInjectiveError
from layout_algebra.memory import Buffer

ROOT = Path(__file__).parents[2]
needs_cuda = pytest.mark.skipif(available() is not None, reason=str(available()))


def test_in_the_simulator():
    """In its own process: numba reads which CUDA there is when it is imported."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.device.attached_kernels"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [outcome for _, outcome in lines] == ["right"] * 8, done.stdout


def test_which_element_a_slot_holds():
    """The formula that kernels get, beside the layout's own places."""
    for layout, shape in (
        (TileLayout(S[(32, 4) : (1 @ laneid, 1)]), (32, 4)),
        (TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 2, 1 @ laneid, 1)]), (16, 8)),
        (TileLayout(S[16 : 1 @ laneid]), (4, 4)),
    ):
        found = _slot_map(layout, shape)
        for flat in range(layout.size()):
            place = layout.apply(flat)
            point = [place.get(one.name, 0) for one in found.coordinates]
            element = found.apply(*point)
            assert [element[f"i{d}"] for d in range(2)] == list(divmod(flat, shape[1]))


EIGHT = TileLayout(S[8:1])
REFUSED = [
    (
        lambda: shared(TileLayout(S[(32, 4) : (1 @ laneid, 1)]), (32, 4), "float32"),
        "one place on m for an element; .* is on laneid too",
    ),
    (lambda: shared(TileLayout(S[8:1] + R[2:8]), (8,), "float32"), "it has copies"),
    (lambda: shared(TileLayout(S[8:-1]), (8,), "float32"), "places on m begin at -7"),
    (lambda: shared(EIGHT, (9,), "float32"), r"8 elements \(S\[8 : 1\]\); got shape \(9,\)"),
    (lambda: shared(TileLayout(S[Dim("n") : 1]), (8,), "float32"), "n elements"),
    (lambda: shared("S[8:1]", (8,), "float32"), "a TileLayout or ComposeLayout; got 'S"),
    (
        lambda: fragment(TileLayout(S[(8, 8) : (1 @ TLane, 1 @ TCol)]), (8, 8), "float32"),
        "thread axes .* is on TLane, TCol too",
    ),
]


@pytest.mark.parametrize(("make", "says"), REFUSED)
def test_refused(make, says):
    with pytest.raises(LayoutError, match=says):
        make()


@needs_cuda
def test_elements_that_share_a_slot_are_refused():
    with pytest.raises(NotInjectiveError):
        fragment(TileLayout(S[(32, 4) : (1 @ laneid, 0)]), (32, 4), "float32")
    with pytest.raises(NotInjectiveError):
        shared(TileLayout(S[(4, 4) : (4, 0)]), (4, 4), "float32")


@needs_cuda
@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 0)])
def test_compiled(capability):
    """The fragment's storage is registers; shared memory is shared memory."""
    from numba import cuda, float32

    from tests.device.attached_kernels import runs

    texts = {}
    for one in runs():
        arrays = (float32[:, ::1],) * 2
        text, _ = cuda.compile(
            one.kernel, arrays, cc=capability, output="ptx", device=False, abi="numba"
        )
        texts[one.name] = text
    assert ".local" not in texts["add_one_layout"]
    assert texts["add_one_layout"].count("st.global") in (1, 4)
    assert texts["add_one_layout"].count("add.") >= 4
    for name in ("transpose_plain", "transpose_swizzled"):
        assert "ld.shared" in texts[name]
        assert "bar.sync" in texts[name]
    assert "xor" in texts["transpose_swizzled"]
    assert "xor" not in texts["transpose_plain"]


def test_the_transposition_is_free_of_conflicts_with_the_swizzle_only():
    """What is measured on a GPU in tests/gpu/test_attached.py."""
    plain = TileLayout(S[(32, 32) : (32, 1)])
    for layout, columns in (
        (ComposeLayout(0, 5, 5, plain), Verdict.PROVED),
        (plain, Verdict.REFUTED),
    ):
        tile = Buffer((32, 32), "float32", layout, align=128)
        i = Dim("i", at_least=0, at_most=31)
        rows = tile.write(lambda lane, i: (i, lane), free=[i])
        down = tile.read(lambda lane, i: (lane, i), free=[i])
        assert prove(BankConflictFree(rows)).verdict is Verdict.PROVED
        assert prove(BankConflictFree(down)).verdict is columns
        assert prove(Injective(layout)).verdict is Verdict.PROVED
