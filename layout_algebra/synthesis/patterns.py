"""Access patterns that are not bound to a layout yet: what the search traces again.

column = pattern(lambda lane, j: (lane, j), bytes=16, free=[j])
column.on(buffer, "read")                     # the Access, for this buffer's layout
lambda tile: tile[i : i + 16, :].read(...)    # any function of a buffer will do as well
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from layout_algebra.dims import Size
from layout_algebra.memory.accesses import Access
from layout_algebra.memory.buffers import Buffer
from layout_algebra.synthesis.errors import SynthesisError

Kind: TypeAlias = Literal["read", "write"]


@dataclass(frozen=True)
class Pattern:
    """What `View.read` and `View.write` are given, without the buffer; `pattern` makes one."""

    where: Callable[..., Any]
    lanes: int = 32
    bytes: int | None = None
    bits: int | None = None
    free: tuple[Size, ...] = ()
    active: Callable[..., Any] | None = None

    def on(self, buffer: Buffer, kind: Kind) -> Access:
        """The access to the whole of a buffer.

        Raises:
            LayoutError, TraceError: as `View.read`.
        """
        make = buffer.read if kind == "read" else buffer.write
        return make(
            self.where,
            lanes=self.lanes,
            bytes=self.bytes,
            bits=self.bits,
            free=self.free,
            active=self.active,
        )


#: What reads= and writes= are lists of.
Request: TypeAlias = Pattern | Callable[[Buffer], Access]


def pattern(
    where: Callable[..., Any],
    *,
    lanes: int = 32,
    bytes: int | None = None,
    bits: int | None = None,
    free: Sequence[Size] = (),
    active: Callable[..., Any] | None = None,
) -> Pattern:
    """One access of a warp to whatever layout the buffer has.

    Args:
        where: a callable (lane, *free) -> coordinates of the first element that the lane touches;
            the others follow it in the last dimension.
        lanes: lanes of the warp.
        bytes, bits: what each lane moves; one element by default.
        free: Dims that `where` takes as further parameters.  Each needs a least and a greatest
            value: the search looks at all of them.
        active: a callable of the same parameters that gives conditions joined by `&`; lanes where
            they fail do nothing.
    """
    return Pattern(where, lanes, bytes, bits, tuple(free), active)


@dataclass(frozen=True)
class Requests:
    """The accesses that a layout has to serve, reads first."""

    items: tuple[tuple[Kind, Request], ...]

    @staticmethod
    def of(reads: Iterable[Request], writes: Iterable[Request]) -> Requests:
        """The checked lists.

        Raises:
            SynthesisError: nothing to serve, or something that is no pattern and no function.
        """
        kinds: tuple[tuple[Kind, Iterable[Request]], ...] = (("read", reads), ("write", writes))
        items: list[tuple[Kind, Request]] = []
        for kind, given in kinds:
            if not isinstance(given, Iterable):  # type: ignore[redundant-expr]
                raise SynthesisError(f"{kind}s= is a list of patterns; got {given!r}")
            items.extend((kind, one) for one in given)
        if not items:
            raise SynthesisError("give at least one access in reads= or writes=")
        for kind, one in items:
            _check(kind, one)
        return Requests(tuple(items))

    @property
    def names(self) -> tuple[str, ...]:
        """How tables call them: read 0, read 1, write 0, ..."""
        counts = {"read": 0, "write": 0}
        found: list[str] = []
        for kind, _ in self.items:
            found.append(f"{kind} {counts[kind]}")
            counts[kind] += 1
        return tuple(found)

    def on(self, buffer: Buffer) -> tuple[Access, ...]:
        """Every access, traced for this buffer's layout.

        Raises:
            SynthesisError: a function that gives no access, or one of the other kind.
        """
        found: list[Access] = []
        for (kind, request), name in zip(self.items, self.names, strict=True):
            access = request.on(buffer, kind) if isinstance(request, Pattern) else request(buffer)
            if not isinstance(access, Access):  # type: ignore[redundant-expr]
                raise SynthesisError(
                    f"{name}: a function of the buffer gives an access, like `lambda tile: "
                    f"tile.{kind}(...)`; got {access!r} (a function of the lane goes into "
                    "pattern(...))"
                )
            if access.kind != kind:
                raise SynthesisError(f"{name} is a {access.kind}: put it into {access.kind}s=")
            found.append(access)
        return tuple(found)


def _check(kind: Kind, request: object) -> None:
    if isinstance(request, Access):
        raise SynthesisError(
            "an access is made for one layout, and the search needs it for many: give "
            f"pattern(...), or `lambda tile: tile.{kind}(...)`"
        )
    if not isinstance(request, Pattern) and not callable(request):
        raise SynthesisError(f"{kind}s= is a list of patterns; got {request!r}")
