"""The interactive page: one file that opens from disk, with everything inside.

    write_html(layout, "layout.html", shape=(8, 16))
    write_html(tile, "tile.html", shape=(128, 64), accesses=("column", "row"), bytes=16)

The page needs no network and no Python.  What is proven is proven here, when it is written, and
goes along with method, time and queries; what the page itself finds out about an edited layout is
an enumeration, and is called so.  The same module and the same data make the widget of a notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from layout_algebra.axes import Axis
from layout_algebra.claims import Injective
from layout_algebra.display.page_records import (
    Layout,
    access_records,
    checked_shape,
    layout_records,
    record,
    usual_accesses,
    usual_bytes,
)
from layout_algebra.hardware import SwizzleMode, catalogue
from layout_algebra.memory import (
    CDNA3,
    CDNA4,
    NVIDIA,
    NVIDIA_WHOLE_WARP,
    MemoryTarget,
    bits_of,
)
from layout_algebra.memory.amd_targets import ExactTarget
from layout_algebra.prover import prove
from layout_algebra.verdicts import Proof

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
    "hosts",
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
    sizes = checked_shape(layout, shape)
    bits = bits_of(dtype)
    moved = bytes if bytes is not None else usual_bytes(bits)
    named = accesses if accesses is not None else usual_accesses(layout, sizes, bits, moved)
    records = layout_records(layout, sizes, dtype)
    records += [record(proof, layout, sizes, bits) for proof in proofs]
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
        "exact": isinstance(target, ExactTarget),
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
