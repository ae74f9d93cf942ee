"""Layout objects of Triton and Gluon, in and out.

    from_triton(gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0]), (64, 64))     # a LinearLayout
    from_triton(gl.SwizzledSharedLayout(8, 2, 4, [1, 0]))                       # a PhaseSwizzle
    tile_from_linear(...).value                                                 # a TileLayout

Layouts that list their bases are read.  What a blocked, sliced, MMA or dot-operand layout means for
a shape is Triton's to say, and is asked of Triton: in a child process, since its compiler ends the
process on some layouts that do not fit their shape.  No GPU is needed.  Padded shared layouts are
not linear, and become tiles with a longer stride wherever a bit reaches an interval.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from layout_algebra.algebra.normal_form import merge_shard
from layout_algebra.axes import m
from layout_algebra.interop.linear_import import tile_from_linear
from layout_algebra.interop.phases import PhaseSwizzle
from layout_algebra.interop.refusals import InteropError, is_power_of_two
from layout_algebra.interop.triton import LinearLayout, checked_linear
from layout_algebra.layouts import TileLayout
from layout_algebra.values import Iter

#: Attributes with an input's bases -> the input's name.
_BASES = {
    "reg_bases": "register",
    "lane_bases": "lane",
    "warp_bases": "warp",
    "offset_bases": "offset",
    "rows": "row",
    "cols": "col",
    "block_bases": "block",
}
#: Layouts that mean nothing until the compiler has chosen.
_OPEN = ("AutoLayout", "CoalescedLayout")
#: Seconds that Triton may take for one layout.
_PATIENCE = 120

#: What the child does: Triton's own conversion, and its bases as JSON.
_CHILD = """
import json, os, pickle, sys
from triton._C.libtriton import gluon_ir, ir
layout, shape, names = pickle.loads(sys.stdin.buffer.read())
context = ir.context()
ir.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
found = builder.to_linear_layout(layout._to_ir(builder), shape)
print(json.dumps({name: getattr(found, name) for name in names if hasattr(found, name)}))
sys.stdout.flush()
os._exit(0)
"""


def from_triton(
    theirs: Any, shape: Sequence[int] | None = None
) -> LinearLayout | PhaseSwizzle | TileLayout:
    """Our value of a layout object of Triton or Gluon.

    Args:
        theirs: `triton.tools.LinearLayout`, or a layout of `triton.experimental.gluon.language`.
        shape: the tensor's shape, powers of two; needed unless the layout has one.

    Returns:
        A LinearLayout; a PhaseSwizzle for a SwizzledSharedLayout without a shape; a TileLayout for
        a PaddedSharedLayout.

    Raises:
        InteropError: a layout that the compiler has still to choose, a missing or unfit shape, or
            an object that is none of these.
    """
    kind = type(theirs).__name__
    if kind in _OPEN:
        raise InteropError(f"{kind} is what the compiler will choose: convert what it chose")
    if hasattr(theirs, "interval_padding_pairs"):
        return _padded(theirs)
    if hasattr(theirs, "bases") and hasattr(theirs, "out_dims"):
        return LinearLayout(_plain(dict(theirs.bases)), dict(theirs.out_dims))
    if hasattr(theirs, "offset_bases") or hasattr(theirs, "lane_bases") or hasattr(theirs, "rows"):
        return _listed(theirs, list(theirs.shape))
    if shape is None and all(hasattr(theirs, name) for name in ("vec", "per_phase", "max_phase")):
        return PhaseSwizzle(theirs.vec, theirs.per_phase, theirs.max_phase, tuple(theirs.order))
    if hasattr(theirs, "_to_ir"):
        return _asked(theirs, shape)
    raise InteropError(
        "a layout of Triton is a triton.tools.LinearLayout or one of Gluon's layouts; got "
        f"{type(theirs).__name__}"
    )


def to_triton(ll: LinearLayout, linear_layout: Any) -> Any:
    """Triton's object of a linear layout; `linear_layout` is `triton.tools.LinearLayout`.

    Raises:
        InteropError: no LinearLayout, or a class without `from_bases`.
    """
    ll = checked_linear(ll)
    if not hasattr(linear_layout, "from_bases"):
        raise InteropError(
            f"linear_layout= is triton.tools.LinearLayout, with from_bases; got {linear_layout!r}"
        )
    bases = [(name, [list(basis) for basis in vectors]) for name, vectors in ll.bases]
    names = [name for name, _ in ll.out_dims]
    return linear_layout.from_bases(bases, names, list(ll.shape), False)


def _listed(theirs: Any, shape: Sequence[int]) -> LinearLayout:
    """A layout that lists its bases."""
    found = {name: getattr(theirs, attribute, None) for attribute, name in _BASES.items()}
    bases = {name: vectors for name, vectors in found.items() if vectors is not None}
    return LinearLayout(_plain(bases), {f"dim{k}": size for k, size in enumerate(shape)})


def _plain(bases: Mapping[str, Any]) -> dict[str, list[list[int]]]:
    return {
        name: [[int(number) for number in basis] for basis in vectors]
        for name, vectors in bases.items()
    }


def _asked(theirs: Any, shape: Sequence[int] | None) -> LinearLayout:
    """What Triton says that a layout means for a shape."""
    kind = type(theirs).__name__
    if shape is None:
        raise InteropError(f"which tensor? A {kind} needs shape=, the tensor's shape")
    if not isinstance(shape, tuple | list) or not all(is_power_of_two(size) for size in shape):
        raise InteropError(f"the shape of a {kind} is made of powers of two; got {shape!r}")
    rank = getattr(theirs, "rank", None)
    if rank is not None and rank != len(shape):
        raise InteropError(f"this {kind} has {rank} dimensions, the shape {len(shape)}")
    answer = _ask(pickle.dumps((theirs, list(shape), list(_BASES))), kind)
    bases = {_BASES[attribute]: vectors for attribute, vectors in answer.items()}
    return LinearLayout(_plain(bases), {f"dim{k}": size for k, size in enumerate(shape)})


@cache
def _ask(question: bytes, kind: str) -> dict[str, Any]:
    """Triton's answer, by attribute; kept, since a process takes about a second."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=question,
        capture_output=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = next((line for line in said if _is_reason(line)), "it gave none")
        raise InteropError(f"Triton has no linear layout for this {kind}: {why}")
    return json.loads(done.stdout)


def _is_reason(line: str) -> bool:
    return "error" in line.lower() or "assertion" in line.lower()


def _padded(theirs: Any) -> TileLayout:
    """A PaddedSharedLayout: offsets, and after every interval some room.

    An offset o is at o + sum of (o // interval) * padding.  Intervals are powers of two, so the
    quotient is the sum of those of o's bits, and a tile of bits stays one.
    """
    shape = list(theirs.shape)
    bases = {"offset": theirs.offset_bases, "block": theirs.cga_layout}
    ll = LinearLayout(_plain(bases), {f"dim{k}": size for k, size in enumerate(shape)})
    tile = tile_from_linear(ll).value
    if not isinstance(tile, TileLayout) or tile.replica:
        raise InteropError("the offsets of this PaddedSharedLayout are no tile before the padding")
    bits: list[Iter] = []
    for extent, stride, axis in tile.shard:
        for k in reversed(range(int(extent).bit_length() - 1)):
            step = int(stride) << k
            more = sum(
                step // interval * padding for interval, padding in theirs.interval_padding_pairs
            )
            bits.append(Iter(2, step + more if axis is m else step, axis))
    return TileLayout.from_iters(merge_shard(bits))
