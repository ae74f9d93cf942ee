"""What can be shown, and how: from a value to its picture, its formula and its bundle.

    svg(layout, shape=(8, 16))
    mimebundle(layout)               # {"text/plain": ..., "text/html": ..., "text/latex": ...}

Each kind of value has a module that draws it, which is loaded when one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from layout_algebra.display.canvas import Canvas, escaped
from layout_algebra.display.errors import DisplayError
from layout_algebra.maps import Map
from layout_algebra.semantics import layout_map
from layout_algebra.values import Swizzled, Tile

#: Class -> the module here that draws it, and the class there of its options.  By name, so that
#: drawing a layout loads no solver.
KINDS = {
    "layout_algebra.values.Tile": ("layouts", "GridOptions"),
    "layout_algebra.values.Swizzled": ("layouts", "GridOptions"),
    "layout_algebra.maps.Map": ("layouts", "GridOptions"),
    "layout_algebra.memory.buffers.Buffer": ("layouts", "GridOptions"),
    "layout_algebra.memory.accesses.Access": ("accesses", "AccessOptions"),
    "layout_algebra.memory.banks.Service": ("services", "ServiceOptions"),
    "layout_algebra.verdicts.Proof": ("proofs", "ProofOptions"),
    "layout_algebra.planning.plans.Plan": ("plans", "PlanOptions"),
}
#: Media types.
PLAIN, SVG, HTML, LATEX = "text/plain", "image/svg+xml", "text/html", "text/latex"


def svg(value: object, **options: Any) -> str:
    """The picture of a value as one SVG element.

    Args:
        value: a layout, a Map, a Buffer, an Access, a Service, a Proof or a Plan.
        options: what its kind can be asked: see `GridOptions`, `AccessOptions`, `ServiceOptions`,
            `ProofOptions` and `PlanOptions`.

    Returns:
        SVG without scripts, styles, identifiers and references.

    Raises:
        DisplayError: a value without a picture, or an option that it does not take.
    """
    return _drawn(value, options).svg()


def write_svg(value: object, path: str | Path, **options: Any) -> Path:
    """Writes the picture of a value to a file; arguments as for `svg`.

    Returns:
        The path.
    """
    made = Path(path)
    made.write_text(svg(value, **options) + "\n", encoding="utf-8")
    return made


def html(value: object, **options: Any) -> str:
    """The picture and the text of a value as HTML, for a page that may scroll it sideways."""
    picture = svg(value, **options)
    return (
        f'<div style="overflow-x:auto">{picture}</div>'
        f"<details><summary>as text</summary><pre>{escaped_lines(str(value))}</pre></details>"
    )


def latex(value: object, shape: Any = None) -> str:
    """The formula of a layout or a map as LaTeX, without dollar signs.

    Args:
        value: a layout or a Map.
        shape: logical shape of a layout; its own extents when None.

    Raises:
        DisplayError: a value that has no formula.
    """
    from layout_algebra.display import formulas

    if isinstance(value, Map):
        return formulas.latex(value)
    if isinstance(value, Tile | Swizzled):
        return formulas.latex(layout_map(value, shape))
    raise DisplayError(f"layouts and Maps have a formula; got {type(value).__name__}")


def mimebundle(
    value: object, include: Collection[str] | None = None, exclude: Collection[str] | None = None
) -> dict[str, str]:
    """A value in the forms that a notebook chooses from.

    Args:
        value: as for `svg`.
        include, exclude: media types wanted or not; the picture alone, "image/svg+xml", is made
            when it is included by name.

    Returns:
        Media type -> text.
    """
    makers: dict[str, Callable[[], str]] = {PLAIN: lambda: str(value), HTML: lambda: html(value)}
    if isinstance(value, Tile | Swizzled | Map):
        makers[LATEX] = lambda: f"${latex(value)}$"
    if include is not None and SVG in include:
        makers[SVG] = lambda: svg(value)
    wanted = set(makers) if include is None else set(include)
    return {kind: make() for kind, make in makers.items() if kind in wanted - set(exclude or ())}


def escaped_lines(text: str) -> str:
    """A text for HTML, line by line."""
    return "\n".join(escaped(line) for line in text.splitlines())


# -- inside ------------------------------------------------------------------------------------
def _drawn(value: object, given: dict[str, Any]) -> Canvas:
    for one in type(value).__mro__:
        found = KINDS.get(f"{one.__module__}.{one.__qualname__}")
        if found is not None:
            module = import_module(f"{__package__}.{found[0]}")
            return module.draw(value, _options(getattr(module, found[1]), given, value))
    raise DisplayError(
        "a picture is of a layout, a Map, a Buffer, an Access, a Service, a Proof or a Plan; got "
        f"{type(value).__name__}"
    )


def _options(kind: type[Any], given: dict[str, Any], value: object) -> Any:
    known = [one.name for one in fields(kind)]
    for name in given:
        if name not in known:
            raise DisplayError(
                f"no option {name!r} for a picture of {type(value).__name__}; there is "
                f"{', '.join(known)}"
            )
    return kind(**given)
