"""The theorems of proofs/data_paths.py: their scope, and what they say by plain enumeration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from layout_algebra import Verdict, prove
from layout_algebra.claims import Matches
from layout_algebra.hardware import ldmatrix, mma
from layout_algebra.hardware.mma_tables import FORMS
from layout_algebra.hardware.shared import SwizzleMode
from layout_algebra.hardware.tma import tma_shared_layout
from layout_algebra.memory import Buffer
from layout_algebra.theorems import load_theorems
from tests.hardware.test_shared import moved

THEOREMS = load_theorems([Path(__file__).parents[2] / "proofs" / "data_paths.py"])
M = SwizzleMode
#: Bytes after which the table of the ISA, line by line, repeats.
PERIODS = {M.B32: 256, M.B64: 512, M.B128: 1024, M.B128_ATOM_32B: 512, M.B128_ATOM_64B: 256}


@pytest.mark.parametrize("one", THEOREMS, ids=[one.name for one in THEOREMS])
def test_each_theorem_is_what_it_is_expected_to_be(one):
    claim, given = one.claim()
    assert prove(claim, given=given).verdict is one.expect


@pytest.mark.parametrize("mode", PERIODS, ids=str)
@pytest.mark.parametrize(("dtype", "size"), [("int8", 1), ("float16", 2), ("float64", 8)])
def test_bases_by_the_typed_table(mode, dtype, size):
    """At multiples of the period TMA's bytes are the layout's; at an odd half some are not."""
    wide = mode.row_bytes // size
    layout = tma_shared_layout((16, wide), dtype, mode)

    def agrees(base: int) -> bool:
        return all(
            moved(mode, base + size * (wide * i + j))
            == base + size * layout.apply(i, j, shape=(16, wide))["m"]
            for i in range(16)
            for j in range(wide)
        )

    period = PERIODS[mode]
    assert all(agrees(base) for base in range(0, 4 * period, period))
    assert not any(agrees(base) for base in range(period // 2, 4 * period, period))


def test_the_stated_steps_are_the_periods():
    """The names of the theorems have the period and its half, each for five types."""
    for mode, period in PERIODS.items():
        names = [t for t in THEOREMS if t.name.startswith(f"{mode} ") and "its layout" in t.name]
        steps = {(int(t.name.split()[-1]), t.expect) for t in names}
        assert steps == {(period, Verdict.PROVED), (period // 2, Verdict.REFUTED)}
        assert len(names) == 10


def test_every_family_of_mma_is_loaded_in_every_mode():
    """All but float64, which no ldmatrix keeps whole, and the old m8n8k4."""
    stated = {t.name for t in THEOREMS if "reads A and B" in t.name}
    for form in FORMS:
        for mode in (M.B32, M.B64, M.B128):
            name = f"{mode}: ldmatrix reads A and B of {form.shape} over {form.dtypes[0]}"
            served = form.dtypes[0] != "float64" and form.section != "9.7.14.5.1"
            assert (name in stated) == served


def test_another_fragment_or_swizzle_breaks_the_claim():
    """A theorem of this kind fails when its fragment, or where the rows begin, is changed."""
    layout = tma_shared_layout((128, 64), "float16", M.B128)
    view = Buffer((128, 64), "float16", layout, align=1024)[16:32, 16:32]
    access = ldmatrix("x4").read(view)
    assert prove(Matches(access, mma("m16n8k16", "float16").A)).verdict is Verdict.PROVED
    other = ldmatrix("x4", True).fragment
    assert prove(Matches(access, other)).verdict is Verdict.REFUTED
    shifted = replace(access, data=ldmatrix("x4", True).read(view).data)
    assert prove(Matches(shifted, mma("m16n8k16", "float16").A)).verdict is Verdict.REFUTED
