"""The documentation site: Sphinx with MyST, so that every page stays Markdown; notebooks run while
it is built.

    sphinx-build -W docs build/site

Pages whose first line is `---` with a kernel are notebooks: their cells run in a fresh process
each, and a cell that fails stops the build.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import catena

# it and the scenario, which it reads, add their tables of files
import catena.env.environment_file
import catena.optimization.optimize_file
from catena.formats.toml.json_schema import json_schema

project = "catena"
author = "The catena developers"
release = version = catena.__version__
copyright = "the catena developers, BSD-3-Clause"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
]
# The API reference is made of the docstrings, in numpydoc form.
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
# Links into the manuals of other packages need a network: a build for publication sets
# CATENA_DOCS_ONLINE=1, and a build without it makes no link and no warning.
MANUALS = {
    "python": "https://docs.python.org/3",
    "numpy": "https://numpy.org/doc/stable",
    "scipy": "https://docs.scipy.org/doc/scipy",
    "xarray": "https://docs.xarray.dev/en/stable",
    "sympy": "https://docs.sympy.org/latest",
    "matplotlib": "https://matplotlib.org/stable",
}
intersphinx_mapping = (
    {name: (address, None) for name, address in MANUALS.items()}
    if os.environ.get("CATENA_DOCS_ONLINE") == "1"
    else {}
)
intersphinx_timeout = 10
exclude_patterns = ["build"]
# pages of the gallery begin with the second level where they quote
suppress_warnings = ["myst.header"]

myst_enable_extensions = ["amsmath", "dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
os.environ["CATENA_WIDGETS"] = "off"  # the pages have no kernel that would answer
nb_execution_mode = "cache"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

nb_execution_in_temp = True

html_theme = "furo"
html_title = "catena"
html_logo = "images/logo.svg"
html_favicon = "images/logo.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "sidebar_hide_name": True,
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fb8dd", "color-brand-content": "#7fb8dd"},
}


def _write_schema(app: Any, error: Exception | None) -> None:
    """The JSON Schema of model files, at the top of the site."""
    if error is None and app.builder.format == "html":
        Path(app.outdir, "catena.schema.json").write_text(
            json.dumps(json_schema(), ensure_ascii=False), encoding="utf-8"
        )


def setup(app: Any) -> None:
    """What Sphinx does besides."""
    app.connect("build-finished", _write_schema)
