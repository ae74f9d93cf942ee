"""Pictures of proofs: the verdict in words, the obligations, and the counterexample on the grid."""

import pytest

from layout_algebra import (
    BankConflictFree,
    Bijective,
    Buffer,
    ComposeLayout,
    Composition,
    Covers,
    Dim,
    Disjoint,
    Equivalent,
    Injective,
    Proof,
    R,
    S,
    TileLayout,
    Verdict,
    WithinBounds,
    Witness,
    display,
    laneid,
    prove,
)
from layout_algebra.display.colours import MARK, contrast
from tests.display.reading import read


def marked_numbers(picture):
    """The number written large in each marked cell, from left to right in each row of marks."""
    found = []
    for box in picture.boxes:
        if box.stroke == MARK:
            (cell,) = [c for c in picture.filled() if c.holds(box.x + 2, box.y + 2)]
            found.append(min(cell.texts, key=lambda t: t.y).text)
    return found


def test_a_proof():
    proof = prove(Bijective(ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)])), {"m": 512}))
    picture = read(display.svg(proof))
    assert "\N{CHECK MARK} PROVED" in picture.written
    assert f"{proof.seconds * 1e3:.2f} ms" in picture.written
    for part in proof.parts:
        assert f"claim {part.claim.name}" in picture.written
    tips = {box.tip for box in picture.boxes}
    assert set(proof.lemmas()) <= tips
    assert {f"query: {query.about}" for query in proof.queries()} <= tips
    assert not picture.cells


def test_every_node_of_the_graph_is_a_box():
    proof = prove(Injective(TileLayout(S[(8, 4) : (4, 1)])) & Injective(TileLayout(S[8:2])))
    kinds = [data["kind"] for _, data in proof.graph.nodes(data=True)]
    boxes = [box for box in read(display.svg(proof)).boxes if box.tip]
    assert len(boxes) == len(kinds)
    without = read(display.svg(proof, obligations=False))
    assert not [box for box in without.boxes if box.tip]


def test_a_large_graph_says_what_it_leaves_out():
    claims = [Injective(TileLayout(S[(n, 4) : (4, 1)])) for n in range(2, 22)]
    whole = claims[0]
    for claim in claims[1:]:
        whole = whole & claim
    picture = read(display.svg(prove(whole)))
    assert "more that are not drawn: proof.graph has all" in picture.written
    assert picture.height < 1200


def test_two_elements_at_one_place():
    proof = prove(Injective(TileLayout(S[(8, 8) : (4, 1)])))
    picture = read(display.svg(proof))
    assert "\N{BALLOT X} REFUTED" in picture.written
    assert proof.witness is not None
    assert proof.witness.summary in picture.written
    first, second = marked_numbers(picture)
    assert first == second == str(proof.witness.places[0]["m"])
    for point in proof.witness.points:
        assert f"element ({point['c0']}, {point['c1']}) is at m = {first}" in picture.written
    assert not read(display.svg(proof, witness=False)).cells


def test_two_layouts_each_have_a_grid():
    proof = prove(Equivalent(TileLayout(S[(8, 8) : (8, 1)]), TileLayout(S[(8, 8) : (1, 8)])))
    picture = read(display.svg(proof))
    assert marked_numbers(picture) == [str(place["m"]) for place in proof.witness.places]
    assert "subject 1: element" in picture.written
    assert "subject 2: element" in picture.written


def test_far_apart():
    far = Disjoint(TileLayout(S[(200, 100) : (100, 1)]), TileLayout(S[(30, 30) : (30, 1)] + 19999))
    assert marked_numbers(read(display.svg(prove(far)))) == ["19999", "19999"]


def test_copies_are_named():
    proof = prove(Injective(TileLayout(S[(8, 4) : (4 @ laneid, 1 @ laneid)] + R[2 : 3 @ laneid])))
    written = read(display.svg(proof)).written
    for point in proof.witness.points:
        lane = 4 * point["c0"] + point["c1"] + 3 * point["r0"]
        assert (
            f"({point['c0']}, {point['c1']}), copy r0 = {point['r0']}, is at laneid = {lane}"
            in (written)
        )


def test_symbolic_sizes_are_those_of_the_witness():
    M, K, ld = Dim("M", multiple_of=8), Dim("K"), Dim("ld")
    proof = prove(Injective(TileLayout(S[(M, K) : (ld, 1)])))
    picture = read(display.svg(proof))
    sizes = proof.witness.dims
    assert len(picture.filled()) == min(16, sizes["M"]) * min(32, sizes["K"])
    assert len(set(marked_numbers(picture))) == 1


def test_the_refuted_part_is_drawn():
    claim = Injective(TileLayout(S[(8, 4) : (4, 1)])) & WithinBounds(
        TileLayout(S[(8, 4) : (5, 1)]), {"m": 32}
    )
    picture = read(display.svg(prove(claim)))
    (number,) = marked_numbers(picture)
    assert int(number) >= 32


def test_a_place_that_nothing_hits_is_said():
    picture = read(display.svg(prove(Covers(TileLayout(S[(8, 8) : (9, 1)]), {"m": 71}))))
    assert "no element is at m = 8" in picture.written
    assert not picture.cells


def test_composition():
    claim = Composition(
        TileLayout(S[(4, 8) : (1, 4)]), TileLayout(S[(8, 4) : (4, 1)]), TileLayout(S[32:2])
    )
    proof = prove(claim)
    assert sorted(marked_numbers(read(display.svg(proof)))) == sorted(
        str(place["m"]) for place in proof.witness.places
    )


def test_bank_conflicts_mark_lanes_and_banks():
    layout = TileLayout(S[(128, 64) : (64, 1)])
    buffer = Buffer((128, 64), "float16", layout, align=16)
    column = buffer.read(
        lambda lane, j: (lane, j), bytes=16, free=[Dim("j", multiple_of=8, at_most=56)]
    )
    proof = prove(BankConflictFree(column))
    picture = read(display.svg(proof))
    tips = [box.tip for box in picture.boxes if box.stroke == MARK]
    lanes = [point["lane"] for point in proof.witness.points]
    bank = proof.witness.places[0]["bank"]
    assert tips == [f"marked: lane {lane}, bank {bank}" for lane in lanes]
    assert f"at j = {proof.witness.points[0]['j']}" in picture.written


def test_an_unaligned_lane_is_marked_at_a_base_that_shows_it():
    buffer = Buffer((128, 64), "float16", TileLayout(S[(128, 64) : (72, 1)]), align=2)
    picture = read(display.svg(prove(BankConflictFree(buffer.read(lambda n: (n, 0), bytes=16)))))
    tips = [box.tip for box in picture.boxes if box.stroke == MARK]
    assert tips == [f"marked: lane 0, bank {bank}" for bank in range(5)]
    assert "base = 2" in picture.written


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_is_a_word(verdict):
    claim = Injective(TileLayout(S[4:1]))
    proof = Proof(claim, verdict, "made for this test", reason="a reason", given=("K >= 1",))
    picture = read(display.svg(proof))
    (badge,) = [t for t in picture.texts if str(verdict) in t.text]
    (field,) = picture.boxes
    assert contrast(badge.fill, field.fill) >= 4.5
    assert "a reason" in picture.written
    assert "given K >= 1" in picture.written


def test_a_witness_of_another_shape_is_told_only():
    claim = Injective(TileLayout(S[4:1]))
    for points in (({"x": 1},), ({"c0": 9},), ({},)):
        proof = Proof(claim, Verdict.REFUTED, "test", witness=Witness("so it is", points))
        picture = read(display.svg(proof))
        assert "so it is" in picture.written
        assert not picture.cells
