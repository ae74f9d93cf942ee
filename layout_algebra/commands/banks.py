"""`banks`: how a warp's access to shared memory is served, for every position and base address.

    layout-algebra banks "S[(128,64):(64,1)]" --access column --dtype f16 --bytes 16

The verdict is about all values of the free variables; the table shows one of them: the
counterexample's, or the first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from layout_algebra.claims import BankConflictFree, ConflictDegree, Vectorizable
from layout_algebra.memory import (
    CDNA3,
    CDNA4,
    NVIDIA,
    NVIDIA_WHOLE_WARP,
    Access,
    Buffer,
    MemoryTarget,
    Service,
)
from layout_algebra.memory.banks import points, service_at
from layout_algebra.memory.spelled import access_of
from layout_algebra.parsing import parse, parse_shape
from layout_algebra.prover import prove
from layout_algebra.verdicts import Proof, Verdict

TARGETS = {
    "nvidia": NVIDIA,
    "nvidia-whole-warp": NVIDIA_WHOLE_WARP,
    "cdna3": CDNA3,
    "cdna4": CDNA4,
}


def main(arguments: argparse.Namespace) -> int:
    layout = parse(arguments.notation)
    shape = layout.extents if arguments.shape is None else parse_shape(arguments.shape)
    buffer = Buffer(tuple(shape), arguments.dtype, layout, "shared", arguments.align or 0)
    size = arguments.bytes if arguments.bytes is not None else max(1, buffer.bits // 8)
    if arguments.align is None and size & (size - 1) == 0:  # an access is aligned to its size
        buffer = Buffer(tuple(shape), arguments.dtype, layout, "shared", max(size, buffer.align))
    access = access_of(buffer, arguments.access, size, arguments.kind)
    target = TARGETS[arguments.target]
    proofs = [prove(BankConflictFree(access, target=target)), prove(Vectorizable(access))]
    service, base = _shown(access, target, proofs[0])
    degree = prove(ConflictDegree(access, max(1, service.degree), target=target))
    if proofs[0].verdict is Verdict.REFUTED and proofs[1].verdict is Verdict.PROVED:
        proofs.append(degree)
    if arguments.json:
        print(json.dumps(_json(access, service, proofs), indent=1))
    else:
        print("\n".join(_text(access, service, base, proofs)))
    worst = min(proof.verdict for proof in proofs)
    return 0 if worst is Verdict.PROVED else 1 if worst is Verdict.REFUTED else 3


def _shown(access: Access, target: MemoryTarget, proof: Proof) -> tuple[Service, int]:
    """What is drawn, where there is a conflict if there is one; and its base in bytes."""
    first = next(points(access))
    if proof.witness is not None and proof.witness.points:
        values = proof.witness.points[0]
        for free in access.free:
            first[free.variable] = values.get(free.name, 0) // free.multiple
    bases = range(0, target.banks * target.bank_bytes, access.align)
    shown = service_at(access, target, 0, first)
    if proof.verdict is Verdict.REFUTED:  # the first base at which there is a conflict
        found = ((service_at(access, target, 8 * base, first), base) for base in bases)
        return next((one for one in found if one[0].degree > 1), (shown, 0))
    return shown, 0


def table(service: Service) -> list[str]:
    """Lanes and banks: # a word, ! a word in a bank that has to give several in this phase."""
    banks = service.target.banks
    rule = "".join(str(bank // 10) if bank % 10 == 0 else " " for bank in range(banks))
    lines = [f"bank     {rule}", f"         {''.join(str(b % 10) for b in range(banks))}"]
    for number, phase in enumerate(service.phases):
        if len(service.phases) > 1:
            lines.append(f"phase {number}, degree {phase.degree}")
        for lane in phase.lanes:
            marks = ["."] * banks
            for bank, words in phase.words.items():
                if any(lane in lanes for lanes in words.values()):
                    marks[bank] = "!" if len(words) > 1 else "#"
            lines.append(f"lane {lane:2}  {''.join(marks)}")
    return lines


def _text(access: Access, service: Service, base: int, proofs: Sequence[Proof]) -> list[str]:
    lines = [str(access)]
    for proof in proofs:
        name = str(proof.claim).split("(", 1)[0]
        at_most = getattr(proof.claim, "at_most", None)
        label = name if at_most is None else f"{name}, at most {at_most}"
        lines.append(f"{proof.verdict}  {label}  [{proof.method}, {proof.seconds * 1e3:.1f} ms]")
        lines += [
            f"  {text}" for text in (proof.witness and proof.witness.summary, proof.reason) if text
        ]
    where = f" (base = {base})" if base else ""
    lines.append(
        f"{service.wavefronts} wavefronts here{where}, at least {service.least} for these words; "
        f"{service.target.name}"
    )
    return [*lines, *table(service)]


def _json(access: Access, service: Service, proofs: Sequence[Proof]) -> dict[str, Any]:
    return {
        "access": str(access),
        "target": service.target.name,
        "verdicts": [
            {
                "claim": str(proof.claim),
                "verdict": str(proof.verdict),
                "method": proof.method,
                "seconds": proof.seconds,
                "witness": proof.witness.to_json() if proof.witness is not None else None,
            }
            for proof in proofs
        ],
        "wavefronts": service.wavefronts,
        "least": service.least,
        "degree": service.degree,
    }
