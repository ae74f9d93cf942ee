"""Theorems: named claims that a file states, to be proven together.

    from layout_algebra.theorems import theorem

    @theorem("frag: closed form", source="book, forward mapping")
    def frag_closed_form():
        return Equivalent(frag.map((8, 16)), Map.of(lambda i, j: {...}, (8, 16)))

A theorem is a function that makes its claim, so that stating it costs nothing until it is proven.
`expect=REFUTED` states that the claim is false: the witness is part of the record.  `prove PATH`
collects the theorems of every file below a path.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Literal

from layout_algebra.claims import Claim
from layout_algebra.dims import Relation
from layout_algebra.errors import ClaimError
from layout_algebra.verdicts import Verdict


@dataclass(frozen=True)
class Theorem:
    """A named claim.

    Attributes:
        name: what a reader sees; unique among the theorems that are proven together.
        source: the section, paper or rule that states it.
        make: gives the claim, or a pair (claim, relations that are given).
        expect: PROVED, or REFUTED for a statement that is false as it stands.
        note: why, where the statement is false or imprecise.
        method: the route that must decide it ("solver" for the rules' own theorems).
        file: the file that states it.
    """

    name: str
    source: str
    make: Callable[[], Claim | tuple[Claim, Iterable[Relation]]]
    expect: Verdict = Verdict.PROVED
    note: str = ""
    method: Literal["auto", "structure", "solver", "enumeration"] = "auto"
    file: str = ""

    def claim(self) -> tuple[Claim, tuple[Relation, ...]]:
        """The claim and what is given."""
        made = self.make()
        claim, given = made if isinstance(made, tuple) else (made, ())
        if not isinstance(claim, Claim):
            raise ClaimError(f"theorem {self.name!r} returns no claim but {claim!r}")
        return claim, tuple(given)


_collecting: list[list[Theorem]] = []


def theorem(
    name: str,
    *,
    source: str,
    expect: Verdict = Verdict.PROVED,
    note: str = "",
    method: Literal["auto", "structure", "solver", "enumeration"] = "auto",
) -> Callable[
    [Callable[[], Claim | tuple[Claim, Iterable[Relation]]]],
    Callable[[], Claim | tuple[Claim, Iterable[Relation]]],
]:
    """Declare the theorem that the decorated function states."""
    if expect not in (Verdict.PROVED, Verdict.REFUTED):
        raise ClaimError(f"a theorem is expected PROVED or REFUTED; got {expect}")

    def declare(
        make: Callable[[], Claim | tuple[Claim, Iterable[Relation]]],
    ) -> Callable[[], Claim | tuple[Claim, Iterable[Relation]]]:
        if _collecting:
            file = getattr(sys.modules.get(make.__module__), "__file__", "") or ""
            _collecting[-1].append(Theorem(name, source, make, expect, note, method, file))
        return make

    return declare


@contextmanager
def collected() -> Iterator[list[Theorem]]:
    """The theorems that are declared inside the block."""
    found: list[Theorem] = []
    _collecting.append(found)
    try:
        yield found
    finally:
        _collecting.remove(found)


def load_theorems(paths: Iterable[str | Path]) -> list[Theorem]:
    """The theorems of Python files, and of all files below directories, in order of path.

    Raises:
        ClaimError: a path that is not there or has no theorems, a file that cannot be loaded (the
            message has its line), or two theorems of one name.
    """
    loaded: dict[Path, list[Theorem]] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise ClaimError(f"no such file or directory: {path}")
        files = _python_files(path) if path.is_dir() else [path]
        for file in files:
            if file.resolve() not in loaded:
                loaded[file.resolve()] = _load(file)
        if not any(loaded[file.resolve()] for file in files):
            raise ClaimError(f"no theorems in {path}: declare them with @theorem(...)")
    found = [one for theorems in loaded.values() for one in theorems]
    names: dict[str, Theorem] = {}
    for one in found:
        other = names.setdefault(one.name, one)
        if other is not one:
            raise ClaimError(f"two theorems are named {one.name!r}: in {other.file} and {one.file}")
    return found


def _python_files(folder: Path) -> list[Path]:
    """Every Python file below a folder, but for hidden ones (.venv and the like)."""

    def hidden(file: Path) -> bool:
        return any(part.startswith(".") for part in file.relative_to(folder).parts)

    return sorted(file for file in folder.rglob("*.py") if not hidden(file))


class _FromSource(SourceFileLoader):
    """Reads the file itself: cached bytecode may be of a text that was changed a moment ago."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _load(file: Path) -> list[Theorem]:
    resolved = file.resolve()
    name = "layout_algebra_theorems_" + str(abs(hash(str(resolved))))
    loader = _FromSource(name, str(resolved))
    spec = importlib.util.spec_from_file_location(name, resolved, loader=loader)
    if file.suffix != ".py" or spec is None:
        raise ClaimError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with collected() as found:
        try:
            loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise ClaimError(
                f"{_place(error, file, resolved)} cannot be loaded: {_said(error)}"
            ) from error
        finally:
            del sys.modules[name]
    return [replace(one, file=str(file)) for one in found]


def _place(error: BaseException, file: Path, resolved: Path) -> str:
    """The file, with the line of it at which an error arose."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(resolved)]
    if isinstance(error, SyntaxError) and error.filename == str(resolved):
        lines.append(error.lineno)
    return f"{file}, line {lines[-1]}" if lines and lines[-1] else str(file)


def _said(error: BaseException) -> str:
    """An error's type and message, as one line."""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return (
        " ".join(f"{type(error).__name__}: {message}".split()) if message else type(error).__name__
    )
