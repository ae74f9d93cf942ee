"""Named axes: what a number in a place means.

`1@tx` and `1@tid_in_wg` are different places although the number is the same: the axis says which
piece of hardware the number counts.  An axis has a *kind*: thread axes name who holds a value,
memory axes where in a storage it lies, device axes which device has it.

Thread axes also say between which two levels of the machine they count.  `warpid` numbers the
warps (`subscope`, the child) of a CTA (`scope`, the parent).  The levels, widest first, are
kernel, cluster, cta, warpgroup, warp, thread.

The registered axes are those of TIRx (`tvm.tirx.layout`); `Axis("gpuid_x", kind="device")`
registers another.  Limits are hardware facts: 32 lanes in a warp (CUDA programming guide), four
warps in a warpgroup (PTX ISA, wgmma), 128 TMEM lanes (PTX ISA, tcgen05).
"""

from __future__ import annotations

import difflib
import keyword
import re
from dataclasses import dataclass
from typing import ClassVar, Literal, cast, get_args

from layout_algebra.dims import Polynomial, Size, as_size, is_size
from layout_algebra.errors import AxisError, NotationError

Kind = Literal["thread", "memory", "device"]
SCOPES: tuple[str, ...] = ("kernel", "cluster", "cta", "warpgroup", "warp", "thread")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
#: Words that the notation itself uses, and so cannot name an axis.
RESERVED = frozenset({"S", "R", "TileLayout", "ComposeLayout", "Dim", "True", "False", "None"})


class Axis:
    """A named axis; `Axis(name, kind=...)` registers it, `Axis.get(name)` looks one up.

    Two axes are the same exactly when their names are.  Registering a name again with the same
    facts gives the axis that is there; with other facts it is an `AxisError`.

    Args:
        name: an identifier.
        kind: "thread", "memory" or "device".
        scope: for thread axes the level that contains the counted things ("cta" for `tx`).
        subscope: for thread axes the level that is counted ("thread" for `tx`).
        limit: number of places that the hardware has on the axis, None when there is no fixed one.
    """

    __slots__ = ("kind", "limit", "name", "scope", "subscope")
    name: str
    kind: Kind
    scope: str | None
    subscope: str | None
    limit: int | None

    _registry: ClassVar[dict[str, Axis]] = {}

    def __new__(
        cls,
        name: str,
        kind: Kind | None = None,
        *,
        scope: str | None = None,
        subscope: str | None = None,
        limit: int | None = None,
    ) -> Axis:
        name = cast(object, name)  # type: ignore[assignment]  # callers are not all type-checked
        if not isinstance(name, str) or not _NAME.match(name):
            raise AxisError(f"an axis name is letters, digits and _, no digit first; got {name!r}")
        if name in RESERVED or keyword.iskeyword(name):
            raise AxisError(f"{name!r} is a word of the notation and cannot name an axis")
        if kind is None:
            raise AxisError(
                f'give the kind of axis {name!r}: Axis({name!r}, kind="device") registers it; '
                f"Axis.get({name!r}) looks up one that is there"
            )
        if kind not in get_args(Kind):
            raise AxisError(f"the kind of an axis is one of thread, memory, device; got {kind!r}")
        if limit is not None and (type(limit) is not int or limit < 1):
            raise AxisError(f"the limit of axis {name!r} is a positive int or None; got {limit!r}")
        for level in (scope, subscope):
            if level is not None and level not in SCOPES:
                raise AxisError(f"unknown scope {level!r}; the scopes are {', '.join(SCOPES)}")
        if (scope is None) != (subscope is None) or (scope is not None and kind != "thread"):
            raise AxisError(
                "scope and subscope are given together, and for thread axes only; got "
                f"kind={kind!r}, scope={scope!r}, subscope={subscope!r} for axis {name!r}"
            )
        facts = (kind, scope, subscope, limit)
        known = cls._registry.get(name)
        if known is not None:
            if (known.kind, known.scope, known.subscope, known.limit) != facts:
                raise AxisError(
                    f"axis {name!r} is registered already, as {known.describe()}; got "
                    f"kind={kind!r}, scope={scope!r}, subscope={subscope!r}, limit={limit!r}"
                )
            return known
        self = object.__new__(cls)
        for field, value in zip(
            ("name", "kind", "scope", "subscope", "limit"), (name, *facts), strict=True
        ):
            object.__setattr__(self, field, value)
        cls._registry[name] = self
        return self

    @classmethod
    def get(cls, name: str | Axis) -> Axis:
        """The registered axis of that name; `AxisError` with the nearest names otherwise."""
        if isinstance(name, Axis):
            return name
        known = cls._registry.get(name) if isinstance(name, str) else None  # type: ignore[redundant-expr]
        if known is None:
            if not isinstance(name, str):  # type: ignore[redundant-expr]
                raise AxisError(f"an axis is an Axis or its name; got {name!r}")
            near = difflib.get_close_matches(name, cls._registry, n=1, cutoff=0.5)
            hint = (
                f"did you mean {near[0]!r}, or is it your own? Then register it"
                if near
                else ("register your own")
            )
            raise AxisError(f"unknown axis {name!r}: {hint} first with Axis(name, kind=...)")
        return known

    @classmethod
    def registered(cls) -> tuple[Axis, ...]:
        """Every registered axis, in order of registration."""
        return tuple(cls._registry.values())

    @property
    def is_thread(self) -> bool:
        return self.kind == "thread"

    @property
    def is_memory(self) -> bool:
        return self.kind == "memory"

    def describe(self) -> str:
        """One line of facts, for error messages and tables."""
        counted = f", {self.subscope}s of a {self.scope}" if self.scope else ""
        limit = f", at most {self.limit}" if self.limit is not None else ""
        return f"{self.kind}{counted}{limit}"

    def __rmatmul__(self, value: Size) -> AxisTerms:
        """`4 @ laneid`: four places along the axis, as a stride or as an offset."""
        if not is_size(value):
            shown = str(value) if isinstance(value, AxisTerms | Axis) else repr(value)
            raise NotationError(f"the number before @{self.name} is an int or a Dim; got {shown}")
        return AxisTerms(((as_size(value), self),))

    def __matmul__(self, value: object) -> AxisTerms:
        raise NotationError(
            f"the number goes before the axis: n@{self.name}; got {self.name}@{value}"
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Axis is immutable (tried to set {name!r})")

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Axis) and self.name == other.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return (_restore, (self.name, self.kind, self.scope, self.subscope, self.limit))


def _restore(
    name: str, kind: Kind, scope: str | None, subscope: str | None, limit: int | None
) -> Axis:
    return Axis(name, kind, scope=scope, subscope=subscope, limit=limit)


@dataclass(frozen=True, repr=False)
class AxisTerms:
    """`4@laneid`, or a sum of such: numbers of places along named axes."""

    terms: tuple[tuple[Size, Axis], ...]

    def __add__(self, other: object) -> AxisTerms:
        if isinstance(other, AxisTerms):
            return AxisTerms(self.terms + other.terms)
        if is_size(other):
            return AxisTerms((*self.terms, (as_size(cast(Size, other)), m)))
        return NotImplemented

    def __radd__(self, other: object) -> AxisTerms:
        if is_size(other):
            return AxisTerms(((as_size(cast(Size, other)), m), *self.terms))
        return NotImplemented

    def __neg__(self) -> AxisTerms:
        return AxisTerms(tuple((-value, axis) for value, axis in self.terms))

    def __repr__(self) -> str:
        return " + ".join(f"{_factor(value)}@{axis.name}" for value, axis in self.terms)


def _factor(value: Size) -> str:
    """A size as it is written before `@`."""
    return f"({value})" if isinstance(value, Polynomial) and len(value.terms) > 1 else str(value)


bx = Axis("bx", "thread", scope="kernel", subscope="cta")
by = Axis("by", "thread", scope="kernel", subscope="cta")
bz = Axis("bz", "thread", scope="kernel", subscope="cta")
cbx = Axis("cbx", "thread", scope="cluster", subscope="cta")
cby = Axis("cby", "thread", scope="cluster", subscope="cta")
cbz = Axis("cbz", "thread", scope="cluster", subscope="cta")
tx = Axis("tx", "thread", scope="cta", subscope="thread", limit=1024)
warpid = Axis("warpid", "thread", scope="cta", subscope="warp", limit=32)
laneid = Axis("laneid", "thread", scope="warp", subscope="thread", limit=32)
wgid = Axis("wgid", "thread", scope="cta", subscope="warpgroup", limit=8)
tid_in_wg = Axis("tid_in_wg", "thread", scope="warpgroup", subscope="thread", limit=128)
wid_in_wg = Axis("wid_in_wg", "thread", scope="warpgroup", subscope="warp", limit=4)
m = Axis("m", "memory")
P = Axis("P", "memory", limit=128)
F = Axis("F", "memory")
Bank = Axis("Bank", "memory", limit=8)
TCol = Axis("TCol", "memory")
TLane = Axis("TLane", "memory", limit=128)

#: The book's name for a lane's fragment slots: another spelling of `m` (the scope of the buffer
#: says which storage `m` counts).  `S[...]` turns it into `m` and refuses a layout that uses both.
reg = Axis("reg", "memory")
