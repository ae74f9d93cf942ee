"""The comparison finds what it is there to find."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from layout_algebra.errors import AxisError, CoordinateError, LayoutError
from tests.oracle.comparison import Deviation, Lawful, Outcome, Refused, compare, refused
from tests.oracle.records import DATA, Record, load
from tests.oracle.summary import PROPERTY, check, pytest_terminal_summary

RECORDS = [
    Record("x-1", "x", {"say": 1}, result=1),
    Record("x-2", "x", {"say": 2}, result=2),
    Record("x-3", "x", {"say": LayoutError("no: three")}, error="compose_invalid"),
]

#: Lines of each file of tests/data/oracle.
LINES = Counter(
    apply=260, apply_table=114, apply_to_shape=96, axis=14, broadcast=96, canonicalize=365,
    construct=106, direct_sum=138, get_scope=94, group=202, group_many=114, is_contiguous=93,
    is_direct_sum_left=120, is_direct_sum_right=120, is_swizzle=93, is_tile_inner=150,
    is_tile_outer=150, is_trainium=93, is_trivial=93, mma_atom_layout=93, mma_atom_shape=176,
    mma_shared_layout=301, notation=107, pack=132, permute_by_groups=96, permute_dims=96, size=101,
    slice=329, span=137, storage=96, symbolic=178, tcgen05_atom_layout=167, tile=198, tile_to=114,
    tmem_datapath_layout=170, tmem_mma_operand_layout=364, to_psum=108, trainium=127, unpack=132,
    well_formed=94, wg_local_layout=101,
)  # fmt: skip


def say(record: Record) -> object:
    if isinstance(record.args["say"], Exception):
        raise record.args["say"]
    return record.args["say"]


def faults(deviations=(), records=RECORDS, answer=say) -> list[str]:
    return compare("x", records, answer, deviations).faults


def test_the_data_are_whole():
    assert {path.stem: len(load(path.stem)) for path in DATA.glob("*.jsonl")} == LINES
    records = [record for op in LINES for record in load(op)]
    assert len({record.id for record in records}) == len(records)
    assert all(record.op == record.id.rpartition("-")[0] for record in records)


def test_agreement():
    outcome = compare("x", RECORDS, say)
    assert str(outcome) == "oracle x: 3 lines, 3 agree"
    assert not outcome.faults


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([3, 2, LayoutError("no")], "x-1: ours is 3, theirs 1"),
        ([1, None, LayoutError("no")], "x-2: ours is None, theirs 2"),
        ([LayoutError("no"), 2, LayoutError("no")], "x-1: ours is LayoutError: no, theirs 1"),
        ([1, 2, 3], "x-3: ours is 3, theirs compose_invalid"),
        ([1, 2, CoordinateError("other")], "x-3: ours is CoordinateError: other"),
        ([1, 2, TypeError("not ours")], "x-3: ours is TypeError: not ours"),
    ],
)
def test_a_disagreement_is_a_fault(wrong, says):
    answers = dict(zip([record.id for record in RECORDS], wrong, strict=True))

    def answer(record: Record) -> object:
        return say(Record(record.id, "x", {"say": answers[record.id]}))

    (fault,) = faults(answer=answer)
    assert fault.startswith(says)


def test_a_deviation_that_we_agree_on_is_a_fault():
    (fault,) = faults([Deviation("12.99", ["x-2"], lambda record: 2)])
    assert fault == "x-2: listed under 12.99, and yet ours is theirs, 2"
    (fault,) = faults([Deviation("12.99", ["x-3"], refused(LayoutError, "three"))])
    assert fault.startswith("x-3: listed under 12.99, and yet")


def test_a_deviation_that_covers_nothing_is_a_fault():
    assert faults([Deviation("12.99", lambda record: False, say)]) == [
        "a deviation of 12.99 covers no line"
    ]
    assert "12.99 lists x-9, and there is no such line" in faults(
        [Deviation("12.99", ["x-9"], say)]
    )


OTHERWISE = [*RECORDS[1:], Record("x-1", "x", {"say": AxisError("unknown axis 'q'")}, result=1)]


def test_a_deviation_is_held_to_what_it_says():
    good = [Deviation("12.99", ["x-1"], refused(AxisError, "unknown axis"))]
    outcome = compare("x", OTHERWISE, say, good)
    assert str(outcome) == "oracle x: 3 lines, 2 agree, 1 decided otherwise (12.99: 1)"
    assert not outcome.faults
    for ours in [refused(AxisError, "some"), refused(CoordinateError, "unknown"), lambda record: 7]:
        (fault,) = faults([Deviation("12.99", ["x-1"], ours)], OTHERWISE)
        assert fault.startswith("x-1: 12.99 asks for")
    (fault,) = faults(good * 2, OTHERWISE)
    assert fault == "x-1: more than one deviation covers it: 12.99, 12.99"


def test_a_law_leaves_a_choice():
    def wanted(record: Record) -> Lawful:
        return Lawful("an even number", lambda ours: ours % 2 == 0)

    even = [Deviation("12.99", ["x-2"], wanted)]
    records = [Record("x-2", "x", {"say": 4}, result=2)]
    assert not faults(even, records)
    records = [Record("x-2", "x", {"say": 3}, result=2)]
    (fault,) = faults(even, records)
    assert fault.startswith("x-2: 12.99 asks for an even number, ours is 3")
    records = [Record("x-2", "x", {"say": LayoutError("no")}, result=2)]
    (fault,) = faults(even, records)
    assert fault.startswith("x-2: 12.99 asks for an even number, ours is LayoutError: no")


@pytest.mark.parametrize(
    ("errors", "agrees"),
    [
        ([Refused(LayoutError, "three")], True),
        ([Refused(CoordinateError, "three"), Refused(LayoutError, "no: ")], True),
        ([Refused(LayoutError, "four")], False),
        ([Refused(CoordinateError, "three")], False),
        ([], False),
    ],
)
def test_errors_are_held_to_what_they_are_to_say(errors, agrees):
    found = compare("x", RECORDS, say, errors={"compose_invalid": errors}).faults
    assert bool(found) != agrees
    assert all(fault.startswith("x-3: ours is LayoutError: no: three") for fault in found)


def test_the_summary_counts_by_item_and_tells_of_faults():
    outcome = Outcome("x", 9, 2, Counter({"reg": 1, "12.13": 2, "12.9": 3}), ["x-1: bad"])
    assert str(outcome) == (
        "oracle x: 9 lines, 2 agree, 6 decided otherwise (12.9: 3, 12.13: 2, reg: 1), 1 FAULTS"
    )
    told = []
    with pytest.raises(AssertionError, match="x-1: bad"):
        check(outcome, lambda *given: told.append(given))
    assert told == [(PROPERTY, str(outcome))]


def test_the_summary_prints_each_operation_once():
    """Reports of set-up, call and tear-down, of this process or another, carry the property."""
    reports = [SimpleNamespace(user_properties=[(PROPERTY, name)]) for name in ["b", "a", "b"]]
    printed = []
    reporter = SimpleNamespace(
        stats={"passed": reports[:2], "failed": reports[2:], "warnings": [SimpleNamespace()]},
        section=printed.append,
        write_line=printed.append,
    )
    pytest_terminal_summary(reporter)
    assert printed == ["oracle", "a", "b"]
    printed.clear()
    reporter.stats = {"passed": [SimpleNamespace(user_properties=[])]}
    pytest_terminal_summary(reporter)
    assert printed == []


def test_a_line_has_a_result_or_an_error():
    assert Record.read('{"id": "x-1", "op": "x", "args": {}, "result": null}').result is None
    for fields in ["", ', "result": 1, "error": "bad_perm"']:
        with pytest.raises(ValueError, match="neither or both"):
            Record.read('{"id": "x-1", "op": "x", "args": {}' + fields + "}")
