"""The lines with variables: one formula for all values, evaluated at the points of the line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from layout_algebra.algebra.group import GroupError
from layout_algebra.dims import Polynomial, Size, evaluate
from layout_algebra.errors import CoordinateError
from tests import bruteforce as bf
from tests.algebra import laws
from tests.oracle.comparison import Deviation, Refused, compare, refused
from tests.oracle.judging import same_canonically, slice_is, sum_table
from tests.oracle.records import DIMS, Record, layout_of, load, plain, size_of, written
from tests.oracle.summary import check

FORMS = ("canonicalize", "group", "slice", "tile")


def lines(sym_op: str) -> list[Record]:
    """The lines of one operation, with the answers at the points in place of printed text."""
    return [
        replace(record, result=[answer for _, _, answer in record.at])
        for record in load("symbolic")
        if record.sym_op == sym_op
    ]


def test_every_line_is_asked():
    assert sum(len(lines(op)) for op in (*FORMS, "size", "span")) == len(load("symbolic"))


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


# ------------------------------------------------------------------------- that make layouts


def sizes(written: Any, values: Mapping[str, Size] = DIMS) -> Any:
    """Shapes and regions with their text as sizes; layouts as they are written."""
    if isinstance(written, list):
        return [sizes(item, values) for item in written]
    return written if isinstance(written, dict) else size_of(written, values)


def made(record: Record) -> Any:
    """Our layout of all values, or None."""
    layout, args = layout_of(record.layout), sizes(list(record.args.values()))
    if record.sym_op == "tile":
        args[0] = layout_of(args[0])
    found = getattr(layout, str(record.sym_op))(*args)
    if record.sym_op != "group":
        return found
    cut, seps = found
    assert list(seps) == record.seps, (record, seps)
    return cut


def at_the_points(record: Record) -> list[dict[str, Any]]:
    layout = made(record)
    return [written(layout.evaluated(n=n, b=b)) for n, b, _ in record.at]


def same_at_the_points(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> bool:
    return ours == theirs


def same_slices(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> bool:
    """12.22, at every point."""
    return all(same_canonically(one, other) for one, other in zip(ours, theirs, strict=True))


DEVIATIONS = {
    # two elements of a dimension of one
    "slice": [
        Deviation(
            "12.2",
            ["symbolic-0043"],
            refused(CoordinateError, "the region ends at 2*b + 2, after 1"),
        )
    ],
}

ERRORS = {"not_groupable": [Refused(GroupError, "cannot be cut to shape (")]}


@pytest.mark.parametrize("sym_op", FORMS)
def test_symbolic_form(sym_op, record_property):
    """The same iters at every point, whatever it makes of them."""
    outcome = compare(
        f"symbolic {sym_op}",
        lines(sym_op),
        at_the_points,
        DEVIATIONS.get(sym_op, []),
        same_slices if sym_op == "slice" else same_at_the_points,
        ERRORS,
    )
    check(outcome, record_property)


def concrete(record: Record, n: int, b: int) -> Record:
    """The line at a point: numbers for the variables."""
    values = {"n": n, "b": b}

    def layout(data: dict[str, Any]) -> dict[str, Any]:
        return written(layout_of(data).evaluated(**values))

    args = {
        name: layout(value) if isinstance(value, dict) else sizes(value, values)
        for name, value in record.args.items()
    }
    return replace(record, op=str(record.sym_op), layout=layout(record.layout), args=args)


def is_right(record: Record, ours: dict[str, Any]) -> bool:
    """The answer at a point, by enumeration."""
    if record.op == "tile":
        return bf.table(plain(ours)) == sum_table(record)
    if record.op == "slice":
        return slice_is(record, ours)
    return bf.table(plain(ours)) == bf.table(plain(record.layout))


def is_inside(record: Record) -> bool:
    """Whether the variables of a slice are values for which there is the region."""
    return record.op != "slice" or all(
        0 <= begin < end <= size
        for (begin, end), size in zip(record.args["region"], record.args["shape"], strict=True)
    )


@pytest.mark.parametrize("sym_op", FORMS)
def test_every_form_is_right_at_every_point(sym_op):
    asked = 0
    for record in lines(sym_op):
        if record.error is None and not any(d.covers(record) for d in DEVIATIONS.get(sym_op, [])):
            for (n, b, _), ours in zip(record.at, at_the_points(record), strict=True):
                point = concrete(record, n, b)
                if is_inside(point):
                    asked += 1
                    assert is_right(point, ours), (record, n, b, ours)
    assert asked > 60


def test_what_cannot_be_cut_for_all_values_cannot_be_cut_for_some():
    """Shapes that are refused for a point of the line."""
    for record in lines("group"):
        if record.error is not None:
            points = [concrete(record, n, n - 1) for n in (1, 2, 3, 5, 8)]
            cut = [laws.can_group(plain(p.layout), p.args["shape"]) for p in points]
            assert not all(cut), record


def test_sizes_are_read_as_arithmetic_and_nothing_else():
    assert size_of("2*n*8", {"n": 3}) == 48
    assert size_of("b + 1 - n", {"n": 3, "b": 4}) == 2
    assert size_of(-4) == -4
    for text in ["n**2", "n.real", "f(n)", "k", "'n'", "1.5", "n//2"]:
        with pytest.raises(ValueError, match="is not a size"):
            size_of(text)
