"""The reader refuses what it does not know, and its three interpreters agree.

The int interpreter (concrete.py) is held to a table of the ISA's own rules; the NumPy one and the
symbolic one are held to it, on random programs.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

import numpy as np
import pytest

from layout_algebra import terms
from layout_algebra.arithmetic import integers
from layout_algebra.conditions import at_most, differs, equals, negated
from layout_algebra.terms import Term, Var
from layout_algebra.validation import concrete, forms
from layout_algebra.validation.arithmetic import NotATerm
from layout_algebra.validation.grids import Grid
from layout_algebra.validation.magic import divisor_of
from layout_algebra.validation.predicates import holds
from layout_algebra.validation.reader import read_ptx
from layout_algebra.validation.symbolic import execute
from layout_algebra.validation.syntax import PtxError
from layout_algebra.validation.vectors import run_many
from layout_algebra.validation.words import Word, number, signed, unsigned
from tests.device import ptx_samples
from tests.device.ptx_programs import random_program

HEAD = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 kernel_param_0, .param .u32 kernel_param_1)
{
    .reg .pred %p<9>;
    .reg .b16 %rs<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [kernel_param_0];
    ld.param.u32 %r1, [kernel_param_1];
    mov.u32 %r2, %tid.x;
    mov.b64 %rd2, 5;
    mov.b16 %rs1, 3;
"""
FIRST = HEAD.count("\n") + 1


def module(*lines: str) -> str:
    """A kernel that begins as HEAD does, goes on with these lines, and returns."""
    return HEAD + "".join(f"    {line}\n" for line in lines) + "    ret;\n}\n"


# -- reading -------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", sorted(ptx_samples.FOLDER.glob("*.ptx")), ids=lambda p: p.name)
def test_every_sample_is_read(path) -> None:
    entries = {"kernels": ("fragment", "tile", "wide"), "functions": ("place", "places")}
    name = path.name.split(".")[0]
    for entry in entries.get(name, (None,)):
        function = read_ptx(path.read_text(), entry, data=name in ("add_one", "doubled"))
        assert function.body[-1].opcode in ("ret", "bra")
        assert function.target.startswith(path.name.split(".")[1][:5])
        assert {one.line for one in function.body} <= set(range(path.read_text().count("\n") + 2))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("popc.b32 %r3, %r1;", "unknown opcode"),
        ("bar.sync 0;", "unknown opcode"),
        ("add.f32 %r3, %r1, %r2;", "f32"),
        ("add.b32 %r3, %r1, %r2;", "unknown type"),
        ("add.s8 %r3, %r1, %r2;", "unknown type"),
        ("add.sat.s32 %r3, %r1, %r2;", "unknown modifier"),
        ("mul.s32 %r3, %r1, %r2;", "unknown modifier"),
        ("mul.wide.u64 %rd3, %rd1, %rd2;", "unknown type"),
        ("setp.lo.s32 %p1, %r1, %r2;", "unknown type"),
        ("setp.lt.b32 %p1, %r1, %r2;", "unknown type"),
        ("setp.equ.s32 %p1, %r1, %r2;", "unknown modifier"),
        ("shl.u32 %r3, %r1, 2;", "unknown type"),
        ("cvt.sat.u16.u32 %rs2, %r1;", "unknown modifier"),
        ("cvt.u32 %r3, %r1;", "unknown type"),
        ("cvta.shared.u64 %rd3, %rd1;", "unknown modifier"),
        ("ld.global.u32 %r3, [%rd1];", "unknown modifier"),
        ("st.shared.u32 [%rd1], %r1;", "unknown modifier"),
        ("st.global.v3.u32 [%rd1], {%r1, %r1, %r1};", "unknown modifier"),
        ("st.global.v2.u32 [%rd1], {%r1};", "does not fit"),
        ("st.global.u32 [%r1], %r1;", "does not fit"),
        ("st.global.u64 [%rd1], %r1;", "does not fit"),
        ("add.s32 %rd3, %r1, %r2;", "does not fit"),
        ("add.s32 %r3, %rd1, %r2;", "does not fit"),
        ("add.s64 %rd3, %rd1, %tid.x;", "does not fit"),
        ("shl.b64 %rd3, %rd1, %rd2;", "does not fit"),
        ("selp.b32 %r3, %r1, %r2, %r1;", "does not fit"),
        ("and.pred %p1, %p2, 1;", "does not fit"),
        ("add.s32 %r3, %r1;", "3 operands; got 2"),
        ("add.s32 %r9, %r1, %r2;", "unknown operand %r9"),
        ("add.s32 %x3, %r1, %r2;", "unknown operand %x3"),
        ("mov.u32 %r3, %clock;", "unknown operand %clock"),
        ("mov.u32 %r3, %laneid;", "unknown operand"),
        ("add.s32 %r3, %r1, 09;", "octal"),
        ("add.s32 %r3, %r1, 0f3F800000;", "no PTX"),
        ("@%r1 bra $L1;", "no predicate"),
        ("bra $L7;", "no label $L7"),
        ("ld.param.u32 %r3, [kernel_param_0];", "read as a whole"),
        ("ld.param.u32 %r3, [kernel_param_1+2];", "read as a whole"),
        ("ld.param.u32 %r3, [other];", "unknown address other"),
        (".shared .b8 x[4];", "unknown"),
        ("add.s32 %r3, %r1, %r2 %r4;", ", was expected"),
    ],
)
def test_what_is_not_known_is_an_error_with_its_line(line: str, said: str) -> None:
    with pytest.raises(PtxError, match=re.escape(said)) as caught:
        read_ptx(module("mov.u32 %r3, 4;", line), "kernel")
    assert caught.value.line == FIRST + 1


def test_a_loop_a_missing_end_and_a_missing_entry_are_errors() -> None:
    loop = module("$L1:", "add.s32 %r2, %r2, 1;", "setp.lt.u32 %p1, %r2, %r1;", "@%p1 bra $L1;")
    with pytest.raises(PtxError, match="leads back"):
        read_ptx(loop)
    with pytest.raises(PtxError, match="no ret"):
        read_ptx(module("@%p1 bra $L1;").replace("    ret;\n", "$L1:\n"))
    with pytest.raises(PtxError, match="no function 'other'; there is kernel"):
        read_ptx(module(), "other")
    with pytest.raises(PtxError, match="the text ends"):
        read_ptx(module().rstrip().rstrip("}"))
    with pytest.raises(PtxError, match="name one of the functions: place, places"):
        read_ptx(ptx_samples.text("functions", "sm_80"))


def test_a_branch_back_over_an_end_is_no_loop() -> None:
    """The newer compilers write `bra` to a `ret` above."""
    text = module("bra $L2;", "$L1:", "ret;", "$L2:", "st.global.u32 [%rd1], %r1;", "bra.uni $L1;")
    (store,) = concrete.run(read_ptx(text), {}, [4096, 9])
    assert (store.address, store.value, store.bits) == (4096, 9, 32)


def test_comments_debug_lines_and_other_declarations_are_passed_over() -> None:
    text = module(
        "/* one\n two */ mov.u32 %r3, 1; // three", ".loc 1 2 3", "st.global.u8 [%rd1], 7;"
    )
    text = (
        ".global .align 4 .u32 other[2] = {1, 2};\n" + text + '.file 1 "x"\n.section .x { .b8 1 }'
    )
    (store,) = concrete.run(read_ptx(text, "kernel"), {}, [64, 0])
    assert store.bits == 8


def test_a_register_that_was_not_written_is_an_error_when_it_is_read() -> None:
    text = module("add.s32 %r3, %r4, 1;")
    with pytest.raises(PtxError, match=r"%r4 is read before it is written") as caught:
        concrete.run(read_ptx(text), {}, [0, 0])
    assert caught.value.line == FIRST
    with pytest.raises(PtxError, match=r"%r4 is read before"):
        run_many(read_ptx(text), {}, [0, 0], 3)
    with pytest.raises(PtxError, match=r"%r4 is read before"):
        execute(read_ptx(text), [number(0, 64), number(0, 32)], Grid(terms.const(0), 1))


# -- the reference -------------------------------------------------------------------------------
M32, M64 = 2**32 - 1, 2**64 - 1


@pytest.mark.parametrize(
    ("instruction", "result"),
    [
        ("add.s32 %r3, 4294967295, 2;", 1),
        ("sub.u32 %r3, 2, 3;", M32),
        ("neg.s32 %r3, 1;", M32),
        ("mul.lo.s32 %r3, -3, 5;", -15 & M32),
        ("mul.hi.u32 %r3, -1, -1;", M32 - 1),
        ("mul.hi.s32 %r3, -1, -1;", 0),
        ("mul.hi.s32 %r3, -1, 2;", M32),
        ("mul.wide.u32 %rd3, -1, -1;", (M32 * M32) & M64),
        ("mul.wide.s32 %rd3, -1, 7;", -7 & M64),
        ("mul.hi.u64 %rd3, -1, -1;", M64 - 1),
        ("mul.hi.s64 %rd3, -5, 7;", M64),
        ("mad.lo.s32 %r3, 7, 6, -2;", 40),
        ("mad.wide.s32 %rd3, -2, 3, 1;", -5 & M64),
        ("div.s32 %r3, -7, 2;", -3 & M32),
        ("rem.s32 %r3, -7, 2;", -1 & M32),
        ("div.u32 %r3, -7, 2;", (M32 - 6) // 2),
        ("rem.u32 %r3, 100, 7;", 2),
        ("min.s32 %r3, -1, 1;", M32),
        ("min.u32 %r3, -1, 1;", 1),
        ("max.s32 %r3, -1, 1;", 1),
        ("shl.b32 %r3, 3, 31;", 1 << 31),
        ("shl.b32 %r3, 3, 32;", 0),
        ("shr.u32 %r3, -1, 31;", 1),
        ("shr.u32 %r3, -1, 99;", 0),
        ("shr.s32 %r3, -8, 2;", -2 & M32),
        ("shr.s32 %r3, -8, 99;", M32),
        ("and.b32 %r3, 12, 10;", 8),
        ("or.b32 %r3, 12, 10;", 14),
        ("xor.b32 %r3, 12, 10;", 6),
        ("not.b32 %r3, 12;", M32 - 12),
        ("bfe.u32 %r3, 4080, 4, 8;", 255),
        ("bfe.s32 %r3, 4080, 4, 8;", M32),
        ("bfe.s32 %r3, 4080, 4, 9;", 255),
        ("bfe.u32 %r3, -1, 28, 8;", 15),
        ("bfe.s32 %r3, -1, 28, 8;", M32),
        ("bfe.u32 %r3, -1, 5, 0;", 0),
        ("bfe.u32 %r3, -1, 256, 4;", 15),
        ("bfi.b32 %r3, 5, -1, 4, 4;", M32 - 0xA0),
        ("bfi.b32 %r3, -1, 0, 30, 8;", 3 << 30),
        ("bfi.b32 %r3, -1, 6, 40, 8;", 6),
        ("cvt.u64.u32 %rd3, -1;", M32),
        ("cvt.s64.s32 %rd3, -1;", M64),
        ("cvt.u32.s16 %r3, 65535;", M32),
        ("cvt.s16.u32 %r3, 40000;", 40000 - 2**16 & M32),
        ("cvt.u16.u32 %r3, 70000;", 70000 - 2**16),
        ("cvt.u8.u32 %r3, 511;", 255),
        ("mov.b32 %r3, 0x10;", 16),
        ("mov.b32 %r3, 0b101;", 5),
        ("mov.b32 %r3, 017;", 15),
        ("mov.u32 %r3, 7U;", 7),
    ],
)
def test_the_reference_computes_what_the_isa_says(instruction: str, result: int) -> None:
    target = instruction.split()[1].rstrip(",")
    size = "u64" if target.startswith("%rd") else "u32"
    text = module(instruction, f"st.global.{size} [%rd1+8], {target};")
    function = read_ptx(text)
    (store,) = concrete.run(function, {}, [4096, 9])
    assert (store.address, store.value) == (4104, result)
    (group,) = run_many(function, {}, [4096, 9], 2)
    assert [int(value) for value in group.stores[0].value] == [result, result]
    try:
        (path,) = execute(
            function, [number(4096, 64), number(9, 32)], Grid(terms.const(0), 1)
        ).paths
    except NotATerm:
        return
    assert integers.values_of([unsigned(path.stores[0].value)], {}) == [result]


@pytest.mark.parametrize("how", ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"])
def test_comparisons_read_signs_as_their_types_say(how: str) -> None:
    plain = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(how, how)
    for a, b in itertools.product((0, 1, 2**31, M32), repeat=2):
        for kind in ("u",) if plain != how else ("u", "s"):
            lines = (f"setp.{how}.{kind}32 %p1, {a}, {b};", "@%p1 st.global.u32 [%rd1], 1;")
            stores = concrete.run(read_ptx(module(*lines)), {}, [0, 0])
            x, y = (v - 2**32 if kind == "s" and v >> 31 else v for v in (a, b))
            assert bool(stores) == getattr(x, f"__{plain}__")(y), (how, kind, a, b)


def test_the_later_store_wins_byte_by_byte() -> None:
    text = module("st.global.u32 [%rd1], 0x11223344;", "st.global.u16 [%rd1+1], 0xAABB;")
    memory = concrete.bytes_of(concrete.run(read_ptx(text), {}, [8, 0]))
    assert [memory["global", 8 + k] for k in range(4)] == [0x44, 0xBB, 0xAA, 0x11]
    text = module("st.global.v2.u32 [%rd1+8], {%r1, 5};")
    stores = concrete.run(read_ptx(text), {}, [8, 3])
    assert [(one.address, one.value) for one in stores] == [(16, 3), (20, 5)]


# -- the other interpreters ----------------------------------------------------------------------
def test_numpy_agrees_with_the_reference_on_random_programs() -> None:
    rng = random.Random(17)
    for _ in range(120):
        function = read_ptx(random_program(rng, rng.randint(3, 25), plain=False))
        threads = np.array([rng.randrange(2 ** rng.randrange(1, 31)) for _ in range(12)])
        block = rng.choice((1, 32, 96, 1024))
        arrays = {"%tid.x": threads % block, "%ctaid.x": threads // block, "%ntid.x": block}
        found: dict[int, list[tuple[str, int, int, int]]] = {}
        for group in run_many(function, arrays, [4096, 55], len(threads)):
            for k, member in enumerate(group.members):
                found[int(member)] = [
                    (s.space, int(s.address[k]), int(s.value[k]), s.bits) for s in group.stores
                ]
        for k, thread in enumerate(threads.tolist()):
            stores = concrete.run(function, registers(thread, block), [4096, 55])
            assert found[k] == [(s.space, s.address, s.value, s.bits) for s in stores]


def test_symbolic_execution_agrees_with_the_reference_on_random_programs() -> None:
    rng = random.Random(18)
    followed = paths = 0
    for _ in range(110):
        text = random_program(rng, rng.randint(3, 20))
        function, count = read_ptx(text), rng.choice((40, 300, 5000))
        grid = Grid(terms.coordinate("thread", count), count)
        try:
            execution = execute(function, [number(4096, 64), number(55, 32)], grid)
        except NotATerm:
            continue
        followed, paths = followed + 1, paths + len(execution.paths)
        for _ in range(6):
            thread, block = rng.randrange(count), rng.choice((1, 32, 96, 128))
            values = Named(thread, block)
            taken = [
                path
                for path in execution.paths
                if all(c.holds(value_at(c.term, values)) for c in path.conditions)
            ]
            assert len(taken) == 1, text
            found = [
                (
                    s.space,
                    value_at(s.address.term, values) % 2**64,
                    value_at(s.value.term, values) % 2**s.bits,
                    s.bits,
                )
                for s in taken[0].stores
            ]
            stores = concrete.run(function, registers(thread, block), [4096, 55])
            assert found == [(s.space, s.address, s.value, s.bits) for s in stores], text
    assert followed > 90
    assert paths > 1.3 * followed


def registers(thread: int, block: int) -> dict[str, int]:
    return {"%tid.x": thread % block, "%ctaid.x": thread // block, "%ntid.x": block}


class Named(dict[Var, int]):
    """Values of a thread's variables, whatever their ranges."""

    def __init__(self, thread: int, block: int) -> None:
        super().__init__()
        self.named = {
            "thread": thread,
            "%tid": thread % block,
            "%ctaid": thread // block,
            "%ntid": block,
            "%first": thread - thread % block,
        }

    def __missing__(self, variable: Var) -> int:
        return self.named[variable.name]


def value_at(term: Term, values: dict[Var, int]) -> int:
    return integers.values_of([term], values)[0]


def test_comparisons_are_decided_by_ranges_and_by_what_is_known() -> None:
    b = VARIABLES[1]  # 0..6
    zero, seven = terms.const(0), terms.const(7)
    assert holds(equals(b, seven), ()) is False
    assert holds(differs(b, seven), ()) is True
    assert holds(equals(b, b), ()) is True
    assert holds(differs(b, b), ()) is False
    assert holds(at_most(b, seven), ()) is True
    assert holds(at_most(seven, b), ()) is False
    for condition in (equals(b, zero), differs(b, zero), at_most(b, terms.const(3))):
        assert holds(condition, ()) is None
        assert holds(condition, (condition,)) is True
        assert holds(condition, (negated(condition),)) is False
        assert holds(negated(condition), (condition,)) is False
    assert holds(equals(b, zero), (at_most(terms.const(2), b),)) is False
    assert holds(at_most(b, terms.const(5)), (at_most(b, terms.const(3)),)) is True


# -- forms and divisions -------------------------------------------------------------------------
VARIABLES = [
    terms.var("a", 0, 1),
    terms.var("b", 0, 6),
    terms.var("c", -3, 4),
    terms.var("d", 0, 15),
]


def points() -> Iterator[dict[Var, int]]:
    for values in itertools.product(*(range(v.low, v.high + 1) for v in VARIABLES)):
        yield dict(zip(VARIABLES, values, strict=True))


ALL_POINTS = random.Random(3).sample(list(points()), 160)


def random_sum(rng: random.Random, depth: int) -> Term:
    """A sum of variables, and of quotients and remainders of such sums."""
    parts: list[tuple[Term, int]] = []
    for _ in range(rng.randint(1, 3)):
        term: Term = rng.choice(VARIABLES)
        if depth and rng.random() < 0.5:
            inner = random_sum(rng, depth - 1)
            make = rng.choice((terms.floordiv, terms.mod, forms.quotient, forms.modulo))
            term = make(inner, rng.choice((2, 3, 4, 8, 12, 24)))
        parts.append((term, rng.choice((1, 1, 1, 2, -1, 3, 4, 8, -7, 24, 31))))
    return terms.linear(parts, rng.choice((0, 0, 1, -1, 5, 24)))


def test_forms_are_the_numbers_that_they_stand_for() -> None:
    rng = random.Random(19)
    for _ in range(400):
        x, y = random_sum(rng, 2), random_sum(rng, 1)
        d, bits = rng.choice((1, 2, 3, 4, 8, 12, 16, 24, 32)), rng.choice((8, 16, 32))
        natural = terms.linear([(x, 1)], -min(0, int(x.low or 0)))
        mask = rng.randrange(1 << rng.randrange(1, 12))
        made = [
            forms.quotient(x, d),
            forms.modulo(x, d),
            forms.collected(x),
            forms.exclusive(x, y),
            unsigned(Word(x, bits)),
            signed(Word(x, bits)),
            forms.either(natural, terms.const(mask)),
            forms.masked(natural, mask, 40) or natural,
        ]
        whole, half = 1 << bits, 1 << (bits - 1)
        several = forms.masked(natural, mask, 40) is None
        for point in rng.sample(ALL_POINTS, 25):
            v, w, n = integers.values_of([x, y, natural], point)
            wanted = [
                v // d,
                v % d,
                v,
                v ^ w,
                v % whole,
                (v + half) % whole - half,
                n | mask,
                n if several else n & mask,
            ]
            assert integers.values_of(made, point) == wanted, (x, y, d, mask, point)


def test_ranges_of_forms_hold() -> None:
    rng = random.Random(20)
    for _ in range(200):
        x = forms.quotient(random_sum(rng, 2), rng.choice((2, 3, 8, 24)))
        for point in rng.sample(ALL_POINTS, 10):
            assert int(x.low or 0) <= value_at(x, point) <= int(x.high or 0)


def test_a_division_that_is_recognised_is_one() -> None:
    found = 0
    for multiplier, shift in itertools.product(range(1, 140), range(9)):
        for top in (0, 1, 5, 40, 150):
            divisor = divisor_of(multiplier, shift, top)
            if divisor is not None:
                found += 1
                assert all(x * multiplier >> shift == x // divisor for x in range(top + 1))
    assert found > 1500


@pytest.mark.parametrize("bits", [32, 64])
def test_what_compilers_divide_by_is_recognised(bits: int) -> None:
    """The usual constants: c = ceil(2^s / d), s the least for which all numbers come out right."""
    rng = random.Random(bits)
    for divisor in [*range(2, 200), *(rng.randrange(200, 1 << 20) for _ in range(200))]:
        shift = bits + (divisor - 1).bit_length()
        assert divisor_of(-(-(1 << shift) // divisor), shift, (1 << bits) - 1) == divisor
        wrong = -(-(1 << shift) // divisor) + (1 << (shift - bits + 2))
        assert divisor_of(wrong, shift, (1 << bits) - 1) is None
