"""TMA over a whole tile: boxes of a tensor in global memory, and where they lie in shared memory.

One try for each swizzle mode.  A tile is cut into equal boxes, the largest ones that fit: each of
them lies in shared memory row by row under the mode's swizzle, from a place where the mode's
pattern begins.  Elements of 4 or 6 bits are padded, 16 of them to 16 bytes, where the buffer in
shared memory is one of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from layout_algebra import terms
from layout_algebra.axes import m
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.shared import SwizzleMode
from layout_algebra.hardware.tma import (
    MOST_BOX,
    MOST_RANK,
    PADDED_BITS,
    PADDED_ROW,
    SHARED_ALIGN,
    UNIT,
    tma_box_problem,
    tma_shared_problem,
    tma_tensor_problem,
)
from layout_algebra.instructions.claims import Found, Stated
from layout_algebra.instructions.tables import CannotMoveError, Memory, fitted
from layout_algebra.maps import Map
from layout_algebra.memory.buffers import View
from layout_algebra.semantics import layout_map, swizzle_term
from layout_algebra.terms import Sum, Term, Var
from layout_algebra.values import Swizzled, row_major_strides

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tries = Iterator[tuple[str, Callable[[], Found]]]


def boxes(tensor: Memory, tile: Memory, *, store: bool) -> Tries:
    """TMA under each swizzle mode.

    Args:
        tensor: the piece of global memory.
        tile: the piece of shared memory.
        store: from shared to global memory.
    """
    for mode in SwizzleMode:
        name = f"TMA {'store' if store else 'load'}, swizzle {mode}"

        def attempt(mode: SwizzleMode = mode) -> Found:
            return _moved(tensor, tile, mode, store)

        yield name, attempt


def _moved(tensor: Memory, tile: Memory, mode: SwizzleMode, store: bool) -> Found:
    """How boxes move the tile.

    Raises:
        CannotMoveError: they do not.
    """
    padded = tensor.bits in PADDED_BITS and tile.bits == 8
    _check(tensor, tile, mode, padded)
    if mode is SwizzleMode.B128_ATOM_32B_FLIP_8B:
        raise CannotMoveError(f"which lines {mode} flips is not confirmed: it is not modelled")
    shape, bits = tensor.shape, tile.bits
    table = tile.table.reshape(shape)
    problem = ""
    for box in _candidates(shape, bits, mode, padded):
        found = (
            tma_box_problem(box, f"b{tensor.bits}", swizzle=mode, store=store, padded=padded)
            or _begins_between(tensor, box, padded)
            or _misplaced(table, box, bits, mode)
        )
        if found is None:
            begins = _begins(table, box, bits, mode)
            claim = Stated("Equivalent", (_written(tile, box, begins, mode), tile.map))
            return Found(len(begins), (claim,))
        problem = problem or found
    raise CannotMoveError(problem)


def _begins_between(tensor: Memory, box: tuple[int, ...], padded: bool) -> str | None:
    """Why a box of narrow elements may not begin in its column, or None."""
    if tensor.bits not in PADDED_BITS:
        return None
    first = int(_view(tensor).begin[-1])  # type: ignore[arg-type]
    columns = range(first, first + tensor.shape[-1], box[-1])
    odd = next((column for column in columns if column % PADDED_ROW), None)
    if odd is None:
        return None
    told = "are what it takes" if padded else "alone are known to be taken"
    return (
        f"a box begins in column {odd}: of {tensor.bits}-bit elements multiples of {PADDED_ROW} "
        f"{told}"
    )


def _check(tensor: Memory, tile: Memory, mode: SwizzleMode, padded: bool) -> None:
    """Raises CannotMoveError for what no box of the mode can do."""
    tensor.check_single()
    tile.check_single()
    if tensor.bits != tile.bits and not padded:
        raise CannotMoveError(
            f"elements have {tensor.bits} bits in global and {tile.bits} in shared memory: it "
            "moves them as they are"
        )
    if len(tensor.shape) > MOST_RANK:
        raise CannotMoveError(f"a tensor has at most {MOST_RANK} dimensions; got {tensor.shape}")
    problem = _tensor_problem(tensor, padded)
    if problem is not None:
        raise CannotMoveError(problem)
    tile.check_align(max(SHARED_ALIGN, mode.boundary))
    tile.check_written_once()


def _view(tile: Memory) -> View:
    """The view of a buffer that a tile is."""
    if tile.view is None:
        raise LayoutError("instructions: TMA moves views of buffers")
    return tile.view


def _tensor_problem(tensor: Memory, padded: bool) -> str | None:
    """Why TMA cannot reach the whole buffer, or None."""
    buffer = _view(tensor).buffer
    tensor.check_align(2 * UNIT if padded else UNIT)
    found = _strides(tensor)
    if isinstance(found, str):
        return found
    begin, (*outer, last) = found
    if last not in (0, 1):
        return (
            f"neighbours in the last dimension are {last} elements apart; in a tensor for TMA they "
            "touch"
        )
    in_bytes = [step * buffer.bits // 8 for step in outer]
    shape: Any = buffer.shape
    address = begin * buffer.bits // 8
    return tma_tensor_problem(shape, in_bytes, f"b{buffer.bits}", address=address, padded=padded)


def _strides(tensor: Memory) -> tuple[int, list[int]] | str:
    """The first element, and how far neighbours of each dimension are apart (0 in one of size 1).

    Or why the layout has no such strides.
    """
    buffer = _view(tensor).buffer
    if isinstance(buffer.layout, Swizzled) and not buffer.layout.swizzle.is_identity:
        return "the layout in global memory is swizzled: a tensor for TMA has strides"
    own = layout_map(buffer.layout, buffer.shape)
    term = own.output(m.name)
    if isinstance(term, terms.Const):
        return int(term.value), [0] * len(own.coordinates)  # type: ignore[arg-type]
    parts = dict(term.parts) if isinstance(term, Sum) else {term: 1}
    if any(part not in own.coordinates for part in parts):
        return "the layout in global memory has no stride for each dimension"
    begin = term.constant if isinstance(term, Sum) else 0
    return int(begin), [int(parts.get(v, 0)) for v in own.coordinates]  # type: ignore[arg-type]


def _candidates(
    shape: tuple[int, ...], bits: int, mode: SwizzleMode, padded: bool
) -> Iterator[tuple[int, ...]]:
    """Boxes that cut the shape evenly, large ones first."""
    rows = [[n for n in range(min(size, MOST_BOX), 0, -1) if size % n == 0] for size in shape]
    if padded:
        if shape[-1] % PADDED_ROW:
            raise CannotMoveError(
                f"padded rows have {PADDED_ROW} elements; a row of the tile has {shape[-1]}"
            )
        rows[-1] = [PADDED_ROW]
    elif mode is not SwizzleMode.NONE:
        row = 8 * mode.row_bytes // bits
        if shape[-1] % row:
            raise CannotMoveError(
                f"a row of the tile has {shape[-1] * bits // 8} bytes, {mode} has rows of "
                f"{mode.row_bytes}; how shorter ones are padded is not confirmed"
            )
        rows[-1] = [row]
    yield from sorted(product(*rows), key=prod, reverse=True)


def _blocks(table: NDArray[Any], box: tuple[int, ...]) -> NDArray[Any]:
    """(box, element of it), both row by row."""
    rank = len(box)
    cut = [part for size, n in zip(table.shape, box, strict=True) for part in (size // n, n)]
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    return table.reshape(cut).transpose(order).reshape(-1, prod(box))


def _undone(bits_at: NDArray[Any], mode: SwizzleMode) -> NDArray[Any]:
    """Addresses, in bits, before the mode's swizzle, which is its own inverse."""
    own = mode.swizzle
    low, mask = own.per_element + 3, (1 << own.swizzle_len) - 1
    return bits_at ^ ((bits_at >> (low + own.atom_len) & mask) << low)


def _misplaced(
    table: NDArray[Any], box: tuple[int, ...], bits: int, mode: SwizzleMode
) -> str | None:
    """Why the boxes do not lie in shared memory as the mode writes them, or None."""
    import numpy as np

    steps = bits * np.arange(prod(box))
    first = _undone(table[tuple(slice(n) for n in box)].reshape(1, -1), mode)
    found = _undone(_blocks(table, box), mode) if (first - first[0, 0] == steps).all() else first
    wrong = np.argwhere(found - found[:, :1] != steps)
    shown = " x ".join(map(str, box))
    if wrong.size:
        which, element = map(int, wrong[0])
        place = np.unravel_index(element, box)
        at = ", ".join(str(int(one)) for one in place)
        got, begin = int(_blocks(table, box)[which, element]), int(found[which, 0])
        wanted = int(_undone(np.asarray(begin + bits * element), mode))
        return (
            f"element ({at}) of box {which} of {shown} is at byte {got // 8}; with swizzle {mode} "
            f"it comes to byte {wanted // 8}"
        )
    for begin in found[:, 0].tolist():
        problem = tma_shared_problem(begin // 8, mode)
        if problem is not None:
            return f"boxes of {shown}: {problem}"
    return None


def _begins(
    table: NDArray[Any], box: tuple[int, ...], bits: int, mode: SwizzleMode
) -> NDArray[Any]:
    """box -> the element of shared memory where it begins."""
    return _undone(_blocks(table, box)[:, 0], mode) // bits


def _written(tile: Memory, box: tuple[int, ...], begins: NDArray[Any], mode: SwizzleMode) -> Map:
    """Where TMA puts the elements of all boxes, over the coordinates of the tile."""
    coordinates: dict[int, Var] = dict(enumerate(tile.map.coordinates))
    number: Term = terms.const(0)
    inside: Term = terms.const(0)
    for d, step in enumerate(row_major_strides(box)):
        outer, inner = terms.divmod_terms(coordinates[d], box[d])
        number = terms.linear([(number, tile.shape[d] // box[d]), (outer, 1)])
        inside = terms.linear([(inside, 1), (inner, step)])
    place = terms.add(fitted(begins)(number), inside)
    own = mode.swizzle_of(tile.bits)
    return Map(tile.map.coordinates, ((m.name, swizzle_term(own, place)),))
