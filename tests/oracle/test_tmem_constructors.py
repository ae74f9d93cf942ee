"""The constructors of TMEM operands and of tcgen05.ld fragments, line by line."""

from __future__ import annotations

from typing import Any

from layout_algebra.errors import LayoutError
from layout_algebra.hardware.tcgen05 import tmem_mma_operand_layout
from layout_algebra.hardware.tcgen05_atoms import tcgen05_atom_layout
from tests.oracle.comparison import Deviation, compare, refused
from tests.oracle.records import Record, load, written
from tests.oracle.summary import check


def two_cells_apart(record: Record) -> dict[str, Any]:
    """A 16-bit accumulator has one element in each 32-bit cell: every other TCol."""
    shard = [
        [extent, 2 * stride if axis == "TCol" else stride, axis]
        for extent, stride, axis in record.result["shard"]
    ]
    return {**record.result, "shard": shard}


def sixteen_bits(record: Record) -> bool:
    args = record.args
    halves = args["dtype"] in ("float16", "bfloat16")
    return record.error is None and args["operand"] == "D" and halves


def eight_bit_accumulator(record: Record) -> bool:
    return record.args["operand"] == "D" and record.args["dtype"] == "uint8"


def eight_bits(record: Record) -> bool:
    return record.error is None and eight_bit_accumulator(record)


def weight_stationary(record: Record) -> bool:
    """M = 128 with .ws, which one of the two has not; the other one has, and the PTX ISA."""
    differs = record.error is not None and record.tirx is not None
    return differs and record.args["ws"] and not eight_bit_accumulator(record)


DEVIATIONS = [
    Deviation("12.12", sixteen_bits, two_cells_apart),
    Deviation("12.13", eight_bits, refused(LayoutError, "accumulators have 16 or 32 bits")),
    Deviation("ws", weight_stationary, lambda record: record.tirx["result"]),  # type: ignore[index]
]


def test_tmem_mma_operand_layout(record_property):
    outcome = compare(
        "tmem_mma_operand_layout",
        load("tmem_mma_operand_layout"),
        lambda record: written(tmem_mma_operand_layout(**record.args)),
        DEVIATIONS,
    )
    check(outcome, record_property)


def test_where_the_other_implementation_differs_it_is_ours():
    """tirx-0.1.0a4 has 16-bit accumulators and .ws of 128 rows as we have them."""
    differing = [record for record in load("tmem_mma_operand_layout") if record.tirx is not None]
    differing = [record for record in differing if not eight_bit_accumulator(record)]
    assert len(differing) == 28
    for record in differing:
        assert record.tirx is not None
        assert written(tmem_mma_operand_layout(**record.args)) == record.tirx["result"], record


def test_tcgen05_atom_layout(record_property):
    outcome = compare(
        "tcgen05_atom_layout",
        load("tcgen05_atom_layout"),
        lambda record: written(
            tcgen05_atom_layout(
                record.args["instr_shape"], record.args["tensor_shape"], record.args["dtype"]
            )
        ),
    )
    check(outcome, record_property)
