"""`check`: properties of one layout, proved or refuted.

The claims are proven of the layout itself, whatever shape is given: a shape of the same size only
names the elements.  A counterexample is then looked for once more in the coordinates of the shape,
and drawn where the layout is small.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from layout_algebra.claims import (
    Bijective,
    Claim,
    Covers,
    Disjoint,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    ReplicasDistinct,
    RightInverse,
    Subject,
    WithinBounds,
)
from layout_algebra.commands.drawing import grid, witness_lines
from layout_algebra.commands.show import dims_of
from layout_algebra.dims import Relation, Size
from layout_algebra.errors import ClaimError
from layout_algebra.grammar import Layout
from layout_algebra.parsing import parse, parse_box, parse_relation, parse_shape
from layout_algebra.prover import prove
from layout_algebra.verdicts import Proof, Verdict

_ALONE: dict[str, Callable[[Any], Claim]] = {
    "--injective": Injective,
    "--replicas-distinct": ReplicasDistinct,
    "--within-hardware": WithinBounds,
}
_BOXED: dict[str, Callable[[Any, Any], Claim]] = {
    "--covers": Covers,
    "--bijective-onto": Bijective,
    "--within": WithinBounds,
}
#: Claims about two layouts; the second is shaped as the first where that says the same elements.
_PAIRED: dict[str, Callable[[Any, Any], Claim]] = {
    "--equivalent-to": Equivalent,
    "--disjoint-from": Disjoint,
    "--inverse-of": Inverse,
    "--left-inverse": LeftInverse,
    "--right-inverse": RightInverse,
}
_SHAPED = ("--equivalent-to", "--disjoint-from")


@dataclass(frozen=True)
class Asked:
    """One claim of the command line: of the layout, and of its map over the shape."""

    flag: str
    claim: Claim
    shaped: Claim | None


def main(arguments: argparse.Namespace) -> int:
    layout = parse(arguments.notation)
    if not arguments.claims:
        raise ClaimError(
            "check needs a claim, such as --injective (see layout-algebra check --help)"
        )
    others = {text: parse(text) for flag, text in arguments.claims if flag in _PAIRED}
    dims = dims_of(layout, *others.values())
    shape = None if arguments.shape is None else parse_shape(arguments.shape, dims)
    given = tuple(parse_relation(text, dims) for text in arguments.given)
    asked = [
        _asked(flag, value if flag not in _PAIRED else others[value], layout, shape, dims)
        for flag, value in arguments.claims
    ]
    proofs = [_proof(one, given, arguments.method) for one in asked]
    worst = min(proof.verdict for proof in proofs)
    if arguments.json:
        print(json.dumps(_json(layout, given, asked, proofs), indent=1))
    else:
        for one, proof in zip(asked, proofs, strict=True):
            print("\n".join(_text(one, proof)))
    if worst is Verdict.PROVED:
        return 0
    return 1 if worst is Verdict.REFUTED else 3


def _asked(flag: str, value: Any, layout: Layout, shape: Sequence[Size] | None, dims: Any) -> Asked:
    def claim(f: Subject, g: Subject | None = None) -> Claim:
        if flag in _ALONE:
            return _ALONE[flag](f)
        return _BOXED[flag](f, box) if flag in _BOXED else _PAIRED[flag](f, g)

    box = parse_box(value, dims) if flag in _BOXED else None
    other = value if flag in _PAIRED else None
    if shape is None:
        return Asked(flag, claim(layout, other), None)
    shaped = claim(
        layout.map(shape), other.map(shape) if flag in _SHAPED and other is not None else other
    )
    whole = all(one.size() == layout.map(shape).size for one in (layout, other) if one is not None)
    return Asked(flag, claim(layout, other) if whole else shaped, shaped)


def _proof(asked: Asked, given: tuple[Relation, ...], method: Any) -> Proof:
    proof = prove(asked.claim, given=given, method=method)
    if proof.verdict is Verdict.REFUTED and asked.shaped not in (None, asked.claim):
        again = prove(asked.shaped, given=given, method=method)  # type: ignore[arg-type]
        return again if again.verdict is Verdict.REFUTED else proof
    return proof


def _text(asked: Asked, proof: Proof) -> list[str]:
    time = f"{proof.seconds * 1e3:.2f} ms"
    lines = [
        f"{proof.verdict!s:9} {asked.flag[2:]}  {proof.claim}",
        f"{'':9} {proof.method}, {time}",
    ]
    if proof.reason:
        lines.append(f"{'':9} {proof.reason}")
    if proof.witness is not None:
        lines += [f"{'':9} {line}" for line in witness_lines(proof.witness.to_json())]
        lines += [f"{'':9} {line}".rstrip() for line in _picture(proof)]
    return lines


def _picture(proof: Proof) -> list[str]:
    """The layouts' places, with the elements of the counterexample in brackets."""
    claim = cast(Claim, proof.claim)
    if proof.witness is None or isinstance(claim, Inverse | RightInverse):
        return []  # whose counterexample may be about either of the two
    maps, points = claim.maps(), proof.witness.points
    shares = [points] if len(maps) == 1 else [[point] for point in points]
    lines: list[str] = []
    for f, share in zip(maps, shares, strict=False):
        names = [variable.name for variable in f.coordinates]
        marked = {tuple(p[name] for name in names) for p in share if set(names) <= set(p)}
        picture = grid(f, marked) if marked else []
        lines += ["", *picture] if picture else []
    return lines


def _json(
    layout: Layout, given: Sequence[Relation], asked: Sequence[Asked], proofs: Sequence[Proof]
) -> dict[str, Any]:
    return {
        "layout": str(layout),
        "given": [str(one) for one in given],
        "verdict": str(min(proof.verdict for proof in proofs)),
        "claims": [
            {
                "asked": one.flag[2:],
                "claim": str(proof.claim),
                "verdict": str(proof.verdict),
                "method": proof.method,
                "seconds": round(proof.seconds, 6),
                "witness": None if proof.witness is None else proof.witness.to_json(),
                "reason": proof.reason,
            }
            for one, proof in zip(asked, proofs, strict=True)
        ],
    }
