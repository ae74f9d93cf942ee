"""Axes: the registry, its facts, and numbers on axes."""

import pickle

import pytest

from layout_algebra import axes
from layout_algebra.axes import SCOPES, Axis, AxisTerms, laneid, m, reg, tx, warpid
from layout_algebra.dims import Dim
from layout_algebra.errors import AxisError, NotationError

THREADS = {
    "bx": ("cta", "kernel"),
    "by": ("cta", "kernel"),
    "bz": ("cta", "kernel"),
    "cbx": ("cta", "cluster"),
    "cby": ("cta", "cluster"),
    "cbz": ("cta", "cluster"),
    "tx": ("thread", "cta"),
    "warpid": ("warp", "cta"),
    "laneid": ("thread", "warp"),
    "wgid": ("warpgroup", "cta"),
    "tid_in_wg": ("thread", "warpgroup"),
    "wid_in_wg": ("warp", "warpgroup"),
}
MEMORY = ("m", "P", "F", "Bank", "TCol", "TLane")


@pytest.mark.parametrize("name", THREADS)
def test_thread_axes_count_between_two_levels(name):
    axis = Axis.get(name)
    assert axis.is_thread
    assert not axis.is_memory
    assert (axis.subscope, axis.scope) == THREADS[name]
    assert SCOPES.index(axis.scope) < SCOPES.index(axis.subscope)
    assert getattr(axes, name) is axis


@pytest.mark.parametrize("name", MEMORY)
def test_memory_axes_have_no_scope(name):
    axis = Axis.get(name)
    assert axis.is_memory
    assert (axis.scope, axis.subscope) == (None, None)


def test_hardware_limits():
    limits = {axis.name: axis.limit for axis in Axis.registered() if axis.limit is not None}
    known = {"tx": 1024, "warpid": 32, "laneid": 32, "tid_in_wg": 128, "wid_in_wg": 4, "TLane": 128}
    assert known.items() <= limits.items()


def test_an_axis_of_ones_own():
    mine = Axis("test_gpu", kind="device")
    assert Axis("test_gpu", "device") is mine
    assert Axis.get("test_gpu") is mine
    assert Axis.get(mine) is mine
    assert mine in Axis.registered()
    assert mine.describe() == "device"
    assert not mine.is_thread
    with pytest.raises(
        AxisError, match="'test_gpu' is registered already, as device; got kind='mem"
    ):
        Axis("test_gpu", "memory")


def test_registration_that_fails_leaves_nothing():
    with pytest.raises(AxisError):
        Axis("test_failed", "thread", scope="cta")
    with pytest.raises(AxisError, match="unknown axis 'test_failed'"):
        Axis.get("test_failed")


def test_axes_are_values():
    assert pickle.loads(pickle.dumps(laneid)) is laneid
    assert laneid != warpid
    assert laneid != "laneid"
    assert len({laneid, Axis.get("laneid"), warpid}) == 2
    assert repr(tx) == "tx"
    assert laneid.describe() == "thread, threads of a warp, at most 32"
    with pytest.raises(AttributeError, match="immutable"):
        laneid.name = "lane"


def test_numbers_on_axes():
    assert (4 @ laneid).terms == ((4, laneid),)
    assert (4 @ laneid + 1 @ warpid + 3).terms == ((4, laneid), (1, warpid), (3, m))
    assert (3 + 4 @ laneid).terms == ((3, m), (4, laneid))
    assert (-(4 @ laneid + 3)).terms == ((-4, laneid), (-3, m))
    assert str(4 @ laneid + 3 @ reg) == "4@laneid + 3@reg"
    M = Dim("M", multiple_of=8)
    assert str((M // 8) @ laneid) == "M//8@laneid"
    assert str((M - 1) @ laneid) == "(M - 1)@laneid"
    assert (M + 4 @ laneid).terms == ((M, m), (4, laneid))
    assert isinstance(2 * M @ laneid, AxisTerms)


def test_what_is_no_number_on_an_axis():
    with pytest.raises(NotationError, match=r"before @warpid is an int or a Dim; got 4@laneid"):
        4 @ laneid @ warpid
    with pytest.raises(TypeError):
        4 @ laneid + 1.5
