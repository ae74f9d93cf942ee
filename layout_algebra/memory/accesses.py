"""Accesses: what one instruction of a warp touches, as a map from lanes to addresses.

The callable that says where each lane goes is traced once, so that an access is a frozen value: a
map from (lane, free variables) to bits, from the buffer's beginning.  What varies besides the lane
(a column, where a view begins, a row's pitch) is a coordinate of it: a claim about an access is
about all their values, and about every base address that the buffer's alignment allows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from layout_algebra import terms
from layout_algebra.conditions import Condition, at_most, equals
from layout_algebra.dims import Polynomial, Relation, Size, Symbol, as_size, is_size, symbols
from layout_algebra.errors import DimError, LayoutError, TraceError
from layout_algebra.folding import substitute, term_symbols, variables
from layout_algebra.maps import Map
from layout_algebra.memory.free import Free, free_variable, with_variables
from layout_algebra.semantics import layout_map
from layout_algebra.showing import Shown
from layout_algebra.terms import Term, Var
from layout_algebra.tracing import Conditions, Traced, term_of
from layout_algebra.values import AnyLayout

#: Addresses are below this many bytes, and so is every pitch.
MOST_ADDRESS = 1 << 28
#: The axis of an access' places: bits from the first bit of the buffer.
BIT = "bit"


@dataclass(frozen=True)
class Access(Shown):
    """One read or write of a warp.

    Attributes:
        kind: "read" or "write".
        elements: (lane, e, free variables) -> the bit where the lane's element e begins; its guard
            says which lanes are active.
        where: (lane, e, free variables) -> the element's coordinates d0, d1, ... in the view.
        bits: bits that each lane moves, from its first element on.
        element_bits: bits of one element.
        lanes: lanes of the warp.
        scope: the buffer's.
        align: bytes that the buffer's first byte is a multiple of.
        free: the Dims behind the free variables.
        text: the access in words, for messages.
        data: (laneid, m) -> coordinates i, j, ... in the view of the element that the lane holds
            there, where that lane is not the one that addresses it (ldmatrix and its kind).
    """

    kind: Literal["read", "write"]
    elements: Map
    where: Map
    bits: int
    element_bits: int
    lanes: int
    scope: str
    align: int
    free: tuple[Free, ...] = ()
    text: str = "access"
    data: Map | None = None

    @property
    def address(self) -> Map:
        """(lane, free variables) -> the bit where the lane's access begins."""
        return self.elements.fixed(e=0)

    @property
    def lane(self) -> Var:
        return self.elements.coordinates[0]

    @property
    def variables(self) -> tuple[Var, ...]:
        """The free variables."""
        return self.elements.coordinates[2:]

    def assuming(self, relations: Sequence[Relation]) -> Access:
        """The access where relations between its Dims hold: elsewhere its lanes are not active.

        Raises:
            DimError: a Dim of a relation that the access does not depend on, or another of the
                same name.
        """
        found: list[Condition] = []
        dims = {one.symbol: one for one in self.free}
        names = {one.name: one.symbol for one in self.free}
        for relation in relations:
            mentioned = symbols(relation.size) | symbols(relation.divisor)
            for symbol in mentioned:
                if names.get(symbol.name, symbol) != symbol:
                    raise DimError(
                        f"one name, two Dims: {symbol.call()} and {names[symbol.name].call()}"
                    )
            if mentioned.isdisjoint(dims):
                continue
            if not mentioned <= set(dims):
                raise DimError(f"given= {relation}: the access does not depend on all of its Dims")
            term = with_variables(terms.const(relation.size), dims)
            if relation.kind == "divides":
                if not isinstance(relation.divisor, int):
                    raise DimError(f"given= {relation}: an access divides by numbers only")
                found.append(equals(terms.mod(term, relation.divisor), 0))
            else:
                found.append(Condition(relation.kind, term))
        if not found:
            return self
        guard = (*self.elements.guard, *found)
        kept = (replace(one, guard=guard) for one in (self.elements, self.where))
        return replace(self, **dict(zip(("elements", "where"), kept, strict=True)))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Region:
    """A box of a buffer, as far as addresses need it.

    Attributes:
        layout, whole: the buffer's layout and shape.
        begin, shape: where the box begins, and its sizes.
        bits: bits of an element.
        scope, align: the buffer's.
        text: the box in words.
    """

    layout: AnyLayout
    whole: tuple[Size, ...]
    begin: tuple[Size, ...]
    shape: tuple[Size, ...]
    bits: int
    scope: str
    align: int
    text: str


def trace(
    view: Region,
    kind: Literal["read", "write"],
    going: Callable[..., Any],
    lanes: int,
    bits: int,
    free: Sequence[Size],
    active: Callable[..., Any] | None,
) -> Access:
    """The access that a callable describes; see `View.read`."""
    if type(lanes) is not int or not 1 <= lanes <= 64:
        raise LayoutError(f"a warp has 1 to 64 lanes; got {lanes!r}")
    if not isinstance(free, list | tuple):  # type: ignore[redundant-expr]
        raise LayoutError(f"free= is a list of Dims; got {free!r}")
    named = [_symbol(dim) for dim in free]
    dims = _dims(view, named)
    lane = terms.coordinate("lane", lanes)
    count = bits // view.bits
    element = terms.coordinate("e", count)
    arguments = [Traced(lane), *(Traced(dims[symbol].term) for symbol in named)]
    coordinates = _coordinates(_called("where", going, arguments), view, going)
    guard = _active(active, arguments)
    coordinates[-1] = terms.add(coordinates[-1], element)
    bounds, places = _within(view, coordinates, dims, assumed=active is not None)
    own = layout_map(view.layout, view.whole)
    values = dict(zip(own.coordinates, places, strict=True))
    place = with_variables(substitute(own.output("m"), values), dims)
    used = tuple(dims.values())
    inputs = (lane, element, *(one.variable for one in used))
    bit = terms.scale(place, view.bits)
    elements = Map(inputs, ((BIT, bit),), (), (*guard, *bounds))
    named_places = [(f"d{d}", with_variables(one, dims)) for d, one in enumerate(coordinates)]
    many = "" if lanes == 32 else f", {lanes} lanes"
    return Access(
        kind,
        elements,
        where=Map(inputs, tuple(named_places), (), elements.guard),
        bits=bits,
        element_bits=view.bits,
        lanes=lanes,
        scope=view.scope,
        align=view.align,
        free=used,
        text=f"{kind} of {bits} bits a lane from {view.text}{many}",
    )


def _called(name: str, function: Any, arguments: Sequence[Traced]) -> Any:
    """What the callable gives for symbols.

    Raises:
        TraceError: no callable, or one of other parameters than the lane and the free Dims.
    """
    if not callable(function):
        raise TraceError(f"{name} is a callable of the lane and the free Dims; got {function!r}")
    try:
        inspect.signature(function).bind(*arguments)
    except (TypeError, ValueError):
        raise TraceError(
            f"{name} has {len(arguments)} parameters: the lane, and one for each Dim of free=; "
            f"{function!r} has others"
        ) from None
    return function(*arguments)


def _symbol(dim: object) -> Symbol:
    """The symbol of a Dim."""
    if isinstance(dim, Polynomial) and len(dim.terms) == 1:
        ((monomial, factor),) = dim.terms
        if len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Symbol):
            symbol = monomial[0][0]
            if factor == symbol.multiple_of:
                return symbol
    raise LayoutError(f"free= is a list of Dims; got {dim!r}")


def _dims(view: Region, named: Sequence[Symbol]) -> dict[Symbol, Free]:
    """A free variable for every Dim of the buffer, the view and the list, bounded by the view."""
    inside: dict[Symbol, tuple[int, int]] = {}
    for begin, size, whole in zip(view.begin, view.shape, view.whole, strict=True):
        room = whole - size
        bounded = (
            _bounded(begin, room)
            if isinstance(begin, Polynomial) and isinstance(room, int)
            else None
        )
        if bounded is not None:
            symbol, low, high = bounded
            least, most = inside.get(symbol, (low, high))
            inside[symbol] = max(least, low), min(most, high)
    sizes = [*view.begin, *view.shape, *view.whole, *view.layout.affine.sizes()]
    mentioned = term_symbols(terms.const(size) for size in sizes) | set(inside)
    others = sorted(mentioned - set(named), key=lambda symbol: symbol.name)
    found: dict[Symbol, Free] = {}
    names: dict[str, Symbol] = {}
    for symbol in (*named, *others):
        if names.setdefault(symbol.name, symbol) != symbol:
            raise DimError(
                f"one name, two Dims: {names[symbol.name].call()} and {symbol.call()} in one access"
            )
        low, high = inside.get(symbol, (None, None))
        if high is None and symbol not in named:
            high = MOST_ADDRESS // symbol.multiple_of  # a pitch: its rows are in memory
        found[symbol] = free_variable(symbol, low, high)
    return found


def _bounded(begin: Polynomial, room: int) -> tuple[Symbol, int, int] | None:
    """The range of the symbol in 0 <= c*symbol + d <= room; None for anything else."""
    parts = dict(begin.terms)
    rest = parts.pop((), 0)
    if len(parts) != 1:
        return None
    ((monomial, factor),) = parts.items()
    if len(monomial) != 1 or monomial[0][1] != 1 or factor < 1:
        return None
    symbol = monomial[0][0]
    if not isinstance(symbol, Symbol):
        return None
    return symbol, -(rest // factor), (room - rest) // factor


def _coordinates(found: Any, view: Region, where: Callable[..., Any]) -> list[Term]:
    given = found if isinstance(found, tuple | list) else (found,)
    if len(given) != len(view.shape):
        raise TraceError(
            f"{where!r} gives {len(given)} coordinates; the view has {len(view.shape)} dimensions"
        )
    return [term_of(as_size(one) if is_size(one) else one) for one in given]


def _active(
    active: Callable[..., Any] | None, arguments: Sequence[Traced]
) -> tuple[Condition, ...]:
    if active is None:
        return ()
    kept = _called("active", active, arguments)
    if not isinstance(kept, Conditions):
        raise TraceError(f"active= gives conditions on its parameters; got {kept!r}")
    return kept.all


def _within(
    view: Region, coordinates: Sequence[Term], dims: dict[Symbol, Free], *, assumed: bool
) -> tuple[list[Condition], list[Term]]:
    """The coordinates in the buffer, and what is assumed so that the view lies in it.

    Raises:
        LayoutError: a coordinate that may leave the view, unless that is `assumed` not to be.
    """
    found: list[Condition] = []
    places: list[Term] = []
    for d, (coordinate, begin, size, whole) in enumerate(
        zip(coordinates, view.begin, view.shape, view.whole, strict=True)
    ):
        own = with_variables(coordinate, dims)
        last = with_variables(terms.const(size - 1), dims)
        for gap, text in ((own, "before 0"), (terms.add(last, terms.scale(own, -1)), "after it")):
            if isinstance(gap.low, int) and gap.low >= 0:
                continue
            if not assumed:
                free = "" if _only_lanes(own) else "; bound the Dims by at_most=, or say active="
                raise LayoutError(
                    f"dimension {d}: some lane goes {text}: {own.low}..{own.high} in a view of "
                    f"{size}{free}"
                )
            found.append(at_most(0, gap))
        start = with_variables(terms.const(begin), dims)
        places.append(terms.add(own, start))
        room = with_variables(terms.const(whole - size), dims)
        gaps = (start, terms.add(room, terms.scale(start, -1)))
        found += [at_most(0, gap) for gap in gaps if not isinstance(gap.low, int) or gap.low < 0]
    return found, places


def _only_lanes(term: Term) -> bool:
    return all(variable.name in ("lane", "e") for variable in variables([term]))
