"""Relations between Dims as people type them: `ld >= K`, `N % (2*bn) == 0`."""

import pytest

from layout_algebra.dims import Dim, equal
from layout_algebra.errors import NotationError
from layout_algebra.parsing import parse_box, parse_relation, parse_shape

K, ld, N, bn = Dim("K"), Dim("ld"), Dim("N"), Dim("bn", at_least=1)
M = Dim("M", multiple_of=8, at_most=64)
DIMS = {"K": K, "ld": ld, "N": N, "bn": bn, "M": M}


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("ld >= K", ld >= K),
        ("ld>K", ld > K),
        ("ld <= 3*K + 1", ld <= 3 * K + 1),
        ("ld < K", ld < K),
        ("8 <= K", K >= 8),
        ("K == 3", equal(K, 3)),
        ("3 == K", equal(3, K)),
        ("N % (2*bn) == 0", N % (2 * bn) == 0),
        ("N % 4 == 0", N % 4 == 0),
        ("M % 16 == 0", M % 16 == 0),
        ("K % 4 == 1", equal(K % 4, 1)),
        ("M // 8 >= K", M // 8 >= K),
        ('ld >= Dim("P")', ld >= Dim("P")),
        (" (K) >= (0 + 1) ", K >= 1),
    ],
)
def test_relations(text, relation):
    assert parse_relation(text, DIMS) == relation


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("N % (2*bn) == 0", {"N": 12, "bn": 3}, True),
        ("N % (2*bn) == 0", {"N": 12, "bn": 4}, False),
        ("K % 4 == 1", {"K": 9}, True),
        ("K % 4 == 1", {"K": 8}, False),
    ],
)
def test_what_relations_mean(text, values, holds):
    assert parse_relation(text, DIMS).holds(values) is holds


@pytest.mark.parametrize(
    ("text", "says", "column"),
    [
        ("", "an empty text is not a relation between Dims, like ld >= K", 0),
        ("K", "this is not a relation between Dims, like ld >= K", 0),
        ("K >= X", "'X' is no Dim of the layout: its Dims are K, ld, N, bn, M", 5),
        ("K >= 1 >= 0", "one comparison at a time: a <= b <= c is two relations", 0),
        ("K != 3", "a relation is one of >= <= > < and ==", 5),
        ("K in (3, 4)", "a relation is one of >= <= > < and ==", 5),
        ("3 >= 2", "a relation is about Dims; 3 >= 2 has none", 0),
        ("K - K >= 0", "a relation is about Dims; K - K >= 0 has none", 0),
        ("K >= laneid", "an int or an expression of Dims is needed; got laneid", 5),
        ("K % 0 == 0", "sizes are divided by positive numbers; got (K) // (0)", 4),
        ('K >= Dim("M")', "Dim 'M' is one size in a text: it was Dim(", 5),
        ("K and ld", "this is not a relation between Dims, like ld >= K", 0),
        ("open('x') >= K", "the notation calls Dim(...), TileLayout(...) and ComposeLayout", 0),
        ("K.real >= 0", "a '.' is not part of it", 0),
    ],
)
def test_what_is_no_relation(text, says, column):
    with pytest.raises(NotationError) as found:
        parse_relation(text, DIMS)
    assert says in str(found.value)
    assert found.value.column == column


def test_no_dims_at_all():
    with pytest.raises(NotationError, match="'K' is no Dim of the layout: it has none"):
        parse_relation("K >= 3", {})


def test_boxes_and_shapes_call_dims_by_name():
    assert parse_box("m=K*64,laneid=8", DIMS) == {"m": (0, K * 64), "laneid": (0, 8)}
    assert parse_shape("(M, 64)", DIMS) == (M, 64)
    with pytest.raises(NotationError, match="'Q' is no Dim of the layout"):
        parse_shape("(Q, 64)", DIMS)


def test_axes_are_still_axes():
    """A Dim may have an axis' name; after @ and before = it is the axis."""
    laneid = Dim("laneid")
    assert parse_box("laneid=laneid", {"laneid": laneid}) == {"laneid": (0, laneid)}
