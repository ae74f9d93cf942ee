"""Mutants of PTX: one token changed, and what running every thread says of it.

    python -m tests.device.ptx_mutants 1000 1      # so many mutants, from this seed

The validator has to say PROVED of a mutant that stores the right things all the same, and REFUTED
of one that does not.  What is right is decided here, from the layout's own enumeration and
concrete.py, for every thread of every launch that is claimed and a few sizes of blocks.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from typing import NamedTuple

from layout_algebra.prover import prove
from layout_algebra.validation import PtxError, read_ptx
from layout_algebra.validation.concrete import bytes_of, run
from layout_algebra.validation.validating import BUDGET, claim_of
from layout_algebra.verdicts import Proof
from tests.device import ptx_samples

#: What a word may become.
WORDS = {
    "add": ("sub", "and", "or", "xor"),
    "sub": ("add",),
    "shl": ("shr",),
    "shr": ("shl",),
    "and": ("or", "xor"),
    "or": ("and", "xor", "add"),
    "xor": ("or", "and", "add"),
    "lo": ("hi",),
    "hi": ("lo",),
    "ge": ("gt", "lt", "le"),
    "lt": ("le", "gt", "ge"),
    "gt": ("ge", "lt"),
    "ne": ("eq",),
    "eq": ("ne",),
    "u32": ("s32", "b32", "u16", "u64"),
    "s32": ("u32", "s64"),
    "b32": ("u32", "s32", "b16", "b64"),
    "u64": ("s64", "u32", "b64"),
    "s64": ("u64",),
    "b64": ("u64", "b32"),
    "tid": ("ctaid", "ntid"),
    "ctaid": ("tid", "nctaid"),
    "ntid": ("nctaid", "tid"),
    "x": ("y",),
}
_TOKEN = re.compile(r"%?[A-Za-z]+\d*|-?\d+|!")
BLOCKS = (128, 1, 96, 1024)


class Mutant(NamedTuple):
    """A sample's name and target, the changed text, and the line before and after."""

    name: str
    target: str
    text: str
    before: str
    after: str


def mutant(rng: random.Random, names: tuple[str, ...] = ("fragment", "tile", "odd")) -> Mutant:
    """A sample with one token of its body changed."""
    name, target = rng.choice(names), rng.choice(ptx_samples.TARGETS)
    lines = ptx_samples.text(name, target).split("\n")
    start = lines.index("{")
    body = [k for k in range(start, len(lines)) if re.match(r"\s+(@|[a-z])", lines[k])]
    while True:
        k = rng.choice(body)
        token = rng.choice(list(_TOKEN.finditer(lines[k])))
        new = changed(rng, token.group())
        if new is not None and new != token.group():
            after = lines[k][: token.start()] + new + lines[k][token.end() :]
            text = "\n".join([*lines[:k], after, *lines[k + 1 :]])
            return Mutant(name, target, text, lines[k].strip(), after.strip())


def changed(rng: random.Random, token: str) -> str | None:
    """Another token of the same kind; None for one that is left alone."""
    if re.fullmatch(r"%[a-z]+\d+", token):
        stem = token.rstrip("0123456789")
        position = int(token[len(stem) :]) + rng.choice((-3, -2, -1, 1, 2, 3))
        return f"{stem}{max(1, position)}"
    if re.fullmatch(r"-?\d+", token):
        value = int(token)
        near = (value + 1, value - 1, value * 2, value ^ 1 << rng.randrange(6), -value, value // 2)
        return str(rng.choice(near))
    return rng.choice(WORDS[token]) if token in WORDS else None


def is_right(one: Mutant, rng: random.Random) -> bool:
    """Whether every thread leaves what the layout says, by running all of them."""
    kernel = ptx_samples.kernel(one.name)
    function = read_ptx(one.text, kernel.name)
    size, step = kernel.size, kernel.width // 8
    threads = size + 1023
    places = [kernel.map.apply(i) for i in range(size)]
    for block in BLOCKS:
        arrays = [(k + 1) * 2**44 + step * rng.randrange(1000) for k in range(len(kernel.outputs))]
        grid = {f"%{name}.{side}": 1 for name in ("ntid", "nctaid") for side in "yz"}
        grid |= {"%ntid.x": block, "%nctaid.x": -(-threads // block)}
        for thread in range(threads):
            registers = {**grid, "%tid.x": thread % block, "%ctaid.x": thread // block}
            wanted: dict[tuple[str, int], int] = {}
            for start, axis in zip(arrays, kernel.outputs, strict=True):
                if thread < size:
                    word = (places[thread][axis] % 2**kernel.width).to_bytes(step, "little")
                    at = start + step * thread
                    wanted |= {("global", at + k): byte for k, byte in enumerate(word)}
            if bytes_of(run(function, registers, [*arrays, size])) != wanted:
                return False
    return True


def verdict_on(one: Mutant) -> Proof | None:
    """What the validator says; None where the text is refused."""
    try:
        return prove(claim_of(ptx_samples.kernel(one.name), one.text), budget=BUDGET)
    except PtxError:
        return None


def compare(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """How many mutants got which answer, and those of which the two sides disagree."""
    rng = random.Random(seed)
    answers: Counter[str] = Counter()
    wrong: list[str] = []
    while sum(answers.values()) - answers["refused"] < count:
        one = mutant(rng)
        proof = verdict_on(one)
        if proof is None:
            answers["refused"] += 1
            continue
        right = is_right(one, rng)
        answers[f"{proof.verdict}, {'right' if right else 'wrong'}"] += 1
        if str(proof.verdict) != ("PROVED" if right else "REFUTED"):
            wrong.append(f"{one.name} {one.target}: {one.before} -> {one.after}: {proof}")
    return answers, wrong


if __name__ == "__main__":
    found, disagreements = compare(int(sys.argv[1]), int(sys.argv[2]))
    print(dict(found))
    print("\n".join(disagreements) or "no disagreement")
    sys.exit(bool(disagreements))
