"""Runs: theorems that are fine, that fail, that end their process; Ctrl-C, and going on."""

import json
import os
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import pytest
import z3

from layout_algebra import S, TileLayout
from layout_algebra.claims import Injective
from layout_algebra.errors import ClaimError, LedgerError
from layout_algebra.ledger import read_ledger, write_ledger
from layout_algebra.prover import records, running
from layout_algebra.prover.running import RunInterrupted, run
from layout_algebra.prover.solve import Budget, replay
from layout_algebra.theorems import Theorem, load_theorems
from layout_algebra.verdicts import Proof, Query, Step, Verdict
from tests.theorem_files import DIES, GOOD, RAISES, SLOW, VACUOUS, WRONG, without_times, write

UNSAT = "(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (< x x))\n(check-sat)\n"
SAT = "(set-logic QF_LIA)\n(declare-fun x () Int)\n(assert (< x 3))\n(check-sat)\n"
#: No solver ends this in two steps.
HARD = """(set-logic QF_NIA)
(declare-fun x () Int)(declare-fun y () Int)(declare-fun z () Int)
(assert (and (> x 1) (> y 1) (> z 1)))
(assert (= (+ (* x x x) (* y y y) (* z z z)) (* 3 x y z 7919)))
(check-sat)
"""


@pytest.fixture
def executor():
    with ThreadPoolExecutor(2) as executor:
        yield executor


def by_name(ledger):
    return {entry.name: entry for entry in ledger.entries}


def proof_with(*queries, verdict=Verdict.PROVED, parts=()):
    claim = Injective(TileLayout(S[4:1]))
    step = Step("a rule", make_queries=lambda: queries)
    return Proof(claim, verdict, "a method", steps=(step,), parts=parts)


def query(smt2, result=None, logic="QF_LIA"):
    return Query("a question", logic, smt2, result)


# -- one theorem -------------------------------------------------------------------------------
def test_entries_say_what_was_proved(tmp_path, executor):
    path = write(tmp_path, GOOD)
    found = by_name(run(load_theorems([path]), executor=executor))
    assert [entry.standing for entry in found.values()] == ["proved"] * 4 + ["refuted"]
    padded = found["padded, for all ld"]
    assert padded.given == ("ld >= K",)
    assert padded.claim.startswith("Injective(S[(8, Dim")
    assert padded.steps[0].rule == "sorted strides"
    assert padded.steps[0].lemmas == ("rule: sorted strides do not collide",)
    collides = found["strides that collide"]
    assert collides.witness["summary"].endswith("are both at m = 21")
    assert collides.note.startswith("three strides")
    assert found["by the solver"].method == "solver: QF_LIA"


def test_queries_by_structure_are_run(tmp_path, executor):
    path = write(tmp_path, GOOD)
    for entry in run(load_theorems([path]), executor=executor).entries:
        assert entry.queries
        wanted = "unsat" if entry.standing == "proved" else "sat"
        assert {(q.expected, q.result) for q in entry.queries} == {(wanted, wanted)}


def test_theorems_that_raise_fail_in_one_line(tmp_path, executor):
    odd = 'declare("no claim", lambda: 3)\ndeclare("lines", lambda: int("""a\nb"""))\n'
    path = write(tmp_path, RAISES, odd, WRONG, VACUOUS)
    found = by_name(run(load_theorems([path]), executor=executor))
    line = path.read_text().splitlines().index(RAISES.strip()) + 1
    assert found["raises"].verdict == "FAILED"
    assert found["raises"].reason == (
        f"IndexError: list index out of range ({path.as_posix()}, line {line})"
    )
    assert found["no claim"].reason == "ClaimError: theorem 'no claim' returns no claim but 3"
    assert "\n" not in found["lines"].reason
    assert found["is not so"].standing == "failed"
    assert found["is not so"].verdict == "REFUTED"
    assert found["from nothing"].verdict == "VACUOUS"


def test_a_rule_that_is_wrong_is_found_out(tmp_path, executor, monkeypatch):
    """A proof whose query has an answer is no proof, whatever the rule says."""
    monkeypatch.setattr(records, "prove", lambda *_, **__: proof_with(query(UNSAT), query(SAT)))
    (entry,) = run(load_theorems([write(tmp_path, WRONG)]), executor=executor).entries
    assert (entry.verdict, entry.standing) == ("FAILED", "failed")
    assert entry.reason == "PROVED, but 'a question' is sat where the verdict needs unsat"
    assert [q.result for q in entry.queries] == ["unsat", "sat"]


@pytest.mark.parametrize(
    ("proof", "expected"),
    [
        (proof_with(query(UNSAT), query(SAT, "unsat")), ["unsat", "unsat"]),
        (proof_with(query(UNSAT, "unsat"), query(SAT, "sat"), verdict=Verdict.REFUTED),
         ["unsat", "sat"]),
        (proof_with(query(SAT), verdict=Verdict.REFUTED), [None]),
        (proof_with(query(HARD, "unknown"), verdict=Verdict.UNDECIDED), [None]),
        (proof_with(query(SAT, "sat"), verdict=Verdict.REFUTED, parts=(proof_with(query(UNSAT)),)),
         ["sat", "unsat"]),
        (proof_with(query(UNSAT), verdict=Verdict.REFUTED, parts=(proof_with(query(UNSAT)),)),
         ["unsat"]),
    ],
)  # fmt: skip
def test_what_is_expected_of_queries(tmp_path, executor, monkeypatch, proof, expected):
    """In a proof, and in the proved parts of what is refuted, "unsat"; else what was found."""
    monkeypatch.setattr(records, "prove", lambda *_, **__: proof)
    path = write(tmp_path, 'declare("one", lambda: Injective(tile))')
    (entry,) = run(load_theorems([path]), executor=executor).entries
    assert [q.expected for q in entry.queries] == expected


def test_unknown_is_recorded(tmp_path, executor, monkeypatch):
    monkeypatch.setattr(records, "prove", lambda *_, **__: proof_with(query(HARD, logic="QF_NIA")))
    path = write(tmp_path, 'declare("one", lambda: Injective(tile))')
    (entry,) = run(load_theorems([path]), executor=executor, budget=Budget(1000, 0.2)).entries
    assert entry.standing == "proved"
    assert [(q.expected, q.result, q.wanted) for q in entry.queries] == [
        ("unsat", "unknown", "unsat")
    ]


def test_ctrl_c_is_no_answer(monkeypatch):
    """Z3 catches it and says unknown."""
    monkeypatch.setattr(z3.Solver, "check", lambda _: z3.unknown)
    monkeypatch.setattr(z3.Solver, "reason_unknown", lambda _: "interrupted from keyboard")
    with pytest.raises(KeyboardInterrupt):
        replay(query(UNSAT), Budget())


# -- many theorems -----------------------------------------------------------------------------
def test_the_same_theorems_give_the_same_ledger(tmp_path):
    """However they are spread, and whatever was proven before in the same process."""
    first = load_theorems([write(tmp_path, GOOD, WRONG, RAISES)])
    many = """for n in range(2, 9):
    other = TileLayout(S[(3, 4, n) : (20, 7, n)])
    declare(f"{n}", lambda other=other: Injective(other), method="solver")
"""
    more = write(tmp_path, many, name="more.py")
    ledgers = []
    for theorems, workers in ((first, 1), ([*load_theorems([more]), *first], 2)):
        with ThreadPoolExecutor(workers) as executor:
            ledgers.append(run(theorems, executor=executor, ledger_path=tmp_path / "l.json"))
    one, two = (without_times(ledger.to_json())["entries"] for ledger in ledgers)
    assert one == two[-len(one) :]


def test_progress_counts_up(tmp_path, executor):
    seen = []
    theorems = load_theorems([write(tmp_path, GOOD)])
    run(theorems, executor=executor, progress=lambda *found: seen.append(found))
    assert [done for done, _, _ in seen] == [1, 2, 3, 4, 5]
    assert {total for _, total, _ in seen} == {5}
    assert {entry.name for _, _, entry in seen} == {theorem.name for theorem in theorems}


def test_theorems_need_a_file_and_runs_a_worker(tmp_path, executor):
    lonely = Theorem("lonely", "nowhere", lambda: Injective(TileLayout(S[4:1])))
    with pytest.raises(ClaimError, match="theorem 'lonely' is in no file"):
        run([lonely], executor=executor)
    with pytest.raises(ClaimError, match="workers is at least 1; got 0"):
        run([], workers=0)


def test_a_file_that_changed_meanwhile(tmp_path, executor):
    path = write(tmp_path, GOOD, WRONG)
    theorems = load_theorems([path])
    write(tmp_path, GOOD)
    found = by_name(run(theorems, executor=executor))
    assert found["is not so"].reason == "its file states it no longer"
    assert found["by the solver"].ok


class Broken(Executor):
    """Does a few tasks, and then breaks."""

    def __init__(self, good):
        self.good = good

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        self.good -= 1
        if self.good < -1:
            raise BrokenExecutor("no more")
        if self.good < 0:
            future.set_exception(BrokenExecutor("broken"))
        else:
            future.set_result(function(*args, **kwargs))
        return future


@pytest.mark.parametrize("good", [0, 1, 3])
def test_an_executor_that_breaks_leaves_failures(tmp_path, good):
    ledger = run(load_theorems([write(tmp_path, GOOD)]), executor=Broken(good), workers=1)
    assert not ledger.partial
    assert sum(entry.ok for entry in ledger.entries) == good
    assert {entry.reason for entry in ledger.entries if not entry.ok} == {
        "the executor broke before it was proven"
    }


# -- processes ---------------------------------------------------------------------------------
@pytest.mark.slow
def test_processes_that_die_take_only_their_theorem_with_them(tmp_path, capfd):
    noisy = 'print("noise")\ndeclare("says something", lambda: print("noise") or Injective(tile))\n'
    path = write(tmp_path, DIES, noisy, GOOD)
    theorems = load_theorems([path])
    capfd.readouterr()
    ledger = run(theorems, workers=2, ledger_path=tmp_path / "ledger.json")
    found = by_name(ledger)
    assert found.pop("dies").reason == "its process died twice (or was ended after 300 s)"
    assert all(entry.ok for entry in found.values())
    assert read_ledger(tmp_path / "ledger.json") == ledger
    assert "noise" not in capfd.readouterr().out


@pytest.mark.slow
def test_a_theorem_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "MOST_SECONDS", 0.3)
    path = write(tmp_path, SLOW, "declare('fine', lambda: Injective(tile))")
    found = by_name(run(load_theorems([path]), workers=1))
    assert found["takes its time"].reason == "its process died twice (or was ended after 0.3 s)"
    assert found["fine"].ok


# -- going on ----------------------------------------------------------------------------------
def interrupted(theorems, path, after):
    """The partial ledger of a run that is interrupted after some theorems."""

    def progress(done, _total, _entry):
        if done == after:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as executor, pytest.raises(RunInterrupted) as stop:
        run(theorems, executor=executor, workers=1, ledger_path=path, progress=progress)
    assert read_ledger(path) == stop.value.ledger
    assert stop.value.ledger.partial
    return stop.value.ledger


def test_a_run_goes_on_from_a_partial_ledger(tmp_path, executor):
    theorems = load_theorems([write(tmp_path, GOOD, RAISES)])
    path = tmp_path / "ledger.json"
    assert len(interrupted(theorems, path, 3).entries) == 3
    whole = run(theorems, executor=executor, ledger_path=path)
    assert whole.run["resumed"] == 3
    assert not whole.partial
    fresh = run(theorems, executor=executor, ledger_path=tmp_path / "fresh.json")
    assert without_times(whole.to_json()) == without_times(fresh.to_json())


def test_a_complete_ledger_is_proven_anew(tmp_path, executor):
    theorems = load_theorems([write(tmp_path, GOOD)])
    path = tmp_path / "ledger.json"
    for _ in range(2):
        assert run(theorems, executor=executor, ledger_path=path).run["resumed"] == 0


@pytest.mark.parametrize("changed", ["claim", "range", "limits", "query", "fresh", "failed"])
def test_what_is_not_taken_over(tmp_path, executor, changed):
    """Of three entries one is no longer good: only the others are taken over."""
    line = "declare('{0}', lambda: Injective(Map.of(lambda x: x * {0}, ({1},))))\n"
    lines = [line.format(n, 8) for n in range(1, 5)]
    path = tmp_path / "ledger.json"
    old = interrupted(load_theorems([write(tmp_path, *lines)]), path, 3)
    resume, budget = changed != "fresh", Budget()
    match changed:
        case "claim":
            lines[1] = lines[1].replace("x * 2", "x * 7")
        case "range":  # of the same text: claims are known by their structure
            lines[1] = line.format(2, 9)
        case "limits":
            budget = Budget(rlimit=10_000)
        case "query":
            (tmp_path / old.entries[1].queries[0].file).unlink()
        case "failed":
            data = json.loads(path.read_text())
            data["entries"][1] |= {"verdict": "FAILED", "ok": False}
            data["summary"] |= {"proved": 2, "failed": 1}
            path.write_text(json.dumps(data))
    again = load_theorems([write(tmp_path, *lines, name=f"{changed}.py")])
    whole = run(again, executor=executor, ledger_path=path, resume=resume, budget=budget)
    assert whole.run["resumed"] == (0 if changed in ("fresh", "limits") else 2)
    assert whole.count("proved") == 4
    assert all((tmp_path / query.file).exists() for query in whole.queries().values())


def test_other_files_are_not_overwritten(tmp_path, executor):
    theorems = load_theorems([write(tmp_path, GOOD)])
    path = tmp_path / "precious.json"
    path.write_text('{"precious": true}')
    with pytest.raises(LedgerError, match="remove it, or name another file for the new ledger"):
        run(theorems, executor=executor, ledger_path=path, resume=False)
    assert path.read_text() == '{"precious": true}'


def test_long_runs_save_on_the_way(tmp_path, executor, monkeypatch):
    monkeypatch.setattr(running, "SAVE_EVERY", 0.0)
    saved = []
    monkeypatch.setattr(
        running, "write_ledger", lambda one, path: saved.append(one) or write_ledger(one, path)
    )
    run(load_theorems([write(tmp_path, GOOD)]), executor=executor, ledger_path=tmp_path / "l.json")
    assert [one.partial for one in saved] == [True] * 4 + [False]


def test_a_file_is_read_as_it_is_now(tmp_path, monkeypatch):
    """Not from bytecode of a text of the same length and time."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    path = write(tmp_path, GOOD)
    os.utime(path, (1, 1))
    first = load_theorems([path])
    path.write_text(path.read_text().replace(first[0].name, first[0].name[:-1] + "Z"))
    os.utime(path, (1, 1))
    assert load_theorems([path])[0].name == first[0].name[:-1] + "Z"
