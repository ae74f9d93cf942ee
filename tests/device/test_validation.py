"""Compiled code is proven equal to its layout, and refuted with a thread where it is not.

The PTX is in tests/data/ptx, so that no compiler is needed; where one is installed, random layouts
are compiled as well.
"""

from __future__ import annotations

import random
import re

import pytest

from layout_algebra import ComposeLayout, Dim, S, TileLayout, parse, prove
from layout_algebra.device.kernels import kernel_of
from layout_algebra.device.toolchain import available, compile_ptx
from layout_algebra.maps import Map
from layout_algebra.prover import Budget
from layout_algebra.prover.records import record
from layout_algebra.theorems import Theorem
from layout_algebra.validation import (
    Anything,
    Contract,
    ContractError,
    Coordinate,
    Launch,
    Number,
    Output,
    PtxError,
    Validates,
    validate,
    validate_ptx,
)
from layout_algebra.validation.concrete import run
from layout_algebra.validation.validating import claim_of
from layout_algebra.verdicts import Proof, Verdict
from tests.building import built
from tests.device import ptx_mutants, ptx_samples
from tests.device.ptx_samples import TARGETS, TILE, kernel, text
from tests.generators import random_layout

SAMPLES = [(name, target) for name in ptx_samples.LAYOUTS for target in TARGETS]
FRAGMENT = parse("S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)]")
BOTH = ("sm_80", "sm_100")


def thread_of(proof: Proof) -> int:
    assert proof.verdict is Verdict.REFUTED, proof
    assert proof.witness is not None
    return proof.witness.points[0]["thread"]


def edited(sample: str, target: str, *changes: tuple[str, str]) -> str:
    """A sample with regular expressions replaced, each found exactly once."""
    found = text(sample, target)
    for pattern, new in changes:
        found, count = re.subn(pattern, new, found)
        assert count == 1, (pattern, count)
    return found


# -- proofs --------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "target"), SAMPLES)
def test_what_was_compiled_is_proven_by_its_terms(name: str, target: str) -> None:
    proof = validate(kernel(name), text(name, target))
    assert proof.verdict is Verdict.PROVED
    assert proof.method == "structure: translation"
    assert target in str(proof.claim)


@pytest.mark.parametrize("method", ["solver", "enumeration"])
@pytest.mark.parametrize("name", ["fragment", "tile", "odd"])
def test_the_other_routes_agree(name: str, method) -> None:
    claim = claim_of(kernel(name), text(name, "sm_100"))
    assert prove(claim, method=method).verdict is Verdict.PROVED
    wrong = claim_of(kernel(name), re.sub(r"setp.lt.u32", "setp.le.u32", claim.text))
    assert thread_of(prove(wrong, method=method)) == kernel(name).size


def test_enumeration_looks_at_values_and_addresses() -> None:
    for old, new in (("-50", "-49"), (r"st.global.u32 \t\[%rd9\]", "st.global.u32 \t[%rd9+4]")):
        off = claim_of(kernel("odd"), edited("odd", "sm_80", (old, new)))
        assert thread_of(prove(off, method="enumeration")) < 105


def test_divisions_are_recorded_and_a_solver_repeats_them() -> None:
    proof = validate(kernel("odd"), text("odd", "sm_90a"))
    assert "divisions by multiplication" in proof.steps[0].detail
    asked = [query.about for query in proof.queries()]
    assert any("is x // 21 for" in about for about in asked)
    assert all("is x // " in about for about in asked)


@pytest.mark.parametrize("target", BOTH)
def test_a_claim_goes_into_a_ledger(target: str) -> None:
    theorem = Theorem(
        "odd is compiled", "a test", lambda: claim_of(kernel("odd"), text("odd", target))
    )
    entry = record(theorem, Budget()).entry
    assert entry is not None
    assert entry.verdict == "PROVED"
    assert entry.content
    assert all(query.expected == query.result == "unsat" for query in entry.queries)
    off = edited("odd", target, (r"setp.(..).u32", r"setp.eq.u32"))
    theorem = Theorem("odd is not", "a test", lambda: claim_of(kernel("odd"), off), Verdict.REFUTED)
    entry = record(theorem, Budget()).entry
    assert entry is not None
    assert entry.verdict == "REFUTED"
    assert entry.witness is not None


@pytest.mark.skipif(available() is not None, reason=str(available()))
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_90a", "sm_100"])
def test_random_layouts_are_compiled_and_proven(target: str) -> None:
    rng = random.Random(target)
    for _ in range(25):
        made = kernel_of(built(random_layout(rng, max_places=3000)))
        proof = validate(made, compile_ptx(made, target))
        assert proof.verdict is Verdict.PROVED, proof


# -- planted bugs --------------------------------------------------------------------------------
def test_a_wrong_stride_is_refuted() -> None:
    other = TileLayout(S[(8, 64) : (72, 1)])
    proof = validate(kernel_of(other), text("tile", "sm_80"))
    assert thread_of(proof) >= 64 or "m = 8" in str(proof.witness)
    off = edited("sums", "sm_90a", (r"18871", "18872"))
    assert thread_of(validate(kernel("sums"), off)) // (16 * 32 * 24 * 64) >= 1


def test_swapped_outputs_are_refuted() -> None:
    flipped = edited(
        "fragment",
        "sm_80",
        (r"param_0\];", "param_9];"),
        (r"param_1\];", "param_0];"),
        (r"param_9\];", "param_1];"),
    )
    proof = validate(kernel("fragment"), flipped)
    assert "laneid" in str(proof.witness)
    thread_of(proof)
    values = edited(
        "odd", "sm_100", (r"(\[%rd\d+\]), (%r\d+)(;\s.*\s*st.global.b32.*, )(%r\d+)", r"\1, \4\3\2")
    )
    thread_of(validate(kernel("odd"), values))


@pytest.mark.parametrize("wrong", [(3, 2, 3), (3, 3, 4), (2, 3, 3), (3, 2, 4)])
def test_another_swizzle_is_refuted(wrong: tuple[int, int, int]) -> None:
    for target in TARGETS:
        other = ComposeLayout(*wrong, TileLayout(S[(8, 64) : (64, 1)]))
        thread = thread_of(validate(kernel_of(other), text("tile", target)))
        assert other.apply(thread, shape=(512,)) != TILE.apply(thread, shape=(512,))


@pytest.mark.parametrize(
    ("old", "new"), [(r"536870904", "536870896"), (r"(shr.u32 \t%r\d+, %r1), 3", r"\1, 2")]
)
def test_a_wrong_mask_and_a_wrong_shift_are_refuted(old: str, new: str) -> None:
    thread_of(validate(kernel("tile"), edited("tile", "sm_100", (old, new))))


def test_a_guard_that_is_off_by_one_is_refuted_at_that_thread() -> None:
    for name in ("tile", "sums", "large"):
        size, bits = kernel(name).size, kernel(name).width
        late = edited(name, "sm_80", (rf"setp.ge.u{bits}", f"setp.gt.u{bits}"))
        assert thread_of(validate(kernel(name), late)) == size
        early = edited(
            name, "sm_80", (rf"(setp.ge.u{bits} \t%p1, %\w+), %\w+;", rf"\1, {size - 1};")
        )
        assert thread_of(validate(kernel(name), early)) == size - 1


@pytest.mark.parametrize("offset", [4, -4, 1])
def test_an_index_that_is_off_by_one_is_refuted(offset: int) -> None:
    off = edited(
        "tile", "sm_80", (r"st.global.u32 \t\[(%rd\d+)\]", rf"st.global.u32 \t[\1+{offset}]")
    )
    assert thread_of(validate(kernel("tile"), off)) < 512


@pytest.mark.parametrize("size", ["u8", "u16"])
def test_a_wrong_width_is_refuted(size: str) -> None:
    off = edited("tile", "sm_80", (r"st.global.u32", f"st.global.{size}"))
    proof = validate(kernel("tile"), off)
    assert "m = nothing" in str(proof.witness)
    wide = edited(
        "large",
        "sm_80",
        (r"(st.global.)u64 \t(\[%rd\d+\], %rd\d+;\s*\}?)\s*(?=\$L)", r"\1u32 \t\2\n"),
    )
    thread_of(validate(kernel("large"), wide))


LARGE = 3_000_000_000
STORES_ITS_NUMBER = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry place(.param .u64 place_param_0, .param .u32 place_param_1)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [place_param_0];
    ld.param.u32 %r2, [place_param_1];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra $L1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
$L1:
    ret;
}
"""


def test_signed_instead_of_unsigned_is_refuted_where_it_matters() -> None:
    made = kernel_of(TileLayout(S[LARGE:1]))
    assert validate(made, STORES_ITS_NUMBER).verdict is Verdict.PROVED
    for unsigned, signed in (("setp.ge.u32", "setp.ge.s32"), ("mul.wide.u32", "mul.wide.s32")):
        off = STORES_ITS_NUMBER.replace(unsigned, signed)
        thread = thread_of(validate(made, off))
        assert thread >= 2**31 or signed == "setp.ge.s32"
        small = kernel_of(TileLayout(S[1000:1]))
        assert validate(small, off).verdict is Verdict.PROVED  # below 2^31 it is the same


def test_a_value_that_depends_on_where_an_array_is_is_refuted() -> None:
    off = STORES_ITS_NUMBER.replace("st.global.u32 [%rd3], %r1", "st.global.u32 [%rd3], %rd2")
    thread_of(validate(kernel_of(TileLayout(S[1000:1])), off))
    either = STORES_ITS_NUMBER.replace("add.s64 %rd3", "or.b64 %rd3")  # right if aligned enough
    thread_of(validate(kernel_of(TileLayout(S[1000:1])), either))


def test_the_witness_is_what_the_reference_does() -> None:
    """The thread and both values, recomputed here."""
    made = kernel("odd")
    off = edited("odd", "sm_90a", (r"-50", "-49"))
    proof = validate(made, off)
    assert proof.witness is not None
    thread = thread_of(proof)
    said, stored = proof.witness.places
    assert said == made.map.apply(thread)
    function = claim_of(made, off).function
    registers = {"%tid.x": thread, "%ntid.x": 1024}
    stores = run(function, registers, [4096, 1 << 20, made.size])
    words = [one.value - 2**32 if one.value >> 31 else one.value for one in stores]
    assert list(stored.values()) == words
    assert said != stored
    assert re.search(
        r"thread \d+ \(in blocks of \d+\) stores m = -?\d+, where .* says m", str(proof)
    )


# -- what the user brings ------------------------------------------------------------------------
@pytest.mark.parametrize("target", BOTH)
def test_a_kernel_in_cuda_is_proven(target: str) -> None:
    module = text("kernels", target)
    proof = validate_ptx(module, "fragment", FRAGMENT, parameters=["laneid", "warpid", "m", 128])
    assert proof.verdict is Verdict.PROVED
    wide = Map.of(lambda f: f % 7 * 1000000007 - f // 7 % 9 * 3 + f // 63, (100_000,))
    proof = validate_ptx(module, "wide", wide, parameters=[Output("m", 64), 100_000])
    assert proof.verdict is Verdict.PROVED


@pytest.mark.parametrize("target", BOTH)
def test_a_kernel_for_one_size_of_blocks_is_proven_for_that_size(target: str) -> None:
    module, roles = text("kernels", target), ["m", 64]
    proof = validate_ptx(module, "tile", TILE, parameters=roles, launch=Launch(block=128))
    assert proof.verdict is Verdict.PROVED
    assert "blocks of 128" in str(proof.claim)
    # it has no guard, and other sizes of blocks have threads beyond the last element
    assert thread_of(validate_ptx(module, "tile", TILE, parameters=roles)) > 0
    more = Launch(threads=1024, block=128)
    assert thread_of(validate_ptx(module, "tile", TILE, parameters=roles, launch=more)) >= 512
    off = validate_ptx(module, "tile", TILE, parameters=["m", 32], launch=Launch(block=128))
    assert thread_of(off) >= 32


@pytest.mark.parametrize("target", BOTH)
def test_functions_are_proven_for_every_call(target: str) -> None:
    module = text("functions", target)
    proof = validate_ptx(module, "place", TILE, shape=(8, 64), parameters=["i", "j"], result="m")
    assert proof.verdict is Verdict.PROVED
    off = validate_ptx(module, "place", TILE, shape=(8, 64), parameters=["j", "i"], result="m")
    assert off.verdict is Verdict.REFUTED
    assert off.witness is not None
    assert set(off.witness.points[0]) == {"i", "j"}
    assert "the call at (i = " in off.witness.summary

    def places(i, j):
        return {"laneid": 4 * (i % 8) + j // 2 % 4, "m": i // 8 * 2 + j % 2}

    roles = {0: "i", "places_param_1": "j", 2: "laneid", 3: Output("m", 16)}
    proof = validate_ptx(module, "places", Map.of(places, (16, 8)), parameters=roles)
    assert proof.verdict is Verdict.PROVED
    off = validate_ptx(module, "places", Map.of(places, (17, 8)), parameters=roles)
    assert off.verdict is Verdict.REFUTED
    assert off.witness is not None
    assert off.witness.points[0]["i"] == 16


@pytest.mark.parametrize("target", ["sm_90a", "sm_100"])
def test_a_triton_kernel_is_proven(target: str) -> None:
    module = text("triton", target)
    roles = {0: "m", 1: 512}  # the others are Triton's own: they may hold anything
    proof = validate_ptx(module, None, TILE, parameters=roles, launch=Launch(block=128))
    assert proof.verdict is Verdict.PROVED
    off = validate_ptx(module, None, TILE, parameters={0: "m"}, launch=Launch(block=128))
    thread_of(off)
    wrong = ComposeLayout(3, 3, 4, TileLayout(S[(8, 64) : (64, 1)]))
    thread_of(validate_ptx(module, None, wrong, parameters=roles, launch=Launch(block=128)))


def test_only_a_block_and_its_thread_together_are_the_threads_number() -> None:
    """ctaid * ntid + 2 * tid is another number, in every block of more than one thread."""
    off = STORES_ITS_NUMBER.replace(
        "mov.u32 %r5, %tid.x;", "mov.u32 %r6, %tid.x; shl.b32 %r5, %r6, 1;"
    )
    assert thread_of(validate(kernel_of(TileLayout(S[1000:1])), off)) > 0
    spread = STORES_ITS_NUMBER.replace("mov.u32 %r5, %tid.x;", "mov.u32 %r5, %tid.y;")
    assert thread_of(validate(kernel_of(TileLayout(S[1000:1])), spread)) > 0


def test_blocks_of_every_size_are_run_where_terms_do_not_decide() -> None:
    """One element: thread 0 of block 0 alone stores, however the grid is cut."""
    off = STORES_ITS_NUMBER.replace("%ntid.x", "%ntid.y")
    one = kernel_of(TileLayout(S[1:1]))
    proof = validate(one, off)
    assert (proof.verdict, proof.method) == (Verdict.PROVED, "enumeration")
    assert thread_of(validate(kernel_of(TileLayout(S[2:1])), off)) > 0


def test_what_is_computed_without_a_term_is_undecided() -> None:
    shift = "mul.wide.u32 %rd2, %r1, 4; shl.b32 %r6, 1, %r1;"
    powers = STORES_ITS_NUMBER.replace("mul.wide.u32 %rd2, %r1, 4;", shift)
    powers = powers.replace("[%rd3], %r1", "[%rd3], %r6")
    doubled = Map.of(lambda f: 1 << f, (8,))
    proof = validate_ptx(powers, None, doubled, parameters=["m", 8])
    assert proof.verdict is Verdict.UNDECIDED
    assert "a number of bits that varies: shl.b32" in proof.reason


# -- errors --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("roles", "said"),
    [
        (["laneid", "warpid", "m"], "4 parameters; 3 are described"),
        (["laneid", "warpid", "m", "m"], "an axis of its own"),
        (["laneid", "warpid", "x", 1], "'x' is neither an axis"),
        (["laneid", "warpid", "m", 2**32], "has 32 bits; got 4294967296"),
        (["laneid", "warpid", 1, Output("m")], "32 bits: it is no pointer"),
        (["laneid", "warpid", Output("m", 7), 1], "8, 16, 32 or 64 bits; got 7"),
        ([Anything(), Anything(), Number(1), Coordinate("c9")], "nothing says what fragment"),
        (["laneid", 1, 2, Coordinate("c9")], "no coordinate 'c9'"),
        ({7: "m"}, "no parameter 7 of fragment"),
        ({"n": "m"}, "no parameter 'n' of fragment"),
    ],
)
def test_parameters_that_do_not_fit_are_errors(roles, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        validate_ptx(text("kernels", "sm_80"), "fragment", FRAGMENT, parameters=roles)


def test_functions_and_entries_are_not_confused() -> None:
    module = text("functions", "sm_80")
    with pytest.raises(ContractError, match="returns a value; got result=None"):
        validate_ptx(module, "place", TILE, shape=(8, 64), parameters=["i", "j"])
    copies = ptx_samples.LAYOUTS["fragment"]
    with pytest.raises(ContractError, match="no copies"):
        validate_ptx(module, "place", copies, shape=(8, 16), parameters=["i", "j"], result="m")
    rows = TileLayout(S[(Dim("M"), 4) : (4, 1)])
    with pytest.raises(ContractError, match="numbers for sizes"):
        Validates(rows, text("tile", "sm_80"), "place", Contract((Output("m"), Number(1)), 4))


def test_an_unknown_instruction_is_an_error_not_a_verdict() -> None:
    off = edited("tile", "sm_80", (r"xor.b32", "lop3.b32"))
    with pytest.raises(PtxError, match=r"PTX line \d+: unknown opcode in lop3"):
        validate(kernel("tile"), off)


# -- mutants -------------------------------------------------------------------------------------
def test_mutants_are_judged_as_running_them_says() -> None:
    """A part; `python -m tests.device.ptx_mutants 1000 1` runs as many as one likes."""
    answers, wrong = ptx_mutants.compare(60, seed=23)
    assert not wrong, "\n".join(wrong)
    assert answers["REFUTED, wrong"] > 25
    assert answers["PROVED, right"] > 5
