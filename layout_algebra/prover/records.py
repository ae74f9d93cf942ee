"""From a theorem to its entry in a ledger, with every query behind it run.

`prove` emits the queries of a proof by structure without running them, so that it stays in
microseconds.  Here they are run, from the very text that the ledger keeps, and held against what
the verdict needs: in a proof every query is "unsat".  One that is not makes the theorem FAILED,
whatever the rule said.

Each theorem is proven in a Z3 context of its own, so that its entry does not depend on what was
proven before it in the same process.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import z3

from layout_algebra.axes import Axis
from layout_algebra.claims import Claim
from layout_algebra.dims import Polynomial, Relation
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.ledger import FAILED, VERSION, Entry, QueryRecord, StepRecord, query_key
from layout_algebra.prover.options import MOST_PLACES
from layout_algebra.prover.proving import prove
from layout_algebra.prover.solve import Budget, fresh_context, replay
from layout_algebra.terms import Term
from layout_algebra.theorems import Theorem
from layout_algebra.verdicts import Proof, Query, Verdict
from layout_algebra.version import __version__


@dataclass(frozen=True)
class Record:
    """A theorem's entry and the texts of its queries by key; no entry where `content` is known."""

    entry: Entry | None
    texts: Mapping[str, str]


def tools() -> dict[str, str]:
    """Name -> version of what a verdict rests on."""
    return {"layout_algebra": __version__, "z3": z3.get_version_string()}


def record(theorem: Theorem, budget: Budget, known: str = "") -> Record:
    """Prove a theorem and run its queries; every error becomes a FAILED entry.

    Args:
        theorem: what is to be proven.
        budget: limits of each query.
        known: the content hash of an entry that is there; where it is the theorem's, that entry
            stands and nothing is proven.
    """
    entry = blank(theorem)
    texts: dict[str, str] = {}
    try:
        claim, given = theorem.claim()
        content = content_hash(theorem, claim, given, budget)
        if known and known == content:
            return Record(None, {})
        entry = replace(
            entry, claim=str(claim), given=tuple(str(one) for one in given), content=content
        )
        with fresh_context():
            proof = prove(claim, given=given, method=theorem.method, budget=budget)
            entry = _answered(entry, proof)
            entry = _with_queries(entry, proof, budget, texts)
    except Exception as error:
        entry = replace(entry, verdict=FAILED, witness=None, reason=_one_line(error, theorem.file))
    return Record(entry, texts)


def blank(theorem: Theorem, reason: str = "") -> Entry:
    """The entry of a theorem that nothing is known of."""
    return Entry(
        theorem.name,
        theorem.source,
        shown_path(theorem.file),
        "",
        (),
        str(theorem.expect),
        FAILED,
        reason=reason,
        note=theorem.note,
    )


def shown_path(file: str) -> str:
    """A path as a ledger has it: from the working directory, where it is below it."""
    path = Path(file).absolute()
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


# -- proofs ------------------------------------------------------------------------------------
def _answered(entry: Entry, proof: Proof) -> Entry:
    return replace(
        entry,
        verdict=str(proof.verdict),
        method=proof.method,
        seconds=round(proof.seconds, 6),
        witness=None if proof.witness is None else _plain(proof.witness.to_json()),
        reason=proof.reason,
    )


def _plain(value: Any) -> Any:
    """The same with NumPy's integers as Python's."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value if isinstance(value, str) else int(value)


def _with_queries(entry: Entry, proof: Proof, budget: Budget, texts: dict[str, str]) -> Entry:
    steps: list[StepRecord] = []
    expected: dict[str, str | None] = {}
    asked: dict[str, Query] = {}
    for part in _all_parts(proof):
        for step in part.steps:
            queries = {query_key(query.smt2): query for query in step.queries()}
            for key, query in queries.items():
                if asked.get(key) is None or asked[key].result is None:
                    asked[key] = query
                if part.verdict is Verdict.PROVED or key not in expected:
                    expected[key] = _expected(part, query)
            found = StepRecord(str(part.claim), step.rule, step.detail, step.lemmas, tuple(queries))
            if found not in steps:
                steps.append(found)
    records: list[QueryRecord] = []
    wrong: list[str] = []
    for key, query in asked.items():
        texts[key] = query.smt2
        run = query if query.result is not None else replay(query, budget)
        wanted = expected[key]
        if wanted is not None and run.result not in (wanted, "unknown"):
            wrong.append(f"'{run.about}' is {run.result} where the verdict needs {wanted}")
        records.append(_query_record(key, run, wanted))
    entry = replace(entry, steps=tuple(steps), queries=tuple(records))
    if wrong:
        entry = replace(
            entry, verdict=FAILED, witness=None, reason=f"{entry.verdict}, but {'; '.join(wrong)}"
        )
    return entry


def _all_parts(proof: Proof) -> Iterator[Proof]:
    yield proof
    for part in proof.parts:
        yield from _all_parts(part)


def _expected(part: Proof, query: Query) -> str | None:
    """What the verdict of a proof or of a part of one needs this query to be."""
    if part.verdict is Verdict.PROVED:
        return "unsat"
    return query.result if query.result in ("sat", "unsat") else None


def _query_record(key: str, query: Query, expected: str | None) -> QueryRecord:
    return QueryRecord(
        key,
        query.about,
        query.logic,
        expected,
        query.result or "unknown",
        round(query.seconds, 6),
        None if query.rlimit is None else max(query.rlimit, 0),
    )


def _one_line(error: Exception, file: str) -> str:
    """An error as one line, with the last place in the theorem's own file that it passed.

    An error that is no answer of this library, and none of the theorem's, has the place it is from.
    """
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if file and _same_file(frame.filename, file)]
    if own:
        return f"{text} ({shown_path(file)}, line {own[-1].lineno})"
    if isinstance(error, LayoutAlgebraError) or not frames:
        return text
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


def _same_file(one: str, other: str) -> bool:
    return Path(one).absolute() == Path(other).absolute()


# -- what a verdict depends on -----------------------------------------------------------------
def content_hash(theorem: Theorem, claim: Claim, given: Iterable[Relation], budget: Budget) -> str:
    """A hash of the claim, by structure, and of everything else that an entry follows from.

    Two claims with one hash are one claim; "" where a claim holds something that has no structure
    this function knows, and is never taken over.
    """
    state = blake2b(digest_size=16)
    words = (theorem.name, theorem.source, theorem.note, theorem.method, str(theorem.expect))
    limits = (budget.rlimit, repr(budget.seconds), MOST_PLACES)
    try:
        for word in _words((VERSION, tuple(tools().items()), words, limits, claim, tuple(given))):
            state.update(word.encode() + b"\0")
    except TypeError:
        return ""
    return state.hexdigest()


def _words(value: Any) -> Iterator[str]:
    """A value as a sequence of words that no other value has."""
    if value is None or isinstance(value, bool | int | str):
        yield repr(value)
    elif isinstance(value, Term):
        yield f"term {value.digest.hex()}"
    elif isinstance(value, Polynomial):
        yield f"size {value.call_text()}"
    elif isinstance(value, Axis):
        yield f"axis {value.name} {value.describe()}"
    elif isinstance(value, tuple):
        yield f"tuple of {len(value)}"
        for part in value:
            yield from _words(part)
    elif is_dataclass(value):
        yield f"a {type(value).__module__}.{type(value).__qualname__}"
        for one in fields(value):
            yield from _words(getattr(value, one.name))
    else:
        raise TypeError(f"no structure known of {value!r}")
