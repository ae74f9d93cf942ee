"""Trainium's on-chip memories: SBUF's partitions, and PSUM's banks.

    trainium_layout("PF", (128, 512))                 # SBUF: rows on partitions
    trainium_layout("PFF", (128, 8, 512), True)       # PSUM: the second dimension on its 8 banks
    to_psum(layout)                                   # F of any layout to Bank and F

Both memories have 128 partitions (axis P).  A partition of PSUM has 8 banks of 512 32-bit words
(axes Bank and F); F counts words along a partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from layout_algebra.axes import Axis, Bank, F, P
from layout_algebra.dims import Size, bounds, divide_exactly, product
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry, family
from layout_algebra.hardware.sizes import positive_size
from layout_algebra.layouts import TileLayout
from layout_algebra.values import Iter, row_major_strides

#: Partitions of SBUF and PSUM, banks of PSUM, 32-bit words of a bank in one partition.
PARTITIONS, BANKS, BANK_WORDS = 128, 8, 512

_SOURCE = "AWS Neuron documentation, NeuronCore: SBUF and PSUM"


def trainium_layout(annotation: str, shape: Sequence[Size], is_psum: bool = False) -> TileLayout:
    """A tensor in SBUF or PSUM, its dimensions on partitions or along them.

    Formula: the dimensions annotated F are row-major along F, those annotated P row-major on P.
    A single P dimension of more than 128 is cut into (size / 128, 128): its high part is on F,
    slower than all of F.  In PSUM, F is then cut into banks as by `to_psum`.

    Args:
        annotation: a letter for each dimension, "P" or "F".
        shape: sizes (elements; ints, or Dims where they are known to fit).
        is_psum: whether it is in PSUM; sizes are ints then.

    Raises:
        LayoutError: other letters, another number of them, more partitions than 128, and in PSUM
            an F that banks cut unevenly or more than 8 banks.

    Source: the TIRx layout API (`TileLayout.trainium`); AWS Neuron documentation.
    """
    name = "trainium_layout"
    if not isinstance(annotation, str) or not set(annotation) <= {"P", "F"}:
        raise LayoutError(f"{name}: the annotation is of letters P and F; got {annotation!r}")
    if len(annotation) != len(shape):
        raise LayoutError(
            f"{name}: one letter for each dimension; got {annotation!r} for {tuple(shape)}"
        )
    sizes = [positive_size(name, f"shape[{d}]", size) for d, size in enumerate(shape)]
    along = [size for letter, size in zip(annotation, sizes, strict=True) if letter == "F"]
    across = [size for letter, size in zip(annotation, sizes, strict=True) if letter == "P"]
    of_f, of_p = iter(row_major_strides(along)), iter(row_major_strides(across))
    high = _high_part(across)
    iters: list[tuple[Size, Size, Axis]] = []
    for letter, size in zip(annotation, sizes, strict=True):
        if letter == "F":
            iters.append((size, next(of_f), F))
        elif high is None:
            iters.append((size, next(of_p), P))
        else:
            iters += [(high, product(along), F), (PARTITIONS, 1, P)]
    layout = TileLayout.from_iters(iters)
    return _checked_banks(to_psum(layout)) if is_psum else layout


def _high_part(across: Sequence[Size]) -> Size | None:
    """What of a single P dimension goes to F; None when all partitions fit as they are."""
    most = bounds(product(across))[1]
    if most is not None and most <= PARTITIONS:
        return None
    high = divide_exactly(across[0], PARTITIONS) if len(across) == 1 else None
    if high is None:
        shown = " * ".join(map(str, across))
        raise LayoutError(
            f"trainium_layout: there are {PARTITIONS} partitions: the P dimensions are at most "
            f"{PARTITIONS} together, or a single one of a multiple of it; got {shown}"
        )
    return high


def to_psum(layout: TileLayout) -> TileLayout:
    """The layout with F cut into banks: Bank grows by F // 512, F becomes F mod 512.

    Copies and offset on F are cut as well.

    Args:
        layout: a tile; what it has on F are ints.

    Raises:
        LayoutError: an iter on F that banks cut unevenly, or iters whose sum may go from one bank
            to the next, so that no layout is the answer.

    Source: the TIRx layout API (`to_psum`); AWS Neuron documentation, PSUM.
    """
    if not isinstance(layout, TileLayout):  # type: ignore[redundant-expr]
        raise LayoutError(f"to_psum is asked of a TileLayout; got {layout!r}")
    shard = [part for one in layout.shard for part in _banked(one)]
    replica = [part for one in layout.replica for part in _banked(one)]
    offset = dict(layout.offset)
    if F in offset:
        value = offset.pop(F)
        if not isinstance(value, int):
            raise LayoutError(f"to_psum: the offset on F is an int; got {value}")
        offset[Bank] = offset.get(Bank, 0) + value // BANK_WORDS
        offset[F] = value % BANK_WORDS
    highest = offset.get(F, 0)
    for extent, stride, axis in (*shard, *replica):
        highest = highest + (extent - 1) * stride if axis is F else highest
    if highest >= BANK_WORDS:  # type: ignore[operator]  # ints, or _banked refused
        raise LayoutError(
            f"to_psum: a bank has words 0 to {BANK_WORDS - 1}, and what lies within one bank goes "
            f"up to {highest}"
        )
    offset = {axis: value for axis, value in offset.items() if value or axis in layout.offset}
    return TileLayout.from_iters(shard, replica, offset)


def _banked(one: Iter) -> Iterable[Iter]:
    """An iter as one over banks, one within a bank, or both."""
    extent, stride, axis = one
    if axis is not F:
        return [one]
    if not isinstance(extent, int) or not isinstance(stride, int):
        raise LayoutError(f"to_psum: iters on F have ints; got {one}")
    if stride % BANK_WORDS == 0:
        return [Iter(extent, stride // BANK_WORDS, Bank)]
    if stride > 0 and BANK_WORDS % stride == 0:
        within = BANK_WORDS // stride
        if extent < within:
            return [one]
        if extent % within == 0:
            return [Iter(extent // within, 1, Bank), Iter(within, stride, F)]
    raise LayoutError(
        f"to_psum: an iter on F has a stride that is a multiple of {BANK_WORDS}, or one that "
        f"divides it and whole banks or less than one; got {one}"
    )


def _checked_banks(layout: TileLayout) -> TileLayout:
    used = layout.span(Bank)
    if isinstance(used, int) and used > BANKS:
        raise LayoutError(f"trainium_layout: PSUM has {BANKS} banks; this takes {used}")
    return layout


@family
def memories() -> Iterator[Entry]:
    """Whole partitions of PSUM, and tiles in both memories."""
    confirmed = "apache-tvm 0.27.0.post1, answer by answer"
    for place, annotation, shape in (
        ("sbuf", "PF", (128, 512)),
        ("sbuf", "FP", (64, 128)),
        ("sbuf", "PF", (384, 64)),
        ("sbuf", "PFP", (4, 16, 32)),
        ("psum", "PF", (128, 4096)),
        ("psum", "PFF", (128, 8, 512)),
        ("psum", "PFF", (64, 2, 256)),
    ):
        layout = trainium_layout(annotation, shape, place == "psum")
        size = "x".join(map(str, shape))
        name = f"trainium.{place}.{annotation}.{size}"
        yield Entry(name, layout, shape, "float32", _SOURCE, confirmed)
