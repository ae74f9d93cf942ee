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
import re
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
from typing import IO, Any, TypeVar, cast

from layout_algebra.errors import MissingSolverError

Key = TypeVar("Key")

SOLVERS = ("bitwuzla", "cvc5")
#: Who reads a logic, the one to ask first in front.
READERS = {
    "QF_BV": ("bitwuzla", "cvc5"),
    **dict.fromkeys(("QF_LIA", "QF_NIA", "LIA", "NIA"), ("cvc5",)),
}
#: cvc5's options for products of symbolic sizes, tried in turn.  Such goals are a matter of luck:
#: what one set ends in 50 ms another does not end at all.  Of 26 goals without quantifiers the
#: defaults ended 15 within 4 s, each of the first three 20 to 23; the last is good at models.
STRATEGIES: dict[str, tuple[dict[str, str], ...]] = {
    "QF_NIA": (
        {"decision": "justification", "nl-rlv": "always"},
        {"decision": "justification"},
        {"nl-rlv": "always", "nl-ext-split-zero": "true"},
        {"nl-cov": "true"},
    ),
    "NIA": ({"nl-ext-split-zero": "true"}, {}),
}
#: The share of the time that each turn gets: a short round first, since luck comes early.
SHARES = (0.05, 0.2)

START_LIMIT = 60.0  # seconds for a worker to start and to import its solver
TICK = 0.02  # seconds between two looks at the clock
MEMORY_LIMIT = 8 << 30  # bytes of address space of one worker


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
            [sys.executable, "-P", __file__, "--worker", solver],
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


# ------------------------------------------------------------------------- inside the worker

_TOKEN = re.compile(r'"[^"]*"|\|[^|]*\||;[^\n]*|[()]|[^\s()";|]+')
_LEADING = {"set-logic", "set-info", "declare-fun", "declare-const", "define-fun", "assert"}


def _logic_of(text: str) -> str:
    """The logic of a flat script; for any other text a ValueError that says what is wrong."""
    depth, before, logic = 0, "", ""
    commands: list[str] = []
    for token in _TOKEN.findall(text):
        if token.startswith(";"):
            continue
        depth += (token == "(") - (token == ")")
        if depth == 1 and before == "(" and token != ")":
            commands.append(token)
        elif depth == 1 and before == "set-logic":
            logic = token
        before = token
    if commands and commands[-1] == "exit":
        commands.pop()
    if commands[-1:] != ["check-sat"]:
        raise ValueError("not a flat script: expected check-sat at its end")
    for command in commands[:-1]:
        if command not in _LEADING:
            raise ValueError(f"not a flat script: it has the command {command!r}")
    if not logic:
        raise ValueError("expected (set-logic ...) in front")
    return logic


def _cvc5(cvc5: Any, text: str, timeout: float) -> tuple[str, str]:
    strategies = STRATEGIES.get(_logic_of(text))
    turns: list[tuple[float, dict[str, str]]] = [(1.0, {})]
    if strategies:
        turns = [(share, options) for share in SHARES for options in strategies]
    why = ""
    for turn, (share, options) in enumerate(turns, 1):
        manager = cvc5.TermManager()
        solver, symbols = cvc5.Solver(manager), cvc5.SymbolManager(manager)
        for option, value in options.items():
            solver.setOption(option, value)
        if turn < len(turns):  # the last turn is ended from outside
            solver.setOption("tlimit-per", str(int(1000 * share * timeout) + 1))
        parser = cvc5.InputParser(solver, symbols)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
        said = ""
        while not (command := parser.nextCommand()).isNull():
            said += command.invoke(solver, symbols)
        result, _, why = said.strip().partition(" ")
        if result in ("sat", "unsat"):
            return result, " ".join(f"{k}={v}" for k, v in options.items())
        if result != "unknown":
            return "error", said.strip()
    return "unknown", why.strip("()").lower()


def _bitwuzla(bitwuzla: Any, text: str, timeout: float) -> tuple[str, str]:
    _logic_of(text)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options())
    parser.parse(text, True, False)  # only parse; and this is the text, not the name of a file
    return parser.bitwuzla().check_sat().name.lower(), ""


def _serve(name: str) -> None:
    """Be a worker: answer on standard output what is asked on standard input, until that ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the solver prints must not be taken for an answer

    def reply(result: str, detail: str) -> None:
        replies.write(json.dumps({"result": result, "detail": detail}) + "\n")
        replies.flush()

    _restrain()
    solver: Any = importlib.import_module(name)
    reply("ready", solver.__version__ if name == "cvc5" else solver.version())
    for line in sys.stdin:
        query = json.loads(line)
        _alarm(query["timeout"] + 5.0)  # kills this process, should nobody else be left to
        try:
            answer = (_cvc5 if name == "cvc5" else _bitwuzla)(solver, **query)
        except Exception as problem:
            answer = "error", f"{type(problem).__name__}: {problem}"
        _alarm(0.0)
        reply(*answer)


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _restrain() -> None:
    """Limit this process's memory, and have it end with the thread that started it.

    Where the system offers neither, the end of standard input ends a worker that waits, and an
    alarm one that thinks.
    """
    if sys.platform == "linux":
        import ctypes
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = MEMORY_LIMIT if hard == resource.RLIM_INFINITY else min(MEMORY_LIMIT, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--worker" or sys.argv[2] not in SOLVERS:
        sys.exit(f"usage: python -m layout_algebra.prover.recheck --worker {'|'.join(SOLVERS)}")
    _serve(sys.argv[2])
