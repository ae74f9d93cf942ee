"""Bad inputs as data: each gives the error of its class, with the words that say what to change.

The file data/bad_inputs.json lists them by kind; `RUN` says how an input of each kind is put in.
For text the column of the caret is checked too.  Values that JSON lacks are written as
`{"size": "Dim(\\"M\\")"}`, `{"text": ...}` (a layout's notation), `{"tuple": [...]}` and
`{"value": "nan"}` (one of VALUES).
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from layout_algebra import errors
from layout_algebra.axes import Axis
from layout_algebra.dims import Dim, evaluate, floordiv
from layout_algebra.errors import LayoutAlgebraError, NotationError
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.maps import Map
from layout_algebra.notation import R, S
from layout_algebra.parsing import parse, parse_box, parse_shape, parse_size
from layout_algebra.values import Swizzle

DATA = Path(__file__).parent / "data" / "bad_inputs.json"
CASES = json.loads(DATA.read_text(encoding="utf-8"))
READERS = {"layout": parse, "size": parse_size, "shape": parse_shape, "box": parse_box}
MAKERS = {"S": S, "R": R}
VALUES = {"object": object(), "axis laneid": Axis.get("laneid"), "slice": slice(1, 2, 3), "S": S}


def value(data):
    """A JSON value as the Python value that it stands for."""
    if isinstance(data, list):
        return [value(item) for item in data]
    if not isinstance(data, dict):
        return data
    match data:
        case {"size": text}:
            return parse_size(text)
        case {"text": text}:
            return parse(text)
        case {"tuple": items}:
            return tuple(value(item) for item in items)
        case {"value": name}:
            return VALUES[name]
    return {key: value(item) for key, item in data.items()}


def long_text(given):
    """A text, or a short one that is repeated: {"repeat": [before, middle, times, after]}."""
    if isinstance(given, str):
        return given
    before, middle, times, after = given["repeat"]
    return before + middle * times + after


def read(given):
    READERS[given.get("as", "layout")](long_text(given["text"]))


def extents(given):
    if "maker" in given:
        key = value(given["key"])
        MAKERS[given["maker"]][slice(*key["slice"]) if isinstance(key, dict) else key]
    elif "sum" in given:
        TileLayout(S[8] + value(given["sum"]))
    elif "spec" in given:
        TileLayout(value(given["spec"]))
    else:
        TileLayout.from_iters(**value(given))


def axes(given):
    if "get" in given:
        Axis.get(value(given["get"]))
    elif "before" in given:
        value(given["before"]) @ Axis.get(given["axis"])
    elif "after" in given:
        Axis.get(given["axis"]) @ value(given["after"])
    else:
        Axis(*value(given["new"]), **given.get("facts", {}))


def shapes(given):
    layout = parse(given["layout"])
    if "evaluated" in given:
        layout.evaluated(**given["evaluated"])
    elif "ask" in given:
        getattr(layout, given["ask"])(*given.get("axis", []))
    else:
        method = getattr(layout, given.get("call", "apply"))
        shape = {"shape": value(given["shape"])} if "shape" in given else {}
        method(*value(given.get("at", [])), **shape)


def dims(given):
    if "name" in given:
        Dim(**given)
    elif "evaluate" in given:
        evaluate(parse_size(given["evaluate"]), given["at"])
    elif "divide" in given:
        floordiv(*value(given["divide"]))
    elif "truth" in given:
        bool(value(given["truth"]))
    elif "relation" in given:
        bool(value(given["relation"]) >= 1)
    else:
        range(value(given["range"]))


def swizzle(given):
    if "tile" in given:
        ComposeLayout(*given["bits"], value(given["tile"]), *given.get("inner", []))
    else:
        Swizzle(*given["bits"])


def tracing(given):
    known = {"Dim": Dim, "object": object}
    source = eval(given["formula"], known)
    where = eval(given["where"], known) if "where" in given else None
    made = Map.of(source, value(given.get("shape")), where=where)
    for step, arguments in given.get("then", {}).items():
        getattr(made, step)(**value(arguments))


RUN = {
    "text": read,
    "extents": extents,
    "axes": axes,
    "shapes": shapes,
    "dims": dims,
    "swizzle": swizzle,
    "tracing": tracing,
}


def problem(case):
    """What is wrong with how a bad input was answered; None when it is as the file says."""
    try:
        RUN[case["kind"]](case["input"])
    except LayoutAlgebraError as error:
        if not isinstance(error, getattr(errors, case["error"])):
            return f"a {type(error).__name__} ({error}), not a {case['error']}"
        said = error.reason if isinstance(error, NotationError) else str(error)
        if case["says"] not in said:
            return f"says {said!r}, not {case['says']!r}"
        if "column" in case and getattr(error, "column", None) != case["column"]:
            return f"has its caret at {error.column}, not at {case['column']}:\n{error}"
        return None
    except Exception as error:
        return f"another error: {type(error).__name__}: {error}"
    return "no error"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_bad_input(case):
    assert problem(case) is None


def test_the_file_is_in_order():
    assert len(CASES) >= 75
    assert {case["kind"] for case in CASES} == set(RUN)
    assert max(Counter(case["id"] for case in CASES).values()) == 1
    for case in CASES:
        assert set(case) <= {"id", "kind", "input", "error", "says", "column"}
        assert len(case["says"]) >= 12, case["id"]
        assert ("column" in case) == (case["kind"] == "text"), case["id"]


def test_the_check_can_fail():
    case = next(case for case in CASES if case["kind"] == "text" and (case["column"] or 0) > 0)
    assert "not at 0" in problem(case | {"column": 0})
    assert "not 'an entirely" in problem(case | {"says": "an entirely other message"})
    assert "not a DimError" in problem(case | {"error": "DimError"})
    assert problem(case | {"input": {"text": "S[8]"}}) == "no error"
    wrong = {"kind": "dims", "input": {"nothing": 1}}
    assert "another error: KeyError" in problem(case | wrong)
