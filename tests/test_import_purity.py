"""`import layout_algebra` loads no heavy library: each is loaded when something needs it."""

import json
import subprocess
import sys

import pytest

HEAVY = ("numpy", "z3", "sympy", "networkx", "numba", "matplotlib", "cvc5", "bitwuzla")
REPORT = f"""
import json, sys
print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
"""

#: What stays light: the import, the names, and work with numbers.
LIGHT = {
    "the package": "import layout_algebra",
    "its names": "from layout_algebra import S, R, TileLayout, ComposeLayout, Dim, Map, parse",
    "apply and places": """
from layout_algebra import S, R, TileLayout, laneid
layout = TileLayout(S[(8, 4) : (4 @ laneid, 1)] + R[2 : 8])
layout.apply(1, 3)
layout.places(1, 3)
layout.span()
""",
    "text": """
from layout_algebra import parse
str(parse('ComposeLayout(3, 3, 3, S[Dim("M", multiple_of=8), 64])'))
""",
    "a traced formula": """
from layout_algebra import Map
Map.of(lambda i: i ^ i // 8, (64,)).apply(9)
""",
}
#: What has to load something: the check sees it.
HEAVIER = {
    "numpy": "from layout_algebra import parse\nparse('S[8]').table()",
    "sympy": "from layout_algebra import parse\nparse('S[8]').formula()",
}


def loaded_by(code):
    """The heavy libraries that a fresh process has loaded after running the code."""
    done = subprocess.run(
        [sys.executable, "-c", code + REPORT], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", LIGHT)
def test_light(name):
    assert loaded_by(LIGHT[name]) == []


@pytest.mark.parametrize("name", HEAVIER)
def test_the_check_can_fail(name):
    assert name in loaded_by(HEAVIER[name])
