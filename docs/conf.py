"""Settings of the documentation: Sphinx, MyST-NB, Furo.

    pip install ".[docs]"
    python -m sphinx -W --keep-going -b html docs build/docs

Warnings are errors.  What the pages say of the code comes from the code: the API reference from
docstrings (`docstrings.py`), the floors from `pyproject.toml` and the `--help` texts from the
program (`directives.py`).  Notebooks are shown as they were executed; `docs/notebooks` is a link.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The tree that is documented, not one that is installed elsewhere; and the two extensions here.
sys.path[:0] = [str(HERE.parent), str(HERE)]

from layout_algebra import __version__  # noqa: E402  (after the path)

project = "layout_algebra"
author = "the authors of layout_algebra"
copyright = author
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "docstrings",
    "directives",
]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]

# Pages' code is run by the tests, and notebooks are stored with their outputs.
nb_execution_mode = "off"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"layout_algebra {release}"
html_copy_source = False
html_show_sourcelink = False
