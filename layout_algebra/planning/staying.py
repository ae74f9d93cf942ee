"""Claims that a tensor stays in its threads or warps: for symbolic sizes too.

    N = Dim("N", multiple_of=16)
    prove(same_threads(accumulator(N), operand(N)))     # PROVED: nothing is sent, for every N

A plan lists moves and needs numbers; that nothing has to be sent is a claim about two formulas.
"""

from __future__ import annotations

from layout_algebra import terms
from layout_algebra.axes import tx, warpid
from layout_algebra.claims import Claim, Equivalent, WithinBounds
from layout_algebra.claims.base import Subject, as_map, check_subject
from layout_algebra.maps import Map
from layout_algebra.planning.places import LANES, THREADS, check_threads
from layout_algebra.terms import Term


def same_threads(source: Subject, target: Subject) -> Claim:
    """The claim that every element is in the same threads in both.

    Where it holds `plan` sends nothing: threads only rename registers.  Where it does not, and
    there are no copies, some element has to be sent.

    Args:
        source, target: layouts or Maps of one size over thread and register axes; Dims may occur.

    Raises:
        PlanError: an axis that is neither of threads nor of registers, or two axes that count the
            same threads.
        ClaimError: neither a layout nor a Map, or sizes that differ.
    """
    return _same(source, target, tx.name, 1)


def same_warps(source: Subject, target: Subject) -> Claim:
    """The claim that every element is in the same warps in both: shuffles are enough.

    Arguments and errors as for `same_threads`.
    """
    return _same(source, target, warpid.name, LANES)


def _same(source: Subject, target: Subject, axis: str, threads: int) -> Claim:
    """Both on thread axes that the machine has, and the numbers of the threads' groups equal."""
    groups: list[Map] = []
    limits: list[Claim] = []
    for subject, role in ((source, "source"), (target, "target")):
        check_subject("same_threads", subject)
        f = as_map(subject)
        zero = terms.const(0)  # an axis on which every place is 0 counts nothing
        check_threads(
            [name for name, term in f.outputs if name not in THREADS or term != zero], role
        )
        held = tuple((name, term) for name, term in f.outputs if name in THREADS)
        limits.append(WithinBounds(Map(f.coordinates, held, f.replicas, f.guard)))
        group = terms.floordiv(_thread(held), threads)
        groups.append(Map(f.coordinates, ((axis, group),), f.replicas, f.guard))
    return limits[0] & limits[1] & Equivalent(*groups)


def _thread(held: tuple[tuple[str, Term], ...]) -> Term:
    """The number of a thread of a CTA."""
    return terms.linear((term, THREADS[name][1]) for name, term in held)
