"""Right and wrong answers of public CuTe layout libraries, and of this one, to the same questions.

    python -m tests.benchmarks.against_peers --python tensor-layouts=/path/to/python --examples

Questions are random, with a fixed seed.  Each library answers in a process of its own: under the
interpreter that --python gives for it, else under this one; a library whose package is not
installed there is named and left out.  Names, packages: tensor-layouts; pycute, in nvidia-cutlass;
"cute dsl", in nvidia-cutlass-dsl.  Every answer is judged element by element (peer_laws.py):

    composition       R(i) = A(B(i)) for every index of B; all of B's values are indices of A
    complement        each y in 0..N-1 is A(x) + R(z) once (strides of 0 apart), N at least n
    logical_divide    R(x, z) = A(B(x) + C(z)), C the complement of B; B's blocks divide A
    left_inverse      R(A(i)) = i; where A puts two elements together, A(R(A(i))) = A(i)
    right_inverse     A(R(j)) = j for every index of R; it may be short
    swizzle           x ^ (((x >> (M+S)) mod 2^B) << M), S negative the other way

Columns: accepted, an answer was given; wrong, it breaks the law; none exists, of these, no layout
keeps the law, so a refusal was due; refused; though one exists, of these, a layout keeps the law;
errors, the call failed by accident (a TypeError, a crash of the process).  A layout has to keep the
modes of B.  Left inverses are looked for where A's values are below 64.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.peer_laws import OPERATIONS, Answer
from tests.benchmarks.peer_libraries import LIBRARIES, Request, answer_all, tupled

SEED = 20260
CASES = 2500  # questions of each random kind
SECONDS = 600  # for one run of one library
ENDS = 20  # how often a library may end its process before it is asked no more
ROOT = Path(__file__).resolve().parents[2]
COUNTS = ("asked", "accepted", "wrong", "none exists", "refused", "though one exists", "errors")


@dataclass
class Cell:
    """One library's answers in one row: how many of each kind, and the first example of each."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, example: str) -> None:
        self.counts[kind] += 1
        self.examples.setdefault(kind, example)

    def record(self) -> dict[str, dict[str, Any]]:
        """It as JSON has it."""
        return {"counts": {k: self.counts[k] for k in COUNTS}, "examples": self.examples}


class Questions:
    """The same questions for every library, and whether a right answer exists, found out once."""

    def __init__(self, cases: int, seed: int) -> None:
        self.rows: list[tuple[str, list[Any]]] = []
        self._exists: dict[int, bool | None] = {}
        for name, operation in OPERATIONS.items():
            rng = random.Random(f"{seed} {name}")
            draw = operation.draw
            drawn = operation.all if draw is None else [draw(rng) for _ in range(cases)]
            self.rows += [(name, arguments) for arguments in drawn]

    def requests(self) -> list[Request]:
        return [[OPERATIONS[name].call, arguments] for name, arguments in self.rows]

    def exists(self, k: int) -> bool | None:
        if k not in self._exists:
            name, arguments = self.rows[k]
            self._exists[k] = OPERATIONS[name].exists(*arguments)
        return self._exists[k]

    def judged(self, answers: Sequence[Answer]) -> dict[str, Cell]:
        """The cells of one library, by row; rows of operations that it lacks are left out."""
        cells: dict[str, Cell] = {}
        for k, ((name, arguments), answer) in enumerate(zip(self.rows, answers, strict=True)):
            if "missing" in answer:
                continue
            cell = cells.setdefault(name, Cell())
            example = f"{written(arguments)} -> {shown(answer)}"
            cell.add("asked", example)
            for kind in self._kinds(k, name, arguments, answer):
                cell.add(kind, example)
        return cells

    def _kinds(self, k: int, name: str, arguments: list[Any], answer: Answer) -> list[str]:
        if "error" in answer:
            return ["errors"]
        if "refused" in answer:
            return ["refused", "though one exists"] if self.exists(k) else ["refused"]
        if OPERATIONS[name].holds(answer, *arguments):
            return ["accepted"]
        return ["accepted", "wrong", *(["none exists"] if self.exists(k) is False else [])]


def written(arguments: Sequence[Any]) -> str:
    """Arguments as people write them: (4,6):(1,8) for a layout."""
    texts = [":".join(map(nested, a)) if isinstance(a, list) else str(a) for a in arguments]
    return ", ".join(texts)


def nested(part: Any) -> str:
    if isinstance(part, list | tuple):
        return f"({','.join(map(nested, part))})"
    return str(part)


def shown(answer: Answer) -> str:
    if "layout" in answer:
        return written([list(answer["layout"])])
    if "values" in answer:
        values = answer["values"]
        return f"{str(values[:16])[:-1]}{', ...' if len(values) > 16 else ''}]"
    return " ".join(next(iter(answer.values())).split())[:160]


# -- asking ----------------------------------------------------------------------------------------
class NotInstalledError(Exception):
    """The library's package is not there."""


def ask(name: str, python: str, requests: Sequence[Request]) -> tuple[str, list[Answer]]:
    """A library's version and its answers.

    A question that ends the process, or is not answered in time, is an error; then a new process is
    asked the questions after it.

    Raises:
        NotInstalledError: it cannot be imported there.
    """
    answers: list[Answer] = []
    version = ""
    for _ in range(ENDS):
        lines, why = _run(name, python, requests[len(answers) :])
        if not lines:
            raise NotInstalledError(why)
        version = json.loads(lines[0])
        answers += map(read, lines[1:])
        if len(answers) == len(requests):
            return version, answers
        answers.append({"error": f"the process ended: {why}"})
    unasked = len(requests) - len(answers)
    return version, answers + [{"missing": "asked no more"}] * unasked


def read(line: str) -> Answer:
    """One answer; JSON has lists where layouts have tuples."""
    answer = json.loads(line)
    return {**answer, "layout": tupled(answer["layout"])} if "layout" in answer else answer


def _run(name: str, python: str, requests: Sequence[Request]) -> tuple[list[str], str]:
    """The lines that one process wrote, and how it ended."""
    call = [python, "-m", "tests.benchmarks.peer_libraries", name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        try:
            done = subprocess.run(
                [*call, str(path)],
                input=json.dumps(requests),
                capture_output=True,
                text=True,
                check=False,
                cwd=ROOT,
                timeout=SECONDS,
            )
            why = " ".join([f"exit code {done.returncode}", *done.stderr.splitlines()[-1:]])
        except OSError as error:
            why = str(error)
        except subprocess.TimeoutExpired:
            why = f"no end within {SECONDS} s"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [line for line in text.splitlines(keepends=True) if line.endswith("\n")], why


def ask_here(name: str, cases: int, seed: int) -> dict[str, Cell]:
    """The cells of a library that this process imports."""
    questions = Questions(cases, seed)
    answers: list[Answer] = []
    answer_all(name, questions.requests(), answers.append)
    return questions.judged(answers)


# -- telling ---------------------------------------------------------------------------------------
def table(name: str, version: str, cells: Mapping[str, Cell], examples: bool) -> list[str]:
    """The lines of one library."""
    package = LIBRARIES[name].package
    title = f"{name} {version}" if package in name else f"{name} ({package} {version})"
    heads = " ".join(f"{head:>{max(8, len(head))}}" for head in COUNTS)
    lines = [f"{title:<40} {heads}  wrong/accepted"]
    for row, cell in cells.items():
        numbers = " ".join(f"{cell.counts[head]:>{max(8, len(head))}}" for head in COUNTS)
        accepted = cell.counts["accepted"]
        share = f"{cell.counts['wrong'] / accepted:14.1%}" if accepted else f"{'-':>14}"
        lines.append(f"  {row:<38} {numbers}  {share}")
        kinds = ("wrong", "none exists", "though one exists", "errors") if examples else ()
        lines += [f"      {k}: {cell.examples[k]}" for k in kinds if k in cell.examples]
    return lines


def interpreters(given: Sequence[str]) -> dict[str, str]:
    """The interpreter of each library.

    Raises:
        SystemExit: an option that is not NAME=PATH, or names no library.
    """
    found = dict.fromkeys(LIBRARIES, sys.executable)
    for item in given:
        name, equals, path = item.partition("=")
        if not equals or name not in LIBRARIES:
            raise SystemExit(
                f"--python takes NAME=PATH, NAME one of {', '.join(LIBRARIES)}; got {item!r}"
            )
        found[name] = path
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--only", action="append", choices=list(LIBRARIES), help="these libraries")
    parser.add_argument("--cases", type=int, default=CASES, help="questions of each random kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--examples", action="store_true", help="the first of each kind")
    parser.add_argument("--json", action="store_true", help="counts and examples as JSON")
    options = parser.parse_args(arguments)
    questions = Questions(options.cases, options.seed)
    report: dict[str, Any] = {"seed": options.seed, "cases": options.cases, "libraries": {}}
    for name, python in interpreters(options.python).items():
        if options.only and name not in options.only:
            continue
        try:
            version, answers = ask(name, python, questions.requests())
        except NotInstalledError as error:
            print(f"{name}: left out ({error})", file=sys.stderr)
            continue
        cells = questions.judged(answers)
        if not options.json:
            print("\n".join(table(name, version, cells, options.examples)), flush=True)
        rows = {row: cell.record() for row, cell in cells.items()}
        report["libraries"][name] = {"version": version, "operations": rows}
    if options.json:
        print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
