"""The page as a widget of a notebook: the same module, with Python behind it.

    widget = layout_widget(layout, shape=(8, 16))
    widget                      # edit it: verdicts about the new layout come from the prover
    widget.layout               # the layout that is shown now

Needs the extra `notebook` (anywidget).  `answer` is what Python says to the page; it needs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

from layout_algebra.claims import Composition, Equivalent, Inverse
from layout_algebra.composing import compose
from layout_algebra.display.page import module_source, page_data, style_source
from layout_algebra.display.page_records import Layout, layout_records
from layout_algebra.errors import LayoutAlgebraError, LayoutError
from layout_algebra.inverting import inverse
from layout_algebra.layouts import ComposeLayout, TileLayout
from layout_algebra.parsing import parse
from layout_algebra.prover import prove
from layout_algebra.verdicts import Proof


def layout_widget(layout: Layout, **options: Any) -> Any:
    """The interactive page of a layout, for a notebook.

    Args:
        layout: a layout of numbers.
        options: what `page_data` takes.

    Returns:
        An anywidget; `.layout` is the layout that is shown, `.state` what else is.

    Raises:
        LayoutError: no anywidget, or a layout that a page cannot draw.
    """
    return _widget_class()(data=page_data(layout, **options))


@cache
def _widget_class() -> Any:
    """The class; made when it is first asked for, since anywidget is an extra."""
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ImportError as error:
        raise LayoutError(
            f"a widget needs the extra notebook: pip install layout-algebra[notebook] ({error})"
        ) from error

    def begin(self: Any, **values: Any) -> None:
        anywidget.AnyWidget.__init__(self, **values)
        self.on_msg(lambda _widget, content, _buffers: self.send(answer(content)))

    def shown(self: Any) -> Layout:
        found = parse_qs(self.state).get("layout")
        return parse(found[0] if found else self.data["layout"])

    members = {
        "__init__": begin,
        "__doc__": "The page of a layout; see `layout_widget`.",
        "_esm": module_source(),
        "_css": style_source(),
        "data": traitlets.Dict().tag(sync=True),
        "state": traitlets.Unicode("").tag(sync=True),
        "layout": property(shown),
    }
    return type("LayoutWidget", (anywidget.AnyWidget,), members)


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """What Python says to a request of the page.

    Args:
        request: `kind` "prove" with layout, shape, dtype and perhaps access; or "operate" with an
            operation ("compare", "compose", "inverse") and the texts of its layouts.

    Returns:
        The reply, with the request's number: verdicts; or text and layout; or an error.
    """
    reply: dict[str, Any] = {"number": request.get("number")}
    try:
        match request.get("kind"):
            case "prove":
                layout = parse(request.get("layout", ""))
                given = request.get("shape"), request.get("dtype", ""), request.get("access")
                return reply | {"verdicts": layout_records(layout, *given)}
            case "operate":
                layouts = [parse(text) for text in _texts(request.get("layouts"))]
                return reply | operate(str(request.get("operation")), layouts)
            case kind:
                raise LayoutError(f"a request is prove or operate; got {kind!r}")
    except LayoutAlgebraError as error:
        return reply | {"error": str(error)}


def operate(operation: str, layouts: Sequence[Layout]) -> dict[str, Any]:
    """An operation on one or two layouts, with its proof.

    Args:
        operation: "compare", "compose" (the second after the first) or "inverse".
        layouts: the layouts.

    Returns:
        `text`, what to show; `layout`, the text of the result, None where there is none.

    Raises:
        LayoutError: another operation, or another number of layouts.
    """
    wanted = {"compare": 2, "compose": 2, "inverse": 1}.get(operation)
    if wanted is None or len(layouts) != wanted:
        raise LayoutError(
            f"compare and compose take two layouts, inverse takes one; got {operation!r} of "
            f"{len(layouts)}"
        )
    if operation == "compare":
        return {"text": _told(prove(Equivalent(layouts[0], layouts[1]))), "layout": None}
    if operation == "compose":
        inner, outer = layouts
        made: Any = compose(outer, inner)
        proof = prove(Composition(outer, inner, made))
    else:
        made = inverse(layouts[0])
        proof = prove(Inverse(layouts[0], made))
    text = str(made) if isinstance(made, TileLayout | ComposeLayout) else None
    return {"text": f"{made}. {_told(proof)}", "layout": text}


def _told(proof: Proof) -> str:
    """A proof in one line."""
    witness = f": {proof.witness}" if proof.witness is not None else ""
    name = proof.claim.name
    return f"{proof.verdict} {name} [{proof.method}, {proof.seconds * 1e3:.2f} ms]{witness}"


def _texts(given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise LayoutError(f"layouts are a list of texts; got {given!r}")
    return given
