"""One second solver in a process of its own; recheck.py starts it by its path and talks to it.

It imports the standard library and that one solver, nothing of this package: what it says cannot
depend on anything of ours.  The conversation is described in recheck.py.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import sys
from typing import Any

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

MEMORY_LIMIT = 8 << 30  # bytes of address space of one worker

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
    if len(sys.argv) != 2 or sys.argv[1] not in ("cvc5", "bitwuzla"):
        sys.exit("usage: recheck_worker.py cvc5|bitwuzla")
    _serve(sys.argv[1])
