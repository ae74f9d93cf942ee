"""Swizzled shared memory: the modes, their atoms, tiles of any size, and their banks."""

from __future__ import annotations

from layout_algebra import (
    Bijective,
    ComposeLayout,
    Dim,
    Equivalent,
    Injective,
    Map,
    TileLayout,
    Verdict,
    m,
)
from layout_algebra.claims import BankConflictFree, ConflictDegree
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.descriptors import MatrixDescriptor
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.finding_descriptors import descriptor_for
from layout_algebra.hardware.shared import (
    SwizzleMode,
    checked_bits,
    mma_shared_layout,
    shared_atoms,
)
from layout_algebra.hardware.tma import tma_shared_layout
from layout_algebra.memory import Access, Buffer
from layout_algebra.theorems import theorem

MODES = "PTX ISA, Swizzling Modes of tensors"
ATOMS = "PTX ISA, Shared Memory Matrix Layout, canonical layouts"
TIRX = "the TIRx layout API, mma_shared_layout"

B32, B64, B128 = SwizzleMode.B32, SwizzleMode.B64, SwizzleMode.B128
ATOM_32B, ATOM_64B = SwizzleMode.B128_ATOM_32B, SwizzleMode.B128_ATOM_64B
#: Mode -> (bytes of a chunk, lines after which the pattern repeats).
PATTERNS = {B32: (16, 2), B64: (16, 4), B128: (16, 8), ATOM_32B: (32, 4), ATOM_64B: (64, 2)}

M8 = Dim("M", multiple_of=8, at_least=8)
#: Columns of a tile, in rows of the mode.
blocks = Dim("blocks", at_least=1)
rows = Dim("rows", multiple_of=8, at_least=8, at_most=256)


#: Shared memory that a descriptor's addresses reach (bytes).
MEMORY = 1 << 18


def bytes_of(mode: SwizzleMode, address):
    """Where a mode puts a byte: the swizzle of the catalogue over plain bytes."""
    own = mode.swizzle
    plain = TileLayout.from_iters([(2 * MEMORY, 1, m)])
    layout = ComposeLayout(own.per_element, own.swizzle_len, own.atom_len, plain)
    return layout.apply(address)["m"]


# -- the modes ---------------------------------------------------------------------------------
def state_mode(mode: SwizzleMode) -> None:
    """The theorems of one mode."""
    chunk, lines = PATTERNS[mode]

    @theorem(f"{mode}: chunk c of line l is at c xor l", source=MODES)
    def pattern():
        """Chunks of 16, 32 or 64 bytes in lines of 128; the table of the ISA."""
        each = 128 // chunk

        def table(line, c, byte):
            return {"byte": 128 * line + chunk * (c ^ (line % lines)) + byte}

        def swizzled(line, c, byte):
            return {"byte": bytes_of(mode, 128 * line + chunk * c + byte)}

        sizes = {"line": 16, "c": each, "byte": chunk}
        return Equivalent(Map.of(swizzled, sizes), Map.of(table, sizes))

    @theorem(f"{mode}: from a multiple of {mode.boundary} on, only the offset counts", source=MODES)
    def from_a_boundary():
        """So that what a layout says of a tile holds wherever the tile may begin."""

        def moved(b, x):
            return {"byte": bytes_of(mode, mode.boundary * b + x)}

        def alone(b, x):
            return {"byte": mode.boundary * b + bytes_of(mode, x)}

        sizes = {"b": 256, "x": 1 << 13}
        return Equivalent(Map.of(moved, sizes), Map.of(alone, sizes))

    @theorem(
        f"{mode}: from any multiple of 128 on, only the offset counts",
        source=MODES,
        expect=Verdict.REFUTED,
        note="the XOR takes bits of the whole address: between boundaries the pattern begins with "
        "another line",
    )
    def not_from_a_line():
        def moved(b, x):
            return {"byte": bytes_of(mode, 128 * b + x)}

        def alone(b, x):
            return {"byte": 128 * b + bytes_of(mode, x)}

        sizes = {"b": 64, "x": 1 << 13}
        return Equivalent(Map.of(moved, sizes), Map.of(alone, sizes))


for one_mode in PATTERNS:
    state_mode(one_mode)


# -- atoms -------------------------------------------------------------------------------------
def state_atom(entry: Entry) -> None:
    """The theorem of one atom."""

    @theorem(f"{entry.name}: the atom is dense, each place used once", source=entry.source)
    def atom_is_bijective():
        return Bijective(entry.layout, {"m": entry.shape[0] * entry.shape[1]})


for one_entry in shared_atoms():
    state_atom(one_entry)


# -- tiles -------------------------------------------------------------------------------------
def state_tile(mode: SwizzleMode, dtype: str) -> None:
    """The theorems of tiles of one mode and type."""
    bits = checked_bits("proofs", dtype)
    wide, step = 8 * mode.row_bytes // bits, 256 // bits

    @theorem(f"{mode} tiles of {dtype} are dense, for all numbers of atoms", source=TIRX)
    def tile_is_bijective():
        layout = mma_shared_layout(dtype, mode, (M8, wide * blocks))
        return Bijective(layout, {"m": M8 * wide * blocks})

    @theorem(f"{mode} tiles of {dtype}: TMA writes what K-major MMA reads", source=ATOMS)
    def tma_writes_what_mma_reads():
        """A box of any number of rows that fill the mode's row."""
        return Equivalent(
            tma_shared_layout((rows, wide), dtype, mode),
            mma_shared_layout(dtype, mode, (rows, wide)),
        )

    @theorem(f"{mode} tiles of {dtype}: the descriptor leads to every element", source=ATOMS)
    def descriptor_leads_there():
        """The last slice of 32 bytes of K of a tile of two atoms across, 64 rows."""
        shape = (64, 2 * wide)
        layout = mma_shared_layout(dtype, mode, shape)
        buffer = Buffer(shape, dtype, layout, align=1024)
        begin = 2 * wide - step
        found = descriptor_for(buffer[0:64, begin : 2 * wide])
        if not isinstance(found, MatrixDescriptor):
            raise LayoutError(found.reason)
        return Equivalent(
            found.layout((64, step), dtype).map((64, step)),
            Map.of(lambda i, k: layout.apply(i, begin + k, shape=shape), (64, step)),
        )


for one_mode in (B32, B64, B128):
    for one_type in ("int8", "float16", "float32"):
        state_tile(one_mode, one_type)


# -- banks -------------------------------------------------------------------------------------
def column(mode: SwizzleMode) -> Access:
    """8 lanes read 16 bytes each, one below the other, anywhere in 64 rows of halves."""
    wide = 8 * mode.row_bytes // 16
    chunks = Dim("j", multiple_of=8, at_least=0, at_most=wide - 8)
    first = Dim("i", multiple_of=8, at_least=0, at_most=56)
    buffer = Buffer((64, wide), "float16", tma_shared_layout((64, wide), "float16", mode), align=16)
    return buffer.read(lambda lane, i, j: (i + lane, j), lanes=8, bytes=16, free=[first, chunks])


def eighth(mode: SwizzleMode) -> Map:
    """8 rows of a mode, one below the other: which eighth of the banks 16 bytes of each are in.

    The swizzle takes the whole address, and the first row may begin at any multiple of 16.
    """

    def banks(start, row):
        byte = bytes_of(mode, 16 * start + mode.row_bytes * row)
        return {"start": start, "eighth": byte // 16 % 8}

    return Map.of(banks, {"start": MEMORY // 16, "row": 8})


def state_banks(mode: SwizzleMode) -> None:
    """Modes with chunks of 16 bytes."""

    @theorem(f"{mode}: 8 rows are in different banks from every address on", source=MODES)
    def from_every_address():
        return Injective(eighth(mode))

    @theorem(f"{mode}: a column of 8 x 16 bytes has no bank conflict", source=MODES)
    def conflict_free():
        return BankConflictFree(column(mode))


def state_degree(mode: SwizzleMode, degree: int) -> None:
    """Modes with larger chunks."""

    @theorem(
        f"{mode}: 8 rows are in different banks from every address on",
        source=MODES,
        expect=Verdict.REFUTED,
        note=f"chunks of {mode.chunk_bytes} bytes stay together",
    )
    def not_from_every_address():
        return Injective(eighth(mode))

    @theorem(f"{mode}: a column of 8 x 16 bytes is {degree}-way at most", source=MODES)
    def at_most():
        return ConflictDegree(column(mode), degree)

    @theorem(
        f"{mode}: a column of 8 x 16 bytes is {degree // 2}-way at most",
        source=MODES,
        expect=Verdict.REFUTED,
        note=f"chunks of {mode.chunk_bytes} bytes stay together: {128 // mode.chunk_bytes} places "
        "for 8 rows",
    )
    def not_less():
        return ConflictDegree(column(mode), degree // 2)


for one_mode in (B32, B64, B128):
    state_banks(one_mode)
state_degree(ATOM_32B, 2)
state_degree(ATOM_64B, 4)
