"""The text of kernels, run by Python itself, is what layouts and maps mean.

Layouts are compared with the enumeration of tests/bruteforce.py, which knows nothing of the
package; maps with terms of every kind, with plain Python functions that were drawn beside them.
"""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from layout_algebra.axes import laneid
from layout_algebra.device.functions import function_source
from layout_algebra.device.kernels import MOST_THREADS, Kernel, exec_source, kernel_of
from layout_algebra.device.source_text import WidthError
from layout_algebra.dims import Dim
from layout_algebra.errors import CoordinateError
from layout_algebra.layouts import TileLayout
from layout_algebra.maps import Map
from layout_algebra.notation import R, S
from tests import bruteforce as bf
from tests.device.draws import draw_layout, draw_map, points_of

CHUNKS, LAYOUTS, MAPS = 8, 40, 80


def launched(kernel: Kernel, n: int, threads: int) -> list[dict[int, int]]:
    """What the kernel's own text stores, run thread by thread."""
    outs: list[dict[int, int]] = [{} for _ in kernel.outputs]
    for block in range(-(-n // threads)):
        for thread in range(threads):
            cuda = SimpleNamespace(
                blockIdx=SimpleNamespace(x=block),
                blockDim=SimpleNamespace(x=threads),
                threadIdx=SimpleNamespace(x=thread),
            )
            exec_source(kernel.source, kernel.name, {"cuda": cuda})(*outs, n)
    return outs


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_layouts(chunk: int):
    for number in range(LAYOUTS):
        layout, plain = draw_layout(random.Random(f"kernel {chunk} {number}"))
        kernel = kernel_of(layout)
        place = exec_source(kernel.function, kernel.name)
        assert (kernel.size, kernel.copies) == (bf.total_places(plain), bf.copies(plain))
        copies = list(bf.all_replica_digits(plain))
        for i in range(kernel.size):
            element, copy = divmod(i, kernel.copies)
            wanted = bf.copy_place(plain, element, copies[copy])
            assert bf.make_place(kernel.read(place(i))) == wanted, (number, i, kernel.function)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_maps(chunk: int):
    for number in range(MAPS):
        rng = random.Random(f"map {chunk} {number}")
        source, values = draw_map(rng, guarded=number % 3 == 0)
        kernel = kernel_of(source)
        assert kernel.width == 32  # the terms that are drawn stay small
        place = exec_source(kernel.function, kernel.name)
        for i, point in enumerate(points_of(source)):
            assert kernel.read(place(i)) == values(point), (number, point, kernel.function)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_functions_of_coordinates(chunk: int):
    for number in range(MAPS // 4):
        rng = random.Random(f"function {chunk} {number}")
        source, values = draw_map(rng, guarded=number % 2 == 0)
        function = exec_source(function_source(source), "place")
        axes = [*source.axes, *(["guard"] if source.guard else [])]
        for point in points_of(source):
            found = function(*point.values())
            found = found if isinstance(found, tuple) else (found,)
            assert dict(zip(axes, found, strict=True)) == values(point), (number, point)


def test_functions_of_layouts():
    layout = TileLayout(S[(4, 2, 3) : (-7, 1 @ laneid, 1)] + R[(2, 3) : (4 @ laneid, 100)])
    by_shape = exec_source(function_source(layout, (8, 3)), "place")
    by_index = exec_source(function_source(layout), "place")
    for element in range(24):
        for copy in range(6):
            i, a = divmod(element, 3)
            wanted = (-7 * (i // 2) + a + 100 * (copy % 3), i % 2 + 4 * (copy // 3))
            assert by_shape(i, a, copy) == by_index(element, copy) == wanted
    single = exec_source(function_source(TileLayout(S[(4, 2) : (1, 4)])), "place")
    assert [single(i) for i in range(8)] == [0, 4, 1, 5, 2, 6, 3, 7]


@pytest.mark.parametrize("number", range(CHUNKS))
def test_the_kernel_stores_what_the_function_gives(number: int):
    layout, _ = draw_layout(random.Random(f"launch {number}"))
    kernel = kernel_of(layout, name="stored")
    inner = kernel.source.split("if i < n:\n")[1]
    assert all(line.strip() in inner for line in kernel.function.splitlines()[1:-1])
    place = exec_source(kernel.function, kernel.name)
    for n in {kernel.size, kernel.size // 2}:
        outs = launched(kernel, n, threads=7)
        for k, out in enumerate(outs):
            assert out == {i: place(i)[k] for i in range(n)}


# ------------------------------------------------------------------------------- widths


@pytest.mark.parametrize(
    ("low", "high", "width"),
    [
        (0, 2**32 - 1, 32),
        (0, 2**32, 64),
        (-(2**31), 2**31 - 1, 32),
        (-(2**31) - 1, 0, 64),
        (-1, 2**31, 64),
        (0, 2**64 - 1, 64),
        (-(2**63), 2**63 - 1, 64),
    ],
)
def test_the_width_is_the_least_that_holds_every_place(low: int, high: int, width: int):
    kernel = kernel_of(TileLayout(S[2 : high - low] + low))
    assert kernel.width == width
    place = exec_source(kernel.function, kernel.name)
    assert [kernel.read(place(i))["m"] for i in range(2)] == [low, high]


@pytest.mark.parametrize(("low", "high"), [(0, 2**64), (-1, 2**63), (-(2**63) - 1, 0)])
def test_beyond_64_bits_is_refused(low: int, high: int):
    with pytest.raises(WidthError, match="beyond 64 bits"):
        kernel_of(TileLayout(S[2 : high - low] + low))


def test_the_last_thread_of_the_grid_has_a_number():
    """A grid is rounded up to whole blocks: its last threads must not come round to element 0."""
    most = 2**32 - MOST_THREADS
    assert kernel_of(TileLayout(S[most:0])).width == 32
    assert kernel_of(TileLayout(S[most + 1 : 0])).width == 64


def test_large_numbers_between_small_ones():
    """Sums may leave the words on the way; what is divided may not."""
    there = Map.of(lambda i: (i * 2**40 + 5) // 2**38, (1000,))
    kernel = kernel_of(there)
    place = exec_source(kernel.function, kernel.name)
    assert [place(i) for i in (0, 7, 999)] == [((i * 2**40 + 5) // 2**38,) for i in (0, 7, 999)]
    through = Map.of(lambda i: i * (2**31 - 1) // (2**31 + 11), (8,))
    kernel = kernel_of(through)
    assert kernel.width == 64  # though its places are small
    place = exec_source(kernel.function, kernel.name)
    assert [place(i) for i in range(8)] == [(i * (2**31 - 1) // (2**31 + 11),) for i in range(8)]


def test_divisions_of_what_may_be_negative():
    for divisor in (3, 8):
        kernel = kernel_of(Map.of(lambda i, d=divisor: i // d, {"i": (-20, 20)}))
        place = exec_source(kernel.function, kernel.name)
        for i in range(41):
            assert kernel.read(place(i))["m"] == (i - 20) // divisor


def test_shifts_beyond_a_word_are_refused():
    shifted = Map.of(lambda i, s: (i >> s) & 1, {"i": (0, 3), "s": (0, 64)})
    with pytest.raises(WidthError, match="may reach 64 bits"):
        kernel_of(shifted)
    wide = kernel_of(Map.of(lambda i, s: (i >> s) & 1, {"i": (0, 3), "s": (0, 40)}))
    assert wide.width == 64


# ------------------------------------------------------------------------- what is refused


def test_sizes_are_numbers():
    with pytest.raises(CoordinateError, match="evaluate the Dims"):
        kernel_of(TileLayout(S[(Dim("M", at_least=1), 4) : (4, 1)]))


@pytest.mark.parametrize("name", ["", "a b", "if", "cuda", "uint32", "größe"])
def test_names(name: str):
    with pytest.raises(CoordinateError, match="identifier"):
        kernel_of(TileLayout(S[8]), name=name)


def test_a_guard_is_an_output():
    source = Map.of(lambda i, j: i - j, (4, 4), where=lambda i, j: i <= j)
    kernel = kernel_of(source)
    assert kernel.outputs == ("m", "guard")
    taken = Map.of(lambda i: {"guard": i}, (4,), where=lambda i: i <= 2)
    with pytest.raises(CoordinateError, match="'guard' is taken"):
        kernel_of(taken)


def test_no_outputs():
    kernel = kernel_of(Map.of(lambda i: {}, (4,)))
    assert exec_source(kernel.function, kernel.name)(3) == ()
    assert launched(kernel, 4, 2) == []
