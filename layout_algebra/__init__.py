"""Layouts of tensors over named hardware axes: written, applied, and proven about.

    from layout_algebra import S, R, TileLayout, laneid, warpid, prove, Injective

    atom = S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)]
    frag = TileLayout(atom + R[2 : 4@warpid] + 5@warpid)
    frag.apply(1, 3, shape=(8, 16))     # {'laneid': 5, 'warpid': 5, 'm': 1}
    prove(Injective(frag))              # PROVED, by structure, in microseconds

Names are loaded when they are first used: importing the package loads neither NumPy nor a solver.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layout_algebra.axes import (
        Axis,
        Bank,
        F,
        P,
        TCol,
        TLane,
        bx,
        by,
        bz,
        cbx,
        cby,
        cbz,
        laneid,
        m,
        reg,
        tid_in_wg,
        tx,
        warpid,
        wgid,
        wid_in_wg,
    )
    from layout_algebra.claims import (
        BankConflictFree,
        Bijective,
        Claim,
        Coalesced,
        Composition,
        ConflictDegree,
        Covers,
        Disjoint,
        Empty,
        Equivalent,
        Injective,
        Inverse,
        LeftInverse,
        Matches,
        NoWriteRace,
        ReplicasDistinct,
        RightInverse,
        Vectorizable,
        Wavefronts,
        WithinBounds,
    )
    from layout_algebra.composing import ComposedMap, compose, layout_of
    from layout_algebra.copying import Copy
    from layout_algebra.dims import Dim, Relation, equal
    from layout_algebra.errors import CoordinateError, LayoutAlgebraError, NotProvedError
    from layout_algebra.inverting import (
        element_at,
        elements_at,
        inverse,
        left_inverse,
        pseudo_inverse,
        right_inverse,
    )
    from layout_algebra.layouts import ComposeLayout, TileLayout
    from layout_algebra.maps import Map
    from layout_algebra.memory import Buffer
    from layout_algebra.notation import R, S
    from layout_algebra.parsing import parse
    from layout_algebra.planning import Plan, plan
    from layout_algebra.prover import assert_proved, checked, prove
    from layout_algebra.values import Iter, Swizzle
    from layout_algebra.verdicts import Proof, Verdict, Witness

from layout_algebra.version import __version__ as __version__

_HOME: dict[str, tuple[str, ...]] = {
    "axes": (
        "Axis",
        "Bank",
        "F",
        "P",
        "TCol",
        "TLane",
        "bx",
        "by",
        "bz",
        "cbx",
        "cby",
        "cbz",
        "laneid",
        "m",
        "reg",
        "tid_in_wg",
        "tx",
        "warpid",
        "wgid",
        "wid_in_wg",
    ),
    "claims": (
        "BankConflictFree",
        "Bijective",
        "Claim",
        "Coalesced",
        "Composition",
        "ConflictDegree",
        "Covers",
        "Disjoint",
        "Empty",
        "Equivalent",
        "Injective",
        "Inverse",
        "LeftInverse",
        "Matches",
        "NoWriteRace",
        "ReplicasDistinct",
        "RightInverse",
        "Vectorizable",
        "Wavefronts",
        "WithinBounds",
    ),
    "composing": ("ComposedMap", "compose", "layout_of"),
    "copying": ("Copy",),
    "dims": ("Dim", "Relation", "equal"),
    "errors": ("CoordinateError", "LayoutAlgebraError", "NotProvedError"),
    "inverting": (
        "element_at",
        "elements_at",
        "inverse",
        "left_inverse",
        "pseudo_inverse",
        "right_inverse",
    ),
    "layouts": ("ComposeLayout", "TileLayout"),
    "maps": ("Map",),
    "memory": ("Buffer",),
    "notation": ("R", "S"),
    "parsing": ("parse",),
    "planning": ("Plan", "plan"),
    "prover": ("assert_proved", "checked", "prove"),
    "values": ("Iter", "Swizzle"),
    "verdicts": ("Proof", "Verdict", "Witness"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Axis",
    "Bank",
    "BankConflictFree",
    "Bijective",
    "Buffer",
    "Claim",
    "Coalesced",
    "ComposeLayout",
    "ComposedMap",
    "Composition",
    "ConflictDegree",
    "CoordinateError",
    "Copy",
    "Covers",
    "Dim",
    "Disjoint",
    "Empty",
    "Equivalent",
    "F",
    "Injective",
    "Inverse",
    "Iter",
    "LayoutAlgebraError",
    "LeftInverse",
    "Map",
    "Matches",
    "NoWriteRace",
    "NotProvedError",
    "P",
    "Plan",
    "Proof",
    "R",
    "Relation",
    "ReplicasDistinct",
    "RightInverse",
    "S",
    "Swizzle",
    "TCol",
    "TLane",
    "TileLayout",
    "Vectorizable",
    "Verdict",
    "Wavefronts",
    "WithinBounds",
    "Witness",
    "assert_proved",
    "bx",
    "by",
    "bz",
    "cbx",
    "cby",
    "cbz",
    "checked",
    "compose",
    "element_at",
    "elements_at",
    "equal",
    "inverse",
    "laneid",
    "layout_of",
    "left_inverse",
    "m",
    "parse",
    "plan",
    "prove",
    "pseudo_inverse",
    "reg",
    "right_inverse",
    "tid_in_wg",
    "tx",
    "warpid",
    "wgid",
    "wid_in_wg",
]


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        value = getattr(import_module(f"layout_algebra.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'layout_algebra' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
