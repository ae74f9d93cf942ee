"""`validate_transfer`: kernels that move data, beside runs on numbers; faults; what is refused.

The judge here has memory and floating point: it runs a kernel's threads on NumPy numbers and looks
at the target array.  The validator knows neither: it follows where values come from.
"""

from __future__ import annotations

import random
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layout_algebra import ComposeLayout, R, S, TileLayout, Verdict, bx, laneid, tx, warpid
from layout_algebra import hardware as hw
from layout_algebra.device import available
from layout_algebra.validation import ContractError, Launch, Move, PtxError, validate_transfer
from layout_algebra.validation.concrete import Thread
from layout_algebra.validation.data import after, content, steps_of
from layout_algebra.validation.reader import read_ptx
from tests.device.ptx_mutants import changed

PTX = Path(__file__).parents[1] / "data" / "ptx"
ROWS = TileLayout(S[(32, 4) : (1 @ laneid, 1)])
WIDE = hw.wgmma(16, "float16").D.layout
#: Sample -> its move, and how long a row of its arrays is.
SAMPLES = {
    "add_one": (Move(ROWS, (32, 4), through=lambda x: x + 1), 4),
    "doubled": (Move(WIDE, (64, 16), through=lambda x: 2 * x), 16),
}
TARGETS = ("sm_80", "sm_90", "sm_100")
needs_cuda = pytest.mark.skipif(available() is not None, reason=str(available()))


def text_of(name: str, target: str) -> str:
    return (PTX / f"{name}.{target}.ptx").read_text()


def parameters(row: int) -> dict:
    """Of a kernel of two arrays as numba passes them: pointers, and how long rows are."""
    return {4: "source", 6: row, 13: "target", 15: row}


def verdict(name: str, text: str, **more: Any) -> Any:
    move, row = SAMPLES[name]
    return validate_transfer(text, None, move, parameters=parameters(row), **more)


# -- the judge -----------------------------------------------------------------------------------
class Runs(Thread):
    """A thread with memory: bytes by address, and floating point by NumPy."""

    def __init__(self, memory: dict[int, int], *more: Any) -> None:
        super().__init__(*more)
        self.memory = memory

    def step(self, one: Any) -> None:
        target, size = one.operands[0], one.types[0].bits // 8 if one.types else 0
        if one.opcode == "ld" and "global" in one.modifiers:
            start = self.register(one.operands[1].base) + one.operands[1].offset
            parts = getattr(target, "parts", (target,))
            for k, part in enumerate(parts):
                at = [(start + k * size + b) % 2**64 for b in range(size)]
                if any(one not in self.memory for one in at):
                    raise KeyError("outside")
                self.registers[str(part)] = sum(self.memory[a] << 8 * b for b, a in enumerate(at))
        elif one.types and one.types[0].kind == "f" and one.opcode not in ("st", "mov", "selp"):
            kind, word = np.dtype(f"f{size}").type, np.dtype(f"u{size}").type
            given = [word(self.read(x, one.types[0])).view(kind) for x in one.operands[1:]]
            with np.errstate(all="ignore"):
                made = {
                    "add": lambda a, b: a + b,
                    "sub": lambda a, b: a - b,
                    "mul": lambda a, b: a * b,
                    "min": min,
                    "max": max,
                    "neg": lambda a: -a,
                    "abs": abs,
                }[one.opcode](*given)
            self.registers[str(target)] = int(kind(made).view(word))
        else:
            super().step(one)


def is_right(name: str, text: str) -> bool:
    """Whether all threads of the block together make the target, and touch nothing else."""
    move, row = SAMPLES[name]
    function = read_ptx(text, None, data=True)
    rng = np.random.default_rng(5)
    given = rng.permutation(np.arange(1, move.held.size() + 1)).astype(np.float32)
    step, (source, target) = 4, (1 << 40, 1 << 44)
    data = given.tobytes()
    memory = {source + k: data[k] for k in range(len(data))}
    expected = np.array([move.through(x) for x in given], dtype=np.float32).tobytes()
    threads = move.map.extents[0]
    held = dict.fromkeys(range(len(function.parameters)), 0x5A5A_1234_5678_9ABC)
    held |= {4: source, 6: row, 13: target, 15: row}
    arguments = {one.name: held[k] % (1 << one.bits) for k, one in enumerate(function.parameters)}
    by_thread = [
        {int(move.map.apply(t, k)["target"]) for k in range(move.map.extents[1])}
        for t in range(threads)
    ]
    for thread in range(threads):
        specials = {"%tid.x": thread, "%ntid.x": threads, "%nctaid.x": 1}
        specials |= {f"%{one}.{side}": 1 for one in ("ntid", "nctaid") for side in "yz"}
        try:
            stores = Runs(memory, function, specials, arguments).run()
        except (KeyError, PtxError):
            return False
        left: dict[int, int] = {}
        for store in stores:
            for b in range(store.bits // 8):
                left[store.address + b] = store.value >> 8 * b & 0xFF
        wanted = {
            target + step * place + b: expected[step * place + b]
            for place in by_thread[thread]
            for b in range(step)
        }
        if left != wanted:
            return False
    return True


# -- the samples ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("target", TARGETS)
def test_the_kernels_move_what_they_should(name, target):
    text = text_of(name, target)
    proof = verdict(name, text)
    assert proof.verdict is Verdict.PROVED
    assert proof.method == "structure: translation"
    assert is_right(name, text)


FAULTS = {
    "another constant": ("0f3F800000", "0f40000000", "where 2.0 belongs (source[0] is 1.0)"),
    "another instruction": ("add.f32", "mul.f32", "where 2.0 belongs (source[0] is 1.0)"),
    "an element twice": ("+4];", "+8];", "belongs at target"),
    "a row further": ("shl.b64", "shr.u64", "belongs at target"),
    "a store that is missing": ("st.global.f32 ", "// ", "stores nothing at target"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("target", TARGETS)
def test_faults_come_with_a_thread(fault, target):
    old, new, says = FAULTS[fault]
    text = text_of("add_one", target)
    count = 1 if fault in ("an element twice", "a row further", "a store that is missing") else -1
    if old not in text:
        old, new = "st.global", "// "
    changed_text = text.replace(old, new, count)
    proof = verdict("add_one", changed_text)
    assert proof.verdict is Verdict.REFUTED
    assert says in str(proof.witness) or "belongs" in str(proof.witness)
    assert set(proof.witness.points[0]) == {"thread"}
    assert not is_right("add_one", changed_text)


def test_a_parameter_that_is_not_described_may_hold_anything():
    move, row = SAMPLES["add_one"]
    described = {4: "source", 6: row, 13: "target"}
    proof = validate_transfer(text_of("add_one", "sm_90"), None, move, parameters=described)
    assert proof.verdict is Verdict.REFUTED


def test_more_threads_than_elements():
    """The kernel has no guard: threads beyond the tile store beyond it."""
    text = text_of("add_one", "sm_90")
    proof = verdict("add_one", text, launch=Launch(threads=64, block=64))
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness.points == ({"thread": 32},)


def compare(count: int, seed: int) -> tuple[dict[str, int], list[str]]:
    """How many mutants got which answer, and those of which the two sides disagree."""
    rng = random.Random(seed)
    answers: dict[str, int] = {}
    wrong: list[str] = []
    while sum(answers.values()) < count:
        name, target = rng.choice(("add_one", "add_one", "doubled")), rng.choice(TARGETS)
        lines = text_of(name, target).split("\n")
        body = [
            k
            for k in range(lines.index("{"), len(lines))
            if re.match(r"\s+[a-z]", lines[k]) and "ld.param" not in lines[k]
        ]
        k = rng.choice(body)
        token = rng.choice(list(re.finditer(r"%?[A-Za-z]+\d*|-?\d+", lines[k])))
        new = changed(rng, token.group())
        if new is None or new == token.group():
            continue
        after = lines[k][: token.start()] + new + lines[k][token.end() :]
        text = "\n".join([*lines[:k], after, *lines[k + 1 :]])
        try:
            proof = verdict(name, text)
        except PtxError:
            continue
        right = is_right(name, text)
        key = f"{proof.verdict}, {'right' if right else 'wrong'}"
        answers[key] = answers.get(key, 0) + 1
        if proof.verdict is not (Verdict.PROVED if right else Verdict.REFUTED):
            wrong.append(f"{name} {target}: {lines[k].strip()} -> {after.strip()}: {proof}")
    return answers, wrong


def test_mutants_are_judged_as_running_them_says():
    """A part; `python -m tests.device.test_transfers 1000 1` runs as many as one likes."""
    answers, wrong = compare(60, seed=11)
    assert not wrong, wrong
    assert answers["REFUTED, wrong"] > 30
    assert answers["PROVED, right"] > 0


# -- texts by hand -------------------------------------------------------------------------------
HEAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry moves(.param .u64 source, .param .u64 target)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [source];
    ld.param.u64 %rd2, [target];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 16;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
"""
VECTORS = (
    HEAD
    + """
    ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
    neg.f32 %f1, %f1;
    neg.f32 %f2, %f2;
    neg.f32 %f3, %f3;
    neg.f32 %f4, %f4;
    st.global.v4.f32 [%rd5], {%f1, %f2, %f3, %f4};
    ret;
}
"""
)


def moved(text: str, move: Move, **more: Any) -> Any:
    described = {"source": "source", "target": "target"}
    return validate_transfer(text, "moves", move, parameters=described, **more)


def test_vectors():
    move = Move(ROWS, (32, 4), through=lambda x: -x)
    assert moved(VECTORS, move).verdict is Verdict.PROVED
    crossed = VECTORS.replace("{%f1, %f2, %f3, %f4};", "{%f1, %f3, %f2, %f4};")
    proof = moved(crossed, move)
    assert proof.verdict is Verdict.REFUTED
    assert "thread 0 stores source[2], where source[1] belongs at target[1]" in str(proof.witness)


def test_arrays_with_layouts_of_their_own():
    """The target with a swizzle: chunks of four in another order."""
    swizzled = ComposeLayout(2, 2, 2, TileLayout(S[(32, 4) : (4, 1)]))
    xor = VECTORS.replace(
        "    add.s64 %rd5, %rd2, %rd3;\n",
        """    shr.u32 %r2, %r1, 2;
    and.b32 %r2, %r2, 3;
    xor.b32 %r3, %r1, %r2;
    mul.wide.u32 %rd6, %r3, 16;
    add.s64 %rd5, %rd2, %rd6;
""",
    )
    move = Move(ROWS, (32, 4), target=swizzled, through=lambda x: -x)
    assert moved(xor, move).verdict is Verdict.PROVED
    assert moved(VECTORS, move).verdict is Verdict.REFUTED
    assert moved(xor, Move(ROWS, (32, 4), through=lambda x: -x)).verdict is Verdict.REFUTED


def test_choices_between_loaded_values():
    text = (
        HEAD
        + """
    ld.global.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd4+4];
    setp.lt.u32 %p1, %r1, 16;
    selp.f32 %f3, %f1, %f2, %p1;
    selp.f32 %f4, %f2, %f1, %p1;
    st.global.f32 [%rd5], %f3;
    st.global.f32 [%rd5+4], %f4;
    ld.global.v2.b32 {%r4, %r5}, [%rd4+8];
    st.global.v2.b32 [%rd5+8], {%r4, %r5};
    ret;
}
"""
    )
    assert moved(text, Move(ROWS, (32, 4))).verdict is Verdict.REFUTED
    same = text.replace("%f2, %f1, %p1", "%f1, %f2, !%p1")
    with pytest.raises(PtxError):
        moved(same, Move(ROWS, (32, 4)))
    plain = text.replace("%f1, %f2, %p1", "%f1, %f1, %p1").replace("%f2, %f1, %p1", "%f2, %f2, %p1")
    assert moved(plain, Move(ROWS, (32, 4))).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("sub.f32 %f8, %f2, %f2; add.f32 %f1, %f1, %f8;", "2 loaded values"),
        ("mov.b32 %r4, %f1; add.s32 %r5, %r4, 0; mov.b32 %f1, %r5;", "computes with what it loads"),
        ("add.f32 %f1, %f1, 0f00000000;", "after add.f32 x, 0x0"),
    ],
)
def test_what_no_verdict_is_given_of(line, says):
    text = (
        HEAD
        + f"""
    ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd4];
    {line}
    st.global.v4.f32 [%rd5], {{%f1, %f2, %f3, %f4}};
    ret;
}}
"""
    )
    proof = moved(text, Move(ROWS, (32, 4), dtype="int32"))
    assert proof.verdict is Verdict.UNDECIDED
    assert says in str(proof)


def test_sums_that_round_are_refuted_by_the_numbers_of_a_run():
    text = (
        HEAD
        + """
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
    add.f32 %f8, %f1, %f2;
    sub.f32 %f1, %f8, %f2;
    st.global.v4.f32 [%rd5], {%f1, %f2, %f3, %f4};
    ret;
}
"""
    )
    proof = moved(text, Move(ROWS, (32, 4), dtype="int32"))
    assert proof.verdict is Verdict.REFUTED
    assert re.search(r"stores \d+, where \d+ belongs", str(proof))


def test_a_number_that_was_not_loaded_is_refuted():
    text = (
        HEAD
        + """
    mov.f32 %f1, 0f3F800000;
    st.global.v4.f32 [%rd5], {%f1, %f1, %f1, %f1};
    ret;
}
"""
    )
    proof = moved(text, Move(ROWS, (32, 4)))
    assert proof.verdict is Verdict.REFUTED
    assert "stores 1065353216, where 1 belongs (source[0] is 1) at target[0]" in str(proof)


def test_halves_of_a_value():
    """Loads of 16 bits: one is not the value, two of them are, of which no verdict is given."""
    one = (
        HEAD
        + """
    ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd4];
    ld.global.b16 %r4, [%rd4];
    st.global.v4.b32 [%rd5], {%r4, %r5, %r6, %r7};
    ret;
}
"""
    )
    proof = moved(one, Move(ROWS, (32, 4), through=lambda x: x * 2))
    assert proof.verdict is Verdict.REFUTED
    two = (
        HEAD
        + """
    ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd4];
    st.global.v4.b32 [%rd5], {%r4, %r5, %r6, %r7};
    ld.global.b16 %r4, [%rd4];
    ld.global.b16 %r5, [%rd4+2];
    st.global.b16 [%rd5], %r4;
    st.global.b16 [%rd5+2], %r5;
    ret;
}
"""
    )
    assert moved(two, Move(ROWS, (32, 4))).verdict is Verdict.UNDECIDED
    other = two.replace("[%rd4+2]", "[%rd4+4]")
    assert moved(other, Move(ROWS, (32, 4), through=None)).verdict is Verdict.REFUTED


# -- what is asked ---------------------------------------------------------------------------
def test_steps():
    assert steps_of(lambda x: 1 + x, "float32") == (("add.f32", (None, 0x3F800000)),)
    assert steps_of(lambda x: x - 1, "float32") == (("add.f32", (None, 0xBF800000)),)
    assert steps_of(lambda x: 2 * x, "float64") == (("add.f64", (None, None)),)
    assert steps_of(lambda x: 1 - abs(-x), "float16") == (
        ("neg.f16", (None,)),
        ("abs.f16", (None,)),
        ("sub.f16", (0x3C00, None)),
    )
    assert steps_of(None, "int8") == ()
    with pytest.raises(TypeError, match="got 'int8'"):
        steps_of(lambda x: x + 1, "int8")
    with pytest.raises(TypeError, match="gives no value"):
        steps_of(lambda x: 3, "float32")


def test_what_steps_make_of_numbers():
    def bits(value, dtype=np.float32):
        return int(dtype(value).view(f"u{np.dtype(dtype).itemsize}"))

    for through in (lambda x: 3 * x - 1, lambda x: 1 - abs(-x), lambda x: x * 2 + 0.5):
        for value in (0.0, 1.0, -2.5, 1e6):
            made = after(steps_of(through, "float32"), bits(value))
            assert made == bits(through(np.float32(value)))
    half = after(steps_of(lambda x: x + 1, "float16"), bits(7, np.float16))
    assert half == bits(8, np.float16)
    for size in (8, 16, 32, 64):
        for floats in (False, size > 8):
            made = [content(k, size, floats) for k in range(200)]
            assert len(set(made)) == 200
            # A step that was left out or done twice must not give what a near element holds.
            assert size == 8 or min(abs(a - b) for a, b in pairwise(sorted(made))) > 2


@pytest.mark.parametrize(
    ("move", "says"),
    [
        (Move(TileLayout(S[(32, 4) : (1 @ laneid, 2)]), (32, 4)), "not every slot of every thread"),
        (Move(TileLayout(S[(16, 2) : (2 @ laneid, 1)]), (16, 2)), "not every slot"),
        (Move(TileLayout(S[(4, 4) : (1 @ bx, 1)]), (4, 4)), "bx is no axis of the threads of a bl"),
        (Move(TileLayout(S[(4, 4) : (1 @ warpid, 1)]), (4, 4)), "not every thread of the block"),
        (Move(ROWS, (32, 4), source=ROWS), "the source is an array"),
        (
            Move(ROWS, (32, 4), target=TileLayout(S[(32, 4) : (4, 1)] + R[2:128])),
            "the target is an array",
        ),
    ],
)
def test_moves_that_are_refused(move, says):
    with pytest.raises(ContractError, match=says):
        move.map


def test_moves():
    found = Move(TileLayout(S[(64, 2) : (1 @ tx, 1)]), (64, 2)).map
    assert found.apply(5, 1) == {"source": 11, "target": 11}
    copies = Move(TileLayout(S[(32, 4) : (1 @ laneid, 1)] + R[2 : 1 @ warpid]), (32, 4)).map
    assert copies.extents == (64, 4)
    assert copies.apply(33, 2) == copies.apply(1, 2) == {"source": 6, "target": 6}
    for thread in range(128):
        for slot in range(8):
            place = Move(WIDE, (64, 16)).map.apply(thread, slot)["source"]
            owner = WIDE.apply(*divmod(place, 16), shape=(64, 16))
            number = 32 * owner.get("wid_in_wg", 0) + owner.get("laneid", 0)
            assert (number, owner.get("m", 0)) == (thread, slot)


@needs_cuda
def test_compiled_here():
    """The guide's kernel and fragments of warps and warpgroups, for each architecture."""
    from numba import cuda, float32

    from tests.device.attached_kernels import add_one, through_fragment

    accumulator = hw.mma("m16n8k16", "float16").D.layout
    for one, move, row in (
        (add_one(), SAMPLES["add_one"][0], 4),
        (
            through_fragment("mma", accumulator, (16, 8), 32),
            Move(accumulator, (16, 8), through=lambda x: x * 2),
            8,
        ),
        (through_fragment("wgmma", WIDE, (64, 16), 128), SAMPLES["doubled"][0], 16),
    ):
        for capability in ((8, 0), (9, 0), (10, 0)):
            text, _ = cuda.compile(
                one.kernel, (float32[:, ::1],) * 2, cc=capability, output="ptx", device=False,
                abi="numba",
            )  # fmt: skip
            proof = validate_transfer(text, None, move, parameters=parameters(row))
            assert proof.verdict is Verdict.PROVED, proof


if __name__ == "__main__":
    found, disagreements = compare(int(sys.argv[1]), int(sys.argv[2]))
    print(found)
    print("\n".join(disagreements) or "no disagreement")
    sys.exit(bool(disagreements))
