"""What notebooks are given: the forms, what is in them, and what is never in them."""

import random
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from layout_algebra import (
    Buffer,
    ComposeLayout,
    Dim,
    Injective,
    Map,
    Proof,
    S,
    TileLayout,
    Verdict,
    display,
    plan,
    prove,
)
from layout_algebra.claims import Claim
from layout_algebra.display import DisplayError
from layout_algebra.memory import served
from layout_algebra.terms import coordinate
from tests.building import built, random_dims, random_size
from tests.display.reading import read
from tests.generators import random_layout

TILE = TileLayout(S[(8, 8) : (8, 1)])
ACCESS = Buffer((64,), "float32", TileLayout(S[64:1])).read(lambda lane: (lane,))
SHOWN = [
    TILE,
    ComposeLayout(3, 3, 3, TILE),
    TILE.map(),
    Buffer((8, 8), "float16", TILE),
    ACCESS,
    served(ACCESS),
    prove(Injective(TILE)),
    plan(TILE, TILE),
]
HOSTILE = "</text><script>alert(1)</script>&\"'<!--\x00\x1b\ud800]]>"


@pytest.mark.parametrize("value", SHOWN, ids=lambda value: type(value).__name__)
def test_every_kind_shows_itself(value):
    found = value._repr_mimebundle_()
    assert found["text/plain"] == str(value)
    assert "<svg" in found["text/html"]
    assert "<script" not in found["text/html"]
    has_formula = isinstance(value, TileLayout | ComposeLayout | Map)
    assert ("text/latex" in found) == has_formula
    read(display.svg(value))


def test_html_is_well_formed():
    for value in SHOWN:
        root = ElementTree.fromstring(f"<body>{display.html(value)}</body>")
        assert [node.tag.rpartition("}")[2] for node in root] == ["div", "details"]
        assert root.find("details/pre").text == str(value)


def test_include_and_exclude():
    assert set(TILE._repr_mimebundle_(include={"image/svg+xml"})) == {"image/svg+xml"}
    assert set(
        TILE._repr_mimebundle_(include={"text/plain", "text/html"}, exclude={"text/html"})
    ) == {"text/plain"}
    assert "text/latex" not in TILE._repr_mimebundle_(exclude={"text/latex"})


def test_latex_in_dollars():
    assert TILE._repr_mimebundle_()["text/latex"] == f"${display.latex(TILE)}$"


class Named(Claim):
    """A claim with a name that someone chose badly."""

    @property
    def name(self):
        return HOSTILE

    def __str__(self):
        return HOSTILE


def test_hostile_names():
    i = coordinate(HOSTILE, 4)
    hostile_map = Map((i,), ((HOSTILE, i),))
    proof = Proof(Named(), Verdict.UNDECIDED, HOSTILE, reason=HOSTILE, given=(HOSTILE,))
    for value in (hostile_map, proof):
        text = display.svg(value)
        read(text)
        assert "<script" not in text
        text.encode()
        ElementTree.fromstring(f"<body>{display.html(value)}</body>")
    titled = read(display.svg(TILE, title=HOSTILE))
    assert "<script>alert(1)</script>" in titled.label  # as text


def test_nothing_breaks_on_random_layouts():
    rng = random.Random(5)
    for _ in range(80):
        layout = built(random_layout(rng, max_places=5000))
        found = layout._repr_mimebundle_()
        assert len(found["text/html"]) < 500_000


def test_nothing_breaks_on_symbolic_layouts():
    rng = random.Random(6)
    for _ in range(60):
        dims = random_dims(rng)
        sizes = [random_size(rng, dims, 2)[0] for _ in range(4)]
        extents = [abs(s) + 1 if isinstance(s, int) else dims[0].dim + 1 for s in sizes[:2]]
        layout = TileLayout(S[tuple(extents) : tuple(sizes[2:])])
        read(display.svg(layout))
        layout._repr_mimebundle_()


def test_unbounded_coordinates():
    from layout_algebra.terms import var

    n = var("n", None, None)
    picture = read(display.svg(Map((n,), (("m", n),))))
    assert not picture.cells
    assert "m = n" in picture.written


def test_files(tmp_path):
    path = display.write_svg(TILE, tmp_path / "tile.svg", colour="m")
    assert path.read_text(encoding="utf-8") == display.svg(TILE, colour="m") + "\n"


@pytest.mark.parametrize("value", [3, "S[8]", None, TileLayout, Dim("M")])
def test_other_values(value):
    with pytest.raises(DisplayError, match="a picture is of a layout"):
        display.svg(value)


def test_formulas_are_of_layouts_and_maps():
    with pytest.raises(DisplayError, match="layouts and Maps have a formula; got Proof"):
        display.latex(prove(Injective(TILE)))


def test_the_same_picture_every_time():
    assert display.svg(TILE) == display.svg(TileLayout(S[(8, 8) : (8, 1)]))


def test_a_picture_of_a_layout_loads_no_solver():
    code = (
        "import sys\nfrom layout_algebra import S, TileLayout\n"
        "TileLayout(S[(8, 8) : (8, 1)])._repr_mimebundle_()\n"
        "print([n for n in ('z3', 'sympy', 'networkx', 'matplotlib') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_shows_itself_loads_nothing_until_then():
    code = (
        "import sys\nfrom layout_algebra import S, TileLayout\nTileLayout(S[8:1]).apply(3)\n"
        "print('layout_algebra.display' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
