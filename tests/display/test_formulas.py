"""LaTeX formulas say what Python calculates: they are read back and evaluated."""

import random

from layout_algebra import Dim, Map, S, TileLayout, display, laneid, warpid
from layout_algebra.conditions import at_most
from layout_algebra.display import formulas
from layout_algebra.terms import coordinate
from tests import bruteforce as bf
from tests.building import Scene, built, random_term
from tests.display.reading_latex import rows, value
from tests.generators import random_layout

FRAGMENT = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)])


def test_as_written():
    assert display.latex(FRAGMENT, (8, 16)) == (
        r"\begin{aligned}\mathrm{laneid} &= \left\lfloor \frac{j}{2} \right\rfloor \bmod 4 + 4 i"
        r" \\ \mathrm{warpid} &= \left\lfloor \frac{j}{8} \right\rfloor"
        r" \\ m &= j \bmod 2\end{aligned}"
    )


def test_random_terms():
    rng = random.Random(11)
    for n in range(1500):
        scene = Scene.drawn(rng, symbolic=n % 2 == 1)
        term, function = random_term(rng, scene, 3)
        text = rows(formulas.latex(Map(tuple(scene.variables), (("m", term),))))["m"]
        for _ in range(4):
            point = scene.point(rng)
            assert value(text, point) == function(point), (text, point)


def test_random_layouts():
    rng = random.Random(12)
    for _ in range(150):
        plain = random_layout(rng, max_places=200)
        found = rows(display.latex(built(plain), [bf.size(plain)]))
        for flat in range(bf.size(plain)):
            point = {"i": flat, **{f"r_{{{t}}}": 0 for t in range(len(plain.replica))}}
            place = bf.base_place(plain, flat)
            for axis in bf.axes(plain):
                name = formulas.name(axis)
                assert value(found[name], point) == bf.at(place, axis), (plain, flat)


def test_names():
    assert formulas.name("c0") == "c_{0}"
    assert formulas.name("tid_in_wg") == r"\mathrm{tid\_in\_wg}"
    assert formulas.name("i'") == r"\mathrm{i'}"
    assert formulas.name("a}b\\c") == r"\mathrm{a\}b\backslash{}c}"


def test_sizes_are_fractions_of_dims():
    M = Dim("M", multiple_of=8)
    found = rows(display.latex(TileLayout(S[(M // 8, 8) : (M, M // 8)])))
    assert found["m"] == r"M c_{0} + \frac{M}{8} c_{1}"


def test_conditions_are_rows():
    i = coordinate("i", 8)
    f = Map((i,), (("m", i),), (), (at_most(i, 5),))
    assert r"\text{where } & -i + 5 \ge 0" in formulas.latex(f)


def test_no_axis():
    assert formulas.latex(Map((), ())) == r"\begin{aligned}\text{one place} &\end{aligned}"
