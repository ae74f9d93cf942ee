"""Bank claims over all columns and bases, beside the integer set library.

    python -m tests.benchmarks.against_islpy

Three questions, each asked as an integer set that is empty (islpy, of the `bench` extra) and as a
claim: 16 bytes of each of 32 rows of float16, at any aligned column and at any base
address that is a multiple of 16; rows swizzled, rows padded, and rows that do conflict.  isl has no
XOR; a bit of it is a sum mod 2.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable

from layout_algebra import BankConflictFree, Buffer, ComposeLayout, Dim, S, TileLayout, prove
from layout_algebra.verdicts import Verdict

#: Rows of 64 halves are 8 units of 16 bytes; banks begin again after 8 units.
TOGETHER = "0 <= a < b < 32 and floor(a/8) = floor(b/8) and 0 <= j < 8 and 0 <= base < 16777216"
APART = "u != v and (u - v) mod 8 = 0"


def units(pitch: int) -> str:
    return f"u = {pitch}*a + j + base and v = {pitch}*b + j + base"


def swizzled_units() -> str:
    """u = 8*a + (j xor a mod 8), bit by bit."""
    parts: list[str] = []
    for name, row in (("u", "a"), ("v", "b")):
        bits = [f"((floor(j/{1 << k}) + floor({row}/{1 << k})) mod 2)" for k in range(3)]
        total = " + ".join(f"{1 << k}*{bit}" for k, bit in enumerate(bits))
        parts.append(f"{name} = 8*{row} + base + {total}")
    return " and ".join(parts)


def isl_is_empty(where: str) -> bool:
    import islpy

    text = f"{{ [a, b, j, base, u, v] : {TOGETHER} and {where} and {APART} }}"
    return islpy.Set(text).is_empty()


def ours_is_proved(layout: TileLayout | ComposeLayout) -> bool:
    column = Dim("j", multiple_of=8, at_most=56)
    buffer = Buffer((32, 64), "float16", layout, align=16)
    access = buffer.read(lambda lane, j: (lane, j), bytes=16, free=[column])
    return prove(BankConflictFree(access)).verdict is Verdict.PROVED


ROWS = TileLayout(S[(32, 64) : (64, 1)])
CASES: dict[str, tuple[str, TileLayout | ComposeLayout, bool]] = {
    "swizzled rows": (swizzled_units(), ComposeLayout(3, 3, 3, ROWS), True),
    "padded rows": (units(9), TileLayout(S[(32, 64) : (72, 1)]), True),
    "plain rows, which conflict": (units(8), ROWS, False),
}


def millis(call: Callable[[], object]) -> float:
    call()
    return min(timeit.repeat(call, number=1, repeat=5)) * 1e3


def main() -> None:
    try:
        import islpy
    except ImportError:
        print("islpy is not installed: pip install islpy (the extra `bench`)")
        return
    print(f"islpy {islpy.version.VERSION_TEXT:20} {'ours ms':>10} {'isl ms':>10} {'ratio':>8}")
    for name, (where, layout, free) in CASES.items():
        assert isl_is_empty(where) == ours_is_proved(layout) == free, name
        ours = millis(lambda layout=layout: ours_is_proved(layout))
        theirs = millis(lambda where=where: isl_is_empty(where))
        print(f"  {name:25} {ours:10.1f} {theirs:10.1f} {ours / theirs:8.2f}")


if __name__ == "__main__":
    main()
