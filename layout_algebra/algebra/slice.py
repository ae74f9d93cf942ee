"""slice: the restriction of a layout to a box of its logical shape, as a layout.

    formula     slice(L, shape, region)(r) = L(begin + r)      r row-major over the region's own
    sizes requires    region inside the shape, not empty
    ensures     a layout whenever one exists; otherwise None, and `why_not` says what stands in the
    way

Each dimension is restricted alone: the whole is a layout exactly when every dimension is.  In a
dimension the fastest iter has extent e and stride d, the others are a map G of the block number,
and the region starts at block b, place t, and has n elements.  Let c = e - t, the places left in
the first block, and step(q) = G(b+q) - G(b+q-1).  A layout's last iter ends where the map first
leaves its line, which leaves these cases and no other:

    within one block                 n <= c                      (n : d)
    whole blocks                     t = 0, e | n                slice(G) then (e : d)
    one line over a block's end      step(1) = e*d, n <= c + e   (n : d)
    two lines over two ends          step(1) = step(3) = e*d, n = 2(c+e)     (2 : ..), (c+e : d)
    one end in the middle            n = 2c                      (2 : step(1) - t*d), (c : d)
    every end in the middle          e = 2c, e | n, G on a line  (n/e : step), (2 : step - t*d), (c
    : d)

Neighbouring iters that count on are merged first, so G never steps by e*d twice in a row; that is
why the lists end where they end.  Property tests compare with an extraction that looks at every
element and therefore cannot miss a layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layout_algebra.algebra.canonicalize import canonicalize, merged
from layout_algebra.algebra.deciding import Decide, checked_decide, knowing_extents
from layout_algebra.algebra.group import check_sizes, group
from layout_algebra.algebra.no_layout import NoLayout
from layout_algebra.algebra.normal_form import merge_shard
from layout_algebra.algebra.threads import Target
from layout_algebra.axes import Axis, m
from layout_algebra.dims import Size, as_size, bounds, is_size
from layout_algebra.errors import CoordinateError
from layout_algebra.values import AnyTile, Iter

#: A place or a difference of places: axis -> number, zeros left out.
Vector = dict[Axis, Size]


@dataclass(frozen=True)
class Piece:
    """The restriction of one dimension: iters, and where its first element is."""

    iters: tuple[Iter, ...]
    start: Vector


Region = Sequence[tuple[Size, Size]]


def slice_tile(
    tile: AnyTile,
    shape: Sequence[Size],
    region: Region,
    target: Target | None = None,
    decide: Decide | None = None,
) -> AnyTile | NoLayout:
    """The restriction to a region of (begin, end) pairs, or why it is no layout.

    Raises:
        CoordinateError: a region of another rank, outside the shape, empty or reversed.
        GroupError: a shape that the layout cannot be cut to.
    """
    sizes = check_sizes(shape)
    parts, seps = group(canonicalize(tile, target), sizes, decide)
    pairs = check_region(
        sizes, region, checked_decide(decide) or knowing_extents([*tile.extents, *sizes])
    )
    ask = checked_decide(decide) or knowing_extents(
        [*tile.extents, *sizes, *(end - begin for begin, end in pairs)]
    )
    shard: list[Iter] = []
    offset = dict(parts.offsets)
    for d, (begin, end) in enumerate(pairs):
        piece = _restrict(_merged(parts.shard[seps[d] : seps[d + 1]]), begin, end - begin, ask)
        if isinstance(piece, NoLayout):
            return NoLayout(f"dimension {d}, [{begin}, {end}): {piece.reason}", piece.certain)
        shard += piece.iters
        for axis, value in piece.start.items():
            offset[axis] = offset.get(axis, 0) + value
    return tile.rebuild(shard, parts.replica, offset)


def _merged(group: Sequence[Iter]) -> tuple[Iter, ...]:
    """The iters of one dimension, merged, at least one; a single one stays on its axis."""
    units_aside = merged(it for it in group if it.extent != 1)
    if not units_aside:
        return (Iter(1, 1, group[0].axis),)
    return tuple(units_aside if len(units_aside) == 1 else merge_shard(units_aside))


def check_region(sizes: Sequence[Size], region: Region, ask: Decide) -> list[tuple[Size, Size]]:
    """The region's (begin, end) pairs, checked against the shape.

    Raises:
        CoordinateError: another rank, or a pair that is not inside its dimension.
    """
    if not isinstance(region, Sequence) or isinstance(region, str):  # type: ignore[redundant-expr]
        raise CoordinateError(f"a region is a (begin, end) pair for each dimension; got {region!r}")
    if len(region) != len(sizes):
        raise CoordinateError(f"a region of {len(region)} dimensions for a shape of {len(sizes)}")
    pairs: list[tuple[Size, Size]] = []
    for d, (pair, size) in enumerate(zip(region, sizes, strict=True)):
        try:
            begin, end = pair
        except (TypeError, ValueError):
            begin = end = None
        if not is_size(begin) or not is_size(end):
            raise CoordinateError(f"dimension {d} of a region is (begin, end); got {pair!r}")
        begin, end = as_size(begin), as_size(end)  # type: ignore[arg-type]
        for gap, wrong in (
            (begin, f"begins at {begin}, before 0"),
            (size - end, f"ends at {end}, after {size}"),
            (end - begin - 1, f"is empty: [{begin}, {end})"),
        ):
            # a symbolic bound is only refused where it is surely outside: the caller vouches for it
            most = bounds(gap)[1]
            if (isinstance(gap, int) and gap < 0) or (most is not None and most < 0):
                raise CoordinateError(f"dimension {d} of the region {wrong}")
        pairs.append((begin, end))
    return pairs


def _restrict(iters: tuple[Iter, ...], begin: Size, n: Size, ask: Decide) -> Piece | NoLayout:
    """g(begin + r), 0 <= r < n, for the map g of merged iters."""
    *outer, (e, d, axis) = iters
    if not outer:
        return Piece((Iter(n, d, axis),), _vector({axis: begin * d}))
    slow = tuple(outer)
    cut = _divmod(begin, e, ask)
    if cut is None:
        return NoLayout(f"it is not known where {begin} lies in blocks of {e}", certain=False)
    b, t = cut
    first = _place(slow, b, ask)
    if first is None:
        return NoLayout(f"it is not known where block {b} lies", certain=False)
    start = _sum(first, {axis: t * d})
    c = e - t
    if ask.at_least(c - n, 0):
        return Piece((Iter(n, d, axis),), start)
    blocks = ask.quotient(n, e)
    if ask.equal(t, 0) and blocks is not None:
        inner = _restrict(slow, b, blocks, ask)
        if isinstance(inner, NoLayout):
            return inner
        return Piece((*inner.iters, Iter(e, d, axis)), inner.start)
    unknown = NoLayout(f"it is not known that it begins and ends with blocks of {e}", certain=False)
    if not all(isinstance(x, int) for it in iters for x in it[:2]) or not isinstance(b, int):
        return unknown
    if not isinstance(n, int) or not isinstance(t, int):
        return unknown
    return _crossing(slow, Iter(e, d, axis), b, t, n, start, ask)


def _crossing(
    slow: tuple[Iter, ...], fast: Iter, b: int, t: int, n: int, start: Vector, ask: Decide
) -> Piece | NoLayout:
    """The cases that begin or end inside a block, for numbers; see the module's text."""
    e, d, axis = fast
    if not isinstance(e, int):
        return NoLayout(f"blocks of {e}", certain=False)
    c = e - t

    def step(q: int) -> Vector:
        return _difference(_place(slow, b + q, ask) or {}, _place(slow, b + q - 1, ask) or {})

    line = _vector({axis: e * d})
    jump = _difference(step(1), {axis: t * d})
    if step(1) == line:
        if n <= c + e:
            return Piece((Iter(n, d, axis),), start)
        wide = _difference(step(2), {axis: -c * d})
        outer = _as_iter(2, wide)
        if n == 2 * (c + e) and step(3) == line and outer is not None:
            return Piece((outer, Iter(c + e, d, axis)), start)
        return NoLayout(f"the line of {c + e} places is left and not met again")
    over = _as_iter(2, jump)
    if n == 2 * c and over is not None:
        return Piece((over, Iter(c, d, axis)), start)
    if 2 * c == e and n % e == 0 and over is not None:
        count = n // e
        along = _as_iter(count, step(1))
        if along is not None and _on_a_line(slow, b, count, step(1), ask):
            return Piece((along, over, Iter(c, d, axis)), start)
    return NoLayout(f"after {c} places the map leaves its line, and does not repeat itself")


def _on_a_line(slow: tuple[Iter, ...], b: int, count: int, step: Vector, ask: Decide) -> bool:
    """Whether G(b), ..., G(b + count) are on one line with this step."""
    position = b
    while position < b + count:
        reach = _run(slow, position)
        if reach > 0:
            if _vector({slow[-1].axis: slow[-1].stride}) != step:
                return False
            position += reach
        else:
            after = _place(slow, position + 1, ask)
            if _difference(after or {}, _place(slow, position, ask) or {}) != step:
                return False
            position += 1
    return True


def _run(slow: tuple[Iter, ...], position: int) -> int:
    """How many steps from a position stay within one run of the fastest iter."""
    extent = slow[-1].extent
    if not isinstance(extent, int):
        return 0
    return extent - 1 - position % extent if len(slow) > 1 else 1 << 62


def _place(iters: Sequence[Iter], index: Size, ask: Decide) -> Vector | None:
    """The place of an index; the first digit is not reduced.  None: a digit is not known."""
    place: Vector = {}
    rest = index
    for extent, stride, axis in reversed(iters[1:]):
        cut = _divmod(rest, extent, ask)
        if cut is None:
            return None
        rest, digit = cut
        place[axis] = place.get(axis, 0) + digit * stride
    if iters:
        _, stride, axis = iters[0]
        place[axis] = place.get(axis, 0) + rest * stride
    return _vector(place)


def _divmod(x: Size, d: Size, ask: Decide) -> tuple[Size, Size] | None:
    """Quotient and remainder where they are known: numbers, exact division, or x < d."""
    if isinstance(x, int) and isinstance(d, int):
        return divmod(x, d)
    exact = ask.quotient(x, d)
    if exact is not None:
        return exact, 0
    if ask.at_least(x, 0) and ask.at_least(d - 1 - x, 0):
        return 0, x
    if isinstance(x, int) or not isinstance(d, int):
        return None
    rest = next((value for mono, value in x.terms if not mono), 0) % d
    whole = ask.quotient(x - rest, d)
    return None if whole is None else (whole, rest)


def _vector(place: Vector) -> Vector:
    return {axis: value for axis, value in place.items() if value != 0}


def _sum(a: Vector, b: Vector) -> Vector:
    return _vector({axis: a.get(axis, 0) + b.get(axis, 0) for axis in (*a, *b)})


def _difference(a: Vector, b: Vector) -> Vector:
    return _vector({axis: a.get(axis, 0) - b.get(axis, 0) for axis in (*a, *b)})


def _as_iter(extent: Size, step: Vector) -> Iter | None:
    """An iter with this step; None when the step is on several axes at once."""
    if len(step) > 1:
        return None
    for axis, value in step.items():
        return Iter(extent, value, axis)
    return Iter(extent, 0, m)
