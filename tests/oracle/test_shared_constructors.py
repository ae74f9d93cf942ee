"""The shared-memory constructors: `mma_atom_layout`, `mma_atom_shape`, `mma_shared_layout`."""

from __future__ import annotations

from math import prod
from typing import Any

from layout_algebra.errors import LayoutError
from layout_algebra.hardware.shared import (
    mma_atom_layout,
    mma_atom_shape,
    mma_shared_layout,
)
from layout_algebra.memory import bits_of
from tests import bruteforce
from tests.oracle.comparison import Deviation, Lawful, compare, refused
from tests.oracle.records import Record, load, plain, written
from tests.oracle.summary import check


def is_vector(record: Record) -> bool:
    """float16x2 and its kind: one element of 32 bits for us, of 16 in the lines."""
    return "x" in record.args["dtype"] and record.error is None


def is_odd_width(record: Record) -> bool:
    """6 bits: no whole elements fill 16 bytes, and in shared memory they are padded."""
    return record.args["dtype"].startswith("float6_") and record.error is None


def unswizzled_shape(record: Record) -> bool:
    return record.error == "key_error"


def plain_shape(record: Record) -> list[int]:
    """8 rows of 16 bytes, as `mma_atom_layout` has them without a swizzle."""
    atom = [8, 128 // bits_of(record.args["dtype"])]
    shape = record.args["shape"]
    return atom if shape is None else [1] * (len(shape) - 2) + atom


def does_not_divide(record: Record) -> bool:
    """The lines tile a part of the shape, or rows that break an atom."""
    args = record.args
    shape, mode = args["shape"], args["swizzle_mode"]
    if record.error is not None or mode == 0:
        return False
    wide = 128 * 2**mode // bits_of(args["dtype"])
    return bool(shape[-2] % 8 or shape[-1] % wide)


def atom_of_wide_elements(record: Record) -> Lawful:
    """Elements of their whole width: chunks of 16 bytes, 8 lines, one XOR of the mode's bits."""
    mode, bits = record.args["swizzle_mode"], bits_of(record.args["dtype"])

    def accepts(ours: Any) -> bool:
        places = [dict(next(iter(bruteforce.places(plain(ours), x)))) for x in range(size)]
        moved = [place.get("m", 0) * bits // 8 for place in places]
        wanted = [x * bits // 8 for x in range(size)]
        return moved == [b ^ ((b >> 7 & 2**mode - 1) << 4) for b in wanted]

    size = 8 * 128 * 2**mode // bits
    return Lawful("the mode's XOR of byte addresses", accepts)


def test_mma_atom_layout(record_property):
    outcome = compare(
        "mma_atom_layout",
        load("mma_atom_layout"),
        lambda r: written(mma_atom_layout(r.args["dtype"], r.args["swizzle_mode"])),
        [Deviation("vector types", is_vector, atom_of_wide_elements)],
    )
    check(outcome, record_property)


def test_mma_atom_shape(record_property):
    outcome = compare(
        "mma_atom_shape",
        load("mma_atom_shape"),
        lambda r: list(mma_atom_shape(r.args["dtype"], r.args["swizzle_mode"], r.args["shape"])),
        [
            Deviation("6 bits", is_odd_width, refused(LayoutError, "do not fill 16 bytes")),
            Deviation("atom of mode 0", unswizzled_shape, plain_shape),
        ],
    )
    check(outcome, record_property)


def test_mma_shared_layout(record_property):
    outcome = compare(
        "mma_shared_layout",
        load("mma_shared_layout"),
        lambda r: written(mma_shared_layout(*(r.args[k] for k in ARGUMENTS))),
        [Deviation("12.11", does_not_divide, refused(LayoutError, "they do not divide"))],
    )
    check(outcome, record_property)


ARGUMENTS = ("dtype", "swizzle_mode", "shape")


def test_every_accepted_shape_is_filled_once():
    """By brute force over the plain data: as many places as elements, from 0 on."""
    for record in load("mma_shared_layout"):
        if record.error is not None or does_not_divide(record):
            continue
        count = prod(record.args["shape"])
        if count > 1 << 13:
            continue
        ours = plain(written(mma_shared_layout(*(record.args[k] for k in ARGUMENTS))))
        places = set()
        for flat in range(count):
            places |= bruteforce.places(ours, flat)
        assert len(places) == count, record
        assert max(dict(place).get("m", 0) for place in places) == count - 1, record
