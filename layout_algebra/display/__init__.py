"""Pictures of what the library talks about: static SVG, HTML and LaTeX, without a plotting library.

    from layout_algebra import display

    display.write_svg(frag, "fragment.svg", shape=(8, 16))
    display.svg(prove(Injective(padded)))        # verdict, obligations, the witness on the grid
    display.svg(column, values={"j": 8})         # lanes, banks and wavefronts of an access
    display.write_html(frag, "fragment.html")    # one page to explore, from disk

Layouts, maps, buffers, accesses, services, proofs and plans show themselves in a notebook: as text,
as a picture and, where they have one, by their formula.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from layout_algebra.display.bundles import html, latex, mimebundle, svg, write_svg
from layout_algebra.display.errors import DisplayError

if TYPE_CHECKING:
    from layout_algebra.display.page import write_html

__all__ = ["DisplayError", "html", "latex", "mimebundle", "svg", "write_html", "write_svg"]


def __getattr__(name: str) -> object:
    if name == "write_html":  # loads the prover: pictures do without
        return import_module("layout_algebra.display.page").write_html
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
