"""The processes that theorems are proven in, and what is done when one of them dies.

Any `concurrent.futures.Executor` serves `feed`.  The default is processes of our own: Ctrl-C does
not reach them, and they are killed rather than asked, since a solver that thinks cannot be
interrupted.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass

from layout_algebra.errors import ClaimError
from layout_algebra.prover.records import Record, record
from layout_algebra.prover.solve import Budget, fresh_context, replay
from layout_algebra.theorems import Theorem, load_theorems
from layout_algebra.verdicts import Query

#: Seconds after which a process of our own is ended with its theorem.
MOST_SECONDS = 300.0


@dataclass(frozen=True)
class Task:
    """What a worker is sent: a theorem's file and name, limits, and the content that is known.

    `limit` is in seconds, for the whole theorem.
    """

    position: int
    file: str
    name: str
    budget: Budget
    known: str = ""
    limit: float = MOST_SECONDS


#: Takes what became of a task: its record, or the reason why there is none.
Take = Callable[[Task, Record | str], None]


# -- outside -----------------------------------------------------------------------------------
def in_processes(tasks: deque[Task], workers: int, take: Take) -> None:
    """Do tasks in processes of our own; what was under way when one died is tried again alone."""
    suspects: list[Task] = []
    while tasks:
        with _processes(min(workers, len(tasks))) as pool:
            suspects += feed(pool, tasks, 2 * workers, take)
    for task in suspects:
        with _processes(1) as pool:
            for lost in feed(pool, deque([task]), 1, take):
                take(lost, f"its process died twice (or was ended after {task.limit:g} s)")


def feed(executor: Executor, tasks: deque[Task], window: int, take: Take) -> list[Task]:
    """Keep an executor busy until no task waits; the tasks that were under way when it broke.

    At most `window` tasks are sent out at a time.
    """
    running: dict[Future[Record | str], Task] = {}
    lost: list[Task] = []
    try:
        while (tasks or running) and not lost:
            while tasks and len(running) < window and not lost:
                task = tasks.popleft()
                try:
                    with interrupts_held():  # a process that is started here inherits it
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
                    continue
                except Exception as error:
                    found = f"the executor failed: {type(error).__name__}: {error}"
                take(task, found)
        return [*lost, *running.values()]
    finally:
        for future in running:
            future.cancel()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the block is left, and never reaches processes that are started in it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Fresh processes; killed, not waited for, when the block is left by an error or Ctrl-C."""
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_begin_process
    )
    try:
        yield pool
    except BaseException:
        with interrupts_held():
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown(wait=True, cancel_futures=True)


# -- inside ------------------------------------------------------------------------------------
_alone = threading.Lock()  # Z3's context and the list of theorems being loaded are the process's
_process = {"ours": False}


def work(task: Task) -> Record | str:
    """Prove one theorem, or say why there is none; what an executor runs."""
    with _alone, _time_limit(task.limit):
        try:
            state = os.stat(task.file)
            theorem = _theorems(task.file, state.st_mtime_ns, state.st_size).get(task.name)
        except (ClaimError, OSError) as error:
            return " ".join(str(error).split())
        if theorem is None:
            return "its file states it no longer"
        return record(theorem, task.budget, task.known)


@functools.cache
def _theorems(file: str, _changed: int, _size: int) -> Mapping[str, Theorem]:
    """The theorems of a file in one state of it, by name."""
    return {theorem.name: theorem for theorem in load_theorems([file])}


def _begin_process() -> None:
    _process["ours"] = True
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
def _time_limit(limit: float) -> Iterator[None]:
    """End this process, if it is one of our own, should the block take longer than that."""
    if not _process["ours"] or not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
