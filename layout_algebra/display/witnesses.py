"""Pictures of counterexamples: the elements concerned, marked where they are.

    for picture in pictures_of(proof.claim, proof.witness): ...

A claim about layouts shows the grid of each layout with its elements marked, at the sizes of the
counterexample; one about an access shows the lanes and banks.  What is drawn is calculated again
from the claim's subjects, not read from the witness' text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from layout_algebra.arithmetic import integers
from layout_algebra.claims.accesses import AccessClaim
from layout_algebra.claims.banks import BankClaim
from layout_algebra.claims.base import Claim
from layout_algebra.claims.vectors import Coalesced
from layout_algebra.display.accesses import AccessOptions
from layout_algebra.display.accesses import draw as draw_access
from layout_algebra.display.canvas import MARGIN, Canvas, wrapped
from layout_algebra.display.grids import is_drawable
from layout_algebra.display.layouts import draw_grid
from layout_algebra.display.looks import look_of
from layout_algebra.errors import DimError
from layout_algebra.maps import Map
from layout_algebra.memory.banks import point_of
from layout_algebra.memory.targets import NVIDIA
from layout_algebra.terms import Var
from layout_algebra.verdicts import Witness

#: Rows and columns of a counterexample's grid.
MOST = (16, 32)
#: Letters in a line above it.
LETTERS = 72
Point = Mapping[str, int]


def pictures_of(claim: object, witness: Witness) -> Iterator[Canvas]:
    """Each picture of a counterexample, with what it shows written above.

    Args:
        claim: the claim that it refutes, not a conjunction.
        witness: the counterexample.
    """
    if isinstance(claim, AccessClaim):
        yield from _of_access(claim, witness)
    elif isinstance(claim, Claim):
        yield from _of_maps(claim, witness)


# -- inside ------------------------------------------------------------------------------------
def _of_maps(claim: Claim, witness: Witness) -> Iterator[Canvas]:
    maps = [_at_sizes(f, witness.dims) for f in claim.maps()]
    for number, (f, points) in enumerate(zip(maps, _shared_out(maps, witness), strict=True)):
        if f is None or not points or not is_drawable(f):
            continue
        marks = [{v.name: point[v.name] for v in f.coordinates} for point in points]
        which = f"subject {number + 1}: " if len(maps) > 1 else ""
        sheet = Canvas("counterexample")
        told = [line for point in points[:4] for line in wrapped(_told(f, point), LETTERS, 2)]
        end = sheet.lines(0, 12, [f"{which}{told[0]}", *told[1:]], size=12)
        sheet.paste(draw_grid(f, look_of(f), marks=marks, most=MOST), 0, end - 8)
        yield sheet


def _at_sizes(f: Map, dims: Mapping[str, int]) -> Map | None:
    """The map at the sizes of the counterexample; None where it does not give them all."""
    if not f.is_symbolic:
        return f
    try:
        return f.evaluated(**dims)
    except DimError:
        return None


def _shared_out(maps: list[Map | None], witness: Witness) -> list[list[Point]]:
    """The points that are elements of each map, as the claims give them.

    One for each subject in order, or all of one subject; by their names where that does not fit.
    """
    found: list[list[Point]] = [[] for _ in maps]
    in_order = len(maps) == len(witness.points) > 1
    for number, point in enumerate(witness.points):
        order = [number] if in_order else range(len(maps))
        for candidate in order:
            f = maps[candidate]
            if f is not None and _is_element(f, point):
                found[candidate].append(point)
                break
    return found


def _is_element(f: Map, point: Point) -> bool:
    for variable in f.coordinates:
        low, high = variable.low, variable.high
        value = point.get(variable.name)
        if value is None or not isinstance(low, int) or not isinstance(high, int):
            return False
        if not low <= value <= high:
            return False
    return True


def _told(f: Map, point: Point) -> str:
    """An element and its place, the copy that is meant included."""
    at: dict[Var, int] = {v: point[v.name] for v in f.coordinates}
    copies = {v: point.get(v.name, v.low) for v in f.replicas}
    named = ", ".join(f"{v.name} = {value}" for v, value in copies.items())
    element = f"element ({', '.join(map(str, at.values()))})"
    element += f", copy {named}," if named else ""
    if not f.admits(at):
        return f"{element} is outside the domain"
    numbers = integers.values_of([term for _, term in f.outputs], {**at, **copies})  # type: ignore[dict-item]
    place = ", ".join(f"{axis} = {n}" for axis, n in zip(f.axes, numbers, strict=True))
    return f"{element} is at {place or 'the only place'}"


def _of_access(claim: AccessClaim, witness: Witness) -> Iterator[Canvas]:
    """Lanes and banks at the counterexample's values, and at a base address that shows it."""
    names = {one.name for one in claim.access.free}
    if not witness.points or not names <= set(witness.points[0]):
        return
    values = {name: witness.points[0][name] for name in names}
    at = point_of(claim.access, values)
    target = claim.target if isinstance(claim, BankClaim | Coalesced) else None
    # the marks are of what goes wrong at the base that is drawn, which need not be the witness'
    wrong = ((bit, claim.wrong_at(at, bit)) for bit in claim.base_classes())
    base_bit, found = next(((bit, one) for bit, one in wrong if one is not None), (0, None))
    marks = set() if found is None else _marks(found, (target or NVIDIA).banks)
    options = AccessOptions(values, target, base_bit // 8, marks)
    sheet = Canvas("counterexample")
    sheet.paste(draw_access(claim.access, options), -MARGIN, -MARGIN)
    yield sheet


def _marks(found: Witness, banks: int) -> set[tuple[int, int]]:
    """(lane, bank) of the lanes that a counterexample names; every bank where it names none."""
    lanes = [point["lane"] for point in found.points if "lane" in point]
    named = [place["bank"] for place in found.places if "bank" in place]
    if len(named) == len(lanes):
        return set(zip(lanes, named, strict=True))
    return {(lane, bank) for lane in lanes for bank in range(banks)}
