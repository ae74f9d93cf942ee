"""A second opinion: SMT-LIB 2 texts decided by solvers that share no code with Z3.

A proof of the prover is a set of queries, and "unsat" is what makes a proof of them.  Here the
same texts are put to cvc5 (integers, nonlinear integers, bit-vectors) and bitwuzla (bit-vectors):

    decide("(set-logic QF_LIA)(declare-fun x () Int)(assert (< x x))(check-sat)", "cvc5", 5.0)
    Answer(solver='cvc5', version='1.4.2', result='unsat', seconds=0.004, detail='')

Neither solver can be interrupted from Python while it thinks, and both may crash.  So each one
lives in a process of its own (a *worker*) that imports nothing but that solver, is asked through
its standard input, and is killed when its time is up.  A worker answers thousands of queries; it
is started again only after it died.  The life of a worker ends with its pool, and with the process
that started it, however that ends.

The conversation is one JSON object a line: to the worker `{"text": ..., "timeout": ...}`, and back
`{"result": ..., "detail": ...}`.  What a solver prints by itself goes to standard error, and is
shown should the worker die.

A text is a flat script: one `check-sat`, at its end, and before it only declarations, definitions
and assertions.  Scopes or two questions in one text would leave open what was answered.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar, cast

from layout_algebra.errors import MissingSolverError

Key = TypeVar("Key")

SOLVERS = ("bitwuzla", "cvc5")
#: Who reads a logic, the one to ask first in front.
READERS = {
    "QF_BV": ("bitwuzla", "cvc5"),
    **dict.fromkeys(("QF_LIA", "QF_NIA", "LIA", "NIA"), ("cvc5",)),
}
WORKER = Path(__file__).with_name("recheck_worker.py")
START_LIMIT = 60.0  # seconds for a worker to start and to import its solver
TICK = 0.02  # seconds between two looks at the clock


@dataclass(frozen=True)
class Answer:
    """What one solver said of one text.

    Attributes:
        solver: "cvc5" or "bitwuzla"; "none" where no installed solver reads the logic.
        version: the solver's, "" where it never started.
        result: "sat", "unsat", "unknown", "timeout" or "error"; only the first two decide.
        seconds: wall clock from question to answer, without the start of a worker.
        detail: the reason of what is not an answer; of an answer the solver's options, "" for none.
    """

    solver: str
    version: str
    result: str
    seconds: float
    detail: str = ""

    @property
    def decided(self) -> bool:
        """Whether the solver knew: "sat" or "unsat"."""
        return self.result in ("sat", "unsat")


def installed() -> tuple[str, ...]:
    """The second solvers that can be imported here; none of them is imported to find out."""
    return tuple(name for name in SOLVERS if importlib.util.find_spec(name) is not None)


def solvers_for(logic: str) -> tuple[str, ...]:
    """The installed solvers that read a logic ("QF_BV", ...), the one to ask first in front."""
    here = installed()
    return tuple(name for name in READERS.get(logic, ()) if name in here)


def decide(text: str, solver: str, timeout: float) -> Answer:
    """Ask one solver about one text, in a process started for it.  For many texts: `SolverPool`.

    Args:
        text: a flat SMT-LIB 2 script (see above) with `(set-logic ...)` in front.
        solver: "cvc5" or "bitwuzla".
        timeout: seconds of wall clock after which the process is killed.

    Raises:
        ValueError: the solver is not one of these two.
        MissingSolverError: it is not installed.
    """
    if solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; expected one of {', '.join(SOLVERS)}")
    _require(solver)
    with contextlib.closing(_Worker(solver)) as worker:
        return worker.ask(text, timeout)


class SolverPool:
    """Workers that decide many texts at a time; a context manager, which ends them on the way out.

    Args:
        workers: how many texts are decided at the same time.

    Example:
        >>> with SolverPool(workers=2) as pool:
        ...     for name, answers in pool.decide_many(queries, timeout=10.0):
        ...         print(name, answers[-1].result)
    """

    def __init__(self, workers: int = 2) -> None:
        if workers < 1:
            raise ValueError(f"a pool needs at least one worker, given {workers}")
        self._window = 64 * workers  # texts in flight: how far fast queries may overtake a slow one
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="recheck")
        self._own = threading.local()  # each thread has workers of its own, one for each solver
        self._lock = threading.Lock()
        self._workers: set[_Worker] = set()
        self._closed = False

    def __enter__(self) -> SolverPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def decide_many(
        self, items: Iterable[tuple[Key, str, str]], timeout: float
    ) -> Iterator[tuple[Key, list[Answer]]]:
        """Decide (key, text, logic) for each item; yields keys and answers in the items' order.

        The answers are those of the solvers asked: the second is asked only where the first did
        not decide.  Items are taken as they are needed, so that they may be made on the way.

        Args:
            items: key (anything of the caller's), SMT-LIB 2 text, logic.
            timeout: seconds of wall clock for one solver and one text.

        Raises:
            MissingSolverError: no second solver is installed; at once, before any item is taken.
            RuntimeError: the pool is closed.
        """
        if not installed():
            _require(*SOLVERS)
        self._check_open()
        return self._in_order(items, timeout)

    def close(self) -> None:
        """Kill all workers, also those that are thinking.  Closing twice does no harm."""
        with self._lock:
            self._closed = True
            workers, self._workers = self._workers, set()
        for worker in workers:
            worker.kill()  # a thread that waits for it now reads end of file
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in workers:
            worker.close()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the pool is closed")

    def _in_order(
        self, items: Iterable[tuple[Key, str, str]], timeout: float
    ) -> Iterator[tuple[Key, list[Answer]]]:
        pending: deque[tuple[Key, Future[list[Answer]]]] = deque()
        try:
            for key, text, logic in items:
                pending.append((key, self._threads.submit(self._decide, text, logic, timeout)))
                while pending and (len(pending) >= self._window or pending[0][1].done()):
                    first, future = pending.popleft()
                    yield first, future.result()
            while pending:
                first, future = pending.popleft()
                yield first, future.result()
        finally:
            for _, future in pending:
                future.cancel()

    def _decide(self, text: str, logic: str, timeout: float) -> list[Answer]:
        answers: list[Answer] = []
        for solver in solvers_for(logic):
            answers.append(self._worker(solver).ask(text, timeout))
            if answers[-1].decided:
                break
        reason = f"no solver that is installed reads {logic}"
        return answers or [Answer("none", "", "error", 0.0, reason)]

    def _worker(self, solver: str) -> _Worker:
        """This thread's worker for a solver; a new one where the last one died."""
        mine: dict[str, _Worker] = self._own.__dict__
        with self._lock:
            self._check_open()
            worker = mine.get(solver)
            if worker is None or not worker.alive:
                if worker is not None:
                    self._workers.discard(worker)
                    worker.close()
                worker = mine[solver] = _Worker(solver)
                self._workers.add(worker)
            return worker


def _require(*solvers: str) -> None:
    missing = [solver for solver in solvers if solver not in installed()]
    if missing:
        raise MissingSolverError(
            f"{' and '.join(missing)} not installed; the second solvers come with an extra: "
            "pip install 'layout-algebra[recheck]'"
        )


class _Worker:
    """One solver in a process of its own, that can be killed at any moment; for one thread."""

    def __init__(self, solver: str) -> None:
        self.solver = solver
        self.version = ""  # known once it has started
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115 - the worker's standard error
        # By path, not with -m: the worker shall not load this package's own solver.  It finds
        # modules where this process does, and is out of reach of the terminal's Ctrl-C.
        path = [*filter(None, sys.path), str(Path(__file__).parents[2])]
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(WORKER), solver],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
            start_new_session=True,
        )
        self._deadline, self._late = math.inf, False
        self._guard = threading.Lock()  # of the two above
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether it can be asked; a process that was killed for its time may take a moment."""
        return not self._late and self._process.poll() is None

    def ask(self, text: str, timeout: float) -> Answer:
        """The answer within `timeout` seconds, whatever the worker does; it may be dead then."""
        if not self.version:
            hello = self._converse(b"", START_LIMIT)
            if hello["result"] != "ready":
                return Answer(self.solver, "", "error", 0.0, f"did not start: {hello['detail']}")
            self.version = hello["detail"]
        question = json.dumps({"text": text, "timeout": timeout}).encode() + b"\n"
        begin = time.perf_counter()
        reply = self._converse(question, timeout)
        seconds = time.perf_counter() - begin
        return Answer(self.solver, self.version, reply["result"], seconds, reply["detail"])

    def _converse(self, message: bytes, limit: float) -> dict[str, str]:
        """Send a message and read the reply; kill the worker if that takes `limit` seconds."""
        stdin, stdout = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        self._noise.seek(0)  # the worker writes through the same position
        self._noise.truncate()
        with self._guard:
            self._deadline = time.monotonic() + limit
        try:
            stdin.write(message)
            stdin.flush()
            line = stdout.readline()  # ends when the worker does
        except OSError:  # it died before it had read the question
            line = b""
        finally:
            with self._guard:
                self._deadline = math.inf
        if line.endswith(b"\n"):
            return json.loads(line)
        try:  # its output ends shortly before itself
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        if self._late:
            return {"result": "timeout", "detail": f"killed after {limit:g} s"}
        self._noise.seek(0)
        noise = " ".join(self._noise.read().decode(errors="replace").split())[-400:]
        cause = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return {"result": "error", "detail": f"{self.solver} died, {cause}. {noise}".rstrip()}

    def _watch(self) -> None:
        """Kill the process once it is late.  (A timer for each query would cost a millisecond.)"""
        while self.alive:
            time.sleep(TICK)
            with self._guard:
                if time.monotonic() > self._deadline:
                    self._late = True
                    self.kill()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Kill the process, wait for its end, and close what connects to it."""
        self.kill()
        self._process.wait()
        for end in (self._process.stdin, self._process.stdout, self._noise):
            with contextlib.suppress(OSError):  # the unsent rest of a question
                cast(IO[bytes], end).close()
