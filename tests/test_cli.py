"""The command line: what it prints, its exit codes, and that no input gives a traceback."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import layout_algebra
from layout_algebra import cli
from layout_algebra.commands import check, prove
from layout_algebra.ledger import read_ledger
from layout_algebra.prover import rechecking
from layout_algebra.prover.running import run
from tests.theorem_files import (
    DIES,
    GOOD,
    RAISES,
    SLOW,
    START,
    UNDECIDED,
    VACUOUS,
    WRONG,
    without_times,
    write,
)

PROGRAM = [sys.executable, "-m", "layout_algebra"]
BAD_INPUTS = json.loads(
    (Path(__file__).parent / "data" / "bad_inputs_cli.json").read_text(encoding="utf-8")
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Prove in this process: starting others takes a second."""
    with ThreadPoolExecutor(1) as executor:
        monkeypatch.setattr(prove, "run", partial(run, executor=executor))
        yield


@pytest.fixture
def cli_run(capsys):
    """Runs a command in this process: (exit code, standard output, standard error)."""

    def go(*argv):
        code = cli.main([str(word) for word in argv])
        found = capsys.readouterr()
        assert "Traceback" not in found.out + found.err
        return code, found.out, found.err

    return go


def program(*argv, **options):
    return subprocess.run(
        [*PROGRAM, *map(str, argv)], capture_output=True, text=True, timeout=120, **options
    )


# -- the program -------------------------------------------------------------------------------
def test_version_and_help(cli_run):
    assert cli_run("--version") == (0, f"layout-algebra {layout_algebra.__version__}\n", "")
    code, out, _ = cli_run("--help")
    assert code == 0
    assert all(word in out for word in ("prove", "check", "show", "recheck", "Exit codes"))
    code, out, _ = cli_run("check", "--help")
    assert code == 0
    assert "m=8 or m=0:8" in " ".join(out.split())


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from layout_algebra.cli import main; main(['--help']);"
        "print(sorted({'z3', 'numpy', 'sympy', 'networkx', 'multiprocessing'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.endswith("[]\n")


def test_internal_errors_are_one_line(cli_run, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(check, "main", broken)
    code, out, err = cli_run("check", "S[4]", "--injective")
    assert (code, out) == (70, "")
    assert err == (
        "layout-algebra: internal error: ZeroDivisionError: division by zero; please report it "
        "(--debug shows where)\n"
    )
    with pytest.raises(ZeroDivisionError):
        cli.main(["check", "S[4]", "--injective", "--debug"])


@pytest.mark.slow
def test_no_standard_output_at_all():
    found = subprocess.run(
        [
            "sh",
            "-c",
            'exec "$0" -m layout_algebra check "S[4 : 0]" --injective >&-',
            sys.executable,
        ],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (found.returncode, found.stderr) == (1, b"")


@pytest.mark.slow
def test_a_reader_that_leaves(here):
    process = subprocess.Popen(
        [*PROGRAM, "show", "S[(32, 64) : (64, 1)]"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, b"")


@pytest.mark.parametrize("case", BAD_INPUTS, ids=lambda case: case["id"])
def test_bad_inputs(case, here, cli_run, quick):
    """Each with its exit code, what it says, and nothing on standard output."""
    for name, content in case.get("files", {}).items():
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content.replace("START\n", START), encoding="utf-8")
    for name in case.get("folders", []):
        (here / name).mkdir(parents=True)
    code, out, err = cli_run(*case["argv"])
    assert code == case.get("code", 2), err
    assert case["says"] in err
    assert err.startswith("layout-algebra")
    assert out == ""
    # one line, and two more where a text is shown with a caret under it
    assert err.count("\n") == (3 if err.rstrip("\n").endswith("^") else 1)


def test_there_are_many_bad_inputs():
    assert len(BAD_INPUTS) >= 25
    assert len({case["id"] for case in BAD_INPUTS}) == len(BAD_INPUTS)


# -- check -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ('"S[(8,64):(64,1)]" --injective', 0),
        ('"S[(8,64):(64,1)]" --injective --shape 8x64', 0),
        ('"S[(8,64):(64,1)]" --bijective-onto m=512 --within m=512 --covers m=512', 0),
        ('"S[(8,64):(64,1)]" --within-hardware', 0),
        ('"S[(8,64):(64,1)@laneid]" --within-hardware', 2),
        ('"S[64:1@laneid]" --within-hardware', 1),
        ('"S[8:1] + R[2:8]" --replicas-distinct', 0),
        ('"S[8:1] + R[2:0]" --replicas-distinct', 1),
        ('"S[(8,64):(64,1)]" --equivalent-to "S[512:1]"', 0),
        ('"S[(8,64):(64,1)]" --equivalent-to "S[512:1]" --shape 4x128', 0),
        ('"S[(8,64):(64,1)]" --equivalent-to "S[(8,64):(1,8)]"', 1),
        ('"S[8:1]" --disjoint-from "S[8:1] + 8"', 0),
        ('"S[8:1]" --disjoint-from "S[8:1] + 7"', 1),
        ('"S[(4,8):(1,4)]" --inverse-of "S[(8,4):(1,8)]"', 0),
        ('"S[(4,8):(1,4)]" --left-inverse "S[(8,4):(1,8)]" --right-inverse "S[(8,4):(1,8)]"', 0),
        ('"S[(4,8):(1,4)]" --inverse-of "S[(4,8):(1,4)]"', 1),
        ('"S[(3,4,5):(20,7,1)]" --injective', 1),
        ('"S[(3,4,5):(20,7,1)]" --injective --method structure', 3),
        ('"S[(4,4):(4,1)]" --injective --shape 2x4', 0),
        ('"S[(4,4):(1,1)]" --injective --shape 1x4', 0),
        ("'S[(8,Dim(\"K\")):(Dim(\"ld\"),1)]' --injective", 1),
        ("'S[(8,Dim(\"K\")):(Dim(\"ld\"),1)]' --injective --given 'ld >= K'", 0),
        ("'S[(8,Dim(\"K\")):(Dim(\"ld\"),1)]' --injective --given 'ld < 3' --given 'ld > 2'", 3),
        ("'S[(Dim(\"M\"),64):(64,1)]' --bijective-onto m=M*64", 0),
    ],
)  # fmt: skip
def test_check_exit_codes(cli_run, words, code):
    found = cli_run("check", *shlex.split(words))
    assert found[0] == code, found


def test_check_says_verdict_method_and_time(cli_run):
    code, out, err = cli_run(
        "check", "S[(8,64):(64,1)]", "--injective", "--bijective-onto", "m=512"
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "PROVED    injective  Injective(S[(8, 64) : (64, 1)])"
    assert re.fullmatch(r" {10}structure: sorted strides, \d+\.\d\d ms", lines[1])
    assert lines[2] == "PROVED    bijective-onto  Bijective(S[(8, 64) : (64, 1)], {m: 0..511})"


def test_check_draws_the_witness_in_the_shape(cli_run):
    code, out, _ = cli_run("check", "S[16 : 1] + R[2 : 8]", "--injective", "--shape", "2x8")
    assert code == 1
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0].startswith("REFUTED   injective  Injective((i")
    assert any(re.fullmatch(r"elements \(\d, \d\) and \(\d, \d\) are both at m = \d+", line)
               for line in lines)  # fmt: skip
    assert "m of the 2 x 8 elements (i, j), the first copy of each" in lines
    assert sum(line.count("[") for line in lines[-3:]) == 2


def test_check_shows_two_layouts_that_differ(cli_run):
    _, out, _ = cli_run("check", "S[(2,2):(2,1)]", "--equivalent-to", "S[(2,2):(1,2)]")
    assert [line[10:] for line in out.splitlines()[4:]] == [
        "m of the 2 x 2 elements (c0, c1)",
        "      c1=0  1",
        "c0=0     0  1",
        "   1   [2]  3",
        "",
        "m of the 2 x 2 elements (c0, c1)",
        "      c1=0  1",
        "c0=0     0  2",
        "   1   [1]  3",
    ]


def test_check_json(cli_run):
    code, out, _ = cli_run(
        "check", 'S[(8, Dim("K")) : (Dim("ld"), 1)]', "--injective", "--within", "m=8*ld",
        "--given", "ld >= K + 1", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert found["given"] == ["ld >= K + 1"]
    assert found["verdict"] == "PROVED"
    assert [one["asked"] for one in found["claims"]] == ["injective", "within"]
    assert set(found["claims"][0]) == {
        "asked", "claim", "verdict", "method", "seconds", "witness", "reason",
    }  # fmt: skip
    _, out, _ = cli_run("check", "S[4 : 0]", "--injective", "--json")
    witness = json.loads(out)["claims"][0]["witness"]
    assert witness["places"] == [{"m": 0}]
    assert len(witness["points"]) == 2


# -- show --------------------------------------------------------------------------------------
def test_show(cli_run):
    code, out, _ = cli_run(
        "show", "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid",
        "--shape", "8x16",
    )  # fmt: skip
    assert code == 0
    assert out.startswith(
        "S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid\n\n"
        "128 elements, 2 copies of each\n"
    )
    assert "laneid = 4*i + floor(j/2) mod 4\n" in out
    assert re.search(r"^warpid +6 +11 +thread", out, re.MULTILINE)
    assert re.search(r"^i=0 +0,5,0 +0,5,1 +1,5,0", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("notation", "drawn"),
    [
        ("S[(32, 64) : (64, 1)]", True),
        ("S[(33, 64) : (64, 1)]", False),
        ("S[(2, 65) : (65, 1)]", False),
        ("S[(2, 2, 2) : (4, 2, 1)]", False),
        ("S[8 : -1]", True),
        ("ComposeLayout(3, 3, 3, S[(8, 64) : (64, 1)])", True),
        ('S[(Dim("M"), 8) : (8, 1)]', False),
        ("S[()]", False),
        (f"S[(2, 2) : ({10**40}, 1)]", True),
    ],
)
def test_show_draws_what_is_small(cli_run, notation, drawn):
    code, out, err = cli_run("show", notation)
    assert (code, err) == (0, "")
    assert (" of the " in out) is drawn


def test_show_says_what_is_open(cli_run):
    code, out, _ = cli_run("show", 'S[(8, 8) : (Dim("s", at_least=-8), 1)]')
    assert code == 0
    assert re.search(r"^m +\? +\? +memory", out, re.MULTILINE)


def test_show_json(cli_run):
    code, out, _ = cli_run("show", "S[(8, 4) : (4@laneid, 1)]", "--shape", "4x8", "--json")
    assert code == 0
    assert json.loads(out) == {
        "notation": "S[(8, 4) : (4@laneid, 1)]",
        "size": 32,
        "copies": 1,
        "shape": [4, 8],
        "coordinates": ["i", "j"],
        "axes": [
            {"name": "laneid", "kind": "thread", "width": 29, "span": 29},
            {"name": "m", "kind": "memory", "width": 4, "span": 4},
        ],
        "formula": {"laneid": "8*i + 4*floor(j/4)", "m": "j mod 4"},
    }


# -- large layouts ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "code", "drawn"),
    [
        ('show "S[(16,16):(16,1)] + R[1048576:256]"', 0, True),
        ('show "S[8:1] + R[1073741824:1]"', 0, True),
        ('show "S[(4,2):(2,1)] + R[9223372036854775808:8]"', 0, True),
        ('show "S[(9223372036854775808,2):(2,1)]"', 0, False),
        ('show "S[(2,9223372036854775808):(1,2)]"', 0, False),
        ('check "S[8:1] + R[1073741824:1]" --injective', 1, True),
        ('check "S[8:1] + R[1073741824:1]" --injective --shape 2x4', 1, True),
        ('check "S[8:1] + R[1073741824:0]" --replicas-distinct', 1, True),
        ('check "S[8:1] + R[1073741824:1]" --within m=8', 1, True),
        ('check "S[8:1] + R[1073741824:1]" --disjoint-from "S[8:1]"', 1, True),
        (f'check "S[{10**30}:0]" --injective', 1, False),
    ],
)
def test_pictures_do_not_walk_what_they_do_not_show(cli_run, words, code, drawn):
    start = time.monotonic()
    found, out, err = cli_run(*shlex.split(words))
    assert time.monotonic() - start < 5
    assert (found, err) == (code, "")
    assert (" of the " in out) is drawn


def test_the_first_copy_is_the_one_that_is_drawn(cli_run):
    _, out, _ = cli_run("show", "S[(2,2):(2,1)] + R[4:-8] + 32")
    assert out.splitlines()[-3:] == ["      c1=0   1", "c0=0    32  33", "   1    34  35"]


# -- prove -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("parts", "code", "counts"),
    [
        ([GOOD], 0, (5, 4, 1, 0, 0)),
        ([GOOD, UNDECIDED], 3, (6, 4, 1, 0, 1)),
        ([GOOD, VACUOUS], 3, (6, 4, 1, 0, 1)),
        ([WRONG], 1, (1, 0, 0, 1, 0)),
        ([RAISES, UNDECIDED], 1, (2, 0, 0, 1, 1)),
    ],
)
def test_prove_exit_codes_and_last_line(here, cli_run, quick, parts, code, counts):
    write(here, *parts)
    n, p, r, f, u = counts
    summary = f"{n} theorems: {p} proved, {r} refuted as expected, {f} failed, {u} undecided"
    found, out, err = cli_run("prove", "theorems.py")
    assert (found, err) == (code, "")
    assert out.splitlines()[-1] == summary
    assert re.match(r"median proof \d+\.\d\d ms, slowest \d+ ms", out.splitlines()[-2])
    assert read_ledger(here / "ledger.json").count("proved") == p


def test_prove_prints_a_table_by_file(here, cli_run, quick):
    write(here / "proofs", GOOD, name="good.py")
    write(here / "proofs", WRONG, RAISES, name="wrong.py")
    _, out, _ = cli_run("prove", "proofs")
    lines = out.splitlines()
    assert lines[0] == "proofs/good.py"
    at = lines.index("proofs/wrong.py")
    shown = [line for line in lines[:at] if re.match("  (proved|refuted) ", line)]
    assert len(shown) == 5
    assert len({line.index(" ms") for line in shown}) == 1
    assert "are both at m = 21" in lines[at - 2]
    assert any(re.match(r"  FAILED +is not so +structure: zero stride", line) for line in lines)
    assert "             elements (0) and (1) are both at m = 0" in lines
    assert any("IndexError: list index out of range (proofs/wrong.py, line" in x for x in lines)
    _, out, _ = cli_run("prove", "proofs", "--verbose")
    assert 'Injective(S[(8, Dim("K")) : (Dim("ld"), 1)])  given ld >= K' in out
    assert "three strides, none of them above the reach of the others" in out


def test_prove_loads_each_file_once_and_no_hidden_ones(here, cli_run, quick):
    write(here / "proofs", GOOD)
    write(here / "proofs" / ".venv" / "lib", "not even Python")
    code, out, _ = cli_run("prove", "proofs", "proofs/theorems.py", "proofs/../proofs")
    assert code == 0
    assert out.splitlines()[-1].startswith("5 theorems: ")


def test_prove_json_is_the_ledger(here, cli_run, quick):
    write(here, GOOD)
    (here / "sub").mkdir()
    code, out, _ = cli_run("prove", "theorems.py", "--json", "--ledger", "sub/l.json")
    assert code == 0
    assert json.loads(out) == json.loads((here / "sub" / "l.json").read_text())


def test_prove_makes_no_folder_for_its_ledger(here, cli_run):
    write(here, GOOD)
    assert cli_run("prove", "theorems.py", "--ledger", "other/l.json")[0] == 2
    assert not (here / "other").exists()


def test_prove_warns_of_lemmas(here, cli_run, quick):
    rule = 'declare("rule: strides without a gap cover", lambda: Injective(tile))\n'
    write(here, GOOD, rule)
    code, out, _ = cli_run("prove", "theorems.py")
    assert code == 0
    missing = re.search(r"^warning: rules are used whose theorems are not proved here: (.*)$", out,
                        re.MULTILINE)  # fmt: skip
    assert "rule: sorted strides do not collide" in missing[1]
    assert "rule: strides without a gap cover" not in missing[1]


def test_baseline(here, cli_run, quick):
    write(here, GOOD, RAISES, 'declare("goes", lambda: Injective(tile))\n')
    cli_run("prove", "theorems.py", "--ledger", "old.json")
    write(here, GOOD.replace('"by the solver", lambda: Injective(tile)', '"by the solver", lambda: '
          'Injective(TileLayout(S[4 : 0]))'), 'declare("raises", lambda: Injective(tile))\n',
          'declare("comes", lambda: Injective(tile))\n')  # fmt: skip
    code, out, _ = cli_run("prove", "theorems.py", "--baseline", "old.json")
    assert code == 1
    lines = out.splitlines()
    at = lines.index("changed since the baseline:")
    assert lines[at + 1 : at + 5] == [
        "  WORSE: by the solver (PROVED -> REFUTED)",
        "  changed: raises (FAILED -> PROVED)",
        "  appeared: comes (PROVED)",
        "  vanished: goes (was PROVED)",
    ]
    _, out, _ = cli_run("prove", "theorems.py", "--baseline", "old.json", "--json")
    assert json.loads(out)["changes"][0] == {
        "name": "by the solver", "before": "PROVED", "after": "REFUTED", "worse": True,
    }  # fmt: skip


def test_a_baseline_that_is_as_good_changes_nothing(here, cli_run, quick):
    """Also where the old ledger's file is the new one's."""
    write(here, GOOD)
    assert cli_run("prove", "theorems.py")[0] == 0
    code, out, _ = cli_run("prove", "theorems.py", "--baseline", "ledger.json")
    assert code == 0
    assert "baseline" not in out
    write(here, GOOD.replace('method="solver"', 'method="enumeration"'), UNDECIDED)
    code, out, _ = cli_run("prove", "theorems.py", "--baseline", "ledger.json")
    assert code == 3
    assert "  appeared: too hard for structure (UNDECIDED)" in out


@pytest.mark.slow
def test_prove_as_a_program(here):
    """With processes of its own, imports from the working directory, progress and no terminal."""
    (here / "shared.py").write_text(
        "from layout_algebra import S, TileLayout\nmine = TileLayout(S[8])"
    )
    text = 'from shared import mine\ndeclare("shared", lambda: Injective(mine))\n'
    write(here / "proofs", GOOD, DIES, text)
    found = program("prove", "proofs", "--progress", "--workers", "2")
    assert found.returncode == 1
    assert found.stdout.splitlines()[-1] == (
        "7 theorems: 5 proved, 1 refuted as expected, 1 failed, 0 undecided"
    )
    assert found.stderr.count("\n") == 7
    assert sorted(re.findall(r"^\[(\d)/7\] ", found.stderr, re.MULTILINE)) == list("1234567")


# -- Ctrl-C ------------------------------------------------------------------------------------
def hear_interrupts():
    """A shell has what it starts in the background ignore SIGINT, these tests among it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize("everyone", [True, False], ids=["terminal", "process"])
def test_interrupted_and_gone_on_with(here, everyone):
    """As a terminal does it (everyone in the group is told), and as `kill` does."""
    write(here, GOOD, SLOW)
    argv = [*PROGRAM, "prove", "theorems.py", "--progress"]
    process = subprocess.Popen(
        argv,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    heard = [process.stderr.readline() for _ in range(5)]
    assert heard[-1].startswith("[5/6] ")
    start = time.monotonic()
    (os.killpg if everyone else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 10
    assert (process.returncode, out) == (130, "")
    assert err == (
        "layout-algebra: interrupted: 5 of 6 theorems are in ledger.json; "
        "the same command goes on from there\n"
    )
    partial_ledger = read_ledger(here / "ledger.json")
    assert partial_ledger.partial
    assert len(partial_ledger.entries) == 5
    write(here, GOOD, SLOW.replace("60", "0.1"))
    again = program("prove", "theorems.py")
    assert again.returncode == 0
    assert again.stdout.splitlines()[-1] == (
        "6 theorems: 5 proved, 1 refuted as expected, 0 failed, 0 undecided"
    )
    assert "; 5 taken over from an interrupted run" in again.stdout
    whole = without_times(json.loads((here / "ledger.json").read_text()))
    old = without_times(partial_ledger.to_json())
    assert whole["entries"][:5] == old["entries"]
    assert "taken over" not in program("prove", "theorems.py").stdout


# -- recheck -----------------------------------------------------------------------------------
@pytest.fixture
def ledger(here, cli_run, quick):
    write(here, GOOD)
    assert cli_run("prove", "theorems.py")[0] == 0
    return here / "ledger.json"


def test_recheck(ledger, cli_run):
    pytest.importorskip("cvc5")
    code, out, err = cli_run("recheck", ledger)
    count = len(read_ledger(ledger).queries())
    assert (code, err) == (0, "")
    assert out == (
        f"{count} queries: {count} confirmed by a second solver, 0 disagreements, 0 not confirmed\n"
    )
    code, out, _ = cli_run("recheck", ledger, "--json", "--timeout", "5")
    found = json.loads(out)
    assert (code, found["confirmed"], found["disagreements"]) == (0, count, 0)
    assert {one["outcome"] for one in found["checked"]} == {"confirmed"}


def test_a_disagreement_is_an_error(ledger, cli_run):
    pytest.importorskip("cvc5")
    text = ledger.read_text().replace('"expected": "sat"', '"expected": "unsat"')
    ledger.write_text(text)
    code, out, err = cli_run("recheck", ledger)
    assert code == 1
    assert err == "layout-algebra: error: solvers disagree on 1 queries\n"
    lines = out.splitlines()
    assert lines[0] == "DISAGREEMENT:"
    assert lines[1].startswith("  strides that collide: two elements share a place")
    assert lines[2] == "      cvc5 says sat where unsat is needed"
    assert lines[-1].endswith(" 1 disagreements, 0 not confirmed")


def test_what_is_not_confirmed_is_listed(ledger, cli_run, monkeypatch):
    pytest.importorskip("cvc5")

    class Tired(rechecking.SolverPool):
        def decide_many(self, items, timeout):
            for key, _, _ in items:
                yield key, [rechecking.Answer("cvc5", "1", "timeout", timeout, "killed after 20 s")]

    monkeypatch.setattr(rechecking, "SolverPool", Tired)
    code, out, _ = cli_run("recheck", ledger)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "not confirmed:"
    assert lines[1].startswith("  row-major is injective and 2 more: two elements share a place")
    assert lines[2] == "      cvc5: timeout (killed after 20 s)"


@pytest.mark.parametrize("change", ["missing", "other"])
def test_queries_are_those_that_the_ledger_means(ledger, cli_run, change):
    pytest.importorskip("cvc5")
    path = next((ledger.parent / "queries").iterdir())
    if change == "missing":
        path.unlink()
    else:
        path.write_text("(set-logic QF_LIA)\n(assert false)\n(check-sat)\n")
    code, out, err = cli_run("recheck", ledger)
    assert (code, out) == (2, "")
    assert path.name in err
    assert ("No such file" if change == "missing" else "another text than its name says") in err


def test_no_second_solver(ledger, cli_run, monkeypatch):
    monkeypatch.setattr("layout_algebra.prover.recheck.installed", tuple)
    code, out, err = cli_run("recheck", ledger)
    assert (code, out) == (4, "")
    assert "pip install 'layout-algebra[recheck]'" in err
