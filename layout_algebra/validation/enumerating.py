"""Every thread, or a sample of them, on NumPy arrays: candidates for a counterexample.

    first_difference(program)      # the first thread that stores something else
    sampled_difference(program)    # the same of a few hundred that are likely to

A candidate is run again on exact ints before anything is said of it.
"""

from __future__ import annotations

import random
from typing import Any

from layout_algebra.arithmetic.arrays import arrays_of
from layout_algebra.dims import Size
from layout_algebra.errors import CoordinateError
from layout_algebra.prover.options import MOST_PLACES
from layout_algebra.terms import Var
from layout_algebra.validation.contracts import Output, Program
from layout_algebra.validation.grids import MOST_THREADS
from layout_algebra.validation.replaying import (
    Run,
    arguments_of,
    blocks_of,
    difference,
    specials_of,
)
from layout_algebra.validation.syntax import PtxError
from layout_algebra.verdicts import Witness

#: Threads that are run at once; threads of a sample, and its seed.
CHUNK, SAMPLES, SEED = 1 << 18, 400, 8
#: Candidates that are run again, among the threads that are run at once.
_CANDIDATES = 1024


def first_difference(program: Program, block: int | None = None) -> Witness | None:
    """The first thread (or call) that leaves something else, in blocks of one size.

    Raises:
        CoordinateError: numbers beyond 62 bits, or too many candidates of which nothing came.
    """
    import numpy as np

    block = blocks_of(program.contract)[0] if block is None else block
    for start in range(0, program.work, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, program.work), dtype=np.int64)
        found = _difference_among(program, numbers, block)
        if found is not None:
            return found
    return None


def difference_in_any_block(program: Program) -> Witness | None:
    """The first thread that leaves something else, in blocks of each size.

    Raises:
        CoordinateError: too many threads in all.
    """
    if program.work * MOST_THREADS > MOST_PLACES:
        raise CoordinateError(
            f"{program.work} threads in blocks of every size up to {MOST_THREADS} are more than "
            f"the {MOST_PLACES} that are run; name the size of the block"
        )
    for block in range(1, MOST_THREADS + 1):
        found = first_difference(program, block)
        if found is not None:
            return found
    return None


def sampled_difference(program: Program) -> Witness | None:
    """A thread that leaves something else, among those at the ends and some between."""
    import numpy as np

    rng = random.Random(SEED)
    work, size = program.work, program.size
    ends = {k for end in (0, size, work) for k in range(end - 3, end + 3)}
    steps = {rng.randrange(1 << rng.randrange(1, work.bit_length() + 1)) for _ in range(SAMPLES)}
    chosen = ends | steps | {rng.randrange(work) for _ in range(SAMPLES)}
    if 0 < size < work:
        chosen |= {rng.randrange(size) for _ in range(SAMPLES)}
    numbers = np.array(sorted(k for k in chosen if 0 <= k < work), dtype=np.int64)
    for block in blocks_of(program.contract):
        try:
            found = _difference_among(program, numbers, block)
        except CoordinateError:  # numbers beyond 62 bits: one by one, then
            found = _first_of(program, numbers, block)
        if found is not None:
            return found
    return None


def _difference_among(program: Program, numbers: Any, block: int) -> Witness | None:
    """The first of these threads (or calls) that leaves something else."""
    coordinates = _coordinates(program, numbers)
    candidates = _candidates(program, numbers, coordinates, block)
    found = _first_of(program, numbers[candidates[:_CANDIDATES]], block)
    if found is None and len(candidates) > _CANDIDATES:
        raise CoordinateError(
            f"{len(candidates)} threads have to be run one by one: more than {_CANDIDATES}"
        )
    return found


def _first_of(program: Program, numbers: Any, block: int) -> Witness | None:
    """The first of a few threads (or calls) that leaves something else, by exact integers."""
    for number in numbers.tolist():
        at = {
            variable.name: int(value) for variable, value in _coordinates(program, number).items()
        }
        thread = number if program.function.is_entry else 0
        found = difference(program, Run(thread, block, at))
        if found is not None:
            return found
    return None


def _coordinates(program: Program, numbers: Any) -> dict[Var, Any]:
    """The map's coordinates, as arrays over threads, or over calls in row-major order."""
    f = program.flat
    if program.function.is_entry:
        return {f.coordinates[0]: numbers}
    found: dict[Var, Any] = {}
    for variable in reversed(f.coordinates):
        extent, low = _int(variable.extent), _int(variable.low)
        found[variable] = numbers % extent + low
        numbers = numbers // extent
    return {variable: found[variable] for variable in f.coordinates}


def _candidates(
    program: Program, numbers: Any, coordinates: dict[Var, Any], block: int
) -> list[int]:
    """Positions at which the arrays say that something else is stored."""
    import numpy as np

    from layout_algebra.validation.vectors import run_many

    named = {variable.name: values for variable, values in coordinates.items()}
    threads = numbers if program.function.is_entry else np.zeros_like(numbers)
    specials = specials_of(program.contract, threads, block)
    arguments = arguments_of(program, named, {})
    try:
        groups = run_many(program.function, specials, arguments, len(numbers))
    except PtxError:
        return list(range(len(numbers)))
    wrong = np.ones(len(numbers), dtype=bool)
    inside = threads < program.size
    places = arrays_of((term for _, term in program.flat.outputs), coordinates)
    axes = dict(zip(program.flat.axes, places, strict=True))
    wanted = _wanted(program, axes, arguments, threads)
    for group in groups:
        wrong[group.members] = _wrong_in(group, wanted, inside)
    return np.flatnonzero(wrong).tolist()


def _wanted(
    program: Program, axes: dict[str, Any], arguments: tuple[Any, ...], threads: Any
) -> list[tuple[str, Any, Any, int]]:
    """For each store that is wanted: its space, addresses, values and size."""
    import numpy as np

    found: list[tuple[str, Any, Any, int]] = []
    for role, base in zip(program.contract.roles, arguments, strict=True):
        if isinstance(role, Output):
            step = np.uint64(role.bits // 8)
            address = np.uint64(base) + threads.astype(np.uint64) * step
            found.append(("global", address, _word(axes[role.axis], role.bits, threads), role.bits))
    if program.contract.result is not None:
        (result,) = program.function.results
        value = _word(axes[program.contract.result], result.bits, threads)
        found.append((result.name, np.zeros(len(threads), np.uint64), value, result.bits))
    return found


def _word(values: Any, bits: int, like: Any) -> Any:
    import numpy as np

    full = np.broadcast_to(np.asarray(values, dtype=np.int64), like.shape).astype(np.uint64)
    return full if bits == 64 else full & np.uint64((1 << bits) - 1)


def _wrong_in(group: Any, wanted: list[tuple[str, Any, Any, int]], inside: Any) -> Any:
    """For each member of a group, whether it stores anything but what is wanted."""
    import numpy as np

    members = group.members
    here = inside[members]
    if not group.stores:
        return here & bool(wanted)
    if len(group.stores) != len(wanted):
        return np.ones(len(members), dtype=bool)
    wrong = ~here
    left = list(group.stores)
    for space, address, value, bits in wanted:
        there = [one.address == address[members] for one in left]
        best = max(range(len(left)), key=lambda k: int(there[k].sum()))
        store = left.pop(best)
        if store.space != space or store.bits != bits:
            return np.ones(len(members), dtype=bool)
        wrong |= ~there[best] | (store.value != value[members])
    return wrong


def _int(size: Size | None) -> int:
    if not isinstance(size, int):
        raise TypeError(f"{size} is no number")
    return size
