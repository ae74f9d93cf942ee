"""`checked()`: every call's law is proven, and a wrong operation is caught at the call."""

from __future__ import annotations

import random

import pytest

from layout_algebra import Dim, R, S, TileLayout, checked, laneid, warpid
from layout_algebra.algebra import edits
from layout_algebra.algebra import tile as tiling
from layout_algebra.errors import LayoutAlgebraError, NotProvedError
from layout_algebra.values import Iter
from tests import generators as gen
from tests.soundness import build


def random_call(rng: random.Random) -> str | None:
    """One random operation on a random layout; its name, None where it was refused."""
    layout = build(gen.random_layout(rng, max_places=200))
    size = int(layout.size())
    name = rng.choice(
        ["canonicalize", "tile", "tile_to", "direct_sum", "slice", "unpack", "broadcast", "pack"]
    )
    try:
        match name:
            case "canonicalize":
                layout.canonicalize()
            case "tile" | "direct_sum":
                outer = build(gen.random_layout(rng, max_places=30, swizzles=False))
                getattr(layout, name)(outer, (int(outer.size()),), (size,))
            case "tile_to":
                layout.tile_to((size * rng.randint(1, 4),), (size,))
            case "slice":
                begin = rng.randrange(size)
                if layout.slice((size,), ((begin, rng.randint(begin + 1, size)),)) is None:
                    return None
            case "unpack":
                layout.unpack(rng.choice((1, 2, 4)))
            case "pack":
                layout.unpack(4).pack(2)
            case "broadcast":
                layout.broadcast(rng.randint(1, 4), rng.randint(-1, 3))
    except NotProvedError:
        raise
    except LayoutAlgebraError:
        return None
    return name


def test_random_calls_are_proven() -> None:
    rng = random.Random(11)
    with checked() as passed:
        called = [random_call(rng) for _ in range(400)]
    assert len(passed) >= sum(name is not None for name in called) >= 250
    assert {"canonicalize", "tile", "direct_sum", "slice", "unpack", "pack", "broadcast"} <= set(
        passed
    )


def test_symbolic_calls_are_proven() -> None:
    M, N, P = (Dim(name, at_least=1) for name in "MNP")
    with checked() as passed:
        layout = TileLayout(S[(M, N) : (N, 1)] + R[2 : 4@warpid] + 3@laneid)  # fmt: skip
        tiled = layout.tile(TileLayout(S[P:1]), (P, 1), (M, N))
        tiled.slice((P * M, N), ((M, P * M), (0, N)))
        layout.group((M, N))
        layout.unpack(P).pack(P)
        layout.permute_dims([1, 0])
        layout.normal_form()
    assert passed == ["tile", "slice", "group", "unpack", "pack", "permute", "normal_form"]


def test_a_wrong_operation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = TileLayout(S[(4, 8) : (8, 1)])
    outer = TileLayout(S[2:1])

    real = tiling.tile

    def wrong_tile(inner: TileLayout, *args: object, **kwargs: object) -> TileLayout:
        result = real(inner, *args, **kwargs)
        first = result.shard[0]
        return result.rebuild(
            (Iter(first.extent, first.stride + 1, first.axis), *result.shard[1:]),
            result.replica,
            result.offset,
        )

    monkeypatch.setattr(tiling, "tile", wrong_tile)
    layout.tile(outer, (2, 1), (4, 8))  # outside of the block nobody looks
    with checked(), pytest.raises(NotProvedError, match="tile could not be checked: REFUTED"):
        layout.tile(outer, (2, 1), (4, 8))

    monkeypatch.setattr(edits, "unpack", lambda tile, num, axis: tile)
    with checked(), pytest.raises(NotProvedError, match="unpack"):
        layout.unpack(2)
