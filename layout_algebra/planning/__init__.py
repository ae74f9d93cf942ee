"""Moving a tensor between two layouts over lanes, warps and registers.

    from layout_algebra.planning import plan

    found = plan(accumulator, operand)
    found.kind                   # "nothing", "registers", "lanes" or "warps"
    print(found)                 # Within each warp: 4 shuffle rounds (at least 4 are needed). ...
    found.prove()                # PROVED: every element ends at all of its places

What stays in a thread is a rename of registers; what stays in a warp goes by shuffles, in the
fewest rounds where that can be said; the rest goes through shared memory.
"""

from layout_algebra.planning.delivery import Delivers
from layout_algebra.planning.movement import Group, Movement, Read, Round, Shared
from layout_algebra.planning.moves import Move
from layout_algebra.planning.places import Place, PlanError
from layout_algebra.planning.plans import Plan, plan
from layout_algebra.planning.staying import same_threads, same_warps

__all__ = [
    "Delivers",
    "Group",
    "Move",
    "Movement",
    "Place",
    "Plan",
    "PlanError",
    "Read",
    "Round",
    "Shared",
    "plan",
    "same_threads",
    "same_warps",
]
