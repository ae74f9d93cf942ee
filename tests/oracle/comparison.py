"""Our answers beside those of the lines: each agrees, or a named decision says what we do instead.

A `Deviation` lists lines by id or by a condition, and what we answer on them: a value (best from
brute force), a `Lawful` where a law leaves a choice, or a `Refused`. It is a fault when a line
disagrees and no deviation covers it, when one covers it and we do not answer what it says, and also
when one covers a line on which we agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from layout_algebra.errors import AxisError, CoordinateError, LayoutAlgebraError, LayoutError
from tests.oracle.records import Record

#: Which of our errors answers a kind of error, where a test says no more about it; a kind that is
#: not here may be any of ours.
OUR_ERRORS: dict[str, type[Exception] | tuple[type[Exception], ...]] = {
    "rank_mismatch": CoordinateError,
    "unknown_axis": AxisError,
    "compose_invalid": LayoutError,
    "compose_axis_name": (LayoutError, AxisError),
}

Answer = Callable[[Record], Any]


@dataclass(frozen=True)
class Refused:
    """An error of ours: its class, and a part of its text."""

    error: type[LayoutAlgebraError]
    says: str


@dataclass(frozen=True)
class Lawful:
    """Any answer of ours that a law accepts, and the law in words."""

    law: str
    accepts: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.law


#: What our error says for each kind of theirs: one of several.
Errors = Mapping[str, Collection[Refused]]


@dataclass(frozen=True)
class Raised:
    """What came instead of an answer."""

    error: Exception

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


@dataclass(frozen=True)
class Deviation:
    """Lines that we answer otherwise.

    Attributes:
        item: the decision, as numbered in tests/data/oracle/README.md.
        lines: ids, or a condition on a record.
        ours: the answer that is right on such a line.
    """

    item: str
    lines: Collection[str] | Callable[[Record], bool]
    ours: Callable[[Record], Any]

    def covers(self, record: Record) -> bool:
        return self.lines(record) if callable(self.lines) else record.id in self.lines

    def unknown_ids(self, records: Iterable[Record]) -> set[str]:
        return set() if callable(self.lines) else set(self.lines) - {r.id for r in records}


def refused(error: type[LayoutAlgebraError], says: str) -> Callable[[Record], Refused]:
    """The answer of a deviation under which all lines are refused alike."""
    return lambda record: Refused(error, says)


@dataclass
class Outcome:
    """How the lines of an operation went."""

    op: str
    lines: int = 0
    agree: int = 0
    otherwise: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        text = f"oracle {self.op}: {self.lines} lines, {self.agree} agree"
        if self.otherwise:
            counts = sorted(self.otherwise.items(), key=_number)
            items = ", ".join(f"{item}: {number}" for item, number in counts)
            text += f", {self.otherwise.total()} decided otherwise ({items})"
        return text + (f", {len(self.faults)} FAULTS" if self.faults else "")


def compare(
    op: str,
    records: Sequence[Record],
    answer: Answer,
    deviations: Sequence[Deviation] = (),
    same: Callable[[Any, Any], bool] = lambda ours, theirs: ours == theirs,
    errors: Errors | None = None,
) -> Outcome:
    """Ask every record of us.

    Args:
        op: name of the operation, for the summary.
        records: the lines.
        answer: what we say to a record, in the form of its result.
        deviations: the lines that we answer otherwise.
        same: whether two answers are one value.
        errors: what ours say; every kind of error in the lines must be there.
    """
    outcome = Outcome(op)
    idle = list(deviations)
    for record in records:
        outcome.lines += 1
        ours = _attempt(answer, record)
        covering = [deviation for deviation in deviations if deviation.covers(record)]
        idle = [deviation for deviation in idle if deviation not in covering]
        agrees = _agrees(ours, record, same, errors)
        theirs = record.error or record.result
        asked = f"{record.layout} {record.args}"
        if len(covering) > 1:
            items = ", ".join(deviation.item for deviation in covering)
            outcome.faults.append(f"{record.id}: more than one deviation covers it: {items}")
        elif not covering and agrees:
            outcome.agree += 1
        elif not covering:
            outcome.faults.append(f"{record.id}: ours is {ours}, theirs {theirs}; {asked}")
        elif agrees:
            outcome.faults.append(
                f"{record.id}: listed under {covering[0].item}, and yet ours is theirs, {ours}"
            )
        elif not _is(ours, wanted := covering[0].ours(record), same):
            outcome.faults.append(
                f"{record.id}: {covering[0].item} asks for {wanted}, ours is {ours}; {asked}"
            )
        else:
            outcome.otherwise[covering[0].item] += 1
    for deviation in deviations:
        for name in sorted(deviation.unknown_ids(records)):
            outcome.faults.append(f"{deviation.item} lists {name}, and there is no such line")
    outcome.faults += [f"a deviation of {deviation.item} covers no line" for deviation in idle]
    return outcome


def _attempt(answer: Answer, record: Record) -> Any:
    try:
        return answer(record)
    except Exception as error:  # whatever it is, it is what we answered
        return Raised(error)


def _agrees(
    ours: Any, record: Record, same: Callable[[Any, Any], bool], errors: Errors | None
) -> bool:
    if record.error is None:
        return not isinstance(ours, Raised) and same(ours, record.result)
    if errors is not None:
        return any(_is(ours, wanted, same) for wanted in errors[record.error])
    expected = OUR_ERRORS.get(record.error, LayoutAlgebraError)
    return (
        isinstance(ours, Raised)
        and isinstance(ours.error, LayoutAlgebraError)
        and isinstance(ours.error, expected)
    )


def _is(ours: Any, wanted: Any, same: Callable[[Any, Any], bool]) -> bool:
    if isinstance(wanted, Refused):
        return (
            isinstance(ours, Raised)
            and isinstance(ours.error, wanted.error)
            and wanted.says in str(ours.error)
        )
    if isinstance(wanted, Lawful):
        return not isinstance(ours, Raised) and wanted.accepts(ours)
    return not isinstance(ours, Raised) and same(ours, wanted)


def _number(item: tuple[str, int]) -> tuple[bool, list[int], str]:
    """12.9 comes before 12.13, and words after numbers."""
    parts = item[0].split(".")
    numbered = all(part.isdigit() for part in parts)
    return (not numbered, [int(part) for part in parts] if numbered else [], item[0])
