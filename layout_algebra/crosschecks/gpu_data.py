"""Matrices for instructions that run on a GPU: what they hold, in registers, and what comes out.

    a, b, wanted = problems(16, 8, 16)
    packed(fragment.map(), KINDS["float16"].encode(a), 16, 4)

A is 1 at one element and 0 elsewhere, B holds numbers that tell its elements apart; D then has one
row of B in one row, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layout_algebra.axes import laneid, wid_in_wg
from layout_algebra.maps import Map

#: Lanes of a warp.
LANES = 32

Numbers = NDArray[np.int64]
Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Kind:
    """An element type: its name in PTX, its bits, D's type, and numbers as bit patterns."""

    ptx: str
    bits: int
    result: str
    encode: Callable[[Numbers], NDArray[Any]]


def _bf16(values: Numbers) -> NDArray[Any]:
    return values.astype(np.float32).view(np.uint32) >> 16


KINDS: Mapping[str, Kind] = {
    "float16": Kind("f16", 16, "f32", lambda v: v.astype(np.float16).view(np.uint16)),
    "bfloat16": Kind("bf16", 16, "f32", _bf16),
    "tf32": Kind("tf32", 32, "f32", lambda v: v.astype(np.float32).view(np.uint32)),
    "int8": Kind("s8", 8, "s32", lambda v: v.astype(np.uint8)),
}


def problems(rows: int, columns: int, depth: int) -> tuple[Numbers, Numbers, Numbers]:
    """Every A of one 1, with a B of its rows' numbers and a B of its columns'; and each D.

    The numbers are small: exact in every type.
    """
    units = np.eye(rows * depth, dtype=np.int64).reshape(-1, rows, depth)
    k, j = np.indices((depth, columns))
    a = np.concatenate([units, units])
    b = np.repeat(np.stack([k + 1, j + 1]), len(units), axis=0)
    return a, b, a @ b


def thread_of(place: Mapping[str, int]) -> int:
    """A thread of a warp or a warpgroup."""
    return LANES * place.get(wid_in_wg.name, 0) + place[laneid.name]


def packed(f: Map, elements: NDArray[Any], bits: int, count: int, threads: int = LANES) -> Words:
    """Matrices as threads hold them: for each, threads x `count` registers.

    Args:
        f: (row, column) -> laneid, m, and of a warpgroup wid_in_wg.
        elements: bit patterns, one matrix after another.
        bits: of an element; m counts elements from a register's lowest bits.
        count: registers of a thread.
        threads: of the warp or warpgroup.
    """
    words = np.zeros((len(elements), threads, count), dtype=np.uint32)
    per = 32 // bits
    for row, column in np.ndindex(*elements.shape[1:]):
        place = f.apply(row, column)
        register, part = divmod(place.get("m", 0), per)
        shifted = elements[:, row, column].astype(np.uint32) << np.uint32(bits * part)
        words[:, thread_of(place), register] |= shifted
    return words


def unpacked(f: Map, held: NDArray[Any]) -> NDArray[Any]:
    """The matrices that threads hold, one element a register."""
    shape = tuple(int(extent) for extent in f.extents)  # type: ignore[arg-type]
    found = np.zeros((len(held), *shape), dtype=held.dtype)
    for row, column in np.ndindex(*shape):
        place = f.apply(row, column)
        found[:, row, column] = held[:, thread_of(place), place.get("m", 0)]
    return found


def misplaced(found: NDArray[Any], wanted: Numbers, depth: int) -> str | None:
    """The first D of `problems` that is another, or None."""
    wrong = np.argwhere(found != wanted)
    if not wrong.size:
        return None
    p, i, j = (int(n) for n in wrong[0])
    one_hot = divmod(p % (len(wanted) // 2), depth)
    return f"with A one at {one_hot}, D at ({i}, {j}) is {found[p, i, j]}, not {wanted[p, i, j]}"
