"""Questions from public reports, answered through the public API (tests/data/cases).

Layouts and answers are read from the files; CuTe's layouts count their first mode fastest, ours
their last.  Questions about memory accesses and vector widths are in tests/memory.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from layout_algebra import (
    Bijective,
    ComposeLayout,
    Composition,
    Dim,
    Equivalent,
    Injective,
    Inverse,
    LeftInverse,
    Map,
    S,
    Swizzle,
    TileLayout,
    Verdict,
    WithinBounds,
    assert_proved,
    compose,
    cute,
    element_at,
    hardware,
    inverse,
    layout_of,
    left_inverse,
    parse,
    prove,
    right_inverse,
)
from layout_algebra.algebra.compose import DomainError
from layout_algebra.algebra.no_layout import NoLayout
from layout_algebra.composing import ComposedMap
from layout_algebra.errors import LayoutError
from layout_algebra.interop import PhaseSwizzle, recast

CASES = Path(__file__).parent / "data" / "cases"


def case(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A case's layouts and its answer."""
    (path,) = CASES.glob(f"{number:02d}-*.json")
    read = json.loads(path.read_text())
    return read["layouts"], read["answer"]


def tuples(nested: Any) -> Any:
    return tuple(map(tuples, nested)) if isinstance(nested, list) else nested


def theirs(layout: dict[str, Any]) -> cute.Layout:
    return cute.Layout(*map(tuples, layout["cute"]))


def ours(layout: dict[str, Any]) -> TileLayout:
    return parse(layout["tirx"]["tile"])


def same_as_ours(layout: dict[str, Any]) -> bool:
    """Whether the file's two spellings are one map, coordinate by coordinate."""
    columns, shape = theirs(layout), layout["tirx"]["shape"]
    return all(
        columns(*coordinate) == ours(layout).apply(*coordinate, shape=shape)["m"]
        for coordinate in coordinates(shape)
    )


def coordinates(shape: list[int]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for size in shape:
        found = [(*head, digit) for head in found for digit in range(size)]
    return found


def values(layout: cute.Layout) -> list[int]:
    return [layout(index) for index in range(layout.size())]


# ------------------------------------------------------------------------------ composition
def test_01_a_stride_that_does_not_divide():
    layouts, answer = case(1)
    left, right, wrong = (theirs(layouts[name]) for name in ("A", "B", "wrong_result"))
    with pytest.raises(cute.CuteError):
        cute.composition(left, right)
    found = compose(cute.to_tile(left), cute.to_tile(right))
    assert isinstance(found, ComposedMap)
    assert found.certain
    assert [found.apply(i)["m"] for i in range(6)] == answer["values"]
    claim = Composition(cute.to_tile(left), cute.to_tile(right), cute.to_tile(wrong))
    proof = prove(claim)
    assert proof.verdict is Verdict.REFUTED
    assert proof.witness is not None
    first = next(i for i, value in enumerate(answer["values"]) if wrong(i) != value)
    assert first == answer["first_difference"]["index"]
    assert wrong(first) == answer["first_difference"]["wrong_result"]


def test_03_valid_though_ten_is_no_multiple_of_three():
    layouts, answer = case(3)
    left, right, expected = (theirs(layouts[name]) for name in ("A", "B", "expected"))
    assert same_as_ours(layouts["expected"])
    found = cute.composition(left, right)
    assert values(found) == values(expected) == [left(right(i)) for i in range(12)]
    assert str(found) == str(expected)
    tile = compose(cute.to_tile(left), cute.to_tile(right))
    assert tile == cute.to_tile(expected).normal_form()
    assert_proved(Composition(cute.to_tile(left), cute.to_tile(right), tile))
    inside = WithinBounds(cute.to_tile(right), {"m": left.size()})
    assert (prove(inside).verdict is Verdict.PROVED) == answer["B_image_inside_A"]


def test_05_a_composition_outside_the_domain_names_the_coordinate():
    layouts, answer = case(5)
    with pytest.raises(DomainError) as refused:
        compose(ours(layouts["A"]), ours(layouts["B"]))
    first = answer["first_outside"]
    assert f"coordinate ({', '.join(map(str, first['coord']))})" in str(refused.value)
    assert f"place {first['B']}, outside outer's indices 0..{answer['size_A'] - 1}" in str(
        refused.value
    )
    with pytest.raises(cute.CuteError):
        cute.composition(theirs(layouts["A"]), theirs(layouts["B"]))


def test_07_the_column_major_identity_in_both_conventions():
    layouts, answer = case(7)
    left, right = theirs(layouts["A"]), theirs(layouts["B"])
    assert (values(left) == list(range(6))) == answer["A_identity_colex"]
    assert (cute.composition(left, right) == right) == answer["AoB_equals_B"]
    rows = ours(layouts["A"])
    identity = prove(Equivalent(rows, TileLayout(S[6:1]))).verdict is Verdict.PROVED
    assert identity == answer["A_identity_rowmajor"]
    assert [rows.apply(i)["m"] for i in range(6)] == answer["rowmajor_table_of_A"]


def test_09_a_divide_across_a_mode_boundary():
    layouts, answer = case(9)
    whole = theirs(layouts["L"])
    assert whole.size() == answer["size"]
    for tile in answer["ok_sizes"]:
        found = cute.logical_divide(whole, tile)
        assert found.size() == whole.size()
        assert sorted(values(found)) == sorted(values(whole))
    for tile in answer["bad_sizes"]:
        with pytest.raises(cute.CuteError):
            cute.logical_divide(whole, tile)


def test_11_twelve_tiles_not_eleven():
    layouts, answer = case(11)
    whole, tiler = theirs(layouts["L"]), theirs(layouts["tiler"])
    divided = cute.logical_divide(whole, tiler)
    assert sorted(values(divided)) == list(range(384))
    assert str(cute.complement(tiler, whole.size())) == str(theirs(layouts["rest_right"]))
    for name, exact in (
        ("rest_right", answer["right_exact"]),
        ("rest_printed", answer["printed_exact"]),
    ):
        rest = theirs(layouts[name])
        covered = {tiler(i) + rest(j) for i in range(tiler.size()) for j in range(rest.size())}
        assert (covered == set(range(384))) == exact
    by_mode = cute.logical_divide(whole, (cute.Layout(4, 1), cute.Layout(8, 1)))
    assert str(by_mode) == str(theirs(layouts["by_mode"]))
    tiles = cute.zipped_divide(whole, (cute.Layout(4, 1), cute.Layout(8, 1)))
    assert tiles[1].size() == answer["by_mode_tiles"]


def test_27_two_swizzles_are_not_one():
    layouts, answer = case(27)
    outer, inner = (cute.Swizzle(*layouts[name]["swizzle"]) for name in ("outer", "inner"))
    two = compose(bare(layouts["outer"]), bare(layouts["inner"]))
    assert isinstance(two, ComposedMap)
    assert two.certain
    assert answer["single"] is None
    for address, value in answer["values"].items():
        assert two.apply(int(address)) == {"m": value}
        assert outer(inner(int(address))) == value
    bijective = prove(Bijective(two, {"m": 64}))
    assert (bijective.verdict is Verdict.PROVED) == answer["bijective"]
    twice = prove(Equivalent(two.after(two), TileLayout(S[64:1])))
    assert (twice.verdict is Verdict.PROVED) == answer["involution"]
    other = compose(bare(layouts["inner"]), bare(layouts["outer"]))
    assert (prove(Equivalent(two, other)).verdict is Verdict.PROVED) == answer["commute"]


def bare(layout: dict[str, Any]) -> ComposeLayout:
    length, low, shift = layout["swizzle"]
    return ComposeLayout(low, length, shift, TileLayout(S[64:1]))


# ---------------------------------------------------------------------------------- inverses
def test_13_a_left_inverse_is_not_unique():
    layouts, answer = case(13)
    tile = cute.to_tile(theirs(layouts["L"]))
    both = [cute.to_tile(theirs(layouts[name])) for name in ("Q1", "Q2")]
    for name, candidate in zip(("Q1", "Q2"), both, strict=True):
        proof = prove(LeftInverse(tile, candidate))
        assert (proof.verdict is Verdict.PROVED) == answer[f"{name}_left_inverse"]
    same = prove(Equivalent(*both))
    assert (same.verdict is Verdict.PROVED) == answer["Q1_equals_Q2"]
    first = answer["first_difference"]
    assert [one.apply(first["index"])["m"] for one in both] == [first["Q1"], first["Q2"]]
    assert_proved(LeftInverse(tile, left_inverse(tile)))
    onto = prove(Bijective(tile, {"m": 17}))
    assert (onto.verdict is Verdict.PROVED) == answer["L_onto_prefix_17"]
    prefix = right_inverse(tile)
    assert prefix.size() == answer["first_missing"]  # 0..3, and 4 is missing


def test_15_a_cyclic_shift_is_no_identity():
    layouts, answer = case(15)
    shift = Map.of(lambda i: (i + 1) % 128, (128,))
    assert (prove(Bijective(shift, {"m": 128})).verdict is Verdict.PROVED) == answer["bijective"]
    for name, back in (
        ("wrong_inverse_ok", Map.of(lambda i: i, (128,))),
        ("right_inverse_ok", Map.of(lambda i: (i - 1) % 128, (128,))),
    ):
        assert (prove(LeftInverse(shift, back)).verdict is Verdict.PROVED) == answer[name]
    found = layout_of(shift)
    assert isinstance(found, NoLayout) == (not answer["is_stride_layout"])
    assert found.certain
    for name in ("128x1", "32x4"):
        owner = parse(layouts[f"owner_{name}"]["tile"].replace("@tid", "@tx"))
        read = compose(owner, shift)
        local = sum(read.apply(i)["tx"] == owner.apply(i)["tx"] for i in range(128))
        assert local == answer[f"local_{name}"]


# --------------------------------------------------------------------- injectivity and bounds
def test_17_a_mesh_overlaps():
    layouts, answer = case(17)
    for name, layout in layouts.items():
        assert same_as_ours(layout)
        proof = prove(Injective(ours(layout)))
        assert (proof.verdict is Verdict.PROVED) == answer[name]["injective"]
        if "collision" in answer[name]:
            *_, place = answer[name]["collision"]
            assert proof.witness is not None
            assert dict(proof.witness.places[0])["m"] == place
    image = sorted(ours(layouts["d"]).apply(i)["m"] for i in range(6))
    assert image == answer["d"]["image"]


def test_19_sparse_metadata_leaves_its_buffer():
    _, answer = case(19)

    def metadata(m: Any, k: Any) -> Map:
        return Map.of(lambda i, j: j // 2 * m * 2 + i * 2 + j % 2, (m, k))

    odd = metadata(64, 3)
    assert_proved(Injective(odd))
    outside = [place for place in odd.table()["m"].ravel() if place >= 64 * 3]
    assert len(outside) == answer["m64k3"]["out_of_range"]
    proof = prove(WithinBounds(odd, {"m": 64 * 3}))
    assert proof.verdict is Verdict.REFUTED
    i, j, place = answer["m64k3"]["first"]
    assert odd.apply(i, j) == {"m": place}
    good = []
    for k in range(1, 9):
        claims = [Bijective(metadata(m, k), {"m": m * k}) for m in (16, 32, 48, 64)]
        if all(prove(claim).verdict is Verdict.PROVED for claim in claims):
            good.append(k)
    assert good == answer["bijective_k"]
    # and so for every number of rows and every even number of columns
    rows, half = Dim("m", at_least=1), Dim("h", at_least=1)
    pairs = Map.of(lambda i, p, b: {"m": p * rows * 2 + i * 2 + b}, (rows, half, 2))
    assert_proved(Bijective(pairs, {"m": rows * half * 2}))


def test_21_footprints_with_negative_strides_and_swizzles():
    layouts, answer = case(21)
    for name in ("neg", "rev", "mixed"):
        tile = parse((layouts[name].get("tirx") or layouts[name])["tile"])
        table = tile.table()["m"]
        assert (table.min(), table.max()) == (answer[name]["min"], answer[name]["max"])
        assert tile.width() == answer[name]["footprint"]
    rev = prove(Bijective(parse(layouts["rev"]["tile"]), {"m": 4}))
    assert (rev.verdict is Verdict.PROVED) == answer["rev"]["bijective"]
    numbers = layouts["swz"]["tirx"]["compose"]
    swizzled = ComposeLayout(**numbers, tile_layout=parse(layouts["swz"]["tirx"]["tile"]))
    assert swizzled.width() == answer["swz"]["footprint"]
    assert cute.footprint(theirs(layouts["mixed"])) == answer["mixed"]["footprint"]
    assert cute.cosize(theirs(layouts["mixed"])) == answer["mixed"]["last_plus_1"]


# ------------------------------------------------------------------------------- equivalence
def test_23_recasting_a_swizzle_follows_the_bytes():
    layouts, answer = case(23)

    def over(swizzle: list[int], size: int) -> ComposeLayout:
        length, low, shift = swizzle
        return ComposeLayout(low, length, shift, TileLayout(S[size:1]))

    in_bytes = over(layouts["byte"]["swizzle"], 4096)
    for name in ("f16", "f32", "fp8", "f64"):
        width = layouts[name]["bytes"]
        right = over(layouts[name]["swizzle"], 4096 // width)
        found = recast(in_bytes, 8, 8 * width)
        assert (prove(Equivalent(found, right)).verdict is Verdict.PROVED) == answer[name]
    wrong = over(layouts["wrong_f16"]["swizzle"], 2048)
    proof = prove(Equivalent(recast(in_bytes, 8, 16), wrong))
    assert (proof.verdict is Verdict.PROVED) == answer["wrong_f16"]
    first = answer["wrong_first_difference"]
    assert recast(in_bytes, 8, 16).apply(first["e"]) == {"m": first["right"]}
    assert wrong.apply(first["e"]) == {"m": first["wrong"]}


def test_25_phase_parameters_and_bit_fields():
    layouts, answer = case(25)
    for pair, equal in zip(layouts["pairs"], answer["equal"], strict=True):
        phases = PhaseSwizzle(pair["vec"], pair["perPhase"], pair["maxPhase"])
        length, low, shift = pair["bms"]
        rows, cols = pair["rows"], pair["cols"]
        tile = TileLayout(S[(rows, cols) : (cols, 1)])
        fields = ComposeLayout(low, length, shift, tile)
        proof = prove(Equivalent(phases.to_map(rows, cols), fields))
        assert (proof.verdict is Verdict.PROVED) == equal
    last = layouts["pairs"][-1]
    phases = PhaseSwizzle(last["vec"], last["perPhase"], last["maxPhase"])
    first = answer["last_first_difference"]
    place = phases.to_map(last["rows"], last["cols"]).apply(*first["coord"])
    assert place == {"m": first["phase"]}


def test_29_a_swizzle_of_absolute_addresses():
    """Swizzle(b + x) - b = Swizzle(x) in a tile of 2048 bytes, for every base of some alignment."""
    layouts, answer = case(29)

    def claim(mode: str, step: int) -> Equivalent:
        length, low, shift = layouts["modes"][mode]
        blocks = (1 << 18) // step

        def field(x: Any) -> Any:
            return ((x // (1 << (low + shift))) % (1 << length)) * (1 << low)

        shape = {"b": blocks, "x": layouts["tile_bytes"]}
        absolute = Map.of(lambda b, x: ((b * step + x) ^ field(b * step + x)) - b * step, shape)
        relative = Map.of(lambda b, x: x ^ field(x), shape)
        return Equivalent(absolute, relative)

    for mode in layouts["modes"]:
        assert_proved(claim(mode, answer[mode]))
        assert prove(claim(mode, answer[mode] // 2)).verdict is Verdict.REFUTED
    wrong = answer["counterexample_128"]
    length, low, shift = layouts["modes"]["128"]
    swizzle = Swizzle(low, length, shift)
    assert swizzle(wrong["base"] + wrong["x"]) - wrong["base"] == wrong["absolute_minus_base"]
    assert swizzle(wrong["x"]) == wrong["relative"]


def test_31_an_advance_by_xor():
    _, answer = case(31)
    tile = Map.of(lambda i, j: 16 * i + (j ^ (i % 8)), (16, 16))
    table = tile.table()["m"]
    for limit in (4, 12):
        found = sorted({int(d) for d in (table[:, 4 : limit + 4] - table[:, :limit]).ravel()})
        assert found == answer[f"diff_j_lt_{limit}"]
    low = {"i": (0, 15), "h": (0, 1), "l": (0, 3)}
    moved = Map.of(lambda i, h, l: 16 * i + ((8 * h + l + 4) ^ (i % 8)), low)
    by_xor = Map.of(lambda i, h, l: (16 * i + ((8 * h + l) ^ (i % 8))) ^ 4, low)
    assert (prove(Equivalent(moved, by_xor)).verdict is Verdict.PROVED) == answer["xor_rule"]


def test_an_inverse_that_does_not_come_back_is_refuted():
    """What case 15 asks of every inferred inverse: ours are claims."""
    rotated = Map.of(lambda i: (i + 1) % 128, (128,))
    tile = TileLayout(S[(4, 32) : (1, 4)])
    assert_proved(LeftInverse(tile, inverse(tile)))
    assert prove(LeftInverse(compose(tile, rotated), inverse(tile))).verdict is Verdict.REFUTED


# --------------------------------------------------------------------------------- fragments
def test_35_the_accumulator_of_the_16_by_8_tile():
    layouts, answer = case(35)
    written = parse(layouts["acc"]["tile"])
    catalogued = hardware.mma("m16n8k16", "float16", accumulator="float32").C
    assert_proved(Equivalent(written.map((16, 8)), catalogued.map()))
    isa = Map.of(
        lambda laneid, m: {"i": laneid // 4 + 8 * (m // 2), "j": 2 * (laneid % 4) + m % 2},
        (32, 4),
    )
    matches = prove(Inverse(written.map((16, 8)), isa))
    assert (matches.verdict is Verdict.PROVED) == answer["matches_isa"]
    onto = prove(Bijective(written, {"laneid": 32, "m": 4}))
    assert (onto.verdict is Verdict.PROVED) == answer["bijective"]
    owner = answer["owner_9_3"]
    assert written.apply(9, 3, shape=(16, 8)) == {"laneid": owner["laneid"], "m": owner["reg"]}
    assert element_at(written, laneid=owner["laneid"], m=owner["reg"]) == 9 * 8 + 3


def test_37_two_halves_of_columns_in_two_halves_of_lanes():
    """For every even number of columns at once."""
    _, answer = case(37)
    half = Dim("h", at_least=1, at_most=512)
    layout = hardware.tmem_datapath_layout("B", 64, 2 * half)
    rule = Map.of(lambda r, c: {"TLane": r + 64 * (c // half), "TCol": c % half}, (64, 2 * half))
    same = prove(Equivalent(layout.map((64, 2 * half)), rule))
    assert (same.verdict is Verdict.PROVED) == answer["for_all_even_N"]
    box = prove(Bijective(layout, {"TLane": 128, "TCol": half}))
    assert (box.verdict is Verdict.PROVED) == answer["footprint_is_box"]
    with pytest.raises(LayoutError, match="cuts its columns into 2"):
        hardware.tmem_datapath_layout("B", 64, 7)
    assert not answer["N7_size_matches"]
