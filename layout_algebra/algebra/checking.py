"""Where operations report what they did, for whoever wants to check it.

An operation's result is right because of its theorem.  Inside `prover.checked()` a checker is
installed here, and every call's result is held against the operation's law by the solver too;
outside of it reporting costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

#: Called with the operation's name, its result, and its inputs by name.
Checker = Callable[[str, Any, dict[str, Any]], None]

_checker: ContextVar[Checker | None] = ContextVar("checker", default=None)


def reported(operation: str, result: T, **inputs: Any) -> T:
    """The result, after the checker (if there is one) has seen it."""
    checker = _checker.get()
    if checker is not None:
        token = _checker.set(None)  # the law may use operations itself
        try:
            checker(operation, result, inputs)
        finally:
            _checker.reset(token)
    return result


@contextmanager
def checking(checker: Checker) -> Generator[None, None, None]:
    """Installs a checker for the block (this thread or task only)."""
    token = _checker.set(checker)
    try:
        yield
    finally:
        _checker.reset(token)
