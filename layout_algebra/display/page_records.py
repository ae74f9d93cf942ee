"""What the page is told of proofs: verdicts with their witnesses and queries, as JSON has them.

    layout_records(layout, (128, 64), "float16")                       # Injective
    access_records(layout, (128, 64), "float16", "column", 16)         # banks, for every column

Each record names the layout, the shape and the type that it is about, so that the page shows it
with those and with no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from layout_algebra.claims import BankConflictFree, ConflictDegree, Injective, Vectorizable
from layout_algebra.errors import LayoutError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory import NVIDIA, Access, Buffer, bits_of
from layout_algebra.memory.banks import points, service_at
from layout_algebra.memory.spelled import access_of
from layout_algebra.prover import prove
from layout_algebra.semantics import check_shape
from layout_algebra.verdicts import Proof, Verdict

Layout = TileLayout | ComposeLayout

#: Where JavaScript's numbers stop being exact.
MOST_EXACT = 1 << 53


def checked_shape(layout: Layout, shape: Sequence[int] | None) -> tuple[int, ...]:
    """The shape (the layout's own extents when None), if a page can draw the layout over it.

    Raises:
        LayoutError: a layout with Dims, or numbers that JavaScript does not hold exactly.
        CoordinateError: a shape that reaches beyond the layout.
    """
    if not isinstance(layout, TileLayout | ComposeLayout):  # type: ignore[redundant-expr]
        raise LayoutError(f"a page is about a TileLayout or a ComposeLayout; got {layout!r}")
    if layout.is_symbolic:
        names = ", ".join(sorted(f"{symbol.name}=..." for symbol in layout.symbols()))
        raise LayoutError(f"a page draws numbers: give values first, layout.evaluated({names})")
    if shape is not None and not isinstance(shape, Sequence):  # type: ignore[redundant-expr]
        raise LayoutError(f"a shape is a sequence of positive ints; got {shape!r}")
    sizes = tuple(layout.extents if shape is None else shape)
    check_shape(layout, sizes)
    spans = [layout.width(axis) for axis in layout.axes]
    offsets = [abs(value) for _, value in layout.affine.offsets]  # type: ignore[arg-type]
    largest = max([layout.size(), *spans, *offsets], default=1)  # type: ignore[type-var]
    if largest >= MOST_EXACT:  # type: ignore[operator]
        raise LayoutError(f"a page counts exactly below {MOST_EXACT}; {layout} goes to {largest}")
    return sizes or (1,)  # type: ignore[return-value]


def usual_bytes(bits: int) -> int:
    """Bytes that a lane moves when nothing else is said: 16, or whole elements of its own."""
    if 128 % bits == 0:
        return 16
    return bits // 8 if bits % 8 == 0 else bits


def usual_accesses(layout: Layout, shape: Sequence[int], bits: int, bytes: int) -> tuple[str, ...]:
    """Column and row, where the layout is of memory alone and the shape has such."""
    others = [axis.name for axis in layout.axes if axis.name != "m"]
    if others or layout.replica or len(shape) != 2 or not layout.axes:
        return ()
    fits = 8 * bytes % bits == 0 and 8 * bytes // bits <= shape[1]
    return ("column", "row") if fits and layout.size() == shape[0] * shape[1] else ()


def record(
    proof: Proof,
    layout: Layout,
    shape: Sequence[int],
    bits: int,
    access: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A proof as the page reads it, its queries included.

    Args:
        proof: the proof.
        layout, shape, bits: what it is shown with.
        access: what the page calls the access that it is about: pick, bytes, kind, free, align.
    """
    claim = proof.claim
    about = None if access is None else _about(claim.name, getattr(claim, "at_most", None), access)
    witness = None
    if proof.witness is not None:
        flats = [] if access is not None else _flats(proof.witness.points, layout, shape)
        witness = {**proof.witness.to_json(), "flats": flats}
    return {
        "layout": str(layout),
        "shape": list(shape),
        "bits": bits,
        "access": None if access is None else dict(access),
        "name": claim.name,
        "claim": str(claim),
        "short": str(claim) if about is None else about,
        "verdict": str(proof.verdict),
        "method": proof.method,
        "seconds": round(proof.seconds, 7),
        "reason": proof.reason,
        "witness": witness,
        "queries": [
            {"about": query.about, "logic": query.logic, "smt2": query.smt2}
            for query in proof.queries()
        ],
    }


def _about(name: str, at_most: int | None, access: Mapping[str, Any]) -> str:
    """The claim about an access in short."""
    bound = "" if at_most is None else f" at most {at_most}"
    position = "" if access["free"] is None else f" at every {access['free']}"
    base = f"every base that {access['align']} divides" if access["align"] > 1 else "every base"
    return (
        f"{name}{bound}: {access['kind']} of {access['pick']}, {access['bytes']} bytes a lane"
        f"{position}, {base}; {NVIDIA.name}"
    )


def _flats(
    points_given: Sequence[Mapping[str, int]], layout: Layout, shape: Sequence[int]
) -> list[int]:
    """The flat indices of a witness' elements: coordinates are digits c0, c1, ... or i, j, k."""
    few = "ijk" if len(shape) <= 3 else [f"i{d}" for d in range(len(shape))]
    spaces = [
        [(f"c{k}", extent) for k, extent in enumerate(layout.extents)],
        list(zip(few, shape, strict=False)),
    ]
    found: list[int] = []
    for point in points_given:
        for space in spaces:
            if space and all(name in point for name, _ in space):
                flat = 0
                for name, size in space:
                    flat = flat * size + point[name]  # type: ignore[operator, assignment]
                found.append(flat)
                break
    return found


def layout_records(
    layout: Layout,
    shape: Sequence[int] | None,
    dtype: str,
    access: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The verdicts of a layout, and of one access if there is one.

    Args:
        layout: a layout of numbers.
        shape: the logical shape; the layout's own extents when None.
        dtype: the element type.
        access: {"pick": "column" | "row" | coordinates, "bytes": ..., "kind": "read" | "write"}.

    Raises:
        LayoutAlgebraError: what does not fit together.
    """
    sizes = checked_shape(layout, shape)
    records = [record(prove(Injective(layout)), layout, sizes, bits_of(dtype))]
    if access is not None:
        given = access if isinstance(access, Mapping) else {}  # type: ignore[redundant-expr]
        pick, moved, kind = (given.get(name) for name in ("pick", "bytes", "kind"))
        if not isinstance(pick, str) or type(moved) is not int or kind not in ("read", "write"):
            raise LayoutError(f"an access has a pick, bytes, and read or write; got {access!r}")
        records += access_records(layout, sizes, dtype, pick, moved, kind)
    return records


def access_records(
    layout: Layout, shape: Sequence[int], dtype: str, pick: str, bytes: int, kind: str = "read"
) -> list[dict[str, Any]]:
    """The verdicts about banks of one access, for every position and every base address.

    Args:
        layout, shape, dtype: as for `layout_records`; the shape has all elements of the layout.
        pick: "column", "row", or coordinates of each lane, like "lane % 16, lane // 16 * 8".
        bytes: what a lane moves.
        kind: "read" or "write".

    Raises:
        LayoutAlgebraError: an access that the tile does not have.
    """
    bits = bits_of(dtype)
    align = bytes if bytes > 0 and bytes & (bytes - 1) == 0 else 1
    buffer = Buffer(tuple(shape), dtype, layout, "shared", align)
    access = access_of(buffer, pick, bytes, kind)
    free = access.free[0].name if access.free else None
    about = {"pick": pick, "bytes": bytes, "kind": kind, "free": free, "align": align}
    return [record(proof, layout, shape, bits, about) for proof in _access_proofs(access)]


def _access_proofs(access: Access) -> Iterator[Proof]:
    """Free of conflicts, one vector; and where there are conflicts, the degree that it keeps to."""
    free = prove(BankConflictFree(access))
    vector = prove(Vectorizable(access))
    yield free
    yield vector
    if free.verdict is Verdict.REFUTED and vector.verdict is Verdict.PROVED:
        at = next(points(access))
        if free.witness is not None and free.witness.points:
            values = free.witness.points[0]
            at |= {one.variable: values.get(one.name, 0) // one.multiple for one in access.free}
        yield prove(ConflictDegree(access, max(1, service_at(access, NVIDIA, 0, at).degree)))
