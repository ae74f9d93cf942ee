"""The (vec, per_phase, max_phase) swizzle, and the one (B, M, S) swizzle that it is, if any.

    old = PhaseSwizzle(vec=8, per_phase=2, max_phase=4)
    old.to_compose(16, 32).value      # ComposeLayout(3, 2, 3, S[(16, 32) : (32, 1)])

Over a tile of rows and columns the element (r, c) is at

    r*cols + ((c // vec) ^ ((r // per_phase) % max_phase)) * vec + c % vec

which is Triton's older way to say it (`SwizzledSharedLayout`, without its wrapping into the row,
see below).  It is a single swizzle only together with the number of columns: with 64 columns of 2
bytes (8, 1, 8) is the 128-byte mode, with 32 columns it leaves the row.

A swizzle XORs one contiguous field of the address, and the bits that it changes anywhere are that
field; so the field is read off the map, and only the distance and the direction are left to try.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from layout_algebra.claims import Equivalent
from layout_algebra.interop.refusals import InteropError, exported
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.values import Swizzle
from layout_algebra.verdicts import Proof, Witness

#: Elements of a tile that are looked at.
MOST_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class Composed:
    """What `to_compose` answers.

    Attributes:
        value: the swizzled row-major tile; None when no single swizzle is the map.
        proof: that it is the same map, None without a value.
        map: the map itself, exactly.
        failures: for each swizzle that was tried, the first element, in row-major order, on which
            it is wrong.
        reason: why there is no value.
    """

    value: ComposeLayout | None
    proof: Proof | None
    map: Map
    failures: dict[Swizzle, Witness]
    reason: str = ""


@dataclass(frozen=True)
class PhaseSwizzle:
    """The older swizzle; see the module's text.

    Args:
        vec: elements that stay together.
        per_phase: rows with one phase.
        max_phase: number of phases.
        order: the dimensions, fastest first: (1, 0) row-major, (0, 1) column-major.  "Rows" and
            "columns" are always the slow and the fast dimension.

    Where max_phase * vec is more than a row, the formula leaves the row and meets the next ones;
    Triton then wraps around inside the row, which is the same as fewer phases.

    Raises:
        InteropError: a parameter that is not a positive int.
    """

    vec: int
    per_phase: int
    max_phase: int
    order: tuple[int, int] = (1, 0)

    def __post_init__(self) -> None:
        for name in ("vec", "per_phase", "max_phase"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InteropError(f"{name} is a positive int; got {value!r}")
        given: Any = self.order
        if not isinstance(given, tuple | list) or tuple(given) not in ((0, 1), (1, 0)):
            raise InteropError(f"the order is (1, 0), row-major, or (0, 1); got {given!r}")
        object.__setattr__(self, "order", tuple(given))

    def within_row(self, rows: int, cols: int) -> PhaseSwizzle:
        """Triton's reading: phases beyond the row wrap, which for powers of two means fewer."""
        fast = (rows, cols)[self.order[0]]
        phases = max(1, min(self.max_phase, fast // self.vec))
        return PhaseSwizzle(self.vec, self.per_phase, phases, self.order)

    def to_map(self, rows: int, cols: int) -> Map:
        """The map over the elements (i, j) of a tile of this shape, exactly."""
        shape = _checked_shape(rows, cols)
        fast = shape[self.order[0]]
        vec, per_phase, max_phase = self.vec, self.per_phase, self.max_phase

        def place(i: Any, j: Any) -> Any:
            c, r = (i, j)[self.order[0]], (i, j)[self.order[1]]
            vector = (c // vec) ^ ((r // per_phase) % max_phase)
            return r * fast + vector * vec + c % vec

        return Map.of(place, shape)

    def to_compose(self, rows: int, cols: int) -> Composed:
        """The single swizzle of the row-major tile (column-major for order (0, 1)) that it is.

        Args:
            rows, cols: the tile's shape.

        Returns:
            The layout with its proof; or none, and for every candidate the first element that
            tells them apart.

        Raises:
            InteropError: a shape that is not positive, or a tile too large to look at.
        """
        whole = self.to_map(rows, cols)
        if rows * cols > MOST_ELEMENTS:
            raise InteropError(
                f"a tile of {rows * cols} elements; at most {MOST_ELEMENTS} are looked at"
            )
        strides = (cols, 1) if self.order == (1, 0) else (1, rows)
        tile = TileLayout.from_iters([(rows, strides[0], "m"), (cols, strides[1], "m")])
        places = whole.table()["m"]
        plain = tile.table((rows, cols))["m"]
        changed = int(_all_bits(places ^ plain))
        failures: dict[Swizzle, Witness] = {}
        usual = (self.max_phase - 1) * self.vec
        for swizzle in _candidates(changed, usual, (rows * cols - 1).bit_length()):
            layout = ComposeLayout._from_parts(swizzle, tile)
            wrong = _first_difference(places, layout.table((rows, cols))["m"])
            if wrong is None:
                proof = exported(layout, Equivalent(layout.map((rows, cols)), whole)).proof
                return Composed(layout, proof, whole, failures)
            failures[swizzle] = wrong
        return Composed(None, None, whole, failures, _why(changed))


def _checked_shape(rows: object, cols: object) -> tuple[int, int]:
    if type(rows) is not int or type(cols) is not int or rows < 1 or cols < 1:
        raise InteropError(f"rows and columns are positive ints; got {rows!r} and {cols!r}")
    return rows, cols


def _all_bits(numbers: Any) -> int:
    import numpy as np  # only where a tile is looked at

    return int(np.bitwise_or.reduce(numbers, axis=None))


def _candidates(changed: int, usual: int, bits: int) -> Iterator[Swizzle]:
    """No swizzle, and every one that changes these bits on addresses of so many bits.

    Wider ones act alike there, so the narrowest stand for them.  The field that vec and max_phase
    name is tried too: where it is another it is wrong, and shows where.
    """
    yield Swizzle(0, 0, 0)
    for field in dict.fromkeys((changed, usual)):
        if not _is_field(field):
            continue
        low = (field & -field).bit_length() - 1
        width = field.bit_length() - low
        for distance in range(width, bits - low - width + 1):
            yield Swizzle(low, width, distance)
        for distance in range(width, low + 1):
            yield Swizzle(low - distance, width, distance, swizzle_inner=False)


def _is_field(mask: int) -> bool:
    """Whether the bits of a mask are some, side by side."""
    return mask > 0 and (mask + (mask & -mask)) & mask == 0


def _first_difference(right: Any, other: Any) -> Witness | None:
    """The first element at which two tables differ."""
    import numpy as np  # only where a tile is looked at

    hits = np.flatnonzero(right != other)
    if not hits.size:
        return None
    index: Sequence[Any] = np.unravel_index(int(hits[0]), right.shape)
    element = tuple(int(number) for number in index)
    places = int(right[element]), int(other[element])
    text = f"element {element} is at {places[0]}, and at {places[1]} with this swizzle"
    point: dict[str, int] = dict(zip(("i", "j"), element, strict=True))
    return Witness(text, (point,), tuple({"m": place} for place in places))


def _why(changed: int) -> str:
    if _is_field(changed):
        return "no swizzle that changes the same address bits is the same map: see failures"
    return f"the address bits that change ({changed:#b}) are no single field that could be XORed"
