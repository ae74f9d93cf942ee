"""Trainium: words and banks by plain arithmetic, refusals, and random layouts through to_psum."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from math import prod

import pytest

from layout_algebra import Dim, TileLayout, Verdict, prove
from layout_algebra.errors import LayoutError
from layout_algebra.hardware.entries import Entry
from layout_algebra.hardware.trainium import memories, to_psum, trainium_layout
from tests import bruteforce
from tests.bruteforce import Place, make_place
from tests.hardware.places import agrees, enumerated, mutants, plain


def words(letters: str, shape: Sequence[int], element: Sequence[int]) -> tuple[int, int]:
    """Partition and word of an element: the dimensions of each kind row-major."""
    partition = word = 0
    for letter, size, index in zip(letters, shape, element, strict=True):
        if letter == "P":
            partition = partition * size + index
        else:
            word = word * size + index
    along = prod(size for letter, size in zip(letters, shape, strict=True) if letter == "F")
    return partition % 128, word + along * (partition // 128)


def table(entry: Entry) -> dict[tuple[int, ...], frozenset[Place]]:
    _, memory, letters, _ = entry.name.split(".")
    found = {}
    for element in product(*map(range, entry.shape)):
        partition, word = words(letters, entry.shape, element)
        place = {"P": partition, "F": word}
        if memory == "psum":
            place = {"P": partition, "Bank": word // 512, "F": word % 512}
        found[element] = frozenset([make_place(place)])
    return found


#: Small enough to be walked over, and what a whole PSUM is like.
SMALL = [entry for entry in memories() if prod(entry.shape) <= 1 << 15]


@pytest.mark.parametrize("entry", SMALL, ids=[entry.name for entry in SMALL])
def test_every_element_is_where_the_table_has_it(entry):
    """And is not, as soon as one stride is another."""
    wanted = table(entry)
    assert enumerated(entry.layout, entry.shape) == wanted
    for mutant in mutants(entry.layout):
        assert not agrees(mutant, entry.shape, wanted), str(mutant)


def test_large_tiles_at_some_elements():
    drawn = random.Random(7)
    for entry in memories():
        letters = entry.name.split(".")[2]
        for _ in range(200):
            element = [drawn.randrange(size) for size in entry.shape]
            partition, word = words(letters, entry.shape, element)
            place = entry.layout.apply(*element, shape=entry.shape)
            assert place["P"] == partition
            assert 512 * place.get("Bank", 0) + place["F"] == word


def test_the_proofs_fail_for_another_stride():
    """The theorems of proofs/trainium.py, asked of layouts with one stride changed."""
    from proofs.trainium import filled

    for entry in memories():
        assert prove(filled(entry)).verdict is Verdict.PROVED
        for mutant in mutants(entry.layout):
            changed = Entry(entry.name, mutant, entry.shape, entry.dtype, entry.source)
            assert prove(filled(changed)).verdict is Verdict.REFUTED, str(changed)


def test_every_entry_is_confirmed():
    assert all(entry.confirmed_by and entry.source for entry in memories())


def test_sizes_may_be_dims():
    cols, many = Dim("cols", at_least=1), Dim("many", multiple_of=128, at_least=128)
    symbolic = trainium_layout("PFP", (4, cols, 8))
    assert symbolic.evaluated(cols=6) == trainium_layout("PFP", (4, 6, 8))
    assert trainium_layout("PF", (many, cols)).evaluated(many=384, cols=5) == (
        trainium_layout("PF", (384, 5))
    )


# -- banks -------------------------------------------------------------------------------------
def banked(place: Place) -> Place:
    """The place with F cut into banks."""
    found = dict(place)
    word = found.get("F", 0)
    return make_place({**found, "F": word % 512, "Bank": found.get("Bank", 0) + word // 512})


def draw(drawn: random.Random) -> TileLayout:
    def iters(count: int) -> list[tuple[int, int, str]]:
        strides = (1, 2, 3, 4, 64, 256, 512, 1024, 0)
        extents = (2, 3, 4, 8)
        axes = ("F", "F", "P", "Bank", "m")
        return [
            (drawn.choice(extents), drawn.choice(strides), drawn.choice(axes)) for _ in range(count)
        ]

    offset = {axis: drawn.choice((-700, -4, 4, 100, 512, 1540)) for axis in ("F", "P", "Bank")}
    chosen = {axis: value for axis, value in offset.items() if drawn.random() < 0.3}
    return TileLayout.from_iters(iters(3), iters(drawn.randrange(2)), chosen)


def test_random_layouts_keep_every_place():
    """What to_psum answers has every place cut into banks."""
    drawn = random.Random(11)
    answered = 0
    for _ in range(400):
        layout = draw(drawn)
        try:
            result = to_psum(layout)
        except LayoutError:
            continue
        answered += 1
        before, after = plain(layout), plain(result)
        for flat in range(bruteforce.size(before)):
            wanted = {banked(place) for place in bruteforce.places(before, flat)}
            assert bruteforce.places(after, flat) == wanted, (layout, result, flat)
    assert answered > 100


REFUSED = [
    (lambda: trainium_layout("PX", (4, 4)), "the annotation is of letters P and F; got 'PX'"),
    (lambda: trainium_layout(("P",), (4,)), "the annotation is of letters P and F; got ('P',)"),
    (lambda: trainium_layout("PF", (4, 4, 4)), "one letter for each dimension; got 'PF' for (4"),
    (lambda: trainium_layout("PF", (4, 0)), "shape[1] is a positive int or a Dim; got 0"),
    (lambda: trainium_layout("P", (200,)), "a single one of a multiple of it; got 200"),
    (lambda: trainium_layout("PP", (128, 2)), "at most 128 together, or a single one"),
    (lambda: trainium_layout("P", (Dim("rows"),)), "a single one of a multiple of it; got rows"),
    (lambda: trainium_layout("PF", (128, 4608), True), "PSUM has 8 banks; this takes 9"),
    (lambda: trainium_layout("FF", (100, 8), True), "to_psum: an iter on F has a stride that is"),
    (lambda: to_psum(TileLayout.from_iters([(4, 3, "F")])), "got (4, 3@F)"),
    (lambda: to_psum(TileLayout.from_iters([(4, -1, "F")])), "got (4, -1@F)"),
    (lambda: to_psum(TileLayout.from_iters([(Dim("n"), 512, "F")])), "iters on F have ints"),
    (lambda: to_psum(TileLayout.from_iters([(4, 1, "P")], (), {"F": Dim("n")})), "is an int"),
    (
        lambda: to_psum(TileLayout.from_iters([(512, 1, "F"), (8, 1, "F")])),
        "a bank has words 0 to 511, and what lies within one bank goes up to 518",
    ),
    (
        lambda: to_psum(TileLayout.from_iters([(512, 1, "F")], (), {"F": 4})),
        "goes up to 515",
    ),
    (lambda: to_psum(3), "to_psum is asked of a TileLayout; got 3"),
]


@pytest.mark.parametrize(("ask", "says"), REFUSED)
def test_refusals(ask, says):
    with pytest.raises(LayoutError) as caught:
        ask()
    assert says in str(caught.value)
