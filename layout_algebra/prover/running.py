"""Many theorems at once: proven in processes of their own, interrupted, gone on with.

    ledger = run(load_theorems(["proofs/"]), ledger_path="build/ledger.json")

A theorem is known by its file and its name: a worker loads the file once, makes the claim, proves
it, runs every query behind it (records.py), and sends back the ledger's entry.  Any
`concurrent.futures.Executor` will do; the default is processes that a Ctrl-C does not reach and that
can be killed, since a solver cannot be interrupted.

Whatever a theorem does, the run ends: one that raises is FAILED; one that ends its process, or that
takes longer than `MOST_SECONDS`, is tried once more alone, and then FAILED; the others go on.

Ctrl-C leaves a partial ledger of what is done, and the next run takes over its entries, as far as
their content hashes are still the theorems'.  A complete ledger is never taken over: to prove means
to prove.
"""

from __future__ import annotations

import functools
import multiprocessing
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from layout_algebra.errors import ClaimError, LedgerError
from layout_algebra.ledger import (
    Entry,
    Ledger,
    check_writable,
    query_file,
    read_ledger,
    write_query,
)
from layout_algebra.prover.proving import MOST_PLACES
from layout_algebra.prover.records import Record, blank, record, tools
from layout_algebra.prover.solve import Budget, fresh_context, replay
from layout_algebra.theorems import Theorem, load_theorems
from layout_algebra.verdicts import Query

#: Seconds after which the default executor gives a theorem up.
MOST_SECONDS = 300.0
#: Seconds between two partial ledgers of a run that goes on.
SAVE_EVERY = 5.0

Progress = Callable[[int, int, Entry], None]


class RunInterrupted(KeyboardInterrupt):
    """A run was interrupted; `ledger` has what was done until then."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__("interrupted")
        self.ledger = ledger


@dataclass(frozen=True)
class Task:
    """What a worker is sent: a theorem's file and name, limits, and the content that is known."""

    position: int
    file: str
    name: str
    budget: Budget
    known: str = ""


def run(
    theorems: Sequence[Theorem],
    *,
    executor: Executor | None = None,
    workers: int = 2,
    ledger_path: str | Path | None = None,
    resume: bool = True,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Ledger:
    """Prove theorems.

    Args:
        theorems: what `load_theorems` gives.
        executor: where to prove; its processes must see the theorems' files.  It is left open.
        workers: how many theorems are under way at a time (twice as many are sent out).
        ledger_path: the ledger to write, with its queries beside it; None writes none.
        resume: whether to go on from a partial ledger at that path.
        budget: limits of each query.
        progress: called for each theorem that is done: (how many are, of how many, its entry).

    Raises:
        RunInterrupted: Ctrl-C; the partial ledger is written, and is in the error.
        LedgerError: the ledger cannot be written, or something else is at its path.
        ClaimError: a theorem that no file states, or fewer workers than one.
    """
    if workers < 1:
        raise ClaimError(f"workers is at least 1; got {workers}")
    state = _State(theorems, ledger_path, workers, budget or Budget(), progress)
    waiting = deque(state.tasks(resume))
    try:
        if executor is None:
            _in_processes(waiting, workers, state)
        else:
            for task in [*_feed(executor, waiting, 2 * workers, state), *waiting]:
                state.failed(task, "the executor broke before it was proven")
    except KeyboardInterrupt:
        with _interrupts_held():
            ledger = state.save()
        raise RunInterrupted(ledger) from None
    return state.save()


class _State:
    """The entries so far, and where they are written."""

    def __init__(
        self,
        theorems: Sequence[Theorem],
        path: str | Path | None,
        workers: int,
        budget: Budget,
        progress: Progress | None,
    ) -> None:
        self.theorems, self.workers = theorems, workers
        self.budget, self.progress = budget, progress
        self.path = None if path is None else Path(path)
        self.start = self.saved = time.monotonic()
        self.done: dict[int, Entry] = {}
        self.old: Mapping[str, Entry] = {}
        self.resumed = 0

    def tasks(self, resume: bool) -> list[Task]:
        """One for each theorem."""
        for theorem in self.theorems:
            if not theorem.file:
                raise ClaimError(f"theorem {theorem.name!r} is in no file: workers cannot find it")
        if self.path is not None:
            check_writable(self.path)
            old = _old_entries(self.path)
            self.old = old if resume else {}
        return [
            Task(
                position,
                str(Path(theorem.file).absolute()),
                theorem.name,
                self.budget,
                self.old[theorem.name].content if theorem.name in self.old else "",
            )
            for position, theorem in enumerate(self.theorems)
        ]

    def take(self, task: Task, found: Record) -> None:
        """A theorem is done."""
        theorem = self.theorems[task.position]
        entry = found.entry
        if entry is None:
            self.resumed += 1
            entry = self.old[task.name]
        entry = replace(entry, file=blank(theorem).file)
        if self.path is not None:
            for key, text in found.texts.items():
                write_query(self.path.parent, key, text)
        self.done[task.position] = entry
        if self.progress is not None:
            self.progress(len(self.done), len(self.theorems), entry)
        if time.monotonic() - self.saved > SAVE_EVERY and len(self.done) < len(self.theorems):
            self.save()

    def failed(self, task: Task, reason: str) -> None:
        self.take(task, Record(blank(self.theorems[task.position], reason), {}))

    def save(self) -> Ledger:
        """The ledger of what is done, also written where there is a path."""
        ledger = Ledger(
            tuple(self.done[position] for position in sorted(self.done)),
            len(self.theorems),
            {**tools(), "python": ".".join(map(str, sys.version_info[:3]))},
            {
                "rlimit": self.budget.rlimit,
                "seconds": self.budget.seconds,
                "most_places": MOST_PLACES,
            },
            {
                "seconds": round(time.monotonic() - self.start, 3),
                "workers": self.workers,
                "resumed": self.resumed,
            },
        )
        if self.path is not None:
            ledger.write(self.path)
        self.saved = time.monotonic()
        return ledger


def _old_entries(path: Path) -> Mapping[str, Entry]:
    """The entries of a partial ledger that may be taken over: they are fine, and have their queries.

    Raises:
        LedgerError: something else than a ledger is there, and would be overwritten.
    """
    if not path.exists():
        return {}
    try:
        ledger = read_ledger(path)
    except LedgerError as error:
        raise LedgerError(f"{error}; remove it, or name another file for the new ledger") from None
    if not ledger.partial:
        return {}
    return {
        entry.name: entry
        for entry in ledger.entries
        if entry.ok and all((path.parent / query_file(q.key)).exists() for q in entry.queries)
    }


# -- executors ---------------------------------------------------------------------------------
def _in_processes(waiting: deque[Task], workers: int, state: _State) -> None:
    """Processes of our own; what was under way when one of them died is tried again alone."""
    suspects: list[Task] = []
    while waiting:
        with _processes(min(workers, len(waiting))) as pool:
            suspects += _feed(pool, waiting, 2 * workers, state)
    for task in suspects:
        with _processes(1) as pool:
            for lost in _feed(pool, deque([task]), 1, state):
                state.failed(
                    lost, f"its process died, or was ended after {MOST_SECONDS:g} s, two times"
                )


def _feed(executor: Executor, waiting: deque[Task], window: int, state: _State) -> list[Task]:
    """Keep an executor busy until nothing waits; the tasks that were under way when it broke."""
    running: dict[Future[Record | str], Task] = {}
    lost: list[Task] = []
    try:
        while (waiting or running) and not lost:
            while waiting and len(running) < window and not lost:
                task = waiting.popleft()
                try:
                    with _interrupts_held():  # the processes that this starts inherit it
                        running[executor.submit(work, task)] = task
                except BrokenExecutor:
                    lost.append(task)
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                try:
                    found = future.result()
                except BrokenExecutor:
                    lost.append(task)
                except Exception as error:
                    state.failed(task, f"the executor failed: {type(error).__name__}: {error}")
                else:
                    if isinstance(found, str):
                        state.failed(task, found)
                    else:
                        state.take(task, found)
        return [*lost, *running.values()]
    finally:
        for future in running:
            future.cancel()


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Fresh processes; killed, not waited for, when the block is left by an error or Ctrl-C."""
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_begin_worker
    )
    try:
        yield pool
    except BaseException:
        with _interrupts_held():
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the block is left, and never reaches processes that are started in it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- inside a worker ---------------------------------------------------------------------------
_alone = threading.Lock()  # Z3's context and the list of theorems being loaded are the process's
_own_process = False


def work(task: Task) -> Record | str:
    """Prove one theorem, or say why there is none; what an executor runs."""
    with _alone, _time_limit():
        try:
            theorem = _theorems(task.file).get(task.name)
        except ClaimError as error:
            return " ".join(str(error).split())
        if theorem is None:
            return "its file states it no longer"
        return record(theorem, task.budget, task.known)


@functools.cache
def _theorems(file: str) -> Mapping[str, Theorem]:
    return {theorem.name: theorem for theorem in load_theorems([file])}


def _begin_worker() -> None:
    global _own_process
    _own_process = True
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # what theorems print is not part of any table
    with fresh_context():  # the first question in a process pays for Z3's start
        for logic, sort in (("QF_LIA", "Int"), ("QF_NIA", "Int"), ("QF_BV", "(_ BitVec 8)")):
            text = f"(set-logic {logic})(declare-fun x () {sort})(assert (= x x))(check-sat)"
            replay(Query("", logic, text), Budget())


@contextmanager
def _time_limit() -> Iterator[None]:
    """End this process, if it is a worker of our own, should the block take MOST_SECONDS."""
    if not _own_process or not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
