"""Instructions between two places, beside simulations that run them as the ISA text says."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest

from layout_algebra import ComposeLayout, Map, S, TileLayout, Verdict, laneid, m, prove
from layout_algebra import hardware as hw
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.shared import SwizzleMode, mma_shared_layout
from layout_algebra.hardware.tma import tma_shared_layout
from layout_algebra.instructions.claims import Stated
from layout_algebra.instructions.moving import Move, instructions
from layout_algebra.memory import Buffer
from tests.hardware.test_shared import TABLES, moved

M = SwizzleMode
LANES = range(32)


def by_name(source, target) -> dict[str, Move]:
    return {move.name: move for move in instructions(source, target)}


def possible(source, target) -> set[str]:
    return {name for name, move in by_name(source, target).items() if move.possible}


def proven(moves) -> None:
    for move in moves:
        if move.possible:
            assert move.proof.verdict is Verdict.PROVED, f"{move}: {move.proof}"
        else:
            assert (bool(move.reason), move.proof, move.count) == (True, None, 0)


def turned(entry: Entry) -> Map:
    """A fragment over its coordinates exchanged."""
    rows, columns = entry.shape
    return Map.of(lambda i, j: entry.layout.apply(j, i, shape=entry.shape), (columns, rows))


# -- what a lane holds, and where that is in memory, element by element ----------------------------
@cache
def held(fragment: Map) -> dict[tuple[int, int, int], tuple[int, ...]]:
    """(warp, lane, m) -> the element's coordinates."""
    found = {}
    for element in product(*(range(int(n)) for n in fragment.extents)):
        for place in fragment.places(*element):
            lane, warp = place.get("laneid", 0), place.get("wid_in_wg", 0)
            if "tid_in_wg" in place:
                warp, lane = divmod(place["tid_in_wg"], 32)
            found[warp, lane, place.get("m", 0)] = element
    return found


@cache
def bits_of_lanes(view, fragment: Map) -> dict[tuple[int, int, int], int]:
    """(warp, lane, m) -> the bit in memory where that element begins."""
    buffer = view.buffer

    def bit(element) -> int:
        whole = [b + x for b, x in zip(view.begin, element, strict=True)]
        return buffer.layout.apply(*whole, shape=buffer.shape).get("m", 0) * buffer.bits

    return {at: bit(element) for at, element in held(fragment).items()}


def brute_vectors(view, fragment: Map, size: int) -> bool:
    """Whether vectors of so many bytes, the same places of every lane, move the tile.

    Lane 0's places in the order of memory are the only possible vectors.
    """
    bits, at = view.buffer.bits, bits_of_lanes(view, fragment)
    count = 1 + max(place for _, _, place in at)
    if 8 * size < bits or count * bits % (8 * size) or view.buffer.align % size:
        return False
    each, unit = 8 * size // bits, max(1, min(8 * size, 32) // bits)
    order = sorted(range(count), key=lambda place: at[0, 0, place])
    for first in range(0, count, each):
        vector = order[first : first + each]
        for begin in range(0, each, unit):  # a register's elements are in its own order
            word = vector[begin : begin + unit]
            if word[0] % unit or word != list(range(word[0], word[0] + unit)):
                return False
        for warp, lane in {(w, lane) for w, lane, _ in at}:
            begins = [at[warp, lane, place] for place in vector]
            run = [begins[0] + bits * e for e in range(each)]
            if begins[0] % (8 * size) or begins != run:
                return False
    return True


#: Bits of a piece, pieces of a lane, and (lane, piece) -> row and piece of the row: PTX ISA.
DEALT = {
    ("m8n8", False): (16, 2, lambda lane, e: (lane // 4, 2 * (lane % 4) + e)),
    ("m8n8", True): (16, 2, lambda lane, e: (2 * (lane % 4) + e, lane // 4)),
    ("m16n16", True): (8, 8, lambda lane, e: (4 * (lane % 4) + e % 4, lane // 4 + e // 4 * 8)),
    ("m16n8", True): (8, 4, lambda lane, e: (2 * (lane % 4) + e % 2, lane // 4 + e // 2 * 8)),
}


def brute_matrices(view, fragment: Map, shape: str, trans: bool) -> int | None:
    """How many matrices the tile is, loading each from the only rows that it may have; or None."""
    piece, pieces, where = DEALT[shape, trans]
    bits, at = view.buffer.bits, bits_of_lanes(view, fragment)
    whole = {16: (4, 8, 16), 8: (8,)}[piece] if trans else (4, 8, 16, 32)
    count = 1 + max(place for _, _, place in at)
    if bits not in whole or view.buffer.align % 16 or count * bits % 32:
        return None
    registers, per = count * bits // 32, 32 // piece
    warps = 1 + max(warp for warp, _, _ in at)

    def loaded(chosen: tuple[int, ...]) -> bool:
        """Whether some rows give these registers, in every warp."""
        for warp in range(warps):
            want = {}
            for lane, e in product(LANES, range(pieces)):
                register, inside = chosen[e // per], e % per
                first = register * 32 + inside * piece  # bits among the lane's registers
                for part in range(0, piece, min(piece, bits)):
                    place, rest = divmod(first + part, bits)
                    want[lane, e, part] = at[warp, lane, place] + rest
            begins = {}
            for lane, e in product(LANES, range(pieces)):
                row, column = where(lane, e)
                begins.setdefault(row, want[lane, e, 0] - column * piece)
            if any(begin % 128 for begin in begins.values()):
                return False
            for (lane, e, part), bit in want.items():
                row, column = where(lane, e)
                if begins[row] + column * piece + part != bit:
                    return False
        return True

    left, matrices = list(range(registers)), 0
    while left:
        rest = left[1:] if pieces > per else [None]
        tries = ((left[0], r) if r is not None else (left[0],) for r in rest)
        both = [c for t in tries for c in ({t, t[::-1]}) if loaded(c)]
        if not both:
            return None
        left = [r for r in left if r not in both[0]]
        matrices += 1
    return matrices


def expected(view, fragment: Map, kind: str) -> dict[str, int]:
    """Instruction -> count, of those that the simulations let move the tile."""
    found = {}
    verb, scope = ("ld", view.buffer.scope) if kind == "load" else ("st", view.buffer.scope)
    names = {1: "b8", 2: "b16", 4: "b32", 8: "v2.b32", 16: "v4.b32"}
    places = 1 + max(place for _, _, place in held(fragment))
    for size, name in names.items():
        if brute_vectors(view, fragment, size):
            found[f"{verb}.{scope}.{name}"] = places * view.buffer.bits // (8 * size)
    if scope != "shared":
        return found
    own, shapes = ("ldmatrix", "m16n16") if kind == "load" else ("stmatrix", "m16n8")
    for shape, trans in (("m8n8", False), ("m8n8", True), (shapes, True)):
        many = brute_matrices(view, fragment, shape, trans)
        for num in (1, 2, 4):
            if many is None or many % num or (shape == "m16n16" and num == 4):
                continue
            dtype = "b16" if shape == "m8n8" else "b8"
            found[f"{own}.{shape}.x{num}{'.trans' * trans}.{dtype}"] = many // num
    return found


def shuffled(fragment: Map, bits: int, rng: random.Random) -> Map:
    """The fragment with its registers in another order."""
    each = max(1, 32 // bits)
    count = 1 + max(place for _, _, place in held(fragment))
    order = list(range(count // each))
    rng.shuffle(order)
    at, names = dict(fragment.outputs), [axis for axis in fragment.axes if axis != "m"]
    table = Map.of(lambda i: {m: choose(order, i // each) * each + i % each}, (count,))
    other = table.after(Map(fragment.coordinates, (("m", at["m"]),)), inside=True)
    outputs = (*((name, at[name]) for name in names), ("m", other.output("m")))
    return Map(fragment.coordinates, outputs)


def choose(values, x):  # values[x] as arithmetic
    size = 1 << len(values).bit_length()
    return sum(value * ((size - (x ^ v)) // size) for v, value in enumerate(values))


FRAGMENTS = [
    (hw.mma("m16n8k16", "float16").A, 16),
    (hw.mma("m16n8k16", "float16").B, 16),
    (hw.mma("m16n8k16", "float16", accumulator="float16").D, 16),
    (hw.mma("m16n8k16", "float16").D, 32),
    (hw.mma("m16n8k8", "tf32").A, 32),
    (hw.mma("m16n8k32", "int8").A, 8),
    (hw.mma("m16n8k32", "int8").B, 8),
    (hw.mma("m16n8k64", "int4").A, 4),
    (hw.ldmatrix("x2", True, "m16n16", "b8").fragment, 8),
    (hw.stmatrix("x2", True, "m16n8", "b8").fragment, 8),
    (hw.ldmatrix("x4", True).fragment, 16),
    (Entry("rows", hw.wg_local_layout(8, 32), (32, 8), "float16", ""), 16),
]
SWIZZLES = [None, None, (0, 3, 3), (1, 2, 3), (3, 3, 3), (4, 3, 3), (2, 3, 3)]


def drawn(rng: random.Random):
    """A fragment, and a view of shared memory of its shape."""
    entry, bits = rng.choice(FRAGMENTS)
    fragment = turned(entry) if rng.random() < 0.3 else entry.map()
    rows, columns = (int(n) for n in fragment.extents)
    fragment = shuffled(fragment, bits, rng) if rng.random() < 0.3 else fragment
    whole = rows * rng.choice((1, 2)), columns * rng.choice((1, 2, 4))
    pad = rng.choice((0, 0, 0, 1, 8, 128 // bits))
    tile = TileLayout(S[whole : (whole[1] + pad, 1)])
    if rng.random() < 0.2:
        tile = TileLayout(S[whole : (1, whole[0] + pad)])
    swizzle = rng.choice(SWIZZLES)
    layout = tile if swizzle is None else ComposeLayout(*swizzle, tile)
    align = max(rng.choice((4, 16, 128)), bits // 8)
    buffer = Buffer(
        whole, bits, layout, scope=rng.choice(("shared",) * 5 + ("global",)), align=align
    )
    begin = [rng.choice((0, w - n)) for w, n in zip(whole, (rows, columns), strict=True)]
    return fragment, buffer[begin[0] : begin[0] + rows, begin[1] : begin[1] + columns]


@pytest.mark.parametrize("seed", range(3))
def test_random_tiles_between_memory_and_registers(seed):
    """Which instructions move a tile, and how many, is what running them shows."""
    rng = random.Random(seed)
    some = set()
    for _ in range(25):
        fragment, view = drawn(rng)
        for kind, pair in (("load", (view, fragment)), ("store", (fragment, view))):
            moves = instructions(*pair)
            got = {move.name: move.count for move in moves if move.possible}
            assert got == expected(view, fragment, kind), (str(view), str(fragment))
            some.update(got)
        proven(moves)
    assert len(some) > 12


def test_a_claim_of_another_fragment_is_false():
    """The claim is about this fragment: with its neighbour's registers it is refuted."""
    view = smem[0:16, 0:16]
    (move,) = [x for x in instructions(view, FRAGMENTS[0][0]) if x.name == "ldmatrix.m8n8.x4.b16"]
    ((kind, (access, fragment)),) = ((one.claim, one.subjects) for one in move.says)
    assert (kind, fragment) == ("Matches", FRAGMENTS[0][0].map())
    other = hw.ldmatrix("x4", True).fragment.map()
    assert prove(Stated(kind, (access, other)).made()).verdict is Verdict.REFUTED


MATRICES = [
    *product(("x1", "x2", "x4"), (False, True), ("m8n8",), ("b16",)),
    *product(("x1", "x2"), (True,), ("m16n16",), ("b8",)),
    *product(("x1", "x2", "x4"), (True,), ("m16n8",), ("b8",)),
]


@pytest.mark.parametrize("one", MATRICES, ids=str)
def test_each_matrix_instruction_moves_its_own_fragment(one):
    """Once, from rows of memory without gaps; with its registers in another order, too."""
    num, trans, shape, dtype = one
    move = hw.stmatrix(*one) if shape == "m16n8" else hw.ldmatrix(*one)
    bits, fragment = int(dtype[1:]), move.fragment.map()
    tile = TileLayout(S[move.fragment.shape : (move.fragment.shape[1], 1)])
    buffer = Buffer(move.fragment.shape, bits, tile, align=16)
    for own in (fragment, shuffled(fragment, bits, random.Random(num))):
        pairs = [(buffer, own), (own, buffer)] if shape == "m8n8" else [(buffer, own)]
        for source, target in [(own, buffer)] if shape == "m16n8" else pairs:
            verb = "stmatrix" if source is own else "ldmatrix"
            found = by_name(source, target)
            name = f"{verb}.{shape}.{num}{'.trans' * trans}.{dtype}"
            assert found[name].count == 1
            proven(found.values())


smem = Buffer((128, 64), "float16", tma_shared_layout((128, 64), "float16", M.B128), align=1024)
gmem = Buffer((512, 512), "float16", TileLayout(S[(512, 512) : (512, 1)]), "global", align=16)


# -- fragments of several warps --------------------------------------------------------------------
def test_a_warpgroup_stores_its_accumulator():
    layout = hw.wgmma_accumulator_layout(64)
    moves = by_name(Entry("d", layout, (64, 64), "float16", ""), smem[0:64, 0:64])
    assert {n: x.count for n, x in moves.items() if x.possible} == {
        "st.shared.b16": 32,
        "st.shared.b32": 16,
        "stmatrix.m8n8.x1.b16": 16,
        "stmatrix.m8n8.x2.b16": 8,
        "stmatrix.m8n8.x4.b16": 4,
    }
    proven(moves.values())


def test_what_idle_lanes_and_copies_do():
    """Lanes that hold nothing sit a load out; copies are loaded twice, and not stored."""
    scales = hw.mma_scales("A", "4X")
    buffer = Buffer((16, 4), "uint8", TileLayout(S[(16, 4) : (4, 1)]), align=4)
    moves = by_name(buffer, scales)
    assert moves["ld.shared.b32"].count == 1
    (access, _) = moves["ld.shared.b32"].says[0].subjects
    busy = [lane for lane in LANES if access.address.admits({access.lane: lane})]
    assert busy == sorted({lane for _, lane, _ in held(scales.map())})
    assert len(busy) == 16
    assert "holds nothing" in moves["ldmatrix.m16n16.x1.trans.b8"].reason
    proven(moves.values())
    twice = Map.of(lambda i, j, q: {laneid: i + 16 * q, m: j}, (16, 4, 2), copies=("q",))
    assert possible(buffer, twice) == {"ld.shared.b8", "ld.shared.b16", "ld.shared.b32"}
    proven(instructions(buffer, twice))
    assert not possible(twice, buffer)
    assert "two lanes would write" in by_name(twice, buffer)["st.shared.b8"].reason


def test_elements_of_a_register_are_neighbours():
    """Two halves of a lane that lie apart are no 32 bits, though each begins at a multiple of 4."""
    layout = TileLayout(S[(32, 2) : (2, 128)])
    buffer = Buffer((32, 2), "float16", layout, align=16)
    pairs = Map.of(lambda i, j: {laneid: i, m: j}, (32, 2))
    moves = by_name(buffer, pairs)
    assert possible(buffer, pairs) == {"ld.shared.b16"}
    assert "lie at byte 0 and byte 256" in moves["ld.shared.b32"].reason


# -- TMA -------------------------------------------------------------------------------------------
def brute_boxes(view, mode: M, rows: int, columns: int) -> bool:
    """Whether TMA boxes of this size, from multiples of the mode's boundary, write the tile."""
    bits, shape = view.buffer.bits, view.shape
    step = bits // 8

    def byte(i: int, j: int) -> int:
        return view.buffer.layout.apply(i, j, shape=view.buffer.shape)["m"] * step

    for i, j in product(range(0, shape[0], rows), range(0, shape[1], columns)):
        begin = next((x for x in range(0, 1 << 16, 128) if moved(mode, x) == byte(i, j)), None)
        if begin is None or begin % mode.boundary:
            return False
        for r, c in product(range(rows), range(columns)):
            if moved(mode, begin + (r * columns + c) * step) != byte(i + r, j + c):
                return False
    return True


TILES = [
    (tma_shared_layout((64, 64), "float16", M.B128), (64, 64)),
    (tma_shared_layout((64, 32), "float16", M.B64), (64, 32)),
    (tma_shared_layout((64, 16), "float16", M.B32), (64, 16)),
    (tma_shared_layout((64, 64), "float16", M.B128_ATOM_32B), (64, 64)),
    (tma_shared_layout((64, 64), "float16", M.B128_ATOM_64B), (64, 64)),
    (tma_shared_layout((64, 64), "float16"), (64, 64)),
    (mma_shared_layout("float16", M.B128, (64, 128)), (64, 128)),
    (mma_shared_layout("float16", M.B32, (32, 64)), (32, 64)),
    (mma_shared_layout("float16", M.NONE, (32, 32)), (32, 32)),
    (TileLayout(S[(64, 64) : (72, 1)]), (64, 64)),
    (TileLayout(S[(8, 64) : (1, 8)]), (8, 64)),
    (ComposeLayout(3, 3, 4, TileLayout(S[(64, 64) : (64, 1)])), (64, 64)),
]


@pytest.mark.parametrize(("layout", "shape"), TILES, ids=[str(one) for one, _ in TILES])
def test_tma_boxes(layout, shape):
    view = Buffer(shape, "float16", layout, align=1024).whole
    tensor = gmem[64 : 64 + shape[0], 128 : 128 + shape[1]]
    moves = by_name(tensor, view)
    for mode in TABLES:
        row = shape[1] if mode is M.NONE else mode.row_bytes // 2
        columns = [n for n in range(8, row + 1, 8) if row % n == 0] if mode is M.NONE else [row]
        cuts = [
            (shape[0] // r) * (shape[1] // c)
            for r, c in product([n for n in range(1, 65) if shape[0] % n == 0], columns)
            if shape[1] % c == 0 and brute_boxes(view, mode, r, c)
        ]
        move = moves[f"TMA load, swizzle {mode}"]
        assert (move.count if move.possible else None) == min(cuts, default=None), move
    proven(moves.values())
    back = {name.replace("store", "load") for name in possible(view, tensor)}
    assert back == possible(tensor, view)


def test_tma_packs_narrow_elements():
    """4-bit elements as they are: rows of 64 to 256 of them, from known first columns."""
    tensor = Buffer((512, 512), "int4", TileLayout(S[(512, 512) : (512, 1)]), "global", align=32)
    for mode in (M.B32, M.B64, M.B128, M.NONE):
        row = 256 if mode is M.NONE else 2 * mode.row_bytes
        tile = Buffer((64, row), "int4", tma_shared_layout((64, row), "int4", mode), align=1024)
        view = tensor[64:128, 256 : 256 + row]
        assert f"TMA load, swizzle {mode}" in possible(view, tile)
        proven(by_name(view, tile).values())
        assert f"TMA store, swizzle {mode}" in possible(tile, view)
        moves = by_name(tensor[64:128, 64 : 64 + row], tile)
        assert "a box begins in column 64" in moves[f"TMA load, swizzle {mode}"].reason


@pytest.mark.parametrize("dtype", ["int4", "float6_e2m3fn"])
def test_tma_pads_narrow_elements(dtype):
    """16 of them to 16 bytes: a buffer of bytes has them, in rows of 128."""
    layout = TileLayout(S[(512, 512) : (512, 1)])
    tensor = Buffer((512, 512), dtype, layout, "global", align=32)
    for mode in (M.NONE, M.B128, M.B128_ATOM_32B):
        tile = Buffer((64, 128), "uint8", tma_shared_layout((64, 128), "uint8", mode), align=1024)
        view = tensor[64:128, 128:256]
        assert possible(view, tile) == {f"TMA load, swizzle {mode}"}
        moves = by_name(view, tile)
        assert moves[f"TMA load, swizzle {mode}"].count == 1
        proven(moves.values())
        between = by_name(tensor[64:128, 64:192], tile)[f"TMA load, swizzle {mode}"].reason
        assert "begins in column 64" in between
        assert "are what it takes" in between
        assert "take the swizzles" in by_name(view, tile)["TMA load, swizzle B64"].reason
        stored = by_name(tile, view)[f"TMA store, swizzle {mode}"]
        assert stored.possible == (dtype != "int4"), stored
        half = tensor[64:128, 0:64]
        narrow = Buffer((64, 64), "uint8", TileLayout(S[(64, 64) : (64, 1)]), align=1024)
        assert "padded rows have 128" in by_name(half, narrow)["TMA load, swizzle NONE"].reason
    wide = Buffer((64, 256), "uint8", mma_shared_layout("uint8", M.B128, (64, 256)), align=1024)
    assert by_name(tensor[0:64, 0:256], wide)["TMA load, swizzle B128"].count == 2


def test_why_tma_does_not():
    def reason(source, target, mode="B128") -> str:
        return by_name(source, target)[f"TMA load, swizzle {mode}"].reason

    low = Buffer((128, 64), "float16", smem.layout, align=512)
    assert "multiples of 512 bytes: it takes align=1024" in reason(gmem[0:128, 0:64], low)
    small = Buffer((64, 36), "float16", TileLayout(S[(64, 36) : (36, 1)]), "global", align=16)
    assert "stride of dimension 0 is a multiple of 16" in reason(
        small[0:64, 0:32], smem[0:64, 0:32]
    )
    across = Buffer((64, 64), "float16", TileLayout(S[(64, 64) : (1, 64)]), "global", align=16)
    assert "64 elements apart" in reason(across, smem[0:64, 0:64])
    assert "how shorter ones are padded" in reason(gmem[0:64, 0:32], smem[0:64, 0:32])
    plain = TileLayout(S[(128, 64) : (64, 1)])
    assert "align=16" in reason(Buffer((128, 64), "float16", plain, "global", align=8), smem)
    assert "is not modelled" in reason(gmem[0:128, 0:64], smem, "B128_ATOM_32B_FLIP_8B")
    byte = Buffer((128, 64), "int8", plain, align=1024)
    assert "16 bits in global and 8 in shared" in reason(gmem[0:128, 0:64], byte)
