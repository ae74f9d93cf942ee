"""Counterexamples to claims about accesses, played again on plain numbers.

    assert replay(claim, proof.witness, plain) == ""        # or what is wrong with it

The witness' numbers are all that is taken from the package.  A base address other than 0 is only
in the summary's words.
"""

from __future__ import annotations

import re

from layout_algebra.claims import (
    BankConflictFree,
    Claim,
    Coalesced,
    ConflictDegree,
    NoWriteRace,
    Vectorizable,
    Wavefronts,
)
from layout_algebra.verdicts import Witness
from tests.memory.enumerated import BANKS, WORD_BITS, Accessed


def replay(claim: Claim, witness: Witness, plain: Accessed) -> str:
    """What is wrong with a counterexample; empty when it is one."""
    found = re.search(r"base = (\d+)", witness.summary)
    base = 8 * int(found[1]) if found else 0
    if base % (8 * plain.align):
        return f"base {base // 8} is not aligned to {plain.align}"
    values = {one.name: witness.points[0][one.name] for one in plain.free}
    if values not in list(plain.points()):
        return f"the free variables have no such values: {values}"
    for point in witness.points:
        if any(point[name] != value for name, value in values.items()):
            return "its points differ in a free variable"
        if "lane" in point and point["lane"] not in plain.firsts(values):
            return f"lane {point['lane']} is not active"
    if "not aligned" in witness.summary:
        return _misaligned(witness, plain, values, base)
    match claim:
        case BankConflictFree():
            return _crowded(witness, plain, values, base, 1)
        case ConflictDegree():
            return _crowded(witness, plain, values, base, claim.at_most)
        case Wavefronts():
            return _wavefronts(witness, plain, values, base, claim.at_most)
        case Coalesced():
            return _sectors(witness, plain, values, base, claim.sectors)
        case Vectorizable():
            return _scattered(witness, plain, values)
        case NoWriteRace():
            return _race(witness, plain, values, base)
    return f"no replay for {claim}"


def _misaligned(witness: Witness, plain: Accessed, values: dict[str, int], base: int) -> str:
    bit = plain.firsts(values)[witness.points[0]["lane"]] + base
    if not plain.has_alignment or bit % plain.width == 0:
        return f"bit {bit} is a multiple of the width {plain.width}"
    told = witness.places[0]["byte"]
    return "" if told == bit // 8 else f"the lane is at byte {bit // 8}, not {told}"


def _crowded(
    witness: Witness, plain: Accessed, values: dict[str, int], base: int, most: int
) -> str:
    lanes = [point["lane"] for point in witness.points]
    words = [place["word"] for place in witness.places]
    bank = witness.places[0]["bank"]
    if len(lanes) != len(words) or len(set(words)) != len(words) or len(words) <= most:
        return f"{len(set(words))} different words of {len(lanes)} lanes, more than {most} claimed"
    if not any(set(lanes) <= set(phase) for phase in plain.phases()):
        return f"lanes {lanes} are not of one phase"
    for lane, word, place in zip(lanes, words, witness.places, strict=True):
        first = plain.firsts(values)[lane] + base
        if not first // WORD_BITS <= word <= (first + plain.width - 1) // WORD_BITS:
            return f"lane {lane} does not touch word {word}"
        if place["bank"] != bank or word % BANKS != bank:
            return f"word {word} is not in bank {bank}"
    return ""


def _wavefronts(
    witness: Witness, plain: Accessed, values: dict[str, int], base: int, most: int
) -> str:
    degrees = plain.degrees(values, base)
    total, *told = map(int, re.findall(r"\d+", witness.summary.split(" (at ")[0]))
    if total != sum(degrees) or total <= most:
        return f"{sum(degrees)} wavefronts; told {total}, at most {most} claimed"
    used = [degree for degree in degrees if degree]
    return "" if told == used else f"phases take {used}; told {told}"


def _sectors(
    witness: Witness, plain: Accessed, values: dict[str, int], base: int, most: int
) -> str:
    touched = plain.sectors_at(values, base)
    told = int(re.findall(r"touch (\d+) sectors", witness.summary)[0])
    if told != len(touched) or told <= most:
        return f"{len(touched)} sectors; told {told}, at most {most} claimed"
    return ""


def _scattered(witness: Witness, plain: Accessed, values: dict[str, int]) -> str:
    (point,) = witness.points
    bits = [plain.element(point["lane"], e, values) for e in (0, point["e"])]
    if bits[1] == bits[0] + point["e"] * plain.element_bits:
        return f"element {point['e']} of lane {point['lane']} is where it should be"
    told = [place["m"] * plain.element_bits for place in witness.places]
    return "" if told == bits else f"the elements are at bits {bits}, told {told}"


def _race(witness: Witness, plain: Accessed, values: dict[str, int], base: int) -> str:
    lanes = [point["lane"] for point in witness.points]
    if len(set(lanes)) < 2:
        return f"one lane alone: {lanes}"
    owners = plain.raced(values).get(witness.places[0]["byte"] - base // 8, [])
    return "" if set(lanes) <= set(owners) else f"the byte is written by lanes {owners}"
