"""NumPy's and PyTorch's strides, compared with NumPy's own memory."""

from __future__ import annotations

import importlib.util
import random
from itertools import product
from math import prod

import numpy as np
import pytest

from layout_algebra import ComposeLayout, Dim, S, TileLayout, laneid
from layout_algebra.interop import (
    InteropError,
    Strides,
    from_array,
    from_object,
    from_strides,
    to_strides,
)
from layout_algebra.verdicts import Verdict
from tests import bruteforce as bf
from tests.building import built
from tests.generators import random_layout


def random_view(rng: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """A buffer and a view of it: cut, stepped, turned, reversed and spread at random."""
    shape = [rng.randint(1, 5) for _ in range(rng.randint(1, 4))]
    base = np.arange(prod(shape), dtype=rng.choice((np.int16, np.int32, np.int64))).reshape(shape)
    cuts = []
    for size in shape:
        start = rng.randrange(size)
        cuts.append(slice(start, None, rng.choice((1, 1, 2, 3, -1))))
    view = base[tuple(cuts)]
    view = view.transpose(rng.sample(range(view.ndim), view.ndim))
    if rng.random() < 0.3:
        view = np.broadcast_to(view, (rng.randint(1, 3), *view.shape))
    return base, view


@pytest.mark.parametrize("seed", range(3))
def test_every_element_is_where_numpy_has_it(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(60):
        base, view = random_view(rng)
        layout = from_array(view)
        first = int(view[(0,) * view.ndim])
        for index in np.ndindex(view.shape):
            assert first + layout.apply(*index, shape=view.shape)["m"] == view[index]
        moved = from_strides(view.shape, view.strides, view.itemsize, first * base.itemsize)
        for index in np.ndindex(view.shape):
            assert moved.apply(*index, shape=view.shape)["m"] == view[index]


@pytest.mark.parametrize("seed", range(3))
def test_strides_come_back(seed: int) -> None:
    rng = random.Random(10 + seed)
    for _ in range(60):
        base, view = random_view(rng)
        start = int(view[(0,) * view.ndim]) * view.itemsize
        layout = from_strides(view.shape, view.strides, view.itemsize, start)
        exported = to_strides(layout, view.shape, view.itemsize)
        found = exported.value
        assert found is not None
        assert exported.is_proved
        again = np.ndarray(found.shape, base.dtype, base, found.offset, found.strides)
        assert (again == view).all()


@pytest.mark.parametrize("seed", range(4))
def test_strides_exist_exactly_when_they_are_found(seed: int) -> None:
    rng = random.Random(20 + seed)
    exports = refusals = 0
    for _ in range(100):
        plain = random_layout(rng, max_places=60, axes=rng.choice((("m",), ("m", "laneid"))))
        shape = random_shape(rng, bf.size(plain))
        wanted = enumerated_strides(plain, shape)
        if wanted is None:
            with pytest.raises(InteropError):
                to_strides(built(plain), shape, 4)
            refusals += 1
            continue
        exported = to_strides(built(plain), shape, 4)
        assert exported.is_proved
        assert exported.value == wanted
        exports += 1
    assert min(exports, refusals) > 20


def random_shape(rng: random.Random, size: int) -> tuple[int, ...]:
    shape = []
    while size > 1 and rng.random() < 0.8:
        shape.append(rng.choice([d for d in range(1, size + 1) if size % d == 0]))
        size //= shape[-1]
    return (*shape, size)


def enumerated_strides(plain: bf.Plain, shape: tuple[int, ...]) -> Strides | None:
    """Strides in 4-byte elements by their definition, at every element."""
    indices = list(product(*(range(size) for size in shape)))
    places = [bf.places(plain, flat) for flat in range(len(indices))]
    if any(len(one) > 1 or any(axis != "m" for axis, _ in next(iter(one))) for one in places):
        return None
    at = {index: bf.at(next(iter(one)), "m") for index, one in zip(indices, places, strict=True)}
    zero = (0,) * len(shape)
    steps = [
        0 if size == 1 else at[tuple(int(k == d) for k in range(len(shape)))] - at[zero]
        for d, size in enumerate(shape)
    ]
    for index, place in at.items():
        if place != at[zero] + sum(i * s for i, s in zip(index, steps, strict=True)):
            return None
    if min(at.values()) < 0:
        return None
    return Strides(shape, tuple(4 * step for step in steps), 4 * at[zero])


def test_why_there_are_none() -> None:
    cut = TileLayout(S[(2, 4) : (3, 1)])
    with pytest.raises(InteropError, match="not evenly spaced") as caught:
        to_strides(cut, (8,))
    witness = caught.value.witness
    assert witness is not None
    assert witness.points[0] == {"i": 4}
    assert witness.places == ({"m": 4}, {"m": 3})
    with pytest.raises(InteropError, match="has copies"):
        to_strides(TileLayout.from_iters(cut.shard, [(2, 1, "m")]), (2, 4))
    with pytest.raises(InteropError, match="also on laneid"):
        to_strides(TileLayout(S[(2, 4) : (1 @ laneid, 1)]), (2, 4))
    with pytest.raises(InteropError, match="no swizzle"):
        to_strides(ComposeLayout(0, 1, 1, TileLayout(S[(2, 4) : (4, 1)])), (2, 4))
    with pytest.raises(InteropError, match="lowest place is -4"):
        to_strides(TileLayout(S[(2, 4) : (-4, 1)]), (2, 4))
    turned = TileLayout(S[(2, 4) : (-4, 1)] + 4)
    assert to_strides(turned, (2, 4)).value == Strides((2, 4), (-4, 1), 4)
    with pytest.raises(InteropError, match="dimension 0 has stride -4"):
        to_strides(turned, (2, 4), negative=False)


def test_a_swizzle_or_copies_that_do_nothing_are_no_reason() -> None:
    idle = ComposeLayout(4, 1, 1, TileLayout(S[(2, 4) : (4, 1)]))
    assert to_strides(idle, (2, 4)).value == Strides((2, 4), (4, 1), 0)
    still = TileLayout.from_iters([(2, 4, "m"), (4, 1, "m")], [(3, 0, "m")])
    assert to_strides(still, (8,)).value == Strides((8,), (1,), 0)


def test_symbolic_sizes() -> None:
    rows, ld = Dim("rows", at_least=2), Dim("ld")
    layout = from_strides((rows, 4), (ld * 4, 4), 4)
    assert layout == TileLayout.from_iters([(rows, ld, "m"), (4, 1, "m")])
    exported = to_strides(layout, (rows, 4), 4)
    assert exported.proof is not None
    assert exported.proof.verdict is Verdict.PROVED
    assert exported.value == Strides((rows, 4), (ld * 4, 4), 0)
    perhaps = Dim("perhaps", at_least=1)
    with pytest.raises(InteropError, match="declare its Dim with at_least=2"):
        to_strides(TileLayout(S[(perhaps, 4) : (4, 1)]), (perhaps, 4))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (((2, 3), (6,)), "one stride for each of 2 dimensions; got 1"),
        (((2, 0), (6, 2)), "dimension 1 has 0 elements"),
        (((2, -3), (6, 2)), "dimension 1 has -3 elements"),
        (((2, 3), (6, 1), 2), "the stride of dimension 1 is 1 bytes"),
        (((2, 3), (6, 2), 2, 3), "the offset is 3 bytes"),
        (((2, 3), (6, 2), 0), "a positive number of bytes"),
        (((2, 3), (6, 2), True), "a positive number of bytes"),
        (((2, 3.0), (6, 2)), "made of ints or Dims; got 3.0"),
        (("23", (6, 2)), "a tuple of ints or Dims"),
        ((7, (6, 2)), "a tuple of ints or Dims"),
    ],
)
def test_what_is_no_strided_array(arguments: tuple, says: str) -> None:
    with pytest.raises(InteropError, match=says):
        from_strides(*arguments)


def test_a_dimension_of_one_may_have_any_stride() -> None:
    assert from_strides((1, 4), (3, 2), 2) == TileLayout(S[(1, 4) : (0, 1)])


def test_objects_that_are_no_arrays() -> None:
    class Sparse:
        shape = (2,)
        strides = None
        itemsize = 4

    with pytest.raises(InteropError, match="no strides"):
        from_array(Sparse())
    with pytest.raises(InteropError, match="an array has"):
        from_array([1, 2])
    with pytest.raises(InteropError, match="the layout 8"):
        to_strides(TileLayout(S[8:1]), (2, 3))
    with pytest.raises(InteropError, match="positive number of bytes"):
        to_strides(TileLayout(S[8:1]), (8,), 0)


def test_pytorch_counts_elements() -> None:
    class Tensor:
        """What PyTorch's tensors have."""

        shape = (2, 3)
        itemsize = 4

        def stride(self) -> tuple[int, ...]:
            return (1, 2)

        def storage_offset(self) -> int:
            return 5

    assert from_object(Tensor()) == TileLayout(S[(2, 3) : (1, 2)] + 5)


def test_a_live_tensor() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: a stand-in with its methods is tested instead")
    import torch

    tensor = torch.arange(24).reshape(4, 6)[1:, ::2].T
    layout = from_object(tensor)
    for index in np.ndindex(tuple(tensor.shape)):
        assert layout.apply(*index, shape=tuple(tensor.shape))["m"] == int(tensor[index])
    found = to_strides(layout, tuple(tensor.shape), negative=False).value
    assert found is not None
    again = torch.as_strided(torch.arange(24), found.shape, found.strides, found.offset)
    assert torch.equal(again, tensor)
