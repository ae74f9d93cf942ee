"""The lines with variables: one formula for all values, evaluated at the points of the line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from layout_algebra.dims import Polynomial, evaluate
from tests.oracle.comparison import compare
from tests.oracle.records import Record, layout_of, load, size_of
from tests.oracle.summary import check


def lines(sym_op: str) -> list[Record]:
    """The lines of one operation, with the answers at the points in place of printed text."""
    return [
        replace(record, result=[answer for _, _, answer in record.at])
        for record in load("symbolic")
        if record.sym_op == sym_op
    ]


@pytest.mark.parametrize("sym_op", ["size", "span"])
def test_symbolic(sym_op, record_property):
    def answer(record: Record) -> list[int]:
        formula = getattr(layout_of(record.layout), sym_op)(record.args["axis"])
        assert isinstance(formula, Polynomial), formula
        return [evaluate(formula, {"n": n, "b": b}) for n, b, _ in record.at]

    check(compare(f"symbolic {sym_op}", lines(sym_op), answer), record_property)


@pytest.mark.parametrize("sym_op", ["size", "span"])
def test_the_layout_at_a_point_says_the_same(sym_op):
    for record in lines(sym_op):
        layout = layout_of(record.layout)
        for n, b, wanted in record.at:
            concrete = layout.evaluated(n=n, b=b)
            assert not concrete.is_symbolic
            assert getattr(concrete, sym_op)(record.args["axis"]) == wanted, record


def test_sizes_are_read_as_arithmetic_and_nothing_else():
    assert size_of("2*n*8", {"n": 3}) == 48
    assert size_of("b + 1 - n", {"n": 3, "b": 4}) == 2
    assert size_of(-4) == -4
    for text in ["n**2", "n.real", "f(n)", "k", "'n'", "1.5", "n//2"]:
        with pytest.raises(ValueError, match="is not a size"):
            size_of(text)
