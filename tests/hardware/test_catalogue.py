"""The catalogue as a whole: named once, with sources, and every number of it held by a theorem.

For every entry, every stride of its layout is changed (and its swizzle dropped and changed): then
some claim of some theorem in proofs/ that is about the entry must fail.
"""

from __future__ import annotations

import runpy
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest

from layout_algebra import ComposeLayout, Map, TileLayout, Verdict, prove
from layout_algebra.claims import Claim, Equivalent
from layout_algebra.errors import LayoutAlgebraError
from layout_algebra.hardware import Entry, catalogue
from layout_algebra.theorems import load_theorems
from layout_algebra.values import Iter, Swizzle

PROOFS = Path(__file__).parents[2] / "proofs"
FAMILIES = (
    *("mma", "matrix_loads", "wgmma", "shared_atoms", "tcgen05", "trainium", "amd"),
    *("catalogue", "data_paths", "constructors", "tmem", "fragments"),
)
Layout = TileLayout | ComposeLayout


def test_names_are_unique_and_sources_are_given():
    entries = list(catalogue())
    assert len({entry.name for entry in entries}) == len(entries) > 500
    assert all(entry.source for entry in entries)
    assert all(entry.map().size == entry.layout.size() for entry in entries)


def test_the_page_is_of_today():
    """docs/catalogue.md is what docs/make_catalogue.py writes."""
    found = runpy.run_path(str(PROOFS.parent / "docs" / "make_catalogue.py"))
    assert found["PAGE"].read_text() == found["page"]()


@cache
def claims_about() -> dict[object, list[Claim]]:
    """Single claims of the theorems, by the layouts and maps that they are about."""
    found: dict[object, list[Claim]] = defaultdict(list)
    paths = [path for name in FAMILIES if (path := PROOFS / f"{name}.py").exists()]
    for theorem in load_theorems(paths):
        if theorem.expect is not Verdict.PROVED:
            continue
        made = theorem.make()
        stack = [made[0] if isinstance(made, tuple) else made]
        while stack:
            claim = stack.pop()
            stack += claim.parts()
            for field in fields(claim):
                value = getattr(claim, field.name)
                if isinstance(value, TileLayout | ComposeLayout | Map):
                    found[value].append(claim)
    return found


def changed(layout: Layout) -> Iterator[Layout]:
    """The layout with one stride another, or with another swizzle or none."""
    tile = layout.affine
    for part in ("shard", "replica"):
        iters = getattr(tile, part)
        for k, (extent, stride, axis) in enumerate(iters):
            if extent == 1:
                continue
            for other in (stride + 1, 2 * stride if stride else 3):
                moved = (*iters[:k], Iter(extent, other, axis), *iters[k + 1 :])
                parts = {"shard": tile.shard, "replica": tile.replica, part: moved}
                one = tile.rebuild(parts["shard"], parts["replica"], tile.offset)
                yield layout.with_tile(one) if isinstance(layout, ComposeLayout) else one
    if isinstance(layout, ComposeLayout):
        yield layout.tile_layout
        swizzle = layout.swizzle
        for other in (
            replace(swizzle, per_element=swizzle.per_element + 1),
            replace(swizzle, atom_len=swizzle.atom_len + 1),
            Swizzle(swizzle.per_element, max(1, swizzle.swizzle_len - 1), swizzle.atom_len + 1),
        ):
            yield layout.with_swizzle(other, layout.tile_layout)


def is_another_map(one: Layout, other: Layout) -> bool:
    """A swizzle that reaches no place, as that of an atom without one, changes nothing."""
    if not isinstance(one, ComposeLayout):
        return True
    return prove(Equivalent(one, other)).verdict is not Verdict.PROVED


def noticed(entry: Entry, other: Layout) -> bool:
    """Whether some claim about the entry fails for the other layout."""
    about = claims_about()
    for subject, instead in (
        (entry.layout, other),
        (entry.map(), other.map(entry.shape)),
        (entry.layout.map(), other.map()),
    ):
        for claim in about.get(subject, ()):
            values = {field.name: getattr(claim, field.name) for field in fields(claim)}
            swapped = {k: instead if value == subject else value for k, value in values.items()}
            try:
                mutant = replace(claim, **swapped)
            except LayoutAlgebraError:  # the claim cannot even be made
                return True
            if prove(mutant).verdict is not Verdict.PROVED:
                return True
    return False


@pytest.mark.parametrize("part", range(8))
def test_every_change_of_an_entry_breaks_a_theorem(part):
    entries = list(catalogue())[part::8]
    missed = [
        f"{entry.name}: {other}"
        for entry in entries
        for other in changed(entry.layout)
        if is_another_map(entry.layout, other) and not noticed(entry, other)
    ]
    assert not missed, f"{len(missed)} changes: {missed[:12]}"
