"""The whole catalogue and 500 random layouts, compiled and proven; needs the extra `cuda`."""

from __future__ import annotations

import pytest

from layout_algebra.device import available
from tests.device.compiled_sweep import Sweep, entries, random_kernels

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=str(available())),
]


@pytest.mark.parametrize("target", ["sm_90a", "sm_100"])
@pytest.mark.parametrize("part", range(2))
def test_every_layout_of_the_catalogue(target, part):
    found = Sweep(target).add(entries(part, 2))
    assert found.wrong == []
    assert found.by_terms > 0.98, found


@pytest.mark.parametrize("part", range(4))
def test_random_layouts(part):
    found = Sweep("sm_90a").add(random_kernels(125, seed=part))
    assert found.wrong == []
    assert found.by_terms > 0.95, found  # of 125 kernels; 98% of 500 is what is claimed
