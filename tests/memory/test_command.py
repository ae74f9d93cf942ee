"""`layout-algebra banks` says what the claims say, and draws it."""

from __future__ import annotations

import json

import pytest

from layout_algebra import BankConflictFree, Buffer, Dim, Verdict, parse, prove
from layout_algebra.cli import main

PLAIN = "S[(128,64):(64,1)]"
SWIZZLED = "ComposeLayout(3, 3, 3, S[(128,64):(64,1)])"


@pytest.mark.parametrize(("notation", "code"), [(PLAIN, 1), (SWIZZLED, 0)])
def test_a_column_as_the_api_says(notation, code, capsys):
    arguments = ["banks", notation, "--access", "column", "--dtype", "f16", "--bytes", "16"]
    assert main(arguments) == code
    text = capsys.readouterr().out
    buffer = Buffer((128, 64), "float16", parse(notation), align=16)
    free = Dim("column", multiple_of=8, at_most=56)
    access = buffer.read(lambda lane, j: (lane, j), bytes=16, free=[free])
    proof = prove(BankConflictFree(access))
    assert (proof.verdict is Verdict.PROVED) == (code == 0)
    assert f"{proof.verdict}  BankConflictFree" in text
    assert ("!" in text) == (code == 1)
    assert main([*arguments, "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["verdicts"][0]["verdict"] == str(proof.verdict)
    assert (told["degree"], told["wavefronts"], told["least"]) == (
        (8, 32, 4) if code else (1, 4, 4)
    )


def test_lanes_and_banks_are_drawn(capsys):
    main(["banks", "S[(4,4):(32,1)]", "--access", "lane % 4, lane // 4 % 4", "--dtype", "float32"])
    lines = capsys.readouterr().out.splitlines()
    drawn = {line[:7]: line[9:] for line in lines if line.startswith("lane ")}
    assert drawn["lane  5"] == "." + "!" + "." * 30
    assert len(drawn) == 32


@pytest.mark.parametrize(
    ("notation", "formula"),
    [("S[1024:1]", "lane * 2"), ("S[(4,8,64):(512,64,1)]", "lane // 8, lane % 8, 0")],
)
def test_a_formula_has_a_coordinate_for_each_dimension(notation, formula, capsys):
    given = ["--dtype", "float32", "--bytes", "4", "--json"]
    assert main(["banks", notation, "--access", formula, *given]) == 1
    degree = json.loads(capsys.readouterr().out)["degree"]
    # words 0, 2, .. 62: two to a bank; words 0, 64, ..: all in bank 0
    assert degree == (2 if "*" in formula else 32)
    assert main(["banks", notation, "--access", formula + ", 0", *given]) == 2
    assert "coordinates for a shape of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--access", "foo(lane)"], "coordinates for a shape of 2 dimensions"),
        (["--access", "foo(lane), 0"], "arithmetic on lane and integers"),
        (["--access", "lane * 8, 0"], "some lane goes after it"),
        (["--dtype", "float17x"], "no element type"),
        (["--bytes", "3"], "whole elements of 16 bits"),
        (["--shape", "8x8"], "elements"),
    ],
)
def test_wrong_arguments(arguments, message, capsys):
    assert main(["banks", PLAIN, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_conflict_at_some_bases_only_is_drawn_at_one_of_them(capsys):
    assert main(["banks", "S[(32,32):(33,1)]", "--access", "column", "--dtype", "half"]) == 1
    text = capsys.readouterr().out
    assert "base = 2" in text
    assert "!" in text
    assert "2 wavefronts here (base = 2)" in text
    assert "PROVED  ConflictDegree, at most 2" in text
