"""The interactive page: one file that opens from disk, with everything inside.

    write_html(layout, "layout.html", shape=(8, 16))
    write_html(tile, "tile.html", shape=(128, 64), accesses=("column", "row"), bytes=16)

The page needs no network and no Python.  What is proven is proven here, when it is written, and goes
along with method, time and queries; what the page itself finds out about an edited layout is an
enumeration, and is called so.  The same module, and the same data, make the widget of a notebook.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from layout_algebra.axes import Axis
from layout_algebra.claims import BankConflictFree, ConflictDegree, Injective, Vectorizable
from layout_algebra.claims.base import Claim
from layout_algebra.dims import Dim
from layout_algebra.errors import LayoutAlgebraError, LayoutError
from layout_algebra.hardware import SwizzleMode, catalogue
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.memory import (
    CDNA3,
    CDNA4,
    NVIDIA,
    NVIDIA_WHOLE_WARP,
    Access,
    Buffer,
    MemoryTarget,
    bits_of,
)
from layout_algebra.memory.banks import points, service_at
from layout_algebra.prover import prove
from layout_algebra.semantics import check_shape
from layout_algebra.trees import Source
from layout_algebra.verdicts import Proof, Verdict

Layout = TileLayout | ComposeLayout

#: The files of the module: each imports from those before it only.
MODULES = (
    "numbers",
    "tokens",
    "layouts",
    "reading",
    "memory",
    "operations",
    "steps",
    "colours",
    "views",
    "storage",
    "painting",
    "exporting",
    "state",
    "dom",
    "editor",
    "panels",
    "details",
    "accesses",
    "verdicts",
    "comparing",
    "saving",
    "page",
)
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)

#: The memories that the page offers, the first one first.
TARGETS = (NVIDIA, NVIDIA_WHOLE_WARP, CDNA3, CDNA4)
#: The element types that the page offers besides those of the catalogue.
DTYPES = (
    "float4_e2m1fn",
    "int4",
    "float6_e2m3fn",
    "float8_e4m3fn",
    "int8",
    "float16",
    "bfloat16",
    "float32",
    "int32",
    "float64",
    "b128",
)
#: Elements whose places a Python program can still name one by one, and JavaScript exactly.
MOST_EXACT = 1 << 53
_WARP = 32
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def write_html(layout: Layout, path: str | Path, **options: Any) -> Path:
    """Write the page of a layout to a file.

    Args:
        layout: a layout of numbers.
        path: the file; it is replaced.
        options: `title`, and what `page_data` takes.

    Returns:
        The path.

    Raises:
        LayoutError: a layout with Dims, or options that do not fit it.
    """
    target = Path(path)
    target.write_text(page_html(layout, **options), encoding="utf-8")
    return target


def page_html(layout: Layout, *, title: str = "Layout", **options: Any) -> str:
    """The page of a layout as text; arguments as for `write_html`."""
    data = page_data(layout, **options)
    # no "<" in the data: a text in it cannot end the script element that it lies in
    embedded = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    parts = {
        "TITLE": escape(title),
        "NOTATION": escape(str(layout)),
        "STYLE": style_source(),
        "DATA": embedded,
        "MODULE": module_source(),
    }
    template = _static("page.html")
    return re.sub("@([A-Z]+)@", lambda match: parts[match.group(1)], template)


@cache
def module_source() -> str:
    """The ES module of the page and of the widget: all files, in order, without their imports."""
    return "\n".join(_IMPORT.sub("", _static(f"{name}.js")) for name in MODULES)


@cache
def style_source() -> str:
    """The style sheet of the page and of the widget."""
    return _static("page.css")


def _static(name: str) -> str:
    return files("layout_algebra.display").joinpath("static", name).read_text(encoding="utf-8")


# -- data --------------------------------------------------------------------------------------
def page_data(
    layout: Layout,
    *,
    shape: Sequence[int] | None = None,
    dtype: str = "float16",
    accesses: Sequence[str] | None = None,
    bytes: int | None = None,
    proofs: Sequence[Proof] = (),
    presets: bool = True,
) -> dict[str, Any]:
    """What the page is given, as JSON has it.

    Args:
        layout: a layout of numbers.
        shape: the logical shape; the layout's own extents by default.
        dtype: the element type, by name.
        accesses: accesses of a warp whose bank claims are proven: "column", "row", or coordinates
            of each lane like "lane % 16, lane // 16 * 8".  By default column and row, where the
            layout is of memory and the shape has two dimensions.
        bytes: bytes that a lane moves; by default 16, or one element.
        proofs: further proofs about the layout that are shown with it.
        presets: whether the catalogue goes along (about 200 kB).

    Raises:
        LayoutError: a layout with Dims, a shape that does not fit, an access that is none.
    """
    sizes = _checked(layout, shape)
    bits = bits_of(dtype)
    moved = bytes if bytes is not None else _usual_bytes(bits)
    named = accesses if accesses is not None else _usual_accesses(layout, sizes, bits, moved)
    records = [_record(prove(Injective(layout)), Shown(layout, sizes, bits))]
    records += [_record(proof, Shown(layout, sizes, bits)) for proof in proofs]
    for text in named:
        records += access_records(layout, sizes, dtype, text, moved)
    return {
        "layout": str(layout),
        "shape": list(sizes),
        "dtype": dtype,
        "bytes": moved,
        "access": named[0] if named else "",
        "verdicts": records,
        **_facts(),
        "dtypes": _dtypes(dtype, presets),
        "presets": _presets() if presets else {"sources": [], "families": {}},
    }


def _checked(layout: Layout, shape: Sequence[int] | None) -> tuple[int, ...]:
    """The shape, if a page can draw the layout over it."""
    if not isinstance(layout, TileLayout | ComposeLayout):  # type: ignore[redundant-expr]
        raise LayoutError(f"a page is about a TileLayout or a ComposeLayout; got {layout!r}")
    if layout.is_symbolic:
        names = ", ".join(sorted(symbol.name for symbol in layout.symbols()))
        raise LayoutError(f"a page draws numbers: give values, layout.evaluated({names}=...)")
    sizes = tuple(int(size) for size in (layout.extents if shape is None else shape))  # type: ignore[arg-type]
    check_shape(layout, sizes)
    largest = max((abs(int(size)) for size in layout.affine.sizes()), default=0)  # type: ignore[arg-type]
    if max(largest, int(layout.size())) >= MOST_EXACT:  # type: ignore[arg-type]
        raise LayoutError(f"a page counts exactly below {MOST_EXACT}; {layout} goes beyond")
    return sizes or (1,)


@cache
def _facts() -> dict[str, Any]:
    """What is the same for every layout: axes, memories, swizzle modes."""
    modes = [mode for mode in SwizzleMode if mode is not SwizzleMode.B128_ATOM_32B_FLIP_8B]
    return {
        "axes": [
            {"name": axis.name, "kind": axis.kind, "limit": axis.limit}
            for axis in Axis.registered()
        ],
        "targets": [target_data(target) for target in TARGETS],
        "modes": [
            {"name": str(mode), "swizzle": [one.per_element, one.swizzle_len, one.atom_len]}
            for mode in modes
            if mode is not SwizzleMode.NONE
            for one in [mode.swizzle]
        ],
    }


def target_data(target: MemoryTarget) -> dict[str, Any]:
    """A memory target as the module reads it."""
    return {
        "name": target.name,
        "banks": target.banks,
        "bank_bytes": target.bank_bytes,
        "lanes": target.lanes,
        "reads": target.reads,
        "writes": target.writes,
        "source": target.source,
    }


def _dtypes(own: str, presets: bool) -> list[tuple[str, int]]:
    names = dict.fromkeys((*DTYPES, own))
    if presets:
        entries = (one for family in _presets()["families"].values() for one in family)
        names |= dict.fromkeys(entry["dtype"] for entry in entries)
    return sorted(((name, bits_of(name)) for name in names), key=lambda pair: (pair[1], pair[0]))


@cache
def _presets() -> dict[str, Any]:
    """Every entry of the catalogue by family, each with the verdict of Injective."""
    sources: dict[str, int] = {}
    families: dict[str, list[dict[str, Any]]] = {}
    for entry in catalogue():
        proof = prove(Injective(entry.layout))
        families.setdefault(entry.name.split(".", 1)[0], []).append(
            {
                "name": entry.name,
                "layout": str(entry.layout),
                "shape": entry.shape,
                "dtype": entry.dtype,
                "source": sources.setdefault(entry.source, len(sources)),
                "verdict": [str(proof.verdict), proof.method, round(proof.seconds, 7)],
            }
        )
    return {"sources": list(sources), "families": families}


# -- verdicts ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Shown:
    """What a verdict is shown with: the layout, its shape, bits of an element, the access."""

    layout: Layout
    shape: tuple[int, ...]
    bits: int
    access: dict[str, Any] | None = None


def _record(proof: Proof, shown: Shown) -> dict[str, Any]:
    """A proof as the page reads it, its queries included."""
    claim = proof.claim
    at_most = getattr(claim, "at_most", None)
    about = "" if shown.access is None else f" of any {shown.access['words']}"
    bound = "" if at_most is None else f", at most {at_most},"
    witness = None
    if proof.witness is not None:
        flats = _flats(proof.witness.points, shown) if shown.access is None else []
        witness = {**proof.witness.to_json(), "flats": flats}
    return {
        "layout": str(shown.layout),
        "shape": list(shown.shape),
        "bits": shown.bits,
        "access": shown.access,
        "name": claim.name,
        "claim": str(claim),
        "short": f"{claim.name}{bound}{about}" if shown.access else str(claim),
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


def _flats(given: Sequence[dict[str, int]], shown: Shown) -> list[int]:
    """The flat indices of a witness' elements: its coordinates are digits c0, c1, ... or i, j, k."""
    extents = [int(extent) for extent in shown.layout.extents]  # type: ignore[arg-type]
    few = ("i", "j", "k") if len(shown.shape) <= 3 else tuple(f"i{d}" for d in range(len(shown.shape)))
    spaces = [
        ([f"c{k}" for k in range(len(extents))], extents),
        (list(few[: len(shown.shape)]), list(shown.shape)),
    ]
    found: list[int] = []
    for point in given:
        for names, sizes in spaces:
            if all(name in point for name in names):
                flat = 0
                for name, size in zip(names, sizes, strict=True):
                    flat = flat * size + point[name]
                found.append(flat)
                break
    return found


def layout_records(
    layout: Layout, shape: Sequence[int], dtype: str, access: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The verdicts of a layout, and of one access if there is one, as the page reads them.

    Args:
        layout, shape, dtype: as for `page_data`.
        access: {"pick": "column" | "row" | coordinates, "bytes": ..., "kind": "read" | "write"}.

    Raises:
        LayoutError: what does not fit together.
    """
    sizes = _checked(layout, shape)
    records = [_record(prove(Injective(layout)), Shown(layout, sizes, bits_of(dtype)))]
    if access is not None:
        pick, moved, kind = (access.get(name) for name in ("pick", "bytes", "kind"))
        if not isinstance(pick, str) or type(moved) is not int or kind not in ("read", "write"):
            raise LayoutError(f"an access has a pick, bytes, and read or write; got {access!r}")
        records += access_records(layout, sizes, dtype, pick, moved, kind)
    return records


def access_records(
    layout: Layout, shape: Sequence[int], dtype: str, text: str, bytes: int, kind: str = "read"
) -> list[dict[str, Any]]:
    """The verdicts about banks of one access, for every position and base address."""
    size = bytes & -bytes if bytes > 0 else 1
    buffer = Buffer(tuple(shape), dtype, layout, "shared", max(size, 1))
    access = access_of(buffer, text, bytes, kind)
    free = access.free[0].name if access.free else None
    about = {"pick": text, "bytes": bytes, "kind": kind, "free": free}
    words = f"{text}, {bytes} bytes a lane" if free else f"base, {text}, {bytes} bytes a lane"
    shown = Shown(layout, tuple(shape), buffer.bits, {**about, "words": words})
    return [_record(proof, shown) for proof in _access_proofs(access)]


def _access_proofs(access: Access) -> Iterator[Proof]:
    """Free of conflicts, one vector; and where it has conflicts, the degree that it keeps to."""
    claims: list[Claim] = [BankConflictFree(access), Vectorizable(access)]
    first, second = (prove(claim) for claim in claims)
    yield first
    yield second
    if first.verdict is Verdict.REFUTED and second.verdict is Verdict.PROVED:
        at = next(points(access))
        if first.witness is not None and first.witness.points:
            values = first.witness.points[0]
            at |= {free.variable: values.get(free.name, 0) // free.multiple for free in access.free}
        degree = service_at(access, NVIDIA, 0, at).degree
        yield prove(ConflictDegree(access, max(1, degree)))
