"""Random PTX programs over one thread's number: for comparing the three interpreters.

    text = random_program(random.Random(1), 20)

Registers are written before they are read; shift amounts, fields and divisors are numbers where
`plain` is set, as symbolic execution needs them, and anything else otherwise.
"""

from __future__ import annotations

import random

NUMBERS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 24, 31, 33, 63, 64, 100, 255, 1023, 4096, 65535, 2**31)
COMPARES = ("eq", "ne", "lt", "le", "gt", "ge")
#: What the program's parameters are: an array, then a number.
PARAMETERS = ("%base", "%n")


def random_program(rng: random.Random, length: int, *, plain: bool = True) -> str:
    """A module with one entry `kernel(array, n)` that stores some of its registers."""
    maker = _Maker(rng, plain)
    lines = [
        "ld.param.u64 %rd0, [kernel_param_0];",
        "ld.param.u32 %r0, [kernel_param_1];",
        "mov.u32 %r1, %ctaid.x;",
        "mov.u32 %r2, %ntid.x;",
        "mov.u32 %r3, %tid.x;",
        "mad.lo.s32 %r4, %r1, %r2, %r3;",
        "cvt.u64.u32 %rd1, %r4;",
        "mov.u32 %r5, 77;",
        "setp.lt.u32 %p0, %r4, 9;",
    ]
    if rng.random() < 0.5:  # the thread's number alone: the terms stay small
        lines[-1] = "setp.lt.u32 %p0, %r4, 9; and.b32 %r5, %r4, 31;"
        maker.small = True
    lines += [maker.instruction() for _ in range(length)]
    if rng.random() < 0.4:  # some threads leave a register as it is
        register = maker.word()
        lines += ["@%p0 bra $L1;", f"add.s32 {register}, {register}, {maker.word()};", "$L1:"]
    shown = rng.sample(range(maker.words), min(3, maker.words))
    lines += [f"st.global.u32 [%rd0+{8 * k}], %r{one};" for k, one in enumerate(shown)]
    lines += [f"st.global.u64 [%rd0+64], %rd{rng.randrange(1, maker.longs)};", "ret;"]
    body = "\n".join(f"    {line}" for line in lines)
    return (
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry kernel(.param .u64 kernel_param_0, .param .u32 kernel_param_1)\n{\n"
        "    .reg .pred %p<99>;\n    .reg .b32 %r<99>;\n    .reg .b64 %rd<99>;\n"
        f"{body}\n}}\n"
    )


class _Maker:
    """Makes instructions whose operands have been written."""

    def __init__(self, rng: random.Random, plain: bool) -> None:
        self.rng = rng
        self.plain = plain
        self.small = False
        self.words, self.longs, self.tests = 6, 2, 1

    def instruction(self) -> str:
        make = self.rng.choice(
            [self.arithmetic] * 4
            + [self.bits] * 2
            + [self.shift] * 3
            + [self.wide, self.convert, self.compare, self.choose, self.field, self.divide]
        )
        return make()

    # -- operands -----------------------------------------------------------------------------
    def word(self) -> str:
        low = 4 if self.small and self.rng.random() < 0.8 else 0
        return f"%r{self.rng.randrange(low, self.words)}"

    def long(self) -> str:
        return f"%rd{self.rng.randrange(1, self.longs)}"

    def number(self) -> str:
        value = self.rng.choice(NUMBERS)
        return str(-value if self.rng.random() < 0.2 else value)

    def source(self, bits: int) -> str:
        if self.rng.random() < 0.4:
            return self.number()
        return self.word() if bits == 32 else self.long()

    def amount(self, bits: int) -> str:
        if self.plain or self.rng.random() < 0.7:
            return str(self.rng.choice((0, 1, 2, 3, 5, 8, 16, 31, bits - 1, bits, bits + 5)))
        return self.word()

    def fresh(self, bits: int) -> str:
        if bits == 32:
            self.words += 1
            return f"%r{self.words - 1}"
        self.longs += 1
        return f"%rd{self.longs - 1}"

    def pair(self) -> tuple[int, str]:
        bits = self.rng.choice((32, 32, 64))
        return bits, self.rng.choice("us")

    # -- instructions -------------------------------------------------------------------------
    def arithmetic(self) -> str:
        bits, kind = self.pair()
        a, b, c = (self.source(bits) for _ in range(3))
        name = self.rng.choice(("add", "add", "sub", "mul.lo", "mul.hi", "mad.lo", "min", "max"))
        if self.plain and name in ("min", "max") and self.rng.random() < 0.7:
            name = "add"
        if self.plain and name[:3] in ("mul", "mad"):
            b = self.number()
        last = f", {c}" if name == "mad.lo" else ""
        return f"{name}.{kind}{bits} {self.fresh(bits)}, {a}, {b}{last};"

    def bits(self) -> str:
        bits, _ = self.pair()
        if self.rng.random() < 0.15:
            source = self.source(bits)
            return f"not.b{bits} {self.fresh(bits)}, {source};"
        name = self.rng.choice(("and", "or", "xor"))
        a, b = self.source(bits), self.source(bits)
        return f"{name}.b{bits} {self.fresh(bits)}, {a}, {b};"

    def shift(self) -> str:
        bits, kind = self.pair()
        name = self.rng.choice((f"shl.b{bits}", f"shr.{kind}{bits}", f"shr.u{bits}"))
        a = self.word() if bits == 32 else self.long()
        amount = self.amount(bits)
        return f"{name} {self.fresh(bits)}, {a}, {amount};"

    def wide(self) -> str:
        kind = self.rng.choice("us")
        a, b = self.word(), self.number() if self.plain else self.source(32)
        if self.rng.random() < 0.5:
            return f"mul.wide.{kind}32 {self.fresh(64)}, {a}, {b};"
        c = self.long()
        return f"mad.wide.{kind}32 {self.fresh(64)}, {a}, {b}, {c};"

    def convert(self) -> str:
        to, of = (f"{self.rng.choice('us')}{self.rng.choice((16, 32))}" for _ in range(2))
        if self.rng.random() < 0.5:
            a = self.word()
            return f"cvt.{self.rng.choice('us')}64.{of} {self.fresh(64)}, {a};"
        a = self.long()
        return f"cvt.{to}.u64 {self.fresh(32)}, {a};"

    def compare(self) -> str:
        bits, kind = self.pair()
        a, b = self.source(bits), self.source(bits)
        self.tests += 1
        return f"setp.{self.rng.choice(COMPARES)}.{kind}{bits} %p{self.tests - 1}, {a}, {b};"

    def choose(self) -> str:
        bits, _ = self.pair()
        a, b = self.source(bits), self.source(bits)
        test = self.rng.randrange(self.tests)
        return f"selp.b{bits} {self.fresh(bits)}, {a}, {b}, %p{test};"

    def field(self) -> str:
        bits, kind = self.pair()
        a, b = self.source(bits), self.source(bits)
        low, length = self.amount(bits), self.amount(bits)
        if self.rng.random() < 0.5:
            return f"bfe.{kind}{bits} {self.fresh(bits)}, {a}, {low}, {length};"
        return f"bfi.b{bits} {self.fresh(bits)}, {a}, {b}, {low}, {length};"

    def divide(self) -> str:
        bits, kind = self.pair()
        a = self.source(bits)
        by = str(self.rng.choice((1, 2, 3, 7, 24, 100)))
        name = self.rng.choice(("div", "rem"))
        return f"{name}.{kind}{bits} {self.fresh(bits)}, {a}, {by};"
