"""Directives of the documentation: what the program itself says, asked when pages are built.

    ```{program-help} check
    ```

    ```{floors}
    ```

    ```{catalogue-picture} mma.m16n8k16.float16.A
    ```

`program-help` is the `--help` text of a command (of the program when none is named); `floors` the
picture and the table of `floors.py`; `catalogue-picture` an entry of the hardware catalogue.
"""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from floors import about, floors, floors_svg

from layout_algebra import cli, display, hardware

COLUMNS = "90"


def help_text(command: str = "") -> str:
    """What `layout-algebra COMMAND --help` prints.

    Raises:
        LookupError: the program has no such command.
    """
    argv = [*command.split(), "--help"]
    output, before = io.StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        with contextlib.redirect_stdout(output):
            code = cli.main(argv)
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    if code != 0:
        raise LookupError(f"layout-algebra has no command {command!r}: exit code {code}")
    return output.getvalue()


class ProgramHelp(Directive):
    """`program-help`: one command's help as a literal block."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        try:
            text = help_text(self.arguments[0] if self.arguments else "")
        except LookupError as error:
            raise self.error(str(error)) from None
        block = nodes.literal_block(text, text)
        block["language"] = "text"
        return [block]


class Floors(Directive):
    """`floors`: the picture, then what each module is for."""

    def run(self) -> list[nodes.Node]:
        items = nodes.definition_list()
        for row in floors():
            for name in row:
                term = nodes.term("", "", nodes.literal("", name))
                what = nodes.definition("", nodes.paragraph("", about(name).replace("`", "")))
                items += nodes.definition_list_item("", term, what)
        return [nodes.raw("", floors_svg(), format="html"), items]


class CataloguePicture(Directive):
    """`catalogue-picture`: one entry, drawn, with its layout and source."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        entry = next((one for one in hardware.catalogue() if one.name == name), None)
        if entry is None:
            raise self.error(f"the catalogue has no entry {name!r}")
        shape = " x ".join(map(str, entry.shape))
        said = nodes.paragraph("", f"{shape}, {entry.dtype}. {entry.source}.")
        picture = display.html(entry.layout, shape=entry.shape)
        return [said, nodes.raw("", picture, format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Registers the directives."""
    app.add_directive("program-help", ProgramHelp)
    app.add_directive("floors", Floors)
    app.add_directive("catalogue-picture", CataloguePicture)
    return {"parallel_read_safe": True}
