"""Pictures of what the library talks about: static SVG, HTML and LaTeX, without a plotting library.

    from layout_algebra import display

    display.write_svg(frag, "fragment.svg", shape=(8, 16))
    display.svg(prove(Injective(padded)))        # verdict, obligations, the witness on the grid
    display.svg(column, values={"j": 8})         # lanes, banks and wavefronts of an access

Layouts, maps, buffers, accesses, services, proofs and plans show themselves in a notebook: as text,
as a picture and, where they have one, by their formula.
"""

from __future__ import annotations

from layout_algebra.display.bundles import html, latex, mimebundle, svg, write_svg
from layout_algebra.display.errors import DisplayError

__all__ = ["DisplayError", "html", "latex", "mimebundle", "svg", "write_svg"]
