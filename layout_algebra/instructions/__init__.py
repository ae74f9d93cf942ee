"""Which instructions of the catalogue move a tile from one place to another.

from layout_algebra.instructions import instructions

for move in instructions(sA[0:16, 0:16], hw.mma("m16n8k16", "float16").A):
    print(move)            # ldmatrix.m8n8.x4.b16: once; and for the others, why not
"""

from layout_algebra.instructions.moving import Move, Operand, instructions

__all__ = ["Move", "Operand", "instructions"]
