"""Copies: one view to another, by lanes that each move some of the elements.

    tv = TileLayout(S[(4, 8, 8, 8) : (8, 8@laneid, 1@laneid, 1)])     # a lane's values along rows
    copy = Copy(globally, shared, tv)            # two 32 x 64 views of halves
    copy.widest().bytes                          # 16
    prove(BankConflictFree(copy.write(16)))      # the warp's store, for every one of its steps

`tv` sends each element of the tile to the lane that moves it and to its number among that lane's
values.  A vector of n elements is a run of n values, from a multiple of n on.  An instruction of a
warp moves one vector in every lane: the free variable `step` says which one, `warp` says of which
warp, each where there is more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from layout_algebra import terms
from layout_algebra.arithmetic import integers
from layout_algebra.claims import Vectorizable
from layout_algebra.dims import Relation
from layout_algebra.errors import LayoutError
from layout_algebra.folding import substitute
from layout_algebra.maps import Map
from layout_algebra.memory.accesses import BIT, Access
from layout_algebra.memory.banks import point_of
from layout_algebra.memory.buffers import Buffer, View
from layout_algebra.memory.deals import Deal, HasMap, deal_of, instruction
from layout_algebra.prover import prove
from layout_algebra.terms import Term
from layout_algebra.values import AnyLayout
from layout_algebra.verdicts import Proof, Verdict, Witness

#: Bytes that one instruction of a lane may move.
WIDTHS = (1, 2, 4, 8, 16)

Side = Literal["source", "target", "both"]
SIDES: tuple[Side, Side] = ("source", "target")
Kind = Literal["contiguity", "alignment", "swizzle", "bounds", "values", "elements", "undecided"]


@dataclass(frozen=True)
class Limit:
    """What forbids the next wider vector.

    Attributes:
        side: "source" or "target"; "both" for what is said by `tv` or by the element type.
        kind: "contiguity" (the next value is not the neighbour in memory), "bounds" (the tile's
            row ends inside a vector), "swizzle" (without it the vector would do), "alignment" (of
            the base, or of where vectors begin), "values" (a lane has no whole vector), "elements"
            (no whole elements in it), "undecided" (the prover could not tell).
        bytes: the width that it forbids.
        reason: what it is, with the numbers.
        witness: the vector that breaks, where there is one.
    """

    side: Side
    kind: Kind
    bytes: int
    reason: str
    witness: Witness | None = None

    def __str__(self) -> str:
        shown = "" if self.witness is None else f": {self.witness}"
        return f"{self.bytes} bytes, {self.side}, {self.kind}: {self.reason}{shown}"


@dataclass(frozen=True)
class Widest:
    """The widest vector of a copy.

    Attributes:
        bytes: what each lane moves at once, proven; 0 where not even the narrowest vector will do.
        limits: what forbids the next wider one; empty for the widest that there is.
        proofs: the proofs of what is allowed, and the refutations of what is not.
    """

    bytes: int
    limits: tuple[Limit, ...]
    proofs: tuple[Proof, ...]

    def __str__(self) -> str:
        return "\n  ".join([f"{self.bytes} bytes a lane", *map(str, self.limits)])


@dataclass(frozen=True)
class Copy:
    """One view (or buffer) copied to another of the same logical shape.

    Args:
        source, target: shared, global or local memory; sizes in numbers, elements of one width.
        tv: element -> the thread that moves it (laneid, tx, warpid and laneid, ...) and its number
            on axis m among that thread's values: a layout of the tile's flat index, an entry of the
            catalogue or a Map over the tile's shape.

    Raises:
        LayoutError: views that do not fit each other, or a `tv` that is not about this tile, that
            has two elements in one place, or places that no thread has.
    """

    source: View | Buffer
    target: View | Buffer
    tv: AnyLayout | Map | HasMap
    _deal: Deal = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            object.__setattr__(self, side, _checked(side, getattr(self, side)))
        source, target = self.side("source"), self.side("target")
        if source.shape != target.shape:
            shapes = " and ".join(" x ".join(map(str, one.shape)) for one in (source, target))
            raise LayoutError(f"a copy is between views of one shape; got {shapes}")
        if source.buffer.bits != target.buffer.bits:
            raise LayoutError(
                f"a copy changes no element: both sides have elements of as many bits; got "
                f"{source.buffer.bits} and {target.buffer.bits}"
            )
        object.__setattr__(self, "_deal", deal_of(self.tv, self.shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """The tile's sizes."""
        return tuple(int(size) for size in self.side("source").shape)  # type: ignore[arg-type]

    def read(self, bytes: int) -> Access:
        """One instruction's read of the source.

        Claims about its banks or sectors take a vector to be one run of memory, as the hardware
        does: `Vectorizable` is the claim that it is.

        Args:
            bytes: what each lane moves: whole elements, and so many values that no lane has only
                a part of a vector.

        Raises:
            LayoutError: a width that is not so, or a Dim with a name that the access uses itself.
        """
        return self._access("source", bytes)

    def write(self, bytes: int) -> Access:
        """One instruction's write to the target; arguments and errors as for `read`."""
        return self._access("target", bytes)

    def widest(self, *, given: Iterable[Relation | bool] = ()) -> Widest:
        """The widest vector that both sides allow, and what limits it.

        Allowed means: for every step of every warp, every active lane, every value of the Dims and
        every base address that a buffer's alignment allows, the vector is one aligned run of
        memory with its elements in order.

        Args:
            given: relations between Dims that may be assumed, as for `prove`.

        Raises:
            LayoutError: a Dim with a name that the access uses itself.
        """
        widths = [width for width in WIDTHS if 8 * width % self.bits == 0]
        if not widths:
            reason = f"no vector of 1 to {WIDTHS[-1]} bytes is whole elements of {self.bits} bits"
            return Widest(0, (Limit("both", "elements", WIDTHS[-1], reason),), ())
        search = _Search(self, tuple(given))
        wider = None
        for width in reversed(widths):
            if search.allows(width):
                break
            wider = width
        else:
            width = 0
        limits = () if wider is None else tuple(search.limits(wider))
        return Widest(width, limits, tuple(search.proofs.values()))

    def __str__(self) -> str:
        return f"copy of {self.source} to {self.target} by {self.tv}"

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return self.side("source").buffer.bits

    def side(self, side: Side) -> View:
        """The view on one side: "source" or "target"."""
        return self.source if side == "source" else self.target  # type: ignore[return-value]

    def torn(self, bytes: int) -> tuple[str, dict[str, int]] | None:
        """A lane with some values of a vector of so many bytes, not all: in words, and where.

        Raises:
            LayoutError: bytes that are no whole elements.
        """
        if type(bytes) is not int or bytes < 1 or 8 * bytes % self.bits:
            raise LayoutError(
                f"a lane moves whole elements of {self.bits} bits; got {bytes!r} bytes"
            )
        return self._deal.torn(8 * bytes // self.bits)

    def _access(self, side: Side, bytes: int, view: View | None = None) -> Access:
        """The access of one side; to another view where one is given."""
        torn, count = self.torn(bytes), 8 * bytes // self.bits
        if torn is not None:
            raise LayoutError(f"{bytes} bytes are {count} values, and {torn[0]}")
        kind = "read" if side == "source" else "write"
        return instruction(view or self.side(side), kind, self._deal, count)


@dataclass(frozen=True)
class _Search:
    """What was asked of a copy, with what is given of its Dims."""

    copy: Copy
    given: tuple[Relation | bool, ...]
    proofs: dict[tuple[Side, int], Proof] = field(default_factory=dict[tuple[Side, int], Proof])

    def allows(self, width: int) -> bool:
        """Whether both sides allow a width."""
        return self.copy.torn(width) is None and all(
            self.proof(side, width).verdict is Verdict.PROVED for side in SIDES
        )

    def proof(self, side: Side, width: int) -> Proof:
        if (side, width) not in self.proofs:
            self.proofs[side, width] = self.vectorizable(self.copy._access(side, width))
        return self.proofs[side, width]

    def vectorizable(self, access: Access) -> Proof:
        """The proof or refutation that a lane's vectors are aligned runs."""
        return prove(Vectorizable(access), given=self.given)

    def limits(self, width: int) -> Iterator[Limit]:
        """What forbids a width, side by side, each reason once."""
        torn = self.copy.torn(width)
        if torn is not None:
            yield Limit("both", "values", width, torn[0], Witness(torn[0], (torn[1],)))
            return
        for side in SIDES:
            if self.proof(side, width).verdict is not Verdict.PROVED:
                found: dict[tuple[str, str], Limit] = {}
                for limit in self.limits_of(side, width):
                    found.setdefault((limit.kind, limit.reason), limit)
                yield from found.values()

    def limits_of(self, side: Side, width: int) -> Iterator[Limit]:
        """What forbids a width on one side: the order, where vectors begin, the base."""
        view = self.copy.side(side)
        buffer = view.buffer
        aligned = replace(buffer, align=max(buffer.align, width))
        accesses = [self.copy._access(side, width, replace(view, buffer=aligned))]
        swizzle = buffer.layout.swizzle
        if swizzle is not None and not swizzle.is_identity:
            plain = replace(aligned, layout=buffer.layout.affine)
            accesses.append(self.copy._access(side, width, replace(view, buffer=plain)))
        for asked, cause in ((_from_first, self._of_order), (_as_one, _of_place)):
            for number, access in enumerate(accesses):  # where a swizzle breaks it, without it too
                proof = self.vectorizable(asked(access))
                if proof.witness is None:
                    if proof.verdict is not Verdict.PROVED:
                        yield Limit(side, "undecided", width, proof.reason)
                    break
                point = proof.witness.points[0]
                kind, reason = cause(accesses[-1], point)
                if kind == "swizzle" and swizzle is not None:
                    reason = f"the swizzle moves elements {1 << swizzle.per_element} at a time"
                shown = proof.witness if cause is _of_place else _scattered(access, point)
                reason = f"without the swizzle too, {reason}" if number else reason
                yield Limit(side, kind, width, reason, shown)
                if kind != "swizzle":
                    break
        if buffer.align < width:
            proof = self.vectorizable(_as_one(self.copy._access(side, width)))
            reason = f"the buffer begins at any multiple of {buffer.align} bytes"
            yield Limit(side, "alignment", width, reason, proof.witness)

    def _of_order(self, plain: Access, point: Mapping[str, int]) -> tuple[Kind, str]:
        """Why a vector is not in order, from what it is without a swizzle."""
        bits, count = plain.element_bits, plain.bits // plain.element_bits
        run = _at(plain, plain.elements.output(BIT), point)
        broken = next((e for e in range(1, count) if run[e] != run[0] + e * bits), count)
        if broken > point["e"]:
            return "swizzle", ""
        columns = [_at(plain, term, point) for _, term in plain.where.outputs]
        if _row_ends(list(zip(*columns, strict=True)), broken, self.copy.shape):
            return "bounds", f"the tile's row ends after {broken} of the vector's {count} elements"
        gap = (run[broken] - run[broken - 1]) // bits
        return "contiguity", f"a lane's next value is {gap} elements after the one before"


def _of_place(plain: Access, point: Mapping[str, int]) -> tuple[Kind, str]:
    """Why a vector begins at a place that is not aligned, from where it does without a swizzle."""
    rest = _at(plain, plain.elements.output(BIT), point)[0] % plain.bits
    if rest == 0:
        return "swizzle", ""
    return "alignment", (
        f"by pitch, offset or first value a vector begins {rest / 8:g} bytes after a multiple of "
        f"{plain.bits // 8}"
    )


def _checked(side: str, given: object) -> View:
    """The view that is copied.

    Raises:
        LayoutError: one that a copy cannot be about.
    """
    view = given.whole if isinstance(given, Buffer) else given
    if not isinstance(view, View):
        raise LayoutError(f"the {side} of a copy is a view or a buffer; got {given!r}")
    if not all(isinstance(size, int) for size in view.shape):
        sizes = " x ".join(map(str, view.shape))
        raise LayoutError(f"the {side}'s sizes are numbers (its begin may be Dims); got {sizes}")
    if view.buffer.scope == "tmem":
        raise LayoutError(f"a copy moves bytes: the {side} is in tmem, which has lanes and columns")
    return view


def _as_one(access: Access) -> Access:
    """The access with each vector as one element: only where it begins is left."""
    return replace(access, element_bits=access.bits)


def _from_first(access: Access) -> Access:
    """The access with places counted from the vector's first: only the order is left."""
    place, element = access.elements.output(BIT), access.elements.coordinates[1]
    first = substitute(place, {element: terms.const(0)})
    moved = terms.linear([(place, 1), (first, -1)])
    return replace(access, elements=replace(access.elements, outputs=((BIT, moved),)))


def _at(access: Access, term: Term, point: Mapping[str, int]) -> list[int]:
    """A term's value at every element of the vector that a witness names."""
    values = {name: value for name, value in point.items() if name not in ("lane", "e")}
    at = {**point_of(access, values), access.lane: point["lane"]}
    element = access.elements.coordinates[1]
    count = int(element.high or 0) + 1  # type: ignore[arg-type]
    return [integers.values_of([term], {**at, element: e})[0] for e in range(count)]


def _scattered(access: Access, point: Mapping[str, int]) -> Witness:
    """The witness of an order that breaks, with the places in the buffer."""
    bits, e = access.element_bits, point["e"]
    run = [bit // bits for bit in _at(access, access.elements.output(BIT), point)]
    free = [f"{name} = {value}" for name, value in point.items() if name not in ("lane", "e")]
    at = f" (at {', '.join(free)})" if free else ""
    return Witness(
        f"lane {point['lane']}: element {e} is at {run[e]}, {run[e] - run[0]} after the first, "
        f"which is at {run[0]}{at}",
        (dict(point),),
        ({"m": run[0]}, {"m": run[e]}),
    )


def _row_ends(where: list[tuple[int, ...]], e: int, shape: tuple[int, ...]) -> bool:
    """Whether the values run along a row of the tile that ends before element e."""
    along = len(shape) - 1
    if e > 1:
        steps = [b - a for a, b in zip(where[e - 2], where[e - 1], strict=True)]
        if sorted(steps) != [*[0] * along, 1]:
            return False
        along = steps.index(1)
    elif not _follows(where[0], where[1], shape):
        return False
    return where[e - 1][along] == shape[along] - 1


def _follows(one: tuple[int, ...], other: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether the second element is the next one of the tile, row by row."""
    flat = [0, 0]
    for size, a, b in zip(shape, one, other, strict=True):
        flat = [flat[0] * size + a, flat[1] * size + b]
    return flat[1] == flat[0] + 1
