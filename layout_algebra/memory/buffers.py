"""Buffers: a layout attached to storage, and views of them.

    sA = Buffer((128, 64), "float16", ComposeLayout(3, 3, 3, TileLayout(S[(128, 64) : (64, 1)])),
                scope="shared", align=1024)
    i, k = Dim("i", multiple_of=16), Dim("k", multiple_of=16)
    sA[i : i + 16, k : k + 16]                        # any aligned 16 x 16 piece
    sA.read(lambda lane: (lane % 8, lane // 8 * 8), bytes=16)

The scope says what axis m means: bytes of shared, global or local memory (an element's place times
its width), or lanes and columns of TMEM.  A view may begin at Dims; it is assumed to lie in the
buffer, which bounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from layout_algebra.axes import m
from layout_algebra.dims import Polynomial, Size, as_size, at_least, is_size, product
from layout_algebra.errors import LayoutError
from layout_algebra.memory.accesses import Access, Region, trace
from layout_algebra.memory.dtypes import bits_of
from layout_algebra.showing import Shown
from layout_algebra.values import AnyLayout, Swizzled, Tile, layout_size

Scope = Literal["shared", "global", "local", "tmem"]
SCOPES = ("shared", "global", "local", "tmem")


@dataclass(frozen=True)
class Buffer(Shown):
    """A tensor in memory.

    Args:
        shape: logical sizes, the last one fastest (ints or Dims).
        dtype: element type, by name or by number of bits.
        layout: where each element is; as many elements as the shape.
        scope: "shared", "global", "local" or "tmem".
        align: bytes that the buffer's first byte is a multiple of; by default its element's.

    Raises:
        LayoutError: a layout of another size, an axis that the scope has not, or a wrong value.
    """

    shape: tuple[Size, ...]
    dtype: str
    layout: AnyLayout
    scope: Scope = "shared"
    align: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.shape, tuple | list) or not all(map(is_size, self.shape)):
            raise LayoutError(f"a buffer's shape is a tuple of sizes; got {self.shape!r}")
        if any(isinstance(size, int) and size < 1 for size in self.shape):
            raise LayoutError(f"a buffer's sizes are at least 1; got {self.shape}")
        object.__setattr__(self, "shape", tuple(as_size(size) for size in self.shape))
        if not isinstance(self.layout, Tile | Swizzled):  # type: ignore[redundant-expr]
            raise LayoutError(f"a buffer's layout is a TileLayout or so; got {self.layout!r}")
        if self.layout.replica:
            raise LayoutError(f"a buffer has one place for each element; {self.layout} has copies")
        if self.scope not in SCOPES:
            raise LayoutError(f"the scope is one of {', '.join(SCOPES)}; got {self.scope!r}")
        size, own = layout_size(self.layout), product(self.shape)
        if size != own:
            raise LayoutError(f"shape {self.shape} has {own} elements, the layout {size}")
        object.__setattr__(self, "dtype", getattr(self.dtype, "__name__", None) or str(self.dtype))
        bits = self.bits
        if type(self.align) is int and self.align == 0:
            whole = max(1, bits // 8)
            object.__setattr__(self, "align", whole & -whole)
        if type(self.align) is not int or self.align < 1 or self.align & (self.align - 1):
            raise LayoutError(f"align is a power of two of bytes; got {self.align!r}")
        others = [axis.name for axis in self.layout.axes if axis is not m]
        if self.scope != "tmem" and others:
            raise LayoutError(
                f"{self.scope} memory has the one axis m; the layout is on {', '.join(others)} too"
            )

    @property
    def bits(self) -> int:
        """Bits of an element."""
        number = self.dtype.isascii() and self.dtype.isdigit() and len(self.dtype) < 6
        return bits_of(int(self.dtype) if number else self.dtype)

    def __getitem__(self, key: Any) -> View:
        """A view: a slice `begin : begin + size`, a number or a Dim for each dimension."""
        return View(self, *_ranges(self.shape, key))

    @property
    def whole(self) -> View:
        return View(self, (0,) * len(self.shape), self.shape)

    def read(self, where: Callable[..., Any], **how: Any) -> Access:
        """A warp's read of the whole buffer; see `View.read`."""
        return self.whole.read(where, **how)

    def write(self, where: Callable[..., Any], **how: Any) -> Access:
        """A warp's write to the whole buffer; see `View.read`."""
        return self.whole.write(where, **how)

    def __str__(self) -> str:
        sizes = " x ".join(map(str, self.shape))
        return f"{self.scope} {sizes} {self.dtype} {self.layout}"


@dataclass(frozen=True)
class View:
    """A box of a buffer: where it begins and how large it is, dimension by dimension."""

    buffer: Buffer
    begin: tuple[Size, ...]
    shape: tuple[Size, ...]

    def read(
        self,
        where: Callable[..., Any],
        *,
        lanes: int = 32,
        bytes: int | None = None,
        bits: int | None = None,
        free: Sequence[Size] = (),
        active: Callable[..., Any] | None = None,
    ) -> Access:
        """What one read instruction of a warp touches.

        Args:
            where: a callable (lane, *free) -> coordinates in the view of the first element that the
                lane reads; the others follow it in the last dimension.
            lanes: lanes of the warp.
            bytes, bits: what each lane moves; one element by default.
            free: Dims that `where` takes as further parameters: any column, any row.
            active: a callable of the same parameters that gives conditions joined by `&`; lanes
                where they fail do nothing.

        Raises:
            LayoutError: coordinates outside the view, or a width that is no whole element.
            TraceError: a callable that branches on a symbol.
        """
        return trace(self._region, "read", where, lanes, _bits(self, bytes, bits), free, active)

    def write(
        self,
        where: Callable[..., Any],
        *,
        lanes: int = 32,
        bytes: int | None = None,
        bits: int | None = None,
        free: Sequence[Size] = (),
        active: Callable[..., Any] | None = None,
    ) -> Access:
        """What one write instruction of a warp touches; arguments as for `read`."""
        return trace(self._region, "write", where, lanes, _bits(self, bytes, bits), free, active)

    @property
    def _region(self) -> Region:
        buffer = self.buffer
        about = (buffer.bits, buffer.scope, buffer.align, str(self))
        return Region(buffer.layout, buffer.shape, self.begin, self.shape, *about)

    def __getitem__(self, key: Any) -> View:
        begin, shape = _ranges(self.shape, key)
        moved = tuple(a + b for a, b in zip(self.begin, begin, strict=True))
        return View(self.buffer, moved, shape)

    def __str__(self) -> str:
        parts = (f"{b}:{b + n}" for b, n in zip(self.begin, self.shape, strict=True))
        return f"[{', '.join(parts)}] of {self.buffer}"


def _bits(view: View, given_bytes: int | None, given_bits: int | None) -> int:
    if given_bytes is not None and given_bits is not None:
        raise LayoutError("a width is given in bytes or in bits, not both")
    bits = 8 * given_bytes if given_bytes is not None else given_bits
    own = view.buffer.bits
    bits = own if bits is None else bits
    if type(bits) is not int or bits < 1 or bits % own:
        raise LayoutError(f"a lane moves whole elements of {own} bits; got {bits!r} bits")
    return bits


def _ranges(shape: tuple[Size, ...], key: Any) -> tuple[tuple[Size, ...], tuple[Size, ...]]:
    """Begin and size of each dimension of a key."""
    keys = key if isinstance(key, tuple) else (key,)
    if len(keys) != len(shape):
        raise LayoutError(
            f"a view has a range for each of the {len(shape)} dimensions; got {len(keys)}"
        )
    begins: list[Size] = []
    sizes: list[Size] = []
    for d, (one, size) in enumerate(zip(keys, shape, strict=True)):
        if isinstance(one, slice):
            if one.step not in (None, 1):
                raise LayoutError(f"dimension {d}: a view has step 1; got {one.step}")
            begin = 0 if one.start is None else _bound(d, one.start)
            end = size if one.stop is None else _bound(d, one.stop)
        else:
            begin = _bound(d, one)
            end = begin + 1
        length = end - begin
        if isinstance(length, Polynomial) and not at_least(length, 1):
            raise LayoutError(f"dimension {d}: it is not known that {begin}:{end} is not empty")
        wrong = (isinstance(length, int) and length < 1) or any(
            isinstance(gap, int) and gap < 0 for gap in (begin, size - end)
        )
        if wrong:
            raise LayoutError(f"dimension {d}: {begin}:{end} is not inside 0:{size}")
        begins.append(begin)
        sizes.append(length)
    return tuple(begins), tuple(sizes)


def _bound(d: int, given: object) -> Size:
    if not is_size(given):
        raise LayoutError(f"dimension {d}: a view is of ints and Dims; got {given!r}")
    return as_size(given)  # type: ignore[arg-type]
