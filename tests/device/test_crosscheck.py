"""`crosscheck`: a ledger against code that runs on the CPU; reports; what is not checked."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from layout_algebra import Bijective, Dim, Injective, Map, S, TileLayout, cli
from layout_algebra.claims import Composition, Covers, Equivalent, LeftInverse, ReplicasDistinct
from layout_algebra.crosschecks import (
    Checked,
    Limits,
    NotCheckedError,
    Outcome,
    Ran,
    Report,
    crosscheck,
    junit_text,
    target_of,
)
from layout_algebra.crosschecks.cpu import OnCpu
from layout_algebra.crosschecks.sampling import sampled
from layout_algebra.crosschecks.statements import Statement
from layout_algebra.crosschecks.witnesses import replays
from layout_algebra.errors import LedgerError
from layout_algebra.ledger import Entry, Ledger, read_ledger, write_ledger
from layout_algebra.prover import prove
from layout_algebra.prover.records import record
from layout_algebra.prover.solve import Budget
from layout_algebra.theorems import load_theorems
from tests.theorem_files import write

TILE = TileLayout(S[(8, 64) : (64, 1)])
COLLIDING = TileLayout(S[(3, 4, 5) : (20, 7, 1)])

THEOREMS = """
declare("injective", lambda: Injective(tile))
declare("swizzled", lambda: Bijective(ComposeLayout(3, 3, 3, tile), {"m": 512}))
declare("padded", lambda: (Injective(TileLayout(S[(8, K) : (ld, 1)])), [ld >= K]))
declare("apart", lambda: Disjoint(tile, TileLayout(S[4 : 1] + 512)))
declare("colliding", lambda: Injective(TileLayout(S[(3, 4, 5) : (20, 7, 1)])),
        expect=Verdict.REFUTED)
declare("any pitch", lambda: Injective(TileLayout(S[(8, K) : (ld, 1)])), expect=Verdict.REFUTED)
declare("composed", lambda: Composition(TileLayout(S[8 : 2]), TileLayout(S[4 : 2]),
        TileLayout(S[4 : 4])))
"""


def ledger_of(path) -> Ledger:
    theorems = load_theorems([path])
    found = [record(theorem, Budget()).entry for theorem in theorems]
    entries = tuple(entry for entry in found if entry is not None)
    settings = {"rlimit": Budget().rlimit, "seconds": Budget().seconds, "most_places": 1 << 24}
    run = {"seconds": 0.0, "workers": 1, "resumed": 0}
    from layout_algebra.prover.records import tools

    return Ledger(entries, len(entries), tools(), settings, run)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ledger(here):
    found = ledger_of(write(here, THEOREMS))
    write_ledger(found, "ledger.json")
    assert [entry.verdict for entry in found.entries] == [
        *["PROVED"] * 4,
        *["REFUTED"] * 2,
        "PROVED",
    ]
    return found


@pytest.fixture
def cli_run(capsys):
    def go(*argv):
        code = cli.main([str(word) for word in argv])
        found = capsys.readouterr()
        assert "Traceback" not in found.out + found.err
        return code, found.out, found.err

    return go


def on_cpu(ledger, **limits) -> dict[str, Checked]:
    report = crosscheck(ledger, target_of("cpu", Limits(**limits)))
    return {one.name: one for one in report.checked}


def entry_of(claim, verdict, witness=None, **more) -> Statement:
    shown = None if witness is None else witness.to_json()
    entry = Entry("a", "b", "c.py", str(claim), (), verdict, verdict, witness=shown)
    return Statement(entry, claim, **more)


# -- the whole -----------------------------------------------------------------------------------
def test_proofs_are_confirmed(ledger):
    found = on_cpu(ledger)
    outcomes = {name: one.outcome for name, one in found.items()}
    assert outcomes.pop("apart") is Outcome.NOT_CHECKED
    assert set(outcomes.values()) == {Outcome.AGREES}
    assert found["swizzled"].run.elements == 512
    assert found["padded"].detail == "at 3 values of K, ld"
    assert found["any pitch"].run.verdict == "REFUTED"
    assert found["apart"].run is None
    assert "no exhaustive check of Disjoint" in found["apart"].detail


def test_a_wrong_ledger_is_contradicted(ledger):
    """Every verdict turned round: what is checked disagrees."""
    turned = {"PROVED": "REFUTED", "REFUTED": "PROVED"}
    entries = tuple(replace(e, verdict=turned[e.verdict]) for e in ledger.entries)
    found = on_cpu(replace(ledger, entries=entries))
    outcomes = {name: one.outcome for name, one in found.items()}
    assert outcomes.pop("apart") is Outcome.NOT_CHECKED
    assert outcomes.pop("padded") is Outcome.NOT_CHECKED  # no counterexample says at which sizes
    assert "records no counterexample" in found["padded"].detail
    assert set(outcomes.values()) == {Outcome.DISAGREES}
    assert "are both at" in found["colliding"].detail


def test_an_undecided_entry_is_not_checked(ledger):
    entries = tuple(replace(e, verdict="UNDECIDED") for e in ledger.entries)
    found = on_cpu(replace(ledger, entries=entries))
    assert {one.outcome for one in found.values()} == {Outcome.NOT_CHECKED}
    assert "no verdict on it but UNDECIDED" in found["injective"].detail


def test_limits_are_reasons(ledger):
    small = on_cpu(ledger, memory=100)
    assert small["swizzled"].outcome is Outcome.NOT_CHECKED
    assert "bytes" in small["swizzled"].detail
    assert "may take 100" in small["swizzled"].detail
    few = on_cpu(ledger, elements=59)
    assert few["injective"].outcome is Outcome.NOT_CHECKED
    assert "512 elements are more than the 59" in few["injective"].detail
    assert few["colliding"].outcome is Outcome.NOT_CHECKED
    assert few["colliding"].detail.endswith("its witness replays")
    assert few["composed"].outcome is Outcome.AGREES


# -- from entries to claims ----------------------------------------------------------------------
def test_a_file_that_has_changed_is_said(ledger, here):
    write(here, THEOREMS.replace("(8, 64)", "(8, 32)").replace("K) : (ld, 1)", "K) : (ld, 2)"))
    found = on_cpu(ledger)
    assert "has changed: the claim is another one now" in found["padded"].detail
    assert found["padded"].outcome is Outcome.NOT_CHECKED
    assert found["colliding"].outcome is Outcome.AGREES
    write(here, THEOREMS.replace('"padded"', '"padding"'))
    assert "states no theorem of this name now" in on_cpu(ledger)["padded"].detail


def test_a_change_that_the_text_does_not_show(here):
    """The text of a claim about an access does not have the layout; the ledger's hash does."""
    text = """
from layout_algebra.claims import ConflictDegree
sA = Buffer((64, 32), "float32", TileLayout(S[(64, 32) : (STRIDE, 1)]))
declare("read", lambda: ConflictDegree(sA.read(lambda lane: (lane, 0)), 32))
"""
    ledger = ledger_of(write(here, text.replace("STRIDE", "32")))
    assert on_cpu(ledger)["read"].outcome is Outcome.AGREES
    write(here, text.replace("STRIDE", "33"))
    assert "has changed" in on_cpu(ledger)["read"].detail


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "is not here: run this from the folder in which the ledger was made"),
        ("def broken(:\n", "cannot be loaded"),
        ("import layout_algebra_is_not_there\n", "No module named"),
        ("START = 1\n", "no theorems in"),
    ],
)
def test_a_file_that_gives_no_theorem(ledger, here, text, says):
    (here / "theorems.py").unlink()
    if text is not None:
        (here / "theorems.py").write_text(text)
    found = on_cpu(ledger)
    assert {one.outcome for one in found.values()} == {Outcome.NOT_CHECKED}
    assert says in found["injective"].detail


def test_a_claim_that_cannot_be_made(here):
    good = 'declare("a", lambda: Injective(tile))\n'
    ledger = ledger_of(write(here, good))
    write(here, 'declare("a", lambda: [][1])\n')
    assert "cannot be made here: IndexError" in on_cpu(ledger)["a"].detail


# -- sizes ---------------------------------------------------------------------------------------
def test_samples_fulfil_what_is_given():
    K, ld = Dim("K", multiple_of=8), Dim("ld", at_least=3, at_most=90)
    claim = Injective(TileLayout(S[(4, K) : (ld, 1)]))
    found = sampled(claim, (ld >= K + 2,))
    assert len(found) == 3
    for values in found:
        assert values["K"] % 8 == 0
        assert values["K"] >= 8
        assert values["K"] + 2 <= values["ld"] <= 90
    assert found == sampled(claim, (ld >= K + 2,))
    assert sampled(claim, (ld >= K + 2, K >= 200)) == []
    assert sampled(Injective(TILE)) == [{}]


def test_no_sample_is_no_pass():
    K = Dim("K", at_most=9)
    claim = Injective(TileLayout(S[(4, K) : (K, 1)]))
    with pytest.raises(NotCheckedError, match="no small values of its Dims"):
        OnCpu(Limits()).run(entry_of(claim, "PROVED", given=(K >= 10,)))


# -- recorded counterexamples --------------------------------------------------------------------
N = Dim("N")
REFUTED = {
    "injective": Injective(COLLIDING),
    "bijective": Bijective(TileLayout(S[(4, 4) : (4, 1)]), {"m": 17}),
    "covers": Covers(TileLayout(S[4:2]), {"m": 7}),
    "equivalent": Equivalent(TileLayout(S[(4, 2) : (2, 1)]), TileLayout(S[(4, 2) : (1, 4)])),
    "left inverse": LeftInverse(TileLayout(S[(4, 2) : (1, 4)]), TileLayout(S[(4, 2) : (2, 1)])),
    "any size": Equivalent(TileLayout(S[(N, 2) : (2, 1)]), TileLayout(S[(N, 2) : (1, N)])),
    "both": Injective(TILE) & Injective(COLLIDING),
}


@pytest.mark.parametrize("name", REFUTED)
def test_witnesses_replay(name):
    claim = REFUTED[name]
    proof = prove(claim)
    assert str(proof.verdict) == "REFUTED"
    statement = entry_of(claim, "REFUTED", proof.witness)
    assert replays(claim, statement.entry.witness) is True
    assert OnCpu(Limits()).run(statement).agrees
    moved = json.loads(json.dumps(statement.entry.witness))
    for point in moved["points"]:
        point.update(dict.fromkeys(point, 0))
    for place in moved["places"]:
        place.update(dict.fromkeys(place, 0))
    assert replays(claim, moved) is False
    wrong = replace(statement, entry=replace(statement.entry, witness=moved))
    ran = OnCpu(Limits()).run(wrong)
    assert (ran.agrees, ran.detail) == (False, "the recorded witness does not refute it")


def test_copies_replay():
    from layout_algebra import R

    claim = ReplicasDistinct(TileLayout(S[4:1] + R[2:0]))
    proof = prove(claim)
    assert replays(claim, proof.witness.to_json()) is True
    distinct = ReplicasDistinct(TileLayout(S[4:1] + R[2:9]))
    assert replays(distinct, proof.witness.to_json()) is False


def test_compositions_are_checked_by_what_defines_them():
    inner, outer = TileLayout(S[4:2]), TileLayout(S[8:2])
    right = Composition(outer, inner, TileLayout(S[4:4]))
    wrong = Composition(outer, inner, TileLayout(S[4:3]))
    assert OnCpu(Limits()).run(entry_of(right, "PROVED")).agrees
    assert not OnCpu(Limits()).run(entry_of(wrong, "PROVED")).agrees
    assert OnCpu(Limits()).run(entry_of(wrong & right, "REFUTED", prove(wrong).witness)).agrees


# -- reports -------------------------------------------------------------------------------------
def report_of(*outcomes: Outcome) -> Report:
    run = {Outcome.AGREES: Ran(True, "PROVED", 10, 0.5), Outcome.NOT_CHECKED: None}
    wrong = Ran(False, "REFUTED", 10, 0.5)
    return Report(
        "cpu",
        tuple(
            Checked(
                f"claim {k} \x00<&>",
                "a.py",
                "Injective(...)",
                "PROVED",
                one,
                run.get(one, wrong),
                "why\x1b",
            )
            for k, one in enumerate(outcomes)
        ),
        {"numba": "1"},
    )


def test_exit_codes():
    agrees, wrong, skipped = Outcome.AGREES, Outcome.DISAGREES, Outcome.NOT_CHECKED
    assert report_of(agrees, skipped).exit_code == 0
    assert report_of(agrees, wrong, skipped).exit_code == 1
    assert report_of(skipped).exit_code == 4


def test_junit():
    report = report_of(Outcome.AGREES, Outcome.DISAGREES, Outcome.NOT_CHECKED)
    suite = ElementTree.fromstring(junit_text(report))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [f"claim {k} \ufffd<&>" for k in range(3)]
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["skipped"]]
    assert cases[1][0].get("message") == "the proof says PROVED, the run REFUTED"
    assert cases[2][0].get("message") == "why\ufffd"


def test_json_has_what_the_table_has():
    found = report_of(Outcome.AGREES, Outcome.NOT_CHECKED).to_json()
    summary = {"entries": 2, "agrees": 1, "disagrees": 0, "not_checked": 1, "elements": 10}
    assert found["summary"] == summary
    assert found["checked"][0]["rate"] == 20
    assert found["checked"][1]["run"] == ""


# -- the command ---------------------------------------------------------------------------------
def test_the_command(ledger, here, cli_run):
    code, out, err = cli_run(
        "crosscheck", "ledger.json", "--only", "p", "--json", "r.json", "--junit", "r.xml"
    )
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("not checked  PROVED")
    assert "no exhaustive check of Disjoint" in lines[1]
    assert lines[-1].startswith("4 claims: 3 agree, 0 disagree, 1 not checked; ")
    assert json.loads((here / "r.json").read_text())["summary"]["agrees"] == 3
    assert ElementTree.parse(here / "r.xml").getroot().get("tests") == "4"


def test_disagreements_come_first(ledger, here, cli_run):
    wrong = [
        replace(e, verdict="REFUTED", expect="REFUTED") if e.name == "composed" else e
        for e in ledger.entries
    ]
    text = THEOREMS.replace(
        "TileLayout(S[4 : 4]))", "TileLayout(S[4 : 4])), expect=Verdict.REFUTED"
    )
    write(here, text)
    write_ledger(replace(ledger, entries=tuple(replace(e, content="") for e in wrong)), "l.json")
    code, out, _ = cli_run("crosscheck", "l.json")
    assert code == 1
    assert out.splitlines()[0].startswith("DISAGREES    REFUTED  PROVED")


def test_nothing_checked_is_no_success(ledger, cli_run):
    assert cli_run("crosscheck", "ledger.json", "--only", "apart")[0] == 4


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["none.json"], "no ledger at none.json"),
        (["ledger.json", "--only", "zzz"], "no entry whose name contains 'zzz'"),
        (["ledger.json", "--json", "no/such/r.json"], "there is no folder no/such"),
        (["ledger.json", "--memory", "0"], "a number from 1"),
        (["ledger.json", "--elements", "many"], "a number from 1"),
        (["ledger.json", "--target", "gpu"], "invalid choice"),
    ],
)
def test_bad_input(ledger, cli_run, argv, says):
    code, out, err = cli_run("crosscheck", *argv)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("target", ["ptx", "cuda"])
@pytest.mark.usefixtures("no_cuda_packages")
def test_what_is_missing_is_one_line(ledger, cli_run, target):
    code, out, err = cli_run("crosscheck", "ledger.json", "--target", target)
    assert (code, out) == (4, "")
    assert err.count("\n") == 1
    assert "layout-algebra[cuda]" in err


def test_it_needs_neither_z3_nor_sympy(ledger):
    """A process that cannot import them; a theorem file that asks for the prover says so."""
    code = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("z3", "sympy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "z3" else found(name, *more)
from layout_algebra.cli import main
sys.exit(main(["crosscheck", "ledger.json"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    # the file's `import *` loads the prover: nothing can be checked, and it says why
    assert done.returncode == 4, done.stderr
    assert "No module named 'z3'" in done.stdout
    text = Path("theorems.py").read_text().replace("from layout_algebra import *", _LIGHT)
    Path("theorems.py").write_text(text)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "7 claims: 6 agree, 0 disagree, 1 not checked" in done.stdout


_LIGHT = """
from layout_algebra import Bijective, ComposeLayout, Composition, Dim, Disjoint, Injective, S
from layout_algebra import TileLayout, Verdict
"""


def test_an_empty_ledger_has_nothing_to_check(ledger):
    with pytest.raises(LedgerError, match="no entry"):
        crosscheck(replace(ledger, entries=()), target_of("cpu", Limits()))


def test_a_ledger_written_and_read(ledger):
    assert {one.outcome for one in on_cpu(read_ledger("ledger.json")).values()} == {
        Outcome.AGREES,
        Outcome.NOT_CHECKED,
    }


def test_maps_without_bounds_are_not_checked():
    from layout_algebra import terms

    free = terms.var("i", 0, None)
    claim = Injective(Map((free,), (("m", free),)))
    with pytest.raises(NotCheckedError, match="bounds"):
        OnCpu(Limits()).run(entry_of(claim, "PROVED"))
