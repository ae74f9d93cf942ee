"""From an entry of a ledger back to its claim.

    statements = Statements(ledger)
    statements.of(entry).claim            # Injective(...)

The file that an entry names is loaded once and its theorem found by name.  Paths are as `prove`
was given them: from the working directory.  A theorem that says something else than the entry is
not checked: by the text of its claim and assumptions, and, where the prover that made the ledger is
installed in the same version, by the ledger's own hash of the claim's structure.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layout_algebra.claims import Claim
from layout_algebra.crosschecks.results import NotCheckedError
from layout_algebra.dims import Relation
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.ledger import Entry, Ledger
from layout_algebra.theorems import Theorem, load_theorems


@dataclass(frozen=True)
class Statement:
    """An entry and the claim that it is about.

    Attributes:
        entry: the ledger's.
        claim: with what is given of an access taken into it.
        given: the relations between its Dims.
    """

    entry: Entry
    claim: Claim
    given: tuple[Relation, ...] = ()


class Statements:
    """The claims of a ledger's entries; loads each file once."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._files: dict[str, Mapping[str, Theorem] | str] = {}

    def of(self, entry: Entry) -> Statement:
        """The claim of an entry, as its file states it now.

        Raises:
            NotCheckedError: the file is gone, cannot be loaded, or states something else.
        """
        if entry.verdict not in ("PROVED", "REFUTED"):
            raise NotCheckedError(f"the ledger has no verdict on it but {entry.verdict}")
        if entry.file not in self._files:
            self._files[entry.file] = _loaded(entry.file)
        theorems = self._files[entry.file]
        if isinstance(theorems, str):
            raise NotCheckedError(theorems)
        theorem = theorems.get(entry.name)
        if theorem is None:
            raise NotCheckedError(
                f"{entry.file} has changed: it states no theorem of this name now"
            )
        try:
            with redirect_stdout(sys.stderr):
                claim, given = theorem.claim()
        except Exception as error:
            said = " ".join(f"{type(error).__name__}: {error}".split())
            raise NotCheckedError(f"its claim cannot be made here: {said}") from error
        if self._differs(entry, theorem, claim, given):
            raise NotCheckedError(
                f"{entry.file} has changed: the claim is another one now; prove again"
            )
        return Statement(entry, claim.assuming(given), given)

    def _differs(
        self, entry: Entry, theorem: Theorem, claim: Claim, given: tuple[Relation, ...]
    ) -> bool:
        texts = (str(claim), tuple(map(str, given)), str(theorem.expect))
        if texts != (entry.claim, entry.given, entry.expect):
            return True
        hashed = _content(self.ledger, theorem, claim, given)
        return bool(entry.content) and hashed not in ("", entry.content)


def _loaded(file: str) -> Mapping[str, Theorem] | str:
    """The theorems of a file by name, or why there are none."""
    if not Path(file).exists():
        return f"{file} is not here: run this from the folder in which the ledger was made"
    try:
        with redirect_stdout(sys.stderr):
            return {theorem.name: theorem for theorem in load_theorems([file])}
    except LayoutAlgebraError as error:
        return " ".join(str(error).split())


def _content(ledger: Ledger, theorem: Theorem, claim: Claim, given: tuple[Relation, ...]) -> str:
    """The hash that the ledger keeps of a claim; "" where the prover that made it is not here."""
    if importlib.util.find_spec("z3") is None:
        return ""
    from layout_algebra.prover import Budget  # only where there is a solver
    from layout_algebra.prover.options import MOST_PLACES
    from layout_algebra.prover.records import content_hash, tools

    settings: Mapping[str, Any] = ledger.settings
    known = {name: ledger.tools.get(name) for name in tools()}
    if known != tools() or settings["most_places"] != MOST_PLACES:
        return ""
    budget = Budget(rlimit=settings["rlimit"], seconds=settings["seconds"])
    return content_hash(theorem, claim, given, budget)
