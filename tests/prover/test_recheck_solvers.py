"""The second solvers: what they answer, and that no query, crash or Ctrl-C gets the better of them.

A fake `bitwuzla` in front of the real one plays the solver that prints, hangs or crashes.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import z3

from layout_algebra.errors import MissingSolverError
from layout_algebra.prover import recheck
from layout_algebra.prover.recheck import SolverPool, decide, installed, solvers_for

pytestmark = pytest.mark.skipif(
    set(installed()) != {"cvc5", "bitwuzla"}, reason="needs the extra `recheck`"
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

SLACK = 1.0  # seconds that a loaded machine may add to a limit
START = 10.0  # seconds that it may take to start a worker

LINEAR = "(set-logic QF_LIA)(declare-fun x () Int)(assert (< {} x 3))(check-sat)"
SAT, UNSAT = LINEAR.format(1), LINEAR.format(2)
BITS = "(set-logic QF_BV)(declare-fun x () (_ BitVec 8))(assert (= x (bvnot x)))(check-sat)"
#: Factors of a product of two primes of 32 bits: minutes at least, for both solvers.
HARD = """(set-logic QF_BV)
(declare-fun p () (_ BitVec 64))
(declare-fun q () (_ BitVec 64))
(assert (= (bvmul p q) (_ bv8687298342800752309 64)))
(assert (and (bvult (_ bv1 64) p) (bvule p q) (bvult q (_ bv4294967296 64))))
(check-sat)
"""
HARD_INTEGERS = """(set-logic QF_NIA)
(declare-fun a () Int)
(declare-fun b () Int)
(declare-fun c () Int)
(assert (= (+ (* a a a) (* b b b) (* c c c)) 114))
(check-sat)
"""


def written_by_z3(logic: str, *constraints: z3.BoolRef) -> tuple[str, str]:
    """An SMT-LIB text as the prover writes it, and what Z3 answers."""
    solver = z3.Solver()
    solver.add(*constraints)
    return f"(set-logic {logic})\n{solver.to_smt2()}", str(solver.check())


def integer_queries() -> dict[str, tuple[str, str]]:
    d = z3.Ints("d0 d1 d2")
    P, Q, B, y, q, r = z3.Ints("P Q B y q r")
    inside = [z3.And(x > -e, x < e) for x, e in zip(d, (4, 3, 8), strict=True)]
    symbolic = [B >= 1, Q >= 1, d[0] > -P, d[0] < P, d[1] > -B, d[1] < B]
    moved = z3.Or(*(x != 0 for x in d))
    return {
        "digits": written_by_z3("QF_LIA", *inside, d[0] * 24 + d[1] * 8 + d[2] == 0, moved),
        "collide": written_by_z3("QF_LIA", *inside, d[0] * 8 + d[1] * 8 + d[2] == 0, moved),
        "constant division": written_by_z3("QF_LIA", y / 8 * 8 + y % 8 != y),
        "all distinct": written_by_z3("QF_LIA", *inside, z3.Distinct(*d), z3.If(y > 0, y, -y) < 0),
        "symbolic stride": written_by_z3("QF_NIA", *symbolic, d[0] * B + d[1] == 0, d[0] != 0),
        "symbolic collision": written_by_z3("QF_NIA", *symbolic, d[0] * B + d[1] * Q == 0, moved),
        "one division step": written_by_z3(
            "QF_NIA",
            q * B + r == y,
            r >= 0,
            r < B,
            d[0] * B + d[1] == y,
            d[1] >= 0,
            d[1] < B,
            q != d[0],
        ),
        "bounds": written_by_z3(
            "QF_NIA", d[0] >= 0, d[0] < P, d[1] >= 0, d[1] < Q, d[0] * Q + d[1] >= P * Q
        ),
        "for all": written_by_z3("LIA", z3.ForAll([y], z3.Exists([q], 2 * q == y))),
        "for all products": written_by_z3("NIA", z3.ForAll([y], y * y >= 0), P * P == 2 * P, P > 0),
    }


def bit_queries() -> dict[str, tuple[str, str]]:
    x, y, M, B, S = z3.BitVecs("x y M B S", 32)
    lane = z3.BitVec("lane!0", 8)

    def swizzle(a: z3.BitVecRef) -> z3.BitVecRef:
        return a ^ (z3.LShR(a, S) & (((z3.BitVecVal(1, 32) << B) - 1) << M))

    legal = [z3.ULE(B, S), z3.ULE(M, 8), z3.ULE(B, 8), z3.ULE(S, 8), B != 0]
    wide = z3.ZeroExt(24, lane)
    return {
        "involution": written_by_z3("QF_BV", *legal, swizzle(swizzle(x)) != x),
        "moves": written_by_z3("QF_BV", *legal, swizzle(x) != x, z3.ULT(x, 64)),
        "pieces": written_by_z3("QF_BV", z3.Concat(z3.Extract(31, 8, wide), lane) != wide),
        "compare": written_by_z3("QF_BV", z3.If(z3.ULT(x, y), x, y) != y, z3.ULE(x, y), x != 0),
        "divide": written_by_z3("QF_BV", z3.UDiv(wide, 8) * 8 + z3.URem(wide, 8) != wide),
        "distinct": written_by_z3("QF_BV", z3.Distinct(x, y, x ^ y), x == 0),
    }


@pytest.mark.parametrize("name", integer_queries())
def test_cvc5_agrees_with_z3_on_integers(name: str) -> None:
    text, expected = integer_queries()[name]
    answer = decide(text, "cvc5", 30.0)
    assert (answer.result, answer.solver) == (expected, "cvc5"), answer
    assert answer.decided
    assert answer.version[0].isdigit()


@pytest.mark.parametrize("solver", ["cvc5", "bitwuzla"])
@pytest.mark.parametrize("name", bit_queries())
def test_both_agree_with_z3_on_bits(name: str, solver: str) -> None:
    text, expected = bit_queries()[name]
    assert decide(text, solver, 30.0).result == expected


@pytest.mark.parametrize("solver", ["cvc5", "bitwuzla"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("garbage", "expected check-sat"),
        ("", "expected check-sat"),
        (BITS[:-1], "Expected|missing"),
        (BITS + "(check-sat)", "the command 'check-sat'"),
        (BITS.replace("(check-sat)", ""), "expected check-sat"),
        (BITS.replace("(check-sat)", "; (check-sat)"), "expected check-sat"),
        (BITS.replace("(assert", "(push 1)(assert") + "(exit)", "the command 'push'"),
        (BITS + "(assert true)", "expected check-sat"),
        (BITS.replace("(set-logic QF_BV)", ""), "expected .set-logic"),
        (BITS.replace("bvnot x", "bvnot y"), "'y'"),
        (BITS.replace("bvnot", "bvnotch"), "'bvnotch'"),
    ],
)
def test_a_text_that_is_not_a_question_is_an_error(text: str, reason: str, solver: str) -> None:
    answer = decide(text, solver, 5.0)
    assert (answer.result, answer.decided) == ("error", False)
    assert pytest.approx(0, abs=SLACK) == answer.seconds
    assert re.search(reason, answer.detail)


def test_names_comments_and_an_exit_are_part_of_a_flat_script() -> None:
    text = '; (push 1)\n(set-info :source "(pop 1) ""|")' + SAT.replace("x", "|(push; 1)|")
    assert decide(text + "(exit)", "cvc5", 5.0).result == "sat"


@pytest.mark.parametrize(
    ("solver", "text"), [("bitwuzla", HARD), ("cvc5", HARD), ("cvc5", HARD_INTEGERS)]
)
def test_a_hard_query_ends_at_its_limit(solver: str, text: str) -> None:
    answer = decide(text, solver, 0.5)
    assert (answer.result, answer.detail) == ("timeout", "killed after 0.5 s")
    assert 0.5 <= answer.seconds < 0.5 + SLACK


def test_the_pool_goes_on_after_a_timeout_and_keeps_the_order() -> None:
    items = [("hard", HARD, "QF_BV"), *((("easy", i), BITS, "QF_BV") for i in range(20))]
    items += [("sat", SAT, "QF_LIA"), ("unsat", UNSAT, "QF_LIA"), ("bad", "(", "QF_LIA")]
    with SolverPool(workers=2) as pool:
        answers = dict(pool.decide_many(items, timeout=0.5))
    assert list(answers) == [key for key, _, _ in items]
    assert [(a.solver, a.result) for a in answers["hard"]] == [
        ("bitwuzla", "timeout"),
        ("cvc5", "timeout"),
    ]
    for i in range(20):
        assert [(a.solver, a.result) for a in answers["easy", i]] == [("bitwuzla", "unsat")]
    assert [answers[key][0].result for key in ("sat", "unsat", "bad")] == ["sat", "unsat", "error"]


def test_workers_are_kept_and_replaced_when_they_die() -> None:
    with SolverPool(workers=1) as pool:

        def ask() -> str:
            [(_, [answer])] = pool.decide_many([(None, BITS, "QF_BV")], timeout=5.0)
            [worker] = pool._workers
            pids.append(worker._process.pid)
            return answer.result

        pids: list[int] = []
        assert [ask(), ask()] == ["unsat", "unsat"]
        assert pids[0] == pids[1]
        os.kill(pids[1], signal.SIGKILL)
        wait_until(lambda: not is_running(pids[1]))
        assert ask() == "unsat"
        assert pids[2] != pids[1]


def test_items_are_taken_as_they_are_needed() -> None:
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield taken, UNSAT, "QF_LIA"

    with SolverPool(workers=1) as pool:
        stream = pool.decide_many(endless(), timeout=5.0)
        assert [next(stream)[0] for _ in range(5)] == [1, 2, 3, 4, 5]
        assert taken < 5 + 2 * 64
        stream.close()  # type: ignore[attr-defined]
        assert [key for key, _ in pool.decide_many([("next", SAT, "QF_LIA")], 5.0)] == ["next"]


def test_who_reads_what() -> None:
    assert solvers_for("QF_BV") == ("bitwuzla", "cvc5")
    assert [solvers_for(logic) for logic in ("QF_LIA", "QF_NIA", "LIA", "NIA")] == [("cvc5",)] * 4
    assert solvers_for("QF_FP") == ()
    with SolverPool() as pool:
        [(_, [answer])] = pool.decide_many([(1, "(check-sat)", "QF_FP")], timeout=1.0)
    assert (answer.solver, answer.result) == ("none", "error")
    assert answer.detail == "no solver that is installed reads QF_FP"


def test_misuse_is_an_error_that_says_so() -> None:
    with pytest.raises(ValueError, match="unknown solver 'z3'; expected one of bitwuzla, cvc5"):
        decide(SAT, "z3", 1.0)
    with pytest.raises(ValueError, match="at least one worker, given 0"):
        SolverPool(workers=0)
    pool = SolverPool()
    pool.close()
    pool.close()
    with pytest.raises(RuntimeError, match="the pool is closed"):
        pool.decide_many([], timeout=1.0)


def test_without_a_second_solver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck.importlib.util, "find_spec", lambda _: None)
    assert installed() == ()
    with pytest.raises(MissingSolverError, match=r"^cvc5 not .*layout-algebra\[recheck\]"):
        decide(SAT, "cvc5", 1.0)
    with SolverPool() as pool, pytest.raises(MissingSolverError, match=r"^bitwuzla and cvc5 not"):
        pool.decide_many([], timeout=1.0)


# --------------------------------------------------------------- solvers that misbehave


@pytest.fixture
def fake_bitwuzla(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a module before the real bitwuzla whose check_sat does what the given lines say."""

    def install(check: str, start: str = "pass") -> None:
        (tmp_path / "bitwuzla.py").write_text(
            "import os, signal, sys, time\n"
            f"{start}\n"
            "class TermManager: pass\n"
            "class Options: pass\n"
            "class Result: name = 'UNSAT'\n"
            "def version(): return '0.fake'\n"
            "class Parser:\n"
            "    def __init__(self, *_): pass\n"
            "    def parse(self, *_): pass\n"
            "    def bitwuzla(self): return self\n"
            "    def check_sat(self):\n"
            f"        {check}\n"
            "        return Result\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def test_what_a_solver_prints_is_not_taken_for_an_answer(fake_bitwuzla) -> None:
    reply = r"""b'{"result": "sat", "detail": ""}\n'"""
    fake_bitwuzla(f"os.write(1, {reply}); print('sat', flush=True)")
    with SolverPool(workers=1) as pool:
        items = [(i, BITS, "QF_BV") for i in range(3)]
        results = [a.result for _, answers in pool.decide_many(items, 5.0) for a in answers]
    assert results == ["unsat"] * 3


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "bitwuzla died, SIGSEGV."),
        ("os.write(2, b'no  more\\nmemory'); os.abort()", "bitwuzla died, SIGABRT. no more memory"),
        ("os._exit(3)", "bitwuzla died, exit status 3."),
        ("raise RuntimeError('fatal')", "RuntimeError: fatal"),
    ],
)
def test_a_crash_is_an_error_with_its_reason_and_the_next_solver_is_asked(
    fake_bitwuzla, check: str, reason: str
) -> None:
    fake_bitwuzla(check)
    with SolverPool(workers=1) as pool:
        for _, (first, second) in pool.decide_many([(i, BITS, "QF_BV") for i in range(2)], 5.0):
            assert (first.solver, first.version, first.result) == ("bitwuzla", "0.fake", "error")
            assert first.detail == reason
            assert (second.solver, second.result) == ("cvc5", "unsat")


def test_a_solver_that_cannot_be_imported_is_an_error(fake_bitwuzla) -> None:
    fake_bitwuzla("pass", start="raise ImportError('libgmp.so.10 is missing')")
    answer = decide(BITS, "bitwuzla", 5.0)
    assert (answer.version, answer.result) == ("", "error")
    assert answer.detail.startswith("did not start: bitwuzla died, exit status 1.")
    assert "libgmp.so.10 is missing" in answer.detail


def test_a_solver_that_never_starts_is_given_up(fake_bitwuzla, monkeypatch) -> None:
    monkeypatch.setattr(recheck, "START_LIMIT", 0.5)
    fake_bitwuzla("pass", start="time.sleep(60)")
    assert decide(BITS, "bitwuzla", 5.0).detail == "did not start: killed after 0.5 s"


# ----------------------------------------------------------------- nothing is left behind


def is_running(pid: int) -> bool:
    """Whether a process is there and more than a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def wait_until(condition: Callable[[], bool], limit: float = START) -> None:
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@on_linux
def test_a_pool_that_ends_leaves_no_process_behind() -> None:
    begin = time.monotonic()
    with SolverPool(workers=2) as pool:
        items = [("easy", BITS, "QF_BV"), *((i, HARD, "QF_BV") for i in range(3))]
        assert next(pool.decide_many(items, timeout=60.0))[0] == "easy"
        wait_until(lambda: len(pool._workers) == 2)
        pids = [worker._process.pid for worker in pool._workers]
        time.sleep(0.2)
    assert not any(map(is_running, pids))
    assert time.monotonic() < begin + START


PARENT = """
import sys, threading, time
from layout_algebra.prover.recheck import SolverPool
with SolverPool(workers=2) as pool:
    def report():
        while not (len(pool._workers) == 2 and all(w.version for w in pool._workers)):
            time.sleep(0.02)
        time.sleep(0.3)
        print(*(w._process.pid for w in pool._workers), flush=True)
    threading.Thread(target=report, daemon=True).start()
    for answer in pool.decide_many([(i, sys.argv[1], "QF_BV") for i in range(4)], timeout=60.0):
        print("answered", answer)
"""


def hear_interrupts() -> None:
    """A shell has what it starts in the background ignore SIGINT, these tests among it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@on_linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_die_with_their_parent_while_they_think(how: signal.Signals) -> None:
    command = [sys.executable, "-c", PARENT, HARD]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hear_interrupts
    ) as parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(is_running, pids))
        parent.send_signal(how)
        parent.wait(START)
        wait_until(lambda: not any(map(is_running, pids)), SLACK)
        errors = parent.stderr.read().decode()
    if how == signal.SIGINT:
        assert errors.strip().endswith("KeyboardInterrupt")


@on_linux
def test_a_worker_ends_when_its_input_does() -> None:
    command = [sys.executable, "-P", str(recheck.WORKER), "cvc5"]
    done = subprocess.run(command, input=b"", stdout=subprocess.PIPE, timeout=START, check=True)
    assert b'"ready"' in done.stdout


@on_linux
def test_each_process_loads_one_solver_only() -> None:
    with SolverPool(workers=1) as pool:
        items = [(1, BITS, "QF_BV"), (2, SAT, "QF_LIA")]
        assert len(list(pool.decide_many(items, timeout=5.0))) == 2
        loaded = {
            worker.solver: Path(f"/proc/{worker._process.pid}/maps").read_text()
            for worker in pool._workers
        }
    for solver, maps in loaded.items():
        present = [name for name in ("z3", "cvc5", "bitwuzla") if f"/{name}" in maps]
        assert present == [solver]


@pytest.mark.parametrize("source", [recheck.__file__, str(recheck.WORKER)])
def test_the_modules_themselves_import_no_solver(source: str) -> None:
    check = f"import runpy, sys; runpy.run_path({str(source)!r}); print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert not {"z3", "cvc5", "bitwuzla"} & set(done.stdout.split())
