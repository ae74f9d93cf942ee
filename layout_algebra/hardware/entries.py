"""What the catalogue is made of: layouts with their names, sources and confirmations.

An entry says where a piece of hardware keeps the elements of a tile: which lane and which of its
registers, which cell of tensor memory, which place of a swizzled atom.  Facts come from an ISA
document, named by section; `confirmed_by` names what else says the same (a table typed from the
document, another library's atom compared as a map, a run on the chip), and is empty while nothing
does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map

#: What makes the entries, one function for each family.
_FAMILIES: list[Callable[[], Iterator[Entry]]] = []


@dataclass(frozen=True)
class Entry:
    """One layout of the catalogue.

    Attributes:
        name: like "mma.m16n8k16.float16.A".
        layout: the elements' places; a fragment's are laneid and m, the element's number among
            those that the lane holds, in register order.
        shape: the tile's logical shape, rows first.
        dtype: the element type.
        source: the document and section.
        confirmed_by: what else confirms it; "" when nothing does.
    """

    name: str
    layout: TileLayout | ComposeLayout
    shape: tuple[int, ...]
    dtype: str
    source: str
    confirmed_by: str = ""

    def map(self, shape: object = None) -> Map:
        """The entry as a map over its shape."""
        del shape
        return self.layout.map(self.shape)

    def __str__(self) -> str:
        return f"{self.name}: {self.layout} over {self.shape}"


def family(make: Callable[[], Iterator[Entry]]) -> Callable[[], Iterator[Entry]]:
    """Registers a function that yields all entries of one family."""
    _FAMILIES.append(make)
    return make


def catalogue() -> Iterator[Entry]:
    """Every entry, family by family."""
    for make in _FAMILIES:
        yield from make()
