"""Tiles as tables: where a tile's elements are in memory, and which registers hold them.

    memory = Memory.of(sA[0:16, 0:16])
    memory.table                      # the bit where each element begins, from the buffer's first
    registers = Registers.of(mma("m16n8k16", "float16").A, 16)
    registers.elements[0, 5, 3]       # the element that lane 5 of warp 0 holds at m = 3

An instruction that fits is then said by formulas again: `fitted` makes one of a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from layout_algebra import terms
from layout_algebra.algebra.no_layout import NoLayout
from layout_algebra.algebra.table_form import iters_of
from layout_algebra.axes import m
from layout_algebra.errors import LayoutError
from layout_algebra.folding import substitute
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.mma_tables import form, sparse_form
from layout_algebra.maps import Map, shape_coordinates
from layout_algebra.memory.buffers import Buffer, View
from layout_algebra.memory.dtypes import bits_of
from layout_algebra.memory.lookups import looked_up
from layout_algebra.semantics import layout_map
from layout_algebra.terms import Term, Var

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Elements of a tile that are looked at one by one.
MOST_ELEMENTS = 1 << 20
LANES, REGISTER_BITS = 32, 32
#: Types that some instructions hold in bytes, and some packed.
_NARROW = ("e2m1", "e2m3", "e3m2")


class CannotMoveError(LayoutError):
    """Why an instruction does not move a tile: the sentence that its `Move` gives as the reason."""


# -- memory ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Memory:
    """A tile in memory: a view of a buffer, or an entry of the catalogue in TMEM.

    Attributes:
        map: coordinates in the tile -> places.
        bits: bits of an element.
        align: bytes that the buffer's first byte is a multiple of.
        scope: the buffer's.
        view: the view; None of an entry.
    """

    map: Map
    bits: int
    align: int
    scope: str
    view: View | None = None

    @staticmethod
    def of(where: Buffer | View) -> Memory:
        """The tile of a buffer or a view.

        Raises:
            LayoutError: sizes that are no numbers, or too many elements.
        """
        view = where.whole if isinstance(where, Buffer) else where
        buffer = view.buffer
        sizes = [*view.begin, *view.shape, *buffer.shape]
        if buffer.layout.is_symbolic or not all(isinstance(size, int) for size in sizes):
            raise LayoutError(f"instructions: give numbers for the Dims of {view}")
        own = layout_map(buffer.layout, buffer.shape)
        inside = shape_coordinates(view.shape)
        moved = {
            old: terms.add(new, terms.const(begin))
            for old, new, begin in zip(own.coordinates, inside, view.begin, strict=True)
        }
        outputs = tuple((axis, substitute(term, moved)) for axis, term in own.outputs)
        found = Map(inside, outputs)
        _check_size(found)
        return Memory(found, buffer.bits, buffer.align, buffer.scope, view)

    @staticmethod
    def of_cells(entry: Entry) -> Memory:
        """The tile of an entry in TMEM, with its copies."""
        found = entry.map()
        _check_size(found)
        return Memory(found, bits_of(entry.dtype), 1, "tmem")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.map.extents  # type: ignore[return-value]

    @property
    def table(self) -> NDArray[Any]:
        """The bit where each element begins, from the buffer's first; of the first copy."""
        return self.column(m.name) * self.bits

    def column(self, axis: str) -> NDArray[Any]:
        """An axis' number for each element, row by row, of the first copy."""
        import numpy as np

        found = self.map.table().get(axis)
        size = prod(self.shape)
        return np.zeros(size, np.int64) if found is None else found.reshape(size, -1)[:, 0]

    def place(self, flat: Term) -> Term:
        """The place on axis m of the element with a row-major number."""
        return substitute(self.map.output(m.name), self.map.feed({"flat": flat}))

    def check_single(self) -> None:
        """Raises CannotMoveError for a layout with copies."""
        if self.map.replicas:
            raise CannotMoveError("the layout has copies: an instruction knows one place of each")

    def check_align(self, size: int) -> None:
        """Raises CannotMoveError unless the buffer begins at multiples of so many bytes."""
        if self.align % size:
            raise CannotMoveError(
                f"the buffer begins at multiples of {self.align} bytes: it takes align={size}"
            )

    def check_written_once(self) -> None:
        """Raises CannotMoveError when two elements are at one place."""
        import numpy as np

        table = self.table
        order = np.argsort(table, kind="stable")
        same = np.flatnonzero(np.diff(table[order]) < self.bits)
        if same.size:
            first, second = (int(order[same[0] + k]) for k in (0, 1))
            raise CannotMoveError(f"elements {first} and {second} would be written to one place")


# -- registers ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class Registers:
    """A tile in the registers of a warp, or of several.

    Attributes:
        map: coordinates of the tile -> thread axes and m.
        bits: bits of an element in its register; None where nothing says them.
        elements: (warp, lane, m) -> the element held there, by its row-major number; -1 for none.
    """

    map: Map
    bits: int | None
    elements: NDArray[Any]

    @staticmethod
    def of(fragment: Entry | Map, bits: int | None = None) -> Registers:
        """The registers of a fragment.

        Args:
            fragment: an entry of the catalogue, or a Map to laneid (and wid_in_wg or warpid) or
                tid_in_wg, and m.
            bits: what an element has in memory.

        Raises:
            LayoutError: no fragment of numbers over those axes, or two elements in one register.
        """
        whole = Map.of(fragment)
        own = register_bits(fragment) if isinstance(fragment, Entry) else bits
        _check_fragment(whole)
        return Registers(whole, own, _held(whole))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.map.extents  # type: ignore[return-value]

    @property
    def warps(self) -> int:
        return self.elements.shape[0]

    @property
    def held(self) -> int:
        """Elements of a thread that holds any."""
        return self.elements.shape[2]

    @property
    def active(self) -> NDArray[Any]:
        """(warp, lane) -> whether it holds anything."""
        import numpy as np

        return np.any(self.elements >= 0, axis=2)

    def check_width(self, bits: int) -> None:
        """Raises CannotMoveError unless elements have as many bits here as in memory."""
        if self.bits is not None and self.bits != bits:
            raise CannotMoveError(
                f"an element has {self.bits} bits in the registers and {bits} in memory: it is "
                "converted first"
            )

    def check_even(self) -> None:
        """Raises CannotMoveError unless all threads that hold anything hold equally much."""
        import numpy as np

        gaps = np.argwhere((self.elements < 0) & self.active[:, :, None])
        if gaps.size:
            warp, lane, place = map(int, gaps[0])
            raise CannotMoveError(
                f"lane {lane} of warp {warp} holds nothing at m = {place}, and {self.held} places "
                "are moved"
            )

    def check_all_lanes(self) -> None:
        """Raises CannotMoveError unless every lane of each warp holds elements."""
        import numpy as np

        self.check_even()
        idle = np.argwhere(~self.active)
        if idle.size:
            warp, lane = map(int, idle[0])
            raise CannotMoveError(f"lane {lane} of warp {warp} holds nothing: all {LANES} lanes do")

    def check_once(self) -> None:
        """Raises CannotMoveError for a fragment with copies."""
        if self.map.replicas:
            raise CannotMoveError("the fragment has copies: two lanes would write one element")

    def words(self, bits: int) -> int:
        """32-bit registers of a thread.

        Raises:
            CannotMoveError: elements that do not fill them.
        """
        if REGISTER_BITS % bits or self.held * bits % REGISTER_BITS:
            raise CannotMoveError(
                f"a lane holds {self.held} elements of {bits} bits, which are no whole registers "
                f"of {REGISTER_BITS}"
            )
        return self.held * bits // REGISTER_BITS

    def symbols(self) -> tuple[tuple[Var, ...], Term, Term, Term]:
        """Coordinates named as the fragment's axes, and the warp, lane and m that they mean."""
        sizes = {
            "tid_in_wg": LANES * self.warps,
            "laneid": LANES,
            "wid_in_wg": self.warps,
            "warpid": self.warps,
            "m": self.held,
        }
        own = {axis: terms.coordinate(axis, sizes[axis]) for axis in self.map.axes}
        warp: Term = own.get("wid_in_wg", own.get("warpid", terms.const(0)))
        lane: Term = own.get("laneid", terms.const(0))
        if "tid_in_wg" in own:
            warp, lane = terms.divmod_terms(own["tid_in_wg"], LANES)
        return tuple(own.values()), warp, lane, own.get("m", terms.const(0))

    def coordinates_of(self, flat: Term) -> tuple[tuple[str, Term], ...]:
        """The tile's coordinates, by name, of the element with a row-major number."""
        digits = terms.split(flat, self.map.extents)
        names = [variable.name for variable in self.map.coordinates]
        return tuple(zip(names, digits, strict=True))


def register_bits(entry: Entry) -> int:
    """Bits that an element takes in a register: narrow types of some mma sit in bytes."""
    kind, *rest = entry.name.split(".")
    if kind not in ("mma", "mma_sparse") or entry.dtype not in _NARROW:
        return bits_of(entry.dtype)
    find = form if kind == "mma" else sparse_form
    return REGISTER_BITS // find(rest[0], entry.dtype).packed


def _check_size(tile: Map) -> None:
    if prod(tile.extents) > MOST_ELEMENTS:  # type: ignore[arg-type]
        raise LayoutError(
            f"instructions: a tile has at most {MOST_ELEMENTS} elements; got {tile.size}"
        )


def _check_fragment(whole: Map) -> None:
    if whole.is_symbolic or whole.guard:
        raise LayoutError(f"instructions: a fragment has numbers and no guard; got {whole}")
    if any(variable.low != 0 for variable in (*whole.coordinates, *whole.replicas)):
        raise LayoutError("instructions: a fragment's coordinates count from 0")
    _check_size(whole)
    threads = {axis for axis in whole.axes if axis != m.name}
    legal = ({"tid_in_wg"}, {"laneid"}, {"laneid", "wid_in_wg"}, {"laneid", "warpid"})
    if threads not in legal:
        raise LayoutError(
            "instructions: a fragment is over laneid, with wid_in_wg or warpid, or over "
            f"tid_in_wg, and m; got {', '.join(whole.axes)}"
        )


def _held(whole: Map) -> NDArray[Any]:
    """(warp, lane, m) -> element, -1 for none."""
    import numpy as np

    size = int(whole.size)  # type: ignore[arg-type]
    found = {axis: column.reshape(size, -1) for axis, column in whole.table().items()}
    nothing = np.zeros_like(next(iter(found.values())))
    lane = found.get("laneid", nothing)
    warp = found.get("wid_in_wg", found.get("warpid", nothing))
    if "tid_in_wg" in found:
        warp, lane = np.divmod(found["tid_in_wg"], LANES)
    place = found.get(m.name, nothing)
    if min(lane.min(), warp.min(), place.min()) < 0 or lane.max() >= LANES:
        raise LayoutError(f"instructions: a warp has lanes 0 to {LANES - 1}, and m is from 0 on")
    held = np.full((int(warp.max()) + 1, LANES, int(place.max()) + 1), -1, np.int64)
    element = np.broadcast_to(np.arange(size)[:, None], lane.shape)
    held[warp, lane, place] = element
    lost = np.argwhere(held[warp, lane, place] != element)
    if lost.size:
        first = int(lost[0][0])
        other = int(held[warp, lane, place][tuple(lost[0])])
        raise LayoutError(f"instructions: elements {first} and {other} share a register")
    return held


# -- formulas ----------------------------------------------------------------------------------
def fitted(values: Any) -> Callable[[Term], Term]:
    """A formula for a table over 0, 1, 2, ...: by digits and strides, else a lookup."""
    import numpy as np

    table = np.asarray(values, np.int64).ravel()
    found = iters_of({m: table}, table.size)
    if isinstance(found, NoLayout):
        return lambda x: looked_up(table, x)
    extents, strides = [it.extent for it in found], [it.stride for it in found]
    first = int(table[0])
    return lambda x: terms.linear(zip(terms.split(x, extents), strides, strict=True), first)
