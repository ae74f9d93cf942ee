"""Bad inputs for buffers, views, accesses, claims and `served`.

Each gives an error of the package with the words that say what was wrong; none slips through, and
none comes back as an error of Python's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from layout_algebra import Dim, LayoutAlgebraError, Map, R, S, TileLayout, laneid, prove
from layout_algebra.claims import (
    BankConflictFree,
    Coalesced,
    ConflictDegree,
    NoWriteRace,
    Vectorizable,
    Wavefronts,
)
from layout_algebra.errors import WitnessError
from layout_algebra.memory import Buffer, bits_of, served

SQUARE = TileLayout(S[(64, 64) : (64, 1)])
COPIED = TileLayout(S[(64, 64) : (64, 1)] + R[2:4096])
ON_LANES = TileLayout(S[(64, 64) : (64 @ laneid, 1)])
J, N = Dim("j", multiple_of=8, at_most=56), Dim("n")


def buffer(**changes: Any) -> Buffer:
    """A 64 x 64 buffer of halves in shared memory, with changes."""
    return Buffer(**{"shape": (64, 64), "dtype": "float16", "layout": SQUARE, **changes})


HALVES = buffer()
EVERYWHERE = buffer(scope="global")


def lane_row(lane: Any, *_: Any) -> tuple[Any, int]:
    return lane, 0


PAIR = HALVES.read(lane_row, bytes=4)
BY_COLUMN = HALVES.read(lambda lane, j: (lane, j), bytes=4, free=[J])
SPREAD = EVERYWHERE.read(lane_row)

Bad = tuple[str, Callable[[], Any]]
BUFFERS: dict[str, Bad] = {
    "shape as text": ("tuple of sizes.*64x64", lambda: buffer(shape="64x64")),
    "shape an int": ("tuple of sizes.*4096", lambda: buffer(shape=4096)),
    "shape of floats": ("sizes", lambda: buffer(shape=(64.0, 64))),
    "shape of bools": ("sizes", lambda: buffer(shape=(True, 4096))),
    "negative sizes": ("-64", lambda: buffer(shape=(-64, -64))),
    "a size of zero": ("0", lambda: buffer(shape=(0, 64))),
    "no size": ("4096", lambda: buffer(shape=())),
    "another size": ("2048.*4096", lambda: buffer(shape=(64, 32))),
    "no dtype": ("element type", lambda: buffer(dtype=None)),
    "a dtype of no kind": ("quaternion", lambda: buffer(dtype="quaternion")),
    "bits beyond all types": ("99999", lambda: buffer(dtype="float99999")),
    "no bits": ("1 to 1024", lambda: buffer(dtype=0)),
    "negative bits": ("-4", lambda: buffer(dtype=-4)),
    "float0": ("float0|bits", lambda: buffer(dtype="float0")),
    "vectors of none": ("int32x0|bits", lambda: buffer(dtype="int32x0")),
    "a superscript": ("²|element type", lambda: buffer(dtype="²")),
    "bits as a float": ("3.5", lambda: buffer(dtype=3.5)),
    "bits as a bool": ("True", lambda: buffer(dtype=True)),
    "no layout": ("layout.*None", lambda: buffer(layout=None)),
    "layout as text": ("layout", lambda: buffer(layout="S[(64,64):(64,1)]")),
    "layout as a shard": ("TileLayout", lambda: buffer(layout=S[(64, 64) : (64, 1)])),
    "layout a Map": (
        "TileLayout",
        lambda: buffer(layout=Map.of(lambda i, j: 64 * i + j, (64, 64))),
    ),
    "layout on lanes": ("laneid", lambda: buffer(layout=ON_LANES)),
    "layout with copies": (
        "cop|replica|R\\[",
        lambda: prove(BankConflictFree(buffer(layout=COPIED).read(lane_row))),
    ),
    "a scope of no kind": ("register", lambda: buffer(scope="register")),
    "no scope": ("None", lambda: buffer(scope=None)),
    "scopes": ("scope", lambda: buffer(scope=["shared"])),
    "align 3": ("power of two.*3", lambda: buffer(align=3)),
    "align negative": ("power of two.*-2", lambda: buffer(align=-2)),
    "align a float": ("power of two.*16", lambda: buffer(align=16.0)),
    "align text": ("power of two.*16", lambda: buffer(align="16")),
    "align True": ("True", lambda: buffer(align=True)),
    "align False": ("False", lambda: buffer(align=False)),
}
VIEWS: dict[str, Bad] = {
    "too few ranges": ("2 dimensions; got 1", lambda: HALVES[0:8]),
    "too many ranges": ("2 dimensions; got 3", lambda: HALVES[0:8, 0:8, 0:8]),
    "an ellipsis": ("dimension", lambda: HALVES[...]),
    "a step": ("step 1; got 2", lambda: HALVES[0:8:2, 0:8]),
    "a negative begin": ("-8:64", lambda: HALVES[-8:, 0:8]),
    "beyond the end": ("60:70 is not inside 0:64", lambda: HALVES[60:70, 0:8]),
    "a number beyond": ("64:65", lambda: HALVES[64, 0]),
    "empty": ("8:8", lambda: HALVES[8:8, 0:8]),
    "backwards": ("8:4", lambda: HALVES[8:4, 0:8]),
    "beyond a view": ("4:12 is not inside 0:8", lambda: HALVES[8:16, 0:8][4:12, 0:8]),
    "maybe empty": ("not empty", lambda: HALVES[0:N, 0:8]),
    "text": ("'a'", lambda: HALVES["a", 0]),
    "None": ("None", lambda: HALVES[None, 0]),
    "a float": ("0.5", lambda: HALVES[0.5, 0]),
    "a bool": ("True", lambda: HALVES[True, 0]),
    "a slice of text": ("'a'|'b'", lambda: HALVES["a":"b", 0]),
    "a slice to a float": ("8.0", lambda: HALVES[0:8.0, 0]),
    "a Dim that is nowhere inside": (
        "q",
        lambda: HALVES[Dim("q", at_least=64) : Dim("q", at_least=64) + 8, 0:8].read(lane_row),
    ),
}
ACCESSES: dict[str, Bad] = {
    "no callable": ("None", lambda: HALVES.read(None)),  # type: ignore[arg-type]
    "text": ("lane", lambda: HALVES.read("lane")),  # type: ignore[arg-type]
    "one coordinate": ("1 coordinates.*2 dimensions", lambda: HALVES.read(lambda lane: lane)),
    "three coordinates": ("3 coordinates", lambda: HALVES.read(lambda lane: (lane, 0, 0))),
    "no result": ("coordinates", lambda: HALVES.read(lambda lane: None)),
    "no parameter": ("parameter|argument", lambda: HALVES.read(lambda: (0, 0))),
    "a parameter without a Dim": ("parameter|argument", lambda: HALVES.read(lambda a, b: (a, 0))),
    "a Dim without a parameter": (
        "parameter|argument",
        lambda: HALVES.read(lambda lane: (lane, 0), free=[J]),
    ),
    "a division": ("//", lambda: HALVES.read(lambda lane: (lane / 2, 0))),
    "a float": ("0.5", lambda: HALVES.read(lambda lane: (0.5, 0))),
    "a bool": ("True", lambda: HALVES.read(lambda lane: (True, 0))),
    "a coordinate of text": ("'a'", lambda: HALVES.read(lambda lane: ("a", 0))),
    "a branch": ("branches", lambda: HALVES.read(lambda lane: (lane if lane < 4 else 0, 0))),
    "an index": ("lane", lambda: HALVES.read(lambda lane: ([0, 1][lane], 0))),
    "modulo zero": ("divisor.*0", lambda: HALVES.read(lambda lane: (lane % 0, 0))),
    "over a symbol": ("divisor.*lane", lambda: HALVES.read(lambda lane: (4 // lane, 0))),
    "after the end": ("0..124 in a view of 64", lambda: HALVES.read(lambda lane: (4 * lane, 0))),
    "before the begin": ("-1..30", lambda: HALVES.read(lambda lane: (lane - 1, 0))),
    "a vector after the end": ("60..67", lambda: HALVES.read(lambda a: (a, 60), bytes=16)),
    "no whole element": ("16 bits.*24", lambda: HALVES.read(lane_row, bytes=3)),
    "no byte": ("0 bits", lambda: HALVES.read(lane_row, bytes=0)),
    "negative bytes": ("-16", lambda: HALVES.read(lane_row, bytes=-2)),
    "bytes a float": ("32.0|4.0", lambda: HALVES.read(lane_row, bytes=4.0)),
    "bytes as text": ("'4", lambda: HALVES.read(lane_row, bytes="4")),
    "bytes a Dim": ("n", lambda: HALVES.read(lane_row, bytes=N)),
    "bytes and bits": ("not both", lambda: HALVES.read(lane_row, bytes=4, bits=32)),
    "no lane": ("1 to 64 lanes; got 0", lambda: HALVES.read(lane_row, lanes=0)),
    "65 lanes": ("65", lambda: HALVES.read(lane_row, lanes=65)),
    "lanes a float": ("32.0", lambda: HALVES.read(lane_row, lanes=32.0)),
    "lanes a bool": ("True", lambda: HALVES.read(lane_row, lanes=True)),
    "free text": ("Dims; got 'j'", lambda: HALVES.read(lane_row, free=["j"])),
    "free a number": ("Dims; got 3", lambda: HALVES.read(lane_row, free=[3])),
    "free a multiple": ("2\\*j", lambda: HALVES.read(lane_row, free=[2 * J])),
    "free no list": ("Dims", lambda: HALVES.read(lane_row, free=J)),
    "one name, two Dims": ("j", lambda: HALVES.read(lane_row, free=[J, Dim("j", at_most=8)])),
    "active a bool": ("conditions", lambda: HALVES.read(lane_row, active=lambda lane: True)),
    "active a number": ("conditions", lambda: HALVES.read(lane_row, active=lambda lane: lane)),
    "active no callable": ("5", lambda: HALVES.read(lane_row, active=5)),
    "active with or": ("&", lambda: HALVES.read(lane_row, active=lambda a: (a < 3) | (a > 5))),
    "active a chain": ("&", lambda: HALVES.read(lane_row, active=lambda a: 3 < a < 9)),
    "active without the Dim": (
        "parameter|argument",
        lambda: HALVES.read(lane_row, free=[J], active=lambda lane: lane < 3),
    ),
}
CLAIMS: dict[str, Bad] = {
    "of a layout": ("access", lambda: BankConflictFree(SQUARE)),  # type: ignore[arg-type]
    "of nothing": ("access.*None", lambda: BankConflictFree(None)),  # type: ignore[arg-type]
    "of a buffer": ("access", lambda: Vectorizable(HALVES)),  # type: ignore[arg-type]
    "target by name": ("MemoryTarget", lambda: BankConflictFree(PAIR, target="sm_90")),  # type: ignore[arg-type]
    "no target": ("MemoryTarget", lambda: Coalesced(SPREAD, 2, target=None)),  # type: ignore[arg-type]
    "banks of global memory": ("shared.*global", lambda: BankConflictFree(SPREAD)),
    "sectors of shared memory": ("global.*shared|shared.*global", lambda: Coalesced(PAIR, 4)),
    "a width of no instruction": (
        "16 bytes.*32",
        lambda: BankConflictFree(HALVES.read(lane_row, bytes=32)),
    ),
    "degree 0": ("0", lambda: ConflictDegree(PAIR, 0)),
    "degree -1": ("-1", lambda: ConflictDegree(PAIR, -1)),
    "degree a float": ("1.5", lambda: ConflictDegree(PAIR, 1.5)),  # type: ignore[arg-type]
    "degree a bool": ("True", lambda: ConflictDegree(PAIR, True)),
    "degree a Dim": ("n", lambda: ConflictDegree(PAIR, N)),  # type: ignore[arg-type]
    "no wavefront": ("0", lambda: Wavefronts(PAIR, 0)),
    "wavefronts as text": ("'4'", lambda: Wavefronts(PAIR, "4")),  # type: ignore[arg-type]
    "no sector": ("0", lambda: Coalesced(SPREAD, 0)),
    "sectors a float": ("2.0", lambda: Coalesced(SPREAD, 2.0)),  # type: ignore[arg-type]
    "a race of reads": ("write.*read", lambda: NoWriteRace(PAIR)),
}
SERVED: dict[str, Bad] = {
    "nothing": ("access", lambda: served(None)),  # type: ignore[arg-type]
    "a claim": ("access", lambda: served(BankConflictFree(PAIR))),  # type: ignore[arg-type]
    "a Dim without a value": ("j", lambda: served(BY_COLUMN)),
    "a value without a Dim": ("j", lambda: served(PAIR, j=8)),
    "no multiple": ("multiple of 8 in 0..56; got 4", lambda: served(BY_COLUMN, j=4)),
    "out of range": ("0..56; got 64", lambda: served(BY_COLUMN, j=64)),
    "a float": ("8.0", lambda: served(BY_COLUMN, j=8.0)),  # type: ignore[arg-type]
    "text": ("'8'", lambda: served(BY_COLUMN, j="8")),  # type: ignore[arg-type]
    "an odd base": ("multiple of 2; got 1", lambda: served(PAIR, base=1)),
    "a negative base": ("-2", lambda: served(PAIR, base=-2)),
    "a base of a float": ("2.0", lambda: served(PAIR, base=2.0)),  # type: ignore[arg-type]
    "target by name": ("MemoryTarget", lambda: served(PAIR, target="sm_90")),  # type: ignore[arg-type]
    "global memory": ("shared.*global", lambda: served(SPREAD)),
    "a width of no instruction": ("16 bytes", lambda: served(HALVES.read(lane_row, bytes=32))),
}
KINDS = {
    "buffer": BUFFERS,
    "view": VIEWS,
    "access": ACCESSES,
    "claim": CLAIMS,
    "served": SERVED,
}
EACH = [(kind, what) for kind, bad in KINDS.items() for what in bad]


@pytest.mark.parametrize(("kind", "what"), EACH, ids=[f"{kind}: {what}" for kind, what in EACH])
def test_bad_inputs_are_refused_in_words(kind: str, what: str):
    words, make = KINDS[kind][what]
    with pytest.raises(LayoutAlgebraError) as refused:
        make()
    assert not isinstance(refused.value, WitnessError)
    assert re.search(words, str(refused.value), re.DOTALL), str(refused.value)


@pytest.mark.parametrize("name", ["float16", "bf16", "torch.float16", "f16", "half"])
def test_names_of_half_types(name: str):
    assert bits_of(name) == 16
    assert buffer(dtype=name).bits == 16


def test_types_of_numpy_and_numbers_of_bits():
    import numpy as np

    assert bits_of(np.float16) == bits_of(np.dtype("float16")) == bits_of(16) == 16
    assert [bits_of(name) for name in ("int4", "e2m3", "e4m3", "bool", "int32x4")] == [
        4, 6, 8, 8, 128,
    ]  # fmt: skip
